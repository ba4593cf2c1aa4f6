//! Limits and ropes in the correction of positions: those that are beyond come back, the others
//! stay within.

use super::{Penetration, Recovery};
use crate::Motion;
use crate::system::System;
use crate::system::one_sided::{each_recovering, gap_at_end, of_row};

impl Penetration {
    /// Whether a row that was beyond before is farther so, with this gap, than a step recovers, or
    /// was at the first correction.
    fn row_has_its_share(&self, system: &System, row: usize, gap: f64, shallow: f64) -> bool {
        let slow = || gap < -shallow || self.recovering_rows.binary_search(&row).is_ok();
        system.rows.lowered.was_beyond(row) && slow()
    }

    /// Whether a limit or rope is beyond by more than is allowed, and is to be taken back.
    pub(super) fn rows_ask(&self, system: &System, end: &Motion, recovery: Recovery) -> bool {
        let Recovery {
            allowed,
            shallow,
            most,
        } = recovery;
        let mut any = false;
        each_recovering(system, |group, k, side| {
            let gap = gap_at_end(system, &end.state, group, k, side);
            let row = group.first_row + k;
            let asks = gap < -allowed && (most > 0.0 || !self.row_has_its_share(system, row, gap, shallow));
            any |= asks && !system.guards.leave_out(row);
        });
        any
    }
}

/// Lets limits and ropes take part in the filled correction. Those that the step took by their
/// velocity recover; what others are beyond is left to the velocity of the next step.
pub(super) fn hold(system: &mut System, end: &Motion, recovery: Recovery) {
    let Recovery { shallow, most, .. } = recovery;
    let mut asking = 0;
    for index in 0..system.model.row_groups().len() {
        let group = system.model.row_groups()[index];
        if system.model.bounds(&group).is_none() {
            continue;
        }
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let Some(side) = of_row(system, &group, k) else {
                continue;
            };
            if side.yields || system.guards.leave_out(row) {
                continue;
            }
            let gap = gap_at_end(system, &end.state, &group, k, side);
            let recovers = system.rows.lowered.recovers(row);
            asking += usize::from(recovers && gap < 0.0);
            let p = &system.corrections.behind;
            let asked = if !recovers {
                gap.max(0.0)
            } else if p.row_has_its_share(system, row, gap, shallow) {
                -most
            } else {
                gap
            };
            system.assembler.hold_side(&group, k, side.sign, asked);
        }
    }
    system.corrections.behind.asking_rows = asking;
}

/// Notes the rows that a step does not recover wholly.
pub(super) fn note_recovering(system: &mut System, end: &Motion, shallow: f64) {
    let mut rows = std::mem::take(&mut system.corrections.behind.recovering_rows);
    each_recovering(system, |group, k, side| {
        if gap_at_end(system, &end.state, group, k, side) < -shallow {
            rows.push(group.first_row + k);
        }
    });
    rows.sort_unstable();
    system.corrections.behind.recovering_rows = rows;
}
