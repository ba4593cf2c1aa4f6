//! The sparse direct solver against references and against the dense oracle.

use pliant_solvers::{
    DirectSolver, KktSystem, Solution, SolveError, SolveReport, Status, Variable, solve_dense,
    solve_dense_ldlt,
};
use proptest::prelude::*;

fn solve(system: &KktSystem) -> (Solution, SolveReport) {
    let mut solver = DirectSolver::default();
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    (solution, report)
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance, "{a:?} is not {b:?} to {tolerance:e}");
    }
}

/// Reference case F04: a duplicated row.
fn f04(r: [f64; 3], b: [f64; 3]) -> KktSystem {
    let w = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0];
    let j = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let mut system = KktSystem::dense(&w, &j, &r).unwrap();
    system.c.copy_from_slice(&[1.0, 0.5, 2.0]);
    system.b.copy_from_slice(&b);
    system
}

/// One substitution is the answer but for refinement; with redundant rows it is the solve, to the
/// bit.
#[test]
fn a_solve_that_is_not_measured() {
    for (r, redundant) in [([0.1; 3], 0), ([0.0; 3], 1)] {
        let system = f04(r, [0.5, 0.5, 0.2]);
        let (expected, _) = solve(&system);
        let mut solver = DirectSolver::default();
        let mut solution = Solution::default();
        assert_eq!(
            solver.solve_unmeasured(&system, &mut solution),
            Err(SolveError::NotPrepared)
        );
        solver.prepare(&system).unwrap();
        let report = solver.solve_unmeasured(&system, &mut solution).unwrap();
        assert_eq!(report.redundant_rows, redundant);
        close(&solution.x, &expected.x, 1e-14);
        close(&solution.mu, &expected.mu, 1e-14);
        match redundant {
            0 => assert_eq!(solver.counters().solves, 1),
            _ => assert_eq!(solution, expected),
        }
    }
    let mut system = f04([0.1; 3], [0.5, 0.5, 0.2]);
    system.c[1] = f64::NAN;
    let mut solver = DirectSolver::default();
    solver.prepare(&system).unwrap();
    let found = solver.solve_unmeasured(&system, &mut Solution::default());
    assert!(matches!(found, Err(SolveError::NotFinite { .. })), "{found:?}");
}

#[test]
fn f04_duplicated_hard_rows_share_equally() {
    let (solution, report) = solve(&f04([0.0; 3], [0.5, 0.5, 0.2]));
    assert_eq!(report.status, Status::Converged);
    assert_eq!((report.redundant_rows, report.inertia), (1, (3, 2)));
    close(
        &solution.x,
        &[0.04285714285714, -0.5428571428571, 0.3428571428571],
        1e-12,
    );
    close(
        &solution.mu,
        &[-0.4785714285714, -0.4785714285714, -0.6285714285714],
        1e-12,
    );
}

/// The factor shows which rows depend on each other: no substitution is needed to find that out.
#[test]
fn combinations_of_few_rows_need_no_solve() {
    let system = f04([0.0; 3], [0.5, 0.5, 0.2]);
    let mut solver = DirectSolver::default();
    solver.prepare(&system).unwrap();
    assert_eq!(solver.counters().solves, 0);
    let report = solver.solve(&system, &mut Solution::default()).unwrap();
    assert_eq!((report.redundant_rows, solver.counters().solves), (1, 1));
}

#[test]
fn f04_small_compliances_share_inversely() {
    // The limit is reached to O(eps); the tolerance is that of the reference case.
    let (solution, _) = solve(&f04([1e-9, 3e-9, 1e-9], [0.5, 0.5, 0.2]));
    close(
        &solution.mu,
        &[-0.7178571428571, -0.2392857142857, -0.6285714285714],
        1e-6,
    );
}

#[test]
fn f04_contradictory_rows_are_named_and_compromised() {
    let (solution, report) = solve(&f04([0.0; 3], [0.5, 0.7, 0.2]));
    let Status::Incompatible { row, violation } = report.status else {
        panic!("{report:?}")
    };
    assert!(row < 2 && (violation - 0.1).abs() < 1e-12);
    close(
        &solution.x,
        &[-0.04285714285714, -0.5571428571429, 0.3571428571429],
        1e-10,
    );
}

#[test]
fn an_unlucky_owner_is_no_negative_mass() {
    // The hard row may first follow variable 0, on which it does not act: the pivot vanishes, and
    // W_22 = -2 shows before the row can make up for it. On the null space of J, spanned by (1, 0,
    // 0) and (0, -2, 1), W is 1 and 2.
    let w = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -2.0];
    let mut system = KktSystem::dense(&w, &[0.0, 0.5, 1.0], &[0.0]).unwrap();
    system.c.copy_from_slice(&[3.0, 2.0, 1.0]);
    let (solution, report) = solve(&system);
    assert_eq!((report.status, report.inertia), (Status::Converged, (3, 1)));
    // x = (3, -2 s, s) where s^2 + 3 s is least, s = -3/2; mu from W x - J^T mu = c.
    close(&solution.x, &[3.0, 3.0, -1.5], 1e-14);
    close(&solution.mu, &[2.0], 1e-14);
}

#[test]
fn f07_fixed_variables_are_eliminated() {
    let mut system = KktSystem::dense(&[4.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 2.0], &[], &[]).unwrap();
    system.c.copy_from_slice(&[1.0, 2.0, 3.0]);
    system.fixed[1] = true;
    let (solution, _) = solve(&system);
    close(&solution.x, &[0.25, 0.0, 1.5], 1e-14);
}

#[test]
fn a_change_of_the_fixed_mask_is_noticed_and_costs_one_analysis() {
    let mut system = KktSystem::dense(&[2.0, 0.0, 0.0, 2.0], &[1.0, 1.0], &[0.0]).unwrap();
    system.c.copy_from_slice(&[1.0, 3.0]);
    let mut solver = DirectSolver::default();
    let mut solution = Solution::default();
    for (fixed, expected, analyses) in [
        (false, [-0.5, 0.5], 1),
        (false, [-0.5, 0.5], 1),
        (true, [0.0, 0.0], 2),
    ] {
        system.fixed[0] = fixed;
        solver.prepare(&system).unwrap();
        solver.solve(&system, &mut solution).unwrap();
        close(&solution.x, &expected, 1e-15);
        assert_eq!(solver.counters().symbolic, analyses);
    }
}

#[test]
fn bad_input_is_named() {
    let prepare = |w: &[f64], j: &[f64], r: &[f64]| {
        DirectSolver::default().prepare(&KktSystem::dense(w, j, r).unwrap())
    };
    assert_eq!(
        prepare(&[-1.0], &[], &[]),
        Err(SolveError::NotPositiveDefinite {
            dof: 0,
            diagonal: -1.0
        })
    );
    assert_eq!(
        prepare(&[1.0, 2.0, 2.0, 1.0], &[], &[])
            .map_err(|e| matches!(e, SolveError::NotPositiveDefinite { .. })),
        Err(true)
    );
    assert_eq!(
        prepare(&[1.0], &[1.0], &[-1.0]),
        Err(SolveError::NegativeCompliance { row: 0, value: -1.0 })
    );
    assert_eq!(
        prepare(&[f64::NAN], &[], &[]),
        Err(SolveError::NotFinite {
            variable: Variable::Dof(0)
        })
    );
    assert_eq!(
        prepare(&[1.0], &[f64::NAN], &[0.0]),
        Err(SolveError::NotFinite {
            variable: Variable::Row(0)
        })
    );
    let mut system = KktSystem::dense(&[1.0], &[1.0], &[0.0]).unwrap();
    system.b[0] = f64::INFINITY;
    let mut solver = DirectSolver::default();
    assert_eq!(
        solver.solve(&system, &mut Solution::default()).unwrap_err(),
        SolveError::NotPrepared
    );
    solver.prepare(&system).unwrap();
    let found = solver.solve(&system, &mut Solution::default()).unwrap_err();
    assert_eq!(
        found,
        SolveError::NotFinite {
            variable: Variable::Row(0)
        }
    );
    assert!(
        KktSystem::dense(&[1.0, 2.0], &[], &[]).is_err()
            && KktSystem::dense(&[1.0], &[1.0, 2.0], &[0.0]).is_err()
    );
}

/// Collinear hard rows on one particle defeat the paired order; the safe order must take over.
#[test]
fn a_hard_row_with_an_unlucky_partner_is_not_called_redundant() {
    // Two particles of one block (2 dofs), rows x0 = ., x0 - x1 = ., all in one block so that
    // pairing is by block.
    let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, 1e6], &[1.0, 0.0, 1.0, -1.0], &[0.0, 0.0]).unwrap();
    system.b.copy_from_slice(&[-1.0, -3.0]);
    let (solution, report) = solve(&system);
    assert_eq!((report.status, report.redundant_rows), (Status::Converged, 0));
    close(&solution.x, &[1.0, -2.0], 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::default())]
    #[test]
    fn agrees_with_the_dense_oracle(
        n in 1usize..9,
        m in 0usize..7,
        entries in prop::collection::vec(-1.0..1.0f64, 200),
        soft in prop::collection::vec(prop_oneof![Just(0.0), 1e-6..1.0f64], 7),
        fixed in prop::collection::vec(prop::bool::weighted(0.2), 9),
        duplicate in any::<bool>(),
    ) {
        let mut next = entries.iter().copied().cycle();
        let mut take = |k: usize| -> Vec<f64> { (0..k).map(|_| next.next().unwrap()).collect() };
        // W = A A^T / n + I: eigenvalues between 1 and about n + 1.
        let a = take(n * n);
        let w: Vec<f64> = (0..n * n).map(|k| {
            let (i, j) = (k / n, k % n);
            (0..n).map(|l| a[i * n + l] * a[j * n + l]).sum::<f64>() / n as f64 + f64::from(u8::from(i == j))
        }).collect();
        let mut j = take(m * n);
        let mut b = take(m);
        let mut r = soft[..m].to_vec();
        if duplicate && m > 1 {
            // A consistent copy of row 0.
            for k in 0..n { j[(m - 1) * n + k] = 2.0 * j[k]; }
            b[m - 1] = 2.0 * b[0];
            r[0] = 0.0;
            r[m - 1] = 0.0;
        }
        let mut system = KktSystem::dense(&w, &j, &r).unwrap();
        system.c = take(n);
        system.b = b;
        system.fixed = fixed[..n].to_vec();
        let (ours, report) = solve(&system);
        prop_assert!(report.status != Status::Stagnated, "{:?}", report);
        let free = system.fixed.iter().filter(|f| !**f).count();
        let hard = r.iter().filter(|r| **r == 0.0).count();
        // With more hard rows than free variables the random rows contradict each other.
        if !matches!(report.status, Status::Incompatible { .. }) {
            let oracle = solve_dense(&system).unwrap();
            // Random rows may be ill-conditioned: compare the answer relative to its size.
            let size = 1.0 + oracle.mu.iter().chain(&oracle.x).fold(0.0f64, |s, v| s.max(v.abs()));
            // The oracle leaves out what its rows have below 1e-10 of their largest eigenvalue.
            // Where that is more than rounding, rows nearly depend on each other, and the answer
            // hangs on the threshold: what solves the equations then is an answer.
            let missed = |s: &Solution| (0..m).fold(0.0f64, |most, i| {
                let row: f64 = (0..n).map(|k| j[i * n + k] * s.x[k]).sum();
                most.max((row + r[i] * s.mu[i] + system.b[i]).abs())
            });
            if missed(&oracle) > 1e-9 * size {
                let own = ours.mu.iter().fold(1.0f64, |s, v| s.max(v.abs()));
                prop_assert!(missed(&ours) < 1.1e-5, "{:?} {:?}", ours, report);
                for i in (0..n).filter(|i| !system.fixed[*i]) {
                    let inertia: f64 = (0..n).map(|k| w[i * n + k] * ours.x[k]).sum();
                    let force: f64 = (0..m).map(|k| j[k * n + i] * ours.mu[k]).sum();
                    prop_assert!((inertia - force - system.c[i]).abs() < 1e-12 * own);
                }
                return Ok(());
            }
            for (x, y) in ours.x.iter().zip(&oracle.x).chain(ours.mu.iter().zip(&oracle.mu)) {
                prop_assert!((x - y).abs() < 1e-7 * size * size, "{:?} {:?} {:?}", ours, oracle, report);
            }
            if r.iter().all(|r| *r > 0.0) {
                // Quasi-definite: a plain factorisation exists, with n positive and m negative
                // pivots.
                let (plain, inertia) = solve_dense_ldlt(&system).unwrap();
                prop_assert_eq!(inertia, (n, m));
                prop_assert_eq!(report.inertia, (free, m));
                for (x, y) in ours.x.iter().zip(&plain.x).chain(ours.mu.iter().zip(&plain.mu)) {
                    prop_assert!((x - y).abs() < 1e-7 * size * size);
                }
            }
        } else {
            prop_assert!(hard > free || (duplicate && hard > 1) || hard == free, "{:?}", report);
        }
    }
}

fn status(system: &KktSystem) -> Status {
    solve(system).1.status
}

#[test]
fn contradictions_are_seen_beside_large_and_heavy_neighbours() {
    // A fast light variable elsewhere must not hide that x0 = 0 and x0 = 1.
    let mut s = KktSystem::dense(&[1.0, 0.0, 0.0, 1e-12], &[1.0, 0.0, 1.0, 0.0], &[0.0; 2]).unwrap();
    s.b.copy_from_slice(&[0.0, -1.0]);
    s.c[1] = 1.0;
    assert!(matches!(status(&s), Status::Incompatible { .. }));
    // Nor a pair that agrees to 5e-7 of large numbers hide one that contradicts itself with small
    // ones.
    let j = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0];
    let mut s = KktSystem::dense(&[1.0, 0.0, 0.0, 1.0], &j, &[0.0; 4]).unwrap();
    s.b.copy_from_slice(&[1e3, 1e3 * (1.0 + 5e-7), 1e-4, -1e-4]);
    assert!(matches!(status(&s), Status::Incompatible { row: 2 | 3, .. }));
}

#[test]
fn nearly_redundant_feasible_rows_are_truncated_not_refused() {
    for eps in [1e-3, 2e-5, 1e-5, 1e-7, 1e-9, 0.0] {
        let mut s = KktSystem::dense(&[1.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 1.0, eps], &[0.0; 2]).unwrap();
        s.c.copy_from_slice(&[1.0, 1.0]);
        let (solution, report) = solve(&s);
        assert_eq!(report.status, Status::Converged, "eps = {eps}: {report:?}");
        // Truncated or not, no row is off by more than the rank decision allows: 1e-5 of a unit
        // velocity.
        assert!(
            report.residual.row <= 1.1e-5 && solution.x[0].abs() < 1.1e-5,
            "eps = {eps}: {report:?}"
        );
    }
}

#[test]
fn a_light_body_between_heavy_ones_is_not_redundancy() {
    // (At a ratio of 1e13 the difference of the two forces, rounded, is all that moves the light
    // one.)
    for light in [1e-2, 1e-6, 1e-7] {
        // Ceiling - light - heavy, both rods hard: the heavy one must not fall.
        let mut s = KktSystem::dense(&[light, 0.0, 0.0, 1e4], &[1.0, 0.0, -1.0, 1.0], &[0.0; 2]).unwrap();
        s.c.copy_from_slice(&[-light, -1e4]);
        let (solution, report) = solve(&s);
        assert_eq!(
            (report.status, report.redundant_rows),
            (Status::Converged, 0),
            "light = {light}"
        );
        assert!(solution.x.iter().all(|x| x.abs() < 1e-6), "{solution:?}");
        assert!((solution.mu[1] - 1e4).abs() < 1e-4, "{solution:?}");
    }
}

#[test]
fn stiff_rows_on_one_coordinate_behave_like_hard_ones() {
    for c in [1e-10, 1e-14, 3e-16, 1e-18, 1e-22, 0.0] {
        let mut s = KktSystem::dense(&[2.0], &[1.0; 3], &[c; 3]).unwrap();
        s.b.fill(-1.0);
        let (solution, report) = solve(&s);
        assert_eq!(report.status, Status::Converged, "R = {c}");
        assert!((solution.x[0] - 1.0).abs() < 1e-9, "R = {c}: {solution:?}");
        // Pivots of 2R above 1e-12 of the Delassus diagonal lose four digits of the share at most.
        assert!(
            solution.mu.iter().all(|m| (m - 2.0 / 3.0).abs() < 1e-3),
            "R = {c}: {solution:?}"
        );
    }
}

#[test]
fn a_solver_that_failed_to_prepare_does_not_solve() {
    let bad = KktSystem::dense(&[1.0, 0.0, 0.0, -1.0], &[1.0, 1.0], &[0.0]).unwrap();
    let mut solver = DirectSolver::default();
    assert!(solver.prepare(&bad).is_err());
    assert_eq!(
        solver.solve(&bad, &mut Solution::default()),
        Err(SolveError::NotPrepared)
    );
    let mut short = KktSystem::dense(&[1.0], &[1.0], &[0.0]).unwrap();
    short.b.clear();
    assert!(matches!(
        solver.prepare(&short),
        Err(SolveError::Size { what: "b", .. })
    ));
}

#[test]
fn an_imposed_order_repeats_the_answer_bit_for_bit() {
    let system = f04([0.0; 3], [0.5, 0.5, 0.2]);
    let mut first = DirectSolver::default();
    let (mut a, mut b) = (Solution::default(), Solution::default());
    first.prepare(&system).unwrap();
    first.solve(&system, &mut a).unwrap();
    let mut second = DirectSolver::default();
    second.forget(first.elimination());
    second.prepare(&system).unwrap();
    second.solve(&system, &mut b).unwrap();
    assert_eq!((&a, first.elimination()), (&b, second.elimination()));
    assert_eq!(second.counters().symbolic, 1);
}

#[test]
fn upper_triangles_are_refused() {
    let mut full = pliant_sparse::PatternBuilder::new(2, 2);
    full.insert_block((0, 0), (2, 2), false);
    let empty = |rows| pliant_sparse::PatternBuilder::new(rows, 2).finish().unwrap();
    let none = pliant_sparse::PatternBuilder::new(0, 0).finish().unwrap();
    let made = KktSystem::new(full.finish().unwrap(), empty(0), none, vec![0, 1, 2], vec![0]);
    assert!(matches!(
        made,
        Err(SolveError::Size {
            what: "entries of W above the diagonal",
            ..
        })
    ));
}

#[test]
fn the_time_split_has_every_part_once() {
    let mut random = crate::tools::Random(4);
    let system = crate::tools::random_kkt(&mut random, 60, 20);
    let mut solver = DirectSolver::default();
    let begin = std::time::Instant::now();
    solver.prepare(&system).unwrap();
    solver.solve(&system, &mut Solution::default()).unwrap();
    let cold = solver.times();
    // No part counts what another one does.
    assert!(cold.total() <= begin.elapsed());
    solver.prepare(&system).unwrap();
    let warm = solver.times() - cold;
    assert_eq!((warm.order, warm.analyse, warm.solve), Default::default());
    assert_eq!(warm.total() + cold.total(), solver.times().total());
    // Earlier less later is nothing, not a panic.
    assert_eq!((cold - solver.times()).total(), Default::default());
    let text = cold.to_string();
    for part in [
        "order", "analyse", "fill", "factor", "rank", "solve", "refine", "judge",
    ] {
        assert_eq!(text.matches(&format!("{part} ")).count(), 1, "{text}");
    }
}

/// An indefinite matrix with a fixed variable: with a share above one of the sums of its rows added
/// to the diagonal it is definite. The fixed variable has no part in the sums.
#[test]
fn a_shifted_diagonal_is_definite() {
    let w = [-3.0, 2.0, 0.0, 2.0, 1.0, -5.0, 0.0, -5.0, 4.0];
    let mut system = KktSystem::dense(&w, &[], &[]).unwrap();
    system.fixed[2] = true;
    let mut solver = DirectSolver::default();
    assert!(solver.prepare(&system).is_err());
    system.shift_diagonal(1.5, &mut Vec::new());
    let diagonal = [0, 1, 2].map(|i| system.w_diagonal(i));
    assert_eq!(diagonal, [-3.0 + 1.5 * 5.0, 1.0 + 1.5 * 3.0, 4.0]);
    solver.prepare(&system).unwrap();
}
