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

mod paths;
mod quotient;
#[cfg(test)]
mod tests;

use crate::bounds::BoundState;
use crate::{KktSystem, SolveError};
use paths::Paths;
use pliant_sparse::{BestOrder, OrderReport};
use quotient::{Quotient, last};
use std::collections::VecDeque;

/// The vertices of the block graph: primal blocks with a free variable, and row blocks.
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
}

const NONE: u32 = u32::MAX;

/// Rows whose own diagonal is below this share of their Delassus diagonal are paired like hard
/// rows.
const NEARLY_HARD: f64 = 1e-6;

/// Largest block that indistinguishable blocks are merged to: the kernels know sizes up to six.
const LARGEST_MERGED: usize = 6;

impl Blocks {
    fn new(system: &KktSystem) -> Self {
        let mut of_dof = vec![NONE; system.n()];
        let mut free = Vec::with_capacity(system.primal_blocks().len() - 1);
        for (k, w) in system.primal_blocks().windows(2).enumerate() {
            let mut count = 0;
            for i in (w[0]..w[1]).filter(|i| !system.fixed[*i]) {
                of_dof[i] = k as u32;
                count += 1;
            }
            free.push(count);
        }
        let blocks = system.row_blocks().len() - 1;
        let (mut offsets, mut touched) = (vec![0], Vec::new());
        let mut hard = Vec::with_capacity(blocks);
        let mut seen = vec![NONE; free.len()];
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
        Self {
            of_dof,
            offsets,
            touched,
            hard,
            free,
        }
    }

    /// Primal blocks that row block `k` acts on.
    fn touched(&self, k: usize) -> &[u32] {
        &self.touched[self.offsets[k]..self.offsets[k + 1]]
    }

    /// The owner of every hard row block that is not deferred: first one each, by augmenting paths,
    /// then as many as are linearly independent on the owner's own variables.
    fn owners(&self, system: &KktSystem, deferred: &[bool]) -> Vec<Option<usize>> {
        let rows = |k: usize| system.row_blocks()[k + 1] - system.row_blocks()[k];
        let mut owner: Vec<Option<usize>> = vec![None; self.hard.len()];
        let mut owned: Vec<Option<usize>> = vec![None; self.free.len()];
        let mut reached = vec![usize::MAX; self.free.len()];
        let mut from = vec![0usize; self.free.len()];
        let wanted = |k: &usize| self.hard[*k] && !deferred[*k];
        for start in (0..self.hard.len()).filter(wanted) {
            // Breadth first over alternating paths; `from[p]` is the row block that reached primal
            // block p.
            let mut queue = VecDeque::from([start]);
            let mut end = None;
            'search: while let Some(k) = queue.pop_front() {
                let candidates = self.touched(k).iter().map(|p| *p as usize);
                for p in candidates.filter(|p| self.free[*p] >= rows(k)) {
                    if reached[p] == start {
                        continue;
                    }
                    reached[p] = start;
                    from[p] = k;
                    match owned[p] {
                        None => {
                            end = Some(p);
                            break 'search;
                        }
                        Some(other) => queue.push_back(other),
                    }
                }
            }
            let Some(mut p) = end else { continue };
            loop {
                let k = from[p];
                owned[p] = Some(k);
                match owner[k].replace(p) {
                    None => break,
                    Some(q) => p = q,
                }
            }
        }
        let mut load: Vec<Vec<usize>> = owned.into_iter().map(|k| k.into_iter().collect()).collect();
        for k in (0..self.hard.len()).filter(wanted) {
            if owner[k].is_some() {
                continue;
            }
            let candidates = self.touched(k).iter().map(|p| *p as usize);
            let best = candidates
                .filter(|p| self.independent(system, *p, &load[*p], k))
                .min_by_key(|p| load[*p].len());
            if let Some(p) = best {
                load[p].push(k);
                owner[k] = Some(p);
            }
        }
        owner
    }

    /// Whether the rows of `owned` and `k` are far from dependent on the free variables of primal
    /// block `p` alone.
    fn independent(&self, system: &KktSystem, p: usize, owned: &[usize], k: usize) -> bool {
        let first = system.primal_blocks()[p];
        let size = system.primal_blocks()[p + 1] - first;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for block in owned.iter().copied().chain([k]) {
            for row in system.row_blocks()[block]..system.row_blocks()[block + 1] {
                let mut a: Vec<f64> = (first..first + size)
                    .map(|i| {
                        if system.fixed[i] {
                            0.0
                        } else {
                            system.j.get(row, i) / system.w_diagonal(i).abs().sqrt()
                        }
                    })
                    .collect();
                let norm = |a: &[f64]| a.iter().map(|x| x * x).sum::<f64>().sqrt();
                let before = norm(&a);
                for q in &basis {
                    let dot: f64 = q.iter().zip(&a).map(|(q, a)| q * a).sum();
                    a.iter_mut().zip(q).for_each(|(a, q)| *a -= dot * q);
                }
                let after = norm(&a);
                // A sine of 0.1 costs two digits of a pivot, which refinement gives back.
                if after <= 0.1 * before {
                    return false;
                }
                a.iter_mut().for_each(|x| *x /= after);
                basis.push(a);
            }
        }
        true
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

/// The order of the quotient: long paths first, the rest by small fill.
fn best_order(blocks: &Blocks, quotient: &Quotient, deferred: &[bool]) -> Result<BestOrder, SolveError> {
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
    let Some(paths) = Paths::new(quotient, parent, deferred.contains(&true))? else {
        return Ok(quotient.graph.best_order()?);
    };
    let then = paths.rest.best_order()?;
    let mut sequence = paths.first;
    let mut runs: Vec<usize> = (0..sequence.len()).collect();
    runs.extend(then.runs.iter().map(|r| sequence.len() + r));
    sequence.extend(then.sequence.iter().map(|v| paths.vertices[*v]));
    let report = OrderReport {
        cost: quotient.graph.cost(&sequence)?,
        ..then.report
    };
    Ok(BestOrder {
        sequence,
        runs,
        report,
    })
}

impl Elimination {
    /// Takes another order, and keeps the marks.
    pub(crate) fn take_order(&mut self, source: &Self) {
        self.sequence.clone_from(&source.sequence);
        self.bounds.clone_from(&source.bounds);
        self.deferred.clone_from(&source.deferred);
        self.report = source.report;
    }

    /// Whether it eliminates each free variable and each row of the system once.
    pub(crate) fn fits(&self, system: &KktSystem) -> bool {
        let mut seen: Vec<bool> = system
            .fixed
            .iter()
            .copied()
            .chain(vec![false; system.m()])
            .collect();
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
    pub(crate) fn new(system: &KktSystem, deferred: &[bool]) -> Result<Self, SolveError> {
        let blocks = Blocks::new(system);
        let owner = blocks.owners(system, deferred);
        let deferred: Vec<bool> = (0..owner.len())
            .map(|k| deferred[k] || (blocks.hard[k] && owner[k].is_none()))
            .collect();
        let quotient = Quotient::new(system, &blocks, &owner, &deferred)?;
        let best = best_order(&blocks, &quotient, &deferred)?;
        let mut out = Self {
            sequence: Vec::with_capacity(system.n() + system.m()),
            bounds: vec![0],
            deferred,
            report: best.report,
            marks: RowMarks::default(),
        };
        for run in best.runs.windows(2) {
            // Blocks before this one may not be merged into.
            let mut closed = out.bounds.len();
            for v in &best.sequence[run[0]..run[1]] {
                let leader = quotient.leaders[*v] as usize;
                let owned = if leader < blocks.free.len() {
                    out.push_primal(system, leader, closed);
                    quotient.owned(leader)
                } else {
                    out.push_rows(system, leader - blocks.free.len(), closed);
                    &[]
                };
                for k in owned {
                    closed = out.bounds.len();
                    out.push_rows(system, *k as usize, closed);
                    closed = out.bounds.len();
                }
            }
        }
        for k in last(&blocks, &out.deferred)? {
            out.push_rows(system, k, usize::MAX);
        }
        Ok(out)
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
