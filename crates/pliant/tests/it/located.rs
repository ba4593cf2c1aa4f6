//! Steps in parts that end at impacts: against parabolas and their recurrence.

use crate::certificate::Pusher;
use crate::worlds::rough;
use pliant::collision::*;
use pliant::prelude::*;

const G: f64 = 9.81;

/// A ball of 0.1 m above the ground, with this velocity.
fn ball(height: f64, v: [f64; 3], material: Material, integrator: Integrator) -> Simulation {
    ball_beside(Model::new(), height, v, material, integrator)
}

/// The same ball beside what a model has.
fn ball_beside(
    mut m: Model,
    height: f64,
    v: [f64; 3],
    material: Material,
    integrator: Integrator,
) -> Simulation {
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let node = m
        .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 0.1 + height])])
        .unwrap();
    let mass = RigidMass::principal(1.0, [4e-3; 3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(node, 0, v, [0.0; 3]).unwrap();
    let (mut world, material) = crate::worlds::slope([0.0; 2], material);
    crate::worlds::add_body(&mut world, material, node, 0, Shape::ball(0.1).unwrap());
    let mut options = Options {
        integrator,
        ..Options::default()
    };
    (options.alpha, options.beta) = match options.integrator {
        Integrator::Theta => (0.5, 0.5),
        _ => (1.0, 1.0),
    };
    options.contacts.locate_impacts = true;
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    s
}

fn bouncy(restitution: f64) -> Material {
    Material {
        restitution,
        ..rough(0.0)
    }
}

/// The height of a ball that was dropped, in closed form: of each parabola from the impact before.
fn parabolas(height: f64, e: f64, time: f64) -> f64 {
    let first = (2.0 * height / G).sqrt();
    if time < first {
        return height - 0.5 * G * time * time;
    }
    let (mut begins, mut speed) = (first, e * G * first);
    while begins + 2.0 * speed / G < time {
        begins += 2.0 * speed / G;
        speed *= e;
    }
    let t = time - begins;
    speed * t - 0.5 * G * t * t
}

/// A ball by methods that have parabolas exactly bounces as these say: what is left is gravity in
/// the short parts that impacts take.
#[test]
fn a_ball_bounces_when_it_lands() {
    let (height, e, h) = (0.5, 0.7, 0.01);
    for integrator in [Integrator::Theta, Integrator::Sdirk2] {
        let mut s = ball(height, [0.3, 0.0, 0.0], bouncy(e), integrator);
        for step in 1..=150 {
            s.step(h).unwrap();
            let time = f64::from(step) * h;
            let expected = parabolas(height, e, time);
            let found = s.state().positions[2] - 0.1;
            assert!((found - expected).abs() < 1e-6, "{time}: {found} {expected}");
            assert!((s.state().positions[0] - 0.3 * time).abs() < 1e-9);
            assert!((s.time() - time).abs() < 1e-14 * f64::from(step));
        }
    }
}

/// By the nonlinear method a ball is where its recurrence says: `v+ = v - g t`, `x+ = x + t v+` of
/// each part, `v+ = -e v` of an impact. From then on it is a function of its start without jumps.
#[test]
fn the_nonlinear_step_bounces_as_its_recurrence_says() {
    let (height, e, h) = (0.213, 0.6, 0.01);
    let by_hand = |height: f64, steps: usize| {
        let (mut x, mut v) = (height, 0.0);
        for _ in 0..steps {
            let mut left = h;
            loop {
                // x + t (v - g t) = 0.
                let t = (v + f64::sqrt(v * v + 4.0 * G * x)) / (2.0 * G);
                if t >= left {
                    v -= left * G;
                    x += left * v;
                    break;
                }
                v = -e * (v - t * G);
                x = 0.0;
                left -= t;
            }
        }
        x
    };
    for steps in [20, 21, 22, 30, 60] {
        for k in 0..20 {
            let height = height + 0.01 * f64::from(k);
            let mut s = ball(height, [0.0; 3], bouncy(e), Integrator::Nonlinear);
            for _ in 0..steps {
                s.step(h).unwrap();
            }
            let found = s.state().positions[2] - 0.1;
            let expected = by_hand(height, steps);
            assert!(
                (found - expected).abs() < 1e-6,
                "{height}, {steps}: {found} {expected}"
            );
        }
    }
}

/// A ball comes to rest after infinitely many bounces, in the time of their sum.
#[test]
fn a_ball_comes_to_rest() {
    for integrator in [Integrator::Theta, Integrator::Sdirk2, Integrator::Nonlinear] {
        let mut s = ball(0.1, [0.0; 3], bouncy(0.5), integrator);
        // The first fall takes 0.143 s, all bounces together twice as long.
        let (mut located, mut passed) = (0, 0);
        for _ in 0..50 {
            let work = s.step(0.01).unwrap().contacts.solve;
            (located, passed) = (located + work.located, passed + work.passed);
        }
        // The last ones are too slow to tell.
        assert!(located >= 4 && passed == 0, "{located} {passed}");
        let end = s.state();
        assert!((end.positions[2] - 0.1).abs() < 1e-5, "{}", end.positions[2]);
        // With the mean of both velocities what is left of the last bounce swings on, halved by each.
        assert!(end.velocities[2].abs() < 1e-5, "{}", end.velocities[2]);
    }
}

/// A body that lies a rounding above the ground takes part in the motion, and has no impact of its own.
#[test]
fn a_gap_of_rounding_is_none() {
    for integrator in [Integrator::Theta, Integrator::Sdirk2, Integrator::Nonlinear] {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G]).unwrap();
        let above = 1.8e-15;
        let poses = [Pose::at([0.0, 0.0, 0.12]), Pose::at([0.0, 1.5, 0.1 + above])];
        let node = m.add_rigid_bodies("balls", &poses).unwrap();
        let mass = RigidMass::principal(1.0, [4e-3; 3]);
        m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
        let (mut world, material) = crate::worlds::slope([0.0; 2], bouncy(0.5));
        for element in [0, 1] {
            crate::worlds::add_body(&mut world, material, node, element, Shape::ball(0.1).unwrap());
        }
        let mut options = Options {
            integrator,
            ..Options::default()
        };
        options.contacts.locate_impacts = true;
        let mut s = Simulation::with_options(m, options).unwrap();
        s.set_contacts(world).unwrap();
        let mut located = 0;
        // The other one lands after 0.064 s, and once more after 0.128 s.
        for _ in 0..10 {
            located += s.step(0.01).unwrap().contacts.solve.located;
            assert!(
                s.state().velocities[8].abs() < 1e-10,
                "{:?}",
                s.state().velocities
            );
        }
        assert_eq!(located, 1);
    }
}

/// Of bounces that get shorter without end, a step has sixteen at most: the rest of it is told.
#[test]
fn the_rest_of_a_step_with_too_many_bounces_is_told() {
    let mut s = ball(0.02, [0.0; 3], bouncy(0.8), Integrator::Sdirk2);
    let (mut located, mut passed) = (0, 0);
    // The sum of all bounces is 0.57 s.
    for _ in 0..80 {
        let work = s.step(0.01).unwrap().contacts.solve;
        (located, passed) = (located + work.located, passed + work.passed);
    }
    assert!(located > 30 && (1..=3).contains(&passed), "{located} {passed}");
    assert!((s.state().positions[2] - 0.1).abs() < 1e-5);
}

/// A box without friction that falls on its corners and bounces on them keeps its energy, and its
/// velocities across; with a ball that rolls against it everything goes on at the same time.
#[test]
fn a_box_tumbles_on_its_corners_and_keeps_its_energy() {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let turned = [(0.3f64).cos(), (0.3f64).sin(), 0.0, 0.0];
    let pose = Pose {
        position: [0.0, 0.0, 0.4],
        rotation: turned,
    };
    let node = m.add_rigid_bodies("box", &[pose]).unwrap();
    m.add_mass(
        "mass",
        node,
        Mass::Rigid(vec![RigidMass::cuboid(2.0, [0.2, 0.16, 0.1])]),
    )
    .unwrap();
    m.set_body_velocity(node, 0, [0.4, -0.2, 0.0], [1.0, 2.0, 0.5])
        .unwrap();
    let (mut world, material) = crate::worlds::slope([0.0; 2], bouncy(1.0));
    let shape = Shape::cuboid([0.1, 0.08, 0.05]).unwrap();
    crate::worlds::add_body(&mut world, material, node, 0, shape);
    let mut options = Options::default();
    options.contacts.locate_impacts = true;
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    let energy = |s: &Simulation| {
        let (x, v) = (&s.state().positions, &s.state().velocities);
        let inertia = [0.16f64, 0.2, 0.2].iter().zip([0.1f64, 0.1, 0.16]);
        let inertia: Vec<f64> = inertia.map(|(a, b)| 2.0 / 12.0 * (a * a + b * b)).collect();
        let kinetic: f64 = (0..3)
            .map(|k| v[k] * v[k] + 0.5 * inertia[k] * v[3 + k] * v[3 + k])
            .sum();
        kinetic + 2.0 * G * x[2]
    };
    let before = energy(&s);
    for _ in 0..400 {
        s.step(0.005).unwrap();
        assert!((s.state().velocities[0] - 0.4).abs() < 1e-9);
    }
    // The error of SDIRK2 over two seconds of tumbling, h = 5 ms.
    assert!(
        (energy(&s) / before - 1.0).abs() < 1e-3,
        "{} {before}",
        energy(&s)
    );
}

/// A motion goes on to the bit from a moment that was kept, and its report counts its impacts.
#[test]
fn a_moment_that_was_kept_goes_on_to_the_bit() {
    let make = || ball(0.2, [0.3, 0.1, 0.0], bouncy(0.8), Integrator::Sdirk2);
    let (mut one, mut other) = (make(), make());
    let mut located = 0;
    for step in 0..90 {
        if step == 43 {
            other.restore(&one.checkpoint()).unwrap();
        }
        let work = one.step(0.01).unwrap().contacts.solve;
        located += work.located;
        assert_eq!(work.passed, 0);
        if step >= 43 {
            other.step(0.01).unwrap();
            assert_eq!(one.state(), other.state());
        }
    }
    // At 0.20 s and every 0.32, 0.26, 0.21 s after it.
    assert_eq!(located, 3);
}

/// Where a method fails in a part, the motion is as before its step.
#[test]
fn a_step_that_fails_leaves_the_motion_as_it_was() {
    let mut s = ball(0.001, [0.3, 0.1, -1.0], bouncy(0.8), Integrator::Nonlinear);
    let before = s.state().clone();
    // No method comes to an accuracy like this with one operation.
    s.options.tuning.work.contact_operations = 1;
    s.options.contacts.halvings = 0;
    let failed = s.step(0.01);
    assert!(failed.is_err(), "{failed:?}");
    assert_eq!((s.state(), s.time()), (&before, 0.0));
    s.options.tuning.work = WorkLimits::default();
    s.step(0.01).unwrap();
}

/// Energy that comes from nowhere is an error in steps that are taken in parts, too, and the motion is
/// as before: a spring whose damper pushes, with a ball in the air beside it.
#[test]
fn energy_from_nowhere_is_an_error_here_too() {
    let run = |pushes: bool| {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[1.0]).unwrap();
        model.add_mass("x", x, Mass::Uniform(1.0)).unwrap();
        model
            .add_force_field("spring", x, Spring::linear(9.0), Treatment::Stiffness)
            .unwrap();
        if pushes {
            model
                .add_force_field("pusher", x, Pusher, Treatment::Stiffness)
                .unwrap();
        }
        let mut s = ball_beside(model, 0.5, [0.0; 3], bouncy(0.8), Integrator::Sdirk2);
        for _ in 0..100 {
            let before = s.state().clone();
            if let Err(error) = s.step(0.01) {
                assert_eq!(s.state(), &before);
                return Some(error);
            }
        }
        None
    };
    assert!(run(false).is_none());
    let error = run(true).unwrap();
    assert!(matches!(error, Error::NotCertified { .. }), "{error}");
}

/// A ball that has come to rest falls asleep, and wakes when it is pushed.
#[test]
fn balls_fall_asleep_after_their_bounces() {
    let mut s = ball(0.1, [0.0; 3], bouncy(0.5), Integrator::Sdirk2);
    s.options.contacts.sleeping = Some(pliant::contact::Sleeping::default());
    let mut asleep = 0;
    for _ in 0..200 {
        asleep = s.step(0.01).unwrap().contacts.sleep.asleep;
    }
    assert_eq!(asleep, 1);
    let node = s.model().node_named("ball").unwrap();
    s.set_force(node, 0, &[0.0, 0.0, 15.0, 0.0, 0.0, 0.0]).unwrap();
    for _ in 0..20 {
        s.step(0.01).unwrap();
    }
    s.set_force(node, 0, &[0.0; 6]).unwrap();
    let up = s.state().positions[2];
    assert!(up > 0.15, "{up}");
    // It falls and bounces again.
    let lowest = (0..60).map(|_| {
        s.step(0.01).unwrap();
        s.state().positions[2]
    });
    assert!((lowest.fold(1.0, f64::min) - 0.1).abs() < 0.01);
}
