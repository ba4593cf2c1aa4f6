//! Paths of equilibria over a load factor ([`arc`]: along the tangent of the path; [`increments`]:
//! over contacts by steps of the load).

mod arc;
mod critical;
mod increments;

use super::equilibrium::{advance_memory, settle, show_forces};
use super::newton::{Tangent, factor_tangent};
use super::residual::fill_tangent;
use super::workspace::{Setting, Workspace};
use super::{Continuation, Equilibrium, Path, PathPoint, StaticMethod};
use crate::Control;
use crate::Error;
use arc::Arc;
use increments::Increments;
use pliant_solvers::Variable;

/// A step of this share of the first one is no step.
const SHORTEST: f64 = 1e-10;
/// The largest displacement of a step, in lengths of the model and radians.
const LONGEST: f64 = 0.05;

/// A way along a path from its first point on.
#[derive(Debug)]
pub(crate) enum Walk {
    Arc(Arc),
    Increments(Increments),
}

/// The outcome of a step of the path.
#[derive(Debug)]
pub(crate) enum Next {
    /// A point.
    Point {
        iterations: usize,
        /// The load factor is at its end.
        last: bool,
    },
    /// No step is short enough to go on.
    Stuck(Error),
}

impl Walk {
    /// Begins at the first point, where the tangent is factored.
    pub(crate) fn begin(
        at: &mut Setting<'_>,
        work: &mut Workspace,
        how: &Continuation,
    ) -> Result<Self, Error> {
        if at.system.contacts.is_some() && how.control == Control::Load {
            return Ok(Self::Increments(Increments::begin(how)));
        }
        Ok(Self::Arc(Arc::begin(at, work, how)?))
    }

    /// Goes to the next point. Critical points on the way there are added to the path.
    pub(crate) fn next(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        how: &Continuation,
        path: &mut Path,
    ) -> Result<Next, Error> {
        match self {
            Self::Arc(arc) => arc.next(at, work, how, path),
            Self::Increments(increments) => increments.next(at, work, how),
        }
    }
}

/// Refuses numbers that describe no path.
pub(crate) fn check(how: &Continuation) -> Result<(), Error> {
    let numbers = [
        (
            "the tolerance of a path",
            how.tolerance,
            how.tolerance > 0.0 && how.tolerance < 1.0,
        ),
        (
            "the step of a path",
            how.step,
            how.step.is_finite() && how.step != 0.0,
        ),
        (
            "the largest step of a path",
            how.largest_step,
            how.largest_step > 0.0,
        ),
        (
            "the number of points of a path",
            how.max_points as f64,
            how.max_points > 0,
        ),
        ("the first load factor", how.start, how.start.is_finite()),
        (
            "the last load factor",
            how.end,
            how.end.is_finite() && how.end != how.start,
        ),
    ];
    for (what, value, fits) in numbers {
        if !fits {
            let bound = "positive and finite, a tolerance below 1, and the load factors apart";
            return Err(Error::OutOfRange { what, value, bound });
        }
    }
    Ok(())
}

/// Finds the equilibrium at the first load factor.
pub(crate) fn first_point(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    how: &Continuation,
) -> Result<PathPoint, Error> {
    work.progress.most = Equilibrium::default().max_iterations;
    work.unknowns.factor = how.start;
    settle(at, work, StaticMethod::Newton)?;
    work.progress.most = usize::MAX;
    reach(at, work, work.progress.report.iterations)
}

/// Makes a point of the path of the present equilibrium, which materials with a past then remember.
pub(crate) fn reach(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    iterations: usize,
) -> Result<PathPoint, Error> {
    let (system, state) = (&*at.system, &at.motion.state);
    if system.evaluation.projected_elements(&system.model, state) > 0 {
        let what = "a path on which tangents are projected, for then it is not seen where it is stable: take exact ones";
        return Err(Error::NotStatic {
            what: what.to_owned(),
        });
    }
    advance_memory(at, work);
    show_forces(at, work);
    let kind = work.linear.kind;
    Ok(PathPoint {
        load: work.unknowns.factor,
        state: at.motion.state.clone(),
        multipliers: work.unknowns.lambda.clone(),
        negative_modes: kind.negative,
        free_modes: kind.zero,
        redundant_rows: kind.redundant,
        residual: work.progress.report.residual,
        violation: work.progress.report.violation,
        iterations,
    })
}

/// The error of a path that no step is short enough for, at the present point.
fn stuck(at: &mut Setting<'_>, work: &mut Workspace, how: &Continuation) -> Result<Error, Error> {
    let load = work.unknowns.factor;
    fill_tangent(at, work, Tangent::Whole)?;
    factor_tangent(at, work, Tangent::Whole)?;
    let system = Tangent::Whole.of(&at.system.assembler, &work.contacts);
    let free = match work.linear.solver.unpivoted(system) {
        Some(Variable::Dof(dof)) if work.linear.kind.zero > 0 => Some(at.system.model.describe_dof(dof)),
        _ => None,
    };
    Ok(Error::StuckPath {
        load,
        free,
        control: how.control,
    })
}

/// The factor of the length of the next step, after one that took so many iterations.
fn growth(how: &Continuation, iterations: usize) -> f64 {
    let faster = how.wanted_iterations.max(1) as f64 / iterations.max(1) as f64;
    faster.sqrt().clamp(0.5, 2.0)
}
