//! Solve a Poisson problem by `L D L^T` in an order of small fill.
//!
//! Five-point Laplacian on `s x s` points, zero outside. Its eigenvectors are
//! `sin(p pi (i + 1) / (s + 1)) sin(q pi (j + 1) / (s + 1))` with the eigenvalues
//! `4 - 2 cos(p pi / (s + 1)) - 2 cos(q pi / (s + 1))`: such a load has that shape as answer.
//!
//! `cargo run --release -p pliant-sparse --example poisson_factor`

use pliant_sparse::{CsrMatrix, Graph, PivotRule, SparseError, Symbolic};
use std::f64::consts::PI;

fn main() -> Result<(), SparseError> {
    let s = 40;
    let mut entries = Vec::new();
    for v in 0..s * s {
        entries.push((v, v, 4.0));
        if v % s > 0 {
            entries.push((v, v - 1, -1.0));
        }
        if v >= s {
            entries.push((v, v - s, -1.0));
        }
    }
    let a = CsrMatrix::from_entries(s * s, s * s, &entries)?;
    let order = Graph::from_pattern(a.pattern())?.best_order()?;
    let a = a.symmetric_permuted(&order.sequence)?;

    let symbolic = Symbolic::new(a.pattern())?;
    let mut factor = symbolic.allocate();
    let pivots = factor.factor(&symbolic, &a, PivotRule::Keep)?;
    let angle = |p: f64| p * PI / (s + 1) as f64;
    let (p, q) = (3.0, 5.0);
    let shape = |v: usize| (angle(p) * (v / s + 1) as f64).sin() * (angle(q) * (v % s + 1) as f64).sin();
    let eigenvalue = 4.0 - 2.0 * angle(p).cos() - 2.0 * angle(q).cos();
    let mut x: Vec<f64> = order.sequence.iter().map(|v| shape(*v)).collect();
    factor.solve_in_place(&symbolic, &mut x);
    let misses = order
        .sequence
        .iter()
        .zip(&x)
        .map(|(v, x)| (x - shape(*v) / eigenvalue).abs());
    let error = misses.fold(0.0, f64::max);
    println!(
        "{} unknowns, {} entries of L, error {error:.1e}",
        s * s,
        symbolic.factor_entries()
    );
    assert_eq!(pivots.positive, s * s, "positive definite");
    // Rounding times the condition number of 700; answers are of size 5.
    assert!(error < 1e-11);
    Ok(())
}
