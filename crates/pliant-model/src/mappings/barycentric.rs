//! Points embedded in the cells of a mesh.

use super::mesh::CellLocation;
use super::weighted::Weighted;
use super::{Cell, MeshError, Outside, points};
use crate::validate::check_bound;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::Vec3;

/// Distance from a cell, relative to its size, up to which a point counts as inside: rounding of
/// both.
const INSIDE: f64 = 1e-9;

/// Points embedded in a mesh of segments, triangles, tetrahedra or hexahedra.
///
/// **Equation.** `x_c = sum_i w_i x_i` (m) over the nodes of a cell, with fixed weights that add up
/// to one: barycentric coordinates, or the trilinear ones of a hexahedron. `J` holds `w_i I` on
/// each node; linear, so `G = 0`.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Fine surfaces carried by coarse solids, attachments and sensors inside of cells, one
/// mesh in another.
#[derive(Clone, Debug, PartialEq)]
pub struct Barycentric {
    sum: Weighted,
}

impl Barycentric {
    /// Points of space with the given nodes and their weights (no unit), which add up to one.
    pub fn new(groups: &[Vec<(Dependency, f64)>]) -> Self {
        Self {
            sum: Weighted {
                dimension: 3,
                groups: groups.to_vec(),
            },
        }
    }

    /// Points given by cell and local coordinates (no unit, see [`Cell::weights`]); the nodes of
    /// the cells are elements of the only parent.
    ///
    /// # Errors
    /// [`MeshError::Cell`].
    pub fn in_cells(cells: &[Cell], places: &[(usize, [f64; 3])]) -> Result<Self, MeshError> {
        let mut groups = Vec::with_capacity(places.len());
        for (point, (cell, local)) in places.iter().enumerate() {
            let found = cells.get(*cell).ok_or(MeshError::Cell {
                point,
                cell: *cell,
                count: cells.len(),
            })?;
            groups.push(group(found, &found.weights(*local)));
        }
        Ok(Self::new(&groups))
    }

    /// Places points at rest (m) in a mesh at rest, whose `nodes` (m) are the elements of the only
    /// parent: each in the first cell that holds it, else in the nearest if `outside` allows. Local
    /// coordinates in hexahedra are found by Newton's iteration, and the distance of a point
    /// outside of one is that from the point of the nearest local coordinates.
    ///
    /// Every point is compared with the box around every cell; for meshes whose cells are known,
    /// [`in_cells`](Self::in_cells) saves that.
    ///
    /// # Errors
    /// [`MeshError`]: bad numbers or nodes, a degenerate cell, a point outside of the mesh or
    /// without local coordinates.
    pub fn embed(
        nodes: &[[f64; 3]],
        cells: &[Cell],
        points: &[[f64; 3]],
        outside: Outside,
    ) -> Result<Self, MeshError> {
        for (what, list) in [("node", nodes), ("point", points)] {
            if let Some(index) = list.iter().position(|x| x.iter().any(|x| !x.is_finite())) {
                return Err(MeshError::NotFinite { what, index });
            }
        }
        let cells = cells.iter().enumerate().map(|(k, c)| Resting::new(k, c, nodes));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        let mut groups = Vec::with_capacity(points.len());
        for (point, p) in points.iter().enumerate() {
            let mut best: Option<(&Resting, CellLocation)> = None;
            for resting in &cells {
                let nearest = best.as_ref().map_or(f64::INFINITY, |(_, place)| place.distance);
                let p = Vec3::from(*p) - resting.origin;
                if resting.box_distance(&p) >= nearest {
                    continue;
                }
                let Some(place) = resting.cell.locate(&resting.nodes, &p) else {
                    continue;
                };
                let holds = place.distance <= INSIDE * resting.size;
                if holds || place.distance < nearest {
                    best = Some((resting, place));
                }
                if holds {
                    break;
                }
            }
            let (resting, place) = best.ok_or(MeshError::Lost { point })?;
            if place.distance > INSIDE * resting.size && outside == Outside::Refuse {
                return Err(MeshError::Outside {
                    point,
                    distance: place.distance,
                });
            }
            groups.push(group(&resting.cell, &place.weights));
        }
        Ok(Self::new(&groups))
    }

    /// The same in the plane (2) or on the line (1); other dimensions count as 3. The weights stay.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.sum.dimension = points::spatial(dimension);
        self
    }

    /// Elements and weights of each point.
    pub fn weights(&self) -> &[Vec<(Dependency, f64)>] {
        &self.sum.groups
    }
}

/// Nodes and weights of a cell; a node that is there twice, as in a collapsed hexahedron, once with
/// the sum.
fn group(cell: &Cell, weights: &[f64; 8]) -> Vec<(Dependency, f64)> {
    let mut out: Vec<(Dependency, f64)> = Vec::with_capacity(cell.nodes().len());
    for (node, weight) in cell.nodes().iter().zip(weights) {
        let at = Dependency::new(0, *node);
        match out.iter_mut().find(|(known, _)| *known == at) {
            Some((_, sum)) => *sum += weight,
            None => out.push((at, *weight)),
        }
    }
    out
}

/// A cell at rest, relative to its first node, and the box around it.
struct Resting {
    cell: Cell,
    origin: Vec3,
    nodes: [Vec3; 8],
    low: Vec3,
    high: Vec3,
    size: f64,
}

impl Resting {
    fn new(index: usize, cell: &Cell, nodes: &[[f64; 3]]) -> Result<Self, MeshError> {
        let local = cell.gather(index, nodes)?;
        // The unused places are zero, as is the first node.
        let (low, high) = local
            .iter()
            .fold((Vec3::zeros(), Vec3::zeros()), |(low, high), x| {
                (low.inf(x), high.sup(x))
            });
        Ok(Self {
            cell: *cell,
            origin: Vec3::from(nodes[cell.nodes()[0]]),
            nodes: local,
            low,
            high,
            size: (high - low).norm(),
        })
    }

    fn box_distance(&self, p: &Vec3) -> f64 {
        (p - p.sup(&self.low).inf(&self.high)).norm()
    }
}

impl Mapping for Barycentric {
    fn child(&self) -> (Space, usize) {
        (Space::Real(self.sum.dimension), self.sum.groups.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        if let Some((element, reason)) = self.sum.defect() {
            return Err(points::degenerate(name, element, reason));
        }
        for group in &self.sum.groups {
            for (at, weight) in group {
                points::check_real(name, *at, self.sum.dimension, parents)?;
                points::check_finite(name, Field::Weights, &[*weight])?;
            }
            let total: f64 = group.iter().map(|(_, w)| w).sum();
            let scale: f64 = group.iter().map(|(_, w)| w.abs()).sum();
            // Rounding of decimals that a user wrote, and of large weights that cancel.
            let fits = (total - 1.0).abs() <= 1e-9 * (1.0 + scale);
            check_bound(name, Field::PointWeightSum, total, "one", fits)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        self.sum.dependencies(element, out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        self.sum.apply(&parents, child);
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        self.sum.jacobian(&parents, out);
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }
}
