//! Lanczos's method with full orthogonalisation and thick restarts, in the inner product of a
//! definite matrix that is known by its solves alone.

use super::{EigenError, Side, add, dot};
use pliant_dense::eigen::symmetric_eigen;

/// Share of a vector outside the basis below which that is rounding.
const NOTHING: f64 = 1e-10;
/// Random vectors without a part outside the basis, after which that is all there is.
const TRIES: usize = 2;

/// The operator `A^-1 B`.
pub(super) trait Operator {
    /// Number of unknowns.
    fn size(&self) -> usize;
    /// `f = B v`.
    fn image(&mut self, v: &[f64], f: &mut [f64]);
    /// `y = A^-1 f`, and `f` without its part that hard rows bear: their forces at `y` are taken out.
    fn solve(&mut self, f: &mut [f64], y: &mut Vec<f64>) -> Result<(), EigenError>;
}

/// A basis of vectors `v_i`, orthonormal in the inner product of `A`, with their images
/// `g_i = A v_i` up to forces of hard rows, which are orthogonal to every vector here. So
/// `x^T A y` is the plain product of a vector and an image, and no product with `A` is ever needed.
///
/// Images are kept without forces that hard rows bear. These do not shrink as the rest of an image
/// does where it is made orthogonal to the others, and so would grow with every vector of the basis:
/// the vectors are in the null space of the rows only up to rounding, and the products of that with
/// large forces would end orthogonality, whereupon copies of eigenvalues come up that are none.
///
/// `matrix` is the projection `v_i^T B v_k` of the operator. All its entries are computed, not only
/// those beside the diagonal: a restart then needs no other recurrence (Wu and Simon, SIAM J.
/// Matrix Anal. Appl. 22 (2000) 602).
#[derive(Debug)]
pub(super) struct Lanczos {
    vectors: Vec<Vec<f64>>,
    images: Vec<Vec<f64>>,
    matrix: Vec<Vec<f64>>,
    /// The next vector with its image, and the coupling with the last one.
    next: Option<(Vec<f64>, Vec<f64>)>,
    coupling: f64,
    /// Nothing is left outside the basis.
    pub(super) exhausted: bool,
    seed: u64,
    pub(super) solves: usize,
}

/// Ritz values and vectors, in the order wanted.
#[derive(Debug)]
pub(super) struct Ritz {
    /// Eigenvalues of the projection.
    pub(super) values: Vec<f64>,
    /// Of each what its equation misses, in the norm of `A`.
    pub(super) missed: Vec<f64>,
    /// Coefficients over the basis, a column for each, rows first.
    coefficients: Vec<f64>,
    /// Order of the columns.
    columns: Vec<usize>,
    /// The largest magnitude of either side.
    largest: f64,
    /// Whether there are no others of this side but zeros.
    pub(super) is_all: bool,
}

impl Ritz {
    /// How many of the first ones are found, to a share of themselves.
    pub(super) fn found(&self, tolerance: f64) -> usize {
        let pairs = self.values.iter().zip(&self.missed);
        pairs
            .take_while(|(value, missed)| **missed <= tolerance * value.abs())
            .count()
    }

    /// Magnitude below which a value is not told from zero, whose eigenvalue of the pencil is infinite.
    pub(super) fn nothing(&self, share: f64) -> f64 {
        share * self.largest
    }

    /// How many are larger than that.
    pub(super) fn above(&self, share: f64) -> usize {
        let nothing = self.nothing(share);
        self.values.iter().filter(|v| v.abs() > nothing).count()
    }

    /// Leaves the first ones.
    pub(super) fn truncate(&mut self, count: usize) {
        self.values.truncate(count);
        self.missed.truncate(count);
        self.columns.truncate(count);
    }

    /// How many eigenvalues of the pencil, the inverses of these, have a smaller magnitude.
    pub(super) fn before(&self, place: f64) -> usize {
        self.values.iter().filter(|v| v.abs().recip() < place).count()
    }
}

impl Lanczos {
    pub(super) fn new() -> Self {
        Self {
            vectors: Vec::new(),
            images: Vec::new(),
            matrix: Vec::new(),
            next: None,
            coupling: 0.0,
            exhausted: false,
            seed: 1,
            solves: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Extends the basis to so many vectors, or until nothing is left outside it.
    pub(super) fn extend(&mut self, to: usize, operator: &mut impl Operator) -> Result<(), EigenError> {
        while self.len() < to && !self.exhausted {
            if self.next.is_none() && !self.start(operator)? {
                self.exhausted = true;
                break;
            }
            let Some((v, g)) = self.next.take() else { break };
            let mut f = vec![0.0; v.len()];
            operator.image(&v, &mut f);
            self.vectors.push(v);
            self.images.push(g);
            let mut column = vec![0.0; self.len()];
            self.coupling = self.take_next(f, &mut column, operator)?;
            for (i, row) in self.matrix.iter_mut().enumerate() {
                row.push(column[i]);
            }
            self.matrix.push(column);
        }
        Ok(())
    }

    /// Keeps what `A^-1 f` has outside the basis as the next vector, and adds its parts in it to
    /// the column. Returns the size of what is kept, zero if that is rounding.
    ///
    /// The parts `v_i . f` are taken from `f` before it is solved for: so a vector and its image
    /// stay each other's, however many digits cancel. (Taken from both after the solve, their
    /// rounding errors grow apart from vector to vector.)
    fn take_next(
        &mut self,
        mut f: Vec<f64>,
        column: &mut [f64],
        operator: &mut impl Operator,
    ) -> Result<f64, EigenError> {
        // Twice is enough for rounding (Kahan; Parlett 1998, section 6.9).
        for _ in 0..2 {
            for (i, (v, g)) in self.vectors.iter().zip(&self.images).enumerate() {
                let part = dot(v, &f);
                add(-part, g, &mut f);
                column[i] += part;
            }
        }
        let mut y = Vec::new();
        operator.solve(&mut f, &mut y)?;
        self.solves += 1;
        for (i, (v, g)) in self.vectors.iter().zip(&self.images).enumerate() {
            let part = dot(g, &y);
            add(-part, v, &mut y);
            add(-part, g, &mut f);
            column[i] += part;
        }
        let left = dot(&y, &f).max(0.0).sqrt();
        let inside = dot(column, column).sqrt();
        if left.is_nan() || left == 0.0 || left <= NOTHING * inside {
            return Ok(0.0);
        }
        y.iter_mut().for_each(|y| *y /= left);
        f.iter_mut().for_each(|f| *f /= left);
        self.next = Some((y, f));
        Ok(left)
    }

    /// Starts anew with any vector that has a part outside the basis, the same in every run. False
    /// if there is none.
    fn start(&mut self, operator: &mut impl Operator) -> Result<bool, EigenError> {
        let n = operator.size();
        for _ in 0..TRIES {
            let random: Vec<f64> = (0..n).map(|_| pseudo_random(&mut self.seed)).collect();
            // Once through the operator, so that it has no part where B is zero.
            let mut f = vec![0.0; n];
            operator.image(&random, &mut f);
            let mut column = vec![0.0; self.len()];
            if self.take_next(f, &mut column, operator)? > 0.0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The Ritz pairs of a side, the largest magnitude first.
    pub(super) fn ritz(&self, side: Side) -> Ritz {
        let k = self.len();
        let (mut a, mut s) = (vec![0.0; k * k], vec![0.0; k * k]);
        for i in 0..k {
            for j in 0..k {
                a[i * k + j] = 0.5 * (self.matrix[i][j] + self.matrix[j][i]);
            }
        }
        let finite = symmetric_eigen(k, &mut a, &mut s);
        let value = |j: usize| a[j * k + j];
        let largest = (0..k).fold(0.0f64, |most, j| most.max(value(j).abs()));
        let mut columns: Vec<usize> = (0..k)
            .filter(|j| finite && value(*j) * side.sign() > 0.0)
            .collect();
        columns.sort_by(|i, j| value(*j).abs().total_cmp(&value(*i).abs()));
        let coupling = if self.next.is_some() { self.coupling } else { 0.0 };
        let missed = |j: &usize| coupling * s[(k - 1) * k + j].abs();
        Ritz {
            values: columns.iter().map(|j| value(*j)).collect(),
            missed: columns.iter().map(missed).collect(),
            columns,
            coefficients: s,
            largest,
            is_all: false,
        }
    }

    /// A Ritz vector.
    pub(super) fn vector(&self, ritz: &Ritz, index: usize) -> Vec<f64> {
        combine(&self.vectors, ritz, index)
    }

    /// Replaces the basis by its first `keep` Ritz vectors; goes on from where it was, or with
    /// `anew` from a random vector beside them.
    pub(super) fn restart(&mut self, ritz: &Ritz, keep: usize, anew: bool) {
        let keep = keep.min(ritz.values.len());
        let vectors = (0..keep).map(|i| combine(&self.vectors, ritz, i)).collect();
        let images = (0..keep).map(|i| combine(&self.images, ritz, i)).collect();
        (self.vectors, self.images) = (vectors, images);
        self.matrix = (0..keep)
            .map(|i| {
                (0..keep)
                    .map(|k| if i == k { ritz.values[i] } else { 0.0 })
                    .collect()
            })
            .collect();
        if anew {
            self.next = None;
        }
    }
}

/// The sum of vectors with the coefficients of a Ritz pair.
fn combine(vectors: &[Vec<f64>], ritz: &Ritz, index: usize) -> Vec<f64> {
    let (k, column) = (vectors.len(), ritz.columns[index]);
    let mut out = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for (i, v) in vectors.iter().enumerate() {
        add(ritz.coefficients[i * k + column], v, &mut out);
    }
    out
}

/// The next number in `[-1, 1)` after a state, the same in every run (Steele, Lea, Flood 2014:
/// SplitMix64): vectors of them have a part in every eigenvector.
pub fn pseudo_random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
