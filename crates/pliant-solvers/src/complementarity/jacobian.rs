//! The linear systems of [`Newton`](super::Newton) and [`CentralPath`](super::CentralPath).

mod entries;

use super::shifted::Shifted;
use super::{Form, Problem, ProblemError};
use crate::Elimination;
use entries::Entries;

/// Rows up to which a dense factorisation is quickest.
const DENSE: usize = 60;

/// Solves `(F_r + F_u (A + e D)) x = y`, with `D` the [scales](Problem::scale) of the blocks, and
/// `F_r` and `F_u` of one square matrix per block.
///
/// Up to 60 rows, or where the entries of `A` are not kept by compressed rows, by a dense
/// factorisation, `2 m^3/3`. Above it there are two sparse ones: that of the saddle-point system,
/// where the operator is a [`Form::Saddle`], is quick and has no pivots to choose outside its
/// fronts; that of the matrix itself exchanges rows. Nothing is allocated for problems no larger
/// than before, but for the fill of the latter, which depends on the values.
#[derive(Debug, Default)]
pub(super) struct Jacobian {
    way: Way,
    /// `A`, and the matrix and then its factors, by rows.
    a: Vec<f64>,
    dense: Vec<f64>,
    swaps: Vec<usize>,
    entries: Entries,
    shifted: Shifted,
    out: Vec<f64>,
}

// A clone makes its factors anew.
impl Clone for Jacobian {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    #[default]
    Dense,
    Entries,
    Saddle,
}

/// The property to choose a factor by, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Speed of the factor of the saddle-point system.
    Speed,
    /// Exchange of rows.
    Pivots,
}

impl Jacobian {
    /// Writes the order of elimination in use, or that for the next pattern.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        self.shifted.record(out);
    }

    /// Forgets all factors; the order is for the next pattern, if it fits.
    pub(crate) fn forget(&mut self, order: Option<Elimination>) {
        self.shifted.forget(order);
        self.entries.forget();
        self.out.clear();
    }

    /// Operations of the last factorisation; where rows are exchanged those that as many entries
    /// take if they are spread evenly.
    pub(super) fn cost(&self) -> u64 {
        let m = self.out.len() as u64;
        match self.way {
            Way::Dense => 2 * m * m * m / 3,
            Way::Entries => {
                let entries = self.entries.filled() as u64;
                entries * (entries / m.max(1))
            }
            Way::Saddle => 2 * self.shifted.cost(),
        }
    }

    /// Whether rows are exchanged wherever that is better.
    pub(super) fn has_pivots(&self) -> bool {
        self.way != Way::Saddle
    }

    /// Takes the pattern of a problem, and its operator if that is to be dense.
    pub(super) fn prepare(&mut self, problem: &Problem, wanted: Wanted) -> Result<(), ProblemError> {
        let m = problem.size();
        let delassus = problem.delassus();
        let saddle = matches!(delassus.form(), Form::Saddle { .. });
        let entries = delassus.matrix();
        self.way = match entries {
            _ if m <= DENSE => Way::Dense,
            Some(_) if !saddle || wanted == Wanted::Pivots => Way::Entries,
            _ if saddle => Way::Saddle,
            _ => Way::Dense,
        };
        self.a.clear();
        match (self.way, entries) {
            (Way::Saddle, _) => self.shifted.prepare(problem),
            (Way::Entries, Some(a)) => self.entries.prepare(problem, a),
            _ => {
                self.a.resize(m * m, 0.0);
                delassus.block(0..m, 0..m, &mut self.a);
                Ok(())
            }
        }
    }

    /// Factors, and solves for one or more right-hand sides, one after the other in `y`, which take
    /// the answers. False if it fails.
    pub(super) fn solve(
        &mut self,
        problem: &Problem,
        by_r: &[f64],
        by_u: &[f64],
        e: f64,
        y: &mut [f64],
    ) -> bool {
        let done = match self.way {
            Way::Saddle => self.shifted.factor_newton(problem, by_r, by_u, e),
            Way::Entries => self.entries.factor(problem, by_r, by_u, e),
            Way::Dense => {
                self.fill(problem, by_r, by_u, e);
                self.swaps.resize(problem.size(), 0);
                factor_in_place(&mut self.dense, &mut self.swaps)
            }
        };
        done && self.again(problem, y)
    }

    /// Whether the determinant of the matrix of the last factor is negative, up to a sign that is
    /// the same for all matrices of one problem.
    pub(super) fn is_turned(&self) -> bool {
        match self.way {
            Way::Saddle => self.shifted.is_turned(),
            Way::Entries => self.entries.is_turned(),
            Way::Dense => {
                let pivots = self.dense.iter().step_by(self.swaps.len() + 1);
                let exchanged = self.swaps.iter().enumerate().map(|(k, other)| *other != k);
                let signs = pivots
                    .zip(exchanged)
                    .map(|(pivot, exchanged)| (*pivot < 0.0) ^ exchanged);
                signs.fold(false, |turned, sign| turned ^ sign)
            }
        }
    }

    /// Solves for other right-hand sides with the last factor.
    pub(super) fn again(&mut self, problem: &Problem, y: &mut [f64]) -> bool {
        let m = problem.size();
        self.out.resize(m, 0.0);
        if self.way == Way::Saddle {
            self.out.resize(y.len(), 0.0);
            self.shifted.solve_unsymmetric(y, &mut self.out);
            y.copy_from_slice(&self.out);
            self.out.truncate(m);
        }
        for y in y.chunks_exact_mut(m) {
            match self.way {
                Way::Saddle => {}
                Way::Entries => self.entries.solve_in_place(y),
                Way::Dense => substitute(&self.dense, &self.swaps, y),
            }
        }
        for y in y.chunks_exact_mut(m) {
            for k in 0..problem.blocks() {
                for row in problem.rows(k) {
                    y[row] /= problem.scale(k);
                }
            }
        }
        y.iter().all(|x| x.is_finite())
    }

    fn fill(&mut self, problem: &Problem, by_r: &[f64], by_u: &[f64], e: f64) {
        let m = problem.size();
        self.dense.clear();
        self.dense.resize(m * m, 0.0);
        for k in 0..problem.blocks() {
            let rows = problem.rows(k);
            let (d, square) = (rows.len(), problem.square(k).start);
            for i in 0..d {
                let line = &mut self.dense[(rows.start + i) * m..][..m];
                for l in 0..d {
                    let (g, own) = (by_u[square + d * i + l], rows.start + l);
                    line[own] += by_r[square + d * i + l] + g * e * problem.scale(k);
                    if g != 0.0 {
                        let a = &self.a[own * m..][..m];
                        line.iter_mut().zip(a).for_each(|(j, a)| *j += g * a);
                    }
                }
            }
        }
        // Columns in velocity units: masses may differ by many orders.
        for line in self.dense.chunks_exact_mut(m) {
            for k in 0..problem.blocks() {
                for column in problem.rows(k) {
                    line[column] /= problem.scale(k);
                }
            }
        }
    }
}

/// `A = P L U` in place by elimination with partial pivoting, `A` by rows; `swaps` takes the row
/// that each pivot came from. False at a zero pivot. Cost `2 m^3/3`.
fn factor_in_place(a: &mut [f64], swaps: &mut [usize]) -> bool {
    let m = swaps.len();
    for p in 0..m {
        let size = |i: &usize| a[i * m + p].abs();
        let pivot = (p..m).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(p);
        swaps[p] = pivot;
        if a[pivot * m + p] == 0.0 {
            return false;
        }
        if pivot != p {
            let (upper, lower) = a.split_at_mut(pivot * m);
            upper[p * m..][..m].swap_with_slice(&mut lower[..m]);
        }
        let (upper, lower) = a.split_at_mut((p + 1) * m);
        let head = &upper[p * m + p..];
        for line in lower.chunks_exact_mut(m) {
            let factor = line[p] / head[0];
            line[p] = factor;
            if factor != 0.0 {
                line[p + 1..]
                    .iter_mut()
                    .zip(&head[1..])
                    .for_each(|(x, h)| *x -= factor * h);
            }
        }
    }
    true
}

/// Solves with these factors, in place.
fn substitute(a: &[f64], swaps: &[usize], b: &mut [f64]) {
    let m = b.len();
    for (p, pivot) in swaps.iter().enumerate() {
        b.swap(p, *pivot);
    }
    let sum = |line: &[f64], x: &[f64]| line.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    for p in 0..m {
        b[p] -= sum(&a[p * m..][..p], &b[..p]);
    }
    for p in (0..m).rev() {
        let line = &a[p * m..][..m];
        b[p] = (b[p] - sum(&line[p + 1..], &b[p + 1..])) / line[p];
    }
}

/// Solves `A x = b` in place by elimination with partial pivoting, `A` by rows; `swaps` has as many
/// entries as `b`. False at a zero pivot.
pub(super) fn solve_in_place(a: &mut [f64], swaps: &mut [usize], b: &mut [f64]) -> bool {
    let regular = factor_in_place(a, swaps);
    if regular {
        substitute(a, swaps, b);
    }
    regular
}

#[cfg(test)]
mod tests;
