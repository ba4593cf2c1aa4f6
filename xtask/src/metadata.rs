//! The parts of `cargo metadata` that the tasks read.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;
use crate::process;

/// The packages of the workspace, or of the whole dependency graph.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_folder: PathBuf,
}

/// One package.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The licence expression of the manifest, if it states one.
    pub(crate) license: Option<String>,
    /// The manifest's path relative to the workspace root, with `/` between folders; absolute
    /// outside of it.
    pub(crate) manifest: String,
    /// Names of the packages this one needs to build and run, optional ones included; not those of
    /// its tests.
    pub(crate) dependencies: Vec<String>,
    /// Whether it may be given to a registry.
    pub(crate) is_published: bool,
    /// Root files of its libraries, programs and examples, relative to the workspace root.
    pub(crate) roots: Vec<String>,
}

impl Package {
    /// The folder of the manifest, relative to the workspace root.
    pub(crate) fn folder(&self) -> &str {
        self.manifest.strip_suffix("/Cargo.toml").unwrap_or_default()
    }
}

impl Metadata {
    /// The workspace's own packages.
    pub(crate) fn of_workspace() -> Result<Metadata, Error> {
        Metadata::query(&["--no-deps"])
    }

    /// Every package in the lock file that some target of the workspace needs.
    pub(crate) fn of_everything() -> Result<Metadata, Error> {
        Metadata::query(&[])
    }

    fn query(args: &[&str]) -> Result<Metadata, Error> {
        let mut command = process::cargo()?;
        command
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(args);
        let description = process::describe(&command);
        let json = process::capture(command)?;
        let value = serde_json::from_slice(&json).map_err(|source| Error::Json {
            command: description,
            source,
        })?;
        Metadata::parse(&value)
    }

    /// Reads the fields of the JSON value that `cargo metadata --format-version 1` prints.
    pub(crate) fn parse(value: &Value) -> Result<Metadata, Error> {
        let root = PathBuf::from(text(value, "workspace_root", "the workspace")?);
        let mut packages = Vec::new();
        for package in list(value, "packages") {
            packages.push(parse_package(package, &root)?);
        }
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        let target_folder = PathBuf::from(text(value, "target_directory", "the workspace")?);
        Ok(Metadata {
            packages,
            target_folder,
        })
    }
}

fn parse_package(value: &Value, root: &Path) -> Result<Package, Error> {
    let name = text(value, "name", "a package")?;
    let mut package = Package {
        version: text(value, "version", &name)?,
        license: value["license"].as_str().map(str::to_owned),
        manifest: relative(&text(value, "manifest_path", &name)?, root),
        // A list of registries, or none at all for every one.
        is_published: value["publish"].as_array().is_none_or(|list| !list.is_empty()),
        ..Package::default()
    };
    for dependency in list(value, "dependencies") {
        if dependency["kind"].as_str() != Some("dev") {
            package.dependencies.push(text(dependency, "name", &name)?);
        }
    }
    package.dependencies.sort();
    package.dependencies.dedup();
    for target in list(value, "targets") {
        let kinds: Vec<&str> = list(target, "kind").iter().filter_map(Value::as_str).collect();
        if kinds
            .iter()
            .any(|kind| matches!(*kind, "lib" | "proc-macro" | "bin" | "example"))
        {
            package
                .roots
                .push(relative(&text(target, "src_path", &name)?, root));
        }
    }
    package.name = name;
    Ok(package)
}

fn text(value: &Value, key: &'static str, of: &str) -> Result<String, Error> {
    value[key]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::Metadata {
            missing: key,
            of: of.to_owned(),
        })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn relative(path: &str, root: &Path) -> String {
    let path = Path::new(path);
    let inner = path.strip_prefix(root).unwrap_or(path);
    inner.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn packages_are_read_and_test_dependencies_left_out() {
        let value = json!({
            "workspace_root": "/w", "target_directory": "/w/target",
            "packages": [{
                "name": "a", "version": "0.1.0", "license": "MIT", "manifest_path": "/w/crates/a/Cargo.toml",
                "publish": [],
                "dependencies": [
                    { "name": "b", "kind": null }, { "name": "c", "kind": "dev" }, { "name": "d", "kind": "build" }
                ],
                "targets": [
                    { "kind": ["lib"], "src_path": "/w/crates/a/src/lib.rs" },
                    { "kind": ["test"], "src_path": "/w/crates/a/tests/it/main.rs" }
                ]
            }]
        });
        let metadata = Metadata::parse(&value).unwrap();
        let package = &metadata.packages[0];
        assert_eq!(package.folder(), "crates/a");
        assert_eq!(package.dependencies, ["b", "d"]);
        assert!(!package.is_published);
        assert_eq!(package.roots, ["crates/a/src/lib.rs"]);
    }

    #[test]
    fn a_missing_field_is_named() {
        let value = json!({ "workspace_root": "/w", "packages": [{ "name": "a" }] });
        let error = Metadata::parse(&value).unwrap_err();
        assert!(error.to_string().contains("`version` for a"), "{error}");
    }
}
