//! The contacts of both stages of a step of SDIRK2, and how they move with the states that they are
//! expected at.

use super::contacts::{
    ContactSearch, FAR, SAME, Sizes, branch_of, identity_of, is_at_change, not_built, numbers_of,
};
use super::moves::find_moves;
use super::{ContactBranch, ContactIdentity, GradientError, PlacedContact, StageContact, TakenContact};
use crate::Simulation;
use crate::contact::{ContactReading, ContactState};
use pliant_model::State;
use pliant_stepper::contact::{StageReading, recorded_stages};

/// A stage as it was recorded.
struct Recorded {
    expected: State,
    readings: Vec<StageReading>,
}

/// Fills `out` with the contacts that carried an impulse in a stage of the last step, of length `h` (s),
/// those of the first stage before those of the second.
///
/// # Errors
/// [`GradientError::NotBuilt`] for laws whose derivative is not built, where contacts come and go close
/// to where they are expected, and for stages that were not recorded.
pub(super) fn stage_contacts(
    simulation: &mut Simulation,
    h: f64,
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    let Some(stages) = recorded_stages(&simulation.system) else {
        return Err(GradientError::NotBuilt {
            what: format!("contacts in the step of SDIRK2 to t = {} s", simulation.time()),
            why: "its stages were not kept: set `options.tuning.newton.exact_stages` before the step",
        });
    };
    let stages = stages.map(|stage| Recorded {
        expected: stage.expected.clone(),
        readings: stage.readings.clone(),
    });
    let found = find(simulation, h, &stages, out);
    // The evaluation goes back to the present state.
    let back = simulation.system.propagate(&mut simulation.motion.state);
    back.map_err(|e| GradientError::NoModel { why: e.to_string() })?;
    found
}

/// Finds the contacts of both stages.
fn find(
    simulation: &mut Simulation,
    h: f64,
    stages: &[Recorded; 2],
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    for (k, stage) in stages.iter().enumerate() {
        let carries = |reading: &ContactReading| reading.state != ContactState::Open;
        let acting = stage.readings.iter().enumerate();
        let acting: Vec<usize> = acting
            .filter(|(_, one)| carries(&one.reading))
            .map(|(i, _)| i)
            .collect();
        let at_expected = |simulation: &Simulation, of: &Recorded| {
            let mut motion = simulation.start.clone();
            motion.state.clone_from(&of.expected);
            ContactSearch::new(motion, h)
        };
        let own = at_expected(simulation, stage);
        let mut contacts = place(simulation, h, stage, &acting, k == 1)?;
        follow(simulation, own, &mut contacts)?;
        let gaps: Vec<usize> = (0..acting.len()).filter(|i| has_gap(&contacts[*i])).collect();
        let starts = gaps.iter().map(|i| {
            let reading = &stage.readings[acting[*i]];
            ContactIdentity {
                sides: reading.reading.contact.sides,
                point: reading.start,
            }
        });
        let starts: Vec<ContactIdentity> = starts.collect();
        let at_start = ContactSearch::new(simulation.start.clone(), h);
        for (i, placed) in gaps.iter().zip(placed(simulation, at_start, &starts)?) {
            if let Some(stage) = &mut contacts[*i].stage {
                stage.at_start = Some(placed);
            }
        }
        if k == 1 {
            // The same contacts, in the same order.
            let firsts = gaps
                .iter()
                .map(|i| identity_of(&stages[0].readings[acting[*i]].reading.contact));
            let firsts: Vec<ContactIdentity> = firsts.collect();
            let in_first = at_expected(simulation, &stages[0]);
            for (i, placed) in gaps.iter().zip(placed(simulation, in_first, &firsts)?) {
                if let Some(stage) = &mut contacts[*i].stage {
                    stage.in_first = Some(placed);
                }
            }
        }
        out.extend(contacts);
    }
    Ok(())
}

/// Whether the gap of a contact has a part in its equation.
fn has_gap(contact: &TakenContact) -> bool {
    let Some(stage) = &contact.stage else {
        return false;
    };
    let law = &contact.law;
    let gap = contact.place.gap;
    let closes = gap + stage.moved > 0.0 || stage.closing.is_some() && gap > 0.0;
    law.compliance > 0.0 || law.recovery > 0.0 || closes
}

/// The acting contacts of a stage with their laws, where they were found, without how they move.
///
/// # Errors
/// [`GradientError::NotBuilt`] for laws whose derivative is not built, and for contacts that keep their
/// directions.
fn place(
    simulation: &mut Simulation,
    h: f64,
    stage: &Recorded,
    acting: &[usize],
    is_second: bool,
) -> Result<Vec<TakenContact>, GradientError> {
    let readings = acting.iter().map(|i| &stage.readings[*i].reading);
    let sizes = Sizes::of(simulation, &simulation.start, h, readings);
    let each = acting.iter().map(|i| {
        let StageReading {
            reading,
            moved,
            closing,
            keeps,
            ..
        } = stage.readings[*i];
        if keeps {
            return Err(not_built(
                simulation,
                &reading.contact,
                "it is not found where it is expected at the end of a stage, or on another surface: choose a shorter step, or `Integrator::Nonlinear`",
            ));
        }
        let branch = branch_of(&reading, sizes.fastest);
        Ok(TakenContact {
            place: Default::default(),
            moves: Vec::new(),
            identity: identity_of(&reading.contact),
            branch,
            law: numbers_of(simulation, &reading.contact)?,
            share: 0.0,
            impulse: reading.impulse,
            at_change: is_at_change(&reading, [sizes.most, sizes.left], branch),
            stage: Some(Box::new(StageContact {
                is_second,
                moved,
                closing,
                at_start: None,
                in_first: None,
            })),
        })
    });
    let mut out: Vec<TakenContact> = each.collect::<Result<_, _>>()?;
    for (contact, i) in out.iter_mut().zip(acting) {
        contact.place.gap = stage.readings[*i].reading.contact.gap;
        contact.place.normal = stage.readings[*i].reading.contact.normal;
    }
    Ok(out)
}

/// Finds the elements of the contacts of a stage, and how these contacts move; their gaps stay those of
/// the start of the step.
///
/// # Errors
/// [`GradientError::NotBuilt`] where they are not found.
fn follow(
    simulation: &mut Simulation,
    mut search: ContactSearch,
    contacts: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    if contacts.is_empty() {
        return Ok(());
    }
    let identities: Vec<ContactIdentity> = contacts.iter().map(|c| c.identity).collect();
    let found = look(simulation, &mut search, &identities)?;
    let gaps: Vec<f64> = contacts.iter().map(|c| c.place.gap).collect();
    for (contact, index) in contacts.iter_mut().zip(found) {
        let (place, point) = (search.place(index), search.contact(index).point);
        let turned = (0..3).map(|k| (place.normal[k] - contact.place.normal[k]).abs());
        let positions = search.motion.state.positions.iter();
        let largest = positions.fold(1e-300f64, |l, x| l.max(x.abs()));
        let apart = (0..3).map(|k| (point[k] - contact.identity.point[k]).abs() / largest);
        if turned.chain(apart).fold(0.0, f64::max) > SAME {
            let own = search.contact(index);
            return Err(not_built(
                simulation,
                own,
                "it is not found again where a stage had it",
            ));
        }
        contact.place = place;
    }
    find_moves(simulation, &mut search, true, contacts)?;
    for (contact, gap) in contacts.iter_mut().zip(gaps) {
        contact.place.gap = gap;
        contact.moves.iter_mut().for_each(|m| m.by.gap = 0.0);
    }
    Ok(())
}

/// Contacts that are wanted where a search finds them, and how they move there.
///
/// # Errors
/// [`GradientError::NotBuilt`] where they are not found.
fn placed(
    simulation: &mut Simulation,
    mut search: ContactSearch,
    wanted: &[ContactIdentity],
) -> Result<Vec<PlacedContact>, GradientError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let found = look(simulation, &mut search, wanted)?;
    let mut contacts: Vec<TakenContact> = Vec::new();
    for (index, identity) in found.iter().zip(wanted) {
        contacts.push(TakenContact {
            place: search.place(*index),
            moves: Vec::new(),
            identity: *identity,
            branch: ContactBranch::Frictionless,
            law: Default::default(),
            share: 0.0,
            impulse: [0.0; 3],
            at_change: false,
            stage: None,
        });
    }
    find_moves(simulation, &mut search, true, &mut contacts)?;
    let places = contacts.into_iter().map(|c| PlacedContact {
        place: c.place,
        moves: c.moves,
        identity: c.identity,
    });
    Ok(places.collect())
}

/// Finds contacts, if need be farther ahead.
///
/// # Errors
/// [`GradientError::NotBuilt`] where they are not found.
fn look(
    simulation: &mut Simulation,
    search: &mut ContactSearch,
    wanted: &[ContactIdentity],
) -> Result<Vec<usize>, GradientError> {
    let found = search.find_all(simulation, wanted);
    if found.is_ok() {
        return found;
    }
    search.horizon *= FAR;
    search.find_all(simulation, wanted)
}
