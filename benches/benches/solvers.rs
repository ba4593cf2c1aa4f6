//! Factors, solves and complementarity problems: `cargo bench -p pliant-benches --bench solvers`.
#![allow(missing_docs, reason = "criterion's macro makes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark has no user input")]

use criterion::{Criterion, criterion_group, criterion_main};
use pliant::solvers::complementarity::{Auto, Solver};
use pliant::solvers::{DirectSolver, KktSystem, Solution};
use pliant_benches::families::links::{Pose, chain};
use pliant_benches::families::solid::Solid;
use pliant_benches::families::{net, stacks};

fn direct(c: &mut Criterion) {
    let systems = [
        ("chain of 1000", chain(1000, 1e-8, Pose::Turned)),
        ("net of 32 by stiffness", net::stiffness(32)),
        ("net of 32 by compliance", net::compliance(32)),
        ("cube of 3000 dofs", Solid::cube(3000).stiffness()),
    ];
    for (name, system) in systems {
        let system: KktSystem = system.unwrap();
        let (mut solver, mut solution) = (DirectSolver::default(), Solution::default());
        c.bench_function(&format!("{name}, factor"), |b| {
            b.iter(|| solver.prepare(&system).unwrap());
        });
        c.bench_function(&format!("{name}, solve"), |b| {
            b.iter(|| solver.solve(&system, &mut solution).unwrap());
        });
    }
}

fn complementarity(c: &mut Criterion) {
    let problems = [
        ("tower of 10", stacks::Stack::tower(10, 1000.0).problem(0.5, 1e-7)),
        ("wall of 4", stacks::Stack::wall(4).pushed().problem(0.5, 1e-7)),
    ];
    for (name, problem) in problems {
        let problem = problem.unwrap();
        c.bench_function(&format!("{name}, automatic choice, from zero"), |b| {
            b.iter(|| {
                let mut r = vec![0.0; problem.size()];
                Auto::default().solve(&problem, &mut r).unwrap()
            });
        });
    }
}

criterion_group!(benches, direct, complementarity);
criterion_main!(benches);
