//! The elimination tree of a block graph and the heights of the columns of `L`, without forming
//! `L`.

use crate::fill;

pub(super) const NONE: usize = usize::MAX;

/// Neighbours of every vertex, as offsets and indices.
pub(super) struct Adjacency<'a> {
    pub(super) offsets: &'a [u32],
    pub(super) indices: &'a [u32],
}

impl Adjacency<'_> {
    pub(super) fn of(&self, vertex: usize) -> impl Iterator<Item = usize> {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        self.indices[range].iter().map(|i| *i as usize)
    }
}

/// Parents in the elimination tree of the order `0, 1, ..`; `NONE` for roots (Liu 1986, with path
/// compression). `ancestor` is scratch.
pub(super) fn elimination_tree(
    count: usize,
    graph: &Adjacency<'_>,
    ancestor: &mut Vec<usize>,
    parent: &mut Vec<usize>,
) {
    fill(parent, count, NONE);
    fill(ancestor, count, NONE);
    for i in 0..count {
        for k in graph.of(i).filter(|k| *k < i) {
            let mut r = k;
            while ancestor[r] != NONE && ancestor[r] != i {
                r = std::mem::replace(&mut ancestor[r], i);
            }
            if ancestor[r] == NONE {
                ancestor[r] = i;
                parent[r] = i;
            }
        }
    }
}

/// The trees of a forest by lists, and in an order.
#[derive(Debug, Default)]
pub(super) struct Forest {
    /// Children of every vertex; ascending, roots last (as the children of one more).
    pub(super) offsets: Vec<usize>,
    pub(super) list: Vec<usize>,
    /// The vertices, children before parents and every subtree in one piece, siblings in the order
    /// of the lists.
    pub(super) postorder: Vec<usize>,
    next: Vec<usize>,
    stack: Vec<usize>,
}

impl Forest {
    /// Lists the children.
    pub(super) fn find_children(&mut self, parent: &[usize]) {
        let Self {
            offsets, list, next, ..
        } = self;
        let count = parent.len();
        let place = |p: usize| p.min(count);
        fill(offsets, count + 2, 0);
        for p in parent {
            offsets[place(*p) + 1] += 1;
        }
        for k in 0..=count {
            offsets[k + 1] += offsets[k];
        }
        next.clone_from(offsets);
        fill(list, count, 0);
        for (k, p) in parent.iter().enumerate() {
            list[next[place(*p)]] = k;
            next[place(*p)] += 1;
        }
    }

    /// Orders the vertices, by the lists of their children.
    pub(super) fn find_postorder(&mut self) {
        let Self {
            offsets,
            list,
            postorder,
            next,
            stack,
        } = self;
        let count = list.len();
        postorder.clear();
        postorder.reserve(count);
        next.clear();
        next.extend_from_slice(&offsets[..=count]);
        stack.clear();
        stack.push(count);
        while let Some(top) = stack.last().copied() {
            if next[top] < offsets[top + 1] {
                stack.push(list[next[top]]);
                next[top] += 1;
            } else {
                stack.pop();
                if top < count {
                    postorder.push(top);
                }
            }
        }
    }
}

/// Unknowns in every column of `L`, and scratch to find them.
#[derive(Debug, Default)]
pub(super) struct ColumnHeights {
    /// With the diagonal block of the vertex of the column.
    pub(super) heights: Vec<usize>,
    first: Vec<usize>,
    is_leaf: Vec<bool>,
    delta: Vec<isize>,
    latest: Vec<usize>,
    previous: Vec<usize>,
    ancestor: Vec<usize>,
}

impl ColumnHeights {
    /// Counts for vertices of the given weights numbered in a postorder (Gilbert, Ng and Peyton,
    /// SIAM J. Matrix Anal. Appl. 15 (1994) 1075). Cost: nearly linear in the edges.
    ///
    /// `neighbours(j)` are the neighbours of vertex `j` of the postorder, in its numbering.
    pub(super) fn find<I: Iterator<Item = usize>>(
        &mut self,
        parent: &[usize],
        weights: &[usize],
        neighbours: impl Fn(usize) -> I,
    ) {
        let Self {
            heights,
            first,
            is_leaf,
            delta,
            latest,
            previous,
            ancestor,
        } = self;
        let count = parent.len();
        first.clear();
        first.extend(0..count);
        fill(is_leaf, count, true);
        for j in 0..count {
            if parent[j] != NONE {
                first[parent[j]] = first[parent[j]].min(first[j]);
                is_leaf[parent[j]] = false;
            }
        }
        delta.clear();
        delta.extend((0..count).map(|j| if is_leaf[j] { weights[j] as isize } else { 0 }));
        fill(latest, count, NONE);
        fill(previous, count, NONE);
        ancestor.clear();
        ancestor.extend(0..count);
        for j in 0..count {
            if parent[j] != NONE {
                delta[parent[j]] -= weights[j] as isize;
            }
            for i in neighbours(j).filter(|i| *i > j) {
                // Is j a leaf of the row subtree of i?
                if latest[i] != NONE && first[j] <= latest[i] {
                    continue;
                }
                latest[i] = first[j];
                delta[j] += weights[i] as isize;
                let before = std::mem::replace(&mut previous[i], j);
                if before != NONE {
                    let mut q = before;
                    while q != ancestor[q] {
                        q = ancestor[q];
                    }
                    let mut s = before;
                    while s != q {
                        s = std::mem::replace(&mut ancestor[s], q);
                    }
                    delta[q] -= weights[i] as isize;
                }
            }
            if parent[j] != NONE {
                ancestor[j] = parent[j];
            }
        }
        for j in 0..count {
            if parent[j] != NONE {
                delta[parent[j]] += delta[j];
            }
        }
        heights.clear();
        heights.extend(delta.iter().map(|d| *d as usize));
    }
}
