//! The strain of the dashpot of a branch of quasi-linear viscoelasticity.

use super::volumetric::PointEnergy;
use crate::strain::{matrix, write_matrix};
use pliant_dense::Mat3;

/// Numbers of a symmetric matrix: xx, yy, zz, xy, yz, zx.
const PLACES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)];

/// Iterations of Newton's method, and halvings of one of its steps, at most.
const ITERATIONS: usize = 20;
const HALVINGS: usize = 8;

/// The miss of a stress that is left, as a share of the overstress: the energy is off by its square.
const TOLERANCE: f64 = 1e-6;

/// The miss that is rounding, as a share of the largest modulus.
const ROUNDING: f64 = 1e-12;

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

/// Stress and what is missing at a strain.
struct Trial {
    f: Mat3,
    stress: Mat3,
    /// Missing stress (Pa), and volume.
    missing: [f64; 7],
}

impl PointEnergy<'_> {
    /// The second Piola-Kirchhoff stress (Pa).
    pub(super) fn second(&self, f: &Mat3) -> [f64; 6] {
        // Not a number where the volume vanishes.
        let inverse = f.try_inverse().unwrap_or(Mat3::repeat(f64::NAN));
        list(&(inverse * self.stress(f)))
    }

    /// The strain at which the energy has a stress, from one nearby; none where Newton's method
    /// finds none.
    ///
    /// **Equation.** `S_e(E) = T`, or `S_e(E) + p C^-1 = T` with `det C` given, `C = I + 2 E`.
    pub(super) fn strain_of(&self, wanted: Wanted<'_>, near: [f64; 6]) -> Option<[f64; 6]> {
        let enough = TOLERANCE * largest(wanted.over);
        let (mut strain, mut pressure) = (near, 0.0);
        let mut at = self.trial(&wanted, &strain, pressure)?;
        for _ in 0..ITERATIONS {
            if largest(&at.missing[..6]) <= enough && at.missing[6].abs() <= ROUNDING {
                return Some(strain);
            }
            let (mut k, scale) = self.equations(&at, pressure, wanted.volume.is_some());
            if largest(&at.missing[..6]) <= ROUNDING * scale && at.missing[6].abs() <= ROUNDING {
                return Some(strain);
            }
            let size = |missing: &[f64; 7]| {
                let volume = (scale * missing[6]).powi(2);
                missing[..6].iter().map(|m| m * m).sum::<f64>() + volume
            };
            let mut right = at.missing;
            right[6] *= scale;
            let change = solve(&mut k, right);
            let mut part = 1.0;
            let next = (0..=HALVINGS).find_map(|_| {
                let to: [f64; 6] = std::array::from_fn(|k| strain[k] + part * change[k]);
                let p = pressure + part * scale * change[6];
                part *= 0.5;
                let found = self.trial(&wanted, &to, p)?;
                (size(&found.missing) < size(&at.missing)).then_some((to, p, found))
            });
            (strain, pressure, at) = next?;
        }
        None
    }

    fn trial(&self, wanted: &Wanted<'_>, strain: &[f64; 6], pressure: f64) -> Option<Trial> {
        let f = gradient(strain)?;
        let inverse = list(&stretch(strain).try_inverse()?);
        let stress = self.second(&f);
        let mut missing = [0.0; 7];
        for k in 0..6 {
            missing[k] = wanted.stress[k] - stress[k] - pressure * inverse[k];
        }
        missing[6] = wanted.volume.map_or(0.0, |log| log - log_volume(strain));
        Some(Trial {
            f,
            stress: full(&stress),
            missing,
        })
    }

    /// The derivatives of stress and volume over strain and pressure, the last row and column in
    /// times of the largest modulus (Pa), and this modulus.
    fn equations(&self, at: &Trial, pressure: f64, with_volume: bool) -> ([[f64; 7]; 7], f64) {
        let mut tangent = [0.0; 81];
        self.add_tangent(&at.f, &mut tangent);
        // There is one: the gradient is a factor of Cholesky's.
        let back = at.f.try_inverse().unwrap_or(Mat3::repeat(f64::NAN));
        let inverse = back * back.transpose();
        let mut out = [[0.0; 7]; 7];
        for (column, (i, j)) in PLACES.into_iter().enumerate() {
            let mut strain = Mat3::zeros();
            (strain[(i, j)], strain[(j, i)]) = (1.0, 1.0);
            // `F^T dF` is this strain.
            let moved = back.transpose() * strain;
            let (mut of_moved, mut of_stress) = ([0.0; 9], [0.0; 9]);
            write_matrix(&moved, &mut of_moved);
            for (row, out) in tangent.chunks_exact(9).zip(&mut of_stress) {
                *out = row.iter().zip(&of_moved).map(|(k, d)| k * d).sum();
            }
            let change = back * (matrix(&of_stress) - moved * at.stress);
            let of_pressure = inverse * strain * inverse * (-2.0 * pressure);
            for (row, value) in list(&(change + of_pressure)).into_iter().enumerate() {
                out[row][column] = value;
            }
        }
        let scale = out.iter().map(|row| largest(row)).fold(0.0, f64::max);
        if with_volume {
            for (k, value) in list(&inverse).into_iter().enumerate() {
                out[k][6] = scale * value;
                out[6][k] = scale * value * if k < 3 { 1.0 } else { 2.0 };
            }
        }
        (out, scale)
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, v| most.max(v.abs()))
}

/// Solves seven equations by elimination with exchange of rows and columns; unknowns that equations
/// leave open, but for rounding, are zero.
fn solve(a: &mut [[f64; 7]; 7], mut b: [f64; 7]) -> [f64; 7] {
    let mut order: [usize; 7] = std::array::from_fn(|k| k);
    let (mut rank, mut first) = (0, 0.0);
    while rank < 7 {
        let entries = (rank..7).flat_map(|r| (rank..7).map(move |c| (r, c)));
        let (r, c) = entries.fold((rank, rank), |most, at| {
            if a[at.0][at.1].abs() > a[most.0][most.1].abs() {
                at
            } else {
                most
            }
        });
        let pivot = a[r][c];
        if rank == 0 {
            first = pivot.abs();
        }
        if pivot.abs() <= ROUNDING * first {
            break;
        }
        a.swap(rank, r);
        b.swap(rank, r);
        a.iter_mut().for_each(|row| row.swap(rank, c));
        order.swap(rank, c);
        let (above, below) = a.split_at_mut(rank + 1);
        let own = &above[rank];
        for (row, k) in below.iter_mut().zip(rank + 1..) {
            let factor = row[rank] / pivot;
            (rank..7).for_each(|c| row[c] -= factor * own[c]);
            b[k] -= factor * b[rank];
        }
        rank += 1;
    }
    let mut out = [0.0; 7];
    for r in (0..rank).rev() {
        let known: f64 = (r + 1..rank).map(|c| a[r][c] * out[order[c]]).sum();
        out[order[r]] = (b[r] - known) / a[r][r];
    }
    out
}
