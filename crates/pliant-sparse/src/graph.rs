//! The graph of a block matrix and its minimum-degree ordering.

use crate::SparseError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

/// An undirected graph: one vertex per block of a symmetric block matrix, one edge per non-zero off-diagonal block.
#[derive(Clone, Debug)]
pub struct Graph {
    vertices: usize,
    edges: Vec<(u32, u32)>,
}

impl Graph {
    /// A graph without edges.
    pub fn new(vertices: usize) -> Self {
        Self {
            vertices,
            edges: Vec::new(),
        }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.vertices
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.vertices == 0
    }

    /// Joins two vertices; loops are dropped, repeats merged later.
    ///
    /// # Panics
    /// If a vertex is not in the graph.
    pub fn connect(&mut self, a: usize, b: usize) {
        assert!(
            a < self.vertices && b < self.vertices,
            "edge ({a}, {b}) in a graph of {}",
            self.vertices
        );
        if a != b {
            self.edges.push((a.min(b) as u32, a.max(b) as u32));
        }
    }

    /// Neighbours of every vertex, ascending, as offsets and indices.
    pub fn adjacency(&self) -> (Vec<u32>, Vec<u32>) {
        let mut both: Vec<(u32, u32)> = self.edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        both.sort_unstable();
        both.dedup();
        let mut offsets = vec![0u32; self.vertices + 1];
        for (a, _) in &both {
            offsets[*a as usize + 1] += 1;
        }
        for i in 0..self.vertices {
            offsets[i + 1] += offsets[i];
        }
        (offsets, both.into_iter().map(|(_, b)| b).collect())
    }

    /// An order of elimination of small fill (approximate minimum degree): the k-th entry is the k-th vertex to go.
    /// Deterministic.
    ///
    /// # Errors
    /// [`SparseError::Symbolic`] if the graph does not fit 32-bit indices.
    pub fn minimum_degree(&self) -> Result<Vec<usize>, SparseError> {
        let n = self.vertices;
        let (offsets, indices) = self.adjacency();
        if n == 0 {
            return Ok(Vec::new());
        }
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &offsets, None, &indices);
        let mut order = vec![0u32; n];
        let mut inverse = vec![0u32; n];
        let mut buffer = MemBuffer::new(amd::order_scratch::<u32>(n, indices.len()));
        amd::order(
            &mut order,
            &mut inverse,
            pattern,
            amd::Control::default(),
            MemStack::new(&mut buffer),
        )
        .map_err(|e| SparseError::Symbolic {
            reason: format!("{e:?}"),
        })?;
        Ok(order.into_iter().map(|i| i as usize).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_eliminated_without_fill() {
        let n = 50;
        let mut graph = Graph::new(n);
        for i in 1..n {
            graph.connect(i, i - 1);
        }
        let order = graph.minimum_degree().unwrap();
        // Fill-free: when a vertex goes, at most one neighbour is still there.
        let mut rank = vec![0; n];
        for (k, i) in order.iter().enumerate() {
            rank[*i] = k;
        }
        for i in 1..n - 1 {
            assert!(rank[i] > rank[i - 1] || rank[i] > rank[i + 1]);
        }
    }
}
