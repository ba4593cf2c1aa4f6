//! Redundant hard constraints: unique motion, shared forces. Stabilisation.

use pliant::prelude::*;

/// A body hung from the same point twice: each joint carries half.
#[test]
fn a_duplicated_joint_shares_its_load() {
    let run = |copies: usize| {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let body = model
            .add_rigid_bodies("body", &[Pose::at([0.5, 0.0, 0.0])])
            .unwrap();
        model
            .add_mass(
                "m",
                body,
                Mass::Rigid(vec![RigidMass::cuboid(2.0, [1.0, 0.1, 0.1])]),
            )
            .unwrap();
        let point = model
            .add_mapped("point", &[body], RigidPoints::new(&[(0, [-0.5, 0.0, 0.0])]))
            .unwrap();
        for k in 0..copies {
            model
                .add_constraint(&format!("joint {k}"), point, Level::Position)
                .unwrap();
        }
        let mut s = crate::tools::theta(model).unwrap();
        let mut report = s.step(0.01).unwrap();
        for _ in 0..30 {
            report = s.step(0.01).unwrap();
        }
        (s.positions(body).to_vec(), s.multipliers().to_vec(), report)
    };
    let (x, one, report) = run(1);
    assert_eq!(report.solve.redundant_rows, 0);
    let (y, two, report) = run(2);
    assert_eq!((report.solve.redundant_rows, report.solve.inertia), (3, (6, 3)));
    for (a, b) in x.iter().zip(&y) {
        assert!((a - b).abs() < 1e-11);
    }
    for k in 0..3 {
        assert!(
            (two[k] - 0.5 * one[k]).abs() < 1e-9 && (two[3 + k] - two[k]).abs() < 1e-10,
            "{one:?} {two:?}"
        );
    }
}

/// A square of four hard rods and both diagonals in space, four particles: statically indeterminate
/// in its plane.
#[test]
fn an_overbraced_square_is_solved() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [0.0, -1.0, 0.0],
    ];
    let p = model.add_particles("corners", &corners).unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    model.fix(p, 0, &[true; 3]).unwrap();
    model.fix(p, 1, &[true; 3]).unwrap();
    let pairs = [(1, 2), (2, 3), (3, 0), (0, 2), (1, 3)];
    let d = std::f64::consts::SQRT_2;
    let lengths = Distance::between(&pairs).with_rest_lengths(&[1.0, 1.0, 1.0, d, d]);
    let rods = model.add_mapped("rods", &[p], lengths).unwrap();
    let hard = model.add_constraint("rods", rods, Level::Position).unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    let report = s.step(0.01).unwrap();
    assert_eq!(report.solve.redundant_rows, 1);
    // Least-norm forces by symmetry and equilibrium of the two free corners: unknown s (sides), b
    // (bottom), g (diagonals) with s + g/sqrt2 = -9.81 (vertical, tension negative) and b +
    // g/sqrt2 = 0 (horizontal), minimising 2 s^2 + b^2 + 2 g^2.
    let g = -9.81 * d / (1.5 + 2.0);
    let (side, bottom) = (-9.81 - g / d, -g / d);
    let l = s.reaction(hard);
    for (found, expected) in l.iter().zip([side, bottom, side, g, g]) {
        assert!(
            (found - expected).abs() < 1e-9,
            "{l:?} against {side} {bottom} {g}"
        );
    }
}

/// Position corrections converge quadratically and reach the constraint from far off
/// (theory/step.md of the book).
#[test]
fn stabilisation_reaches_the_constraints() {
    for metric in [Metric::Mass, Metric::Response, Metric::Elastic] {
        for pre in [true, false] {
            let mut model = Model::new();
            let p = model
                .add_particles("p", &[[1.1, 0.2, 0.0], [2.3, -0.1, 0.3]])
                .unwrap();
            model.add_mass("m", p, Mass::PerElement(vec![1.0, 2.0])).unwrap();
            let pairs = [
                (End::element(0, 0), End::Point([0.0; 3])),
                (End::element(0, 1), End::element(0, 0)),
            ];
            let rods = model
                .add_mapped("rods", &[p], Distance::new(&pairs).with_rest_lengths(&[1.0]))
                .unwrap();
            model.add_constraint("rods", rods, Level::Position).unwrap();
            let how = Some(Stabilisation {
                metric,
                ..Stabilisation::default()
            });
            let mut options = Options::theta();
            if pre {
                options.pre_stabilisation = how;
            } else {
                options.post_stabilisation = how;
            }
            let mut s = Simulation::with_options(model, options).unwrap();
            let report = s.step(0.01).unwrap();
            let used = report.solve.corrections.0 + report.solve.corrections.1;
            assert!(
                report.violation < 1e-12 && (3..8).contains(&used),
                "{metric:?} {pre}: {report:?}"
            );
            // Velocities are left alone: at rest, without forces, it stays at rest.
            assert!(s.velocities(p).iter().all(|v| v.abs() < 1e-12));
        }
    }
}

/// Rounding of redundant rows at rest is not a contradiction.
#[test]
fn a_redundant_frame_at_rest_stays_at_rest() {
    let mut model = Model::new();
    // Coordinates of a few kilometres: lengths carry a rounding of 1e-12 m.
    let corners = [
        [3000.1, 0.3, 7.0],
        [3001.3, 0.1, 7.2],
        [3000.7, 1.2, 6.7],
        [3000.9, 0.4, 8.1],
        [3000.2, -0.9, 7.7],
    ];
    let p = model.add_particles("corners", &corners).unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let all: Vec<(usize, usize)> = (0..5).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let length = |(i, j): (usize, usize)| {
        (0..3)
            .map(|k| (corners[i][k] - corners[j][k]).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let rests: Vec<f64> = all.iter().map(|pair| length(*pair)).collect();
    let rods = model
        .add_mapped("rods", &[p], Distance::between(&all).with_rest_lengths(&rests))
        .unwrap();
    model.add_constraint("rods", rods, Level::Position).unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..20 {
        // Ten rods, nine rigid-body-free coordinates.
        assert_eq!(s.step(0.001).unwrap().solve.redundant_rows, 1);
    }
    assert!(s.velocities(p).iter().all(|v| v.abs() < 1e-8));
}

/// A hinge made of two ball joints on its axis: six rows of rank five. A slender rod of 1 m and 2
/// kg let go from the horizontal, against elliptic functions (reference case C04: centre of mass
/// after 0.5 s, first-order error 0.0128 at h = 0.01).
#[test]
fn a_hinge_of_two_ball_joints_swings_a_rod() {
    let mut errors = Vec::new();
    for h in [0.01, 0.005] {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let rod = model
            .add_rigid_bodies("rod", &[Pose::at([0.5, 0.0, 0.0])])
            .unwrap();
        let inertia = RigidMass::principal(2.0, [1e-3, 2.0 / 12.0, 2.0 / 12.0]);
        model.add_mass("m", rod, Mass::Rigid(vec![inertia])).unwrap();
        let ends = [(0, [-0.5, 0.0, 0.1]), (0, [-0.5, 0.0, -0.1])];
        let points = model
            .add_mapped("points", &[rod], RigidPoints::new(&ends))
            .unwrap();
        let pairs = [
            (End::element(0, 0), End::Point([0.0, 0.0, 0.1])),
            (End::element(0, 1), End::Point([0.0, 0.0, -0.1])),
        ];
        let gaps = model
            .add_mapped("gaps", &[points], Difference::new(&pairs))
            .unwrap();
        model.add_constraint("hinge", gaps, Level::Position).unwrap();
        let geometry = GeometricTerms {
            forces: GeometricStiffness::Full,
            multipliers: GeometricStiffness::None,
        };
        let mut s = Simulation::with_options(
            model,
            Options {
                geometry,
                ..Options::theta()
            },
        )
        .unwrap();
        for _ in 0..(0.5f64 / h).round() as usize {
            let report = s.step(h).unwrap();
            assert_eq!((report.solve.redundant_rows, report.solve.inertia), (1, (6, 5)));
        }
        let x = s.positions(rod);
        errors.push((x[0] + 0.04511460428684).hypot(x[1] + 0.4979605129727));
        // It stays in its plane.
        assert!(x[2].abs() < 1e-12);
    }
    assert!(
        errors[0] < 1.5 * 0.0128 && ((errors[0] / errors[1]).log2() - 1.0).abs() < 0.15,
        "{errors:?}"
    );
}
