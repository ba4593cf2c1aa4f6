//! The gap between a ball and every kind of convex shape, against the closed form.
//!
//! A ball of radius 0.2 m at `p`: the gap is the distance of `p` to the shape, less 0.2 m; the
//! normal points from the shape (the collider that was added first) to the ball.
//!
//! `cargo run --release -p pliant-contact --example shapes_and_gaps`

use pliant_contact::{Collider, Placement, Shape, World};
use pliant_model::{Model, Pose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let corners: Vec<[f64; 3]> = axes.iter().flat_map(|a| [*a, a.map(|x| -x)]).collect();
    let cases = [
        ("plane", Shape::half_space(axes[2])?, [0.3, 0.4, 1.0], 1.0),
        ("face", Shape::cuboid([0.5, 0.5, 0.1])?, [0.3, 0.4, 1.0], 0.9),
        ("edge", Shape::cuboid([0.1; 3])?, [0.4, 0.5, 0.05], 0.5),
        ("corner", Shape::cuboid([0.1; 3])?, [0.3, 0.3, 0.2], 0.3),
        ("capsule", Shape::capsule(0.5, 0.1)?, [0.3, 0.4, 0.2], 0.4),
        ("cylinder", Shape::cylinder(0.5, 0.1)?, [0.3, 0.4, 0.2], 0.4),
        ("hull", Shape::convex_hull(&corners)?, [1.0; 3], 2.0 / 3f64.sqrt()),
    ];
    for (name, shape, p, distance) in cases {
        let mut model = Model::new();
        let node = model.add_rigid_bodies("ball", &[Pose::at(p)])?;
        let mut world = World::new();
        world.add(Collider::new(name, shape, Placement::at_origin()))?;
        let place = Placement::on_body(node, 0);
        // Seen from 3 m away, whether it moves or not.
        world.add(Collider::new("ball", Shape::ball(0.2)?, place).with_margin(3.0))?;
        let state = model.initial_state()?;
        let contacts = world.update(&model, &state.positions, &state.velocities, 0.0)?;
        let contact = contacts[0];
        println!("{name:>8}: gap {:.6} m", contact.gap);
        assert_eq!(contacts.len(), 1);
        assert!((contact.gap - (distance - 0.2)).abs() < 1e-12);
        // From the point on the shape along the normal to the centre of the ball.
        for k in 0..3 {
            assert!((contact.a.point[k] + distance * contact.normal[k] - p[k]).abs() < 1e-12);
        }
    }
    Ok(())
}
