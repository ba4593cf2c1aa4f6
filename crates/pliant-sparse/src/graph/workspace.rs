//! Scratch of orderings, which larger graphs than ever before let grow.

use super::adjacency::{Adjacency, Sorting};
use super::compress::Groups;
use super::counts;
use crate::SparseError;
use faer::dyn_stack::MemStack;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use std::mem::MaybeUninit;

/// Scratch of what is found of a graph. No result depends on what is in it.
#[derive(Debug, Default)]
pub(crate) struct GraphWorkspace {
    /// Neighbours of the vertices of a graph, and of its groups.
    pub(super) full: Adjacency,
    pub(super) quotient: Adjacency,
    pub(super) sorting: Sorting,
    pub(super) groups: Groups,
    pub(super) ordering: Ordering,
}

/// An order, and scratch to find one and what it costs.
#[derive(Debug, Default)]
pub(super) struct Ordering {
    /// The k-th entry is the k-th vertex to go.
    pub(super) order: Vec<u32>,
    pub(super) counts: counts::Scratch,
    inverse: Vec<u32>,
    stack: Vec<MaybeUninit<u64>>,
}

impl Ordering {
    /// Finds an order by approximate minimum degree.
    pub(super) fn minimum_degree(&mut self, graph: &Adjacency) -> Result<(), SparseError> {
        let n = graph.len();
        for list in [&mut self.order, &mut self.inverse] {
            list.clear();
            list.resize(n, 0);
        }
        if n == 0 {
            return Ok(());
        }
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &graph.offsets, None, &graph.neighbours);
        let request = amd::order_scratch::<u32>(n, graph.neighbours.len());
        let words = request.unaligned_bytes_required().div_ceil(size_of::<u64>());
        self.stack.resize(words, MaybeUninit::uninit());
        amd::order(
            &mut self.order,
            &mut self.inverse,
            pattern,
            amd::Control::default(),
            MemStack::new_any(&mut self.stack),
        )
        .map_err(|e| SparseError::Symbolic {
            reason: format!("{e:?}"),
        })?;
        Ok(())
    }
}

/// An order by approximate minimum degree.
pub(super) fn minimum_degree(graph: &Adjacency) -> Result<Vec<u32>, SparseError> {
    let mut ordering = Ordering::default();
    ordering.minimum_degree(graph)?;
    Ok(ordering.order)
}
