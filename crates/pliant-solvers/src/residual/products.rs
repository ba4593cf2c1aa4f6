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

#[cfg(test)]
mod tests {
    use crate::residual::ResidualWorkspace;
    use crate::{KktSystem, Solution};
    use pliant_sparse::PatternBuilder;

    /// Bodies of six and particles of three in turns, one row block for each two neighbours, some of
    /// them tied by a spring. Every other row block is hard.
    fn system(count: usize) -> KktSystem {
        let mut first = vec![0];
        (0..count).for_each(|k| first.push(first[k] + [6, 6, 3][k % 3]));
        let (n, m) = (first[count], 3 * (count - 1));
        let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
        let block = |k: usize| (first[k], first[k + 1] - first[k]);
        for k in 0..count {
            let (own, size) = block(k);
            w.insert_block((own, own), (size, size), true);
            if k % 4 == 3 {
                let (other, width) = block(k - 2);
                w.insert_block((own, other), (size, width), false);
            }
            if k + 1 < count {
                j.insert_block((3 * k, own), (3, size), false);
                j.insert_block((3 * k, first[k + 1]), (3, block(k + 1).1), false);
                r.insert_block((3 * k, 3 * k), (3, 3), true);
            }
        }
        let patterns = [w, j, r].map(|p| p.finish().unwrap());
        let [w, j, r] = patterns;
        let mut s = KktSystem::new(w, j, r, first, (0..=m).step_by(3).collect()).unwrap();
        for (k, v) in s.w.values_mut().iter_mut().enumerate() {
            *v = 1.5 + (k as f64).sin();
        }
        for (k, v) in s.j.values_mut().iter_mut().enumerate() {
            *v = (5.0 * k as f64).cos();
        }
        for i in (0..m).filter(|i| i / 3 % 2 == 0) {
            for slot in s.r.pattern().row_slots(i) {
                s.r.values_mut()[slot] = 0.3 + (slot as f64).cos();
            }
        }
        s.c.iter_mut()
            .enumerate()
            .for_each(|(k, c)| *c = (k as f64).sqrt());
        s.b.iter_mut()
            .enumerate()
            .for_each(|(k, b)| *b = 1.0 / (k as f64 + 2.0));
        s
    }

    #[test]
    fn residuals_are_those_of_the_entries() {
        let mut s = system(14);
        s.fixed[7] = true;
        let (n, m) = (s.n(), s.m());
        let solution = Solution {
            x: (0..n).map(|k| (2.0 * k as f64).sin()).collect(),
            mu: (0..m).map(|k| (3.0 * k as f64).sin()).collect(),
        };
        let (x, mu) = (&solution.x, &solution.mu);
        let mut workspace = ResidualWorkspace::default();
        let found = s.residual(&solution, &mut workspace);
        let lower = |i: usize, k: usize| (i.max(k), i.min(k));
        let w = |i: usize, k: usize| s.w.get(lower(i, k).0, lower(i, k).1);
        let r = |i: usize, k: usize| s.r.get(lower(i, k).0, lower(i, k).1);
        let (mut primal, mut row, mut share) = (0.0f64, 0.0f64, 0.0f64);
        for i in 0..n {
            let of_w = (0..n).map(|k| -w(i, k) * x[k]);
            let terms = of_w.chain((0..m).map(|k| s.j.get(k, i) * mu[k])).chain([s.c[i]]);
            let (sum, size) = terms.fold((0.0, 0.0), |(a, b), t| (a + t, b + t.abs()));
            if i == 7 {
                assert_eq!(workspace.primal()[i], 0.0);
                continue;
            }
            assert!((workspace.primal()[i] - sum).abs() < 1e-14 * size, "variable {i}");
            primal = primal.max((sum / s.w_diagonal(i)).abs());
            share = share.max(sum.abs() / size);
        }
        for i in 0..m {
            let of_j = (0..n).map(|k| s.j.get(i, k) * x[k]);
            let terms = of_j.chain((0..m).map(|k| r(i, k) * mu[k])).chain([s.b[i]]);
            let (sum, size) = terms.fold((0.0, 0.0), |(a, b), t| (a + t, b + t.abs()));
            assert!((workspace.row()[i] - sum).abs() < 1e-14 * size, "row {i}");
            row = row.max(sum.abs());
            share = share.max(sum.abs() / size);
        }
        for (found, expected) in [(found.primal, primal), (found.row, row), (found.relative, share)] {
            assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
        }
    }

    #[test]
    fn no_product_hides_what_is_no_number() {
        let s = system(5);
        let whole = Solution {
            x: vec![1.0; s.n()],
            mu: vec![1.0; s.m()],
        };
        for bad in [f64::NAN, f64::INFINITY] {
            for i in 0..s.n() + s.m() {
                let mut solution = whole.clone();
                *solution.x.iter_mut().chain(&mut solution.mu).nth(i).unwrap() = bad;
                let found = s.residual(&solution, &mut ResidualWorkspace::default());
                assert!(!found.is_finite(), "{bad} at {i}");
            }
        }
    }

    #[test]
    fn rows_are_soft_by_their_scale_and_supports_are_where_variables_are_fixed() {
        let mut s = system(8);
        let solution = Solution {
            x: vec![0.5; s.n()],
            mu: vec![-2.0; s.m()],
        };
        let mut support = vec![f64::NAN; s.n()];
        s.support_into(&solution, &mut support);
        assert!(support.iter().all(|f| *f == 0.0));
        s.fixed[4] = true;
        // A row on nothing that is free has scale zero; hard ones are among them.
        (0..15).for_each(|k| s.fixed[k] = true);
        for i in 0..s.m() {
            for share in [0.1, 1.0, 10.0] {
                let expected = s.r_diagonal(i) >= share * s.row_scale(i);
                assert_eq!(s.is_soft_row(i, share), expected, "row {i}, {share}");
            }
        }
        let soft = (0..s.m()).filter(|i| s.is_soft_row(*i, 0.1)).count();
        assert!(soft > 0 && soft < s.m());
        s.support_into(&solution, &mut support);
        let force: f64 = (0..s.n()).map(|k| s.w.get(4.max(k), 4.min(k)) * 0.5).sum();
        let rows: f64 = (0..s.m()).map(|k| s.j.get(k, 4) * -2.0).sum();
        assert!((support[4] - (force - rows - s.c[4])).abs() < 1e-13);
        assert!(support[15..].iter().all(|f| *f == 0.0));
    }
}
