//! The Delassus operator by entries and through the factor, against a dense computation.

use crate::tools::{Random, chain, random_kkt, values};
use nalgebra::{DMatrix, DVector};
use pliant_solvers::complementarity::{
    AcceleratedGradient, Admm, BarzilaiBorwein, BlockSparse, Compensated, Cone, ConicSolver, Delassus,
    DelassusChoice, DelassusReason, DelassusReport, DenseDelassus, GaussSeidel, Jacobi, Limits, Method,
    NonlinearCg, Outcome, Problem, SaddleDelassus, Solver,
};
use pliant_solvers::{KktSystem, Solution};
use pliant_sparse::PatternBuilder;

/// `N K^-1 N^T + R_N`, with `K` and the coupling of `N` to the other rows written out and solved by
/// dense elimination.
fn dense(system: &KktSystem, rows: &[usize]) -> DMatrix<f64> {
    let (n, m) = (system.n(), system.m());
    let kept: Vec<usize> = (0..m).filter(|i| !rows.contains(i)).collect();
    let free: Vec<usize> = (0..n).filter(|i| !system.fixed[*i]).collect();
    let unknowns: Vec<usize> = free.iter().copied().chain(kept.iter().map(|i| n + i)).collect();
    let entry = |a: usize, b: usize| match (a < n, b < n) {
        (true, true) => system.w.get(a.max(b), a.min(b)),
        (true, false) => -system.j.get(b - n, a),
        (false, true) => -system.j.get(a - n, b),
        (false, false) => -system.r.get(a.max(b) - n, a.min(b) - n),
    };
    let k = DMatrix::from_fn(unknowns.len(), unknowns.len(), |a, b| {
        entry(unknowns[a], unknowns[b])
    });
    let coupling = DMatrix::from_fn(unknowns.len(), rows.len(), |a, b| entry(unknowns[a], n + rows[b]));
    // Minus the Schur complement of the rows in the whole matrix.
    let own = DMatrix::from_fn(rows.len(), rows.len(), |a, b| -entry(n + rows[a], n + rows[b]));
    let solved = k.lu().solve(&coupling).unwrap();
    own + coupling.transpose() * solved
}

fn off(operator: &SaddleDelassus, exact: &DMatrix<f64>, random: &mut Random, blocks: &[usize]) -> f64 {
    let p = exact.nrows();
    let size = exact.amax().max(f64::MIN_POSITIVE);
    let mut worst = 0.0f64;
    let mut see = |found: &[f64], exact: Vec<f64>| {
        for (a, b) in found.iter().zip(&exact) {
            worst = worst.max((a - b).abs() / size);
        }
    };
    let r = random.numbers(p);
    let product = exact * DVector::from_column_slice(&r);
    let mut out = vec![0.0; p];
    operator.rows_times(0..p, &r, &mut out);
    see(&out, product.iter().copied().collect());
    let some = p / 3..p;
    operator.rows_times(some.clone(), &r, &mut out[..some.len()]);
    see(&out[..some.len()], product.iter().skip(p / 3).copied().collect());
    let mut entries = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let mut found = vec![f64::NAN; rows.len() * columns.len()];
        operator.block(rows.clone(), columns.clone(), &mut found);
        see(
            &found,
            rows.flat_map(|i| columns.clone().map(move |k| exact[(i, k)]))
                .collect(),
        );
    };
    entries(0..p, 0..p);
    entries(p / 2..p, 0..p / 2);
    for w in blocks.windows(2) {
        entries(w[0]..w[1], w[0]..w[1]);
    }
    entries(p / 3..p / 2, p / 4..p);
    // The matrix, and products by it.
    if let Some(a) = operator.matrix() {
        let mut out = vec![0.0; p];
        a.add_product(1.0, &r, &mut out);
        see(&out, product.iter().copied().collect());
        operator.rows_times(0..p, &r, &mut out);
        see(&out, product.iter().copied().collect());
        operator.rows_times(some.clone(), &r, &mut out[..some.len()]);
        see(&out[..some.len()], product.iter().skip(p / 3).copied().collect());
    }
    worst
}

/// A net of `side x side` points of three with contacts on some, which goes by fronts.
pub(crate) fn net(random: &mut Random, side: usize, contacts: usize) -> (KktSystem, Vec<usize>) {
    let n = 3 * side * side;
    let at = |i: usize, j: usize| 3 * (i * side + j);
    let m = 3 * contacts;
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    for a in 0..side {
        for b in 0..side {
            w.insert_block((at(a, b), at(a, b)), (3, 3), true);
            if b > 0 {
                w.insert_block((at(a, b), at(a, b - 1)), (3, 3), false);
            }
            if a > 0 {
                w.insert_block((at(a, b), at(a - 1, b)), (3, 3), false);
            }
        }
    }
    for k in 0..contacts {
        j.insert_block((3 * k, at(random.below(side), random.below(side))), (3, 3), false);
        r.insert_block((3 * k, 3 * k), (3, 3), true);
    }
    let [w, j, r] = [w, j, r].map(|p| p.finish().unwrap());
    let by = |step: usize, size: usize| (0..=size).step_by(step).collect();
    let mut s = KktSystem::new(w, j, r, by(3, n), by(3, m)).unwrap();
    values(&mut s, random, 0);
    (s, (0..m).collect())
}

const CHOICES: [DelassusChoice; 3] = [
    DelassusChoice::Auto,
    DelassusChoice::Explicit,
    DelassusChoice::MatrixFree,
];

#[test]
fn both_forms_are_the_dense_operator() {
    let mut random = Random(5);
    let threes = |p: usize| (0..=p).step_by(3).collect::<Vec<_>>();
    let mut cases = Vec::new();
    let (s, rows) = chain(&mut random, 12, 5);
    cases.push((s, rows, threes(15)));
    let (mut s, rows) = chain(&mut random, 7, 11);
    (6..12).for_each(|i| s.fixed[i] = true);
    cases.push((s, rows, threes(33)));
    let (s, rows) = net(&mut random, 9, 4);
    cases.push((s, rows, threes(12)));
    // Few and full; rows in an order of their own.
    cases.push((random_kkt(&mut random, 9, 4), vec![3, 0], vec![0, 2]));
    // Many contacts of bodies that nothing else connects, with compliance within them and fixed
    // coordinates.
    for fixed in [0..0, 0..6, 10..15] {
        let (mut s, _) = chain(&mut random, 30, 90);
        s.fixed[fixed].fill(true);
        let all = (0..s.m()).collect();
        let blocks = threes(s.m());
        cases.push((s, all, blocks));
    }
    // Compliance between rows of the operator and others: part of a block each.
    let (mut s, _) = chain(&mut random, 5, 3);
    values(&mut s, &mut random, 0);
    cases.push((s, vec![12, 13, 20, 4], vec![0, 2, 3, 4]));
    for (case, (mut s, rows, blocks)) in cases.into_iter().enumerate() {
        for choice in CHOICES {
            let mut operator = SaddleDelassus::with(&s, &rows, &blocks, choice, 1).unwrap();
            let is_large = rows.len() > 300 && choice == DelassusChoice::Auto;
            let report = operator.report();
            assert_eq!(
                report.reason == DelassusReason::Pinned,
                choice != DelassusChoice::Auto
            );
            assert_eq!(report.reason == DelassusReason::Bodies, is_large);
            // Diagonally dominant: conditions of tens.
            let far = off(&operator, &dense(&s, &rows), &mut random, &blocks);
            assert!(far < 1e-13, "case {case}, {choice:?}: {far:e}");
            s.j.values_mut().iter_mut().for_each(|v| *v *= 1.25);
            operator.update(&s).unwrap();
            let far = off(&operator, &dense(&s, &rows), &mut random, &blocks);
            assert!(far < 1e-13, "case {case}, {choice:?}, updated: {far:e}");
        }
    }
}

/// Products of whole numbers of 20 and 50 digits are exact in 128 bits: what rounding of the
/// product leaves out is what is left of `A r` after it is taken away. Without entries nothing is
/// left.
#[test]
fn products_are_added_in_twice_the_precision_where_entries_are_known() {
    let mut random = Random(9);
    let n = 6;
    let j: Vec<i64> = (0..n * n)
        .map(|_| (random.number() * 1_048_576.0) as i64)
        .collect();
    let at = |i: usize, k: usize| (0..n).map(|l| j[i * n + l] * j[k * n + l]).sum::<i64>();
    let exact: Vec<i64> = (0..n * n).map(|e| at(e / n, e % n)).collect();
    let a: Vec<f64> = exact.iter().map(|x| *x as f64).collect();
    let r: Vec<f64> = random.numbers(n).iter().map(|x| (x * 1e15).round()).collect();
    let unit: Vec<f64> = (0..n * n)
        .map(|e| f64::from(u8::from(e % (n + 1) == 0)))
        .collect();
    let j: Vec<f64> = j.iter().map(|x| *x as f64).collect();
    let system = KktSystem::dense(&unit, &j, &vec![0.0; n]).unwrap();
    let rows: Vec<usize> = (0..n).collect();
    let blocks = (0..n * n).map(|e| (e / n, e % n, vec![a[e]])).collect::<Vec<_>>();
    let of_system = |choice| SaddleDelassus::with(&system, &rows, &[0, 3, 6], choice, 1).unwrap();
    let operators: [(Box<dyn Delassus>, bool); 4] = [
        (Box::new(DenseDelassus::new(&a).unwrap()), true),
        (Box::new(BlockSparse::new(&[1; 6], &blocks).unwrap()), true),
        (Box::new(of_system(DelassusChoice::Explicit)), true),
        (Box::new(of_system(DelassusChoice::MatrixFree)), false),
    ];
    for (which, (operator, known)) in operators.iter().enumerate() {
        let mut rounded = vec![0.0; n];
        operator.rows_times(0..n, &r, &mut rounded);
        let mut y = vec![Compensated::default(); n];
        y.iter_mut().zip(&rounded).for_each(|(y, x)| *y += -x);
        operator.add_times(&r, &mut y, &mut vec![0.0; n]);
        let left = (0..n).map(|i| {
            let sum: i128 = (0..n).map(|k| i128::from(exact[i * n + k]) * r[k] as i128).sum();
            (sum - rounded[i] as i128) as f64
        });
        let left: Vec<f64> = left.map(|x| if *known { x } else { 0.0 }).collect();
        let found: Vec<f64> = y.iter().map(|y| y.value()).collect();
        assert_eq!(found, left, "operator {which}");
        assert!(!known || left.iter().any(|x| *x != 0.0), "operator {which}");
    }
}

#[test]
fn redundant_rows_of_the_bilateral_part_do_not_show() {
    let w = [2.0, 0.0, 0.0, 3.0];
    let twice = KktSystem::dense(&w, &[1.0, -1.0, 1.0, -1.0, 0.0, 1.0], &[0.0; 3]).unwrap();
    for choice in CHOICES {
        let operator = SaddleDelassus::with(&twice, &[2], &[0, 1], choice, 1).unwrap();
        let mut a = [0.0; 2];
        operator.block(0..1, 0..1, &mut a[..1]);
        operator.rows_times(0..1, &[1.0], &mut a[1..]);
        // The two masses move as one.
        assert!(a.iter().all(|a| (a - 0.2).abs() < 1e-12), "{choice:?} {a:?}");
    }
}

#[test]
fn threads_do_not_show_in_products() {
    let mut random = Random(6);
    for (choice, (s, rows)) in [
        (DelassusChoice::MatrixFree, net(&mut random, 40, 20)),
        // Enough work for threads, in both forms.
        (DelassusChoice::MatrixFree, chain(&mut random, 30, 150)),
        (DelassusChoice::Explicit, chain(&mut random, 30, 150)),
        (DelassusChoice::Auto, chain(&mut random, 30, 150)),
    ] {
        let p = rows.len();
        let blocks: Vec<usize> = (0..=p).step_by(3).collect();
        let r = random.numbers(p);
        let mut answers = Vec::new();
        for threads in [1, 2, 3] {
            let mut operator = SaddleDelassus::with(&s, &rows, &blocks, choice, threads).unwrap();
            operator.update(&s).unwrap();
            let mut out = vec![0.0; p + 9];
            operator.rows_times(0..p, &r, &mut out[..p]);
            operator.block(3..6, 3..6, &mut out[p..]);
            answers.push(out);
        }
        assert!(answers.windows(2).all(|w| w[0] == w[1]), "{choice:?}");
        assert!(SaddleDelassus::with(&s, &rows, &blocks, choice, 1_000_000).is_err());
    }
}

#[test]
fn warm_updates_and_products_allocate_nothing() {
    let mut random = Random(7);
    let [one, two, three] = [
        chain(&mut random, 30, 10),
        chain(&mut random, 30, 10),
        net(&mut random, 20, 10),
    ];
    for (choice, (s, rows)) in [
        (DelassusChoice::Explicit, one),
        (DelassusChoice::MatrixFree, two),
        (DelassusChoice::MatrixFree, three),
    ] {
        let blocks: Vec<usize> = (0..=30).step_by(3).collect();
        let mut operator = SaddleDelassus::with(&s, &rows, &blocks, choice, 1).unwrap();
        let (r, mut out) = (random.numbers(30), vec![0.0; 30]);
        operator.rows_times(0..30, &r, &mut out);
        let again = allocation_counter::measure(|| {
            operator.update(&s).unwrap();
            operator.rows_times(0..30, &r, &mut out);
        });
        assert_eq!(again.count_total, 0);
    }
}

#[test]
fn entries_that_would_fill_the_memory_go_through_the_factor() {
    // 2800 contacts on one chain: 70 million entries of A, ten thousand of the factor.
    let mut random = Random(8);
    let (bodies, contacts) = (40, 2800);
    let (s, rows) = chain(&mut random, bodies, contacts);
    let blocks: Vec<usize> = (0..=3 * contacts).step_by(3).collect();
    let operator = SaddleDelassus::new(&s, &rows, &blocks).unwrap();
    let report = operator.report();
    assert_eq!(
        (report.matrix_free, report.reason),
        (true, DelassusReason::Memory)
    );
    assert_eq!(report.entries, (3 * contacts as u64).pow(2));
    assert_eq!(operator.entries(), 0);
    // Without joints only contacts of a common body couple.
    let links = 3 * (bodies - 1);
    let (s, rows) = chain(&mut random, bodies, 300);
    let all: Vec<usize> = (0..s.m()).collect();
    let blocks = |p: usize| (0..=p).step_by(3).collect::<Vec<_>>();
    let coupled = SaddleDelassus::new(&s, &rows, &blocks(900)).unwrap().report();
    let free = SaddleDelassus::new(&s, &all, &blocks(900 + links))
        .unwrap()
        .report();
    let how = |report: DelassusReport| (report.matrix_free, report.reason);
    assert_eq!(how(coupled), (false, DelassusReason::Work));
    assert_eq!(how(free), (true, DelassusReason::Bodies));
    assert!(free.entries < coupled.entries / 4, "{free:?} {coupled:?}");
}

/// Sweeps that follow the velocities of bodies are those by the entries, to the rounding of 100 of
/// them, which contract.
#[test]
fn sweeps_through_bodies_are_those_by_entries() {
    let mut random = Random(19);
    let (mut s, _) = chain(&mut random, 30, 90);
    (6..12).for_each(|i| s.fixed[i] = true);
    s.c.copy_from_slice(&random.numbers(180));
    let m = s.m();
    s.b.copy_from_slice(&random.numbers(m));
    let (all, blocks): (Vec<usize>, Vec<usize>) = ((0..s.m()).collect(), (0..=s.m()).step_by(3).collect());
    let cones = vec![Some(Cone::Coulomb { mu: 0.4 }); s.m() / 3];
    let mut conic = ConicSolver::default();
    conic.only = Some(Method::GaussSeidel);
    conic.options.limits = Limits {
        tolerance: 0.0,
        max_iterations: 100,
        ..Limits::default()
    };
    conic.prepare(&s, &cones).unwrap();
    let mut solution = Solution::default();
    let found = conic.solve(&s, &mut solution).unwrap();
    let free: Vec<f64> = conic.free_velocities().map(|(_, u)| u).collect();
    let operator = SaddleDelassus::with(&s, &all, &blocks, DelassusChoice::Explicit, 1).unwrap();
    let laws: Vec<Cone> = cones.iter().flatten().copied().collect();
    let problem = Problem::new(operator, free, laws).unwrap();
    let mut r = vec![0.0; s.m()];
    let mut sweeps = GaussSeidel::default();
    sweeps.options.limits = conic.options.limits;
    let report = sweeps.solve(&problem, &mut r).unwrap();
    assert_eq!(found.cones.iterations, report.iterations);
    let largest = r.iter().fold(0.0f64, |a, r| a.max(r.abs()));
    for (a, b) in solution.mu.iter().zip(&r) {
        assert!((a - b).abs() < 1e-12 * largest, "{a} {b}");
    }
    assert!(report.residual.measure() < 1e-3, "{report:?}");
}

#[test]
fn solvers_find_the_same_impulses_on_both_forms() {
    let mut random = Random(9);
    let (s, rows) = chain(&mut random, 8, 6);
    let blocks: Vec<usize> = (0..=18).step_by(3).collect();
    let b = random.numbers(18);
    let cones = vec![Cone::Coulomb { mu: 0.4 }; 6];
    let solve = |choice, solver: &mut dyn Solver| {
        let operator = SaddleDelassus::with(&s, &rows, &blocks, choice, 1).unwrap();
        let problem = Problem::new(operator, b.clone(), cones.clone()).unwrap();
        let mut r = vec![0.0; 18];
        let report = solver.solve(&problem, &mut r).unwrap();
        (report.outcome, r)
    };
    let solvers: [fn() -> Box<dyn Solver>; 6] = [
        || Box::<AcceleratedGradient>::default(),
        || Box::<BarzilaiBorwein>::default(),
        || Box::<Jacobi>::default(),
        || Box::<NonlinearCg>::default(),
        || Box::<GaussSeidel>::default(),
        || Box::<Admm>::default(),
    ];
    for make in solvers {
        let method = make().method();
        let (one, explicit) = solve(DelassusChoice::Explicit, make().as_mut());
        let (two, free) = solve(DelassusChoice::MatrixFree, make().as_mut());
        assert_eq!(one, two, "{method:?}");
        if one == Outcome::Converged {
            let far = explicit
                .iter()
                .zip(&free)
                .fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            // To the tolerance of the solvers, times the condition of A.
            assert!(far < 1e-5, "{method:?}: {far:e}");
        }
    }
}
