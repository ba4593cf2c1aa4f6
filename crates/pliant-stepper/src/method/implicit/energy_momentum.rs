//! The energy-momentum method: one implicit stage along the chord of the step.
//!
//! With the middle velocity `v' = (v + v+)/2` and the chord `d = h v'` (of bodies Cayley's vector
//! `c = h w'` of the rotation, `R+ = R (1 - [c]/2)^-1 (1 + [c]/2)`, in body axes) the equations are
//!
//! ```math
//! M (v+ - v)/h = f' + J'^T lambda,   I (w+ - w)/h = -w' x I w' + tau'
//! phi(x+) = 0    or    C lambda = -(phi + phi+)/2 - (d + C D)(phi+ - phi)/h
//! ```
//!
//! where every node has the mean force of its laws along its own chord, a discrete gradient
//! (`f' . (x+ - x) = V - V+`, see [`ForceField::add_chord_force`]), and mappings carry forces back
//! by the mean of the Jacobians of both ends that carries chords exactly (`J' d = phi+ - phi`, see
//! [`Mapping::carries_chords`]). So with `v'` the equations give the balance of energy,
//! `T+ - T = V - V+`, and hard rows do no work, whatever the step. Torques at both ends enter by
//! their mean in space, `tau' = (tau + tau+)/2 + c x (tau+ - tau)/4`, with which the equation of a
//! body is `R+ I w+ - R I w = h t'`: momentum in space. Action and reaction along the mean of
//! distances, strains and points have no moment about the mean of positions, so that angular
//! momentum is conserved with the energy.
//!
//! [`ForceField::add_chord_force`]: pliant_model::ForceField::add_chord_force
//! [`Mapping::carries_chords`]: pliant_model::Mapping::carries_chords

use super::{Expected, Factor, ForcesAlong, Goal, Iteration, NewtonWorkspace, Origin};
use crate::Error;
use crate::integrator::EndWeighted;
use crate::method::{Capabilities, Method};
use crate::motion::Motion;
use crate::observe::Trace;
use crate::system::System;
use std::time::Instant;

/// The weights of both ends.
const WEIGHTS: EndWeighted = EndWeighted {
    alpha: 0.5,
    beta: 0.5,
};

/// The energy-momentum method, with its scratch.
#[derive(Debug, Default)]
pub(crate) struct EnergyMomentum {
    work: NewtonWorkspace,
}

impl Method for EnergyMomentum {
    fn name(&self) -> &str {
        "the energy-momentum method"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ENERGY_MOMENTUM
    }

    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        let clock = Instant::now();
        let weights = trace.scheme.with_weights(0.5, 0.5);
        let work = &mut self.work;
        system.set_row_motion(start.time, start.time + h);
        system.find_fixed_change(end);
        system.velocities(&start.state, &mut work.equations.velocity);
        let scheme = work.relate(&WEIGHTS, &weights, h, end)?;
        work.equations.chord.begin(system, &start.state)?;
        let tolerance = system.options.tuning.newton.tolerance;
        let mut iteration = Iteration {
            origin: Origin {
                state: &start.state,
                held: &start.controls.held,
                expected: Expected {
                    accelerations: &[],
                    multipliers: &start.multipliers,
                },
                deformations: None,
                forces: ForcesAlong::Chord,
                tolerance,
                goal: Goal::Tolerance,
                polishes: true,
                factor: Factor::Kept,
                way: None,
                ends_at_impact: false,
            },
            system,
            start,
            end,
            scheme: &scheme,
            work,
            or_halves: trace.stages.or_halves,
        };
        iteration.clear(h);
        trace.timings.fill += clock.elapsed();
        let (solved, newton, clamped) = iteration.iterate(&mut trace.timings)?;
        (trace.solved, trace.newton, trace.geometry_clamped) = (solved, newton, clamped);
        trace.missed = work.sizes.worst;
        let clock = Instant::now();
        trace.projected_tangents = system.evaluation.projected_elements(&system.model, &end.state);
        work.read_forces(system, end);
        system.take_rows_by_law();
        trace.scheme = scheme.with_weights(0.5, 0.5).with_step(h);
        trace.tally_chord(system, start, end, h, work.equations.chord.work());
        end.integrator.forget();
        trace.timings.update += clock.elapsed();
        Ok(())
    }
}
