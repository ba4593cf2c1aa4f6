//! Systems and checks shared by the tests of several solvers.

use pliant_solvers::{BoxOptions, BoxSolver, KktSystem, Solution, SolveReport};
use pliant_sparse::PatternBuilder;

pub(crate) const INF: f64 = f64::INFINITY;

/// SplitMix64: numbers that are the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Between -1 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}

pub(crate) fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect()
}

/// `I + A A^T / n` with random `A`: eigenvalues between 1 and about 3.
pub(crate) fn definite(random: &mut Random, n: usize) -> Vec<f64> {
    let a = random.numbers(n * n);
    let mut out = identity(n);
    for i in 0..n {
        for k in 0..n {
            let dot: f64 = (0..n).map(|l| a[i * n + l] * a[k * n + l]).sum();
            out[i * n + k] += dot / n as f64;
        }
    }
    out
}

/// The linear complementarity problem of `U U^T` (n x n) and `q`: `W = I`, `J = U`, `b = q`,
/// `mu >= 0`.
pub(crate) fn lcp(u: &[f64], q: &[f64]) -> KktSystem {
    let n = q.len();
    let mut s = KktSystem::dense(&identity(n), u, &vec![0.0; n]).unwrap();
    s.b.copy_from_slice(q);
    s.bounds.fill((0.0, INF));
    s
}

pub(crate) fn solve_with(options: BoxOptions, system: &KktSystem) -> (Solution, SolveReport) {
    let mut solver = BoxSolver::new(options);
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    (solution, report)
}

pub(crate) fn solve(system: &KktSystem) -> (Solution, SolveReport) {
    solve_with(BoxOptions::default(), system)
}

/// Without block pivoting: the descent from the first violation on.
pub(crate) fn solve_by_descent(system: &KktSystem) -> (Solution, SolveReport) {
    let mut solver = BoxSolver::new(BoxOptions {
        patience: 0,
        ..BoxOptions::default()
    });
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    (solution, report)
}

/// `w = J x + R mu + b`.
pub(crate) fn velocities(system: &KktSystem, solution: &Solution) -> Vec<f64> {
    let mut w = system.b.clone();
    system.r.symmetric_add_product(1.0, &solution.mu, &mut w);
    for i in 0..system.m() {
        for k in 0..system.n() {
            w[i] += system.j.get(i, k) * solution.x[k];
        }
    }
    w
}

/// The largest `|mu - clip(mu - w, lo, hi)|` and `|W x - J^T mu - c|` over free variables, from the
/// definition.
pub(crate) fn miss(system: &KktSystem, solution: &Solution) -> f64 {
    let mut out = 0.0f64;
    for (i, w) in velocities(system, solution).into_iter().enumerate() {
        let (lower, upper) = system.bounds[i];
        let mu = solution.mu[i];
        out = out.max((mu - (mu - w).max(lower).min(upper)).abs());
    }
    let mut force: Vec<f64> = system.c.iter().map(|c| -c).collect();
    system.w.symmetric_add_product(1.0, &solution.x, &mut force);
    system.j.add_transpose_product(-1.0, &solution.mu, &mut force);
    for (f, fixed) in force.into_iter().zip(&system.fixed) {
        out = out.max(if *fixed { 0.0 } else { f.abs() });
    }
    out
}

pub(crate) fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance, "{a:?} is not {b:?} to {tolerance:e}");
    }
}

/// A random KKT system: W dense definite, blocks of two, a third of the rows compliant, one fixed
/// variable.
pub(crate) fn random_kkt(random: &mut Random, n: usize, m: usize) -> KktSystem {
    let w = definite(random, n);
    let j = random.numbers(m * n);
    let r: Vec<f64> = (0..m).map(|i| if i % 3 == 2 { 0.1 } else { 0.0 }).collect();
    let mut system = KktSystem::dense(&w, &j, &r).unwrap();
    let (c, b) = (random.numbers(n), random.numbers(m));
    system.c.copy_from_slice(&c);
    system.b.copy_from_slice(&b);
    system.fixed[n / 2] = true;
    system
}

/// A chain of bodies of six with a joint of three rows between them, and rows that touch one or two
/// of them.
pub(crate) fn chain(random: &mut Random, bodies: usize, contacts: usize) -> (KktSystem, Vec<usize>) {
    let (n, links) = (6 * bodies, 3 * (bodies - 1));
    let m = links + 3 * contacts;
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    for k in 0..bodies {
        w.insert_block((6 * k, 6 * k), (6, 6), true);
        if k > 0 {
            j.insert_block((3 * k - 3, 6 * k - 6), (3, 12), false);
        }
    }
    for k in 0..contacts {
        let body = random.below(bodies);
        j.insert_block((links + 3 * k, 6 * body), (3, 6), false);
        if body > 0 && k % 2 == 0 {
            j.insert_block((links + 3 * k, 6 * random.below(body)), (3, 6), false);
        }
    }
    (0..m / 3).for_each(|k| r.insert_block((3 * k, 3 * k), (3, 3), true));
    let [w, j, r] = [w, j, r].map(|p| p.finish().unwrap());
    let by = |step: usize, size: usize| (0..=size).step_by(step).collect();
    let mut s = KktSystem::new(w, j, r, by(6, n), by(3, m)).unwrap();
    values(&mut s, random, links);
    (s, (links..m).collect())
}

/// Diagonally dominant `W`, random `J`, and compliance with coupling inside the blocks from row
/// `soft` on.
pub(crate) fn values(s: &mut KktSystem, random: &mut Random, soft: usize) {
    for i in 0..s.n() {
        for slot in s.w.pattern().row_slots(i) {
            let own = s.w.pattern().indices()[slot] as usize == i;
            s.w.values_mut()[slot] = if own { 8.0 } else { random.number() };
        }
    }
    for i in 0..s.m() {
        for slot in s.j.pattern().row_slots(i) {
            s.j.values_mut()[slot] = random.number();
        }
        for slot in s.r.pattern().row_slots(i) {
            let own = s.r.pattern().indices()[slot] as usize == i;
            s.r.values_mut()[slot] = match (i >= soft, own) {
                (false, _) => 0.0,
                (true, true) => 0.5,
                (true, false) => 0.1 * random.number(),
            };
        }
    }
}
