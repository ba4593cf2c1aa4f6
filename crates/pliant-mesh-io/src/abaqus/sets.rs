//! Sets of nodes and elements.

use std::collections::{BTreeSet, HashMap};

use super::super::MOST_ENTRIES;
use super::super::builder::{MAX_GROUPS_PER_CELL, within};
use super::super::error::MeshError;
use super::super::text::syntax;

/// The members of a set.
pub(super) enum Entry {
    Label(i64),
    /// First, last, step.
    Range(i64, i64, i64),
    /// Another set that is there already.
    Set(String),
}

/// A set of nodes, or of elements.
pub(super) struct Set {
    /// The name as it was first spelled.
    pub(super) name: String,
    pub(super) of_elements: bool,
    entries: Vec<(usize, Entry)>,
}

#[derive(Default)]
pub(super) struct Sets {
    sets: Vec<Set>,
    /// Sets by name in capitals.
    known: HashMap<(String, bool), usize>,
    /// Entries of all sets.
    entries: usize,
}

impl Sets {
    /// The set of that name, made if new.
    pub(super) fn of(&mut self, name: &str, of_elements: bool) -> usize {
        let next = self.sets.len();
        let key = (name.to_ascii_uppercase(), of_elements);
        let index = *self.known.entry(key).or_insert(next);
        if index == next {
            self.sets.push(Set {
                name: name.to_owned(),
                of_elements,
                entries: Vec::new(),
            });
        }
        index
    }

    /// Adds an entry of that line to a set, if there is one.
    pub(super) fn add(&mut self, set: Option<usize>, line: usize, entry: Entry) -> Result<(), MeshError> {
        if let Some(set) = set {
            self.entries = self.entries.saturating_add(1);
            within(self.entries, "numbers in sets")?;
            self.sets[set].entries.push((line, entry));
        }
        Ok(())
    }

    /// The labels of all sets, each once and in order. `size` is how many nodes and elements there
    /// are: so many times [`MAX_GROUPS_PER_CELL`], and [`MOST_ENTRIES`], may all sets name
    /// together.
    pub(super) fn resolve(
        self,
        known: impl Fn(&Set, i64) -> bool,
        size: usize,
    ) -> Result<Vec<(Set, Vec<i64>)>, MeshError> {
        let most = size.saturating_mul(MAX_GROUPS_PER_CELL).min(MOST_ENTRIES);
        let mut named = 0usize;
        let mut done: Vec<Vec<i64>> = Vec::with_capacity(self.sets.len());
        for (index, set) in self.sets.iter().enumerate() {
            let mut labels = BTreeSet::new();
            let what = if set.of_elements { "an element" } else { "a node" };
            for (line, entry) in &set.entries {
                let mut put = |label: i64| {
                    if !known(set, label) {
                        let expected = format!("the number of {what} that is there");
                        return Err(syntax(*line, &expected, Some(&label.to_string())));
                    }
                    named = named.saturating_add(1);
                    if named > most {
                        let expected = format!("sets that name at most {most} nodes and elements together");
                        return Err(syntax(*line, &expected, Some("more")));
                    }
                    labels.insert(label);
                    Ok(())
                };
                match entry {
                    Entry::Label(label) => put(*label)?,
                    Entry::Range(first, last, step) => {
                        let mut label = *first;
                        while label <= *last {
                            put(label)?;
                            match label.checked_add(*step) {
                                Some(next) => label = next,
                                None => break,
                            }
                        }
                    }
                    Entry::Set(name) => {
                        let other = self.known.get(&(name.to_ascii_uppercase(), set.of_elements));
                        let Some(other) = other.filter(|other| **other < index) else {
                            let expected = format!("the number of {what}, or a set before this one");
                            return Err(syntax(*line, &expected, Some(name)));
                        };
                        done[*other].iter().try_for_each(|label| put(*label))?;
                    }
                }
            }
            done.push(labels.into_iter().collect());
        }
        Ok(self.sets.into_iter().zip(done).collect())
    }
}
