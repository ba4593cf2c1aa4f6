//! `cargo xtask keys`: the keys of the entries of a scene as types of Python, and the documentation
//! of all keys and kinds as a text that the schema of scenes is described with, from the structs
//! and enums that read them.
//!
//! The types of values are those of numbers, texts and lists; what has kinds of its own is `Any`.
//! `tidy` checks that the files are up to date.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::sources::{File, Sources};
use crate::tidy::Finding;
use crate::{flags, process};

/// The file of Python.
const PATH: &str = "python/pliant/keys.py";
/// The file of meanings.
const MEANINGS: &str = "crates/pliant-scene/src/describe/meanings.txt";
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
    /// Its documentation, in one line.
    doc: String,
    /// Its type in Rust.
    of: String,
    is_required: bool,
}

/// Writes the file.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches("keys", args, [])?;
    let root = process::workspace_root()?;
    let sources = Sources::read()?;
    for (path, text) in [(PATH, page(&sources).0), (MEANINGS, meanings(&sources))] {
        let path = root.join(path);
        std::fs::write(&path, text).map_err(|source| Error::File { path, source })?;
    }
    Ok(0)
}

/// Whether a file is out of date, and calls whose struct is not there.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let (text, mut findings) = page(sources);
    for (path, text) in [(PATH, text), (MEANINGS, meanings(sources))] {
        if sources.get(path) != Some(&text) {
            let message = "differs from what `cargo xtask keys` writes";
            findings.push(Finding::problem(path, 1, message));
        }
    }
    findings
}

/// The file, and what is missing for it.
fn page(sources: &Sources) -> (String, Vec<Finding>) {
    let structs: BTreeMap<String, Vec<Key>> = schema(sources).flat_map(|file| structs(&file.text)).collect();
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

/// The files of the schema.
fn schema(sources: &Sources) -> impl Iterator<Item = &File> {
    sources.ending(".rs").filter(|file| file.path.starts_with(SCHEMA))
}

/// A line for each documented key of a struct, `Struct.key: meaning`, and kind of an enum.
fn meanings(sources: &Sources) -> String {
    let mut lines = Vec::new();
    for file in schema(sources) {
        for (of, keys) in structs(&file.text).into_iter().chain(enums(&file.text)) {
            let documented = keys.iter().filter(|key| !key.doc.is_empty());
            lines.extend(documented.map(|key| format!("{of}.{}: {}\n", key.name, key.doc)));
        }
    }
    lines.sort();
    lines.dedup();
    lines.concat()
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
        let (head, is_empty) = match (head.strip_suffix("{}"), head.strip_suffix('{')) {
            (Some(head), _) => (head, true),
            (None, Some(head)) => (head, false),
            (None, None) => continue,
        };
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let body: Vec<&str> = match is_empty {
            true => Vec::new(),
            false => lines.by_ref().take_while(|line| *line != end).collect(),
        };
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

/// The enums of a file with their kinds.
fn enums(text: &str) -> Vec<(String, Vec<Key>)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let head = line.strip_prefix("pub enum ");
        let Some(name) = head.and_then(|head| head.strip_suffix(" {")) else {
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
        found.push((name.to_owned(), kinds(&body)));
    }
    found
}

/// The kinds in the body of an enum.
fn kinds(body: &[&str]) -> Vec<Key> {
    let (mut found, mut attributes) = (Vec::new(), Attributes::default());
    for line in body.iter().map(|line| line.trim()) {
        if attributes.read(line) {
            continue;
        }
        let name: String = line.chars().take_while(|c| c.is_alphanumeric()).collect();
        if name.starts_with(char::is_uppercase) {
            let Attributes {
                doc, name: renamed, ..
            } = std::mem::take(&mut attributes);
            found.push(Key {
                name: renamed.unwrap_or(name),
                doc: doc.trim().to_owned(),
                of: String::new(),
                is_required: false,
            });
        }
    }
    found
}

/// The lines above a key or a kind.
#[derive(Default)]
struct Attributes {
    doc: String,
    /// Its name in scenes, if it is not that of the field.
    name: Option<String>,
    has_default: bool,
}

impl Attributes {
    /// Takes a line of documentation or an attribute; whether it is one.
    fn read(&mut self, line: &str) -> bool {
        if let Some(doc) = line.strip_prefix("///") {
            self.doc += doc;
        } else if line.starts_with("#[") {
            self.has_default |= line.starts_with("#[serde(default");
            let renamed = line
                .split_once("rename = \"")
                .and_then(|(_, rest)| rest.split_once('"'));
            self.name = renamed.map(|(name, _)| name.to_owned()).or(self.name.take());
        } else {
            return false;
        }
        true
    }
}

/// The keys in the body of a struct.
fn keys(body: &[&str]) -> Vec<Key> {
    let (mut found, mut attributes) = (Vec::new(), Attributes::default());
    let mut rest = body.iter().map(|line| line.trim());
    while let Some(line) = rest.next() {
        if attributes.read(line) {
            continue;
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
        let Attributes {
            doc,
            name: renamed,
            has_default,
        } = std::mem::take(&mut attributes);
        found.push(Key {
            name: renamed.unwrap_or_else(|| name.to_owned()),
            doc: doc.trim().to_owned(),
            is_required: !has_default && !of.starts_with("Option<"),
            of,
        });
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
    fn keys_and_kinds_are_explained_by_their_documentation() {
        let schema = "/// A rod.\npub struct Rod {\n    /// Its length;\n    /// 1 by default.\n    \
                      #[serde(default, rename = \"long\")]\n    pub length: Number,\n    pub bare: Number,\n}\n\
                      pub enum End {\n    /// Held.\n    Fixed,\n    /// Held by a spring.\n    Soft(Spring),\n}\n";
        let sources = Sources::of(&[("crates/pliant-scene/src/schema/a.rs", schema)]);
        assert_eq!(
            meanings(&sources),
            "End.Fixed: Held.\nEnd.Soft: Held by a spring.\nRod.long: Its length; 1 by default.\n"
        );
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
