//! Principal pivoting: blocks of rows at once, or the least index.

use super::report::Tracker;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, DVector, DVectorView, DVectorViewMut};
use pliant_dense::in_place;
use pliant_dense::semidefinite::MinimumNorm;

/// Share of the diagonal below which a pivot counts as zero.
const SINGULAR: f64 = 1e-11;

fn pivot_limits() -> Limits {
    Limits {
        max_iterations: 10_000,
        ..Limits::default()
    }
}

/// The state of a row in a pivoting method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// The impulse is at its lower bound.
    Lower,
    /// The velocity is zero.
    Free,
    /// The impulse is at its upper bound.
    Upper,
}

/// Refuses friction, for methods that pivot on single rows.
///
/// # Errors
/// [`ProblemError::Unsuitable`] at the first block that has no bounds.
pub fn check_rows(problem: &Problem) -> Result<(), ProblemError> {
    match problem.cones().iter().position(|c| c.bounds().is_none()) {
        Some(block) => Err(ProblemError::Unsuitable {
            block,
            why: "friction is not for this solver",
        }),
        None => Ok(()),
    }
}

/// `x` with `A_FF x = rhs` on the rows `free` of `A` (m x m), by Cholesky or LU; the least-squares
/// answer of minimum norm if `A_FF` is singular and symmetric. None if it is singular otherwise.
pub fn solve_on(a: &DMatrix<f64>, free: &[usize], rhs: &DVector<f64>) -> Option<DVector<f64>> {
    let mut system = FreeSystem::default();
    let found = system.solve(|i, k| a[(i, k)], free, rhs.iter().copied(), true);
    found.then(|| DVector::from_vec(system.x))
}

/// `A_FF x = rhs`, with storage that grows only with more rows than ever before.
#[derive(Clone, Debug, Default)]
struct FreeSystem {
    /// The solution.
    x: Vec<f64>,
    /// Factors of rows and columns that make the diagonal of `A_FF` ones.
    scale: Vec<f64>,
    matrix: Vec<f64>,
    factor: Vec<f64>,
    rhs: Vec<f64>,
    rest: Vec<f64>,
    least: MinimumNorm,
}

impl FreeSystem {
    /// Solves as [`solve_on`] says for the entries of `A`, and without an answer where `A_FF` is
    /// singular and symmetric, unless `redundant` rows are wanted. False if there is no answer.
    fn solve(
        &mut self,
        a: impl Fn(usize, usize) -> f64,
        free: &[usize],
        rhs: impl Iterator<Item = f64>,
        redundant: bool,
    ) -> bool {
        let root = |i: usize| {
            let d = a(i, i).abs().sqrt();
            if d > 0.0 { 1.0 / d } else { 1.0 }
        };
        self.scale.clear();
        self.scale.extend(free.iter().map(|i| root(*i)));
        self.matrix.clear();
        for (k, column) in free.iter().zip(&self.scale) {
            let rows = free.iter().zip(&self.scale);
            self.matrix.extend(rows.map(|(i, row)| a(*i, *k) * row * column));
        }
        self.rhs.clear();
        self.rhs.extend(rhs.zip(&self.scale).map(|(b, s)| b * s));
        let found = self.solve_scaled(redundant);
        self.x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
        found && self.x.iter().all(|x| x.is_finite())
    }

    /// Solves the scaled system.
    fn solve_scaled(&mut self, redundant: bool) -> bool {
        let n = self.rhs.len();
        self.x.clone_from(&self.rhs);
        self.rest.clone_from(&self.rhs);
        self.factor.clone_from(&self.matrix);
        let matrix = DMatrixView::from_slice(&self.matrix, n, n);
        let mut factor = DMatrixViewMut::from_slice(&mut self.factor, n, n);
        let mut x = DVectorViewMut::from_slice(&mut self.x, n);
        let difference = |i: usize, k: usize| (matrix[(i, k)] - matrix[(k, i)]).abs();
        let symmetric = (0..n).all(|i| (0..i).all(|k| difference(i, k) <= 1e-12));
        if !symmetric {
            return in_place::solve_general(&mut factor, &mut x);
        }
        if in_place::cholesky(&mut factor) && (0..n).all(|i| factor[(i, i)] * factor[(i, i)] > SINGULAR) {
            in_place::solve_cholesky(factor.as_view(), &mut x);
            let rhs = DVectorView::from_slice(&self.rhs, n);
            let mut rest = DVectorViewMut::from_slice(&mut self.rest, n);
            matrix.mul_to(&x, &mut rest);
            rest.zip_apply(&rhs, |r, b| *r = b - *r);
            in_place::solve_cholesky(factor.as_view(), &mut rest);
            x += rest;
            return true;
        }
        if redundant {
            self.least.solve(matrix, &self.rhs, SINGULAR, &mut self.x);
        }
        redundant
    }
}

/// A row that violates its law.
#[derive(Clone, Copy, Debug)]
struct Violator {
    row: usize,
    wanted: RowState,
}

/// The state of a principal pivoting method, in storage that grows only with a problem of more rows
/// than ever before.
#[derive(Clone, Debug, Default)]
struct Principal {
    /// `A`, row by row.
    a: Vec<f64>,
    states: Vec<RowState>,
    bounds: Vec<(f64, f64)>,
    u: Vec<f64>,
    free: Vec<usize>,
    system: FreeSystem,
    violators: Vec<Violator>,
}

impl Principal {
    /// Begins with the states of an impulse.
    fn start(&mut self, problem: &Problem, r: &[f64]) {
        let m = r.len();
        let state_of = |((lower, upper), r): (&(f64, f64), &f64)| {
            if *r <= *lower {
                RowState::Lower
            } else if *r >= *upper {
                RowState::Upper
            } else {
                RowState::Free
            }
        };
        self.a.clear();
        self.a.resize(m * m, 0.0);
        problem.delassus().block(0..m, 0..m, &mut self.a);
        self.bounds.clear();
        self.bounds
            .extend(problem.cones().iter().filter_map(super::Cone::bounds));
        self.states.clear();
        self.states.extend(self.bounds.iter().zip(r).map(state_of));
        self.u.clear();
        self.u.resize(m, 0.0);
    }

    /// Computes impulse and velocity of the states as they are, and lists the rows that violate
    /// their law with the states they want. False if the free rows have no answer.
    fn survey(&mut self, problem: &Problem, r: &mut [f64], redundant: bool) -> bool {
        let m = r.len();
        self.free.clear();
        for i in 0..m {
            r[i] = match self.states[i] {
                RowState::Lower => self.bounds[i].0,
                RowState::Upper => self.bounds[i].1,
                RowState::Free => {
                    self.free.push(i);
                    0.0
                }
            };
        }
        problem.velocity_into(r, &mut self.u);
        let rhs = self.free.iter().map(|i| -self.u[*i]);
        let entry = |i: usize, k: usize| self.a[i * m + k];
        if !self.system.solve(entry, &self.free, rhs, redundant) {
            return false;
        }
        for (i, x) in self.free.iter().zip(&self.system.x) {
            r[*i] = *x;
        }
        problem.velocity_into(r, &mut self.u);
        self.violators.clear();
        for i in 0..m {
            let (lower, upper) = self.bounds[i];
            let products = self.a[i * m..][..m].iter().zip(&*r);
            let terms = products.fold(problem.b()[i].abs(), |t, (a, r)| t.max((a * r).abs()));
            let small = 1e-13 * terms;
            let slack = small / problem.scale(i);
            let wanted = match self.states[i] {
                RowState::Free if r[i] < lower - slack => RowState::Lower,
                RowState::Free if r[i] > upper + slack => RowState::Upper,
                RowState::Lower if self.u[i] < -small && lower < upper => RowState::Free,
                RowState::Upper if self.u[i] > small && lower < upper => RowState::Free,
                same => same,
            };
            if wanted != self.states[i] {
                self.violators.push(Violator { row: i, wanted });
            }
        }
        true
    }

    /// Gives the first violators the states they want.
    fn pivot(&mut self, count: usize) {
        for violator in &self.violators[..count] {
            self.states[violator.row] = violator.wanted;
        }
    }
}

/// Options of [`BlockPivoting`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockPivotingOptions {
    /// Limits; an iteration is a change of the set.
    pub limits: Limits,
    /// Rounds in which the number of violators may fail to decrease before single pivots take over;
    /// none leaves it to single pivots from the start, which is the method of Murty (1974).
    pub patience: usize,
    /// Whether it goes on, with impulses of minimum norm, where the rows of a set are redundant: of
    /// such sets there may be many that solve nothing. Else it ends as a breakdown.
    pub redundant: bool,
}

impl Default for BlockPivotingOptions {
    fn default() -> Self {
        Self {
            limits: pivot_limits(),
            patience: 10,
            redundant: true,
        }
    }
}

/// All rows that violate their law change places at once (Kostreva 1978; Júdice and Pires 1994);
/// when their number has not decreased for a while, the one of least index alone (Murty 1974) until
/// it does.
///
/// No friction. For a P-matrix (every definite one) it ends at the solution, mostly after a handful
/// of rounds. For a singular `A`, sets of dependent rows take the answer of minimum norm, and it
/// may go in circles, up to the limit of iterations. The start gives the first set. Cost: a dense
/// factorisation of the free rows each. Allocates only for more rows than ever before.
#[derive(Clone, Debug, Default)]
pub struct BlockPivoting {
    /// May be changed at any time.
    pub options: BlockPivotingOptions,
    tracker: Tracker,
    state: Principal,
}

impl BlockPivoting {
    /// A solver with given options.
    pub fn new(options: BlockPivotingOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }
}

impl Solver for BlockPivoting {
    fn method(&self) -> Method {
        Method::BlockPivoting
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let BlockPivotingOptions {
            limits,
            patience,
            redundant,
        } = self.options;
        let (tracker, state) = (&mut self.tracker, &mut self.state);
        check_rows(problem)?;
        let mut end = tracker.start(problem, r, limits)?;
        let mut iterations = 0;
        if end.is_none() {
            state.start(problem, r);
        }
        let (mut fewest, mut left) = (usize::MAX, patience);
        while end.is_none() {
            if !state.survey(problem, r, redundant) {
                end = Some(Outcome::Breakdown);
                break;
            }
            let violators = state.violators.len();
            if violators == 0 {
                // Rounding may leave an impulse just outside.
                problem.project(r);
                tracker.look(problem, r);
                break;
            }
            if limits.history {
                tracker.look(problem, r);
            }
            let free = state.free.len() as u64;
            tracker.spend(free * free * free + 2 * problem.delassus().cost());
            if tracker.is_overworked() {
                end = Some(Outcome::TooMuchWork);
                break;
            }
            if iterations >= limits.max_iterations {
                end = Some(Outcome::MaxIterations);
                break;
            }
            iterations += 1;
            if violators < fewest {
                fewest = violators;
                left = patience;
            } else {
                left = left.saturating_sub(1);
            }
            state.pivot(if left > 0 { violators } else { 1 });
        }
        let end = end.unwrap_or(Outcome::Stagnated);
        Ok(tracker.finish(problem, r, Method::BlockPivoting, end, iterations))
    }
}
