//! Renew a part of a factor after a change of a few entries.
//!
//! A chain of `n` unit springs from a wall; stiffening the last one to `c` changes only the
//! columns of `L` from there on. Unit force at the free end moves it by `n - 1 + 1 / c`.
//!
//! `cargo run --release -p pliant-sparse --example partial_refactor`

use pliant_sparse::{BlockPattern, BlockSymbolic, Graph, PivotRule, SparseError};

fn main() -> Result<(), SparseError> {
    let n = 1000;
    let mut graph = Graph::new(n);
    (1..n).for_each(|v| graph.connect(v - 1, v));
    let bounds: Vec<usize> = (0..=n).collect();
    let symbolic = BlockSymbolic::new(BlockPattern::new(&bounds, &graph)?)?;
    let mut factor = symbolic.allocate();
    // Spring v is between the points v - 1 and v; the last one has stiffness c.
    let stiffness = |v: usize, c: f64| if v + 1 == n { c } else { 1.0 };
    let write = |values: &mut [f64], v: usize, c: f64| {
        let next = if v + 1 < n { stiffness(v + 1, c) } else { 0.0 };
        if let Some(slot) = symbolic.slot(v, v) {
            values[slot] = stiffness(v, c) + next;
        }
        if let Some(slot) = symbolic.slot(v + 1, v) {
            values[slot] = -next;
        }
    };
    (0..n).for_each(|v| write(factor.values_mut(), v, 1.0));
    factor.factor(&symbolic, PivotRule::Keep)?;
    let end = |factor: &pliant_sparse::BlockFactor| {
        let mut x = vec![0.0; n];
        x[n - 1] = 1.0;
        factor.solve_in_place(&symbolic, &mut x);
        x[n - 1]
    };
    println!("soft: {:.9}", end(&factor));
    assert!((end(&factor) - n as f64).abs() < 1e-10 * n as f64);

    let c = 4.0;
    let columns: Vec<usize> = factor
        .reopen(&symbolic, &[n - 2, n - 1])?
        .iter()
        .map(|j| *j as usize)
        .collect();
    columns.iter().for_each(|v| write(factor.values_mut(), *v, c));
    let done = factor.refactor(&symbolic, PivotRule::Keep)?;
    println!(
        "stiff: {:.9}, {} of {n} columns renewed",
        end(&factor),
        done.columns
    );
    assert_eq!(columns, [n - 2, n - 1]);
    // Rounding of n pivots that are sums of n terms.
    assert!((end(&factor) - (n as f64 - 1.0 + 1.0 / c)).abs() < 1e-10 * n as f64);
    Ok(())
}
