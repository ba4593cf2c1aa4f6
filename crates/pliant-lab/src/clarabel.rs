//! Clarabel's interior points as an independent oracle.

use ::clarabel::algebra::CscMatrix;
use ::clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT,
    ZeroConeT,
};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{
    Cone, Form, Limits, Method, Outcome, Problem, ProblemError, Report, Solver, Tracker,
};
use pliant_sparse::CsrMatrix;

/// The interior points of Clarabel (Goulart and Chen 2024), another program, on the convex part of
/// the problem:
///
/// ```math
/// min r^T A r/2 + r^T (b + s n),   r in K,   or   min x^T W x/2 + r^T R r/2 + r^T (b + s n),   W x = J^T r,   r in K
/// ```
///
/// the second where the operator is a [`Form::Saddle`], so that no Delassus operator is formed.
/// Contacts that slip make the shift `s = mu |u_t|` of De Saxcé; it is set anew from the answer,
/// damped where that does not help, until the residual holds; one conic program each. Where the
/// slip depends much on the impulses that never ends: [`Outcome::MaxIterations`].
///
/// Made to check other solvers with, and for comparisons: it allocates with every solve, and each
/// program starts from nothing. `A` symmetric semidefinite, `W` too. An iteration is a program.
#[derive(Clone, Debug, Default)]
pub struct ClarabelOracle {
    /// Limits; may be changed at any time.
    pub limits: Limits,
    tracker: Tracker,
    /// `s` of each block.
    shift: Vec<f64>,
}

/// Entries by row, column, value.
#[derive(Default)]
struct Entries(Vec<usize>, Vec<usize>, Vec<f64>);

impl Entries {
    fn push(&mut self, row: usize, column: usize, value: f64) {
        self.0.push(row);
        self.1.push(column);
        self.2.push(value);
    }

    fn matrix(self, rows: usize, columns: usize) -> CscMatrix<f64> {
        CscMatrix::new_from_triplets(rows, columns, self.0, self.1, self.2)
    }
}

/// `min x^T P x/2 + q^T x`, `A x + s = b`, `s` in cones; the impulses are at `place`.
struct Program {
    p: CscMatrix<f64>,
    a: CscMatrix<f64>,
    b: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    place: Vec<usize>,
    size: usize,
}

fn each(matrix: &CsrMatrix, mut visit: impl FnMut(usize, usize, f64)) {
    for i in 0..matrix.pattern().rows() {
        let slots = matrix.pattern().row_slots(i);
        for (k, value) in matrix.pattern().row(i).iter().zip(&matrix.values()[slots]) {
            visit(i, *k as usize, *value);
        }
    }
}

impl Program {
    fn new(problem: &Problem) -> Self {
        let m = problem.size();
        let (mut p, mut a) = (Entries::default(), Entries::default());
        let (mut b, mut cones) = (Vec::new(), Vec::new());
        let place: Vec<usize> = match problem.delassus().form() {
            Form::Saddle { system, rows } => {
                balance(system, &mut p, &mut a);
                b.resize(system.n(), 0.0);
                cones.push(ZeroConeT(system.n()));
                rows.iter().map(|row| system.n() + row).collect()
            }
            form => {
                let mut upper = |i: usize, k: usize, value: f64| {
                    if i <= k && value != 0.0 {
                        p.push(i, k, value);
                    }
                };
                if let Form::Sparse(matrix) = form {
                    each(matrix, upper);
                } else {
                    let dense = problem.to_dense();
                    (0..m * m).for_each(|i| upper(i / m, i % m, dense[(i / m, i % m)]));
                }
                (0..m).collect()
            }
        };
        let size = match problem.delassus().form() {
            Form::Saddle { system, .. } => system.n() + system.m(),
            _ => m,
        };
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = &place[problem.rows(k)];
            // Each chunk of the terms is one row of the cone, `value + sum factor r`.
            let mut law = |terms: &[(usize, f64, f64)], chunk: usize, cone| {
                for row in terms.chunks(chunk) {
                    for (place, factor, _) in row {
                        a.push(b.len(), rows[*place], -factor);
                    }
                    b.push(row[0].2);
                }
                cones.push(cone);
            };
            match (*cone, cone.friction()) {
                (_, Some(0.0)) => {
                    law(&[(0, 1.0, 0.0)], 1, NonnegativeConeT(1));
                    (1..rows.len()).for_each(|l| law(&[(l, 1.0, 0.0)], 1, ZeroConeT(1)));
                }
                (_, Some(mu)) => {
                    let all = [(0, mu, 0.0), (1, 1.0, 0.0), (2, 1.0, 0.0)];
                    law(&all[..rows.len()], 1, SecondOrderConeT(rows.len()));
                }
                (Cone::Rolling { .. }, _) => {
                    for (mu, own) in cone.discs() {
                        let mut all = vec![(0, mu, 0.0)];
                        all.extend(own.map(|i| (i, 1.0, 0.0)));
                        law(&all, 1, SecondOrderConeT(all.len()));
                    }
                }
                (Cone::Pyramid { mu, facets, first }, _) => {
                    let side = std::f64::consts::TAU / facets as f64;
                    for l in 0..facets {
                        let (sine, cosine) = (first + side * (l as f64 + 0.5)).sin_cos();
                        let inside = [
                            (0, mu * (0.5 * side).cos(), 0.0),
                            (1, -cosine, 0.0),
                            (2, -sine, 0.0),
                        ];
                        law(&inside, 3, NonnegativeConeT(1));
                    }
                }
                (Cone::Box { lower, upper }, _) if lower == upper => {
                    law(&[(0, -1.0, lower)], 1, ZeroConeT(1));
                }
                _ => {
                    let (lower, upper) = cone.bounds().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                    if lower.is_finite() {
                        law(&[(0, 1.0, -lower)], 1, NonnegativeConeT(1));
                    }
                    if upper.is_finite() {
                        law(&[(0, -1.0, upper)], 1, NonnegativeConeT(1));
                    }
                }
            }
        }
        Self {
            p: p.matrix(size, size),
            a: a.matrix(b.len(), size),
            b,
            cones,
            place,
            size,
        }
    }
}

/// The energy `x^T W x/2 + r^T R r/2` and the balance `W x = J^T r`, with `x = 0` for fixed
/// variables.
fn balance(system: &KktSystem, p: &mut Entries, a: &mut Entries) {
    let n = system.n();
    let free = |i: usize| !system.fixed[i];
    each(&system.w, |i, k, value| {
        if free(i) && free(k) {
            p.push(k.min(i), k.max(i), value);
            a.push(i, k, value);
            if i != k {
                a.push(k, i, value);
            }
        }
    });
    (0..n).filter(|i| !free(*i)).for_each(|i| a.push(i, i, 1.0));
    each(&system.j, |i, k, value| {
        if free(k) {
            a.push(k, n + i, -value);
        }
    });
    each(&system.r, |i, k, value| p.push(n + k.min(i), n + k.max(i), value));
}

impl ClarabelOracle {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// One program, with the shifts of the last velocities, to a share of the tolerance; false if
    /// it failed altogether.
    fn program(&self, problem: &Problem, program: &Program, r: &mut [f64]) -> bool {
        let mut q = vec![0.0; program.size];
        for (place, b) in program.place.iter().zip(problem.b()) {
            q[*place] = *b;
        }
        for k in 0..problem.blocks() {
            q[program.place[problem.rows(k).start]] += self.shift[k];
        }
        // The residual goes with the root of the gap.
        let accuracy = self.limits.tolerance.powi(2).clamp(1e-13, 1e-8);
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(accuracy)
            .tol_gap_rel(accuracy)
            .tol_feas(accuracy)
            .build();
        let Ok(settings) = settings else { return false };
        let made = DefaultSolver::new(&program.p, &q, &program.a, &program.b, &program.cones, settings);
        let Ok(mut solver) = made else { return false };
        solver.solve();
        for (r, place) in r.iter_mut().zip(&program.place) {
            *r = solver.solution.x[*place];
        }
        r.iter().all(|x| x.is_finite())
    }
}

impl Solver for ClarabelOracle {
    fn method(&self) -> Method {
        Method::Other("clarabel")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let mut end = self.tracker.start(problem, r, self.limits)?;
        let mut iterations = 0;
        if end.is_none() {
            let program = Program::new(problem);
            // From none: the slip without impulses is no guess.
            self.shift.clear();
            self.shift
                .extend(problem.cones().iter().map(|c| c.shift(&[0.0; Cone::MOST_ROWS])));
            let (mut relaxation, mut level) = (1.0, f64::INFINITY);
            while end.is_none() && iterations < self.limits.max_iterations {
                iterations += 1;
                if !self.program(problem, &program, r) {
                    end = Some(Outcome::Breakdown);
                    break;
                }
                problem.project(r);
                end = self.tracker.look(problem, r);
                if end.is_none() && problem.is_convex() {
                    end = Some(Outcome::Stagnated);
                }
                if self.tracker.last_measure() > 0.9 * level {
                    relaxation = f64::max(0.1, 0.7 * relaxation);
                }
                level = level.min(self.tracker.last_measure());
                for (k, cone) in problem.cones().iter().enumerate() {
                    let target = cone.shift(&self.tracker.velocity()[problem.rows(k)]);
                    self.shift[k] += relaxation * (target - self.shift[k]);
                }
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self
            .tracker
            .finish(problem, r, Method::Other("clarabel"), end, iterations))
    }
}
