//! Points of flexible bodies whose deformation is a sum of modes.

use super::rigid_points::{frame, write_arm_stiffness};
use super::{check_dependency, points};
use crate::validate::{check_all_finite, check_rigid};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3, skew, vec3};

/// A point of a flexible body.
#[derive(Clone, Debug, PartialEq)]
pub struct ModalPoint {
    /// The floating frame: an element of the first parent.
    pub body: usize,
    /// Where it is without deformation, in the axes of the frame about its origin (m).
    pub local: [f64; 3],
    /// Its displacement for a unit of each mode, in the axes of the frame: elements of the second
    /// parent, distinct. Modes that leave it in place may be left out.
    pub shapes: Vec<(usize, [f64; 3])>,
}

/// Points of flexible bodies: each moves with a floating frame, and against it by a sum of modes.
///
/// **Equation.** `x = p + R u` with `u = X + sum phi_k q_k` (m) in the axes of the frame, and the
/// amplitudes `q_k` of the modes. `J = (I, -R [u], R phi_k)`,
/// `(dJ/dt) v = R (w x (w x u) + 2 w x sum phi_k dq_k/dt)`; with `g = R^T f` for a force `f`, `G`
/// is `sym([u] [g])` on the rotation, `phi_k x g` between the rotation and `q_k`, and zero between
/// amplitudes.
///
/// **Parents.** Bodies, then scalars.
///
/// **Use.** Nodes and surfaces of bodies that are reduced by Craig and Bampton's method or another
/// modal basis, in large motion with small deformation (floating frame of reference: Shabana 2005,
/// Dynamics of Multibody Systems, chapter 5).
#[derive(Clone, Debug, PartialEq)]
pub struct ModalPoints {
    points: Vec<ModalPoint>,
}

/// The dependency on a mode.
pub(super) const fn mode(k: usize) -> Dependency {
    Dependency::new(1, k)
}

/// Checks the modes of an element: scalars, distinct, with finite shapes.
pub(super) fn check_shapes<'a>(
    name: &str,
    element: usize,
    shapes: impl Iterator<Item = (usize, &'a [f64])> + Clone,
    parents: &[(Space, usize)],
) -> Result<(), ModelError> {
    for (place, (k, shape)) in shapes.clone().enumerate() {
        points::check_real(name, mode(k), 1, parents)?;
        check_all_finite(name, Field::ModeShapes, shape)?;
        if shapes.clone().take(place).any(|(other, _)| other == k) {
            let reason = "one of its modes has two shapes";
            return Err(points::degenerate(name, element, reason));
        }
    }
    Ok(())
}

impl ModalPoints {
    /// One point for each of these.
    pub fn new(points: &[ModalPoint]) -> Self {
        Self {
            points: points.to_vec(),
        }
    }
}

/// The arm `u` (m), and its rate in the axes of the frame for the rates of the amplitudes.
fn arm_and_rate(point: &ModalPoint, parents: &Parents<'_>) -> (Vec3, Vec3) {
    let (mut u, mut rate) = (Vec3::from(point.local), Vec3::zeros());
    for (k, shape) in &point.shapes {
        let shape = Vec3::from(*shape);
        u += parents.position(mode(*k))[0] * shape;
        rate += parents.velocity(mode(*k))[0] * shape;
    }
    (u, rate)
}

/// The arm `u` (m) alone: velocities may not be known.
fn arm(point: &ModalPoint, parents: &Parents<'_>) -> Vec3 {
    let shapes = point.shapes.iter();
    shapes.fold(Vec3::from(point.local), |u, (k, shape)| {
        u + parents.position(mode(*k))[0] * Vec3::from(*shape)
    })
}

/// Centre and axes of the frame of an element.
pub(super) fn floating(parents: &Parents<'_>, body: usize) -> (Vec3, Mat3) {
    frame(parents.position(Dependency::new(0, body)))
}

/// Angular velocity of the frame of an element, in its axes (rad/s).
pub(super) fn spin(parents: &Parents<'_>, body: usize) -> Vec3 {
    vec3(parents.velocity(Dependency::new(0, body)), 3)
}

/// Writes the translation of the frame, and of a point at `u` with it, into the first three rows.
pub(super) fn write_rigid_rows(turn: Mat3, u: Vec3, width: usize, block: &mut [f64]) {
    let angular = -turn * skew(u);
    for i in 0..3 {
        block[i * width + i] = 1.0;
        for j in 0..3 {
            block[i * width + 3 + j] = angular[(i, j)];
        }
    }
}

/// Writes the column of a mode.
pub(super) fn write_column(column: Vec3, first_row: usize, at: usize, width: usize, block: &mut [f64]) {
    for i in 0..3 {
        block[(first_row + i) * width + at] = column[i];
    }
}

/// Adds a symmetric coupling of the rotation with a mode.
pub(super) fn add_coupling(coupling: Vec3, at: usize, width: usize, block: &mut [f64]) {
    for i in 0..3 {
        block[(3 + i) * width + at] += coupling[i];
        block[at * width + 3 + i] += coupling[i];
    }
}

impl Mapping for ModalPoints {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3), self.points.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (element, point) in self.points.iter().enumerate() {
            let found = check_dependency(name, Dependency::new(0, point.body), parents)?;
            check_rigid(name, found)?;
            check_all_finite(name, Field::LocalPoints, &point.local)?;
            let shapes = point.shapes.iter().map(|(k, shape)| (*k, &shape[..]));
            check_shapes(name, element, shapes, parents)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        let point = &self.points[element];
        out.push(Dependency::new(0, point.body));
        out.extend(point.shapes.iter().map(|(k, _)| mode(*k)));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (x, point) in child.as_chunks_mut::<3>().0.iter_mut().zip(&self.points) {
            let (p, turn) = floating(&parents, point.body);
            *x = (p + turn * arm(point, &parents)).into();
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, point) in self.points.iter().enumerate() {
            let (_, turn) = floating(&parents, point.body);
            let width = out.width(e);
            let block = out.block_mut(e);
            write_rigid_rows(turn, arm(point, &parents), width, block);
            for (at, (_, shape)) in point.shapes.iter().enumerate() {
                write_column(turn * Vec3::from(*shape), 0, 6 + at, width, block);
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (x, point) in child.as_chunks_mut::<3>().0.iter_mut().zip(&self.points) {
            let (_, turn) = floating(&parents, point.body);
            let w = spin(&parents, point.body);
            let (u, rate) = arm_and_rate(point, &parents);
            let bias = turn * (w.cross(&w.cross(&u)) + 2.0 * w.cross(&rate));
            for k in 0..3 {
                x[k] += bias[k];
            }
        }
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, point) in self.points.iter().enumerate() {
            let (_, turn) = floating(&parents, point.body);
            let g = turn.transpose() * vec3(force, 3 * e);
            let width = out.width(e);
            let block = out.block_mut(e);
            write_arm_stiffness(arm(point, &parents), g, block, width, 0);
            for (at, (_, shape)) in point.shapes.iter().enumerate() {
                add_coupling(Vec3::from(*shape).cross(&g), 6 + at, width, block);
            }
        }
    }
}
