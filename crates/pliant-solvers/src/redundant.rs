//! Redundant hard rows: the null space of `J^T` on the dropped rows, and projections along it.

/// Share of a unit vector below which an entry is nothing beside the rounding of its others.
const NOTHING: f64 = 1e-17;
/// Orthogonalisation is repeated where it leaves less than this share of a vector: what is left of
/// the others in it is their rounding over that share.
const CANCELLED: f64 = 0.5;
/// Orthogonalisations at most: twice is enough.
const MOST_PASSES: usize = 3;
/// Entries that are reserved for at once, as far as there can be so many.
const ROOM: usize = 1 << 16;

/// An orthonormal basis of the multipliers that exert no force, one sparse column per redundant
/// row. Mechanisms that share no rows, and parts of one that do not, have columns of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullSpace {
    rows: usize,
    /// Where the entries of each column end.
    ends: Vec<usize>,
    /// Their rows, ascending in each column.
    indices: Vec<u32>,
    values: Vec<f64>,
    /// The rows of each column once more, a bit each, for finding columns that share some.
    bits: Vec<u64>,
    /// The rows of all columns, a bit each.
    all: Vec<u64>,
    /// The first and the last column of each row that has any.
    spans: Vec<[u32; 2]>,
    /// Bits of the vector at hand.
    own: Vec<u64>,
}

/// One vector of the basis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    indices: &'a [u32],
    values: &'a [f64],
}

impl Column<'_> {
    /// Rows and values of the entries.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let rows = self.indices.iter().map(|i| *i as usize);
        rows.zip(self.values.iter().copied())
    }

    /// `v -= q (q . v)`.
    fn remove(&self, v: &mut [f64]) {
        let dot: f64 = self.entries().map(|(i, q)| q * v[i]).sum();
        self.entries().for_each(|(i, q)| v[i] -= dot * q);
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|a| a * a).sum::<f64>().sqrt()
}

impl NullSpace {
    /// An empty basis for multipliers of length `rows`, with room for so many vectors. Allocates
    /// only for more entries than ever before, by twice as many as there were.
    pub(crate) fn reset(&mut self, rows: usize, count: usize) {
        let most = count.saturating_mul(rows);
        let room = (2 * self.indices.len()).max(ROOM).min(most);
        self.ends.clear();
        self.indices.clear();
        self.values.clear();
        self.bits.clear();
        self.ends.reserve(count);
        self.indices.reserve(room);
        self.values.reserve(room);
        self.rows = rows;
        self.own.resize(rows.div_ceil(64), 0);
        self.all.clear();
        self.all.resize(self.own.len(), 0);
        self.spans.clear();
        self.spans.resize(rows, [u32::MAX, 0]);
        self.bits.reserve(count * self.own.len());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn column(&self, k: usize) -> Column<'_> {
        let start = k.checked_sub(1).map_or(0, |k| self.ends[k]);
        Column {
            indices: &self.indices[start..self.ends[k]],
            values: &self.values[start..self.ends[k]],
        }
    }

    /// The basis, vector by vector.
    pub(crate) fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        (0..self.ends.len()).map(|k| self.column(k))
    }

    /// `(Q Q^T)_ii`: the share of multiplier `i` that exerts no force.
    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        let entry = |q: Column<'_>| {
            let at = q.indices.binary_search(&(i as u32)).ok()?;
            Some(q.values[at])
        };
        let [first, last] = self.spans.get(i).map_or([1, 0], |span| span.map(|k| k as usize));
        let columns = (first..=last).map(|k| self.column(k));
        columns.filter_map(entry).map(|q| q * q).sum()
    }

    /// Adds one vector, independent of the others, made orthonormal by Gram-Schmidt, where much
    /// cancels once more. Cost: the entries of the columns that share rows with it, of which rows
    /// that act on nothing have none.
    pub(crate) fn push(&mut self, column: &mut [f64]) {
        let mut own = std::mem::take(&mut self.own);
        mark(column, 0.0, &mut own);
        let mut size = norm(column);
        let shares = self.all.iter().zip(&own).any(|(a, b)| a & b != 0);
        for _ in 0..if shares { MOST_PASSES } else { 0 } {
            let before = size;
            for k in 0..self.ends.len() {
                let bits = &self.bits[k * own.len()..(k + 1) * own.len()];
                if bits.iter().zip(&own).any(|(a, b)| a & b != 0) {
                    self.column(k).remove(column);
                    own.iter_mut().zip(bits).for_each(|(a, b)| *a |= b);
                }
            }
            size = norm(column);
            if size >= CANCELLED * before {
                break;
            }
        }
        mark(column, NOTHING * size, &mut own);
        let entries = column
            .iter()
            .enumerate()
            .filter(|(_, a)| a.abs() > NOTHING * size);
        let k = self.ends.len() as u32;
        for (i, a) in entries {
            self.indices.push(i as u32);
            self.values.push(a / size);
            let [first, last] = &mut self.spans[i];
            (*first, *last) = ((*first).min(k), k);
        }
        self.all.iter_mut().zip(&own).for_each(|(all, own)| *all |= own);
        self.ends.push(self.indices.len());
        self.bits.extend_from_slice(&own);
        self.own = own;
    }

    /// `v -= Q Q^T v`: what is left is orthogonal to the basis.
    pub(crate) fn remove(&self, v: &mut [f64]) {
        self.columns().for_each(|q| q.remove(v));
    }
}

/// A bit for each entry above a size.
fn mark(column: &[f64], above: f64, bits: &mut [u64]) {
    bits.fill(0);
    for (i, a) in column.iter().enumerate() {
        bits[i / 64] |= u64::from(a.abs() > above) << (i % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors that are nearly parallel: once would leave an angle of the rounding over their
    /// difference.
    #[test]
    fn the_basis_is_orthonormal() {
        let mut space = NullSpace::default();
        space.reset(3, 3);
        let directions = [[1.0, 0.3, 0.7], [1.0, 0.3 + 1e-9, 0.7], [1.0, 0.3, 0.7 - 1e-9]];
        for mut direction in directions {
            space.push(&mut direction);
        }
        let dense = |q: Column<'_>| {
            let mut out = [0.0; 3];
            q.entries().for_each(|(i, a)| out[i] = a);
            out
        };
        let columns: Vec<[f64; 3]> = space.columns().map(dense).collect();
        for (i, a) in columns.iter().enumerate() {
            for (k, b) in columns.iter().enumerate() {
                let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!(
                    (dot - f64::from(u8::from(i == k))).abs() < 1e-15,
                    "{i} {k} {dot:e}"
                );
            }
        }
        // They span everything.
        assert!((0..3).all(|i| (space.diagonal(i) - 1.0).abs() < 1e-15));
        let mut nothing = [1.0, -2.0, 3.0];
        space.remove(&mut nothing);
        assert!(nothing.iter().all(|v| v.abs() < 1e-14));
    }

    /// Vectors that share no rows stay as sparse as they were.
    #[test]
    fn what_shares_no_rows_does_not_mix() {
        let mut space = NullSpace::default();
        space.reset(130, 3);
        let mut sparse = |entries: &[(usize, f64)]| {
            let mut v = vec![0.0; 130];
            entries.iter().for_each(|(i, a)| v[*i] = *a);
            space.push(&mut v);
        };
        sparse(&[(0, 1.0), (64, 1.0)]);
        sparse(&[(1, 3.0), (129, 4.0)]);
        sparse(&[(0, 1.0), (65, 1.0)]);
        let counts: Vec<usize> = space.columns().map(|q| q.entries().count()).collect();
        assert_eq!(counts, [2, 2, 3]);
        assert!((space.diagonal(129) - 0.64).abs() < 1e-15 && space.diagonal(2) == 0.0);
    }
}
