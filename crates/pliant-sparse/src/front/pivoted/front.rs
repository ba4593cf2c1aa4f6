//! One dense front with pivots of one and two.

use super::{Entry, Inertia};

/// A symmetric matrix, both triangles by columns, and the variables of its rows. The first ones are
/// complete and may be eliminated.
#[derive(Clone, Debug)]
pub(super) struct DenseFront {
    variables: Vec<usize>,
    complete: usize,
    /// How many are eliminated; they come first.
    done: usize,
    values: Vec<f64>,
}

/// Part of the factor that a front gives, for the solves.
#[derive(Clone, Debug)]
pub(super) struct Eliminated {
    variables: Vec<usize>,
    /// Columns of `L` below the diagonal, one after another.
    columns: Vec<f64>,
    pivots: Vec<Pivot>,
}

/// A block of `D`, by its inverse.
#[derive(Clone, Copy, Debug)]
enum Pivot {
    One(f64),
    /// Entries (0,0), (0,1), (1,1).
    Two([f64; 3]),
}

impl Pivot {
    fn size(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 2,
        }
    }
}

impl DenseFront {
    /// Zeros.
    pub(super) fn new(complete: Vec<usize>, below: &[usize]) -> Self {
        let count = complete.len();
        let mut variables = complete;
        variables.extend_from_slice(below);
        let order = variables.len();
        Self {
            variables,
            complete: count,
            done: 0,
            values: vec![0.0; order * order],
        }
    }

    fn order(&self) -> usize {
        self.variables.len()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.order() + i]
    }

    /// Variables that found no pivot.
    pub(super) fn delayed(&self) -> &[usize] {
        &self.variables[self.done..self.complete]
    }

    /// Adds entries of the matrix, once each, and what children left. `place` is scratch, one per
    /// variable.
    pub(super) fn assemble(&mut self, entries: &[Entry], children: &[Self], place: &mut [usize]) {
        let order = self.order();
        for (k, v) in self.variables.iter().enumerate() {
            place[*v] = k;
        }
        for (i, j, value) in entries {
            let (i, j) = (place[*i], place[*j]);
            self.values[j * order + i] += value;
            if i != j {
                self.values[i * order + j] += value;
            }
        }
        for child in children {
            let from = &child.variables[child.done..];
            for (c, v) in from.iter().enumerate() {
                let source = &child.values[(child.done + c) * child.order() + child.done..][..from.len()];
                let target = &mut self.values[place[*v] * order..][..order];
                for (value, w) in source.iter().zip(from) {
                    target[place[*w]] += value;
                }
            }
        }
    }

    /// Eliminates what has a pivot. At a root that is everything but zeros: of complete rows, the
    /// one of the largest entry passes the test, alone or with its partner (Bunch and Parlett
    /// 1971). Entries of a share `zero` of the largest one ever seen are rounding.
    ///
    /// A complete column of which nothing but rounding is left stays so: nothing is added to it any
    /// more, and pivots to come subtract multiples of its own entries. It is found here, not at the
    /// root: carried there, it would widen every front on its way, and meet their pivots.
    pub(super) fn eliminate(
        &mut self,
        threshold: f64,
        zero: f64,
        is_root: bool,
        inertia: &mut Inertia,
        seen: &mut f64,
    ) -> Eliminated {
        *seen = self.values.iter().fold(*seen, |m, a| m.max(a.abs()));
        let mut pivots = Vec::new();
        let mut next = self.done;
        while next < self.complete {
            let Some((p, partner)) = self.test(next, threshold, zero * *seen) else {
                next += 1;
                continue;
            };
            self.swap(p, self.done);
            let pivot = match partner {
                None => self.one(inertia, seen),
                Some(partner) => {
                    // The first swap may have moved the partner.
                    let partner = if partner == self.done { p } else { partner };
                    self.swap(partner, self.done + 1);
                    self.two(inertia, seen)
                }
            };
            self.done += pivot.size();
            pivots.push(pivot);
            // After a success all are worth another look.
            next = self.done;
        }
        let used = self.done;
        for p in self.done..self.complete {
            // At a root nothing but zeros is left.
            if is_root || self.is_zero(p, zero * *seen) {
                self.swap(p, self.done);
                self.done += 1;
            }
        }
        // These variables are free.
        inertia.zero += self.done - used;
        pivots.resize(pivots.len() + self.done - used, Pivot::One(0.0));
        let order = self.order();
        let mut columns = Vec::new();
        for k in 0..self.done {
            let column = &self.values[k * order + k + 1..(k + 1) * order];
            columns.extend(column.iter().map(|l| if k < used { *l } else { 0.0 }));
        }
        Eliminated {
            variables: self.variables.clone(),
            columns,
            pivots,
        }
    }

    /// Whether nothing in the column of candidate `p` is above the size of zero.
    fn is_zero(&self, p: usize, zero: f64) -> bool {
        let column = &self.values[p * self.order()..][..self.order()];
        // Not so a NaN.
        column[self.done..].iter().all(|a| a.abs() <= zero)
    }

    /// Whether candidate `p` has a pivot of one, or of two with its largest complete partner, above
    /// the size of zero.
    fn test(&self, p: usize, threshold: f64, zero: f64) -> Option<(usize, Option<usize>)> {
        let column = |c: usize| &self.values[c * self.order()..(c + 1) * self.order()];
        let own = column(p);
        let (mut largest, mut partner) = (0.0f64, None);
        for i in (self.done..self.order()).filter(|i| *i != p) {
            let size = own[i].abs();
            if size > largest {
                largest = size;
            }
            if i < self.complete && partner.is_none_or(|r: usize| size > own[r].abs()) {
                partner = Some(i);
            }
        }
        if own[p].abs() >= threshold * largest {
            // All of a column may be rounding, or zero: leave that to the root.
            return (own[p].abs() > zero).then_some((p, None));
        }
        let r = partner?;
        let (a, b, c) = (own[p], own[r], column(r)[r]);
        if b.abs() <= zero {
            return None;
        }
        // Relative to b, so that nothing overflows.
        let det = (a / b) * (c / b) - 1.0;
        let (mut largest_p, mut largest_r) = (0.0f64, 0.0f64);
        let other = column(r);
        for i in (self.done..self.order()).filter(|i| *i != p && *i != r) {
            largest_p = largest_p.max(own[i].abs());
            largest_r = largest_r.max(other[i].abs());
        }
        let size = b.abs() * det.abs();
        let first = (c / b).abs() * largest_p + largest_r;
        let second = largest_p + (a / b).abs() * largest_r;
        // A pair that is nearly singular has a pivot of one in `c`.
        let regular = det.abs() >= threshold;
        (regular && threshold * first.max(second) <= size).then_some((p, Some(r)))
    }

    fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let order = self.order();
        self.variables.swap(a, b);
        for k in 0..order {
            self.values.swap(a * order + k, b * order + k);
        }
        for k in 0..order {
            self.values.swap(k * order + a, k * order + b);
        }
    }

    /// `A -= l d l^T` with the next variable.
    fn one(&mut self, inertia: &mut Inertia, seen: &mut f64) -> Pivot {
        let (k, order) = (self.done, self.order());
        let d = self.at(k, k);
        inertia.positive += usize::from(d > 0.0);
        inertia.negative += usize::from(d < 0.0);
        let (before, after) = self.values.split_at_mut((k + 1) * order);
        let own = &mut before[k * order..];
        for (c, column) in after.chunks_exact_mut(order).enumerate() {
            let l = own[k + 1 + c] / d;
            if l != 0.0 {
                for (a, y) in column[k + 1..].iter_mut().zip(&own[k + 1..]) {
                    *a -= l * y;
                    *seen = seen.max(a.abs());
                }
            }
        }
        own[k + 1..].iter_mut().for_each(|l| *l /= d);
        Pivot::One(1.0 / d)
    }

    /// `A -= L D L^T` with the next two variables.
    fn two(&mut self, inertia: &mut Inertia, seen: &mut f64) -> Pivot {
        let (k, order) = (self.done, self.order());
        let (a, b, c) = (self.at(k, k), self.at(k + 1, k), self.at(k + 1, k + 1));
        let det = (a / b) * (c / b) - 1.0;
        let inverse = [c / b / b / det, -1.0 / b / det, a / b / b / det];
        if det < 0.0 {
            inertia.positive += 1;
            inertia.negative += 1;
        } else if a > 0.0 {
            inertia.positive += 2;
        } else {
            inertia.negative += 2;
        }
        let (before, after) = self.values.split_at_mut((k + 2) * order);
        let (first, second) = before[k * order..].split_at_mut(order);
        for (j, column) in after.chunks_exact_mut(order).enumerate() {
            let (y0, y1) = (first[k + 2 + j], second[k + 2 + j]);
            let l0 = inverse[0] * y0 + inverse[1] * y1;
            let l1 = inverse[1] * y0 + inverse[2] * y1;
            let ys = first[k + 2..].iter().zip(&second[k + 2..]);
            for (a, (y0, y1)) in column[k + 2..].iter_mut().zip(ys) {
                *a -= l0 * y0 + l1 * y1;
                *seen = seen.max(a.abs());
            }
        }
        for (y0, y1) in first[k + 2..].iter_mut().zip(&mut second[k + 2..]) {
            let l0 = inverse[0] * *y0 + inverse[1] * *y1;
            *y1 = inverse[1] * *y0 + inverse[2] * *y1;
            *y0 = l0;
        }
        // Inside the block, L is the identity.
        first[k + 1] = 0.0;
        Pivot::Two(inverse)
    }
}

impl Eliminated {
    /// Entries of `L` below its diagonal.
    pub(super) fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The variables of zero pivots: those are the last ones of a front.
    pub(super) fn zeros(&self) -> &[usize] {
        let is_zero = |p: &&Pivot| matches!(p, Pivot::One(inverse) if *inverse == 0.0);
        let zeros = self.pivots.iter().rev().take_while(is_zero).count();
        let done = self.pivots.iter().map(|p| p.size()).sum::<usize>();
        &self.variables[done - zeros..done]
    }

    fn columns(&self) -> impl DoubleEndedIterator<Item = &[f64]> + ExactSizeIterator {
        let order = self.variables.len();
        let done = self.pivots.iter().map(|p| p.size()).sum::<usize>();
        let start = move |k: usize| k * order - k * (k + 1) / 2;
        // Each is one shorter than the one before.
        (0..done).map(move |k| &self.columns[start(k)..start(k + 1)])
    }

    /// `z = L^-1 b`, then `D^-1 z`.
    pub(super) fn forward(&self, x: &mut [f64]) {
        for (k, column) in self.columns().enumerate() {
            let own = x[self.variables[k]];
            for (l, v) in column.iter().zip(&self.variables[k + 1..]) {
                x[*v] -= l * own;
            }
        }
        let mut k = 0;
        for pivot in &self.pivots {
            let own = self.variables[k];
            match pivot {
                Pivot::One(inverse) => x[own] *= inverse,
                Pivot::Two([a, b, c]) => {
                    let other = self.variables[k + 1];
                    (x[own], x[other]) = (a * x[own] + b * x[other], b * x[own] + c * x[other]);
                }
            }
            k += pivot.size();
        }
    }

    /// `x = L^-T z`.
    pub(super) fn backward(&self, x: &mut [f64]) {
        for (k, column) in self.columns().enumerate().rev() {
            let terms = column.iter().zip(&self.variables[k + 1..]);
            let sum: f64 = terms.map(|(l, v)| l * x[*v]).sum();
            x[self.variables[k]] -= sum;
        }
    }

    /// Largest entry of the factor below its pivots.
    #[cfg(test)]
    pub(super) fn largest(&self) -> f64 {
        self.columns.iter().fold(0.0, |m, l| m.max(l.abs()))
    }

    /// How many unknowns have been eliminated.
    #[cfg(test)]
    pub(super) fn eliminated(&self) -> usize {
        self.pivots.iter().map(|p| p.size()).sum()
    }
}
