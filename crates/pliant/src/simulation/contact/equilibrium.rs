//! The contacts of an equilibrium, in place of those of a step.

use super::Contacts;
use super::laws::Rows;
use crate::contact::{ContactKey, ContactList, ContactsReport};
use pliant_kkt::Tail;

/// Contacts of an equilibrium.
#[derive(Debug)]
pub(crate) struct ShownContacts<'a> {
    pub(crate) list: &'a ContactList,
    pub(crate) rows: &'a [Rows],
    pub(crate) tail: &'a Tail,
    /// Forces in the rows (N).
    pub(crate) forces: &'a [f64],
    /// Ways of slip in the rows (m).
    pub(crate) ways: &'a [f64],
    /// A way that counts as none (m).
    pub(crate) noise: f64,
    pub(crate) report: ContactsReport,
}

impl Contacts {
    /// Forces and torques of the last step or equilibrium, by key, ascending (N, N m).
    pub(crate) fn last_forces(&self) -> &[(ContactKey, [f64; 6])] {
        &self.forces
    }

    /// Takes the contacts of an equilibrium for those of a step of 1 s.
    pub(crate) fn show_equilibrium(&mut self, shown: ShownContacts<'_>) {
        self.list.copy(shown.list);
        self.rows.clear();
        self.rows.extend_from_slice(shown.rows);
        self.tail.clone_from(shown.tail);
        self.report = shown.report;
        self.after.clear();
        self.after.extend_from_slice(shown.ways);
        self.noise = shown.noise;
        self.read(shown.forces, 1.0, 1.0);
        self.report.work = 0.0;
        self.stand(1.0);
        self.next_horizon = 0.0;
        self.horizon = None;
    }
}
