//! Residuals, the same for every solver, against the matrices as given.

mod products;

use crate::bounds::{BoundState, is_held};
use crate::{KktSystem, Solution};
use products::{Sums, Terms};

/// How far `(x, mu)` is from solving a [`KktSystem`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KktResidual {
    /// `max_i |W x - J^T mu - c|_i / |W_ii|` over free variables: in the units of `x` (velocity).
    pub primal: f64,
    /// `max_i |J x + R mu + b|_i` over rows that are not at a bound: in the units of `b`
    /// (velocity). Rows at a bound do not want zero there; see
    /// [`BoundsReport::natural`](crate::BoundsReport::natural).
    pub row: f64,
    /// Componentwise backward error `max_i |r_i| / (|K| |z| + |rhs|)_i`, without unit: the smallest
    /// relative change of the coefficients for which the answer is exact (Oettli and Prager 1964).
    /// A component whose terms are all roundoff of the others is measured against `|W_ii| u` or
    /// `|J_i|_max u` instead (after Arioli, Demmel, Duff 1989), with the largest velocity
    /// `u = (|W| |x| + |J^T| |mu| + |c|)_k / |W_kk|` of the block of variable i, or of those that
    /// row i acts on. Rows dropped as redundant do not enter: what they are off by, through
    /// truncation, is in `row`.
    pub relative: f64,
}

impl KktResidual {
    /// Whether every part is finite.
    pub fn is_finite(&self) -> bool {
        self.primal.is_finite() && self.row.is_finite() && self.relative.is_finite()
    }
}

/// The residual `r = rhs - K z` of the last evaluation, its scale `|K| |z| + |rhs|`, and room to
/// compute them ([`KktSystem::residual`]).
#[derive(Clone, Debug, Default)]
pub struct ResidualWorkspace {
    pub(crate) primal: Vec<f64>,
    pub(crate) row: Vec<f64>,
    primal_scale: Vec<f64>,
    pub(crate) row_scale: Vec<f64>,
    /// For each variable, the largest velocity that a term of its block stands for.
    pub(crate) velocity: Vec<f64>,
    /// No row is dropped: m times false.
    none: Vec<bool>,
}

/// Room for the roundings of a comparison of quotients by products.
const SURELY: f64 = 0.999;

/// Share of the largest velocity below which a velocity is roundoff.
pub(crate) fn roundoff(system: &KktSystem) -> f64 {
    1000.0 * (system.n() + system.m()) as f64 * f64::EPSILON
}

impl KktSystem {
    /// The residual of a solution of bilateral rows, in the measures by which every solver here is
    /// judged. The residual vectors stay in the workspace, which allocates only when it grows. Cost
    /// `8 nnz`.
    ///
    /// # Panics
    /// If the solution is shorter than the system.
    pub fn residual(&self, solution: &Solution, workspace: &mut ResidualWorkspace) -> KktResidual {
        let mut none = std::mem::take(&mut workspace.none);
        none.clear();
        none.resize(self.m(), false);
        let measure = evaluate(self, solution, &self.b, &none, &[], workspace);
        workspace.none = none;
        measure
    }
}

impl ResidualWorkspace {
    /// `c - W x + J^T mu` as of the last evaluation, n; zero at fixed variables.
    pub fn primal(&self) -> &[f64] {
        &self.primal
    }

    /// `J x + R mu + b` as of the last evaluation, m.
    pub fn row(&self) -> &[f64] {
        &self.row
    }

    /// The residual of `z = 0`: the right-hand side.
    pub(crate) fn start(&mut self, c: &[f64], b: &[f64]) {
        self.primal.clear();
        self.primal.extend_from_slice(c);
        self.row.clear();
        self.row.extend_from_slice(b);
    }

    /// Largest velocity that row `i` sees, times its coefficient, as of the last evaluation.
    pub(crate) fn row_floor(&self, system: &KktSystem, i: usize) -> f64 {
        system
            .j
            .row_entries(i)
            .fold(0.0f64, |a, (k, v)| a.max(v.abs() * self.velocity[k]))
    }

    /// The force of the combination `n = mu + e_d` of rows against the size of its terms,
    /// `max |J^T n|_i / (|J^T| |n|)_i` over the free variables whose terms are not negligible; and
    /// the residuals of `W x - J^T n = 0` and `J x + R mu = 0` (without row `d` in `mu`), as
    /// [`evaluate`] has them. Cost `6 nnz(J) + 4 nnz(W) + 4 nnz(R)`.
    pub(crate) fn combine(&mut self, system: &KktSystem, solution: &Solution, d: usize) -> f64 {
        let (n, m) = (system.n(), system.m());
        for (list, size) in [
            (&mut self.primal, n),
            (&mut self.primal_scale, n),
            (&mut self.row, m),
        ] {
            list.clear();
            list.resize(size, 0.0);
        }
        let (x, mu) = (&solution.x[..n], &solution.mu[..m]);
        let mut sums = Sums {
            values: &mut self.primal[..n],
            sizes: &mut self.primal_scale[..n],
        };
        let row = &mut self.row[..m];
        for i in 0..m {
            let slots = system.j.pattern().row_slots(i);
            let terms = Terms {
                coefficients: &system.j.values()[slots.clone()],
                x,
                across: if i == d { 1.0 } else { mu[i] },
            };
            row[i] = sums.add_row(&system.j.pattern().indices()[slots], terms).0;
        }
        let (primal, scale) = (sums.values, sums.sizes);
        let free = |i: &usize| !system.fixed[*i];
        let largest = (0..n).filter(free).fold(0.0f64, |a, i| a.max(scale[i]));
        let terms = (0..n).filter(free).filter(|i| scale[*i] > 1e-9 * largest);
        let share = terms.fold(0.0f64, |a, i| a.max(primal[i].abs() / scale[i]));
        system.w.symmetric_add_product(-1.0, x, primal);
        let fixed = system.fixed.iter().zip(primal).filter(|(fixed, _)| **fixed);
        fixed.for_each(|(_, r)| *r = 0.0);
        system.r.symmetric_add_product(1.0, mu, row);
        share
    }
}

/// As [`evaluate_for`] with the right-hand side `c` of the system.
pub(crate) fn evaluate(
    system: &KktSystem,
    solution: &Solution,
    b: &[f64],
    dropped: &[bool],
    states: &[BoundState],
    scratch: &mut ResidualWorkspace,
) -> KktResidual {
    evaluate_for(system, solution, &system.c, b, dropped, states, scratch)
}

/// `r = rhs - K z` into the scratch (zero at fixed variables) and its measures, which leave out
/// rows held at a bound. Cost `8 nnz`.
pub(crate) fn evaluate_for(
    system: &KktSystem,
    solution: &Solution,
    c: &[f64],
    b: &[f64],
    dropped: &[bool],
    states: &[BoundState],
    scratch: &mut ResidualWorkspace,
) -> KktResidual {
    let ResidualWorkspace {
        primal,
        row,
        primal_scale,
        row_scale,
        velocity,
        ..
    } = scratch;
    let (n, m) = (system.n(), system.m());
    for (list, rhs) in [(&mut *primal, c), (&mut *row, b)] {
        list.clear();
        list.extend_from_slice(rhs);
    }
    for (list, rhs) in [(&mut *primal_scale, c), (&mut *row_scale, b)] {
        list.clear();
        list.extend(rhs.iter().map(|rhs| rhs.abs()));
    }
    velocity.clear();
    velocity.resize(n, 0.0);
    // Slices of known length: their pointers stay in registers.
    let (x, mu) = (&solution.x[..n], &solution.mu[..m]);
    let (primal, primal_scale) = (&mut primal[..n], &mut primal_scale[..n]);
    let (row, row_scale) = (&mut row[..m], &mut row_scale[..m]);
    let velocity = &mut velocity[..n];

    let mut sums = Sums {
        values: primal,
        sizes: primal_scale,
    };
    sums.subtract_symmetric(system, x);
    for i in 0..m {
        let slots = system.j.pattern().row_slots(i);
        let terms = Terms {
            coefficients: &system.j.values()[slots.clone()],
            x,
            across: mu[i],
        };
        let columns = &system.j.pattern().indices()[slots];
        let (sum, size) = sums.add_row(columns, terms);
        row[i] += sum;
        row_scale[i] += size;
        let own = &system.r.values()[system.r.pattern().row_slots(i)];
        // Hard rows have none.
        if mu[i].is_finite() && own.iter().all(|a| *a == 0.0) {
            continue;
        }
        for (k, a) in system.r.row_entries(i) {
            row[i] += a * mu[k];
            row_scale[i] += (a * mu[k]).abs();
            if i != k {
                row[k] += a * mu[i];
                row_scale[k] += (a * mu[i]).abs();
            }
        }
    }
    let (primal, primal_scale) = (sums.values, sums.sizes);
    let mut out = KktResidual::default();
    // As `f64::max` where the first is a number, in fewer instructions.
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    // `max` of IEEE drops NaN; a NaN residual must survive.
    let max = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
    let roundoff = roundoff(system);
    let ratio = |r: f64, s: f64, floor: f64| {
        if r == 0.0 {
            0.0
        } else if s <= roundoff * floor {
            r / (s + floor)
        } else {
            r / s
        }
    };
    // A quotient that is surely below the largest so far need not be known. NaN is never sure; a
    // floor only makes it smaller.
    let surely_less = |a: f64, b: f64, largest: f64| a <= SURELY * largest * b;
    let (ends, w) = (&system.w.pattern().offsets()[1..=n], system.w.values());
    for block in system.primal_blocks().windows(2) {
        let own = block[0]..block[1];
        // The diagonal is the last entry of a row of a lower triangle.
        let diagonal = |i: usize| w[ends[i] as usize - 1].abs();
        let free = own.clone().filter(|i| !system.fixed[*i]);
        let largest = free.fold(0.0, |a, i| max(a, primal_scale[i] / diagonal(i)));
        velocity[own.clone()].fill(largest);
        for i in own {
            if system.fixed[i] {
                primal[i] = 0.0;
                continue;
            }
            let (size, own) = (primal[i].abs(), diagonal(i));
            if !surely_less(size, own, out.primal) {
                out.primal = max(out.primal, size / own);
            }
            if !surely_less(size, primal_scale[i], out.relative) {
                out.relative = max(out.relative, ratio(size, primal_scale[i], own * largest));
            }
        }
    }
    for i in (0..m).filter(|i| !is_held(states, *i)) {
        out.row = max(out.row, row[i].abs());
        if !dropped[i] && !surely_less(row[i].abs(), row_scale[i], out.relative) {
            let floor = system
                .j
                .row_entries(i)
                .fold(0.0f64, |a, (k, v)| larger(a, v.abs() * velocity[k]));
            out.relative = max(out.relative, ratio(row[i].abs(), row_scale[i], floor));
        }
    }
    out
}
