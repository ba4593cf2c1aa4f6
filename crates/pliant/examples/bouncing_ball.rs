//! Locate events and record a quantity: the impacts of a ball, and how high it goes.
//!
//! From the height `H` it first lands after `sqrt(2 H / g)`; a bounce of restitution `e` goes to
//! `e^2` of the height before and takes `2 e^k sqrt(2 H / g)`.
//!
//! `cargo run --release -p pliant --example bouncing_ball`

use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (g, e, height, radius) = (9.81, 0.8, 1.0, 0.1);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -g])?;
    let ball = model.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, height + radius])])?;
    model.add_mass("mass", ball, Mass::Rigid(vec![RigidMass::sphere(1.0, radius)]))?;
    let mut world = World::new();
    let springy = world.add_material(Material::hard(0.5, e))?;
    let ground = Shape::half_space([0.0, 0.0, 1.0])?;
    world.add(Collider::new("ground", ground, Placement::at_origin()).with_material(springy))?;
    let shape = Shape::ball(radius)?;
    world.add(Collider::new("ball", shape, Placement::on_body(ball, 0)).with_material(springy))?;
    let mut simulation = Simulation::with_options(model, Options::trapezoidal())?;
    simulation.set_contacts(world)?;

    let how = Adaptive {
        first: 1e-6,
        events: Some(Events::default()),
        ..Adaptive::default()
    };
    let (mut impacts, mut record, mut highest) = (Vec::new(), Vec::new(), 0.0f64);
    while impacts.len() < 4 {
        let report = simulation.step_adaptively(&how, f64::INFINITY)?;
        let z = simulation.positions(ball)[2] - radius;
        let v = simulation.velocities(ball)[2];
        // Where a flight would turn: its energy, at any moment of it.
        highest = highest.max(z + v * v / (2.0 * g));
        if let Some(event) = report.event {
            println!("at {:.9} s, {highest:.6} m high before", event.time);
            impacts.push(event.time);
            record.push(std::mem::replace(&mut highest, 0.0));
            // The step after takes the impact.
            simulation.step_adaptively(&how, f64::INFINITY)?;
        }
    }
    let first = (2.0 * height / g).sqrt();
    assert!((impacts[0] - first).abs() < 1e-11);
    let mut time = first;
    for k in 1..impacts.len() {
        time += 2.0 * f64::powi(e, k as i32) * first;
        // Each impact keeps what gravity adds in the microsecond of its step.
        assert!((impacts[k] - time).abs() < 1e-4);
        assert!((record[k] - f64::powi(e, 2 * k as i32) * height).abs() < 1e-4);
    }
    Ok(())
}
