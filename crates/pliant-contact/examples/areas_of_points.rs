//! The area that each point of a surface stands for: what turns a contact force into a pressure.
//!
//! A third of each triangle goes to each of its corners. A rectangle of 2 m x 1 m in 4 x 2 cells has
//! 2 m^2 in all, a point inside the area of one cell, 0.25 m^2, one at an edge half of that.
//!
//! `cargo run --release -p pliant-contact --example areas_of_points`

use pliant_contact::{Collider, Placement, Shape, World};
use pliant_model::Model;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (columns, rows) = (5, 3);
    let points: Vec<[f64; 3]> = (0..columns * rows)
        .map(|k| [0.5 * (k % columns) as f64, 0.5 * (k / columns) as f64, 0.0])
        .collect();
    let mut triangles = Vec::new();
    for k in (0..columns * (rows - 1)).filter(|k| k % columns + 1 < columns) {
        triangles.push([k, k + 1, k + columns + 1]);
        triangles.push([k, k + columns + 1, k + columns]);
    }
    let mut model = Model::new();
    let cloth = model.add_particles("cloth", &points)?;
    let mut world = World::new();
    let shape = Shape::soft_triangles(&triangles, 0.001)?;
    let cloth = world.add(Collider::new("cloth", shape, Placement::Points(cloth)))?;
    let ball = world.add(Collider::new("ball", Shape::ball(0.1)?, Placement::at_origin()))?;

    let area = world
        .contact_area(&model, cloth)?
        .ok_or("a cloth is of triangles")?;
    let areas = area.areas();
    println!(
        "{} points, {:.6} m^2 in all",
        areas.len(),
        areas.iter().sum::<f64>()
    );
    assert!((areas.iter().sum::<f64>() - 2.0).abs() < 1e-14);
    for (k, a) in areas.iter().enumerate() {
        let (x, y) = (k % columns, k / columns);
        let ends = usize::from(x == 0 || x + 1 == columns) + usize::from(y == 0 || y + 1 == rows);
        match ends {
            0 => assert!((a - 0.25).abs() < 1e-15),
            1 => assert!((a - 0.125).abs() < 1e-15),
            // A corner is in one triangle of 1/8 m^2, or in two.
            _ => assert!((a - 0.125 / 3.0).abs() < 1e-15 || (a - 0.25 / 3.0).abs() < 1e-15),
        }
    }
    // A force of 5 N on an inner point, as a pressure.
    let inner = columns + 2;
    println!("5 N on point {inner}: {} Pa", 5.0 / areas[inner]);
    assert!((5.0 / areas[inner] - 20.0).abs() < 1e-12);
    assert!(
        world.contact_area(&model, ball)?.is_none(),
        "a ball has no triangles"
    );
    Ok(())
}
