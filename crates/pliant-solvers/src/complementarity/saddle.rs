//! The Delassus operator of a saddle-point system.

mod bodies;
mod explicit;
mod free;

use super::delassus::add_rounded;
use super::{BlockSparse, Compensated, Delassus, Form, ProblemError};
use crate::direct::{AnalysisWorkspace, MOST_THREADS};
use crate::{Elimination, KktSystem};
pub(in crate::complementarity) use bodies::Bodies;
use explicit::{Analysis, Explicit, RemovedRows};
use free::Free;
use pliant_sparse::{CsrMatrix, DisjointSets, PatternBuilder, SparseError, Threads};
use std::ops::Range;

/// `A = N K^-1 N^T + R_N` of some rows `N` of a [`KktSystem`], `K` the system of the other rows,
/// all of them bilateral: sparse blocks or products through the factor of `K`, and the system
/// itself for those who factor it.
///
/// **By entries**, `A` is minus the Schur complement that the block factor of `K` leaves in the
/// rows `N`: half a solve per row, only where the row is felt (up the elimination tree), and the
/// products of these halves, only of the symmetric half
/// ([`Complement`](pliant_sparse::Complement)). Rows are shared among threads. Contacts of bodies
/// without joints couple if they share a body. Memory: the blocks of `A`. If `K` has redundant
/// rows, columns are computed with the [`DirectSolver`](crate::DirectSolver).
///
/// **Matrix-free**, a product is one solve with the factor of `K` and two products with `N`; the
/// diagonal blocks are computed once per update. Meant for contacts that all couple through one
/// mechanism or solid, where `A` is full. Solvers of products (accelerated gradient,
/// Barzilai-Borwein, Jacobi) lose nothing; those that factor work on the [system](Form::Saddle);
/// those that want single blocks or a dense matrix get them by a solve per column, which is exact
/// and slow.
///
/// **Through bodies**, if nothing but hundreds of rows of the operator connects them: a product, or
/// a sweep over the blocks, passes once over `N` and `N M^-1`, and the entries are made when they
/// are first asked for.
#[derive(Debug)]
pub struct SaddleDelassus {
    system: KktSystem,
    rows: Vec<usize>,
    report: DelassusReport,
    kept: Kept,
    /// By entries, or the storage of the next ones.
    explicit: Box<Explicit>,
    /// Through bodies, or the storage of the next ones.
    bodies: Box<Bodies>,
    analysis: Analysis,
    coupling: Coupling,
    /// Threads that its products, and factors of it, may share.
    threads: Threads,
}

/// The form of an operator.
#[derive(Debug, Default)]
enum Kept {
    /// By entries.
    #[default]
    Entries,
    /// By products with the factor of `K`.
    Factor(Box<Free>),
    /// By products through bodies that nothing else connects.
    Bodies,
}

/// Scratch of predictions. No result depends on what is in it.
#[derive(Debug, Default)]
struct Coupling {
    /// Whether each row is one of the operator.
    out: Vec<bool>,
    sets: DisjointSets,
    touching: Vec<u64>,
    last: Vec<u32>,
}

/// How a [`SaddleDelassus`] keeps its operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DelassusChoice {
    /// By entries, unless that takes a gigabyte or ten times the predicted work.
    #[default]
    Auto,
    /// By entries.
    Explicit,
    /// By products.
    MatrixFree,
}

/// Why an operator is kept as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DelassusReason {
    /// The caller said so.
    Pinned,
    /// Its entries would take too much memory.
    Memory,
    /// By predicted work.
    Work,
    /// Bodies that nothing else connects, and many rows.
    Bodies,
}

/// Costs predicted for an operator, and the decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelassusReport {
    /// Whether it is kept by products, with the factor of `K` or through bodies.
    pub matrix_free: bool,
    /// Why.
    pub reason: DelassusReason,
    /// Entries of `A`, both triangles, if every row couples with all that touch the same connected
    /// part of `K`.
    pub entries: u64,
    /// Work of the entries, of [`PRODUCTS`](Self::PRODUCTS) products and [`SWEEPS`](Self::SWEEPS)
    /// sweeps with them, in nanoseconds of a common processor: weights of counts, never measured.
    /// None if they were not analysed, for their memory or by choice.
    pub explicit_work: Option<f64>,
    /// Work of the factor of `K`, the diagonal blocks and the products through it, where that
    /// was of interest.
    pub free_work: Option<f64>,
}

impl DelassusReport {
    /// Products that are expected of an operator.
    pub const PRODUCTS: f64 = 200.0;
    /// Sweeps of a solver that asks for the rows of one block at a time, each a whole product if
    /// there are no entries.
    pub const SWEEPS: f64 = 8.0;
}

const ABSENT: u32 = u32::MAX;
/// Bytes from which entries are too many.
const MEMORY: u64 = 1 << 30;
/// Bytes per entry of `A`: value and index, and half of the block that it was computed in.
const ENTRY: u64 = 16;
/// How much more work entries may take: more solvers can use them.
const MUCH: f64 = 10.0;
/// Operations per nanosecond of the factor by small blocks, and of one by fronts.
const RATES: (f64, f64) = (7.0, 30.0);

/// Where runs of unknowns of one block start in a sequence, and its length.
fn boundaries<B: PartialEq>(sequence: &[usize], block_of: impl Fn(usize) -> B, out: &mut Vec<usize>) {
    out.clear();
    out.push(0);
    for k in 1..sequence.len() {
        if block_of(sequence[k]) != block_of(sequence[k - 1]) {
            out.push(k);
        }
    }
    if !sequence.is_empty() {
        out.push(sequence.len());
    }
}

/// The system without some rows (`out`, m), and which rows of the given one are left.
///
/// # Errors
/// Those of [`KktSystem::new`].
pub fn without(system: &KktSystem, out: &[bool]) -> Result<(KktSystem, Vec<usize>), ProblemError> {
    let mut rest = Rest::default();
    rest.refill(system, out)?;
    Ok((rest.system, rest.kept))
}

/// The system without some rows.
#[derive(Debug, Default)]
pub(super) struct Rest {
    pub(super) system: KktSystem,
    /// Row of the whole of each row that is left.
    pub(super) kept: Vec<usize>,
    builder: PatternBuilder,
    place: Vec<usize>,
    bounds: Vec<usize>,
}

impl Rest {
    /// Makes it that without the rows `out`, m. Allocates only for larger ones than ever before.
    pub(super) fn refill(&mut self, system: &KktSystem, out: &[bool]) -> Result<(), ProblemError> {
        let Self {
            system: sub,
            kept,
            builder,
            place,
            bounds,
        } = self;
        kept.clear();
        kept.extend((0..system.m()).filter(|i| !out[*i]));
        place.clear();
        place.resize(system.m(), ABSENT as usize);
        for (k, i) in kept.iter().enumerate() {
            place[*i] = k;
        }
        builder.reset(kept.len(), system.n());
        for (row, i) in kept.iter().enumerate() {
            for k in system.j.pattern().row(*i) {
                builder.insert(row, *k as usize);
            }
        }
        let j = builder.build()?;
        builder.reset(kept.len(), kept.len());
        for (row, i) in kept.iter().enumerate() {
            for k in system.r.pattern().row(*i).iter().filter(|k| !out[**k as usize]) {
                builder.insert(row, place[*k as usize]);
            }
        }
        let r = builder.build()?;
        let block = |i: usize| system.row_blocks().partition_point(|first| *first <= i);
        boundaries(kept, block, bounds);
        let patterns = [system.w.pattern().clone(), j, r];
        sub.refill(patterns, system.primal_blocks(), bounds)?;
        sub.fixed.copy_from_slice(&system.fixed);
        take_values(sub, system, kept);
        Ok(())
    }

    /// Takes the values of the matrices of a system of the same shape, and the rounding of its
    /// rows.
    pub(super) fn take_values(&mut self, system: &KktSystem) {
        take_values(&mut self.system, system, &self.kept);
        for (rounding, row) in self.system.b_rounding.iter_mut().zip(&self.kept) {
            *rounding = system.b_rounding[*row];
        }
    }
}

/// The values of a system into the one without some rows.
fn take_values(sub: &mut KktSystem, system: &KktSystem, kept: &[usize]) {
    sub.w.values_mut().copy_from_slice(system.w.values());
    for (row, i) in kept.iter().enumerate() {
        let (to, from) = (sub.j.pattern().row_slots(row), system.j.pattern().row_slots(*i));
        sub.j.values_mut()[to].copy_from_slice(&system.j.values()[from]);
        for slot in sub.r.pattern().row_slots(row) {
            let k = kept[sub.r.pattern().indices()[slot] as usize];
            sub.r.values_mut()[slot] = system.r.get(*i, k);
        }
    }
}

/// Free variables and values of a row of `J`.
pub(super) fn terms(system: &KktSystem, row: usize) -> impl Iterator<Item = (usize, f64)> {
    system.j.row_entries(row).filter(|(k, _)| !system.fixed[*k])
}

impl Coupling {
    /// Sum of squares of the numbers of rows that touch each connected part of `K`.
    fn count(&mut self, system: &KktSystem, rows: &[usize]) -> u64 {
        let (n, m) = (system.n(), system.m());
        let Self {
            out,
            sets,
            touching,
            last,
        } = self;
        sets.reset(n + m);
        let is_free = |k: &usize| !system.fixed[*k];
        for i in (0..n).filter(is_free) {
            let others = system.w.pattern().row(i).iter().map(|k| *k as usize);
            others.filter(is_free).for_each(|k| sets.join(i, k));
        }
        for i in (0..m).filter(|i| !out[*i]) {
            let others = system.j.pattern().row(i).iter().map(|k| *k as usize);
            others.filter(is_free).for_each(|k| sets.join(n + i, k));
            let others = system.r.pattern().row(i).iter().map(|k| *k as usize);
            others.filter(|k| !out[*k]).for_each(|k| sets.join(n + i, n + k));
        }
        touching.clear();
        touching.resize(n + m, 0);
        last.clear();
        last.resize(n + m, ABSENT);
        for row in rows {
            let columns = system.j.pattern().row(*row).iter().map(|k| *k as usize);
            for k in columns.filter(is_free) {
                let part = sets.root(k);
                if last[part] != *row as u32 {
                    last[part] = *row as u32;
                    touching[part] += 1;
                }
            }
        }
        touching
            .iter()
            .fold(0, |sum, c| sum.saturating_add(c.saturating_mul(*c)))
    }

    /// Marks the rows of the operator.
    ///
    /// # Errors
    /// A row that is not of the system, or comes twice.
    fn mark(&mut self, count: usize, rows: &[usize]) -> Result<(), usize> {
        self.out.clear();
        self.out.resize(count, false);
        for row in rows {
            match self.out.get_mut(*row) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(*row),
            }
        }
        Ok(())
    }
}

/// The form in which an operator is kept.
#[derive(Debug)]
pub(crate) struct DelassusForm {
    pub(crate) choice: DelassusChoice,
    pub(crate) threads: usize,
    /// An order of the bilateral part that was once found.
    pub(crate) order: Option<Elimination>,
}

impl SaddleDelassus {
    /// For the rows `rows` of a system, in the order in which they count, each once; `blocks` are
    /// the boundaries of blocks of them. The others are bilateral, whatever their bounds.
    ///
    /// # Errors
    /// [`ProblemError::Size`] if the blocks do not fit the rows or a row is not of the system or
    /// comes twice, and what the [`DirectSolver`](crate::DirectSolver) says.
    pub fn new(system: &KktSystem, rows: &[usize], blocks: &[usize]) -> Result<Self, ProblemError> {
        Self::with(system, rows, blocks, DelassusChoice::Auto, 1)
    }

    /// As [`Self::new`], kept as one chooses; entries are computed, products solved for on so many
    /// threads where there is enough work, with the same bits for any number of them.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with(
        system: &KktSystem,
        rows: &[usize],
        blocks: &[usize],
        choice: DelassusChoice,
        threads: usize,
    ) -> Result<Self, ProblemError> {
        let mut out = Self::empty();
        let kept = DelassusForm {
            choice,
            threads,
            order: None,
        };
        out.refill(system, rows, blocks, kept, &mut AnalysisWorkspace::default())?;
        Ok(out)
    }

    /// Storage for an operator, which has no rows.
    pub(crate) fn empty() -> Self {
        Self {
            system: KktSystem::default(),
            rows: Vec::new(),
            report: DelassusReport {
                matrix_free: false,
                reason: DelassusReason::Pinned,
                entries: 0,
                explicit_work: None,
                free_work: None,
            },
            kept: Kept::Entries,
            explicit: Box::default(),
            bodies: Box::default(),
            analysis: Analysis::default(),
            coupling: Coupling::default(),
            threads: Threads::one(),
        }
    }

    /// Makes it the operator as by [`Self::with`], in a form whose order is taken if it fits. By
    /// entries it allocates only for larger ones than ever before. After an error it is of no use.
    pub(crate) fn refill(
        &mut self,
        system: &KktSystem,
        rows: &[usize],
        blocks: &[usize],
        kept: DelassusForm,
        work: &mut AnalysisWorkspace,
    ) -> Result<(), ProblemError> {
        let DelassusForm {
            choice,
            threads,
            order,
        } = kept;
        let size = |what, expected, found| ProblemError::Size {
            what,
            expected,
            found,
        };
        system.check()?;
        self.coupling
            .mark(system.m(), rows)
            .map_err(|row| size("rows of the system, each once,", system.m(), row))?;
        let ascending = blocks.first() == Some(&0) && blocks.windows(2).all(|w| w[0] < w[1]);
        if !ascending || blocks.last() != Some(&rows.len()) {
            return Err(size("ascending blocks of rows", rows.len(), blocks.len()));
        }
        if threads > MOST_THREADS {
            return Err(ProblemError::Bilateral(crate::SolveError::Parameter {
                what: "the number of threads",
                value: threads as f64,
            }));
        }
        if self.threads.count() != threads.max(1) {
            self.threads = Threads::new(threads).map_err(SparseError::from)?;
        }
        let entries = self.coupling.count(system, rows);
        let mut report = DelassusReport {
            matrix_free: choice == DelassusChoice::MatrixFree,
            reason: DelassusReason::Pinned,
            entries,
            explicit_work: None,
            free_work: None,
        };
        self.kept = Kept::Entries;
        if choice == DelassusChoice::Auto && bodies::applies(system, rows, blocks) {
            self.bodies.refill(system, blocks);
            if self.bodies.compute(system) {
                self.kept = Kept::Bodies;
                self.take(system, rows);
                report.matrix_free = true;
                report.reason = DelassusReason::Bodies;
                self.report = report;
                return Ok(());
            }
        }
        let (analysis, out) = (&mut self.analysis, &self.coupling.out);
        if choice == DelassusChoice::Auto {
            report.matrix_free = entries.saturating_mul(ENTRY) > MEMORY;
            report.reason = DelassusReason::Memory;
        }
        if !report.matrix_free {
            let removed = RemovedRows { list: rows, out };
            analysis.refill(system, removed, blocks, order.as_ref(), work)?;
            if choice == DelassusChoice::Auto {
                let (explicit, free) = predicted_work(system, rows, blocks.len() - 1, analysis, entries);
                report.matrix_free = explicit > MUCH * free;
                report.reason = DelassusReason::Work;
                report.explicit_work = Some(explicit);
                report.free_work = Some(free);
            }
        }
        if report.matrix_free {
            self.kept = Kept::Factor(Box::new(Free::new(system, rows, blocks, threads, order)?));
        } else {
            self.explicit
                .refill(system, rows, blocks, &self.threads, analysis, work)?;
        }
        self.take(system, rows);
        self.report = report;
        Ok(())
    }

    /// Takes the system and its rows.
    fn take(&mut self, system: &KktSystem, rows: &[usize]) {
        self.system.clone_from(system);
        self.rows.clear();
        self.rows.extend_from_slice(rows);
    }

    /// The entries of an operator through bodies, unless they are too many.
    fn entries_of_bodies(&self) -> Option<&BlockSparse> {
        let fits = self.report.entries.saturating_mul(ENTRY) <= MEMORY;
        fits.then(|| self.bodies.entries()).flatten()
    }

    /// The operator through bodies, if it is kept so.
    pub(super) fn bodies(&self) -> Option<&Bodies> {
        match &self.kept {
            Kept::Bodies => Some(&self.bodies),
            _ => None,
        }
    }

    /// Writes the order of the bilateral part.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        match &self.kept {
            Kept::Entries => out.take(Some(&self.explicit.order)),
            Kept::Factor(free) => free.record(out),
            Kept::Bodies => out.clear(),
        }
    }

    /// The predictions and the decision.
    pub fn report(&self) -> DelassusReport {
        self.report
    }

    /// Whether the patterns are those of a system, and the rows too.
    pub(crate) fn fits(&self, system: &KktSystem) -> bool {
        self.system.w.pattern() == system.w.pattern()
            && self.system.j.pattern() == system.j.pattern()
            && self.system.r.pattern() == system.r.pattern()
            && self.system.fixed == system.fixed
            && self.system.row_blocks() == system.row_blocks()
            && self.system.primal_blocks() == system.primal_blocks()
    }

    /// Takes new values of a system of the same patterns. Allocates nothing with one thread, unless
    /// `K` has redundant rows.
    ///
    /// # Errors
    /// [`ProblemError::Size`] for another pattern, and what the
    /// [`DirectSolver`](crate::DirectSolver) says.
    pub fn update(&mut self, system: &KktSystem) -> Result<(), ProblemError> {
        if !self.fits(system) {
            return Err(ProblemError::Bilateral(crate::SolveError::NotPrepared));
        }
        self.system.w.values_mut().copy_from_slice(system.w.values());
        self.system.j.values_mut().copy_from_slice(system.j.values());
        self.system.r.values_mut().copy_from_slice(system.r.values());
        match &mut self.kept {
            Kept::Entries => self.explicit.compute(&self.system, &self.rows),
            Kept::Factor(own) => own.update(&self.system, &self.rows),
            Kept::Bodies if self.bodies.compute(system) => Ok(()),
            // The factor of `K` tells which mass it is.
            Kept::Bodies => Err(ProblemError::Bilateral(crate::SolveError::NotPrepared)),
        }
    }

    /// Entries that are stored; none of a matrix-free operator, but for its diagonal blocks.
    pub fn entries(&self) -> usize {
        match &self.kept {
            Kept::Entries => self.explicit.entries(),
            _ => 0,
        }
    }
}

/// Predicted work of the entries, and of products through the factor of `K`.
fn predicted_work(
    system: &KktSystem,
    rows: &[usize],
    blocks: usize,
    analysis: &Analysis,
    entries: u64,
) -> (f64, f64) {
    let (flops, updates) = analysis.work();
    let explicit = flops as f64 / RATES.0 + 3.0 * updates as f64;
    let inner = analysis.cost;
    let size = inner.entries as f64;
    let response: usize = rows.iter().map(|row| system.j.pattern().row(*row).len()).sum();
    // Several columns share a solve.
    let diagonal = 0.5 * rows.len() as f64 * size;
    let free = inner.flops as f64 / RATES.1 + 3.0 * size + diagonal;
    let product = 2.0 * size + 2.0 * response as f64;
    (
        explicit + (DelassusReport::PRODUCTS + DelassusReport::SWEEPS) * entries as f64,
        free + (DelassusReport::PRODUCTS + DelassusReport::SWEEPS * blocks as f64) * product,
    )
}

impl Delassus for SaddleDelassus {
    fn size(&self) -> usize {
        self.rows.len()
    }

    fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]) {
        match &self.kept {
            Kept::Entries => self.explicit.a.rows_times(rows, r, out),
            Kept::Factor(own) => own.rows_times(&self.system, &self.rows, rows, r, out),
            Kept::Bodies => self.bodies.rows_times(rows, r, out),
        }
    }

    fn cost(&self) -> u64 {
        match &self.kept {
            Kept::Entries => self.explicit.a.cost(),
            Kept::Factor(own) => own.cost(),
            Kept::Bodies => self.bodies.cost(),
        }
    }

    fn cost_of_sweep(&self, blocks: usize) -> u64 {
        match &self.kept {
            Kept::Entries | Kept::Bodies => self.cost(),
            Kept::Factor(_) => self.cost().saturating_mul(blocks as u64),
        }
    }

    fn add_times(&self, r: &[f64], y: &mut [Compensated], scratch: &mut [f64]) {
        match &self.kept {
            Kept::Entries => self.explicit.a.add_times_on(&self.threads, r, y),
            Kept::Factor(_) => add_rounded(self, r, y, scratch),
            Kept::Bodies => match self.entries_of_bodies() {
                Some(entries) => entries.add_times_on(&self.threads, r, y),
                None => add_rounded(self, r, y, scratch),
            },
        }
    }

    fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        match &self.kept {
            Kept::Entries => self.explicit.a.block(rows, columns, out),
            Kept::Factor(own) => own.block(&self.system, &self.rows, rows, columns, out),
            Kept::Bodies => self.bodies.block(rows, columns, out),
        }
    }

    fn matrix(&self) -> Option<&CsrMatrix> {
        match &self.kept {
            Kept::Entries => self.explicit.a.matrix(),
            Kept::Factor(_) => None,
            Kept::Bodies => self.entries_of_bodies()?.matrix(),
        }
    }

    fn threads(&self) -> Threads {
        self.threads.clone()
    }

    fn form(&self) -> Form<'_> {
        Form::Saddle {
            system: &self.system,
            rows: &self.rows,
        }
    }
}
