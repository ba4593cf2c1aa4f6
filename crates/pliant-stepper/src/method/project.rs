//! Velocities of a motion before its first step that hard rows do not let be.

use crate::motion::Motion;
use crate::system::System;
use crate::{Error, WorkPart};
use pliant_kkt::Scheme;
use pliant_model::{RowGroup, State};
use pliant_solvers::Status;

/// Share of the largest velocity by which that of a row may be off.
const AGREES: f64 = 1e-9;

/// The kinetic energy that a projection of the velocities at the start of a motion changed (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projected {
    /// Taken by hard rows, as by impacts: `|dv|_M^2/2` of the change of velocity.
    pub taken: f64,
    /// Brought in by held coordinates and drives that move, which pull the rest along.
    pub given: f64,
}

impl Projected {
    /// Taken by both together (J).
    pub fn lost(&self) -> f64 {
        self.taken - self.given
    }
}

/// Projects the velocities of a motion on its hard rows of two sides, `min |dv|_M^2/2` subject to
/// `J dv = -J v`; rows that are driven keep the velocities that they have. Without that, weights
/// below 1 turn what contradicts round in every step (theory/step.md of the book). Nothing changes where rows
/// and velocities agree, nor where rows contradict each other, of which the step will tell. Returns
/// the kinetic energy that it changed. Cost: a pass over the rows; of a start that contradicts them
/// an evaluation, a factor and a copy of the state.
///
/// The rows stop what moves along them with half of their impulses times the velocities of before,
/// `|dv|_M^2/2`; the rest of the change is the work of what is held at a velocity of its own.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined, [`Error::TooMuchWork`], and those of the linear
/// solver.
pub fn project_velocities(system: &mut System, motion: &mut Motion) -> Result<Projected, Error> {
    if agrees(system, &motion.state) {
        return Ok(Projected::default());
    }
    system.set_row_motion(motion.time, motion.time);
    system.evaluation.evaluate(&system.model, &motion.state)?;
    fill(system, motion, |_, _, _| false);
    let in_words = |system: &System, e| Error::from_solver(e, &system.model, motion.time);
    let prepared = system.corrections.direct.prepare(system.assembler.system());
    prepared.map_err(|e| in_words(system, e))?;
    let System {
        assembler,
        corrections,
        scratch,
        ..
    } = &mut *system;
    let solved = corrections
        .direct
        .solve(assembler.system(), &mut scratch.correction);
    let solved = solved.map_err(|e| in_words(system, e))?;
    system.check_factorisations(WorkPart::Stabilisation, motion.time)?;
    if solved.status != Status::Converged {
        return Ok(Projected::default());
    }
    let before = system.model.energies(&motion.state).kinetic;
    let mut change = motion.state.clone();
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let range = node.velocity_range();
        let found = &system.scratch.correction.x[first..first + range.len()];
        change.velocities[range.clone()].copy_from_slice(found);
        for (v, change) in motion.state.velocities[range].iter_mut().zip(found) {
            *v += change;
        }
    }
    system.propagate(&mut change)?;
    system.propagate(&mut motion.state)?;
    let taken = system.model.energies(&change).kinetic;
    let after = system.model.energies(&motion.state).kinetic;
    Ok(Projected {
        taken,
        given: after - before + taken,
    })
}

/// Whether no row of two sides that is not driven moves.
fn agrees(system: &System, state: &State) -> bool {
    let largest = state.velocities.iter().fold(0.0f64, |a, v| a.max(v.abs()));
    system.model.row_groups().iter().all(|group| {
        let velocities = &state.velocities[system.model.node(group.node).velocity_range()];
        let still = |(k, u): (usize, &f64)| {
            u.abs() <= AGREES * largest || !system.evaluation.holds_position(&system.model, group, k)
        };
        system.model.motion(group).is_some() || velocities.iter().enumerate().all(still)
    })
}

/// Fills the masses and the hard rows of two sides, the velocities of which go to the right-hand
/// side, and the coordinates of bounded groups that `also` is true for.
pub(super) fn fill(system: &mut System, motion: &Motion, also: impl Fn(&System, &RowGroup, usize) -> bool) {
    let scheme = Scheme::implicit_euler(1.0);
    let (model, state) = (&system.model, &motion.state);
    let evaluation = &mut system.evaluation;
    system
        .assembler
        .fill_kinematics(model, evaluation, &scheme, state);
    for index in 0..system.model.row_groups().len() {
        let group = system.model.row_groups()[index];
        let first = system.model.node(group.node).first_velocity;
        let driven = system.model.motion(&group).is_some();
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let bounded = system.model.bounds(&group).is_some();
            let holds = system.evaluation.holds_position(&system.model, &group, k);
            if holds || bounded && also(system, &group, k) {
                let u = if driven { 0.0 } else { state.velocities[first + k] };
                system.assembler.row_right_hand_side_mut()[row] = u;
            } else if !(driven && !bounded && system.row_is_hard(&group, k)) {
                system.assembler.deactivate_row(row);
            }
        }
    }
}
