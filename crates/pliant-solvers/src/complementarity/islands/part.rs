//! One part of a system that falls apart.

use super::partition::PartBlocks;
use super::{IslandReport, NONE, alike};
use crate::bounds::BoundState;
use crate::complementarity::{
    AutoOptions, Cone, ConicMemory, ConicReport, ConicSolver, Method, Outcome, ProblemError,
};
use crate::order::OrderMemory;
use crate::{
    BoxOptions, BoxSolver, KktSystem, Solution, SolveError, SolveReport, SolverCounters, Status, Variable,
};
use pliant_sparse::{CsrMatrix, Pattern, PatternBuilder};
use std::time::Duration;

/// A part: its own system, and where its numbers are in the whole.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Primal blocks and row blocks of the whole.
    pub(super) blocks: (Vec<u32>, Vec<u32>),
    pub(super) system: KktSystem,
    pub(super) cones: Vec<Option<Cone>>,
    pub(super) dofs: Vec<u32>,
    pub(super) rows: Vec<u32>,
    /// Slots of the values of W, J, R in the whole.
    pub(super) slots: [Vec<u32>; 3],
    pub(super) solution: Solution,
    pub(super) solver: PartSolver,
    /// Report of the last solve, and its error if it failed.
    pub(super) found: Option<IslandReport>,
    pub(super) error: Option<ProblemError>,
    /// Redundant rows of the last solve.
    pub(super) redundant: usize,
    /// Time of copies since the last solve.
    pub(super) copies: Duration,
    /// Work of linear systems since the last solve.
    pub(super) linear: SolverCounters,
    builder: PatternBuilder,
    /// Boundaries of the blocks: scratch.
    ends: [Vec<usize>; 2],
}

#[derive(Debug)]
pub(super) enum PartSolver {
    /// Everything that no cone depends on.
    Boxed(Box<BoxSolver>),
    Conic(Box<ConicSolver>),
}

impl Default for PartSolver {
    fn default() -> Self {
        Self::Boxed(Box::default())
    }
}

/// Where each variable and each row of the whole is in the part at hand; `NONE` for the others.
#[derive(Debug, Default)]
pub(super) struct Places {
    dofs: Vec<u32>,
    rows: Vec<u32>,
}

impl Places {
    /// Makes room for a system of so many variables and rows.
    pub(super) fn reset(&mut self, n: usize, m: usize) {
        for (list, length) in [(&mut self.dofs, n), (&mut self.rows, m)] {
            list.clear();
            list.resize(length, NONE);
        }
    }
}

/// The memory of the solver of a part, and the marks by which the part is known again.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PartMemory {
    pub(super) dofs: Vec<u32>,
    pub(super) rows_of_blocks: Vec<usize>,
    /// Patterns of W, J and R.
    pub(super) patterns: Vec<Pattern>,
    /// Rows of each cone.
    pub(super) laws: Vec<Option<usize>>,
    /// Whether the part has cones, and the memory of its solver.
    pub(super) is_conic: bool,
    pub(super) order: OrderMemory,
    pub(super) active_set: Vec<BoundState>,
    pub(super) conic: Box<ConicMemory>,
}

/// The part of a matrix on some rows and columns, and the slots its values come from.
fn extract(
    of: &CsrMatrix,
    rows: &[u32],
    place: &[u32],
    columns: usize,
    builder: &mut PatternBuilder,
    slots: &mut Vec<u32>,
) -> Result<Pattern, ProblemError> {
    builder.reset(rows.len(), columns);
    slots.clear();
    for (i, row) in rows.iter().enumerate() {
        let row = *row as usize;
        let first = of.pattern().row_slots(row).start;
        for (k, c) in of.pattern().row(row).iter().enumerate() {
            let at = place[*c as usize];
            if at != NONE {
                builder.insert(i, at as usize);
                slots.push((first + k) as u32);
            }
        }
    }
    Ok(builder.build()?)
}

/// The indices of some blocks one after another, and where each block ends there.
fn list_runs(blocks: &[u32], boundaries: &[usize], out: &mut Vec<u32>, ends: &mut Vec<usize>) {
    out.clear();
    ends.clear();
    ends.push(0);
    for b in blocks {
        let b = *b as usize;
        out.extend(boundaries[b] as u32..boundaries[b + 1] as u32);
        ends.push(out.len());
    }
}

impl Part {
    /// Makes it the part of some primal blocks and row blocks; its solver is to know of no other
    /// part. Allocates only for a larger one than ever before, or one of the other kind. After an
    /// error it is of no use.
    pub(super) fn refill(
        &mut self,
        whole: &KktSystem,
        cones: &[Option<Cone>],
        blocks: PartBlocks<'_>,
        conic: bool,
        places: &mut Places,
    ) -> Result<(), ProblemError> {
        let PartBlocks {
            primal,
            rows: row_blocks,
        } = blocks;
        for (own, blocks) in [(&mut self.blocks.0, primal), (&mut self.blocks.1, row_blocks)] {
            own.clear();
            own.extend_from_slice(blocks);
        }
        let Self {
            system,
            dofs,
            rows,
            slots: [of_w, of_j, of_r],
            builder,
            ends: [primal_ends, row_ends],
            ..
        } = self;
        list_runs(primal, whole.primal_blocks(), dofs, primal_ends);
        list_runs(row_blocks, whole.row_blocks(), rows, row_ends);
        for (list, place) in [(&*dofs, &mut places.dofs), (&*rows, &mut places.rows)] {
            for (k, i) in list.iter().enumerate() {
                place[*i as usize] = k as u32;
            }
        }
        let w = extract(&whole.w, dofs, &places.dofs, dofs.len(), builder, of_w)?;
        let j = extract(&whole.j, rows, &places.dofs, dofs.len(), builder, of_j)?;
        let r = extract(&whole.r, rows, &places.rows, rows.len(), builder, of_r)?;
        for (list, place) in [(&*dofs, &mut places.dofs), (&*rows, &mut places.rows)] {
            for i in list {
                place[*i as usize] = NONE;
            }
        }
        system.refill([w, j, r], primal_ends, row_ends)?;
        self.cones.clear();
        self.cones.extend(row_blocks.iter().map(|b| cones[*b as usize]));
        (self.found, self.error) = (None, None);
        if conic != self.is_conic() {
            self.solver = if conic {
                PartSolver::Conic(Box::default())
            } else {
                PartSolver::Boxed(Box::default())
            };
        }
        Ok(())
    }

    /// Whether it has cones.
    pub(super) fn is_conic(&self) -> bool {
        matches!(self.solver, PartSolver::Conic(_))
    }

    /// Forgets all that a solve hands to the next: what is solved then is to the bit what a new
    /// part solves.
    pub(super) fn forget(&mut self) {
        match &mut self.solver {
            PartSolver::Boxed(solver) => {
                solver.forget(None);
                solver.impose_active_set(&[]);
            }
            PartSolver::Conic(solver) => solver.impose(ConicMemory::default()),
        }
    }

    /// Goes on with the solver and the system of an older part that [is like it](Self::is_like).
    pub(super) fn go_on(&mut self, older: &mut Self) {
        std::mem::swap(&mut self.solver, &mut older.solver);
        // The plans of the solver share the patterns.
        std::mem::swap(&mut self.system, &mut older.system);
        std::mem::swap(&mut self.builder, &mut older.builder);
    }

    /// Variables and rows that there is room for.
    pub(super) fn room(&self) -> usize {
        self.dofs.capacity() + self.rows.capacity()
    }

    /// Whether an older part has the same variables, rows, patterns and laws, so that its plans
    /// still hold.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (&self.system, &other.system);
        self.dofs == other.dofs
            && alike(&self.cones, &other.cones)
            && self.is_conic() == other.is_conic()
            && a.primal_blocks() == b.primal_blocks()
            && a.row_blocks() == b.row_blocks()
            && a.w.pattern() == b.w.pattern()
            && a.j.pattern() == b.j.pattern()
            && a.r.pattern() == b.r.pattern()
    }

    pub(super) fn take_matrices(&mut self, whole: &KktSystem) {
        let system = &mut self.system;
        let sources = [&whole.w, &whole.j, &whole.r];
        let targets = [&mut system.w, &mut system.j, &mut system.r];
        for ((to, from), slots) in targets.into_iter().zip(sources).zip(&self.slots) {
            let from = from.values();
            for (v, slot) in to.values_mut().iter_mut().zip(slots) {
                *v = from[*slot as usize];
            }
        }
        for (fixed, d) in system.fixed.iter_mut().zip(&self.dofs) {
            *fixed = whole.fixed[*d as usize];
        }
        for (k, r) in self.rows.iter().enumerate() {
            let r = *r as usize;
            system.b_rounding[k] = whole.b_rounding[r];
            system.bounds[k] = whole.bounds[r];
        }
    }

    /// Writes the memory into buffers that are there.
    pub(super) fn record(&self, out: &mut PartMemory) {
        let system = &self.system;
        out.dofs.clone_from(&self.dofs);
        out.rows_of_blocks.clear();
        out.rows_of_blocks.extend_from_slice(system.row_blocks());
        out.patterns.clear();
        out.patterns
            .extend([&system.w, &system.j, &system.r].map(|a| a.pattern().clone()));
        out.laws.clear();
        out.laws.extend(self.cones.iter().map(|c| c.map(|c| c.rows())));
        let is_conic = self.is_conic();
        if out.is_conic != is_conic {
            out.order.clear();
            out.active_set.clear();
            out.conic.clear();
            out.is_conic = is_conic;
        }
        match &self.solver {
            PartSolver::Boxed(solver) => solver.record_memory(&mut out.order, &mut out.active_set),
            PartSolver::Conic(solver) => solver.record(&mut out.conic),
        }
    }

    /// Whether a remembered part was like this one.
    pub(super) fn was(&self, memory: &PartMemory) -> bool {
        let system = &self.system;
        let laws = self.cones.iter().map(|c| c.map(|c| c.rows()));
        self.dofs == memory.dofs
            && system.row_blocks() == memory.rows_of_blocks
            && laws.eq(memory.laws.iter().copied())
            && [&system.w, &system.j, &system.r]
                .iter()
                .zip(&memory.patterns)
                .all(|(a, b)| a.pattern() == b)
            && self.is_conic() == memory.is_conic
    }

    pub(super) fn impose(&mut self, memory: PartMemory) {
        match &mut self.solver {
            PartSolver::Boxed(solver) => {
                solver.forget(memory.order.into_order());
                solver.impose_active_set(&memory.active_set);
            }
            PartSolver::Conic(solver) => solver.impose(*memory.conic),
        }
    }

    pub(super) fn take_cones(&mut self, whole: &[Option<Cone>]) {
        for (cone, b) in self.cones.iter_mut().zip(&self.blocks.1) {
            *cone = whole[*b as usize];
        }
    }

    /// A report with the numbers of the whole.
    pub(super) fn report(&self, found: &ConicReport) -> IslandReport {
        let settled = found.cones.iterations == 0 && found.outcome == Outcome::Converged;
        IslandReport {
            outcome: found.outcome,
            linear: self.linear_in_whole(found.linear),
            residual: found.residual,
            exact: found.exact.measure(),
            worst: self.worst_block(found.residual.worst),
            iterations: found.cones.iterations,
            work: found.cones.work,
            method: Some(found.cones.method),
            islands: 1,
            settled: usize::from(settled),
        }
    }

    /// The row block of the whole behind a block of the part's problem: rows of bounded force are
    /// blocks of their own there.
    pub(super) fn worst_block(&self, block: usize) -> usize {
        let bounded =
            |i: &usize| self.system.bounds[*i].0.is_finite() || self.system.bounds[*i].1.is_finite();
        let mut count = 0;
        for (k, w) in self.system.row_blocks().windows(2).enumerate() {
            count += match self.cones[k] {
                Some(_) => 1,
                None => (w[0]..w[1]).filter(bounded).count(),
            };
            if count > block {
                return self.blocks.1[k] as usize;
            }
        }
        0
    }

    pub(super) fn linear_in_whole(&self, mut linear: SolveReport) -> SolveReport {
        match &mut linear.status {
            Status::Incompatible { row, .. } | Status::Unsettled { row, .. } => {
                *row = self.rows[*row] as usize;
            }
            _ => {}
        }
        linear
    }

    /// An error with the numbers of the whole.
    pub(super) fn in_whole(&self, error: ProblemError) -> ProblemError {
        let ProblemError::Bilateral(mut inner) = error else {
            return error;
        };
        match &mut inner {
            SolveError::NotPositiveDefinite { dof, .. } => *dof = self.dofs[*dof] as usize,
            SolveError::NotFinite { variable } => {
                *variable = match *variable {
                    Variable::Dof(i) => Variable::Dof(self.dofs[i] as usize),
                    Variable::Row(i) => Variable::Row(self.rows[i] as usize),
                };
            }
            SolveError::NegativeCompliance { row, .. } | SolveError::Bounds { row, .. } => {
                *row = self.rows[*row] as usize;
            }
            _ => {}
        }
        ProblemError::Bilateral(inner)
    }

    /// Work of the linear systems of its solver so far.
    pub(super) fn counters(&self) -> SolverCounters {
        match &self.solver {
            PartSolver::Boxed(solver) => solver.counters(),
            PartSolver::Conic(solver) => solver.counters(),
        }
    }

    pub(super) fn prepare(
        &mut self,
        options: AutoOptions,
        only: Option<Method>,
        bounds: BoxOptions,
    ) -> Result<(), ProblemError> {
        match &mut self.solver {
            PartSolver::Boxed(solver) => {
                solver.options = bounds;
                Ok(solver.prepare(&self.system)?)
            }
            PartSolver::Conic(solver) => {
                solver.options = options;
                solver.only = only;
                solver.set_direct_options(bounds.direct);
                solver.prepare(&self.system, &self.cones)
            }
        }
    }

    /// Solves with at most so many operations for the cones.
    pub(super) fn solve(&mut self, work: u64) -> Result<IslandReport, ProblemError> {
        match &mut self.solver {
            PartSolver::Boxed(solver) => {
                let linear = solver.solve(&self.system, &mut self.solution)?;
                Ok(IslandReport::linear(self.linear_in_whole(linear)))
            }
            PartSolver::Conic(solver) => {
                solver.options.limits.work = work;
                let found = solver.solve(&self.system, &mut self.solution)?;
                self.redundant = found.linear.redundant_rows;
                Ok(self.report(&found))
            }
        }
    }

    pub(super) fn take_right_hand_sides(&mut self, whole: &KktSystem) {
        for (c, d) in self.system.c.iter_mut().zip(&self.dofs) {
            *c = whole.c[*d as usize];
        }
        for (b, r) in self.system.b.iter_mut().zip(&self.rows) {
            *b = whole.b[*r as usize];
        }
    }
}
