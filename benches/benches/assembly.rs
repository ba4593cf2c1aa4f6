//! Evaluation of a model and filling of its system:
//! `cargo bench -p pliant-benches --bench assembly`.
#![allow(missing_docs, reason = "criterion's macro makes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark has no user input")]

use criterion::{Criterion, criterion_group, criterion_main};
use pliant::continuum::{Solid, StrainEnergy};
use pliant::kkt::{Assembler, Scheme, StepInput};
use pliant::model::{Evaluation, Treatment};
use pliant_benches::chain::{Chain, Pose};
use pliant_benches::observations;

fn assembly(c: &mut Criterion) {
    let rubber = |young, poisson| Solid::hyperelastic(StrainEnergy::stable_neo_hookean(young, poisson));
    let scenes = [
        (
            "chain of 1000 links",
            Chain::new(1000, 1000.0, Pose::Swing)
                .simulation()
                .unwrap()
                .simulation,
        ),
        (
            "net of 32 by stiffness",
            observations::net(32, Treatment::Stiffness).unwrap(),
        ),
        (
            "beam of 640 hexahedra, corotational",
            observations::beam(Solid::corotational).unwrap(),
        ),
        (
            "beam of 640 hexahedra, neo-Hookean",
            observations::beam(rubber).unwrap(),
        ),
    ];
    for (name, mut simulation) in scenes {
        // At rest there is nothing to turn and nothing to pull on.
        simulation.step(0.01).unwrap();
        let (model, state) = (simulation.problem(), simulation.state());
        let mut evaluation = Evaluation::new(model);
        evaluation.propagate(model, &mut state.clone()).unwrap();
        evaluation.evaluate(model, state).unwrap();
        let mut assembler = Assembler::new(model, &evaluation).unwrap();
        let (scheme, zeros) = (Scheme::implicit_euler(0.01), vec![0.0; model.dof_count()]);
        let input = StepInput {
            state,
            multipliers: simulation.multipliers(),
            impulse: &zeros,
            fixed_change: &zeros,
            motion: &[],
        };
        c.bench_function(&format!("{name}, evaluate"), |b| {
            b.iter(|| evaluation.evaluate(model, state).unwrap());
        });
        c.bench_function(&format!("{name}, fill"), |b| {
            b.iter(|| assembler.fill(model, &mut evaluation, &scheme, input));
        });
    }
}

criterion_group!(benches, assembly);
criterion_main!(benches);
