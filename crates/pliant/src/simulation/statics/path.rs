//! Paths of equilibria over a load factor.

mod critical;
mod increments;

use super::super::Simulation;
use super::{FAR, Kept, Work, tangent};
use crate::Error;
use crate::statics::{Continuation, Control, Equilibrium, Path, PathEnd, PathPoint, StaticMethod};
use pliant_solvers::Variable;

/// Iterations of one step at most.
const ITERATIONS: usize = 15;
/// A step of this share of the first one is no step.
const SHORTEST: f64 = 1e-10;
/// The largest displacement of a step, in lengths of the model and radians.
const LONGEST: f64 = 0.05;
/// How far from the tangent a step may end, over its length, and the least cosine of the angle by which the tangent turns: the next step could be on some other path.
const ASTRAY: f64 = 0.25;
const STRAIGHT: f64 = 0.7;
/// A path that still turns in a step of this share of the first one has a corner.
const CORNER: f64 = 1e-6;

/// A direction of the path, of length 1 in displacements and load.
#[derive(Clone, Debug, Default)]
struct Direction {
    x: Vec<f64>,
    mu: Vec<f64>,
    load: f64,
}

/// A step to take.
#[derive(Clone, Copy, Debug)]
struct Stride {
    length: f64,
    /// The load factor at its end, if that is prescribed.
    load: Option<f64>,
}

/// What is kept between steps.
#[derive(Debug, Default)]
struct Tracer {
    /// Weight of the square of a change of the load factor in the square of a length.
    weight: f64,
    load_force: Vec<f64>,
    load_deficit: Vec<f64>,
    /// Displacements of the present step since its start.
    moved: Vec<f64>,
}

impl Tracer {
    fn dot(&self, work: &Work, a: (&[f64], f64), b: (&[f64], f64)) -> f64 {
        let terms = a.0.iter().zip(b.0).zip(&work.inverse_length);
        let sum: f64 = terms.map(|((a, b), s)| a * b * s * s).sum();
        sum + self.weight * a.1 * b.1
    }
}

impl Simulation {
    /// Follows a path of equilibria over a load factor, beginning with the equilibrium near the present positions at the first one. `each` sees every point, with
    /// the simulation there, and says whether to go on. Ends at the last point; the loads of the simulation are whole again.
    ///
    /// Materials with a past remember every point, before `each` sees it.
    ///
    /// Steps go along the tangent of the path, `[W -J^T; -J -C] t = dF/dp`, and come back to it by Newton's method across it: two solves with one
    /// factor. With a source of contacts, steps of the load are increments: each ends at the equilibrium that [`find_equilibrium`](Self::find_equilibrium) finds from the point before, if that
    /// is near, against the friction of the way slipped in it; critical points are not looked for. Arc length takes contacts without friction. Their length follows the iterations that they take, and is halved where they fail. Stability is that of the inertia of every factor.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NotStatic`], and those of [`find_equilibrium`](Self::find_equilibrium) for the first point, with the state as it was. What happens
    /// behind the first point is told by [`PathEnd`].
    pub fn follow(
        &mut self,
        how: &Continuation,
        mut each: impl FnMut(&Self, &PathPoint) -> bool,
    ) -> Result<Path, Error> {
        let numbers = [
            (
                "the tolerance of a path",
                how.tolerance,
                how.tolerance > 0.0 && how.tolerance < 1.0,
            ),
            (
                "the step of a path",
                how.step,
                how.step.is_finite() && how.step != 0.0,
            ),
            (
                "the largest step of a path",
                how.largest_step,
                how.largest_step > 0.0,
            ),
            (
                "the number of points of a path",
                how.max_points as f64,
                how.max_points > 0,
            ),
            ("the first load factor", how.start, how.start.is_finite()),
            (
                "the last load factor",
                how.end,
                how.end.is_finite() && how.end != how.start,
            ),
        ];
        for (what, value, fits) in numbers {
            if !fits {
                let bound = "positive and finite, a tolerance below 1, and the load factors apart";
                return Err(Error::OutOfRange { what, value, bound });
            }
        }
        let by_arc_length = how.control == Control::ArcLength;
        self.at_rest((&how.loads, how.tolerance, by_arc_length), |simulation, work| {
            simulation.trace(work, how, &mut each)
        })
    }

    fn trace(
        &mut self,
        work: &mut Work,
        how: &Continuation,
        each: &mut dyn FnMut(&Self, &PathPoint) -> bool,
    ) -> Result<Path, Error> {
        work.most = Equilibrium::default().max_iterations;
        work.factor = how.start;
        self.settle_statically(work, StaticMethod::Newton)?;
        work.most = usize::MAX;
        let mut path = Path {
            points: Vec::new(),
            critical: Vec::new(),
            end: PathEnd::Points,
            factorisations: 0,
        };
        let first = work.report.iterations;
        let mut going = self.reach(work, &mut path, first, each)?;
        if self.system.contacts.is_some() && how.control == Control::Load {
            self.step_loads(work, how, &mut path, going, each)?;
            path.factorisations = work.report.factorisations;
            return Ok(path);
        }
        let mut tracer = Tracer::default();
        let ahead = (how.end - how.start).signum();
        let mut direction = self.first_direction(work, &mut tracer, ahead)?;
        let shortest = SHORTEST * how.step.abs() / direction.load.abs();
        let corner = CORNER / SHORTEST * shortest;
        let mut length = how.step.abs().min(how.largest_step) / direction.load.abs();
        while going && path.points.len() < how.max_points {
            let base = work.keep(&self.motion.state);
            let kind_of_base = work.kind;
            let negative = kind_of_base.negative;
            let limits = [
                how.largest_step / direction.load.abs(),
                LONGEST / work.largest(&direction.x),
            ];
            length = limits.into_iter().fold(length, f64::min);
            let load = match how.control {
                Control::Load => Some(base.factor + length * direction.load),
                Control::ArcLength => None,
            };
            let mut stride = Stride { length, load };
            let mut taken = self.stride(work, &mut tracer, (&base, &direction), stride)?;
            let mut ends = false;
            if taken.is_some() && (work.factor - how.end) * ahead >= 0.0 {
                // Back to the end itself.
                stride.length = (how.end - base.factor) / direction.load;
                stride.load = Some(how.end);
                taken = if stride.length > 0.0 {
                    self.stride(work, &mut tracer, (&base, &direction), stride)?
                } else {
                    None
                };
                ends = taken.is_some();
            }
            let there = work.keep(&self.motion.state);
            let (kind, report) = (work.kind, work.report);
            let old = direction.clone();
            if taken.is_some() {
                self.find_direction(work, &mut tracer, &mut direction)?;
                let new = (&direction.x[..], direction.load);
                let cosine = tracer.dot(work, (&old.x, old.load), new);
                let turns = cosine < STRAIGHT && work.has_sides_of(&base) && length > corner;
                // Within the tolerance a step of the load may pass its limit.
                let passed = how.control == Control::Load && direction.load * ahead < 0.0;
                if turns || passed {
                    direction.clone_from(&old);
                    taken = None;
                }
            }
            let Some(iterations) = taken else {
                self.go_back(work, &base)?;
                work.kind = kind_of_base;
                length *= 0.5;
                if length < shortest {
                    let stuck = Error::StuckPath {
                        load: base.factor,
                        free: self.free_coordinate(work)?,
                        control: how.control,
                    };
                    path.end = PathEnd::Stuck(Box::new(stuck));
                    break;
                }
                continue;
            };
            if kind.negative != negative {
                let change = critical::Change {
                    base: &base,
                    direction: &old,
                    next: &direction,
                    stride,
                    negative: (negative, kind.negative),
                };
                let after = path.points.len() - 1;
                let found = self.find_critical(work, &mut tracer, &change, after, how.locate)?;
                path.critical.extend(found);
                self.go_back(work, &there)?;
            }
            work.kind = kind;
            (work.report.residual, work.report.violation) = (report.residual, report.violation);
            going = self.reach(work, &mut path, iterations, each)?;
            if ends {
                path.end = PathEnd::Reached;
                break;
            }
            let faster = (how.wanted_iterations.max(1) as f64 / iterations.max(1) as f64).sqrt();
            length *= faster.clamp(0.5, 2.0);
        }
        if !going {
            path.end = PathEnd::Stopped;
        }
        path.factorisations = work.report.factorisations;
        Ok(path)
    }

    /// A coordinate that nothing holds at the present state, in words.
    fn free_coordinate(&mut self, work: &mut Work) -> Result<Option<String>, Error> {
        self.fill_tangent(work)?;
        self.factor_tangent(work)?;
        let system = tangent(&self.system.assembler, &work.touching, false);
        let variable = work.solver.unpivoted(system);
        Ok(match variable {
            Some(Variable::Dof(dof)) if work.kind.zero > 0 => Some(self.system.model.describe_dof(dof)),
            _ => None,
        })
    }

    /// Adds the present state to the path. Whether to go on.
    fn reach(
        &mut self,
        work: &mut Work,
        path: &mut Path,
        iterations: usize,
        each: &mut dyn FnMut(&Self, &PathPoint) -> bool,
    ) -> Result<bool, Error> {
        if self
            .system
            .evaluation
            .projected_elements(&self.system.model, &self.motion.state)
            > 0
        {
            let what = "a path on which tangents are projected, for then it is not seen where it is stable: take exact ones";
            return Err(Error::NotStatic {
                what: what.to_owned(),
            });
        }
        let forgotten = self.system.advance_memory(&mut self.motion.state, f64::INFINITY);
        self.trace.account.forgotten += forgotten;
        self.show_forces(work);
        let point = PathPoint {
            load: work.factor,
            state: self.motion.state.clone(),
            multipliers: work.lambda.clone(),
            negative_modes: work.kind.negative,
            free_modes: work.kind.zero,
            redundant_rows: work.kind.redundant,
            residual: work.report.residual,
            violation: work.report.violation,
            iterations,
        };
        let going = each(self, &point);
        path.points.push(point);
        Ok(going)
    }

    /// The direction in which the load factor goes ahead, with the weight that makes displacements and load equal.
    fn first_direction(
        &mut self,
        work: &mut Work,
        tracer: &mut Tracer,
        ahead: f64,
    ) -> Result<Direction, Error> {
        let (x, mu) = (vec![0.0; work.force.len()], vec![0.0; work.lambda.len()]);
        let mut direction = Direction { x, mu, load: ahead };
        self.solve_load(work, tracer)?;
        let square = work.norm(&work.other.x).powi(2);
        tracer.weight = if square > 0.0 && square.is_finite() {
            square
        } else {
            1.0
        };
        self.find_direction(work, tracer, &mut direction)?;
        Ok(direction)
    }

    /// What a load factor of 1 more changes, with the tangent as factored.
    fn solve_load(&mut self, work: &mut Work, tracer: &mut Tracer) -> Result<(), Error> {
        let (mut force, mut deficit) = (
            std::mem::take(&mut tracer.load_force),
            std::mem::take(&mut tracer.load_deficit),
        );
        let found = self.find_load(work, &mut force, &mut deficit);
        let system = tangent(&self.system.assembler, &work.touching, false);
        let solved = found.and_then(|()| {
            let solved = work.solver.solve(system, &force, &deficit, &mut work.other);
            solved.map_err(Error::Solve)
        });
        (tracer.load_force, tracer.load_deficit) = (force, deficit);
        solved.map(|_| ())
    }

    /// The direction of the path with the tangent as factored, on from the last direction.
    fn find_direction(
        &mut self,
        work: &mut Work,
        tracer: &mut Tracer,
        last: &mut Direction,
    ) -> Result<(), Error> {
        self.solve_load(work, tracer)?;
        let t = (&work.other.x[..], 1.0);
        let length = tracer.dot(work, t, t).sqrt();
        let along = tracer.dot(work, t, (&last.x, last.load));
        let scale = if along < 0.0 { -1.0 } else { 1.0 } / length;
        if !scale.is_finite() || scale == 0.0 {
            // At a critical point to the last bit: straight on.
            return Ok(());
        }
        for (to, from) in [(&mut last.x, &work.other.x), (&mut last.mu, &work.other.mu)] {
            to.clear();
            to.extend(from.iter().map(|t| scale * t));
        }
        last.load = scale;
        Ok(())
    }

    /// One step. The iterations that it took, `None` if it failed; then the state is anywhere.
    fn stride(
        &mut self,
        work: &mut Work,
        tracer: &mut Tracer,
        (base, direction): (&Kept, &Direction),
        stride: Stride,
    ) -> Result<Option<usize>, Error> {
        self.go_back(work, base)?;
        if !work.touching.is_empty() {
            // The direction has a force for each contact that bears here.
            self.fill_tangent(work)?;
        }
        work.best = f64::INFINITY;
        work.step.x.clone_from(&direction.x);
        work.step.mu.clone_from(&direction.mu);
        let load = base.factor + stride.length * direction.load;
        self.set_load_factor(work, stride.load.unwrap_or(load))?;
        if !self.take_share(work, stride.length)? {
            return Ok(None);
        }
        tracer.moved.clear();
        let predicted = direction.x.iter().map(|d| stride.length * d);
        tracer.moved.extend(predicted);
        let mut before = f64::INFINITY;
        for iteration in 0..ITERATIONS {
            self.fill_tangent(work)?;
            let residual = self.measure_rest(work);
            if residual.is_nan() {
                return Ok(None);
            }
            self.factor_tangent(work)?;
            if residual <= work.tolerance {
                return Ok(self
                    .is_on_course(work, tracer, (base, direction), stride)
                    .then_some(iteration));
            }
            let system = tangent(&self.system.assembler, &work.touching, false);
            work.solver
                .solve(system, &work.force, &work.deficit, &mut work.step)
                .map_err(Error::Solve)?;
            if stride.load.is_none() {
                self.solve_load(work, tracer)?;
                let d = (&direction.x[..], direction.load);
                let so_far = tracer.dot(work, d, (&tracer.moved, work.factor - base.factor));
                let across = so_far - stride.length + tracer.dot(work, d, (&work.step.x, 0.0));
                let change = -across / tracer.dot(work, d, (&work.other.x, 1.0));
                for (step, t) in [
                    (&mut work.step.x, &work.other.x),
                    (&mut work.step.mu, &work.other.mu),
                ] {
                    for (s, t) in step.iter_mut().zip(t) {
                        *s += change * t;
                    }
                }
                if !change.is_finite() {
                    return Ok(None);
                }
                let factor = work.factor + change;
                self.set_load_factor(work, factor)?;
            }
            let length = work.norm(&work.step.x);
            if !length.is_finite()
                || work.largest(&work.step.x) > FAR
                || iteration > 1 && length > 2.0 * before
            {
                return Ok(None);
            }
            before = length;
            for (moved, d) in tracer.moved.iter_mut().zip(&work.step.x) {
                *moved += d;
            }
            if !self.take_share(work, 1.0)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Whether a step ended near its tangent, not on some other path.
    fn is_on_course(
        &self,
        work: &Work,
        tracer: &Tracer,
        (base, direction): (&Kept, &Direction),
        stride: Stride,
    ) -> bool {
        let ahead = direction.x.iter().map(|d| stride.length * d);
        let off: Vec<f64> = tracer.moved.iter().zip(ahead).map(|(m, d)| m - d).collect();
        let load = work.factor - base.factor - stride.length * direction.load;
        let off = tracer.dot(work, (&off, load), (&off, load)).sqrt();
        // Rows of bounded force make corners.
        off <= ASTRAY * stride.length || !work.has_sides_of(base)
    }
}
