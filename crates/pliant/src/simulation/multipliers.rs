//! The multipliers that the geometric stiffness of rows is made of.

use super::Simulation;
use pliant_kkt::{GeometricStiffness, Geometry, RowMotion, StepInput};
use pliant_model::ComponentId;

/// A row whose compliance term is at least this share of its Delassus diagonal is soft: its force is that of its law, so that its
/// geometric stiffness is that of the same spring treated as a stiffness. Below, the multiplier of the last step is the better
/// force: the deformation at the end of a step holds the curvature `(h v)^2/(2 l)` of the motion, which is not elastic, and
/// divided by a small compliance it would freeze the motion.
const SOFT: f64 = 0.1;

/// A change of a multiplier by this share of its group's largest one asks for another pass.
const REFRESH: f64 = 0.5;

impl Simulation {
    /// Which rows of the filled system are soft.
    pub(super) fn find_soft_rows(&mut self) {
        let system = self.system.assembler.system();
        for (i, soft) in self.system.rows.soft.iter_mut().enumerate() {
            *soft = !self.system.rows.undetermined[i] && system.r_diagonal(i) >= SOFT * system.row_scale(i);
        }
    }

    /// Which rows have no force by their law: compliances that are hard in some direction of several coordinates. Their
    /// multipliers are all that is known.
    pub(super) fn find_lawless_rows(&mut self) {
        self.system.rows.undetermined.clear();
        self.system
            .rows
            .undetermined
            .resize(self.system.model.row_count(), false);
        for group in self.system.model.row_groups() {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            let node = self.system.model.node(group.node);
            let range = node.velocity_range();
            let force = &mut self.system.rows.law_force[group.first_row..][..range.len()];
            force.fill(0.0);
            let x = &self.motion.state.positions[node.position_range()];
            let law = &self.system.model.force_fields()[i].component.law;
            law.add_force(node.space, x, &self.motion.state.velocities[range], force);
            for (k, force) in force.iter().enumerate() {
                self.system.rows.undetermined[group.first_row + k] = !force.is_finite();
            }
        }
    }

    /// Whether a multiplier of a hard or stiff row came out so different from the one that its geometric stiffness was made
    /// of that the step should be solved again with the new one; if so, takes it.
    pub(super) fn refresh_multipliers(&mut self, h: f64) -> bool {
        if self.scheme.geometry.multipliers == GeometricStiffness::None {
            return false;
        }
        let per_force = self.per_force(h);
        let new = |row: usize| self.system.solution.mu[row] / per_force;
        // Multipliers that are rounding of the other impulses have no geometric stiffness worth the name.
        let impulses = self
            .system
            .assembler
            .system()
            .c
            .iter()
            .fold(0.0f64, |a, c| a.max(c.abs()));
        let noise = 1e-9 * impulses / per_force;
        let mut changed = false;
        for group in self.system.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            let stiff = || rows.clone().filter(|r| !self.system.rows.soft[*r]);
            let size = stiff().fold(0.0f64, |a, r| a.max(new(r).abs()));
            changed |= stiff()
                .any(|r| (new(r) - self.system.scratch.lag_for_step[r]).abs() > REFRESH * size + noise);
        }
        if changed {
            for row in 0..self.system.scratch.lag_for_step.len() {
                if !self.system.rows.soft[row] {
                    self.system.scratch.lag_for_step[row] = self.system.solution.mu[row] / per_force;
                }
            }
        }
        changed
    }

    /// Before the first step from a state or a plan: the law for soft rows; the others keep what is known of them, which is zero in a
    /// new state, and learn theirs in the first solve.
    pub(super) fn first_multipliers(&mut self) {
        let geometry = std::mem::replace(&mut self.scheme.geometry, Geometry::NONE);
        let input = StepInput {
            state: &self.motion.state,
            multipliers: &self.motion.lagged,
            impulse: &self.system.scratch.impulse,
            fixed_change: &self.system.scratch.fixed_change,
            motion: &self.system.row_motion,
        };
        self.system.assembler.fill(
            &self.system.model,
            &mut self.system.evaluation,
            &self.scheme,
            input,
        );
        self.scheme.geometry = geometry;
        self.find_soft_rows();
        self.law_multipliers();
    }

    /// After a step: the law for soft rows, the solution for the others.
    pub(super) fn lag_multipliers(&mut self) {
        self.motion.lagged.copy_from_slice(&self.motion.multipliers);
        self.law_multipliers();
    }

    /// Overwrites the lagged multipliers of soft rows by their law.
    fn law_multipliers(&mut self) {
        self.find_law_forces(|m| m.end);
        for group in self.system.model.row_groups() {
            if !matches!(group.component, ComponentId::ForceField(_)) {
                continue;
            }
            let (lower, upper) = self
                .system
                .model
                .bounds(group)
                .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if self.system.rows.soft[row] && !self.system.evaluation.is_hard(group, k) {
                    self.motion.lagged[row] = self.system.rows.law_force[row].max(lower).min(upper);
                }
            }
        }
    }

    /// The force of every compliance by its law at the present state, damping included, by row; driven ones against the motion that
    /// `when` picks (value and rate). Not finite where it is hard.
    pub(super) fn find_law_forces(&mut self, when: impl Fn(&RowMotion) -> (f64, f64)) {
        for group in self.system.model.row_groups() {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            let node = self.system.model.node(group.node);
            let range = node.velocity_range();
            let force = &mut self.system.rows.law_force[group.first_row..][..range.len()];
            force.fill(0.0);
            let law = &self.system.model.force_fields()[i].component.law;
            let mut x = &self.motion.state.positions[node.position_range()];
            let mut v = &self.motion.state.velocities[range];
            if self.system.model.motion(group).is_some() {
                let (x_shifted, rest) = self.system.scratch.shifted.split_at_mut(x.len());
                let v_shifted = &mut rest[..v.len()];
                for k in 0..x.len() {
                    let target = when(&self.system.row_motion[group.first_row + k]);
                    (x_shifted[k], v_shifted[k]) = (x[k] - target.0, v[k] - target.1);
                }
                (x, v) = (x_shifted, v_shifted);
            }
            law.add_force(node.space, x, v, force);
            self.system
                .evaluation
                .add_proportional_damping(&self.system.model, i, x, v, force);
        }
    }
}
