//! Collects vertices, cells and groups: what the readers of all formats share.

use std::collections::HashMap;

use super::elements::Kind;
use super::error::MeshError;
use super::{Mesh, MeshGroup, VolumeCell};

/// Most groups that one cell may be in. Without a bound, a small file of many groups times many cells asks
/// for the product in memory.
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

    /// Index of the group of that name, made if new; [`Builder::finish`] drops those that stay without cells.
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

    /// Adds a polygon of at least three corners as a fan about its first one; fewer corners add nothing.
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

    /// Index that the next cell of that kind gets; a point has none.
    pub(super) fn next_cell(&self, kind: Kind) -> usize {
        match kind {
            Kind::Point => 0,
            Kind::Line => self.mesh.edges.len(),
            Kind::Triangle | Kind::Quadrangle => self.mesh.triangles.len(),
            Kind::Tetrahedron => self.mesh.tetrahedra.len(),
            Kind::Volume(_) => self.mesh.volumes.len(),
        }
    }

    /// Puts a cell that exists already, by its index, into more groups.
    pub(super) fn join(&mut self, kind: Kind, cell: usize, groups: &[usize]) {
        // It was made by this builder, so that its index fits.
        let cell = cell as u32;
        for &group in groups {
            let group = &mut self.mesh.groups[group];
            match kind {
                Kind::Point => {}
                Kind::Line => group.edges.push(cell),
                Kind::Triangle => group.triangles.push(cell),
                Kind::Quadrangle => group.triangles.extend([cell, cell + 1]),
                Kind::Tetrahedron => group.tetrahedra.push(cell),
                Kind::Volume(_) => group.volumes.push(cell),
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

/// The index of an entry appended to a list of `len`; `u32::MAX` itself stays free, so that the length fits
/// too.
fn next_index(len: usize, what: &'static str) -> Result<u32, MeshError> {
    match u32::try_from(len) {
        Ok(index) if index < u32::MAX => Ok(index),
        _ => Err(MeshError::TooLarge { what }),
    }
}
