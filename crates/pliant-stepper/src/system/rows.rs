//! The multipliers that the geometric stiffness of rows is made of.

use super::System;
use crate::motion::Motion;
use crate::observe::room;
use pliant_kkt::{GeometricStiffness, GeometricTerms, RowMotion, Scheme, StepInput};
use pliant_model::{At, ComponentId, RowGroup, State};

/// A row whose compliance term is at least this share of its Delassus diagonal is soft: its force
/// is that of its law, so that its geometric stiffness is that of the same spring treated as a
/// stiffness. Below, the multiplier of the last step is the better force: the deformation at the
/// end of a step holds the curvature `(h v)^2/(2 l)` of the motion, which is not elastic, and
/// divided by a small compliance it would freeze the motion.
const SOFT: f64 = 0.1;

/// A change of a multiplier by this share of its group's largest one asks for another pass.
const REFRESH: f64 = 0.5;

impl System {
    /// Which rows of the filled system are soft.
    pub(crate) fn find_soft_rows(&mut self) {
        let system = self.assembler.system();
        for (i, soft) in self.rows.soft.iter_mut().enumerate() {
            *soft = !self.rows.undetermined[i] && system.is_soft_row(i, SOFT);
        }
    }

    /// Which rows have no force by their law: compliances that are hard in some direction of
    /// several coordinates. Their multipliers are all that is known.
    pub fn find_undetermined_rows(&mut self, state: &State) {
        self.rows.undetermined.clear();
        self.rows.undetermined.resize(self.model.row_count(), false);
        for group in self.model.row_groups() {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            let node = self.model.node(group.node);
            let range = node.velocity_range();
            let force = &mut self.rows.law_force[group.first_row..][..range.len()];
            force.fill(0.0);
            let law = &self.model.force_fields()[i].component.law;
            law.add_force(self.model.at(i, state), force);
            for (k, force) in force.iter().enumerate() {
                self.rows.undetermined[group.first_row + k] = !force.is_finite();
            }
        }
    }

    /// Compares the solution with the `multipliers` that its geometric stiffness was made of:
    /// whether one of a hard or stiff row came out so different that the step should be solved
    /// again with the new ones. If so, writes these.
    pub(crate) fn refresh_multipliers(&self, scheme: &Scheme, multipliers: &mut [f64]) -> bool {
        if scheme.geometry.multipliers == GeometricStiffness::None {
            return false;
        }
        let new = |row: usize| self.solution.mu[row] / scheme.h;
        // Multipliers that are rounding of the other impulses have no geometric stiffness worth the
        // name.
        let impulses = self
            .assembler
            .system()
            .c
            .iter()
            .fold(0.0f64, |a, c| a.max(c.abs()));
        let noise = 1e-9 * impulses / scheme.h;
        let mut changed = false;
        for group in self.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            let stiff = || rows.clone().filter(|r| !self.rows.soft[*r]);
            let size = stiff().fold(0.0f64, |a, r| a.max(new(r).abs()));
            changed |= stiff().any(|r| (new(r) - multipliers[r]).abs() > REFRESH * size + noise);
        }
        if changed {
            for (row, lambda) in multipliers.iter_mut().enumerate() {
                if !self.rows.soft[row] {
                    *lambda = new(row);
                }
            }
        }
        changed
    }

    /// Before the first step from a state or a plan: the law for soft rows; the others keep what is
    /// known of them, which is zero in a new state, and learn theirs in the first solve.
    pub(crate) fn first_multipliers(&mut self, scheme: &Scheme, motion: &mut Motion) {
        let scheme = scheme.with_geometry(GeometricTerms::NONE);
        let input = StepInput {
            state: &motion.state,
            multipliers: &motion.lagged,
            impulse: &self.scratch.impulse,
            fixed_change: &self.scratch.fixed_change,
            motion: &self.row_motion,
        };
        self.assembler
            .fill(&self.model, &mut self.evaluation, &scheme, input);
        self.find_soft_rows();
        self.law_multipliers(motion);
    }

    /// After a step: the law for soft rows, the solution for the others. In the short step of a located
    /// impact these are impulses over its length, and no forces of the next one: those of before stay.
    pub fn lag_multipliers(&mut self, motion: &mut Motion) {
        if !self.guards.in_impact {
            motion.lagged.copy_from_slice(&motion.multipliers);
        }
        self.law_multipliers(motion);
    }

    /// Overwrites the lagged multipliers of soft rows by their law.
    fn law_multipliers(&mut self, motion: &mut Motion) {
        self.find_law_forces(&motion.state, |m| m.end);
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
                if self.rows.soft[row] && !self.evaluation.is_hard(group, k) {
                    motion.lagged[row] = self.rows.law_force[row].max(lower).min(upper);
                }
            }
        }
    }

    /// The force of every compliance by its law at the present state, damping included, by row;
    /// driven ones against the motion that `when` picks (value and rate). Not finite where it is
    /// hard.
    pub(crate) fn find_law_forces(&mut self, state: &State, when: impl Fn(&RowMotion) -> (f64, f64)) {
        for group in self.model.row_groups() {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            let node = self.model.node(group.node);
            let range = node.velocity_range();
            let force = &mut self.rows.law_force[group.first_row..][..range.len()];
            force.fill(0.0);
            let law = &self.model.force_fields()[i].component.law;
            let mut x = &state.positions[node.position_range()];
            let mut v = &state.velocities[range];
            if self.model.motion(group).is_some() {
                let shifted = room(&mut self.scratch.shifted, x.len() + v.len());
                let (x_shifted, v_shifted) = shifted.split_at_mut(x.len());
                for k in 0..x.len() {
                    let target = when(&self.row_motion[group.first_row + k]);
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

    /// Whether a row is hard: a constraint, or a compliance of zero. The others have a force by
    /// their law.
    pub(crate) fn row_is_hard(&self, group: &RowGroup, k: usize) -> bool {
        match group.component {
            ComponentId::ForceField(_) => self.evaluation.is_hard(group, k),
            _ => true,
        }
    }

    /// Calls the rows soft whose force is that of their law, as methods do that give every row the
    /// force of its law.
    pub(crate) fn take_rows_by_law(&mut self) {
        let rows = &mut self.rows;
        for (soft, undetermined) in rows.soft.iter_mut().zip(&rows.undetermined) {
            *soft = !undetermined;
        }
    }

    /// Takes the rows whose force is that of their law out of the system.
    pub(crate) fn deactivate_soft_rows(&mut self) {
        for index in 0..self.model.row_groups().len() {
            let group = self.model.row_groups()[index];
            for k in 0..group.size * group.count {
                if !self.row_is_hard(&group, k) {
                    self.assembler.deactivate_row(group.first_row + k);
                }
            }
        }
    }

    /// Makes room for the prescribed motion of the rows, if any is driven, and takes that of a time
    /// (s).
    pub fn plan_row_motion(&mut self, time: f64) {
        let groups = self.model.row_groups();
        let driven = groups.iter().any(|g| self.model.motion(g).is_some());
        let rows = if driven { self.model.row_count() } else { 0 };
        self.row_motion.clear();
        self.row_motion.resize(rows, RowMotion::default());
        self.set_row_motion(time, time);
    }

    /// Takes the motion that the rows are held at between two times (s).
    pub fn set_row_motion(&mut self, start: f64, end: f64) {
        if self.row_motion.is_empty() {
            return;
        }
        for group in self.model.row_groups() {
            let Some(motion) = self.model.motion(group) else {
                continue;
            };
            for k in 0..group.size * group.count {
                self.row_motion[group.first_row + k] = RowMotion {
                    start: motion.at(k, start),
                    end: motion.at(k, end),
                };
            }
        }
    }
}
