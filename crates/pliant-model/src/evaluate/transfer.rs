//! Along the graph of mappings: velocities and accelerations from parents to children, forces back.

use super::Evaluation;
use super::gather::{Gather, certainly};
use super::lists::Lists;
use crate::blocks::PIECE;
use crate::mappings::relative_chord;
use crate::{
    Blocks, Degenerate, Dependency, Mapping, MappingPieces, Model, NodeId, NodeKind, Parents, Space, State,
};
use pliant_threads::Threads;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Coordinates of the elements of a node, `size` of each, one element after the other.
struct ElementValues<V> {
    size: usize,
    values: V,
}

/// The columns of one dependency in the block of an element.
#[derive(Clone, Copy)]
struct DependencyBlock<'a> {
    block: &'a [f64],
    width: usize,
    dependency: usize,
    column: usize,
}

/// Coordinates of a parent `d`, numbers `m` that each is repeated with.
#[derive(Clone, Copy)]
struct RepeatShape {
    d: usize,
    m: usize,
}

/// Numbers that are made at a time where blocks are not stored: they stay in the nearest cache.
const ROOM: usize = 1024;

/// Where the blocks of a Jacobian are.
#[derive(Debug)]
enum Source {
    Stored(Blocks),
    /// With the mapping: they never change.
    Constant(Arc<Blocks>),
    /// Nowhere: they are made where they are read. Every element depends on the element of its own
    /// number alone.
    Made {
        height: usize,
        width: usize,
    },
}

/// `J` of one mapped node over its parents.
#[derive(Debug)]
pub(super) struct LocalJacobian {
    source: Source,
    pub(super) repeated: Option<usize>,
    /// Elements of the only parent, if there is one.
    parent_count: Option<usize>,
    /// How forces come back to it, piece by piece, once there are threads.
    gather: Option<Gather>,
    /// Numbers that never change are there.
    settled: bool,
}

impl LocalJacobian {
    /// For the blocks of a mapping with these heights and widths and dependencies.
    pub(super) fn new(
        mapping: &dyn Mapping,
        shapes: impl Iterator<Item = (usize, usize)> + Clone,
        lists: &Lists,
        parent_count: Option<usize>,
    ) -> Self {
        let repeated = mapping.repeated();
        let is_made = mapping.pieces().is_some_and(MappingPieces::keeps_jacobian)
            && repeated.is_none()
            && lists.are_one_to_one();
        let first = shapes
            .clone()
            .next()
            .filter(|(height, width)| is_made && height * width <= ROOM);
        let source = match (mapping.constant_jacobian(), first) {
            (Some(blocks), _) if mapping.is_linear() => Source::Constant(Arc::clone(blocks)),
            (_, Some((height, width))) if parent_count.is_some() => Source::Made { height, width },
            _ => Source::Stored(Blocks::new(shapes)),
        };
        Self {
            settled: !matches!(source, Source::Stored(_)),
            source,
            repeated,
            parent_count,
            gather: None,
        }
    }

    /// The blocks, unless they are made where they are read.
    pub(super) fn blocks(&self) -> Option<&Blocks> {
        match &self.source {
            Source::Stored(blocks) => Some(blocks),
            Source::Constant(blocks) => Some(blocks),
            Source::Made { .. } => None,
        }
    }

    /// Makes the blocks of some elements out of what the mapping keeps of all of them.
    pub(super) fn make(&self, mapping: &dyn Mapping, kept: &[f64], elements: Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        if let Some(pieces) = mapping.pieces() {
            let size = pieces.kept_size();
            let kept = &kept[elements.start * size..elements.end * size];
            pieces.jacobian_of_kept(kept, elements, out);
        }
    }

    /// Visits the block of each element, with its width.
    #[inline(always)]
    fn visit(
        &self,
        (mapping, kept): (&dyn Mapping, &[f64]),
        elements: Range<usize>,
        mut visit: impl FnMut(usize, &[f64], usize),
    ) {
        let (height, width) = match &self.source {
            Source::Stored(blocks) => {
                return elements.for_each(|e| visit(e, blocks.block(e), blocks.width(e)));
            }
            Source::Constant(blocks) => {
                return elements.for_each(|e| visit(e, blocks.block(e), blocks.width(e)));
            }
            Source::Made { height, width } => (*height, *width),
        };
        let mut room = [0.0; ROOM];
        let size = (height * width).max(1);
        for start in elements.clone().step_by(ROOM / size) {
            let few = start..elements.end.min(start + ROOM / size);
            let made = &mut room[..few.len() * size];
            self.make(mapping, kept, few.clone(), made);
            few.zip(made.chunks_exact(size))
                .for_each(|(e, block)| visit(e, block, width));
        }
    }

    /// Sorts what depends on each element of the only parent, so that threads may share the forces
    /// that come back to it.
    pub(super) fn sort_for_threads(&mut self, lists: &Lists) {
        if let (Some(count), None, false) = (
            self.parent_count,
            &self.gather,
            matches!(self.source, Source::Made { .. }),
        ) {
            self.gather = Gather::new(lists, count);
        }
    }

    /// Has the mapping write its blocks, unless they can only be what they are.
    pub(super) fn refill(
        &mut self,
        mapping: &dyn Mapping,
        parents: Parents<'_>,
        threads: &Threads,
    ) -> Result<(), Degenerate> {
        if self.settled {
            return Ok(());
        }
        let Source::Stored(blocks) = &mut self.source else {
            return Ok(());
        };
        if let Some(pieces) = mapping.pieces() {
            blocks.write_pieces(threads, |elements, out| pieces.jacobian(parents, elements, out))?;
        } else {
            blocks.clear();
            mapping.jacobian(parents, blocks)?;
        }
        self.settled = mapping.is_linear() && (self.repeated.is_some() || mapping.pieces().is_some());
        Ok(())
    }

    /// `y = J x` of all elements of `size` coordinates, with `x(d)` of dependency `d`. `made_of` has
    /// the mapping, and what it keeps of all elements.
    pub(super) fn push<'a>(
        &self,
        threads: &Threads,
        lists: &Lists,
        made_of: (&dyn Mapping, &[f64]),
        x: impl Fn(Dependency) -> &'a [f64] + Sync,
        size: usize,
        y: &mut [f64],
    ) {
        let pieces = (0..lists.len(), PIECE);
        certainly(threads.for_each_piece(
            pieces,
            |e| e * size,
            y,
            |elements, y| {
                y.fill(0.0);
                let first = elements.start;
                self.visit(made_of, elements, |e, block, width| {
                    let y = &mut y[(e - first) * size..][..size];
                    self.add_product(block, width, lists.on(e).iter().map(|at| x(*at)), y);
                });
                Ok(())
            },
        ));
    }

    /// `x += J^T f` on the only parent, every element of it by one thread; false where the elements
    /// are too few to share, or there are several parents. The order of sums is that of the
    /// elements of the child.
    fn pull(
        &self,
        threads: &Threads,
        made_of: (&dyn Mapping, &[f64]),
        add: impl Fn(&Self, DependencyBlock<'_>, &[f64], &mut [f64]) + Sync,
        child: ElementValues<&[f64]>,
        parent: ElementValues<&mut [f64]>,
    ) -> bool {
        let (size, f, n, x) = (child.size, child.values, parent.size, parent.values);
        if matches!(self.source, Source::Made { .. }) {
            let elements = (0..f.len() / size, PIECE);
            certainly(threads.for_each_piece(
                elements,
                |e| e * n,
                x,
                |elements, x| {
                    let first = elements.start;
                    self.visit(made_of, elements, |e, block, width| {
                        let at = DependencyBlock {
                            block,
                            width,
                            dependency: 0,
                            column: 0,
                        };
                        add(self, at, &f[e * size..][..size], &mut x[(e - first) * n..][..n]);
                    });
                    Ok(())
                },
            ));
            return true;
        }
        let (Some(gather), Some(blocks)) = (
            self.gather.as_ref().filter(|_| threads.count() > 1),
            self.blocks(),
        ) else {
            return false;
        };
        let pieces = (0..gather.len(), PIECE);
        certainly(threads.for_each_piece(
            pieces,
            |p| p * n,
            x,
            |parents, x| {
                for (p, x) in parents.zip(x.chunks_exact_mut(n)) {
                    for (e, a) in gather.on(p) {
                        let at = DependencyBlock {
                            block: blocks.block(e),
                            width: blocks.width(e),
                            dependency: a,
                            column: a * n,
                        };
                        add(self, at, &f[e * size..][..size], x);
                    }
                }
                Ok(())
            },
        ));
        true
    }

    /// `y += J x` of one element, with the `x` of its dependencies in their order.
    #[inline(always)]
    fn add_product<'a>(
        &self,
        block: &[f64],
        width: usize,
        x: impl Iterator<Item = &'a [f64]>,
        y: &mut [f64],
    ) {
        match self.repeated {
            Some(3) if y.len() == 9 => add_repeated(RepeatShape { d: 3, m: 3 }, width, block, x, y),
            Some(m) => add_repeated(RepeatShape { d: y.len() / m, m }, width, block, x, y),
            None => {
                let mut column = 0;
                for x in x {
                    let block = &block[column..];
                    match (y.len(), x.len()) {
                        (1, 3) => add_block::<1, 3>(width, block, x, y),
                        (3, 3) => add_block::<3, 3>(width, block, x, y),
                        (3, 6) => add_block::<3, 6>(width, block, x, y),
                        (6, 9) => add_block::<6, 9>(width, block, x, y),
                        _ => {
                            for (i, y) in y.iter_mut().enumerate() {
                                for (a, x) in block[i * width..].iter().zip(x) {
                                    *y += a * x;
                                }
                            }
                        }
                    }
                    column += x.len();
                }
            }
        }
    }

    /// `x += J^T f` of one dependency of one element.
    fn add_transpose_product(&self, at: DependencyBlock<'_>, f: &[f64], x: &mut [f64]) {
        let DependencyBlock {
            block,
            width,
            dependency: a,
            column,
        } = at;
        match self.repeated {
            Some(3) if f.len() == 9 => add_gathered(RepeatShape { d: 3, m: 3 }, width, &block[a..], f, x),
            Some(m) => add_gathered(RepeatShape { d: x.len(), m }, width, &block[a..], f, x),
            None => {
                let block = &block[column..];
                match (f.len(), x.len()) {
                    (1, 3) => add_transposed::<1, 3>(width, block, f, x),
                    (3, 3) => add_transposed::<3, 3>(width, block, f, x),
                    (3, 6) => add_transposed::<3, 6>(width, block, f, x),
                    (6, 9) => add_transposed::<6, 9>(width, block, f, x),
                    _ => {
                        for (i, f) in f.iter().enumerate() {
                            for (x, a) in x.iter_mut().zip(&block[i * width..]) {
                                *x += a * f;
                            }
                        }
                    }
                }
            }
        }
    }

    /// `x += |J|^T f`, as [`add_transpose_product`](Self::add_transpose_product).
    fn add_transpose_sizes(&self, at: DependencyBlock<'_>, f: &[f64], x: &mut [f64]) {
        let DependencyBlock {
            block,
            width,
            dependency: a,
            column,
        } = at;
        match self.repeated {
            Some(m) => {
                for j in 0..m {
                    let g = block[j * width + a].abs();
                    for (i, x) in x.iter_mut().enumerate() {
                        *x += g * f[m * i + j];
                    }
                }
            }
            None => {
                for (i, f) in f.iter().enumerate() {
                    for (x, a) in x.iter_mut().zip(&block[i * width + column..]) {
                        *x += a.abs() * f;
                    }
                }
            }
        }
    }
}

/// `y += B x` with a block of `R` rows and `C` columns, rows `width` apart: the sizes of most
/// mappings as constants, sums in the same order as for any other.
///
/// # Panics
/// If a slice has another size.
#[inline(always)]
fn add_block<const R: usize, const C: usize>(width: usize, block: &[f64], x: &[f64], y: &mut [f64]) {
    let (x, y) = (&x[..C], &mut y[..R]);
    for (i, y) in y.iter_mut().enumerate() {
        let row = &block[i * width..][..C];
        let mut sum = *y;
        for k in 0..C {
            sum += row[k] * x[k];
        }
        *y = sum;
    }
}

/// `x += B^T f`, as [`add_block`].
#[inline(always)]
fn add_transposed<const R: usize, const C: usize>(width: usize, block: &[f64], f: &[f64], x: &mut [f64]) {
    let (f, x) = (&f[..R], &mut x[..C]);
    let mut sums = [0.0; C];
    sums.copy_from_slice(x);
    for (i, f) in f.iter().enumerate() {
        let row = &block[i * width..][..C];
        for k in 0..C {
            sums[k] += row[k] * f;
        }
    }
    x.copy_from_slice(&sums);
}

/// `y[m i + j] += g_a[j] x_a[i]`, summed over the dependencies `a`. Inlined, so that sizes that are
/// constants are known inside.
#[inline(always)]
fn add_repeated<'a>(
    RepeatShape { d, m }: RepeatShape,
    width: usize,
    block: &[f64],
    x: impl Iterator<Item = &'a [f64]>,
    y: &mut [f64],
) {
    let y = &mut y[..d * m];
    for (a, x) in x.enumerate() {
        let x = &x[..d];
        for j in 0..m {
            let g = block[j * width + a];
            for i in 0..d {
                y[m * i + j] += g * x[i];
            }
        }
    }
}

/// `x[i] += g[j] f[m i + j]` with the `g` of one dependency, `width` apart. Inlined as
/// [`add_repeated`].
#[inline(always)]
fn add_gathered(shape: RepeatShape, width: usize, g: &[f64], f: &[f64], x: &mut [f64]) {
    let RepeatShape { d, m } = shape;
    let (f, x) = (&f[..d * m], &mut x[..d]);
    for j in 0..m {
        let g = g[j * width];
        for i in 0..d {
            x[i] += g * f[m * i + j];
        }
    }
}

impl Evaluation {
    /// Accelerations of the mapped nodes that are asked for, with all that these hang on, which
    /// velocities alone cause; zero elsewhere.
    pub(super) fn push_bias(&mut self, model: &Model, state: &State, asked: impl Fn(usize) -> bool) {
        if std::mem::take(&mut self.has_bias) {
            self.bias.fill(0.0);
        }
        // Nothing moves: nothing accelerates.
        if state.velocities.iter().all(|v| *v == 0.0) {
            return;
        }
        for (index, node) in model.nodes().iter().enumerate() {
            let NodeKind::Mapped { mapping, ranges, .. } = &node.kind else {
                continue;
            };
            let (Some(jacobian), true) = (&self.jacobians[index], self.biased[index] && asked(index)) else {
                continue;
            };
            self.has_bias = true;
            let (before, child) = self.bias.split_at_mut(node.first_velocity);
            let size = node.space.velocity_size();
            let child = &mut child[..node.count * size];
            let of_parent = |at: Dependency| {
                let (_, first, space) = ranges[at.parent];
                let width = space.velocity_size();
                &before[first + at.element * width..][..width]
            };
            let made_of = (mapping.as_ref(), &self.kept[index].values[..]);
            jacobian.push(&self.threads, &self.lists[index], made_of, of_parent, size, child);
            let parents = model
                .parents(ranges, &state.positions, &state.velocities)
                .with_child(&state.positions[node.position_range()])
                .with_kept(self.kept[index].known());
            let Some(geometry) = &mut self.geometry[index] else {
                continue;
            };
            if let Some(pieces) = mapping.pieces() {
                let elements = (0..node.count, PIECE);
                certainly(self.threads.for_each_piece(
                    elements,
                    |e| e * size,
                    child,
                    |elements, child| {
                        pieces.add_bias(parents, elements, child);
                        Ok(())
                    },
                ));
                continue;
            }
            if mapping.add_bias(parents, child) {
                continue;
            }
            let unit = &mut self.unit[..child.len()];
            for i in 0..size {
                unit.fill(0.0);
                unit.iter_mut().skip(i).step_by(size).for_each(|f| *f = 1.0);
                geometry.clear();
                mapping.geometric_stiffness(parents, unit, geometry);
                for (e, a) in child.iter_mut().skip(i).step_by(size).enumerate() {
                    let velocity = || {
                        self.lists[index]
                            .on(e)
                            .iter()
                            .flat_map(|at| parents.velocity(*at))
                    };
                    let rows = geometry.block(e).chunks_exact(geometry.width(e).max(1));
                    *a += rows
                        .zip(velocity())
                        .map(|(row, v)| v * row.iter().zip(velocity()).map(|(g, w)| g * w).sum::<f64>())
                        .sum::<f64>();
                }
            }
        }
    }

    /// Carries velocities (or accelerations) of the independent nodes to the mapped ones, whose
    /// entries are overwritten: `u = J u` from parents to child. Allocates nothing.
    ///
    /// # Panics
    /// If `velocity` is shorter than [`Model::velocity_count`].
    pub fn push_forward(&self, model: &Model, velocity: &mut [f64]) {
        self.push_forward_some(model, |_| true, velocity);
    }

    /// As [`push_forward`](Self::push_forward), only to mapped nodes that have a mass, and to what
    /// these hang on; the others' entries stay as they are. Allocates nothing.
    ///
    /// # Panics
    /// As [`push_forward`](Self::push_forward).
    pub fn push_forward_to_masses(&self, model: &Model, velocity: &mut [f64]) {
        self.push_forward_some(model, |node| self.carries_mass[node], velocity);
    }

    fn push_forward_some(&self, model: &Model, to: impl Fn(usize) -> bool, velocity: &mut [f64]) {
        for (index, node) in model.nodes().iter().enumerate() {
            let (NodeKind::Mapped { mapping, ranges, .. }, Some(jacobian)) =
                (&node.kind, &self.jacobians[index])
            else {
                continue;
            };
            if !to(index) {
                continue;
            }
            let (before, child) = velocity.split_at_mut(node.first_velocity);
            let size = node.space.velocity_size();
            let of_parent = |at: Dependency| {
                let (_, first, space) = ranges[at.parent];
                let width = space.velocity_size();
                &before[first + at.element * width..][..width]
            };
            let child = &mut child[..node.count * size];
            let made_of = (mapping.as_ref(), &self.kept[index].values[..]);
            jacobian.push(&self.threads, &self.lists[index], made_of, of_parent, size, child);
        }
    }

    /// Carries forces on all nodes to their parents: afterwards each node holds the total force on
    /// it, the independent ones the generalised force. Allocates nothing.
    ///
    /// # Panics
    /// If `force` is shorter than [`Model::velocity_count`].
    pub fn pull_back(&self, model: &Model, force: &mut [f64]) {
        self.pull_back_some(model, |_| true, force);
    }

    /// Carries sizes of forces, none of them negative, to the parents: `|J|^T f` from node to node,
    /// no less than the terms that [`pull_back`](Self::pull_back) sums. Allocates nothing.
    ///
    /// # Panics
    /// As [`pull_back`](Self::pull_back).
    pub fn pull_back_sizes(&self, model: &Model, force: &mut [f64]) {
        self.pull_by(LocalJacobian::add_transpose_sizes, model, |_| true, force);
    }

    /// As [`pull_back`](Self::pull_back), only from the mapped nodes that `from` says; the others'
    /// forces stay where they are. Allocates nothing.
    ///
    /// # Panics
    /// As [`pull_back`](Self::pull_back).
    pub fn pull_back_some(&self, model: &Model, from: impl Fn(usize) -> bool, force: &mut [f64]) {
        self.pull_by(LocalJacobian::add_transpose_product, model, from, force);
    }

    /// Carries forces on these nodes, and on no others that are mapped, to their parents and from
    /// there on, as [`pull_back`](Self::pull_back) does those of all nodes. Cost: the blocks on the
    /// way, whatever else there is in the model.
    ///
    /// # Panics
    /// Where [`pull_back`](Self::pull_back) does.
    pub fn pull_back_from(&self, model: &Model, nodes: impl Iterator<Item = NodeId>, force: &mut [f64]) {
        let mut left: BTreeSet<usize> = nodes.map(NodeId::index).collect();
        // Parents come before what is mapped from them.
        while let Some(index) = left.pop_last() {
            self.pull_node(LocalJacobian::add_transpose_product, model, index, force);
            if let NodeKind::Mapped { parents, .. } = &model.nodes()[index].kind {
                left.extend(parents.iter().map(|parent| parent.index()));
            }
        }
    }

    /// Carries forces from the mapped nodes that `from` says to their parents, block by block with
    /// `add`.
    fn pull_by(
        &self,
        add: impl Fn(&LocalJacobian, DependencyBlock<'_>, &[f64], &mut [f64]) + Sync,
        model: &Model,
        from: impl Fn(usize) -> bool,
        force: &mut [f64],
    ) {
        for index in (0..model.nodes().len()).rev() {
            if from(index) {
                self.pull_node(&add, model, index, force);
            }
        }
    }

    /// Carries the forces on one node to its parents, if it has any, block by block with `add`.
    fn pull_node(
        &self,
        add: impl Fn(&LocalJacobian, DependencyBlock<'_>, &[f64], &mut [f64]) + Sync,
        model: &Model,
        index: usize,
        force: &mut [f64],
    ) {
        let node = &model.nodes()[index];
        let (NodeKind::Mapped { mapping, ranges, .. }, Some(jacobian)) = (&node.kind, &self.jacobians[index])
        else {
            return;
        };
        let made_of = (mapping.as_ref(), &self.kept[index].values[..]);
        let (before, child) = force.split_at_mut(node.first_velocity);
        let size = node.space.velocity_size();
        if let [(_, first, space)] = ranges[..] {
            let n = space.velocity_size();
            let child = ElementValues {
                size,
                values: &child[..node.count * size],
            };
            let parent = ElementValues {
                size: n,
                values: &mut before[first..],
            };
            if jacobian.pull(&self.threads, made_of, &add, child, parent) {
                return;
            }
        }
        jacobian.visit(made_of, 0..node.count, |e, block, width| {
            let f = &child[e * size..][..size];
            let mut column = 0;
            for (a, at) in self.lists[index].on(e).iter().enumerate() {
                let (_, first, space) = ranges[at.parent];
                let n = space.velocity_size();
                let target = &mut before[first + at.element * n..][..n];
                let at = DependencyBlock {
                    block,
                    width,
                    dependency: a,
                    column,
                };
                add(jacobian, at, f, target);
                column += n;
            }
        });
    }

    /// Carries forces on all nodes to their parents along a displacement between two states: by the
    /// mean Jacobians of [`Mapping::carries_chords`](crate::Mapping::carries_chords), so that the
    /// work on the chords of the independent nodes is that on the chords of all nodes. `self` has
    /// been propagated at the first of the states, `end` at the second. Forces of the start and of
    /// the end stand for their mean; afterwards those of independent nodes are equal, but for the
    /// torques of bodies. Cost: [`pull_back`](Self::pull_back) twice, but for linear mappings once.
    /// Allocates nothing.
    ///
    /// # Panics
    /// If a slice is shorter than [`Model::velocity_count`].
    pub fn pull_back_chords(&self, end: &Self, model: &Model, states: [&State; 2], forces: [&mut [f64]; 2]) {
        let [first, last] = forces;
        for (index, node) in model.nodes().iter().enumerate().rev() {
            let range = node.velocity_range();
            average(node.space, &mut first[range.clone()], &mut last[range.clone()]);
            let NodeKind::Mapped { mapping, ranges, .. } = &node.kind else {
                continue;
            };
            if let Some(mapping) = mapping.relative_motion() {
                let size = node.space.velocity_size();
                let x = states.map(|s| &s.positions[node.position_range()]);
                let parents = [0, 1].map(|k| {
                    let parents = model.parents(ranges, &states[k].positions, &states[k].velocities);
                    parents.with_child(x[k])
                });
                let (before, own) = first.split_at_mut(node.first_velocity);
                for (e, force) in own[..node.count * size].chunks_exact(size).enumerate() {
                    if force.iter().all(|f| *f == 0.0) {
                        continue;
                    }
                    let x = x.map(|x| &x[e * size..][..size]);
                    let ends = [&parents[0], &parents[1]];
                    relative_chord::add_forces(mapping, e, ends, x, force, |wrench| {
                        let (_, at, _) = ranges[wrench.on.parent];
                        let at = at + 6 * wrench.on.element;
                        for (list, torque) in [&mut *before, &mut *last].into_iter().zip(wrench.torques) {
                            for k in 0..3 {
                                list[at + k] += wrench.force[k];
                                list[at + 3 + k] += torque[k];
                            }
                        }
                    });
                }
                continue;
            }
            if mapping.is_linear() && node.space != Space::Rigid3 {
                // Of real coordinates, and of the forces on bodies, only the sum counts.
                first[range].iter_mut().for_each(|f| *f *= 2.0);
                self.pull_node(LocalJacobian::add_transpose_product, model, index, first);
                continue;
            }
            if node.space != Space::Rigid3 {
                let ends = states.map(|s| &s.positions[node.position_range()]);
                let size = node.space.velocity_size();
                let own = first[range.clone()].chunks_exact_mut(size);
                for (e, (a, b)) in own.zip(last[range].chunks_exact_mut(size)).enumerate() {
                    let weight = mapping.chord_weight(e, ends);
                    a.iter_mut().for_each(|f| *f *= 2.0 * (1.0 - weight));
                    b.iter_mut().for_each(|f| *f *= 2.0 * weight);
                }
            }
            self.pull_node(LocalJacobian::add_transpose_product, model, index, first);
            end.pull_node(LocalJacobian::add_transpose_product, model, index, last);
        }
    }
}

/// Makes two forces on the elements of a node their mean, but for the torques of bodies.
fn average(space: Space, first: &mut [f64], last: &mut [f64]) {
    let size = space.velocity_size();
    let linear = if space == Space::Rigid3 { 3 } else { size };
    let elements = first.chunks_exact_mut(size).zip(last.chunks_exact_mut(size));
    for (a, b) in elements {
        for (a, b) in a[..linear].iter_mut().zip(&mut b[..linear]) {
            let mean = 0.5 * (*a + *b);
            (*a, *b) = (mean, mean);
        }
    }
}
