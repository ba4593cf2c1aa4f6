//! The laws of blocks, smoothed: impulse and velocity as functions of one variable.

mod rolling;

use crate::complementarity::Cone;
use crate::complementarity::cone::{ROWS, length};

/// Entries of the square of a block at most.
const SQUARE: usize = ROWS * ROWS;

/// Impulse and velocity of a block, and their derivatives; the first numbers count. With
/// `S = diag(mu, 1, ..)` (the identity without friction, the root of the sum of squares for `mu`
/// where there are several discs), `P` the derivative of `S r` and `V` that of the shifted velocity
/// by the velocity:
#[derive(Clone, Copy, Debug)]
pub(super) struct Smooth {
    /// Impulse (N s).
    pub(super) r: [f64; ROWS],
    /// Velocity (m/s).
    pub(super) u: [f64; ROWS],
    /// Derivatives of both by `tau` (J), and that of the normal velocity by `blur`.
    pub(super) r_tau: [f64; ROWS],
    pub(super) u_tau: [f64; ROWS],
    pub(super) u_blur: f64,
    /// `s (1 - P) S`.
    pub(super) by_r: [f64; SQUARE],
    /// `P S^-1 V`.
    pub(super) by_u: [f64; SQUARE],
    /// `S^-1 V / s`.
    pub(super) lift: [f64; SQUARE],
    /// The first entry of `S`: `mu`, or one.
    pub(super) first: f64,
}

impl Default for Smooth {
    fn default() -> Self {
        let (list, square) = ([0.0; ROWS], [0.0; SQUARE]);
        Self {
            r: list,
            u: list,
            r_tau: list,
            u_tau: list,
            u_blur: 0.0,
            by_r: square,
            by_u: square,
            lift: square,
            first: 1.0,
        }
    }
}

/// Values of a cone at `z`: `x = S r`, `y = S^-1 v/s = x - z`, `P`, `1 - P`, and `s` times the
/// derivative of `x` by `tau`.
#[derive(Clone, Copy, Debug, Default)]
struct Values {
    first: f64,
    x: [f64; ROWS],
    y: [f64; ROWS],
    rate: [f64; ROWS],
    p: [[f64; ROWS]; ROWS],
    o: [[f64; ROWS]; ROWS],
}

/// `(x + sqrt(x^2 + 4 t))/2`, the same for `-x`, and the root; no digits are lost where they are
/// small.
fn halves(x: f64, t: f64) -> [f64; 3] {
    let root = x.hypot(2.0 * t.sqrt());
    if x > 0.0 {
        let plus = 0.5 * (x + root);
        [plus, t / plus, root]
    } else {
        let minus = 0.5 * (root - x);
        [if minus > 0.0 { t / minus } else { 0.0 }, minus, root]
    }
}

/// The cone or the interval of a block whose impulse and shifted velocity have the product `tau`
/// (J), for the variable `z = S r - S^-1 v/s` (N s):
///
/// ```math
/// S r = (z + sqrt(z^2 + 4 tau/s))/2,   v = s S (S r - z),   u = v - mu |u_t| n
/// ```
///
/// with the square and the root of Jordan algebra, as Chen, Harker, Kanzow and Smale smooth a
/// projection (Fukushima, Luo, Tseng 2001 for cones). Intervals have one such term per bound. In
/// place of `|u_t|` stands `sqrt(|u_t|^2 + blur^2) - blur` (m/s): where nothing slides the length
/// has a corner, out of which the path would not find.
pub(super) fn smooth(cone: &Cone, s: f64, (tau, blur): (f64, f64), z: &[f64]) -> Smooth {
    match (cone.friction(), cone.bounds()) {
        (Some(mu), _) if mu > 0.0 => contact(cone, s, blur, &friction(mu, s, tau, z), z.len()),
        (None, None) if !cone.is_convex() => match rolling::rolling(cone, s, tau, z) {
            Some(values) => contact(cone, s, blur, &values, z.len()),
            None => Smooth::default(),
        },
        (Some(_), _) | (None, None) => {
            let mut out = row((0.0, f64::INFINITY), s, tau, z[0]);
            out.u[0] -= cone.shift(&out.u);
            // No friction: what is left of the variable is the sliding velocity.
            for i in 1..z.len() {
                out.u[i] = -s * z[i];
                out.by_r[i * z.len() + i] = s;
                out.lift[i * z.len() + i] = 1.0 / s;
            }
            out
        }
        (None, Some(bounds)) => row(bounds, s, tau, z[0]),
    }
}

fn row((lower, upper): (f64, f64), s: f64, tau: f64, z: f64) -> Smooth {
    let mut out = Smooth::default();
    let t = tau / s;
    // Impulse, its derivatives, one minus its derivative, `r - z`.
    let (r, p, q, rate, v);
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => (r, p, q, rate, v) = (z, 1.0, 0.0, 0.0, 0.0),
        (true, false) => {
            let [plus, minus, root] = halves(z - lower, t);
            (r, p, q, rate, v) = (lower + plus, plus / root, minus / root, 1.0 / root, minus);
        }
        (false, true) => {
            let [plus, minus, root] = halves(upper - z, t);
            (r, p, q, rate, v) = (upper - plus, plus / root, minus / root, -1.0 / root, -minus);
        }
        (true, true) => {
            let (a, b) = (halves(z - lower, t), halves(z - upper, t));
            (r, p) = (lower + a[0] - b[0], a[0] / a[2] - b[0] / b[2]);
            (q, rate, v) = (1.0 - p, 1.0 / a[2] - 1.0 / b[2], a[1] - b[0]);
        }
    }
    (out.r[0], out.u[0]) = (r, s * v);
    (out.r_tau[0], out.u_tau[0]) = (rate / s, rate);
    (out.by_r[0], out.by_u[0], out.lift[0]) = (s * q, p, 1.0 / s);
    out
}

/// Adds `b`, `c`, and `a` across the direction: the derivative of a spectral function.
fn spectral(values: [f64; 3], way: [f64; 2], out: &mut [[f64; ROWS]; ROWS]) {
    let [a, b, c] = values;
    out[0][0] = b;
    for i in 0..2 {
        out[0][i + 1] = c * way[i];
        out[i + 1][0] = c * way[i];
        for l in 0..2 {
            let unit = if i == l { a } else { 0.0 };
            out[i + 1][l + 1] = unit + (b - a) * way[i] * way[l];
        }
    }
}

fn friction(mu: f64, s: f64, tau: f64, z: &[f64]) -> Values {
    let mut out = Values {
        first: mu,
        ..Values::default()
    };
    let zt = [z[1], z.get(2).copied().unwrap_or(0.0)];
    let length = zt[0].hypot(zt[1]);
    let way = if length > 0.0 {
        zt.map(|x| x / length)
    } else {
        [1.0, 0.0]
    };
    let t = tau / s;
    let [f1, g1, q1] = halves(z[0] - length, t);
    let [f2, g2, q2] = halves(z[0] + length, t);
    // Derivatives of both values, for the impulse and, as one minus them, for the velocity.
    let (p1, p2, o1, o2) = (f1 / q1, f2 / q2, g1 / q1, g2 / q2);
    let close = length <= 1e-12 * q2;
    let across = |difference: f64, limit: f64| if close { limit } else { difference / (2.0 * length) };
    spectral(
        [across(f2 - f1, p1), 0.5 * (p1 + p2), 0.5 * (p2 - p1)],
        way,
        &mut out.p,
    );
    spectral(
        [across(g1 - g2, o1), 0.5 * (o1 + o2), 0.5 * (o2 - o1)],
        way,
        &mut out.o,
    );
    let along = |first: f64, second: f64| {
        let (mean, half) = (0.5 * (first + second), 0.5 * (second - first));
        [mean, half * way[0], half * way[1]]
    };
    out.x[..3].copy_from_slice(&along(f1, f2));
    out.y[..3].copy_from_slice(&along(g1, g2));
    out.rate[..3].copy_from_slice(&along(1.0 / q1, 1.0 / q2));
    out
}

/// Impulse, velocity and derivatives of a contact of `d` rows from the values of its cone.
fn contact(cone: &Cone, s: f64, blur: f64, values: &Values, d: usize) -> Smooth {
    let mu = values.first;
    let mut out = Smooth {
        first: mu,
        ..Smooth::default()
    };
    for i in 0..d {
        let (own, rate) = if i == 0 { (mu, mu * s) } else { (1.0, s) };
        out.r[i] = values.x[i] / own;
        out.r_tau[i] = values.rate[i] / rate;
        out.u[i] = s * own * values.y[i];
        out.u_tau[i] = own * values.rate[i];
    }
    let mut slope = [0.0; ROWS];
    if cone.is_convex() {
        out.u[0] -= cone.shift(&out.u);
    } else {
        for (mu, rows) in cone.discs() {
            let slip = length(&out.u[rows.clone()]);
            let blurred = slip.hypot(blur);
            if blurred > 0.0 {
                rows.for_each(|i| slope[i] = mu * out.u[i] / blurred);
                // The difference of root and blur, without cancellation.
                out.u[0] -= mu * slip * slip / (blurred + blur);
                out.u_blur += mu * (1.0 - blur / blurred);
            }
        }
    }
    let turning = (1..d).map(|i| slope[i] * out.u_tau[i]).sum::<f64>();
    out.u_tau[0] -= turning;
    // `S^-1 V`, with `V = 1 + n slope^T`.
    let mut lift = [[0.0; ROWS]; ROWS];
    lift[0][0] = 1.0 / mu;
    for i in 1..d {
        lift[0][i] = slope[i] / mu;
        lift[i][i] = 1.0;
    }
    for i in 0..d {
        for l in 0..d {
            let sum: f64 = (0..d).map(|x| values.p[i][x] * lift[x][l]).sum();
            out.by_u[i * d + l] = sum;
            out.by_r[i * d + l] = s * values.o[i][l] * if l == 0 { mu } else { 1.0 };
            out.lift[i * d + l] = lift[i][l] / s;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-7 * scale
    }

    /// Products, shift, and derivatives against central differences (relative error 1e-9 of the
    /// difference quotient with a step of 1e-5).
    #[test]
    fn blocks_obey_their_smoothed_laws_and_their_derivatives() {
        let cones = [
            Cone::Coulomb { mu: 0.4 },
            Cone::Shifted { mu: 0.7, shift: 0.3 },
            Cone::PlanarCoulomb { mu: 0.5 },
            Cone::Coulomb { mu: 0.0 },
            Cone::Rolling {
                mu: 0.4,
                torsion: 0.05,
                rolling: 0.1,
            },
            Cone::Rolling {
                mu: 0.0,
                torsion: 0.2,
                rolling: 0.0,
            },
            Cone::Rolling {
                mu: 0.0,
                torsion: 0.0,
                rolling: 0.0,
            },
            Cone::Shifted { mu: 0.0, shift: 0.2 },
            Cone::NonNegative,
            Cone::Free,
            Cone::Box {
                lower: -0.5,
                upper: 0.25,
            },
            Cone::Box {
                lower: f64::NEG_INFINITY,
                upper: 0.1,
            },
        ];
        let (s, tau, blur) = (2.5, 0.03, 0.02);
        for cone in cones {
            let d = cone.rows();
            for z in [
                [0.3, -0.2, 0.5, 0.02, -0.1, 0.3],
                [-0.4, 0.1, 0.05, -0.3, 0.0, 0.0],
                [0.9, 0.0, 0.0, 0.0, 0.02, -0.01],
                [-0.1, 0.7, -0.6, 0.2, 0.4, 0.1],
            ] {
                let at = |z: &[f64], tau: f64| smooth(&cone, s, (tau, blur), &z[..d]);
                let here = at(&z, tau);
                if cone.friction().is_some_and(|mu| mu > 0.0) {
                    let (mut x, mut y) = (here.r, here.u);
                    y[0] += if cone.is_convex() {
                        cone.shift(&here.u[..d])
                    } else {
                        here.first * (y[1].hypot(y[2]).hypot(blur) - blur)
                    };
                    (x[0], y[0]) = (here.first * x[0], y[0] / here.first);
                    let dot: f64 = (0..d).map(|i| x[i] * y[i]).sum();
                    assert!(near(dot, tau, tau), "{cone:?} {dot}");
                    assert!((1..d).all(|i| near(x[0] * y[i] + y[0] * x[i], 0.0, tau)));
                }
                let h = 1e-5;
                let (plus, minus) = (at(&z, tau + h * tau), at(&z, tau - h * tau));
                for i in 0..d {
                    let slope = |a: f64, b: f64| (a - b) / (2.0 * h * tau);
                    assert!(
                        near(here.r_tau[i], slope(plus.r[i], minus.r[i]), 10.0),
                        "{cone:?} {i}"
                    );
                    assert!(
                        near(here.u_tau[i], slope(plus.u[i], minus.u[i]), 10.0),
                        "{cone:?} {i}"
                    );
                }
                let sharper = |h: f64| smooth(&cone, s, (tau, blur + h), &z[..d]).u[0];
                let by_blur = (sharper(1e-6) - sharper(-1e-6)) / 2e-6;
                assert!(near(here.u_blur, by_blur, 1.0), "{cone:?}");
                for l in 0..d {
                    let moved = |h: f64| {
                        let mut y = z;
                        y[l] += h;
                        at(&y, tau)
                    };
                    let (plus, minus) = (moved(h), moved(-h));
                    // `by_r S^-1 dz = s (1 - P) dz = lift (V du)`, and `P dz = S dr`.
                    let own = if l == 0 { here.first } else { 1.0 };
                    for i in 0..d {
                        let scale = if i == 0 { here.first } else { 1.0 };
                        let dr = scale * (plus.r[i] - minus.r[i]) / (2.0 * h);
                        let unit = f64::from(u8::from(i == l));
                        assert!(
                            near(unit - here.by_r[i * d + l] / (s * own), dr, 1.0),
                            "{cone:?} {i} {l}"
                        );
                        let sum: f64 = (0..d)
                            .map(|x| here.lift[i * d + x] * (plus.u[x] - minus.u[x]))
                            .sum();
                        let velocity = -sum / (2.0 * h);
                        assert!(
                            near(here.by_r[i * d + l] / (s * own), velocity, 1.0),
                            "{cone:?} {i} {l}"
                        );
                    }
                }
            }
        }
    }
}
