//! The multipliers that the geometric stiffness of rows is made of.

use super::Simulation;
use pliant_kkt::{GeometricStiffness, GeometricTerms, RowMotion, StepInput};
use pliant_model::{At, ComponentId};

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
        let system = self.assembler.system();
        for (i, soft) in self.soft.iter_mut().enumerate() {
            *soft = !self.lawless[i] && system.r_diagonal(i) >= SOFT * system.row_scale(i);
        }
    }

    /// Which rows have no force by their law: compliances that are hard in some direction of several coordinates. Their
    /// multipliers are all that is known.
    pub(super) fn find_lawless_rows(&mut self) {
        self.lawless.clear();
        self.lawless.resize(self.model.row_count(), false);
        for group in self.model.row_groups() {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            let node = self.model.node(group.node);
            let range = node.velocity_range();
            let force = &mut self.law_force[group.first_row..][..range.len()];
            force.fill(0.0);
            let law = &self.model.force_fields()[i].component.law;
            law.add_force(self.model.at(i, &self.state), force);
            for (k, force) in force.iter().enumerate() {
                self.lawless[group.first_row + k] = !force.is_finite();
            }
        }
    }

    /// Whether a multiplier of a hard or stiff row came out so different from the one that its geometric stiffness was made
    /// of that the step should be solved again with the new one; if so, takes it.
    pub(super) fn refresh_multipliers(&mut self, h: f64) -> bool {
        if self.scheme.geometry.multipliers == GeometricStiffness::None {
            return false;
        }
        let new = |row: usize| self.solution.mu[row] / h;
        // Multipliers that are rounding of the other impulses have no geometric stiffness worth the name.
        let impulses = self
            .assembler
            .system()
            .c
            .iter()
            .fold(0.0f64, |a, c| a.max(c.abs()));
        let noise = 1e-9 * impulses / h;
        let mut changed = false;
        for group in self.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            let stiff = || rows.clone().filter(|r| !self.soft[*r]);
            let size = stiff().fold(0.0f64, |a, r| a.max(new(r).abs()));
            changed |= stiff().any(|r| (new(r) - self.lag_for_step[r]).abs() > REFRESH * size + noise);
        }
        if changed {
            for row in 0..self.lag_for_step.len() {
                if !self.soft[row] {
                    self.lag_for_step[row] = self.solution.mu[row] / h;
                }
            }
        }
        changed
    }

    /// Before the first step from a state or a plan: the law for soft rows; the others keep what is known of them, which is zero in a
    /// new state, and learn theirs in the first solve.
    pub(super) fn first_multipliers(&mut self) {
        let geometry = std::mem::replace(&mut self.scheme.geometry, GeometricTerms::NONE);
        let input = StepInput {
            state: &self.state,
            multipliers: &self.lagged,
            impulse: &self.impulse,
            fixed_change: &self.fixed_change,
            motion: &self.motion,
        };
        self.assembler
            .fill(&self.model, &mut self.evaluation, &self.scheme, input);
        self.scheme.geometry = geometry;
        self.find_soft_rows();
        self.law_multipliers();
    }

    /// After a step: the law for soft rows, the solution for the others.
    pub(super) fn lag_multipliers(&mut self) {
        self.lagged.copy_from_slice(&self.multipliers);
        self.law_multipliers();
    }

    /// Overwrites the lagged multipliers of soft rows by their law.
    fn law_multipliers(&mut self) {
        self.find_law_forces(|m| m.end);
        for group in self.model.row_groups() {
            if !matches!(group.component, ComponentId::ForceField(_)) {
                continue;
            }
            let (lower, upper) = self
                .model
                .bounds(group)
                .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if self.soft[row] && !self.evaluation.is_hard(group, k) {
                    self.lagged[row] = self.law_force[row].max(lower).min(upper);
                }
            }
        }
    }

    /// The force of every compliance by its law at the present state, damping included, by row; driven ones against the motion that
    /// `when` picks (value and rate). Not finite where it is hard.
    pub(super) fn find_law_forces(&mut self, when: impl Fn(&RowMotion) -> (f64, f64)) {
        for group in self.model.row_groups() {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            let node = self.model.node(group.node);
            let range = node.velocity_range();
            let force = &mut self.law_force[group.first_row..][..range.len()];
            force.fill(0.0);
            let law = &self.model.force_fields()[i].component.law;
            let mut x = &self.state.positions[node.position_range()];
            let mut v = &self.state.velocities[range];
            if self.model.motion(group).is_some() {
                let (x_shifted, rest) = self.shifted.split_at_mut(x.len());
                let v_shifted = &mut rest[..v.len()];
                for k in 0..x.len() {
                    let target = when(&self.motion[group.first_row + k]);
                    (x_shifted[k], v_shifted[k]) = (x[k] - target.0, v[k] - target.1);
                }
                (x, v) = (x_shifted, v_shifted);
            }
            let inputs = self.model.inputs(i);
            law.add_force(At::new(node.space, x).moving(v).with_inputs(inputs), force);
            self.evaluation
                .add_proportional_damping(&self.model, i, x, v, force);
        }
    }
}
