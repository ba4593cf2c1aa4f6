//! Which elements of its parents every element of a mapped node depends on.

use crate::{Dependency, Mapping};

/// The dependencies of all elements of a node, one list after the other. Elements that follow each
/// other and depend on the same share a list: the points of a finite element.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The list of each element; none where every element has its own.
    of_element: Vec<u32>,
    /// Where each list begins.
    starts: Vec<usize>,
    all: Vec<Dependency>,
}

impl Lists {
    /// Asks a mapping for those of `count` elements.
    pub(super) fn of(mapping: &dyn Mapping, count: usize) -> Self {
        let (mut starts, mut all) = (vec![0], Vec::new());
        let mut of_element = Vec::with_capacity(count);
        let (mut list, mut last) = (Vec::new(), 0);
        // Lists are no more than elements: where these have numbers of 32 bits, so have those.
        let may_share = u32::try_from(count).is_ok();
        for element in 0..count {
            list.clear();
            mapping.dependencies(element, &mut list);
            if element == 0 || !may_share || all[last..] != list[..] {
                last = all.len();
                all.extend_from_slice(&list);
                starts.push(all.len());
            }
            of_element.push((starts.len() - 2) as u32);
        }
        if starts.len() == count + 1 {
            of_element = Vec::new();
        }
        starts.shrink_to_fit();
        all.shrink_to_fit();
        Self {
            of_element,
            starts,
            all,
        }
    }

    /// Dependencies of one element.
    #[inline(always)]
    pub(super) fn on(&self, element: usize) -> &[Dependency] {
        let list = self
            .of_element
            .get(element)
            .map_or(element, |list| *list as usize);
        &self.all[self.starts[list]..self.starts[list + 1]]
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        match self.of_element.len() {
            0 => self.starts.len().saturating_sub(1),
            count => count,
        }
    }

    /// Dependencies of every element.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[Dependency]> + Clone {
        (0..self.len()).map(|e| self.on(e))
    }

    /// Whether every element depends on the element of its own number alone, of the only parent.
    pub(super) fn are_one_to_one(&self) -> bool {
        let alone = |(e, list): (usize, &[Dependency])| *list == [Dependency::new(0, e)];
        self.iter().enumerate().all(alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blocks, Degenerate, Parents, Space};

    /// Elements with given dependencies on one parent.
    #[derive(Debug)]
    struct Given(Vec<Vec<usize>>);

    impl Mapping for Given {
        fn child(&self) -> (Space, usize) {
            (Space::Real(1), self.0.len())
        }

        fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
            out.extend(self.0[element].iter().map(|e| Dependency::new(0, *e)));
        }

        fn apply(&self, _: Parents<'_>, _: &mut [f64]) -> Result<(), Degenerate> {
            Ok(())
        }

        fn jacobian(&self, _: Parents<'_>, _: &mut Blocks) -> Result<(), Degenerate> {
            Ok(())
        }
    }

    #[test]
    fn elements_have_their_own_dependencies_whether_lists_are_shared_or_not() {
        for (given, kept, one_to_one) in [
            (vec![vec![0], vec![1], vec![2]], 3, true),
            (vec![vec![0], vec![1], vec![1]], 2, false),
            (vec![vec![1], vec![0]], 2, false),
            (
                vec![vec![3, 1], vec![3, 1], vec![1, 3], vec![], vec![], vec![3, 1]],
                6,
                false,
            ),
            (vec![], 0, true),
        ] {
            let lists = Lists::of(&Given(given.clone()), given.len());
            assert_eq!((lists.len(), lists.all.len()), (given.len(), kept));
            for (e, expected) in given.iter().enumerate() {
                let found: Vec<usize> = lists.on(e).iter().map(|d| d.element).collect();
                assert_eq!(found, *expected);
            }
            assert_eq!(lists.are_one_to_one(), one_to_one);
        }
    }
}
