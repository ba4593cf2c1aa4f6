//! The text of a scene file, and where in it the things are that the scene talks of.

use super::diagnostic::{Diagnostic, Place};
use std::ops::Range;
use std::path::Path;

/// What a complaint is about; where that is in the text is found by [`SourceText::find`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where<'a> {
    /// The value of a key, wherever it first stands: `step`.
    Key(&'a str),
    /// The name of a thing, as a string literal.
    Thing(&'a str),
    /// The value of a key of the thing of that name.
    Field(&'a str, &'a str),
    /// The value of a key beside that name, wherever it stands: of something that refers to a thing instead of having a name.
    Used(&'a str, &'a str),
    /// A string literal in the thing of that name, or anywhere.
    Literal(&'a str, &'a str),
}

/// A scene file as text.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    /// As the user gave it.
    pub(crate) file: String,
    pub(crate) text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A name or a number.
    Word,
    /// With its quotes.
    Text,
    Open,
    Close,
    Other(u8),
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    range: Range<usize>,
}

impl SourceText {
    pub(crate) fn new(path: &Path, text: String) -> Self {
        let tokens = tokens(&text);
        Self {
            file: path.display().to_string(),
            text,
            tokens,
        }
    }

    /// A complaint at a byte range.
    pub(crate) fn at(&self, range: Range<usize>, message: String, help: Option<String>) -> Diagnostic {
        Diagnostic {
            message,
            file: self.file.clone(),
            place: Some(Place::of(&self.text, range)),
            help,
        }
    }

    /// A complaint at the first of `places` that is found; without a place otherwise.
    pub(crate) fn about(&self, places: &[Where<'_>], message: String, help: Option<String>) -> Diagnostic {
        let place = places
            .iter()
            .find_map(|w| self.find(*w))
            .map(|range| Place::of(&self.text, range));
        Diagnostic {
            message,
            file: self.file.clone(),
            place,
            help,
        }
    }

    /// Where that is.
    pub(crate) fn find(&self, what: Where<'_>) -> Option<Range<usize>> {
        match what {
            Where::Key(key) => (0..self.tokens.len())
                .find(|i| self.is_key(*i, key))
                .map(|i| self.value(i)),
            Where::Thing(name) => self.thing(name).map(|i| self.tokens[i].range.clone()),
            Where::Field(name, key) => {
                let block = self.block(self.thing(name)?);
                block
                    .clone()
                    .find(|i| self.is_key(*i, key))
                    .map(|i| self.value(i))
            }
            Where::Used(name, key) => {
                let mut named = (0..self.tokens.len()).filter(|i| self.is_text(*i, name));
                let key = named.find_map(|i| self.block(i).find(|i| self.is_key(*i, key)))?;
                Some(self.value(key))
            }
            Where::Literal(name, text) => {
                let inside = self.thing(name).map(|i| self.block(i)).unwrap_or_default();
                let all = 0..self.tokens.len();
                let found = inside.chain(all).find(|i| self.is_text(*i, text))?;
                Some(self.tokens[found].range.clone())
            }
        }
    }

    /// The whole word or literal at a byte.
    pub(crate) fn token_at(&self, byte: usize) -> Option<Range<usize>> {
        self.tokens
            .iter()
            .map(|t| &t.range)
            .find(|r| r.contains(&byte))
            .cloned()
    }

    /// The last token that starts before a byte.
    pub(crate) fn token_before(&self, byte: usize) -> Option<Range<usize>> {
        self.tokens
            .iter()
            .map(|t| &t.range)
            .rfind(|r| r.start < byte)
            .cloned()
    }

    /// The word or text that ends last before a byte or at it.
    pub(crate) fn value_before(&self, byte: usize) -> Option<Range<usize>> {
        let value = |t: &&Token| matches!(t.kind, Kind::Word | Kind::Text) && t.range.end <= byte;
        self.tokens.iter().rfind(value).map(|t| t.range.clone())
    }

    /// The place of a word near a byte: the last one that starts before it, or else the first after.
    pub(crate) fn word_near(&self, word: &str, byte: usize) -> Option<Range<usize>> {
        let is_it = |r: &&Range<usize>| self.text[(*r).clone()].trim_matches('"') == word;
        let ranges = || self.tokens.iter().map(|t| &t.range);
        ranges()
            .rfind(|r| r.start <= byte && is_it(r))
            .or_else(|| ranges().find(is_it))
            .cloned()
    }

    /// The token of a name: after `name:`, or any literal of that text.
    fn thing(&self, name: &str) -> Option<usize> {
        let named = (2..self.tokens.len()).find(|i| self.is_text(*i, name) && self.is_key(i - 2, "name"));
        named.or_else(|| (0..self.tokens.len()).find(|i| self.is_text(*i, name)))
    }

    fn is_text(&self, i: usize, text: &str) -> bool {
        let token = &self.tokens[i];
        token.kind == Kind::Text
            && self.text[token.range.clone()]
                .trim_start_matches('r')
                .strip_prefix('"')
                .is_some_and(|t| t.strip_suffix('"').is_some_and(|t| t == text))
    }

    fn is_key(&self, i: usize, key: &str) -> bool {
        let token = &self.tokens[i];
        let follows = self
            .tokens
            .get(i + 1)
            .is_some_and(|t| t.kind == Kind::Other(b':'));
        follows
            && (self.is_text(i, key) || (token.kind == Kind::Word && self.text[token.range.clone()] == *key))
    }

    /// What follows `key:`, up to the comma or bracket that ends it.
    fn value(&self, key: usize) -> Range<usize> {
        let Some(first) = self.tokens.get(key + 2) else {
            return self.tokens[key].range.clone();
        };
        let (mut depth, mut end) = (0usize, first.range.end);
        for token in &self.tokens[key + 2..] {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => break,
                Kind::Close => depth -= 1,
                Kind::Other(b',') if depth == 0 => break,
                _ => {}
            }
            end = token.range.end;
        }
        first.range.start..end
    }

    /// The tokens of the innermost brackets around a token.
    fn block(&self, inside: usize) -> Range<usize> {
        let mut depth = 0usize;
        let start = (0..inside).rev().find(|i| match self.tokens[*i].kind {
            Kind::Close => {
                depth += 1;
                false
            }
            Kind::Open if depth > 0 => {
                depth -= 1;
                false
            }
            Kind::Open => true,
            _ => false,
        });
        let mut depth = 0usize;
        let end = (inside..self.tokens.len()).find(|i| match self.tokens[*i].kind {
            Kind::Open => {
                depth += 1;
                false
            }
            Kind::Close if depth > 0 => {
                depth -= 1;
                false
            }
            Kind::Close => true,
            _ => false,
        });
        start.unwrap_or(0)..end.unwrap_or(self.tokens.len())
    }
}

/// Splits RON or JSON into words, texts and punctuation, without comments. Takes any text.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at..].find("*/").map_or(text.len() - at, |end| end + 2);
                continue;
            }
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                Kind::Text
            }
            b'(' | b'[' | b'{' => {
                at += 1;
                Kind::Open
            }
            b')' | b']' | b'}' => {
                at += 1;
                Kind::Close
            }
            b if is_word(b) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                Kind::Word
            }
            b => {
                at += 1;
                Kind::Other(b)
            }
        };
        // A cut inside a character can only come from garbage; such a token is of no use.
        if text.is_char_boundary(start) && text.is_char_boundary(at) {
            tokens.push(Token {
                kind,
                range: start..at,
            });
        }
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'-' | b'.') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = r#"(
    run: (step: 0.01), // step: 5
    nodes: [
        Particles(name: "a", mass: -1.5),
        Particles(mass: (1, [2]), name: "b"),
        Mapped(name: "c", parents: ["b"]),
    ],
)"#;

    fn found(what: Where<'_>) -> Option<&'static str> {
        SourceText::new(Path::new("x"), SCENE.to_owned())
            .find(what)
            .map(|range| &SCENE[range])
    }

    #[test]
    fn finds_names_keys_and_fields() {
        assert_eq!(found(Where::Key("step")), Some("0.01"));
        assert_eq!(found(Where::Thing("b")), Some("\"b\""));
        assert_eq!(found(Where::Field("a", "mass")), Some("-1.5"));
        assert_eq!(found(Where::Field("b", "mass")), Some("(1, [2])"));
        assert_eq!(found(Where::Field("c", "mass")), None);
        assert_eq!(found(Where::Field("d", "mass")), None);
        assert_eq!(found(Where::Literal("c", "b")), Some("\"b\""));
    }

    #[test]
    fn json_keys_are_found_too() {
        let json = r#"{"nodes": [{"Particles": {"name": "a", "mass": 2}}]}"#;
        let text = SourceText::new(Path::new("x"), json.to_owned());
        assert_eq!(text.find(Where::Field("a", "mass")).map(|r| &json[r]), Some("2"));
    }
}
