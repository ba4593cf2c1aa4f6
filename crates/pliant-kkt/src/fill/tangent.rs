//! Inputs of Newton's method on the equations of a step beside the matrices: masses and Jacobians
//! alone, and right-hand sides made of residuals.

use super::response::Terms;
use super::rows::{LawScratch, solve_in_place};
use super::{Assembler, Step, fill_jacobian_rows};
use crate::Scheme;
use pliant_model::{ComponentId, Evaluation, Level, Problem, RowGroup, RowLaw, State};

impl Assembler {
    /// Fills the mass matrix into `W` and the Jacobian of every row into `J`; all else is zero, and
    /// no row is bounded. `evaluation` must be up to date with `state`. Allocates nothing.
    pub fn fill_kinematics(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
    ) {
        let step = Step {
            problem,
            scheme,
            state,
        };
        self.fill_response(step, evaluation, Terms::Masses);
        self.system.r.clear();
        for group in problem.row_groups() {
            fill_jacobian_rows(&self.plan.jacobians, group, &mut self.system.j);
        }
        self.system.c.fill(0.0);
        self.system.b.fill(0.0);
        self.system.b_rounding.fill(0.0);
        self.system.bounds.fill((f64::NEG_INFINITY, f64::INFINITY));
    }

    /// Fills the system of a displacement by inertia and elastic forces, `W = M + w^2 K` (`W = M`
    /// without `stiffness`), `J` and for compliant rows `R = C/w^2`, where `w` (s) is the step of
    /// the scheme: a solution has the least `|dx|_M^2/(2 w^2)` beside the elastic energy. No
    /// damping, no row is bounded, right-hand sides are zero. `evaluation` must be up to date with
    /// `state`. Allocates nothing.
    pub fn fill_elastic(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        stiffness: bool,
    ) {
        let step = Step {
            problem,
            scheme,
            state,
        };
        self.magnitudes.measure(problem, state);
        self.gather_loads(step, evaluation, &[]);
        let terms = if stiffness { Terms::Elastic } else { Terms::Masses };
        self.fill_response(step, evaluation, terms);
        self.system.r.clear();
        let squared = scheme.h * scheme.h;
        for group in problem.row_groups() {
            fill_jacobian_rows(&self.plan.jacobians, group, &mut self.system.j);
            let rows = group.first_row..group.first_row + group.size * group.count;
            self.system.b_rounding[rows].fill(self.magnitudes.rounding(problem, group));
            let (ComponentId::ForceField(i), RowLaw::Elastic) = (group.component, problem.row_law(group))
            else {
                continue;
            };
            for k in 0..group.size * group.count {
                let (g, first) = evaluation.group_of(i, group.size, k);
                let width = evaluation.compliance(i).width(g);
                let c = &evaluation.compliance(i).block(g)[(k - first) * width..][..=k - first];
                let slots = self.system.r.pattern().row_slots(group.first_row + k);
                for (r, c) in self.system.r.values_mut()[slots].iter_mut().zip(c) {
                    *r = c / squared;
                }
            }
        }
        self.system.c.fill(0.0);
        self.system.b.fill(0.0);
        self.system.bounds.fill((f64::NEG_INFINITY, f64::INFINITY));
    }

    /// Lets redundant rows disagree by the size of their right-hand sides, which linearising leaves
    /// between them.
    pub fn allow_disagreement(&mut self) {
        for (rounding, b) in self.system.b_rounding.iter_mut().zip(&self.system.b) {
            *rounding += b.abs();
        }
    }

    /// Makes `W` of the filled system more definite ([`KktSystem::shift_diagonal`]).
    ///
    /// [`KktSystem::shift_diagonal`]: pliant_solvers::KktSystem::shift_diagonal
    pub fn shift_diagonal(&mut self, share: f64, sums: &mut Vec<f64>) {
        self.system.shift_diagonal(share, sums);
    }

    /// Takes one row out of the filled system: no Jacobian, `R_ii = 1`, `b_i = 0`, so that its
    /// multiplier is zero.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn deactivate_row(&mut self, row: usize) {
        let slots = self.system.j.pattern().row_slots(row);
        self.system.j.values_mut()[slots].fill(0.0);
        let slots = self.system.r.pattern().row_slots(row);
        let diagonal = slots.end - 1;
        self.system.r.values_mut()[slots].fill(0.0);
        self.system.r.values_mut()[diagonal] = 1.0;
        self.system.b[row] = 0.0;
    }

    /// Puts the forces into `c`, and moves what fixed coordinates do, `x = fixed` (zero for free
    /// ones), to the right-hand sides.
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn shift_right_hand_sides(&mut self, fixed: &[f64], force: &[f64]) {
        let system = &mut self.system;
        system.c.copy_from_slice(force);
        if fixed.iter().any(|x| *x != 0.0) {
            system.w.symmetric_add_product(-1.0, fixed, &mut system.c);
            system.j.add_product(1.0, fixed, &mut system.b);
        }
    }

    /// Replaces the right-hand sides of a filled system by those of Newton's method: its solution
    /// is then the change of velocity and the *whole* impulses, which of redundant rows are so the
    /// smallest.
    ///
    /// With `Y` of a row law `b = h Y^-1 deficit - R mu`, `c = -primal - J^T mu`. The scheme must
    /// be that of the fill, for changes of velocity.
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn set_residuals(
        &mut self,
        problem: &Problem,
        evaluation: &Evaluation,
        scheme: &Scheme,
        residuals: NewtonResiduals<'_>,
    ) {
        let NewtonResiduals {
            primal,
            deficit,
            mu,
            allow,
        } = residuals;
        let deficits = Deficits {
            problem,
            evaluation,
            scheme,
            deficit,
        };
        deficits.divide(&mut self.system.b, &mut self.law);
        for ((c, p), fixed) in self.system.c.iter_mut().zip(primal).zip(&self.system.fixed) {
            *c = if *fixed { 0.0 } else { -p };
        }
        if allow {
            // (The allowance would also keep bounded rows at their bounds.)
            let allowances = self.system.b_rounding.iter_mut().zip(&self.system.b);
            for ((rounding, b), (lower, upper)) in allowances.zip(&self.system.bounds) {
                if lower.is_infinite() && upper.is_infinite() {
                    *rounding += b.abs();
                }
            }
        }
        self.system.j.add_transpose_product(-1.0, mu, &mut self.system.c);
        self.system.r.symmetric_add_product(-1.0, mu, &mut self.system.b);
    }

    /// The deficit of each row as a velocity: the part of `b` that
    /// [`set_residuals`](Self::set_residuals) makes of the deficits. Into `out`.
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn velocities_of_deficits(
        &mut self,
        problem: &Problem,
        evaluation: &Evaluation,
        scheme: &Scheme,
        deficit: &[f64],
        out: &mut [f64],
    ) {
        let deficits = Deficits {
            problem,
            evaluation,
            scheme,
            deficit,
        };
        deficits.divide(out, &mut self.law);
    }
}

/// By how much an iterate of Newton's method misses its equations.
#[derive(Clone, Copy, Debug)]
pub struct NewtonResiduals<'a> {
    /// The residual of the equations of motion as an impulse (N s, N m s), by independent
    /// coordinate.
    pub primal: &'a [f64],
    /// Deficits of the rows: `C lambda + alpha (phi + ...) + ...` of theory/step.md of the book or its
    /// hard counterpart.
    pub deficit: &'a [f64],
    /// The impulses of the iterate, by row (N s, N m s).
    pub mu: &'a [f64],
    /// Whether redundant rows may disagree by their right-hand sides, which linearising leaves
    /// between them. Without it, the solver tells rows that contradict each other.
    pub allow: bool,
}

/// The deficits of the rows of a problem, one number per row.
#[derive(Clone, Copy)]
struct Deficits<'a> {
    problem: &'a Problem,
    evaluation: &'a Evaluation,
    scheme: &'a Scheme,
    deficit: &'a [f64],
}

impl Deficits<'_> {
    /// `b = h Y^-1 deficit` of all rows.
    fn divide(self, b: &mut [f64], scratch: &mut LawScratch) {
        for group in self.problem.row_groups() {
            self.divide_group(group, b);
            if let ComponentId::ForceField(i) = group.component
                && self.problem.row_law(group) != RowLaw::Viscous
            {
                self.divide_by_damping(group, i, b, scratch);
            }
        }
    }

    /// Divides the deficits of one group of rows, without damping matrices.
    fn divide_group(self, group: &RowGroup, b: &mut [f64]) {
        let Self {
            problem,
            evaluation,
            scheme,
            deficit,
        } = self;
        let (h, beta) = (scheme.h, scheme.beta);
        let alpha = scheme.alpha_of(group.component);
        let rows = group.first_row..group.first_row + group.size * group.count;
        match group.component {
            ComponentId::Constraint(i) => {
                let divisor = match problem.constraints()[i].component.level {
                    Level::Position | Level::CurvedPosition => h * beta,
                    Level::Velocity { .. } | Level::Restitution { .. } => 1.0,
                    Level::Baumgarte { rate } => 1.0 + rate * h * beta,
                };
                for row in rows {
                    b[row] = deficit[row] / divisor;
                }
            }
            ComponentId::ForceField(i) => {
                let viscous = problem.row_law(group) == RowLaw::Viscous;
                for row in rows {
                    let k = row - group.first_row;
                    let d = problem.relaxation_time(i, k);
                    let divisor = match (viscous, evaluation.is_hard(group, k)) {
                        (true, true) => 1.0,
                        (true, false) => alpha,
                        (false, true) => h * beta + d,
                        (false, false) => alpha * (h * beta + d),
                    };
                    b[row] = deficit[row] / divisor;
                }
            }
            ComponentId::Mass(_) => {}
        }
    }

    /// Divides the deficit of springs with a damping matrix, whose `Y` couples the coordinates of a
    /// group.
    fn divide_by_damping(self, group: &RowGroup, i: usize, b: &mut [f64], scratch: &mut LawScratch) {
        let Self {
            problem,
            evaluation,
            scheme,
            deficit,
        } = self;
        let Some(damping) = evaluation.row_damping(i) else {
            return;
        };
        let (h, beta) = (scheme.h, scheme.beta);
        let alpha = scheme.alpha_of(group.component);
        let mut first = 0;
        for g in 0..damping.len() {
            let n = damping.width(g);
            let (c, d_block) = (evaluation.compliance(i).block(g), damping.block(g));
            let (y, yc, own) = (
                &mut scratch.y[..n * n],
                &mut scratch.c[..n * n],
                &mut scratch.b[..n],
            );
            yc.copy_from_slice(c);
            for r in 0..n {
                for k in 0..n {
                    let cd: f64 = (0..n).map(|l| c[r * n + l] * d_block[l * n + k]).sum();
                    let diagonal = h * alpha * (h * beta + problem.relaxation_time(i, first + r));
                    y[r * n + k] = h * alpha * cd + if r == k { diagonal } else { 0.0 };
                }
                own[r] = h * deficit[group.first_row + first + r];
            }
            solve_in_place(n, y, yc, own);
            for r in (0..n).filter(|r| !evaluation.is_hard(group, first + r)) {
                b[group.first_row + first + r] = own[r];
            }
            first += n;
        }
    }
}
