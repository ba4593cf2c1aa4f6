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
/// from a large `tau`, where Newton's method finds the one there is (or, where it does not, the laws are moved so that the start is one, and move back with `tau`), to one so small that the residual holds, by the length of the path instead of by `tau`.
///
/// With friction the problem is no convex program, and this path turns back where contacts jam: `tau` has to grow again for a while. [`InteriorPoint`](super::InteriorPoint),
/// and every method that insists on getting nearer, ends there; the path does not. Each step goes along the tangent and is corrected by Newton's method across it
/// (Keller's pseudo-arclength; Allgower and Georg 2003), twice as far where that was easy and half as far where it was not. The variable of a
/// contact is `z = S r - S^-1 v/s`, so that impulse and velocity are inside their cones whatever it is, and lengths are measured as `s z` in shares of the largest `|b|`.
/// With redundant contacts impulses are not unique: `A + e D` is taken for `A`, `e` a tenth of the tolerance and `D` the [scales](Problem::scale) of the blocks, and proximal points take it out again at the end; the residual that the report has is that of `A`.
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
    /// Impulse at which the compliance is at rest (N s).
    anchor: Vec<f64>,
    /// What the start missed (m/s).
    offset: Vec<f64>,
    /// Two right-hand sides and their solutions: the Newton step at constant `tau`, and the change of the solution with `t`.
    pair: Vec<f64>,
    rest: Vec<f64>,
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
/// Newton's steps at the end.
const SETTLINGS: usize = 20;
/// What they add to `t` each, and up to where: where many contacts are about to slip, their velocities are the root of `tau`.
const DEEPER: f64 = 0.05;
const DEEPEST: f64 = 1.3;
/// Share of the scale of a block that is added to its rows: a tenth of the tolerance, between these. (Less, and rounding hides what impulses of redundant contacts are.)
const COMPLIANCE: (f64, f64) = (1e-13, 1e-9);
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
        self.t = 0.0;
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
            anchor: Vec::new(),
            offset: Vec::new(),
            pair: Vec::new(),
            rest: Vec::new(),
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
        for (list, size) in [
            (&mut self.along, m),
            (&mut self.scratch, m),
            (&mut self.pair, 2 * m),
            (&mut self.rest, 2 * m),
            (&mut self.offset, m),
            (&mut self.anchor, m),
        ] {
            list.clear();
            list.resize(size, 0.0);
        }
        self.compliance = (0.1 * self.limits.tolerance).clamp(COMPLIANCE.0, COMPLIANCE.1);
        self.iterations = 0;
        Ok(())
    }

    fn evaluate(&mut self, problem: &Problem) {
        let Self {
            next,
            tracker,
            scratch,
            ..
        } = self;
        next.evaluate(problem, (self.work, self.compliance), &mut tracker.u, scratch);
        for k in 0..problem.blocks() {
            let s = self.compliance * problem.scale(k);
            for i in problem.rows(k) {
                next.miss[i] -= s * self.anchor[i];
            }
        }
        // What the start missed is given back as `tau` falls.
        let range = (END / START).ln();
        let share = (range * next.t).exp();
        for ((miss, drift), start) in next.miss.iter_mut().zip(&mut next.drift).zip(&self.offset) {
            *miss -= share * start;
            *drift -= range * share * start;
        }
    }

    /// Product of two changes.
    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let terms = self
            .weight
            .iter()
            .zip(a)
            .zip(b)
            .map(|((w, a), b)| (w * a) * (w * b));
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
        if !self
            .jacobian
            .solve(problem, blocks, self.compliance, &mut self.pair)
        {
            return false;
        }
        // Refined once against the operator as it is: the factor of the saddle-point system has no pivots to choose.
        self.rest.fill(0.0);
        for (x, (rest, g)) in
            (self.pair.chunks_exact(m)).zip(self.rest.chunks_exact_mut(m).zip([&place.miss, &place.drift]))
        {
            problem.delassus().rows_times(0..m, x, &mut self.scratch);
            for k in 0..problem.blocks() {
                let s = self.compliance * problem.scale(k);
                for i in problem.rows(k) {
                    self.scratch[i] += g[i] + s * x[i];
                }
            }
            Place::add(problem, &place.by_u, -1.0, &self.scratch, rest);
            Place::add(problem, &place.by_r, -1.0, x, rest);
        }
        if !self.jacobian.again(problem, &mut self.rest) {
            return false;
        }
        self.pair.iter_mut().zip(&self.rest).for_each(|(x, d)| *x += d);
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
        let square = dt * dt
            + (0..m)
                .map(|i| (self.weight[i] * correction(i)).powi(2))
                .sum::<f64>();
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

    /// At the end of the path, Newton's method with the compliance at rest where the impulses are: `tau` is far below it by then, so that they hardly move, and
    /// what it made of the velocities is gone (proximal points).
    fn settle(&mut self, problem: &Problem) -> Outcome {
        let m = problem.size();
        for _ in 0..SETTLINGS {
            self.next.t = (self.next.t + DEEPER).clamp(1.0, DEEPEST);
            self.anchor.copy_from_slice(&self.next.r);
            self.evaluate(problem);
            if !self.changes(problem) {
                return Outcome::Breakdown;
            }
            for (z, dz) in self.next.z.iter_mut().zip(&self.pair[..m]) {
                *z += dz;
            }
            self.evaluate(problem);
            if let Some(end) = self.tracker.look_at(problem, &self.next.r) {
                return end;
            }
        }
        Outcome::Stagnated
    }

    /// The whole path.
    fn follow(&mut self, problem: &Problem) -> Outcome {
        let m = problem.size();
        // The problem that the start solves turns into the one asked for.
        self.evaluate(problem);
        self.offset.copy_from_slice(&self.next.miss);
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
                if self.now.t >= 1.0 {
                    return self.settle(problem);
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
                    // Rounding, as a rule; what is there may be near enough.
                    self.next.copy_from(&self.now);
                    return self.settle(problem);
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
        Ok(self
            .tracker
            .finish(problem, r, Method::CentralPath, end, self.iterations))
    }
}
