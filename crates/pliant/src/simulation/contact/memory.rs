//! What contacts remember from step to step, in checkpoints.

use crate::contact::{ContactKey, ContactList};
use crate::simulation::Simulation;
use crate::{Checkpoint, Error};
use pliant_solvers::complementarity::IslandMemory;

/// What contacts remember, as plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactMemory {
    pub(super) list: Option<(ContactList, f64)>,
    pub(super) forces: Vec<(ContactKey, [f64; 6])>,
    pub(super) finder: Vec<u64>,
    pub(super) solver: IslandMemory,
    pub(super) correction_solver: IslandMemory,
}

impl Simulation {
    pub(in crate::simulation) fn contact_memory(&self) -> Option<ContactMemory> {
        self.contacts.as_ref().map(|c| {
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

    pub(in crate::simulation) fn restore_contacts(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        match (&mut self.contacts, &checkpoint.contacts) {
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
