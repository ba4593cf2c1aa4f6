//! Plane stress: linear laws of sheets.

use super::{PointSpace, PronySeries, Relaxing, check_points};
use crate::ContinuumError;
use crate::checks::check_range;
use nalgebra::Matrix3;
use pliant_model::validate::{check_finite, check_not_negative};
use pliant_model::{At, Blocks, Field, ForceField, ModelError, NotInvertible, RowLaw, Space};
use std::ops::Range;

const PLANE: PointSpace = PointSpace {
    size: 3,
    wanted: "strains of a sheet (elements of three coordinates)",
};

/// Linear elasticity in a plane without stress across it: isotropic, or of different warp and weft.
///
/// **Equation.** `e = S s` with `S = ((c_1, -nu c_1, 0), (-nu c_1, c_2, 0), (0, 0, c_3))` (1/Pa),
/// so that `nu` is how much the weft shrinks as the warp is stretched; energy `V e . S^-1 e/2` with
/// the weight `V` of the point: the volume (m^3) for strains, the area times the cube of the
/// thickness over 12 (m^5) for curvatures (1/m). `C = S/V`. A zero in `S` is hard: then it can only
/// be a compliance. With a relaxation time `d` (s) also `V d S^-1 de/dt`.
///
/// **Use.** On [`MembraneStrain`](crate::MembraneStrain) the stretch of cloth and membranes, on
/// curvatures the bending of shells.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneElastic {
    compliances: [f64; 3],
    poisson: f64,
    weights: Vec<f64>,
    relaxation_time: f64,
    moduli: Option<Matrix3<f64>>,
}

impl PlaneElastic {
    /// Young's modulus (Pa), Poisson's ratio (none) above -1 and below 1, and the weight (m^3 or
    /// m^5) of each point.
    pub fn isotropic(young: f64, poisson: f64, weights: &[f64]) -> Self {
        let shear = 2.0 * (1.0 + poisson) / young;
        Self::orthotropic([1.0 / young, 1.0 / young, shear], poisson, weights)
    }

    /// Compliances (1/Pa) of warp, weft and shear, zero or more, Poisson's ratio (none), and the
    /// weight (m^3 or m^5) of each point.
    pub fn orthotropic(compliances: [f64; 3], poisson: f64, weights: &[f64]) -> Self {
        let mut out = Self {
            compliances,
            poisson,
            weights: weights.to_vec(),
            relaxation_time: 0.0,
            moduli: None,
        };
        let [one, two, three] = compliances;
        let soft = compliances.iter().all(|c| *c > 0.0) && one * poisson * poisson < two;
        out.moduli = soft.then(|| {
            // In closed form, so that the largest moduli keep their digits.
            let share = 1.0 / (two - one * poisson * poisson);
            let mut d = Matrix3::zeros();
            d[(0, 0)] = two / one * share;
            d[(0, 1)] = poisson * share;
            d[(1, 0)] = poisson * share;
            d[(1, 1)] = share;
            d[(2, 2)] = 1.0 / three;
            d
        });
        out
    }

    /// Adds the damping `d S^-1` through the relaxation time `d` (s), zero or more.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// A law that relaxes, with these moduli for fast strains.
    pub(crate) fn relaxing(&self, series: PronySeries) -> Result<Relaxing, ContinuumError> {
        match &self.moduli {
            Some(d) => Relaxing::new(d.as_slice(), &self.weights, series),
            None => Err(ContinuumError::Conflict {
                field: Field::Series,
                with: "a hard direction",
                reason: "it is a stiffness; make every compliance positive",
            }),
        }
    }

    fn write(matrix: &Matrix3<f64>, scale: impl Fn(usize) -> f64, out: &mut Blocks) {
        for q in 0..out.len() {
            let s = scale(q);
            // Symmetric: its columns are its rows.
            for (o, m) in out.block_mut(q).iter_mut().zip(matrix.as_slice()) {
                *o += s * m;
            }
        }
    }
}

impl ForceField for PlaneElastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_points(name, PLANE, space, &self.weights, count)?;
        check_not_negative(name, Field::RelaxationTime, self.relaxation_time)?;
        for (field, c) in [
            Field::ComplianceOfWarp,
            Field::ComplianceOfWeft,
            Field::ComplianceOfShear,
        ]
        .into_iter()
        .zip(self.compliances)
        {
            check_finite(name, field, c)?;
            check_not_negative(name, field, c)?;
        }
        let [one, two, _] = self.compliances;
        let lateral = one * self.poisson * self.poisson;
        let holds = lateral < two || lateral == 0.0;
        check_finite(name, Field::Poisson, self.poisson)?;
        check_range(
            name,
            Field::Poisson,
            self.poisson,
            holds,
            "of a square below the compliance of the weft over that of the warp",
        )
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        // Hard directions store nothing: the soft ones are left, one by one.
        let [one, two, three] = self.compliances.map(|c| if c > 0.0 { 1.0 / c } else { 0.0 });
        let fallback = Matrix3::from_diagonal(&nalgebra::Vector3::new(one, two, three));
        let d = self.moduli.as_ref().unwrap_or(&fallback);
        let of = |(e, v): (&[f64; 3], &f64)| {
            let e = nalgebra::Vector3::from(*e);
            0.5 * v * e.dot(&(d * e))
        };
        x.as_chunks::<3>().0.iter().zip(&self.weights).map(of).sum()
    }

    fn add_force(&self, At { x, v, .. }: At<'_>, f: &mut [f64]) {
        let Some(d) = &self.moduli else {
            f.fill(f64::NAN);
            return;
        };
        let points = x.as_chunks::<3>().0.iter().zip(v.as_chunks::<3>().0);
        for ((f, (e, rate)), weight) in f.as_chunks_mut::<3>().0.iter_mut().zip(points).zip(&self.weights) {
            for j in 0..3 {
                let strain = weight * (e[j] + self.relaxation_time * rate[j]);
                (0..3).for_each(|i| f[i] -= d[(i, j)] * strain);
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        let Some(d) = &self.moduli else {
            return Err(NotInvertible { element: 0 });
        };
        Self::write(d, |q| self.weights[q], out);
        Ok(())
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        if let (Some(d), true) = (&self.moduli, self.relaxation_time > 0.0) {
            Self::write(d, |q| self.relaxation_time * self.weights[q], out);
        }
    }

    fn row_law(&self) -> RowLaw {
        RowLaw::Elastic
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        let [one, two, three] = self.compliances;
        let cross = -self.poisson * one;
        let s = Matrix3::new(one, cross, 0.0, cross, two, 0.0, 0.0, 0.0, three);
        Self::write(&s, |q| 1.0 / self.weights[q], out);
    }

    fn relaxation_time(&self, _coordinate: usize) -> f64 {
        self.relaxation_time
    }

    fn restrict(&self, _space: Space, elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(Self {
            weights: self.weights[elements].to_vec(),
            ..self.clone()
        }))
    }

    fn is_linear(&self) -> bool {
        true
    }
}
