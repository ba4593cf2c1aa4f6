//! Islands of a step that are taken in parts while the others take it as a whole.

use crate::{Checkpoint, Error, IntegratorMemory, Simulation, StepReport};
use pliant_model::Energies;
use pliant_stepper::contact::Observation;
use pliant_stepper::motion::Motion;
use pliant_stepper::observe::LedgerMemory;
use pliant_stepper::sleep::{self, Cause, Part};

/// The cause of an error with which a step ended.
pub(crate) fn cause_of(simulation: &Simulation, error: &Error) -> Cause {
    let impacts = &simulation.trace.stages.impacts;
    let found = match error {
        _ if !impacts.is_empty() => Some(Cause::Impacts(impacts.clone())),
        Error::ContactsNotConverged { .. } => sleep::failed_contact(&simulation.system),
        Error::NotConverged { .. } => simulation.trace.missed.map(Cause::Equation),
        _ => None,
    };
    found.unwrap_or(Cause::Unknown)
}

/// The cause of energy that the last step made or lost, whose end is the present motion.
pub(crate) fn cause_of_energy(simulation: &Simulation) -> Cause {
    let Simulation {
        system,
        start,
        motion,
        ..
    } = simulation;
    Cause::Energy(sleep::kinetic_change(system, start, motion))
}

/// Islands that are taken by themselves in a step at most; what is left then is taken together.
const MOST_PARTS: usize = 4;

/// A way to take a step from the present motion, with so many attempts left.
type Way<'a, T> = &'a dyn Fn(&mut Simulation, &mut usize) -> Result<T, Error>;

/// Ways to take a step.
pub(crate) struct Ways<'a> {
    /// As a whole or in parts.
    pub(crate) in_parts: Way<'a, StepReport>,
    /// As a whole; the cause, with the motion as before, if it does not stand.
    pub(crate) whole: Way<'a, Result<StepReport, Cause>>,
}

/// A part of the model that has taken the step.
struct Taken {
    part: Part,
    report: StepReport,
    /// The memory of its integrator.
    memory: IntegratorMemory,
    /// Its contacts.
    seen: Observation,
}

/// A step of length `h` (s) from the present motion, which is `before`, in which islands with a
/// cause of trouble are taken in parts, one after the other, and all others as a whole, each while
/// everything else is held. None, with the motion as it was, if there are no others, if a part has
/// no solution, or if islands touched.
///
/// # Errors
/// Errors of going back.
pub(crate) fn step(
    simulation: &mut Simulation,
    h: f64,
    cause: Cause,
    before: &Checkpoint,
    ways: &Ways<'_>,
    left: &mut usize,
) -> Result<Option<StepReport>, Error> {
    let Simulation { system, motion, .. } = &mut *simulation;
    system.set_row_motion(motion.time, motion.time + h);
    let may_part = sleep::may_part(system, motion);
    system.set_row_motion(motion.time, motion.time);
    if !may_part {
        return Ok(None);
    }
    let steps = system.counters().steps;
    if let Ok(Some(part)) = sleep::find_part(system, motion, h, cause) {
        if let Ok(Some(report)) = one_after_the_other(simulation, h, part, ways, left) {
            return Ok(Some(report));
        }
        sleep::end_pause(&mut simulation.system, &mut simulation.motion);
    }
    simulation.restore(before)?;
    simulation.system.set_steps(steps);
    Ok(None)
}

/// All parts of the step, beginning with the one that is given; none if they touched.
fn one_after_the_other(
    simulation: &mut Simulation,
    h: f64,
    mut part: Part,
    ways: &Ways<'_>,
    left: &mut usize,
) -> Result<Option<StepReport>, Error> {
    let (time, expected) = (simulation.motion.time, simulation.motion.integrator.clone());
    let mut taken: Vec<Taken> = Vec::new();
    let mut rest = Part::all(&simulation.system);
    loop {
        let held = hold_others(simulation, &part)?;
        let report = (ways.in_parts)(simulation, left)?;
        rest.remove(&part);
        match end(simulation, &part, report, &held)? {
            Some(found) => taken.push(found),
            None => return Ok(None),
        }
        if rest.is_empty() {
            let last = taken.pop();
            return Ok(last.map(|last| together(simulation, &taken, last)));
        }
        simulation.motion.time = time;
        simulation.motion.integrator.clone_from(&expected);
        let held = hold_others(simulation, &rest)?;
        let cause = match (ways.whole)(simulation, left)? {
            Ok(report) => {
                let last = end(simulation, &rest, report, &held)?;
                return Ok(last.map(|last| together(simulation, &taken, last)));
            }
            Err(cause) => cause,
        };
        let Simulation { system, motion, .. } = &mut *simulation;
        sleep::end_pause(system, motion);
        rest.copy_others(system, &held, motion);
        system.propagate(&mut motion.state)?;
        part = match sleep::find_part(system, motion, h, cause)? {
            Some(part) if taken.len() < MOST_PARTS && part.is_within(&rest) => part,
            _ => rest.clone(),
        };
    }
}

/// Holds everything but a part of the model, and returns the motion with the velocities of what is
/// held.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined.
fn hold_others(simulation: &mut Simulation, part: &Part) -> Result<Motion, Error> {
    let held = simulation.motion.clone();
    sleep::pause(&mut simulation.system, &mut simulation.motion, part)?;
    Ok(held)
}

/// The part of the model that has taken the step while everything else was held, which has its
/// velocities again; none if they touched.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined.
fn end(
    simulation: &mut Simulation,
    part: &Part,
    report: StepReport,
    held: &Motion,
) -> Result<Option<Taken>, Error> {
    let Simulation { system, motion, .. } = simulation;
    if sleep::is_disturbed(motion) {
        return Ok(None);
    }
    let mut seen = Observation::default();
    if let Some(contacts) = &system.contacts {
        seen.clone_from(contacts.observed.observation());
    }
    sleep::end_pause(system, motion);
    part.copy_others(system, held, motion);
    system.propagate(&mut motion.state)?;
    Ok(Some(Taken {
        part: part.clone(),
        report,
        memory: motion.integrator.clone(),
        seen,
    }))
}

/// Ends the step of which the last part has been taken.
fn together(simulation: &mut Simulation, taken: &[Taken], last: Taken) -> StepReport {
    let Simulation { system, motion, .. } = &mut *simulation;
    let mut report = last.report;
    let stored = taken.iter().map(|one| one.report.contacts.stored);
    let energies = Energies {
        kinetic: system.model.energies(&motion.state).kinetic,
        potential: report.energies.potential + stored.sum::<f64>(),
    };
    let momentum = system.model.momentum(&motion.state);
    for one in taken {
        one.part.take_memory(&one.memory, motion);
        report.add_islands(&one.report, energies, momentum);
        if let Some(contacts) = &mut system.contacts {
            contacts.observed.join(&one.seen);
        }
    }
    motion.ledger = LedgerMemory::of_step(&report, motion.ledger.overlap);
    report
}
