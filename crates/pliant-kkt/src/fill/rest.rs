//! The system of rest: what Newton's method on the static equations solves.

use super::response::Terms;
use super::{Assembler, Step, fill_jacobian_rows};
use crate::{GeometricTerms, Scheme};
use pliant_model::{ComponentId, Evaluation, Model, Problem, RowLaw, State};

impl Assembler {
    /// Fills `W = K - G`, `J` and `R = C`, without mass and damping; right-hand sides are zero and
    /// no row is bounded. With the forces `f` and the multipliers `lambda` that `G` is made of, a
    /// step of Newton's method on `f + J^T lambda = 0`, `phi + C lambda = 0` solves `[W -J^T; -J
    /// -R] [dx; d lambda] = [f + J^T lambda; phi + C lambda]`. Rows of dashpots have no force at
    /// rest: they are taken out as [`deactivate_row`](Self::deactivate_row) does. `evaluation` must
    /// be up to date with `state`. Allocates nothing.
    pub fn fill_rest(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        state: &State,
        multipliers: &[f64],
    ) {
        // A step of one second without inertia: displacements are velocities, forces impulses.
        let scheme = Scheme {
            geometry: GeometricTerms::default(),
            ..Scheme::implicit_euler(1.0)
        };
        let step = Step {
            problem,
            scheme: &scheme,
            state,
        };
        self.gather_loads(step, evaluation, multipliers);
        self.fill_response(step, evaluation, Terms::Stiffness);
        self.system.r.clear();
        for group in problem.row_groups() {
            fill_jacobian_rows(&self.plan.jacobians, group, &mut self.system.j);
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            for k in 0..group.size * group.count {
                if problem.row_law(group) == RowLaw::Viscous {
                    self.deactivate_row(group.first_row + k);
                    continue;
                }
                let (g, first) = evaluation.group_of(i, group.size, k);
                let width = evaluation.compliance(i).width(g);
                let c = &evaluation.compliance(i).block(g)[(k - first) * width..][..=k - first];
                let slots = self.system.r.pattern().row_slots(group.first_row + k);
                self.system.r.values_mut()[slots].copy_from_slice(c);
            }
        }
        self.system.c.fill(0.0);
        self.system.b.fill(0.0);
        self.system.b_rounding.fill(0.0);
        self.system.bounds.fill((f64::NEG_INFINITY, f64::INFINITY));
    }

    /// Fills `W = K` alone, without the geometric stiffness of mappings; `J` and `R` stay as they
    /// are. Jacobians are those that the evaluation has, stiffnesses those that it was last given a
    /// state for: this may be another one. Allocates nothing.
    pub fn fill_material(&mut self, problem: &Problem, evaluation: &mut Evaluation, state: &State) {
        let scheme = Scheme {
            geometry: GeometricTerms::NONE,
            ..Scheme::implicit_euler(1.0)
        };
        let step = Step {
            problem,
            scheme: &scheme,
            state,
        };
        self.gather_loads(step, evaluation, &[]);
        self.fill_response(step, evaluation, Terms::Stiffness);
    }

    /// Fills `W = -G` alone, of the forces of the evaluation
    /// ([`force_mut`](Evaluation::force_mut)) and of multipliers; `J` and `R` stay as they are. It
    /// is linear in both. Allocates nothing.
    pub fn fill_geometry(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        state: &State,
        multipliers: &[f64],
    ) {
        let scheme = Scheme {
            geometry: GeometricTerms::default(),
            ..Scheme::implicit_euler(1.0)
        };
        let step = Step {
            problem,
            scheme: &scheme,
            state,
        };
        self.gather_loads(step, evaluation, multipliers);
        self.fill_response(step, evaluation, Terms::Geometry);
    }

    /// Composes the Jacobians of the present state, with which [`project`](Self::project) makes
    /// transient rows; the system stays as it is.
    pub fn fill_jacobians(&mut self, model: &Model, evaluation: &Evaluation) {
        self.plan.jacobians.fill(model, evaluation);
    }

    /// Replaces the right-hand sides of the filled system.
    ///
    /// # Panics
    /// If there are not as many numbers as variables and rows.
    pub fn set_right_hand_sides(&mut self, c: &[f64], b: &[f64]) {
        self.system.c.copy_from_slice(c);
        self.system.b.copy_from_slice(b);
    }

    /// Sets the filled `W` to zero.
    pub fn clear_response(&mut self) {
        self.system.w.clear();
    }

    /// Adds to the diagonal of the filled `W`.
    pub fn add_to_diagonal(&mut self, values: impl Iterator<Item = f64>) {
        let w = &mut self.system.w;
        for (i, value) in values.enumerate().take(w.pattern().rows()) {
            // The diagonal is the last entry of its row.
            let slot = w.pattern().row_slots(i).end - 1;
            w.values_mut()[slot] += value;
        }
    }
}
