//! The numbers of one step.

mod bundle;
mod element;
mod geometry;
mod product;
mod response;
mod rest;
mod rows;
mod stiffness;
mod tangent;
mod work;

pub use product::ResponseOperator;
pub use stiffness::StiffnessRatio;

use crate::jacobian::ColumnSource;
use crate::plan::{Plan, Sizes};
use crate::{GeometricStiffness, GeometricTerms, KktError, Scheme};
use pliant_model::{ComponentId, Evaluation, NodeId, NodeKind, Problem, RowGroup, RowLaw, State};
use pliant_solvers::KktSystem;
use pliant_sparse::Threads;
use response::Terms;

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

/// Fills one [`KktSystem`] from one model. The system's pattern never changes; fixed coordinates
/// may.
#[derive(Debug)]
pub struct Assembler {
    pub(crate) plan: Plan,
    system: KktSystem,
    /// Velocity-sized scratch over all nodes: right-hand side, forces for geometric stiffness.
    rhs: Vec<f64>,
    force_gamma: Vec<f64>,
    row_gamma: Vec<f64>,
    node_block: Vec<f64>,
    stack: Vec<f64>,
    product: Vec<f64>,
    site_block: Vec<f64>,
    geometry: Vec<f64>,
    eigen: Vec<f64>,
    shift: Vec<f64>,
    /// Dense scratch for the law of a row block with damping of its own.
    law: rows::LawScratch,
    slots: Vec<bundle::Slot>,
    /// With threads, for each bundle and each piece of its runs.
    cuts: Vec<Vec<bundle::Cut>>,
    threads: Threads,
    /// Diagonal of the masses on independent nodes.
    mass_diagonal: Vec<f64>,
    /// Largest coordinate of each node.
    magnitude: Vec<f64>,
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
        let (mut width, mut stack) = (6, 6);
        let places = problem
            .nodes()
            .iter()
            .enumerate()
            .flat_map(|(index, node)| (0..node.count).map(move |e| ColumnSource::Element(index, e)));
        for place in places.chain(plan.coupled.iter().map(|c| c.site.place)) {
            width = width.max(plan.jacobians.width_of(place));
            stack = stack.max(plan.jacobians.stack_height(place));
        }
        // The block of one element, of any space.
        let own = problem.nodes().iter().map(|n| n.space.velocity_size());
        let own = own.max().unwrap_or(0).max(6);
        let all = problem.velocity_count();
        let sizes = plan.bundles.iter().map(|b| b.sizes(problem, &plan.jacobians));
        let sizes = sizes.fold(Sizes::default(), Sizes::max);
        Ok(Self {
            plan,
            system,
            rhs: vec![0.0; all],
            force_gamma: vec![0.0; all],
            row_gamma: vec![0.0; all],
            node_block: vec![0.0; own * own],
            stack: vec![0.0; stack * width],
            product: vec![0.0; stack.max(own) * width],
            site_block: vec![0.0; width * width],
            geometry: vec![0.0; (stack * stack).max(9)],
            eigen: vec![0.0; (2 * stack * stack).max(18)],
            shift: vec![0.0; problem.dof_count()],
            law: rows::LawScratch::new(problem, evaluation),
            slots: vec![bundle::Slot::new(sizes)],
            cuts: Vec::new(),
            threads: Threads::one(),
            mass_diagonal: mass_diagonal(problem),
            magnitude: vec![0.0; problem.nodes().len()],
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
        let threads = threads.max(1);
        if self.plan.bundles.is_empty() || threads == self.threads.count() {
            return Ok(());
        }
        self.threads = Threads::new(threads).map_err(pliant_sparse::SparseError::from)?;
        let slots = if threads > 1 { bundle::SIDE_BY_SIDE } else { 1 };
        let one = self.slots[0].clone();
        self.slots.resize(slots, one);
        self.cuts.clear();
        if threads > 1 {
            self.plan_cuts();
        }
        Ok(())
    }

    /// The threads that it shares work among, for who evaluates its model.
    pub fn threads(&self) -> &Threads {
        &self.threads
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

    /// Fills `W`, `J`, `R`, `c` and `b` of one step. `evaluation` must be up to date with
    /// `input.state`. Allocates nothing.
    pub fn fill(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        input: StepInput<'_>,
    ) {
        self.plan.jacobians.fill(evaluation);
        self.measure(problem, input.state);
        self.gather_gamma(problem, evaluation, scheme, input.multipliers);
        let h = scheme.h;
        for ((r, f), i) in self
            .rhs
            .iter_mut()
            .zip(evaluation.force())
            .zip(evaluation.inertial_force())
        {
            *r = h * (f + i);
        }
        self.system.w.clear();
        self.fill_response(problem, evaluation, scheme, input.state, Terms::All);
        evaluation.pull_back(problem, &mut self.rhs);
        for node in problem.nodes() {
            if let Some(first) = node.first_dof() {
                let from = node.velocity_range();
                self.system.c[first..first + from.len()].copy_from_slice(&self.rhs[from]);
            }
        }
        for (c, p) in self.system.c.iter_mut().zip(input.impulse) {
            *c += p;
        }
        self.system.r.clear();
        for group in problem.row_groups() {
            self.fill_jacobian_rows(group);
            let rows = group.first_row..group.first_row + group.size * group.count;
            if let (ComponentId::ForceField(i), Some(motion)) = (group.component, input.motion.get(rows))
                && motion.iter().any(|m| *m != RowMotion::default())
                && !problem.force_fields()[i].component.law.is_linear()
            {
                evaluation.shift_compliance(problem, input.state, i, motion.iter().map(|m| m.start));
            }
            self.fill_row_law(rows::Rows {
                problem,
                evaluation,
                scheme,
                input,
                group,
            });
        }
        self.fill_bounds(problem, scheme);
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
    /// (docs/notation.md). Allocates nothing.
    pub fn fill_correction(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        input: StepInput<'_>,
        metric: Metric,
    ) {
        self.plan.jacobians.fill(evaluation);
        self.measure(problem, input.state);
        self.gather_gamma(problem, evaluation, scheme, input.multipliers);
        self.system.w.clear();
        let terms = match metric {
            Metric::Mass => Terms::Masses,
            Metric::Response | Metric::Elastic => Terms::All,
        };
        self.fill_response(problem, evaluation, scheme, input.state, terms);
        self.system.c.fill(0.0);
        self.system.r.clear();
        self.system.bounds.fill((f64::NEG_INFINITY, f64::INFINITY));
        for group in problem.row_groups() {
            self.fill_jacobian_rows(group);
            let node = problem.node(group.node);
            let x = &input.state.positions[node.position_range()];
            let rows = group.first_row..group.first_row + group.size * group.count;
            let rounding = self.rounding(problem, group);
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

    /// Refills the largest coordinate of each node.
    fn measure(&mut self, problem: &Problem, state: &State) {
        for (largest, node) in self.magnitude.iter_mut().zip(problem.nodes()) {
            let positions = &state.positions[node.position_range()];
            *largest = positions.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        }
    }

    /// Rounding of the coordinates that the rows of a group are made of: the largest of its node's
    /// parents, times a hundred roundings for the arithmetic of the mapping.
    fn rounding(&self, problem: &Problem, group: &RowGroup) -> f64 {
        let parents = match &problem.node(group.node).kind {
            NodeKind::Mapped { parents, .. } => &parents[..],
            NodeKind::Independent { .. } => std::slice::from_ref(&group.node),
        };
        let largest = parents.iter().map(|p| self.magnitude[p.index()]);
        100.0 * f64::EPSILON * largest.fold(0.0, f64::max)
    }

    /// Total forces on all nodes that the geometric stiffness is made of, where there is any: by
    /// origin, or together if both enter alike.
    fn gather_gamma(
        &mut self,
        problem: &Problem,
        evaluation: &Evaluation,
        scheme: &Scheme,
        multipliers: &[f64],
    ) {
        let GeometricTerms {
            forces,
            multipliers: rows,
        } = scheme.geometry;
        let nodes = &self.plan.nodes;
        let above = |node: usize| nodes[node].geometric_above;
        self.force_gamma.fill(0.0);
        self.row_gamma.fill(0.0);
        if forces != GeometricStiffness::None {
            self.force_gamma.copy_from_slice(evaluation.force());
        }
        if rows != GeometricStiffness::None {
            let target = if rows == forces {
                &mut self.force_gamma
            } else {
                &mut self.row_gamma
            };
            for group in problem.row_groups() {
                let lambda = &multipliers[group.first_row..group.first_row + group.size * group.count];
                for (g, l) in target[problem.node(group.node).velocity_range()]
                    .iter_mut()
                    .zip(lambda)
                {
                    *g += l;
                }
            }
            if rows != forces {
                evaluation.pull_back_some(problem, above, &mut self.row_gamma);
            }
        }
        if forces != GeometricStiffness::None {
            evaluation.pull_back_some(problem, above, &mut self.force_gamma);
        }
    }

    fn fill_jacobian_rows(&mut self, group: &RowGroup) {
        let node = group.node.index();
        for e in 0..group.count {
            let width = self.plan.jacobians.width(node, e);
            for i in 0..group.size {
                // Columns of an element and of a CSR row are both ascending in the degree of
                // freedom.
                let slots = self
                    .system
                    .j
                    .pattern()
                    .row_slots(group.first_row + e * group.size + i);
                let row = &mut self.system.j.values_mut()[slots];
                match self.plan.jacobians.block(node, e) {
                    Some(block) => row.copy_from_slice(&block[i * width..(i + 1) * width]),
                    None => {
                        row.fill(0.0);
                        row[i] = 1.0;
                    }
                }
            }
        }
    }
}

/// Diagonal of the masses on independent nodes.
fn mass_diagonal(problem: &Problem) -> Vec<f64> {
    let mut out = vec![0.0; problem.dof_count()];
    for attachment in problem.masses() {
        let node = problem.node(attachment.node);
        let Some(first) = node.first_dof() else { continue };
        let size = node.space.velocity_size();
        for (g, list) in attachment.component.groups().lists(node.count).iter().enumerate() {
            let width = list.len() * size;
            let mut block = vec![0.0; width * width];
            attachment.component.add_block(node.space, g, &mut block);
            for i in 0..width {
                out[first + list[i / size] * size + i % size] += block[i * width + i];
            }
        }
    }
    out
}
