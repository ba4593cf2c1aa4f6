//! Solvers that stop when their operations are spent.

use pliant_solvers::complementarity::{Cone, Limits, Method, Outcome, Problem};

/// Twelve contacts with friction that push each other to and fro, so that no method is done at
/// once; without friction, as many rows.
fn problem(friction: bool) -> Problem {
    let d = if friction { 3 } else { 1 };
    let m = 12 * d;
    let mut a = vec![0.0; m * m];
    for i in 0..m {
        a[i * m + i] = 2.1;
        if i + d < m {
            a[i * m + i + d] = -1.0;
            a[(i + d) * m + i] = -1.0;
        }
    }
    let push = |i: usize| {
        if i.is_multiple_of(d) {
            -1.0
        } else {
            0.4 * (i as f64).sin()
        }
    };
    let b: Vec<f64> = (0..m).map(push).collect();
    let cone = match friction {
        true => Cone::Coulomb { mu: 0.3 },
        false => Cone::NonNegative,
    };
    Problem::dense(&a, &b, &[cone; 12]).unwrap()
}

#[test]
fn every_method_stops_when_its_operations_are_spent() {
    use Method::*;
    let all = [
        (GaussSeidel, true),
        (Jacobi, true),
        (NonlinearCg, true),
        (ModulusSplitting, true),
        (AcceleratedGradient, true),
        (BarzilaiBorwein, true),
        (Admm, true),
        (Newton, true),
        (ProximalNewton, true),
        (InteriorPoint, true),
        (CentralPath, true),
        (Lemke, false),
        (BlockPivoting, false),
        (Auto, true),
    ];
    for (method, friction) in all {
        let problem = problem(friction);
        let solve = |limits| {
            let mut r = vec![0.0; problem.size()];
            method.solver(limits).unwrap().solve(&problem, &mut r).unwrap()
        };
        let limits = Limits {
            max_iterations: 100_000,
            patience: 100_000,
            ..Limits::default()
        };
        let free = solve(limits);
        assert_eq!(free.outcome, Outcome::Converged, "{method:?}");
        let product = 2 * (problem.size() * problem.size()) as u64;
        assert!(free.work > 2 * product, "{method:?}: {}", free.work);
        // The same to the bit with as many as it takes.
        let enough = solve(Limits {
            work: free.work,
            ..limits
        });
        assert_eq!(enough, free, "{method:?}");
        let half = solve(Limits {
            work: free.work / 2,
            ..limits
        });
        // Not even a look at the start.
        let none = solve(Limits { work: 1, ..limits });
        assert_eq!(none.outcome, Outcome::TooMuchWork, "{method:?}: {none:?}");
        assert_eq!(half.outcome, Outcome::TooMuchWork, "{method:?}: {half:?}");
        assert!(
            half.work <= free.work,
            "{method:?}: {} of {}",
            half.work,
            free.work
        );
    }
}
