//! Steps along the tangent of a path, and back to it by Newton's method across it.

use super::super::equilibrium::{FAR, go_back};
use super::super::measure::measure;
use super::super::newton::{Tangent, factor_tangent, solve_correction, take_share};
use super::super::residual::{LoadRate, fill_tangent, find_load_rate};
use super::super::workspace::{Iterate, Metric, Setting, Workspace};
use super::critical::{Change, find_critical};
use super::{LONGEST, Next, SHORTEST, growth, stuck};
use crate::Control;
use crate::Error;
use crate::statics::{Continuation, Path};

/// Iterations of one step at most.
const ITERATIONS: usize = 15;
/// How far from the tangent a step may end, over its length, and the least cosine of the angle by
/// which the tangent turns: the next step could be on some other path.
const ASTRAY: f64 = 0.25;
const STRAIGHT: f64 = 0.7;
/// A path that still turns in a step of this share of the first one has a corner: a material may have
/// one, such as fibres that begin to bear. There it ends within so many times its length, as the
/// stiffness may jump by such a factor: so near there is no other path.
const CORNER: f64 = 1e-6;
const JUMP: f64 = 1e3;

/// A direction of the path, of length 1 in displacements and load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direction {
    pub(crate) x: Vec<f64>,
    mu: Vec<f64>,
    pub(crate) load: f64,
}

/// A step to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stride {
    pub(crate) length: f64,
    /// The load factor at its end, if that is prescribed.
    pub(crate) load: Option<f64>,
}

/// A step along the tangent from an equilibrium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) base: &'a Iterate,
    pub(crate) direction: &'a Direction,
}

/// The measure of lengths along a path, and what its steps work with.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    /// Weight of the square of a change of the load factor in the square of a length.
    weight: f64,
    rate: LoadRate,
    /// Displacements of the present step since its start.
    moved: Vec<f64>,
    /// The length up to which a step that leaves its tangent passes a corner.
    corner: f64,
    /// Whether the present step ended further from the tangent than one that passes none.
    strayed: bool,
}

/// A walk along the tangent.
#[derive(Debug)]
pub(crate) struct Arc {
    tracer: Tracer,
    direction: Direction,
    /// Length of the next step.
    length: f64,
    /// Length that is none.
    shortest: f64,
    /// The sign in which the load factor goes to its end.
    ahead: f64,
}

impl Arc {
    /// Begins where the tangent is factored.
    pub(crate) fn begin(
        at: &mut Setting<'_>,
        work: &mut Workspace,
        how: &Continuation,
    ) -> Result<Self, Error> {
        let mut tracer = Tracer::default();
        let ahead = (how.end - how.start).signum();
        let direction = tracer.first_direction(at, work, ahead)?;
        tracer.corner = CORNER * how.step.abs() / direction.load.abs();
        Ok(Self {
            tracer,
            length: how.step.abs().min(how.largest_step) / direction.load.abs(),
            shortest: SHORTEST * how.step.abs() / direction.load.abs(),
            direction,
            ahead,
        })
    }

    /// Goes to the next point, in steps that are halved where they fail.
    pub(crate) fn next(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        how: &Continuation,
        path: &mut Path,
    ) -> Result<Next, Error> {
        let corner = self.tracer.corner;
        let whole = self.length;
        loop {
            let base = work.iterate(at);
            let kind_of_base = work.linear.kind;
            let negative = kind_of_base.negative;
            let limits = [
                how.largest_step / self.direction.load.abs(),
                LONGEST / work.metric.largest(&self.direction.x),
            ];
            self.length = limits.into_iter().fold(self.length, f64::min);
            let from = Origin {
                base: &base,
                direction: &self.direction,
            };
            let ahead = Ahead {
                length: self.length,
                sign: self.ahead,
            };
            let Taken {
                stride,
                mut iterations,
                last,
            } = self.tracer.step(at, work, how, from, ahead)?;
            let there = work.iterate(at);
            let (kind, report) = (work.linear.kind, work.progress.report);
            let old = self.direction.clone();
            let mut turned = false;
            if iterations.is_some() {
                self.tracer.find_direction(at, work, &mut self.direction)?;
                let new = &self.direction;
                let cosine = self.tracer.dot(
                    &work.metric,
                    Along::new(&old.x, old.load),
                    Along::new(&new.x, new.load),
                );
                turned = cosine < STRAIGHT;
                let turns = turned && work.has_sides_of(&base) && self.length > corner;
                // Within the tolerance a step of the load may pass its limit.
                let passed = how.control == Control::Load && new.load * self.ahead < 0.0;
                if turns || passed {
                    self.direction.clone_from(&old);
                    iterations = None;
                }
            }
            let Some(iterations) = iterations else {
                go_back(at, work, &base)?;
                work.linear.kind = kind_of_base;
                self.length *= 0.5;
                if self.length < self.shortest {
                    return Ok(Next::Stuck(stuck(at, work, how)?));
                }
                continue;
            };
            if kind.negative != negative {
                let change = Change {
                    from: Origin {
                        base: &base,
                        direction: &old,
                    },
                    next: &self.direction,
                    stride,
                    negative: (negative, kind.negative),
                    after: path.points.len() - 1,
                };
                let found = find_critical(at, work, &mut self.tracer, &change, how.locate)?;
                path.critical.extend(found);
                go_back(at, work, &there)?;
            }
            work.linear.kind = kind;
            let progress = &mut work.progress.report;
            (progress.residual, progress.violation) = (report.residual, report.violation);
            self.length *= growth(how, iterations);
            if (turned || self.tracer.strayed) && stride.length <= corner {
                // Beyond a corner the path is as smooth as before.
                self.length = self.length.max(whole);
            }
            return Ok(Next::Point { iterations, last });
        }
    }
}

/// How far a step is to go.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    length: f64,
    /// The sign in which the load factor goes to its end.
    sign: f64,
}

/// A step that was tried.
#[derive(Clone, Copy, Debug)]
struct Taken {
    stride: Stride,
    /// The iterations that it took, `None` if it failed.
    iterations: Option<usize>,
    /// Whether the step ends at the last load factor.
    last: bool,
}

/// A displacement along a path: of the independent coordinates, and of the load factor.
#[derive(Clone, Copy)]
struct Along<'a> {
    x: &'a [f64],
    load: f64,
}

impl<'a> Along<'a> {
    fn new(x: &'a [f64], load: f64) -> Self {
        Self { x, load }
    }
}

impl Tracer {
    /// The scalar product of two displacements along a path.
    fn dot(&self, metric: &Metric, a: Along<'_>, b: Along<'_>) -> f64 {
        let terms = a.x.iter().zip(b.x).zip(&metric.inverse_length);
        let sum: f64 = terms.map(|((a, b), s)| a * b * s * s).sum();
        sum + self.weight * a.load * b.load
    }

    /// A step, which where it passes the last load factor is taken back to that.
    fn step(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        how: &Continuation,
        from: Origin<'_>,
        ahead: Ahead,
    ) -> Result<Taken, Error> {
        let Origin { base, direction } = from;
        let factor = base.unknowns.factor;
        let load = match how.control {
            Control::Load => Some(factor + ahead.length * direction.load),
            Control::ArcLength => None,
        };
        let mut stride = Stride {
            length: ahead.length,
            load,
        };
        let mut iterations = self.stride(at, work, from, stride)?;
        let mut last = false;
        if iterations.is_some() && (work.unknowns.factor - how.end) * ahead.sign >= 0.0 {
            // Back to the end itself.
            stride.length = (how.end - factor) / direction.load;
            stride.load = Some(how.end);
            iterations = if stride.length > 0.0 {
                self.stride(at, work, from, stride)?
            } else {
                None
            };
            last = iterations.is_some();
        }
        Ok(Taken {
            stride,
            iterations,
            last,
        })
    }

    /// The direction in which the load factor goes ahead, with the weight that makes displacements
    /// and load equal.
    fn first_direction(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        ahead: f64,
    ) -> Result<Direction, Error> {
        let mut direction = Direction {
            x: vec![0.0; work.residual.force.len()],
            mu: vec![0.0; work.unknowns.lambda.len()],
            load: ahead,
        };
        self.solve_load(at, work)?;
        let square = work.metric.norm(&work.linear.other.x).powi(2);
        self.weight = if square > 0.0 && square.is_finite() {
            square
        } else {
            1.0
        };
        self.find_direction(at, work, &mut direction)?;
        Ok(direction)
    }

    /// Solves for the change by a load factor of 1 more, with the tangent as factored.
    fn solve_load(&mut self, at: &mut Setting<'_>, work: &mut Workspace) -> Result<(), Error> {
        find_load_rate(at, work, &mut self.rate)?;
        let system = Tangent::Whole.of(&at.system.assembler, &work.contacts);
        let linear = &mut work.linear;
        let LoadRate { force, deficit } = &self.rate;
        let solved = linear.solver.solve(system, force, deficit, &mut linear.other);
        solved.map_err(Error::Solve).map(|_| ())
    }

    /// The direction of the path with the tangent as factored, on from the last direction.
    pub(crate) fn find_direction(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        last: &mut Direction,
    ) -> Result<(), Error> {
        self.solve_load(at, work)?;
        let other = &work.linear.other;
        let t = Along::new(&other.x, 1.0);
        let length = self.dot(&work.metric, t, t).sqrt();
        let along = self.dot(&work.metric, t, Along::new(&last.x, last.load));
        let scale = if along < 0.0 { -1.0 } else { 1.0 } / length;
        if !scale.is_finite() || scale == 0.0 {
            // At a critical point to the last bit: straight on.
            return Ok(());
        }
        for (to, from) in [(&mut last.x, &other.x), (&mut last.mu, &other.mu)] {
            to.clear();
            to.extend(from.iter().map(|t| scale * t));
        }
        last.load = scale;
        Ok(())
    }

    /// One step. The iterations that it took, `None` if it failed; then the state is anywhere.
    pub(crate) fn stride(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        from: Origin<'_>,
        stride: Stride,
    ) -> Result<Option<usize>, Error> {
        let Origin { base, direction } = from;
        go_back(at, work, base)?;
        if !work.contacts.is_empty() {
            // The direction has a force for each contact that is active here.
            fill_tangent(at, work, Tangent::Whole)?;
        }
        work.progress.best = f64::INFINITY;
        work.linear.step.x.clone_from(&direction.x);
        work.linear.step.mu.clone_from(&direction.mu);
        let load = base.unknowns.factor + stride.length * direction.load;
        work.set_load_factor(stride.load.unwrap_or(load), &mut at.system.model)?;
        if !take_share(at, work, Tangent::Whole, stride.length)? {
            return Ok(None);
        }
        self.moved.clear();
        let predicted = direction.x.iter().map(|d| stride.length * d);
        self.moved.extend(predicted);
        let mut before = f64::INFINITY;
        for iteration in 0..ITERATIONS {
            fill_tangent(at, work, Tangent::Whole)?;
            let residual = measure(at, work);
            if residual.is_nan() {
                return Ok(None);
            }
            factor_tangent(at, work, Tangent::Whole)?;
            if residual <= work.progress.tolerance {
                return Ok(self.is_on_course(work, from, stride).then_some(iteration));
            }
            solve_correction(at, work)?;
            if stride.load.is_none() && !self.correct_load(at, work, from, stride.length)? {
                return Ok(None);
            }
            let step = &work.linear.step.x;
            let length = work.metric.norm(step);
            let far = work.metric.largest(step) > FAR;
            if !length.is_finite() || far || iteration > 1 && length > 2.0 * before {
                return Ok(None);
            }
            before = length;
            for (moved, d) in self.moved.iter_mut().zip(step) {
                *moved += d;
            }
            if !take_share(at, work, Tangent::Whole, 1.0)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Changes the load, and the correction with it, so that the step keeps its length along the
    /// direction. False where that has no answer.
    fn correct_load(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        from: Origin<'_>,
        length: f64,
    ) -> Result<bool, Error> {
        self.solve_load(at, work)?;
        let Origin { base, direction } = from;
        let (linear, metric) = (&mut work.linear, &work.metric);
        let d = Along::new(&direction.x, direction.load);
        let load = work.unknowns.factor - base.unknowns.factor;
        let so_far = self.dot(metric, d, Along::new(&self.moved, load));
        let across = so_far - length + self.dot(metric, d, Along::new(&linear.step.x, 0.0));
        let change = -across / self.dot(metric, d, Along::new(&linear.other.x, 1.0));
        for (step, t) in [
            (&mut linear.step.x, &linear.other.x),
            (&mut linear.step.mu, &linear.other.mu),
        ] {
            for (s, t) in step.iter_mut().zip(t) {
                *s += change * t;
            }
        }
        if !change.is_finite() {
            return Ok(false);
        }
        work.set_load_factor(work.unknowns.factor + change, &mut at.system.model)?;
        Ok(true)
    }

    /// Whether a step ended near its tangent, not on some other path.
    fn is_on_course(&mut self, work: &Workspace, from: Origin<'_>, stride: Stride) -> bool {
        let Origin { base, direction } = from;
        let ahead = direction.x.iter().map(|d| stride.length * d);
        let off: Vec<f64> = self.moved.iter().zip(ahead).map(|(m, d)| m - d).collect();
        let load = work.unknowns.factor - base.unknowns.factor - stride.length * direction.load;
        let off = Along::new(&off, load);
        let off = self.dot(&work.metric, off, off).sqrt();
        self.strayed = off > ASTRAY * stride.length;
        let passes_corner = stride.length <= self.corner && off <= JUMP * stride.length;
        // Rows of bounded force make corners, and so do materials.
        !self.strayed || passes_corner || !work.has_sides_of(base)
    }
}
