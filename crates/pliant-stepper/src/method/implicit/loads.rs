//! Forces that the geometric stiffness of an iterate is made of.
//!
//! A spring that is a row has its multiplier as an unknown, which the linearised law makes a good
//! one after any step of Newton's method. The same spring treated as a stiffness has the force of
//! its law at the iterate instead, which a step across the spring makes as large as its stiffness:
//! geometric stiffness of that is noise. So the forces of such springs are carried along like
//! multipliers: those of the law, linearised, at the next iterate.

use super::deformations::Deformations;
use crate::system::System;
use pliant_model::{At, ComponentId, Evaluation, State};

/// Forces on all nodes (N, N m), of which those of the nodes with deformations are carried along.
#[derive(Debug, Default)]
pub(super) struct Loads {
    known: bool,
    force: Vec<f64>,
    /// Forces a whole step of Newton's method on.
    next: Vec<f64>,
    /// The share of that step that was taken.
    share: f64,
    /// Forces of the evaluation while these are in their place.
    kept: Vec<f64>,
    /// Change of velocity of all nodes in it; coordinates of one node.
    change: Vec<f64>,
    moved: (Vec<f64>, Vec<f64>),
    law: (Vec<f64>, Vec<f64>),
}

impl Loads {
    /// Takes the forces of an evaluated state.
    pub(super) fn begin(&mut self, system: &System) {
        self.known = true;
        self.force.clear();
        self.force.extend_from_slice(system.evaluation.force());
    }

    /// Puts the forces of the nodes with deformations in the place of those of the evaluation, if
    /// they are known; says whether they are.
    pub(super) fn put(&mut self, deformations: &Deformations, system: &mut System) -> bool {
        if !self.known {
            return false;
        }
        self.kept.clear();
        self.kept.extend_from_slice(system.evaluation.force());
        for index in deformations.nodes() {
            let range = system.model.nodes()[*index].velocity_range();
            system.evaluation.force_mut()[range.clone()].copy_from_slice(&self.force[range]);
        }
        true
    }

    /// Puts the forces of the evaluation back.
    pub(super) fn take_back(&self, evaluation: &mut Evaluation) {
        evaluation.force_mut().copy_from_slice(&self.kept);
    }

    /// Forces a whole step of Newton's method on, as last found.
    pub(super) fn next_mut(&mut self) -> &mut [f64] {
        &mut self.next
    }

    /// Notes the share of the step that is tried.
    pub(super) fn take_share(&mut self, share: f64) {
        self.share = share;
    }

    /// Finds the forces of the linearised laws a whole step of Newton's method from an evaluated
    /// state, where positions move by `reach` (s) times the change of velocity.
    pub(super) fn extrapolate(
        &mut self,
        deformations: &Deformations,
        system: &System,
        state: &State,
        reach: f64,
    ) {
        let model = &system.model;
        self.next.clear();
        self.next.extend_from_slice(system.evaluation.force());
        let is_linearised = |i: usize| {
            let field = &model.force_fields()[i];
            let is_row = system.rows.group_of_field[i].is_some();
            let acts = !model.is_released(ComponentId::ForceField(i));
            acts && !is_row
                && field.component.law.memory().is_none()
                && deformations.lists(field.node.index())
        };
        if !(0..model.force_fields().len()).any(is_linearised) {
            return;
        }
        self.change.clear();
        self.change.resize(model.velocity_count(), 0.0);
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let own = first..first + range.len();
            self.change[range].copy_from_slice(&system.solution.x[own]);
        }
        system.evaluation.push_forward(model, &mut self.change);
        let fields = model.force_fields().iter().enumerate();
        for (i, field) in fields.filter(|(i, _)| is_linearised(*i)) {
            let entry = &field.component;
            let node = model.node(field.node);
            let range = node.velocity_range();
            let change = &self.change[range.clone()];
            let (x, v) = (
                &state.positions[node.position_range()],
                &state.velocities[range.clone()],
            );
            let (moved_x, moved_v) = &mut self.moved;
            moved_x.clear();
            moved_x.extend_from_slice(x);
            moved_v.clear();
            moved_v.extend(change.iter().map(|d| reach * d));
            node.space.retract(moved_x, moved_v);
            moved_v.clear();
            moved_v.extend(v.iter().zip(change).map(|(v, d)| v + d));
            let (before, after) = (&mut self.law.0, &mut self.law.1);
            for list in [&mut *before, &mut *after] {
                list.clear();
                list.resize(range.len(), 0.0);
            }
            let inputs = model.inputs(i);
            let at = |x, v| At::new(node.space, x).moving(v).with_inputs(inputs);
            entry.law.add_force(at(x, v), before);
            entry.law.add_force(at(moved_x, moved_v), after);
            for ((next, a), b) in self.next[range].iter_mut().zip(after).zip(before) {
                *next += *a - *b;
            }
        }
    }

    /// Goes the share of the step that was tried last.
    pub(super) fn go(&mut self) {
        for (now, next) in self.force.iter_mut().zip(&self.next) {
            *now += self.share * (next - *now);
        }
    }
}
