//! `$ELM` of MSH 1; its `$NOD` is read as `$Nodes` of 2.2.

use super::cursor::Cursor;
use super::elements::MOST_NODES;
use super::error::MeshError;
use super::msh::{Msh, element_kind};

/// `tag type physical entity count nodes...` per element.
pub(super) fn read_elements(cursor: &mut Cursor<'_>, msh: &mut Msh) -> Result<(), MeshError> {
    let total = cursor.text("the number of elements")?;
    let total = cursor.fits(total, "elements", [1, 0, 0])?;
    for _ in 0..total {
        cursor.int("an element tag")?;
        let offset = cursor.last;
        let kind = cursor.int("an element type")?;
        let kind = element_kind(cursor, kind)?;
        let physical = cursor.int("the physical group of an element")?;
        cursor.int("the entity of an element")?;
        let count = cursor.int("the number of nodes of an element")?;
        if usize::try_from(count) != Ok(kind.nodes()) {
            return Err(cursor.syntax(format!("{} nodes", kind.nodes()), count.to_string()));
        }
        let groups = msh.group_ids(cursor, kind.dimension(), &[physical])?;
        let mut nodes = [0; MOST_NODES];
        let nodes = &mut nodes[..kind.nodes()];
        for node in nodes.iter_mut() {
            *node = cursor.int("a node tag of an element")?;
        }
        msh.add_element(cursor, offset, kind, nodes, &groups)?;
    }
    Ok(())
}
