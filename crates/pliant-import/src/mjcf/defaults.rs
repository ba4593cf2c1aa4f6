//! Included files and classes of defaults.

use crate::error::ImportError;
use crate::xml::{Attribute, LARGEST_FILE, Tree};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, ImportError>;

/// Puts the elements of included files in the place of `include`.
pub(super) fn include(tree: &mut Tree, root: usize, directory: Option<&Path>) -> Result<()> {
    let mut known: HashSet<PathBuf> = HashSet::new();
    let mut open = vec![root];
    while let Some(of) = open.pop() {
        let mut children = Vec::new();
        let mut queue: Vec<usize> = tree.elements[of].children.iter().rev().copied().collect();
        while let Some(child) = queue.pop() {
            if tree.elements[child].tag != "include" {
                children.push(child);
                continue;
            }
            let file = tree.needed(child, "file")?.clone();
            let Some(directory) = directory else {
                let message = "other files are not read from a text without a directory".to_owned();
                return tree.wrong(file.spot, message, None);
            };
            let path = directory.join(&file.value);
            let bytes = match pliant_mesh_io::read_file(&path, LARGEST_FILE) {
                Ok(bytes) => bytes,
                Err(error) => {
                    return tree.wrong(file.spot, format!("cannot read `{}`: {error}", file.value), None);
                }
            };
            // A file that includes itself would never end, and the format has every file once.
            if !known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                return tree.wrong(file.spot, format!("`{}` is included twice", file.value), None);
            }
            let Ok(text) = String::from_utf8(bytes) else {
                return tree.wrong(file.spot, format!("`{}` is not UTF-8 text", file.value), None);
            };
            let included = tree.read(&path.display().to_string(), &text)?;
            queue.extend(tree.elements[included].children.iter().rev());
        }
        open.extend(&children);
        tree.elements[of].children = children;
    }
    Ok(())
}

/// Attributes of one class, by tag.
type Class = HashMap<String, Vec<Attribute>>;

/// The name of the class of all that name none.
const MAIN: &str = "main";
/// Attributes that all turn a frame: one that is given leaves out the others of the class.
const TURNS: [&str; 5] = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];
/// Actuators, which share their defaults.
pub(super) const ACTUATORS: [&str; 9] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
];

/// Gives every element the attributes of its class that it does not have itself.
pub(super) fn apply(tree: &mut Tree, root: usize) -> Result<()> {
    let mut classes: HashMap<String, Class> = HashMap::from([(MAIN.to_owned(), Class::new())]);
    for element in tree.all(root, "default") {
        read_class(tree, element, MAIN, true, &mut classes)?;
    }
    let sections: Vec<usize> = tree.elements[root].children.clone();
    let mut open: Vec<(usize, String)> = Vec::new();
    for section in sections {
        if tree.elements[section].tag != "default" {
            open.push((section, MAIN.to_owned()));
        }
    }
    while let Some((of, inherited)) = open.pop() {
        let own = |name: &str| tree.attribute(of, name).cloned();
        let inherited = match own("childclass") {
            Some(class) => known(tree, &class, &classes)?,
            None => inherited,
        };
        let class = match own("class") {
            Some(class) => known(tree, &class, &classes)?,
            None => inherited.clone(),
        };
        let tag = tree.elements[of].tag.clone();
        if tag != "body" && tag != "frame" {
            let extra = missing(tree, of, &tag, &classes[&class]);
            tree.elements[of].attributes.extend(extra);
        }
        open.extend(
            tree.elements[of]
                .children
                .iter()
                .map(|child| (*child, inherited.clone())),
        );
    }
    Ok(())
}

fn known(tree: &Tree, class: &Attribute, classes: &HashMap<String, Class>) -> Result<String> {
    if classes.contains_key(&class.value) {
        return Ok(class.value.clone());
    }
    let mut names: Vec<&str> = classes.keys().map(String::as_str).collect();
    names.sort_unstable();
    let help = pliant_scene::scene::hint(&class.value, "classes", names);
    tree.wrong(class.spot, format!("there is no class `{}`", class.value), help)
}

/// Attributes of a class that an element lacks.
fn missing(tree: &Tree, of: usize, tag: &str, class: &Class) -> Vec<Attribute> {
    let own = &tree.elements[of].attributes;
    let turned = own.iter().any(|a| TURNS.contains(&a.name.as_str()));
    let has = |name: &str| own.iter().any(|a| a.name == name) || (turned && TURNS.contains(&name));
    let mut out: Vec<Attribute> = Vec::new();
    let shared: &[&str] = if ACTUATORS.contains(&tag) {
        &["general"]
    } else {
        &[]
    };
    // Tendons and constraints have one kind of default each.
    let shared = match tag {
        "fixed" | "spatial" => &["tendon"],
        "connect" | "weld" => &["equality"],
        _ => shared,
    };
    for tag in std::iter::once(&tag).chain(shared) {
        for attribute in class.get(*tag).into_iter().flatten() {
            if !has(&attribute.name) && !out.iter().any(|a| a.name == attribute.name) {
                out.push(attribute.clone());
            }
        }
    }
    out
}

/// Reads a class and those inside it, which have its attributes as well. Depth is bounded by that
/// of elements.
fn read_class(
    tree: &mut Tree,
    element: usize,
    parent: &str,
    top: bool,
    classes: &mut HashMap<String, Class>,
) -> Result<()> {
    let name = match tree.attribute(element, "class") {
        Some(name) => name.value.clone(),
        None if top => MAIN.to_owned(),
        None => tree.needed(element, "class")?.value.clone(),
    };
    let name = if top { MAIN.to_owned() } else { name };
    let mut class = classes.get(parent).cloned().unwrap_or_default();
    let children = tree.elements[element].children.clone();
    for child in &children {
        let tag = tree.elements[*child].tag.clone();
        if tag == "default" {
            continue;
        }
        let own = class.entry(tag).or_default();
        for attribute in &tree.elements[*child].attributes {
            let turn = TURNS.contains(&attribute.name.as_str());
            own.retain(|a| a.name != attribute.name && !(turn && TURNS.contains(&a.name.as_str())));
            own.push(attribute.clone());
        }
    }
    if top && let Some(own) = tree.attribute(element, "class") {
        classes.insert(own.value.clone(), class.clone());
    }
    classes.insert(name.clone(), class);
    for child in children {
        if tree.elements[child].tag == "default" {
            read_class(tree, child, &name, false, classes)?;
        }
    }
    Ok(())
}
