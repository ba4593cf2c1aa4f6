//! `$Entities`, `$Nodes` and `$Elements` of MSH 4.1.

use super::builder::within;
use super::cursor::Cursor;
use super::error::MeshError;
use super::msh::{Msh, element_kind};

/// Per dimension, entities with bounds, physical tags and bounding entities; only the physical tags
/// matter here.
pub(super) fn read_entities(cursor: &mut Cursor<'_>, msh: &mut Msh) -> Result<(), MeshError> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = cursor.size("the number of entities")?;
    }
    for (dimension, count) in (0..).zip(counts) {
        // A point has a position, the others a box.
        let reals = if dimension == 0 { 3 } else { 6 };
        let count = cursor.fits(count, "entities", [1, 1, reals])?;
        for _ in 0..count {
            let tag = cursor.int("an entity tag")?;
            within(msh.entities.len(), "entities")?;
            for _ in 0..reals {
                cursor.real("the bounds of an entity")?;
            }
            let physical = read_ints(cursor, "physical tags")?;
            if dimension > 0 {
                read_ints(cursor, "bounding entities")?;
            }
            msh.entities.insert((dimension, tag), physical);
        }
    }
    Ok(())
}

fn read_ints(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Vec<i64>, MeshError> {
    let count = cursor.size(what)?;
    let count = cursor.fits(count, what, [1, 0, 0])?;
    within(count, what)?;
    (0..count).map(|_| cursor.int(what)).collect()
}

/// Blocks of nodes of one entity: all tags, then all coordinates.
pub(super) fn read_nodes(cursor: &mut Cursor<'_>, msh: &mut Msh) -> Result<(), MeshError> {
    let (blocks, total) = read_totals(cursor, "nodes")?;
    let mut read = 0u64;
    for _ in 0..blocks {
        let dimension = cursor.int("the dimension of an entity")?;
        if !(0..=3).contains(&dimension) {
            return Err(cursor.syntax("the dimension of an entity, 0 to 3", dimension.to_string()));
        }
        cursor.int("the tag of an entity")?;
        let parameters = match cursor.int("0 or 1 for parametric nodes")? {
            0 => 0,
            1 => dimension.unsigned_abs(),
            other => return Err(cursor.syntax("0 or 1 for parametric nodes", other.to_string())),
        };
        let count = cursor.size("the number of nodes of a block")?;
        let count = cursor.fits(count, "nodes", [0, 1, parameters.saturating_add(3)])?;
        let tags = (0..count)
            .map(|_| cursor.tag("a node tag"))
            .collect::<Result<Vec<_>, _>>()?;
        for tag in tags {
            let mut position = [0.0; 3];
            let mut offset = None;
            for coordinate in &mut position {
                *coordinate = cursor.real("a coordinate of a node")?;
                offset.get_or_insert(cursor.last);
            }
            for _ in 0..parameters {
                cursor.real("a parameter of a node")?;
            }
            msh.add_node(cursor, offset.unwrap_or(cursor.last), tag, position)?;
        }
        read = read.saturating_add(count as u64);
    }
    check_total(cursor, "nodes", total, read)
}

/// Blocks of elements of one entity and type, each `tag nodes...`.
pub(super) fn read_elements(cursor: &mut Cursor<'_>, msh: &mut Msh) -> Result<(), MeshError> {
    let (blocks, total) = read_totals(cursor, "elements")?;
    let mut read = 0u64;
    for _ in 0..blocks {
        let dimension = cursor.int("the dimension of an entity")?;
        let entity = cursor.int("the tag of an entity")?;
        let kind = cursor.int("an element type")?;
        let kind = element_kind(cursor, kind)?;
        let count = cursor.size("the number of elements of a block")?;
        let count = cursor.fits(count, "elements", [0, kind.nodes().saturating_add(1) as u64, 0])?;
        let physical = msh
            .entities
            .get(&(dimension, entity))
            .cloned()
            .unwrap_or_default();
        let groups = msh.group_ids(cursor, dimension, &physical)?;
        let mut nodes = [0; super::elements::MOST_NODES];
        let nodes = &mut nodes[..kind.nodes()];
        for _ in 0..count {
            cursor.size("an element tag")?;
            let offset = cursor.last;
            for node in nodes.iter_mut() {
                *node = cursor.tag("a node tag of an element")?;
            }
            msh.add_element(cursor, offset, kind, nodes, &groups)?;
        }
        read = read.saturating_add(count as u64);
    }
    check_total(cursor, "elements", total, read)
}

/// Number of blocks and of entries; the least and greatest tag, which follow, are not needed.
fn read_totals(cursor: &mut Cursor<'_>, what: &str) -> Result<(u64, u64), MeshError> {
    let blocks = cursor.size(&format!("the number of blocks of {what}"))?;
    let total = cursor.size(&format!("the number of {what}"))?;
    cursor.size("the least tag")?;
    cursor.size("the greatest tag")?;
    Ok((blocks, total))
}

fn check_total(cursor: &Cursor<'_>, what: &str, total: u64, read: u64) -> Result<(), MeshError> {
    if read == total {
        return Ok(());
    }
    Err(cursor.syntax(format!("{total} {what} in all blocks together"), read.to_string()))
}
