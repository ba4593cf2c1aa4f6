//! The central path of interior points, followed around its turning points.

mod law;
mod point;

use super::jacobian::{Jacobian, Wanted};
use super::report::Tracker;
use super::{Limits, Method, Newton, NewtonOptions, Outcome, Problem, ProblemError, Report, Solver};
use crate::Elimination;
use point::{Course, PathPoint, RANGE, subtract};

/// Follows the solutions of the problem with smoothed laws,
///
/// ```math
/// A r + b = u,   S r o S^-1 v = tau e,   v = u + mu |u_t| n,
/// ```
///
/// (where a contact resists spin or rolling too,
/// `v = u + (mu |u_t| + torsion |u_s| + rolling |u_r|) n` is smoothed by the barrier of its discs,
/// `-1/2 sum_i ln(mu_i^2 r_n^2 - |r_i|^2)`), by the length of their path, from a large `tau` to one
/// so small that the residual holds. At the start `b` is such that `z = 0` is a solution; it
/// becomes the one that is given in step with `tau`.
///
/// With friction the problem is no convex program, and this path turns back where contacts jam:
/// `tau` has to grow again for a while. [`InteriorPoint`](super::InteriorPoint), and every method
/// that insists on getting nearer, ends there; the path does not. Where it turns back, the
/// determinant of its equations changes its sign: so which way is onward is known at every place of
/// it, and a step that has jumped to another branch, where onward is backwards, is taken anew from
/// nearer (without that, heaps of 200 balls went back the way they came). Each step goes along the
/// tangent and is corrected by Newton's method across it (Keller's pseudo-arclength; Allgower and
/// Georg 2003), twice as far where that was easy and half as far where it was not. The variable of
/// a contact is `z = S r - S^-1 v/s`, so that impulse and velocity are inside their cones whatever
/// it is, and lengths are measured as `s z` in shares of the largest `|b|`. With redundant contacts
/// impulses are not unique: `A + e D` is taken for `A`, `e` a hundredth of the tolerance (a tenth
/// where the factor has no pivots to choose) and `D` the [scales](Problem::scale) of the blocks,
/// and proximal points take it out again at the end; the residual that the report has is that of
/// `A`.
///
/// No proof that the path ends at a solution; where it leads away or is lost to rounding, the
/// outcome says so. Slow: some hundreds of factorisations, up to 1,000 for four hundred contacts at
/// rest on each other, so it is for problems that quicker methods do not solve. An iteration is a
/// factorisation (corrections that hardly move use the last one).
///
/// From an impulse that is given the path begins in its middle, at the place and the `b` that
/// belong to that impulse, with the factor of [`Newton`], a sixth of the cost of the one below.
/// Where it is lost or long, it begins at `z = 0` with the same factor, then with one that
/// exchanges rows ([`LuFactor`](pliant_sparse::LuFactor), from 60 rows on, where the entries of `A`
/// are kept by compressed rows, as they are for contacts of bodies), and at last without sharing
/// factors. [`Newton`] ends it as soon as it can. [`Limits::patience`] means nothing. Nothing is
/// allocated for problems no larger than before, but for fill, which depends on the values.
#[derive(Clone, Debug)]
pub struct CentralPath {
    /// May be changed at any time.
    pub limits: Limits,
    tracker: Tracker,
    jacobian: Jacobian,
    /// For the end; it works with the factors of the path.
    newton: Newton,
    course: Course,
    /// Where the path was left last: `z` and `t`.
    z: Vec<f64>,
    t: f64,
    /// Tangent there, of length one: its parts along `z` and `t`.
    along: Vec<f64>,
    along_t: f64,
    next: PathPoint,
    /// Whether the determinant was negative at the start.
    turned: Option<bool>,
    /// Two right-hand sides and their solutions: the change of `z` that takes the miss away at
    /// constant `t`, and that by which `z` follows `t`.
    pair: Vec<f64>,
    rest: Vec<f64>,
    scratch: Vec<f64>,
    count: Count,
}

/// Factorisations so far, and at the end of this pass.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    iterations: usize,
    most: usize,
}

impl Default for CentralPath {
    fn default() -> Self {
        Self::new(Limits {
            max_iterations: 3000,
            ..Limits::default()
        })
    }
}

/// Where the path ends: where many contacts are about to slip, their velocities are the root of
/// `tau`.
const DEEPEST: f64 = 1.3;
const LAST: f64 = 1.31;
/// Newton's steps at the end.
const SETTLINGS: usize = 20;
/// First and longest step.
const FIRST: f64 = 0.5;
const LONGEST: f64 = 1e3;
/// Share of a step that a correction may have, length at which it is done, and steps at most.
const ACROSS: f64 = 0.6;
const DONE: (f64, f64) = (1e-2, 1e-7);
const CORRECTIONS: usize = 7;
/// Share of a step below which a correction leaves the equations so nearly as they were that the
/// next one is solved with their factor.
const NEAR: f64 = 0.05;
/// Corrections up to which a step is easy, and from which it is hard.
const EASY: usize = 3;
const HARD: usize = 5;
/// Cosine between two tangents below which the step was too long.
const TURN: f64 = 0.1;
/// Step below which a determinant of the other sign is no other branch any more, if the cosine is
/// beyond minus this: two paths cross, as they do in symmetric problems.
const CROSSING: f64 = 1e-5;
const STRAIGHT: f64 = 0.99;
/// By how much faster `z` comes to rest than `t` goes on: it follows the root of `tau`.
const RATE: f64 = -0.5 * RANGE;
/// Step below which the path is lost.
const LOST: f64 = 1e-9;

/// Residual from which Newton's method may end the path, the share of that at its last attempt from
/// which it may try again, its steps, and those of them that may get no nearer: at half of the way
/// down ten steps do what the path does in sixty, or cannot be begun yet.
const NEAR_ENOUGH: f64 = 1e-4;
const NEARER: f64 = 0.1;
const ENDING: (usize, usize) = (12, 3);
/// Where a path begins that is given an impulse.
const MIDDLE: f64 = 0.2;

/// One way down the path.
#[derive(Clone, Copy, Debug)]
struct Pass {
    /// Begins at the impulse that is given, at [`MIDDLE`]; else at `z = 0`.
    warm: bool,
    wanted: Wanted,
    /// Corrections share factors.
    shares: bool,
    /// Factorisations at most.
    most: usize,
}

const fn pass(warm: bool, wanted: Wanted, shares: bool, most: usize) -> Pass {
    Pass {
        warm,
        wanted,
        shares,
        most,
    }
}

/// The ways down in the order in which they are tried: the quick factor from the middle and from
/// the start, then the one that exchanges rows. A path from the middle that comes to an end has
/// taken up to 300 factorisations in heaps of 200 balls; those beyond wander, where the path from
/// the start is as short as ever. Near its end a path can be lost to what shared factors leave, as
/// one of ten heaps was.
const PASSES: [Pass; 4] = [
    pass(true, Wanted::Speed, true, 400),
    pass(false, Wanted::Speed, true, 800),
    pass(false, Wanted::Pivots, true, usize::MAX),
    pass(false, Wanted::Pivots, false, usize::MAX),
];

/// With what the equations at a place are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    /// With their own, and one refinement.
    New,
    /// With the last one, of a place nearby, and two.
    Last,
}

impl CentralPath {
    /// A solver with given limits; an iteration is a factorisation.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tracker: Tracker::default(),
            jacobian: Jacobian::default(),
            newton: Newton::default(),
            course: Course::default(),
            z: Vec::new(),
            t: 0.0,
            along: Vec::new(),
            along_t: 1.0,
            turned: None,
            next: PathPoint::default(),
            pair: Vec::new(),
            rest: Vec::new(),
            scratch: Vec::new(),
            count: Count::default(),
        }
    }

    /// Writes the order of elimination in use, or that for the next pattern.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        self.jacobian.record(out);
    }

    /// Forgets all factors; the order is for the next pattern, if it fits.
    pub(crate) fn forget(&mut self, order: Option<Elimination>) {
        self.newton.forget(None);
        self.jacobian.forget(order);
    }

    /// Sets out from `z = 0`, or from an impulse.
    fn begin(&mut self, problem: &Problem, pass: Pass, r: &[f64]) -> Result<(), ProblemError> {
        let m = problem.size();
        self.jacobian.prepare(problem, pass.wanted)?;
        let pivots = self.jacobian.has_pivots();
        self.course.begin(problem, self.limits.tolerance, pivots);
        self.next.begin(problem);
        for (list, size) in [
            (&mut self.z, m),
            (&mut self.along, m),
            (&mut self.scratch, m),
            (&mut self.pair, 2 * m),
            (&mut self.rest, 2 * m),
        ] {
            list.clear();
            list.resize(size, 0.0);
        }
        (self.t, self.along_t, self.turned) = (0.0, 1.0, None);
        self.evaluate(problem);
        if pass.warm {
            self.set_out_from(problem, r);
        }
        let share = self.course.share_at(self.t);
        for (offset, miss) in self.course.offset.iter_mut().zip(&self.next.miss) {
            *offset = miss / share;
        }
        Ok(())
    }

    /// `z = S r - S^-1 v/s` of an impulse and its velocity, at [`MIDDLE`].
    fn set_out_from(&mut self, problem: &Problem, r: &[f64]) {
        let u = &mut self.scratch;
        problem.velocity_into(r, u);
        for (k, cone) in problem.cones().iter().enumerate() {
            let (rows, s) = (problem.rows(k), problem.scale(k));
            let (first, shift) = (self.next.first[k], cone.shift(&u[rows.clone()]));
            for row in rows.clone() {
                self.z[row] = r[row] - u[row] / s;
            }
            let n = rows.start;
            self.z[n] = first * r[n] - (u[n] + shift) / (first * s);
        }
        self.t = MIDDLE;
        self.next.z.copy_from_slice(&self.z);
        self.next.t = self.t;
        self.evaluate(problem);
    }

    /// Newton's method from here; its answer is the next place's impulse.
    fn finish(&mut self, problem: &Problem, pass: Pass) -> Result<Option<Outcome>, ProblemError> {
        self.newton.options = NewtonOptions {
            limits: Limits {
                max_iterations: ENDING
                    .0
                    .min(self.count.most.saturating_sub(self.count.iterations)),
                patience: ENDING.1,
                work: self.tracker.work_left(),
                history: false,
                ..self.limits
            },
            ..NewtonOptions::default()
        };
        self.scratch.copy_from_slice(&self.next.r);
        if pass.wanted == Wanted::Speed {
            self.newton.exchange_factors(&mut self.jacobian);
        }
        let found = self.newton.solve(problem, &mut self.scratch);
        if pass.wanted == Wanted::Speed {
            self.newton.exchange_factors(&mut self.jacobian);
        }
        let found = found?;
        self.count.iterations += found.iterations;
        self.tracker.spend(found.work);
        if found.outcome != Outcome::Converged {
            return Ok(None);
        }
        self.next.r.copy_from_slice(&self.scratch);
        Ok(self.look(problem))
    }

    fn evaluate(&mut self, problem: &Problem) {
        self.next.evaluate(problem, &self.course, &mut self.scratch);
    }

    /// Fills the pair at the next place. False if the factorisation fails, or if there are no
    /// iterations left. Cost: a factorisation if it is new, two or three solves and products for
    /// each of the pair.
    ///
    /// With `S dr = P dz` and `(1 - P) dz = -L du`, `L = S^-1 V / s`, the equation `A dr - du = -g`
    /// times `P S^-1 V` is `(by_r + by_u A) dr = -by_u g`, regular where the path is, and
    /// `dz = S dr - L (g + A dr)`. It is refined against the operator as it is: the factor of the
    /// saddle-point system has no pivots to choose, and the last one is another place's.
    fn changes(&mut self, problem: &Problem, factor: Factor) -> bool {
        if factor == Factor::New {
            if self.count.iterations >= self.count.most || self.tracker.is_overworked() {
                return false;
            }
            self.count.iterations += 1;
        }
        let m = problem.size();
        let Self {
            next,
            pair,
            rest,
            scratch,
            course,
            jacobian,
            tracker,
            ..
        } = self;
        // `g + (A + e D) dr`.
        let missed = |dr: &[f64], g: &[f64], out: &mut [f64]| {
            problem.delassus().rows_times(0..m, dr, out);
            for (((out, g), e), dr) in out.iter_mut().zip(g).zip(&course.compliance).zip(dr) {
                *out += g + e * dr;
            }
        };
        let sides = [&next.miss, &next.drift];
        pair.fill(0.0);
        for (x, g) in pair.chunks_exact_mut(m).zip(sides) {
            subtract(problem, &next.by_u, g, x);
        }
        let (solved, refinements) = match factor {
            Factor::New => {
                let solved = jacobian.solve(problem, &next.by_r, &next.by_u, course.share, pair);
                tracker.spend(jacobian.cost());
                (solved, 1)
            }
            Factor::Last => (jacobian.again(problem, pair), 2),
        };
        tracker.spend((1 + refinements) * sides.len() as u64 * problem.delassus().cost());
        if !solved {
            return false;
        }
        for _ in 0..refinements {
            rest.fill(0.0);
            for ((x, rest), g) in pair.chunks_exact(m).zip(rest.chunks_exact_mut(m)).zip(sides) {
                missed(x, g, scratch);
                subtract(problem, &next.by_u, scratch, rest);
                subtract(problem, &next.by_r, x, rest);
            }
            if !jacobian.again(problem, rest) {
                return false;
            }
            pair.iter_mut().zip(&*rest).for_each(|(x, d)| *x += d);
        }
        for (x, g) in pair.chunks_exact_mut(m).zip(sides) {
            missed(x, g, scratch);
            for (k, first) in next.first.iter().enumerate() {
                x[problem.rows(k).start] *= first;
            }
            subtract(problem, &next.lift, scratch, x);
        }
        pair.iter().all(|x| x.is_finite())
    }

    /// Why there are no changes.
    fn broken(&self) -> Outcome {
        if self.tracker.is_overworked() {
            Outcome::TooMuchWork
        } else if self.count.iterations >= self.count.most {
            Outcome::MaxIterations
        } else {
            Outcome::Breakdown
        }
    }

    /// The correction across the tangent that takes the miss away: the change `dt` of `t` (that of
    /// `z` is the first of the pair plus `dt` times the second), and its length.
    fn across(&self) -> (f64, f64) {
        let (miss, drift) = self.pair.split_at(self.along.len());
        let product = |x| self.course.product(&self.along, x);
        let dt = -product(miss) / (product(drift) + self.along_t);
        let parts = self.course.weight.iter().zip(miss.iter().zip(drift));
        let square: f64 = parts.map(|(w, (a, b))| (w * (a + dt * b)).powi(2)).sum();
        (dt, (dt * dt + square).sqrt())
    }

    fn correct(&mut self, dt: f64) {
        let (miss, drift) = self.pair.split_at(self.along.len());
        for (z, (a, b)) in self.next.z.iter_mut().zip(miss.iter().zip(drift)) {
            *z += a + dt * b;
        }
        self.next.t += dt;
    }

    /// A step along the tangent, and back to the path; the number of corrections, or none if it
    /// does not return. Corrections may share factors.
    fn advance(&mut self, problem: &Problem, step: f64, shares: bool) -> Option<usize> {
        let dt = step * self.along_t;
        let fade = RATE * dt;
        let way = if fade > 0.0 {
            -step * (-fade).exp_m1() / fade
        } else {
            step
        };
        for ((next, z), along) in self.next.z.iter_mut().zip(&self.z).zip(&self.along) {
            *next = z + way * along;
        }
        self.next.t = self.t + dt;
        let mut before = f64::INFINITY;
        for pass in 0..CORRECTIONS {
            self.evaluate(problem);
            let factor = if shares && before < NEAR * step {
                Factor::Last
            } else {
                Factor::New
            };
            if !self.changes(problem, factor) {
                return None;
            }
            let (dt, length) = self.across();
            if length.is_nan() || length > ACROSS * step || length > 0.5 * before {
                return None;
            }
            self.correct(dt);
            if length < (DONE.0 * step).min(DONE.1) {
                return Some(pass);
            }
            before = length;
        }
        None
    }

    /// Puts the tangent at the next place, as it was before the last correction, in place of the
    /// second of the pair; returns its part along `t` and the cosine between it and the one before.
    /// Where the path turns back, the determinant changes its sign, which says where onward is; a
    /// branch that was jumped to by mistake shows by its cosine.
    fn tangent(&mut self) -> Option<(f64, f64)> {
        let drift = &mut self.pair[self.along.len()..];
        let length = (self.course.product(drift, drift) + 1.0).sqrt();
        let cosine = (self.course.product(&self.along, drift) + self.along_t) / length;
        let turned = self.jacobian.is_turned();
        let sign = if turned == *self.turned.get_or_insert(turned) {
            1.0
        } else {
            -1.0
        };
        let along_t = sign / length;
        drift.iter_mut().for_each(|x| *x *= along_t);
        length.is_finite().then_some((along_t, sign * cosine))
    }

    /// Whether the next place is an answer, or no number: that it is no better than those before
    /// says nothing of a path that turns.
    fn look(&mut self, problem: &Problem) -> Option<Outcome> {
        let end = self.tracker.look(problem, &self.next.r);
        end.filter(|end| *end != Outcome::Stagnated)
    }

    /// At the end of the path, Newton's method with the compliance at rest where the impulses are:
    /// `tau` is far below it by then, so that they hardly move, and what it made of the velocities
    /// is gone (proximal points).
    fn settle(&mut self, problem: &Problem) -> Outcome {
        for _ in 0..SETTLINGS {
            self.course.anchor.copy_from_slice(&self.next.r);
            self.evaluate(problem);
            if !self.changes(problem, Factor::New) {
                return self.broken();
            }
            self.next
                .z
                .iter_mut()
                .zip(&self.pair)
                .for_each(|(z, dz)| *z += dz);
            self.evaluate(problem);
            if let Some(end) = self.look(problem) {
                return end;
            }
        }
        Outcome::Stagnated
    }

    /// The whole path.
    fn follow(&mut self, problem: &Problem, pass: Pass) -> Result<Outcome, ProblemError> {
        let (mut step, mut corrections) = (FIRST, None);
        let mut tried = NEAR_ENOUGH / NEARER;
        self.evaluate(problem);
        if !self.changes(problem, Factor::New) {
            return Ok(self.broken());
        }
        loop {
            let Some((along_t, cosine)) = self.tangent() else {
                return Ok(self.broken());
            };
            // Where paths cross, the determinant changes its sign although the path goes straight
            // on, however short the step.
            let crossing = cosine < -STRAIGHT && step < CROSSING;
            if corrections.is_some() && cosine < TURN && step > LOST && !crossing {
                // Around a corner, or on another branch: what is onward is told from nearer.
                step *= 0.5;
            } else {
                let tangent = self.pair[self.z.len()..].iter();
                let sign = if crossing { -1.0 } else { 1.0 };
                self.along_t = sign * along_t;
                self.along
                    .iter_mut()
                    .zip(tangent)
                    .for_each(|(a, x)| *a = sign * x);
                self.turned = self.turned.map(|turned| turned ^ crossing);
                self.evaluate(problem);
                self.z.copy_from_slice(&self.next.z);
                self.t = self.next.t;
                if let Some(end) = self.look(problem) {
                    return Ok(end);
                }
                if self.tracker.last <= NEARER * tried {
                    tried = self.tracker.last;
                    if let Some(end) = self.finish(problem, pass)? {
                        return Ok(end);
                    }
                    self.evaluate(problem);
                }
                if self.t >= DEEPEST {
                    return Ok(self.settle(problem));
                }
                match corrections {
                    Some(0..=EASY) => step = LONGEST.min(2.0 * step),
                    Some(HARD..) => step *= 0.7,
                    _ => {}
                }
            }
            // Not far beyond the end.
            if self.t + step * self.along_t > LAST {
                step = (LAST - self.t) / self.along_t;
            }
            loop {
                if self.count.iterations >= self.count.most || self.tracker.is_overworked() {
                    return Ok(self.broken());
                }
                corrections = self.advance(problem, step, pass.shares);
                if corrections.is_some() {
                    break;
                }
                step *= 0.5;
                if step < LOST {
                    // Rounding, as a rule; what is there may be near enough.
                    self.next.z.copy_from_slice(&self.z);
                    self.next.t = self.t;
                    self.evaluate(problem);
                    return Ok(self.settle(problem));
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
        let mut end = self.tracker.start(problem, r, self.limits)?;
        self.count.iterations = 0;
        if end.is_none() {
            let warm = r.iter().any(|r| *r != 0.0);
            for pass in PASSES.into_iter().filter(|pass| warm || !pass.warm) {
                self.count.most = self
                    .limits
                    .max_iterations
                    .min(self.count.iterations.saturating_add(pass.most));
                if pass.wanted == Wanted::Pivots {
                    // Orders of elimination that no memory has would differ after a restore.
                    self.newton.forget(None);
                }
                self.begin(problem, pass, r)?;
                end = Some(self.follow(problem, pass)?);
                let lost = matches!(end, Some(Outcome::Stagnated | Outcome::Breakdown));
                let used_up =
                    end == Some(Outcome::MaxIterations) && self.count.most < self.limits.max_iterations;
                if !(lost || used_up) {
                    break;
                }
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self
            .tracker
            .finish(problem, r, Method::CentralPath, end, self.count.iterations))
    }
}
