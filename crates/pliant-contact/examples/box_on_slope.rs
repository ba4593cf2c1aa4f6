//! A box that lies on a slope: four contacts, at its corners, with one normal.
//!
//! The slope rises by `a = 30` degrees along x, `n = (-sin a, 0, cos a)`. A box of half lengths
//! `(0.3, 0.2, 0.1)` m, turned with it, `d` above it, has the gap `d` at the corners
//! `(+-0.3, +-0.2)` in its axes.
//!
//! `cargo run --release -p pliant-contact --example box_on_slope`

use pliant_contact::{Carrier, Collider, Placement, Shape, World};
use pliant_model::{Model, Pose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (a, d) = (30f64.to_radians(), 2e-5);
    let normal = [-a.sin(), 0.0, a.cos()];
    let pose = Pose {
        position: normal.map(|n| (0.1 + d) * n),
        // A quaternion: minus a about y, which turns x up the slope.
        rotation: [(a / 2.0).cos(), 0.0, -(a / 2.0).sin(), 0.0],
    };
    let mut model = Model::new();
    let node = model.add_rigid_bodies("box", &[pose])?;
    let mut world = World::new();
    world.add(Collider::new(
        "slope",
        Shape::half_space(normal)?,
        Placement::at_origin(),
    ))?;
    let place = Placement::on_body(node, 0);
    world.add(Collider::new("box", Shape::cuboid([0.3, 0.2, 0.1])?, place))?;
    let state = model.initial_state()?;

    // The gap is within the margins, 0.1 mm each: contacts without any motion.
    let contacts = world.update(&model, &state.positions, &state.velocities, 0.0)?;
    assert_eq!(contacts.len(), 4);
    let mut corners = Vec::new();
    for contact in contacts {
        let Carrier::Body { local, .. } = contact.b.carrier else {
            return Err("the box is a body".into());
        };
        println!("gap {:.3e} m at {local:.3?} of the box", contact.gap);
        assert!((contact.gap - d).abs() < 1e-15);
        assert!((0..3).all(|k| (contact.normal[k] - normal[k]).abs() < 1e-15));
        corners.push([local[0] > 0.0, local[1] > 0.0]);
        let expected = [0.3, 0.2, 0.1];
        assert!((0..3).all(|k| (local[k].abs() - expected[k]).abs() < 1e-12));
    }
    corners.sort_unstable();
    assert_eq!(
        corners,
        [[false, false], [false, true], [true, false], [true, true]]
    );
    Ok(())
}
