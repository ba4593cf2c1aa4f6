//! Weighted sums of points, which several mappings are.

use crate::{Blocks, Dependency, Parents};

/// Per element of the child a list of elements of parents and their weights.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weighted {
    pub(super) dimension: usize,
    pub(super) groups: Vec<Vec<(Dependency, f64)>>,
}

impl Weighted {
    /// A reason why a group is none: empty, or an element twice.
    pub(super) fn defect(&self) -> Option<(usize, &'static str)> {
        let mut seen = Vec::new();
        for (e, group) in self.groups.iter().enumerate() {
            if group.is_empty() {
                return Some((e, "its group is empty"));
            }
            seen.clear();
            seen.extend(group.iter().map(|(at, _)| (at.parent, at.element)));
            seen.sort_unstable();
            if seen.windows(2).any(|pair| pair[0] == pair[1]) {
                return Some((e, "an element is twice in its group"));
            }
        }
        None
    }

    pub(super) fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.groups[element].iter().map(|(at, _)| *at));
    }

    pub(super) fn apply(&self, parents: &Parents<'_>, child: &mut [f64]) {
        child.fill(0.0);
        for (sum, group) in child.chunks_exact_mut(self.dimension).zip(&self.groups) {
            for (at, weight) in group {
                for (sum, x) in sum.iter_mut().zip(parents.position(*at)) {
                    *sum += weight * x;
                }
            }
        }
    }

    pub(super) fn jacobian(&self, parents: &Parents<'_>, out: &mut Blocks) {
        for (e, group) in self.groups.iter().enumerate() {
            let width = out.width(e);
            let block = out.block_mut(e);
            let mut column = 0;
            for (at, weight) in group {
                for k in 0..self.dimension {
                    block[k * width + column + k] = *weight;
                }
                column += parents.space(at.parent).velocity_size();
            }
        }
    }
}
