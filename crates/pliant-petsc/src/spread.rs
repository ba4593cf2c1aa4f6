//! A system of equations whose rows are spread over the processes.

use crate::Error;
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
    sources: Sources,
    values: Vec<f64>,
    own: Range<usize>,
    share: Share,
    /// The matrix of PETSc.
    pub(crate) matrix: ffi::Matrix,
}

/// Of each entry of this process its place among the values of `W`, then of `J`, then of `R`.
#[derive(Debug, Default)]
struct Sources {
    w: Vec<u32>,
    j: Vec<u32>,
    r: Vec<u32>,
}

/// Places of the entries in the rows of this process.
struct Places {
    own: Range<usize>,
    rows: Vec<i32>,
    columns: Vec<i32>,
}

impl Places {
    /// Notes the entry `(i, k)` of a symmetric matrix in both its rows, as far as they are this
    /// process's, with the slot that its value comes from. `index` has been asked for all of them.
    fn add(&mut self, (i, k): (usize, usize), slot: usize, sources: &mut Vec<u32>) {
        let both = [(i, k), (k, i)];
        let count = if i == k { 1 } else { 2 };
        for (row, column) in &both[..count] {
            if self.own.contains(row) {
                self.rows.push(*row as i32);
                self.columns.push(*column as i32);
                sources.push(slot as u32);
            }
        }
    }
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
        let mut places = Places {
            own: own.clone(),
            rows: Vec::new(),
            columns: Vec::new(),
        };
        let mut sources = Sources::default();
        let fixed = &system.fixed;
        for i in 0..n {
            for (slot, k) in slots(system.w.pattern(), i) {
                if i == k || !fixed[i] && !fixed[k] {
                    places.add((i, k), slot, &mut sources.w);
                }
            }
        }
        for i in 0..m {
            for (slot, k) in slots(system.j.pattern(), i).filter(|(_, k)| !fixed[*k]) {
                places.add((n + i, k), slot, &mut sources.j);
            }
        }
        for i in 0..m {
            for (slot, k) in slots(system.r.pattern(), i) {
                places.add((n + i, n + k), slot, &mut sources.r);
            }
        }
        let Places { rows, columns, .. } = places;
        let mut others: Vec<i32> = columns.clone();
        others.retain(|k| !own.contains(&(*k as usize)));
        others.sort_unstable();
        others.dedup();
        let share = Share {
            rows: own.len(),
            entries: rows.len(),
            received: others.len(),
        };
        Ok(Self {
            shape: KktShape::of(system),
            values: vec![0.0; rows.len()],
            matrix: ffi::Matrix::new(library, own.len(), block, rows, columns)?,
            sources,
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
        let parts = [
            (&self.sources.w, system.w.values(), 1.0),
            (&self.sources.j, system.j.values(), -1.0),
            (&self.sources.r, system.r.values(), -1.0),
        ];
        let entries = parts
            .into_iter()
            .flat_map(|(slots, values, sign)| slots.iter().map(move |slot| sign * values[*slot as usize]));
        for (value, entry) in self.values.iter_mut().zip(entries) {
            *value = entry;
        }
        self.matrix.set(&self.values)
    }
}

/// The slots of a row with their columns.
fn slots(pattern: &pliant_sparse::Pattern, i: usize) -> impl Iterator<Item = (usize, usize)> {
    pattern
        .row_slots(i)
        .zip(pattern.row(i).iter().map(|k| *k as usize))
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
