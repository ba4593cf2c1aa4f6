//! Control of steps: it calls a step and keeps or drops its result ([`retry`]: again, or in halves;
//! [`adaptive`]: of a length that follows from tolerances and events; [`sleep`]: without islands
//! that lie still; [`settle`]: down to rest). Here is the face of the simulation.

mod adaptive;
pub(crate) mod retry;
mod settle;
pub(crate) mod sleep;
mod start;

pub use adaptive::Drive;
pub(crate) use adaptive::{AdaptiveWorkspace, Guards};
pub use settle::{Settle, SettleReport};
pub(crate) use start::StepStart;

use crate::options::Weights;
use crate::{Adaptive, AdaptiveMemory, AdaptiveReport, AdaptiveSummary, Error, Simulation, StepReport};
use pliant_model::NodeId;

/// Conditions of a step beside its length and the options.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Conditions {
    /// Weights in place of those of the options.
    pub(crate) weights: Option<Weights>,
    /// Treatments are not looked at again.
    pub(crate) keep_treatments: bool,
}

impl Simulation {
    /// Takes one step of a length that follows from the tolerances, at most to the time `end` (s;
    /// infinite for none), which it hits exactly. The end of a step is where an event is due, if
    /// these are asked for. Once warm it allocates nothing, unless a treatment is chosen anew for
    /// steps of very different length. Forces of inputs and from outside are the same over the
    /// step; motions of rows are functions of time.
    ///
    /// # Errors
    /// [`Error::StepTooSmall`] where the smallest step misses the tolerance; if its equations
    /// cannot be solved, why, as [`step`](Self::step) says; [`Error::OutOfRange`],
    /// [`Error::NeedsStabilisation`]. The state is then as before.
    pub fn step_adaptively(&mut self, how: &Adaptive, end: f64) -> Result<AdaptiveReport, Error> {
        self.step_adaptively_with(how, end, &mut |_, _| Ok(()))
    }

    /// The same with inputs that depend on the time ([`set_input`](Self::set_input)): `drive` is
    /// called before each part of each trial with the time at which its forces act.
    ///
    /// # Errors
    /// As [`step_adaptively`](Self::step_adaptively), and those of `drive`.
    pub fn step_adaptively_with(
        &mut self,
        how: &Adaptive,
        end: f64,
        drive: Drive<'_>,
    ) -> Result<AdaptiveReport, Error> {
        adaptive::step(self, how, end, drive)
    }

    /// Takes such steps to the time `end` (s), or until everything is at rest, if
    /// [`Adaptive::rest`] is set.
    ///
    /// # Errors
    /// As [`step_adaptively`](Self::step_adaptively); the state is then that of the last step that
    /// stands.
    pub fn advance_to(&mut self, how: &Adaptive, end: f64) -> Result<AdaptiveSummary, Error> {
        let mut summary = AdaptiveSummary::default();
        while self.motion.time < end && !summary.at_rest {
            summary.add(&self.step_adaptively(how, end)?);
        }
        Ok(summary)
    }

    /// What steps that choose their length remember.
    pub fn adaptive_memory(&self) -> AdaptiveMemory {
        self.motion.adaptive
    }

    /// One pseudo-static pass: a step of length `h`, then velocities times `kept`. Returns the
    /// largest change of a free coordinate.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn settle_once(&mut self, h: f64, kept: f64) -> Result<f64, Error> {
        self.step(h)?;
        let motion = h * self.system.largest_free_velocity(&self.motion.state);
        settle::scale_velocities(self, kept);
        Ok(motion)
    }

    /// Comes to rest near the present state. Time advances by the steps taken; free velocities end
    /// as zero.
    ///
    /// # Errors
    /// [`Error::NotSettled`] after `max_steps`; else as [`step`](Self::step).
    pub fn settle(&mut self, how: Settle) -> Result<SettleReport, Error> {
        settle::settle(self, how)
    }

    /// Whether an element of a node is asleep: nothing that it depends on moves, and something of
    /// that sleeps ([`ContactOptions::sleeping`](crate::contact::ContactOptions::sleeping)).
    pub fn is_asleep(&self, node: NodeId, element: usize) -> bool {
        sleep::is_asleep(&self.system, &self.motion.sleep, node, element)
    }

    /// Wakes what an element of a node depends on, with its islands.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element.
    pub fn wake(&mut self, node: NodeId, element: usize) -> Result<(), Error> {
        sleep::wake(&mut self.system, &mut self.motion, node, element)
    }

    /// Wakes everything.
    pub fn wake_all(&mut self) {
        sleep::wake_all(&mut self.system, &mut self.motion);
    }

    /// Puts islands to sleep after a step that stands, and says in the report what that took.
    pub(crate) fn fall_asleep(&mut self, h: f64, report: &mut StepReport) -> Result<(), Error> {
        let Some(limits) = self.options.contacts.sleeping else {
            return Ok(());
        };
        let fallen = sleep::fall_asleep(&mut self.system, &mut self.motion, limits, h)?;
        if let Some(stilled) = fallen {
            report.contacts.stilled = stilled;
            let awake = report.energies;
            report.energies = self.energies(true);
            let [kinetic, potential] = [
                report.energies.kinetic - awake.kinetic,
                report.energies.potential - awake.potential,
            ];
            report.ledger.kinetic += kinetic;
            report.ledger.potential += potential;
            report.ledger.corrections += kinetic + potential;
            report.momentum = self.system.model.momentum(&self.motion.state);
        }
        report.contacts.asleep = self.system.sleep.asleep();
        Ok(())
    }
}
