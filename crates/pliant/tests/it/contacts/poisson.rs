//! Impacts by Poisson's law, against closed forms.

use super::impacts::cradle_with;
use super::{Floor, exactly, thrown};
use pliant::contact::*;
use pliant::kkt::Support;
use pliant::model::Side;
use pliant::prelude::*;

/// A ball: `-e u`, and a step later nothing but gravity. At rest it stays at rest.
#[test]
fn one_ball_bounces_as_by_newton() {
    let law = ContactLaw {
        restitution: 0.7,
        ..ContactLaw::default()
    };
    for restitution in [Restitution::Newton, Restitution::Poisson] {
        let (mut s, node) = thrown([0.0, 0.0, -9.81], law, [0.0; 3], [0.0, 0.0, -2.0]);
        s.options.contacts.restitution = restitution;
        s.step(1e-3).unwrap();
        let v = s.velocities(node)[2];
        let expected = match restitution {
            // Gravity of the step is part of what is reversed, or not.
            Restitution::Newton => 1.4,
            Restitution::Poisson => 1.4 - 9.81e-3,
        };
        assert!((v - expected).abs() < 1e-10, "{restitution:?} {v}");
        let (mut s, node) = thrown([0.0, 0.0, -9.81], law, [0.0; 3], [0.0; 3]);
        s.options.contacts.restitution = restitution;
        for _ in 0..10 {
            s.step(1e-3).unwrap();
        }
        assert!(s.velocities(node)[2].abs() < 1e-12);
    }
}

/// Equal balls in a row: a compression takes `4/5, 3/5, 2/5, 1/5` of the momentum through the
/// contacts, and an expansion `e` times that again. With five equal ones that is Newton's
/// `-3/5, 2/5, ...` for `e = 1`.
#[test]
fn a_cradle_by_poisson() {
    let methods = [Integrator::Theta, Integrator::Sdirk2];
    for (e, integrator) in [1.0, 0.5]
        .into_iter()
        .flat_map(|e| methods.clone().map(|m| (e, m)))
    {
        let change = |options: &mut Options| {
            options.integrator = integrator.clone();
            options.contacts.restitution = Restitution::Poisson;
        };
        let (v, report) = cradle_with((5, 0.0), e, change);
        for (k, v) in v.iter().enumerate() {
            let expected = if k == 0 { 0.6 - 2.4 * e } else { 0.6 + 0.6 * e };
            assert!((v - expected).abs() < 1e-11, "{e} {k}: {v} {expected}");
        }
        assert_eq!(report.restitution, 1.0);
    }
}

/// The lower end of a thin rod of 1 kg and 1 m, in the plane `y = 0`.
#[derive(Debug)]
struct Tip(NodeId, ContactLaw);

impl ContactFinder for Tip {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }
    fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = m.positions(s, self.0);
        let arm = pliant::dense::rotation::rotate(
            [x[3], x[4], x[5], x[6]],
            pliant::dense::Vec3::new(-0.5, 0.0, 0.0),
        );
        let contact = Contact {
            key: ContactKey(0, 0),
            point: [x[0] + arm.x, x[1] + arm.y, x[2] + arm.z],
            normal: [0.0, 0.0, 1.0],
            gap: 0.0,
            law: self.1,
            sides: [0, 1],
        };
        let support = Support {
            node: self.0,
            element: 0,
            weight: 1.0,
            arm: arm.into(),
        };
        out.push(contact, [], [support]);
        Ok(())
    }
}

/// Normal and tangential velocity of the tip after an impact, and the share of restitution that was
/// used.
fn strike(angle: f64, law: ContactLaw, u: [f64; 2], restitution: Restitution) -> ([f64; 2], f64, f64) {
    let mut m = Model::new();
    // The rod rises from its tip at the origin along x.
    let pose = Pose::turned(
        [0.5 * angle.cos(), 0.0, 0.5 * angle.sin()],
        [0.0, 1.0, 0.0],
        -angle,
    );
    let rod = m.add_rigid_bodies("rod", &[pose]).unwrap();
    let mass = RigidMass::principal(1.0, [1.0 / 12.0; 3]);
    m.add_mass("mass", rod, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(rod, 0, [u[1], 0.0, u[0]], [0.0; 3]).unwrap();
    let mut options = exactly();
    options.contacts.restitution = restitution;
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(Tip(rod, law)).unwrap();
    let before = (u[0] * u[0] + u[1] * u[1]) / 2.0;
    let report = s.step(1e-6).unwrap();
    let v = s.contacts()[0].velocity;
    assert!((report.contacts.work - (report.energies.kinetic - before)).abs() < 1e-12);
    ([v[2], v[0]], report.contacts.restitution, report.contacts.work)
}

/// `[A_nn, A_nt, A_tt]` of the tip.
fn response(angle: f64) -> [f64; 3] {
    let (x, z) = (-0.5 * angle.cos(), -0.5 * angle.sin());
    [1.0 + 12.0 * x * x, -12.0 * x * z, 1.0 + 12.0 * z * z]
}

fn after([nn, nt, tt]: [f64; 3], u: [f64; 2], r: [f64; 2]) -> [f64; 2] {
    [u[0] + nn * r[0] + nt * r[1], u[1] + nt * r[0] + tt * r[1]]
}

/// The impulse of an impact that ends with the normal velocity `end`: sticking if the cone allows
/// it, else sliding.
fn impulse(a: [f64; 3], u: [f64; 2], mu: f64, end: f64) -> [f64; 2] {
    let [nn, nt, tt] = a;
    let det = nn * tt - nt * nt;
    let (bn, bt) = (end - u[0], -u[1]);
    let stick = [(bn * tt - nt * bt) / det, (nn * bt - nt * bn) / det];
    if stick[0] >= 0.0 && stick[1].abs() <= mu * stick[0] {
        return stick;
    }
    for side in [1.0, -1.0] {
        let n = (end - u[0]) / (nn - mu * side * nt);
        let r = [n, -mu * side * n];
        if n >= 0.0 && after(a, u, r)[1] * side >= 0.0 {
            return r;
        }
    }
    unreachable!("one of the cases holds")
}

/// The impulse of an expansion with the normal impulse `n`, which separates.
fn expansion(a: [f64; 3], u: [f64; 2], mu: f64, n: f64) -> [f64; 2] {
    let stick = -(u[1] + a[1] * n) / a[2];
    if stick.abs() <= mu * n {
        return [n, stick];
    }
    let slides = |side: f64| after(a, u, [n, -mu * side * n])[1] * side >= 0.0;
    let side = if slides(1.0) { 1.0 } else { -1.0 };
    [n, -mu * side * n]
}

/// Kane's paradox: a rod that slides as it strikes, and turns back. Newton's law with friction
/// would make energy, so that a share of its restitution only is taken; Poisson's takes energy, and
/// all of the closed form: compression and expansion sliding either way or sticking.
#[test]
fn a_rod_strikes_obliquely() {
    let mut kinds = std::collections::BTreeSet::new();
    for (degrees, mu, e, tangential) in [
        (30.0, 0.2, 1.0, 0.5),
        (30.0, 0.5, 1.0, 0.5),
        (45.0, 0.2, 1.0, 1.0),
        (45.0, 0.5, 1.0, 1.0),
        (45.0, 1.0, 1.0, 0.5),
        (60.0, 0.2, 1.0, 1.0),
        (70.0, 0.5, 1.0, 0.5),
    ] {
        let angle = f64::to_radians(degrees);
        let (a, u) = (response(angle), [-1.0, tangential]);
        let law = ContactLaw {
            friction: mu,
            restitution: e,
            ..ContactLaw::default()
        };
        let work = |r: [f64; 2]| {
            let end = after(a, u, r);
            (r[0] * (u[0] + end[0]) + r[1] * (u[1] + end[1])) / 2.0
        };
        assert!(work(impulse(a, u, mu, e)) > 0.01);
        let (_, share, taken) = strike(angle, law, u, Restitution::Newton);
        assert!(share < 1.0 && taken <= 1e-12, "{degrees} {mu}: {share} {taken}");

        let first = impulse(a, u, mu, 0.0);
        let middle = after(a, u, first);
        let second = expansion(a, middle, mu, e * first[0]);
        let expected = after(a, middle, second);
        let (found, share, taken) = strike(angle, law, u, Restitution::Poisson);
        for (f, x) in found.iter().zip(expected) {
            assert!((f - x).abs() < 1e-9, "{degrees} {mu}: {found:?} {expected:?}");
        }
        assert!(share == 1.0 && (taken - work([first[0] + second[0], first[1] + second[1]])).abs() < 1e-9);
        assert!(taken < 0.0);
        let kind = |r: [f64; 2]| {
            if r[1].abs() < 0.999_999 * mu * r[0] {
                0
            } else {
                r[1].signum() as i32
            }
        };
        kinds.insert((kind(first), kind(second)));
    }
    // Sliding forwards and then back, forwards and then sticking, sticking and then back, sticking
    // throughout.
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

/// Over many angles, velocities and coefficients energy never rises by either law, and Poisson's
/// never needs less than its restitution.
#[test]
fn impacts_of_a_rod_make_no_energy() {
    for k in 0..60 {
        let part = |n: usize, m: usize| (k * n % m) as f64 / m as f64;
        let law = ContactLaw {
            friction: part(7, 11),
            restitution: part(5, 13),
            ..ContactLaw::default()
        };
        let u = [-1.0, 4.0 * part(3, 17) - 2.0];
        for restitution in [Restitution::Newton, Restitution::Poisson] {
            let (_, share, work) = strike(1.5 * part(11, 23) + 0.05, law, u, restitution);
            assert!(work <= 1e-12, "{k}: {work}");
            assert!(share == 1.0 || restitution == Restitution::Newton, "{k}: {share}");
        }
    }
}

/// Contacts of a body (1) with a particle (0) and with the world.
#[derive(Debug)]
struct Wedge {
    particle: NodeId,
    body: NodeId,
    /// Angle of the normal in the x z plane, arm, gap and law.
    contacts: Vec<(f64, [f64; 2], f64, ContactLaw)>,
}

impl ContactFinder for Wedge {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.particle, self.body]
    }
    fn find(&mut self, _: &Model, _: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        for (k, (angle, arm, gap, law)) in self.contacts.iter().enumerate() {
            let contact = Contact {
                key: ContactKey(0, k as u64),
                point: [0.0; 3],
                normal: [angle.cos(), 0.0, angle.sin()],
                gap: *gap,
                law: *law,
                sides: [k as u32, 2],
            };
            let support = |node, arm| Support {
                node,
                element: 0,
                weight: 1.0,
                arm,
            };
            let first = (k == 0).then(|| support(self.particle, [0.0; 3]));
            out.push(contact, first, [support(self.body, [arm[0], 0.0, arm[1]])]);
        }
        Ok(())
    }
}

/// A particle of 3 kg and a body of 1 kg and 0.05 kg m^2 without gravity, with velocities in the x
/// z plane.
fn wedge(
    contacts: Vec<(f64, [f64; 2], f64, ContactLaw)>,
    velocities: [f64; 5],
) -> (Simulation, NodeId, NodeId) {
    let [px, pz, x, z, spin] = velocities;
    let mut m = Model::new();
    let particle = m.add_particles("particle", &[[0.0; 3]]).unwrap();
    m.add_mass("of particle", particle, Mass::Uniform(3.0)).unwrap();
    let body = m.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    let mass = RigidMass::principal(1.0, [0.05; 3]);
    m.add_mass("of body", body, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(body, 0, [x, 0.0, z], [0.0, -spin, 0.0])
        .unwrap();
    let mut options = exactly();
    options.contacts.restitution = Restitution::Poisson;
    let mut s = Simulation::with_options(m, options).unwrap();
    let mut state = s.state().clone();
    state.velocities[..3].copy_from_slice(&[px, 0.0, pz]);
    s.set_state(&state).unwrap();
    s.set_contacts(Wedge {
        particle,
        body,
        contacts,
    })
    .unwrap();
    (s, particle, body)
}

/// With friction and different coefficients at once an expansion may make energy (this one was
/// found by a random search, with one solution in either phase): a share of them is taken that does
/// not, and the report says so.
#[test]
fn different_coefficients_with_friction_are_weakened() {
    let law = |restitution| ContactLaw {
        friction: 1.0,
        restitution,
        ..ContactLaw::default()
    };
    let angles = [2.815_727_582_524_998, 1.480_720_719_574_789_8];
    let arms = [
        [-0.075_380_021_605_860_66, -0.601_453_041_153_590_6],
        [-0.137_783_164_421_462_43, -0.762_680_846_521_489_8],
    ];
    let contacts = vec![
        (angles[0], arms[0], 0.0, law(1.0)),
        (angles[1], arms[1], 0.0, law(0.0)),
    ];
    let v = [
        -0.924_829_894_614_869,
        -0.197_942_047_406_778_8,
        0.802_079_883_697_563_8,
        -0.921_808_145_806_891,
        0.334_817_587_635_566_8,
    ];
    let before = (3.0 * (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2] + v[3] * v[3] + 0.05 * v[4] * v[4]) / 2.0;
    let (mut s, ..) = wedge(contacts, v);
    let report = s.step(1e-6).unwrap();
    let share = report.contacts.restitution;
    assert!(share > 0.0 && share < 1.0, "{share}");
    assert!(
        report.energies.kinetic <= before + 1e-12,
        "{} {before}",
        report.energies.kinetic
    );
}

/// A contact that is open takes no part in the impact of another, unless that would close it: the
/// body is struck off centre and turns towards it.
#[test]
fn open_contacts_wait() {
    use std::f64::consts::FRAC_PI_2;
    let law = ContactLaw {
        restitution: 1.0,
        ..ContactLaw::default()
    };
    let contacts = vec![
        (FRAC_PI_2, [0.0; 2], 1.0, law),
        (FRAC_PI_2, [0.2, 0.0], 0.0, law),
        (FRAC_PI_2, [-0.2, 0.0], 0.1, law),
    ];
    let (mut s, _, body) = wedge(contacts, [0.0, 0.0, 0.0, -1.0, 0.0]);
    s.step(1e-3).unwrap();
    // A_nn = 1 + 0.04/0.05: the impulse of 2/1.8 changes both velocities.
    let (linear, angular) = s.world_velocity(body, 0).unwrap();
    let impulse = 2.0 / 1.8;
    assert!((linear[2] - (impulse - 1.0)).abs() < 1e-9, "{linear:?}");
    assert!((angular[1] + 0.2 * impulse / 0.05).abs() < 1e-9, "{angular:?}");
}

/// Impacts one by one are Newton's: both options together are refused.
#[test]
fn poisson_is_not_for_sequences() {
    let law = ContactLaw {
        restitution: 0.7,
        ..ContactLaw::default()
    };
    let (mut s, _) = thrown([0.0, 0.0, -9.81], law, [0.0; 3], [0.0, 0.0, -2.0]);
    s.options.contacts.restitution = Restitution::Poisson;
    s.options.contacts.impacts = Impacts::InSequence;
    assert!(matches!(s.step(1e-3), Err(Error::Contacts(_))));
    s.options.contacts.restitution = Restitution::Newton;
    s.step(1e-3).unwrap();

    // And for each contact alone there is no solver of the pyramid.
    let law = ContactLaw {
        friction: 0.5,
        friction_model: FrictionModel::Pyramid {
            directions: 4,
            outer: false,
        },
        ..law
    };
    let (mut s, _) = thrown([0.0, 0.0, -9.81], law, [0.0; 3], [0.0, 0.0, -2.0]);
    s.options.contacts.impacts = Impacts::InSequence;
    assert!(matches!(s.step(1e-3), Err(Error::Contacts(_))));
}

/// Without restitution Poisson's law and impacts in sequence are Newton's law at once, and the
/// default method takes its own steps, to the bit the same, also where the linear step would leave
/// a joint off.
#[test]
fn without_restitution_all_laws_are_one() {
    let fall = |restitution, impacts| {
        let mut s = falling_arm(0.0);
        s.options.contacts.restitution = restitution;
        s.options.contacts.impacts = impacts;
        let stages: usize = (0..100).map(|_| s.step(0.01).unwrap().solve.stages).sum();
        (s.state().clone(), stages)
    };
    let expected = fall(Restitution::Newton, Impacts::Together);
    assert!((100..200).contains(&expected.1), "{}", expected.1);
    assert_eq!(fall(Restitution::Poisson, Impacts::Together), expected);
    assert_eq!(fall(Restitution::Newton, Impacts::InSequence), expected);
}

/// An arm on a hinge of the world that falls on the ground, with this restitution.
fn falling_arm(restitution: f64) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let arm = m.add_rigid_bodies("arm", &[Pose::at([0.5, 0.0, 0.3])]).unwrap();
    let mass = RigidMass::cuboid(1.0, [1.0, 0.1, 0.1]);
    m.add_mass("mass", arm, Mass::Rigid(vec![mass])).unwrap();
    let axis = Pose::turned([0.0, 0.0, 0.3], [1.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2);
    let hinge = Joint::hinge(Side::World, Side::Body(arm, 0)).at(axis);
    m.add_joint("hinge", &hinge).unwrap();
    let options = Options {
        integrator: Integrator::Sdirk2,
        ..Options::default()
    };
    let mut s = Simulation::with_options(m, options).unwrap();
    let mut floor = Floor::new(vec![(arm, 0, [0.5, 0.0, 0.0])], 0.0);
    floor.law.restitution = restitution;
    s.set_contacts(floor).unwrap();
    s
}

/// An arm on a hinge falls on the ground and bounces: the hinge holds where it does. The linear
/// step leaves it off by the second order of the step, which the next one took back by a velocity.
#[test]
fn joints_hold_at_the_end_of_an_impact() {
    let mut s = falling_arm(0.5);
    s.options.contacts.restitution = Restitution::Poisson;
    let mut impacts = 0;
    for _ in 0..100 {
        let report = s.step(0.01).unwrap();
        impacts += usize::from(report.solve.stages == 1);
        assert!(report.violation < 1e-12, "{report:?}");
    }
    assert!(impacts > 0);
}

/// A turning dumbbell on a stiff spring bounces on one of its balls: it loses the energy of a rigid
/// one, `(1 - e^2) u^2/(2 W)` with `W = (1 - d_z^2/2)/m` for the rod along `d`, and the spring of
/// 1e10 N/m ends the step with the length and the rate that its force belongs to. The linear step
/// leaves it longer by the second order of the step, in which it would have more energy than the
/// whole motion.
#[test]
fn stiff_springs_hold_no_energy_of_an_impact() {
    let (stiffness, spin, e, h) = (1e10, 20.0, 0.5, 1e-3);
    let mut m = Model::new();
    let at = [0.5, 0.0, 0.4];
    let balls = m.add_particles("balls", &[[-at[0], 0.0, at[2]], at]).unwrap();
    m.add_mass("mass", balls, Mass::Uniform(1.0)).unwrap();
    let stretched = 0.5 * spin * spin / stiffness;
    let rod = Distance::between(&[(0, 1)]).with_rest_lengths(&[1.0 - stretched]);
    let rod = m.add_mapped("rod", &[balls], rod).unwrap();
    let law = UniformCompliance::from_stiffness(stiffness);
    m.add_force_field("spring", rod, law, Treatment::Compliance)
        .unwrap();
    let mut s = Simulation::new(m).unwrap();
    assert_eq!(s.options.integrator, Integrator::Sdirk2);
    s.options.contacts.restitution = Restitution::Poisson;
    let mut state = s.state().clone();
    let u = 0.5 * spin;
    state.velocities[..6].copy_from_slice(&[0.0, 0.0, u, 0.0, 0.0, -u]);
    s.set_state(&state).unwrap();
    let mut floor = Floor::new(vec![(balls, 1, [0.0; 3])], 0.0);
    floor.law.restitution = e;
    s.set_contacts(floor).unwrap();
    loop {
        let before = s.state().clone();
        let energy = 0.5 * before.velocities[..6].iter().map(|v| v * v).sum::<f64>();
        let report = s.step(h).unwrap();
        if report.ledger.impacts == 0.0 {
            assert!(s.time() < 0.1);
            continue;
        }
        let (x, u) = (&before.positions, before.velocities[5]);
        let across = (x[5] - x[2]).powi(2) / 2.0;
        let loss = (1.0 - e * e) * u * u / (2.0 * (1.0 - across));
        let found = energy - report.energies.total();
        // The linear step behind the impact loses `(h omega)^2` of the energy by turning.
        let turning = (h * spin).powi(2) * energy;
        assert!((found - loss).abs() < turning, "{found} of {loss}");
        assert_eq!(report.solve.stages, 1);
        // Its force of 1e4 N stretches it by 1e-6 m.
        assert!(
            (s.positions(rod)[0] - stretched).abs() < 2e-6,
            "{:?}",
            s.positions(rod)
        );
        let after = s.step(h).unwrap();
        assert_eq!(after.solve.stages, 2);
        let made = after.energies.total() - report.energies.total();
        // The energy of that, which decays: `(1e4 N)^2/2k`.
        assert!(made < 0.0 && made > -5e-3, "{made}");
        return;
    }
}
