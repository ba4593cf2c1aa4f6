//! The documents that a reader expects, and the first lines of every crate.

use super::Finding;
use crate::metadata::Metadata;
use crate::sources::Sources;

const REQUIRED: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "docs/architecture.md",
    "docs/book/src/theory/notation.md",
    "docs/benchmarks.md",
    "docs/book/src/glossary.md",
];
const DECISIONS: &str = "docs/decisions/";
const ARCHITECTURE: &str = "docs/architecture.md";
const FEATURES: &str = "docs/features.md";

pub(super) fn check(workspace: &Metadata, sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in REQUIRED {
        match sources.get(path) {
            None => findings.push(Finding::problem(path, 1, "missing")),
            Some(text) if text.trim().is_empty() => findings.push(Finding::problem(path, 1, "empty")),
            Some(_) => {}
        }
    }
    if !sources.ending(".md").any(|file| file.path.starts_with(DECISIONS)) {
        findings.push(Finding::problem(DECISIONS, 1, "no decision is recorded"));
    }
    let architecture = sources.get(ARCHITECTURE);
    for package in &workspace.packages {
        let listed =
            |text: &str| mentions(text, &package.name) || mentions(text, &format!("{}/", package.folder()));
        if architecture.is_some_and(|text| !listed(text)) {
            findings.push(Finding::problem(
                ARCHITECTURE,
                1,
                format!("the crate `{}` is not listed", package.name),
            ));
        }
        for root in &package.roots {
            if !sources
                .get(root)
                .is_some_and(|text| text.trim_start().starts_with("//!"))
            {
                findings.push(Finding::problem(
                    root,
                    1,
                    "starts without saying what it is, in `//!` lines",
                ));
            }
        }
    }
    if let Some(text) = sources.get(FEATURES) {
        findings.extend(miscounted(text));
    }
    findings
}

/// The line of the table of features that counts its rows, where it does not say how many there are.
fn miscounted(text: &str) -> Option<Finding> {
    let (mut here, mut in_part, mut missing) = (0, 0, 0);
    for row in text.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<_> = row.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        let is_head = cells.first() == Some(&"feature") || row.starts_with("|--");
        match cells.get(1) {
            _ if is_head => {}
            Some(&"no") => missing += 1,
            _ if cells.len() < 4 || cells[3].is_empty() => here += 1,
            _ => in_part += 1,
        }
    }
    let total = here + in_part + missing;
    let said = format!("{total} features: {here} here, {in_part} in part, {missing} missing.");
    let counted = |line: &str| line.ends_with(" missing.") && line.contains(" features: ");
    match text.lines().position(counted) {
        Some(at) if text.lines().nth(at) == Some(&said) => None,
        Some(at) => Some(Finding::problem(
            FEATURES,
            at + 1,
            format!("the rows say: {said}"),
        )),
        None => Some(Finding::problem(FEATURES, 1, "does not count its rows")),
    }
}

/// Whether the text holds the name by itself, not as a part of a longer one (`pliant` in
/// `pliant-model`).
fn mentions(text: &str, name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(inside);
        let after = text[at + name.len()..].chars().next().is_some_and(inside);
        !before && (!after || name.ends_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Package;
    use std::path::PathBuf;

    const COMPLETE: &[(&str, &str)] = &[
        ("README.md", "x"),
        ("CHANGELOG.md", "x"),
        ("CONTRIBUTING.md", "x"),
        ("LICENSE", "x"),
        ("docs/architecture.md", "`pliant-model`, `benches/`"),
        ("docs/book/src/theory/notation.md", "x"),
        ("docs/benchmarks.md", "x"),
        ("docs/book/src/glossary.md", "x"),
        ("docs/decisions/0001.md", "x"),
        ("benches/src/lib.rs", "//! Scenes.\n"),
    ];

    fn workspace(name: &str, folder: &str) -> Metadata {
        let package = Package {
            name: name.to_owned(),
            manifest: format!("{folder}/Cargo.toml"),
            roots: vec![format!("{folder}/src/lib.rs")],
            ..Package::default()
        };
        Metadata {
            packages: vec![package],
            target_folder: PathBuf::new(),
        }
    }

    #[test]
    fn a_complete_set_passes() {
        let findings = check(&workspace("pliant-benches", "benches"), &Sources::of(COMPLETE));
        assert_eq!(findings, []);
    }

    #[test]
    fn every_document_is_missed() {
        let workspace = Metadata {
            packages: Vec::new(),
            target_folder: PathBuf::new(),
        };
        for left_out in 0..9 {
            let mut files = COMPLETE.to_vec();
            files.remove(left_out);
            assert_eq!(
                check(&workspace, &Sources::of(&files)).len(),
                1,
                "without {}",
                COMPLETE[left_out].0
            );
        }
    }

    #[test]
    fn a_wrong_count_of_features_is_found() {
        let rows = "| feature | here | proved by | missing |\n|---|---|---|---|\n| a | `A` | a.rs |  |\n\
                    | b | `B` | b.rs | half |\n| c | no |  | `C` |\n| d | `D` |  | half |\n";
        let right = format!("4 features: 1 here, 2 in part, 1 missing.\n\n{rows}");
        assert_eq!(miscounted(&right), None);
        let wrong = right.replace("2 in part", "1 in part");
        let found = miscounted(&wrong).expect("a count that is not that of the rows is found");
        assert_eq!(
            found.message,
            "the rows say: 4 features: 1 here, 2 in part, 1 missing."
        );
        assert!(miscounted(rows).is_some());
    }

    #[test]
    fn a_crate_that_is_unlisted_or_says_nothing_is_found() {
        let mut files = COMPLETE.to_vec();
        files.push(("crates/pliant/src/lib.rs", "mod a;\n"));
        let findings = check(&workspace("pliant", "crates/pliant"), &Sources::of(&files));
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert_eq!(findings[0].message, "the crate `pliant` is not listed");
        assert_eq!(findings[1].path, "crates/pliant/src/lib.rs");
    }
}
