//! Structured meshes of simple shapes, and other elements in the place of those of a mesh.

use super::{Element, Mesh};
use crate::checks::check_number;
use crate::{ContinuumError, ElementKind};
use pliant_model::Field;
use std::collections::BTreeMap;

/// Half the edge of the cube in the middle of a ball, or of the square in the middle of a cylinder,
/// over the radius: its corners are as far from the surface as from the centre, more or less.
const CORE: f64 = 0.4;

/// Most cells that a generator makes.
const LARGEST: usize = 10_000_000;

impl Mesh {
    /// A box of these edges (m) with one corner at the origin, in `cells[0] x cells[1] x cells[2]`
    /// hexahedra of eight nodes. Node `(i, j, k)` has the number
    /// `i + (cells[0] + 1) (j + (cells[1] + 1) k)`.
    ///
    /// # Errors
    /// [`ContinuumError::OutOfRange`] for edges that are not positive, no cells, or more than ten
    /// million.
    pub fn hexahedral_box(size: [f64; 3], cells: [usize; 3]) -> Result<Self, ContinuumError> {
        size.iter().try_for_each(|s| positive(Field::Edges, *s))?;
        check_cells(&cells)?;
        let at = |i: usize, axis: usize| size[axis] * i as f64 / cells[axis] as f64;
        Ok(grid(cells, |i, j, k| [at(i, 0), at(j, 1), at(k, 2)]))
    }

    /// A ball of this radius (m) about the origin, in hexahedra of eight nodes: a cube of `cells^3`
    /// in the middle and `layers` around it.
    ///
    /// # Errors
    /// As [`hexahedral_box`](Self::hexahedral_box).
    pub fn ball(radius: f64, cells: usize, layers: usize) -> Result<Self, ContinuumError> {
        positive(Field::BallRadius, radius)?;
        check_cells(&[cells, cells, cells])?;
        check_cells(&[cells, 6 * cells, layers])?;
        // Equal angles between the planes through the centre.
        let at = |i: usize| (std::f64::consts::FRAC_PI_4 * (2.0 * i as f64 / cells as f64 - 1.0)).tan();
        let core = CORE * radius;
        let mut mesh = grid([cells; 3], |i, j, k| [core * at(i), core * at(j), core * at(k)]);
        let faces = mesh.surface_quads();
        let outward = |p: [f64; 3]| {
            let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
            p.map(|x| radius * x / length)
        };
        mesh.extrude(&faces, layers, outward);
        Ok(mesh)
    }

    /// A cylinder of this radius and length (m) along z from the origin, in hexahedra of eight
    /// nodes: a square of `cells^2` in the middle, `layers` around it, `slices` along the axis.
    ///
    /// # Errors
    /// As [`hexahedral_box`](Self::hexahedral_box).
    pub fn cylinder(
        radius: f64,
        length: f64,
        cells: usize,
        layers: usize,
        slices: usize,
    ) -> Result<Self, ContinuumError> {
        positive(Field::CylinderRadius, radius)?;
        positive(Field::CylinderLength, length)?;
        check_cells(&[cells, cells, slices])?;
        check_cells(&[4 * cells, layers, slices])?;
        let at = |i: usize| (std::f64::consts::FRAC_PI_4 * (2.0 * i as f64 / cells as f64 - 1.0)).tan();
        let core = CORE * radius;
        let mut mesh = grid([cells, cells, slices], |i, j, k| {
            [core * at(i), core * at(j), length * k as f64 / slices as f64]
        });
        let mut faces = mesh.surface_quads();
        // The mantle: faces that are not in one of the planes at the ends.
        faces.retain(|f| f.iter().any(|n| mesh.nodes[*n][2] != mesh.nodes[f[0]][2]));
        let outward = |[x, y, z]: [f64; 3]| {
            let r = radius / x.hypot(y);
            [r * x, r * y, z]
        };
        mesh.extrude(&faces, layers, outward);
        Ok(mesh)
    }

    /// A tube of these radii and length (m) along z from the origin, in hexahedra of eight nodes:
    /// so many `around` (three or more), `layers` through the wall, `slices` along the axis.
    ///
    /// # Errors
    /// As [`hexahedral_box`](Self::hexahedral_box); the inner radius must be below the outer one.
    pub fn tube(
        [inner, outer]: [f64; 2],
        length: f64,
        around: usize,
        layers: usize,
        slices: usize,
    ) -> Result<Self, ContinuumError> {
        positive(Field::InnerRadius, inner)?;
        positive(Field::Wall, outer - inner)?;
        positive(Field::TubeLength, length)?;
        check_cells(&[around, layers, slices])?;
        check_number(Field::CellsAround, around as f64, around >= 3, "three or more")?;
        let mut mesh = Self::default();
        for k in 0..=slices {
            for j in 0..=layers {
                let r = inner + (outer - inner) * j as f64 / layers as f64;
                for i in 0..around {
                    let (sin, cos) = (std::f64::consts::TAU * i as f64 / around as f64).sin_cos();
                    mesh.nodes
                        .push([r * cos, r * sin, length * k as f64 / slices as f64]);
                }
            }
        }
        let node = |i: usize, j: usize, k: usize| i % around + around * (j + (layers + 1) * k);
        for k in 0..slices {
            for j in 0..layers {
                for i in 0..around {
                    // Radially outwards, then round: right-handed with the axis.
                    let ring = |k| {
                        [
                            node(i, j, k),
                            node(i, j + 1, k),
                            node(i + 1, j + 1, k),
                            node(i + 1, j, k),
                        ]
                    };
                    let nodes = [ring(k), ring(k + 1)].concat();
                    mesh.elements.push(Element::new(ElementKind::Hex8, &nodes));
                }
            }
        }
        Ok(mesh)
    }

    /// Cuts the mesh into tetrahedra of four nodes on its nodes: every linear element is cut along
    /// the diagonals of its faces that leave the node of the lowest number, so that neighbours
    /// agree. Elements of other kinds stay as they are.
    #[must_use]
    pub fn into_tetrahedra(self) -> Self {
        if !self.broken().is_empty() {
            return self;
        }
        let mut elements = Vec::new();
        for element in self.elements {
            let linear = !element.kind.is_quadratic() && element.kind != ElementKind::Tet4;
            let lowest = element.nodes.iter().copied().min();
            let (true, Some(tip)) = (linear, lowest) else {
                elements.push(element);
                continue;
            };
            for face in element.kind.faces() {
                let face: Vec<usize> = face.iter().map(|k| element.nodes[*k]).collect();
                if face.contains(&tip) {
                    continue;
                }
                let n = face.len();
                let first = (0..n).min_by_key(|k| face[*k]).unwrap_or(0);
                for k in 1..n - 1 {
                    let [a, b, c] = [0, k, k + 1].map(|k| face[(first + k) % n]);
                    // Seen from inside the corners go round to the right.
                    elements.push(Element::new(ElementKind::Tet4, &[a, c, b, tip]));
                }
            }
        }
        Self {
            nodes: self.nodes,
            elements,
        }
    }

    /// Quadratic elements in the place of linear tetrahedra (ten nodes), pyramids (13), prisms (15)
    /// and hexahedra (20), with straight edges: nodes in the middles of edges are added behind the
    /// others. Elements of other kinds stay as they are.
    #[must_use]
    pub fn into_quadratic(mut self) -> Self {
        if !self.broken().is_empty() {
            return self;
        }
        let mut middles: BTreeMap<[usize; 2], usize> = BTreeMap::new();
        for element in &mut self.elements {
            let Some(kind) = element.kind.with_middles() else {
                continue;
            };
            for [a, b] in kind.edges() {
                let (a, b) = (element.nodes[*a], element.nodes[*b]);
                let middle = *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    let (p, q) = (self.nodes[a], self.nodes[b]);
                    self.nodes.push(std::array::from_fn(|k| 0.5 * (p[k] + q[k])));
                    self.nodes.len() - 1
                });
                element.nodes.push(middle);
            }
            element.kind = kind;
        }
        self
    }

    /// Four-cornered faces of the surface of a mesh of hexahedra of eight nodes.
    fn surface_quads(&self) -> Vec<[usize; 4]> {
        let faces = self.boundary_faces();
        let quad = |f: &super::surface::Face| [f.nodes[0], f.nodes[1], f.nodes[2], f.nodes[3]];
        faces.iter().map(quad).collect()
    }

    /// Grows `layers` of hexahedra from faces to where `outward` takes their nodes.
    fn extrude(&mut self, faces: &[[usize; 4]], layers: usize, outward: impl Fn([f64; 3]) -> [f64; 3]) {
        let mut below: BTreeMap<usize, usize> = faces.iter().flatten().map(|n| (*n, *n)).collect();
        for layer in 1..=layers {
            let share = layer as f64 / layers as f64;
            let mut above = BTreeMap::new();
            for root in below.keys() {
                let from = self.nodes[*root];
                let to = outward(from);
                let place = std::array::from_fn(|k| from[k] + share * (to[k] - from[k]));
                // The last layer lies where it should to the last digit.
                self.nodes.push(if layer == layers { to } else { place });
                above.insert(*root, self.nodes.len() - 1);
            }
            for face in faces {
                let nodes: Vec<usize> = [&below, &above]
                    .iter()
                    .flat_map(|level| face.iter().filter_map(|n| level.get(n).copied()))
                    .collect();
                self.elements.push(Element::new(ElementKind::Hex8, &nodes));
            }
            below = above;
        }
    }
}

/// A grid of hexahedra with its nodes where `at` puts them.
fn grid(cells: [usize; 3], at: impl Fn(usize, usize, usize) -> [f64; 3]) -> Mesh {
    let [nx, ny, nz] = cells;
    let mut mesh = Mesh::default();
    for k in 0..=nz {
        for j in 0..=ny {
            mesh.nodes.extend((0..=nx).map(|i| at(i, j, k)));
        }
    }
    let node = |i: usize, j: usize, k: usize| i + (nx + 1) * (j + (ny + 1) * k);
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let ring = |k| {
                    [
                        node(i, j, k),
                        node(i + 1, j, k),
                        node(i + 1, j + 1, k),
                        node(i, j + 1, k),
                    ]
                };
                let nodes = [ring(k), ring(k + 1)].concat();
                mesh.elements.push(Element::new(ElementKind::Hex8, &nodes));
            }
        }
    }
    mesh
}

fn positive(field: Field, value: f64) -> Result<(), ContinuumError> {
    check_number(field, value, value > 0.0, "positive")
}

fn check_cells(cells: &[usize; 3]) -> Result<(), ContinuumError> {
    let product = cells
        .iter()
        .try_fold(1usize, |a, b| a.checked_mul(*b))
        .unwrap_or(usize::MAX);
    let holds = (1..=LARGEST).contains(&product);
    check_number(Field::Cells, product as f64, holds, "from 1 to ten million")
}
