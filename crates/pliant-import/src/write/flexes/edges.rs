//! Springs, dampers and rows on the lengths of edges of deformables.

use super::super::Writer;
use super::super::extras::listed;
use super::{Part, joined};
use crate::numbers::{number, text};
use crate::robot::{Flex, Vertex};

/// Springs, dampers and rows on the lengths of edges.
pub(super) fn write_edges(writer: &mut Writer<'_>, part: &Part<'_>) {
    let Flex {
        edges,
        cells,
        rest,
        vertices,
        spot,
        ..
    } = part.flex;
    if edges.stiffness == 0.0 && edges.damping == 0.0 && edges.rows.is_none() {
        return;
    }
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for cell in cells {
        for (k, a) in cell.iter().enumerate() {
            pairs.extend(cell[k + 1..].iter().map(|b| [*a.min(b), *a.max(b)]));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    // Between vertices of one link nothing moves.
    let rigid = |pair: &[usize; 2]| match pair.map(|v| vertices[v]) {
        [Vertex::On(a, _), Vertex::On(b, _)] => {
            let owner = |link: Option<usize>| link.and_then(|l| writer.layout.owner[l]);
            owner(a) == owner(b)
        }
        _ => false,
    };
    pairs.retain(|pair| !rigid(pair));
    let rests = match part.moved {
        true => {
            let lengths = pairs.iter().map(|[a, b]| number((rest[*a] - rest[*b]).norm()));
            format!(", rest: {}", listed(lengths))
        }
        false => String::new(),
    };
    let lengths = writer.name(&format!("{}.lengths", part.node));
    let list = listed(pairs.iter().map(|pair| format!("({})", joined(pair))));
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Distance(pairs: {list}{rests})),",
        text(&lengths),
        text(part.node)
    ));
    let on = text(&lengths);
    if edges.stiffness > 0.0 {
        let name = writer.name(&format!("{}.stretch", part.node));
        let law = format!("law: Stiffness({})", number(edges.stiffness));
        writer
            .forces
            .push(format!("(name: {}, on: {on}, {law}),", text(&name)));
    }
    if edges.damping > 0.0 {
        let name = writer.name(&format!("{}.damping", part.node));
        let law = format!("law: Damping(linear: {})", number(edges.damping));
        writer
            .forces
            .push(format!("(name: {}, on: {on}, {law}),", text(&name)));
    }
    let Some(rows) = edges.rows else {
        return;
    };
    let name = writer.name(&format!("{}.rows", part.node));
    if part.flex.dimension() == 1 {
        writer.rows.push(format!("(name: {}, on: {on}),", text(&name)));
        return;
    }
    let message = "rows on edges of triangles and tetrahedra, which would lock them if they were hard, give way as MuJoCo's do";
    writer.tree.remark(*spot, message);
    let particles = &writer.robot.extras.particles;
    let lightness = |pair: &[usize; 2]| match pair.map(|v| vertices[v]) {
        // MuJoCo takes the mean of both, and not their sum.
        [Vertex::Particle(a), Vertex::Particle(b)] => {
            0.5 * (1.0 / particles[a].mass + 1.0 / particles[b].mass)
        }
        [Vertex::Particle(a), _] | [_, Vertex::Particle(a)] => 1.0 / particles[a].mass,
        _ => 0.0,
    };
    let compliances = pairs.iter().map(|pair| number(rows.compliance * lightness(pair)));
    let law = format!("Diagonal({})", listed(compliances));
    writer.forces.push(format!(
        "(name: {}, on: {on}, law: {law}, relaxation_time: {}),",
        text(&name),
        number(rows.damping)
    ));
}
