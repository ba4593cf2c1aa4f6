//! Words and paragraphs of text, and the lines of a Rust file that hold code.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Where `word` stands in the line as a whole word: not as a part of a longer identifier.
pub(crate) fn find_word(line: &str, word: &str) -> Option<usize> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).map(|(at, _)| at).find(|&at| {
        let before = word.starts_with(inside) && line[..at].chars().next_back().is_some_and(inside);
        let after = word.ends_with(inside) && line[at + word.len()..].chars().next().is_some_and(inside);
        !before && !after
    })
}

/// Code and links of at most so many characters are not broken.
const WHOLE: usize = 60;

/// Whether a line that began with this word would be a list item, a heading or the like in
/// Markdown.
fn begins_block(word: &str) -> bool {
    let number = word.trim_start_matches(|c: char| c.is_ascii_digit());
    ["-", "+", "*", "="].contains(&word)
        || word.starts_with(['#', '|', '>'])
        || number.len() < word.len() && [".", ")"].contains(&number)
}

/// Lines of at most `width` characters where words allow it; short code between backquotes and
/// links are not broken.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Up to where spaces are no places to break, and up to where marks have been understood.
    let (mut whole, mut known) = (0, 0);
    let mut units: Vec<&str> = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let closing = match c {
            '`' => Some('`'),
            '[' => Some(']'),
            _ => None,
        };
        if let Some(closing) = closing.filter(|_| at >= known)
            && let Some(length) = text[at + 1..].find(closing)
        {
            known = at + length + 2;
            whole = if length <= WHOLE { known } else { whole };
        }
        if c == ' ' && at >= whole && !begins_block(text[at + 1..].split(' ').next().unwrap_or_default()) {
            units.push(&text[start..at]);
            start = at + 1;
        }
    }
    units.push(&text[start..]);
    let mut lines: Vec<String> = Vec::new();
    for unit in units {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + unit.chars().count() <= width => {
                *line += &format!(" {unit}");
            }
            _ => lines.push(unit.to_owned()),
        }
    }
    lines
}

/// A line of a Rust file without its comments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CodeLine {
    /// Tokens that begin on the line, with spaces between; literals are `_` on each of their lines.
    pub(crate) code: String,
    /// Whether it belongs to an item under `#[cfg(test)]`.
    pub(crate) in_test: bool,
}

/// The lines of a Rust file; without code where it cannot be split into tokens.
pub(crate) fn code_lines(text: &str) -> Vec<CodeLine> {
    let mut lines = vec![CodeLine::default(); text.lines().count() + 1];
    if let Ok(tokens) = text.parse::<TokenStream>() {
        add_tokens(tokens, &mut lines);
    }
    lines.pop();
    lines
}

/// For each line whether it begins inside of a literal.
pub(crate) fn lines_in_literals(source: &str) -> Vec<bool> {
    let mut found = vec![false; source.lines().count() + 1];
    walk(source.parse().unwrap_or_default(), &mut |token| {
        let span = token.span();
        for line in span.start().line..span.end().line {
            found[line] |= matches!(token, TokenTree::Literal(_));
        }
    });
    found
}

/// Calls the function with every token that is no bracket.
pub(crate) fn walk(tokens: TokenStream, visit: &mut impl FnMut(&TokenTree)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                visit(&TokenTree::Group(proc_macro2::Group::new(
                    group.delimiter(),
                    TokenStream::new(),
                )));
                walk(group.stream(), visit);
            }
            other => visit(&other),
        }
    }
}

/// Whether a token is the bracket of an attribute that the predicate selects by its text.
fn is_attribute(token: &TokenTree, select: impl Fn(&str) -> bool) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && select(&group.stream().to_string()))
}

fn add_tokens(tokens: TokenStream, lines: &mut [CodeLine]) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut test_from = None;
    let mut skip = 0;
    for (k, token) in tokens.iter().enumerate() {
        if matches!(token, TokenTree::Punct(p) if p.as_char() == '#') {
            let inner = matches!(tokens.get(k + 1), Some(TokenTree::Punct(p)) if p.as_char() == '!');
            let attribute = k + 1 + usize::from(inner);
            if let Some(token) = tokens.get(attribute) {
                // Comments of documentation become such attributes.
                if is_attribute(token, |text| text.starts_with("doc =")) {
                    skip = attribute + 1;
                } else if is_attribute(token, |text| {
                    text.starts_with("cfg (test)") || text.starts_with("cfg (all (test")
                }) {
                    test_from = test_from.or(Some(token.span().start().line));
                }
            }
        }
        if k < skip {
            continue;
        }
        let span = token.span();
        match token {
            TokenTree::Group(group) => {
                let ends = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                push(lines, group.span_open().start().line, ends[0]);
                add_tokens(group.stream(), lines);
                push(lines, group.span_close().start().line, ends[1]);
            }
            TokenTree::Literal(_) => {
                for line in span.start().line..=span.end().line {
                    push(lines, line, "_");
                }
            }
            other => push(lines, span.start().line, &other.to_string()),
        }
        let ends_item = match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(p) => p.as_char() == ';',
            _ => false,
        };
        if ends_item && let Some(first) = test_from.take() {
            for line in &mut lines[first - 1..span.end().line] {
                line.in_test = true;
            }
        }
    }
}

fn push(lines: &mut [CodeLine], line: usize, token: &str) {
    let code = &mut lines[line - 1].code;
    // The names of macros stay whole.
    if !code.is_empty() && token != "!" {
        code.push(' ');
    }
    code.push_str(token);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<String> {
        code_lines(text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn comments_go_and_literals_are_blanked() {
        let source = "//! A.\nlet x = a; // x\nb /* y /* z */ */ c\n/// D.\nd!(\"s\", '{', 1.0, &'e f);\n";
        assert_eq!(
            codes(source),
            ["", "let x = a ;", "b c", "", "d! ( _ , _ , _ , & ' e f ) ;"]
        );
    }

    #[test]
    fn test_items_are_marked_to_their_closing_brace() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}\n";
        let marks: Vec<bool> = code_lines(code).iter().map(|line| line.in_test).collect();
        assert_eq!(marks, [false, true, true, true, true, false, true, true, false]);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(find_word("eprintln!(); println!()", "println!"), Some(13));
        assert_eq!(find_word("forbid(unsafe_code)", "unsafe"), None);
        assert_eq!(find_word("unsafe { x }", "unsafe"), Some(0));
    }

    #[test]
    fn lines_are_not_broken_inside_of_code_and_links() {
        assert_eq!(wrap("aa `b b b` cc dd", 10), ["aa `b b b`", "cc dd"]);
        assert_eq!(wrap("aaa [`b c`](#b) cc", 10), ["aaa", "[`b c`](#b)", "cc"]);
    }
}
