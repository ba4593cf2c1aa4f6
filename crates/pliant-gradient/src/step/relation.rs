//! The relations of the nonlinear step and of BDF2 between velocities, accelerations and places.

use crate::GradientError;
use crate::equations::Equations;
use crate::taken::StepWeights;
use pliant_kkt::Scheme;
use pliant_model::{ComponentId, Level, RowGroup, RowLaw};

/// The relations of a step, with its memory `v_b` and `d_b` of the one before:
///
/// ```math
/// a = (v+ - v^)/H,   x+ = x (+) (k v+ + b v + c d_b),   v^ = p v + q v_b
/// ```
///
/// BDF2 has `H = k = h (1 + r)/(1 + 2 r)` for the ratio `r` of a step to the one before; the
/// nonlinear step has `H = h`, `k = beta h`, `b = (1 - beta) h`, and nothing of what was before.
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

    /// `alpha H` (s): the inertia of both ends, over the weight of the equations of motion at the
    /// end.
    pub(super) fn inertia_span(&self) -> f64 {
        self.weights.alpha * self.span
    }
}

/// Refuses weights that are none, and those in whose steps a row ends at other velocities than its
/// equation has.
///
/// # Errors
/// [`GradientError::Weights`]; [`GradientError::NotBuilt`] for masses on nodes that are mapped
/// nonlinearly where a weight is below 1, and for hard rows that hold a position on one side where
/// `beta` is.
pub(super) fn check_weights(equations: &Equations, weights: StepWeights) -> Result<(), GradientError> {
    let StepWeights { alpha, beta } = weights;
    if [alpha, beta].iter().any(|w| !(*w > 0.0 && *w <= 1.0)) {
        return Err(GradientError::Weights { alpha, beta });
    }
    let Equations {
        problem,
        evaluation,
        curved_mass,
        ..
    } = equations;
    if let (Some(mass), true) = (curved_mass, weights != StepWeights::END) {
        return Err(GradientError::NotBuilt {
            what: format!("the mass `{mass}` in steps with weights below 1"),
            why: "it is on a node whose mapping is not linear: take `alpha` and `beta` of 1",
        });
    }
    let is_one_sided = |group: &&RowGroup| {
        let bounds = problem.bounds(group);
        let holds = match group.component {
            ComponentId::Constraint(i) => matches!(
                problem.constraints()[i].component.level,
                Level::Position | Level::CurvedPosition
            ),
            _ => problem.row_law(group) != RowLaw::Viscous,
        };
        let mut rows = 0..group.size * group.count;
        bounds.is_some_and(|(lower, upper)| (lower == 0.0) != (upper == 0.0))
            && holds
            && rows.any(|k| evaluation.is_hard(group, k))
    };
    match problem.row_groups().iter().find(is_one_sided) {
        Some(group) if beta < 1.0 => Err(GradientError::NotBuilt {
            what: format!(
                "`{}` in steps with `beta` below 1",
                problem.component_name(group.component)
            ),
            why: "it holds on one side: take `beta` of 1",
        }),
        _ => Ok(()),
    }
}
