//! Modulus-based matrix splitting with Anderson's acceleration.

use super::anderson::{Anderson, DEEPEST};
use super::cone::ROWS;
use super::report::Tracker;
use super::{Cone, Limits, Method, Outcome, Problem, ProblemError, Report, Solver};

/// Options of [`ModulusSplitting`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModulusSplittingOptions {
    /// Limits; an iteration is a sweep.
    pub limits: Limits,
    /// Steps that Anderson's acceleration looks back on, at most 20; none for the plain iteration.
    pub depth: usize,
    /// `omega` as a multiple of the block's [`scale`](Problem::scale), above zero.
    pub shift: f64,
}

impl Default for ModulusSplittingOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            depth: 8,
            shift: 1.0,
        }
    }
}

/// The law of a block as an equation for one unknown `z` (N s), with the modulus
/// `|z| = 2 P_K(z) - z` of the admissible set `K` of its impulses:
///
/// ```math
/// r = (|z| + z)/2,   u + s n = omega (|z| - z)/2,   s = mu |u_t|
/// ```
///
/// (for a [`Cone::Pyramid`] its own [`shift`](Cone::shift)). For a unilateral row that is the
/// absolute value (van Bokhoven 1981; Murty 1988), for a contact with `mu = 1` the spectral modulus
/// of the Jordan algebra of the cone; the reflection at `K` does for every `mu` and for bounds.
/// With the blocks `D` of the diagonal `A r + b = u` becomes the splitting of Gauss and Seidel (Bai
/// 2010, with the newest values as in Zheng and Yin 2013):
///
/// ```math
/// (omega + D) z_k <- (omega - D) |z_k| - 2 (sum_{i != k} A_ki r_i + b_k + s n)
/// ```
///
/// taken three times for a block of more than one row. For one row and `omega = D` that is
/// projected Gauss-Seidel. For symmetric definite `D` the map of a block alone is a contraction
/// while `s` is held; with friction there is no proof for the whole. Anderson's acceleration
/// extrapolates from the last sweeps and takes a step back that makes things worse. Cost of a
/// sweep: two products with `A`, one of them for the residual. Nothing is allocated after the first
/// solve of a size.
#[derive(Clone, Debug, Default)]
pub struct ModulusSplitting {
    /// May be changed at any time.
    pub options: ModulusSplittingOptions,
    tracker: Tracker,
    anderson: Anderson,
    z: Vec<f64>,
    /// `z` after the sweep.
    swept: Vec<f64>,
    /// `omega + D`, inverted, one square matrix per block, and `omega` of each row.
    inverse: Vec<f64>,
    omega: Vec<f64>,
}

/// Steps of a block of several rows in a sweep.
const TURNS: usize = 3;

/// Inverse of a small matrix, row by row, by elimination with partial pivoting, which uses up the
/// matrix; false if there is none.
fn invert(d: usize, a: &mut [f64], out: &mut [f64]) -> bool {
    let out = &mut out[..d * d];
    for (at, x) in out.iter_mut().enumerate() {
        *x = f64::from(u8::from(at / d == at % d));
    }
    for p in 0..d {
        let size = |i: &usize| a[i * d + p].abs();
        let pivot = (p..d).max_by(|i, k| size(i).total_cmp(&size(k))).unwrap_or(p);
        for k in 0..d {
            a.swap(p * d + k, pivot * d + k);
            out.swap(p * d + k, pivot * d + k);
        }
        let inverse = 1.0 / a[p * d + p];
        for k in 0..d {
            a[p * d + k] *= inverse;
            out[p * d + k] *= inverse;
        }
        for i in (0..d).filter(|i| *i != p) {
            let factor = a[i * d + p];
            for k in 0..d {
                a[i * d + k] -= factor * a[p * d + k];
                out[i * d + k] -= factor * out[p * d + k];
            }
        }
    }
    out.iter().all(|x| x.is_finite())
}

impl ModulusSplitting {
    /// A solver with given options.
    pub fn new(options: ModulusSplittingOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Takes the diagonal, and `z = r - (u + s n)/omega` from the start. False if a block cannot be
    /// inverted.
    fn begin(&mut self, problem: &Problem, r: &[f64]) -> bool {
        let mut fine = true;
        self.inverse.clear();
        self.inverse.resize(problem.squares(), 0.0);
        for v in [&mut self.z, &mut self.swept, &mut self.omega] {
            v.clear();
            v.resize(r.len(), 0.0);
        }
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let d = rows.len();
            let omega = self.options.shift * problem.scale(k);
            self.omega[rows.clone()].fill(omega);
            let mut sum = [0.0; ROWS * ROWS];
            sum[..d * d].copy_from_slice(problem.diagonal_block(k));
            (0..d).for_each(|i| sum[i * d + i] += omega);
            fine &= invert(d, &mut sum, &mut self.inverse[problem.square(k)]);
            let u = &self.tracker.u[rows.clone()];
            let s = cone.shift(u);
            for (l, i) in rows.enumerate() {
                let shift = if l == 0 { s } else { 0.0 };
                self.z[i] = r[i] - (u[l] + shift) / omega;
            }
        }
        fine
    }

    /// One sweep from `z` to `swept`; `r` becomes the impulse of that.
    fn sweep(&mut self, problem: &Problem, r: &mut [f64]) {
        self.swept.copy_from_slice(&self.z);
        r.copy_from_slice(&self.z);
        problem.project(r);
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let d = rows.len();
            let (a, inverse) = (problem.diagonal_block(k), &self.inverse[problem.square(k)]);
            let omega = self.omega[rows.start];
            let mut c = [0.0; ROWS];
            problem.delassus().rows_times(rows.clone(), r, &mut c[..d]);
            let (z, r) = (&mut self.swept[rows.clone()], &mut r[rows.clone()]);
            for i in 0..d {
                c[i] += problem.b()[rows.start + i] - (0..d).map(|l| a[i * d + l] * r[l]).sum::<f64>();
            }
            for _ in 0..if d == 1 { 1 } else { TURNS } {
                turn(cone, a, inverse, omega, &c[..d], z, r);
            }
        }
    }
}

/// The step of one block: `c` is its velocity without its own impulse.
fn turn(cone: &Cone, a: &[f64], inverse: &[f64], omega: f64, c: &[f64], z: &mut [f64], r: &mut [f64]) {
    let d = z.len();
    let of = |x: &[f64], i: usize| (0..d).map(|l| a[i * d + l] * x[l]).sum::<f64>();
    let mut x = [0.0; ROWS];
    if d > 1 {
        let mut u = [0.0; ROWS];
        for i in 1..d {
            u[i] = c[i] + of(r, i);
        }
        x[0] = -2.0 * cone.shift(&u[..d]);
    }
    let mut modulus = [0.0; ROWS];
    for i in 0..d {
        modulus[i] = 2.0 * r[i] - z[i];
    }
    for i in 0..d {
        x[i] += omega * modulus[i] - of(&modulus, i) - 2.0 * c[i];
    }
    for i in 0..d {
        z[i] = (0..d).map(|l| inverse[i * d + l] * x[l]).sum();
    }
    r.copy_from_slice(z);
    cone.project(r);
}

impl Solver for ModulusSplitting {
    fn method(&self) -> Method {
        Method::ModulusSplitting
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let options = self.options;
        let refuse = |what, value| Err(ProblemError::Option { what, value });
        if !(options.shift > 0.0 && options.shift < f64::INFINITY) {
            return refuse("the shift, above zero,", options.shift);
        }
        if options.depth > DEEPEST {
            return refuse("the depth, at most 20,", options.depth as f64);
        }
        let mut end = self.tracker.start(problem, r, options.limits)?;
        let mut iterations = 0;
        if end.is_none() {
            if !self.begin(problem, r) {
                end = Some(Outcome::Breakdown);
            }
            self.anderson.start(r.len(), options.depth);
        }
        while end.is_none() && iterations < options.limits.max_iterations {
            iterations += 1;
            self.sweep(problem, r);
            let sweep = problem.delassus().cost_of_sweep(problem.blocks());
            self.tracker.spend(sweep);
            end = self.tracker.look(problem, r);
            self.anderson.step(&mut self.z, &self.swept, &self.omega);
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self
            .tracker
            .finish(problem, r, Method::ModulusSplitting, end, iterations))
    }
}

#[cfg(test)]
mod tests {
    use super::invert;

    #[test]
    fn inverses() {
        let mut out = [0.0; 9];
        assert!(invert(1, &mut [4.0], &mut out) && out[0] == 0.25);
        assert!(invert(2, &mut [2.0, 1.0, 1.0, 1.0], &mut out));
        assert_eq!(out[..4], [1.0, -1.0, -1.0, 2.0]);
        // The first pivot is zero.
        let mut a = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0];
        assert!(invert(3, &mut a, &mut out));
        assert_eq!(out, [0.0, 0.0, 0.5, 0.0, 1.0, -0.5, 1.0, -1.0, 0.5]);
        assert!(!invert(2, &mut [1.0, 1.0, 1.0, 1.0], &mut out));
    }
}
