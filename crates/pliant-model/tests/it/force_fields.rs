//! Every force field: its derivatives at many states, numbers in closed form, bad parameters.

use pliant_model::dual::{Dual, DualNum};
use pliant_model::{
    AxialMuscle, BodyForce, ConstantForce, Damping, DiagonalCompliance, Drag, ForceField, FullCompliance,
    Gas, Model, Pose, Potential, RelativeRotation, RowLaw, Space, Spring, Torque, Treatment,
    UniformCompliance, check,
};

const TOLERANCE: f64 = 1e-6;

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

fn passes(law: &dyn ForceField, space: Space, x: &[f64], v: &[f64]) -> check::ForceFieldCheck {
    let found = check::force_field(law, space, x, v).unwrap();
    assert!(found.worst() < TOLERANCE, "{law:?} at {x:?}, {v:?}: {found:?}");
    assert!(!found.explicit && !found.no_potential, "{law:?} {found:?}");
    found
}

fn force(law: &dyn ForceField, space: Space, x: &[f64], v: &[f64]) -> Vec<f64> {
    let mut f = vec![0.0; v.len()];
    law.add_force(space, x, v, &mut f);
    f
}

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} is not {b}");
    }
}

/// A symmetric positive-definite matrix whose coordinates have the units of `scales`.
fn definite(seed: u64, scales: &[f64]) -> Vec<f64> {
    let n = scales.len();
    let a = random(seed, n * n);
    let entry = |i: usize, j: usize| {
        let product: f64 = (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum();
        (product + f64::from(u8::from(i == j))) * scales[i] * scales[j]
    };
    (0..n * n)
        .map(|k| entry((k / n).min(k % n), (k / n).max(k % n)))
        .collect()
}

fn springs() -> Vec<Spring> {
    let rising = [(-2.0, -5.0), (-1.0, -4.5), (0.5, 0.0), (0.75, 3.0), (2.0, 3.5)];
    let falling = [(-1.0, 2.0), (0.0, 0.0), (1.0, 3.0), (2.0, 1.0)];
    vec![
        Spring::linear(3.0),
        Spring::tension_only(3.0),
        Spring::compression_only(3.0),
        Spring::saturating(3.0, 2.0),
        Spring::stiffening(3.0, 2.0),
        Spring::table(&rising),
        Spring::table(&falling),
    ]
}

#[test]
fn springs_and_their_derivatives() {
    for law in springs() {
        for law in [law.clone(), law.with_damping(0.7)] {
            for seed in 0..20 {
                let (x, v) = (random(seed, 6), random(seed + 50, 6));
                let x: Vec<f64> = x.iter().map(|x| 3.0 * x).collect();
                for n in [1, 2, 3, 6] {
                    passes(&law, Space::Real(n), &x, &v);
                }
            }
            for x in [1e-3, -1e-3, 1e-2, -1e-2, 40.0, -40.0, 1e3, -1e3] {
                passes(&law, Space::Real(1), &[x], &[1e3]);
            }
        }
    }
    for law in [
        Spring::linear(3.0),
        Spring::saturating(3.0, 2.0),
        Spring::stiffening(3.0, 2.0),
    ] {
        passes(&law, Space::Real(1), &[0.0], &[0.0]);
    }
}

#[test]
fn springs_in_numbers() {
    let s = Space::Real(1);
    close(&force(&Spring::linear(10.0), s, &[7.0], &[0.0]), &[-70.0]);
    close(
        &force(&UniformCompliance::from_stiffness(10.0), s, &[7.0], &[0.0]),
        &[-70.0],
    );
    let diagonal = DiagonalCompliance::from_stiffnesses(&[10.0, 100.0, 7.0]);
    let f = force(&diagonal, Space::Real(3), &[0.0, -1.0, 7.0], &[0.0; 3]);
    close(&f, &[0.0, 100.0, -49.0]);
    let rope = Spring::tension_only(10.0).with_damping(2.0);
    close(
        &force(&rope, Space::Real(3), &[2.0, -2.0, 0.0], &[1.0; 3]),
        &[-22.0, 0.0, 0.0],
    );
    let stop = Spring::compression_only(10.0).with_damping(2.0);
    close(
        &force(&stop, Space::Real(3), &[2.0, -2.0, 0.0], &[1.0; 3]),
        &[0.0, 18.0, 0.0],
    );
    // u = k x/F = 1: T = F/sqrt 2, V = F^2/k (sqrt 2 - 1).
    let soft = Spring::saturating(10.0, 5.0);
    close(&force(&soft, s, &[0.5], &[0.0]), &[-5.0 / 2f64.sqrt()]);
    close(&[soft.energy(s, &[0.5])], &[2.5 * (2f64.sqrt() - 1.0)]);
    close(&force(&soft, s, &[1e200], &[0.0]), &[-5.0]);
    close(
        &force(&Spring::stiffening(10.0, 2.0), s, &[3.0], &[0.0]),
        &[-84.0],
    );
    close(&[Spring::stiffening(10.0, 2.0).energy(s, &[3.0])], &[85.5]);
    // Points on a line give the line, between and beyond; a table goes through its points and stays level between equal ones.
    let line = Spring::table(&[(-1.0, -3.0), (0.0, -1.0), (4.0, 7.0)]);
    for x in [-9.0, -1.0, -0.5, 0.0, 0.3, 3.9, 4.0, 11.0] {
        close(&force(&line, s, &[x], &[0.0]), &[1.0 - 2.0 * x]);
        close(&[line.energy(s, &[x])], &[x * x - x]);
    }
    let table = Spring::table(&[(0.0, 0.0), (1.0, 2.0), (2.0, 2.0), (3.0, 5.0)]);
    for (x, t) in [
        (0.0, 0.0),
        (1.0, 2.0),
        (1.5, 2.0),
        (2.0, 2.0),
        (3.0, 5.0),
        (5.0, 11.0),
    ] {
        close(&force(&table, s, &[x], &[0.0]), &[-t]);
    }
    assert_eq!(table.row_law(), RowLaw::None);
    assert_eq!(line.row_law(), RowLaw::Elastic);
    assert_eq!(rope.row_law(), RowLaw::None);
}

#[test]
fn full_matrices() {
    let scales = [1e3, 2e3, 1e3, 1.0, 0.5, 2.0];
    for seed in 0..10 {
        let (m, d) = (definite(seed, &scales), definite(seed + 100, &scales));
        for law in [
            FullCompliance::from_stiffness(&m),
            FullCompliance::from_compliance(&m),
        ] {
            for law in [
                law.clone(),
                law.clone().with_relaxation_time(0.1),
                law.clone().with_damping(&d),
                law.with_relaxation_time(0.2).with_damping(&d),
            ] {
                passes(&law, Space::Real(6), &random(seed, 12), &random(seed + 7, 12));
                let law = law.over_elements(2);
                passes(&law, Space::Real(3), &random(seed, 6), &random(seed + 7, 6));
                let law = law.over_groups(&[vec![3, 0], vec![1, 2]]);
                let found =
                    check::force_field(&law, Space::Real(3), &random(seed, 12), &random(seed + 7, 12));
                assert!(found.unwrap().worst() < TOLERANCE);
            }
        }
    }
    // K = [[2, 1], [1, 2]], C = [[2, -1], [-1, 2]]/3.
    let law = FullCompliance::from_stiffness(&[2.0, 1.0, 1.0, 2.0]);
    close(
        &force(&law, Space::Real(2), &[1.0, 2.0], &[0.0; 2]),
        &[-4.0, -5.0],
    );
    close(&[law.energy(Space::Real(2), &[1.0, 2.0])], &[7.0]);
    let law = FullCompliance::from_compliance(&[2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0]);
    close(
        &force(&law, Space::Real(2), &[1.0, 2.0], &[0.0; 2]),
        &[-4.0, -5.0],
    );
}

#[test]
fn singular_matrices_have_one_view() {
    let mut m = Model::new();
    let node = m
        .add_independent("node", Space::Real(2), &[0.5, -0.5], &[0.0; 2])
        .unwrap();
    let ones = [1.0, -1.0, -1.0, 1.0];
    let (hard, loose) = (
        FullCompliance::from_compliance(&ones),
        FullCompliance::from_stiffness(&ones),
    );
    let error = m
        .add_force_field("a", node, hard.clone(), Treatment::Stiffness)
        .unwrap_err();
    assert!(error.to_string().contains("stiffness is infinite"), "{error}");
    let error = m
        .add_force_field("a", node, loose.clone(), Treatment::Compliance)
        .unwrap_err();
    assert!(error.to_string().contains("has no compliance"), "{error}");
    m.add_force_field("a", node, hard.clone(), Treatment::Auto)
        .unwrap();
    m.add_force_field("b", node, loose.clone(), Treatment::Auto)
        .unwrap();
    passes(&loose, Space::Real(2), &[0.3, 0.4], &[0.1, 0.2]);
    // Soft along (1, -1) with eigenvalue 2: V = |x|^2/4.
    close(&[hard.energy(Space::Real(2), &[0.5, -0.5])], &[0.125]);
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
    let s = Space::Real(1);
    let law = Gas::new(1e5, 1e-3, 1.4).with_ambient(1e5);
    // 2^1.4 = 2.639015821545789.
    close(&force(&law, s, &[0.5e-3], &[0.0]), &[163_901.582_154_578_9]);
    close(&[law.energy(s, &[1e-3])], &[0.0]);
    // Adiabatic work of compression to half the volume: p0 V0 (2^0.4 - 1)/0.4, less that of the ambient.
    close(
        &[law.energy(s, &[0.5e-3])],
        &[100.0 * (2f64.powf(0.4) - 1.0) / 0.4 - 50.0],
    );
    let isothermal = Gas::new(1e5, 1e-3, 1.0);
    close(&[isothermal.energy(s, &[0.5e-3])], &[100.0 * 2f64.ln()]);
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
        &[-1449.328_964_117_221_6],
    );
    let (mut b, mut k) = (
        pliant_model::Blocks::new([(1, 1)]),
        pliant_model::Blocks::new([(1, 1)]),
    );
    // Isometric slope of F_V: 1 + 1/A = 5.
    muscle(1.0).damping(s, &[0.1], &[0.0], &mut b);
    close(b.block(0), &[5000.0]);
    // On the descending limb the stiffness is negative.
    muscle(1.0).stiffness(s, &[0.12], &mut k).unwrap();
    assert!(k.block(0)[0] < -5000.0);
    // erf(1) = 0.842700792949715 at s = sqrt(0.45), less the passive part.
    let l = 0.1 * (1.0 + 0.45f64.sqrt());
    let active = muscle(1.0).energy(s, &[l]) - muscle(0.0).energy(s, &[l]);
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

#[test]
fn springs_between_frames() {
    let mut m = Model::new();
    let b = m
        .add_rigid_bodies(
            "bodies",
            &[
                Pose::default(),
                Pose::turned([1.0, 0.0, 0.0], [1.0, 2.0, 0.5], 0.4),
            ],
        )
        .unwrap();
    let r = m
        .add_mapped("rotation", &[b], RelativeRotation::new(&[(0, 1)]))
        .unwrap();
    let k = definite(4, &[3.0, 1.0, 2.0]);
    m.add_force_field("a", r, FullCompliance::from_stiffness(&k), Treatment::Stiffness)
        .unwrap();
    m.add_force_field("b", r, UniformCompliance::new(0.1), Treatment::Compliance)
        .unwrap();
    m.add_force_field(
        "c",
        r,
        DiagonalCompliance::new(&[0.1, 0.0, 0.2]),
        Treatment::Compliance,
    )
    .unwrap();
    let six = m
        .add_independent("bushing", Space::Real(6), &[0.0; 6], &[0.0; 6])
        .unwrap();
    let k = definite(5, &[1e3, 1e3, 1e3, 1.0, 1.0, 1.0]);
    for (name, treatment) in [("d", Treatment::Stiffness), ("e", Treatment::Compliance)] {
        m.add_force_field(name, six, FullCompliance::from_stiffness(&k), treatment)
            .unwrap();
    }
    let mut state = m.initial_state().unwrap();
    let mut evaluation = pliant_model::Evaluation::new(&m);
    evaluation.propagate(&m, &mut state).unwrap();
    evaluation.evaluate(&m, &state).unwrap();
}

#[test]
fn inputs_are_checked_when_set() {
    let mut m = Model::new();
    let l = m.add_scalars("lengths", &[0.1]).unwrap();
    let id = m
        .add_force_field("biceps", l, AxialMuscle::new(1e3, 0.1, 10.0), Treatment::Auto)
        .unwrap();
    m.set_input(id, 0, 0.5).unwrap();
    let error = m.set_input(id, 0, 1.5).unwrap_err().to_string();
    assert!(error.contains("an activation of `biceps` is 1.5"), "{error}");
    let error = m.set_input(id, 1, 0.5).unwrap_err().to_string();
    assert!(error.contains("needs 2 inputs at least, found 1"), "{error}");
    // The old value stays.
    assert_eq!(m.force_fields()[0].component.law.inputs(), &[0.5]);
}

#[test]
fn bad_parameters() {
    let (one, three, bodies) = (Space::Real(1), Space::Real(3), Space::Rigid3);
    let full = |m: &[f64]| Box::new(FullCompliance::from_stiffness(m));
    let muscle = |f, l, v| AxialMuscle::new(f, l, v);
    let flat = |x: &[Dual]| x[0];
    let cases: Vec<(Box<dyn ForceField>, Space, &str)> = vec![
        (Box::new(Damping::new(-1.0)), one, "the damping of `law` is -1"),
        (
            Box::new(Damping::new(1.0).with_angular(1.0)),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(UniformCompliance::new(f64::NAN)),
            one,
            "the compliance of `law` is NaN",
        ),
        (
            Box::new(UniformCompliance::from_stiffness(0.0)),
            one,
            "not a finite number",
        ),
        (
            Box::new(DiagonalCompliance::from_stiffnesses(&[1.0, -2.0, 1.0])),
            three,
            "-0.5",
        ),
        (full(&[1.0, 2.0]), one, "it is not square"),
        (full(&[]), one, "it is not square"),
        (full(&[1.0]), three, "needs 9 entries of a matrix, found 1"),
        (full(&[1.0]), bodies, "map the bodies first"),
        (full(&[1.0, 2.0, 2.0, 1.0]), Space::Real(2), "negative eigenvalue"),
        (full(&[-1.0]), one, "the stiffness matrix of `law`"),
        (full(&[1.0, 0.1, 0.2, 1.0]), Space::Real(2), "it is not symmetric"),
        (full(&[f64::NAN]), one, "an entry is not finite"),
        (
            Box::new(full(&[1.0]).with_damping(&[-1.0])),
            one,
            "the damping matrix of `law`",
        ),
        (
            Box::new(full(&[1.0]).with_damping(&[1.0, 0.0, 0.0, 1.0])),
            one,
            "damping matrix, found 4",
        ),
        (
            Box::new(full(&[1.0]).with_relaxation_time(-1.0)),
            one,
            "the relaxation time",
        ),
        (
            Box::new(full(&[1.0]).over_elements(3)),
            one,
            "element 2 of a node that has 2",
        ),
        (
            Box::new(full(&[1.0]).over_groups(&[vec![0, 0]])),
            one,
            "occurs twice",
        ),
        (Box::new(Spring::linear(0.0)), one, "must be positive"),
        (
            Box::new(Spring::tension_only(-1.0)),
            one,
            "the stiffness of `law` is -1",
        ),
        (Box::new(Spring::saturating(1.0, 0.0)), one, "the largest force"),
        (
            Box::new(Spring::stiffening(1.0, -1.0)),
            one,
            "the cubic stiffness",
        ),
        (
            Box::new(Spring::linear(1.0).with_damping(f64::NAN)),
            one,
            "the damping of `law` is NaN",
        ),
        (Box::new(Spring::linear(1.0)), bodies, "map the bodies first"),
        (
            Box::new(Spring::table(&[(0.0, 0.0)])),
            one,
            "needs 2 points of a curve",
        ),
        (
            Box::new(Spring::table(&[(0.0, 0.0), (0.0, 1.0)])),
            one,
            "larger than the one before",
        ),
        (
            Box::new(Spring::table(&[(0.0, 0.0), (1.0, f64::NAN)])),
            one,
            "a force of the curve",
        ),
        (Box::new(Drag::new(-1.0, 0.0)), three, "a drag coefficient"),
        (
            Box::new(Drag::new(0.0, f64::INFINITY)),
            three,
            "not a finite number",
        ),
        (
            Box::new(Drag::new(1.0, 1.0).with_angular(1.0, 0.0)),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(BodyForce::new([0.0; 3], [0.0; 3])),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(BodyForce::new([f64::NAN; 3], [0.0; 3])),
            bodies,
            "the point of attack",
        ),
        (
            Box::new(Torque::new([0.0, f64::NAN, 0.0])),
            bodies,
            "the torque of `law` is NaN",
        ),
        (
            Box::new(Torque::new([0.0; 3])),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(ConstantForce::new(&[1.0])),
            three,
            "needs 3 force coordinates",
        ),
        (Box::new(Gas::new(0.0, 1.0, 1.4)), one, "the pressure"),
        (Box::new(Gas::new(1.0, -1.0, 1.4)), one, "the volume"),
        (Box::new(Gas::new(1.0, 1.0, f64::NAN)), one, "the exponent"),
        (
            Box::new(Gas::new(1.0, 1.0, 1.4).with_ambient(f64::NAN)),
            one,
            "the ambient pressure",
        ),
        (
            Box::new(Gas::new(1.0, 1.0, 1.4)),
            three,
            "needs a node of scalars",
        ),
        (Box::new(muscle(0.0, 1.0, 1.0)), one, "the largest force"),
        (Box::new(muscle(1.0, 0.0, 1.0)), one, "the optimal length"),
        (Box::new(muscle(1.0, 1.0, -1.0)), one, "the largest speed"),
        (Box::new(muscle(1.0, 1.0, 1.0)), three, "needs a node of scalars"),
        (
            Box::new(muscle(1.0, 1.0, 1.0).with_activations(&[1.1])),
            one,
            "between 0 and 1",
        ),
        (
            Box::new(muscle(1.0, 1.0, 1.0).with_activations(&[f64::NAN])),
            one,
            "between 0 and 1",
        ),
        (
            Box::new(muscle(1.0, 1.0, 1.0).with_activations(&[0.1; 3])),
            one,
            "needs 2 activations, found 3",
        ),
        (Box::new(Potential::new(flat)), Space::Real(49), "48 or fewer"),
        (
            Box::new(Potential::new(flat).over_groups(&[vec![0, 5]])),
            one,
            "element 5",
        ),
    ];
    for (law, space, words) in cases {
        let error = law.check("law", space, 2).unwrap_err().to_string();
        assert!(
            error.contains(words) && error.contains("`law`"),
            "{law:?}: {error}"
        );
    }
}
