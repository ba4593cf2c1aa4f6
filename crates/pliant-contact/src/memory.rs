//! Which contact is which from one update to the next.

use pliant_dense::Vec3;

use crate::ContactError;

/// The identities of contacts: plain values, to be kept with a checkpoint. Restored, the next
/// update goes on bit for bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactMemory {
    /// The serial that the next new contact gets.
    pub next_serial: u64,
    /// The memory of each contact, in the order of colliders and serials.
    pub entries: Vec<Remembered>,
}

/// The memory of one contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Remembered {
    /// The colliders, the lower number first.
    pub colliders: [u32; 2],
    /// The serial of its key.
    pub serial: u64,
    /// Updates it has lasted.
    pub age: u32,
    /// Which elements, corners and edges met.
    pub feature: [u64; 2],
    /// Where it was on each side (m): in body axes, in the world for what is fixed, and for points
    /// of a node where they should be in the world a horizon later.
    pub places: [[f64; 3]; 2],
}

impl ContactMemory {
    pub(crate) fn check(&self, colliders: usize) -> Result<(), ContactError> {
        let named = self.entries.iter().flat_map(|e| e.colliders).map(|c| c as usize);
        if let Some(collider) = named.max().filter(|c| *c >= colliders) {
            let count = colliders;
            return Err(ContactError::Memory { collider, count });
        }
        let named = |e: &Remembered| e.serial < self.next_serial && self.next_serial < u64::MAX / 2;
        let finite = |e: &Remembered| e.places.as_flattened().iter().all(|x| x.is_finite());
        match self.entries.iter().find(|e| !named(e) || !finite(e)) {
            Some(entry) => Err(ContactError::Remembered {
                colliders: entry.colliders,
            }),
            None => Ok(()),
        }
    }
}

/// A contact that has no name yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unnamed {
    pub(crate) feature: [u64; 2],
    /// Places on both surfaces, as in [`Remembered`], of this update.
    pub(crate) next: [[f64; 3]; 2],
    /// Where a remembered place would be found if the contact had stayed there.
    pub(crate) now: [[f64; 3]; 2],
    /// How far (m) a contact may move over both surfaces and still be the same.
    pub(crate) reach: f64,
}

impl Unnamed {
    /// How far it is from where a remembered contact was, over the surface on which that is nearer
    /// (m).
    fn distance(&self, entry: &Remembered) -> f64 {
        let moved = |side: usize| (Vec3::from(entry.places[side]) - Vec3::from(self.now[side])).norm();
        moved(0).min(moved(1))
    }

    /// Whether it may be a remembered contact of its pair.
    pub(crate) fn may_be(&self, entry: &Remembered) -> bool {
        self.feature == entry.feature || self.distance(entry) <= self.reach
    }
}

/// Room for matching.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    old_used: Vec<bool>,
    by_feature: Vec<([u64; 2], usize)>,
    new_to_old: Vec<Option<usize>>,
    distances: Vec<(f64, usize, usize)>,
}

impl Matching {
    /// For each of the new contacts of a pair, the old one that it is: that of the same feature;
    /// else, nearest first, one that has not moved farther than `reach` over one of the two
    /// surfaces.
    pub(crate) fn run(&mut self, old: &[Remembered], new: &[Unnamed]) -> &[Option<usize>] {
        self.old_used.clear();
        self.old_used.resize(old.len(), false);
        self.new_to_old.clear();
        self.new_to_old.resize(new.len(), None);
        self.by_feature.clear();
        self.by_feature
            .extend(old.iter().zip(0..).map(|(entry, i)| (entry.feature, i)));
        self.by_feature.sort_unstable();
        for (k, contact) in new.iter().enumerate() {
            let first = self.by_feature.partition_point(|f| f.0 < contact.feature);
            let same = self.by_feature[first..]
                .iter()
                .take_while(|f| f.0 == contact.feature);
            if let Some(&(_, i)) = same.into_iter().find(|f| !self.old_used[f.1]) {
                self.old_used[i] = true;
                self.new_to_old[k] = Some(i);
            }
        }
        self.distances.clear();
        for (k, contact) in new
            .iter()
            .enumerate()
            .filter(|(k, _)| self.new_to_old[*k].is_none())
        {
            for (i, entry) in old.iter().enumerate().filter(|(i, _)| !self.old_used[*i]) {
                let distance = contact.distance(entry);
                if distance <= contact.reach {
                    self.distances.push((distance, k, i));
                }
            }
        }
        self.distances
            .sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        for &(_, k, i) in &self.distances {
            if self.new_to_old[k].is_none() && !self.old_used[i] {
                self.old_used[i] = true;
                self.new_to_old[k] = Some(i);
            }
        }
        &self.new_to_old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two contacts that changed places in the list, and their features: each has the name of the
    /// one that it is nearest to, whatever the order.
    #[test]
    fn the_nearest_pair_is_named_first() {
        let old = [0.0, 1.0].map(|x| Remembered {
            feature: [x as u64, 0],
            places: [[x, 0.0, 0.0]; 2],
            ..Remembered::default()
        });
        let new = [0.9, 0.2].map(|x| Unnamed {
            feature: [7, 7],
            next: [[x, 0.0, 0.0]; 2],
            now: [[x, 0.0, 0.0]; 2],
            reach: 2.0,
        });
        let mut matching = Matching::default();
        assert_eq!(matching.run(&old, &new), [Some(1), Some(0)]);
        // Too far for its reach.
        let far = new.map(|n| Unnamed { reach: 0.15, ..n });
        assert_eq!(matching.run(&old, &far), [Some(1), None]);
    }
}
