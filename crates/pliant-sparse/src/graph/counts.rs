//! Cost of an order of elimination, without forming the pattern of `L`.

use super::adjacency::Adjacency;
use crate::fill;

/// Predicted size and work of an `L D L^T` by dense blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EliminationCost {
    /// Entries of `L` with its diagonal, all of those in a block counted.
    pub entries: u64,
    /// Floating-point operations of one factorisation that uses symmetry; saturates.
    pub flops: u64,
    /// Of these, the operations on the path to a root of the elimination tree that has most: what
    /// any number of threads has to do one after another if each vertex is one task.
    pub critical_flops: u64,
}

const NONE: u32 = u32::MAX;

/// Scratch of [`cost`].
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    rank: Vec<u32>,
    parent: Vec<u32>,
    ancestor: Vec<u32>,
    child: Vec<u32>,
    sibling: Vec<u32>,
    post: Vec<u32>,
    stack: Vec<u32>,
    first: Vec<u32>,
    count: Vec<i64>,
    latest_first: Vec<u32>,
    latest_leaf: Vec<u32>,
    path: Vec<u64>,
}

/// Parent of each vertex in the elimination tree, in terms of places in the order. Source: Liu, The
/// role of elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11 (1990). Cost:
/// nearly linear.
pub(super) fn parents(
    graph: &Adjacency,
    order: &[u32],
    rank: &[u32],
    ancestor: &mut Vec<u32>,
    parent: &mut Vec<u32>,
) {
    let n = order.len();
    fill(parent, n, NONE);
    fill(ancestor, n, NONE);
    for k in 0..n as u32 {
        for u in graph.of(order[k as usize] as usize) {
            let mut i = rank[*u as usize];
            // Climb from earlier neighbours to the root, which becomes a child; shorten the way for
            // the next ones.
            while i < k {
                let next = ancestor[i as usize];
                ancestor[i as usize] = k;
                if next == NONE {
                    parent[i as usize] = k;
                    break;
                }
                i = next;
            }
        }
    }
}

impl Scratch {
    /// Places in an order in which each subtree comes in one piece, its root last.
    fn find_postorder(&mut self) {
        let Self {
            parent,
            child,
            sibling,
            post,
            stack,
            ..
        } = self;
        let n = parent.len();
        fill(child, n, NONE);
        fill(sibling, n, NONE);
        for k in (0..n).rev() {
            if parent[k] != NONE {
                sibling[k] = child[parent[k] as usize];
                child[parent[k] as usize] = k as u32;
            }
        }
        post.clear();
        post.reserve(n);
        stack.clear();
        for root in (0..n as u32).filter(|k| parent[*k as usize] == NONE) {
            stack.push(root);
            while let Some(k) = stack.last().copied() {
                let c = child[k as usize];
                if c == NONE {
                    post.push(k);
                    stack.pop();
                } else {
                    child[k as usize] = sibling[c as usize];
                    stack.push(c);
                }
            }
        }
    }
}

/// Cost of eliminating the vertices in the order given: the unknowns of each column of `L` are
/// counted from the leaves of the row subtrees (Gilbert, Ng and Peyton, An efficient algorithm to
/// compute row and column counts for sparse Cholesky factorization, SIAM J. Matrix Anal. Appl. 15
/// (1994)), each row with the number of its unknowns as weight. Cost: nearly linear in the edges.
pub(super) fn cost(graph: &Adjacency, order: &[u32], scratch: &mut Scratch) -> EliminationCost {
    let n = order.len();
    fill(&mut scratch.rank, n, 0);
    for (k, v) in order.iter().enumerate() {
        scratch.rank[*v as usize] = k as u32;
    }
    parents(
        graph,
        order,
        &scratch.rank,
        &mut scratch.ancestor,
        &mut scratch.parent,
    );
    scratch.find_postorder();
    let Scratch {
        rank,
        parent,
        ancestor,
        post,
        first,
        count,
        latest_first,
        latest_leaf,
        path,
        ..
    } = scratch;
    let weight = |k: u32| i64::from(graph.weights[order[k as usize] as usize]);
    // First descendant of each vertex, as a number in the postorder.
    fill(first, n, NONE);
    // Unknowns of rows that start in a column less those that end below it; summed over subtrees:
    // all unknowns of a column.
    fill(count, n, 0);
    for (at, k) in post.iter().enumerate() {
        if first[*k as usize] == NONE {
            count[*k as usize] += weight(*k);
        }
        let mut k = *k;
        while k != NONE && first[k as usize] == NONE {
            first[k as usize] = at as u32;
            k = parent[k as usize];
        }
    }
    fill(latest_first, n, NONE);
    fill(latest_leaf, n, NONE);
    ancestor.clear();
    ancestor.extend(0..n as u32);
    for k in post.iter().copied() {
        if parent[k as usize] != NONE {
            count[parent[k as usize] as usize] -= weight(k);
        }
        for u in graph.of(order[k as usize] as usize) {
            let i = rank[*u as usize];
            let known = latest_first[i as usize];
            // `k` is a leaf of the row subtree of `i` unless a descendant of it was there before.
            if i <= k || (known != NONE && first[k as usize] <= known) {
                continue;
            }
            latest_first[i as usize] = first[k as usize];
            count[k as usize] += weight(i);
            let before = std::mem::replace(&mut latest_leaf[i as usize], k);
            if before != NONE {
                count[common(ancestor, before) as usize] -= weight(i);
            }
        }
        if parent[k as usize] != NONE {
            ancestor[k as usize] = parent[k as usize];
        }
    }
    let mut out = EliminationCost::default();
    fill(path, n, 0);
    for k in post.iter().copied() {
        let height = count[k as usize] as u64;
        let width = weight(k) as u64;
        let below = height.saturating_sub(width);
        out.entries = out
            .entries
            .saturating_add(width * (width + 1) / 2 + width * below);
        let own = flops(width, below);
        out.flops = out.flops.saturating_add(own);
        let path_here = path[k as usize].saturating_add(own);
        out.critical_flops = out.critical_flops.max(path_here);
        let up = parent[k as usize];
        if up != NONE {
            count[up as usize] += count[k as usize];
            path[up as usize] = path[up as usize].max(path_here);
        }
    }
    out
}

/// The root of what was visited of the subtree that holds `k`: the least common ancestor with the
/// vertex at hand.
fn common(ancestor: &mut [u32], k: u32) -> u32 {
    let mut root = k;
    while ancestor[root as usize] != root {
        root = ancestor[root as usize];
    }
    let mut k = k;
    while k != root {
        k = std::mem::replace(&mut ancestor[k as usize], root);
    }
    root
}

/// Scalar column by scalar column, `r` entries below the pivot: `r (r + 2)` operations.
fn flops(width: u64, below: u64) -> u64 {
    (0..width)
        .map(|k| width - 1 - k + below)
        .fold(0u64, |sum, r| sum.saturating_add(r.saturating_mul(r + 2)))
}
