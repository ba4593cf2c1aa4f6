//! Linear materials on strains, as a stiffness or as a compliance.

use super::{STRAINS, check_points, isotropic};
use crate::checks::check_range;
use nalgebra::Matrix6;
use pliant_model::validate::{check_finite, check_not_negative, check_positive};
use pliant_model::{
    At, Blocks, Field, ForceField, ForceFieldPieces, ModelError, NotInvertible, RowLaw, Space,
};
use std::ops::Range;

/// Linear elasticity on strains: isotropic, orthotropic, of any constant moduli.
///
/// **Equation.** `sigma = D e` (Pa) on six strains with shears as angles, energy `V e . D e/2` with
/// the volume `V` (m^3) of the point; `K = V D`, `C = D^-1/V`. With a relaxation time `d` (s) also
/// `V d D de/dt` (Kelvin and Voigt).
///
/// **Use.** On [`SmallStrain`](crate::SmallStrain) linear elasticity, on
/// [`CorotationalStrain`](crate::CorotationalStrain) the corotational material, on
/// [`GreenLagrange`](crate::GreenLagrange) that of St Venant and Kirchhoff. As a compliance it may
/// be as stiff as it likes, and of Poisson's ratio 1/2 (hard in volume).
#[derive(Clone, Debug, PartialEq)]
pub struct LinearElastic {
    law: Law,
    volumes: Vec<f64>,
    relaxation_time: f64,
    /// `D` and its inverse, as far as they exist.
    moduli: Option<Matrix6<f64>>,
    compliance: Option<Matrix6<f64>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Law {
    Isotropic {
        young: f64,
        poisson: f64,
    },
    Deviatoric {
        shear: f64,
    },
    Orthotropic {
        young: [f64; 3],
        poisson: [f64; 3],
        shear: [f64; 3],
    },
    Moduli(Box<[[f64; 6]; 6]>),
}

impl LinearElastic {
    /// Young's modulus (Pa), Poisson's ratio (none) above -1 and up to 1/2, and the volume (m^3) of
    /// each point. At 1/2 exactly it can only be a compliance.
    pub fn isotropic(young: f64, poisson: f64, volumes: &[f64]) -> Self {
        let normal = |i: usize, j: usize| if i == j { 1.0 } else { -poisson };
        let compliance = Matrix6::from_fn(|i, j| match (i < 3, j < 3, i == j) {
            (true, true, _) => normal(i, j) / young,
            (false, false, true) => 2.0 * (1.0 + poisson) / young,
            _ => 0.0,
        });
        let bulk = young / (3.0 * (1.0 - 2.0 * poisson));
        let d = isotropic(young / (2.0 * (1.0 + poisson)), bulk);
        let moduli = (poisson < 0.5).then(|| Matrix6::from_fn(|i, j| d[i][j]));
        Self::new(
            Law::Isotropic { young, poisson },
            moduli,
            Some(compliance),
            volumes,
        )
    }

    /// The change of shape alone: `sigma = 2 mu dev(e)` with the shear modulus (Pa) and the volume
    /// (m^3) of each point. It leaves the volume to others, and can only be a stiffness.
    pub fn deviatoric(shear: f64, volumes: &[f64]) -> Self {
        let d = isotropic(shear, 0.0);
        let moduli = Some(Matrix6::from_fn(|i, j| d[i][j]));
        Self::new(Law::Deviatoric { shear }, moduli, None, volumes)
    }

    /// Orthotropic along the axes at rest: Young's moduli (Pa) along x, y, z, Poisson's ratios
    /// (none) `nu_xy, nu_yz, nu_zx` (how much y shrinks as x is stretched, and so on), shear moduli
    /// (Pa) in xy, yz, zx, the volume (m^3) of each point.
    pub fn orthotropic(young: [f64; 3], poisson: [f64; 3], shear: [f64; 3], volumes: &[f64]) -> Self {
        let mut c = Matrix6::zeros();
        for i in 0..3 {
            let j = (i + 1) % 3;
            c[(i, i)] = 1.0 / young[i];
            c[(i, j)] = -poisson[i] / young[i];
            c[(j, i)] = c[(i, j)];
            c[(3 + i, 3 + i)] = 1.0 / shear[i];
        }
        let law = Law::Orthotropic {
            young,
            poisson,
            shear,
        };
        Self::new(law, c.try_inverse().map(symmetric), Some(c), volumes)
    }

    /// Any moduli `D` (Pa), symmetric and positive semidefinite, and the volume (m^3) of each
    /// point. Singular ones can only be a stiffness.
    pub fn from_moduli(moduli: [[f64; 6]; 6], volumes: &[f64]) -> Self {
        let d = Matrix6::from_fn(|i, j| moduli[i][j]);
        let invertible = definite(&d);
        let compliance = invertible.then(|| d.try_inverse().map(symmetric)).flatten();
        Self::new(Law::Moduli(Box::new(moduli)), Some(d), compliance, volumes)
    }

    fn new(
        law: Law,
        moduli: Option<Matrix6<f64>>,
        compliance: Option<Matrix6<f64>>,
        volumes: &[f64],
    ) -> Self {
        Self {
            law,
            volumes: volumes.to_vec(),
            relaxation_time: 0.0,
            moduli,
            compliance,
        }
    }

    /// Adds the damping `d D` through the relaxation time `d` (s), zero or more.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// Stress (Pa) of each point at these strains (none), six numbers each: xx, yy, zz, xy, yz, zx.
    /// Not a number where the moduli are infinite; the force of a compliance over the volume is the
    /// stress then.
    pub fn stresses(&self, strains: &[f64]) -> Vec<f64> {
        let nan = Matrix6::repeat(f64::NAN);
        let d = self.moduli.as_ref().unwrap_or(&nan);
        let of = |e: &[f64; 6]| {
            (0..6)
                .map(|i| (0..6).map(|j| d[(i, j)] * e[j]).sum())
                .collect::<Vec<f64>>()
        };
        strains.as_chunks::<6>().0.iter().flat_map(of).collect()
    }

    fn write(matrix: Option<&Matrix6<f64>>, scale: impl Fn(usize) -> f64, out: &mut Blocks) -> bool {
        let Some(matrix) = matrix else { return false };
        for q in 0..out.len() {
            let s = scale(q);
            // Symmetric: its columns are its rows.
            for (o, m) in out.block_mut(q).iter_mut().zip(matrix.as_slice()) {
                *o += s * m;
            }
        }
        true
    }
}

fn symmetric(m: Matrix6<f64>) -> Matrix6<f64> {
    0.5 * (m + m.transpose())
}

/// Eigenvalues above rounding; compared with the largest, for all have the same unit.
fn definite(d: &Matrix6<f64>) -> bool {
    let values = d.iter().all(|x| x.is_finite()).then(|| d.symmetric_eigenvalues());
    values.is_some_and(|v| v.min() > 1e-13 * v.max())
}

impl ForceField for LinearElastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_points(name, STRAINS, space, &self.volumes, count)?;
        check_not_negative(name, Field::RelaxationTime, self.relaxation_time)?;
        match &self.law {
            Law::Isotropic { young, poisson } => {
                check_positive(name, Field::Young, *young)?;
                let holds = *poisson > -1.0 && *poisson <= 0.5;
                check_range(name, Field::Poisson, *poisson, holds, "above -1 and at most 1/2")
            }
            Law::Deviatoric { shear } => check_positive(name, Field::ShearModulus, *shear),
            Law::Orthotropic {
                young,
                poisson,
                shear,
            } => {
                young
                    .iter()
                    .try_for_each(|e| check_positive(name, Field::Young, *e))?;
                poisson
                    .iter()
                    .try_for_each(|n| check_finite(name, Field::Poisson, *n))?;
                shear
                    .iter()
                    .try_for_each(|g| check_positive(name, Field::ShearModuli, *g))?;
                if self.moduli.as_ref().is_some_and(definite) {
                    return Ok(());
                }
                Err(not_semidefinite(name, "Poisson's ratios are too large"))
            }
            Law::Moduli(d) => {
                d.as_flattened()
                    .iter()
                    .try_for_each(|x| check_finite(name, Field::Moduli, *x))?;
                let d = Matrix6::from_fn(|i, j| d[i][j]);
                if (d - d.transpose()).amax() > 1e-12 * d.amax() {
                    return Err(not_semidefinite(name, "it is not symmetric"));
                }
                let values = d.symmetric_eigenvalues();
                if values.min() < -1e-12 * values.max() {
                    return Err(not_semidefinite(name, "it has a negative eigenvalue"));
                }
                Ok(())
            }
        }
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        // A hard volume stores nothing: the change of shape is left.
        let fallback = match self.law {
            Law::Isotropic { young, poisson } => isotropic(young / (2.0 * (1.0 + poisson)), 0.0),
            _ => [[0.0; 6]; 6],
        };
        let fallback = Matrix6::from_fn(|i, j| fallback[i][j]);
        let d = self.moduli.as_ref().unwrap_or(&fallback);
        let one = |(e, v): (&[f64; 6], &f64)| {
            let product = |i: usize| (0..6).map(|j| d[(i, j)] * e[j]).sum::<f64>();
            0.5 * v * (0..6).map(|i| e[i] * product(i)).sum::<f64>()
        };
        x.as_chunks::<6>().0.iter().zip(&self.volumes).map(one).sum()
    }

    fn add_force(&self, at: At<'_>, f: &mut [f64]) {
        ForceFieldPieces::add_force(self, at, 0..self.volumes.len(), f);
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        if Self::write(self.moduli.as_ref(), |q| self.volumes[q], out) {
            Ok(())
        } else {
            Err(NotInvertible { element: 0 })
        }
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        if self.relaxation_time > 0.0 {
            Self::write(
                self.moduli.as_ref(),
                |q| self.relaxation_time * self.volumes[q],
                out,
            );
        }
    }

    fn is_damped(&self) -> bool {
        self.relaxation_time > 0.0
    }

    fn row_law(&self) -> RowLaw {
        if self.compliance.is_some() {
            RowLaw::Elastic
        } else {
            RowLaw::None
        }
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        Self::write(self.compliance.as_ref(), |q| 1.0 / self.volumes[q], out);
    }

    fn relaxation_time(&self, _coordinate: usize) -> f64 {
        self.relaxation_time
    }

    fn pieces(&self) -> Option<&dyn ForceFieldPieces> {
        Some(self)
    }
}

impl ForceFieldPieces for LinearElastic {
    fn add_force(&self, At { x, v, .. }: At<'_>, elements: Range<usize>, f: &mut [f64]) {
        let Some(d) = &self.moduli else {
            f.fill(f64::NAN);
            return;
        };
        let points = x.as_chunks::<6>().0.iter().zip(v.as_chunks::<6>().0);
        let volumes = &self.volumes[elements];
        for ((f, (e, rate)), volume) in f.as_chunks_mut::<6>().0.iter_mut().zip(points).zip(volumes) {
            for j in 0..6 {
                let strain = volume * (e[j] + self.relaxation_time * rate[j]);
                for i in 0..6 {
                    f[i] -= d[(i, j)] * strain;
                }
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, elements: Range<usize>, out: &mut [f64]) -> Result<(), NotInvertible> {
        let element = elements.start;
        let d = self.moduli.as_ref().ok_or(NotInvertible { element })?;
        for (block, volume) in out
            .as_chunks_mut::<36>()
            .0
            .iter_mut()
            .zip(&self.volumes[elements])
        {
            // Symmetric: its columns are its rows.
            for (o, m) in block.iter_mut().zip(d.as_slice()) {
                *o = volume * m;
            }
        }
        Ok(())
    }

    fn keeps_stiffness(&self) -> bool {
        true
    }
}

fn not_semidefinite(name: &str, reason: &'static str) -> ModelError {
    ModelError::Matrix {
        name: name.into(),
        field: Field::ModulusMatrix,
        reason,
    }
}
