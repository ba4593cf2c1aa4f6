//! Measure of a linear step: the part of the nonlinear equations of its weights that its end
//! misses, and that Newton's method would go on to solve.
//!
//! An impulse `p_i` that equation `i` misses would by itself change a velocity by `p_i/W_ii`, a
//! velocity `w_r` that row `r` misses the motion by an impulse `w_r/A_rr`. The energy of these
//! velocities is compared with that of the motion at both ends, in the metric of the step, kinetic
//! energy and stiffness times the square of the displacement:
//!
//! ```math
//! share^2 = (sum p_i^2/(2 W_ii) + sum w_r^2/(2 A_rr))/(v^T W v/2 + v+^T W v+/2)
//! ```

use super::residual::Side;
use super::{Iteration, NewtonWorkspace, Origin};
use crate::Error;
use crate::contact::step;
use crate::integrator::EndWeighted;
use crate::motion::Motion;
use crate::report::Linearisation;
use crate::system::System;
use pliant_kkt::Scheme;
use pliant_model::{Evaluation, LeanState, State};

/// The measure of linear steps, with its scratch.
#[derive(Debug, Default)]
pub(crate) struct LinearisationMeasure {
    /// The evaluation of the ends: the step goes on with its own, of its start. With the number of
    /// plans of the system that it is for.
    evaluation: Option<(usize, Evaluation)>,
    work: NewtonWorkspace,
    /// Motion that the equations begin with, after a correction ahead of the solve: all but its state.
    start: Motion,
    start_state: LeanState,
    end_state: LeanState,
    /// Impulses of contacts on the independent coordinates (N s, N m s).
    impulses: Vec<f64>,
}

impl LinearisationMeasure {
    /// Whether the step from this motion is to be measured: one in so many, and the first from a
    /// state that was set. It depends on the motion alone, so that a restored one has the same
    /// reports.
    pub(crate) fn is_due(system: &System, start: &Motion, h: f64) -> bool {
        let every = u64::from(system.options.tuning.linearisation_samples);
        let is_sampled = || start.fresh || ((start.time / h).round() as u64).is_multiple_of(every);
        // Sleeping bodies are not where their equations would lead them.
        every > 0 && !system.sleep.is_any_asleep() && is_sampled()
    }

    /// Room for numbers of all nodes, between measures.
    pub(crate) fn room(&mut self) -> &mut Vec<f64> {
        self.work.room()
    }

    /// Takes the motion that the equations begin with.
    pub(crate) fn take_start(&mut self, system: &System, motion: &Motion) {
        take(&mut self.start, motion);
        self.start_state.take(&system.model, &motion.state);
    }

    /// Measures the step of length `h` (s) from `start` by a scheme, whose filled system is in
    /// place and whose solution leads to the motion `end`; all of it is in the end as it was. The share is
    /// infinite where the equations are not defined at the end, which is for the next step to
    /// refuse. Cost: an evaluation, with weights below 1 another one, and a product with every
    /// matrix.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the weights and the step relate velocities to accelerations by
    /// no positive finite gain.
    pub(crate) fn measure(
        &mut self,
        system: &mut System,
        weights: &Scheme,
        h: f64,
        start: &Motion,
        end: &mut Motion,
    ) -> Result<Linearisation, Error> {
        self.end_state.take(&system.model, &end.state);
        self.impulses.clear();
        self.impulses.resize(system.model.dof_count(), 0.0);
        step::add_read_impulses(system, &mut self.impulses);
        let plans = system.counters().plans;
        let own = self.evaluation.take().filter(|(of, _)| *of == plans);
        let own = own.map_or_else(|| system.new_evaluation(), |(_, own)| own);
        let of_start = std::mem::replace(&mut system.evaluation, own);
        // One state serves for both ends of the equations, and is that of the end again.
        std::mem::swap(&mut self.start.state, &mut end.state);
        let measured = self.measure_evaluated(system, weights, h, [start, end]);
        std::mem::swap(&mut self.start.state, &mut end.state);
        if measured.is_err() {
            self.end_state.write(&system.model, &mut end.state);
            let _ = system.propagate(&mut end.state);
        }
        let own = std::mem::replace(&mut system.evaluation, of_start);
        self.evaluation = Some((plans, own));
        match measured {
            Err(Error::Model(_)) => Ok(Linearisation {
                share: f64::INFINITY,
                equation: None,
            }),
            other => other,
        }
    }

    /// Measures the step with the evaluation of this measure in the system.
    fn measure_evaluated(
        &mut self,
        system: &mut System,
        weights: &Scheme,
        h: f64,
        [start, end]: [&Motion; 2],
    ) -> Result<Linearisation, Error> {
        let Self {
            work,
            start: own,
            start_state,
            end_state,
            impulses,
            ..
        } = self;
        let method = EndWeighted {
            alpha: weights.alpha,
            beta: weights.beta,
        };
        let time = start.time;
        system.set_row_motion(time, time + h);
        system.velocities(&own.state, &mut work.iterate.velocity);
        start_state.write(&system.model, &mut own.state);
        system.velocities(&own.state, &mut work.equations.velocity);
        let scheme = work.relate(&method, weights, h, own)?;
        let mut iteration = Iteration {
            origin: Origin::of_step(start, h, system.options.tuning.newton.tolerance),
            system,
            start,
            end: own,
            scheme: &scheme,
            work,
            or_halves: false,
        };
        iteration.clear(h);
        let both = !scheme.weighs_the_end_alone();
        if both || !iteration.system.model.row_groups().is_empty() {
            iteration.system.propagate(&mut iteration.end.state)?;
        }
        if both {
            iteration.system.evaluate_forces(iteration.end, 0.0)?;
            iteration
                .system
                .find_law_forces(&iteration.end.state, |m| m.start);
        }
        iteration.find_start_deficits();
        let iterate = &mut iteration.work.iterate;
        iterate.mu.clear();
        iterate.mu.extend(end.multipliers.iter().map(|l| h * l));
        if both {
            iteration.find_forces(1.0 - weights.alpha, Side::Start);
            let s = &mut *iteration.work;
            s.equations.force.copy_from_slice(&s.residual.primal);
        }
        take(iteration.end, end);
        end_state.write(&iteration.system.model, &mut iteration.end.state);
        iteration.system.propagate(&mut iteration.end.state)?;
        iteration.system.evaluate_forces(iteration.end, h)?;
        iteration.find_deficits();
        iteration.find_forces(weights.alpha, Side::End);
        let s = &mut *iteration.work;
        for (sum, at_start) in s.residual.primal.iter_mut().zip(&s.equations.force) {
            *sum += at_start;
        }
        iteration.turn_into_impulses();
        for (missed, impulse) in iteration.work.residual.primal.iter_mut().zip(&*impulses) {
            *missed -= impulse;
        }
        let energy = iteration.missed_energy();
        let motion = energy_of_motion(system, [&start.state, &own.state], work);
        let share = (energy / motion).sqrt();
        Ok(Linearisation {
            share: if energy == 0.0 { 0.0 } else { share },
            equation: work.sizes.worst,
        })
    }
}

/// The sum of `v^T W v/2` at both ends (J), `W` of the filled system, and no less than the kinetic
/// energies.
fn energy_of_motion(system: &System, ends: [&State; 2], work: &mut NewtonWorkspace) -> f64 {
    let mut sum = 0.0;
    let (velocity, product) = (&mut work.iterate.velocity, &mut work.rate);
    for state in ends {
        system.velocities(state, velocity);
        product.clear();
        product.resize(velocity.len(), 0.0);
        let w = &system.assembler.system().w;
        w.symmetric_add_product(1.0, velocity, product);
        let twice: f64 = velocity.iter().zip(&*product).map(|(v, p)| v * p).sum();
        let kinetic = system.model.energies_without(state, |_| true).kinetic;
        sum += kinetic.max(0.5 * twice);
    }
    sum
}

/// Takes what the equations depend on beside the state.
fn take(own: &mut Motion, motion: &Motion) {
    own.time = motion.time;
    own.multipliers.clone_from(&motion.multipliers);
    own.controls.external.clone_from(&motion.controls.external);
}
