//! The way forwards along a trajectory: the tangent of each part of a step.

use super::closing::{ClosingGap, closing_contact};
use super::{Family, StateVector, StepDerivative, TakenContact, TakenStep, TrajectoryError, check_unmoved};
use crate::Simulation;
use crate::control::located::{PartEnd, TakenPart};
use pliant_model::State;

/// A direction that is carried forwards.
pub(super) struct Forward<'a> {
    pub(super) derivative: StepDerivative,
    /// The shares of the parameters of a family in the direction.
    parameters: &'a [f64],
    /// How positions and velocities move, and the memory of the step before.
    pub(super) direction: StateVector,
    memory: StateVector,
    next: [StateVector; 2],
    contacts: Vec<TakenContact>,
    /// The energy of smoothed contacts (J), and the contacts that are near.
    pub(super) smoothing: Option<f64>,
    near: Vec<TakenContact>,
    /// The end of the last part, and how that part ended; none before the first.
    end: Option<(State, TakenPart)>,
    /// How the end of the last part moves with its length.
    lengthened: StateVector,
    /// By how much the parts of this step before the present one get longer.
    longer: f64,
    changes: [Vec<f64>; 2],
    sums: [Vec<f64>; 2],
}

impl<'a> Forward<'a> {
    /// A direction at the start, with the shares of the parameters in it.
    ///
    /// # Errors
    /// Those of [`Simulation::step_derivative`].
    pub(super) fn new(
        simulation: &Simulation,
        direction: StateVector,
        parameters: &'a [f64],
    ) -> Result<Self, TrajectoryError> {
        let dofs = simulation.model().dof_count();
        Ok(Self {
            derivative: simulation.step_derivative()?,
            parameters,
            direction,
            memory: StateVector::zeros(dofs),
            next: Default::default(),
            contacts: Vec::new(),
            smoothing: None,
            near: Vec::new(),
            end: None,
            lengthened: StateVector::default(),
            longer: 0.0,
            changes: Default::default(),
            sums: Default::default(),
        })
    }

    /// Carries the direction over a part of a step that was just taken.
    ///
    /// # Errors
    /// [`TrajectoryError::Gradient`] for what has no derivative.
    pub(super) fn part(
        &mut self,
        simulation: &mut Simulation,
        family: Option<&mut Family>,
        taken: TakenPart,
    ) -> Result<(), TrajectoryError> {
        let last = self.end.as_ref().map(|(_, part)| part.end);
        let begins_step = matches!(last, None | Some(PartEnd::Whole | PartEnd::Half));
        match &self.end {
            Some((end, _)) => check_unmoved(end, &simulation.start.state, simulation.start.time)?,
            None => self.end = Some((State::default(), taken)),
        }
        if begins_step {
            self.longer = 0.0;
        }
        match self.smoothing {
            Some(_) => simulation.contacts_nearby(&mut self.contacts, &mut self.near)?,
            None => simulation.last_contacts(&mut self.contacts)?,
        }
        let time = simulation.start.time;
        if let Some(step) = simulation.last_step(&self.contacts) {
            let step = TakenStep { h: taken.h, ..step };
            let problem = simulation.problem();
            match self.smoothing {
                Some(energy) => self
                    .derivative
                    .place_smoothed(problem, &step, &self.near, energy)?,
                None => self.derivative.place(problem, &step)?,
            }
        }
        let mut closing = match last {
            Some(PartEnd::BeforeImpact(kind)) => {
                let index = closing_contact(&self.contacts, kind, time)?;
                let gap = ClosingGap::of(&self.contacts[index]);
                Some((index, gap.along(&self.direction.x), gap))
            }
            _ => None,
        };
        self.sums.iter_mut().for_each(Vec::clear);
        if let Some(family) = family {
            for (k, share) in self.parameters.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                let [dr, ds] = &mut self.changes;
                self.derivative.equations_by(family, k, [dr, ds])?;
                for (sum, change) in self.sums.iter_mut().zip(&self.changes) {
                    sum.resize(change.len(), 0.0);
                    sum.iter_mut().zip(change).for_each(|(s, d)| *s += share * d);
                }
                if let Some((index, along, _)) = &mut closing {
                    *along += share * self.derivative.gap_by_parameter(*index);
                }
            }
        }
        if let Some((_, along, gap)) = closing {
            // The part before ends when the gap closes.
            let later = -along / gap.rate(&self.lengthened, time)?;
            add(&mut self.direction, later, &self.lengthened);
            self.longer += later;
        }
        let [r, s] = &self.sums;
        let equations = (!r.is_empty()).then_some([&r[..], &s[..]]);
        let [next, next_memory] = &mut self.next;
        let starts = [&self.direction, &self.memory];
        self.derivative
            .tangent_after(starts, equations, [&mut *next, &mut *next_memory])?;
        std::mem::swap(&mut self.direction, next);
        std::mem::swap(&mut self.memory, next_memory);
        match taken.end {
            PartEnd::BeforeImpact(_) => {
                self.derivative.by_length(&mut self.lengthened)?;
            }
            PartEnd::Whole if !begins_step => {
                self.derivative.by_length(&mut self.lengthened)?;
                add(&mut self.direction, -self.longer, &self.lengthened);
            }
            _ => {}
        }
        if let Some((end, part)) = &mut self.end {
            end.clone_from(simulation.state());
            *part = taken;
        }
        Ok(())
    }
}

/// Adds a multiple of a direction.
fn add(sum: &mut StateVector, times: f64, direction: &StateVector) {
    for (sum, list) in [(&mut sum.x, &direction.x), (&mut sum.v, &direction.v)] {
        sum.iter_mut().zip(list).for_each(|(s, d)| *s += times * d);
    }
}
