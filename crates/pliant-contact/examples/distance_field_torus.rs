//! A shape given by its signed distance: a torus, touched by a ball.
//!
//! `phi(x) = |(|x_xy| - R, x_z)| - r`, `R = 1` m, `r = 0.3` m. Between the points of the grid the
//! field is a tricubic interpolant: its surface is off by `O(s^3)` of the spacing `s`.
//!
//! `cargo run --release -p pliant-contact --example distance_field_torus`

use pliant_contact::{Collider, DistanceField, Placement, Shape, World};
use pliant_model::{Model, Pose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let torus = |p: [f64; 3]| (p[0].hypot(p[1]) - 1.0).hypot(p[2]) - 0.3;
    let mut errors = Vec::new();
    for spacing in [0.1, 0.05] {
        let low = [-1.6, -1.6, -0.6];
        let field = DistanceField::sampled(low, [1.6, 1.6, 0.6], spacing, torus)?;
        let (value, slope) = field.at([0.83, 0.91, 0.2]).ok_or("outside of the grid")?;
        println!(
            "spacing {spacing}: {:?} points, off by {:.1e} m",
            field.counts(),
            value - torus([0.83, 0.91, 0.2])
        );
        let size = slope.iter().map(|x| x * x).sum::<f64>().sqrt();
        // A distance has a gradient of size 1; the interpolant, to the square of spacing over radius.
        assert!((size - 1.0).abs() < (spacing / 0.3_f64).powi(2));

        // A ball of radius 0.2 m on top of the ring, 0.05 m above it, off the points of the grid.
        let mut model = Model::new();
        let (sin, cos) = 0.7f64.sin_cos();
        let node = model.add_rigid_bodies("ball", &[Pose::at([cos, sin, 0.55])])?;
        let mut world = World::new();
        world.add(Collider::new(
            "torus",
            Shape::distance_field(field),
            Placement::at_origin(),
        ))?;
        let place = Placement::on_body(node, 0);
        world.add(Collider::new("ball", Shape::ball(0.2)?, place).with_margin(0.1))?;
        let state = model.initial_state()?;
        let contacts = world.update(&model, &state.positions, &state.velocities, 0.0)?;
        let contact = contacts.first().ok_or("no contact")?;
        println!("    gap {:.6} m, normal {:.4?}", contact.gap, contact.normal);
        errors.push((contact.gap - 0.05).abs());
        assert!((contact.normal[2] - 1.0).abs() < 1e-3);
    }
    // Third order would be a factor of eight; a single place may have less.
    assert!(errors[1] < 1e-4 && errors[1] < 0.5 * errors[0], "{errors:?}");
    Ok(())
}
