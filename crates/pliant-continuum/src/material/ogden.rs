//! Ogden's energy, on principal stretches.

use crate::strain::write_matrix;
use pliant_dense::eigen::symmetric_eigen;
use pliant_dense::{Mat3, Vec3};

/// Ogden's terms `[mu_p, alpha_p]` (Pa, none) at one deformation gradient, without the part of the
/// volume.
///
/// With the principal stretches `s_i` of `F = sum_i s_i n_i N_i^T` and the logarithms
/// `e_i = ln(J^(-1/3) s_i)` the energy density is
/// `sum_p mu_p/alpha_p sum_i (exp(alpha_p e_i) - 1)`. Its derivatives over the `e_i` are taken away
/// from their mean, because the `e_i` add up to zero. The tangent of an isotropic energy is that of
/// Ogden, Non-Linear Elastic Deformations (1984), section 6.1.4; the quotients over differences of
/// stretches in it are divided differences of powers, which keep their digits where stretches are
/// equal or nearly so.
pub(super) struct Principal<'a> {
    terms: &'a [[f64; 2]],
    /// `e_i`.
    logs: [f64; 3],
    stretches: [f64; 3],
    /// `N_i`, principal directions at rest.
    before: [Vec3; 3],
    /// `n_i`, where they went.
    after: [Vec3; 3],
}

impl<'a> Principal<'a> {
    /// None where the volume is not positive.
    pub(super) fn of(f: &Mat3, terms: &'a [[f64; 2]]) -> Option<Self> {
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
        let logs = squares.map(|c| 0.5 * c.ln());
        let mean = logs.iter().sum::<f64>() / 3.0;
        let stretches = squares.map(f64::sqrt);
        let before = [0, 1, 2].map(|i| Vec3::new(v[i], v[3 + i], v[6 + i]));
        Some(Self {
            terms,
            logs: logs.map(|e| e - mean),
            stretches,
            before,
            after: [0, 1, 2].map(|i| f * before[i] / stretches[i]),
        })
    }

    /// Energy density (Pa).
    pub(super) fn density(&self) -> f64 {
        self.sum(|mu, alpha| mu / alpha * self.logs.iter().map(|e| (alpha * e).exp_m1()).sum::<f64>())
    }

    /// First Piola-Kirchhoff stress (Pa): `sum_i tau_i/s_i n_i N_i^T`.
    pub(super) fn stress(&self) -> Mat3 {
        let tau = self.kirchhoff();
        (0..3)
            .map(|i| self.after[i] * self.before[i].transpose() * (tau[i] / self.stretches[i]))
            .sum()
    }

    /// Adds the derivative of the stress, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, out: &mut [f64]) {
        let (s, tau) = (self.stretches, self.kirchhoff());
        // d tau_i/d e_i of one axis alone, before the mean is taken away.
        let slopes = self
            .logs
            .map(|e| self.sum(|mu, alpha| mu * alpha * (alpha * e).exp()));
        let mean = slopes.iter().sum::<f64>() / 9.0;
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
            let own = (slopes[i] - tau[i]) / (s[i] * s[i]);
            add(own, &frame[i][i], &frame[i][i]);
            for j in 0..3 {
                let coupling = mean - (slopes[i] + slopes[j]) / 3.0;
                add(coupling / (s[i] * s[j]), &frame[i][i], &frame[j][j]);
            }
            for j in 0..i {
                let turn = self.divided_difference(i, j);
                let swap = 0.5 * (turn * (s[i] * s[i] + s[j] * s[j]) - tau[i] - tau[j]) / (s[i] * s[j]);
                for (one, other) in [(&frame[i][j], &frame[j][i]), (&frame[j][i], &frame[i][j])] {
                    add(turn, one, one);
                    add(swap, one, other);
                }
            }
        }
    }

    /// Principal Kirchhoff stresses `tau_i = dw/d ln s_i` (Pa), which add up to zero.
    fn kirchhoff(&self) -> [f64; 3] {
        let of = |e: f64| self.sum(|mu, alpha| mu * (alpha * e).exp_m1());
        let alone = self.logs.map(of);
        let mean = alone.iter().sum::<f64>() / 3.0;
        alone.map(|t| t - mean)
    }

    /// `(tau_i - tau_j)/(s_i^2 - s_j^2)` (Pa), with its limit
    /// `sum_p mu_p alpha_p exp(alpha_p e_j)/(2 s_j^2)` where both stretches are one.
    fn divided_difference(&self, i: usize, j: usize) -> f64 {
        let log = 2.0 * (self.logs[i] - self.logs[j]);
        let quotient = |power: f64| {
            if log == 0.0 {
                power
            } else {
                (power * log).exp_m1() / log.exp_m1()
            }
        };
        self.sum(|mu, alpha| mu * (alpha * self.logs[j]).exp() * quotient(0.5 * alpha))
            / (self.stretches[j] * self.stretches[j])
    }

    /// Over the terms that are there.
    fn sum(&self, of: impl Fn(f64, f64) -> f64) -> f64 {
        let there = self.terms.iter().filter(|[mu, _]| *mu != 0.0);
        there.map(|[mu, alpha]| of(*mu, *alpha)).sum()
    }
}
