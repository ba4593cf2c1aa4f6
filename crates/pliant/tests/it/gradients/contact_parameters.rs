//! Derivatives by the parameters of contacts: materials, shapes and places of colliders.

use super::options;
use crate::worlds::{add_body, rough, slope};
use pliant::collision::*;
use pliant::contact::{ContactState, Overlap};
use pliant::gradient::*;
use pliant::prelude::*;

/// Simulations as a function of parameters.
pub(super) type Make<'a> = dyn Fn(&[f64]) -> Result<Simulation, TrajectoryError> + 'a;

/// A ball of this radius at a height, that moves and spins.
fn ball(
    [radius, height]: [f64; 2],
    [v, w]: [[f64; 3]; 2],
    (mut world, material): (World, MaterialId),
    options: Options,
) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let node = m
        .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, height])])
        .unwrap();
    let mass = RigidMass::principal(1.0, [4e-3, 4e-3, 4e-3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(node, 0, v, w).unwrap();
    add_body(&mut world, material, node, 0, Shape::ball(radius).unwrap());
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    s
}

/// A sum of all positions and velocities at the end with different weights.
pub(super) fn end_of(steps: usize) -> impl FnMut(usize, &Simulation, &mut NodeGradient) -> f64 {
    move |step, s, by| {
        if step < steps {
            return 0.0;
        }
        let model = s.model();
        let mut value = 0.0;
        for node in model.nodes().iter().filter(|n| n.first_dof().is_some()) {
            let v = node.velocity_range();
            for (k, (at, velocity)) in v.clone().zip(&s.state().velocities[v.clone()]).enumerate() {
                by.v[at] = 1.0 + 0.3 * k as f64;
                value += by.v[at] * velocity;
                // Of bodies the place, whose rotations have no numbers of their own.
                if k < 3 {
                    by.x[at] = 2.0 - 0.7 * k as f64;
                    value += by.x[at] * s.state().positions[node.position_range().start + k];
                }
            }
        }
        value
    }
}

/// A ball that the ground overlaps by little more than rounding has the rate at which its row takes that
/// back, also by parameters that would lift it out: `u_n = -rate g`.
#[test]
fn rates_of_recovery_beside_a_gap_of_none() {
    for overlap in [1e-5, 1e-9, 1e-13] {
        let rate = 20.0;
        let make = |p: &[f64]| -> Result<Simulation, TrajectoryError> {
            let mut options = options();
            options.contacts.overlap = Overlap::Rows {
                rate: p[1],
                speed: 10.0,
            };
            let world = slope([0.0; 2], rough(0.0));
            Ok(ball([p[0], 0.1 - overlap], [[0.0; 3]; 2], world, options))
        };
        let at = [0.1, rate];
        let mut s = make(&at).unwrap();
        let mut family = family_of_simulations(&make, &at, &at).unwrap();
        let mut velocity = |step: usize, s: &Simulation, by: &mut NodeGradient| {
            if step < 1 {
                return 0.0;
            }
            by.v[2] = 1.0;
            s.state().velocities[2]
        };
        let mut trajectory = Trajectory::new(1, 0.01);
        trajectory.family = Some(&mut family);
        let found = trajectory.gradient(&mut s, &mut velocity).unwrap();
        assert!((found.value - rate * overlap).abs() < 1e-12, "{}", found.value);
        let [by_radius, by_rate] = found.parameters[..] else {
            unreachable!()
        };
        assert!((by_radius - rate).abs() < 1e-6, "{overlap}: {by_radius}");
        assert!((by_rate - overlap).abs() < 1e-10, "{overlap}: {by_rate}");
        assert!((found.start.x[2] + rate).abs() < 1e-6);
    }
}

/// Compares the gradient by each parameter with central differences of whole runs, backwards and
/// forwards, to a share of the largest of both times the parameter; returns the simulation.
fn check(what: &str, make: &Make<'_>, at: &[f64], steps: usize, share: f64) -> Simulation {
    let h = 0.01;
    let mut s = make(at).unwrap();
    let start = s.checkpoint();
    let mut family = family_of_simulations(make, at, at).unwrap();
    let mut trajectory = Trajectory::new(steps, h);
    trajectory.family = Some(&mut family);
    let found = trajectory.gradient(&mut s, &mut end_of(steps)).unwrap();
    drop(trajectory);
    for k in 0..at.len() {
        let value = |t: f64| {
            let mut p = at.to_vec();
            p[k] *= 1.0 + t;
            let mut s = make(&p).unwrap();
            for _ in 0..steps {
                s.step(h).unwrap();
            }
            end_of(steps)(
                steps,
                &s,
                &mut NodeGradient {
                    x: vec![0.0; s.model().velocity_count()],
                    v: vec![0.0; s.model().velocity_count()],
                },
            )
        };
        let mut best = f64::INFINITY;
        let own = found.parameters[k] * at[k];
        for t in [1e-2, 3e-3, 1e-3, 3e-4, 1e-4] {
            let by = (8.0 * (value(t) - value(-t)) - (value(2.0 * t) - value(-2.0 * t))) / (12.0 * t);
            best = best.min((own - by).abs() / own.abs().max(1e-3));
        }
        assert!(best < share, "{what}, parameter {k}: {own} is {best:.1e} off");
        assert_ne!(own, 0.0, "{what}, parameter {k}");
        s.restore(&start).unwrap();
        let mut along = vec![0.0; at.len()];
        along[k] = 1.0;
        let still = StateVector::zeros(s.model().dof_count());
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        let forwards = trajectory
            .tangent(&mut s, &mut end_of(steps), &still, &along)
            .unwrap()
            .derivative;
        let off = (forwards - found.parameters[k]).abs();
        assert!(
            off < 1e-10 * found.parameters[k].abs().max(1e-3),
            "{what}, {k}: {off}"
        );
    }
    s
}

/// Balls that slip down a slope and roll, by friction, radius, slope and height of the ground.
#[test]
fn balls_on_slopes() {
    for (spin, expected, last) in [
        (-20.0, ContactState::Slipping, 4),
        (9.0, ContactState::Sticking, 3),
    ] {
        let make = |p: &[f64]| {
            let world = slope([p[0], p[1]], rough(p.get(3).copied().unwrap_or(0.4)));
            let height = 0.1;
            let mut own = options();
            own.contacts.overlap = Overlap::Rows {
                rate: 20.0,
                speed: 10.0,
            };
            let motion = [[1.0, 0.3, -0.1], [0.0, spin, 1.0]];
            Ok(ball([p[2], height], motion, world, own))
        };
        let at = [0.15, 0.02, 0.085, 0.25];
        let s = check(&format!("{expected:?}"), &make, &at[..last], 6, 1e-6);
        assert_eq!(s.contacts()[0].state, expected);
    }
}

/// The way of a box that slides is by friction what its steps say: they slow it down by `mu g h`
/// each.
#[test]
fn sliding_by_friction_in_closed_form() {
    let (g, h, steps, mu) = (9.81, 0.01, 20, 0.3);
    let make = |p: &[f64]| {
        let (mut world, material) = slope([0.0, 0.0], rough(p[0]));
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -g]).unwrap();
        let node = m.add_particles("puck", &[[0.0; 3]]).unwrap();
        m.add_mass("mass", node, Mass::Uniform(2.0)).unwrap();
        m.set_velocity(node, 0, &[true; 3], &[1.2, 0.9, 0.0]).unwrap();
        let mut s = Simulation::with_options(m, options())?;
        let place = Placement::Points(node);
        let puck = Collider::new("puck", Shape::soft_points(&[0], 0.01).unwrap(), place);
        world.add(puck.with_material(material)).unwrap();
        let mut state = s.state().clone();
        state.positions[2] = 0.01;
        s.set_state(&state)?;
        s.set_contacts(world)?;
        Ok(s)
    };
    let mut s = make(&[mu]).unwrap();
    let mut family = family_of_simulations(&make, &[mu], &[mu]).unwrap();
    let mut trajectory = Trajectory::new(steps, h);
    trajectory.family = Some(&mut family);
    // The way along the velocity (4, 3)/5.
    let mut way = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[..2].copy_from_slice(&[0.8, 0.6]);
        0.8 * s.state().positions[0] + 0.6 * s.state().positions[1]
    };
    let found = trajectory.gradient(&mut s, &mut way).unwrap();
    let n = steps as f64;
    let expected = -g * h * h * n * (n + 1.0) / 2.0;
    assert!(
        (found.parameters[0] / expected - 1.0).abs() < 1e-10,
        "{found:?} {expected}"
    );
}

/// A ball that bounces, by restitution, friction and its radius.
#[test]
fn bounces() {
    let make = |p: &[f64]| {
        let material = Material {
            restitution: p[0],
            ..rough(p[1])
        };
        let world = slope([0.1, 0.0], material);
        Ok(ball(
            [p[2], 0.1315],
            [[0.8, 0.1, -1.0], [1.0, 2.0, 0.5]],
            world,
            options(),
        ))
    };
    check("bounces", &make, &[0.6, 0.2, 0.1], 5, 1e-6);
    // Before it lands it depends on none of them, and in the step of the impact not on its radius.
    let mut s = make(&[0.6, 0.2, 0.1]).unwrap();
    let mut family = family_of_simulations(&make, &[0.6, 0.2, 0.1], &[0.6, 0.2, 0.1]).unwrap();
    let mut trajectory = Trajectory::new(2, 0.01);
    trajectory.family = Some(&mut family);
    let found = trajectory.gradient(&mut s, &mut end_of(2)).unwrap();
    // What is left is the rounding of the initial states.
    assert!(found.parameters.iter().all(|p| p.abs() < 1e-25), "{found:?}");
}

/// A ball that comes to rest on soft ground lies as deep as its weight presses it into both: by the
/// compliance of each `-m g`, by its radius 1.
#[test]
fn soft_ground() {
    let weighted = |p: &[f64], [alpha, beta]: [f64; 2]| {
        let material = Material {
            compliance: p[0],
            relaxation_time: p[1],
            ..rough(p[2])
        };
        let world = slope([0.0, 0.0], material);
        let options = Options {
            alpha,
            beta,
            ..options()
        };
        Ok(ball(
            [p[3], 0.0985],
            [[0.5, 0.1, -0.1], [1.0, 0.0, 0.5]],
            world,
            options,
        ))
    };
    let make = |p: &[f64]| weighted(p, [1.0; 2]);
    let at = [1e-4, 5e-3, 0.2, 0.1];
    check("soft", &make, &at, 6, 1e-6);
    check("soft, weights", &|p| weighted(p, [0.6, 0.7]), &at, 6, 1e-6);
    let (steps, mut s) = (400, make(&at).unwrap());
    let mut family = family_of_simulations(&make, &at, &at).unwrap();
    let mut trajectory = Trajectory::new(steps, 0.01);
    trajectory.family = Some(&mut family);
    let mut height = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[2] = 1.0;
        s.state().positions[2]
    };
    let found = trajectory.gradient(&mut s, &mut height).unwrap();
    assert!(
        (found.value - (0.1 - 2.0 * 9.81e-4)).abs() < 1e-9,
        "{}",
        found.value
    );
    for (found, expected) in found.parameters.iter().zip([-2.0 * 9.81, 0.0, 0.0, 1.0]) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

/// A point that is mapped with an offset and a scale which are parameters: gaps and velocities of its
/// contacts move with them.
#[test]
fn contacts_of_nodes_whose_mapping_is_a_parameter() {
    let simulation = |p: &[f64]| -> Result<Simulation, TrajectoryError> {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -9.81])?;
        let bead = m.add_particles("bead", &[[0.0, 0.0, 0.06]])?;
        m.add_mass("mass", bead, Mass::Uniform(1.0))?;
        m.set_velocity(bead, 0, &[true; 3], &[1.0, 0.2, -1.0])?;
        let entries: Vec<AffineEntry> = (0..3)
            .map(|k| AffineEntry {
                element: 0,
                coordinate: k,
                from: Dependency {
                    parent: 0,
                    element: 0,
                },
                from_coordinate: k,
                value: p[1],
            })
            .collect();
        let point = m.add_mapped("point", &[bead], Affine::new(3, &[0.0, 0.0, p[0]], &entries))?;
        let material = Material {
            restitution: 0.5,
            ..rough(0.3)
        };
        let (mut world, material) = slope([0.05, 0.0], material);
        let place = Placement::Points(point);
        let tip = Collider::new("tip", Shape::soft_points(&[0], 0.02).unwrap(), place);
        world.add(tip.with_material(material)).unwrap();
        let mut own = options();
        own.contacts.overlap = Overlap::Rows {
            rate: 20.0,
            speed: 10.0,
        };
        let mut s = Simulation::with_options(m, own)?;
        s.set_contacts(world)?;
        Ok(s)
    };
    let at = [0.05, 1.5];
    check("mapped", &simulation, &at, 12, 1e-6);
    // A family that does not know the colliders would be wrong, and is refused.
    let make = |p: &[f64]| Ok(simulation(p).unwrap().problem().clone());
    let mut family = Family::new(&make, &at, &at).unwrap();
    let mut trajectory = Trajectory::new(12, 0.01);
    trajectory.family = Some(&mut family);
    let refused = trajectory.gradient(&mut simulation(&at).unwrap(), &mut end_of(12));
    let said = refused.unwrap_err().to_string();
    assert!(
        said.contains("`point`") && said.contains("family_of_simulations"),
        "{said}"
    );
}

/// Laws that begin to act with the parameter, and options, have no derivative.
#[test]
fn laws_that_begin_to_act_are_refused() {
    let motion = [[0.5, 0.1, -0.1], [1.0, 0.0, 0.5]];
    for (name, material) in [
        ("friction", (|p: f64| rough(p)) as fn(f64) -> Material),
        ("restitution", |p| Material {
            restitution: p,
            ..rough(0.1)
        }),
        ("compliance", |p| Material {
            compliance: p,
            ..rough(0.1)
        }),
    ] {
        let make = |p: &[f64]| {
            let world = slope([0.0, 0.0], material(p[0].abs()));
            Ok(ball([0.1, 0.1], motion, world, options()))
        };
        let mut family = family_of_simulations(&make, &[0.0], &[1e-3]).unwrap();
        let mut trajectory = Trajectory::new(3, 0.01);
        trajectory.family = Some(&mut family);
        let refused = trajectory.gradient(&mut make(&[0.0]).unwrap(), &mut end_of(3));
        let said = refused.unwrap_err().to_string();
        assert!(said.contains(&format!("the {name} of a contact")), "{said}");
    }
    let make = |p: &[f64]| {
        let mut own = options();
        own.contacts.accuracy = p[0];
        Ok(ball([0.1, 0.1], motion, slope([0.0, 0.0], rough(0.1)), own))
    };
    let said = family_of_simulations(&make, &[1e-9], &[1e-9])
        .unwrap_err()
        .to_string();
    assert!(said.contains("options"), "{said}");
}
