//! Redundant rows of the direct solver: which there are, and whether they contradict each other.

use super::DirectSolver;
use super::local::Local;
use super::plan::Plan;
use super::refinement::Refinement;
use super::scale::{NEGLIGIBLE, SUSPICION};
use super::times::Laps;
use crate::bounds::is_held;
use crate::redundant::NullSpace;
use crate::residual::{ResidualWorkspace, roundoff};
use crate::{KktSystem, Solution, SolveError};

/// A combination of rows exerts no force if its force is below this share of its terms.
const NO_FORCE: f64 = 1e-3;
/// The same for a row that was dropped on suspicion: rounding of the force, far below that of a row
/// whose pivot is small but true.
const NO_FORCE_AT_ALL: f64 = 1e-7;

/// Unknowns of a system up to which a factor that chooses its pivots is asked. It works column by
/// column in one thread: at this size a full front is a third of 1e9 operations.
const MOST_TO_JUDGE: usize = 1000;

/// A combination whose force is below this share of its terms is as good as rounding allows, or
/// nearly so.
pub(super) const FORCELESS: f64 = 1e-14;
/// Refinements of a combination at most: around a loop of thousands of bodies each gains two to six
/// digits.
const MOST_REFINEMENTS: usize = 8;
/// Combinations that are sought together: as many as read the factor once.
const TOGETHER: usize = 8;

fn zeros(v: &mut Vec<f64>, size: usize) {
    v.clear();
    v.resize(size, 0.0);
}

/// The row block of a row.
fn block_of(system: &KktSystem, row: usize) -> usize {
    system.row_blocks().partition_point(|first| *first <= row) - 1
}

impl DirectSolver {
    /// The combinations of rows that exert no force, as of the last `prepare`: an orthonormal basis
    /// of the null space of `J^T`, each vector as rows and coefficients. Empty if all rows are
    /// independent.
    pub fn null_vectors(&self) -> Vec<Vec<(usize, f64)>> {
        let columns = self.redundancy.null_space.columns();
        columns.map(|column| column.entries().collect()).collect()
    }

    /// Prepares as [`Self::prepare_held`]. Where that finds `W` indefinite although the signs of
    /// the pivots are in doubt, a factor that chooses its pivots is the judge, and is used if it
    /// says that `W` is definite. What was learnt of other values, that a row is independent, is
    /// forgotten then: it need not hold of these. A system too large for the judge is tried once
    /// more with all rows after all variables, if rows are held at bounds: a nearly redundant row
    /// that follows its owner may leave a pivot that is rounding but not small enough to be
    /// dropped, after which signs mean nothing, and sets of rows that come and go meet such pivots.
    /// The order stays changed only if that helped.
    pub(crate) fn prepare_safely(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        let found = self.prepare_held(system);
        if !matches!(found, Err(SolveError::NotPositiveDefinite { .. })) || !self.signs_are_doubtful() {
            return found;
        }
        if self.has_judge() {
            let before = self.rows.marks.clone();
            self.rows.marks.forget();
            if self.prepare_by_pivots(system)? {
                self.changes += 1;
                return Ok(());
            }
            self.rows.marks = before;
            return found;
        }
        let deferred = |plan: &Plan| plan.elimination.deferred.iter().all(|d| *d);
        let is_last_word = self.plan.as_deref().is_none_or(deferred);
        if is_last_word || self.rows.marks.held.is_empty() {
            return found;
        }
        self.planner.defer(system, true);
        let order = self.order(system)?;
        let before = self.plan.take();
        let again = self
            .analyse(system, order)
            .and_then(|()| self.prepare_held(system));
        if again.is_err() {
            self.planner.keep(self.plan.take());
            self.plan = before;
            return found;
        }
        self.planner.keep(before);
        again
    }

    /// Whether the system that was last analysed is small enough for
    /// [`prepare_by_pivots`](Self::prepare_by_pivots).
    pub(super) fn has_judge(&self) -> bool {
        let size = |plan: &Plan| plan.elimination.sequence.len();
        self.plan
            .as_deref()
            .is_some_and(|plan| size(plan) <= MOST_TO_JUDGE)
    }

    /// Factors with pivots chosen for stability, in the scales of the present plan. False where `W`
    /// is not positive definite on the null space of `J`, or rows are not as redundant as their
    /// pivots say.
    pub(super) fn prepare_by_pivots(&mut self, system: &KktSystem) -> Result<bool, SolveError> {
        let Some(plan) = self.plan.as_mut() else {
            return Ok(false);
        };
        let mut laps = Laps::start();
        plan.rescale(system, self.rows.rules(self.options.rank_threshold))?;
        let matrix = plan.assembled(system, &self.rows.marks.held)?;
        let report = plan.kernel.factor_by_pivots(&matrix)?;
        plan.changes.forget();
        plan.kept.forget();
        self.counters.numeric += 1;
        laps.add_to(&mut self.times.factor);
        let n = system.n();
        self.inertia = (report.positive, report.negative);
        self.rows.note_dropped(plan, report.dropped, n, system.m());
        let dropped = self.rows.dropped.iter().filter(|d| **d).count();
        let free = system.fixed.iter().filter(|f| !**f).count();
        let is_definite = report.positive == free && dropped == report.dropped;
        let stands = is_definite && self.find_null_space(system)?.is_none();
        laps.add_to(&mut self.times.rank);
        if stands {
            self.ready = true;
        } else if let Some(plan) = self.plan.as_mut() {
            plan.kernel.drop_pivots();
        }
        Ok(stands)
    }

    /// Whether rounding may have decided the sign of a pivot: rows are redundant, or nearly so, or
    /// are held at bounds.
    fn signs_are_doubtful(&self) -> bool {
        let marks = &self.rows.marks;
        !marks.held.is_empty() || !marks.are_empty() || self.rows.dropped.contains(&true)
    }

    /// The next order is to defer the row blocks that are deferred, those that were dropped just
    /// now, and if the signs of the pivots are wrong those with a wrong one; false if all of them
    /// were deferred already.
    pub(super) fn defer_more(&mut self, system: &KktSystem, signs_wrong: bool) -> bool {
        let Some(plan) = &self.plan else { return false };
        let deferred = &plan.elimination.deferred;
        let pivot = |row: usize| plan.kernel.pivots()[plan.position[system.n() + row] as usize];
        let found = || {
            (0..system.m())
                .filter(|row| self.rows.dropped[*row] || (signs_wrong && pivot(*row) > 0.0))
                .map(|row| block_of(system, row))
        };
        if found().all(|k| deferred[k]) {
            return false;
        }
        let out = &mut self.planner.deferred;
        out.clone_from(deferred);
        found().for_each(|k| out[k] = true);
        true
    }

    /// Suspects the deferred hard rows whose pivot is near the threshold or has the wrong sign:
    /// around long loops, rounding alone may leave a redundant row a pivot above it. Says whether
    /// there were new ones. A compliant row has its own `R`, and is none.
    pub(super) fn suspect_more(&mut self, system: &KktSystem) -> bool {
        let (Some(plan), rows) = (&self.plan, &mut self.rows) else {
            return false;
        };
        let mut found = false;
        for row in 0..system.m() {
            let position = plan.position[system.n() + row] as usize;
            let is_small = plan.kernel.pivots()[position] > -SUSPICION;
            if is_small
                && !(rows.dropped[row] || rows.marks.trusted[row] || rows.marks.suspected[row])
                && !is_held(&rows.marks.held, row)
                && plan.elimination.deferred[block_of(system, row)]
                && system.r_diagonal(row) <= NEGLIGIBLE * system.row_scale(row)
            {
                rows.marks.suspected[row] = true;
                found = true;
            }
        }
        found
    }

    /// For each dropped row d: `n` with `n_d = 1` and `J^T n = 0`, from the row that it left in the
    /// factor, or by solves with the rows that are left, refined until its force is rounding: what
    /// `n` is off by, the dropped rows miss of their right-hand side. Several rows share a solve.
    /// Returns a row for which that fails: it was dropped because its pivot is small against its
    /// own Delassus diagonal (a light body between heavy ones), not because it is redundant.
    ///
    /// Rows are taken in the order of their elimination: a combination has only rows that come
    /// before its own, of the same subtree of the elimination tree, and so have its orthonormalised
    /// ones.
    pub(super) fn find_null_space(&mut self, system: &KktSystem) -> Result<Option<usize>, SolveError> {
        let plan = self.plan.as_ref().ok_or(SolveError::NotPrepared)?;
        let (n, m) = (system.n(), system.m());
        let mut left = std::mem::take(&mut self.redundancy.left);
        left.clear();
        left.reserve(m);
        left.extend((0..m).filter(|row| self.rows.dropped[*row]));
        left.sort_unstable_by_key(|row| plan.position[n + row]);
        self.redundancy.null_space.reset(m, left.len());
        let Redundancy {
            null_space, local, ..
        } = &mut self.redundancy;
        left.retain(|row| match local.find(system, plan, *row) {
            Some(column) => {
                null_space.push(column);
                false
            }
            None => true,
        });
        // Which of them is the first to be told wrong does not depend on the order of elimination.
        left.sort_unstable();
        let mut wrong = None;
        for rows in left.chunks(TOGETHER) {
            wrong = self.find_null_vectors(system, rows)?;
            if wrong.is_some() {
                break;
            }
        }
        self.redundancy.left = left;
        Ok(wrong)
    }

    fn find_null_vectors(&mut self, system: &KktSystem, rows: &[usize]) -> Result<Option<usize>, SolveError> {
        let (n, m) = (system.n(), system.m());
        let plan = self.plan.as_mut().ok_or(SolveError::NotPrepared)?;
        // Pivots that were chosen are as good as the largest entries, and need no second judge.
        let is_judged = plan.kernel.chooses_pivots();
        let scratch = &mut self.many;
        let found = scratch.best.len().max(rows.len());
        scratch.best.resize_with(found, Solution::default);
        for solution in &mut scratch.best[..rows.len()] {
            zeros(&mut solution.x, n);
            zeros(&mut solution.mu, m);
        }
        let mut least = [f64::INFINITY; TOGETHER];
        let mut done = [false; TOGETHER];
        let Redundancy {
            null_space,
            column,
            force,
            ..
        } = &mut self.redundancy;
        let Refinement {
            b,
            residual,
            rhs: right,
            ..
        } = &mut self.refinement;
        right.clear();
        zeros(b, m);
        for d in rows {
            // W x - J^T mu = J_d^T with the rows that are left: where they can say what row d says,
            // x is zero and n = mu + e_d.
            zeros(force, n);
            for (i, a) in system.j.row_entries(*d) {
                force[i] = a;
            }
            plan.gather(force, b, &self.rows.marks.held, &mut scratch.one);
            right.extend_from_slice(&scratch.one);
        }
        for _ in 0..=MOST_REFINEMENTS {
            if right.is_empty() {
                break;
            }
            std::mem::swap(right, &mut scratch.rhs);
            right.clear();
            plan.kernel.solve_in_place(&mut scratch.rhs);
            let mut answers = scratch.rhs.chunks_exact(plan.elimination.sequence.len());
            for (k, d) in rows.iter().enumerate() {
                if done[k] {
                    continue;
                }
                let Some(answer) = answers.next() else { break };
                self.counters.solves += 1;
                let solution = &mut scratch.best[k];
                column.clone_from(&solution.mu);
                plan.add_scaled(answer, solution);
                // As the other rows see it.
                solution.mu[*d] = 0.0;
                let share = residual.combine(system, solution, *d);
                done[k] = share <= FORCELESS || share > 0.5 * least[k];
                if share > least[k] {
                    solution.mu.copy_from_slice(column);
                }
                least[k] = least[k].min(share);
                if !done[k] {
                    plan.gather(
                        &residual.primal,
                        &residual.row,
                        &self.rows.marks.held,
                        &mut scratch.one,
                    );
                    right.extend_from_slice(&scratch.one);
                }
            }
        }
        for (k, d) in rows.iter().enumerate() {
            let limit = if self.rows.marks.suspected[*d] {
                NO_FORCE_AT_ALL
            } else {
                NO_FORCE
            };
            if !is_judged && !self.rows.marks.trusted[*d] && least[k] > limit {
                return Ok(Some(*d));
            }
            let vector = &mut scratch.best[k].mu;
            vector[*d] = 1.0;
            null_space.push(vector);
        }
        Ok(None)
    }
}

/// The combinations of rows that exert no force.
#[derive(Debug, Default)]
pub(super) struct Redundancy {
    pub(super) null_space: NullSpace,
    /// A combination before its last refinement.
    column: Vec<f64>,
    /// `J^T` of a combination of rows, n.
    force: Vec<f64>,
    /// Dropped rows whose combination is not known yet.
    left: Vec<usize>,
    local: Local,
    sizes: Sizes,
}

impl Redundancy {
    /// The row whose right-hand side contradicts others most, if they do: along a combination `n`
    /// of rows that exerts no force, `n . b` must vanish up to what the rows are known to be off
    /// by, `sum |n_i| (rounding_i + tolerance size_i)`. Rows whose pivot is small but true leave a
    /// force `f = J^T n` that is small but true: as every solution has `n . b = -f . x`, they
    /// contradict each other only beyond what the velocities, `x` or those without rows, can do
    /// along `f`.
    pub(super) fn contradiction(
        &mut self,
        system: &KktSystem,
        b: &[f64],
        x: &[f64],
        solved: &Refinement,
        tolerance: f64,
    ) -> Option<(usize, f64)> {
        let Self {
            null_space,
            force,
            sizes,
            ..
        } = self;
        if null_space.is_empty() {
            return None;
        }
        sizes.measure(system, b, &solved.residual);
        let Sizes {
            free,
            speed,
            rounding,
        } = sizes;
        let mut worst = (1.0, None);
        let mut allowed = 0.0;
        for q in null_space.columns() {
            let involved = || q.entries();
            let size = involved().fold(0.0f64, |a, (i, _)| a.max(speed[i]));
            let share = tolerance * size;
            let (mut sum, mut limit) = (0.0, 0.0);
            for (i, n) in involved() {
                sum += n * b[i];
                limit += n.abs() * (share + rounding[i]);
            }
            if sum.abs() > worst.0 * limit {
                zeros(force, system.n());
                for (i, n) in involved() {
                    system.j.row_entries(i).for_each(|(k, a)| force[k] += n * a);
                }
                let reach = force.iter().zip(x).enumerate().filter(|(k, _)| !system.fixed[*k]);
                limit += reach
                    .map(|(k, (f, x))| f.abs() * (x.abs() + free[k]))
                    .sum::<f64>();
            }
            if sum.abs() > worst.0 * limit {
                worst = (sum.abs() / limit, Some(q));
                allowed = share;
            }
        }
        let q = worst.1?;
        let removed = |i: usize| (b[i] - solved.b[i]).abs();
        let share = |i: usize| removed(i) / (allowed + rounding[i]).max(f64::MIN_POSITIVE);
        let involved = q.entries().map(|(i, _)| i);
        let row = involved.max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
        Some((row, removed(row)))
    }
}

/// Sizes of velocities that tell a contradiction from rounding.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// For each variable the largest velocity in its block if there were no rows.
    free: Vec<f64>,
    /// For each row the largest of its terms with rows and without.
    speed: Vec<f64>,
    /// Rounding of each row: that of all velocities that add up, those of multipliers too.
    rounding: Vec<f64>,
}

impl Sizes {
    /// Cost `O(nnz(J))`.
    fn measure(&mut self, system: &KktSystem, b: &[f64], residual: &ResidualWorkspace) {
        self.free.clear();
        for block in system.primal_blocks().windows(2) {
            let own = (block[0]..block[1]).filter(|i| !system.fixed[*i]);
            let largest = own.fold(0.0f64, |a, i| a.max((system.c[i] / system.w_diagonal(i)).abs()));
            self.free.resize(block[1], largest);
        }
        self.speed.clear();
        self.rounding.clear();
        let roundoff = roundoff(system);
        for (i, b) in b.iter().enumerate() {
            let (mut with, mut without) = (0.0f64, 0.0f64);
            for (k, a) in system.j.row_entries(i) {
                with = with.max(a.abs() * residual.velocity[k]);
                without = without.max(a.abs() * self.free[k]);
            }
            // What rows may disagree by is a share of velocities with or without rows: a
            // contradiction makes multipliers without bound.
            self.speed.push(residual.row_scale[i] + b.abs() + without);
            self.rounding
                .push(roundoff * (with + b.abs()) + system.b_rounding[i]);
        }
    }
}
