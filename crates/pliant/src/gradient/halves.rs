//! Steps that were halved, part by part: each half that stands has equations of its own.

use super::{GradientError, TrajectoryError};
use crate::Simulation;
use crate::control::located::{EachPart, PartEnd, TakenPart};

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
        (Ok(_), Some(parts)) => {
            let (time, end) = (simulation.motion.time, simulation.motion.state.clone());
            let again = simulation.go_to(&before).map_err(TrajectoryError::from);
            again.and_then(|()| {
                let last = parts.len() - 1;
                for (k, part) in parts.into_iter().enumerate() {
                    simulation.step_at_once(part.h, part.conditions)?;
                    let end = if k == last { PartEnd::Whole } else { PartEnd::Half };
                    if k == last {
                        simulation.motion.time = time;
                    }
                    each(simulation, TakenPart { h: part.h, end })?;
                }
                match simulation.motion.state == end {
                    true => Ok(()),
                    false => Err(GradientError::NotBuilt {
                        what: format!("the step to t = {time} s"),
                        why: "its halves did not stand by themselves: choose a shorter step",
                    }
                    .into()),
                }
            })
        }
    };
    simulation.adaptive.before = before;
    result
}
