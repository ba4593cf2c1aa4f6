//! What lifting costs: corrections of overlap take it from the motion of what they lift.

use crate::simulation::Simulation;
use pliant_model::Model;
use pliant_solvers::KktSystem;

/// Share of the largest impulse of a correction below which a contact had no part in it.
const IDLE: f64 = 1e-9;

/// Room for the groups of a correction.
#[derive(Debug, Default)]
pub(super) struct Toll {
    /// Block of each variable, and the group of each block, which is named by its least block.
    block: Vec<u32>,
    group: Vec<u32>,
    /// Forces of the potential on all nodes (N, N m), velocities of the independent coordinates, `M v`.
    pub(super) force: Vec<f64>,
    velocity: Vec<f64>,
    momentum: Vec<f64>,
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
    fn account(&mut self, system: &KktSystem, model: &Model, dx: &[f64]) -> f64 {
        self.owed.clear();
        self.owed.resize(self.group.len(), 0.0);
        self.kinetic.clear();
        self.kinetic.resize(self.group.len(), 0.0);
        self.momentum.clear();
        self.momentum.resize(system.n(), 0.0);
        system
            .w
            .symmetric_add_product(1.0, &self.velocity, &mut self.momentum);
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
}

impl Simulation {
    /// Takes the potential energy `lifted` (J) that the displacement `dx` brought in out of the kinetic energy of the groups that gained it, each as
    /// far as it has any; their free velocities become smaller alike, so that hard rows and closed contacts hold as before. Returns
    /// what was taken (J).
    ///
    /// **Equation.** `v <- v sqrt(1 - w/T)` for a group with `w = -f . dx` and `T = v^T M v / 2`; what `f` does not know of `lifted` (springs that are
    /// rows, curvature) is shared by kinetic energy. Cost: `O(nnz)` of the system.
    pub(super) fn pay(
        &mut self,
        toll: &mut Toll,
        (system, mu, dx): (&KktSystem, &[f64], &[f64]),
        lifted: f64,
    ) -> Result<f64, crate::Error> {
        toll.gather(system, mu, self.assembler.system().m());
        toll.velocity.clear();
        toll.velocity.resize(system.n(), 0.0);
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in self.state.velocities[node.velocity_range()].iter().enumerate() {
                toll.velocity[first + k] = if system.fixed[first + k] { 0.0 } else { *v };
            }
        }
        let gained = toll.account(system, &self.model, dx);
        let scale: f64 = toll.owed.iter().sum();
        let unknown = lifted - gained;
        if unknown > 1e-9 * scale {
            let moving: f64 = toll.kinetic.iter().sum();
            for (owed, kinetic) in toll.owed.iter_mut().zip(&toll.kinetic) {
                *owed += if moving > 0.0 {
                    unknown * kinetic / moving
                } else {
                    0.0
                };
            }
        }
        let mut taken = 0.0;
        for (owed, kinetic) in toll.owed.iter_mut().zip(&toll.kinetic) {
            let paid = owed.min(*kinetic);
            taken += paid;
            // From here on the factor of the velocities.
            *owed = if paid > 0.0 {
                (1.0 - paid / kinetic).sqrt()
            } else {
                1.0
            };
        }
        if taken > 0.0 {
            for node in self.model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                for (k, v) in self.state.velocities[node.velocity_range()]
                    .iter_mut()
                    .enumerate()
                {
                    if !system.fixed[first + k] {
                        *v *= toll.owed[toll.group[toll.block[first + k] as usize] as usize];
                    }
                }
            }
            self.evaluation.propagate(&self.model, &mut self.state)?;
        }
        Ok(taken)
    }
}
