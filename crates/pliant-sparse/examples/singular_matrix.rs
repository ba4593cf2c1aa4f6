//! Find what a singular matrix leaves free: drop pivots that vanish, read the null vectors.
//!
//! The stiffness of two chains that nothing holds (graph Laplacian) has one null vector for each,
//! the same displacement of all its points. Loads that sum to zero on each chain can be solved for.
//!
//! `cargo run --release -p pliant-sparse --example singular_matrix`

use pliant_sparse::{BlockPattern, BlockSymbolic, Dependence, Graph, PivotRule, SparseError};

fn main() -> Result<(), SparseError> {
    let (n, cut) = (9, 4);
    let mut graph = Graph::new(n);
    (1..n).filter(|v| *v != cut).for_each(|v| graph.connect(v - 1, v));
    let bounds: Vec<usize> = (0..=n).collect();
    let symbolic = BlockSymbolic::new(BlockPattern::new(&bounds, &graph)?)?;
    let mut factor = symbolic.allocate();
    for v in (1..n).filter(|v| *v != cut) {
        for (i, j, value) in [(v - 1, v - 1, 1.0), (v, v, 1.0), (v, v - 1, -1.0)] {
            if let Some(slot) = symbolic.slot(i, j) {
                factor.values_mut()[slot] += value;
            }
        }
    }
    // The entries are of size one: a pivot below 1e-10 is rounding.
    let report = factor.factor(&symbolic, PivotRule::Drop { threshold: 1e-10 })?;
    println!("{} positive pivots, {} dropped", report.positive, report.dropped);
    assert_eq!((report.positive, report.dropped), (n - 2, 2));
    let mut null = Dependence::default();
    for v in (0..n).filter(|v| factor.is_dropped(*v)) {
        factor.dependence(&symbolic, v, 1e-9, &mut null);
        let mut found: Vec<_> = null.entries().collect();
        found.sort_by_key(|(i, _)| *i);
        println!("free motion: {found:?}");
        let chain = if v < cut { 0..cut } else { cut..n };
        assert!(found.iter().map(|(i, _)| *i).eq(chain));
        assert!(found.iter().all(|(_, z)| (z - 1.0).abs() < 1e-14));
    }
    // Pull the ends of the first chain apart: each of its three springs by one; dropped unknowns
    // stay at zero.
    let mut x = vec![0.0; n];
    (x[0], x[cut - 1]) = (-1.0, 1.0);
    factor.solve_in_place(&symbolic, &mut x);
    println!("displacements {x:.3?}");
    assert!(x[..cut].windows(2).all(|w| (w[1] - w[0] - 1.0).abs() < 1e-14));
    Ok(())
}
