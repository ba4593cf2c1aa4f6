//! Bounded rows: closed forms, states that come and go, what is refused and what is reported.

use crate::tools::{INF, close, identity, lcp, miss, solve, solve_by_descent, velocities};
use pliant_solvers::BoundState::{Both, Free, Lower, Upper};
use pliant_solvers::{
    BoxOptions, BoxSolver, DirectSolver, KktSystem, Solution, SolveError, Status, solve_dense,
    solve_dense_ldlt,
};

/// One mass of 2 kg under the impulse `push`, with rows on its velocity: `(b, bounds)`.
fn mass(push: f64, rows: &[(f64, (f64, f64))]) -> KktSystem {
    let m = rows.len();
    let mut s = KktSystem::dense(&[2.0], &vec![1.0; m], &vec![0.0; m]).unwrap();
    s.c[0] = push;
    for (i, (b, bounds)) in rows.iter().enumerate() {
        s.b[i] = *b;
        s.bounds[i] = *bounds;
    }
    s
}

#[test]
fn dry_friction_sticks_below_its_bound_and_slides_above() {
    for (push, x, mu, at_bounds) in [
        (0.0, 0.0, 0.0, 0),
        (2.9, 0.0, -2.9, 0),
        (-2.9, 0.0, 2.9, 0),
        (3.0, 0.0, -3.0, 0),
        (5.0, 1.0, -3.0, 1),
        (-5.0, -1.0, 3.0, 1),
    ] {
        let (found, report) = solve(&mass(push, &[(0.0, (-3.0, 3.0))]));
        assert_eq!(
            (report.status, report.bounds.rows_at_bounds, report.inertia),
            (Status::Converged, at_bounds, (1, 1)),
            "push = {push}"
        );
        close(&found.x, &[x], 1e-15);
        close(&found.mu, &[mu], 1e-15);
        // A sliding row does not count in the residual of the rows.
        assert_eq!((report.residual.row, report.bounds.natural), (0.0, 0.0));
    }
}

#[test]
fn a_motor_saturates() {
    // Commanded speed 10: 20 N s at will, 3 N s at most.
    let (found, report) = solve(&mass(0.0, &[(-10.0, (-3.0, 3.0))]));
    assert_eq!((report.bounds.changes, report.bounds.factorisations), (1, 1));
    assert_eq!((found.x[0], found.mu[0]), (1.5, 3.0));
    let (found, _) = solve(&mass(0.0, &[(-10.0, (-30.0, 30.0))]));
    assert_eq!((found.x[0], found.mu[0]), (10.0, 20.0));
}

#[test]
fn equal_bounds_prescribe_the_multiplier() {
    for (force, x) in [(0.0, 2.0), (1.5, 2.75), (-4.0, 0.0)] {
        let (found, report) = solve(&mass(4.0, &[(-7.0, (force, force))]));
        assert_eq!((report.status, report.bounds.changes), (Status::Converged, 0));
        assert_eq!((found.x[0], found.mu[0]), (x, force));
    }
}

#[test]
fn a_compliant_row_keeps_its_neighbours_compliance() {
    // R = (2 1; 1 2) in one block, W = 1, J = (1 0; 0 1): row 1 saturates and pushes through R.
    let dense = KktSystem::dense(&identity(2), &identity(2), &[0.0; 2]).unwrap();
    let [w, j] = [&dense.w, &dense.j].map(|a| a.pattern().clone());
    let mut r = pliant_sparse::PatternBuilder::new(2, 2);
    r.insert_block((0, 0), (2, 2), true);
    let mut s = KktSystem::new(w, j, r.finish().unwrap(), vec![0, 1, 2], vec![0, 2]).unwrap();
    s.w.values_mut().copy_from_slice(dense.w.values());
    s.j.values_mut().copy_from_slice(dense.j.values());
    s.r.values_mut().copy_from_slice(&[2.0, 1.0, 2.0]);
    // And the other way round.
    for (weak, other) in [(1, 0), (0, 1)] {
        (s.b[other], s.b[weak]) = (-1.0, -9.0);
        s.bounds.fill((-INF, INF));
        s.bounds[weak] = (-2.0, 2.0);
        let (found, report) = solve(&s);
        // w = 3 mu + mu_weak - 1 = 0 with mu_weak = 2.
        close(&[found.mu[other], found.mu[weak]], &[-1.0 / 3.0, 2.0], 1e-15);
        assert_eq!(report.status, Status::Converged);
        assert!(miss(&s, &found) < 1e-15 && velocities(&s, &found)[weak] < 0.0);
    }
}

#[test]
fn redundant_friction_shares_what_the_bounds_allow() {
    // Bounds 1 and 4: 1 each, then the weaker is at its bound, then both.
    let of = |push| mass(push, &[(0.0, (-1.0, 1.0)), (0.0, (-4.0, 4.0))]);
    for (push, x, mu) in [
        (1.5, 0.0, [-0.75, -0.75]),
        (3.0, 0.0, [-1.0, -2.0]),
        (6.0, 0.5, [-1.0, -4.0]),
    ] {
        for (found, report) in [solve(&of(push)), solve_by_descent(&of(push))] {
            assert_eq!(report.status, Status::Converged, "push = {push}: {report:?}");
            close(&found.x, &[x], 1e-15);
            close(&found.mu, &mu, 1e-15);
        }
    }
}

#[test]
fn motors_that_contradict_each_other_push_with_all_they_have() {
    // Speeds 1 and -1: the stronger wins.
    let (found, report) = solve(&mass(0.0, &[(-1.0, (-3.0, 3.0)), (1.0, (-5.0, 5.0))]));
    assert_eq!(report.status, Status::Converged, "{report:?}");
    close(&found.mu, &[3.0, -5.0], 1e-14);
    close(&found.x, &[-1.0], 1e-14);
    // Without bounds nothing gives way.
    let rows = [(-1.0, (-INF, INF)), (1.0, (-INF, INF)), (0.0, (-1.0, 1.0))];
    for (_, report) in [solve(&mass(0.0, &rows)), solve_by_descent(&mass(0.0, &rows))] {
        assert!(matches!(report.status, Status::Incompatible { .. }), "{report:?}");
    }
    // A stop that only pushes the other way is no help against a bilateral row.
    let (_, report) = solve(&mass(0.0, &[(-1.0, (-INF, INF)), (1.0, (-INF, 0.0))]));
    assert!(matches!(report.status, Status::Incompatible { .. }), "{report:?}");
}

#[test]
fn a_row_without_free_variables_goes_to_a_bound() {
    let mut s = mass(0.0, &[(2.0, (-1.0, 1.0))]);
    s.fixed[0] = true;
    let (found, report) = solve(&s);
    assert_eq!((report.status, found.mu[0]), (Status::Converged, -1.0));
    s.bounds[0] = (-INF, INF);
    assert!(matches!(solve(&s).1.status, Status::Incompatible { row: 0, .. }));
}

#[test]
fn held_rows_are_not_redundant_and_their_pivots_are_right_when_they_are_back() {
    // Three hard rows on two coordinates of one block, held at first: the order must be one for all
    // of them.
    let dense = KktSystem::dense(&[1.0, 0.0, 0.0, 1e6], &[1.0, 0.0, 1.0, -1.0, 1.0, 1.0], &[0.0; 3]).unwrap();
    let [w, j, r] = [&dense.w, &dense.j, &dense.r].map(|a| a.pattern().clone());
    let mut s = KktSystem::new(w, j, r, vec![0, 2], vec![0, 1, 2, 3]).unwrap();
    s.w.values_mut().copy_from_slice(dense.w.values());
    s.j.values_mut().copy_from_slice(dense.j.values());
    s.c.copy_from_slice(&[1.0, 1e6]);
    let mut solver = BoxSolver::default();
    let mut found = Solution::default();
    let inside = (-1e9, 1e9);
    for (bounds, redundant) in [
        ([(0.0, 0.0); 3], 0),
        ([inside, (0.0, 0.0), (0.0, 0.0)], 0),
        ([inside, inside, (0.0, 0.0)], 0),
        ([inside, inside, inside], 1),
        ([(0.0, 0.0), inside, inside], 0),
        ([inside, (0.0, 0.0), inside], 0),
        ([inside, inside, inside], 1),
    ] {
        s.bounds.copy_from_slice(&bounds);
        solver.prepare(&s).unwrap();
        let report = solver.solve(&s, &mut found).unwrap();
        assert_eq!(
            (report.status, report.redundant_rows, report.inertia),
            (Status::Converged, redundant, (2, 3 - redundant)),
            "{bounds:?}"
        );
        let (cold, _) = solve(&s);
        close(&found.x, &cold.x, 1e-12);
        close(&found.mu, &cold.mu, 1e-6);
    }
}

#[test]
fn a_warm_start_costs_one_factorisation_and_no_allocation() {
    let rows = [(-10.0, (-3.0, 3.0)), (0.0, (-1.0, 1.0)), (0.0, (-2.0, 2.0))];
    let mut s = mass(0.0, &rows);
    let mut solver = BoxSolver::default();
    let mut found = Solution::default();
    solver.prepare(&s).unwrap();
    let report = solver.solve(&s, &mut found).unwrap();
    assert!(report.bounds.factorisations > 0 && solver.active_set()[0] == Upper);
    let before = solver.counters();
    s.c[0] = 0.5;
    let allocated = allocation_counter::measure(|| {
        solver.prepare(&s).unwrap();
        let report = solver.solve(&s, &mut found).unwrap();
        assert_eq!((report.bounds.changes, report.bounds.factorisations), (0, 0));
    });
    assert_eq!(allocated.count_total, 0);
    let after = solver.counters();
    assert_eq!(
        (after.numeric - before.numeric, after.symbolic),
        (1, before.symbolic)
    );
    // Nor do rows that change sides and back.
    let allocated = |solver: &mut BoxSolver, s: &mut KktSystem, found: &mut Solution| {
        let counted = allocation_counter::measure(|| {
            for push in [-50.0, 50.0, 0.5] {
                s.c[0] = push;
                solver.prepare(s).unwrap();
                assert!(solver.solve(s, found).unwrap().bounds.changes > 0);
            }
        });
        counted.count_total
    };
    allocated(&mut solver, &mut s, &mut found);
    assert_eq!(allocated(&mut solver, &mut s, &mut found), 0);
}

#[test]
fn an_imposed_set_repeats_the_answer_bit_for_bit() {
    let u = [1.0, 0.3, -0.2, 0.1, 1.0, 0.7, 0.4, -0.6, 1.0];
    let mut s = lcp(&u, &[-1.0, 0.5, 0.3]);
    s.bounds[1] = (-0.1, 0.2);
    let mut first = BoxSolver::default();
    let mut a = Solution::default();
    first.prepare(&s).unwrap();
    first.solve(&s, &mut a).unwrap();
    let (order, set) = (first.elimination(), first.active_set().to_vec());
    assert!(set.contains(&Lower) && set.contains(&Free));
    for b in &mut s.b {
        *b *= 0.7;
    }
    first.prepare(&s).unwrap();
    let report = first.solve(&s, &mut a).unwrap();
    let mut second = BoxSolver::default();
    second.forget(order);
    second.impose_active_set(&set);
    let mut b = Solution::default();
    second.prepare(&s).unwrap();
    assert_eq!((second.solve(&s, &mut b).unwrap(), &b), (report, &a));
    assert_eq!((second.counters().symbolic, second.counters().numeric), (1, 1));
    // A set that the bounds do not allow, or of another size, is corrected.
    for wrong in [vec![Upper; 3], vec![Upper; 7]] {
        second.impose_active_set(&wrong);
        second.prepare(&s).unwrap();
        assert_eq!(second.solve(&s, &mut b).unwrap().status, Status::Converged);
        close(&b.mu, &a.mu, 1e-13);
    }
}

#[test]
fn without_bounds_it_is_the_direct_solver() {
    let mut s = KktSystem::dense(&[1.0, 0.3, 0.3, 2.0], &[1.0, 1.0, 1.0, 1.0], &[0.0; 2]).unwrap();
    s.c.copy_from_slice(&[0.1, 0.7]);
    s.b.fill(-0.3);
    let (mut a, mut b) = (Solution::default(), Solution::default());
    let mut direct = DirectSolver::default();
    let mut boxed = BoxSolver::default();
    direct.prepare(&s).unwrap();
    boxed.prepare(&s).unwrap();
    let reports = (
        direct.solve(&s, &mut a).unwrap(),
        boxed.solve(&s, &mut b).unwrap(),
    );
    assert_eq!((reports.0, &a), (reports.1, &b));
    assert!(boxed.active_set().is_empty() && boxed.counters() == direct.counters());
    assert_eq!(reports.1.bounds.natural, reports.1.residual.row);
    // Bounds that come and go between two solves.
    s.bounds[0] = (0.0, 0.0);
    boxed.prepare(&s).unwrap();
    boxed.solve(&s, &mut b).unwrap();
    assert_eq!((boxed.active_set(), b.mu[0]), (&[Both, Free][..], 0.0));
    s.bounds[0] = (-INF, INF);
    let report = boxed.solve(&s, &mut b).unwrap();
    close(&b.mu, &a.mu, 1e-15);
    assert!(boxed.active_set().is_empty() && report.status == Status::Converged);
}

#[test]
fn bad_bounds_are_named_and_bilateral_solvers_refuse_bounds() {
    let mut s = KktSystem::dense(&[1.0], &[1.0, 1.0], &[1.0, 1.0]).unwrap();
    for bad in [
        (f64::NAN, 1.0),
        (0.0, f64::NAN),
        (1.0, 0.0),
        (INF, INF),
        (-INF, -INF),
    ] {
        s.bounds[1] = bad;
        let found = BoxSolver::default().prepare(&s);
        assert!(matches!(found, Err(SolveError::Bounds { row: 1, .. })), "{bad:?}");
        assert!(matches!(
            DirectSolver::default().prepare(&s),
            Err(SolveError::Bounds { .. })
        ));
    }
    s.bounds[1] = (0.0, INF);
    let refused = SolveError::Bounded { row: 1 };
    assert_eq!(DirectSolver::default().prepare(&s), Err(refused.clone()));
    assert_eq!(solve_dense(&s).unwrap_err(), refused);
    assert_eq!(solve_dense_ldlt(&s).unwrap_err(), refused);
    let mut solver = BoxSolver::default();
    let solved = |solver: &mut BoxSolver, s: &KktSystem| solver.solve(s, &mut Solution::default());
    assert_eq!(solved(&mut solver, &s), Err(SolveError::NotPrepared));
    solver.prepare(&s).unwrap();
    s.bounds.pop();
    assert!(matches!(
        solved(&mut solver, &s),
        Err(SolveError::Size { what: "bounds", .. })
    ));
    assert_eq!(solved(&mut solver, &s), Err(SolveError::NotPrepared));
}

#[test]
fn what_is_indefinite_without_a_row_is_an_error_not_a_loop() {
    // x0 is unstable unless the row holds it; the row gives way at 1.
    let mut s = KktSystem::dense(&[-1.0, 0.0, 0.0, 1.0], &[1.0, 0.0], &[0.0]).unwrap();
    s.bounds[0] = (-1.0, 1.0);
    let mut solver = BoxSolver::default();
    let mut found = Solution::default();
    s.c.copy_from_slice(&[0.5, 0.0]);
    solver.prepare(&s).unwrap();
    assert_eq!(solver.solve(&s, &mut found).unwrap().status, Status::Converged);
    s.c[0] = 5.0;
    let error = solver.solve(&s, &mut found).unwrap_err();
    assert!(matches!(error, SolveError::NotPositiveDefinite { dof: 0, .. }));
    // It goes on from where it was before; a set that is indefinite is not insisted on.
    assert_eq!(solver.active_set(), [Free]);
    s.c[0] = 0.5;
    for set in [Free, Upper] {
        solver.impose_active_set(&[set]);
        solver.prepare(&s).unwrap();
        assert_eq!(solver.solve(&s, &mut found).unwrap().status, Status::Converged);
        close(&found.mu, &[-0.5], 1e-15);
    }
}

#[test]
fn a_set_that_may_not_change_is_reported() {
    let options = BoxOptions {
        max_changes: 0,
        ..BoxOptions::default()
    };
    // The row is 17 N s beyond its bound, at 1/2 per kg.
    let (_, report) = crate::tools::solve_with(options, &mass(0.0, &[(-10.0, (-3.0, 3.0))]));
    assert_eq!(
        report.status,
        Status::Unsettled {
            row: 0,
            residual: 8.5
        }
    );
    assert_eq!((report.bounds.natural, report.bounds.factorisations), (8.5, 0));
}
