//! Hard rows that hold a position on one side: limits of joints, ropes.
//!
//! In the direction of its force such a row has a gap `g` (m, rad; negative beyond) and a velocity
//! `w`, and its velocity at the end of a step must be no less than the smaller of two:
//!
//! - what its position asks for, `g + h (beta w+ + (1 - beta) w) >= 0`. A gap that is open closes
//!   by that without more velocity than it has. With `beta < 1` it asks for too much where the gap
//!   closes in the step: `(1 - beta)/beta` times the approach turned round, which is a bounce;
//! - the velocity of its closed side. That is zero, as for a contact without restitution, and for a
//!   gap that the curvature of the motion over a step left beyond, `|g| <= 2 h^2 |(dJ/dt) v|`, what
//!   takes it back in a step, `|g|/h`, as for rows of two sides: where a rope turns what hangs on
//!   it, the end of every step is beyond by half of that, and the velocity that takes it back is of
//!   the order of the step, and less than what the curvature makes in the other direction.
//!
//! A gap further beyond was set so, or came by impacts and mappings that are not smooth. By a
//! velocity it would be shot away with `g^2/(2 h^2)` of energy per mass; a displacement takes it
//! back behind the step ([`crate::contact::Overlap`]).

use super::System;
use crate::contact::Overlap;
use crate::guards::has_restitution;
use crate::motion::Motion;
use pliant_model::{ComponentId, Level, NodeKind, RowGroup, RowLaw, State};
use std::cell::LazyCell;

/// In times of `h^2 |(dJ/dt) v|`, twice what motion over a step leaves, the gap beyond that rows
/// take back by a velocity. At `beta = 1` they leave half of it, at `beta = 1/2` all of it.
const CURVATURE: f64 = 2.0;

/// In times of the change of velocity in a step, the approach up to which a row that acceleration
/// alone reaches comes to rest: what is slower would rebound for ever, by less than a step makes.
const GENTLE: f64 = 4.0;

/// A hundred roundings, for the arithmetic of a mapping.
const ROUNDINGS: f64 = 100.0 * f64::EPSILON;

/// A hard row that holds a position on one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OneSided {
    /// The sign of its force: it holds `sign phi >= 0`.
    pub(crate) sign: f64,
    /// Time in which what is beyond comes back by the law of the row (s), zero for none.
    relaxation: f64,
    /// Coefficient of restitution (none).
    restitution: f64,
    /// Whether it gives way by its law, by relaxation or a largest force. Then nothing else takes
    /// it back.
    pub(crate) yields: bool,
}

/// A one-sided row of the present step whose velocity need not be what its position asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LoweredRow {
    row: usize,
    /// Its place in the velocities of all nodes.
    velocity: usize,
    sign: f64,
    relaxation: f64,
    /// Velocity of what drives it over the step (m/s, rad/s).
    rate: f64,
    /// The velocity of its closed side (m/s, rad/s).
    recovery: f64,
    /// The velocity at the start of the step less this one.
    floor: f64,
    /// The velocity with which it leaves where an impact turns it round (m/s, rad/s).
    rebound: Option<f64>,
    /// Whether what it lacks in position is taken back behind the step.
    recovers: bool,
    /// Whether it was beyond at the start by more than motion leaves and may stay.
    was_beyond: bool,
}

impl LoweredRow {
    /// The deficit of its position law or that of the velocity of its closed side, the larger in
    /// the direction of its force. `reach` (s) is the displacement by the velocity at the end,
    /// `velocity` that of all nodes there.
    pub(crate) fn lower_deficit(&self, deficit: f64, reach: f64, velocity: &[f64]) -> f64 {
        let w = self.sign * (velocity[self.velocity] - self.rate);
        if let Some(rebound) = self.rebound {
            return self.sign * (reach + self.relaxation) * (w - rebound);
        }
        let closed = (reach + self.relaxation) * (w - self.recovery);
        self.sign * (self.sign * deficit).max(closed)
    }

    /// Its row.
    pub(crate) fn row(&self) -> usize {
        self.row
    }
}

/// The one-sided rows of the present step that are taken by their velocity, ascending.
#[derive(Debug, Default)]
pub(crate) struct LoweredRows(Vec<LoweredRow>);

impl LoweredRows {
    /// No step has any.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &LoweredRow> {
        self.0.iter()
    }

    /// Whether one of them comes back by a velocity.
    pub(crate) fn recover_by_velocity(&self) -> bool {
        self.0.iter().any(|lowered| lowered.recovery > 0.0)
    }

    fn get(&self, row: usize) -> Option<&LoweredRow> {
        let found = self.0.binary_search_by_key(&row, |lowered| lowered.row);
        found.ok().map(|k| &self.0[k])
    }

    /// Whether what a row lacks in position is taken back behind the step.
    pub(crate) fn recovers(&self, row: usize) -> bool {
        self.get(row).is_some_and(|lowered| lowered.recovers)
    }

    /// Whether an impact turns a row round in the step.
    pub(crate) fn rebounds(&self, row: usize) -> bool {
        self.get(row).is_some_and(|lowered| lowered.rebound.is_some())
    }

    /// Whether an impact turns any row round in the step.
    pub(crate) fn any_rebounds(&self) -> bool {
        self.0.iter().any(|lowered| lowered.rebound.is_some())
    }

    /// Whether a row was beyond at the start of the step, and not only arrived there in it.
    pub(crate) fn was_beyond(&self, row: usize) -> bool {
        self.get(row).is_some_and(|lowered| lowered.was_beyond)
    }
}

/// The side that coordinate `k` of a group of rows holds, if it is hard and holds a position on
/// one side.
pub(crate) fn of_row(system: &System, group: &RowGroup, k: usize) -> Option<OneSided> {
    let (lower, upper) = system.model.bounds(group)?;
    let sign = match (lower == 0.0, upper == 0.0) {
        (true, false) => 1.0,
        (false, true) => -1.0,
        _ => return None,
    };
    let mut restitution = 0.0;
    let relaxation = match group.component {
        ComponentId::Constraint(i) => {
            let entry = &system.model.constraints()[i].component;
            restitution = entry.restitution;
            match entry.level {
                Level::Position | Level::CurvedPosition => 0.0,
                _ => return None,
            }
        }
        ComponentId::ForceField(i) => {
            let viscous = system.model.row_law(group) == RowLaw::Viscous;
            if viscous || !system.evaluation.is_hard(group, k) {
                return None;
            }
            system.model.relaxation_time(i, k)
        }
        ComponentId::Mass(_) => return None,
    };
    let limited = lower.is_finite() && upper.is_finite();
    Some(OneSided {
        sign,
        relaxation,
        restitution,
        yields: limited || relaxation > 0.0,
    })
}

/// The gap of row `k` of a group on a side (m, rad), against what drives it at the end of the
/// step.
pub(crate) fn gap_at_end(system: &System, state: &State, group: &RowGroup, k: usize, side: OneSided) -> f64 {
    let phi = system.model.positions(state, group.node)[k];
    side.sign * (phi - system.row_target(group.first_row + k))
}

/// Finds the one-sided rows of a step whose velocity is not what their position asks for: those
/// that an impact turns round, those that are far beyond, and all, unless `by_end` says that
/// positions do not move by a weighted mean of the velocities at both ends, which turns approach
/// round. The motion must be evaluated at its start.
pub(crate) fn find(system: &mut System, motion: &Motion, end: StepEnd) {
    let mut found = std::mem::take(&mut system.rows.lowered.0);
    found.clear();
    for group in system.model.row_groups() {
        if system.model.bounds(group).is_none() {
            continue;
        }
        let rounding = LazyCell::new(|| rounding(system, &motion.state, group));
        let rows = 0..group.size * group.count;
        let rows = rows.filter(|k| !system.guards.leave_out(group.first_row + k));
        found.extend(rows.filter_map(|k| {
            let row = GroupRow { group, k };
            lowered_row(system, motion, row, end, || *rounding)
        }));
    }
    found.sort_unstable_by_key(|lowered| lowered.row);
    system.rows.lowered.0 = found;
}

/// A coordinate of a group of rows.
#[derive(Clone, Copy)]
struct GroupRow<'a> {
    group: &'a RowGroup,
    k: usize,
}

/// How a one-sided row begins a step.
struct Closing {
    /// Velocity of what drives it over the step (m/s, rad/s).
    rate: f64,
    /// Its place in the velocities of all nodes.
    velocity: usize,
    /// Its velocity against that, positive where it opens (m/s, rad/s).
    w: f64,
    /// Its gap (m, rad), negative beyond.
    gap: f64,
}

/// The gap and the velocity with which a row of a side begins a step of length `h` (s).
fn closing(
    system: &System,
    motion: &Motion,
    GroupRow { group, k }: GroupRow<'_>,
    sign: f64,
    h: f64,
) -> Closing {
    let driven = system.row_motion.get(group.first_row + k);
    let driven = driven.copied().unwrap_or_default();
    let rate = (driven.end.0 - driven.start.0) / h;
    let velocity = system.model.node(group.node).first_velocity + k;
    Closing {
        rate,
        velocity,
        w: sign * (motion.state.velocities[velocity] - rate),
        gap: sign * (system.model.positions(&motion.state, group.node)[k] - driven.start.0),
    }
}

/// The relation of a step between the velocities and positions of its end.
#[derive(Clone, Copy)]
pub(crate) struct StepEnd {
    /// Length of the step (s).
    pub(crate) h: f64,
    /// Whether positions move by the velocities of the end alone.
    pub(crate) by_end: bool,
    /// Whether impacts turn round what has a restitution.
    pub(crate) bounces: bool,
}

/// The row of coordinate `k` of a group, if its velocity need not be what its position asks for.
fn lowered_row(
    system: &System,
    motion: &Motion,
    GroupRow { group, k }: GroupRow<'_>,
    StepEnd { h, by_end, bounces }: StepEnd,
    rounding: impl Fn() -> f64,
) -> Option<LoweredRow> {
    let OneSided {
        sign,
        relaxation,
        restitution,
        yields,
    } = of_row(system, group, k)?;
    let row = group.first_row + k;
    let Closing {
        rate,
        velocity,
        w,
        gap,
    } = closing(system, motion, GroupRow { group, k }, sign, h);
    let beyond = -gap;
    let left_by_motion = CURVATURE * h * h * system.evaluation.bias()[velocity].abs();
    let near = left_by_motion + ROUNDINGS * h * w.abs();
    let far = !yields && beyond > near && beyond > near + rounding();
    // An impact within the step is taken at its start, as that of a contact.
    let hits = bounces && restitution > 0.0 && w < 0.0 && gap + h * w < 0.0;
    let rebound = hits.then_some(-restitution * w);
    if by_end && !far && rebound.is_none() {
        return None;
    }
    let (recovery, allowed) = match system.options.contacts.overlap {
        _ if !far => (beyond.max(0.0) / (h + relaxation), 0.0),
        Overlap::Rows { rate, speed } => ((rate * beyond).min(speed), 0.0),
        Overlap::Correct { allowed, .. } => (0.0, allowed),
        Overlap::Keep => (0.0, 0.0),
    };
    Some(LoweredRow {
        row,
        velocity,
        sign,
        relaxation,
        rate,
        recovery,
        floor: w - rebound.unwrap_or(recovery),
        rebound,
        recovers: !yields,
        was_beyond: far && beyond > allowed,
    })
}

/// Writes the accelerations of all nodes (m/s^2, rad/s^2) that those of the independent coordinates
/// make: nothing where these are not known, or no row has a restitution.
pub(crate) fn carry_accelerations(system: &System, independent: &[f64], out: &mut Vec<f64>) {
    let (model, groups) = (&system.model, system.model.row_groups());
    out.clear();
    if independent.is_empty() || !groups.iter().any(|group| has_restitution(model, group)) {
        return;
    }
    out.resize(model.velocity_count(), 0.0);
    for node in model.nodes() {
        if let Some(first) = node.first_dof() {
            let own = node.velocity_range();
            out[own.clone()].copy_from_slice(&independent[first..first + own.len()]);
        }
    }
    system.evaluation.push_forward(model, out);
}

/// A step that stopped one-sided rows.
#[derive(Clone, Copy)]
pub(crate) struct StoppingStep<'a> {
    /// Its start.
    pub(crate) start: &'a Motion,
    /// Its length (s).
    pub(crate) h: f64,
    /// Accelerations of all nodes in the step before (m/s^2, rad/s^2); empty if they are not known.
    pub(crate) accelerations: &'a [f64],
    /// Multipliers of all rows at its end (N, N m).
    pub(crate) multipliers: &'a [f64],
}

/// Lets rows rebound that a step stopped though the velocity at its start does not reach them:
/// acceleration does. Those are struck that come in with more than [`GENTLE`] times the change of
/// their velocity in a step; others come to rest. Returns whether there are any.
pub(crate) fn add_struck(system: &mut System, step: StoppingStep<'_>) -> bool {
    let StoppingStep {
        start,
        h,
        accelerations,
        multipliers,
    } = step;
    if accelerations.is_empty() {
        return false;
    }
    let mut found = std::mem::take(&mut system.rows.lowered.0);
    let before = found.len();
    for group in system.model.row_groups() {
        if system.model.bounds(group).is_none() || !has_restitution(&system.model, group) {
            continue;
        }
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let is_known = found[..before]
                .binary_search_by_key(&row, |lowered| lowered.row)
                .is_ok();
            if multipliers[row] == 0.0 || is_known {
                continue;
            }
            let Some(side) = of_row(system, group, k) else {
                continue;
            };
            let Closing {
                rate,
                velocity,
                w,
                gap,
            } = closing(system, start, GroupRow { group, k }, side.sign, h);
            if gap >= 0.0 && gap + 2.0 * h * w < 0.0 && -w > GENTLE * h * accelerations[velocity].abs() {
                let rebound = -side.restitution * w;
                found.push(LoweredRow {
                    row,
                    velocity,
                    sign: side.sign,
                    relaxation: side.relaxation,
                    rate,
                    recovery: 0.0,
                    floor: w - rebound,
                    rebound: Some(rebound),
                    recovers: !side.yields,
                    was_beyond: false,
                });
            }
        }
    }
    let any = found.len() > before;
    found.sort_unstable_by_key(|lowered| lowered.row);
    system.rows.lowered.0 = found;
    any
}

/// Rounding of the coordinates that a group of rows is made of (m, rad), by the largest of its
/// node's parents.
fn rounding(system: &System, state: &State, group: &RowGroup) -> f64 {
    let parents = match &system.model.node(group.node).kind {
        NodeKind::Mapped { parents, .. } => &parents[..],
        NodeKind::Independent { .. } => std::slice::from_ref(&group.node),
    };
    let positions = parents.iter().flat_map(|p| system.model.positions(state, *p));
    ROUNDINGS * positions.fold(0.0f64, |a, x| a.max(x.abs()))
}

/// Whether a one-sided row that bore nothing before a step bears something at its end. Velocities
/// jump there, so that those of before say nothing of the motion behind: a method of several steps
/// that went on from them would throw back what a limit has stopped.
pub(crate) fn has_closed(system: &System, start: &Motion, end: &Motion) -> bool {
    let rows = |group: &RowGroup| group.first_row..group.first_row + group.size * group.count;
    system.model.row_groups().iter().any(|group| {
        system.model.bounds(group).is_some()
            && rows(group).enumerate().any(|(k, row)| {
                start.multipliers[row] == 0.0
                    && end.multipliers[row] != 0.0
                    && of_row(system, group, k).is_some()
            })
    })
}

/// Lets the filled system have the velocities of the closed sides of one-sided rows.
pub(crate) fn take(system: &mut System) {
    for lowered in system.rows.lowered.iter() {
        let change = &system.scratch.fixed_change;
        let (row, sign, floor) = (lowered.row, lowered.sign, lowered.floor);
        match lowered.rebound {
            Some(_) => system.assembler.set_side(row, sign, floor, change),
            None => system.assembler.lower_side(row, sign, floor, change),
        }
    }
}

/// The farthest that a row is beyond its side of those that are taken back behind the step (m,
/// rad).
pub(crate) fn farthest_outside(system: &System, state: &State) -> f64 {
    let mut farthest = 0.0f64;
    each_recovering(system, |group, k, side| {
        farthest = farthest.max(-gap_at_end(system, state, group, k, side));
    });
    farthest
}

/// Calls a function with each row that is taken back behind the step where it lacks.
pub(crate) fn each_recovering(system: &System, mut call: impl FnMut(&RowGroup, usize, OneSided)) {
    if system.rows.lowered.0.is_empty() {
        return;
    }
    for group in system.model.row_groups() {
        for k in 0..group.size * group.count {
            if system.rows.lowered.recovers(group.first_row + k)
                && let Some(side) = of_row(system, group, k)
            {
                call(group, k, side);
            }
        }
    }
}
