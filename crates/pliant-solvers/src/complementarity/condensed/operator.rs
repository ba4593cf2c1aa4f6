//! The response of rows with cones and bounds through the bilateral part.

use crate::complementarity::ProblemError;
use crate::complementarity::saddle::terms;
use crate::{KktSystem, Solution};
use pliant_sparse::{DisjointSets, PatternBuilder};

/// Share of its diagonal below which what is left of a row of the operator is rounding: the row
/// depends on those that were taken before. Above the tolerance to which responses are solved, what
/// is dropped comes back by the velocities of the whole.
const DEPENDENT: f64 = 1e-12;

/// Entries of `R` of the rows with cones or bounds.
#[derive(Debug, Default)]
pub(super) struct Couplings {
    /// Both rows among these, and the slot.
    own: Vec<(usize, usize, usize)>,
    /// One among these and one of the bilateral rows, and the slot; ascending.
    mixed: Vec<(usize, usize, usize)>,
}

impl Couplings {
    /// Finds them for the rows `rows` of a system, of which `kept` are bilateral.
    pub(super) fn find(&mut self, system: &KktSystem, rows: &[usize], kept: &[usize]) {
        let mut place = vec![None; system.m()];
        rows.iter().enumerate().for_each(|(k, row)| place[*row] = Some(k));
        let mut kept_place = vec![0; system.m()];
        kept.iter().enumerate().for_each(|(k, row)| kept_place[*row] = k);
        self.own.clear();
        self.mixed.clear();
        for i in 0..system.m() {
            for (slot, k) in system.r.pattern().row_slots(i).zip(system.r.pattern().row(i)) {
                let k = *k as usize;
                match (place[i], place[k]) {
                    (Some(a), Some(b)) => self.own.push((a, b, slot)),
                    (Some(a), None) => self.mixed.push((a, kept_place[k], slot)),
                    (None, Some(b)) => self.mixed.push((b, kept_place[i], slot)),
                    (None, None) => {}
                }
            }
        }
        self.mixed.sort_unstable();
    }

    /// Entries of `R` between row `k` and bilateral ones.
    fn mixed_of(&self, k: usize) -> &[(usize, usize, usize)] {
        let first = self.mixed.partition_point(|(row, ..)| *row < k);
        let end = self.mixed.partition_point(|(row, ..)| *row <= k);
        &self.mixed[first..end]
    }

    /// Adds an impulse on row `k` to the right-hand sides of the bilateral part; whether it acts on
    /// anything.
    pub(super) fn add_impulse(
        &self,
        system: &KktSystem,
        rows: &[usize],
        k: usize,
        impulse: f64,
        rest: &mut KktSystem,
    ) -> bool {
        let mut acts = false;
        for (i, a) in terms(system, rows[k]) {
            rest.c[i] += a * impulse;
            acts |= a != 0.0;
        }
        for (_, row, slot) in self.mixed_of(k) {
            let value = system.r.values()[*slot];
            rest.b[*row] += value * impulse;
            acts |= value != 0.0;
        }
        acts
    }

    /// Velocities of the rows by a solution of the bilateral part alone.
    pub(super) fn velocities(
        &self,
        system: &KktSystem,
        rows: &[usize],
        solution: &Solution,
        out: &mut [f64],
    ) {
        for (out, row) in out.iter_mut().zip(rows) {
            *out = terms(system, *row).map(|(i, a)| a * solution.x[i]).sum();
        }
        for (k, row, slot) in &self.mixed {
            out[*k] += system.r.values()[*slot] * solution.mu[*row];
        }
    }

    /// Adds the velocities that a unit impulse on row `k` makes in the rows by their compliance.
    pub(super) fn add_own(&self, system: &KktSystem, k: usize, out: &mut [f64]) {
        for (a, b, slot) in &self.own {
            let value = system.r.values()[*slot];
            if *b == k {
                out[*a] += value;
            } else if *a == k {
                out[*b] += value;
            }
        }
    }

    /// Adds the velocities that impulses make in the rows by their compliance.
    pub(super) fn add_own_times(&self, system: &KktSystem, r: &[f64], out: &mut [f64]) {
        for (a, b, slot) in &self.own {
            let value = system.r.values()[*slot];
            out[*a] += value * r[*b];
            if a != b {
                out[*b] += value * r[*a];
            }
        }
    }

    /// For each of the rows, the first one that it may couple with: that entries of the matrices
    /// connect it to. Cost `O(nnz)`.
    pub(super) fn groups(&self, system: &KktSystem, rest: &KktSystem, rows: &[usize]) -> Vec<usize> {
        let (n, m) = (rest.n(), rest.m());
        let mut sets = DisjointSets::new(n + m + rows.len());
        let is_free = |k: &usize| !system.fixed[*k];
        for i in (0..n).filter(is_free) {
            let others = rest.w.pattern().row(i).iter().map(|k| *k as usize);
            others.filter(is_free).for_each(|k| sets.join(i, k));
        }
        for i in 0..m {
            let others = rest.j.pattern().row(i).iter().map(|k| *k as usize);
            others.filter(is_free).for_each(|k| sets.join(n + i, k));
            for k in rest.r.pattern().row(i) {
                sets.join(n + i, n + *k as usize);
            }
        }
        let first = n + m;
        for (k, row) in rows.iter().enumerate() {
            let of_row = system.j.pattern().row(*row).iter().map(|i| *i as usize);
            of_row.filter(is_free).for_each(|i| sets.join(first + k, i));
        }
        for (k, row, _) in &self.mixed {
            sets.join(first + k, n + row);
        }
        for (a, b, _) in &self.own {
            sets.join(first + a, first + b);
        }
        let mut first_of = vec![None; first + rows.len()];
        (0..rows.len())
            .map(|k| *first_of[sets.root(first + k)].get_or_insert(k))
            .collect()
    }
}

/// `A = V^T K^-1 V + R`, by entries, and its factor.
#[derive(Debug, Default)]
pub(super) struct Operator {
    size: usize,
    /// Entries, column after column.
    entries: Vec<f64>,
    /// The rows of each group that may couple, one group after another, and where groups start.
    members: Vec<usize>,
    starts: Vec<usize>,
    /// `L` of a group, row by row, of the operator that is scaled to a diagonal of ones.
    factor: Vec<f64>,
    /// The diagonal that is left of it.
    left: Vec<f64>,
    scales: Vec<f64>,
    /// Rows of a group in the order of their pivots.
    order: Vec<usize>,
}

impl Operator {
    /// Plans the condensed system for rows whose groups begin at the rows `first_of`, with the
    /// boundaries of their blocks.
    pub(super) fn plan(
        &mut self,
        first_of: &[usize],
        boundaries: &[usize],
        condensed: &mut KktSystem,
    ) -> Result<(), ProblemError> {
        self.size = first_of.len();
        self.entries.clear();
        self.entries.resize(self.size * self.size, 0.0);
        self.members.clear();
        self.members.extend(0..self.size);
        self.members.sort_by_key(|k| (first_of[*k], *k));
        self.starts.clear();
        let begins = |at: &usize| *at == 0 || first_of[self.members[*at]] != first_of[self.members[at - 1]];
        self.starts.extend((0..self.size).filter(begins));
        self.starts.push(self.size);
        let size = self.size;
        let [mut w, mut j, mut r] = [(); 3].map(|()| PatternBuilder::new(size, size));
        for k in 0..size {
            w.insert(k, k);
            r.insert(k, k);
        }
        for group in self.groups() {
            for row in group {
                group.iter().for_each(|column| j.insert(*row, *column));
            }
        }
        let patterns = [w.finish()?, j.finish()?, r.finish()?];
        let primal: Vec<usize> = (0..=size).collect();
        condensed.refill(patterns, &primal, boundaries)?;
        condensed.w.values_mut().fill(1.0);
        Ok(())
    }

    /// The rows of each group that may couple.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.starts.windows(2).map(|w| &self.members[w[0]..w[1]])
    }

    /// A column, to be written.
    pub(super) fn column(&mut self, k: usize) -> &mut [f64] {
        &mut self.entries[k * self.size..(k + 1) * self.size]
    }

    /// The first column with an entry that is not finite.
    pub(super) fn first_not_finite(&self) -> Option<usize> {
        let at = self.entries.iter().position(|a| !a.is_finite())?;
        Some(at / self.size)
    }

    /// Writes `L` of `A = L L^T` into the rows of the condensed system, by Cholesky's method with
    /// pivots on the diagonal, the largest first. Columns behind the rank are zero, and their
    /// variables fixed. Each entry of `A` is the mean of both that were found for it. Cost: a third
    /// of the cube of each group.
    pub(super) fn factor_into(&mut self, condensed: &mut KktSystem) {
        for g in 0..self.starts.len().saturating_sub(1) {
            let group = self.starts[g]..self.starts[g + 1];
            let rank = self.factor_group(group.clone());
            let members = &self.members[group];
            let count = members.len();
            for (i, row) in members.iter().enumerate() {
                // Rows of a group are ascending, and so are the columns of each.
                let slots = condensed.j.pattern().row_slots(*row);
                let own = &self.factor[i * count..][..count];
                for (value, l) in condensed.j.values_mut()[slots].iter_mut().zip(own) {
                    *value = self.scales[i] * l;
                }
            }
            for (k, column) in members.iter().enumerate() {
                condensed.fixed[*column] = k >= rank;
            }
        }
    }

    /// Factors the scaled operator of a group; its rank.
    fn factor_group(&mut self, group: std::ops::Range<usize>) -> usize {
        let Self {
            size,
            entries,
            members,
            factor,
            left,
            scales,
            order,
            ..
        } = self;
        let members = &members[group];
        let count = members.len();
        let entry = |i: usize, k: usize| entries[members[k] * *size + members[i]];
        scales.clear();
        scales.extend((0..count).map(|k| entry(k, k).max(0.0).sqrt()));
        left.clear();
        left.extend(scales.iter().map(|s| if *s > 0.0 { 1.0 } else { 0.0 }));
        factor.clear();
        factor.resize(count * count, 0.0);
        order.clear();
        order.extend(0..count);
        for at in 0..count {
            let largest = (at..count).max_by(|a, b| left[order[*a]].total_cmp(&left[order[*b]]));
            let Some(place) = largest.filter(|p| left[order[*p]] > DEPENDENT) else {
                return at;
            };
            order.swap(at, place);
            let p = order[at];
            let root = left[p].sqrt();
            factor[p * count + at] = root;
            for i in &order[at + 1..] {
                // Rows without response have no scale, and are left as they are.
                if scales[*i] == 0.0 {
                    continue;
                }
                let mean = 0.5 * (entry(*i, p) + entry(p, *i)) / (scales[*i] * scales[p]);
                let taken = dot(&factor[*i * count..][..at], &factor[p * count..][..at]);
                let own = (mean - taken) / root;
                factor[*i * count + at] = own;
                left[*i] -= own * own;
            }
        }
        count
    }
}

/// The product of two vectors, in four sums side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
