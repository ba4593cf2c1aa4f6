//! How the contacts of a step move with the parameters of a family of models.

use crate::GradientError;
use crate::contact_way::ContactWay;
use crate::contacts::{ContactChange, Contacts, EndVelocities};
use crate::family::{Family, Sample};
use crate::taken::{ContactIdentity, ContactNumbers, ContactPlace, ContactSample};
use pliant_kkt::Support;
use pliant_model::{Problem, State};

/// A model of a family: the one with a parameter at a point of its stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The parameter.
    pub parameter: usize,
    /// The point, in the order in which [`Family::new`] makes the models.
    pub point: usize,
}

/// The contacts of the models of a family, from whoever has their colliders.
pub trait FamilyContacts: std::fmt::Debug {
    /// Fills `out` with the contacts, in the order of `of`, that a model has at a state, in which
    /// the positions of mapped nodes are not read: its own mappings give them.
    ///
    /// # Errors
    /// Whatever keeps a contact from being found.
    fn at(
        &mut self,
        member: Member,
        start: &State,
        h: f64,
        of: &[ContactIdentity],
        out: &mut Vec<ContactSample>,
    ) -> Result<(), GradientError>;
}

/// Contacts that change with a parameter, the state at the start held.
#[derive(Debug, Default)]
pub(crate) struct ContactChanges {
    samples: Vec<ContactSample>,
    found: Vec<ContactSample>,
    /// Derivatives of the velocities of all nodes at the start and at the end.
    velocities: [Vec<f64>; 2],
}

/// A step whose contacts change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactStep<'a> {
    pub(crate) contacts: &'a Contacts,
    pub(crate) start: &'a State,
    pub(crate) end: &'a State,
    /// Length (s).
    pub(crate) h: f64,
    /// Whether gaps do not change, which those of stages do where the step starts.
    pub(crate) keeps_gaps: bool,
}

impl ContactChanges {
    pub(crate) fn get(&self) -> ContactChange<'_> {
        let [start, end] = &self.velocities;
        ContactChange {
            contacts: &self.samples,
            velocities: EndVelocities { start, end },
        }
    }

    /// The change of the gap of a contact.
    pub(crate) fn gap(&self, contact: usize) -> f64 {
        self.samples.get(contact).map_or(0.0, |sample| sample.place.gap)
    }

    /// Adds to the change of the gap of a contact.
    pub(crate) fn add_gap(&mut self, contact: usize, by: f64) {
        self.samples[contact].place.gap += by;
    }

    /// Finds how the contacts of a step change with a parameter.
    ///
    /// # Errors
    /// All errors of [`FamilyContacts::at`]; [`GradientError::NotBuilt`] where contacts act on
    /// other elements or their places jump, a law begins to act, or a family without contacts has
    /// mappings that move them.
    pub(crate) fn find(
        &mut self,
        family: &mut Family,
        base: &Problem,
        parameter: usize,
        step: ContactStep<'_>,
    ) -> Result<(), GradientError> {
        self.find_places(family, base, parameter, step)?;
        let pairs = self.samples.iter().enumerate();
        for (i, sample) in pairs {
            check_begins(step.contacts.law(i), &sample.law, parameter)?;
        }
        Ok(())
    }

    /// Finds how the places of contacts move with a parameter, as [`find`](Self::find) does, and leaves
    /// their laws out.
    ///
    /// # Errors
    /// The errors of [`find`](Self::find) about places.
    pub(crate) fn find_places(
        &mut self,
        family: &mut Family,
        base: &Problem,
        parameter: usize,
        step: ContactStep<'_>,
    ) -> Result<(), GradientError> {
        let Self {
            samples,
            found,
            velocities,
        } = self;
        samples.clear();
        samples.extend((0..step.contacts.len()).map(|i| still(step.contacts.supports(i))));
        for list in velocities.iter_mut() {
            list.clear();
            list.resize(base.velocity_count(), 0.0);
        }
        let is_mapped = |s: &Support| base.node(s.node).first_dof().is_none();
        let mut all = (0..step.contacts.len()).flat_map(|i| step.contacts.supports(i));
        if family.contacts.is_none() && !all.any(is_mapped) {
            return Ok(());
        }
        let own: Vec<ContactSample> = (0..step.contacts.len())
            .map(|i| step.contacts.sample(i))
            .collect();
        let mut ways: Vec<ContactWay> = own.iter().map(|sample| ContactWay::of(&sample.place)).collect();
        let [scale, change] = family.scale(parameter)?;
        let mut source = family.contacts.take();
        let each = family.each_member(base, parameter, |member, Sample { weight, point, .. }| {
            for (out, from) in velocities.iter_mut().zip([step.start, step.end]) {
                member.state.clone_from(from);
                member.evaluation.propagate(&member.problem, &mut member.state)?;
                let pairs = member.state.velocities.iter().zip(&from.velocities);
                let changes = pairs.map(|(to, from)| weight * (to - from));
                out.iter_mut().zip(changes).for_each(|(o, change)| *o += change);
                if source.is_none() {
                    check_still(base, step.contacts, [from, &member.state])?;
                }
            }
            let Some(source) = &mut source else { return Ok(()) };
            let member = Member { parameter, point };
            source.at(member, step.start, step.h, step.contacts.identities(), found)?;
            for (i, (from, to)) in own.iter().zip(&mut *found).enumerate() {
                if step.keeps_gaps {
                    to.place.gap = from.place.gap;
                }
                let to = &*to;
                add_law(&mut samples[i], weight, [from, to])?;
                ways[i].add(point, [&from.place, &to.place]);
            }
            Ok(())
        });
        family.contacts = source;
        each?;
        for (sample, way) in samples.iter_mut().zip(ways) {
            let by = way.derivative([change, scale], ContactWay::SMOOTH);
            sample.place = by.ok_or_else(|| GradientError::NotBuilt {
                what: "a contact by a parameter".to_owned(),
                why: "its place jumps close by: there is no derivative there",
            })?;
        }
        Ok(())
    }
}

/// A contact that does not change.
fn still(supports: &[Support]) -> ContactSample {
    let still = |s: &Support| Support {
        weight: 0.0,
        arm: [0.0; 3],
        ..*s
    };
    ContactSample {
        place: ContactPlace {
            supports: supports.iter().map(still).collect(),
            ..ContactPlace::default()
        },
        law: ContactNumbers::default(),
    }
}

/// Adds `weight` times what the law of a contact is more than that of the step to its derivative.
///
/// # Errors
/// [`GradientError::NotBuilt`] where it acts on other elements.
fn add_law(
    out: &mut ContactSample,
    weight: f64,
    [from, to]: [&ContactSample; 2],
) -> Result<(), GradientError> {
    let place = |s: &Support| (s.node, s.element);
    let [own, other] = [from, to].map(|sample| sample.place.supports.iter().map(place));
    let same = own.eq(other);
    if !same {
        return Err(GradientError::NotBuilt {
            what: "a contact by a parameter".to_owned(),
            why: "it acts on other elements close by: there is no derivative there",
        });
    }
    let (out, to, from) = (&mut out.law, &to.law, &from.law);
    for (out, change) in [
        (&mut out.friction, to.friction - from.friction),
        (&mut out.compliance, to.compliance - from.compliance),
        (&mut out.relaxation, to.relaxation - from.relaxation),
        (&mut out.restitution, to.restitution - from.restitution),
        (&mut out.recovery, to.recovery - from.recovery),
    ] {
        *out += weight * change;
    }
    Ok(())
}

/// Refuses laws that a parameter makes begin to act.
///
/// # Errors
/// [`GradientError::NotBuilt`].
fn check_begins(law: &ContactNumbers, by: &ContactNumbers, parameter: usize) -> Result<(), GradientError> {
    let numbers = [
        (law.friction, by.friction, "friction"),
        (law.compliance, by.compliance, "compliance"),
        (law.restitution, by.restitution, "restitution"),
    ];
    match numbers.into_iter().find(|(now, by, _)| *now == 0.0 && *by != 0.0) {
        Some((.., name)) => Err(GradientError::NotBuilt {
            what: format!("the {name} of a contact by parameter {parameter}"),
            why: "it is zero, where another branch begins",
        }),
        None => Ok(()),
    }
}

/// Refuses mappings that move contacts, of families that do not know these.
///
/// # Errors
/// [`GradientError::NotBuilt`].
fn check_still(base: &Problem, contacts: &Contacts, [from, to]: [&State; 2]) -> Result<(), GradientError> {
    for i in 0..contacts.len() {
        for support in contacts.supports(i) {
            let node = base.node(support.node);
            let range = node.position_range();
            if from.positions[range.clone()] != to.positions[range] {
                return Err(GradientError::NotBuilt {
                    what: format!("contacts of `{}` by a parameter", node.name),
                    why: "it moves with the parameter: make the family with `family_of_simulations`",
                });
            }
        }
    }
    Ok(())
}
