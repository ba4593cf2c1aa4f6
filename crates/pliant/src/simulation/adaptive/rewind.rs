//! The start of a step, to go back to: what a [`Checkpoint`](crate::Checkpoint) holds but for what trials do not change, in buffers that are used again, and
//! without forgetting what solvers have planned.

use super::{Simulation, Work};
use crate::Error;
use crate::simulation::contact::ContactsAtStart;
use crate::simulation::sleep::SleepMemory;
use crate::{IntegratorMemory, LedgerMemory};
use pliant_model::{ComponentId, State};
use pliant_solvers::BoundState;

/// Where a step starts.
#[derive(Debug, Default)]
pub(super) struct Start {
    known: bool,
    time: f64,
    state: State,
    multipliers: Vec<f64>,
    lagged: Vec<f64>,
    support: Vec<f64>,
    held: Vec<f64>,
    fixed: Vec<bool>,
    fresh: bool,
    dissipated: f64,
    books: LedgerMemory,
    steps: usize,
    inputs: Vec<f64>,
    integrator: IntegratorMemory,
    active_set: Vec<BoundState>,
    contacts: ContactsAtStart,
    sleep: SleepMemory,
}

impl Start {
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    pub(super) fn time(&self) -> f64 {
        self.time
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn take(&mut self, s: &Simulation) {
        self.known = true;
        self.time = s.time;
        self.state.clone_from(&s.state);
        self.multipliers.clone_from(&s.multipliers);
        self.lagged.clone_from(&s.lagged);
        self.support.clone_from(&s.support);
        self.held.clone_from(&s.held);
        self.fixed.clone_from(&s.assembler.system().fixed);
        (self.fresh, self.dissipated, self.books) = (s.fresh, s.dissipated, s.books);
        self.steps = s.counters.steps;
        self.inputs.clear();
        self.inputs.extend_from_slice(s.model.parameters().inputs());
        self.integrator.copy(&s.memory);
        self.active_set.clear();
        self.active_set.extend_from_slice(s.solver.active_set());
        if let Some(c) = &s.contacts {
            self.contacts.take(c);
        }
        self.sleep.copy(s.sleep.memory());
    }
}

impl Simulation {
    /// Goes back to the start of the step, if there is one.
    pub(super) fn back(&mut self, work: &mut Work) -> Result<(), Error> {
        let start = &work.start;
        if !start.known {
            return Ok(());
        }
        self.time = start.time;
        self.state.clone_from(&start.state);
        self.multipliers.clone_from(&start.multipliers);
        self.lagged.clone_from(&start.lagged);
        self.support.clone_from(&start.support);
        self.held.clone_from(&start.held);
        if self.assembler.system().fixed != start.fixed {
            self.assembler.fixed_mut().copy_from_slice(&start.fixed);
        }
        (self.fresh, self.dissipated, self.books) = (start.fresh, start.dissipated, start.books);
        self.counters.steps = start.steps;
        let mut inputs = start.inputs.iter();
        for i in 0..self.model.force_fields().len() {
            for k in 0..self.model.inputs(i).len() {
                let value = inputs.next().copied().unwrap_or(0.0);
                if self.model.inputs(i)[k] != value {
                    self.model.set_input(ComponentId::ForceField(i), k, value)?;
                }
            }
        }
        self.memory.copy(&start.integrator);
        self.solver.impose_active_set(&start.active_set);
        if let Some(c) = &mut self.contacts {
            start.contacts.give_back(c)?;
        }
        self.return_to_sleep(&start.sleep);
        self.evaluation.propagate(&self.model, &mut self.state)?;
        self.fill_motion(self.time, self.time);
        Ok(())
    }
}
