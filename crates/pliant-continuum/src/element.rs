//! Finite elements of solids: nodes, shape functions, faces.

mod quadrature;
mod shapes;

pub use quadrature::Quadrature;
pub use shapes::{ShapeFunctions, ShapeValues};

/// A kind of volume element: its reference cell, nodes and shape functions.
///
/// The order of the nodes is that of VTK; of prisms, that of Gmsh for their corners. Corners come
/// first, then the middles of edges, of faces, of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// Tetrahedron of four nodes, linear: corners `(0 0 0)`, `(1 0 0)`, `(0 1 0)`, `(0 0 1)`.
    Tet4,
    /// Tetrahedron of ten nodes, quadratic: the corners, then the middles of 01, 12, 20, 03,
    /// 13, 23.
    Tet10,
    /// Pyramid of five nodes: the base `(-1 -1 0)`, `(1 -1 0)`, `(1 1 0)`, `(-1 1 0)` and the tip
    /// `(0 0 1)`; rational functions.
    Pyramid5,
    /// Pyramid of 13 nodes, quadratic with rational functions (Bedrosian 1992): the corners, then
    /// the middles of the edges of the base and of those to the tip. Its faces are those of
    /// tetrahedra of ten nodes and hexahedra of twenty.
    Pyramid13,
    /// Prism of six nodes: a triangle `(0 0)`, `(1 0)`, `(0 1)` at -1, then at 1; linear times
    /// linear.
    Prism6,
    /// Prism of 15 nodes, serendipity: the corners, then the middles of the edges of the triangle at
    /// -1, of that at 1, and between.
    Prism15,
    /// Hexahedron of eight nodes, trilinear: the bottom `(-1 -1 -1)`, `(1 -1 -1)`, `(1 1 -1)`,
    /// `(-1 1 -1)`, then the top.
    Hex8,
    /// Hexahedron of twenty nodes, serendipity: the corners, then the middles of the edges of the
    /// bottom, the top, and between.
    Hex20,
    /// Hexahedron of 27 nodes, triquadratic: the twenty, then the middles of the faces at -x, x,
    /// -y, y, -z, z, and the centre.
    Hex27,
}

use ElementKind::{Hex8, Hex20, Hex27, Prism6, Prism15, Pyramid5, Pyramid13, Tet4, Tet10};

/// Edges of a tetrahedron by its corners.
const TET_EDGES: &[[usize; 2]] = &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
/// Edges of a hexahedron by its corners.
const HEX_EDGES: &[[usize; 2]] = &[
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
    [4, 5],
    [5, 6],
    [6, 7],
    [7, 4],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];

impl ElementKind {
    /// Every kind there is.
    pub const ALL: [Self; 9] = [
        Tet4, Tet10, Pyramid5, Pyramid13, Prism6, Prism15, Hex8, Hex20, Hex27,
    ];

    /// Number of nodes.
    pub const fn node_count(self) -> usize {
        match self {
            Tet4 => 4,
            Tet10 => 10,
            Pyramid5 => 5,
            Pyramid13 => 13,
            Prism6 => 6,
            Prism15 => 15,
            Hex8 => 8,
            Hex20 => 20,
            Hex27 => 27,
        }
    }

    /// Number of corners, which are the first nodes.
    pub const fn corner_count(self) -> usize {
        match self {
            Tet4 | Tet10 => 4,
            Pyramid5 | Pyramid13 => 5,
            Prism6 | Prism15 => 6,
            Hex8 | Hex20 | Hex27 => 8,
        }
    }

    /// The name in scene files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Tet4 => "tetrahedron of 4 nodes",
            Tet10 => "tetrahedron of 10 nodes",
            Pyramid5 => "pyramid of 5 nodes",
            Pyramid13 => "pyramid of 13 nodes",
            Prism6 => "prism of 6 nodes",
            Prism15 => "prism of 15 nodes",
            Hex8 => "hexahedron of 8 nodes",
            Hex20 => "hexahedron of 20 nodes",
            Hex27 => "hexahedron of 27 nodes",
        }
    }

    /// Volume of the reference cell (no unit).
    pub const fn reference_volume(self) -> f64 {
        match self {
            Tet4 | Tet10 => 1.0 / 6.0,
            Pyramid5 | Pyramid13 => 4.0 / 3.0,
            Prism6 | Prism15 => 1.0,
            Hex8 | Hex20 | Hex27 => 8.0,
        }
    }

    /// Edges by their corners; of quadratic elements the node in the middle of edge `k` is
    /// `corner_count() + k`.
    pub const fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Tet4 | Tet10 => TET_EDGES,
            Hex8 | Hex20 | Hex27 => HEX_EDGES,
            Pyramid5 | Pyramid13 => &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]],
            Prism6 | Prism15 => &[
                [0, 1],
                [1, 2],
                [2, 0],
                [3, 4],
                [4, 5],
                [5, 3],
                [0, 3],
                [1, 4],
                [2, 5],
            ],
        }
    }

    /// The kind with a node in the middle of each edge and no others behind the corners, of linear
    /// kinds.
    pub(crate) const fn with_middles(self) -> Option<Self> {
        match self {
            Tet4 => Some(Tet10),
            Pyramid5 => Some(Pyramid13),
            Prism6 => Some(Prism15),
            Hex8 => Some(Hex20),
            Tet10 | Pyramid13 | Prism15 | Hex20 | Hex27 => None,
        }
    }

    /// The kind that has its corners and no other nodes.
    pub(crate) const fn corners(self) -> Self {
        match self {
            Tet4 | Tet10 => Tet4,
            Pyramid5 | Pyramid13 => Pyramid5,
            Prism6 | Prism15 => Prism6,
            Hex8 | Hex20 | Hex27 => Hex8,
        }
    }

    /// Faces by their corners, which go round to the left when seen from outside.
    pub const fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Tet4 | Tet10 => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            Pyramid5 | Pyramid13 => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
            Prism6 | Prism15 => &[
                &[0, 2, 1],
                &[3, 4, 5],
                &[0, 1, 4, 3],
                &[1, 2, 5, 4],
                &[2, 0, 3, 5],
            ],
            Hex8 | Hex20 | Hex27 => &[
                &[0, 3, 2, 1],
                &[4, 5, 6, 7],
                &[0, 1, 5, 4],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 0, 4, 7],
            ],
        }
    }

    /// Whether it has nodes in the middles of its edges.
    pub const fn is_quadratic(self) -> bool {
        matches!(self, Tet10 | Pyramid13 | Prism15 | Hex20 | Hex27)
    }

    /// Whether volume rows of an element are linear functions, and not the mean alone: where it has
    /// freedoms enough for them.
    pub(crate) const fn has_linear_pressure(self) -> bool {
        matches!(self, Hex20 | Hex27)
    }

    /// Which node takes the place of each node in the mirror image of an element: an element that
    /// is inside out is put right by this exchange.
    pub fn mirrored(self) -> Vec<usize> {
        // The reflection that exchanges the first two coordinates (of the reference cell) maps
        // nodes to nodes.
        let nodes = self.reference_nodes();
        let image = |p: &[f64; 3]| [p[1], p[0], p[2]];
        nodes
            .iter()
            .enumerate()
            .map(|(k, p)| nodes.iter().position(|q| *q == image(p)).unwrap_or(k))
            .collect()
    }

    /// Nodes of the reference cell (no unit).
    pub fn reference_nodes(self) -> Vec<[f64; 3]> {
        let mut nodes: Vec<[f64; 3]> = match self {
            Tet4 | Tet10 => vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Prism6 | Prism15 => [-1.0, 1.0]
                .iter()
                .flat_map(|z| [[0.0, 0.0, *z], [1.0, 0.0, *z], [0.0, 1.0, *z]])
                .collect(),
            Pyramid5 | Pyramid13 => {
                let mut base = square(0.0).to_vec();
                base.push([0.0, 0.0, 1.0]);
                base
            }
            Hex8 | Hex20 | Hex27 => [square(-1.0), square(1.0)].concat(),
        };
        if self.is_quadratic() {
            for [a, b] in self.edges() {
                let (a, b) = (nodes[*a], nodes[*b]);
                nodes.push(std::array::from_fn(|k| 0.5 * (a[k] + b[k])));
            }
        }
        if self == Hex27 {
            for axis in 0..3 {
                for side in [-1.0, 1.0] {
                    let mut face = [0.0; 3];
                    face[axis] = side;
                    nodes.push(face);
                }
            }
            nodes.push([0.0; 3]);
        }
        nodes
    }

    /// The degree of polynomials that the quadrature of its stiffness integrates exactly: full
    /// integration of an element with straight edges. Volumes and constant stresses of quadratic
    /// pyramids, prisms and hexahedra are exact with bent edges too, so that these pass patch tests.
    pub const fn stiffness_degree(self) -> usize {
        match self {
            Tet4 => 1,
            Tet10 | Prism6 => 2,
            Pyramid5 => 1,
            Pyramid13 => 3,
            Prism15 => 4,
            Hex8 => 3,
            Hex20 | Hex27 => 5,
        }
    }

    /// The degree of polynomials (in each coordinate, of hexahedra) that the quadrature of its
    /// consistent mass integrates.
    pub const fn mass_degree(self) -> usize {
        match self {
            Tet4 | Prism6 => 3,
            Tet10 => 5,
            Pyramid5 => 4,
            Pyramid13 => 5,
            Prism15 => 6,
            Hex8 => 5,
            Hex20 | Hex27 => 7,
        }
    }

    /// Points and weights of the reference cell that integrate polynomials up to this degree
    /// exactly.
    pub fn quadrature(self, degree: usize) -> Quadrature {
        Quadrature::of(self, degree)
    }

    /// The shape functions.
    pub fn shape_functions(self) -> ShapeFunctions {
        ShapeFunctions::new(self)
    }
}

/// Corners of a square, going round to the left.
fn square(z: f64) -> [[f64; 3]; 4] {
    [[-1.0, -1.0, z], [1.0, -1.0, z], [1.0, 1.0, z], [-1.0, 1.0, z]]
}
