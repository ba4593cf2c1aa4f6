//! Timed holds.

use pliant::{Error, Simulation};
use pliant_scene::Hold;
use serde::{Deserialize, Serialize};

/// All holds of a run, and which of them are on.
#[derive(Debug)]
pub(super) struct Schedule {
    holds: Vec<(Hold, Phase)>,
}

/// Where a hold is in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    Waiting,
    On,
    Over,
}

impl Schedule {
    pub(super) fn new(holds: Vec<Hold>) -> Self {
        Self {
            holds: holds.into_iter().map(|hold| (hold, Phase::Waiting)).collect(),
        }
    }

    /// The phase of each hold, for a checkpoint.
    pub(super) fn phases(&self) -> Vec<Phase> {
        self.holds.iter().map(|(_, phase)| *phase).collect()
    }

    /// Goes back to the phases of a checkpoint; what is held is a part of the motion.
    pub(super) fn set_phases(&mut self, phases: &[Phase]) {
        for ((_, phase), other) in self.holds.iter_mut().zip(phases) {
            *phase = *other;
        }
    }

    /// The next time after that of the simulation at which something starts or ends; infinite if
    /// there is none.
    pub(super) fn next(&self, simulation: &Simulation, step: f64) -> f64 {
        let now = simulation.time() + 1e-6 * step;
        let times = self.holds.iter().map(|(hold, phase)| match phase {
            Phase::Waiting => hold.from,
            Phase::On => hold.until,
            Phase::Over => f64::INFINITY,
        });
        times.filter(|t| *t > now).fold(f64::INFINITY, f64::min)
    }

    /// Whether something is due at the simulation's time.
    pub(super) fn is_due(&self, simulation: &Simulation, step: f64) -> bool {
        let now = simulation.time() + 1e-6 * step;
        self.holds.iter().any(|(hold, phase)| match phase {
            Phase::Waiting => hold.from <= now,
            Phase::On => hold.until <= now,
            Phase::Over => false,
        })
    }

    /// Ends and starts what is due at the simulation's time.
    pub(super) fn apply(&mut self, simulation: &mut Simulation, step: f64) -> Result<(), Error> {
        // Sums of steps miss round times by rounding.
        let now = simulation.time() + 1e-6 * step;
        let mut released = false;
        for (hold, phase) in &mut self.holds {
            if *phase == Phase::On && hold.until <= now {
                for element in &hold.elements {
                    simulation.release(hold.node, *element, &hold.coordinates)?;
                }
                *phase = Phase::Over;
                released = true;
            }
        }
        for (hold, phase) in &mut self.holds {
            let due = *phase == Phase::Waiting && hold.from <= now;
            if due && hold.until <= now {
                // Between two steps: it never acts.
                *phase = Phase::Over;
            } else if due || (*phase == Phase::On && released) {
                // What was released may be held by another one too.
                for element in &hold.elements {
                    simulation.hold(hold.node, *element, &hold.coordinates, &hold.velocity)?;
                }
                *phase = Phase::On;
            }
        }
        Ok(())
    }
}
