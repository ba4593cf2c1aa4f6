//! Collects vertices, cells and groups: what the readers of all formats share.

use std::collections::HashMap;

use super::elements::Kind;
use super::error::MeshError;
use super::{MOST_ENTRIES, Mesh, MeshGroup, VolumeCell};

/// Most groups that one cell may be in.
pub(super) const MAX_GROUPS_PER_CELL: usize = 64;

#[derive(Default)]
pub(super) struct Builder {
    mesh: Mesh,
    by_name: HashMap<String, usize>,
    entries: Entries,
}

/// Entries of a mesh that are counted before they take memory, against [`MOST_ENTRIES`].
#[derive(Default)]
pub(super) struct Entries(usize);

impl Entries {
    /// So many entries of one group take as much memory as the group itself.
    const OF_A_GROUP: usize = 16;

    /// Counts more of them.
    pub(super) fn add(&mut self, more: usize) -> Result<(), MeshError> {
        self.0 = self.0.saturating_add(more);
        within(self.0, "vertices, cells and places of these in groups")
    }
}

/// Checks a number of things of one kind against [`MOST_ENTRIES`].
pub(super) fn within(count: usize, what: &'static str) -> Result<(), MeshError> {
    if count <= MOST_ENTRIES {
        return Ok(());
    }
    let most = MOST_ENTRIES;
    Err(MeshError::TooLarge { what, most })
}

impl Builder {
    pub(super) fn vertices(&self) -> usize {
        self.mesh.vertices.len()
    }

    /// Index of the group of that name, made if new; [`Builder::finish`] drops those that stay
    /// without cells.
    pub(super) fn group(&mut self, name: &str) -> Result<usize, MeshError> {
        if let Some(&id) = self.by_name.get(name) {
            return Ok(id);
        }
        self.entries.add(Entries::OF_A_GROUP)?;
        let id = self.mesh.groups.len();
        self.mesh.groups.push(MeshGroup {
            name: name.to_owned(),
            ..MeshGroup::default()
        });
        self.by_name.insert(name.to_owned(), id);
        Ok(id)
    }

    /// The index of an entry appended to a list of `len`, which is in so many groups.
    fn next(&mut self, len: usize, groups: &[usize]) -> Result<u32, MeshError> {
        self.entries.add(groups.len().saturating_add(1))?;
        // The largest count of entries fits.
        Ok(u32::try_from(len).unwrap_or(u32::MAX))
    }

    pub(super) fn vertex(&mut self, position: [f64; 3]) -> Result<u32, MeshError> {
        let index = self.next(self.mesh.vertices.len(), &[])?;
        self.mesh.vertices.push(position);
        Ok(index)
    }

    pub(super) fn point(&mut self, vertex: u32, groups: &[usize]) -> Result<(), MeshError> {
        self.entries.add(groups.len())?;
        for &group in groups {
            self.mesh.groups[group].vertices.push(vertex);
        }
        Ok(())
    }

    pub(super) fn edge(&mut self, corners: [u32; 2], groups: &[usize]) -> Result<(), MeshError> {
        let index = self.next(self.mesh.edges.len(), groups)?;
        self.mesh.edges.push(corners);
        for &group in groups {
            self.mesh.groups[group].edges.push(index);
        }
        Ok(())
    }

    /// Adds a polygon of at least three corners as a fan about its first one; fewer corners add
    /// nothing.
    pub(super) fn polygon(&mut self, corners: &[u32], groups: &[usize]) -> Result<(), MeshError> {
        let [first, rest @ ..] = corners else {
            return Ok(());
        };
        let pieces = rest.len().saturating_sub(1);
        for (piece, pair) in rest.windows(2).enumerate() {
            let index = self.next(self.mesh.triangles.len(), groups)?;
            self.mesh.triangles.push([*first, pair[0], pair[1]]);
            // Only the first piece has the polygon's first side, only the last one its last.
            if piece > 0 {
                self.mesh.diagonals.push([index, 0]);
            }
            if piece.saturating_add(1) < pieces {
                self.mesh.diagonals.push([index, 2]);
            }
            for &group in groups {
                self.mesh.groups[group].triangles.push(index);
            }
        }
        Ok(())
    }

    pub(super) fn tetrahedron(&mut self, corners: [u32; 4], groups: &[usize]) -> Result<(), MeshError> {
        let index = self.next(self.mesh.tetrahedra.len(), groups)?;
        self.mesh.tetrahedra.push(corners);
        for &group in groups {
            self.mesh.groups[group].tetrahedra.push(index);
        }
        Ok(())
    }

    pub(super) fn volume(&mut self, cell: VolumeCell, groups: &[usize]) -> Result<(), MeshError> {
        let index = self.next(self.mesh.volumes.len(), groups)?;
        self.mesh.volumes.push(cell);
        for &group in groups {
            self.mesh.groups[group].volumes.push(index);
        }
        Ok(())
    }

    /// Adds a cell of these nodes, as many as the kind has and in its order. Lines and faces with
    /// nodes in the middle of their edges become pieces between all of their nodes.
    pub(super) fn cell(&mut self, kind: Kind, nodes: &[u32], groups: &[usize]) -> Result<(), MeshError> {
        match (kind, nodes) {
            (Kind::Point, [a, ..]) => self.point(*a, groups),
            (Kind::Line, [a, b, ..]) => self.edge([*a, *b], groups),
            (Kind::Line3, [a, b, m, ..]) => {
                self.edge([*a, *m], groups)?;
                self.edge([*m, *b], groups)
            }
            (Kind::Triangle | Kind::Quadrangle, corners) => self.polygon(corners, groups),
            // Fans about a middle: about a corner, pieces along its edge would be flat.
            (Kind::Triangle6, [a, b, c, ab, bc, ca, ..]) => {
                self.polygon(&[*ab, *b, *bc, *c, *ca, *a], groups)
            }
            (Kind::Quadrangle8, [a, b, c, d, ab, bc, cd, da, ..]) => {
                self.polygon(&[*ab, *b, *bc, *c, *cd, *d, *da, *a], groups)
            }
            (Kind::Quadrangle9, [a, b, c, d, ab, bc, cd, da, m, ..]) => {
                [[m, da, a, ab], [m, ab, b, bc], [m, bc, c, cd], [m, cd, d, da]]
                    .into_iter()
                    .try_for_each(|corners| self.polygon(&corners.map(|v| *v), groups))
            }
            (Kind::Tetrahedron, [a, b, c, d, ..]) => self.tetrahedron([*a, *b, *c, *d], groups),
            (Kind::Volume(kind), nodes) => {
                let nodes = nodes.to_vec();
                self.volume(VolumeCell { kind, nodes }, groups)
            }
            // Fewer nodes than the kind has: no reader asks for it.
            _ => Ok(()),
        }
    }

    /// Index that the next cell of that kind gets; a point has none.
    pub(super) fn next_cell(&self, kind: Kind) -> usize {
        match kind.dimension() {
            0 => 0,
            1 => self.mesh.edges.len(),
            2 => self.mesh.triangles.len(),
            _ if kind == Kind::Tetrahedron => self.mesh.tetrahedra.len(),
            _ => self.mesh.volumes.len(),
        }
    }

    /// Puts a cell that exists already, by its index, into more groups.
    pub(super) fn join(&mut self, kind: Kind, cell: usize, groups: &[usize]) -> Result<(), MeshError> {
        let pieces = kind.pieces();
        self.entries.add(groups.len().saturating_mul(pieces))?;
        // It was made by this builder, so that its indices fit.
        let [first, end] = [cell, cell.saturating_add(pieces)].map(|k| u32::try_from(k).unwrap_or(u32::MAX));
        let cells = first..end;
        for &group in groups {
            let group = &mut self.mesh.groups[group];
            match kind.dimension() {
                0 => {}
                1 => group.edges.extend(cells.clone()),
                2 => group.triangles.extend(cells.clone()),
                _ if kind == Kind::Tetrahedron => group.tetrahedra.extend(cells.clone()),
                _ => group.volumes.extend(cells.clone()),
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Mesh, MeshError> {
        let mut mesh = self.mesh;
        if mesh.vertices.is_empty() {
            return Err(MeshError::Empty);
        }
        mesh.groups.retain_mut(|group| {
            let mut cells = [
                &mut group.vertices,
                &mut group.edges,
                &mut group.triangles,
                &mut group.tetrahedra,
                &mut group.volumes,
            ];
            for list in &mut cells {
                list.sort_unstable();
                list.dedup();
            }
            cells.iter().any(|list| !list.is_empty())
        });
        Ok(mesh)
    }
}
