//! Ogden's energy, on principal stretches.

use super::principal::{Isotropic, PAIRS, Principal};
use pliant_dense::Mat3;

/// Ogden's terms `[mu_p, alpha_p]` (Pa, none) at one deformation gradient, without the part of the
/// volume.
///
/// With the principal stretches `s_i` and the logarithms `e_i = ln(J^(-1/3) s_i)` the energy
/// density is `sum_p mu_p/alpha_p sum_i (exp(alpha_p e_i) - 1)`. Its derivatives over the `e_i` are
/// taken away from their mean, because the `e_i` add up to zero. The quotients over differences of
/// stretches in the tangent are divided differences of powers, which keep their digits where
/// stretches are equal or nearly so.
pub(super) struct Ogden<'a> {
    terms: &'a [[f64; 2]],
    /// `e_i`.
    logs: [f64; 3],
    principal: Principal,
}

impl<'a> Ogden<'a> {
    /// None where the volume is not positive.
    pub(super) fn of(f: &Mat3, terms: &'a [[f64; 2]]) -> Option<Self> {
        let principal = Principal::of(f)?;
        Some(Self {
            terms,
            logs: principal.deviator(),
            principal,
        })
    }

    /// Energy density (Pa).
    pub(super) fn density(&self) -> f64 {
        self.sum(|mu, alpha| mu / alpha * self.logs.iter().map(|e| (alpha * e).exp_m1()).sum::<f64>())
    }

    /// First Piola-Kirchhoff stress (Pa).
    pub(super) fn stress(&self) -> Mat3 {
        self.principal.stress(&self.kirchhoff())
    }

    /// Adds the derivative of the stress, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, out: &mut [f64]) {
        // d tau_i/d e_i of one axis alone, before the mean is taken away.
        let alone = self
            .logs
            .map(|e| self.sum(|mu, alpha| mu * alpha * (alpha * e).exp()));
        let mean = alone.iter().sum::<f64>() / 9.0;
        let slope = |i: usize, j: usize| {
            let own = if i == j { alone[i] } else { 0.0 };
            own + (mean - (alone[i] + alone[j]) / 3.0)
        };
        let law = Isotropic {
            stress: self.kirchhoff(),
            slopes: std::array::from_fn(|i| std::array::from_fn(|j| slope(i, j))),
            turns: PAIRS.map(|(i, j)| self.divided_difference(i, j)),
        };
        self.principal.add_tangent(&law, out);
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
        let stretch = self.principal.stretches[j];
        self.sum(|mu, alpha| mu * (alpha * self.logs[j]).exp() * quotient(0.5 * alpha)) / (stretch * stretch)
    }

    /// Over the terms that are there.
    fn sum(&self, of: impl Fn(f64, f64) -> f64) -> f64 {
        let there = self.terms.iter().filter(|[mu, _]| *mu != 0.0);
        there.map(|[mu, alpha]| of(*mu, *alpha)).sum()
    }
}
