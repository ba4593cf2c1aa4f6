//! Derivatives around one obstacle against hyper-dual numbers.

use super::*;

fn acos_share(r: f64, s: Dual) -> Dual {
    (Dual::from(r) / s).acos()
}

/// The length around an obstacle, written apart from the library's: by angles of arc cosines.
pub(super) fn formula(obstacle: &Obstacle, x: &[Dual], p: &[Dual], q: &[Dual], first: &[usize]) -> Dual {
    let (origin, axes) = frame_at(x, &obstacle.frame, first);
    let back = conjugate(&axes);
    let [p, q] = [p, q].map(|point| rotate(&back, &sub(point, &origin)));
    let d = sub(&q, &p);
    let line = dot(&d, &d).sqrt();
    match obstacle.surface {
        WrapSurface::Sphere { radius } => {
            let (s, t) = (dot(&p, &p).sqrt(), dot(&q, &q).sqrt());
            let between = (dot(&p, &q) / (s * t)).acos();
            let arc = between - acos_share(radius, s) - acos_share(radius, t);
            if arc.re <= 0.0 {
                return line;
            }
            (s * s - radius * radius).sqrt() + (t * t - radius * radius).sqrt() + arc * radius
        }
        WrapSurface::Cylinder { radius, side } => {
            let square = |v: &[Dual]| v[0] * v[0] + v[1] * v[1];
            let (s, t) = (square(&p).sqrt(), square(&q).sqrt());
            let between = match side {
                WrapSide::Shortest => ((p[0] * q[0] + p[1] * q[1]) / (s * t)).acos(),
                WrapSide::Over([a, b, _]) => {
                    let seen = |v: &[Dual; 3]| angle_of(v[1] * a - v[0] * b, v[0] * a + v[1] * b);
                    let turn = seen(&q) - seen(&p);
                    if turn.re < 0.0 { -turn } else { turn }
                }
                _ => unreachable!(),
            };
            let arc = between - acos_share(radius, s) - acos_share(radius, t);
            if arc.re <= 0.0 {
                return line;
            }
            let flat = (s * s - radius * radius).sqrt() + (t * t - radius * radius).sqrt() + arc * radius;
            (flat * flat + d[2] * d[2]).sqrt()
        }
        WrapSurface::Ellipsoid { .. } => unreachable!(),
    }
}

fn angle_of(y: Dual, x: Dual) -> Dual {
    angle(y, x)
}

#[test]
fn derivatives_around_one_obstacle_are_exact() {
    let parents = [(POINTS, 2), (RIGID, 2)];
    let over = WrapSide::Over([0.6, -0.8, 3.0]);
    let surfaces = [
        sphere(0.7),
        cylinder(0.4, WrapSide::Shortest),
        cylinder(0.5, over),
    ];
    let mut wrapped = [0; 3];
    for (kind, surface) in surfaces.into_iter().enumerate() {
        for seed in 1..60 {
            let offsets = poses(seed + 900, 1);
            let body = poses(seed, 2);
            let obstacle = Obstacle {
                frame: JointFrame::on(1, 1, offsets[0]),
                surface,
            };
            let ends = [End::element(0, 1), End::element(0, 0)];
            let rope = WrappedRope::new(&[WrappedPath::through(&ends, 0.3).around(0, obstacle)]);
            // Ends on both sides of the obstacle, at most some of its radii away.
            let at = obstacle.frame.at(&body[1]);
            let n = numbers(seed + 77, 6);
            let mut x: Vec<f64> = n.iter().map(|n| 0.8 * n).collect();
            x[0] += 1.6;
            x[3] -= 1.7;
            let x: Vec<f64> = x
                .chunks_exact(3)
                .flat_map(|x| {
                    let local = Vec3::new(x[0], x[1], x[2]);
                    let world = Vec3::from(at.position) + rotation::rotate(at.rotation, local);
                    [world.x, world.y, world.z]
                })
                .chain(flat(&body))
                .collect();
            let length = |x: &[Dual]| vec![formula(&obstacle, x, &x[3..6], &x[..3], &[0, 6]) - 0.3];
            if evaluated(&rope, &parents, &x).is_err() {
                // An end behind the cylinder.
                continue;
            }
            exact(&rope, &parents, &x, seed, length);
            checked(&rope, &parents, &x, seed);
            let (_, row) = evaluated(&rope, &parents, &x).unwrap();
            wrapped[kind] += usize::from(row[6..].iter().any(|u| u.abs() > 0.0));
        }
    }
    // Enough of each touch their obstacle, and enough pass it.
    assert!(wrapped.iter().all(|n| (15..55).contains(n)), "{wrapped:?}");
}
