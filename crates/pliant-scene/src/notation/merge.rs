//! The entries of included files among those of the scene that includes them.

use super::keys::keys_of;
use super::tree::{Content, Entry};
use super::{Complaint, Tree};
use crate::schema::{IncludeSpec, Run, Scene};
use pliant_expression::suggest;
use serde::de::{Deserialize, Error};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Keys of an included file that count only where it is a scene of its own.
const OWN: [&str; 9] = [
    "units",
    "title",
    "about",
    "start_from",
    "run",
    "gravity",
    "rayleigh",
    "friction_rule",
    "picture",
];
/// Keys whose value has names in quotes.
const NAMED: [&str; 2] = ["parameters", "groups"];
/// Keys that an included file cannot have.
const REFUSED: [&str; 1] = ["functions"];
/// Bytes of the name of an instance.
const LONGEST_NAME: usize = 100;
/// The key of included files.
const KEY: &str = "include";

/// An entry of `include`.
pub(crate) struct Instance {
    pub(crate) file: String,
    /// Its name; empty without one.
    pub(crate) name: String,
    /// Whether it has a place of its own.
    pub(crate) has_place: bool,
}

impl Tree {
    /// The bytes of the text that it takes.
    pub(crate) fn place(&self) -> Range<usize> {
        self.range.clone()
    }

    fn top(&self) -> &[Entry] {
        match &self.content {
            Content::Record(entries) | Content::Map(entries) => entries,
            Content::Kind(_, Some(inner)) => inner.top(),
            _ => &[],
        }
    }

    fn top_mut(&mut self) -> Option<&mut Vec<Entry>> {
        match &mut self.content {
            Content::Record(entries) | Content::Map(entries) => Some(entries),
            Content::Kind(_, Some(inner)) => inner.top_mut(),
            _ => None,
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.top().iter().find(|entry| entry.key == key)
    }

    /// The place of the value of a key, or of the whole without it.
    pub(crate) fn place_of(&self, key: &str) -> Range<usize> {
        self.entry(key)
            .map_or(&self.range, |entry| &entry.value.range)
            .clone()
    }

    /// Takes the entries of `include` out, if there is one.
    pub(crate) fn take_includes(&mut self) -> Result<Option<Vec<Self>>, Complaint> {
        let Some(entries) = self.top_mut() else {
            return Ok(None);
        };
        let Some(at) = entries.iter().position(|entry| entry.key == KEY) else {
            return Ok(None);
        };
        let entry = entries.remove(at);
        if entries.iter().any(|other| other.key == KEY) {
            return Err(Complaint::duplicate_field(KEY).at(&entry.key_range));
        }
        match entry.value.content {
            Content::List(items) => Ok(Some(items)),
            _ => {
                let message = "expected a list of files, as in [(file: \"arm.ron\", name: \"left\")]";
                Err(Complaint::other(message).at(&entry.value.range))
            }
        }
    }

    /// An entry of `include`, checked.
    pub(crate) fn instance(&self) -> Result<Instance, Complaint> {
        let spec = IncludeSpec::deserialize(self)?;
        let name = spec.name.unwrap_or_default();
        let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !(is_word && name.len() <= LONGEST_NAME) && self.entry("name").is_some() {
            let message = format!("an included file cannot be called \"{name}\"");
            let complaint = Complaint::other(message).at(&self.place_of("name"));
            return Err(
                complaint.with_help("letters, digits and underscores stand before the names in it: `left` makes `left.tip` of `tip`")
            );
        }
        let has_place = spec.position.is_some() || spec.rotation.is_some();
        if has_place && name.is_empty() {
            let message = "a file that is included at a place needs a `name`";
            return Err(Complaint::other(message).at(&self.range));
        }
        Ok(Instance {
            file: spec.file,
            name,
            has_place,
        })
    }

    /// Makes names of the parameters and groups of a part those of the scene, with the values that
    /// the entry of its instance gives them.
    pub(crate) fn take_in(&self, name: &str, entry: &Self, part: &mut Self) -> Result<(), Complaint> {
        let known = keys_of::<Scene>();
        let whole = part.range.clone();
        let Some(top) = part.top_mut() else {
            let message = "expected a scene: keys with values, as in (key: value)";
            return Err(Complaint::other(message).at(&whole));
        };
        for (k, one) in top.iter().enumerate() {
            if !known.contains(&one.key.as_str()) {
                return Err(Complaint::unknown_field(&one.key, known)
                    .inside("Scene")
                    .at(&one.key_range));
            }
            if top[..k].iter().any(|other| other.key == one.key) {
                let key = known
                    .iter()
                    .find(|key| **key == one.key)
                    .copied()
                    .unwrap_or_default();
                return Err(Complaint::duplicate_field(key).at(&one.key_range));
            }
            match (&one.value.content, one.key.as_str()) {
                (_, "run") => Run::deserialize(&one.value).map(drop)?,
                (_, key) if REFUSED.contains(&key) => {
                    let message =
                        format!("`{key}` stands in the scene that includes, not in an included file");
                    let help =
                        "expressions of included files call the functions of that scene by their names";
                    return Err(Complaint::other(message).at(&one.key_range).with_help(help));
                }
                (Content::Map(_), key) if NAMED.contains(&key) => {}
                (_, key) if NAMED.contains(&key) => {
                    let message = "expected keys in quotes with values, as in {\"key\": value}";
                    return Err(Complaint::other(message).at(&one.value.range));
                }
                (Content::List(_), _) => {}
                (_, key) if OWN.contains(&key) => {}
                _ => return Err(Complaint::other("expected a list [a, b, ..]").at(&one.value.range)),
            }
        }
        let given = entry
            .entry("parameters")
            .map_or(&[][..], |entry| entry.value.top());
        let own = top.iter().find(|one| one.key == "parameters");
        let own = own.map_or(&[][..], |one| one.value.top());
        let own: BTreeSet<&str> = own.iter().map(|one| one.key.as_str()).collect();
        if let Some(unknown) = given.iter().find(|one| !own.contains(one.key.as_str())) {
            let message = format!("the file has no parameter `{}`", unknown.key);
            let help = suggest::hint(&unknown.key, "its parameters", own.iter().copied());
            let complaint = Complaint::other(message).at(&unknown.key_range);
            return Err(match help {
                Some(help) => complaint.with_help(&help),
                None => complaint,
            });
        }
        let values: BTreeMap<&str, &Self> = given.iter().map(|one| (one.key.as_str(), &one.value)).collect();
        for one in top.iter_mut().filter(|one| NAMED.contains(&one.key.as_str())) {
            let is_parameters = one.key == "parameters";
            for named in one.value.top_mut().into_iter().flatten() {
                if let Some(new) = values.get(named.key.as_str()).filter(|_| is_parameters) {
                    named.value = (*new).clone();
                }
                if !name.is_empty() {
                    named.key = format!("{name}.{}", named.key);
                }
            }
        }
        Ok(())
    }

    /// Puts the entries of parts before its own.
    pub(crate) fn put_first(&mut self, parts: impl Iterator<Item = Self>) -> Result<(), Complaint> {
        let Some(top) = self.top_mut() else {
            return Ok(());
        };
        let mut first: Vec<Entry> = Vec::new();
        for mut part in parts {
            let entries = part.top_mut().map(std::mem::take).unwrap_or_default();
            for entry in entries
                .into_iter()
                .filter(|entry| !OWN.contains(&entry.key.as_str()))
            {
                match first.iter_mut().find(|other| other.key == entry.key) {
                    Some(other) => join(&mut other.value, entry.value)?,
                    None => first.push(entry),
                }
            }
        }
        for entry in first {
            match top.iter_mut().find(|own| own.key == entry.key) {
                Some(own) => {
                    let value = std::mem::replace(&mut own.value, entry.value);
                    // Complaints of the whole are about the list of the scene itself.
                    let range = value.range.clone();
                    join(&mut own.value, value)?;
                    own.value.range = range;
                }
                None => top.push(entry),
            }
        }
        Ok(())
    }
}

/// Adds the entries of a list or of named values to another.
fn join(to: &mut Tree, from: Tree) -> Result<(), Complaint> {
    match (&mut to.content, from.content) {
        (Content::List(all), Content::List(more)) => all.extend(more),
        (Content::Map(all), Content::Map(more)) => {
            let mut known: BTreeSet<String> = all.iter().map(|entry| entry.key.clone()).collect();
            for entry in more {
                if !known.insert(entry.key.clone()) {
                    let message = format!("`{}` is given twice, here and in another file", entry.key);
                    return Err(Complaint::other(message).at(&entry.key_range));
                }
                all.push(entry);
            }
        }
        (_, Content::List(_)) | (Content::List(_), _) => {
            return Err(Complaint::other("expected a list [a, b, ..]").at(&from.range));
        }
        _ => {
            let message = "expected keys in quotes with values, as in {\"key\": value}";
            return Err(Complaint::other(message).at(&from.range));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_scene_is_a_list_has_names_or_is_of_the_scene_alone() {
        let known = keys_of::<Scene>();
        assert!(
            OWN.iter()
                .chain(&NAMED)
                .chain(&REFUSED)
                .all(|key| known.contains(key)),
            "{known:?}"
        );
        let lists = known.len() - OWN.len() - NAMED.len() - REFUSED.len();
        // Whoever adds a key says here what an included file does with it.
        assert_eq!(lists, 19, "{known:?}");
    }
}
