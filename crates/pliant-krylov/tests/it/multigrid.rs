//! Smoothed aggregation.

use crate::elastic::Brick;
use pliant_krylov::{
    ConjugateGradient, KrylovOptions, KrylovSolver, MultigridOptions, NearNullSpace, SmoothedAggregation,
};

#[test]
#[ignore]
fn explore() {
    for poisson in [0.5, 0.499] {
        for (mass, held) in [(0.0, true), (1.0, false), (1e2, true), (1e4, true), (1e6, true)] {
            for cells in [8, 16, 24] {
                let brick = Brick {
                    mass,
                    held,
                    patch: 2,
                    poisson,
                    ..Brick::cube(cells)
                };
                saddle(&brick);
            }
        }
    }
}

fn saddle(brick: &Brick) {
    use pliant_krylov::*;
    use pliant_solvers::*;
    let system = brick.system();
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    for preconditioner in [IterativePreconditioner::Multilevel] {
        let mut solver = IterativeSolver::new(IterativeOptions {
            method: IterativeMethod::Minres,
            preconditioner,
            tolerance: 1e-8,
            max_iterations: 400,
        });
        solver.set_near_null_space(&modes);
        let start = std::time::Instant::now();
        solver.prepare(&system).unwrap();
        let setup = start.elapsed();
        let start = std::time::Instant::now();
        let mut x = Solution::default();
        let report = solver.solve(&system, &mut x).unwrap();
        println!(
            "[{:?} mass {:e} nu {} {preconditioner:?} n {} m {} it {} {:?} {:.1e} {:.1} {:.1}",
            brick.cells,
            brick.mass,
            brick.poisson,
            system.n(),
            system.m(),
            report.iterations,
            report.status,
            report.residual.relative,
            1e3 * setup.as_secs_f64(),
            1e3 * start.elapsed().as_secs_f64()
        );
    }
}

fn run(brick: &Brick, strength: f64) {
    let system = brick.system();
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    let options = MultigridOptions {
        strength,
        ..Default::default()
    };
    let start = std::time::Instant::now();
    let mut m =
        SmoothedAggregation::new(&system.w, &system.fixed, system.primal_blocks(), &modes, options).unwrap();
    let setup = start.elapsed();
    let start = std::time::Instant::now();
    m.update(&system.w, &system.fixed, &modes).unwrap();
    let refill = start.elapsed();
    let mut b = system.c.clone();
    for (b, f) in b.iter_mut().zip(&system.fixed) {
        if *f {
            *b = 0.0;
        }
    }
    let mut x = vec![0.0; b.len()];
    let mut cg = ConjugateGradient::new(KrylovOptions {
        tolerance: 1e-8,
        ..Default::default()
    });
    let start = std::time::Instant::now();
    let report = cg.solve_with(m.matrix(), &m, &b, &mut x).unwrap();
    let solve = start.elapsed();
    println!(
        "{:?} mass {:e} s {strength} n {} it {} {:?} cx {:.2} setup {:.1} refill {:.1} solve {:.1} per it {:.2} ms {:?}",
        brick.cells,
        brick.mass,
        b.len(),
        report.iterations,
        report.status,
        m.report().operator_complexity(),
        1e3 * setup.as_secs_f64(),
        1e3 * refill.as_secs_f64(),
        1e3 * solve.as_secs_f64(),
        1e3 * solve.as_secs_f64() / report.iterations as f64,
        m.report().levels.iter().map(|l| l.order).collect::<Vec<_>>()
    );
}
