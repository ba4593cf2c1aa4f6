//! Supernodes: columns of `L` of equal pattern, and those that are merged because one larger front
//! is faster than two.

use super::tree::{Adjacency, NONE, children, column_heights, elimination_tree, postorder};

/// Supernodes in a postorder of their tree, in which the most costly child comes first.
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

/// A tree of supernodes that may still be merged.
struct Merging {
    width: Vec<usize>,
    below: Vec<usize>,
    /// The parent that each was merged into, `NONE` if it stands.
    into: Vec<usize>,
}

impl Merging {
    /// The front that each ended up in.
    fn standing(&self) -> Vec<usize> {
        let mut out: Vec<usize> = (0..self.into.len()).collect();
        for s in (0..out.len()).rev() {
            if self.into[s] != NONE {
                out[s] = out[self.into[s]];
            }
        }
        out
    }

    /// Merges children into their parents from the leaves up wherever the predicted time falls.
    fn run(&mut self, offsets: &[usize], list: &[usize]) {
        let mut own: Vec<usize> = Vec::new();
        for p in 0..self.width.len() {
            own.clear();
            own.extend_from_slice(&list[offsets[p]..offsets[p + 1]]);
            // The one with most rows adds fewest zeros.
            own.sort_by_key(|c| (std::cmp::Reverse(self.below[*c]), *c));
            for c in &own {
                let merged = self.width[*c] + self.width[p];
                let apart = cost(self.width[*c], self.below[*c]) + cost(self.width[p], self.below[p]);
                if cost(merged, self.below[p]) <= apart {
                    self.into[*c] = p;
                    self.width[p] = merged;
                }
            }
        }
    }
}

impl Supernodes {
    /// For vertices of the given sizes, eliminated in ascending order up to changes that keep the
    /// tree.
    pub(super) fn new(graph: &Adjacency<'_>, weights: &[usize]) -> Self {
        let count = weights.len();
        let tree = elimination_tree(count, graph);
        let (offsets, list) = children(&tree);
        let order = postorder(&offsets, &list);
        let mut rank = vec![0; count];
        for (k, v) in order.iter().enumerate() {
            rank[*v] = k;
        }
        let parent: Vec<usize> = order
            .iter()
            .map(|v| if tree[*v] == NONE { NONE } else { rank[tree[*v]] })
            .collect();
        let weight: Vec<usize> = order.iter().map(|v| weights[*v]).collect();
        let rank = &rank;
        let heights = column_heights(&parent, &weight, |j| graph.of(order[j]).map(move |v| rank[v]));

        // Runs of columns, each the parent of the one before and of the same rows.
        let mut of = vec![0; count];
        let mut merging = Merging {
            width: Vec::new(),
            below: Vec::new(),
            into: Vec::new(),
        };
        let mut last = Vec::new();
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
        merging.into = vec![NONE; last.len()];
        let up: Vec<usize> = last
            .iter()
            .map(|j| if parent[*j] == NONE { NONE } else { of[parent[*j]] })
            .collect();
        let (offsets, list) = children(&up);
        merging.run(&offsets, &list);
        Self::in_order(&merging, &up, &of, &order)
    }

    /// The fronts that stand, the most costly child of each first.
    fn in_order(merging: &Merging, up: &[usize], of: &[usize], vertices: &[usize]) -> Self {
        let root = merging.standing();
        let standing: Vec<usize> = (0..up.len()).filter(|s| root[*s] == *s).collect();
        let mut number = vec![NONE; up.len()];
        for (k, s) in standing.iter().enumerate() {
            number[*s] = k;
        }
        let parent: Vec<usize> = standing
            .iter()
            .map(|s| {
                if up[*s] == NONE {
                    NONE
                } else {
                    number[root[up[*s]]]
                }
            })
            .collect();
        let own: Vec<f64> = standing
            .iter()
            .map(|s| cost(merging.width[*s], merging.below[*s]))
            .collect();
        let mut work = own.clone();
        for k in 0..work.len() {
            if parent[k] != NONE {
                work[parent[k]] += work[k];
            }
        }
        let (offsets, mut list) = children(&parent);
        for w in offsets.windows(2) {
            list[w[0]..w[1]].sort_by(|a, b| work[*b].total_cmp(&work[*a]).then(a.cmp(b)));
        }
        let sequence = postorder(&offsets, &list);
        let mut rank = vec![0; sequence.len()];
        for (k, s) in sequence.iter().enumerate() {
            rank[*s] = k;
        }
        // Vertices by front: a counting sort that keeps their order.
        let front: Vec<usize> = of.iter().map(|s| rank[number[root[*s]]]).collect();
        let mut starts = vec![0; sequence.len() + 1];
        for f in &front {
            starts[f + 1] += 1;
        }
        for k in 0..sequence.len() {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut order = vec![0; front.len()];
        for (j, f) in front.iter().enumerate() {
            order[next[*f]] = vertices[j];
            next[*f] += 1;
        }
        Self {
            order,
            starts,
            parent: sequence
                .iter()
                .map(|s| {
                    if parent[*s] == NONE {
                        NONE
                    } else {
                        rank[parent[*s]]
                    }
                })
                .collect(),
            cost: sequence.iter().map(|s| own[*s]).collect(),
        }
    }
}
