//! Residuals, the same for every solver, against the matrices as given.

use crate::{KktSystem, Solution};

/// How far `(x, mu)` is from solving a [`KktSystem`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KktResidual {
    /// `max_i |W x - J^T mu - c|_i / |W_ii|` over free variables: in the units of `x` (velocity).
    pub primal: f64,
    /// `max_i |J x + R mu + b|_i`: in the units of `b` (velocity).
    pub row: f64,
    /// Componentwise backward error `max_i |r_i| / (|K| |z| + |rhs|)_i`, without unit: the smallest relative change of
    /// the coefficients for which the answer is exact (Oettli and Prager 1964). A component whose terms are all roundoff
    /// of the others is measured against `|W_ii| |x|_max` or `|J_i|_max |x|_max` instead (after Arioli, Demmel, Duff 1989).
    pub relative: f64,
}

impl KktResidual {
    /// Whether every part is finite.
    pub fn is_finite(&self) -> bool {
        self.primal.is_finite() && self.row.is_finite() && self.relative.is_finite()
    }
}

/// Scratch of [`evaluate`]: residual `r` and its scale `|K| |z| + |rhs|`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResidualScratch {
    pub(crate) primal: Vec<f64>,
    pub(crate) row: Vec<f64>,
    primal_scale: Vec<f64>,
    row_scale: Vec<f64>,
}

/// `r = rhs - K z` into the scratch (zero at fixed variables) and its measures. Cost `8 nnz`.
pub(crate) fn evaluate(system: &KktSystem, solution: &Solution, b: &[f64], scratch: &mut ResidualScratch) -> KktResidual {
    let ResidualScratch { primal, row, primal_scale, row_scale } = scratch;
    let (n, m) = (system.n(), system.m());
    primal.clear();
    primal.extend_from_slice(&system.c);
    primal_scale.clear();
    primal_scale.extend(system.c.iter().map(|c| c.abs()));
    row.clear();
    row.extend_from_slice(b);
    row_scale.clear();
    row_scale.extend(b.iter().map(|b| b.abs()));
    let (x, mu) = (&solution.x, &solution.mu);

    let w = system.w.pattern();
    for i in 0..n {
        for (slot, j) in w.row_slots(i).zip(w.row(i)) {
            let (j, a) = (*j as usize, system.w.values()[slot]);
            primal[i] -= a * x[j];
            primal_scale[i] += (a * x[j]).abs();
            if i != j {
                primal[j] -= a * x[i];
                primal_scale[j] += (a * x[i]).abs();
            }
        }
    }
    let jp = system.j.pattern();
    for i in 0..m {
        for (slot, k) in jp.row_slots(i).zip(jp.row(i)) {
            let (k, a) = (*k as usize, system.j.values()[slot]);
            primal[k] += a * mu[i];
            primal_scale[k] += (a * mu[i]).abs();
            row[i] += a * x[k];
            row_scale[i] += (a * x[k]).abs();
        }
    }
    let rp = system.r.pattern();
    for i in 0..m {
        for (slot, k) in rp.row_slots(i).zip(rp.row(i)) {
            let (k, a) = (*k as usize, system.r.values()[slot]);
            row[i] += a * mu[k];
            row_scale[i] += (a * mu[k]).abs();
            if i != k {
                row[k] += a * mu[i];
                row_scale[k] += (a * mu[i]).abs();
            }
        }
    }
    let mut out = KktResidual::default();
    // `max` of IEEE drops NaN; a NaN residual must survive.
    let max = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
    let x_max = x.iter().fold(0.0, |a, b| max(a, b.abs()));
    let roundoff = 1000.0 * (n + m) as f64 * f64::EPSILON;
    let ratio = |r: f64, s: f64, floor: f64| {
        if r == 0.0 {
            0.0
        } else if s <= roundoff * floor {
            r / (s + floor)
        } else {
            r / s
        }
    };
    for i in 0..n {
        if system.fixed[i] {
            primal[i] = 0.0;
            continue;
        }
        out.primal = max(out.primal, (primal[i] / system.w_diagonal(i)).abs());
        out.relative = max(out.relative, ratio(primal[i].abs(), primal_scale[i], system.w_diagonal(i).abs() * x_max));
    }
    for i in 0..m {
        out.row = max(out.row, row[i].abs());
        let size = jp.row_slots(i).fold(0.0f64, |a, k| a.max(system.j.values()[k].abs()));
        out.relative = max(out.relative, ratio(row[i].abs(), row_scale[i], size * x_max));
    }
    out
}
