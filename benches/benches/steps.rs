//! Whole steps of a chain, a net and a solid: `cargo bench -p pliant-benches --bench steps`.
#![allow(missing_docs, reason = "criterion's macro makes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark has no user input")]

use criterion::{Criterion, criterion_group, criterion_main};
use pliant::continuum::Solid;
use pliant::prelude::*;
use pliant_benches::chain::{Chain, Pose};
use pliant_benches::observations;

fn steps(c: &mut Criterion) {
    let chain = |links| {
        Chain::new(links, 1000.0, Pose::Swing)
            .simulation()
            .unwrap()
            .simulation
    };
    let scenes: [(&str, Simulation); 6] = [
        ("heavy chain of 10 links", chain(10)),
        ("heavy chain of 100 links", chain(100)),
        ("heavy chain of 1000 links", chain(1000)),
        (
            "net of 32 by stiffness",
            observations::net(32, Treatment::Stiffness).unwrap(),
        ),
        (
            "net of 32 by compliance",
            observations::net(32, Treatment::Compliance).unwrap(),
        ),
        (
            "beam of 640 hexahedra",
            observations::beam(Solid::corotational).unwrap(),
        ),
    ];
    for (name, mut simulation) in scenes {
        simulation.step(0.01).unwrap();
        c.bench_function(&format!("{name}, one step"), |b| {
            b.iter(|| simulation.step(0.01).unwrap());
        });
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
