//! Families of systems on which solvers are timed, each at any size: [`links`], [`net`], [`solid`],
//! [`stacks`].
//!
//! They are written from the formulas in their documentation, without the engine, so that a
//! solver's figure says nothing of the model. Same arguments, same bits. The unit of a step is in
//! the values: `W = M + h^2 K` with [`STEP`], `x` is a velocity.

pub mod links;
pub mod net;
pub mod solid;
pub mod stacks;

use pliant::solvers::{KktSystem, SolveError};
use pliant::sparse::{CsrMatrix, PatternBuilder, SparseError};

/// Length of the implicit step, s.
pub const STEP: f64 = 0.01;

/// A number in [-1/2, 1/2] that looks random and is the same everywhere: the middle bits of a
/// product (Knuth's multiplicative hash).
pub fn noise(i: usize) -> f64 {
    let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// The whole matrix `[W -J^T; -J -R]` of a system without fixed variables: its lower triangle by
/// rows, which read by columns is the upper triangle.
///
/// # Errors
/// [`SparseError::TooLarge`].
pub fn assembled(system: &KktSystem) -> Result<CsrMatrix, SparseError> {
    let (n, m) = (system.n(), system.m());
    let mut pattern = PatternBuilder::new(n + m, n + m);
    for (part, row0, column0) in [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)] {
        for i in 0..part.pattern().rows() {
            for k in part.pattern().row(i) {
                pattern.insert(row0 + i, column0 + *k as usize);
            }
        }
    }
    let mut out = pattern.finish()?.into_matrix();
    update_assembled(system, &mut out);
    Ok(out)
}

/// New values of the same system into its [`assembled`] matrix.
///
/// # Panics
/// If `out` has fewer entries than the system.
pub fn update_assembled(system: &KktSystem, out: &mut CsrMatrix) {
    let values = out.values_mut();
    let own = system.w.values().len();
    values[..own].copy_from_slice(system.w.values());
    let mut at = own;
    for i in 0..system.m() {
        for part in [&system.j, &system.r] {
            for value in &part.values()[part.pattern().row_slots(i)] {
                values[at] = -value;
                at += 1;
            }
        }
    }
}

/// The right-hand side `[c; b]` of the [`assembled`] matrix.
pub fn assembled_rhs(system: &KktSystem) -> Vec<f64> {
    [system.c.as_slice(), &system.b].concat()
}

/// Entries of a sparse matrix in any order; those at one place are added up in the order they came.
#[derive(Debug, Default)]
struct Entries(Vec<((u32, u32), f64)>);

impl Entries {
    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.0.push(((row as u32, column as u32), value));
    }

    fn sort(&mut self) {
        // Stable, and linear where the entries came in order.
        self.0.sort_by_key(|(place, _)| *place);
    }

    /// The places, in any order.
    fn pattern(&self, rows: usize, columns: usize) -> Result<pliant::sparse::Pattern, SparseError> {
        let mut builder = PatternBuilder::new(rows, columns);
        for ((i, j), _) in &self.0 {
            builder.insert(*i as usize, *j as usize);
        }
        builder.finish()
    }

    /// The values, once sorted, into a matrix of that pattern.
    fn fill(&self, matrix: &mut CsrMatrix) {
        let values = matrix.values_mut();
        let mut last = None;
        let mut slot = 0;
        for (place, value) in &self.0 {
            if last.is_some_and(|l| l != *place) {
                slot += 1;
            }
            last = Some(*place);
            values[slot] += value;
        }
    }
}

/// A system from the entries of its matrices, with the blocks given by their sizes.
fn system(
    parts: [Entries; 3],
    primal: impl Iterator<Item = usize>,
    rows: impl Iterator<Item = usize>,
) -> Result<KktSystem, SolveError> {
    let (primal, rows) = (bounds(primal), bounds(rows));
    let (n, m) = (primal[primal.len() - 1], rows[rows.len() - 1]);
    let [mut w, mut j, mut r] = parts;
    for part in [&mut w, &mut j, &mut r] {
        part.sort();
    }
    let mut out = KktSystem::new(w.pattern(n, n)?, j.pattern(m, n)?, r.pattern(m, m)?, primal, rows)?;
    w.fill(&mut out.w);
    j.fill(&mut out.j);
    r.fill(&mut out.r);
    Ok(out)
}

/// Boundaries of blocks of given sizes.
fn bounds(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut out = vec![0];
    let mut end = 0;
    for size in sizes {
        end += size;
        out.push(end);
    }
    out
}
