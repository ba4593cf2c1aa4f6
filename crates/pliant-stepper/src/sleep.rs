//! Islands that lie still are held until something disturbs them (`fall`: how they are found), and
//! islands that are held while others take a step without them (`pause`).

mod fall;
mod pause;

pub use fall::fall_asleep;
pub(crate) use pause::is_apart;
pub use pause::{
    Cause, Part, end_pause, failed_contact, find_part, is_disturbed, kinetic_change, may_part,
    note_disturbance, pause,
};

use crate::Error;
use crate::contact::{ContactList, RestingForce, Sleeping, predict, step};
use crate::motion::{Motion, clone_into_buffers};
use crate::system::System;
use pliant_contact::Rest;
use pliant_dense::Vec3;
use pliant_kkt::{Assembler, RowMotion, Support};
use pliant_model::{ComponentId, Model, ModelError, NodeId, Space, State};
use pliant_solvers::KktSystem;
use std::ops::Range;

/// The island of what is awake.
const NONE: u32 = u32::MAX;

/// Blocks asleep and about to sleep, as plain values. A block: an element of an independent node.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SleepMemory {
    /// For how long each block has been slow (s).
    slow: Vec<f64>,
    /// The least block of the island that each one sleeps with.
    island: Vec<u32>,
    /// Coordinates of sleepers that were fixed before they fell asleep.
    fixed: Vec<bool>,
    /// Forces of contacts among sleepers, and the island, by key, ascending: they start the first
    /// solve after waking.
    forces: Vec<RestingForce>,
    /// Whether those that sleep are held for a part of a step only, in which others move without
    /// them; never between steps.
    #[cfg_attr(feature = "serde", serde(skip))]
    paused: bool,
    /// Whether something that moved touched what is paused.
    #[cfg_attr(feature = "serde", serde(skip))]
    disturbed: bool,
}

clone_into_buffers!(SleepMemory {
    slow,
    island,
    fixed,
    forces,
    paused,
    disturbed,
});

/// Quantities derived from the sleepers of a motion, and scratch memory.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// Block of each coordinate; empty while the option is off.
    of_dof: Vec<u32>,
    /// Blocks that sleep.
    asleep: usize,
    /// State of rest of each block in this step.
    rest: Vec<Rest>,
    /// Rows of the model that sleepers alone take part in.
    rows: Vec<bool>,
    /// Islands to be woken.
    woken: Vec<u32>,
    fall: fall::Scratch,
    /// The state that approaches are measured in.
    predicted: State,
}

impl SleepMemory {
    /// Whether the same islands sleep.
    pub fn has_islands_of(&self, other: &Self) -> bool {
        self.island == other.island
    }

    /// Whether it fits a system.
    ///
    /// # Errors
    /// [`Error::Model`] if it is that of another one.
    pub fn check(&self, system: &KktSystem) -> Result<(), Error> {
        let blocks = system.primal_blocks().len() - 1;
        let wrong = |what, expected, found| ModelError::State {
            what,
            expected,
            found,
        };
        if self.island.is_empty() && self.slow.is_empty() && self.fixed.is_empty() {
            return Ok(());
        }
        for found in [self.island.len(), self.slow.len()] {
            if found != blocks {
                return Err(wrong("blocks that may sleep", blocks, found).into());
            }
        }
        if self.fixed.len() != system.n() {
            return Err(wrong("coordinates that may sleep", system.n(), self.fixed.len()).into());
        }
        let known = |island: &&u32| **island == NONE || (**island as usize) < blocks;
        let islands = self.island.iter().filter(known).count();
        if islands != blocks {
            return Err(wrong("blocks in islands that there are", blocks, islands).into());
        }
        let rests = |f: &&RestingForce| f.1.iter().all(|x| x.is_finite()) && known(&&f.2);
        let resting = self.forces.iter().filter(rests).count();
        if resting != self.forces.len() || !self.forces.is_sorted_by(|a, b| a.0 <= b.0) {
            return Err(wrong("forces of contacts that sleep", self.forces.len(), resting).into());
        }
        let slow = self.slow.iter().filter(|t| t.is_finite() && **t >= 0.0).count();
        if slow != blocks {
            return Err(wrong("times for which blocks were slow", blocks, slow).into());
        }
        Ok(())
    }
}

impl Sleep {
    /// The rows of the model are others now.
    pub(crate) fn forget_rows(&mut self) {
        self.rows.clear();
    }

    /// Whether anything sleeps.
    pub(crate) fn is_any_asleep(&self) -> bool {
        self.asleep > 0
    }

    fn sleeps(&self, memory: &SleepMemory, dof: usize) -> bool {
        self.asleep > 0 && memory.island[self.of_dof[dof] as usize] != NONE
    }

    /// Whether a coordinate is held because it sleeps.
    pub(crate) fn holds(&self, dof: usize) -> bool {
        self.asleep > 0 && self.rest[self.of_dof[dof] as usize] == Rest::Sleeps
    }

    /// State of rest of an element of a node: it moves if anything moves that it depends on.
    fn rest_of(&self, assembler: &Assembler, node: NodeId, element: usize) -> Rest {
        let mut found = Rest::Stands;
        for dof in assembler.support_dofs(node, element) {
            match self.rest[self.of_dof[dof] as usize] {
                Rest::Moves => return Rest::Moves,
                Rest::Sleeps => found = Rest::Sleeps,
                Rest::Stands => {}
            }
        }
        found
    }

    /// Whether a contact is of something that moves, and of something that sleeps.
    fn rest_of_all(&self, assembler: &Assembler, supports: &[Support]) -> [bool; 2] {
        let each = supports
            .iter()
            .flat_map(|s| assembler.support_dofs(s.node, s.element));
        let (mut moves, mut sleeps) = (false, false);
        for dof in each {
            let rest = self.rest[self.of_dof[dof] as usize];
            moves |= rest == Rest::Moves;
            sleeps |= rest == Rest::Sleeps;
        }
        [moves, sleeps]
    }

    /// Removes contacts among what sleeps and stands, for finders that list them all the same.
    pub(crate) fn leave_out(&self, assembler: &Assembler, list: &mut ContactList) {
        if self.asleep > 0 {
            list.retain(|supports| self.rest_of_all(assembler, supports) != [false, true]);
        }
    }

    /// Rows of the model among sleepers ask for nothing: they are held as they are.
    pub(crate) fn hold_rows(&self, assembler: &mut Assembler) {
        if self.asleep > 0 {
            let b = assembler.row_right_hand_side_mut();
            for (b, _) in b.iter_mut().zip(&self.rows).filter(|(_, r)| **r) {
                *b = 0.0;
            }
        }
    }

    /// Whether a row of the model is among sleepers, so that nothing can move along it.
    pub(crate) fn holds_row(&self, row: usize) -> bool {
        self.asleep > 0 && self.rows.get(row) == Some(&true)
    }

    /// Rows among sleepers miss nothing: they are held as they are. `missed` are the deficits of
    /// the rows of a nonlinear step.
    pub(crate) fn settle_rows(&self, missed: &mut [f64]) {
        if self.asleep > 0 {
            for (missed, _) in missed.iter_mut().zip(&self.rows).filter(|(_, r)| **r) {
                *missed = 0.0;
            }
        }
    }

    /// Rows among sleepers keep their multipliers, those of the start of the step (N, N m), in the
    /// solution of the system.
    pub(crate) fn keep_multipliers(&self, start: &[f64], per_force: f64, mu: &mut [f64]) {
        if self.asleep > 0 {
            for i in (0..self.rows.len()).filter(|i| self.rows[*i]) {
                mu[i] = start[i] * per_force;
            }
        }
    }

    /// No force of a support holds sleepers.
    pub(crate) fn forget_supports(&self, memory: &SleepMemory, supports: &mut [f64]) {
        if self.asleep > 0 {
            for (d, support) in supports.iter_mut().enumerate() {
                if self.sleeps(memory, d) && !memory.fixed[d] {
                    *support = 0.0;
                }
            }
        }
    }

    /// Notes the islands of coordinates for waking.
    fn list(&mut self, memory: &SleepMemory, dofs: impl Iterator<Item = usize>) {
        let islands = dofs.map(|d| memory.island[self.of_dof[d] as usize]);
        self.woken.extend(islands.filter(|i| *i != NONE));
    }
}

/// Sleepers keep their positions to the bit: an update by zero may change the sign of a zero and
/// the length of a quaternion.
pub(crate) fn hold_positions(system: &System, start: &State, end: &mut Motion) {
    let Motion { sleep, state, .. } = end;
    system.sleep.hold_positions(&system.model, sleep, start, state);
}

/// As [`hold_positions`], of a state whose mapped positions are in place already.
pub(crate) fn hold_placed(system: &mut System, start: &State, end: &mut Motion) -> Result<(), Error> {
    if !system.sleep.is_any_asleep() {
        return Ok(());
    }
    hold_positions(system, start, end);
    system.propagate(&mut end.state)
}

impl Sleep {
    /// As [`hold_positions`], of the sleepers of a memory.
    pub(crate) fn hold_positions(&self, model: &Model, memory: &SleepMemory, start: &State, end: &mut State) {
        if self.asleep == 0 {
            return;
        }
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (size, places) = (node.space.velocity_size(), node.space.position_size());
            for e in (0..node.count).filter(|e| self.sleeps(memory, first + e * size)) {
                let range = node.first_position + e * places..node.first_position + (e + 1) * places;
                end.positions[range.clone()].copy_from_slice(&start.positions[range]);
            }
        }
    }
}

/// Velocity at which the gap of a contact grows, in a state (m/s).
pub(crate) fn opening(model: &Model, state: &State, normal: [f64; 3], supports: &[Support]) -> f64 {
    let mut u = Vec3::zeros();
    for s in supports {
        let node = model.node(s.node);
        let size = node.space.velocity_size();
        let v = &state.velocities[node.first_velocity + s.element * size..][..size];
        u += s.weight * Vec3::new(v[0], v[1], v[2]);
        if node.space == Space::Rigid3 {
            let x = &state.positions[node.first_position + 7 * s.element..][..7];
            let spin = pliant_dense::rotation::rotate([x[3], x[4], x[5], x[6]], Vec3::new(v[3], v[4], v[5]));
            u += s.weight * spin.cross(&Vec3::from(s.arm));
        }
    }
    u.dot(&Vec3::from(normal))
}

/// Counts the blocks that sleep.
pub fn count(system: &System) -> usize {
    system.sleep.asleep
}

/// Whether an element of a node is asleep: nothing that it depends on moves, and something of that
/// sleeps.
pub fn is_asleep(system: &System, memory: &SleepMemory, node: NodeId, element: usize) -> bool {
    let mut dofs = system.assembler.support_dofs(node, element).peekable();
    system.sleep.asleep > 0 && dofs.peek().is_some() && dofs.all(|d| system.sleep.sleeps(memory, d))
}

/// Wakes what an element of a node depends on, with its islands.
///
/// # Errors
/// [`Error::Model`] if there is no such element.
pub fn wake(system: &mut System, motion: &mut Motion, node: NodeId, element: usize) -> Result<(), Error> {
    let entry = system.model.node(node);
    if element >= entry.count {
        return Err(ModelError::Element {
            name: entry.name.clone(),
            element,
            count: entry.count,
        }
        .into());
    }
    wake_elements(system, motion, node, element..element + 1);
    Ok(())
}

/// Wakes everything.
pub fn wake_all(system: &mut System, motion: &mut Motion) {
    let woken = &mut system.sleep.woken;
    woken.clear();
    woken.extend(motion.sleep.island.iter().filter(|i| **i != NONE));
    wake_islands(system, motion);
    motion.sleep.slow.fill(0.0);
}

/// Wakes what a component acts on: something about it has changed.
pub fn wake_component(system: &mut System, motion: &mut Motion, component: ComponentId) {
    let model = &system.model;
    let node = match component {
        ComponentId::ForceField(i) => model.force_fields().get(i).map(|f| f.node),
        ComponentId::Constraint(i) => model.constraints().get(i).map(|c| c.node),
        ComponentId::Mass(i) => model.masses().get(i).map(|m| m.node),
    };
    if let Some(node) = node {
        let count = model.node(node).count;
        wake_elements(system, motion, node, 0..count);
    }
}

/// Wakes what elements of a node depend on.
pub fn wake_elements(system: &mut System, motion: &mut Motion, node: NodeId, elements: Range<usize>) {
    let sleep = &mut system.sleep;
    if sleep.of_dof.is_empty() {
        return;
    }
    sleep.woken.clear();
    for dof in elements.flat_map(|e| system.assembler.support_dofs(node, e)) {
        let block = sleep.of_dof[dof] as usize;
        motion.sleep.slow[block] = 0.0;
        if motion.sleep.island[block] != NONE {
            sleep.woken.push(motion.sleep.island[block]);
        }
    }
    wake_islands(system, motion);
    // Contacts of what rested were not looked for.
    step::find_again(system, [motion]);
}

/// Wakes what the model connects with coordinates that are held otherwise from now on.
pub fn wake_coupled(system: &mut System, motion: &mut Motion, dofs: Range<usize>) {
    let System { assembler, sleep, .. } = system;
    if sleep.asleep == 0 {
        return;
    }
    sleep.woken.clear();
    let kkt = assembler.system();
    let index = |d: &u32| *d as usize;
    // Of W there is the lower triangle.
    for i in 0..kkt.n() {
        let row = kkt.w.pattern().row(i);
        if dofs.contains(&i) {
            sleep.list(&motion.sleep, row.iter().map(index));
        } else if row.iter().any(|d| dofs.contains(&(*d as usize))) {
            sleep.list(&motion.sleep, std::iter::once(i));
        }
    }
    for row in (0..kkt.m()).map(|i| kkt.j.pattern().row(i)) {
        if row.iter().any(|d| dofs.contains(&(*d as usize))) {
            sleep.list(&motion.sleep, row.iter().map(index));
        }
    }
    wake_islands(system, motion);
}

/// Wakes the listed islands.
fn wake_islands(system: &mut System, motion: &mut Motion) {
    let System {
        assembler,
        sleep,
        contacts,
        ..
    } = &mut *system;
    sleep.woken.sort_unstable();
    sleep.woken.dedup();
    if sleep.woken.is_empty() {
        return;
    }
    let woken = &sleep.woken;
    let fixed = assembler.fixed_mut();
    for (d, block) in sleep.of_dof.iter().enumerate() {
        if woken.binary_search(&motion.sleep.island[*block as usize]).is_ok() {
            fixed[d] = motion.sleep.fixed[d];
        }
    }
    for (island, slow) in motion.sleep.island.iter_mut().zip(&mut motion.sleep.slow) {
        if woken.binary_search(island).is_ok() {
            (*island, *slow) = (NONE, 0.0);
            sleep.asleep -= 1;
        }
    }
    if let Some(c) = contacts {
        c.detection.forget();
    }
    let Motion {
        sleep: memory,
        contacts: known,
        ..
    } = &mut *motion;
    if let Some(known) = known {
        let back = memory.forces.iter().filter(|f| woken.binary_search(&f.2).is_ok());
        known.give_back(back.map(|f| (f.0, f.1)));
    }
    motion.sleep.forces.retain(|f| woken.binary_search(&f.2).is_err());
    find_rows(system, &motion.sleep);
}

/// Finds the rows of the model that sleepers alone take part in.
fn find_rows(system: &mut System, memory: &SleepMemory) {
    let (kkt, sleep) = (system.assembler.system(), &mut system.sleep);
    let any = sleep.asleep > 0;
    let sleeps = |d: usize| any && memory.island[sleep.of_dof[d] as usize] != NONE;
    let row = |i: usize| {
        let dofs = || kkt.j.pattern().row(i).iter().map(|d| *d as usize);
        dofs().any(sleeps) && dofs().all(|d| kkt.fixed[d])
    };
    sleep.rows.clear();
    sleep.rows.extend((0..kkt.m()).map(row));
}

/// Finds the block of each coordinate.
fn find_blocks(system: &mut System) {
    let sleep = &mut system.sleep;
    sleep.of_dof.clear();
    let blocks = system.assembler.system().primal_blocks();
    for (block, w) in blocks.windows(2).enumerate() {
        sleep.of_dof.resize(w[1], block as u32);
    }
}

/// Wakes the islands that the next step of length `h` (s) disturbs: by rows that are driven, or by
/// contacts with what moves.
///
/// # Errors
/// Those of the search for contacts.
pub fn wake_disturbed(system: &mut System, motion: &mut Motion, h: f64) -> Result<(), Error> {
    let limits = system.options.contacts.sleeping;
    look(system, motion, limits);
    if system.sleep.asleep == 0 || motion.sleep.paused {
        return Ok(());
    }
    system.set_row_motion(motion.time, motion.time + h);
    wake_driven(system, motion);
    step::find(system, motion, h)?;
    while wake_touched(system, motion, h) {
        step::find(system, motion, h)?;
    }
    Ok(())
}

/// Takes note of the option before a step, and of what moves.
pub fn look(system: &mut System, motion: &mut Motion, limits: Option<Sleeping>) {
    if limits.is_none() && !motion.sleep.paused {
        if !system.sleep.of_dof.is_empty() {
            end_pause(system, motion);
        }
        return;
    }
    let memory = &mut motion.sleep;
    let kkt = system.assembler.system();
    let (n, m, blocks) = (kkt.n(), kkt.m(), kkt.primal_blocks().len() - 1);
    if system.sleep.of_dof.len() != n {
        find_blocks(system);
        if memory.island.len() != blocks {
            memory.slow = vec![0.0; blocks];
            memory.island = vec![NONE; blocks];
            memory.fixed = vec![false; n];
        }
    }
    if system.sleep.rows.len() != m {
        find_rows(system, memory);
    }
    tell_finder(system, motion);
}

/// Says to the finder what rests in a motion, of which no step may have begun.
pub(crate) fn tell_rest(system: &mut System, motion: &Motion) {
    if !system.sleep.of_dof.is_empty() {
        tell_finder(system, motion);
    }
}

/// Says to the finder what rests.
fn tell_finder(system: &mut System, motion: &Motion) {
    let System {
        model,
        assembler,
        sleep,
        contacts,
        ..
    } = system;
    let kkt = assembler.system();
    let sleepers = motion.sleep.island.iter().map(|i| match *i {
        NONE => Rest::Stands,
        _ => Rest::Sleeps,
    });
    sleep.rest.clear();
    sleep.rest.extend(sleepers);
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let velocities = &motion.state.velocities[node.velocity_range()];
        for (k, v) in velocities.iter().enumerate() {
            let d = first + k;
            if !(kkt.fixed[d] && motion.controls.held[d] == 0.0 && *v == 0.0) {
                sleep.rest[sleep.of_dof[d] as usize] = Rest::Moves;
            }
        }
    }
    if let Some(c) = contacts {
        let (sleep, assembler) = (&*sleep, &*assembler);
        c.detection
            .set_rest(&|node, element| sleep.rest_of(assembler, node, element));
    }
}

/// Wakes islands on which a row acts whose motion goes on.
fn wake_driven(system: &mut System, motion: &mut Motion) {
    let System {
        assembler,
        sleep,
        row_motion,
        ..
    } = &mut *system;
    if sleep.asleep == 0 || row_motion.is_empty() {
        return;
    }
    sleep.woken.clear();
    for i in (0..row_motion.len()).filter(|i| drives(row_motion, *i)) {
        let dofs = assembler.system().j.pattern().row(i).iter();
        sleep.list(&motion.sleep, dofs.map(|d| *d as usize));
    }
    wake_islands(system, motion);
}

/// Whether the motion of a row goes on over the present step.
fn drives(motions: &[RowMotion], row: usize) -> bool {
    let motion = motions.get(row);
    motion.is_some_and(|m| m.start != m.end || m.end.1 != 0.0)
}

/// Wakes islands that something which moves touches: a contact that would close within the step, or
/// that had a force. Whether there were any: then contacts are to be found again.
fn wake_touched(system: &mut System, motion: &mut Motion, h: f64) -> bool {
    let System {
        model,
        assembler,
        sleep,
        contacts,
        ..
    } = &mut *system;
    let (Some(c), Some(last)) = (&*contacts, &motion.contacts) else {
        return false;
    };
    if sleep.asleep == 0 {
        return false;
    }
    sleep.woken.clear();
    predict(model, &motion.state, assembler.system(), h, &mut sleep.predicted);
    let memory = &motion.sleep;
    for (contact, supports) in c.detection.list().with_supports() {
        let [moves, sleeps] = sleep.rest_of_all(assembler, supports);
        if !(moves && sleeps) {
            continue;
        }
        let known = memory.forces.binary_search_by_key(&contact.key, |f| f.0);
        let had_force = last.had_force(contact.key) || known.is_ok();
        let approach = h * opening(model, &sleep.predicted, contact.normal, supports);
        if had_force || contact.gap + approach <= 0.0 {
            let dofs = supports
                .iter()
                .flat_map(|s| assembler.support_dofs(s.node, s.element));
            sleep.list(memory, dofs);
        }
    }
    let any = !sleep.woken.is_empty();
    wake_islands(system, motion);
    if any {
        tell_finder(system, motion);
    }
    any
}

/// Goes on from a checked memory; the fixed coordinates are those of its time already.
pub fn recall(system: &mut System, memory: &SleepMemory) {
    system.sleep = Sleep::default();
    system.sleep.asleep = memory.island.iter().filter(|i| **i != NONE).count();
    if !memory.island.is_empty() {
        find_blocks(system);
        find_rows(system, memory);
    }
}
