//! Steps that are solved, and whose energy is off: the error, with a remedy that was tried.

use super::retry;
use crate::contact::{ContactOptions, FrictionCoupling};
use crate::{EnergyPart, Error, Excess, Integrator, Options, Simulation, StepReport, Tolerances};
use pliant_model::{ComponentId, NodeKind};
use pliant_stepper::contact::{StoredPair, step};
use std::collections::BTreeMap;

/// Attempts at the steps of a trial and their halves, and those for each step beside them, beyond
/// which none is halved any more: a change that takes more is no remedy.
const ATTEMPTS: usize = 100;
const ATTEMPTS_PER_STEP: usize = 4;

/// The part of the certificate of a step that is beyond its tolerance, if the options hold it to
/// one.
pub(crate) fn excess(options: &Options, report: &StepReport) -> Option<Excess> {
    if options.accept_failed_steps {
        return None;
    }
    report.certificate.energy.excess(&options.tolerances()?)
}

/// The error of a step that is the present motion, with its worst part, and with a remedy if any
/// are to be tried; `go_back` goes to the moment before the step. The motion is that one in the
/// end.
pub(crate) fn refuse(
    simulation: &mut Simulation,
    report: &StepReport,
    excess: Excess,
    remedies: bool,
    go_back: impl FnOnce(&mut Simulation) -> Result<(), Error>,
) -> Error {
    let most = most_energetic(simulation);
    let stored = Stored::of(simulation);
    if let Err(error) = go_back(simulation) {
        return error;
    }
    let gainer = match excess.part {
        EnergyPart::SinceStart => None,
        _ => stored.gainer(simulation, 0.5 * excess.energy),
    };
    let what = gainer.unwrap_or_else(|| format!("most energy is in {most}"));
    let remedy = match remedies.then(|| remedy(simulation, report.h)).transpose() {
        Ok(remedy) => remedy.flatten(),
        Err(error) => return error,
    };
    Error::NotCertified {
        excess,
        what,
        time: simulation.motion.time,
        remedy,
        report: Box::new(*report),
    }
}

/// Energies that force fields and compliant contacts store (J).
struct Stored {
    /// Energy of each force field, by its number.
    fields: Vec<f64>,
    /// Energy of the compliant contacts of two sides.
    pairs: BTreeMap<[u32; 2], StoredPair>,
}

impl Stored {
    /// Energies at the present motion.
    fn of(simulation: &mut Simulation) -> Self {
        let count = simulation.system.model.force_fields().len();
        let fields = (0..count).map(|i| simulation.potential(ComponentId::ForceField(i)));
        Self {
            fields: fields.collect(),
            pairs: step::stored_pairs(&simulation.motion),
        }
    }

    /// The component, in words, whose energy is above that of the present motion by the most, if
    /// that is more than `least` (J).
    fn gainer(&self, simulation: &mut Simulation, least: f64) -> Option<String> {
        let before = Self::of(simulation);
        let (mut most, mut what) = (least, None);
        for (i, (now, then)) in self.fields.iter().zip(&before.fields).enumerate() {
            if now - then > most {
                most = now - then;
                let name = simulation.system.model.component_name(ComponentId::ForceField(i));
                what = Some(format!("`{name}` gained {} J", rounded(most)));
            }
        }
        for (sides, pair) in &self.pairs {
            let then = before.pairs.get(sides).copied().unwrap_or_default();
            if pair.energy - then.energy > most {
                most = pair.energy - then.energy;
                let contacts = simulation.system.contacts.as_ref();
                let name = contacts.map_or_else(String::new, |c| c.detection.pair(*sides));
                let [gained, from, to] = [most, then.depth, pair.depth].map(rounded);
                what = Some(format!(
                    "the contact of {name} gained {gained} J, from {from} to {to} m of overlap"
                ));
            }
        }
        what
    }
}

/// The component with the most energy, in words: a force field by its name, a mass by the
/// coordinate that moves with most of it.
fn most_energetic(simulation: &mut Simulation) -> String {
    let model = &simulation.system.model;
    let state = &simulation.motion.state;
    let mut most = (0.0, String::from("nothing"));
    for (i, _) in model.force_fields().iter().enumerate() {
        let component = ComponentId::ForceField(i);
        let energy = simulation.potential(component);
        if energy > most.0 {
            most = (energy, format!("`{}`", model.component_name(component)));
        }
    }
    for attachment in model.masses() {
        let node = model.node(attachment.node);
        let v = &state.velocities[node.velocity_range()];
        let mut momentum = vec![0.0; v.len()];
        attachment
            .component
            .add_product(node.space, 1.0, v, &mut momentum);
        let parts = || momentum.iter().zip(v).map(|(p, v)| 0.5 * p * v);
        let energy: f64 = parts().sum();
        if energy > most.0 {
            let fastest = parts().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            let name = match (&node.kind, node.first_dof(), fastest) {
                (NodeKind::Independent { .. }, Some(first), Some((k, _))) => model.describe_dof(first + k),
                _ => format!("`{}`", node.name),
            };
            most = (energy, name);
        }
    }
    most.1
}

/// A change that is tried on the next seconds from the present motion.
struct Trial {
    options: Options,
    /// Steps in which they are gone through.
    parts: u32,
    /// The change in words, and whether that is a plural.
    words: (String, bool),
}

impl Trial {
    /// The method and options of the simulation, with `h` (s) gone through in so many steps.
    fn shorter(options: &Options, h: f64, parts: u32) -> Self {
        Self {
            options: options.clone(),
            parts,
            words: (format!("steps of {} s", rounded(h / f64::from(parts))), true),
        }
    }

    /// By the default method and its options.
    fn by_stages(options: &Options) -> Self {
        Self {
            options: Options {
                integrator: Integrator::Sdirk2,
                contacts: options.contacts,
                linear: options.linear,
                bounded_rows: options.bounded_rows,
                tuning: options.tuning.clone(),
                ..Options::default()
            },
            parts: 1,
            words: ("`integrator: Sdirk2`".to_owned(), false),
        }
    }

    /// In steps of the same length with other laws of friction.
    fn by_contacts(options: &Options, contacts: ContactOptions, words: &str) -> Self {
        Self {
            options: Options {
                contacts,
                ..options.clone()
            },
            parts: 1,
            words: (words.to_owned(), false),
        }
    }

    /// The change and its effect in words, for one change and for several.
    fn describe(&self, does: &str, do_so: &str) -> String {
        let (words, several) = &self.words;
        format!("{words} {} (tried)", if *several { do_so } else { does })
    }
}

/// A change with which the next `h` (s) from the present motion make no energy, in words, if one of
/// those that are tried does. The motion is the same afterwards.
///
/// # Errors
/// Errors of going back to the present motion.
fn remedy(simulation: &mut Simulation, h: f64) -> Result<Option<String>, Error> {
    let options = &simulation.options;
    let mut trials = Vec::new();
    if options.contacts.friction_coupling != FrictionCoupling::Exact && simulation.system.contacts.is_some() {
        let exact = ContactOptions {
            friction_coupling: FrictionCoupling::Exact,
            ..options.contacts
        };
        trials.push(Trial::by_contacts(options, exact, "`friction_coupling: Exact`"));
    }
    if options.integrator != Integrator::Sdirk2 {
        trials.push(Trial::by_stages(options));
    }
    trials.extend([10, 100].map(|parts| Trial::shorter(options, h, parts)));
    let found = first_good(simulation, trials, |simulation, parts| {
        makes_none(simulation, h / f64::from(parts), parts)
    })?;
    Ok(found.map(|trial| trial.describe("makes less", "make less")))
}

/// A change with which the next `h` (s) from the present motion have a solution, in words, if one
/// of those that are tried has; `of_contacts` if it is contacts that have none. The motion is the
/// same afterwards. Cost: where things collide up to some ten steps, else some hundred.
///
/// # Errors
/// Errors of going back to the present motion.
pub(crate) fn solving_remedy(
    simulation: &mut Simulation,
    h: f64,
    of_contacts: bool,
) -> Result<Option<String>, Error> {
    let options = &simulation.options;
    let mut trials = Vec::new();
    if options.integrator != Integrator::Sdirk2 {
        trials.push(Trial::by_stages(options));
    }
    trials.push(Trial::shorter(options, h, 10));
    if simulation.system.contacts.is_none() {
        trials.push(Trial::shorter(options, h, 100));
    }
    let has_others = options.contacts.couplings() == [FrictionCoupling::Exact; 2];
    if of_contacts && has_others {
        let lagged = ContactOptions {
            friction_fallback: Some(FrictionCoupling::Lagged),
            ..options.contacts
        };
        trials.push(Trial::by_contacts(options, lagged, "`friction_fallback: Lagged`"));
    }
    let found = first_good(simulation, trials, |simulation, parts| {
        let mut left = parts as usize;
        let step = h / f64::from(parts);
        (0..parts).all(|_| retry::step_as_part(simulation, step, &mut left).is_ok())
    })?;
    Ok(found.map(|trial| trial.describe("has a solution", "have a solution")))
}

/// The first trial that is good from the present motion, which is the same afterwards.
///
/// # Errors
/// Errors of going back to the present motion.
fn first_good(
    simulation: &mut Simulation,
    trials: Vec<Trial>,
    mut is_good: impl FnMut(&mut Simulation, u32) -> bool,
) -> Result<Option<Trial>, Error> {
    let (before, options) = (simulation.checkpoint(), simulation.options.clone());
    let steps = simulation.counters().steps;
    for trial in trials {
        simulation.options.clone_from(&trial.options);
        let good = is_good(simulation, trial.parts);
        simulation.options.clone_from(&options);
        simulation.restore(&before)?;
        simulation.system.set_steps(steps);
        if good {
            return Ok(Some(trial));
        }
    }
    Ok(None)
}

/// Whether so many steps of length `h` (s) from the present motion are solved and none makes
/// energy.
fn makes_none(simulation: &mut Simulation, h: f64, parts: u32) -> bool {
    let tolerances = Tolerances {
        since_start: f64::INFINITY,
        ..Tolerances::default()
    };
    let mut left = ATTEMPTS + ATTEMPTS_PER_STEP * parts as usize;
    (0..parts).all(|_| {
        let step = retry::step_as_part(simulation, h, &mut left);
        step.is_ok_and(|report| report.certificate.energy.excess(&tolerances).is_none())
    })
}

/// A number with two digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}
