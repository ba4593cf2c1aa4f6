//! The automatic linear solver: what it picks, that it escalates, and that its answers are those of
//! the dense oracle.

use crate::tools::{Random, close, random_kkt};
use pliant_krylov::{KktKrylovOptions, KktMethod};
use pliant_krylov::{LinearAuto, LinearChoice, LinearMethod, LinearOptions, Outcome, Reason};
use pliant_solvers::{
    DenseMethod, DenseOptions, DirectOptions, KktSystem, PivotedOptions, PivotedSolver, Solution, SolveError,
    Status, solve_dense,
};
use pliant_sparse::PatternBuilder;

/// A block of `k^3` points with mass 1, each coupled to its neighbours along three axes by springs
/// of stiffness between `s / spread` and `s spread` in all directions.
pub(crate) fn lattice(k: usize, s: f64, spread: f64) -> KktSystem {
    let (points, place) = (k * k * k, |x: usize, y: usize, z: usize| (x * k + y) * k + z);
    let mut pairs = Vec::new();
    for x in 0..k {
        for y in 0..k {
            for z in 0..k {
                let at = place(x, y, z);
                if x > 0 {
                    pairs.push((at, place(x - 1, y, z), 0));
                }
                if y > 0 {
                    pairs.push((at, place(x, y - 1, z), 1));
                }
                if z > 0 {
                    pairs.push((at, place(x, y, z - 1), 2));
                }
            }
        }
    }
    let n = 3 * points;
    let mut w = PatternBuilder::new(n, n);
    (0..points).for_each(|a| w.insert_block((3 * a, 3 * a), (3, 3), true));
    for (a, b, _) in &pairs {
        w.insert_block((3 * a, 3 * b), (3, 3), false);
    }
    let empty = |rows: usize, columns: usize| PatternBuilder::new(rows, columns).finish().unwrap();
    let blocks = (0..=n).step_by(3).collect();
    let mut out = KktSystem::new(w.finish().unwrap(), empty(0, n), empty(0, 0), blocks, vec![0]).unwrap();
    let mut add = |i: usize, j: usize, value: f64| {
        let slot = out.w.pattern().slot(i, j).unwrap();
        out.w.values_mut()[slot] += value;
    };
    for i in 0..n {
        add(i, i, 1.0);
    }
    let mut random = Random(11);
    for (a, b, axis) in pairs {
        let s = s * spread.powf(random.number());
        for c in 0..3 {
            // Stiffer along the spring.
            let own = if c == axis { s } else { 0.5 * s };
            add(3 * a + c, 3 * a + c, own);
            add(3 * b + c, 3 * b + c, own);
            add(3 * a + c, 3 * b + c, -own);
        }
    }
    let mut random = Random(7);
    let c = random.numbers(n);
    out.c.copy_from_slice(&c);
    out
}

fn auto(options: LinearOptions, system: &KktSystem) -> (LinearAuto, Solution, pliant_krylov::LinearReport) {
    let (mut solver, mut solution) = (LinearAuto::new(options), Solution::default());
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    (solver, solution, report)
}

#[test]
fn every_choice_gives_the_answer_of_the_oracle() {
    for seed in 0..6 {
        let mut random = Random(seed);
        let system = random_kkt(&mut random, 12 + 3 * seed as usize, 5);
        let exact = solve_dense(&system).unwrap();
        let krylov = |method| {
            LinearChoice::Krylov(KktKrylovOptions {
                method,
                ..KktKrylovOptions::default()
            })
        };
        let dense = |method| {
            LinearChoice::Dense(DenseOptions {
                method,
                ..DenseOptions::default()
            })
        };
        for choice in [
            LinearChoice::Auto,
            dense(DenseMethod::BunchKaufman),
            dense(DenseMethod::Ldlt),
            LinearChoice::Direct(DirectOptions::default()),
            LinearChoice::Pivoted(PivotedOptions::default()),
            krylov(KktMethod::Minres),
            krylov(KktMethod::SchurPcg),
            krylov(KktMethod::ConstraintGmres),
            krylov(KktMethod::ProjectedPcg),
        ] {
            let options = LinearOptions {
                choice,
                ..LinearOptions::default()
            };
            let (solver, solution, report) = auto(options, &system);
            assert_eq!(report.status, Status::Converged, "{choice:?}");
            assert!(report.residual.relative <= 1e-9);
            // Condition numbers up to 1e3 times the residual asked.
            close(&solution.x, &exact.x, 1e-6);
            close(&solution.mu, &exact.mu, 1e-6);
            assert_eq!(solver.attempts().len(), 1);
            let pinned = solver.attempts()[0].reason == Reason::Pinned;
            assert_eq!(pinned, choice != LinearChoice::Auto);
            if let Some(factor) = report.factor {
                assert_eq!((factor.inertia, factor.redundant_rows), ((system.n() - 1, 5), 0));
            }
        }
    }
}

#[test]
fn a_large_solid_is_solved_by_conjugate_gradients() {
    let system = lattice(14, 1.0, 1.0);
    let (solver, solution, report) = auto(LinearOptions::default(), &system);
    assert_eq!(report.method, LinearMethod::Krylov(KktMethod::PrimalPcg));
    assert_eq!(report.status, Status::Converged);
    assert!(matches!(solver.attempts()[0].reason, Reason::WorthIterations { budget } if budget >= 25));
    // By eigenvalues between 1 and 13: fewer than 40 iterations without any preconditioner.
    assert!((1..40).contains(&report.iterations));
    let direct = LinearOptions {
        choice: LinearChoice::Direct(DirectOptions::default()),
        ..LinearOptions::default()
    };
    let (_, exact, _) = auto(direct, &system);
    close(&solution.x, &exact.x, 1e-8);
    // With many solves for each factor, the factor wins.
    let many = LinearOptions {
        right_hand_sides: 100_000,
        ..LinearOptions::default()
    };
    assert_eq!(auto(many, &system).2.method, LinearMethod::Direct);
}

#[test]
fn iterations_that_run_out_end_with_the_factor_and_stay_there() {
    // Eigenvalues from 1 to 1e12 in no order.
    let system = lattice(12, 1e8, 1e4);
    let (mut solver, mut solution) = (LinearAuto::default(), Solution::default());
    solver.prepare(&system).unwrap();
    let report = solver.solve(&system, &mut solution).unwrap();
    assert_eq!(
        (report.status, report.method),
        (Status::Converged, LinearMethod::Direct)
    );
    assert_eq!(solver.attempts().len(), 2);
    assert_eq!(
        solver.attempts()[0].outcome,
        Outcome::Solved(Status::MaxIterations)
    );
    assert_eq!(solver.attempts()[1].reason, Reason::Escalated);
    assert!(
        solver.attempts()[1]
            .to_string()
            .starts_with("sparse L D L^T (what came before failed): Converged")
    );
    solver.prepare(&system).unwrap();
    let again = solver.solve(&system, &mut solution).unwrap();
    assert_eq!((again.method, again.iterations), (LinearMethod::Direct, 0));
    assert_eq!(solver.attempts().len(), 1);
}

#[test]
fn a_good_start_is_used() {
    let mut system = lattice(14, 1.0, 1.0);
    let (mut solver, mut solution, cold) = auto(LinearOptions::default(), &system);
    let warm = solver.solve(&system, &mut solution).unwrap();
    assert_eq!(warm.iterations, 0);
    system.c[0] += 1e-6;
    solver.prepare(&system).unwrap();
    let near = solver.solve(&system, &mut solution).unwrap();
    assert_eq!(near.status, Status::Converged);
    assert!(near.iterations < cold.iterations);
}

#[test]
fn the_residuals_of_iterations_are_kept_on_request() {
    let system = lattice(14, 1.0, 1.0);
    let options = LinearOptions {
        history: true,
        ..LinearOptions::default()
    };
    let (solver, _, report) = auto(options, &system);
    let history = solver.history();
    assert_eq!(history.len(), report.iterations + report.refinements);
    assert!(history[history.len() - 1] <= 1e-8 * history[0]);
    assert!(auto(LinearOptions::default(), &system).0.history().is_empty());
}

#[test]
fn a_system_without_an_answer_is_an_error_of_the_factor() {
    let mut system = lattice(12, 1.0, 1.0);
    let slot = system.w.pattern().slot(30, 30).unwrap();
    system.w.values_mut()[slot] = -50.0;
    let (mut solver, mut solution) = (LinearAuto::default(), Solution::default());
    let found = solver.prepare(&system);
    let found = found.and_then(|()| solver.solve(&system, &mut solution).map(|_| ()));
    assert!(
        matches!(found, Err(SolveError::NotPositiveDefinite { .. })),
        "{found:?}"
    );
    assert_eq!(
        solver.solve(&system, &mut solution).err(),
        Some(SolveError::NotPrepared)
    );
    // The same solver, mended.
    system.w.values_mut()[slot] = 5.0;
    solver.prepare(&system).unwrap();
    assert_eq!(
        solver.solve(&system, &mut solution).unwrap().status,
        Status::Converged
    );
}

#[test]
fn redundant_rows_are_left_to_the_direct_solver() {
    let w = crate::tools::identity(3);
    let mut system = KktSystem::dense(&w, &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], &[0.0, 0.0]).unwrap();
    system.b.copy_from_slice(&[-1.0, -1.0]);
    let (solver, solution, report) = auto(LinearOptions::default(), &system);
    assert_eq!(solver.attempts().len(), 2);
    assert!(matches!(
        solver.attempts()[0].outcome,
        Outcome::Failed(SolveError::Singular { .. })
    ));
    assert_eq!(report.factor.map(|f| f.redundant_rows), Some(1));
    close(&solution.mu, &[0.5, 0.5], 1e-14);
    system.b[1] = 1.0;
    let (_, _, report) = auto(LinearOptions::default(), &system);
    assert!(matches!(report.status, Status::Incompatible { .. }));
}

/// The lattice with a row between every tenth point and the next: their velocities along one axis
/// are alike.
fn tied(k: usize, compliance: f64) -> KktSystem {
    let free = lattice(k, 1.0, 1.0);
    let n = free.n();
    let rows: Vec<usize> = (0..n / 3 - 1).step_by(10).collect();
    let mut j = PatternBuilder::new(rows.len(), n);
    let mut r = PatternBuilder::new(rows.len(), rows.len());
    for (i, a) in rows.iter().enumerate() {
        j.insert(i, 3 * a);
        j.insert(i, 3 * a + 3);
        r.insert(i, i);
    }
    let mut out = KktSystem::new(
        free.w.pattern().clone(),
        j.finish().unwrap(),
        r.finish().unwrap(),
        free.primal_blocks().to_vec(),
        (0..=rows.len()).collect(),
    )
    .unwrap();
    out.w = free.w;
    out.c = free.c;
    for (k, value) in out.j.values_mut().iter_mut().enumerate() {
        *value = if k % 2 == 0 { 1.0 } else { -1.0 };
    }
    out.r.values_mut().fill(compliance);
    out.b.fill(0.125);
    out
}

#[test]
fn a_solid_with_few_rows_is_solved_by_projected_steps() {
    for compliance in [0.0, 0.5] {
        let mut system = tied(14, compliance);
        let (mut solver, mut solution, report) = auto(LinearOptions::default(), &system);
        assert_eq!(report.method, LinearMethod::Krylov(KktMethod::ProjectedPcg));
        assert_eq!(report.status, Status::Converged);
        let direct = LinearOptions {
            choice: LinearChoice::Direct(DirectOptions::default()),
            ..LinearOptions::default()
        };
        let (_, exact, _) = auto(direct, &system);
        // The residual asked times a condition number of about 10.
        close(&solution.x, &exact.x, 1e-8);
        close(&solution.mu, &exact.mu, 1e-8);
        // The next step, with other values: no allocation, and the same bits wherever it starts
        // from.
        system.c[5] += 0.5;
        system.w.values_mut()[0] += 1.0;
        let mut iterations = 0;
        let counted = allocation_counter::measure(|| {
            solver.prepare(&system).unwrap();
            iterations = solver.solve(&system, &mut solution).unwrap().iterations;
        });
        assert_eq!(counted.count_total, 0);
        assert!(iterations > 0);
        let (_, again, _) = auto(LinearOptions::default(), &system);
        let mut fresh = Solution::default();
        solver.solve(&system, &mut fresh).unwrap();
        assert_eq!(again, fresh);
    }
}

#[test]
fn predictions_are_counts() {
    let system = lattice(10, 1.0, 1.0);
    let (solver, _, _) = auto(LinearOptions::default(), &system);
    let predicted = solver.prediction().unwrap();
    let mut direct = pliant_solvers::DirectSolver::default();
    direct.prepare(&system).unwrap();
    // Another order, zeros in supernodes: alike within a factor of three.
    let ratio = direct.counters().factor_entries as f64 / predicted.fill.entries as f64;
    assert!((0.3..3.0).contains(&ratio), "{ratio}");
    assert_eq!(predicted.krylov, Some(KktMethod::PrimalPcg));
    let pinned = LinearOptions {
        choice: LinearChoice::Direct(DirectOptions::default()),
        ..LinearOptions::default()
    };
    assert_eq!(auto(pinned, &system).0.prediction(), None);
}

/// `W` tridiagonal of order n, each diagonal entry twice in turn `d[0], d[1], ...` with
/// `off[i % off.len()]` beside it; `rows` hard rows, row k being `x_2k - x_{2k+1}`. The right-hand
/// sides are those of a known answer.
fn tridiagonal(n: usize, d: f64, off: &[f64], rows: usize) -> (KktSystem, Solution) {
    let [mut w, mut j, mut r] = [(n, n), (rows, n), (rows, rows)].map(|(a, b)| PatternBuilder::new(a, b));
    for i in 0..n {
        w.insert(i, i);
        if i > 0 {
            w.insert(i, i - 1);
        }
    }
    for k in 0..rows {
        j.insert(k, 2 * k);
        j.insert(k, 2 * k + 1);
        r.insert(k, k);
    }
    let [w, j, r] = [w, j, r].map(|p| p.finish().unwrap());
    let mut system = KktSystem::new(w, j, r, (0..=n).step_by(2).collect(), (0..=rows).collect()).unwrap();
    for i in 0..n {
        let slots = system.w.pattern().row_slots(i);
        system.w.values_mut()[slots.end - 1] = d;
        if i > 0 {
            system.w.values_mut()[slots.start] = off[(i - 1) % off.len()];
        }
    }
    for pair in system.j.values_mut().chunks_exact_mut(2) {
        pair.copy_from_slice(&[1.0, -1.0]);
    }
    let mut random = Random(3);
    let exact = Solution {
        x: random.numbers(n),
        mu: random.numbers(rows),
    };
    system.w.symmetric_add_product(1.0, &exact.x, &mut system.c);
    system.j.add_transpose_product(-1.0, &exact.mu, &mut system.c);
    system.j.add_product(-1.0, &exact.x, &mut system.b);
    (system, exact)
}

#[test]
fn tiny_pivots_go_to_the_pivoted_factor_and_the_report_says_so() {
    // Pairs [[e, 1], [1, e]] with x_0 = x_1: on the null space the energy is 2, but the first pivot
    // is e. Over 2000 unknowns.
    let (system, exact) = tridiagonal(1400, 1e-14, &[1.0, 0.1], 700);
    let (solver, solution, report) = auto(LinearOptions::default(), &system);
    assert_eq!(
        (report.status, report.method),
        (Status::Converged, LinearMethod::Pivoted)
    );
    let factor = report.factor.unwrap();
    assert_eq!((factor.inertia, factor.redundant_rows), ((1400, 700), 0));
    let methods: Vec<LinearMethod> = solver.attempts().iter().map(|a| a.method).collect();
    assert_eq!(methods, [LinearMethod::Direct, LinearMethod::Pivoted]);
    // Condition about 10.
    close(&solution.x, &exact.x, 1e-13);
    close(&solution.mu, &exact.mu, 1e-13);
}

#[test]
fn an_indefinite_system_is_solved_only_if_that_is_allowed() {
    // Eigenvalues 0.7 - 2 cos(k pi / (n + 1)).
    let n = 2100;
    let (system, exact) = tridiagonal(n, 0.7, &[-1.0], 0);
    let eigenvalue = |k: usize| 0.7 - 2.0 * (k as f64 * std::f64::consts::PI / (n + 1) as f64).cos();
    let negative = (1..=n).filter(|k| eigenvalue(*k) < 0.0).count();
    let condition = 2.7 / (1..=n).fold(f64::INFINITY, |a, k| a.min(eigenvalue(k).abs()));
    let refused = LinearAuto::default().prepare(&system);
    assert!(matches!(refused, Err(SolveError::NotPositiveDefinite { .. })));
    let indefinite = LinearOptions {
        indefinite: true,
        ..LinearOptions::default()
    };
    let (_, solution, report) = auto(indefinite, &system);
    assert_eq!(
        (report.status, report.method),
        (Status::Converged, LinearMethod::Pivoted)
    );
    assert_eq!(report.factor.unwrap().inertia, (n - negative, negative));
    close(&solution.x, &exact.x, 1e-15 * condition);
    // A small one takes the dense factor first, which refuses it.
    let mut saddle = KktSystem::dense(&[1.0, 2.0, 2.0, 1.0], &[], &[]).unwrap();
    saddle.c.copy_from_slice(&[1.0, -1.0]);
    let (_, solution, report) = auto(indefinite, &saddle);
    assert_eq!(report.method, LinearMethod::Pivoted);
    close(&solution.x, &[-1.0, 1.0], 1e-15);
}

#[test]
fn redundant_rows_and_fixed_variables_of_the_pivoted_factor() {
    let w = [2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 4.0];
    let mut twice = KktSystem::dense(&w, &[1.0, 1.0, 0.0, 2.0, 2.0, 0.0], &[0.0, 0.0]).unwrap();
    let mut solver = PivotedSolver::default();
    let found = solver.prepare(&twice);
    assert!(
        matches!(
            found,
            Err(SolveError::Singular {
                index: 0 | 1 | 3 | 4,
                ..
            })
        ),
        "{found:?}"
    );
    assert_eq!(
        solver.solve(&twice, &mut Solution::default()),
        Err(SolveError::NotPrepared)
    );
    // With one of them soft, and x_1 fixed: 2 x_0 = mu_0, x_0 = -1.
    twice.r.values_mut()[1] = 1.0;
    twice.fixed[1] = true;
    twice.b.copy_from_slice(&[1.0, 2.0]);
    twice.c[2] = 8.0;
    let mut solution = Solution::default();
    solver.prepare(&twice).unwrap();
    let report = solver.solve(&twice, &mut solution).unwrap();
    assert_eq!((report.status, report.inertia), (Status::Converged, (2, 2)));
    close(&solution.x, &[-1.0, 0.0, 2.0], 1e-15);
    close(&solution.mu, &[-2.0, 0.0], 1e-15);
}
