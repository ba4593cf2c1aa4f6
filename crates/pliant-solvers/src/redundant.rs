//! Redundant hard rows: the null space of `J^T` on the dropped rows, and projections along it.

/// An orthonormal basis of the multipliers that exert no force, one column per redundant row. Columns are stored one
/// after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullSpace {
    basis: Vec<f64>,
    rows: usize,
}

impl NullSpace {
    /// An empty basis for multipliers of length `rows`.
    pub(crate) fn reset(&mut self, rows: usize) {
        self.basis.clear();
        self.rows = rows;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.basis.is_empty()
    }

    /// The basis, vector by vector.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.basis.chunks_exact(self.rows.max(1))
    }

    /// `(Q Q^T)_ii`: the share of multiplier `i` that exerts no force.
    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        self.columns().map(|q| q[i] * q[i]).sum()
    }

    /// Adds one vector, made orthonormal by Gram-Schmidt (twice, which is enough).
    pub(crate) fn push(&mut self, column: &mut [f64]) {
        for _ in 0..2 {
            self.remove(column);
        }
        let norm = column.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 0.0 {
            self.basis.extend(column.iter().map(|a| a / norm));
        }
    }

    /// `v -= Q Q^T v`: what is left is orthogonal to the basis.
    pub(crate) fn remove(&self, v: &mut [f64]) {
        for q in self.columns() {
            let dot: f64 = q.iter().zip(v.iter()).map(|(a, b)| a * b).sum();
            for (v, q) in v.iter_mut().zip(q) {
                *v -= dot * q;
            }
        }
    }
}
