//! Steps whose impacts happen when they happen: up to the first of them, the impact by itself, and
//! on from there.
//!
//! A step of one length puts an impact at its start or its end, so that the motion jumps where
//! another step becomes the one that lands, and its velocity misses what forces do in a part of a
//! step. Here contacts and limits with restitution that are open take no part in the motion until one
//! of them closes; then a short step takes the impact, and the rest of the step goes on.

use super::bracket::Bracket;
use super::retry::together;
use super::{Conditions, retry};
use crate::{Error, Integrator, Simulation, StepReport};
use pliant_stepper::contact::step::find_present;
use pliant_stepper::guards::{Closing, EventKind, Nearest, Way, has_restitution};
use pliant_stepper::sleep;
use pliant_stepper::system::System;

/// Impacts that are located in a step at most; the rest of it is taken at once. A ball whose bounces
/// get ever shorter comes to rest so.
const MOST: usize = 16;

/// Share of a step that an impact takes: forces and overlap are nothing in it.
const SHORT: f64 = 1.0 / (1 << 20) as f64;

/// Share of a step to which the time of an impact is found.
const RESOLUTION: f64 = 1e-14;

/// Way (m) in a step that a contact opens by at most which is no bounce.
const RESTS: f64 = 1e-10;

/// Roundings of the positions of what collides that a bounce has to open by in the time of an impact:
/// the flight of a slower one is so short that positions do not tell what forces do in it.
const ROUNDINGS: f64 = 100.0;

/// How a part of a step ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PartEnd {
    /// With the step.
    Whole,
    /// Where an impact is due, of this contact or limit.
    BeforeImpact(EventKind),
    /// With an impact behind it.
    AfterImpact,
    /// With a half of a step that was halved, or of a half.
    Half,
}

/// A part of a step that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TakenPart {
    /// Its length (s), which the difference of two times is not to the last digits.
    pub(crate) h: f64,
    pub(crate) end: PartEnd,
}

/// Called after each part of a step.
pub(crate) type EachPart<'a, E> = &'a mut dyn FnMut(&mut Simulation, TakenPart) -> Result<(), E>;

/// Takes a step of length `h` (s) in parts that end at impacts. The motion is as before if it
/// fails.
pub(crate) fn step<E: From<Error>>(
    simulation: &mut Simulation,
    h: f64,
    each: EachPart<'_, E>,
) -> Result<StepReport, E> {
    let mut before = std::mem::take(&mut simulation.adaptive.before);
    simulation.record_checkpoint(&mut before);
    let result = parts(simulation, h, each);
    simulation.system.open_guards();
    let back = match result {
        Ok(_) => Ok(()),
        Err(_) => simulation.go_to(&before),
    };
    simulation.adaptive.before = before;
    back?;
    result
}

fn parts<E: From<Error>>(
    simulation: &mut Simulation,
    h: f64,
    each: EachPart<'_, E>,
) -> Result<StepReport, E> {
    if simulation.motion.fresh {
        simulation.check_stability(h)?;
    }
    let start = simulation.motion.time;
    let mut whole: Option<StepReport> = None;
    let (mut impacts, mut is_due) = (0, false);
    let mut left = h;
    loop {
        let mut passed = false;
        let (mut report, part) = if is_due && SHORT * h < left {
            impacts += 1;
            let (h, end) = (SHORT * h, PartEnd::AfterImpact);
            simulation.system.guards.in_impact = true;
            let taken = retry::step(simulation, h);
            simulation.system.guards.in_impact = false;
            (taken?, TakenPart { h, end })
        } else if is_due || impacts == MOST {
            passed = !is_due;
            (retry::step(simulation, left)?, TakenPart::whole(left))
        } else {
            match to_impact(simulation, [left, h])? {
                Part::Taken(report) => (report, TakenPart::whole(left)),
                Part::Passed(report) => {
                    passed = true;
                    (report, TakenPart::whole(left))
                }
                Part::Before(report, part) => (report, part),
                Part::Due => {
                    is_due = true;
                    continue;
                }
            }
        };
        report.contacts.solve.located += usize::from(is_due);
        report.contacts.solve.passed += usize::from(passed);
        left -= part.h;
        is_due = matches!(part.end, PartEnd::BeforeImpact(_));
        if part.end == PartEnd::Whole {
            // To the bit, whatever the sum of the parts.
            simulation.motion.time = start + h;
        }
        if let Some(earlier) = &whole {
            report = together(earlier, &report);
        }
        (report.time, report.h) = (simulation.motion.time, h);
        each(simulation, part)?;
        if part.end == PartEnd::Whole {
            return Ok(report);
        }
        whole = Some(report);
    }
}

impl TakenPart {
    fn whole(h: f64) -> Self {
        Self {
            h,
            end: PartEnd::Whole,
        }
    }
}

/// A part of a step.
enum Part {
    /// All that was left.
    Taken(StepReport),
    /// All that was left, as other steps are taken.
    Passed(StepReport),
    /// So much of it, to where a contact closes.
    Before(StepReport, TakenPart),
    /// None: an impact is due at once.
    Due,
}

/// Goes on to the next impact within `left` (s) of a step of length `h` (s), or to its end.
fn to_impact(simulation: &mut Simulation, [left, h]: [f64; 2]) -> Result<Part, Error> {
    simulation.system.open_guards();
    simulation.choose_treatments(left)?;
    let limits = simulation.options.contacts.sleeping;
    sleep::look(&mut simulation.system, &mut simulation.motion, limits);
    find_present(&mut simulation.system, &mut simulation.motion, left)?;
    let resolution = (RESOLUTION * h).max(4.0 * f64::EPSILON * (simulation.motion.time.abs() + h));
    let slow = ROUNDINGS * f64::EPSILON * largest_position(simulation) / (SHORT * h);
    let closing = Closing {
        soon: 2.0 * resolution,
        h: left,
        allowed: RESTS.max(slow * left),
        bouncing: true,
    };
    let System {
        model,
        guards,
        contacts,
        ..
    } = &mut simulation.system;
    if guards.shut(model, contacts.as_deref_mut(), &simulation.motion, closing) {
        simulation.system.open_guards();
        return Ok(Part::Due);
    }
    // Also where nothing is open yet: the search may miss what forces bring near.
    take_start(simulation);
    let Some((report, nearest)) = attempt(simulation, left)? else {
        return at_once(simulation, left);
    };
    let Some(beyond) = nearest.filter(|n| n.gap < 0.0) else {
        simulation.system.open_guards();
        return Ok(Part::Taken(report));
    };
    let at_start = simulation.system.guards.nearest_at_start();
    // A contact that bounced off may begin with the rounding of a gap.
    let mut bracket = Bracket::new(left, beyond, at_start.filter(|gap| *gap > 0.0));
    while let Some(trial) = bracket.trial(resolution) {
        back(simulation)?;
        let Some((_, nearest)) = attempt(simulation, trial)? else {
            return at_once(simulation, left);
        };
        bracket.take(trial, nearest);
    }
    back(simulation)?;
    let Some((h, kind)) = bracket.found() else {
        simulation.system.open_guards();
        return Ok(Part::Due);
    };
    let Some((report, _)) = attempt(simulation, h)? else {
        return at_once(simulation, left);
    };
    simulation.system.open_guards();
    let end = PartEnd::BeforeImpact(kind);
    Ok(Part::Before(report, TakenPart { h, end }))
}

/// Takes all that is left of a step as others are taken, with impacts within it, from the start of the
/// attempts that did not stand: in halves or with an error, where it comes to that.
fn at_once(simulation: &mut Simulation, left: f64) -> Result<Part, Error> {
    back(simulation)?;
    simulation.system.open_guards();
    retry::step(simulation, left).map(Part::Passed)
}

/// Takes a step at once, of the same system as the last one, and finds what came nearest to closing;
/// none if it has no solution, or makes energy for which others are halved.
fn attempt(simulation: &mut Simulation, h: f64) -> Result<Option<(StepReport, Option<Nearest>)>, Error> {
    if let Some(c) = &mut simulation.system.contacts {
        c.detection.guards.aside.clear();
    }
    let conditions = Conditions {
        keep_treatments: true,
        ..Conditions::default()
    };
    let Ok(report) = simulation.step_at_once(h, conditions) else {
        return Ok(None);
    };
    if retry::makes_energy(simulation, &report) {
        return Ok(None);
    }
    let way = Way {
        start: &simulation.start.state,
        h,
        weight: match simulation.options.integrator {
            Integrator::Theta | Integrator::Nonlinear => simulation.options.beta,
            _ => 0.5,
        },
    };
    let Simulation { system, motion, .. } = &*simulation;
    Ok(Some((report, system.guards.nearest(system, motion, way))))
}

/// The largest position of the nodes that collide or have limits that bounce.
fn largest_position(simulation: &Simulation) -> f64 {
    let System { model, contacts, .. } = &simulation.system;
    let nodes = contacts.as_ref().map_or(&[][..], |c| c.detection.nodes());
    let groups = model.row_groups().iter();
    let bouncing = groups.filter(|group| has_restitution(model, group));
    let ranges = nodes
        .iter()
        .copied()
        .chain(bouncing.map(|group| group.node))
        .map(|node| model.node(node).position_range());
    let positions = ranges.flat_map(|range| &simulation.motion.state.positions[range]);
    positions.fold(0.0, |most, x| most.max(x.abs()))
}

fn take_start(simulation: &mut Simulation) {
    let Simulation {
        adaptive,
        system,
        motion,
        ..
    } = &mut *simulation;
    adaptive.start.take(system, motion);
}

fn back(simulation: &mut Simulation) -> Result<(), Error> {
    let Simulation {
        adaptive,
        system,
        motion,
        ..
    } = &mut *simulation;
    adaptive.start.give_back(system, motion)
}
