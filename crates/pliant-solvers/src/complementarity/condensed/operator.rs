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
    /// The rest of a group that is to be factored, row by row, scaled to a diagonal of ones.
    left: Vec<f64>,
    scales: Vec<f64>,
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
    /// pivots on the diagonal, the largest first; columns behind the rank are zero. Each entry of
    /// `A` is the mean of both that were found for it. Cost: a third of the cube of each group.
    pub(super) fn factor_into(&mut self, condensed: &mut KktSystem) {
        condensed.j.values_mut().fill(0.0);
        for g in 0..self.starts.len().saturating_sub(1) {
            let group = self.starts[g]..self.starts[g + 1];
            self.factor_group(group, condensed);
        }
    }

    fn factor_group(&mut self, group: std::ops::Range<usize>, condensed: &mut KktSystem) {
        let members = &self.members[group];
        let count = members.len();
        let entry = |i: usize, k: usize| self.entries[members[k] * self.size + members[i]];
        self.scales.clear();
        self.scales
            .extend((0..count).map(|k| entry(k, k).max(0.0).sqrt()));
        self.left.clear();
        self.left.resize(count * count, 0.0);
        for i in 0..count {
            for k in 0..count {
                let scale = self.scales[i] * self.scales[k];
                if scale > 0.0 {
                    self.left[i * count + k] = 0.5 * (entry(i, k) + entry(k, i)) / scale;
                }
            }
        }
        let left = &mut self.left;
        self.order.clear();
        self.order.extend(0..count);
        for at in 0..count {
            let pivot = |p: &usize| left[*p * count + *p];
            let largest =
                (at..count).max_by(|a, b| pivot(&self.order[*a]).total_cmp(&pivot(&self.order[*b])));
            let Some(place) = largest.filter(|p| pivot(&self.order[*p]) > DEPENDENT) else {
                break;
            };
            self.order.swap(at, place);
            let p = self.order[at];
            let root = left[p * count + p].sqrt();
            // Column `p` of what is left becomes that of `L`.
            for i in &self.order[at + 1..] {
                left[i * count + p] /= root;
            }
            left[p * count + p] = root;
            for (a, i) in self.order.iter().enumerate().skip(at + 1) {
                let factor = left[i * count + p];
                if factor == 0.0 {
                    continue;
                }
                for k in &self.order[at + 1..=a] {
                    let change = factor * left[k * count + p];
                    left[i * count + k] -= change;
                    if i != k {
                        left[k * count + i] -= change;
                    }
                }
            }
            // Rows that were taken before have nothing in this column.
            let column = members[p];
            for i in &self.order[at..] {
                let row = members[*i];
                if let Some(slot) = condensed.j.pattern().slot(row, column) {
                    condensed.j.values_mut()[slot] = self.scales[*i] * left[i * count + p];
                }
            }
        }
    }
}
