//! The energy compensation of a correction: the potential energy that it lifts is taken from the
//! motion of the bodies that it lifts, and it lifts no more than that and the step's losses allow.

use crate::Error;
use pliant_model::{Evaluation, Model, State};
use pliant_solvers::KktSystem;
use pliant_sparse::DisjointSets;

/// Share of the largest impulse of a correction below which a contact had no part in it.
const IDLE: f64 = 1e-9;

/// The energy compensation of a correction, by groups of variables that the model and its contacts
/// connect.
#[derive(Debug, Default)]
pub(super) struct Compensation {
    /// Block of each variable, and the group of each block, which is named by its least block.
    block: Vec<u32>,
    group: Vec<u32>,
    sets: DisjointSets,
    /// Forces of the potential on all nodes (N, N m).
    pub(super) force: Vec<f64>,
    /// Velocities of the independent coordinates, and `M v`.
    velocity: Vec<f64>,
    momentum: Vec<f64>,
    /// Velocities and momenta of all nodes.
    carried: Vec<f64>,
    /// Of each group, by its least block: the energy required of it, and its kinetic energy (J).
    required: Vec<f64>,
    kinetic: Vec<f64>,
}

/// A correction as solved, with the potential energy that it lifts (J).
#[derive(Clone, Copy)]
pub(super) struct Correction<'a> {
    pub(super) system: &'a KktSystem,
    /// Rows of the model, which come before those of contacts.
    pub(super) base_rows: usize,
    pub(super) mu: &'a [f64],
    pub(super) displacement: &'a [f64],
    pub(super) lifted: f64,
}

impl Compensation {
    /// Groups the free variables that the model and the contacts with an impulse connect.
    fn gather(&mut self, correction: &Correction<'_>) {
        let Correction {
            system,
            base_rows,
            mu,
            ..
        } = *correction;
        self.block.clear();
        for (k, w) in system.primal_blocks().windows(2).enumerate() {
            self.block.resize(w[1], k as u32);
        }
        self.sets.reset(system.primal_blocks().len() - 1);
        let largest = mu[base_rows..].iter().fold(0.0f64, |a, m| a.max(*m));
        let free = |k: &u32| !system.fixed[*k as usize];
        let block = |k: usize| self.block[k] as usize;
        for i in (0..system.n()).filter(|i| !system.fixed[*i]) {
            for k in system.w.pattern().row(i).iter().filter(|k| free(k)) {
                self.sets.join(block(i), block(*k as usize));
            }
        }
        for (i, mu) in mu.iter().enumerate() {
            if i >= base_rows && *mu <= IDLE * largest {
                continue;
            }
            let mut columns = system.j.pattern().row(i).iter().filter(|k| free(k));
            let Some(first) = columns.next() else { continue };
            for k in columns {
                self.sets.join(block(*first as usize), block(*k as usize));
            }
        }
        self.group.clear();
        self.group.extend_from_slice(self.sets.roots());
    }

    /// Finds the velocities of the free variables, and their momenta.
    fn find_momenta(&mut self, system: &KktSystem, model: &Model, evaluation: &Evaluation, state: &State) {
        self.velocity.clear();
        self.velocity.resize(system.n(), 0.0);
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in state.velocities[node.velocity_range()].iter().enumerate() {
                self.velocity[first + k] = if system.fixed[first + k] { 0.0 } else { *v };
            }
        }
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
    }

    /// Finds the energy that every group gained, `-f . dx`, which is required of it where it is
    /// positive, and its kinetic energy. Returns the gain of all groups together (J).
    fn find_gains(&mut self, model: &Model, displacement: &[f64]) -> f64 {
        self.required.clear();
        self.required.resize(self.group.len(), 0.0);
        self.kinetic.clear();
        self.kinetic.resize(self.group.len(), 0.0);
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, f) in self.force[node.velocity_range()].iter().enumerate() {
                let dof = first + k;
                let group = self.group[self.block[dof] as usize] as usize;
                self.required[group] -= f * displacement[dof];
                self.kinetic[group] += 0.5 * self.velocity[dof] * self.momentum[dof];
            }
        }
        let gained = self.required.iter().sum();
        self.required.iter_mut().for_each(|w| *w = w.max(0.0));
        gained
    }

    /// Shares by kinetic energy the part of `lifted` that the gains of the groups do not explain.
    /// Returns the energy that all groups together have for it (J).
    fn share_rest(&mut self, lifted: f64, gained: f64) -> f64 {
        let scale: f64 = self.required.iter().sum();
        let unknown = lifted - gained;
        let moving: f64 = self.kinetic.iter().sum();
        if unknown > 1e-9 * scale && moving > 0.0 {
            for (required, kinetic) in self.required.iter_mut().zip(&self.kinetic) {
                *required += unknown * kinetic / moving;
            }
        }
        let both = self.required.iter().zip(&self.kinetic);
        both.map(|(required, kinetic)| required.min(*kinetic)).sum()
    }

    /// Apportions the potential energy (J) that a correction lifts: of groups that the correction
    /// connects, each gives `-f . dx` where that is positive; the part that `f` does not explain
    /// (springs that are rows, curvature) is shared by kinetic energy. Returns the energy that they
    /// have for it (J), at most the kinetic energy of each group. Cost: `O(nnz)` of the system.
    pub(super) fn apportion(
        &mut self,
        correction: Correction<'_>,
        model: &Model,
        evaluation: &Evaluation,
        state: &State,
    ) -> f64 {
        self.gather(&correction);
        self.find_momenta(correction.system, model, evaluation, state);
        let gained = self.find_gains(model, correction.displacement);
        self.share_rest(correction.lifted, gained)
    }

    /// Shortens the displacement of the groups of which more is required than they have until that
    /// is `margin` all together instead of `new` (J): the energy required goes with the
    /// displacement. If all of them have enough, for none is told from the others, all
    /// displacements become shorter.
    pub(super) fn shorten(&self, displacement: &mut [f64], margin: f64, new: f64) {
        let poor = |(required, kinetic): (&f64, &f64)| required > kinetic;
        let (mut required, mut kinetic) = (0.0, 0.0);
        for (w, t) in self.required.iter().zip(&self.kinetic).filter(|g| poor(*g)) {
            required += w;
            kinetic += t;
        }
        let factor = if required > 0.0 {
            (margin + kinetic) / required
        } else {
            margin / new
        };
        for (dx, block) in displacement.iter_mut().zip(&self.block) {
            let group = self.group[*block as usize] as usize;
            if required == 0.0 || poor((&self.required[group], &self.kinetic[group])) {
                *dx *= factor.clamp(0.0, 1.0);
            }
        }
    }

    /// Takes the apportioned energy out of the kinetic energy of the groups, each as far as it has
    /// any; their free velocities become smaller alike, so that hard rows and closed contacts hold
    /// as before: `v <- v sqrt(1 - w/T)` for a group of which `w` is required and that has
    /// `T = v^T M v / 2`.
    pub(super) fn apply(
        &mut self,
        system: &KktSystem,
        model: &Model,
        evaluation: &mut Evaluation,
        state: &mut State,
    ) -> Result<(), Error> {
        let mut any = false;
        for (required, kinetic) in self.required.iter_mut().zip(&self.kinetic) {
            let paid = required.min(*kinetic);
            any |= paid > 0.0;
            // From here on the factor of the velocities.
            *required = if paid > 0.0 {
                (1.0 - paid / kinetic).sqrt()
            } else {
                1.0
            };
        }
        if !any {
            return Ok(());
        }
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let velocities = &mut state.velocities[node.velocity_range()];
            for (k, v) in velocities.iter_mut().enumerate() {
                if !system.fixed[first + k] {
                    *v *= self.required[self.group[self.block[first + k] as usize] as usize];
                }
            }
        }
        evaluation.propagate(model, state)?;
        Ok(())
    }
}
