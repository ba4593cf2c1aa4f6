//! One step of the heavy chain, for statistics over many runs: `cargo bench -p pliant-benches --features criterion`.
#![allow(missing_docs, reason = "criterion's macro makes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark has no user input")]

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_benches::chain::{Chain, Pose};

fn steps(c: &mut Criterion) {
    for links in [10, 100, 1000] {
        let mut chain = Chain::new(links, 1000.0, Pose::Swing).simulation().unwrap();
        chain.simulation.step(0.01).unwrap();
        c.bench_function(&format!("heavy chain of {links} links, one step"), |b| {
            b.iter(|| chain.simulation.step(0.01).unwrap());
        });
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
