//! Rows whose direction turns in a step, as that of a rope does that is pulled into its pulley.

use crate::Error;
use crate::motion::Motion;
use crate::system::System;
use pliant_kkt::{Assembler, Scheme};
use pliant_model::{Evaluation, Problem, State};

/// The least angle (rad) that a row turns by to be told.
const LEAST: f64 = 1.0;

/// The row that has a force, or may at the start of a motion, and turns most in a step of
/// length `h` (s) at the velocities of the motion, and the angle between its rows of the Jacobian
/// at both ends (rad), if that is a radian or more. For steps that failed: two evaluations and a
/// copy of the state.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined.
pub fn find_turning(system: &mut System, motion: &Motion, h: f64) -> Result<Option<(usize, f64)>, Error> {
    let mut evaluation = system.new_evaluation();
    let System { model, assembler, .. } = system;
    let mut state = motion.state.clone();
    fill(model, &mut evaluation, assembler, &mut state)?;
    let before = assembler.system().j.values().to_vec();
    for node in model.nodes().iter().filter(|n| n.first_dof().is_some()) {
        let step: Vec<f64> = state.velocities[node.velocity_range()]
            .iter()
            .map(|v| h * v)
            .collect();
        node.space
            .retract(&mut state.positions[node.position_range()], &step);
    }
    fill(model, &mut evaluation, assembler, &mut state)?;
    let j = &assembler.system().j;
    let angle = |row: usize| {
        let slots = j.pattern().row_slots(row);
        let (a, b) = (&before[slots.clone()], &j.values()[slots]);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
        cosine.clamp(-1.0, 1.0).acos()
    };
    let is_active = |m: &(usize, &f64)| motion.fresh || *m.1 != 0.0;
    let active = motion.multipliers.iter().enumerate().filter(is_active);
    let turning = active.map(|(row, _)| (row, angle(row)));
    let most = turning
        .filter(|t| t.1 >= LEAST)
        .max_by(|a, b| a.1.total_cmp(&b.1));
    Ok(most)
}

/// Fills the rows at a state.
fn fill(
    model: &Problem,
    evaluation: &mut Evaluation,
    assembler: &mut Assembler,
    state: &mut State,
) -> Result<(), Error> {
    evaluation.propagate(model, state)?;
    evaluation.evaluate(model, state)?;
    assembler.fill_kinematics(model, evaluation, &Scheme::implicit_euler(1.0), state);
    Ok(())
}
