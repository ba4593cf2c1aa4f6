//! Problems without friction with known answers.

use super::{UNILATERAL, lcp, limits, near, solve, solvers};
use crate::tools::INF;
use pliant_lab::{ActiveSetQp, Dantzig, Murty};
use pliant_solvers::complementarity::*;

const TWO: [f64; 4] = [2.0, 1.0, 1.0, 2.0];

#[test]
fn all_solvers_find_the_two_row_answer() {
    let problem = lcp(&TWO, &[-5.0, -6.0]);
    for mut solver in solvers(1e-12) {
        let (r, report) = solve(solver.as_mut(), &problem);
        assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
        near(&r, &[4.0 / 3.0, 7.0 / 3.0], 1e-11);
    }
}

#[test]
fn sweeps_give_the_iterates_computed_by_hand() {
    let problem = lcp(&TWO, &[-5.0, -6.0]);
    let iterates = [[2.5, 1.75], [1.625, 2.1875], [1.40625, 2.296875]];
    for (k, expected) in iterates.iter().enumerate() {
        let mut solver = GaussSeidel::new(GaussSeidelOptions {
            limits: limits(0.0, k + 1),
            ..GaussSeidelOptions::default()
        });
        let (r, report) = solve(&mut solver, &problem);
        assert_eq!(report.outcome, Outcome::MaxIterations);
        assert_eq!(&r, expected);
    }
}

#[test]
fn any_of_three_solutions_will_do() {
    // (1, 0), (0, 1) and (1/3, 1/3); not semidefinite, so only these are asked.
    let problem = lcp(&[1.0, 2.0, 2.0, 1.0], &[-1.0, -1.0]);
    let mut pivoting: Vec<Box<dyn Solver>> = vec![
        Box::new(Lemke::default()),
        Box::new(BlockPivoting::default()),
        Box::new(Murty::default()),
        Box::new(GaussSeidel::default()),
        Box::new(Newton::default()),
        Box::new(Auto::default()),
    ];
    for solver in &mut pivoting {
        let (r, report) = solve(solver.as_mut(), &problem);
        assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
        let known = [[1.0, 0.0], [0.0, 1.0], [1.0 / 3.0, 1.0 / 3.0]];
        let off = |k: &[f64; 2]| (r[0] - k[0]).abs().max((r[1] - k[1]).abs());
        assert!(known.iter().any(|k| off(k) < 1e-12), "{r:?}");
    }
}

#[test]
fn no_solver_claims_to_have_solved_the_infeasible() {
    // u1 = r1 - r2 - 1 and u2 = r2 - r1 - 1 cannot both be positive.
    let problem = lcp(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0]);
    for mut solver in solvers(1e-9) {
        let (_, report) = solve(solver.as_mut(), &problem);
        assert_ne!(report.outcome, Outcome::Converged, "{report:?}");
        if matches!(report.method, Method::Lemke | Method::Other("dantzig")) {
            assert_eq!(report.outcome, Outcome::Ray, "{report:?}");
        }
    }
    let (_, report) = solve(&mut Auto::default(), &problem);
    assert_eq!(report.outcome, Outcome::Ray);
    assert!(report.stages.len() > 3);
}

#[test]
fn a_ray_is_no_proof_for_a_general_matrix() {
    let problem = lcp(&[-2.0, -2.0, 2.0, -2.0], &[2.0, -1.0]);
    let (_, report) = solve(&mut Lemke::default(), &problem);
    assert_eq!(report.outcome, Outcome::Ray);
    let mut u = [0.0; 2];
    for r in [[1.0, 0.0], [0.75, 0.25]] {
        assert!(problem.residual(&r, &mut u).measure() < 1e-15, "{r:?}");
        // Every solver stays where it is.
        let mut kept = r;
        let report = Lemke::default().solve(&problem, &mut kept).unwrap();
        assert_eq!(
            (report.outcome, report.iterations, kept),
            (Outcome::Converged, 0, r)
        );
    }
}

/// `u_ii = 1`, `u_ij = 2` above.
fn upper(n: usize) -> Vec<f64> {
    let entry = |k: usize| match (k / n).cmp(&(k % n)) {
        std::cmp::Ordering::Less => 2.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => 0.0,
    };
    (0..n * n).map(entry).collect()
}

fn gram(u: &[f64], n: usize) -> Vec<f64> {
    let entry = |i: usize, k: usize| (0..n).map(|l| u[i * n + l] * u[k * n + l]).sum();
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

#[test]
fn least_index_pivoting_takes_all_the_pivots_of_the_worst_case() {
    for n in [2, 5, 8, 10] {
        let u = upper(n);
        for a in [u.clone(), gram(&u, n)] {
            let problem = lcp(&a, &vec![-1.0; n]);
            let mut expected = vec![0.0; n];
            expected[n - 1] = 1.0;
            let (r, report) = solve(&mut Murty::default(), &problem);
            assert_eq!(
                (report.outcome, report.iterations),
                (Outcome::Converged, (1 << n) - 1)
            );
            near(&r, &expected, 1e-9);
        }
        let problem = lcp(&gram(&u, n), &vec![-1.0; n]);
        let mut expected = vec![0.0; n];
        expected[n - 1] = 1.0;
        let mut others: Vec<Box<dyn Solver>> = vec![
            Box::new(Lemke::default()),
            Box::new(BlockPivoting::default()),
            Box::new(Dantzig::default()),
            Box::new(Newton::default()),
            Box::new(Auto::default()),
        ];
        for solver in &mut others {
            let (r, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged, "{n} {report:?}");
            near(&r, &expected, 1e-6);
        }
    }
}

#[test]
fn the_natural_map_is_the_smaller_of_the_two() {
    let (z, w) = ([0.5, 0.0, 0.2, -0.1], [0.0, 0.3, 0.1, 0.4]);
    let map: Vec<f64> = z.iter().zip(w).map(|(z, w)| natural_map(1.0, *z, w)).collect();
    assert_eq!(map, [0.0, 0.0, 0.1, -0.1]);
    let identity = crate::tools::identity(4);
    let b: Vec<f64> = w.iter().zip(z).map(|(w, z)| w - z).collect();
    let residual = lcp(&identity, &b).residual(&z, &mut [0.0; 4]);
    assert!((residual.natural - 0.1).abs() < 1e-15);
    assert_eq!((residual.negative_impulse, residual.approach), (0.1, 0.0));
    assert!((residual.complementarity - 0.04).abs() < 1e-15, "{residual:?}");
}

#[test]
fn sweeps_on_a_chain_converge_by_the_known_factor() {
    // Twenty equal masses on a string, the first one tied to the ground: cos^2(pi/40) per sweep.
    let n = 20;
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        a[i * n + i] = if i == 0 { 1.0 } else { 2.0 };
        if i > 0 {
            a[i * n + i - 1] = -1.0;
            a[(i - 1) * n + i] = -1.0;
        }
    }
    for cone in [Cone::Free, UNILATERAL] {
        let problem = Problem::dense(&a, &vec![-1.0; n], &vec![cone; n]).unwrap();
        let mut solver = GaussSeidel::new(GaussSeidelOptions {
            limits: Limits {
                history: true,
                ..limits(0.0, 600)
            },
            check_every: 1,
            ..GaussSeidelOptions::default()
        });
        let (_, report) = solve(&mut solver, &problem);
        let [.., before, last] = report.history[..] else {
            panic!("no history")
        };
        let factor = last / before;
        assert!((factor - 0.993_844_170_297_57).abs() < 1e-6, "{factor}");
    }
}

#[test]
fn bounded_and_free_rows() {
    // u = r + b row by row: between, at the lower bound, at the upper one; free; fixed.
    let cones = [
        Cone::Box {
            lower: -1.0,
            upper: 2.0,
        },
        Cone::Box {
            lower: -1.0,
            upper: 2.0,
        },
        Cone::Box {
            lower: -1.0,
            upper: 2.0,
        },
        Cone::Free,
        Cone::Box {
            lower: 0.5,
            upper: 0.5,
        },
        Cone::Box {
            lower: -INF,
            upper: -1.0,
        },
    ];
    let problem = Problem::dense(
        &crate::tools::identity(6),
        &[-0.5, 3.0, -3.0, 7.0, 4.0, -3.0],
        &cones,
    )
    .unwrap();
    for mut solver in solvers(1e-12) {
        let (r, report) = solve(solver.as_mut(), &problem);
        assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
        near(&r, &[0.5, -1.0, 2.0, -7.0, 0.5, -1.0], 1e-11);
    }
}

/// `A = [1 -1; -1 1]`: along (1, 1) the objective falls for ever if `b` points there, and has its
/// minimum at (1, 0) otherwise.
#[test]
fn the_active_set_tells_a_ray_from_a_minimum() {
    let a = [1.0, -1.0, -1.0, 1.0];
    let ends = |b: [f64; 2], cone: Cone| {
        let problem = Problem::dense(&a, &b, &[cone; 2]).unwrap();
        let mut r = [0.0; 2];
        (ActiveSetQp::default().solve(&problem, &mut r).unwrap().outcome, r)
    };
    assert_eq!(ends([-1.0, -1.0], Cone::NonNegative).0, Outcome::Ray);
    assert_eq!(
        ends([-1.0, 2.0], Cone::NonNegative),
        (Outcome::Converged, [1.0, 0.0])
    );
}
