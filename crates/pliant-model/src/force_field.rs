//! Force fields: energy, force and its derivatives, or the inverse view, a compliance.

use crate::{Blocks, ModelError, Space};
use std::fmt::Debug;

/// The stiffness of this element has no inverse, so that there is no compliance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInvertible {
    /// Element of the node.
    pub element: usize,
}

/// Forces on one node, element by element. Coupling between elements is the business of a mapping (a difference, a
/// distance): the force field then acts on the mapped coordinate.
///
/// Two views of the same law. As a *stiffness*: `f = -dV/dx - B v`, `K = d2V/dx2`, `B = -df/dv`. As a *compliance*:
/// `C f = -(x + d v)` with `C = K^-1` and the relaxation time `d` (s); then `C = 0` is a hard constraint.
pub trait ForceField: Debug + Send + Sync {
    /// Checks the parameters against the node's space and number of elements; `name` is for errors.
    ///
    /// # Errors
    /// A [`ModelError`] naming what is wrong.
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError>;

    /// Potential energy `V` (J) at positions `x` of a node of `space`; zero for a hard law, which stores none.
    fn energy(&self, space: Space, x: &[f64]) -> f64;

    /// Adds the force on a node of `space`, damping included.
    fn add_force(&self, space: Space, x: &[f64], v: &[f64], f: &mut [f64]);

    /// Writes `K`, one square block per element.
    ///
    /// # Errors
    /// [`NotInvertible`] names an element of compliance zero.
    fn stiffness(&self, x: &[f64], out: &mut Blocks) -> Result<(), NotInvertible>;

    /// Writes `B`, one square positive-semidefinite block per element.
    fn damping(&self, _x: &[f64], _v: &[f64], _out: &mut Blocks) {}

    /// Writes `C`, one square positive-semidefinite block per element.
    ///
    /// # Errors
    /// [`NotInvertible`] if there is no compliance.
    fn compliance(&self, _out: &mut Blocks) -> Result<(), NotInvertible> {
        Err(NotInvertible { element: 0 })
    }

    /// Relaxation time `d` of the compliance view (s).
    fn relaxation_time(&self) -> f64 {
        0.0
    }
}

/// One compliance for every coordinate of a node: `f = -(x + d v)/c`. From soft spring (large) to hard constraint (zero).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformCompliance {
    compliance: f64,
    relaxation_time: f64,
}

impl UniformCompliance {
    /// Compliance `c` [m/N, rad/(N m)].
    pub fn new(compliance: f64) -> Self {
        Self {
            compliance,
            relaxation_time: 0.0,
        }
    }

    /// The spring of stiffness `k` [N/m, N m/rad].
    pub fn from_stiffness(stiffness: f64) -> Self {
        Self::new(stiffness.recip())
    }

    /// Adds the damping `b = d/c` through the relaxation time `d` (s).
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }
}

/// One compliance per coordinate: `f_i = -(x_i + d v_i)/c_i`.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagonalCompliance {
    compliances: Vec<f64>,
    relaxation_time: f64,
}

impl DiagonalCompliance {
    /// Compliances [m/N, rad/(N m)], one per coordinate of the node, or per coordinate of one element for all elements.
    pub fn new(compliances: &[f64]) -> Self {
        Self {
            compliances: compliances.to_vec(),
            relaxation_time: 0.0,
        }
    }

    /// Adds the damping `b_i = d/c_i` through the relaxation time `d` (s).
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    fn at(&self, i: usize) -> f64 {
        self.compliances[i % self.compliances.len()]
    }
}

fn check_finite(name: &str, what: &'static str, value: f64) -> Result<(), ModelError> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(ModelError::NotFinite {
            name: name.into(),
            what,
            value,
        })
    }
}

fn check_not_negative(name: &str, what: &'static str, value: f64) -> Result<(), ModelError> {
    check_finite(name, what, value)?;
    if value >= 0.0 {
        Ok(())
    } else {
        Err(ModelError::OutOfRange {
            name: name.into(),
            what,
            value,
            bound: "zero or more",
        })
    }
}

fn check_real(name: &str, space: Space) -> Result<(), ModelError> {
    if space == Space::Rigid3 {
        Err(ModelError::Space {
            name: name.into(),
            expected: "scalars or points (map the bodies first)",
            found: space,
        })
    } else {
        Ok(())
    }
}

/// The shared part of uniform and diagonal laws; `c(i)` is the compliance of coordinate `i`.
mod diagonal {
    use super::{Blocks, NotInvertible};

    pub(super) fn energy(c: impl Fn(usize) -> f64, x: &[f64]) -> f64 {
        x.iter()
            .enumerate()
            .map(|(i, x)| if c(i) > 0.0 { 0.5 * x * x / c(i) } else { 0.0 })
            .sum()
    }

    pub(super) fn add_force(c: impl Fn(usize) -> f64, d: f64, x: &[f64], v: &[f64], f: &mut [f64]) {
        for (i, f) in f.iter_mut().enumerate() {
            *f -= (x[i] + d * v[i]) / c(i);
        }
    }

    pub(super) fn blocks(c: impl Fn(usize) -> f64, out: &mut Blocks) {
        for e in 0..out.len() {
            let size = out.width(e);
            for i in 0..size {
                out.block_mut(e)[i * size + i] = c(e * size + i);
            }
        }
    }

    pub(super) fn inverse_blocks(
        c: impl Fn(usize) -> f64,
        s: f64,
        out: &mut Blocks,
    ) -> Result<(), NotInvertible> {
        for e in 0..out.len() {
            let size = out.width(e);
            for i in 0..size {
                let c = c(e * size + i);
                if c == 0.0 {
                    return Err(NotInvertible { element: e });
                }
                out.block_mut(e)[i * size + i] = s / c;
            }
        }
        Ok(())
    }
}

impl ForceField for UniformCompliance {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_real(name, space)?;
        check_not_negative(name, "the compliance", self.compliance)?;
        check_not_negative(name, "the relaxation time", self.relaxation_time)
    }

    fn energy(&self, _space: Space, x: &[f64]) -> f64 {
        diagonal::energy(|_| self.compliance, x)
    }

    fn add_force(&self, _space: Space, x: &[f64], v: &[f64], f: &mut [f64]) {
        diagonal::add_force(|_| self.compliance, self.relaxation_time, x, v, f);
    }

    fn stiffness(&self, _x: &[f64], out: &mut Blocks) -> Result<(), NotInvertible> {
        diagonal::inverse_blocks(|_| self.compliance, 1.0, out)
    }

    fn damping(&self, _x: &[f64], _v: &[f64], out: &mut Blocks) {
        if self.compliance > 0.0 && self.relaxation_time > 0.0 {
            diagonal::blocks(|_| self.relaxation_time / self.compliance, out);
        }
    }

    fn compliance(&self, out: &mut Blocks) -> Result<(), NotInvertible> {
        diagonal::blocks(|_| self.compliance, out);
        Ok(())
    }

    fn relaxation_time(&self) -> f64 {
        self.relaxation_time
    }
}

impl ForceField for DiagonalCompliance {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_real(name, space)?;
        let (one, all) = (space.velocity_size(), space.velocity_size() * count);
        if self.compliances.len() != one && self.compliances.len() != all {
            let found = self.compliances.len();
            return Err(ModelError::Size {
                name: name.into(),
                what: "compliances",
                expected: all,
                found,
            });
        }
        for c in &self.compliances {
            check_not_negative(name, "a compliance", *c)?;
        }
        check_not_negative(name, "the relaxation time", self.relaxation_time)
    }

    fn energy(&self, _space: Space, x: &[f64]) -> f64 {
        diagonal::energy(|i| self.at(i), x)
    }

    fn add_force(&self, _space: Space, x: &[f64], v: &[f64], f: &mut [f64]) {
        diagonal::add_force(|i| self.at(i), self.relaxation_time, x, v, f);
    }

    fn stiffness(&self, _x: &[f64], out: &mut Blocks) -> Result<(), NotInvertible> {
        diagonal::inverse_blocks(|i| self.at(i), 1.0, out)
    }

    fn damping(&self, _x: &[f64], _v: &[f64], out: &mut Blocks) {
        if self.relaxation_time > 0.0 {
            diagonal::blocks(
                |i| {
                    if self.at(i) > 0.0 {
                        self.relaxation_time / self.at(i)
                    } else {
                        0.0
                    }
                },
                out,
            );
        }
    }

    fn compliance(&self, out: &mut Blocks) -> Result<(), NotInvertible> {
        diagonal::blocks(|i| self.at(i), out);
        Ok(())
    }

    fn relaxation_time(&self) -> f64 {
        self.relaxation_time
    }
}

/// Viscous damping `f = -b v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damping {
    linear: f64,
    angular: f64,
}

impl Damping {
    /// Coefficient `b` for every coordinate of points and scalars, or for the linear velocity of bodies [N s/m].
    pub fn new(linear: f64) -> Self {
        Self { linear, angular: 0.0 }
    }

    /// Coefficient for the angular velocity of bodies [N m s/rad].
    #[must_use]
    pub fn with_angular(mut self, angular: f64) -> Self {
        self.angular = angular;
        self
    }

    fn at(&self, size: usize, i: usize) -> f64 {
        if size == 6 && i >= 3 {
            self.angular
        } else {
            self.linear
        }
    }
}

impl ForceField for Damping {
    fn check(&self, name: &str, _space: Space, _count: usize) -> Result<(), ModelError> {
        check_not_negative(name, "the damping", self.linear)?;
        check_not_negative(name, "the angular damping", self.angular)
    }

    fn energy(&self, _space: Space, _x: &[f64]) -> f64 {
        0.0
    }

    fn add_force(&self, space: Space, _x: &[f64], v: &[f64], f: &mut [f64]) {
        let size = space.velocity_size();
        for (i, f) in f.iter_mut().enumerate() {
            *f -= self.at(size, i % size) * v[i];
        }
    }

    fn stiffness(&self, _x: &[f64], _out: &mut Blocks) -> Result<(), NotInvertible> {
        Ok(())
    }

    fn damping(&self, _x: &[f64], _v: &[f64], out: &mut Blocks) {
        for e in 0..out.len() {
            let size = out.width(e);
            for i in 0..size {
                out.block_mut(e)[i * size + i] = self.at(size, i);
            }
        }
    }
}

/// The same force on every element, constant in world axes; on bodies it acts at the centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantForce {
    force: Vec<f64>,
}

impl ConstantForce {
    /// Force (N), one number per coordinate of a point (three for bodies).
    pub fn new(force: &[f64]) -> Self {
        Self {
            force: force.to_vec(),
        }
    }
}

impl ForceField for ConstantForce {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        let expected = space.velocity_size().min(3);
        if self.force.len() != expected {
            let found = self.force.len();
            return Err(ModelError::Size {
                name: name.into(),
                what: "force coordinates",
                expected,
                found,
            });
        }
        self.force
            .iter()
            .try_for_each(|f| check_finite(name, "a force", *f))
    }

    fn energy(&self, space: Space, x: &[f64]) -> f64 {
        -x.chunks_exact(space.position_size())
            .map(|x| x.iter().zip(&self.force).map(|(x, f)| x * f).sum::<f64>())
            .sum::<f64>()
    }

    fn add_force(&self, space: Space, _x: &[f64], _v: &[f64], f: &mut [f64]) {
        for f in f.chunks_exact_mut(space.velocity_size()) {
            for (f, g) in f.iter_mut().zip(&self.force) {
                *f += g;
            }
        }
    }

    fn stiffness(&self, _x: &[f64], _out: &mut Blocks) -> Result<(), NotInvertible> {
        Ok(())
    }
}
