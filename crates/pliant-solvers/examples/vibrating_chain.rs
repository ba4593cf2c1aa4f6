//! The lowest natural frequencies of a structure, and proof that none was missed.
//!
//! `K x = lambda M x` for `n` unit masses and springs between two walls:
//! `lambda_k = 4 sin^2(k pi / (2 (n + 1)))`; with the middle mass held by a hard row, the two halves
//! of `(n - 1) / 2` masses have the same frequencies twice.
//!
//! `cargo run --release -p pliant-solvers --example vibrating_chain`

use pliant_solvers::KktSystem;
use pliant_solvers::eigen::{EigenOptions, vibration};
use pliant_sparse::CsrMatrix;
use std::f64::consts::PI;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = 201;
    let mut springs = Vec::new();
    for i in 0..n {
        springs.push((i, i, 2.0));
        if i > 0 {
            springs.push((i, i - 1, -1.0));
        }
    }
    let stiffness = CsrMatrix::from_entries(n, n, &springs)?;
    // The mass matrix has the pattern of the stiffness; a diagonal is the last entry of its row.
    let mut mass = stiffness.pattern().clone().into_matrix();
    for i in 0..n {
        let diagonal = mass.pattern().row_slots(i).end - 1;
        mass.values_mut()[diagonal] = 1.0;
    }
    let lambda = |k: usize, n: usize| 4.0 * (k as f64 * PI / (2 * (n + 1)) as f64).sin().powi(2);

    let none = CsrMatrix::from_entries(0, n, &[])?;
    let free = KktSystem::from_matrices(stiffness.clone(), none, &[])?;
    let found = vibration(&free, &mass, 5, EigenOptions::default())?;
    for (k, mode) in (1..).zip(&found.modes) {
        println!(
            "{k}: lambda {:.9e}, estimated error {:.1e}",
            mode.value, mode.error
        );
        // Rayleigh's quotient: the square of the error of the vector.
        assert!((mode.value - lambda(k, n)).abs() < 1e-9 * lambda(k, n));
    }
    assert_eq!((found.modes.len(), found.finite), (5, n));

    let middle = CsrMatrix::from_entries(1, n, &[(0, n / 2, 1.0)])?;
    let held = KktSystem::from_matrices(stiffness, middle, &[0.0])?;
    let found = vibration(&held, &mass, 4, EigenOptions::default())?;
    for (k, mode) in found.modes.iter().enumerate() {
        println!("held in the middle: lambda {:.9e}", mode.value);
        let expected = lambda(k / 2 + 1, n / 2);
        assert!((mode.value - expected).abs() < 1e-9 * expected);
    }
    assert_eq!(found.finite, n - 1);
    Ok(())
}
