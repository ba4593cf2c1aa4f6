//! A system of equations whose rows are spread over the processes.

use crate::Error;
use crate::entries::{Entries, Places, count_received};
use crate::ffi::{self, Library, index};
use crate::session::Share;
use pliant_solvers::{KktShape, KktSystem};
use std::ops::Range;
use std::sync::Arc;

/// The matrix `[W -J^T; -J -R]` over the processes: unknowns `x`, then `mu`, of which each process
/// has a range of about the same length. Fixed variables keep their diagonal and nothing else.
#[derive(Debug)]
pub(crate) struct SpreadSystem {
    shape: KktShape,
    entries: Entries,
    own: Range<usize>,
    share: Share,
    /// The matrix of PETSc.
    pub(crate) matrix: ffi::Matrix,
}

impl SpreadSystem {
    /// Plans the matrix of a system. Collective.
    pub(crate) fn new(library: &Arc<Library>, system: &KktSystem) -> Result<Self, Error> {
        let (rank, size) = library.rank_and_size()?;
        let (n, m) = (system.n(), system.m());
        index("unknowns", n + m)?;
        let block = common_block(system);
        let first_of = |rank: usize| (n + m) / block * rank / size * block;
        let own = first_of(rank)..first_of(rank + 1);
        let place = |i: usize, k: usize| own.contains(&i).then_some((i as i32, k as i32));
        let (entries, Places { rows, columns }) = Entries::of(system, place);
        let share = Share {
            rows: own.len(),
            entries: rows.len(),
            received: count_received(&columns, &own),
        };
        Ok(Self {
            shape: KktShape::of(system),
            matrix: ffi::Matrix::new(library, own.len(), block, rows, columns)?,
            entries,
            own,
            share,
        })
    }

    /// Whether it was planned for systems of this shape.
    pub(crate) fn fits(&self, system: &KktSystem) -> bool {
        self.shape.fits(system)
    }

    /// The unknowns of this process.
    pub(crate) fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// Work and memory of this process.
    pub(crate) fn share(&self) -> Share {
        self.share
    }

    /// Takes the values of a system of its shape. Collective.
    pub(crate) fn fill(&mut self, system: &KktSystem) -> Result<(), Error> {
        self.matrix.set(self.entries.of_values(system))
    }
}

/// The size of all blocks of variables where there are no rows; else 1.
fn common_block(system: &KktSystem) -> usize {
    let blocks = system.primal_blocks();
    let first = blocks.get(1).copied().unwrap_or(1);
    match system.m() == 0 && blocks.windows(2).all(|w| w[1] - w[0] == first) {
        true => first,
        false => 1,
    }
}
