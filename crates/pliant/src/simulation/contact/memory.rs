//! What contacts remember from step to step, in checkpoints.

use super::Contacts;
use crate::contact::{ContactEvent, ContactKey, ContactList, ContactReading, ContactsReport};
use crate::simulation::Simulation;
use crate::{Checkpoint, Error};
use pliant_solvers::complementarity::IslandMemory;

/// What contacts remember, as plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactMemory {
    pub(crate) list: Option<(ContactList, f64)>,
    pub(crate) forces: Vec<(ContactKey, [f64; 6])>,
    pub(crate) finder: Vec<u64>,
    pub(crate) solver: IslandMemory,
    pub(crate) correction_solver: IslandMemory,
}

/// What trials of a step change of the contacts, at its start, in buffers that are used again. What solvers have planned is not part of it.
#[derive(Debug, Default)]
pub(crate) struct ContactsAtStart {
    list: ContactList,
    next: ContactList,
    horizon: Option<f64>,
    step: f64,
    forces: Vec<(ContactKey, [f64; 6])>,
    finder: Vec<u64>,
    readings: Vec<ContactReading>,
    events: Vec<ContactEvent>,
    report: ContactsReport,
}

impl ContactsAtStart {
    pub(crate) fn take(&mut self, c: &Contacts) {
        self.list.copy(&c.list);
        self.next.copy(&c.next);
        (self.horizon, self.step, self.report) = (c.horizon, c.step, c.report);
        self.forces.clone_from(&c.forces);
        self.finder.clear();
        c.finder.save(&mut self.finder);
        self.readings.clone_from(&c.readings);
        self.events.clone_from(&c.events);
    }

    pub(crate) fn give_back(&self, c: &mut Contacts) -> Result<(), Error> {
        c.list.copy(&self.list);
        c.next.copy(&self.next);
        (c.horizon, c.step, c.report) = (self.horizon, self.step, self.report);
        c.forces.clone_from(&self.forces);
        c.readings.clone_from(&self.readings);
        c.events.clone_from(&self.events);
        c.memory.clear();
        c.finder.restore(&self.finder)
    }
}

impl Simulation {
    pub(crate) fn contact_memory(&self) -> Option<ContactMemory> {
        self.system.contacts.as_ref().map(|c| {
            let mut finder = Vec::new();
            c.finder.save(&mut finder);
            ContactMemory {
                list: c.horizon.map(|h| (c.list.clone(), h)),
                forces: c.forces.clone(),
                finder,
                solver: c.solver.memory(),
                correction_solver: c.correction_solver.memory(),
            }
        })
    }

    pub(crate) fn restore_contacts(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        match (&mut self.system.contacts, &checkpoint.contacts) {
            (Some(c), Some(memory)) => {
                c.forget();
                c.finder.restore(&memory.finder)?;
                c.forces.clone_from(&memory.forces);
                c.solver.impose(&memory.solver);
                c.correction_solver.impose(&memory.correction_solver);
                if let Some((list, horizon)) = &memory.list {
                    c.list.clone_from(list);
                    c.horizon = Some(*horizon);
                }
                Ok(())
            }
            (None, None) => Ok(()),
            (ours, _) => Err(pliant_model::ModelError::State {
                what: "sources of contacts",
                expected: usize::from(ours.is_some()),
                found: usize::from(ours.is_none()),
            }
            .into()),
        }
    }
}
