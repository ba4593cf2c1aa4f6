//! Times complementarity solvers on towers and walls of boxes, to residuals of 1e-2, 1e-4, 1e-6 and 1e-8 (De Saxcé's, relative). With the
//! feature `peers` Clarabel's interior points solve the same, with the shift of De Saxcé iterated on.
//!
//! `cargo xtask bench contacts [--peers] [scene ...]`

use pliant::solvers::KktSystem;
use pliant::solvers::complementarity::*;
use pliant_benches::families::stacks::Stack;
use std::time::Instant;

/// A stack with friction 0.5 and a compliance of 1e-7, and its operator as the solvers make it of the saddle-point system.
fn scene(stack: &Stack) -> Result<(KktSystem, Problem), ProblemError> {
    let (friction, compliance) = (0.5, 1e-7);
    let (system, problem) = (stack.system(compliance)?, stack.problem(friction, compliance)?);
    let rows: Vec<usize> = (0..problem.size()).collect();
    let blocks: Vec<usize> = (0..=problem.size()).step_by(3).collect();
    let a = SaddleDelassus::new(&system, &rows, &blocks)?;
    let problem = Problem::new(a, problem.b().to_vec(), problem.cones().to_vec())?;
    Ok((system, problem))
}

/// A solver to a tolerance.
type Make = fn(Limits) -> Box<dyn Solver>;

const SOLVERS: [(&str, usize, Make); 8] = [
    ("auto", 5000, |limits| {
        Box::new(Auto::new(AutoOptions {
            limits,
            ..AutoOptions::default()
        }))
    }),
    ("interior-point", 100, |limits| {
        Box::new(InteriorPoint::new(InteriorPointOptions { limits }))
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
        history: false,
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

/// Clarabel on `min x^T W x/2 + r^T R r/2 + r^T (b + s n)`, `W x = J^T r`, `(mu r_n, r_t)` in the second-order cone; the shift `s = mu |u_t|` is set
/// anew until the residual holds. Only the solves are timed.
#[cfg(feature = "peers")]
fn clarabel(system: &KktSystem, problem: &Problem, tolerance: f64) -> (f64, f64, String) {
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SecondOrderConeT, ZeroConeT};
    let (n, m) = (system.n(), system.m());
    let mut p = (Vec::new(), Vec::new(), Vec::new());
    let mut a = (Vec::new(), Vec::new(), Vec::new());
    let push = |to: &mut (Vec<usize>, Vec<usize>, Vec<f64>), i: usize, k: usize, x: f64| {
        to.0.push(i);
        to.1.push(k);
        to.2.push(x);
    };
    for i in 0..n {
        for k in system.w.pattern().row(i) {
            let (k, x) = (*k as usize, system.w.get(i, *k as usize));
            push(&mut p, k, i, x);
            push(&mut a, i, k, x);
            if k != i {
                push(&mut a, k, i, x);
            }
        }
    }
    for i in 0..m {
        push(&mut p, n + i, n + i, system.r.get(i, i));
        for k in system.j.pattern().row(i) {
            push(&mut a, *k as usize, n + i, -system.j.get(i, *k as usize));
        }
        let mu = problem.cones()[i / 3].friction().unwrap_or(0.0);
        push(&mut a, n + i, n + i, if i % 3 == 0 { -mu } else { -1.0 });
    }
    let p = CscMatrix::new_from_triplets(n + m, n + m, p.0, p.1, p.2);
    let a = CscMatrix::new_from_triplets(n + m, n + m, a.0, a.1, a.2);
    let mut cones = vec![ZeroConeT(n)];
    cones.extend((0..problem.blocks()).map(|_| SecondOrderConeT(3)));
    let (mut shift, mut u, mut r) = (vec![0.0; problem.blocks()], vec![0.0; m], vec![0.0; m]);
    let (mut time, mut measure, mut rounds) = (0.0, f64::INFINITY, 0);
    while measure > tolerance && rounds < 40 {
        let mut q = vec![0.0; n];
        q.extend_from_slice(problem.b());
        for (k, s) in shift.iter().enumerate() {
            q[n + 3 * k] += s;
        }
        let accuracy = (0.1 * tolerance).min(1e-8);
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(accuracy)
            .tol_gap_rel(accuracy)
            .tol_feas(accuracy)
            .build();
        let Ok(settings) = settings else { break };
        let start = Instant::now();
        let Ok(mut solver) = DefaultSolver::new(&p, &q, &a, &vec![0.0; n + m], &cones, settings) else {
            break;
        };
        solver.solve();
        time += 1e3 * start.elapsed().as_secs_f64();
        rounds += 1;
        r.copy_from_slice(&solver.solution.x[n..]);
        measure = problem.residual(&r, &mut u).measure();
        for (k, s) in shift.iter_mut().enumerate() {
            let mu = problem.cones()[k].friction().unwrap_or(0.0);
            *s = mu * u[3 * k + 1].hypot(u[3 * k + 2]);
        }
    }
    (time, measure, format!("{rounds} shifts"))
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|w| SCENES.iter().all(|(name, _)| name != w)) {
        let names = SCENES.map(|(name, _)| name).join(", ");
        return Err(format!("there is no scene {unknown}; there are {names}").into());
    }
    for (name, make) in SCENES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let start = Instant::now();
        let (system, problem) = scene(&make())?;
        let made = 1e3 * start.elapsed().as_secs_f64();
        println!(
            "{name}: {} rows of {} unknowns, made in {made:.1} ms",
            problem.size(),
            system.n()
        );
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-8] {
            let print = |solver: &str, (time, measure, words): (f64, f64, String)| {
                println!("  {tolerance:.0e} {solver:22} {time:9.2} ms  {measure:.1e}  {words}");
            };
            for (solver, limit, make) in SOLVERS {
                print(solver, ours(make, &problem, tolerance, limit));
            }
            #[cfg(feature = "peers")]
            print("clarabel", clarabel(&system, &problem, tolerance));
        }
    }
    Ok(())
}
