//! The Delassus operator of a saddle-point system.

use super::{BlockSparse, Delassus, Form, ProblemError};
use crate::order::Elimination;
use crate::{DirectSolver, KktSystem};
use pliant_sparse::{BlockFactor, BlockPattern, BlockSymbolic, CsrMatrix, Graph, PatternBuilder, PivotRule};
use std::ops::Range;

/// `A = N K^-1 N^T + R_N` of some rows `N` of a [`KktSystem`], `K` the system of the other rows, all of them bilateral: sparse blocks, and
/// the system itself for those who factor it.
///
/// `A` is minus the Schur complement that the block factorisation of `K` leaves in the rows `N`, which come last: every response is computed
/// only where it is felt (up the elimination tree), all at once, and only its symmetric half. Contacts of bodies without joints couple
/// if they share a body. Cost: the flops of the partial factorisation; memory: the blocks of `A`. If `K` has redundant rows, columns
/// are computed one by one with the [`DirectSolver`].
#[derive(Debug)]
pub struct SaddleDelassus {
    system: KktSystem,
    rows: Vec<usize>,
    a: BlockSparse,
    symbolic: BlockSymbolic,
    factor: BlockFactor,
    /// Slot in the factor of every entry of W, J, R; `ABSENT` for fixed variables.
    slots: [Vec<u32>; 3],
    /// Slot in the factor of every entry of `A`.
    source: Vec<u32>,
    /// Unknown of each pivot, and its least acceptable size as a share of its diagonal.
    sequence: Vec<usize>,
    /// Whether the last values came from the [`DirectSolver`].
    by_columns: bool,
}

const ABSENT: u32 = u32::MAX;
/// Pivots below these shares of the diagonal (of `W`, of the Delassus diagonal of a bilateral row) are not believed.
const CERTAIN: (f64, f64) = (1e-12, 1e-9);

fn boundaries(sequence: &[usize], block_of: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut out = vec![0];
    for k in 1..sequence.len() {
        if block_of(sequence[k]) != block_of(sequence[k - 1]) {
            out.push(k);
        }
    }
    if !sequence.is_empty() {
        out.push(sequence.len());
    }
    out
}

/// The system without the given rows.
fn without(system: &KktSystem, out: &[bool]) -> Result<(KktSystem, Vec<usize>), ProblemError> {
    let kept: Vec<usize> = (0..system.m()).filter(|i| !out[*i]).collect();
    let mut place = vec![ABSENT as usize; system.m()];
    for (k, i) in kept.iter().enumerate() {
        place[*i] = k;
    }
    let mut j = PatternBuilder::new(kept.len(), system.n());
    let mut r = PatternBuilder::new(kept.len(), kept.len());
    for (row, i) in kept.iter().enumerate() {
        for k in system.j.pattern().row(*i) {
            j.insert(row, *k as usize);
        }
        for k in system.r.pattern().row(*i).iter().filter(|k| !out[**k as usize]) {
            r.insert(row, place[*k as usize]);
        }
    }
    let block = |i: usize| system.row_blocks().partition_point(|first| *first <= i);
    let bounds = boundaries(&kept, block);
    let primal = system.primal_blocks().to_vec();
    let mut sub = KktSystem::new(
        system.w.pattern().clone(),
        j.finish()?,
        r.finish()?,
        primal,
        bounds,
    )?;
    sub.fixed.copy_from_slice(&system.fixed);
    sub.w.values_mut().copy_from_slice(system.w.values());
    for (row, i) in kept.iter().enumerate() {
        let (to, from) = (sub.j.pattern().row_slots(row), system.j.pattern().row_slots(*i));
        sub.j.values_mut()[to].copy_from_slice(&system.j.values()[from]);
        for k in system.r.pattern().row(*i).iter().filter(|k| !out[**k as usize]) {
            let k = *k as usize;
            if let Some(slot) = sub.r.pattern().slot(row, place[k]) {
                sub.r.values_mut()[slot] = system.r.get(*i, k);
            }
        }
    }
    Ok((sub, kept))
}

impl SaddleDelassus {
    /// For the rows `rows` of a system, in the order in which they count, each once; `blocks` are the boundaries of blocks of them. The others are
    /// bilateral, whatever their bounds.
    ///
    /// # Errors
    /// [`ProblemError::Size`] if the blocks do not fit the rows or a row is not of the system or comes twice, and what the
    /// [`DirectSolver`] says.
    pub fn new(system: &KktSystem, rows: &[usize], blocks: &[usize]) -> Result<Self, ProblemError> {
        let (n, m) = (system.n(), system.m());
        let size = |what, expected, found| ProblemError::Size {
            what,
            expected,
            found,
        };
        system.check()?;
        let mut out = vec![false; m];
        for row in rows {
            match out.get_mut(*row) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(size("rows of the system, each once,", m, *row)),
            }
        }
        let ascending = blocks.first() == Some(&0) && blocks.windows(2).all(|w| w[0] < w[1]);
        if !ascending || blocks.last() != Some(&rows.len()) {
            return Err(size("ascending blocks of rows", rows.len(), blocks.len()));
        }
        let (sub, kept) = without(system, &out)?;
        let deferred = vec![false; sub.row_blocks().len() - 1];
        let order = Elimination::new(&sub, &deferred)?;
        let mut sequence: Vec<usize> = order
            .sequence
            .iter()
            .map(|v| if *v < n { *v } else { n + kept[*v - n] })
            .collect();
        let block_of = |v: usize| {
            if v < n {
                (false, system.primal_blocks().partition_point(|first| *first <= v))
            } else {
                (true, system.row_blocks().partition_point(|first| *first <= v - n))
            }
        };
        let mut bounds: Vec<usize> = vec![0];
        for k in 1..sequence.len() {
            if block_of(sequence[k]) != block_of(sequence[k - 1]) {
                bounds.push(k);
            }
        }
        let inner = sequence.len();
        let eliminated = if inner > 0 { bounds.len() } else { 0 };
        bounds.extend(blocks.iter().skip(usize::from(inner == 0)).map(|b| inner + b));
        sequence.extend(rows.iter().map(|row| n + row));
        let mut position = vec![ABSENT; n + m];
        for (k, v) in sequence.iter().enumerate() {
            position[*v] = k as u32;
        }
        let mut vertex = Vec::with_capacity(sequence.len());
        for (k, w) in bounds.windows(2).enumerate() {
            vertex.extend(std::iter::repeat_n(k, w[1] - w[0]));
        }
        let parts = [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)];
        let mut graph = Graph::new(bounds.len() - 1);
        let mut last = (0, 0);
        let each = |(part, row0, column0): (&CsrMatrix, usize, usize), visit: &mut dyn FnMut(u32, u32)| {
            for i in 0..part.pattern().rows() {
                for k in part.pattern().row(i) {
                    let (a, b) = (position[row0 + i], position[column0 + *k as usize]);
                    visit(a.max(b), a.min(b));
                }
            }
        };
        for part in parts {
            each(part, &mut |a, b| {
                if a != ABSENT {
                    let edge = (vertex[a as usize], vertex[b as usize]);
                    if edge != last {
                        graph.connect(edge.0, edge.1);
                        last = edge;
                    }
                }
            });
        }
        let symbolic = BlockSymbolic::new(BlockPattern::partial(bounds, &graph, eliminated)?)?;
        let slots = parts.map(|part| {
            let mut slots = Vec::with_capacity(part.0.pattern().len());
            each(part, &mut |a, b| {
                let slot = (a != ABSENT).then(|| symbolic.slot(a as usize, b as usize));
                slots.push(slot.flatten().map_or(ABSENT, |s| s as u32));
            });
            slots
        });
        let mut pattern = PatternBuilder::new(rows.len(), rows.len());
        let all = symbolic.pattern();
        for j in eliminated..all.len() {
            let own = (all.bounds()[j] - inner, all.block_size(j));
            pattern.insert_block((own.0, own.0), (own.1, own.1), false);
            for i in all.column(j) {
                let other = (all.bounds()[*i as usize] - inner, all.block_size(*i as usize));
                pattern.insert_block((other.0, own.0), (other.1, own.1), false);
                pattern.insert_block((own.0, other.0), (own.1, other.1), false);
            }
        }
        let matrix = pattern.finish()?.into_matrix();
        let mut source = Vec::with_capacity(matrix.pattern().len());
        for i in 0..rows.len() {
            for k in matrix.pattern().row(i) {
                let k = *k as usize;
                let slot = symbolic.slot(inner + i.max(k), inner + i.min(k));
                source.push(slot.map_or(ABSENT, |s| s as u32));
            }
        }
        let mut made = Self {
            system: system.clone(),
            rows: rows.to_vec(),
            a: BlockSparse::from_matrix(matrix),
            factor: symbolic.allocate(),
            symbolic,
            slots,
            source,
            sequence,
            by_columns: false,
        };
        made.compute()?;
        Ok(made)
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

    /// Takes new values of a system of the same patterns. Allocates nothing, unless `K` has redundant rows.
    ///
    /// # Errors
    /// [`ProblemError::Size`] for another pattern, and what the [`DirectSolver`] says.
    pub fn update(&mut self, system: &KktSystem) -> Result<(), ProblemError> {
        if !self.fits(system) {
            return Err(ProblemError::Bilateral(crate::SolveError::NotPrepared));
        }
        self.system.w.values_mut().copy_from_slice(system.w.values());
        self.system.j.values_mut().copy_from_slice(system.j.values());
        self.system.r.values_mut().copy_from_slice(system.r.values());
        self.compute()
    }

    fn compute(&mut self) -> Result<(), ProblemError> {
        self.by_columns = !self.complement()?;
        if self.by_columns {
            return self.columns();
        }
        for (to, slot) in self.a.matrix_mut().values_mut().iter_mut().zip(&self.source) {
            *to = -self.factor.values().get(*slot as usize).copied().unwrap_or(0.0);
        }
        Ok(())
    }

    /// The Schur complement; false if a pivot is in doubt.
    fn complement(&mut self) -> Result<bool, ProblemError> {
        let system = &self.system;
        let n = system.n();
        self.factor.clear();
        let values = self.factor.values_mut();
        let parts = [(&system.w, 1.0), (&system.j, -1.0), (&system.r, -1.0)];
        for ((part, sign), slots) in parts.into_iter().zip(&self.slots) {
            for (value, slot) in part.values().iter().zip(slots) {
                if !value.is_finite() {
                    return Ok(false);
                }
                if let Some(to) = values.get_mut(*slot as usize) {
                    *to = sign * value;
                }
            }
        }
        if self.factor.factor(&self.symbolic, PivotRule::Keep).is_err() {
            return Ok(false);
        }
        let eliminated = self.sequence.len() - self.rows.len();
        Ok((0..eliminated).all(|k| {
            let (v, d) = (self.sequence[k], self.factor.pivots()[k]);
            if v < n {
                d > CERTAIN.0 * system.w_diagonal(v)
            } else {
                -d > CERTAIN.1 * (system.r_diagonal(v - n) + system.row_scale(v - n))
            }
        }))
    }

    /// Column by column, with the rank decisions of the direct solver.
    fn columns(&mut self) -> Result<(), ProblemError> {
        let p = self.rows.len();
        let mut out = vec![false; self.system.m()];
        self.rows.iter().for_each(|row| out[*row] = true);
        let (sub, _) = without(&self.system, &out)?;
        let mut direct = DirectSolver::default();
        direct.prepare(&sub)?;
        let mut dense = vec![0.0; p * p];
        let (mut rhs, mut z) = (vec![0.0; sub.n() + sub.m()], vec![0.0; sub.n() + sub.m()]);
        let j = &self.system.j;
        let terms = |i: usize| {
            let slots = j.pattern().row_slots(i);
            j.pattern()
                .row(i)
                .iter()
                .zip(&j.values()[slots])
                .map(|(k, a)| (*k as usize, *a))
        };
        for (c, row) in self.rows.iter().enumerate() {
            rhs.fill(0.0);
            for (k, a) in terms(*row).filter(|(k, _)| !sub.fixed[*k]) {
                rhs[k] = a;
            }
            direct.apply_factors(&rhs, &mut z);
            for (i, other) in self.rows.iter().enumerate() {
                let free = terms(*other).filter(|(k, _)| !sub.fixed[*k]);
                dense[i * p + c] = free.map(|(k, a)| a * z[k]).sum();
                let (a, b) = (row.max(other), row.min(other));
                dense[i * p + c] += self.system.r.get(*a, *b);
            }
        }
        let matrix = self.a.matrix_mut();
        for i in 0..p {
            for slot in matrix.pattern().row_slots(i) {
                let k = matrix.pattern().indices()[slot] as usize;
                matrix.values_mut()[slot] = 0.5 * (dense[i * p + k] + dense[k * p + i]);
            }
        }
        Ok(())
    }

    /// Entries that are stored.
    pub fn entries(&self) -> usize {
        self.source.len()
    }
}

impl Delassus for SaddleDelassus {
    fn size(&self) -> usize {
        self.rows.len()
    }

    fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]) {
        self.a.rows_times(rows, r, out);
    }

    fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        self.a.block(rows, columns, out);
    }

    fn form(&self) -> Form<'_> {
        Form::Saddle {
            system: &self.system,
            rows: &self.rows,
        }
    }
}
