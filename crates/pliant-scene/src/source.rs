//! The text of a scene file, and where in it the things are that the scene talks of.

use super::diagnostic::{Diagnostic, SourceSpan};
use std::ops::Range;
use std::path::Path;

/// The subject of a complaint; [`SourceText::find`] finds its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where<'a> {
    /// The value of a key, wherever it first stands: `step`.
    Key(&'a str),
    /// A name, as a string literal.
    Name(&'a str),
    /// The value of a key of the entry of that name.
    Field(&'a str, &'a str),
    /// An entry of the list that is the value of a key of the entry of that name.
    Item(&'a str, &'a str, usize),
    /// The value of a key beside that name, wherever it stands: of something that refers to a thing
    /// instead of having a name.
    Used(&'a str, &'a str),
    /// A string literal in the entry of that name, or anywhere.
    Literal(&'a str, &'a str),
    /// A string literal in an entry of the list that is the value of a key, wherever that first
    /// stands; the entry if there is no such literal in it.
    Listed(&'a str, usize, &'a str),
    /// A string literal, or else the value of a key, within the value of a key, wherever that first
    /// stands.
    Within(&'a str, &'a str),
}

/// The entry of the scene that is being read: things of different kinds may have one name, and a name
/// is looked for where it is read first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Home {
    /// The key of the list that it is in, such as `force_fields`; empty outside of all.
    pub(crate) list: &'static str,
    /// Its place in the list.
    pub(crate) index: Option<usize>,
    /// The key of a list in it, and the place in that, such as of a body of `bodies`.
    pub(crate) part: Option<(&'static str, usize)>,
}

/// A scene file as text, looked at from one of its entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    text: &'a SourceText,
    pub(crate) home: Home,
}

impl<'a> From<&'a SourceText> for Source<'a> {
    fn from(text: &'a SourceText) -> Self {
        let home = Home::default();
        Self { text, home }
    }
}

impl Source<'_> {
    /// Looks from an entry of a list within the present entry, such as a body of a node.
    pub(crate) fn in_part(self, list: &'static str, index: usize) -> Self {
        let part = Some((list, index));
        let home = Home { part, ..self.home };
        Self { home, ..self }
    }

    /// Finds the place of a subject.
    pub(crate) fn find(&self, what: Where<'_>) -> Option<Range<usize>> {
        self.text.find_from(what, self.home)
    }

    /// A complaint at the first of `places` that is found; without a place otherwise.
    pub(crate) fn about(&self, places: &[Where<'_>], message: String, help: Option<String>) -> Diagnostic {
        let place = places.iter().find_map(|w| self.find(*w));
        self.text.diagnostic(place, message, help)
    }

    /// A complaint at a byte range.
    pub(crate) fn at(&self, range: Range<usize>, message: String, help: Option<String>) -> Diagnostic {
        self.text.at(range, message, help)
    }

    /// Whether a text stands at a place as it is, between quotes.
    pub(crate) fn is_written(&self, place: &Range<usize>, text: &str) -> bool {
        self.text.is_written(place, text)
    }
}

/// A scene file as text.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    /// The path as the user gave it.
    pub(crate) file: String,
    /// The text of the scene, and those of the files that it includes, one after the other.
    pub(crate) text: String,
    /// The included files, in the order of their texts.
    parts: Vec<Part>,
    tokens: Vec<Token>,
}

/// The text of an included file.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Where it begins among all texts.
    pub(crate) start: usize,
    pub(crate) file: String,
    /// The entry that includes it.
    pub(crate) by: Range<usize>,
    /// The name of its instance; may be empty.
    pub(crate) name: String,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name or a number.
    Word,
    /// A text with its quotes.
    Text,
    Open,
    Close,
    Other(u8),
}

/// A word, a text or a mark, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
    /// Its meaning, where that is another than the word in the text: of a text without quotes.
    word: Option<Box<str>>,
}

impl Token {
    /// A token that means something else than the text at its place.
    pub(crate) fn meaning(kind: Kind, range: Range<usize>, word: &str) -> Self {
        Self {
            kind,
            range,
            word: Some(word.into()),
        }
    }
}

impl SourceText {
    pub(crate) fn new(path: &Path, text: String) -> Self {
        let tokens = tokens(&text);
        Self {
            file: path.display().to_string(),
            text,
            parts: Vec::new(),
            tokens,
        }
    }

    /// Adds the text of an included file, and returns its tokens.
    pub(crate) fn append(&mut self, text: &str, part: Part) -> Vec<Token> {
        self.text.push('\n');
        let start = self.text.len();
        self.text.push_str(text);
        self.parts.push(Part { start, ..part });
        let mut tokens = tokens(text);
        for token in &mut tokens {
            token.range = token.range.start + start..token.range.end + start;
        }
        tokens
    }

    /// Takes the tokens of the scene with all that it includes and repeats.
    pub(crate) fn set_tokens(&mut self, tokens: Vec<Token>) {
        self.tokens = tokens;
    }

    /// The text of the scene itself.
    pub(crate) fn own_text(&self) -> &str {
        let end = self.parts.first().map_or(self.text.len(), |part| part.start - 1);
        &self.text[..end]
    }

    /// The included file that holds a place, if it is not the scene itself.
    fn part(&self, at: usize) -> Option<usize> {
        self.parts.partition_point(|part| part.start <= at).checked_sub(1)
    }

    /// Name of a file, and where its text is.
    fn file_of(&self, part: Option<usize>) -> (&str, Range<usize>) {
        let next = part.map_or(0, |part| part.saturating_add(1));
        let end = self
            .parts
            .get(next)
            .map_or(self.text.len(), |next| next.start - 1);
        match part {
            Some(part) => (&self.parts[part].file, self.parts[part].start..end),
            None => (&self.file, 0..end),
        }
    }

    /// The line and column of a stretch of text.
    fn span(&self, range: &Range<usize>) -> SourceSpan {
        let (_, all) = self.file_of(self.part(range.start));
        let at = |place: usize| place.clamp(all.start, all.end) - all.start;
        SourceSpan::of(&self.text[all.clone()], at(range.start)..at(range.end))
    }

    fn diagnostic(&self, place: Option<Range<usize>>, message: String, help: Option<String>) -> Diagnostic {
        let mut part = place.as_ref().and_then(|range| self.part(range.start));
        let file = self.file_of(part).0.to_owned();
        let mut notes = Vec::new();
        while let Some(included) = part {
            let Part { by, name, .. } = &self.parts[included];
            part = self.part(by.start);
            let (file, line) = (self.file_of(part).0, self.span(by).line);
            let called = match name.as_str() {
                "" => String::new(),
                name => format!(" as `{name}`"),
            };
            notes.push(format!("included{called} by {file}, line {line}"));
        }
        Diagnostic {
            message,
            file,
            place: place.map(|range| self.span(&range)),
            help,
            notes,
        }
    }

    /// The word that a token means, a text without its quotes.
    fn word<'t>(&'t self, token: &'t Token) -> &'t str {
        if let Some(word) = &token.word {
            return word;
        }
        let word = &self.text[token.range.clone()];
        match token.kind {
            Kind::Text => {
                let inside = word.trim_start_matches('r').strip_prefix('"');
                inside.and_then(|t| t.strip_suffix('"')).unwrap_or(word)
            }
            _ => word,
        }
    }

    /// Whether a text stands at a place as it is, between quotes.
    pub(crate) fn is_written(&self, place: &Range<usize>, text: &str) -> bool {
        let written = self.text[place.clone()].strip_prefix('"');
        written.and_then(|t| t.strip_suffix('"')) == Some(text)
    }

    /// The text in words, texts and marks, without comments.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// A complaint at a byte range.
    pub(crate) fn at(&self, range: Range<usize>, message: String, help: Option<String>) -> Diagnostic {
        self.diagnostic(Some(range), message, help)
    }

    /// A complaint at the first of `places` that is found; without a place otherwise.
    pub(crate) fn about(&self, places: &[Where<'_>], message: String, help: Option<String>) -> Diagnostic {
        Source::from(self).about(places, message, help)
    }

    /// Finds the place of a subject.
    #[cfg(test)]
    pub(crate) fn find(&self, what: Where<'_>) -> Option<Range<usize>> {
        Source::from(self).find(what)
    }

    /// Finds the place of a subject that is looked for from an entry.
    fn find_from(&self, what: Where<'_>, home: Home) -> Option<Range<usize>> {
        match what {
            Where::Key(key) => (0..self.tokens.len())
                .find(|i| self.is_key(*i, key))
                .map(|i| self.value(i)),
            Where::Name(name) => {
                let named = self.named(name, home);
                named.first().map(|i| self.tokens[*i].range.clone())
            }
            Where::Field(name, key) => self
                .blocks(name, home)
                .find_map(|mut block| block.find(|i| self.is_key(*i, key)))
                .map(|i| self.value(i)),
            Where::Item(name, key, index) => self
                .blocks(name, home)
                .find_map(|mut block| self.item(block.find(|i| self.is_key(*i, key))?, index)),
            Where::Used(name, key) => {
                let near = self.scopes(home).into_iter().flatten();
                let mut named = near
                    .chain(0..self.tokens.len())
                    .filter(|i| self.is_text(*i, name));
                let key = named.find_map(|i| self.block(i).find(|i| self.is_key(*i, key)))?;
                Some(self.value(key))
            }
            Where::Literal(name, text) => {
                let inside = self.blocks(name, home).flatten();
                let all = 0..self.tokens.len();
                let found = inside.chain(all).find(|i| self.is_text(*i, text))?;
                Some(self.tokens[found].range.clone())
            }
            Where::Listed(key, index, text) => {
                let mut keys = (0..self.tokens.len()).filter(|i| self.is_key(*i, key));
                let (key, entry) = keys.find_map(|key| Some((key, self.item(key, index)?)))?;
                let within = |i: &usize| {
                    let range = &self.tokens[*i].range;
                    entry.start <= range.start && range.end <= entry.end
                };
                let inside = (key..self.tokens.len()).filter(within);
                let found = inside
                    .filter(|i| self.is_text(*i, text))
                    .map(|i| self.tokens[i].range.clone());
                Some(found.min_by_key(|range| range.start).unwrap_or(entry))
            }
            Where::Within(key, text) => {
                let whole = self.find_from(Where::Key(key), home)?;
                let within = |i: &usize| {
                    let range = &self.tokens[*i].range;
                    whole.start <= range.start && range.end <= whole.end
                };
                let mut inside = (0..self.tokens.len()).filter(within);
                let found = inside.find(|i| self.is_text(*i, text) || self.is_key(*i, text))?;
                Some(match self.is_key(found, text) && !self.is_text(found, text) {
                    true => self.value(found),
                    false => self.tokens[found].range.clone(),
                })
            }
        }
    }

    /// The tokens of a name: after `name:` in the entry that is looked from or in its list; else
    /// anywhere; else any literals of that text.
    fn named(&self, name: &str, home: Home) -> Vec<usize> {
        let is_name = |i: &usize| *i >= 2 && self.is_text(*i, name) && self.is_key(i - 2, "name");
        let near = self.scopes(home);
        for (k, scope) in near.iter().enumerate() {
            let found: Vec<usize> = scope.clone().filter(is_name).collect();
            if !found.is_empty() {
                return found;
            }
            // What has no name of its own is called by what it is on.
            let is_called = |i: &usize| {
                let on = *i >= 2 && self.is_text(*i, name) && self.is_key(i - 2, "node");
                on && !self.block(*i).any(|i| self.is_key(i, "name"))
            };
            if let (0, Some(_), Some(at)) = (k, home.index, scope.clone().find(is_called)) {
                return vec![at];
            }
        }
        let all = 0..self.tokens.len();
        let found: Vec<usize> = all.clone().filter(is_name).collect();
        match found.is_empty() {
            true => all.filter(|i| self.is_text(*i, name)).collect(),
            false => found,
        }
    }

    /// The tokens in which the keys of an entry of that name are looked for, the likeliest first.
    fn blocks(&self, name: &str, home: Home) -> impl Iterator<Item = Range<usize>> {
        let named = self.named(name, home);
        let entry = self.entry(home);
        let is_home = |entry: &Range<usize>| named.first().is_some_and(|i| entry.contains(i));
        let part = home
            .part
            .zip(entry.filter(is_home))
            .and_then(|((list, index), mut entry)| {
                let key = entry.find(|i| self.is_key(*i, list))?;
                self.item_tokens(key, index)
            });
        part.into_iter().chain(named.into_iter().map(|i| self.block(i)))
    }

    /// The tokens of the entry that is looked from, if it is known.
    fn entry(&self, home: Home) -> Option<Range<usize>> {
        self.item_tokens(self.top_key(home.list)?, home.index?)
    }

    /// The tokens of the entry that is looked from, and those of its list.
    fn scopes(&self, home: Home) -> Vec<Range<usize>> {
        let list = self.top_key(home.list).map(|key| self.value_tokens(key));
        self.entry(home).into_iter().chain(list).collect()
    }

    /// The token of a key of the scene itself.
    fn top_key(&self, key: &str) -> Option<usize> {
        if key.is_empty() {
            return None;
        }
        let mut depth = 0usize;
        (0..self.tokens.len()).find(|i| {
            match self.tokens[*i].kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 1 && self.is_key(*i, key)
        })
    }

    fn is_text(&self, i: usize, text: &str) -> bool {
        let token = &self.tokens[i];
        token.kind == Kind::Text && self.word(token) == text
    }

    fn is_key(&self, i: usize, key: &str) -> bool {
        let token = &self.tokens[i];
        let follows = self
            .tokens
            .get(i + 1)
            .is_some_and(|t| t.kind == Kind::Other(b':'));
        follows && (self.is_text(i, key) || (token.kind == Kind::Word && self.word(token) == key))
    }

    /// The value after `key:`, up to the comma or bracket that ends it.
    fn value(&self, key: usize) -> Range<usize> {
        let tokens = self.value_tokens(key);
        match (self.tokens.get(tokens.start), tokens.end.checked_sub(1)) {
            (Some(first), Some(last)) => first.range.start..self.tokens[last].range.end,
            _ => self.tokens[key].range.clone(),
        }
    }

    /// The tokens of the value after `key:`.
    fn value_tokens(&self, key: usize) -> Range<usize> {
        let first = key + 2;
        let (mut depth, mut end) = (0usize, first + 1);
        for (i, token) in self.tokens.iter().enumerate().skip(first) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => break,
                Kind::Close => depth -= 1,
                Kind::Other(b',') if depth == 0 => break,
                _ => {}
            }
            end = i + 1;
        }
        first.min(self.tokens.len())..end.min(self.tokens.len())
    }

    /// An entry of the list after `key:`, if the value is a list that has it.
    fn item(&self, key: usize, index: usize) -> Option<Range<usize>> {
        let tokens = self.item_tokens(key, index)?;
        let last = tokens.end.checked_sub(1)?;
        Some(self.tokens[tokens.start].range.start..self.tokens[last].range.end)
    }

    /// The tokens of an entry of the list after `key:`.
    fn item_tokens(&self, key: usize, index: usize) -> Option<Range<usize>> {
        let open = self.tokens.get(key + 2)?;
        if open.kind != Kind::Open || self.word(open) != "[" {
            return None;
        }
        let (mut depth, mut entry) = (0usize, 0);
        let mut found: Option<Range<usize>> = None;
        for (i, token) in self.tokens.iter().enumerate().skip(key + 3) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => break,
                Kind::Close => depth -= 1,
                Kind::Other(b',') if depth == 0 => {
                    entry += 1;
                    if entry > index {
                        break;
                    }
                    continue;
                }
                _ => {}
            }
            if entry == index {
                found = Some(found.map_or(i, |range| range.start)..i + 1);
            }
        }
        found
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

/// The most words, texts and marks of a scene, which take some hundred bytes each while it is read.
pub(crate) const MOST_TOKENS: usize = 16_000_000;

/// Splits RON or JSON into words, texts and punctuation, without comments. Takes any text, and ends
/// behind one token more than a scene may have.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() && tokens.len() <= MOST_TOKENS {
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
                at += comment(&bytes[at..]);
                continue;
            }
            b'r' if raw_text(&bytes[at..]).is_some() => {
                at += raw_text(&bytes[at..]).unwrap_or(1);
                Kind::Text
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
                word: None,
            });
        }
    }
    tokens
}

/// The length of a comment in `/*` and `*/`, which may hold others.
fn comment(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..(at + 2).min(bytes.len())] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// The length of a text like `r#"a"#`, if the bytes begin with one.
fn raw_text(bytes: &[u8]) -> Option<usize> {
    let marks = bytes[1..].iter().take_while(|b| **b == b'#').count();
    let inside = bytes[1 + marks..].strip_prefix(b"\"")?;
    let ends =
        |rest: &[u8]| rest.len() > marks && rest[0] == b'"' && rest[1..=marks].iter().all(|b| *b == b'#');
    let length = (0..inside.len()).find(|i| ends(&inside[*i..]));
    Some(length.map_or(bytes.len(), |length| length + 2 * marks + 3))
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
        Mapped(name: "e", rest: [1, (2, [3]), 4]),
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
        assert_eq!(found(Where::Name("b")), Some("\"b\""));
        assert_eq!(found(Where::Field("a", "mass")), Some("-1.5"));
        assert_eq!(found(Where::Field("b", "mass")), Some("(1, [2])"));
        assert_eq!(found(Where::Field("c", "mass")), None);
        assert_eq!(found(Where::Field("d", "mass")), None);
        assert_eq!(found(Where::Item("c", "parents", 0)), Some("\"b\""));
        assert_eq!(found(Where::Item("c", "parents", 1)), None);
        assert_eq!(found(Where::Item("e", "rest", 1)), Some("(2, [3])"));
        assert_eq!(found(Where::Item("a", "mass", 0)), None);
        assert_eq!(found(Where::Literal("c", "b")), Some("\"b\""));
        assert_eq!(found(Where::Listed("nodes", 2, "b")), Some("\"b\""));
        assert_eq!(found(Where::Listed("rest", 1, "b")), Some("(2, [3])"));
        assert_eq!(found(Where::Listed("rest", 3, "b")), None);
        assert_eq!(found(Where::Within("run", "step")), Some("0.01"));
        assert_eq!(found(Where::Within("nodes", "c")), Some("\"c\""));
        assert_eq!(found(Where::Within("run", "mass")), None);
    }

    /// A name that several entries share is found in the list that is read.
    #[test]
    fn names_are_those_of_the_kind_that_is_read() {
        const SHARED: &str = r#"(
    nodes: [Bodies(name: "a", bodies: [(mass: 1), (mass: 2)])],
    masses: [(name: "b", mass: 4), (on: "a", name: "a", mass: 3)],
    colliders: [Body(node: "a", mass: 5), Body(node: "a", mass: 6)],
)"#;
        let text = SourceText::new(Path::new("x"), SHARED.to_owned());
        let found = |list, index, part, what| {
            let home = Home { list, index, part };
            Source { text: &text, home }
                .find(what)
                .map(|range| &SHARED[range])
        };
        let mass = Where::Field("a", "mass");
        assert_eq!(found("nodes", Some(0), None, mass), Some("1"));
        assert_eq!(found("nodes", Some(0), Some(("bodies", 1)), mass), Some("2"));
        assert_eq!(found("masses", None, None, mass), Some("3"));
        assert_eq!(found("colliders", Some(1), None, mass), Some("6"));
        assert_eq!(
            found("colliders", Some(1), None, Where::Used("a", "mass")),
            Some("6")
        );
        assert_eq!(found("constraints", None, None, mass), Some("1"));
        assert_eq!(found("", None, None, Where::Field("b", "mass")), Some("4"));
    }

    #[test]
    fn json_keys_are_found_too() {
        let json = r#"{"nodes": [{"Particles": {"name": "a", "mass": 2}}]}"#;
        let text = SourceText::new(Path::new("x"), json.to_owned());
        assert_eq!(text.find(Where::Field("a", "mass")).map(|r| &json[r]), Some("2"));
    }
}
