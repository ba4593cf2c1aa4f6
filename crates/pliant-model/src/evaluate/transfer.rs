//! Along the graph of mappings: velocities and accelerations from parents to children, forces back.

use super::Evaluation;
use crate::{Blocks, Model, NodeKind, State};

impl Evaluation {
    /// Accelerations of the mapped nodes that velocities alone cause.
    pub(super) fn push_bias(&mut self, model: &Model, state: &State) {
        self.bias.fill(0.0);
        // Nothing moves: nothing accelerates.
        if state.velocities.iter().all(|v| *v == 0.0) {
            return;
        }
        for (index, node) in model.nodes().iter().enumerate() {
            let NodeKind::Mapped { mapping, ranges, .. } = &node.kind else {
                continue;
            };
            let Some(blocks) = &self.jacobians[index] else {
                continue;
            };
            let (before, child) = self.bias.split_at_mut(node.first_velocity);
            let size = node.space.velocity_size();
            let child = &mut child[..node.count * size];
            for (e, a) in child.chunks_exact_mut(size).enumerate() {
                let mut column = 0;
                for at in &self.dependencies[index][e] {
                    let (_, first, space) = ranges[at.parent];
                    let width = space.velocity_size();
                    add_block_product(
                        blocks,
                        e,
                        column,
                        &before[first + at.element * width..][..width],
                        a,
                    );
                    column += width;
                }
            }
            let parents = model
                .parents(ranges, &state.positions, &state.velocities)
                .with_child(&state.positions[node.position_range()]);
            let Some(geometry) = &mut self.geometry[index] else {
                continue;
            };
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
                        self.dependencies[index][e]
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

    /// Carries velocities (or accelerations) of the independent nodes to the mapped ones, whose entries are overwritten: `u = J u` from parents to
    /// child. Allocates nothing.
    ///
    /// # Panics
    /// If `velocity` is shorter than [`Model::velocity_count`].
    pub fn push_forward(&self, model: &Model, velocity: &mut [f64]) {
        for (index, node) in model.nodes().iter().enumerate() {
            let (NodeKind::Mapped { ranges, .. }, Some(blocks)) = (&node.kind, &self.jacobians[index]) else {
                continue;
            };
            let (before, child) = velocity.split_at_mut(node.first_velocity);
            let size = node.space.velocity_size();
            for (e, u) in child[..node.count * size].chunks_exact_mut(size).enumerate() {
                u.fill(0.0);
                let mut column = 0;
                for at in &self.dependencies[index][e] {
                    let (_, first, space) = ranges[at.parent];
                    let width = space.velocity_size();
                    let from = &before[first + at.element * width..][..width];
                    add_block_product(blocks, e, column, from, u);
                    column += width;
                }
            }
        }
    }

    /// Carries forces on all nodes to their parents: afterwards each node holds the total force on it, the independent ones
    /// the generalised force. Allocates nothing.
    ///
    /// # Panics
    /// If `force` is shorter than [`Model::velocity_count`].
    pub fn pull_back(&self, model: &Model, force: &mut [f64]) {
        for (index, node) in model.nodes().iter().enumerate().rev() {
            let NodeKind::Mapped { ranges, .. } = &node.kind else {
                continue;
            };
            let Some(blocks) = &self.jacobians[index] else {
                continue;
            };
            let (before, child) = force.split_at_mut(node.first_velocity);
            let size = node.space.velocity_size();
            for (e, f) in child[..node.count * size].chunks_exact(size).enumerate() {
                let (block, width) = (blocks.block(e), blocks.width(e));
                let mut column = 0;
                for at in &self.dependencies[index][e] {
                    let (_, first, space) = ranges[at.parent];
                    let n = space.velocity_size();
                    let target = &mut before[first + at.element * n..][..n];
                    for (i, f) in f.iter().enumerate() {
                        for (t, a) in target.iter_mut().zip(&block[i * width + column..]) {
                            *t += a * f;
                        }
                    }
                    column += n;
                }
            }
        }
    }
}

pub(super) fn add_block_product(blocks: &Blocks, e: usize, column: usize, x: &[f64], y: &mut [f64]) {
    let (block, width) = (blocks.block(e), blocks.width(e));
    for (i, y) in y.iter_mut().enumerate() {
        for (a, x) in block[i * width + column..].iter().zip(x) {
            *y += a * x;
        }
    }
}
