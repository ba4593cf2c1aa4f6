//! Islands that stand still while others take a step, or parts of it, without them: each island of
//! a step may be taken in as many parts as it needs.
//!
//! Nothing connects two islands within a step: no equation of the model, and no contact that may
//! close in it. Those that are paused are held like sleepers: fixed, with their own contacts and
//! rows left out. Positions of theirs, and what they remember, are those of the moment at which they
//! were paused, until they go on.

use super::fall::{Connections, Scratch, put_to_sleep};
use super::{NONE, Sleep, SleepMemory, drives, find_blocks, wake_all};
use crate::contact::{ContactList, step};
use crate::method::take_part;
use crate::motion::Motion;
use crate::observe::StageImpacts;
use crate::system::System;
use crate::{Error, Integrator, IntegratorMemory, Options};
use pliant_contact::Rest;
use pliant_solvers::{KktSystem, Variable};
use pliant_sparse::DisjointSets;

/// Islands that take a step without the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Of each independent coordinate, whether it is in one of them.
    dofs: Vec<bool>,
    /// Of each row of the model, whether it acts on them.
    rows: Vec<bool>,
}

/// Whether each independent coordinate is of an element that can move.
fn movable(kkt: &KktSystem) -> Vec<bool> {
    let mut out = Vec::with_capacity(kkt.n());
    for block in kkt.primal_blocks().windows(2) {
        let free = kkt.fixed[block[0]..block[1]].contains(&false);
        out.resize(block[1], free);
    }
    out
}

impl Part {
    /// Everything that can move.
    pub fn all(system: &System) -> Self {
        let kkt = system.assembler.system();
        Self {
            dofs: movable(kkt),
            rows: vec![true; kkt.m()],
        }
    }

    /// Takes what the integrator remembers of the part, after it took the last step by itself, into
    /// the memory of a motion that the others ended.
    pub fn take_memory(&self, from: &IntegratorMemory, to: &mut Motion) {
        take_part(from, &self.dofs, &self.rows, &to.multipliers, &mut to.integrator);
    }

    /// Removes what is in another part.
    pub fn remove(&mut self, other: &Self) {
        let remove = |own: &mut Vec<bool>, other: &[bool]| {
            for (own, _) in own.iter_mut().zip(other).filter(|(_, other)| **other) {
                *own = false;
            }
        };
        remove(&mut self.dofs, &other.dofs);
        remove(&mut self.rows, &other.rows);
    }

    /// Whether nothing is left of it.
    pub fn is_empty(&self) -> bool {
        !self.dofs.contains(&true)
    }

    /// Whether all of it is in another part.
    pub fn is_within(&self, other: &Self) -> bool {
        self.dofs
            .iter()
            .zip(&other.dofs)
            .all(|(own, other)| !own || *other)
    }

    /// Copies velocities, multipliers and forces of supports of all that is not in the part from
    /// one motion of a system to another. Elements that are fixed as a whole keep the forces of
    /// their supports, which are those of all rows.
    pub fn copy_others(&self, system: &System, from: &Motion, to: &mut Motion) {
        let movable = movable(system.assembler.system());
        for node in system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (d, place) in (first..).zip(node.velocity_range()) {
                if movable[d] && !self.dofs[d] {
                    to.state.velocities[place] = from.state.velocities[place];
                    to.supports[d] = from.supports[d];
                }
            }
        }
        for row in (0..self.rows.len()).filter(|row| !self.rows[*row]) {
            to.multipliers[row] = from.multipliers[row];
            to.lagged[row] = from.lagged[row];
        }
    }
}

/// The equation or contact for which a step is not taken as a whole.
#[derive(Clone, Debug)]
pub enum Cause {
    /// An equation without a solution.
    Equation(Variable),
    /// A contact that misses its law, by its place in the list of the step.
    Contact(usize),
    /// Impacts, of which islands without any know nothing.
    Impacts(StageImpacts),
    /// Energy that was made or lost: most likely by the island that turned over most, of which this
    /// is the change of kinetic energy by coordinates (J).
    Energy(Vec<f64>),
    /// None in particular: islands with contacts, that may be near only.
    Unknown,
}

/// The change of kinetic energy (J) over a step, each element's at one of the coordinates that move
/// it.
pub fn kinetic_change(system: &System, start: &Motion, end: &Motion) -> Vec<f64> {
    let System { model, assembler, .. } = system;
    let fixed = &assembler.system().fixed;
    let mut out = vec![0.0; fixed.len()];
    let mut momentum = Vec::new();
    for attachment in model.masses() {
        let node = model.node(attachment.node);
        let size = node.space.velocity_size();
        for (motion, sign) in [(start, -0.5), (end, 0.5)] {
            let v = &motion.state.velocities[node.velocity_range()];
            momentum.clear();
            momentum.resize(v.len(), 0.0);
            attachment
                .component
                .add_product(node.space, 1.0, v, &mut momentum);
            for (k, (p, v)) in momentum.iter().zip(v).enumerate() {
                let mut dofs = assembler.support_dofs(attachment.node, k / size);
                if let Some(d) = dofs.find(|d| !fixed[*d]) {
                    out[d] += sign * p * v;
                }
            }
        }
    }
    out
}

/// The contact that missed its law most in the last attempt at a step, if one did.
pub fn failed_contact(system: &System) -> Option<Cause> {
    let row_blocks = system.assembler.system().row_blocks().len() - 1;
    let contacts = system.contacts.as_ref()?;
    contacts.observed.worst(row_blocks).map(Cause::Contact)
}

/// The islands of a step of length `h` (s) from a motion that hold its cause of trouble, where there
/// are others; [`may_part`] says whether they can be taken by themselves.
///
/// # Errors
/// Those of the search for contacts.
pub fn find_part(
    system: &mut System,
    motion: &mut Motion,
    h: f64,
    cause: Cause,
) -> Result<Option<Part>, Error> {
    step::find(system, motion, h)?;
    find_blocks(system);
    let part = mark_islands(system, motion, &cause).then(|| {
        let (kkt, sleep) = (system.assembler.system(), &system.sleep);
        let is_in = |d: usize| sleep.fall.chosen[sleep.of_dof[d] as usize] != NONE;
        Part {
            dofs: (0..kkt.n()).map(is_in).collect(),
            rows: (0..kkt.m()).map(|row| dofs_of(kkt, row).any(is_in)).collect(),
        }
    });
    system.sleep = Sleep::default();
    Ok(part)
}

/// Whether there are islands that a cause does not concern, beside those that have it, and can be
/// taken by themselves, in the present step from a motion, whose contacts are found.
pub(crate) fn is_apart(system: &mut System, motion: &Motion, cause: &Cause) -> bool {
    if !may_part(system, motion) {
        return false;
    }
    let is_new = system.sleep.of_dof.is_empty();
    if is_new {
        find_blocks(system);
    }
    let apart = mark_islands(system, motion, cause);
    if is_new {
        system.sleep.of_dof.clear();
    }
    apart
}

/// Whether the islands of a step, over which the motions of rows are set, can be taken one after the
/// other at all: no motion is given as a function of time, neither method nor materials remember more than
/// multipliers, and none sleeps. Cost: a pass over the coordinates.
pub fn may_part(system: &System, motion: &Motion) -> bool {
    let driven = (0..system.row_motion.len()).any(|i| drives(&system.row_motion, i));
    let fixed = &system.assembler.system().fixed;
    let moves = |d: usize, v: f64| fixed[d] && (v != 0.0 || motion.controls.held[d] != 0.0);
    let held = system.model.nodes().iter().any(|node| {
        let velocities = &motion.state.velocities[node.velocity_range()];
        let first = node.first_dof();
        first.is_some_and(|first| velocities.iter().zip(first..).any(|(v, d)| moves(d, *v)))
    });
    let Options {
        contacts, integrator, ..
    } = &system.options;
    let remembers = !matches!(
        integrator,
        Integrator::Theta | Integrator::Nonlinear | Integrator::Sdirk2
    );
    !(driven
        || held
        || remembers
        || motion.fresh
        || motion.sleep.paused
        || system.model.internal_count() > 0
        || contacts.sleeping.is_some()
        || contacts.intersection_free)
}

/// Marks the blocks of the islands that hold a cause, in `chosen` of the scratch memory. Whether there
/// are such, and others; where contacts act on what is fixed there are not, for its forces are not
/// told apart. Allocates nothing once warm, but for the cause of an energy.
fn mark_islands(system: &mut System, motion: &Motion, cause: &Cause) -> bool {
    let System {
        assembler,
        sleep,
        contacts,
        row_motion,
        ..
    } = system;
    let kkt = assembler.system();
    let list = contacts.as_ref().map(|c| c.detection.list());
    let (blocks, of_dof) = (kkt.primal_blocks().len() - 1, &sleep.of_dof);
    sleep.fall.begin(blocks);
    let Scratch {
        sets,
        restless,
        free,
        chosen,
    } = &mut sleep.fall;
    let mut connections = Connections {
        kkt,
        of_dof,
        held: &motion.controls.held,
        sets,
        restless,
    };
    connections.connect_system(row_motion);
    connections.connect_contacts(assembler, list);
    for (_, block) in of_dof.iter().enumerate().filter(|(d, _)| !kkt.fixed[*d]) {
        free[*block as usize] = true;
    }
    let count = list.map_or(0, ContactList::len);
    let of_contact = |i: usize| {
        let supports = list.filter(|list| i < list.len()).map(|list| list.supports(i));
        let each = supports.unwrap_or_default().iter();
        each.flat_map(|s| assembler.support_dofs(s.node, s.element))
    };
    let on_supports = |d: usize| !free[of_dof[d] as usize];
    if (0..count).flat_map(of_contact).any(on_supports) {
        return false;
    }
    let mut choose = |d: usize| {
        if !kkt.fixed[d] {
            chosen[sets.root(of_dof[d] as usize)] = 0;
        }
    };
    match cause {
        Cause::Equation(Variable::Dof(d)) => choose(*d),
        Cause::Equation(Variable::Row(row)) if *row < kkt.m() => dofs_of(kkt, *row).for_each(choose),
        Cause::Equation(_) => {}
        Cause::Contact(i) => of_contact(*i).for_each(choose),
        Cause::Impacts(impacts) => {
            let rows = impacts.rows.iter().flat_map(|row| dofs_of(kkt, *row));
            rows.for_each(&mut choose);
            impacts
                .contacts
                .iter()
                .flat_map(|i| of_contact(*i))
                .for_each(choose);
        }
        Cause::Energy(change) => {
            let found = most_changed(change, kkt, of_dof, sets);
            if let Some(d) = found {
                chosen[sets.root(of_dof[d] as usize)] = 0;
            }
        }
        Cause::Unknown => (0..count).flat_map(of_contact).for_each(choose),
    }
    let (mut inside, mut outside) = (false, false);
    for block in 0..blocks {
        chosen[block] = chosen[sets.root(block)];
        inside |= free[block] && chosen[block] != NONE;
        outside |= free[block] && chosen[block] == NONE;
    }
    inside && outside
}

/// A coordinate of the island whose kinetic energy changed most.
fn most_changed(change: &[f64], kkt: &KktSystem, of_dof: &[u32], sets: &mut DisjointSets) -> Option<usize> {
    let mut sums = vec![0.0; sets.len()];
    for (d, change) in change.iter().enumerate().filter(|(d, _)| !kkt.fixed[*d]) {
        sums[sets.root(of_dof[d] as usize)] += change;
    }
    let free = (0..change.len()).filter(|d| !kkt.fixed[*d]);
    let sized = free.map(|d| (d, sums[sets.root(of_dof[d] as usize)].abs()));
    sized.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(d, _)| d)
}

/// Coordinates that a row of the model acts on.
fn dofs_of(kkt: &KktSystem, row: usize) -> impl Iterator<Item = usize> + '_ {
    kkt.j.pattern().row(row).iter().map(|d| *d as usize)
}

/// Holds everything but a part, until [`end_pause`]. The next step starts with the kinetic energy of
/// the part, and without the compliant contacts of the others.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined.
pub fn pause(system: &mut System, motion: &mut Motion, moves: &Part) -> Result<(), Error> {
    find_blocks(system);
    let kkt = system.assembler.system();
    let blocks = kkt.primal_blocks().len() - 1;
    motion.sleep = SleepMemory {
        slow: vec![0.0; blocks],
        island: vec![NONE; blocks],
        fixed: vec![false; kkt.n()],
        paused: true,
        ..SleepMemory::default()
    };
    let sleep = &mut system.sleep;
    sleep.fall.begin(blocks);
    for d in (0..kkt.n()).filter(|d| !moves.dofs[*d] && !kkt.fixed[*d]) {
        sleep.fall.chosen[sleep.of_dof[d] as usize] = 0;
    }
    put_to_sleep(system, motion)?;
    let kinetic = system.model.energies(&motion.state).kinetic;
    let ledger = &mut motion.ledger;
    if let Some(energies) = &mut ledger.energies {
        energies.kinetic = kinetic;
        if !ledger.without_contacts {
            energies.potential -= ledger.stored;
            ledger.without_contacts = true;
        }
    }
    step::find_again(system, [motion]);
    Ok(())
}

/// Frees all that is paused or sleeps, with velocities of zero, and forgets how long each was slow.
pub fn end_pause(system: &mut System, motion: &mut Motion) {
    wake_all(system, motion);
    system.sleep = Sleep::default();
    motion.sleep = SleepMemory::default();
    if let Some(c) = &mut system.contacts {
        c.detection.set_rest(&|_, _| Rest::Moves);
    }
    step::find_again(system, [motion]);
}

/// After a step: takes note of contacts with a force between what moves and what is paused.
pub fn note_disturbance(system: &System, motion: &mut Motion) {
    if !motion.sleep.paused {
        return;
    }
    let (sleep, assembler) = (&system.sleep, &system.assembler);
    let (contacts, memory) = (system.contacts.as_ref(), motion.contacts.as_ref());
    let mut listed = contacts
        .into_iter()
        .flat_map(|c| c.detection.list().with_supports());
    let touched = listed.any(|(contact, supports)| {
        memory.is_some_and(|memory| memory.had_force(contact.key))
            && sleep.rest_of_all(assembler, supports) == [true, true]
    });
    motion.sleep.disturbed |= touched || sleep.asleep == 0;
}

/// Whether something that moved touched what is paused: then neither can be taken without the other.
pub fn is_disturbed(motion: &Motion) -> bool {
    motion.sleep.disturbed
}
