//! Remarks: what an import did not take, or took in another way.

use std::collections::{HashMap, HashSet};
use std::fmt;

/// Lines of a remark that are shown; all of them are in [`Remark::places`].
const SHOWN: usize = 20;
/// The most different remarks; others are counted.
const MOST: usize = 10_000;

/// A remark about one or more places of the imported files. Nothing that a file says is passed over
/// without one, up to 10,000 different ones: the last says how many more there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The remark, one sentence without its full stop.
    pub message: String,
    /// Places it is about, in the order of the files: name of the file, line from one. Empty for
    /// remarks about the whole import.
    pub places: Vec<(String, usize)>,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(|file| file))
    }
}

impl Remark {
    /// The remark and its places, with files by the names that `name` gives them.
    pub(crate) fn told<'a>(&'a self, name: impl Fn(&'a str) -> &'a str) -> String {
        let mut files: Vec<(&str, Vec<String>)> = Vec::new();
        for (file, line) in self.places.iter().take(SHOWN) {
            match files.last_mut() {
                Some((last, lines)) if last == file => lines.push(line.to_string()),
                _ => files.push((file, vec![line.to_string()])),
            }
        }
        let mut out = self.message.clone();
        if self.places.len() > 1 {
            out += &format!(", {} times", self.places.len());
        }
        let files: Vec<String> = files
            .iter()
            .map(|(file, lines)| format!("{}:{}", name(file), lines.join(", ")))
            .collect();
        if !files.is_empty() {
            let more = match self.places.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            out += &format!(" ({}{more})", files.join("; "));
        }
        out
    }
}

/// Remarks in the order of their first place, each message once.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    list: Vec<Remark>,
    known: HashMap<String, usize>,
    told: HashSet<(usize, String, usize)>,
    /// How often there were remarks beyond the most.
    beyond: usize,
}

impl Remarks {
    /// Adds a place to the remark of that message.
    pub(crate) fn add(&mut self, place: Option<(String, usize)>, message: String) {
        let index = match self.known.get(&message) {
            Some(index) => *index,
            None if self.list.len() >= MOST => {
                self.beyond += 1;
                return;
            }
            None => {
                self.known.insert(message.clone(), self.list.len());
                self.list.push(Remark {
                    message,
                    places: Vec::new(),
                });
                self.list.len() - 1
            }
        };
        // What a class of defaults says, many elements have from the same place.
        let new = |(file, line): &(String, usize)| self.told.insert((index, file.clone(), *line));
        self.list[index].places.extend(place.filter(new));
    }

    pub(crate) fn into_list(mut self) -> Vec<Remark> {
        if self.beyond > 0 {
            self.list.push(Remark {
                message: format!("there are {} more remarks, which are not told", self.beyond),
                places: Vec::new(),
            });
        }
        self.list
    }
}
