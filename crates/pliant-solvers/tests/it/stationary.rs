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

/// A chain of springs between neighbours, with what holds its first mass.
fn chain(count: usize, stiffness: impl Fn(usize) -> f64, hold: f64) -> KktSystem {
    let mut w = vec![0.0; count * count];
    w[0] = hold;
    for i in 1..count {
        let k = stiffness(i);
        for (a, b, value) in [(i, i, k), (i - 1, i - 1, k), (i, i - 1, -k), (i - 1, i, -k)] {
            w[a * count + b] += value;
        }
    }
    KktSystem::dense(&w, &[], &[]).unwrap()
}

fn kind(negative: usize, zero: usize, redundant: usize) -> Kind {
    Kind {
        negative,
        zero,
        redundant,
    }
}

#[test]
fn pivots_are_chosen_only_where_their_signs_are_in_doubt() {
    let mut solver = StationarySolver::default();
    // Held: definite. The last share is 1/(2 n), far from rounding.
    let held = chain(200, |_| 3.0, 1.0);
    assert_eq!(solver.prepare(&held).unwrap(), kind(0, 0, 0));
    assert!(!solver.chose_pivots());
    // Free: the last pivot is what rounding leaves of zero, of either sign.
    for seed in 1..20 {
        let free = chain(200, |i| 1.0 + ((seed * i * i) % 17) as f64 / 7.0, 0.0);
        assert_eq!(solver.prepare(&free).unwrap(), kind(0, 1, 0));
        assert!(solver.chose_pivots());
    }
    // Pushed more than it is held: one negative eigenvalue, well away from zero.
    let pushed = chain(200, |_| 3.0, -1.0);
    assert_eq!(solver.prepare(&pushed).unwrap(), kind(1, 0, 0));
    // Held by next to nothing: definite, but no factor can say so.
    let hardly = chain(200, |_| 3.0, 1e-16);
    assert_eq!(solver.prepare(&hardly).unwrap(), kind(0, 1, 0));
}

#[test]
fn what_stiff_rows_swallow_is_not_taken_for_held() {
    // Two masses that nothing holds but a stiff spring between them: its row lets the diagonal
    // grow to 1e12, and what is left of it behind is rounding.
    for soft in [1e-8, 1e-12, 1e-14] {
        let w = [1e-3, -1e-3, -1e-3, 1e-3];
        let system = KktSystem::dense(&w, &[1.0, -1.0], &[soft]).unwrap();
        let mut solver = StationarySolver::default();
        assert_eq!(solver.prepare(&system).unwrap(), kind(0, 1, 0), "{soft:e}");
    }
}

#[test]
fn the_inertia_of_drawn_systems_is_that_they_are_made_of() {
    let mut seed = 7u64;
    let mut draw = || pliant_solvers::eigen::pseudo_random(&mut seed);
    let mut chosen = 0;
    let mut solver = StationarySolver::default();
    for _ in 0..200 {
        let n = 3 + (8.0 * draw().abs()) as usize;
        let signs: Vec<f64> = (0..n).map(|_| draw() + 0.6).collect();
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            l[i * n + i] = 1.0;
            (0..i).for_each(|k| l[i * n + k] = draw());
        }
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..n {
                w[i * n + k] = (0..n).map(|e| l[i * n + e] * signs[e] * l[k * n + e]).sum();
            }
        }
        // With y = L^T x the form is sum D_i y_i^2, and the hard row J = e_0^T L^T says y_0 = 0.
        let j: Vec<f64> = (0..n).map(|i| l[i * n]).collect();
        let system = KktSystem::dense(&w, &j, &[0.0]).unwrap();
        let negative = signs[1..].iter().filter(|s| **s < 0.0).count();
        assert_eq!(
            solver.prepare(&system).unwrap(),
            kind(negative, 0, 0),
            "{signs:?}"
        );
        chosen += usize::from(solver.chose_pivots());
        let c: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mut found = Solution::default();
        let missed = solver.solve(&system, &c, &[0.0], &mut found).unwrap();
        assert!(missed < 1e-13, "{missed:e}");
    }
    assert!(chosen < 50, "{chosen} of 200");
}

#[test]
fn a_pivot_that_lets_the_rest_grow_is_not_trusted() {
    // In the order given, the second pivot is e, and the third 1 - 1/e: of the determinant
    // e (1 - 1/e) = e - 1 and the trace 3 + e, one eigenvalue is negative. The fourth is what is
    // left of zero.
    for e in [1e-4, 1e-9, 1e-13, 0.0] {
        let w = [
            [1.0, 1.0, 0.0, 0.0],
            [1.0, 1.0 + e, 1.0, 1.0],
            [0.0, 1.0, 1.0, 1.0],
            [0.0, 1.0, 1.0, 1.0],
        ];
        let system = KktSystem::dense(&w.concat(), &[], &[]).unwrap();
        let mut solver = StationarySolver::default();
        assert_eq!(solver.prepare(&system).unwrap(), kind(1, 1, 0), "{e:e}");
    }
}
