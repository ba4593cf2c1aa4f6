//! Stationary points of known inertia.

use pliant_solvers::{Kind, KktSystem, Solution, StationarySolver, Variable};

const N: usize = 6;

/// An orthogonal basis: the reflection at a plane.
fn basis() -> [[f64; N]; N] {
    let normal = [1.0, -2.0, 0.5, 3.0, 1.5, -1.0];
    let square: f64 = normal.iter().map(|n| n * n).sum();
    std::array::from_fn(|i| {
        std::array::from_fn(|k| f64::from(u8::from(i == k)) - 2.0 * normal[i] * normal[k] / square)
    })
}

/// Eigenvalues 3, -2, 0, 5, -1, 0 along the basis; a hard row along the first direction, twice, and
/// a soft one of stiffness 5 along the second.
fn system() -> KktSystem {
    let (q, values) = (basis(), [3.0, -2.0, 0.0, 5.0, -1.0, 0.0]);
    let mut w = vec![0.0; N * N];
    for i in 0..N {
        for k in 0..N {
            w[i * N + k] = (0..N).map(|e| q[e][i] * values[e] * q[e][k]).sum();
        }
    }
    let j: Vec<f64> = [0, 0, 1].iter().flat_map(|e| q[*e]).collect();
    KktSystem::dense(&w, &j, &[0.0, 0.0, 0.2]).unwrap()
}

#[test]
fn a_stationary_point_is_told_by_its_eigenvalues() {
    let (system, q) = (system(), basis());
    let mut solver = StationarySolver::default();
    let kind = solver.prepare(&system).unwrap();
    // -1 is left of the negative ones, since -2 + 5 is not; both zeros; one row too many.
    let exact = Kind {
        negative: 1,
        zero: 2,
        redundant: 1,
    };
    assert_eq!((kind, solver.kind(), kind.unheld()), (exact, exact, 3));
    assert!(solver.unpivoted(&system).is_some());

    // A force along the directions that resist: the soft row gives way by 1/3, the hard ones do
    // not, the saddle goes against the force.
    let c: Vec<f64> = (0..N)
        .map(|i| q[0][i] + q[1][i] + 2.0 * q[3][i] + q[4][i])
        .collect();
    let mut found = Solution::default();
    let missed = solver.solve(&system, &c, &[0.0; 3], &mut found).unwrap();
    assert!(missed < 1e-14, "{missed:e}");
    let along = |e: usize| (0..N).map(|i| q[e][i] * found.x[i]).sum::<f64>();
    for (e, exact) in [(0, 0.0), (1, 1.0 / 3.0), (3, 0.4), (4, -1.0)] {
        assert!((along(e) - exact).abs() < 1e-14, "{e}: {}", along(e));
    }
    // The force of the hard rows together, and that of the spring.
    assert!((found.mu[0] + found.mu[1] + 1.0).abs() < 1e-14);
    assert!((found.mu[2] + 5.0 / 3.0).abs() < 1e-14);

    // One where nothing resists has no solution, and the residual says so.
    let missed = solver.solve(&system, &q[2], &[0.0; 3], &mut found).unwrap();
    assert!(missed > 1e-3, "{missed:e}");
    // Contradicting rows alike.
    let missed = solver
        .solve(&system, &[0.0; N], &[1.0, -1.0, 0.0], &mut found)
        .unwrap();
    assert!(missed > 1e-3, "{missed:e}");
}

#[test]
fn fixed_variables_and_wrong_systems() {
    let mut system = system();
    let mut solver = StationarySolver::default();
    let mut found = Solution::default();
    assert!(solver.solve(&system, &[0.0; N], &[0.0; 3], &mut found).is_err());
    assert_eq!(solver.unpivoted(&system), None);
    // All fixed but one: what is left is its diagonal, and no row is independent of it twice.
    system.fixed = vec![true, true, true, true, true, false];
    let kind = solver.prepare(&system).unwrap();
    assert_eq!(
        kind,
        Kind {
            negative: 0,
            zero: 0,
            redundant: 1
        }
    );
    let missed = solver.solve(&system, &[1.0; N], &[0.0; 3], &mut found).unwrap();
    assert!(missed < 1e-14 && found.x.iter().all(|x| x.abs() < 1e-14));
    system.w.values_mut()[N * (N + 1) / 2 - 1] = f64::NAN;
    let error = solver.prepare(&system).unwrap_err();
    assert!(
        matches!(
            error,
            pliant_solvers::SolveError::NotFinite {
                variable: Variable::Dof(5)
            }
        ),
        "{error}"
    );
}
