//! Supernodes: columns of `L` of equal pattern, and those that are merged because one larger front
//! is faster than two.

use super::tree::{Adjacency, ColumnHeights, Forest, NONE, elimination_tree};
use crate::fill;

/// Supernodes in a postorder of their tree, in which the most costly child comes first.
#[derive(Debug, Default)]
pub(super) struct Supernodes {
    /// Vertices of the graph, front by front, in the order of elimination.
    pub(super) order: Vec<usize>,
    /// Where the vertices of each front start in `order`; one more than there are fronts.
    pub(super) starts: Vec<usize>,
    /// `NONE` for roots.
    pub(super) parent: Vec<usize>,
    /// Predicted time of each front.
    pub(super) cost: Vec<f64>,
}

/// Predicted nanoseconds to assemble and eliminate a front of `width` columns with `below` rows
/// under them.
///
/// A fit to fronts of 1 to 512 columns and up to 768 rows below, one thread: a fixed part, the
/// diagonal block, the triangular solve and the update, and the traffic of values and update
/// matrices. Only ratios matter: it decides what to merge, how to share work, and which kind of
/// factor to take.
pub(super) fn cost(width: usize, below: usize) -> f64 {
    let (c, r) = (width as f64, below as f64);
    let diagonal = 20.0 * c + 0.6 * c * c + c * c * c / 120.0;
    let rest = 1.2 * c * r + (c * c * r + c * r * r) / 47.0;
    400.0 + diagonal + rest + 0.5 * c * (c + r) + 0.45 * r * r
}

/// Scratch to find supernodes.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Of the vertices of the graph.
    tree: Vec<usize>,
    ancestor: Vec<usize>,
    forest: Forest,
    /// Of the vertices in postorder.
    rank: Vec<usize>,
    parent: Vec<usize>,
    weight: Vec<usize>,
    heights: ColumnHeights,
    /// Supernode of each.
    of: Vec<usize>,
    /// Of the supernodes: the last column, the parent, lists of children.
    last: Vec<usize>,
    up: Vec<usize>,
    children: Forest,
    merging: Merging,
    standing: Standing,
}

/// A tree of supernodes that may still be merged.
#[derive(Debug, Default)]
struct Merging {
    width: Vec<usize>,
    below: Vec<usize>,
    /// The parent that each was merged into, `NONE` if it stands.
    into: Vec<usize>,
    /// Children of the supernode at hand.
    own: Vec<usize>,
}

impl Merging {
    /// The front that each ended up in.
    fn find_standing(&self, out: &mut Vec<usize>) {
        out.clear();
        out.extend(0..self.into.len());
        for s in (0..out.len()).rev() {
            if self.into[s] != NONE {
                out[s] = out[self.into[s]];
            }
        }
    }

    /// Merges children into their parents from the leaves up wherever the predicted time falls.
    fn run(&mut self, children: &Forest) {
        let Self {
            width,
            below,
            into,
            own,
        } = self;
        for p in 0..width.len() {
            own.clear();
            own.extend_from_slice(&children.list[children.offsets[p]..children.offsets[p + 1]]);
            // The one with most rows adds fewest zeros.
            own.sort_unstable_by_key(|c| (std::cmp::Reverse(below[*c]), *c));
            for c in own.iter().copied() {
                let merged = width[c] + width[p];
                let apart = cost(width[c], below[c]) + cost(width[p], below[p]);
                if cost(merged, below[p]) <= apart {
                    into[c] = p;
                    width[p] = merged;
                }
            }
        }
    }
}

/// The fronts that stand after all merging.
#[derive(Debug, Default)]
struct Standing {
    /// Of each supernode, the one that it was merged into, and the number of that.
    root: Vec<usize>,
    number: Vec<usize>,
    /// The supernodes that stand, their parents among them, their cost and that of their subtrees.
    list: Vec<usize>,
    parent: Vec<usize>,
    own: Vec<f64>,
    work: Vec<f64>,
    forest: Forest,
    /// Place of each in the order.
    rank: Vec<usize>,
    /// Front of each vertex, and where the next one of each front goes.
    front: Vec<usize>,
    next: Vec<usize>,
}

impl Supernodes {
    /// For vertices of the given sizes, eliminated in ascending order up to changes that keep the
    /// tree.
    pub(super) fn refill(&mut self, graph: &Adjacency<'_>, weights: &[usize], scratch: &mut Scratch) {
        let Scratch {
            tree,
            ancestor,
            forest,
            rank,
            parent,
            weight,
            heights,
            of,
            last,
            up,
            children,
            merging,
            standing,
        } = scratch;
        let count = weights.len();
        elimination_tree(count, graph, ancestor, tree);
        forest.find_children(tree);
        forest.find_postorder();
        let order = &forest.postorder;
        fill(rank, count, 0);
        for (k, v) in order.iter().enumerate() {
            rank[*v] = k;
        }
        let rank = &*rank;
        let in_order = |v: &usize| if tree[*v] == NONE { NONE } else { rank[tree[*v]] };
        parent.clear();
        parent.extend(order.iter().map(in_order));
        weight.clear();
        weight.extend(order.iter().map(|v| weights[*v]));
        heights.find(parent, weight, |j| graph.of(order[j]).map(move |v| rank[v]));
        let heights = &heights.heights;

        // Runs of columns, each the parent of the one before and of the same rows.
        fill(of, count, 0);
        for list in [&mut merging.width, &mut merging.below, &mut *last] {
            list.clear();
        }
        for j in 0..count {
            let joins = j > 0 && parent[j - 1] == j && heights[j - 1] == heights[j] + weight[j - 1];
            if !joins {
                merging.width.push(0);
                merging.below.push(0);
                last.push(j);
            }
            let s = last.len() - 1;
            of[j] = s;
            last[s] = j;
            merging.width[s] += weight[j];
            merging.below[s] = heights[j] - weight[j];
        }
        fill(&mut merging.into, last.len(), NONE);
        up.clear();
        up.extend(
            last.iter()
                .map(|j| if parent[*j] == NONE { NONE } else { of[parent[*j]] }),
        );
        children.find_children(up);
        merging.run(children);
        standing.find(merging, up);
        self.put_in_order(standing, of, order);
    }

    /// The fronts that stand, the most costly child of each first.
    fn put_in_order(&mut self, standing: &mut Standing, of: &[usize], vertices: &[usize]) {
        let Standing {
            root,
            number,
            parent,
            own,
            forest,
            rank,
            front,
            next,
            ..
        } = standing;
        let sequence = &forest.postorder;
        fill(rank, sequence.len(), 0);
        for (k, s) in sequence.iter().enumerate() {
            rank[*s] = k;
        }
        // Vertices by front: a counting sort that keeps their order.
        front.clear();
        front.extend(of.iter().map(|s| rank[number[root[*s]]]));
        fill(&mut self.starts, sequence.len() + 1, 0);
        for f in front.iter() {
            self.starts[f + 1] += 1;
        }
        for k in 0..sequence.len() {
            self.starts[k + 1] += self.starts[k];
        }
        next.clone_from(&self.starts);
        fill(&mut self.order, front.len(), 0);
        for (j, f) in front.iter().enumerate() {
            self.order[next[*f]] = vertices[j];
            next[*f] += 1;
        }
        let ranked = |s: &usize| match parent[*s] {
            NONE => NONE,
            up => rank[up],
        };
        self.parent.clear();
        self.parent.extend(sequence.iter().map(ranked));
        self.cost.clear();
        self.cost.extend(sequence.iter().map(|s| own[*s]));
    }
}

impl Standing {
    /// Of merged supernodes with these parents; the most costly child of each comes first in the
    /// order.
    fn find(&mut self, merging: &Merging, up: &[usize]) {
        let Self {
            root,
            number,
            list,
            parent,
            own,
            work,
            forest,
            ..
        } = self;
        merging.find_standing(root);
        list.clear();
        list.extend((0..up.len()).filter(|s| root[*s] == *s));
        fill(number, up.len(), NONE);
        for (k, s) in list.iter().enumerate() {
            number[*s] = k;
        }
        let above = |s: &usize| match up[*s] {
            NONE => NONE,
            up => number[root[up]],
        };
        parent.clear();
        parent.extend(list.iter().map(above));
        own.clear();
        own.extend(list.iter().map(|s| cost(merging.width[*s], merging.below[*s])));
        work.clone_from(own);
        for k in 0..work.len() {
            if parent[k] != NONE {
                work[parent[k]] += work[k];
            }
        }
        forest.find_children(parent);
        let Forest { offsets, list, .. } = forest;
        for w in offsets.windows(2) {
            list[w[0]..w[1]].sort_unstable_by(|a, b| work[*b].total_cmp(&work[*a]).then(a.cmp(b)));
        }
        forest.find_postorder();
    }
}
