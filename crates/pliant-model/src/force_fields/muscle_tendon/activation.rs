//! Activation dynamics.

/// How the activation of a muscle follows its excitation.
///
/// `da/dt = (u - a)/tau`, with `tau = t_on (1/2 + 3 a/2)` where it rises and
/// `t_off/(1/2 + 3 a/2)` where it falls (Winters 1995; Thelen 2003).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationDynamics {
    /// The time constant `t_on` (s), positive.
    pub activation: f64,
    /// The time constant `t_off` (s), positive.
    pub deactivation: f64,
}

impl ActivationDynamics {
    /// Time constants of Thelen (2003) for young adults: 15 and 50 ms.
    pub const THELEN: Self = Self {
        activation: 0.015,
        deactivation: 0.05,
    };

    /// Time constants of the muscle of Millard et al. (2013): 10 and 40 ms.
    pub const MILLARD: Self = Self {
        activation: 0.01,
        deactivation: 0.04,
    };

    /// The activation a time (s) after `a`, by one step of the implicit Euler method: between `a`
    /// and the excitation `u`.
    ///
    /// The equation of the step is a quadratic one, `p x^2 + q x = r` with `p` and `r` not below
    /// zero, so that one of its roots is not below zero, and that is the one between both.
    pub(super) fn after(self, a: f64, u: f64, elapsed: f64) -> f64 {
        if elapsed == 0.0 {
            return a;
        }
        if elapsed == f64::INFINITY {
            return u;
        }
        // Both times as shares of their sum, so that none is too long or too short for the squares.
        let shares = |constant: f64| (constant / (constant + elapsed), elapsed / (constant + elapsed));
        let (p, q, r) = if u > a {
            let (slow, fast) = shares(self.activation);
            (
                1.5 * slow,
                slow * (0.5 - 1.5 * a) + fast,
                0.5 * slow * a + fast * u,
            )
        } else {
            let (slow, fast) = shares(self.deactivation);
            (
                1.5 * fast,
                slow + fast * (0.5 - 1.5 * u),
                slow * a + 0.5 * fast * u,
            )
        };
        let root = (q * q + 4.0 * p * r).sqrt();
        // The form without cancellation.
        let x = if q >= 0.0 {
            2.0 * r / (q + root)
        } else {
            (root - q) / (2.0 * p)
        };
        // Rounding of the root must not leave the interval.
        x.max(a.min(u)).min(a.max(u))
    }
}
