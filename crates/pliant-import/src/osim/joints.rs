//! Joints of the file: two frames, coordinates, and axes along functions of them.

use super::ModelReader;
use super::frames::Place;
use super::functions::{self, Function};
use super::properties::{name, objects, switched_on, truth};
use crate::error::ImportError;
use crate::xml::Spot;
use pliant_dense::Vec3;

type Result<T> = std::result::Result<T, ImportError>;

/// A joint of the file.
pub(super) struct JointDef {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) spot: Spot,
    pub(super) parent: Place,
    pub(super) child: Place,
    pub(super) coordinates: Vec<Coordinate>,
    /// Slides, then turns, in the order in which they follow each other.
    pub(super) axes: Vec<Axis>,
}

/// A coordinate of the file (m, rad).
#[derive(Clone, Debug)]
pub(super) struct Coordinate {
    pub(super) name: String,
    pub(super) value: f64,
    /// Its rate at the start.
    pub(super) speed: f64,
    pub(super) range: Option<[f64; 2]>,
    pub(super) clamped: bool,
    pub(super) locked: bool,
    pub(super) spot: Spot,
}

/// An axis of a joint.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) turns: bool,
    /// Unit vector.
    pub(super) direction: Vec3,
    pub(super) label: String,
    /// Its coordinate, if it has one.
    pub(super) coordinate: Option<usize>,
    pub(super) function: Function,
}

/// Kinds of joints, their axes, and which coordinates these have: a letter and a number each,
/// large letters for turns.
const KINDS: [(&str, &str); 8] = [
    ("WeldJoint", ""),
    ("PinJoint", "Z0"),
    ("SliderJoint", "x0"),
    ("UniversalJoint", "X0 Y1"),
    ("BallJoint", "X0 Y1 Z2"),
    ("GimbalJoint", "X0 Y1 Z2"),
    ("PlanarJoint", "x1 y2 Z0"),
    ("FreeJoint", "x3 y4 z5 X0 Y1 Z2"),
];
const CUSTOM: &str = "CustomJoint";
/// Joints that are known and not taken.
const OTHERS: [&str; 2] = ["EllipsoidJoint", "ScapulothoracicJoint"];

/// Properties of joints.
const KNOWN: [&str; 10] = [
    "name",
    "parent_body",
    "location_in_parent",
    "orientation_in_parent",
    "location",
    "orientation",
    "location_in_child",
    "orientation_in_child",
    "socket_parent_frame",
    "socket_child_frame",
];

pub(super) fn read_joints(reader: &mut ModelReader<'_>, model: usize) -> Result<()> {
    for body in 0..reader.bodies.len() {
        // Documents of 3.x: joints stand in their bodies.
        for of in objects(reader.tree, reader.bodies[body].element, "Joint") {
            let joint = read_joint(reader, of, Some(body))?;
            reader.joints.push(joint);
        }
    }
    for of in objects(reader.tree, model, "JointSet") {
        let joint = read_joint(reader, of, None)?;
        reader.joints.push(joint);
    }
    Ok(())
}

/// Both sides of a joint, which is one of 3.x if it stands in a body.
fn sides(reader: &ModelReader<'_>, of: usize, name: &str, body: Option<usize>) -> Result<(Place, Place)> {
    if let Some(body) = body {
        let outer = reader.place(of, "location_in_parent", "orientation_in_parent")?;
        let parent = reader.in_body(reader.tree.needed(of, "parent_body")?, outer)?;
        let inner = match reader.tree.attribute(of, "location_in_child") {
            Some(_) => reader.place(of, "location_in_child", "orientation_in_child")?,
            None => reader.place(of, "location", "orientation")?,
        };
        return Ok((parent, (Some(body), inner)));
    }
    let owner = format!("/jointset/{name}");
    let side = |which: &str| match reader.socket(of, which) {
        Some(socket) => reader.resolve(&owner, &socket),
        None => {
            let message = format!("the joint has no `socket_{which}`");
            reader.tree.wrong(reader.tree.elements[of].spot, message, None)
        }
    };
    Ok((side("parent_frame")?, side("child_frame")?))
}

fn read_joint(reader: &mut ModelReader<'_>, of: usize, body: Option<usize>) -> Result<JointDef> {
    let spot = reader.tree.elements[of].spot;
    let kind = reader.tree.elements[of].tag.clone();
    let name = name(reader.tree, of).unwrap_or_else(|| format!("joint {}", reader.joints.len() + 1));
    let parts = [
        "CoordinateSet",
        "coordinates",
        "frames",
        "SpatialTransform",
        "connectors",
        "components",
    ];
    reader
        .tree
        .expect(of, &[&KNOWN[..], &["reverse"]].concat(), &parts);
    if truth(reader.tree, of, "reverse")? {
        let help = "exchange its parent and its child, and the signs of its coordinates".to_owned();
        let spot = reader.tree.needed(of, "reverse")?.spot;
        return reader.tree.wrong(
            spot,
            format!("the joint `{name}` is reversed, which is not read"),
            Some(help),
        );
    }
    let (parent, child) = sides(reader, of, &name, body)?;
    let mut coordinates = Vec::new();
    for set in ["CoordinateSet", "coordinates"] {
        for coordinate in objects(reader.tree, of, set) {
            coordinates.push(read_coordinate(reader, coordinate)?);
        }
    }
    let axes = match KINDS.iter().find(|(known, _)| *known == kind) {
        Some((_, axes)) => simple(axes, &name, spot, &mut coordinates),
        None if kind == CUSTOM => custom(reader, of, &coordinates)?,
        None if OTHERS.contains(&kind.as_str()) => {
            let message =
                format!("a `{kind}` is not taken: both sides of `{name}` are welded where their frames are");
            reader.tree.remark(spot, message);
            coordinates.clear();
            Vec::new()
        }
        None => {
            let kinds = KINDS.iter().map(|(known, _)| *known).chain([CUSTOM]);
            let help = pliant_scene::hint(&kind, "kinds", kinds);
            return reader
                .tree
                .wrong(spot, format!("joints have no kind `{kind}`"), help);
        }
    };
    Ok(JointDef {
        name,
        kind,
        spot,
        parent,
        child,
        coordinates,
        axes,
    })
}

fn read_coordinate(reader: &mut ModelReader<'_>, of: usize) -> Result<Coordinate> {
    let known = [
        "name",
        "motion_type",
        "default_value",
        "default_speed_value",
        "initial_value",
        "range",
        "clamped",
        "locked",
        "prescribed",
        "is_free_to_satisfy_constraints",
    ];
    reader.tree.expect(of, &known, &["prescribed_function"]);
    let spot = reader.tree.elements[of].spot;
    let Some(name) = name(reader.tree, of) else {
        return reader
            .tree
            .wrong(spot, "the coordinate has no name".to_owned(), None);
    };
    let speed = reader.tree.number(of, "default_speed_value")?.unwrap_or_default();
    let mut value = reader.tree.number(of, "default_value")?.unwrap_or_default();
    let mut locked = truth(reader.tree, of, "locked")?;
    if truth(reader.tree, of, "prescribed")? && !locked {
        match functions::inside(reader.tree, of, "prescribed_function")? {
            Some(Ok(Function::Constant(constant))) => (value, locked) = (constant, true),
            _ => reader.tree.remark(
                spot,
                format!("`{name}` is prescribed over time, which is not taken: it is free"),
            ),
        }
    }
    let range = reader.tree.numbers::<2>(of, "range")?;
    if let Some([lower, upper]) = range
        && lower > upper
    {
        let spot = reader.tree.needed(of, "range")?.spot;
        let message = format!("`range` is {lower} to {upper}: nothing is between them");
        return reader.tree.wrong(spot, message, None);
    }
    Ok(Coordinate {
        name,
        value,
        speed,
        range,
        clamped: switched_on(reader.tree, of, "clamped")?,
        locked,
        spot,
    })
}

/// The axes of a joint by its `SpatialTransform`.
fn custom(reader: &mut ModelReader<'_>, of: usize, coordinates: &[Coordinate]) -> Result<Vec<Axis>> {
    let Some(transform) = reader.tree.child(of, "SpatialTransform") else {
        return Ok(Vec::new());
    };
    // Without names in old documents, they stand in this order.
    let labels = [
        "rotation1",
        "rotation2",
        "rotation3",
        "translation1",
        "translation2",
        "translation3",
    ];
    let (mut turns, mut slides) = (Vec::new(), Vec::new());
    for (index, axis) in reader.tree.elements[transform]
        .children
        .clone()
        .into_iter()
        .enumerate()
    {
        let spot = reader.tree.elements[axis].spot;
        let label = name(reader.tree, axis).or_else(|| labels.get(index).map(|l| (*l).to_owned()));
        let place = label
            .as_deref()
            .and_then(|label| labels.iter().position(|l| *l == label));
        let (Some(label), Some(place)) = (label, place) else {
            reader.tree.remark(
                spot,
                "an axis that is neither a rotation nor a translation is not taken",
            );
            continue;
        };
        if turns.iter().chain(&slides).any(|(known, _)| *known == place) {
            return reader
                .tree
                .wrong(spot, format!("the axis `{label}` is there twice"), None);
        }
        let axis = read_axis(reader, axis, label, place, coordinates)?;
        if place < 3 {
            turns.push((place, axis));
        } else {
            slides.push((place, axis));
        }
    }
    slides.sort_by_key(|(place, _)| *place);
    turns.sort_by_key(|(place, _)| *place);
    Ok(slides.into_iter().chain(turns).map(|(_, axis)| axis).collect())
}

fn read_axis(
    reader: &mut ModelReader<'_>,
    of: usize,
    label: String,
    place: usize,
    coordinates: &[Coordinate],
) -> Result<Axis> {
    let spot = reader.tree.elements[of].spot;
    let mut usual = [0.0; 3];
    usual[place % 3] = 1.0;
    let direction = Vec3::from(reader.tree.numbers::<3>(of, "axis")?.unwrap_or(usual));
    let size = direction.amax();
    if size == 0.0 {
        return reader
            .tree
            .wrong(spot, "the axis has length zero".to_owned(), None);
    }
    let names = reader.tree.attribute(of, "coordinates").cloned();
    let list: Vec<&str> = names.iter().flat_map(|n| n.value.split_whitespace()).collect();
    let mut coordinate = None;
    if let (Some(first), Some(names)) = (list.first(), &names) {
        coordinate = coordinates.iter().position(|c| c.name == *first);
        if coordinate.is_none() {
            let known = coordinates.iter().map(|c| c.name.as_str());
            let help = pliant_scene::hint(first, "coordinates", known);
            let message = format!("the joint has no coordinate `{first}`");
            return reader.tree.wrong(names.spot, message, help);
        }
    }
    let function = match functions::inside(reader.tree, of, "function")? {
        _ if list.len() > 1 => Err("function of several coordinates".to_owned()),
        Some(function) => function,
        None if coordinate.is_some() => Ok(Function::Line(1.0, 0.0)),
        None => Ok(Function::Constant(0.0)),
    };
    let function = match (function, coordinate) {
        (Ok(Function::Line(0.0, at_zero)), _) => Function::Constant(at_zero),
        (Ok(function), Some(_)) => function,
        (Ok(function), None) => Function::Constant(function.value(0.0)),
        (Err(kind), _) => {
            let message = format!("motion along an axis by a `{kind}` is not taken: it is held at zero");
            reader.tree.remark(spot, message);
            Function::Constant(0.0)
        }
    };
    let coordinate = coordinate.filter(|_| !matches!(function, Function::Constant(_)));
    Ok(Axis {
        turns: place < 3,
        direction: (direction / size).normalize(),
        label,
        coordinate,
        function,
    })
}

/// The axes of a kind of joint; coordinates that are not there are at zero.
fn simple(axes: &str, joint: &str, spot: Spot, coordinates: &mut Vec<Coordinate>) -> Vec<Axis> {
    let count = axes.split_whitespace().count();
    for index in coordinates.len()..count {
        coordinates.push(Coordinate {
            name: format!("{joint}_coord_{index}"),
            value: 0.0,
            speed: 0.0,
            range: None,
            clamped: false,
            locked: false,
            spot,
        });
    }
    let axis = |word: &str| {
        let (letter, number) = word.split_at(1);
        Axis {
            turns: letter.chars().all(|c| c.is_ascii_uppercase()),
            direction: match letter {
                "x" | "X" => Vec3::x(),
                "y" | "Y" => Vec3::y(),
                _ => Vec3::z(),
            },
            label: letter.to_owned(),
            coordinate: number.parse().ok(),
            function: Function::Line(1.0, 0.0),
        }
    };
    axes.split_whitespace().map(axis).collect()
}
