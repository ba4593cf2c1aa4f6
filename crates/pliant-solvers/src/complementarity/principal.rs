//! Principal pivoting: blocks of rows at once, or the least index.

use super::report::Tracker;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use nalgebra::{DMatrix, DVector};
use pliant_dense::{dense_ldlt, semidefinite};

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
    solve_on_any(a, free, rhs, true)
}

/// `x` as of [`solve_on`], without an answer where `A_FF` is singular and symmetric, unless
/// `redundant` rows are wanted.
fn solve_on_any(
    a: &DMatrix<f64>,
    free: &[usize],
    rhs: &DVector<f64>,
    redundant: bool,
) -> Option<DVector<f64>> {
    let n = free.len();
    if n == 0 {
        return Some(DVector::zeros(0));
    }
    let root = |i: usize| {
        let d = a[(free[i], free[i])].abs().sqrt();
        if d > 0.0 { 1.0 / d } else { 1.0 }
    };
    let scale = DVector::from_fn(n, |i, _| root(i));
    let sub = DMatrix::from_fn(n, n, |i, j| a[(free[i], free[j])] * scale[i] * scale[j]);
    let scaled = rhs.component_mul(&scale);
    let symmetric = (0..n).all(|i| (0..i).all(|j| (sub[(i, j)] - sub[(j, i)]).abs() <= 1e-12));
    let definite = if symmetric { sub.clone().cholesky() } else { None };
    let x =
        if let Some(factors) = definite.filter(|f| f.l_dirty().diagonal().iter().all(|d| d * d > SINGULAR)) {
            let mut x = factors.solve(&scaled);
            x += factors.solve(&(&scaled - &sub * &x));
            Some(x)
        } else if symmetric && !redundant {
            None
        } else if symmetric {
            let semidefinite = semidefinite::minimum_norm(&sub, &scaled, SINGULAR);
            Some(semidefinite.unwrap_or_else(|| dense_ldlt::minimum_norm(&sub, &scaled, SINGULAR)))
        } else {
            sub.lu().solve(&scaled)
        };
    let x = x?.component_mul(&scale);
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// The state of a principal pivoting method.
struct Principal {
    a: DMatrix<f64>,
    states: Vec<RowState>,
    bounds: Vec<(f64, f64)>,
    u: Vec<f64>,
}

impl Principal {
    fn new(problem: &Problem, r: &[f64]) -> Self {
        let bounds: Vec<(f64, f64)> = problem.cones().iter().filter_map(super::Cone::bounds).collect();
        let state_of = |((lower, upper), r): (&(f64, f64), &f64)| {
            if *r <= *lower {
                RowState::Lower
            } else if *r >= *upper {
                RowState::Upper
            } else {
                RowState::Free
            }
        };
        Self {
            a: problem.to_dense(),
            states: bounds.iter().zip(r).map(state_of).collect(),
            bounds,
            u: vec![0.0; r.len()],
        }
    }

    /// Computes impulse and velocity of the states as they are, and lists the rows that violate
    /// their law with the states they want.
    fn survey(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        redundant: bool,
    ) -> Option<Vec<(usize, RowState)>> {
        let m = r.len();
        let mut free = Vec::new();
        for i in 0..m {
            r[i] = match self.states[i] {
                RowState::Lower => self.bounds[i].0,
                RowState::Upper => self.bounds[i].1,
                RowState::Free => {
                    free.push(i);
                    0.0
                }
            };
        }
        problem.velocity_into(r, &mut self.u);
        let rhs = DVector::from_fn(free.len(), |i, _| -self.u[free[i]]);
        let x = solve_on_any(&self.a, &free, &rhs, redundant)?;
        for (i, x) in free.iter().zip(x.iter()) {
            r[*i] = *x;
        }
        problem.velocity_into(r, &mut self.u);
        let mut out = Vec::new();
        for i in 0..m {
            let (lower, upper) = self.bounds[i];
            let terms = (0..m).fold(problem.b()[i].abs(), |a, k| a.max((self.a[(i, k)] * r[k]).abs()));
            let small = 1e-13 * terms;
            let slack = small / problem.scale(i);
            let want = match self.states[i] {
                RowState::Free if r[i] < lower - slack => RowState::Lower,
                RowState::Free if r[i] > upper + slack => RowState::Upper,
                RowState::Lower if self.u[i] < -small && lower < upper => RowState::Free,
                RowState::Upper if self.u[i] > small && lower < upper => RowState::Free,
                same => same,
            };
            if want != self.states[i] {
                out.push((i, want));
            }
        }
        Some(out)
    }
}

fn run(
    tracker: &mut Tracker,
    problem: &Problem,
    r: &mut [f64],
    options: BlockPivotingOptions,
) -> Result<Report, ProblemError> {
    let BlockPivotingOptions {
        limits,
        patience,
        redundant,
    } = options;
    check_rows(problem)?;
    let mut end = tracker.start(problem, r, limits)?;
    let mut iterations = 0;
    if end.is_none() {
        let mut state = Principal::new(problem, r);
        let (mut fewest, mut left) = (usize::MAX, patience);
        end = loop {
            let Some(violators) = state.survey(problem, r, redundant) else {
                break Some(Outcome::Breakdown);
            };
            if violators.is_empty() {
                // Rounding may leave an impulse just outside.
                problem.project(r);
                tracker.look(problem, r);
                break Some(Outcome::Stagnated);
            }
            if limits.history {
                tracker.look(problem, r);
            }
            let free = state.states.iter().filter(|s| **s == RowState::Free).count() as u64;
            tracker.spend(free * free * free + 2 * problem.delassus().cost());
            if tracker.is_overworked() {
                break Some(Outcome::TooMuchWork);
            }
            if iterations >= limits.max_iterations {
                break Some(Outcome::MaxIterations);
            }
            iterations += 1;
            if violators.len() < fewest {
                fewest = violators.len();
                left = patience;
            } else {
                left = left.saturating_sub(1);
            }
            let count = if left > 0 { violators.len() } else { 1 };
            for (i, wanted) in &violators[..count] {
                state.states[*i] = *wanted;
            }
        };
    }
    let end = end.unwrap_or(Outcome::Stagnated);
    Ok(tracker.finish(problem, r, Method::BlockPivoting, end, iterations))
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
/// factorisation of the free rows each. Allocates.
#[derive(Clone, Debug, Default)]
pub struct BlockPivoting {
    /// May be changed at any time.
    pub options: BlockPivotingOptions,
    tracker: Tracker,
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
        run(&mut self.tracker, problem, r, self.options)
    }
}
