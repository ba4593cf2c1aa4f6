//! Viscous damping.

use crate::validate::{check_not_negative, check_space};
use crate::{At, Blocks, Field, ForceField, ModelError, RowLaw, Space};
use std::ops::Range;

/// Viscous damping in proportion to the velocity.
///
/// **Equation.** `f = -b v` for every coordinate; bodies have one `b` for the velocity of the
/// centre of mass (N s/m) and one for the angular velocity (N m s/rad). Treated as a compliance it
/// is the row `v + f/b = 0`, for `b > 0` and on real coordinates only.
///
/// **Use.** Dashpots between points (on a distance or a difference), friction in joints, background
/// damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damping {
    linear: f64,
    angular: f64,
}

impl Damping {
    /// Coefficient `b` for every coordinate of points and scalars, or for the linear velocity of
    /// bodies (N s/m); zero or more.
    pub fn new(linear: f64) -> Self {
        Self { linear, angular: 0.0 }
    }

    /// Coefficient for the angular velocity of bodies (N m s/rad), zero or more.
    #[must_use]
    pub fn with_angular(mut self, angular: f64) -> Self {
        self.angular = angular;
        self
    }

    /// Coefficient of coordinate `i` of a node of bodies or not.
    fn at(&self, bodies: bool, i: usize) -> f64 {
        if bodies && i % 6 >= 3 {
            self.angular
        } else {
            self.linear
        }
    }
}

impl ForceField for Damping {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_not_negative(name, Field::Damping, self.linear)?;
        check_not_negative(name, Field::AngularDamping, self.angular)?;
        let fits = space == Space::Rigid3 || self.angular == 0.0;
        check_space(name, "rigid bodies (for angular damping)", space, fits)
    }

    fn add_force(&self, At { space, v, .. }: At<'_>, f: &mut [f64]) {
        let bodies = space == Space::Rigid3;
        for (i, (f, v)) in f.iter_mut().zip(v).enumerate() {
            *f -= self.at(bodies, i) * v;
        }
    }

    fn damping(&self, At { space, .. }: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|i| self.at(space == Space::Rigid3, i));
    }

    fn row_law(&self) -> RowLaw {
        if self.linear > 0.0 {
            RowLaw::Viscous
        } else {
            RowLaw::None
        }
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|_| self.linear.recip());
    }

    fn restrict(&self, _space: Space, _elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(*self))
    }

    fn is_linear(&self) -> bool {
        true
    }
}
