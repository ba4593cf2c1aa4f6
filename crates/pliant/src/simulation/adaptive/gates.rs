//! What may close in a step: gaps of contacts, and rows whose force has one sign. While gates are *shut* those that are open at the start of a step
//! take no part in it, so that the motion up to the event is smooth and the gap a function of the length of the step.

use super::{Simulation, Work};
use crate::adaptive::{Adaptive, EventKind, Events};
use crate::contact::{Contact, step};
use crate::simulation::sleep::opening;
use crate::{Error, Integrator};
use pliant_dense::Vec3;
use pliant_kkt::Assembler;
use pliant_model::{ComponentId, Level, RowGroup};

/// The rows that are left out.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    shut: bool,
    rows: Vec<usize>,
    /// The least gap of what is left out, at the start of the step.
    nearest: Option<f64>,
}

impl Gates {
    /// Takes the rows that are left out out of the filled system.
    pub(crate) fn deactivate_rows(&self, assembler: &mut Assembler) {
        let bounds = assembler.row_bounds_mut();
        for row in &self.rows {
            bounds[*row] = (0.0, 0.0);
        }
    }

    pub(crate) fn are_shut(&self) -> bool {
        self.shut
    }

    pub(crate) fn nearest_at_start(&self) -> Option<f64> {
        self.nearest
    }
}

/// What came nearest to closing, or went furthest beyond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub(crate) gap: f64,
    pub(crate) kind: EventKind,
}

impl Nearest {
    pub(crate) fn of(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) if b.gap < a.gap => Some(b),
            (None, b) => b,
            (a, _) => a,
        }
    }
}

/// Gap and its velocity, of what closes towards zero.
#[derive(Clone, Copy, Debug)]
struct Gap {
    gap: f64,
    rate: f64,
}

impl Gap {
    /// Whether it is closed, about to close, or has carried and does not open by more than the tolerance.
    fn touches(self, carried: bool, soon: f64, h: f64, allowed: f64) -> bool {
        let Self { gap, rate } = self;
        gap <= 0.0 || gap + soon * rate <= 0.0 || carried && gap + h * rate <= allowed
    }

    /// Of what touches: whether it meets with a speed (m/s), and has not carried yet.
    fn strikes(self, carried: bool, noise: f64) -> bool {
        !carried && self.rate < -noise
    }
}

impl Simulation {
    /// Whether events are to be located in the next step; counts them by the second.
    pub(crate) fn may_locate(&self, work: &mut Work, how: &Adaptive) -> bool {
        let Some(events) = how.events else { return false };
        let memory = &mut work.memory;
        if self.motion.time >= memory.window + 1.0 || self.motion.time < memory.window {
            (memory.window, memory.located) = (self.motion.time, 0);
        }
        memory.located < events.most
    }

    /// Shuts what is open at the present state, before a step of length `h`; opens all without `events`. Says whether something is about to close at once.
    pub(crate) fn watch_gates(
        &mut self,
        events: Option<Events>,
        how: &Adaptive,
        h: f64,
    ) -> Result<bool, Error> {
        self.open_gates();
        let Some(events) = events else { return Ok(false) };
        let soon = 2.0 * events.resolution(self.motion.time, h);
        let allowed = how.position * h.max(how.position_kink);
        self.look_for_sleepers();
        step::find_present(&mut self.system, &mut self.motion, h)?;
        let (mut nearest, mut due) = (f64::INFINITY, false);
        if let (Some(c), Some(present)) = (&mut self.system.contacts, &self.motion.contacts) {
            let model = &self.system.model;
            let touching = &mut c.detection.guards.touching;
            touching.clear();
            for (contact, supports) in present.list.with_supports() {
                let rate = opening(model, &self.motion.state, contact.normal, supports);
                let gap = Gap {
                    gap: contact.gap,
                    rate,
                };
                let carried = present.had_force(contact.key);
                if gap.touches(carried, soon, h, allowed) {
                    due |= gap.strikes(carried, allowed);
                    touching.push(contact.key);
                } else {
                    nearest = nearest.min(contact.gap);
                }
            }
            touching.sort_unstable();
            c.detection.guards.shut = true;
        }
        for group in self.system.model.row_groups() {
            let Some(sign) = self.gate_sign(group) else {
                continue;
            };
            for row in group.first_row..group.first_row + group.size * group.count {
                let gap = self.row_gap(group, row, sign);
                let carried = self.motion.multipliers[row] != 0.0;
                if gap.touches(carried, soon, h, allowed) {
                    due |= gap.strikes(carried, allowed);
                } else {
                    self.gates.rows.push(row);
                    nearest = nearest.min(gap.gap);
                }
            }
        }
        self.gates.nearest = nearest.is_finite().then_some(nearest);
        self.gates.shut = true;
        Ok(due)
    }

    /// Everything takes part again.
    pub(crate) fn open_gates(&mut self) {
        self.gates.shut = false;
        self.gates.rows.clear();
        self.gates.nearest = None;
        if let Some(c) = &mut self.system.contacts {
            c.detection.guards.open();
        }
    }

    /// Before a part of a step.
    pub(crate) fn empty_aside(&mut self) {
        if let Some(c) = &mut self.system.contacts {
            c.detection.guards.aside.clear();
        }
    }

    /// What is nearest to closing of all that was left out of the last part of the step, of length `h`. A gap is that of the present contacts, where they know it; else, of what has
    /// passed through, the way since the start of the part along the normal that it had there.
    pub(crate) fn nearest(&self, h: f64) -> Option<Nearest> {
        if !self.gates.shut {
            return None;
        }
        let mut nearest = None;
        let weight = match self.options.integrator {
            Integrator::Linear | Integrator::Nonlinear => self.options.beta,
            _ => 0.5,
        };
        if let (Some(c), Some(present)) = (&self.system.contacts, &self.motion.contacts) {
            let (now, guards) = (present.list.contacts(), &c.detection.guards);
            let of = |contact: &Contact, gap| Nearest {
                gap,
                kind: EventKind::Contact {
                    key: contact.key,
                    sides: contact.sides,
                },
            };
            let open = |contact: &&Contact| guards.touching.binary_search(&contact.key).is_err();
            for contact in now.iter().filter(open) {
                nearest = Nearest::of(nearest, Some(of(contact, contact.gap)));
            }
            for (contact, supports) in guards.aside.with_supports() {
                let rate = |state| opening(&self.system.model, state, contact.normal, supports);
                let way = h * (weight * rate(&self.motion.state) + (1.0 - weight) * rate(&self.start.state));
                let gap = contact.gap + way;
                let faces = |n: [f64; 3]| Vec3::from(n).dot(&Vec3::from(contact.normal)) > 0.5;
                let known = |n: &Contact| n.key == contact.key && faces(n.normal);
                if gap < 0.0 && !now.iter().any(known) {
                    nearest = Nearest::of(nearest, Some(of(contact, gap)));
                }
            }
        }
        for row in &self.gates.rows {
            let groups = self.system.model.row_groups().iter();
            let group = groups.rev().find(|g| g.first_row <= *row && g.count > 0);
            let Some((group, sign)) = group.and_then(|g| Some((g, self.gate_sign(g)?))) else {
                continue;
            };
            let kind = EventKind::Row {
                component: group.component,
                row: row - group.first_row,
            };
            let gap = self.row_gap(group, *row, sign).gap;
            nearest = Nearest::of(nearest, Some(Nearest { gap, kind }));
        }
        nearest
    }

    /// On which side rows that hold a position with a force of one sign are open: 1 where they push.
    fn gate_sign(&self, group: &RowGroup) -> Option<f64> {
        let holds = match group.component {
            ComponentId::Constraint(i) => matches!(
                self.system.model.constraints()[i].component.level,
                Level::Position | Level::CurvedPosition
            ),
            ComponentId::ForceField(_) => self.system.model.row_law(group) != pliant_model::RowLaw::Viscous,
            ComponentId::Mass(_) => false,
        };
        match self.system.model.bounds(group).filter(|_| holds)? {
            (0.0, upper) if upper > 0.0 => Some(1.0),
            (lower, 0.0) if lower < 0.0 => Some(-1.0),
            _ => None,
        }
    }

    fn row_gap(&self, group: &RowGroup, row: usize, sign: f64) -> Gap {
        let node = self.system.model.node(group.node);
        let k = row - group.first_row;
        let (x, v) = self
            .system
            .model
            .motion(group)
            .map_or((0.0, 0.0), |motion| motion.at(k, self.motion.time));
        Gap {
            gap: sign * (self.motion.state.positions[node.first_position + k] - x),
            rate: sign * (self.motion.state.velocities[node.first_velocity + k] - v),
        }
    }
}
