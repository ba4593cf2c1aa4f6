//! Guards, the event functions of what may close in a step: gaps of contacts, and rows whose force
//! has one sign. While guards are *shut* those that are open at the start of a step take no part in
//! it, so that the motion up to the event is smooth and the gap a function of the length of the
//! step.

use crate::contact::{Contact, ContactKey, Contacts};
use crate::motion::Motion;
use crate::sleep::opening;
use crate::system::System;
use pliant_dense::Vec3;
use pliant_kkt::Assembler;
use pliant_model::{ComponentId, Level, Problem, RowGroup, State};

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// The gap of a contact closed, between two things of the finder
    /// (`Simulation::contact_side`).
    Contact {
        /// Which contact.
        key: ContactKey,
        /// The two things.
        sides: [u32; 2],
    },
    /// A coordinate whose force has one sign reached zero: a limit, a rope.
    Row {
        /// The constraint or compliance.
        component: ComponentId,
        /// Which of its rows.
        row: usize,
    },
}

/// The rows that are left out, and the part of a step that is taken.
#[derive(Debug, Default)]
pub struct Guards {
    /// Whether the present step is the short one in which a located impact is taken: there hard rows
    /// of the theta method hold velocities, since a gap that they took back in so short a time would
    /// be a blow, and impulses over its length are no forces of the next step.
    pub in_impact: bool,
    shut: bool,
    /// Ascending.
    rows: Vec<usize>,
    /// The least gap of what is left out, at the start of the step.
    nearest: Option<f64>,
}

/// Guard that came nearest to closing, or went furthest beyond.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// Its gap (m, rad): negative beyond closing.
    pub gap: f64,
    /// The contact or row.
    pub kind: EventKind,
}

impl Nearest {
    /// The one with the smaller gap.
    pub fn of(a: Option<Self>, b: Option<Self>) -> Option<Self> {
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
    /// Whether it is closed, about to close, or has carried and does not open by more than the
    /// tolerance.
    fn touches(self, carried: bool, soon: f64, h: f64, allowed: f64) -> bool {
        let Self { gap, rate } = self;
        gap <= 0.0 || gap + soon * rate <= 0.0 || carried && gap + h * rate <= allowed
    }

    /// Whether it stays within the tolerance for a step, and is.
    fn rests(self, h: f64, allowed: f64) -> bool {
        self.gap <= allowed && (h * self.rate).abs() <= allowed
    }

    /// Whether a touching guard closes with a speed (m/s, rad/s), and has not carried a force yet.
    fn strikes(self, carried: bool, noise: f64) -> bool {
        !carried && self.rate < -noise
    }
}

/// When something counts as closing.
#[derive(Clone, Copy, Debug)]
pub struct Closing {
    /// Time within which a closing guard counts as closed (s).
    pub soon: f64,
    /// Length of the step (s).
    pub h: f64,
    /// Opening up to which a guard that has carried a force stays closed (m, rad); at no more speed
    /// (m/s, rad/s) it does not strike.
    pub allowed: f64,
    /// Contacts and rows alone that have restitution: nothing else is left out, and neither are those
    /// of them that rest.
    pub bouncing: bool,
}

/// A part of a step, to its end.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// The state at its start.
    pub start: &'a State,
    /// Its length (s).
    pub h: f64,
    /// The share of the velocity of its end in the way.
    pub weight: f64,
}

impl Guards {
    /// Whether guards are left out of the present step.
    pub fn are_shut(&self) -> bool {
        self.shut
    }

    /// The least gap of all that are left out, at the start of the step (m, rad).
    pub fn nearest_at_start(&self) -> Option<f64> {
        self.nearest
    }

    /// Whether a row is left out of the present step.
    pub(crate) fn leave_out(&self, row: usize) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Shuts what is open at the present state, before a step. Says whether something is about to
    /// close at once.
    pub fn shut(
        &mut self,
        model: &Problem,
        contacts: Option<&mut Contacts>,
        motion: &Motion,
        closing: Closing,
    ) -> bool {
        let Closing {
            soon,
            h,
            allowed,
            bouncing,
        } = closing;
        let (mut nearest, mut due) = (f64::INFINITY, false);
        if let (Some(c), Some(present)) = (contacts, &motion.contacts) {
            let touching = &mut c.detection.guards.touching;
            touching.clear();
            for (contact, supports) in present.list.with_supports() {
                let gap = Gap {
                    gap: contact.gap,
                    rate: opening(model, &motion.state, contact.normal, supports),
                };
                let carried = present.had_force(contact.key);
                let law = &contact.law;
                let (bounces, leaves) = (
                    law.restitution > 0.0 && law.compliance == 0.0,
                    h * gap.rate > allowed,
                );
                // What rests may be a rounding away, and not have carried in a step so short that
                // nothing closes it.
                let rests = bouncing && gap.rests(h, allowed);
                let touches = rests || gap.touches(carried, soon, h, allowed);
                if bouncing && !bounces || !(bouncing && leaves) && touches {
                    due |= gap.strikes(carried, allowed) && !rests && (bounces || !bouncing);
                    touching.push(contact.key);
                } else {
                    nearest = nearest.min(gap.gap);
                }
            }
            touching.sort_unstable();
            c.detection.guards.shut = true;
        }
        let is_guarded = |group: &&RowGroup| !bouncing || has_restitution(model, group);
        for group in model.row_groups().iter().filter(is_guarded) {
            let Some(sign) = open_side(model, group) else {
                continue;
            };
            for row in group.first_row..group.first_row + group.size * group.count {
                let gap = row_gap(model, motion, group, row, sign);
                let carried = motion.multipliers[row] != 0.0;
                let leaves = bouncing && h * gap.rate > allowed;
                let rests = bouncing && gap.rests(h, allowed);
                if !leaves && (rests || gap.touches(carried, soon, h, allowed)) {
                    due |= gap.strikes(carried, allowed) && !rests;
                } else {
                    self.rows.push(row);
                    nearest = nearest.min(gap.gap);
                }
            }
        }
        self.nearest = nearest.is_finite().then_some(nearest);
        self.shut = true;
        due
    }

    /// Everything takes part again.
    pub(crate) fn open(&mut self, contacts: Option<&mut Contacts>) {
        self.shut = false;
        self.rows.clear();
        self.nearest = None;
        if let Some(c) = contacts {
            c.detection.guards.open();
        }
    }

    /// Deactivates the rows that are left out, in the filled system.
    pub(crate) fn deactivate_rows(&self, assembler: &mut Assembler) {
        let bounds = assembler.row_bounds_mut();
        for row in &self.rows {
            bounds[*row] = (0.0, 0.0);
        }
    }

    /// Finds the guard nearest to closing of all left out of a part of the step. A gap is that of
    /// the present contacts, where they know it; else, after a passage, the way since the start of
    /// the part along the normal that it had there.
    pub fn nearest(&self, system: &System, motion: &Motion, way: Way<'_>) -> Option<Nearest> {
        if !self.shut {
            return None;
        }
        let mut nearest = None;
        if let (Some(c), Some(present)) = (&system.contacts, &motion.contacts) {
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
                let rate = |state| opening(&system.model, state, contact.normal, supports);
                let Way { start, h, weight } = way;
                let gap = contact.gap + h * (weight * rate(&motion.state) + (1.0 - weight) * rate(start));
                let faces = |n: [f64; 3]| Vec3::from(n).dot(&Vec3::from(contact.normal)) > 0.5;
                let known = |n: &Contact| n.key == contact.key && faces(n.normal);
                if gap < 0.0 && !now.iter().any(known) {
                    nearest = Nearest::of(nearest, Some(of(contact, gap)));
                }
            }
        }
        for row in &self.rows {
            let groups = system.model.row_groups().iter();
            let group = groups.rev().find(|g| g.first_row <= *row && g.count > 0);
            let Some((group, sign)) = group.and_then(|g| Some((g, open_side(&system.model, g)?))) else {
                continue;
            };
            let kind = EventKind::Row {
                component: group.component,
                row: row - group.first_row,
            };
            let gap = row_gap(&system.model, motion, group, *row, sign).gap;
            nearest = Nearest::of(nearest, Some(Nearest { gap, kind }));
        }
        nearest
    }
}

/// Whether rows bounce.
pub fn has_restitution(model: &Problem, group: &RowGroup) -> bool {
    match group.component {
        ComponentId::Constraint(i) => model.constraints()[i].component.restitution > 0.0,
        ComponentId::ForceField(_) | ComponentId::Mass(_) => false,
    }
}

/// On which side rows that hold a position with a force of one sign are open: 1 where they push.
fn open_side(model: &Problem, group: &RowGroup) -> Option<f64> {
    let holds = match group.component {
        ComponentId::Constraint(i) => matches!(
            model.constraints()[i].component.level,
            Level::Position | Level::CurvedPosition
        ),
        ComponentId::ForceField(_) => model.row_law(group) != pliant_model::RowLaw::Viscous,
        ComponentId::Mass(_) => false,
    };
    match model.bounds(group).filter(|_| holds)? {
        (0.0, upper) if upper > 0.0 => Some(1.0),
        (lower, 0.0) if lower < 0.0 => Some(-1.0),
        _ => None,
    }
}

fn row_gap(model: &Problem, motion: &Motion, group: &RowGroup, row: usize, sign: f64) -> Gap {
    let node = model.node(group.node);
    let k = row - group.first_row;
    let (x, v) = model.motion(group).map_or((0.0, 0.0), |m| m.at(k, motion.time));
    Gap {
        gap: sign * (motion.state.positions[node.first_position + k] - x),
        rate: sign * (motion.state.velocities[node.first_velocity + k] - v),
    }
}
