//! The response matrix `W` and what springs and dampers add to the right-hand side.

use super::Step;
use super::bundle::{Runs, Wanted};
use super::geometry::Loads;
use crate::jacobian::{ColumnSource, Jacobians};
use crate::plan::Plan;
use pliant_model::{ComponentId, Evaluation, Model, Problem};
use pliant_sparse::CsrMatrix;

/// Which terms of the response matrix are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terms {
    /// The masses alone.
    Masses,
    /// The terms of a step.
    All,
    /// Stiffness and geometric stiffness: of rest.
    Stiffness,
    /// Masses and stiffness, without damping.
    Elastic,
    /// Geometric stiffness alone.
    Geometry,
}

/// The elements whose terms are added together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    /// Elements that processes share out.
    Shared,
    /// Elements that every process has.
    Whole,
}

impl Elements {
    /// Whether the elements of a node are of this kind.
    pub(super) fn has(self, model: &Model, node: usize) -> bool {
        model.element_share(node).is_some() == (self == Self::Shared)
    }
}

/// The sums that the terms of a step are added to.
pub(super) struct Target<'a> {
    /// The response matrix.
    pub(super) w: &'a mut CsrMatrix,
    /// The right-hand side of all nodes.
    pub(super) rhs: &'a mut [f64],
}

/// Scratch: dense blocks of the element at hand.
#[derive(Debug)]
pub(super) struct ElementBlocks {
    /// Block over the element's own coordinates.
    own: Vec<f64>,
    /// Block over the coordinates of its sources: the parents of an element, the elements of a
    /// group.
    pub(super) sources: Vec<f64>,
    /// Block over the degrees of freedom.
    dofs: Vec<f64>,
    /// Jacobians of the sources, stacked.
    stack: Vec<f64>,
    /// Product of a block and a Jacobian.
    pub(super) product: Vec<f64>,
    /// Scratch of eigenvalues.
    pub(super) eigen: Vec<f64>,
}

impl ElementBlocks {
    pub(super) fn new(problem: &Problem, plan: &Plan) -> Self {
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
        Self {
            own: vec![0.0; own * own],
            sources: vec![0.0; (stack * stack).max(9)],
            dofs: vec![0.0; width * width],
            stack: vec![0.0; stack * width],
            product: vec![0.0; stack.max(own) * width.max(own)],
            eigen: vec![0.0; (2 * stack * stack).max(18)],
        }
    }

    /// Pulls the block over the sources of a place to the degrees of freedom; see
    /// [`Self::on_dofs`].
    pub(super) fn pull(&mut self, jacobians: &Jacobians, place: ColumnSource) -> &mut [f64] {
        if !jacobians.stack_is_identity(place) {
            let (height, width) = (jacobians.stack_height(place), jacobians.width_of(place));
            jacobians.stack(place, &mut self.stack[..height * width]);
            congruence(
                &self.sources,
                &self.stack,
                height,
                width,
                &mut self.product,
                &mut self.dofs,
            );
        }
        self.on_dofs(jacobians, place)
    }

    /// The block over the degrees of freedom that was pulled last: that over the sources itself,
    /// where these are the degrees of freedom.
    pub(super) fn on_dofs(&mut self, jacobians: &Jacobians, place: ColumnSource) -> &mut [f64] {
        let width = jacobians.width_of(place);
        let block = if jacobians.stack_is_identity(place) {
            &mut self.sources
        } else {
            &mut self.dofs
        };
        &mut block[..width * width]
    }
}

/// Fills the response matrix.
#[derive(Debug)]
pub(super) struct Response {
    /// The right-hand side of all nodes.
    pub(super) rhs: Vec<f64>,
    pub(super) loads: Loads,
    pub(super) blocks: ElementBlocks,
    pub(super) runs: Runs,
}

impl Response {
    pub(super) fn new(problem: &Problem, plan: &Plan) -> Self {
        Self {
            rhs: vec![0.0; problem.velocity_count()],
            loads: Loads::new(problem),
            blocks: ElementBlocks::new(problem, plan),
            runs: Runs::new(problem, plan),
        }
    }

    /// The wanted terms of `W = M + h alpha B + h^2 alpha beta (K - G)`, and with stiffness
    /// `rhs -= h^2 alpha (K - G) v`; those of elements that processes share out first, summed over
    /// all of them. `w` is zero.
    pub(super) fn fill(
        &mut self,
        plan: &Plan,
        evaluation: &mut Evaluation,
        step: Step<'_>,
        terms: Terms,
        w: &mut CsrMatrix,
    ) {
        let mut rhs = std::mem::take(&mut self.rhs);
        if let Some(processes) = step.problem.processes() {
            step.problem.complete([&mut rhs], |[rhs]| {
                let target = &mut Target { w, rhs };
                self.add(plan, evaluation, step, terms, Elements::Shared, target);
            });
            processes.sum(w.values_mut());
        }
        let target = &mut Target { w, rhs: &mut rhs };
        self.add(plan, evaluation, step, terms, Elements::Whole, target);
        self.rhs = rhs;
    }

    /// Adds the terms of the elements of some nodes.
    fn add(
        &mut self,
        plan: &Plan,
        evaluation: &mut Evaluation,
        step: Step<'_>,
        terms: Terms,
        of: Elements,
        target: &mut Target<'_>,
    ) {
        let Step { problem, scheme, .. } = step;
        let (dynamic, damped) = (terms != Terms::Masses, terms == Terms::All);
        let mut origins = scheme.geometry.origins();
        let geometry = origins.find(|o| dynamic && !o.from_rows);
        let wanted = Wanted {
            masses: match terms {
                Terms::All => Some(1.0 + scheme.h * scheme.alpha * problem.rayleigh().mass),
                Terms::Masses | Terms::Elastic => Some(1.0),
                Terms::Stiffness | Terms::Geometry => None,
            },
            fields: dynamic && terms != Terms::Geometry,
            damping: damped,
            geometry: geometry.map(|origin| self.loads.geometry(plan, step, origin)),
        };
        add_nodes(plan, evaluation, step, &wanted, of, &mut self.blocks, target);
        if of == Elements::Whole {
            add_coupled(plan, evaluation, step, &wanted, &mut self.blocks, target);
        }
        self.runs.fill(plan, evaluation, step, wanted, of, target);
        if !dynamic {
            return;
        }
        for origin in scheme.geometry.origins() {
            let geometry = self.loads.geometry(plan, step, origin);
            if damped && of == Elements::Whole {
                geometry.add_bodies(&mut self.blocks, target);
            }
            geometry.add_elements(evaluation, of, &mut self.blocks, target);
            // Those of the other origin were filled with the rest of the response.
            if origin.from_rows {
                let wanted = Wanted::geometry(geometry);
                self.runs.fill(plan, evaluation, step, wanted, of, target);
            }
        }
    }
}

/// Adds what is attached to the elements of nodes that are not bundled, each by itself.
fn add_nodes(
    plan: &Plan,
    evaluation: &Evaluation,
    step: Step<'_>,
    wanted: &Wanted<'_>,
    of: Elements,
    blocks: &mut ElementBlocks,
    target: &mut Target<'_>,
) {
    let Step {
        problem,
        scheme,
        state,
    } = step;
    let (h, beta) = (scheme.h, scheme.beta);
    let damping_gain = f64::from(u8::from(wanted.damping));
    for (index, node) in problem
        .nodes()
        .iter()
        .enumerate()
        .filter(|(i, _)| of.has(problem, *i))
    {
        let size = node.space.velocity_size();
        let first = node.first_velocity;
        let entry = &plan.nodes[index];
        if entry.bundled || entry.masses.is_empty() && entry.stiffnesses.is_empty() {
            continue;
        }
        for (e, site) in entry.sites.iter().enumerate() {
            let block = &mut blocks.own[..size * size];
            block.fill(0.0);
            if let Some(gain) = wanted.masses {
                for m in &entry.masses {
                    problem.masses()[*m].component.add_block(node.space, e, block);
                }
                if gain != 1.0 {
                    block.iter_mut().for_each(|m| *m *= gain);
                }
            }
            let v = &state.velocities[first + e * size..][..size];
            let rhs = &mut target.rhs[first + e * size..][..size];
            for i in entry.stiffnesses.iter().filter(|_| wanted.fields) {
                let alpha = scheme.alpha_of(ComponentId::ForceField(*i));
                let k = evaluation.stiffness_block(problem, *i, e, &mut blocks.product);
                let b = evaluation.damping(*i).block(e);
                for (t, (k, b)) in block.iter_mut().zip(k.iter().zip(b)) {
                    *t += h * alpha * (damping_gain * b + h * beta * k);
                }
                for (r, k) in rhs.iter_mut().zip(k.chunks_exact(size)) {
                    *r -= h * h * alpha * k.iter().zip(v).map(|(k, v)| k * v).sum::<f64>();
                }
            }
            let values = target.w.values_mut();
            match plan.jacobians.block(index, e) {
                None => plan.add_to_response(site, block, values),
                Some(j) => {
                    let width = plan.jacobians.width(index, e);
                    congruence(block, j, size, width, &mut blocks.product, &mut blocks.dofs);
                    plan.add_to_response(site, &blocks.dofs, values);
                }
            }
        }
    }
}

/// Adds what couples the elements of a group.
fn add_coupled(
    plan: &Plan,
    evaluation: &Evaluation,
    step: Step<'_>,
    wanted: &Wanted<'_>,
    blocks: &mut ElementBlocks,
    target: &mut Target<'_>,
) {
    let Step {
        problem,
        scheme,
        state,
    } = step;
    let (h, beta) = (scheme.h, scheme.beta);
    let damping_gain = f64::from(u8::from(wanted.damping));
    for coupled in &plan.coupled {
        let node = &problem.nodes()[coupled.node];
        let size = node.space.velocity_size();
        let width = coupled.elements.len() * size;
        let block = &mut blocks.sources[..width * width];
        block.fill(0.0);
        match (coupled.source, wanted.masses) {
            (ComponentId::Mass(m), Some(gain)) => {
                problem.masses()[m]
                    .component
                    .add_block(node.space, coupled.group, block);
                block.iter_mut().for_each(|m| *m *= gain);
            }
            (ComponentId::ForceField(i), _) if wanted.fields => {
                let alpha = scheme.alpha_of(coupled.source);
                let k = evaluation.stiffness_block(problem, i, coupled.group, &mut blocks.product);
                let b = evaluation.damping(i).block(coupled.group);
                for (t, (k, b)) in block.iter_mut().zip(k.iter().zip(b)) {
                    *t += h * alpha * (damping_gain * b + h * beta * k);
                }
                let at = |c: usize| node.first_velocity + coupled.elements[c / size] * size + c % size;
                for (r, k) in k.chunks_exact(width).enumerate() {
                    let sum: f64 = k
                        .iter()
                        .enumerate()
                        .map(|(c, k)| k * state.velocities[at(c)])
                        .sum();
                    target.rhs[at(r)] -= h * h * alpha * sum;
                }
            }
            _ => continue,
        }
        let on_dofs = blocks.pull(&plan.jacobians, coupled.site.place);
        plan.add_to_response(&coupled.site, on_dofs, target.w.values_mut());
    }
}

/// `out = J^T A J` for a symmetric `size x size` block `A` and a `size x width` block `J`;
/// `product` is scratch.
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
