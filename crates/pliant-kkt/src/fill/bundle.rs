//! The response of bundles: run by run, on threads if there are any.

use super::Assembler;
use super::element::{Shape, contract, expand, pull};
use super::geometry::{filter, form, share_of, takes_shares};
use crate::plan::{Bundle, Plan, Run, Sizes, sum_of};
use crate::{GeometricStiffness, Scheme};
use pliant_model::{ComponentId, Evaluation, Model, State};

/// Scratch of one run, and what it gives.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    point: Vec<f64>,
    own: Vec<f64>,
    product: Vec<f64>,
    geometry: Vec<f64>,
    eigen: Vec<f64>,
    half: Vec<f64>,
    /// The same of one element.
    alone: Vec<f64>,
    /// Sums of the run, for each pair of coordinates of a parent.
    sums: Vec<f64>,
    /// Block over the columns of the run.
    matrix: Vec<f64>,
    /// What is added to the right-hand side of all nodes.
    terms: Vec<(usize, f64)>,
    run: usize,
}

impl Slot {
    pub(super) fn new(s: Sizes) -> Self {
        Self {
            point: vec![0.0; s.point * s.point],
            own: vec![0.0; s.own * s.own],
            product: vec![0.0; s.own * s.point],
            geometry: vec![0.0; s.point * s.point],
            eigen: vec![0.0; 2 * s.point * s.point],
            half: vec![0.0; s.half],
            alone: vec![0.0; s.half],
            sums: vec![0.0; s.sums],
            matrix: vec![0.0; s.width * s.width],
            terms: Vec::with_capacity(s.terms),
            run: 0,
        }
    }
}

/// Runs between two looks at the system: with threads they are computed side by side, and then added in their order.
pub(super) const SIDE_BY_SIDE: usize = 128;

/// What of the response is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Masses, times this.
    pub(super) masses: Option<f64>,
    /// Springs, and dampers if wanted.
    pub(super) fields: bool,
    pub(super) damping: bool,
    /// Geometric stiffness, and whether it is that of the forces of rows.
    pub(super) geometry: Option<(GeometricStiffness, bool)>,
}

/// All that is read while a run is computed.
struct Work<'a> {
    model: &'a Model,
    evaluation: &'a Evaluation,
    scheme: &'a Scheme,
    state: &'a State,
    plan: &'a Plan,
    bundle: &'a Bundle,
    mass_diagonal: &'a [f64],
    wanted: Wanted,
}

impl Assembler {
    /// Adds what bundles have to `W` and to the right-hand side of all nodes.
    pub(super) fn fill_bundles(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        wanted: Wanted,
    ) {
        for at in 0..self.plan.bundles.len() {
            let geometric = self.find_hanging_geometry(model, evaluation, state, at, wanted.geometry);
            let bundle = &self.plan.bundles[at];
            let nodes = || std::iter::once(bundle.node).chain(bundle.hanging.iter().map(|h| h.node));
            let attached = |n: usize| {
                let sites = &self.plan.nodes[n];
                wanted.masses.is_some() && !sites.masses.is_empty()
                    || wanted.fields && !sites.stiffnesses.is_empty()
            };
            if !geometric && !nodes().any(attached) {
                continue;
            }
            let work = Work {
                model,
                evaluation,
                scheme,
                state,
                plan: &self.plan,
                bundle,
                mass_diagonal: &self.mass_diagonal,
                wanted,
            };
            let arch = pulp::Arch::new();
            let together = self.slots.len();
            for (piece, runs) in bundle.runs.chunks(together).enumerate() {
                let slots = &mut self.slots[..runs.len()];
                for (k, slot) in slots.iter_mut().enumerate() {
                    slot.run = piece * together + k;
                }
                self.threads
                    .for_each(slots, |slot| arch.dispatch(|| work.compute(slot)));
                for (run, slot) in runs.iter().zip(&self.slots) {
                    let values = self.system.w.values_mut();
                    self.plan
                        .add_sums_to_response(bundle.shape.0, run, &slot.sums, values);
                    for (at, term) in &slot.terms {
                        self.rhs[*at] += term;
                    }
                }
            }
        }
    }

    /// Evaluates `G` of all that hangs on a bundle, and notes where there is any; whether there is.
    pub(super) fn find_hanging_geometry(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        state: &State,
        bundle: usize,
        wanted: Option<(GeometricStiffness, bool)>,
    ) -> bool {
        let mut geometric = false;
        for hanging in &mut self.plan.bundles[bundle].hanging {
            hanging.acts = false;
            if let Some((_, from_rows)) = wanted {
                let gamma = if from_rows {
                    &self.row_gamma
                } else {
                    &self.force_gamma
                };
                let range = model.nodes()[hanging.node].velocity_range();
                hanging.acts = self.plan.nodes[hanging.node].geometric
                    && gamma[range].iter().any(|g| *g != 0.0)
                    && evaluation
                        .geometric_stiffness(model, state, hanging.node, gamma)
                        .is_some();
                geometric |= hanging.acts;
            }
        }
        geometric
    }

    /// `-h^2 alpha u^T G u` of all that hangs on bundles, as much as the mode takes of it, with the velocities `u` of all nodes. Where there is any it is evaluated.
    pub(super) fn bundles_geometry_form(
        &mut self,
        model: &Model,
        evaluation: &Evaluation,
        scheme: &Scheme,
        state: &State,
        origin: (GeometricStiffness, bool),
        u: &[f64],
    ) -> f64 {
        let wanted = Wanted {
            masses: None,
            fields: false,
            damping: false,
            geometry: Some(origin),
        };
        let mut sum = 0.0;
        for at in 0..self.plan.bundles.len() {
            let bundle = &self.plan.bundles[at];
            if bundle.hanging.iter().all(|h| !h.acts) {
                continue;
            }
            let work = Work {
                model,
                evaluation,
                scheme,
                state,
                plan: &self.plan,
                bundle,
                mass_diagonal: &self.mass_diagonal,
                wanted,
            };
            let slot = &mut self.slots[0];
            let forms = bundle.runs.iter().map(|run| work.geometry_form(run, u, slot));
            sum += forms.sum::<f64>();
        }
        sum
    }
}

impl Work<'_> {
    #[inline(always)]
    fn compute(&self, slot: &mut Slot) {
        let run: &Run = &self.bundle.runs[slot.run];
        let (d, m) = self.bundle.shape;
        let size = d * m;
        let blocks = self.evaluation.jacobian(self.bundle.node);
        let Some(blocks) = blocks else { return };
        let n = blocks.width(run.elements.start);
        let shape = Shape { d, m, n };
        let g = blocks.run(run.elements.clone());
        slot.terms.clear();
        for (k, q) in run.elements.clone().enumerate() {
            slot.point[..size * size].fill(0.0);
            self.add_own(self.bundle.node, q, &mut slot.point, &mut slot.terms);
            for hanging in &self.bundle.hanging {
                for e in hanging.on(q) {
                    self.add_hanging(hanging.node, *e, size, slot);
                    if hanging.acts {
                        self.add_geometry((hanging.node, *e), (q, shape), blocks.block(q), &run.order, slot);
                    }
                }
            }
            expand(
                shape,
                &slot.point,
                blocks.block(q),
                (k * m, g.len() / n),
                &mut slot.half,
            );
        }
        contract(shape, g, &slot.half, &mut slot.sums);
    }

    /// Masses, springs and dampers on one element, and what springs add to its right-hand side. Whether there are any.
    #[inline(always)]
    fn add_own(&self, node: usize, e: usize, block: &mut [f64], terms: &mut Vec<(usize, f64)>) -> bool {
        let sites = &self.plan.nodes[node];
        let node = &self.model.nodes()[node];
        let size = node.space.velocity_size();
        let block = &mut block[..size * size];
        let mut any = false;
        if let (Some(gain), false) = (self.wanted.masses, sites.masses.is_empty()) {
            for i in &sites.masses {
                self.model.masses()[*i].component.add_block(node.space, e, block);
            }
            block.iter_mut().for_each(|m| *m *= gain);
            any = true;
        }
        if self.wanted.fields {
            let Scheme { h, beta, .. } = *self.scheme;
            let first = node.first_velocity + e * size;
            let v = &self.state.velocities[first..first + size];
            for i in &sites.stiffnesses {
                let alpha = self.scheme.alpha_of(ComponentId::ForceField(*i));
                let stiffness = self.evaluation.stiffness(*i).block(e);
                if self.wanted.damping && self.evaluation.is_damped(*i) {
                    let damping = self.evaluation.damping(*i).block(e);
                    block
                        .iter_mut()
                        .zip(damping)
                        .for_each(|(t, b)| *t += h * alpha * b);
                }
                let gain = h * h * alpha * beta;
                block.iter_mut().zip(stiffness).for_each(|(t, k)| *t += gain * k);
                for (r, k) in stiffness.chunks_exact(size).enumerate() {
                    let kv: f64 = k.iter().zip(v).map(|(k, v)| k * v).sum();
                    terms.push((first + r, -h * h * alpha * kv));
                }
                any = true;
            }
        }
        any
    }

    /// The same of an element that hangs on one of `width` coordinates, pulled to it.
    #[inline(always)]
    fn add_hanging(&self, node: usize, e: usize, width: usize, slot: &mut Slot) {
        let size = self.model.nodes()[node].space.velocity_size();
        slot.own[..size * size].fill(0.0);
        if let Some(j) = self.evaluation.jacobian(node)
            && self.add_own(node, e, &mut slot.own, &mut slot.terms)
        {
            let shape = (size, width);
            pull(&slot.own, j.block(e), shape, &mut slot.product, &mut slot.point);
        }
    }

    /// `-h^2 alpha beta G` of an element that hangs on element `q`, and `h^2 alpha G v` to the right-hand side.
    #[inline(always)]
    fn add_geometry(
        &self,
        at: (usize, usize),
        (q, shape): (usize, Shape),
        g: &[f64],
        order: &[usize],
        slot: &mut Slot,
    ) {
        if !self.take_geometry(at, (q, shape), g, order, slot) {
            return;
        }
        let size = shape.d * shape.m;
        let block = &slot.geometry[..size * size];
        for (t, b) in slot.point.iter_mut().zip(block) {
            *t += self.scheme.beta * b;
        }
        let first = self.model.nodes()[self.bundle.node].first_velocity + q * size;
        let v = &self.state.velocities[first..first + size];
        for (r, row) in block.chunks_exact(size).enumerate() {
            let sum: f64 = row.iter().zip(v).map(|(b, v)| b * v).sum();
            slot.terms.push((first + r, -sum));
        }
    }

    /// `-h^2 alpha G`, as much as the mode takes of it, of an element that hangs on element `q`, into `slot.geometry`. Whether there is any.
    #[inline(always)]
    fn take_geometry(
        &self,
        (node, e): (usize, usize),
        (q, shape): (usize, Shape),
        g: &[f64],
        order: &[usize],
        slot: &mut Slot,
    ) -> bool {
        let (Some((mode, _)), Some(source)) = (self.wanted.geometry, self.evaluation.geometric_blocks(node))
        else {
            return false;
        };
        let size = shape.d * shape.m;
        let gain = self.scheme.h * self.scheme.h * self.scheme.alpha;
        let block = &mut slot.geometry[..size * size];
        for (b, g) in block.iter_mut().zip(source.block(e)) {
            *b = -gain * g;
        }
        filter(mode, size, block, &mut slot.eigen);
        if takes_shares(mode) {
            // The sums are written again by the whole run.
            let rows = g.len() / shape.n;
            expand(shape, block, g, (0, rows), &mut slot.alone);
            contract(shape, g, &slot.alone, &mut slot.sums);
            let width = shape.d * shape.n;
            let on_dofs = &mut slot.matrix[..width * width];
            for (r, row) in on_dofs.chunks_exact_mut(width).enumerate() {
                for (c, b) in row.iter_mut().enumerate() {
                    let at = |k: usize| (order[k / shape.d], k % shape.d);
                    *b = self.scheme.beta * sum_of(&slot.sums, shape.n, at(r), at(c));
                }
            }
            let run_columns = self.plan.jacobians.columns(self.bundle.node, q);
            let dofs = || run_columns.iter().flat_map(|c| c.dof..c.dof + c.size);
            let share = share_of(mode, on_dofs, dofs, self.mass_diagonal);
            if share == 0.0 {
                return false;
            }
            block.iter_mut().for_each(|b| *b *= share);
        }
        true
    }

    /// `-h^2 alpha u^T G u` of all that hangs on a run, with the velocities `u` of all nodes.
    fn geometry_form(&self, run: &Run, u: &[f64], slot: &mut Slot) -> f64 {
        let (d, m) = self.bundle.shape;
        let Some(blocks) = self.evaluation.jacobian(self.bundle.node) else {
            return 0.0;
        };
        let n = blocks.width(run.elements.start);
        let (shape, size) = (Shape { d, m, n }, d * m);
        let mut sum = 0.0;
        for q in run.elements.clone() {
            let first = self.model.nodes()[self.bundle.node].first_velocity + q * size;
            for hanging in self.bundle.hanging.iter().filter(|h| h.acts) {
                for e in hanging.on(q) {
                    let at = (hanging.node, *e);
                    if self.take_geometry(at, (q, shape), blocks.block(q), &run.order, slot) {
                        sum += form(&slot.geometry, &u[first..first + size]);
                    }
                }
            }
        }
        sum
    }
}
