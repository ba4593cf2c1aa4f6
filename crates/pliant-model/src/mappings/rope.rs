//! Ropes through points, wound on drums.

use super::gear::Coordinate;
use super::{End, check_dependency, points};
use crate::validate::{check_all_finite, check_finite, check_least, check_not_negative, check_space};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3};

/// One rope: the points it passes in order, the drums it is wound on, its length at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct RopePath {
    /// The points, at least two; one may be passed more than once.
    pub points: Vec<End>,
    /// Angles (rad) with the radius (m) of the drum: turning by a positive angle takes in `radius`
    /// times the angle, a negative radius lets out.
    pub drums: Vec<(Coordinate, f64)>,
    /// Length at rest (m).
    pub rest_length: f64,
}

impl RopePath {
    /// A rope of `rest_length` (m) through these points, without drums.
    pub fn through(points: &[End], rest_length: f64) -> Self {
        Self {
            points: points.to_vec(),
            drums: Vec::new(),
            rest_length,
        }
    }

    /// Winds the rope on a drum of this radius (m) as well.
    #[must_use]
    pub fn with_drum(mut self, angle: Coordinate, radius: f64) -> Self {
        self.drums.push((angle, radius));
        self
    }

    /// Elements that the rope depends on: points, then drums that are not among them.
    fn elements(&self) -> Vec<Dependency> {
        let mut out = Vec::new();
        for at in self.points.iter().filter_map(End::dependency) {
            if !out.contains(&at) {
                out.push(at);
            }
        }
        for (angle, _) in &self.drums {
            if !out.contains(&angle.on) {
                out.push(angle.on);
            }
        }
        out
    }
}

/// Lengths of ropes that run freely through points, less their rest lengths, with what is wound on
/// drums.
///
/// **Equation.** `x_c = sum |p_k+1 - p_k| + sum radius_i angle_i - rest` (m), one scalar per rope.
/// Each stretch of rope adds what a distance adds: its unit vector `u` to `J`, `(f/l)(I - u u^T)`
/// to `G`; each drum its radius to `J`. Not defined where two neighbouring points coincide.
///
/// **Parents.** Points of space, and angles of drums.
///
/// **Use.** Pulleys, blocks and tackles, tendons and winches: held at zero or on a spring that only
/// pulls, all of the rope carries one tension.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    paths: Vec<RopePath>,
    /// Of each path: what it depends on, and the place there of each of its points.
    elements: Vec<Vec<Dependency>>,
    places: Vec<Vec<Option<usize>>>,
}

impl Rope {
    /// One scalar per rope.
    pub fn new(paths: &[RopePath]) -> Self {
        let elements: Vec<_> = paths.iter().map(RopePath::elements).collect();
        let places = paths.iter().zip(&elements).map(|(path, list)| {
            let place = |end: &End| end.dependency().and_then(|at| list.iter().position(|d| *d == at));
            path.points.iter().map(place).collect()
        });
        Self {
            places: places.collect(),
            paths: paths.to_vec(),
            elements,
        }
    }

    /// Unit vector and length of the stretch that ends in point `k` of rope `e`.
    fn stretch(&self, e: usize, k: usize, parents: &Parents<'_>) -> Result<(Vec3, f64), Degenerate> {
        let points = &self.paths[e].points;
        let d =
            Vec3::from(points[k].coordinates(parents, 3)) - Vec3::from(points[k - 1].coordinates(parents, 3));
        let length = d.norm();
        if length > 0.0 {
            Ok((d / length, length))
        } else {
            Err(Degenerate {
                element: e,
                reason: "two neighbouring points of the rope coincide, so that the line between them has no direction",
            })
        }
    }

    /// First column of an element: points have three, elements of drums what their space has.
    fn column(&self, e: usize, at: Dependency, parents: &Parents<'_>) -> usize {
        let before = self.elements[e].iter().take_while(|d| **d != at);
        before.map(|d| parents.space(d.parent).velocity_size()).sum()
    }
}

impl Mapping for Rope {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.paths.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (element, path) in self.paths.iter().enumerate() {
            let degenerate = |reason| points::degenerate(name, element, reason);
            let at_rope = |error: ModelError| error.at(element, self.paths.len());
            check_least(
                name,
                Field::Points,
                "points of a rope at least",
                2,
                path.points.len(),
            )?;
            for end in &path.points {
                match end {
                    End::Element(at) => {
                        let found = check_dependency(name, *at, parents)?;
                        check_space(name, "points of space", found, found == Space::Real(3))?;
                    }
                    End::Point(p) => check_all_finite(name, Field::FixedPoint, p).map_err(at_rope)?,
                }
            }
            if path.points.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(degenerate("two neighbouring points of the rope are the same"));
            }
            for (angle, radius) in &path.drums {
                angle.check(name, parents)?;
                check_finite(name, Field::DrumRadius, *radius).map_err(at_rope)?;
            }
            check_not_negative(name, Field::RestLengths, path.rest_length).map_err(at_rope)?;
            if self.elements[element].is_empty() {
                return Err(degenerate("all points of the rope are fixed, and it has no drum"));
            }
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend_from_slice(&self.elements[element]);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, (x, path)) in child.iter_mut().zip(&self.paths).enumerate() {
            let mut sum = 0.0;
            for k in 1..path.points.len() {
                sum += self.stretch(e, k, &parents)?.1;
            }
            for (angle, radius) in &path.drums {
                sum += radius * angle.value(&parents);
            }
            *x = sum - path.rest_length;
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, path) in self.paths.iter().enumerate() {
            let row = out.block_mut(e);
            for k in 1..path.points.len() {
                let (u, _) = self.stretch(e, k, &parents)?;
                for (place, sign) in [(self.places[e][k - 1], -1.0), (self.places[e][k], 1.0)] {
                    let Some(place) = place else { continue };
                    for i in 0..3 {
                        row[3 * place + i] += sign * u[i];
                    }
                }
            }
            for (angle, radius) in &path.drums {
                row[self.column(e, angle.on, &parents) + angle.index] += radius;
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, (x, path)) in child.iter_mut().zip(&self.paths).enumerate() {
            for k in 1..path.points.len() {
                let Ok((u, length)) = self.stretch(e, k, &parents) else {
                    continue;
                };
                let w = Vec3::from(path.points[k].velocity(&parents, 3))
                    - Vec3::from(path.points[k - 1].velocity(&parents, 3));
                *x += (w - u * u.dot(&w)).norm_squared() / length;
            }
        }
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, path) in self.paths.iter().enumerate() {
            let width = out.width(e);
            let block = out.block_mut(e);
            for k in 1..path.points.len() {
                let Ok((u, length)) = self.stretch(e, k, &parents) else {
                    continue;
                };
                let g = (Mat3::identity() - u * u.transpose()) * (force[e] / length);
                let ends = [self.places[e][k - 1], self.places[e][k]];
                for (a, p) in ends.iter().enumerate() {
                    for (b, q) in ends.iter().enumerate() {
                        let (Some(p), Some(q)) = (p, q) else { continue };
                        let sign = if a == b { 1.0 } else { -1.0 };
                        for i in 0..3 {
                            for j in 0..3 {
                                block[(3 * p + i) * width + 3 * q + j] += sign * g[(i, j)];
                            }
                        }
                    }
                }
            }
        }
    }
}
