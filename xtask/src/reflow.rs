//! `cargo xtask reflow`: wraps the prose of comments in Rust files.
//!
//! A paragraph with a line over the width is filled anew; all else stays as it is: code between
//! fences, tables, headings, mathematics, definitions of links, and comments behind code. A file is
//! written only if its tokens and its words are the same as before.

use proc_macro2::TokenTree;

use crate::error::Error;
use crate::process;
use crate::sources::Sources;
use crate::text::{lines_in_literals, walk, wrap};

/// Columns of a line of comment, with its indentation.
const WIDTH: usize = 100;
/// Fewest columns of text, however deep the indentation.
const LEAST: usize = 40;

/// Wraps the comments of the files below the paths, of all without one; with `--check` lists the
/// files that would change and fails if there are any.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let (flags, paths): (Vec<_>, Vec<_>) = args.iter().cloned().partition(|arg| arg.starts_with('-'));
    let [only_check] = crate::flags::switches("reflow", &flags, ["--check"])?;
    let (mut changed, mut failed) = (0, 0);
    for file in Sources::read()?.ending(".rs") {
        if !paths.is_empty() && !paths.iter().any(|path| file.path.starts_with(path.as_str())) {
            continue;
        }
        let new = reflowed(&file.text);
        if new == file.text {
            continue;
        }
        if contents(&new) != contents(&file.text) || reflowed(&new) != new {
            println!("{}: left, wrapping would change it", file.path);
            failed += 1;
            continue;
        }
        changed += 1;
        println!("{}", file.path);
        if !only_check {
            let path = process::workspace_root()?.join(&file.path);
            std::fs::write(&path, new).map_err(|source| Error::File { path, source })?;
        }
    }
    println!(
        "{changed} files {}",
        if only_check { "to wrap" } else { "wrapped" }
    );
    Ok(u8::from(failed > 0 || only_check && changed > 0))
}

/// Indentation, mark and text of a line that is a comment and nothing else.
fn comment(line: &str) -> Option<(&str, &str, &str)> {
    let rest = line.trim_start();
    let mark = ["//!", "///", "//"]
        .into_iter()
        .find(|mark| rest.starts_with(mark))?;
    let text = &rest[mark.len()..];
    let is_plain = text.is_empty() || text.starts_with(' ');
    is_plain.then_some((&line[..line.len() - rest.len()], mark, text))
}

/// The length of the mark of a list item, `- ` or `12. `, with its indentation.
fn item(text: &str) -> Option<usize> {
    let rest = text.trim_start();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = if digits.len() < rest.len() {
        digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") "))?
    } else {
        ["- ", "* ", "+ "]
            .iter()
            .find_map(|mark| rest.strip_prefix(mark))?
    };
    Some(text.len() - after.trim_start().len())
}

/// Whether a line is one for itself: empty, a heading, a row of a table, the definition of a link,
/// indented, broken by hand.
fn stands_alone(text: &str) -> bool {
    let starts = ["#", "|", ">", "<", "  ", "---", "==="];
    let target = text.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    let defines = target.is_some_and(|(_, target)| !target.contains(' '));
    text.is_empty()
        || defines
        || starts.iter().any(|start| text.starts_with(start))
        || text.ends_with(['\\'])
        || text.ends_with("  ")
}

/// The file with its comments wrapped.
fn reflowed(source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let in_literal = lines_in_literals(source);
    let (mut out, mut k, mut fence) = (String::new(), 0, None);
    while k < lines.len() {
        let Some((indent, mark, text)) = comment(lines[k]).filter(|_| !in_literal[k]) else {
            (fence, k) = (None, push(&mut out, lines[k], k));
            continue;
        };
        let text = text.strip_prefix(' ').unwrap_or(text);
        let ends = ["```", "$$"]
            .into_iter()
            .find(|end| text.trim_start().starts_with(end));
        if fence.is_some() || ends.is_some() {
            fence = if fence.is_none() {
                ends
            } else {
                fence.filter(|_| fence != ends)
            };
            k = push(&mut out, lines[k], k);
            continue;
        }
        let hanging = item(text);
        if hanging.is_none() && stands_alone(text) {
            k = push(&mut out, lines[k], k);
            continue;
        }
        // The lines of the paragraph: those of an item are indented, the others not.
        let first = k;
        let mut words = text.to_owned();
        k += 1;
        while let Some((_, _, next)) = lines
            .get(k)
            .and_then(|l| comment(l))
            .filter(|(i, m, _)| (*i, *m) == (indent, mark))
        {
            let next = next.strip_prefix(' ').unwrap_or(next);
            let belongs = match hanging {
                Some(_) => next.starts_with(' ') && !next.trim().is_empty(),
                None => !stands_alone(next),
            };
            if in_literal[k]
                || !belongs
                || item(next).is_some()
                || ["```", "$$"].iter().any(|f| next.trim_start().starts_with(f))
            {
                break;
            }
            words += &format!(" {}", next.trim());
            k += 1;
        }
        if lines[first..k].iter().all(|line| line.chars().count() <= WIDTH) {
            out.extend(lines[first..k].iter().flat_map(|line| [line, "\n"]));
            continue;
        }
        let hanging = hanging.unwrap_or(0);
        let columns = indent.len() + mark.len() + 1 + hanging;
        let width = WIDTH.saturating_sub(columns).max(LEAST);
        for (n, line) in wrap(&words[hanging..], width).iter().enumerate() {
            let start = if n == 0 {
                words[..hanging].to_owned()
            } else {
                " ".repeat(hanging)
            };
            out += &format!("{indent}{mark} {start}{line}\n");
        }
    }
    out
}

/// Writes a line as it is; the number of the next.
fn push(out: &mut String, line: &str, k: usize) -> usize {
    out.push_str(line);
    out.push('\n');
    k + 1
}

/// The tokens of a file, documentation as words, and the words of all of its text without the marks
/// of comments.
fn contents(source: &str) -> Option<(Vec<String>, Vec<&str>)> {
    let mut tokens: Vec<String> = Vec::new();
    walk(source.parse().ok()?, &mut |token| {
        let text = token.to_string();
        let n = tokens.len();
        // `# [ ] doc = "..."`, from a comment or written so.
        if matches!(token, TokenTree::Literal(_)) && n >= 2 && tokens[n - 2..] == ["doc", "="] {
            let start = tokens[..n - 2]
                .iter()
                .rposition(|token| token == "#")
                .unwrap_or(n - 2);
            tokens.truncate(start);
            tokens.extend(text[1..text.len() - 1].split_whitespace().map(str::to_owned));
        } else {
            tokens.push(text);
        }
    });
    let words = source
        .split_whitespace()
        .filter(|word| !["//", "///", "//!"].contains(word));
    Some((tokens, words.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paragraphs_are_filled_and_all_else_stays() {
        let long = "word ".repeat(30);
        let source = format!(
            "//! {long}\n//! end.\n//!\n//! short\n//! lines\n//! ```\n//! {long}\n//! ```\n//! | {long} |\n//!\n//! - {long}\n//!   {long}\n//! - x\n\
             fn f() {{\n    // {long}\n    let a = 1; // {long}\n    let b = \"\n// {long}\n\";\n}}\n"
        );
        let new = reflowed(&source);
        let first = format!(
            "//! {}\n//! {}end.\n//!\n//! short\n//! lines\n",
            "word ".repeat(19).trim(),
            "word ".repeat(11)
        );
        assert!(new.starts_with(&first), "{new}");
        for wanted in [
            format!("//! ```\n//! {long}\n//! ```\n"),
            format!("//! | {long} |\n"),
            format!("\n// {long}\n\";\n"),
            format!("; // {long}\n"),
        ] {
            assert!(new.contains(&wanted), "{wanted}\nin\n{new}");
        }
        assert!(
            new.contains("\n//!   word word")
                && new.contains("\n//! - x\n")
                && new.contains("\n    // word word"),
            "{new}"
        );
        assert_eq!(contents(&new), contents(&source));
        assert_eq!(reflowed(&new), new);
    }

    #[test]
    fn a_line_never_begins_like_a_list() {
        let long = "w".repeat(91);
        let source = format!("/// {long} a - b + 2. c\nstruct A;\n");
        assert_eq!(
            reflowed(&source),
            format!("/// {long} a -\n/// b + 2. c\nstruct A;\n")
        );
    }
}
