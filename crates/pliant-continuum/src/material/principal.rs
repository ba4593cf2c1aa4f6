//! Isotropic laws on principal stretches: from stresses and moduli over their logarithms to those
//! over the deformation gradient.

use crate::strain::write_matrix;
use pliant_dense::eigen::symmetric_eigen;
use pliant_dense::{Mat3, Vec3};

/// The principal stretches `s_i` of `F = sum_i s_i n_i N_i^T`.
///
/// A function `w` of their logarithms with the Kirchhoff stresses `tau_i = dw/d ln s_i` has
///
/// ```math
/// P = sum_i tau_i/s_i n_i N_i^T
/// ```
///
/// The tangent is that of Ogden, Non-Linear Elastic Deformations (1984), section 6.1.4.
pub(super) struct Principal {
    /// `ln s_i`.
    pub(super) logs: [f64; 3],
    pub(super) stretches: [f64; 3],
    /// `N_i`, principal directions at rest.
    pub(super) before: [Vec3; 3],
    /// `n_i`, where they went.
    pub(super) after: [Vec3; 3],
}

/// The pairs of different axes, in the order of [`Isotropic::turns`].
pub(super) const PAIRS: [(usize, usize); 3] = [(1, 0), (2, 0), (2, 1)];

/// An isotropic law at principal stretches.
pub(super) struct Isotropic {
    /// `tau_i` (Pa).
    pub(super) stress: [f64; 3],
    /// `d tau_i/d ln s_j` (Pa).
    pub(super) slopes: [[f64; 3]; 3],
    /// `(tau_i - tau_j)/(s_i^2 - s_j^2)` (Pa) of the [`PAIRS`], with the limits where stretches are
    /// equal.
    pub(super) turns: [f64; 3],
}

impl Principal {
    /// None where the volume is not positive.
    pub(super) fn of(f: &Mat3) -> Option<Self> {
        if f.determinant().is_nan() || f.determinant() <= 0.0 {
            return None;
        }
        let (mut c, mut v) = ([0.0; 9], [0.0; 9]);
        write_matrix(&(f.transpose() * f), &mut c);
        if !symmetric_eigen(3, &mut c, &mut v) {
            return None;
        }
        let squares = [c[0], c[4], c[8]];
        // A square that rounding leaves at zero or below has no logarithm.
        if !squares.iter().all(|c| *c > 0.0) {
            return None;
        }
        let stretches = squares.map(f64::sqrt);
        let before = [0, 1, 2].map(|i| Vec3::new(v[i], v[3 + i], v[6 + i]));
        Some(Self {
            logs: squares.map(|c| 0.5 * c.ln()),
            stretches,
            before,
            after: [0, 1, 2].map(|i| f * before[i] / stretches[i]),
        })
    }

    /// Stretches of `F A` for functions of `F`: directions at rest become `A N_i`.
    pub(super) fn behind(mut self, a: &Mat3) -> Self {
        self.before = self.before.map(|n| a * n);
        self
    }

    /// The logarithms without their mean, which is that of the volume.
    pub(super) fn deviator(&self) -> [f64; 3] {
        let mean = self.logs.iter().sum::<f64>() / 3.0;
        self.logs.map(|e| e - mean)
    }

    /// First Piola-Kirchhoff stress (Pa) of these principal Kirchhoff stresses (Pa).
    pub(super) fn stress(&self, tau: &[f64; 3]) -> Mat3 {
        (0..3)
            .map(|i| self.after[i] * self.before[i].transpose() * (tau[i] / self.stretches[i]))
            .sum()
    }

    /// `(ln s_i - ln s_j)/(s_i^2 - s_j^2)` of the [`PAIRS`], which keeps its digits where stretches
    /// are equal or nearly so.
    pub(super) fn quotients(&self) -> [f64; 3] {
        PAIRS.map(|(i, j)| {
            let twice = 2.0 * (self.logs[i] - self.logs[j]);
            let share = if twice == 0.0 { 1.0 } else { twice / twice.exp_m1() };
            0.5 * share / (self.stretches[j] * self.stretches[j])
        })
    }

    /// Adds the derivative of the stress of a law, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, law: &Isotropic, out: &mut [f64]) {
        let (s, tau) = (self.stretches, law.stress);
        let frame = [0, 1, 2].map(|i| {
            [0, 1, 2].map(|j| {
                let mut list = [0.0; 9];
                write_matrix(&(self.after[i] * self.before[j].transpose()), &mut list);
                list
            })
        });
        let mut add = |weight: f64, left: &[f64; 9], right: &[f64; 9]| {
            for (row, left) in out.chunks_exact_mut(9).zip(left) {
                for (out, right) in row.iter_mut().zip(right) {
                    *out += weight * left * right;
                }
            }
        };
        for i in 0..3 {
            for j in 0..3 {
                let own = if i == j { tau[i] } else { 0.0 };
                let along = (law.slopes[i][j] - own) / (s[i] * s[j]);
                add(along, &frame[i][i], &frame[j][j]);
            }
        }
        for ((i, j), turn) in PAIRS.into_iter().zip(law.turns) {
            let swap = 0.5 * (turn * (s[i] * s[i] + s[j] * s[j]) - tau[i] - tau[j]) / (s[i] * s[j]);
            for (one, other) in [(&frame[i][j], &frame[j][i]), (&frame[j][i], &frame[i][j])] {
                add(turn, one, one);
                add(swap, one, other);
            }
        }
    }
}
