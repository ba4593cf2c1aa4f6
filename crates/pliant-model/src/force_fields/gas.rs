//! A gas in a closed volume.

use crate::validate::{check_finite, check_positive, check_space};
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, RowLaw, Space};

/// A fixed amount of gas behind every volume coordinate, against an ambient pressure.
///
/// **Equation.** `f = p - p_a` with `p V^gamma = p0 V0^gamma`; `K = gamma p/V`; energy
/// `p0 V0 ((V/V0)^(1 - gamma) - 1)/(gamma - 1) + p_a (V - V0)`, with `-p0 V0 ln(V/V0)` for
/// `gamma = 1`. `V` is the coordinate (m^3), `p` the pressure of the gas (Pa), `p_a` the ambient
/// pressure (Pa), which is its input. Not defined at `V <= 0`: the force is then not a finite
/// number.
///
/// **Use.** Air springs, balloons and pneumatic chambers, on a mapping that gives the volume. A
/// pressure that does not depend on the volume is a [`ConstantForce`](crate::ConstantForce) there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gas {
    pressure: f64,
    volume: f64,
    exponent: f64,
    ambient: [f64; 1],
}

impl Gas {
    /// Pressure `p0` (Pa) at the volume `V0` (m^3) and the exponent `gamma`: 1 at constant
    /// temperature, 1.4 for air without exchange of heat; all positive. The ambient pressure is
    /// zero.
    pub fn new(pressure: f64, volume: f64, exponent: f64) -> Self {
        Self {
            pressure,
            volume,
            exponent,
            ambient: [0.0],
        }
    }

    /// Sets the ambient pressure `p_a` (Pa).
    #[must_use]
    pub fn with_ambient(mut self, pressure: f64) -> Self {
        self.ambient = [pressure];
        self
    }

    /// Pressure of the gas at a volume.
    fn pressure_at(&self, volume: f64) -> f64 {
        self.pressure * (self.volume / volume).powf(self.exponent)
    }
}

impl ForceField for Gas {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_space(name, "scalars (volumes)", space, space == Space::Real(1))?;
        check_positive(name, Field::Pressure, self.pressure)?;
        check_positive(name, Field::Volume, self.volume)?;
        check_positive(name, Field::Exponent, self.exponent)
    }

    fn energy(&self, At { x, inputs, .. }: At<'_>) -> f64 {
        let (work, g) = (self.pressure * self.volume, self.exponent - 1.0);
        x.iter()
            .map(|v| {
                let log = (v / self.volume).ln();
                let gas = if g == 0.0 { -log } else { (-g * log).exp_m1() / g };
                work * gas + inputs[0] * (v - self.volume)
            })
            .sum()
    }

    fn add_force(&self, At { x, inputs, .. }: At<'_>, f: &mut [f64]) {
        for (f, x) in f.iter_mut().zip(x) {
            *f += self.pressure_at(*x) - inputs[0];
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        out.set_diagonal(|i| self.exponent * self.pressure_at(x[i]) / x[i]);
        Ok(())
    }

    fn row_law(&self) -> RowLaw {
        RowLaw::Elastic
    }

    fn compliance(&self, At { x, .. }: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|i| x[i] / (self.exponent * self.pressure_at(x[i])));
    }

    fn deformation(&self, At { x, inputs, .. }: At<'_>, out: &mut [f64]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = x / self.exponent * (inputs[0] / self.pressure_at(*x) - 1.0);
        }
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn inputs(&self) -> &[f64] {
        &self.ambient
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_finite(name, Field::AmbientPressure, inputs[0])
    }
}
