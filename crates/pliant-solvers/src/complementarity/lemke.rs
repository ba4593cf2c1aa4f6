//! Lemke's method.

use super::lcp::zero;
use super::report::Tracker;
use super::{Lcp, Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use nalgebra::{DMatrix, DMatrixViewMut, DVectorViewMut};
use pliant_dense::in_place;

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
/// the `Lcp`, mostly between `n/4` and `3 n` pivots; `7 n^2` numbers of storage beside it.
/// Allocates only for more variables than ever before.
#[derive(Clone, Debug, Default)]
pub struct Lemke {
    /// May be changed at any time.
    pub options: LemkeOptions,
    tracker: Tracker,
    lcp: Lcp,
    tableau: Tableau,
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

/// `w - M z - e z_0 = q` in the basis of the moment: columns `w`, `z`, `z_0`, right-hand side; in
/// storage that grows only with more variables than ever before.
#[derive(Clone, Debug)]
struct Tableau {
    n: usize,
    /// In the basis of `w`.
    original: DMatrix<f64>,
    t: DMatrix<f64>,
    basis: Vec<usize>,
    /// The column that enters, or a solution on the support of `z`.
    column: Vec<f64>,
    /// Rows that may leave, or the support of `z`.
    rows: Vec<usize>,
    /// The tableau computed anew.
    fresh: DMatrix<f64>,
    /// The columns of the basis, or `M` on the support of `z`, column by column.
    square: Vec<f64>,
    /// `z` of the last basis, without its negative entries.
    z: Vec<f64>,
}

impl Default for Tableau {
    fn default() -> Self {
        let none = DMatrix::zeros(0, 0);
        Self {
            n: 0,
            original: none.clone(),
            t: none.clone(),
            basis: Vec::new(),
            column: Vec::new(),
            rows: Vec::new(),
            fresh: none,
            square: Vec::new(),
            z: Vec::new(),
        }
    }
}

/// Result of the pivots.
struct End {
    /// Why `z` is no solution.
    failure: Option<Outcome>,
    pivots: usize,
}

impl Tableau {
    /// Begins in the basis of `w`, with `q` in units of `size`.
    fn start(&mut self, m: &DMatrix<f64>, q: &[f64], size: f64) {
        let n = q.len();
        self.n = n;
        zero(&mut self.original, n, 2 * n + 2);
        for i in 0..n {
            self.original[(i, i)] = 1.0;
            self.original[(i, 2 * n)] = -1.0;
            self.original[(i, 2 * n + 1)] = q[i] / size;
            for k in 0..n {
                self.original[(i, n + k)] = -m[(i, k)];
            }
        }
        zero(&mut self.t, n, 2 * n + 2);
        self.t.copy_from(&self.original);
        self.basis.clear();
        self.basis.extend(0..n);
        // For whatever these pivots come to, so that pivots of another problem find it.
        zero(&mut self.fresh, n, 2 * n + 2);
        self.rows.clear();
        self.rows.reserve(n);
        self.square.clear();
        self.square.reserve(n * n);
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let inverse = 1.0 / self.t[(row, column)];
        self.column.clear();
        self.column.extend(self.t.column(column).iter());
        for mut other in self.t.column_iter_mut() {
            let x = other[row] * inverse;
            if x != 0.0 {
                other.iter_mut().zip(&self.column).for_each(|(t, f)| *t -= f * x);
            }
            other[row] = x;
        }
        self.t.column_mut(column).fill(0.0);
        self.t[(row, column)] = 1.0;
        self.basis[row] = column;
    }

    /// Computes the tableau anew from its basis, without the rounding of the pivots so far. Cost
    /// `4 n^3`.
    fn refresh(&mut self) {
        let n = self.n;
        self.square.clear();
        for column in &self.basis {
            self.square.extend(self.original.column(*column).iter());
        }
        self.fresh.copy_from(&self.original);
        let mut basis = DMatrixViewMut::from_slice(&mut self.square, n, n);
        if in_place::solve_general(&mut basis, &mut self.fresh) && self.fresh.iter().all(|x| x.is_finite()) {
            std::mem::swap(&mut self.t, &mut self.fresh);
            for (i, column) in self.basis.iter().enumerate() {
                self.t.column_mut(*column).fill(0.0);
                self.t[(i, *column)] = 1.0;
            }
        }
    }

    fn end(&mut self, size: f64, failure: Option<Outcome>, pivots: usize) -> End {
        let n = self.n;
        for (i, variable) in self.basis.iter().enumerate() {
            if (n..2 * n).contains(variable) {
                let value = size * self.t[(i, 2 * n + 1)];
                // NaN counts as nothing.
                self.z[variable - n] = if value > 0.0 && value.is_finite() {
                    value
                } else {
                    0.0
                };
            }
        }
        End { failure, pivots }
    }

    /// The row that leaves: the least ratio, ties by the columns of `w` in order, `z_0` first among
    /// those.
    fn leaving(&mut self, column: usize) -> Option<usize> {
        let (n, t, rows) = (self.n, &self.t, &mut self.rows);
        let largest = t.column(column).iter().fold(0.0f64, |a, x| a.max(x.abs()));
        rows.clear();
        rows.extend((0..n).filter(|i| t[(*i, column)] > 1e-9 * largest.max(1e-3)));
        for key in std::iter::once(2 * n + 1).chain(0..n) {
            if rows.len() <= 1 {
                break;
            }
            let ratio = |i: usize| t[(i, key)] / t[(i, column)];
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

    /// Pivots on an LCP, and leaves `z`.
    fn solve(&mut self, m: &DMatrix<f64>, q: &[f64], max_pivots: usize) -> End {
        let n = q.len();
        let size = q.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        self.z.clear();
        self.z.resize(n, 0.0);
        if q.iter().all(|x| *x >= 0.0) {
            return End {
                failure: None,
                pivots: 0,
            };
        }
        self.start(m, q, size);
        // The most negative one; the last of equals is the lexicographic choice.
        let first = (0..n).fold(0, |a, i| if q[i] <= q[a] { i } else { a });
        self.pivot(first, 2 * n);
        let mut driving = n + first;
        for pivots in 1..=max_pivots {
            let mut leaving = self.leaving(driving);
            if leaving.is_none() {
                self.refresh();
                leaving = self.leaving(driving);
            }
            let Some(row) = leaving else {
                return self.end(size, Some(Outcome::Ray), pivots);
            };
            let left = self.basis[row];
            self.pivot(row, driving);
            if self.t.column(2 * n + 1).iter().any(|x| !x.is_finite()) {
                return self.end(size, Some(Outcome::Breakdown), pivots);
            }
            if left == 2 * n {
                return self.end(size, None, pivots);
            }
            driving = if left < n { left + n } else { left - n };
        }
        self.end(size, Some(Outcome::MaxIterations), max_pivots)
    }

    /// Solves anew on the support of `z`, without the rounding of the pivots. False, and `z` of no
    /// use, if there is no answer. Cost `2 k^3 / 3` for a support of `k` variables.
    fn polish(&mut self, m: &DMatrix<f64>, q: &[f64]) -> bool {
        let (z, support) = (&mut self.z, &mut self.rows);
        support.clear();
        support.extend((0..z.len()).filter(|i| z[*i] > 0.0));
        let k = support.len();
        self.square.clear();
        for j in &*support {
            self.square.extend(support.iter().map(|i| m[(*i, *j)]));
        }
        self.column.clear();
        self.column.extend(support.iter().map(|i| -q[*i]));
        let mut matrix = DMatrixViewMut::from_slice(&mut self.square, k, k);
        let mut x = DVectorViewMut::from_slice(&mut self.column, k);
        if k == 0 || !in_place::solve_general(&mut matrix, &mut x) {
            return false;
        }
        for (i, x) in support.iter().zip(&self.column) {
            z[*i] = x.max(0.0);
        }
        self.column.iter().all(|x| x.is_finite())
    }
}

impl Solver for Lemke {
    fn method(&self) -> Method {
        Method::Lemke
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let limits = self.options.limits;
        let Self {
            options,
            tracker,
            lcp,
            tableau,
        } = self;
        let mut end = tracker.start(problem, r, limits)?;
        let mut pivots = 0;
        if end.is_none() {
            lcp.refill(problem, options.facets)?;
            // A pivot is an update of the whole tableau.
            let n = lcp.q.len() as u64;
            let pivot = 4 * n * (n + 1);
            let left = (limits.work / pivot.max(1)).max(1);
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            let mut found = tableau.solve(&lcp.m, &lcp.q, limits.max_iterations.min(most));
            pivots = found.pivots;
            tracker.spend(pivot * pivots as u64);
            if pivots >= most && found.failure == Some(Outcome::MaxIterations) {
                found.failure = Some(Outcome::TooMuchWork);
            }
            // Where z_0 is down to rounding, a ray or a breakdown is so too: the residual says
            // whether that is a solution.
            let failure = found.failure.unwrap_or(Outcome::Stagnated);
            lcp.impulse(&tableau.z, r);
            end = tracker.look(problem, r);
            if tableau.polish(&lcp.m, &lcp.q) {
                lcp.impulse(&tableau.z, r);
                let polished = tracker.look(problem, r);
                end = end.filter(|o| *o == Outcome::Converged).or(polished);
            }
            end = end.filter(|o| *o == Outcome::Converged).or(Some(failure));
        }
        let end = end.unwrap_or(Outcome::Stagnated);
        Ok(tracker.finish(problem, r, Method::Lemke, end, pivots))
    }
}
