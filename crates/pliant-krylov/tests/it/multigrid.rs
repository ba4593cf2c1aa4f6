//! Smoothed aggregation.

use crate::elastic::Brick;
use pliant_krylov::{ConjugateGradient, KrylovOptions, KrylovSolver, NearNullSpace, SmoothedAggregation, MultigridOptions};

#[test]
#[ignore]
fn explore() {
    for strength in [0.05, 0.1, 0.15, 0.25] {
        for (mass, held) in [(0.0, true), (1.0, false), (1e4, false), (1e6, false)] {
            for cells in [19, 29] {
                let brick = Brick { mass, held, ..Brick::cube(cells) };
                run(&brick, strength);
            }
        }
    }
    println!("beams");
    for strength in [0.05, 0.1, 0.15, 0.25, 0.35] {
    for cells in [[40, 4, 4], [80, 8, 8], [120, 12, 12]] {
        let s = 1.0 / cells[1] as f64;
        run(&Brick { cells, sides: [s; 3], ..Brick::cube(1) }, strength);
        run(&Brick { cells: [cells[1]; 3], sides: [10.0*s, s, s], ..Brick::cube(1) }, strength);
        run(&Brick { cells: [4,4*cells[1],cells[1]], sides: [s, s/4.0, s], ..Brick::cube(1) }, strength);
    }}
}

fn run(brick: &Brick, strength: f64) {
    let system = brick.system();
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    let options = MultigridOptions { strength, ..Default::default() };
    let start = std::time::Instant::now();
    let mut m = SmoothedAggregation::new(&system.w, &system.fixed, system.primal_blocks(), &modes, options).unwrap();
    let setup = start.elapsed();
    let start = std::time::Instant::now();
    m.update(&system.w, &system.fixed, &modes).unwrap();
    let refill = start.elapsed();
    let mut b = system.c.clone();
    for (b, f) in b.iter_mut().zip(&system.fixed) { if *f { *b = 0.0; } }
    let mut x = vec![0.0; b.len()];
    let mut cg = ConjugateGradient::new(KrylovOptions { tolerance: 1e-8, ..Default::default() });
    let start = std::time::Instant::now();
    let report = cg.solve_with(m.matrix(), &m, &b, &mut x).unwrap();
    let solve = start.elapsed();
    println!("{:?} mass {:e} s {strength} n {} it {} {:?} cx {:.2} setup {:.1} refill {:.1} solve {:.1} per it {:.2} ms {:?}", brick.cells, brick.mass, b.len(), report.iterations, report.status, m.report().operator_complexity(),
        1e3*setup.as_secs_f64(), 1e3*refill.as_secs_f64(), 1e3*solve.as_secs_f64(), 1e3*solve.as_secs_f64()/report.iterations as f64, m.report().levels.iter().map(|l| l.order).collect::<Vec<_>>());
}
