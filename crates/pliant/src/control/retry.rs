//! Steps that are taken again: with contacts that were missed, and in halves where contacts or
//! Newton's method do not converge.

#[cfg(test)]
mod tests;

use super::apart::Ways;
use super::parts::AtOnce;
use super::{Conditions, apart, certify};
use crate::{Error, Excess, Integrator, Options, Simulation, StepReport, Tolerances, WorkLimits, WorkPart};
use pliant_contact::ContactError;
use pliant_stepper::contact::step;
use pliant_stepper::method::{find_driven, find_locked, find_turning};
use pliant_stepper::sleep::Cause;
use std::time::Instant;

/// Halvings behind which a step without a solution may have none at any length: it is looked
/// whether its rows lock before it is halved further, for what they lock by is of the second order
/// of it.
const UNTIL_LOCKED: usize = 4;

/// Radii of curvature of the path that hard rows leave: a motion that would cover more of them in a
/// step whose halves have no solution either is locked.
const MOST_RADII: f64 = 100.0;

/// Positions that are closer (m, rad) than what a solve leaves of them are together.
const ROUNDING: f64 = 1e-9;

/// A step that makes energy is halved so much more often before it is an error.
const MORE_HALVINGS: usize = 4;

/// Attempts at a step and its parts behind which none is halved further: halvings that help take a
/// few for each length, and without a bound those that do not would take `2^unsolved`.
const MOST_ATTEMPTS: usize = 1000;

/// A step under the options, in halves where it does not converge and they allow it.
pub(crate) fn step(simulation: &mut Simulation, h: f64) -> Result<StepReport, Error> {
    let clock = Instant::now();
    let report = step_that_is_judged(simulation, h)?;
    Ok(with_rejected(report, clock))
}

/// The report of a step that began with the clock, with the time of attempts that do not stand.
fn with_rejected(mut report: StepReport, clock: Instant) -> StepReport {
    let timings = &mut report.timings;
    timings.rejected += clock.elapsed().saturating_sub(timings.total());
    report
}

fn step_that_is_judged(simulation: &mut Simulation, h: f64) -> Result<StepReport, Error> {
    if simulation.motion.fresh {
        simulation.check_stability(h)?;
    }
    let halvings = Halvings {
        judged: Judged::ToGoOn,
        ..Halvings::of(&simulation.options)
    };
    let mut left = MOST_ATTEMPTS;
    simulation.adaptive.parts.clear();
    let mut result = step_or_halves(simulation, h, halvings, &mut left);
    if matches!(result, Err(Error::NotCertified { .. })) {
        let more = match halvings.most {
            0 => 0,
            most => most + MORE_HALVINGS,
        };
        let halvings = Halvings {
            most: more,
            unsolved: halvings.unsolved.max(more),
            judged: Judged::Finally,
            ..halvings
        };
        left = MOST_ATTEMPTS;
        simulation.adaptive.parts.clear();
        result = step_or_halves(simulation, h, halvings, &mut left);
    }
    if let (Ok(_), Some(contacts)) = (&result, &mut simulation.system.contacts) {
        contacts.observed.failed = None;
    }
    let finds_positions = simulation.options.integrator != Integrator::Theta;
    let is_unsolved = matches!(
        result,
        Err(Error::NotConverged { .. }
            | Error::ContactsNotConverged { .. }
            | Error::CorrectionNotConverged { .. }
            | Error::TooMuchWork { .. })
    );
    if is_unsolved {
        simulation.keep_failed_system();
    }
    if finds_positions && (is_unsolved || result.as_ref().is_err_and(contradicts_by_rounding)) {
        check_locks(simulation, h, MOST_RADII)?;
    }
    if is_unsolved {
        check_driven(simulation, h)?;
    }
    if let (true, Err(Error::NotConverged { turning, .. })) = (finds_positions, &mut result) {
        let Simulation { system, motion, .. } = simulation;
        // Rows that are not defined where the step would lead have no direction there.
        let found = find_turning(system, motion, h).unwrap_or_default();
        *turning = found.map(|(row, angle)| (system.model.describe_row(row), angle));
    }
    if let Err(error) = &mut result {
        name_remedy(simulation, h, error)?;
    }
    result
}

/// Adds to the error of a step of length `h` (s) without a solution a change with which it has one,
/// if one of those that are tried does.
///
/// # Errors
/// Errors of going back to the present motion.
fn name_remedy(simulation: &mut Simulation, h: f64, error: &mut Error) -> Result<(), Error> {
    let of_contacts = matches!(error, Error::ContactsNotConverged { .. });
    let (Error::NotConverged { remedy, .. }
    | Error::ContactsNotConverged { remedy, .. }
    | Error::CorrectionNotConverged { remedy, .. }) = error
    else {
        return Ok(());
    };
    *remedy = simulation
        .keeping_failed_systems(|simulation| certify::solving_remedy(simulation, h, of_contacts))?;
    Ok(())
}

/// Whether rows contradict each other by no more than the rounding of positions, as those do that
/// lock.
fn contradicts_by_rounding(error: &Error) -> bool {
    matches!(error, Error::Incompatible { apart, unit: "m" | "rad", .. } if *apart < ROUNDING)
}

/// Whether hard rows lock what forces begin in a step of length `h` (s) that has no solution, or
/// leave it no path but one of which it would cover more than so many radii of curvature.
///
/// # Errors
/// [`Error::Locked`] with the rows.
fn check_locks(simulation: &mut Simulation, h: f64, radii: f64) -> Result<(), Error> {
    let Simulation { system, motion, .. } = simulation;
    match find_locked(system, motion, h, radii) {
        Ok(Some(locked)) => Err(locked),
        _ => Ok(()),
    }
}

/// Whether hard rows drive the sides of a contact into each other in a step of length `h` (s) that
/// has no solution.
///
/// # Errors
/// [`Error::DrivenContact`].
fn check_driven(simulation: &mut Simulation, h: f64) -> Result<(), Error> {
    let Simulation { system, motion, .. } = simulation;
    match find_driven(system, motion, h) {
        Ok(Some(driven)) => Err(driven),
        _ => Ok(()),
    }
}

/// A step in halves as [`step`] takes it, which stands whatever energy it makes, as long as
/// attempts are left.
pub(crate) fn step_as_part(
    simulation: &mut Simulation,
    h: f64,
    left: &mut usize,
) -> Result<StepReport, Error> {
    let clock = Instant::now();
    let halvings = Halvings::of(&simulation.options);
    let report = step_or_halves(simulation, h, halvings, left)?;
    Ok(with_rejected(report, clock))
}

/// Halvings of a step.
#[derive(Clone, Copy, Debug)]
struct Halvings {
    /// How often it was halved.
    taken: usize,
    /// How often it may be; with SDIRK2 until one stage takes what two do not solve.
    most: usize,
    /// How often a step without a solution may be.
    unsolved: usize,
    /// Energy that the step that it is a half of lost (J).
    loss: f64,
    /// Whether islands without impacts are taken by themselves.
    parts: bool,
    judged: Judged,
}

impl Halvings {
    /// Halvings of a step under the options, which is not judged.
    fn of(options: &Options) -> Self {
        let newton = &options.tuning.newton;
        let (most, unsolved) = match options.integrator {
            Integrator::Theta => (options.contacts.halvings, options.contacts.halvings),
            Integrator::Sdirk2 => {
                let most = newton.stage_halvings;
                (most, most.max(newton.halvings))
            }
            _ => (newton.halvings, newton.halvings),
        };
        Self {
            taken: 0,
            most,
            unsolved,
            loss: f64::INFINITY,
            parts: true,
            judged: Judged::Never,
        }
    }
}

/// Whether the energy of a step is judged, with its parts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judged {
    /// Not: it stands, or is a part of one that is judged.
    Never,
    /// Before it is halved further.
    ToGoOn,
    /// For good, where an error is to name a remedy.
    Finally,
}

/// A step; where its contacts or Newton's method do not converge, or its energy is off, two halves
/// instead, down to `2^-unsolved` or `2^-most` of it, as long as attempts at the whole are `left`,
/// which are counted. If one of them fails, or both together make energy, nothing has
/// happened.
fn step_or_halves(
    simulation: &mut Simulation,
    h: f64,
    halvings: Halvings,
    left: &mut usize,
) -> Result<StepReport, Error> {
    let end = simulation.motion.time + h;
    *left = left.saturating_sub(1);
    let or_halves = *left > 0 && halvings.taken < halvings.most;
    let if_unsolved = *left > 0 && halvings.taken < halvings.unsolved;
    let conditions = Conditions {
        or_halves,
        or_parts: halvings.parts,
        ..Conditions::default()
    };
    let steps = simulation.counters().steps;
    let mark = simulation.adaptive.parts.mark();
    let (mut solved, mut loss) = (false, f64::INFINITY);
    let mut cause = Cause::Unknown;
    match simulation.step_at_once(h, conditions) {
        Ok(report) if or_halves && is_energy_off(simulation, &report, halvings) => {
            let made = report.certificate.energy.numerical;
            loss = if made < 0.0 { -made } else { f64::INFINITY };
            cause = apart::cause_of_energy(simulation);
            simulation.go_back()?;
            simulation.system.set_steps(steps);
            solved = true;
        }
        Err(error) if takes_fallback(&simulation.options, &error) => {
            return by_fallback(simulation, h, halvings, left);
        }
        Err(Error::TooMuchWork { .. }) if or_halves => {}
        Err(_) if !simulation.trace.stages.impacts.is_empty() => {
            return with_impacts(simulation, h, halvings, left);
        }
        Err(error) if if_unsolved && may_shorter_solve(&simulation.options, &error) => {
            cause = apart::cause_of(simulation, &error);
            if halvings.taken == UNTIL_LOCKED && simulation.options.integrator != Integrator::Theta {
                check_locks(simulation, h, f64::INFINITY)?;
            }
        }
        result => {
            let time = simulation.motion.time;
            simulation.adaptive.parts.add(AtOnce { h, time, conditions });
            return stands_alone(simulation, result, halvings, steps);
        }
    }
    let before = simulation.checkpoint();
    let in_parts = Halvings {
        taken: halvings.taken + 1,
        loss,
        judged: Judged::Never,
        ..halvings
    };
    let halves = |simulation: &mut Simulation, left: &mut usize| {
        let first = step_or_halves(simulation, 0.5 * h, in_parts, left)?;
        let second = step_or_halves(simulation, 0.5 * h, in_parts, left)?;
        Ok(both(&first, &second))
    };
    let judged = Judged::Never;
    let ways = Ways {
        in_parts: &|simulation, left| step_or_halves(simulation, h, Halvings { judged, ..halvings }, left),
        whole: &|simulation, left| whole_step(simulation, h, halvings, left),
    };
    let result = match apart::step(simulation, h, cause, &before, &ways, left)? {
        Some(report) => {
            simulation.adaptive.parts.add_other(mark);
            Ok(report)
        }
        None => {
            simulation.adaptive.parts.go_back(mark);
            halves(simulation, left)
        }
    };
    let go_back = |simulation: &mut Simulation| {
        simulation.adaptive.parts.go_back(mark);
        simulation.restore(&before)?;
        simulation.system.set_steps(steps);
        Ok(())
    };
    match result {
        Ok(mut report) => {
            if let Some(excess) = judge(simulation, &report, halvings) {
                let remedies = halvings.judged == Judged::Finally;
                return Err(certify::refuse(simulation, &report, excess, remedies, go_back));
            }
            // Times do not depend on how often a step was halved.
            simulation.motion.time = end;
            simulation.adaptive.parts.end_at(end);
            report.time = end;
            Ok(report)
        }
        Err(error) => {
            go_back(simulation)?;
            // The whole was good but for its energy.
            if solved {
                let whole = simulation.step_at_once(h, Conditions::default());
                let (time, conditions) = (simulation.motion.time, Conditions::default());
                simulation.adaptive.parts.add(AtOnce { h, time, conditions });
                return stands_alone(simulation, whole, halvings, steps);
            }
            Err(error)
        }
    }
}

/// A step in which some islands have impacts and others have none: each by itself, so that the
/// others are of order two all the same; or all in one stage, where they turn out to touch.
fn with_impacts(
    simulation: &mut Simulation,
    h: f64,
    halvings: Halvings,
    left: &mut usize,
) -> Result<StepReport, Error> {
    let before = simulation.checkpoint();
    let cause = Cause::Impacts(simulation.trace.stages.impacts.clone());
    let together = Halvings {
        parts: false,
        ..halvings
    };
    let unjudged = Halvings {
        judged: Judged::Never,
        ..together
    };
    let ways = Ways {
        in_parts: &|simulation, left| step_or_halves(simulation, h, unjudged, left),
        whole: &|simulation, left| whole_step(simulation, h, unjudged, left),
    };
    let mark = simulation.adaptive.parts.mark();
    let Some(report) = apart::step(simulation, h, cause, &before, &ways, left)? else {
        simulation.adaptive.parts.go_back(mark);
        return step_or_halves(simulation, h, together, left);
    };
    simulation.adaptive.parts.add_other(mark);
    match judge(simulation, &report, halvings) {
        None => Ok(report),
        Some(_) => {
            simulation.restore(&before)?;
            simulation.adaptive.parts.go_back(mark);
            step_or_halves(simulation, h, together, left)
        }
    }
}

/// A step of a part of the model, as a whole; the cause, with the motion as before, if it would be
/// taken in halves.
fn whole_step(
    simulation: &mut Simulation,
    h: f64,
    halvings: Halvings,
    left: &mut usize,
) -> Result<Result<StepReport, Cause>, Error> {
    *left = left.saturating_sub(1);
    let conditions = Conditions {
        or_halves: halvings.taken < halvings.unsolved,
        ..Conditions::default()
    };
    let steps = simulation.counters().steps;
    match simulation.step_at_once(h, conditions) {
        Ok(report) if is_energy_off(simulation, &report, halvings) => {
            let cause = apart::cause_of_energy(simulation);
            simulation.go_back()?;
            simulation.system.set_steps(steps);
            Ok(Err(cause))
        }
        Ok(report) => Ok(Ok(report)),
        Err(error) => Ok(Err(apart::cause_of(simulation, &error))),
    }
}

/// Whether a step that ends in this error is taken by another law of friction.
fn takes_fallback(options: &Options, error: &Error) -> bool {
    let contacts = &options.contacts;
    let is_another = contacts
        .friction_fallback
        .is_some_and(|law| law != contacts.friction_coupling);
    let is_of_contacts = match error {
        Error::ContactsNotConverged { .. } => true,
        Error::TooMuchWork { part, .. } => *part == WorkPart::Contacts,
        _ => false,
    };
    is_another && is_of_contacts
}

/// A step by the law of friction in place of the one that it has no solution with, which may take
/// the operations of the default where those of the options are less.
fn by_fallback(
    simulation: &mut Simulation,
    h: f64,
    halvings: Halvings,
    left: &mut usize,
) -> Result<StepReport, Error> {
    let Options { contacts, tuning, .. } = &mut simulation.options;
    let (coupling, operations) = (contacts.friction_coupling, tuning.work.contact_operations);
    contacts.friction_coupling = contacts.friction_fallback.unwrap_or(coupling);
    tuning.work.contact_operations = operations.max(WorkLimits::default().contact_operations);
    let mark = simulation.adaptive.parts.mark();
    let result = step_or_halves(simulation, h, halvings, left);
    simulation.adaptive.parts.add_other(mark);
    let Options { contacts, tuning, .. } = &mut simulation.options;
    contacts.friction_coupling = coupling;
    tuning.work.contact_operations = operations;
    let mut report = result?;
    report.contacts.solve.fallbacks += 1;
    Ok(report)
}

/// Whether a shorter step may have a solution where this error says that a step has none.
fn may_shorter_solve(options: &Options, error: &Error) -> bool {
    let iterates = options.integrator != Integrator::Theta;
    match error {
        Error::ContactsNotConverged { .. }
        | Error::ContactsMissed { .. }
        | Error::SurfacesCross { .. }
        | Error::CorrectionNotConverged { .. }
        | Error::Gyroscopic { .. }
        // Friction of joints that follows what presses, which does so less far in a shorter step.
        | Error::Unsettled { .. } => true,
        // Geometric stiffness grows with the square of the step.
        Error::NotPositiveDefinite { .. } => iterates || options.tuning.clamp_geometry,
        // One linear system is solved or not, however far the step goes.
        Error::NotConverged { .. } => iterates,
        _ => false,
    }
}

/// The part of the certificate for which a step may not stand, if it is judged.
fn judge(simulation: &Simulation, report: &StepReport, halvings: Halvings) -> Option<Excess> {
    match halvings.judged {
        Judged::Never => None,
        _ => certify::excess(&simulation.options, report),
    }
}

/// The result of a step that is not halved: an error if it is judged and makes energy.
fn stands_alone(
    simulation: &mut Simulation,
    result: Result<StepReport, Error>,
    halvings: Halvings,
    steps: usize,
) -> Result<StepReport, Error> {
    let report = result?;
    let Some(excess) = judge(simulation, &report, halvings) else {
        return Ok(report);
    };
    let remedies = halvings.judged == Judged::Finally;
    Err(certify::refuse(
        simulation,
        &report,
        excess,
        remedies,
        |simulation| {
            simulation.go_back()?;
            simulation.system.set_steps(steps);
            Ok(())
        },
    ))
}

/// Whether a step, or a part of it after so many halvings, gains or loses more energy than it may.
/// Halves that gain add up, so that each has half of what is allowed. Of two stages what the method
/// makes is compared with what the step itself turned over. A half that loses no less than the
/// whole is not halved further for it.
fn is_energy_off(simulation: &Simulation, report: &StepReport, halvings: Halvings) -> bool {
    let options = &simulation.options;
    let energy = &report.certificate.energy;
    let stages = report.solve.stages == 2;
    let is_off = options.tolerances().is_some_and(|whole| {
        let share = 0.5f64.powi(i32::try_from(halvings.taken).unwrap_or(i32::MAX));
        let part = Tolerances {
            gain: whole.gain * share,
            passive_gain: whole.passive_gain * share,
            since_start: f64::INFINITY,
        };
        energy.excess(&part).is_some() || (stages && energy.gain() > part.gain)
    });
    let loses = energy.loss() > options.tuning.newton.energy_loss;
    is_off || (stages && loses && -energy.numerical < halvings.loss)
}

/// Whether a step that stands by itself makes or loses energy for which it would be halved, or refused.
pub(super) fn makes_energy(simulation: &Simulation, report: &StepReport) -> bool {
    let halvings = Halvings::of(&simulation.options);
    let would_be_halved = halvings.most > 0 && is_energy_off(simulation, report, halvings);
    would_be_halved || certify::excess(&simulation.options, report).is_some()
}

/// Tries a step from the motion at its start, and again as long as it went through contacts that
/// the search had missed.
pub(crate) fn with_missed_contacts(simulation: &mut Simulation, h: f64) -> Result<StepReport, Error> {
    step::begin(&mut simulation.system);
    loop {
        let result = simulation
            .try_at_once(h)
            .map_err(|e| of_step(e, simulation.start.time));
        let missed = matches!(result, Err(Error::ContactsMissed { .. }));
        if !(missed && step::take_missed(&mut simulation.system)) {
            return result;
        }
        put_back(simulation)?;
    }
}

/// An error of the search for contacts as one of the step that searched.
fn of_step(error: Error, time: f64) -> Error {
    match error {
        Error::Collision(ContactError::TooManyTests {
            between,
            count,
            limit,
        }) => Error::TooMuchWork {
            part: WorkPart::Detection,
            what: format!("`{}` and `{}`", between[0], between[1]),
            time,
            count,
            limit,
        },
        other => other,
    }
}

/// Drops the end of a step.
pub(crate) fn put_back(simulation: &mut Simulation) -> Result<(), Error> {
    let (start, end) = (&mut simulation.start, &mut simulation.motion);
    end.clone_from(start);
    simulation.system.propagate(&mut end.state)?;
    simulation.system.set_row_motion(end.time, end.time);
    Ok(())
}

/// Report of the two halves of a step that did not converge.
fn both(first: &StepReport, second: &StepReport) -> StepReport {
    let mut out = together(first, second);
    out.solve.newton.step_halvings += 1;
    out.contacts.solve.halvings += usize::from(out.solve.newton.iterations == 0);
    out
}

/// Report of two steps together.
pub(crate) fn together(first: &StepReport, second: &StepReport) -> StepReport {
    let mut out = *second;
    out.take_in(first);
    out
}
