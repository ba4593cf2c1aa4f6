//! Velocities of the start of a motion that its hard rows do not let be.

use crate::Error;
use pliant_stepper::Trace;
use pliant_stepper::method::{Projected, project_velocities};
use pliant_stepper::motion::Motion;
use pliant_stepper::system::System;

/// Projects the velocities of a motion before its first step, and notes what that took.
///
/// # Errors
/// As [`project_velocities`].
pub(crate) fn start(system: &mut System, motion: &mut Motion, trace: &mut Trace) -> Result<(), Error> {
    trace.projected = Projected::default();
    if motion.fresh {
        trace.projected = project_velocities(system, motion)?;
    }
    Ok(())
}
