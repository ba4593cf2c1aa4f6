//! Derivatives through impacts whose time moves: steps that are taken in parts.

use super::options;
use crate::worlds::rough;
use pliant::collision::*;
use pliant::gradient::*;
use pliant::prelude::*;

const G: f64 = 9.81;

fn located() -> Options {
    let mut options = options();
    options.contacts.locate_impacts = true;
    options
}

/// A ball of this radius and mass that is thrown from a height onto ground with this slope.
fn ball(p: &[f64], friction: f64, slope: f64) -> Result<Simulation, TrajectoryError> {
    let [height, speed, e, radius] = [p[0], p[1], p[2], p[3]];
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G])?;
    let node = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, height])])?;
    let mass = RigidMass::principal(1.0, [0.4 * radius * radius; 3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass]))?;
    m.set_body_velocity(node, 0, [speed, 0.2, 0.0], [1.0, 2.0, 3.0])?;
    let mut world = World::new();
    let material = Material {
        restitution: e,
        ..rough(friction)
    };
    let material = world.add_material(material).unwrap();
    let plane = Shape::half_space([slope.sin(), 0.0, slope.cos()]).unwrap();
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
    world.add(ground.with_material(material)).unwrap();
    let place = Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    let collider = Collider::new("ball", Shape::ball(radius).unwrap(), place);
    world.add(collider.with_material(material)).unwrap();
    let mut s = Simulation::with_options(m, located())?;
    s.set_contacts(world)?;
    Ok(s)
}

/// A coordinate of the position at the end.
fn place(steps: usize, coordinate: usize) -> impl FnMut(usize, &Simulation, &mut NodeGradient) -> f64 {
    move |step, s, by| {
        if step < steps {
            return 0.0;
        }
        by.x[coordinate] = 1.0;
        s.state().positions[coordinate]
    }
}

/// The height of a ball after its bounces, by its height at the start, its restitution and its radius:
/// in closed form, to the order of the steps.
#[test]
fn the_height_after_bounces_is_that_of_parabolas() {
    let p = [0.6, 1.0, 0.7, 0.1];
    let end = 0.6;
    // After one bounce: t1 = sqrt(2 (H - r)/g), z = r + e g t1 (t - t1) - g (t - t1)^2/2.
    let fall = p[0] - p[3];
    let t1 = (2.0 * fall / G).sqrt();
    let t = end - t1;
    let by_time = p[2] * G * (t - t1) + G * t;
    let by_height = by_time * t1 / (2.0 * fall);
    let exact = [by_height, 0.0, G * t1 * t, 1.0 - by_height];
    assert!(t < 2.0 * p[2] * t1, "one bounce");
    for steps in [100, 200, 400, 800, 1600, 3200] {
        let h = end / steps as f64;
        let make = |p: &[f64]| ball(p, 0.0, 0.0);
        let mut s = make(&p).unwrap();
        let mut family = family_of_simulations(&make, &p, &p).unwrap();
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        let found = trajectory.gradient(&mut s, &mut place(steps, 2)).unwrap();
        // The ball is above the ground, and was on it in one step alone.
        assert_eq!(
            (found.report.active.frictionless, found.report.active.at_change),
            (1, 0)
        );
        // By the state at the start as by the parameter.
        assert!((found.start.x[2] - found.parameters[0]).abs() < 1e-9);
        let pairs = found.parameters.iter().zip(exact);
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Of first order, by a number that depends on where in its step the impact is.
        assert!(off < 10.0 * h, "{steps}: {off}");
    }
}

/// The mean of a coordinate over all moments.
fn mean(steps: usize, coordinate: usize) -> impl FnMut(usize, &Simulation, &mut NodeGradient) -> f64 {
    move |_, s, by| {
        by.x[coordinate] = 1.0 / steps as f64;
        s.state().positions[coordinate] / steps as f64
    }
}

/// Compares gradients of mean places with differences of runs, and with tangents.
fn check(what: &str, make: &dyn Fn(&[f64]) -> Result<Simulation, TrajectoryError>, at: &[f64], steps: usize) {
    let h = 0.01;
    for coordinate in 0..3 {
        let mut s = make(at).unwrap();
        let start = s.checkpoint();
        let mut family = family_of_simulations(make, at, at).unwrap();
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        (trajectory.run, trajectory.slots) = (7, 3);
        let found = trajectory.gradient(&mut s, &mut mean(steps, coordinate)).unwrap();
        drop(trajectory);
        for k in 0..at.len() {
            let value = |t: f64| {
                let mut p = at.to_vec();
                p[k] *= 1.0 + t;
                let mut s = make(&p).unwrap();
                let mut sum = s.state().positions[coordinate];
                for _ in 0..steps {
                    s.step(h).unwrap();
                    sum += s.state().positions[coordinate];
                }
                sum / steps as f64
            };
            let own = found.parameters[k] * at[k];
            let mut best = f64::INFINITY;
            for t in [3e-3, 1e-3, 3e-4, 1e-4] {
                let by = (8.0 * (value(t) - value(-t)) - (value(2.0 * t) - value(-2.0 * t))) / (12.0 * t);
                best = best.min((own - by).abs() / own.abs().max(0.1));
            }
            assert!(
                best < 1e-6,
                "{what}, {coordinate} by {k}: {own} is {best:.1e} off"
            );
        }
        // Forwards, along all parameters at once.
        s.restore(&start).unwrap();
        let still = StateVector::zeros(s.model().dof_count());
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        let mut objective = mean(steps, coordinate);
        let forwards = trajectory.tangent(&mut s, &mut objective, &still, at).unwrap();
        let backwards: f64 = found.parameters.iter().zip(at).map(|(g, p)| g * p).sum();
        let off = (forwards.derivative - backwards).abs();
        assert!(
            off < 1e-9 * backwards.abs().max(0.1),
            "{what}, {coordinate}: {off:.1e}"
        );
        assert_eq!(forwards.value, found.value);
    }
}

/// Balls that bounce on a slope with friction: runs have no jumps where another step becomes the one
/// that lands, so that differences may be as long as those of smooth motion.
#[test]
fn balls_that_bounce_on_slopes() {
    let p = [0.4, 1.0, 0.7, 0.1];
    check("smooth", &|p| ball(p, 0.0, 0.0), &p, 70);
    check("rough", &|p| ball(p, 0.2, 0.1), &p, 70);
    check("sticking", &|p| ball(p, 2.0, 0.1), &p, 70);
}

/// A box that tumbles onto its corners, with gyroscopic torques that jump with its spin, and a ball on
/// a ball whose normal turns with the time of the impact.
#[test]
fn boxes_on_corners_and_balls_on_balls() {
    let tumbling = |p: &[f64]| -> Result<Simulation, TrajectoryError> {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G])?;
        let pose = Pose {
            position: [0.0, 0.0, p[0]],
            rotation: [(0.3f64).cos(), (0.3f64).sin(), 0.0, 0.0],
        };
        let node = m.add_rigid_bodies("box", &[pose])?;
        let mass = RigidMass::cuboid(2.0, [0.2, p[1], 0.1]);
        m.add_mass("mass", node, Mass::Rigid(vec![mass]))?;
        m.set_body_velocity(node, 0, [0.4, -0.2, 0.0], [p[2], 2.0, 0.5])?;
        let mut world = World::new();
        let material = Material {
            restitution: p[3],
            ..rough(0.3)
        };
        let material = world.add_material(material).unwrap();
        crate::worlds::ground(&mut world, material);
        let place = Placement::Body {
            node,
            element: 0,
            pose: Pose::default(),
        };
        let shape = Shape::cuboid([0.1, 0.5 * p[1], 0.05]).unwrap();
        world
            .add(Collider::new("box", shape, place).with_material(material))
            .unwrap();
        let mut s = Simulation::with_options(m, located())?;
        s.set_contacts(world)?;
        Ok(s)
    };
    check("box", &tumbling, &[0.3, 0.16, 3.0, 0.6], 30);
    let balls = |p: &[f64]| -> Result<Simulation, TrajectoryError> {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G])?;
        let poses = [Pose::at([p[0], 0.03, 0.5]), Pose::default()];
        let node = m.add_rigid_bodies("balls", &poses)?;
        let masses = [p[1], 1.5].map(|mass| RigidMass::principal(mass, [4e-3 * mass; 3]));
        m.add_mass("mass", node, Mass::Rigid(masses.to_vec()))?;
        m.set_body_velocity(node, 0, [0.1, 0.0, 0.0], [2.0, p[2], 0.5])?;
        m.set_body_velocity(node, 1, [0.0, 0.0, 1.5], [0.0; 3])?;
        let mut world = World::new();
        let material = Material {
            restitution: 0.8,
            ..rough(0.2)
        };
        let material = world.add_material(material).unwrap();
        for element in [0, 1] {
            let place = Placement::Body {
                node,
                element,
                pose: Pose::default(),
            };
            let collider = Collider::new(&format!("ball {element}"), Shape::ball(0.1).unwrap(), place);
            world.add(collider.with_material(material)).unwrap();
        }
        let mut s = Simulation::with_options(m, located())?;
        s.set_contacts(world)?;
        Ok(s)
    };
    check("balls", &balls, &[0.02, 1.0, 3.0], 40);
}
