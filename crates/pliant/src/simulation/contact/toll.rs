//! What lifting costs: corrections of overlap take it from the motion of what they lift, and lift no more than can be paid.

use crate::simulation::Simulation;
use pliant_model::{Evaluation, Model};
use pliant_solvers::KktSystem;

/// Share of the largest impulse of a correction below which a contact had no part in it.
const IDLE: f64 = 1e-9;

/// Room for the groups of a correction.
#[derive(Debug, Default)]
pub(crate) struct Toll {
    /// Block of each variable, and the group of each block, which is named by its least block.
    block: Vec<u32>,
    group: Vec<u32>,
    /// Forces of the potential on all nodes (N, N m), velocities of the independent coordinates, `M v`.
    pub(crate) force: Vec<f64>,
    velocity: Vec<f64>,
    momentum: Vec<f64>,
    /// Velocities and momenta of all nodes.
    carried: Vec<f64>,
    /// Of each group, by its least block: what it owes, and its kinetic energy (J).
    owed: Vec<f64>,
    kinetic: Vec<f64>,
}

impl Toll {
    fn root(&mut self, mut i: u32) -> u32 {
        while self.group[i as usize] != i {
            let up = self.group[self.group[i as usize] as usize];
            self.group[i as usize] = up;
            i = up;
        }
        i
    }

    fn join(&mut self, i: usize, k: usize) {
        let (a, b) = (self.root(self.block[i]), self.root(self.block[k]));
        self.group[a.max(b) as usize] = a.min(b);
    }

    /// Groups the free variables that the model and the contacts with an impulse connect. `base` rows come before those of contacts.
    fn gather(&mut self, system: &KktSystem, mu: &[f64], base: usize) {
        self.block.clear();
        for (k, w) in system.primal_blocks().windows(2).enumerate() {
            self.block.resize(w[1], k as u32);
        }
        let blocks = system.primal_blocks().len() - 1;
        self.group.clear();
        self.group.extend(0..blocks as u32);
        let largest = mu[base..].iter().fold(0.0f64, |a, m| a.max(*m));
        let free = |k: &u32| !system.fixed[*k as usize];
        for i in (0..system.n()).filter(|i| !system.fixed[*i]) {
            for k in system.w.pattern().row(i).iter().filter(|k| free(k)) {
                self.join(i, *k as usize);
            }
        }
        for (i, mu) in mu.iter().enumerate() {
            if i >= base && *mu <= IDLE * largest {
                continue;
            }
            let mut columns = system.j.pattern().row(i).iter().filter(|k| free(k));
            let Some(first) = columns.next() else { continue };
            for k in columns {
                self.join(*first as usize, *k as usize);
            }
        }
        for b in 0..blocks as u32 {
            self.group[b as usize] = self.root(b);
        }
    }

    /// What every group owes, `-f . dx` where it is positive, and its kinetic energy; and what all groups together gained.
    fn account(&mut self, system: &KktSystem, (model, evaluation): (&Model, &Evaluation), dx: &[f64]) -> f64 {
        self.owed.clear();
        self.owed.resize(self.group.len(), 0.0);
        self.kinetic.clear();
        self.kinetic.resize(self.group.len(), 0.0);
        self.momentum.clear();
        self.momentum.resize(system.n(), 0.0);
        self.carried.clear();
        self.carried.resize(2 * model.velocity_count(), 0.0);
        let (carried, momenta) = self.carried.split_at_mut(model.velocity_count());
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            carried[range.clone()].copy_from_slice(&self.velocity[first..first + range.len()]);
        }
        evaluation.push_forward(model, carried);
        for mass in model.masses() {
            let node = model.node(mass.node);
            let range = node.velocity_range();
            mass.component
                .add_product(node.space, 1.0, &carried[range.clone()], &mut momenta[range]);
        }
        evaluation.pull_back(model, momenta);
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            self.momentum[first..first + range.len()].copy_from_slice(&momenta[range]);
        }
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, f) in self.force[node.velocity_range()].iter().enumerate() {
                let dof = first + k;
                let group = self.group[self.block[dof] as usize] as usize;
                self.owed[group] -= f * dx[dof];
                self.kinetic[group] += 0.5 * self.velocity[dof] * self.momentum[dof];
            }
        }
        let gained = self.owed.iter().sum();
        self.owed.iter_mut().for_each(|w| *w = w.max(0.0));
        gained
    }

    /// Shares what `owed` does not know of `lifted` by kinetic energy. Returns what all groups together can pay (J).
    fn bill(&mut self, lifted: f64, gained: f64) -> f64 {
        let scale: f64 = self.owed.iter().sum();
        let unknown = lifted - gained;
        let moving: f64 = self.kinetic.iter().sum();
        if unknown > 1e-9 * scale && moving > 0.0 {
            for (owed, kinetic) in self.owed.iter_mut().zip(&self.kinetic) {
                *owed += unknown * kinetic / moving;
            }
        }
        let both = self.owed.iter().zip(&self.kinetic);
        both.map(|(owed, kinetic)| owed.min(*kinetic)).sum()
    }

    /// Shortens the displacement of the groups that owe more than they can pay until that is `margin` all together instead of `new` (J): what they
    /// owe goes with the displacement. If all of them can pay, for none is told from the others, all displacements become shorter.
    pub(crate) fn shorten(&self, dx: &mut [f64], margin: f64, new: f64) {
        let poor = |(owed, kinetic): (&f64, &f64)| owed > kinetic;
        let (mut owed, mut kinetic) = (0.0, 0.0);
        for (w, t) in self.owed.iter().zip(&self.kinetic).filter(|g| poor(*g)) {
            owed += w;
            kinetic += t;
        }
        let factor = if owed > 0.0 {
            (margin + kinetic) / owed
        } else {
            margin / new
        };
        for (dx, block) in dx.iter_mut().zip(&self.block) {
            let group = self.group[*block as usize] as usize;
            if owed == 0.0 || poor((&self.owed[group], &self.kinetic[group])) {
                *dx *= factor.clamp(0.0, 1.0);
            }
        }
    }
}

impl Simulation {
    /// Who owes what of the potential energy `lifted` (J) that the displacement `dx` brought in: groups of what the correction connects, each
    /// `-f . dx` where that is positive; what `f` does not know of (springs that are rows, curvature) is shared by kinetic energy. Returns what can be
    /// paid (J), at most the kinetic energy of each group. Cost: `O(nnz)` of the system.
    pub(crate) fn charge(
        &self,
        toll: &mut Toll,
        (system, mu, dx): (&KktSystem, &[f64], &[f64]),
        lifted: f64,
    ) -> f64 {
        toll.gather(system, mu, self.system.assembler.system().m());
        toll.velocity.clear();
        toll.velocity.resize(system.n(), 0.0);
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in self.motion.state.velocities[node.velocity_range()]
                .iter()
                .enumerate()
            {
                toll.velocity[first + k] = if system.fixed[first + k] { 0.0 } else { *v };
            }
        }
        let gained = toll.account(system, (&self.system.model, &self.system.evaluation), dx);
        toll.bill(lifted, gained)
    }

    /// Takes what was charged out of the kinetic energy of the groups, each as far as it has any; their free velocities become smaller alike, so that
    /// hard rows and closed contacts hold as before: `v <- v sqrt(1 - w/T)` for a group that owes `w` and has `T = v^T M v / 2`.
    pub(crate) fn collect(&mut self, toll: &mut Toll, system: &KktSystem) -> Result<(), crate::Error> {
        let mut any = false;
        for (owed, kinetic) in toll.owed.iter_mut().zip(&toll.kinetic) {
            let paid = owed.min(*kinetic);
            any |= paid > 0.0;
            // From here on the factor of the velocities.
            *owed = if paid > 0.0 {
                (1.0 - paid / kinetic).sqrt()
            } else {
                1.0
            };
        }
        if !any {
            return Ok(());
        }
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in self.motion.state.velocities[node.velocity_range()]
                .iter_mut()
                .enumerate()
            {
                if !system.fixed[first + k] {
                    *v *= toll.owed[toll.group[toll.block[first + k] as usize] as usize];
                }
            }
        }
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        Ok(())
    }
}
