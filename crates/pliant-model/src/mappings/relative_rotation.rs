//! The rotation of one body against another.

use super::frames::JointFrame;
use super::relative_chord::RelativeMotion;
use super::relative_motion::{last3, nearest_log};
use super::rigid_points::body_rotation;
use super::{check_dependency, points};
use crate::validate::{check_rigid, check_size};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Pose, Space};
use pliant_dense::rotation::{
    Quaternion, conjugate, inverse_right_jacobian, inverse_right_jacobian_derivative,
    inverse_right_jacobian_transpose_derivative, matrix, multiply, normalize,
};
use pliant_dense::{Mat3, Vec3, vec3};

/// Rotation vectors `r = log(q_rest^-1 q_a^-1 q_b)` (rad) of pairs of bodies: the deformation of an
/// angular spring.
///
/// **Equation.** With body angular velocities, `dr/dt = J_r^-1(r) w_b - J_l^-1(r) R_rest^T w_a`;
/// `G` is the symmetric part of its derivative. Of the two rotation vectors below a full turn it
/// takes the one nearest to the last, and so is smooth through a half turn from rest, up to a full
/// one.
///
/// **Parents.** Bodies.
///
/// **Use.** Angular springs between bodies, and constraints that hold a relative rotation.
#[derive(Clone, Debug, PartialEq)]
pub struct RelativeRotation {
    pairs: Vec<(Dependency, Dependency)>,
    rests: Vec<Quaternion>,
}

impl RelativeRotation {
    /// Pairs `(a, b)` of bodies of the only parent, at rest when their axes agree.
    pub fn new(pairs: &[(usize, usize)]) -> Self {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(a, b)| (Dependency::new(0, *a), Dependency::new(0, *b)))
            .collect();
        Self::of_parents(&pairs)
    }

    /// Pairs of bodies of several parents.
    pub fn of_parents(pairs: &[(Dependency, Dependency)]) -> Self {
        Self {
            pairs: pairs.to_vec(),
            rests: vec![pliant_dense::rotation::IDENTITY; pairs.len()],
        }
    }

    /// Sets the rotation `q_a^-1 q_b` at rest of each pair.
    #[must_use]
    pub fn with_rest_rotations(mut self, rests: &[Quaternion]) -> Self {
        self.rests = rests.to_vec();
        self
    }

    fn at(&self, e: usize, parents: &Parents<'_>, last: Vec3) -> Result<Relative, Degenerate> {
        let (a, b) = self.pairs[e];
        let (qa, qb) = (
            body_rotation(parents.position(a)),
            body_rotation(parents.position(b)),
        );
        let relative = multiply(conjugate(qa), qb);
        let from_rest = multiply(conjugate(self.rests[e]), relative);
        let r = nearest_log(from_rest, last, Vec3::repeat(1.0))
            .map_err(|reason| Degenerate { element: e, reason })?;
        let jr = inverse_right_jacobian(r);
        let rest = matrix(self.rests[e]);
        Ok(Relative {
            r,
            to_b: jr,
            to_a: -jr.transpose() * rest.transpose(),
            rest,
            relative: matrix(relative),
        })
    }
}

/// One pair: `dr = to_a w_a + to_b w_b`.
struct Relative {
    r: Vec3,
    to_a: Mat3,
    to_b: Mat3,
    rest: Mat3,
    relative: Mat3,
}

impl Mapping for RelativeRotation {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let (expected, found) = (self.pairs.len(), self.rests.len());
        check_size(name, Field::RestRotations, "rest rotations", expected, found)?;
        for (element, (a, b)) in self.pairs.iter().enumerate() {
            for at in [a, b] {
                let found = check_dependency(name, *at, parents)?;
                check_rigid(name, found)?;
            }
            if a == b {
                return Err(points::degenerate(name, element, "its two bodies are the same"));
            }
            let unit = normalize(self.rests[element]).is_some_and(|q| {
                q.iter()
                    .zip(&self.rests[element])
                    .all(|(a, b)| (a - b).abs() < 1e-9)
            });
            if !unit {
                return Err(ModelError::ZeroQuaternion {
                    name: name.into(),
                    element,
                });
            }
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        let (a, b) = self.pairs[element];
        out.extend([a, b]);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *x = self.at(e, &parents, Vec3::from(*x))?.r.into();
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.pairs.len() {
            let g = self.at(e, &parents, last3(parents.child(), 3 * e))?;
            let block = out.block_mut(e);
            for i in 0..3 {
                for j in 0..3 {
                    block[i * 12 + 3 + j] = g.to_a[(i, j)];
                    block[i * 12 + 9 + j] = g.to_b[(i, j)];
                }
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, x) in child.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let Ok(g) = self.at(e, &parents, last3(parents.child(), 3 * e)) else {
                continue;
            };
            let (a, b) = self.pairs[e];
            let (wa, wb) = (vec3(parents.velocity(a), 3), vec3(parents.velocity(b), 3));
            // dr/dt = J_r^-1(r) u with u = w_b - Q^T w_a, and du/dt = w_b x Q^T w_a at constant w.
            let carried = g.relative.transpose() * wa;
            let u = wb - carried;
            let rate = g.to_b * u;
            let bias = inverse_right_jacobian_derivative(g.r, u) * rate + g.to_b * wb.cross(&carried);
            for k in 0..3 {
                x[k] += bias[k];
            }
        }
        true
    }

    fn relative_motion(&self) -> Option<&dyn RelativeMotion> {
        Some(self)
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for e in 0..self.pairs.len() {
            let Ok(g) = self.at(e, &parents, last3(parents.child(), 3 * e)) else {
                continue;
            };
            let f = vec3(force, 3 * e);
            // Torques: on b J_r^-T f, on a -R_rest J_l^-T f; their derivatives through r.
            let by_r = [
                -g.rest * inverse_right_jacobian_derivative(g.r, f),
                inverse_right_jacobian_transpose_derivative(g.r, f),
            ];
            let dr = [g.to_a, g.to_b];
            let block = out.block_mut(e);
            for p in 0..2 {
                for q in 0..2 {
                    let (one, other) = (by_r[p] * dr[q], by_r[q] * dr[p]);
                    for i in 0..3 {
                        for j in 0..3 {
                            block[(6 * p + 3 + i) * 12 + 6 * q + 3 + j] = 0.5 * (one[(i, j)] + other[(j, i)]);
                        }
                    }
                }
            }
        }
    }
}

impl RelativeMotion for RelativeRotation {
    fn frames(&self, element: usize) -> [JointFrame; 2] {
        let (a, b) = self.pairs[element];
        let frame = |on, rotation| JointFrame {
            on: Some(on),
            pose: Pose {
                rotation,
                ..Pose::default()
            },
        };
        let own = pliant_dense::rotation::IDENTITY;
        [frame(a, self.rests[element]), frame(b, own)]
    }

    fn gradient(&self, element: usize, parents: &Parents<'_>, force: &[f64]) -> Option<[[f64; 3]; 2]> {
        let at = self.at(element, parents, last3(parents.child(), 3 * element));
        let torque = at.ok()?.to_b.transpose() * vec3(force, 0);
        Some([[0.0; 3], torque.into()])
    }
}
