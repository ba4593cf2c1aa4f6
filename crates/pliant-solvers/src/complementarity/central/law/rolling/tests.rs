//! The values of the barrier against its definition, differences and the friction cone.

use super::*;
use crate::complementarity::central::law::friction;

/// The definition itself: inside, the gradient of the barrier, and the variable; from a large `tau`
/// to one beyond rounding, stuck, slipping, open and in between.
#[test]
fn values_are_those_of_the_barrier() {
    let sides = [1.0, -1.0, 0.3, -0.02, 1e-9, 0.0, -1e6];
    let arms = [
        (0.5, 0.02, 0.01),
        (0.3, 0.0, 0.2),
        (0.0, 1e-3, 0.0),
        (2.0, 3.0, 1e-6),
    ];
    for (mu, torsion, roll) in arms {
        let cone = Cone::Rolling {
            mu,
            torsion,
            rolling: roll,
        };
        let first = (mu * mu + torsion * torsion + roll * roll).sqrt();
        for tau in [1e2, 1.0, 1e-6, 1e-15, 1e-22] {
            for (k, z0) in sides.into_iter().enumerate() {
                for side in [0.0, 1e-7, 0.02, 0.7, 30.0] {
                    let s = 3.0 + k as f64;
                    let z = [z0, 0.6 * side, -0.8 * side, 0.1 * side, 0.0, -0.3 * side];
                    let found = rolling(&cone, s, tau, &z).unwrap();
                    let r = found.x[0] / first;
                    let mut v = 0.0;
                    for (mu, rows) in cone.discs().into_iter().filter(|(mu, _)| *mu > 0.0) {
                        let part = length(&found.x[rows.clone()]);
                        assert!(part <= mu * r * (1.0 + 1e-15), "{cone:?} {tau:e} {z:?}");
                        // `|v_i| = tau |r_i|/D` and `tau = (v_n + mu |v_i|)(r_n - |r_i|/mu)` for
                        // `v_n = tau mu^2 r_n/D`, without the difference.
                        let slip = s * length(&found.y[rows.clone()]);
                        let normal = if part > 0.0 {
                            mu * mu * r * slip / part
                        } else {
                            tau / r
                        };
                        v += normal;
                        let product = normal * r - slip * part;
                        let lost = 1e-14 * normal * r;
                        assert!(
                            (product - tau).abs() <= 1e-12 * tau + lost,
                            "{cone:?} {tau:e} {z:?}"
                        );
                        for i in rows {
                            // The variable, and that velocities are against impulses.
                            let miss = found.x[i] - found.y[i] - z[i];
                            assert!(miss.abs() <= 1e-15 * z[i].abs());
                            assert!(found.x[i] * found.y[i] <= 0.0);
                        }
                    }
                    let miss = found.x[0] - found.y[0] - z[0];
                    let size = found.x[0] + found.y[0];
                    assert!(miss.abs() <= 1e-13 * size, "{cone:?} {tau:e} {z:?} {miss:e}");
                    let normal = s * first * found.y[0];
                    assert!(
                        (v - normal).abs() <= 1e-12 * normal,
                        "{cone:?} {tau:e} {z:?} {v:e} {normal:e}"
                    );
                }
            }
        }
    }
}

/// With one disc it is the cone of Jordan algebra, derivatives and all.
#[test]
fn one_disc_is_the_friction_cone() {
    let cone = Cone::Rolling {
        mu: 0.4,
        torsion: 0.0,
        rolling: 0.0,
    };
    for tau in [1.0, 1e-5, 1e-12] {
        for z in [
            [0.3, -0.2, 0.5],
            [-1.0, 0.1, 0.3],
            [0.9, 0.0, 0.0],
            [0.5, 0.3, 0.4],
        ] {
            let plain = friction(0.4, 2.0, tau, &z);
            let wide = [z[0], z[1], z[2], 0.1, -0.2, 0.3];
            let found = rolling(&cone, 2.0, tau, &wide).unwrap();
            let near = |a: f64, b: f64, scale: f64| {
                assert!((a - b).abs() <= 1e-9 * scale, "{tau:e} {z:?} {a:e} {b:e}");
            };
            let largest = |x: &[f64; ROWS]| x.iter().take(3).fold(0.0f64, |a, x| a.max(x.abs()));
            for i in 0..3 {
                near(found.x[i], plain.x[i], largest(&plain.x));
                near(found.y[i], plain.y[i], largest(&plain.y));
                near(found.rate[i], plain.rate[i], largest(&plain.rate));
                for l in 0..3 {
                    near(found.p[i][l], plain.p[i][l], plain.p[0][0]);
                    near(found.o[i][l], plain.o[i][l], plain.o[0][0]);
                }
            }
            assert_eq!((found.x[4], found.y[4]), (0.0, 0.2));
        }
    }
}
