//! The items of a Rust file with their documentation: what a scan for brackets can tell without a parser.

use std::ops::Range;

use crate::rust_text::{code_only, find_word};

/// A source file with its code apart from comments and strings; both have the same byte offsets.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    text: &'a str,
    code: String,
}

/// An item, a variant of an enum or a field: what stands before its body, and its documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Code up to the body, on one line.
    pub(super) header: String,
    /// Documentation, line by line.
    pub(super) doc: Vec<String>,
    /// Line of the header, from 1.
    pub(super) line: usize,
    /// Inside of the braces; empty if there are none.
    pub(super) body: Range<usize>,
}

/// What ends an item of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// A brace or a semicolon: items of a file, of an `impl`.
    Item,
    /// A comma: variants, fields.
    Comma,
}

impl<'a> Source<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        Self {
            path,
            text,
            code: code_only(text),
        }
    }

    /// Code between two offsets, without comments and strings.
    pub(super) fn code(&self, range: &Range<usize>) -> &str {
        &self.code[range.clone()]
    }

    /// Text between two offsets.
    pub(super) fn text(&self, range: &Range<usize>) -> &'a str {
        &self.text[range.clone()]
    }

    /// The parts between the commas of a list, brackets kept together.
    pub(super) fn parts(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = range.start;
        while let Some(start) = self.start_after(at..range.end) {
            let (_, end) = self.extent(start..range.end, Ends::Comma);
            found.push(start..self.code[..end].trim_end_matches([',', ' ', '\n']).len());
            at = end;
        }
        found
    }

    /// The arms of matches over an enum, given with its `::`: the variant and the code behind the arrow.
    pub(super) fn arms(&self, of: &str) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices(of) {
            let name = word_at(&self.code[at + of.len()..]);
            let Some(arrow) = self.code[at..].find("=>") else {
                continue;
            };
            // Only behind the pattern itself: neither another pattern nor a statement between.
            if self.code[at + of.len()..at + arrow].contains([';', '|']) {
                continue;
            }
            let start = at + arrow + 2;
            let rest = &self.code[start..];
            let first = start + rest.len() - rest.trim_start().len();
            let end = if self.code[first..].starts_with('{') {
                self.closing(first..self.code.len()).unwrap_or(self.code.len())
            } else {
                self.extent(first..self.code.len(), Ends::Comma).1
            };
            found.push((name, &self.code[first..end]));
        }
        found
    }

    /// The inside of the first pair of brackets of this kind behind `from`.
    pub(super) fn inside(&self, range: &Range<usize>, from: &str, open: char) -> Option<Range<usize>> {
        let at = range.start + self.code[range.clone()].find(from)? + from.len();
        let start = at + self.code[at..range.end].find(open)?;
        Some(start + 1..self.closing(start..range.end)?)
    }

    /// The items of the file, without those of tests.
    pub(super) fn items(&self) -> Vec<Item> {
        self.list(0..self.code.len(), Ends::Item)
    }

    /// The items in the body of an `impl` or a module, without those of tests.
    pub(super) fn items_in(&self, body: &Range<usize>) -> Vec<Item> {
        self.list(body.clone(), Ends::Item)
    }

    /// The variants of an enum, or the fields between braces.
    pub(super) fn entries_in(&self, body: &Range<usize>) -> Vec<Item> {
        self.list(body.clone(), Ends::Comma)
    }

    fn list(&self, range: Range<usize>, ends: Ends) -> Vec<Item> {
        let mut found = Vec::new();
        let mut at = range.start;
        while let Some(start) = self.start_after(at..range.end) {
            let gap = at..start;
            let (body, end) = self.extent(start..range.end, ends);
            let header_end = if body.is_empty() { end } else { body.start - 1 };
            let is_test = ["#[cfg(test)]", "#[cfg(all(test"]
                .iter()
                .any(|attribute| self.code[gap.clone()].contains(attribute));
            if !is_test {
                found.push(Item {
                    header: one_line(self.code[start..header_end].trim_end_matches([';', ',', '{', '}'])),
                    doc: doc_lines(&self.text[gap]),
                    line: self.text[..start].matches('\n').count() + 1,
                    body,
                });
            }
            at = end;
        }
        found
    }

    /// Where the next item begins, behind white space, attributes and the separators that the last one left.
    fn start_after(&self, range: Range<usize>) -> Option<usize> {
        let bytes = self.code.as_bytes();
        let mut at = range.start;
        while at < range.end {
            match bytes[at] {
                b'#' => {
                    let open = at + self.code[at..range.end].find('[')?;
                    at = self.closing(open..range.end)? + 1;
                }
                b';' | b',' => at += 1,
                byte if byte.is_ascii_whitespace() => at += 1,
                _ => return Some(at),
            }
        }
        None
    }

    /// The body between braces, if there is one, and one past the end.
    fn extent(&self, range: Range<usize>, ends: Ends) -> (Range<usize>, usize) {
        let bytes = self.code.as_bytes();
        let mut body = range.start..range.start;
        let mut angles = 0_usize;
        let mut at = range.start;
        while at < range.end {
            match bytes[at] {
                b'(' | b'[' => at = self.closing(at..range.end).unwrap_or(range.end),
                b'{' => {
                    let close = self.closing(at..range.end).unwrap_or(range.end);
                    body = at + 1..close;
                    at = close;
                    if ends == Ends::Item {
                        return (body, (close + 1).min(range.end));
                    }
                }
                b'<' => angles += 1,
                b'>' if at > 0 && !matches!(bytes[at - 1], b'-' | b'=') => angles = angles.saturating_sub(1),
                b';' if ends == Ends::Item => return (body, at + 1),
                b',' if ends == Ends::Comma && angles == 0 => return (body, at + 1),
                _ => {}
            }
            at += 1;
        }
        (body, range.end)
    }

    /// Where the bracket that opens the range is closed.
    fn closing(&self, range: Range<usize>) -> Option<usize> {
        let mut depth = 0_usize;
        for at in range {
            match self.code.as_bytes()[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

impl Item {
    /// The name behind a keyword: `Spring` of `pub struct Spring`.
    pub(super) fn named(&self, keyword: &str) -> Option<&str> {
        let at = find_word(&self.header, keyword)?;
        let rest = self.header[at + keyword.len()..].strip_prefix(' ')?;
        Some(word_at(rest)).filter(|name| !name.is_empty())
    }

    /// The first word: the name of a variant.
    pub(super) fn first_word(&self) -> &str {
        word_at(&self.header)
    }

    /// The name of a public function.
    pub(super) fn public_function(&self) -> Option<&str> {
        let rest = self.header.strip_prefix("pub ")?;
        let is_function = rest.starts_with("fn ") || rest.starts_with("const fn ");
        is_function.then(|| self.named("fn"))?
    }

    /// For `impl Trait for Type` both names, for `impl Type` an empty one and the type; without paths and generics.
    pub(super) fn implementation(&self) -> Option<(&str, &str)> {
        let rest = self.header.strip_prefix("impl")?;
        let rest = match rest.strip_prefix('<') {
            Some(_) => rest[closing_angle(rest)?..].trim_start(),
            None => rest.strip_prefix(' ')?,
        };
        Some(match rest.split_once(" for ") {
            Some((of, target)) => (last_segment(of), last_segment(target)),
            None => ("", last_segment(rest)),
        })
    }
}

/// The lines of `///` comments, without the marks.
fn doc_lines(gap: &str) -> Vec<String> {
    gap.lines()
        .filter_map(|line| line.trim_start().strip_prefix("///"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned())
        .collect()
}

/// Code with single spaces, and without those that only line breaks brought in.
fn one_line(code: &str) -> String {
    let text = code.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("( ", "(")
        .replace(", )", ")")
        .replace(" )", ")")
        .replace(", }", " }")
}

/// The identifier at the start, `$` included (the names of macros).
fn word_at(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        .unwrap_or(text.len());
    &text[..end]
}

/// The name of a path without its generics.
fn last_segment(path: &str) -> &str {
    let path = path.split(['<', ' ']).next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

/// One past the `>` that closes the `<` at the start.
fn closing_angle(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !matches!(last, '-' | '=') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        last = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! A file.\n\nuse a::{B, C};\n\n/// A law.\n///\n/// **Use.** Here.\n#[derive(Clone, Debug)]\n\
        #[cfg_attr(\n    a,\n    b\n)]\npub struct Law<T> {\n    /// Stiffness (N/m).\n    pub k: Vec<(f64, T)>,\n    b: f64,\n}\n\n\
        pub(crate) fn hidden() -> [f64; 3] { [0.0; 3] }\n\n\
        impl<T: Fn(f64) -> f64> Law<T> {\n    /// Of a stiffness (N/m)\n    /// and more.\n    #[must_use]\n    pub fn new(\n        \
        k: f64, // not { this\n        b: f64,\n    ) -> Result<Self, E> {\n        let x = '{';\n    }\n\n    fn own(&self) {}\n}\n\n\
        impl<T> super::Force for Law<T> where T: A {\n    fn f(&self) {}\n}\n\
        #[cfg(test)]\nmod tests {\n    impl Force for Wrong {}\n}\n";

    #[test]
    fn items_have_their_documentation_past_attributes_of_several_lines() {
        let source = Source::new("a.rs", TEXT);
        let items = source.items();
        let headers: Vec<&str> = items.iter().map(|item| item.header.as_str()).collect();
        assert_eq!(
            headers,
            [
                "use a::",
                "pub struct Law<T>",
                "pub(crate) fn hidden() -> [f64; 3]",
                "impl<T: Fn(f64) -> f64> Law<T>",
                "impl<T> super::Force for Law<T> where T: A",
            ]
        );
        assert_eq!(items[1].doc, ["A law.", "", "**Use.** Here."]);
        assert_eq!(items[1].line, 13);
        assert_eq!(items[1].named("struct"), Some("Law"));
        assert_eq!(items[2].public_function(), None);
        assert_eq!(items[3].implementation(), Some(("", "Law")));
        assert_eq!(items[4].implementation(), Some(("Force", "Law")));
    }

    #[test]
    fn signatures_of_several_lines_become_one() {
        let source = Source::new("a.rs", TEXT);
        let methods = source.items_in(&source.items()[3].body);
        assert_eq!(methods.len(), 2);
        assert_eq!(methods[0].header, "pub fn new(k: f64, b: f64) -> Result<Self, E>");
        assert_eq!(methods[0].doc, ["Of a stiffness (N/m)", "and more."]);
        assert_eq!(methods[0].public_function(), Some("new"));
        assert_eq!(methods[1].public_function(), None);
    }

    #[test]
    fn fields_and_variants_are_separated_by_their_own_commas_only() {
        let source = Source::new("a.rs", TEXT);
        let fields = source.entries_in(&source.items()[1].body);
        assert_eq!(fields.len(), 2);
        assert_eq!(fields[0].header, "pub k: Vec<(f64, T)>");
        let text = "pub enum Level {\n    /// Exact.\n    #[default]\n    Position,\n    /// Decays.\n    Baumgarte {\n        \
                    /// The rate (1/s).\n        rate: f64,\n    },\n    Both(Map<u8, u8>, f64),\n}\n";
        let source = Source::new("b.rs", text);
        let variants = source.entries_in(&source.items()[0].body);
        let names: Vec<&str> = variants.iter().map(Item::first_word).collect();
        assert_eq!(names, ["Position", "Baumgarte", "Both"]);
        assert_eq!(variants[0].doc, ["Exact."]);
        assert_eq!(source.entries_in(&variants[1].body)[0].doc, ["The rate (1/s)."]);
        assert_eq!(variants[2].header, "Both(Map<u8, u8>, f64)");
    }

    #[test]
    fn unfinished_code_ends_with_the_file() {
        let source = Source::new("a.rs", "/// Doc.\npub struct A {\n    a: [f64");
        assert_eq!(source.items().len(), 1);
        assert!(Source::new("b.rs", "#[derive(").items().is_empty());
    }
}
