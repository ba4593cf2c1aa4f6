//! The stiffness of laws in the metric of the projection, and its products at any state.

use crate::law::Law;
use crate::laws::Laws;
use pliant_model::{At, Blocks, Evaluation, Problem, State};

/// Adds `share` times the products of the stiffness of all laws with displacements of all nodes.
pub(super) fn add_stiffness(
    problem: &Problem,
    evaluation: &Evaluation,
    laws: &Laws,
    share: f64,
    moved: &[f64],
    out: &mut [f64],
) {
    for i in 0..problem.force_fields().len() {
        each_entry(problem, evaluation, laws, i, |row, column, k| {
            out[row] += share * k * moved[column];
        });
    }
}

/// Visits the entries of the stiffness of a law: their coordinates among those of all nodes.
fn each_entry(
    problem: &Problem,
    evaluation: &Evaluation,
    laws: &Laws,
    force_field: usize,
    mut f: impl FnMut(usize, usize, f64),
) {
    let Some(law) = laws.field(force_field) else {
        return;
    };
    let mut made = [0.0; Evaluation::MOST_MADE];
    let first = law.node.start;
    for g in 0..law.dx.len() {
        let block = evaluation.stiffness_block(problem, force_field, g, &mut made);
        let width = law.dx.width(g);
        for (i, row) in block.chunks_exact(width.max(1)).enumerate() {
            for (j, k) in row.iter().enumerate() {
                f(first + law.coordinate(g, i), first + law.coordinate(g, j), *k);
            }
        }
    }
}

/// Adds the transposed products of [`add_stiffness`].
pub(super) fn add_stiffness_transposed(
    problem: &Problem,
    evaluation: &Evaluation,
    laws: &Laws,
    share: f64,
    forces: &[f64],
    out: &mut [f64],
) {
    for i in 0..problem.force_fields().len() {
        each_entry(problem, evaluation, laws, i, |row, column, k| {
            out[column] += share * k * forces[row];
        });
    }
}

/// The derivative of the stiffness of a law times a displacement of its node.
#[derive(Debug)]
pub(super) struct TurnedLaw {
    pub(super) law: Law,
    pub(super) stiffness: LawStiffness,
}

/// The stiffness of a law at any state.
#[derive(Debug)]
pub(super) struct LawStiffness {
    pub(super) force_field: usize,
    pub(super) blocks: Blocks,
    /// Elements of each group.
    pub(super) lists: Vec<Vec<usize>>,
}

impl LawStiffness {
    /// Writes, on its node, the product of the stiffness at a state with displacements of all nodes; no
    /// number where the law has none.
    pub(super) fn write_product(&mut self, problem: &Problem, state: &State, moved: &[f64], out: &mut [f64]) {
        let field = &problem.force_fields()[self.force_field];
        let node = problem.node(field.node);
        let at = At {
            space: node.space,
            x: &state.positions[node.position_range()],
            v: &state.velocities[node.velocity_range()],
            inputs: problem.inputs(self.force_field),
        };
        self.blocks.clear();
        out.fill(0.0);
        if field.component.law.stiffness(at, &mut self.blocks).is_err() {
            out.fill(f64::NAN);
            return;
        }
        let size = node.space.velocity_size();
        let moved = &moved[node.velocity_range()];
        for (g, list) in self.lists.iter().enumerate() {
            let width = list.len() * size;
            let place = |k: usize| list[k / size] * size + k % size;
            for (i, row) in self.blocks.block(g).chunks_exact(width.max(1)).enumerate() {
                let terms = row.iter().enumerate();
                out[place(i)] += terms.map(|(j, k)| k * moved[place(j)]).sum::<f64>();
            }
        }
    }
}
