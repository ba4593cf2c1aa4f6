//! Ropes against strings of many points, made as short as they go.

use super::*;

/// The length of a string of many points, each moved to the middle of its neighbours and out of the
/// obstacles, over and over, the points doubled as it settles.
fn string_length(start: &[Vec3], obstacles: &[(Pose, WrapSurface)]) -> f64 {
    // So many to begin with that none goes through an obstacle.
    let part = |pair: &[Vec3]| {
        [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map(|s| pair[0] + (pair[1] - pair[0]) * s)
    };
    let mut points: Vec<Vec3> = start.windows(2).flat_map(part).collect();
    points.push(start[start.len() - 1]);
    let push = |x: &mut Vec3| {
        for (pose, surface) in obstacles {
            let back = rotation::conjugate(pose.rotation);
            let local = rotation::rotate(back, *x - Vec3::from(pose.position));
            let (out, radius) = match surface {
                WrapSurface::Sphere { radius } => (local, *radius),
                WrapSurface::Cylinder { radius, .. } => (Vec3::new(local.x, local.y, 0.0), *radius),
                WrapSurface::Ellipsoid { .. } => unreachable!(),
            };
            if out.norm() < radius {
                *x += rotation::rotate(pose.rotation, out * (radius / out.norm() - 1.0));
            }
        }
    };
    for _ in 0..3 {
        let doubled = points
            .windows(2)
            .flat_map(|pair| [pair[0], (pair[0] + pair[1]) * 0.5]);
        let mut finer: Vec<_> = doubled.collect();
        finer.push(points[points.len() - 1]);
        points = finer;
        for _ in 0..2 * points.len() * points.len() {
            for k in 1..points.len() - 1 {
                points[k] = (points[k - 1] + points[k + 1]) * 0.5;
                push(&mut points[k]);
            }
        }
    }
    points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum()
}

#[test]
fn as_short_as_a_string_of_many_points() {
    // Chords of about 5 hundredths of the radius cut corners: an arc `a` of `n` chords is longer
    // than these by a part of (a/n)^2/24, and touches with errors of that order.
    const CHORDS: f64 = 2e-4;
    let v = Vec3::new;
    let tilted = Pose::turned([0.1, -0.2, 0.05], [0.3, 1.0, 0.2], 0.5);
    let long = Pose::turned([0.0, -0.3, 0.2], [1.0, 0.2, 0.3], 0.4);
    let up = WrapSide::Over([0.0, 1.0, 0.0]);
    let down = WrapSide::Over([0.0, -1.0, 0.0]);
    type Placed = (Pose, WrapSurface);
    let cases: [(&[Placed], Vec<Vec3>); 4] = [
        (
            &[(tilted, sphere(0.8))],
            vec![v(-1.5, 0.3, 0.2), v(0.1, 1.2, 0.3), v(1.6, 0.1, -0.4)],
        ),
        (
            &[(long, cylinder(0.6, up))],
            vec![v(-0.7, -1.2, -0.3), v(0.0, 1.5, 0.2), v(1.3, -1.0, 0.8)],
        ),
        (
            &[
                (long, cylinder(0.6, up)),
                (
                    Pose::turned([2.2, 0.4, 0.3], [0.0, 1.0, 0.0], 0.3),
                    cylinder(0.7, down),
                ),
            ],
            vec![
                v(-1.5, -0.6, -0.3),
                v(0.0, 1.2, 0.2),
                v(1.1, 0.1, 0.2),
                v(2.2, -1.2, 0.3),
                v(3.6, 0.5, 0.4),
            ],
        ),
        (
            &[
                (tilted, sphere(0.8)),
                (Pose::at([1.9, 0.9, 0.1]), sphere(0.6)),
                (Pose::at([3.6, -0.4, 0.2]), sphere(0.7)),
            ],
            vec![
                v(-1.5, 0.1, 0.2),
                v(0.1, 1.1, 0.3),
                v(1.0, 0.6, 0.3),
                v(1.9, 0.1, 0.2),
                v(2.8, 0.3, 0.2),
                v(3.6, 0.8, 0.2),
                v(5.2, -0.3, 0.1),
            ],
        ),
    ];
    for (obstacles, start) in cases {
        let ends = [End::Point(start[0].into()), End::element(0, 0)];
        let mut path = WrappedPath::through(&ends, 0.0);
        for (pose, surface) in obstacles {
            path = path.around(0, fixed(*surface, *pose));
        }
        let last: [f64; 3] = start[start.len() - 1].into();
        let (length, _) = evaluated(&WrappedRope::new(&[path]), &[(POINTS, 1)], &last).unwrap();
        let string = string_length(&start, obstacles);
        let straight = (start[0] - start[start.len() - 1]).norm();
        assert!(length > straight + 0.05, "{length} {straight}");
        assert!((length - string).abs() < CHORDS * length, "{length} {string}");
    }
}
