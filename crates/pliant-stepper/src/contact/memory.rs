//! The memory of contacts from step to step, part of a motion.

use super::detect::check;
use super::{ContactKey, ContactList};
use crate::Error;
use crate::motion::clone_into_buffers;
use pliant_kkt::Support;
use pliant_model::{Model, ModelError};

/// The memory of contacts from step to step, as plain values.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactMemory {
    /// Contacts of the motion, as found at the end of the last step, and the horizon (s) that they
    /// were found for; none if they are to be found.
    pub(crate) list: ContactList,
    pub(crate) horizon: Option<f64>,
    /// Average force and torque over the last step in the world (N, N m), by key, ascending.
    pub forces: Vec<(ContactKey, [f64; 6])>,
    /// The memory of the finder.
    pub(crate) finder: Vec<u64>,
    /// Whether contacts with forces kept their directions over the last step.
    pub(crate) steady: bool,
}

clone_into_buffers!(ContactMemory {
    list,
    horizon,
    forces,
    finder,
    steady,
});

/// The force (N) and torque (N m) of a contact in the world, and the island that it rests with.
pub(crate) type RestingForce = (ContactKey, [f64; 6], u32);

impl ContactMemory {
    /// Whether it is that of a model.
    ///
    /// # Errors
    /// [`Error`] if a contact has no meaning, or is of elements that there are not.
    pub(super) fn check(&self, model: &Model) -> Result<(), Error> {
        self.list.contacts().iter().try_for_each(check)?;
        let ascends = self.forces.is_sorted_by(|a, b| a.0 <= b.0);
        let finite = self.forces.iter().flat_map(|f| f.1).all(f64::is_finite);
        let horizon = self.horizon.is_none_or(|h| h.is_finite() && h >= 0.0);
        if ascends && finite && horizon && self.list.fits(model) {
            return Ok(());
        }
        let (what, expected, found) = ("contacts of this model", self.list.len(), 0);
        Err(ModelError::State {
            what,
            expected,
            found,
        }
        .into())
    }

    /// The contacts of the present state are to be found anew.
    pub(crate) fn forget_list(&mut self) {
        self.list.clear();
        self.horizon = None;
        self.steady = false;
    }

    /// The contacts belong to another state now, and their forces are forgotten.
    pub(crate) fn forget(&mut self) {
        self.forget_list();
        self.forces.clear();
    }

    /// Whether a contact had a force in the last step.
    pub(crate) fn had_force(&self, key: ContactKey) -> bool {
        self.forces.binary_search_by_key(&key, |f| f.0).is_ok()
    }

    /// The force and torque of a contact over the last step (N, N m); zero if it had none.
    pub(super) fn force(&self, key: ContactKey) -> [f64; 6] {
        let at = self.forces.binary_search_by_key(&key, |f| f.0);
        at.map_or([0.0; 6], |at| self.forces[at].1)
    }

    /// Leaves contacts of the last step, `list`, out of the next one where `island` names the
    /// sleeping island that they rest with, and appends their forces.
    pub(crate) fn put_aside(
        &mut self,
        list: &ContactList,
        island: impl Fn(&[Support]) -> Option<u32>,
        aside: &mut Vec<RestingForce>,
    ) {
        for (contact, supports) in list.with_supports() {
            if let Ok(at) = self.forces.binary_search_by_key(&contact.key, |f| f.0)
                && let Some(island) = island(supports)
            {
                let (key, force) = self.forces.remove(at);
                aside.push((key, force, island));
            }
        }
        self.list.retain(|supports| island(supports).is_none());
    }

    /// Takes such forces back as those of the last step; contacts are to be found anew.
    pub(crate) fn give_back(&mut self, forces: impl Iterator<Item = (ContactKey, [f64; 6])>) {
        self.forces.extend(forces);
        self.forces.sort_unstable_by_key(|f| f.0);
        self.forget_list();
    }
}
