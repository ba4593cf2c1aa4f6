//! Parts that only some formats have: scalars, rows along curves, points, forces on links.

use super::{Writer, place, rotation};
use crate::geometry::Frame;
use crate::numbers::{number, position, text, tidy, tuple, vector};
use crate::robot::{CurveRow, Lift, Point, Pull, Shape1, Site};
use pliant_dense::Vec3;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The mass of a scalar, as a share of that of all bodies (times 1 m^2, if it is an angle): below
/// what a step sees.
const LIGHT: f64 = 1e-12;

/// Coordinates without joints.
pub(super) fn write_scalars(writer: &mut Writer<'_>) -> Vec<String> {
    let robot = writer.robot;
    let whole: f64 = writer.layout.inertia.iter().flatten().map(|i| i.mass).sum();
    let mut out = Vec::new();
    for scalar in &robot.extras.scalars {
        let name = writer.name(&scalar.name);
        writer.names.insert(format!("{name}.mass"));
        writer.coordinates.insert(scalar.name.clone(), name.clone());
        let (value, mass) = (number(scalar.start), number(LIGHT * whole));
        let speed = match scalar.speed {
            0.0 => String::new(),
            speed => format!(", velocities: [{}]", number(speed)),
        };
        out.push(format!(
            "Scalars(name: {}, values: [{value}]{speed}, mass: {mass}),",
            text(&name)
        ));
    }
    if !out.is_empty() {
        out.insert(0, "// Coordinates that joints follow along curves.".to_owned());
    }
    out
}

/// Rows along curves.
pub(super) fn write_curves(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    for CurveRow {
        name,
        first,
        second,
        shape,
        spot,
    } in &robot.extras.curves
    {
        let nodes = (
            writer.coordinates.get(first).cloned(),
            writer.coordinates.get(second).cloned(),
        );
        let (Some(first), Some(second)) = nodes else {
            let message = "a row between coordinates, one of which is left out, is left out as well";
            writer.tree.remark(*spot, message);
            continue;
        };
        let curve = writer.name(&format!("{name}.curve"));
        let name = writer.name(name);
        writer.tendons.push(format!(
            "Mapped(name: {}, parents: [{}], mapping: Curve({})),",
            text(&curve),
            text(&second),
            curve_of(shape)
        ));
        writer.tendons.push(format!(
            "Mapped(name: {}, parents: [{}, {}], mapping: Difference(pairs: [(0, ({}, 0))])),",
            text(&name),
            text(&first),
            text(&curve),
            text(&curve)
        ));
        let row = writer.name(&format!("{name}.force"));
        writer
            .rows
            .push(format!("(name: {}, on: {}),", text(&row), text(&name)));
    }
}

/// Points that have names, each a node.
pub(super) fn write_points(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    for Point {
        name,
        link,
        place,
        spot,
    } in &robot.extras.points
    {
        match point_node(writer, name, *link, *place) {
            Some(_) => {}
            None => writer.tree.remark(*spot, "markers in the ground are not taken"),
        }
    }
}

/// A node of one point of a link, by its name; none in the world.
fn point_node(writer: &mut Writer<'_>, wanted: &str, link: usize, place: Vec3) -> Option<String> {
    let (owner, frame) = writer.in_body(Some(link), &Frame::at(place));
    let owner = owner?;
    let name = writer.name(wanted);
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: RigidPoints(points: [(0, {})])),",
        text(&name),
        text(&writer.links[owner]),
        tuple(&position(frame.position))
    ));
    Some(name)
}

/// The node of a frame that rides on the body of another node.
pub(super) fn rigid_frame(name: &str, owner: &str, frame: &Frame) -> String {
    format!(
        "Mapped(name: {}, parents: [{}], mapping: RigidFrames(frames: [(body: 0{}{})])),",
        text(name),
        text(owner),
        place("position", frame.position),
        rotation(frame.rotation)
    )
}

/// Frames on bodies that have names, each a node.
pub(super) fn write_sites(writer: &mut Writer<'_>) -> Vec<String> {
    let robot = writer.robot;
    let mut out = Vec::new();
    for Site {
        name: wanted,
        link,
        frame,
        spot,
    } in &robot.extras.sites
    {
        let (owner, frame) = writer.in_body(*link, frame);
        let Some(owner) = owner else {
            let message = "a site that stands in the world is no node";
            writer.tree.remark(*spot, message);
            continue;
        };
        let name = writer.name(wanted);
        if name != *wanted {
            let message = format!("the name `{wanted}` is used twice: the site is `{name}`");
            writer.tree.remark(*spot, message);
        }
        out.push(rigid_frame(&name, &writer.links[owner], &frame));
    }
    if !out.is_empty() {
        out.insert(0, "// Sites.".to_owned());
    }
    out
}

/// Forces and torques on links, by parameters.
pub(super) fn write_pulls(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    let mut parameters: HashMap<&str, String> = HashMap::new();
    for Pull {
        name,
        link,
        point,
        vector: axis,
        in_world,
        control,
    } in &robot.extras.pulls
    {
        let (owner, frame) = writer.in_body(Some(*link), &Frame::at(point.unwrap_or_default()));
        let Some(owner) = owner else {
            continue;
        };
        if !parameters.contains_key(name.as_str()) {
            parameters.insert(name, writer.parameter(name, *control));
        }
        let parameter = parameters.get(name.as_str()).cloned().unwrap_or_default();
        let axis = if *in_world { *axis } else { frame.vector(*axis) };
        let times: Vec<String> = tidy([axis.x, axis.y, axis.z])
            .iter()
            .map(|x| {
                if *x == 0.0 {
                    "0".to_owned()
                } else {
                    format!("\"{} * ${parameter}\"", number(*x))
                }
            })
            .collect();
        let times = times.join(", ");
        let body = writer.links[owner].clone();
        let (node, law) = match (point, in_world) {
            (None, true) => (body, format!("Torque([{times}])")),
            (None, false) => (body, format!("BodyForce(torque: ({times}))")),
            (Some(_), false) => (
                body,
                format!("BodyForce(point: {}, force: ({times}))", vector(frame.position)),
            ),
            (Some(place), true) => match point_node(writer, &format!("{name} point"), *link, *place) {
                Some(node) => (node, format!("Force([{times}])")),
                None => continue,
            },
        };
        writer.force(name, &node, &law);
    }
}

/// Constant forces against weights. What stands still has none.
pub(super) fn write_lifts(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    for Lift { link, share } in &robot.extras.lifts {
        let Some(inertia) = robot.links[*link].inertia else {
            continue;
        };
        let force = robot.gravity.map(|g| -share * inertia.mass * g);
        let (owner, at) = writer.in_body(Some(*link), &Frame::at(inertia.centre));
        let Some(owner) = owner.filter(|_| force != [0.0; 3]) else {
            continue;
        };
        // The centre of the whole body needs no point of its own.
        let name = format!("{}.gravcomp", writer.links[*link]);
        let node = match at.position == Vec3::zeros() {
            true => Some(writer.links[owner].clone()),
            false => point_node(writer, &format!("{name} point"), *link, inertia.centre),
        };
        if let Some(node) = node {
            let law = format!("Force([{}])", force.map(number).join(", "));
            writer.force(&name, &node, &law);
        }
    }
}

/// The keys of a curve.
fn curve_of(shape: &Shape1) -> String {
    let list = |numbers: Vec<f64>| numbers.into_iter().map(number).collect::<Vec<_>>().join(", ");
    match shape {
        Shape1::Polynomial(coefficients) => format!("polynomial: [{}]", list(coefficients.clone())),
        Shape1::Knots(knots) => {
            let mut points = String::new();
            for [x, y, _] in knots {
                let _ = write!(points, "{}, ", tuple(&[*x, *y]));
            }
            let slopes = list(knots.iter().map(|knot| knot[2]).collect());
            format!("points: [{}], slopes: [{slopes}]", points.trim_end_matches(", "))
        }
    }
}

/// A list that stands in lines of some length.
pub(super) fn listed(entries: impl Iterator<Item = String>) -> String {
    /// Letters of a line.
    const WIDTH: usize = 150;
    let mut out = String::from("[");
    let mut width = 0;
    for (index, entry) in entries.enumerate() {
        if index > 0 {
            out.push(',');
            width += 1;
            if width + entry.len() > WIDTH {
                out.push_str("\n    ");
                width = 0;
            } else {
                out.push(' ');
                width += 1;
            }
        }
        width += entry.len();
        out.push_str(&entry);
    }
    out.push(']');
    out
}
