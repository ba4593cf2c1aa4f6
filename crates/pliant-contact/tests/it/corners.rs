//! Edges on edges, edges on faces, faces on faces: which normal, where parts touch or are a little
//! in each other.

use pliant_contact::{Contact, Shape};
use pliant_dense::Vec3;
use pliant_model::Pose;

use crate::rig::{Random, touch};

/// Two cards that lean on each other at angles from the vertical: their upper inner edges are
/// `apart` (m) along the normal half way between their faces, which is `(b - a)/2` above the
/// horizontal.
fn leaning(a: f64, b: f64, apart: f64) -> (Vec<Contact>, Vec3) {
    let half = [0.0005, 0.03, 0.05];
    let middle = Vec3::new(((b - a) / 2.0).cos(), 0.0, ((b - a) / 2.0).sin());
    let card = |lean: f64, edge: Vec3, side: f64| {
        let (sin, cos) = lean.sin_cos();
        // From the edge to the centre: turned about y.
        let local = Vec3::new(side * half[0], 0.0, half[2]);
        let turned = Vec3::new(local.x * cos + local.z * sin, 0.0, local.z * cos - local.x * sin);
        let pose = Pose::turned((edge - turned).into(), [0.0, 1.0, 0.0], lean);
        (Shape::cuboid(half).unwrap(), pose)
    };
    let found = touch(card(a, Vec3::zeros(), 1.0), card(-b, middle * apart, -1.0), 1e-3);
    (found, middle)
}

#[test]
fn where_an_edge_lies_on_an_edge_the_normal_is_half_way_between_the_faces() {
    for (a, b) in [(0.35, 0.35), (0.03, 0.03), (0.2, 0.5), (0.6, 0.1)] {
        // What counts as touching is 1e-5 of the cards, which is about 1e-6 m; farther apart it is
        // the direction of the nearest points.
        for apart in [1e-4, 2e-6, 3e-7, 1e-12, 0.0, -1e-12, -3e-7] {
            let (found, middle) = leaning(a, b, apart);
            // Both ends of the edges.
            let mut ends: Vec<f64> = found.iter().map(|c| c.a.point[1]).collect();
            ends.sort_by(f64::total_cmp);
            assert_eq!(ends.len(), 2, "{a} {b} {apart}");
            assert!(
                (ends[0] + 0.03).abs() < 1e-12 && (ends[1] - 0.03).abs() < 1e-12,
                "{ends:?}"
            );
            for c in &found {
                // Rounding of positions of 0.05 m over what is left of the distance, for the
                // nearest points.
                let off = (Vec3::from(c.normal) - middle).norm();
                assert!(off < 1e-9, "{a} {b} {apart}: {off:e}");
                assert!((c.gap - apart).abs() < 1e-15, "{a} {b} {apart}: {}", c.gap);
                assert!(c.a.point[2].abs() < 1e-6);
            }
        }
    }
}

/// A wedge on the edge of a box, or on a blunter wedge: both ends of the normals are then of one
/// part, and the middle is between its faces.
#[test]
fn a_sharp_edge_on_a_blunt_one_has_the_middle_of_the_blunt_one() {
    // Tips at the origin, along y, that open upwards or downwards at these angles from the
    // vertical, the upper one turned by `lean`.
    let wedge = |open: f64, up: f64| {
        let side = |x: f64, y: f64| [x * open.sin(), y, up * open.cos()];
        let points = [
            [0.0, -0.5, 0.0],
            [0.0, 0.5, 0.0],
            side(1.0, -0.5),
            side(1.0, 0.5),
            side(-1.0, -0.5),
            side(-1.0, 0.5),
        ];
        Shape::convex_hull(&points).unwrap()
    };
    for (sharp, blunt, lean) in [
        (0.2, 0.5, 0.0),
        (0.2, 0.5, 0.1),
        (0.3, 0.9, -0.4),
        (0.2, 0.785, 0.3),
    ] {
        for flipped in [false, true] {
            let (below, above) = if flipped { (sharp, blunt) } else { (blunt, sharp) };
            let [lower, upper] = if flipped { [lean, 0.0] } else { [0.0, lean] };
            let pose = |lean: f64| Pose::turned([0.0; 3], [0.0, 1.0, 0.0], lean);
            let found = touch(
                (wedge(below, -1.0), pose(lower)),
                (wedge(above, 1.0), pose(upper)),
                1e-4,
            );
            assert_eq!(found.len(), 2, "{sharp} {blunt} {lean} {flipped}");
            for c in &found {
                assert!(
                    (Vec3::from(c.normal) - Vec3::z()).norm() < 1e-9,
                    "{sharp} {blunt} {lean} {flipped}: {:?}",
                    c.normal
                );
                assert!(c.gap.abs() < 1e-12);
            }
        }
    }
}

/// Where the edges lie beside each other by what a solver leaves, the sides of faces that open
/// slowly cross more exactly than the edges touch.
#[test]
fn a_hinge_that_opens_keeps_both_ends_of_its_edge() {
    let mut random = Random(9);
    for k in 0..100 {
        let open = 0.055 + 0.2 * random.next();
        let half = [0.1, 0.2, 0.1];
        let (sin, cos) = open.sin_cos();
        // The left lower edge of a block on the left upper edge of another, turned about it.
        let [beside, above, twist] = [(); 3].map(|()| 1e-8 * (random.next() - 0.5));
        let place = [
            -0.1 + beside + 0.1 * cos + 0.1 * sin,
            0.0,
            0.1 + above + 0.1 * cos - 0.1 * sin,
        ];
        let mut pose = Pose::turned(place, [0.0, 1.0, 0.0], -open);
        pose.position[0] += -0.2 * sin;
        pose.position[2] += 0.2 * sin;
        pose.rotation[3] += twist;
        let found = touch(
            (Shape::cuboid(half).unwrap(), Pose::default()),
            (Shape::cuboid(half).unwrap(), pose),
            1e-3,
        );
        let mut ends: Vec<f64> = found.iter().map(|c| c.a.point[1]).collect();
        ends.sort_by(f64::total_cmp);
        assert_eq!(found.len(), 2, "{k}: {found:?}");
        assert!(
            (ends[0] + 0.2).abs() < 1e-6 && (ends[1] - 0.2).abs() < 1e-6,
            "{k}: {ends:?}"
        );
    }
}

/// Off the end of the face by more than `touch` over the sine of the angle between the faces.
#[test]
fn where_an_edge_lies_on_a_face_the_normal_is_that_of_the_face() {
    let half = [0.5; 3];
    for (lean, beside) in [(0.3_f64, 1e-3), (0.3, 0.2), (0.8, 1e-4), (0.1, 1e-2)] {
        for deep in [0.0, 1e-9, 2e-6] {
            // The lower edge of a box that leans, on the upper face of another, this far beside its
            // end.
            let (sin, cos) = lean.sin_cos();
            let (x, z) = (0.5 * cos - 0.5 * sin, -0.5 * sin - 0.5 * cos);
            let place = [0.5 - beside - x, 0.0, 0.5 - deep - z];
            let found = touch(
                (Shape::cuboid(half).unwrap(), Pose::default()),
                (
                    Shape::cuboid(half).unwrap(),
                    Pose::turned(place, [0.0, 1.0, 0.0], lean),
                ),
                1e-5,
            );
            assert!(!found.is_empty(), "{lean} {beside} {deep}");
            for c in &found {
                assert_eq!(c.normal, [0.0, 0.0, 1.0], "{lean} {beside} {deep}");
            }
        }
    }
}

/// Boxes at rest overlap by what solvers leave, and are turned by it: crossed edges would often be
/// less deep than the faces.
#[test]
fn a_face_stays_a_face() {
    let mut random = Random(5);
    for k in 0..300 {
        let turn = Pose::turned([0.0; 3], [0.0, 0.0, 1.0], random.next());
        let tilt = random.vector(1e-6);
        let lie = Vec3::new(
            random.next() * 0.3,
            random.next() * 0.3,
            1.0 - 2e-6 * random.next(),
        );
        let mut pose = turn;
        pose.position = lie.into();
        // A small rotation about a horizontal axis on top of the turn: to first order, added to the
        // quaternion.
        let [w, x, y, z] = pose.rotation;
        let [a, b] = [tilt[0] / 2.0, tilt[1] / 2.0];
        pose.rotation = [
            w - a * x - b * y,
            x + a * w + b * z,
            y + b * w - a * z,
            z + a * y - b * x,
        ];
        let norm = pose.rotation.iter().map(|q| q * q).sum::<f64>().sqrt();
        pose.rotation = pose.rotation.map(|q| q / norm);
        let found = touch(
            (Shape::cuboid([0.5; 3]).unwrap(), Pose::default()),
            (Shape::cuboid([0.5; 3]).unwrap(), pose),
            1e-4,
        );
        assert_eq!(found.len(), 4, "{k}");
        for c in &found {
            assert!(Vec3::from(c.normal).xy().norm() < 2e-6, "{k}: {:?}", c.normal);
        }
    }
}
