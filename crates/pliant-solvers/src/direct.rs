//! The sparse direct solver: one `L D L^T` of the whole quasi-definite KKT matrix.

mod analysis;
mod changes;
mod held;
mod kernel;
mod local;
mod many;
mod options;
mod pivoted;
mod plan;
mod rank;
mod refinement;
mod rows;
mod scale;
mod signs;
mod stationary;
mod sweep;
mod tiles;
mod times;

use crate::bounds::{BoundsReport, put_held};
use crate::order::{Elimination, OrderMemory};
use crate::{KktResidual, KktSystem, Solution, SolveError, SolveReport, Status, Variable};
pub(crate) use analysis::AnalysisWorkspace;
use analysis::Planner;
pub use many::RightHandSide;
pub(crate) use options::MOST_THREADS;
pub use options::{DirectOptions, SolverCounters};
pub use pivoted::{PivotedOptions, PivotedSolver};
use plan::Plan;
use pliant_sparse::{SparseError, Threads};
use refinement::Refinement;
use rows::Rows;
pub use stationary::{Kind, StationarySolver};
pub(crate) use times::Laps;
pub use times::TimeSplit;

/// Refinements beyond those of the options, for an answer that is not within the tolerance yet, as
/// long as each leaves no more than a share of the residual. On systems whose terms differ by many
/// decades a refinement gains three digits, and the last two are then a solve away.
const MORE_REFINEMENTS: usize = 6;
const PAYS: f64 = 0.5;

/// Factors `[W -J^T; -J -R]` once per `prepare` and solves with iterative refinement. All rows are
/// bilateral.
///
/// Method: the unknowns are ordered on the block graph so that every hard row follows a variable it
/// acts on; the matrix is scaled symmetrically by powers of two (no rounding) so that one absolute
/// pivot threshold means `1e-15 W_ii` for a variable, `1e-15` for a compliant row and
/// [`rank_threshold`](DirectOptions::rank_threshold) for a hard one. The signs of the pivots are
/// counted: if they are not n positive ones, `W` is not positive definite on the null space of `J`,
/// which is an error. (`W` itself may be indefinite: geometric stiffness under load.) Hard rows
/// below the threshold are redundant: they are dropped, the null space of the rest gives the
/// minimum-norm multiplier, and the part of `b` along it decides whether the rows contradict. (The
/// usual alternative, regularisation with refinement, has the same limits; docs/decisions says why
/// not.)
///
/// The factor is by blocks where fill is small (chains and trees of bodies), by dense fronts where
/// there is much (nets, solids), and by single entries where blocks are mostly zeros or there are
/// none, as predicted from the pattern; zeros in blocks and fronts count as entries of `L`.
///
/// Cost: `O(nnz(L))` memory, the factorisation's flops per `prepare`, `4 nnz(L) + 8 nnz(K)` per
/// solve and refinement, plus one solve per redundant row.
#[derive(Debug, Default)]
pub struct DirectSolver {
    /// Tolerances; may be changed at any time.
    pub options: DirectOptions,
    counters: SolverCounters,
    times: TimeSplit,
    threads: Threads,
    plan: Option<Box<Plan>>,
    planner: Box<Planner>,
    /// The plan's factors belong to the last system that was prepared.
    ready: bool,
    /// Order to use in the next analysis, if it fits.
    imposed: Option<Elimination>,
    /// How often the memory changed.
    changes: u64,
    rows: Rows,
    inertia: (usize, usize),
    redundancy: rank::Redundancy,
    refinement: Refinement,
    many: many::Scratch,
    gram: many::Gram,
}

impl DirectSolver {
    /// A solver with given tolerances.
    pub fn new(options: DirectOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Work done so far.
    pub fn counters(&self) -> SolverCounters {
        self.counters
    }

    /// Where the time went so far.
    pub fn times(&self) -> TimeSplit {
        self.times
    }

    /// Forgets the plan, so that the next `prepare` analyses again: in the given order if it fits
    /// the system, else from the values it sees.
    pub fn forget(&mut self, order: Option<Elimination>) {
        self.planner.keep(self.plan.take());
        self.ready = false;
        self.imposed = order;
        self.changes += 1;
    }

    /// How often [`elimination`](Self::elimination) changed: as long as this number stays, so does
    /// the memory.
    pub fn memory_changes(&self) -> u64 {
        self.changes
    }

    /// The order of elimination in use, or imposed for the next analysis, with the judgements on
    /// single rows: all that one `prepare` hands to the next.
    pub fn elimination(&self) -> Option<Elimination> {
        let mut out = None;
        self.record(&mut out);
        out
    }

    /// Writes [`elimination`](Self::elimination) into buffers that are there.
    pub fn record(&self, out: &mut Option<Elimination>) {
        match (&self.plan, &self.imposed) {
            (None, None) => *out = None,
            _ => self.write_order(out.get_or_insert_default()),
        }
    }

    /// Writes what [`record`](Self::record) does into storage that stays where there is no order.
    pub(crate) fn record_order(&self, out: &mut OrderMemory) {
        match (&self.plan, &self.imposed) {
            (None, None) => out.clear(),
            _ => self.write_order(out.write()),
        }
    }

    fn write_order(&self, out: &mut Elimination) {
        if let Some(plan) = &self.plan {
            out.take_order(&plan.elimination);
            out.marks.clone_from(&self.rows.marks);
        } else if let Some(imposed) = &self.imposed {
            out.clone_from(imposed);
        }
    }

    /// The order of elimination of the present plan.
    pub(crate) fn order_in_use(&self) -> Option<&Elimination> {
        self.plan.as_ref().map(|p| &p.elimination)
    }

    /// Analyses the pattern if it changed, then factors the values. Allocates only when the pattern
    /// changed, or the set of redundant rows.
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`], [`SolveError::NegativeCompliance`],
    /// [`SolveError::NotFinite`], [`SolveError::Size`], [`SolveError::Bounds`],
    /// [`SolveError::Bounded`] if a row has a finite bound, or what the sparse kernels say.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.ready = false;
        system.check()?;
        system.check_bilateral()?;
        match self.options.chooses_pivots {
            true => self.prepare_safely(system),
            false => self.prepare_held(system),
        }
    }

    /// As [`Self::prepare`], with the rows of `states` taken out of the matrix. The order of
    /// elimination is that of the system with all its rows: they may come back with other values at
    /// any time.
    pub(crate) fn prepare_held(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.ready = false;
        self.plan_for(system)?;
        let mut rounds = 0;
        loop {
            // A vanishing pivot of a row that follows its owner may only mean an unlucky owner, and
            // then the signs of the later pivots mean nothing: defer it and look again.
            loop {
                let negative = self.factor(system)?;
                if !(rounds < 4 && self.defer_more(system, negative.is_some())) {
                    if self.suspect_more(system) {
                        self.changes += 1;
                        continue;
                    }
                    match negative {
                        Some(error) => return Err(error),
                        None => break,
                    }
                }
                rounds += 1;
                if rounds == 4 {
                    self.planner.deferred.fill(true);
                }
                let order = self.order(system)?;
                self.analyse(system, order)?;
            }
            let mut laps = Laps::start();
            let wrong = self.find_null_space(system)?;
            laps.add_to(&mut self.times.rank);
            match wrong {
                None => break,
                Some(row) => {
                    self.rows.marks.trusted[row] = true;
                    self.changes += 1;
                }
            }
        }
        self.ready = true;
        Ok(())
    }

    /// A plan for the pattern of a system, if the present one is not for it.
    fn plan_for(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        if self.plan.as_ref().is_some_and(|p| p.fits(system)) {
            return Ok(());
        }
        let seen = &mut self.planner.work.order.seen;
        let order = match self.imposed.take().filter(|o| o.fits(system, seen)) {
            Some(order) => order,
            None => {
                self.planner.defer(system, false);
                self.order(system)?
            }
        };
        self.rows.recall(&order.marks, system.m());
        self.analyse(system, order)
    }

    /// Shares these threads from the next analysis on, in place of threads of its own.
    pub(crate) fn share(&mut self, threads: &Threads) {
        self.options.threads = threads.count();
        self.threads.clone_from(threads);
    }

    /// An order that defers what is to be deferred.
    fn order(&mut self, system: &KktSystem) -> Result<Elimination, SolveError> {
        let mut laps = Laps::start();
        let order = self.planner.order(system)?;
        laps.add_to(&mut self.times.order);
        Ok(order)
    }

    fn analyse(&mut self, system: &KktSystem, order: Elimination) -> Result<(), SolveError> {
        let threads = self.options.threads.max(1);
        if threads > MOST_THREADS {
            return Err(SolveError::Parameter {
                what: "the number of threads",
                value: threads as f64,
            });
        }
        if self.threads.count() != threads {
            self.threads = Threads::new(threads).map_err(SparseError::from)?;
        }
        let mut laps = Laps::start();
        self.planner.keep(self.plan.take());
        let plan = self.planner.plan(system, order, &self.threads)?;
        laps.add_to(&mut self.times.analyse);
        self.counters.symbolic += 1;
        self.changes += 1;
        self.counters.factor_entries = plan.kernel.entries();
        self.counters.matrix_entries = plan.matrix_entries;
        self.counters.order = plan.elimination.report;
        self.plan = Some(plan);
        Ok(())
    }

    /// Scratch that analyses of other factors may use in between.
    pub(crate) fn workspace(&mut self) -> &mut AnalysisWorkspace {
        &mut self.planner.work
    }

    /// Scales, fills and factors. Returns what the signs of the pivots say against `W`; with rows
    /// newly dropped it need not be true.
    fn factor(&mut self, system: &KktSystem) -> Result<Option<SolveError>, SolveError> {
        let plan = self.plan.as_mut().ok_or(SolveError::NotPrepared)?;
        let mut laps = Laps::start();
        let rules = self.rows.rules(self.options.rank_threshold);
        plan.kernel.drop_pivots();
        let looks = self.options.small_update || !self.rows.marks.held.is_empty();
        let columns = plan.kernel.columns();
        let keeps = self.options.small_update && plan.kernel.by_blocks().is_none();
        let kept = if keeps {
            plan.kept.find(system, rules)
        } else {
            None
        };
        // A factorisation that fails on its way leaves nothing to keep.
        if kept.is_none() {
            plan.kept.forget();
        }
        let factored = if let Some(report) = kept {
            Ok((report, 0))
        } else if looks && plan.kernel.by_blocks().is_some() {
            plan.rescale(system, rules)?;
            plan.factor_changes(system, &self.rows.marks.held)
                .map_err(SolveError::from)
        } else if plan.kernel.swept().is_some() {
            plan.changes.forget();
            let report = plan.factor_in_one_sweep(system, rules);
            report.map(|report| (report, columns))
        } else {
            plan.changes.forget();
            plan.fill(system, rules)?;
            laps.add_to(&mut self.times.fill);
            let report = plan.kernel.factor();
            report.map(|report| (report, columns)).map_err(SolveError::from)
        };
        self.counters.numeric += usize::from(kept.is_none());
        let n = system.n();
        laps.add_to(&mut self.times.factor);
        let (report, columns) = factored.map_err(|e| match e {
            SolveError::Sparse(SparseError::Pivot { index }) => SolveError::NotFinite {
                variable: plan.variable(index, n),
            },
            other => other,
        })?;
        if keeps && kept.is_none() {
            plan.kept.take(system, rules, report);
        }
        self.counters.columns += columns;
        self.inertia = (report.positive, report.negative);
        self.rows.note_dropped(plan, report.dropped, n, system.m());
        let free = system.fixed.iter().filter(|f| !**f).count();
        Ok((report.positive != free).then(|| {
            // By Sylvester's law W is not positive definite on the null space of J, wherever the
            // odd signs came up.
            let odd = |k: usize| match plan.variable(k, n) {
                Variable::Dof(dof) if plan.kernel.is_dropped(k) || plan.kernel.pivots()[k] < 0.0 => Some(dof),
                _ => None,
            };
            // The sign of a row is wrong where its variables push it the wrong way: the one that
            // it moves most stands for them.
            let pushed = |k: usize| match plan.variable(k, n) {
                Variable::Row(row) if !plan.kernel.is_dropped(k) && plan.kernel.pivots()[k] > 0.0 => {
                    let free = system.j.row_entries(row).filter(|(i, _)| !system.fixed[*i]);
                    free.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map(|e| e.0)
                }
                _ => None,
            };
            let pivots = || 0..plan.elimination.sequence.len();
            let found = pivots().find_map(odd).or_else(|| pivots().find_map(pushed));
            let dof = found.unwrap_or(0);
            SolveError::NotPositiveDefinite {
                dof,
                diagonal: system.w_diagonal(dof),
            }
        }))
    }

    /// Solves for the right-hand sides `system.c` and `system.b`.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`; [`SolveError::NotFinite`] if a
    /// right-hand side or the answer is not finite; [`SolveError::Bounded`] if a row has a finite
    /// bound. A large residual is a [`Status`], not an error.
    pub fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        system.check()?;
        system.check_bilateral()?;
        self.solve_held(system, solution)
    }

    /// Solves for the right-hand sides by one substitution, where no row is redundant: without
    /// refinement, which the next iterate of a nonlinear iteration is anyway, and without a search
    /// for rows that contradict each other. The status and the residual of the report are for the
    /// caller to find. Where rows are redundant it is [`solve`](Self::solve).
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`; [`SolveError::NotFinite`] if the
    /// answer is not finite.
    pub fn solve_unmeasured(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let (n, m) = (system.n(), system.m());
        if self.inertia.1 != m || !self.rows.marks.held.is_empty() {
            return self.solve_held(system, solution);
        }
        let prepared = self.plan.as_mut().filter(|p| self.ready && p.fits(system));
        let plan = prepared.ok_or(SolveError::NotPrepared)?;
        let mut laps = Laps::start();
        for (list, size) in [(&mut solution.x, n), (&mut solution.mu, m)] {
            list.clear();
            list.resize(size, 0.0);
        }
        let rhs = &mut self.refinement.rhs;
        plan.gather(&system.c, &system.b, &[], rhs);
        plan.kernel.solve_in_place(rhs);
        self.counters.solves += 1;
        plan.add_scaled(rhs, solution);
        laps.add_to(&mut self.times.solve);
        let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
        let of_row = || bad(&solution.mu).map(Variable::Row);
        if let Some(variable) = bad(&solution.x).map(Variable::Dof).or_else(of_row) {
            return Err(SolveError::NotFinite { variable });
        }
        Ok(SolveReport {
            status: Status::Converged,
            residual: KktResidual::default(),
            iterations: 0,
            refinements: 0,
            redundant_rows: 0,
            inertia: self.inertia,
            bounds: BoundsReport::default(),
        })
    }

    /// Solves as [`Self::solve`], with the multipliers of the rows of `states` at their bounds.
    /// Where refinement ends beyond the tolerance, a factor that chooses its pivots solves once
    /// more if the options say so, and the better answer is kept.
    pub(crate) fn solve_held(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let report = self.solve_once(system, solution)?;
        let chosen = self.plan.as_ref().is_some_and(|p| p.kernel.chooses_pivots());
        let may_choose = self.options.chooses_pivots && self.options.max_refinements > 0;
        let is_judged = !chosen && may_choose && self.has_judge();
        if report.status != Status::Stagnated || !is_judged {
            return Ok(report);
        }
        let kept = solution.clone();
        if self.prepare_by_pivots(system)? {
            let again = self.solve_once(system, solution)?;
            let is_better = again.residual.relative < report.residual.relative;
            if is_better && !matches!(again.status, Status::Incompatible { .. }) {
                return Ok(again);
            }
        }
        self.prepare_held(system)?;
        *solution = kept;
        Ok(report)
    }

    /// Solves by the factors that are prepared.
    fn solve_once(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let (n, m) = (system.n(), system.m());
        let prepared = self.plan.as_mut().filter(|p| self.ready && p.fits(system));
        let plan = prepared.ok_or(SolveError::NotPrepared)?;
        for (i, value) in system.c.iter().enumerate() {
            if !value.is_finite() && !system.fixed[i] {
                return Err(SolveError::NotFinite {
                    variable: Variable::Dof(i),
                });
            }
        }
        if let Some(i) = system.b.iter().position(|b| !b.is_finite()) {
            return Err(SolveError::NotFinite {
                variable: Variable::Row(i),
            });
        }
        let mut laps = Laps::start();
        let null_space = &self.redundancy.null_space;
        let refinement = &mut self.refinement;
        refinement.agree(&system.b, null_space);

        // From zero: the first correction is the solution, later ones refine it. The best one is
        // kept.
        solution.x.clear();
        solution.x.resize(n, 0.0);
        solution.mu.clear();
        solution.mu.resize(m, 0.0);
        // Here, not at the first refinement, which may come many steps late.
        refinement.best.x.resize(n, 0.0);
        refinement.best.mu.resize(m, 0.0);
        if put_held(&self.rows.marks.held, &system.bounds, &mut solution.mu) {
            refinement.measure(system, &system.c, &self.rows, solution);
        } else {
            refinement.residual.start(&system.c, &refinement.b);
        }
        let mut measure = KktResidual::default();
        let mut best = f64::INFINITY;
        let mut refinements = 0;
        let most = self.options.max_refinements;
        for pass in 0..=most + MORE_REFINEMENTS {
            laps.add_to(&mut self.times.judge);
            let Refinement { residual, rhs, .. } = refinement;
            plan.gather(&residual.primal, &residual.row, &self.rows.marks.held, rhs);
            plan.kernel.solve_in_place(rhs);
            self.counters.solves += 1;
            plan.add_scaled(rhs, solution);
            null_space.remove(&mut solution.mu);
            laps.add_to(if pass == 0 {
                &mut self.times.solve
            } else {
                &mut self.times.refine
            });
            measure = refinement.measure(system, &system.c, &self.rows, solution);
            refinements = pass;
            let before = best;
            if measure.relative >= best {
                if best > self.options.tolerance && pass < most {
                    // Equations with large terms are mended first; those whose terms are rounding
                    // of them may look worse until the next pass.
                    continue;
                }
                std::mem::swap(solution, &mut refinement.best);
                measure = refinement.measure(system, &system.c, &self.rows, solution);
                break;
            }
            best = measure.relative;
            // A few dozen roundings: refining further would not change the first 13 digits of the
            // answer's residual.
            if best < 1e-14 {
                break;
            }
            // What the tolerance does not let pass is refined on as long as that pays.
            let goes_on = most > 0 && best > self.options.tolerance && best <= PAYS * before;
            if pass >= most && (pass == most + MORE_REFINEMENTS || !goes_on) {
                break;
            }
            refinement.best.clone_from(solution);
        }
        laps.add_to(&mut self.times.judge);
        if !measure.is_finite() {
            let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
            let variable = bad(&solution.x)
                .map(Variable::Dof)
                .or_else(|| bad(&solution.mu).map(Variable::Row));
            return Err(SolveError::NotFinite {
                variable: variable.unwrap_or(Variable::Dof(0)),
            });
        }
        let converged = measure.relative <= self.options.tolerance;
        let mut status = if converged {
            Status::Converged
        } else {
            Status::Stagnated
        };
        let tolerance = self.options.incompatibility;
        let found = self
            .redundancy
            .contradiction(system, &system.b, &solution.x, refinement, tolerance);
        if let Some((row, violation)) = found {
            status = Status::Incompatible { row, violation };
        }
        Ok(SolveReport {
            status,
            residual: measure,
            iterations: 0,
            refinements,
            redundant_rows: m - self.inertia.1,
            inertia: self.inertia,
            bounds: BoundsReport {
                natural: measure.row,
                ..BoundsReport::default()
            },
        })
    }
}
