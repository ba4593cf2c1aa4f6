//! The kinds of cells that the readers take, and Gmsh's numbers of them.

use pliant_continuum::ElementKind;

/// Most nodes of one element.
pub(super) const MOST_NODES: usize = 27;

/// The element types that a [`Mesh`](super::Mesh) can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Point,
    Line,
    /// Its ends, then its middle.
    Line3,
    Triangle,
    /// Its corners, then the middles of 01, 12, 20.
    Triangle6,
    Quadrangle,
    /// Its corners, then the middles of 01, 12, 23, 30.
    Quadrangle8,
    /// Nodes of [`Quadrangle8`](Self::Quadrangle8), then the centre.
    Quadrangle9,
    Tetrahedron,
    /// A volume that is no linear tetrahedron.
    Volume(ElementKind),
}

impl Kind {
    /// The kind with Gmsh's number, or what else that number is.
    pub(super) fn from_number(number: i64) -> Result<Self, &'static str> {
        match number {
            1 => Ok(Self::Line),
            2 => Ok(Self::Triangle),
            3 => Ok(Self::Quadrangle),
            4 => Ok(Self::Tetrahedron),
            5 => Ok(Self::Volume(ElementKind::Hex8)),
            6 => Ok(Self::Volume(ElementKind::Prism6)),
            7 => Ok(Self::Volume(ElementKind::Pyramid5)),
            11 => Ok(Self::Volume(ElementKind::Tet10)),
            12 => Ok(Self::Volume(ElementKind::Hex27)),
            17 => Ok(Self::Volume(ElementKind::Hex20)),
            18 => Ok(Self::Volume(ElementKind::Prism15)),
            19 => Ok(Self::Volume(ElementKind::Pyramid13)),
            8 => Ok(Self::Line3),
            9 => Ok(Self::Triangle6),
            10 => Ok(Self::Quadrangle9),
            16 => Ok(Self::Quadrangle8),
            15 => Ok(Self::Point),
            _ => Err(other(number)),
        }
    }

    pub(super) fn nodes(self) -> usize {
        match self {
            Self::Point => 1,
            Self::Line => 2,
            Self::Line3 | Self::Triangle => 3,
            Self::Triangle6 => 6,
            Self::Quadrangle8 => 8,
            Self::Quadrangle9 => 9,
            Self::Quadrangle | Self::Tetrahedron => 4,
            Self::Volume(kind) => kind.node_count(),
        }
    }

    /// Entries of a [`Mesh`](super::Mesh) that it becomes.
    pub(super) fn pieces(self) -> usize {
        match self {
            Self::Line3 | Self::Quadrangle => 2,
            Self::Triangle6 => 4,
            Self::Quadrangle8 => 6,
            Self::Quadrangle9 => 8,
            _ => 1,
        }
    }

    /// Dimension of the physical groups that hold it.
    pub(super) fn dimension(self) -> i64 {
        match self {
            Self::Point => 0,
            Self::Line | Self::Line3 => 1,
            Self::Triangle | Self::Triangle6 | Self::Quadrangle | Self::Quadrangle8 | Self::Quadrangle9 => 2,
            Self::Tetrahedron | Self::Volume(_) => 3,
        }
    }
}

/// The place in Gmsh's order of each node of an element.
pub(super) fn gmsh_order(kind: ElementKind) -> &'static [usize] {
    // Gmsh numbers edges by their first corners, then their last ones; the library as VTK does.
    match kind {
        ElementKind::Tet10 => &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8],
        ElementKind::Pyramid13 => &[0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12],
        ElementKind::Prism15 => &[0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11],
        ElementKind::Hex20 => &[
            0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15,
        ],
        ElementKind::Hex27 => &[
            0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25, 26,
        ],
        _ => &[0, 1, 2, 3, 4, 5, 6, 7, 8],
    }
}

/// Names of the other types in the table of the Gmsh manual.
fn other(number: i64) -> &'static str {
    match number {
        13 => "18-node prism",
        14 => "14-node pyramid",
        20 => "9-node triangle",
        21 => "10-node triangle",
        22 => "12-node triangle",
        23 | 24 => "15-node triangle",
        25 => "21-node triangle",
        26 => "4-node line",
        27 => "5-node line",
        28 => "6-node line",
        29 => "20-node tetrahedron",
        30 => "35-node tetrahedron",
        31 => "56-node tetrahedron",
        92 => "64-node hexahedron",
        93 => "125-node hexahedron",
        _ => "unknown to this reader",
    }
}
