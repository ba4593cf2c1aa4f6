//! Residual of the equations of an implicit step at an iterate.

use super::{ForcesAlong, Iteration, chord};
use crate::Error;
use crate::contact::step;
use crate::system::gather;
use pliant_model::{ComponentId, Level, RowGroup, RowLaw};

/// A side of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    End,
}

impl Iteration<'_> {
    /// Records the equations of the start of a step of length `h`; the state must be evaluated
    /// there. With weight 1 there is nothing to record but the velocities of impacts.
    pub(crate) fn record_start(&mut self, h: f64, weight: f64) {
        self.clear(h);
        if !self.scheme.weighs_the_end_alone() {
            self.record_matrices(weight);
        }
        self.find_start_deficits();
    }

    /// Clears the vectors of the equations of a step of length `h` (s).
    pub(super) fn clear(&mut self, h: f64) {
        let (n, m) = (self.system.model.dof_count(), self.system.model.row_count());
        let all = self.system.model.velocity_count();
        let s = &mut *self.work;
        s.equations.elapsed = h;
        for (list, size) in [
            (&mut s.equations.force, n),
            (&mut s.residual.primal, n),
            (&mut s.equations.deficit, m),
            (&mut s.residual.deficit, m),
            (&mut s.residual.row_velocity, m),
        ] {
            list.clear();
            list.resize(size, 0.0);
        }
        // All of them that are read are written before: of nodes without mass they take no memory.
        for list in [&mut s.nodal.acceleration, &mut s.nodal.force] {
            if list.len() != all {
                *list = vec![0.0; all];
            }
        }
    }

    /// Records mass, Jacobian and forces of the start.
    fn record_matrices(&mut self, weight: f64) {
        self.system.assembler.fill_kinematics(
            &self.system.model,
            &mut self.system.evaluation,
            self.scheme,
            &self.end.state,
        );
        let system = self.system.assembler.system();
        for (kept, matrix) in [
            (&mut self.work.equations.mass, &system.w),
            (&mut self.work.equations.jacobian, &system.j),
        ] {
            match kept {
                Some(kept) if kept.values().len() == matrix.values().len() => {
                    kept.values_mut().copy_from_slice(matrix.values());
                }
                _ => *kept = Some(matrix.clone()),
            }
        }
        self.system.find_law_forces(&self.end.state, |m| m.start);
        self.add_forces_without_inertia(1.0 - weight);
        gather(
            &self.system.model,
            &self.work.nodal.force,
            &mut self.work.equations.force,
        );
    }

    /// Finds the share of the start in the deficits of all rows.
    pub(super) fn find_start_deficits(&mut self) {
        for index in 0..self.system.model.row_groups().len() {
            let group = self.system.model.row_groups()[index];
            self.start_deficit(&group);
        }
    }

    /// Writes `weight` times the forces of the present state, inertial ones that need no
    /// acceleration included, to the scratch of forces, and carries them to the independent nodes.
    fn add_forces_without_inertia(&mut self, weight: f64) {
        let force = &mut self.work.nodal.force;
        force.copy_from_slice(self.system.evaluation.force());
        for (f, i) in force.iter_mut().zip(self.system.evaluation.inertial_force()) {
            *f += i;
        }
        for attachment in self.system.model.masses() {
            let node = self.system.model.node(attachment.node);
            if node.first_dof().is_some() && node.space == pliant_model::Space::Rigid3 {
                let range = node.velocity_range();
                attachment
                    .component
                    .add_gyroscopic(&self.end.state.velocities[range.clone()], &mut force[range]);
            }
        }
        force.iter_mut().for_each(|f| *f *= weight);
        self.system.evaluation.pull_back(&self.system.model, force);
    }

    /// The share `1 - w` of the start of the step in the deficits of one group of rows.
    fn start_deficit(&mut self, group: &RowGroup) {
        let missing = 1.0 - self.scheme.alpha_of(group.component);
        let range = self.system.model.node(group.node).velocity_range();
        let u = &self.end.state.velocities[range.clone()];
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let motion = self.system.row_motion.get(row).copied().unwrap_or_default();
            self.work.equations.deficit[row] = match group.component {
                ComponentId::Constraint(i) => match self.system.model.constraints()[i].component.level {
                    Level::Restitution { coefficient } => {
                        coefficient * u[k] - (1.0 + coefficient) * motion.end.1
                    }
                    _ => 0.0,
                },
                ComponentId::ForceField(i) => {
                    if missing == 0.0 || self.system.evaluation.is_hard(group, k) {
                        0.0
                    } else if self.system.model.row_law(group) == RowLaw::Viscous {
                        missing * (u[k] - motion.start.1)
                    } else if self.system.model.force_fields()[i].component.law.is_linear() {
                        let phi = self.system.evaluation.deformation(i)[k];
                        let d = self.system.model.relaxation_time(i, k);
                        let damping = self.damped_deformation(group, i, k, |m| m.start.1);
                        missing * (phi - motion.start.0 + d * (u[k] - motion.start.1) + damping)
                    } else {
                        // The compliance of the end turns this force into a deformation.
                        missing * self.system.rows.law_force[row]
                    }
                }
                ComponentId::Mass(_) => 0.0,
            };
        }
    }

    /// `C D` times the rate of deformation, coordinate `k` of a group of rows.
    fn damped_deformation(
        &self,
        group: &RowGroup,
        i: usize,
        k: usize,
        rate: impl Fn(&pliant_kkt::RowMotion) -> f64,
    ) -> f64 {
        let Some(damping) = self.system.evaluation.row_damping(i) else {
            return 0.0;
        };
        let (g, first) = self.system.evaluation.group_of(i, group.size, k);
        let n = damping.width(g);
        let (c, d) = (self.system.evaluation.compliance(i).block(g), damping.block(g));
        let u = &self.end.state.velocities[self.system.model.node(group.node).velocity_range()];
        let relative = |l: usize| {
            let motion = self.system.row_motion.get(group.first_row + first + l);
            u[first + l] - motion.map_or(0.0, &rate)
        };
        let of = |l: usize| (0..n).map(|p| d[l * n + p] * relative(p)).sum::<f64>();
        (0..n).map(|l| c[(k - first) * n + l] * of(l)).sum()
    }

    /// The residual at the iterate, whose state must be in place: impulses, and deformations of the
    /// rows.
    pub(crate) fn find_residual(&mut self) -> Result<(), Error> {
        self.find_residual_without_contacts()?;
        if let Some(c) = step::listed(self.system) {
            let s = &mut *self.work;
            c.add_impulses(&s.iterate.contacts, -1.0, &mut s.residual.primal);
        }
        Ok(())
    }

    /// The residual of [`find_residual`](Self::find_residual) with the impulses of contacts missing
    /// in it.
    pub(super) fn find_residual_without_contacts(&mut self) -> Result<(), Error> {
        if self.origin.forces == ForcesAlong::Chord {
            return chord::find_residual(self);
        }
        self.system
            .evaluate_forces(self.end, self.work.equations.elapsed)?;
        self.find_deficits();
        self.find_forces(self.scheme.alpha, Side::End);
        if !self.scheme.weighs_the_end_alone() {
            self.add_start();
        }
        self.turn_into_impulses();
        Ok(())
    }

    /// Makes missing impulses of the forces that are left over.
    pub(super) fn turn_into_impulses(&mut self) {
        let gain = self.work.relation.acceleration_gain;
        self.work.residual.primal.iter_mut().for_each(|p| *p /= -gain);
    }

    /// Writes `weight (f - M a)` of the evaluated state, with the shares of its side in the rows,
    /// to the independent coordinates of the residual, as forces.
    pub(super) fn find_forces(&mut self, weight: f64, side: Side) {
        let gain = self.work.relation.acceleration_gain;
        let s = &mut *self.work;
        // M a, on the nodes of the masses.
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, a) in s.nodal.acceleration[node.velocity_range()].iter_mut().enumerate() {
                *a = s.relation.acceleration[first + k] + gain * s.iterate.velocity[first + k];
            }
        }
        self.system
            .evaluation
            .push_forward_to_masses(&self.system.model, &mut s.nodal.acceleration);
        s.nodal.force.copy_from_slice(self.system.evaluation.force());
        for (f, i) in s
            .nodal
            .force
            .iter_mut()
            .zip(self.system.evaluation.inertial_force())
        {
            *f += i;
        }
        for attachment in self.system.model.masses() {
            let node = self.system.model.node(attachment.node);
            let (range, mass) = (node.velocity_range(), &attachment.component);
            if node.first_dof().is_some() && node.space == pliant_model::Space::Rigid3 {
                mass.add_gyroscopic(
                    &self.end.state.velocities[range.clone()],
                    &mut s.nodal.force[range.clone()],
                );
            }
            mass.add_product(
                node.space,
                -1.0,
                &s.nodal.acceleration[range.clone()],
                &mut s.nodal.force[range],
            );
        }
        s.nodal.force.iter_mut().for_each(|f| *f *= weight);
        for group in self.system.model.row_groups() {
            let end = self.scheme.alpha_of(group.component);
            let share = gain * if side == Side::End { end } else { 1.0 - end };
            let first = self.system.model.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                s.nodal.force[first + k] += share * s.iterate.mu[group.first_row + k];
            }
        }
        self.system
            .evaluation
            .pull_back(&self.system.model, &mut s.nodal.force);
        gather(&self.system.model, &s.nodal.force, &mut s.residual.primal);
    }

    /// Adds the part of the start of the step to the forces: `(1 - w) (f - M a)` and the rows'
    /// share of their Jacobian there.
    fn add_start(&mut self) {
        let (gain, weight) = (self.work.relation.acceleration_gain, self.scheme.alpha);
        let s = &mut *self.work;
        let (Some(mass), Some(jacobian)) = (&s.equations.mass, &s.equations.jacobian) else {
            return;
        };
        for (p, f) in s.residual.primal.iter_mut().zip(&s.equations.force) {
            *p += f;
        }
        s.rate.clear();
        let relation = s.relation.acceleration.iter().zip(&s.iterate.velocity);
        s.rate.extend(relation.map(|(a_0, v)| a_0 + gain * v));
        mass.symmetric_add_product(weight - 1.0, &s.rate, &mut s.residual.primal);
        for group in self.system.model.row_groups() {
            let share = (1.0 - self.scheme.alpha_of(group.component)) * gain;
            for row in group.first_row..group.first_row + group.size * group.count {
                s.residual.row_velocity[row] = share * s.iterate.mu[row];
            }
        }
        jacobian.add_transpose_product(1.0, &s.residual.row_velocity, &mut s.residual.primal);
    }

    /// Finds the residual of every row, as a deformation or a velocity, and as a velocity.
    pub(super) fn find_deficits(&mut self) {
        for index in 0..self.system.model.row_groups().len() {
            let group = self.system.model.row_groups()[index];
            self.group_deficits(&group);
        }
        let reach = self.work.relation.displacement_gain;
        let deficits = &mut self.work.residual.deficit;
        for lowered in self.system.rows.lowered.iter() {
            let deficit = &mut deficits[lowered.row()];
            *deficit = lowered.lower_deficit(*deficit, reach, &self.end.state.velocities);
        }
        self.system.sleep.settle_rows(deficits);
    }

    fn group_deficits(&mut self, group: &RowGroup) {
        let weight = self.scheme.alpha_of(group.component);
        let node = self.system.model.node(group.node);
        let range = node.velocity_range();
        let rows = group.first_row..group.first_row + group.size * group.count;
        if let (ComponentId::ForceField(i), Some(motion)) =
            (group.component, self.system.row_motion.get(rows))
            && !self.system.model.force_fields()[i].component.law.is_linear()
        {
            let at_end = motion.iter().map(|m| m.end);
            self.system
                .evaluation
                .shift_compliance(&self.system.model, &self.end.state, i, at_end);
        }
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let (target, rate) = self.system.row_motion.get(row).map_or((0.0, 0.0), |m| m.end);
            let gap = self.end.state.positions[node.first_position + k] - target;
            let u = self.end.state.velocities[range.start + k];
            self.work.residual.deficit[row] = match group.component {
                ComponentId::Constraint(i) => match self.system.model.constraints()[i].component.level {
                    Level::Position | Level::CurvedPosition => gap,
                    Level::Velocity { .. } => u - rate,
                    Level::Restitution { .. } => u + self.work.equations.deficit[row],
                    Level::Baumgarte { rate: decay } => u - rate + decay * gap,
                },
                ComponentId::ForceField(i) => {
                    let d = self.system.model.relaxation_time(i, k);
                    let hard = self.system.evaluation.is_hard(group, k);
                    match (self.system.model.row_law(group) == RowLaw::Viscous, hard) {
                        (true, true) => u - rate,
                        (true, false) => {
                            self.strain(group, i, k) + weight * (u - rate) + self.work.equations.deficit[row]
                        }
                        (false, true) => gap + d * (u - rate),
                        (false, false) => {
                            let phi = self.system.evaluation.deformation(i)[k] - target;
                            let damping = self.damped_deformation(group, i, k, |m| m.end.1);
                            self.strain(group, i, k) + weight * (phi + d * (u - rate) + damping)
                        }
                    }
                }
                ComponentId::Mass(_) => 0.0,
            };
        }
    }

    /// `C lambda`, coordinate `k` of a group of compliant rows, with what the start of the step
    /// adds to the deformation.
    fn strain(&self, group: &RowGroup, i: usize, k: usize) -> f64 {
        let gain = self.work.relation.acceleration_gain;
        let (g, first) = self.system.evaluation.group_of(i, group.size, k);
        let n = self.system.evaluation.compliance(i).width(g);
        let c = &self.system.evaluation.compliance(i).block(g)[(k - first) * n..][..n];
        let entry = |l: usize| group.first_row + first + l;
        let linear = self.system.model.force_fields()[i].component.law.is_linear();
        let viscous = self.system.model.row_law(group) == RowLaw::Viscous;
        let mut out = if linear && !viscous {
            self.work.equations.deficit[entry(k - first)]
        } else {
            0.0
        };
        for (l, c) in c.iter().enumerate() {
            let law = if linear || viscous {
                0.0
            } else {
                self.work.equations.deficit[entry(l)]
            };
            out += c * (gain * self.work.iterate.mu[entry(l)] - law);
        }
        out
    }
}
