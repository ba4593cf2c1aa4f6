//! The equations of one contact: their changes, and the transpose.

use super::LinearisedContact;
use crate::taken::{ContactBranch, ContactNumbers, TakenContact};

/// Factors in the equation of the normal of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormalFactors {
    /// The factor of the gap (1/s).
    pub(super) by_gap: f64,
    /// The factor of the impulse (1/kg).
    pub(super) by_force: f64,
    /// The factor of the velocity at the start: the coefficient of restitution of an impact, else
    /// the share of that velocity in the way of the step.
    pub(super) by_start: f64,
    pub(super) law: NormalLaw,
}

/// The law of the normal of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalLaw {
    Compliant,
    /// Hard, and closes from a gap.
    Closes,
    /// Its coefficient of restitution acts.
    Bounces,
    /// Hard, at a gap of none or less, or stopped before its gap is closed.
    Closed,
}

impl NormalFactors {
    /// The factors of a contact in a step of length `h` (s), with the velocity of its normal at the
    /// start and the one up to which that is none (m/s): what is at rest is pressed on, whatever
    /// its rounding.
    pub(super) fn of(contact: &TakenContact, [h, beta]: [f64; 2], [start, still]: [f64; 2]) -> Self {
        let (law, gap) = (&contact.law, contact.place.gap);
        let restitution = contact.share * law.restitution;
        // A way by the velocity at the start, turned round.
        let back = (1.0 - beta) / beta;
        let hard = |by_gap, by_start, law| Self {
            by_gap,
            by_force: 0.0,
            by_start,
            law,
        };
        if law.compliance > 0.0 {
            let reach = h * beta + law.relaxation;
            return Self {
                by_gap: reach.recip(),
                by_force: law.compliance / (h * reach),
                by_start: h * (1.0 - beta) / reach,
                law: NormalLaw::Compliant,
            };
        }
        if gap <= 0.0 {
            return match (start > still && back > restitution, restitution > 0.0) {
                (true, _) => hard(law.recovery, back, NormalLaw::Closed),
                (false, true) => hard(law.recovery, restitution, NormalLaw::Bounces),
                (false, false) => hard(law.recovery, 0.0, NormalLaw::Closed),
            };
        }
        if restitution > 0.0 && gap + h * start < 0.0 {
            return hard(0.0, restitution, NormalLaw::Bounces);
        }
        match gap / h + (1.0 - beta) * start < 0.0 {
            true => hard(0.0, 0.0, NormalLaw::Closed),
            false => hard((h * beta).recip(), back, NormalLaw::Closes),
        }
    }
}

impl NormalFactors {
    /// The factors of a contact in a stage of the length `w` (s), with a gap (m) that has the change up to
    /// its predictor, and with the time in which that closes, if it bore before.
    pub(super) fn of_stage(law: &ContactNumbers, gap: f64, w: f64, closing: Option<f64>) -> Self {
        let of = |by_gap, by_force, law| Self {
            by_gap,
            by_force,
            by_start: 0.0,
            law,
        };
        if law.compliance > 0.0 {
            let reach = w + law.relaxation;
            return of(reach.recip(), law.compliance / (w * reach), NormalLaw::Compliant);
        }
        match closing {
            Some(time) => of(time.recip(), 0.0, NormalLaw::Closes),
            None if gap > 0.0 => of(w.recip(), 0.0, NormalLaw::Closes),
            None => of(law.recovery, 0.0, NormalLaw::Closed),
        }
    }
}

impl LinearisedContact {
    /// The changes of its equations for changes of the velocities of its rows and of its impulse.
    pub(super) fn equations(&self, du: [f64; 3], dr: [f64; 3]) -> [f64; 3] {
        let mut out = [du[0] + self.by_normal_force() * dr[0], du[1], du[2]];
        if let Some(path) = self.cone_path() {
            let limit = self.law.friction * dr[0];
            let found = path.equations([du[1], du[2]], [dr[1], dr[2]], limit);
            (out[1], out[2]) = (found[0], found[1]);
        } else if self.branch == ContactBranch::Slipping && self.barrier.is_none() {
            let mu = self.law.friction;
            let (way, speed) = self.way();
            let along = way[0] * du[1] + way[1] * du[2];
            for i in 0..2 {
                let across = (du[1 + i] - way[i] * along) / speed;
                out[1 + i] = dr[1 + i] + mu * (dr[0] * way[i] + self.r[0] * across);
            }
        }
        out
    }

    pub(super) fn equations_transposed(&self, q: [f64; 3]) -> ([f64; 3], [f64; 3]) {
        let mut by_u = q;
        let mut by_r = [self.by_normal_force() * q[0], 0.0, 0.0];
        if let Some(path) = self.cone_path() {
            let (u, r, limit) = path.equations_transposed([q[1], q[2]]);
            (by_u[1], by_u[2]) = (u[0], u[1]);
            by_r = [by_r[0] + self.law.friction * limit, r[0], r[1]];
        } else if self.branch == ContactBranch::Slipping && self.barrier.is_none() {
            let mu = self.law.friction;
            let (way, speed) = self.way();
            let along = way[0] * q[1] + way[1] * q[2];
            by_r = [by_r[0] + mu * along, q[1], q[2]];
            for i in 0..2 {
                by_u[1 + i] = mu * self.r[0] * (q[1 + i] - way[i] * along) / speed;
            }
        }
        (by_u, by_r)
    }

    /// The factor of the change of its normal impulse in the equation of the normal (1/kg).
    pub(super) fn by_normal_force(&self) -> f64 {
        match &self.barrier {
            Some(barrier) if barrier.slack > 0.0 => self.normal.by_force + barrier.slack / self.r[0],
            _ => self.normal.by_force,
        }
    }

    /// The changes of its equations of friction with the largest friction, `mu r_n`.
    pub(super) fn by_friction_limit(&self) -> [f64; 2] {
        match (self.cone_path(), self.branch) {
            (Some(path), _) => path.by_limit(),
            (None, ContactBranch::Slipping) if self.barrier.is_none() => self.way().0,
            _ => [0.0; 2],
        }
    }

    /// The velocity of its normal at which its law is written, with the one at the start (m/s): it
    /// carries an impulse where that is zero.
    pub(super) fn gap_velocity(&self, before: f64) -> f64 {
        self.u[0]
            + self.normal.by_gap * self.gap
            + self.normal.by_force * self.r[0]
            + self.normal.by_start * before
    }

    /// Whether it is hard and closed, and a velocity at the start is turned round if it separates
    /// alone.
    pub(super) fn turns_back(&self, beta: f64) -> bool {
        let is_closed = self.law.compliance == 0.0 && self.gap <= 0.0;
        is_closed && (1.0 - beta) / beta > self.share * self.law.restitution
    }

    /// The changes of the factors of the gap, of the impulse, and of the velocity at the start in
    /// its equation of the normal for a change of its law.
    pub(super) fn factors_by(&self, h: f64, beta: f64, by: &ContactNumbers) -> [f64; 3] {
        if self.normal.law == NormalLaw::Compliant {
            let reach = h * beta + self.law.relaxation;
            let shorter = -by.relaxation / (reach * reach);
            let by_force = by.compliance / (h * reach) + shorter * self.law.compliance / h;
            return [shorter, by_force, shorter * h * (1.0 - beta)];
        }
        let recovery = if self.gap <= 0.0 { by.recovery } else { 0.0 };
        let restitution = match self.normal.law {
            NormalLaw::Bounces => self.share * by.restitution,
            _ => 0.0,
        };
        [recovery, 0.0, restitution]
    }

    /// The direction of its slip, and its speed (m/s).
    pub(super) fn way(&self) -> ([f64; 2], f64) {
        let speed = self.u[1].hypot(self.u[2]);
        ([self.u[1] / speed, self.u[2] / speed], speed)
    }
}
