//! Triangle meshes, height fields and compounds on bodies.

use pliant_contact::{Collider, MeshKind, Place, Shape};
use pliant_dense::Vec3;
use pliant_model::Pose;

use crate::rig::{Random, Rig, aligned, crate_mesh, least_gap, touch};

/// A flat height field at z = 0, of cells of 0.37 m, about the origin.
fn flat() -> (Shape, Pose) {
    let n = 40;
    (
        Shape::height_field(&vec![0.0; n * n], n, [0.37, 0.37]).unwrap(),
        Pose::at([-7.0, -7.0, 0.0]),
    )
}

fn shapes() -> Vec<(Shape, f64)> {
    vec![
        (Shape::ball(0.3).unwrap(), 0.3),
        (Shape::cuboid([0.5, 0.4, 0.3]).unwrap(), 0.3),
        (Shape::capsule(0.4, 0.2).unwrap(), 0.6),
        (Shape::cylinder(0.3, 0.25).unwrap(), 0.3),
        (
            Shape::convex_hull(&[
                [0.4, 0.0, -0.2],
                [-0.3, 0.4, -0.2],
                [-0.3, -0.4, -0.2],
                [0.0, 0.0, 0.5],
            ])
            .unwrap(),
            0.2,
        ),
    ]
}

#[test]
fn flat_ground_of_triangles_is_a_plane() {
    // Nothing trips over the edges inside: all normals are vertical, and the gap is that to the plane.
    let mut random = Random(11);
    for (shape, height) in shapes() {
        for depth in [-1e-3, 0.0, 1e-9, 0.01] {
            for _ in 0..20 {
                let spot = random.vector(5.0);
                let pose = Pose::turned(
                    [spot[0], spot[1], height - depth],
                    [0.0, 0.0, 1.0],
                    random.next() * 3.0,
                );
                let mut rig = Rig::new(&[(shape.clone(), pose)]);
                let (field, place) = flat();
                rig.world
                    .add(Collider::new("field", field, Place::Fixed(place)))
                    .unwrap();
                rig.state.velocities[..3].copy_from_slice(&[1.0, 2.0, -1.0]);
                let found = rig.contacts(0.01);
                assert!(
                    !found.is_empty() && found.len() <= 4,
                    "{shape:?} {depth}: {found:?}"
                );
                assert!((least_gap(&found) + depth).abs() < 1e-12);
                for c in &found {
                    assert!(aligned(c), "{c:?}");
                    assert!(c.normal[2] < -1.0 + 1e-12, "{shape:?} {depth} {:?}", c.normal);
                }
            }
        }
    }
}

#[test]
fn a_tilted_box_over_triangles_has_vertical_normals() {
    let mut random = Random(5);
    for _ in 0..50 {
        let spot = random.vector(4.0);
        let pose = Pose::turned([spot[0], spot[1], 0.52], random.vector(1.0), random.next() * 3.0);
        let mut rig = Rig::new(&[(Shape::cuboid([0.5, 0.4, 0.3]).unwrap(), pose)]);
        let (field, place) = flat();
        rig.world
            .add(Collider::new("field", field, Place::Fixed(place)))
            .unwrap();
        let mut plane = Rig::new(&[(Shape::cuboid([0.5, 0.4, 0.3]).unwrap(), pose)])
            .fixed("plane", Shape::half_space([0.0, 0.0, 1.0]).unwrap());
        let (found, expected) = (rig.contacts(0.0), plane.contacts(0.0));
        assert_eq!(found.is_empty(), expected.is_empty());
        if !found.is_empty() {
            assert!((least_gap(&found) - least_gap(&expected)).abs() < 1e-12);
            assert!(
                found.iter().all(|c| c.normal[2] < -1.0 + 1e-9 && aligned(c)),
                "{found:?}"
            );
        }
    }
}

#[test]
fn a_ball_on_the_ridge_and_in_the_valley_of_a_roof() {
    // Two slopes of 45 degrees that meet along y.
    for (sign, gap, count) in [(1.0, 0.2, 1), (-1.0, 0.7 * 0.5_f64.sqrt() - 0.5, 2)] {
        let heights: Vec<f64> = (0..9).map(|k| -sign * f64::from((k % 3 - 1_i32).abs())).collect();
        let field = Shape::height_field(&heights, 3, [1.0, 1.0]).unwrap();
        let mut rig =
            Rig::new(&[(Shape::ball(0.5).unwrap(), Pose::at([1.0, 1.2, 0.7]))]).fixed("roof", field);
        rig.state.velocities[2] = -50.0;
        let found = rig.contacts(0.008);
        assert_eq!(found.len(), count, "{found:?}");
        for c in &found {
            assert!((c.gap - gap).abs() < 2e-3, "{} {gap}", c.gap);
        }
    }
}

#[test]
fn a_compound_touches_with_each_part() {
    let leg = Shape::cuboid([0.05, 0.05, 0.5]).unwrap();
    let at = |x, y| Pose::at([x, y, 0.0]);
    let table = Shape::compound(&[
        (at(0.5, 0.5), leg.clone()),
        (at(-0.5, 0.5), leg.clone()),
        (at(0.5, -0.5), leg.clone()),
        (at(-0.5, -0.5), leg),
        (
            Pose::at([0.0, 0.0, 0.5]),
            Shape::cuboid([0.6, 0.6, 0.02]).unwrap(),
        ),
    ])
    .unwrap();
    let mut rig = Rig::new(&[(table, Pose::at([0.0, 0.0, 0.5]))])
        .fixed("ground", Shape::half_space([0.0, 0.0, 1.0]).unwrap());
    let found = rig.contacts(0.01);
    assert_eq!(found.len(), 16);
    assert!(found.iter().all(|c| c.gap.abs() < 1e-12));
}

#[test]
fn solids_of_triangles_collide_with_each_other() {
    let cube = |half: f64| crate_mesh([half; 3], MeshKind::Solid);
    for gap in [0.005, 0.0, -0.005] {
        let found = touch(
            (cube(0.5), Pose::default()),
            (cube(0.3), Pose::at([0.05, 0.02, 0.8 + gap])),
            0.05,
        );
        assert!(found.len() >= 4, "{gap} {}", found.len());
        for c in &found {
            assert!(Vec3::from(c.normal).z > 1.0 - 1e-12, "{gap} {:?}", c.normal);
            assert!((c.gap - gap).abs() < 1e-12);
        }
    }
}

#[test]
fn a_solid_of_triangles_is_as_smooth_as_a_box() {
    let cube = crate_mesh([1.0, 1.0, 1.0], MeshKind::Solid);
    let smooth = Shape::cuboid([1.0, 1.0, 1.0]).unwrap();
    let mut random = Random(23);
    for shape in [
        Shape::ball(0.3).unwrap(),
        Shape::capsule(0.2, 0.2).unwrap(),
        Shape::cuboid([0.2, 0.2, 0.2]).unwrap(),
        Shape::cylinder(0.3, 0.2).unwrap(),
        Shape::convex_hull(&[
            [0.3, 0.0, 0.1],
            [-0.3, 0.2, 0.1],
            [-0.2, -0.3, 0.0],
            [0.0, 0.1, 0.4],
            [0.0, 0.0, -0.3],
        ])
        .unwrap(),
    ] {
        let mut met = 0;
        for _ in 0..1000 {
            let mut pose = random.pose(0.3);
            pose.position = pose.position.map(|x| x + 1.2);
            pose.position[1] -= 1.2 * (random.next() * 2.0).floor();
            let as_mesh = touch((cube.clone(), Pose::default()), (shape.clone(), pose), 0.1);
            let as_box = touch((smooth.clone(), Pose::default()), (shape.clone(), pose), 0.1);
            let gap = least_gap(&as_box);
            // Deep in each other the two may choose another face.
            if gap > -0.01 {
                assert_eq!(
                    as_mesh.is_empty(),
                    as_box.is_empty(),
                    "{pose:?} {as_mesh:?} {as_box:?}"
                );
            }
            if gap > -0.01 && gap < 0.1 {
                met += 1;
                // Where they overlap over an edge, a triangle that the edge is not of knows its own depth only.
                let least = if gap < 0.0 { -0.1 } else { gap };
                let found = least_gap(&as_mesh);
                assert!(
                    found < gap + 1e-8 && found > least - 1e-8,
                    "{pose:?} {found} {gap}"
                );
                assert!(as_mesh.iter().all(aligned), "{pose:?} {as_mesh:?}");
            }
        }
        assert!(met > 30, "{met}");
    }
}
