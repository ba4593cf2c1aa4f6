//! `cargo xtask catalogue`: the tables of components, from the documentation in the code.
//!
//! A component is a public item whose documentation has the paragraphs `**Equation.**` and
//! `**Use.**`. `tidy` checks that the tables are up to date, that every mapping and force field is
//! in one, and that the numbers of components have units.

use std::cmp::Reverse;

use crate::error::Error;
use crate::sources::{File, Sources};
use crate::text::find_word;
use crate::tidy::Finding;
use crate::{flags, process};

/// The page; what is above the first heading of a table is its own.
const PATH: &str = "docs/book/src/reference/catalogue.md";
/// The root of the repository, seen from the folder of that page.
const ROOT: &str = "../../../../";
/// Headings, each with the first word of `**Parents.**` of its components, or with a part of the
/// path of those without this paragraph; the first that fits counts.
const SECTIONS: &[(&str, &str)] = &[
    ("Mappings of points", "Points"),
    ("Mappings of bodies", "Bodies"),
    ("General mappings", "Any"),
    ("Force fields", "pliant-model/src/force_fields/"),
    ("Materials", "pliant-continuum/src/material/"),
    ("Masses, constraints and joints", "pliant-model/src/"),
    ("Solids, sheets and rods", "pliant-continuum/src/"),
    ("Steps", "pliant-stepper/src/"),
    ("Simulations and statics", "pliant/src/"),
];
/// Folders of the files that show the use of components.
const USES: &[&str] = &["scenes/", "/examples/", "/verify/", "/tests/it/"];
/// Symbols of units, as the documentation writes them.
const UNITS: &[&str] = &["m", "s", "kg", "N", "J", "Pa", "rad", "none", "unit"];

/// An item with documentation, or a part of one.
struct Documented<'a> {
    path: &'a str,
    line: usize,
    /// Name of the item, or of the one that it is a part of.
    item: &'a str,
    /// Source up to its body, indented if it is a part.
    code: String,
    /// A line for each paragraph.
    doc: String,
}

/// Writes the page.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches("catalogue", args, [])?;
    let path = process::workspace_root()?.join(PATH);
    let (page, _) = page(&Sources::read()?);
    std::fs::write(&path, page).map_err(|source| Error::File { path, source })?;
    Ok(0)
}

/// Gaps in the documentation of the components, and whether the page is out of date.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let (page, mut findings) = page(sources);
    if sources.get(PATH) != Some(&page) {
        let message = "differs from what `cargo xtask catalogue` writes";
        findings.push(Finding::problem(PATH, 1, message));
    }
    findings
}

/// The page, a table for each section, and the gaps in the documentation.
fn page(sources: &Sources) -> (String, Vec<Finding>) {
    let is_code = |file: &&File| {
        SECTIONS.iter().any(|(_, of)| file.path.contains(of)) && !file.path.ends_with("/tests.rs")
    };
    let files = || sources.ending(".rs").filter(is_code);
    let mut all: Vec<Documented<'_>> = files().flat_map(documented).collect();
    all.sort_by_key(|one| one.item);
    let introduction = sources.get(PATH).and_then(|page| page.split("\n## ").next());
    let (mut page, mut findings) = (introduction.unwrap_or_default().to_owned(), Vec::new());
    for (heading, _) in SECTIONS {
        page += &format!("\n## {heading}\n\n| component | equation | used in |\n|---|---|---|\n");
        for one in all.iter().filter(|one| one.section() == Some(heading)) {
            findings.extend(all.iter().filter_map(|part| part.without_units(one)));
            let about = one.doc.lines().next();
            let [about, equation] = [about, one.paragraph("Equation")].map(cell);
            let (name, path, used) = (one.item, one.path, used_in(one.item, sources));
            page += &format!("| [`{name}`]({ROOT}{path}): {about} | {equation} | {used} |\n");
        }
    }
    for line in files().flat_map(|file| file.text.lines()) {
        let mapping = line.strip_prefix("impl Mapping for ");
        let implementing = mapping.or(line.strip_prefix("impl ForceField for "));
        let Some(name) = implementing.and_then(|rest| rest.split([' ', '<']).next()) else {
            continue;
        };
        let mut listed = all
            .iter()
            .filter(|one| one.item == name && one.section().is_some());
        if !listed.any(|one| mapping.is_none() || one.paragraph("Parents").is_some()) {
            let message = format!("`{name}` is not public, or lacks one of its paragraphs");
            findings.push(Finding::problem(PATH, 1, message));
        }
    }
    (page, findings)
}

/// Everything in a file that has documentation.
fn documented(file: &File) -> Vec<Documented<'_>> {
    let (mut found, mut item, mut doc) = (Vec::new(), "", String::new());
    let mut lines = file.text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if let Some(text) = line.trim_start().strip_prefix("///") {
            doc += if text.is_empty() { "\n" } else { text };
            continue;
        }
        let mut code = line.to_owned();
        while !doc.is_empty() && code.matches(['(', '[']).count() > code.matches([')', ']']).count() {
            code += lines.next().map_or(")]", |(_, line)| line.trim());
        }
        if code.trim_start().starts_with("#[") {
            continue;
        }
        if !line.starts_with([' ', '}']) {
            let code = line.trim_start_matches("pub ");
            item = code
                .split([' ', '{', '(', '<', ';', ':'])
                .nth(1)
                .unwrap_or_default();
        }
        if !doc.is_empty() {
            found.push(Documented {
                path: &file.path,
                line: index + 1,
                item,
                code,
                doc: std::mem::take(&mut doc).trim_start().replace("\n ", "\n"),
            });
        }
    }
    found
}

impl Documented<'_> {
    /// The paragraph of its documentation under this heading.
    fn paragraph(&self, heading: &str) -> Option<&str> {
        let start = format!("**{heading}.** ");
        self.doc
            .lines()
            .find_map(|line| line.strip_prefix(start.as_str()))
    }

    /// The section that it belongs to as a component.
    fn section(&self) -> Option<&str> {
        self.paragraph("Equation").and(self.paragraph("Use"))?;
        let parents = self.paragraph("Parents");
        let fits = |of: &str| parents.map_or(self.path.contains(of), |text| text.starts_with(of));
        let section = SECTIONS.iter().find(|(_, of)| fits(of))?;
        self.code.starts_with("pub ").then_some(section.0)
    }

    /// Complaint about this component, or about a part of it, if its numbers lack units.
    fn without_units(&self, component: &Documented<'_>) -> Option<Finding> {
        let is_part = self.item == component.item;
        let is_public = self.code.trim_start().starts_with("pub ") || component.code.starts_with("pub enum");
        // Outside of code, in parentheses: `(m)`, `(N s/m)`, `(elements, or fixed points in m)`.
        let prose: String = self.doc.split('`').step_by(2).collect();
        let mut groups = prose.split('(').skip(1).filter_map(|rest| rest.split(')').next());
        let has_unit = groups.any(|group| UNITS.iter().any(|unit| find_word(group, unit).is_some()));
        let lacks = is_part && is_public && find_word(&self.code, "f64").is_some() && !has_unit;
        let message = "lacks the units of its numbers in parentheses: (m), (none)";
        lacks.then(|| Finding::problem(self.path, self.line, format!("`{}` {message}", self.code.trim())))
    }
}

/// Links to the scenes and to the Rust files that use a component most.
fn used_in(name: &str, sources: &Sources) -> String {
    let forms = ["::", "(", " {"].map(|after| format!("{name}{after}"));
    let is_use = |line: &&str| forms.iter().any(|form| find_word(line, form).is_some());
    let mut links = Vec::new();
    for ending in [".ron", ".rs"] {
        let mut counted: Vec<(usize, &str)> = sources
            .ending(ending)
            .filter(|file| USES.iter().any(|folder| file.path.contains(folder)))
            // Its `Identity` is a preconditioner.
            .filter(|file| !file.path.starts_with("crates/pliant-krylov/"))
            .map(|file| (file.text.lines().filter(is_use).count(), file.path.as_str()))
            .filter(|(count, _)| *count > 0)
            .collect();
        counted.sort_by_key(|(count, _)| Reverse(*count));
        for (_, path) in counted.iter().take(2) {
            let file = path.rsplit('/').next().unwrap_or(path);
            links.push(format!("[{file}]({ROOT}{path})"));
        }
    }
    links.join(", ")
}

/// Documentation as the cell of a table, with the links to items as code.
fn cell(text: Option<&str>) -> String {
    let mut parts = text.unwrap_or_default().split("`](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += &format!("`]{}", part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    let out = out.replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    linked_to_theory(&out)
}

/// Documentation with the names of chapters of the theory as links.
fn linked_to_theory(text: &str) -> String {
    const END: &str = ".md of the book";
    let mut parts = text.split("theory/");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(END) {
            Some((chapter, rest)) if !chapter.contains(' ') => {
                out += &format!("[{chapter}](../theory/{chapter}.md){rest}");
            }
            _ => out += &format!("theory/{part}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: &str = "/// A law\n/// of a [`Length`](crate::Length).\n///\n/// **Equation.** `f = -k |x|`.\n///\n\
        /// **Use.** Ropes.\n#[derive(\n    Clone,\n)]\npub struct Law {\n    k: f64,\n}\n\n\
        impl Law {\n    /// Stiffness `k` (N/m).\n    pub fn new(\n        k: f64,\n    ) -> Self {\n    }\n}\n\n\
        impl ForceField for Law {}\n";

    /// The page and the findings of a project.
    fn written(law: &str) -> (String, String) {
        let (page, findings) = page(&Sources::of(&[
            (PATH, "# Catalogue\n\n## Old\n"),
            ("crates/pliant-model/src/force_fields/law.rs", law),
            (
                "crates/pliant-model/src/law/tests.rs",
                "impl ForceField for Own {}\n",
            ),
            ("crates/pliant-model/tests/it/law.rs", "    Law::new(1.0);\n"),
            ("scenes/rope.ron", "(law: Law(k: 1))\n// Lawn(k: 1)\n"),
        ]));
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        (page, findings.join("\n"))
    }

    #[test]
    fn a_component_is_a_line_of_a_table() {
        let (page, findings) = written(LAW);
        assert_eq!(findings, "");
        let line = "## Force fields\n\n| component | equation | used in |\n|---|---|---|\n\
            | [`Law`](../../../../crates/pliant-model/src/force_fields/law.rs): A law of a `Length`. | `f = -k \\|x\\|`. | \
            [rope.ron](../../../../scenes/rope.ron), [law.rs](../../../../crates/pliant-model/tests/it/law.rs) |\n\n## ";
        assert!(
            page.starts_with("# Catalogue\n\n## Mappings") && page.contains(line),
            "{page}"
        );
    }

    #[test]
    fn gaps_are_said_with_file_and_name() {
        let units = "law.rs:16: `pub fn new(k: f64,) -> Self {` lacks";
        for (right, wrong, wanted) in [
            (" (N/m)", "", units),
            ("**Use.** ", "", "`Law` is not"),
            ("pub struct ", "struct ", "`Law` is not"),
            ("impl ForceField", "impl Mapping", "`Law` is not"),
        ] {
            let findings = written(&LAW.replace(right, wrong)).1;
            assert!(findings.contains(wanted), "{wanted}: {findings}");
        }
    }
}
