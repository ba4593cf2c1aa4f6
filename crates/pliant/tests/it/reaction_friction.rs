//! Dry friction of joints in proportion to the force that they carry.

use crate::tools::{Floor, order};
use pliant::contact::*;
use pliant::prelude::*;
use std::f64::consts::FRAC_PI_2;

/// Independent integrations in minimal coordinates: `benches/reference/joint_friction.py`.
const REFERENCE: &str = include_str!("../../../../benches/reference/joint_friction.txt");

const G: f64 = 9.81;

/// Lines of the table that begin with a word: the numbers behind every second word.
fn lines(kind: &str) -> Vec<Vec<f64>> {
    let own = REFERENCE
        .lines()
        .filter(|l| l.starts_with(kind) && l[kind.len()..].starts_with(" t "));
    let numbers = |l: &str| {
        l.split(' ')
            .skip(2)
            .step_by(2)
            .map(|w| w.parse().unwrap())
            .collect()
    };
    own.map(numbers).collect()
}

fn simulate(model: Model, integrator: Integrator) -> Simulation {
    let mut options = Options::default();
    if let Integrator::Theta = integrator {
        options = Options::theta();
    }
    options.integrator = integrator;
    Simulation::with_options(model, options).unwrap()
}

/// Homogeneous rod of 2 kg and 1 m, hinged at its end at the origin about z on a pin of 0.1 m, at an
/// angle to the horizontal.
fn pendulum(angle: f64, friction: f64) -> (Model, JointHandle) {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let centre = [0.5 * angle.cos(), 0.5 * angle.sin(), 0.0];
    let pose = Pose::turned(centre, [0.0, 0.0, 1.0], angle);
    let rod = m.add_rigid_bodies("rod", &[pose]).unwrap();
    let mass = RigidMass::principal(2.0, [0.01, 2.0 / 12.0, 2.0 / 12.0]);
    m.add_mass("m", rod, Mass::Rigid(vec![mass])).unwrap();
    let joint = Joint::hinge(Side::World, Side::Body(rod, 0)).with_reaction_friction(friction, Some(0.1));
    let hinge = m.add_joint("hinge", &joint).unwrap();
    (m, hinge)
}

/// The largest difference of the angle of the pendulum from the table, up to a time.
fn pendulum_error(integrator: Integrator, h: f64, until: f64) -> f64 {
    let (m, hinge) = pendulum(0.3, 0.5);
    let mut s = simulate(m, integrator);
    let mut worst = 0.0f64;
    for line in lines("pendulum") {
        let [t, angle] = line[..] else { panic!() };
        if t > until {
            break;
        }
        while s.time() < t - 0.5 * h {
            s.step(h).unwrap();
        }
        let now = s.positions(hinge.coordinates[0])[0] + 0.3;
        worst = worst.max((now - angle).abs());
    }
    worst
}

/// Against the integration of the equation of motion: of second order before it turns first, of first
/// with implicit Euler, and close on the way to where it sticks for good after six turns. (Where it
/// turns a step is of first order, `h` times a jump of the acceleration by a tenth of itself.)
#[test]
fn a_pendulum_on_a_pin() {
    let errors = |integrator: Integrator, until: f64| {
        [0.005, 0.0025].map(|h| pendulum_error(integrator.clone(), h, until))
    };
    let second = errors(Integrator::Sdirk2, 0.8);
    assert!(
        second[0] < 1e-4 && (order(second) - 2.0).abs() < 0.1,
        "{second:?}"
    );
    let whole = errors(Integrator::Sdirk2, 6.0);
    assert!(whole[1] < 1e-4 && whole[1] < 0.2 * whole[0], "{whole:?}");
    let first = errors(Integrator::Theta, 0.8);
    assert!(first[1] < 0.03 && (order(first) - 1.0).abs() < 0.1, "{first:?}");
}

/// Every step has friction of exactly the share of the force of its joint, while it slides, and takes
/// energy. Bounds are solved for to 1e-10 of the velocities that enter, up to 10 rad/s, where friction
/// makes 3e-3 rad/s a step. (SDIRK2 holds the law in each stage, and tells the mean force of both.)
#[test]
fn friction_follows_the_force_of_the_same_step() {
    let (m, hinge) = pendulum(0.3, 0.5);
    let mut s = simulate(m, Integrator::Theta);
    let mut energy = f64::INFINITY;
    for _ in 0..300 {
        let report = s.step(0.005).unwrap();
        let force = s.reaction(hinge.rows.unwrap());
        let most = 0.05 * force[0].hypot(force[1]);
        let own = s.reaction(hinge.attached[0])[0];
        let (now, before) = (s.velocities(hinge.coordinates[0])[0], energy);
        assert!(own.abs() <= most * (1.0 + 1e-6), "{own} {most}");
        energy = report.energies.total();
        assert!(energy < before + 1e-4, "{energy} {before}");
        if now.abs() > 0.2 {
            assert!((own + most * now.signum()).abs() < 1e-6 * most, "{own} {most}");
        }
    }
}

/// Sticking where its weight has an arm of no more than `mu r`, `sin phi = mu r/(l/2)` from upright
/// or hanging, motion beyond.
#[test]
fn a_heavy_crank_sticks_up_to_a_known_angle() {
    let stuck = (0.5 * 0.1 / 0.5f64).asin();
    for integrator in [Integrator::Sdirk2, Integrator::Theta] {
        for upright in [1.0, -1.0] {
            for (share, moves) in [(1.0 - 1e-6, false), (1.0 + 1e-6, true)] {
                let angle = upright * (FRAC_PI_2 - share * stuck);
                let (m, hinge) = pendulum(angle, 0.5);
                let mut s = simulate(m, integrator.clone());
                for _ in 0..20 {
                    s.step(0.01).unwrap();
                }
                let moved = s.positions(hinge.coordinates[0])[0].abs();
                assert_eq!(moved > 1e-9, moves, "{integrator:?} {share}: {moved}");
            }
        }
    }
}

/// Mass of 2 kg on a rail in the direction z of its joint, which gravity is at an angle to.
fn on_rail(slope: f64, friction: f64) -> (Model, JointHandle) {
    let mut m = Model::new();
    m.set_gravity([0.0, -G * slope.cos(), -G * slope.sin()]).unwrap();
    let cart = m.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
    m.add_mass("m", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
        .unwrap();
    let joint = Joint::slider(Side::World, Side::Body(cart, 0)).with_reaction_friction(friction, None);
    let slider = m.add_joint("slider", &joint).unwrap();
    (m, slider)
}

#[test]
fn a_slider_sticks_up_to_the_angle_of_friction() {
    for integrator in [Integrator::Sdirk2, Integrator::Theta] {
        let (m, slider) = on_rail(0.3, 0.3f64.tan() * (1.0 + 1e-9));
        let mut s = simulate(m, integrator.clone());
        for _ in 0..20 {
            s.step(0.01).unwrap();
        }
        assert!(s.positions(slider.coordinates[0])[0].abs() < 1e-12);
        let (m, slider) = on_rail(0.3, 0.2);
        let mut s = simulate(m, integrator.clone());
        for _ in 0..20 {
            s.step(0.01).unwrap();
        }
        let expected = -G * (0.3f64.sin() - 0.2 * 0.3f64.cos()) * 0.2;
        let v = s.velocities(slider.coordinates[0])[0];
        assert!((v - expected).abs() < 1e-9, "{integrator:?}: {v}, {expected}");
        let force = s.reaction(slider.attached[0])[0];
        let normal = s.reaction(slider.rows.unwrap());
        assert!(
            (force - 0.2 * normal[0].hypot(normal[1])).abs() < 1e-9,
            "{force} {normal:?}"
        );
    }
}

/// Friction opposes the sum of both slips: neither alone slows down evenly. The errors are those of
/// the methods, `3e-7 (h/0.01)^2` and of first order.
#[test]
fn a_pin_that_slides_and_turns() {
    for (integrator, h, allowed) in [(Integrator::Sdirk2, 0.01, 3e-6), (Integrator::Theta, 0.001, 5e-4)] {
        let mut m = Model::new();
        m.set_gravity([0.0, -G, 0.0]).unwrap();
        let pin = m.add_rigid_bodies("pin", &[Pose::default()]).unwrap();
        let mass = RigidMass::principal(2.0, [0.1, 0.1, 0.05]);
        m.add_mass("m", pin, Mass::Rigid(vec![mass])).unwrap();
        m.set_body_velocity(pin, 0, [0.0, 0.0, 1.0], [0.0, 0.0, 15.0])
            .unwrap();
        let joint =
            Joint::cylindrical(Side::World, Side::Body(pin, 0)).with_reaction_friction(0.2, Some(0.1));
        let handle = m.add_joint("pin joint", &joint).unwrap();
        let mut s = simulate(m, integrator.clone());
        for line in lines("screw") {
            let [t, v, w] = line[..] else { panic!() };
            while s.time() < t - 0.5 * h {
                s.step(h).unwrap();
            }
            let found = [0, 1].map(|k| s.velocities(handle.coordinates[k])[0]);
            let errors = [found[0] - v, found[1] - w].map(f64::abs);
            assert!(
                errors[0].max(errors[1]) < allowed,
                "{integrator:?} {t}: {errors:?}"
            );
        }
        // It stops, and stays.
        while s.time() < 3.0 {
            s.step(h).unwrap();
        }
        assert!(s.velocities(pin).iter().all(|v| v.abs() < 1e-9));
    }
}

/// Slip in all directions alike: the torque is `mu r m g` against the spin, about any axis.
#[test]
fn a_ball_in_its_socket() {
    for integrator in [Integrator::Sdirk2, Integrator::Theta] {
        for axis in [
            [1.0, 0.0, 0.0],
            [0.6, 0.0, 0.8],
            [1.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0],
        ] {
            let mut m = Model::new();
            m.set_gravity([0.0, -G, 0.0]).unwrap();
            let ball = m.add_rigid_bodies("ball", &[Pose::default()]).unwrap();
            let mass = RigidMass::principal(2.0, [0.05; 3]);
            m.add_mass("m", ball, Mass::Rigid(vec![mass])).unwrap();
            m.set_body_velocity(ball, 0, [0.0; 3], axis.map(|x| 4.0 * x))
                .unwrap();
            let joint = Joint::ball(Side::World, Side::Body(ball, 0)).with_reaction_friction(0.1, Some(0.02));
            m.add_joint("socket", &joint).unwrap();
            let mut s = simulate(m, integrator.clone());
            let slowing = 0.1 * 0.02 * 2.0 * G / 0.05;
            for k in 1..=30 {
                s.step(0.01).unwrap();
                let expected = 4.0 - slowing * 0.01 * f64::from(k);
                let w: [f64; 3] = s.velocities(ball)[3..].try_into().unwrap();
                let error = (0..3)
                    .map(|k| (w[k] - expected * axis[k]).abs())
                    .fold(0.0, f64::max);
                assert!(error < 1e-9, "{integrator:?} {axis:?} {k}: {w:?}, {expected}");
            }
        }
    }
}

/// Rod of 2 kg and 1 m whose ends are on two rails, one along x with the first coefficient of
/// friction, one along y with the second.
fn ladder(angle: f64, friction: [f64; 2]) -> (Model, NodeId, [JointHandle; 2]) {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    // Its x axis points from the ground to the wall.
    let pose = Pose::turned(
        [0.5 * angle.cos(), 0.5 * angle.sin(), 0.0],
        [0.0, 0.0, 1.0],
        std::f64::consts::PI - angle,
    );
    let rod = m.add_rigid_bodies("rod", &[pose]).unwrap();
    let mass = RigidMass::principal(2.0, [0.01, 2.0 / 12.0, 2.0 / 12.0]);
    m.add_mass("m", rod, Mass::Rigid(vec![mass])).unwrap();
    let rails = [
        Pose::turned([0.0; 3], [0.0, 1.0, 0.0], FRAC_PI_2),
        Pose::turned([0.0; 3], [1.0, 0.0, 0.0], -FRAC_PI_2),
    ];
    let joints = [0, 1].map(|k| {
        let end = Pose::at([k as f64 - 0.5, 0.0, 0.0]);
        let joint = Joint::point_on_line(Side::Fixed(rails[k]), Side::Frame(rod, 0, end));
        let joint = joint.with_reaction_friction(friction[k], None);
        m.add_joint(["ground", "wall"][k], &joint).unwrap()
    });
    (m, rod, joints)
}

/// The friction of each end is pressed by that of the other one. Second order, and first.
#[test]
fn a_ladder_slides_with_friction_at_both_ends() {
    let error = |integrator: Integrator, h: f64| {
        let (m, rod, _) = ladder(0.7, [0.3, 0.2]);
        let mut s = simulate(m, integrator);
        let mut worst = 0.0f64;
        for line in lines("ladder") {
            let [t, angle, speed] = line[..] else { panic!() };
            while s.time() < t - 0.5 * h {
                s.step(h).unwrap();
            }
            let p = s.positions(rod);
            worst = worst.max((p[1].atan2(p[0]) - angle).abs());
            worst = worst.max((-s.velocities(rod)[5] - speed).abs());
        }
        worst
    };
    let second = [0.005, 0.0025].map(|h| error(Integrator::Sdirk2, h));
    assert!(
        second[0] < 3e-5 && (order(second) - 2.0).abs() < 0.1,
        "{second:?}"
    );
    let first = [0.001, 0.0005].map(|h| error(Integrator::Theta, h));
    assert!(first[0] < 5e-3 && (order(first) - 1.0).abs() < 0.1, "{first:?}");
}

/// Where bound and reaction do not settle in a linear step it is taken in halves, and the ladder goes
/// on down and past the ground as with the default method, but for the first order in the step.
#[test]
fn a_linear_step_whose_friction_does_not_settle_is_halved() {
    let mut halvings = 0;
    for degrees in [12.0f64, 16.0, 20.0, 28.0] {
        let angles = [Integrator::Theta, Integrator::Sdirk2].map(|integrator| {
            let (m, rod, _) = ladder(degrees.to_radians(), [0.3, 0.2]);
            let mut s = simulate(m, integrator.clone());
            for _ in 0..120 {
                let report = s.step(0.005).unwrap();
                if integrator == Integrator::Theta {
                    halvings += report.solve.newton.step_halvings;
                }
            }
            let p = s.positions(rod);
            p[1].atan2(p[0])
        });
        // Of first order in the step of 5 ms: less than a hundredth of the way.
        let error = (angles[0] - angles[1]).abs();
        let turned = degrees.to_radians() - angles[1];
        assert!(error < 0.01 * turned, "{degrees}: {angles:?}");
    }
    assert!(halvings > 0);
}

/// Rest where `tan a >= (1 - mu_g mu_w)/(2 mu_g)`, though the forces of its four rows of friction
/// and reaction are then not determined by its weight.
#[test]
fn a_ladder_stays_where_it_is_steep() {
    let steepest = ((1.0 - 0.4 * 0.3) / (2.0 * 0.4f64)).atan();
    for integrator in [Integrator::Sdirk2, Integrator::Theta] {
        for (beyond, moves) in [(1e-2, false), (1e-5, false), (-1e-5, true)] {
            let (m, rod, _) = ladder(steepest + beyond, [0.4, 0.3]);
            let mut s = simulate(m, integrator.clone());
            for _ in 0..20 {
                s.step(0.01).unwrap();
            }
            let speed = s.velocities(rod).iter().fold(0.0f64, |a, v| a.max(v.abs()));
            assert_eq!(speed > 1e-9, moves, "{integrator:?} {beyond}: {speed}");
        }
    }
}

/// Contacts beside it are solved with all rows at once, by other solvers: the motion is the same.
#[test]
fn friction_of_joints_beside_contacts() {
    for integrator in [Integrator::Sdirk2, Integrator::Theta] {
        let angles = [false, true].map(|touches| {
            let (mut m, hinge) = pendulum(0.3, 0.5);
            let weight = m.add_particles("weight", &[[5.0, 0.0, 0.0]]).unwrap();
            m.add_mass("of weight", weight, Mass::Uniform(1.0)).unwrap();
            m.set_gravity([0.0, -G, -1.0]).unwrap();
            let mut s = simulate(m, integrator.clone());
            if touches {
                let law = ContactLaw::default();
                s.set_contacts(Floor(weight, law)).unwrap();
            }
            for _ in 0..100 {
                s.step(0.01).unwrap();
            }
            s.positions(hinge.coordinates[0])[0]
        });
        assert!((angles[0] - angles[1]).abs() < 1e-7, "{integrator:?} {angles:?}");
    }
}

/// Bad input is told with the name of the joint, by typed errors.
#[test]
fn bad_friction_is_refused() {
    let add = |joint: &dyn Fn(Side, Side) -> Joint, coefficient: f64, radius: Option<f64>| {
        let mut m = Model::new();
        let body = m.add_rigid_bodies("body", &[Pose::default()]).unwrap();
        let joint = joint(Side::World, Side::Body(body, 0)).with_reaction_friction(coefficient, radius);
        m.add_joint("door", &joint).unwrap_err()
    };
    let negative = add(&Joint::hinge, -0.1, Some(0.1));
    assert!(matches!(negative, ModelError::OutOfRange { .. }), "{negative}");
    let flat = add(&Joint::hinge, 0.1, Some(0.0));
    assert!(matches!(flat, ModelError::OutOfRange { .. }), "{flat}");
    for (joint, radius) in [
        (&Joint::hinge as &dyn Fn(Side, Side) -> Joint, None),
        (&Joint::slider, Some(0.1)),
        (&Joint::planar, None),
    ] {
        let refused = add(joint, 0.1, radius);
        assert!(matches!(refused, ModelError::Friction { .. }), "{refused}");
        assert!(refused.to_string().contains("door.friction 0"), "{refused}");
    }
    // Its bounds are not to be given, and it has no derivative.
    let (m, hinge) = pendulum(0.3, 0.5);
    let mut s = simulate(m, Integrator::Sdirk2);
    let refused = s.set_bounds(hinge.attached[0], -1.0, 1.0).unwrap_err();
    assert!(
        matches!(refused, Error::Model(ModelError::Friction { .. })),
        "{refused}"
    );
    let refused = s.step_derivative().map(drop).unwrap_err();
    assert!(
        matches!(refused, pliant::gradient::GradientError::NotBuilt { .. }),
        "{refused}"
    );
    // Methods that know no rows of bounded force refuse it.
    let (m, _) = pendulum(0.3, 0.5);
    let mut s = simulate(m, Integrator::Rattle);
    assert!(matches!(s.step(0.01), Err(Error::Unsupported { .. })));
}
