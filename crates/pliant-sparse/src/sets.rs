//! Disjoint sets of indices: the connected parts of a graph whose edges come one by one.

/// A partition of `0..n` into disjoint sets, which are joined two by two. A set is named by its
/// least member, whatever the order of the joins, so that what follows from the partition is
/// deterministic.
///
/// Method: a forest with path halving (van Leeuwen and van der Weide 1977). Cost of `root` and
/// `join`: amortised `O(log n)`, next to constant in practice. The buffers are kept:
/// [`reset`](Self::reset) to a size that was there before allocates nothing.
///
/// ```
/// use pliant_sparse::DisjointSets;
/// let mut sets = DisjointSets::new(5);
/// sets.join(4, 2);
/// sets.join(2, 1);
/// assert_eq!((sets.root(4), sets.root(3)), (1, 3));
/// assert_eq!(sets.roots(), [0, 1, 1, 3, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisjointSets {
    /// For each index another member of its set that is no larger; itself for the least one.
    up: Vec<u32>,
}

impl DisjointSets {
    /// Sets of one index each.
    ///
    /// # Panics
    /// If `n` does not fit 32 bits.
    pub fn new(n: usize) -> Self {
        let mut out = Self::default();
        out.reset(n);
        out
    }

    /// Parts all sets again, and makes them those of `0..n`.
    ///
    /// # Panics
    /// If `n` does not fit 32 bits.
    pub fn reset(&mut self, n: usize) {
        assert!(u32::try_from(n).is_ok(), "{n} indices do not fit 32 bits");
        self.up.clear();
        self.up.extend(0..n as u32);
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        self.up.len()
    }

    /// Whether there is no index.
    pub fn is_empty(&self) -> bool {
        self.up.is_empty()
    }

    /// The least member of the set of `i`.
    ///
    /// # Panics
    /// If there is no such index.
    pub fn root(&mut self, i: usize) -> usize {
        let mut i = i;
        while self.up[i] as usize != i {
            let above = self.up[self.up[i] as usize];
            self.up[i] = above;
            i = above as usize;
        }
        i
    }

    /// Joins the sets of two indices.
    ///
    /// # Panics
    /// If there is no such index.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.up[a.max(b)] = a.min(b) as u32;
    }

    /// The least member of the set of every index, n.
    pub fn roots(&mut self) -> &[u32] {
        // Upwards: what an index points to is a root already.
        for i in 0..self.up.len() {
            self.up[i] = self.up[self.up[i] as usize];
        }
        &self.up
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against labels that are rewritten by every join, in two orders of the joins.
        #[test]
        fn a_set_is_named_by_its_least_member(
            n in 1usize..40,
            joins in prop::collection::vec((0usize..40, 0usize..40), 0..60),
        ) {
            let joins: Vec<_> = joins.into_iter().map(|(a, b)| (a % n, b % n)).collect();
            let mut labels: Vec<u32> = (0..n as u32).collect();
            let mut sets = DisjointSets::new(n);
            for (a, b) in &joins {
                let (low, high) = (labels[*a].min(labels[*b]), labels[*a].max(labels[*b]));
                labels.iter_mut().filter(|l| **l == high).for_each(|l| *l = low);
                sets.join(*a, *b);
                prop_assert_eq!(sets.root(*b), low as usize);
            }
            let mut backwards = DisjointSets::new(n);
            joins.iter().rev().for_each(|(a, b)| backwards.join(*b, *a));
            prop_assert_eq!(sets.roots(), &labels[..]);
            prop_assert_eq!(backwards.roots(), &labels[..]);
        }
    }

    #[test]
    fn buffers_are_used_again() {
        let mut sets = DisjointSets::new(6);
        sets.join(5, 0);
        let before = sets.up.as_ptr();
        sets.reset(6);
        assert_eq!((sets.root(5), sets.len(), sets.up.as_ptr()), (5, 6, before));
        sets.reset(0);
        assert!(sets.is_empty() && sets.roots().is_empty());
    }
}
