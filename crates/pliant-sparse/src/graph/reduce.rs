//! Vertices that go first in any good order.

use super::adjacency::Adjacency;
use crate::SparseError;

/// Most neighbours of a vertex that goes first: their clique stays small.
const FEW: usize = 8;

/// A graph after some vertices were eliminated.
pub(super) struct Reduced {
    /// The vertices that went.
    pub(super) first: Vec<u32>,
    /// The graph of the others, with the edges that the elimination made.
    pub(super) rest: Adjacency,
    /// The vertex in the whole graph of each vertex of the rest.
    pub(super) vertices: Vec<u32>,
}

impl Reduced {
    /// The order of the whole graph that goes on with an order of the rest.
    pub(super) fn whole(&self, rest: &[u32]) -> Vec<u32> {
        let then = rest.iter().map(|v| self.vertices[*v as usize]);
        self.first.iter().copied().chain(then).collect()
    }
}

/// Eliminates the vertices of few neighbours that have more unknowns than each of them: no
/// separator is better for holding such a vertex than for holding one of its neighbours in its
/// place. These are the elements of a mesh in compliance form (six rows against three of a node)
/// and the nodes of a net of springs (three against the one row of a spring). What remains are
/// vertices of one kind, which both methods order better and faster. `None` if these are too few to
/// matter. Cost: linear.
pub(super) fn reduce(graph: &Adjacency) -> Result<Option<Reduced>, SparseError> {
    let n = graph.len();
    let goes = |v: usize| {
        let neighbours = graph.of(v);
        neighbours.len() <= FEW
            && neighbours
                .iter()
                .all(|u| graph.weights[*u as usize] < graph.weights[v])
    };
    let first: Vec<u32> = (0..n).filter(|v| goes(*v)).map(|v| v as u32).collect();
    if first.len() < n / 8 {
        return Ok(None);
    }
    let mut place = vec![0u32; n];
    for v in &first {
        place[*v as usize] = u32::MAX;
    }
    let vertices: Vec<u32> = (0..n as u32).filter(|v| place[*v as usize] == 0).collect();
    for (k, v) in vertices.iter().enumerate() {
        place[*v as usize] = k as u32;
    }
    let mut edges = Vec::new();
    for v in &vertices {
        // The other end is no vertex that went, and each edge comes once.
        let later = graph
            .of(*v as usize)
            .iter()
            .filter(|u| **u > *v && place[**u as usize] != u32::MAX);
        edges.extend(later.map(|u| (place[*v as usize], place[*u as usize])));
    }
    for v in &first {
        let clique = graph.of(*v as usize);
        for (k, a) in clique.iter().enumerate() {
            edges.extend(
                clique[..k]
                    .iter()
                    .map(|b| (place[*a as usize], place[*b as usize])),
            );
        }
    }
    let weights: Vec<u32> = vertices.iter().map(|v| graph.weights[*v as usize]).collect();
    Ok(Some(Reduced {
        rest: Adjacency::new(&weights, &edges)?,
        first,
        vertices,
    }))
}
