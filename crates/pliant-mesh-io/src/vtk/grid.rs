//! Cells of VTK, by type, and the groups that cell data make.

use std::collections::BTreeMap;

use pliant_continuum::ElementKind;

use super::super::builder::{Builder, MAX_GROUPS_PER_CELL};
use super::super::elements::Kind;
use super::super::error::{Location, MeshError};

/// Most different values of an array that are groups; with more it numbers cells instead.
pub(super) const MOST_VALUES: usize = 1000;

/// Cells of VTK.
#[derive(Default)]
pub(super) struct Cells {
    /// The place of the cells in the file.
    pub(super) place: Option<Location>,
    /// The type of each.
    pub(super) types: Vec<i64>,
    /// The number behind the last node of each in `connectivity`.
    pub(super) ends: Vec<i64>,
    /// Nodes of all cells.
    pub(super) connectivity: Vec<i64>,
}

/// VTK's numbers of types that surfaces have.
pub(super) const POLY_VERTEX: i64 = 2;
pub(super) const POLY_LINE: i64 = 4;
pub(super) const STRIP: i64 = 6;
pub(super) const POLYGON: i64 = 7;

/// A whole number for each cell, by name.
pub(super) type CellData = Vec<(String, Vec<i64>)>;

/// Adds cells whose nodes count from `first`, with the groups that the data make of them.
pub(super) fn add_cells(
    builder: &mut Builder,
    first: usize,
    cells: &Cells,
    data: &CellData,
) -> Result<(), MeshError> {
    let place = cells.place.unwrap_or(Location::Line(1));
    let syntax = |expected: String, found: String| MeshError::Syntax {
        place,
        expected,
        found,
    };
    if cells.types.len() != cells.ends.len() {
        let expected = format!("types of {} cells", cells.ends.len());
        return Err(syntax(expected, cells.types.len().to_string()));
    }
    let mut groups = Vec::new();
    for (name, values) in data {
        if values.len() != cells.types.len() {
            let expected = format!("{} numbers {name} of cells", cells.types.len());
            return Err(syntax(expected, values.len().to_string()));
        }
        let mut places: BTreeMap<i64, usize> = BTreeMap::new();
        for value in values {
            if places.len() <= MOST_VALUES {
                places.insert(*value, 0);
            }
        }
        if places.len() > MOST_VALUES {
            continue;
        }
        if groups.len() == MAX_GROUPS_PER_CELL {
            let expected = format!("at most {MAX_GROUPS_PER_CELL} arrays that make groups");
            return Err(syntax(expected, "more".to_owned()));
        }
        for (value, group) in &mut places {
            *group = builder.group(&format!("{name}_{value}"))?;
        }
        groups.push((values, places));
    }
    let vertices = builder.vertices().saturating_sub(first);
    let mut start = 0usize;
    let (mut nodes, mut ids) = (Vec::new(), Vec::new());
    for (index, (kind, end)) in cells.types.iter().zip(&cells.ends).enumerate() {
        let end = usize::try_from(*end).ok();
        let Some(list) = end.and_then(|end| cells.connectivity.get(start..end)) else {
            return Err(syntax(
                format!("nodes of cell {index} behind those of the one before"),
                format!("the end of them at {}", cells.ends[index]),
            ));
        };
        start = start.saturating_add(list.len());
        nodes.clear();
        for node in list {
            let inside = usize::try_from(*node).ok().filter(|k| *k < vertices);
            let Some(node) = inside else {
                return Err(MeshError::BadIndex {
                    place,
                    index: *node,
                    vertices,
                });
            };
            // The builder counts vertices with 32 bits.
            nodes.push(u32::try_from(first.saturating_add(node)).unwrap_or(u32::MAX));
        }
        ids.clear();
        ids.extend(
            groups
                .iter()
                .filter_map(|(values, places)| places.get(&values[index])),
        );
        add_cell(builder, *kind, &nodes, &ids, |expected| {
            syntax(
                format!("{expected} in cell {index} of type {kind}"),
                nodes.len().to_string(),
            )
        })
        .map_err(|error| match error {
            MeshError::UnsupportedElement { element, .. } => MeshError::UnsupportedElement { place, element },
            other => other,
        })?;
    }
    if start < cells.connectivity.len() {
        let expected = format!("{start} nodes of all cells together");
        return Err(syntax(expected, cells.connectivity.len().to_string()));
    }
    Ok(())
}

/// Adds one cell of a type of VTK.
fn add_cell(
    builder: &mut Builder,
    number: i64,
    nodes: &[u32],
    groups: &[usize],
    wrong: impl Fn(String) -> MeshError,
) -> Result<(), MeshError> {
    let least = match number {
        POLY_VERTEX => 0,
        POLY_LINE => 2,
        STRIP | POLYGON => 3,
        _ => nodes.len(),
    };
    if nodes.len() < least {
        return Err(wrong(format!("at least {least} nodes")));
    }
    match number {
        POLY_VERTEX => {
            return nodes.iter().try_for_each(|node| builder.point(*node, groups));
        }
        POLY_LINE => {
            return nodes
                .windows(2)
                .try_for_each(|pair| builder.edge([pair[0], pair[1]], groups));
        }
        STRIP => {
            return nodes.windows(3).enumerate().try_for_each(|(k, t)| {
                // Every other one goes round the other way.
                let corners = if k % 2 == 0 {
                    [t[0], t[1], t[2]]
                } else {
                    [t[1], t[0], t[2]]
                };
                builder.polygon(&corners, groups)
            });
        }
        POLYGON => return builder.polygon(nodes, groups),
        _ => {}
    }
    let (kind, order): (Kind, &[usize]) = match number {
        1 => (Kind::Point, &[]),
        3 => (Kind::Line, &[]),
        5 => (Kind::Triangle, &[]),
        8 => (Kind::Quadrangle, &[0, 1, 3, 2]),
        9 => (Kind::Quadrangle, &[]),
        10 => (Kind::Tetrahedron, &[]),
        11 => (Kind::Volume(ElementKind::Hex8), &[0, 1, 3, 2, 4, 5, 7, 6]),
        12 => (Kind::Volume(ElementKind::Hex8), &[]),
        13 => (Kind::Volume(ElementKind::Prism6), &[]),
        14 => (Kind::Volume(ElementKind::Pyramid5), &[]),
        21 => (Kind::Line3, &[]),
        22 => (Kind::Triangle6, &[]),
        23 => (Kind::Quadrangle8, &[]),
        28 => (Kind::Quadrangle9, &[]),
        24 => (Kind::Volume(ElementKind::Tet10), &[]),
        25 => (Kind::Volume(ElementKind::Hex20), &[]),
        26 => (Kind::Volume(ElementKind::Prism15), &[]),
        27 => (Kind::Volume(ElementKind::Pyramid13), &[]),
        29 => (Kind::Volume(ElementKind::Hex27), &[]),
        _ => {
            return Err(MeshError::UnsupportedElement {
                place: Location::Line(1),
                element: format!("{number} ({})", other(number)),
            });
        }
    };
    if nodes.len() != kind.nodes() {
        return Err(wrong(format!("{} nodes", kind.nodes())));
    }
    if order.is_empty() {
        return builder.cell(kind, nodes, groups);
    }
    let nodes: Vec<u32> = order.iter().map(|k| nodes[*k]).collect();
    builder.cell(kind, &nodes, groups)
}

/// Names of other types.
fn other(number: i64) -> &'static str {
    match number {
        0 => "empty cell",
        15 => "pentagonal prism",
        16 => "hexagonal prism",
        30 => "6-node quadrangle",
        31 => "12-node prism",
        32 => "18-node prism",
        33 => "24-node hexahedron",
        34 => "7-node triangle",
        42 => "polyhedron",
        68..=74 => "cell of any order",
        _ => "unknown to this reader",
    }
}
