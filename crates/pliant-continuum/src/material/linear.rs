//! Linear materials on strains, as a stiffness or as a compliance.

use super::axes::check_semidefinite;
use super::{Elasticity, Orthotropic, STRAINS, check_points, isotropic, of_points};
use crate::ContinuumError;
use nalgebra::Matrix6;
use pliant_model::validate::{check_not_negative, check_positive, check_size};
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
    /// One for all points, or one for each.
    laws: Vec<Law>,
    volumes: Vec<f64>,
    relaxation_time: f64,
    /// `D` and its inverse of each law; none if one of them has none.
    moduli: Vec<Matrix6<f64>>,
    compliance: Vec<Matrix6<f64>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Law {
    Of(Elasticity),
    Deviatoric { shear: f64, bulk: f64 },
    Moduli(Box<[[f64; 6]; 6]>),
}

impl Law {
    /// `D` (Pa), if it is finite.
    fn moduli(&self) -> Option<Matrix6<f64>> {
        match self {
            Self::Of(law) => law.moduli(),
            Self::Deviatoric { shear, bulk } => {
                let d = isotropic(*shear, *bulk);
                Some(Matrix6::from_fn(|i, j| d[i][j]))
            }
            Self::Moduli(d) => Some(Matrix6::from_fn(|i, j| d[i][j])),
        }
    }

    /// The inverse of `D` (1/Pa), if it is finite.
    fn compliance(&self) -> Option<Matrix6<f64>> {
        match self {
            Self::Of(law) => law.compliance(),
            Self::Deviatoric { .. } => None,
            Self::Moduli(d) => {
                let d = Matrix6::from_fn(|i, j| d[i][j]);
                definite(&d).then(|| d.try_inverse().map(symmetric)).flatten()
            }
        }
    }

    fn check(&self, name: &str) -> Result<(), ModelError> {
        match self {
            Self::Of(law) => law.check().map_err(|error| in_model(name, error)),
            Self::Deviatoric { shear, bulk } => {
                check_positive(name, Field::ShearModulus, *shear)?;
                check_not_negative(name, Field::BulkModulus, *bulk)
            }
            Self::Moduli(d) => check_semidefinite(name, d),
        }
    }
}

/// The error of a number as that of a component.
fn in_model(name: &str, error: ContinuumError) -> ModelError {
    let (name, index) = (name.into(), None);
    match error {
        ContinuumError::NotFinite { field, value } => ModelError::NotFinite {
            name,
            field,
            index,
            value,
        },
        ContinuumError::OutOfRange { field, value, bound } => ModelError::OutOfRange {
            name,
            field,
            index,
            value,
            bound,
        },
        ContinuumError::Model(error) => error,
        _ => ModelError::Matrix {
            name,
            field: Field::MaterialAxes,
            reason: "they are no two directions",
        },
    }
}

impl LinearElastic {
    /// Young's modulus (Pa), Poisson's ratio (none) above -1 and up to 1/2, and the volume (m^3) of
    /// each point. At 1/2 exactly it can only be a compliance.
    pub fn isotropic(young: f64, poisson: f64, volumes: &[f64]) -> Self {
        Self::varying(&[Elasticity::Isotropic { young, poisson }], volumes)
    }

    /// Moduli (Pa), one for all points or one for each, and the volume (m^3) of each point.
    pub fn varying(laws: &[Elasticity], volumes: &[f64]) -> Self {
        Self::new(laws.iter().map(|law| Law::Of(*law)).collect(), volumes)
    }

    /// The change of shape alone: `sigma = 2 mu dev(e)` with the shear modulus (Pa) and the volume
    /// (m^3) of each point. It leaves the volume to others, and can only be a stiffness.
    pub fn deviatoric(shear: f64, volumes: &[f64]) -> Self {
        Self::deviatoric_varying(&[shear], volumes)
    }

    /// The change of shape alone, with shear moduli (Pa) for all points or for each, and the volume
    /// (m^3) of each point.
    pub fn deviatoric_varying(shear: &[f64], volumes: &[f64]) -> Self {
        let law = |shear: &f64| Law::Deviatoric {
            shear: *shear,
            bulk: 0.0,
        };
        Self::new(shear.iter().map(law).collect(), volumes)
    }

    /// Shear moduli and pointwise bulk moduli (Pa) of a law that leaves the rest of the change of
    /// volume to rows, for all points or for each.
    pub(crate) fn beside_rows(moduli: impl Iterator<Item = [f64; 2]>, volumes: &[f64]) -> Self {
        let laws = moduli.map(|[shear, bulk]| Law::Deviatoric { shear, bulk });
        Self::new(laws.collect(), volumes)
    }

    /// Orthotropic along the axes at rest: Young's moduli (Pa) along x, y, z, Poisson's ratios
    /// (none) `nu_xy, nu_yz, nu_zx` (how much y shrinks as x is stretched, and so on), shear moduli
    /// (Pa) in xy, yz, zx, the volume (m^3) of each point.
    pub fn orthotropic(young: [f64; 3], poisson: [f64; 3], shear: [f64; 3], volumes: &[f64]) -> Self {
        let law = Orthotropic::along_axes(young, poisson, shear);
        Self::varying(&[Elasticity::Orthotropic(law)], volumes)
    }

    /// Any moduli `D` (Pa), symmetric and positive semidefinite, and the volume (m^3) of each
    /// point. Singular ones can only be a stiffness.
    pub fn from_moduli(moduli: [[f64; 6]; 6], volumes: &[f64]) -> Self {
        Self::new(vec![Law::Moduli(Box::new(moduli))], volumes)
    }

    fn new(laws: Vec<Law>, volumes: &[f64]) -> Self {
        let all = |of: fn(&Law) -> Option<Matrix6<f64>>| laws.iter().map(of).collect::<Option<Vec<_>>>();
        let (moduli, compliance) = (all(Law::moduli), all(Law::compliance));
        Self {
            volumes: volumes.to_vec(),
            relaxation_time: 0.0,
            moduli: moduli.unwrap_or_default(),
            compliance: compliance.unwrap_or_default(),
            laws,
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
        let of = |(q, e): (usize, &[f64; 6])| {
            let d = of_point(&self.moduli, q).unwrap_or(&nan);
            (0..6)
                .map(|i| (0..6).map(|j| d[(i, j)] * e[j]).sum())
                .collect::<Vec<f64>>()
        };
        let points = strains.as_chunks::<6>().0.iter().enumerate();
        points.flat_map(of).collect()
    }

    /// Adds the matrices of the points times a factor; says whether there are any.
    fn write(matrices: &[Matrix6<f64>], scale: impl Fn(usize) -> f64, out: &mut Blocks) -> bool {
        for q in 0..out.len() {
            let Some(matrix) = of_point(matrices, q) else {
                return false;
            };
            let s = scale(q);
            // Symmetric: its columns are its rows.
            for (o, m) in out.block_mut(q).iter_mut().zip(matrix.as_slice()) {
                *o += s * m;
            }
        }
        true
    }
}

/// The matrix of a point out of those of all or of each; none if there are none.
fn of_point(matrices: &[Matrix6<f64>], q: usize) -> Option<&Matrix6<f64>> {
    matrices.get(if matrices.len() == 1 { 0 } else { q })
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
        if self.laws.len() != 1 {
            let what = "moduli, one for each quadrature point";
            check_size(name, Field::Moduli, what, count, self.laws.len())?;
        }
        self.laws.iter().try_for_each(|law| law.check(name))
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let one = |(q, (e, v)): (usize, (&[f64; 6], &f64))| {
            // A hard volume stores nothing: the change of shape is left.
            let fallback = || match self.laws[if self.laws.len() == 1 { 0 } else { q }] {
                Law::Of(law) => {
                    let d = isotropic(law.shear().unwrap_or(f64::NAN), 0.0);
                    Matrix6::from_fn(|i, j| d[i][j])
                }
                _ => Matrix6::zeros(),
            };
            let d = of_point(&self.moduli, q).copied().unwrap_or_else(fallback);
            let product = |i: usize| (0..6).map(|j| d[(i, j)] * e[j]).sum::<f64>();
            0.5 * v * (0..6).map(|i| e[i] * product(i)).sum::<f64>()
        };
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes);
        points.enumerate().map(one).sum()
    }

    fn add_force(&self, at: At<'_>, f: &mut [f64]) {
        ForceFieldPieces::add_force(self, at, 0..self.volumes.len(), f);
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        if Self::write(&self.moduli, |q| self.volumes[q], out) {
            Ok(())
        } else {
            Err(NotInvertible { element: 0 })
        }
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        if self.relaxation_time > 0.0 {
            Self::write(&self.moduli, |q| self.relaxation_time * self.volumes[q], out);
        }
    }

    fn is_damped(&self) -> bool {
        self.relaxation_time > 0.0
    }

    fn row_law(&self) -> RowLaw {
        if !self.compliance.is_empty() {
            RowLaw::Elastic
        } else {
            RowLaw::None
        }
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        Self::write(&self.compliance, |q| 1.0 / self.volumes[q], out);
    }

    fn relaxation_time(&self, _coordinate: usize) -> f64 {
        self.relaxation_time
    }

    fn pieces(&self) -> Option<&dyn ForceFieldPieces> {
        Some(self)
    }

    fn restrict(&self, _space: Space, elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(Self {
            laws: of_points(&self.laws, &elements),
            volumes: self.volumes[elements.clone()].to_vec(),
            relaxation_time: self.relaxation_time,
            moduli: of_points(&self.moduli, &elements),
            compliance: of_points(&self.compliance, &elements),
        }))
    }

    fn is_linear(&self) -> bool {
        true
    }
}

impl ForceFieldPieces for LinearElastic {
    fn add_force(&self, At { x, v, .. }: At<'_>, elements: Range<usize>, f: &mut [f64]) {
        let points = x.as_chunks::<6>().0.iter().zip(v.as_chunks::<6>().0);
        for ((f, (e, rate)), q) in f.as_chunks_mut::<6>().0.iter_mut().zip(points).zip(elements) {
            let Some(d) = of_point(&self.moduli, q) else {
                f.fill(f64::NAN);
                continue;
            };
            let volume = self.volumes[q];
            for j in 0..6 {
                let strain = volume * (e[j] + self.relaxation_time * rate[j]);
                for i in 0..6 {
                    f[i] -= d[(i, j)] * strain;
                }
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, elements: Range<usize>, out: &mut [f64]) -> Result<(), NotInvertible> {
        for (block, q) in out.as_chunks_mut::<36>().0.iter_mut().zip(elements) {
            let d = of_point(&self.moduli, q).ok_or(NotInvertible { element: q })?;
            let volume = self.volumes[q];
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
