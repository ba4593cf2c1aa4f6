//! Make convex hulls of points, read their surface, and use it as a mesh.
//!
//! Volume by the divergence theorem, `V = sum a . (b x c) / 6` over the triangles `(a, b, c)` of a
//! closed surface: a unit cube has 1, the octahedron of its face centres 1/6.
//!
//! `cargo run --release -p pliant-contact --example hull_and_mesh`

use pliant_contact::{Collider, MeshKind, Placement, Shape, World};
use pliant_model::{Model, Pose};

fn volume(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> f64 {
    let six = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|k| points[k]);
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    triangles.iter().map(six).sum::<f64>() / 6.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bit = |k: usize, axis: usize| (k >> axis & 1) as f64;
    // Corners of a cube, and points inside that the hull leaves out.
    let mut cube: Vec<[f64; 3]> = (0..8).map(|k| [bit(k, 0), bit(k, 1), bit(k, 2)]).collect();
    cube.extend([[0.5; 3], [0.2, 0.3, 0.9]]);
    let centres = [
        [0.5, 0.5, 0.0],
        [0.5, 0.5, 1.0],
        [0.5, 0.0, 0.5],
        [0.5, 1.0, 0.5],
        [0.0, 0.5, 0.5],
        [1.0, 0.5, 0.5],
    ];
    for (name, points, expected) in [("cube", &cube[..], 1.0), ("octahedron", &centres[..], 1.0 / 6.0)] {
        let hull = Shape::convex_hull(points)?;
        let (corners, triangles) = hull.surface().ok_or("a hull has a surface")?;
        let found = volume(&corners, &triangles);
        println!("{name}: {} corners, {found:.6} m^3", corners.len());
        assert!((found - expected).abs() < 1e-14);

        // The same solid as a mesh: a ball 0.1 m above its highest point has the same gap.
        let mesh = Shape::triangle_mesh(&corners, &triangles, MeshKind::Solid)?;
        for shape in [hull, mesh] {
            let mut model = Model::new();
            let node = model.add_rigid_bodies("ball", &[Pose::at([0.5, 0.5, 1.3])])?;
            let mut world = World::new();
            world.add(Collider::new(name, shape, Placement::at_origin()))?;
            let place = Placement::on_body(node, 0);
            world.add(Collider::new("ball", Shape::ball(0.2)?, place).with_margin(0.2))?;
            let state = model.initial_state()?;
            let contacts = world.update(&model, &state.positions, &state.velocities, 0.0)?;
            assert!(!contacts.is_empty() && contacts.iter().all(|c| (c.gap - 0.1).abs() < 1e-12));
        }
    }
    Ok(())
}
