//! The strain of the dashpot of a branch of quasi-linear viscoelasticity.

use super::volumetric::PointEnergy;
use crate::strain::{matrix, write_matrix};
use pliant_dense::Mat3;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Numbers of a symmetric matrix: xx, yy, zz, xy, yz, zx.
const PLACES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)];

/// Iterations, and halvings of one of their steps, at most.
const ITERATIONS: usize = 8;
const HALVINGS: usize = 4;

/// The miss of stress and volume that is left, as a share of the overstress.
const TOLERANCE: f64 = 1e-8;

/// The miss that is rounding, as a share of the shear modulus.
const ROUNDING: f64 = 1e-12;

/// The modulus, as a share of the shear modulus, below which a direction resists too little for a
/// stress to say how far it is strained.
const SOFT: f64 = 0.1;

pub(super) fn list(m: &Mat3) -> [f64; 6] {
    PLACES.map(|(i, j)| 0.5 * (m[(i, j)] + m[(j, i)]))
}

pub(super) fn full(s: &[f64; 6]) -> Mat3 {
    let mut out = Mat3::zeros();
    for ((i, j), s) in PLACES.into_iter().zip(s) {
        (out[(i, j)], out[(j, i)]) = (*s, *s);
    }
    out
}

/// Green and Lagrange's strain.
pub(super) fn green(f: &Mat3) -> [f64; 6] {
    list(&((f.transpose() * f - Mat3::identity()) * 0.5))
}

/// The product `A : B` of symmetric matrices.
pub(super) fn product(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    let sides: f64 = (0..3).map(|k| a[k] * b[k]).sum();
    let shears: f64 = (3..6).map(|k| a[k] * b[k]).sum();
    sides + 2.0 * shears
}

/// Half the logarithm of the determinant of `I + 2 E`, that of the volume ratio: not a number where
/// no gradient has this strain.
pub(super) fn log_volume(strain: &[f64; 6]) -> f64 {
    0.5 * stretch(strain).determinant().ln()
}

fn stretch(strain: &[f64; 6]) -> Mat3 {
    Mat3::identity() + full(strain) * 2.0
}

/// A gradient with this strain, if there is one: energies do not see rotations.
pub(super) fn gradient(strain: &[f64; 6]) -> Option<Mat3> {
    stretch(strain).cholesky().map(|l| l.l().transpose())
}

/// The equations that say which strain a dashpot has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// The stress `T` (Pa) that the energy has at this strain.
    pub(super) stress: &'a [f64; 6],
    /// The overstress (Pa), beside which a miss is small.
    pub(super) over: &'a [f64; 6],
    /// The logarithm of the volume ratio, of an energy without a part of the volume, whose stress
    /// then is `T` but for a pressure.
    pub(super) volume: Option<f64>,
}

/// A strain and what is missing there, in the axes of its gradient, shears times the root of two.
struct Trial {
    strain: [f64; 6],
    /// The pressure (Pa) beside the stress of the energy.
    pressure: f64,
    f: Mat3,
    /// Kirchhoff's stress (Pa) of the energy.
    stress: Mat3,
    /// Missing stress (Pa), and missing logarithm of the volume in times of the shear modulus.
    missing: [f64; 7],
    /// The size of all that is missing (Pa).
    size: f64,
}

impl PointEnergy<'_> {
    /// The second Piola-Kirchhoff stress (Pa).
    pub(super) fn second(&self, f: &Mat3) -> [f64; 6] {
        // Not a number where the volume vanishes.
        let inverse = f.try_inverse().unwrap_or(Mat3::repeat(f64::NAN));
        list(&(inverse * self.stress(f)))
    }

    /// The strain at which the energy has a stress, from one nearby, along directions that resist;
    /// along others it stays.
    ///
    /// **Equation.** `S_e(E) = T`, or `S_e(E) + p C^-1 = T` with `det C` given, `C = I + 2 E`, by the
    /// steps `(K^2 + m^2)^-1 K r` of Levenberg (1944) with the miss `r`, its derivative `K` in the
    /// axes of the gradient, and a share `m` of the shear modulus.
    pub(super) fn strain_of(&self, wanted: Wanted<'_>, near: [f64; 6]) -> [f64; 6] {
        let modulus = self.law.small_shear();
        let most = wanted.over.iter().fold(0.0f64, |most, h| most.max(h.abs()));
        let enough = (TOLERANCE * most).max(ROUNDING * modulus);
        let Some(mut at) = self.trial(&wanted, modulus, near, None) else {
            return near;
        };
        for _ in 0..ITERATIONS {
            if at.size <= enough || at.size.is_nan() {
                break;
            }
            let k = self.changes(&at, wanted.volume.map(|_| modulus));
            let mut change = damped(&k, &at.missing, SOFT * modulus);
            let next = (0..=HALVINGS).find_map(|_| {
                let to = moved(&at, &change);
                let pressure = at.pressure + modulus * change[6];
                change.iter_mut().for_each(|c| *c *= 0.5);
                let found = self.trial(&wanted, modulus, to, Some(pressure))?;
                (found.size < at.size).then_some(found)
            });
            match next {
                Some(found) => at = found,
                None => break,
            }
        }
        at.strain
    }

    /// The miss at a strain and a pressure; none where no gradient has the strain.
    fn trial(
        &self,
        wanted: &Wanted<'_>,
        modulus: f64,
        strain: [f64; 6],
        pressure: Option<f64>,
    ) -> Option<Trial> {
        let f = gradient(&strain)?;
        let stress = self.stress(&f) * f.transpose();
        let mut left = f * full(wanted.stress) * f.transpose() - stress;
        let pressure = match wanted.volume {
            Some(_) => pressure.unwrap_or(left.trace() / 3.0),
            None => 0.0,
        };
        left -= Mat3::identity() * pressure;
        let mut missing = [0.0; 7];
        missing[..6].copy_from_slice(&list(&left));
        missing[3..6].iter_mut().for_each(|m| *m *= SQRT_2);
        missing[6] = wanted
            .volume
            .map_or(0.0, |log| modulus * (log - f.determinant().ln()));
        Some(Trial {
            strain,
            pressure,
            f,
            stress,
            size: missing.iter().map(|m| m * m).sum::<f64>().sqrt(),
            missing,
        })
    }

    /// The derivatives of stress and volume for changes `dE = F^T e F` and of the pressure in times of
    /// the shear modulus, which is given where there is one.
    fn changes(&self, at: &Trial, with_pressure: Option<f64>) -> [[f64; 7]; 7] {
        let mut tangent = [0.0; 81];
        self.add_tangent(&at.f, &mut tangent);
        let mut out = [[0.0; 7]; 7];
        for (column, (i, j)) in PLACES.into_iter().enumerate() {
            let mut e = Mat3::zeros();
            let unit = if i == j { 1.0 } else { FRAC_1_SQRT_2 };
            (e[(i, j)], e[(j, i)]) = (unit, unit);
            let (mut moved, mut first) = ([0.0; 9], [0.0; 9]);
            write_matrix(&(e * at.f), &mut moved);
            for (row, out) in tangent.chunks_exact(9).zip(&mut first) {
                *out = row.iter().zip(&moved).map(|(k, d)| k * d).sum();
            }
            // `F dS F^T` of `P = F S`, and that of the pressure.
            let change = matrix(&first) * at.f.transpose() - e * at.stress - e * (2.0 * at.pressure);
            for (row, value) in list(&change).into_iter().enumerate() {
                out[row][column] = value * if row < 3 { 1.0 } else { SQRT_2 };
            }
        }
        if let Some(modulus) = with_pressure {
            for k in 0..3 {
                (out[k][6], out[6][k]) = (modulus, modulus);
            }
        }
        out
    }
}

/// The strain after a change `e` in the axes of its gradient.
fn moved(at: &Trial, change: &[f64; 7]) -> [f64; 6] {
    let e: [f64; 6] = std::array::from_fn(|k| change[k] * if k < 3 { 1.0 } else { FRAC_1_SQRT_2 });
    let change = list(&(at.f.transpose() * full(&e) * at.f));
    std::array::from_fn(|k| at.strain[k] + change[k])
}

/// The solution `(K^2 + m^2)^-1 K r` of `K x = r` with a symmetric `K`, damped where `K` is smaller than
/// `m`, by elimination: the matrix is positive definite.
fn damped(k: &[[f64; 7]; 7], r: &[f64; 7], m: f64) -> [f64; 7] {
    let times = |i: usize, v: &dyn Fn(usize) -> f64| (0..7).map(|c| k[i][c] * v(c)).sum::<f64>();
    let mut x: [f64; 7] = std::array::from_fn(|i| times(i, &|c| r[c]));
    let mut a: [[f64; 7]; 7] = std::array::from_fn(|i| {
        std::array::from_fn(|j| times(i, &|c| k[c][j]) + if i == j { m * m } else { 0.0 })
    });
    for p in 0..7 {
        for i in p + 1..7 {
            let factor = a[i][p] / a[p][p];
            for j in p..7 {
                a[i][j] -= factor * a[p][j];
            }
            x[i] -= factor * x[p];
        }
    }
    for p in (0..7).rev() {
        let known: f64 = (p + 1..7).map(|j| a[p][j] * x[j]).sum();
        x[p] = (x[p] - known) / a[p][p];
    }
    x
}
