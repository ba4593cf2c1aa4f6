//! The response of bundles: run by run, on threads if there are any.

use super::Step;
use super::geometry::{GeometricLoad, form};
use super::response::{Elements, Target};
use super::run::{BATCH, Job, RunInput, Slot};
use crate::KktError;
use crate::plan::{Bundle, Plan, Run, Sizes};
use pliant_model::{Evaluation, NodeKind, Problem};
use pliant_sparse::{Pattern, SparseError, Threads};
use std::convert::Infallible;
use std::ops::Range;

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
    sizes: Sizes,
    /// One for each thread to take its runs from.
    slots: Vec<Slot>,
    /// Runs of a slot.
    together: usize,
    /// With threads, for each bundle and each piece of its runs.
    cuts: Vec<Vec<Cut>>,
    /// For each bundle whether what hangs on it has geometric stiffness in the fill at hand.
    acting: Vec<Vec<bool>>,
}

impl Runs {
    pub(super) fn new(problem: &Problem, plan: &Plan) -> Self {
        let sizes = plan.bundles.iter().map(|b| b.sizes(problem, &plan.jacobians));
        let sizes = sizes.fold(Sizes::default(), Sizes::max);
        let acting = plan.bundles.iter().map(|b| vec![false; b.hanging.len()]);
        Self {
            threads: Threads::one(),
            sizes,
            slots: vec![Slot::new(sizes, BATCH)],
            together: BATCH,
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
        let slots = if threads > 1 {
            SLOTS_PER_THREAD * threads
        } else {
            1
        };
        self.together = match threads {
            1 => BATCH,
            _ => (SLOT_NUMBERS / self.sizes.sums.max(1)).max(BATCH),
        };
        self.slots = vec![Slot::new(self.sizes, self.together); slots];
        self.cuts.clear();
        if threads > 1 {
            self.cuts = plan_cuts(plan, w, threads, self.together * slots);
        }
        Ok(())
    }

    /// Gives the slots the runs of a piece; how many of them have any.
    fn deal(&mut self, runs: Range<usize>) -> usize {
        let mut dealt = 0;
        for (slot, first) in self.slots.iter_mut().zip(runs.clone().step_by(self.together)) {
            slot.runs = first..runs.end.min(first + self.together);
            dealt += 1;
        }
        dealt
    }
}

/// Finds for each piece of the runs of each bundle the cuts that give so many threads the same to
/// add. No bit depends on where they are: every row is added to in the order of the runs.
fn plan_cuts(plan: &Plan, w: &Pattern, parts: usize, piece: usize) -> Vec<Vec<Cut>> {
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
    let of_bundle = |b: &Bundle| b.runs.chunks(piece).map(of_piece).collect();
    plan.bundles.iter().map(of_bundle).collect()
}

/// Slots of a thread: enough for those that are done early to help.
const SLOTS_PER_THREAD: usize = 4;

/// Numbers of sums of a slot where there are threads: all slots stay in the cache that threads have
/// in common, and their runs take longer than threads need to meet.
const SLOT_NUMBERS: usize = 1 << 15;

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

impl Runs {
    /// The threads that a bundle is worth: to wake one takes as long as a slot of runs.
    fn threads_for(&self, bundle: &Bundle) -> Threads {
        match bundle.runs.len() < 2 * self.together {
            true => Threads::one(),
            false => self.threads.clone(),
        }
    }

    /// Adds the terms of bundles of these elements to `W` and to the right-hand side of all nodes.
    pub(super) fn fill(
        &mut self,
        plan: &Plan,
        evaluation: &mut Evaluation,
        step: Step<'_>,
        wanted: Wanted<'_>,
        of: Elements,
        target: &mut Target<'_>,
    ) {
        for (at, bundle) in plan.bundles.iter().enumerate() {
            if !of.has(step.problem, bundle.node) {
                continue;
            }
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
            let arch = pulp::Arch::new();
            let (d, m) = bundle.shape;
            let size = d * m;
            let first = step.problem.nodes()[bundle.node].first_velocity;
            let piece_size = self.together * self.slots.len();
            let threads = self.threads_for(bundle);
            for (piece, start) in (0..bundle.runs.len()).step_by(piece_size).enumerate() {
                let dealt = self.deal(start..bundle.runs.len().min(start + piece_size));
                let input = RunInput {
                    step,
                    evaluation,
                    plan,
                    bundle,
                    sizes: self.sizes,
                    acting: &self.acting[at],
                    wanted,
                };
                let slots = &mut self.slots[..dealt];
                threads.for_each(slots, |slot| arch.dispatch(Job { input: &input, slot }));
                let slots = &*slots;
                let done = || slots.iter().flat_map(|slot| slot.done(bundle, self.sizes));
                // The elements of a slot are after those of the slots before.
                let begin = |slot: usize| match slots.get(slot) {
                    Some(slot) => bundle.runs[slot.runs.start].elements.start * size,
                    None => bundle.runs[slots[dealt - 1].runs.end - 1].elements.end * size,
                };
                let add = |some: Range<usize>, rhs: &mut [f64]| {
                    let base = begin(some.start);
                    for (run, _, terms) in slots[some].iter().flat_map(|slot| slot.done(bundle, self.sizes)) {
                        let rhs = &mut rhs[run.elements.start * size - base..];
                        let terms = &terms[..run.elements.len() * size];
                        rhs.iter_mut().zip(terms).for_each(|(r, t)| *r += t);
                    }
                    Ok::<(), Infallible>(())
                };
                let rhs = &mut target.rhs[first + begin(0)..first + begin(dealt)];
                let Ok(()) = threads.for_each_piece((0..dealt, 1), begin, rhs, add);
                let values = target.w.values_mut();
                let Some(cut) = self.cuts.get(at).and_then(|c| c.get(piece)) else {
                    for (run, sums, _) in done() {
                        plan.add_sums_to_response(d, run, sums, 0..usize::MAX, 0, values);
                    }
                    continue;
                };
                let parts = (0..cut.dofs.len() - 1, 1);
                let add = |part: Range<usize>, values: &mut [f64]| {
                    let (rows, base) = (cut.dofs[part.start]..cut.dofs[part.end], cut.values[part.start]);
                    for (run, sums, _) in done() {
                        plan.add_sums_to_response(d, run, sums, rows.clone(), base, values);
                    }
                    Ok::<(), Infallible>(())
                };
                let Ok(()) = threads.for_each_piece(parts, |p| cut.values[p], values, add);
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
                let input = RunInput::of_geometry(geometry, evaluation, at, &self.acting[at], self.sizes);
                let runs = 0..input.bundle.runs.len();
                input.visit_geometry(runs, &mut self.slots[0].scratch, &mut visit);
            }
        }
    }

    /// `-h^2 alpha u^T G u` of all that hangs on bundles of these elements, as much as the mode takes
    /// of it, with the velocities `u` of all nodes. Where there is any it is evaluated.
    pub(super) fn geometry_form(
        &mut self,
        evaluation: &Evaluation,
        geometry: GeometricLoad<'_>,
        of: Elements,
        u: &[f64],
    ) -> f64 {
        let mut sum = 0.0;
        for (at, bundle) in geometry.plan.bundles.iter().enumerate() {
            if !self.acting[at].contains(&true) || !of.has(geometry.step.problem, bundle.node) {
                continue;
            }
            let piece_size = self.together * self.slots.len();
            let threads = self.threads_for(bundle);
            for start in (0..bundle.runs.len()).step_by(piece_size) {
                let dealt = self.deal(start..bundle.runs.len().min(start + piece_size));
                let (acting, sizes) = (&self.acting[at][..], self.sizes);
                let input = RunInput::of_geometry(geometry, evaluation, at, acting, sizes);
                let slots = &mut self.slots[..dealt];
                threads.for_each(slots, |slot| {
                    slot.form = 0.0;
                    let Slot {
                        runs,
                        form: sum,
                        scratch,
                        ..
                    } = slot;
                    input.visit_geometry(runs.clone(), scratch, &mut |(first, size), block| {
                        *sum += form(block, &u[first..first + size]);
                    });
                });
                sum += slots.iter().map(|s| s.form).sum::<f64>();
            }
        }
        sum
    }
}

/// Whether a mapped node's blocks `G` are made where they are wanted.
pub(super) fn in_pieces(problem: &Problem, node: usize) -> bool {
    match &problem.nodes()[node].kind {
        NodeKind::Mapped { mapping, .. } => mapping.pieces().is_some(),
        NodeKind::Independent { .. } => false,
    }
}
