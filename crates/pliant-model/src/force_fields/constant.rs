//! Constant forces.

use crate::force_field::check_finite;
use crate::{ForceField, ModelError, Space};

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
}
