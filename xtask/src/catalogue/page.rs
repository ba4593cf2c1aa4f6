//! The page as Markdown.

use std::fmt::Write;

use super::components::{Component, SECTIONS, Table};
use super::uses::Places;

/// Columns of wrapped text.
const WIDTH: usize = 120;

const INTRODUCTION: &str = "# Catalogue

<!-- Written by `cargo xtask catalogue` from the documentation in the code: change that, not this file. -->

Everything that a model can be made of: what it computes, its parameters with their units, where it is used. Calls are
those of the Rust interface; for scene files see [scenes](scenes.md). All numbers are in SI units, `(none)` marks those
without a unit, and the symbols are those of the [notation](notation.md).

This page is written by `cargo xtask catalogue` from the documentation in the code, and `cargo xtask tidy` fails if it is
out of date.
";

/// The whole page.
pub(super) fn write(components: &[Component], places: &Places) -> String {
    let mut page = format!("{INTRODUCTION}\n## Contents\n\n");
    for (section, heading) in SECTIONS {
        let of_section: Vec<&Component> = components.iter().filter(|one| one.section == *section).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "- [{heading}](#{})", anchor(heading));
        for group in groups(&of_section) {
            let members = of_section.iter().filter(|one| one.group() == group);
            let names: Vec<String> = members.map(|one| link(&one.name)).collect();
            let text = match group {
                Some(heading) => format!("[{heading}](#{}): {}", anchor(heading), names.join(", ")),
                None => names.join(", "),
            };
            for (k, line) in wrapped(&text, WIDTH - 4).lines().enumerate() {
                let _ = writeln!(page, "  {} {line}", if k == 0 { "-" } else { " " });
            }
        }
    }
    for (section, heading) in SECTIONS {
        let _ = write!(page, "\n## {heading}\n");
        let of_section: Vec<&Component> = components.iter().filter(|one| one.section == *section).collect();
        for group in groups(&of_section) {
            if let Some(heading) = group {
                let _ = write!(page, "\n### {heading}\n");
            }
            let level = if group.is_some() { "####" } else { "###" };
            for component in of_section.iter().filter(|one| one.group() == group) {
                let _ = write!(page, "\n{level} `{}`\n", component.name);
                write_component(&mut page, component, components, places);
            }
        }
    }
    page
}

/// The headings of groups in their order; one without heading for what has none.
fn groups(components: &[&Component]) -> Vec<Option<&'static str>> {
    let mut found: Vec<Option<&'static str>> = components.iter().map(|one| one.group()).collect();
    found.dedup();
    found
}

fn write_component(page: &mut String, component: &Component, all: &[Component], places: &Places) {
    let mut paragraph = |label: &str, text: Option<&str>| {
        if let Some(text) = text {
            let label = if label.is_empty() {
                String::new()
            } else {
                format!("**{label}.** ")
            };
            let _ = write!(page, "\n{}\n", wrapped(&(label + &markdown(text, all)), WIDTH));
        }
    };
    paragraph("", component.doc.summary());
    for label in ["Equation", "Parents", "Use"] {
        paragraph(label, component.doc.labelled(label));
    }
    if !component.is_function {
        for note in component.doc.notes() {
            paragraph("", Some(note));
        }
    }
    for table in &component.tables {
        write_table(page, table, all);
    }
    let source = format!("Code: {}.", path_link(&component.path));
    let used: Vec<String> = places
        .using(component)
        .iter()
        .map(|(kind, paths)| {
            let links: Vec<String> = paths.iter().map(|path| path_link(path)).collect();
            format!("{kind} {}", links.join(", "))
        })
        .collect();
    let used = if used.is_empty() {
        String::new()
    } else {
        format!(" Used in: {}.", used.join("; "))
    };
    let _ = write!(page, "\n{}\n", wrapped(&(source + &used), WIDTH));
}

fn write_table(page: &mut String, table: &Table, all: &[Component]) {
    let _ = write!(
        page,
        "\n| {} |\n|{}\n",
        table.head.join(" | "),
        "---|".repeat(table.head.len())
    );
    for row in &table.rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| markdown(cell, all).replace('|', "\\|"))
            .collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

/// Documentation as Markdown of the page: links to items become links to their headings, or code.
fn markdown(text: &str, all: &[Component]) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut is_code = false;
    while let Some(at) = rest.find(['`', '[']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match item_link(from).filter(|_| !is_code) {
            Some((label, length)) => {
                let is_known = all.iter().any(|component| component.name == label);
                out.push_str(&if is_known {
                    link(label)
                } else {
                    format!("`{label}`")
                });
                rest = &from[length..];
            }
            None => {
                is_code ^= from.starts_with('`');
                out.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out.replace("docs/notation.md", "[notation](notation.md)")
}

/// Label and length of a link to an item at the start: ``[`X`]``, with or without a path, or `[X](path)`.
fn item_link(text: &str) -> Option<(&str, usize)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let label = inside.strip_prefix('`').and_then(|inner| inner.strip_suffix('`'));
    let path = rest.strip_prefix('(').and_then(|rest| rest.find(')'));
    let length = inside.len() + 2 + path.map_or(0, |end| end + 2);
    let is_link = label.is_some() || path.is_some();
    is_link.then_some((label.unwrap_or(inside), length))
}

fn link(name: &str) -> String {
    format!("[`{name}`](#{})", anchor(name))
}

/// The anchor that renderers give to a heading.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace(' ', "-")
}

/// A link to a file by the last part of its path.
fn path_link(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    format!("[{name}](../{path})")
}

/// Lines of at most this many characters, broken at spaces outside of code and links.
fn wrapped(text: &str, width: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for piece in text.split(' ') {
        match words.last_mut().filter(|_| is_open) {
            Some(last) => {
                last.push(' ');
                last.push_str(piece);
            }
            None => words.push(piece.to_owned()),
        }
        is_open ^= piece.matches('`').count() % 2 == 1;
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_not_broken_inside_of_code() {
        assert_eq!(wrapped("aa `b b b` cc dd", 10), "aa `b b b`\ncc dd");
        assert_eq!(wrapped("aaa [`b`](#b) cc", 10), "aaa\n[`b`](#b)\ncc");
    }

    #[test]
    fn links_to_items_become_code_and_indices_stay() {
        for (text, wanted) in [
            ("see [`new`](Self::new).", "see `new`."),
            ("one [`Joint`] or [Joint](crate::Joint)", "one `Joint` or `Joint`"),
            ("`J[`i] and `[r] x` [unit]", "`J[`i] and `[r] x` [unit]"),
            ("(docs/notation.md)", "([notation](notation.md))"),
        ] {
            assert_eq!(markdown(text, &[]), wanted);
        }
    }
}
