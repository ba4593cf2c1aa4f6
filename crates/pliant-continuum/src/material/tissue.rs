//! Materials of biological tissue on Green and Lagrange's strains: exponential, and fibres.

use super::{STRAINS, check_points};
use pliant_dense::Vec3;
use pliant_model::validate::{check_finite, check_not_negative, check_positive, check_size};
use pliant_model::{At, Blocks, Field, ForceField, ModelError, NotInvertible, Space};

/// Fung's exponential material on Green and Lagrange's strains.
///
/// **Equation.** Energy `V c (exp(Q) - 1)/2` (J) with `Q = e . A e`, `c` (Pa), the volume `V` (m^3)
/// of the point and a symmetric positive-semidefinite matrix `A` (none) over the six strains with
/// shears as angles. Stress `c exp(Q) A e`, tangent `c exp(Q) (A + 2 (A e)(A e)^T)`, always
/// positive semidefinite.
///
/// **Use.** Skin, vessels, soft tissue that stiffens, on [`GreenLagrange`](crate::GreenLagrange);
/// the tangent at rest is `c A`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fung {
    c: f64,
    a: [[f64; 6]; 6],
    volumes: Vec<f64>,
}

impl Fung {
    /// Coefficient `c` (Pa), matrix `A` (none), and the volume (m^3) of each point.
    pub fn new(c: f64, a: [[f64; 6]; 6], volumes: &[f64]) -> Self {
        Self {
            c,
            a,
            volumes: volumes.to_vec(),
        }
    }

    /// `A e` and `c exp(Q)` at one point.
    fn at(&self, e: &[f64; 6]) -> ([f64; 6], f64) {
        let ae = self
            .a
            .map(|row| row.iter().zip(e).map(|(a, e)| a * e).sum::<f64>());
        let q: f64 = ae.iter().zip(e).map(|(a, e)| a * e).sum();
        (ae, self.c * q.exp())
    }
}

impl ForceField for Fung {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_points(name, STRAINS, space, &self.volumes, count)?;
        check_positive(name, Field::Coefficient, self.c)?;
        self.a
            .as_flattened()
            .iter()
            .try_for_each(|a| check_finite(name, Field::Exponents, *a))?;
        let a = nalgebra::Matrix6::from_fn(|i, j| self.a[i][j]);
        let error = |reason| {
            Err(ModelError::Matrix {
                name: name.into(),
                field: Field::ExponentMatrix,
                reason,
            })
        };
        if (a - a.transpose()).amax() > 1e-12 * a.amax() {
            return error("it is not symmetric");
        }
        let values = a.symmetric_eigenvalues();
        if values.min() < -1e-12 * values.max().abs() {
            return error("it has a negative eigenvalue");
        }
        Ok(())
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let one = |(e, v): (&[f64; 6], &f64)| {
            let q: f64 = self.at(e).0.iter().zip(e).map(|(a, e)| a * e).sum();
            0.5 * v * self.c * q.exp_m1()
        };
        x.as_chunks::<6>().0.iter().zip(&self.volumes).map(one).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes);
        for (f, (e, volume)) in f.as_chunks_mut::<6>().0.iter_mut().zip(points) {
            let (ae, scale) = self.at(e);
            f.iter_mut().zip(ae).for_each(|(f, s)| *f -= volume * scale * s);
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for (q, (e, volume)) in x.as_chunks::<6>().0.iter().zip(&self.volumes).enumerate() {
            let (ae, scale) = self.at(e);
            let block = out.block_mut(q);
            for i in 0..6 {
                for j in 0..6 {
                    block[6 * i + j] = volume * scale * (self.a[i][j] + 2.0 * ae[i] * ae[j]);
                }
            }
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        false
    }
}

/// Fibres in a solid, which stiffen when stretched and may be active.
///
/// **Equation.** With the unit direction `a` of the fibres at rest and the strain `s = a . E a`
/// (none) along them: energy `V (k1/(2 k2) (exp(k2 (2 s)^2) - 1) + T s)` (J), the first part for
/// `s > 0` only (Holzapfel, Gasser and Ogden 2000, `2 s = I4 - 1`), with `k1`, `T` (Pa), `k2`
/// (none) and the volume `V` (m^3) of the point. The stress along the fibres is
/// `2 k1 (2 s) exp(k2 (2 s)^2) + T`. The active stress `T` is the input.
///
/// **Use.** Beside another material, on [`GreenLagrange`](crate::GreenLagrange): muscle, tendon,
/// reinforced rubber (transversely isotropic).
#[derive(Clone, Debug, PartialEq)]
pub struct Fibres {
    k1: f64,
    k2: f64,
    active: f64,
    directions: Vec<[f64; 3]>,
    volumes: Vec<f64>,
}

impl Fibres {
    /// Stiffness `k1` (Pa), exponent `k2` (none), directions (none, of any length but zero): one
    /// for all points or one for each, and the volume (m^3) of each point.
    pub fn new(k1: f64, k2: f64, directions: &[[f64; 3]], volumes: &[f64]) -> Self {
        Self {
            k1,
            k2,
            active: 0.0,
            directions: directions.to_vec(),
            volumes: volumes.to_vec(),
        }
    }

    /// Sets the active stress `T` (Pa): the fibres pull with it.
    #[must_use]
    pub fn with_active_stress(mut self, stress: f64) -> Self {
        self.active = stress;
        self
    }

    /// The gradient of `s` over the six strains.
    fn row(&self, q: usize) -> [f64; 6] {
        let a = self.directions[if self.directions.len() == 1 { 0 } else { q }];
        let [x, y, z] = <[f64; 3]>::from(Vec3::from(a).normalize());
        [x * x, y * y, z * z, x * y, y * z, z * x]
    }

    /// Stress and tangent along the fibres, and the energy density, under an active stress.
    fn along(&self, row: &[f64; 6], e: &[f64; 6], active: f64) -> (f64, f64, f64) {
        let s: f64 = row.iter().zip(e).map(|(a, e)| a * e).sum();
        let u = 2.0 * s.max(0.0);
        let exponent = self.k2 * u * u;
        // The limit of small k2 is k1 u^2/2.
        let passive = if self.k2 > 0.0 {
            0.5 * self.k1 / self.k2 * exponent.exp_m1()
        } else {
            0.5 * self.k1 * u * u
        };
        let slope = if s > 0.0 {
            4.0 * self.k1 * exponent.exp() * (1.0 + 2.0 * exponent)
        } else {
            0.0
        };
        (
            2.0 * self.k1 * u * exponent.exp() + active,
            slope,
            passive + active * s,
        )
    }
}

impl ForceField for Fibres {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_points(name, STRAINS, space, &self.volumes, count)?;
        check_not_negative(name, Field::FibreStiffness, self.k1)?;
        check_not_negative(name, Field::FibreExponent, self.k2)?;
        if self.directions.len() != 1 {
            let what = "directions, one for each quadrature point";
            check_size(name, Field::Directions, what, count, self.directions.len())?;
        }
        for a in &self.directions {
            a.iter()
                .try_for_each(|x| check_finite(name, Field::Directions, *x))?;
            check_positive(name, Field::DirectionLength, Vec3::from(*a).norm())?;
        }
        Ok(())
    }

    fn energy(&self, At { x, inputs, .. }: At<'_>) -> f64 {
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes).enumerate();
        points
            .map(|(q, (e, v))| v * self.along(&self.row(q), e, inputs[0]).2)
            .sum()
    }

    fn add_force(&self, At { x, inputs, .. }: At<'_>, f: &mut [f64]) {
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes);
        for (q, (f, (e, volume))) in f.as_chunks_mut::<6>().0.iter_mut().zip(points).enumerate() {
            let row = self.row(q);
            let stress = self.along(&row, e, inputs[0]).0;
            f.iter_mut().zip(row).for_each(|(f, a)| *f -= volume * stress * a);
        }
    }

    fn stiffness(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for (q, (e, volume)) in x.as_chunks::<6>().0.iter().zip(&self.volumes).enumerate() {
            let row = self.row(q);
            let slope = self.along(&row, e, inputs[0]).1;
            let block = out.block_mut(q);
            for i in 0..6 {
                for j in 0..6 {
                    block[6 * i + j] = volume * slope * row[i] * row[j];
                }
            }
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn inputs(&self) -> &[f64] {
        std::slice::from_ref(&self.active)
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_finite(name, Field::ActiveStress, inputs[0])
    }
}
