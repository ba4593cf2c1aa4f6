//! The smoothed law of contacts that resist spin and rolling.

use super::{ROWS, Values, halves};
use crate::complementarity::Cone;
use crate::complementarity::cone::length;

/// Steps of the roots within each other at most; a handful is the rule.
const STEPS: usize = 80;
/// Change at which they are found.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// One disc: its coefficient over that of the normal, its part of `z`, and what the barrier makes
/// of them.
#[derive(Clone, Copy, Debug, Default)]
struct Disc {
    c: f64,
    zeta: f64,
    /// `w = t/(N^2 - rho^2)`, with the radius `N = c x_n` and `rho` the part of the impulse.
    w: f64,
    rho: f64,
    /// `h = w^2 (N^2 + rho^2)/t`, and `k = 2 c N rho w^2/(t (1 + h))`.
    h: f64,
    k: f64,
}

impl Disc {
    /// The part that a radius leaves of the impulse: the root of `N^2 = t/w + zeta^2/(1 + w)^2`,
    /// whose right-hand side falls and is convex, so that Newton's method rises to it from the
    /// largest of three bounds that are never far below.
    fn hold(&mut self, x: f64, t: f64) {
        let (n, zeta) = (self.c * x, self.zeta);
        let square = n * n;
        let open = (n - zeta) * (n + zeta);
        let root = open.hypot((8.0 * t).sqrt() * zeta);
        let closing = if open > 0.0 {
            2.0 * t / (open + root)
        } else if zeta > 0.0 {
            (root - open) / (4.0 * zeta * zeta)
        } else {
            0.0
        };
        let mut w = (t / square).max(zeta / n - 1.0).max(closing);
        for _ in 0..STEPS {
            let (first, second) = (t / w, (zeta / (1.0 + w)).powi(2));
            let step = (first + second - square) / (first / w + 2.0 * second / (1.0 + w));
            w += step.max(-0.5 * w);
            if step.abs() <= ROUNDING * w {
                break;
            }
        }
        self.w = w;
        self.rho = zeta / (1.0 + w);
        self.h = w * w * (square + self.rho * self.rho) / t;
        self.k = 2.0 * self.c * n * self.rho * w * w / (t * (1.0 + self.h));
    }

    /// Part of the slope of the normal equation: what is left of the Hessian when the disc's own
    /// part is eliminated.
    fn stiffness(&self) -> f64 {
        self.c * self.c * (self.h + self.w * self.w) / (1.0 + self.h)
    }
}

/// The normal part of the impulse: the root of `x (1 - sum c^2 w(x)) = z`, which rises at least as
/// fast as `x`; Newton's method between bounds. Leaves the discs as they are there.
fn normal(discs: &mut [Disc], z: f64, t: f64) -> f64 {
    let count = discs.len() as f64;
    let mut upper = z;
    discs.iter().for_each(|d| upper += d.c * d.zeta);
    let mut high = 2.0 * halves(upper, count * t)[0];
    // With any of the discs on their bounds, `w >= zeta/N - 1 + t/(2 N^2)`; `w >= t/N^2` always.
    let mut low = 0.0f64;
    for set in 0..1usize << discs.len() {
        let (mut sum, mut weight, mut share) = (z, 1.0, count);
        for (i, d) in discs.iter().enumerate() {
            if set >> i & 1 == 1 {
                sum += d.c * d.zeta;
                weight += d.c * d.c;
                share -= 0.5;
            }
        }
        low = low.max(halves(sum / weight, share * t / weight)[0]);
    }
    let mut x = low;
    low *= 0.5;
    for _ in 0..STEPS {
        let (mut value, mut slope) = (x - z, 1.0);
        for d in discs.iter_mut() {
            d.hold(x, t);
            value -= x * d.c * d.c * d.w;
            slope += d.stiffness();
        }
        if value < 0.0 {
            low = x;
        } else {
            high = x;
        }
        let step = value / slope;
        if step.abs() <= ROUNDING * x {
            break;
        }
        x -= step;
        if !(low < x && x < high) {
            x = low.sqrt() * high.sqrt();
        }
    }
    discs.iter_mut().for_each(|d| d.hold(x, t));
    x
}

/// Values at `z` by the barrier `-1/2 sum ln(mu_i^2 r_n^2 - |r_i|^2)`, with `S = diag(M, 1, ..)`,
/// `M^2 = sum mu_i^2`, `c_i = mu_i/M`, `t = tau/s`: the impulse with the velocity `v = -tau grad`
/// that is `s S (S r - z)`,
///
/// ```math
/// x_n - z_n = sum c_i^2 w_i x_n,   x_i - z_i = -w_i x_i,   w_i = t/(c_i^2 x_n^2 - |x_i|^2),   x = S r
/// ```
///
/// With one disc that is the root of Jordan algebra. `P = (1 + t Hessian)^-1` and `1 - P` are sums
/// of numbers of one sign, because the Hessian is an arrow: the discs share the normal and nothing
/// else. A part without a coefficient has no impulse and moves as it likes. `None` if there is no
/// coefficient at all.
pub(super) fn rolling(cone: &Cone, s: f64, tau: f64, z: &[f64]) -> Option<Values> {
    let own = cone.discs();
    let first = own.iter().fold(0.0f64, |a, (mu, _)| a.hypot(*mu));
    if first == 0.0 || z.len() < ROWS {
        return None;
    }
    let t = tau / s;
    let mut list = [Disc::default(); 3];
    let mut count = 0;
    for (mu, rows) in &own {
        if *mu > 0.0 {
            (list[count].c, list[count].zeta) = (mu / first, length(&z[rows.clone()]));
            count += 1;
        }
    }
    let discs = &mut list[..count];
    let x = normal(discs, z[0], t);
    let sigma = discs.iter().fold(1.0, |a, d| a + d.stiffness());
    let mut out = Values {
        first,
        ..Values::default()
    };
    out.x[0] = x;
    for d in discs.iter() {
        out.y[0] += d.c * d.c * d.w * x;
        out.p[0][0] = 1.0 / sigma;
        out.o[0][0] += d.stiffness() / sigma;
        out.rate[0] += d.c * d.c * x * d.w * (1.0 + d.w) / (t * (1.0 + d.h)) / sigma;
    }
    let mut which = 0;
    // `k` times the direction, by row.
    let mut along = [0.0; ROWS];
    for (mu, rows) in own {
        if mu == 0.0 {
            for i in rows {
                out.y[i] = -z[i];
                out.o[i][i] = 1.0;
            }
            continue;
        }
        let d = discs[which];
        let others: f64 = (0..count)
            .filter(|i| *i != which)
            .map(|i| discs[i].stiffness())
            .sum();
        which += 1;
        let way = |i: usize| match () {
            () if d.zeta > 0.0 => z[i] / d.zeta,
            () if i == rows.start => 1.0,
            () => 0.0,
        };
        let inner = 1.0 / (1.0 + d.h);
        let across = 1.0 / (1.0 + d.w);
        let held = (d.h * (1.0 + others) + d.c * d.c * d.w * d.w) * inner / sigma;
        for i in rows.clone() {
            along[i] = d.k * way(i);
            out.x[i] = d.rho * way(i);
            out.y[i] = -d.w * out.x[i];
            out.rate[i] = along[i] * out.rate[0] - out.x[i] * d.w / t * inner;
            for l in rows.clone() {
                let (unit, both) = (f64::from(u8::from(i == l)), way(i) * way(l));
                out.p[i][l] = unit * across + (inner - across) * both;
                out.o[i][l] = unit * d.w * across + (held - d.w * across) * both;
            }
        }
    }
    for i in 1..ROWS {
        out.p[0][i] = along[i] / sigma;
        out.o[0][i] = -along[i] / sigma;
        (out.p[i][0], out.o[i][0]) = (out.p[0][i], out.o[0][i]);
        for l in 1..ROWS {
            out.p[i][l] += along[i] * along[l] / sigma;
            // The disc's own part is in what is held.
            if !own_disc(cone, i, l) {
                out.o[i][l] -= along[i] * along[l] / sigma;
            }
        }
    }
    Some(out)
}

/// Whether two rows belong to the same disc.
fn own_disc(cone: &Cone, i: usize, l: usize) -> bool {
    cone.discs()
        .iter()
        .any(|(_, rows)| rows.contains(&i) && rows.contains(&l))
}

#[cfg(test)]
mod tests;
