//! The start of a step, to go back to.

use crate::Error;
use pliant_model::LeanState;
use pliant_stepper::contact::{Observation, step};
use pliant_stepper::motion::Motion;
use pliant_stepper::system::System;

/// The motion at the start of a step, with what the system knows of it, in buffers that are used
/// again. Solvers keep what they have planned.
#[derive(Debug, Default)]
pub(crate) struct StepStart {
    motion: Motion,
    /// Its state, where the motion has none.
    lean: Option<LeanState>,
    /// Observation of the contacts of the step before it.
    observation: Observation,
    /// Steps that were taken before it.
    steps: usize,
}

impl StepStart {
    pub(crate) fn motion(&self) -> &Motion {
        &self.motion
    }

    /// Takes the present motion for the start.
    pub(crate) fn take(&mut self, system: &System, motion: &Motion) {
        self.motion.clone_from(motion);
        self.lean = None;
        self.take_system(system);
    }

    /// Takes the present motion for the start, without the part of the state that follows from the
    /// rest: [`motion`](Self::motion) has none.
    pub(crate) fn take_lean(&mut self, system: &System, motion: &mut Motion) {
        self.lean = Some(LeanState::of(&system.model, &motion.state));
        let state = std::mem::take(&mut motion.state);
        self.motion.clone_from(motion);
        motion.state = state;
        self.take_system(system);
    }

    fn take_system(&mut self, system: &System) {
        system.record(&mut self.motion);
        if let Some(c) = &system.contacts {
            self.observation.clone_from(c.observed.observation());
        }
        self.steps = system.counters().steps;
    }

    /// Goes back to the start from a motion that began with it.
    ///
    /// # Errors
    /// Those of the finder of contacts, and [`Error::Model`].
    pub(crate) fn give_back(&self, system: &mut System, motion: &mut Motion) -> Result<(), Error> {
        let same_sleepers = motion.sleep.has_islands_of(&self.motion.sleep);
        if let Some(lean) = &self.lean {
            let mut state = std::mem::take(&mut motion.state);
            lean.write(&system.model, &mut state);
            motion.clone_from(&self.motion);
            motion.state = state;
        } else {
            motion.clone_from(&self.motion);
        }
        step::go_back(system, motion, &self.observation)?;
        system.set_steps(self.steps);
        system.recall(motion, same_sleepers)
    }
}
