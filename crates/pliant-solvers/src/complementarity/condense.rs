//! From a saddle-point system with unilateral rows to a complementarity problem.

use super::{Cone, DenseDelassus, Problem, ProblemError};
use crate::{DirectSolver, KktSystem, Solution, SolveReport, Status};
use pliant_sparse::CsrMatrix;

/// A [`KktSystem`] of bilateral rows with rows `N` that have cones, condensed to those.
///
/// ```math
/// W x - J^T mu - N^T r = c,   J x + R mu + b = 0,   u = N x + R_N r + b_N
/// ```
///
/// With `x = x_0 + X r`, `x_0` the solution for `r = 0` and `X` the responses to the columns of `N^T`: `A = N X + R_N`, symmetrised, and
/// `b = N x_0 + b_N`. Cost: one factorisation, one solve per row of `N` (each with its residual), `p^2` for the dense `A`.
#[derive(Debug)]
pub struct Condensed {
    /// `u = A r + b` with the cones.
    pub problem: Problem,
    /// How the solve for `r = 0` went: its rows may contradict each other.
    pub base: SolveReport,
    system: KktSystem,
    n: CsrMatrix,
    c: Vec<f64>,
    solver: DirectSolver,
}

impl Condensed {
    /// Condenses `system`, all of whose rows are bilateral, on the rows `n` (p x n) with the compliances `r` (diagonal of `R_N`, m/(N s)) and the
    /// velocities `b` (m/s), p numbers each.
    ///
    /// # Errors
    /// [`ProblemError::Size`], those of [`Problem::new`], [`ProblemError::Response`], and [`ProblemError::Bilateral`] for what the direct solver refuses, bounded
    /// rows among it.
    pub fn new(
        system: &KktSystem,
        n: CsrMatrix,
        r: &[f64],
        b: &[f64],
        cones: Vec<Cone>,
    ) -> Result<Self, ProblemError> {
        let p = n.pattern().rows();
        let sizes = [
            ("the columns of N", system.n(), n.pattern().columns()),
            ("the compliances", p, r.len()),
            ("b", p, b.len()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(ProblemError::Size {
                    what,
                    expected,
                    found,
                });
            }
        }
        let mut solver = DirectSolver::default();
        let mut system = system.clone();
        let c = system.c.clone();
        solver.prepare(&system)?;
        let mut solution = Solution::default();
        let base = solver.solve(&system, &mut solution)?;
        let mut velocity = b.to_vec();
        n.add_product(1.0, &solution.x, &mut velocity);
        // The responses have no other right-hand side than the column.
        let own_b = system.b.clone();
        let own_rounding = system.b_rounding.clone();
        system.b.fill(0.0);
        system.b_rounding.fill(0.0);
        let mut a = vec![0.0; p * p];
        let mut unit = vec![0.0; p];
        for k in 0..p {
            system.c.fill(0.0);
            unit[k] = 1.0;
            n.add_transpose_product(1.0, &unit, &mut system.c);
            unit[k] = 0.0;
            let response = solver.solve(&system, &mut solution)?;
            if response.status != Status::Converged {
                return Err(ProblemError::Response {
                    row: k,
                    relative: response.residual.relative,
                });
            }
            n.add_product(1.0, &solution.x, &mut a[k * p..(k + 1) * p]);
        }
        for i in 0..p {
            for k in 0..i {
                let mean = 0.5 * (a[i * p + k] + a[k * p + i]);
                a[i * p + k] = mean;
                a[k * p + i] = mean;
            }
            a[i * p + i] += r[i];
        }
        system.b = own_b;
        system.b_rounding = own_rounding;
        system.c.copy_from_slice(&c);
        Ok(Self {
            problem: Problem::new(DenseDelassus::new(&a)?, velocity, cones)?,
            base,
            system,
            n,
            c,
            solver,
        })
    }

    /// `x` and `mu` for an impulse `r` of the rows with cones, by one more solve.
    ///
    /// # Errors
    /// [`ProblemError::Size`], [`ProblemError::NotFinite`], [`ProblemError::Bilateral`].
    pub fn recover(&mut self, r: &[f64], solution: &mut Solution) -> Result<SolveReport, ProblemError> {
        self.problem.check_start(r)?;
        self.system.c.copy_from_slice(&self.c);
        self.n.add_transpose_product(1.0, r, &mut self.system.c);
        Ok(self.solver.solve(&self.system, solution)?)
    }
}
