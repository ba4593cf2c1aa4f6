//! Drag of a fluid: linear and quadratic in the speed.

use crate::validate::{check_not_negative, check_space};
use crate::{At, Blocks, Field, ForceField, ModelError, Space};

/// Linear and quadratic drag on every point, or on the centre of mass and the spin of every body.
///
/// **Equation.** `f = -(a + c |v|) v`, with `B = (a + c |v|) I + c v v^T/|v|`. For bodies the same,
/// with coefficients of their own, gives a torque from the angular velocity. There is no energy.
///
/// **Use.** Motion through air or water: `c` is half the density times the drag coefficient times
/// the area, `a` is for slow flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    linear: [f64; 2],
    angular: [f64; 2],
}

impl Drag {
    /// Coefficients `a` (N s/m) and `c` (N s^2/m^2), zero or more.
    pub fn new(a: f64, c: f64) -> Self {
        Self {
            linear: [a, c],
            angular: [0.0; 2],
        }
    }

    /// Coefficients of the torque on bodies: `a` (N m s/rad) and `c` (N m s^2/rad^2), zero or more.
    #[must_use]
    pub fn with_angular(mut self, a: f64, c: f64) -> Self {
        self.angular = [a, c];
        self
    }

    /// The parts of an element: first coordinate, number of coordinates, coefficients.
    fn parts(&self, space: Space) -> [(usize, usize, [f64; 2]); 2] {
        match space {
            Space::Rigid3 => [(0, 3, self.linear), (3, 3, self.angular)],
            Space::Real(n) => [(0, n, self.linear), (n, 0, self.angular)],
        }
    }
}

/// The length of a vector, without overflow.
fn norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |sum: f64, v| sum.hypot(*v))
}

impl ForceField for Drag {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        for c in self.linear {
            check_not_negative(name, Field::DragCoefficients, c)?;
        }
        for c in self.angular {
            check_not_negative(name, Field::AngularDragCoefficients, c)?;
        }
        let fits = space == Space::Rigid3 || self.angular == [0.0; 2];
        check_space(name, "rigid bodies (for angular drag)", space, fits)
    }

    fn add_force(&self, At { space, v, .. }: At<'_>, f: &mut [f64]) {
        let size = space.velocity_size();
        for (v, f) in v.chunks_exact(size).zip(f.chunks_exact_mut(size)) {
            for (first, n, [a, c]) in self.parts(space) {
                let v = &v[first..first + n];
                let b = a + c * norm(v);
                for (f, v) in f[first..].iter_mut().zip(v) {
                    *f -= b * v;
                }
            }
        }
    }

    fn damping(&self, At { space, v, .. }: At<'_>, out: &mut Blocks) {
        let size = space.velocity_size();
        for (e, v) in v.chunks_exact(size).enumerate() {
            let block = out.block_mut(e);
            for (first, n, [a, c]) in self.parts(space) {
                let v = &v[first..first + n];
                let speed = norm(v);
                for i in 0..n {
                    for j in 0..n {
                        let along = if speed > 0.0 { v[i] * (v[j] / speed) } else { 0.0 };
                        block[(first + i) * size + first + j] = c * along;
                    }
                    block[(first + i) * size + first + i] += a + c * speed;
                }
            }
        }
    }

    fn is_linear(&self) -> bool {
        false
    }
}
