//! Pairs whose gap, normal and points have a formula. Tolerance 1e-12: rounding at lengths of 1 m
//! is some 1e-15.

use pliant_contact::{MeshKind, Shape};
use pliant_dense::{Vec3, rotation};
use pliant_model::Pose;

use crate::rig::{Random, Rig, distance as distance3, least_gap, touch};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::at([x, y, z])
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} against {b}");
}

fn near3(a: [f64; 3], b: [f64; 3]) {
    assert!(distance3(a, b) < 1e-12, "{a:?} against {b:?}");
}

#[test]
fn two_balls() {
    for (x, y, z) in [(1.0, 0.3, -0.2), (0.1, 0.0, 0.05), (1e-3, 0.0, 0.0)] {
        let (a, b) = (Shape::ball(0.5).unwrap(), Shape::ball(0.25).unwrap());
        let found = touch((a, at(1.0, 2.0, 3.0)), (b, at(1.0 + x, 2.0 + y, 3.0 + z)), 1.0);
        let length = f64::hypot(x.hypot(y), z);
        assert_eq!(found.len(), 1);
        near(found[0].gap, length - 0.75);
        near3(found[0].normal, [x / length, y / length, z / length]);
        near3(
            found[0].a.point,
            [
                1.0 + 0.5 * x / length,
                2.0 + 0.5 * y / length,
                3.0 + 0.5 * z / length,
            ],
        );
    }
}

#[test]
fn balls_with_one_centre_part_upwards() {
    let ball = Shape::ball(0.5).unwrap();
    let found = touch((ball.clone(), at(1.0, 2.0, 3.0)), (ball, at(1.0, 2.0, 3.0)), 0.1);
    assert_eq!(found.len(), 1);
    near(found[0].gap, -1.0);
    near3(found[0].normal, [0.0, 0.0, 1.0]);
}

#[test]
fn ball_and_box_over_face_edge_and_corner_and_inside() {
    let half = [0.5, 0.4, 0.3];
    let r = 0.1;
    let cases = [
        // Over a face, an edge, a corner; inside, nearest to the face x.
        ([0.7, 0.1, 0.1], 0.2 - r, [1.0, 0.0, 0.0]),
        ([0.8, 0.8, 0.1], 0.5 - r, [0.6, 0.8, 0.0]),
        ([0.6, 0.6, 0.5], 0.3 - r, [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]),
        ([0.45, 0.1, 0.05], -0.05 - r, [1.0, 0.0, 0.0]),
    ];
    for (centre, gap, normal) in cases {
        let turn = Pose::turned([1.0, -2.0, 0.5], [1.0, 2.0, -0.5], 0.7);
        let place = |local: [f64; 3]| {
            let r = pliant_dense::rotation::rotate(turn.rotation, local.into());
            [
                r.x + turn.position[0],
                r.y + turn.position[1],
                r.z + turn.position[2],
            ]
        };
        let turned = |local: [f64; 3]| {
            let r = pliant_dense::rotation::rotate(turn.rotation, local.into());
            [r.x, r.y, r.z]
        };
        let found = touch(
            (Shape::cuboid(half).unwrap(), turn),
            (Shape::ball(r).unwrap(), Pose::at(place(centre))),
            1.0,
        );
        assert_eq!(found.len(), 1, "{centre:?}");
        near(found[0].gap, gap);
        near3(found[0].normal, turned(normal));
    }
}

#[test]
fn box_on_a_plane_has_its_four_corners() {
    for tilt in [0.0, 1e-9, 1e-3] {
        let mut rig = Rig::new(&[(
            Shape::cuboid([0.5, 0.4, 0.3]).unwrap(),
            Pose::turned([0.0, 0.0, 0.3], [0.0, 1.0, 0.0], tilt),
        )])
        .fixed("ground", Shape::half_space([0.0, 0.0, 2.0]).unwrap());
        rig.state.velocities[2] = -1.0;
        let found = rig.contacts(0.01);
        assert_eq!(found.len(), 4);
        for c in &found {
            // Order is by collider: the box first, so that the normal points down.
            near3(c.normal, [0.0, 0.0, -1.0]);
            let x = c.a.point[0].signum() * 0.5;
            near(c.gap, 0.3 - x * tilt.sin() - 0.3 * tilt.cos());
        }
    }
}

#[test]
fn capsules_crossed_parallel_and_end_to_end() {
    let capsule = Shape::capsule(0.5, 0.1).unwrap();
    let lying =
        |x: f64, y: f64, z: f64| Pose::turned([x, y, z], [0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let crossed = touch(
        (capsule.clone(), at(0.0, 0.0, 0.0)),
        (capsule.clone(), lying(0.0, 0.35, 0.0)),
        1.0,
    );
    assert_eq!(crossed.len(), 1);
    near(crossed[0].gap, 0.15);
    near3(crossed[0].normal, [0.0, 1.0, 0.0]);
    let parallel = touch(
        (capsule.clone(), at(0.0, 0.0, 0.0)),
        (capsule.clone(), at(0.3, 0.0, 0.4)),
        1.0,
    );
    assert_eq!(parallel.len(), 2);
    for c in &parallel {
        near(c.gap, 0.1);
    }
    near((parallel[0].a.point[2] - parallel[1].a.point[2]).abs(), 0.6);
    let ends = touch(
        (capsule.clone(), at(0.0, 0.0, 0.0)),
        (capsule.clone(), at(0.3, 0.0, 1.4)),
        1.0,
    );
    assert_eq!(ends.len(), 1);
    near(ends[0].gap, 0.5 - 0.2);
    near3(ends[0].normal, [0.6, 0.0, 0.8]);
    let deep = touch(
        (capsule.clone(), at(0.0, 0.0, 0.0)),
        (capsule, lying(0.0, 0.0, 0.0)),
        1.0,
    );
    near(least_gap(&deep), -0.2);
}

/// Lines in one plane are apart within it, though its normal, which crossed lines propose, does not
/// keep them apart: those of planar mechanisms.
#[test]
fn capsules_in_one_plane() {
    let (half, radius) = (0.5, 0.1);
    let capsule = Shape::capsule(half, radius).unwrap();
    let mut random = Random(7);
    let (mut apart, mut crossed) = (0, 0);
    for _ in 0..1000 {
        // Each by its middle and the angle of its axis, in a plane through the axis of a frame.
        let frame = random.pose(1.0);
        let middles = [(); 2].map(|()| [random.next() * 2.0 - 1.0, random.next() * 2.0 - 1.0]);
        let angles = [(); 2].map(|()| random.next() * 6.0);
        let ends = |k: usize| {
            let ([x, z], angle) = (middles[k], angles[k]);
            let (dx, dz) = (half * angle.sin(), half * angle.cos());
            [[x - dx, z - dz], [x + dx, z + dz]]
        };
        let pose = |k: usize| {
            let local = Pose::turned([middles[k][0], 0.0, middles[k][1]], [0.0, 1.0, 0.0], angles[k]);
            let turned = rotation::rotate(frame.rotation, Vec3::from(local.position));
            Pose {
                position: (Vec3::from(frame.position) + turned).into(),
                rotation: rotation::multiply(frame.rotation, local.rotation),
            }
        };
        let distance = distance_in_plane(ends(0), ends(1));
        let parts = [0, 1].map(|k| (capsule.clone(), pose(k)));
        let [a, b] = parts;
        let found = touch(a, b, 4.0);
        near(least_gap(&found), distance - 2.0 * radius);
        let normal = rotation::rotate(frame.rotation, Vec3::y());
        let across = normal.dot(&Vec3::from(found[0].normal)).abs();
        match distance > 0.0 {
            true => near(across, 0.0),
            false => near(across, 1.0),
        }
        apart += usize::from(distance > 0.0);
        crossed += usize::from(distance == 0.0);
    }
    assert!(apart > 300 && crossed > 100, "{apart} {crossed}");
}

/// A capsule beside a sheet, in its plane: it points at its border, or lies along it.
#[test]
fn a_capsule_in_the_plane_of_a_sheet() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let sheet = || Shape::triangle_mesh(&corners, &[[0, 1, 2], [0, 2, 3]], MeshKind::Surface).unwrap();
    let capsule = || Shape::capsule(0.2, 0.1).unwrap();
    for (angle, x) in [(0.0, 1.15), (std::f64::consts::FRAC_PI_2, 1.35)] {
        // Of an axis along y, turned about z.
        let lying = rotation::exp(Vec3::x() * std::f64::consts::FRAC_PI_2);
        let turned = rotation::multiply(rotation::exp(Vec3::z() * angle), lying);
        let pose = Pose {
            position: [x, 0.6, 0.0],
            rotation: turned,
        };
        let found = touch((sheet(), at(0.0, 0.0, 0.0)), (capsule(), pose), 0.1);
        assert!(!found.is_empty());
        for c in &found {
            near(c.gap, 0.05);
            near3(c.normal, [1.0, 0.0, 0.0]);
        }
    }
}

/// Distance of two segments of a plane: none where each has its ends on both sides of the other,
/// else the least one of an end.
fn distance_in_plane(p: [[f64; 2]; 2], q: [[f64; 2]; 2]) -> f64 {
    let side =
        |[a, b]: [[f64; 2]; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let splits =
        |line: [[f64; 2]; 2], other: [[f64; 2]; 2]| side(line, other[0]) * side(line, other[1]) < 0.0;
    if splits(p, q) && splits(q, p) {
        return 0.0;
    }
    let of_end = |[a, b]: [[f64; 2]; 2], c: [f64; 2]| {
        let (d, e) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
        let t = ((d[0] * e[0] + d[1] * e[1]) / (d[0] * d[0] + d[1] * d[1])).clamp(0.0, 1.0);
        f64::hypot(e[0] - t * d[0], e[1] - t * d[1])
    };
    [of_end(p, q[0]), of_end(p, q[1]), of_end(q, p[0]), of_end(q, p[1])]
        .into_iter()
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn capsule_on_a_box_rests_on_two_points() {
    let capsule = Pose::turned([0.0, 0.0, 0.6], [0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let found = touch(
        (Shape::cuboid([0.5, 0.5, 0.5]).unwrap(), at(0.0, 0.0, 0.0)),
        (Shape::capsule(0.3, 0.1).unwrap(), capsule),
        0.01,
    );
    assert_eq!(found.len(), 2);
    for c in &found {
        near(c.gap, 0.0);
        near3(c.normal, [0.0, 0.0, 1.0]);
        near(c.a.point[0].abs(), 0.3);
    }
}

#[test]
fn cylinders_on_planes_boxes_and_balls() {
    let cylinder = Shape::cylinder(0.5, 0.2).unwrap();
    let plane = || Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    // Leaning by an angle, its lowest point is on the rim.
    let angle: f64 = 0.3;
    let mut rig = Rig::new(&[(
        cylinder.clone(),
        Pose::turned([0.0, 0.0, 0.6], [1.0, 0.5, 0.0], angle),
    )])
    .fixed("ground", plane());
    rig.state.velocities[2] = -10.0;
    let found = rig.contacts(0.01);
    near(least_gap(&found), 0.6 - 0.5 * angle.cos() - 0.2 * angle.sin());
    // Lying, it has two points; standing, four.
    let lying = Pose::turned([0.0, 0.0, 0.2], [1.0, 0.5, 0.0], std::f64::consts::FRAC_PI_2);
    let found = Rig::new(&[(cylinder.clone(), lying)])
        .fixed("ground", plane())
        .contacts(0.01);
    assert_eq!(found.len(), 2);
    near(least_gap(&found), 0.0);
    let found = Rig::new(&[(cylinder.clone(), at(0.0, 0.0, 0.5))])
        .fixed("ground", plane())
        .contacts(0.01);
    assert_eq!(found.len(), 4);
    near(least_gap(&found), 0.0);
    for (pose, count) in [(lying, 2), (at(0.0, 0.0, 0.5), 4)] {
        let found = touch(
            (Shape::cuboid([1.0, 1.0, 1.0]).unwrap(), at(0.0, 0.0, -1.0)),
            (cylinder.clone(), pose),
            1e-3,
        );
        assert_eq!(found.len(), count);
        near(least_gap(&found), 0.0);
        near3(found[0].normal, [0.0, 0.0, 1.0]);
    }
    let ball = touch(
        (cylinder.clone(), at(0.0, 0.0, 0.0)),
        (Shape::ball(0.1).unwrap(), at(0.5, 0.0, 0.9)),
        1.0,
    );
    assert_eq!(ball.len(), 1);
    near(ball[0].gap, 0.5 - 0.1);
    near3(ball[0].normal, [0.6, 0.0, 0.8]);
    // Side by side and crossed.
    let side = touch(
        (cylinder.clone(), at(0.0, 0.0, 0.0)),
        (cylinder.clone(), at(0.3, 0.4, 0.1)),
        1.0,
    );
    assert_eq!(side.len(), 2);
    near(least_gap(&side), 0.1);
    let across = Pose::turned([0.0, 0.5, 0.0], [0.0, 1.0, 0.0], 1.0);
    let crossed = touch((cylinder.clone(), at(0.0, 0.0, 0.0)), (cylinder, across), 1.0);
    assert_eq!(crossed.len(), 1);
    near(crossed[0].gap, 0.1);
}

#[test]
fn rims_of_two_cylinders_in_one_plane() {
    // The axes lie in the plane y = 0, so that the nearest points are corners of two rectangles
    // there.
    let (half, r) = (0.5, 0.2);
    let cylinder = Shape::cylinder(half, r).unwrap();
    for (x, z, tilt) in [(0.9, 1.4, 0.3_f64), (1.0, 1.3, 0.2), (1.5, 1.2, 0.3)] {
        let found = touch(
            (cylinder.clone(), at(0.0, 0.0, 0.0)),
            (cylinder.clone(), Pose::turned([x, 0.0, z], [0.0, 1.0, 0.0], tilt)),
            5.0,
        );
        let (sin, cos) = tilt.sin_cos();
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
            .map(|(s, t): (f64, f64)| (x + s * half * sin + t * r * cos, z + s * half * cos - t * r * sin));
        let distance = |(x, z): &(f64, f64)| f64::hypot(x - r, z - half);
        let nearest = corners
            .into_iter()
            .reduce(|p, q| if distance(&q) < distance(&p) { q } else { p })
            .unwrap();
        let gap = distance(&nearest);
        assert!(
            (least_gap(&found) - gap).abs() < 1e-12,
            "{} {gap}",
            least_gap(&found)
        );
        let normal = [(nearest.0 - r) / gap, 0.0, (nearest.1 - half) / gap];
        assert!(
            distance3(found[0].normal, normal) < 1e-8,
            "{:?} {normal:?}",
            found[0].normal
        );
    }
}

#[test]
fn caps_touch_within_their_circles() {
    // A narrow cylinder on a wide one, and the other way round, the axes apart: points on both
    // circles at most, and around the area that they share.
    for (lower, upper, aside) in [
        (0.2, 0.1, 0.0),
        (0.1, 0.2, 0.05),
        (0.2, 0.2, 0.1),
        (0.1, 0.2, 0.15),
    ] {
        let found = touch(
            (
                Shape::cylinder(0.5, lower).unwrap(),
                Pose::turned([0.0; 3], [0.0, 0.0, 1.0], 0.2),
            ),
            (Shape::cylinder(0.5, upper).unwrap(), at(aside, 0.0, 1.0)),
            1e-3,
        );
        assert!(found.len() >= 3, "{found:?}");
        for c in &found {
            near(c.gap, 0.0);
            near3(c.normal, [0.0, 0.0, 1.0]);
            let [x, y, _] = c.b.point;
            let (a, b) = (x.hypot(y) - lower, (x - aside).hypot(y) - upper);
            // On one of the two rims, and not beyond the other.
            assert!(a < 1e-8 && b < 1e-8 && a.max(b) > -1e-8, "{a} {b} {c:?}");
        }
    }
}

#[test]
fn a_rim_over_an_edge_is_round() {
    // A cylinder stands over the edge x = 0 of a box: it touches where its rim, a circle, goes over
    // the edge, and on the rim elsewhere.
    for (x, turn) in [(-0.05_f64, 0.0), (0.1, 0.3), (-0.15, 0.1)] {
        let found = touch(
            (Shape::cuboid([1.0, 1.0, 1.0]).unwrap(), at(-1.0, 0.0, -1.0)),
            (
                Shape::cylinder(0.5, 0.2).unwrap(),
                Pose::turned([x, 0.0, 0.5], [0.0, 0.0, 1.0], turn),
            ),
            1e-3,
        );
        assert!(found.len() >= 3, "{found:?}");
        assert!(found.iter().any(|c| c.b.point[0].abs() < 1e-9), "{found:?}");
        for c in &found {
            let [px, py, _] = c.b.point;
            assert!(px < 1e-9 && ((px - x).hypot(py) - 0.2).abs() < 1e-9, "{c:?}");
        }
    }
}

#[test]
fn caps_that_overlap_touch_at_the_tips_of_the_lens() {
    // Two circles of 0.2 m, the axes apart: the lens that they share ends where they cross, at half
    // way. The narrow one has no fixed point of a rim in it.
    for aside in [0.3_f64, 0.399] {
        let cylinder = Shape::cylinder(0.5, 0.2).unwrap();
        let found = touch(
            (cylinder.clone(), Pose::turned([0.0; 3], [0.0, 0.0, 1.0], 0.2)),
            (cylinder, Pose::turned([aside, 0.0, 1.0], [0.0, 0.0, 1.0], 0.3)),
            1e-3,
        );
        for sign in [-1.0, 1.0] {
            let tip = [aside / 2.0, sign * (0.04 - aside * aside / 4.0).sqrt(), 0.5];
            assert!(
                found.iter().any(|c| distance3(c.b.point, tip) < 1e-9),
                "{tip:?} {found:?}"
            );
        }
    }
    // A capsule across a cap rests on its rim.
    let found = touch(
        (Shape::cylinder(0.5, 0.2).unwrap(), at(0.0, 0.0, 0.0)),
        (
            Shape::capsule(0.6, 0.1).unwrap(),
            Pose::turned([0.1, 0.0, 0.6], [0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2),
        ),
        1e-3,
    );
    assert_eq!(found.len(), 2);
    for c in &found {
        near(c.gap, 0.0);
        near(c.a.point[0].abs(), 0.2);
    }
}
