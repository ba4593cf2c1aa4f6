//! Redundant hard rows: the null space of `J^T` on the dropped rows, and projections along it.

/// An orthonormal basis of the multipliers that exert no force, one column per redundant row.
/// Columns are stored one after the other.
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

    /// Adds one vector, independent of the others, made orthonormal by Gram-Schmidt (twice, which
    /// is enough).
    pub(crate) fn push(&mut self, column: &mut [f64]) {
        for _ in 0..2 {
            self.remove(column);
        }
        let norm = column.iter().map(|a| a * a).sum::<f64>().sqrt();
        self.basis.extend(column.iter().map(|a| a / norm));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors that are nearly parallel: once would leave an angle of the rounding over their
    /// difference.
    #[test]
    fn the_basis_is_orthonormal() {
        let mut space = NullSpace::default();
        space.reset(3);
        let directions = [[1.0, 0.3, 0.7], [1.0, 0.3 + 1e-9, 0.7], [1.0, 0.3, 0.7 - 1e-9]];
        for mut direction in directions {
            space.push(&mut direction);
        }
        let columns: Vec<&[f64]> = space.columns().collect();
        for (i, a) in columns.iter().enumerate() {
            for (k, b) in columns.iter().enumerate() {
                let dot: f64 = a.iter().zip(*b).map(|(a, b)| a * b).sum();
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
}
