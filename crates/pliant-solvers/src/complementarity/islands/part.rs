//! One part of a system that falls apart.

use super::{IslandReport, NONE, alike};
use crate::bounds::BoundState;
use crate::complementarity::{
    AutoOptions, Cone, ConicMemory, ConicReport, ConicSolver, Method, Outcome, ProblemError,
};
use crate::{
    BoxOptions, BoxSolver, Elimination, KktSystem, Solution, SolveError, SolveReport, Status, Variable,
};
use pliant_sparse::{CsrMatrix, Pattern, PatternBuilder};

/// A part: its own system, and where its numbers are in the whole.
#[derive(Debug)]
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
}

#[derive(Debug)]
pub(super) enum PartSolver {
    /// Everything that no cone depends on.
    Boxed(Box<BoxSolver>),
    Conic(Box<ConicSolver>),
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
    pub(super) order: Option<Elimination>,
    pub(super) active_set: Vec<BoundState>,
    pub(super) conic: Box<ConicMemory>,
}

/// The part of a matrix on some rows and columns, and the slots its values come from.
fn extract(
    of: &CsrMatrix,
    rows: &[u32],
    place: &[u32],
    columns: usize,
) -> Result<(PatternBuilder, Vec<u32>), ProblemError> {
    let mut pattern = PatternBuilder::new(rows.len(), columns);
    let mut slots = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let row = *row as usize;
        let first = of.pattern().row_slots(row).start;
        for (k, c) in of.pattern().row(row).iter().enumerate() {
            let at = place[*c as usize];
            if at != NONE {
                pattern.insert(i, at as usize);
                slots.push((first + k) as u32);
            }
        }
    }
    Ok((pattern, slots))
}

impl Part {
    pub(super) fn new(
        whole: &KktSystem,
        cones: &[Option<Cone>],
        (primal, row_blocks): (Vec<u32>, Vec<u32>),
        (dof_place, row_place): (&mut [u32], &mut [u32]),
        conic: bool,
    ) -> Result<Self, ProblemError> {
        let runs = |blocks: &[u32], boundaries: &[usize]| {
            let mut out = Vec::new();
            let mut ends = vec![0];
            for b in blocks {
                let b = *b as usize;
                out.extend(boundaries[b] as u32..boundaries[b + 1] as u32);
                ends.push(out.len());
            }
            (out, ends)
        };
        let (dofs, primal_ends) = runs(&primal, whole.primal_blocks());
        let (rows, row_ends) = runs(&row_blocks, whole.row_blocks());
        for (k, d) in dofs.iter().enumerate() {
            dof_place[*d as usize] = k as u32;
        }
        for (k, r) in rows.iter().enumerate() {
            row_place[*r as usize] = k as u32;
        }
        let (w, w_slots) = extract(&whole.w, &dofs, dof_place, dofs.len())?;
        let (j, j_slots) = extract(&whole.j, &rows, dof_place, dofs.len())?;
        let (r, r_slots) = extract(&whole.r, &rows, row_place, rows.len())?;
        for d in &dofs {
            dof_place[*d as usize] = NONE;
        }
        for r in &rows {
            row_place[*r as usize] = NONE;
        }
        let system = KktSystem::new(w.finish()?, j.finish()?, r.finish()?, primal_ends, row_ends)?;
        Ok(Self {
            cones: row_blocks.iter().map(|b| cones[*b as usize]).collect(),
            blocks: (primal, row_blocks),
            system,
            dofs,
            rows,
            slots: [w_slots, j_slots, r_slots],
            solution: Solution::default(),
            found: None,
            error: None,
            solver: if conic {
                PartSolver::Conic(Box::default())
            } else {
                PartSolver::Boxed(Box::default())
            },
        })
    }

    /// Whether an older part has the same variables, rows, patterns and laws, so that its plans
    /// still hold.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (&self.system, &other.system);
        self.dofs == other.dofs
            && alike(&self.cones, &other.cones)
            && matches!(self.solver, PartSolver::Conic(_)) == matches!(other.solver, PartSolver::Conic(_))
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
        let is_conic = matches!(self.solver, PartSolver::Conic(_));
        if out.is_conic != is_conic {
            (out.order, out.active_set) = (None, Vec::new());
            *out.conic = ConicMemory::default();
            out.is_conic = is_conic;
        }
        match &self.solver {
            PartSolver::Boxed(solver) => solver.record(&mut out.order, &mut out.active_set),
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
            && matches!(self.solver, PartSolver::Conic(_)) == memory.is_conic
    }

    pub(super) fn impose(&mut self, memory: PartMemory) {
        match &mut self.solver {
            PartSolver::Boxed(solver) => {
                solver.forget(memory.order);
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
