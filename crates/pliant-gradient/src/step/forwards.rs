//! The linear equations of a step, forwards.

use super::start::StartPart;
use crate::GradientError;
use crate::implicit::Implicit;
use crate::kinematics::Retraction;
use crate::solve::SolveReport;

/// How displacements follow from velocities at the end.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) retraction: &'a Retraction,
    /// The displacement for a velocity (s).
    pub(super) reach: f64,
}

/// Solves for the changes of the velocities at the end and of the multipliers that take back the changes
/// of the equations, which are the right-hand sides; with room for n numbers.
pub(super) fn solve_forwards(
    implicit: &mut Implicit,
    start: &mut StartPart,
    way: Way<'_>,
    moved: &mut [f64],
) -> Result<SolveReport, GradientError> {
    let Implicit {
        equations,
        linearised,
        saddle,
        ..
    } = implicit;
    let [r, s] = &mut saddle.rhs;
    r.iter_mut().chain(&mut *s).for_each(|r| *r = -*r);
    saddle.solve(false, |u, lambda, dr, ds| {
        moved.copy_from_slice(u);
        way.retraction.of_displacement(moved);
        moved.iter_mut().for_each(|y| *y *= way.reach);
        linearised.apply(equations, [moved, u], lambda, [&mut *dr, &mut *ds]);
        if let Some(start) = start.active_mut() {
            start.add_by_multipliers(linearised.compliance(equations), lambda, [dr, ds]);
        }
    })
}
