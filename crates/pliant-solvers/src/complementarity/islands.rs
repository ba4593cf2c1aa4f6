//! Systems that fall apart: every independent part on its own.

mod part;

use super::{AutoOptions, Cone, ConicSolver, Method, Outcome, Problem, ProblemError, Residual};
use crate::bounds::BoundsReport;
use crate::direct::MOST_THREADS;
use crate::{BoxOptions, KktResidual, KktShape, KktSystem, Solution, SolveError, SolveReport, Status};
use pliant_sparse::{DisjointSets, SparseError, Threads};
use std::collections::BTreeMap;

use part::{Part, PartMemory, PartSolver};

const NONE: u32 = u32::MAX;
/// Unknowns of a part below which threads of its own would find no work.
const SMALL: usize = 500;

/// Report of [`IslandSolver`]: the worst of all parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IslandReport {
    /// [`Outcome::Converged`] only if every part with cones converged.
    pub outcome: Outcome,
    /// The linear parts together: worst status and residuals, sums of counts. Rows are those of the
    /// whole system.
    pub linear: SolveReport,
    /// The cones of the part with the largest measure.
    pub residual: Residual,
    /// [`Residual::measure`] by the [exact](Cone::exact) laws of contacts whose shift is known, the
    /// largest of all parts.
    pub exact: f64,
    /// Row block of the whole system that misses its cone most, in that part.
    pub worst: usize,
    /// Iterations of all parts.
    pub iterations: usize,
    /// Operations of the solvers of all parts with cones, by count.
    pub work: u64,
    /// Who solved the part that took most iterations.
    pub method: Option<Method>,
    /// Parts with cones.
    pub islands: usize,
    /// Number of islands whose start was an answer already.
    pub settled: usize,
}

/// Solves what [`ConicSolver`](super::ConicSolver) solves, part by part: blocks of variables that
/// no entry of `W`, `J`, `R` connects, other than through fixed variables, do not know of each
/// other. Parts without cones go together to a [`BoxSolver`](crate::BoxSolver).
///
/// A part that a change of the pattern leaves as it was keeps its plan, and one whose start is an
/// answer costs a factorisation and two solves. Residuals of cones are relative to the velocities
/// of their own part, so that a calm island is held to a finer measure than beside a wild one.
/// Parts are solved side by side on as many threads as
/// [`DirectOptions::threads`](crate::DirectOptions::threads) says, with the same bits for any
/// number. Cost of the partition: `O(nnz)`, only for a new pattern.
#[derive(Debug, Default)]
pub struct IslandSolver {
    /// Of the cones; may be changed at any time.
    pub options: AutoOptions,
    /// As [`ConicSolver::only`](super::ConicSolver::only).
    pub only: Option<Method>,
    /// Of bounded rows and of the linear systems.
    pub bounds: BoxOptions,
    parts: Vec<Part>,
    /// The part of every row.
    part_of_row: Vec<u32>,
    /// The shape of the system that was partitioned.
    whole: Option<KktShape>,
    laws: Vec<Option<Cone>>,
    free: Vec<f64>,
    tally: Tally,
    partitions: usize,
    comparisons: usize,
    kept: usize,
    threads: Threads,
    /// Memories of the parts of the solver whose memory this one got.
    memory: Vec<PartMemory>,
    ready: bool,
}

/// The parts that stood out in the last solve, and the work so far.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// The part with the largest measure.
    worst: Option<usize>,
    /// The part that took most operations.
    busiest: Option<usize>,
    /// Operations since they were last counted from zero.
    work: u64,
}

/// Memory of an [`IslandSolver`], as plain values.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IslandMemory(Vec<PartMemory>);

/// Whether laws differ in their numbers only.
fn alike(a: &[Option<Cone>], b: &[Option<Cone>]) -> bool {
    let rows = |c: &Option<Cone>| c.map(|c| c.rows());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| rows(a) == rows(b))
}

/// Block of every index.
fn owners(boundaries: &[usize]) -> Vec<u32> {
    let mut out = vec![0; boundaries.last().copied().unwrap_or(0)];
    for (k, w) in boundaries.windows(2).enumerate() {
        out[w[0]..w[1]].fill(k as u32);
    }
    out
}

impl IslandSolver {
    /// A solver with given options, of cones and of the rest.
    pub fn new(options: AutoOptions, bounds: BoxOptions) -> Self {
        Self {
            options,
            bounds,
            ..Self::default()
        }
    }

    /// Parts with cones, as of the last `prepare`.
    pub fn islands(&self) -> usize {
        let conic = |p: &&Part| matches!(p.solver, PartSolver::Conic(_));
        self.parts.iter().filter(conic).count()
    }

    /// The problem of the part whose cones had the largest measure in the last `solve`, to be
    /// looked at or written.
    pub fn worst_problem(&self) -> Option<&Problem> {
        match &self.parts.get(self.tally.worst?)?.solver {
            PartSolver::Conic(solver) => solver.problem(),
            PartSolver::Boxed(_) => None,
        }
    }

    /// Takes out what solved the problem of [`worst_problem`](Self::worst_problem), to be looked at
    /// after the other parts were forgotten. The next solve needs a `prepare`.
    pub fn take_worst(&mut self) -> Option<Box<ConicSolver>> {
        let worst = self.tally.worst.take().filter(|k| *k < self.parts.len())?;
        // The next `prepare` parts the system anew, and the other parts go on.
        self.whole = None;
        self.ready = false;
        match self.parts.remove(worst).solver {
            PartSolver::Conic(solver) => Some(solver),
            PartSolver::Boxed(_) => None,
        }
    }

    /// Counts operations from zero again. All solves until the next call share the
    /// [limit](super::Limits::work) of the options; each part of one solve has what is left.
    pub fn restart_work(&mut self) {
        self.tally.work = 0;
    }

    /// Operations of all parts with cones since [`restart_work`](Self::restart_work), by count.
    pub fn work(&self) -> u64 {
        self.tally.work
    }

    /// Row blocks of the part with cones that took most operations in the last `solve`.
    pub fn busiest(&self) -> &[u32] {
        let part = self.tally.busiest.and_then(|k| self.parts.get(k));
        part.map_or(&[], |part| &part.blocks.1)
    }

    /// All that one solve hands to the next, but for the start.
    pub fn memory(&self) -> IslandMemory {
        let mut out = IslandMemory::default();
        self.record(&mut out);
        out
    }

    /// Writes [`memory`](Self::memory) into buffers that are there.
    pub fn record(&self, out: &mut IslandMemory) {
        // What was imposed counts until there are parts.
        let own = self.parts.len();
        out.0.resize_with(own + self.memory.len(), PartMemory::default);
        for (part, out) in self.parts.iter().zip(&mut out.0) {
            part.record(out);
        }
        out.0[own..].clone_from_slice(&self.memory);
    }

    /// Forgets all parts; those of the next `prepare` that are like remembered ones go on as these
    /// would, bit for bit.
    pub fn impose(&mut self, memory: &IslandMemory) {
        self.parts.clear();
        self.whole = None;
        self.ready = false;
        self.memory.clone_from(&memory.0);
    }

    /// As [`ConicSolver::diagonal_block`](super::ConicSolver::diagonal_block), for a row of the
    /// whole.
    pub fn diagonal_block(&self, row: usize) -> Option<&[f64]> {
        let (part, own) = self.part_of(row)?;
        match &part.solver {
            PartSolver::Conic(solver) => solver.diagonal_block(own),
            PartSolver::Boxed(_) => None,
        }
    }

    /// As [`ConicSolver::response`](super::ConicSolver::response), for rows of the whole.
    pub fn response(&self, row: usize, r: &[f64]) -> Vec<(usize, f64)> {
        match self.part_of(row).map(|(part, own)| (part, own, &part.solver)) {
            Some((part, own, PartSolver::Conic(solver))) => {
                let mut out = solver.response(own, r);
                out.iter_mut()
                    .for_each(|(row, _)| *row = part.rows[*row] as usize);
                out
            }
            _ => Vec::new(),
        }
    }

    /// The part of a row, and its number there.
    fn part_of(&self, row: usize) -> Option<(&Part, usize)> {
        let part = self.parts.get(*self.part_of_row.get(row)? as usize)?;
        Some((part, part.rows.binary_search(&(row as u32)).ok()?))
    }

    /// How often the system was parted.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// How often a part was compared with an older or remembered one, at most once each per part
    /// and partition.
    pub fn comparisons(&self) -> usize {
        self.comparisons
    }

    /// How often a part went on with the plans of an older or remembered one.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// `J x + R mu + b` of every row with a cone, without the impulses of such rows, as of the last
    /// `solve`; zero for other rows.
    pub fn free_velocities(&self) -> &[f64] {
        &self.free
    }

    fn fits(&self, system: &KktSystem, cones: &[Option<Cone>]) -> bool {
        alike(&self.laws, cones) && self.whole.as_ref().is_some_and(|shape| shape.fits(system))
    }

    fn part(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        let (primal, row_blocks) = (system.primal_blocks().len() - 1, system.row_blocks().len() - 1);
        let of_dof = owners(system.primal_blocks());
        let mut sets = DisjointSets::new(primal);
        let free = |d: usize| !system.fixed[d];
        for i in (0..system.n()).filter(|i| free(*i)) {
            for k in system.w.pattern().row(i).iter().filter(|k| free(**k as usize)) {
                sets.join(of_dof[i] as usize, of_dof[*k as usize] as usize);
            }
        }
        // The first free variable of each row block, which stands for it.
        let mut leader = vec![NONE; row_blocks];
        for (b, w) in system.row_blocks().windows(2).enumerate() {
            for k in (w[0]..w[1]).flat_map(|i| system.j.pattern().row(i)) {
                if free(*k as usize) {
                    let block = of_dof[*k as usize];
                    if leader[b] == NONE {
                        leader[b] = block;
                    }
                    sets.join(leader[b] as usize, block as usize);
                }
            }
        }
        let mut has_cone = vec![false; primal];
        for (b, cone) in cones.iter().enumerate() {
            if cone.is_some() && leader[b] != NONE {
                has_cone[sets.root(leader[b] as usize)] = true;
            }
        }
        // Part 0 has no cones but those of rows on nothing; the others follow in the order of their
        // first block.
        let mut number = vec![NONE; primal];
        let mut lists = vec![(Vec::new(), Vec::new())];
        for b in 0..primal as u32 {
            let root = sets.root(b as usize);
            if !has_cone[root] {
                number[root] = 0;
            } else if number[root] == NONE {
                number[root] = lists.len() as u32;
                lists.push((Vec::new(), Vec::new()));
            }
            lists[number[root] as usize].0.push(b);
        }
        for (b, leader) in leader.iter().enumerate() {
            let at = match *leader {
                NONE => 0,
                block => number[sets.root(block as usize)],
            };
            lists[at as usize].1.push(b as u32);
        }
        let (mut dof_place, mut row_place) = (vec![NONE; system.n()], vec![NONE; system.m()]);
        // Parts are disjoint: their first variable tells them apart.
        let old = std::mem::take(&mut self.parts).into_iter();
        let mut old: BTreeMap<_, _> = old.map(|p| (p.dofs.first().copied(), p)).collect();
        let memory = std::mem::take(&mut self.memory).into_iter();
        let mut memory: BTreeMap<_, _> = memory.map(|m| (m.dofs.first().copied(), m)).collect();
        self.part_of_row.clear();
        self.part_of_row.resize(system.m(), NONE);
        let count = lists.len();
        for (k, list) in lists.into_iter().enumerate() {
            if k == 0 && count > 1 && list.0.is_empty() && list.1.is_empty() {
                continue;
            }
            let conic = k > 0 || list.1.iter().any(|b| cones[*b as usize].is_some());
            let mut part = Part::new(system, cones, list, (&mut dof_place, &mut row_place), conic)?;
            let first = part.dofs.first().copied();
            let (before, remembered) = (old.remove(&first), memory.remove(&first));
            self.comparisons += usize::from(before.is_some()) + usize::from(remembered.is_some());
            if let Some(before) = before.filter(|o| part.is_like(o)) {
                part.solver = before.solver;
                self.kept += 1;
            } else if let Some(memory) = remembered.filter(|m| part.was(m)) {
                part.impose(memory);
                self.kept += 1;
            }
            for row in &part.rows {
                self.part_of_row[*row as usize] = self.parts.len() as u32;
            }
            self.parts.push(part);
        }
        self.laws.clear();
        self.laws.extend_from_slice(cones);
        self.whole = Some(KktShape::of(system));
        self.partitions += 1;
        Ok(())
    }

    /// Parts the system if its pattern, its fixed variables or its laws changed, and factors the
    /// parts. One entry of `cones` per row block.
    ///
    /// # Errors
    /// As [`ConicSolver::prepare`](super::ConicSolver::prepare); variables and rows in errors of
    /// linear systems are those of the whole.
    pub fn prepare(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        self.ready = false;
        system.check()?;
        if cones.len() + 1 != system.row_blocks().len() {
            return Err(ProblemError::Size {
                what: "cones, one per row block,",
                expected: system.row_blocks().len() - 1,
                found: cones.len(),
            });
        }
        if !self.fits(system, cones) {
            self.whole = None;
            self.part(system, cones)?;
        }
        let threads = self.bounds.direct.threads.max(1);
        if self.threads.count() != threads {
            if threads > MOST_THREADS {
                return Err(ProblemError::Bilateral(SolveError::Parameter {
                    what: "the number of threads",
                    value: threads as f64,
                }));
            }
            self.threads = Threads::new(threads).map_err(SparseError::from)?;
        }
        let (options, only, bounds) = (self.options, self.only, self.bounds);
        self.threads.for_each(&mut self.parts, |part| {
            part.take_matrices(system);
            part.take_cones(cones);
            let mut bounds = bounds;
            if part.dofs.len() + part.rows.len() < SMALL {
                bounds.direct.threads = 1;
            }
            part.error = part.prepare(options, only, bounds).err();
        });
        for part in &mut self.parts {
            if let Some(error) = part.error.take() {
                return Err(part.in_whole(error));
            }
        }
        self.ready = true;
        Ok(())
    }

    /// Replaces the laws by others of as many rows each, between solves; the factors stay.
    ///
    /// # Errors
    /// As [`ConicSolver::set_cones`](super::ConicSolver::set_cones).
    pub fn set_cones(&mut self, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        if !self.ready || !alike(&self.laws, cones) {
            return Err(SolveError::NotPrepared.into());
        }
        self.laws.copy_from_slice(cones);
        for part in &mut self.parts {
            part.take_cones(cones);
            if let PartSolver::Conic(solver) = &mut part.solver {
                solver.set_cones(&part.system, &part.cones)?;
            }
        }
        Ok(())
    }

    /// Solves every part from the multipliers in the solution, if there are as many as rows.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`, and what the solvers of the parts
    /// refuse.
    pub fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<IslandReport, ProblemError> {
        system.check()?;
        let matches = |w: &KktShape| w.n() == system.n() && w.m() == system.m();
        if !self.ready || !self.whole.as_ref().is_some_and(matches) {
            return Err(SolveError::NotPrepared.into());
        }
        solution.x.clear();
        solution.x.resize(system.n(), 0.0);
        if solution.mu.len() != system.m() {
            solution.mu.clear();
            solution.mu.resize(system.m(), 0.0);
        }
        self.free.clear();
        self.free.resize(system.m(), 0.0);
        let mut report: Option<IslandReport> = None;
        let (mut most, mut largest) = (0, -1.0);
        self.tally.worst = None;
        self.tally.busiest = None;
        let left = self.options.limits.work.saturating_sub(self.tally.work);
        let mut hardest = 0;
        let starts = &*solution;
        self.threads.for_each(&mut self.parts, |part| {
            part.take_right_hand_sides(system);
            part.solution.mu.clear();
            let start = part.rows.iter().map(|r| starts.mu[*r as usize]);
            part.solution.mu.extend(start);
            match part.solve(left) {
                Ok(found) => part.found = Some(found),
                Err(error) => part.error = Some(error),
            }
        });
        for (k, part) in self.parts.iter_mut().enumerate() {
            if let Some(error) = part.error.take() {
                return Err(part.in_whole(error));
            }
            if let PartSolver::Conic(solver) = &part.solver {
                for (row, u) in solver.free_velocities() {
                    self.free[part.rows[row] as usize] = u;
                }
            }
            let Some(found) = part.found.take() else {
                continue;
            };
            self.tally.work = self.tally.work.saturating_add(found.work);
            if found.work > hardest {
                hardest = found.work;
                self.tally.busiest = Some(k);
            }
            let measure = found.residual.measure();
            if found.islands > 0 && (measure > largest || measure.is_nan()) {
                largest = measure;
                self.tally.worst = Some(k);
            }
            for (x, d) in part.solution.x.iter().zip(&part.dofs) {
                solution.x[*d as usize] = *x;
            }
            for (mu, r) in part.solution.mu.iter().zip(&part.rows) {
                solution.mu[*r as usize] = *mu;
            }
            report = Some(match report {
                None => {
                    most = found.iterations;
                    found
                }
                Some(before) => before.with(&found, &mut most),
            });
        }
        // Every system has a part: one without variables and rows is part 0.
        report.ok_or_else(|| SolveError::NotPrepared.into())
    }
}

impl IslandReport {
    /// Of a part without cones.
    fn linear(linear: SolveReport) -> Self {
        Self {
            outcome: Outcome::Converged,
            linear,
            residual: Residual::default(),
            exact: 0.0,
            worst: 0,
            iterations: 0,
            work: 0,
            method: None,
            islands: 0,
            settled: 0,
        }
    }

    /// Both together; `most` is the number of iterations of the part whose method is named.
    fn with(mut self, other: &Self, most: &mut usize) -> Self {
        if self.outcome == Outcome::Converged || other.outcome == Outcome::TooMuchWork {
            self.outcome = other.outcome;
        }
        let larger = other.residual.measure() > self.residual.measure();
        if larger || other.residual.measure().is_nan() {
            self.residual = other.residual;
            self.worst = other.worst;
        }
        self.exact = super::residual::larger(self.exact, other.exact);
        if self.method.is_none() || other.iterations > *most {
            *most = other.iterations;
            self.method = other.method.or(self.method);
        }
        self.iterations += other.iterations;
        self.work = self.work.saturating_add(other.work);
        self.islands += other.islands;
        self.settled += other.settled;
        self.linear = together(&self.linear, &other.linear);
        self
    }
}

/// The worst of two linear solves of parts of one system.
fn together(a: &SolveReport, b: &SolveReport) -> SolveReport {
    // `max` of IEEE drops NaN.
    let max = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
    SolveReport {
        status: if a.status == Status::Converged {
            b.status
        } else {
            a.status
        },
        residual: KktResidual {
            primal: max(a.residual.primal, b.residual.primal),
            row: max(a.residual.row, b.residual.row),
            relative: max(a.residual.relative, b.residual.relative),
        },
        iterations: a.iterations + b.iterations,
        refinements: a.refinements.max(b.refinements),
        redundant_rows: a.redundant_rows + b.redundant_rows,
        inertia: (a.inertia.0 + b.inertia.0, a.inertia.1 + b.inertia.1),
        bounds: BoundsReport {
            natural: max(a.bounds.natural, b.bounds.natural),
            changes: a.bounds.changes + b.bounds.changes,
            factorisations: a.bounds.factorisations + b.bounds.factorisations,
            rows_at_bounds: a.bounds.rows_at_bounds + b.bounds.rows_at_bounds,
        },
    }
}
