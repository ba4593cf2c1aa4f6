//! The contacts of both stages of a step of SDIRK2 with exact stages, kept for what is made of the step
//! afterwards, as its derivative.

use super::observed::noise_of;
use super::{ContactIterate, ContactList, ContactReading, Contacts, Solved};
use crate::Options;
use crate::system::System;
use pliant_model::State;

/// A contact of a stage.
#[derive(Clone, Copy, Debug)]
pub struct StageReading {
    /// As it is at the end of the stage, with its gap at the start of the step, and the impulse of the
    /// time of the stage (N s).
    pub reading: ContactReading,
    /// Its point at the start of the step (m).
    pub start: [f64; 3],
    /// The change of its gap from the start of the step to the predictor of the stage (m).
    pub moved: f64,
    /// The time in which its gap closes (s), if it bore in the step before and gapes by no more than its
    /// curve leaves.
    pub closing: Option<f64>,
    /// Whether it keeps directions of before, since the search did not find it where it is expected.
    pub keeps: bool,
}

/// The contacts of a stage.
#[derive(Debug, Default)]
pub struct StageRecord {
    /// Where they were found: the state that is expected at the end of the stage.
    pub expected: State,
    /// The contacts, with the elements that they act on.
    pub list: ContactList,
    /// Their readings at the end of the stage, in the same order.
    pub readings: Vec<StageReading>,
    pub(super) is_there: bool,
}

/// The contacts of both stages of the last step, if these were recorded: of steps that two stages took,
/// with [`exact_stages`](crate::integrator::NewtonOptions::exact_stages).
pub fn recorded_stages(system: &System) -> Option<[&StageRecord; 2]> {
    let [first, second] = &system.contacts.as_deref()?.stages;
    (first.is_there && second.is_there).then_some([first, second])
}

/// Records the contacts of a stage that is solved, at its iterate.
pub(crate) fn record_stage(system: &mut System, at: ContactIterate<'_>, is_first: bool) {
    let System {
        options, contacts, ..
    } = system;
    if let Some(contacts) = contacts {
        record(contacts, options, at, is_first);
    }
}

fn record(contacts: &mut Contacts, options: &Options, at: ContactIterate<'_>, is_first: bool) {
    let list = &contacts.detection.list;
    let record = &mut contacts.stages[usize::from(!is_first)];
    record.is_there = true;
    record.readings.clear();
    record.list.clone_from(list);
    if list.is_empty() {
        return;
    }
    record.expected.clone_from(&contacts.turned.expected);
    let mut readings = std::mem::take(&mut record.readings);
    let noise = noise_of(contacts.reached(options), contacts.free_velocity());
    contacts.rows.tail.product_into(at.end, &mut contacts.rows.after);
    contacts.turned.find_start_velocities(&contacts.rows);
    let solved = Solved {
        list: &contacts.detection.list,
        rows: &contacts.rows.rows,
        drags: &contacts.rows.drags.list,
        before: &contacts.turned.before,
        after: &contacts.rows.after,
        impulses: at.impulses,
        h: 1.0,
        beta: 1.0,
    };
    let mut row = 0;
    for (i, (contact, own)) in solved.list.contacts().iter().zip(solved.rows).enumerate() {
        let turned = &contacts.turned;
        readings.push(StageReading {
            reading: solved.read_one(contact, own, row, noise),
            start: turned.start_point(i).unwrap_or(contact.point),
            moved: contacts.newton.moved.get(i).copied().unwrap_or(0.0),
            closing: turned.active.get(i).is_some_and(|a| *a).then_some(turned.closing),
            keeps: turned.keeps(i),
        });
        row += own.count;
    }
    contacts.stages[usize::from(!is_first)].readings = readings;
}

/// Forgets the contacts of the stages of the last step.
pub(super) fn forget(stages: &mut [StageRecord; 2]) {
    stages.iter_mut().for_each(|stage| stage.is_there = false);
}
