//! Which kernel is chosen, and that all give one answer.

use crate::{DirectSolver, KktSystem, Solution};
use pliant_sparse::PatternBuilder;

/// A definite `W`, and a force on every coordinate.
fn fill_bodies(s: &mut KktSystem) {
    for i in 0..s.n() {
        for slot in s.w.pattern().row_slots(i) {
            let k = s.w.pattern().indices()[slot] as usize;
            s.w.values_mut()[slot] = if i == k { 3.0 + (i % 5) as f64 } else { 0.2 };
        }
        s.c[i] = (i as f64).sin();
    }
}

/// A chain of `bodies` of six with rows of three between them, as blocks or as scalars.
fn chain(bodies: usize, blocks: bool) -> KktSystem {
    let (n, m) = (6 * bodies, 3 * bodies);
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    for k in 0..bodies {
        w.insert_block((6 * k, 6 * k), (6, 6), true);
        j.insert_block((3 * k, 6 * k), (3, 6), false);
        if k > 0 {
            j.insert_block((3 * k, 6 * k - 6), (3, 6), false);
        }
        r.insert_block((3 * k, 3 * k), (3, 3), true);
    }
    let every = |step: usize, size: usize| (0..=size).step_by(if blocks { step } else { 1 }).collect();
    let (w, j, r) = (w.finish().unwrap(), j.finish().unwrap(), r.finish().unwrap());
    // Scalar row blocks want a diagonal R.
    let r = if blocks {
        r
    } else {
        let mut diagonal = PatternBuilder::new(m, m);
        (0..m).for_each(|i| diagonal.insert(i, i));
        diagonal.finish().unwrap()
    };
    let mut s = KktSystem::new(w, j, r, every(6, n), every(3, m)).unwrap();
    fill_bodies(&mut s);
    for i in 0..m {
        for slot in s.j.pattern().row_slots(i) {
            let k = s.j.pattern().indices()[slot] as usize;
            let same = i % 3 == k % 6;
            s.j.values_mut()[slot] = f64::from(u8::from(same)) + 0.3 * ((7 * i + 5 * k) as f64).cos();
        }
        s.b[i] = (i as f64).cos();
    }
    s
}

#[test]
fn blocks_and_scalars_give_one_answer() {
    let mut answers = Vec::new();
    for blocks in [true, false] {
        let s = chain(30, blocks);
        let (mut solver, mut solution) = (DirectSolver::default(), Solution::default());
        solver.prepare(&s).unwrap();
        let columns = solver.plan.as_ref().map(|p| p.kernel.columns());
        assert_eq!(columns, Some(if blocks { 60 } else { 270 }));
        let report = solver.solve(&s, &mut solution).unwrap();
        assert_eq!((report.inertia, report.redundant_rows), ((180, 90), 0));
        assert!(report.residual.relative < 1e-14);
        answers.push(solution);
    }
    // Roundings, times the condition of rows that act alike on both bodies.
    let off = |a: &[f64], b: &[f64]| {
        let size = a.iter().fold(1.0f64, |s, a| s.max(a.abs()));
        a.iter()
            .zip(b)
            .fold(0.0f64, |d, (a, b)| d.max((a - b).abs() / size))
    };
    let (x, mu) = (
        off(&answers[0].x, &answers[1].x),
        off(&answers[0].mu, &answers[1].mu),
    );
    assert!(x < 1e-12 && mu < 1e-12, "{x:e} {mu:e}");
}

/// Clearing, filling and factoring in one sweep gives the bits of filling first, as is done where
/// changes are looked for: with compliances that couple rows, and variables that are fixed, one or
/// all of a body.
#[test]
fn one_sweep_gives_the_bits_of_filling_first() {
    let mut chained = chain(30, true);
    for i in 0..chained.m() {
        for slot in chained.r.pattern().row_slots(i) {
            let k = chained.r.pattern().indices()[slot] as usize;
            chained.r.values_mut()[slot] = if i == k { 0.3 } else { 0.05 };
        }
    }
    let ring = ring(30);
    let fixed = [0..0, 7..8, 60..66];
    for (system, fixed) in [&chained, &ring]
        .into_iter()
        .flat_map(|s| fixed.clone().map(|f| (s, f)))
    {
        let mut s = system.clone();
        s.fixed[fixed].fill(true);
        let mut solvers = [false, true].map(|small_update| {
            let mut solver = DirectSolver::default();
            solver.options.small_update = small_update;
            solver
        });
        // The second time, over what the first left behind.
        for change in [0.0, 1.0] {
            (0..s.n()).for_each(|i| {
                let slot = s.w.pattern().row_slots(i).end - 1;
                s.w.values_mut()[slot] += change;
            });
            let answers = solvers.each_mut().map(|solver| {
                let mut solution = Solution::default();
                solver.prepare(&s).unwrap();
                assert!(solver.plan.as_ref().is_some_and(|p| p.kernel.swept().is_some()));
                let report = solver.solve(&s, &mut solution).unwrap();
                assert!(report.residual.relative < 1e-14);
                (report, solution.x, solution.mu)
            });
            assert_eq!(answers[0], answers[1]);
        }
    }
}

/// A ring of bodies, which fills in, whose joints have two rows on one body and one on the other: a
/// row may be filled before one that it meets in `R`.
fn ring(bodies: usize) -> KktSystem {
    let (n, m) = (6 * bodies, 3 * bodies);
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    for k in 0..bodies {
        w.insert_block((6 * k, 6 * k), (6, 6), true);
        // Either body first, as either may be eliminated first.
        let (one, other) = if k % 2 == 0 {
            (k, (k + 1) % bodies)
        } else {
            ((k + 1) % bodies, k)
        };
        j.insert_block((3 * k, 6 * one), (1, 6), false);
        j.insert_block((3 * k + 1, 6 * other), (2, 6), false);
        r.insert_block((3 * k, 3 * k), (3, 3), true);
    }
    let every = |step: usize, size: usize| (0..=size).step_by(step).collect();
    let (w, j, r) = (w.finish().unwrap(), j.finish().unwrap(), r.finish().unwrap());
    let mut s = KktSystem::new(w, j, r, every(6, n), every(3, m)).unwrap();
    fill_bodies(&mut s);
    for i in 0..m {
        for slot in s.j.pattern().row_slots(i) {
            let k = s.j.pattern().indices()[slot] as usize;
            s.j.values_mut()[slot] = 1.0 + 0.3 * ((7 * i + 5 * k) as f64).cos();
        }
        for slot in s.r.pattern().row_slots(i) {
            let k = s.r.pattern().indices()[slot] as usize;
            s.r.values_mut()[slot] = if i == k { 0.3 + 0.1 * (i % 7) as f64 } else { 0.05 };
        }
        s.b[i] = (i as f64).cos();
    }
    s
}

/// A chain of bodies whose `W` is diagonal and whose rows of three act on two coordinates of either
/// body: blocks that are mostly zeros.
fn sparse_chain(bodies: usize) -> KktSystem {
    let (n, m) = (6 * bodies, 3 * bodies);
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    (0..n).for_each(|i| w.insert(i, i));
    for k in 0..bodies {
        for i in 0..3 {
            r.insert(3 * k + i, 3 * k + i);
            for body in k.saturating_sub(1)..=k {
                j.insert(3 * k + i, 6 * body + i);
                j.insert(3 * k + i, 6 * body + 3 + (i + 1) % 3);
            }
        }
    }
    let [w, j, r] = [w, j, r].map(|p| p.finish().unwrap());
    let (primal, rows) = ((0..=n).step_by(6).collect(), (0..=m).step_by(3).collect());
    let mut s = KktSystem::new(w, j, r, primal, rows).unwrap();
    for (i, w) in s.w.values_mut().iter_mut().enumerate() {
        *w = 2.0 + (i % 5) as f64;
    }
    for (slot, a) in s.j.values_mut().iter_mut().enumerate() {
        *a = [1.0, 0.3, -1.0, 0.2][slot % 4];
    }
    s.c.iter_mut()
        .enumerate()
        .for_each(|(i, c)| *c = (i as f64).sin());
    s.b.iter_mut()
        .enumerate()
        .for_each(|(i, b)| *b = (i as f64).cos());
    s
}

#[test]
fn blocks_that_are_mostly_zeros_go_by_entries_to_the_same_bits_where_few_change() {
    let mut s = sparse_chain(100);
    let mut solvers = [false, true].map(|small_update| {
        let mut solver = DirectSolver::default();
        solver.options.small_update = small_update;
        solver
    });
    for change in [0, 0, 1] {
        s.w.values_mut()[17] += f64::from(change);
        let answers = solvers.each_mut().map(|solver| {
            let mut solution = Solution::default();
            solver.prepare(&s).unwrap();
            let report = solver.solve(&s, &mut solution).unwrap();
            assert!(report.residual.relative < 1e-14);
            assert_eq!((report.inertia, report.redundant_rows), ((600, 300), 0));
            (report, solution.x, solution.mu)
        });
        assert_eq!(answers[0], answers[1]);
    }
    let work = solvers.each_ref().map(DirectSolver::counters);
    // One index per unknown, not more entries than two per row and two of fill, and a part of it
    // the second and the third time.
    assert_eq!(work[0].columns, 3 * 900);
    assert!(work[1].columns < 2 * 900, "{}", work[1].columns);
    assert!(work[0].factor_entries < 3 * 900, "{}", work[0].factor_entries);
}

/// A net of `side x side` particles with springs along its edges, in blocks of three.
fn net(side: usize) -> KktSystem {
    let n = 3 * side * side;
    let at = |i: usize, j: usize| 3 * (i * side + j);
    let mut w = PatternBuilder::new(n, n);
    for i in 0..side {
        for j in 0..side {
            w.insert_block((at(i, j), at(i, j)), (3, 3), true);
            if j > 0 {
                w.insert_block((at(i, j), at(i, j - 1)), (3, 3), false);
            }
            if i > 0 {
                w.insert_block((at(i, j), at(i - 1, j)), (3, 3), false);
            }
        }
    }
    let rows = || PatternBuilder::new(0, n).finish().unwrap();
    let none = PatternBuilder::new(0, 0).finish().unwrap();
    let blocks = (0..=n).step_by(3).collect();
    let mut s = KktSystem::new(w.finish().unwrap(), rows(), none, blocks, vec![0]).unwrap();
    for i in 0..n {
        for slot in s.w.pattern().row_slots(i) {
            let k = s.w.pattern().indices()[slot] as usize;
            s.w.values_mut()[slot] = if i == k { 9.0 } else { ((3 * i + k) as f64).sin() };
        }
        s.c[i] = (i as f64).sin();
    }
    s
}

#[test]
fn nets_go_by_fronts_and_threads_do_not_show() {
    let s = net(40);
    let mut answers = Vec::new();
    for threads in [1, 2, 3] {
        let mut solver = DirectSolver::default();
        solver.options.threads = threads;
        let mut solution = Solution::default();
        solver.prepare(&s).unwrap();
        let kernel = solver.plan.as_ref().map(|p| &p.kernel);
        assert!(kernel.is_some_and(|kernel| kernel.by_blocks().is_none()));
        let report = solver.solve(&s, &mut solution).unwrap();
        assert!(report.residual.relative < 1e-14);
        if threads == 1 {
            let again = allocation_counter::measure(|| {
                solver.prepare(&s).unwrap();
                solver.solve(&s, &mut solution).unwrap();
            });
            assert_eq!(again.count_total, 0, "allocations of a step that is warm");
        }
        answers.push((report, solution.x));
    }
    assert!(answers.windows(2).all(|w| w[0] == w[1]));
}
