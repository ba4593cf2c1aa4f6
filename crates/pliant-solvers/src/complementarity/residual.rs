//! Residuals that all solvers share.

use super::cone::{ROWS, length, tangential};
use super::{Cone, Problem, project_friction};
use crate::bounds::natural;

/// How far `r` is from solving a [`Problem`]. With `s` the [`scale`](Problem::scale) of a block,
/// `V = |b|` over all rows, the velocity that there is without impulses. (The velocity `|u|` of the
/// answer is no measure: one that runs away would look better the further it is. It takes the place
/// of `|b|` only where that is zero.)
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// The largest natural-map residual of the blocks, m/s: `|u|` for a free row; `|min(s r, u)|`
    /// for a unilateral one; `s |r - clip(r - u/s, lower, upper)|` for a bounded one;
    /// `s |r - P_K(r - (u + mu |u_t| n)/s)|` for friction. It is zero only at a solution. For a
    /// [`Cone::Pyramid`] and a [`Cone::Rolling`] the same with their own cones `K` and
    /// [shifts](Cone::shift).
    pub natural: f64,
    /// [`natural`](Self::natural) as a share of `V`; zero if both are.
    pub relative: f64,
    /// The largest `|r . u|` of the blocks, with `u + mu |u_t| n` for `u` where there is friction;
    /// for bounded rows, `|u|` times the distance from the bound towards which it pushes, if that
    /// is finite. J.
    pub complementarity: f64,
    /// [`complementarity`](Self::complementarity) as a share of `V` times the largest of `|r|` and
    /// `|b|/s`.
    pub complementarity_share: f64,
    /// The largest `max(0, -r_n)` of unilateral rows and contacts, N s.
    pub negative_impulse: f64,
    /// The largest `max(0, -u_n)` of unilateral rows and contacts, m/s.
    pub approach: f64,
    /// `V`, m/s.
    pub velocity: f64,
    /// The block with the largest natural-map residual.
    pub worst: usize,
}

impl Residual {
    /// The number that tolerances are compared with: the larger of the two shares.
    pub fn measure(&self) -> f64 {
        larger(self.relative, self.complementarity_share)
    }
}

/// The larger one; NaN if one is NaN.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if b.is_nan() || b > a { b } else { a }
}

/// Natural map of a unilateral row with its sign, `min(s r, u)` in m/s, for `s` in velocity per
/// impulse.
pub fn natural_map(s: f64, r: f64, u: f64) -> f64 {
    (s * r).min(u)
}

/// `|r - P_K(r - rho (u + mu |u_t| n))|`, N s, normal first, for any step `rho > 0` (impulse per
/// velocity).
///
/// # Panics
/// If `r` and `u` do not have the same length, two or three.
pub fn de_saxce(mu: f64, r: &[f64], u: &[f64], rho: f64) -> f64 {
    let mut y = [0.0; 3];
    let y = &mut y[..r.len()];
    for k in 0..r.len() {
        y[k] = r[k] - rho * u[k];
    }
    y[0] -= rho * mu * tangential(u);
    project_friction(mu, y);
    y.iter_mut().zip(r).for_each(|(y, r)| *y -= r);
    length(y)
}

impl Problem {
    /// The residual of an impulse; `u` takes `A r + b`. Cost: one product.
    ///
    /// # Panics
    /// If `r` or `u` does not have m entries.
    pub fn residual(&self, r: &[f64], u: &mut [f64]) -> Residual {
        self.velocity_into(r, u);
        self.residual_at(r, u)
    }

    /// The residual of an impulse by the [exact](Cone::exact) laws of contacts whose shift is
    /// known; `u` takes `A r + b`. Cost: one product.
    ///
    /// # Panics
    /// As [`residual`](Self::residual).
    pub fn exact_residual(&self, r: &[f64], u: &mut [f64]) -> Residual {
        self.velocity_into(r, u);
        self.residual_by(Cone::exact, r, u)
    }

    /// The residual of an impulse whose velocity is known. Cost `O(m)`.
    pub(crate) fn residual_at(&self, r: &[f64], u: &[f64]) -> Residual {
        self.residual_by(|cone| *cone, r, u)
    }

    /// The residual by laws made of those of the problem.
    pub(crate) fn residual_by(&self, law: impl Fn(&Cone) -> Cone, r: &[f64], u: &[f64]) -> Residual {
        let mut out = Residual::default();
        let mut impulse = 0.0;
        let largest = |v: &[f64]| v.iter().fold(0.0, |a, x| larger(a, x.abs()));
        out.velocity = largest(self.b());
        if out.velocity == 0.0 {
            out.velocity = largest(u);
        }
        for (k, cone) in self.cones().iter().map(law).enumerate() {
            let rows = self.rows(k);
            let s = self.scale(k);
            let (r, u) = (&r[rows.clone()], &u[rows.clone()]);
            for (r, b) in r.iter().zip(&self.b()[rows]) {
                impulse = larger(larger(impulse, r.abs()), b.abs() / s);
            }
            let (miss, work) = block_residual(&cone, s, r, u);
            if miss.is_nan() || miss > out.natural {
                out.natural = miss;
                out.worst = k;
            }
            out.complementarity = larger(out.complementarity, work);
            if cone == Cone::NonNegative || cone.bounds().is_none() {
                out.negative_impulse = larger(out.negative_impulse, (-r[0]).max(0.0));
                out.approach = larger(out.approach, (-u[0]).max(0.0));
            }
        }
        let share = |x: f64, of: f64| if x == 0.0 { 0.0 } else { x / of };
        out.relative = share(out.natural, out.velocity);
        out.complementarity_share = share(out.complementarity, out.velocity * impulse);
        out
    }
}

/// Natural-map residual (m/s) and `|r . u|` of a block.
fn block_residual(cone: &Cone, s: f64, r: &[f64], u: &[f64]) -> (f64, f64) {
    match cone.bounds() {
        None => {
            let shift = cone.shift(u);
            let mut y = [0.0; ROWS];
            let y = &mut y[..r.len()];
            for k in 0..r.len() {
                y[k] = r[k] - u[k] / s;
            }
            y[0] -= shift / s;
            cone.project(y);
            y.iter_mut().zip(r).for_each(|(y, r)| *y -= r);
            let miss = s * length(y);
            let dot: f64 = r.iter().zip(u).map(|(r, u)| r * u).sum();
            let work = (dot + shift * r[0]).abs();
            // A velocity is lost beside an impulse of 1e16 times it. The map is never less than
            // this, without the difference: with p = P_K(y), q = p - y, r = p + e and u~/s = q + e,
            // it is r . u~/s = e . (p + q + e).
            let of = s * length(r) + length(u) + shift + 3.0 * miss;
            let least = if work > 0.0 { s * work / of } else { 0.0 };
            (larger(miss, least), work)
        }
        Some((lower, upper)) => {
            let (r, u) = (r[0], u[0]);
            let side = if u > 0.0 { r - lower } else { upper - r };
            let work = if u == 0.0 || side.is_infinite() {
                0.0
            } else {
                (u * side).abs()
            };
            // A NaN would be lost in comparisons.
            if (r + u).is_nan() {
                (f64::NAN, f64::NAN)
            } else {
                (natural(r, u, (lower, upper), s), work)
            }
        }
    }
}
