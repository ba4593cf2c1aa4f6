//! Boxes on boxes: exact, four points, and the same from step to step under rounding.

use pliant_contact::{Material, MaterialId, Shape};
use pliant_dense::{Vec3, rotation};
use pliant_model::Pose;

use crate::rig::{Random, Rig, touch};

fn unit() -> Shape {
    Shape::cuboid([0.5, 0.5, 0.5]).unwrap()
}

#[test]
fn a_box_on_a_box_touches_at_the_corners_of_the_common_square() {
    for (dx, dy) in [(0.0, 0.0), (0.2, 0.0), (5e-4, -0.3)] {
        let found = touch((unit(), Pose::default()), (unit(), Pose::at([dx, dy, 1.0])), 1e-3);
        assert_eq!(found.len(), 4);
        let mut corners: Vec<[f64; 2]> = found.iter().map(|c| [c.a.point[0], c.a.point[1]]).collect();
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let (x0, x1) = ((dx - 0.5_f64).max(-0.5), (dx + 0.5_f64).min(0.5));
        let (y0, y1) = ((dy - 0.5_f64).max(-0.5), (dy + 0.5_f64).min(0.5));
        for (corner, expected) in corners.iter().zip([[x0, y0], [x0, y1], [x1, y0], [x1, y1]]) {
            assert!((corner[0] - expected[0]).abs() < 1e-12 && (corner[1] - expected[1]).abs() < 1e-12);
        }
        for c in &found {
            assert!(c.gap.abs() < 1e-15);
            assert_eq!(c.normal, [0.0, 0.0, 1.0]);
        }
    }
}

#[test]
fn a_box_turned_by_an_eighth_keeps_four_points_of_the_octagon() {
    let turned = Pose::turned([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_4);
    let found = touch((unit(), Pose::default()), (unit(), turned), 1e-3);
    assert_eq!(found.len(), 4);
    // The octagon has area 2 (sqrt 2 - 1) = 0.828; any four of its corners in order with the
    // largest area have 0.586.
    let points: Vec<Vec3> = found.iter().map(|c| Vec3::from(c.a.point)).collect();
    let centre = points.iter().sum::<Vec3>() / 4.0;
    let mut around = points.clone();
    let angle = |p: &Vec3| (p.y - centre.y).atan2(p.x - centre.x);
    around.sort_by(|p, q| angle(p).total_cmp(&angle(q)));
    let area: f64 = (0..4)
        .map(|k| (around[k] - centre).cross(&(around[(k + 1) % 4] - centre)).z / 2.0)
        .sum();
    assert!(area > 0.55, "{area}");
}

/// A compliant box that rolls through the ground stores the energy of all its corners below, and no
/// more or less where the lowest face changes; a hard one has four points.
#[test]
fn all_corners_of_a_compliant_box_below_the_ground_store_energy() {
    let half = [0.5, 0.3, 0.4];
    let axis = Vec3::new(0.3, 1.0, -0.2).normalize();
    let mut most = 0;
    for k in 0..400 {
        let turned = Pose::turned([0.0, 0.0, -0.1], axis.into(), 0.01 * f64::from(k));
        let corners = (0..8).map(|k| {
            let corner = [0, 1, 2].map(|i| if k >> i & 1 == 1 { half[i] } else { -half[i] });
            -0.1 + rotation::rotate(turned.rotation, corner.into()).z
        });
        let expected: f64 = corners.map(|z| z.min(0.0).powi(2)).sum();
        for compliance in [0.0, 1e-3] {
            let mut rig = Rig::new(&[(Shape::cuboid(half).unwrap(), turned)])
                .fixed("ground", Shape::half_space([0.0, 0.0, 1.0]).unwrap());
            let soft = Material {
                compliance,
                ..Material::default()
            };
            let default = MaterialId::default();
            rig.world.set_pair(default, default, soft).unwrap();
            let found = rig.contacts(1e-2);
            let sum: f64 = found.iter().map(|c| c.gap.min(0.0).powi(2)).sum();
            most = most.max(found.len());
            match compliance > 0.0 {
                // Rounding of the sum of eight squares below 1 m^2.
                true => assert!((sum - expected).abs() < 1e-14, "{k}: {sum} of {expected}"),
                false => assert!(found.len() <= 4),
            }
        }
    }
    assert!(most > 4);
}

#[test]
fn rounding_changes_neither_the_points_nor_their_keys() {
    let mut rig = Rig::new(&[
        (unit(), Pose::default()),
        (unit(), Pose::at([0.0, 0.0, 1.0])),
        (unit(), Pose::turned([0.1, 0.0, 2.0], [0.0, 0.0, 1.0], 0.3)),
        (unit(), Pose::at([0.1, 0.2, 3.0])),
    ]);
    let start = rig.state.clone();
    let first = rig.contacts(1e-2);
    assert_eq!(first.len(), 12);
    let mut random = Random(7);
    for _ in 0..200 {
        rig.state.clone_from(&start);
        for x in &mut rig.state.positions {
            *x += (random.next() - 0.5) * 1e-13;
        }
        let again = rig.contacts(1e-2);
        assert_eq!(again.len(), 12);
        for (a, b) in first.iter().zip(&again) {
            assert_eq!(a.key, b.key);
            assert!((a.gap - b.gap).abs() < 1e-12);
            for k in 0..3 {
                assert!((a.a.point[k] - b.a.point[k]).abs() < 1e-11);
                assert!((a.normal[k] - b.normal[k]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn crossed_edges_touch_at_one_point() {
    let tilt = |axis: [f64; 3], z: f64| Pose::turned([0.0, 0.0, z], axis, std::f64::consts::FRAC_PI_4);
    let height = 2.0 * 0.5_f64.sqrt();
    let found = touch(
        (unit(), tilt([1.0, 0.0, 0.0], 0.0)),
        (unit(), tilt([0.0, 1.0, 0.0], height + 0.01)),
        0.1,
    );
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 0.01).abs() < 1e-12);
    assert!(Vec3::from(found[0].normal).z > 1.0 - 1e-12);
}

/// Deep in each other, crossed edges are taken only where they are a hundredth less deep than the
/// best face, and faces of the second box only where they are that much less deep than those of the
/// first.
#[test]
fn crossed_edges_need_a_hundredth_of_the_depth() {
    let mut random = Random(11);
    let half = [0.5, 0.4, 0.3];
    let mut edges = 0;
    for _ in 0..3000 {
        let (p, q) = (random.pose(0.05), random.pose(0.5));
        let found = touch(
            (Shape::cuboid(half).unwrap(), p),
            (Shape::cuboid(half).unwrap(), q),
            0.0,
        );
        let Some(n) = found.first().map(|c| Vec3::from(c.normal)) else {
            continue;
        };
        let axes =
            |pose: &Pose| [Vec3::x(), Vec3::y(), Vec3::z()].map(|e| rotation::rotate(pose.rotation, e));
        let reach = |pose: &Pose, n: Vec3| -> f64 {
            let turned = axes(pose).into_iter().zip(half);
            turned.map(|(e, h)| h * e.dot(&n).abs()).sum::<f64>()
        };
        let between = Vec3::from(q.position) - Vec3::from(p.position);
        let separation = |n: Vec3| n.dot(&between).abs() - reach(&p, n) - reach(&q, n);
        let [of_p, of_q] = [&p, &q].map(|pose| {
            axes(pose)
                .map(separation)
                .into_iter()
                .fold(f64::NEG_INFINITY, f64::max)
        });
        let face = if of_q > 0.99 * of_p { of_q } else { of_p };
        let of_face = axes(&p)
            .into_iter()
            .chain(axes(&q))
            .any(|e| e.cross(&n).norm() < 1e-9);
        if face < 0.0 && !of_face {
            edges += 1;
            assert!(separation(n) > 0.99 * face, "{} {face}", separation(n));
        }
    }
    assert!(edges > 100, "{edges}");
}

/// A plate falls flat on the ground, by so much in the search's horizon that its upper corners are
/// within reach, too: it is the lower ones that it touches with, whichever way up it is and
/// whichever of the two comes first.
#[test]
fn a_thin_plate_touches_the_ground_with_its_lower_corners() {
    let half = [0.25, 0.25, 0.01];
    for degrees in [0.0f64, 2.0, 90.0, 178.0, 180.0, 183.0] {
        // Upright it stands on an edge: turned about y by a right angle it is a thin one of x.
        let half = if degrees == 90.0 { [0.01, 0.25, 0.25] } else { half };
        let turn = degrees.to_radians();
        let pose = Pose::turned([0.0, 0.0, 0.03], [0.0, 1.0, 0.0], turn);
        // Those of the face that looks down.
        let thin = if half[0] < half[2] { 0 } else { 2 };
        let down = rotation::rotate(pose.rotation, Vec3::ith(thin, 1.0)).z < 0.0;
        let corners = (0..8).filter(|k| (k >> thin & 1 == 1) == down).map(|k| {
            let corner = [0, 1, 2].map(|i| if k >> i & 1 == 1 { half[i] } else { -half[i] });
            0.03 + rotation::rotate(pose.rotation, corner.into()).z
        });
        let mut heights: Vec<f64> = corners.collect();
        heights.sort_by(f64::total_cmp);
        let plate = (Shape::cuboid(half).unwrap(), pose);
        let ground = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        for plane_first in [true, false] {
            let mut rig = match plane_first {
                true => Rig::new(&[(ground.clone(), Pose::default()), plate.clone()]),
                false => Rig::new(std::slice::from_ref(&plate)).fixed("ground", ground.clone()),
            };
            let body = usize::from(plane_first);
            rig.state.velocities[6 * body + 2] = -5.0;
            let mut gaps: Vec<f64> = rig.contacts(0.01).iter().map(|c| c.gap).collect();
            gaps.sort_by(f64::total_cmp);
            assert_eq!(gaps.len(), 4, "{degrees} {plane_first}");
            for (gap, height) in gaps.iter().zip(&heights) {
                assert!((gap - height).abs() < 1e-12, "{degrees}: {gaps:?}, {heights:?}");
            }
        }
    }
}
