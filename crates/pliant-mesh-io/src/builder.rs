//! Collects vertices, cells and groups: what the readers of all formats share.

use std::collections::HashMap;

use super::elements::Kind;
use super::error::MeshError;
use super::{Mesh, MeshGroup, VolumeCell};

/// Most groups that one cell may be in. Without a bound, a small file of many groups times many
/// cells asks for the product in memory.
pub(super) const MAX_GROUPS_PER_CELL: usize = 64;

#[derive(Default)]
pub(super) struct Builder {
    mesh: Mesh,
    by_name: HashMap<String, usize>,
}

impl Builder {
    pub(super) fn vertices(&self) -> usize {
        self.mesh.vertices.len()
    }

    /// Index of the group of that name, made if new; [`Builder::finish`] drops those that stay
    /// without cells.
    pub(super) fn group(&mut self, name: &str) -> usize {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = self.mesh.groups.len();
        self.mesh.groups.push(MeshGroup {
            name: name.to_owned(),
            ..MeshGroup::default()
        });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    pub(super) fn vertex(&mut self, position: [f64; 3]) -> Result<u32, MeshError> {
        let index = next_index(self.mesh.vertices.len(), "vertices")?;
        self.mesh.vertices.push(position);
        Ok(index)
    }

    pub(super) fn point(&mut self, vertex: u32, groups: &[usize]) {
        for &group in groups {
            self.mesh.groups[group].vertices.push(vertex);
        }
    }

    pub(super) fn edge(&mut self, corners: [u32; 2], groups: &[usize]) -> Result<(), MeshError> {
        let index = next_index(self.mesh.edges.len(), "edges")?;
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
            let index = next_index(self.mesh.triangles.len(), "triangles")?;
            self.mesh.triangles.push([*first, pair[0], pair[1]]);
            // Only the first piece has the polygon's first side, only the last one its last.
            if piece > 0 {
                self.mesh.diagonals.push([index, 0]);
            }
            if piece + 1 < pieces {
                self.mesh.diagonals.push([index, 2]);
            }
            for &group in groups {
                self.mesh.groups[group].triangles.push(index);
            }
        }
        Ok(())
    }

    pub(super) fn tetrahedron(&mut self, corners: [u32; 4], groups: &[usize]) -> Result<(), MeshError> {
        let index = next_index(self.mesh.tetrahedra.len(), "tetrahedra")?;
        self.mesh.tetrahedra.push(corners);
        for &group in groups {
            self.mesh.groups[group].tetrahedra.push(index);
        }
        Ok(())
    }

    pub(super) fn volume(&mut self, cell: VolumeCell, groups: &[usize]) -> Result<(), MeshError> {
        let index = next_index(self.mesh.volumes.len(), "volumes")?;
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
            (Kind::Point, [a, ..]) => {
                self.point(*a, groups);
                Ok(())
            }
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
    pub(super) fn join(&mut self, kind: Kind, cell: usize, groups: &[usize]) {
        // It was made by this builder, so that its indices fit.
        let cells = cell as u32..(cell + kind.pieces()) as u32;
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

/// The index of an entry appended to a list of `len`; `u32::MAX` itself stays free, so that the
/// length fits too.
fn next_index(len: usize, what: &'static str) -> Result<u32, MeshError> {
    match u32::try_from(len) {
        Ok(index) if index < u32::MAX => Ok(index),
        _ => Err(MeshError::TooLarge { what }),
    }
}
