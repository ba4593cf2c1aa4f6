//! Aggregates of strongly connected nodes.

use pliant_sparse::Pattern;

/// Sum of the strengths of a node up to which a sweep reduces its error to less than a third.
const DOMINANT: f64 = 0.3;

/// Nodes put together.
#[derive(Debug)]
pub(super) struct Aggregates {
    /// The aggregate of every node, or [`NONE`].
    pub(super) of: Vec<u32>,
    /// Number of aggregates.
    pub(super) count: usize,
}

pub(super) const NONE: u32 = u32::MAX;

/// Distance, as a multiple of that to the second nearest neighbour of one of both, up to which a
/// coupling of two nodes is strong: beyond the diagonal of a cube (1.73), short of two.
const NEAR: f64 = 1.9;

/// The place of a node, if it is known.
pub(super) type Place = Option<[f64; 3]>;

/// Nodes of a level as groups of block rows, and which of them are coupled.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// First block row of every node, and the number of block rows.
    pub(super) starts: Vec<u32>,
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    /// `|A_ij| / (|A_ii| |A_jj|)^(1/2)` in Frobenius norms, beside the neighbours; or inverse
    /// distances ([`Self::measure`]).
    strengths: Vec<f64>,
    /// The strength that those of a node are compared with: the largest of them; of inverse
    /// distances the second.
    largest: Vec<f64>,
    /// Nodes whose diagonal block outweighs all others of its row: sweeps alone are enough there.
    slack: Vec<bool>,
}

impl Nodes {
    /// From the lower triangle of blocks, whose squared Frobenius norms are given.
    pub(super) fn new(pattern: &Pattern, squares: &[f64], starts: Vec<u32>) -> Self {
        let count = starts.len().saturating_sub(1);
        let mut node_of = vec![0u32; pattern.rows()];
        for (node, rows) in starts.windows(2).enumerate() {
            node_of[rows[0] as usize..rows[1] as usize].fill(node as u32);
        }
        // Pairs of nodes below the diagonal, with norms summed over their blocks.
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut sums: Vec<f64> = Vec::new();
        let mut own = vec![0.0; count];
        let mut place = vec![NONE; count];
        let mut degrees = vec![0usize; count];
        for (node, rows) in starts.windows(2).enumerate() {
            let first = pairs.len();
            for i in rows[0] as usize..rows[1] as usize {
                for slot in pattern.row_slots(i) {
                    let j = pattern.indices()[slot];
                    let other = node_of[j as usize] as usize;
                    if other == node {
                        // Blocks below the diagonal stand for two.
                        own[node] += if j as usize == i {
                            squares[slot]
                        } else {
                            2.0 * squares[slot]
                        };
                        continue;
                    }
                    if place[other] == NONE {
                        place[other] = pairs.len() as u32;
                        pairs.push((node as u32, other as u32));
                        sums.push(0.0);
                        degrees[node] += 1;
                        degrees[other] += 1;
                    }
                    sums[place[other] as usize] += squares[slot];
                }
            }
            for (_, other) in &pairs[first..] {
                place[*other as usize] = NONE;
            }
        }
        let mut offsets = vec![0; count + 1];
        for i in 0..count {
            offsets[i + 1] = offsets[i] + degrees[i];
        }
        let mut next = offsets.clone();
        let mut neighbours = vec![0; offsets[count]];
        let mut strengths = vec![0.0; offsets[count]];
        // Pairs ascend by their first node, so that every list ascends: first those below.
        for ((a, b), sum) in pairs.iter().zip(&sums) {
            let scale = (own[*a as usize] * own[*b as usize]).sqrt();
            let strength = if scale > 0.0 { (sum / scale).sqrt() } else { 0.0 };
            for (from, to) in [(*a, *b), (*b, *a)] {
                let at = &mut next[from as usize];
                neighbours[*at] = to;
                strengths[*at] = strength;
                *at += 1;
            }
        }
        let lists = offsets.windows(2).map(|w| &strengths[w[0]..w[1]]);
        Self {
            largest: lists
                .clone()
                .map(|l| l.iter().fold(0.0, |a: f64, s| a.max(*s)))
                .collect(),
            slack: lists.map(|l| l.iter().sum::<f64>() < DOMINANT).collect(),
            starts,
            offsets,
            neighbours,
            strengths,
        }
    }

    /// Takes inverse distances for the strengths of all couplings that are not zero. Those of a node
    /// whose place is not known are infinite, as are those of nodes at one place. Returns the share
    /// of the second largest from which on they are strong.
    ///
    /// Elements that are stretched by `s` couple nodes along their short sides `s^2` times as much
    /// as along the long ones; aggregates along the short sides alone keep the smoothed vectors good
    /// where a sweep reduces no error along the long ones. (The second, so that one neighbour that
    /// happens to be near does not make all others far.)
    pub(super) fn measure(&mut self, places: impl Fn(usize) -> Place) -> f64 {
        for i in 0..self.count() {
            let own = places(self.starts[i] as usize);
            let [mut first, mut second] = [0.0f64; 2];
            for at in self.offsets[i]..self.offsets[i + 1] {
                if self.strengths[at] == 0.0 {
                    continue;
                }
                let other = places(self.starts[self.neighbours[at] as usize] as usize);
                let distance = own.zip(other).map_or(0.0, |(a, b)| {
                    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                    square.sqrt()
                });
                let strength = distance.recip();
                self.strengths[at] = strength;
                if strength.is_finite() && strength > second {
                    second = strength.min(first);
                    first = first.max(strength);
                }
            }
            self.largest[i] = if second > 0.0 { second } else { first };
        }
        NEAR.recip()
    }

    /// Neighbours of a node that are coupled to it, or it to them, by `share` of the strongest
    /// coupling of one of both.
    fn strong(&self, i: usize, share: f64) -> impl Iterator<Item = (usize, f64)> {
        let own = self.offsets[i]..self.offsets[i + 1];
        let both = self.neighbours[own.clone()].iter().zip(&self.strengths[own]);
        let of_both = both.map(|(j, s)| (*j as usize, *s));
        of_both.filter(move |(j, s)| {
            let apart = self.slack[i] || self.slack[*j];
            !apart && *s > 0.0 && *s >= share * self.largest[i].min(self.largest[*j])
        })
    }

    pub(super) fn neighbours(&self, i: usize) -> &[u32] {
        &self.neighbours[self.offsets[i]..self.offsets[i + 1]]
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Puts nodes together. Those without a connection above `share` of the strongest are in none:
    /// sweeps alone are enough for them.
    ///
    /// In three passes over the nodes in their order (Vaněk, Mandel and Brezina 1996): a node none
    /// of whose strong neighbours is taken founds an aggregate with all of them; what is left
    /// joins the founders' aggregate to which it is connected most strongly, else it founds one
    /// with what is left around it.
    pub(super) fn aggregate(&self, share: f64) -> Aggregates {
        let mut of = vec![NONE; self.count()];
        let mut count = 0u32;
        for i in 0..self.count() {
            let free = of[i] == NONE && self.strong(i, share).all(|(j, _)| of[j] == NONE);
            if free && self.strong(i, share).next().is_some() {
                of[i] = count;
                self.strong(i, share).for_each(|(j, _)| of[j] = count);
                count += 1;
            }
        }
        let founded = of.clone();
        for i in (0..self.count()).filter(|i| founded[*i] == NONE) {
            let taken = self.strong(i, share).filter(|(j, _)| founded[*j] != NONE);
            // The first of the strongest.
            let best = taken.fold(None, |best: Option<(usize, f64)>, (j, s)| match best {
                Some((_, most)) if most >= s => best,
                _ => Some((j, s)),
            });
            if let Some((j, _)) = best {
                of[i] = founded[j];
            }
        }
        for i in 0..self.count() {
            if of[i] == NONE && self.strong(i, share).next().is_some() {
                of[i] = count;
                for (j, _) in self.strong(i, share) {
                    if of[j] == NONE {
                        of[j] = count;
                    }
                }
                count += 1;
            }
        }
        Aggregates {
            of,
            count: count as usize,
        }
    }
}
