//! Names of included files: `tip` of the instance `left` is `left.tip` outside of it.
//!
//! A name that a file has itself gets the prefix of its instance; any other is one of the file that
//! includes it.

use super::tree::{Content, Scoped};
use super::{Complaint, Tree};
use crate::signal::{COMMAND, OUTPUT, READING};
use std::collections::BTreeSet;

/// Bytes of all names with their prefixes.
const MOST: usize = 1 << 28;
/// Bytes of a name that gets a prefix.
const LONGEST: usize = 1000;

/// The place of a file among those that include it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The scope of the file that includes it; none of the scene itself.
    pub(crate) outer: Option<usize>,
    /// The beginning of its names outside: `left.`.
    pub(crate) prefix: String,
    /// Its directory, relative to that of the scene, with a `/` at the end unless it is the same.
    pub(crate) folder: String,
}

/// All names of a scene, with their prefixes.
struct Names<'a> {
    scopes: &'a [Scope],
    things: BTreeSet<String>,
    parameters: BTreeSet<String>,
    /// Bytes of all names in the scene so far.
    written: usize,
}

/// Gives every text of an included file the names that it has outside.
///
/// # Errors
/// Names that make the scene longer than it may be.
pub(crate) fn resolve(trees: &mut [&mut Tree], scopes: &[Scope]) -> Result<(), Complaint> {
    if scopes.len() < 2 {
        return Ok(());
    }
    let mut names = Names {
        scopes,
        things: BTreeSet::new(),
        parameters: BTreeSet::new(),
        written: 0,
    };
    // The others are entries of `include`, whose names are no things.
    for tree in trees.iter().take(1) {
        if let Content::Record(entries) | Content::Map(entries) = &tree.content {
            for entry in entries {
                if let ("sensors" | "actuators", Content::List(list)) =
                    (entry.key.as_str(), &entry.value.content)
                {
                    list.iter().for_each(|item| names.signals(item));
                }
                let keys = match &entry.value.content {
                    Content::Map(keys) => keys.iter().map(|key| key.key.clone()),
                    _ => continue,
                };
                match entry.key.as_str() {
                    "parameters" => names.parameters.extend(keys),
                    "groups" => names.things.extend(keys),
                    _ => {}
                }
            }
        }
        names.collect(tree);
    }
    trees.iter_mut().try_for_each(|tree| names.put(tree))
}

impl Names<'_> {
    /// Takes all texts of keys `name`.
    fn collect(&mut self, tree: &Tree) {
        match &tree.content {
            Content::Kind(_, Some(inner)) => self.collect(inner),
            Content::Tuple(items) | Content::List(items) => items.iter().for_each(|item| self.collect(item)),
            Content::Record(entries) | Content::Map(entries) => {
                for entry in entries {
                    if let (Content::Text(text), "name") = (&entry.value.content, entry.key.as_str()) {
                        let prefix = &self.scopes[text.scope].prefix;
                        self.things.insert(format!("{prefix}{}", text.raw));
                    }
                    self.collect(&entry.value);
                }
            }
            _ => {}
        }
    }

    /// Takes the signals of a sensor or an actuator, which expressions name as parameters.
    fn signals(&mut self, item: &Tree) {
        let Content::Record(keys) = &item.content else {
            return;
        };
        for key in keys.iter().filter(|key| key.key == "name") {
            if let Content::Text(text) = &key.value.content {
                let whole = format!("{}{}", self.scopes[text.scope].prefix, text.raw);
                let signals = [READING, COMMAND, OUTPUT].map(|signal| format!("{whole}.{signal}"));
                self.parameters.extend(signals);
            }
        }
    }

    fn put(&mut self, tree: &mut Tree) -> Result<(), Complaint> {
        match &mut tree.content {
            Content::Text(text) if text.scope != 0 => {
                let scoped = Box::new(Scoped {
                    name: self.name(&text.raw, text.scope),
                    expression: self.expression(&text.raw, text.scope),
                    parameter: self.parameter(&text.raw, text.scope),
                    file: format!("{}{}", self.scopes[text.scope].folder, text.raw),
                });
                let Scoped {
                    name,
                    expression,
                    parameter,
                    file,
                } = &*scoped;
                let bytes = [name, expression, parameter, file].map(String::len);
                self.written = bytes.into_iter().fold(self.written, usize::saturating_add);
                if self.written > MOST {
                    let message = "with their prefixes, the names of included files are too long";
                    return Err(Complaint::other(message).at(&tree.range));
                }
                text.scoped = Some(scoped);
            }
            Content::Kind(_, Some(inner)) => self.put(inner)?,
            Content::Tuple(items) | Content::List(items) => {
                items.iter_mut().try_for_each(|item| self.put(item))?;
            }
            Content::Record(entries) | Content::Map(entries) => {
                let mut values = entries.iter_mut().map(|entry| &mut entry.value);
                values.try_for_each(|value| self.put(value))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The prefix of the innermost scope from which something is found on.
    fn prefix(&self, scope: usize, found: impl Fn(&str) -> bool) -> &str {
        let mut at = Some(scope);
        while let Some(scope) = at {
            let Scope { outer, prefix, .. } = &self.scopes[scope];
            if found(prefix) {
                return prefix;
            }
            at = *outer;
        }
        ""
    }

    /// Whether there is a thing of a name behind a prefix, or one that the name is a part or an
    /// element of.
    fn has(&self, prefix: &str, name: &str) -> bool {
        if name.len() > LONGEST {
            return false;
        }
        let ends = name.match_indices(['.', ' ']).take(32).map(|(end, _)| end);
        let mut ends = ends.chain([name.len()]);
        ends.any(|end| self.things.contains(&format!("{prefix}{}", &name[..end])))
    }

    fn name(&self, raw: &str, scope: usize) -> String {
        // A pattern means things of its own file.
        if raw.contains('*') {
            return format!("{}{raw}", self.scopes[scope].prefix);
        }
        let prefix = self.prefix(scope, |prefix| self.has(prefix, raw));
        format!("{prefix}{raw}")
    }

    fn parameter(&self, raw: &str, scope: usize) -> String {
        let prefix = self.prefix(scope, |prefix| {
            self.parameters.contains(&format!("{prefix}{raw}"))
        });
        format!("{prefix}{raw}")
    }

    /// An expression with the parameters and the names of things in it.
    fn expression(&self, raw: &str, scope: usize) -> String {
        let mut out = String::with_capacity(raw.len());
        let mut at = 0;
        // What is longer is refused.
        while let Some(c) = raw[at..].chars().next().filter(|_| out.len() <= MOST) {
            let start = at;
            if c == '$' {
                at = dotted(raw, at + 1);
                out.push('$');
                out.push_str(&self.parameter(&raw[start + 1..at], scope));
            } else if c.is_alphabetic() || c == '_' || c == '\'' {
                let (end, parts) = reference(raw, at);
                at = end.max(at + c.len_utf8());
                if !raw[at..].trim_start().starts_with('(') {
                    let known = |prefix: &str| self.has_part(prefix, &parts);
                    out.push_str(self.prefix(scope, known));
                }
                out.push_str(&raw[start..at]);
            } else if c.is_ascii_digit() {
                at = number(raw, at);
                out.push_str(&raw[start..at]);
            } else {
                at += c.len_utf8();
                out.push(c);
            }
        }
        out
    }

    /// Whether the first of several parts, or some of them together, are a thing.
    fn has_part(&self, prefix: &str, parts: &[&str]) -> bool {
        let mut name = prefix.to_owned();
        for (k, part) in parts.iter().enumerate() {
            if k > 0 {
                name.push('.');
            }
            name.push_str(part);
            if name.len() > LONGEST {
                return false;
            }
            if self.things.contains(&name) {
                return true;
            }
        }
        false
    }
}

/// The end of letters, digits and underscores, and of more of them behind single dots.
fn dotted(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let rest = &text[at..];
        at += rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let mut behind = text[at..].chars();
        if behind.next() != Some('.') || !behind.next().is_some_and(|c| c.is_alphabetic() || c == '_') {
            return at;
        }
        at += 1;
    }
}

/// The end of a number, with its exponent.
fn number(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        let sign_of_exponent = matches!(bytes[at], b'+' | b'-')
            && matches!(bytes[at - 1], b'e' | b'E')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let exponent = matches!(bytes[at], b'e' | b'E')
            && bytes
                .get(at + 1)
                .is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'));
        if !(bytes[at].is_ascii_digit() || bytes[at] == b'.' || exponent || sign_of_exponent && at > start) {
            break;
        }
        at += 1;
    }
    at
}

/// The end of a name with its dots, as expressions name things, and its parts.
fn reference(text: &str, start: usize) -> (usize, Vec<&str>) {
    let (mut at, mut parts) = (start, Vec::new());
    loop {
        let rest = &text[at..];
        if let Some(inside) = rest.strip_prefix('\'') {
            let Some(end) = inside.find('\'') else {
                return (text.len(), parts);
            };
            parts.push(&inside[..end]);
            at += end + 2;
        } else {
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            parts.push(&rest[..end]);
            at += end;
        }
        let mut behind = text[at..].chars();
        let follows = behind.next() == Some('.')
            && behind
                .next()
                .is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '\''));
        if !follows {
            return (at, parts);
        }
        at += 1;
    }
}
