//! Solve an unsymmetric system by `L U`: heat that is carried by a flow.
//!
//! `-T'' + (2 c / d) T' = 0` in central differences of spacing `d`:
//! `-(1 + c) T_(i-1) + 2 T_i - (1 - c) T_(i+1) = 0`, `T_0 = 0`, `T_(n+1) = 1`. Its exact solution is
//! `T_i = (r^i - 1) / (r^(n+1) - 1)` with `r = (1 + c) / (1 - c)`.
//!
//! `cargo run --release -p pliant-sparse --example unsymmetric_lu`

use pliant_sparse::{CsrMatrix, LuFactor, SparseError};

fn main() -> Result<(), SparseError> {
    let (n, c) = (40, 0.2);
    // The matrix is given by columns: the first index is the column.
    let mut columns = Vec::new();
    for j in 0..n {
        columns.push((j, j, 2.0));
        if j > 0 {
            columns.push((j, j - 1, -(1.0 - c)));
        }
        if j + 1 < n {
            columns.push((j, j + 1, -(1.0 + c)));
        }
    }
    let a = CsrMatrix::from_entries(n, n, &columns)?;
    let mut factor = LuFactor::new(a.pattern())?;
    factor.factor(&a)?;
    let mut t = vec![0.0; n];
    t[n - 1] = 1.0 - c;
    factor.solve_in_place(&mut t);

    let r: f64 = (1.0 + c) / (1.0 - c);
    let exact = |i: usize| (r.powi(i as i32) - 1.0) / (r.powi(n as i32 + 1) - 1.0);
    let error = t
        .iter()
        .zip(1..)
        .map(|(t, i)| (t - exact(i)).abs())
        .fold(0.0, f64::max);
    println!("{} entries in L and U, error {error:.1e}", factor.entries());
    println!(
        "next to the hot end: {:.6}, in the middle: {:.6}",
        t[n - 1],
        t[n / 2]
    );
    assert!(error < 1e-14);
    assert!(!factor.has_negative_determinant(), "an M-matrix");
    Ok(())
}
