//! What the kinds of joints hold and leave free, read from the two functions that say so.

use std::collections::BTreeMap;
use std::ops::Range;

use super::items::{Item, Source};

/// Coordinates by kind, each in words.
pub(super) type Axes = BTreeMap<String, Vec<String>>;

/// The arms of `match self` in a function that gives a list of coordinates for each kind; `None` if it is written otherwise.
pub(super) fn axes(source: &Source<'_>, function: &Item) -> Option<Axes> {
    let arms = source.inside(&function.body, "match self", '{')?;
    let mut found = Axes::new();
    for arm in source.parts(&arms) {
        let code = source.code(&arm);
        let arrow = code.find("=>")?;
        let list = source.inside(&(arm.start + arrow..arm.end), "=>", '[')?;
        let coordinates: Vec<String> = source
            .parts(&list)
            .iter()
            .map(|part| coordinate(source, function, part))
            .collect();
        for kind in code[..arrow].split("Self::").skip(1) {
            let name: String = kind.chars().take_while(|c| c.is_alphanumeric()).collect();
            found.insert(name, coordinates.clone());
        }
    }
    Some(found)
}

/// One coordinate: `Translation(X)`, an element of a constant list, or either with a name, `(Twist(Z), "angle")`.
fn coordinate(source: &Source<'_>, function: &Item, part: &Range<usize>) -> String {
    let code = source.code(part);
    if code.starts_with('(') {
        let inner = source.parts(&(part.start + 1..part.end - 1));
        let name = source.text(part).split('"').nth(1);
        if let (Some(axis), Some(name)) = (inner.first(), name) {
            return format!("`{name}`, {}", in_words(source.code(axis)));
        }
    }
    in_words(element(source, function, code).unwrap_or(code))
}

/// What `NAME[k]` stands for, by the constant of that name in the function.
fn element<'a>(source: &'a Source<'_>, function: &Item, code: &str) -> Option<&'a str> {
    let (name, rest) = code.split_once('[')?;
    let index: usize = rest.strip_suffix(']')?.parse().ok()?;
    let list = constant(source, function, name)?;
    source.parts(&list).get(index).map(|part| source.code(part))
}

/// The list that `const NAME: [..] = [...]` is.
fn constant(source: &Source<'_>, function: &Item, name: &str) -> Option<Range<usize>> {
    let code = source.code(&function.body);
    let at = code.find(&format!("const {name}:"))?;
    let equals = at + code[at..].find('=')?;
    source.inside(&(function.body.start + equals..function.body.end), "=", '[')
}

/// `Translation(X)` as `t_x`, and so on; as it is written if it is none of these.
fn in_words(code: &str) -> String {
    let flat: String = code.split_whitespace().collect();
    let letters: Vec<String> = flat
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| matches!(*word, "X" | "Y" | "Z"))
        .map(str::to_lowercase)
        .collect();
    let name: &str = flat.split(['(', '{']).next().unwrap_or(&flat);
    match (name, letters.as_slice()) {
        ("Translation", [i]) => format!("`t_{i}`"),
        ("Rotation", [i]) => format!("`r_{i}`"),
        ("Misalignment", [i, j]) => format!("`{i}_A . {j}_B`"),
        ("Twist", [i]) => format!("twist about {i}"),
        ("HeadingInA", [about, _]) => format!("turn about {about} of A"),
        ("HeadingInB", [about, _]) => format!("turn about {about} of B"),
        _ => format!("`{code}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "impl Kind {\n    pub const fn held(self) -> &'static [Axis] {\n        \
        const POINT: [Axis; 2] = [Translation(X), Translation(Y)];\n        match self {\n            \
        Self::Fixed | Self::Screw { .. } => &[\n                POINT[0],\n                POINT[1],\n                \
        Misalignment(Z, X),\n            ],\n            Self::Ball => &[],\n        }\n    }\n    \
        fn free(self) {\n        match self { Self::Ball => &[(HeadingInA { about: X, of: Y }, \"first\"), (Other(X, Z), \"x\")] }\n    }\n}\n";

    #[test]
    fn arms_give_coordinates_in_words() {
        let source = Source::new("a.rs", TEXT);
        let functions = source.items_in(&source.items()[0].body);
        let held = axes(&source, &functions[0]).unwrap();
        assert_eq!(held["Fixed"], ["`t_x`", "`t_y`", "`z_A . x_B`"]);
        assert_eq!(held["Screw"], held["Fixed"]);
        assert!(held["Ball"].is_empty());
        let free = axes(&source, &functions[1]).unwrap();
        assert_eq!(free["Ball"], ["`first`, turn about x of A", "`x`, `Other(X, Z)`"]);
    }

    #[test]
    fn anything_else_is_not_understood() {
        let source = Source::new("a.rs", "fn held(self) { table() }");
        assert_eq!(axes(&source, &source.items()[0]), None);
    }
}
