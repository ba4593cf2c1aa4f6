//! Which islands have been slow for long enough, and their rest.

use super::{NONE, Simulation};
use crate::contact::Sleeping;
use crate::{Error, StepReport};
use pliant_model::Space;

/// The least member of a set.
fn root(sets: &mut [u32], mut i: u32) -> u32 {
    while sets[i as usize] != i {
        sets[i as usize] = sets[sets[i as usize] as usize];
        i = sets[i as usize];
    }
    i
}

fn join(sets: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(sets, a), root(sets, b));
    sets[a.max(b) as usize] = a.min(b);
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl Simulation {
    /// After a step that stands: counts how long everything has been slow, and puts islands to sleep all of which has been for
    /// long enough. Says in the report what that took.
    pub(crate) fn fall_asleep(&mut self, h: f64, report: &mut StepReport) -> Result<(), Error> {
        let Some(limits) = self.options.contacts.sleeping else {
            return Ok(());
        };
        if self.count_slow(h, limits) && self.choose_islands(limits.time) {
            let before = self.system.model.energies(&self.motion.state).kinetic;
            self.put_to_sleep()?;
            report.contacts.stilled = before - self.system.model.energies(&self.motion.state).kinetic;
            let awake = report.energies;
            report.energies = self.energies(true);
            let [kinetic, potential] = [
                report.energies.kinetic - awake.kinetic,
                report.energies.potential - awake.potential,
            ];
            report.ledger.kinetic += kinetic;
            report.ledger.potential += potential;
            report.ledger.corrections += kinetic + potential;
            report.momentum = self.system.model.momentum(&self.motion.state);
        }
        report.contacts.asleep = self.system.sleep.asleep;
        Ok(())
    }

    /// Whether something has been slow for long enough.
    fn count_slow(&mut self, h: f64, limits: Sleeping) -> bool {
        let (system, sleep) = (self.system.assembler.system(), &mut self.system.sleep);
        let mut any = false;
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let size = node.space.velocity_size();
            let velocities = self.motion.state.velocities[node.velocity_range()].chunks_exact(size);
            for (e, v) in velocities.enumerate() {
                let dofs = first + e * size..first + (e + 1) * size;
                if system.fixed[dofs.clone()].iter().all(|f| *f) {
                    continue;
                }
                let calm = match node.space {
                    Space::Rigid3 => norm(&v[..3]) <= limits.speed && norm(&v[3..]) <= limits.spin,
                    _ => norm(v) <= limits.speed,
                };
                let slow = &mut sleep.memory.slow[sleep.of_dof[dofs.start] as usize];
                *slow = if calm { *slow + h } else { 0.0 };
                any |= *slow >= limits.time;
            }
        }
        any
    }

    /// Joins what the system and the contacts connect, near ones too, so that nothing that may touch a sleeper in its rest is left awake. Leaves in
    /// `chosen` the least block of the island of each block that is to sleep, and none for other blocks. Whether there is any.
    fn choose_islands(&mut self, time: f64) -> bool {
        let mut sets = std::mem::take(&mut self.system.sleep.sets);
        let mut restless = std::mem::take(&mut self.system.sleep.restless);
        let mut free = std::mem::take(&mut self.system.sleep.free);
        let mut chosen = std::mem::take(&mut self.system.sleep.chosen);
        let (system, sleep) = (self.system.assembler.system(), &self.system.sleep);
        let blocks = sleep.memory.island.len();
        sets.clear();
        sets.extend(0..blocks as u32);
        restless.clear();
        restless.resize(blocks, false);
        // The first free block of what is connected stands for it; what a prescribed motion moves does not rest.
        let mut connect = |dofs: &mut dyn Iterator<Item = usize>, driven: bool| {
            let (mut first, mut moved) = (NONE, driven);
            for d in dofs {
                let block = sleep.of_dof[d];
                if system.fixed[d] {
                    moved |= self.motion.controls.held[d] != 0.0;
                } else if first == NONE {
                    first = block;
                } else {
                    join(&mut sets, first, block);
                }
            }
            if moved && first != NONE {
                restless[first as usize] = true;
            }
        };
        let index = |k: &u32| *k as usize;
        for i in (0..system.n()).filter(|i| !system.fixed[*i]) {
            let row = system.w.pattern().row(i).iter().map(index);
            connect(&mut std::iter::once(i).chain(row), false);
        }
        for i in 0..system.m() {
            connect(&mut system.j.pattern().row(i).iter().map(index), self.drives(i));
        }
        for (_, supports) in self.motion.contacts.iter().flat_map(|c| c.list.with_supports()) {
            let carriers = supports
                .iter()
                .flat_map(|s| self.system.assembler.carriers(s.node, s.element));
            connect(&mut carriers.into_iter(), false);
        }
        // A block that is partly fixed and moves, or has not been slow for long enough, keeps its island awake.
        free.clear();
        free.resize(blocks, false);
        for (d, fixed) in system.fixed.iter().enumerate() {
            let block = sleep.of_dof[d] as usize;
            free[block] |= !fixed;
            restless[block] |= *fixed && self.motion.controls.held[d] != 0.0;
        }
        for block in (0..blocks).filter(|b| free[*b]) {
            if restless[block] || sleep.memory.slow[block] < time {
                restless[root(&mut sets, block as u32) as usize] = true;
            }
        }
        chosen.clear();
        chosen.extend((0..blocks).map(|block| {
            let least = root(&mut sets, block as u32);
            let sleeps = free[block] && !restless[least as usize];
            if sleeps { least } else { NONE }
        }));
        let any = chosen.iter().any(|c| *c != NONE);
        self.system.sleep.sets = sets;
        self.system.sleep.restless = restless;
        self.system.sleep.free = free;
        self.system.sleep.chosen = chosen;
        any
    }

    /// Rest for the chosen islands.
    fn put_to_sleep(&mut self) -> Result<(), Error> {
        let sleep = &mut self.system.sleep;
        let fixed = self.system.assembler.fixed_mut();
        for (d, block) in sleep.of_dof.iter().enumerate() {
            if sleep.chosen[*block as usize] != NONE {
                sleep.memory.fixed[d] = fixed[d];
                fixed[d] = true;
                self.motion.controls.held[d] = 0.0;
            }
        }
        for (island, chosen) in sleep.memory.island.iter_mut().zip(&sleep.chosen) {
            if *chosen != NONE {
                *island = *chosen;
                sleep.asleep += 1;
            }
        }
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let sleep = &self.system.sleep;
            for (k, v) in self.motion.state.velocities[node.velocity_range()]
                .iter_mut()
                .enumerate()
            {
                if sleep.chosen[sleep.of_dof[first + k] as usize] != NONE {
                    *v = 0.0;
                }
            }
        }
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        self.find_sleeping_rows();
        self.tell_finder();
        let (sleep, assembler) = (&mut self.system.sleep, &self.system.assembler);
        let (Some(c), Some(memory)) = (&self.system.contacts, &mut self.motion.contacts) else {
            return Ok(());
        };
        let mut forces = std::mem::take(&mut sleep.memory.forces);
        memory.put_aside(
            c.detection.list(),
            |supports| match sleep.rest_of_all(assembler, supports) {
                [false, true] => {
                    let dofs = supports
                        .iter()
                        .flat_map(|s| assembler.carriers(s.node, s.element));
                    let mut islands = dofs.map(|d| sleep.memory.island[sleep.of_dof[d] as usize]);
                    islands.find(|i| *i != NONE)
                }
                _ => None,
            },
            &mut forces,
        );
        forces.sort_unstable_by_key(|f| f.0);
        sleep.memory.forces = forces;
        Ok(())
    }
}
