//! Cloths, cables and points: against bodies, each other, and themselves.

use pliant_contact::{Carrier, Collider, Contact, MeshKind, Placement, Shape, World};
use pliant_dense::Vec3;
use pliant_model::{Model, Pose};

const RADIUS: f64 = 0.005;

/// Contacts of two soft things (or of the first alone) at rest, with margins of 0.02 m each.
fn contacts(points: &[[f64; 3]], shapes: &[Shape], ring: Option<usize>) -> Vec<Contact> {
    let mut model = Model::new();
    let node = model.add_particles("points", points).unwrap();
    let mut world = World::new();
    for (k, shape) in shapes.iter().enumerate() {
        let mut collider =
            Collider::new(&format!("{k}"), shape.clone(), Placement::Points(node)).with_margin(0.02);
        collider.self_contact = ring;
        world.add(collider).unwrap();
    }
    let state = model.initial_state().unwrap();
    world
        .update(&model, &state.positions, &state.velocities, 0.0)
        .unwrap()
        .to_vec()
}

fn weights(carrier: &Carrier) -> Vec<(usize, f64)> {
    match carrier {
        Carrier::Points {
            count,
            elements,
            weights,
            ..
        } => (0..*count).map(|k| (elements[k], weights[k])).collect(),
        other => panic!("{other:?}"),
    }
}

/// A triangle points at another, and a segment lies along its side, all in one plane.
#[test]
fn parts_in_one_plane_are_apart_within_it() {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.3, -0.02, 0.0],
        [0.8, -0.6, 0.0],
        [-0.2, -0.6, 0.0],
        [-0.03, 0.9, 0.0],
        [-0.03, 0.1, 0.0],
    ];
    let triangle = Shape::soft_triangles(&[[0, 1, 2]], RADIUS).unwrap();
    let others = [
        (
            Shape::soft_triangles(&[[3, 4, 5]], RADIUS).unwrap(),
            0.02,
            -Vec3::y(),
        ),
        (Shape::soft_segments(&[[6, 7]], RADIUS).unwrap(), 0.03, -Vec3::x()),
    ];
    for (other, distance, normal) in others {
        let found = contacts(&points, &[triangle.clone(), other], None);
        assert!(!found.is_empty());
        for c in &found {
            assert!((c.gap - (distance - 2.0 * RADIUS)).abs() < 1e-15, "{}", c.gap);
            assert!((Vec3::from(c.normal) - normal).norm() < 1e-12);
        }
    }
}

#[test]
fn a_corner_over_a_face() {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.25, 0.5, 0.03],
        [0.3, 0.6, 0.5],
        [0.2, 0.6, 0.5],
    ];
    let (a, b) = (
        Shape::soft_triangles(&[[0, 1, 2]], RADIUS).unwrap(),
        Shape::soft_triangles(&[[3, 4, 5]], RADIUS).unwrap(),
    );
    let found = contacts(&points, &[a, b], None);
    assert_eq!(found.len(), 1);
    let c = found[0];
    assert!((c.gap - (0.03 - 2.0 * RADIUS)).abs() < 1e-15);
    assert!((Vec3::from(c.normal) - Vec3::z()).norm() < 1e-12);
    assert_eq!(weights(&c.b.carrier), vec![(3, 1.0)]);
    for ((k, w), (l, x)) in weights(&c.a.carrier)
        .into_iter()
        .zip([(0, 0.25), (1, 0.25), (2, 0.5)])
    {
        assert!(k == l && (w - x).abs() < 1e-15);
    }
}

#[test]
fn edges_that_cross() {
    // Two folded sheets, ridge over ridge.
    let points = [
        [-1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, -1.0],
        [0.0, -1.0, -1.0],
        [0.1, -1.0, 0.03],
        [0.1, 1.0, 0.03],
        [1.1, 0.0, 1.03],
        [-0.9, 0.0, 1.03],
    ];
    let (a, b) = (
        Shape::soft_triangles(&[[0, 1, 2], [1, 0, 3]], RADIUS).unwrap(),
        Shape::soft_triangles(&[[4, 5, 6], [5, 4, 7]], RADIUS).unwrap(),
    );
    let found = contacts(&points, &[a, b], None);
    assert_eq!(found.len(), 1, "{found:?}");
    let c = found[0];
    assert!((c.gap - (0.03 - 2.0 * RADIUS)).abs() < 1e-14);
    assert!((Vec3::from(c.normal) - Vec3::z()).norm() < 1e-12);
    let a = weights(&c.a.carrier);
    assert!((a[0].1 - 0.45).abs() < 1e-12 && (a[1].1 - 0.55).abs() < 1e-12);
}

/// A cloth of n x n points in steps of `step`, its triangles, at a height.
fn cloth(n: usize, step: f64, z: f64) -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let points = (0..n * n)
        .map(|k| [(k % n) as f64 * step, (k / n) as f64 * step, z])
        .collect();
    let mut triangles = Vec::new();
    for y in 0..n - 1 {
        for x in 0..n - 1 {
            let k = y * n + x;
            triangles.extend([[k, k + 1, k + n + 1], [k, k + n + 1, k + n]]);
        }
    }
    (points, triangles)
}

#[test]
fn cloth_on_cloth_has_parallel_normals_everywhere() {
    let n = 6;
    let (mut points, lower) = cloth(n, 0.1, 0.0);
    let (upper_points, upper) = cloth(n, 0.1, 0.02);
    points.extend(upper_points.iter().map(|p| [p[0] + 0.031, p[1] + 0.017, p[2]]));
    let upper: Vec<[usize; 3]> = upper.iter().map(|t| t.map(|k| k + n * n)).collect();
    let shapes = [lower, upper].map(|t| Shape::soft_triangles(&t, RADIUS).unwrap());
    let found = contacts(&points, &shapes, None);
    assert!(found.len() > 50);
    for c in &found {
        assert!(c.normal[2] > 1.0 - 1e-9, "{:?}", c.normal);
        assert!((c.gap - (0.02 - 2.0 * RADIUS)).abs() < 1e-12);
        for side in [&c.a.carrier, &c.b.carrier] {
            assert!((weights(side).iter().map(|w| w.1).sum::<f64>() - 1.0).abs() < 1e-15);
        }
    }
}

#[test]
fn a_flat_cloth_does_not_touch_itself_and_a_folded_one_does() {
    let n = 8;
    let (points, triangles) = cloth(n, 0.1, 0.0);
    let shape = Shape::soft_triangles(&triangles, RADIUS).unwrap();
    assert!(contacts(&points, std::slice::from_ref(&shape), Some(1)).is_empty());
    // Its half of larger x, turned over above the other.
    let folded: Vec<[f64; 3]> = points
        .iter()
        .map(|p| {
            if p[0] > 0.35 {
                [0.75 - p[0], p[1], 0.02]
            } else {
                *p
            }
        })
        .collect();
    let found = contacts(&folded, &[shape], Some(1));
    assert!(found.len() > 20, "{}", found.len());
    let over = found.iter().filter(|c| c.normal[2].abs() > 1.0 - 1e-9);
    for c in over.clone() {
        assert!((c.gap - (0.02 - 2.0 * RADIUS)).abs() < 1e-12);
    }
    assert!(over.count() > 20);
}

#[test]
fn cables_cross_and_touch_themselves() {
    // A helix of one turn and a half, pitch 0.03.
    let n = 60;
    let points: Vec<[f64; 3]> = (0..=n)
        .map(|k| {
            let t = f64::from(k) / f64::from(n) * 3.0 * std::f64::consts::PI;
            [0.1 * t.cos(), 0.1 * t.sin(), 0.03 * t / std::f64::consts::TAU]
        })
        .collect();
    let segments: Vec<[usize; 2]> = (0..n as usize).map(|k| [k, k + 1]).collect();
    let found = contacts(
        &points,
        &[Shape::soft_segments(&segments, 0.01).unwrap()],
        Some(4),
    );
    assert!(found.len() > 10, "{}", found.len());
    for c in &found {
        // A turn apart, so nearly above each other: 0.03 less what the slope takes, and two radii.
        assert!((c.gap - 0.01).abs() < 3e-4, "{}", c.gap);
    }
    let cross = [
        [-1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.2, -1.0, 0.05],
        [0.2, 1.0, 0.05],
    ];
    let shapes = [[[0, 1]], [[2, 3]]].map(|s| Shape::soft_segments(&s, 0.02).unwrap());
    let found = contacts(&cross, &shapes, None);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 0.01).abs() < 1e-15);
    let a = weights(&found[0].a.carrier);
    assert!((a[0].1 - 0.4).abs() < 1e-12 && (a[1].1 - 0.6).abs() < 1e-12);
}

#[test]
fn soft_things_rest_on_every_shape() {
    let heights = vec![0.0; 16];
    let floors = [
        (Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::default()),
        (
            Shape::cuboid([2.0, 2.0, 0.5]).unwrap(),
            Pose::at([0.0, 0.0, -0.5]),
        ),
        (Shape::cylinder(0.5, 3.0).unwrap(), Pose::at([0.0, 0.0, -0.5])),
        (
            Shape::height_field(&heights, 4, [1.0, 1.0]).unwrap(),
            Pose::at([-1.3, -1.2, 0.0]),
        ),
    ];
    let (points, triangles) = cloth(4, 0.1, 0.007);
    let soft = [
        Shape::soft_triangles(&triangles, RADIUS).unwrap(),
        Shape::soft_segments(&[[0, 1], [1, 2], [2, 3]], RADIUS).unwrap(),
        Shape::soft_points(&[0, 5, 9], RADIUS).unwrap(),
    ];
    for (floor, pose) in &floors {
        for (shape, least) in soft.iter().zip([16, 4, 3]) {
            let mut model = Model::new();
            let node = model.add_particles("points", &points).unwrap();
            let mut world = World::new();
            world
                .add(Collider::new("soft", shape.clone(), Placement::Points(node)).with_margin(0.01))
                .unwrap();
            world
                .add(Collider::new("floor", floor.clone(), Placement::Fixed(*pose)))
                .unwrap();
            let state = model.initial_state().unwrap();
            let found = world
                .update(&model, &state.positions, &state.velocities, 0.0)
                .unwrap();
            for (k, c) in found.iter().enumerate() {
                let repeated = found[..k]
                    .iter()
                    .any(|d| crate::rig::distance(c.a.point, d.a.point) < 1e-6);
                assert!(!repeated, "{floor:?}: {c:?}");
            }
            assert!(found.len() >= least, "{floor:?}: {} of {least}", found.len());
            for c in found {
                assert!((c.gap - 0.002).abs() < 1e-12, "{floor:?}: {}", c.gap);
                assert!(c.normal[2] < -1.0 + 1e-12);
                let on_points: Vec3 = weights(&c.a.carrier)
                    .iter()
                    .map(|(k, w)| Vec3::from(points[*k]) * *w)
                    .sum();
                assert!((on_points - Vec3::new(0.0, 0.0, RADIUS) - Vec3::from(c.a.point)).norm() < 1e-12);
            }
        }
    }
}

/// A cable of three segments along z that ends inside of a shape, with a margin that reaches all.
fn end_inside(shape: Shape, pose: Pose, tied: &[usize]) -> Vec<Contact> {
    let points: Vec<[f64; 3]> = (0..4).map(|k| [0.0, 0.0, 0.02 * f64::from(k) - 0.01]).collect();
    let mut model = Model::new();
    let node = model.add_particles("points", &points).unwrap();
    let mut world = World::new();
    let cable = Shape::soft_segments(&[[0, 1], [1, 2], [2, 3]], RADIUS).unwrap();
    let cable = Collider::new("cable", cable, Placement::Points(node)).with_margin(0.1);
    let cable = world.add(cable).unwrap();
    let other = world
        .add(Collider::new("other", shape, Placement::Fixed(pose)))
        .unwrap();
    world.exclude_points(cable, tied, other).unwrap();
    let state = model.initial_state().unwrap();
    let found = world.update(&model, &state.positions, &state.velocities, 0.0);
    found.unwrap().to_vec()
}

/// The points of the cable that contacts are at.
fn touched(found: &[Contact]) -> Vec<usize> {
    let mut points: Vec<usize> = found
        .iter()
        .flat_map(|c| match &c.a.carrier {
            Carrier::Points { .. } => weights(&c.a.carrier),
            _ => weights(&c.b.carrier),
        })
        .map(|(k, _)| k)
        .collect();
    points.sort_unstable();
    points.dedup();
    points
}

#[test]
fn what_is_tied_to_a_shape_ignores_it_and_the_rest_does_not() {
    let flat = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    let sheet = Shape::triangle_mesh(&flat, &[[0, 1, 2]], MeshKind::Surface).unwrap();
    // Before the sheet only the foremost point is near it.
    let shapes = [
        (Shape::cuboid([0.5; 3]).unwrap(), Pose::at([0.0, 0.0, -0.5]), true),
        (Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::default(), true),
        (sheet, Pose::at([0.0, 0.0, -0.012]), false),
    ];
    for (shape, pose, many) in shapes {
        let all = touched(&end_inside(shape.clone(), pose, &[]));
        assert!(all.contains(&0), "{shape:?}: {all:?}");
        let rest = touched(&end_inside(shape.clone(), pose, &[0]));
        assert!(
            !rest.contains(&0) && rest.contains(&1) == many,
            "{shape:?}: {rest:?}"
        );
        let none = touched(&end_inside(shape.clone(), pose, &[0, 1, 2, 3]));
        assert!(none.is_empty(), "{shape:?}: {none:?}");
    }
}

#[test]
fn only_points_of_soft_shapes_can_be_kept_from_something() {
    let mut world = World::new();
    let ball = |name| Collider::new(name, Shape::ball(1.0).unwrap(), Placement::Fixed(Pose::default()));
    let [a, b] = ["a", "b"].map(|name| world.add(ball(name)).unwrap());
    let error = world.exclude_points(a, &[0], b).unwrap_err();
    assert!(error.to_string().contains("`a`"), "{error}");
    assert_eq!(world.half_widths()[a.index()], 1.0);
}
