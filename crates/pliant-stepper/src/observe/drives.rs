//! The work of what drives rows: targets that move, and targets that jump.
//!
//! The drive of a compliance moves its target `g` and feels its force, `W = int lambda dg`. Of
//! methods that have forces at both ends of a step this is their mean times the way of the target,
//! of methods with stages the sum over these. A target that jumps by `j` does so at fixed positions
//! and puts the difference of the stored energies into the compliance,
//!
//! ```math
//! W = V(phi - g - j) - V(phi - g)
//! ```
//!
//! where the method feels it: at the start of a step whose targets are those of its end all along,
//! at the end of a step whose forces see it last.
//!
//! The drive of a hard row moves the row itself: its force times its velocity. Where that jumps at
//! the start of a step of two stages, by `dw` from what the state has, the stages enter the impulse
//! `I` at the velocity behind it, but its work is that at the mean of both: less by `I dw/2`.

use super::ledger::{Entry, Power, entry_of};
use super::{Room, Step, energy};
use crate::Ledger;
use crate::motion::Motion;
use crate::system::System;
use pliant_model::{ComponentId, Level, RowGroup, RowLaw};

/// The way in which a method feels what drives rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Driving {
    /// Multipliers are the mean forces of the step, of compliances too.
    Means,
    /// Multipliers of hard rows are mean forces of the step; compliances have their laws.
    Laws,
    /// As [`Laws`](Self::Laws), but multipliers are the forces at the end of the step.
    Ends,
    /// As [`Laws`](Self::Laws), and jumps are felt at the end of the step.
    Late,
    /// By forces in the stages of the step, as entered; jumps are felt at its end. Where a velocity
    /// jumps at its start, its impulse is this share of the length of the step times the change of
    /// the force from the first stage to the second.
    Stages { impulse: f64 },
}

impl Driving {
    /// Whether targets jump before positions move.
    fn jumps_first(self) -> bool {
        matches!(self, Self::Means | Self::Laws | Self::Ends)
    }

    /// Whether compliances have the mean of their laws at both ends.
    fn is_by_laws(self) -> bool {
        matches!(self, Self::Laws | Self::Ends | Self::Late)
    }
}

/// The work of the drives of one step, by the rows of the model.
#[derive(Debug, Default)]
pub(super) struct Drives {
    /// Work in the stages so far (J); empty of steps without stages.
    stages: Vec<f64>,
    /// Forces of the first stage, then the change from it to the second (N, N m).
    change: Vec<f64>,
    /// Means of the forces at both ends (N, N m); empty where the multipliers of the step are means.
    means: Vec<f64>,
    /// Jumps of targets (m, rad).
    jumps: Vec<f64>,
    /// Energy that they put into compliances (J), at the first row of each group.
    jumped: Vec<f64>,
}

/// Whether a group of rows has a law with a force that is that of a deformation.
fn is_elastic(system: &System, group: &RowGroup) -> bool {
    matches!(group.component, ComponentId::ForceField(_)) && system.model.row_law(group) != RowLaw::Viscous
}

/// Whether coordinate `k` of a group of rows is a compliance.
fn is_compliance(system: &System, group: &RowGroup, k: usize) -> bool {
    matches!(group.component, ComponentId::ForceField(_)) && !system.evaluation.is_hard(group, k)
}

/// Whether coordinate `k` of a group is a hard row that ends each step at the velocity of its drive.
fn holds(system: &System, group: &RowGroup, k: usize) -> bool {
    match group.component {
        ComponentId::Constraint(i) => matches!(
            system.model.constraints()[i].component.level,
            Level::Position | Level::CurvedPosition | Level::Velocity { .. }
        ),
        ComponentId::ForceField(i) => {
            system.evaluation.is_hard(group, k) && system.model.relaxation_time(i, k) == 0.0
        }
        ComponentId::Mass(_) => false,
    }
}

/// Whether rows stop what comes in, beside what their drive does: a winch hauls its rope.
fn stops(system: &System, group: &RowGroup) -> bool {
    matches!(entry_of(&system.model, group, true), Some(Entry::Impacts))
}

impl Drives {
    /// Forgets the last step.
    pub(super) fn clear(&mut self) {
        self.stages.clear();
        self.change.clear();
        self.means.clear();
        self.jumps.clear();
        self.jumped.clear();
    }

    /// Enters the work in the state that a stage ends with, for the time `h` (s) that the method
    /// counts it for. The first one forgets earlier ones.
    pub(super) fn add_stage(&mut self, stage: Step<'_>, h: f64, first: bool) {
        let Step { system, end, .. } = stage;
        let forces = &end.multipliers;
        match first {
            true => {
                self.stages.clear();
                self.stages.resize(forces.len(), 0.0);
                self.change.clone_from(forces);
            }
            false => {
                let pairs = self.change.iter_mut().zip(forces);
                pairs.for_each(|(change, force)| *change = force - *change);
            }
        }
        for group in system.model.row_groups() {
            if system.model.motion(group).is_none() {
                continue;
            }
            for k in 0..group.size * group.count {
                self.stages[group.first_row + k] += self.work(stage, group, k, h, Power::End);
            }
        }
    }

    /// Enters the work of compliances in a stage of forces by their laws, which the system has, for
    /// the time `h` (s).
    pub(super) fn add_stage_by_laws(&mut self, system: &System, h: f64, first: bool) {
        if first {
            self.clear();
        }
        self.stages.resize(system.row_motion.len(), 0.0);
        let rows = self.stages.iter_mut().zip(&system.row_motion);
        for ((work, motion), force) in rows.zip(&system.rows.law_force) {
            *work += h * force * motion.end.1;
        }
    }

    /// Finds the forces and the jumps of a step of length `h` (s), of which the system has the
    /// targets at both ends.
    pub(super) fn find(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &Motion,
        h: f64,
        driving: Driving,
        room: &mut Room,
    ) {
        self.means.clear();
        self.jumps.clear();
        self.jumped.clear();
        if system.row_motion.is_empty() {
            return;
        }
        let rows = system.row_motion.len();
        self.jumps.resize(rows, 0.0);
        self.jumped.resize(rows, 0.0);
        let state = match driving.jumps_first() {
            true => &start.state,
            false => &end.state,
        };
        let mut any = false;
        for group in system.model.row_groups() {
            let Some(motion) = system.model.motion(group) else {
                continue;
            };
            if !is_elastic(system, group) {
                continue;
            }
            let mut is_here = false;
            for k in 0..group.size * group.count {
                if !system.evaluation.is_hard(group, k) {
                    let jump = motion.jump(k, start.time, start.time + h);
                    self.jumps[group.first_row + k] = jump;
                    is_here |= jump != 0.0;
                }
            }
            if !is_here {
                continue;
            }
            any = true;
            let target = |k: usize, jumped: bool| {
                let row = group.first_row + k;
                let (motion, jump) = (system.row_motion[row], self.jumps[row]);
                match (driving.jumps_first(), jumped) {
                    (true, false) => motion.start.0,
                    (true, true) => motion.start.0 + jump,
                    (false, false) => motion.end.0 - jump,
                    (false, true) => motion.end.0,
                }
            };
            let x = system.model.positions(state, group.node);
            let [before, after] = [false, true].map(|jumped| {
                energy::energy_by_law(system, group, x, |k| target(k, jumped), &mut room.first)
            });
            self.jumped[group.first_row] = after - before;
        }
        if let Driving::Stages { impulse } = driving {
            self.take_impulses(system, start, impulse * h);
        }
        if driving.is_by_laws() && self.stages.is_empty() {
            self.find_means(system, start, end, driving);
        }
        if any {
            system.set_row_motion(start.time, start.time + h);
        }
    }

    /// Takes from the work in two stages what they enter too much for the impulses of hard rows
    /// whose velocity jumps at the start of the step: these are `time` (s) times the change of
    /// their forces.
    fn take_impulses(&mut self, system: &System, start: &Motion, time: f64) {
        for group in system.model.row_groups() {
            if system.model.motion(group).is_none() || system.model.bounds(group).is_some() {
                continue;
            }
            let first = system.model.node(group.node).first_velocity;
            for k in (0..group.size * group.count).filter(|k| holds(system, group, *k)) {
                let row = group.first_row + k;
                let jump = system.row_motion[row].start.1 - start.state.velocities[first + k];
                let (Some(work), Some(change)) = (self.stages.get_mut(row), self.change.get(row)) else {
                    continue;
                };
                *work -= 0.5 * time * change * jump;
            }
        }
    }

    /// Finds the means of the forces at both ends; targets jump where the method feels it.
    fn find_means(&mut self, system: &mut System, start: &Motion, end: &Motion, driving: Driving) {
        for (motion, jump) in system.row_motion.iter_mut().zip(&self.jumps) {
            match driving.jumps_first() {
                true => motion.start.0 += jump,
                false => motion.end.0 -= jump,
            }
        }
        system.find_law_forces(&start.state, |m| m.start);
        self.means.clone_from(&system.rows.law_force);
        system.find_law_forces(&end.state, |m| m.end);
        let is_known = !start.fresh && start.multipliers.len() == self.means.len();
        for group in system.model.row_groups() {
            let bounds = system.model.bounds(group);
            let (lower, upper) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let [before, after] = [self.means[row], system.rows.law_force[row]];
                let force = end.multipliers[row];
                self.means[row] = if is_compliance(system, group, k) {
                    let mean = 0.5 * (before.max(lower).min(upper) + after.max(lower).min(upper));
                    // Beside hard ones of its group a law may know none.
                    if mean.is_finite() { mean } else { force }
                } else if driving == Driving::Ends && is_known && bounds.is_none() {
                    0.5 * (start.multipliers[row] + force)
                } else {
                    force
                };
            }
        }
    }

    /// The work of the drive of coordinate `k` of a driven group of rows over a step of length `h`
    /// (s), or in a stage that counts for so long (J).
    pub(super) fn work(&self, step: Step<'_>, group: &RowGroup, k: usize, h: f64, power: Power) -> f64 {
        let Step {
            system, start, end, ..
        } = step;
        let row = group.first_row + k;
        let (force, motion) = (end.multipliers[row], system.row_motion[row]);
        let place = system.model.node(group.node).first_velocity + k;
        let is_compliance = is_compliance(system, group, k);
        let by_target = is_compliance || stops(system, group);
        if power == Power::End {
            let rate = match by_target {
                true => motion.end.1,
                false => end.state.velocities[place],
            };
            return h * force * rate;
        }
        let jumped = self.jumped.get(row).copied().unwrap_or(0.0);
        if let Some(work) = self.stages.get(row) {
            return work + jumped;
        }
        let jump = self.jumps.get(row).copied().unwrap_or(0.0);
        let way = if is_compliance && !is_elastic(system, group) {
            0.5 * h * (motion.start.1 + motion.end.1)
        } else if by_target || power == Power::Chord {
            motion.end.0 - motion.start.0 - jump
        } else {
            0.5 * h * (start.state.velocities[place] + end.state.velocities[place])
        };
        self.means.get(row).unwrap_or(&force) * way + jumped
    }

    /// Enters the work of all drives over a step of length `h` (s).
    pub(super) fn enter(&self, step: Step<'_>, h: f64, power: Power, ledger: &mut Ledger) {
        for group in step.system.model.row_groups() {
            if step.system.model.motion(group).is_none() {
                continue;
            }
            let Some(entry) = entry_of(&step.system.model, group, true) else {
                continue;
            };
            let rows = 0..group.size * group.count;
            let work: f64 = rows.map(|k| self.work(step, group, k, h, power)).sum();
            *match entry {
                Entry::Motors => &mut ledger.motors,
                _ => &mut ledger.motion,
            } += work;
        }
    }
}
