//! Gmsh's element types.

/// The element types that a [`Mesh`](super::Mesh) can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Point,
    Line,
    Triangle,
    Quadrangle,
    Tetrahedron,
}

impl Kind {
    /// The kind with Gmsh's number, or what else that number is.
    pub(super) fn from_number(number: i64) -> Result<Self, &'static str> {
        match number {
            1 => Ok(Self::Line),
            2 => Ok(Self::Triangle),
            3 => Ok(Self::Quadrangle),
            4 => Ok(Self::Tetrahedron),
            15 => Ok(Self::Point),
            _ => Err(other(number)),
        }
    }

    pub(super) fn nodes(self) -> usize {
        match self {
            Self::Point => 1,
            Self::Line => 2,
            Self::Triangle => 3,
            Self::Quadrangle | Self::Tetrahedron => 4,
        }
    }

    /// Dimension of the physical groups that hold it.
    pub(super) fn dimension(self) -> i64 {
        match self {
            Self::Point => 0,
            Self::Line => 1,
            Self::Triangle | Self::Quadrangle => 2,
            Self::Tetrahedron => 3,
        }
    }
}

/// Names of the other types in the table of the Gmsh manual.
fn other(number: i64) -> &'static str {
    match number {
        5 => "8-node hexahedron",
        6 => "6-node prism",
        7 => "5-node pyramid",
        8 => "3-node line",
        9 => "6-node triangle",
        10 => "9-node quadrangle",
        11 => "10-node tetrahedron",
        12 => "27-node hexahedron",
        13 => "18-node prism",
        14 => "14-node pyramid",
        16 => "8-node quadrangle",
        17 => "20-node hexahedron",
        18 => "15-node prism",
        19 => "13-node pyramid",
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
