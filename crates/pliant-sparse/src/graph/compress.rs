//! Indistinguishable vertices: those with the same neighbours, themselves counted, are best
//! eliminated one after another.

use super::adjacency::Adjacency;
use super::noise::mixed;

/// The groups of a graph, each named after its first member, and scratch to find them.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// The group of each vertex.
    group: Vec<u32>,
    /// Members of each group, groups in the order of their first members: offsets and list,
    /// ascending.
    offsets: Vec<u32>,
    members: Vec<u32>,
    keys: Vec<(u64, u32, u32)>,
    mark: Vec<u32>,
    number: Vec<u32>,
    first: Vec<usize>,
    at: Vec<u32>,
}

impl Groups {
    /// Finds the group of each vertex; false if every vertex is alone. Cost: linear but for a sort
    /// of the vertices. Source: Ashcraft, Compressed graphs and the minimum degree algorithm, SIAM
    /// J. Sci. Comput. 16 (1995).
    pub(super) fn find(&mut self, graph: &Adjacency) -> bool {
        let n = graph.len();
        // Plain sums of indices would make all of a mirrored pairing look alike.
        let sum = |v: usize| {
            let own = mixed(v as u64);
            graph
                .of(v)
                .iter()
                .fold(own, |s, u| s.wrapping_add(mixed(u64::from(*u))))
        };
        let Self {
            group, keys, mark, ..
        } = self;
        keys.clear();
        keys.extend((0..n).map(|v| (sum(v), graph.of(v).len() as u32, v as u32)));
        keys.sort_unstable();
        group.clear();
        group.extend(0..n as u32);
        mark.clear();
        mark.resize(n, u32::MAX);
        let mut any = false;
        for same in keys.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (k, (_, _, v)) in same.iter().enumerate() {
                if group[*v as usize] != *v || k + 1 == same.len() {
                    continue;
                }
                mark[*v as usize] = *v;
                for u in graph.of(*v as usize) {
                    mark[*u as usize] = *v;
                }
                for (_, _, u) in &same[k + 1..] {
                    // Members are neighbours of each other: whoever is not marked cannot match.
                    let open = group[*u as usize] == *u && mark[*u as usize] == *v;
                    if open && graph.of(*u as usize).iter().all(|x| mark[*x as usize] == *v) {
                        group[*u as usize] = *v;
                        any = true;
                    }
                }
            }
        }
        any
    }

    /// Writes the graph of the groups, weights added up, and lists their members.
    pub(super) fn quotient_into(&mut self, graph: &Adjacency, out: &mut Adjacency) {
        let n = graph.len();
        let Self {
            group,
            offsets,
            members,
            number,
            first,
            at,
            ..
        } = self;
        number.clear();
        number.resize(n, 0);
        first.clear();
        offsets.clear();
        offsets.push(0);
        for v in 0..n {
            let leader = group[v] as usize;
            if leader == v {
                number[v] = first.len() as u32;
                first.push(v);
                offsets.push(0);
            }
            number[v] = number[leader];
            offsets[number[v] as usize + 1] += 1;
        }
        for k in 0..first.len() {
            offsets[k + 1] += offsets[k];
        }
        members.clear();
        members.resize(n, 0);
        at.clone_from(offsets);
        out.weights.clear();
        out.weights.resize(first.len(), 0);
        for v in 0..n {
            let k = number[v] as usize;
            members[at[k] as usize] = v as u32;
            at[k] += 1;
            out.weights[k] += graph.weights[v];
        }
        out.offsets.clear();
        out.offsets.push(0);
        out.neighbours.clear();
        for (k, v) in first.iter().enumerate() {
            // Leaders ascend with their numbers, so that the lists stay sorted.
            let leaders = graph.of(*v).iter().filter(|u| group[**u as usize] == **u);
            let others = leaders.map(|u| number[*u as usize]).filter(|u| *u as usize != k);
            out.neighbours.extend(others);
            out.offsets.push(out.neighbours.len() as u32);
        }
    }

    /// Vertices of the `k`-th group, ascending.
    pub(super) fn members(&self, k: usize) -> &[u32] {
        &self.members[self.offsets[k] as usize..self.offsets[k + 1] as usize]
    }
}
