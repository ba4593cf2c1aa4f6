//! Islands that lie still are held until something disturbs them ([`fall`]: how they are found).

mod fall;

use super::Simulation;
use crate::Error;
use crate::contact::{ContactKey, ContactList, predict, step};
use crate::motion::clone_into_buffers;
use pliant_contact::Rest;
use pliant_dense::Vec3;
use pliant_kkt::{Assembler, Support};
use pliant_model::{ComponentId, Model, ModelError, NodeId, Space, State};

/// The island of what is awake.
const NONE: u32 = u32::MAX;

/// What sleeps and what is about to, as plain values. A block is an element of an independent node.
#[derive(Debug, Default, PartialEq)]
pub struct SleepMemory {
    /// For how long each block has been slow (s).
    slow: Vec<f64>,
    /// The least block of the island that each one sleeps with.
    island: Vec<u32>,
    /// What was fixed before it fell asleep, of the coordinates of sleepers.
    fixed: Vec<bool>,
    /// Forces of contacts among sleepers, and the island, by key, ascending: they start the first solve after waking.
    forces: Vec<(ContactKey, [f64; 6], u32)>,
}

clone_into_buffers!(SleepMemory {
    slow,
    island,
    fixed,
    forces,
});

/// The memory, and scratch without meaning.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    memory: SleepMemory,
    /// Block of each coordinate; empty while the option is off.
    of_dof: Vec<u32>,
    /// Blocks that sleep.
    asleep: usize,
    /// What each block does in this step.
    rest: Vec<Rest>,
    /// Rows of the model that sleepers alone take part in.
    pub(crate) rows: Vec<bool>,
    /// Islands to be woken.
    woken: Vec<u32>,
    sets: Vec<u32>,
    restless: Vec<bool>,
    free: Vec<bool>,
    /// The island of each block that falls asleep.
    chosen: Vec<u32>,
    /// The state that approaches are measured in.
    predicted: State,
}

impl Sleep {
    pub(crate) fn memory(&self) -> &SleepMemory {
        &self.memory
    }

    fn sleeps(&self, dof: usize) -> bool {
        self.asleep > 0 && self.memory.island[self.of_dof[dof] as usize] != NONE
    }

    /// What an element of a node does: it moves if anything does that it depends on.
    fn rest_of(&self, assembler: &Assembler, node: NodeId, element: usize) -> Rest {
        let mut found = Rest::Stands;
        for dof in assembler.carriers(node, element) {
            match self.rest[self.of_dof[dof] as usize] {
                Rest::Moves => return Rest::Moves,
                Rest::Sleeps => found = Rest::Sleeps,
                Rest::Stands => {}
            }
        }
        found
    }

    /// Leaves out contacts among what sleeps and stands, for finders that list them all the same.
    pub(crate) fn leave_out_sleepers(&self, assembler: &Assembler, list: &mut ContactList) {
        if self.asleep > 0 {
            list.retain(|supports| self.rest_of_all(assembler, supports) != [false, true]);
        }
    }

    /// Holds rows of the model among sleepers as they are.
    pub(crate) fn hold_rows(&self, assembler: &mut Assembler) {
        if self.asleep > 0 {
            let b = assembler.row_right_hand_side_mut();
            for (b, _) in b.iter_mut().zip(&self.rows).filter(|(_, r)| **r) {
                *b = 0.0;
            }
        }
    }

    /// Holds sleepers at their positions at the start, to the bit: an update by zero may change the sign of a zero and the
    /// length of a quaternion.
    pub(crate) fn hold(&self, model: &Model, start: &State, end: &mut State) {
        if self.asleep == 0 {
            return;
        }
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (size, places) = (node.space.velocity_size(), node.space.position_size());
            for e in (0..node.count).filter(|e| self.sleeps(first + e * size)) {
                let range = node.first_position + e * places..node.first_position + (e + 1) * places;
                end.positions[range.clone()].copy_from_slice(&start.positions[range]);
            }
        }
    }

    /// What a contact is between.
    fn rest_of_all(&self, assembler: &Assembler, supports: &[Support]) -> [bool; 2] {
        let each = supports
            .iter()
            .flat_map(|s| assembler.carriers(s.node, s.element));
        let (mut moves, mut sleeps) = (false, false);
        for dof in each {
            let rest = self.rest[self.of_dof[dof] as usize];
            moves |= rest == Rest::Moves;
            sleeps |= rest == Rest::Sleeps;
        }
        [moves, sleeps]
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

impl Simulation {
    /// Whether an element of a node is asleep: nothing that it depends on moves, and something of that sleeps
    /// ([`ContactOptions::sleeping`](crate::contact::ContactOptions::sleeping)).
    pub fn is_asleep(&self, node: NodeId, element: usize) -> bool {
        let mut carriers = self.system.assembler.carriers(node, element).peekable();
        self.system.sleep.asleep > 0
            && carriers.peek().is_some()
            && carriers.all(|d| self.system.sleep.sleeps(d))
    }

    /// Wakes what an element of a node depends on, with its islands.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element.
    pub fn wake(&mut self, node: NodeId, element: usize) -> Result<(), Error> {
        let entry = self.system.model.node(node);
        if element >= entry.count {
            return Err(ModelError::Element {
                name: entry.name.clone(),
                element,
                count: entry.count,
            }
            .into());
        }
        self.wake_elements(node, element..element + 1);
        Ok(())
    }

    /// Wakes everything.
    pub fn wake_all(&mut self) {
        self.system.sleep.woken.clear();
        self.system
            .sleep
            .woken
            .extend(self.system.sleep.memory.island.iter().filter(|i| **i != NONE));
        self.wake_islands();
        self.system.sleep.memory.slow.fill(0.0);
    }

    /// What a component acts on: something about it has changed.
    pub(crate) fn wake_component(&mut self, component: ComponentId) {
        let node = match component {
            ComponentId::ForceField(i) => self.system.model.force_fields().get(i).map(|f| f.node),
            ComponentId::Constraint(i) => self.system.model.constraints().get(i).map(|c| c.node),
            ComponentId::Mass(i) => self.system.model.masses().get(i).map(|m| m.node),
        };
        if let Some(node) = node {
            self.wake_elements(node, 0..self.system.model.node(node).count);
        }
    }

    pub(crate) fn wake_elements(&mut self, node: NodeId, elements: std::ops::Range<usize>) {
        let sleep = &mut self.system.sleep;
        if sleep.of_dof.is_empty() {
            return;
        }
        sleep.woken.clear();
        for dof in elements.flat_map(|e| self.system.assembler.carriers(node, e)) {
            let block = sleep.of_dof[dof] as usize;
            sleep.memory.slow[block] = 0.0;
            if sleep.memory.island[block] != NONE {
                sleep.woken.push(sleep.memory.island[block]);
            }
        }
        self.wake_islands();
        // Contacts of what rested were not looked for.
        step::find_again(&mut self.system, [&mut self.start, &mut self.motion]);
    }

    /// Wakes what the model connects with coordinates that are held otherwise from now on.
    pub(crate) fn wake_coupled(&mut self, dofs: std::ops::Range<usize>) {
        if self.system.sleep.asleep == 0 {
            return;
        }
        let mut woken = std::mem::take(&mut self.system.sleep.woken);
        woken.clear();
        let (system, sleep) = (self.system.assembler.system(), &self.system.sleep);
        let island = |d: &u32| sleep.memory.island[sleep.of_dof[*d as usize] as usize];
        // Of W there is the lower triangle.
        for i in 0..system.n() {
            let row = system.w.pattern().row(i);
            if dofs.contains(&i) {
                woken.extend(row.iter().map(island));
            } else if row.iter().any(|d| dofs.contains(&(*d as usize))) {
                woken.push(island(&(i as u32)));
            }
        }
        for row in (0..system.m()).map(|i| system.j.pattern().row(i)) {
            if row.iter().any(|d| dofs.contains(&(*d as usize))) {
                woken.extend(row.iter().map(island));
            }
        }
        woken.retain(|i| *i != NONE);
        self.system.sleep.woken = woken;
        self.wake_islands();
    }

    /// Wakes the listed islands.
    fn wake_islands(&mut self) {
        let sleep = &mut self.system.sleep;
        sleep.woken.sort_unstable();
        sleep.woken.dedup();
        if sleep.woken.is_empty() {
            return;
        }
        let memory = &mut sleep.memory;
        let woken = &sleep.woken;
        let fixed = self.system.assembler.fixed_mut();
        for (d, block) in sleep.of_dof.iter().enumerate() {
            if woken.binary_search(&memory.island[*block as usize]).is_ok() {
                fixed[d] = memory.fixed[d];
            }
        }
        for (island, slow) in memory.island.iter_mut().zip(&mut memory.slow) {
            if woken.binary_search(island).is_ok() {
                (*island, *slow) = (NONE, 0.0);
                sleep.asleep -= 1;
            }
        }
        let back = memory.forces.iter();
        let back = back.filter(|f| woken.binary_search(&f.2).is_ok());
        let back = back.map(|f| (f.0, f.1));
        if let Some(c) = &mut self.system.contacts {
            c.detection.forget();
        }
        for motion in [&mut self.start, &mut self.motion] {
            if let Some(contacts) = &mut motion.contacts {
                contacts.give_back(back.clone());
            }
        }
        memory.forces.retain(|f| woken.binary_search(&f.2).is_err());
        self.find_sleeping_rows();
    }

    /// Rows of the model that sleepers alone take part in.
    fn find_sleeping_rows(&mut self) {
        let system = self.system.assembler.system();
        let sleep = &mut self.system.sleep;
        let rows = std::mem::take(&mut sleep.rows);
        let row = |i: usize| {
            let dofs = || system.j.pattern().row(i).iter().map(|d| *d as usize);
            dofs().any(|d| sleep.sleeps(d)) && dofs().all(|d| system.fixed[d])
        };
        let mut rows = rows;
        rows.clear();
        rows.extend((0..system.m()).map(row));
        sleep.rows = rows;
    }

    /// Before a step: takes note of the option, and of what moves.
    pub(crate) fn look_for_sleepers(&mut self) {
        if self.options.contacts.sleeping.is_none() {
            if !self.system.sleep.of_dof.is_empty() {
                self.wake_all();
                self.system.sleep = Sleep::default();
                if let Some(c) = &mut self.system.contacts {
                    c.detection.set_rest(&|_, _| Rest::Moves);
                }
                step::find_again(&mut self.system, [&mut self.start, &mut self.motion]);
            }
            return;
        }
        let system = self.system.assembler.system();
        let sleep = &mut self.system.sleep;
        if sleep.of_dof.len() != system.n() {
            sleep.of_dof.clear();
            for (block, w) in system.primal_blocks().windows(2).enumerate() {
                sleep.of_dof.resize(w[1], block as u32);
            }
            let blocks = system.primal_blocks().len() - 1;
            if sleep.memory.island.len() != blocks {
                sleep.memory.slow = vec![0.0; blocks];
                sleep.memory.island = vec![NONE; blocks];
                sleep.memory.fixed = vec![false; system.n()];
            }
        }
        if sleep.rows.len() != system.m() {
            self.find_sleeping_rows();
        }
        self.tell_finder();
    }

    /// Says to the finder what rests.
    fn tell_finder(&mut self) {
        let system = self.system.assembler.system();
        let sleep = &mut self.system.sleep;
        let sleepers = sleep.memory.island.iter().map(|i| match *i {
            NONE => Rest::Stands,
            _ => Rest::Sleeps,
        });
        sleep.rest.clear();
        sleep.rest.extend(sleepers);
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in self.motion.state.velocities[node.velocity_range()]
                .iter()
                .enumerate()
            {
                let d = first + k;
                if !(system.fixed[d] && self.motion.controls.held[d] == 0.0 && *v == 0.0) {
                    sleep.rest[sleep.of_dof[d] as usize] = Rest::Moves;
                }
            }
        }
        if let Some(c) = &mut self.system.contacts {
            let (sleep, assembler) = (&self.system.sleep, &self.system.assembler);
            c.detection
                .set_rest(&|node, element| sleep.rest_of(assembler, node, element));
        }
    }

    /// Wakes islands on which a row acts whose motion goes on.
    pub(crate) fn wake_driven(&mut self) {
        if self.system.sleep.asleep == 0 || self.system.row_motion.is_empty() {
            return;
        }
        let mut woken = std::mem::take(&mut self.system.sleep.woken);
        woken.clear();
        let sleep = &self.system.sleep;
        for i in (0..self.system.row_motion.len()).filter(|i| self.drives(*i)) {
            let dofs = self.system.assembler.system().j.pattern().row(i).iter();
            woken.extend(dofs.map(|d| sleep.memory.island[sleep.of_dof[*d as usize] as usize]));
        }
        woken.retain(|i| *i != NONE);
        self.system.sleep.woken = woken;
        self.wake_islands();
    }

    /// Whether the motion of a row goes on over the present step.
    fn drives(&self, row: usize) -> bool {
        let motion = self.system.row_motion.get(row);
        motion.is_some_and(|m| m.start != m.end || m.end.1 != 0.0)
    }

    /// Wakes islands that something which moves touches: a contact that would close within the step, or that had a force. Whether
    /// there were any: then contacts are to be found again.
    pub(crate) fn wake_touched(&mut self, h: f64) -> bool {
        let (Some(c), Some(last)) = (&self.system.contacts, &self.motion.contacts) else {
            return false;
        };
        if self.system.sleep.asleep == 0 {
            return false;
        }
        let mut woken = std::mem::take(&mut self.system.sleep.woken);
        let mut predicted = std::mem::take(&mut self.system.sleep.predicted);
        woken.clear();
        predict(
            &self.system.model,
            &self.motion.state,
            self.system.assembler.system(),
            h,
            &mut predicted,
        );
        let sleep = &self.system.sleep;
        for (contact, supports) in c.detection.list().with_supports() {
            let [moves, sleeps] = sleep.rest_of_all(&self.system.assembler, supports);
            if !(moves && sleeps) {
                continue;
            }
            let forces = &sleep.memory.forces;
            let had_force =
                last.had_force(contact.key) || forces.binary_search_by_key(&contact.key, |f| f.0).is_ok();
            if had_force
                || contact.gap + h * opening(&self.system.model, &predicted, contact.normal, supports) <= 0.0
            {
                let carriers = supports
                    .iter()
                    .flat_map(|s| self.system.assembler.carriers(s.node, s.element));
                woken.extend(carriers.map(|d| sleep.memory.island[sleep.of_dof[d] as usize]));
            }
        }
        woken.retain(|i| *i != NONE);
        let any = !woken.is_empty();
        self.system.sleep.predicted = predicted;
        self.system.sleep.woken = woken;
        self.wake_islands();
        if any {
            self.tell_finder();
        }
        any
    }

    /// Rows of the model among sleepers ask for nothing: they are held as they are.
    pub(crate) fn quieten_rows(&mut self) {
        self.system.sleep.hold_rows(&mut self.system.assembler);
    }

    /// Rows among sleepers keep their multipliers, those of the system here.
    pub(crate) fn keep_sleeping_multipliers(&mut self, per_force: f64) {
        if self.system.sleep.asleep > 0 {
            for i in (0..self.system.sleep.rows.len()).filter(|i| self.system.sleep.rows[*i]) {
                self.system.solution.mu[i] = self.start.multipliers[i] * per_force;
            }
        }
    }

    /// No force of a support holds sleepers.
    pub(crate) fn forget_sleeping_supports(&mut self) {
        if self.system.sleep.asleep > 0 {
            for (d, support) in self.motion.supports.iter_mut().enumerate() {
                if self.system.sleep.sleeps(d) && !self.system.sleep.memory.fixed[d] {
                    *support = 0.0;
                }
            }
        }
    }

    /// Holds sleepers as they were at the start of the step.
    pub(crate) fn hold_sleepers(&mut self) {
        let (model, sleep) = (&self.system.model, &self.system.sleep);
        sleep.hold(model, &self.start.state, &mut self.motion.state);
    }

    pub(crate) fn sleep_memory(&self) -> SleepMemory {
        self.system.sleep.memory.clone()
    }

    /// What keeps a memory from being that of this model, if anything does.
    pub(crate) fn check_sleep(&self, memory: &SleepMemory) -> Result<(), Error> {
        let system = self.system.assembler.system();
        let blocks = system.primal_blocks().len() - 1;
        let wrong = |what, expected, found| ModelError::State {
            what,
            expected,
            found,
        };
        if memory.island.is_empty() && memory.slow.is_empty() && memory.fixed.is_empty() {
            return Ok(());
        }
        for found in [memory.island.len(), memory.slow.len()] {
            if found != blocks {
                return Err(wrong("blocks that may sleep", blocks, found).into());
            }
        }
        if memory.fixed.len() != system.n() {
            return Err(wrong("coordinates that may sleep", system.n(), memory.fixed.len()).into());
        }
        Ok(())
    }

    /// Goes back to an earlier memory of this simulation; the fixed coordinates are those of that time already.
    pub(crate) fn return_to_sleep(&mut self, memory: &SleepMemory) {
        if self.system.sleep.memory.island == memory.island {
            self.system.sleep.memory.clone_from(memory);
        } else {
            self.restore_sleep(memory);
        }
    }

    /// Goes on from a checked memory; the fixed coordinates are those of the checkpoint already.
    pub(crate) fn restore_sleep(&mut self, memory: &SleepMemory) {
        self.system.sleep = Sleep::default();
        self.system.sleep.memory.clone_from(memory);
        self.system.sleep.asleep = memory.island.iter().filter(|i| **i != NONE).count();
        if !memory.island.is_empty() {
            let system = self.system.assembler.system();
            for (block, w) in system.primal_blocks().windows(2).enumerate() {
                self.system.sleep.of_dof.resize(w[1], block as u32);
            }
            self.find_sleeping_rows();
        }
    }
}
