//! Paths named in the documents: a `crates/...` that is gone misleads more than one that was never
//! named.

use super::{Finding, links};
use crate::sources::Sources;

/// Code spans that start so are meant as paths of the repository.
const FOLDERS: &[&str] = &["crates/", "xtask/", "benches/", "docs/"];

/// Documents that speak of the past.
const HISTORY: &[&str] = &["CHANGELOG.md", "docs/decisions/"];

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.ending(".md") {
        if HISTORY.iter().any(|start| file.path.starts_with(start)) {
            continue;
        }
        for (number, line) in links::prose(&file.text) {
            for span in line.split('`').skip(1).step_by(2) {
                let is_path = span
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
                let in_repository = FOLDERS.iter().any(|folder| span.starts_with(folder));
                if is_path && in_repository && !sources.has(span) {
                    findings.push(Finding::problem(
                        &file.path,
                        number,
                        format!("no file or folder `{span}`"),
                    ));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_gone_are_found() {
        let text =
            "See `docs/` and `docs/a.md`.\nNot `crates/gone/` nor `crates/*`, nor `docs/b c`, nor `x`.\n";
        let sources = Sources::of(&[("README.md", text), ("docs/a.md", ""), ("CHANGELOG.md", text)]);
        assert_eq!(
            check(&sources),
            [Finding::problem(
                "README.md",
                2,
                "no file or folder `crates/gone/`"
            )]
        );
    }
}
