//! Derivatives of steps of SDIRK2 with contacts and limits that bear: whole runs against differences of the
//! same runs, and the adjoint against the tangent.

use super::contact_parameters::{Make, end_of};
use super::stages::two_stages;
use super::{direction, largest};
use crate::worlds::{add_body, ground, rough};
use pliant::collision::*;
use pliant::contact::{ContactState, Overlap};
use pliant::gradient::*;
use pliant::prelude::*;

/// Options of exact stages, also of the first step, which knows no accelerations.
fn exact() -> Options {
    let mut options = two_stages();
    options.tuning.newton.stage_tolerance = 1e-13;
    options
}

/// With rows that take overlap back.
fn with_rows(mut options: Options) -> Options {
    options.contacts.overlap = Overlap::Rows {
        rate: 20.0,
        speed: 1.0,
    };
    options
}

/// Steps of the differences, as shares of a parameter: branches change a hundredth away.
const SHARES: [f64; 5] = [3e-3, 1e-3, 3e-4, 1e-4, 3e-5];

type Load<'a> = dyn Fn(usize, &mut Simulation) + 'a;

/// A run, its load, and what is asked of its derivative.
struct Run<'a> {
    what: &'a str,
    make: &'a Make<'a>,
    load: &'a Load<'a>,
    at: &'a [f64],
    steps: usize,
    h: f64,
}

impl Run<'_> {
    fn trajectory<'b>(&'b self, family: Option<&'b mut Family>) -> Trajectory<'b> {
        let mut trajectory = Trajectory::new(self.steps, self.h);
        trajectory.family = family;
        trajectory.control = Some(Box::new(|step, s| {
            (self.load)(step, s);
            Ok(())
        }));
        trajectory
    }

    /// The value of the objective at the end of a run with parameters.
    fn value(&self, p: &[f64]) -> f64 {
        let mut s = (self.make)(p).unwrap();
        for step in 0..self.steps {
            (self.load)(step, &mut s);
            s.step(self.h).unwrap();
        }
        let all = s.model().velocity_count();
        let mut by = NodeGradient {
            x: vec![0.0; all],
            v: vec![0.0; all],
        };
        end_of(self.steps)(self.steps, &s, &mut by)
    }

    /// Checks the gradient by all parameters against differences to `share` of the largest, and the
    /// tangent along a direction of the start and of the parameters against it.
    fn check(&self, share: f64) -> TrajectoryGradient {
        let what = self.what;
        let mut objective = end_of(self.steps);
        let mut family = family_of_simulations(self.make, self.at, self.at).unwrap();
        let mut s = (self.make)(self.at).unwrap();
        let found = self
            .trajectory(Some(&mut family))
            .gradient(&mut s, &mut objective)
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        let p = self.at;
        assert!((found.value - self.value(p)).abs() < 1e-13 * (1.0 + found.value.abs()));
        // Tangent and adjoint.
        let mut s = (self.make)(p).unwrap();
        let along = direction(&s, 3);
        let ways: Vec<f64> = p.iter().enumerate().map(|(k, p)| p * (0.4 + k as f64)).collect();
        let forwards = self
            .trajectory(Some(&mut family))
            .tangent(&mut s, &mut objective, &along, &ways)
            .unwrap();
        let mut terms: Vec<f64> = found.parameters.iter().zip(&ways).map(|(a, b)| a * b).collect();
        for (a, b) in [(&found.start.x, &along.x), (&found.start.v, &along.v)] {
            terms.extend(a.iter().zip(b).map(|(a, b)| a * b));
        }
        let backwards: f64 = terms.iter().sum();
        let size: f64 = terms.iter().map(|t| t.abs()).sum();
        let apart = (forwards.derivative - backwards).abs() / size;
        // Differences.
        let by = |k: usize| {
            let own = found.parameters[k] * p[k];
            let at = |t: f64| {
                let mut moved = p.to_vec();
                moved[k] *= 1.0 + t;
                self.value(&moved)
            };
            let each = SHARES.map(|t| {
                let slope = ((at(-2.0 * t) - at(2.0 * t)) / 12.0 + (at(t) - at(-t)) * 2.0 / 3.0) / t;
                (slope - own).abs()
            });
            each.into_iter().fold(f64::INFINITY, f64::min)
        };
        let sizes: Vec<f64> = found.parameters.iter().zip(p).map(|(g, p)| g * p).collect();
        let off: Vec<f64> = (0..p.len())
            .map(|k| by(k) / sizes[k].abs().max(1e-2 * largest(&sizes)))
            .collect();
        assert!(apart < 1e-12, "{what}: {apart:e}");
        assert!(largest(&off) < share, "{what}: {off:?}");
        found
    }
}

/// The world of ground of a material.
fn floor(material: Material) -> (World, MaterialId) {
    let mut world = World::new();
    let material = world.add_material(material).unwrap();
    ground(&mut world, material);
    (world, material)
}

/// A body of a shape, with a mass (kg) and moments of inertia (kg m^2) that are in proportion to it.
fn one_body(
    shapes: Vec<(Pose, Shape)>,
    [mass, gravity, height]: [f64; 3],
    [v, w]: [[f64; 3]; 2],
    (mut world, material): (World, MaterialId),
) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -gravity]).unwrap();
    let node = m
        .add_rigid_bodies("body", &[Pose::at([0.0, 0.0, height])])
        .unwrap();
    let inertia = RigidMass::principal(mass, [4e-3, 5e-3, 6e-3].map(|i| i * mass));
    m.add_mass("mass", node, Mass::Rigid(vec![inertia])).unwrap();
    m.set_body_velocity(node, 0, v, w).unwrap();
    for (k, (pose, shape)) in shapes.into_iter().enumerate() {
        let place = Placement::Body {
            node,
            element: 0,
            pose,
        };
        let collider = Collider::new(&format!("part {k}"), shape, place);
        world.add(collider.with_material(material)).unwrap();
    }
    let mut s = Simulation::with_options(m, with_rows(exact())).unwrap();
    s.set_contacts(world).unwrap();
    s
}

fn unloaded(_: usize, _: &mut Simulation) {}

/// A ball that slips, and rolls before the end.
#[test]
fn a_ball_that_rolls() {
    let make = |p: &[f64]| {
        let [speed, spin, friction, mass, gravity] = *p else {
            panic!()
        };
        let shape = vec![(Pose::default(), Shape::ball(0.1).unwrap())];
        let motion = [[speed, 0.2, 0.0], [1.0, spin, 3.0]];
        Ok(one_body(
            shape,
            [mass, gravity, 0.1],
            motion,
            floor(rough(friction)),
        ))
    };
    for (steps, expected) in [(8, ContactState::Slipping), (60, ContactState::Sticking)] {
        let run = Run {
            what: "ball",
            make: &make,
            load: &unloaded,
            at: &[1.0, 2.0, 0.3, 1.3, 9.81],
            steps,
            h: 0.01,
        };
        let found = run.check(1e-7);
        let mut s = make(run.at).unwrap();
        (0..steps).for_each(|_| assert!(s.step(0.01).is_ok()));
        assert_eq!(s.contacts()[0].state, expected);
        assert_eq!(
            found.report.active.slipping == 2 * steps,
            expected == ContactState::Slipping
        );
    }
}

/// A ball that rolls down another one: their normal turns, and contacts are expected where the step before
/// leads.
#[test]
fn a_ball_that_rolls_on_a_ball() {
    let make = |p: &[f64]| {
        let [speed, spin, friction, mass, gravity] = *p else {
            panic!()
        };
        let mut world = World::new();
        let material = world.add_material(rough(friction)).unwrap();
        let shape = Shape::ball(0.4).unwrap();
        let below = Collider::new("below", shape, Placement::Fixed(Pose::at([-0.05, 0.02, -0.4])));
        world.add(below.with_material(material)).unwrap();
        let height = (0.5f64 * 0.5 - 0.05 * 0.05 - 0.02 * 0.02).sqrt() - 0.4;
        let shape = vec![(Pose::default(), Shape::ball(0.1).unwrap())];
        let motion = [[0.02 * speed, 0.05 * speed, 0.0], [1.0, spin, 3.0]];
        Ok(one_body(
            shape,
            [mass, gravity, height],
            motion,
            (world, material),
        ))
    };
    let run = Run {
        what: "ball on ball",
        make: &make,
        load: &unloaded,
        at: &[1.0, 2.0, 0.4, 1.3, 9.81],
        steps: 25,
        h: 0.01,
    };
    run.check(1e-7);
}

/// A box that slides and stops before the end.
#[test]
fn a_box_that_slides_and_stops() {
    let make = |p: &[f64]| {
        let [speed, friction, mass, gravity] = *p else {
            panic!()
        };
        let shape = vec![(Pose::default(), Shape::cuboid([0.1, 0.1, 0.05]).unwrap())];
        let motion = [[speed, 0.0, 0.0], [0.0; 3]];
        Ok(one_body(
            shape,
            [mass, gravity, 0.05],
            motion,
            floor(rough(friction)),
        ))
    };
    let run = Run {
        what: "box",
        make: &make,
        load: &unloaded,
        at: &[0.5, 0.3, 1.3, 9.81],
        steps: 30,
        h: 0.01,
    };
    let found = run.check(1e-7);
    let active = found.report.active;
    assert!(active.slipping > 40 && active.sticking > 40, "{active:?}");
}

/// A body on three feet that a changing load presses and pushes: it sticks, slides, turns and sticks.
#[test]
fn a_body_under_a_changing_load() {
    let make = |p: &[f64]| {
        let [friction, mass, gravity] = *p else { panic!() };
        let feet = [[0.1, 0.0], [-0.05, 0.09], [-0.06, -0.08]];
        let foot = |[x, y]: [f64; 2]| (Pose::at([x, y, -0.05]), Shape::ball(0.05).unwrap());
        let feet = feet.map(foot).to_vec();
        let world = floor(rough(friction));
        Ok(one_body(feet, [mass, gravity, 0.1], [[0.0; 3]; 2], world))
    };
    let load = |step: usize, s: &mut Simulation| {
        let node = s.model().node_named("body").unwrap();
        let t = 0.01 * step as f64;
        let push = 6.0 * (7.0 * t).sin();
        let force = [push, 0.3 * push, -4.0 * (5.0 * t).sin(), 0.05, 0.03, 0.02 * push];
        s.set_force(node, 0, &force).unwrap();
    };
    let run = Run {
        what: "load",
        make: &make,
        load: &load,
        at: &[0.3, 1.3, 9.81],
        steps: 50,
        h: 0.01,
    };
    let active = run.check(1e-7).report.active;
    assert!(active.slipping > 30 && active.sticking > 30, "{active:?}");
}

/// A ball that falls, lands in one of the steps, and slips behind it.
#[test]
fn a_ball_that_lands() {
    let make = |p: &[f64]| {
        let [speed, spin, friction, mass, gravity] = *p else {
            panic!()
        };
        let shape = vec![(Pose::default(), Shape::ball(0.1).unwrap())];
        let motion = [[speed, 0.0, 0.0], [0.0, spin, 0.0]];
        Ok(one_body(
            shape,
            [mass, gravity, 0.123],
            motion,
            floor(rough(friction)),
        ))
    };
    let run = Run {
        what: "lands",
        make: &make,
        load: &unloaded,
        at: &[1.0, 2.0, 0.2, 1.3, 9.81],
        steps: 14,
        h: 0.01,
    };
    let found = run.check(1e-7);
    assert!(found.report.active.slipping > 8, "{:?}", found.report.active);
}

/// Stages that were not kept, and contacts of whole steps, are refused by name.
#[test]
fn contacts_of_other_steps_are_refused() {
    let shape = vec![(Pose::default(), Shape::ball(0.1).unwrap())];
    let motion = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
    let mut s = one_body(shape, [1.0, 9.81, 0.1], motion, floor(rough(0.2)));
    s.step(0.01).unwrap();
    let mut contacts = Vec::new();
    s.last_contacts(&mut contacts).unwrap();
    assert_eq!(contacts.len(), 2);
    contacts[1].stage = None;
    let mut derivative = s.step_derivative().unwrap();
    let placed = derivative.place(s.problem(), &s.last_step(&contacts).unwrap());
    let said = placed.unwrap_err().to_string();
    assert!(
        said.contains("contacts of a whole step in one of SDIRK2"),
        "{said}"
    );
    s.options.tuning.newton.exact_stages = false;
    s.step(0.01).unwrap();
    let said = s.last_contacts(&mut contacts).unwrap_err().to_string();
    assert!(said.contains("exact_stages"), "{said}");
}

/// Two balls on the ground of which one pushes the other.
#[test]
fn two_balls_that_push() {
    let make = |p: &[f64]| {
        let [spin, friction, mass, gravity] = *p else {
            panic!()
        };
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -gravity]).unwrap();
        let poses = [Pose::at([0.0, 0.0, 0.1]), Pose::at([0.16, 0.12, 0.1])];
        let node = m.add_rigid_bodies("balls", &poses).unwrap();
        let masses = [1.0, mass].map(|mass| RigidMass::principal(mass, [4e-3 * mass; 3]));
        m.add_mass("mass", node, Mass::Rigid(masses.to_vec())).unwrap();
        m.set_body_velocity(node, 0, [0.0; 3], [0.0, 0.0, spin]).unwrap();
        let (mut world, material) = floor(rough(friction));
        for element in [0, 1] {
            add_body(&mut world, material, node, element, Shape::ball(0.1).unwrap());
        }
        let mut s = Simulation::with_options(m, with_rows(exact())).unwrap();
        s.set_contacts(world).unwrap();
        Ok(s)
    };
    let load = |step: usize, s: &mut Simulation| {
        let node = s.model().node_named("balls").unwrap();
        let push = 6.0 + 0.1 * step as f64;
        s.set_force(node, 0, &[push, 0.5 * push, 0.0, 0.0, 0.0, 0.0])
            .unwrap();
    };
    let run = Run {
        what: "push",
        make: &make,
        load: &load,
        at: &[2.0, 0.2, 1.3, 9.81],
        steps: 20,
        h: 0.01,
    };
    let found = run.check(1e-7);
    // Both stand, and press on each other, in all stages.
    let active = found.report.active;
    assert_eq!(active.slipping + active.sticking, 2 * 3 * 20, "{active:?}");
}

/// A double pendulum whose upper bob leans on a stop, while the lower one swings.
fn leaning(p: &[f64]) -> Model {
    let [speed, upper, lower, gravity] = *p else {
        panic!()
    };
    let mut m = Model::new();
    m.set_gravity([0.0, -gravity, 0.0]).unwrap();
    let bobs = m
        .add_particles("bobs", &[[0.3, -0.4, 0.0], [0.3, -0.8, 0.0]])
        .unwrap();
    let of_each = Mass::PerElement(vec![upper, lower]);
    m.add_mass("mass", bobs, of_each).unwrap();
    (0..2).for_each(|k| m.fix(bobs, k, &[false, false, true]).unwrap());
    m.set_velocity(bobs, 1, &[true; 3], &[speed, 0.0, 0.0]).unwrap();
    let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[0.5]);
    let rod = m.add_mapped("rod", &[bobs], rod).unwrap();
    m.add_constraint("upper rod", rod, Level::Position).unwrap();
    let rod = Distance::between(&[(0, 1)]).with_rest_lengths(&[0.4]);
    let rod = m.add_mapped("other rod", &[bobs], rod).unwrap();
    m.add_constraint("lower rod", rod, Level::Position).unwrap();
    let stop = Distance::to_points(&[(0, [-0.1, -0.1, 0.0])]).with_rest_lengths(&[0.5]);
    let stop = m.add_mapped("way to the stop", &[bobs], stop).unwrap();
    let stop = m.add_constraint("stop", stop, Level::Position).unwrap();
    m.set_bounds(stop, 0.0, f64::INFINITY).unwrap();
    m
}

#[test]
fn a_double_pendulum_on_a_stop() {
    let make = |p: &[f64]| Ok(Simulation::with_options(leaning(p), exact()).unwrap());
    let run = Run {
        what: "stop",
        make: &make,
        load: &unloaded,
        at: &[0.6, 0.7, 0.4, 9.81],
        steps: 40,
        h: 0.01,
    };
    run.check(1e-7);
    let mut s = make(run.at).unwrap();
    for _ in 0..run.steps {
        s.step(run.h).unwrap();
        assert!(s.last_step(&[]).unwrap().multipliers[2] > 0.1);
    }
}
