//! One trial: the step at once and in halves, its error, and what came nearest to closing in it.

use super::error::{self, Measured};
use super::{AdaptiveWorkspace, Trials};
use crate::control::Conditions;
use crate::control::retry::together;
use crate::{Error, Integrator, Simulation, StepReport};
use pliant_stepper::guards::{Nearest, Way};
use pliant_stepper::options::Weights;

/// Result of a trial.
pub(super) struct Trial {
    pub(super) halves: StepReport,
    pub(super) measured: Measured,
    pub(super) nearest: Option<Nearest>,
}

/// The step at once, or one of its halves.
#[derive(Clone, Copy, Debug)]
enum Part {
    Whole,
    First,
    Second,
}

impl Trials<'_> {
    /// The step at once, then from the same start in two halves, which stay.
    pub(super) fn try_step(&mut self, h: f64) -> Result<Trial, Error> {
        let whole = self.part(Part::Whole, h)?;
        let Simulation { adaptive, motion, .. } = &mut *self.simulation;
        adaptive.coarse.clone_from(&motion.state);
        self.back()?;
        let (halves, nearest) = self.halves(h)?;
        let Simulation {
            adaptive,
            system,
            motion,
            options,
            ..
        } = &mut *self.simulation;
        let AdaptiveWorkspace {
            start,
            coarse,
            middle,
            impulses: [at_once, first, second],
            jumps,
            differences,
            ..
        } = adaptive;
        jumps.find(system, motion, at_once, [&*first, &*second])?;
        // Corrections of overlap displace by their speed at most, in whichever part of the step.
        let corrections = whole.contacts.corrections.count + halves.contacts.corrections.count;
        let recovery = match corrections {
            0 => 0.0,
            _ => options.contacts.overlap.speed() * h,
        };
        let step = error::Step {
            h,
            recovery,
            is_located: self.impact,
        };
        let ends = error::Ends {
            start: &start.motion().state,
            coarse,
            middle,
            fine: &motion.state,
        };
        let measured = differences.measure(&system.model, ends, jumps, self.how, step);
        Ok(Trial {
            halves,
            measured,
            nearest,
        })
    }

    /// Two halves of a step, the first of which may hold an impact, and what came nearest to
    /// closing in them.
    pub(super) fn halves(&mut self, h: f64) -> Result<(StepReport, Option<Nearest>), Error> {
        let half = 0.5 * h;
        let first = self.part(Part::First, half)?;
        let after_first = self.nearest(half);
        let Simulation { adaptive, motion, .. } = &mut *self.simulation;
        adaptive.middle.clone_from(&motion.state);
        self.start_anew(self.impact);
        let second = self.part(Part::Second, half)?;
        let nearest = Nearest::of(after_first, self.nearest(half));
        Ok((together(&first, &second), nearest))
    }

    /// After an impact the past of a multistep method is none.
    pub(super) fn start_anew(&mut self, impact: bool) {
        if impact && matches!(self.simulation.options.integrator, Integrator::Implicit(_)) {
            self.simulation.motion.integrator.forget();
        }
    }

    /// The weights of the step: both at its end if it holds an impact.
    pub(super) fn weights(&self) -> Weights {
        if self.impact {
            Weights::END
        } else {
            self.simulation.options.weights()
        }
    }

    /// Takes the step at once or a half of it, of length `h` (s), and reads its impulses.
    fn part(&mut self, part: Part, h: f64) -> Result<StepReport, Error> {
        let weights = self.weights();
        let act = self.simulation.options.when_inputs_act_with(weights);
        let time = self.simulation.motion.time + act * h;
        (self.drive)(self.simulation, time)?;
        if let Some(c) = &mut self.simulation.system.contacts {
            c.detection.guards.aside.clear();
        }
        // All trials of a step are of the same system.
        let conditions = Conditions {
            weights: Some(weights),
            keep_treatments: true,
            ..Conditions::default()
        };
        let report = self.simulation.step_at_once(h, conditions)?;
        let Simulation {
            adaptive,
            system,
            motion,
            ..
        } = &mut *self.simulation;
        adaptive.impulses[part as usize].read(system, motion, h);
        Ok(report)
    }

    /// Finds the guard nearest to closing in the last part of the step, of length `h` (s).
    fn nearest(&self, h: f64) -> Option<Nearest> {
        let simulation = &*self.simulation;
        let way = Way {
            start: &simulation.start.state,
            h,
            weight: match simulation.options.integrator {
                Integrator::Theta | Integrator::Nonlinear => self.weights().beta,
                _ => 0.5,
            },
        };
        simulation
            .system
            .guards
            .nearest(&simulation.system, &simulation.motion, way)
    }
}
