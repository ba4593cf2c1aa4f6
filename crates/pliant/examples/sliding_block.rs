//! Contact with dry friction: a block that slides over the ground to rest.
//!
//! `v' = -mu g`: it stops after `v^2 / (2 mu g)`, and the ground carries its weight all the way.
//!
//! `cargo run --release -p pliant --example sliding_block`

use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (g, mu, v, m) = (9.81, 0.4, 3.0, 5.0);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -g])?;
    let block = model.add_rigid_bodies("block", &[Pose::at([0.0, 0.0, 0.05])])?;
    let mass = RigidMass::principal(m, [0.05, 0.2, 0.2]);
    model.add_mass("mass", block, Mass::Rigid(vec![mass]))?;
    model.set_body_velocity(block, 0, [v, 0.0, 0.0], [0.0; 3])?;

    let mut world = World::new();
    let rough = world.add_material(Material::hard(mu, 0.0))?;
    let ground = Shape::half_space([0.0, 0.0, 1.0])?;
    world.add(Collider::new("ground", ground, Placement::at_origin()).with_material(rough))?;
    let shape = Shape::cuboid([0.2, 0.1, 0.05])?;
    world.add(Collider::new("block", shape, Placement::on_body(block, 0)).with_material(rough))?;
    let mut simulation = Simulation::new(model)?;
    simulation.set_contacts(world)?;

    let (h, stop) = (0.005, v / (mu * g));
    for step in 1..=200 {
        simulation.step(h)?;
        let t = h * f64::from(step);
        let ([x, y, z], speed) = (
            simulation.pose(block, 0).map_or([f64::NAN; 3], |p| p.position),
            simulation.velocities(block)[0],
        );
        let (force, _) = simulation.contact_force(block, 0);
        if step % 25 == 0 {
            println!("{t:.3} s: {x:.5} m, {speed:.5} m/s, friction {:.4} N", force[0]);
        }
        let expected = v * t.min(stop) - 0.5 * mu * g * t.min(stop).powi(2);
        // Even forces leave the method no error but in the step in which it stops.
        assert!((x - expected).abs() < 1e-6 && y.abs() < 1e-9 && (z - 0.05).abs() < 1e-6);
        assert!((force[2] - m * g).abs() < 1e-5 * m * g, "weight");
        if t < stop - h {
            assert!((force[0] + mu * m * g).abs() < 1e-5 * m * g, "friction");
        } else if t > stop + 2.0 * h {
            assert!(speed.abs() < 1e-9 && force[0].abs() < 1e-5 * m * g, "rest");
        }
    }
    Ok(())
}
