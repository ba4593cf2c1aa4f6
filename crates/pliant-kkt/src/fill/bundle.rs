//! The response of bundles: run by run, on threads if there are any.

use super::Step;
use super::element::{BlockShape, RowWindow, Shape, add_product, contract, expand, pull};
use super::geometry::{GeometricLoad, filter, form, share_of, takes_shares};
use super::response::Target;
use crate::plan::{Bundle, DependencyCoordinate, Plan, Run, Sizes, sum_of};
use crate::{KktError, Scheme};
use pliant_model::{ComponentId, ElementIndex, Evaluation, NodeKind, Problem};
use pliant_sparse::{Pattern, SparseError, Threads};
use std::convert::Infallible;
use std::ops::Range;

/// Scratch of one run, and what it gives.
#[derive(Clone, Debug)]
struct Slot {
    point: Vec<f64>,
    own: Vec<f64>,
    product: Vec<f64>,
    geometry: Vec<f64>,
    eigen: Vec<f64>,
    half: Vec<f64>,
    /// Block of one element.
    alone: Vec<f64>,
    /// Sums of the run, for each pair of coordinates of a parent.
    sums: Vec<f64>,
    /// Block over the columns of the run.
    matrix: Vec<f64>,
    /// Terms of the right-hand side of the elements of the run.
    rhs: Vec<f64>,
    /// Terms of the right-hand side of one element that hangs on one.
    force: Vec<f64>,
    /// A form of the run.
    form: f64,
    run: usize,
}

impl Slot {
    fn new(s: Sizes) -> Self {
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
            rhs: vec![0.0; s.rhs],
            force: vec![0.0; s.own],
            form: 0.0,
            run: 0,
        }
    }
}

/// Where the rows of `W` are cut between threads that add a piece of the runs to them: degrees of
/// freedom, and where their values begin.
#[derive(Clone, Debug)]
struct Cut {
    dofs: Vec<usize>,
    values: Vec<usize>,
}

/// The runs of all bundles, and the threads that share them.
#[derive(Debug)]
pub(super) struct Runs {
    threads: Threads,
    /// One for each run that is computed side by side.
    slots: Vec<Slot>,
    /// With threads, for each bundle and each piece of its runs.
    cuts: Vec<Vec<Cut>>,
    /// For each bundle whether what hangs on it has geometric stiffness in the fill at hand.
    acting: Vec<Vec<bool>>,
}

impl Runs {
    pub(super) fn new(problem: &Problem, plan: &Plan) -> Self {
        let sizes = plan.bundles.iter().map(|b| b.sizes(problem, &plan.jacobians));
        let acting = plan.bundles.iter().map(|b| vec![false; b.hanging.len()]);
        Self {
            threads: Threads::one(),
            slots: vec![Slot::new(sizes.fold(Sizes::default(), Sizes::max))],
            cuts: Vec::new(),
            acting: acting.collect(),
        }
    }

    pub(super) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Takes so many threads, for the given pattern of `W`; 0 counts as 1.
    pub(super) fn share(&mut self, threads: usize, plan: &Plan, w: &Pattern) -> Result<(), KktError> {
        let threads = threads.max(1);
        if plan.bundles.is_empty() || threads == self.threads.count() {
            return Ok(());
        }
        self.threads = Threads::new(threads).map_err(SparseError::from)?;
        let slots = if threads > 1 { SIDE_BY_SIDE } else { 1 };
        let one = self.slots[0].clone();
        self.slots.resize(slots, one);
        self.cuts.clear();
        if threads > 1 {
            self.cuts = plan_cuts(plan, w, threads);
        }
        Ok(())
    }
}

/// Finds for each piece of the runs of each bundle the cuts that give so many threads the same to
/// add. No bit depends on where they are: every row is added to in the order of the runs.
fn plan_cuts(plan: &Plan, w: &Pattern, parts: usize) -> Vec<Vec<Cut>> {
    let (all, end) = (w.rows(), w.len());
    let value = |dof: usize| if dof < all { w.row_slots(dof).start } else { end };
    let of_piece = |runs: &[Run]| {
        let mut rows: Vec<usize> = Vec::new();
        for run in runs {
            for (rank, c) in plan.jacobians.columns_of(run.site.place).iter().enumerate() {
                rows.extend(std::iter::repeat_n(c.dof, rank + 1));
            }
        }
        rows.sort_unstable();
        let inner = (1..parts).map(|p| rows.get(p * rows.len() / parts).copied().unwrap_or(all));
        let dofs: Vec<usize> = std::iter::once(0).chain(inner).chain([all]).collect();
        let values = dofs.iter().map(|d| value(*d)).collect();
        Cut { dofs, values }
    };
    let of_bundle = |b: &Bundle| b.runs.chunks(SIDE_BY_SIDE).map(of_piece).collect();
    plan.bundles.iter().map(of_bundle).collect()
}

/// Runs between two looks at the system: with threads they are computed side by side, and then
/// added in their order.
const SIDE_BY_SIDE: usize = 128;

/// The terms of the response that are wanted.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Masses, times this.
    pub(super) masses: Option<f64>,
    /// Springs, and dampers if wanted.
    pub(super) fields: bool,
    pub(super) damping: bool,
    /// Geometric stiffness of the forces of one origin.
    pub(super) geometry: Option<GeometricLoad<'a>>,
}

impl<'a> Wanted<'a> {
    /// Geometric stiffness alone.
    pub(super) fn geometry(geometry: GeometricLoad<'a>) -> Self {
        Self {
            masses: None,
            fields: false,
            damping: false,
            geometry: Some(geometry),
        }
    }
}

/// The values that are read while a run is computed.
struct RunInput<'a> {
    step: Step<'a>,
    evaluation: &'a Evaluation,
    plan: &'a Plan,
    bundle: &'a Bundle,
    /// Whether what hangs on the bundle has geometric stiffness.
    acting: &'a [bool],
    wanted: Wanted<'a>,
}

/// An element `q` of the node of a bundle, on which others hang.
#[derive(Clone, Copy)]
struct RunElement {
    q: usize,
    shape: Shape,
}

/// One run, to be computed with the registers of the machine: all of it is inlined into code that
/// knows them, which a closure of this size would not be.
struct Job<'a, 'b> {
    input: &'a RunInput<'b>,
    slot: &'a mut Slot,
}

impl pulp::NullaryFnOnce for Job<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.input.compute(self.slot);
    }
}

impl Runs {
    /// Adds what bundles have to `W` and to the right-hand side of all nodes.
    pub(super) fn fill(
        &mut self,
        plan: &Plan,
        evaluation: &mut Evaluation,
        step: Step<'_>,
        wanted: Wanted<'_>,
        target: &mut Target<'_>,
    ) {
        for (at, bundle) in plan.bundles.iter().enumerate() {
            let geometric = self.find_hanging_geometry(plan, evaluation, at, wanted.geometry.as_ref());
            let nodes = || std::iter::once(bundle.node).chain(bundle.hanging.iter().map(|h| h.node));
            let attached = |n: usize| {
                let sites = &plan.nodes[n];
                wanted.masses.is_some() && !sites.masses.is_empty()
                    || wanted.fields && !sites.stiffnesses.is_empty()
            };
            if !geometric && !nodes().any(attached) {
                continue;
            }
            let input = RunInput {
                step,
                evaluation,
                plan,
                bundle,
                acting: &self.acting[at],
                wanted,
            };
            let arch = pulp::Arch::new();
            let (d, m) = bundle.shape;
            let (size, together) = (d * m, self.slots.len());
            let first = step.problem.nodes()[bundle.node].first_velocity;
            for (piece, runs) in bundle.runs.chunks(together).enumerate() {
                let slots = &mut self.slots[..runs.len()];
                for (k, slot) in slots.iter_mut().enumerate() {
                    slot.run = piece * together + k;
                }
                self.threads
                    .for_each(slots, |slot| arch.dispatch(Job { input: &input, slot }));
                for (run, slot) in runs.iter().zip(&self.slots) {
                    let terms = &slot.rhs[..run.elements.len() * size];
                    let rhs = &mut target.rhs[first + run.elements.start * size..];
                    rhs.iter_mut().zip(terms).for_each(|(r, t)| *r += t);
                }
                let values = target.w.values_mut();
                let Some(cut) = self.cuts.get(at).and_then(|c| c.get(piece)) else {
                    for (run, slot) in runs.iter().zip(&self.slots) {
                        plan.add_sums_to_response(d, run, &slot.sums, 0..usize::MAX, 0, values);
                    }
                    continue;
                };
                let slots = &self.slots;
                let parts = (0..cut.dofs.len() - 1, 1);
                let add = |part: Range<usize>, values: &mut [f64]| {
                    let (rows, base) = (cut.dofs[part.start]..cut.dofs[part.end], cut.values[part.start]);
                    for (run, slot) in runs.iter().zip(slots) {
                        plan.add_sums_to_response(d, run, &slot.sums, rows.clone(), base, values);
                    }
                    Ok::<(), Infallible>(())
                };
                let Ok(()) = self.threads.for_each_piece(parts, |p| cut.values[p], values, add);
            }
        }
    }

    /// Notes where what hangs on a bundle has any `G`, and evaluates it where its mapping has it of
    /// all elements at once; whether there is any.
    pub(super) fn find_hanging_geometry(
        &mut self,
        plan: &Plan,
        evaluation: &mut Evaluation,
        bundle: usize,
        wanted: Option<&GeometricLoad<'_>>,
    ) -> bool {
        let acting = &mut self.acting[bundle];
        for (acts, hanging) in acting.iter_mut().zip(&plan.bundles[bundle].hanging) {
            *acts = wanted.is_some_and(|GeometricLoad { step, gamma, .. }| {
                let range = step.problem.nodes()[hanging.node].velocity_range();
                plan.nodes[hanging.node].geometric
                    && gamma[range].iter().any(|g| *g != 0.0)
                    && (in_pieces(step.problem, hanging.node)
                        || evaluation
                            .geometric_stiffness(step.problem, step.state, hanging.node, gamma)
                            .is_some())
            });
        }
        acting.contains(&true)
    }

    /// Visits `-h^2 alpha G` of all that hangs on bundles, as much as the mode takes of it: the
    /// first of the coordinates of all nodes that it acts on and how many, and the block. `G` is
    /// evaluated.
    pub(super) fn visit_geometry(
        &mut self,
        evaluation: &mut Evaluation,
        geometry: GeometricLoad<'_>,
        mut visit: impl FnMut((usize, usize), &[f64]),
    ) {
        for at in 0..geometry.plan.bundles.len() {
            if self.find_hanging_geometry(geometry.plan, evaluation, at, Some(&geometry)) {
                let input = RunInput::of_geometry(geometry, evaluation, at, &self.acting[at]);
                for run in &input.bundle.runs {
                    input.visit_geometry(run, &mut self.slots[0], &mut visit);
                }
            }
        }
    }

    /// `-h^2 alpha u^T G u` of all that hangs on bundles, as much as the mode takes of it, with the
    /// velocities `u` of all nodes. Where there is any it is evaluated.
    pub(super) fn geometry_form(
        &mut self,
        evaluation: &Evaluation,
        geometry: GeometricLoad<'_>,
        u: &[f64],
    ) -> f64 {
        let mut sum = 0.0;
        for (at, bundle) in geometry.plan.bundles.iter().enumerate() {
            if !self.acting[at].contains(&true) {
                continue;
            }
            let input = RunInput::of_geometry(geometry, evaluation, at, &self.acting[at]);
            let together = self.slots.len();
            for (piece, runs) in bundle.runs.chunks(together).enumerate() {
                let slots = &mut self.slots[..runs.len()];
                for (k, slot) in slots.iter_mut().enumerate() {
                    slot.run = piece * together + k;
                }
                self.threads.for_each(slots, |slot| {
                    slot.form = input.geometry_form(&bundle.runs[slot.run], u, slot);
                });
                sum += slots.iter().map(|s| s.form).sum::<f64>();
            }
        }
        sum
    }
}

/// Whether a mapped node's blocks `G` are made where they are wanted.
fn in_pieces(problem: &Problem, node: usize) -> bool {
    match &problem.nodes()[node].kind {
        NodeKind::Mapped { mapping, .. } => mapping.pieces().is_some(),
        NodeKind::Independent { .. } => false,
    }
}

impl<'a> RunInput<'a> {
    /// The values for the geometric stiffness of one bundle alone.
    fn of_geometry(
        geometry: GeometricLoad<'a>,
        evaluation: &'a Evaluation,
        bundle: usize,
        acting: &'a [bool],
    ) -> Self {
        Self {
            step: geometry.step,
            evaluation,
            plan: geometry.plan,
            bundle: &geometry.plan.bundles[bundle],
            acting,
            wanted: Wanted::geometry(geometry),
        }
    }

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
        for (k, q) in run.elements.clone().enumerate() {
            slot.point[..size * size].fill(0.0);
            let at = k * size;
            slot.rhs[at..at + size].fill(0.0);
            self.add_own(self.bundle.node, q, &mut slot.point, &mut slot.rhs[at..at + size]);
            for (hanging, acts) in self.bundle.hanging.iter().zip(self.acting) {
                for e in hanging.on(q) {
                    let of = ElementIndex {
                        node: hanging.node,
                        element: *e,
                    };
                    self.add_hanging(of, at..at + size, slot);
                    if *acts {
                        self.add_geometry(of, RunElement { q, shape }, blocks.block(q), run, slot);
                    }
                }
            }
            expand(
                shape,
                &slot.point,
                blocks.block(q),
                RowWindow {
                    row: k * m,
                    rows: g.len() / n,
                },
                &mut slot.half,
            );
        }
        contract(shape, g, &slot.half, &mut slot.sums);
    }

    /// Masses, springs and dampers on one element, and what springs add to its right-hand side.
    /// Whether there are any.
    #[inline(always)]
    fn add_own(&self, node: usize, e: usize, block: &mut [f64], rhs: &mut [f64]) -> bool {
        let sites = &self.plan.nodes[node];
        let node = &self.step.problem.nodes()[node];
        let size = node.space.velocity_size();
        let block = &mut block[..size * size];
        let mut any = false;
        if let (Some(gain), false) = (self.wanted.masses, sites.masses.is_empty()) {
            for i in &sites.masses {
                self.step.problem.masses()[*i]
                    .component
                    .add_block(node.space, e, block);
            }
            block.iter_mut().for_each(|m| *m *= gain);
            any = true;
        }
        if self.wanted.fields {
            let Scheme { h, beta, .. } = *self.step.scheme;
            let first = node.first_velocity + e * size;
            let v = &self.step.state.velocities[first..first + size];
            for i in &sites.stiffnesses {
                let alpha = self.step.scheme.alpha_of(ComponentId::ForceField(*i));
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
                add_product(stiffness, -h * h * alpha, v, rhs);
                any = true;
            }
        }
        any
    }

    /// Adds the blocks of an element that hangs on one of `width` coordinates, pulled to it; its
    /// right-hand side begins at `at` in that of the run.
    #[inline(always)]
    fn add_hanging(&self, at: ElementIndex, rhs: Range<usize>, slot: &mut Slot) {
        let (ElementIndex { node, element: e }, width) = (at, rhs.len());
        let size = self.step.problem.nodes()[node].space.velocity_size();
        slot.own[..size * size].fill(0.0);
        slot.force[..size].fill(0.0);
        if let Some(j) = self.evaluation.jacobian(node)
            && self.add_own(node, e, &mut slot.own, &mut slot.force[..size])
        {
            let (shape, j) = (BlockShape { size, width }, j.block(e));
            pull(&slot.own, j, shape, &mut slot.product, &mut slot.point);
            let rhs = &mut slot.rhs[rhs];
            for (f, j) in slot.force[..size].iter().zip(j.chunks_exact(width)) {
                rhs.iter_mut().zip(j).for_each(|(r, j)| *r += j * f);
            }
        }
    }

    /// `-h^2 alpha beta G` of an element that hangs on element `q`, and `h^2 alpha G v` to the
    /// right-hand side.
    #[inline(always)]
    fn add_geometry(&self, at: ElementIndex, parent: RunElement, g: &[f64], run: &Run, slot: &mut Slot) {
        let RunElement { q, shape } = parent;
        if !self.take_geometry(at, parent, g, &run.order, slot) {
            return;
        }
        let size = shape.d * shape.m;
        let block = &slot.geometry[..size * size];
        for (t, b) in slot.point.iter_mut().zip(block) {
            *t += self.step.scheme.beta * b;
        }
        let first = self.step.problem.nodes()[self.bundle.node].first_velocity + q * size;
        let v = &self.step.state.velocities[first..first + size];
        let rhs = &mut slot.rhs[(q - run.elements.start) * size..][..size];
        add_product(block, -1.0, v, rhs);
    }

    /// `-h^2 alpha G`, as much as the mode takes of it, of an element that hangs on element `q`,
    /// into `slot.geometry`. Whether there is any.
    #[inline(always)]
    fn take_geometry(
        &self,
        at: ElementIndex,
        RunElement { q, shape }: RunElement,
        g: &[f64],
        order: &[usize],
        slot: &mut Slot,
    ) -> bool {
        let Some(GeometricLoad {
            step,
            mode,
            gamma,
            masses,
            ..
        }) = self.wanted.geometry
        else {
            return false;
        };
        let size = shape.d * shape.m;
        let gain = step.geometric_gain();
        let block = &mut slot.geometry[..size * size];
        let evaluation = self.evaluation;
        if !evaluation.write_geometric_stiffness(step.problem, step.state, at, gamma, block) {
            let Some(source) = evaluation.geometric_blocks(at.node) else {
                return false;
            };
            block.copy_from_slice(source.block(at.element));
        }
        block.iter_mut().for_each(|b| *b *= -gain);
        filter(mode, size, block, &mut slot.eigen);
        if takes_shares(mode) {
            // The sums are written again by the whole run.
            let rows = g.len() / shape.n;
            expand(shape, block, g, RowWindow { row: 0, rows }, &mut slot.alone);
            contract(shape, g, &slot.alone, &mut slot.sums);
            let width = shape.d * shape.n;
            let on_dofs = &mut slot.matrix[..width * width];
            for (r, row) in on_dofs.chunks_exact_mut(width).enumerate() {
                for (c, b) in row.iter_mut().enumerate() {
                    let at = |k: usize| DependencyCoordinate {
                        a: order[k / shape.d],
                        i: k % shape.d,
                    };
                    *b = self.step.scheme.beta * sum_of(&slot.sums, shape.n, at(r), at(c));
                }
            }
            let run_columns = self.plan.jacobians.columns(self.bundle.node, q);
            let dofs = || run_columns.iter().flat_map(|c| c.dof..c.dof + c.size);
            let share = share_of(mode, on_dofs, dofs, masses);
            if share == 0.0 {
                return false;
            }
            block.iter_mut().for_each(|b| *b *= share);
        }
        true
    }

    /// `-h^2 alpha u^T G u` of all that hangs on a run, with the velocities `u` of all nodes.
    fn geometry_form(&self, run: &Run, u: &[f64], slot: &mut Slot) -> f64 {
        let mut sum = 0.0;
        self.visit_geometry(run, slot, &mut |(first, size), block| {
            sum += form(block, &u[first..first + size]);
        });
        sum
    }

    /// Visits `-h^2 alpha G` of all that hangs on a run, each with the first coordinate of its
    /// element and how many it has.
    fn visit_geometry(&self, run: &Run, slot: &mut Slot, visit: &mut impl FnMut((usize, usize), &[f64])) {
        let (d, m) = self.bundle.shape;
        let Some(blocks) = self.evaluation.jacobian(self.bundle.node) else {
            return;
        };
        let n = blocks.width(run.elements.start);
        let (shape, size) = (Shape { d, m, n }, d * m);
        for q in run.elements.clone() {
            let first = self.step.problem.nodes()[self.bundle.node].first_velocity + q * size;
            let hanging = self.bundle.hanging.iter().zip(self.acting);
            for (hanging, _) in hanging.filter(|(_, acts)| **acts) {
                for e in hanging.on(q) {
                    let at = ElementIndex {
                        node: hanging.node,
                        element: *e,
                    };
                    let parent = RunElement { q, shape };
                    if self.take_geometry(at, parent, blocks.block(q), &run.order, slot) {
                        visit((first, size), &slot.geometry[..size * size]);
                    }
                }
            }
        }
    }
}
