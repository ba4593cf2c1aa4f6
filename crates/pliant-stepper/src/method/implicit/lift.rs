//! Stages on the hard rows.
//!
//! A stage begins at a predictor that is a second order of the step beside the hard rows. There
//! rows that say the same on the rows need not do so: a linkage that moves only because it closes
//! is locked by `J(x) v = 0`, or nearly so. The displacement `p` with
//!
//! ```math
//! min |p|_M,   phi_hard(x^ (+) (w v + p)) = target
//! ```
//!
//! at the velocities that are expected takes the stage to where its rows agree, but for what the
//! velocities are off by; once more at those that were found, to where they agree. Forces of the
//! stage change by what its positions are off by anyway, so that the order of the method stays.

use super::Iteration;
use super::deformations::starts_where_held;
use crate::motion::Motion;
use crate::system::System;
use crate::{Error, WorkPart};
use pliant_kkt::{GeometricTerms, Scheme};
use pliant_model::RowGroup;

/// Times that a stage is taken to its rows at most.
pub(super) const LIFTS: usize = 3;

/// Solves for the displacement at most: they converge quadratically from the second order of the
/// step.
const SOLVES: usize = 4;

/// Share of the violation that a solve must leave, or what is left is rounding.
const PAYS: f64 = 0.5;

/// Whether coordinate `k` of a group is a hard row that holds a position in both directions.
fn holds(system: &System, group: &RowGroup, k: usize) -> bool {
    let row = group.first_row + k;
    let is_hard =
        starts_where_held(system, group, k) || system.evaluation.holds_position(&system.model, group, k);
    is_hard && system.model.bounds(group).is_none() && !system.sleep.holds_row(row)
}

/// Whether the model has a row that a stage can be taken to.
pub(super) fn has_rows(system: &System) -> bool {
    let mut groups = system.model.row_groups().iter();
    groups.any(|group| (0..group.size * group.count).any(|k| holds(system, group, k)))
}

/// Takes the stage to the hard rows by a displacement that is added to that of the relation: the
/// first `time` at the velocities of the first iterate, then at those of the last one. Returns
/// whether it got nearer to them, by less than the stage itself moves; else nothing has happened.
/// Cost: an evaluation, a factor and a solve of masses and rows each time, up to four.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined at the start.
pub(super) fn lift(iteration: &mut Iteration<'_>, time: usize) -> Result<bool, Error> {
    match time {
        0 => iteration.guess()?,
        _ => iteration.place()?,
    }
    let before = iteration.work.relation.displacement.clone();
    // Rows that cannot be reached are left to the error of the stage.
    let is_nearer = approach(iteration).unwrap_or(false);
    let relation = &mut iteration.work.relation;
    let largest = |list: &mut dyn Iterator<Item = f64>| list.fold(0.0f64, |a, x| a.max(x.abs()));
    let ends = relation.displacement.iter().zip(&before);
    let lifted = largest(&mut ends.map(|(p, before)| p - before));
    let reach = relation.displacement_gain;
    let way = largest(&mut iteration.work.iterate.velocity.iter().map(|v| reach * v));
    if is_nearer && lifted < way {
        return Ok(true);
    }
    relation.displacement = before;
    iteration.return_to_best()?;
    Ok(false)
}

/// Takes the stage towards the rows; whether they are violated by less than before.
fn approach(iteration: &mut Iteration<'_>) -> Result<bool, Error> {
    let scheme = Scheme {
        geometry: GeometricTerms::NONE,
        ..Scheme::implicit_euler(iteration.work.relation.displacement_gain)
    };
    let (mut first, mut violation) = (None, f64::INFINITY);
    for _ in 0..SOLVES {
        iteration.system.propagate_acting(iteration.end)?;
        let now = fill(iteration.system, &scheme, iteration.end)?;
        first.get_or_insert(now);
        let pays = now < PAYS * violation;
        violation = now;
        if now == 0.0 || !pays {
            break;
        }
        let System {
            model,
            assembler,
            corrections,
            scratch,
            ..
        } = &mut *iteration.system;
        let solver = &mut corrections.direct;
        let in_words = |e| Error::from_solver(e, model, iteration.start.time);
        solver.prepare(assembler.system()).map_err(in_words)?;
        solver
            .solve(assembler.system(), &mut scratch.correction)
            .map_err(in_words)?;
        let displacement = &mut iteration.work.relation.displacement;
        for (p, x) in displacement.iter_mut().zip(&scratch.correction.x) {
            *p += x;
        }
        iteration
            .system
            .check_factorisations(WorkPart::Stabilisation, iteration.start.time)?;
        iteration.place()?;
    }
    Ok(first.is_some_and(|first| violation < first))
}

/// Fills the masses and the hard rows with what these are off by; the largest of it (m, rad).
fn fill(system: &mut System, scheme: &Scheme, end: &Motion) -> Result<f64, Error> {
    system.evaluate_forces(end, scheme.h)?;
    let System {
        model,
        evaluation,
        assembler,
        ..
    } = &mut *system;
    assembler.fill_elastic(model, evaluation, scheme, &end.state, false);
    let mut largest = 0.0f64;
    for g in 0..system.model.row_groups().len() {
        let group = &system.model.row_groups()[g];
        let first = system.model.node(group.node).first_position;
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            if holds(system, &system.model.row_groups()[g], k) {
                let target = system.row_motion.get(row).map_or(0.0, |m| m.end.0);
                let gap = end.state.positions[first + k] - target;
                system.assembler.row_right_hand_side_mut()[row] = gap;
                largest = largest.max(gap.abs());
            } else {
                system.assembler.deactivate_row(row);
            }
        }
    }
    system.assembler.right_hand_side_mut().fill(0.0);
    system.assembler.allow_disagreement();
    Ok(largest)
}
