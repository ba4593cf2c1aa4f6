//! Solves with `T A T^T + E`: the linear algebra of ADMM and of the interior-point method.

mod unsymmetric;

use super::cone::ROWS;
use super::{Form, Problem, ProblemError};
use crate::{DirectSolver, Elimination, KktSystem};
use pliant_sparse::{Pattern, PatternBuilder, Threads};
use unsymmetric::Unsymmetric;

const ABSENT: u32 = u32::MAX;
/// Most entries of a square block.
const SQUARE: usize = ROWS * ROWS;

/// `(T A T^T + E) x = rhs` for symmetric semidefinite `A`, `T` of one square block per block of
/// rows, and diagonal positive `E`.
///
/// Through the [`DirectSolver`]: where the operator is a Schur complement, `A = N K^-1 N^T + R`, as
/// the saddle-point system with the rows `T N` and `T R T^T + E`, so that `A` is never formed and
/// contacts go before bodies; else as the matrix itself, sparse or dense. The pattern is analysed
/// once; nothing is allocated for equal patterns, and for saddle-point systems of other patterns
/// only if they are larger than ever before.
#[derive(Debug, Default)]
pub(crate) struct Shifted {
    system: KktSystem,
    /// Whether it is of the last problem.
    is_planned: bool,
    direct: DirectSolver,
    shape: Shape,
    sources: Sources,
    rhs: Vec<f64>,
    z: Vec<f64>,
    ready: bool,
    /// Order for the next pattern, if it fits.
    imposed: Option<Elimination>,
    /// Planned when it is first asked for.
    unsymmetric: Unsymmetric,
    /// Storage of patterns.
    builder: PatternBuilder,
    /// Whether the symmetric factor has yet to see this problem.
    stale: bool,
    /// Threads that the factors share.
    threads: Threads,
    /// Scratch: the identity for every block, and the blocks' scales by row.
    unit: Vec<f64>,
    scale: Vec<f64>,
}

/// The shape of the problem that was analysed.
#[derive(Debug, Default)]
struct Shape {
    /// Patterns of its operator.
    seen: Vec<Pattern>,
    offsets: Vec<usize>,
    /// Whether the operator is a Schur complement; then the rows of its system that are those of
    /// the problem, and the fixed variables.
    saddle: bool,
    rows: Vec<usize>,
    fixed: Vec<bool>,
    /// Whether that system has rows without a cone.
    bilateral: bool,
}

impl Shape {
    fn take(&mut self, problem: &Problem) {
        let Self {
            seen,
            offsets,
            saddle,
            rows,
            fixed,
            bilateral,
        } = self;
        for list in [&mut *offsets, rows] {
            list.clear();
        }
        offsets.extend_from_slice(problem.offsets());
        seen.clear();
        fixed.clear();
        (*saddle, *bilateral) = (false, false);
        match problem.delassus().form() {
            Form::Opaque => {}
            Form::Sparse(a) => seen.push(a.pattern().clone()),
            Form::Saddle { system, rows: own } => {
                let patterns = [system.w.pattern(), system.j.pattern(), system.r.pattern()];
                seen.extend(patterns.map(Pattern::clone));
                *saddle = true;
                rows.extend_from_slice(own);
                fixed.clone_from(&system.fixed);
                *bilateral = own.len() < system.m();
            }
        }
    }

    /// Rows of the problem.
    fn size(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    fn fits(&self, problem: &Problem) -> bool {
        if self.offsets != problem.offsets() {
            return false;
        }
        match problem.delassus().form() {
            Form::Opaque => !self.saddle && self.seen.is_empty(),
            Form::Sparse(a) => !self.saddle && self.seen.first() == Some(a.pattern()),
            Form::Saddle { system, rows } => {
                let patterns = [system.w.pattern(), system.j.pattern(), system.r.pattern()];
                self.saddle
                    && self.rows == rows
                    && self.fixed == system.fixed
                    && self.seen.iter().zip(patterns).all(|(a, b)| a == b)
            }
        }
    }
}

/// Where the entries of the system come from.
#[derive(Debug, Default)]
struct Sources {
    /// Saddle-point form: for every entry of the own `J`, the entries of its column in the rows of
    /// the block, of the source.
    columns: Vec<[u32; ROWS]>,
    /// For every entry of the own `R` the entry of the source.
    entries: Vec<u32>,
    /// Block of each row of the system, and its number within; `ABSENT` for bilateral rows.
    place: Vec<(u32, u32)>,
    /// Other forms: pairs of coupled blocks, the second not after the first.
    pairs: Vec<(u32, u32)>,
}

// A clone makes its factors anew.
impl Clone for Shifted {
    fn clone(&self) -> Self {
        Self::default()
    }
}

fn matrix(w: Pattern, blocks: Vec<usize>) -> Result<KktSystem, ProblemError> {
    let n = w.rows();
    let j = PatternBuilder::new(0, n).finish()?;
    let r = PatternBuilder::new(0, 0).finish()?;
    Ok(KktSystem::new(w, j, r, blocks, vec![0])?)
}

/// `T B V^T` for small matrices by rows: `B` is `a x b`, `T` and `V` square.
fn between((t, a): (&[f64], usize), (v, b): (&[f64], usize), block: &[f64; SQUARE]) -> [f64; SQUARE] {
    let (mut half, mut out) = ([0.0; SQUARE], [0.0; SQUARE]);
    for i in 0..a {
        for j in 0..b {
            half[i * b + j] = (0..a).map(|x| t[i * a + x] * block[x * b + j]).sum();
        }
    }
    for i in 0..a {
        for j in 0..b {
            out[i * b + j] = (0..b).map(|x| half[i * b + x] * v[j * b + x]).sum();
        }
    }
    out
}

impl Sources {
    fn clear(&mut self) {
        let Self {
            columns,
            entries,
            place,
            pairs,
        } = self;
        columns.clear();
        entries.clear();
        place.clear();
        pairs.clear();
    }

    /// Makes them those of the rows `rows` of a system, an operator in saddle-point form, and `out`
    /// the system to be filled.
    fn refill_saddle(
        &mut self,
        problem: &Problem,
        system: &KktSystem,
        rows: &[usize],
        builder: &mut PatternBuilder,
        out: &mut KktSystem,
    ) -> Result<(), ProblemError> {
        let (n, m) = (system.n(), system.m());
        self.clear();
        self.place.resize(m, (ABSENT, 0));
        for k in 0..problem.blocks() {
            for (l, i) in problem.rows(k).enumerate() {
                self.place[rows[i]] = (k as u32, l as u32);
            }
        }
        let own = |i: usize| match self.place[i].0 {
            ABSENT => &rows[..0],
            k => &rows[problem.rows(k as usize)],
        };
        builder.reset(m, n);
        for i in 0..m {
            for row in own(i).iter().chain([&i]) {
                let columns = system.j.pattern().row(*row).iter();
                columns.for_each(|c| builder.insert(i, *c as usize));
            }
        }
        let j = builder.build()?;
        builder.reset(m, m);
        for i in 0..m {
            let columns = system.r.pattern().row(i).iter();
            columns.for_each(|c| builder.insert(i, *c as usize));
            let others = own(i).iter().filter(|row| **row <= i);
            others.for_each(|row| builder.insert(i, *row));
        }
        let r = builder.build()?;
        for i in 0..m {
            let k = self.place[i].0;
            let mut own = [i; ROWS];
            let mut count = 1;
            if k != ABSENT {
                count = problem.rows(k as usize).len();
                own[..count].copy_from_slice(&rows[problem.rows(k as usize)]);
            }
            for c in j.row(i) {
                let mut slots = [ABSENT; ROWS];
                for (slot, row) in slots.iter_mut().zip(&own[..count]) {
                    *slot = system
                        .j
                        .pattern()
                        .slot(*row, *c as usize)
                        .map_or(ABSENT, |s| s as u32);
                }
                self.columns.push(slots);
            }
            for c in r.row(i) {
                let slot = system.r.pattern().slot(i, *c as usize);
                self.entries.push(slot.map_or(ABSENT, |s| s as u32));
            }
        }
        let patterns = [system.w.pattern().clone(), j, r];
        out.refill(patterns, system.primal_blocks(), system.row_blocks())?;
        out.fixed.copy_from_slice(&system.fixed);
        Ok(())
    }

    /// Sources of an operator in another form, and the system to be filled.
    fn of_matrix(problem: &Problem, form: Form<'_>) -> Result<(KktSystem, Self), ProblemError> {
        let mut sources = Self::default();
        let m = problem.size();
        let blocks = problem.blocks();
        let mut of = Vec::with_capacity(m);
        (0..blocks).for_each(|k| of.extend(problem.rows(k).map(|_| k as u32)));
        for k in 0..blocks {
            let start = sources.pairs.len();
            sources.pairs.push((k as u32, k as u32));
            if let Form::Sparse(a) = form {
                for i in problem.rows(k) {
                    let columns = a.pattern().row(i).iter().map(|c| of[*c as usize]);
                    sources
                        .pairs
                        .extend(columns.filter(|l| *l < k as u32).map(|l| (k as u32, l)));
                }
                sources.pairs[start..].sort_unstable();
            } else {
                sources.pairs.extend((0..k as u32).map(|l| (k as u32, l)));
            }
        }
        sources.pairs.dedup();
        let mut w = PatternBuilder::new(m, m);
        for (k, l) in &sources.pairs {
            let (a, b) = (problem.rows(*k as usize), problem.rows(*l as usize));
            w.insert_block((a.start, b.start), (a.len(), b.len()), true);
        }
        let mut bounds = problem.offsets().to_vec();
        if matches!(form, Form::Opaque) && m > 0 {
            bounds = vec![0, m];
        }
        Ok((matrix(w.finish()?, bounds)?, sources))
    }

    /// Fills the values of the system.
    fn fill(&self, problem: &Problem, turn: &[f64], e: &[f64], own: &mut KktSystem) {
        if let Form::Saddle { system, rows: all } = problem.delassus().form() {
            own.w.values_mut().copy_from_slice(system.w.values());
            for i in 0..own.m() {
                let (k, l) = self.place[i];
                let slots = own.j.pattern().row_slots(i);
                let (d, t) = if k == ABSENT {
                    (1, &[1.0][..])
                } else {
                    let d = problem.rows(k as usize).len();
                    let first = problem.square(k as usize).start + l as usize * d;
                    (d, &turn[first..first + d])
                };
                let values = &mut own.j.values_mut()[slots.clone()];
                for (to, from) in values.iter_mut().zip(&self.columns[slots]) {
                    let value = |slot: u32| system.j.values().get(slot as usize).copied().unwrap_or(0.0);
                    *to = (0..d).map(|x| t[x] * value(from[x])).sum();
                }
            }
            for (to, slot) in own.r.values_mut().iter_mut().zip(&self.entries) {
                *to = system.r.values().get(*slot as usize).copied().unwrap_or(0.0);
            }
            for k in 0..problem.blocks() {
                let rows = problem.rows(k);
                let d = rows.len();
                let place = &all[rows.clone()];
                let mut block = [0.0; SQUARE];
                for i in 0..d {
                    for l in 0..d {
                        let (a, b) = (place[i].max(place[l]), place[i].min(place[l]));
                        block[i * d + l] = system.r.get(a, b);
                    }
                }
                let turned = between(
                    (&turn[problem.square(k)], d),
                    (&turn[problem.square(k)], d),
                    &block,
                );
                for i in 0..d {
                    for l in 0..=i {
                        let (a, b) = (place[i].max(place[l]), place[i].min(place[l]));
                        if let Some(slot) = own.r.pattern().slot(a, b) {
                            let shift = if i == l { e[rows.start + i] } else { 0.0 };
                            own.r.values_mut()[slot] = turned[i * d + l] + shift;
                        }
                    }
                }
            }
        } else {
            let mut block = [0.0; SQUARE];
            for (k, l) in &self.pairs {
                let (k, l) = (*k as usize, *l as usize);
                let (a, b) = (problem.rows(k), problem.rows(l));
                problem.delassus().block(a.clone(), b.clone(), &mut block);
                let turned = between(
                    (&turn[problem.square(k)], a.len()),
                    (&turn[problem.square(l)], b.len()),
                    &block,
                );
                for (x, i) in a.clone().enumerate() {
                    let Some(first) = own.w.pattern().slot(i, b.start) else {
                        continue;
                    };
                    let count = b.len().min(i + 1 - b.start);
                    let to = &mut own.w.values_mut()[first..first + count];
                    to.copy_from_slice(&turned[x * b.len()..x * b.len() + count]);
                    if k == l {
                        to[x] += e[i];
                    }
                }
            }
        }
    }
}

impl Shifted {
    /// Writes the order of elimination in use, or that for the next pattern.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        if self.is_planned {
            self.direct.record_order(out);
        } else {
            out.take(self.imposed.as_ref());
        }
    }

    /// Operations of a factorisation in the order in use; of an unsymmetric one they are twice as
    /// many.
    pub(crate) fn cost(&self) -> u64 {
        let order = self.direct.order_in_use();
        order.map_or(0, |order| order.report.cost.flops)
    }

    /// Forgets the factors; the order is for the next pattern.
    pub(crate) fn forget(&mut self, order: Option<Elimination>) {
        self.is_planned = false;
        self.ready = false;
        self.imposed = order;
        self.direct.forget(None);
        self.unsymmetric.forget();
    }

    /// Takes the pattern of a problem. Allocates only for a new one.
    pub(crate) fn prepare(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        self.ready = false;
        self.stale = true;
        let threads = problem.delassus().threads();
        if self.threads.count() != threads.count() {
            self.is_planned = false;
        }
        self.threads = threads;
        self.direct.share(&self.threads);
        if self.is_planned && self.shape.fits(problem) {
            return Ok(());
        }
        self.is_planned = false;
        self.unsymmetric.forget();
        self.direct.forget(self.imposed.take());
        match problem.delassus().form() {
            Form::Saddle { system, rows } => {
                let (builder, out) = (&mut self.builder, &mut self.system);
                self.sources.refill_saddle(problem, system, rows, builder, out)?;
            }
            other => (self.system, self.sources) = Sources::of_matrix(problem, other)?,
        }
        self.shape.take(problem);
        self.is_planned = true;
        Ok(())
    }

    /// Factors with `T` as one square matrix per block, row by row, and `E` as one number per row.
    /// False if it fails.
    pub(crate) fn factor(&mut self, problem: &Problem, turn: &[f64], e: &[f64]) -> bool {
        self.ready = false;
        if self.is_planned {
            self.sources.fill(problem, turn, e, &mut self.system);
            self.ready = self.direct.prepare(&self.system).is_ok();
        }
        // Rows that turned out to be redundant may have changed the order.
        if self.direct.order_in_use() != Some(&self.unsymmetric.order) {
            self.unsymmetric.forget();
        }
        self.ready
    }

    /// `x = (T A T^T + E)^-1 rhs`, without refinement. Cost: two triangular solves.
    pub(crate) fn solve(&mut self, rhs: &[f64], x: &mut [f64]) {
        if !self.ready {
            x.fill(0.0);
            return;
        }
        let own = &self.system;
        if !self.shape.saddle {
            self.direct.apply_factors(rhs, x);
            return;
        }
        let n = own.n();
        self.rhs.clear();
        self.rhs.resize(n + own.m(), 0.0);
        for (row, value) in self.shape.rows.iter().zip(rhs) {
            self.rhs[n + row] = -value;
        }
        self.z.resize(n + own.m(), 0.0);
        self.direct.apply_factors(&self.rhs, &mut self.z);
        for (row, x) in self.shape.rows.iter().zip(x) {
            *x = self.z[n + row];
        }
    }
}
