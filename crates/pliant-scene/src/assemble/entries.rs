//! Entries of the lists of a scene, and the names that they have.

use super::{Builder, Result};
use crate::source::Home;
use pliant::model::ComponentId;

impl<'a> Builder<'a> {
    /// Does something while an entry of a list of the scene is read, where complaints look for its name.
    pub(super) fn within<T>(
        &mut self,
        list: &'static str,
        index: usize,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let home = Home {
            list,
            index: Some(index),
            part: None,
        };
        let before = std::mem::replace(&mut self.source.home, home);
        let done = read(self);
        self.source.home = before;
        done
    }

    /// Reads all entries of a list of the scene.
    pub(super) fn each_entry<T>(
        &mut self,
        list: &'static str,
        entries: &'a [T],
        mut read: impl FnMut(&mut Self, &'a T) -> Result<()>,
    ) -> Result<()> {
        let mut all = entries.iter().enumerate();
        all.try_for_each(|(index, entry)| self.within(list, index, |builder| read(builder, entry)))
    }

    /// The component of a name: of a gear that of its force, for that has no name of the user.
    pub(super) fn component(&self, name: &str) -> Option<ComponentId> {
        let of_gear = || {
            let mut gears = self.scene.gears.iter();
            let gear = gears.find(|gear| gear.name == name)?;
            self.model.component_named(&format!("{}.force", gear.name))
        };
        self.model.component_named(name).or_else(of_gear)
    }
}
