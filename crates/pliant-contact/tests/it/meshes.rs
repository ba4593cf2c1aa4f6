//! Triangle meshes, height fields and compounds on bodies.

use pliant_contact::{Collider, Contact, MeshKind, Placement, Shape, World};
use pliant_dense::Vec3;
use pliant_model::{Model, Pose};

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
    // Nothing trips over the edges inside: all normals are vertical, and the gap is that to the
    // plane.
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
                    .add(Collider::new("field", field, Placement::Fixed(place)))
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
            .add(Collider::new("field", field, Placement::Fixed(place)))
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

/// The lowest edge of a valley and the lowest corner of a pit have matter below them: no normal
/// leaves them that way, so a ball that has come to lie there is not pushed on down, though that is
/// the short way.
#[test]
fn nothing_is_pushed_out_below_the_ground() {
    let valley = |i: i32, _: i32| i.abs();
    let pit = |i: i32, k: i32| i.abs().max(k.abs());
    for (name, height) in [("valley", valley as fn(i32, i32) -> i32), ("pit", pit)] {
        let heights: Vec<f64> = (0..9).map(|n| f64::from(height(n % 3 - 1, n / 3 - 1))).collect();
        for (x, y) in [(1.0, 1.0), (1.0, 1.3)] {
            let ball = (Shape::ball(0.05).unwrap(), Pose::at([x, y, -0.04]));
            let field = Shape::height_field(&heights, 3, [1.0, 1.0]).unwrap();
            let mut rig = Rig::new(&[ball]).fixed(name, field);
            let found = rig.contacts(0.008);
            // From the ball to the ground.
            assert!(
                found.iter().all(|c| c.normal[2] < 0.0),
                "{name} {x} {y}: {found:?}"
            );
            let points = [[x, y, -0.04]];
            let soft = Shape::soft_points(&[0], 0.05).unwrap();
            let found = soft_on(&soft, &points, &heights);
            assert!(
                found.iter().all(|c| c.normal[2] < 0.0),
                "{name} {x} {y}: {found:?}"
            );
        }
    }
}

/// A ball that has come deep into a thin plate of triangles, to 2 mm beyond its middle: triangles
/// of both sides see it, and the nearer side decides.
#[test]
fn a_thin_solid_pushes_out_on_the_nearer_side() {
    for (height, up) in [(0.002, 1.0), (-0.002, -1.0)] {
        let plate = crate_mesh([1.0, 1.0, 0.01], MeshKind::Solid);
        let found = touch(
            (plate, Pose::default()),
            (Shape::ball(0.05).unwrap(), Pose::at([0.1, 0.3, height])),
            0.01,
        );
        assert!(
            !found.is_empty() && found.iter().all(|c| up * c.normal[2] > 0.9),
            "{height}: {found:?}"
        );
        assert!(
            (least_gap(&found) + 0.01 - 0.002 + 0.05).abs() < 1e-9,
            "{found:?}"
        );
    }
}

/// Contacts of something soft, collider 0, with ground of three by three heights 1 m apart.
fn soft_on(soft: &Shape, points: &[[f64; 3]], heights: &[f64]) -> Vec<Contact> {
    let mut model = Model::new();
    let node = model.add_particles("points", points).unwrap();
    let mut world = World::new();
    let field = Shape::height_field(heights, 3, [1.0, 1.0]).unwrap();
    for (name, shape, place) in [
        ("soft", soft.clone(), Placement::Points(node)),
        ("ground", field, Placement::Fixed(Pose::default())),
    ] {
        world.add(Collider::new(name, shape, place)).unwrap();
    }
    let state = model.initial_state().unwrap();
    let (x, v) = (&state.positions, &state.velocities);
    world.update(&model, x, v, 0.008).unwrap().to_vec()
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
                // Where they overlap over an edge, a triangle that the edge is not of knows its own
                // depth only.
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
