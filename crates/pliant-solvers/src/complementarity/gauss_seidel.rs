//! Block projected Gauss-Seidel.

use super::cone::ROWS;
use super::report::Tracker;
use super::{Cone, Limits, Method, Outcome, Problem, ProblemError, Report, Solver, solve_block};

/// Options of [`GaussSeidel`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussSeidelOptions {
    /// Limits; an iteration is a sweep, or two if symmetric.
    pub limits: Limits,
    /// Over- (above 1) or underrelaxation, between 0 and 2: each block goes this share of the way
    /// and is projected.
    pub relaxation: f64,
    /// Every sweep is followed by one in the reverse order.
    pub symmetric: bool,
    /// Iterations between two looks at the residual, which cost as much as a sweep.
    pub check_every: usize,
}

impl Default for GaussSeidelOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            relaxation: 1.0,
            symmetric: false,
            check_every: 4,
        }
    }
}

/// Block after block, the law of the block is solved exactly ([`solve_block`]) with the impulses of
/// the others as they are: non-smooth contact dynamics (Jean and Moreau 1992; Jean 1999).
///
/// For a symmetric semidefinite `A` without friction it converges wherever a solution exists and
/// every `A_ii > 0` (Luo and Tseng 1992), by a constant factor per sweep; with friction mostly,
/// without proof. Cost of a sweep: one product with `A` and a scalar equation per contact. Nothing
/// is allocated after the first solve of a size.
#[derive(Clone, Debug, Default)]
pub struct GaussSeidel {
    /// May be changed at any time.
    pub options: GaussSeidelOptions,
    tracker: Tracker,
}

impl GaussSeidel {
    /// A solver with given options.
    pub fn new(options: GaussSeidelOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }
}

/// Checks a relaxation.
pub(crate) fn check_relaxation(value: f64) -> Result<(), ProblemError> {
    if value > 0.0 && value < 2.0 {
        Ok(())
    } else {
        Err(ProblemError::Option {
            what: "the relaxation, between 0 and 2,",
            value,
        })
    }
}

/// Steps of [`descend`].
const STEPS: usize = 10;

/// Projected gradients on `r . A r/2 + b . r` of one block: what a block is for whose law there is
/// no closed form. Always admissible.
fn descend(cone: &Cone, a: &[f64], b: &[f64], r: &mut [f64]) -> bool {
    // No eigenvalue is larger than the trace of a semidefinite block.
    let step = 1.0 / (a[0] + a[4] + a[8]);
    if !(step > 0.0 && step.is_finite()) {
        return false;
    }
    for _ in 0..STEPS {
        let mut next: [f64; 3] = std::array::from_fn(|i| r[i]);
        next[0] -= step * cone.shift(b);
        for i in 0..3 {
            let u = b[i] + (0..3).map(|l| a[3 * i + l] * r[l]).sum::<f64>();
            next[i] -= step * u;
        }
        cone.project(&mut next);
        r[..3].copy_from_slice(&next);
    }
    true
}

/// One sweep over all blocks, in the order of the blocks or in reverse.
pub(crate) fn sweep(problem: &Problem, r: &mut [f64], relaxation: f64, reverse: bool) {
    let blocks = problem.blocks();
    let order = (0..blocks).map(|turn| if reverse { blocks - 1 - turn } else { turn });
    let mut b = [0.0; ROWS];
    let Some(bodies) = problem.bodies() else {
        for k in order {
            let rows = problem.rows(k);
            let b = &mut b[..rows.len()];
            problem.delassus().rows_times(rows.clone(), r, b);
            solve_one(problem, k, b, &mut r[rows], relaxation);
        }
        return;
    };
    // The velocities of the bodies follow the impulses.
    let mut v = bodies.response(r);
    for k in order {
        let rows = problem.rows(k);
        let (b, r) = (&mut b[..rows.len()], &mut r[rows]);
        bodies.velocity(k, r, &v, b);
        let mut change = [0.0; ROWS];
        change[..r.len()].copy_from_slice(r);
        solve_one(problem, k, b, r, relaxation);
        change
            .iter_mut()
            .zip(&*r)
            .for_each(|(old, new)| *old = new - *old);
        bodies.add(k, &change[..r.len()], &mut v);
    }
}

/// Solves the law of one block with the impulses of the others as they are, for its impulses `r`;
/// `b` has `A r` in its rows, and is scratch.
fn solve_one(problem: &Problem, k: usize, b: &mut [f64], r: &mut [f64], relaxation: f64) {
    let (cone, a) = (&problem.cones()[k], problem.diagonal_block(k));
    let d = r.len();
    let mut new = [0.0; ROWS];
    new[..d].copy_from_slice(r);
    for (i, own) in problem.b()[problem.rows(k)].iter().enumerate() {
        b[i] += own;
        for l in 0..d {
            b[i] -= a[i * d + l] * r[l];
        }
    }
    let solved = match cone {
        Cone::Shifted { .. } => descend(cone, a, b, &mut new),
        _ => solve_block(cone, a, b, &mut new),
    };
    if relaxation != 1.0 {
        for (new, old) in new.iter_mut().zip(&*r) {
            *new = old + relaxation * (*new - old);
        }
    }
    if !solved || relaxation != 1.0 {
        cone.project(&mut new[..d]);
    }
    r.copy_from_slice(&new[..d]);
}

impl Solver for GaussSeidel {
    fn method(&self) -> Method {
        Method::GaussSeidel
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.refuse_pyramids(self.method())?;
        let options = self.options;
        check_relaxation(options.relaxation)?;
        let mut end = self.tracker.start(problem, r, options.limits)?;
        let mut iterations = 0;
        let cost = problem.delassus().cost_of_sweep(problem.blocks());
        while end.is_none() && iterations < options.limits.max_iterations {
            sweep(problem, r, options.relaxation, false);
            if options.symmetric {
                sweep(problem, r, options.relaxation, true);
            }
            self.tracker
                .spend(if options.symmetric { 2 * cost } else { cost });
            iterations += 1;
            if iterations.is_multiple_of(options.check_every.max(1))
                || iterations == options.limits.max_iterations
            {
                end = self.tracker.look(problem, r);
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self
            .tracker
            .finish(problem, r, Method::GaussSeidel, end, iterations))
    }
}
