//! Force fields: their derivatives at many states, numbers in closed form.

use pliant_model::dual::{Dual, DualNum};
use pliant_model::{
    At, AxialMuscle, Blocks, BodyForce, ConstantForce, Damping, Dependency, Drag, Evaluation, ForceField,
    Formula, Gas, Model, NotInvertible, Pose, Potential, Problem, Pull, RowLaw, Space, Torque, Treatment,
    check,
};

pub(crate) const TOLERANCE: f64 = 1e-6;

/// Seeded numbers between -1 and 1.
pub(crate) fn random(seed: u64, count: usize) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x9E37_79B9_7F4A_7C15;
    let mut next = || {
        s = s
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    next();
    (0..count).map(|_| next()).collect()
}

/// Bodies at random places in random orientations.
pub(crate) fn bodies(seed: u64, count: usize) -> Vec<f64> {
    let mut x = random(seed, 7 * count);
    for x in x.chunks_exact_mut(7) {
        let n = x[3..].iter().map(|q| q * q).sum::<f64>().sqrt();
        x[3..].iter_mut().for_each(|q| *q /= n);
    }
    x
}

pub(crate) fn passes(law: &dyn ForceField, space: Space, x: &[f64], v: &[f64]) -> check::ForceFieldCheck {
    let found = check::force_field(law, space, x, v).unwrap();
    assert!(found.worst() < TOLERANCE, "{law:?} at {x:?}, {v:?}: {found:?}");
    assert!(!found.explicit && !found.no_potential, "{law:?} {found:?}");
    found
}

pub(crate) fn force(law: &dyn ForceField, space: Space, x: &[f64], v: &[f64]) -> Vec<f64> {
    let mut f = vec![0.0; v.len()];
    law.add_force(At::new(space, x).moving(v).with_inputs(law.inputs()), &mut f);
    f
}

pub(crate) fn energy(law: &dyn ForceField, space: Space, x: &[f64]) -> f64 {
    law.energy(At::new(space, x).with_inputs(law.inputs()))
}

pub(crate) fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} is not {b}");
    }
}

#[test]
fn damping_and_drag() {
    for seed in 0..20 {
        let v: Vec<f64> = random(seed, 12).iter().map(|v| 10.0 * v).collect();
        for n in [1, 2, 3, 6] {
            passes(&Damping::new(2.0), Space::Real(n), &v, &v);
            passes(&Drag::new(0.5, 1.5), Space::Real(n), &v, &v);
        }
        let x = bodies(seed, 2);
        passes(&Damping::new(2.0).with_angular(0.3), Space::Rigid3, &x, &v);
        passes(&Drag::new(0.5, 1.5).with_angular(0.1, 0.2), Space::Rigid3, &x, &v);
    }
    passes(&Drag::new(0.5, 0.0), Space::Real(3), &[0.0; 3], &[0.0; 3]);
    for speed in [1e-8, 1e8] {
        let v = [speed, -2.0 * speed, 0.5 * speed];
        passes(&Drag::new(0.5, 2.0), Space::Real(3), &[0.0; 3], &v);
    }
    let f = force(&Drag::new(1.0, 2.0), Space::Real(2), &[0.0; 2], &[3.0, -4.0]);
    close(&f, &[-33.0, 44.0]);
    assert_eq!(Damping::new(2.0).row_law(), RowLaw::Viscous);
    let mut m = Model::new();
    let p = m.add_particles("p", &[[0.0; 3]]).unwrap();
    m.add_force_field("dashpot", p, Damping::new(2.0), Treatment::Compliance)
        .unwrap();
}

#[test]
fn loads_on_bodies_are_explicit() {
    let follower = BodyForce::new([0.1, 0.2, -0.3], [1.0, 2.0, 3.0]).with_torque([0.5, -0.4, 0.3]);
    let laws: [Box<dyn ForceField>; 2] = [Box::new(follower), Box::new(Torque::new([1.0, -2.0, 0.5]))];
    for law in laws {
        for seed in 0..10 {
            let found =
                check::force_field(&*law, Space::Rigid3, &bodies(seed, 2), &random(seed, 12)).unwrap();
            assert!(
                found.explicit && found.no_potential && found.worst() > 0.01,
                "{found:?}"
            );
            assert!(found.worst_of_explicit() < TOLERANCE, "{found:?}");
        }
    }
    passes(
        &ConstantForce::new(&[1.0, 2.0, 3.0]),
        Space::Rigid3,
        &bodies(1, 2),
        &random(1, 12),
    );
    // A quarter turn about z: body x is world y.
    let pose = Pose::turned([5.0, 6.0, 7.0], [0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
    let x: Vec<f64> = [&pose.position[..], &pose.rotation[..]].concat();
    let law = BodyForce::new([0.0, 2.0, 0.0], [3.0, 0.0, 0.0]).with_torque([0.0, 1.0, 0.0]);
    close(
        &force(&law, Space::Rigid3, &x, &[0.0; 6]),
        &[0.0, 3.0, 0.0, 0.0, 1.0, -6.0],
    );
    let f = force(&Torque::new([1.0, 0.0, 2.0]), Space::Rigid3, &x, &[0.0; 6]);
    close(&f, &[0.0, 0.0, 0.0, 0.0, -1.0, 2.0]);
}

#[test]
fn gas() {
    for gamma in [1.0, 1.4, 5.0 / 3.0, 0.7] {
        let law = Gas::new(1e5, 2e-3, gamma).with_ambient(0.9e5);
        for v in [1e-5, 1e-3, 2e-3, 0.5, 10.0] {
            passes(&law, Space::Real(1), &[v, 2.0 * v], &[0.1, -0.1]);
        }
    }
    // As a compliance on a volume that is computed: C lambda = -deformation gives the force.
    let mut m = Model::new();
    let edge = m.add_scalars("edge", &[0.1]).unwrap();
    let cube = Formula::new(
        1,
        vec![vec![Dependency::new(0, 0)]],
        |x: &[Dual], out: &mut [Dual]| {
            out[0] = x[0].powi(3);
        },
    );
    let volume = m.add_mapped("volume", &[edge], cube).unwrap();
    let law = Gas::new(1e5, 2e-3, 1.4);
    m.add_force_field("gas", volume, law, Treatment::Compliance)
        .unwrap();
    let m = Problem::new(m);
    let mut state = m.initial_state().unwrap();
    let mut evaluation = Evaluation::new(&m);
    evaluation.propagate(&m, &mut state).unwrap();
    evaluation.evaluate(&m, &state).unwrap();
    let (mut c, mut d, at) = (Blocks::new([(1, 1)]), [0.0], m.at(0, &state));
    law.compliance(at, &mut c);
    law.deformation(at, &mut d);
    close(&[-d[0] / c.block(0)[0]], &[1e5 * 2f64.powf(1.4)]);
    let s = Space::Real(1);
    let law = Gas::new(1e5, 1e-3, 1.4).with_ambient(1e5);
    // 2^1.4 = 2.639015821545789.
    close(&force(&law, s, &[0.5e-3], &[0.0]), &[163_901.582_154_578_9]);
    close(&[energy(&law, s, &[1e-3])], &[0.0]);
    // Adiabatic work of compression to half the volume: p0 V0 (2^0.4 - 1)/0.4, less that of the
    // ambient.
    close(
        &[energy(&law, s, &[0.5e-3])],
        &[100.0 * (2f64.powf(0.4) - 1.0) / 0.4 - 50.0],
    );
    let isothermal = Gas::new(1e5, 1e-3, 1.0);
    close(&[energy(&isothermal, s, &[0.5e-3])], &[100.0 * 2f64.ln()]);
}

#[test]
fn muscle() {
    let s = Space::Real(1);
    let muscle = |a: f64| AxialMuscle::new(1000.0, 0.1, 10.0).with_activations(&[a]);
    for a in [0.0, 0.3, 1.0] {
        let law = muscle(a).with_damping(4.0);
        for l in [0.001, 0.05, 0.0999, 0.1001, 0.13, 0.16, 0.2] {
            for v in [-3.0, -1.0, -0.4, -1e-3, 1e-3, 0.5, 30.0] {
                passes(&law, s, &[l], &[v]);
            }
        }
    }
    // At optimal length the active force is a f_max F_V; u = v here, since l_opt v_max = 1 m/s.
    close(&force(&muscle(0.5), s, &[0.1], &[0.0]), &[-500.0]);
    close(&force(&muscle(0.5), s, &[0.1], &[-0.5]), &[-500.0 / 6.0]);
    close(&force(&muscle(0.5), s, &[0.1], &[-1.0]), &[0.0]);
    close(&force(&muscle(0.5), s, &[0.1], &[0.08]), &[-600.0]);
    close(
        &force(&muscle(0.5).with_damping(10.0), s, &[0.1], &[0.08]),
        &[-600.8],
    );
    // At a strain of 0.6 the passive force is f_max, and F_L = exp(-0.8).
    close(&force(&muscle(0.0), s, &[0.16], &[0.0]), &[-1000.0]);
    close(
        &force(&muscle(1.0), s, &[0.16], &[0.0]),
        &[-1_449.328_964_117_221_6],
    );
    let (mut b, mut k) = (
        pliant_model::Blocks::new([(1, 1)]),
        pliant_model::Blocks::new([(1, 1)]),
    );
    // Isometric slope of F_V: 1 + 1/A = 5.
    let at = |l| At::new(s, l).moving(&[0.0]).with_inputs(&[1.0]);
    muscle(1.0).damping(at(&[0.1]), &mut b);
    close(b.block(0), &[5000.0]);
    // On the descending limb the stiffness is negative.
    muscle(1.0).stiffness(at(&[0.12]), &mut k).unwrap();
    assert!(k.block(0)[0] < -5000.0);
    // erf(1) = 0.842700792949715 at s = sqrt(0.45), less the passive part.
    let l = 0.1 * (1.0 + 0.45f64.sqrt());
    let active = energy(&muscle(1.0), s, &[l]) - energy(&muscle(0.0), s, &[l]);
    close(
        &[active],
        &[100.0 * 0.5 * (0.45 * std::f64::consts::PI).sqrt() * 0.842_700_792_949_714_9],
    );
    let two = AxialMuscle::new(1000.0, 0.1, 10.0).with_activations(&[0.2, 0.4]);
    close(&force(&two, s, &[0.1, 0.1], &[0.0; 2]), &[-200.0, -400.0]);
}

#[test]
fn potentials() {
    // A pendulum of angle x, a spring between two points, gravity of a point of a body.
    let cosine = Potential::new(|x: &[Dual]| (-x[0].cos() + 1.0) * 2.0);
    let spring = Potential::new(|x: &[Dual]| {
        let d = [x[0] - x[3], x[1] - x[4], x[2] - x[5]];
        let stretch = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt() - 0.5;
        stretch * stretch * 3.0
    });
    let body = Potential::new(|x: &[Dual]| {
        let p = pliant_model::dual::rotate(&x[3..], &[0.1, 0.2, 0.3].map(Dual::from));
        (x[1] + p[1]) * 9.81 + p[0] * x[2] * 0.5
    });
    for seed in 0..10 {
        let v = random(seed + 9, 12);
        passes(&cosine, Space::Real(1), &random(seed, 3), &v[..3]);
        let spring = spring.clone().over_groups(&[vec![0, 1], vec![3, 1], vec![2, 0]]);
        passes(&spring, Space::Real(3), &random(seed, 12), &v);
        passes(&body, Space::Rigid3, &bodies(seed, 2), &v);
    }
    let far: Vec<f64> = random(3, 6).iter().map(|x| 1e4 * x).collect();
    passes(
        &spring.over_groups(&[vec![0, 1]]),
        Space::Real(3),
        &far,
        &[0.0; 6],
    );
    close(
        &force(&cosine, Space::Real(1), &[0.7], &[0.0]),
        &[-2.0 * 0.7f64.sin()],
    );
}

/// A law of two coordinates with faults to order.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    energy: f64,
    stiffness: f64,
    damping: f64,
    skew: f64,
    coupling: f64,
    compliance: f64,
    deformation: f64,
    cubic: f64,
}

impl ForceField for Wrong {
    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        x.iter()
            .map(|x| 0.5 * x * x + self.energy * x + 0.25 * self.cubic * x.powi(4))
            .sum()
    }

    fn add_force(&self, At { x, v, .. }: At<'_>, f: &mut [f64]) {
        for k in 0..x.len() {
            f[k] -= x[k] + self.cubic * x[k].powi(3) + 2.0 * v[k] + self.coupling * v[(k + 2) % x.len()];
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for e in 0..out.len() {
            let k = |k: usize| 1.0 + self.stiffness + 3.0 * self.cubic * x[2 * e + k].powi(2);
            out.block_mut(e).copy_from_slice(&[k(0), self.skew, 0.0, k(1)]);
        }
        Ok(())
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        (0..out.len()).for_each(|e| {
            out.block_mut(e)
                .copy_from_slice(&[2.0 - self.damping, 0.0, 0.0, 2.0]);
        });
    }

    fn row_law(&self) -> RowLaw {
        RowLaw::Elastic
    }

    fn compliance(&self, At { x, .. }: At<'_>, out: &mut Blocks) {
        for e in 0..out.len() {
            let k = |k: usize| 1.0 / (1.0 + 3.0 * self.cubic * x[2 * e + k].powi(2)) + self.compliance;
            out.block_mut(e).copy_from_slice(&[k(0), 0.0, 0.0, k(1)]);
        }
    }

    fn deformation(&self, At { x, .. }: At<'_>, out: &mut [f64]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = (x + self.cubic * x.powi(3)) / (1.0 + 3.0 * self.cubic * x * x) + self.deformation;
        }
    }

    fn row_damping(&self, at: At<'_>, out: &mut Blocks) -> bool {
        self.damping(at, out);
        true
    }
}

#[test]
fn the_checker_sees_faults() {
    let right = Wrong::default();
    let found = |law: Wrong| {
        check::force_field(
            &law,
            Space::Real(2),
            &[0.4, -0.7, 0.6, 0.9],
            &[0.1, 0.2, 0.3, 0.4],
        )
        .unwrap()
    };
    assert!(found(right).worst() < TOLERANCE, "{:?}", found(right));
    let seen = |law: Wrong, part: fn(check::ForceFieldCheck) -> f64| {
        let found = found(law);
        assert!(part(found) > 1e-3 && found.worst() > 1e-3, "{law:?}: {found:?}");
    };
    seen(
        Wrong {
            energy: 0.01,
            ..right
        },
        |c| c.force,
    );
    seen(
        Wrong {
            stiffness: 0.01,
            ..right
        },
        |c| c.stiffness,
    );
    seen(Wrong { skew: 0.01, ..right }, |c| c.symmetry);
    seen(
        Wrong {
            damping: 0.01,
            ..right
        },
        |c| c.damping,
    );
    seen(
        Wrong {
            damping: 2.1,
            ..right
        },
        |c| c.definite,
    );
    // Between elements that are no group.
    seen(
        Wrong {
            coupling: 0.01,
            ..right
        },
        |c| c.damping,
    );
    seen(
        Wrong {
            compliance: 0.01,
            ..right
        },
        |c| c.compliance,
    );
    seen(
        Wrong {
            deformation: 0.01,
            ..right
        },
        |c| c.compliance,
    );
    seen(Wrong { cubic: 0.5, ..right }, |c| c.linear);
}

#[test]
fn pulls() {
    let place = [0.3, -0.2, 0.5];
    let arm = [0.2, 0.1, -0.4];
    for seed in 0..10 {
        let law = Pull::new(3).with_inputs(Pull::acting_on(1, [40.0, 3.0], place, arm));
        passes(&law, Space::Rigid3, &bodies(seed, 3), &random(seed, 18));
        passes(&law, Space::Real(3), &random(seed, 9), &random(seed + 1, 9));
    }
    // Nothing acts before inputs are set.
    assert_eq!(
        force(&Pull::new(2), Space::Rigid3, &bodies(1, 2), &[1.0; 12]),
        [0.0; 12]
    );
    // A quarter turn about z takes the point (1, 0, 0) of the body to (0, 1, 0) from it.
    let pose = Pose::turned([5.0, 6.0, 7.0], [0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
    let x: Vec<f64> = [&pose.position[..], &pose.rotation[..]].concat();
    let inputs = Pull::acting_on(0, [10.0, 2.0], [5.0, 7.5, 7.0], [1.0, 0.0, 0.0]);
    let law = Pull::new(1).with_inputs(inputs);
    assert!((energy(&law, Space::Rigid3, &x) - 0.5 * 10.0 * 0.25).abs() < 1e-12);
    // At rest 5 N along y of the world, which is x of the body: no torque about its point.
    close(
        &force(&law, Space::Rigid3, &x, &[0.0; 6]),
        &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0],
    );
    // Turning at 3 rad/s about z, the point moves at -3 m/s along x: 6 N along x.
    let f = force(&law, Space::Rigid3, &x, &[0.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
    close(&f, &[6.0, 5.0, 0.0, 0.0, 0.0, -6.0]);
}

#[test]
fn pulls_refuse_inputs_that_are_none() {
    let mut model = Model::new();
    let node = model.add_particles("p", &[[0.0; 3]; 2]).unwrap();
    let good = Pull::acting_on(1, [1.0, 0.0], [0.0; 3], [0.0; 3]);
    for (k, value) in [(0, 2.0), (0, 0.5), (0, -1.0), (1, -1.0), (2, -1.0), (3, f64::NAN)] {
        let mut inputs = good;
        inputs[k] = value;
        let law = Pull::new(2).with_inputs(inputs);
        let refused = model.add_force_field("pull", node, law, Treatment::Auto);
        assert!(refused.unwrap_err().to_string().contains("`pull`"), "{k} {value}");
    }
    let refused = model.add_force_field("pull", node, Pull::new(3), Treatment::Auto);
    assert!(refused.is_err());
    model
        .add_force_field("pull", node, Pull::new(2).with_inputs(good), Treatment::Auto)
        .unwrap();
}
