//! Times one right-hand side on elastic solids: factor and solve against preconditioned conjugate
//! gradients.
//!
//! `cargo xtask bench krylov [degrees of freedom ...]`. Everything is prepared once before; timed
//! are new values on the old pattern and one solve, interleaved, minimum of all rounds.

use super::Ended;
use pliant::krylov::{KktKrylov, KktKrylovOptions, KktMethod, LinearAuto, PrimalPreconditioner};
use pliant::solvers::{DirectSolver, KktSystem, Solution, SolveError};
use pliant_benches::families::solid::Solid;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(arguments: &[String]) -> Ended {
    let sizes: Vec<usize> = arguments.iter().map(|a| a.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() {
        vec![3_000, 30_000]
    } else {
        sizes
    };
    println!("| system | solver | prepare, solve (ms) | iterations | relative residual | ratio |");
    println!("|---|---|---|---|---|---|");
    for size in sizes {
        compare(&format!("cube {size}"), &Solid::cube(size).stiffness()?)?;
        compare(&format!("beam {size}"), &Solid::beam(size).stiffness()?)?;
        compare(
            &format!("cube {size}, held volumes"),
            &Solid::cube(size).incompressible()?,
        )?;
        // The Schur complement that preconditions MINRES and projected CG fills up: gigabytes at
        // 10,000 degrees of freedom.
        let small = size.min(3_000) / 3;
        compare(
            &format!("cube {small}, compliance"),
            &Solid::cube(small).compliance()?,
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(name: &str, system: &KktSystem) -> Result<(), SolveError> {
    let krylov = |method, preconditioner| {
        let mut options = KktKrylovOptions {
            method,
            preconditioner,
            ..KktKrylovOptions::default()
        };
        options.krylov.tolerance = 1e-9;
        KktKrylov::new(options)
    };
    let jacobi = PrimalPreconditioner::BlockJacobi;
    let incomplete = PrimalPreconditioner::IncompleteCholesky;
    let mut methods = vec![];
    if system.m() == 0 || system.r_diagonal(0) > 1e-9 {
        methods.push(("CG, block Jacobi", krylov(KktMethod::PrimalPcg, jacobi)));
        methods.push((
            "CG, incomplete Cholesky",
            krylov(KktMethod::PrimalPcg, incomplete),
        ));
    }
    if system.m() > 0 {
        methods.push(("projected CG", krylov(KktMethod::ProjectedPcg, jacobi)));
        methods.push(("MINRES", krylov(KktMethod::Minres, jacobi)));
    }
    let mut direct = DirectSolver::default();
    let mut auto = LinearAuto::default();
    let mut best = vec![[f64::INFINITY; 2]; methods.len() + 2];
    let mut notes = vec![String::new(); methods.len() + 2];
    for _ in 0..4 {
        let mut solution = Solution::default();
        let start = Instant::now();
        direct.prepare(system)?;
        let prepared = Instant::now();
        let report = direct.solve(system, &mut solution)?;
        note(&mut best[0], start, prepared);
        notes[0] = format!("{} | {:.1e}", report.refinements, report.residual.relative);
        let start = Instant::now();
        auto.prepare(system)?;
        let prepared = Instant::now();
        let report = auto.solve(system, &mut Solution::default())?;
        note(&mut best[1], start, prepared);
        notes[1] = format!(
            "{}: {} | {:.1e}",
            report.method, report.iterations, report.residual.relative
        );
        for (k, (_, solver)) in methods.iter_mut().enumerate() {
            let mut solution = Solution::default();
            let start = Instant::now();
            solver.prepare(system)?;
            let prepared = Instant::now();
            let report = solver.solve(system, &mut solution)?;
            note(&mut best[k + 2], start, prepared);
            notes[k + 2] = format!(
                "{} in {} {:?} | {:.1e}",
                report.iterations, report.rounds, report.status, report.residual.relative
            );
        }
    }
    let names = ["direct", "automatic"]
        .into_iter()
        .chain(methods.iter().map(|m| m.0));
    for ((solver, [prepare, solve]), note) in names.zip(&best).zip(&notes) {
        let ratio = (best[0][0] + best[0][1]) / (prepare + solve);
        println!("| {name} | {solver} | {prepare:.1}, {solve:.1} | {note} | x{ratio:.2} |");
    }
    Ok(())
}

/// Keeps the round with the least sum.
fn note(best: &mut [f64; 2], start: Instant, prepared: Instant) {
    let times = [prepared - start, prepared.elapsed()].map(|t| 1e3 * t.as_secs_f64());
    if times[0] + times[1] < best[0] + best[1] {
        *best = times;
    }
}
