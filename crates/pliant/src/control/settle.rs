//! Rest by pseudo-static steps.

use crate::{Error, Integrator, Simulation};

/// How to come to rest: implicit steps whose velocity is scaled down after each (theory/statics.md
/// of the book). They are implicit Euler's, by [`Integrator::Theta`] or, for materials that yield, by
/// [`Integrator::Nonlinear`], whatever method takes the steps of the motion: a method that hardly
/// damps stiff springs does not come to rest.
///
/// With [`Integrator::Nonlinear`](crate::Integrator::Nonlinear), weights 1 and a step far beyond
/// all periods it is Newton's method for the equations of rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settle {
    /// Time step of the pseudo-static iteration (s): larger is faster, and less robust far from
    /// rest.
    pub h: f64,
    /// Share of the velocity that is kept after each step, in `[0, 1)`.
    pub kept_velocity: f64,
    /// At rest when no coordinate moves by more in a step [m, rad].
    pub tolerance: f64,
    /// Steps at most.
    pub max_steps: usize,
}

impl Default for Settle {
    fn default() -> Self {
        Self {
            h: 0.1,
            kept_velocity: 0.0,
            tolerance: 1e-12,
            max_steps: 10_000,
        }
    }
}

/// How settling ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleReport {
    /// Steps taken.
    pub steps: usize,
    /// Largest change of a coordinate in the last one.
    pub motion: f64,
}

/// One pseudo-static pass: a step of length `h`, then velocities times `kept`. Returns the largest
/// change of a free coordinate.
pub(crate) fn step(simulation: &mut Simulation, h: f64, kept: f64) -> Result<f64, Error> {
    let chosen = simulation.options.integrator.clone();
    let damps = matches!(chosen, Integrator::Theta | Integrator::Nonlinear);
    if !damps {
        simulation.options.integrator = Integrator::Theta;
        if simulation.check_method().is_err() {
            simulation.options.integrator = Integrator::Nonlinear;
        }
    }
    let taken = simulation.step(h);
    simulation.options.integrator = chosen;
    taken?;
    let motion = h * simulation.system.largest_free_velocity(&simulation.motion.state);
    scale_velocities(simulation, kept);
    Ok(motion)
}

/// Takes steps, each followed by a loss of velocity, until nothing moves; the motion is as before
/// if it does not come to rest.
pub(crate) fn settle(simulation: &mut Simulation, how: Settle) -> Result<SettleReport, Error> {
    let before = simulation.checkpoint();
    let found = come_to_rest(simulation, how);
    if found.is_err() {
        simulation.undo(&before)?;
    }
    found
}

fn come_to_rest(simulation: &mut Simulation, how: Settle) -> Result<SettleReport, Error> {
    if !(0.0..1.0).contains(&how.kept_velocity) {
        let bound = "in [0, 1)";
        return Err(Error::OutOfRange {
            what: "the kept part of the velocity",
            value: how.kept_velocity,
            bound,
        });
    }
    let mut motion = f64::INFINITY;
    for steps in 1..=how.max_steps {
        motion = step(simulation, how.h, how.kept_velocity)?;
        if motion <= how.tolerance {
            scale_velocities(simulation, 0.0);
            return Ok(SettleReport { steps, motion });
        }
    }
    Err(Error::NotSettled {
        steps: how.max_steps,
        motion,
        tolerance: how.tolerance,
    })
}

/// Multiplies all independent velocities that are not fixed.
pub(crate) fn scale_velocities(simulation: &mut Simulation, factor: f64) {
    let Simulation { system, motion, .. } = simulation;
    let fixed = &system.assembler.system().fixed;
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let velocities = motion.state.velocities[node.velocity_range()].iter_mut();
        for (k, v) in velocities.enumerate() {
            if !fixed[first + k] {
                *v *= factor;
            }
        }
    }
    motion.integrator.forget();
    // Positions did not change, so no mapping can have become undefined; a failure would show at
    // the next step.
    let _ = system.propagate(&mut motion.state);
    if let Some(energies) = &mut motion.ledger.energies {
        energies.kinetic = system.model.energies_without(&motion.state, |_| true).kinetic;
    }
}
