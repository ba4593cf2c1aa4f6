//! The central path of interior points, followed around its turning points.

mod law;

use super::newton::Jacobian;
use super::report::Tracker;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use crate::Elimination;
use law::smooth;

/// Follows the solutions of the problem with smoothed laws,
///
/// ```math
/// A r + b = u,   S r o S^-1 v = tau e,   v = u + mu |u_t| n,
/// ```
///
/// from a large `tau`, where Newton's method finds the one there is, to one so small that the residual holds, by the length of the path instead of by `tau`.
///
/// With friction the problem is no convex program, and this path turns back where contacts jam: `tau` has to grow again for a while. [`InteriorPoint`](super::InteriorPoint),
/// and every method that insists on getting nearer, ends there; the path does not. Each step goes along the tangent and is corrected by Newton's method across it
/// (Keller's pseudo-arclength; Allgower and Georg 2003), twice as far where that was easy and half as far where it was not. The variable of a
/// contact is `z = S r - S^-1 v/s`, so that impulse and velocity are inside their cones whatever it is, and lengths are measured as `s z` in shares of the largest `|b|`.
/// With redundant contacts impulses are not unique: `A + e D` is taken for `A`, `e` a thousandth of the tolerance and `D` the [scales](Problem::scale) of the blocks; the residual that the report has is that of `A`.
///
/// Where the path of a problem that has a solution starts at the only point there is, it has nowhere else to end but at a solution; a problem without solution leads it away, until
/// the iterations end. Slow, several hundred factorisations for some three hundred contacts at rest on each other, and for problems that nothing else solves. An iteration is a
/// factorisation, with the cost of one of [`Newton`](super::Newton). The impulse at the start means nothing. Nothing is allocated for problems no larger than before.
#[derive(Clone, Debug)]
pub struct CentralPath {
    /// May be changed at any time.
    pub limits: Limits,
    tracker: Tracker,
    jacobian: Jacobian,
    /// Length of the path per impulse, by row.
    weight: Vec<f64>,
    /// Sum of squares of `weight` times the number is the length of a change.
    now: Place,
    next: Place,
    /// Tangent.
    along: Vec<f64>,
    along_time: f64,
    /// Largest `|b|` (m/s), and a work (J).
    speed: f64,
    work: f64,
    compliance: f64,
    /// Two right-hand sides and their solutions: the Newton step at constant `tau`, and the change of the solution with `t`.
    pair: Vec<f64>,
    scratch: Vec<f64>,
    iterations: usize,
}

impl Default for CentralPath {
    fn default() -> Self {
        Self::new(Limits {
            max_iterations: 2000,
            ..Limits::default()
        })
    }
}

/// A point near the path, and what the laws make of it.
#[derive(Clone, Debug, Default)]
struct Place {
    z: Vec<f64>,
    /// Share of the way in the logarithm of `tau`.
    t: f64,
    r: Vec<f64>,
    /// What is missed, and its derivative by `t` (m/s).
    miss: Vec<f64>,
    drift: Vec<f64>,
    by_r: Vec<f64>,
    by_u: Vec<f64>,
    lift: Vec<f64>,
    first: Vec<f64>,
}

/// `tau` at the start and at `t = 1` in shares of the work.
const START: f64 = 1e2;
const END: f64 = 1e-17;
/// Where the path is given up: rounding of `A r` is more than `tau` then.
const PAST: f64 = 1.2;
/// Share of the scale of a block that is added to its rows: a thousandth of the tolerance, between these.
const COMPLIANCE: (f64, f64) = (1e-14, 1e-9);
/// First and longest step.
const FIRST: f64 = 0.5;
const LONGEST: f64 = 1e3;
/// Share of a step that a correction may have, length at which it is done, and steps at most.
const ACROSS: f64 = 0.3;
const DONE: (f64, f64) = (1e-2, 1e-5);
const CORRECTIONS: usize = 7;
/// Cosine between two tangents below which the step was too long.
const TURN: f64 = 0.1;
/// Step below which the path is lost.
const LOST: f64 = 1e-9;

impl Place {
    fn resize(&mut self, problem: &Problem) {
        let (m, squares) = (problem.size(), problem.squares());
        for list in [&mut self.z, &mut self.r, &mut self.miss, &mut self.drift] {
            list.clear();
            list.resize(m, 0.0);
        }
        for list in [&mut self.by_r, &mut self.by_u, &mut self.lift] {
            list.clear();
            list.resize(squares, 0.0);
        }
        self.first.clear();
        self.first.resize(problem.blocks(), 1.0);
    }

    fn copy_from(&mut self, other: &Self) {
        self.t = other.t;
        for (to, from) in [
            (&mut self.z, &other.z),
            (&mut self.r, &other.r),
            (&mut self.miss, &other.miss),
            (&mut self.drift, &other.drift),
            (&mut self.by_r, &other.by_r),
            (&mut self.by_u, &other.by_u),
            (&mut self.lift, &other.lift),
            (&mut self.first, &other.first),
        ] {
            to.copy_from_slice(from);
        }
    }

    /// Everything from `z` and `t`; `u` takes `A r + b`. Cost: two products.
    fn evaluate(&mut self, problem: &Problem, (work, e): (f64, f64), u: &mut [f64], scratch: &mut [f64]) {
        let range = (END / START).ln();
        let tau = work * START * (range * self.t).exp();
        for (k, cone) in problem.cones().iter().enumerate() {
            let (rows, square) = (problem.rows(k), problem.square(k));
            let (d, s) = (rows.len(), problem.scale(k));
            let law = smooth(cone, s, tau, &self.z[rows.clone()]);
            self.r[rows.clone()].copy_from_slice(&law.r[..d]);
            for (i, row) in rows.enumerate() {
                self.miss[row] = e * s * law.r[i] - law.u[i];
                scratch[row] = range * tau * law.r_tau[i];
                self.drift[row] = e * s * scratch[row] - range * tau * law.u_tau[i];
            }
            self.by_r[square.clone()].copy_from_slice(&law.by_r[..d * d]);
            self.by_u[square.clone()].copy_from_slice(&law.by_u[..d * d]);
            self.lift[square].copy_from_slice(&law.lift[..d * d]);
            self.first[k] = law.first;
        }
        let m = problem.size();
        problem.delassus().rows_times(0..m, scratch, u);
        self.drift.iter_mut().zip(&*u).for_each(|(d, x)| *d += x);
        problem.velocity_into(&self.r, u);
        self.miss.iter_mut().zip(&*u).for_each(|(d, x)| *d += x);
    }

    /// `y += sign X x` for one of the matrices by blocks.
    fn add(problem: &Problem, matrix: &[f64], sign: f64, x: &[f64], y: &mut [f64]) {
        for k in 0..problem.blocks() {
            let (rows, square) = (problem.rows(k), problem.square(k).start);
            let d = rows.len();
            for i in 0..d {
                let terms = (0..d).map(|l| matrix[square + i * d + l] * x[rows.start + l]);
                y[rows.start + i] += sign * terms.sum::<f64>();
            }
        }
    }
}

impl CentralPath {
    /// A solver with given limits; an iteration is a factorisation.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tracker: Tracker::default(),
            jacobian: Jacobian::default(),
            weight: Vec::new(),
            now: Place::default(),
            next: Place::default(),
            along: Vec::new(),
            along_time: 1.0,
            speed: 1.0,
            work: 1.0,
            compliance: 0.0,
            pair: Vec::new(),
            scratch: Vec::new(),
            iterations: 0,
        }
    }

    /// The order of elimination in use.
    pub(crate) fn order(&self) -> Option<Elimination> {
        self.jacobian.order()
    }

    /// The order for the next pattern, if it fits.
    pub(crate) fn impose(&mut self, order: Option<Elimination>) {
        self.jacobian.impose(order);
    }

    fn begin(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        let m = problem.size();
        self.jacobian.prepare(problem)?;
        self.speed = problem.b().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        if self.speed == 0.0 {
            self.speed = 1.0;
        }
        let blocks = problem.blocks().max(1) as f64;
        let middle = ((0..problem.blocks()).map(|k| problem.scale(k).ln()).sum::<f64>() / blocks).exp();
        self.work = self.speed * self.speed / middle;
        self.weight.clear();
        for k in 0..problem.blocks() {
            let weight = problem.scale(k) / self.speed;
            self.weight.extend(problem.rows(k).map(|_| weight));
        }
        self.now.resize(problem);
        self.next.resize(problem);
        for (list, size) in [(&mut self.along, m), (&mut self.scratch, m), (&mut self.pair, 2 * m)] {
            list.clear();
            list.resize(size, 0.0);
        }
        self.compliance = (1e-3 * self.limits.tolerance).clamp(COMPLIANCE.0, COMPLIANCE.1);
        self.iterations = 0;
        Ok(())
    }

    fn evaluate(&mut self, problem: &Problem) {
        let Self { next, tracker, scratch, .. } = self;
        next.evaluate(problem, (self.work, self.compliance), &mut tracker.u, scratch);
    }

    /// Product of two changes.
    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let terms = self.weight.iter().zip(a).zip(b).map(|((w, a), b)| (w * a) * (w * b));
        terms.sum()
    }

    /// Two changes of `z` at the next place: that which takes the miss away, and that by which `z` follows `t`. False if the factorisation fails.
    ///
    /// With `S dr = P dz` and `s (1 - P) dz = -s L du`, `L` the lift, the equation `A dr - du = -g` times `P S^-1 V` is `(by_r + by_u A) dr = -by_u g`, regular wherever the path is, and
    /// `dz = S dr - L (g + A dr)`.
    fn changes(&mut self, problem: &Problem) -> bool {
        let m = problem.size();
        self.iterations += 1;
        let place = &self.next;
        self.pair.fill(0.0);
        let (first, second) = self.pair.split_at_mut(m);
        Place::add(problem, &place.by_u, -1.0, &place.miss, first);
        Place::add(problem, &place.by_u, -1.0, &place.drift, second);
        let blocks = (&place.by_r[..], &place.by_u[..]);
        if !self.jacobian.solve(problem, blocks, self.compliance, &mut self.pair) {
            return false;
        }
        for (x, g) in self.pair.chunks_exact_mut(m).zip([&place.miss, &place.drift]) {
            problem.delassus().rows_times(0..m, x, &mut self.scratch);
            for k in 0..problem.blocks() {
                let (rows, s) = (problem.rows(k), problem.scale(k));
                for i in rows.clone() {
                    self.scratch[i] += g[i] + self.compliance * s * x[i];
                }
                x[rows.start] *= place.first[k];
            }
            Place::add(problem, &place.lift, -1.0, &self.scratch, x);
        }
        self.pair.iter().all(|x| x.is_finite())
    }

    /// The solution at the start, by Newton's method with a line search; false if it does not get there.
    fn land(&mut self, problem: &Problem) -> bool {
        let largest = |x: &[f64]| x.iter().fold(0.0, |a: f64, x| a.hypot(*x));
        self.evaluate(problem);
        let mut miss = largest(&self.next.miss);
        for _ in 0..100 {
            if miss <= 1e-9 * self.speed {
                return true;
            }
            if !self.changes(problem) {
                return false;
            }
            self.now.copy_from(&self.next);
            let mut share = 1.0;
            loop {
                for i in 0..problem.size() {
                    self.next.z[i] = self.now.z[i] + share * self.pair[i];
                }
                self.evaluate(problem);
                let trial = largest(&self.next.miss);
                if trial < (1.0 - 1e-4 * share) * miss {
                    miss = trial;
                    break;
                }
                share *= 0.5;
                if share < 1e-6 {
                    // Rounding, or a start that is not unique.
                    return miss <= 1e-6 * self.speed;
                }
            }
        }
        false
    }

    /// From the place now by a step along the tangent, and back to the path; the number of corrections, or none if it does not return.
    fn advance(&mut self, problem: &Problem, step: f64) -> Option<usize> {
        let m = problem.size();
        for i in 0..m {
            self.next.z[i] = self.now.z[i] + step * self.along[i];
        }
        self.next.t = self.now.t + step * self.along_time;
        let mut before = f64::INFINITY;
        for pass in 0..CORRECTIONS {
            self.evaluate(problem);
            if !self.changes(problem) {
                return None;
            }
            // Across the tangent.
            let (miss, drift) = self.pair.split_at(m);
            let (a, q) = (self.product(&self.along, miss), self.product(&self.along, drift));
            let dt = -a / (q + self.along_time);
            let mut square = dt * dt;
            for i in 0..m {
                let dz = self.pair[i] + dt * self.pair[m + i];
                square += (self.weight[i] * dz).powi(2);
                self.next.z[i] += dz;
            }
            self.next.t += dt;
            let length = square.sqrt();
            if length.is_nan() || length > ACROSS * step || length > 0.5 * before {
                return None;
            }
            if length < (DONE.0 * step).min(DONE.1) {
                return Some(pass);
            }
            before = length;
        }
        None
    }

    /// The tangent at the next place into the pair, pointing onward; its part along `t` and the cosine with the one before. The place is
    /// corrected once more by the same factor.
    fn tangent(&mut self, problem: &Problem) -> Option<(f64, f64)> {
        let m = problem.size();
        self.evaluate(problem);
        if !self.changes(problem) {
            return None;
        }
        let (miss, drift) = self.pair.split_at(m);
        let (a, q) = (self.product(&self.along, miss), self.product(&self.along, drift));
        let dt = -a / (q + self.along_time);
        let correction = |i: usize| miss[i] + dt * drift[i];
        let square = dt * dt + (0..m).map(|i| (self.weight[i] * correction(i)).powi(2)).sum::<f64>();
        if square.sqrt() <= DONE.0 {
            for i in 0..m {
                self.next.z[i] += correction(i);
            }
            self.next.t += dt;
        }
        let length = (self.product(drift, drift) + 1.0).sqrt();
        let cosine = (q + self.along_time) / length;
        let sign = if cosine < 0.0 { -1.0 } else { 1.0 } / length;
        self.pair[m..].iter_mut().for_each(|x| *x *= sign);
        length.is_finite().then_some((sign, cosine.abs()))
    }

    /// The whole path.
    fn follow(&mut self, problem: &Problem) -> Outcome {
        let m = problem.size();
        if !self.land(problem) {
            return Outcome::Breakdown;
        }
        self.along_time = 1.0;
        let (mut step, mut corrections) = (FIRST, None);
        loop {
            let Some((time, cosine)) = self.tangent(problem) else {
                return Outcome::Breakdown;
            };
            if corrections.is_some() && cosine < TURN && step > LOST {
                // Around a corner: what is onward is told from nearer.
                step *= 0.5;
            } else {
                self.along_time = time;
                self.along.copy_from_slice(&self.pair[m..]);
                self.evaluate(problem);
                self.now.copy_from(&self.next);
                if let Some(end) = self.tracker.look_at(problem, &self.now.r)
                    && end != Outcome::Stagnated
                {
                    return end;
                }
                if self.now.t > PAST {
                    return Outcome::Stagnated;
                }
                match corrections {
                    Some(0..=2) => step = LONGEST.min(2.0 * step),
                    Some(4..) => step *= 0.7,
                    _ => {}
                }
            }
            loop {
                if self.iterations >= self.limits.max_iterations {
                    return Outcome::MaxIterations;
                }
                corrections = self.advance(problem, step);
                if corrections.is_some() {
                    break;
                }
                step *= 0.5;
                if step < LOST {
                    return Outcome::Stagnated;
                }
            }
        }
    }
}

impl Solver for CentralPath {
    fn method(&self) -> Method {
        Method::CentralPath
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.refuse_pyramids(self.method())?;
        problem.refuse_rolling()?;
        let mut end = self.tracker.start(problem, r, self.limits)?;
        self.iterations = 0;
        if end.is_none() {
            self.begin(problem)?;
            end = Some(self.follow(problem));
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self.tracker.finish(problem, r, Method::CentralPath, end, self.iterations))
    }
}
