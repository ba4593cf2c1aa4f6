//! Derivatives through impacts whose time moves: steps that are taken in parts.

use super::steps::chain;
use super::{between, off_differences, options};
use crate::worlds::{add_body, rough};
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
pub(super) fn ball(p: &[f64], friction: f64, slope: f64) -> Result<Simulation, TrajectoryError> {
    let [height, speed, e, radius] = [p[0], p[1], p[2], p[3]];
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G])?;
    let node = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, height])])?;
    let mass = RigidMass::principal(1.0, [0.4 * radius * radius; 3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass]))?;
    m.set_body_velocity(node, 0, [speed, 0.2, 0.0], [1.0, 2.0, 3.0])?;
    let material = Material {
        restitution: e,
        ..rough(friction)
    };
    let (mut world, material) = crate::worlds::slope([slope, 0.0], material);
    add_body(&mut world, material, node, 0, Shape::ball(radius).unwrap());
    let mut s = Simulation::with_options(m, located())?;
    s.set_contacts(world)?;
    Ok(s)
}

/// A coordinate of the position at the end.
pub(super) fn place(
    steps: usize,
    coordinate: usize,
) -> impl FnMut(usize, &Simulation, &mut NodeGradient) -> f64 {
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
        // In a step of one length the time of the impact stays: what begins higher ends higher.
        let mut in_step = make(&p).unwrap();
        in_step.options.contacts.locate_impacts = false;
        let stays = Trajectory::new(steps, h)
            .gradient(&mut in_step, &mut place(steps, 2))
            .unwrap();
        assert!((stays.start.x[2] - 1.0).abs() < 1e-9, "{:?}", stays.start);
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
        let material = Material {
            restitution: p[3],
            ..rough(0.3)
        };
        let (mut world, material) = crate::worlds::slope([0.0; 2], material);
        let shape = Shape::cuboid([0.1, 0.5 * p[1], 0.05]).unwrap();
        add_body(&mut world, material, node, 0, shape);
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
            add_body(&mut world, material, node, element, Shape::ball(0.1).unwrap());
        }
        let mut s = Simulation::with_options(m, located())?;
        s.set_contacts(world)?;
        Ok(s)
    };
    check("balls", &balls, &[0.02, 1.0, 3.0], 40);
}

/// A ball that lands where another one lies, which has come to rest after infinitely many bounces, and
/// lies on through impacts too short for its weight to close a gap of rounding.
#[test]
fn balls_that_lie_while_others_land() {
    let make = |p: &[f64]| -> Result<Simulation, TrajectoryError> {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G])?;
        let poses = [Pose::at([0.0, 0.0, p[0]]), Pose::at([0.0, 1.5, 0.15])];
        let node = m.add_rigid_bodies("balls", &poses)?;
        let mass = RigidMass::principal(1.0, [4e-3; 3]);
        m.add_mass("mass", node, Mass::Rigid(vec![mass]))?;
        m.set_body_velocity(node, 0, [0.3, 0.0, 0.0], [0.0, p[1], 0.5])?;
        m.set_body_velocity(node, 1, [1.0, 0.0, 0.0], [0.0; 3])?;
        let material = Material {
            restitution: 0.5,
            ..rough(0.3)
        };
        let (mut world, material) = crate::worlds::slope([0.0; 2], material);
        for element in [0, 1] {
            add_body(&mut world, material, node, element, Shape::ball(0.1).unwrap());
        }
        let mut own = located();
        own.contacts.overlap = pliant::contact::Overlap::Rows {
            rate: 20.0,
            speed: 1.0,
        };
        let mut s = Simulation::with_options(m, own)?;
        s.set_contacts(world)?;
        Ok(s)
    };
    let mut s = make(&[0.5, 3.0]).unwrap();
    let work: Vec<_> = (0..40).map(|_| s.step(0.01).unwrap().contacts.solve).collect();
    // It rests before the other one lands at 0.286 s.
    let impacts = |range: std::ops::Range<usize>| work[range].iter().map(|w| w.located).sum::<usize>();
    assert!(impacts(0..26) > 2 && impacts(26..40) == 1, "{work:?}");
    check("lies", &make, &[0.5, 3.0], 40);
}

/// How the end of a step moves with its length is that of differences: of chains with springs, and of
/// balls that slip, roll, lie on soft ground, land, bounce and are lifted out of their overlap, by implicit
/// Euler and with weights of both ends.
#[test]
fn steps_of_other_lengths() {
    let ball = |height: f64, [v, w]: [[f64; 3]; 2], material: Material| {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G]).unwrap();
        let node = m
            .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, height])])
            .unwrap();
        let mass = RigidMass::principal(1.0, [4e-3, 5e-3, 6e-3]);
        m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
        m.set_body_velocity(node, 0, v, w).unwrap();
        let (mut world, material) = crate::worlds::slope([0.1, 0.0], material);
        add_body(&mut world, material, node, 0, Shape::ball(0.1).unwrap());
        let mut own = options();
        own.contacts.overlap = pliant::contact::Overlap::Rows {
            rate: 20.0,
            speed: 10.0,
        };
        let mut s = Simulation::with_options(m, own).unwrap();
        s.set_contacts(world).unwrap();
        s
    };
    let soft = Material {
        compliance: 1e-4,
        relaxation_time: 5e-3,
        ..rough(0.2)
    };
    let bouncy = Material {
        restitution: 0.6,
        ..rough(0.2)
    };
    let down = [[0.5, 0.1, -1.0], [1.0, 2.0, 3.0]];
    let level = [[1.0, 0.3, -0.1], [0.0, 9.0, 1.0]];
    let scenes = || {
        [
            ("chain", Simulation::with_options(chain(4), options()).unwrap()),
            ("slips", ball(0.095, down, rough(0.1))),
            ("rolls", ball(0.095, level, rough(2.0))),
            ("soft", ball(0.0985, down, soft)),
            ("lands", ball(0.105, down, rough(0.2))),
            ("bounces", ball(0.105, down, bouncy)),
            ("flies", ball(0.3, down, bouncy)),
        ]
    };
    let all = [[1.0; 2], [0.6, 0.7]]
        .into_iter()
        .flat_map(|weights| scenes().map(|scene| (weights, scene)));
    for (weights, (what, mut s)) in all {
        (s.options.alpha, s.options.beta) = (weights[0], weights[1]);
        let h = 0.01;
        let start = s.checkpoint();
        s.step(h).unwrap();
        let end = s.state().clone();
        let mut derivative = s.step_derivative().unwrap();
        let mut contacts = Vec::new();
        s.last_contacts(&mut contacts).unwrap();
        assert_eq!(contacts.is_empty(), what == "chain" || what == "flies", "{what}");
        let step = s.last_step(&contacts).unwrap();
        derivative.place(s.problem(), &step).unwrap();
        let mut found = StateVector::default();
        derivative.by_length(&mut found).unwrap();
        let model = s.problem().clone();
        let off = off_differences(&found, |t| {
            s.restore(&start).unwrap();
            s.step(h * (1.0 + t)).ok()?;
            let mut by = between(&model, &end, s.state());
            by.x.iter_mut().chain(&mut by.v).for_each(|d| *d /= h);
            Some(by)
        });
        assert!(off < 1e-7, "{what}, {weights:?}: {off:.1e}");
    }
}

/// The gradient by forces on the ball and by the stiffness of a spring, which are chosen step by step,
/// through steps that are taken in parts.
#[test]
fn forces_and_inputs_act_in_all_parts_of_a_step() {
    let steps = 40;
    let make = || {
        let mut m = Model::new();
        let node = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 0.4])]).unwrap();
        let mass = RigidMass::principal(1.0, [4e-3; 3]);
        m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
        m.set_body_velocity(node, 0, [1.0, 0.0, -1.0], [0.0; 3]).unwrap();
        let spring = m
            .add_force_field("spring", node, Pull::new(1), Treatment::Stiffness)
            .unwrap();
        let material = Material {
            restitution: 0.7,
            ..rough(0.2)
        };
        let (mut world, material) = crate::worlds::slope([0.1, 0.0], material);
        add_body(&mut world, material, node, 0, Shape::ball(0.1).unwrap());
        let mut s = Simulation::with_options(m, located()).unwrap();
        s.set_contacts(world).unwrap();
        (s, node, spring)
    };
    // Upwards, along x, and the stiffness.
    let chosen = |step: usize| [0.2, -9.0 + 0.05 * step as f64, 3.0 - 0.02 * step as f64];
    let choose = |s: &mut Simulation, (node, spring): (NodeId, ComponentId), [x, z, k]: [f64; 3]| {
        s.set_force(node, 0, &[x, 0.1, z, 0.0, 0.0, 0.0])?;
        s.set_input(spring, 1, k)
    };
    let run = |at: usize, k: usize, t: f64| {
        let (mut s, node, spring) = make();
        for step in 0..steps {
            let mut now = chosen(step);
            if step == at {
                now[k] += t;
            }
            choose(&mut s, (node, spring), now).unwrap();
            s.step(0.01).unwrap();
        }
        s.state().positions[2]
    };
    let (mut s, node, spring) = make();
    let mut trajectory = Trajectory::new(steps, 0.01);
    (trajectory.forces_on, trajectory.inputs) = (vec![node], true);
    trajectory.control = Some(Box::new(|step, s: &mut Simulation| {
        Ok(choose(s, (node, spring), chosen(step))?)
    }));
    let found = trajectory.gradient(&mut s, &mut place(steps, 2)).unwrap();
    assert!(found.report.active.slipping + found.report.active.sticking >= 1);
    for step in (0..steps).step_by(3).chain(10..24) {
        let by = &found.forces[step];
        for (k, own) in [by[0], by[2], found.inputs[step][1]].into_iter().enumerate() {
            let value = |t: f64| run(step, k, t);
            let by = (8.0 * (value(0.01) - value(-0.01)) - (value(0.02) - value(-0.02))) / 0.12;
            // Differences divide the rounding of runs, about 1e-12 m, by their step of 0.01; longer
            // ones turn the friction of the impact from slip to stick.
            assert!((own - by).abs() < 1e-9, "{step}, {k}: {own} {by}");
        }
    }
    assert!(found.forces[0][2].abs() > 1e-5 && found.inputs[0][1].abs() > 1e-7);
}

/// Steps whose equations know the time, or the step before, have no derivative by their length.
#[test]
fn steps_that_know_the_time_are_refused() {
    let mut driven = Model::new();
    let bead = driven.add_scalars("bead", &[0.0]).unwrap();
    driven.add_mass("mass", bead, Mass::Uniform(1.0)).unwrap();
    let row = driven.add_constraint("driven", bead, Level::Position).unwrap();
    driven
        .set_motion(row, Some(PrescribedMotion::ramp(0.0, 1.0)))
        .unwrap();
    let mut free = Model::new();
    let bead = free.add_scalars("bead", &[0.0]).unwrap();
    free.add_mass("mass", bead, Mass::Uniform(1.0)).unwrap();
    for (model, integrator, says) in [
        (driven, Integrator::Nonlinear, "`driven`"),
        (free, Integrator::bdf2(), "BDF2"),
    ] {
        let own = Options {
            integrator,
            ..options()
        };
        let mut s = Simulation::with_options(model, own).unwrap();
        for _ in 0..3 {
            s.step(0.01).unwrap();
        }
        let mut derivative = s.step_derivative().unwrap();
        let step = s.last_step(&[]).unwrap();
        derivative.place(s.problem(), &step).unwrap();
        let refused = derivative.by_length(&mut StateVector::default());
        let said = refused.unwrap_err().to_string();
        assert!(said.contains(says) && said.contains("length of a step"), "{said}");
    }
}

/// How contacts move is found from places where they are open: impacts of colliders that do not take
/// notice of what they do not touch are refused.
#[test]
fn impacts_of_colliders_without_a_margin_are_refused() {
    let make = |p: &[f64]| -> Result<Simulation, TrajectoryError> {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G])?;
        let node = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, p[0]])])?;
        m.add_mass(
            "mass",
            node,
            Mass::Rigid(vec![RigidMass::principal(1.0, [4e-3; 3])]),
        )?;
        let material = Material {
            restitution: 0.7,
            ..rough(0.2)
        };
        let mut world = World::new();
        let material = world.add_material(material)?;
        let plane = Shape::half_space([0.0, 0.0, 1.0])?;
        let place = Placement::Body {
            node,
            element: 0,
            pose: Pose::default(),
        };
        for (name, shape, place) in [
            ("ground", plane, Placement::Fixed(Pose::default())),
            ("ball", Shape::ball(0.1)?, place),
        ] {
            let collider = Collider::new(name, shape, place).with_margin(0.0);
            world.add(collider.with_material(material))?;
        }
        let mut s = Simulation::with_options(m, located())?;
        s.set_contacts(world)?;
        Ok(s)
    };
    let refused = Trajectory::new(40, 0.01).gradient(&mut make(&[0.4]).unwrap(), &mut place(40, 2));
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("it comes and goes"), "{said}");
}
