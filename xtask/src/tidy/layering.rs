//! Who may depend on whom: the diamond of `docs/decisions/0001-layering.md`, as a table.

use std::collections::BTreeSet;

use super::{Finding, line_where};
use crate::metadata::{Metadata, Package};
use crate::sources::Sources;

/// The workspace crates on which a crate may depend.
enum Allowed {
    These(&'static [&'static str]),
    Anything,
}

use Allowed::{Anything, These};

/// One line per crate of the workspace: a new crate is given its place here, deliberately.
const TABLE: &[(&str, Allowed)] = &[
    ("pliant-dense", These(&[])),
    ("pliant-threads", These(&[])),
    ("pliant-sparse", These(&["pliant-dense", "pliant-threads"])),
    ("pliant-solvers", These(&["pliant-dense", "pliant-sparse"])),
    ("pliant-krylov", These(&["pliant-sparse", "pliant-solvers"])),
    (
        "pliant-lab",
        These(&["pliant-sparse", "pliant-solvers", "pliant-krylov"]),
    ),
    (
        "pliant-model",
        These(&["pliant-dense", "pliant-expression", "pliant-threads"]),
    ),
    ("pliant-continuum", These(&["pliant-dense", "pliant-model"])),
    (
        "pliant-kkt",
        These(&["pliant-dense", "pliant-sparse", "pliant-solvers", "pliant-model"]),
    ),
    ("pliant-contact", These(&["pliant-dense", "pliant-model"])),
    (
        "pliant-stepper",
        These(&[
            "pliant-dense",
            "pliant-sparse",
            "pliant-solvers",
            "pliant-krylov",
            "pliant-model",
            "pliant-kkt",
            "pliant-contact",
        ]),
    ),
    (
        "pliant-gradient",
        These(&[
            "pliant-dense",
            "pliant-solvers",
            "pliant-krylov",
            "pliant-model",
            "pliant-kkt",
        ]),
    ),
    (
        "pliant",
        These(&[
            "pliant-dense",
            "pliant-sparse",
            "pliant-solvers",
            "pliant-krylov",
            "pliant-model",
            "pliant-continuum",
            "pliant-kkt",
            "pliant-contact",
            "pliant-stepper",
            "pliant-gradient",
        ]),
    ),
    (
        "pliant-mesh-io",
        These(&["pliant-dense", "pliant-model", "pliant-continuum"]),
    ),
    (
        "pliant-petsc",
        These(&[
            // Of tests and examples: the facade and solids.
            "pliant",
            "pliant-continuum",
            "pliant-kkt",
            "pliant-krylov",
            "pliant-model",
            "pliant-solvers",
            "pliant-sparse",
        ]),
    ),
    ("pliant-output", These(&[])),
    ("pliant-expression", These(&[])),
    (
        "pliant-scene",
        These(&["pliant", "pliant-expression", "pliant-mesh-io", "pliant-output"]),
    ),
    (
        "pliant-run",
        These(&[
            "pliant-lab",
            "pliant",
            "pliant-expression",
            "pliant-mesh-io",
            "pliant-output",
            "pliant-scene",
        ]),
    ),
    (
        "pliant-sweep",
        These(&["pliant-mesh-io", "pliant-output", "pliant-run", "pliant-scene"]),
    ),
    (
        "pliant-import",
        These(&[
            "pliant-dense",
            "pliant",
            "pliant-mesh-io",
            "pliant-run",
            "pliant-scene",
        ]),
    ),
    (
        "pliant-view",
        These(&["pliant", "pliant-output", "pliant-run", "pliant-scene"]),
    ),
    (
        "pliant-cli",
        These(&[
            "pliant-lab",
            "pliant",
            "pliant-mesh-io",
            "pliant-output",
            "pliant-petsc",
            "pliant-run",
            "pliant-scene",
            "pliant-sweep",
            "pliant-import",
            "pliant-view",
        ]),
    ),
    (
        "pliant-python",
        These(&[
            "pliant",
            "pliant-cli",
            "pliant-import",
            "pliant-output",
            "pliant-run",
            "pliant-scene",
            "pliant-sweep",
            "pliant-threads",
        ]),
    ),
    ("pliant-benches", Anything),
    ("pliant-fuzz-targets", Anything),
    ("xtask", Anything),
];

/// Crates that do no input or output, and so need none of these.
const LIBRARIES: &[&str] = &[
    "pliant-dense",
    "pliant-threads",
    "pliant-sparse",
    "pliant-solvers",
    "pliant-krylov",
    "pliant-lab",
    "pliant-model",
    "pliant-continuum",
    "pliant-kkt",
    "pliant-contact",
    "pliant-stepper",
    "pliant-gradient",
    "pliant",
];
const NOT_IN_LIBRARIES: &[&str] = &["clap", "indicatif", "ron", "serde_json"];

/// Exceptions to that: formats of texts, which open no file (docs/decisions/0004).
const TEXTS_IN_LIBRARIES: &[(&str, &str)] = &[("pliant-lab", "serde_json")];

/// The first may not reach the second by any chain of dependencies, whatever the table above
/// becomes.
const NEVER_REACHES: &[(&str, &str)] = &[
    ("pliant-sparse", "pliant-model"),
    ("pliant-solvers", "pliant-model"),
    ("pliant-solvers", "pliant-krylov"),
    ("pliant-solvers", "pliant-lab"),
    ("pliant-lab", "pliant-model"),
    ("pliant-solvers", "pliant-kkt"),
    ("pliant-solvers", "pliant"),
    ("pliant-kkt", "pliant-krylov"),
    ("pliant-stepper", "pliant-continuum"),
    // Takes no step.
    ("pliant-gradient", "pliant-stepper"),
    ("pliant", "pliant-lab"),
    ("pliant-model", "pliant-sparse"),
    ("pliant-model", "pliant-solvers"),
    ("pliant-model", "pliant-kkt"),
    ("pliant-continuum", "pliant-solvers"),
    ("pliant-contact", "pliant-solvers"),
    // The readers and writers compile beside the facade.
    ("pliant-mesh-io", "pliant"),
    ("pliant-mesh-io", "pliant-solvers"),
    ("pliant-output", "pliant-model"),
];

/// Whether a crate belongs to the libraries that neither print nor touch files.
pub(super) fn is_library(name: &str) -> bool {
    LIBRARIES.contains(&name)
}

pub(super) fn check(workspace: &Metadata, sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let at = |dependency: &str, message: String| {
            let text = sources.get(&package.manifest).unwrap_or_default();
            Finding::problem(
                &package.manifest,
                line_where(text, |line| names(line, dependency)),
                message,
            )
        };
        let Some((_, allowed)) = TABLE.iter().find(|(name, _)| *name == package.name) else {
            let message = format!(
                "`{}` has no line in the layering table of xtask/src/tidy/layering.rs",
                package.name
            );
            findings.push(at("name", message));
            continue;
        };
        for dependency in &package.dependencies {
            let internal = workspace.packages.iter().any(|other| other.name == *dependency);
            if let These(list) = allowed
                && internal
                && !list.contains(&dependency.as_str())
            {
                findings.push(at(
                    dependency,
                    format!("`{}` may not depend on `{dependency}`", package.name),
                ));
            }
            let text = TEXTS_IN_LIBRARIES.contains(&(&package.name, dependency));
            if is_library(&package.name) && !text && NOT_IN_LIBRARIES.contains(&dependency.as_str()) {
                let message = format!("the library `{}` may not depend on `{dependency}`", package.name);
                findings.push(at(dependency, message));
            }
        }
        for (_, upper) in NEVER_REACHES.iter().filter(|(lower, _)| *lower == package.name) {
            if reachable(package, workspace).contains(upper) {
                findings.push(at("name", format!("`{}` must not reach `{upper}`", package.name)));
            }
        }
    }
    findings
}

/// Every workspace crate that this one needs, directly or through others.
fn reachable<'a>(package: &'a Package, workspace: &'a Metadata) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![package];
    while let Some(package) = open.pop() {
        for other in &workspace.packages {
            if package.dependencies.contains(&other.name) && found.insert(other.name.as_str()) {
                open.push(other);
            }
        }
    }
    found
}

/// Whether a line of a manifest starts with this key.
fn names(line: &str, key: &str) -> bool {
    line.strip_prefix(key)
        .is_some_and(|rest| rest.starts_with([' ', '.', '=']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn workspace(packages: &[(&str, &[&str])]) -> Metadata {
        let package = |&(name, dependencies): &(&str, &[&str])| Package {
            name: name.to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            dependencies: dependencies.iter().map(|&name| name.to_owned()).collect(),
            ..Package::default()
        };
        Metadata {
            packages: packages.iter().map(package).collect(),
            target_folder: PathBuf::new(),
        }
    }

    fn messages(packages: &[(&str, &[&str])]) -> Vec<String> {
        check(&workspace(packages), &Sources::default())
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn the_diamond_passes() {
        let packages: &[(&str, &[&str])] = &[
            ("pliant-dense", &["nalgebra"]),
            ("pliant-solvers", &["pliant-dense"]),
            ("pliant-lab", &["pliant-solvers", "serde_json"]),
            ("pliant-kkt", &["pliant-solvers"]),
            ("xtask", &["pliant-kkt", "serde_json"]),
        ];
        assert!(messages(packages).is_empty());
    }

    #[test]
    fn an_upward_edge_is_found_at_its_line() {
        let workspace = workspace(&[
            ("pliant-dense", &[]),
            ("pliant-kkt", &[]),
            ("pliant-contact", &["pliant-kkt"]),
        ]);
        let manifest = "[package]\nname = \"pliant-contact\"\n[dependencies]\npliant-kkt.workspace = true\n";
        let findings = check(
            &workspace,
            &Sources::of(&[("crates/pliant-contact/Cargo.toml", manifest)]),
        );
        let path = "crates/pliant-contact/Cargo.toml";
        assert_eq!(
            findings,
            [Finding::problem(
                path,
                4,
                "`pliant-contact` may not depend on `pliant-kkt`"
            )]
        );
    }

    #[test]
    fn solvers_do_not_reach_the_model_through_another_crate() {
        let found = messages(&[
            ("pliant-model", &[]),
            ("pliant-sparse", &["pliant-model"]),
            ("pliant-solvers", &["pliant-sparse"]),
        ]);
        assert!(
            found.contains(&"`pliant-solvers` must not reach `pliant-model`".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn libraries_do_no_input_or_output_and_every_crate_has_a_place() {
        let found = messages(&[("pliant-model", &["serde_json"]), ("pliant-new", &[])]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("may not depend on `serde_json`"));
        assert!(found[1].contains("`pliant-new` has no line in the layering table"));
    }
}
