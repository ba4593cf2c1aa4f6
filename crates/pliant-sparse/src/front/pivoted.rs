//! The `L D L^T` of any symmetric matrix, with pivots chosen for stability.

mod front;

use super::FrontSymbolic;
use super::tree::NONE;
use crate::{CsrMatrix, Graph, SparseError, check_size};
use front::{DenseFront, Eliminated};

/// Sweeps of scaling: each halves the logarithm of the spread of the row norms.
const SWEEPS: usize = 5;
/// Share of the largest entry that ever came up below which an entry is rounding: about `1e-16` at
/// the first pivot, and up to `1 + 1 / threshold^2` times more with each that a zero meets on its
/// way.
const ZERO: f64 = 1e-12;
/// Row, column and value of a scaled matrix.
type Entry = (usize, usize, f64);

/// A sparse symmetric factorisation `P A P^T = L D L^T` with pivots of one and two, for matrices
/// that are not quasi-definite.
///
/// Inside a front, a pivot must be at least a share `threshold` of its column (for pairs: in the
/// sense that no multiplier exceeds `1 / threshold`); variables without one wait for the parent
/// front, where more of the matrix is known (Duff and Reid, ACM TOMS 9 (1983) 302; Ashcraft, Grimes
/// and Lewis, SIAM J. Matrix Anal. Appl. 20 (1998) 513). At a root, where all is known, the largest
/// entry always gives a pivot (Bunch and Parlett) unless all that is left is zero. The matrix is
/// scaled before, which changes no sign.
///
/// This is the robust path and the judge of others, not the fast one: it allocates, and works
/// column by column in one thread.
#[derive(Clone, Debug)]
pub struct PivotedFactor {
    fronts: Vec<Eliminated>,
    scale: Vec<f64>,
    inertia: Inertia,
}

/// Numbers of eigenvalues by sign (Sylvester's law of inertia).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inertia {
    /// Positive ones.
    pub positive: usize,
    /// Negative ones.
    pub negative: usize,
    /// Zeros, up to rounding of the scaled matrix.
    pub zero: usize,
}

impl PivotedFactor {
    /// A share that keeps the rank decision safe. 0.01 is usual where only solutions matter, and
    /// delays fewer variables; but a zero that meets two such pivots comes out as 1e-12 to 1e-8.
    pub const THRESHOLD: f64 = 0.1;

    /// Factors a matrix given by its lower triangle (by rows), in an order of minimum degree.
    ///
    /// # Errors
    /// As [`Self::in_order`].
    pub fn new(a: &CsrMatrix, threshold: f64) -> Result<Self, SparseError> {
        let n = a.pattern().rows();
        let mut graph = Graph::new(n);
        for (i, j) in edges(a)? {
            graph.connect(i, j);
        }
        let order = graph.minimum_degree()?;
        let mut rank = vec![0; n];
        for (k, v) in order.iter().enumerate() {
            rank[*v] = k;
        }
        Self::factor(a, threshold, &rank)
    }

    /// Factors a matrix in the order given, as far as pivots allow.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the matrix is not square, [`SparseError::OutOfRange`] at an entry
    /// above the diagonal, [`SparseError::Pivot`] at a row with an entry that is not finite,
    /// [`SparseError::Threshold`] if the threshold is not in `(0, 1/2]`. A singular matrix is not
    /// an error: see [`Self::inertia`].
    pub fn in_order(a: &CsrMatrix, threshold: f64) -> Result<Self, SparseError> {
        let rank: Vec<usize> = (0..a.pattern().rows()).collect();
        Self::factor(a, threshold, &rank)
    }

    fn factor(a: &CsrMatrix, threshold: f64, rank: &[usize]) -> Result<Self, SparseError> {
        if !(threshold > 0.0 && threshold <= 0.5) {
            return Err(SparseError::Threshold { value: threshold });
        }
        let n = a.pattern().rows();
        let mut graph = Graph::new(n);
        for (i, j) in edges(a)? {
            graph.connect(rank[i], rank[j]);
        }
        let bounds: Vec<usize> = (0..=n).collect();
        let symbolic = FrontSymbolic::new(&bounds, &graph)?;
        let scale = scaling(a)?;
        // Entries by the front that eliminates their first column.
        let mut entries: Vec<Vec<Entry>> = vec![Vec::new(); symbolic.len()];
        for i in 0..n {
            for slot in a.pattern().row_slots(i) {
                let j = a.pattern().indices()[slot] as usize;
                let (p, q) = (symbolic.position[rank[i]], symbolic.position[rank[j]]);
                let front = symbolic.front[symbolic.vertex[p.min(q) as usize] as usize];
                entries[front as usize].push((i, j, a.values()[slot] * scale[i] * scale[j]));
            }
        }
        // Variables by column.
        let mut variable = vec![0; n];
        for (i, r) in rank.iter().enumerate() {
            variable[symbolic.position[*r] as usize] = i;
        }
        let mut out = Self {
            fronts: Vec::with_capacity(symbolic.len()),
            scale,
            inertia: Inertia::default(),
        };
        let mut seen = 0.0;
        let mut place = vec![NONE; n];
        let mut left: Vec<Option<DenseFront>> = vec![None; symbolic.len()];
        for (f, entries) in entries.iter().enumerate() {
            let front = &symbolic.fronts[f];
            let mut own: Vec<usize> = variable[front.first..front.first + front.width].to_vec();
            let children: Vec<DenseFront> = symbolic
                .children(f)
                .iter()
                .filter_map(|c| left[*c].take())
                .collect();
            for child in &children {
                own.extend_from_slice(child.delayed());
            }
            // Blocks of one: vertices are columns.
            let below = symbolic.rows[front.rows.clone()].iter();
            let rows: Vec<usize> = below.map(|v| variable[*v as usize]).collect();
            let mut dense = DenseFront::new(own, &rows);
            dense.assemble(entries, &children, &mut place);
            let is_root = front.parent == NONE;
            let done = dense.eliminate(threshold, ZERO, is_root, &mut out.inertia, &mut seen);
            out.fronts.push(done);
            if !is_root {
                left[f] = Some(dense);
            }
        }
        Ok(out)
    }

    /// The numbers of positive, negative and zero eigenvalues of the matrix.
    pub fn inertia(&self) -> Inertia {
        self.inertia
    }

    /// The variables without a pivot, if the matrix is singular: the column of each depends on
    /// those of the variables that have one.
    pub fn zeros(&self) -> impl Iterator<Item = usize> {
        self.fronts.iter().flat_map(Eliminated::zeros).copied()
    }

    /// Order of the matrix.
    pub fn size(&self) -> usize {
        self.scale.len()
    }

    /// Entries of `L` below its diagonal.
    pub fn entries(&self) -> usize {
        self.fronts.iter().map(Eliminated::entries).sum()
    }

    /// Solves `A x = b` in place. If the matrix is singular, the variables of zero pivots come out
    /// as zero: a solution if there is one, which the residual tells.
    ///
    /// # Panics
    /// If `x` is not as long as the matrix.
    pub fn solve_in_place(&self, x: &mut [f64]) {
        let n = self.size();
        assert_eq!(x.len(), n, "right-hand side of a factor of order {n}");
        for (x, s) in x.iter_mut().zip(&self.scale) {
            *x *= s;
        }
        for front in &self.fronts {
            front.forward(x);
        }
        for front in self.fronts.iter().rev() {
            front.backward(x);
        }
        for (x, s) in x.iter_mut().zip(&self.scale) {
            *x *= s;
        }
    }
}

/// Entries below the diagonal.
fn edges(a: &CsrMatrix) -> Result<Vec<(usize, usize)>, SparseError> {
    let (rows, columns) = (a.pattern().rows(), a.pattern().columns());
    check_size("columns", rows, columns)?;
    let mut out = Vec::with_capacity(a.pattern().len());
    for row in 0..rows {
        for column in a.pattern().row(row).iter().map(|j| *j as usize) {
            if column > row {
                return Err(SparseError::OutOfRange {
                    row,
                    column,
                    rows,
                    columns: row + 1,
                });
            }
            if column < row {
                out.push((row, column));
            }
        }
    }
    Ok(out)
}

/// Powers of two `s` for which the largest entry of every row of `S A S` is about 1 (Ruiz 2001).
fn scaling(a: &CsrMatrix) -> Result<Vec<f64>, SparseError> {
    let n = a.pattern().rows();
    let mut scale = vec![1.0f64; n];
    for _ in 0..SWEEPS {
        let mut largest = vec![0.0f64; n];
        for i in 0..n {
            for slot in a.pattern().row_slots(i) {
                let j = a.pattern().indices()[slot] as usize;
                let value = (a.values()[slot] * scale[i] * scale[j]).abs();
                if !value.is_finite() {
                    return Err(SparseError::Pivot { index: i });
                }
                largest[i] = largest[i].max(value);
                largest[j] = largest[j].max(value);
            }
        }
        for (s, largest) in scale.iter_mut().zip(largest) {
            if largest > 0.0 {
                *s *= (-0.5 * largest.log2()).round().exp2();
            }
        }
    }
    Ok(scale)
}

#[cfg(test)]
mod tests;
