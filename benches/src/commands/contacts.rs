//! Times complementarity solvers on towers and walls of boxes, to residuals of 1e-2, 1e-4, 1e-6 and
//! 1e-8 (De Saxcé's, relative). With the feature `peers` Clarabel's interior points solve the same,
//! with the shift of De Saxcé iterated on; it is timed with its own set-up.
//!
//! `cargo xtask bench contacts [--peers] [scene ...]`

use super::Ended;
use pliant::solvers::complementarity::*;
use pliant_benches::families::stacks::Stack;
#[cfg(feature = "peers")]
use pliant_lab::ClarabelOracle;
use std::process::ExitCode;
use std::time::Instant;

/// The number of unknowns of a stack with friction 0.5 and a compliance of 1e-7, and its problem
/// with the operator as the solvers make it of the saddle-point system.
fn scene(stack: &Stack) -> Result<(usize, Problem), ProblemError> {
    let (friction, compliance) = (0.5, 1e-7);
    let (system, problem) = (stack.system(compliance)?, stack.problem(friction, compliance)?);
    let rows: Vec<usize> = (0..problem.size()).collect();
    let blocks: Vec<usize> = (0..=problem.size()).step_by(3).collect();
    let a = SaddleDelassus::new(&system, &rows, &blocks)?;
    let problem = Problem::new(a, problem.b().to_vec(), problem.cones().to_vec())?;
    Ok((system.n(), problem))
}

/// A solver to a tolerance.
type Make = fn(Limits) -> Box<dyn Solver>;

const SOLVERS: &[(&str, usize, Make)] = &[
    ("auto", 5000, |limits| {
        Box::new(Auto::new(AutoOptions {
            limits,
            ..AutoOptions::default()
        }))
    }),
    ("interior-point", 100, |limits| {
        Box::new(InteriorPoint::new(limits))
    }),
    ("admm", 3000, |limits| {
        Box::new(Admm::new(AdmmOptions {
            limits,
            ..AdmmOptions::default()
        }))
    }),
    ("barzilai-borwein", 4000, |limits| {
        Box::new(BarzilaiBorwein::new(limits))
    }),
    ("accelerated-gradient", 4000, |limits| {
        Box::new(AcceleratedGradient::new(limits))
    }),
    ("nonlinear-cg", 1000, |limits| Box::new(NonlinearCg::new(limits))),
    ("modulus", 2000, |limits| {
        Box::new(ModulusSplitting::new(ModulusSplittingOptions {
            limits,
            ..ModulusSplittingOptions::default()
        }))
    }),
    #[cfg(feature = "peers")]
    ("clarabel", 40, |limits| Box::new(ClarabelOracle::new(limits))),
    ("gauss-seidel", 1000, |limits| {
        Box::new(GaussSeidel::new(GaussSeidelOptions {
            limits,
            ..GaussSeidelOptions::default()
        }))
    }),
];

/// Time in ms, residual, words.
fn ours(make: Make, problem: &Problem, tolerance: f64, max_iterations: usize) -> (f64, f64, String) {
    let mut solver = make(Limits {
        tolerance,
        max_iterations,
        patience: max_iterations,
        ..Limits::default()
    });
    let (mut best, mut measure, mut words) = (f64::INFINITY, f64::NAN, String::new());
    for _ in 0..3 {
        let mut r = vec![0.0; problem.size()];
        let start = Instant::now();
        match solver.solve(problem, &mut r) {
            Ok(report) => {
                measure = report.residual.measure();
                words = format!("{:?} after {}", report.outcome, report.iterations);
            }
            Err(error) => words = error.to_string(),
        }
        best = best.min(1e3 * start.elapsed().as_secs_f64());
        if best > 1000.0 {
            break;
        }
    }
    (best, measure, words)
}

type Scene = (&'static str, fn() -> Stack);

const SCENES: [Scene; 7] = [
    ("tower10", || Stack::tower(10, 1.0).pushed()),
    ("tower50", || Stack::tower(50, 1.0).pushed()),
    ("massratio", || Stack::tower(10, 1000.0).pushed()),
    ("massratio-rest", || Stack::tower(10, 1000.0)),
    ("wall8", || Stack::wall(8).pushed()),
    ("wall14", || Stack::wall(14).pushed()),
    ("wall20", || Stack::wall(20).pushed()),
];

pub(super) fn run(arguments: &[String]) -> Ended {
    let wanted: Vec<&String> = arguments.iter().filter(|a| *a != "--peers").collect();
    if let Some(unknown) = wanted.iter().find(|w| SCENES.iter().all(|(name, _)| name != *w)) {
        let names = SCENES.map(|(name, _)| name).join(", ");
        return Err(format!("there is no scene {unknown}; there are {names}").into());
    }
    for (name, make) in SCENES {
        if !wanted.is_empty() && !wanted.iter().any(|w| *w == name) {
            continue;
        }
        let start = Instant::now();
        let (unknowns, problem) = scene(&make())?;
        let made = 1e3 * start.elapsed().as_secs_f64();
        println!(
            "{name}: {} rows of {} unknowns, made in {made:.1} ms",
            problem.size(),
            unknowns
        );
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-8] {
            let print = |solver: &str, (time, measure, words): (f64, f64, String)| {
                println!("  {tolerance:.0e} {solver:22} {time:9.2} ms  {measure:.1e}  {words}");
            };
            for (solver, limit, make) in SOLVERS {
                print(solver, ours(*make, &problem, tolerance, *limit));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
