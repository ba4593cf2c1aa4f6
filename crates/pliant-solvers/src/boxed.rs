//! Rows with a bounded multiplier: an active-set method around the direct solver.

mod condensed;
mod descent;
mod projected;

pub use condensed::CondensedBounds;
pub use projected::ProjectedGaussSeidel;

use crate::bounds::{BoundState, natural};
use crate::order::OrderMemory;
use crate::{
    DirectOptions, DirectSolver, Elimination, KktSystem, Solution, SolveError, SolveReport, SolverCounters,
    Status, TimeSplit,
};

/// A contradiction counts from this share of the violation at which a held row is let go: were it
/// the other way round, a row might be let go, found to agree with others well enough, and sent
/// back.
const SOONER: f64 = 0.1;

/// Tolerances and limits of the [`BoxSolver`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxOptions {
    /// Of the linear systems.
    pub direct: DirectOptions,
    /// Largest natural-map residual of a row that counts as converged, as a share of the largest
    /// velocity `u` that enters the row; a row at a bound is let go only if it misses its sign by
    /// more. (On top comes `b_rounding`, and the rounding of `u`.)
    pub tolerance: f64,
    /// Rounds of block pivoting in which the number of violators may fail to decrease before the
    /// descent takes over.
    pub patience: usize,
    /// Changes of the set of rows at bounds at most, per solve.
    pub max_changes: usize,
}

impl Default for BoxOptions {
    fn default() -> Self {
        Self {
            direct: DirectOptions::default(),
            tolerance: 1e-9,
            patience: 5,
            max_changes: 1000,
        }
    }
}

/// Solves `W x - J^T mu = c` with, for every row and `w = J x + R mu + b` (m/s),
///
/// ```math
/// lo_i <= mu_i <= hi_i,   w_i = 0 if lo_i < mu_i < hi_i,   w_i >= 0 if mu_i = lo_i,   w_i <= 0 if mu_i = hi_i
/// ```
///
/// for the bounds (N s) of [`KktSystem::bounds`]: motors of limited force, dry friction in joints,
/// unilateral stops (`lo = 0`, `hi` infinite), rows that are switched off (`lo = hi = 0`). It is
/// the minimum over the box of `mu^T (S + R) mu / 2 + mu^T (b + J W^-1 c)`, `S = J W^-1 J^T`.
///
/// Method: rows at a bound are *held*: their multiplier is fixed and moves to the right-hand side,
/// their place in the matrix takes zeros and a unit pivot. The pattern and the order of elimination
/// stay, so that a change of the set of held rows costs one numeric factorisation. The first set is
/// that of the last solve.
/// 1. *Block pivoting* (Júdice and Pires 1994): all rows that violate their law change at once. A
///    handful of rounds, hardly more with more rows, but it may go in circles.
/// 2. *Descent*, when the number of violators stopped decreasing: the primal active-set method
///    (Stark and Parker 1995). From multipliers within their bounds to the minimum over the free
///    rows, or to the first bound on the way; there, the row that violates its sign most is let go.
///    The energy decreases in every such cycle, so that it ends, redundant rows or not. (Murty's
///    least-index rule would need `S + R` to be definite: dry friction in several joints of a
///    mechanism of mobility one makes it only semidefinite.)
///
/// Redundant free rows share the minimum-norm multiplier, as in the [`DirectSolver`], as long as
/// their bounds allow; what one cannot take the others do. Redundant rows that contradict each
/// other (two motors of different speeds) go to the bounds towards which they push; only if no
/// bound ends it, the status is [`Status::Incompatible`]. Velocities are unique; multipliers of
/// redundant rows are not, and a row that is at a bound already stays there as long as that is *an*
/// answer.
///
/// Without finite bounds it is the `DirectSolver`, bit for bit. With them, a solve costs a
/// factorisation per change and `O(nnz(J))` per round on top; in long chains and trees of bodies a
/// change costs only the part of the factor above the rows in question. Nothing is allocated but
/// for a new pattern, more rows, or more redundant rows.
#[derive(Debug, Default)]
pub struct BoxSolver {
    /// Tolerances and limits; may be changed at any time.
    pub options: BoxOptions,
    direct: DirectSolver,
    /// Empty if no row is bounded.
    states: Vec<BoundState>,
    /// Where each row would rather be, as of the last survey.
    next: Vec<BoundState>,
    /// The set with which the solve started, to go back to if it fails.
    start: Vec<BoundState>,
    /// Multipliers of the descent, within their bounds.
    feasible: Vec<f64>,
}

/// Result of a look at all rows.
#[derive(Clone, Copy, Debug, Default)]
struct Survey {
    /// Rows that are to change.
    violators: usize,
    /// Natural-map residual.
    natural: f64,
    /// The row that misses its law most, as a share of what it may, and by how much.
    worst: (usize, f64, f64),
    /// The held row that is to be let go first, and its violation as a share.
    release: Option<(usize, f64)>,
    /// Whether redundant rows contradict each other of which one may yet give way.
    contradiction: bool,
    /// The redundant row that contradicts others most, and by what.
    clash: Option<(usize, f64)>,
}

impl BoxSolver {
    /// A solver with given tolerances.
    pub fn new(options: BoxOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Work done so far.
    pub fn counters(&self) -> SolverCounters {
        self.direct.counters()
    }

    /// As [`DirectSolver::times`].
    pub fn times(&self) -> TimeSplit {
        self.direct.times()
    }

    /// As [`DirectSolver::forget`]; the set of rows at bounds stays.
    pub fn forget(&mut self, order: Option<Elimination>) {
        self.direct.forget(order);
    }

    /// As [`DirectSolver::elimination`].
    pub fn elimination(&self) -> Option<Elimination> {
        self.direct.elimination()
    }

    /// How often the order of elimination changed ([`DirectSolver::memory_changes`]); the active
    /// set is not counted.
    pub fn memory_changes(&self) -> u64 {
        self.direct.memory_changes()
    }

    /// Writes [`elimination`](Self::elimination) and [`active_set`](Self::active_set) into buffers
    /// that are there.
    pub fn record(&self, elimination: &mut Option<Elimination>, active_set: &mut Vec<BoundState>) {
        self.direct.record(elimination);
        active_set.clone_from(&self.states);
    }

    /// Writes what [`record`](Self::record) does into storage that stays where there is no order.
    pub(crate) fn record_memory(&self, order: &mut OrderMemory, active_set: &mut Vec<BoundState>) {
        self.direct.record_order(order);
        active_set.clone_from(&self.states);
    }

    /// Where each row was after the last solve: the start of the next. Empty if no row was bounded,
    /// or before any solve.
    ///
    /// With the [order of elimination](Self::elimination) it is all that one solve hands to the
    /// next: imposed on another solver both make its answers the same bit for bit.
    pub fn active_set(&self) -> &[BoundState] {
        &self.states
    }

    /// Starts the next solve from this set. `prepare` corrects it where the bounds do not allow it;
    /// if its length is not m, it starts with limits without force and all other rows free.
    pub fn impose_active_set(&mut self, states: &[BoundState]) {
        self.states.clear();
        self.states.extend_from_slice(states);
    }

    /// Analyses the pattern if it changed, then factors the values, with the rows of the active set
    /// held.
    ///
    /// # Errors
    /// As [`DirectSolver::prepare`], but for bounded rows.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.direct.options = self.options.direct;
        let mut prepared = self.fit(system);
        if prepared.is_ok() {
            prepared = self.direct.prepare_safely(system);
        }
        if matches!(prepared, Err(SolveError::NotPositiveDefinite { .. })) && self.direct.is_holding() {
            // Fewer rows constrain less: W may be definite on the null space of all of them.
            self.states.fill(BoundState::Free);
            self.fit(system)?;
            prepared = self.direct.prepare_safely(system);
        }
        prepared
    }

    /// Makes the set of states one that the system's bounds allow. The direct solver is to prepare
    /// anew if that changed it.
    fn fit(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        if let Err(error) = system.check() {
            self.direct.withdraw();
            return Err(error);
        }
        if system.first_bounded_row().is_none() {
            self.states.clear();
        } else {
            if self.states.len() != system.m() {
                self.states.clear();
                let first = system.bounds.iter().map(|bounds| BoundState::first(*bounds));
                self.states.extend(first);
            }
            for (state, bounds) in self.states.iter_mut().zip(&system.bounds) {
                *state = state.within(*bounds);
            }
        }
        self.direct.hold(&self.states);
        Ok(())
    }

    /// Solves for the right-hand sides `system.c` and `system.b` and the bounds; factors again for
    /// every change of the set of rows at bounds.
    ///
    /// # Errors
    /// As [`DirectSolver::solve`], and those of its `prepare`: `W` may be positive definite with
    /// some rows and not without them. The active set is then the one before. A set that does not
    /// settle is a [`Status`], not an error.
    pub fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        if !self.direct.is_ready() {
            return Err(SolveError::NotPrepared);
        }
        self.direct.options = self.options.direct;
        let before = self.direct.counters().numeric;
        self.fit(system)?;
        if !self.direct.is_ready() {
            self.direct.prepare_safely(system)?;
        }
        if self.states.is_empty() {
            return self.direct.solve_held(system, solution);
        }
        self.start.clone_from(&self.states);
        let found = self.search(system, solution);
        match found {
            Ok(mut report) => {
                report.bounds.factorisations = self.direct.counters().numeric - before;
                Ok(report)
            }
            Err(error) => {
                self.states.clone_from(&self.start);
                self.direct.withdraw();
                Err(error)
            }
        }
    }

    /// As [`DirectSolver::solve_unmeasured`]; with bounded rows it is [`solve`](Self::solve).
    ///
    /// # Errors
    /// As there.
    pub fn solve_unmeasured(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        if !self.direct.is_ready() || !self.states.is_empty() || system.first_bounded_row().is_some() {
            return self.solve(system, solution);
        }
        self.direct.solve_unmeasured(system, solution)
    }

    fn search(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let mut fewest = usize::MAX;
        let mut patience = self.options.patience;
        let mut descending = false;
        let mut changes = 0;
        loop {
            let mut report = self.direct.solve_held(system, solution)?;
            let survey = self.survey(system, &solution.mu);
            // Redundant rows that contradict each other and that no bound stops: the energy
            // decreases along them without end, from wherever the other rows are.
            let clash = survey
                .clash
                .filter(|_| !survey.contradiction && survey.violators > 0);
            let endless =
                clash.filter(|_| descending || matches!(report.status, Status::Incompatible { .. }));
            if survey.violators == 0 || endless.is_some() || changes >= self.options.max_changes {
                let (row, share, residual) = survey.worst;
                let missed = report.status == Status::Converged && (share > 1.0 || share.is_nan());
                if let Some((row, violation)) = endless {
                    report.status = Status::Incompatible { row, violation };
                } else if survey.violators > 0 || missed {
                    report.status = Status::Unsettled { row, residual };
                }
                report.bounds.natural = survey.natural;
                report.bounds.changes = changes;
                let at_bound = |s: &&BoundState| **s != BoundState::Free;
                report.bounds.rows_at_bounds = self.states.iter().filter(at_bound).count();
                return Ok(report);
            }
            if survey.violators < fewest {
                fewest = survey.violators;
                patience = self.options.patience;
            } else if patience > 0 {
                patience -= 1;
            } else if !descending {
                descending = true;
                self.enter(system, &solution.mu);
            }
            if descending {
                self.descend(system, &solution.mu, survey);
            } else {
                self.states.copy_from_slice(&self.next);
            }
            changes += 1;
            self.direct.hold(&self.states);
            self.direct.prepare_safely(system)?;
        }
    }

    /// The redundant row that contradicts others most, if one of them does by more than it may: by
    /// so much that it would be let go if it were held.
    fn clash(&self, system: &KktSystem) -> Option<(usize, f64)> {
        if !self.direct.has_redundant_rows() {
            return None;
        }
        let (mut most, mut beyond) = ((0, 0.0), false);
        for i in 0..system.m() {
            let row = self.direct.row(system, i);
            let allowed = self.options.tolerance * row.size + row.noise;
            beyond |= row.contradiction.abs() > SOONER * row.share * allowed + row.roundoff;
            if row.contradiction.abs() > most.1 {
                most = (i, row.contradiction.abs());
            }
        }
        beyond.then_some(most)
    }

    /// Looks at every row after a solve and notes where it would rather be.
    fn survey(&mut self, system: &KktSystem, mu: &[f64]) -> Survey {
        let mut survey = Survey::default();
        self.next.clone_from(&self.states);
        // `max` of IEEE drops NaN; a NaN residual must survive.
        let max = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
        survey.clash = self.clash(system);
        for i in 0..system.m() {
            let row = self.direct.row(system, i);
            let (lower, upper) = system.bounds[i];
            let allowed = self.options.tolerance * row.size + row.noise;
            let s = system.row_scale(i) + system.r_diagonal(i);
            let whole = natural(mu[i], row.w + row.contradiction, (lower, upper), s);
            survey.natural = max(survey.natural, whole);
            let share_of = |w: f64| if w == 0.0 { 0.0 } else { w / allowed };
            let own = natural(mu[i], row.w, (lower, upper), s);
            if !row.dropped || mu[i] < lower || mu[i] > upper {
                let share = share_of(own);
                if share > survey.worst.1 || share.is_nan() {
                    survey.worst = (i, share, own);
                }
            }
            let contradicts = survey.clash.is_some() && row.contradicts();
            let down = contradicts && row.contradiction > 0.0 && lower.is_finite();
            let up = contradicts && row.contradiction < 0.0 && upper.is_finite();
            survey.contradiction |= down || up;
            // Contradicting rows have no multiplier: that of the compromise says nothing of where
            // they are to go.
            self.next[i] = match self.states[i] {
                BoundState::Free if down => BoundState::Lower,
                BoundState::Free if up => BoundState::Upper,
                BoundState::Free if mu[i] < lower => BoundState::Lower,
                BoundState::Free if mu[i] > upper => BoundState::Upper,
                BoundState::Lower if row.w < -allowed => BoundState::Free,
                BoundState::Upper if row.w > allowed => BoundState::Free,
                state => state,
            };
            if self.next[i] != self.states[i] {
                survey.violators += 1;
                let share = share_of(row.w.abs());
                if self.next[i] == BoundState::Free && survey.release.is_none_or(|(_, most)| share > most) {
                    survey.release = Some((i, share));
                }
            }
        }
        survey
    }
}
