//! The runs of one thread: blocks of elements pulled to the nodes and summed.

use super::Step;
use super::bundle::{Wanted, in_pieces};
use super::element::{BlockShape, RowWindow, Shape, add_symmetric, contract, expand, pull};
use super::geometry::{GeometricLoad, filter, share_of, takes_shares};
use crate::Scheme;
use crate::plan::{Bundle, DependencyCoordinate, Plan, Run, Sizes, sum_of};
use pliant_model::{ComponentId, Evaluation};
use std::ops::Range;

/// Elements whose geometric stiffness is evaluated together: some registers full, and few enough to
/// stay in the nearest cache.
pub(super) const BATCH: usize = 16;

/// Consecutive runs that one thread computes, and what they give.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The runs, by their numbers in the bundle.
    pub(super) runs: Range<usize>,
    /// Sums of each run, for each pair of coordinates of a parent.
    sums: Vec<f64>,
    /// Terms of the right-hand side of the elements of the runs, one after the other.
    rhs: Vec<f64>,
    /// A form of the runs.
    pub(super) form: f64,
    pub(super) scratch: Scratch,
}

/// Scratch of a few runs.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    point: Vec<f64>,
    own: Vec<f64>,
    product: Vec<f64>,
    /// Geometric stiffness of all that hangs on the elements of the runs: of each node that hangs on
    /// them, one element after the other.
    geometry: Vec<f64>,
    /// Jacobians of what hangs there, where they are not stored: as the geometric stiffness.
    jacobians: Vec<f64>,
    /// A stiffness block that is not stored.
    stiffness: Vec<f64>,
    eigen: Vec<f64>,
    half: Vec<f64>,
    /// Block of one element, and its sums.
    alone: Vec<f64>,
    alone_sums: Vec<f64>,
    /// Block over the columns of the run.
    matrix: Vec<f64>,
    /// Terms of the right-hand side of one element that hangs on one.
    force: Vec<f64>,
}

impl Slot {
    /// Room for so many runs.
    pub(super) fn new(s: Sizes, runs: usize) -> Self {
        Self {
            runs: 0..0,
            sums: vec![0.0; s.sums * runs],
            rhs: vec![0.0; s.rhs * runs],
            form: 0.0,
            scratch: Scratch {
                point: vec![0.0; s.point * s.point],
                own: vec![0.0; s.own * s.own],
                product: vec![0.0; s.own * s.point],
                geometry: vec![0.0; s.point * s.point * s.hanging * BATCH.max(s.elements)],
                jacobians: vec![0.0; s.own * s.point * s.hanging * BATCH.max(s.elements)],
                stiffness: vec![0.0; s.own.max(s.point).pow(2)],
                eigen: vec![0.0; 2 * s.point * s.point],
                half: vec![0.0; s.half],
                alone: vec![0.0; s.half],
                alone_sums: vec![0.0; s.sums],
                matrix: vec![0.0; s.width * s.width],
                force: vec![0.0; s.own],
            },
        }
    }
}

impl Slot {
    /// The runs that were computed, each with its sums and its terms of the right-hand side.
    pub(super) fn done<'a>(
        &'a self,
        bundle: &'a Bundle,
        sizes: Sizes,
    ) -> impl Iterator<Item = (&'a Run, &'a [f64], &'a [f64])> {
        let runs = bundle.runs[self.runs.clone()].iter();
        let sums = self.sums.chunks_exact(sizes.sums.max(1));
        let terms = self.rhs.chunks_exact(sizes.rhs.max(1));
        runs.zip(sums)
            .zip(terms)
            .map(|((run, sums), terms)| (run, sums, terms))
    }
}

/// The values that are read while a run is computed.
pub(super) struct RunInput<'a> {
    pub(super) step: Step<'a>,
    pub(super) evaluation: &'a Evaluation,
    pub(super) plan: &'a Plan,
    pub(super) bundle: &'a Bundle,
    pub(super) sizes: Sizes,
    /// Whether what hangs on the bundle has geometric stiffness.
    pub(super) acting: &'a [bool],
    pub(super) wanted: Wanted<'a>,
}

/// An element `q` of the node of a bundle, on which others hang.
#[derive(Clone, Copy)]
struct RunElement {
    q: usize,
    shape: Shape,
}

/// The runs of a slot, to be computed with the registers of the machine: all of it is inlined into code that
/// knows them, which a closure of this size would not be.
pub(super) struct Job<'a, 'b> {
    pub(super) input: &'a RunInput<'b>,
    pub(super) slot: &'a mut Slot,
}

impl pulp::NullaryFnOnce for Job<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.input.compute(self.slot);
    }
}

impl<'a> RunInput<'a> {
    /// The values for the geometric stiffness of one bundle alone.
    pub(super) fn of_geometry(
        geometry: GeometricLoad<'a>,
        evaluation: &'a Evaluation,
        bundle: usize,
        acting: &'a [bool],
        sizes: Sizes,
    ) -> Self {
        Self {
            step: geometry.step,
            evaluation,
            plan: geometry.plan,
            bundle: &geometry.plan.bundles[bundle],
            sizes,
            acting,
            wanted: Wanted::geometry(geometry),
        }
    }

    /// The first of some runs, and those after it whose elements have room beside its own in the
    /// scratch.
    #[inline(always)]
    fn batch(&self, runs: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let all = &self.bundle.runs;
        let mut elements = all[runs.start].elements.clone();
        let mut end = runs.start + 1;
        while end < runs.end && all[end].elements.end - elements.start <= BATCH {
            elements.end = all[end].elements.end;
            end += 1;
        }
        (runs.start..end, elements)
    }

    /// The elements of a hanging node that hang on some elements, and where the block of geometric
    /// stiffness of the first of them is in the scratch.
    #[inline(always)]
    fn hanging_on(&self, among: usize, elements: Range<usize>) -> (Range<usize>, usize) {
        let room = BATCH.max(self.sizes.elements);
        let before = self.bundle.hanging[..among].iter();
        let first = before.map(|h| h.most).sum::<usize>() * room;
        (self.bundle.hanging[among].on(elements), first)
    }

    /// Evaluates `G` of all that hangs on some elements.
    #[inline(always)]
    fn evaluate_geometry(&self, elements: Range<usize>, scratch: &mut Scratch) {
        let Some(GeometricLoad { step, gamma, .. }) = self.wanted.geometry else {
            return;
        };
        let (d, m) = self.bundle.shape;
        let area = d * m * d * m;
        for (among, hanging) in self.bundle.hanging.iter().enumerate() {
            if !self.acting[among] {
                continue;
            }
            let (places, first) = self.hanging_on(among, elements.clone());
            let blocks = &mut scratch.geometry[first * area..][..places.len() * area];
            let write = |elements, out: &mut [f64]| {
                let of = (hanging.node, elements);
                self.evaluation
                    .write_geometric_stiffness(step.problem, step.state, of, gamma, out)
            };
            if hanging.in_order && in_pieces(step.problem, hanging.node) {
                write(places, blocks);
                continue;
            }
            for (e, block) in hanging.elements[places].iter().zip(blocks.chunks_exact_mut(area)) {
                if !write(*e..*e + 1, block)
                    && let Some(source) = self.evaluation.geometric_blocks(hanging.node)
                {
                    block.copy_from_slice(source.block(*e));
                }
            }
        }
    }

    /// Makes the Jacobians that are not stored of all that hangs on some elements.
    #[inline(always)]
    fn make_jacobians(&self, elements: Range<usize>, scratch: &mut Scratch) {
        let area = self.sizes.own * self.sizes.point;
        for (among, hanging) in self.bundle.hanging.iter().enumerate() {
            if self.evaluation.jacobian(hanging.node).is_some() {
                continue;
            }
            let (places, first) = self.hanging_on(among, elements.clone());
            let own = self.jacobian_size(hanging.node);
            let blocks = &mut scratch.jacobians[first * area..][..places.len() * own];
            let problem = self.step.problem;
            if hanging.in_order {
                self.evaluation
                    .write_jacobian(problem, hanging.node, places, blocks);
                continue;
            }
            for (e, block) in hanging.elements[places].iter().zip(blocks.chunks_exact_mut(own)) {
                self.evaluation
                    .write_jacobian(problem, hanging.node, *e..*e + 1, block);
            }
        }
    }

    /// Numbers of the Jacobian of an element that hangs on one.
    #[inline(always)]
    fn jacobian_size(&self, node: usize) -> usize {
        let (d, m) = self.bundle.shape;
        self.step.problem.nodes()[node].space.velocity_size() * d * m
    }

    /// The runs of a slot.
    #[inline(always)]
    fn compute(&self, slot: &mut Slot) {
        let Slot {
            runs,
            sums,
            rhs,
            scratch,
            ..
        } = slot;
        let Some(blocks) = self.evaluation.jacobian(self.bundle.node) else {
            return;
        };
        let (d, m) = self.bundle.shape;
        let mut left = runs.clone();
        while !left.is_empty() {
            let (batch, elements) = self.batch(&left);
            left.start = batch.end;
            self.evaluate_geometry(elements.clone(), scratch);
            self.make_jacobians(elements.clone(), scratch);
            for r in batch {
                let run = &self.bundle.runs[r];
                let n = blocks.width(run.elements.start);
                let sums = &mut sums[(r - runs.start) * self.sizes.sums..][..self.sizes.sums];
                let rhs = &mut rhs[(r - runs.start) * self.sizes.rhs..][..self.sizes.rhs];
                // Sizes of most solids as constants.
                match (d, m, n) {
                    (3, 3, 4) => {
                        let shape = Shape { d: 3, m: 3, n: 4 };
                        self.compute_run(run, shape, elements.start, scratch, sums, rhs);
                    }
                    (3, 3, 8) => {
                        let shape = Shape { d: 3, m: 3, n: 8 };
                        self.compute_run(run, shape, elements.start, scratch, sums, rhs);
                    }
                    _ => self.compute_run(run, Shape { d, m, n }, elements.start, scratch, sums, rhs),
                }
            }
        }
    }

    /// One run of a batch whose first element is `start`.
    #[inline(always)]
    fn compute_run(
        &self,
        run: &Run,
        shape: Shape,
        start: usize,
        scratch: &mut Scratch,
        sums: &mut [f64],
        rhs: &mut [f64],
    ) {
        let Shape { d, m, n } = shape;
        let size = d * m;
        let Some(blocks) = self.evaluation.jacobian(self.bundle.node) else {
            return;
        };
        let g = blocks.run(run.elements.clone());
        for (k, q) in run.elements.clone().enumerate() {
            scratch.point[..size * size].fill(0.0);
            let rhs = &mut rhs[k * size..][..size];
            rhs.fill(0.0);
            let own = &g[k * m * n..][..m * n];
            self.add_own(
                self.bundle.node,
                size,
                q,
                &mut scratch.point,
                &mut scratch.stiffness,
                rhs,
            );
            for (among, hanging) in self.bundle.hanging.iter().enumerate() {
                let (places, first) = self.hanging_on(among, q..q + 1);
                let before = self.bundle.hanging[among].on(start..q).len();
                for (at, place) in places.enumerate() {
                    let e = hanging.elements[place];
                    let made = first * self.sizes.own * self.sizes.point
                        + (before + at) * self.jacobian_size(hanging.node);
                    match self.step.problem.nodes()[hanging.node].space.velocity_size() {
                        6 => self.add_hanging(hanging.node, 6, e, made, rhs, scratch),
                        1 => self.add_hanging(hanging.node, 1, e, made, rhs, scratch),
                        s => self.add_hanging(hanging.node, s, e, made, rhs, scratch),
                    }
                    if self.acting[among] {
                        let block = first + before + at;
                        self.add_geometry(block, RunElement { q, shape }, own, run, scratch, rhs);
                    }
                }
            }
            let window = RowWindow {
                row: k * m,
                rows: run.elements.len() * m,
            };
            expand(shape, &scratch.point, own, window, &mut scratch.half);
        }
        contract(shape, g, &scratch.half, sums);
    }

    /// Masses, springs and dampers on one element of `size` coordinates, and what springs add to its
    /// right-hand side. Whether there are any.
    #[inline(always)]
    fn add_own(
        &self,
        node: usize,
        size: usize,
        e: usize,
        block: &mut [f64],
        room: &mut [f64],
        rhs: &mut [f64],
    ) -> bool {
        let sites = &self.plan.nodes[node];
        let node = &self.step.problem.nodes()[node];
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
                let problem = self.step.problem;
                let stiffness = &self.evaluation.stiffness_block(problem, *i, e, room)[..size * size];
                if self.wanted.damping && self.evaluation.is_damped(*i) {
                    let damping = &self.evaluation.damping(*i).block(e)[..size * size];
                    let rate = h * alpha;
                    block.iter_mut().zip(damping).for_each(|(t, b)| *t += rate * b);
                }
                let gain = h * h * alpha * beta;
                block.iter_mut().zip(stiffness).for_each(|(t, k)| *t += gain * k);
                add_symmetric(stiffness, -h * h * alpha, v, rhs);
                any = true;
            }
        }
        any
    }

    /// Adds the blocks of an element of `size` coordinates that hangs on one, pulled to it, and its
    /// terms of the right-hand side; its Jacobian begins at `made` in the scratch if it is not stored.
    #[inline(always)]
    fn add_hanging(
        &self,
        node: usize,
        size: usize,
        e: usize,
        made: usize,
        rhs: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let width = rhs.len();
        let (own, force) = (&mut scratch.own[..size * size], &mut scratch.force[..size]);
        own.fill(0.0);
        force.fill(0.0);
        if self.add_own(node, size, e, own, &mut scratch.stiffness, force) {
            let stored = self.evaluation.jacobian(node).map(|j| j.block(e));
            let j = &stored.unwrap_or(&scratch.jacobians[made..])[..size * width];
            let shape = BlockShape { size, width };
            pull(own, j, shape, &mut scratch.product, &mut scratch.point);
            for (f, j) in force.iter().zip(j.chunks_exact(width)) {
                rhs.iter_mut().zip(j).for_each(|(r, j)| *r += j * f);
            }
        }
    }

    /// `-h^2 alpha beta G` of what hangs on element `q`, and `h^2 alpha G v` to the right-hand side;
    /// its `G` is that of the scratch by this number.
    #[inline(always)]
    fn add_geometry(
        &self,
        block: usize,
        parent: RunElement,
        g: &[f64],
        run: &Run,
        scratch: &mut Scratch,
        rhs: &mut [f64],
    ) {
        let RunElement { q, shape } = parent;
        let size = shape.d * shape.m;
        if !self.take_geometry(block, parent, g, &run.order, scratch) {
            return;
        }
        let block = &scratch.geometry[block * size * size..][..size * size];
        let beta = self.step.scheme.beta;
        for (t, b) in scratch.point[..size * size].iter_mut().zip(block) {
            *t += beta * b;
        }
        let first = self.step.problem.nodes()[self.bundle.node].first_velocity + q * size;
        let v = &self.step.state.velocities[first..first + size];
        add_symmetric(block, -1.0, v, rhs);
    }

    /// Makes an evaluated `G` of what hangs on element `q` `-h^2 alpha G`, as much as the mode takes
    /// of it. Whether there is any.
    #[inline(always)]
    fn take_geometry(
        &self,
        block: usize,
        RunElement { q, shape }: RunElement,
        g: &[f64],
        order: &[usize],
        scratch: &mut Scratch,
    ) -> bool {
        let Some(GeometricLoad {
            step, mode, masses, ..
        }) = self.wanted.geometry
        else {
            return false;
        };
        let size = shape.d * shape.m;
        let gain = step.geometric_gain();
        let block = &mut scratch.geometry[block * size * size..][..size * size];
        block.iter_mut().for_each(|b| *b *= -gain);
        filter(mode, size, block, &mut scratch.eigen);
        if takes_shares(mode) {
            let (alone, sums) = (&mut scratch.alone[..], &mut scratch.alone_sums[..]);
            let window = RowWindow {
                row: 0,
                rows: shape.m,
            };
            expand(shape, block, g, window, alone);
            contract(shape, g, alone, sums);
            let width = shape.d * shape.n;
            let on_dofs = &mut scratch.matrix[..width * width];
            for (r, row) in on_dofs.chunks_exact_mut(width).enumerate() {
                for (c, b) in row.iter_mut().enumerate() {
                    let at = |k: usize| DependencyCoordinate {
                        a: order[k / shape.d],
                        i: k % shape.d,
                    };
                    *b = self.step.scheme.beta * sum_of(sums, shape.n, at(r), at(c));
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

    /// Visits `-h^2 alpha G` of all that hangs on some runs, each with the first coordinate of its
    /// element and how many it has.
    pub(super) fn visit_geometry(
        &self,
        mut runs: Range<usize>,
        scratch: &mut Scratch,
        visit: &mut impl FnMut((usize, usize), &[f64]),
    ) {
        let (d, m) = self.bundle.shape;
        let size = d * m;
        let Some(blocks) = self.evaluation.jacobian(self.bundle.node) else {
            return;
        };
        while !runs.is_empty() {
            let (batch, elements) = self.batch(&runs);
            runs.start = batch.end;
            self.evaluate_geometry(elements.clone(), scratch);
            for run in &self.bundle.runs[batch] {
                let n = blocks.width(run.elements.start);
                for q in run.elements.clone() {
                    let first = self.step.problem.nodes()[self.bundle.node].first_velocity + q * size;
                    let parent = RunElement {
                        q,
                        shape: Shape { d, m, n },
                    };
                    for among in (0..self.bundle.hanging.len()).filter(|a| self.acting[*a]) {
                        let (places, first_block) = self.hanging_on(among, q..q + 1);
                        let before = self.bundle.hanging[among].on(elements.start..q).len();
                        for at in 0..places.len() {
                            let block = first_block + before + at;
                            if self.take_geometry(block, parent, blocks.block(q), &run.order, scratch) {
                                let block = &scratch.geometry[block * size * size..][..size * size];
                                visit((first, size), block);
                            }
                        }
                    }
                }
            }
        }
    }
}
