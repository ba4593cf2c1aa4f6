//! `$Nodes` and `$Elements` of MSH 2.2.

use super::cursor::{Cursor, Encoding};
use super::error::MeshError;
use super::msh::{Msh, element_kind};

/// The count is text also in a binary file, and the data begin on the next line.
fn read_count(cursor: &mut Cursor<'_>, expected: &str) -> Result<u64, MeshError> {
    let count = cursor.text(expected)?;
    if cursor.encoding != Encoding::Text {
        cursor.end_of_line()?;
    }
    Ok(count)
}

/// `tag x y z` per node.
pub(super) fn read_nodes(cursor: &mut Cursor<'_>, msh: &mut Msh) -> Result<(), MeshError> {
    let count = read_count(cursor, "the number of nodes")?;
    let count = cursor.fits(count, "nodes", [1, 0, 3])?;
    for _ in 0..count {
        let tag = cursor.int("a node tag")?;
        let offset = cursor.last;
        let mut position = [0.0; 3];
        for coordinate in &mut position {
            *coordinate = cursor.real("a coordinate of a node")?;
        }
        msh.add_node(cursor, offset, tag, position)?;
    }
    Ok(())
}

/// Text: `tag type tags... nodes...` per element; binary: blocks of one type and number of tags.
/// The first tag is the physical group.
pub(super) fn read_elements(cursor: &mut Cursor<'_>, msh: &mut Msh) -> Result<(), MeshError> {
    let total = read_count(cursor, "the number of elements")?;
    let mut left = cursor.fits(total, "elements", [1, 0, 0])? as u64;
    while left > 0 {
        if cursor.encoding == Encoding::Text {
            cursor.int("an element tag")?;
            let offset = cursor.last;
            let kind = cursor.int("an element type")?;
            let kind = element_kind(cursor, kind)?;
            let tags = read_tag_count(cursor)?;
            read_element(cursor, msh, offset, kind, tags)?;
            left = left.saturating_sub(1);
            continue;
        }
        let kind = cursor.int("an element type")?;
        let kind = element_kind(cursor, kind)?;
        let count = cursor.int("the number of elements of a block")?;
        let count = u64::try_from(count)
            .ok()
            .filter(|&count| count <= left)
            .ok_or_else(|| {
                cursor.syntax(
                    format!("a block of at most {left} elements, as many as are missing"),
                    count.to_string(),
                )
            })?;
        let tags = read_tag_count(cursor)?;
        let each = kind.nodes().saturating_add(tags).saturating_add(1);
        cursor.fits(count, "elements", [each as u64, 0, 0])?;
        for _ in 0..count {
            cursor.int("an element tag")?;
            read_element(cursor, msh, cursor.last, kind, tags)?;
        }
        left = left.saturating_sub(count);
    }
    Ok(())
}

fn read_tag_count(cursor: &mut Cursor<'_>) -> Result<usize, MeshError> {
    let expected = "the number of tags of an element";
    let count = cursor.int(expected)?;
    let count = u64::try_from(count).map_err(|_| cursor.syntax(expected, count.to_string()))?;
    cursor.fits(count, "tags of an element", [1, 0, 0])
}

fn read_element(
    cursor: &mut Cursor<'_>,
    msh: &mut Msh,
    offset: usize,
    kind: super::elements::Kind,
    tags: usize,
) -> Result<(), MeshError> {
    let mut physical = None;
    for _ in 0..tags {
        let tag = cursor.int("a tag of an element")?;
        physical.get_or_insert(tag);
    }
    let groups = msh.group_ids(cursor, kind.dimension(), physical.as_slice())?;
    let mut nodes = [0; super::elements::MOST_NODES];
    let nodes = &mut nodes[..kind.nodes()];
    for node in nodes.iter_mut() {
        *node = cursor.int("a node tag of an element")?;
    }
    msh.add_element(cursor, offset, kind, nodes, &groups)
}
