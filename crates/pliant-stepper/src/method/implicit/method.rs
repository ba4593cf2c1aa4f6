//! Steps of one stage by an [`ImplicitMethod`], or by the weights of the nonlinear step: its
//! relations, and its memory from step to step.

use super::{Iteration, NewtonWorkspace, Origin};
use crate::Error;
use crate::contact::step;
use crate::integrator::{EndWeighted, Finished, ImplicitMethod, Past, Start};
use crate::method::theta::recover;
use crate::method::{Capabilities, Method};
use crate::motion::Motion;
use crate::observe::{Driving, Trace};
use crate::sleep;
use crate::system::one_sided::StepEnd;
use crate::system::{System, one_sided};
use pliant_kkt::Scheme;
use pliant_model::{Model, Space};
use std::sync::Arc;
use std::time::Instant;

/// An implicit method: one of [`ImplicitMethod`], or the weights of the step.
#[derive(Debug, Default)]
pub(crate) struct Implicit {
    /// The method; without one, the nonlinear step by the weights of the scheme.
    pub(crate) method: Option<Arc<dyn ImplicitMethod>>,
    work: NewtonWorkspace,
}

impl Method for Implicit {
    fn name(&self) -> &str {
        self.method.as_ref().map_or("the nonlinear step", |m| m.name())
    }

    fn capabilities(&self) -> Capabilities {
        match &self.method {
            None => Capabilities::NONLINEAR,
            Some(method) if method.needs_acceleration() => Capabilities::IMPLICIT_WITH_ACCELERATION,
            Some(_) => Capabilities::IMPLICIT,
        }
    }

    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        let weights = trace.scheme.clone();
        let weighted = EndWeighted {
            alpha: weights.alpha,
            beta: weights.beta,
        };
        let own = self.method.is_none();
        let method: &dyn ImplicitMethod = self.method.as_deref().unwrap_or(&weighted);
        method.check()?;
        let work = &mut self.work;
        let clock = Instant::now();
        system.set_row_motion(start.time, start.time + h);
        system.evaluate(end, 0.0)?;
        system.find_fixed_change(end);
        work.start_method(method, system, &weights, h, end)?;
        let by_end = if own {
            weights.beta == 1.0
        } else {
            method.memory() == 0 || end.integrator.previous.is_none()
        };
        let bounces = true;
        one_sided::find(system, end, StepEnd { h, by_end, bounces });
        let scheme = work.relate(method, &weights, h, end)?;
        let equations = &mut work.equations;
        equations.law_velocity.clone_from(&equations.velocity);
        trace.timings.fill += clock.elapsed();
        let clock = Instant::now();
        step::find(system, end, h)?;
        trace.timings.contacts += clock.elapsed();
        let clock = Instant::now();
        trace.account.add_stored_contacts(system, end);
        let mut iteration = Iteration {
            origin: Origin::of_step(start, h, system.options.tuning.newton.tolerance),
            system,
            start,
            end,
            scheme: &scheme,
            work,
            or_halves: trace.stages.or_halves,
        };
        let impulses = &mut iteration.work.iterate.contacts;
        step::start_newton(iteration.system, iteration.end, &scheme, h, impulses)?;
        iteration.record_start(h, method.weight());
        trace.timings.fill += clock.elapsed();
        let (solved, newton, clamped) = iteration.iterate_with_restitution(&mut trace.timings)?;
        (trace.solved, trace.newton, trace.geometry_clamped) = (solved, newton, clamped);
        trace.missed = work.sizes.worst;
        let clock = Instant::now();
        trace.projected_tangents = system.evaluation.projected_elements(&system.model, &end.state);
        work.read_forces(system, end);
        sleep::hold_placed(system, &start.state, end)?;
        step::read_newton(system, end, &scheme, work.contact_iterate(), h);
        trace.timings.update += clock.elapsed();
        let clock = Instant::now();
        step::look_for_missed(system, start, end, h)?;
        trace.timings.contacts += clock.elapsed();
        let clock = Instant::now();
        system.take_rows_by_law();
        // The work of dampers is that of the mean force on the mean velocity.
        trace.account.advance_memory(system, &mut end.state, h);
        let (alpha, beta) = if method.weight() == 1.0 && !own {
            (0.5, 0.5)
        } else {
            (method.weight(), weights.beta)
        };
        trace.scheme = scheme.with_weights(alpha, beta).with_step(h);
        let driving = if own { Driving::Laws } else { Driving::Ends };
        trace.tally(system, start, end, h, driving);
        trace.timings.update += clock.elapsed();
        let clock = Instant::now();
        recover(system, start, end, trace, h)?;
        trace.timings.contacts += clock.elapsed();
        if one_sided::has_closed(system, start, end) {
            end.integrator.forget();
        } else {
            work.finish_method(method, system, h, end);
        }
        Ok(())
    }
}

impl NewtonWorkspace {
    /// Prepares the memory of the method in `end`, if it is not its own or belongs to another
    /// motion.
    fn start_method(
        &mut self,
        method: &dyn ImplicitMethod,
        system: &mut System,
        weights: &Scheme,
        h: f64,
        end: &mut Motion,
    ) -> Result<(), Error> {
        let n = system.model.dof_count();
        self.find_rotations(&system.model);
        system.velocities(&end.state, &mut self.equations.velocity);
        let known = !end.fresh && end.integrator.method == method.name();
        if known && end.integrator.vectors.len() == method.memory() * n {
            return Ok(());
        }
        if method.needs_acceleration() {
            system.find_accelerations(weights, end, h)?;
        }
        end.integrator.method = method.name().to_owned();
        end.integrator.previous = None;
        end.integrator.before = None;
        end.integrator.vectors.clear();
        end.integrator.vectors.resize(method.memory() * n, 0.0);
        let start = Start {
            h,
            velocity: &self.equations.velocity,
            acceleration: if method.needs_acceleration() {
                &system.solution.x
            } else {
                &[]
            },
        };
        method.start(&start, &mut end.integrator.vectors);
        Ok(())
    }

    /// Lists the rotations of bodies among the independent coordinates, which stay for good.
    fn find_rotations(&mut self, model: &Model) {
        if !self.equations.rotations.is_empty() {
            return;
        }
        for node in model.nodes().iter().filter(|node| node.space == Space::Rigid3) {
            let Some(first) = node.first_dof() else { continue };
            let bodies = node.velocity_range().len() / 6;
            self.equations
                .rotations
                .extend((0..bodies).map(|body| first + 6 * body + 3));
        }
    }

    /// The relations of the step. Returns the scheme that fills the matrices of its equations.
    pub(super) fn relate(
        &mut self,
        method: &dyn ImplicitMethod,
        weights: &Scheme,
        h: f64,
        end: &Motion,
    ) -> Result<Scheme, Error> {
        let n = self.equations.velocity.len();
        self.relation.acceleration.resize(n, 0.0);
        self.relation.displacement.resize(n, 0.0);
        let past = Past {
            h,
            previous: end.integrator.previous,
            before: end.integrator.before,
            rotations: &self.equations.rotations,
            velocity: &self.equations.velocity,
            memory: &end.integrator.vectors,
        };
        method.relate(&past, &mut self.relation);
        let gain = self.relation.acceleration_gain;
        let reach = self.relation.displacement_gain;
        for (what, value) in [
            ("the acceleration gain of an integrator", gain),
            ("the displacement gain of an integrator", reach),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                let bound = "positive and finite";
                return Err(Error::OutOfRange { what, value, bound });
            }
        }
        Ok(Scheme {
            h: gain.recip(),
            alpha: method.weight(),
            beta: reach * gain,
            velocity_rows: false,
            ..weights.clone()
        })
    }

    /// Lets the method remember the step.
    fn finish_method(&mut self, method: &dyn ImplicitMethod, system: &System, h: f64, end: &mut Motion) {
        system.velocities(&end.state, &mut self.iterate.velocity);
        self.rate.resize(self.equations.velocity.len(), 0.0);
        let relation = &self.relation;
        for ((a, a_0), v) in self
            .rate
            .iter_mut()
            .zip(&relation.acceleration)
            .zip(&self.iterate.velocity)
        {
            *a = a_0 + relation.acceleration_gain * v;
        }
        let step = Finished {
            h,
            old_velocity: &self.equations.velocity,
            velocity: &self.iterate.velocity,
            acceleration: &self.rate,
            displacement: &self.displacement,
            previous: end.integrator.previous,
            rotations: &self.equations.rotations,
        };
        method.finish(&step, &mut end.integrator.vectors);
        end.integrator.before = end.integrator.previous.replace(h);
    }
}
