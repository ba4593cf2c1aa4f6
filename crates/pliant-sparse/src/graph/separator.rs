//! Vertex separators: two sides without an edge between them, and the vertices that keep them
//! apart.
//!
//! Source: the vertex variant of Fiduccia and Mattheyses, A linear-time heuristic for improving
//! network partitions (1982), as in Hendrickson and Rothberg, Improving the run time and quality of
//! nested dissection ordering, SIAM J. Sci. Comput. 20 (1998).

use super::adjacency::Adjacency;
use super::noise::Noise;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The mark of a separator vertex; sides are 0 and 1.
pub(super) const CUT: u8 = 2;

/// Sweeps of refinement at most on one level.
const PASSES: usize = 8;

/// A side, or the separator, for each vertex.
#[derive(Clone, Debug)]
pub(super) struct Separator {
    pub(super) side: Vec<u8>,
    /// Unknowns on both sides and in the separator.
    pub(super) weights: [u64; 3],
}

/// How good a separator is, less is better: unknowns by which the heavier side is too heavy,
/// unknowns in the separator, difference of the sides.
type Quality = (u64, u64, u64);

impl Separator {
    pub(super) fn new(graph: &Adjacency, side: Vec<u8>) -> Self {
        let mut weights = [0; 3];
        for (s, w) in side.iter().zip(&graph.weights) {
            weights[*s as usize] += u64::from(*w);
        }
        Self { side, weights }
    }

    /// The separator of a finer graph whose vertices went into those of this one.
    pub(super) fn projected(&self, map: &[u32]) -> Self {
        Self {
            side: map.iter().map(|v| self.side[*v as usize]).collect(),
            weights: self.weights,
        }
    }

    pub(super) fn quality(&self) -> Quality {
        let [a, b, cut] = self.weights;
        // Neither side above 3/5 of the whole: the depth of the dissection stays logarithmic.
        let limit = (a + b + cut) * 3 / 5;
        (a.max(b).saturating_sub(limit), cut, a.abs_diff(b))
    }

    /// The best of several separators around regions that grow from different vertices until they
    /// hold half of the graph.
    pub(super) fn grown(graph: &Adjacency, noise: &mut Noise, refiner: &mut Refiner) -> Self {
        const TRIALS: usize = 6;
        let n = graph.len();
        let (far, _) = region(graph, 0, u64::MAX);
        let mut seed = far;
        let mut best: Option<Self> = None;
        for _ in 0..TRIALS {
            let total = graph.unknowns();
            let (_, mut side) = region(graph, seed, total / 2);
            for v in 0..n {
                if side[v] == 1 && graph.of(v).iter().any(|u| side[*u as usize] == 0) {
                    side[v] = CUT;
                }
            }
            let mut found = Self::new(graph, side);
            refiner.refine(graph, &mut found);
            if best.as_ref().is_none_or(|b| found.quality() < b.quality()) {
                best = Some(found);
            }
            seed = noise.below(n);
        }
        best.unwrap_or_else(|| Self::new(graph, vec![0; n]))
    }
}

/// The vertices nearest to `seed` up to half of the weight as side 0, the others as 1; and the last
/// one reached.
fn region(graph: &Adjacency, seed: usize, half: u64) -> (usize, Vec<u8>) {
    let mut side = vec![1; graph.len()];
    let mut queue = vec![seed];
    side[seed] = 0;
    let mut weight = u64::from(graph.weights[seed]);
    let mut next = 0;
    while let Some(v) = queue.get(next).copied() {
        next += 1;
        for u in graph.of(v) {
            let u = *u as usize;
            if side[u] == 1 && weight < half {
                side[u] = 0;
                weight += u64::from(graph.weights[u]);
                queue.push(u);
            }
        }
    }
    (queue[queue.len() - 1], side)
}

/// Scratch of the refinement.
#[derive(Debug, Default)]
pub(super) struct Refiner {
    /// Unknowns of the neighbours of each separator vertex on both sides.
    touching: Vec<[u64; 2]>,
    /// The pass in which each vertex last left the separator.
    left: Vec<u32>,
    pass: u32,
    /// Separator vertices by what moving them to a side saves; stale entries are skipped.
    candidates: [BinaryHeap<(i64, Reverse<u32>)>; 2],
    /// Vertices that left the separator, the side they went to, and where what they pulled in
    /// starts.
    moves: Vec<(u32, u8, usize)>,
    pulled: Vec<u32>,
}

impl Refiner {
    /// Moves vertices from the separator to a side, which pulls their neighbours on the other side
    /// into it, as long as the best state of a pass is better than that of the pass before.
    pub(super) fn refine(&mut self, graph: &Adjacency, separator: &mut Separator) {
        self.touching.clear();
        self.touching.resize(graph.len(), [0; 2]);
        self.left.clear();
        self.left.resize(graph.len(), 0);
        self.pass = 0;
        for _ in 0..PASSES {
            self.pass += 1;
            let before = separator.quality();
            self.sweep(graph, separator);
            if separator.quality() >= before {
                break;
            }
        }
    }

    /// Weight that the separator loses if its vertex `v` moves to side `a`.
    fn gain(&self, graph: &Adjacency, v: usize, a: usize) -> i64 {
        i64::from(graph.weights[v]) - self.touching[v][1 - a] as i64
    }

    fn offer(&mut self, graph: &Adjacency, v: usize) {
        for a in 0..2 {
            let gain = self.gain(graph, v, a);
            self.candidates[a].push((gain, Reverse(v as u32)));
        }
    }

    fn enter(&mut self, graph: &Adjacency, separator: &Separator, v: usize) {
        let mut touching = [0; 2];
        for u in graph.of(v) {
            let s = separator.side[*u as usize];
            if s != CUT {
                touching[s as usize] += u64::from(graph.weights[*u as usize]);
            }
        }
        self.touching[v] = touching;
    }

    /// The best vertex to move to side `a`.
    fn best(&mut self, graph: &Adjacency, separator: &Separator, a: usize) -> Option<(i64, usize)> {
        while let Some((gain, Reverse(v))) = self.candidates[a].peek().copied() {
            let v = v as usize;
            let open = separator.side[v] == CUT && self.left[v] != self.pass;
            if open && self.gain(graph, v, a) == gain {
                return Some((gain, v));
            }
            self.candidates[a].pop();
        }
        None
    }

    /// One pass: each vertex leaves the separator at most once; then back to the best state on the
    /// way.
    fn sweep(&mut self, graph: &Adjacency, separator: &mut Separator) {
        self.candidates.iter_mut().for_each(BinaryHeap::clear);
        self.moves.clear();
        self.pulled.clear();
        let mut cut = 0;
        for v in 0..graph.len() {
            if separator.side[v] == CUT {
                self.enter(graph, separator, v);
                self.offer(graph, v);
                cut += 1;
            }
        }
        let patience = cut.max(25);
        let mut best = (separator.quality(), 0);
        while self.moves.len() < best.1 + patience {
            let w = separator.weights;
            let total: u64 = w.iter().sum();
            let choice = [0, 1].map(|a| {
                self.best(graph, separator, a).filter(|(_, v)| {
                    let after = w[a] + u64::from(graph.weights[*v]);
                    after <= total * 3 / 5 || w[a] < w[1 - a]
                })
            });
            let (a, v) = match choice {
                [None, None] => break,
                [Some((_, v)), None] => (0, v),
                [None, Some((_, v))] => (1, v),
                [Some((g, v)), Some((h, u))] => {
                    if g > h || (g == h && w[0] <= w[1]) {
                        (0, v)
                    } else {
                        (1, u)
                    }
                }
            };
            self.shift(graph, separator, v, a);
            let quality = separator.quality();
            if quality < best.0 {
                best = (quality, self.moves.len());
            }
        }
        while self.moves.len() > best.1 {
            self.unshift(graph, separator);
        }
    }

    /// Moves separator vertex `v` to side `a`.
    fn shift(&mut self, graph: &Adjacency, separator: &mut Separator, v: usize, a: usize) {
        let own = u64::from(graph.weights[v]);
        self.moves.push((v as u32, a as u8, self.pulled.len()));
        self.left[v] = self.pass;
        separator.side[v] = a as u8;
        separator.weights[CUT as usize] -= own;
        separator.weights[a] += own;
        for u in graph.of(v) {
            let u = *u as usize;
            if separator.side[u] == CUT {
                self.touching[u][a] += own;
                if self.left[u] != self.pass {
                    let gain = self.gain(graph, u, 1 - a);
                    self.candidates[1 - a].push((gain, Reverse(u as u32)));
                }
            } else if separator.side[u] as usize == 1 - a {
                self.pull(graph, separator, u, 1 - a);
            }
        }
    }

    /// Takes vertex `u` of side `b` into the separator.
    fn pull(&mut self, graph: &Adjacency, separator: &mut Separator, u: usize, b: usize) {
        let own = u64::from(graph.weights[u]);
        self.pulled.push(u as u32);
        separator.side[u] = CUT;
        separator.weights[b] -= own;
        separator.weights[CUT as usize] += own;
        self.enter(graph, separator, u);
        if self.left[u] != self.pass {
            self.offer(graph, u);
        }
        for x in graph.of(u) {
            let x = *x as usize;
            if separator.side[x] == CUT {
                self.touching[x][b] -= own;
                if self.left[x] != self.pass {
                    let gain = self.gain(graph, x, 1 - b);
                    self.candidates[1 - b].push((gain, Reverse(x as u32)));
                }
            }
        }
    }

    /// Takes the last move back.
    fn unshift(&mut self, graph: &Adjacency, separator: &mut Separator) {
        let Some((v, a, first)) = self.moves.pop() else {
            return;
        };
        let own = u64::from(graph.weights[v as usize]);
        separator.side[v as usize] = CUT;
        separator.weights[a as usize] -= own;
        separator.weights[CUT as usize] += own;
        for u in self.pulled.drain(first..) {
            let weight = u64::from(graph.weights[u as usize]);
            separator.side[u as usize] = 1 - a;
            separator.weights[CUT as usize] -= weight;
            separator.weights[1 - a as usize] += weight;
        }
    }
}
