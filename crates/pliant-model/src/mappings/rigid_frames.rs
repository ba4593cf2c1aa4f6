//! Bodies that ride on bodies.

use super::check_dependency;
use super::frames::check_pose;
use super::rigid_points::{body_rotation, write_arm_stiffness};
use crate::validate::check_rigid;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Pose, Space};
use pliant_dense::rotation::{matrix, multiply};
use pliant_dense::{Vec3, skew, vec3};

/// Rigid frames that ride on bodies: each a body of its own to what is attached to it.
///
/// **Equation.** `p_c = p + R r` and `q_c = q q_off`, the offset `(r, q_off)` in body axes (m).
/// With the child's angular velocity in the child's axes, `J = ((I, -R [r]), (0, R_off^T))` and
/// `(dJ/dt) v = (R (w x (w x r)), 0)`. Of a child force `(f, tau)`, torque in the child's axes,
/// only `f` turns against the body: `G = sym([r] [R^T f])` on the rotation.
///
/// **Parents.** Bodies.
///
/// **Use.** Tool points, markers and mounting flanges, to which points, joints and beams are
/// attached in their own axes.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidFrames {
    frames: Vec<(Dependency, Pose)>,
}

impl RigidFrames {
    /// Frames on bodies of the only parent: (body, pose in body axes about the centre of mass (m)).
    pub fn new(frames: &[(usize, Pose)]) -> Self {
        Self {
            frames: frames
                .iter()
                .map(|(e, pose)| (Dependency::new(0, *e), *pose))
                .collect(),
        }
    }

    /// Frames on bodies of several parents.
    pub fn of_parents(frames: &[(Dependency, Pose)]) -> Self {
        Self {
            frames: frames.to_vec(),
        }
    }
}

impl Mapping for RigidFrames {
    fn child(&self) -> (Space, usize) {
        (Space::Rigid3, self.frames.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (at, pose) in &self.frames {
            let found = check_dependency(name, *at, parents)?;
            check_rigid(name, found)?;
            check_pose(name, Field::Frames, pose)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.frames[element].0);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (x, (at, pose)) in child.as_chunks_mut::<7>().0.iter_mut().zip(&self.frames) {
            let body = parents.position(*at);
            let q = body_rotation(body);
            let p = vec3(body, 0) + matrix(q) * Vec3::from(pose.position);
            x[..3].copy_from_slice(p.as_slice());
            x[3..].copy_from_slice(&multiply(q, pose.rotation));
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, (at, pose)) in self.frames.iter().enumerate() {
            let arm = -matrix(body_rotation(parents.position(*at))) * skew(pose.position.into());
            let turn = matrix(pose.rotation);
            let block = out.block_mut(e);
            for i in 0..3 {
                block[i * 6 + i] = 1.0;
                for j in 0..3 {
                    block[i * 6 + 3 + j] = arm[(i, j)];
                    block[(3 + i) * 6 + 3 + j] = turn[(j, i)];
                }
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (x, (at, pose)) in child.as_chunks_mut::<6>().0.iter_mut().zip(&self.frames) {
            let w = vec3(parents.velocity(*at), 3);
            let turn = matrix(body_rotation(parents.position(*at)));
            let bias = turn * w.cross(&w.cross(&Vec3::from(pose.position)));
            for k in 0..3 {
                x[k] += bias[k];
            }
        }
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, (at, pose)) in self.frames.iter().enumerate() {
            let turn = matrix(body_rotation(parents.position(*at)));
            let f = turn.transpose() * vec3(force, 6 * e);
            write_arm_stiffness(pose.position.into(), f, out.block_mut(e), 6, 0);
        }
    }
}
