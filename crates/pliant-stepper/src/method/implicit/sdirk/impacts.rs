//! Steps of SDIRK2 across impacts: how the stages tell them.

use super::super::deformations::starts_where_held;
use super::super::projection::Way;
use super::Sdirk2;
use crate::Error;
use crate::contact::{Approach, Meeting, StageMotion, places_of_impacts, rebounds, step as contact_step};
use crate::motion::Motion;
use crate::observe::Trace;
use crate::sleep::{self, Cause};
use crate::system::System;
use pliant_model::RowGroup;
use pliant_solvers::Status;

/// Whether there was an impact in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Impact {
    None,
    /// Contacts that bore come to the directions of their curves.
    OfCurves,
    /// Others meet, or one-sided rows.
    Real,
}

/// Groups of rows that bear on one side only.
fn one_sided(system: &System) -> impl Iterator<Item = &RowGroup> {
    let groups = system.model.row_groups().iter();
    groups.filter(|group| {
        let bounds = system.model.bounds(group);
        bounds.is_some_and(|(a, b)| a == 0.0 || b == 0.0)
    })
}

impl Sdirk2 {
    /// Finds the one-sided rows and contacts that stop what came in with a velocity, so that their
    /// impulses in the first stage, or in both, are impacts: those of the forces of `end`, or of the
    /// iterate for contacts, in the time `elapsed` (s) since the start of the step. A compliant
    /// contact may stop half of an approach in one stage and throw it back in the next.
    pub(super) fn impact(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &Motion,
        elapsed: f64,
    ) -> Impact {
        let mut struck = std::mem::take(&mut self.struck);
        struck.rows.clear();
        for group in one_sided(system) {
            let approaches = self.approaches(system, group, start, end, elapsed);
            let places = places_of_impacts(approaches.map(|(one, _)| one));
            struck.rows.extend(places.map(|k| group.first_row + k));
        }
        let motion = StageMotion {
            end: &self.work.iterate.velocity,
            accelerations: &self.expected.accelerations,
            elapsed,
        };
        let impulses = &self.work.iterate.contacts;
        let met = contact_step::find_impact(system, impulses, motion, &mut struck.contacts);
        let is_row = !struck.rows.is_empty();
        self.struck = struck;
        match met {
            _ if is_row => Impact::Real,
            Some(Meeting::Anew) => Impact::Real,
            Some(Meeting::Any) => Impact::OfCurves,
            None => Impact::None,
        }
    }

    /// Finds the one-sided rows and contacts that stopped what came in in the first stage and let it
    /// go the other way in the second: their impulses were impacts, whatever part of the velocities
    /// they seemed to be. The forces of `end` are those of both stages. Whether there are any.
    pub(super) fn rebounds(&mut self, system: &mut System, start: &Motion, end: &Motion, h: f64) -> bool {
        let mut struck = std::mem::take(&mut self.struck);
        struck.rows.clear();
        for group in one_sided(system) {
            let places = rebounds(self.approaches(system, group, start, end, h));
            struck.rows.extend(places.map(|k| group.first_row + k));
        }
        let (first, velocity) = (&self.first.contacts, &self.work.iterate.velocity);
        contact_step::find_rebounds(system, first, velocity, &mut struck.contacts);
        self.struck = struck;
        !self.struck.is_empty()
    }

    /// Whether there are islands without any of the impacts that were found.
    pub(super) fn is_apart(&mut self, system: &mut System, start: &Motion) -> bool {
        let cause = Cause::Impacts(std::mem::take(&mut self.struck));
        let apart = sleep::is_apart(system, start, &cause);
        if let Cause::Impacts(struck) = cause {
            self.struck = struck;
        }
        apart
    }

    /// The approach of each coordinate of a group of one-sided rows, of which the forces of `end`
    /// act in the time `elapsed` (s), and the velocity with which it leaves (m/s, rad/s).
    fn approaches<'a>(
        &'a self,
        system: &'a System,
        group: &'a RowGroup,
        start: &'a Motion,
        end: &'a Motion,
        elapsed: f64,
    ) -> impl Iterator<Item = (Approach, f64)> + Clone + 'a {
        let rows = 0..group.size * group.count;
        rows.map(move |k| self.approach(system, group, k, start, end, elapsed))
    }

    /// The approach of coordinate `k` of a group of one-sided rows, of which the forces of `end`
    /// act in the time `elapsed` (s), and the velocity with which it leaves (m/s, rad/s).
    fn approach(
        &self,
        system: &System,
        group: &RowGroup,
        k: usize,
        start: &Motion,
        end: &Motion,
        elapsed: f64,
    ) -> (Approach, f64) {
        let (model, kkt) = (&system.model, system.assembler.system());
        let accelerations = &self.expected.accelerations[..];
        let row = group.first_row + k;
        let motion = system.row_motion.get(row).copied().unwrap_or_default();
        let place = model.node(group.node).first_velocity + k;
        let u = start.state.velocities[place] - motion.start.1;
        let mu = elapsed * end.multipliers[row];
        let leaves = (end.state.velocities[place] - motion.end.1) * mu.signum();
        let found = Approach {
            velocity: -u * mu.signum(),
            change: kkt.row_scale(row) * mu.abs(),
            is_hard: starts_where_held(system, group, k),
        };
        if start.multipliers[row] != 0.0 {
            return (found, leaves);
        }
        let entries = kkt.j.row_entries(row);
        let a: f64 = entries
            .filter_map(|(column, j)| Some(j * accelerations.get(column)?))
            .sum();
        let stopped = leaves + found.velocity;
        (found.with_motion(stopped, elapsed * a.abs()), leaves)
    }

    /// The step once more from its start, by the linear step, whose impacts go before it: one after
    /// the other, or by Poisson's law. Its rows drift: hard ones are projected at its end, and
    /// elastic ones go where they have the deformations that its forces belong to,
    /// `e = phi(x0) + h J(x0) v`, as at the end of a step of stages, with the rates `J(x0) v`.
    pub(super) fn by_linear_step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        end.clone_from(start);
        contact_step::turn_back(system);
        system.propagate(&mut end.state)?;
        let (scheme, timings) = (trace.scheme.clone(), trace.timings);
        trace.clear();
        (trace.stages.taken, trace.timings) = (1, timings);
        trace.account.open(system, start, &scheme, trace.projected);
        let Self {
            linear,
            deformations,
            projection,
            from,
            first,
            ..
        } = self;
        linear.step_and_correct(system, start, h, end, trace, |system, end, trace| {
            if trace.solved.status != Status::Converged {
                return Ok(());
            }
            system.set_row_motion(start.time, start.time);
            from.clone_from(&start.state);
            system.propagate(from)?;
            system.evaluate(start, 0.0)?;
            deformations.begin(system, from, 1.0);
            from.velocities.clone_from(&end.state.velocities);
            system
                .evaluation
                .push_forward(&system.model, &mut from.velocities);
            system.set_row_motion(start.time, start.time + h);
            deformations.advance(system, from, h);
            deformations.put(&system.model, 0.0, &mut end.state);
            end.state.velocities.clone_from(&from.velocities);
            system.evaluate_forces(end, h)?;
            let mu = &mut first.multipliers;
            mu.clear();
            mu.extend(end.multipliers.iter().map(|lambda| h * lambda));
            let way = Way {
                h,
                reach: h,
                recovery: 0.0,
                linear: true,
                exact: false,
            };
            let projected = projection.project(system, deformations, way, mu, start, end)?;
            trace.corrections.1 = projected.solves;
            trace.solved.status = projected.status;
            Ok(())
        })
    }
}
