//! Entries of lists that are repeated: `(repeat: 10, name: "link $i", ..)` and `Repeat(10, ..)`.
//!
//! They are written out on the tree, before the schema is read, so that whatever stands in a list
//! may be repeated. Bodies of a node and solids with a plain number have a `repeat` of their own,
//! in whose numbers `$i` has a value.

use super::tree::{Content, Entry, Text};
use super::{Complaint, Tree};
use pliant_expression::ExpressionError;
use std::ops::Range;

/// The key of an entry that is repeated.
const KEY: &str = "repeat";
/// The kind around what has no keys.
const KIND: &str = "Repeat";
/// The index of a plain number.
const INDEX: &str = "i";
/// Names that an index cannot have, for they have a meaning of their own.
const TAKEN: [&str; 5] = ["t", "x", "y", "z", "pi"];
/// Values, and every so many bytes of texts, that repeats may write.
const MOST: usize = 2_000_000;
/// Bytes of a text that count as a value.
const BYTES: usize = 16;

/// The value of an expression over indices, with their values, and parameters of the file with a
/// prefix.
pub(crate) type Evaluate<'a> = &'a dyn Fn(&str, &[(String, f64)], &str) -> Result<f64, ExpressionError>;

/// Writes out what is repeated.
pub(crate) struct Repeats<'a> {
    /// None: each entry stands once, as it is written, to check its words.
    evaluate: Option<Evaluate<'a>>,
    /// Indices with their values, the innermost last.
    indices: Vec<(String, f64)>,
    written: usize,
    found: bool,
}

impl<'a> Repeats<'a> {
    /// Every entry once, as it is written.
    pub(crate) fn once() -> Self {
        Self {
            evaluate: None,
            indices: Vec::new(),
            written: 0,
            found: false,
        }
    }

    /// Every entry as often as it is repeated.
    pub(crate) fn all(evaluate: Evaluate<'a>) -> Self {
        Self {
            evaluate: Some(evaluate),
            ..Self::once()
        }
    }

    /// The entries of a list as often as they are repeated.
    pub(crate) fn write_list(&mut self, items: &[Tree]) -> Result<Vec<Tree>, Complaint> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            self.item(item, None, &mut out)?;
        }
        Ok(out)
    }

    /// Whether anything was repeated.
    pub(crate) fn found(&self) -> bool {
        self.found
    }

    /// The tree with its repeats written out.
    pub(crate) fn write(&mut self, tree: &Tree) -> Result<Tree, Complaint> {
        self.copy(tree, None, false)
    }

    /// A copy of the value of a key, perhaps without its key `repeat`.
    fn copy(&mut self, tree: &Tree, key: Option<&str>, strip: bool) -> Result<Tree, Complaint> {
        let content = match &tree.content {
            Content::Text(text) => Content::Text(self.text(text, tree)?),
            Content::Kind(kind, Some(inner)) => {
                Content::Kind(kind.clone(), Some(Box::new(self.copy(inner, key, strip)?)))
            }
            Content::Tuple(items) => {
                let items = items.iter().map(|item| self.copy(item, None, false));
                Content::Tuple(items.collect::<Result<_, _>>()?)
            }
            Content::List(items) => {
                let mut out = Vec::with_capacity(items.len());
                for item in items {
                    self.item(item, key, &mut out)?;
                }
                Content::List(out)
            }
            Content::Record(entries) => Content::Record(self.entries(entries, strip)?),
            Content::Map(entries) => match kind_of(entries) {
                Some(entry) => Content::Map(vec![Entry {
                    value: self.copy(&entry.value, key, strip)?,
                    ..entry.bare()
                }]),
                None => Content::Map(self.entries(entries, strip)?),
            },
            other => other.clone(),
        };
        Ok(Tree {
            content,
            range: tree.range.clone(),
            prefix: tree.prefix.clone(),
            bases: tree.bases,
        })
    }

    fn entries(&mut self, entries: &[Entry], strip: bool) -> Result<Vec<Entry>, Complaint> {
        let kept = entries.iter().filter(|entry| !(strip && entry.key == KEY));
        let mut out = Vec::with_capacity(entries.len());
        for entry in kept {
            // A formula counts its own points by `$i`.
            let hidden = (entry.key == "formula").then(|| self.hide());
            let value = self.copy(&entry.value, Some(&entry.key), false);
            hidden.into_iter().for_each(|hidden| self.indices = hidden);
            out.push(Entry {
                value: value?,
                ..entry.bare()
            });
        }
        Ok(out)
    }

    /// Leaves `$i` as it is, and returns the indices to go back to.
    fn hide(&mut self) -> Vec<(String, f64)> {
        let kept = self.indices.iter().filter(|(name, _)| name != INDEX);
        let kept = kept.cloned().collect();
        std::mem::replace(&mut self.indices, kept)
    }

    /// Adds an entry of the list of a key as often as it is repeated.
    fn item(&mut self, item: &Tree, key: Option<&str>, out: &mut Vec<Tree>) -> Result<(), Complaint> {
        if let Some((count, value)) = wrapped(item)? {
            return self.times(count, value, false, out);
        }
        let Some(entries) = keys(item) else {
            out.push(self.copy(item, None, false)?);
            return Ok(());
        };
        match entries.iter().find(|entry| entry.key == KEY) {
            None => out.push(self.copy(item, None, false)?),
            Some(repeat) if has_own(item, key, &repeat.value) => {
                let count = self.copy(&repeat.value, None, false)?;
                let hidden = self.hide();
                let copy = self.copy(item, None, false);
                self.indices = hidden;
                let mut copy = copy?;
                replace_count(&mut copy, count);
                out.push(copy);
            }
            Some(repeat) => self.times(&repeat.value, item, true, out)?,
        }
        Ok(())
    }

    /// Adds a value as often as `count` says, without its key `repeat` if `strip` says so.
    fn times(
        &mut self,
        count: &Tree,
        value: &Tree,
        strip: bool,
        out: &mut Vec<Tree>,
    ) -> Result<(), Complaint> {
        self.found = true;
        let axes = self.axes(count)?;
        if self.evaluate.is_none() {
            out.push(self.copy(value, None, strip)?);
            return Ok(());
        }
        let total = axes
            .iter()
            .fold(1, |all: usize, (_, count)| all.saturating_mul(*count));
        // Those that are repeated in it are counted when they are written.
        self.written = self.written.saturating_add(total.saturating_mul(size(value)));
        if self.written > MOST {
            let message = format!("with {total} of these, repeats write more than {MOST} values");
            return Err(Complaint::other(message).at(&count.range));
        }
        check_names(&axes, value, total)?;
        let outer = self.indices.len();
        for k in 0..total {
            let mut rest = k;
            // The last index runs first.
            let mut values: Vec<(String, f64)> = Vec::with_capacity(axes.len());
            for (name, count) in axes.iter().rev() {
                values.push((name.clone(), (rest % count) as f64));
                rest /= count;
            }
            self.indices.extend(values.into_iter().rev());
            let copy = self.copy(value, None, strip);
            self.indices.truncate(outer);
            out.push(copy?);
        }
        Ok(())
    }

    /// Indices and how far each counts.
    fn axes(&self, count: &Tree) -> Result<Vec<(String, usize)>, Complaint> {
        match &count.content {
            Content::Record(entries) | Content::Map(entries) if !entries.is_empty() => {
                let mut axes: Vec<(String, usize)> = Vec::with_capacity(entries.len());
                for entry in entries {
                    let name = entry.key.as_str();
                    let is_word = name.starts_with(char::is_alphabetic)
                        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
                    if !is_word || TAKEN.contains(&name) {
                        let message = format!("an index cannot be called `{name}`");
                        return Err(Complaint::other(message).at(&entry.key_range));
                    }
                    if axes.iter().any(|(other, _)| other == name) {
                        let message = format!("the index `{name}` is given twice");
                        return Err(Complaint::other(message).at(&entry.key_range));
                    }
                    axes.push((name.to_owned(), self.count(&entry.value)?));
                }
                Ok(axes)
            }
            _ => Ok(vec![(INDEX.to_owned(), self.count(count)?)]),
        }
    }

    fn count(&self, tree: &Tree) -> Result<usize, Complaint> {
        let value = match (&tree.content, self.evaluate) {
            (Content::Number(value), _) => *value,
            (Content::Text(text), Some(evaluate)) => {
                let found = evaluate(&text.raw, &self.indices, prefix_of(tree));
                found.map_err(|error| complaint(error, &tree.range))?
            }
            (Content::Text(_), None) => 1.0,
            _ => {
                let message = "expected how often it is repeated, a number or indices with their counts";
                let complaint = Complaint::other(message).at(&tree.range);
                return Err(complaint.with_help(
                    "`repeat: 10` counts by `$i`, `repeat: (row: 2, column: 3)` by `$row` and `$column`",
                ));
            }
        };
        whole(value, 1.0).ok_or_else(|| {
            let message = format!("`repeat` is {value}, but must be a whole number from 1 to {MOST}");
            Complaint::other(message).at(&tree.range)
        })
    }

    /// A text with the values of indices: `$i`, and `{$i + 1}` with whole numbers.
    fn text(&self, text: &Text, tree: &Tree) -> Result<Text, Complaint> {
        let range = &tree.range;
        let Some(evaluate) = self.evaluate else {
            return Ok(text.clone());
        };
        if self.indices.is_empty() || !text.raw.contains(['$', '{']) {
            return Ok(text.clone());
        }
        let mut out = String::with_capacity(text.raw.len());
        let mut rest = text.raw.as_str();
        while let Some(at) = rest.find(['$', '{']) {
            out.push_str(&rest[..at]);
            let behind = &rest[at + 1..];
            if rest[at..].starts_with('{') {
                let Some((inside, after)) = behind.split_once('}') else {
                    break;
                };
                let value = evaluate(inside, &self.indices, prefix_of(tree))
                    .map_err(|error| complaint(error, range))?;
                let Some(value) = whole(value.abs(), 0.0).map(|_| value.round()) else {
                    let message = format!("`{{{inside}}}` is {value}, not a whole number");
                    return Err(Complaint::other(message).at(range));
                };
                out.push_str(&(value + 0.0).to_string());
                rest = after;
                continue;
            }
            let end = behind
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(behind.len());
            let (word, after) = behind.split_at(end);
            match self.indices.iter().rev().find(|(name, _)| name == word) {
                Some((_, value)) => out.push_str(&value.to_string()),
                None => {
                    out.push('$');
                    out.push_str(word);
                }
            }
            rest = after;
        }
        out.push_str(rest);
        Ok(Text {
            raw: out,
            ..text.clone()
        })
    }
}

fn prefix_of(tree: &Tree) -> &str {
    tree.prefix.as_deref().unwrap_or_default()
}

fn complaint(error: ExpressionError, range: &Range<usize>) -> Complaint {
    let complaint = Complaint::other(error.message).at(range);
    match &error.help {
        Some(help) => complaint.with_help(help),
        None => complaint,
    }
}

/// A whole number from `least` on, to rounding.
fn whole(value: f64, least: f64) -> Option<usize> {
    let rounded = value.round();
    let good = (value - rounded).abs() <= 1e-9 * rounded.max(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number between zero and the largest count"
    )]
    (good && rounded >= least && rounded <= MOST as f64).then_some(rounded as usize)
}

/// How many values a tree has.
fn size(tree: &Tree) -> usize {
    let of = |trees: &[Tree]| trees.iter().map(size).fold(1, usize::saturating_add);
    match &tree.content {
        Content::Text(text) => 1 + text.raw.len() / BYTES,
        Content::Kind(_, Some(inner)) => size(inner).saturating_add(1),
        Content::Tuple(items) | Content::List(items) => of(items),
        Content::Record(entries) | Content::Map(entries) => {
            let sizes = entries.iter().map(|entry| size(&entry.value));
            sizes.fold(1, usize::saturating_add)
        }
        _ => 1,
    }
}

/// The only entry of a map that is a kind with its value, in JSON.
fn kind_of(entries: &[Entry]) -> Option<&Entry> {
    match entries {
        [entry] if entry.key.starts_with(char::is_uppercase) => Some(entry),
        _ => None,
    }
}

/// The count and the value of `Repeat(count, value)`.
fn wrapped(item: &Tree) -> Result<Option<(&Tree, &Tree)>, Complaint> {
    let inner = match &item.content {
        Content::Kind(kind, inner) if kind == KIND => inner.as_deref(),
        Content::Map(entries) => match kind_of(entries) {
            Some(entry) if entry.key == KIND => Some(&entry.value),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    match inner.map(|inner| &inner.content) {
        Some(Content::Tuple(items) | Content::List(items)) if items.len() == 2 => {
            Ok(Some((&items[0], &items[1])))
        }
        _ => {
            let message = "expected `Repeat(count, entry)`, what is repeated behind how often";
            Err(Complaint::other(message).at(&item.range))
        }
    }
}

/// The keys of an entry, or of the kind that it is.
fn keys(item: &Tree) -> Option<&[Entry]> {
    match &item.content {
        Content::Record(entries) => Some(entries),
        Content::Kind(_, Some(inner)) => match &inner.content {
            Content::Record(entries) => Some(entries),
            _ => None,
        },
        Content::Map(entries) => match kind_of(entries) {
            Some(entry) => match &entry.value.content {
                Content::Map(entries) => Some(entries),
                _ => None,
            },
            None => Some(entries),
        },
        _ => None,
    }
}

/// Whether the schema has a `repeat` for it: bodies of a node and solids, by a number.
fn has_own(item: &Tree, key: Option<&str>, count: &Tree) -> bool {
    let is_number = matches!(count.content, Content::Number(_) | Content::Text(_));
    let kind = match &item.content {
        Content::Kind(kind, _) => Some(kind.as_str()),
        Content::Map(entries) => kind_of(entries).map(|entry| entry.key.as_str()),
        _ => None,
    };
    is_number && (kind == Some("Solid") || kind.is_none() && key == Some("bodies"))
}

/// Puts the count of a `repeat` of the schema back, which was copied with all indices.
fn replace_count(item: &mut Tree, count: Tree) {
    let entries = match &mut item.content {
        Content::Record(entries) => Some(entries),
        Content::Kind(_, Some(inner)) => match &mut inner.content {
            Content::Record(entries) => Some(entries),
            _ => None,
        },
        Content::Map(entries) => match entries.iter().any(|entry| entry.key == KEY) {
            true => Some(entries),
            false => entries
                .first_mut()
                .and_then(|entry| match &mut entry.value.content {
                    Content::Map(entries) => Some(entries),
                    _ => None,
                }),
        },
        _ => None,
    };
    let mut entries = entries.into_iter().flatten();
    if let Some(entry) = entries.find(|entry| entry.key == KEY) {
        entry.value = count;
    }
}

/// Refuses a name that all of several entries would have.
fn check_names(axes: &[(String, usize)], value: &Tree, total: usize) -> Result<(), Complaint> {
    let name = keys(value).and_then(|entries| entries.iter().find(|entry| entry.key == "name"));
    let Some(Tree {
        content: Content::Text(text),
        range,
        ..
    }) = name.map(|entry| &entry.value)
    else {
        return Ok(());
    };
    let uses = |name: &str| {
        let index = format!("${name}");
        let mut places = text.raw.match_indices(&index).map(|(at, _)| at);
        places.any(|at| {
            let behind = text.raw[at + 1 + name.len()..].chars().next();
            behind.is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
        })
    };
    let missing = axes.iter().find(|(name, count)| *count > 1 && !uses(name));
    match missing {
        Some((index, _)) if total > 1 => {
            let message = format!("`{}` is repeated, so each needs a name of its own", text.raw);
            let help = format!(
                "`name: \"{} ${index}\"`, in which `${index}` is 0, 1, ...",
                text.raw
            );
            Err(Complaint::other(message).with_help(&help).at(range))
        }
        _ => Ok(()),
    }
}
