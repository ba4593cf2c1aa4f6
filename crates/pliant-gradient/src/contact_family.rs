//! How the contacts of a step move with the parameters of a family of models.

use crate::GradientError;
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

/// Weights of the points of a stencil in the derivative of second order, for one step between its inner
/// points, and in the value between them.
const SECOND: [f64; 4] = [0.0, -0.5, 0.5, 0.0];
const MEAN: [f64; 4] = [-1.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0, -1.0 / 6.0];

/// Difference of the derivatives of second and of fourth order of a smooth way, and of its middle from the
/// contact of the step, for a change of the parameter by its scale, as a share of one and of the derivative.
const SMOOTH: f64 = 1e-4;

/// Contacts that change with a parameter, the state at the start held.
#[derive(Debug, Default)]
pub(crate) struct ContactChanges {
    samples: Vec<ContactSample>,
    found: Vec<ContactSample>,
    /// The derivatives of second order, and the difference of the middle of the way from the contact.
    second: Vec<ContactPlace>,
    middle: Vec<ContactPlace>,
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

    /// Finds how the contacts of a step change with a parameter.
    ///
    /// # Errors
    /// All errors of [`FamilyContacts::at`]; [`GradientError::NotBuilt`] where contacts act on other
    /// elements, a law begins to act, or a family without contacts has mappings that move them.
    pub(crate) fn find(
        &mut self,
        family: &mut Family,
        base: &Problem,
        parameter: usize,
        step: ContactStep<'_>,
    ) -> Result<(), GradientError> {
        let Self {
            samples,
            found,
            second,
            middle,
            velocities,
        } = self;
        samples.clear();
        samples.extend((0..step.contacts.len()).map(|i| still(step.contacts.supports(i))));
        for list in [&mut *second, &mut *middle] {
            list.clear();
            list.extend(samples.iter().map(|sample| sample.place.clone()));
        }
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
        let mut source = family.contacts.take();
        let scale = family.scale(parameter)?;
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
            for (i, (from, to)) in own.iter().zip(&*found).enumerate() {
                add(&mut samples[i], weight, [from, to])?;
                add_place(&mut second[i], SECOND[point], [&from.place, &to.place]);
                add_place(&mut middle[i], MEAN[point], [&from.place, &to.place]);
            }
            Ok(())
        });
        family.contacts = source;
        each?;
        for (i, sample) in samples.iter().enumerate() {
            check_smooth(&sample.place, [&second[i], &middle[i]], scale)?;
            check_begins(step.contacts.law(i), &sample.law, parameter)?;
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

/// Adds `weight` times what a contact is more than the one of the step to its derivative.
///
/// # Errors
/// [`GradientError::NotBuilt`] where it acts on other elements.
fn add(out: &mut ContactSample, weight: f64, [from, to]: [&ContactSample; 2]) -> Result<(), GradientError> {
    let place = |s: &Support| (s.node, s.element);
    let [own, other] = [from, to].map(|sample| sample.place.supports.iter().map(place));
    let same = own.eq(other);
    if !same {
        return Err(GradientError::NotBuilt {
            what: "a contact by a parameter".to_owned(),
            why: "it acts on other elements close by: there is no derivative there",
        });
    }
    add_place(&mut out.place, weight, [&from.place, &to.place]);
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

/// Adds `weight` times the difference of two places of the same elements.
fn add_place(out: &mut ContactPlace, weight: f64, [from, to]: [&ContactPlace; 2]) {
    out.gap += weight * (to.gap - from.gap);
    for k in 0..3 {
        out.normal[k] += weight * (to.normal[k] - from.normal[k]);
    }
    let pairs = from.supports.iter().zip(&to.supports);
    for (out, (from, to)) in out.supports.iter_mut().zip(pairs) {
        out.weight += weight * (to.weight - from.weight);
        for k in 0..3 {
            out.arm[k] += weight * (to.arm[k] - from.arm[k]);
        }
    }
}

/// Refuses contacts whose places jump with a parameter, from its derivatives of fourth and of second order
/// (the latter for one step of the stencil) and the difference in the middle.
///
/// # Errors
/// [`GradientError::NotBuilt`].
fn check_smooth(
    fourth: &ContactPlace,
    [second, middle]: [&ContactPlace; 2],
    [scale, step]: [f64; 2],
) -> Result<(), GradientError> {
    let numbers = |place: &ContactPlace| {
        let arms = place
            .supports
            .iter()
            .flat_map(|s| s.arm.into_iter().chain([s.weight]));
        let all = place.normal.into_iter().chain([place.gap]).chain(arms);
        all.collect::<Vec<f64>>()
    };
    let [fourth, second, middle] = [fourth, second, middle].map(numbers);
    let size = fourth
        .iter()
        .fold(1.0f64, |size, by| size.max((by * scale).abs()));
    let pairs = fourth.iter().zip(&second);
    let mut jumps = pairs.map(|(a, b)| a * scale - b * scale / step);
    let is_smooth = jumps.all(|jump| jump.abs() <= SMOOTH * size)
        && middle
            .iter()
            .all(|off| (off * scale / step).abs() <= SMOOTH * size);
    match is_smooth {
        true => Ok(()),
        false => Err(GradientError::NotBuilt {
            what: "a contact by a parameter".to_owned(),
            why: "its place jumps close by: there is no derivative there",
        }),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Smooth ways pass, and places that jump between two points of the stencil, or that are others than
    /// that of the step, do not.
    #[test]
    fn places_that_jump_have_no_derivative() {
        let (scale, step) = (2.0, 2e-3);
        let check = |gap: &dyn Fn(f64) -> f64, own: f64| {
            let at = [-2.0, -1.0, 1.0, 2.0].map(|k| gap(k * step) - own);
            let sum = |weights: [f64; 4]| weights.iter().zip(at).map(|(w, x)| w * x).sum::<f64>();
            let place = |gap| ContactPlace {
                gap,
                ..ContactPlace::default()
            };
            let fourth = sum([1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0]) / step;
            let others = [place(sum(SECOND)), place(sum(MEAN))];
            check_smooth(&place(fourth), [&others[0], &others[1]], [scale, step]).is_ok()
        };
        assert!(check(&|x| 0.3 + 0.2 * x, 0.3) && check(&|x| (3.0 * x).sin(), 0.0));
        for jump in [1e-6, -1e-2] {
            for place in [-1.5, -0.5, 0.5, 1.5] {
                let jumps = |x: f64| 0.2 * x + if x > place * step { jump } else { 0.0 };
                assert!(!check(&jumps, jumps(0.0)), "{jump} {place}");
            }
            assert!(!check(&|x| 0.2 * x, jump), "{jump}");
        }
    }
}
