//! Ground from a table of heights.
//!
//! On the plane `z = 0.5 x` in cells of 0.25 m a ball of radius 0.2 m at `(x, y, z)` has the gap
//! `(z - 0.5 x) / sqrt(1.25) - 0.2` and the normal `(-0.5, 0, 1) / sqrt(1.25)`, wherever it stands;
//! beyond the table there is no ground.
//!
//! `cargo run --release -p pliant-contact --example height_field_ground`

use pliant_contact::{Collider, Placement, Shape, World};
use pliant_model::{Model, Pose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (columns, rows, spacing) = (9, 5, 0.25);
    let heights: Vec<f64> = (0..columns * rows)
        .map(|k| 0.5 * spacing * (k % columns) as f64)
        .collect();
    let ground = Shape::height_field(&heights, columns, [spacing; 2])?;
    // Two triangles of each cell.
    let (points, triangles) = ground.surface().unwrap_or_default();
    println!("{} points, {} triangles", points.len(), triangles.len());
    assert_eq!((points.len(), triangles.len()), (45, 2 * 8 * 4));

    let mut model = Model::new();
    let node = model.add_rigid_bodies("ball", &[Pose::default()])?;
    let mut world = World::new();
    world.add(Collider::new("ground", ground, Placement::at_origin()))?;
    let place = Placement::on_body(node, 0);
    world.add(Collider::new("ball", Shape::ball(0.2)?, place).with_margin(0.05))?;
    let mut state = model.initial_state()?;
    let steep = 1.25f64.sqrt();
    for [x, y, z] in [[0.9, 0.4, 0.70], [1.0, 0.5, 0.71], [1.3, 0.61, 0.85]] {
        state.positions[..3].copy_from_slice(&[x, y, z]);
        let contacts = world.update(&model, &state.positions, &state.velocities, 0.0)?;
        let nearest = contacts
            .iter()
            .min_by(|a, b| a.gap.total_cmp(&b.gap))
            .ok_or("no contact")?;
        let expected = (z - 0.5 * x) / steep - 0.2;
        println!(
            "at ({x}, {y}, {z}): gap {:.6} m, expected {expected:.6} m",
            nearest.gap
        );
        assert!((nearest.gap - expected).abs() < 1e-12);
        for (n, e) in nearest.normal.iter().zip([-0.5 / steep, 0.0, 1.0 / steep]) {
            assert!((n - e).abs() < 1e-12);
        }
    }
    state.positions[..3].copy_from_slice(&[2.5, 0.5, 1.4]);
    assert!(
        world
            .update(&model, &state.positions, &state.velocities, 0.0)?
            .is_empty()
    );
    Ok(())
}
