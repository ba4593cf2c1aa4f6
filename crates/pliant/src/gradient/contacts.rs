//! The contacts of a step that was taken, and how they move with its start.

use super::moves::{COMES_AND_GOES, find_moves};
use super::stages::stage_contacts;
use crate::Simulation;
use crate::contact::{
    Contact, ContactList, ContactReading, ContactState, FrictionCoupling, FrictionModel, Overlap, Restitution,
};
use pliant_gradient::{
    ContactBranch, ContactIdentity, ContactNumbers, ContactPlace, GradientError, TakenContact,
};
use pliant_stepper::contact::look_ahead;
use pliant_stepper::motion::Motion;

/// The time in which contacts are near that close in it, in lengths of the step.
pub(super) const FAR: f64 = 10.0;

/// Difference of normals and gaps, the latter as a share of the largest coordinate, up to which a
/// contact that is found again is that of the step.
pub(super) const SAME: f64 = 1e-9;

/// Share of the largest velocity below which a point does not slip: its force is on the cone, where
/// contacts share forces in several ways, and its slip is rounding.
const STOPPED: f64 = 1e-9;

/// Share of the largest coordinate that gaps are rounded to.
const ROUNDING: f64 = 1e-14;

/// Share of the limit of friction that is its edge.
const EDGE: f64 = 1e-6;

/// Share of the largest coordinate that is moved in a step at the least velocity that slip is
/// compared with.
const SLOW: f64 = 1e-6;

/// Velocity across the normal at the end of the step (m/s).
fn slip_of(reading: &ContactReading) -> f64 {
    let along: f64 = (0..3)
        .map(|k| reading.velocity[k] * reading.contact.normal[k])
        .sum();
    let across = (0..3).map(|k| reading.velocity[k] - along * reading.contact.normal[k]);
    across.map(|v| v * v).sum::<f64>().sqrt()
}

/// Whether another branch of a contact begins: it carries next to nothing of the largest impulse,
/// its gap at the start is none but for what steps leave (m), or it does not slip with its friction
/// at the limit.
pub(super) fn is_at_change(reading: &ContactReading, [most, left]: [f64; 2], branch: ContactBranch) -> bool {
    let (normal, impulse) = (reading.contact.normal, reading.impulse);
    let along: f64 = impulse.iter().zip(normal).map(|(r, n)| r * n).sum();
    let across = impulse.iter().zip(normal).map(|(r, n)| r - along * n);
    let friction = across.map(|r| r * r).sum::<f64>().sqrt();
    let mu = reading.contact.law.friction;
    let at_limit = branch == ContactBranch::Sticking && friction >= (1.0 - EDGE) * mu * along;
    let law = &reading.contact.law;
    let at_gap = law.compliance == 0.0 && reading.contact.gap.abs() <= left;
    along <= STOPPED * most || at_gap || at_limit
}

/// The numbers of the law of a contact.
///
/// # Errors
/// [`GradientError::NotBuilt`] for laws whose derivative is not built.
pub(super) fn numbers_of(
    simulation: &Simulation,
    contact: &Contact,
) -> Result<ContactNumbers, GradientError> {
    check(simulation, contact)?;
    let law = &contact.law;
    Ok(ContactNumbers {
        friction: law.friction,
        compliance: law.compliance,
        relaxation: law.relaxation_time,
        restitution: law.restitution,
        recovery: recovery(simulation, contact)?,
    })
}

/// Identity of a contact among others.
pub(super) fn identity_of(contact: &Contact) -> ContactIdentity {
    ContactIdentity {
        sides: contact.sides,
        point: contact.point,
    }
}

/// The rate at which the row of a contact takes its overlap back.
fn recovery(simulation: &Simulation, contact: &Contact) -> Result<f64, GradientError> {
    match simulation.options.contacts.overlap {
        Overlap::Rows { rate, speed } if contact.law.compliance == 0.0 => match -rate * contact.gap < speed {
            true => Ok(rate),
            false => Err(not_built(
                simulation,
                contact,
                "its overlap recovers at the largest speed of `Overlap::Rows`",
            )),
        },
        _ => Ok(0.0),
    }
}

/// Fills `acting` with the contacts that carried an impulse in the last step, of length `h` (s),
/// and, if wanted, `near` with those that carried nothing and are near at its start: within the
/// margins of their colliders, or such as would close in ten steps like this; without those that
/// come and go close by.
///
/// # Errors
/// [`GradientError::NotBuilt`] for laws whose derivative is not built, and where acting contacts
/// come and go close to the start of the step.
pub(crate) fn taken_contacts(
    simulation: &mut Simulation,
    h: f64,
    acting: &mut Vec<TakenContact>,
    near: Option<&mut Vec<TakenContact>>,
) -> Result<(), GradientError> {
    acting.clear();
    if near.is_none() && super::step_stages(simulation).is_some() && simulation.system.contacts.is_some() {
        return stage_contacts(simulation, h, acting);
    }
    let carries = |c: &&ContactReading| c.state != ContactState::Open;
    let readings: Vec<ContactReading> = simulation.contacts().iter().filter(carries).copied().collect();
    if readings.is_empty() && (near.is_none() || simulation.system.contacts.is_none()) {
        near.into_iter().for_each(Vec::clear);
        return Ok(());
    }
    let found = find(simulation, h, &readings, acting, near);
    // The evaluation goes back to the present state.
    let back = simulation.system.propagate(&mut simulation.motion.state);
    back.map_err(|e| GradientError::NoModel { why: e.to_string() })?;
    found
}

/// Finds the contacts of readings, those that are near if wanted, and how they move.
///
/// # Errors
/// Those of [`taken_contacts`].
fn find(
    simulation: &mut Simulation,
    h: f64,
    readings: &[ContactReading],
    acting: &mut Vec<TakenContact>,
    near: Option<&mut Vec<TakenContact>>,
) -> Result<(), GradientError> {
    // Places are those that the step found as it looked ahead over its length.
    let mut search = ContactSearch::new(simulation.start.clone(), h);
    let mut taken = find_acting(simulation, h, readings, &mut search, acting);
    if taken.is_err() {
        acting.clear();
        search.horizon = FAR * h;
        taken = find_acting(simulation, h, readings, &mut search, acting);
    }
    taken?;
    find_moves(simulation, &mut search, true, acting)?;
    let Some(near) = near else { return Ok(()) };
    near.clear();
    let identities: Vec<ContactIdentity> = acting.iter().map(|c| c.identity).collect();
    let mut search = ContactSearch::new(simulation.start.clone(), FAR * h);
    search.find(simulation, &identities)?;
    add_near(simulation, &search, near)?;
    find_moves(simulation, &mut search, false, near)
}

/// Sizes that contacts of a step are compared with.
pub(super) struct Sizes {
    /// The largest coordinate (m).
    pub(super) largest: f64,
    /// The largest velocity (m/s).
    pub(super) fastest: f64,
    /// The gap that steps leave of what they close (m).
    pub(super) left: f64,
    /// The largest impulse (N s).
    pub(super) most: f64,
}

impl Sizes {
    /// The sizes of readings of a step of length `h` (s).
    pub(super) fn of<'a>(
        simulation: &Simulation,
        motion: &Motion,
        h: f64,
        readings: impl Iterator<Item = &'a ContactReading>,
    ) -> Self {
        let positions = motion.state.positions.iter();
        let largest = positions.fold(0.0f64, |l, x| l.max(x.abs()));
        let ends = [&simulation.start, &simulation.motion];
        let velocities = ends.iter().flat_map(|m| &m.state.velocities);
        let fastest = velocities.fold(SLOW * largest / h, |l, v| l.max(v.abs()));
        let impulses = readings.flat_map(|reading| reading.impulse);
        Self {
            largest,
            fastest,
            // Contacts are solved to a share of the velocities, and places are rounded.
            left: ROUNDING * largest + h * fastest * simulation.options.contacts.accuracy,
            most: impulses.fold(0.0f64, |l, r| l.max(r.abs())),
        }
    }
}

/// The branch of a contact that carries an impulse, beside the fastest velocity (m/s).
pub(super) fn branch_of(reading: &ContactReading, fastest: f64) -> ContactBranch {
    match reading.state {
        _ if reading.contact.law.friction == 0.0 => ContactBranch::Frictionless,
        ContactState::Slipping if slip_of(reading) > STOPPED * fastest => ContactBranch::Slipping,
        _ => ContactBranch::Sticking,
    }
}

/// Finds the contacts of readings, without how they move.
fn find_acting(
    simulation: &mut Simulation,
    h: f64,
    readings: &[ContactReading],
    search: &mut ContactSearch,
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    let share = simulation.contacts_report().restitution;
    let identities: Vec<ContactIdentity> = readings.iter().map(|r| identity_of(&r.contact)).collect();
    let found = search.find_all(simulation, &identities)?;
    let places: Vec<ContactPlace> = found.iter().map(|index| search.place(*index)).collect();
    let Sizes {
        largest,
        fastest,
        left,
        most,
    } = Sizes::of(simulation, &search.motion, h, readings.iter());
    for ((place, index), reading) in places.iter().zip(&found).zip(readings) {
        let (own, point) = (&reading.contact, search.contact(*index).point);
        let turned = (0..3).map(|k| (place.normal[k] - own.normal[k]).abs());
        let apart = (0..3).map(|k| (point[k] - own.point[k]).abs());
        let way = apart.fold((place.gap - own.gap).abs(), f64::max);
        let off = turned.fold(way / largest.max(1e-300), f64::max);
        if off > SAME {
            return Err(not_built(
                simulation,
                &reading.contact,
                "it turned in the step, or was found behind its start",
            ));
        }
        let branch = branch_of(reading, fastest);
        out.push(TakenContact {
            place: place.clone(),
            moves: Vec::new(),
            identity: identity_of(&reading.contact),
            branch,
            law: numbers_of(simulation, &reading.contact)?,
            share,
            impulse: reading.impulse,
            at_change: is_at_change(reading, [most, left], branch),
            stage: None,
        });
    }
    Ok(())
}

/// Adds the contacts of a search that are not among those that it was to find.
fn add_near(
    simulation: &Simulation,
    search: &ContactSearch,
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    let share = simulation.contacts_report().restitution;
    for (index, contact) in search.list.contacts().iter().enumerate() {
        if search.found.contains(&Some(index)) {
            continue;
        }
        out.push(TakenContact {
            place: search.place(index),
            moves: Vec::new(),
            identity: identity_of(contact),
            branch: ContactBranch::Frictionless,
            law: numbers_of(simulation, contact)?,
            share,
            impulse: [0.0; 3],
            at_change: false,
            stage: None,
        });
    }
    Ok(())
}

/// A search for the contacts of the start of a step.
#[derive(Debug)]
pub(super) struct ContactSearch {
    /// The motion at whose state contacts are searched.
    pub(super) motion: Motion,
    list: ContactList,
    /// Indices in the list of the contacts that are wanted, one for each; none of one that is not
    /// there.
    found: Vec<Option<usize>>,
    /// The time in which contacts may close that are searched (s).
    pub(super) horizon: f64,
}

impl ContactSearch {
    /// A search at a motion, of what may close within a time (s).
    pub(super) fn new(motion: Motion, horizon: f64) -> Self {
        Self {
            motion,
            list: ContactList::default(),
            found: Vec::new(),
            horizon,
        }
    }

    /// Finds contacts at the present state of the motion, as far as they are there.
    ///
    /// # Errors
    /// [`GradientError::NoModel`].
    pub(super) fn find(
        &mut self,
        simulation: &mut Simulation,
        identities: &[ContactIdentity],
    ) -> Result<(), GradientError> {
        let propagated = simulation.system.propagate(&mut self.motion.state);
        let searched = propagated
            .and_then(|()| look_ahead(&mut simulation.system, &self.motion, self.horizon, &mut self.list));
        if let Err(e) = searched {
            return Err(GradientError::NoModel { why: e.to_string() });
        }
        self.found.clear();
        for identity in identities {
            // Names belong to the end of the step, places do not.
            let all = self.list.contacts().iter().enumerate();
            let same = all.filter(|(_, c)| c.sides == identity.sides);
            let distance = |c: &Contact| {
                let way = (0..3).map(|k| c.point[k] - identity.point[k]);
                way.map(|d| d * d).sum::<f64>()
            };
            let nearest = same.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
            self.found.push(nearest.map(|(index, _)| index));
        }
        Ok(())
    }

    /// Finds contacts as [`find`](Self::find) does, all of them. Returns their indices in the list.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] if one is not there, [`GradientError::NoModel`].
    pub(super) fn find_all(
        &mut self,
        simulation: &mut Simulation,
        identities: &[ContactIdentity],
    ) -> Result<Vec<usize>, GradientError> {
        self.find(simulation, identities)?;
        let pairs = self.found.iter().zip(identities);
        let each = pairs.map(|(found, identity)| {
            found.ok_or_else(|| between(simulation, identity.sides, COMES_AND_GOES))
        });
        each.collect()
    }

    /// A contact of the list.
    pub(super) fn contact(&self, index: usize) -> &Contact {
        &self.list.contacts()[index]
    }

    /// The point at which a contact is that was wanted, if it is there.
    pub(super) fn point_of(&self, wanted: usize) -> Option<[f64; 3]> {
        self.found[wanted].map(|index| self.contact(index).point)
    }

    /// The place of a contact that was wanted, if it is there.
    pub(super) fn place_of(&self, wanted: usize) -> Option<ContactPlace> {
        self.found[wanted].map(|index| self.place(index))
    }

    /// The place of a contact of the list.
    pub(super) fn place(&self, index: usize) -> ContactPlace {
        let contact = self.contact(index);
        ContactPlace {
            normal: contact.normal,
            gap: contact.gap,
            supports: self.list.supports(index).to_vec(),
        }
    }
}

/// Refuses laws whose derivative is not built.
fn check(simulation: &Simulation, contact: &Contact) -> Result<(), GradientError> {
    let law = &contact.law;
    let options = &simulation.options.contacts;
    let why = [
        (
            law.friction_model != FrictionModel::Cone,
            "its friction is no circular cone",
        ),
        (
            law.torsion > 0.0 || law.rolling > 0.0,
            "it resists spin or rolling",
        ),
        (law.viscous_friction > 0.0, "it has viscous friction"),
        (law.dissipation > 0.0, "its damping grows with the overlap"),
        (
            options.friction_coupling != FrictionCoupling::Exact,
            "friction is not coupled exactly",
        ),
        (
            law.restitution > 0.0 && options.restitution == Restitution::Poisson,
            "its restitution is by Poisson's law",
        ),
    ];
    match why.into_iter().find(|(is, _)| *is) {
        Some((_, why)) => Err(not_built(simulation, contact, why)),
        None => Ok(()),
    }
}

pub(super) fn not_built(simulation: &Simulation, contact: &Contact, why: &'static str) -> GradientError {
    between(simulation, contact.sides, why)
}

/// An error that names the contact of two sides.
pub(super) fn between(simulation: &Simulation, sides: [u32; 2], why: &'static str) -> GradientError {
    let [one, two] = sides.map(|side| simulation.contact_side(side));
    GradientError::NotBuilt {
        what: format!("the contact of {one} and {two} at t = {} s", simulation.time()),
        why,
    }
}
