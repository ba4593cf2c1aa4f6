//! A primal-dual interior-point method.

mod direction;
mod scaling;

use super::cone::tangential;
use super::gauss_seidel::sweep;
use super::report::Tracker;
use super::shifted::Shifted;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use crate::Elimination;
use scaling::{Scaling, least, step};

/// How [`InteriorPoint`] follows De Saxcé's shift, which depends on the velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ShiftStep {
    /// Its derivative is part of the linear system. Quick where it converges; ends as soon as two steps in a row are short, from where
    /// [`Newton`](super::Newton) may find the rest.
    #[default]
    Newton,
    /// The same, but where it would end it takes ten iterations with the shift of the last iterate, and then goes on; from there on the barrier
    /// does not fall below the work of what the velocities are off by.
    Alternating,
    /// Its value at the last iterate, as if it were constant (Picard): a convex problem whose data move. Slower, and it does not
    /// run into the boundary where many contacts slip: in heaps of boxes that fall it goes on where the other stalls.
    Lagged {
        /// What the last iterate counts for, above 0 and at most 1; the rest is the shift before. Less than 1 helps where it alternates.
        share: f64,
    },
}

/// Options of [`InteriorPoint`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InteriorPointOptions {
    /// Limits; an iteration is one factorisation.
    pub limits: Limits,
    /// What becomes of the shift.
    pub shift: ShiftStep,
}

impl Default for InteriorPointOptions {
    fn default() -> Self {
        Self {
            limits: Limits {
                max_iterations: 200,
                patience: 60,
                ..Limits::default()
            },
            shift: ShiftStep::default(),
        }
    }
}

/// One block: impulse and velocity inside their cones, and what the scaling makes of them.
#[derive(Clone, Copy, Debug, Default)]
struct Inner {
    /// A contact: velocity in the dual cone. A bounded row: the multipliers of its lower and upper bound.
    v: [f64; 3],
    scaling: Scaling,
    /// What was added to `E` so that it stays regular.
    floor: f64,
    /// Second-order correction.
    correction: [f64; 3],
    dv: [f64; 3],
    /// Rounding does not let it come nearer to the boundary.
    at_boundary: bool,
}

/// Primal-dual interior points with the scaling of Nesterov and Todd and the predictor and corrector of Mehrotra, for cones and bounds alike, with
/// the shift `s = mu |u_t|` of De Saxcé as part of the equations, so that the answer obeys the true law of Coulomb:
///
/// ```math
/// A r + b + s(u) n - v = 0,   r o v = tau e,   r in K, v in K*
/// ```
///
/// Every iteration factors `A + E` with a diagonal `E`: in the eigenvectors of the scaling, whose eigenvalues lie up to `10^20` apart, the rows of a
/// contact are multiplied by a 3 x 3 matrix `T`. Where the operator is a [`Form::Saddle`](super::Form::Saddle), contacts are
/// eliminated before bodies, and no Delassus operator enters the factorisation. The derivative of the shift makes the system
/// unsymmetric in the rows of each contact: it has an `L U` of its own, and is refined until two digits of feasibility are gained. (GMRES over the symmetric factor
/// needs as many steps as contacts slip; a dozen of them left a predictor whose error, squared in the correction, stalled heaps of balls.) (The convex part: Andersen, Roos, Terlaky 2003; Vandenberghe 2010. Acary,
/// Armand, Nguyen, Shpakovych 2023 compare interior points for contact.) Close to the answer every iteration
/// tries a Gauss-Seidel sweep, which lands on the boundary, and the end up to twenty. No proof with friction; 5 to 20 iterations where tried, whatever the mass
/// ratio ([`ShiftStep`] has what to do where it stalls). `A` symmetric semidefinite. The start matters little. Nothing is allocated after the first solve of a pattern.
#[derive(Clone, Debug, Default)]
pub struct InteriorPoint {
    /// May be changed at any time.
    pub options: InteriorPointOptions,
    tracker: Tracker,
    shifted: Shifted,
    blocks: Vec<Inner>,
    /// `T`: to the eigenvectors of the scaling, in which `E` is diagonal.
    turn: Vec<f64>,
    e: Vec<f64>,
    start: Vec<f64>,
    r: Vec<f64>,
    dr: Vec<f64>,
    /// `T^-T dr`.
    q: Vec<f64>,
    /// `T^-1 E q`: what complementarity takes from the velocities.
    push: Vec<f64>,
    /// Velocities that complementarity wants.
    g: Vec<f64>,
    /// `A r + b` with De Saxcé's shift.
    w: Vec<f64>,
    rhs: Vec<f64>,
    y: Vec<f64>,
    scratch: Vec<f64>,
    /// De Saxcé's shift of each block, and `mu u_t/|u_t|`.
    shift: Vec<f64>,
    slope: Vec<[f64; 2]>,
    /// Whether the derivative of the shift is in the factor.
    bent: bool,
    /// Iterations that are still to take the shift as it was.
    lagged: usize,
}

/// Share of the block's scale below which `E` is not allowed to fall.
const FLOOR: f64 = 1e-11;
/// Residual below which the boundary is tried.
const NEAR: f64 = 1e-3;
/// Sweeps at the end.
const SWEEPS: usize = 20;
/// Least and largest share of the way to the boundary.
const BACK: f64 = 0.99;
const NEAREST: f64 = 1.0 - 1e-6;
/// Distance from the boundary of a cone, as a share, that rounding still leaves.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Share of a step below which it is short: one contact keeps it at the boundary.
const SHORT: f64 = 0.1;
/// Iterations with a shift that is not foreseen.
const LAGGED: usize = 10;
/// Stands for infinity in `E`: the impulse does not move.
const WALL: f64 = 1e10;

/// To and from coordinates in which cone and dual cone are the same: `(mu r_n, r_t)` and `(v_n/mu, v_t)`.
fn pad(first: f64, x: &[f64]) -> [f64; 3] {
    [first * x[0], x[1], x.get(2).copied().unwrap_or(0.0)]
}

impl InteriorPoint {
    /// A solver with given options.
    pub fn new(options: InteriorPointOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Takes the shifts `mu |u_t|` anew; returns the mean work of what the derivative does not know of their changes, as far as it is more than
    /// rounding of the velocities; infinity without derivative.
    fn set_shift(&mut self, problem: &Problem) -> f64 {
        let newton = !matches!(self.options.shift, ShiftStep::Lagged { .. }) && self.lagged == 0;
        let mut sum = 0.0f64;
        let speed = |k: usize| problem.scale(k) * self.r[problem.rows(k).start].abs();
        let rounding = ROUNDING * (0..problem.blocks()).fold(0.0, |a: f64, k| a.max(speed(k)));
        for (k, cone) in problem.cones().iter().enumerate() {
            if let Some(mu) = cone.friction() {
                let rows = problem.rows(k);
                let (first, rows_len) = (rows.start, rows.len());
                let s = cone.shift(&self.w[rows]);
                let moves = newton && !cone.is_convex();
                let s = match self.options.shift {
                    ShiftStep::Newton | ShiftStep::Alternating => s,
                    ShiftStep::Lagged { share } => share * s + (1.0 - share) * self.shift[k],
                };
                let along: f64 = (1..rows_len)
                    .map(|l| self.slope[k][l - 1] * self.w[first + l])
                    .sum();
                sum += self.r[first] * ((s - along).abs() - mu * rounding).max(0.0);
                self.shift[k] = s;
                let length = tangential(&self.w[first..first + rows_len]);
                for l in 1..rows_len {
                    self.slope[k][l - 1] = if moves && length > 0.0 {
                        mu * self.w[first + l] / length
                    } else {
                        0.0
                    };
                }
                self.w[first] += s;
            }
        }
        if newton {
            sum / problem.blocks().max(1) as f64
        } else {
            f64::INFINITY
        }
    }

    /// Mean work of what the velocities are off by.
    fn unbalanced_work(&self, problem: &Problem) -> f64 {
        let mut sum = 0.0;
        for (k, inner) in self.blocks.iter().enumerate() {
            let rows = problem.rows(k);
            if problem.cones()[k].friction().is_some() {
                let works = rows.zip(inner.v).map(|(i, v)| self.r[i] * (self.w[i] - v));
                sum += works.sum::<f64>().abs();
            }
        }
        sum / problem.blocks().max(1) as f64
    }

    /// Puts impulse and velocities inside.
    fn begin(&mut self, problem: &Problem) {
        let v = problem.b().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let v = if v > 0.0 { v } else { 1.0 };
        self.blocks.clear();
        self.blocks.resize(problem.blocks(), Inner::default());
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let size = v / problem.scale(k);
            let (r, inner) = (&mut self.r[rows], &mut self.blocks[k]);
            match (cone.friction(), cone.bounds()) {
                (Some(mu), _) => {
                    if mu == 0.0 {
                        r.fill(0.0);
                        r[0] = size;
                        inner.v = [v, 0.0, 0.0];
                        continue;
                    }
                    let low = least(&pad(mu, r));
                    if low < size {
                        r[0] += (size - low) / mu;
                    }
                    inner.v = [v, 0.0, 0.0];
                }
                (None, Some((lower, upper))) => {
                    let room = (upper - lower).min(2.0 * size);
                    if room == 0.0 {
                        r[0] = lower;
                        continue;
                    }
                    r[0] = r[0].max(lower + 0.5 * room).min(upper - 0.5 * room);
                    for (bound, v0) in [lower, upper].into_iter().zip(&mut inner.v) {
                        *v0 = if bound.is_finite() { v } else { 0.0 };
                    }
                }
                _ => {}
            }
        }
    }

    /// Scales all blocks and fills `T` and `E`; returns the mean of complementarity. (Contacts that rounding keeps off the boundary do not
    /// count: their impulse is large, and the smallest ones still have digits to gain.)
    fn scale(&mut self, problem: &Problem) -> f64 {
        let (mut gap, mut count) = (0.0, 0usize);
        self.turn.fill(0.0);
        self.e.fill(0.0);
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let d = rows.len();
            let scale = problem.scale(k);
            let (r, inner) = (&self.r[rows.clone()], &mut self.blocks[k]);
            let (e, turn) = (&mut self.e[rows], &mut self.turn[problem.square(k)]);
            for i in 0..d {
                turn[i * d + i] = 1.0;
            }
            inner.floor = FLOOR * scale;
            match (cone.friction(), cone.bounds()) {
                (Some(0.0), _) => {
                    gap += r[0] * inner.v[0];
                    count += 1;
                    e.fill(WALL * scale);
                    e[0] = inner.v[0] / r[0];
                }
                (Some(mu), _) => {
                    let (x, y) = (pad(mu, r), pad(1.0 / mu, &inner.v[..d]));
                    inner.scaling = Scaling::new(&x, &y);
                    if !inner.at_boundary {
                        gap += x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
                        count += 1;
                    }
                    let (vectors, values) = inner.scaling.square();
                    for i in 0..d {
                        e[i] = values[i];
                        turn[i * d..(i + 1) * d].copy_from_slice(&vectors[i][..d]);
                        turn[i * d] /= mu;
                    }
                    inner.floor *= 1.0 + 1.0 / (mu * mu);
                }
                (None, Some((lower, upper))) => {
                    if lower == upper {
                        e[0] = WALL * scale;
                    }
                    for (room, v) in [r[0] - lower, upper - r[0]].into_iter().zip(inner.v) {
                        if room.is_finite() && room > 0.0 {
                            gap += room * v;
                            count += 1;
                            e[0] += v / room;
                        }
                    }
                }
                _ => {}
            }
            e.iter_mut().for_each(|e| *e += inner.floor);
        }
        gap / count.max(1) as f64
    }

    /// Where a step has come so close to the boundary of a cone that rounding decides on which side it is: a few roundings inside.
    fn keep_inside(&mut self, problem: &Problem) {
        for (k, cone) in problem.cones().iter().enumerate() {
            if let Some(mu) = cone.friction().filter(|mu| *mu > 0.0) {
                let rows = problem.rows(k);
                let (d, first) = (rows.len(), rows.start);
                let limit = |t: f64| (1.0 + ROUNDING) * t;
                let inner = &mut self.blocks[k];
                let least = [
                    limit(tangential(&self.r[rows])) / mu,
                    limit(tangential(&inner.v[..d])) * mu,
                ];
                inner.at_boundary = self.r[first] < least[0] || inner.v[0] < least[1];
                self.r[first] = self.r[first].max(least[0]);
                inner.v[0] = inner.v[0].max(least[1]);
            }
        }
    }

    /// Largest step, at most 1, that stays inside.
    fn largest_step(&self, problem: &Problem) -> f64 {
        let mut out = 1.0 / BACK;
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let d = rows.len();
            let inner = &self.blocks[k];
            let (r, dr) = (&self.r[rows.clone()], &self.dr[rows]);
            let mut scalar = |x: f64, dx: f64| {
                if dx < 0.0 {
                    out = out.min(-x / dx);
                }
            };
            match (cone.friction(), cone.bounds()) {
                (Some(0.0), _) => {
                    scalar(r[0], dr[0]);
                    scalar(inner.v[0], inner.dv[0]);
                }
                (Some(mu), _) => {
                    let pads = [
                        (pad(mu, r), pad(mu, dr)),
                        (pad(1.0 / mu, &inner.v[..d]), pad(1.0 / mu, &inner.dv[..d])),
                    ];
                    for (x, dx) in pads {
                        out = out.min(step(&x, &dx));
                    }
                }
                (None, Some((lower, upper))) if lower < upper => {
                    for (l, (bound, sign)) in [(lower, 1.0), (upper, -1.0)].into_iter().enumerate() {
                        if bound.is_finite() {
                            scalar(sign * (r[0] - bound), sign * dr[0]);
                            scalar(inner.v[l], inner.dv[l]);
                        }
                    }
                }
                _ => {}
            }
        }
        out
    }
}

impl InteriorPoint {
    /// The order of elimination in use.
    pub(crate) fn order(&self) -> Option<Elimination> {
        self.shifted.order()
    }

    /// The order for the next pattern, if it fits.
    pub(crate) fn impose(&mut self, order: Option<Elimination>) {
        self.shifted.impose(order);
    }
}

impl Solver for InteriorPoint {
    fn method(&self) -> Method {
        Method::InteriorPoint
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.refuse_pyramids(self.method())?;
        problem.refuse_rolling()?;
        let InteriorPointOptions { limits, shift } = self.options;
        if let ShiftStep::Lagged { share } = shift
            && !(share > 0.0 && share <= 1.0)
        {
            return Err(ProblemError::Option {
                what: "the share of the new shift, above 0 and at most 1,",
                value: share,
            });
        }
        let mut end = self.tracker.start(problem, r, limits)?;
        let mut iterations = 0;
        if end.is_none() {
            let m = problem.size();
            self.shifted.prepare(problem)?;
            for v in [&mut self.start, &mut self.r] {
                v.clear();
                v.extend_from_slice(r);
            }
            for v in [
                &mut self.e,
                &mut self.dr,
                &mut self.q,
                &mut self.push,
                &mut self.g,
                &mut self.w,
                &mut self.rhs,
                &mut self.y,
                &mut self.scratch,
            ] {
                v.clear();
                v.resize(m, 0.0);
            }
            self.turn.clear();
            self.turn.resize(problem.squares(), 0.0);
            self.shift.clear();
            self.shift.resize(problem.blocks(), 0.0);
            self.slope.clear();
            self.slope.resize(problem.blocks(), [0.0; 2]);
            self.begin(problem);
            self.lagged = 0;
            let (mut short, mut jams) = (0usize, 0usize);
            while end.is_none() && iterations < limits.max_iterations {
                iterations += 1;
                let gap = self.scale(problem);
                problem.velocity_into(&self.r, &mut self.w);
                let mismatch = self.set_shift(problem);
                self.bent = self.slope.iter().any(|s| *s != [0.0; 2]);
                let ready = gap.is_finite()
                    && if self.bent {
                        self.shifted
                            .factor_bent(problem, &self.turn, &self.e, &self.slope)
                    } else {
                        self.shifted.factor(problem, &self.turn, &self.e)
                    };
                if !ready {
                    end = Some(Outcome::Breakdown);
                    break;
                }
                self.direction(problem, 0.0, false);
                let affine = self.largest_step(problem).min(1.0);
                let sigma = (1.0 - affine).powi(3).clamp(1e-4, 1.0);
                // Short steps of the barrier while the shift still moves, and always where nothing foresees it.
                let mut tau = (sigma * gap).max(0.3 * mismatch.min(gap));
                if jams > 0 {
                    tau = tau.max(self.unbalanced_work(problem).min(gap));
                }
                self.direction(problem, tau, true);
                if self.dr.iter().any(|d| !d.is_finite()) {
                    end = Some(Outcome::Breakdown);
                    break;
                }
                // The nearer the predictor comes to the boundary, the nearer the step may: the last digits come faster than by a constant factor.
                let back = (1.0 - 0.1 * (1.0 - affine)).clamp(BACK, NEAREST);
                let share = (back * self.largest_step(problem)).min(1.0);
                for (r, d) in self.r.iter_mut().zip(&self.dr) {
                    *r += share * d;
                }
                for inner in &mut self.blocks {
                    for l in 0..3 {
                        inner.v[l] += share * inner.dv[l];
                    }
                }
                self.keep_inside(problem);
                short = if share < SHORT { short + 1 } else { 0 };
                let jammed = self.bent && short >= 2;
                self.lagged = self.lagged.saturating_sub(1);
                if jammed && shift == ShiftStep::Alternating {
                    self.lagged = LAGGED;
                    (jams, short) = (jams + 1, 0);
                }
                r.copy_from_slice(&self.r);
                problem.project(r);
                problem.velocity_into(r, &mut self.tracker.u);
                end = self.tracker.look_at(problem, r);
                if end.is_none() && self.tracker.last < NEAR {
                    // Inner points keep off the boundary; a sweep of Gauss-Seidel lands on it.
                    sweep(problem, r, 1.0, false);
                    let found = self.tracker.look(problem, r);
                    end = found.filter(|o| *o == Outcome::Converged);
                }
                if jammed && shift == ShiftStep::Newton {
                    end = end.or(Some(Outcome::Stagnated));
                }
            }
        }
        let mut end = end.unwrap_or(Outcome::MaxIterations);
        if iterations > 0 && end != Outcome::Converged && self.tracker.best_measure() < NEAR {
            // Where rounding ends it, the last digits are the contacts' own.
            r.copy_from_slice(self.tracker.best());
            for turn in 0..SWEEPS {
                sweep(problem, r, 1.0, turn % 2 == 1);
                if self.tracker.look(problem, r) == Some(Outcome::Converged) {
                    end = Outcome::Converged;
                    break;
                }
            }
        }
        Ok(self
            .tracker
            .finish(problem, r, Method::InteriorPoint, end, iterations))
    }
}
