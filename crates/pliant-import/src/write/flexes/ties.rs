//! Rows that hold vertices of deformables at points.

use super::super::Writer;
use crate::geometry::Frame;
use crate::numbers::{position, text, tuple};
use crate::robot::{Tie, Vertex};
use std::collections::HashMap;

/// By particle: the node that it is in, and its element there.
type Places = HashMap<usize, (String, usize)>;

pub(super) fn write_ties(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    if robot.extras.ties.is_empty() {
        return;
    }
    let mut places = Places::new();
    for (flex, written) in robot.extras.flexes.iter().zip(&writer.flexes) {
        for (element, vertex) in flex.vertices.iter().enumerate() {
            if let Vertex::Particle(number) = vertex {
                places.insert(*number, (written.node.clone(), element));
            }
        }
    }
    for tie in &robot.extras.ties {
        write_tie(writer, tie, &places);
    }
}

fn write_tie(writer: &mut Writer<'_>, tie: &Tie, places: &Places) {
    let name = writer.name(&tie.name);
    let mut parents = Vec::new();
    let end = match tie.to {
        Vertex::Particle(other) => places.get(&other).map(|(node, element)| {
            parents.push(text(node));
            format!("({}, {element})", text(node))
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
    let (Some((node, element)), Some(end)) = (places.get(&tie.particle), end) else {
        let message = "a row that holds a vertex that is in no flex is not taken";
        writer.tree.remark(tie.spot, message);
        return;
    };
    if parents != [text(node)] {
        parents.insert(0, text(node));
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
