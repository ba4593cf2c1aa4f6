//! Factor a saddle-point matrix with pivoting, read its inertia, find a redundant constraint.
//!
//! `[I J^T; J 0] [x; y] = [p; 0]` projects `p` on the null space of `J`. With `n` unknowns and `m`
//! rows of rank `r` it has `n` positive, `r` negative eigenvalues and `m - r` zeros (Sylvester).
//!
//! `cargo run --release -p pliant-sparse --example saddle_inertia`

use pliant_sparse::{CsrMatrix, Inertia, PivotedFactor, SparseError};

/// The lower triangle for constraints on four unknowns.
fn saddle(rows: &[[f64; 4]]) -> Result<CsrMatrix, SparseError> {
    let mut entries: Vec<_> = (0..4).map(|i| (i, i, 1.0)).collect();
    for (k, row) in rows.iter().enumerate() {
        entries.push((4 + k, 4 + k, 0.0));
        entries.extend((0..4).map(|j| (4 + k, j, row[j])));
    }
    CsrMatrix::from_entries(4 + rows.len(), 4 + rows.len(), &entries)
}

fn main() -> Result<(), SparseError> {
    let (sum, difference) = ([1.0; 4], [1.0, -1.0, 0.0, 0.0]);
    let factor = PivotedFactor::new(&saddle(&[sum, difference])?, PivotedFactor::THRESHOLD)?;
    let mut x = [3.0, 1.0, 2.0, -6.0, 0.0, 0.0];
    factor.solve_in_place(&mut x);
    println!("inertia {:?}, projection {:.6?}", factor.inertia(), &x[..4]);
    // Less p . j / |j|^2 j: nothing along the sum, (1, -1, 0, 0) along the difference.
    for (x, expected) in x.iter().zip([2.0, 2.0, 2.0, -6.0]) {
        assert!((x - expected).abs() < 1e-14);
    }
    let (positive, negative) = (4, 2);
    assert_eq!(
        factor.inertia(),
        Inertia {
            positive,
            negative,
            zero: 0
        }
    );

    // A third row that is a combination of the two others, hidden in decimals.
    let third = [0.7 + 0.3, 0.7 - 0.3, 0.7, 0.7];
    let factor = PivotedFactor::new(&saddle(&[sum, difference, third])?, PivotedFactor::THRESHOLD)?;
    let redundant: Vec<usize> = factor.zeros().collect();
    println!("inertia {:?}, without a pivot: {redundant:?}", factor.inertia());
    assert_eq!(
        factor.inertia(),
        Inertia {
            positive,
            negative,
            zero: 1
        }
    );
    assert!(redundant[0] >= 4, "a multiplier, not an unknown");
    Ok(())
}
