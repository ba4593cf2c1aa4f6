//! Solids, sheets and rods with numbers on their points and cells.

use serde::{Deserialize, Serialize};

/// The kind of a region; each has a collection of files of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// Volumes.
    Solid,
    /// Triangles and quadrangles.
    Sheet,
    /// Lines.
    Rod,
}

/// The kind of a cell, in the order of nodes of VTK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A line of 2 nodes.
    Line,
    /// A triangle of 3 nodes.
    Triangle,
    /// A quadrangle of 4 nodes.
    Quadrangle,
    /// A tetrahedron of 4 nodes.
    Tetrahedron4,
    /// A tetrahedron of 10 nodes.
    Tetrahedron10,
    /// A pyramid of 5 nodes.
    Pyramid5,
    /// A pyramid of 13 nodes.
    Pyramid13,
    /// A prism of 6 nodes.
    Prism6,
    /// A prism of 15 nodes.
    Prism15,
    /// A hexahedron of 8 nodes.
    Hexahedron8,
    /// A hexahedron of 20 nodes.
    Hexahedron20,
    /// A hexahedron of 27 nodes.
    Hexahedron27,
}

impl CellKind {
    /// VTK's number of the kind.
    pub fn vtk(self) -> u8 {
        match self {
            Self::Line => 3,
            Self::Triangle => 5,
            Self::Quadrangle => 9,
            Self::Tetrahedron4 => 10,
            Self::Tetrahedron10 => 24,
            Self::Pyramid5 => 14,
            Self::Pyramid13 => 27,
            Self::Prism6 => 13,
            Self::Prism15 => 26,
            Self::Hexahedron8 => 12,
            Self::Hexahedron20 => 25,
            Self::Hexahedron27 => 29,
        }
    }
}

/// A cell of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionCell {
    /// Its kind.
    pub kind: CellKind,
    /// Its nodes, by their numbers in the region.
    pub nodes: Vec<u32>,
}

/// Numbers on all points or all cells of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// Name: `stress`.
    pub name: &'static str,
    /// Unit: `Pa`; empty if it has none.
    pub unit: &'static str,
    /// Numbers of each point or cell: 1, 3 of a vector, 6 of a symmetric tensor (xx, yy, zz, xy,
    /// yz, zx).
    pub components: usize,
}

/// A solid, a sheet or a rod.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// The user's name.
    pub name: String,
    /// Its kind.
    pub kind: RegionKind,
    /// The number of its first point among those of a [`Frame`](super::Frame); `None` if they are
    /// not among them, and stand in the [`RegionFrame`].
    pub first_point: Option<usize>,
    /// Number of its points.
    pub point_count: usize,
    /// Its cells.
    pub cells: Vec<RegionCell>,
    /// Fields at points.
    pub point_fields: Vec<FieldSpec>,
    /// Fields of cells.
    pub cell_fields: Vec<FieldSpec>,
}

/// A region at one recorded instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionFrame {
    /// Positions of its points (m), if these are not among those of the frame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[f64; 3]>,
    /// Numbers of each of [`Region::point_fields`], point by point.
    pub point_values: Vec<Vec<f32>>,
    /// Numbers of each of [`Region::cell_fields`], cell by cell.
    pub cell_values: Vec<Vec<f32>>,
    /// Cells that are not there any more, by their places in [`Region::cells`], rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<u32>,
}

impl Region {
    /// Numbers of its fields in a frame, of four bytes each.
    pub fn numbers(&self) -> usize {
        let sum = |fields: &[FieldSpec]| fields.iter().map(|f| f.components).sum::<usize>();
        let points = self.point_count.saturating_mul(sum(&self.point_fields));
        points.saturating_add(self.cells.len().saturating_mul(sum(&self.cell_fields)))
    }

    /// Which list of a frame does not fit: its name, and how long it should be and is.
    pub(crate) fn misfit(&self, frame: &RegionFrame) -> Option<(&'static str, usize, usize)> {
        let fields = |specs: &[FieldSpec], values: &[Vec<f32>], count: usize, what: &'static str| {
            if specs.len() != values.len() {
                return Some((what, specs.len(), values.len()));
            }
            let lengths = specs
                .iter()
                .zip(values)
                .map(|(f, v)| (f.components * count, v.len()));
            let wrong = lengths.into_iter().find(|(expected, found)| expected != found);
            wrong.map(|(expected, found)| (what, expected, found))
        };
        let points = match self.first_point {
            Some(_) => 0,
            None => self.point_count,
        };
        let own = frame.points.len();
        let own = (own != points).then_some(("points of a region", points, own));
        own.or_else(|| {
            let count = self.point_count;
            fields(
                &self.point_fields,
                &frame.point_values,
                count,
                "numbers of the points of a region",
            )
        })
        .or_else(|| {
            let count = self.cells.len();
            fields(
                &self.cell_fields,
                &frame.cell_values,
                count,
                "numbers of the cells of a region",
            )
        })
    }
}
