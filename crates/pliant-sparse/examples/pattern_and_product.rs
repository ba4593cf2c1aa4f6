//! Build the pattern of a sparse matrix once, write its values twice, multiply.
//!
//! `A = c tridiag(-1, 2, -1)` (lower triangle), the stiffness of a chain of springs; on
//! `x_i = i^2` it gives `-2 c` in every row but the last, where the chain is held.
//!
//! `cargo run --release -p pliant-sparse --example pattern_and_product`

use pliant_sparse::{PatternBuilder, SparseError};

fn main() -> Result<(), SparseError> {
    let n = 6;
    let mut builder = PatternBuilder::new(n, n);
    for i in 0..n {
        builder.insert(i, i);
        if i > 0 {
            builder.insert(i, i - 1);
        }
    }
    let pattern = builder.finish()?;
    // Where each spring writes: found once, used for every set of values.
    let diagonal: Vec<_> = (0..n).filter_map(|i| pattern.slot(i, i)).collect();
    let below: Vec<_> = (1..n).filter_map(|i| pattern.slot(i, i - 1)).collect();
    let mut a = pattern.into_matrix();
    let x: Vec<f64> = (0..n).map(|i| (i * i) as f64).collect();
    for c in [1.0, 250.0] {
        diagonal.iter().for_each(|s| a.values_mut()[*s] = 2.0 * c);
        below.iter().for_each(|s| a.values_mut()[*s] = -c);
        let mut y = vec![0.0; n];
        a.symmetric_add_product(1.0, &x, &mut y);
        println!("c = {c}: A x = {y:?}");
        // 2 i^2 - (i - 1)^2 - (i + 1)^2 = -2; the first row has no neighbour before it: -1.
        assert_eq!(y[0], -c);
        assert!(y[1..n - 1].iter().all(|y| *y == -2.0 * c));
        assert_eq!(y[n - 1], c * (2.0 * 25.0 - 16.0));
    }
    assert_eq!(
        (a.pattern().len(), a.get(3, 2), a.get(3, 1)),
        (2 * n - 1, -250.0, 0.0)
    );
    Ok(())
}
