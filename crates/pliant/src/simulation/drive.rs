//! What is set from outside while a simulation runs: motions, bounds, inputs.

use super::Simulation;
use crate::Error;
use pliant_kkt::RowMotion;
use pliant_model::{ComponentId, ModelError, Motion};

impl Simulation {
    /// Drives a hard constraint or a compliance from now on: its coordinates are held at the motion (a function of the time of the
    /// simulation) instead of at zero; `None` lets go. A hard row whose motion jumps jumps with it: a velocity of jump over step.
    ///
    /// # Errors
    /// [`Error::Model`] if the component has no rows or the motion another number of coordinates.
    pub fn set_motion(&mut self, component: ComponentId, motion: Option<Motion>) -> Result<(), Error> {
        self.model.set_motion(component, motion)?;
        self.books.energies = None;
        self.wake_component(component);
        self.plan_motion();
        Ok(())
    }

    /// Bounds the force of each row of a hard constraint or a compliance from now on (N, N m).
    ///
    /// # Errors
    /// [`Error::Model`] if the component has no rows, or no force is between the bounds.
    pub fn set_bounds(&mut self, component: ComponentId, lower: f64, upper: f64) -> Result<(), Error> {
        self.model.set_bounds(component, lower, upper)?;
        self.books.energies = None;
        self.wake_component(component);
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
        self.model.set_input(component, input, value)?;
        self.books.inputs += self.potential(component) - stored;
        self.wake_component(component);
        Ok(())
    }

    fn input(&self, component: ComponentId, input: usize) -> Option<f64> {
        let ComponentId::ForceField(i) = component else {
            return None;
        };
        self.model.force_fields().get(i)?;
        self.model.inputs(i).get(input).copied()
    }

    /// Makes room for the motion of the rows, if any is driven.
    pub(super) fn plan_motion(&mut self) {
        let driven = self
            .model
            .row_groups()
            .iter()
            .any(|g| self.model.motion(g).is_some());
        let rows = if driven { self.model.row_count() } else { 0 };
        self.motion.clear();
        self.motion.resize(rows, RowMotion::default());
        self.fill_motion(self.time, self.time);
    }

    /// What the rows are held at between two times.
    pub(super) fn fill_motion(&mut self, start: f64, end: f64) {
        if self.motion.is_empty() {
            return;
        }
        for group in self.model.row_groups() {
            let Some(motion) = self.model.motion(group) else {
                continue;
            };
            for k in 0..group.size * group.count {
                self.motion[group.first_row + k] = RowMotion {
                    start: motion.at(k, start),
                    end: motion.at(k, end),
                };
            }
        }
    }

    pub(super) fn restore_inputs(&mut self, inputs: &[f64]) -> Result<(), Error> {
        let (expected, found) = (self.model.parameters().inputs().len(), inputs.len());
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
        for i in 0..self.model.force_fields().len() {
            for k in 0..self.model.inputs(i).len() {
                let value = rest.next().copied().unwrap_or(0.0);
                self.model.set_input(ComponentId::ForceField(i), k, value)?;
            }
        }
        Ok(())
    }
}
