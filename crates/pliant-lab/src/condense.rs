//! From a saddle-point system with unilateral rows to a complementarity problem.

use pliant_solvers::complementarity::{Cone, Problem, ProblemError, SaddleDelassus};
use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveReport};
use pliant_sparse::{CsrMatrix, PatternBuilder};

/// A [`KktSystem`] of bilateral rows with rows `N` that have cones, condensed to those.
///
/// ```math
/// W x - J^T mu - N^T r = c,   J x + R mu + b = 0,   u = N x + R_N r + b_N
/// ```
///
/// With `x = x_0 + X r`, `x_0` the solution for `r = 0` and `X` the responses to the columns of
/// `N^T`: `A = N X + R_N`, the [`SaddleDelassus`] of the rows, and `b = N x_0 + b_N`. Cost: one
/// solve, and what that operator costs.
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

/// The system with the rows of `N` below its own, in blocks between `offsets`.
fn whole(
    system: &KktSystem,
    n: &CsrMatrix,
    compliance: &[f64],
    offsets: &[usize],
) -> Result<KktSystem, ProblemError> {
    let (m, p) = (system.m(), n.pattern().rows());
    let mut j = PatternBuilder::new(m + p, system.n());
    let mut r = PatternBuilder::new(m + p, m + p);
    for i in 0..m {
        system.j.row_entries(i).for_each(|(k, _)| j.insert(i, k));
        system.r.row_entries(i).for_each(|(k, _)| r.insert(i, k));
    }
    for i in 0..p {
        n.row_entries(i).for_each(|(k, _)| j.insert(m + i, k));
        r.insert(m + i, m + i);
    }
    let mut bounds = system.row_blocks().to_vec();
    bounds.extend(offsets[1..].iter().map(|end| m + end));
    let (j, r) = (j.finish()?, r.finish()?);
    let mut out = KktSystem::new(
        system.w.pattern().clone(),
        j,
        r,
        system.primal_blocks().to_vec(),
        bounds,
    )?;
    out.fixed.copy_from_slice(&system.fixed);
    out.w.values_mut().copy_from_slice(system.w.values());
    // Rows are in order, the new ones last.
    let parts = [
        (&mut out.j, system.j.values(), n.values()),
        (&mut out.r, system.r.values(), compliance),
    ];
    for (to, first, last) in parts {
        let (own, new) = to.values_mut().split_at_mut(first.len());
        own.copy_from_slice(first);
        new.copy_from_slice(last);
    }
    Ok(out)
}

impl Condensed {
    /// Condenses `system`, all of whose rows are bilateral, on the rows `n` (p x n) with the
    /// compliances `r` (diagonal of `R_N`, m/(N s)) and the velocities `b` (m/s), p numbers each.
    ///
    /// # Errors
    /// [`ProblemError::Size`], those of [`Problem::new`], and [`ProblemError::Bilateral`] for what
    /// the direct solver refuses, bounded rows among it.
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
        let system = system.clone();
        let c = system.c.clone();
        solver.prepare(&system)?;
        let mut solution = Solution::default();
        let base = solver.solve(&system, &mut solution)?;
        let mut velocity = b.to_vec();
        n.add_product(1.0, &solution.x, &mut velocity);
        let mut offsets = vec![0];
        for cone in &cones {
            offsets.push(offsets[offsets.len() - 1] + cone.rows());
        }
        if offsets[cones.len()] != p {
            return Err(ProblemError::Size {
                what: "the rows of the cones",
                expected: p,
                found: offsets[cones.len()],
            });
        }
        let rows: Vec<usize> = (system.m()..system.m() + p).collect();
        let a = SaddleDelassus::new(&whole(&system, &n, r, &offsets)?, &rows, &offsets)?;
        Ok(Self {
            problem: Problem::new(a, velocity, cones)?,
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
