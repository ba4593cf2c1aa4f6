//! Every crate takes its version, edition, Rust version, licence and lints from the workspace, and
//! those that are published say what a registry asks for.

use super::{Finding, line_where};
use crate::metadata::Metadata;
use crate::sources::Sources;

/// Keys of `[package]` that are written once, in the workspace's manifest.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];

/// Keys of `[package]` of crates that are published, and a table.
const PUBLISHED: &[&str] = &["description", "keywords", "categories", "readme", "include"];

pub(super) fn check(workspace: &Metadata, sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let path = &package.manifest;
        let Some(text) = sources.get(path) else {
            findings.push(Finding::problem(
                path,
                1,
                "the manifest is not among the project's files",
            ));
            continue;
        };
        for key in INHERITED {
            if !inherits(text, "package", Some(key)) {
                let line = line_where(text, |line| line.split(['.', ' ', '=']).next() == Some(key));
                findings.push(Finding::problem(
                    path,
                    line,
                    format!("write `{key}.workspace = true`"),
                ));
            }
        }
        if package.is_published {
            findings.extend(unpublishable(path, text));
        }
        if !inherits(text, "lints", None) {
            let line = line_where(text, |line| line.trim() == "[lints]");
            findings.push(Finding::problem(
                path,
                line,
                "write `workspace = true` under `[lints]`",
            ));
        }
    }
    findings
}

/// Keys that a registry asks for and a manifest does not have.
fn unpublishable(path: &str, text: &str) -> Vec<Finding> {
    let table = text.split("\n[").next().unwrap_or_default();
    let has = |key: &str| {
        let mut lines = table.lines().filter_map(|line| line.strip_prefix(key));
        lines.any(|rest| {
            rest.trim_start_matches(".workspace")
                .trim_start()
                .starts_with('=')
        })
    };
    PUBLISHED
        .iter()
        .filter(|key| !has(key))
        .map(|key| Finding::problem(path, 1, format!("a published crate has a `{key}`")))
        .collect()
}

/// Whether `[table]` holds `workspace = true`, or `key.workspace = true` if a key is given.
fn inherits(manifest: &str, table: &str, key: Option<&str>) -> bool {
    let mut current = "";
    for line in manifest.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = name.trim();
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let (name, value): (&str, String) = (name.trim(), value.split_whitespace().collect());
        let found = match key {
            None => name == "workspace" && value == "true",
            Some(key) => {
                let dotted = name.strip_suffix(".workspace").map(str::trim) == Some(key) && value == "true";
                dotted || (name == key && value == "{workspace=true}")
            }
        };
        if current == table && found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Package;
    use std::path::PathBuf;

    const GOOD: &str = "[package]\nname = \"a\"\nversion.workspace = true\nedition = { workspace = true }\n\
                        rust-version.workspace = true # the oldest\nlicense.workspace = true\n\n[lints]\nworkspace = true\n";

    fn findings(manifest: &str) -> Vec<(usize, String)> {
        let package = Package {
            manifest: "a/Cargo.toml".to_owned(),
            ..Package::default()
        };
        let workspace = Metadata {
            packages: vec![package],
            target_folder: PathBuf::new(),
        };
        let sources = Sources::of(&[("a/Cargo.toml", manifest)]);
        check(&workspace, &sources)
            .into_iter()
            .map(|finding| (finding.line, finding.message))
            .collect()
    }

    #[test]
    fn a_manifest_that_inherits_passes() {
        assert_eq!(findings(GOOD), []);
    }

    #[test]
    fn own_values_and_own_lints_are_found() {
        let own_version = GOOD.replace(
            "version.workspace = true\nedition",
            "version = \"0.2.0\"\nedition",
        );
        assert_eq!(
            findings(&own_version),
            [(3, "write `version.workspace = true`".to_owned())]
        );
        for lost in [
            "edition = { workspace = true }",
            "rust-version.workspace = true",
            "license.workspace = true",
        ] {
            assert_eq!(findings(&GOOD.replace(lost, "")).len(), 1, "without {lost}");
        }
        let own_lints = GOOD.replace("[lints]\nworkspace = true", "[lints]\nworkspace = false");
        assert_eq!(
            findings(&own_lints),
            [(8, "write `workspace = true` under `[lints]`".to_owned())]
        );
        // The same key in another table does not count.
        assert_eq!(findings(&GOOD.replace("[lints]", "[dependencies]")).len(), 1);
    }
    #[test]
    fn published_crates_say_what_a_registry_asks_for() {
        let text = "[package]\nname = \"a\"\ndescription = \"A.\"\nkeywords = []\ncategories = []\n\
                    readme = \"README.md\"\ninclude.workspace = true\n[lints]\n";
        assert_eq!(unpublishable("a/Cargo.toml", text), []);
        let found = unpublishable("a/Cargo.toml", &text.replace("keywords", "words"));
        assert_eq!(found[0].message, "a published crate has a `keywords`");
        assert_eq!(
            unpublishable("a/Cargo.toml", "[package]\n[b]\nreadme = \"\"\n").len(),
            PUBLISHED.len()
        );
    }
}
