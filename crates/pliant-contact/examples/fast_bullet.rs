//! Find the contact of something so fast that it would be on the other side a step later.
//!
//! A ball of radius 10 mm, 1 m in front of a wall 10 mm thick, flies with 500 m/s for 10 ms. The gap
//! is `1 - 0.005 - 0.010` m, and it is closed in 1.97 ms; a ball that passes by is no contact.
//!
//! `cargo run --release -p pliant-contact --example fast_bullet`

use pliant_contact::{Collider, Placement, Shape, World};
use pliant_model::{Model, Pose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (speed, h) = (500.0, 0.01);
    let mut model = Model::new();
    let poses = [Pose::at([-1.0, 0.0, 0.0]), Pose::at([-1.0, 0.0, 1.0])];
    let node = model.add_rigid_bodies("bullets", &poses)?;
    let mut world = World::new();
    let wall = Shape::cuboid([0.005, 0.5, 0.5])?;
    world.add(Collider::new("wall", wall, Placement::at_origin()))?;
    for (element, name) in ["bullet", "stray bullet"].into_iter().enumerate() {
        let place = Placement::on_body(node, element);
        world.add(Collider::new(name, Shape::ball(0.01)?, place))?;
    }
    let mut state = model.initial_state()?;
    // Six numbers of each body: velocity, then angular velocity.
    (state.velocities[0], state.velocities[6]) = (speed, speed);

    let contacts = world.update(&model, &state.positions, &state.velocities, h)?;
    assert_eq!(contacts.len(), 1, "the stray one misses the wall");
    let contact = contacts[0];
    println!(
        "gap {:.6} m, closed in {:.4} ms of {} ms",
        contact.gap,
        1e3 * contact.gap / speed,
        1e3 * h
    );
    assert!((contact.gap - 0.985).abs() < 1e-9);
    assert!(
        (contact.normal[0] + 1.0).abs() < 1e-12,
        "the side that it comes from"
    );

    // Without a look ahead there is nothing; nor is there afterwards, on the other side.
    assert!(
        world
            .update(&model, &state.positions, &state.velocities, 0.0)?
            .is_empty()
    );
    state.positions[0] += speed * h;
    assert!(
        world
            .update(&model, &state.positions, &state.velocities, h)?
            .is_empty()
    );
    println!("5 m further on: no contact any more");
    Ok(())
}
