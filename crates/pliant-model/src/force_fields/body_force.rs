//! Forces and torques fixed in the axes of a body.

use crate::validate::{check_all_finite, check_finite, check_space};
use crate::{At, Field, ForceField, ModelError, Space};
use pliant_dense::{Vec3, rotation, vec3};

/// A follower force at a point of every body, and a torque, both fixed in body axes.
///
/// **Equation.** Force `R F` on the centre of mass and torque `p x F + T` in body axes, for a body
/// of rotation `R`. There is no potential (the energy is zero) and no stiffness: the law is
/// explicit. `F` (three numbers), then `T`, are its inputs.
///
/// **Use.** Thrusters, propellers, motors and jets that turn with the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyForce {
    point: [f64; 3],
    load: [f64; 6],
}

impl BodyForce {
    /// Force `F` (N) at the point `p` (m) of the body, both in body axes.
    pub fn new(point: [f64; 3], force: [f64; 3]) -> Self {
        let [x, y, z] = force;
        Self {
            point,
            load: [x, y, z, 0.0, 0.0, 0.0],
        }
    }

    /// Adds the torque `T` (N m) in body axes.
    #[must_use]
    pub fn with_torque(mut self, torque: [f64; 3]) -> Self {
        self.load[3..].copy_from_slice(&torque);
        self
    }
}

impl ForceField for BodyForce {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_space(name, "rigid bodies", space, space == Space::Rigid3)?;
        for p in self.point {
            check_finite(name, Field::PointOfAttack, p)?;
        }
        Ok(())
    }

    fn add_force(&self, At { x, inputs, .. }: At<'_>, f: &mut [f64]) {
        let force = vec3(inputs, 0);
        let torque = Vec3::from(self.point).cross(&force) + vec3(inputs, 3);
        for (x, f) in x.chunks_exact(7).zip(f.chunks_exact_mut(6)) {
            let turned = rotation::rotate([x[3], x[4], x[5], x[6]], force);
            for k in 0..3 {
                f[k] += turned[k];
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
        &self.load
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_all_finite(name, Field::ForceAndTorque, inputs)
    }
}
