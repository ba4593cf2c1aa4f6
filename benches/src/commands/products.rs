//! Times products of symmetric stiffness matrices: by 3x3 blocks, by entries, and faer's product by
//! columns.
//!
//! `cargo xtask bench products [degrees of freedom ...]`. Interleaved rounds, minimum of all;
//! figures are Gflop/s of useful work (2 per entry of the whole matrix) and ratios to faer.

use super::Ended;
use faer::sparse::linalg::matmul::sparse_dense_matmul;
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Accum, MatMut, MatRef, Par};
use pliant::sparse::{CsrMatrix, PatternBuilder, SymmetricBlockMatrix};
use pliant_benches::families::solid::Solid;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(arguments: &[String]) -> Ended {
    let sizes: Vec<usize> = arguments
        .iter()
        .filter(|a| *a != "--peers")
        .map(|a| a.parse())
        .collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() {
        vec![3_000, 30_000, 100_000]
    } else {
        sizes
    };
    println!("| dofs | entries | faer | lower by entries | 3x3 blocks | 4 vectors | 8 vectors |");
    println!("|---|---|---|---|---|---|---|");
    for size in sizes {
        let system = Solid::cube(size).stiffness()?;
        let (w, full) = (&system.w, whole(&system.w)?);
        let n = system.n();
        let blocks = SymmetricBlockMatrix::<3>::new(w, &[])?;
        let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let (x4, x8) = (vec![[1.0; 4]; n], vec![[1.0; 8]; n]);
        let (mut y, mut y4, mut y8) = (vec![0.0; n], vec![[0.0; 4]; n], vec![[0.0; 8]; n]);
        // A symmetric matrix by rows is one by columns.
        let pattern = full.pattern();
        let columns = SymbolicSparseColMatRef::new_checked(n, n, pattern.offsets(), None, pattern.indices());
        let columns = SparseColMatRef::new(columns, full.values());
        let mut best = [f64::INFINITY; 5];
        for _ in 0..(200_000_000 / full.pattern().len()).clamp(20, 500) {
            for (kernel, best) in best.iter_mut().enumerate() {
                let start = Instant::now();
                match kernel {
                    0 => {
                        let out = MatMut::from_column_major_slice_mut(&mut y, n, 1);
                        let x = MatRef::from_column_major_slice(&x, n, 1);
                        sparse_dense_matmul(out, Accum::Replace, columns, x, 1.0, Par::Seq);
                    }
                    1 => {
                        y.fill(0.0);
                        w.symmetric_add_product(1.0, &x, &mut y);
                    }
                    2 => blocks.product_into(&x, &mut y),
                    3 => blocks.products_into(&x4, &mut y4),
                    _ => blocks.products_into(&x8, &mut y8),
                }
                *best = best.min(start.elapsed().as_secs_f64());
                black_box((&y, &y4, &y8));
            }
        }
        let flops = 2e-9 * full.pattern().len() as f64;
        let vectors = [1.0, 1.0, 1.0, 4.0, 8.0];
        let rates: Vec<String> = (best.iter().zip(vectors))
            .map(|(t, k)| format!("{:.1} (x{:.2})", k * flops / t, best[0] * k / t))
            .collect();
        println!("| {n} | {} | {} |", full.pattern().len(), rates.join(" | "));
    }
    Ok(ExitCode::SUCCESS)
}

/// Both triangles.
fn whole(lower: &CsrMatrix) -> Result<CsrMatrix, Box<dyn std::error::Error>> {
    let n = lower.pattern().rows();
    let mut builder = PatternBuilder::new(n, n);
    for i in 0..n {
        for k in lower.pattern().row(i) {
            builder.insert(i, *k as usize);
            builder.insert(*k as usize, i);
        }
    }
    let mut full = builder.finish()?.into_matrix();
    let pattern = full.pattern().clone();
    for i in 0..n {
        for (slot, k) in pattern.row_slots(i).zip(pattern.row(i)) {
            full.values_mut()[slot] = lower.get(i.max(*k as usize), i.min(*k as usize));
        }
    }
    Ok(full)
}
