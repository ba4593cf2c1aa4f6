//! Random problems: answers that were chosen first, and properties.

use super::{UNILATERAL, lcp, near, solve, solvers, takes_friction};
use crate::tools::{INF, Random, definite};
use pliant_lab::{ActiveSetQp, Condensed, Dantzig, Murty};
use pliant_solvers::complementarity::*;
use std::f64::consts::PI;

fn times(a: &[f64], r: &[f64]) -> Vec<f64> {
    let m = r.len();
    (0..m)
        .map(|i| (0..m).map(|k| a[i * m + k] * r[k]).sum())
        .collect()
}

/// An impulse and the velocity that the law wants with it.
pub(super) fn pair(random: &mut Random, cone: &Cone) -> (Vec<f64>, Vec<f64>) {
    let size = random.number().abs() + 0.1;
    let kind = random.below(3);
    match *cone {
        Cone::Free => (vec![random.number()], vec![0.0]),
        Cone::NonNegative if kind == 0 => (vec![0.0], vec![size]),
        Cone::NonNegative => (vec![size], vec![0.0]),
        Cone::Box { lower, upper } => match kind {
            0 => (vec![lower], vec![size]),
            1 => (vec![upper], vec![-size]),
            _ => (vec![0.5 * (lower + upper)], vec![0.0]),
        },
        Cone::PlanarCoulomb { mu } => match kind {
            0 => (vec![0.0, 0.0], vec![size, random.number()]),
            1 => (vec![size, -mu * size], vec![0.0, 0.3]),
            _ => (vec![size, 0.7 * mu * size], vec![0.0, 0.0]),
        },
        Cone::Rolling { mu, torsion, rolling } => {
            if kind == 0 {
                let free = (0..5).map(|_| random.number());
                return (
                    vec![0.0; 6],
                    // Away from the contact, whatever the others do.
                    std::iter::once(size).chain(free).collect(),
                );
            }
            let (mut r, mut u) = (vec![size], vec![0.0]);
            for (mu, rows) in [(mu, 2), (torsion, 1), (rolling, 2)] {
                let (s, c) = (3.0 * random.number()).sin_cos();
                let direction = if rows == 1 { vec![c.signum()] } else { vec![c, s] };
                let slips = random.below(2) == 0;
                let (share, speed) = if slips { (1.0, 0.2) } else { (0.6, 0.0) };
                r.extend(direction.iter().map(|d| -share * mu * size * d));
                u.extend(direction.iter().map(|d| speed * d));
            }
            (r, u)
        }
        Cone::Shifted { mu, shift } => {
            let (s, c) = (3.0 * random.number()).sin_cos();
            match kind {
                0 => (vec![0.0; 3], vec![0.2 * mu + size - shift, 0.2 * c, 0.2 * s]),
                1 => (
                    vec![size, -mu * size * c, -mu * size * s],
                    vec![0.2 * mu - shift, 0.2 * c, 0.2 * s],
                ),
                _ => (
                    vec![size, 0.6 * mu * size * c, 0.6 * mu * size * s],
                    vec![-shift, 0.0, 0.0],
                ),
            }
        }
        Cone::Coulomb { mu } | Cone::Pyramid { mu, .. } => {
            // A pyramid slips so that a corner is opposite.
            let angle = match *cone {
                Cone::Pyramid { first, .. } => first + PI,
                _ => 3.0 * random.number(),
            };
            let (s, c) = angle.sin_cos();
            match kind {
                0 => (vec![0.0; 3], vec![size, random.number(), random.number()]),
                1 => (
                    vec![size, -mu * size * c, -mu * size * s],
                    vec![0.0, 0.2 * c, 0.2 * s],
                ),
                _ => (vec![size, 0.6 * mu * size * c, 0.6 * mu * size * s], vec![0.0; 3]),
            }
        }
    }
}

pub(super) fn planted(random: &mut Random, cones: &[Cone]) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut r, mut u) = (Vec::new(), Vec::new());
    for cone in cones {
        let (x, y) = pair(random, cone);
        r.extend(x);
        u.extend(y);
    }
    let a = definite(random, r.len());
    let b = u.iter().zip(times(&a, &r)).map(|(u, x)| u - x).collect();
    (a, b, r, u)
}

#[test]
fn answers_without_friction_are_found_by_all() {
    let mut random = Random(1);
    for case in 0..30 {
        let all = [
            Cone::Free,
            UNILATERAL,
            Cone::Box {
                lower: -0.5,
                upper: 1.0,
            },
            UNILATERAL,
        ];
        let cones: Vec<Cone> = (0..1 + case % 12).map(|_| all[random.below(4)]).collect();
        let (a, b, r, _) = planted(&mut random, &cones);
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        for mut solver in solvers(1e-11) {
            let (found, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged, "{case} {report:?}");
            near(&found, &r, 1e-9);
        }
    }
}

#[test]
fn answers_with_friction_are_found_by_all_that_take_it() {
    let mut random = Random(2);
    for case in 0..30 {
        let all = [
            Cone::Coulomb { mu: 0.3 },
            Cone::PlanarCoulomb { mu: 0.5 },
            Cone::Coulomb { mu: 0.0 },
            UNILATERAL,
            Cone::Free,
        ];
        let cones: Vec<Cone> = (0..1 + case % 8).map(|_| all[random.below(5)]).collect();
        let (a, b, r, u) = planted(&mut random, &cones);
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        let mut scratch = vec![0.0; r.len()];
        assert!(problem.residual(&r, &mut scratch).measure() < 1e-14);
        near(&scratch, &u, 1e-13);
        for mut solver in solvers(1e-10) {
            let pyramid = solver.method() == Method::Lemke;
            if takes_friction(solver.method()) && !pyramid {
                let (found, report) = solve(solver.as_mut(), &problem);
                assert_eq!(report.outcome, Outcome::Converged, "{case} {report:?}");
                // Weakly coupled contacts have one answer.
                near(&found, &r, 1e-7);
            }
        }
    }
}

/// The answer of a convex problem is one, whatever the coupling: tightly coupled contacts too, and
/// to the condition of the matrix.
#[test]
fn answers_with_known_shifts_are_found_by_all_that_take_them() {
    let mut random = Random(12);
    let mut slips = 0;
    for case in 0..20 {
        let all = [
            Cone::Shifted { mu: 0.3, shift: 0.0 },
            Cone::Shifted { mu: 0.7, shift: 0.25 },
            Cone::Shifted { mu: 0.0, shift: 0.1 },
            UNILATERAL,
        ];
        let cones: Vec<Cone> = (0..1 + case % 8).map(|_| all[random.below(4)]).collect();
        let (a, b, r, u) = planted(&mut random, &cones);
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        assert!(problem.is_convex());
        let mut scratch = vec![0.0; r.len()];
        assert!(problem.residual(&r, &mut scratch).measure() < 1e-14);
        near(&scratch, &u, 1e-13);
        // The law of its own slip: these answers obey it where nothing slips and no shift stands.
        let exact = problem.exact_residual(&r, &mut scratch).measure();
        let coulomb: Vec<Cone> = cones.iter().map(Cone::exact).collect();
        let other = Problem::dense(&a, &b, &coulomb).unwrap();
        assert_eq!(exact, other.residual(&r, &mut scratch).measure());
        slips += usize::from(exact > 1e-3);
        for mut solver in solvers(1e-10) {
            if takes_friction(solver.method()) && solver.method() != Method::Lemke {
                let (found, report) = solve(solver.as_mut(), &problem);
                assert_eq!(report.outcome, Outcome::Converged, "{case} {report:?}");
                near(&found, &r, 1e-7);
            }
        }
    }
    assert!(slips > 5, "{slips}");
}

#[test]
fn known_shifts_are_refused_by_pyramids_and_checked() {
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let make = |mu, shift| Problem::dense(&identity, &[-1.0; 3], &[Cone::Shifted { mu, shift }]);
    for (mu, shift) in [
        (-1.0, 0.0),
        (f64::NAN, 0.0),
        (0.5, -1.0),
        (0.5, f64::NAN),
        (0.5, INF),
    ] {
        assert!(make(mu, shift).is_err(), "{mu} {shift}");
    }
    let refused = Lemke::default().solve(&make(0.5, 0.0).unwrap(), &mut [0.0; 3]);
    assert!(
        matches!(refused, Err(ProblemError::Unsuitable { block: 0, .. })),
        "{refused:?}"
    );
}

#[test]
fn answers_with_pyramids_are_found_by_all_that_take_them() {
    let mut random = Random(8);
    let pyramid = |facets, first| Cone::Pyramid {
        mu: 0.3,
        facets,
        first,
    };
    for _ in 0..10 {
        let cones = [
            pyramid(4, 0.2),
            UNILATERAL,
            Cone::friction_box(0.2),
            pyramid(7, -1.0),
        ];
        let (a, b, r, _) = planted(&mut random, &cones);
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        for mut solver in solvers(1e-10) {
            let mut found = vec![0.0; r.len()];
            if let Ok(report) = solver.solve(&problem, &mut found) {
                assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
                near(&found, &r, 1e-8);
            }
        }
    }
}

#[test]
fn pivoting_methods_and_newton_agree() {
    let mut random = Random(3);
    for _ in 0..40 {
        let m = 1 + random.below(15);
        let problem = lcp(&definite(&mut random, m), &random.numbers(m));
        let (r, _) = solve(&mut Lemke::default(), &problem);
        let mut others: Vec<Box<dyn Solver>> = vec![
            Box::new(BlockPivoting::default()),
            Box::new(Murty::default()),
            Box::new(Dantzig::default()),
            Box::new(Newton::default()),
        ];
        for solver in &mut others {
            let (other, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged);
            near(&r, &other, 1e-8);
        }
    }
}

#[test]
fn semidefinite_problems_with_a_solution() {
    // Rank two of six; b = -A r + u with complementary r and u. The impulse is not unique, the
    // velocity is.
    let mut random = Random(4);
    for case in 0..30 {
        let g = random.numbers(12);
        let a: Vec<f64> = (0..36)
            .map(|k| (0..2).map(|l| g[2 * (k / 6) + l] * g[2 * (k % 6) + l]).sum())
            .collect();
        let (mut r, mut u) = (vec![0.0; 6], vec![0.0; 6]);
        for i in 0..6 {
            if random.below(2) == 0 {
                r[i] = random.number().abs();
            } else {
                u[i] = random.number().abs();
            }
        }
        let b: Vec<f64> = u.iter().zip(times(&a, &r)).map(|(u, x)| u - x).collect();
        let problem = lcp(&a, &b);
        for mut solver in solvers(1e-8) {
            if matches!(solver.method(), Method::Other("murty") | Method::BlockPivoting) {
                continue; // made for definite problems
            }
            let (found, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged, "{case} {report:?}");
            let mut v = vec![0.0; 6];
            problem.velocity_into(&found, &mut v);
            near(&v, &u, 1e-3);
        }
    }
}

fn permuted(a: &[f64], b: &[f64], order: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let m = b.len();
    let rows: Vec<usize> = order.iter().flat_map(|k| 3 * k..3 * k + 3).collect();
    let entry = |k: usize| a[rows[k / m] * m + rows[k % m]];
    (
        (0..m * m).map(entry).collect(),
        rows.iter().map(|i| b[*i]).collect(),
    )
}

#[test]
fn the_order_of_contacts_does_not_matter() {
    let mut random = Random(5);
    let cones = [Cone::Coulomb { mu: 0.4 }; 4];
    for _ in 0..10 {
        let (a, b, ..) = planted(&mut random, &cones);
        let order = [2, 0, 3, 1];
        let (pa, pb) = permuted(&a, &b, &order);
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        let other = Problem::dense(&pa, &pb, &cones).unwrap();
        for (mut one, mut two) in solvers(1e-11).into_iter().zip(solvers(1e-11)) {
            if takes_friction(one.method()) && one.method() != Method::Lemke {
                let (r, _) = solve(one.as_mut(), &problem);
                let (s, _) = solve(two.as_mut(), &other);
                for (k, from) in order.iter().enumerate() {
                    near(&s[3 * k..3 * k + 3], &r[3 * from..3 * from + 3], 1e-8);
                }
            }
        }
    }
}

#[test]
fn units_do_not_matter() {
    // Masses by 2^-p, velocities by 2^q: powers of two near 10^6 and 10^9, so that the iterates are
    // the same to the last bit where nothing absolute is in the way.
    let mut random = Random(6);
    let cones = [Cone::Coulomb { mu: 0.4 }, UNILATERAL, Cone::Coulomb { mu: 0.1 }];
    let (a, b, ..) = planted(&mut random, &cones);
    for power in [-9, -6, -3, 3, 6, 9] {
        let (s, t) = (10f64.powi(power), 10f64.powi(-power / 3));
        let sa: Vec<f64> = a.iter().map(|x| s * x).collect();
        let tb: Vec<f64> = b.iter().map(|x| t * x).collect();
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        let other = Problem::dense(&sa, &tb, &cones).unwrap();
        for (mut one, mut two) in solvers(1e-10).into_iter().zip(solvers(1e-10)) {
            if takes_friction(one.method()) {
                let (r, first) = solve(one.as_mut(), &problem);
                let (q, second) = solve(two.as_mut(), &other);
                assert_eq!(first.outcome, second.outcome, "{first:?} {second:?}");
                let q: Vec<f64> = q.iter().map(|x| x * s / t).collect();
                near(&q, &r, 1e-8);
            }
        }
    }
    let problem = lcp(&[2e-8, 1e-8, 1e-8, 2e-8], &[-5e5, -6e5]);
    for mut solver in solvers(1e-12) {
        let (r, report) = solve(solver.as_mut(), &problem);
        assert_eq!(report.outcome, Outcome::Converged);
        near(&[r[0] * 1e-13, r[1] * 1e-13], &[4.0 / 3.0, 7.0 / 3.0], 1e-10);
    }
}

#[test]
fn condensed_rows_give_the_whole_solution() {
    use pliant_solvers::{KktSystem, Solution};
    use pliant_sparse::PatternBuilder;
    // Three masses, the first two tied (x0 = x1), the last two with contacts x >= 1 each that push
    // back.
    let mut system = KktSystem::dense(
        &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0],
        &[1.0, -1.0, 0.0],
        &[0.0],
    )
    .unwrap();
    system.c.copy_from_slice(&[-3.0, 0.0, 8.0]);
    let mut pattern = PatternBuilder::new(2, 3);
    pattern.insert(0, 1);
    pattern.insert(1, 2);
    let mut n = pattern.finish().unwrap().into_matrix();
    n.values_mut().fill(1.0);
    let cones = vec![UNILATERAL; 2];
    let mut condensed =
        Condensed::new(&system, n.clone(), &[0.0, 0.5], &[-1.0, -1.0], cones.clone()).unwrap();
    // A = diag(1/3, 1/4 + 1/2), b = (-1, 2) - 1.
    let mut a = [0.0; 4];
    condensed.problem.delassus().block(0..2, 0..2, &mut a);
    near(&a, &[1.0 / 3.0, 0.0, 0.0, 0.75], 1e-15);
    near(condensed.problem.b(), &[-2.0, 1.0], 1e-15);
    let (r, report) = solve(&mut Auto::default(), &condensed.problem);
    assert_eq!(report.outcome, Outcome::Converged);
    near(&r, &[6.0, 0.0], 1e-12);
    let mut solution = Solution::default();
    condensed.recover(&r, &mut solution).unwrap();
    near(&solution.x, &[1.0, 1.0, 2.0], 1e-14);
    // W x - J^T mu = c in the first row: 1 - mu = -3.
    near(&solution.mu, &[4.0], 1e-14);
    system.bounds[0] = (0.0, INF);
    let refused = Condensed::new(&system, n, &[0.0; 2], &[0.0; 2], cones);
    assert!(matches!(refused, Err(ProblemError::Bilateral(_))));
}

#[test]
fn condensed_bounded_rows_agree_with_the_active_set_of_the_whole_system() {
    use pliant_solvers::{BoxSolver, KktSystem, Solution};
    use pliant_sparse::PatternBuilder;
    let mut random = Random(8);
    for _ in 0..20 {
        let (n, hard, bounded) = (6, 2, 3);
        let w = definite(&mut random, n);
        let (j, rows) = (random.numbers(hard * n), random.numbers(bounded * n));
        let (c, b) = (random.numbers(n), random.numbers(hard + bounded));
        let compliance = [0.0, 0.3, 0.0];

        let all: Vec<f64> = j.iter().chain(&rows).copied().collect();
        let diagonal = [0.0, 0.0, compliance[0], compliance[1], compliance[2]];
        let mut whole = KktSystem::dense(&w, &all, &diagonal).unwrap();
        whole.c.copy_from_slice(&c);
        whole.b.copy_from_slice(&b);
        whole.bounds[hard..].fill((0.0, INF));
        let mut solver = BoxSolver::default();
        let mut expected = Solution::default();
        solver.prepare(&whole).unwrap();
        solver.solve(&whole, &mut expected).unwrap();

        let mut bilateral = KktSystem::dense(&w, &j, &[0.0; 2]).unwrap();
        bilateral.c.copy_from_slice(&c);
        bilateral.b.copy_from_slice(&b[..hard]);
        let mut pattern = PatternBuilder::new(bounded, n);
        pattern.insert_block((0, 0), (bounded, n), false);
        let mut matrix = pattern.finish().unwrap().into_matrix();
        matrix.values_mut().copy_from_slice(&rows);
        let cones = vec![UNILATERAL; bounded];
        let mut condensed = Condensed::new(&bilateral, matrix, &compliance, &b[hard..], cones).unwrap();
        let (r, report) = solve(&mut BlockPivoting::default(), &condensed.problem);
        assert_eq!(report.outcome, Outcome::Converged);
        let mut found = Solution::default();
        condensed.recover(&r, &mut found).unwrap();
        near(&found.x, &expected.x, 1e-9);
        near(&found.mu, &expected.mu[..hard], 1e-9);
        near(&r, &expected.mu[hard..], 1e-9);
    }
}

#[test]
fn sparse_blocks_are_the_dense_matrix() {
    let mut random = Random(9);
    let (one, two, three) = (random.numbers(9), random.numbers(6), random.numbers(4));
    let blocks = [
        (0, 0, one.clone()),
        (1, 0, two.clone()),
        (1, 1, three.clone()),
        (1, 1, three.clone()),
    ];
    let sparse = BlockSparse::new(&[3, 2], &blocks).unwrap();
    let mut a = vec![0.0; 25];
    for i in 0..5 {
        for k in 0..5 {
            a[5 * i + k] = match (i < 3, k < 3) {
                (true, true) => one[3 * i + k],
                (true, false) => 0.0,
                (false, true) => two[3 * (i - 3) + k],
                (false, false) => 2.0 * three[2 * (i - 3) + k - 3],
            };
        }
    }
    let dense = DenseDelassus::new(&a).unwrap();
    for (rows, columns) in [(0..5, 0..5), (1..4, 2..5), (3..5, 0..3), (2..2, 0..5)] {
        let (mut x, mut y) = (vec![1.0; 25], vec![1.0; 25]);
        sparse.block(rows.clone(), columns.clone(), &mut x);
        dense.block(rows.clone(), columns, &mut y);
        assert_eq!(x, y);
        let r = random.numbers(5);
        let (mut x, mut y) = (vec![0.0; 5], vec![0.0; 5]);
        sparse.rows_times(rows.clone(), &r, &mut x[..rows.len()]);
        dense.rows_times(rows.clone(), &r, &mut y[..rows.len()]);
        near(&x, &y, 1e-15);
    }
}

#[test]
fn the_active_set_finds_what_dantzig_finds_from_any_start() {
    let mut random = Random(9);
    for _ in 0..60 {
        let m = 1 + random.below(12);
        let a = definite(&mut random, m);
        let cones: Vec<Cone> = (0..m)
            .map(|_| match random.below(4) {
                0 => Cone::Free,
                1 => UNILATERAL,
                2 => Cone::Box {
                    lower: -0.2,
                    upper: 0.1,
                },
                _ => Cone::Box {
                    lower: 0.3,
                    upper: 0.3,
                },
            })
            .collect();
        let problem = Problem::dense(&a, &random.numbers(m), &cones).unwrap();
        let (expected, report) = solve(&mut Dantzig::default(), &problem);
        assert_eq!(report.outcome, Outcome::Converged);
        let mut r = random.numbers(m);
        let report = ActiveSetQp::default().solve(&problem, &mut r).unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        // A definite matrix has one answer; its condition is below 1e4 here, the residual below
        // 1e-10.
        near(&r, &expected, 1e-6);
    }
}
