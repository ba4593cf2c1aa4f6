//! Cells of meshes: their weights, and where points lie in them.

use super::points;
use pliant_dense::{Mat3, Vec3};

/// Volume of a cell relative to the product of its edges, below which it counts as degenerate.
const FLAT: f64 = 1e-12;

/// A cell of a mesh, by its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Two nodes.
    Segment([usize; 2]),
    /// Three nodes.
    Triangle([usize; 3]),
    /// Four nodes.
    Tetrahedron([usize; 4]),
    /// Eight nodes: the bottom (0 0 0), (1 0 0), (1 1 0), (0 1 0) in local coordinates, then the
    /// top in the same order.
    Hexahedron([usize; 8]),
}

/// The rule for points outside a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "outside")
)]
pub enum Outside {
    /// Points outside of the mesh are an error.
    #[default]
    Refuse,
    /// Points outside of the mesh get weights of the nearest cell outside the range from zero to
    /// one. A point off a segment or off the plane of a triangle is projected on it.
    Extrapolate,
}

/// A defect of a mesh, or of a point to be placed in it.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A coordinate is NaN or infinite.
    #[error("a coordinate of {what} {index} is not a finite number")]
    NotFinite {
        /// Node or point.
        what: &'static str,
        /// Its index.
        index: usize,
    },
    /// A cell refers to a node that does not exist.
    #[error("cell {cell} refers to node {node}, but there are {count}")]
    Node {
        /// The cell (of bending, the hinge).
        cell: usize,
        /// The node asked for.
        node: usize,
        /// Nodes given.
        count: usize,
    },
    /// A point refers to a cell that does not exist.
    #[error("point {point} refers to cell {cell}, but there are {count}")]
    Cell {
        /// The point.
        point: usize,
        /// The cell asked for.
        cell: usize,
        /// Cells given.
        count: usize,
    },
    /// A cell of length, area or volume zero.
    #[error("cell {cell} is degenerate: its length, area or volume is zero")]
    DegenerateCell {
        /// The cell (of bending, the hinge).
        cell: usize,
    },
    /// A point lies outside all cells.
    #[error("point {point} lies {distance} m outside the mesh")]
    Outside {
        /// The point.
        point: usize,
        /// Distance from the nearest cell (m).
        distance: f64,
    },
    /// No cell gives the point local coordinates: there is none, or all are so distorted that the
    /// iteration fails.
    #[error("point {point} has local coordinates in no cell")]
    Lost {
        /// The point.
        point: usize,
    },
}

/// The location of a point with respect to a cell.
pub(super) struct CellLocation {
    pub(super) weights: [f64; 8],
    /// From the nearest point of the cell (m); of hexahedra, from the point of the nearest local
    /// coordinates.
    pub(super) distance: f64,
}

impl Cell {
    /// Its nodes, in order.
    pub fn nodes(&self) -> &[usize] {
        match self {
            Self::Segment(n) => n,
            Self::Triangle(n) => n,
            Self::Tetrahedron(n) => n,
            Self::Hexahedron(n) => n,
        }
    }

    /// Weights of the nodes at local coordinates `(r, s, t)`, as many as there are nodes, then
    /// zeros. A simplex has the weights `1 - r - s - t, r, s, t`, with the coordinates that it has;
    /// a hexahedron is trilinear over `0 .. 1`.
    pub fn weights(&self, local: [f64; 3]) -> [f64; 8] {
        let mut out = [0.0; 8];
        if matches!(self, Self::Hexahedron(_)) {
            return trilinear(&Vec3::from(local));
        }
        let n = self.nodes().len();
        out[1..n].copy_from_slice(&local[..n - 1]);
        out[0] = 1.0 - local[..n - 1].iter().sum::<f64>();
        out
    }

    /// Positions of its nodes, relative to the first; the rest are zero.
    pub(super) fn gather(&self, index: usize, nodes: &[[f64; 3]]) -> Result<[Vec3; 8], MeshError> {
        let mut x = [Vec3::zeros(); 8];
        let list = self.nodes();
        for (x, node) in x.iter_mut().zip(list) {
            *x = Vec3::from(*nodes.get(*node).ok_or(MeshError::Node {
                cell: index,
                node: *node,
                count: nodes.len(),
            })?);
        }
        let first = x[0];
        x[..list.len()].iter_mut().for_each(|x| *x -= first);
        let sound = match self {
            Self::Hexahedron(_) => solid(&trilinear_gradient(&x, &Vec3::repeat(0.5))),
            _ => project(&x[..list.len()], &Vec3::zeros()).is_some(),
        };
        if sound {
            Ok(x)
        } else {
            Err(MeshError::DegenerateCell { cell: index })
        }
    }

    /// Places `p`, relative to the first node, in the cell of nodes `x`.
    pub(super) fn locate(&self, x: &[Vec3; 8], p: &Vec3) -> Option<CellLocation> {
        if matches!(self, Self::Hexahedron(_)) {
            let local = invert_trilinear(x, p)?;
            let nearest = local.map(|r| r.clamp(0.0, 1.0));
            return Some(CellLocation {
                weights: trilinear(&local),
                distance: (combine(x, &trilinear(&nearest)) - p).norm(),
            });
        }
        let n = self.nodes().len();
        let mut weights = [0.0; 8];
        weights[..4].copy_from_slice(&project(&x[..n], p)?);
        let distance = distance_squared(&x[..n], p)?.sqrt();
        Some(CellLocation { weights, distance })
    }
}

/// Whether the columns span a volume.
fn solid(m: &Mat3) -> bool {
    let sides: f64 = (0..3).map(|k| m.column(k).norm()).product();
    m.determinant().abs() > FLAT * sides
}

fn combine(x: &[Vec3; 8], weights: &[f64; 8]) -> Vec3 {
    x.iter()
        .zip(weights)
        .fold(Vec3::zeros(), |sum, (x, w)| sum + x * *w)
}

/// Weights of the foot of `p` on the line, plane or space through the nodes; `None` if they do not
/// span it.
fn project(x: &[Vec3], p: &Vec3) -> Option<[f64; 4]> {
    let mut weights = [1.0, 0.0, 0.0, 0.0];
    if x.len() == 1 {
        return Some(weights);
    }
    let mut columns = [Vec3::zeros(); 3];
    for (column, node) in columns.iter_mut().zip(&x[1..]) {
        *column = node - x[0];
    }
    // The missing columns are normal to the others, so that they leave the foot alone.
    if x.len() == 2 {
        let (length, along) = points::direction(columns[0])?;
        let axis = Vec3::ith(along.iamin(), 1.0);
        let (_, side) = points::direction(along.cross(&axis))?;
        columns[1] = side * length;
    }
    if x.len() <= 3 {
        let (area, normal) = points::direction(columns[0].cross(&columns[1]))?;
        columns[2] = normal * area.sqrt();
    }
    let matrix = Mat3::from_columns(&columns);
    if !solid(&matrix) {
        return None;
    }
    let local = matrix.lu().solve(&(p - x[0]))?;
    let n = x.len();
    weights[1..n].copy_from_slice(&local.as_slice()[..n - 1]);
    weights[0] = 1.0 - weights[1..n].iter().sum::<f64>();
    Some(weights)
}

/// Squared distance of `p` from a simplex: if the foot lies outside, the nearest point is on a face
/// opposite to a node of negative weight.
fn distance_squared(x: &[Vec3], p: &Vec3) -> Option<f64> {
    let weights = project(x, p)?;
    let mut nearest = f64::INFINITY;
    for (k, _) in weights.iter().enumerate().filter(|(_, w)| **w < 0.0) {
        let mut face = [Vec3::zeros(); 3];
        let others = x.iter().enumerate().filter(|(i, _)| *i != k);
        for (to, (_, from)) in face.iter_mut().zip(others) {
            *to = *from;
        }
        nearest = nearest.min(distance_squared(&face[..x.len() - 1], p)?);
    }
    if nearest.is_finite() {
        return Some(nearest);
    }
    let foot = x
        .iter()
        .zip(&weights)
        .fold(Vec3::zeros(), |sum, (x, w)| sum + x * *w);
    Some((foot - p).norm_squared())
}

/// Corners of the unit cube in the order of a hexahedron's nodes.
const CORNERS: [[f64; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0],
];

fn trilinear(local: &Vec3) -> [f64; 8] {
    CORNERS.map(|c| {
        (0..3)
            .map(|k| if c[k] > 0.5 { local[k] } else { 1.0 - local[k] })
            .product()
    })
}

/// Derivative of the position with respect to the local coordinates.
fn trilinear_gradient(x: &[Vec3; 8], local: &Vec3) -> Mat3 {
    let mut out = Mat3::zeros();
    for (c, x) in CORNERS.iter().zip(x) {
        for k in 0..3 {
            let sign = 2.0 * c[k] - 1.0;
            let others = (0..3).filter(|j| *j != k);
            let weight: f64 = others
                .map(|j| if c[j] > 0.5 { local[j] } else { 1.0 - local[j] })
                .product();
            out.set_column(k, &(out.column(k) + x * (sign * weight)));
        }
    }
    out
}

/// Local coordinates of `p` by Newton's iteration from the centre, its steps halved while they lead
/// away.
fn invert_trilinear(x: &[Vec3; 8], p: &Vec3) -> Option<Vec3> {
    let miss = |local: &Vec3| p - combine(x, &trilinear(local));
    let size = x.iter().map(Vec3::norm).fold(p.norm(), f64::max);
    let mut local = Vec3::repeat(0.5);
    let mut residual = miss(&local);
    for _ in 0..50 {
        if residual.norm() <= 1e-14 * size {
            break;
        }
        let step = trilinear_gradient(x, &local).lu().solve(&residual)?;
        let mut scale = 1.0;
        let mut next = local + step;
        while miss(&next).norm() > residual.norm() && scale > 1e-3 {
            scale *= 0.5;
            next = local + step * scale;
        }
        // Rounding: no step gets closer.
        if miss(&next).norm() >= residual.norm() {
            break;
        }
        local = next;
        residual = miss(&local);
    }
    (residual.norm() <= 1e-10 * size).then_some(local)
}
