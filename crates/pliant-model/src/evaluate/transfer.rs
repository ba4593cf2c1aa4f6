//! Along the graph of mappings: velocities and accelerations from parents to children, forces back.

use super::Evaluation;
use super::gather::certainly;
use super::jacobian::{DependencyBlock, ElementValues, LocalJacobian, MadeOf};
use crate::blocks::PIECE;
use crate::mappings::relative_chord;
use crate::{Dependency, Model, NodeId, NodeKind, Space, State};
use std::collections::BTreeSet;

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
            let made_of = MadeOf {
                mapping: mapping.as_ref(),
                kept: &self.kept[index].values,
            };
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
            let unit = &mut self.buffers.unit[..child.len()];
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
            let made_of = MadeOf {
                mapping: mapping.as_ref(),
                kept: &self.kept[index].values,
            };
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
        let pull = |shared: bool, force: &mut [f64]| {
            for index in (0..model.nodes().len()).rev() {
                if from(index) && model.element_share(index).is_some() == shared {
                    self.pull_node(&add, model, index, force);
                }
            }
        };
        // Nothing that is whole hangs on what is shared out.
        model.complete([&mut *force], |[force]| pull(true, force));
        pull(false, force);
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
        let made_of = MadeOf {
            mapping: mapping.as_ref(),
            kept: &self.kept[index].values,
        };
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
        let both = [&mut *first, &mut *last];
        model.complete(both, |own| self.pull_chords(end, model, states, own, true));
        self.pull_chords(end, model, states, [first, last], false);
    }

    /// Carries forces along a displacement from the nodes whose elements are shared out, or from
    /// the others.
    fn pull_chords(
        &self,
        end: &Self,
        model: &Model,
        states: [&State; 2],
        [first, last]: [&mut [f64]; 2],
        shared: bool,
    ) {
        for (index, node) in model.nodes().iter().enumerate().rev() {
            if model.element_share(index).is_some() != shared {
                continue;
            }
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
