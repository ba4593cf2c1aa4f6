//! Ligaments: a toe, a straight part, and damping in tension.

use super::toe::toe;
use crate::validate::{check_finite, check_not_negative, check_positive, check_space};
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, Space};
use std::ops::Range;

/// A bundle of a ligament along its line, on its full length `l` (m): a
/// [`Distance`](crate::Distance) or a [`Rope`](crate::Rope) without rest length.
///
/// **Equation.** With the strain `e = l/l_0 - 1` over the slack length `l_0` (m) and its rate
/// `u = v/l_0` the tension is zero for `e <= 0`, else `T = k (s + d max(u, 0))`: `s = e^2/(2 e_t)` in
/// the toe up to the strain `e_t`, `s = e - e_t/2` beyond (Blankevoort and Huiskes 1991; Blankevoort
/// et al. 1991, whose `e_t` is twice the `e_l` of the paper). `k` is a stiffness by strain (N), `d`
/// a time (s) as in OpenSim. With [`wisconsin`](Self::wisconsin) the damping acts both ways, as far
/// as something is left to pull: `T = max(k (s + d u), 0)`. Energy `k l_0` times the integral of `s`;
/// what `d` takes is dissipated. A ligament that becomes taut at a speed has its damping at once,
/// a jump of the force. `K = -df/dl` at `v = 0`, or zero where the damping leaves no tension.
///
/// **Use.** Ligaments and capsules of joints, in bundles. A slack length from an anatomical pose:
/// `l_0 = l_r/(1 + e_r)` for its length `l_r` and its strain `e_r` there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ligament {
    stiffness: f64,
    slack: f64,
    toe: f64,
    damping: f64,
    both_ways: bool,
}

impl Ligament {
    /// Stiffness `k` by strain (N) of the straight part and slack length `l_0` (m), both positive;
    /// the toe ends at a strain of .06, the damping is .003 s, against lengthening.
    pub fn new(stiffness: f64, slack_length: f64) -> Self {
        Self {
            stiffness,
            slack: slack_length,
            toe: 0.06,
            damping: 0.003,
            both_ways: false,
        }
    }

    /// Makes a ligament of the knee model of the University of Wisconsin: the damping acts in both
    /// directions while the ligament is taut, but never makes it push, and the toe ends at a strain
    /// of .03. Stiffness by strain (N) and slack length (m) as those of [`new`](Self::new).
    pub fn wisconsin(stiffness: f64, slack_length: f64) -> Self {
        Self {
            toe: 0.03,
            both_ways: true,
            ..Self::new(stiffness, slack_length)
        }
    }

    /// Sets the strain `e_t` (none) at which the toe ends; zero or more.
    #[must_use]
    pub fn with_transition_strain(mut self, strain: f64) -> Self {
        self.toe = strain;
        self
    }

    /// Sets the damping `d` (s), zero or more: the force by rate of strain is `k d`.
    #[must_use]
    pub fn with_damping(mut self, d: f64) -> Self {
        self.damping = d;
        self
    }

    /// Integral, value and slope of `s` over the strain; zeros where it is slack.
    fn elastic(&self, l: f64) -> [f64; 3] {
        let strain = (l - self.slack) / self.slack;
        if strain > 0.0 {
            toe(strain, self.toe)
        } else {
            [0.0; 3]
        }
    }

    /// The tension over `k`, and whether it changes with the rate of strain `u`.
    fn tension(&self, l: f64, u: f64) -> (f64, bool) {
        let elastic = self.elastic(l)[1];
        let total = elastic + self.damping * u;
        if l <= self.slack || (self.both_ways && total <= 0.0) {
            (0.0, false)
        } else if self.both_ways || u > 0.0 {
            (total, true)
        } else {
            (elastic, false)
        }
    }
}

impl ForceField for Ligament {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_space(name, "scalars (lengths)", space, space == Space::Real(1))?;
        check_positive(name, Field::Stiffness, self.stiffness)?;
        check_positive(name, Field::SlackLength, self.slack)?;
        check_not_negative(name, Field::TransitionStrain, self.toe)?;
        check_not_negative(name, Field::Damping, self.damping)?;
        // Blocks hold both of them over the length.
        check_finite(name, Field::Stiffness, self.stiffness / self.slack)?;
        check_finite(name, Field::Damping, self.stiffness / self.slack * self.damping)
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let sum: f64 = x.iter().map(|l| self.elastic(*l)[0]).sum();
        self.stiffness * self.slack * sum
    }

    fn add_force(&self, At { x, v, .. }: At<'_>, f: &mut [f64]) {
        for ((f, l), v) in f.iter_mut().zip(x).zip(v) {
            *f -= self.stiffness * self.tension(*l, v / self.slack).0;
        }
    }

    fn stiffness(&self, At { x, v, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        out.set_diagonal(|e| {
            let u = v.get(e).map_or(0.0, |v| v / self.slack);
            let pulls = self.tension(x[e], u).0 > 0.0;
            f64::from(u8::from(pulls)) * self.stiffness / self.slack * self.elastic(x[e])[2]
        });
        Ok(())
    }

    fn damping(&self, At { x, v, .. }: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|e| match self.tension(x[e], v[e] / self.slack) {
            (_, true) => self.stiffness / self.slack * self.damping,
            _ => 0.0,
        });
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn is_damped(&self) -> bool {
        self.damping > 0.0
    }

    fn restrict(&self, _space: Space, _elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(*self))
    }
}
