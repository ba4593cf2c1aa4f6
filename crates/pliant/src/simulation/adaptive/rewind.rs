//! The start of a step, to go back to: what a [`Checkpoint`](crate::Checkpoint) holds but for what trials do not change, in buffers that are used again, and
//! without forgetting what solvers have planned.

use super::{Simulation, Work};
use crate::Error;
use crate::contact::{Observation, step};
use crate::motion::Motion;
use pliant_model::{ComponentId, State};

/// Where a step starts.
#[derive(Debug, Default)]
pub(crate) struct Start {
    known: bool,
    motion: Motion,
    steps: usize,
    observation: Observation,
}

impl Start {
    pub(crate) fn forget(&mut self) {
        self.known = false;
    }

    pub(crate) fn time(&self) -> f64 {
        self.motion.time
    }

    pub(crate) fn state(&self) -> &State {
        &self.motion.state
    }

    pub(crate) fn take(&mut self, s: &Simulation) {
        self.known = true;
        self.motion.clone_from(&s.motion);
        let controls = &mut self.motion.controls;
        controls.fixed.clone_from(&s.system.assembler.system().fixed);
        controls.inputs.clear();
        controls
            .inputs
            .extend_from_slice(s.system.model.parameters().inputs());
        let active_set = &mut self.motion.solver.active_set;
        active_set.clear();
        active_set.extend_from_slice(s.system.solver.active_set());
        self.motion.sleep.clone_from(s.system.sleep.memory());
        self.steps = s.system.counters.steps;
        if let Some(c) = &s.system.contacts {
            self.observation.clone_from(c.observed.observation());
        }
    }
}

impl Simulation {
    /// Goes back to the start of the step, if there is one.
    pub(crate) fn back(&mut self, work: &mut Work) -> Result<(), Error> {
        let start = &work.start;
        if !start.known {
            return Ok(());
        }
        let controls = &start.motion.controls;
        self.motion.clone_from(&start.motion);
        if self.system.assembler.system().fixed != controls.fixed {
            self.system.assembler.fixed_mut().copy_from_slice(&controls.fixed);
        }
        self.system.counters.steps = start.steps;
        let mut inputs = controls.inputs.iter();
        for i in 0..self.system.model.force_fields().len() {
            for k in 0..self.system.model.inputs(i).len() {
                let value = inputs.next().copied().unwrap_or(0.0);
                if self.system.model.inputs(i)[k] != value {
                    self.system
                        .model
                        .set_input(ComponentId::ForceField(i), k, value)?;
                }
            }
        }
        self.system
            .solver
            .impose_active_set(&start.motion.solver.active_set);
        step::go_back(&mut self.system, &self.motion, &start.observation)?;
        self.return_to_sleep(&start.motion.sleep);
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        self.system.set_row_motion(self.motion.time, self.motion.time);
        Ok(())
    }
}
