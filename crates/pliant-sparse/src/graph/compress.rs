//! Indistinguishable vertices: those with the same neighbours, themselves counted, are best
//! eliminated one after another.

use super::adjacency::Adjacency;
use super::noise::mixed;

/// The group of each vertex, groups numbered by their first member; `None` if every vertex is
/// alone. Cost: linear but for a sort of the vertices. Source: Ashcraft, Compressed graphs and the
/// minimum degree algorithm, SIAM J. Sci. Comput. 16 (1995).
pub(super) fn groups(graph: &Adjacency) -> Option<Vec<u32>> {
    let n = graph.len();
    // Plain sums of indices would make all of a mirrored pairing look alike.
    let sum = |v: usize| {
        let own = mixed(v as u64);
        graph
            .of(v)
            .iter()
            .fold(own, |s, u| s.wrapping_add(mixed(u64::from(*u))))
    };
    let mut keys: Vec<(u64, u32, u32)> = (0..n)
        .map(|v| (sum(v), graph.of(v).len() as u32, v as u32))
        .collect();
    keys.sort_unstable();
    let mut group: Vec<u32> = (0..n as u32).collect();
    let mut mark = vec![u32::MAX; n];
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
    any.then_some(group)
}

/// The graph of the groups, weights added up, and the members of each of its vertices: offsets and
/// list, ascending.
pub(super) fn quotient(graph: &Adjacency, group: &[u32]) -> (Adjacency, Vec<u32>, Vec<u32>) {
    let n = graph.len();
    let mut number = vec![0u32; n];
    let mut first = Vec::new();
    let mut count = Vec::new();
    for v in 0..n {
        let leader = group[v] as usize;
        if leader == v {
            number[v] = first.len() as u32;
            first.push(v);
            count.push(0u32);
        }
        number[v] = number[leader];
        count[number[v] as usize] += 1;
    }
    let mut offsets = vec![0u32];
    for c in &count {
        offsets.push(offsets[offsets.len() - 1] + c);
    }
    let mut members = vec![0u32; n];
    let mut at = offsets.clone();
    let mut weights = vec![0u32; first.len()];
    for v in 0..n {
        let k = number[v] as usize;
        members[at[k] as usize] = v as u32;
        at[k] += 1;
        weights[k] += graph.weights[v];
    }
    let mut out = Adjacency {
        offsets: vec![0],
        neighbours: Vec::new(),
        weights,
    };
    for (k, v) in first.iter().enumerate() {
        // Leaders ascend with their numbers, so that the lists stay sorted.
        let leaders = graph.of(*v).iter().filter(|u| group[**u as usize] == **u);
        let others = leaders.map(|u| number[*u as usize]).filter(|u| *u as usize != k);
        out.neighbours.extend(others);
        out.offsets.push(out.neighbours.len() as u32);
    }
    (out, offsets, members)
}
