//! Products with the response matrix of solids, assembled and not, and a step by conjugate
//! gradients with an old factor against a new factor.

use crate::solid_sizes::clamped;
use pliant::continuum::{Mesh, Solid, StrainEnergy};
use pliant::kkt::{Assembler, RowMotion, Scheme, StepInput};
use pliant::krylov::{
    ConjugateGradient, KrylovOptions, KrylovSolver, LinearOperator, StaleFactor, SymmetricOperator,
};
use pliant::model::{Evaluation, Problem, State};
use pliant::solvers::{DirectSolver, Solution};
use std::error::Error;
use std::time::Instant;

const ROUNDS: usize = 8;
const STEP: f64 = 0.01;

/// Prints the table.
///
/// # Errors
/// If something is not solved.
pub fn table(threads: usize) -> Result<(), Box<dyn Error>> {
    println!(
        "| solid | dofs | fill ms | product ms | gather ms | product without matrix ms | ratio | fill, factor, solve ms | old factor ms | iterations |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for cells in [[30, 5, 4], [99, 9, 9]] {
        let hexes = Mesh::hexahedral_box([1.0, 0.1, 0.1], cells)?;
        let tetrahedra = hexes.clone().into_tetrahedra();
        let rubber = Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e6, 0.3));
        let turned = Solid::corotational(1e6, 0.3);
        for (name, solid, mesh) in [
            ("hexahedra, linear", Solid::linear(1e6, 0.3), &hexes),
            ("hexahedra, corotational", turned, &hexes),
            ("hexahedra, neo-Hookean", rubber, &hexes),
            ("tetrahedra, corotational", turned, &tetrahedra),
            ("tetrahedra, neo-Hookean", rubber, &tetrahedra),
        ] {
            measure(name, &solid, mesh, threads)?;
        }
    }
    Ok(())
}

fn evaluated(model: &Problem, state: &State) -> Result<Evaluation, Box<dyn Error>> {
    let mut evaluation = Evaluation::new(model);
    evaluation.propagate(model, &mut state.clone())?;
    evaluation.evaluate(model, state)?;
    Ok(evaluation)
}

fn least(mut what: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        what()?;
        least = least.min(1e3 * start.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn measure(name: &str, solid: &Solid, mesh: &Mesh, threads: usize) -> Result<(), Box<dyn Error>> {
    let (mut simulation, _) = clamped(solid, mesh)?;
    for _ in 0..3 {
        simulation.step(STEP)?;
    }
    let old = simulation.state().clone();
    simulation.step(STEP)?;
    let (model, state) = (simulation.problem(), simulation.state());
    let (n, scheme) = (model.dof_count(), Scheme::implicit_euler(STEP));
    let zeros = vec![0.0; n];
    let input = |state| StepInput {
        state,
        multipliers: &[],
        impulse: &zeros,
        fixed_change: &zeros,
        motion: &[] as &[RowMotion],
    };
    // The factor of the step before.
    let mut evaluation = evaluated(model, &old)?;
    let mut assembler = Assembler::new(model, &evaluation)?;
    assembler.share(threads)?;
    evaluation.share(assembler.threads());
    let mut stale = DirectSolver::default();
    stale.options.threads = threads;
    assembler.fill(model, &mut evaluation, &scheme, input(&old));
    stale.prepare(assembler.system())?;

    let mut evaluation = evaluated(model, state)?;
    evaluation.share(assembler.threads());
    let fill = least(|| {
        assembler.fill(model, &mut evaluation, &scheme, input(state));
        Ok(())
    })?;
    let system = assembler.system().clone();
    let x: Vec<f64> = (0..n).map(|k| (k % 7) as f64 - 3.0).collect();
    let (mut expected, mut y) = (vec![0.0; n], vec![0.0; n]);
    let matrix = SymmetricOperator::new(&system.w, &system.fixed)?;
    let product = least(|| {
        matrix.apply(&x, &mut expected);
        Ok(())
    })?;
    let mut solver = DirectSolver::default();
    solver.options.threads = threads;
    solver.prepare(&system)?;
    let mut exact = Solution::default();
    let direct = fill
        + least(|| {
            solver.prepare(&system)?;
            solver.solve(&system, &mut exact)?;
            Ok(())
        })?;
    let gather = least(|| {
        assembler.response(model, &mut evaluation, &scheme, state, &[]);
        Ok(())
    })?;
    let w = assembler.response(model, &mut evaluation, &scheme, state, &[]);
    let free = least(|| {
        w.apply(&x, &mut y);
        Ok(())
    })?;
    let largest = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let apart = expected
        .iter()
        .zip(&y)
        .fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
    if apart > 1e-12 * largest {
        return Err(format!("{name}: products differ by {apart:e} of {largest:e}").into());
    }
    let factor = StaleFactor::new(&mut stale)?;
    let mut krylov = ConjugateGradient::new(KrylovOptions {
        tolerance: 1e-12,
        ..KrylovOptions::default()
    });
    let (mut c, mut iterations) = (vec![0.0; n], 0);
    let mut answer = vec![0.0; n];
    let by_products = least(|| {
        w.right_hand_side(input(state), &mut c);
        for (c, fixed) in c.iter_mut().zip(&system.fixed) {
            *c = if *fixed { 0.0 } else { *c };
        }
        answer.fill(0.0);
        let report = krylov.solve_with(&w, &factor, &c, &mut answer)?;
        iterations = report.iterations;
        if report.relative > 1e-12 {
            return Err(format!("{name}: {report:?}").into());
        }
        Ok(())
    })?;
    println!(
        "| {name} | {n} | {fill:.2} | {product:.2} | {gather:.2} | {free:.2} | {:.1} | {direct:.1} | {:.1} | {iterations} |",
        free / product,
        gather + by_products
    );
    Ok(())
}
