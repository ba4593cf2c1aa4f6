//! Forces that are constant in world axes.

use crate::validate::{check_all_finite, check_size, check_space};
use crate::{At, Field, ForceField, ModelError, Space};
use pliant_dense::{rotation, vec3};

/// The same force on every element, constant in world axes; on bodies it acts at the centre of
/// mass.
///
/// **Equation.** `f = F`; energy `-F . x`. On a volume coordinate `F` is a pressure difference (Pa)
/// that does not change with the volume. The coordinates of `F` are its inputs.
///
/// **Use.** Loads that do not follow the motion; a constant pressure, when it acts on a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantForce {
    force: Vec<f64>,
}

impl ConstantForce {
    /// Force (N), one number per coordinate of an element (three for bodies).
    pub fn new(force: &[f64]) -> Self {
        Self {
            force: force.to_vec(),
        }
    }
}

impl ForceField for ConstantForce {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        let expected = match space {
            Space::Rigid3 => 3,
            Space::Real(n) => n,
        };
        check_size(
            name,
            Field::Forces,
            "force coordinates",
            expected,
            self.force.len(),
        )
    }

    fn energy(&self, At { space, x, inputs, .. }: At<'_>) -> f64 {
        -x.chunks_exact(space.position_size())
            .map(|x| x.iter().zip(inputs).map(|(x, f)| x * f).sum::<f64>())
            .sum::<f64>()
    }

    fn add_force(&self, At { space, inputs, .. }: At<'_>, f: &mut [f64]) {
        for f in f.chunks_exact_mut(space.velocity_size()) {
            for (f, g) in f.iter_mut().zip(inputs) {
                *f += g;
            }
        }
    }

    fn inputs(&self) -> &[f64] {
        &self.force
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_all_finite(name, Field::Forces, inputs)
    }

    fn is_linear(&self) -> bool {
        true
    }
}

/// A torque on every body, constant in world axes.
///
/// **Equation.** `tau_body = R^T T` for a body of rotation `R`. There is no potential (the energy
/// is zero) and no stiffness: the law is explicit. The coordinates of `T` are its inputs.
///
/// **Use.** Loads on bodies whose axis stays in space; a motor whose axis turns with the body is a
/// [`BodyForce`](crate::BodyForce).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torque {
    torque: [f64; 3],
}

impl Torque {
    /// Torque `T` (N m) in world axes.
    pub fn new(torque: [f64; 3]) -> Self {
        Self { torque }
    }
}

impl ForceField for Torque {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_space(name, "rigid bodies", space, space == Space::Rigid3)
    }

    fn add_force(&self, At { x, inputs, .. }: At<'_>, f: &mut [f64]) {
        for (x, f) in x.chunks_exact(7).zip(f.chunks_exact_mut(6)) {
            let q = rotation::conjugate([x[3], x[4], x[5], x[6]]);
            let torque = rotation::rotate(q, vec3(inputs, 0));
            for k in 0..3 {
                f[3 + k] += torque[k];
            }
        }
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn inputs(&self) -> &[f64] {
        &self.torque
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_all_finite(name, Field::Torque, inputs)
    }
}
