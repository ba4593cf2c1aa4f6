//! Small strain, Green and Lagrange's strain, volume ratio.

use super::{
    GreenLagrange, OfGradient, OnePoint, SmallStrain, VolumeRatio, matrix, strain_numbers, stress_matrix,
    write_matrix,
};
use pliant_dense::{Mat3, Vec3, skew};

/// Rows and columns of the two entries that make each strain number: `e_k` is the mean of both on
/// the diagonal, the sum off it.
pub(super) const PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 0]];

impl OfGradient for SmallStrain {
    const SIZE: usize = 6;
    const LINEAR: bool = true;
    const MADE: bool = true;
}

impl OnePoint for SmallStrain {
    fn value(f: &Mat3, out: &mut [f64]) {
        out.copy_from_slice(&strain_numbers(f));
        out[..3].iter_mut().for_each(|e| *e -= 1.0);
    }

    fn jacobian(_f: &Mat3, out: &mut [f64]) {
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            out[9 * k + 3 * i + j] = 1.0;
            out[9 * k + 3 * j + i] = 1.0;
        }
    }
}

impl OfGradient for GreenLagrange {
    const SIZE: usize = 6;
    const CHORDS: bool = true;
    const MADE: bool = true;
}

impl OnePoint for GreenLagrange {
    fn value(f: &Mat3, out: &mut [f64]) {
        // With D = F - I, E = (D + D^T + D^T D)/2 keeps the digits of small strains.
        let d = f - Mat3::identity();
        out.copy_from_slice(&strain_numbers(&(0.5 * (d + d.transpose() + d.transpose() * d))));
    }

    fn jacobian(f: &Mat3, out: &mut [f64]) {
        out.copy_from_slice(&strain_rows(f));
    }

    fn hessian(_f: &Mat3, force: &[f64], out: &mut [f64]) {
        let s = stress_matrix(force);
        for a in 0..3 {
            for i in 0..3 {
                for j in 0..3 {
                    out[(3 * a + i) * 9 + 3 * a + j] = s[(i, j)];
                }
            }
        }
    }

    fn acceleration(_f: &Mat3, rate: &[f64], out: &mut [f64]) {
        let rate = matrix(rate);
        let second = strain_numbers(&(rate.transpose() * rate));
        out.iter_mut().zip(second).for_each(|(o, s)| *o += s);
    }
}

/// The derivative of the six numbers of `(F^T F - I)/2`, six rows over the nine entries of `F`.
pub(crate) fn strain_rows(f: &Mat3) -> [f64; 54] {
    let mut out = [0.0; 54];
    // d(F^T F)_ij = dF_ai F_aj + F_ai dF_aj.
    for (k, [i, j]) in PAIRS.into_iter().enumerate() {
        for a in 0..3 {
            if i == j {
                out[9 * k + 3 * a + i] = f[(a, i)];
            } else {
                out[9 * k + 3 * a + i] = f[(a, j)];
                out[9 * k + 3 * a + j] = f[(a, i)];
            }
        }
    }
    out
}

/// The cofactors of a matrix: the derivative of its determinant.
pub(crate) fn cofactors(f: &Mat3) -> Mat3 {
    let column = |j: usize| f.column(j).into_owned();
    Mat3::from_columns(&[
        column(1).cross(&column(2)),
        column(2).cross(&column(0)),
        column(0).cross(&column(1)),
    ])
}

/// Adds `s` times the second derivative of the determinant, 9 x 9 over the entries rows first.
pub(crate) fn add_determinant_hessian(f: &Mat3, s: f64, out: &mut [f64]) {
    // d(f_1 x f_2) = [f_1] df_2 - [f_2] df_1, of columns and so on round.
    for j in 0..3 {
        let (next, last) = ((j + 1) % 3, (j + 2) % 3);
        let of = |k: usize| skew(Vec3::from(f.column(k).into_owned()));
        let (by_last, by_next) = (of(next), -of(last));
        for a in 0..3 {
            for b in 0..3 {
                out[(3 * a + j) * 9 + 3 * b + last] += s * by_last[(a, b)];
                out[(3 * a + j) * 9 + 3 * b + next] += s * by_next[(a, b)];
            }
        }
    }
}

impl OfGradient for VolumeRatio {
    const SIZE: usize = 1;
}

impl OnePoint for VolumeRatio {
    fn value(f: &Mat3, out: &mut [f64]) {
        // det(I + D) - 1 = tr D + (sum of principal minors of D) + det D keeps the digits of small
        // changes.
        let d = f - Mat3::identity();
        out[0] = d.trace() + cofactors(&d).trace() + d.determinant();
    }

    fn jacobian(f: &Mat3, out: &mut [f64]) {
        write_matrix(&cofactors(f), out);
    }

    fn hessian(f: &Mat3, force: &[f64], out: &mut [f64]) {
        add_determinant_hessian(f, force[0], out);
    }

    fn acceleration(f: &Mat3, rate: &[f64], out: &mut [f64]) {
        // The t^2 of det(F + t dF) has the factor 2.
        out[0] += 2.0 * cofactors(&matrix(rate)).dot(f);
    }
}
