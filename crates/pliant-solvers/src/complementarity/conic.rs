//! Saddle-point systems with cones, from statement to answer.

pub(super) mod layout;

use super::auto::AutoOrders;
use super::saddle::DelassusForm;
use super::{
    Auto, AutoOptions, Cone, ConeProfile, DelassusChoice, Determinacy, Limits, Method, Outcome, Problem,
    ProblemError, Report, Residual, SaddleDelassus, Solver,
};
use crate::bounds::BoundState;
use crate::direct::Laps;
use crate::order::OrderMemory;
use crate::{
    DirectOptions, DirectSolver, Elimination, KktSystem, Solution, SolveReport, SolverCounters, Status,
};
use layout::Layout;
use pliant_sparse::PatternBuilder;

/// Report of [`ConicSolver`]: parts, and the judgement on the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct ConicReport {
    /// [`Outcome::Converged`] only if the linear part converged and [`residual`](Self::residual) is
    /// [good enough](AutoOptions::enough).
    pub outcome: Outcome,
    /// Variables and bilateral rows, with the multipliers of the others as they are: residual
    /// against the matrices as given, redundant rows.
    pub linear: SolveReport,
    /// Rows with cones, from their velocities `J x + R mu + b` as given (not from a Delassus
    /// operator).
    pub residual: Residual,
    /// Residual of the rows with cones by the [exact](Cone::exact) laws of contacts whose shift is
    /// known; equal to [`residual`](Self::residual) without such.
    pub exact: Residual,
    /// Report of the complementarity solver.
    pub cones: Report,
}

/// Solves a [`KktSystem`] with one law per block of rows:
///
/// ```math
/// W x - J^T mu = c,   u = J x + R mu + b,   u = 0 for bilateral rows,   a Cone between mu and u for others
/// ```
///
/// A block without cone is bilateral, except for rows with finite [`bounds`](KktSystem::bounds),
/// which are bounded; compliance `R` may be on any row. `prepare` factors the bilateral part and
/// builds the [`SaddleDelassus`]; `solve` starts from the multipliers in the solution, if there are
/// as many as rows, runs a [`Solver`] ([`Auto`] unless another one is given), and recovers and
/// judges the whole. Nothing is allocated but for more rows or entries than ever before, for an
/// operator without entries, and by the solver itself.
///
/// ```
/// use pliant_solvers::complementarity::{Cone, ConicSolver, Outcome};
/// use pliant_solvers::{KktSystem, Solution};
/// // A unit mass falls with 1 m/s onto a floor, x >= 0.
/// let mut system = KktSystem::dense(&[1.0], &[1.0], &[0.0])?;
/// system.c[0] = -1.0;
/// let mut solver = ConicSolver::default();
/// solver.prepare(&system, &[Some(Cone::NonNegative)])?;
/// let mut solution = Solution::default();
/// let report = solver.solve(&system, &mut solution)?;
/// assert_eq!(report.outcome, Outcome::Converged);
/// assert!(solution.x[0].abs() < 1e-12 && (solution.mu[0] - 1.0).abs() < 1e-9);
/// # Ok::<(), pliant_solvers::complementarity::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct ConicSolver {
    /// Options of [`Auto`]; may be changed at any time. [`AutoOptions::enough`] is what an answer
    /// is judged by, whichever solver it is of.
    pub options: AutoOptions,
    /// The one method that is to solve instead of [`Auto`], to a residual that is
    /// [enough](AutoOptions::enough); made anew for every solve. For comparison.
    pub only: Option<Method>,
    /// Made when it is first asked for.
    auto: Option<Box<Auto>>,
    direct: DirectSolver,
    /// The system without what its rows with cones take of the variables: they act by their
    /// multipliers.
    held: KktSystem,
    /// Whether it, and the layout, are of the last system.
    is_laid_out: bool,
    builder: PatternBuilder,
    problem: Option<Box<Problem>>,
    /// Storage for the next problem, if there is any.
    spare: Option<Box<Problem>>,
    layout: Layout,
    rows: ConeRows,
    /// Order of the bilateral part for the next operator.
    operator: Option<Elimination>,
    ready: bool,
    profile: ConeProfile,
}

/// Numbers of the rows with cones.
#[derive(Debug, Default)]
struct ConeRows {
    /// The cones of the layout.
    cones: Vec<Cone>,
    /// Impulses of the last solve.
    r: Vec<f64>,
    /// Velocities of the last solve.
    u: Vec<f64>,
}

/// Memory of a [`ConicSolver`], as plain values.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ConicMemory {
    /// Of the bilateral part.
    pub(crate) direct: OrderMemory,
    /// Of the operator of the rows with cones.
    pub(crate) operator: OrderMemory,
    pub(crate) auto: AutoOrders,
}

impl ConicMemory {
    /// Makes it that of a new solver.
    pub(crate) fn clear(&mut self) {
        self.direct.clear();
        self.operator.clear();
        self.auto.clear();
    }
}

/// `J x + R mu + b` of some rows.
fn velocities(system: &KktSystem, rows: &[usize], solution: &Solution, u: &mut Vec<f64>) {
    u.clear();
    let (of_j, of_r) = (system.j.pattern(), system.r.pattern());
    // With a diagonal alone no row has entries of the upper triangle.
    let is_diagonal = of_r.len() == system.m();
    u.extend(rows.iter().map(|i| {
        let mut sum = system.b[*i];
        for slot in of_j.row_slots(*i) {
            sum += system.j.values()[slot] * solution.x[of_j.indices()[slot] as usize];
        }
        for slot in of_r.row_slots(*i) {
            sum += system.r.values()[slot] * solution.mu[of_r.indices()[slot] as usize];
        }
        if is_diagonal {
            return sum;
        }
        // The upper triangle is that of the rows of the block that follow.
        let block = system.row_blocks().partition_point(|first| first <= i);
        let end = system.row_blocks().get(block).copied().unwrap_or(0);
        for k in i + 1..end {
            sum += system.r.get(k, *i) * solution.mu[k];
        }
        sum
    }));
}

impl ConicSolver {
    /// A solver with given options, of cones and of the linear part.
    pub fn new(options: AutoOptions, direct: DirectOptions) -> Self {
        Self {
            options,
            direct: DirectSolver::new(direct),
            ..Self::default()
        }
    }

    /// The complementarity problem of the last `prepare`, with the `b` of the last `solve`.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_deref()
    }

    /// All that one solve with [`Auto`] hands to the next, but for the start: orders of
    /// elimination.
    pub fn memory(&self) -> ConicMemory {
        let mut out = ConicMemory::default();
        self.record(&mut out);
        out
    }

    /// Writes [`memory`](Self::memory) into buffers that are there.
    pub fn record(&self, out: &mut ConicMemory) {
        self.direct.record_order(&mut out.direct);
        match &self.problem {
            Some(problem) => problem.record(&mut out.operator),
            None => out.operator.take(self.operator.as_ref()),
        }
        match &self.auto {
            Some(auto) => auto.record(&mut out.auto),
            None => out.auto.clear(),
        }
    }

    /// Forgets all plans; the next `prepare` takes the given orders where they fit its system. Then
    /// answers are the same bit for bit as those of the solver whose memory it was.
    pub fn impose(&mut self, memory: ConicMemory) {
        self.is_laid_out = false;
        self.retire_problem();
        self.ready = false;
        self.direct.forget(memory.direct.into_order());
        self.operator = memory.operator.into_order();
        if self.auto.is_some() || !memory.auto.is_empty() {
            self.auto.get_or_insert_default().forget(memory.auto);
        }
    }

    /// Keeps the storage of the problem for the next one.
    fn retire_problem(&mut self) {
        self.spare = self.problem.take().or(self.spare.take());
    }

    /// Tolerances of the linear part.
    pub fn set_direct_options(&mut self, options: DirectOptions) {
        self.direct.options = options;
    }

    /// Rows of the system with cones or bounds, and their velocities without impulses of such rows,
    /// as of the last `solve`.
    pub fn free_velocities(&self) -> impl Iterator<Item = (usize, f64)> {
        let b = self.problem.as_deref().map_or(&[][..], Problem::b);
        self.layout.rows.iter().copied().zip(b.iter().copied())
    }

    /// Rows of the system with cones or bounds, and their velocities, as of the last `solve`.
    pub fn velocities(&self) -> impl Iterator<Item = (usize, f64)> {
        self.layout.rows.iter().copied().zip(self.rows.u.iter().copied())
    }

    /// The time since it was taken last.
    pub(super) fn take_profile(&mut self) -> ConeProfile {
        let mut out = std::mem::take(&mut self.profile);
        if let Some(auto) = &mut self.auto {
            out.stages = auto.take_profile();
        }
        out
    }

    /// Work of the factor of the bilateral part so far.
    pub fn counters(&self) -> SolverCounters {
        self.direct.counters()
    }

    /// The diagonal block of the operator at the block with a cone that starts at this row of the
    /// system, row by row; `None` if none does.
    pub fn diagonal_block(&self, row: usize) -> Option<&[f64]> {
        let at = self.layout.rows.binary_search(&row).ok()?;
        let block = self.layout.boundaries.binary_search(&at).ok()?;
        Some(self.problem.as_ref()?.diagonal_block(block))
    }

    /// Whether the impulses of the last `solve` of a system are the only ones with its velocities,
    /// of whose bilateral rows so many are redundant.
    pub(crate) fn determinacy(&self, system: &KktSystem, redundant: usize) -> Determinacy {
        let Some(problem) = self.problem.as_deref().filter(|p| p.size() == self.rows.r.len()) else {
            return Determinacy::default();
        };
        // Every hard row that is not redundant takes one from the rank of the operator.
        let free = system.fixed.iter().filter(|fixed| !**fixed).count();
        let holds = |i: &usize| self.layout.states[*i] != BoundState::Both && system.r_diagonal(*i) == 0.0;
        let hard = (0..system.m()).filter(holds).count();
        problem.determinacy(
            &self.rows.r,
            &self.rows.u,
            (free + redundant).saturating_sub(hard),
        )
    }

    /// Velocities that an impulse on one block with a cone makes in all rows with cones:
    /// `(row, (A r)_row)`. Cost: the columns of the block. Empty if no block of as many rows starts
    /// at this row of the system.
    pub fn response(&self, row: usize, r: &[f64]) -> Vec<(usize, f64)> {
        let (Some(problem), Ok(at)) = (&self.problem, self.layout.rows.binary_search(&row)) else {
            return Vec::new();
        };
        if at + r.len() > self.layout.rows.len() {
            return Vec::new();
        }
        let mut columns = vec![0.0; self.layout.rows.len() * r.len()];
        let range = at..at + r.len();
        problem
            .delassus()
            .block(0..self.layout.rows.len(), range, &mut columns);
        let lines = columns.chunks_exact(r.len());
        let velocities = lines.map(|line| line.iter().zip(r).map(|(a, r)| a * r).sum());
        self.layout.rows.iter().copied().zip(velocities).collect()
    }

    /// Analyses the pattern if it changed, and takes the values. One entry of `cones` per row
    /// block.
    ///
    /// # Errors
    /// [`ProblemError::Size`] if there are not as many cones as row blocks or one does not have the
    /// rows of its block; those of [`Problem::new`] and of [`DirectSolver::prepare`].
    pub fn prepare(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        self.ready = false;
        system.check()?;
        let blocks = system.row_blocks();
        let size = |what, expected, found| ProblemError::Size {
            what,
            expected,
            found,
        };
        if cones.len() + 1 != blocks.len() {
            return Err(size("cones, one per row block,", blocks.len() - 1, cones.len()));
        }
        let h = &self.held;
        let fits = self.is_laid_out
            && h.row_blocks() == blocks
            && h.fixed == system.fixed
            && h.w.pattern() == system.w.pattern()
            && h.r.pattern() == system.r.pattern()
            && self.layout.fits(system, cones);
        if !fits {
            self.retire_problem();
            self.is_laid_out = false;
            self.layout.refill(system, cones)?;
            self.layout.hold(system, &mut self.builder, &mut self.held)?;
            self.is_laid_out = true;
        }
        let mut laps = Laps::start();
        let (layout, held) = (&mut self.layout, &mut self.held);
        // First, because it names variables and rows of the whole system where something is wrong.
        held.w.values_mut().copy_from_slice(system.w.values());
        for i in (0..system.m()).filter(|i| layout.states[*i] != BoundState::Both) {
            let (to, from) = (held.j.pattern().row_slots(i), system.j.pattern().row_slots(i));
            held.j.values_mut()[to].copy_from_slice(&system.j.values()[from]);
        }
        held.r.values_mut().copy_from_slice(system.r.values());
        held.b_rounding.copy_from_slice(&system.b_rounding);
        laps.add_to(&mut self.profile.copies);
        self.direct.hold(&layout.states);
        self.direct.prepare_safely(held)?;
        laps.add_to(&mut self.profile.factor);
        let updated = match &mut self.problem {
            Some(problem) => problem.update(system)?,
            None => false,
        };
        layout.list_cones(system, cones, &mut self.rows.cones);
        match &mut self.problem {
            Some(problem) if updated => problem.set_cones(&self.rows.cones)?,
            _ => self.state(system)?,
        }
        laps.add_to(&mut self.profile.operator);
        self.ready = true;
        Ok(())
    }

    /// States the problem of the rows with cones anew.
    fn state(&mut self, system: &KktSystem) -> Result<(), ProblemError> {
        self.retire_problem();
        let mut problem = self.spare.take().unwrap_or_else(|| Box::new(Problem::empty()));
        let threads = self.direct.options.threads.max(1);
        let kept = DelassusForm {
            choice: DelassusChoice::Auto,
            threads,
            order: self.operator.take(),
        };
        let (layout, work) = (&self.layout, self.direct.workspace());
        let stated = problem.refill(&self.rows.cones, |delassus: &mut SaddleDelassus| {
            delassus.refill(system, &layout.rows, &layout.boundaries, kept, work)
        });
        match stated {
            Ok(()) => self.problem = Some(problem),
            Err(_) => self.spare = Some(problem),
        }
        stated
    }

    /// Replaces the laws by others of as many rows each, between solves; the factors stay.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`](crate::SolveError::NotPrepared) without a matching `prepare`,
    /// and those of [`Problem::set_cones`].
    pub fn set_cones(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        let same = |(a, b): (&Option<Cone>, &Option<Cone>)| a.map(|c| c.rows()) == b.map(|c| c.rows());
        if !self.ready
            || self.layout.laws.len() != cones.len()
            || !self.layout.laws.iter().zip(cones).all(same)
        {
            return Err(crate::SolveError::NotPrepared.into());
        }
        self.layout.list_cones(system, cones, &mut self.rows.cones);
        match &mut self.problem {
            Some(problem) => problem.set_cones(&self.rows.cones),
            None => Err(crate::SolveError::NotPrepared.into()),
        }
    }

    /// Solves with [`Auto`]; where that fails from the multipliers in the solution, once more from
    /// none (unless that was all the [`work`](AutoOptions::work) allowed), and the better answer is
    /// kept.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`](crate::SolveError::NotPrepared) without a matching `prepare`,
    /// and what the direct and the complementarity solver refuse.
    pub fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<ConicReport, ProblemError> {
        // Out of the way of the borrow checker for the time being.
        let mut auto = self.auto.take().unwrap_or_default();
        let found = self.solve_twice(&mut auto, system, solution);
        self.auto = Some(auto);
        found
    }

    fn solve_twice(
        &mut self,
        auto: &mut Auto,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<ConicReport, ProblemError> {
        auto.options = self.options;
        let enough = Limits {
            tolerance: self.options.enough(),
            ..self.options.limits
        };
        let mut own = self.only.and_then(|method| method.solver(enough));
        let solver: &mut dyn Solver = match &mut own {
            Some(own) => own.as_mut(),
            None => &mut *auto,
        };
        let rows = &self.layout.rows;
        let warm = rows
            .iter()
            .any(|i| solution.mu.get(*i).is_some_and(|r| *r != 0.0));
        let first = self.solve_with(solver, system, solution)?;
        let (iterations, work) = (first.cones.iterations, first.cones.work);
        let is_last = !warm
            || iterations * self.layout.rows.len() >= self.options.work
            || work >= self.options.limits.work
            || first.outcome == Outcome::Converged;
        if is_last {
            return Ok(first);
        }
        let kept = solution.clone();
        solution.mu.clear();
        let left = self.options.limits.work - work;
        auto.options.limits.work = left;
        own = self
            .only
            .and_then(|method| method.solver(Limits { work: left, ..enough }));
        let solver: &mut dyn Solver = match &mut own {
            Some(own) => own.as_mut(),
            None => auto,
        };
        let again = self.solve_with(solver, system, solution)?;
        let is_better =
            again.outcome == Outcome::Converged || again.residual.measure() < first.residual.measure();
        let mut found = if is_better {
            again
        } else {
            solution.clone_from(&kept);
            first
        };
        found.cones.iterations += iterations;
        found.cones.work = found.cones.work.saturating_add(work);
        Ok(found)
    }

    /// Solves with a given solver; the answer is judged by the [`options`](Self::options) all the
    /// same.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn solve_with(
        &mut self,
        solver: &mut dyn Solver,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<ConicReport, ProblemError> {
        system.check()?;
        let (Some(problem), true) = (&mut self.problem, self.ready) else {
            return Err(crate::SolveError::NotPrepared.into());
        };
        let mut laps = Laps::start();
        let held = &mut self.held;
        if system.n() != held.n() || system.m() != held.m() {
            return Err(crate::SolveError::NotPrepared.into());
        }
        let rows = &self.layout.rows;
        self.rows.r.clear();
        if solution.mu.len() == system.m() && rows.iter().all(|i| solution.mu[*i].is_finite()) {
            self.rows.r.extend(rows.iter().map(|i| solution.mu[*i]));
        } else {
            self.rows.r.resize(rows.len(), 0.0);
        }
        held.c.copy_from_slice(&system.c);
        held.b.copy_from_slice(&system.b);
        rows.iter().for_each(|i| held.bounds[*i] = (0.0, 0.0));
        self.direct.solve_held(held, solution)?;
        velocities(system, rows, solution, &mut self.rows.u);
        problem.set_b(&self.rows.u)?;
        laps.add_to(&mut self.profile.linear);
        let cones = solver.solve(problem, &mut self.rows.r)?;
        laps = Laps::start();
        for (i, r) in rows.iter().zip(&self.rows.r) {
            held.bounds[*i] = (*r, *r);
            for slot in system.j.pattern().row_slots(*i) {
                let k = system.j.pattern().indices()[slot] as usize;
                held.c[k] += system.j.values()[slot] * r;
            }
        }
        let linear = self.direct.solve_held(held, solution)?;
        velocities(system, rows, solution, &mut self.rows.u);
        let residual = problem.residual_at(&self.rows.r, &self.rows.u);
        let exact = match problem.cones().iter().any(|cone| cone.exact() != *cone) {
            true => problem.residual_by(Cone::exact, &self.rows.r, &self.rows.u),
            false => residual,
        };
        let holds = residual.measure() <= self.options.enough();
        let outcome = match (linear.status, cones.outcome) {
            (Status::Converged, _) if holds => Outcome::Converged,
            (_, Outcome::Converged) => Outcome::Stagnated,
            (_, other) => other,
        };
        self.profile.problems += 1;
        self.profile.settled += usize::from(cones.iterations == 0 && outcome == Outcome::Converged);
        laps.add_to(&mut self.profile.linear);
        Ok(ConicReport {
            outcome,
            linear,
            residual,
            exact,
            cones,
        })
    }
}
