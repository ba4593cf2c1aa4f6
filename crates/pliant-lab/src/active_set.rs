//! A primal active-set method for quadratic programmes with bounds.

use nalgebra::{DMatrix, DVector};
use pliant_solvers::complementarity::{
    Cone, Limits, Method, Outcome, Problem, ProblemError, Report, RowState, Solver, Tracker, check_rows,
    solve_on,
};

/// Minimises `r^T A r / 2 + b^T r` within the bounds, from face to face (Nocedal and Wright 2006,
/// section 16.5).
///
/// On the free rows the minimiser of the face is the target, `A_FF p = -u_F`; the step ends at the
/// first bound on the way, which joins the working set. At the minimiser of a face the row of least
/// index whose velocity points inwards leaves it (Bland's rule, also among equal ratios). Every
/// iterate keeps the bounds and the objective never rises. [`Dantzig`](crate::Dantzig) instead lets
/// the impulses leave the law row by row and takes no start: here the start, projected, is the
/// first face.
///
/// Where `A_FF` is singular and `u_F` outside its range, the part outside is a direction of no
/// curvature; if no bound stops it, the objective has no lower bound: [`Outcome::Ray`].
///
/// `A` symmetric semidefinite, no friction. Cost: a dense factorisation of the free rows per change
/// of the working set. Allocates.
#[derive(Clone, Debug)]
pub struct ActiveSetQp {
    /// Limits; an iteration is a change of the working set.
    pub limits: Limits,
    tracker: Tracker,
}

impl Default for ActiveSetQp {
    fn default() -> Self {
        Self::new(Limits {
            max_iterations: 10_000,
            ..Limits::default()
        })
    }
}

impl ActiveSetQp {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tracker: Tracker::default(),
        }
    }
}

/// The way to the minimiser of the face, or down a direction without curvature; and whether it is
/// the latter.
fn direction(a: &DMatrix<f64>, free: &[usize], u: &[f64]) -> Option<(DVector<f64>, bool)> {
    let rhs = DVector::from_fn(free.len(), |k, _| -u[free[k]]);
    let p = solve_on(a, free, &rhs)?;
    let rest = DVector::from_fn(free.len(), |k, _| {
        rhs[k]
            - free
                .iter()
                .zip(p.iter())
                .map(|(l, p)| a[(free[k], *l)] * p)
                .sum::<f64>()
    });
    if rest.amax() > 1e-8 * rhs.amax() {
        return Some((rest, true));
    }
    Some((p, false))
}

/// Walks from face to face; how it ended and the changes of the working set.
fn walk(problem: &Problem, r: &mut [f64], max_changes: usize) -> (Outcome, usize) {
    let a = problem.to_dense();
    let bounds: Vec<(f64, f64)> = problem.cones().iter().filter_map(Cone::bounds).collect();
    let mut places = vec![RowState::Free; r.len()];
    for (i, (lower, upper)) in bounds.iter().enumerate() {
        if r[i] <= *lower {
            places[i] = RowState::Lower;
        } else if r[i] >= *upper {
            places[i] = RowState::Upper;
        }
    }
    let mut u = vec![0.0; r.len()];
    let size = problem.b().iter().fold(0.0f64, |m, b| m.max(b.abs()));
    for changes in 0..max_changes {
        let free: Vec<usize> = (0..r.len()).filter(|i| places[*i] == RowState::Free).collect();
        problem.velocity_into(r, &mut u);
        if free.iter().any(|i| u[*i].abs() > 1e-13 * size) {
            let Some((p, flat)) = direction(&a, &free, &u) else {
                return (Outcome::Breakdown, changes);
            };
            let mut step = if flat { f64::INFINITY } else { 1.0 };
            let mut blocking = None;
            for (i, p) in free.iter().zip(p.iter()).filter(|(_, p)| **p != 0.0) {
                let (bound, place) = if *p > 0.0 {
                    (bounds[*i].1, RowState::Upper)
                } else {
                    (bounds[*i].0, RowState::Lower)
                };
                let ratio = ((bound - r[*i]) / p).max(0.0);
                if ratio < step {
                    step = ratio;
                    blocking = Some((*i, bound, place));
                }
            }
            if !step.is_finite() {
                return (Outcome::Ray, changes);
            }
            for (i, p) in free.iter().zip(p.iter()) {
                r[*i] += step * p;
            }
            if let Some((i, bound, place)) = blocking {
                r[i] = bound;
                places[i] = place;
                continue;
            }
            problem.velocity_into(r, &mut u);
        }
        let inwards = |i: &usize| match places[*i] {
            RowState::Lower => u[*i] < -1e-12 * size && bounds[*i].0 < bounds[*i].1,
            RowState::Upper => u[*i] > 1e-12 * size && bounds[*i].0 < bounds[*i].1,
            RowState::Free => false,
        };
        match (0..r.len()).find(inwards) {
            Some(i) => places[i] = RowState::Free,
            None => return (Outcome::Stagnated, changes),
        }
    }
    (Outcome::MaxIterations, max_changes)
}

impl Solver for ActiveSetQp {
    fn method(&self) -> Method {
        Method::Other("active-set")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        check_rows(problem)?;
        let mut end = self.tracker.start(problem, r, self.limits)?;
        let mut changes = 0;
        if end.is_none() {
            problem.project(r);
            let (outcome, count) = walk(problem, r, self.limits.max_iterations);
            changes = count;
            self.tracker.look(problem, r);
            end = Some(outcome);
        }
        let end = end.unwrap_or(Outcome::Stagnated);
        Ok(self
            .tracker
            .finish(problem, r, Method::Other("active-set"), end, changes))
    }
}
