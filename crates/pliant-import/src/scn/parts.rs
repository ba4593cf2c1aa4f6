//! The parts of a scene on their way to text.

use crate::numbers::{number, text, tuple};
use crate::write::list;
use pliant_dense::Vec3;
use std::fmt::Write as _;

/// The widest line of a list of numbers.
const WIDTH: usize = 92;

/// Entries of the lists of a scene.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) nodes: Vec<String>,
    pub(super) joints: Vec<String>,
    pub(super) masses: Vec<String>,
    pub(super) forces: Vec<String>,
    pub(super) constraints: Vec<String>,
    pub(super) fixed: Vec<String>,
    pub(super) materials: Vec<String>,
    pub(super) pairs: Vec<String>,
    pub(super) friction_rule: Option<&'static str>,
    pub(super) colliders: Vec<String>,
    pub(super) ignored: Vec<String>,
}

impl Parts {
    pub(super) fn write(&self, out: &mut String) {
        list(out, "nodes", &self.nodes);
        list(out, "joints", &self.joints);
        list(out, "masses", &self.masses);
        list(out, "force_fields", &self.forces);
        list(out, "constraints", &self.constraints);
        list(out, "fixed", &self.fixed);
        list(out, "materials", &self.materials);
        list(out, "material_pairs", &self.pairs);
        if let Some(rule) = self.friction_rule {
            let _ = writeln!(out, "\n    friction_rule: {rule},");
        }
        list(out, "colliders", &self.colliders);
        list(out, "ignore", &self.ignored);
    }
}

/// A list in square brackets, over several lines if it is long.
pub(super) fn brackets(items: &[String]) -> String {
    let length: usize = items.iter().map(|i| i.len() + 2).sum();
    if length <= WIDTH {
        return format!("[{}]", items.join(", "));
    }
    let mut out = String::from("[");
    let mut width = WIDTH;
    for item in items {
        if width + item.len() + 2 > WIDTH {
            out.push_str("\n   ");
            width = 3;
        }
        let _ = write!(out, " {item},");
        width += item.len() + 2;
    }
    out.push_str("\n]");
    out
}

/// Numbers in square brackets.
pub(super) fn numbers(list: &[f64]) -> String {
    brackets(&list.iter().map(|x| number(*x)).collect::<Vec<_>>())
}

/// Counts in square brackets.
pub(super) fn counts(list: &[usize]) -> String {
    brackets(&list.iter().map(usize::to_string).collect::<Vec<_>>())
}

/// One number if all are the same, else all of them.
pub(super) fn each(list: &[f64]) -> String {
    match list {
        [first, rest @ ..] if rest.iter().all(|x| x == first) => number(*first),
        _ => numbers(list),
    }
}

/// A point as it stands in the file, or as it was computed: without the last digits of rounding.
pub(super) fn point(p: Vec3) -> String {
    tuple(&crate::numbers::position(p))
}

/// Names in square brackets and quotes.
pub(super) fn names<'a>(list: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = list.into_iter().map(text).collect();
    format!("[{}]", quoted.join(", "))
}
