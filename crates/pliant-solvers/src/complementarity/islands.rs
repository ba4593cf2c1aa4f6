//! Systems that fall apart: every independent part on its own.

use super::{
    AutoOptions, Cone, ConicMemory, ConicReport, ConicSolver, Method, Outcome, Problem, ProblemError,
    Residual,
};
use crate::bounds::{BoundState, BoundsReport};
use crate::{
    BoxOptions, BoxSolver, Elimination, KktResidual, KktSystem, Solution, SolveError, SolveReport, Status,
    Variable,
};
use pliant_sparse::{CsrMatrix, Pattern, PatternBuilder, Threads};

const NONE: u32 = u32::MAX;
/// Beyond, a number of threads is a slip; parts say so.
const MOST_THREADS: usize = 1024;

/// What [`IslandSolver`] found: the worst of all parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IslandReport {
    /// [`Outcome::Converged`] only if every part with cones converged.
    pub outcome: Outcome,
    /// The linear parts together: worst status and residuals, sums of counts. Rows are those of the whole system.
    pub linear: SolveReport,
    /// The cones of the part with the largest measure.
    pub residual: Residual,
    /// Row block of the whole system that misses its cone most, in that part.
    pub worst: usize,
    /// Iterations of all parts.
    pub iterations: usize,
    /// Who solved the part that took most iterations.
    pub method: Option<Method>,
    /// Parts with cones.
    pub islands: usize,
    /// Those of them whose start was an answer already.
    pub settled: usize,
}

/// A part: its own system, and where its numbers are in the whole.
#[derive(Debug)]
struct Part {
    /// Primal blocks and row blocks of the whole.
    blocks: (Vec<u32>, Vec<u32>),
    system: KktSystem,
    cones: Vec<Option<Cone>>,
    dofs: Vec<u32>,
    rows: Vec<u32>,
    /// Slots of the values of W, J, R in the whole.
    slots: [Vec<u32>; 3],
    solution: Solution,
    solver: PartSolver,
    /// What the last solve found, and what went wrong.
    found: Option<IslandReport>,
    error: Option<ProblemError>,
}

#[derive(Debug)]
enum PartSolver {
    /// Everything that no cone depends on.
    Boxed(Box<BoxSolver>),
    Conic(Box<ConicSolver>),
}

/// Solves what [`ConicSolver`] solves, part by part: blocks of variables that no entry of `W`, `J`, `R` connects, other than through
/// fixed variables, do not know of each other. Parts without cones go together to a [`BoxSolver`].
///
/// A part that a change of the pattern leaves as it was keeps its plan, and one whose start is an answer costs a factorisation and
/// two solves. Residuals of cones are relative to the velocities of their own part, so that a calm island is held to a finer measure than
/// beside a wild one. Parts are solved side by side on as many threads as [`DirectOptions::threads`](crate::DirectOptions::threads) says, with the
/// same bits for any number. Cost of the partition: `O(nnz)`, only for a new pattern.
#[derive(Debug, Default)]
pub struct IslandSolver {
    /// Of the cones; may be changed at any time.
    pub options: AutoOptions,
    /// Of bounded rows and of the linear systems.
    pub bounds: BoxOptions,
    parts: Vec<Part>,
    /// What the partition was made for.
    whole: Option<KktSystem>,
    laws: Vec<Option<Cone>>,
    free: Vec<f64>,
    /// Part with the largest measure in the last solve.
    worst: Option<usize>,
    partitions: usize,
    threads: Threads,
    /// What parts of a solver remembered whose memory this one got.
    memory: Vec<PartMemory>,
    ready: bool,
}

/// What an [`IslandSolver`] remembers, as plain values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IslandMemory(Vec<PartMemory>);

/// Of a part: what it must be like, and the memory of its solver.
#[derive(Clone, Debug, PartialEq)]
struct PartMemory {
    dofs: Vec<u32>,
    rows_of_blocks: Vec<usize>,
    patterns: [Pattern; 3],
    laws: Vec<Option<usize>>,
    solver: SolverMemory,
}

#[derive(Clone, Debug, PartialEq)]
enum SolverMemory {
    Boxed(Option<Elimination>, Vec<BoundState>),
    Conic(Box<ConicMemory>),
}

/// Disjoint sets with path halving; the root is the least member.
struct Sets(Vec<u32>);

impl Sets {
    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let up = self.0[self.0[i as usize] as usize];
            self.0[i as usize] = up;
            i = up;
        }
        i
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high as usize] = low;
    }
}

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

/// The part of a matrix on some rows and columns, and the slots its values come from.
fn extract(
    of: &CsrMatrix,
    rows: &[u32],
    place: &[u32],
    columns: usize,
) -> Result<(PatternBuilder, Vec<u32>), ProblemError> {
    let mut pattern = PatternBuilder::new(rows.len(), columns);
    let mut slots = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let row = *row as usize;
        let first = of.pattern().row_slots(row).start;
        for (k, c) in of.pattern().row(row).iter().enumerate() {
            let at = place[*c as usize];
            if at != NONE {
                pattern.insert(i, at as usize);
                slots.push((first + k) as u32);
            }
        }
    }
    Ok((pattern, slots))
}

impl Part {
    fn new(
        whole: &KktSystem,
        cones: &[Option<Cone>],
        (primal, row_blocks): (Vec<u32>, Vec<u32>),
        (dof_place, row_place): (&mut [u32], &mut [u32]),
        conic: bool,
    ) -> Result<Self, ProblemError> {
        let runs = |blocks: &[u32], boundaries: &[usize]| {
            let mut out = Vec::new();
            let mut ends = vec![0];
            for b in blocks {
                let b = *b as usize;
                out.extend(boundaries[b] as u32..boundaries[b + 1] as u32);
                ends.push(out.len());
            }
            (out, ends)
        };
        let (dofs, primal_ends) = runs(&primal, whole.primal_blocks());
        let (rows, row_ends) = runs(&row_blocks, whole.row_blocks());
        for (k, d) in dofs.iter().enumerate() {
            dof_place[*d as usize] = k as u32;
        }
        for (k, r) in rows.iter().enumerate() {
            row_place[*r as usize] = k as u32;
        }
        let (w, w_slots) = extract(&whole.w, &dofs, dof_place, dofs.len())?;
        let (j, j_slots) = extract(&whole.j, &rows, dof_place, dofs.len())?;
        let (r, r_slots) = extract(&whole.r, &rows, row_place, rows.len())?;
        for d in &dofs {
            dof_place[*d as usize] = NONE;
        }
        for r in &rows {
            row_place[*r as usize] = NONE;
        }
        let system = KktSystem::new(w.finish()?, j.finish()?, r.finish()?, primal_ends, row_ends)?;
        Ok(Self {
            cones: row_blocks.iter().map(|b| cones[*b as usize]).collect(),
            blocks: (primal, row_blocks),
            system,
            dofs,
            rows,
            slots: [w_slots, j_slots, r_slots],
            solution: Solution::default(),
            found: None,
            error: None,
            solver: if conic {
                PartSolver::Conic(Box::default())
            } else {
                PartSolver::Boxed(Box::default())
            },
        })
    }

    /// Whether an older part has the same variables, rows, patterns and laws, so that its plans still hold.
    fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (&self.system, &other.system);
        self.dofs == other.dofs
            && alike(&self.cones, &other.cones)
            && matches!(self.solver, PartSolver::Conic(_)) == matches!(other.solver, PartSolver::Conic(_))
            && a.row_blocks() == b.row_blocks()
            && a.w.pattern() == b.w.pattern()
            && a.j.pattern() == b.j.pattern()
            && a.r.pattern() == b.r.pattern()
    }

    fn take_matrices(&mut self, whole: &KktSystem) {
        let system = &mut self.system;
        let sources = [&whole.w, &whole.j, &whole.r];
        let targets = [&mut system.w, &mut system.j, &mut system.r];
        for ((to, from), slots) in targets.into_iter().zip(sources).zip(&self.slots) {
            let from = from.values();
            for (v, slot) in to.values_mut().iter_mut().zip(slots) {
                *v = from[*slot as usize];
            }
        }
        for (fixed, d) in system.fixed.iter_mut().zip(&self.dofs) {
            *fixed = whole.fixed[*d as usize];
        }
        for (k, r) in self.rows.iter().enumerate() {
            let r = *r as usize;
            system.b_rounding[k] = whole.b_rounding[r];
            system.bounds[k] = whole.bounds[r];
        }
    }

    fn memory(&self) -> PartMemory {
        let system = &self.system;
        PartMemory {
            dofs: self.dofs.clone(),
            rows_of_blocks: system.row_blocks().to_vec(),
            patterns: [&system.w, &system.j, &system.r].map(|a| a.pattern().clone()),
            laws: self.cones.iter().map(|c| c.map(|c| c.rows())).collect(),
            solver: match &self.solver {
                PartSolver::Boxed(solver) => {
                    SolverMemory::Boxed(solver.elimination().cloned(), solver.active_set().to_vec())
                }
                PartSolver::Conic(solver) => SolverMemory::Conic(Box::new(solver.memory())),
            },
        }
    }

    /// Whether a remembered part was like this one.
    fn was(&self, memory: &PartMemory) -> bool {
        let system = &self.system;
        let laws = self.cones.iter().map(|c| c.map(|c| c.rows()));
        self.dofs == memory.dofs
            && system.row_blocks() == memory.rows_of_blocks
            && laws.eq(memory.laws.iter().copied())
            && [&system.w, &system.j, &system.r]
                .iter()
                .zip(&memory.patterns)
                .all(|(a, b)| a.pattern() == b)
            && matches!(self.solver, PartSolver::Conic(_)) == matches!(memory.solver, SolverMemory::Conic(_))
    }

    fn impose(&mut self, memory: SolverMemory) {
        match (&mut self.solver, memory) {
            (PartSolver::Boxed(solver), SolverMemory::Boxed(order, set)) => {
                solver.forget(order);
                solver.impose_active_set(&set);
            }
            (PartSolver::Conic(solver), SolverMemory::Conic(memory)) => solver.impose(*memory),
            _ => {}
        }
    }

    fn take_cones(&mut self, whole: &[Option<Cone>]) {
        for (cone, b) in self.cones.iter_mut().zip(&self.blocks.1) {
            *cone = whole[*b as usize];
        }
    }

    /// A report with the numbers of the whole.
    fn report(&self, found: &ConicReport) -> IslandReport {
        let settled = found.cones.iterations == 0 && found.outcome == Outcome::Converged;
        IslandReport {
            outcome: found.outcome,
            linear: self.linear_in_whole(found.linear),
            residual: found.residual,
            worst: self.worst_block(found.residual.worst),
            iterations: found.cones.iterations,
            method: Some(found.cones.method),
            islands: 1,
            settled: usize::from(settled),
        }
    }

    /// The row block of the whole behind a block of the part's problem: rows of bounded force are blocks of their own there.
    fn worst_block(&self, block: usize) -> usize {
        let bounded =
            |i: &usize| self.system.bounds[*i].0.is_finite() || self.system.bounds[*i].1.is_finite();
        let mut count = 0;
        for (k, w) in self.system.row_blocks().windows(2).enumerate() {
            count += match self.cones[k] {
                Some(_) => 1,
                None => (w[0]..w[1]).filter(bounded).count(),
            };
            if count > block {
                return self.blocks.1[k] as usize;
            }
        }
        0
    }

    fn linear_in_whole(&self, mut linear: SolveReport) -> SolveReport {
        match &mut linear.status {
            Status::Incompatible { row, .. } | Status::Unsettled { row, .. } => {
                *row = self.rows[*row] as usize;
            }
            _ => {}
        }
        linear
    }

    /// An error with the numbers of the whole.
    fn in_whole(&self, error: ProblemError) -> ProblemError {
        let ProblemError::Bilateral(mut inner) = error else {
            return error;
        };
        match &mut inner {
            SolveError::NotPositiveDefinite { dof, .. } => *dof = self.dofs[*dof] as usize,
            SolveError::NotFinite { variable } => {
                *variable = match *variable {
                    Variable::Dof(i) => Variable::Dof(self.dofs[i] as usize),
                    Variable::Row(i) => Variable::Row(self.rows[i] as usize),
                };
            }
            SolveError::NegativeCompliance { row, .. } | SolveError::Bounds { row, .. } => {
                *row = self.rows[*row] as usize;
            }
            _ => {}
        }
        ProblemError::Bilateral(inner)
    }

    fn prepare(&mut self, options: AutoOptions, bounds: BoxOptions) -> Result<(), ProblemError> {
        match &mut self.solver {
            PartSolver::Boxed(solver) => {
                solver.options = bounds;
                Ok(solver.prepare(&self.system)?)
            }
            PartSolver::Conic(solver) => {
                solver.options = options;
                solver.set_direct_options(bounds.direct);
                solver.prepare(&self.system, &self.cones)
            }
        }
    }

    fn solve(&mut self) -> Result<IslandReport, ProblemError> {
        match &mut self.solver {
            PartSolver::Boxed(solver) => {
                let linear = solver.solve(&self.system, &mut self.solution)?;
                Ok(IslandReport::linear(self.linear_in_whole(linear)))
            }
            PartSolver::Conic(solver) => {
                let found = solver.solve(&self.system, &mut self.solution)?;
                Ok(self.report(&found))
            }
        }
    }

    fn take_right_hand_sides(&mut self, whole: &KktSystem) {
        for (c, d) in self.system.c.iter_mut().zip(&self.dofs) {
            *c = whole.c[*d as usize];
        }
        for (b, r) in self.system.b.iter_mut().zip(&self.rows) {
            *b = whole.b[*r as usize];
        }
    }
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

    /// The problem of the part whose cones had the largest measure in the last `solve`, to be looked at or written.
    pub fn worst_problem(&self) -> Option<&Problem> {
        match &self.parts.get(self.worst?)?.solver {
            PartSolver::Conic(solver) => solver.problem(),
            PartSolver::Boxed(_) => None,
        }
    }

    /// All that one solve hands to the next, but for the start.
    pub fn memory(&self) -> IslandMemory {
        IslandMemory(self.parts.iter().map(Part::memory).collect())
    }

    /// Forgets all parts; those of the next `prepare` that are like remembered ones go on as these would, bit for bit.
    pub fn impose(&mut self, memory: &IslandMemory) {
        self.parts.clear();
        self.whole = None;
        self.ready = false;
        self.memory.clone_from(&memory.0);
    }

    /// How often the system was parted.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// `J x + R mu + b` of every row with a cone, without the impulses of such rows, as of the last `solve`; zero for other rows.
    pub fn free_velocities(&self) -> &[f64] {
        &self.free
    }

    fn fits(&self, system: &KktSystem, cones: &[Option<Cone>]) -> bool {
        alike(&self.laws, cones)
            && self.whole.as_ref().is_some_and(|w| {
                w.fixed == system.fixed
                    && w.row_blocks() == system.row_blocks()
                    && w.primal_blocks() == system.primal_blocks()
                    && w.w.pattern() == system.w.pattern()
                    && w.j.pattern() == system.j.pattern()
                    && w.r.pattern() == system.r.pattern()
            })
    }

    fn part(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        let (primal, row_blocks) = (system.primal_blocks().len() - 1, system.row_blocks().len() - 1);
        let of_dof = owners(system.primal_blocks());
        let mut sets = Sets((0..primal as u32).collect());
        let free = |d: usize| !system.fixed[d];
        for i in (0..system.n()).filter(|i| free(*i)) {
            for k in system.w.pattern().row(i).iter().filter(|k| free(**k as usize)) {
                sets.join(of_dof[i], of_dof[*k as usize]);
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
                    sets.join(leader[b], block);
                }
            }
        }
        let mut has_cone = vec![false; primal];
        for (b, cone) in cones.iter().enumerate() {
            if cone.is_some() && leader[b] != NONE {
                has_cone[sets.root(leader[b]) as usize] = true;
            }
        }
        // Part 0 has no cones but those of rows on nothing; the others follow in the order of their first block.
        let mut number = vec![NONE; primal];
        let mut lists = vec![(Vec::new(), Vec::new())];
        for b in 0..primal as u32 {
            let root = sets.root(b) as usize;
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
                block => number[sets.root(block) as usize],
            };
            lists[at as usize].1.push(b as u32);
        }
        let (mut dof_place, mut row_place) = (vec![NONE; system.n()], vec![NONE; system.m()]);
        let mut old: Vec<Option<Part>> = std::mem::take(&mut self.parts).into_iter().map(Some).collect();
        let count = lists.len();
        for (k, list) in lists.into_iter().enumerate() {
            if k == 0 && count > 1 && list.0.is_empty() && list.1.is_empty() {
                continue;
            }
            let conic = k > 0 || list.1.iter().any(|b| cones[*b as usize].is_some());
            let first = list.0.first().copied();
            let mut part = Part::new(system, cones, list, (&mut dof_place, &mut row_place), conic)?;
            let before = old.iter_mut().find(|o| {
                o.as_ref()
                    .is_some_and(|o| o.blocks.0.first().copied() == first && part.is_like(o))
            });
            if let Some(before) = before.and_then(Option::take) {
                part.solver = before.solver;
            } else if let Some(at) = self.memory.iter().position(|m| part.was(m)) {
                part.impose(self.memory.swap_remove(at).solver);
            }
            self.parts.push(part);
        }
        self.memory.clear();
        self.laws.clear();
        self.laws.extend_from_slice(cones);
        self.whole = Some(system.clone());
        self.partitions += 1;
        Ok(())
    }

    /// Parts the system if its pattern, its fixed variables or its laws changed, and factors the parts. One entry of `cones` per row block.
    ///
    /// # Errors
    /// As [`ConicSolver::prepare`]; variables and rows in errors of linear systems are those of the whole.
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
            self.threads = Threads::new(threads.min(MOST_THREADS))?;
        }
        let (options, bounds) = (self.options, self.bounds);
        self.threads.for_each(&mut self.parts, |part| {
            part.take_matrices(system);
            part.take_cones(cones);
            part.error = part.prepare(options, bounds).err();
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
    /// As [`ConicSolver::set_cones`].
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
    /// [`SolveError::NotPrepared`] without a matching `prepare`, and what the solvers of the parts refuse.
    pub fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<IslandReport, ProblemError> {
        system.check()?;
        let matches = |w: &KktSystem| w.n() == system.n() && w.m() == system.m();
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
        self.worst = None;
        let starts = &*solution;
        self.threads.for_each(&mut self.parts, |part| {
            part.take_right_hand_sides(system);
            part.solution.mu.clear();
            let start = part.rows.iter().map(|r| starts.mu[*r as usize]);
            part.solution.mu.extend(start);
            match part.solve() {
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
            let measure = found.residual.measure();
            if found.islands > 0 && (measure > largest || measure.is_nan()) {
                largest = measure;
                self.worst = Some(k);
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
            worst: 0,
            iterations: 0,
            method: None,
            islands: 0,
            settled: 0,
        }
    }

    /// Both together; `most` is the number of iterations of the part whose method is named.
    fn with(mut self, other: &Self, most: &mut usize) -> Self {
        if self.outcome == Outcome::Converged {
            self.outcome = other.outcome;
        }
        let larger = other.residual.measure() > self.residual.measure();
        if larger || other.residual.measure().is_nan() {
            self.residual = other.residual;
            self.worst = other.worst;
        }
        if self.method.is_none() || other.iterations > *most {
            *most = other.iterations;
            self.method = other.method.or(self.method);
        }
        self.iterations += other.iterations;
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
