//! Prony series: how moduli fall off with time, and the recurrence of one of its branches.

use crate::ContinuumError;
use crate::checks::{check_number, check_range};
use pliant_model::validate::check_positive;
use pliant_model::{Field, ModelError};

/// One term of a [`PronySeries`]: a spring and a dashpot in a row (a Maxwell branch).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PronyTerm {
    /// Relaxation time (s).
    pub time: f64,
    /// Share of the instantaneous shear modulus that relaxes with it (none), zero or more.
    pub shear: f64,
    /// Share of the instantaneous bulk modulus that relaxes with it (none), zero or more.
    pub bulk: f64,
}

impl PronyTerm {
    /// Relaxation time (s), and the share (none) of all moduli that relaxes with it.
    pub const fn new(time: f64, share: f64) -> Self {
        Self {
            time,
            shear: share,
            bulk: share,
        }
    }

    /// Relaxation time (s), and the share (none) of the shear modulus alone.
    pub const fn of_shear(time: f64, share: f64) -> Self {
        Self {
            time,
            shear: share,
            bulk: 0.0,
        }
    }
}

/// How the stress of a viscoelastic material relaxes (a generalised Maxwell model).
///
/// The modulus a time `t` after a strain that came at once is
/// `G(t) = G_0 (1 - sum_i g_i (1 - exp(-t/tau_i)))`, with the share `g_i` and the time `tau_i` of
/// each term; `K(t)` likewise. `G_0` and `K_0` are the instantaneous moduli, those that the
/// material is made with; `G_0 (1 - sum g_i)` is left for ever. One term makes the standard linear
/// solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PronySeries {
    terms: [PronyTerm; Self::MOST],
    count: usize,
}

impl PronySeries {
    /// Terms at most.
    pub const MOST: usize = 12;

    /// A series of these terms.
    ///
    /// # Errors
    /// [`ContinuumError::OutOfRange`] of no terms or more than [`MOST`](Self::MOST). What is wrong
    /// with a number is said where the material goes into a model.
    pub fn new(terms: &[PronyTerm]) -> Result<Self, ContinuumError> {
        let (count, holds) = (terms.len() as f64, (1..=Self::MOST).contains(&terms.len()));
        check_number(Field::NumberOfPronyTerms, count, holds, "from 1 to 12")?;
        let mut all = [PronyTerm::default(); Self::MOST];
        all[..terms.len()].copy_from_slice(terms);
        Ok(Self {
            terms: all,
            count: terms.len(),
        })
    }

    /// The terms.
    pub fn terms(&self) -> &[PronyTerm] {
        &self.terms[..self.count]
    }

    /// The series of the shear modulus alone.
    pub(crate) fn of_shape(mut self) -> Self {
        self.terms.iter_mut().for_each(|term| term.bulk = 0.0);
        self
    }

    /// The shares of the shear and the bulk modulus that never relax.
    pub fn long_time(&self) -> [f64; 2] {
        let of = |share: fn(&PronyTerm) -> f64| 1.0 - self.terms().iter().map(share).sum::<f64>();
        [of(|t| t.shear), of(|t| t.bulk)]
    }

    /// The shares that resist a strain that grows evenly over a time `elapsed` (s).
    pub(super) fn shares_after(&self, elapsed: f64) -> [f64; 2] {
        let [mut shear, mut bulk] = self.long_time();
        for term in self.terms() {
            let grown = Branch::after(term.time, elapsed).grown;
            shear += term.shear * grown;
            bulk += term.bulk * grown;
        }
        [shear, bulk]
    }

    pub(super) fn check(&self, name: &str) -> Result<(), ModelError> {
        for term in self.terms() {
            check_positive(name, Field::PronyTimes, term.time)?;
            for (field, share) in [(Field::ShearShares, term.shear), (Field::BulkShares, term.bulk)] {
                check_range(
                    name,
                    field,
                    share,
                    (0.0..=1.0).contains(&share),
                    "between 0 and 1",
                )?;
            }
        }
        for (field, left) in [Field::ShearShareLeft, Field::BulkShareLeft]
            .into_iter()
            .zip(self.long_time())
        {
            // Shares that add up to 1 may miss it by rounding.
            check_range(
                name,
                field,
                left,
                left >= -1e-12,
                "zero or more: its shares add up to 1 at most",
            )?;
        }
        Ok(())
    }
}

/// A Maxwell branch of relaxation time `tau` over a time `t`, along which its strain grows evenly
/// by `de`: its elastic strain `a`, with `da/dt = de/dt - a/tau`, goes to `decay a + grown de`.
/// Exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    pub(super) decay: f64,
    pub(super) grown: f64,
    /// `t/tau`.
    ratio: f64,
}

impl Branch {
    pub(super) fn after(tau: f64, elapsed: f64) -> Self {
        let ratio = elapsed / tau;
        Self {
            decay: (-ratio).exp(),
            grown: if ratio == 0.0 {
                1.0
            } else {
                -(-ratio).exp_m1() / ratio
            },
            ratio,
        }
    }

    /// How far the strain of the dashpot at the end is beyond its mean on the way, from none at the
    /// start, as a share of `de`: `1/2 - grown + (1 - grown)/s` with `s = t/tau`.
    pub(super) fn lag(&self) -> f64 {
        let s = self.ratio;
        if s >= 0.5 {
            return 0.5 - self.grown + (1.0 - self.grown) / s;
        }
        // The sum of -(-s)^k (k + 1)/(k + 2)!: the closed form would lose all digits.
        let (mut sum, mut power) = (0.0, 0.5);
        for k in 1..20 {
            power *= -s / (k + 2) as f64;
            sum -= power * (k + 1) as f64;
        }
        sum
    }

    /// The energy that its dashpot takes on the way, `1/tau` times the integral of `a . D a`, from
    /// the products `a . D a`, `a . D de` and `de . D de` of the start.
    pub(super) fn dissipated(&self, [old, mixed, new]: [f64; 3]) -> f64 {
        let s = self.ratio;
        if s == 0.0 {
            return 0.0;
        }
        // With a(z) = a exp(-z) + de (1 - exp(-z))/s: integrals over z from 0 to s of exp(-2 z),
        // exp(-z) (1 - exp(-z)), (1 - exp(-z))^2.
        let gone = -(-s).exp_m1();
        let fresh = if s < 0.5 {
            // The sum of (-1)^k (2^k - 2) s^(k+1)/(k+1)!: the closed form would lose all digits.
            let (mut sum, mut power, mut two) = (0.0, s, 1.0);
            for k in 1..24 {
                power *= -s / (k + 1) as f64;
                two *= 2.0;
                sum += (two - 2.0) * power;
            }
            sum / (s * s)
        } else {
            1.0 / s - (gone + 0.5 * gone * gone) / (s * s)
        };
        old * 0.5 * gone * (2.0 - gone) + mixed * gone * gone / s + new * fresh
    }
}
