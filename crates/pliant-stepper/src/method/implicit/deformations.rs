//! Deformations that the stages of a step integrate beside the positions.
//!
//! The force of a stiff row or spring on a mapped node `phi(x)` is the law of a deformation `e`.
//! With the law itself in the stages, `e = phi(x_stage)`, methods of order 2 fall to order 1 as
//! `h omega` grows. Here `e` is a state, `e' = J v`, that the method integrates like the positions;
//! at the end of the step these are projected to where `phi(x)` agrees with it. For `C = 0` that is
//! a hard row at the level of velocities, so that hard and compliant rows are one formula (Hairer
//! and Wanner, Solving Ordinary Differential Equations II, VII.4).

use crate::system::System;
use pliant_model::{ComponentId, Level, Model, NodeId, NodeKind, RowGroup, RowLaw, Space, State};

/// Deformations of the mapped nodes that force fields and constraints act on, as positions of these
/// nodes.
#[derive(Debug, Default)]
pub(super) struct Deformations {
    /// The nodes, and whether each node is one.
    nodes: Vec<usize>,
    listed: Vec<bool>,
    /// Positions of all nodes (of which those of the listed ones are used) at the predictor of a
    /// stage.
    base: Vec<f64>,
    /// Values that driven rows are held at, integrated from their rates, by row; empty if none is
    /// driven.
    targets: Vec<f64>,
    /// Coordinates of rows of bounded force that come back to where they are held over the whole
    /// step, with the part of their gap that is left to the second stage.
    returning: Vec<(usize, f64)>,
}

impl Deformations {
    /// Begins a step at the deformations of a state, which must be evaluated, with the targets of
    /// rows at its time. Hard rows begin where they are held: their drift is for the projection,
    /// and is no velocity. One-sided ones begin where they are if they are open. Two-sided ones of
    /// bounded force return over the step by a velocity: the first stage, of the share `gain` of
    /// it, begins at that share of the gap; the second one where the first has left them.
    pub(super) fn begin(&mut self, system: &System, state: &State, gain: f64) {
        let model = &system.model;
        self.base.clone_from(&state.positions);
        self.targets.clear();
        self.targets.extend(system.row_motion.iter().map(|m| m.end.0));
        self.list_nodes(system);
        self.returning.clear();
        for group in model.row_groups() {
            if !self.lists(group.node.index()) {
                continue;
            }
            let first = model.node(group.node).first_position;
            for k in (0..group.size * group.count).filter(|k| starts_where_held(system, group, *k)) {
                let target = self.targets.get(group.first_row + k).copied().unwrap_or(0.0);
                let gap = self.base[first + k] - target;
                let begin = match model.bounds(group) {
                    None => 0.0,
                    Some((0.0, _)) => gap.max(0.0),
                    Some((_, 0.0)) => gap.min(0.0),
                    Some(_) => {
                        self.returning.push((first + k, (1.0 - gain) * gap));
                        gain * gap
                    }
                };
                self.base[first + k] = target + begin;
            }
        }
    }

    /// Lists the nodes whose deformations are integrated.
    fn list_nodes(&mut self, system: &System) {
        let model = &system.model;
        self.listed.clear();
        self.listed.resize(model.nodes().len(), false);
        let mut list = |node: NodeId| {
            let is_mapped = matches!(model.node(node).kind, NodeKind::Mapped { .. });
            self.listed[node.index()] |= is_mapped;
        };
        model.force_fields().iter().for_each(|f| list(f.node));
        model.constraints().iter().for_each(|c| list(c.node));
        self.nodes.clear();
        let listed = self.listed.iter().enumerate().filter(|l| *l.1);
        self.nodes.extend(listed.map(|l| l.0));
    }

    /// Moves the predictor by `dt` (s) with the velocities of a state and the rates of driven rows.
    pub(super) fn advance(&mut self, system: &System, state: &State, dt: f64) {
        let model = &system.model;
        for index in &self.nodes {
            let node = &model.nodes()[*index];
            let at = &mut self.base[node.position_range()];
            retract_along(model, *index, &state.velocities[node.velocity_range()], dt, at);
        }
        for (target, motion) in self.targets.iter_mut().zip(&system.row_motion) {
            *target += dt * motion.end.1;
        }
        for (k, left) in &self.returning {
            self.base[*k] += left;
        }
    }

    /// Replaces the values that driven rows are held at by the integrated ones of a stage that
    /// reaches `dt` (s) from its predictor, whose rates the system has.
    pub(super) fn put_targets(&self, system: &mut System, dt: f64) {
        for (target, motion) in self.targets.iter().zip(&mut system.row_motion) {
            motion.end.0 = target + dt * motion.end.1;
        }
    }

    /// Replaces the deformations of a state by those that its velocities lead to in `dt` (s).
    pub(super) fn put(&self, model: &Model, dt: f64, state: &mut State) {
        for index in &self.nodes {
            let node = &model.nodes()[*index];
            let at = &mut state.positions[node.position_range()];
            at.copy_from_slice(&self.base[node.position_range()]);
            retract_along(model, *index, &state.velocities[node.velocity_range()], dt, at);
        }
    }

    /// Whether the deformations of a node are integrated.
    pub(super) fn lists(&self, node: usize) -> bool {
        self.listed.get(node).copied().unwrap_or(false)
    }

    /// The nodes.
    pub(super) fn nodes(&self) -> &[usize] {
        &self.nodes
    }
}

/// Moves the positions of a node by `dt` (s) with these velocities.
fn retract_along(model: &Model, node: usize, velocity: &[f64], dt: f64, positions: &mut [f64]) {
    let space = model.nodes()[node].space;
    if space != Space::Rigid3 {
        for (x, u) in positions.iter_mut().zip(velocity) {
            *x += dt * u;
        }
        return;
    }
    let bodies = positions.chunks_exact_mut(space.position_size());
    for (x, u) in bodies.zip(velocity.as_chunks::<6>().0) {
        space.retract(x, &u.map(|u| dt * u));
    }
}

/// Whether coordinate `k` of a group is a hard row that is held by its position and not by a law of
/// decay.
pub(super) fn starts_where_held(system: &System, group: &RowGroup, k: usize) -> bool {
    let model = &system.model;
    match group.component {
        ComponentId::Constraint(i) => matches!(
            model.constraints()[i].component.level,
            Level::Position | Level::CurvedPosition
        ),
        ComponentId::ForceField(i) => {
            system.evaluation.is_hard(group, k)
                && model.row_law(group) != RowLaw::Viscous
                && model.relaxation_time(i, k) == 0.0
        }
        ComponentId::Mass(_) => false,
    }
}
