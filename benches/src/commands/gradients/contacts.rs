//! Trajectories of balls that fall, bounce and roll: what their gradient costs, that of smoothed
//! contacts, and impacts that are located.

use super::median;
use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::contact::Overlap;
use pliant::gradient::{NodeGradient, Trajectory};
use pliant::prelude::*;
use pliant_benches::timing::clock;

const STEPS: usize = 60;
const H: f64 = 0.01;

/// The energy of the barrier (J).
const ENERGY: f64 = 1e-4;

pub(super) fn show(times: usize) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "\nTrajectories of {STEPS} steps of balls that fall from 5 to 15 cm, bounce (restitution 0.5) and roll, ms: \
         forwards, with the gradient, and with that of contacts smoothed by {ENERGY} J; located impacts.\n\n\
         | balls | forwards | gradient | smoothed | located impacts | forwards, located | gradient, located |\n\
         |---|---|---|---|---|---|---|"
    );
    for count in [1, 4, 16] {
        let mut row = format!("| {count} |");
        for located in [false, true] {
            let mut impacts = 0;
            let mut forwards = Vec::new();
            for _ in 0..times {
                let mut simulation = balls(count, located)?;
                impacts = 0;
                let (time, moved) = clock(|| -> Result<(), Error> {
                    for _ in 0..STEPS {
                        impacts += simulation.step(H)?.contacts.solve.located;
                    }
                    Ok(())
                });
                moved?;
                forwards.push(1e3 * time);
            }
            if located {
                row += &format!(" {impacts} |");
            }
            row += &format!(" {:.2} |", median(forwards));
            for smoothing in [None, Some(ENERGY)] {
                if located && smoothing.is_some() {
                    continue;
                }
                let mut both = Vec::new();
                for _ in 0..times {
                    both.push(1e3 * gradient(balls(count, located)?, smoothing)?);
                }
                row += &format!(" {:.2} |", median(both));
            }
        }
        println!("{row}");
    }
    Ok(())
}

/// The time of a trajectory with the gradient of the place of the last ball at its end (s).
fn gradient(mut simulation: Simulation, smoothing: Option<f64>) -> Result<f64, Box<dyn std::error::Error>> {
    let last = simulation.model().dof_count() - 6;
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < STEPS {
            return 0.0;
        }
        by.x[last] = 1.0;
        s.state().positions[s.model().nodes()[0].position_range().end - 7]
    };
    let mut trajectory = Trajectory::new(STEPS, H);
    trajectory.smoothing = smoothing;
    trajectory.run = STEPS;
    let (time, found) = clock(|| trajectory.gradient(&mut simulation, &mut objective));
    found?;
    Ok(time)
}

/// Balls of 10 cm above the ground, side by side.
fn balls(count: usize, located: bool) -> Result<Simulation, Box<dyn std::error::Error>> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let height = |k: usize| 0.15 + 0.1 * k as f64 / count as f64;
    let poses: Vec<Pose> = (0..count)
        .map(|k| Pose::at([0.0, 0.5 * k as f64, height(k)]))
        .collect();
    let node = model.add_rigid_bodies("balls", &poses)?;
    let mass = RigidMass::principal(1.0, [4e-3; 3]);
    model.add_mass("mass", node, Mass::Rigid(vec![mass]))?;
    for k in 0..count {
        model.set_body_velocity(node, k, [1.0, 0.0, 0.0], [0.0; 3])?;
    }
    let mut world = World::new();
    let material = world.add_material(Material {
        friction: 0.3,
        restitution: 0.5,
        ..Material::default()
    })?;
    let plane = Shape::half_space([0.0, 0.0, 1.0])?;
    world.add(Collider::new("ground", plane, Placement::Fixed(Pose::default())).with_material(material))?;
    for element in 0..count {
        let place = Placement::Body {
            node,
            element,
            pose: Pose::default(),
        };
        let collider = Collider::new(&format!("ball {element}"), Shape::ball(0.1)?, place);
        world.add(collider.with_material(material))?;
    }
    let mut options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    };
    options.tuning.solver.threads = 1;
    options.contacts.locate_impacts = located;
    options.contacts.overlap = Overlap::Rows {
        rate: 20.0,
        speed: 1.0,
    };
    let mut simulation = Simulation::with_options(model, options)?;
    simulation.set_contacts(world)?;
    Ok(simulation)
}
