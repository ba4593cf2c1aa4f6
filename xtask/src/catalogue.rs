//! `cargo xtask catalogue`: the page that lists the components, from their documentation.
//!
//! The documentation in the code is the only place where components are described; this reads it
//! and complains where it is incomplete. `tidy` checks that the page is what it writes.

mod survey;

use crate::error::Error;
use crate::sources::Sources;
use crate::text::{find_word, wrap};
use crate::tidy::Finding;
use crate::{flags, process};
use survey::{Component, GROUPS, SECTIONS, survey};

/// The page.
const PATH: &str = "docs/catalogue.md";
/// Columns of wrapped text.
const WIDTH: usize = 120;
/// Links of one kind of place at most.
const MOST: usize = 3;

const INTRODUCTION: &str = "# Catalogue

<!-- Written by `cargo xtask catalogue` from the documentation in the code: change that, not this file. -->

Everything that a model can be made of: what it computes, its parameters with their units, where it is used. Calls are
those of the Rust interface; for scene files see [scenes](scenes.md). All numbers are in SI units, `(none)` marks those
without a unit, and the symbols are those of the [notation](notation.md).

This page is written by `cargo xtask catalogue` from the documentation in the code, and `cargo xtask tidy` fails if it is
out of date.
";

/// Writes the page, or with `--check` compares only; fails if the documentation lacks something.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [only_check] = flags::switches("catalogue", args, ["--check"])?;
    let sources = Sources::read()?;
    let findings = if only_check {
        check(&sources)
    } else {
        let (text, findings) = page(&sources);
        let path = process::workspace_root()?.join(PATH);
        std::fs::write(&path, text).map_err(|source| Error::File { path, source })?;
        println!("{PATH}: written");
        findings
    };
    for finding in &findings {
        println!("{finding}");
    }
    Ok(u8::from(!findings.is_empty()))
}

/// The gaps in the documentation of the components, and whether the page is out of date.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let (wanted, mut findings) = page(sources);
    let known = sources.get(PATH).unwrap_or_default();
    if known != wanted {
        let same = known
            .lines()
            .zip(wanted.lines())
            .take_while(|(a, b)| a == b)
            .count();
        let message = "differs from what `cargo xtask catalogue` writes";
        findings.push(Finding::problem(PATH, same + 1, message));
    }
    findings
}

/// The page, and the gaps in the documentation.
fn page(sources: &Sources) -> (String, Vec<Finding>) {
    let (components, findings) = survey(sources);
    let (mut contents, mut body) = ("## Contents\n\n".to_owned(), String::new());
    for (section, (heading, _)) in SECTIONS.iter().enumerate() {
        contents += &format!("- [{heading}](#{})\n", anchor(heading));
        body += &format!("\n## {heading}\n");
        let members = components
            .iter()
            .filter(|one| one.section == section)
            .collect::<Vec<_>>();
        for group in members.chunk_by(|a, b| a.group() == b.group()) {
            let links = group
                .iter()
                .map(|one| link(&one.name))
                .collect::<Vec<_>>()
                .join(", ");
            let mut level = "###";
            let mut line = links.clone();
            if let Some((_, heading)) = group[0].group().map(|group| GROUPS[group]) {
                level = "####";
                line = format!("[{heading}](#{}): {links}", anchor(heading));
                body += &format!("\n### {heading}\n");
            }
            contents += &format!("  - {}\n", wrap(&line, WIDTH - 4).join("\n    "));
            for component in group {
                body += &format!("\n{level} `{}`\n", component.name);
                write(&mut body, component, &components, sources);
            }
        }
    }
    (format!("{INTRODUCTION}\n{contents}{body}"), findings)
}

fn write(page: &mut String, component: &Component, all: &[Component], sources: &Sources) {
    for paragraph in &component.doc {
        *page += &format!("\n{}\n", wrap(&markdown(paragraph, all), WIDTH).join("\n"));
    }
    *page += "\n| Field, variant or function | Meaning and units |\n|---|---|\n";
    for (code, doc) in &component.entries {
        *page += &format!(
            "| {} |\n",
            [format!("`{code}`"), markdown(doc, all)]
                .map(|cell| cell.replace('|', "\\|"))
                .join(" | ")
        );
    }
    let mut used = Vec::new();
    for (kind, _) in KINDS {
        let is_one = |path: &str| {
            KINDS
                .iter()
                .find(|(_, mark)| path.contains(mark))
                .is_some_and(|(of, _)| *of == kind)
        };
        let files = sources
            .files
            .iter()
            .filter(|file| is_one(&file.path) && file.path.contains(".r"));
        let mut counted: Vec<_> = files
            .map(|file| (uses(&file.text, component, kind == "scenes"), file.path.as_str()))
            .filter(|(count, _)| *count > 0)
            .collect();
        counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let mut paths: Vec<&str> = counted.into_iter().map(|(_, path)| path).take(MOST).collect();
        paths.sort_unstable();
        if !paths.is_empty() {
            let links: Vec<String> = paths.into_iter().map(path_link).collect();
            used.push(format!("{kind} {}", links.join(", ")));
        }
    }
    let mut places = format!("Code: {}.", path_link(&component.path));
    if !used.is_empty() {
        places += &format!(" Used in: {}.", used.join("; "));
    }
    *page += &format!("\n{}\n", wrap(&places, WIDTH).join("\n"));
}

/// Kinds of files that use components: the first whose mark is part of the path.
const KINDS: [(&str, &str); 5] = [
    ("scenes", ".ron"),
    ("examples", "/examples/"),
    ("reference cases", "benches/src/verify/"),
    ("timed scenes", "benches/src/"),
    ("tests", "/tests/it/"),
];

/// The number of lines of a file on which the component is used, comments left out.
fn uses(text: &str, component: &Component, is_scene: bool) -> usize {
    let name = &component.name;
    let forms: Vec<String> = if is_scene {
        let keys = [
            "mapping: ",
            "law: ",
            "level: ",
            "kind: ",
            "treatment: ",
            "gyroscopic: ",
        ];
        let names = component.names.iter();
        names
            .flat_map(|name| keys.map(|key| format!("{key}{name}")))
            .collect()
    } else if component.names == ["Model"] {
        return 0;
    } else {
        vec![format!("{name}::"), format!("{name} {{"), format!(" {name}(")]
    };
    let lines = text.lines().filter_map(|line| line.split("//").next());
    lines
        .filter(|line| forms.iter().any(|form| find_word(line, form).is_some()))
        .count()
}

/// Documentation as Markdown of the page: links to items become links to their headings, or code.
fn markdown(text: &str, all: &[Component]) -> String {
    let mut parts = text.split("[`");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("`]").unwrap_or((part, ""));
        let known = all.iter().any(|component| component.name == name);
        out += &if known { link(name) } else { format!("`{name}`") };
        // The path of the item.
        out += match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((_, rest)) => rest,
            None => rest,
        };
    }
    out.replace("docs/notation.md", "[notation](notation.md)")
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
    format!("[{}](../{path})", path.rsplit('/').next().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: &str = "/// A law.\n///\n/// **Equation.** `f = -k x`.\n///\n/// **Use.** Ropes, on a [`Length`](crate::Length).\n\
        #[derive(Clone)]\npub struct Law {\n    k: f64,\n}\n\nimpl Law {\n    /// Stiffness `k` (N/m), |k| at most.\n    \
        #[must_use]\n    pub fn new(\n        k: f64,\n    ) -> Self {\n        Self { k }\n    }\n}\n\nimpl ForceField for Law {}\n";
    const LENGTHS: &str = "macro_rules! both {\n    ($name:ident) => {\n        impl Mapping for $name {}\n    };\n}\nboth!(Length);\n\
        /// A length.\n///\n/// **Equation.** `x_c = |x|` (m).\n///\n/// **Parents.** Points.\n///\n/// **Use.** Rods.\n\
        pub struct Length;\nimpl Length {\n    /// All.\n    pub fn new() -> Self {\n        Self\n    }\n}\n";

    /// The page, and the findings about the law and the length; the types that every project has
    /// are not there.
    fn written(law: &str) -> (String, Vec<String>) {
        let (page, findings) = page(&Sources::of(&[
            ("crates/pliant-model/src/law.rs", law),
            ("crates/pliant-model/src/length.rs", LENGTHS),
            (
                "crates/pliant-model/tests/it/law.rs",
                "fn a() {\n    Law::new(1.0);\n}\n",
            ),
            ("scenes/rope.ron", "(law: Law(k: 1))\n// law: Lawn\n"),
        ]));
        let findings = findings.iter().map(ToString::to_string);
        (
            page,
            findings
                .filter(|f| f.contains("`Law") || f.contains("`Length"))
                .collect(),
        )
    }

    #[test]
    fn a_page_has_contents_equations_tables_and_uses() {
        let (page, findings) = written(LAW);
        assert_eq!(findings, [""; 0]);
        for wanted in [
            "  - [`Law`](#law)\n",
            "  - [Mappings of points](#mappings-of-points): [`Length`](#length)\n",
            "### `Law`\n\nA law.\n\n**Equation.** `f = -k x`.\n\n**Use.** Ropes, on a [`Length`](#length).\n",
            "| `new(k: f64)` | Stiffness `k` (N/m), \\|k\\| at most. |\n",
            "Used in: scenes [rope.ron](../scenes/rope.ron); tests\n[law.rs](../crates/pliant-model/tests/it/law.rs).",
        ] {
            assert!(page.contains(wanted), "{wanted}\nin\n{page}");
        }
    }

    #[test]
    fn gaps_are_said_with_file_and_name() {
        for (present, absent, wanted) in [
            (
                "**Equation.** ",
                "",
                "law.rs:7: for the catalogue, `Law` lacks the paragraph `**Equation.**`",
            ),
            (
                " (N/m)",
                "",
                "law.rs:7: for the catalogue, `Law::new(k: f64)` lacks the units",
            ),
            (
                "/// Stiffness `k` (N/m), |k| at most.",
                "",
                "`Law::new(k: f64)` lacks documentation",
            ),
            ("pub fn new", "fn new", "`Law` lacks a public constructor"),
            (
                "pub struct Law",
                "struct Law",
                "`Law` lacks a public struct or enum of this name",
            ),
        ] {
            let (_, findings) = written(&LAW.replace(present, absent));
            assert!(
                findings.iter().any(|f| f.contains(wanted)),
                "{wanted}: {findings:?}"
            );
        }
    }

    #[test]
    fn the_components_of_the_project_are_described() {
        let findings = check(&Sources::read().unwrap());
        assert_eq!(findings, []);
    }
}
