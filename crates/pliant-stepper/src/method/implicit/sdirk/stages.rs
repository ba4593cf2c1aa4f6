//! The stages of SDIRK2.

use super::super::lift::{LIFTS, has_rows, lift};
use super::super::{Expected, Factor, ForcesAlong, Goal, Iteration, NewtonWorkspace, Origin};
use super::{Expectations, GAIN, Sdirk2};
use crate::Error;
use crate::contact::step::Way;
use crate::contact::{Turning, step as contact_step};
use crate::motion::Motion;
use crate::observe::{Step, Trace};
use crate::report::NewtonReport;
use crate::system::System;
use pliant_kkt::Scheme;
use pliant_solvers::{SolveReport, Status};

/// A stage of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage<'a> {
    /// The scheme of the step.
    pub(super) weights: &'a Scheme,
    /// Length of the step (s).
    pub(super) h: f64,
    /// Displacement per velocity (s).
    pub(super) reach: f64,
    /// Time of its end since the start of the step (s).
    pub(super) elapsed: f64,
    pub(super) rows: RowPositions,
    /// The contacts that turn.
    pub(super) turning: Turning,
}

/// Where the deformations of rows and springs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowPositions {
    /// Integrated beside the positions.
    Integrated,
    /// From the positions.
    Placed,
}

impl Stage<'_> {
    /// The stage that ends a step of two.
    pub(super) fn second(self) -> Self {
        Self {
            elapsed: self.h,
            ..self
        }
    }

    /// Whether it is the only one of its step.
    pub(super) fn is_whole(&self) -> bool {
        self.reach == self.h
    }

    /// Whether it begins its step.
    pub(super) fn is_first(&self) -> bool {
        self.elapsed == self.reach
    }
}

/// Whether the iteration of a stage found no velocities that meet its equations.
fn has_no_solution<T>(found: &Result<(SolveReport, NewtonReport, T), Error>) -> bool {
    match found {
        Ok((solved, _, _)) => solved.status != Status::Converged,
        Err(e) => matches!(e, Error::NotPositiveDefinite { .. } | Error::Incompatible { .. }),
    }
}

impl Sdirk2 {
    /// Solves the first stage, with contacts where they are at the start.
    pub(super) fn first_stage(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        stage: Stage<'_>,
        trace: &mut Trace,
    ) -> Result<SolveReport, Error> {
        let scheme = stage.weights.with_weights(1.0, 1.0).with_step(stage.reach);
        let impulses = &mut self.work.iterate.contacts;
        contact_step::start_newton(system, start, &scheme, stage.reach, impulses)?;
        self.turn_contacts(system, start, stage)?;
        self.stage(system, start, end, stage, trace)
    }

    /// Takes contacts and their laws where they are expected at the end of a stage from its
    /// predictor. In a step of one stage only what bears turns.
    fn turn_contacts(&mut self, system: &mut System, start: &Motion, stage: Stage<'_>) -> Result<(), Error> {
        let scheme = stage.weights.with_weights(1.0, 1.0).with_step(stage.reach);
        let displacement = &mut self.work.displacement;
        displacement.clear();
        displacement.extend(self.velocity.iter().map(|v| stage.reach * v));
        for (d, a) in displacement.iter_mut().zip(&self.expected.accelerations) {
            *d += stage.reach * stage.reach * a;
        }
        let expected = contact_step::Expected {
            from: &self.from,
            velocity: &self.start,
            displacement,
        };
        let turn = contact_step::Turn {
            h: stage.h,
            turning: stage.turning,
            steady_too: system.options.tuning.newton.exact_stages && !stage.is_whole(),
        };
        let turned = contact_step::turn(system, start, &scheme, expected, turn)?;
        match stage.is_whole() {
            false => contact_step::take_stage(system, start, &scheme, stage.reach, &[], 0.0),
            true if turned => contact_step::share_restitution(system, start, &scheme, 1.0),
            true => {}
        }
        Ok(())
    }

    /// Solves the equations of a stage; its forces are in `end`.
    pub(super) fn stage(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        stage: Stage<'_>,
        trace: &mut Trace,
    ) -> Result<SolveReport, Error> {
        let Stage { reach, elapsed, .. } = stage;
        system.set_row_motion(start.time, start.time + elapsed);
        let integrated = stage.rows == RowPositions::Integrated;
        if integrated {
            self.deformations.put_targets(system, reach);
        }
        self.find_held(system, start, elapsed / stage.h);
        let scheme = Scheme {
            velocity_rows: false,
            ..stage.weights.with_weights(1.0, 1.0).with_step(reach)
        };
        let model = &system.model;
        let complementary =
            system.in_contact() || model.row_groups().iter().any(|g| model.bounds(g).is_some());
        let factor = match complementary {
            true => Factor::EveryIteration,
            false => Factor::Kept,
        };
        let work = &mut self.work;
        work.take_stage(&self.velocity, reach);
        let newton = &system.options.tuning.newton;
        let expected = !self.expected.accelerations.is_empty();
        let (least, share) = match expected || stage.is_whole() {
            true => (newton.tolerance, newton.stage_share),
            false => (newton.stage_tolerance, newton.stage_tolerance),
        };
        let exact = newton.exact_stages;
        // Polishing knows no contacts.
        let polishes = exact && !system.in_contact();
        let goal = Goal::ThirdOrder {
            least,
            share: if exact { 0.0 } else { share },
            most: newton.stage_share.max(share),
        };
        let tolerance = system.options.newton_tolerance();
        let origin = Origin {
            state: &self.from,
            held: &self.held,
            expected: Expected {
                accelerations: &self.expected.accelerations,
                multipliers: &self.expected.multipliers,
            },
            deformations: integrated.then_some(&self.deformations),
            forces: ForcesAlong::Ends,
            tolerance,
            goal,
            polishes,
            factor,
            way: stage.is_first().then_some(Way {
                ahead: elapsed,
                horizon: stage.h,
            }),
            ends_at_impact: stage.is_first() && !stage.is_whole(),
        };
        let mut iteration = Iteration {
            system,
            start,
            end,
            scheme: &scheme,
            work,
            origin,
            or_halves: trace.stages.or_halves,
        };
        iteration.record_start(elapsed, 1.0);
        let mut found = match stage.is_whole() {
            true => iteration.iterate_with_restitution(&mut trace.timings),
            false => iteration.iterate(&mut trace.timings),
        };
        let mut lifts = 0;
        while lifts < LIFTS
            && integrated
            && has_no_solution(&found)
            && !iteration.shows_impact()
            && has_rows(iteration.system)
            && lift(&mut iteration, lifts)?
        {
            lifts += 1;
            if let Ok((_, newton, _)) = &found {
                trace.newton += *newton;
            }
            iteration.record_start(elapsed, 1.0);
            found = iteration.iterate(&mut trace.timings);
        }
        let (solved, newton, clamped) = found?;
        // The report has the worse of two stages.
        if trace.newton.iterations == 0 || solved.residual.relative >= trace.solved.residual.relative {
            trace.solved = solved;
            trace.missed = work.sizes.worst;
        }
        let (from, to) = (&work.equations.velocity, &work.iterate.velocity);
        let left = work.mixing.contraction.left(from, to).unwrap_or(0.0);
        trace.stages.left = trace.stages.left.max(left);
        trace.newton += newton;
        trace.geometry_clamped |= clamped;
        work.read_forces(system, end);
        let weight = match (stage.is_whole(), stage.is_first()) {
            (true, _) => 1.0,
            (false, true) => 1.0 - GAIN,
            (false, false) => GAIN,
        };
        let at = Step {
            system,
            start: end,
            end,
            scheme: &scheme,
        };
        let account = &mut trace.account;
        account.tally_stage(at, weight * stage.h, stage.is_first(), stage.is_whole());
        if !stage.is_whole() {
            contact_step::tally_stage(system, work.contact_iterate(), weight * stage.h, reach);
            if exact {
                contact_step::record_stage(system, work.contact_iterate(), stage.is_first());
            }
        }
        Ok(solved)
    }

    /// Velocities of the fixed coordinates a share of the step after its start, and their change
    /// from the predictor.
    fn find_held(&mut self, system: &mut System, start: &Motion, share: f64) {
        self.held.clear();
        let ends = self.start.iter().zip(&start.controls.held);
        self.held
            .extend(ends.map(|(from, to)| from + share * (to - from)));
        let fixed = &system.assembler.system().fixed;
        for (i, change) in system.scratch.fixed_change.iter_mut().enumerate() {
            *change = if fixed[i] {
                self.held[i] - self.velocity[i]
            } else {
                0.0
            };
        }
    }

    /// Moves on from the first stage: the predictor of the second.
    pub(super) fn advance(
        &mut self,
        system: &mut System,
        start: &Motion,
        stage: Stage<'_>,
        end: &mut Motion,
    ) -> Result<(), Error> {
        let ahead = stage.h - stage.reach;
        self.first.multipliers.clone_from(&end.multipliers);
        self.first.supports.clone_from(&end.supports);
        self.first.contacts.clone_from(&self.work.iterate.contacts);
        self.deformations.advance(system, &end.state, ahead);
        let velocity = &self.work.iterate.velocity;
        let Expectations {
            accelerations,
            multipliers,
            ..
        } = &mut self.expected;
        accelerations.clear();
        let ends = velocity.iter().zip(&self.start);
        accelerations.extend(ends.map(|(v, from)| (v - from) / stage.reach));
        let starts = self.velocity.iter_mut().zip(&self.start);
        for ((v, from), a) in starts.zip(&*accelerations) {
            *v = from + ahead * a;
        }
        let (of_motion, of_forces) = self.change.split_at(accelerations.len());
        for (a, change) in accelerations.iter_mut().zip(of_motion) {
            *a += change;
        }
        multipliers.clear();
        let firsts = end.multipliers.iter().zip(of_forces);
        multipliers.extend(firsts.map(|(first, change)| first + change));
        let displacement = &mut self.work.displacement;
        displacement.clear();
        displacement.extend(velocity.iter().map(|v| ahead * v));
        let scheme = stage.weights.with_weights(1.0, 1.0).with_step(stage.reach);
        contact_step::take_stage(system, start, &scheme, stage.reach, velocity, ahead);
        // Stages begin at its independent coordinates.
        system.place_independent(&start.state, velocity, displacement, None, &mut self.from);
        self.turn_contacts(system, start, stage)
    }

    /// Makes the forces of both stages the average ones of the step.
    pub(super) fn average(&mut self, end: &mut Motion) {
        let mean = |now: &mut [f64], first: &[f64]| {
            for (now, first) in now.iter_mut().zip(first) {
                *now = GAIN * *now + (1.0 - GAIN) * first;
            }
        };
        mean(&mut end.multipliers, &self.first.multipliers);
        mean(&mut end.supports, &self.first.supports);
        // Impulses over `g h` become impulses over `h`.
        let impulses = self.work.iterate.contacts.iter_mut();
        for (now, first) in impulses.zip(&self.first.contacts) {
            *now += (1.0 - GAIN) / GAIN * first;
        }
    }
}

impl NewtonWorkspace {
    /// Takes the relation of a stage from a predictor of the velocity: `a = (v - v^)/w`,
    /// `x = x^ (+) w v`.
    fn take_stage(&mut self, velocity: &[f64], reach: f64) {
        self.equations.velocity.clear();
        self.equations.velocity.extend_from_slice(velocity);
        let relation = &mut self.relation;
        relation.acceleration_gain = reach.recip();
        relation.displacement_gain = reach;
        relation.acceleration.clear();
        relation.acceleration.extend(velocity.iter().map(|v| -v / reach));
        relation.displacement.clear();
        relation.displacement.resize(velocity.len(), 0.0);
    }
}
