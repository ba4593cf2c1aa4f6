//! Stationary points: systems whose `W` may be anything symmetric, singular ones too.

use super::pivoted::assembled;
use crate::{KktSystem, Solution, SolveError, Variable};
use pliant_sparse::{CsrMatrix, PatternBuilder, PivotedFactor, SparseError};

/// Steps of iterative refinement at most: with pivots chosen for stability one or two are all that
/// helps.
const REFINEMENTS: usize = 3;
/// Share of the largest unknown that counts as its rounding.
const ROUNDING: f64 = 1e-13;

/// Kind of stationary point of the quadratic form of a system: eigenvalues by sign of
/// `W + J_s^T R_s^-1 J_s` on the null space of `J_h`, with the soft rows `s` and the hard rows `h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// Negative eigenvalues: none at a minimum.
    pub negative: usize,
    /// Zero ones, up to rounding: directions in which nothing resists.
    pub zero: usize,
    /// Hard rows that depend on others.
    pub redundant: usize,
}

impl Kind {
    /// Directions that nothing holds: negative and zero eigenvalues.
    pub fn unheld(&self) -> usize {
        self.negative + self.zero
    }
}

/// Factors `[W -J^T; -J -R]` with pivots chosen for stability ([`PivotedFactor`]), whatever the
/// inertia of `W`, and says what it is. All rows are bilateral.
///
/// A singular system is no error: unknowns without a pivot come out as zero, which is a solution if
/// there is one; the residual that [`solve`](Self::solve) returns tells.
///
/// Everything is computed anew and allocated by every `prepare`, in one thread.
#[derive(Debug, Default)]
pub struct StationarySolver {
    factor: Option<(PivotedFactor, CsrMatrix)>,
    kind: Kind,
    rhs: Vec<f64>,
    z: Vec<f64>,
    best: Vec<f64>,
    level: Vec<f64>,
}

impl StationarySolver {
    /// Analyses and factors.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`], [`SolveError::Size`], [`SolveError::Bounds`],
    /// [`SolveError::Bounded`] if a row has a finite bound.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<Kind, SolveError> {
        self.factor = None;
        system.check()?;
        system.check_bilateral()?;
        let n = system.n();
        let matrix = assembled(system)?;
        let factor = PivotedFactor::new(&matrix, PivotedFactor::THRESHOLD).map_err(|e| in_words(e, n))?;
        let inertia = factor.inertia();
        // By Sylvester's law the signs are those of W on the null space, of the soft rows, and one
        // pair for each independent hard row.
        let redundant = if inertia.zero > 0 {
            redundant_rows(system)?
        } else {
            0
        };
        let zero = inertia.zero.saturating_sub(redundant);
        self.kind = Kind {
            negative: (inertia.negative + redundant).saturating_sub(system.m()),
            zero,
            redundant,
        };
        self.factor = Some((factor, matrix));
        Ok(self.kind)
    }

    /// The kind that the last [`prepare`](Self::prepare) found.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// An unknown without a pivot, if the system is singular.
    pub fn unpivoted(&self, system: &KktSystem) -> Option<Variable> {
        let index = self.factor.as_ref()?.0.zeros().next()?;
        Some(match index.checked_sub(system.n()) {
            Some(row) => Variable::Row(row),
            None => Variable::Dof(index),
        })
    }

    /// Solves for `c` and `b` and returns the largest residual as a share of the size of the terms
    /// of its equation (a componentwise backward error): far above rounding if the system is
    /// singular and has no solution.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`.
    pub fn solve(
        &mut self,
        system: &KktSystem,
        c: &[f64],
        b: &[f64],
        solution: &mut Solution,
    ) -> Result<f64, SolveError> {
        let (n, m) = (system.n(), system.m());
        let Some((factor, matrix)) = self.factor.as_ref().filter(|(f, _)| f.size() == n + m) else {
            return Err(SolveError::NotPrepared);
        };
        self.rhs.clear();
        self.rhs.extend_from_slice(&c[..n]);
        self.rhs.extend_from_slice(&b[..m]);
        for (r, fixed) in self.rhs.iter_mut().zip(&system.fixed) {
            if *fixed {
                *r = 0.0;
            }
        }
        self.z.clear();
        self.z.resize(n + m, 0.0);
        self.best.clone_from(&self.z);
        let (mut residual, mut sizes) = (self.rhs.clone(), vec![0.0; n + m]);
        let mut best = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            let mut correction = residual;
            factor.solve_in_place(&mut correction);
            for (z, d) in self.z.iter_mut().zip(&correction) {
                *z += d;
            }
            residual = correction;
            residual.copy_from_slice(&self.rhs);
            for (size, r) in sizes.iter_mut().zip(&self.rhs) {
                *size = r.abs();
            }
            matrix.symmetric_add_product(-1.0, &self.z, &mut residual);
            add_sizes(matrix, &self.z, &mut sizes);
            // An equation whose terms are all rounding of what is elsewhere misses nothing.
            let largest = |z: &[f64]| z.iter().fold(0.0f64, |a, z| a.max(z.abs()));
            let (x, mu) = self.z.split_at(n);
            self.level.clear();
            self.level.resize(n, ROUNDING * largest(x));
            self.level.resize(n + m, ROUNDING * largest(mu));
            add_sizes(matrix, &self.level, &mut sizes);
            let terms = residual.iter().zip(&sizes);
            let shares = terms.map(|(r, s)| if *r == 0.0 { 0.0 } else { r.abs() / s });
            let found = shares.fold(0.0, |a: f64, b| if b.is_nan() || b > a { b } else { a });
            if found.is_nan() || found >= best {
                self.z.copy_from_slice(&self.best);
                break;
            }
            best = found;
            self.best.clone_from(&self.z);
        }
        solution.x.clear();
        solution.x.extend_from_slice(&self.z[..n]);
        solution.mu.clear();
        solution.mu.extend_from_slice(&self.z[n..]);
        Ok(best)
    }
}

fn in_words(error: SparseError, n: usize) -> SolveError {
    match error {
        SparseError::Pivot { index } => SolveError::NotFinite {
            variable: match index.checked_sub(n) {
                Some(row) => Variable::Row(row),
                None => Variable::Dof(index),
            },
        },
        other => other.into(),
    }
}

/// `out += |A| |z|`.
fn add_sizes(a: &CsrMatrix, z: &[f64], out: &mut [f64]) {
    for i in 0..a.pattern().rows() {
        for (slot, k) in a.pattern().row_slots(i).zip(a.pattern().row(i)) {
            let (k, value) = (*k as usize, a.values()[slot].abs());
            out[i] += value * z[k].abs();
            if k != i {
                out[k] += value * z[i].abs();
            }
        }
    }
}

/// Hard rows that depend on others: the zero eigenvalues of `[I -J^T; -J -R]`, in which `W` plays
/// no part.
fn redundant_rows(system: &KktSystem) -> Result<usize, SolveError> {
    let n = system.n();
    let mut pattern = PatternBuilder::new(n, n);
    (0..n).for_each(|i| pattern.insert(i, i));
    let mut plain = KktSystem::new(
        pattern.finish()?,
        system.j.pattern().clone(),
        system.r.pattern().clone(),
        system.primal_blocks().to_vec(),
        system.row_blocks().to_vec(),
    )?;
    plain.w.values_mut().fill(1.0);
    plain.j.values_mut().copy_from_slice(system.j.values());
    plain.r.values_mut().copy_from_slice(system.r.values());
    plain.fixed.copy_from_slice(&system.fixed);
    let factor =
        PivotedFactor::new(&assembled(&plain)?, PivotedFactor::THRESHOLD).map_err(|e| in_words(e, n))?;
    Ok(factor.inertia().zero)
}
