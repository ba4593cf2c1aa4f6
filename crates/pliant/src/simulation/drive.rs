//! What is set from outside while a simulation runs: motions, bounds, inputs.

use super::Simulation;
use crate::Error;
use crate::control::sleep;
use pliant_model::{ComponentId, ModelError, Motion};

impl Simulation {
    /// Drives a hard constraint or a compliance from now on: its coordinates are held at the motion (a function of the time of the
    /// simulation) instead of at zero; `None` lets go. A hard row whose motion jumps jumps with it: a velocity of jump over step.
    ///
    /// # Errors
    /// [`Error::Model`] if the component has no rows or the motion another number of coordinates.
    pub fn set_motion(&mut self, component: ComponentId, motion: Option<Motion>) -> Result<(), Error> {
        self.system.model.set_motion(component, motion)?;
        self.motion.ledger.energies = None;
        sleep::wake_component(&mut self.system, &mut self.motion, component);
        self.system.plan_row_motion(self.motion.time);
        Ok(())
    }

    /// Bounds the force of each row of a hard constraint or a compliance from now on (N, N m).
    ///
    /// # Errors
    /// [`Error::Model`] if the component has no rows, or no force is between the bounds.
    pub fn set_bounds(&mut self, component: ComponentId, lower: f64, upper: f64) -> Result<(), Error> {
        self.system.model.set_bounds(component, lower, upper)?;
        self.motion.ledger.energies = None;
        sleep::wake_component(&mut self.system, &mut self.motion, component);
        Ok(())
    }

    /// Sets an input of a force field, such as the activation of a muscle.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such input, or the law does not allow the value.
    pub fn set_input(&mut self, component: ComponentId, input: usize, value: f64) -> Result<(), Error> {
        let before = self.input(component, input);
        if before == Some(value) {
            return Ok(());
        }
        let stored = self.potential(component);
        self.system.model.set_input(component, input, value)?;
        self.motion.ledger.inputs += self.potential(component) - stored;
        sleep::wake_component(&mut self.system, &mut self.motion, component);
        Ok(())
    }

    fn input(&self, component: ComponentId, input: usize) -> Option<f64> {
        let ComponentId::ForceField(i) = component else {
            return None;
        };
        self.system.model.force_fields().get(i)?;
        self.system.model.inputs(i).get(input).copied()
    }

    pub(crate) fn restore_inputs(&mut self, inputs: &[f64]) -> Result<(), Error> {
        let (expected, found) = (self.system.model.parameters().inputs().len(), inputs.len());
        if expected != found {
            let what = "inputs";
            return Err(ModelError::State {
                what,
                expected,
                found,
            }
            .into());
        }
        let mut rest = inputs.iter();
        for i in 0..self.system.model.force_fields().len() {
            for k in 0..self.system.model.inputs(i).len() {
                let value = rest.next().copied().unwrap_or(0.0);
                self.system
                    .model
                    .set_input(ComponentId::ForceField(i), k, value)?;
            }
        }
        Ok(())
    }
}
