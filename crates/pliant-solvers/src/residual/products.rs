//! The products of a residual with the sizes of their terms, by blocks and runs whose lengths the
//! compiler knows. Sums are in the order of the entries.

use crate::KktSystem;
use pliant_sparse::{TakeRun, for_each_run};
use std::ops::Range;

/// Repeats a block for every number below six, as a constant.
macro_rules! each {
    ($k:ident, $body:block) => {
        each!(@ $k, $body, 0, 1, 2, 3, 4, 5);
    };
    (@ $k:ident, $body:block, $($n:literal),*) => {
        $({
            let $k: usize = $n;
            $body
        })*
    };
}

/// Sums for every variable, and the sums of the sizes of their terms.
pub(super) struct Sums<'a> {
    pub(super) values: &'a mut [f64],
    pub(super) sizes: &'a mut [f64],
}

/// A row of coefficients, the variables that it multiplies, and the number that is multiplied with
/// it across.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) coefficients: &'a [f64],
    pub(super) x: &'a [f64],
    pub(super) across: f64,
}

/// A row on its way: what it sums up to, along and across.
struct Row<'a, 'b> {
    terms: Terms<'a>,
    sums: &'a mut Sums<'b>,
    along: (f64, f64),
}

impl TakeRun for Row<'_, '_> {
    #[inline(always)]
    fn take<const N: usize>(&mut self, at: usize, column: usize) {
        let mut a = [0.0; N];
        a.copy_from_slice(&self.terms.coefficients[at..at + N]);
        let x = &self.terms.x[column..column + N];
        for k in 0..N {
            let term = a[k] * x[k];
            self.along.0 += term;
            self.along.1 += term.abs();
        }
        let across = a.map(|a| a * self.terms.across);
        let values = &mut self.sums.values[column..column + N];
        for k in 0..N {
            values[k] += across[k];
        }
        let sizes = &mut self.sums.sizes[column..column + N];
        for k in 0..N {
            sizes[k] += across[k].abs();
        }
    }
}

impl Sums<'_> {
    /// Adds the row times the number across to the variables of its columns; the product of the row
    /// with the variables, and the sum of the sizes of its terms.
    #[inline(always)]
    pub(super) fn add_row(&mut self, columns: &[u32], terms: Terms<'_>) -> (f64, f64) {
        let mut row = Row {
            terms,
            sums: self,
            along: (0.0, 0.0),
        };
        for_each_run(columns, &mut row);
        row.along
    }

    /// Subtracts `W x`.
    pub(super) fn subtract_symmetric(&mut self, system: &KktSystem, x: &[f64]) {
        for block in system.primal_blocks().windows(2) {
            let own = block[0]..block[1];
            let values = &system.w.values()[entries(system, &own)];
            if own.len() == 6 && stands_alone(system, &own) {
                self.subtract_triangle(values, &x[own.clone()], own);
                continue;
            }
            for i in own {
                self.subtract_row(system, x, i);
            }
        }
    }

    /// Subtracts one row of `W`, and its part left of the diagonal as a column.
    fn subtract_row(&mut self, system: &KktSystem, x: &[f64], i: usize) {
        let slots = system.w.pattern().row_slots(i);
        let (columns, a) = (
            &system.w.pattern().indices()[slots.clone()],
            &system.w.values()[slots],
        );
        // The diagonal is the last entry of a row of a lower triangle.
        let ([columns @ .., _], [left @ .., diagonal]) = (columns, a) else {
            return;
        };
        // Of a difference the terms are negative.
        let terms = Terms {
            coefficients: left,
            x,
            across: -x[i],
        };
        let (mut sum, mut size) = self.add_row(columns, terms);
        let term = diagonal * x[i];
        sum += term;
        size += term.abs();
        self.values[i] -= sum;
        self.sizes[i] += size;
    }

    /// Subtracts the product of a symmetric matrix of six rows, whose lower triangle `a` has by
    /// rows, with six variables, for the variables `own`.
    fn subtract_triangle(&mut self, a: &[f64], x: &[f64], own: Range<usize>) {
        let (a, x) = (&a[..21], &x[..6]);
        let (values, sizes) = (&mut self.values[own.clone()][..6], &mut self.sizes[own][..6]);
        let (mut v, mut s) = ([0.0; 6], [0.0; 6]);
        v.copy_from_slice(values);
        s.copy_from_slice(sizes);
        each!(i, {
            let (mut sum, mut size) = (0.0, 0.0);
            each!(k, {
                if k <= i {
                    let a = a[i * (i + 1) / 2 + k];
                    let term = a * x[k];
                    sum += term;
                    size += term.abs();
                    if k < i {
                        let term = a * x[i];
                        v[k] -= term;
                        s[k] += term.abs();
                    }
                }
            });
            v[i] -= sum;
            s[i] += size;
        });
        values.copy_from_slice(&v);
        sizes.copy_from_slice(&s);
    }
}

/// The slots of `W` in the rows of a block.
fn entries(system: &KktSystem, own: &Range<usize>) -> Range<usize> {
    let offsets = system.w.pattern().offsets();
    offsets[own.start] as usize..offsets[own.end] as usize
}

/// Whether the rows of a block have all entries of its lower triangle, and no others.
fn stands_alone(system: &KktSystem, own: &Range<usize>) -> bool {
    let n = own.len();
    // Columns ascend up to the diagonal: from the first of the block on there are no more.
    let starts = |i: usize| system.w.pattern().row(i).first() == Some(&(own.start as u32));
    entries(system, own).len() == n * (n + 1) / 2 && own.clone().all(starts)
}
