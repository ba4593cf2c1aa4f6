//! Solves with `A + E`, `E` block diagonal: the linear algebra of ADMM and of the interior-point method.

use super::{Form, Problem, ProblemError};
use crate::{DirectSolver, KktSystem};
use pliant_sparse::{CsrMatrix, Pattern, PatternBuilder};

const ABSENT: u32 = u32::MAX;

/// `(A + E) x = rhs` for symmetric semidefinite `A` and `E` of symmetric positive definite blocks.
///
/// Through the [`DirectSolver`]: where the operator is a Schur complement, `A = J W^-1 J^T + R`, as the saddle-point system
/// `[W -J^T; -J -(R + E)]`, so that `A` is never formed and contacts go before bodies; else as the matrix `A + E` itself, sparse or dense.
/// The pattern is analysed once; nothing is allocated for equal patterns.
#[derive(Debug, Default)]
pub(crate) struct Shifted {
    system: Option<KktSystem>,
    direct: DirectSolver,
    /// Patterns that were analysed.
    seen: Vec<Pattern>,
    offsets: Vec<usize>,
    rows: Vec<usize>,
    fixed: Vec<bool>,
    /// For each entry of the own matrix, the entry of the source, if it has one: of `W` or, in a saddle-point system, of `R`.
    source: Vec<u32>,
    /// For each entry of the lower triangles of the diagonal blocks, where it is in the own matrix.
    slots: Vec<u32>,
    /// Whether `E` goes into `R`.
    saddle: bool,
    rhs: Vec<f64>,
    z: Vec<f64>,
    dense: Vec<f64>,
    ready: bool,
}

/// Entries of the lower triangle of the diagonal blocks: block, row and column within, row and column in the matrix.
fn lower(problem: &Problem) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    (0..problem.blocks()).flat_map(|k| {
        let d = problem.rows(k).len();
        (0..d).flat_map(move |i| (0..=i).map(move |l| (k, i, l)))
    })
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

    fn analyse(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        let m = problem.size();
        self.offsets.clear();
        self.offsets.extend_from_slice(problem.offsets());
        self.seen.clear();
        self.rows.clear();
        self.fixed.clear();
        self.saddle = false;
        let own = |k: usize, i: usize| problem.rows(k).start + i;
        let mut pattern = PatternBuilder::new(m, m);
        let (system, origin) = match problem.delassus().form() {
            Form::Saddle { system, rows } => {
                let (n, all) = (system.n(), system.m());
                let mut pattern = PatternBuilder::new(all, all);
                for i in 0..all {
                    for k in system.r.pattern().row(i) {
                        pattern.insert(i, *k as usize);
                    }
                }
                for (k, i, l) in lower(problem) {
                    pattern.insert(rows[own(k, i)], rows[own(k, l)]);
                }
                let r = pattern.finish()?;
                let source = map(&r, Some(system.r.pattern()));
                let (w, j) = (system.w.pattern().clone(), system.j.pattern().clone());
                let row_blocks = system.row_blocks().to_vec();
                let mut out = KktSystem::new(w, j, r, system.primal_blocks().to_vec(), row_blocks)?;
                out.fixed.copy_from_slice(&system.fixed);
                self.seen = vec![
                    system.w.pattern().clone(),
                    system.j.pattern().clone(),
                    system.r.pattern().clone(),
                ];
                self.rows = rows.to_vec();
                self.fixed = system.fixed.clone();
                self.saddle = true;
                debug_assert_eq!(out.n(), n);
                (out, source)
            }
            Form::Sparse(a) => {
                for i in 0..m {
                    for k in a.pattern().row(i).iter().filter(|k| **k as usize <= i) {
                        pattern.insert(i, *k as usize);
                    }
                }
                for (k, i, l) in lower(problem) {
                    pattern.insert(own(k, i), own(k, l));
                }
                let w = pattern.finish()?;
                let source = map(&w, Some(a.pattern()));
                self.seen = vec![a.pattern().clone()];
                (matrix(w, problem.offsets().to_vec())?, source)
            }
            Form::Opaque => {
                pattern.insert_block((0, 0), (m, m), true);
                let blocks = if m == 0 { vec![0] } else { vec![0, m] };
                let w = pattern.finish()?;
                self.dense.clear();
                self.dense.resize(m * m, 0.0);
                (matrix(w, blocks)?, Vec::new())
            }
        };
        self.source = origin;
        let target = if self.saddle { &system.r } else { &system.w };
        let place = |k: usize, i: usize| {
            if self.saddle {
                self.rows[own(k, i)]
            } else {
                own(k, i)
            }
        };
        let slot = |(k, i, l)| target.pattern().slot(place(k, i), place(k, l));
        self.slots = lower(problem)
            .map(|e| slot(e).map_or(ABSENT, |s| s as u32))
            .collect();
        self.system = Some(system);
        self.direct.forget(None);
        Ok(())
    }

    /// Takes the matrices of a problem. Allocates only for a new pattern.
    pub(crate) fn prepare(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        self.ready = false;
        if !self.fits(problem) {
            self.analyse(problem)?;
        }
        let Some(own) = &mut self.system else {
            return Ok(());
        };
        if let Form::Saddle { system, .. } = problem.delassus().form() {
            own.w.values_mut().copy_from_slice(system.w.values());
            own.j.values_mut().copy_from_slice(system.j.values());
        }
        Ok(())
    }

    /// Factors `A + E`, `E` as nine numbers per block of which the first `rows^2` count, row by row. False if it fails.
    pub(crate) fn factor(&mut self, problem: &Problem, e: &[f64]) -> bool {
        self.ready = false;
        let Some(own) = &mut self.system else { return false };
        match problem.delassus().form() {
            Form::Saddle { system, .. } => gather(&mut own.r, &self.source, &system.r),
            Form::Sparse(a) => gather(&mut own.w, &self.source, a),
            Form::Opaque => {
                let m = problem.size();
                problem.delassus().block(0..m, 0..m, &mut self.dense);
                let mut values = own.w.values_mut().iter_mut();
                for i in 0..m {
                    for (to, a) in (&mut values).zip(&self.dense[i * m..i * m + i + 1]) {
                        *to = *a;
                    }
                }
            }
        }
        let values = if self.saddle {
            own.r.values_mut()
        } else {
            own.w.values_mut()
        };
        for ((k, i, l), slot) in lower(problem).zip(&self.slots) {
            let d = problem.rows(k).len();
            if let Some(value) = values.get_mut(*slot as usize) {
                *value += e[9 * k + i * d + l];
            }
        }
        self.ready = self.direct.prepare(own).is_ok();
        self.ready
    }

    /// `x = (A + E)^-1 rhs`, without refinement. Cost: two triangular solves.
    pub(crate) fn solve(&mut self, rhs: &[f64], x: &mut [f64]) {
        let Some(own) = self.system.as_ref().filter(|_| self.ready) else {
            x.fill(0.0);
            return;
        };
        let n = own.n();
        self.rhs.clear();
        if !self.saddle {
            self.rhs.extend_from_slice(rhs);
            self.direct.apply_factors(&self.rhs, x);
            return;
        }
        self.rhs.resize(n + own.m(), 0.0);
        for (row, value) in self.rows.iter().zip(rhs) {
            self.rhs[n + row] = -value;
        }
        self.z.clear();
        self.z.resize(n + own.m(), 0.0);
        self.direct.apply_factors(&self.rhs, &mut self.z);
        for (row, x) in self.rows.iter().zip(x) {
            *x = self.z[n + row];
        }
    }
}

fn matrix(w: Pattern, blocks: Vec<usize>) -> Result<KktSystem, ProblemError> {
    let n = w.rows();
    let j = PatternBuilder::new(0, n).finish()?;
    let r = PatternBuilder::new(0, 0).finish()?;
    Ok(KktSystem::new(w, j, r, blocks, vec![0])?)
}

/// For each entry of a pattern its slot in another one.
fn map(own: &Pattern, source: Option<&Pattern>) -> Vec<u32> {
    let mut out = Vec::with_capacity(own.len());
    for i in 0..own.rows() {
        for k in own.row(i) {
            let slot = source.and_then(|s| s.slot(i, *k as usize));
            out.push(slot.map_or(ABSENT, |s| s as u32));
        }
    }
    out
}

fn gather(own: &mut CsrMatrix, source: &[u32], from: &CsrMatrix) {
    for (to, slot) in own.values_mut().iter_mut().zip(source) {
        *to = from.values().get(*slot as usize).copied().unwrap_or(0.0);
    }
}
