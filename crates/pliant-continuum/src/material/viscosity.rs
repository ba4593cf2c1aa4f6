//! Newtonian viscosity on strains.

use super::{STRAINS, check_points, isotropic};
use pliant_model::validate::check_not_negative;
use pliant_model::{At, Blocks, Field, ForceField, ModelError, NotInvertible, Space};

/// Viscous stress proportional to the rate of strain.
///
/// **Equation.** `sigma = z tr(de/dt) I + 2 eta dev(de/dt)` (Pa) with the shear viscosity `eta` and
/// the bulk viscosity `z` (Pa s); `B = V D` with the volume `V` (m^3) of the point. No energy, no
/// stiffness.
///
/// **Use.** Beside any material, on [`GreenLagrange`](crate::GreenLagrange) or
/// [`CorotationalStrain`](crate::CorotationalStrain), so that no rotation is damped (Kelvin and
/// Voigt's model).
#[derive(Clone, Debug, PartialEq)]
pub struct Viscosity {
    shear: f64,
    bulk: f64,
    volumes: Vec<f64>,
}

impl Viscosity {
    /// Shear and bulk viscosity (Pa s), zero or more, and the volume (m^3) of each point.
    pub fn new(shear: f64, bulk: f64, volumes: &[f64]) -> Self {
        Self {
            shear,
            bulk,
            volumes: volumes.to_vec(),
        }
    }
}

impl ForceField for Viscosity {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_not_negative(name, Field::ShearViscosity, self.shear)?;
        check_not_negative(name, Field::BulkViscosity, self.bulk)?;
        check_points(name, STRAINS, space, &self.volumes, count)
    }

    fn add_force(&self, At { v, .. }: At<'_>, f: &mut [f64]) {
        let d = isotropic(self.shear, self.bulk);
        let points = v.as_chunks::<6>().0.iter().zip(&self.volumes);
        for (f, (rate, volume)) in f.as_chunks_mut::<6>().0.iter_mut().zip(points) {
            for i in 0..6 {
                f[i] -= volume * (0..6).map(|j| d[i][j] * rate[j]).sum::<f64>();
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, _out: &mut Blocks) -> Result<(), NotInvertible> {
        Ok(())
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        let d = isotropic(self.shear, self.bulk);
        for (q, volume) in self.volumes.iter().enumerate() {
            for (o, d) in out.block_mut(q).iter_mut().zip(d.as_flattened()) {
                *o = volume * d;
            }
        }
    }

    fn is_linear(&self) -> bool {
        true
    }
}
