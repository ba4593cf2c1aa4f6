//! Factor a large matrix by dense fronts on two threads, to the same bits as on one.
//!
//! Seven-point Laplacian on `s^3` points, zero outside; a load that is its first eigenvector has
//! the answer `load / e` with `e = 6 - 6 cos(pi / (s + 1))`.
//!
//! `cargo run --release -p pliant-sparse --example factor_on_threads`

use pliant_sparse::{CsrMatrix, FrontSymbolic, Graph, SparseError, Threads};

fn main() -> Result<(), SparseError> {
    let s = 16usize;
    let n = s.pow(3);
    let mut entries = Vec::new();
    for v in 0..n {
        entries.push((v, v, 6.0));
        let steps = [1, s, s * s];
        let before = steps.iter().filter(|step| v / **step % s > 0);
        entries.extend(before.map(|step| (v, v - step, -1.0)));
    }
    let a = CsrMatrix::from_entries(n, n, &entries)?;
    let sequence = Graph::from_pattern(a.pattern())?.best_order()?.sequence;
    let a = a.symmetric_permuted(&sequence)?;
    let bounds: Vec<usize> = (0..=n).collect();
    let symbolic = FrontSymbolic::new(&bounds, &Graph::from_pattern(a.pattern())?)?;

    let angle = std::f64::consts::PI / (s + 1) as f64;
    let wave = |i: usize| (angle * (i + 1) as f64).sin();
    let load = |v: usize| wave(v % s) * wave(v / s % s) * wave(v / (s * s));
    let solve = |threads: &Threads| -> Result<Vec<f64>, SparseError> {
        let mut factor = symbolic.allocate(threads)?;
        for i in 0..n {
            for (j, value) in a.row_entries(i) {
                if let Some(slot) = symbolic.slot(i, j) {
                    factor.values_mut()[slot] = value;
                }
            }
        }
        factor.factor_positive(&symbolic)?;
        let mut x: Vec<f64> = sequence.iter().map(|v| load(*v)).collect();
        factor.solve_in_place(&symbolic, &mut x);
        Ok(x)
    };
    let (one, two) = (solve(&Threads::one())?, solve(&Threads::new(2)?)?);
    let exact = |v: usize| load(v) / (6.0 - 6.0 * angle.cos());
    let misses = sequence.iter().zip(&one).map(|(v, x)| (x - exact(*v)).abs());
    let error = misses.fold(0.0, f64::max);
    println!(
        "{n} unknowns, {} entries of L, error {error:.1e}",
        symbolic.entries()
    );
    assert!(one == two, "the same to the last bit");
    // Rounding times the condition number of 120.
    assert!(error < 1e-12);
    Ok(())
}
