//! Steps of SDIRK2 across impacts: how the stages tell them.

use super::super::deformations::starts_where_held;
use super::Sdirk2;
use crate::contact::{Approach, Meeting, any_impact, step as contact_step};
use crate::motion::Motion;
use crate::system::System;
use pliant_model::RowGroup;

/// Whether there was an impact in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Impact {
    None,
    /// Contacts that bore come to the directions of their curves.
    OfCurves,
    /// Others meet, or one-sided rows.
    Real,
}

impl Sdirk2 {
    /// Whether a one-sided row or a contact stops what came in with a velocity, so that its impulse
    /// in the first stage, or in both, is an impact: that of the forces of `end`, or of the iterate
    /// for contacts, in the time `elapsed` (s) since the start of the step. A compliant contact may
    /// stop half of an approach in one stage and throw it back in the next.
    pub(super) fn impact(&self, system: &System, start: &Motion, end: &Motion, elapsed: f64) -> Impact {
        let (model, kkt) = (&system.model, system.assembler.system());
        let accelerations = &self.expected.accelerations[..];
        let approach = |group: &RowGroup, k: usize| {
            let row = group.first_row + k;
            let motion = system.row_motion.get(row).copied().unwrap_or_default();
            let place = model.node(group.node).first_velocity + k;
            let u = start.state.velocities[place] - motion.start.1;
            let mu = elapsed * end.multipliers[row];
            let found = Approach {
                velocity: -u * mu.signum(),
                change: kkt.row_scale(row) * mu.abs(),
                is_hard: starts_where_held(system, group, k),
            };
            if start.multipliers[row] != 0.0 {
                return found;
            }
            let entries = kkt.j.row_entries(row);
            let a: f64 = entries
                .filter_map(|(column, j)| Some(j * accelerations.get(column)?))
                .sum();
            let stopped = (end.state.velocities[place] - motion.end.1 - u) * mu.signum();
            found.with_motion(stopped, elapsed * a.abs())
        };
        let row_stops = model.row_groups().iter().any(|group| {
            let one_sided = model.bounds(group).is_some_and(|(a, b)| a == 0.0 || b == 0.0);
            one_sided && any_impact((0..group.size * group.count).map(|k| approach(group, k)))
        });
        let impulses = &self.work.iterate.contacts;
        if row_stops || contact_step::has_impact(system, impulses, Meeting::Anew) {
            Impact::Real
        } else if contact_step::has_impact(system, impulses, Meeting::Any) {
            Impact::OfCurves
        } else {
            Impact::None
        }
    }
}
