//! Redundant rows of the direct solver: which there are, and whether they contradict each other.

use super::DirectSolver;
use super::plan::{ABSENT, Plan};
use crate::order::Elimination;
use crate::residual::roundoff;
use crate::{KktSystem, SolveError};

/// A combination of rows exerts no force if its force is below this share of its terms.
const NO_FORCE: f64 = 1e-3;

impl DirectSolver {
    /// As [`Self::prepare_held`]; where that finds `W` indefinite, once more with all rows after all variables. A nearly redundant
    /// row that follows its owner may leave a pivot that is rounding but not small enough to be dropped, after which signs mean
    /// nothing; sets of rows that come and go meet such pivots. The order stays changed only if that helped.
    pub(crate) fn prepare_safely(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        let found = self.prepare_held(system);
        let deferred = |plan: &Plan| plan.elimination.deferred.iter().all(|d| *d);
        let is_last_word = self.plan.as_ref().is_none_or(deferred);
        if is_last_word || !matches!(found, Err(SolveError::NotPositiveDefinite { .. })) {
            return found;
        }
        let blocks = system.row_blocks().len() - 1;
        let order = Elimination::new(system, &vec![true; blocks])?;
        let before = self.plan.take();
        let again = self
            .analyse(system, order)
            .and_then(|()| self.prepare_held(system));
        if again.is_err() {
            self.plan = before;
            return found;
        }
        again
    }

    /// For each dropped row d: `n` with `n_d = 1` and `J^T n = 0`, from one solve with the rows that are left. Returns a row for
    /// which that fails: it was dropped because its pivot is small against its own Delassus diagonal (a light body between
    /// heavy ones), not because it is redundant.
    pub(super) fn find_null_space(&mut self, system: &KktSystem) -> Result<Option<usize>, SolveError> {
        let (n, m) = (system.n(), system.m());
        self.null_space.reset(m);
        let plan = self.plan.as_mut().ok_or(SolveError::NotPrepared)?;
        for d in (0..m).filter(|d| self.dropped[*d]) {
            self.rhs.clear();
            self.rhs.resize(plan.elimination.sequence.len(), 0.0);
            for (slot, i) in system.j.pattern().row_slots(d).zip(system.j.pattern().row(d)) {
                let position = plan.position[*i as usize];
                if position != ABSENT {
                    self.rhs[position as usize] = system.j.values()[slot] * plan.scale[*i as usize];
                }
            }
            plan.kernel.solve_in_place(&mut self.rhs);
            self.counters.solves += 1;
            self.column.clear();
            self.column.extend((0..m).map(|i| {
                let position = plan.position[n + i] as usize;
                self.rhs[position] * plan.scale[n + i]
            }));
            self.column[d] = 1.0;
            if !self.trusted[d] && self.residual.force_share(system, &self.column) > NO_FORCE {
                return Ok(Some(d));
            }
            self.null_space.push(&mut self.column);
        }
        Ok(None)
    }

    /// The row whose right-hand side contradicts others most, if they do: along a combination `n` of rows that exerts no force, `n . b`
    /// must vanish up to what the rows are known to be off by, `sum |n_i| (rounding_i + tolerance size_i)`.
    pub(super) fn contradiction(&self, system: &KktSystem) -> Option<(usize, f64)> {
        self.contradiction_of(system, &system.b)
    }

    /// As [`Self::contradiction`], for another right-hand side, whose part that the rows agree on is `self.b`.
    pub(super) fn contradiction_of(&self, system: &KktSystem, b: &[f64]) -> Option<(usize, f64)> {
        let roundoff = roundoff(system);
        let allowed = |i: usize| {
            let size = self.residual.row_floor(system, i) + b[i].abs();
            (self.options.incompatibility + roundoff) * size + system.b_rounding[i]
        };
        let mut worst = (1.0, None);
        for q in self.null_space.columns() {
            let (mut sum, mut limit) = (0.0, 0.0);
            for (i, n) in q.iter().enumerate().filter(|(_, n)| **n != 0.0) {
                sum += n * b[i];
                limit += n.abs() * allowed(i);
            }
            if sum.abs() > worst.0 * limit {
                worst = (sum.abs() / limit, Some(q));
            }
        }
        let q = worst.1?;
        let removed = |i: usize| (b[i] - self.b[i]).abs();
        let share = |i: usize| removed(i) / allowed(i).max(f64::MIN_POSITIVE);
        let involved = (0..system.m()).filter(|i| q[*i] != 0.0);
        let row = involved.max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
        Some((row, removed(row)))
    }
}
