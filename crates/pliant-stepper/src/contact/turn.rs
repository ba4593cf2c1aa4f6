//! Contacts where they are expected at the end of a stage: along curved surfaces, and of bodies
//! that turn, the directions of the start of a step are off by the first order of its length.
//!
//! A stage holds its rows by `J(x) v = 0` at its end. Contacts do with the `J` of an expected `x`,
//! which a search there finds: off by `h^2` from that of the end, it is off by the third order in
//! what a step does. Contacts that bear are held by these velocities alone, as hard rows are: the
//! drift of their gaps is of the second order over the motion, and closes over steps if they open.

use super::detect::{Detection, Search};
use super::rows::RowSystem;
use super::step::Parts;
use super::{Base, Contact, ContactKey, ContactList, ContactMemory, Contacts};
use crate::system::System;
use crate::{Error, Motion};
use pliant_dense::Vec3;
use pliant_kkt::{Scheme, Support};
use pliant_model::{Space, State};

/// Cosine of the largest angle between the normals of a contact at the start and the end of a
/// stage: beyond, another pair of surfaces touches there.
const SAME_SURFACE: f64 = 0.9;

/// Changes of normals, and of arms as shares of them, in a step, below which contacts keep their
/// directions. What is left out is that share of a velocity.
const STEADY: f64 = 1e-8;

/// Steps in which a bearing contact closes a gap that the curvature of its surfaces has left.
const CLOSING_STEPS: f64 = 10.0;

/// The contacts of a step as they are at its start, and as a stage has them.
#[derive(Debug, Default)]
pub(super) struct Turned {
    /// Contacts of the start, while those of a stage are in their place.
    start: ContactList,
    is_turned: bool,
    /// Whether the contacts of the list were searched at the expected state.
    is_found: bool,
    /// Contacts of the last stage, and which of them keep their directions.
    last: ContactList,
    stays: Vec<bool>,
    /// Contacts of the expected state.
    found: ContactList,
    /// Where they are in `found` and in `start`, by key.
    order: Vec<(ContactKey, usize)>,
    /// The expected state.
    pub(super) expected: State,
    /// Velocity along the normal of the start of each contact, at the start (m/s).
    pub(super) opening: Vec<f64>,
    /// Velocities of the rows at the start of the step (m/s; rad/s in units of a lever): along
    /// normals those of the start.
    pub(super) before: Vec<f64>,
    /// The contacts that bore in the last step, and are closed but for the sag of their curve.
    pub(super) active: Vec<bool>,
    /// Time in which they close their gaps (s).
    pub(super) closing: f64,
}

/// Contacts of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Length of the step (s).
    pub(crate) h: f64,
    pub(crate) turning: Turning,
    /// Whether contacts turn too that kept their directions over the last step: by less than counts, but
    /// not in a derivative.
    pub(crate) steady_too: bool,
}

/// The contacts that turn in a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turning {
    #[default]
    All,
    /// Contacts that bore in the last step: the others may bounce.
    Bearing,
    /// Contacts between bodies that bore: after an impact the points of nets and solids are not
    /// where they were expected.
    BearingBodies,
}

/// Fills `order` with the contacts of a list, by key.
fn sort(list: &ContactList, order: &mut Vec<(ContactKey, usize)>) {
    order.clear();
    order.extend(list.contacts().iter().map(|c| c.key).zip(0..));
    order.sort_unstable();
}

/// The place of a key among those of a list.
fn place(order: &[(ContactKey, usize)], key: ContactKey) -> Option<usize> {
    let at = order.binary_search_by_key(&key, |o| o.0).ok()?;
    Some(order[at].1)
}

impl Turned {
    /// Puts the contacts of the start back into the list of the step; whether they were not there.
    pub(super) fn go_back(&mut self, detection: &mut Detection) -> bool {
        self.active.clear();
        let was = std::mem::take(&mut self.is_turned);
        if was {
            std::mem::swap(&mut self.start, &mut detection.list);
        }
        was
    }

    /// The point of a contact at the start of the step (m), if those of the step are others.
    pub(super) fn start_point(&self, contact: usize) -> Option<[f64; 3]> {
        let start = self.start.contacts().get(contact).filter(|_| self.is_turned);
        Some(start?.point)
    }

    /// Whether a contact is not where the last stage expected it.
    pub(super) fn keeps(&self, contact: usize) -> bool {
        !self.is_found || self.stays.get(contact).is_none_or(|stays| *stays)
    }

    /// Finds the velocities of the rows at the start of the step. Along the normals of the stage
    /// there is an approach to a curve there, of what only turns.
    pub(super) fn find_start_velocities(&mut self, rows: &RowSystem) {
        self.before.clear();
        self.before.extend_from_slice(rows.tail.velocity());
        let mut row = 0;
        for (own, opening) in rows.rows.iter().zip(&self.opening) {
            self.before[row] = *opening;
            row += own.count;
        }
    }

    /// Puts the contacts that were found at the expected state into the list of the step, with
    /// their gaps at the start. One that was not found there stays as it is, and does so in the
    /// stages to come: in one of two stages it would seem to open, or to close.
    fn put(&mut self, detection: &mut Detection, turns: impl Fn(&Contact, &[Support]) -> bool) {
        let list = &mut detection.list;
        if !self.is_turned {
            self.is_turned = true;
            self.start.clone_from(list);
            self.stays.clear();
            self.stays.resize(list.len(), false);
        }
        std::mem::swap(&mut self.last, list);
        sort(&self.found, &mut self.order);
        list.clear();
        for (i, (contact, supports)) in self.last.with_supports().enumerate() {
            let there = place(&self.order, contact.key).filter(|k| {
                let normal = Vec3::from(self.found.contacts()[*k].normal);
                !self.stays[i]
                    && turns(contact, supports)
                    && normal.dot(&Vec3::from(contact.normal)) > SAME_SURFACE
            });
            match there {
                Some(k) => list.take_with_gap(&self.found, k, contact.gap),
                None => list.take(&self.last, i),
            }
            self.stays[i] = there.is_none();
        }
    }

    /// Whether contacts with forces of the last step have the normals and arms at its end that they
    /// had at its start.
    pub(super) fn are_steady(&mut self, detection: &Detection, memory: &ContactMemory) -> bool {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let start = match self.is_turned {
            true => &self.start,
            false => &detection.list,
        };
        let list = memory.list.contacts();
        let close = |a: &[f64; 3], b: &[f64; 3]| {
            let (a, b) = (Vec3::from(*a), Vec3::from(*b));
            (a - b).norm() <= STEADY * a.norm()
        };
        let numbered = start.with_supports().enumerate();
        let bearing = numbered.filter(|(_, (c, _))| memory.had_force(c.key));
        let mut ends = bearing.filter_map(|(i, (contact, supports))| {
            // What rests is found in the same order again.
            let k = match list.get(i) {
                Some(same) if same.key == contact.key => i,
                _ => {
                    if order.is_empty() {
                        sort(&memory.list, &mut order);
                    }
                    place(&order, contact.key)?
                }
            };
            let (end, end_supports) = (&list[k], memory.list.supports(k));
            let same = supports.len() == end_supports.len()
                && supports.iter().zip(end_supports).all(|(a, b)| {
                    let weights = (a.weight - b.weight).abs() <= STEADY;
                    (a.node, a.element) == (b.node, b.element) && weights && close(&a.arm, &b.arm)
                });
            Some(same && close(&contact.normal, &end.normal))
        });
        let steady = ends.all(|steady| steady);
        self.order = order;
        steady
    }
}

/// Puts the contacts of the start of a step back in the place of those of a stage.
pub(crate) fn turn_back(system: &mut System) {
    let System { model, contacts, .. } = system;
    if let Some(c) = contacts
        && c.turned.go_back(&mut c.detection)
    {
        c.rows.list_rows(model, &c.detection.list);
    }
}

/// The state at the end of a stage as it is expected: at the positions of `from`, and on by
/// `velocity` and `displacement` of the independent coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) from: &'a State,
    pub(crate) velocity: &'a [f64],
    pub(crate) displacement: &'a [f64],
}

/// Takes the contacts of a step where they are expected at the end of a stage; whether any turns.
/// The system is filled there then. Where a mapping is not defined they stay as they are.
///
/// # Errors
/// Errors of the finder.
pub(crate) fn turn(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    expected: Expected<'_>,
    turn: Turn,
) -> Result<bool, Error> {
    let Some(memory) = &motion.contacts else {
        return Ok(false);
    };
    let Some(c) = &mut system.contacts else {
        return Ok(false);
    };
    c.turned.is_found = false;
    let steady = memory.steady && !turn.steady_too;
    if steady || c.detection.list.is_empty() {
        return Ok(false);
    }
    let mut state = std::mem::take(&mut c.turned.expected);
    state.clone_from(expected.from);
    system.place_independent(
        expected.from,
        expected.velocity,
        expected.displacement,
        None,
        &mut state,
    );
    let found = look_ahead(system, scheme, &mut state, turn.h);
    let Some(Parts { contacts, base, .. }) = Parts::of(system, motion, scheme) else {
        return Ok(false);
    };
    contacts.turned.expected = state;
    let found = found?;
    if found {
        contacts.turn(&base, memory, turn)?;
        contacts.turned.is_found = true;
    }
    Ok(found)
}

/// Finds the contacts of a state within `h` (s), for which the system is filled; whether all its
/// mappings are defined.
fn look_ahead(system: &mut System, scheme: &Scheme, state: &mut State, h: f64) -> Result<bool, Error> {
    let System {
        model,
        evaluation,
        assembler,
        ..
    } = system;
    if evaluation.propagate(model, state).is_err() || evaluation.evaluate(model, state).is_err() {
        return Ok(false);
    }
    assembler.fill_kinematics(model, evaluation, scheme, state);
    if let Some((contacts, search)) = Search::of(system, state) {
        contacts
            .detection
            .source
            .look(search, h, &mut contacts.turned.found)?;
    }
    Ok(true)
}

impl Contacts {
    /// Takes the contacts that were found for those of the step, with the Jacobians of the expected
    /// state, for which the assembler is filled.
    fn turn(&mut self, base: &Base<'_>, memory: &ContactMemory, turn: Turn) -> Result<(), Error> {
        let is_body = |s: &Support| base.model.node(s.node).space == Space::Rigid3;
        let turns = |contact: &Contact, supports: &[Support]| match turn.turning {
            Turning::All => true,
            Turning::Bearing => memory.had_force(contact.key),
            Turning::BearingBodies => memory.had_force(contact.key) && supports.iter().all(is_body),
        };
        self.turned.put(&mut self.detection, turns);
        let Self {
            detection,
            rows,
            turned,
            ..
        } = self;
        rows.list_rows(base.model, &detection.list);
        rows.gather(base, &turned.expected, detection)?;
        turned.active.clear();
        turned.closing = CLOSING_STEPS * turn.h;
        let mut row = 0;
        let contacts = detection.list.contacts().iter().zip(&rows.rows);
        for ((contact, own), opening) in contacts.zip(&turned.opening) {
            // A curve sags by half of this in the step.
            let sag = turn.h * (rows.tail.velocity()[row] - opening).abs();
            row += own.count;
            let is_hard = contact.law.compliance == 0.0;
            let active = is_hard && memory.had_force(contact.key) && contact.gap <= sag;
            turned.active.push(active);
        }
        Ok(())
    }

    /// Takes note of the velocities of the normals at the start of the step, of the gathered rows.
    pub(super) fn note_openings(&mut self) {
        let velocity = self.rows.tail.velocity();
        self.turned.opening.clear();
        self.turned
            .opening
            .extend(self.rows.first_rows().map(|row| velocity[row]));
    }
}
