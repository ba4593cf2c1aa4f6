//! Pages of facts: a table for people, an object of JSON for programs.

use crate::table::Table;
use serde_json::{Map, Value};

/// Facts with names, in order.
#[derive(Debug, Default)]
pub(crate) struct Page {
    table: Table,
    facts: Map<String, Value>,
}

impl Page {
    /// Adds a fact: its words for people, its value for programs.
    pub(crate) fn add(&mut self, name: &'static str, words: impl Into<String>, value: impl Into<Value>) {
        self.table.row(name, words);
        self.tell(name, value);
    }

    /// Adds a fact whose words are its value.
    pub(crate) fn say(&mut self, name: &'static str, words: impl Into<String>) {
        let words = words.into();
        self.add(name, words.clone(), words);
    }

    /// Adds a count, unless there is none.
    pub(crate) fn count(&mut self, name: &'static str, count: usize) {
        match count {
            0 => self.tell(name, 0),
            _ => self.add(name, count.to_string(), count),
        }
    }

    /// Adds a fact for programs alone.
    pub(crate) fn tell(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.replace(' ', "_"), value.into());
    }

    /// Prints the page, as JSON or for people.
    pub(crate) fn print(&self, as_json: bool) {
        match as_json {
            true => crate::print(&format!("{:#}\n", Value::Object(self.facts.clone()))),
            false => self.table.print(),
        }
    }
}
