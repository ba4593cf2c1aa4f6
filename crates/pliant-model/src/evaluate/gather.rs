//! Forces that come back to one parent, sorted by where they arrive, so that threads may share
//! them.

use super::lists::Lists;
use crate::blocks::PIECE;
use std::convert::Infallible;

/// Which elements of a child depend on each element of its only parent, and as which of their
/// dependencies; by the order of the elements.
#[derive(Clone, Debug)]
pub(super) struct Gather {
    /// Where those of each element of the parent begin.
    starts: Vec<u32>,
    list: Vec<(u32, u32)>,
}

impl Gather {
    /// Of the dependencies of all elements of a child on the `count` elements of one parent. None
    /// where there are too few to share, or more than 32 bits count.
    pub(super) fn new(lists: &Lists, count: usize) -> Option<Self> {
        let all: usize = lists.iter().map(<[_]>::len).sum();
        if lists.len() <= PIECE || u32::try_from(all.max(lists.len())).is_err() {
            return None;
        }
        let mut starts = vec![0u32; count + 1];
        for at in lists.iter().flatten() {
            starts[at.element + 1] += 1;
        }
        for p in 0..count {
            starts[p + 1] += starts[p];
        }
        let mut next = starts.clone();
        let mut list = vec![(0, 0); all];
        for (e, dependencies) in lists.iter().enumerate() {
            for (a, at) in dependencies.iter().enumerate() {
                list[next[at.element] as usize] = (e as u32, a as u32);
                next[at.element] += 1;
            }
        }
        Some(Self { starts, list })
    }

    /// Elements of the parent.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Dependents of an element of the parent: elements of the child, and as which of their
    /// dependencies it counts.
    pub(super) fn on(&self, parent: usize) -> impl Iterator<Item = (usize, usize)> {
        let range = self.starts[parent] as usize..self.starts[parent + 1] as usize;
        self.list[range].iter().map(|(e, a)| (*e as usize, *a as usize))
    }
}

/// The result of work that cannot fail.
pub(super) fn certainly(done: Result<(), Infallible>) {
    let Ok(()) = done;
}
