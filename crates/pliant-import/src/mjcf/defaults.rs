//! Included files and classes of defaults.

use super::drives;
use crate::error::ImportError;
use crate::xml::{Attribute, DEEPEST, LARGEST_FILE, MOST_ATTRIBUTES, TURNS, Tree};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

type Result<T> = std::result::Result<T, ImportError>;

/// Puts the elements of included files in the place of `include`.
pub(super) fn include(tree: &mut Tree, root: usize, directory: Option<&Path>) -> Result<()> {
    let mut known: HashSet<PathBuf> = HashSet::new();
    let mut open = vec![(root, 1)];
    while let Some((of, depth)) = open.pop() {
        if depth > DEEPEST {
            let message = format!("elements are nested more than {DEEPEST} deep, with the files around them");
            return Err(tree.syntax(tree.elements[of].spot, message, None));
        }
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
        open.extend(children.iter().map(|child| (*child, depth + 1)));
        tree.elements[of].children = children;
    }
    Ok(())
}

/// Attributes of numbers, of which an empty one is as if it were not there.
const NUMBERS: [&str; 46] = [
    "pos",
    "quat",
    "axisangle",
    "xyaxes",
    "zaxis",
    "euler",
    "axis",
    "range",
    "ref",
    "springref",
    "stiffness",
    "damping",
    "armature",
    "frictionloss",
    "size",
    "fromto",
    "mass",
    "density",
    "friction",
    "condim",
    "contype",
    "conaffinity",
    "group",
    "scale",
    "diaginertia",
    "fullinertia",
    "gravcomp",
    "gear",
    "ctrlrange",
    "forcerange",
    "kp",
    "kv",
    "timeconst",
    "gainprm",
    "biasprm",
    "dynprm",
    "springlength",
    "coef",
    "divisor",
    "polycoef",
    "anchor",
    "relpose",
    "gravity",
    "timestep",
    "qpos",
    "ctrl",
];

/// Leaves out attributes of numbers that are empty.
pub(super) fn forget_empty(tree: &mut Tree, root: usize) {
    let mut open = vec![root];
    while let Some(of) = open.pop() {
        for name in NUMBERS {
            let own = tree.own_attributes(of).iter().find(|a| a.name == name);
            if own.is_some_and(|a| a.value.trim().is_empty()) {
                tree.forget(of, name);
            }
        }
        open.extend(&tree.elements[of].children);
    }
}

/// Attributes of one class, by what they are defaults of.
type Class = HashMap<&'static str, Vec<Attribute>>;

/// Classes while they are read.
struct Classes {
    by_name: HashMap<Rc<str>, Rc<Class>>,
    /// Attributes of all classes together.
    count: usize,
}

/// The name of the class of all that name none.
const MAIN: &str = "main";
/// The most attributes of all classes together, with those that they have from the classes they
/// are in.
const MOST_DEFAULTS: usize = 1_000_000;
/// Elements that have defaults, beside actuators.
const OTHERS: [&str; 10] = [
    "mesh", "material", "joint", "geom", "site", "camera", "light", "pair", "equality", "tendon",
];
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

/// Which defaults an element of a section has.
fn kind(section: &str, tag: &str) -> Option<&'static str> {
    let kinds: &[&'static str] = match section {
        "asset" => &["mesh", "material"],
        "worldbody" => &["joint", "geom", "site", "camera", "light"],
        "contact" => &["pair"],
        // One kind of default for all of them; what is inside of a tendon has none.
        "equality" => return Some("equality"),
        "tendon" if tag == "fixed" || tag == "spatial" => return Some("tendon"),
        "actuator" if ACTUATORS.contains(&tag) => return Some("general"),
        _ => &[],
    };
    kinds.iter().copied().find(|k| *k == tag)
}

/// Gives every element the attributes of its class that it does not have itself.
pub(super) fn apply(tree: &mut Tree, root: usize) -> Result<()> {
    let main: Rc<str> = Rc::from(MAIN);
    let mut classes = Classes {
        by_name: HashMap::from([(Rc::clone(&main), Rc::default())]),
        count: 0,
    };
    for element in tree.all(root, "default") {
        read_class(tree, element, MAIN, true, &mut classes)?;
    }
    let mut lists: HashMap<(Rc<str>, String), Rc<[Attribute]>> = HashMap::new();
    for section in tree.elements[root].children.clone() {
        let name = tree.elements[section].tag.clone();
        if name == "default" {
            continue;
        }
        let mut open: Vec<(usize, Rc<str>)> = vec![(section, Rc::clone(&main))];
        while let Some((of, inherited)) = open.pop() {
            let inherited = match tree.attribute(of, "childclass") {
                Some(class) => known(tree, class, &classes)?,
                None => inherited,
            };
            let class = match tree.attribute(of, "class") {
                Some(class) => known(tree, class, &classes)?,
                None => Rc::clone(&inherited),
            };
            let tag = tree.elements[of].tag.clone();
            if of != section
                && let Some(kind) = kind(&name, &tag)
                && let Some(own) = classes.by_name[&class].get(kind)
            {
                let list = match lists.entry((class, tag)) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => {
                        let list = match kind {
                            "general" => drives::seen_by(tree, own, &entry.key().1)?,
                            _ => own.clone(),
                        };
                        entry.insert(list.into())
                    }
                };
                tree.inherit(of, Rc::clone(list));
            }
            let children = tree.elements[of].children.iter();
            open.extend(children.map(|child| (*child, Rc::clone(&inherited))));
        }
    }
    Ok(())
}

fn known(tree: &Tree, class: &Attribute, classes: &Classes) -> Result<Rc<str>> {
    if let Some((name, _)) = classes.by_name.get_key_value(class.value.as_str()) {
        return Ok(Rc::clone(name));
    }
    let mut names: Vec<&str> = classes.by_name.keys().map(|name| &**name).collect();
    names.sort_unstable();
    let help = pliant_scene::hint(&class.value, "classes", names);
    tree.wrong(class.spot, format!("there is no class `{}`", class.value), help)
}

/// Reads a class and those inside it, which have its attributes as well. Depth is bounded by that
/// of elements.
fn read_class(tree: &mut Tree, element: usize, parent: &str, top: bool, classes: &mut Classes) -> Result<()> {
    tree.expect(
        element,
        &["class"],
        &[&["default"][..], &OTHERS, &ACTUATORS].concat(),
    );
    let name = match tree.attribute(element, "class") {
        Some(name) => name.value.clone(),
        None if top => MAIN.to_owned(),
        None => tree.needed(element, "class")?.value.clone(),
    };
    let name = if top { MAIN.to_owned() } else { name };
    let around = classes.by_name.get(parent).cloned().unwrap_or_default();
    let mut class = Rc::clone(&around);
    let children = tree.elements[element].children.clone();
    for child in &children {
        let drives = around.get("general").map_or(&[][..], Vec::as_slice);
        read_defaults(tree, *child, drives, Rc::make_mut(&mut class))?;
    }
    classes.count += children.len().min(1) * class.values().map(Vec::len).sum::<usize>();
    if classes.count > MOST_DEFAULTS {
        let message = format!("classes of defaults have more than {MOST_DEFAULTS} attributes");
        return tree.wrong(tree.elements[element].spot, message, None);
    }
    if top && let Some(own) = tree.attribute(element, "class") {
        classes
            .by_name
            .insert(own.value.as_str().into(), Rc::clone(&class));
    }
    classes.by_name.insert(name.as_str().into(), class);
    for child in children {
        if tree.elements[child].tag == "default" {
            read_class(tree, child, &name, false, classes)?;
        }
    }
    Ok(())
}

/// Puts the attributes of one element of a class above those that the class has already; `around`
/// are those of actuators in the class around it.
fn read_defaults(tree: &Tree, of: usize, around: &[Attribute], class: &mut Class) -> Result<()> {
    let tag = tree.elements[of].tag.as_str();
    let (kind, actuator) = match OTHERS.iter().find(|k| **k == tag) {
        Some(kind) => (*kind, false),
        None if ACTUATORS.contains(&tag) => ("general", true),
        None => return Ok(()),
    };
    let list = class.entry(kind).or_default();
    if actuator {
        drives::open_for(tree, list, around, tag, tree.elements[of].spot)?;
    }
    for attribute in tree.own_attributes(of) {
        let turn = TURNS.contains(&attribute.name.as_str());
        let name = match actuator {
            true => drives::owned(tag, &attribute.name),
            false => attribute.name.clone(),
        };
        list.retain(|a| a.name != name && !(turn && TURNS.contains(&a.name.as_str())));
        list.push(Attribute {
            name,
            ..attribute.clone()
        });
    }
    if list.len() > MOST_ATTRIBUTES {
        let message = format!("a class has more than {MOST_ATTRIBUTES} attributes of `{tag}`");
        return tree.wrong(tree.elements[of].spot, message, None);
    }
    Ok(())
}
