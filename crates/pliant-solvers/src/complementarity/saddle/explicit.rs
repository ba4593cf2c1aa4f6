//! The Delassus operator by its entries: the Schur complement that the block factor of the
//! bilateral part leaves in the rows.

use super::free::Free;
use super::{ABSENT, Rest, boundaries};
use crate::KktSystem;
use crate::complementarity::{BlockSparse, ProblemError};
use crate::direct::AnalysisWorkspace;
use crate::order::Elimination;
use pliant_sparse::{
    BlockFactor, BlockPattern, BlockSymbolic, Complement, ComplementPattern, ComplementSymbolic, CsrMatrix,
    EliminationCost, Graph, PatternBuilder, PivotRule, Threads,
};

/// Sparse blocks of `A`.
#[derive(Debug, Default)]
pub(super) struct Explicit {
    pub(super) a: BlockSparse,
    inner: BlockSymbolic,
    factor: BlockFactor,
    symbolic: ComplementSymbolic,
    complement: Complement,
    /// More than one only if there is enough work.
    threads: Threads,
    /// Slot of every entry of W, J, R: of those of `K` in its factor, then of those of the rows,
    /// then of their own square; `ABSENT` for fixed variables.
    slots: [Vec<u32>; 3],
    /// Slot in the complement of every entry of `A`.
    source: Vec<u32>,
    /// Unknown of each pivot.
    sequence: Vec<usize>,
    /// The order of the bilateral part, as it was decided.
    pub(super) order: Elimination,
    builder: PatternBuilder,
}

/// The patterns of the factor of `K` and of the complement.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    inner: BlockPattern,
    outer: ComplementPattern,
    /// Cost of the factor of `K` alone.
    pub(super) cost: EliminationCost,
    sequence: Vec<usize>,
    order: Elimination,
    /// Place of each unknown: those of `K`, then the rows; `ABSENT` for fixed variables.
    position: Vec<u32>,
    /// Scratch: the system of `K`, row blocks that are deferred, boundaries and vertices of the
    /// blocks of `K` and of the rows, their graph.
    rest: Rest,
    deferred: Vec<bool>,
    bounds: Vec<usize>,
    vertex: Vec<usize>,
    graph: Graph,
    couplings: Vec<(u32, u32)>,
    own: Vec<(u32, u32)>,
}

/// Operations below which one thread is enough: about a millisecond.
const SMALL: usize = 4_000_000;
/// Entries that a thread takes over at a time.
const PIECE: usize = 1 << 16;
/// Pivots below these shares of the diagonal (of `W`, of the Delassus diagonal of a bilateral row)
/// are not believed.
const CERTAIN: (f64, f64) = (1e-12, 1e-9);

/// Parts of the matrix, and where their rows and columns start.
fn parts(system: &KktSystem) -> [(&CsrMatrix, usize, usize); 3] {
    let n = system.n();
    [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)]
}

/// The place of each entry of a part of the matrix in the lower triangle, `ABSENT` for fixed
/// variables.
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

/// Rows that are taken out of a system.
#[derive(Clone, Copy)]
pub(super) struct RemovedRows<'a> {
    /// In the order in which they count.
    pub(super) list: &'a [usize],
    /// Whether each row of the system is one of them.
    pub(super) out: &'a [bool],
}

impl Analysis {
    /// Makes it that of the removed rows, in the given order of the bilateral part if it fits.
    /// After an error it is of no use.
    pub(super) fn refill(
        &mut self,
        system: &KktSystem,
        removed: RemovedRows<'_>,
        blocks: &[usize],
        order: Option<&Elimination>,
        work: &mut AnalysisWorkspace,
    ) -> Result<(), ProblemError> {
        let n = system.n();
        self.rest.refill(system, removed.out)?;
        let sub = &self.rest.system;
        let seen = &mut work.order.seen;
        match order.filter(|o| o.fits(sub, seen)) {
            Some(order) => self.order.clone_from(order),
            None => {
                self.deferred.clear();
                self.deferred.resize(sub.row_blocks().len() - 1, false);
                let order = &mut self.order;
                order.refill(sub, &self.deferred, &mut work.order, &mut work.symbolic)?;
            }
        }
        self.cost = self.order.report.cost;
        self.place(system, removed.list);
        let block_of = |v: usize| {
            if v < n {
                (false, system.primal_blocks().partition_point(|first| *first <= v))
            } else {
                (true, system.row_blocks().partition_point(|first| *first <= v - n))
            }
        };
        let Self {
            inner,
            outer,
            sequence,
            position,
            bounds,
            vertex,
            graph,
            couplings,
            own,
            ..
        } = self;
        boundaries(sequence, block_of, bounds);
        // Vertices of `K`, then blocks of rows.
        vertex.clear();
        for w in [&bounds[..], blocks].into_iter().flat_map(|b| b.windows(2)) {
            let next = vertex.last().map_or(0, |v| v + 1);
            vertex.extend(std::iter::repeat_n(next, w[1] - w[0]));
        }
        let first = bounds.len() - 1;
        graph.reset(first);
        couplings.clear();
        own.clear();
        let mut last = (usize::MAX, 0);
        for part in parts(system) {
            each(part, position, &mut |a, b| {
                if a != ABSENT {
                    let edge: (usize, usize) = (vertex[a as usize], vertex[b as usize]);
                    if edge == last {
                        return;
                    }
                    last = edge;
                    match (edge.0.checked_sub(first), edge.1.checked_sub(first)) {
                        (Some(i), Some(k)) => own.push((i as u32, k as u32)),
                        (Some(i), None) => couplings.push((i as u32, edge.1 as u32)),
                        _ => graph.connect(edge.0, edge.1),
                    }
                }
            });
        }
        inner.refill(bounds, graph, &mut work.symbolic)?;
        outer.refill(blocks, inner, couplings, own, &mut work.symbolic)?;
        Ok(())
    }

    /// Places the unknowns: those of `K` in their order, then the rows.
    fn place(&mut self, system: &KktSystem, rows: &[usize]) {
        let Self {
            sequence,
            position,
            rest,
            order,
            ..
        } = self;
        let n = system.n();
        let kept = |v: &usize| if *v < n { *v } else { n + rest.kept[*v - n] };
        sequence.clear();
        sequence.extend(order.sequence.iter().map(kept));
        position.clear();
        position.resize(n + system.m(), ABSENT);
        let all = sequence.iter().copied().chain(rows.iter().map(|row| n + row));
        for (k, v) in all.enumerate() {
            position[v] = k as u32;
        }
    }

    /// Operations and block updates.
    pub(super) fn work(&self) -> (usize, usize) {
        (
            self.inner.flops() + self.outer.flops(),
            self.inner.updates() + self.outer.updates(),
        )
    }
}

impl Explicit {
    /// Makes it the operator of an analysis, whose patterns and order are taken; the storage of the
    /// former ones is left in their place. After an error it is of no use.
    pub(super) fn refill(
        &mut self,
        system: &KktSystem,
        rows: &[usize],
        blocks: &[usize],
        threads: &Threads,
        analysis: &mut Analysis,
        work: &mut AnalysisWorkspace,
    ) -> Result<(), ProblemError> {
        self.threads = match analysis.outer.flops() {
            ..SMALL => Threads::one(),
            _ => threads.clone(),
        };
        std::mem::swap(&mut self.sequence, &mut analysis.sequence);
        std::mem::swap(&mut self.order, &mut analysis.order);
        let size = self.sequence.len();
        self.inner.refill(&mut analysis.inner)?;
        let pattern = self.inner.pattern();
        self.symbolic
            .refill(pattern, &mut analysis.outer, &mut work.symbolic)?;
        self.factor.refill(&self.inner);
        self.complement.refill(&self.symbolic);
        let (inner, symbolic) = (&self.inner, &self.symbolic);
        let (of_factor, of_rows) = (inner.pattern().values(), self.complement.rows().len());
        let place = |a: usize, b: usize| match (a.checked_sub(size), b.checked_sub(size)) {
            (Some(i), Some(k)) => Some(of_factor + of_rows + symbolic.own_slot(i, k)?),
            (Some(i), None) => Some(of_factor + symbolic.slot(inner, i, b)?),
            _ => inner.slot(a, b),
        };
        for (part, slots) in parts(system).into_iter().zip(&mut self.slots) {
            slots.clear();
            slots.reserve(part.0.pattern().len());
            each(part, &analysis.position, &mut |a, b| {
                let slot = (a != ABSENT).then(|| place(a as usize, b as usize));
                slots.push(
                    slot.flatten()
                        .and_then(|s| u32::try_from(s).ok())
                        .unwrap_or(ABSENT),
                );
            });
        }
        self.list_entries(rows.len(), blocks)?;
        self.compute(system, rows)
    }

    /// The entries of `A`, and where each is in the complement.
    fn list_entries(&mut self, count: usize, blocks: &[usize]) -> Result<(), ProblemError> {
        let Self {
            a,
            symbolic,
            source,
            builder,
            ..
        } = self;
        builder.reset(count, count);
        let range = |i: usize| (blocks[i], blocks[i + 1] - blocks[i]);
        for i in 0..blocks.len() - 1 {
            let own = range(i);
            for k in symbolic.pattern().own(i) {
                let other = range(*k as usize);
                builder.insert_block((own.0, other.0), (own.1, other.1), false);
                builder.insert_block((other.0, own.0), (other.1, own.1), false);
            }
        }
        let matrix = a.matrix_mut();
        matrix.refill(builder.build()?);
        source.clear();
        source.reserve(matrix.pattern().len());
        for i in 0..count {
            for k in matrix.pattern().row(i) {
                let k = *k as usize;
                let slot = symbolic.own_slot(i.max(k), i.min(k));
                source.push(slot.map_or(ABSENT, |s| s as u32));
            }
        }
        Ok(())
    }

    /// Entries that are stored.
    pub(super) fn entries(&self) -> usize {
        self.source.len()
    }

    pub(super) fn compute(&mut self, system: &KktSystem, rows: &[usize]) -> Result<(), ProblemError> {
        if !self.complement(system)? {
            return self.columns(system, rows);
        }
        let from = self.complement.own();
        let take = |(to, slots): &mut (&mut [f64], &[u32])| {
            for (to, slot) in to.iter_mut().zip(*slots) {
                *to = -from.get(*slot as usize).copied().unwrap_or(0.0);
            }
        };
        let values = self.a.matrix_mut().values_mut();
        if self.threads.count() == 1 {
            take(&mut (values, &self.source));
        } else {
            let pieces = values.chunks_mut(PIECE).zip(self.source.chunks(PIECE));
            self.threads.for_each(&mut pieces.collect::<Vec<_>>(), take);
        }
        Ok(())
    }

    /// The Schur complement; false if a pivot is in doubt.
    fn complement(&mut self, system: &KktSystem) -> Result<bool, ProblemError> {
        let n = system.n();
        self.factor.clear();
        self.complement.clear(&self.threads);
        let (of_rows, of_own) = self.complement.parts_mut();
        let of_factor = self.factor.values_mut();
        let (first, second) = (of_factor.len(), of_factor.len() + of_rows.len());
        for ((part, row0, _), slots) in parts(system).into_iter().zip(&self.slots) {
            let sign = if row0 == 0 { 1.0 } else { -1.0 };
            for (value, slot) in part.values().iter().zip(slots) {
                if !value.is_finite() {
                    return Ok(false);
                }
                let slot = *slot as usize;
                let to = if slot < first {
                    of_factor.get_mut(slot)
                } else if slot < second {
                    of_rows.get_mut(slot - first)
                } else {
                    of_own.get_mut(slot - second)
                };
                if let Some(to) = to {
                    *to = sign * value;
                }
            }
        }
        if self.factor.factor(&self.inner, PivotRule::Keep).is_err() {
            return Ok(false);
        }
        let certain = self.sequence.iter().zip(self.factor.pivots()).all(|(v, d)| {
            let v = *v;
            if v < n {
                *d > CERTAIN.0 * system.w_diagonal(v)
            } else {
                -d > CERTAIN.1 * (system.r_diagonal(v - n) + system.row_scale(v - n))
            }
        });
        if certain {
            let factor = (&self.inner, &self.factor);
            self.complement.compute(factor, &self.symbolic, &self.threads)?;
        }
        Ok(certain)
    }

    /// Column by column, with the rank decisions of the direct solver.
    fn columns(&mut self, system: &KktSystem, rows: &[usize]) -> Result<(), ProblemError> {
        let p = rows.len();
        let each: Vec<usize> = (0..=p).collect();
        let mut dense = vec![0.0; p * p];
        Free::new(system, rows, &each, 1, None)?.block(system, rows, 0..p, 0..p, &mut dense);
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
