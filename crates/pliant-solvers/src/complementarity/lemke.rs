//! Lemke's method.

use super::report::Tracker;
use super::{Lcp, Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use nalgebra::{DMatrix, DVector};

/// Options of [`Lemke`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LemkeOptions {
    /// Limits; an iteration is a pivot.
    pub limits: Limits,
    /// Facets of the friction pyramid of contacts in space, at least three.
    pub facets: usize,
}

impl Default for LemkeOptions {
    fn default() -> Self {
        Self {
            limits: Limits {
                max_iterations: 10_000,
                ..Limits::default()
            },
            facets: 8,
        }
    }
}

/// Complementary pivoting from the ray `z_0 -> infinity` of `w = M z + q + z_0 e` (Lemke 1965;
/// Cottle, Pang, Stone 1992) on the [`Lcp`] of the problem, with the lexicographic ratio test, so
/// that it ends.
///
/// It ends at a solution or on a secondary ray, [`Outcome::Ray`]. For a copositive-plus `M`, as of
/// a semidefinite `A` without friction, the ray proves that there is none, up to the rounding of
/// many pivots. With friction, or for other `A`, it proves nothing. A
/// [`Cone::Pyramid`](super::Cone::Pyramid) is solved exactly; contacts with the circular cone
/// become pyramids, so that the residual of the true cone does not reach a tight tolerance: the
/// outcome is then [`Outcome::Stagnated`] and the residual says how far off the pyramid is.
///
/// The tableau is computed anew from its basis before a ray is believed, and the point where it
/// starts is looked at and solved anew on its support: with redundant contacts and large mass
/// ratios `z_0` is down to rounding there, and the point a solution, if the residual says so. The
/// start counts only as an answer to fall back on. Cost: `4 n^2` per pivot on the `n` variables of
/// the `Lcp`, mostly between `n/4` and `3 n` pivots. Allocates with every solve.
#[derive(Clone, Debug, Default)]
pub struct Lemke {
    /// May be changed at any time.
    pub options: LemkeOptions,
    tracker: Tracker,
}

impl Lemke {
    /// A solver with given options.
    pub fn new(options: LemkeOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }
}

/// `w - M z - e z_0 = q` in the basis of the moment: columns `w`, `z`, `z_0`, right-hand side.
struct Tableau {
    n: usize,
    /// In the basis of `w`.
    original: DMatrix<f64>,
    t: DMatrix<f64>,
    basis: Vec<usize>,
}

impl Tableau {
    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.t.ncols();
        let inverse = 1.0 / self.t[(row, column)];
        let factors: Vec<f64> = self.t.column(column).iter().copied().collect();
        for k in 0..width {
            let x = self.t[(row, k)] * inverse;
            self.t[(row, k)] = x;
            if x != 0.0 {
                for i in (0..self.n).filter(|i| *i != row) {
                    self.t[(i, k)] -= factors[i] * x;
                }
            }
        }
        for i in 0..self.n {
            self.t[(i, column)] = f64::from(u8::from(i == row));
        }
        self.basis[row] = column;
    }

    /// Computes the tableau anew from its basis, without the rounding of the pivots so far. Cost
    /// `4 n^3`.
    fn refresh(&mut self) {
        let basis = self.original.select_columns(&self.basis);
        if let Some(fresh) = basis.lu().solve(&self.original)
            && fresh.iter().all(|x| x.is_finite())
        {
            self.t = fresh;
            for (i, column) in self.basis.iter().enumerate() {
                self.t.column_mut(*column).fill(0.0);
                self.t[(i, *column)] = 1.0;
            }
        }
    }

    fn end(&self, size: f64, failure: Option<Outcome>, pivots: usize) -> End {
        let n = self.n;
        let mut z = vec![0.0; n];
        for (i, variable) in self.basis.iter().enumerate() {
            if (n..2 * n).contains(variable) {
                let value = size * self.t[(i, 2 * n + 1)];
                // NaN counts as nothing.
                z[variable - n] = if value > 0.0 && value.is_finite() {
                    value
                } else {
                    0.0
                };
            }
        }
        End { z, failure, pivots }
    }

    /// The row that leaves: the least ratio, ties by the columns of `w` in order, `z_0` first among
    /// those.
    fn leaving(&self, column: usize) -> Option<usize> {
        let n = self.n;
        let largest = self.t.column(column).iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let mut rows: Vec<usize> = (0..n)
            .filter(|i| self.t[(*i, column)] > 1e-9 * largest.max(1e-3))
            .collect();
        for key in std::iter::once(2 * n + 1).chain(0..n) {
            if rows.len() <= 1 {
                break;
            }
            let ratio = |i: usize| self.t[(i, key)] / self.t[(i, column)];
            let least = rows.iter().fold(f64::INFINITY, |a, i| a.min(ratio(*i)));
            rows.retain(|i| ratio(*i) <= least + 1e-10 * (1.0 + least.abs()));
            if key == 2 * n + 1
                && let Some(row) = rows.iter().find(|i| self.basis[**i] == 2 * n)
            {
                return Some(*row);
            }
        }
        rows.first().copied()
    }
}

/// Result of the pivots.
struct End {
    /// `z` of the last basis, without its negative entries.
    z: Vec<f64>,
    /// Why it is no solution.
    failure: Option<Outcome>,
    pivots: usize,
}

/// Pivots on an LCP.
fn lemke(m: &DMatrix<f64>, q: &[f64], max_pivots: usize) -> End {
    let n = q.len();
    let size = q.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    if q.iter().all(|x| *x >= 0.0) {
        return End {
            z: vec![0.0; n],
            failure: None,
            pivots: 0,
        };
    }
    let mut t = DMatrix::zeros(n, 2 * n + 2);
    for i in 0..n {
        t[(i, i)] = 1.0;
        t[(i, 2 * n)] = -1.0;
        t[(i, 2 * n + 1)] = q[i] / size;
        for k in 0..n {
            t[(i, n + k)] = -m[(i, k)];
        }
    }
    let mut tableau = Tableau {
        n,
        original: t.clone(),
        t,
        basis: (0..n).collect(),
    };
    // The most negative one; the last of equals is the lexicographic choice.
    let first = (0..n).fold(0, |a, i| if q[i] <= q[a] { i } else { a });
    tableau.pivot(first, 2 * n);
    let mut driving = n + first;
    for pivots in 1..=max_pivots {
        let mut leaving = tableau.leaving(driving);
        if leaving.is_none() {
            tableau.refresh();
            leaving = tableau.leaving(driving);
        }
        let Some(row) = leaving else {
            return tableau.end(size, Some(Outcome::Ray), pivots);
        };
        let left = tableau.basis[row];
        tableau.pivot(row, driving);
        if tableau.t.column(2 * n + 1).iter().any(|x| !x.is_finite()) {
            return tableau.end(size, Some(Outcome::Breakdown), pivots);
        }
        if left == 2 * n {
            return tableau.end(size, None, pivots);
        }
        driving = if left < n { left + n } else { left - n };
    }
    tableau.end(size, Some(Outcome::MaxIterations), max_pivots)
}

/// Solves anew on the support of `z`, without the rounding of the pivots.
fn polish(m: &DMatrix<f64>, q: &[f64], z: &[f64]) -> Option<Vec<f64>> {
    let support: Vec<usize> = (0..z.len()).filter(|i| z[*i] > 0.0).collect();
    let k = support.len();
    if k == 0 {
        return None;
    }
    let sub = DMatrix::from_fn(k, k, |i, j| m[(support[i], support[j])]);
    let rhs = DVector::from_fn(k, |i, _| -q[support[i]]);
    let x = sub.lu().solve(&rhs)?;
    let mut out = vec![0.0; z.len()];
    for (i, x) in support.iter().zip(x.iter()) {
        out[*i] = x.max(0.0);
    }
    x.iter().all(|x| x.is_finite()).then_some(out)
}

impl Solver for Lemke {
    fn method(&self) -> Method {
        Method::Lemke
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let limits = self.options.limits;
        let mut end = self.tracker.start(problem, r, limits)?;
        let mut pivots = 0;
        if end.is_none() {
            let lcp = Lcp::new(problem, self.options.facets)?;
            // A pivot is an update of the whole tableau.
            let n = lcp.q.len() as u64;
            let pivot = 4 * n * (n + 1);
            let left = (limits.work / pivot.max(1)).max(1);
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            let mut found = lemke(&lcp.m, &lcp.q, limits.max_iterations.min(most));
            pivots = found.pivots;
            self.tracker.spend(pivot * pivots as u64);
            if pivots >= most && found.failure == Some(Outcome::MaxIterations) {
                found.failure = Some(Outcome::TooMuchWork);
            }
            // Where z_0 is down to rounding, a ray or a breakdown is so too: the residual says
            // whether that is a solution.
            let failure = found.failure.unwrap_or(Outcome::Stagnated);
            lcp.impulse(&found.z, r);
            end = self.tracker.look(problem, r);
            if let Some(z) = polish(&lcp.m, &lcp.q, &found.z) {
                lcp.impulse(&z, r);
                let polished = self.tracker.look(problem, r);
                end = end.filter(|o| *o == Outcome::Converged).or(polished);
            }
            end = end.filter(|o| *o == Outcome::Converged).or(Some(failure));
        }
        let end = end.unwrap_or(Outcome::Stagnated);
        Ok(self.tracker.finish(problem, r, Method::Lemke, end, pivots))
    }
}
