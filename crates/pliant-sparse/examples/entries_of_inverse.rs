//! Read a few entries of an inverse: the compliance of a structure where it is touched.
//!
//! `C = B^T A^-1 B` for sparse columns `B`. Of a chain of `n` points and `n + 1` unit springs
//! between two walls, `(A^-1)_ij = (i + 1)(n - j) / (n + 1)` for `i <= j`; two points brought
//! together, `B = e_i - e_j`, have `C_ii - 2 C_ij + C_jj`.
//!
//! `cargo run --release -p pliant-sparse --example entries_of_inverse`

use pliant_sparse::{BlockPattern, BlockSymbolic, Graph, PivotRule, Reach, SparseError};

fn main() -> Result<(), SparseError> {
    let n = 500;
    let mut graph = Graph::new(n);
    (1..n).for_each(|v| graph.connect(v - 1, v));
    let bounds: Vec<usize> = (0..=n).collect();
    let symbolic = BlockSymbolic::new(BlockPattern::new(&bounds, &graph)?)?;
    let mut factor = symbolic.allocate();
    for v in 0..n {
        for (i, j, value) in [(v, v, 2.0), (v + 1, v, -1.0)] {
            if let Some(slot) = symbolic.slot(i, j) {
                factor.values_mut()[slot] = value;
            }
        }
    }
    factor.factor(&symbolic, PivotRule::Keep)?;

    let (i, j) = (480, 490);
    let columns = [(0, i, 1.0), (1, i, 1.0), (1, j, -1.0)];
    let mut c = [0.0; 4];
    let mut reach = Reach::default();
    factor.add_gram(&symbolic, 2, &columns, &mut reach, &mut c);
    let inverse = |i: usize, j: usize| ((i + 1) * (n - j)) as f64 / (n + 1) as f64;
    let expected = [
        inverse(i, i),
        inverse(i, i) - inverse(i, j),
        inverse(i, i) - inverse(i, j),
        inverse(i, i) - 2.0 * inverse(i, j) + inverse(j, j),
    ];
    println!("C = {c:.6?}, expected {expected:.6?}");
    println!("{} of {n} columns of L were read", reach.visited());
    // Rounding of n pivots next to one another.
    assert!(
        c.iter()
            .zip(&expected)
            .all(|(c, e)| (c - e).abs() < 1e-12 * n as f64)
    );
    assert_eq!(reach.visited(), n - i, "only what comes after the first entry");
    Ok(())
}
