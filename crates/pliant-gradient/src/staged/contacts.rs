//! The contacts of a stage, beside its linearised equations: where they are expected, and what their gaps
//! are made of.
//!
//! **Equation.** The contacts of a stage from the predictor `(x^, v^)` are those of the state
//! `X = x^ (+) (w v^ + w^2 a^)`, with the accelerations `a^` that are expected: in the first stage
//! `a + g/(1-g) c`, in the second one `a1 + c`, with those of the second stage `a` of the step before, by
//! how much these were above those of its first one `c`, and those of the first stage `a1`. Their gaps are
//! those of the start of the step, and in the second stage `(1 - g) h u_n1` more, with the normal
//! velocities `u_n1` at the end of the first one.

use super::move_on;
use crate::contact_family::{ContactChanges, ContactStep};
use crate::contacts::{Contacts, MovingContact, NormalVelocity, StartDirection};
use crate::equations::Equations;
use crate::kinematics::Retraction;
use crate::linearised::Linearised;
use crate::taken::{StageContact, TakenContact};
use crate::{Family, GradientError, StateVector};
use pliant_model::{Problem, State};

/// The contacts of a stage.
#[derive(Debug, Default)]
pub(super) struct StageSide {
    /// Whether there are any.
    pub(super) any: bool,
    /// `X`, with the velocities of the start of the step.
    pub(super) expected: State,
    /// From the predictor to `X`.
    pub(super) retraction: Retraction,
    /// Contacts whose gaps count at the start of the step, and in the first stage, and which they are.
    at_start: Contacts,
    in_first: Contacts,
    of_start: Vec<usize>,
    of_first: Vec<usize>,
    changes: [ContactChanges; 3],
    /// Changes of the gap of each contact, or weights of these.
    pub(super) gaps: Vec<f64>,
    /// A direction of `X` and of the velocities at the start, or weights of these (n).
    pub(super) along: StateVector,
}

/// The first stage, as the gaps of the second one see it: the velocities of all nodes at its end, and the
/// time in which these act up to the second one (s).
#[derive(Clone, Copy)]
pub(super) struct FirstStage<'a> {
    pub(super) velocities: &'a [f64],
    pub(super) ahead: f64,
}

/// The contacts of a step that are of its second stage, or of its first, with what that has of them.
pub(super) fn of_stage(
    contacts: &[TakenContact],
    is_second: bool,
) -> impl Iterator<Item = (&TakenContact, &StageContact)> + Clone {
    let all = contacts.iter().filter_map(|c| Some((c, c.stage.as_deref()?)));
    all.filter(move |(_, stage)| stage.is_second == is_second)
}

impl StageSide {
    /// Finds the expected state from the predictor, whose positions are those of `from`, by a
    /// displacement (n).
    ///
    /// # Errors
    /// [`GradientError::Model`] where a mapping is not defined.
    pub(super) fn expect(
        &mut self,
        equations: &mut Equations,
        [from, start]: [&State; 2],
        displacement: &[f64],
    ) -> Result<(), GradientError> {
        let Equations {
            problem, evaluation, ..
        } = equations;
        self.retraction.place(problem, displacement);
        self.expected.clone_from(from);
        move_on(problem, &mut self.expected, displacement, 1.0);
        self.expected.velocities.clone_from(&start.velocities);
        Ok(evaluation.propagate(problem, &mut self.expected)?)
    }

    /// Takes the places that gaps are made of: at the start of the step, and in its first stage.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for contacts of elements that are mapped nonlinearly.
    pub(super) fn place_gaps<'a>(
        &mut self,
        problem: &Problem,
        contacts: impl Iterator<Item = &'a StageContact> + Clone,
        [start, first]: [&State; 2],
    ) -> Result<(), GradientError> {
        self.of_start.clear();
        self.of_first.clear();
        for (k, contact) in contacts.clone().enumerate() {
            self.of_start.extend(contact.at_start.is_some().then_some(k));
            self.of_first.extend(contact.in_first.is_some().then_some(k));
        }
        let places = contacts.clone().filter_map(|c| c.at_start.as_ref());
        self.at_start.place_alone(problem, places, start)?;
        let places = contacts.filter_map(|c| c.in_first.as_ref());
        self.in_first.place_alone(problem, places, first)
    }

    /// Finds how the gaps of the contacts change along a direction of the start of the step and, for the
    /// second stage, of the state `X` of the first one, and of the velocities of all nodes at its end.
    pub(super) fn find_gaps(
        &mut self,
        own: &Contacts,
        start: &StateVector,
        first: Option<(FirstStage<'_>, &[f64], &[f64])>,
    ) {
        self.gaps.clear();
        self.gaps.resize(own.len(), 0.0);
        let from = StartDirection {
            x: &start.x,
            u: &start.v,
            v: &[],
        };
        for (k, contact) in self.of_start.iter().enumerate() {
            self.gaps[*contact] += self.at_start.gap_along(k, from);
        }
        let Some((stage, x, changes)) = first else { return };
        for (k, contact) in self.of_first.iter().enumerate() {
            let of = NormalVelocity {
                velocities: stage.velocities,
                changes,
            };
            let moved = self
                .in_first
                .normal_velocity_along(k, StartDirection { x, ..from }, of);
            self.gaps[*contact] += own.moved_share(*contact) * stage.ahead * moved;
        }
    }

    /// Takes the weights of the gaps to the start of the step, and to `X` of the first stage and the
    /// velocities of all nodes at its end: the transpose of [`find_gaps`](Self::find_gaps).
    pub(super) fn weigh_gaps(
        &self,
        own: &Contacts,
        start: &mut StateVector,
        first: Option<(FirstStage<'_>, &mut [f64], &mut [f64])>,
    ) {
        let StateVector { x, v } = start;
        for (k, contact) in self.of_start.iter().enumerate() {
            self.at_start
                .gap_along_transposed(k, self.gaps[*contact], [&mut *x, &mut *v]);
        }
        let Some((stage, on_first, on_nodes)) = first else {
            return;
        };
        for (k, contact) in self.of_first.iter().enumerate() {
            let weight = self.gaps[*contact] * own.moved_share(*contact) * stage.ahead;
            let out = [&mut *on_first, &mut *v];
            self.in_first
                .normal_velocity_transposed(k, weight, stage.velocities, out, &mut *on_nodes);
        }
    }

    /// Adds what a parameter of a family makes of the equations of the stage through its contacts.
    ///
    /// # Errors
    /// The errors of [`ContactChanges::find`].
    pub(super) fn add_by_parameter(
        &mut self,
        equations: &Equations,
        linearised: &mut Linearised,
        step: ByParameter<'_>,
        out: [&mut [f64]; 2],
    ) -> Result<(), GradientError> {
        let ByParameter {
            family,
            parameter,
            start,
            end,
            h,
            first,
            own: of_own,
        } = step;
        let expected = of_own.unwrap_or(&self.expected);
        let problem = &equations.problem;
        let [own, at_start, in_first] = &mut self.changes;
        let of = ContactStep {
            contacts: &linearised.contacts,
            start: expected,
            end,
            h,
            keeps_gaps: true,
        };
        own.find(family, problem, parameter, of)?;
        if self.at_start.len() > 0 {
            let of = ContactStep {
                contacts: &self.at_start,
                start,
                end: start,
                h,
                keeps_gaps: false,
            };
            at_start.find_places(family, problem, parameter, of)?;
            for (k, contact) in self.of_start.iter().enumerate() {
                own.add_gap(*contact, at_start.gap(k));
            }
        }
        if self.in_first.len() > 0 {
            let of = ContactStep {
                contacts: &self.in_first,
                start: first.expected,
                end: first.end,
                h,
                keeps_gaps: true,
            };
            in_first.find_places(family, problem, parameter, of)?;
            for (k, contact) in self.of_first.iter().enumerate() {
                let change = in_first.get();
                let velocity = NormalVelocity {
                    velocities: &first.end.velocities,
                    changes: change.velocities.end,
                };
                let by = MovingContact {
                    moves: &change.contacts[k],
                    state: first.expected,
                };
                let moved = self.in_first.normal_velocity_by(problem, k, by, velocity);
                let share = linearised.contacts.moved_share(*contact);
                own.add_gap(*contact, share * first.ahead * moved);
            }
        }
        linearised.add_contacts_by_change(equations, own.get(), expected, out);
        Ok(())
    }
}

/// A parameter of a family, and the step whose contacts change with it.
pub(super) struct ByParameter<'a> {
    pub(super) family: &'a mut Family,
    pub(super) parameter: usize,
    pub(super) start: &'a State,
    /// The end of the stage, with the velocities of all nodes.
    pub(super) end: &'a State,
    /// Length of the step (s).
    pub(super) h: f64,
    pub(super) first: FirstEnd<'a>,
    /// The state that contacts are expected at, if it is not that of the stage.
    pub(super) own: Option<&'a State>,
}

/// The first stage: where contacts were expected, its end with the velocities of all nodes, and the time
/// in which these act up to the second one (s).
#[derive(Clone, Copy)]
pub(super) struct FirstEnd<'a> {
    pub(super) expected: &'a State,
    pub(super) end: &'a State,
    pub(super) ahead: f64,
}
