//! Starts whose velocities contradict hard rows: the first step projects them onto these, which
//! depends on parameters.

use super::{Family, TrajectoryError};
use crate::{Error, Simulation};
use pliant_stepper::method::{Projected, project_velocities};
use pliant_stepper::system::System;

/// Lets the models of a family begin with velocities that are projected onto their hard rows, if
/// those of a simulation before its first step are.
///
/// # Errors
/// Errors of the projection.
pub(super) fn project(family: &mut Family, simulation: &mut Simulation) -> Result<(), TrajectoryError> {
    if !simulation.motion.fresh {
        return Ok(());
    }
    let mut motion = simulation.motion.clone();
    if project_velocities(&mut simulation.system, &mut motion)? == Projected::default() {
        return Ok(());
    }
    let options = &simulation.options;
    let of_member = |problem: &pliant_model::Problem| -> Result<_, Error> {
        let mut system = System::new(problem.clone(), options.clone())?;
        let mut motion = system.initial_motion()?;
        motion.hold_present_velocities(&system.model);
        system.plan_row_motion(0.0);
        project_velocities(&mut system, &mut motion)?;
        Ok(motion.state)
    };
    family.set_starts(&motion.state, of_member)?;
    Ok(())
}
