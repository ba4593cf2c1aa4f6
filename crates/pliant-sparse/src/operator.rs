//! Matrices known by their products.

use crate::SymmetricBlockMatrix;

/// A square matrix known by its products. Symmetric unless its documentation says otherwise.
pub trait LinearOperator {
    /// Order n of the matrix.
    fn size(&self) -> usize;

    /// `y = A x`, both of length n. Overwrites `y`; allocates nothing once it is warm.
    fn apply(&self, x: &[f64], y: &mut [f64]);
}

impl<const B: usize> LinearOperator for SymmetricBlockMatrix<B> {
    fn size(&self) -> usize {
        self.order()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.product_into(x, y);
    }
}
