//! The numbers of one step.

mod geometry;

use crate::plan::Plan;
use crate::{Formulation, GeometricStiffness, Geometry, KktError, Scheme};
use pliant_model::{ComponentId, Evaluation, Level, Model, NodeKind, RowGroup, State};
use pliant_solvers::{KktSystem, Solution};

/// What a step needs besides the model's evaluation.
#[derive(Clone, Copy, Debug)]
pub struct StepInput<'a> {
    /// Positions and velocities at the start of the step.
    pub state: &'a State,
    /// Multipliers `lambda_k` that the geometric stiffness of the rows is made of [N, N m]; one per row.
    pub multipliers: &'a [f64],
    /// Extra impulse on the independent coordinates (gyroscopic predictor) [N s, N m s].
    pub impulse: &'a [f64],
    /// Prescribed change of the velocity of fixed coordinates over the step, zero for free ones.
    pub fixed_change: &'a [f64],
}

/// The metric of a position correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Metric {
    /// The mass matrix.
    #[default]
    Mass,
    /// The response matrix `W` of the step.
    Response,
}

/// Fills one [`KktSystem`] from one model. The system's pattern never changes; fixed coordinates may.
#[derive(Debug)]
pub struct Assembler {
    plan: Plan,
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
    /// Diagonal of the masses on independent nodes.
    mass_diagonal: Vec<f64>,
}

impl Assembler {
    /// Plans the system of a model.
    ///
    /// # Errors
    /// [`KktError`] if it does not fit 32-bit indices.
    pub fn new(model: &Model, evaluation: &Evaluation) -> Result<Self, KktError> {
        let (plan, mut system) = Plan::new(model, evaluation)?;
        system.fixed.copy_from_slice(model.fixed());
        let (mut width, mut stack) = (6, 6);
        for (index, node) in model.nodes().iter().enumerate() {
            for e in 0..node.count {
                width = width.max(plan.jacobians.width(index, e));
                stack = stack.max(plan.jacobians.stack_height(index, e));
            }
        }
        let all = model.velocity_count();
        Ok(Self {
            plan,
            system,
            rhs: vec![0.0; all],
            force_gamma: vec![0.0; all],
            row_gamma: vec![0.0; all],
            node_block: vec![0.0; 36],
            stack: vec![0.0; stack * width],
            product: vec![0.0; stack.max(6) * width],
            site_block: vec![0.0; width * width],
            geometry: vec![0.0; (stack * stack).max(9)],
            eigen: vec![0.0; (2 * stack * stack).max(18)],
            shift: vec![0.0; model.dof_count()],
            mass_diagonal: mass_diagonal(model),
        })
    }

    /// The system as last filled.
    pub fn system(&self) -> &KktSystem {
        &self.system
    }

    /// Which independent coordinates are fixed; a change costs a new symbolic analysis at the next solve.
    pub fn fixed_mut(&mut self) -> &mut [bool] {
        &mut self.system.fixed
    }

    /// Fills `W`, `J`, `R`, `c` and `b` of one step. `evaluation` must be up to date with `input.state`. Allocates nothing.
    pub fn fill(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        input: StepInput<'_>,
    ) {
        self.plan.jacobians.fill(evaluation);
        self.gather_gamma(model, evaluation, scheme, input.multipliers);
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
        self.fill_response(model, evaluation, scheme, input.state, true);
        evaluation.pull_back(model, &mut self.rhs);
        for node in model.nodes() {
            if let Some(first) = node.first_dof() {
                let from = node.velocity_range();
                self.system.c[first..first + from.len()].copy_from_slice(&self.rhs[from]);
            }
        }
        for (c, p) in self.system.c.iter_mut().zip(input.impulse) {
            *c += p;
        }
        self.system.r.clear();
        for group in model.row_groups() {
            self.fill_jacobian_rows(group);
            self.fill_row_law(model, evaluation, scheme, input.state, group);
        }
        if input.fixed_change.iter().any(|d| *d != 0.0) {
            // x = y + d with y = 0 at fixed coordinates.
            let KktSystem { w, j, c, b, .. } = &mut self.system;
            for (d, change) in self.shift.iter_mut().zip(input.fixed_change) {
                *d = -change;
            }
            w.symmetric_add_product(1.0, &self.shift, c);
            j.add_product(-1.0, &self.shift, b);
        }
        self.change_unknown(model, scheme, input.state);
    }

    /// Fills the system of a position correction: `min |dx|^2 / 2` in the metric, subject to `J dx = -phi` on the hard rows;
    /// compliant rows take no part (docs/notation.md). Allocates nothing.
    pub fn fill_correction(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        input: StepInput<'_>,
        metric: Metric,
    ) {
        self.plan.jacobians.fill(evaluation);
        self.gather_gamma(model, evaluation, scheme, input.multipliers);
        self.system.w.clear();
        self.fill_response(model, evaluation, scheme, input.state, metric == Metric::Response);
        self.system.c.fill(0.0);
        self.system.r.clear();
        for group in model.row_groups() {
            self.fill_jacobian_rows(group);
            let node = model.node(group.node);
            let x = &input.state.positions[node.position_range()];
            let rows = group.first_row..group.first_row + group.size * group.count;
            self.system.b_rounding[rows].fill(rounding(model, input.state, group));
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if evaluation.is_hard(group, k) {
                    self.system.b[row] = x[k];
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

    /// The velocity change and the impulses of a solution, whatever the formulation.
    pub fn interpret(&self, model: &Model, scheme: &Scheme, state: &State, solution: &mut Solution) {
        match scheme.formulation {
            Formulation::VelocityChange => {}
            Formulation::Acceleration => {
                solution
                    .x
                    .iter_mut()
                    .chain(&mut solution.mu)
                    .for_each(|x| *x *= scheme.h);
            }
            Formulation::Velocity => {
                for node in model.nodes() {
                    let Some(first) = node.first_dof() else { continue };
                    for (k, v) in state.velocities[node.velocity_range()].iter().enumerate() {
                        if !self.system.fixed[first + k] {
                            solution.x[first + k] -= v;
                        }
                    }
                }
            }
        }
    }

    /// Total forces on all nodes that the geometric stiffness is made of: by origin, or together if both enter alike.
    fn gather_gamma(&mut self, model: &Model, evaluation: &Evaluation, scheme: &Scheme, multipliers: &[f64]) {
        let Geometry {
            forces,
            multipliers: rows,
        } = scheme.geometry;
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
            for group in model.row_groups() {
                let lambda = &multipliers[group.first_row..group.first_row + group.size * group.count];
                for (g, l) in target[model.node(group.node).velocity_range()]
                    .iter_mut()
                    .zip(lambda)
                {
                    *g += l;
                }
            }
            if rows != forces {
                evaluation.pull_back(model, &mut self.row_gamma);
            }
        }
        if forces != GeometricStiffness::None {
            evaluation.pull_back(model, &mut self.force_gamma);
        }
    }

    /// `W += M`, and with `dynamic` `+ h alpha B + h^2 alpha beta (K - G)` and `rhs -= h^2 alpha (K - G) v`.
    fn fill_response(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        dynamic: bool,
    ) {
        let (h, beta) = (scheme.h, scheme.beta);
        for (index, node) in model.nodes().iter().enumerate() {
            let size = node.space.velocity_size();
            let first = node.first_velocity;
            let entry = &self.plan.nodes[index];
            if entry.masses.is_empty() && entry.stiffnesses.is_empty() {
                continue;
            }
            for (e, site) in entry.sites.iter().enumerate() {
                let block = &mut self.node_block[..size * size];
                block.fill(0.0);
                for m in &entry.masses {
                    model.masses()[*m].component.add_block(node.space, e, block);
                }
                let v = &state.velocities[first + e * size..][..size];
                let rhs = &mut self.rhs[first + e * size..][..size];
                for i in entry.stiffnesses.iter().filter(|_| dynamic) {
                    let alpha = scheme.alpha_of(ComponentId::ForceField(*i));
                    let (k, b) = (evaluation.stiffness(*i).block(e), evaluation.damping(*i).block(e));
                    for (t, (k, b)) in block.iter_mut().zip(k.iter().zip(b)) {
                        *t += h * alpha * (b + h * beta * k);
                    }
                    for (r, k) in rhs.iter_mut().zip(k.chunks_exact(size)) {
                        *r -= h * h * alpha * k.iter().zip(v).map(|(k, v)| k * v).sum::<f64>();
                    }
                }
                let values = self.system.w.values_mut();
                match self.plan.jacobians.block(index, e) {
                    None => self.plan.add_to_response(site, block, values),
                    Some(j) => {
                        let width = self.plan.jacobians.width(index, e);
                        congruence(block, j, size, width, &mut self.product, &mut self.site_block);
                        self.plan.add_to_response(site, &self.site_block, values);
                    }
                }
            }
        }
        if dynamic {
            self.fill_geometry(model, evaluation, scheme, state);
        }
    }

    fn fill_jacobian_rows(&mut self, group: &RowGroup) {
        let node = group.node.index();
        for e in 0..group.count {
            let width = self.plan.jacobians.width(node, e);
            for i in 0..group.size {
                // Columns of an element and of a CSR row are both ascending in the degree of freedom.
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

    /// `R` and `b` in the velocity-change form (docs/notation.md).
    fn fill_row_law(
        &mut self,
        model: &Model,
        evaluation: &Evaluation,
        scheme: &Scheme,
        state: &State,
        group: &RowGroup,
    ) {
        let (h, beta) = (scheme.h, scheme.beta);
        let alpha = scheme.alpha_of(group.component);
        let node = model.node(group.node);
        let phi = &state.positions[node.position_range()];
        let u = &state.velocities[node.velocity_range()];
        let bias = &evaluation.bias()[node.velocity_range()];
        let level = match group.component {
            ComponentId::Constraint(i) => model.constraints()[i].component,
            _ => Level::Position,
        };
        let relaxation = match group.component {
            ComponentId::ForceField(i) => model.force_fields()[i].component.law.relaxation_time(),
            _ => 0.0,
        };
        let rows = group.first_row..group.first_row + group.size * group.count;
        self.system.b_rounding[rows].fill(rounding(model, state, group) / h);
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            if !evaluation.is_hard(group, k) {
                let ComponentId::ForceField(i) = group.component else {
                    continue;
                };
                let gain = alpha * (h * beta + relaxation);
                let (e, local) = (k / group.size, k % group.size);
                let c = &evaluation.compliance(i).block(e)[local * group.size..][..=local];
                let slots = self.system.r.pattern().row_slots(row);
                for (r, c) in self.system.r.values_mut()[slots].iter_mut().zip(c) {
                    *r = c / (h * gain);
                }
                self.system.b[row] = (phi[k] + (relaxation + alpha * h) * u[k]) / gain;
                continue;
            }
            if relaxation > 0.0 {
                // C = 0 of the compliant law at alpha = 1: phi + d dphi/dt = 0 at the end of the step.
                self.system.b[row] = (phi[k] + (relaxation + h) * u[k]) / (h * beta + relaxation);
                continue;
            }
            self.system.b[row] = match level {
                Level::Position if scheme.velocity_rows => u[k],
                Level::Position => (phi[k] / h + u[k]) / beta,
                Level::CurvedPosition if scheme.velocity_rows => u[k],
                Level::CurvedPosition => (phi[k] / h + u[k] + 0.5 * h * bias[k]) / beta,
                Level::Velocity { curvature } => u[k] + curvature * h * bias[k],
                Level::Baumgarte { rate } => u[k] + rate * phi[k],
            };
        }
    }

    /// From the velocity-change form to the formulation asked for (docs/notation.md).
    fn change_unknown(&mut self, model: &Model, scheme: &Scheme, state: &State) {
        match scheme.formulation {
            Formulation::VelocityChange => {}
            Formulation::Acceleration => {
                let KktSystem { c, b, b_rounding, .. } = &mut self.system;
                c.iter_mut()
                    .chain(b)
                    .chain(b_rounding)
                    .for_each(|x| *x /= scheme.h);
            }
            Formulation::Velocity => {
                // Fixed coordinates keep their velocity: only the free part is shifted into the unknown.
                for node in model.nodes() {
                    let Some(first) = node.first_dof() else { continue };
                    for (k, v) in state.velocities[node.velocity_range()].iter().enumerate() {
                        self.shift[first + k] = if self.system.fixed[first + k] { 0.0 } else { *v };
                    }
                }
                let KktSystem { w, j, c, b, .. } = &mut self.system;
                w.symmetric_add_product(1.0, &self.shift, c);
                j.add_product(-1.0, &self.shift, b);
            }
        }
    }
}

/// Rounding of the coordinates that the rows of a group are made of: the largest of its node's parents, times a hundred
/// roundings for the arithmetic of the mapping.
fn rounding(model: &Model, state: &State, group: &RowGroup) -> f64 {
    let parents = match &model.node(group.node).kind {
        NodeKind::Mapped { parents, .. } => &parents[..],
        NodeKind::Independent { .. } => std::slice::from_ref(&group.node),
    };
    let coordinates = parents
        .iter()
        .flat_map(|p| &state.positions[model.node(*p).position_range()]);
    100.0 * f64::EPSILON * coordinates.fold(0.0f64, |a, x| a.max(x.abs()))
}

/// Diagonal of the masses on independent nodes.
fn mass_diagonal(model: &Model) -> Vec<f64> {
    let mut out = vec![0.0; model.dof_count()];
    for attachment in model.masses() {
        let node = model.node(attachment.node);
        let Some(first) = node.first_dof() else { continue };
        let size = node.space.velocity_size();
        for e in 0..node.count {
            let mut block = [0.0; 36];
            attachment
                .component
                .add_block(node.space, e, &mut block[..size * size]);
            for i in 0..size {
                out[first + e * size + i] += block[i * size + i];
            }
        }
    }
    out
}

/// `out = J^T A J` for a symmetric `size x size` block `A` and a `size x width` block `J`; `product` is scratch.
fn congruence(a: &[f64], j: &[f64], size: usize, width: usize, product: &mut [f64], out: &mut [f64]) {
    let product = &mut product[..size * width];
    product.fill(0.0);
    for i in 0..size {
        let row = &mut product[i * width..(i + 1) * width];
        for k in 0..size {
            let aik = a[i * size + k];
            if aik != 0.0 {
                for (p, j) in row.iter_mut().zip(&j[k * width..]) {
                    *p += aik * j;
                }
            }
        }
    }
    let out = &mut out[..width * width];
    out.fill(0.0);
    for k in 0..size {
        let p = &product[k * width..(k + 1) * width];
        for r in 0..width {
            let jkr = j[k * width + r];
            if jkr != 0.0 {
                for (o, p) in out[r * width..(r + 1) * width].iter_mut().zip(p) {
                    *o += jkr * p;
                }
            }
        }
    }
}
