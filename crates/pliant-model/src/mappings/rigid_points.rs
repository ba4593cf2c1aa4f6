//! Points that ride on rigid bodies.

use super::check_dependency;
use crate::space::quaternion;
use crate::validate::{check_all_finite, check_rigid};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::rotation;
use pliant_dense::{Mat3, Vec3, skew, vec3};

/// Particles attached to bodies.
///
/// **Equation.** `x_c = p + R r` (m) with `r` in body axes (m). With angular velocity in body axes:
/// `J = (I, -R [r])`, `(dJ/dt) v = R (w x (w x r))`, and for a force `f` the rotational block
/// `G = sym([r] [R^T f])` (theory/kinematics.md of the book).
///
/// **Parents.** Bodies.
///
/// **Use.** Where cables, springs, ball joints and point loads are fixed to bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidPoints {
    points: Vec<(Dependency, [f64; 3])>,
}

impl RigidPoints {
    /// Points of bodies of the only parent: (body, local coordinates about its centre of mass (m)).
    pub fn new(points: &[(usize, [f64; 3])]) -> Self {
        Self {
            points: points.iter().map(|(e, r)| (Dependency::new(0, *e), *r)).collect(),
        }
    }

    /// Points of bodies of several parents, local coordinates likewise (m).
    pub fn of_parents(points: &[(Dependency, [f64; 3])]) -> Self {
        Self {
            points: points.to_vec(),
        }
    }
}

/// Centre and axes of a body's seven numbers.
pub(super) fn frame(x: &[f64]) -> (Vec3, Mat3) {
    let q = [x[3], x[4], x[5], x[6]];
    (vec3(x, 0), rotation::matrix(q))
}

/// Frames of bodies one after the other: that of the last one is kept, for its next point.
struct Frames<'a> {
    parents: Parents<'a>,
    last: Option<(Dependency, (Vec3, Mat3))>,
}

impl<'a> Frames<'a> {
    fn of(parents: Parents<'a>) -> Self {
        Self { parents, last: None }
    }

    /// Centre and axes of a body.
    fn at(&mut self, body: Dependency) -> (Vec3, Mat3) {
        match self.last {
            Some((last, found)) if last == body => found,
            _ => {
                let found = frame(self.parents.position(body));
                self.last = Some((body, found));
                found
            }
        }
    }
}

impl Mapping for RigidPoints {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3), self.points.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (at, r) in &self.points {
            let found = check_dependency(name, *at, parents)?;
            check_rigid(name, found)?;
            check_all_finite(name, Field::LocalPoints, r)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.points[element].0);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        let (child, _) = child.as_chunks_mut::<3>();
        let mut frames = Frames::of(parents);
        for (x, (at, r)) in child.iter_mut().zip(&self.points) {
            let (p, rotation) = frames.at(*at);
            *x = (p + rotation * Vec3::from(*r)).into();
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        let mut frames = Frames::of(parents);
        for (e, (at, r)) in self.points.iter().enumerate() {
            let (_, rotation) = frames.at(*at);
            let angular = -rotation * skew(Vec3::from(*r));
            let block = out.block_mut(e);
            for i in 0..3 {
                block[i * 6 + i] = 1.0;
                for j in 0..3 {
                    block[i * 6 + 3 + j] = angular[(i, j)];
                }
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        let (child, _) = child.as_chunks_mut::<3>();
        let mut frames = Frames::of(parents);
        for (x, (at, r)) in child.iter_mut().zip(&self.points) {
            let (_, rotation) = frames.at(*at);
            let w = vec3(parents.velocity(*at), 3);
            let bias = rotation * w.cross(&w.cross(&Vec3::from(*r)));
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
        let mut frames = Frames::of(parents);
        for (e, (at, r)) in self.points.iter().enumerate() {
            let (_, rotation) = frames.at(*at);
            let f = rotation.transpose() * vec3(force, 3 * e);
            write_arm_stiffness(Vec3::from(*r), f, out.block_mut(e), 6, 0);
        }
    }
}

/// Writes `sym([r] [f])` on the rotation of the body whose columns begin at `start`: the geometric
/// stiffness of a force `f` at `r`, both in body axes.
pub(super) fn write_arm_stiffness(r: Vec3, f: Vec3, block: &mut [f64], width: usize, start: usize) {
    // [r][f] = f r^T - (r.f) I; its symmetric part.
    let dot = r.dot(&f);
    for i in 0..3 {
        for j in 0..3 {
            let diagonal = if i == j { dot } else { 0.0 };
            block[(start + 3 + i) * width + start + 3 + j] = 0.5 * (f[i] * r[j] + r[i] * f[j]) - diagonal;
        }
    }
}

/// The rotation of a body's seven numbers.
pub(super) fn body_rotation(x: &[f64]) -> rotation::Quaternion {
    let mut numbers = [0.0; 7];
    numbers.copy_from_slice(x);
    quaternion(&numbers)
}
