//! Products of sparse matrices with vectors: `cargo bench -p pliant-benches --bench kernels`.
#![allow(missing_docs, reason = "criterion's macro makes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark has no user input")]

use criterion::{Criterion, criterion_group, criterion_main};
use pliant::sparse::SymmetricBlockMatrix;
use pliant_benches::families::solid::Solid;

fn products(c: &mut Criterion) {
    let w = Solid::cube(3000).stiffness().unwrap().w;
    let n = w.pattern().rows();
    let blocks = SymmetricBlockMatrix::<3>::new(&w, &[]).unwrap();
    let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let several = vec![[1.0; 4]; n];
    let (mut y, mut out) = (vec![0.0; n], vec![[0.0; 4]; n]);
    c.bench_function("cube of 3000 dofs, product by entries", |b| {
        b.iter(|| {
            y.fill(0.0);
            w.symmetric_add_product(1.0, &x, &mut y);
        });
    });
    c.bench_function("cube of 3000 dofs, product by blocks of 3", |b| {
        b.iter(|| blocks.product_into(&x, &mut y));
    });
    c.bench_function("cube of 3000 dofs, product by blocks with 4 vectors", |b| {
        b.iter(|| blocks.products_into(&several, &mut out));
    });
}

criterion_group!(benches, products);
criterion_main!(benches);
