//! Inverse kinematics from markers, against closed forms of the nearest rotation.

use crate::four_bars::row_of_loops;
use pliant::dense::{Mat3, Vec3, rotation};
use pliant::prelude::*;

fn marker(name: &str, (node, element): (NodeId, usize), point: [f64; 3], weight: f64) -> Marker {
    Marker {
        name: name.to_owned(),
        node,
        element,
        point,
        weight,
    }
}

fn body(model: &mut Model, at: [f64; 3]) -> NodeId {
    let node = model.add_rigid_bodies("body", &[Pose::at(at)]).unwrap();
    let mass = RigidMass::principal(2.0, [0.1, 0.2, 0.3]);
    model.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    node
}

/// Deviations of a centimetre, without a pattern.
fn noise(k: usize) -> Vec3 {
    let part = |j: usize| 0.01 * (1.7 + 12.9 * (3 * k + j) as f64).sin();
    Vec3::new(part(0), part(1), part(2))
}

const POINTS: [[f64; 3]; 5] = [
    [0.3, 0.1, -0.2],
    [-0.2, 0.4, 0.1],
    [0.1, -0.3, 0.3],
    [0.25, 0.2, 0.35],
    [-0.3, -0.1, -0.1],
];
const WEIGHTS: [f64; 5] = [1.0, 3.0, 0.5, 2.0, 1.5];

/// A free body from any place and by any turn, once with a marker that is not seen: centroid on
/// centroid, and the rotation of Kabsch (1976) by singular values. Positions are those of a minimum,
/// whose forces vanish to 1e-10 of their terms: 1e-9 m.
#[test]
fn a_free_body_has_the_rotation_of_kabsch() {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let node = body(&mut model, [0.0; 3]);
    let markers = (0..5).map(|k| marker(&format!("m{k}"), (node, 0), POINTS[k], WEIGHTS[k]));
    let mut kinematics = InverseKinematics::new(model, markers.collect()).unwrap();
    for (turn, way, missing) in [
        ([0.3, -0.2, 0.5], [0.2, 0.1, -0.3], None),
        ([1.1, 1.4, -0.9], [2.0, 0.0, 1.0], Some(1)),
        ([-0.4, 0.2, 2.2], [0.0, 0.0, 0.0], None),
    ] {
        let weight = |k: usize| if missing == Some(k) { 0.0 } else { WEIGHTS[k] };
        let q = rotation::exp(Vec3::from(turn));
        let seen: Vec<Vec3> = (0..5)
            .map(|k| Vec3::from(way) + rotation::rotate(q, POINTS[k].into()) + noise(k))
            .collect();
        let total: f64 = (0..5).map(weight).sum();
        let mean = |at: &dyn Fn(usize) -> Vec3| (0..5).map(|k| at(k) * weight(k)).sum::<Vec3>() / total;
        let [own, other] = [mean(&|k| POINTS[k].into()), mean(&|k| seen[k])];
        let covariance: Mat3 = (0..5)
            .map(|k| weight(k) * (seen[k] - other) * (Vec3::from(POINTS[k]) - own).transpose())
            .sum();
        let svd = covariance.svd(true, true);
        let (u, v) = (svd.u.unwrap(), svd.v_t.unwrap());
        let sign = (u * v).determinant().signum();
        let expected = u * Mat3::from_diagonal(&Vec3::new(1.0, 1.0, sign)) * v;
        let place_of = |k: usize| (missing != Some(k)).then(|| seen[k].into());
        let places: Vec<_> = (0..5).map(place_of).collect();
        let fit = kinematics.fit(&places).unwrap();
        let at = kinematics.simulation().positions(node);
        let found = rotation::matrix([at[3], at[4], at[5], at[6]]);
        assert!((found - expected).norm() < 1e-9, "{found} {expected}");
        let place = other - expected * own;
        assert!((Vec3::new(at[0], at[1], at[2]) - place).norm() < 1e-9);
        let (mut square, mut count) = (0.0, 0.0);
        for k in (0..5).filter(|k| missing != Some(*k)) {
            let away = (place + expected * Vec3::from(POINTS[k]) - seen[k]).norm();
            assert!((fit.distances[k].unwrap() - away).abs() < 1e-9);
            square += away * away;
            count += 1.0;
        }
        assert!((fit.root_mean_square - (square / count).sqrt()).abs() < 1e-9);
        assert_eq!(fit.largest.0, fit.distances[fit.largest.1].unwrap());
        assert_eq!(fit.undetermined, 0);
    }
}

/// A rod on a hinge has the angle `atan2(sum w (r x m)_z, sum w r.m)`, whatever springs, loads and
/// gravity the model has. A marker that is not seen has no part in it.
#[test]
fn a_hinge_has_the_angle_of_its_closed_form() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let node = body(&mut model, [0.0; 3]);
    let hinge = Joint::hinge(Side::World, Side::Body(node, 0));
    let hinge = model.add_joint("hinge", &hinge).unwrap();
    let angle = hinge.coordinates[0];
    model
        .add_force_field(
            "spring",
            angle,
            UniformCompliance::new(0.1),
            Treatment::Compliance,
        )
        .unwrap();
    let markers = (0..5).map(|k| marker(&format!("m{k}"), (node, 0), POINTS[k], WEIGHTS[k]));
    let mut kinematics = InverseKinematics::new(model, markers.collect()).unwrap();
    for (turn, missing) in [(0.4, None), (1.3, Some(2)), (2.9, Some(0)), (3.6, None)] {
        let q = rotation::exp(Vec3::new(0.0, 0.0, turn));
        let seen = |k: usize| rotation::rotate(q, POINTS[k].into()) + noise(k);
        let used = (0..5).filter(|k| missing != Some(*k));
        let (mut sine, mut cosine) = (0.0, 0.0);
        for k in used {
            let (r, m) = (POINTS[k], seen(k));
            sine += WEIGHTS[k] * (r[0] * m[1] - r[1] * m[0]);
            cosine += WEIGHTS[k] * (r[0] * m[0] + r[1] * m[1]);
        }
        let places: Vec<_> = (0..5)
            .map(|k| (missing != Some(k)).then(|| seen(k).into()))
            .collect();
        let fit = kinematics.fit(&places).unwrap();
        let found = kinematics.simulation().positions(angle)[0];
        let away = (found - sine.atan2(cosine)).rem_euclid(std::f64::consts::TAU);
        assert!(away.min(std::f64::consts::TAU - away) < 1e-9, "{turn}: {found}");
        assert_eq!(
            fit.distances.iter().filter(|d| d.is_none()).count(),
            usize::from(missing.is_some())
        );
    }
}

/// A parallelogram of hinges in space, whose loop has three rows too many: from the place of one
/// marker on its coupler, which goes round on a circle, all angles.
#[test]
fn a_loop_follows_one_marker() {
    let model = row_of_loops(1);
    let coupler = model.node_named("couplers").unwrap();
    let angles = [0, 1].map(|i| model.node_named(&format!("foot {i}.angle")).unwrap());
    let markers = vec![marker("middle", (coupler, 0), [0.0; 3], 1.0)];
    let mut kinematics = InverseKinematics::new(model, markers).unwrap();
    for k in 1..=14 {
        let turn = 0.1 * f64::from(k);
        let fit = kinematics
            .fit(&[Some([0.5 - turn.sin(), turn.cos(), 0.0])])
            .unwrap();
        for node in angles {
            let found = kinematics.simulation().positions(node)[0];
            assert!((found - turn).abs() < 1e-9, "{found} {turn}");
        }
        assert!(fit.largest.0 < 1e-9 && fit.report.violation < 1e-9, "{fit:?}");
        assert!(fit.report.redundant_rows >= 3);
    }
}

/// One marker leaves a free body to turn about it: three directions, which do not move.
#[test]
fn directions_without_a_marker_stay() {
    let mut model = Model::new();
    let node = body(&mut model, [0.5, 0.0, 0.0]);
    let markers = vec![marker("m", (node, 0), [0.0; 3], 2.0)];
    let mut kinematics = InverseKinematics::new(model, markers).unwrap();
    let fit = kinematics.fit(&[Some([1.0, 2.0, 3.0])]).unwrap();
    assert_eq!(fit.undetermined, 3);
    let at = kinematics.simulation().positions(node);
    let expected = [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0];
    assert!(
        at.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9),
        "{at:?}"
    );
    assert_eq!(kinematics.place(0), Some([at[0], at[1], at[2]]));
    assert_eq!(kinematics.place(1), None);
}

#[test]
fn wrong_markers_are_errors() {
    let build = |element: usize, weight: f64| {
        let mut model = Model::new();
        let node = body(&mut model, [0.0; 3]);
        InverseKinematics::new(model, vec![marker("heel", (node, element), [0.0; 3], weight)])
    };
    let text = |result: Result<InverseKinematics, Error>| result.err().map(|e| e.to_string()).unwrap();
    assert!(
        text(build(0, 0.0)).contains("weight of a marker"),
        "{}",
        text(build(0, 0.0))
    );
    assert!(text(build(0, f64::NAN)).contains("weight of a marker"));
    assert!(text(build(3, 1.0)).contains("heel"), "{}", text(build(3, 1.0)));
    let mut kinematics = build(0, 1.0).unwrap();
    assert!(
        kinematics
            .fit(&[])
            .unwrap_err()
            .to_string()
            .contains("needs 1 places")
    );
    assert!(kinematics.fit(&[None]).unwrap_err().to_string().contains("seen"));
    let nan = kinematics
        .fit(&[Some([f64::NAN, 0.0, 0.0])])
        .unwrap_err()
        .to_string();
    assert!(nan.contains("heel"), "{nan}");
}
