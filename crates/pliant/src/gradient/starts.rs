//! Starts whose velocities contradict hard rows: the first step projects them onto these, which
//! depends on parameters.

use super::{Family, TrajectoryError};
use crate::{Error, Simulation};
use pliant_model::{Problem, State};
use pliant_stepper::method::{Projected, project_velocities};
use pliant_stepper::system::System;

/// Lets the motions of a family begin with velocities that are projected onto hard rows, if those of
/// a simulation before its first step are, and with the initial states of their models else.
///
/// # Errors
/// Errors of the projection.
pub(super) fn project(family: &mut Family, simulation: &mut Simulation) -> Result<(), TrajectoryError> {
    family.begin_initially();
    if !simulation.motion.fresh {
        return Ok(());
    }
    let mut motion = simulation.motion.clone();
    if project_velocities(&mut simulation.system, &mut motion)? == Projected::default() {
        return Ok(());
    }
    let (options, own) = (&simulation.options, &simulation.motion.state);
    let initial = simulation.problem().initial_state().map_err(Error::Model)?;
    let of_member = |problem: &Problem| -> Result<State, Error> {
        let mut system = System::new(problem.clone(), options.clone())?;
        let mut motion = system.initial_motion()?;
        move_along(problem, &mut motion.state, &initial, own);
        system.propagate(&mut motion.state)?;
        motion.hold_present_velocities(&system.model);
        system.plan_row_motion(0.0);
        project_velocities(&mut system, &mut motion)?;
        Ok(motion.state)
    };
    family.begin_with(&motion.state, of_member)?;
    Ok(())
}

/// Moves independent nodes from where they are beside one state to where they are so beside another
/// one: a motion may begin with a state that was set.
fn move_along(problem: &Problem, state: &mut State, from: &State, to: &State) {
    let mut apart = Vec::new();
    for node in problem.nodes().iter().filter(|node| node.first_dof().is_some()) {
        let (p, v) = (node.position_range(), node.velocity_range());
        apart.clear();
        apart.resize(v.len(), 0.0);
        let positions = &mut state.positions[p.clone()];
        node.space
            .local(&from.positions[p.clone()], positions, &mut apart);
        positions.copy_from_slice(&to.positions[p]);
        node.space.retract(positions, &apart);
        for k in v {
            state.velocities[k] += to.velocities[k] - from.velocities[k];
        }
    }
}
