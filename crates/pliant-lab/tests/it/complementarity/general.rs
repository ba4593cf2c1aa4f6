//! Degenerate problems, what is refused, and what is promised of every solver.

use super::scenes::wall;
use super::{UNILATERAL, lcp, limits, solve, solvers, takes_friction};
use crate::tools::INF;
use pliant_solvers::complementarity::*;

#[test]
fn what_makes_no_sense_is_refused() {
    let one = [1.0];
    let size = |e| matches!(e, Err(ProblemError::Size { .. }));
    assert!(size(Problem::dense(&[1.0, 2.0], &one, &[UNILATERAL])));
    assert!(size(Problem::dense(&one, &[1.0, 2.0], &[UNILATERAL])));
    assert!(size(Problem::dense(&one, &one, &[Cone::Coulomb { mu: 0.1 }])));
    for mu in [-0.1, f64::NAN, INF] {
        let contact = Problem::dense(&[0.0; 9], &[0.0; 3], &[Cone::Coulomb { mu }]);
        assert!(matches!(contact, Err(ProblemError::Friction { block: 0, .. })));
    }
    for (lower, upper) in [(1.0, 0.0), (f64::NAN, 1.0), (INF, INF)] {
        let row = Problem::dense(&one, &one, &[Cone::Box { lower, upper }]);
        assert!(matches!(row, Err(ProblemError::Bounds { block: 0, .. })));
    }
    for bad in [f64::NAN, INF] {
        let a = Problem::dense(&[bad], &one, &[UNILATERAL]);
        assert_eq!(a.err(), Some(ProblemError::NotFinite { what: "A", row: 0 }));
        let b = Problem::dense(&one, &[bad], &[UNILATERAL]);
        assert_eq!(b.err(), Some(ProblemError::NotFinite { what: "b", row: 0 }));
        let mut problem = lcp(&one, &one);
        assert!(problem.set_b(&[bad]).is_err() && problem.set_b(&[]).is_err());
        for mut solver in solvers(1e-9) {
            let start = solver.solve(&problem, &mut [bad]);
            assert_eq!(start, Err(ProblemError::NotFinite { what: "r", row: 0 }));
            assert!(matches!(
                solver.solve(&problem, &mut []),
                Err(ProblemError::Size { .. })
            ));
        }
    }
    assert!(BlockSparse::new(&[1], &[(0, 1, vec![1.0])]).is_err());
    assert!(BlockSparse::new(&[2], &[(0, 0, vec![1.0])]).is_err());
}

#[test]
fn options_out_of_range_are_refused() {
    let problem = lcp(&[1.0], &[-1.0]);
    let refused = |solver: &mut dyn Solver| {
        let found = solver.solve(&problem, &mut [0.0]);
        assert!(matches!(found, Err(ProblemError::Option { .. })), "{found:?}");
    };
    for relaxation in [0.0, 2.0, f64::NAN] {
        refused(&mut GaussSeidel::new(GaussSeidelOptions {
            relaxation,
            ..GaussSeidelOptions::default()
        }));
    }
    for mut solver in solvers(f64::NAN) {
        refused(solver.as_mut());
    }
    refused(&mut Lemke::new(LemkeOptions {
        facets: 2,
        ..LemkeOptions::default()
    }));
    for (depth, shift) in [(21, 1.0), (5, 0.0), (5, f64::NAN), (5, INF)] {
        refused(&mut ModulusSplitting::new(ModulusSplittingOptions {
            depth,
            shift,
            ..ModulusSplittingOptions::default()
        }));
    }
    refused(&mut Admm::new(AdmmOptions {
        penalty: 0.0,
        ..AdmmOptions::default()
    }));
}

#[test]
fn friction_is_refused_by_those_who_do_not_know_it() {
    let problem = wall(1, 1, 0.0, 0.5);
    for mut solver in solvers(1e-9) {
        let found = solver.solve(&problem, &mut [0.0; 12]);
        let refused = matches!(found, Err(ProblemError::Unsuitable { block: 0, .. }));
        assert_ne!(refused, takes_friction(solver.method()));
    }
}

/// The tolerance cannot be reached, and `Auto` goes on until its work is done: the answer is the
/// best one so far, and its report is true.
#[test]
fn the_work_of_auto_is_bounded() {
    let problem = wall(2, 2, 0.3, 0.5);
    let run = |work| {
        let limits = limits(0.0, 50);
        let options = AutoOptions {
            limits,
            work,
            ..AutoOptions::default()
        };
        solve(&mut Auto::new(options), &problem).1
    };
    // Enough for the first two stages, so that a third is begun.
    let two: usize = run(usize::MAX).stages[..2].iter().map(|s| s.iterations).sum();
    let stages = [1, two * problem.size() + 1, usize::MAX].map(|work| {
        let report = run(work);
        assert_ne!(report.outcome, Outcome::Converged);
        let done: usize = report.stages[..report.stages.len() - 1]
            .iter()
            .map(|s| s.iterations)
            .sum();
        assert!(done * problem.size() < work, "{report:?}");
        report.stages.len()
    });
    assert!(stages[..2] == [1, 3] && stages[2] > 3, "{stages:?}");
}

#[test]
fn no_rows_one_row_no_inertia() {
    let contact = Cone::Coulomb { mu: 0.5 };
    for mut solver in solvers(1e-12) {
        let (r, report) = solve(solver.as_mut(), &lcp(&[], &[]));
        assert_eq!((r.len(), report.outcome), (0, Outcome::Converged));
        for (b, expected) in [(-3.0, 1.5), (3.0, 0.0), (0.0, 0.0)] {
            let (r, report) = solve(solver.as_mut(), &lcp(&[2.0], &[b]));
            assert_eq!(report.outcome, Outcome::Converged);
            assert!((r[0] - expected).abs() < 1e-11);
        }
        // Without inertia: fine if nothing is to be done, else hopeless.
        for (b, hopeless) in [(1.0, false), (0.0, false), (-1.0, true)] {
            let (_, report) = solve(solver.as_mut(), &lcp(&[0.0], &[b]));
            assert_eq!(report.outcome != Outcome::Converged, hopeless, "{report:?}");
            let (_, report) = solve(solver.as_mut(), &lcp(&[0.0, 0.0, 0.0, 2.0], &[b, -1.0]));
            assert_eq!(report.outcome != Outcome::Converged, hopeless, "{report:?}");
            if takes_friction(solver.method()) {
                let problem = Problem::dense(&[0.0; 9], &[b.abs(), 0.3, 0.0], &[contact]).unwrap();
                let (_, report) = solve(solver.as_mut(), &problem);
                assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
                let problem = Problem::dense(&[0.0; 9], &[-1.0, 0.3, 0.0], &[contact]).unwrap();
                let (_, report) = solve(solver.as_mut(), &problem);
                assert_ne!(report.outcome, Outcome::Converged, "{report:?}");
            }
        }
    }
}

/// An operator whose products turn bad after a while.
#[derive(Debug)]
struct Rotten(std::sync::atomic::AtomicUsize);

impl Delassus for Rotten {
    fn size(&self) -> usize {
        3
    }

    fn rows_times(&self, rows: std::ops::Range<usize>, r: &[f64], out: &mut [f64]) {
        let calls = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        for (o, i) in out.iter_mut().zip(rows) {
            *o = if calls > 3 { f64::NAN } else { 2.0 * r[i] };
        }
    }

    fn block(&self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, out: &mut [f64]) {
        let width = columns.len();
        for (k, i) in rows.enumerate() {
            for (l, j) in columns.clone().enumerate() {
                out[k * width + l] = if i == j { 2.0 } else { 0.5 };
            }
        }
    }
}

#[test]
fn not_a_number_never_converges_and_never_gets_out() {
    for mut solver in solvers(0.0) {
        let problem = Problem::new(Rotten(0.into()), vec![-1.0; 3], vec![UNILATERAL; 3]).unwrap();
        let mut r = [0.0; 3];
        let report = solver.solve(&problem, &mut r).unwrap();
        assert_ne!(report.outcome, Outcome::Converged, "{report:?}");
        assert!(r.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn history_is_kept_on_request() {
    let problem = lcp(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0]);
    let mut solver = NonlinearCg::new(Limits {
        history: true,
        ..limits(1e-12, 100)
    });
    let (_, report) = solve(&mut solver, &problem);
    assert_eq!(report.history.len(), report.iterations + 1);
    assert!(report.history[report.iterations] <= 1e-12 && report.history[0] > 0.1);
    let (_, report) = solve(&mut NonlinearCg::default(), &problem);
    assert!(report.history.is_empty());
}

#[test]
fn the_same_again_is_the_same_bit_for_bit_and_allocates_nothing() {
    let problem = wall(2, 2, 0.3, 0.5);
    for mut solver in solvers(1e-7) {
        if !takes_friction(solver.method()) {
            continue;
        }
        let (first, report) = solve(solver.as_mut(), &problem);
        let mut r = vec![0.0; problem.size()];
        let mut again = None;
        let info = allocation_counter::measure(|| again = solver.solve(&problem, &mut r).ok());
        assert_eq!((first, Some(&report)), (r, again.as_ref()));
        let lean = matches!(
            report.method,
            Method::GaussSeidel
                | Method::Jacobi
                | Method::NonlinearCg
                | Method::ModulusSplitting
                | Method::AcceleratedGradient
                | Method::BarzilaiBorwein
                | Method::Admm
                | Method::InteriorPoint
                | Method::CentralPath
                | Method::Lemke
        );
        // Auto reports the method that it ended with, and allocates its list of stages.
        if lean && report.stages.is_empty() {
            assert_eq!(info.count_total, 0, "{:?}", report.method);
        }
    }
}
