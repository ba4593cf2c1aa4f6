//! The principal pivoting method of Dantzig and Cottle.

use nalgebra::{DMatrix, DVector};
use pliant_solvers::complementarity::{
    Cone, Limits, Method, Outcome, Problem, ProblemError, Report, RowState, Solver, Tracker, check_rows,
    solve_on,
};

/// Row after row is driven to its law, while the rows before it keep theirs (Cottle and Dantzig
/// 1968; Baraff 1994 for contact).
///
/// The impulse of the driven row moves until its velocity vanishes or it meets its bound; on the
/// way, a row whose impulse meets its bound is held, one whose velocity vanishes is let go. A row
/// that would make the free set singular is exchanged for another one, so that `A` may be
/// semidefinite. Where nothing stops the motion and the velocity does not change, no solution
/// exists: [`Outcome::Ray`].
///
/// `A` symmetric semidefinite, no friction. It starts from no impulse (from the nearest bound): the
/// given start counts only as an answer to fall back on. Cost: a dense factorisation of the free
/// rows per pivot (not updated as in other implementations), mostly about as many pivots as rows.
/// Allocates.
#[derive(Clone, Debug)]
pub struct Dantzig {
    /// Limits; an iteration is a pivot.
    pub limits: Limits,
    tracker: Tracker,
}

impl Default for Dantzig {
    fn default() -> Self {
        Self::new(Limits {
            max_iterations: 10_000,
            ..Limits::default()
        })
    }
}

impl Dantzig {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tracker: Tracker::default(),
        }
    }
}

/// Event that stops a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stop {
    /// The driven row has no velocity any more.
    Solved,
    /// The driven row met a bound.
    Bound(RowState),
    /// A free row met a bound.
    Hold(usize, RowState),
    /// A held row is to be let go.
    Release(usize),
}

struct Drive<'a> {
    problem: &'a Problem,
    a: DMatrix<f64>,
    bounds: Vec<(f64, f64)>,
    states: Vec<RowState>,
    free: Vec<usize>,
    u: Vec<f64>,
}

impl Drive<'_> {
    /// Change of all impulses per unit of row `i`, while the free rows keep their velocity.
    fn direction(&self, i: usize, sign: f64) -> Option<DVector<f64>> {
        let rhs = DVector::from_fn(self.free.len(), |k, _| -sign * self.a[(self.free[k], i)]);
        let x = solve_on(&self.a, &self.free, &rhs)?;
        let mut out = DVector::zeros(self.u.len());
        for (k, x) in self.free.iter().zip(x.iter()) {
            out[*k] = *x;
        }
        out[i] = sign;
        Some(out)
    }

    /// How far row `k` may go along `d` before it meets a bound, and which.
    fn room(&self, k: usize, r: &[f64], d: f64) -> (f64, RowState) {
        let (lower, upper) = self.bounds[k];
        if d > 0.0 {
            (((upper - r[k]) / d).max(0.0), RowState::Upper)
        } else {
            (((lower - r[k]) / d).max(0.0), RowState::Lower)
        }
    }

    fn hold(&mut self, k: usize, place: RowState, r: &mut [f64]) {
        r[k] = match place {
            RowState::Upper => self.bounds[k].1,
            _ => self.bounds[k].0,
        };
        self.states[k] = place;
        self.free.retain(|l| *l != k);
    }

    /// Lets row `k` go. If it depends on the free rows, it moves with them, which changes no
    /// velocity, until one of them meets a bound.
    fn release(&mut self, k: usize, r: &mut [f64]) -> Option<()> {
        let sign = if self.states[k] == RowState::Upper {
            -1.0
        } else {
            1.0
        };
        let d = self.direction(k, sign)?;
        let own: f64 = sign * (0..r.len()).map(|l| self.a[(k, l)] * d[l]).sum::<f64>();
        if own <= 1e-10 * self.a[(k, k)].abs() {
            let mut first: Option<(f64, usize, RowState)> = None;
            for l in self.free.iter().copied().filter(|l| d[*l].abs() > 1e-10) {
                let (step, place) = self.room(l, r, d[l]);
                if first.is_none_or(|(least, ..)| step < least) {
                    first = Some((step, l, place));
                }
            }
            let (step, l, place) = first.filter(|f| f.0.is_finite())?;
            for (r, d) in r.iter_mut().zip(d.iter()) {
                *r += step * d;
            }
            self.hold(l, place, r);
        }
        self.states[k] = RowState::Free;
        self.free.push(k);
        Some(())
    }

    /// The first thing that happens when row `i` moves along `d`; rows from `i` on do not count.
    fn first_stop(&self, i: usize, r: &[f64], d: &DVector<f64>) -> (f64, Option<Stop>) {
        let rate = |k: usize| (0..r.len()).map(|l| self.a[(k, l)] * d[l]).sum::<f64>();
        let terms = |k: usize| (0..r.len()).map(|l| (self.a[(k, l)] * d[l]).abs()).sum::<f64>();
        let mut least = (f64::INFINITY, None);
        let mut offer = |step: f64, stop: Stop| {
            if step < least.0 {
                least = (step, Some(stop));
            }
        };
        let own = rate(i);
        if own * d[i] > 1e-12 * terms(i) {
            offer(-self.u[i] / own, Stop::Solved);
        }
        let (step, place) = self.room(i, r, d[i]);
        offer(step, Stop::Bound(place));
        for k in self.free.iter().copied().filter(|k| d[*k] != 0.0) {
            let (step, place) = self.room(k, r, d[k]);
            offer(step, Stop::Hold(k, place));
        }
        for k in 0..i {
            let (lower, upper) = self.bounds[k];
            let toward = match self.states[k] {
                RowState::Lower => -1.0,
                RowState::Upper => 1.0,
                RowState::Free => continue,
            };
            let speed = rate(k);
            if lower < upper && speed * toward > 1e-12 * terms(k) {
                offer((-self.u[k] / speed).max(0.0), Stop::Release(k));
            }
        }
        least
    }

    /// Drives all rows; the outcome and the pivots.
    fn run(&mut self, r: &mut [f64], max_pivots: usize) -> (Outcome, usize) {
        let mut pivots = 0;
        for i in 0..r.len() {
            loop {
                self.problem.velocity_into(r, &mut self.u);
                let (lower, upper) = self.bounds[i];
                let u = self.u[i];
                let small = 1e-14 * self.problem.b()[i].abs();
                if r[i] <= lower && u >= 0.0 {
                    self.states[i] = RowState::Lower;
                    break;
                }
                if r[i] >= upper && u <= 0.0 {
                    self.states[i] = RowState::Upper;
                    break;
                }
                if pivots >= max_pivots {
                    return (Outcome::MaxIterations, pivots);
                }
                pivots += 1;
                let sign = if u > 0.0 { -1.0 } else { 1.0 };
                let Some(d) = self.direction(i, sign) else {
                    return (Outcome::Breakdown, pivots);
                };
                let (step, stop) = if u.abs() <= small {
                    (0.0, Some(Stop::Solved))
                } else {
                    self.first_stop(i, r, &d)
                };
                let Some(stop) = stop.filter(|_| step.is_finite()) else {
                    return (Outcome::Ray, pivots);
                };
                for (r, d) in r.iter_mut().zip(d.iter()) {
                    *r += step * d;
                }
                match stop {
                    Stop::Solved => {
                        self.states[i] = RowState::Free;
                        self.free.push(i);
                        break;
                    }
                    Stop::Bound(place) => {
                        self.hold(i, place, r);
                        break;
                    }
                    Stop::Hold(k, place) => self.hold(k, place, r),
                    Stop::Release(k) => {
                        if self.release(k, r).is_none() {
                            return (Outcome::Ray, pivots);
                        }
                    }
                }
            }
        }
        (Outcome::Stagnated, pivots)
    }
}

impl Solver for Dantzig {
    fn method(&self) -> Method {
        Method::Other("dantzig")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        check_rows(problem)?;
        let mut end = self.tracker.start(problem, r, self.limits)?;
        let mut pivots = 0;
        if end.is_none() {
            let mut drive = Drive {
                problem,
                a: problem.to_dense(),
                bounds: problem.cones().iter().filter_map(Cone::bounds).collect(),
                states: vec![RowState::Lower; r.len()],
                free: Vec::new(),
                u: vec![0.0; r.len()],
            };
            for (r, (lower, upper)) in r.iter_mut().zip(&drive.bounds) {
                *r = 0.0f64.max(*lower).min(*upper);
            }
            let (outcome, count) = drive.run(r, self.limits.max_iterations);
            pivots = count;
            self.tracker.look(problem, r);
            // Once more on the set that was found, without the rounding of the steps.
            problem.velocity_into(r, &mut drive.u);
            let rhs = DVector::from_fn(drive.free.len(), |k, _| -drive.u[drive.free[k]]);
            if let Some(x) = solve_on(&drive.a, &drive.free, &rhs) {
                for (k, x) in drive.free.iter().zip(x.iter()) {
                    r[*k] += x;
                }
                problem.project(r);
                self.tracker.look(problem, r);
            }
            end = Some(outcome);
        }
        let end = end.unwrap_or(Outcome::Stagnated);
        Ok(self
            .tracker
            .finish(problem, r, Method::Other("dantzig"), end, pivots))
    }
}
