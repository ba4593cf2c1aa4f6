//! Bounded rows: random families with known answers, redundant rows, order of rows, descent.

use crate::tools::{INF, Random, close, definite, lcp, miss, solve, solve_by_descent};
use pliant_solvers::{BoxOptions, BoxSolver, KktSystem, Solution, Status};
use proptest::prelude::*;

/// A system of m rows whose answer is chosen first: bounds of every kind, a random set of them
/// active.
fn known(random: &mut Random, n: usize, m: usize, one_sided: bool) -> (KktSystem, Solution) {
    let w = definite(random, n);
    let j = random.numbers(m * n);
    // Beyond n rows the Delassus operator is singular: compliance makes it definite.
    let soft = |i: usize| if m >= n || i.is_multiple_of(3) { 0.3 } else { 0.0 };
    let r: Vec<f64> = (0..m).map(soft).collect();
    let mut s = KktSystem::dense(&w, &j, &r).unwrap();
    let x = random.numbers(n);
    let mu: Vec<f64> = (0..m)
        .map(|_| match one_sided {
            true if random.below(2) == 0 => 0.0,
            true => random.number().abs(),
            false => 3.0 * random.number(),
        })
        .collect();
    let mut gap = vec![0.0; m];
    for i in 0..m {
        let size = 0.05 + random.number().abs();
        if one_sided {
            s.bounds[i] = (0.0, INF);
            gap[i] = if mu[i] == 0.0 { size } else { 0.0 };
            continue;
        }
        let width = 0.1 + random.number().abs();
        (s.bounds[i], gap[i]) = match random.below(7) {
            0 => ((-INF, INF), 0.0),
            1 => ((mu[i], mu[i]), size * random.number()),
            2 => ((mu[i], mu[i] + width), size),
            3 => ((mu[i] - width, mu[i]), -size),
            4 => ((mu[i], INF), size),
            5 => ((-INF, mu[i]), -size),
            _ => ((mu[i] - width, mu[i] + width), 0.0),
        };
    }
    let answer = Solution { x, mu };
    s.c.fill(0.0);
    s.w.symmetric_add_product(1.0, &answer.x, &mut s.c);
    s.j.add_transpose_product(-1.0, &answer.mu, &mut s.c);
    for (b, w) in s.b.iter_mut().zip(&gap) {
        *b = *w;
    }
    let mut product = vec![0.0; m];
    s.r.symmetric_add_product(1.0, &answer.mu, &mut product);
    for i in 0..m {
        let jx: f64 = (0..n).map(|k| s.j.get(i, k) * answer.x[k]).sum();
        s.b[i] -= jx + product[i];
    }
    (s, answer)
}

#[test]
fn answers_chosen_first_are_found() {
    let mut most = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        let (n, one_sided) = (if seed % 2 == 0 { 50 } else { 70 }, seed % 4 < 2);
        let (system, answer) = known(&mut random, n, 50, one_sided);
        let (found, report) = solve(&system);
        assert_eq!(report.status, Status::Converged, "seed {seed}: {report:?}");
        close(&found.mu, &answer.mu, 1e-8);
        close(&found.x, &answer.x, 1e-8);
        assert!(
            report.bounds.natural < 1e-9 && report.residual.row < 1e-9,
            "{report:?}"
        );
        most = most.max(report.bounds.changes);
    }
    // Block pivoting does not know how many rows there are.
    assert!(most <= 15, "{most} changes");
}

#[test]
fn the_descent_alone_finds_them_too() {
    for seed in 0..60 {
        let (system, answer) = known(&mut Random(1000 + seed), 40, 25, seed % 2 == 0);
        let (found, report) = solve_by_descent(&system);
        assert_eq!(report.status, Status::Converged, "seed {seed}: {report:?}");
        close(&found.mu, &answer.mu, 1e-8);
    }
}

/// Rows of low rank with bounds, some bilateral and consistent. `contradictory` gives the rest a
/// `b` of their own.
fn low_rank(random: &mut Random, n: usize, m: usize, rank: usize, contradictory: bool) -> KktSystem {
    let w = definite(random, n);
    let (left, right) = (random.numbers(m * rank), random.numbers(rank * n));
    let j: Vec<f64> = (0..m * n)
        .map(|k| {
            (0..rank)
                .map(|l| left[k / n * rank + l] * right[l * n + k % n])
                .sum()
        })
        .collect();
    let mut s = KktSystem::dense(&w, &j, &vec![0.0; m]).unwrap();
    s.c = random.numbers(n);
    s.c.iter_mut().for_each(|c| *c *= 5.0);
    let x = random.numbers(n);
    for i in 0..m {
        let consistent: f64 = (0..n).map(|k| s.j.get(i, k) * x[k]).sum();
        let bilateral = i % 5 == 0;
        s.b[i] = consistent
            + if contradictory && !bilateral {
                random.number()
            } else {
                0.0
            };
        let size = random.number().abs();
        s.bounds[i] = match random.below(4) {
            _ if bilateral => (-INF, INF),
            0 => (0.0, size),
            1 => (-2.0 * size, size),
            _ => (-size, size),
        };
    }
    s
}

#[test]
fn redundant_bounded_rows_are_solved() {
    for contradictory in [false, true] {
        for seed in 0..400 {
            let mut random = Random(77 * seed + 5);
            let (n, m) = (6 + random.below(10), 2 + random.below(24));
            let rank = 1 + random.below(5);
            let system = low_rank(&mut random, n, m, rank, contradictory);
            for (how, (found, report)) in [("blocks", solve(&system)), ("descent", solve_by_descent(&system))]
            {
                let told = format!("seed {seed}, {how}, {contradictory}, m = {m}, rank {rank}: {report:?}");
                assert_eq!(report.status, Status::Converged, "{told}");
                assert!(miss(&system, &found) < 1e-7, "{told} {}", miss(&system, &found));
                assert!(report.bounds.natural < 1e-7, "{told}");
            }
        }
    }
}

/// Hard rows leave a mobility of one or two, friction acts in up to seven joints, and the
/// coordinates have drifted: what the redundant rows demand differs a little, or a lot.
#[test]
fn friction_in_the_joints_of_a_mechanism_that_drifts() {
    for drift in [0.0, 1e-14, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3] {
        // The last two meet pivots of rounding in the first order of elimination.
        for seed in (0..150).chain([423, 484]) {
            let mut random = Random(seed * 31 + 7);
            let n = 3 + random.below(8);
            let hard = n - 1 - random.below(2);
            let m = hard + 1 + random.below(7);
            let w = definite(&mut random, n);
            let mut s = KktSystem::dense(&w, &random.numbers(m * n), &vec![0.0; m]).unwrap();
            s.c = random.numbers(n);
            let v = random.numbers(n);
            for i in 0..m {
                s.b[i] = (0..n).map(|k| s.j.get(i, k) * v[k]).sum();
                if i >= hard {
                    s.b[i] += drift * random.number();
                    let size = random.number().abs() * [10.0, 1.0, 1.0][random.below(3)];
                    s.bounds[i] = (-size, size);
                }
            }
            let (found, report) = solve(&s);
            assert_eq!(
                report.status,
                Status::Converged,
                "seed {seed}, {drift}: {report:?}"
            );
            let scale = found.mu.iter().fold(1.0f64, |a, b| a.max(b.abs()));
            assert!(
                miss(&s, &found) < 1e-7 * scale,
                "seed {seed}, {drift}: {report:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn the_order_of_rows_does_not_matter(seed in any::<u64>(), m in 1usize..14, shift in 0usize..14) {
        let mut random = Random(seed);
        let (system, _) = known(&mut random, 10, m, false);
        let order: Vec<usize> = (0..m).map(|i| (i * if m % 5 == 0 { 1 } else { 5 } + shift) % m).collect();
        let j: Vec<f64> = order.iter().flat_map(|i| (0..10).map(|k| system.j.get(*i, k))).collect();
        let r: Vec<f64> = order.iter().map(|i| system.r_diagonal(*i)).collect();
        let w: Vec<f64> = (0..100).map(|k| system.w.get((k / 10).max(k % 10), (k / 10).min(k % 10))).collect();
        let mut other = KktSystem::dense(&w, &j, &r).unwrap();
        other.c.copy_from_slice(&system.c);
        for (k, i) in order.iter().enumerate() {
            other.b[k] = system.b[*i];
            other.bounds[k] = system.bounds[*i];
        }
        let ((a, first), (b, second)) = (solve(&system), solve(&other));
        prop_assert_eq!((first.status, second.status), (Status::Converged, Status::Converged));
        prop_assert_eq!(first.bounds.rows_at_bounds, second.bounds.rows_at_bounds);
        for (k, i) in order.iter().enumerate() {
            prop_assert!((a.mu[*i] - b.mu[k]).abs() < 1e-7);
        }
    }

    #[test]
    fn a_warm_solver_agrees_with_a_cold_one(seed in any::<u64>()) {
        let mut random = Random(seed);
        let mut warm = BoxSolver::new(BoxOptions::default());
        let mut a = Solution::default();
        let (mut system, _) = known(&mut random, 12, 9, false);
        for _ in 0..6 {
            // The load moves and rows come and go: their pivots must be right when they are back.
            for c in &mut system.c { *c += random.number(); }
            for k in 0..9 { system.j.values_mut()[k * 12 + k] += 0.1 * random.number(); }
            warm.prepare(&system).unwrap();
            let report = warm.solve(&system, &mut a).unwrap();
            prop_assert_eq!(report.status, Status::Converged);
            let (b, _) = solve(&system);
            let scale = 1.0 + b.mu.iter().fold(0.0f64, |a, b| a.max(b.abs()));
            for (a, b) in a.mu.iter().zip(&b.mu) {
                prop_assert!((a - b).abs() < 1e-7 * scale, "{} {}", a, b);
            }
        }
    }
}

#[test]
fn a_small_problem_of_two_rows() {
    // M = (2 1; 1 2) = U U^T.
    let u = [2f64.sqrt(), 0.0, 0.5f64.sqrt(), 1.5f64.sqrt()];
    let (found, report) = solve(&lcp(&u, &[-5.0, -6.0]));
    // Both begin without force, and come in together.
    assert_eq!((report.status, report.bounds.changes), (Status::Converged, 1));
    close(&found.mu, &[4.0 / 3.0, 7.0 / 3.0], 1e-14);
    let (found, report) = solve(&lcp(&u, &[-5.0, 6.0]));
    assert_eq!(report.bounds.rows_at_bounds, 1);
    close(&found.mu, &[2.5, 0.0], 1e-14);
}

#[test]
fn the_family_on_which_pivoting_is_slowest() {
    // Murty 1978: u_ii = 1, u_ij = 2 for j > i, q = -1.
    for n in 1..=10 {
        let u: Vec<f64> = (0..n * n)
            .map(|k| match (k / n).cmp(&(k % n)) {
                std::cmp::Ordering::Less => 2.0,
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater => 0.0,
            })
            .collect();
        let system = lcp(&u, &vec![-1.0; n]);
        let mut expected = vec![0.0; n];
        expected[n - 1] = 1.0;
        for (found, report) in [solve(&system), solve_by_descent(&system)] {
            assert_eq!(report.status, Status::Converged, "n = {n}: {report:?}");
            close(&found.mu, &expected, 1e-9);
        }
    }
}
