//! `cargo xtask keys`: the keys of the entries of a scene as types of Python, from the structs that
//! read them.
//!
//! The types of values are those of numbers, texts and lists; what has kinds of its own is `Any`.
//! `tidy` checks that the file is up to date.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::sources::Sources;
use crate::tidy::Finding;
use crate::{flags, process};

/// The file of Python.
const PATH: &str = "python/pliant/keys.py";
/// The folder of the structs, and the file beside it.
const SCHEMA: &str = "crates/pliant-scene/src/schema";
/// Calls of `pliant.Scene`: the type of their keys, the struct, and keys that are arguments of
/// their own.
const CALLS: &[(&str, &str, &[&str])] = &[
    ("SceneKeys", "Scene", &["run", "nodes"]),
    ("ParticlesKeys", "Particles", &["name"]),
    ("ScalarsKeys", "Scalars", &["name"]),
    ("BodiesKeys", "Bodies", &["name", "bodies"]),
    ("BodyKeys", "Body", &["name"]),
    ("MappedKeys", "Mapped", &["name", "parents", "mapping"]),
    ("CableKeys", "Cable", &["name"]),
    ("RodKeys", "Rod", &["name"]),
    ("ElasticRodKeys", "ElasticRod", &["name"]),
    ("NetKeys", "Net", &["name"]),
    ("MeshKeys", "MeshPart", &["name"]),
    ("SolidKeys", "Solid", &["name"]),
    ("EmbeddedSurfaceKeys", "EmbeddedSurface", &["name"]),
    ("ElasticSheetKeys", "ElasticSheet", &["name"]),
    ("ElasticShellKeys", "ElasticShell", &["name"]),
    ("JointKeys", "JointSpec", &["name", "kind"]),
    ("GearKeys", "GearSpec", &[]),
    ("MassKeys", "MassSpec", &["name", "on", "mass"]),
    ("ForceFieldKeys", "ForceFieldSpec", &["name", "on", "law"]),
    ("ConstraintKeys", "ConstraintSpec", &["name", "on"]),
    ("FixedKeys", "FixedSpec", &["node"]),
    ("MaterialKeys", "MaterialSpec", &["name"]),
    ("MaterialPairKeys", "MaterialPairSpec", &[]),
    ("FixedColliderKeys", "FixedColliderSpec", &[]),
    ("BodiesColliderKeys", "BodiesColliderSpec", &[]),
    ("BodyColliderKeys", "BodyColliderSpec", &[]),
    ("PointsColliderKeys", "PointsColliderSpec", &[]),
    ("CableColliderKeys", "CableColliderSpec", &[]),
    ("ClothColliderKeys", "ClothColliderSpec", &[]),
];
/// Words of Python that no argument can be called.
const WORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
/// Lines above the types.
const HEAD: &str = r#""""Keys of the calls of a :class:`pliant.Scene`: written by ``cargo xtask keys``, not by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat, TypeAlias, TypedDict, Union

from numpy.typing import NDArray

#: A number, or an expression in a text.
Number: TypeAlias = Union[SupportsFloat, str]
#: Numbers, or entries of a list.
List: TypeAlias = Union[Sequence[Any], NDArray[Any]]
#: One number for all, or a list with one for each.
Each: TypeAlias = Union[Number, List]
"#;

/// A key of a struct.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    name: String,
    /// Its type in Rust.
    of: String,
    is_required: bool,
}

/// Writes the file.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches("keys", args, [])?;
    let path = process::workspace_root()?.join(PATH);
    let (text, _) = page(&Sources::read()?);
    std::fs::write(&path, text).map_err(|source| Error::File { path, source })?;
    Ok(0)
}

/// Whether the file is out of date, and calls whose struct is not there.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let (text, mut findings) = page(sources);
    if sources.get(PATH) != Some(&text) {
        findings.push(Finding::problem(
            PATH,
            1,
            "differs from what `cargo xtask keys` writes",
        ));
    }
    findings
}

/// The file, and what is missing for it.
fn page(sources: &Sources) -> (String, Vec<Finding>) {
    let files = sources.ending(".rs").filter(|file| file.path.starts_with(SCHEMA));
    let structs: BTreeMap<String, Vec<Key>> = files.flat_map(|file| structs(&file.text)).collect();
    let (mut page, mut findings) = (HEAD.to_owned(), Vec::new());
    for (name, of, own) in CALLS {
        let Some(keys) = structs.get(*of) else {
            let message = format!("no struct `{of}` is in {SCHEMA}");
            findings.push(Finding::problem(PATH, 1, message));
            continue;
        };
        page += &class(name, keys, own);
    }
    (page, findings)
}

/// A type of Python with the keys that are not arguments of their own.
fn class(name: &str, keys: &[Key], own: &[&str]) -> String {
    let line = |key: &Key| format!("    {}: {}\n", argument(&key.name), python(&key.of));
    let keys = keys.iter().filter(|key| !own.contains(&key.name.as_str()));
    let required: String = keys.clone().filter(|key| key.is_required).map(line).collect();
    let others: String = keys.filter(|key| !key.is_required).map(line).collect();
    let mut text = String::new();
    let mut base = "TypedDict".to_owned();
    if !required.is_empty() && !others.is_empty() {
        base = format!("_{name}");
        text += &format!("\n\nclass {base}(TypedDict):\n{required}");
    }
    let doc = "    \"\"\"Keys that may be given, and those that must.\"\"\"\n\n";
    match (required.is_empty(), others.is_empty()) {
        (true, true) => text + &format!("\n\nclass {name}(TypedDict):\n    \"\"\"No keys.\"\"\"\n"),
        (false, true) => text + &format!("\n\nclass {name}(TypedDict):\n{doc}{required}"),
        _ => text + &format!("\n\nclass {name}({base}, total=False):\n{doc}{others}"),
    }
}

/// The name of a key as an argument: a word of Python has an underscore behind it.
fn argument(name: &str) -> String {
    match WORDS.contains(&name) {
        true => format!("{name}_"),
        false => name.to_owned(),
    }
}

/// A type of values as one of Python.
fn python(of: &str) -> &'static str {
    let inner = |wrapper: &str| {
        let rest = of.strip_prefix(wrapper)?.strip_prefix('<')?;
        rest.strip_suffix('>')
    };
    if let Some(inner) = inner("Option").or_else(|| inner("Box")) {
        return python(inner);
    }
    // Units are no types of Python.
    let word = of.split('<').next().unwrap_or(of);
    match (word, of) {
        ("Quantity", _) => "Number",
        ("OneOrMany", _) => "Each",
        ("Triple", _) => "List",
        _ => plain(of),
    }
}

/// A type of values without units as one of Python.
fn plain(of: &str) -> &'static str {
    match of {
        "String" => "str",
        "bool" => "bool",
        "BTreeMap<String,Number>" => "Mapping[str, Number]",
        of if of.starts_with('[') || of.starts_with("Vec<") => "List",
        _ => "Any",
    }
}

/// The structs of a file, with the keys that the macro `shared!` gives several of them.
fn structs(text: &str) -> Vec<(String, Vec<Key>)> {
    let (mut found, mut shared) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("shared!") || line == "}" {
            shared.clear();
        }
        let Some(head) = line.trim_start().strip_prefix("pub struct ") else {
            continue;
        };
        let Some(head) = head.strip_suffix('{') else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
        let keys = keys(&body);
        match head.trim().split_once(" as ") {
            Some(_) => shared = keys,
            None => {
                let all = keys.into_iter().chain(shared.iter().cloned());
                found.push((head.trim().to_owned(), all.collect()));
            }
        }
    }
    found
}

/// The keys in the body of a struct.
fn keys(body: &[&str]) -> Vec<Key> {
    let (mut found, mut has_default) = (Vec::new(), false);
    let mut rest = body.iter().map(|line| line.trim());
    while let Some(line) = rest.next() {
        if line.starts_with("#[serde(default") {
            has_default = true;
        }
        let Some((name, of)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) else {
            continue;
        };
        let mut of = of.to_owned();
        while !of.ends_with(',') {
            match rest.next() {
                Some(more) => of += more,
                None => break,
            }
        }
        let of: String = of.trim_end_matches(',').split_whitespace().collect();
        found.push(Key {
            name: name.to_owned(),
            is_required: !has_default && !of.starts_with("Option<"),
            of,
        });
        has_default = false;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_types_and_defaults_of_their_struct() {
        let text = "/// A rod.\npub struct Rod {\n    /// Its name.\n    pub name: String,\n    \
                    #[serde(default)]\n    pub ends: Vec<Triple<Length>>,\n    pub mass: \
                    Quantity<Mass>,\n    pub from: Option<OneOrMany<Mass>>,\n}\n";
        let found = structs(text);
        assert_eq!(found[0].0, "Rod");
        let class = class("RodKeys", &found[0].1, &["name"]);
        assert!(class.contains("class _RodKeys(TypedDict):\n    mass: Number\n"));
        assert!(class.contains("class RodKeys(_RodKeys, total=False):"));
        assert!(class.ends_with("    ends: List\n    from_: Each\n"));
    }

    #[test]
    fn shared_keys_are_those_of_each_struct_of_their_macro() {
        let text = "shared! {\n    pub struct Law as law {\n        #[serde(default)]\n        pub friction: \
                    Number,\n    }\n\n    pub struct One {\n        pub name: String,\n    }\n\n    pub struct \
                    Two {\n    }\n}\n\npub struct Three {\n    pub on: Option<Box<bool>>,\n}\n";
        let found = structs(text);
        let names = |k: usize| found[k].1.iter().map(|key| key.name.as_str()).collect::<Vec<_>>();
        assert_eq!(found.len(), 3);
        assert_eq!((names(0), names(1)), (vec!["name", "friction"], vec!["friction"]));
        assert_eq!(names(2), ["on"]);
        assert_eq!(
            (python(&found[2].1[0].of), found[2].1[0].is_required),
            ("bool", false)
        );
    }
}
