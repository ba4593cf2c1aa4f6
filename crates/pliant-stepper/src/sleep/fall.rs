//! Which islands have been slow for long enough, and their rest.

use super::{NONE, SleepMemory, drives, find_rows, tell_finder};
use crate::Error;
use crate::contact::{ContactList, Sleeping};
use crate::motion::Motion;
use crate::system::System;
use pliant_kkt::{Assembler, RowMotion};
use pliant_model::{Space, State};
use pliant_solvers::KktSystem;
use pliant_sparse::DisjointSets;

/// Sets of blocks.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Blocks that are connected.
    pub(super) sets: DisjointSets,
    /// Of the least member of each set, whether something in it is not at rest.
    pub(super) restless: Vec<bool>,
    /// Blocks with a free coordinate.
    pub(super) free: Vec<bool>,
    /// The island of each block that falls asleep.
    pub(super) chosen: Vec<u32>,
}

impl Scratch {
    /// Parts all sets of so many blocks, and marks none.
    pub(super) fn begin(&mut self, blocks: usize) {
        let Self {
            sets,
            restless,
            free,
            chosen,
        } = self;
        sets.reset(blocks);
        for marks in [restless, free] {
            marks.clear();
            marks.resize(blocks, false);
        }
        chosen.clear();
        chosen.resize(blocks, NONE);
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// After a step that stands: counts how long everything has been slow, and puts islands to sleep
/// all of which has been for long enough. Returns whether there were such, with what that took from
/// the kinetic energy (J).
pub fn fall_asleep(
    system: &mut System,
    motion: &mut Motion,
    limits: Sleeping,
    h: f64,
) -> Result<Option<f64>, Error> {
    if !(count_slow(system, motion, limits, h) && choose_islands(system, motion, limits.time)) {
        return Ok(None);
    }
    let kinetic = |system: &System, state: &State| system.model.energies(state).kinetic;
    let before = kinetic(system, &motion.state);
    put_to_sleep(system, motion)?;
    Ok(Some(before - kinetic(system, &motion.state)))
}

/// Whether something has been slow for long enough.
fn count_slow(system: &System, motion: &mut Motion, limits: Sleeping, h: f64) -> bool {
    let (kkt, sleep) = (system.assembler.system(), &system.sleep);
    let Motion {
        state, sleep: memory, ..
    } = motion;
    let mut any = false;
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let size = node.space.velocity_size();
        let velocities = state.velocities[node.velocity_range()].chunks_exact(size);
        for (e, v) in velocities.enumerate() {
            let dofs = first + e * size..first + (e + 1) * size;
            if kkt.fixed[dofs.clone()].iter().all(|f| *f) {
                continue;
            }
            let calm = match node.space {
                Space::Rigid3 => norm(&v[..3]) <= limits.speed && norm(&v[3..]) <= limits.spin,
                _ => norm(v) <= limits.speed,
            };
            let slow = &mut memory.slow[sleep.of_dof[dofs.start] as usize];
            *slow = if calm { *slow + h } else { 0.0 };
            any |= *slow >= limits.time;
        }
    }
    any
}

/// Blocks that the system connects.
pub(super) struct Connections<'a> {
    pub(super) kkt: &'a KktSystem,
    pub(super) of_dof: &'a [u32],
    pub(super) held: &'a [f64],
    pub(super) sets: &'a mut DisjointSets,
    pub(super) restless: &'a mut [bool],
}

impl Connections<'_> {
    /// Connects coordinates. The first free block of what is connected stands for it; what a
    /// prescribed motion moves does not rest.
    fn connect(&mut self, dofs: impl Iterator<Item = usize>, driven: bool) {
        let (mut first, mut moved) = (NONE, driven);
        for d in dofs {
            let block = self.of_dof[d];
            if self.kkt.fixed[d] {
                moved |= self.held[d] != 0.0;
            } else if first == NONE {
                first = block;
            } else {
                self.sets.join(first as usize, block as usize);
            }
        }
        if moved && first != NONE {
            self.restless[first as usize] = true;
        }
    }
}

impl Connections<'_> {
    /// Connects what the equations of the model do.
    pub(super) fn connect_system(&mut self, row_motion: &[RowMotion]) {
        let (kkt, index) = (self.kkt, |k: &u32| *k as usize);
        for i in (0..kkt.n()).filter(|i| !kkt.fixed[*i]) {
            let row = kkt.w.pattern().row(i).iter().map(index);
            self.connect(std::iter::once(i).chain(row), false);
        }
        for i in 0..kkt.m() {
            let row = kkt.j.pattern().row(i).iter().map(index);
            self.connect(row, drives(row_motion, i));
        }
    }

    /// Connects what contacts do, near ones too.
    pub(super) fn connect_contacts(&mut self, assembler: &Assembler, list: Option<&ContactList>) {
        for (_, supports) in list.into_iter().flat_map(ContactList::with_supports) {
            let dofs = supports
                .iter()
                .flat_map(|s| assembler.support_dofs(s.node, s.element));
            self.connect(dofs, false);
        }
    }
}

/// Joins what the system and the contacts connect, near ones too, so that nothing that may touch a
/// sleeper in its rest is left awake. Leaves in `chosen` the least block of the island of each
/// block that is to sleep, and none for other blocks. Whether there is any.
fn choose_islands(system: &mut System, motion: &Motion, time: f64) -> bool {
    let (assembler, sleep) = (&system.assembler, &mut system.sleep);
    let kkt = assembler.system();
    let (memory, held) = (&motion.sleep, &motion.controls.held[..]);
    let blocks = memory.island.len();
    sleep.fall.begin(blocks);
    let Scratch {
        sets,
        restless,
        free,
        chosen,
    } = &mut sleep.fall;
    let mut connections = Connections {
        kkt,
        of_dof: &sleep.of_dof,
        held,
        sets,
        restless,
    };
    connections.connect_system(&system.row_motion);
    let list = motion.contacts.as_ref().map(|c| &c.list);
    connections.connect_contacts(assembler, list);
    // A block that is partly fixed and moves, or has not been slow for long enough, keeps its
    // island awake.
    for (d, fixed) in kkt.fixed.iter().enumerate() {
        let block = sleep.of_dof[d] as usize;
        free[block] |= !fixed;
        restless[block] |= *fixed && held[d] != 0.0;
    }
    for block in (0..blocks).filter(|b| free[*b]) {
        if restless[block] || memory.slow[block] < time {
            restless[sets.root(block)] = true;
        }
    }
    chosen.clear();
    chosen.extend((0..blocks).map(|block| {
        let least = sets.root(block);
        let sleeps = free[block] && !restless[least];
        if sleeps { least as u32 } else { NONE }
    }));
    chosen.iter().any(|c| *c != NONE)
}

/// Puts the chosen islands to rest.
pub(super) fn put_to_sleep(system: &mut System, motion: &mut Motion) -> Result<(), Error> {
    let sleep = &mut system.sleep;
    let (chosen, of_dof) = (&sleep.fall.chosen, &sleep.of_dof);
    let falls = |d: usize| chosen[of_dof[d] as usize] != NONE;
    let memory = &mut motion.sleep;
    let fixed = system.assembler.fixed_mut();
    for d in (0..of_dof.len()).filter(|d| falls(*d)) {
        memory.fixed[d] = fixed[d];
        fixed[d] = true;
        motion.controls.held[d] = 0.0;
    }
    for (island, chosen) in memory.island.iter_mut().zip(chosen) {
        if *chosen != NONE {
            *island = *chosen;
            sleep.asleep += 1;
        }
    }
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let velocities = &mut motion.state.velocities[node.velocity_range()];
        for (k, v) in velocities.iter_mut().enumerate() {
            if falls(first + k) {
                *v = 0.0;
            }
        }
    }
    system.evaluation.propagate(&system.model, &mut motion.state)?;
    find_rows(system, &motion.sleep);
    tell_finder(system, motion);
    put_contacts_aside(system, motion);
    Ok(())
}

/// Keeps the forces of contacts among sleepers, which are left out from now on.
fn put_contacts_aside(system: &System, motion: &mut Motion) {
    let (sleep, assembler) = (&system.sleep, &system.assembler);
    let (Some(c), Some(known)) = (&system.contacts, &mut motion.contacts) else {
        return;
    };
    let SleepMemory { island, forces, .. } = &mut motion.sleep;
    known.put_aside(
        c.detection.list(),
        |supports| match sleep.rest_of_all(assembler, supports) {
            [false, true] => {
                let dofs = supports
                    .iter()
                    .flat_map(|s| assembler.support_dofs(s.node, s.element));
                let mut islands = dofs.map(|d| island[sleep.of_dof[d] as usize]);
                islands.find(|i| *i != NONE)
            }
            _ => None,
        },
        forces,
    );
    forces.sort_unstable_by_key(|f| f.0);
}
