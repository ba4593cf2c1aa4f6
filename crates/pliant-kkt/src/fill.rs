//! The numbers of one step.

mod bundle;
mod element;
mod geometry;
mod product;
mod response;
mod rest;
mod rows;
mod run;
mod stiffness;
mod tangent;
mod work;

pub use product::ResponseOperator;
pub use stiffness::StiffnessRatio;
pub use tangent::NewtonResiduals;

use crate::jacobian::Jacobians;
use crate::plan::Plan;
use crate::{KktError, Scheme, Tail};
use pliant_model::{ComponentId, Evaluation, Model, NodeId, Problem, RowGroup, RowLaw, State};
use pliant_solvers::KktSystem;
use pliant_sparse::{CsrMatrix, Threads};
use response::{Response, Terms};
use rows::{LawScratch, Magnitudes, Rows};

/// Inputs of a step besides the evaluation of the problem.
#[derive(Clone, Copy, Debug)]
pub struct StepInput<'a> {
    /// Positions and velocities at the start of the step.
    pub state: &'a State,
    /// Multipliers `lambda_k` that the geometric stiffness of the rows is made of [N, N m]; one per
    /// row.
    pub multipliers: &'a [f64],
    /// Extra impulse on the independent coordinates (gyroscopic predictor) [N s, N m s].
    pub impulse: &'a [f64],
    /// Prescribed change of the velocity of fixed coordinates over the step, zero for free ones.
    pub fixed_change: &'a [f64],
    /// Targets of the rows, one per row; empty if all are held at zero.
    pub motion: &'a [RowMotion],
}

/// Target of a row: value and rate [m, m/s; rad, rad/s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowMotion {
    /// At the start of the step.
    pub start: (f64, f64),
    /// At its end.
    pub end: (f64, f64),
}

/// The metric of a position correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "metric")
)]
pub enum Metric {
    /// The mass matrix.
    #[default]
    Mass,
    /// The response matrix `W` of the step.
    Response,
    /// The response matrix with the springs that are rows, `W + h^2 alpha beta J^T C^-1 J`: what is
    /// elastic goes along whatever its treatment.
    Elastic,
}

/// A problem in a state, for a step of a scheme.
#[derive(Clone, Copy)]
struct Step<'a> {
    problem: &'a Problem,
    scheme: &'a Scheme,
    state: &'a State,
}

impl Step<'_> {
    /// `h^2 alpha`, the factor of geometric stiffness.
    fn geometric_gain(&self) -> f64 {
        self.scheme.h * self.scheme.h * self.scheme.alpha
    }
}

/// Fills one [`KktSystem`] from one model. The system's pattern never changes; fixed coordinates
/// may.
#[derive(Debug)]
pub struct Assembler {
    plan: Plan,
    system: KktSystem,
    response: Response,
    /// Minus the prescribed change of the velocity.
    shift: Vec<f64>,
    law: LawScratch,
    magnitudes: Magnitudes,
    products: product::Products,
}

impl Assembler {
    /// Plans the system of a model.
    ///
    /// # Errors
    /// [`KktError`] if it does not fit 32-bit indices.
    pub fn new(problem: &Problem, evaluation: &Evaluation) -> Result<Self, KktError> {
        Self::with_transient(problem, evaluation, &[])
    }

    /// Plans the system of a model with Jacobians of the given nodes too, on which transient rows
    /// are going to act.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_transient(
        problem: &Problem,
        evaluation: &Evaluation,
        transient: &[NodeId],
    ) -> Result<Self, KktError> {
        let (plan, mut system) = Plan::new(problem, evaluation, transient)?;
        system.fixed.copy_from_slice(problem.fixed());
        Ok(Self {
            response: Response::new(problem, &plan),
            plan,
            system,
            shift: vec![0.0; problem.dof_count()],
            law: LawScratch::new(problem, evaluation),
            magnitudes: Magnitudes::new(problem),
            products: product::Products::default(),
        })
    }

    /// Lets so many threads share the filling of finite elements (other models have nothing to
    /// share); 0 counts as 1. No bit depends on it. Starts the threads if they are others than
    /// before.
    ///
    /// # Errors
    /// [`KktError::Sparse`] if the system refuses to start them.
    pub fn share(&mut self, threads: usize) -> Result<(), KktError> {
        let w = self.system.w.pattern();
        self.response.runs.share(threads, &self.plan, w)
    }

    /// The threads that it shares work among, for who evaluates its model.
    pub fn threads(&self) -> &Threads {
        self.response.runs.threads()
    }

    /// The system as last filled.
    pub fn system(&self) -> &KktSystem {
        &self.system
    }

    /// Which independent coordinates are fixed; a change costs a new symbolic analysis at the next
    /// solve.
    pub fn fixed_mut(&mut self) -> &mut [bool] {
        &mut self.system.fixed
    }

    /// The right-hand side `c`, for terms that come from a first solution.
    pub fn right_hand_side_mut(&mut self) -> &mut [f64] {
        &mut self.system.c
    }

    /// The right-hand side `b` of the model's rows, for rows that are not to act.
    pub fn row_right_hand_side_mut(&mut self) -> &mut [f64] {
        &mut self.system.b
    }

    /// The bounds of the multipliers of the model's rows, for rows that are switched off (both
    /// zero).
    pub fn row_bounds_mut(&mut self) -> &mut [(f64, f64)] {
        &mut self.system.bounds
    }

    /// The first independent coordinate of every element that an element of a node depends on,
    /// itself if it is independent; none if there is no such element.
    pub fn support_dofs(&self, node: NodeId, element: usize) -> impl Iterator<Item = usize> {
        let columns = self.plan.jacobians.known_columns(node.index(), element);
        columns.iter().map(|c| c.dof)
    }

    /// Whether something acts on a node, by its number: it is independent, has a mass, a force
    /// field, a constraint or contacts, or such a node hangs on it. The system is made of these
    /// alone, but for the geometric stiffness of forces from outside on others.
    pub fn acts_on(&self, node: usize) -> bool {
        self.plan.acting[node]
    }

    /// Fills `W`, `J`, `R`, `c` and `b` of one step. `evaluation` must be up to date with
    /// `input.state`. Allocates nothing.
    pub fn fill(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        input: StepInput<'_>,
    ) {
        let step = Step {
            problem,
            scheme,
            state: input.state,
        };
        self.magnitudes.measure(problem, input.state);
        self.gather_loads(step, evaluation, input.multipliers);
        let h = scheme.h;
        let forces = evaluation.force().iter().zip(evaluation.inertial_force());
        for (r, (f, i)) in self.response.rhs.iter_mut().zip(forces) {
            *r = h * (f + i);
        }
        self.fill_response(step, evaluation, Terms::All);
        let rhs = &mut self.response.rhs;
        evaluation.pull_back(problem, rhs);
        for node in problem.nodes() {
            if let Some(first) = node.first_dof() {
                let from = node.velocity_range();
                self.system.c[first..first + from.len()].copy_from_slice(&rhs[from]);
            }
        }
        for (c, p) in self.system.c.iter_mut().zip(input.impulse) {
            *c += p;
        }
        self.system.r.clear();
        for group in problem.row_groups() {
            fill_jacobian_rows(&self.plan.jacobians, group, &mut self.system.j);
            let rows = group.first_row..group.first_row + group.size * group.count;
            if let (ComponentId::ForceField(i), Some(motion)) = (group.component, input.motion.get(rows))
                && motion.iter().any(|m| *m != RowMotion::default())
                && !problem.force_fields()[i].component.law.is_linear()
            {
                evaluation.shift_compliance(problem, input.state, i, motion.iter().map(|m| m.start));
            }
            let rows = Rows {
                problem,
                evaluation,
                scheme,
                input,
                group,
            };
            let rounding = self.magnitudes.rounding(problem, group);
            rows.fill(rounding, &mut self.system, &mut self.law);
        }
        rows::fill_bounds(problem, scheme, &mut self.system.bounds);
        if input.fixed_change.iter().any(|d| *d != 0.0) {
            // x = y + d with y = 0 at fixed coordinates.
            let KktSystem { w, j, c, b, .. } = &mut self.system;
            for (d, change) in self.shift.iter_mut().zip(input.fixed_change) {
                *d = -change;
            }
            w.symmetric_add_product(1.0, &self.shift, c);
            j.add_product(-1.0, &self.shift, b);
        }
    }

    /// Fills the system of a position correction: `min |dx|^2 / 2` in the metric, subject to
    /// `J dx = -phi` on the hard rows; compliant rows take no part but in [`Metric::Elastic`]
    /// (theory/step.md of the book). Allocates nothing.
    pub fn fill_correction(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        input: StepInput<'_>,
        metric: Metric,
    ) {
        let step = Step {
            problem,
            scheme,
            state: input.state,
        };
        self.magnitudes.measure(problem, input.state);
        self.gather_loads(step, evaluation, input.multipliers);
        let terms = match metric {
            Metric::Mass => Terms::Masses,
            Metric::Response | Metric::Elastic => Terms::All,
        };
        self.fill_response(step, evaluation, terms);
        self.system.c.fill(0.0);
        self.system.r.clear();
        self.system.bounds.fill((f64::NEG_INFINITY, f64::INFINITY));
        for group in problem.row_groups() {
            fill_jacobian_rows(&self.plan.jacobians, group, &mut self.system.j);
            let node = problem.node(group.node);
            let x = &input.state.positions[node.position_range()];
            let rows = group.first_row..group.first_row + group.size * group.count;
            let rounding = self.magnitudes.rounding(problem, group);
            self.system.b_rounding[rows].fill(rounding);
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if evaluation.holds_position(problem, group, k) {
                    let target = input.motion.get(row).map_or(0.0, |m| m.end.0);
                    self.system.b[row] = x[k] - target;
                } else if let (Metric::Elastic, ComponentId::ForceField(i), RowLaw::Elastic) =
                    (metric, group.component, problem.row_law(group))
                {
                    let gain = scheme.h * scheme.h * scheme.alpha_of(group.component) * scheme.beta;
                    let (g, first) = evaluation.group_of(i, group.size, k);
                    let width = evaluation.compliance(i).width(g);
                    let c = &evaluation.compliance(i).block(g)[(k - first) * width..][..=k - first];
                    let slots = self.system.r.pattern().row_slots(row);
                    let r = &mut self.system.r.values_mut()[slots];
                    r.iter_mut().zip(c).for_each(|(r, c)| *r = c / gain);
                    self.system.b[row] = 0.0;
                } else {
                    let slots = self.system.j.pattern().row_slots(row);
                    self.system.j.values_mut()[slots].fill(0.0);
                    let diagonal = self.system.r.pattern().row_slots(row).end - 1;
                    self.system.r.values_mut()[diagonal] = 1.0;
                    self.system.b[row] = 0.0;
                }
            }
        }
    }

    /// Lets coordinate `k` of a group of rows take part in the filled correction on one side:
    /// `sign (J dx)_k >= -gap` (m, rad), with a multiplier of that sign, 1 or -1. Allocates
    /// nothing.
    pub fn hold_side(&mut self, group: &RowGroup, k: usize, sign: f64, gap: f64) {
        let row = group.first_row + k;
        fill_jacobian_row(&self.plan.jacobians, group, k, &mut self.system.j);
        let slots = self.system.r.pattern().row_slots(row);
        self.system.r.values_mut()[slots].fill(0.0);
        self.system.b[row] = sign * gap;
        self.system.bounds[row] = if sign > 0.0 {
            (0.0, f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, 0.0)
        };
    }

    /// Lets the velocity of a row of the filled step fall no lower than its position asks for, or
    /// than `floor` (m/s) where that is less: `sign (J dv)_i + floor >= 0` with the sign of its
    /// force, 1 or -1. `fixed_change` is that of the fill.
    pub fn lower_side(&mut self, row: usize, sign: f64, floor: f64, fixed_change: &[f64]) {
        let j = &self.system.j;
        let columns = j.pattern().row(row).iter();
        let values = &j.values()[j.pattern().row_slots(row)];
        let change: f64 = columns
            .zip(values)
            .map(|(k, j)| j * fixed_change[*k as usize])
            .sum();
        let b = &mut self.system.b[row];
        *b = sign * (sign * *b).max(floor + sign * change);
    }

    /// Lets the velocity of a row of the filled step fall no lower than `floor` (m/s) has it, whatever
    /// its position asks for: `sign (J dv)_i + floor >= 0`, as in [`lower_side`](Self::lower_side).
    pub fn set_side(&mut self, row: usize, sign: f64, floor: f64, fixed_change: &[f64]) {
        self.system.b[row] = -sign * f64::INFINITY;
        self.lower_side(row, sign, floor, fixed_change);
    }

    /// The energy that the geometric stiffness of the last fill took from the motion (J): the work
    /// of its impulse `h^2 alpha G u` by the velocities `u` with which positions moved,
    /// `h^2 alpha u^T G u`, negative where it damps. Every element has the share of it that its
    /// mode took. `velocity` has `u` of all nodes, mapped ones by the Jacobians of the fill;
    /// `evaluation` and `state` are as they were at the fill, and so is the scheme. Cost: as much
    /// as filling it. Allocates nothing.
    ///
    /// # Panics
    /// If `velocity` is shorter than
    /// [`Model::velocity_count`](pliant_model::Model::velocity_count).
    pub fn geometry_work(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        velocity: &[f64],
    ) -> f64 {
        let step = Step {
            problem,
            scheme,
            state,
        };
        self.response
            .geometry_work(&self.plan, evaluation, step, velocity)
    }

    /// For every force field whose treatment is open: its largest `h^2 K_ii S_ii`, with the inverse
    /// effective mass `S = J diag(M)^-1 J^T` of each coordinate. Infinite where a coordinate has no
    /// mass.
    pub fn stiffness_ratios(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        state: &State,
        h: f64,
    ) -> Vec<StiffnessRatio> {
        let step = Step {
            problem,
            scheme: &Scheme::implicit_euler(h),
            state,
        };
        self.fill_response(step, evaluation, Terms::Masses);
        stiffness::ratios(&self.plan.jacobians, &self.system, step)
    }

    /// Jacobians and velocities of transient rows, with the model's own Jacobians as
    /// [`Assembler::fill`] left them. Cost: a product of its rows with the Jacobian of every
    /// element that is acted on.
    ///
    /// # Errors
    /// [`KktError::NotPlanned`] if a block acts on a node that [`Assembler::with_transient`] was
    /// not told of, [`KktError::Space`] if that is not made of bodies or points of space.
    pub fn project(&self, model: &Model, state: &State, tail: &mut Tail) -> Result<(), KktError> {
        tail.project(&self.plan.jacobians, model, state)
    }

    /// Sums the forces that the geometric stiffness of a step is made of.
    fn gather_loads(&mut self, step: Step<'_>, evaluation: &Evaluation, multipliers: &[f64]) {
        let terms = step.scheme.geometry;
        self.response
            .loads
            .gather(&self.plan, step.problem, evaluation, terms, multipliers);
    }

    /// Fills the Jacobians of the nodes and with them some terms of `W`.
    fn fill_response(&mut self, step: Step<'_>, evaluation: &mut Evaluation, terms: Terms) {
        self.plan.jacobians.fill(step.problem, evaluation);
        let w = &mut self.system.w;
        w.clear();
        self.response.fill(&self.plan, evaluation, step, terms, w);
    }
}

/// Fills the rows of a group into `J`.
fn fill_jacobian_rows(jacobians: &Jacobians, group: &RowGroup, j: &mut CsrMatrix) {
    for e in 0..group.count {
        let own = e * group.size..(e + 1) * group.size;
        match jacobians.block(group.node.index(), e) {
            // The rows of an element follow each other, and have its columns.
            Some(block) => {
                let start = j.pattern().row_slots(group.first_row + own.start).start;
                j.values_mut()[start..start + block.len()].copy_from_slice(block);
            }
            None => own.for_each(|k| fill_jacobian_row(jacobians, group, k, j)),
        }
    }
}

/// Fills the row of coordinate `k` of a group into `J`.
fn fill_jacobian_row(jacobians: &Jacobians, group: &RowGroup, k: usize, j: &mut CsrMatrix) {
    let (node, e, i) = (group.node.index(), k / group.size, k % group.size);
    let width = jacobians.width(node, e);
    // Columns of an element and of a CSR row are both ascending in the degree of freedom.
    let slots = j.pattern().row_slots(group.first_row + k);
    let row = &mut j.values_mut()[slots];
    match jacobians.block(node, e) {
        Some(block) => row.copy_from_slice(&block[i * width..(i + 1) * width]),
        None => {
            row.fill(0.0);
            row[i] = 1.0;
        }
    }
}
