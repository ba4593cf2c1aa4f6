//! The generalised Jacobian as a sparse matrix of its own.

use crate::complementarity::{Problem, ProblemError};
use pliant_sparse::{CsrMatrix, LuFactor, Pattern, PatternBuilder};

/// `F_r + F_u (A + e D)` by columns, which are divided by `D`, and its factor.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The pattern of `A` that was analysed, and where blocks start.
    seen: Option<Pattern>,
    offsets: Vec<usize>,
    matrix: Option<CsrMatrix>,
    factor: Option<LuFactor>,
    /// For each entry of `A` the place of the first row of its block in the column of the entry,
    /// and the scale of that column's block.
    places: Vec<u32>,
    scales: Vec<f64>,
    /// For each row the place of the first row of its block in the column of the same number.
    own: Vec<u32>,
}

impl Entries {
    /// Forgets the factor.
    pub(super) fn forget(&mut self) {
        self.seen = None;
        self.factor = None;
    }

    /// Takes the pattern of a problem with the entries `a`. Allocates only for a new one.
    pub(super) fn prepare(&mut self, problem: &Problem, a: &CsrMatrix) -> Result<(), ProblemError> {
        let (m, pattern) = (problem.size(), a.pattern());
        if self.seen.as_ref() != Some(pattern) || self.offsets != problem.offsets() {
            let mut transposed = PatternBuilder::new(m, m);
            for k in 0..problem.blocks() {
                let (rows, height) = (problem.rows(k), problem.rows(k).len());
                transposed.insert_block((rows.start, rows.start), (height, height), false);
                for row in rows.clone() {
                    for column in pattern.row(row) {
                        transposed.insert_block((*column as usize, rows.start), (1, height), false);
                    }
                }
            }
            let matrix = transposed.finish()?.into_matrix();
            let place = |column: usize, row: usize| {
                let slot = matrix.pattern().slot(column, row);
                slot.expect("every entry was inserted above") as u32
            };
            self.places.clear();
            self.own.clear();
            for k in 0..problem.blocks() {
                let first = problem.rows(k).start;
                for row in problem.rows(k) {
                    self.own.push(place(row, first));
                    self.places.extend(
                        pattern
                            .row(row)
                            .iter()
                            .map(|column| place(*column as usize, first)),
                    );
                }
            }
            self.factor = Some(LuFactor::new(matrix.pattern())?);
            self.matrix = Some(matrix);
            self.seen = Some(pattern.clone());
            self.offsets = problem.offsets().to_vec();
        }
        self.scales.clear();
        self.scales.resize(m, 0.0);
        for k in 0..problem.blocks() {
            self.scales[problem.rows(k)].fill(problem.scale(k));
        }
        Ok(())
    }

    /// Fills and factors. False if it fails.
    pub(super) fn factor(&mut self, problem: &Problem, by_r: &[f64], by_u: &[f64], e: f64) -> bool {
        let (Some(matrix), Some(factor)) = (&mut self.matrix, &mut self.factor) else {
            return false;
        };
        let Some(a) = problem.delassus().matrix() else {
            return false;
        };
        matrix.clear();
        let to = matrix.values_mut();
        for k in 0..problem.blocks() {
            let rows = problem.rows(k);
            let (d, square) = (rows.len(), problem.square(k).start);
            let g = |i: usize, l: usize| by_u[square + i * d + l];
            for (l, row) in rows.enumerate() {
                for slot in a.pattern().row_slots(row) {
                    let column = a.pattern().indices()[slot] as usize;
                    let value = a.values()[slot] / self.scales[column];
                    let first = self.places[slot] as usize;
                    (0..d).for_each(|i| to[first + i] += g(i, l) * value);
                }
                let first = self.own[row] as usize;
                for i in 0..d {
                    to[first + i] += by_r[square + i * d + l] / self.scales[row] + g(i, l) * e;
                }
            }
        }
        factor.factor(matrix).is_ok()
    }

    /// Entries of the last factors.
    pub(super) fn filled(&self) -> usize {
        self.factor.as_ref().map_or(0, LuFactor::entries)
    }

    /// Whether the determinant is negative.
    pub(super) fn is_turned(&self) -> bool {
        self.factor
            .as_ref()
            .is_some_and(LuFactor::has_negative_determinant)
    }

    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        if let Some(factor) = &mut self.factor {
            factor.solve_in_place(x);
        }
    }
}
