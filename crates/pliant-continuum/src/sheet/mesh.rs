//! Triangle meshes of sheets: what is checked, edges, axes of triangles.

use crate::ContinuumError;
use pliant_dense::Vec3;
use std::collections::BTreeMap;

/// Triangles between nodes at rest (m), going round to the left when seen from one side of the sheet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetMesh {
    /// Positions of the nodes at rest (m).
    pub nodes: Vec<[f64; 3]>,
    /// Corners of the triangles.
    pub triangles: Vec<[usize; 3]>,
}

/// An edge from `a` to `b` as the triangle of `corner` runs along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) ends: [usize; 2],
    /// Triangle and opposite corner at the left.
    pub(super) left: (usize, usize),
    /// The same at the right; none at the boundary.
    pub(super) right: Option<(usize, usize)>,
}

/// A triangle at rest: area (m^2), and the gradients (1/m) of its barycentric coordinates along two axes in its plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flat {
    pub(crate) area: f64,
    pub(crate) gradients: [[f64; 2]; 3],
}

impl SheetMesh {
    /// A rectangle from the origin along x and y, in cells cut along one diagonal, `(0 0)-(1 1)` of each, or of every other one: patterns
    /// without direction.
    pub fn rectangle(size: [f64; 2], cells: [usize; 2], crossed: bool) -> Self {
        let [nx, ny] = cells;
        let mut out = Self::default();
        for j in 0..=ny {
            for i in 0..=nx {
                let part = |k: usize, n: usize| k as f64 / n.max(1) as f64;
                out.nodes
                    .push([size[0] * part(i, nx), size[1] * part(j, ny), 0.0]);
            }
        }
        let at = |i: usize, j: usize| j * (nx + 1) + i;
        for j in 0..ny {
            for i in 0..nx {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                if crossed && (i + j) % 2 == 1 {
                    out.triangles.extend([[a, b, d], [b, c, d]]);
                } else {
                    out.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
        out
    }

    /// Area (m^2) of each triangle.
    ///
    /// # Errors
    /// [`ContinuumError::Empty`], [`ContinuumError::Triangle`].
    pub fn areas(&self) -> Result<Vec<f64>, ContinuumError> {
        self.corners()?
            .iter()
            .map(|(t, x)| Ok(normal(*t, x)?.1))
            .collect()
    }

    /// Places of the corners of each triangle, checked.
    fn corners(&self) -> Result<Vec<(usize, [Vec3; 3])>, ContinuumError> {
        if self.triangles.is_empty() {
            return Err(ContinuumError::Empty);
        }
        let of = |(t, corners): (usize, &[usize; 3])| {
            let wrong = |reason| Err(ContinuumError::Triangle { triangle: t, reason });
            if corners.iter().any(|c| *c >= self.nodes.len()) {
                return wrong("a corner is a node that the mesh does not have");
            }
            let x = corners.map(|c| Vec3::from(self.nodes[c]));
            if x.iter().any(|x| x.iter().any(|x| !x.is_finite())) {
                return wrong("a coordinate of a corner is not a finite number");
            }
            Ok((t, x))
        };
        self.triangles.iter().enumerate().map(of).collect()
    }

    /// The triangles with axis 1 along the part of `warp` in their planes, or along their first edges.
    pub(crate) fn flat(&self, warp: Option<[f64; 3]>) -> Result<Vec<Flat>, ContinuumError> {
        let of = |(t, x): &(usize, [Vec3; 3])| {
            let (normal, area) = normal(*t, x)?;
            let along = warp.map_or(x[1] - x[0], Vec3::from);
            let along = along - along.dot(&normal) * normal;
            let first = along.norm();
            // Across the sheet to rounding: there is no direction in it.
            if first <= 1e-9 * warp.map_or(0.0, |w| Vec3::from(w).norm()) || !first.is_finite() {
                return Err(ContinuumError::Triangle {
                    triangle: *t,
                    reason: "the direction of the warp is across it",
                });
            }
            let axes = [along / first, normal.cross(&along) / first];
            // The gradient of a corner's coordinate is the opposite edge, turned inwards, over twice the area.
            let gradients = std::array::from_fn(|k| {
                let edge = x[(k + 2) % 3] - x[(k + 1) % 3];
                let inwards = normal.cross(&edge) / (2.0 * area);
                axes.map(|a| a.dot(&inwards))
            });
            Ok(Flat { area, gradients })
        };
        self.corners()?.iter().map(of).collect()
    }

    /// The edges, in the order in which the triangles first run along them.
    pub(super) fn edges(&self) -> Result<Vec<Edge>, ContinuumError> {
        let mut found: BTreeMap<[usize; 2], usize> = BTreeMap::new();
        let mut out: Vec<Edge> = Vec::new();
        for (t, corners) in self.triangles.iter().enumerate() {
            let wrong = |reason| Err(ContinuumError::Triangle { triangle: t, reason });
            for k in 0..3 {
                let (a, b, corner) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
                let key = [a.min(b), a.max(b)];
                let Some(e) = found.get(&key) else {
                    found.insert(key, out.len());
                    out.push(Edge {
                        ends: [a, b],
                        left: (t, corner),
                        right: None,
                    });
                    continue;
                };
                let edge = &mut out[*e];
                if edge.right.is_some() {
                    return wrong("it is the third at one of its edges");
                }
                if edge.ends == [a, b] {
                    return wrong("it goes round the other way than its neighbour");
                }
                edge.right = Some((t, corner));
            }
        }
        Ok(out)
    }
}

/// Unit normal and area.
fn normal(triangle: usize, x: &[Vec3; 3]) -> Result<(Vec3, f64), ContinuumError> {
    let (a, b) = (x[1] - x[0], x[2] - x[0]);
    let twice = a.cross(&b);
    // As thin as rounding: no plane.
    if twice.norm() <= 1e-12 * a.norm() * b.norm() || !twice.norm().is_finite() {
        return Err(ContinuumError::Triangle {
            triangle,
            reason: "its area is zero",
        });
    }
    Ok((twice.normalize(), 0.5 * twice.norm()))
}
