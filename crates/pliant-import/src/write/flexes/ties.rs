//! Rows that hold vertices of deformables at points.

use super::super::Writer;
use crate::geometry::Frame;
use crate::numbers::{position, text, tuple};
use crate::robot::{Tie, Vertex};

pub(super) fn write_ties(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    for tie in &robot.extras.ties {
        write_tie(writer, tie);
    }
}

/// The node of a particle, and its element there; none if no deformable has it.
fn element(writer: &Writer<'_>, particle: usize) -> Option<(String, usize)> {
    let flexes = writer.robot.extras.flexes.iter().zip(&writer.flexes);
    let mut found = flexes.filter_map(|(flex, written)| {
        let is_own = |vertex: &Vertex| matches!(vertex, Vertex::Particle(p) if *p == particle);
        Some((written.node.clone(), flex.vertices.iter().position(is_own)?))
    });
    found.next()
}

fn write_tie(writer: &mut Writer<'_>, tie: &Tie) {
    let name = writer.name(&tie.name);
    let mut parents = Vec::new();
    let end = match tie.to {
        Vertex::Particle(other) => element(writer, other).map(|(node, element)| {
            parents.push(text(&node));
            format!("({}, {element})", text(&node))
        }),
        Vertex::On(link, place) => {
            let (owner, frame) = writer.in_body(link, &Frame::at(place));
            let point = tuple(&position(frame.position));
            Some(match owner {
                None => point,
                Some(owner) => {
                    let node = writer.name(&format!("{name}.point"));
                    writer.tendons.push(format!(
                        "Mapped(name: {}, parents: [{}], mapping: RigidPoints(points: [(0, {point})])),",
                        text(&node),
                        text(&writer.links[owner])
                    ));
                    parents.push(text(&node));
                    format!("({}, 0)", text(&node))
                }
            })
        }
    };
    let (Some((node, element)), Some(end)) = (element(writer, tie.particle), end) else {
        let message = "a row that holds a vertex that is in no flex is not taken";
        writer.tree.remark(tie.spot, message);
        return;
    };
    if parents != [text(&node)] {
        parents.insert(0, text(&node));
    }
    let gap = writer.name(&format!("{name}.gap"));
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Difference(pairs: [({element}, {end})])),",
        text(&gap),
        parents.join(", ")
    ));
    writer
        .rows
        .push(format!("(name: {}, on: {}),", text(&name), text(&gap)));
}
