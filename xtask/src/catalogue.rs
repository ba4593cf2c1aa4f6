//! `cargo xtask catalogue`: the page that lists the components, from the comments in the code.
//!
//! `tidy` checks that the page is up to date, and that the documentation of each component has its
//! paragraphs and the units of its numbers. The compiler checks that everything public has one.

use crate::error::Error;
use crate::shapes::crate_of;
use crate::sources::{File, Sources};
use crate::text::find_word;
use crate::tidy::Finding;
use crate::{flags, process};

/// The page.
const PATH: &str = "docs/catalogue.md";
/// Folders of the code of components.
const CODE: &[&str] = &[
    "crates/pliant-model/src/",
    "crates/pliant-continuum/src/",
    "crates/pliant-stepper/src/",
    "crates/pliant/src/",
];
/// Parts of the paths of scenes, and of examples, reference cases and tests.
const USES: [(&str, &[&str]); 2] = [
    (".ron", &["scenes/"]),
    (".rs", &["/examples/", "benches/src/verify/", "/tests/it/"]),
];
/// Links of each of these kinds at most.
const MOST: usize = 2;

/// Headings with the components below each: of the first three, the mappings whose paragraph
/// `**Parents.**` begins with this word; of the fourth, what implements `ForceField`.
const SECTIONS: &[(&str, &[&str])] = &[
    ("Mappings of points", &["Points"]),
    ("Mappings of bodies", &["Bodies"]),
    ("General mappings", &["Any"]),
    ("Force fields", &[]),
    ("Constraints and rows", &["Level", "RowLaw", "Model"]),
    ("Joints", &["JointKind", "Joint", "JointAxis"]),
    ("Masses", &["Mass", "RigidMass", "CoupledMass"]),
    ("Prescribed motions", &["PrescribedMotion"]),
    ("Treatments", &["Treatment", "Gyroscopic"]),
];

/// Components whose variants are to state an equation each.
const WITH_EQUATIONS: &[&str] = &["Level", "Gyroscopic"];
/// Symbols of units, as the documentation writes them.
const UNITS: &[&str] = &["m", "s", "kg", "N", "J", "Pa", "rad", "none", "unit"];

const INTRODUCTION: &str = "# Catalogue

<!-- Written by `cargo xtask catalogue` from the comments in the code: change those, not this file. -->

Everything that a model can be made of, with its equation and where it is used. `(none)` marks numbers without a unit, all
others are in SI units, and the symbols are those of the [notation](notation.md). The link of a name opens its source, where
the comment has the whole equation and every constructor its parameters with their units; `cargo xtask docs --open` shows
the same as pages. Names are those of the Rust interface; [scenes](scenes.md) has those of scene files.
";

/// An item with documentation, or a part of one.
struct Documented<'a> {
    path: &'a str,
    line: usize,
    /// The name of the type that it is a part of; empty for an item.
    owner: &'a str,
    /// The source up to its body.
    code: String,
    /// A line for each paragraph, up to the first heading or example.
    doc: String,
}

/// Writes the page, or with `--check` compares only; fails if the documentation lacks something.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [only_check] = flags::switches("catalogue", args, ["--check"])?;
    if !only_check {
        let path = process::workspace_root()?.join(PATH);
        let page = page(&Sources::read()?).0;
        std::fs::write(&path, page).map_err(|source| Error::File { path, source })?;
    }
    let findings = check(&Sources::read()?);
    for finding in &findings {
        println!("{finding}");
    }
    Ok(u8::from(!findings.is_empty()))
}

/// The gaps in the documentation of the components, and whether the page is out of date.
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
    let files = sources.ending(".rs");
    let files = files.filter(|file| CODE.iter().any(|folder| file.path.starts_with(folder)));
    let files: Vec<&File> = files.collect();
    let all: Vec<Documented<'_>> = files.iter().flat_map(|file| documented(file)).collect();
    let implementing = |of: &str| -> Vec<&str> {
        let lines = files.iter().flat_map(|file| file.text.lines());
        let names = lines.filter_map(|line| line.strip_prefix("impl ")?.strip_prefix(of));
        names.filter_map(|name| name.split([' ', '<']).next()).collect()
    };
    let (laws, mappings) = (implementing("ForceField for "), implementing("Mapping for "));
    let mut missing = [&mappings[..], &laws].concat();
    missing.extend(SECTIONS[3..].iter().flat_map(|(_, names)| *names));
    let (mut page, mut findings) = (INTRODUCTION.to_owned(), Vec::new());
    for (heading, names) in SECTIONS {
        page += &format!("\n## {heading}\n\n| component | equation | used in |\n|---|---|---|\n");
        let mut members: Vec<(&str, &Documented<'_>)> = Vec::new();
        members.extend(all.iter().filter_map(|one| {
            let name = one.name()?;
            let is_member = match one.paragraph("Parents") {
                Some(parents) => names.iter().any(|word| find_word(parents, word) == Some(0)),
                None => names.contains(&name) || names.is_empty() && laws.contains(&name),
            };
            is_member.then_some((name, one))
        }));
        members.sort_by_key(|(name, _)| *name);
        for (name, one) in members {
            missing.retain(|known| *known != name);
            findings.extend(one.gaps(name, &all));
            let about = [one.doc.lines().next(), one.paragraph("Equation")];
            let [about, equation] = about.map(|text| without_links(text.unwrap_or_default()));
            let used = used_in(name, sources);
            page += &format!("| [`{name}`](../{}): {about} | {equation} | {used} |\n", one.path);
        }
    }
    findings.extend(missing.iter().map(|name| {
        let message = "is not public, or lacks `**Parents.**` of Points, Bodies or Any";
        Finding::problem(PATH, 1, format!("`{name}` {message}"))
    }));
    (page, findings)
}

/// Everything in a file that has documentation.
fn documented(file: &File) -> Vec<Documented<'_>> {
    let (mut found, mut owner, mut doc) = (Vec::new(), "", String::new());
    let mut lines = file.text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if let Some(text) = line.trim_start().strip_prefix("///") {
            doc += if text.is_empty() { "\n" } else { text };
            continue;
        }
        let mut code = line.trim().to_owned();
        while !doc.is_empty() && code.matches(['(', '[']).count() > code.matches([')', ']']).count() {
            code += lines.next().map_or(")]", |(_, line)| line.trim());
        }
        if code.starts_with("#[") {
            continue;
        }
        let at_margin = !line.starts_with([' ', '}']);
        if at_margin {
            let mut words = line.trim_start_matches("pub ").split([' ', '{', '(', '<', ';']);
            owner = words.nth(1).unwrap_or_default();
        }
        if !doc.is_empty() {
            let doc = std::mem::take(&mut doc).replace("\n ", "\n");
            let end = ["\n#", "\n```"].map(|mark| doc.find(mark).unwrap_or(doc.len()));
            found.push(Documented {
                path: &file.path,
                line: index + 1,
                owner: if at_margin { "" } else { owner },
                code,
                doc: doc[..end[0].min(end[1])].trim().to_owned(),
            });
        }
    }
    found
}

impl Documented<'_> {
    /// The name of a public type or function at the margin of a file.
    fn name(&self) -> Option<&str> {
        let mut words = self.code.split([' ', '<', '(', ';']);
        let is_public = self.owner.is_empty() && words.next() == Some("pub");
        let is_item = is_public && ["struct", "enum", "fn"].contains(&words.next()?);
        words.next().filter(|_| is_item)
    }

    /// The paragraph of its documentation under this heading.
    fn paragraph(&self, heading: &str) -> Option<&str> {
        let start = format!("**{heading}.** ");
        self.doc
            .lines()
            .find_map(|line| line.strip_prefix(start.as_str()))
    }

    /// Missing paragraphs of a component, and missing units of its variants, fields and methods.
    fn gaps(&self, name: &str, all: &[Documented<'_>]) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut lacks = |at: &Documented<'_>, of: &str, missing: &str| {
            let message = format!("for the catalogue, `{of}` lacks {missing}");
            found.push(Finding::problem(at.path, at.line, message));
        };
        if self.doc.starts_with("**") {
            lacks(self, name, "a first paragraph that says what it is");
        }
        for heading in ["Equation", "Use"] {
            if self.paragraph(heading).is_none() {
                lacks(self, name, &format!("the paragraph `**{heading}.**`"));
            }
        }
        let near = all.iter().filter(|one| crate_of(one.path) == crate_of(self.path));
        for part in near.filter(|one| one.owner == name) {
            let is_public = part.code.starts_with("pub ") || self.code.starts_with("pub enum");
            let has_number = is_public && find_word(&part.code, "f64").is_some();
            if has_number && !states_unit(&part.doc) {
                lacks(
                    part,
                    &part.code,
                    "the units of its numbers in parentheses: (m), (none)",
                );
            }
            let of_choice = part.code.ends_with([',', '{']) && !part.code.contains(':');
            if of_choice && WITH_EQUATIONS.contains(&name) && !states_equation(&part.doc) {
                lacks(part, &part.code, "an equation in backquotes");
            }
        }
        found
    }
}

/// Links to the files that use a component most.
fn used_in(name: &str, sources: &Sources) -> String {
    let calls = ["::", " {", "("].map(|after| format!("{name}{after}"));
    let mut links = Vec::new();
    for (forms, (ending, folders)) in [&[format!(": {name}(")][..], &calls].into_iter().zip(USES) {
        let files = sources
            .ending(ending)
            .filter(|file| folders.iter().any(|folder| file.path.contains(folder)))
            // Its `Identity` is a preconditioner.
            .filter(|file| !file.path.starts_with("crates/pliant-krylov/"));
        let is_use = |line: &&str| forms.iter().any(|form| find_word(line, form).is_some());
        let mut counted: Vec<(usize, &str)> = files
            .map(|file| (file.text.lines().filter(is_use).count(), file.path.as_str()))
            .filter(|(count, _)| *count > 0)
            .collect();
        counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        links.extend(
            counted
                .iter()
                .take(MOST)
                .map(|(_, path)| format!("[{}](../{path})", path.rsplit('/').next().unwrap_or(path))),
        );
    }
    links.join(", ")
}

/// Documentation as the cell of a table, with the links to items as code.
fn without_links(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("`]").unwrap_or((part, ""));
        let path = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        out += &format!("`{name}`{}", path.map_or(rest, |(_, rest)| rest));
    }
    let out = out.replace("docs/notation.md", "[notation](notation.md)");
    out.replace('|', "\\|")
}

/// Whether a unit stands in parentheses outside of code: `(m)`, `(N s/m)`, `(elements, or fixed
/// points in m)`.
fn states_unit(text: &str) -> bool {
    let prose: String = text.split('`').step_by(2).collect();
    let groups = prose.split('(').skip(1).map(|rest| rest.split(')').next());
    let groups = groups.map(Option::unwrap_or_default);
    let mut words = groups.flat_map(|group| group.split(|c: char| !c.is_alphabetic()));
    words.any(|word| UNITS.contains(&word))
}

/// Whether code between backquotes holds an equation or an inequality.
fn states_equation(text: &str) -> bool {
    let mut words = text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    words.any(|word| ["=", "<=", ">=", "<", ">"].contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: &str = "/// A law\n/// of a [`Length`](crate::Length).\n///\n/// **Equation.** `f = -k |x|`.\n///\n/// **Use.** Ropes.\n\
        #[derive(\n    Clone,\n)]\npub struct Law {\n    k: f64,\n}\n\nimpl Law {\n    /// Stiffness `k` (N/m).\n    #[must_use]\n    \
        pub fn new(\n        k: f64,\n    ) -> Self {\n        Self { k }\n    }\n}\n\nimpl ForceField for Law {}\n";

    /// The page, and the findings about the law; the types that every project has are not there.
    fn written(law: &str) -> (String, Vec<String>) {
        let (page, findings) = page(&Sources::of(&[
            ("crates/pliant-model/src/law.rs", law),
            ("crates/pliant-model/tests/it/law.rs", "    Law::new(1.0);\n"),
            ("scenes/rope.ron", "(law: Law(k: 1))\n// law: Lawn\n"),
        ]));
        let findings = findings.iter().map(ToString::to_string);
        let of_law = |one: &String| one.contains("law.rs") || one.contains("`Law`");
        (page, findings.filter(of_law).collect())
    }

    #[test]
    fn a_component_is_a_line_of_a_table() {
        let (page, findings) = written(LAW);
        assert_eq!(findings, [""; 0]);
        let line = "## Force fields\n\n| component | equation | used in |\n|---|---|---|\n\
            | [`Law`](../crates/pliant-model/src/law.rs): A law of a `Length`. | `f = -k \\|x\\|`. | \
            [rope.ron](../scenes/rope.ron), [law.rs](../crates/pliant-model/tests/it/law.rs) |\n";
        assert!(page.contains(line), "{page}");
    }

    #[test]
    fn gaps_are_said_with_file_and_name() {
        for (absent, wanted) in [
            (
                "**Use.** ",
                "law.rs:10: for the catalogue, `Law` lacks the paragraph",
            ),
            (
                " (N/m)",
                "law.rs:17: for the catalogue, `pub fn new(k: f64,) -> Self {` lacks",
            ),
            ("pub struct ", "`Law` is not public"),
        ] {
            let findings = written(&LAW.replace(absent, "")).1.join("\n");
            assert!(findings.contains(wanted), "{wanted}: {findings}");
        }
    }
}
