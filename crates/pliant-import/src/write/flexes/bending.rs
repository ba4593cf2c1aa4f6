//! Bending of sheets at the edges between their triangles.

use super::super::Writer;
use super::super::extras::listed;
use super::{Part, joined};
use crate::numbers::{number, text};
use crate::robot::{Elasticity, Flex};
use pliant_dense::Vec3;
use std::collections::{BTreeMap, HashMap};
use std::f64::consts::PI;

/// A hinge between two triangles: both ends of the edge, then the opposite corners.
struct Hinge {
    vertices: [usize; 4],
    /// Stiffness of quadratic bending (N m).
    stiffness: f64,
    /// Energy per volume (N/m^2) of the tetrahedron of its vertices, of one that is not flat.
    curved: f64,
}

/// Writes the bending of lines, which are straight at rest: at a vertex between two cells, the
/// energy `E I/(2 l) k^2` of the curvature binormal `k` for cells of the mean length `l`.
pub(super) fn write_bending_of_lines(writer: &mut Writer<'_>, part: &Part<'_>) {
    /// The sine of the angle up to which lines are straight.
    const STRAIGHT: f64 = 1e-9;
    let Flex {
        elasticity,
        cells,
        rest,
        ..
    } = part.flex;
    if elasticity.young == 0.0 {
        return;
    }
    let mut beside: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cell in cells {
        beside.entry(cell[0]).or_default().push(cell[1]);
        beside.entry(cell[1]).or_default().push(cell[0]);
    }
    let stiffness = elasticity.young * PI * elasticity.thickness.powi(4) / 4.0;
    let (mut chains, mut compliances, mut uneven) = (Vec::new(), Vec::new(), false);
    for (vertex, list) in beside {
        let [a, b] = list[..] else {
            uneven |= list.len() > 2;
            continue;
        };
        let (one, other) = (rest[vertex] - rest[a], rest[b] - rest[vertex]);
        let lengths = one.norm() * other.norm();
        if one.dot(&other) <= 0.0 || one.cross(&other).norm() > STRAIGHT * lengths {
            uneven = true;
            continue;
        }
        chains.push(format!("({a}, {vertex}, {b})"));
        let compliance = 0.5 * (one.norm() + other.norm()) / stiffness;
        compliances.extend([compliance; 3].map(number));
    }
    if uneven {
        let message = "where lines branch, or are not straight at rest, they do not resist bending";
        writer.tree.remark(part.flex.spot, message);
    }
    if chains.is_empty() {
        return;
    }
    let bends = writer.name(&format!("{}.bends", part.node));
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: CurvatureBinormal(chains: {})),",
        text(&bends),
        text(part.node),
        listed(chains.into_iter())
    ));
    let name = writer.name(&format!("{}.bending", part.node));
    writer.forces.push(format!(
        "(name: {}, on: {}, law: Diagonal({}), treatment: Stiffness{}),",
        text(&name),
        text(&bends),
        listed(compliances.into_iter()),
        part.relaxation()
    ));
}

/// Writes the bending of a sheet: quadratic, and cubic about edges that are folded at rest.
pub(super) fn write_bending(writer: &mut Writer<'_>, part: &Part<'_>) {
    let elasticity = part.flex.elasticity;
    if elasticity.young == 0.0 || !elasticity.bend {
        return;
    }
    let mut hinges = hinges(part.flex);
    let all = hinges.len();
    hinges.retain(|hinge| hinge.stiffness >= 0.0);
    if hinges.len() < all {
        let message = "edges at which a sheet is folded by more than a right angle do not resist bending";
        writer.tree.remark(part.flex.spot, message);
    }
    write_curvature(writer, part, &hinges);
    hinges.retain(|hinge| hinge.stiffness > 0.0);
    if hinges.is_empty() {
        return;
    }
    let bends = writer.name(&format!("{}.bends", part.node));
    let list = listed(
        hinges
            .iter()
            .map(|hinge| format!("({})", joined(&hinge.vertices))),
    );
    let rest = match part.moved {
        true => format!(", rest: {}", part.rest()),
        false => String::new(),
    };
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: QuadraticBending(hinges: {list}{rest})),",
        text(&bends),
        text(part.node)
    ));
    let first = hinges[0].stiffness;
    let law = match hinges.iter().all(|hinge| hinge.stiffness == first) {
        true => format!("Stiffness({})", number(first)),
        false => {
            let compliances = hinges.iter().flat_map(|hinge| [1.0 / hinge.stiffness; 3]);
            format!(
                "Diagonal({}), treatment: Stiffness",
                listed(compliances.map(number))
            )
        }
    };
    let name = writer.name(&format!("{}.bending", part.node));
    writer.forces.push(format!(
        "(name: {}, on: {}, law: {law}{}),",
        text(&name),
        text(&bends),
        part.relaxation()
    ));
}

/// Writes the energy of edges that are folded at rest.
fn write_curvature(writer: &mut Writer<'_>, part: &Part<'_>, hinges: &[Hinge]) {
    let folded: Vec<&Hinge> = hinges.iter().filter(|hinge| hinge.curved != 0.0).collect();
    if folded.is_empty() {
        return;
    }
    let volumes = writer.name(&format!("{}.folds", part.node));
    let list = listed(
        folded
            .iter()
            .map(|hinge| format!("({})", joined(&hinge.vertices))),
    );
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Volume(tetrahedra: {list}, rest: 0)),",
        text(&volumes),
        text(part.node)
    ));
    // Each by its own factor: one sum of all would be a row of all vertices.
    let sines = writer.name(&format!("{}.curvature", part.node));
    let entries = folded.iter().enumerate().map(|(index, hinge)| {
        format!(
            "(to: ({index}, 0), from: {index}, value: {})",
            number(hinge.curved)
        )
    });
    let zeros = listed(folded.iter().map(|_| "0".to_owned()));
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Affine(dimension: 1, offset: {zeros}, entries: {})),",
        text(&sines),
        text(&volumes),
        listed(entries)
    ));
    let name = writer.name(&format!("{}.curved bending", part.node));
    writer.forces.push(format!(
        "(name: {}, on: {}, law: Force([-1])),",
        text(&name),
        text(&sines)
    ));
}

/// Edges between two triangles, with the stiffness of the plate of the material and the thickness.
fn hinges(flex: &Flex) -> Vec<Hinge> {
    let Elasticity {
        young,
        poisson,
        thickness,
        ..
    } = flex.elasticity;
    let plate = young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson));
    let mut numbers: HashMap<(usize, usize), usize> = HashMap::new();
    let mut found: Vec<[Option<usize>; 4]> = Vec::new();
    for cell in &flex.cells {
        let [a, b, c] = [cell[0], cell[1], cell[2]];
        for (from, to, opposite) in [(b, c, a), (c, a, b), (a, b, c)] {
            let key = (from.min(to), from.max(to));
            match numbers.get(&key) {
                Some(number) => found[*number][3] = Some(opposite),
                None => {
                    numbers.insert(key, found.len());
                    found.push([Some(from), Some(to), Some(opposite), None]);
                }
            }
        }
    }
    let inner = found
        .into_iter()
        .filter_map(|[a, b, c, d]| Some([a?, b?, c?, d?]));
    inner
        .filter_map(|vertices| hinge(flex, vertices, plate))
        .collect()
}

/// A hinge by the places of its vertices at rest; none beside a triangle without area.
///
/// An edge of the length `l` between triangles of the area `A` in all, folded by `f` at rest, has
/// the energy `D l^2/A (1 - cos(f' - f))` at the fold `f'`: that with `cos(f)` is quadratic in the
/// places of the vertices, that with `sin(f)` goes with the volume between them.
fn hinge(flex: &Flex, vertices: [usize; 4], plate: f64) -> Option<Hinge> {
    let [a, b, c, d] = vertices.map(|v| flex.rest[v]);
    let edge = b - a;
    let length = edge.norm();
    // Heights of both triangles, from the edge to their corners.
    let height = |corner: Vec3| {
        let arm = corner - a;
        arm - edge * (arm.dot(&edge) / (length * length))
    };
    let (one, other) = (height(c), height(d));
    let heights = one.norm() * other.norm();
    let area = 0.5 * length * (one.norm() + other.norm());
    let cosine = -one.dot(&other) / heights;
    let volume = edge.cross(&(c - a)).dot(&(d - a));
    let sine = volume / (heights * length);
    // At a right angle, and where it is flat, rounding decides about the sign.
    let [cosine, sine] = [cosine, sine].map(|x| if x.abs() < 1e-12 { 0.0 } else { x });
    let (stiffness, curved) = (
        plate / 3.0 * cosine,
        -6.0 * plate / area * sine * length / heights,
    );
    (stiffness.is_finite() && curved.is_finite()).then_some(Hinge {
        vertices,
        stiffness,
        curved,
    })
}
