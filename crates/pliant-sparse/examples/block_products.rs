//! Multiply by a stiffness matrix of 3 x 3 blocks, with some unknowns held, for several vectors.
//!
//! `A = T (x) I_3`, `T = tridiag(-1, 2, -1)`: on `x_v = v^2 (1, 1, 1)` every entry of `A x` inside
//! is `2 v^2 - (v - 1)^2 - (v + 1)^2 = -2`. With the points 0 and 1 held, their rows and columns are
//! those of the identity, and point 2 keeps `2 * 4 - 9 = -1`.
//!
//! `cargo run --release -p pliant-sparse --example block_products`

use pliant_sparse::{CsrMatrix, LinearOperator, SparseError, SymmetricBlockMatrix};

fn main() -> Result<(), SparseError> {
    let n = 8;
    let mut entries = Vec::new();
    for i in 0..3 * n {
        entries.push((i, i, 2.0));
        if i >= 3 {
            entries.push((i, i - 3, -1.0));
        }
    }
    let a = CsrMatrix::from_entries(3 * n, 3 * n, &entries)?;
    let free = SymmetricBlockMatrix::<3>::new(&a, &[])?;
    let x: Vec<f64> = (0..3 * n).map(|i| ((i / 3) * (i / 3)) as f64).collect();
    let mut y = vec![0.0; 3 * n];
    free.apply(&x, &mut y);
    println!("free: {:?}", &y[..12]);
    assert!(y[3..3 * (n - 1)].iter().all(|y| *y == -2.0));

    // Points 0 and 1 held; two vectors at once read the matrix once.
    let fixed: Vec<bool> = (0..3 * n).map(|i| i < 6).collect();
    let held = SymmetricBlockMatrix::<3>::new(&a, &fixed)?;
    let pairs: Vec<[f64; 2]> = x.iter().map(|x| [*x, 1.0]).collect();
    let mut out = vec![[0.0; 2]; 3 * n];
    held.products_into(&pairs, &mut out);
    println!("held: {:?}", &out[..12]);
    for (i, [y, ones]) in out.iter().enumerate() {
        let expected = match i / 3 {
            0 | 1 => [x[i], 1.0],
            2 => [-1.0, 1.0],
            v if v + 1 == n => [2.0 * 49.0 - 36.0, 1.0],
            _ => [-2.0, 0.0],
        };
        assert_eq!([*y, *ones], expected, "row {i}");
    }
    println!(
        "{} blocks, {:.2} numbers per entry",
        held.blocks().len(),
        held.padding()
    );
    assert_eq!(held.blocks().len(), 2 * n - 1);
    // Diagonal blocks store six numbers for three entries, others nine for three.
    assert_eq!(
        held.padding(),
        (6 * n + 9 * (n - 1)) as f64 / (3 * n + 3 * (n - 1)) as f64
    );
    Ok(())
}
