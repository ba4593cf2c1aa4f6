//! Systems that fall apart: every independent part on its own.

mod idle;
mod part;
mod partition;
mod renew;
mod report;
mod retired;

use super::{
    AutoOptions, Cone, ConeProfile, ConicSolver, Determinacy, Method, Outcome, Problem, ProblemError,
};
use crate::direct::{Laps, MOST_THREADS};
use crate::{BoxOptions, KktShape, KktSystem, Solution, SolveError, SolverCounters};
use idle::IdleRows;
use part::{Part, PartMemory, PartSolver, Places};
use partition::Partition;
use pliant_sparse::{SparseError, Threads};
use renew::Older;
pub use report::IslandReport;
use retired::Retired;

const NONE: u32 = u32::MAX;
/// Unknowns of a part below which threads of its own would find no work.
const SMALL: usize = 500;
/// Unknowns and rows beside the largest part below which all are solved by one thread.
const SHARED: usize = 600;

/// Solves what [`ConicSolver`](super::ConicSolver) solves, part by part: blocks of variables that
/// no entry of `W`, `J`, `R` connects, other than through fixed variables, do not know of each
/// other. Parts without cones go together to a [`BoxSolver`](crate::BoxSolver).
///
/// A part that a change of the pattern leaves as it was keeps its plan, and one whose start is an
/// answer costs a factorisation and two solves. Residuals of cones are relative to the velocities
/// of their own part, so that a calm island is held to a finer measure than beside a wild one.
/// Rows of bounded force that are far from their bounds, as most limits of joints are, are left out
/// of parts with cones. The solve examines at its end whether their velocities agree, and is taken
/// again with those that do not: the answer is that of all rows.
/// Parts are solved side by side on as many threads as
/// [`DirectOptions::threads`](crate::DirectOptions::threads) says, with the same bits for any
/// number. Cost of the partition: `O(nnz)`, only for a new pattern. Parts that are no more leave
/// their storage to the next ones: nothing is allocated but for more or larger parts than ever
/// before, and by the solvers of their cones.
#[derive(Debug, Default)]
pub struct IslandSolver {
    /// Of the cones; may be changed at any time.
    pub options: AutoOptions,
    /// As [`ConicSolver::only`](super::ConicSolver::only).
    pub only: Option<Method>,
    /// Of bounded rows and of the linear systems.
    pub bounds: BoxOptions,
    parts: Vec<Part>,
    membership: Membership,
    /// The shape of the system that was partitioned, if the parts are of it.
    whole: KktShape,
    is_parted: bool,
    storage: Box<Storage>,
    laws: Vec<Option<Cone>>,
    free: Vec<f64>,
    tally: Tally,
    counts: Counts,
    threads: Threads,
    /// Memories of the parts of the solver whose memory this one got.
    memory: Vec<PartMemory>,
    ready: bool,
}

/// The parts that rows belong to.
#[derive(Debug, Default)]
struct Membership {
    /// The part of every row; [`NONE`] of idle rows.
    part_of: Vec<u32>,
    idle: IdleRows,
}

/// Storage that partitions leave to the next.
#[derive(Debug, Default)]
struct Storage {
    partition: Partition,
    places: Places,
    retired: Retired,
    older: Older,
}

/// Work of all partitions so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    partitions: usize,
    /// Parts that were compared with an older or remembered one.
    comparisons: usize,
    /// Parts that went on with its plans.
    kept: usize,
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
    /// Time of all parts so far.
    profile: ConeProfile,
    /// Work of the linear systems of all parts so far.
    linear: SolverCounters,
}

/// Memory of an [`IslandSolver`], as plain values.
#[derive(Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<PartMemory>", into = "Vec<PartMemory>")
)]
pub struct IslandMemory {
    parts: Vec<PartMemory>,
    /// Storage for more parts, without meaning.
    spare: Vec<PartMemory>,
}

impl From<Vec<PartMemory>> for IslandMemory {
    fn from(parts: Vec<PartMemory>) -> Self {
        Self {
            parts,
            spare: Vec::new(),
        }
    }
}

#[cfg(feature = "serde")]
impl From<IslandMemory> for Vec<PartMemory> {
    fn from(memory: IslandMemory) -> Self {
        memory.parts
    }
}

impl PartialEq for IslandMemory {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Clone for IslandMemory {
    fn clone(&self) -> Self {
        self.parts.clone().into()
    }
}

impl IslandMemory {
    /// Makes room for so many parts.
    fn resize(&mut self, count: usize) {
        while self.parts.len() > count {
            self.spare.extend(self.parts.pop());
        }
        while self.parts.len() < count {
            self.parts.push(self.spare.pop().unwrap_or_default());
        }
    }
}

/// Whether laws differ in their numbers only.
pub(super) fn alike(a: &[Option<Cone>], b: &[Option<Cone>]) -> bool {
    let rows = |c: &Option<Cone>| c.map(|c| c.rows());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| rows(a) == rows(b))
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
        self.parts.iter().filter(|part| part.is_conic()).count()
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
        self.is_parted = false;
        self.ready = false;
        match self.parts.remove(worst).solver {
            PartSolver::Conic(solver) => Some(solver),
            PartSolver::Boxed(_) => None,
        }
    }

    /// Begins the solves of another step: counts operations from zero again, and chooses anew which
    /// rows are left out. All solves until the next call share the [limit](super::Limits::work) of
    /// the options; each part of one solve has what is left.
    pub fn begin(&mut self) {
        self.tally.work = 0;
        self.membership.idle.is_due = true;
    }

    /// Operations of all parts with cones since [`begin`](Self::begin), by count.
    pub fn work(&self) -> u64 {
        self.tally.work
    }

    /// Work of the linear systems of all parts since it was made; the entries are those of the
    /// present parts.
    pub fn counters(&self) -> SolverCounters {
        let mut out = self.tally.linear;
        for of_part in self.parts.iter().map(Part::counters) {
            out.factor_entries += of_part.factor_entries;
            out.matrix_entries += of_part.matrix_entries;
        }
        out
    }

    /// Time of all parts with cones since it was made.
    pub fn profile(&self) -> ConeProfile {
        self.tally.profile
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
        out.resize(own + self.memory.len());
        for (part, out) in self.parts.iter().zip(&mut out.parts) {
            part.record(out);
        }
        out.parts[own..].clone_from_slice(&self.memory);
    }

    /// Forgets all parts; those of the next `prepare` that are like remembered ones go on as these
    /// would, bit for bit.
    pub fn impose(&mut self, memory: &IslandMemory) {
        let retired = &mut self.storage.retired;
        self.parts.drain(..).for_each(|part| retired.put(part));
        self.is_parted = false;
        self.ready = false;
        self.memory.clone_from(&memory.parts);
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
        let part = self.parts.get(*self.membership.part_of.get(row)? as usize)?;
        Some((part, part.rows.binary_search(&(row as u32)).ok()?))
    }

    /// Rows of bounded force that were left out of the last solve, without force, ascending.
    pub fn idle_rows(&self) -> &[u32] {
        &self.membership.idle.rows
    }

    /// How often the system was parted.
    pub fn partitions(&self) -> usize {
        self.counts.partitions
    }

    /// How often a part was compared with an older or remembered one, at most once each per part
    /// and partition.
    pub fn comparisons(&self) -> usize {
        self.counts.comparisons
    }

    /// How often a part went on with the plans of an older or remembered one.
    pub fn kept(&self) -> usize {
        self.counts.kept
    }

    /// `J x + R mu + b` of every row with a cone, without the impulses of such rows, as of the last
    /// `solve`; zero for other rows.
    pub fn free_velocities(&self) -> &[f64] {
        &self.free
    }

    /// Whether the impulses of the last `solve` are the only ones with its velocities, part by
    /// part.
    pub fn determinacy(&self) -> Determinacy {
        let of = |part: &Part| match &part.solver {
            PartSolver::Conic(solver) => solver.determinacy(&part.system, part.redundant),
            PartSolver::Boxed(_) => Determinacy::default(),
        };
        let parts = self.parts.iter().map(of);
        parts.fold(Determinacy::default(), Determinacy::with)
    }

    fn fits(&self, system: &KktSystem, cones: &[Option<Cone>]) -> bool {
        self.is_parted && alike(&self.laws, cones) && self.whole.fits(system)
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
        let mut laps = Laps::start();
        let fits = self.fits(system, cones);
        let changes = if fits && !self.membership.idle.is_due {
            self.membership.idle.wake(system, |i| system.b[i])
        } else {
            self.membership.idle.guess(system, cones);
            !fits || self.leaves_out_others(system)
        };
        if changes {
            self.part(system, cones)?;
        }
        laps.add_to(&mut self.tally.profile.parting);
        self.prepare_parts(system, cones)
    }

    /// Whether other rows are to be left out than the parts leave out.
    fn leaves_out_others(&self, system: &KktSystem) -> bool {
        let mut blocks = system.row_blocks().iter().zip(&self.membership.idle.expected);
        blocks.any(|(row, expected)| {
            let part = self.parts.get(self.membership.part_of[*row] as usize);
            part.map_or(!expected, |part| *expected && part.is_conic())
        })
    }

    /// The threads that the parts are worth: to wake another one takes as long as a small part.
    fn threads_for_parts(&self) -> Threads {
        let (mut all, mut largest) = (0, 0);
        for part in &self.parts {
            let size = part.dofs.len() + part.rows.len();
            (all, largest) = (all + size, largest.max(size));
        }
        match all - largest < SHARED {
            true => Threads::one(),
            false => self.threads.clone(),
        }
    }

    /// Factors the parts.
    fn prepare_parts(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
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
        self.threads_for_parts().for_each(&mut self.parts, |part| {
            let mut laps = Laps::start();
            part.take_matrices(system);
            part.take_cones(cones);
            laps.add_to(&mut part.copies);
            let mut bounds = bounds;
            if part.dofs.len() + part.rows.len() < SMALL {
                bounds.direct.threads = 1;
            }
            let before = part.counters();
            part.error = part.prepare(options, only, bounds).err();
            part.linear.add_since(&before, &part.counters());
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
        let matches = self.whole.n() == system.n() && self.whole.m() == system.m();
        if !self.ready || !self.is_parted || !matches {
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
        let mut report = self.solve_parts(system, solution)?;
        while report.outcome != Outcome::TooMuchWork && self.wakes(system, solution) {
            self.ready = false;
            let laws = std::mem::take(&mut self.laws);
            self.part(system, &laws)?;
            self.prepare_parts(system, &laws)?;
            report = self.solve_parts(system, solution)?.after(&report);
        }
        Ok(report)
    }

    /// Whether velocities of a solution say that rows which were left out have a force.
    fn wakes(&mut self, system: &KktSystem, solution: &Solution) -> bool {
        let velocity = |i: usize| {
            let terms = system.j.row_entries(i);
            terms.fold(system.b[i], |sum, (k, a)| sum + a * solution.x[k])
        };
        self.membership.idle.wake(system, velocity)
    }

    /// Solves every part once.
    fn solve_parts(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<IslandReport, ProblemError> {
        let mut report: Option<IslandReport> = None;
        let (mut most, mut largest) = (0, -1.0);
        self.tally.worst = None;
        self.tally.busiest = None;
        for row in &self.membership.idle.rows {
            solution.mu[*row as usize] = 0.0;
        }
        let left = self.options.limits.work.saturating_sub(self.tally.work);
        let mut hardest = 0;
        let starts = &*solution;
        self.threads_for_parts().for_each(&mut self.parts, |part| {
            part.take_right_hand_sides(system);
            part.solution.mu.clear();
            let start = part.rows.iter().map(|r| starts.mu[*r as usize]);
            part.solution.mu.extend(start);
            let before = part.counters();
            match part.solve(left) {
                Ok(found) => part.found = Some(found),
                Err(error) => part.error = Some(error),
            }
            part.linear.add_since(&before, &part.counters());
        });
        for (k, part) in self.parts.iter_mut().enumerate() {
            if let Some(error) = part.error.take() {
                return Err(part.in_whole(error));
            }
            let copies = std::mem::take(&mut part.copies);
            self.tally.linear.add(&std::mem::take(&mut part.linear));
            if let PartSolver::Conic(solver) = &mut part.solver {
                self.tally.profile += solver.take_profile();
                self.tally.profile.copies += copies;
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
