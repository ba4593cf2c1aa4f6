//! Steps that were halved, part by part: each half that stands has equations of its own.

use super::{GradientError, TrajectoryError};
use crate::control::located::{EachPart, PartEnd, TakenPart};
use crate::control::parts::AtOnce;
use crate::{Checkpoint, Simulation};

/// Takes a step, and calls `each` after it, or after each of the parts that it was halved into: these
/// are taken once more then, since which of them stand is known at the end.
///
/// # Errors
/// All errors of [`Simulation::step`] and of `each`; [`GradientError::NotBuilt`] if the parts do not
/// lead to where the step did.
pub(super) fn step(
    simulation: &mut Simulation,
    h: f64,
    each: EachPart<'_, TrajectoryError>,
) -> Result<(), TrajectoryError> {
    let mut before = std::mem::take(&mut simulation.adaptive.before);
    simulation.record_checkpoint(&mut before);
    let taken = simulation.step(h);
    let parts = simulation.adaptive.parts.in_turn();
    let result = match (taken, parts) {
        (Err(e), _) => Err(e.into()),
        (Ok(_), None) => each(
            simulation,
            TakenPart {
                h,
                end: PartEnd::Whole,
            },
        ),
        (Ok(_), Some(parts)) => again(simulation, &before, &parts, each),
    };
    simulation.adaptive.before = before;
    result
}

/// Takes a step that was halved again, part by part.
fn again(
    simulation: &mut Simulation,
    before: &Checkpoint,
    parts: &[AtOnce],
    each: EachPart<'_, TrajectoryError>,
) -> Result<(), TrajectoryError> {
    let (time, end) = (simulation.motion.time, simulation.motion.state.clone());
    let steps = simulation.counters().steps;
    simulation.go_to(before)?;
    for (k, part) in parts.iter().enumerate() {
        simulation.step_at_once(part.h, part.conditions)?;
        simulation.motion.time = part.time;
        let end = match k + 1 == parts.len() {
            true => PartEnd::Whole,
            false => PartEnd::Half,
        };
        each(simulation, TakenPart { h: part.h, end })?;
    }
    simulation.system.set_steps(steps);
    match simulation.motion.state == end {
        true => Ok(()),
        false => Err(GradientError::NotBuilt {
            what: format!("the step to t = {time} s"),
            why: "it was halved, and its halves taken again lead elsewhere: choose a shorter step",
        }
        .into()),
    }
}
