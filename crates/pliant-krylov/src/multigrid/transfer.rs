//! Prolongators: from the near null space over aggregates, smoothed.

use super::aggregate::{Aggregates, NONE, Nodes, Place};
use super::level::{Block, Lower};
use pliant_sparse::{Pattern, PatternBuilder, SparseError};

/// Share of the length of a vector of the near null space below which its part that is new in an
/// aggregate counts as rounding.
const DEPENDENT: f64 = 1e-8;

/// From a level of blocks of `B` to the next one, of blocks of `K`:
///
/// ```math
/// P = (I - omega D^-1 A) T,   T^T T = I on every aggregate,   T B_c = B
/// ```
///
/// with the near null space `B` of the level and `B_c` of the next. Columns of an aggregate that
/// depend on those before them are zero, as are the rows of nodes in no aggregate.
#[derive(Debug)]
pub(super) struct Transfer<const B: usize, const K: usize> {
    /// Aggregate of every block row, or [`NONE`].
    pub(super) aggregate: Vec<u32>,
    /// Block rows of every aggregate: offsets and list.
    offsets: Vec<u32>,
    members: Vec<u32>,
    /// The near null space, then `T` in its place.
    pub(super) tentative: Vec<Block<B, K>>,
    /// `P`, and for every row the slot of its own aggregate.
    pub(super) pattern: Pattern,
    pub(super) values: Vec<Block<B, K>>,
    own: Vec<u32>,
}

impl<const B: usize, const K: usize> Transfer<B, K> {
    /// From the aggregates of the nodes of a level; `None` if there is nothing to gain by a next
    /// one.
    pub(super) fn new(
        pattern: &Pattern,
        nodes: &Nodes,
        aggregates: &Aggregates,
    ) -> Result<Option<Self>, SparseError> {
        let (of_node, count) = (&aggregates.of, aggregates.count);
        let taken = of_node.iter().filter(|a| **a != NONE).count();
        // Aggregates of less than two nodes in the mean hardly reduce a level.
        if count == 0 || taken < 2 * count {
            return Ok(None);
        }
        let mut aggregate = vec![NONE; pattern.rows()];
        for (node, rows) in nodes.starts.windows(2).enumerate() {
            aggregate[rows[0] as usize..rows[1] as usize].fill(of_node[node]);
        }
        let mut offsets = vec![0u32; count + 1];
        for a in aggregate.iter().filter(|a| **a != NONE) {
            offsets[*a as usize + 1] += 1;
        }
        for k in 0..count {
            offsets[k + 1] += offsets[k];
        }
        let mut next = offsets.clone();
        let mut members = vec![0; offsets[count] as usize];
        for (i, a) in aggregate.iter().enumerate().filter(|(_, a)| **a != NONE) {
            members[next[*a as usize] as usize] = i as u32;
            next[*a as usize] += 1;
        }
        let mut builder = PatternBuilder::new(pattern.rows(), count);
        let mut around: Vec<u32> = Vec::new();
        for (node, rows) in nodes.starts.windows(2).enumerate() {
            if of_node[node] == NONE {
                continue;
            }
            around.clear();
            around.push(of_node[node]);
            let others = nodes.neighbours(node).iter().map(|j| of_node[*j as usize]);
            around.extend(others.filter(|a| *a != NONE));
            around.sort_unstable();
            around.dedup();
            for i in rows[0]..rows[1] {
                around
                    .iter()
                    .for_each(|a| builder.insert(i as usize, *a as usize));
            }
        }
        let own_pattern = builder.finish()?;
        let own = aggregate.iter().enumerate().map(|(i, a)| {
            let slot = (*a != NONE).then(|| own_pattern.slot(i, *a as usize));
            slot.flatten().map_or(NONE, |s| s as u32)
        });
        Ok(Some(Self {
            own: own.collect(),
            offsets,
            members,
            tentative: vec![[[0.0; K]; B]; aggregate.len()],
            values: vec![[[0.0; K]; B]; own_pattern.len()],
            pattern: own_pattern,
            aggregate,
        }))
    }

    /// The mean places of the aggregates, of the known ones of their block rows.
    /// None where there are none.
    pub(super) fn mean_places(&self, places: &[Place]) -> Vec<Place> {
        if places.is_empty() {
            return Vec::new();
        }
        let members = self
            .offsets
            .windows(2)
            .map(|w| &self.members[w[0] as usize..w[1] as usize]);
        let mean = |members: &[u32]| {
            let (mut mean, mut count) = ([0.0; 3], 0.0);
            for place in members.iter().filter_map(|i| places[*i as usize]) {
                count += 1.0;
                for (m, x) in mean.iter_mut().zip(place) {
                    *m += (x - *m) / count;
                }
            }
            (count > 0.0).then_some(mean)
        };
        members.map(mean).collect()
    }

    /// Number of aggregates.
    pub(super) fn coarse(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        let indices = self.aggregate.len() + self.offsets.len() + self.members.len() + self.own.len();
        let pattern = self.pattern.len() + self.pattern.offsets().len();
        4 * (indices + pattern) + size_of_val(&self.tentative[..]) + size_of_val(&self.values[..])
    }

    /// Replaces the near null space in `tentative` by `T`, and writes that of the next level: by
    /// Gram and Schmidt, twice, over the rows of each aggregate.
    #[inline(always)]
    pub(super) fn orthogonalise(&mut self, next: &mut [Block<K, K>]) {
        for (a, coarse) in next.iter_mut().enumerate() {
            let members = &self.members[self.offsets[a] as usize..self.offsets[a + 1] as usize];
            let t = &mut self.tentative;
            let mut r = [[0.0; K]; K];
            for c in 0..K {
                let length = |t: &[Block<B, K>]| {
                    let rows = members.iter().flat_map(|i| t[*i as usize].iter());
                    rows.map(|row| row[c] * row[c]).sum::<f64>().sqrt()
                };
                let before = length(t);
                for _ in 0..2 {
                    for k in 0..c {
                        let mut product = 0.0;
                        for i in members {
                            for row in &t[*i as usize] {
                                product += row[k] * row[c];
                            }
                        }
                        for i in members {
                            for row in &mut t[*i as usize] {
                                row[c] -= product * row[k];
                            }
                        }
                        r[k][c] += product;
                    }
                }
                let after = length(t);
                let independent = after > DEPENDENT * before;
                let factor = if independent { 1.0 / after } else { 0.0 };
                for i in members {
                    for row in &mut t[*i as usize] {
                        row[c] *= factor;
                    }
                }
                r[c][c] = if independent { after } else { 0.0 };
            }
            *coarse = r;
        }
        for (t, a) in self.tentative.iter_mut().zip(&self.aggregate) {
            if *a == NONE {
                *t = [[0.0; K]; B];
            }
        }
    }

    /// `P` from `T`, with `inverses` of the diagonal blocks.
    #[inline(always)]
    pub(super) fn smooth(&mut self, a: Lower<'_, B>, inverses: &[Block<B, B>], omega: f64) {
        let Self {
            aggregate,
            tentative,
            pattern,
            values,
            own,
            ..
        } = self;
        values.fill([[0.0; K]; B]);
        // A T, which needs both triangles; rows in no aggregate stay empty.
        for i in 0..a.rows() {
            let (columns, blocks, diagonal) = a.row(i);
            let row = pattern.row_slots(i);
            if aggregate[i] != NONE {
                add_product(diagonal, &tentative[i], &mut values[own[i] as usize]);
            }
            for (j, block) in columns.iter().zip(blocks) {
                let j = *j as usize;
                if aggregate[i] == NONE || aggregate[j] == NONE {
                    continue;
                }
                let (to, from) = if aggregate[i] == aggregate[j] {
                    (own[i] as usize, own[j] as usize)
                } else {
                    let first = row.start;
                    let there = position(&pattern.indices()[row.clone()], aggregate[j]);
                    let other = pattern.row_slots(j);
                    let back = position(&pattern.indices()[other.clone()], aggregate[i]);
                    (first + there, other.start + back)
                };
                add_product(block, &tentative[j], &mut values[to]);
                add_transposed(block, &tentative[i], &mut values[from]);
            }
        }
        for i in 0..a.rows() {
            for slot in pattern.row_slots(i) {
                let mut out = [[0.0; K]; B];
                add_product(&inverses[i], &values[slot], &mut out);
                let mine = slot == own[i] as usize;
                for r in 0..B {
                    for c in 0..K {
                        let tentative = if mine { tentative[i][r][c] } else { 0.0 };
                        values[slot][r][c] = tentative - omega * out[r][c];
                    }
                }
            }
        }
    }

    /// `coarse = P^T fine`.
    #[inline(always)]
    pub(super) fn restrict(&self, fine: &[f64], coarse: &mut [f64]) {
        let (fine, coarse) = (fine.as_chunks::<B>().0, coarse.as_chunks_mut::<K>().0);
        coarse.fill([0.0; K]);
        let offsets = self.pattern.offsets();
        for (x, bounds) in fine.iter().zip(offsets.windows(2)) {
            let own = bounds[0] as usize..bounds[1] as usize;
            for (j, p) in self.pattern.indices()[own.clone()].iter().zip(&self.values[own]) {
                let mut y = coarse[*j as usize];
                for r in 0..B {
                    for c in 0..K {
                        y[c] += p[r][c] * x[r];
                    }
                }
                coarse[*j as usize] = y;
            }
        }
    }

    /// `fine += P coarse`.
    #[inline(always)]
    pub(super) fn add_prolonged(&self, coarse: &[f64], fine: &mut [f64]) {
        let (coarse, fine) = (coarse.as_chunks::<K>().0, fine.as_chunks_mut::<B>().0);
        let offsets = self.pattern.offsets();
        for (y, bounds) in fine.iter_mut().zip(offsets.windows(2)) {
            let own = bounds[0] as usize..bounds[1] as usize;
            let mut sums = [[0.0; K]; B];
            for (j, p) in self.pattern.indices()[own.clone()].iter().zip(&self.values[own]) {
                let x = coarse[*j as usize];
                for r in 0..B {
                    for c in 0..K {
                        sums[r][c] += p[r][c] * x[c];
                    }
                }
            }
            for r in 0..B {
                y[r] += sums[r].iter().sum::<f64>();
            }
        }
    }
}

/// Place of a value that is in an ascending list: short ones, so it is looked for from the front.
#[inline(always)]
fn position(list: &[u32], value: u32) -> usize {
    list.iter().take_while(|v| **v < value).count()
}

/// `c += a b`.
#[inline(always)]
pub(super) fn add_product<const N: usize, const M: usize, const K: usize>(
    a: &Block<N, M>,
    b: &Block<M, K>,
    c: &mut Block<N, K>,
) {
    for r in 0..N {
        for p in 0..M {
            for s in 0..K {
                c[r][s] += a[r][p] * b[p][s];
            }
        }
    }
}

/// `c += a^T b`.
#[inline(always)]
pub(super) fn add_transposed<const N: usize, const M: usize, const K: usize>(
    a: &Block<N, M>,
    b: &Block<N, K>,
    c: &mut Block<M, K>,
) {
    for p in 0..N {
        for r in 0..M {
            for s in 0..K {
                c[r][s] += a[p][r] * b[p][s];
            }
        }
    }
}
