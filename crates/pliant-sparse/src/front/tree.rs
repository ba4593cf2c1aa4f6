//! The elimination tree of a block graph and the heights of the columns of `L`, without forming
//! `L`.

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
/// compression).
pub(super) fn elimination_tree(count: usize, graph: &Adjacency<'_>) -> Vec<usize> {
    let mut parent = vec![NONE; count];
    let mut ancestor = vec![NONE; count];
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
    parent
}

/// Children of every vertex of a forest, as offsets and a list; ascending, roots last (as the
/// children of `parent.len()`).
pub(super) fn children(parent: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let count = parent.len();
    let place = |p: usize| p.min(count);
    let mut offsets = vec![0; count + 2];
    for p in parent {
        offsets[place(*p) + 1] += 1;
    }
    for k in 0..=count {
        offsets[k + 1] += offsets[k];
    }
    let mut next = offsets.clone();
    let mut list = vec![0; count];
    for (k, p) in parent.iter().enumerate() {
        list[next[place(*p)]] = k;
        next[place(*p)] += 1;
    }
    (offsets, list)
}

/// The vertices of a forest, children before parents and every subtree in one piece, siblings in
/// the order of the lists.
pub(super) fn postorder(offsets: &[usize], list: &[usize]) -> Vec<usize> {
    let count = list.len();
    let mut order = Vec::with_capacity(count);
    let mut next = offsets[..=count].to_vec();
    let mut stack = vec![count];
    while let Some(top) = stack.last().copied() {
        if next[top] < offsets[top + 1] {
            stack.push(list[next[top]]);
            next[top] += 1;
        } else {
            stack.pop();
            if top < count {
                order.push(top);
            }
        }
    }
    order
}

/// Unknowns in every column of `L`, with the diagonal block of its vertex, for vertices of the
/// given weights numbered in a postorder (Gilbert, Ng and Peyton, SIAM J. Matrix Anal. Appl. 15
/// (1994) 1075). Cost: nearly linear in the edges.
///
/// `neighbours(j)` are the neighbours of vertex `j` of the postorder, in its numbering.
pub(super) fn column_heights<I: Iterator<Item = usize>>(
    parent: &[usize],
    weights: &[usize],
    neighbours: impl Fn(usize) -> I,
) -> Vec<usize> {
    let count = parent.len();
    let mut first: Vec<usize> = (0..count).collect();
    let mut is_leaf = vec![true; count];
    for j in 0..count {
        if parent[j] != NONE {
            first[parent[j]] = first[parent[j]].min(first[j]);
            is_leaf[parent[j]] = false;
        }
    }
    let mut delta: Vec<isize> = (0..count)
        .map(|j| if is_leaf[j] { weights[j] as isize } else { 0 })
        .collect();
    let mut latest = vec![NONE; count];
    let mut previous = vec![NONE; count];
    let mut ancestor: Vec<usize> = (0..count).collect();
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
    delta.into_iter().map(|d| d as usize).collect()
}
