//! Ropes through points and around obstacles.

mod ellipsoid;
mod link;
mod path;
mod stretch;
mod surface;

pub use link::Obstacle;
pub use path::WrappedPath;
pub use surface::{WrapSide, WrapSurface};

use super::points;
use crate::{Blocks, Degenerate, Dependency, Mapping, ModelError, Parents, Space};
use path::Layout;
use pliant_dense::Vec3;
use stretch::{Failure, Stretch};

/// Lengths of ropes that run freely through points and around spheres, cylinders and ellipsoids,
/// less their rest lengths.
///
/// **Equation.** `x_c = sum L_k - rest` (m), one scalar per rope, with the length `L` of the
/// shortest way from each point to the next around the obstacles between them: straight to the
/// point of contact `A`, along a geodesic to `B`, straight on. Around one obstacle of radius `r`,
/// `L = t_p + t_q + r (a - acos(r/s_p) - acos(r/s_q))` with distances `s` from the centre or axis,
/// `t = sqrt(s^2 - r^2)` and the angle `a` between both ends; around a cylinder `sqrt(L^2 + z^2)`
/// with the way `z` along it. Where the bracket is not positive the rope is straight. `L` is
/// stationary in `A` and `B`: the unit vectors `u` of the straight parts are its gradient at the
/// points, and their reactions at `A` and `B` the force and torque on the body of the obstacle.
/// `G` has the exact second derivatives, with the points of contact as they move. Length and `J`
/// are continuous where the rope touches or leaves an obstacle; `G` jumps there, between that of
/// the straight rope and one with `n n^T/t` at each end. Around an ellipsoid the geodesic is
/// integrated, and its ends found by Newton's method, to rounding; with the fields `y'' = -K y`
/// beside it, in the curvature `K`, `G` is `n n^T/t + b b^T y'/y` at each end, for the field that
/// is zero at the other end, with the direction `b` across. Around several obstacles between two
/// points the contacts are found by Newton's method, to rounding. Not defined where a point is in
/// an obstacle, or two neighbouring points coincide.
///
/// **Parents.** Points of space, and bodies that obstacles are fixed in.
///
/// **Use.** Muscles and tendons over bones, belts and ropes over pulleys that may be lifted off:
/// there is no friction, all of the rope carries one tension.
#[derive(Clone, Debug, PartialEq)]
pub struct WrappedRope {
    paths: Vec<WrappedPath>,
    layouts: Vec<Layout>,
}

impl WrappedRope {
    /// One scalar per rope.
    pub fn new(paths: &[WrappedPath]) -> Self {
        Self {
            paths: paths.to_vec(),
            layouts: paths.iter().map(Layout::new).collect(),
        }
    }

    /// The points (m) where rope `element` touches its obstacles, first and last of each, in the
    /// order of the rope; `None` for obstacles that it passes freely.
    ///
    /// # Errors
    /// [`Degenerate`] where the rope has no length.
    pub fn contacts(
        &self,
        element: usize,
        parents: &Parents<'_>,
    ) -> Result<Vec<Option<[[f64; 3]; 2]>>, Degenerate> {
        let mut out = Vec::new();
        for k in 0..self.stretches(element) {
            let stretch = self.stretch(element, k, parents)?;
            for obstacle in 0..self.layouts[element].of_stretch(k).len() {
                let found = stretch.contacts(obstacle, self.ends(element, k, parents));
                out.push(found.map(|both| both.map(Into::into)));
            }
        }
        Ok(out)
    }

    fn stretches(&self, e: usize) -> usize {
        self.paths[e].points.len().saturating_sub(1)
    }

    /// The points at both ends of stretch `k` of rope `e`.
    fn ends(&self, e: usize, k: usize, parents: &Parents<'_>) -> [Vec3; 2] {
        let points = &self.paths[e].points;
        [k, k + 1].map(|k| Vec3::from(points[k].coordinates(parents, 3)))
    }

    fn try_stretch(&self, e: usize, k: usize, parents: &Parents<'_>) -> Result<Stretch, Failure> {
        Stretch::new(self.layouts[e].of_stretch(k), parents, self.ends(e, k, parents))
    }

    fn stretch(&self, e: usize, k: usize, parents: &Parents<'_>) -> Result<Stretch, Degenerate> {
        let fails = |(_, reason)| Degenerate { element: e, reason };
        self.try_stretch(e, k, parents).map_err(fails)
    }
}

impl Mapping for WrappedRope {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.paths.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (e, path) in self.paths.iter().enumerate() {
            path.check(name, (e, self.paths.len()), parents)?;
            if self.layouts[e].elements.is_empty() {
                let reason = "all points and obstacles of the rope are fixed";
                return Err(points::degenerate(name, e, reason));
            }
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend_from_slice(&self.layouts[element].elements);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            let mut sum = 0.0;
            for k in 0..self.stretches(e) {
                sum += self.stretch(e, k, &parents)?.length();
            }
            *x = sum - self.paths[e].rest_length;
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, layout) in self.layouts.iter().enumerate() {
            let row = out.block_mut(e);
            for k in 0..self.stretches(e) {
                let slopes = self.stretch(e, k, &parents)?.slopes();
                for (slope, column) in slopes.iter().zip(layout.columns(k)) {
                    let Some(column) = column else { continue };
                    for i in 0..3 {
                        row[column + i] += slope[i];
                    }
                }
            }
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, layout) in self.layouts.iter().enumerate() {
            let width = out.width(e);
            let block = out.block_mut(e);
            for k in 0..self.stretches(e) {
                // Whoever asks for it has had the Jacobian there.
                let Ok(stretch) = self.stretch(e, k, &parents) else {
                    continue;
                };
                let curvatures = stretch.curvatures();
                for (rows, row) in curvatures.iter().zip(layout.columns(k)) {
                    let Some(row) = row else { continue };
                    for (h, column) in rows.iter().zip(layout.columns(k)) {
                        let Some(column) = column else { continue };
                        for i in 0..3 {
                            for j in 0..3 {
                                block[(row + i) * width + column + j] += force[e] * h[(i, j)];
                            }
                        }
                    }
                }
            }
        }
    }

    fn explain(&self, parents: Parents<'_>, cause: Degenerate) -> String {
        let e = cause.element;
        for k in 0..self.layouts.get(e).map_or(0, |_| self.stretches(e)) {
            let Err((place, _)) = self.try_stretch(e, k, &parents) else {
                continue;
            };
            let between = format!(", between its points {k} and {}", k + 1);
            let Some(obstacle) = self.layouts[e].of_stretch(k).get(place) else {
                return between;
            };
            let [p, q] = self
                .ends(e, k, &parents)
                .map(|end| obstacle.distance(&parents, end));
            let (middle, kind) = match obstacle.surface {
                WrapSurface::Sphere { radius } => ("centre", format!("a sphere of radius {radius} m")),
                WrapSurface::Cylinder { radius, .. } => ("axis", format!("a cylinder of radius {radius} m")),
                WrapSurface::Ellipsoid { semi_axes: [a, b, c] } => (
                    "centre",
                    format!("an ellipsoid of the semi-axes {a} m, {b} m and {c} m"),
                ),
            };
            return format!(
                "{between}, which are {p} m and {q} m from the {middle} of obstacle {place} there, {kind}"
            );
        }
        String::new()
    }
}
