//! The order of elimination, decided on the block graph.
//!
//! A hard row (`R = 0`) has a zero on the diagonal until variables it acts on have been eliminated,
//! so an order of small fill alone would break down. Every hard row block is therefore *owned* by
//! one primal block and eliminated right after it, as one vertex of the graph that is ordered, by
//! minimum degree or nested dissection ([`Graph::best_order`](pliant_sparse::Graph::best_order)).
//! For a tree of bodies this is the elimination from the leaves, without fill beyond the block
//! tree. Rows that find no owner, or whose pivot vanished in an earlier factorisation, are
//! *deferred*: they come after everything else, where their pivot is an exact Schur complement, so
//! that a zero one *is* a redundant row. Where small fill leaves the order open, along long paths,
//! it is chosen for large pivots.

mod owners;
mod paths;
mod quotient;
#[cfg(test)]
mod tests;

use crate::bounds::BoundState;
use crate::{KktSystem, SolveError};
use owners::Owners;
use paths::Paths;
use pliant_sparse::{BestOrder, OrderReport, SymbolicWorkspace};
use quotient::{Last, Quotient};

/// The vertices of the block graph: primal blocks with a free variable, and row blocks.
#[derive(Debug, Default)]
struct Blocks {
    /// Block of each variable; `NONE` for a fixed one.
    of_dof: Vec<u32>,
    /// Where the primal blocks of each row block start in `touched`, and their number.
    offsets: Vec<usize>,
    /// Primal blocks that each row block acts on, ascending.
    touched: Vec<u32>,
    /// Whether a row block needs a partner.
    hard: Vec<bool>,
    /// Free variables of each primal block.
    free: Vec<usize>,
    /// The last row block in which each primal block was seen: scratch.
    seen: Vec<u32>,
}

/// Scratch of an order. No result depends on what is in it.
#[derive(Debug, Default)]
pub(crate) struct OrderWorkspace {
    blocks: Blocks,
    owners: Owners,
    quotient: Quotient,
    paths: Paths,
    /// The order of the quotient, and of its part without paths.
    best: BestOrder,
    then: BestOrder,
    last: Last,
    /// Whether each unknown was seen.
    pub(crate) seen: Vec<bool>,
}

const NONE: u32 = u32::MAX;

/// Rows whose own diagonal is below this share of their Delassus diagonal are paired like hard
/// rows.
const NEARLY_HARD: f64 = 1e-6;

/// Largest block that indistinguishable blocks are merged to: the kernels know sizes up to six.
const LARGEST_MERGED: usize = 6;

impl Blocks {
    fn refill(&mut self, system: &KktSystem) {
        let Self {
            of_dof,
            offsets,
            touched,
            hard,
            free,
            seen,
        } = self;
        of_dof.clear();
        of_dof.resize(system.n(), NONE);
        free.clear();
        for (k, w) in system.primal_blocks().windows(2).enumerate() {
            let mut count = 0;
            for i in (w[0]..w[1]).filter(|i| !system.fixed[*i]) {
                of_dof[i] = k as u32;
                count += 1;
            }
            free.push(count);
        }
        offsets.clear();
        offsets.push(0);
        touched.clear();
        hard.clear();
        seen.clear();
        seen.resize(free.len(), NONE);
        for (k, w) in system.row_blocks().windows(2).enumerate() {
            let start = touched.len();
            for p in (w[0]..w[1]).flat_map(|i| system.j.pattern().row(i)) {
                let p = of_dof[*p as usize];
                if p != NONE && seen[p as usize] != k as u32 {
                    seen[p as usize] = k as u32;
                    touched.push(p);
                }
            }
            touched[start..].sort_unstable();
            offsets.push(touched.len());
            let nearly = |i: usize| system.r_diagonal(i) <= NEARLY_HARD * system.row_scale(i);
            hard.push((w[0]..w[1]).any(nearly));
        }
    }

    /// Primal blocks that row block `k` acts on.
    fn touched(&self, k: usize) -> &[u32] {
        &self.touched[self.offsets[k]..self.offsets[k + 1]]
    }
}

/// An order of elimination, as a plain value: the decisions that a solver took from the numbers it
/// saw. Imposed on another solver ([`DirectSolver::forget`](crate::DirectSolver::forget)) it makes
/// that one's answers the same bit for bit.
#[derive(Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Elimination {
    /// Eliminated unknowns: `i < n` is a variable, `n + i` a row. Fixed variables do not appear.
    pub(crate) sequence: Vec<usize>,
    /// Where each block starts in the sequence, and its length: what is eliminated by one dense
    /// kernel.
    pub(crate) bounds: Vec<usize>,
    /// Row blocks that come after everything else: their pivots decide the rank.
    pub(crate) deferred: Vec<bool>,
    /// How the order was found and what it should cost; rows that are deferred are not counted.
    pub(crate) report: OrderReport,
    /// Judgements on single rows, of a solver whose memory this is; empty in a new order.
    pub(crate) marks: RowMarks,
}

/// An order of elimination, or none; without one its storage is kept for the next.
#[derive(Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Option<Elimination>", into = "Option<Elimination>")
)]
pub(crate) struct OrderMemory {
    is_known: bool,
    order: Elimination,
}

impl OrderMemory {
    /// The order, to be written.
    pub(crate) fn write(&mut self) -> &mut Elimination {
        self.is_known = true;
        &mut self.order
    }

    /// Takes a copy of an order, if there is one.
    pub(crate) fn take(&mut self, order: Option<&Elimination>) {
        match order {
            Some(order) => self.write().clone_from(order),
            None => self.is_known = false,
        }
    }

    /// There is no order.
    pub(crate) fn clear(&mut self) {
        self.is_known = false;
    }

    pub(crate) fn get(&self) -> Option<&Elimination> {
        self.is_known.then_some(&self.order)
    }

    pub(crate) fn into_order(self) -> Option<Elimination> {
        self.is_known.then_some(self.order)
    }
}

impl From<Option<Elimination>> for OrderMemory {
    fn from(order: Option<Elimination>) -> Self {
        Self {
            is_known: order.is_some(),
            order: order.unwrap_or_default(),
        }
    }
}

#[cfg(feature = "serde")]
impl From<OrderMemory> for Option<Elimination> {
    fn from(memory: OrderMemory) -> Self {
        memory.into_order()
    }
}

impl PartialEq for OrderMemory {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Clone for OrderMemory {
    fn clone(&self) -> Self {
        self.get().cloned().into()
    }

    fn clone_from(&mut self, source: &Self) {
        self.take(source.get());
    }
}

/// Judgements of a factorisation on single rows, which the next one begins with.
#[derive(Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RowMarks {
    /// Rows that a small pivot wrongly called redundant: their multiplier does exert a force.
    pub(crate) trusted: Vec<bool>,
    /// Rows whose pivot may be the rounding of a redundant one: they are dropped at a higher
    /// threshold, and must then prove to exert no force at all.
    pub(crate) suspected: Vec<bool>,
    /// Rows that a [`BoxSolver`](crate::BoxSolver) held at a bound meanwhile; empty if there are
    /// none.
    pub(crate) held: Vec<BoundState>,
}

impl RowMarks {
    fn clear(&mut self) {
        self.trusted.clear();
        self.suspected.clear();
        self.held.clear();
    }

    /// Trusts and suspects no row any more.
    pub(crate) fn forget(&mut self) {
        self.trusted.fill(false);
        self.suspected.fill(false);
    }

    /// Whether no row is trusted or suspected.
    pub(crate) fn are_empty(&self) -> bool {
        !self.trusted.contains(&true) && !self.suspected.contains(&true)
    }

    /// Whether they are those of so many rows, or of none.
    fn fit(&self, rows: usize) -> bool {
        let lengths = [self.trusted.len(), self.suspected.len(), self.held.len()];
        lengths.iter().all(|length| *length == 0 || *length == rows)
    }
}

// By hand, because the derived `clone_from` allocates anew instead of reusing the buffers.
impl Clone for RowMarks {
    fn clone(&self) -> Self {
        let mut out = Self::default();
        out.clone_from(self);
        out
    }

    fn clone_from(&mut self, source: &Self) {
        self.trusted.clone_from(&source.trusted);
        self.suspected.clone_from(&source.suspected);
        self.held.clone_from(&source.held);
    }
}

impl Clone for Elimination {
    fn clone(&self) -> Self {
        let mut out = Self::default();
        out.clone_from(self);
        out
    }

    fn clone_from(&mut self, source: &Self) {
        self.take_order(source);
        self.marks.clone_from(&source.marks);
    }
}

impl OrderWorkspace {
    /// Finds the order of the quotient: long paths first, the rest by small fill.
    fn find_best(&mut self, deferred: &[bool], symbolic: &mut SymbolicWorkspace) -> Result<(), SolveError> {
        let Self {
            blocks,
            quotient,
            paths,
            best,
            then,
            ..
        } = self;
        // The first other vertex that the rows owned by a vertex act on.
        let parent = |v: usize| {
            let leader = quotient.leaders[v] as usize;
            let owned = if leader < blocks.free.len() {
                quotient.owned(leader)
            } else {
                &[]
            };
            let others = owned.iter().flat_map(|k| blocks.touched(*k as usize));
            let mut others = others.map(|p| quotient.vertex[*p as usize] as usize);
            others.find(|u| *u != v)
        };
        if !paths.find(quotient, parent, deferred.contains(&true), symbolic)? {
            return Ok(quotient.graph.best_order_into(symbolic, best)?);
        }
        paths.rest.best_order_into(symbolic, then)?;
        let BestOrder { sequence, runs, .. } = best;
        sequence.clone_from(&paths.first);
        runs.clear();
        runs.extend(0..sequence.len());
        runs.extend(then.runs.iter().map(|r| sequence.len() + r));
        sequence.extend(then.sequence.iter().map(|v| paths.vertices[*v]));
        best.report = OrderReport {
            cost: quotient.graph.cost(&best.sequence)?,
            ..then.report
        };
        Ok(())
    }
}

impl Elimination {
    /// Takes another order, and keeps the marks.
    pub(crate) fn take_order(&mut self, source: &Self) {
        self.sequence.clone_from(&source.sequence);
        self.bounds.clone_from(&source.bounds);
        self.deferred.clone_from(&source.deferred);
        self.report = source.report;
    }

    /// Whether it eliminates each free variable and each row of the system once. `seen` is scratch.
    pub(crate) fn fits(&self, system: &KktSystem, seen: &mut Vec<bool>) -> bool {
        seen.clone_from(&system.fixed);
        seen.resize(system.n() + system.m(), false);
        let once = self
            .sequence
            .iter()
            .all(|v| seen.get_mut(*v).is_some_and(|s| !std::mem::replace(s, true)));
        let blocks = system.row_blocks();
        once && seen.iter().all(|s| *s)
            && self.bounds.first() == Some(&0)
            && self.bounds.last() == Some(&self.sequence.len())
            && self.bounds.is_sorted_by(|a, b| a < b)
            && self.deferred.len() + 1 == blocks.len()
            && self.marks.fit(system.m())
    }
}

impl Elimination {
    /// An order in which the given row blocks are deferred, and others that find no owner.
    #[cfg(test)]
    pub(crate) fn new(system: &KktSystem, deferred: &[bool]) -> Result<Self, SolveError> {
        let mut out = Self::default();
        let mut symbolic = SymbolicWorkspace::default();
        out.refill(system, deferred, &mut OrderWorkspace::default(), &mut symbolic)?;
        Ok(out)
    }

    /// Makes it an order in which the given row blocks are deferred, and others that find no owner;
    /// without marks. After an error it is of no use.
    pub(crate) fn refill(
        &mut self,
        system: &KktSystem,
        deferred: &[bool],
        work: &mut OrderWorkspace,
        symbolic: &mut SymbolicWorkspace,
    ) -> Result<(), SolveError> {
        work.blocks.refill(system);
        work.owners.find(system, &work.blocks, deferred);
        let (blocks, owner) = (&work.blocks, &work.owners.owner);
        self.deferred.clear();
        self.deferred
            .extend((0..owner.len()).map(|k| deferred[k] || (blocks.hard[k] && owner[k].is_none())));
        work.quotient.refill(system, blocks, owner, &self.deferred);
        work.find_best(&self.deferred, symbolic)?;
        let (blocks, quotient, best) = (&work.blocks, &work.quotient, &work.best);
        self.sequence.clear();
        self.bounds.clear();
        self.bounds.push(0);
        self.report = best.report;
        self.marks.clear();
        for run in best.runs.windows(2) {
            // Blocks before this one may not be merged into.
            let mut closed = self.bounds.len();
            for v in &best.sequence[run[0]..run[1]] {
                let leader = quotient.leaders[*v] as usize;
                let owned = if leader < blocks.free.len() {
                    self.push_primal(system, leader, closed);
                    quotient.owned(leader)
                } else {
                    self.push_rows(system, leader - blocks.free.len(), closed);
                    &[]
                };
                for k in owned {
                    closed = self.bounds.len();
                    self.push_rows(system, *k as usize, closed);
                    closed = self.bounds.len();
                }
            }
        }
        work.last.find(blocks, &self.deferred, symbolic)?;
        for k in &work.last.sequence {
            self.push_rows(system, *k, usize::MAX);
        }
        Ok(())
    }

    fn push_primal(&mut self, system: &KktSystem, block: usize, closed: usize) {
        let bounds = &system.primal_blocks()[block..block + 2];
        self.push((bounds[0]..bounds[1]).filter(|i| !system.fixed[*i]), closed);
    }

    fn push_rows(&mut self, system: &KktSystem, block: usize, closed: usize) {
        let n = system.n();
        let bounds = &system.row_blocks()[block..block + 2];
        self.push((bounds[0]..bounds[1]).map(|i| n + i), closed);
    }

    /// Appends a block, or merges it into the one before if that is not among the first `closed`
    /// bounds and stays small.
    fn push(&mut self, unknowns: impl Iterator<Item = usize>, closed: usize) {
        self.sequence.extend(unknowns);
        let (end, count) = (self.sequence.len(), self.bounds.len());
        if count > closed && end - self.bounds[count - 2] <= LARGEST_MERGED {
            self.bounds[count - 1] = end;
        } else if end > self.bounds[count - 1] {
            self.bounds.push(end);
        }
    }
}
