//! Implicit methods.

use super::{Finished, ImplicitMethod, Past, Relation, Start};
use crate::Error;

fn in_range(what: &'static str, value: f64, fine: bool, bound: &'static str) -> Result<(), Error> {
    if fine {
        Ok(())
    } else {
        Err(Error::OutOfRange { what, value, bound })
    }
}

/// The generalised-alpha family on Lie groups with constraints at the level of positions (Arnold
/// and Brüls 2007):
///
/// ```math
/// (1 - alpha_m) a+ + alpha_m a = (1 - alpha_f) v'+ + alpha_f v',   v+ = v + h (1 - gamma) a + h gamma a+,
/// x+ = x (+) (h v + h^2 (1/2 - beta) a + h^2 beta a+)
/// ```
///
/// with the accelerations `v'` of the equation of motion. The algorithmic acceleration `a` belongs
/// to the time `(alpha_m - alpha_f) h` after that of `v'`, so that a step of another length than
/// the last first moves it to its own: `a <- v' + (h/h_last) (a - v')`, without which the order is
/// lost where steps vary. Order 2 for `gamma = 1/2 + alpha_f - alpha_m`. With hard rows their
/// multipliers have order 2 once the first steps are damped away, which needs a spectral radius
/// below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralisedAlpha {
    /// Weight of the old algorithmic acceleration, below 1.
    pub alpha_m: f64,
    /// Weight of the old acceleration, below 1.
    pub alpha_f: f64,
    /// Weight of the new acceleration in positions, positive.
    pub beta: f64,
    /// Weight of the new acceleration in velocities, positive.
    pub gamma: f64,
}

impl GeneralisedAlpha {
    /// Chung and Hulbert's parameters for the spectral radius `rho` at infinite frequency, in
    /// `[0, 1]`.
    pub fn of_radius(rho: f64) -> Self {
        let (alpha_m, alpha_f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
        let gamma = 0.5 + alpha_f - alpha_m;
        Self {
            alpha_m,
            alpha_f,
            beta: 0.25 * (gamma + 0.5) * (gamma + 0.5),
            gamma,
        }
    }

    /// The algorithmic acceleration of the start, for a step of length `h`.
    fn algorithmic(h: f64, previous: Option<f64>, a: f64, rate: f64) -> f64 {
        match previous {
            Some(last) if last != h => rate + h / last * (a - rate),
            _ => a,
        }
    }

    /// Newmark's method: no averages.
    pub fn newmark(beta: f64, gamma: f64) -> Self {
        Self {
            alpha_m: 0.0,
            alpha_f: 0.0,
            beta,
            gamma,
        }
    }
}

impl ImplicitMethod for GeneralisedAlpha {
    fn name(&self) -> &'static str {
        "generalised-alpha"
    }

    fn check(&self) -> Result<(), Error> {
        let Self {
            alpha_m,
            alpha_f,
            beta,
            gamma,
        } = *self;
        // A radius outside [0, 1] has parameters outside these.
        let averages = "at least -1 and at most 1/2 (a spectral radius in [0, 1])";
        in_range("alpha_m", alpha_m, (-1.0..=0.5).contains(&alpha_m), averages)?;
        in_range(
            "alpha_f",
            alpha_f,
            (0.0..=0.5).contains(&alpha_f),
            "at least 0 and at most 1/2",
        )?;
        for (what, value) in [
            ("beta of Newmark's formulas", beta),
            ("gamma of Newmark's formulas", gamma),
        ] {
            in_range(what, value, value > 0.0 && value <= 2.0, "above 0 and at most 2")?;
        }
        Ok(())
    }

    fn order(&self) -> usize {
        let of_order_two = 0.5 + self.alpha_f - self.alpha_m;
        if (self.gamma - of_order_two).abs() < 1e-12 {
            2
        } else {
            1
        }
    }

    fn memory(&self) -> usize {
        2
    }

    fn needs_acceleration(&self) -> bool {
        true
    }

    fn start(&self, state: &Start<'_>, memory: &mut [f64]) {
        let (a, rate) = memory.split_at_mut(state.acceleration.len());
        a.copy_from_slice(state.acceleration);
        rate.copy_from_slice(state.acceleration);
    }

    fn relate(&self, past: &Past<'_>, relation: &mut Relation) {
        let (h, n) = (past.h, past.velocity.len());
        let (old, rate) = past.memory.split_at(n);
        let of_a = (1.0 - self.alpha_m) / (1.0 - self.alpha_f);
        relation.acceleration_gain = of_a / (h * self.gamma);
        relation.displacement_gain = h * self.beta / self.gamma;
        for i in 0..n {
            let old = Self::algorithmic(h, past.previous, old[i], rate[i]);
            // a+ without the share of v+.
            let a = -(past.velocity[i] / h + (1.0 - self.gamma) * old) / self.gamma;
            relation.acceleration[i] =
                of_a * a + (self.alpha_m * old - self.alpha_f * rate[i]) / (1.0 - self.alpha_f);
            relation.displacement[i] =
                h * past.velocity[i] + h * h * ((0.5 - self.beta) * old + self.beta * a);
        }
    }

    fn finish(&self, step: &Finished<'_>, memory: &mut [f64]) {
        let (old, rate) = memory.split_at_mut(step.velocity.len());
        for i in 0..old.len() {
            let change = (step.velocity[i] - step.old_velocity[i]) / step.h;
            let a = Self::algorithmic(step.h, step.previous, old[i], rate[i]);
            old[i] = (change - (1.0 - self.gamma) * a) / self.gamma;
            rate[i] = step.acceleration[i];
        }
    }
}

/// The backward differentiation formula of order 2 for steps of any length; with `r` the ratio of a
/// step to the one before
///
/// ```math
/// h a = (1 + 2 r)/(1 + r) v+ - (1 + r) v + r^2/(1 + r) v_before
/// ```
///
/// and the same for positions, in coordinates about the start of the step. The first step is
/// implicit Euler. Damps what is fast, and slow motion by its error of third order. Growing steps
/// are stable up to `r = 1 + sqrt 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bdf2;

impl ImplicitMethod for Bdf2 {
    fn name(&self) -> &'static str {
        "BDF2"
    }

    fn order(&self) -> usize {
        2
    }

    fn memory(&self) -> usize {
        2
    }

    fn start(&self, _state: &Start<'_>, memory: &mut [f64]) {
        memory.fill(0.0);
    }

    fn relate(&self, past: &Past<'_>, relation: &mut Relation) {
        let n = past.velocity.len();
        let (before, displacement) = past.memory.split_at(n);
        // r = 0 is implicit Euler.
        let r = past.previous.map_or(0.0, |previous| past.h / previous);
        let (end, start, first) = ((1.0 + 2.0 * r) / (1.0 + r), 1.0 + r, r * r / (1.0 + r));
        relation.acceleration_gain = end / past.h;
        relation.displacement_gain = past.h / end;
        for i in 0..n {
            relation.acceleration[i] = (first * before[i] - start * past.velocity[i]) / past.h;
            // The state before is at minus the last displacement.
            relation.displacement[i] = first / end * displacement[i];
        }
    }

    fn finish(&self, step: &Finished<'_>, memory: &mut [f64]) {
        let (before, displacement) = memory.split_at_mut(step.velocity.len());
        before.copy_from_slice(step.old_velocity);
        displacement.copy_from_slice(step.displacement);
    }
}

/// The family of [`Options::alpha`](crate::Options::alpha) and `beta`, `a = (v+ - v)/h`,
/// `x+ = x (+) h (beta v+ + (1 - beta) v)`, with the equation of motion as the mean of those at
/// both ends, that of the end with weight `alpha`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndWeighted {
    /// Weight of the end in forces.
    pub alpha: f64,
    /// Weight of the end in velocities.
    pub beta: f64,
}

impl ImplicitMethod for EndWeighted {
    fn name(&self) -> &'static str {
        "the nonlinear step"
    }

    fn check(&self) -> Result<(), Error> {
        for (what, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            in_range(what, value, value > 0.0 && value <= 1.0, "in (0, 1]")?;
        }
        Ok(())
    }

    fn order(&self) -> usize {
        if self.alpha == 0.5 && self.beta == 0.5 {
            2
        } else {
            1
        }
    }

    fn memory(&self) -> usize {
        0
    }

    fn start(&self, _state: &Start<'_>, _memory: &mut [f64]) {}

    fn relate(&self, past: &Past<'_>, relation: &mut Relation) {
        let h = past.h;
        relation.acceleration_gain = h.recip();
        relation.displacement_gain = h * self.beta;
        for (i, v) in past.velocity.iter().enumerate() {
            relation.acceleration[i] = -v / h;
            relation.displacement[i] = h * (1.0 - self.beta) * v;
        }
    }

    fn finish(&self, _step: &Finished<'_>, _memory: &mut [f64]) {}

    fn weight(&self) -> f64 {
        self.alpha
    }
}
