//! Areas of triangles.

use super::{End, points};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3, skew};

/// Areas of triangles less rest areas; in the plane with a sign.
///
/// **Equation.** `x_c = |e1 x e2|/2 - rest` (m^2) for each triangle, `e1` and `e2` its edges from
/// the first corner. With the unit normal `n`: gradient `e2 x n/2` and `n x e1/2`, Hessian
/// `|e2|^2 n n^T/(4 A)`, `|e1|^2 n n^T/(4 A)`, and between them `-[n]/2 - (e1.e2) n n^T/(4 A)` with
/// `A` the area. Not defined in space at area zero. In the plane the area is positive for corners
/// that go round to the left, and defined everywhere.
///
/// **Parents.** Points of space or the plane.
///
/// **Use.** Surface tension, cloth and membranes that keep their area; per triangle, also pressure
/// in the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    dimension: usize,
    triangles: Vec<[End; 3]>,
    rests: Vec<f64>,
}

/// Edges, unit normal and twice the area.
struct Triangle {
    edges: [Vec3; 2],
    normal: Vec3,
    twice: f64,
}

impl Area {
    /// The area of each triangle of ends (elements, or fixed points in m), in space, rest areas
    /// zero.
    pub fn new(triangles: &[[End; 3]]) -> Self {
        Self {
            dimension: 3,
            triangles: triangles.to_vec(),
            rests: vec![0.0; triangles.len()],
        }
    }

    /// Triangles of elements of the only parent.
    pub fn between(triangles: &[[usize; 3]]) -> Self {
        Self::new(&points::elements(triangles))
    }

    /// Sets the rest area (m^2; in the plane with its sign) of each triangle; a list of one serves
    /// all.
    #[must_use]
    pub fn with_rest_areas(mut self, rests: &[f64]) -> Self {
        self.rests = points::one_or_each(rests, self.triangles.len());
        self
    }

    /// Signed areas of triangles of points of the plane.
    #[must_use]
    pub fn in_plane(mut self) -> Self {
        self.dimension = 2;
        self
    }

    fn at(&self, e: usize, parents: &Parents<'_>) -> Result<Triangle, Degenerate> {
        let edges = points::vectors(&points::TRIANGLE, &self.triangles[e], parents, self.dimension);
        let cross = edges[0].cross(&edges[1]);
        if self.dimension == 2 {
            return Ok(Triangle {
                edges,
                normal: Vec3::z(),
                twice: cross.z,
            });
        }
        let sides = edges[0].norm() * edges[1].norm();
        match points::direction(cross) {
            Some((twice, normal)) if twice > points::PARALLEL * sides => {
                Ok(Triangle { edges, normal, twice })
            }
            _ => Err(Degenerate {
                element: e,
                reason: "its area is zero, so that it has no normal",
            }),
        }
    }
}

impl Mapping for Area {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.triangles.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_list(
            name,
            Field::RestAreas,
            "rest areas",
            &self.rests,
            self.triangles.len(),
        )?;
        if self.dimension == 3 {
            points::check_not_negative(name, Field::RestAreas, &self.rests)?;
        }
        points::check_ends(name, &self.triangles, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.triangles[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            *x = 0.5 * self.at(e, &parents)?.twice - self.rests[e];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, ends) in self.triangles.iter().enumerate() {
            let t = self.at(e, &parents)?;
            let half = t.normal * 0.5;
            let gradient = [t.edges[1].cross(&half), half.cross(&t.edges[0])];
            points::write_row(
                &points::TRIANGLE,
                ends,
                self.dimension,
                &gradient,
                out.block_mut(e),
            );
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, ends) in self.triangles.iter().enumerate() {
            let Ok(t) = self.at(e, &parents) else {
                continue;
            };
            let half = 0.5 * force[e];
            let [e1, e2] = t.edges;
            // What comes of the turning of the normal, which the plane has not.
            let turning = if self.dimension == 2 {
                Mat3::zeros()
            } else {
                t.normal * t.normal.transpose() * (half / t.twice)
            };
            let mixed = skew(t.normal) * -half - turning * e1.dot(&e2);
            let hessian = [
                [turning * e2.norm_squared(), mixed],
                [mixed.transpose(), turning * e1.norm_squared()],
            ];
            points::write_hessian(
                &points::TRIANGLE,
                ends,
                self.dimension,
                &hessian,
                out.block_mut(e),
            );
        }
    }
}
