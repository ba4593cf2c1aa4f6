//! Words that the project has given up for those of the field; `docs/book/src/glossary.md` explains both.

use super::Finding;
use crate::shapes::Shapes;
use crate::sources::Sources;
use crate::text::code_lines;

/// Where a word is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    /// In code and in prose, also as a part of a name.
    All,
    /// In the names of code, also as a part of one; prose may use it in its plain meaning.
    Code,
    /// As the name of a type, which says whose it is.
    Type,
}

/// The words, where each is refused, and what to write instead.
const STRUCK: &[(&str, In, &str)] = &[
    ("toll", In::All, "energy compensation"),
    ("tolls", In::All, "energy compensation"),
    ("owe", In::All, "required compensation"),
    ("owed", In::All, "required compensation"),
    ("owes", In::All, "required compensation"),
    ("bill", In::All, "apportion"),
    ("charge", In::Code, "compensate"),
    ("lawless", In::All, "undetermined: a row without a force law"),
    ("quieten", In::All, "deactivate (a row)"),
    ("silence", In::Code, "deactivate (a row)"),
    ("foresee", In::All, "predict"),
    ("foresees", In::All, "predict"),
    ("foreseen", In::All, "predicted"),
    ("unforeseen", In::All, "missed (a contact)"),
    ("books", In::Code, "energy record, ledger"),
    ("nameless", In::All, "unnamed"),
    ("bent", In::Code, "deflected, curved"),
    ("few changes", In::Code, "small update"),
    ("carriers", In::Code, "support, support_dofs"),
    ("gates", In::Code, "guards (event functions)"),
    ("rubs", In::Code, "has_friction"),
    ("bears", In::Code, "is_active"),
    ("Twice", In::Type, "Compensated"),
    ("Work", In::Type, "the name of its owner, then `Workspace`"),
    (
        "Place",
        In::Type,
        "a name by its meaning: `Location`, `CellLocation`, ...",
    ),
    ("Geometry", In::Type, "`GeometricTerms`"),
];

/// Files that speak of the words themselves.
const ABOUT_WORDS: &[&str] = &[
    "docs/book/src/glossary.md",
    "xtask/src/tidy/words.rs",
    "xtask/src/tidy/allowed.rs",
];

pub(super) fn check(sources: &Sources, shapes: &Shapes) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources
        .files
        .iter()
        .filter(|file| !ABOUT_WORDS.contains(&file.path.as_str()))
    {
        if [".rs", ".md", ".ron"]
            .iter()
            .any(|ending| file.path.ends_with(ending))
        {
            find(&file.path, file.text.lines(), In::All, &mut findings);
        }
        if file.path.ends_with(".rs") {
            let lines = code_lines(&file.text);
            find(
                &file.path,
                lines.iter().map(|line| line.code.as_str()),
                In::Code,
                &mut findings,
            );
        }
    }
    for (name, path, line) in &shapes.declared {
        for (word, _, instead) in STRUCK
            .iter()
            .filter(|(word, place, _)| *place == In::Type && word == name)
        {
            findings.push(Finding::problem(
                path,
                *line,
                format!("a type called `{word}`: write {instead}"),
            ));
        }
    }
    findings
}

/// Beginnings of documentation that stand in place of a noun or a verb.
const OPENINGS: &[&str] = &[
    "What ",
    "It ",
    "They ",
    "These ",
    "Those ",
    "The same of ",
    "The same with ",
    "The same by ",
    "The same, ",
];

/// Documentation begins with a noun or a verb, not with a clause or a pronoun in place of one.
pub(super) fn openings(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.ending(".rs") {
        let mut is_first = true;
        for (index, line) in file.text.lines().enumerate() {
            let text = ["/// ", "//! "]
                .iter()
                .find_map(|mark| line.trim_start().strip_prefix(mark));
            let opening = OPENINGS
                .iter()
                .find(|start| text.is_some_and(|text| text.starts_with(**start)));
            if let Some(opening) = opening.filter(|opening| is_first || **opening == "What ") {
                let message = format!(
                    "documentation that begins with `{}`: begin with a noun or a verb",
                    opening.trim()
                );
                findings.push(Finding::problem(&file.path, index + 1, message));
            }
            is_first = !["///", "//!"]
                .iter()
                .any(|mark| line.trim_start().starts_with(mark));
        }
    }
    findings
}

fn find<'a>(path: &str, lines: impl Iterator<Item = &'a str>, place: In, findings: &mut Vec<Finding>) {
    for (index, line) in lines.enumerate() {
        let line = format!(" {} ", plain(line));
        for (word, _, instead) in STRUCK.iter().filter(|(_, of, _)| *of == place) {
            if line.contains(&format!(" {word} ")) {
                findings.push(Finding::problem(
                    path,
                    index + 1,
                    format!("`{word}`: write {instead}"),
                ));
            }
        }
    }
}

/// The words of a line in small letters with one space between, those of names apart:
/// `find_rows(Toll)` as `find rows toll`.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in line.chars() {
        if !c.is_alphabetic() {
            out.push(' ');
        } else {
            if c.is_uppercase() && before.is_lowercase() {
                out.push(' ');
            }
            out.extend(c.to_lowercase());
        }
        before = c;
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::shapes;

    #[test]
    fn clauses_and_pronouns_are_no_openings() {
        let text = "    /// What it is.\n/// The rest.\n// What of it?\n/// It is one.\nx\n/// A whole.\n/// It has parts.\n";
        let lines = openings(&Sources::of(&[("a.rs", text)]));
        let lines: Vec<usize> = lines.into_iter().map(|f| f.line).collect();
        assert_eq!(lines, [1, 4]);
    }

    #[test]
    fn words_are_found_in_names_and_prose() {
        let source = "//! It was foreseen, in all books.\nstruct EnergyToll;\nstruct Place;\nfn lay_few_changes(books: f64) {}\nlet tollbooth = Place::new();\n";
        let sources = Sources::of(&[
            ("crates/pliant/src/a.rs", source),
            ("docs/a.md", "The toll.\nThe books.\n"),
        ]);
        let mut found: Vec<_> = check(&sources, &shapes(&sources))
            .into_iter()
            .map(|f| (f.path, f.line))
            .collect();
        found.sort();
        let code = "crates/pliant/src/a.rs".to_owned();
        let wanted = [
            (code.clone(), 1),
            (code.clone(), 2),
            (code.clone(), 3),
            (code.clone(), 4),
            (code, 4),
            ("docs/a.md".to_owned(), 1),
        ];
        assert_eq!(found[..2], wanted[..2]);
        assert_eq!(found.len(), 5);
    }
}
