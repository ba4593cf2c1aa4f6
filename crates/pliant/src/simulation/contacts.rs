//! Contacts of a simulation: their source, and what is read of them.

use super::Simulation;
use crate::Error;
use crate::contact::{ContactEvent, ContactFinder, ContactReading, ContactsReport, step};
use pliant_model::NodeId;
use pliant_solvers::complementarity::Problem;

impl Simulation {
    /// Gives the simulation a source of contacts, instead of the one it had; plans the system anew.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn set_contacts(&mut self, finder: impl ContactFinder + 'static) -> Result<(), Error> {
        self.wake_all();
        self.motion.ledger.energies = None;
        step::set_finder(&mut self.system, &mut self.motion, Box::new(finder));
        let rows = self.system.model.row_groups().to_vec();
        self.plan_anew(&rows)
    }

    /// Takes the source of contacts away.
    pub fn remove_contacts(&mut self) {
        self.wake_all();
        self.motion.ledger.energies = None;
        self.motion.ledger.overlap = 0.0;
        self.system.contacts = None;
        self.motion.contacts = None;
    }

    /// The contacts of the last step, in the order of the finder.
    pub fn contacts(&self) -> &[ContactReading] {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or(&[], |c| c.observed.readings())
    }

    /// The contacts of the last step or equilibrium in numbers; of an equilibrium without work and
    /// energies.
    pub fn contacts_report(&self) -> ContactsReport {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or_else(ContactsReport::default, |c| *c.observed.report())
    }

    /// Length of the step that these are of (s; of an equilibrium 1): the last one, or the last part of
    /// one that was taken in parts.
    pub fn contact_step(&self) -> f64 {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or(0.0, |c| c.observed.step())
    }

    /// The complementarity problem of the island whose contacts had the largest residual in the last
    /// step that was tried, to be looked at or written to a file (`pliant_solvers::exchange`).
    pub fn contact_problem(&self) -> Option<&Problem> {
        self.system.contacts.as_ref()?.worst_problem()
    }

    /// The contacts that began and those that ended to carry an impulse in the last step, by key.
    pub fn contact_events(&self) -> &[ContactEvent] {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or(&[], |c| c.observed.events())
    }

    /// Sum of the contacts of the last step on one element of a node: average force (N) and torque
    /// about its position (N m; zero for points), in world axes.
    pub fn contact_force(&self, node: NodeId, element: usize) -> ([f64; 3], [f64; 3]) {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or_else(Default::default, |c| {
            c.observed.force_on(&self.system.model, node, element)
        })
    }

    /// Name of one side of a contact.
    pub fn contact_side(&self, side: u32) -> String {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or_else(String::new, |c| c.detection.name(side))
    }
}
