//! Nested dissection: separators last, both sides by the same rule, minimum degree on what is
//! small.
//!
//! Source: George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10
//! (1973); multilevel as in Karypis and Kumar (1998), with separators refined on every level.

use super::adjacency::Adjacency;
use super::coarsen::Level;
use super::minimum_degree;
use super::noise::Noise;
use super::separator::{CUT, Refiner, Separator};
use crate::SparseError;

/// Vertices up to which minimum degree orders a part.
const LEAF: usize = 120;
/// Vertices up to which a graph is split without coarsening it.
const COARSEST: usize = 100;

/// A part of the graph whose vertices take the places from `first` on.
struct Part {
    graph: Adjacency,
    /// Its vertices in the whole graph.
    vertices: Vec<u32>,
    first: usize,
}

/// Vertices in the order of elimination. Cost: edges times the logarithm of the vertices, twice
/// over.
pub(super) fn nested_dissection(graph: &Adjacency) -> Result<Vec<u32>, SparseError> {
    let n = graph.len();
    let mut order = vec![0; n];
    let mut place = vec![u32::MAX; n];
    let mut refiner = Refiner::default();
    let mut parts = vec![Part {
        graph: graph.clone(),
        vertices: (0..n as u32).collect(),
        first: 0,
    }];
    while let Some(part) = parts.pop() {
        let places = &mut order[part.first..part.first + part.vertices.len()];
        if part.vertices.len() <= LEAF {
            fill(places, &part)?;
            continue;
        }
        let side = split(&part.graph, &mut refiner);
        let group = |s: u8| -> Vec<u32> {
            (0..part.vertices.len() as u32)
                .filter(|v| side[*v as usize] == s)
                .collect()
        };
        let sides = [group(0), group(1)];
        if sides.iter().any(Vec::is_empty) && group(CUT).len() + 1 >= part.vertices.len() / 2 {
            // Nothing to gain: the part is nearly a clique.
            fill(places, &part)?;
            continue;
        }
        let mut end = part.vertices.len();
        for v in group(CUT).iter().rev() {
            end -= 1;
            places[end] = part.vertices[*v as usize];
        }
        let mut first = part.first;
        for list in sides {
            let graph = part.graph.induced(&list, &mut place[..part.vertices.len()]);
            let vertices: Vec<u32> = list.iter().map(|v| part.vertices[*v as usize]).collect();
            let next = first + vertices.len();
            parts.push(Part {
                graph,
                vertices,
                first,
            });
            first = next;
        }
    }
    Ok(order)
}

/// Orders a whole part by minimum degree.
fn fill(places: &mut [u32], part: &Part) -> Result<(), SparseError> {
    for (place, v) in places.iter_mut().zip(minimum_degree(&part.graph)?) {
        *place = part.vertices[v as usize];
    }
    Ok(())
}

/// A side, or the separator, for each vertex.
fn split(graph: &Adjacency, refiner: &mut Refiner) -> Vec<u8> {
    if let Some(side) = components(graph) {
        return side;
    }
    let mut noise = Noise::default();
    let total = graph.unknowns();
    // Merged vertices of one and a half times the mean size at the end.
    let heaviest = (total * 3 / (2 * COARSEST as u64))
        .max(1)
        .min(u64::from(u32::MAX / 2)) as u32;
    let mut levels = vec![Level::finest(graph.clone())];
    let mut maps: Vec<Vec<u32>> = Vec::new();
    while let Some(level) = levels.last() {
        let size = level.graph.len();
        if size <= COARSEST {
            break;
        }
        let (next, map) = level.coarser(heaviest, &mut noise);
        // A level that hardly shrinks costs as much as it helps.
        if next.graph.len() * 20 > size * 19 {
            break;
        }
        levels.push(next);
        maps.push(map);
    }
    let coarsest = &levels[levels.len() - 1].graph;
    let mut separator = Separator::grown(coarsest, &mut noise, refiner);
    for (level, map) in levels.iter().zip(&maps).rev() {
        separator = separator.projected(map);
        refiner.refine(&level.graph, &mut separator);
    }
    separator.side
}

/// A graph in several parts falls into two sides without a separator: whole components, the next
/// one always to the lighter side (largest first would be tighter; what follows balances again).
/// `None` if it is connected.
fn components(graph: &Adjacency) -> Option<Vec<u8>> {
    let n = graph.len();
    let mut side = vec![u8::MAX; n];
    let mut weights = [0u64; 2];
    let mut stack = Vec::new();
    for start in 0..n {
        if side[start] != u8::MAX {
            continue;
        }
        let s = u8::from(weights[1] < weights[0]);
        side[start] = s;
        stack.push(start);
        let mut reached = 0;
        while let Some(v) = stack.pop() {
            reached += 1;
            weights[s as usize] += u64::from(graph.weights[v]);
            for u in graph.of(v) {
                if side[*u as usize] == u8::MAX {
                    side[*u as usize] = s;
                    stack.push(*u as usize);
                }
            }
        }
        if reached == n {
            return None;
        }
    }
    Some(side)
}
