//! Parts that are there several times: `replicate`, as frames of what is inside.

use super::settings::Settings;
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::xml::{Attribute, MOST_ELEMENTS, Spot, Tree};
use pliant_dense::Vec3;
use std::collections::HashSet;

type Result<T> = std::result::Result<T, ImportError>;

/// The most looks at what refers to something, of all `replicate` together.
const MOST_LOOKS: usize = 10_000_000;
/// Sections whose elements may refer to what is replicated, those before that others refer to.
const SECTIONS: [&str; 4] = ["contact", "tendon", "equality", "actuator"];
/// Attributes of their elements and of what is inside of them, and of which kind the names are.
const REFERENCES: [(&str, &str); 15] = [
    ("body1", "body"),
    ("body2", "body"),
    ("geom1", "geom"),
    ("geom2", "geom"),
    ("geom", "geom"),
    ("joint", "joint"),
    ("joint1", "joint"),
    ("joint2", "joint"),
    ("site", "site"),
    ("site1", "site"),
    ("site2", "site"),
    ("sidesite", "site"),
    ("tendon", "tendon"),
    ("tendon1", "tendon"),
    ("tendon2", "tendon"),
];

/// Kind and name of what is replicated.
type Names = HashSet<(&'static str, String)>;

/// Puts frames of copies in the place of what is in each `replicate`, and copies of what refers to
/// it in the place of that.
pub(super) fn expand(tree: &mut Tree, root: usize, settings: &Settings) -> Result<()> {
    let mut found = Vec::new();
    let mut open: Vec<usize> = tree.all(root, "worldbody").into_iter().rev().collect();
    while let Some(of) = open.pop() {
        if tree.elements[of].tag == "replicate" {
            found.push(of);
        }
        open.extend(tree.elements[of].children.iter().rev());
    }
    let mut looks = 0usize;
    for of in inner_first(tree, &found) {
        looks = looks.saturating_add(SECTIONS.iter().map(|s| tree.elements_in(root, s)).sum());
        if looks > MOST_LOOKS {
            let message =
                "there are too many `replicate` beside so many rows, tendons and actuators".to_owned();
            return Err(tree.syntax(tree.elements[of].spot, message, None));
        }
        expand_one(tree, root, of, settings)?;
    }
    Ok(())
}

/// Elements in the order of the file, but for those that are inside of others: these come first.
fn inner_first(tree: &Tree, found: &[usize]) -> Vec<usize> {
    let known: HashSet<usize> = found.iter().copied().collect();
    let mut out = Vec::with_capacity(found.len());
    let mut taken: HashSet<usize> = HashSet::new();
    for of in found {
        // An element, and whether what is inside of it has been taken.
        let mut open = vec![(*of, false)];
        while let Some((at, inside)) = open.pop() {
            if taken.contains(&at) {
                continue;
            }
            if inside {
                taken.insert(at);
                if known.contains(&at) {
                    out.push(at);
                }
                continue;
            }
            open.push((at, true));
            open.extend(
                tree.elements[at]
                    .children
                    .iter()
                    .rev()
                    .map(|child| (*child, false)),
            );
        }
    }
    out
}

fn expand_one(tree: &mut Tree, root: usize, of: usize, settings: &Settings) -> Result<()> {
    let known = ["count", "sep", "offset", "euler", "childclass"];
    let parts = ["body", "geom", "site", "frame", "camera", "light"];
    tree.expect(of, &known, &parts);
    let spot = tree.elements[of].spot;
    let count = count_of(tree, of)?;
    let separator = tree.value(of, "sep").unwrap_or_default().to_owned();
    let angles = tree.numbers::<3>(of, "euler")?.unwrap_or_default();
    let offset: Vec3 = tree.numbers::<3>(of, "offset")?.unwrap_or_default().into();
    let mut inside = std::mem::take(&mut tree.elements[of].children);
    let (names, size) = names_in(tree, &inside)?;
    inside.retain(|child| parts.contains(&tree.elements[*child].tag.as_str()));
    if count.saturating_mul(size).saturating_add(tree.elements.len()) > MOST_ELEMENTS {
        return Err(tree.syntax(spot, format!("more than {MOST_ELEMENTS} elements"), None));
    }
    if count == 0 {
        tree.remark(
            spot,
            "a `replicate` with a count of zero is left out, with all that is inside and what refers to it",
        );
    }
    let suffixes: Vec<String> = (0..count)
        .map(|i| format!("{separator}{i:0width$}", width = count.to_string().len()))
        .collect();
    let mut at = Frame::IDENTITY;
    let mut frames = Vec::with_capacity(count);
    for (number, suffix) in suffixes.iter().enumerate() {
        // Angles add up, not rotations; offsets are in the axes of the copy before.
        at.rotation = settings.euler(angles.map(|angle| angle * number as f64));
        let frame = tree.add_element("frame", spot);
        let text = |list: &[f64]| list.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        for (name, value) in [
            ("pos", text(at.position.as_slice())),
            ("quat", text(&at.rotation)),
        ] {
            let name = name.to_owned();
            tree.add_attribute(frame, Attribute { name, value, spot });
        }
        for child in &inside {
            let copy = copy(tree, *child, suffix, &Names::new());
            tree.elements[frame].children.push(copy);
        }
        frames.push(frame);
        at.position = at.point(offset);
    }
    for key in ["count", "sep", "offset", "euler"] {
        tree.forget(of, key);
    }
    "frame".clone_into(&mut tree.elements[of].tag);
    tree.elements[of].children = frames;
    copy_references(tree, root, names, &suffixes, spot)
}

/// How often something is there.
fn count_of(tree: &Tree, of: usize) -> Result<usize> {
    let attribute = tree.needed(of, "count")?;
    let count = tree.number(of, "count")?.unwrap_or_default();
    if count.fract() != 0.0 || count < 0.0 {
        let message = format!("`count` is {}, and no number of copies", attribute.value);
        return tree.wrong(attribute.spot, message, None);
    }
    // More than there may be elements are refused behind this.
    Ok(count.min(1e9) as usize)
}

/// Names of bodies, geoms, joints and sites in elements, and how many elements they are. Joints in
/// no body of these are an error.
fn names_in(tree: &Tree, inside: &[usize]) -> Result<(Names, usize)> {
    let mut names = Names::new();
    let mut size = 1;
    let mut open: Vec<(usize, bool)> = inside.iter().map(|of| (*of, false)).collect();
    while let Some((of, in_body)) = open.pop() {
        size += 1;
        let tag = tree.elements[of].tag.as_str();
        let kind = match tag {
            "joint" | "freejoint" if !in_body => {
                let message = "a `replicate` has joints only inside of its bodies".to_owned();
                return tree.wrong(tree.elements[of].spot, message, None);
            }
            "joint" | "freejoint" => Some("joint"),
            "body" => Some("body"),
            "geom" => Some("geom"),
            "site" => Some("site"),
            _ => None,
        };
        let name = tree.value(of, "name").filter(|name| !name.is_empty());
        names.extend(kind.zip(name).map(|(kind, name)| (kind, name.to_owned())));
        let in_body = in_body || tag == "body";
        open.extend(tree.elements[of].children.iter().map(|child| (*child, in_body)));
    }
    Ok((names, size))
}

/// A copy of an element with all inside, with a suffix behind its names, and behind those of other
/// things that are among these.
fn copy(tree: &mut Tree, of: usize, suffix: &str, names: &Names) -> usize {
    let top = tree.copy_element(of);
    let mut open = vec![top];
    while let Some(of) = open.pop() {
        tree.rename(of, |attribute| {
            let known = REFERENCES.iter().find(|(key, _)| *key == attribute.name);
            let inside = known.is_some_and(|(_, kind)| names.contains(&(*kind, attribute.value.clone())));
            let own = attribute.name == "name" && !attribute.value.is_empty();
            if own || inside {
                attribute.value.push_str(suffix);
            }
        });
        let children: Vec<usize> = tree.elements[of].children.clone();
        let copies: Vec<usize> = children.iter().map(|child| tree.copy_element(*child)).collect();
        open.extend(&copies);
        tree.elements[of].children = copies;
    }
    top
}

/// Puts copies of what refers to something that is replicated behind all else of its kind. What
/// refers to other things too, but for the world, is left as it is, and to be an error; two bodies
/// that do not collide are a pair with each copy.
fn copy_references(
    tree: &mut Tree,
    root: usize,
    mut names: Names,
    suffixes: &[String],
    spot: Spot,
) -> Result<()> {
    for section in SECTIONS {
        let sections = tree.all(root, section);
        let Some(last) = sections.last().copied() else {
            continue;
        };
        let mut moved = Vec::new();
        let mut size = 0usize;
        for of in sections {
            let (mine, rest): (Vec<usize>, Vec<usize>) = tree.elements[of]
                .children
                .iter()
                .partition(|child| refers(tree, **child, &names));
            tree.elements[of].children = rest;
            moved.extend(mine);
        }
        for of in &moved {
            size += 1 + tree.elements[*of].children.len();
            if section == "tendon"
                && let Some(name) = tree.value(*of, "name")
            {
                names.insert(("tendon", name.to_owned()));
            }
        }
        if suffixes
            .len()
            .saturating_mul(size)
            .saturating_add(tree.elements.len())
            > MOST_ELEMENTS
        {
            return Err(tree.syntax(spot, format!("more than {MOST_ELEMENTS} elements"), None));
        }
        for suffix in suffixes {
            for of in &moved {
                let copy = copy(tree, *of, suffix, &names);
                tree.elements[last].children.push(copy);
            }
        }
    }
    Ok(())
}

/// Whether an element refers to what is among the names, and to nothing else but the world.
fn refers(tree: &Tree, of: usize, names: &Names) -> bool {
    let (mut inside, mut outside) = (0usize, 0usize);
    let children = tree.elements[of].children.iter();
    for part in children.chain([&of]) {
        for attribute in tree.own_attributes(*part) {
            let Some((_, kind)) = REFERENCES.iter().find(|(key, _)| *key == attribute.name) else {
                continue;
            };
            if names.contains(&(*kind, attribute.value.clone())) {
                inside += 1;
            } else if (*kind, attribute.value.as_str()) != ("body", "world") {
                outside += 1;
            }
        }
    }
    inside > 0 && (outside == 0 || tree.elements[of].tag == "exclude")
}
