//! Frames on flexible bodies whose deformation is a sum of modes.

use super::check_dependency;
use super::frames::check_pose;
use super::modal_points::{add_coupling, check_shapes, floating, mode, spin, write_column, write_rigid_rows};
use super::rigid_points::{body_rotation, write_arm_stiffness};
use crate::validate::check_rigid;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Pose, Space};
use pliant_dense::rotation::{Quaternion, matrix, multiply, normalize};
use pliant_dense::{Mat3, Vec3, skew, vec3};

/// Displacement and rotation of a frame for a unit amplitude of a mode, in the axes of the floating
/// frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameShape {
    /// The mode: an element of the second parent.
    pub mode: usize,
    /// Displacement of its origin (m).
    pub displacement: [f64; 3],
    /// Rotation, as a small rotation vector (rad).
    pub rotation: [f64; 3],
}

/// A frame on a flexible body.
#[derive(Clone, Debug, PartialEq)]
pub struct ModalFrame {
    /// The floating frame: an element of the first parent.
    pub body: usize,
    /// Its pose without deformation, in the axes of the floating frame about its origin (m).
    pub pose: Pose,
    /// Its motion in each mode, each mode once.
    pub shapes: Vec<FrameShape>,
}

/// Frames on flexible bodies, each a body of its own to what is attached to it: they move and turn
/// with a floating frame, and against it by sums of modes.
///
/// **Equation.** `p_c = p + R u` with `u = X + sum phi_k q_k` (m), and `q_c = q C(c) q_off` with
/// `c = sum theta_k q_k`. `C(c)` is the unit quaternion along `(1, c/2)`, a rotation about `c` by
/// `2 atan(|c|/2)`: to second order by `|c|`, which is as much as a sum of modes knows of it. With
/// `E` its matrix, `D = 1 + |c|^2/4` and `A = (I - [c]/2)/D`, the child's angular velocity in the
/// child's axes is `R_off^T (E^T w + A dc/dt)`. `(dJ/dt) v` has `R (w x (w x u) + 2 w x du/dt)`
/// and, with `a = A dc/dt`, `-R_off^T (a x E^T w + a (c . dc/dt)/(2 D))`. The geometric stiffness
/// `G` of a child force `(f, tau)`, torque in the child's axes, with `g = R^T f` and
/// `t = R_off tau`, is `sym([u] [g])` on the rotation, `phi_k x g + E (A theta_k x t)/2` between it
/// and `q_k`, and `-sym(theta_k . A^T t (c . theta_l))/(2 D)` between amplitudes.
///
/// **Parents.** Bodies, then scalars.
///
/// **Use.** Interfaces of reduced bodies: joints, bushings and other bodies are attached to them.
#[derive(Clone, Debug, PartialEq)]
pub struct ModalFrames {
    frames: Vec<ModalFrame>,
}

impl ModalFrames {
    /// One frame for each of these.
    pub fn new(frames: &[ModalFrame]) -> Self {
        Self {
            frames: frames.to_vec(),
        }
    }
}

/// The deformation at a frame: arm `u` (m) and `c`, by weights of its modes.
fn sums(frame: &ModalFrame, amplitude: impl Fn(usize) -> f64) -> (Vec3, Vec3) {
    let (mut u, mut c) = (Vec3::zeros(), Vec3::zeros());
    for shape in &frame.shapes {
        let q = amplitude(shape.mode);
        u += q * Vec3::from(shape.displacement);
        c += q * Vec3::from(shape.rotation);
    }
    (u, c)
}

fn deformation(frame: &ModalFrame, parents: &Parents<'_>) -> (Vec3, Vec3) {
    let (u, c) = sums(frame, |k| parents.position(mode(k))[0]);
    (Vec3::from(frame.pose.position) + u, c)
}

/// The quaternion along `(1, c/2)`.
fn turn_by(c: Vec3) -> Quaternion {
    let q = [1.0, 0.5 * c.x, 0.5 * c.y, 0.5 * c.z];
    // Its length is 1 or more; only numbers out of range have none.
    normalize(q).unwrap_or([f64::NAN; 4])
}

/// `D` and `A`: the angular velocity of [`turn_by`], in turned axes, is `A dc/dt`.
fn rate_matrix(c: Vec3) -> (f64, Mat3) {
    let d = 1.0 + 0.25 * c.norm_squared();
    (d, (Mat3::identity() - 0.5 * skew(c)) / d)
}

impl Mapping for ModalFrames {
    fn child(&self) -> (Space, usize) {
        (Space::Rigid3, self.frames.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (element, frame) in self.frames.iter().enumerate() {
            let found = check_dependency(name, Dependency::new(0, frame.body), parents)?;
            check_rigid(name, found)?;
            check_pose(name, Field::Frames, &frame.pose)?;
            let shapes = frame.shapes.iter();
            check_shapes(
                name,
                element,
                shapes.clone().map(|s| (s.mode, &s.displacement[..])),
                parents,
            )?;
            check_shapes(name, element, shapes.map(|s| (s.mode, &s.rotation[..])), parents)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        let frame = &self.frames[element];
        out.push(Dependency::new(0, frame.body));
        out.extend(frame.shapes.iter().map(|s| mode(s.mode)));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (x, frame) in child.as_chunks_mut::<7>().0.iter_mut().zip(&self.frames) {
            let (p, turn) = floating(&parents, frame.body);
            let (u, c) = deformation(frame, &parents);
            let q = body_rotation(parents.position(Dependency::new(0, frame.body)));
            x[..3].copy_from_slice((p + turn * u).as_slice());
            x[3..].copy_from_slice(&multiply(multiply(q, turn_by(c)), frame.pose.rotation));
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, frame) in self.frames.iter().enumerate() {
            let (_, turn) = floating(&parents, frame.body);
            let (u, c) = deformation(frame, &parents);
            let back = matrix(frame.pose.rotation).transpose();
            let (_, rate) = rate_matrix(c);
            let follows = back * matrix(turn_by(c)).transpose();
            let width = out.width(e);
            let block = out.block_mut(e);
            write_rigid_rows(turn, u, width, block);
            for i in 0..3 {
                for j in 0..3 {
                    block[(3 + i) * width + 3 + j] = follows[(i, j)];
                }
            }
            for (at, shape) in frame.shapes.iter().enumerate() {
                write_column(turn * Vec3::from(shape.displacement), 0, 6 + at, width, block);
                write_column(
                    back * (rate * Vec3::from(shape.rotation)),
                    3,
                    6 + at,
                    width,
                    block,
                );
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (x, frame) in child.as_chunks_mut::<6>().0.iter_mut().zip(&self.frames) {
            let (_, turn) = floating(&parents, frame.body);
            let w = spin(&parents, frame.body);
            let (u, c) = deformation(frame, &parents);
            let (du, dc) = sums(frame, |k| parents.velocity(mode(k))[0]);
            let linear = turn * (w.cross(&w.cross(&u)) + 2.0 * w.cross(&du));
            let (d, rate) = rate_matrix(c);
            let own = rate * dc;
            let carried = matrix(turn_by(c)).transpose() * w;
            let angular = own.cross(&carried) + own * (0.5 * c.dot(&dc) / d);
            let angular = -(matrix(frame.pose.rotation).transpose() * angular);
            for k in 0..3 {
                x[k] += linear[k];
                x[3 + k] += angular[k];
            }
        }
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, frame) in self.frames.iter().enumerate() {
            let (_, turn) = floating(&parents, frame.body);
            let (u, c) = deformation(frame, &parents);
            let g = turn.transpose() * vec3(force, 6 * e);
            let torque = matrix(frame.pose.rotation) * vec3(force, 6 * e + 3);
            let (d, rate) = rate_matrix(c);
            let own = matrix(turn_by(c));
            let pulled = rate.transpose() * torque;
            let width = out.width(e);
            let block = out.block_mut(e);
            write_arm_stiffness(u, g, block, width, 0);
            for (at, shape) in frame.shapes.iter().enumerate() {
                let turned = own * (rate * Vec3::from(shape.rotation)).cross(&torque);
                let coupling = Vec3::from(shape.displacement).cross(&g) + 0.5 * turned;
                add_coupling(coupling, 6 + at, width, block);
                for (other_at, other) in frame.shapes.iter().enumerate() {
                    let (a, b) = (Vec3::from(shape.rotation), Vec3::from(other.rotation));
                    let both = a.dot(&pulled) * c.dot(&b) + b.dot(&pulled) * c.dot(&a);
                    block[(6 + at) * width + 6 + other_at] = -0.25 * both / d;
                }
            }
        }
    }
}
