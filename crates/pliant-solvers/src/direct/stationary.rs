//! Stationary points: systems whose `W` may be anything symmetric, singular ones too.

use super::pivoted::assembled;
use super::signs::{add_inverse, prepare_signed};
use super::{DirectOptions, DirectSolver};
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

/// Factors `[W -J^T; -J -R]`, whatever the inertia of `W`, and says what it is. All rows are
/// bilateral.
///
/// The factor is that of the [`DirectSolver`], in the order that the pattern asks for, if its
/// pivots leave no doubt about their signs; where they do (singular and nearly singular systems,
/// redundant rows, an elimination that lets entries grow) one with pivots chosen for stability
/// ([`PivotedFactor`]), which is slower by a factor of ten and more and computes everything anew in
/// one thread.
///
/// A singular system is no error: unknowns without a pivot come out as zero, which is a solution if
/// there is one; the residual that [`solve`](Self::solve) returns tells.
#[derive(Debug, Default)]
pub struct StationarySolver {
    direct: DirectSolver,
    by: Option<By>,
    kind: Kind,
    both: Vec<f64>,
    best: Solution,
    missing: Missing,
}

/// The factor of the last system.
#[derive(Debug)]
enum By {
    /// The direct solver's.
    Order { size: usize },
    /// One that chose its pivots.
    Pivots(PivotedFactor),
}

impl StationarySolver {
    /// A solver whose direct factor is shared by so many threads. No bit depends on them.
    pub fn with_threads(threads: usize) -> Self {
        Self {
            direct: DirectSolver::new(DirectOptions {
                threads,
                ..DirectOptions::default()
            }),
            ..Self::default()
        }
    }

    /// Factors; analyses the pattern if it changed.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`], [`SolveError::Size`], [`SolveError::Bounds`],
    /// [`SolveError::Bounded`] if a row has a finite bound.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<Kind, SolveError> {
        self.by = None;
        system.check()?;
        system.check_bilateral()?;
        let size = system.n() + system.m();
        (self.kind, self.by) = match prepare_signed(&mut self.direct, system)? {
            Some(kind) => (kind, Some(By::Order { size })),
            None => {
                let (kind, factor) = choose_pivots(system)?;
                (kind, Some(By::Pivots(factor)))
            }
        };
        Ok(self.kind)
    }

    /// Whether the last factor chose its pivots.
    pub fn chose_pivots(&self) -> bool {
        matches!(self.by, Some(By::Pivots(_)))
    }

    /// The kind that the last [`prepare`](Self::prepare) found.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// An unknown without a pivot, if the system is singular.
    pub fn unpivoted(&self, system: &KktSystem) -> Option<Variable> {
        let Some(By::Pivots(factor)) = &self.by else {
            return None;
        };
        let index = factor.zeros().next()?;
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
        let size = match &self.by {
            Some(By::Order { size }) => *size,
            Some(By::Pivots(factor)) => factor.size(),
            None => return Err(SolveError::NotPrepared),
        };
        if size != n + m {
            return Err(SolveError::NotPrepared);
        }
        for list in [&mut *solution, &mut self.best] {
            set(&mut list.x, 0.0, n);
            set(&mut list.mu, 0.0, m);
        }
        self.missing.start(system, c, b);
        let mut best = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            self.correct(solution)?;
            let found = self.missing.measure(system, c, b, solution);
            if found.is_nan() || found >= best {
                std::mem::swap(solution, &mut self.best);
                break;
            }
            best = found;
            self.best.clone_from(solution);
        }
        Ok(best)
    }

    /// Adds the correction of the present residual.
    fn correct(&mut self, solution: &mut Solution) -> Result<(), SolveError> {
        let Solution { x, mu } = &self.missing.residual;
        match &self.by {
            Some(By::Order { .. }) => add_inverse(&mut self.direct, x, mu, solution),
            Some(By::Pivots(factor)) => {
                let both = &mut self.both;
                both.clear();
                both.extend_from_slice(x);
                both.extend_from_slice(mu);
                factor.solve_in_place(both);
                let unknowns = solution.x.iter_mut().chain(&mut solution.mu);
                unknowns.zip(both).for_each(|(z, d)| *z += *d);
                Ok(())
            }
            None => Err(SolveError::NotPrepared),
        }
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

/// The residual of a solution, and the sizes of the terms that it is the sum of.
#[derive(Debug, Default)]
struct Missing {
    residual: Solution,
    sizes: Solution,
}

impl Missing {
    /// The residual of nothing: the right-hand side, zero at fixed variables.
    fn start(&mut self, system: &KktSystem, c: &[f64], b: &[f64]) {
        let Solution { x, mu } = &mut self.residual;
        x.clear();
        let forces = c.iter().zip(&system.fixed);
        x.extend(forces.map(|(c, fixed)| if *fixed { 0.0 } else { *c }));
        mu.clear();
        mu.extend_from_slice(&b[..system.m()]);
    }

    /// The residual of a solution; its largest part as a share of its terms. An equation whose
    /// terms are all rounding of the largest unknowns misses nothing.
    fn measure(&mut self, system: &KktSystem, c: &[f64], b: &[f64], z: &Solution) -> f64 {
        self.start(system, c, b);
        let Self { residual, sizes } = self;
        let KktSystem { w, j, r, fixed, .. } = system;
        w.symmetric_add_product(-1.0, &z.x, &mut residual.x);
        j.add_transpose_product(1.0, &z.mu, &mut residual.x);
        j.add_product(1.0, &z.x, &mut residual.mu);
        r.symmetric_add_product(1.0, &z.mu, &mut residual.mu);
        let largest = |z: &[f64]| z.iter().fold(0.0f64, |a, z| a.max(z.abs()));
        let level = (ROUNDING * largest(&z.x), ROUNDING * largest(&z.mu));
        sizes.x.clear();
        sizes.x.extend(c.iter().take(z.x.len()).map(|c| c.abs()));
        sizes.mu.clear();
        sizes.mu.extend(b.iter().take(z.mu.len()).map(|b| b.abs()));
        add_sizes(w, &z.x, level.0, &mut sizes.x);
        add_sizes(r, &z.mu, level.1, &mut sizes.mu);
        for row in 0..z.mu.len() {
            let force = z.mu[row].abs() + level.1;
            for (k, a) in j.row_entries(row) {
                sizes.x[k] += a.abs() * force;
                sizes.mu[row] += a.abs() * (z.x[k].abs() + level.0);
            }
        }
        for (r, fixed) in residual.x.iter_mut().zip(fixed) {
            if *fixed {
                *r = 0.0;
            }
        }
        let pairs = [(&residual.x, &sizes.x), (&residual.mu, &sizes.mu)];
        let shares = pairs.into_iter().flat_map(|(r, s)| r.iter().zip(s));
        let shares = shares.map(|(r, s)| if *r == 0.0 { 0.0 } else { r.abs() / s });
        shares.fold(0.0, |a: f64, b| if b.is_nan() || b > a { b } else { a })
    }
}

/// `out += |A| (|z| + level)` of a lower triangle.
fn add_sizes(a: &CsrMatrix, z: &[f64], level: f64, out: &mut [f64]) {
    for i in 0..z.len() {
        for (k, a) in a.row_entries(i) {
            out[i] += a.abs() * (z[k].abs() + level);
            if k != i {
                out[k] += a.abs() * (z[i].abs() + level);
            }
        }
    }
}

fn set(list: &mut Vec<f64>, value: f64, count: usize) {
    list.clear();
    list.resize(count, value);
}

/// Factors with pivots chosen for stability, and counts by them.
fn choose_pivots(system: &KktSystem) -> Result<(Kind, PivotedFactor), SolveError> {
    let n = system.n();
    let factor =
        PivotedFactor::new(&assembled(system)?, PivotedFactor::THRESHOLD).map_err(|e| in_words(e, n))?;
    let inertia = factor.inertia();
    // By Sylvester's law the signs are those of W on the null space, of the soft rows, and one
    // pair for each independent hard row.
    let redundant = if inertia.zero > 0 {
        redundant_rows(system)?
    } else {
        0
    };
    let kind = Kind {
        negative: (inertia.negative + redundant).saturating_sub(system.m()),
        zero: inertia.zero.saturating_sub(redundant),
        redundant,
    };
    Ok((kind, factor))
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
