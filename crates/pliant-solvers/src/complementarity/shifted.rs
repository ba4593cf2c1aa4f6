//! Solves with `T A T^T + E`: the linear algebra of ADMM and of the interior-point method.

mod unsymmetric;

use super::cone::ROWS;
use super::{Form, Problem, ProblemError};
use crate::{DirectSolver, Elimination, KktSystem};
use pliant_sparse::{Pattern, PatternBuilder};
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
/// once; nothing is allocated for equal patterns.
#[derive(Debug, Default)]
pub(crate) struct Shifted {
    system: Option<KktSystem>,
    direct: DirectSolver,
    /// Patterns that were analysed.
    seen: Vec<Pattern>,
    offsets: Vec<usize>,
    rows: Vec<usize>,
    fixed: Vec<bool>,
    saddle: bool,
    /// Saddle-point form: for every entry of the own `J`, the entries of its column in the rows of
    /// the block, of the source.
    columns: Vec<[u32; ROWS]>,
    /// For every entry of the own `R` the entry of the source.
    entries: Vec<u32>,
    /// Other forms: pairs of coupled blocks, the second not after the first.
    pairs: Vec<(u32, u32)>,
    /// Block of each row of the system, and its number within; `ABSENT` for bilateral rows.
    place: Vec<(u32, u32)>,
    rhs: Vec<f64>,
    z: Vec<f64>,
    ready: bool,
    /// Order for the next pattern, if it fits.
    imposed: Option<Elimination>,
    /// Made when it is first asked for.
    unsymmetric: Option<Unsymmetric>,
    /// Whether the symmetric factor has yet to see this problem.
    stale: bool,
    /// Whether the system has rows without a cone.
    bilateral: bool,
    /// Scratch: the identity for every block, and the blocks' scales by row.
    unit: Vec<f64>,
    scale: Vec<f64>,
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

impl Shifted {
    fn fits(&self, problem: &Problem) -> bool {
        if self.system.is_none() || self.offsets != problem.offsets() {
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

    /// The order of elimination in use.
    pub(crate) fn order(&self) -> Option<Elimination> {
        self.system.as_ref().and(self.direct.elimination()).cloned()
    }

    /// The order for the next pattern.
    pub(crate) fn impose(&mut self, order: Option<Elimination>) {
        self.imposed = order;
    }

    /// Takes the pattern of a problem. Allocates only for a new one.
    pub(crate) fn prepare(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        self.ready = false;
        self.stale = true;
        if self.fits(problem) {
            return Ok(());
        }
        self.offsets.clear();
        self.offsets.extend_from_slice(problem.offsets());
        self.seen.clear();
        self.rows.clear();
        self.pairs.clear();
        self.unsymmetric = None;
        self.direct.forget(self.imposed.take());
        let form = problem.delassus().form();
        self.saddle = matches!(form, Form::Saddle { .. });
        self.bilateral = matches!(form, Form::Saddle { system, rows } if rows.len() < system.m());
        self.system = Some(match form {
            Form::Saddle { system, rows } => self.analyse_saddle(problem, system, rows)?,
            other => self.analyse_matrix(problem, other)?,
        });
        Ok(())
    }

    fn analyse_saddle(
        &mut self,
        problem: &Problem,
        system: &KktSystem,
        rows: &[usize],
    ) -> Result<KktSystem, ProblemError> {
        let (n, m) = (system.n(), system.m());
        self.place = vec![(ABSENT, 0); m];
        for k in 0..problem.blocks() {
            for (l, i) in problem.rows(k).enumerate() {
                self.place[rows[i]] = (k as u32, l as u32);
            }
        }
        let mut j = PatternBuilder::new(m, n);
        let mut r = PatternBuilder::new(m, m);
        for i in 0..m {
            let k = self.place[i].0;
            let own = if k == ABSENT {
                &rows[..0]
            } else {
                &rows[problem.rows(k as usize)]
            };
            for row in own.iter().chain([&i]) {
                system
                    .j
                    .pattern()
                    .row(*row)
                    .iter()
                    .for_each(|c| j.insert(i, *c as usize));
            }
            system
                .r
                .pattern()
                .row(i)
                .iter()
                .for_each(|c| r.insert(i, *c as usize));
            own.iter()
                .filter(|row| **row <= i)
                .for_each(|row| r.insert(i, *row));
        }
        let (j, r) = (j.finish()?, r.finish()?);
        self.columns.clear();
        self.entries.clear();
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
        self.rows.extend_from_slice(rows);
        self.fixed.clone_from(&system.fixed);
        self.seen = vec![
            system.w.pattern().clone(),
            system.j.pattern().clone(),
            system.r.pattern().clone(),
        ];
        let blocks = (system.primal_blocks().to_vec(), system.row_blocks().to_vec());
        let mut out = KktSystem::new(system.w.pattern().clone(), j, r, blocks.0, blocks.1)?;
        out.fixed.copy_from_slice(&system.fixed);
        Ok(out)
    }

    fn analyse_matrix(&mut self, problem: &Problem, form: Form<'_>) -> Result<KktSystem, ProblemError> {
        let m = problem.size();
        let blocks = problem.blocks();
        let mut of = Vec::with_capacity(m);
        (0..blocks).for_each(|k| of.extend(problem.rows(k).map(|_| k as u32)));
        for k in 0..blocks {
            let start = self.pairs.len();
            self.pairs.push((k as u32, k as u32));
            if let Form::Sparse(a) = form {
                for i in problem.rows(k) {
                    let columns = a.pattern().row(i).iter().map(|c| of[*c as usize]);
                    self.pairs
                        .extend(columns.filter(|l| *l < k as u32).map(|l| (k as u32, l)));
                }
                self.pairs[start..].sort_unstable();
            } else {
                self.pairs.extend((0..k as u32).map(|l| (k as u32, l)));
            }
        }
        self.pairs.dedup();
        let mut w = PatternBuilder::new(m, m);
        for (k, l) in &self.pairs {
            let (a, b) = (problem.rows(*k as usize), problem.rows(*l as usize));
            w.insert_block((a.start, b.start), (a.len(), b.len()), true);
        }
        let mut bounds = problem.offsets().to_vec();
        if let Form::Sparse(a) = form {
            self.seen = vec![a.pattern().clone()];
        } else if m > 0 {
            bounds = vec![0, m];
        }
        matrix(w.finish()?, bounds)
    }

    /// Factors with `T` as one square matrix per block, row by row, and `E` as one number per row.
    /// False if it fails.
    pub(crate) fn factor(&mut self, problem: &Problem, turn: &[f64], e: &[f64]) -> bool {
        self.ready = false;
        self.fill(problem, turn, e);
        self.ready = self
            .system
            .as_ref()
            .is_some_and(|own| self.direct.prepare(own).is_ok());
        // Rows that turned out to be redundant may have changed the order.
        if self.unsymmetric.as_ref().map(|b| &b.order) != self.direct.elimination() {
            self.unsymmetric = None;
        }
        self.ready
    }

    /// The values of the system.
    fn fill(&mut self, problem: &Problem, turn: &[f64], e: &[f64]) {
        let Some(own) = &mut self.system else { return };
        if let Form::Saddle { system, .. } = problem.delassus().form() {
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
                let place = &self.rows[rows.clone()];
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

    /// `x = (T A T^T + E)^-1 rhs`, without refinement. Cost: two triangular solves.
    pub(crate) fn solve(&mut self, rhs: &[f64], x: &mut [f64]) {
        let Some(own) = self.system.as_ref().filter(|_| self.ready) else {
            x.fill(0.0);
            return;
        };
        if !self.saddle {
            self.direct.apply_factors(rhs, x);
            return;
        }
        let n = own.n();
        self.rhs.clear();
        self.rhs.resize(n + own.m(), 0.0);
        for (row, value) in self.rows.iter().zip(rhs) {
            self.rhs[n + row] = -value;
        }
        self.z.resize(n + own.m(), 0.0);
        self.direct.apply_factors(&self.rhs, &mut self.z);
        for (row, x) in self.rows.iter().zip(x) {
            *x = self.z[n + row];
        }
    }
}
