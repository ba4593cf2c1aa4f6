//! Compressed neighbours of a weighted graph: what every ordering works on.

use crate::SparseError;
use std::ops::Range;

/// Neighbours of each vertex, ascending, without loops; both directions of each edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Adjacency {
    /// Where the neighbours of each vertex start, and their number.
    pub(super) offsets: Vec<u32>,
    pub(super) neighbours: Vec<u32>,
    /// Unknowns of each vertex.
    pub(super) weights: Vec<u32>,
}

/// Scratch of a bucket sort.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorting {
    starts: Vec<u32>,
    buckets: Vec<u32>,
    at: Vec<u32>,
}

impl Adjacency {
    /// From edges in any order, loops and repeats welcome. Cost: linear (two passes of a bucket
    /// sort).
    pub(super) fn new(weights: &[u32], edges: &[(u32, u32)]) -> Result<Self, SparseError> {
        let mut out = Self::default();
        out.refill(weights, edges, &mut Sorting::default())?;
        Ok(out)
    }

    /// As [`new`](Self::new), in the storage at hand.
    pub(super) fn refill(
        &mut self,
        weights: &[u32],
        edges: &[(u32, u32)],
        sorting: &mut Sorting,
    ) -> Result<(), SparseError> {
        let ends = 2 * edges.len();
        if ends >= u32::MAX as usize {
            return Err(SparseError::TooLarge {
                what: "ends of edges",
                found: ends,
            });
        }
        let n = weights.len();
        self.weights.clear();
        self.weights.extend_from_slice(weights);
        let Sorting { starts, buckets, at } = sorting;
        starts.clear();
        starts.resize(n + 1, 0);
        for (a, b) in edges {
            starts[*a as usize + 1] += 1;
            starts[*b as usize + 1] += 1;
        }
        for v in 0..n {
            starts[v + 1] += starts[v];
        }
        buckets.clear();
        buckets.resize(ends, 0);
        at.clear();
        at.extend_from_slice(&starts[..n]);
        for &(a, b) in edges {
            for (a, b) in [(a, b), (b, a)] {
                buckets[at[a as usize] as usize] = b;
                at[a as usize] += 1;
            }
        }
        // The neighbour relation is symmetric: visiting the buckets in ascending order fills each
        // list in ascending order.
        let neighbours = &mut self.neighbours;
        neighbours.clear();
        neighbours.resize(ends, 0);
        at.copy_from_slice(&starts[..n]);
        for b in 0..n {
            for a in &buckets[starts[b] as usize..starts[b + 1] as usize] {
                let (first, next) = (starts[*a as usize], &mut at[*a as usize]);
                let repeated = *next > first && neighbours[*next as usize - 1] == b as u32;
                if *a != b as u32 && !repeated {
                    neighbours[*next as usize] = b as u32;
                    *next += 1;
                }
            }
        }
        self.offsets.clear();
        self.offsets.reserve(n + 1);
        self.offsets.push(0);
        let mut kept = 0;
        for v in 0..n {
            let list = starts[v] as usize..at[v] as usize;
            let length = list.len();
            neighbours.copy_within(list, kept);
            kept += length;
            self.offsets.push(kept as u32);
        }
        neighbours.truncate(kept);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn range(&self, v: usize) -> Range<usize> {
        self.offsets[v] as usize..self.offsets[v + 1] as usize
    }

    pub(super) fn of(&self, v: usize) -> &[u32] {
        &self.neighbours[self.range(v)]
    }

    /// Unknowns of all vertices.
    pub(super) fn unknowns(&self) -> u64 {
        self.weights.iter().map(|w| u64::from(*w)).sum()
    }

    /// Entries of the lower triangle of a matrix of this graph.
    pub(super) fn entries(&self) -> u64 {
        let weight = |v: usize| u64::from(self.weights[v]);
        let beside = |v: usize| self.of(v).iter().map(|u| weight(*u as usize)).sum::<u64>();
        let twice = |v: usize| weight(v) * (weight(v) + 1 + beside(v));
        (0..self.len()).map(twice).sum::<u64>() / 2
    }

    /// The graph of some of its vertices, in the order given. `place` holds `u32::MAX` for every
    /// vertex, before and after.
    pub(super) fn induced(&self, vertices: &[u32], place: &mut [u32]) -> Self {
        for (k, v) in vertices.iter().enumerate() {
            place[*v as usize] = k as u32;
        }
        let mut out = Self {
            offsets: Vec::with_capacity(vertices.len() + 1),
            neighbours: Vec::new(),
            weights: Vec::with_capacity(vertices.len()),
        };
        out.offsets.push(0);
        for v in vertices {
            let inside = self.of(*v as usize).iter().map(|u| place[*u as usize]);
            out.neighbours.extend(inside.filter(|u| *u != u32::MAX));
            out.offsets.push(out.neighbours.len() as u32);
            out.weights.push(self.weights[*v as usize]);
        }
        for v in vertices {
            place[*v as usize] = u32::MAX;
        }
        out
    }
}
