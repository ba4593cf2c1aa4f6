//! A scene file as a tree of values.

use super::{Complaint, Format};
use crate::quantity::Bases;
use crate::source::{Kind, Token};
use serde_json::Value;
use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;
use std::sync::Arc;

/// Deeper nesting of brackets is refused. A scene needs about ten.
const DEEPEST: usize = 64;

/// A value, and the bytes of the text that it takes.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(super) content: Content,
    pub(super) range: Range<usize>,
    /// The prefix of names of the included file that it is in.
    pub(super) prefix: Option<Arc<str>>,
    /// The units of numbers without one in its file, if it says some.
    pub(super) bases: Option<Bases>,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// `null`.
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    /// `Kind`, or `Kind(..)` with what is in the brackets.
    Kind(String, Option<Box<Tree>>),
    /// `()`.
    Empty,
    /// `(a, b)`.
    Tuple(Vec<Tree>),
    /// `[a, b]`.
    List(Vec<Tree>),
    /// `(key: value)`.
    Record(Vec<Entry>),
    /// `{"key": value}`.
    Map(Vec<Entry>),
}

/// A text, as it is written and as it reads outside of the file that it is in.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) raw: String,
    /// The file, by its place among all; 0 is the scene itself.
    pub(super) scope: usize,
    /// Its meanings in the scene, if it is in an included file.
    pub(super) scoped: Option<Box<Scoped>>,
}

/// The meanings that a text of an included file may have in the scene.
#[derive(Clone, Debug)]
pub(super) struct Scoped {
    pub(super) name: String,
    pub(super) expression: String,
    pub(super) parameter: String,
    pub(super) file: String,
}

impl Text {
    pub(super) fn new(raw: String) -> Self {
        Self {
            raw,
            scope: 0,
            scoped: None,
        }
    }

    /// The text as the name of a thing.
    pub(super) fn as_name(&self) -> &str {
        self.scoped.as_ref().map_or(&self.raw, |scoped| &scoped.name)
    }

    /// The text as an expression.
    pub(super) fn as_expression(&self) -> &str {
        self.scoped
            .as_ref()
            .map_or(&self.raw, |scoped| &scoped.expression)
    }

    /// The text as the name of a parameter.
    pub(super) fn as_parameter(&self) -> &str {
        self.scoped.as_ref().map_or(&self.raw, |scoped| &scoped.parameter)
    }

    /// The text as the path of a file, relative to the scene.
    pub(super) fn as_file(&self) -> &str {
        self.scoped.as_ref().map_or(&self.raw, |scoped| &scoped.file)
    }

    /// The text as the name of a thing, if there is such a thing, and else as an expression.
    pub(super) fn as_either(&self) -> &str {
        match &self.scoped {
            Some(scoped) if scoped.name != self.raw && !self.raw.contains('*') => &scoped.name,
            _ => self.as_expression(),
        }
    }
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_range: Range<usize>,
    pub(super) value: Tree,
}

impl Entry {
    /// The key without its value.
    pub(super) fn bare(&self) -> Self {
        let nothing = Tree {
            content: Content::Null,
            range: self.key_range.clone(),
            prefix: None,
            bases: None,
        };
        Self {
            key: self.key.clone(),
            key_range: self.key_range.clone(),
            value: nothing,
        }
    }
}

impl Tree {
    /// Reads these tokens of a text, all of its last file.
    pub(crate) fn read(text: &str, tokens: &[Token], format: Format) -> Result<Self, Complaint> {
        let mut parser = Parser {
            text,
            format,
            tokens: tokens.iter().peekable(),
            depth: 0,
        };
        let tree = parser.value()?;
        match parser.tokens.next() {
            None => Ok(tree),
            Some(token) => Err(parser.unexpected(token, "the end of the scene")),
        }
    }
}

impl Tree {
    /// Leaves out `"$schema"` at the top of a file in JSON, by which editors find the JSON Schema
    /// of the file.
    pub(crate) fn leave_out_schema(&mut self, format: Format) -> Result<(), Complaint> {
        let (Format::Json, Content::Map(entries)) = (format, &mut self.content) else {
            return Ok(());
        };
        let Some(at) = entries.iter().position(|entry| entry.key == "$schema") else {
            return Ok(());
        };
        let entry = entries.remove(at);
        match entry.value.content {
            Content::Text(_) => Ok(()),
            _ => {
                let message = "`$schema` is no text: it names the JSON Schema of the file".to_owned();
                Err(Complaint::other(message).at(&entry.value.range))
            }
        }
    }

    /// The same value as JSON has it.
    pub(crate) fn to_json(&self) -> Value {
        let list = |items: &[Self]| Value::Array(items.iter().map(Self::to_json).collect());
        let entries = |entries: &[Entry]| {
            let all = entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.to_json()));
            Value::Object(all.collect())
        };
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::from(*value),
            Content::Number(value) => Value::from(*value),
            Content::Text(text) => Value::from(text.raw.as_str()),
            Content::Kind(kind, None) => Value::from(kind.as_str()),
            Content::Kind(kind, Some(inner)) => {
                // One value alone stands for itself.
                let inner = match &inner.content {
                    Content::Tuple(items) if items.len() == 1 => items[0].to_json(),
                    _ => inner.to_json(),
                };
                match kind.as_str() {
                    "Some" => inner,
                    _ => Value::Object([(kind.clone(), inner)].into_iter().collect()),
                }
            }
            Content::Empty => Value::Object(serde_json::Map::new()),
            Content::Tuple(items) | Content::List(items) => list(items),
            Content::Record(all) | Content::Map(all) => entries(all),
        }
    }

    /// Puts all that it holds into a scope, whose names have a prefix.
    pub(crate) fn enter(&mut self, scope: usize, prefix: &Arc<str>) {
        self.prefix = Some(Arc::clone(prefix));
        match &mut self.content {
            Content::Text(text) => text.scope = scope,
            Content::Kind(_, Some(inner)) => inner.enter(scope, prefix),
            Content::Tuple(items) | Content::List(items) => {
                items.iter_mut().for_each(|item| item.enter(scope, prefix));
            }
            Content::Record(entries) | Content::Map(entries) => {
                let values = entries.iter_mut().map(|entry| &mut entry.value);
                values.for_each(|value| value.enter(scope, prefix));
            }
            _ => {}
        }
    }

    /// Gives units to all numbers in it.
    pub(super) fn reckon_in(&mut self, bases: Bases) {
        self.bases = Some(bases);
        match &mut self.content {
            Content::Kind(_, Some(inner)) => inner.reckon_in(bases),
            Content::Tuple(items) | Content::List(items) => {
                items.iter_mut().for_each(|item| item.reckon_in(bases));
            }
            Content::Record(entries) | Content::Map(entries) => {
                let values = entries.iter_mut().map(|entry| &mut entry.value);
                values.for_each(|value| value.reckon_in(bases));
            }
            _ => {}
        }
    }

    /// The words, texts and marks of the tree, each with its place in the files that it is from.
    pub(crate) fn tokens(&self) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.flatten(&mut tokens);
        tokens
    }

    fn flatten(&self, out: &mut Vec<Token>) {
        let (start, end) = (self.range.start, self.range.end);
        let mark = |kind, range: Range<usize>, word: &str| Token::meaning(kind, range, word);
        let first = start..(start + 1).min(end.max(start));
        let last = end.saturating_sub(1).max(start)..end.max(start);
        let mut all = |open: &str, close: &str, inside: &mut dyn FnMut(&mut Vec<Token>)| {
            out.push(mark(Kind::Open, first.clone(), open));
            inside(out);
            out.push(mark(Kind::Close, last.clone(), close));
        };
        let comma = || mark(Kind::Other(b','), last.clone(), ",");
        let listed = |items: &[Self], out: &mut Vec<Token>| {
            for item in items {
                item.flatten(out);
                out.push(comma());
            }
        };
        let keyed = |entries: &[Entry], kind: Kind, out: &mut Vec<Token>| {
            for entry in entries {
                let range = entry.key_range.clone();
                out.push(mark(kind, range.clone(), &entry.key));
                out.push(mark(Kind::Other(b':'), range, ":"));
                entry.value.flatten(out);
                out.push(comma());
            }
        };
        match &self.content {
            Content::Null | Content::Bool(_) | Content::Number(_) => {
                out.push(mark(Kind::Word, self.range.clone(), ""));
            }
            Content::Text(text) => out.push(mark(Kind::Text, self.range.clone(), text.as_either())),
            Content::Kind(kind, inner) => {
                out.push(mark(Kind::Word, start..start + kind.len(), kind));
                if let Some(inner) = inner {
                    inner.flatten(out);
                }
            }
            Content::Empty => all("(", ")", &mut |_| {}),
            Content::Tuple(items) => all("(", ")", &mut |out| listed(items, out)),
            Content::List(items) => all("[", "]", &mut |out| listed(items, out)),
            Content::Record(entries) => all("(", ")", &mut |out| keyed(entries, Kind::Word, out)),
            Content::Map(entries) => all("{", "}", &mut |out| keyed(entries, Kind::Text, out)),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    format: Format,
    tokens: Peekable<Iter<'a, Token>>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Result<&'a Token, Complaint> {
        let end = self.text.len();
        self.tokens.next().ok_or_else(|| {
            Complaint::other("the scene ends too early")
                .with_help("is there a closing bracket missing?")
                .at(&(end..end))
        })
    }

    /// The next token, if it is that one.
    fn next_if(&mut self, wanted: &str) -> Option<&'a Token> {
        let text = self.text;
        self.tokens.next_if(|token| text[token.range.clone()] == *wanted)
    }

    fn unexpected(&self, token: &Token, expected: &str) -> Complaint {
        let found = &self.text[token.range.clone()];
        let complaint = Complaint::other(format!("expected {expected}, found `{found}`"));
        let before = self.text[..token.range.start].trim_end();
        let is_unit =
            found.starts_with(char::is_alphabetic) && before.ends_with(|c: char| c.is_ascii_digit());
        match (found, is_unit) {
            ("$", _) => complaint.with_help("parameters stand in quotes, as in \"2 * $length\""),
            (_, true) => complaint.with_help("numbers with units stand in quotes, as in \"60 deg\""),
            _ => complaint,
        }
        .at(&token.range)
    }

    fn value(&mut self) -> Result<Tree, Complaint> {
        let token = self.next()?;
        let start = token.range.start;
        let mut end = token.range.end;
        let text = self.text;
        let word = &text[token.range.clone()];
        let content = match token.kind {
            Kind::Text => Content::Text(Text::new(unquoted(word).map_err(|e| e.at(&token.range))?)),
            Kind::Word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => match word {
                "true" => Content::Bool(true),
                "false" => Content::Bool(false),
                "null" => Content::Null,
                _ if self.format == Format::Json => return Err(self.unexpected(token, "a value")),
                "inf" => Content::Number(f64::INFINITY),
                "NaN" => Content::Number(f64::NAN),
                kind => {
                    let inner = match self.next_if("(") {
                        Some(open) => Some(Box::new(self.brackets(open)?)),
                        None => None,
                    };
                    end = inner.as_ref().map_or(end, |inner| inner.range.end);
                    Content::Kind(kind.to_owned(), inner)
                }
            },
            Kind::Word => match number(word) {
                Some(value) => Content::Number(value),
                None => return Err(self.unexpected(token, "a value")),
            },
            Kind::Open => return self.brackets(token),
            Kind::Close | Kind::Other(_) => return Err(self.unexpected(token, "a value")),
        };
        Ok(Tree {
            content,
            range: start..end,
            prefix: None,
            bases: None,
        })
    }

    /// Reads on from an opening bracket up to the closing one.
    fn brackets(&mut self, open: &Token) -> Result<Tree, Complaint> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Complaint::other("brackets are nested too deeply for a scene").at(&open.range));
        }
        let (close, mut content) = match &self.text[open.range.clone()] {
            "(" if self.format == Format::Json => return Err(self.unexpected(open, "a value")),
            "(" => (")", self.in_round_brackets()),
            "[" => ("]", Content::List(Vec::new())),
            _ => ("}", Content::Map(Vec::new())),
        };
        let end = loop {
            if let Some(token) = self.next_if(close) {
                break token.range.end;
            }
            match &mut content {
                Content::Record(entries) => entries.push(self.entry(Kind::Word)?),
                Content::Map(entries) => entries.push(self.entry(Kind::Text)?),
                Content::Tuple(items) | Content::List(items) => items.push(self.value()?),
                _ => {}
            }
            if self.next_if(",").is_none() {
                let token = self.next()?;
                if self.text[token.range.clone()] != *close {
                    return Err(self.unexpected(token, &format!("`,` or `{close}`")));
                }
                break token.range.end;
            }
        };
        self.depth -= 1;
        Ok(Tree {
            content,
            range: open.range.start..end,
            prefix: None,
            bases: None,
        })
    }

    /// The content, still empty, that the next two tokens begin.
    fn in_round_brackets(&self) -> Content {
        let mut ahead = self.tokens.clone();
        let first = ahead.next().map(|token| &token.kind);
        let second = ahead.next().map(|token| &token.kind);
        match (first, second) {
            (Some(Kind::Close), _) => Content::Empty,
            (Some(Kind::Word), Some(Kind::Other(b':'))) => Content::Record(Vec::new()),
            _ => Content::Tuple(Vec::new()),
        }
    }

    /// A key of that kind of token, and its value.
    fn entry(&mut self, kind: Kind) -> Result<Entry, Complaint> {
        let token = self.next()?;
        let word = &self.text[token.range.clone()];
        let key = match token.kind {
            found if found != kind => return Err(self.unexpected(token, "a key")),
            Kind::Text => unquoted(word).map_err(|e| e.at(&token.range))?,
            _ => word.to_owned(),
        };
        let colon = self.next()?;
        if colon.kind != Kind::Other(b':') {
            return Err(self.unexpected(colon, "`:` after the key"));
        }
        Ok(Entry {
            key,
            key_range: token.range.clone(),
            value: self.value()?,
        })
    }
}

/// The value of a number as it is written.
fn number(word: &str) -> Option<f64> {
    let word = word.replace('_', "");
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, word.strip_prefix('+').unwrap_or(&word)),
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return u64::from_str_radix(digits, radix).ok().map(|n| sign * n as f64);
        }
    }
    word.parse().ok()
}

/// A text without its quotes and escapes.
fn unquoted(literal: &str) -> Result<String, Complaint> {
    let open = || Complaint::other("the text has no closing quote");
    if let Some(raw) = literal.strip_prefix('r') {
        let inside = raw.trim_start_matches('#').strip_prefix('"').unwrap_or_default();
        let marks = raw.len() - raw.trim_start_matches('#').len();
        let close = format!("\"{}", "#".repeat(marks));
        return inside.strip_suffix(&close).map(str::to_owned).ok_or_else(open);
    }
    let inside = literal.strip_prefix('"').unwrap_or_default();
    let mut text = String::with_capacity(inside.len());
    let mut characters = inside.chars();
    loop {
        match characters.next().ok_or_else(open)? {
            '"' => return Ok(text),
            '\\' => match characters.next().ok_or_else(open)? {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'b' => text.push('\u{8}'),
                'f' => text.push('\u{c}'),
                '0' => text.push('\0'),
                'u' => text.push(unicode(&mut characters)?),
                '\n' => characters = characters.as_str().trim_start().chars(),
                c @ ('"' | '\'' | '\\' | '/') => text.push(c),
                c => return Err(Complaint::other(format!("unknown escape `\\{c}` in a text"))),
            },
            c => text.push(c),
        }
    }
}

/// The character of `\u{1F600}`, `\u00e4` or a pair `\ud83d\ude00`, after the `u`.
fn unicode(characters: &mut std::str::Chars<'_>) -> Result<char, Complaint> {
    fn four(characters: &mut std::str::Chars<'_>) -> Option<u32> {
        let digits = characters.as_str().get(..4)?;
        *characters = characters.as_str()[4..].chars();
        u32::from_str_radix(digits, 16).ok()
    }
    let code = if let Some(rest) = characters.as_str().strip_prefix('{') {
        rest.split_once('}').and_then(|(digits, rest)| {
            *characters = rest.chars();
            u32::from_str_radix(digits, 16).ok()
        })
    } else {
        four(characters).and_then(|high| {
            if !(0xd800..0xdc00).contains(&high) {
                return Some(high);
            }
            *characters = characters.as_str().strip_prefix("\\u")?.chars();
            let low = four(characters)?.checked_sub(0xdc00)?;
            Some(0x10000 + ((high - 0xd800) << 10) + low)
        })
    };
    code.and_then(char::from_u32)
        .ok_or_else(|| Complaint::other("an escape `\\u` in a text is no character"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceText;
    use std::path::Path;

    fn read(text: &str) -> Result<Tree, String> {
        let source = SourceText::new(Path::new("x"), text.to_owned());
        Tree::read(text, source.tokens(), Format::Ron).map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_are_those_of_both_notations() {
        for (text, value) in [
            ("1", 1.0),
            ("-0.5e-3", -0.5e-3),
            (".5", 0.5),
            ("1_000", 1000.0),
            ("+2.", 2.0),
            ("0x1F", 31.0),
            ("-inf", f64::NEG_INFINITY),
            ("inf", f64::INFINITY),
            ("18446744073709551616", 18_446_744_073_709_551_616.0),
        ] {
            let Content::Number(found) = read(text).unwrap().content else {
                panic!("{text}");
            };
            assert_eq!(found.to_bits(), f64::to_bits(value), "{text}");
        }
        assert!(read("1.2.3").is_err() && read("- 1").is_err());
    }

    #[test]
    fn texts_are_those_of_both_notations() {
        for (text, value) in [
            (r#""a \"b\" \\ \n""#, "a \"b\" \\ \n"),
            (r#""\u00e4 \u{1F600} \ud83d\ude00""#, "ä 😀 😀"),
            (r##"r#"a "b" \n"#"##, r#"a "b" \n"#),
        ] {
            let Content::Text(found) = read(text).unwrap().content else {
                panic!("{text}");
            };
            assert_eq!(found.raw, value);
        }
        for text in ["\"a", "\"\\x\"", "\"\\ud83d\"", "\"\\u12\"", "r#\"a\"", "\"\\"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn brackets_end_as_they_begin() {
        for text in [
            "(a: 1, b: [2, (3, 4),], c: K(5)) // end",
            "{\"a\": null}",
            "K",
            "()",
            "(/* a /* b */ c */ 1)",
        ] {
            assert!(read(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "(",
            "(1]",
            "(a: 1 b: 2)",
            "(a: )",
            "{a 1}",
            "1 2",
            ",",
            "(1, a: 2)",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
