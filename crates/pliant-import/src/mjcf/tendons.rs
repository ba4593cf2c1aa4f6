//! Tendons: lengths by coordinates of joints or through sites.

use super::Reader;
use super::sites::site;
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::layout::places;
use crate::robot::{Branch, Course, Motion, Robot, Tendon};
use crate::xml::Attribute;
use pliant_dense::Vec3;
use std::collections::hash_map::Entry;

type Result<T> = std::result::Result<T, ImportError>;

/// The most points of a rope of a scene.
const MOST_POINTS: usize = 1000;

/// Attributes of tendons of both kinds; the last ones are of their pictures.
const KNOWN: [&str; 13] = [
    "name",
    "class",
    "stiffness",
    "damping",
    "range",
    "limited",
    "frictionloss",
    "armature",
    "springlength",
    "group",
    "rgba",
    "width",
    "material",
];

pub(super) fn read_tendons(reader: &mut Reader<'_>, root: usize, robot: &mut Robot) -> Result<()> {
    // Where the springs of joints are at rest.
    let frames = places(&robot.links, |joint| joint.rest - joint.reference);
    for section in reader.tree.all(root, "tendon") {
        reader.tree.expect(section, &[], &["fixed", "spatial"]);
        for of in reader.tree.elements[section].children.clone() {
            let course = match reader.tree.elements[of].tag.as_str() {
                "fixed" => read_sum(reader, of, robot)?,
                "spatial" => read_path(reader, of, &frames)?,
                _ => continue,
            };
            let number = robot.tendons.len();
            name_tendon(reader, of, course.is_some().then_some(number))?;
            if let Some((course, at_rest)) = course {
                add_tendon(reader, of, course, at_rest, robot)?;
            }
        }
    }
    Ok(())
}

/// Keeps the name of a tendon and its number; none if it is not taken.
fn name_tendon(reader: &mut Reader<'_>, of: usize, number: Option<usize>) -> Result<()> {
    let name = reader.tree.attribute(of, "name");
    let Some(name) = name.filter(|name| !name.value.is_empty()) else {
        return Ok(());
    };
    match reader.tendons.entry(name.value.clone()) {
        Entry::Vacant(entry) => {
            entry.insert(number);
            Ok(())
        }
        Entry::Occupied(_) => {
            let message = format!("the tendon `{}` is there twice", name.value);
            reader.tree.wrong(name.spot, message, None)
        }
    }
}

/// The number of the tendon that an attribute names; none if it is not taken.
pub(super) fn tendon(reader: &Reader<'_>, name: &Attribute) -> Result<Option<usize>> {
    if let Some(number) = reader.tendons.get(&name.value) {
        return Ok(*number);
    }
    let mut names: Vec<&str> = reader.tendons.keys().map(String::as_str).collect();
    names.sort_unstable();
    let help = pliant_scene::hint(&name.value, "tendons", names);
    reader
        .tree
        .wrong(name.spot, format!("there is no tendon `{}`", name.value), help)
}

/// The sum of a tendon over joints, and its length where their springs are at rest; none, with
/// a remark, if it is not taken.
fn read_sum(reader: &mut Reader<'_>, of: usize, robot: &Robot) -> Result<Option<(Course, f64)>> {
    reader.tree.expect(of, &KNOWN, &["joint"]);
    let mut terms = Vec::new();
    let (mut offset, mut at_rest) = (0.0, 0.0);
    for term in reader.tree.all(of, "joint") {
        reader.tree.expect(term, &["joint", "coef"], &[]);
        let name = reader.tree.needed(term, "joint")?.clone();
        let factor = reader.tree.number(term, "coef")?.unwrap_or_default();
        let Some(joint) = reader.single(robot, &name)? else {
            let message = "a tendon over a joint that is neither a hinge nor a slide is not taken";
            reader.tree.remark(reader.spot(of), message);
            return Ok(None);
        };
        offset += factor * joint.reference;
        at_rest += factor * joint.rest;
        terms.push((joint.name.clone(), factor));
    }
    if terms.is_empty() {
        let message = "a tendon has no `joint`".to_owned();
        return reader.tree.wrong(reader.spot(of), message, None);
    }
    Ok(Some((Course::Sum { terms, offset }, at_rest)))
}

/// The lines of a tendon through sites, and its length where the springs of joints are at rest;
/// none, with a remark, if it is not taken.
fn read_path(reader: &mut Reader<'_>, of: usize, frames: &[Frame]) -> Result<Option<(Course, f64)>> {
    reader.tree.expect(of, &KNOWN, &["site", "geom", "pulley"]);
    let mut branches: Vec<Branch> = Vec::new();
    let mut wraps = None;
    let mut last: Option<Attribute> = None;
    for part in reader.tree.elements[of].children.clone() {
        match reader.tree.elements[part].tag.as_str() {
            "site" => {
                reader.tree.expect(part, &["site"], &[]);
                let name = reader.tree.needed(part, "site")?.clone();
                let point = site(reader, &name)?;
                if last.replace(name.clone()).is_some_and(|l| l.value == name.value) {
                    let message = format!("the site `{}` comes twice in a row", name.value);
                    return reader.tree.wrong(name.spot, message, None);
                }
                match branches.last_mut() {
                    Some(branch) => branch.points.push(point),
                    None => branches.push(Branch {
                        points: vec![point],
                        share: 1.0,
                    }),
                }
            }
            "pulley" => {
                branches.push(Branch {
                    points: Vec::new(),
                    share: 1.0 / divisor(reader, part)?,
                });
                last = None;
            }
            "geom" => {
                reader.tree.needed(part, "geom")?;
                wraps.get_or_insert(reader.spot(part));
            }
            _ => {}
        }
    }
    if let Some(spot) = wraps {
        let message = "a tendon that wraps around a geom is not taken";
        reader.tree.remark(spot, message);
        return Ok(None);
    }
    // A pulley at the start leaves no branch before it.
    if branches.is_empty() || branches.iter().any(|branch| branch.points.len() < 2) {
        let message = "a tendon needs two sites or more, at its start and behind each pulley".to_owned();
        return reader.tree.wrong(reader.spot(of), message, None);
    }
    if branches
        .iter()
        .map(|branch| branch.points.len())
        .any(|count| count > MOST_POINTS)
    {
        let message = format!("a tendon through more than {MOST_POINTS} sites is not taken");
        reader.tree.remark(reader.spot(of), message);
        return Ok(None);
    }
    let course = Course::Lines(branches);
    let at_rest = length(&course, frames);
    Ok(Some((course, at_rest)))
}

/// The length of a course where links are at these frames; of a sum, where the coordinates of the
/// scene are zero.
pub(super) fn length(course: &Course, frames: &[Frame]) -> f64 {
    let branches = match course {
        Course::Sum { offset, .. } => return *offset,
        Course::Lines(branches) => branches,
    };
    let at = |(link, place): &(Option<usize>, Vec3)| link.map_or(*place, |l| frames[l].point(*place));
    let lengths = branches.iter().map(|branch| {
        let pairs = branch.points.windows(2);
        branch.share
            * pairs
                .map(|pair| (at(&pair[1]) - at(&pair[0])).norm())
                .sum::<f64>()
    });
    lengths.sum()
}

fn divisor(reader: &mut Reader<'_>, pulley: usize) -> Result<f64> {
    reader.tree.expect(pulley, &["divisor"], &[]);
    let attribute = reader.tree.needed(pulley, "divisor")?;
    match reader.tree.number(pulley, "divisor")? {
        Some(divisor) if divisor > 0.0 => Ok(divisor),
        _ => {
            let message = format!("`divisor` is {}, and must be above zero", attribute.value);
            reader.tree.wrong(attribute.spot, message, None)
        }
    }
}

fn add_tendon(
    reader: &mut Reader<'_>,
    of: usize,
    course: Course,
    at_rest: f64,
    robot: &mut Robot,
) -> Result<()> {
    let spot = reader.spot(of);
    let mut effects = reader.effects(of, Motion::Slider, 1.0, 0.0)?;
    if matches!(course, Course::Lines(_)) {
        if let Some(upper) = effects.upper.filter(|upper| *upper <= 0.0) {
            let spot = reader.tree.needed(of, "range")?.spot;
            let message = format!("`range` ends at {upper}, and a length is above zero");
            return reader.tree.wrong(spot, message, None);
        }
        // No length is below zero.
        effects.lower = effects.lower.filter(|lower| *lower > 0.0);
    }
    let [first, last] = spring_length(reader, of)?.unwrap_or([at_rest; 2]);
    effects.spring = effects.spring.map(|(stiffness, _)| (stiffness, first));
    let name = match reader.tree.value(of, "name") {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("tendon {}", robot.tendons.len() + 1),
    };
    robot.tendons.push(Tendon {
        name,
        course,
        effects,
        slack: (first < last).then_some([first, last]),
        spot,
    });
    Ok(())
}

/// The lengths between which the spring of a tendon has no force; none if they are those of the
/// springs of joints.
fn spring_length(reader: &Reader<'_>, of: usize) -> Result<Option<[f64; 2]>> {
    let list = reader.tree.list(of, "springlength")?.unwrap_or_default();
    let lengths = match list[..] {
        [] => return Ok(None),
        [length] => [length; 2],
        [first, last] if first <= last => [first, last],
        [first, last] => {
            let message = format!("`springlength` is {first} to {last}: nothing is between them");
            return reader
                .tree
                .wrong(reader.tree.needed(of, "springlength")?.spot, message, None);
        }
        _ => {
            let message = format!(
                "`springlength` has {} numbers where 1 or 2 are expected",
                list.len()
            );
            return reader
                .tree
                .wrong(reader.tree.needed(of, "springlength")?.spot, message, None);
        }
    };
    Ok((lengths != [-1.0; 2]).then_some(lengths))
}
