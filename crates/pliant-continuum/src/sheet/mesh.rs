//! Meshes of sheets: what is checked, edges, axes of triangles.

pub(crate) mod quadrangle;

use crate::ContinuumError;
use pliant_dense::Vec3;
use std::collections::BTreeMap;

/// Triangles and quadrangles between nodes at rest (m), going round to the left when seen from one
/// side of the sheet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetMesh {
    /// Positions of the nodes at rest (m).
    pub nodes: Vec<[f64; 3]>,
    /// Corners of the triangles.
    pub triangles: Vec<[usize; 3]>,
    /// Corners of the quadrangles, in turn round each; they need not be flat.
    pub quadrangles: Vec<[usize; 4]>,
}

/// An edge as the element at its left runs along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) ends: [usize; 2],
    pub(super) left: Side,
    /// None at the boundary.
    pub(super) right: Option<Side>,
}

/// The neighbour at one side of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Side {
    /// A triangle, or behind them a quadrangle.
    pub(super) element: usize,
    /// Its corners beside the first and the second end; of a triangle they are one.
    pub(super) corners: [usize; 2],
}

/// A place of a sheet at rest that stands for a part of it: a triangle, or one of the four points
/// of a quadrangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flat {
    /// Area (m^2) that it stands for.
    pub(crate) area: f64,
    /// The nodes of its element, of which the first `count` are in use.
    nodes: [usize; 4],
    count: usize,
    /// The shape functions of these nodes (none), and their gradients (1/m) along two axes in the
    /// tangent plane.
    shares: [f64; 4],
    gradients: [[f64; 2]; 4],
}

impl Flat {
    pub(crate) fn nodes(&self) -> &[usize] {
        &self.nodes[..self.count]
    }

    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares[..self.count]
    }

    pub(crate) fn gradients(&self) -> &[[f64; 2]] {
        &self.gradients[..self.count]
    }

    /// Takes its corners away, so that it depends on nothing.
    pub(crate) fn leave(&mut self) {
        self.count = 0;
    }

    /// Scales the mesh at rest down by a factor (none).
    pub(crate) fn shrunk(mut self, factor: f64) -> Self {
        self.area /= factor * factor;
        self.gradients = self.gradients.map(|g| g.map(|g| g * factor));
        self
    }
}

impl SheetMesh {
    /// A rectangle from the origin along x and y, in cells cut along one diagonal, `(0 0)-(1 1)` of
    /// each, or of every other one: patterns without direction.
    pub fn rectangle(size: [f64; 2], cells: [usize; 2], crossed: bool) -> Self {
        let mut out = Self::quadrangles(size, cells);
        for (k, [a, b, c, d]) in std::mem::take(&mut out.quadrangles).into_iter().enumerate() {
            if crossed && (k % cells[0] + k / cells[0]) % 2 == 1 {
                out.triangles.extend([[a, b, d], [b, c, d]]);
            } else {
                out.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        out
    }

    /// A rectangle from the origin along x and y, in cells that are quadrangles.
    pub fn quadrangles(size: [f64; 2], cells: [usize; 2]) -> Self {
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
            let row = (0..nx).map(|i| [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
            out.quadrangles.extend(row);
        }
        out
    }

    /// The triangles, and the quadrangles each as two: what is drawn, and what may be touched.
    pub fn cover(&self) -> Vec<[usize; 3]> {
        let halves = self
            .quadrangles
            .iter()
            .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
        self.triangles.iter().copied().chain(halves).collect()
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
        if self.triangles.is_empty() && self.quadrangles.is_empty() {
            return Err(ContinuumError::Empty);
        }
        let of = |(t, corners): (usize, &[usize; 3])| {
            let x = self.places(corners);
            let x = x.map_err(|reason| ContinuumError::Triangle { triangle: t, reason })?;
            Ok((t, x))
        };
        self.triangles.iter().enumerate().map(of).collect()
    }

    /// Places of the corners of an element, or what is wrong with them.
    fn places<const N: usize>(&self, corners: &[usize; N]) -> Result<[Vec3; N], &'static str> {
        if corners.iter().any(|c| *c >= self.nodes.len()) {
            return Err("a corner is a node that the mesh does not have");
        }
        let x = corners.map(|c| Vec3::from(self.nodes[c]));
        if x.iter().any(|x| x.iter().any(|x| !x.is_finite())) {
            return Err("a coordinate of a corner is not a finite number");
        }
        Ok(x)
    }

    /// The triangles, then four points of each quadrangle, with axis 1 along the part of `warp` in
    /// their tangent planes, or along their first edges.
    pub(crate) fn flat(&self, warp: Option<[f64; 3]>) -> Result<Vec<Flat>, ContinuumError> {
        let mut out = Vec::with_capacity(self.triangles.len() + 4 * self.quadrangles.len());
        for (t, x) in self.corners()? {
            let (normal, area) = normal(t, &x)?;
            let axes = axes(warp, x[1] - x[0], normal)
                .map_err(|reason| ContinuumError::Triangle { triangle: t, reason })?;
            // The gradient of a corner's coordinate is the opposite edge, turned inwards, over
            // twice the area.
            let mut gradients = [[0.0; 2]; 4];
            for (k, gradient) in gradients[..3].iter_mut().enumerate() {
                let edge = x[(k + 2) % 3] - x[(k + 1) % 3];
                let inwards = normal.cross(&edge) / (2.0 * area);
                *gradient = axes.map(|a| a.dot(&inwards));
            }
            let [a, b, c] = self.triangles[t];
            out.push(Flat {
                area,
                nodes: [a, b, c, c],
                count: 3,
                shares: [1.0 / 3.0; 4],
                gradients,
            });
        }
        for q in 0..self.quadrangles.len() {
            let points = self.points_of(q, warp);
            out.extend(points.map_err(|reason| ContinuumError::Quadrangle {
                quadrangle: q,
                reason,
            })?);
        }
        Ok(out)
    }

    /// The edges of the triangles and, where they are `all`, of the quadrangles, in the order in
    /// which these first run along them.
    pub(super) fn edges(&self, all: bool) -> Result<Vec<Edge>, ContinuumError> {
        let mut found: BTreeMap<[usize; 2], usize> = BTreeMap::new();
        let mut out: Vec<Edge> = Vec::new();
        let triangles = self.triangles.iter().map(<[usize; 3]>::as_slice);
        let quadrangles = self
            .quadrangles
            .iter()
            .filter(|_| all)
            .map(<[usize; 4]>::as_slice);
        for (element, corners) in triangles.chain(quadrangles).enumerate() {
            let wrong = |reason| {
                Err(match element.checked_sub(self.triangles.len()) {
                    None => ContinuumError::Triangle {
                        triangle: element,
                        reason,
                    },
                    Some(quadrangle) => ContinuumError::Quadrangle { quadrangle, reason },
                })
            };
            for k in 0..corners.len() {
                let at = |i: usize| corners[(k + i) % corners.len()];
                let (a, b) = (at(0), at(1));
                let beside = [at(corners.len() - 1), at(2)];
                let key = [a.min(b), a.max(b)];
                let Some(e) = found.get(&key) else {
                    found.insert(key, out.len());
                    let corners = beside;
                    out.push(Edge {
                        ends: [a, b],
                        left: Side { element, corners },
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
                let corners = [beside[1], beside[0]];
                edge.right = Some(Side { element, corners });
            }
        }
        Ok(out)
    }
}

/// Unit vectors along the part of `warp` in the plane of a normal, or else along `first`, and a
/// quarter turn to the left of it.
fn axes(warp: Option<[f64; 3]>, first: Vec3, normal: Vec3) -> Result<[Vec3; 2], &'static str> {
    let along = warp.map_or(first, Vec3::from);
    let along = along - along.dot(&normal) * normal;
    let length = along.norm();
    // Across the sheet to rounding: there is no direction in it.
    if length <= 1e-9 * warp.map_or(0.0, |w| Vec3::from(w).norm()) || !length.is_finite() {
        return Err("the direction of the warp is across it");
    }
    Ok([along / length, normal.cross(&along) / length])
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
