//! Viscous damping.

use crate::force_field::check_not_negative;
use crate::{Blocks, ForceField, ModelError, Space};

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

    fn add_force(&self, space: Space, _x: &[f64], v: &[f64], f: &mut [f64]) {
        let size = space.velocity_size();
        for (i, f) in f.iter_mut().enumerate() {
            *f -= self.at(size, i % size) * v[i];
        }
    }

    fn damping(&self, _space: Space, _x: &[f64], _v: &[f64], out: &mut Blocks) {
        for e in 0..out.len() {
            let size = out.width(e);
            for i in 0..size {
                out.block_mut(e)[i * size + i] = self.at(size, i);
            }
        }
    }
}
