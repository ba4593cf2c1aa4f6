//! Ropes around ellipsoids: spheres, derivatives, geodesics of an independent program.

use super::*;

/// Places on both sides of an obstacle at the origin, near the line through it.
fn both_sides(seed: u64, reach: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    let n = numbers(seed, 6);
    let at = |side: f64, n: &[f64]| {
        [
            side * reach[0] * (1.6 + 0.4 * n[0]),
            0.9 * reach[1] * n[1],
            0.9 * reach[2] * n[2],
        ]
    };
    (at(-1.0, &n[..3]), at(1.0, &n[3..]))
}

#[test]
fn of_equal_axes_they_are_spheres() {
    let mut wrapped = 0;
    for seed in 1..200 {
        let (p, q) = both_sides(seed, [1.0; 3]);
        let (length, row) = around(sphere(0.7), p, q).unwrap();
        let (other, others) = around(ellipsoid([0.7; 3]), p, q).unwrap();
        close(other, length, ROUNDING);
        for (found, wanted) in others.iter().zip(&row) {
            // The sine of a small angle between the ends is what is left of their products.
            close(*found, *wanted, 5.0 * ROUNDING);
        }
        wrapped += usize::from(row.iter().any(|u| *u != 0.0));
    }
    assert!((100..199).contains(&wrapped), "{wrapped}");
}

/// Second derivatives as well, against hyper-dual numbers of the length around a sphere.
#[test]
fn of_equal_axes_they_have_the_derivatives_of_spheres() {
    let parents = [(POINTS, 2), (RIGID, 1)];
    for seed in 1..60 {
        let body = poses(seed, 1);
        let on = |surface| Obstacle {
            frame: JointFrame::on(1, 0, poses(seed + 900, 1)[0]),
            surface,
        };
        let x = in_world(&on(sphere(0.7)), &body, both_sides(seed, [1.0; 3]));
        let ends = [End::element(0, 0), End::element(0, 1)];
        let rope = WrappedRope::new(&[WrappedPath::through(&ends, 0.3).around(0, on(ellipsoid([0.7; 3])))]);
        let length =
            |x: &[Dual]| vec![derivatives::formula(&on(sphere(0.7)), x, &x[..3], &x[3..6], &[0, 6]) - 0.3];
        exact(&rope, &parents, &x, seed, length);
    }
}

/// Two points in the axes of an obstacle on a body, in the world, and the body.
fn in_world(obstacle: &Obstacle, body: &[Pose], (p, q): ([f64; 3], [f64; 3])) -> Vec<f64> {
    let pose = obstacle.frame.at(&body[0]);
    let world = |x: [f64; 3]| {
        let x = Vec3::from(pose.position) + rotation::rotate(pose.rotation, x.into());
        [x.x, x.y, x.z]
    };
    [p, q].into_iter().flat_map(world).chain(flat(body)).collect()
}

/// Lengths and directions of `benches/reference/ellipsoid.py`, which integrates in other coordinates
/// with another method, and looks for the shortest way in another one.
#[test]
fn ways_are_those_of_an_independent_program() {
    let table = include_str!("../../../../../benches/reference/ellipsoid.txt");
    let mut worst = [0.0f64; 2];
    let mut count = 0;
    for line in table.lines() {
        let numbers: Vec<f64> = line
            .split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect();
        let three = |k: usize| [numbers[k], numbers[k + 1], numbers[k + 2]];
        let obstacle = fixed(ellipsoid(three(0)), Pose::default());
        let path = WrappedPath::through(&[End::Point(three(3)), End::element(0, 0)], 0.0).around(0, obstacle);
        let (length, row) = evaluated(&WrappedRope::new(&[path]), &[(POINTS, 1)], &three(6)).unwrap();
        worst[0] = worst[0].max((length - numbers[9]).abs());
        for (found, wanted) in row.iter().zip(&numbers[10..]) {
            worst[1] = worst[1].max((found - wanted).abs());
        }
        count += 1;
    }
    assert_eq!(count, 32);
    // The table has 14 digits behind the point of lengths and 13 of directions; the other program
    // integrates with relative errors of 1e-13 per step.
    assert!(worst[0] < 1e-13 && worst[1] < 1e-12, "{worst:?}");
}

/// The derivatives over both ends and the body that carries the ellipsoid, against differences.
#[test]
fn derivatives_are_those_of_differences() {
    let parents = [(POINTS, 2), (RIGID, 1)];
    let mut wrapped = 0;
    for seed in 1..80 {
        let axes = [[0.9, 0.7, 0.5], [0.5, 0.8, 0.6], [1.5, 0.3, 0.4], [0.3, 0.9, 0.8]][seed as usize % 4];
        let body = poses(seed, 1);
        let obstacle = Obstacle {
            frame: JointFrame::on(1, 0, poses(seed + 900, 1)[0]),
            surface: ellipsoid(axes),
        };
        let x = in_world(&obstacle, &body, both_sides(seed + 300, axes));
        let ends = [End::element(0, 0), End::element(0, 1)];
        let rope = WrappedRope::new(&[WrappedPath::through(&ends, 0.1).around(0, obstacle)]);
        checked(&rope, &parents, &x, seed);
        let (_, row) = evaluated(&rope, &parents, &x).unwrap();
        wrapped += usize::from(row[6..].iter().any(|u| u.abs() > 0.0));
    }
    assert!((50..79).contains(&wrapped), "{wrapped}");
}

/// Between a cylinder and a sphere, with the points between them where the rope is straight.
#[test]
fn they_follow_other_obstacles() {
    let parents = [(POINTS, 2), (RIGID, 1)];
    let over = WrapSide::Over([0.0, 1.0, 0.0]);
    let mut touched = 0;
    for seed in 1..40 {
        let n = numbers(seed, 12);
        let on = JointFrame::on(1, 0, Pose::turned([0.0, 0.1, 0.0], [0.3, 1.0, 0.2], 0.4));
        let path = WrappedPath::through(&[End::element(0, 0), End::element(0, 1)], 0.0)
            .around(0, fixed(cylinder(0.5, over), Pose::at([-2.0, -0.1, 0.0])))
            .around(
                0,
                Obstacle {
                    frame: on,
                    surface: ellipsoid([0.8, 0.5, 0.6]),
                },
            )
            .around(0, fixed(sphere(0.5), Pose::at([2.0, -0.2, 0.1])));
        let rope = WrappedRope::new(&[path]);
        let mut x = vec![-3.5, -0.5, 0.0, 3.5, -0.4, 0.2];
        for (x, n) in x.iter_mut().zip(&n) {
            *x += 0.3 * n;
        }
        x.extend(flat(&[Pose::turned(
            [0.1 * n[6], 0.1 * n[7], 0.1 * n[8]],
            [n[9], n[10], 1.0],
            0.2 * n[11],
        )]));
        checked(&rope, &parents, &x, seed);
        let (length, row) = evaluated(&rope, &parents, &x).unwrap();
        let straight = (Vec3::new(x[0], x[1], x[2]) - Vec3::new(x[3], x[4], x[5])).norm();
        assert!(length > straight, "{length} {straight}");
        touched += usize::from(row[6..].iter().any(|u| u.abs() > 0.0));
    }
    assert!(touched > 30, "{touched}");
}

/// From flat ones to long ones, by a factor of a hundred: the rope has a length, or an error that says
/// why; where a way is short of another it is the one.
#[test]
fn flat_and_long_ones_have_a_length_or_an_error() {
    let mut errors = Vec::new();
    for seed in 1..400 {
        let n = numbers(seed, 9);
        let axes = [n[6], n[7], n[8]].map(|n| 10f64.powf(n));
        let (p, q) = both_sides(seed + 50, axes);
        let straight = (Vec3::from(p) - Vec3::from(q)).norm();
        match around(ellipsoid(axes), p, q) {
            Ok((length, row)) => {
                assert!(length >= straight * (1.0 - 1e-14), "{seed} {length} {straight}");
                // From the other end it is the same.
                let (back, _) = around(ellipsoid(axes), q, p).unwrap();
                assert!(
                    (back - length).abs() < 1e-12 * length,
                    "{axes:?} {p:?} {q:?} {length} {back}"
                );
                assert!(row.iter().all(|u| u.is_finite()));
            }
            Err(error) => errors.push(format!("{seed} {axes:?} {error}")),
        }
    }
    // Those with an error are flat, with ways around their edge that are hardly shorter than others.
    assert!(errors.len() <= 8, "{errors:#?}");
    assert!(
        errors.iter().all(|text| text.contains("was not found")),
        "{errors:#?}"
    );
}

#[test]
fn ropes_that_have_no_shortest_way_are_errors() {
    let says = |found: Result<(f64, Vec<f64>), ModelError>, words: &str| {
        let text = found.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    let (left, right) = ([-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]);
    // Along the axis of a body of revolution all ways are alike; through the middle of one with
    // three axes two are, over its thin side.
    says(around(ellipsoid([0.8, 0.5, 0.5]), left, right), "was not found");
    says(around(ellipsoid([0.8, 0.6, 0.5]), left, right), "as short");
    // Beside the middle one of them is shorter, and the other has the same length on the other side.
    let aside = |z: f64| around(ellipsoid([0.8, 0.6, 0.5]), [-2.0, 0.0, z], [2.0, 0.0, z]).unwrap();
    let ((above, up), (below, down)) = (aside(0.01), aside(-0.01));
    close(above, below, ROUNDING);
    close(up[2], -down[2], 10.0 * ROUNDING);
    says(
        around(ellipsoid([0.8, 0.6, 0.5]), [0.1, 0.2, 0.3], right),
        "an end of a stretch of the rope is not outside of an ellipsoid that it goes around, between its points 0 and 1, which are",
    );
    says(
        around(ellipsoid([0.8, 0.6, 0.5]), [f64::MAX; 3], right),
        "is not outside of an ellipsoid",
    );
    says(around(ellipsoid([0.8, 0.6, 0.5]), left, left), "are the same");
    for axes in [[0.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, 1e-4]] {
        let text = around(ellipsoid(axes), left, right).unwrap_err().to_string();
        assert!(text.contains("the semi-axes of an obstacle"), "{text}");
    }
    assert!(matches!(
        around(ellipsoid([1.0, f64::NAN, 1.0]), left, right),
        Err(ModelError::NotFinite { .. })
    ));
}
