//! The gap that closes where a part of a step ends: its zero is the time of the impact, which moves
//! with the state and the parameters.
//!
//! **Equation.** With the end `z(t)` of the part and the gap `g`, `g(z(t), p) = 0`, so that
//! `dt = -(g_z dz + g_p dp)/(g_z z_t)`, `dz+ = dz + z_t dt`. What is left of the step is shorter by
//! the sum of all `dt`. With the impact behind it that is the saltation of the motion.

use super::{GradientError, StateVector, TakenContact};
use pliant_stepper::guards::EventKind;

/// Share of the largest velocity below which a gap touches instead of closing.
const GRAZES: f64 = 1e-9;

/// The gap of a contact by the state and the parameters.
#[derive(Clone, Debug)]
pub(super) struct ClosingGap {
    /// By displacements of some independent coordinates.
    by_state: Vec<(usize, f64)>,
    /// By the parameters of a family.
    pub(super) by_parameter: Vec<f64>,
}

/// The contact of the next part whose gap has closed at a time.
///
/// # Errors
/// [`GradientError::NotBuilt`] if it carried no impulse, is where fast bodies will meet, or is a limit
/// of a joint.
pub(super) fn closing_contact(
    contacts: &[TakenContact],
    kind: EventKind,
    time: f64,
) -> Result<usize, GradientError> {
    let of_pair = |(_, c): &(usize, &TakenContact)| matches!(kind, EventKind::Contact { sides, .. } if c.identity.sides == sides);
    let pair = contacts.iter().enumerate().filter(of_pair);
    let nearest = pair.min_by(|(_, a), (_, b)| a.place.gap.abs().total_cmp(&b.place.gap.abs()));
    let refuse = |why| {
        Err(GradientError::NotBuilt {
            what: format!("the impact at t = {time} s"),
            why,
        })
    };
    match nearest {
        Some((_, contact)) if contact.moves.iter().any(|m| m.by_velocity) => {
            refuse("its place depends on velocities: choose a shorter step")
        }
        Some((index, _)) => Ok(index),
        None if matches!(kind, EventKind::Row { .. }) => {
            refuse("the time at which a limit is reached has no derivative: leave `locate_impacts` out")
        }
        None => refuse("it has no impulse"),
    }
}

/// The gradient by the times of impacts, on the way back through one step.
#[derive(Debug, Default)]
pub(super) struct ImpactTimes {
    /// How the end of a part moves with its length.
    pub(super) lengthened: StateVector,
    /// The gap that closes where the part ends.
    pub(super) closing: Option<ClosingGap>,
    /// The gradient by the length of what is left of the step behind its impacts.
    by_rest: f64,
}

impl ImpactTimes {
    /// Takes the length of a part into the gradient by its end and by the parameters: the rest of a
    /// step, whose length the others leave; or one that ends when a gap closes.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] if the impact at `time` (s) grazes.
    pub(super) fn end_part(
        &mut self,
        is_rest: bool,
        time: f64,
        gradient: &mut StateVector,
        parameters: &mut [f64],
    ) -> Result<(), GradientError> {
        let by_length = gradient.dot(&self.lengthened);
        if is_rest {
            self.by_rest = by_length;
        } else if let Some(gap) = self.closing.take() {
            let by_gap = -(by_length - self.by_rest) / gap.rate(&self.lengthened, time)?;
            gap.add_to(by_gap, &mut gradient.x, parameters);
        }
        Ok(())
    }
}

impl ClosingGap {
    pub(super) fn of(contact: &TakenContact) -> Self {
        Self {
            by_state: contact.moves.iter().map(|m| (m.dof, m.by.gap)).collect(),
            by_parameter: Vec::new(),
        }
    }

    /// Its change along displacements of the independent coordinates.
    pub(super) fn along(&self, x: &[f64]) -> f64 {
        self.by_state.iter().map(|(dof, by)| by * x[*dof]).sum()
    }

    /// The velocity at which it closes where a part moves with its length like this.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] if it grazes.
    pub(super) fn rate(&self, by_length: &StateVector, time: f64) -> Result<f64, GradientError> {
        let rate = self.along(&by_length.x);
        let sizes = self
            .by_state
            .iter()
            .map(|(dof, by)| (by * by_length.x[*dof]).abs());
        let size = sizes.fold(0.0, f64::max);
        match rate.abs() > GRAZES * size {
            true => Ok(rate),
            false => Err(GradientError::NotBuilt {
                what: format!("the impact at t = {time} s"),
                why: "it grazes: its time has no derivative",
            }),
        }
    }

    /// Adds `weight` times its gradient to those by displacements and parameters.
    fn add_to(&self, weight: f64, x: &mut [f64], parameters: &mut [f64]) {
        for (dof, by) in &self.by_state {
            x[*dof] += weight * by;
        }
        for (out, by) in parameters.iter_mut().zip(&self.by_parameter) {
            *out += weight * by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_that_grazes_has_no_time() {
        let gap = ClosingGap {
            by_state: vec![(0, 1.0), (2, 1.0)],
            by_parameter: vec![0.5],
        };
        let moved = |last: f64| StateVector {
            x: vec![3.0, 7.0, last],
            v: vec![0.0; 3],
        };
        assert_eq!(gap.rate(&moved(-1.0), 0.2).ok(), Some(2.0));
        for grazing in [moved(-3.0), moved(-3.0 - 1e-9), StateVector::zeros(3)] {
            let said = gap.rate(&grazing, 0.2).unwrap_err().to_string();
            assert!(
                said.contains("the impact at t = 0.2 s") && said.contains("grazes"),
                "{said}"
            );
        }
        let (mut x, mut parameters) = (vec![1.0; 3], vec![1.0]);
        gap.add_to(2.0, &mut x, &mut parameters);
        assert_eq!((x, parameters), (vec![3.0, 1.0, 3.0], vec![2.0]));
    }

    #[test]
    fn the_contact_that_closes_is_the_nearest_of_its_pair() {
        let contact = |sides, gap| TakenContact {
            place: pliant_gradient::ContactPlace {
                gap,
                ..Default::default()
            },
            moves: Vec::new(),
            identity: pliant_gradient::ContactIdentity {
                sides,
                ..Default::default()
            },
            branch: pliant_gradient::ContactBranch::Sticking,
            law: pliant_gradient::ContactNumbers::default(),
            share: 1.0,
            impulse: [0.0; 3],
            at_change: false,
            stage: None,
        };
        let all = [contact([0, 2], 0.0), contact([0, 1], -0.1), contact([0, 1], 1e-9)];
        let kind = |sides| EventKind::Contact {
            key: Default::default(),
            sides,
        };
        assert_eq!(closing_contact(&all, kind([0, 1]), 0.0).ok(), Some(2));
        let said = closing_contact(&all, kind([1, 2]), 0.5).unwrap_err().to_string();
        assert!(said.contains("has no impulse"), "{said}");
    }
}
