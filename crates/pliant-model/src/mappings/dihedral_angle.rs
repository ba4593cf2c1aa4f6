//! Angles between two triangles that share an edge.

use super::{End, points};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3};
use std::f64::consts::TAU;

/// Signed angles at the edges between triangles, less rest angles; zero when flat.
///
/// **Equation.** `x_c = theta - rest` (rad) for each hinge `(x0, x1, x2, x3)`: edge `x0 x1` with
/// direction `e` and length `l`, opposite corners `x2` and `x3`; `theta` turns the normal
/// `n2 = e x (x2 - x0)` to `n3 = (x3 - x0) x e` about `e`. A side has its height `h`, unit normal
/// `n` and foot `s = (x - x0).e/l`. The gradient is `-n/h` on the opposite corners, and on the edge
/// minus that, shared by the weights `1 - s` and `s`. On `p = x2 - x0`, with `m = e x p/h` and
/// `S = (u m^T + m u^T)/h^2` for the direction `u` of the height, the Hessian is `S`, with the edge
/// vector `-s S + e m^T/(l h)`, and on the edge vector
/// `(s^2 + h^2/(2 l^2)) S - s (e m^T + m e^T)/(l h)`; for `x3 - x0` the same with the opposite sign
/// (compare Tamstorf and Grinspun 2013). Not defined if a triangle has area zero.
///
/// The angle is known up to full turns: of them the one is taken that is nearest to the last value,
/// so that it passes `pi` without a jump. In a new state, that is the one nearest to rest.
///
/// **Parents.** Points of space.
///
/// **Use.** Bending of cloth and thin shells, origami, torsion of chains of four particles.
#[derive(Clone, Debug, PartialEq)]
pub struct DihedralAngle {
    hinges: Vec<[End; 4]>,
    rests: Vec<f64>,
}

/// One triangle of a hinge.
struct Side {
    /// Height over the edge (m).
    height: f64,
    /// Direction of the height.
    up: Vec3,
    /// `e x up`.
    across: Vec3,
    /// Place of the foot on the edge, 0 to 1 between its ends.
    foot: f64,
}

impl Side {
    fn new(edge: Vec3, length: f64, corner: Vec3) -> Option<Self> {
        let (distance, _) = points::direction(corner)?;
        let across = edge.cross(&corner);
        let height = across.norm();
        if height <= points::PARALLEL * distance || height < points::SHORTEST {
            return None;
        }
        let across = across / height;
        Some(Self {
            height,
            up: across.cross(&edge),
            across,
            foot: corner.dot(&edge) / length,
        })
    }
}

impl DihedralAngle {
    /// The angle of each hinge `(x0, x1, x2, x3)` of ends (elements, or fixed points in m), rest
    /// angles zero: flat.
    pub fn new(hinges: &[[End; 4]]) -> Self {
        Self {
            hinges: hinges.to_vec(),
            rests: vec![0.0; hinges.len()],
        }
    }

    /// Hinges of elements of the only parent.
    pub fn between(hinges: &[[usize; 4]]) -> Self {
        Self::new(&points::elements(hinges))
    }

    /// Sets the rest angle (rad) of each hinge; a list of one serves all.
    #[must_use]
    pub fn with_rest_angles(mut self, rests: &[f64]) -> Self {
        self.rests = points::one_or_each(rests, self.hinges.len());
        self
    }

    /// Edge direction and length, then the sides of `x2` and `x3`.
    fn at(&self, e: usize, parents: &Parents<'_>) -> Result<(Vec3, f64, [Side; 2]), Degenerate> {
        let [edge, p, q] = points::vectors(&points::TETRAHEDRON, &self.hinges[e], parents, 3);
        points::direction(edge)
            .and_then(|(length, edge)| {
                let sides = [Side::new(edge, length, p)?, Side::new(edge, length, q)?];
                Some((edge, length, sides))
            })
            .ok_or(Degenerate {
                element: e,
                reason: "one of its triangles has area zero, so that it has no normal",
            })
    }
}

impl Mapping for DihedralAngle {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.hinges.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_list(
            name,
            Field::RestAngles,
            "rest angles",
            &self.rests,
            self.hinges.len(),
        )?;
        points::check_ends(name, &self.hinges, 3, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.hinges[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            let (edge, _, [two, three]) = self.at(e, &parents)?;
            let (n2, n3) = (two.across, -three.across);
            let angle = n2.cross(&n3).dot(&edge).atan2(n2.dot(&n3)) - self.rests[e];
            let turns = ((*x - angle) / TAU).round();
            *x = if turns.is_finite() {
                angle + turns * TAU
            } else {
                angle
            };
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, ends) in self.hinges.iter().enumerate() {
            let (_, _, [two, three]) = self.at(e, &parents)?;
            let (g2, g3) = (-two.across / two.height, three.across / three.height);
            let gradient = [-g2 * two.foot - g3 * three.foot, g2, g3];
            points::write_row(&points::TETRAHEDRON, ends, 3, &gradient, out.block_mut(e));
        }
        Ok(())
    }

    fn without(&self, removed: &[bool]) -> Option<Box<dyn Mapping>> {
        // Two triangles of a plane.
        const FLAT: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]];
        let mut out = self.clone();
        for (e, _) in removed.iter().enumerate().filter(|(_, is_removed)| **is_removed) {
            out.hinges[e] = FLAT.map(End::Point);
            out.rests[e] = 0.0;
        }
        Some(Box::new(out))
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, ends) in self.hinges.iter().enumerate() {
            let Ok((edge, length, sides)) = self.at(e, &parents) else {
                continue;
            };
            let mut h = [[Mat3::zeros(); 3]; 3];
            for (k, (side, f)) in sides.iter().zip([force[e], -force[e]]).enumerate() {
                let (s, ratio) = (side.foot, side.height / length);
                let scale = f / (side.height * side.height);
                let own = points::twice_symmetric(side.up, side.across) * scale;
                let tilt = side.across * edge.transpose() * (scale * ratio);
                h[0][0] += own * (s * s + 0.5 * ratio * ratio) - (tilt + tilt.transpose()) * s;
                h[0][k + 1] = tilt - own * s;
                h[k + 1][k + 1] = own;
            }
            points::write_hessian(&points::TETRAHEDRON, ends, 3, &h, out.block_mut(e));
        }
    }
}
