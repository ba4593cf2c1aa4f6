//! The relations of the nonlinear step and of BDF2 between velocities, accelerations and places.

use crate::GradientError;
use crate::taken::{StepWeights, TakenStep};
use pliant_kkt::Scheme;

/// The relations of a step, with its memory `v_b` and `d_b` of the one before:
///
/// ```math
/// a = (v+ - v^)/H,   x+ = x (+) (k v+ + b v + c d_b),   v^ = p v + q v_b
/// ```
///
/// BDF2 has `H = k = h (1 + r)/(1 + 2 r)` for the ratio `r` of a step to the one before; the nonlinear
/// step has `H = h`, `k = beta h`, `b = (1 - beta) h`, and nothing of what was before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relation {
    /// `H` (s).
    pub(super) span: f64,
    /// `k` (s).
    pub(super) reach: f64,
    /// `b` (s).
    pub(super) ahead_by_velocity: f64,
    /// `p`.
    pub(super) by_velocity: f64,
    /// `q`.
    pub(super) by_before: f64,
    /// `c`.
    pub(super) by_displacement: f64,
    /// The weights of its end.
    pub(super) weights: StepWeights,
}

impl Relation {
    /// The relation of a step of length `h` (s) with weights of its end, or behind one of length
    /// `before` that BDF2 remembers.
    pub(super) fn of(h: f64, weights: StepWeights, before: Option<f64>) -> Self {
        // r = 0 is implicit Euler.
        let r = before.map_or(0.0, |before| h / before);
        let end = (1.0 + 2.0 * r) / (1.0 + r);
        let first = r * r / (1.0 + r) / end;
        Self {
            span: h / end,
            reach: weights.beta * h / end,
            ahead_by_velocity: (1.0 - weights.beta) * h,
            by_velocity: (1.0 + r) / end,
            by_before: -first,
            by_displacement: first,
            weights,
        }
    }

    /// The scheme of the symmetric matrix.
    pub(super) fn scheme(&self) -> Scheme {
        let StepWeights { alpha, beta } = self.weights;
        Scheme::implicit_euler(self.span).with_weights(alpha, beta)
    }

    /// `alpha H` (s): the inertia of both ends, over the weight of the equations of motion at the end.
    pub(super) fn inertia_span(&self) -> f64 {
        self.weights.alpha * self.span
    }
}

/// Refuses weights that are none.
///
/// # Errors
/// [`GradientError::Weights`]; [`GradientError::NotBuilt`] for other weights than those of the end in a
/// step of BDF2.
pub(super) fn check_weights(step: &TakenStep<'_>) -> Result<(), GradientError> {
    let StepWeights { alpha, beta } = step.weights;
    if [alpha, beta].iter().any(|w| !(*w > 0.0 && *w <= 1.0)) {
        return Err(GradientError::Weights { alpha, beta });
    }
    match step.before.is_some() && step.weights != StepWeights::END {
        true => Err(GradientError::NotBuilt {
            what: "a step of BDF2 with weights".to_owned(),
            why: "its equations are those of its end",
        }),
        false => Ok(()),
    }
}
