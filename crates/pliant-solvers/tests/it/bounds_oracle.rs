//! Bounded rows against the enumeration of all `3^m` sets of rows at bounds.

use crate::tools::{INF, Random, definite, miss, solve, solve_by_descent, velocities};
use pliant_solvers::{BoundState, KktSystem, Solution, Status, solve_dense};
use proptest::prelude::*;

/// The system without the rows at bounds, whose multipliers go to the right-hand side.
fn reduced(system: &KktSystem, states: &[BoundState], mu: &[f64]) -> KktSystem {
    let (n, m) = (system.n(), system.m());
    let lower = |i: usize, k: usize| system.w.get(i.max(k), i.min(k));
    let free: Vec<usize> = (0..m).filter(|i| states[*i] == BoundState::Free).collect();
    let w: Vec<f64> = (0..n * n).map(|k| lower(k / n, k % n)).collect();
    let j: Vec<f64> = free
        .iter()
        .flat_map(|i| (0..n).map(|k| system.j.get(*i, k)))
        .collect();
    let r: Vec<f64> = free.iter().map(|i| system.r_diagonal(*i)).collect();
    let mut out = KktSystem::dense(&w, &j, &r).unwrap();
    out.c.copy_from_slice(&system.c);
    out.fixed.copy_from_slice(&system.fixed);
    system.j.add_transpose_product(1.0, mu, &mut out.c);
    for (b, i) in out.b.iter_mut().zip(&free) {
        *b = system.b[*i];
    }
    out
}

/// Every answer that fulfils the law to `tolerance`. (R is diagonal here.)
fn enumerate(system: &KktSystem, tolerance: f64) -> Vec<Solution> {
    let m = system.m();
    let mut out = Vec::new();
    'sets: for code in 0..3usize.pow(m as u32) {
        let mut mu = vec![0.0; m];
        let mut states = vec![BoundState::Free; m];
        for i in 0..m {
            let (lower, upper) = system.bounds[i];
            (states[i], mu[i]) = match code / 3usize.pow(i as u32) % 3 {
                0 => (BoundState::Free, 0.0),
                1 => (BoundState::Lower, lower),
                _ => (BoundState::Upper, upper),
            };
            if !mu[i].is_finite() {
                continue 'sets;
            }
        }
        let part = solve_dense(&reduced(system, &states, &mu)).unwrap();
        let free = (0..m).filter(|i| states[*i] == BoundState::Free);
        for (i, value) in free.zip(&part.mu) {
            mu[i] = *value;
        }
        let found = Solution { x: part.x, mu };
        let w = velocities(system, &found);
        let fine = (0..m).all(|i| {
            let (lower, upper) = system.bounds[i];
            match states[i] {
                BoundState::Free => {
                    let inside = found.mu[i] > lower - tolerance && found.mu[i] < upper + tolerance;
                    inside && w[i].abs() < tolerance
                }
                _ if lower == upper => true,
                BoundState::Lower => w[i] > -tolerance,
                _ => w[i] < tolerance,
            }
        });
        if fine {
            out.push(found);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]
    #[test]
    fn agrees_with_the_enumeration_of_all_sets(
        seed in any::<u64>(),
        n in 1usize..7,
        m in 1usize..6,
        duplicate in any::<bool>(),
        hard in 0usize..4,
        fixed in any::<bool>(),
    ) {
        let mut random = Random(seed);
        let w = definite(&mut random, n);
        let mut j = random.numbers(m * n);
        if duplicate && m > 1 {
            for k in 0..n { j[(m - 1) * n + k] = -2.0 * j[k]; }
        }
        let r: Vec<f64> = (0..m).map(|_| if random.below(4) < hard { 0.0 } else { 0.2 }).collect();
        let mut s = KktSystem::dense(&w, &j, &r).unwrap();
        s.c = random.numbers(n);
        s.c.iter_mut().for_each(|c| *c *= 2.0);
        s.b = random.numbers(m);
        s.fixed[0] = fixed && n > 1;
        for i in 0..m {
            let (a, size) = (random.number(), random.number().abs());
            s.bounds[i] = match random.below(6) {
                0 => (-INF, INF),
                1 => (0.0, INF),
                2 => (-INF, a),
                3 => (a, a),
                4 => (a, a + size),
                _ => (-size, size),
            };
        }
        let answers = enumerate(&s, 1e-7);
        for (found, report) in [solve(&s), solve_by_descent(&s)] {
            match report.status {
                Status::Converged => {
                    let scale = found.mu.iter().chain(&found.x).fold(1.0f64, |a, b| a.max(b.abs()));
                    // Ill-conditioned draws say nothing: the enumeration rounds as well.
                    prop_assume!(scale < 1e4);
                    prop_assert!(miss(&s, &found) < 1e-7 * scale * scale, "{} {:?}", miss(&s, &found), report);
                    prop_assert!(!answers.is_empty());
                    // The velocities are unique, the multipliers are if nothing is redundant.
                    let near = answers.iter().any(|a| {
                        a.x.iter().zip(&found.x).all(|(a, b)| (a - b).abs() < 1e-5 * scale * scale)
                    });
                    prop_assert!(near, "{:?} {:?}", found, answers);
                    for i in 0..m {
                        prop_assert!(found.mu[i] >= s.bounds[i].0 && found.mu[i] <= s.bounds[i].1);
                    }
                }
                Status::Incompatible { .. } => prop_assert!(answers.is_empty(), "{:?} {:?}", report, answers),
                _ => prop_assert!(false, "{:?}", report),
            }
        }
    }
}
