//! The Delassus operator by its entries: the Schur complement of a partial block factorisation.

use super::free::Free;
use super::{ABSENT, without};
use crate::KktSystem;
use crate::complementarity::{BlockSparse, ProblemError};
use crate::order::Elimination;
use pliant_sparse::{
    BlockFactor, BlockPattern, BlockSymbolic, CsrMatrix, EliminationCost, Graph, PatternBuilder, PivotRule,
};

/// Sparse blocks of `A`.
#[derive(Debug)]
pub(super) struct Explicit {
    pub(super) a: BlockSparse,
    symbolic: BlockSymbolic,
    factor: BlockFactor,
    /// Slot in the factor of every entry of W, J, R; `ABSENT` for fixed variables.
    slots: [Vec<u32>; 3],
    /// Slot in the factor of every entry of `A`.
    source: Vec<u32>,
    /// Unknown of each pivot.
    sequence: Vec<usize>,
    /// The order of the bilateral part, as it was decided.
    pub(super) order: Elimination,
}

/// The pattern of the partial factorisation.
pub(super) struct Analysis {
    pub(super) pattern: BlockPattern,
    /// What the factor of `K` alone takes.
    pub(super) inner: EliminationCost,
    sequence: Vec<usize>,
    order: Elimination,
}

/// Pivots below these shares of the diagonal (of `W`, of the Delassus diagonal of a bilateral row) are not believed.
const CERTAIN: (f64, f64) = (1e-12, 1e-9);

fn positions(system: &KktSystem, sequence: &[usize]) -> Vec<u32> {
    let mut position = vec![ABSENT; system.n() + system.m()];
    for (k, v) in sequence.iter().enumerate() {
        position[*v] = k as u32;
    }
    position
}

/// The place of each entry of a part of the matrix in the lower triangle, `ABSENT` for fixed variables.
fn each(
    (part, row0, column0): (&CsrMatrix, usize, usize),
    position: &[u32],
    visit: &mut dyn FnMut(u32, u32),
) {
    for i in 0..part.pattern().rows() {
        for k in part.pattern().row(i) {
            let (a, b) = (position[row0 + i], position[column0 + *k as usize]);
            visit(a.max(b), a.min(b));
        }
    }
}

impl Analysis {
    /// In the given order of the bilateral part if it fits.
    pub(super) fn new(
        system: &KktSystem,
        rows: &[usize],
        blocks: &[usize],
        order: Option<Elimination>,
    ) -> Result<Self, ProblemError> {
        let n = system.n();
        let mut out = vec![false; system.m()];
        rows.iter().for_each(|row| out[*row] = true);
        let (sub, kept) = without(system, &out)?;
        let order = match order.filter(|o| o.fits(&sub)) {
            Some(order) => order,
            None => Elimination::new(&sub, &vec![false; sub.row_blocks().len() - 1])?,
        };
        let mut sequence: Vec<usize> = order
            .sequence
            .iter()
            .map(|v| if *v < n { *v } else { n + kept[*v - n] })
            .collect();
        let block_of = |v: usize| {
            if v < n {
                (false, system.primal_blocks().partition_point(|first| *first <= v))
            } else {
                (true, system.row_blocks().partition_point(|first| *first <= v - n))
            }
        };
        let mut bounds: Vec<usize> = vec![0];
        for k in 1..sequence.len() {
            if block_of(sequence[k]) != block_of(sequence[k - 1]) {
                bounds.push(k);
            }
        }
        let inner = sequence.len();
        let eliminated = if inner > 0 { bounds.len() } else { 0 };
        bounds.extend(blocks.iter().skip(usize::from(inner == 0)).map(|b| inner + b));
        sequence.extend(rows.iter().map(|row| n + row));
        let position = positions(system, &sequence);
        let mut vertex = Vec::with_capacity(sequence.len());
        for (k, w) in bounds.windows(2).enumerate() {
            vertex.extend(std::iter::repeat_n(k, w[1] - w[0]));
        }
        let parts = [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)];
        let mut graph = Graph::new(bounds.len() - 1);
        let mut last = (0, 0);
        for part in parts {
            each(part, &position, &mut |a, b| {
                if a != ABSENT {
                    let edge = (vertex[a as usize], vertex[b as usize]);
                    if edge != last {
                        graph.connect(edge.0, edge.1);
                        last = edge;
                    }
                }
            });
        }
        Ok(Self {
            pattern: BlockPattern::partial(bounds, &graph, eliminated)?,
            inner: order.report.cost,
            sequence,
            order,
        })
    }
}

impl Explicit {
    pub(super) fn new(system: &KktSystem, rows: &[usize], analysis: Analysis) -> Result<Self, ProblemError> {
        let (sequence, order) = (analysis.sequence, analysis.order);
        let (n, inner) = (system.n(), sequence.len() - rows.len());
        let eliminated = analysis.pattern.eliminated();
        let position = positions(system, &sequence);
        let parts = [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)];
        let symbolic = BlockSymbolic::new(analysis.pattern)?;
        let slots = parts.map(|part| {
            let mut slots = Vec::with_capacity(part.0.pattern().len());
            each(part, &position, &mut |a, b| {
                let slot = (a != ABSENT).then(|| symbolic.slot(a as usize, b as usize));
                slots.push(slot.flatten().map_or(ABSENT, |s| s as u32));
            });
            slots
        });
        let mut pattern = PatternBuilder::new(rows.len(), rows.len());
        let all = symbolic.pattern();
        for j in eliminated..all.len() {
            let own = (all.bounds()[j] - inner, all.block_size(j));
            pattern.insert_block((own.0, own.0), (own.1, own.1), false);
            for i in all.column(j) {
                let other = (all.bounds()[*i as usize] - inner, all.block_size(*i as usize));
                pattern.insert_block((other.0, own.0), (other.1, own.1), false);
                pattern.insert_block((own.0, other.0), (own.1, other.1), false);
            }
        }
        let matrix = pattern.finish()?.into_matrix();
        let mut source = Vec::with_capacity(matrix.pattern().len());
        for i in 0..rows.len() {
            for k in matrix.pattern().row(i) {
                let k = *k as usize;
                let slot = symbolic.slot(inner + i.max(k), inner + i.min(k));
                source.push(slot.map_or(ABSENT, |s| s as u32));
            }
        }
        let mut made = Self {
            a: BlockSparse::from_matrix(matrix),
            factor: symbolic.allocate(),
            symbolic,
            slots,
            source,
            sequence,
            order,
        };
        made.compute(system, rows)?;
        Ok(made)
    }

    /// Entries that are stored.
    pub(super) fn entries(&self) -> usize {
        self.source.len()
    }

    pub(super) fn compute(&mut self, system: &KktSystem, rows: &[usize]) -> Result<(), ProblemError> {
        if !self.complement(system, rows.len())? {
            return self.columns(system, rows);
        }
        for (to, slot) in self.a.matrix_mut().values_mut().iter_mut().zip(&self.source) {
            *to = -self.factor.values().get(*slot as usize).copied().unwrap_or(0.0);
        }
        Ok(())
    }

    /// The Schur complement; false if a pivot is in doubt.
    fn complement(&mut self, system: &KktSystem, rows: usize) -> Result<bool, ProblemError> {
        let n = system.n();
        self.factor.clear();
        let values = self.factor.values_mut();
        let parts = [(&system.w, 1.0), (&system.j, -1.0), (&system.r, -1.0)];
        for ((part, sign), slots) in parts.into_iter().zip(&self.slots) {
            for (value, slot) in part.values().iter().zip(slots) {
                if !value.is_finite() {
                    return Ok(false);
                }
                if let Some(to) = values.get_mut(*slot as usize) {
                    *to = sign * value;
                }
            }
        }
        if self.factor.factor(&self.symbolic, PivotRule::Keep).is_err() {
            return Ok(false);
        }
        let eliminated = self.sequence.len() - rows;
        Ok((0..eliminated).all(|k| {
            let (v, d) = (self.sequence[k], self.factor.pivots()[k]);
            if v < n {
                d > CERTAIN.0 * system.w_diagonal(v)
            } else {
                -d > CERTAIN.1 * (system.r_diagonal(v - n) + system.row_scale(v - n))
            }
        }))
    }

    /// Column by column, with the rank decisions of the direct solver.
    fn columns(&mut self, system: &KktSystem, rows: &[usize]) -> Result<(), ProblemError> {
        let p = rows.len();
        let each: Vec<usize> = (0..=p).collect();
        let mut dense = vec![0.0; p * p];
        Free::new(system, rows, &each, 1, None)?.block(system, rows, (0..p, 0..p), &mut dense);
        let matrix = self.a.matrix_mut();
        for i in 0..p {
            for slot in matrix.pattern().row_slots(i) {
                let k = matrix.pattern().indices()[slot] as usize;
                matrix.values_mut()[slot] = 0.5 * (dense[i * p + k] + dense[k * p + i]);
            }
        }
        Ok(())
    }
}
