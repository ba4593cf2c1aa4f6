//! Contacts of one state, with the elements that they act on.

use super::ContactLaw;
use crate::motion::clone_into_buffers;
use pliant_kkt::Support;
use pliant_model::Model;
use std::collections::BTreeMap;

/// The identity of a contact from step to step: its impulse starts the next solve, and events are
/// told by it. A finder makes it of the two sides and of where on them the contact is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactKey(pub u64, pub u64);

/// A point where two surfaces touch, or may touch within the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Contact {
    /// Its identity over the steps.
    pub key: ContactKey,
    /// Its point in the world (m).
    pub point: [f64; 3],
    /// Unit vector from the first side to the second.
    pub normal: [f64; 3],
    /// Distance along the normal (m); negative where they overlap.
    pub gap: f64,
    /// The law between them.
    pub law: ContactLaw,
    /// The two sides, by the numbers of the finder.
    pub sides: [u32; 2],
}

impl Contact {
    /// Energy that it stores (J): of compliant ones that overlap.
    pub fn stored(&self) -> f64 {
        match self.law.compliance > 0.0 && self.gap < 0.0 {
            true => 0.5 * self.gap * self.gap / self.law.compliance,
            false => 0.0,
        }
    }
}

/// Compliant contacts of two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StoredPair {
    /// Energy that they store (J).
    pub energy: f64,
    /// The deepest overlap of those that do (m).
    pub depth: f64,
}

/// The contacts of one step, with the elements that they act on.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactList {
    contacts: Vec<Contact>,
    /// Where each contact's supports end.
    ends: Vec<usize>,
    supports: Vec<Support>,
}

clone_into_buffers!(ContactList {
    contacts,
    ends,
    supports,
});

impl ContactList {
    /// The pairs of sides whose contacts store energy.
    pub(super) fn stored_pairs(&self) -> BTreeMap<[u32; 2], StoredPair> {
        let mut pairs = BTreeMap::new();
        for contact in self.contacts.iter().filter(|c| c.stored() > 0.0) {
            let pair: &mut StoredPair = pairs.entry(contact.sides).or_default();
            pair.energy += contact.stored();
            pair.depth = pair.depth.max(-contact.gap);
        }
        pairs
    }

    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.ends.clear();
        self.supports.clear();
    }

    /// Adds a contact between a point of the first side and one of the second, each carried by
    /// supports whose weights sum to one (a body with an arm, three corners of a triangle, ...), or
    /// by none if it is at rest in the world.
    pub fn push(
        &mut self,
        contact: Contact,
        first: impl IntoIterator<Item = Support>,
        second: impl IntoIterator<Item = Support>,
    ) {
        self.contacts.push(contact);
        self.supports.extend(first.into_iter().map(|s| Support {
            weight: -s.weight,
            ..s
        }));
        self.supports.extend(second);
        self.ends.push(self.supports.len());
    }

    /// Whether it is one of a model: written values that were changed by hand are not.
    pub(super) fn fits(&self, model: &Model) -> bool {
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        let known = |s: &Support| {
            let node = model.nodes().get(s.node.index());
            node.is_some_and(|node| node.space.is_spatial() && s.element < node.count)
                && finite(&[s.weight])
                && finite(&s.arm)
        };
        self.ends.len() == self.contacts.len()
            && self.ends.is_sorted()
            && self.ends.last().copied().unwrap_or(0) == self.supports.len()
            && self.supports.iter().all(known)
            && self.contacts.iter().all(|c| finite(&c.point))
    }

    /// The contacts in order.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// The elements that contact `i` acts on: positive shares move its second side.
    pub fn supports(&self, i: usize) -> &[Support] {
        let first = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.supports[first..self.ends[i]]
    }

    /// The contacts in order, each with the elements that it acts on.
    pub(crate) fn with_supports(&self) -> impl Iterator<Item = (&Contact, &[Support])> {
        let contacts = self.contacts.iter().enumerate();
        contacts.map(|(i, contact)| (contact, self.supports(i)))
    }

    /// Keeps the contacts whose supports satisfy `keep`.
    pub(crate) fn retain(&mut self, keep: impl Fn(&[Support]) -> bool) {
        self.filter(|_, supports| keep(supports), None);
    }

    /// Moves the contacts that do not satisfy `keep` behind those of another list.
    pub(crate) fn part(&mut self, keep: impl Fn(&Contact) -> bool, aside: &mut Self) {
        self.filter(|contact, _| keep(contact), Some(aside));
    }

    fn filter(&mut self, keep: impl Fn(&Contact, &[Support]) -> bool, mut aside: Option<&mut Self>) {
        let (mut kept, mut end, mut first) = (0, 0, 0);
        for i in 0..self.contacts.len() {
            let supports = first..self.ends[i];
            first = supports.end;
            let contact = self.contacts[i];
            if keep(&contact, &self.supports[supports.clone()]) {
                self.contacts[kept] = contact;
                self.supports.copy_within(supports.clone(), end);
                end += supports.len();
                self.ends[kept] = end;
                kept += 1;
            } else if let Some(aside) = &mut aside {
                aside.contacts.push(contact);
                aside.supports.extend_from_slice(&self.supports[supports]);
                aside.ends.push(aside.supports.len());
            }
        }
        self.contacts.truncate(kept);
        self.ends.truncate(kept);
        self.supports.truncate(end);
    }

    /// Adds contact `i` of another list.
    pub fn take(&mut self, other: &Self, i: usize) {
        self.contacts.push(other.contacts[i]);
        self.supports.extend_from_slice(other.supports(i));
        self.ends.push(self.supports.len());
    }

    /// Adds contact `i` of another list, with a gap (m) for its own.
    pub(super) fn take_with_gap(&mut self, other: &Self, i: usize, gap: f64) {
        self.take(other, i);
        if let Some(last) = self.contacts.last_mut() {
            last.gap = gap;
        }
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }
}
