//! The dense oracle: the same problem by a Schur complement and singular values.

use crate::{KktSystem, Solution, SolveError};
use nalgebra::{DMatrix, DVector};

/// Solves a small system densely, by `(J W^-1 J^T + R) mu = -(b + J W^-1 c)` with the minimum-norm multiplier (singular
/// values below `1e-10` of the largest count as zero). Cost `O((n + m)^3)`; shares no code with the sparse solvers.
///
/// # Errors
/// [`SolveError::NotPositiveDefinite`] if `W` restricted to the free variables has no Cholesky factor.
pub fn solve_dense(system: &KktSystem) -> Result<Solution, SolveError> {
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
