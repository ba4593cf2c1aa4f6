//! The levels of one matrix, and the cycle through them.

use super::aggregate::{Nodes, Place};
use super::coarsest::{Coarsest, carry_sizes};
use super::galerkin::Galerkin;
use super::level::{self, Block, Floor, Lower};
use super::modes::ScaledModes;
use super::spectrum::largest_eigenvalue;
use super::transfer::Transfer;
use super::{MultigridLevel, MultigridOptions, MultigridReport, Source};
use crate::LinearOperator;
use crate::operator::is_fixed;
use pliant_solvers::{SolveError, Variable};
use pliant_sparse::{CsrMatrix, Pattern, SymmetricBlockMatrix, Threads};
use std::cell::RefCell;

/// A hierarchy of any block sizes, as far as the public type needs it.
pub(super) trait Cycle: std::fmt::Debug + Send {
    fn update(&mut self, a: &CsrMatrix, fixed: &[bool], modes: ScaledModes<'_>) -> Result<(), SolveError>;
    fn apply(&self, r: &[f64], z: &mut [f64]);
    fn matrix(&self) -> &dyn LinearOperator;
    fn fits(&self, a: &CsrMatrix) -> bool;
    fn report(&self) -> MultigridReport;
    fn share(&mut self, threads: &Threads);
}

/// Margin on an eigenvalue that was estimated from below.
const MARGIN: f64 = 1.05;
/// Rounding of a pivot of a coarse level as a share of what it would be without cancellation.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Share of the numbers of a level on the diagonal of the next one up to which aggregates are made
/// by distances: those along a single short side, three nodes in a line, make levels that hardly
/// shrink and fill up.
const LARGEST_SHARE: f64 = 2.0 / 3.0;
/// Levels at most: each has half the nodes of the one before it or less.
const MOST_LEVELS: usize = 30;

/// The way from one level to the next.
#[derive(Debug)]
struct Step<const B: usize, const K: usize> {
    transfer: Transfer<B, K>,
    galerkin: Galerkin<B, K>,
    /// Near null space of the next level, inverses of its diagonal blocks, and the sizes of its
    /// unknowns.
    modes: Vec<Block<K, K>>,
    inverses: Vec<Block<K, K>>,
    sizes: Vec<[f64; K]>,
}

impl<const B: usize, const K: usize> Step<B, K> {
    /// Plans a step from nodes that are coupled from a share of the strongest coupling on, or by
    /// their distances where places of the block rows are given.
    fn new(a: &Pattern, mut nodes: Nodes, share: f64, places: &[Place]) -> Result<Option<Self>, SolveError> {
        let mut aggregates = nodes.aggregate(share);
        if !places.is_empty() {
            let near = nodes.measure(|row| places[row]);
            let measured = nodes.aggregate(near);
            if (measured.count * K * K) as f64 <= LARGEST_SHARE * (a.rows() * B * B) as f64 {
                aggregates = measured;
            }
        }
        let Some(transfer) = Transfer::new(a, &nodes, &aggregates)? else {
            return Ok(None);
        };
        let count = transfer.coarse();
        Ok(Some(Self {
            galerkin: Galerkin::new(a, &transfer)?,
            transfer,
            modes: vec![[[0.0; K]; K]; count],
            inverses: vec![[[0.0; K]; K]; count],
            sizes: vec![[0.0; K]; count],
        }))
    }

    fn bytes(&self) -> usize {
        self.transfer.bytes()
            + self.galerkin.bytes()
            + size_of_val(&self.modes[..])
            + size_of_val(&self.inverses[..])
            + size_of_val(&self.sizes[..])
    }

    fn coarse(&self) -> Lower<'_, K> {
        Lower {
            pattern: &self.galerkin.pattern,
            values: &self.galerkin.values,
        }
    }

    /// New values of the next level from those of this one, whose near null space is in the
    /// transfer.
    fn refill(
        &mut self,
        threads: &Threads,
        a: Lower<'_, B>,
        inverses: &[Block<B, B>],
        sizes: &[[f64; B]],
        scratch: &mut [Vec<f64>; 4],
    ) -> Result<(), usize> {
        pulp::Arch::new().dispatch(|| {
            let n = a.rows() * B;
            let [r, z, p, q] = scratch.each_mut().map(|v| &mut v[..n]);
            let largest = largest_eigenvalue(
                |x, y| level::multiply(a, x, y),
                |x, y| level::apply_inverses(inverses, x, y),
                [r, z, p, q],
            );
            let omega = largest.map_or(0.0, |l| 4.0 / (3.0 * MARGIN * l));
            self.transfer.orthogonalise(&mut self.modes);
            self.transfer.smooth(a, inverses, omega);
            carry_sizes(&self.transfer, sizes, &mut self.sizes);
        });
        self.galerkin.fill(threads, a, &self.transfer);
        let mut inverses = std::mem::take(&mut self.inverses);
        let floor = Floor {
            share: ROUNDING,
            passes: true,
        };
        let failed = level::invert_diagonal(self.coarse(), &self.sizes, floor, &mut inverses);
        self.inverses = inverses;
        failed.map_or(Ok(()), Err)
    }
}

/// Vectors of a level: right-hand side, answer, residual.
#[derive(Debug, Default)]
struct Vectors {
    r: Vec<f64>,
    z: Vec<f64>,
    t: Vec<f64>,
    /// The answer of the first of two cycles.
    first: Vec<f64>,
}

/// A hierarchy over a matrix of blocks of `B` with `K` vectors of a near null space.
#[derive(Debug)]
pub(super) struct Hierarchy<const B: usize, const K: usize> {
    matrix: SymmetricBlockMatrix<B>,
    inverses: Vec<Block<B, B>>,
    sizes: Vec<[f64; B]>,
    first: Option<Step<B, K>>,
    rest: Vec<Step<K, K>>,
    coarsest: Option<Coarsest>,
    /// Vectors of every level; of the finest, `t` alone.
    vectors: RefCell<Vec<Vectors>>,
    scratch: [Vec<f64>; 4],
    threads: Threads,
}

impl<const B: usize, const K: usize> Hierarchy<B, K> {
    pub(super) fn new(matrix: SymmetricBlockMatrix<B>, source: Source<'_>) -> Result<Self, SolveError> {
        let Source {
            a,
            fixed,
            blocks,
            modes,
            options,
        } = source;
        let rows = matrix.blocks().rows();
        let mut out = Self {
            inverses: vec![[[0.0; B]; B]; rows],
            sizes: vec![[0.0; B]; rows],
            first: None,
            rest: Vec::new(),
            coarsest: None,
            vectors: RefCell::default(),
            scratch: std::array::from_fn(|_| vec![0.0; matrix.order()]),
            threads: Threads::one(),
            matrix,
        };
        out.take_matrix(a, fixed)?;
        let whole = blocks.iter().all(|b| b.is_multiple_of(B));
        let starts = if whole {
            blocks.iter().map(|b| (b / B) as u32).collect()
        } else {
            (0..=rows as u32).collect()
        };
        let fine = out.fine();
        let nodes = Nodes::new(
            fine.pattern,
            &weights(fine.pattern, fine.values, fixed, options),
            starts,
        );
        let mut places = Vec::new();
        if options.by_pattern && modes.modes.has_reference() {
            places = places_of_rows::<B>(modes, rows);
        }
        out.first = Step::new(fine.pattern, nodes, options.strength, &places)?;
        if let Some(step) = &out.first {
            places = step.transfer.mean_places(&places);
        }
        out.refill_first(fixed, modes)?;
        while let Some(last) = out.last() {
            let (order, level) = (last.matrix.rows() * K, last.matrix);
            if order <= options.coarsest || out.rest.len() + 2 >= MOST_LEVELS {
                break;
            }
            let starts = (0..=level.rows() as u32).collect();
            let nodes = Nodes::new(
                level.pattern,
                &weights(level.pattern, level.values, &[], options),
                starts,
            );
            // What is weak on a coarse level was smoothed into it: everything counts, but what is
            // far.
            let Some(step) = Step::new(level.pattern, nodes, 0.0, &places)? else {
                break;
            };
            places = step.transfer.mean_places(&places);
            out.rest.push(step);
            out.refill_rest(out.rest.len() - 1)?;
        }
        if let Some(order) = out.last().map(|last| last.matrix.rows() * K)
            && order <= options.coarsest.max(MOST_MODES_ORDER)
        {
            out.coarsest = Some(Coarsest::new(order));
        }
        out.factor()?;
        let orders = out.levels().map(|l| l.0);
        let vectors = orders.enumerate().map(|(level, n)| {
            let others = if level == 0 { 0 } else { n };
            Vectors {
                r: vec![0.0; others],
                z: vec![0.0; others],
                t: vec![0.0; n],
                first: vec![0.0; if level < 2 { 0 } else { n }],
            }
        });
        out.vectors = RefCell::new(vectors.collect());
        Ok(out)
    }

    fn fine(&self) -> Lower<'_, B> {
        Lower {
            pattern: self.matrix.blocks(),
            values: self.matrix.values(),
        }
    }

    /// The coarsest level, if there are two.
    fn last(&self) -> Option<Coarse<'_, K>> {
        self.level(self.rest.len())
    }

    /// Order, blocks and numbers of every level.
    fn levels(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let fine = self.fine();
        let of = |order: usize, pattern: &Pattern, size: usize| {
            (
                order,
                pattern.rows(),
                (2 * pattern.len() - pattern.rows()) * size * size,
            )
        };
        let first = of(fine.rows() * B, fine.pattern, B);
        let second = self.first.as_ref().map(Step::coarse);
        let rest = self.rest.iter().map(Step::coarse);
        let coarse = second.into_iter().chain(rest);
        std::iter::once(first).chain(coarse.map(move |l| of(l.rows() * K, l.pattern, K)))
    }

    /// Takes the values of the finest level and inverts its diagonal blocks.
    fn take_matrix(&mut self, a: &CsrMatrix, fixed: &[bool]) -> Result<(), SolveError> {
        self.matrix.update(a, fixed)?;
        let values = self.matrix.values();
        for i in 0..self.matrix.blocks().rows() {
            let own = self.matrix.blocks().row_slots(i);
            let finite = |b: &Block<B, B>, r: usize| b[r].iter().all(|v| v.is_finite());
            if let Some(r) = (0..B).find(|r| values[own.clone()].iter().any(|b| !finite(b, *r))) {
                return Err(SolveError::NotFinite {
                    variable: Variable::Dof(i * B + r),
                });
            }
            self.sizes[i] = std::array::from_fn(|r| values[own.end - 1][r][r]);
        }
        let floor = Floor {
            share: B as f64 * f64::EPSILON,
            passes: false,
        };
        let mut inverses = std::mem::take(&mut self.inverses);
        let failed = level::invert_diagonal(self.fine(), &self.sizes, floor, &mut inverses);
        self.inverses = inverses;
        match failed {
            Some(dof) => Err(self.indefinite(dof)),
            None => Ok(()),
        }
    }

    fn indefinite(&self, dof: usize) -> SolveError {
        SolveError::NotPositiveDefinite {
            dof,
            diagonal: self.sizes.as_flattened().get(dof).copied().unwrap_or(0.0),
        }
    }

    /// The first variable of the finest level that is part of an unknown of a coarse one.
    fn source(&self, level: usize, unknown: usize) -> SolveError {
        let mut block = (unknown / K) as u32;
        for step in self.rest[..level].iter().rev() {
            block = step
                .transfer
                .aggregate
                .iter()
                .position(|a| *a == block)
                .unwrap_or(0) as u32;
        }
        let first = self.first.as_ref();
        let row = first.and_then(|s| s.transfer.aggregate.iter().position(|a| *a == block));
        self.indefinite(row.unwrap_or(0) * B)
    }

    fn refill_first(
        &mut self,
        fixed: &[bool],
        ScaledModes { modes, scale }: ScaledModes<'_>,
    ) -> Result<(), SolveError> {
        let Some(mut step) = self.first.take() else {
            return Ok(());
        };
        for (i, rows) in step.transfer.tentative.iter_mut().enumerate() {
            for (r, row) in rows.iter_mut().enumerate() {
                *row = [0.0; K];
                let dof = i * B + r;
                if is_fixed(fixed, dof) {
                    continue;
                }
                let unit = scale.get(dof).map_or(1.0, |s| 1.0 / s);
                for (v, mode) in row.iter_mut().zip(modes.row(dof)) {
                    *v = unit * mode;
                }
            }
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let done = step.refill(
            &self.threads,
            self.fine(),
            &self.inverses,
            &self.sizes,
            &mut scratch,
        );
        self.scratch = scratch;
        self.first = Some(step);
        done.map_err(|unknown| self.source(0, unknown))
    }

    fn refill_rest(&mut self, at: usize) -> Result<(), SolveError> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let (before, from) = self.rest.split_at_mut(at);
        let finer = before.last().map(Coarse::of);
        let finer = finer.or_else(|| self.first.as_ref().map(Coarse::of));
        let (Some(finer), Some(step)) = (finer, from.first_mut()) else {
            self.scratch = scratch;
            return Ok(());
        };
        step.transfer.tentative.copy_from_slice(finer.modes);
        let done = step.refill(
            &self.threads,
            finer.matrix,
            finer.inverses,
            finer.sizes,
            &mut scratch,
        );
        self.scratch = scratch;
        done.map_err(|unknown| self.source(at + 1, unknown))
    }

    fn factor(&mut self) -> Result<(), SolveError> {
        let Some(mut coarsest) = self.coarsest.take() else {
            return Ok(());
        };
        let floor = Floor {
            share: ROUNDING,
            passes: true,
        };
        let failed = self
            .last()
            .and_then(|last| pulp::Arch::new().dispatch(|| coarsest.factor(last.matrix, last.sizes, floor)));
        self.coarsest = Some(coarsest);
        match failed {
            Some(unknown) => Err(self.source(self.rest.len(), unknown)),
            None => Ok(()),
        }
    }

    /// The level after `k` others of blocks of `K`.
    fn level(&self, k: usize) -> Option<Coarse<'_, K>> {
        match k.checked_sub(1) {
            None => self.first.as_ref().map(Coarse::of),
            Some(before) => self.rest.get(before).map(Coarse::of),
        }
    }

    fn coarse_cycle(&self, k: usize, vectors: &mut [Vectors]) {
        let (Some(level), Some((own, coarser))) = (self.level(k), vectors.split_first_mut()) else {
            return;
        };
        let Vectors { r, z, t, .. } = own;
        if let (true, Some(coarsest)) = (coarser.is_empty(), &self.coarsest) {
            pulp::Arch::new().dispatch(|| coarsest.solve(r, z));
            return;
        }
        let next = self.rest.get(k);
        pulp::Arch::new().dispatch(|| {
            level::forward(level.matrix, level.inverses, r, z, t);
            if let (Some(step), Some(next)) = (next, coarser.first_mut()) {
                step.transfer.restrict(t, &mut next.r);
            }
        });
        self.coarse_cycle(k + 1, coarser);
        if coarser.len() > 1 {
            self.cycle_again(k + 1, coarser);
        }
        pulp::Arch::new().dispatch(|| {
            if let (Some(step), Some(next)) = (next, coarser.first()) {
                step.transfer.add_prolonged(&next.z, z);
            }
            level::backward(level.matrix, level.inverses, r, z, t);
        });
    }

    /// A second cycle from level `k` on, for what the first one left.
    fn cycle_again(&self, k: usize, vectors: &mut [Vectors]) {
        let (Some(level), Some(own)) = (self.level(k), vectors.first_mut()) else {
            return;
        };
        let Vectors { r, z, t, first } = own;
        pulp::Arch::new().dispatch(|| level::multiply(level.matrix, z, t));
        r.iter_mut().zip(&*t).for_each(|(r, t)| *r -= t);
        first.copy_from_slice(z);
        self.coarse_cycle(k, vectors);
        if let Some(Vectors { z, first, .. }) = vectors.first_mut() {
            z.iter_mut().zip(&*first).for_each(|(z, first)| *z += first);
        }
    }
}

/// Order up to which a last level is factored whatever the option says.
const MOST_MODES_ORDER: usize = 60;

/// The coarse side of a step.
#[derive(Clone, Copy)]
struct Coarse<'a, const K: usize> {
    matrix: Lower<'a, K>,
    modes: &'a [Block<K, K>],
    inverses: &'a [Block<K, K>],
    sizes: &'a [[f64; K]],
}

impl<'a, const K: usize> Coarse<'a, K> {
    fn of<const B: usize>(step: &'a Step<B, K>) -> Self {
        Self {
            matrix: step.coarse(),
            modes: &step.modes,
            inverses: &step.inverses,
            sizes: &step.sizes,
        }
    }
}

/// The reference places of block rows of `B`: of a node that begins with such a row.
fn places_of_rows<const B: usize>(modes: ScaledModes<'_>, rows: usize) -> Vec<Place> {
    let mut out = vec![None; rows];
    for place in modes.modes.reference() {
        if let Some(row) = out.get_mut(place.unknown / B) {
            *row = Some(place.at);
        }
    }
    out
}

/// The squared norms of all blocks, by which nodes are coupled; ones where the pattern alone counts,
/// but for couplings of nodes that are fixed, which are none.
fn weights<const B: usize>(
    pattern: &Pattern,
    values: &[Block<B, B>],
    fixed: &[bool],
    options: &MultigridOptions,
) -> Vec<f64> {
    if !options.by_pattern {
        let square = |b: &Block<B, B>| b.as_flattened().iter().map(|v| v * v).sum();
        return values.iter().map(square).collect();
    }
    let is_fixed = |i: usize| {
        let own = fixed.get(i * B..(i + 1) * B);
        own.is_some_and(|own| own.iter().all(|f| *f))
    };
    let mut out = vec![1.0; values.len()];
    for i in 0..pattern.rows() {
        for (slot, j) in pattern.row_slots(i).zip(pattern.row(i)) {
            if *j as usize != i && (is_fixed(i) || is_fixed(*j as usize)) {
                out[slot] = 0.0;
            }
        }
    }
    out
}

impl<const B: usize, const K: usize> Cycle for Hierarchy<B, K> {
    fn update(&mut self, a: &CsrMatrix, fixed: &[bool], modes: ScaledModes<'_>) -> Result<(), SolveError> {
        self.take_matrix(a, fixed)?;
        self.refill_first(fixed, modes)?;
        for at in 0..self.rest.len() {
            self.refill_rest(at)?;
        }
        self.factor()
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let mut vectors = self.vectors.borrow_mut();
        let Some((own, coarser)) = vectors.split_first_mut() else {
            return;
        };
        let (fine, inverses, t) = (self.fine(), &self.inverses, &mut own.t);
        pulp::Arch::new().dispatch(|| {
            level::forward(fine, inverses, r, z, t);
            if let (Some(step), Some(next)) = (&self.first, coarser.first_mut()) {
                step.transfer.restrict(t, &mut next.r);
            }
        });
        self.coarse_cycle(0, coarser);
        pulp::Arch::new().dispatch(|| {
            if let (Some(step), Some(next)) = (&self.first, coarser.first()) {
                step.transfer.add_prolonged(&next.z, z);
            }
            level::backward(fine, inverses, r, z, t);
        });
    }

    fn matrix(&self) -> &dyn LinearOperator {
        &self.matrix
    }

    fn fits(&self, a: &CsrMatrix) -> bool {
        self.matrix.fits(a)
    }

    fn share(&mut self, threads: &Threads) {
        self.threads = threads.clone();
    }

    fn report(&self) -> MultigridReport {
        let levels = self.levels();
        let rest = self.rest.iter().map(Step::bytes).sum::<usize>();
        let vectors = self.vectors.borrow();
        let numbers = vectors
            .iter()
            .map(|v| v.r.len() + v.z.len() + v.t.len() + v.first.len());
        let scratch = self.scratch.iter().map(Vec::len).sum::<usize>();
        let own = size_of_val(self.matrix.values())
            + size_of_val(&self.inverses[..])
            + size_of_val(&self.sizes[..])
            + 8 * (numbers.sum::<usize>() + scratch);
        MultigridReport {
            passed: self.coarsest.as_ref().map_or(0, |c| c.passed),
            factored: self.coarsest.is_some(),
            bytes: own
                + self.first.as_ref().map_or(0, Step::bytes)
                + rest
                + self.coarsest.as_ref().map_or(0, Coarsest::bytes),
            levels: levels
                .map(|(order, nodes, entries)| MultigridLevel {
                    order,
                    nodes,
                    entries,
                })
                .collect(),
        }
    }
}
