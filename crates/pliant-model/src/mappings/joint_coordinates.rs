//! The coordinates of joints.

use super::frames::{JointFrame, check_frames, frame_dependencies};
use super::joint_axis::{JointAxis, add_log};
use super::relative_chord::RelativeMotion;
use super::relative_motion::{Relative, Slopes, nearest_log, row_mut};
use crate::validate::check_size;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::rotation::{inverse_right_jacobian, matrix};
use pliant_dense::{Mat3, Vec3};

/// Two frames and the coordinates wanted of their relative motion.
#[derive(Clone, Debug, PartialEq)]
pub struct FramePair {
    /// The frame that the other is seen from.
    pub a: JointFrame,
    /// The frame that is seen.
    pub b: JointFrame,
    /// The coordinates.
    pub axes: Vec<JointAxis>,
}

/// Coordinates of joints: lengths and angles of one frame against another, each frame fixed in a
/// body or in the world.
///
/// **Equation.** With `t = R_A^T (p_B - p_A)` and `C = R_A^T R_B`, each coordinate is one
/// [`JointAxis`]: a coordinate of `t` (m), of the rotation vector `log C` (rad), a direction cosine
/// `a_i . b_j`, a twist, a heading or an elevation (rad). `J` and `G` come from the derivatives
/// over `t + tau` and `C exp(u)`, where `tau = R_A^T (dp_B - dp_A) + t x w_A` and
/// `u = w_B - C^T w_A`, with their second-order terms. Twists and headings count full turns,
/// rotation vectors are followed up to a full turn: each takes the value nearest to its last one.
///
/// **Parents.** Bodies, and frames of the world.
///
/// **Use.** Hinges, sliders, universal joints, cylindrical and planar joints: rows for what is
/// held, coordinates for what moves, with springs, motors and limits on them.
///
/// ```
/// use pliant_model::{JointAxis, JointCoordinates, JointFrame, Model, Pose};
/// // A door on a hinge along the world's axis 2: five rows that a constraint holds at zero, and its angle.
/// let mut model = Model::new();
/// let door = model.add_rigid_bodies("door", &[Pose::turned([0.0, 0.5, 0.0], [0.0, 0.0, 1.0], 0.5 * std::f64::consts::PI)])?;
/// let hinge = (JointFrame::world(Pose::default()), JointFrame::on(0, 0, Pose::at([-0.5, 0.0, 0.0])));
/// let held = [
///     JointAxis::Translation(0),
///     JointAxis::Translation(1),
///     JointAxis::Translation(2),
///     JointAxis::Misalignment(0, 2),
///     JointAxis::Misalignment(1, 2),
/// ];
/// let rows = model.add_mapped("hinge", &[door], JointCoordinates::of_pairs(&[hinge], &held))?;
/// let angle = model.add_mapped("angle", &[door], JointCoordinates::of_pairs(&[hinge], &[JointAxis::Twist(2)]))?;
/// let state = model.initial_state()?;
/// assert!(model.positions(&state, rows).iter().all(|x| x.abs() < 1e-15));
/// assert!((model.positions(&state, angle)[0] - 0.5 * std::f64::consts::PI).abs() < 1e-15);
/// # Ok::<(), pliant_model::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointCoordinates {
    joints: Vec<FramePair>,
}

/// The relative motion of one joint.
struct At {
    relative: Relative,
    c: Mat3,
    r: Vec3,
}

impl JointCoordinates {
    /// One element per joint; all joints have the same number of axes.
    pub fn new(joints: &[FramePair]) -> Self {
        Self {
            joints: joints.to_vec(),
        }
    }

    /// The same coordinates of every pair of frames `(A, B)`.
    pub fn of_pairs(pairs: &[(JointFrame, JointFrame)], axes: &[JointAxis]) -> Self {
        let joint = |(a, b): &(JointFrame, JointFrame)| FramePair {
            a: *a,
            b: *b,
            axes: axes.to_vec(),
        };
        Self {
            joints: pairs.iter().map(joint).collect(),
        }
    }

    fn size(&self) -> usize {
        self.joints.first().map_or(1, |j| j.axes.len().max(1))
    }

    /// `last` are the positions of this element of the child, empty if not known.
    fn at(&self, e: usize, parents: &Parents<'_>, last: &[f64]) -> Result<At, Degenerate> {
        let joint = &self.joints[e];
        let relative = Relative::new(&joint.a, &joint.b, parents);
        let mut r = Vec3::zeros();
        if joint.axes.iter().any(|axis| axis.is_rotation()) {
            let (mut known, mut weight) = (Vec3::zeros(), Vec3::zeros());
            for (axis, x) in joint.axes.iter().zip(last) {
                if let JointAxis::Rotation(i) = axis {
                    known[*i] = *x;
                    weight[*i] = 1.0;
                }
            }
            r = nearest_log(relative.c, known, weight).map_err(|reason| Degenerate { element: e, reason })?;
        }
        Ok(At {
            c: matrix(relative.c),
            r,
            relative,
        })
    }

    /// The motion, and the derivatives of `force` times the coordinates of an element.
    fn slopes(&self, e: usize, parents: &Parents<'_>, force: &[f64]) -> Option<(At, Slopes)> {
        let at = self.at(e, parents, self.last(e, parents)).ok()?;
        let (mut slopes, mut torque) = (Slopes::zero(), Vec3::zeros());
        for (axis, f) in self.joints[e].axes.iter().zip(force) {
            axis.add_slopes(*f, at.relative.c, &at.c, &mut slopes, &mut torque);
        }
        if torque != Vec3::zeros() {
            add_log(at.r, torque, &mut slopes);
        }
        Some((at, slopes))
    }

    fn last<'a>(&self, e: usize, parents: &Parents<'a>) -> &'a [f64] {
        let size = self.size();
        parents.child().get(e * size..(e + 1) * size).unwrap_or(&[])
    }
}

impl Mapping for JointCoordinates {
    fn child(&self) -> (Space, usize) {
        (Space::Real(self.size()), self.joints.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (e, joint) in self.joints.iter().enumerate() {
            let (size, found) = (self.size(), joint.axes.len());
            check_size(name, Field::Axes, "axes for each joint", size, found)?;
            check_frames(name, e, [&joint.a, &joint.b], parents)?;
            joint.axes.iter().try_for_each(|axis| axis.check(name))?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        frame_dependencies(&self.joints[element].a, &self.joints[element].b, out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.chunks_exact_mut(self.size()).enumerate() {
            let at = self.at(e, &parents, x)?;
            for (axis, x) in self.joints[e].axes.iter().zip(x) {
                *x = axis
                    .value(at.relative.t, at.relative.c, &at.c, at.r, *x)
                    .map_err(|reason| Degenerate { element: e, reason })?;
            }
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, joint) in self.joints.iter().enumerate() {
            let at = self.at(e, &parents, self.last(e, &parents))?;
            let inverse = match joint.axes.iter().any(|axis| axis.is_rotation()) {
                true => inverse_right_jacobian(at.r),
                false => Mat3::identity(),
            };
            for (k, axis) in joint.axes.iter().enumerate() {
                let (tau, u) = axis
                    .gradient(at.relative.c, &at.c, &inverse)
                    .map_err(|reason| Degenerate { element: e, reason })?;
                at.relative.write_row(tau, u, row_mut(out, e, k));
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, x) in child.chunks_exact_mut(self.size()).enumerate() {
            let Ok(at) = self.at(e, &parents, self.last(e, &parents)) else {
                continue;
            };
            let joint = &self.joints[e];
            let rates = at.relative.rates(&joint.a, &joint.b, &parents);
            let (_, log) = rates.of_log(at.r);
            for (axis, x) in joint.axes.iter().zip(x) {
                *x += axis.bias(at.relative.c, &at.c, &rates, log);
            }
        }
        true
    }

    fn relative_motion(&self) -> Option<&dyn RelativeMotion> {
        Some(self)
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, f) in force.chunks_exact(self.size()).enumerate() {
            let Some((at, slopes)) = self.slopes(e, &parents, f) else {
                continue;
            };
            let width = out.width(e);
            at.relative.add_hessian(&slopes, out.block_mut(e), width);
        }
    }
}

impl RelativeMotion for JointCoordinates {
    fn frames(&self, element: usize) -> [JointFrame; 2] {
        [self.joints[element].a, self.joints[element].b]
    }

    fn gradient(&self, element: usize, parents: &Parents<'_>, force: &[f64]) -> Option<[[f64; 3]; 2]> {
        self.slopes(element, parents, force)
            .map(|(_, slopes)| slopes.gradient())
    }
}
