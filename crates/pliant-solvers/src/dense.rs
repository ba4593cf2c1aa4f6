//! Dense factors for small systems, and oracles: the same problem by a Schur complement with
//! eigenvalues, and by a plain `L D L^T`.

mod cholesky;
mod factor;
mod solver;

pub use cholesky::DenseCholesky;
pub use factor::{DenseFactor, DenseMethod, Inertia};
pub use solver::{DenseOptions, DenseSolver};

use crate::{KktSystem, Solution, SolveError, Variable};
use nalgebra::{DMatrix, DVector};
use pliant_dense::dense_ldlt::{DenseError, DenseLdlt};

/// The matrices with fixed variables replaced by `x = 0`.
struct Dense {
    w: DMatrix<f64>,
    j: DMatrix<f64>,
    r: DMatrix<f64>,
    c: DVector<f64>,
}

impl Dense {
    fn new(system: &KktSystem) -> Self {
        let (n, m) = (system.n(), system.m());
        let mut w = DMatrix::zeros(n, n);
        let mut j = DMatrix::zeros(m, n);
        let mut r = DMatrix::zeros(m, m);
        for i in 0..n {
            for k in system.w.pattern().row(i) {
                let k = *k as usize;
                w[(i, k)] = system.w.get(i, k);
                w[(k, i)] = w[(i, k)];
            }
        }
        for i in 0..m {
            for k in system.j.pattern().row(i) {
                j[(i, *k as usize)] = system.j.get(i, *k as usize);
            }
            for k in system.r.pattern().row(i) {
                let k = *k as usize;
                r[(i, k)] = system.r.get(i, k);
                r[(k, i)] = r[(i, k)];
            }
        }
        let mut c = DVector::from_column_slice(&system.c);
        for i in (0..n).filter(|i| system.fixed[*i]) {
            w.row_mut(i).fill(0.0);
            w.column_mut(i).fill(0.0);
            w[(i, i)] = 1.0;
            j.column_mut(i).fill(0.0);
            c[i] = 0.0;
        }
        Self { w, j, r, c }
    }
}

/// Solves a small system by a dense `L D L^T` of the whole KKT matrix, variables first, without
/// pivoting. Returns the solution and the numbers of positive and negative pivots. Cost
/// `(n + m)^3 / 3`. Not for redundant hard rows.
///
/// # Errors
/// [`SolveError::NotFinite`] at a pivot that is zero or not finite, [`SolveError::Bounded`] at a
/// bounded row.
pub fn solve_dense_ldlt(system: &KktSystem) -> Result<(Solution, (usize, usize)), SolveError> {
    system.check_bilateral()?;
    let Dense { w, j, r, c } = Dense::new(system);
    let (n, m) = (system.n(), system.m());
    let mut k = DMatrix::zeros(n + m, n + m);
    k.view_mut((0, 0), (n, n)).copy_from(&w);
    k.view_mut((n, 0), (m, n)).copy_from(&-&j);
    k.view_mut((0, n), (n, m)).copy_from(&-j.transpose());
    k.view_mut((n, n), (m, m)).copy_from(&-r);
    let rhs = DVector::from_iterator(n + m, c.iter().chain(&system.b).copied());
    let named = |e| match e {
        DenseError::Pivot { index, .. } => {
            let variable = if index < n {
                Variable::Dof(index)
            } else {
                Variable::Row(index - n)
            };
            SolveError::NotFinite { variable }
        }
        _ => SolveError::NotPrepared,
    };
    let factors = DenseLdlt::new(&k).map_err(named)?;
    let z = factors.solve(&rhs).map_err(named)?;
    let (x, mu) = z.as_slice().split_at(n);
    Ok((
        Solution {
            x: x.to_vec(),
            mu: mu.to_vec(),
        },
        factors.inertia(),
    ))
}

/// Solves a small system densely, by `(J W^-1 J^T + R) mu = -(b + J W^-1 c)` with the minimum-norm
/// multiplier (eigenvalues below `1e-10` of the largest count as zero). Cost `O((n + m)^3)`; shares
/// no code with the sparse solvers.
///
/// # Errors
/// [`SolveError::NotPositiveDefinite`] if `W` restricted to the free variables has no Cholesky
/// factor, [`SolveError::Bounded`] at a bounded row.
pub fn solve_dense(system: &KktSystem) -> Result<Solution, SolveError> {
    system.check_bilateral()?;
    let Dense { w, j, r, c } = Dense::new(system);
    let (n, m) = (system.n(), system.m());
    let diagonal = (0..n)
        .map(|i| (i, w[(i, i)]))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((0, 0.0));
    let cholesky = w.cholesky().ok_or(SolveError::NotPositiveDefinite {
        dof: diagonal.0,
        diagonal: diagonal.1,
    })?;
    let free = cholesky.solve(&c);
    if m == 0 {
        return Ok(Solution {
            x: free.as_slice().to_vec(),
            mu: Vec::new(),
        });
    }
    let w_jt = cholesky.solve(&j.transpose());
    let rhs = -(DVector::from_column_slice(&system.b) + &j * &free);
    let mu = pliant_dense::dense_ldlt::minimum_norm(&(&j * &w_jt + r), &rhs, 1e-10);
    let x = free + w_jt * &mu;
    Ok(Solution {
        x: x.as_slice().to_vec(),
        mu: mu.as_slice().to_vec(),
    })
}
