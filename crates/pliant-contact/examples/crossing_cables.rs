//! Contact between soft things: two cables that cross, and the points that carry the contact.
//!
//! Cables of radius 20 mm along x and, 50 mm above it, along y: the gap is 10 mm. A point of contact
//! is a mean of the points of its segment: at three quarters of the first, half way on the second.
//!
//! `cargo run --release -p pliant-contact --example crossing_cables`

use pliant_contact::{Carrier, Collider, Placement, Shape, World};
use pliant_model::Model;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut model = Model::new();
    let lower = model.add_particles("lower", &[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])?;
    let upper = model.add_particles("upper", &[[0.5, -1.0, 0.05], [0.5, 1.0, 0.05]])?;
    let mut world = World::new();
    let cable = Shape::soft_segments(&[[0, 1], [1, 2]], 0.02)?;
    world.add(Collider::new("lower", cable, Placement::Points(lower)).with_margin(0.01))?;
    let cable = Shape::soft_segments(&[[0, 1]], 0.02)?;
    world.add(Collider::new("upper", cable, Placement::Points(upper)).with_margin(0.01))?;
    let mut state = model.initial_state()?;

    let contacts = world.update(&model, &state.positions, &state.velocities, 0.0)?;
    assert_eq!(contacts.len(), 1);
    let contact = contacts[0];
    println!("gap {:.6} m, normal {:.3?}", contact.gap, contact.normal);
    assert!((contact.gap - 0.01).abs() < 1e-15 && (contact.normal[2] - 1.0).abs() < 1e-15);
    for (side, node, expected) in [(contact.a, lower, [0.25, 0.75]), (contact.b, upper, [0.5, 0.5])] {
        let Carrier::Points {
            node: found,
            count,
            elements,
            weights,
        } = side.carrier
        else {
            return Err("a cable is of points".into());
        };
        println!("points {elements:?}, the first {count}, weights {weights:.3?}");
        assert_eq!((found, &elements[..count]), (node, &[0, 1][..]));
        assert!(weights.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-12));
    }

    // Pulled down with 2 m/s the upper one passes through within 0.6 s, not within 0.4 s.
    for k in 0..2 {
        state.positions[9 + 3 * k + 2] = 1.04;
        state.velocities[9 + 3 * k + 2] = -2.0;
    }
    let none = world.update(&model, &state.positions, &state.velocities, 0.4)?;
    assert!(none.is_empty());
    let contacts = world.update(&model, &state.positions, &state.velocities, 0.6)?;
    println!("from 1 m: gap {:.6} m", contacts[0].gap);
    assert!((contacts[0].gap - 1.0).abs() < 1e-9);
    Ok(())
}
