//! Buffers of an evaluation: those of single calls, and the numbers that mappings keep.

use crate::blocks::PIECE;
use crate::{Degenerate, MappingPieces, Parents};
use pliant_threads::Threads;

/// Buffers of single calls.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Unit forces on one node, for the bias of mappings that have no formula of their own.
    pub(super) unit: Vec<f64>,
    /// Positions and velocities of one driven node against its motion.
    pub(super) shifted: Vec<f64>,
    /// The Jacobian block of one element, and the numbers that repeat in it.
    pub(super) element: [Vec<f64>; 2],
}

impl Buffers {
    /// So many of the numbers of driven nodes.
    pub(super) fn shifted(&mut self, length: usize) -> &mut [f64] {
        if self.shifted.len() < length {
            self.shifted.resize(length, 0.0);
        }
        &mut self.shifted[..length]
    }
}

/// Numbers that the mapping of a node keeps between its value and its derivatives
/// ([`MappingPieces::prepare`](crate::MappingPieces::prepare)).
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) values: Vec<f64>,
    /// Whether they are those of the positions that were propagated last.
    pub(super) current: bool,
}

impl Kept {
    /// Has the mapping write them, if it keeps any.
    pub(super) fn refill(
        &mut self,
        pieces: &dyn MappingPieces,
        parents: Parents<'_>,
        count: usize,
        threads: &Threads,
    ) -> Result<(), Degenerate> {
        let size = pieces.kept_size();
        if size == 0 {
            return Ok(());
        }
        self.current = false;
        let prepare = |elements, kept: &mut [f64]| pieces.prepare(parents, elements, kept);
        threads.for_each_piece((0..count, PIECE), |e| e * size, &mut self.values, prepare)?;
        self.current = true;
        Ok(())
    }

    /// The numbers of all elements; none where they are not known.
    pub(super) fn known(&self) -> &[f64] {
        if self.current { &self.values } else { &[] }
    }
}
