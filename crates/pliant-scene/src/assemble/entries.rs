//! Entries of the lists of a scene, and the names that they have.

use super::{Builder, Result};
use crate::source::Home;
use pliant::model::ComponentId;

/// Does something while an entry of a list of the scene is read, where complaints look for its
/// name.
pub(super) fn within<'a, T>(
    builder: &mut Builder<'a>,
    list: &'static str,
    index: usize,
    read: impl FnOnce(&mut Builder<'a>) -> Result<T>,
) -> Result<T> {
    let home = Home {
        list,
        index: Some(index),
        part: None,
    };
    let before = std::mem::replace(&mut builder.source.home, home);
    let done = read(builder);
    builder.source.home = before;
    done
}

/// Reads all entries of a list of the scene.
pub(super) fn each<'a, T>(
    builder: &mut Builder<'a>,
    list: &'static str,
    entries: &'a [T],
    mut read: impl FnMut(&mut Builder<'a>, &'a T) -> Result<()>,
) -> Result<()> {
    let mut all = entries.iter().enumerate();
    all.try_for_each(|(index, entry)| within(builder, list, index, |builder| read(builder, entry)))
}

/// The component of a name: of a gear that of its force, for that has no name of the user.
pub(super) fn component(builder: &Builder<'_>, name: &str) -> Option<ComponentId> {
    let of_gear = || {
        let mut gears = builder.scene.gears.iter();
        let gear = gears.find(|gear| gear.name == name)?;
        builder.model.component_named(&format!("{}.force", gear.name))
    };
    builder.model.component_named(name).or_else(of_gear)
}
