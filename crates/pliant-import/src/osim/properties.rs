//! Properties of OpenSim's objects: elements without children, whose text is the value. They are
//! read as attributes are.

use crate::error::ImportError;
use crate::xml::{Attribute, Tree};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

type Result<T> = std::result::Result<T, ImportError>;

/// The first element of a document.
const ROOT: &str = "<OpenSimDocument";

/// A document as XML, of the same length, if it may be an OpenSim document that is none. OpenSim
/// writes names such as `HuntCrossleyForce::ContactParameters`, which are none of XML, and reads
/// comments with two hyphens in them.
pub(crate) fn well_formed(text: &str) -> Option<String> {
    if !text.contains(ROOT) || !(text.contains("::") || text.contains("<!--")) {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"<!--") {
            let inside = at + 4;
            let length = bytes[inside..].windows(3).position(|w| w == b"-->");
            let end = length.map_or(bytes.len(), |n| inside + n);
            bytes[inside..end]
                .iter_mut()
                .filter(|b| **b == b'-')
                .for_each(|b| *b = b' ');
            at = end + 3;
        } else if bytes[at] == b'<' {
            // The name, with the slash of an end tag ahead of it.
            at += 1;
            while at < bytes.len() && !b" \t\r\n><=\"'".contains(&bytes[at]) {
                if bytes[at..].starts_with(b"::") {
                    bytes[at..at + 2].copy_from_slice(b"__");
                }
                at += 1;
            }
        } else {
            at += 1;
        }
    }
    // Only bytes of ASCII were changed, into others.
    String::from_utf8(bytes).ok()
}

/// Makes attributes of properties, and leaves out empty sets.
pub(super) fn fold(tree: &mut Tree, root: usize) {
    // Children stand behind their parents.
    for of in (root..tree.elements.len()).rev() {
        let children = std::mem::take(&mut tree.elements[of].children);
        let mut kept = Vec::with_capacity(children.len());
        for child in children {
            let element = &tree.elements[child];
            match &element.text {
                Some(text) if element.children.is_empty() => {
                    let text = text.clone();
                    tree.add_attribute(of, text);
                }
                _ if is_empty(tree, child) => {}
                _ => kept.push(child),
            }
        }
        tree.elements[of].children = kept;
    }
}

/// Whether an element is a list or property without content; objects may have none.
fn is_empty(tree: &Tree, of: usize) -> bool {
    let element = &tree.elements[of];
    let named = tree.own_attributes(of).iter().all(|a| a.name == "name");
    let tag = element.tag.as_str();
    let list = tag.ends_with("Set") || tag == "Joint" || tag.starts_with(|c: char| c.is_ascii_lowercase());
    element.children.is_empty() && element.text.is_none() && named && list
}

/// Gives objects the properties that the model's defaults have for their kind.
pub(super) fn apply_defaults(tree: &mut Tree, model: usize) {
    let mut defaults: HashMap<String, Rc<[Attribute]>> = HashMap::new();
    let mut within = HashSet::new();
    for section in tree.all(model, "defaults") {
        within.insert(section);
        for of in tree.elements[section].children.clone() {
            let own = tree.own_attributes(of).iter().filter(|a| a.name != "name");
            let list: Vec<Attribute> = own.cloned().collect();
            defaults
                .entry(tree.elements[of].tag.clone())
                .or_insert_with(|| list.into());
        }
    }
    if defaults.is_empty() {
        return;
    }
    let mut open: Vec<usize> = tree.elements[model].children.clone();
    while let Some(of) = open.pop() {
        if within.contains(&of) {
            continue;
        }
        if let Some(list) = defaults.get(&tree.elements[of].tag) {
            tree.inherit(of, Rc::clone(list));
        }
        open.extend(&tree.elements[of].children);
    }
}

/// The objects of a set, which stand in `objects`, or in the property itself.
pub(super) fn objects(tree: &Tree, of: usize, set: &str) -> Vec<usize> {
    let mut out = Vec::new();
    for set in tree.all(of, set) {
        for child in &tree.elements[set].children {
            match tree.elements[*child].tag.as_str() {
                "objects" => out.extend(&tree.elements[*child].children),
                "groups" => {}
                _ => out.push(*child),
            }
        }
    }
    out
}

/// A property that is true or false; false if it is not there.
pub(super) fn truth(tree: &Tree, of: usize, name: &str) -> Result<bool> {
    let Some(attribute) = tree.attribute(of, name) else {
        return Ok(false);
    };
    match attribute.value.as_str() {
        "true" | "True" | "TRUE" | "1" => Ok(true),
        "false" | "False" | "FALSE" | "0" => Ok(false),
        other => {
            let message = format!("`{name}` is `{other}` where it may be `true` or `false`");
            tree.wrong(attribute.spot, message, None)
        }
    }
}

/// A property that is true or false; true if it is not there.
pub(super) fn switched_on(tree: &Tree, of: usize, name: &str) -> Result<bool> {
    Ok(tree.attribute(of, name).is_none() || truth(tree, of, name)?)
}

/// The name of an object; none if it has none.
pub(super) fn name(tree: &Tree, of: usize) -> Option<String> {
    tree.value(of, "name")
        .filter(|n| !n.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_comments_become_those_of_xml() {
        let text = "<OpenSimDocument><!-- a -- b --><A::B x=\"1::2\">c::d - e</A::B></OpenSimDocument>";
        let made = well_formed(text).expect("the text has the root of OpenSim");
        assert_eq!(made.len(), text.len());
        assert_eq!(
            made,
            "<OpenSimDocument><!-- a    b --><A__B x=\"1::2\">c::d - e</A__B></OpenSimDocument>"
        );
        for cut in 0..text.len() {
            assert!(well_formed(&text[..cut]).is_none_or(|made| made.len() == cut));
        }
        assert!(well_formed("<mujoco><!-- -- --></mujoco>").is_none());
    }
}
