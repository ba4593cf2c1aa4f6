//! Analyse once, factor in every step: implicit Euler for heat in a rod, with steps that grow.
//!
//! `(I + h_k K) u_k = u_(k-1)`, `K = tridiag(-1, 2, -1)`. A start `sin(pi (i + 1) / (n + 1))` is an
//! eigenvector of eigenvalue `e = 2 - 2 cos(pi / (n + 1))`, so `u_k = u_0 prod 1 / (1 + h_k e)`.
//!
//! `cargo run --release -p pliant-sparse --example factor_every_step`

use pliant_sparse::{CsrMatrix, SparseError, Symbolic};

fn main() -> Result<(), SparseError> {
    let n = 200;
    let lower = (0..n).flat_map(|i| [(i, i, 2.0), (i, i.max(1) - 1, -1.0)]);
    // The entry of the first row that would be left of the matrix fell on its diagonal.
    let entries: Vec<_> = lower.filter(|(i, j, v)| i != j || *v > 0.0).collect();
    let k = CsrMatrix::from_entries(n, n, &entries)?;
    let symbolic = Symbolic::new(k.pattern())?;
    let mut factor = symbolic.allocate();
    let mut a = k.clone();

    let angle = std::f64::consts::PI / (n + 1) as f64;
    let start: Vec<f64> = (1..=n).map(|i| (angle * i as f64).sin()).collect();
    let eigenvalue = 2.0 - 2.0 * angle.cos();
    let (mut u, mut h, mut decay) = (start.clone(), 1.0, 1.0);
    for _ in 0..20 {
        // New values on the pattern that was analysed; a diagonal is the last entry of its row.
        for i in 0..n {
            let slots = k.pattern().row_slots(i);
            for slot in slots.clone() {
                a.values_mut()[slot] = h * k.values()[slot];
            }
            a.values_mut()[slots.end - 1] += 1.0;
        }
        factor.factor(&symbolic, &a, Default::default())?;
        factor.solve_in_place(&symbolic, &mut u);
        decay /= 1.0 + h * eigenvalue;
        h *= 1.5;
    }
    let error = u
        .iter()
        .zip(&start)
        .map(|(u, s)| (u - decay * s).abs())
        .fold(0.0, f64::max);
    println!(
        "after 20 steps {:.6} of the start is left, error {error:.1e}",
        decay
    );
    // Rounding of twenty solves, amplified by no more than what the steps damp.
    assert!(error < 1e-12 * decay.max(1e-2) && decay < 0.9);
    Ok(())
}
