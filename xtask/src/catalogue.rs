//! `cargo xtask catalogue`: the page that lists the components, from their documentation.
//!
//! The documentation in the code is the only place where components are described; this reads it and complains where it is
//! incomplete. `tidy` checks that the page is what it writes.

mod components;
mod docs;
mod items;
mod joints;
mod page;
mod survey;
mod tables;
mod uses;

use crate::error::Error;
use crate::sources::Sources;
use crate::tidy::Finding;
use crate::{flags, process};

/// The page.
const PATH: &str = "docs/catalogue.md";

/// Writes the page, or with `--check` compares only; fails if the documentation lacks something.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [only_check] = flags::switches("catalogue", args, ["--check"])?;
    let sources = Sources::read()?;
    let findings = if only_check {
        check(&sources)
    } else {
        let (text, findings) = page_of(&sources);
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

/// What the documentation of the components lacks, and whether the page is out of date.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let (wanted, mut findings) = page_of(sources);
    match sources.get(PATH) {
        None => findings.push(Finding::problem(
            PATH,
            1,
            "missing; `cargo xtask catalogue` writes it",
        )),
        Some(known) if known != wanted => {
            let mut lines = known.lines().zip(wanted.lines());
            let same = lines.position(|(a, b)| a != b);
            let same = same.unwrap_or(known.lines().count().min(wanted.lines().count()));
            let message = "differs from what `cargo xtask catalogue` writes";
            findings.push(Finding::problem(PATH, same + 1, message));
        }
        Some(_) => {}
    }
    findings
}

/// The page, and what the documentation lacks.
fn page_of(sources: &Sources) -> (String, Vec<Finding>) {
    let (components, findings) = components::collect(sources);
    let places = uses::Places::of(sources);
    (page::write(&components, &places), findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::File;

    const LAW: &str = "/// A law.\n///\n/// **Equation.** `f = -k x`.\n///\n/// **Use.** Ropes, on a [`Length`](crate::Length).\n\
        #[derive(Clone)]\npub struct Law {\n    k: f64,\n}\n\nimpl Law {\n    /// Stiffness `k` (N/m), |k| at most.\n    \
        #[must_use]\n    pub fn new(\n        k: f64,\n    ) -> Self {\n        Self { k }\n    }\n}\n\nimpl ForceField for Law {}\n";
    const LENGTHS: &str = "macro_rules! both {\n    ($name:ident) => {\n        impl Mapping for $name {}\n    };\n}\nboth!(Length);\n\
        /// A length.\n///\n/// **Equation.** `x_c = |x|` (m).\n///\n/// **Parents.** Points.\n///\n/// **Use.** Rods.\n\
        pub struct Length;\nimpl Length {\n    /// All.\n    pub fn new() -> Self {\n        Self\n    }\n}\n";
    const SCENE: &str = "(law: Rope(k: 1))\n// law: Law\n";
    const READER: &str = "match law {\n    Law::Rope(k) => {\n        Law::new(k)\n    }\n}\n";

    fn project(law: &str) -> Sources {
        Sources::of(&[
            ("crates/pliant-model/src/law.rs", law),
            ("crates/pliant-model/src/length.rs", LENGTHS),
            (
                "crates/pliant-model/tests/it/law.rs",
                "fn a() {\n    Law::new(1.0);\n}\n",
            ),
            ("crates/pliant-scene/src/build.rs", READER),
            ("scenes/rope.ron", SCENE),
        ])
    }

    /// What is missing of the law and the length; the types that every project has are not there.
    fn missing(law: &str) -> Vec<String> {
        let (_, findings) = page_of(&project(law));
        let lines = findings.iter().map(ToString::to_string);
        lines
            .filter(|line| line.contains("law.rs") || line.contains("length.rs"))
            .collect()
    }

    #[test]
    fn a_page_has_contents_equations_tables_and_uses() {
        assert_eq!(missing(LAW), [""; 0]);
        let (page, _) = page_of(&project(LAW));
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
    fn what_is_missing_is_said_with_file_and_name() {
        for (present, absent, wanted) in [
            (
                "**Equation.** ",
                "",
                "law.rs:7: for the catalogue, `Law` lacks the paragraph `**Equation.**`",
            ),
            (
                "**Use.** Ropes, on a [`Length`](crate::Length).",
                "",
                "`Law` lacks the paragraph `**Use.**`",
            ),
            ("/// A law.\n///\n", "", "`Law` lacks a first paragraph"),
            (
                " (N/m)",
                "",
                "law.rs:14: for the catalogue, `Law::new` lacks the units",
            ),
            (
                "/// Stiffness `k` (N/m), |k| at most.",
                "",
                "`Law::new` lacks documentation",
            ),
            ("pub fn new", "fn new", "`Law` lacks a public constructor"),
            (
                "pub struct Law",
                "struct Law",
                "`Law` lacks a public struct or enum of this name",
            ),
        ] {
            let broken = LAW.replace(present, absent);
            let (_, findings) = page_of(&project(&broken));
            let found = findings
                .iter()
                .any(|finding| finding.to_string().contains(wanted));
            assert!(found, "{wanted}: {findings:?}");
        }
    }

    #[test]
    fn an_old_page_is_found() {
        let mut sources = project(LAW);
        let about_page = |sources: &Sources| {
            let findings = check(sources).into_iter().map(|finding| finding.to_string());
            findings.filter(|line| line.starts_with(PATH)).collect::<Vec<_>>()
        };
        assert_eq!(about_page(&sources).len(), 1);
        let (page, _) = page_of(&sources);
        let mut set = |text: String| {
            sources.files.retain(|file| file.path != PATH);
            let path = PATH.to_owned();
            sources.files.push(File { path, text });
            sources.files.sort_by(|a, b| a.path.cmp(&b.path));
            about_page(&sources)
        };
        assert_eq!(set(page.clone()), [""; 0]);
        let old = set(page.replacen("# Catalogue", "# Catalog", 1));
        assert_eq!(
            old,
            ["docs/catalogue.md:1: differs from what `cargo xtask catalogue` writes"]
        );
    }

    #[test]
    fn the_components_of_the_project_are_described() {
        let mut sources = Sources::read().unwrap();
        assert_eq!(page_of(&sources).1, []);
        let gas = sources
            .files
            .iter_mut()
            .find(|file| file.path.ends_with("/gas.rs"))
            .unwrap();
        gas.text = gas.text.replacen("**Use.**", "", 1);
        let findings = page_of(&sources).1;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0]
                .to_string()
                .contains("`Gas` lacks the paragraph `**Use.**`")
        );
    }
}
