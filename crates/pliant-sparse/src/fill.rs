//! What a factor would hold and cost, without making it.

use crate::{Graph, SparseError};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::cholesky::simplicial;

/// Entries and operations of a factor that has not been made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fill {
    /// Entries of `L` with its diagonal.
    pub entries: f64,
    /// Floating-point operations of a factorisation.
    pub flops: f64,
}

impl Fill {
    /// Of the block matrix with the given graph in the given order of elimination (the k-th entry is the k-th vertex to go), all of whose
    /// blocks count as `block` unknowns: exact if they are. Cost: about the edges of the graph, not those of `L` (column counts by
    /// Gilbert, Ng and Peyton 1994).
    ///
    /// # Errors
    /// [`SparseError::Size`] if the order is not a permutation of the vertices.
    pub fn new(graph: &Graph, order: &[usize], block: f64) -> Result<Self, SparseError> {
        let n = graph.len();
        let mut rank = vec![u32::MAX; n];
        for (k, i) in order.iter().enumerate() {
            if let Some(rank) = rank.get_mut(*i) {
                *rank = k as u32;
            }
        }
        let placed = rank.iter().filter(|k| **k != u32::MAX).count();
        if order.len() != n || placed != n {
            return Err(SparseError::Size {
                what: "order, each vertex once,",
                expected: n,
                found: placed.min(order.len()),
            });
        }
        if n == 0 {
            return Ok(Self::default());
        }
        let (adjacent, neighbours) = graph.adjacency();
        // Columns of the upper triangle, diagonal included.
        let (mut offsets, mut indices) = (vec![0u32], Vec::with_capacity(neighbours.len() / 2 + n));
        for (k, i) in order.iter().enumerate() {
            let own = adjacent[*i] as usize..adjacent[*i + 1] as usize;
            let start = indices.len();
            let earlier = neighbours[own].iter().map(|j| rank[*j as usize]);
            indices.extend(earlier.filter(|j| (*j as usize) < k));
            indices[start..].sort_unstable();
            indices.push(k as u32);
            offsets.push(indices.len() as u32);
        }
        let upper = SymbolicSparseColMatRef::new_checked(n, n, &offsets, None, &indices);
        let (mut tree, mut counts) = (vec![0i32; n], vec![0u32; n]);
        let scratch = simplicial::prefactorize_symbolic_cholesky_scratch::<u32>(n, indices.len());
        simplicial::prefactorize_symbolic_cholesky(
            &mut tree,
            &mut counts,
            upper,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        let mut out = Self::default();
        for count in counts {
            let below = block * f64::from(count.saturating_sub(1));
            // Column by column of the block, r entries below the pivot: r (r + 2) operations, r between `below` and that and a block.
            let mean = below + 0.5 * (block - 1.0);
            let spread = (block * block - 1.0) / 12.0;
            out.entries += block * (mean + 1.0);
            out.flops += block * (mean * mean + spread + 2.0 * mean);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockPattern;

    #[test]
    fn agrees_with_the_pattern_of_the_factor() {
        let (rows, columns) = (9, 7);
        let n = rows * columns;
        let mut graph = Graph::new(n);
        for i in 0..n {
            if i % columns > 0 {
                graph.connect(i, i - 1);
            }
            if i >= columns {
                graph.connect(i, i - columns);
            }
        }
        let order = graph.minimum_degree().unwrap();
        let mut rank = vec![0; n];
        order.iter().enumerate().for_each(|(k, i)| rank[*i] = k);
        let mut permuted = Graph::new(n);
        for i in 0..n {
            if i % columns > 0 {
                permuted.connect(rank[i], rank[i - 1]);
            }
            if i >= columns {
                permuted.connect(rank[i], rank[i - columns]);
            }
        }
        for block in [1, 3, 6] {
            let fill = Fill::new(&graph, &order, block as f64).unwrap();
            let bounds = (0..=n).map(|k| k * block).collect();
            let pattern = BlockPattern::new(bounds, &permuted).unwrap();
            assert_eq!(fill.entries, pattern.entries() as f64);
            assert_eq!(fill.flops.round(), pattern.flops() as f64);
        }
    }

    #[test]
    fn an_order_that_is_none_is_an_error() {
        let graph = Graph::new(3);
        for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3]] {
            assert!(matches!(
                Fill::new(&graph, order, 1.0),
                Err(SparseError::Size { .. })
            ));
        }
        let empty = Fill::new(&Graph::new(0), &[], 3.0).unwrap();
        assert_eq!(empty, Fill::default());
    }
}
