//! Tendons as nodes of one length each, and what acts on them.

use super::Writer;
use super::lines::{Course as Points, course, is_still, write_ropes};
use crate::numbers::{number, text};
use crate::robot::{Branch, Course, Effects, Motor, Tendon, TendonRow};
use crate::xml::Spot;
use std::collections::HashSet;

/// Points of neighbours on a line that are no further apart (m) are one, or the line has no
/// direction between them.
pub(super) const SAME: f64 = 1e-12;

/// The node of a length, and its value where rows of lengths count it as zero (m).
#[derive(Clone, Copy)]
struct Length<'a> {
    node: &'a str,
    rest: f64,
}

pub(super) fn write_tendons(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    let mut nodes = Vec::with_capacity(robot.tendons.len());
    for tendon in &robot.tendons {
        let node = match &tendon.course {
            Course::Sum { terms, offset } => write_sum(writer, tendon, terms, *offset),
            Course::Lines(branches) => write_branches(writer, tendon, branches),
        };
        nodes.push(node);
    }
    // Behind all of them: what acts on one tendon may be called as another one is in the file.
    for (tendon, node) in robot.tendons.iter().zip(&nodes) {
        if let Some(node) = node {
            act_on_tendon(writer, node, tendon);
        }
    }
    for row in &robot.tendon_rows {
        let length = |(number, rest): (usize, f64)| {
            let node: Option<&str> = nodes[number].as_deref();
            node.map(|node| Length { node, rest })
        };
        match (length(row.first), row.second.map(length)) {
            (Some(first), None) => hold_length(writer, row, first),
            (Some(first), Some(Some(second))) => follow_length(writer, row, first, second),
            _ => {
                let message = "a row of a tendon that is left out is left out as well";
                writer.tree.remark(row.spot, message);
            }
        }
    }
}

/// A row that holds a length.
fn hold_length(writer: &mut Writer<'_>, row: &TendonRow, of: Length<'_>) {
    let name = writer.name(&format!("{}.force", row.name));
    let length = number(of.rest + row.polynomial[0]);
    let entry = format!(
        "(name: {}, on: {}, motion: {length}),",
        text(&name),
        text(of.node)
    );
    writer.rows.push(entry);
}

/// A row that holds one length by another one.
fn follow_length(writer: &mut Writer<'_>, row: &TendonRow, first: Length<'_>, second: Length<'_>) {
    let [constant, slope, curve @ ..] = row.polynomial;
    let name = writer.name(&row.name);
    let (other, factor, offset) = if curve == [0.0; 3] {
        (second.node.to_owned(), -slope, slope * second.rest - constant)
    } else {
        let argument = writer.name(&format!("{name}.argument"));
        let entries = [entry(&format!("({}, 0)", text(second.node)), 1.0)];
        write_affine(writer, &argument, &[text(second.node)], -second.rest, &entries);
        let node = writer.name(&format!("{name}.curve"));
        let coefficients: Vec<String> = row.polynomial.iter().map(|c| number(*c)).collect();
        writer.tendons.push(format!(
            "Mapped(name: {}, parents: [{}], mapping: Curve(polynomial: [{}])),",
            text(&node),
            text(&argument),
            coefficients.join(", ")
        ));
        (node, -1.0, 0.0)
    };
    let parents = [text(first.node), text(&other)];
    let entries = [
        entry(&format!("({}, 0)", parents[0]), 1.0),
        entry(&format!("({}, 0)", parents[1]), factor),
    ];
    write_affine(writer, &name, &parents, offset - first.rest, &entries);
    let force = writer.name(&format!("{name}.force"));
    writer
        .rows
        .push(format!("(name: {}, on: {}),", text(&force), text(&name)));
}

/// A name for a tendon, with a remark if it is not its own.
fn tendon_name(writer: &mut Writer<'_>, tendon: &Tendon) -> String {
    let name = writer.name(&tendon.name);
    if name != tendon.name {
        let message = format!("the name `{}` is used twice: the tendon is `{name}`", tendon.name);
        writer.tree.remark(tendon.spot, message);
    }
    name
}

/// The node of a sum of coordinates of joints; none, with a remark, if one of them is left out.
fn write_sum(
    writer: &mut Writer<'_>,
    tendon: &Tendon,
    terms: &[(String, f64)],
    offset: f64,
) -> Option<String> {
    let found: Vec<(String, f64)> = terms
        .iter()
        .filter_map(|(joint, factor)| Some((writer.coordinates.get(joint)?.clone(), *factor)))
        .collect();
    if found.len() < terms.len() {
        writer.tree.remark(
            tendon.spot,
            "a tendon over a joint that is left out is left out as well",
        );
        return None;
    }
    let name = tendon_name(writer, tendon);
    let mut seen = HashSet::new();
    let nodes = found.iter().map(|(node, _)| text(node));
    let parents: Vec<String> = nodes.filter(|node| seen.insert(node.clone())).collect();
    let entries: Vec<String> = found
        .iter()
        .map(|(node, factor)| entry(&format!("({}, 0)", text(node)), *factor))
        .collect();
    write_affine(writer, &name, &parents, offset, &entries);
    Some(name)
}

/// The node of a tendon through points; none, with a remark, if it has no length that changes.
fn write_branches(writer: &mut Writer<'_>, tendon: &Tendon, branches: &[Branch]) -> Option<String> {
    let mut courses = Vec::new();
    let mut offset = 0.0;
    for branch in branches {
        let points = without_repeats(writer, branch, tendon.spot)?;
        if is_still(&points) {
            let pairs = points.windows(2);
            let length: f64 = pairs.map(|p| (p[1].1.position - p[0].1.position).norm()).sum();
            offset += branch.share * length;
        } else {
            courses.push((points, branch.share));
        }
    }
    if courses.is_empty() {
        let message = "a tendon that stays in one body has no effect, and is left out";
        writer.tree.remark(tendon.spot, message);
        return None;
    }
    let name = tendon_name(writer, tendon);
    let (points, shares): (Vec<Points>, Vec<f64>) = courses.into_iter().unzip();
    if shares[..] == [1.0] && offset == 0.0 {
        write_ropes(writer, &name, &name, &points);
        return Some(name);
    }
    let branches = writer.name(&format!("{name}.branches"));
    write_ropes(writer, &branches, &name, &points);
    let shares = shares.iter().enumerate();
    let entries: Vec<String> = shares.map(|(i, share)| entry(&i.to_string(), *share)).collect();
    write_affine(writer, &name, &[text(&branches)], offset, &entries);
    Some(name)
}

fn write_affine(writer: &mut Writer<'_>, name: &str, parents: &[String], offset: f64, entries: &[String]) {
    let offset = number(offset);
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Affine(dimension: 1, offset: [{offset}], entries: [{}])),",
        text(name),
        parents.join(", "),
        entries.join(", ")
    ));
}

/// The points of a branch without those that are where the ones before them are, in the same
/// body; none, with a remark, if points of different bodies are at one place at the start.
fn without_repeats(writer: &mut Writer<'_>, branch: &Branch, spot: Spot) -> Option<Points> {
    let mut out: Points = Vec::new();
    let mut last = None;
    for (point, (owner, frame)) in branch.points.iter().zip(course(writer, &branch.points)) {
        let start = point
            .0
            .map_or(point.1, |link| writer.layout.start[link].point(point.1));
        let near = last.is_some_and(|last: pliant_dense::Vec3| (start - last).norm() <= SAME);
        if near && out.last().is_some_and(|(before, _)| *before == owner) {
            continue;
        }
        if near {
            let message = "a tendon with two sites in a row at one place, between which it has no direction, is not taken";
            writer.tree.remark(spot, message);
            return None;
        }
        last = Some(start);
        out.push((owner, frame));
    }
    Some(out)
}

fn act_on_tendon(writer: &mut Writer<'_>, name: &str, tendon: &Tendon) {
    let effects = &tendon.effects;
    if let Some((stiffness, rest)) = effects.spring {
        let springs = match tendon.slack {
            None => vec![("spring", "Linear", rest)],
            // Lengths through sites are never below zero.
            Some([first, last]) if first <= 0.0 && matches!(tendon.course, Course::Lines(_)) => {
                vec![("spring", "TensionOnly", last)]
            }
            Some([first, last]) => vec![
                ("spring", "TensionOnly", last),
                ("short spring", "CompressionOnly", first),
            ],
        };
        for (part, kind, rest) in springs {
            let law = format!(
                "Spring(curve: {kind}({}), rest: {})",
                number(stiffness),
                number(rest)
            );
            writer.force(&format!("{name}.{part}"), name, &law);
        }
    }
    if effects.damping > 0.0 {
        let law = format!("Damping(linear: {})", number(effects.damping));
        writer.force(&format!("{name}.damper"), name, &law);
    }
    for motor in &effects.motors {
        write_servo(writer, name, motor);
    }
    writer.act(name, name, effects);
    write_rows(writer, name, effects);
}

/// A servo of length as a spring that its target moves.
fn write_servo(writer: &mut Writer<'_>, node: &str, motor: &Motor) {
    let parameter = writer.parameter(&motor.name, motor.target);
    let name = writer.name(&motor.name);
    let mut entry = format!(
        "(name: {}, on: {}, law: Compliance({}), motion: \"${parameter}\"",
        text(&name),
        text(node),
        number(1.0 / motor.stiffness)
    );
    if motor.damping > 0.0 {
        entry += &format!(", relaxation_time: {}", number(motor.damping / motor.stiffness));
    }
    if let Some(force) = motor.force {
        entry += &format!(", bounds: (lower: {}, upper: {})", number(-force), number(force));
    }
    writer.forces.push(entry + "),");
}

/// Dry friction and limits of a length.
fn write_rows(writer: &mut Writer<'_>, node: &str, effects: &Effects) {
    let mut row = |part: &str, keys: String| {
        let name = writer.name(&format!("{node}.{part}"));
        let entry = format!("(name: {}, on: {}, {keys}),", text(&name), text(node));
        writer.rows.push(entry);
    };
    if effects.friction > 0.0 {
        let (lower, upper) = (number(-effects.friction), number(effects.friction));
        row(
            "friction",
            format!("level: Velocity(), bounds: (lower: {lower}, upper: {upper})"),
        );
    }
    for (part, limit, bounds) in [
        ("lower limit", effects.lower, "lower: 0"),
        ("upper limit", effects.upper, "upper: 0"),
    ] {
        if let Some(limit) = limit {
            row(part, format!("motion: {}, bounds: ({bounds})", number(limit)));
        }
    }
}

/// An entry of an affine mapping to a scalar.
fn entry(from: &str, value: f64) -> String {
    format!("(to: (0, 0), from: {from}, value: {})", number(value))
}
