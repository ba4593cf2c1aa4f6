//! Newton's method for rest, damped by the natural monotonicity test.

use super::contacts::RestContacts;
use super::equilibrium::{FAR, NO_SOLUTION, displace, go_back};
use super::measure::measure;
use super::residual::{SideRule, fill_tangent, find_residual};
use super::saddle;
use super::solver::By;
use super::workspace::{Setting, Workspace};
use crate::Error;
use pliant_kkt::Assembler;
use pliant_model::{LeanState, ModelError};
use pliant_solvers::KktSystem;
use pliant_stepper::system::rigid_nodes::Configuration;

/// A correction of so small a share of the model is rounding.
const SMALL: f64 = 1e-11;
/// Whole steps of that kind before the residual is taken for what rounding leaves.
const LAST_STEPS: usize = 3;
/// The largest error of a step, as a share of it, with which it still follows Newton's path.
const ON_PATH: f64 = 0.25;
/// The least share of a correction that is tried.
const LEAST: f64 = 1e-5;

/// The rows of the tangent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tangent {
    /// Rows of the model, then those of the contacts that are active.
    Whole,
    /// Rows of the model alone: the flow solves contacts with their law.
    Model,
}

impl Tangent {
    /// The tangent as last filled.
    pub(crate) fn of<'a>(self, assembler: &'a Assembler, contacts: &'a RestContacts) -> &'a KktSystem {
        let whole = contacts.tangent().filter(|_| self == Self::Whole);
        whole.unwrap_or_else(|| assembler.system())
    }
}

/// Factors the tangent as filled, and counts it.
pub(crate) fn factor_tangent(at: &Setting<'_>, work: &mut Workspace, tangent: Tangent) -> Result<(), Error> {
    work.progress.report.factorisations += 1;
    let system = tangent.of(&at.system.assembler, &work.contacts);
    let by = match tangent {
        Tangent::Whole if at.system.contacts.is_none() => By::Either,
        // The flow must know whether its systems are definite.
        _ => By::Factor,
    };
    let configuration = Configuration {
        model: &at.system.model,
        state: &at.motion.state,
    };
    let prepared = work.linear.solver.prepare(system, configuration, by);
    prepared.map_err(|e| Error::from_solver(e, &at.system.model, at.motion.time))?;
    work.progress.report.solver = work.linear.solver.name();
    take_kind(work);
    Ok(())
}

/// Takes over what the factor of the tangent has counted, if it has one: iterations count nothing,
/// and take it for definite until they fail.
fn take_kind(work: &mut Workspace) {
    let known = work.linear.solver.kind();
    let (kind, report) = (known.unwrap_or_default(), &mut work.progress.report);
    work.linear.kind = kind;
    report.negative_modes = known.map(|kind| kind.negative);
    report.free_modes = kind.zero;
    report.redundant_rows = kind.redundant;
}

/// The end of Newton's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No convergence: anywhere.
    Nothing,
    /// All that the rows allow resists.
    Minimum,
    /// The start is a saddle.
    Start,
    /// A saddle.
    Saddle {
        /// The end of a path of equilibria on which what is missing at the start comes on
        /// bit by bit, and only breaking its symmetry would lead off it.
        by_symmetry: bool,
    },
}

/// Newton's method from the present positions, whose residual must be known. Whether a saddle that
/// it ends at is by symmetry is found out if it is asked for, at a price of a few factors.
///
/// A correction `d` is taken in such a share `s` that the next one with the same factor, `e`, has
/// `|e| <= (1 - s/4) |d|`, and shares are predicted from how far `e` is from `(1 - s) d`
/// (Deuflhard, Newton Methods for Nonlinear Problems, 2004, algorithm NLEQ-ERR). The test does not
/// depend on units of forces. Rows of bounded force make kinks: where one changes sides, the step
/// is taken as it is.
pub(crate) fn newton(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    look_for_symmetry: bool,
) -> Result<Found, Error> {
    let start = look_for_symmetry.then(|| LeanState::of(&at.system.model, &at.motion.state));
    let (mut steps, mut last_steps) = (0, 0);
    let mut on_path = look_for_symmetry;
    let mut before: Option<Before> = None;
    loop {
        // Cones are for the flow.
        if work.contacts.has_friction() {
            return Ok(Found::Nothing);
        }
        fill_tangent(at, work, Tangent::Whole)?;
        let residual = measure(at, work);
        if residual.is_nan() {
            return Ok(Found::Nothing);
        }
        factor_tangent(at, work, Tangent::Whole)?;
        if residual <= work.progress.tolerance {
            let system = Tangent::Whole.of(&at.system.assembler, &work.contacts);
            let looked = work.linear.solver.look_for_negative_modes(system);
            looked.map_err(Error::Solve)?;
            take_kind(work);
            return Ok(match (work.linear.kind.negative, steps) {
                (0, _) => Found::Minimum,
                (_, 0) => Found::Start,
                _ => Found::Saddle {
                    by_symmetry: match &start {
                        Some(start) if on_path => saddle::is_way_beside(at, work, start)?,
                        _ => false,
                    },
                },
            });
        }
        let progress = &mut work.progress;
        if progress.report.iterations >= progress.most || last_steps >= LAST_STEPS {
            return Ok(Found::Nothing);
        }
        progress.report.iterations += 1;
        steps += 1;
        let missed = solve_correction(at, work)?;
        take_kind(work);
        let kind = work.linear.kind;
        let length = work.metric.norm(&work.linear.step.x);
        let may_miss = kind.zero + kind.redundant > 0 || work.linear.solver.kind().is_none();
        if may_miss && missed > NO_SOLUTION || !length.is_finite() {
            return Ok(Found::Nothing);
        }
        if length <= SMALL {
            last_steps += 1;
            take_share(at, work, Tangent::Whole, 1.0)?;
            before = None;
            continue;
        }
        on_path = on_path && (kind.negative == 0 || saddle::is_step_beside(at, work)?);
        let mut share = predict_share(work, before.as_ref(), length);
        if at.system.contacts.is_some() {
            let step = &work.linear.step.x;
            let way: Vec<f64> = step.iter().map(|x| share * x).collect();
            let options = &at.options.contacts;
            work.contacts.find(at.system, &at.motion.state, &way, options)?;
            share = share.min(work.contacts.first_touch(step));
            if share < LEAST {
                return Ok(Found::Nothing);
            }
        }
        match damp(at, work, length, share)? {
            Damped::Taken(next) => {
                on_path = on_path && next.as_ref().is_some_and(|b| b.error <= ON_PATH);
                before = next;
            }
            Damped::Failed => return Ok(Found::Nothing),
        }
    }
}

/// Length, share and test correction of the step before.
#[derive(Debug)]
struct Before {
    length: f64,
    share: f64,
    /// How far the test correction is from what is left of this one, over the length of the step:
    /// zero along Newton's path `F(x(s)) = (1 - s) F(x(0))`.
    error: f64,
    test: Vec<f64>,
}

/// Outcome of a correction.
#[derive(Debug)]
enum Damped {
    /// A share of it was taken; without a test where rows changed sides.
    Taken(Option<Before>),
    /// No share of it is of use.
    Failed,
}

/// The correction by the tangent as factored. Returns what the solution misses.
pub(crate) fn solve_correction(at: &Setting<'_>, work: &mut Workspace) -> Result<f64, Error> {
    let system = Tangent::Whole.of(&at.system.assembler, &work.contacts);
    let (linear, residual) = (&mut work.linear, &work.residual);
    linear
        .solver
        .solve(system, &residual.force, &residual.deficit, &mut linear.step)
        .map_err(Error::Solve)
}

/// The share of a correction of a length that goes not too far, and is to pass the test.
fn predict_share(work: &Workspace, before: Option<&Before>, length: f64) -> f64 {
    let (metric, step) = (&work.metric, &work.linear.step.x);
    let share = (FAR / metric.largest(step)).min(1.0);
    let Some(Before {
        length: old_length,
        share: old_share,
        test,
        ..
    }) = before
    else {
        return share;
    };
    let differ: Vec<f64> = test.iter().zip(step).map(|(a, b)| a - b).collect();
    let predicted = old_share * old_length * metric.norm(test) / (metric.norm(&differ) * length);
    // Not a number where both are the same.
    share.min(if predicted.is_nan() {
        1.0
    } else {
        predicted.max(LEAST)
    })
}

/// Takes the correction in a share that passes the test, at most the given one.
fn damp(at: &mut Setting<'_>, work: &mut Workspace, length: f64, mut share: f64) -> Result<Damped, Error> {
    let start = work.iterate(at);
    loop {
        let reached = take_share(at, work, Tangent::Whole, share)?;
        if reached && !work.has_sides_of(&start) {
            return Ok(Damped::Taken(None));
        }
        let mut next = 0.5 * share;
        if reached {
            let system = Tangent::Whole.of(&at.system.assembler, &work.contacts);
            let (linear, residual) = (&mut work.linear, &work.residual);
            linear
                .solver
                .solve(system, &residual.force, &residual.deficit, &mut linear.other)
                .map_err(Error::Solve)?;
            let test = work.metric.norm(&linear.other.x);
            let both = linear.other.x.iter().zip(&linear.step.x);
            let differ: Vec<f64> = both.map(|(e, d)| e - (1.0 - share) * d).collect();
            let differ = work.metric.norm(&differ);
            if test <= (1.0 - 0.25 * share) * length {
                let test = linear.other.x.clone();
                return Ok(Damped::Taken(Some(Before {
                    length,
                    share,
                    error: differ / (share * length),
                    test,
                })));
            }
            let found = 0.5 * length * share * share / differ;
            if found < next {
                next = found.max(0.1 * share);
            }
        }
        go_back(at, work, &start)?;
        share = next;
        if share < LEAST {
            return Ok(Damped::Failed);
        }
    }
}

/// Goes a share of the correction, and finds the residual there. False where a mapping is not
/// defined.
pub(crate) fn take_share(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    tangent: Tangent,
    share: f64,
) -> Result<bool, Error> {
    let linear = &mut work.linear;
    let lambda = &mut work.unknowns.lambda;
    for (lambda, change) in lambda.iter_mut().zip(&linear.step.mu) {
        *lambda += share * change;
    }
    if tangent == Tangent::Model {
        work.contacts.slide(&linear.step.x);
    } else if let Some(change) = linear.step.mu.get(lambda.len()..) {
        work.contacts.add(change, share);
    }
    let moved = displace(
        at.system,
        &mut at.motion.state,
        &mut linear.displacement,
        &linear.step.x,
        share,
    );
    match moved.and_then(|()| find_residual(at, work, SideRule::Take)) {
        Ok(()) => Ok(true),
        Err(Error::Model(ModelError::Degenerate { .. })) => Ok(false),
        Err(e) => Err(e),
    }
}
