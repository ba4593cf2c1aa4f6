//! The pose of one frame against another as six coordinates.

use super::frames::{JointFrame, check_frames, check_pose, frame_dependencies};
use super::joint_axis::{add_log, add_through_log};
use super::relative_chord::RelativeMotion;
use super::relative_motion::{Relative, Slopes, curvatures, last3, nearest_log, row_mut};
use crate::validate::check_size;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Pose, Space};
use pliant_dense::rotation::{
    conjugate, inverse_left_jacobian_hessian, inverse_right_jacobian, inverse_right_jacobian_derivative,
    inverse_right_jacobian_transpose_derivative, multiply,
};
use pliant_dense::{Mat3, Vec3, vec3};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chart {
    Split,
    Se3,
}

/// The pose of one frame against another less its pose at rest: six coordinates, linear (m) before
/// angular (rad).
///
/// **Equation.** With `t = R_A^T (p_B - p_A)` and `C = R_A^T R_B`: split,
/// `(t - t_rest, log(C_rest^T C))`; as a twist, the `(rho, r)` whose exponential is the motion from
/// the pose at rest to the pose, `r = log(C_rest^T C)` and `rho = J_l^-1(r) C_rest^T (t - t_rest)`.
/// `J` and `G` are those of `t` and of the logarithm, chained; `r` is followed up to a full turn.
///
/// **Parents.** Bodies, and frames of the world.
///
/// **Use.** Bushings and other springs between bodies that act in all six directions, and welds.
#[derive(Clone, Debug, PartialEq)]
pub struct RelativePose {
    chart: Chart,
    pairs: Vec<(JointFrame, JointFrame)>,
    rests: Vec<Pose>,
    /// The first frames, for twists carried to the poses at rest.
    from: Vec<JointFrame>,
}

impl RelativePose {
    /// Translation in the axes of A, and rotation vector, of each pair of frames `(A, B)`.
    pub fn split(pairs: &[(JointFrame, JointFrame)]) -> Self {
        Self::new(Chart::Split, pairs)
    }

    /// The twist, logarithm of the rigid motion, of each pair of frames `(A, B)`.
    pub fn twist(pairs: &[(JointFrame, JointFrame)]) -> Self {
        Self::new(Chart::Se3, pairs)
    }

    fn new(chart: Chart, pairs: &[(JointFrame, JointFrame)]) -> Self {
        Self {
            chart,
            pairs: pairs.to_vec(),
            rests: vec![Pose::default(); pairs.len()],
            from: pairs.iter().map(|(a, _)| *a).collect(),
        }
    }

    /// Sets the pose of B in the axes of A (m) at rest of each pair; a list of one serves all
    /// pairs.
    #[must_use]
    pub fn with_rest_poses(mut self, rests: &[Pose]) -> Self {
        self.rests = if let [rest] = rests {
            vec![*rest; self.pairs.len()]
        } else {
            rests.to_vec()
        };
        if self.chart == Chart::Se3 {
            let carried = self.pairs.iter().zip(&self.rests);
            self.from = carried.map(|((a, _), rest)| a.followed_by(rest)).collect();
        }
        self
    }

    /// The motion, the rotation from rest and its branch.
    fn at(&self, e: usize, parents: &Parents<'_>, last: Vec3) -> Result<(Relative, Vec3), Degenerate> {
        let relative = Relative::new(&self.from[e], &self.pairs[e].1, parents);
        let c = match self.chart {
            Chart::Split => multiply(conjugate(self.rests[e].rotation), relative.c),
            Chart::Se3 => relative.c,
        };
        let r =
            nearest_log(c, last, Vec3::repeat(1.0)).map_err(|reason| Degenerate { element: e, reason })?;
        Ok((relative, r))
    }

    /// The motion, and the derivatives of `force` times the coordinates of an element.
    fn slopes(&self, e: usize, parents: &Parents<'_>, force: &[f64]) -> Option<(Relative, Slopes)> {
        let (relative, r) = self.at(e, parents, last3(parents.child(), 6 * e + 3)).ok()?;
        let (linear, angular) = (vec3(force, 0), vec3(force, 3));
        let mut slopes = Slopes::zero();
        match self.chart {
            Chart::Split => {
                slopes.tau = linear;
                add_log(r, angular, &mut slopes);
            }
            Chart::Se3 => {
                slopes.tau = inverse_right_jacobian(r) * linear;
                let by_r = inverse_right_jacobian_transpose_derivative(r, relative.t);
                add_through_log(
                    r,
                    angular + by_r.transpose() * linear,
                    &inverse_right_jacobian_derivative(r, linear),
                    &inverse_left_jacobian_hessian(r, relative.t, linear),
                    &mut slopes,
                );
            }
        }
        Some((relative, slopes))
    }

    fn linear(&self, e: usize, t: Vec3, r: Vec3) -> Vec3 {
        match self.chart {
            Chart::Split => t - Vec3::from(self.rests[e].position),
            Chart::Se3 => inverse_right_jacobian(r).transpose() * t,
        }
    }
}

impl Mapping for RelativePose {
    fn child(&self) -> (Space, usize) {
        (Space::Real(6), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let (expected, found) = (self.pairs.len(), self.rests.len());
        check_size(name, Field::RestPoses, "poses at rest", expected, found)?;
        for (e, ((a, b), rest)) in self.pairs.iter().zip(&self.rests).enumerate() {
            check_frames(name, e, [a, b], parents)?;
            check_pose(name, Field::RestPoses, rest).map_err(|error| error.at(e, self.pairs.len()))?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        let (a, b) = &self.pairs[element];
        frame_dependencies(a, b, out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.as_chunks_mut::<6>().0.iter_mut().enumerate() {
            let (relative, r) = self.at(e, &parents, vec3(x, 3))?;
            x[..3].copy_from_slice(self.linear(e, relative.t, r).as_slice());
            x[3..].copy_from_slice(r.as_slice());
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.pairs.len() {
            let (relative, r) = self.at(e, &parents, last3(parents.child(), 6 * e + 3))?;
            let inverse = inverse_right_jacobian(r);
            let by_t = match self.chart {
                Chart::Split => Mat3::identity(),
                Chart::Se3 => inverse.transpose(),
            };
            let by_u = match self.chart {
                Chart::Split => Mat3::zeros(),
                Chart::Se3 => inverse_right_jacobian_transpose_derivative(r, relative.t) * inverse,
            };
            for i in 0..3 {
                let (tau, u) = (by_t.row(i).transpose(), by_u.row(i).transpose());
                relative.write_row(tau, u, row_mut(out, e, i));
                relative.write_row(Vec3::zeros(), inverse.row(i).transpose(), row_mut(out, e, 3 + i));
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, x) in child.as_chunks_mut::<6>().0.iter_mut().enumerate() {
            let Ok((relative, r)) = self.at(e, &parents, last3(parents.child(), 6 * e + 3)) else {
                continue;
            };
            let rates = relative.rates(&self.from[e], &self.pairs[e].1, &parents);
            let (rate, second) = rates.of_log(r);
            let linear = match self.chart {
                Chart::Split => rates.tau2,
                // Of J_l^-1(r) t, a product.
                Chart::Se3 => {
                    inverse_right_jacobian(r).transpose() * rates.tau2
                        + 2.0 * inverse_right_jacobian_transpose_derivative(r, rates.tau) * rate
                        + inverse_right_jacobian_transpose_derivative(r, relative.t) * second
                        + curvatures(rate, |f| inverse_left_jacobian_hessian(r, relative.t, f))
                }
            };
            for k in 0..3 {
                x[k] += linear[k];
                x[3 + k] += second[k];
            }
        }
        true
    }

    fn relative_motion(&self) -> Option<&dyn RelativeMotion> {
        Some(self)
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, f) in force.as_chunks::<6>().0.iter().enumerate() {
            let Some((relative, slopes)) = self.slopes(e, &parents, f) else {
                continue;
            };
            let width = out.width(e);
            relative.add_hessian(&slopes, out.block_mut(e), width);
        }
    }
}

impl RelativeMotion for RelativePose {
    fn frames(&self, element: usize) -> [JointFrame; 2] {
        [self.from[element], self.pairs[element].1]
    }

    fn gradient(&self, element: usize, parents: &Parents<'_>, force: &[f64]) -> Option<[[f64; 3]; 2]> {
        self.slopes(element, parents, force)
            .map(|(_, slopes)| slopes.gradient())
    }
}
