//! Factor a matrix by dense blocks: a chain of points with three coordinates each.
//!
//! `A = T (x) B` with `T = tridiag(-1, 2, -1)` of order `n` (both ends held) and a 3 x 3 block `B`,
//! the stiffness of every spring. Unit force `f` on point `k` moves it by
//! `B^-1 f (k + 1)(n - k) / (n + 1)`.
//!
//! `cargo run --release -p pliant-sparse --example block_factor`

use pliant_sparse::{BlockPattern, BlockSymbolic, Graph, PivotRule, SparseError};

const B: [[f64; 3]; 3] = [[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 2.0]];

fn main() -> Result<(), SparseError> {
    let n = 50;
    let mut graph = Graph::new(n);
    (1..n).for_each(|v| graph.connect(v - 1, v));
    let bounds: Vec<usize> = (0..=n).map(|v| 3 * v).collect();
    let symbolic = BlockSymbolic::new(BlockPattern::new(&bounds, &graph)?)?;
    let mut factor = symbolic.allocate();
    factor.clear();
    let mut write = |v: usize, w: usize, scale: f64| {
        for (i, row) in B.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                // Slots are those of the lower triangle: none above the diagonal.
                if let Some(slot) = symbolic.slot(3 * v + i, 3 * w + j) {
                    factor.values_mut()[slot] = scale * value;
                }
            }
        }
    };
    for v in 0..n {
        write(v, v, 2.0);
        if v > 0 {
            write(v, v - 1, -1.0);
        }
    }
    factor.factor(&symbolic, PivotRule::Keep)?;

    let k = 17;
    let mut x = vec![0.0; 3 * n];
    x[3 * k..3 * k + 3].copy_from_slice(&[5.0, 4.0, 2.0]);
    factor.solve_in_place(&symbolic, &mut x);
    // B (1, 1, 1) = (5, 4, 2).
    let expected = ((k + 1) * (n - k)) as f64 / (n + 1) as f64;
    println!(
        "point {k} moves by {:.9?}, expected {expected:.9}",
        &x[3 * k..3 * k + 3]
    );
    println!("{} block columns", symbolic.pattern().len());
    assert!(
        x[3 * k..3 * k + 3]
            .iter()
            .all(|x| (x - expected).abs() < 1e-12 * expected * n as f64)
    );
    Ok(())
}
