//! The face of what is set before a step: states, multipliers, held coordinates, and forces from
//! outside.

use super::Simulation;
use crate::Error;
use pliant_model::{Field, ModelError, NodeId, State};
use pliant_stepper::contact::step;
use pliant_stepper::sleep;
use std::borrow::Cow;

impl Simulation {
    /// Replaces positions and velocities of the independent coordinates; mapped ones are
    /// recomputed, quaternions normalised, memory of past forces is cleared. Fixed coordinates keep
    /// the velocity that the state gives them. Materials with a past go at once from the one that
    /// the state brings to its positions;
    /// [`Model::begin_memory`](pliant_model::Model::begin_memory) makes a state without one.
    ///
    /// # Errors
    /// [`Error::Model`] if the state does not fit the model, is not finite, or a mapping is not
    /// defined there; then nothing changes.
    pub fn set_state(&mut self, state: &State) -> Result<(), Error> {
        self.take_state(state)?;
        if self.system.model.internal_count() > 0 {
            self.system.advance_memory(&mut self.motion.state, 0.0);
            self.start_ledger();
        }
        Ok(())
    }

    /// Replaces the multipliers [N, N m], one per row, as those of the present positions: of a point
    /// of a path, of an equilibrium that was found before. [`set_state`](Self::set_state) makes
    /// them zero.
    ///
    /// # Errors
    /// [`Error::Model`] if there are not as many as rows, [`Error::NotFinite`]; then nothing changes.
    pub fn set_multipliers(&mut self, multipliers: &[f64]) -> Result<(), Error> {
        let (expected, found) = (self.motion.multipliers.len(), multipliers.len());
        if expected != found {
            let what = "multipliers";
            return Err(Error::Model(ModelError::State {
                what,
                expected,
                found,
            }));
        }
        if let Some(row) = multipliers.iter().position(|l| !l.is_finite()) {
            return Err(Error::NotFinite {
                what: self.system.model.describe_row(row),
                time: self.motion.time,
            });
        }
        self.motion.multipliers.copy_from_slice(multipliers);
        Ok(())
    }

    /// Takes a state, but for the internal variables, which stay.
    pub(super) fn take_state(&mut self, state: &State) -> Result<(), Error> {
        let mut new = state.clone();
        self.system.model.normalize(&mut new)?;
        let found = self.system.evaluation.propagate(&self.system.model, &mut new);
        let found = found.and_then(|()| self.system.evaluation.evaluate(&self.system.model, &new));
        if let Err(e) = found {
            self.system
                .evaluation
                .propagate(&self.system.model, &mut self.motion.state)?;
            return Err(e.into());
        }
        self.motion.state = new;
        self.motion.multipliers.fill(0.0);
        self.motion.lagged.fill(0.0);
        self.motion.supports.fill(0.0);
        self.motion.fresh = true;
        self.motion.integrator.forget();
        self.motion.adaptive = crate::AdaptiveMemory::default();
        self.wake_all();
        step::forget(&mut self.system, &mut self.motion);
        self.motion.hold_present_velocities(&self.system.model);
        self.start_ledger();
        Ok(())
    }

    /// Fixes chosen velocity coordinates of one element and gives them a velocity (bodies: angular
    /// in body axes), reached at the end of the next step.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element or a velocity is not finite.
    pub fn hold(
        &mut self,
        node: NodeId,
        element: usize,
        coordinates: &[bool],
        velocity: &[f64],
    ) -> Result<(), Error> {
        let first = self.system.model.dofs_of(node, element, coordinates.len())?;
        let entry = self.system.model.node(node);
        let name = || entry.name.clone();
        if velocity.len() != coordinates.len() {
            let (expected, found) = (coordinates.len(), velocity.len());
            return Err(ModelError::Size {
                name: name(),
                field: Field::Velocities,
                what: "velocities",
                expected,
                found,
            }
            .into());
        }
        if let Some(value) = velocity.iter().find(|v| !v.is_finite()) {
            return Err(ModelError::NotFinite {
                name: name(),
                field: Field::Velocities,
                index: None,
                value: *value,
            }
            .into());
        }
        sleep::wake_elements(&mut self.system, &mut self.motion, node, element..element + 1);
        sleep::wake_coupled(
            &mut self.system,
            &mut self.motion,
            first..first + coordinates.len(),
        );
        for k in (0..coordinates.len()).filter(|k| coordinates[*k]) {
            self.system.assembler.fixed_mut()[first + k] = true;
            self.motion.controls.held[first + k] = velocity[k];
        }
        Ok(())
    }

    /// Sets the force from outside on one element of any node, mapped ones too, until it is set
    /// again (N; bodies: force in world axes, then torque in *body* axes, N m). It has no
    /// potential: its work is not part of the energies.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element, a number is missing or not finite.
    pub fn set_force(&mut self, node: NodeId, element: usize, force: &[f64]) -> Result<(), Error> {
        let entry = self.system.model.node(node);
        let name = || entry.name.clone();
        let size = entry.space.velocity_size();
        if element >= entry.count {
            return Err(ModelError::Element {
                name: name(),
                element,
                count: entry.count,
            }
            .into());
        }
        if force.len() != size {
            let (what, found) = ("force coordinates", force.len());
            return Err(ModelError::Size {
                name: name(),
                field: Field::Forces,
                what,
                expected: size,
                found,
            }
            .into());
        }
        if let Some(value) = force.iter().find(|f| !f.is_finite()) {
            return Err(ModelError::NotFinite {
                name: name(),
                field: Field::Forces,
                index: None,
                value: *value,
            }
            .into());
        }
        let all = self.system.model.velocity_count();
        let external = &mut self.motion.controls.external;
        if external.is_empty() && force.iter().all(|f| *f == 0.0) {
            return Ok(());
        }
        external.resize(all, 0.0);
        let place = &mut external[entry.first_velocity + element * size..][..size];
        if place != force {
            place.copy_from_slice(force);
            sleep::wake_elements(&mut self.system, &mut self.motion, node, element..element + 1);
        }
        Ok(())
    }

    /// The forces from outside on all elements of a node, as [`set_force`](Self::set_force) set
    /// them; zeros where none was set.
    pub fn external_forces(&self, node: NodeId) -> Cow<'_, [f64]> {
        let range = self.system.model.node(node).velocity_range();
        match self.motion.controls.external_on(range.clone()) {
            [] => Cow::Owned(vec![0.0; range.len()]),
            forces => Cow::Borrowed(forces),
        }
    }

    /// Frees chosen velocity coordinates of one element; they keep their velocity.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element.
    pub fn release(&mut self, node: NodeId, element: usize, coordinates: &[bool]) -> Result<(), Error> {
        let first = self.system.model.dofs_of(node, element, coordinates.len())?;
        sleep::wake_elements(&mut self.system, &mut self.motion, node, element..element + 1);
        sleep::wake_coupled(
            &mut self.system,
            &mut self.motion,
            first..first + coordinates.len(),
        );
        for k in (0..coordinates.len()).filter(|k| coordinates[*k]) {
            self.system.assembler.fixed_mut()[first + k] = false;
        }
        Ok(())
    }
}
