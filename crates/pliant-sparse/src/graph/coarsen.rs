//! Coarser graphs: vertices matched in pairs along heavy edges and merged.
//!
//! Source: Karypis and Kumar, A fast and high quality multilevel scheme for partitioning irregular
//! graphs, SIAM J. Sci. Comput. 20 (1998), section 3; the rating of an edge is that of Holtgrewe,
//! Sanders and Schulz, Engineering a scalable high quality graph partitioner (2010), which keeps
//! merged vertices of even weight.

use super::adjacency::Adjacency;
use super::noise::Noise;

/// A graph on one level of the hierarchy.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) graph: Adjacency,
    /// Edges of the finest graph that each entry of `neighbours` stands for.
    strength: Vec<u32>,
}

/// Merged pairs do not join the merging of unmatched neighbours of one vertex if they have more
/// neighbours than this.
const FEW: usize = 4;

impl Level {
    pub(super) fn finest(graph: Adjacency) -> Self {
        Self {
            strength: vec![1; graph.neighbours.len()],
            graph,
        }
    }

    /// The next coarser level and the vertex there of each vertex here. No pair weighs more than
    /// `heaviest`. Cost: linear.
    pub(super) fn coarser(&self, heaviest: u32, noise: &mut Noise) -> (Level, Vec<u32>) {
        let partner = self.matching(heaviest, noise);
        let n = self.graph.len();
        let mut map = vec![u32::MAX; n];
        let mut count = 0u32;
        for v in 0..n {
            if map[v] == u32::MAX {
                map[v] = count;
                map[partner[v] as usize] = count;
                count += 1;
            }
        }
        let coarse = count as usize;
        let mut graph = Adjacency {
            offsets: Vec::with_capacity(coarse + 1),
            neighbours: Vec::with_capacity(self.graph.neighbours.len()),
            weights: Vec::with_capacity(coarse),
        };
        graph.offsets.push(0);
        let mut strength: Vec<u32> = Vec::with_capacity(self.graph.neighbours.len());
        // Where the list at hand holds each coarse vertex; entries before its start belong to
        // earlier lists.
        let mut place = vec![u32::MAX; coarse];
        for v in 0..n {
            let own = map[v];
            let other = partner[v] as usize;
            if other < v {
                continue;
            }
            let first = graph.neighbours.len();
            let pair = [v, other];
            let members = &pair[..if other == v { 1 } else { 2 }];
            let mut weight = 0;
            for member in members {
                weight += self.graph.weights[*member];
                for at in self.graph.range(*member) {
                    let to = map[self.graph.neighbours[at] as usize];
                    if to == own {
                        continue;
                    }
                    let known = place[to as usize];
                    if known != u32::MAX && known as usize >= first {
                        strength[known as usize] += self.strength[at];
                    } else {
                        place[to as usize] = graph.neighbours.len() as u32;
                        graph.neighbours.push(to);
                        strength.push(self.strength[at]);
                    }
                }
            }
            graph.weights.push(weight);
            graph.offsets.push(graph.neighbours.len() as u32);
        }
        (Level { graph, strength }, map)
    }

    /// The partner of each vertex, itself if it stays alone.
    fn matching(&self, heaviest: u32, noise: &mut Noise) -> Vec<u32> {
        let graph = &self.graph;
        let n = graph.len();
        const ALONE: u32 = u32::MAX;
        let mut partner = vec![ALONE; n];
        // Vertices of few neighbours have few chances: first come, first served. Ties in an order
        // without structure.
        let mut order: Vec<u32> = (0..n as u32).collect();
        noise.shuffle(&mut order);
        let mut matched = 0;
        for v in by_degree(graph, order) {
            let v = v as usize;
            if partner[v] != ALONE {
                continue;
            }
            let mut best: Option<(f64, usize)> = None;
            for at in graph.range(v) {
                let u = graph.neighbours[at] as usize;
                if partner[u] != ALONE || graph.weights[u] + graph.weights[v] > heaviest {
                    continue;
                }
                let strength = f64::from(self.strength[at]);
                let rating = strength * strength / f64::from(graph.weights[u]);
                if best.is_none_or(|(r, _)| rating > r) {
                    best = Some((rating, u));
                }
            }
            if let Some((_, u)) = best {
                partner[v] = u as u32;
                partner[u] = v as u32;
                matched += 2;
            }
        }
        if matched < n - n / 4 {
            self.match_siblings(&mut partner, heaviest);
        }
        for (v, p) in partner.iter_mut().enumerate() {
            if *p == ALONE {
                *p = v as u32;
            }
        }
        partner
    }

    /// Pairs unmatched vertices of few neighbours that share one: the leaves of a star.
    fn match_siblings(&self, partner: &mut [u32], heaviest: u32) {
        let graph = &self.graph;
        for hub in 0..graph.len() {
            let mut waiting: Option<usize> = None;
            for u in graph.of(hub) {
                let u = *u as usize;
                if partner[u] != u32::MAX || graph.range(u).len() > FEW {
                    continue;
                }
                match waiting {
                    Some(w) if graph.weights[w] + graph.weights[u] <= heaviest => {
                        partner[w] = u as u32;
                        partner[u] = w as u32;
                        waiting = None;
                    }
                    Some(_) => {}
                    None => waiting = Some(u),
                }
            }
        }
    }
}

/// The vertices by ascending number of neighbours, in the order given among equals.
fn by_degree(graph: &Adjacency, order: Vec<u32>) -> Vec<u32> {
    // Beyond this the exact number does not matter.
    const MOST: usize = 64;
    let bucket = |v: u32| graph.range(v as usize).len().min(MOST);
    let mut starts = [0usize; MOST + 2];
    for v in &order {
        starts[bucket(*v) + 1] += 1;
    }
    for k in 0..=MOST {
        starts[k + 1] += starts[k];
    }
    let mut out = vec![0; order.len()];
    for v in order {
        let at = &mut starts[bucket(v)];
        out[*at] = v;
        *at += 1;
    }
    out
}
