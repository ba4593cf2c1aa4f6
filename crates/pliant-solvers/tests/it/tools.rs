//! What the tests of several solvers share.

use pliant_solvers::krylov::{
    BiConjugateGradient, ConjugateGradient, ConjugateResidual, FlexibleMinimalResidual,
    GeneralMinimalResidual, KrylovOptions, KrylovSolver, MinimalResidual,
};
use pliant_solvers::{BoxOptions, BoxSolver, KktSystem, Solution, SolveReport};
use pliant_sparse::{CsrMatrix, PatternBuilder};

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

/// The linear complementarity problem of `U U^T` (n x n) and `q`: `W = I`, `J = U`, `b = q`, `mu >= 0`.
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

/// The largest `|mu - clip(mu - w, lo, hi)|` and `|W x - J^T mu - c|` over free variables, from the definition.
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

/// The lower triangle of a dense symmetric matrix, zeros left out but for the diagonal.
pub(crate) fn lower(n: usize, dense: &[f64]) -> CsrMatrix {
    let mut builder = PatternBuilder::new(n, n);
    let kept = |i: usize, k: usize| i == k || dense[i * n + k] != 0.0;
    for i in 0..n {
        (0..=i).filter(|k| kept(i, *k)).for_each(|k| builder.insert(i, k));
    }
    let mut a = builder.finish().unwrap().into_matrix();
    let values = (0..n).flat_map(|i| (0..=i).map(move |k| (i, k)));
    let values = values
        .filter(|(i, k)| kept(*i, *k))
        .map(|(i, k)| dense[i * n + k]);
    a.values_mut()
        .iter_mut()
        .zip(values)
        .for_each(|(slot, v)| *slot = v);
    a
}

/// The five-point Laplacian on `k x k` points.
pub(crate) fn laplacian(k: usize) -> CsrMatrix {
    let mut builder = PatternBuilder::new(k * k, k * k);
    for i in 0..k * k {
        builder.insert(i, i);
        if i % k > 0 {
            builder.insert(i, i - 1);
        }
        if i >= k {
            builder.insert(i, i - k);
        }
    }
    let mut a = builder.finish().unwrap().into_matrix();
    for i in 0..k * k {
        for slot in a.pattern().row_slots(i) {
            let diagonal = a.pattern().indices()[slot] as usize == i;
            a.values_mut()[slot] = if diagonal { 4.0 } else { -1.0 };
        }
    }
    a
}

/// Every Krylov solver, with its name.
pub(crate) fn krylov_solvers(options: KrylovOptions) -> Vec<(&'static str, Box<dyn KrylovSolver>)> {
    vec![
        ("CG", Box::new(ConjugateGradient::new(options))),
        ("CR", Box::new(ConjugateResidual::new(options))),
        ("MINRES", Box::new(MinimalResidual::new(options))),
        ("BiCGSTAB", Box::new(BiConjugateGradient::new(options))),
        ("GMRES", Box::new(GeneralMinimalResidual::new(options))),
        ("FGMRES", Box::new(FlexibleMinimalResidual::new(options))),
    ]
}

/// A random KKT system: W dense definite, blocks of two, a third of the rows compliant, one fixed variable.
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
