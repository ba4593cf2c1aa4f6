//! Friction that differs along the two tangents.

use super::{BlockSparse, Cone, DenseDelassus, Form, Problem, ProblemError, SaddleDelassus};

/// A [`Problem`] in whose contacts friction is bounded by an ellipse,
/// `(r_1/mu_1)^2 + (r_2/mu_2)^2 <= r_n^2`, and takes most from the slip of all that the ellipse
/// allows, stated as one with circles: with the tangent rows in other units,
///
/// ```math
/// r_t = diag(mu_1, mu_2) r'_t,   u'_t = diag(mu_1, mu_2) u_t,   A' = S A S,   b' = S b,   S = diag(1, mu_1, mu_2)
/// ```
///
/// the work `r_t . u_t` stays as it is, and the law is that of Coulomb with `mu = 1`: exactly, and
/// for every solver. Its residual measures `u'`: a tangential velocity counts `mu_i` times. Cost: a
/// copy of the operator.
///
/// ```
/// use pliant_solvers::complementarity::{Auto, Cone, Elliptic, Outcome, Problem, Solver};
/// // A unit mass is pressed down with 1 N s and pushed with (3, 0) N s; it slips: friction holds 0.2 N s back.
/// let a = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let contact = [Cone::Coulomb { mu: 0.0 }];
/// let problem = Problem::dense(&a, &[-1.0, 3.0, 0.0], &contact)?;
/// let elliptic = Elliptic::new(&problem, &[Some([0.2, 0.8])])?;
/// let mut r = [0.0; 3];
/// let report = Auto::default().solve(&elliptic.problem, &mut r)?;
/// assert_eq!(report.outcome, Outcome::Converged);
/// elliptic.unscale(&mut r);
/// assert!((r[1] + 0.2).abs() < 1e-8 && r[2].abs() < 1e-8);
/// # Ok::<(), pliant_solvers::complementarity::ProblemError>(())
/// ```
#[derive(Debug)]
pub struct Elliptic {
    /// The one with circles; its impulses are `r'`.
    pub problem: Problem,
    factors: Vec<f64>,
}

impl Elliptic {
    /// Takes a problem and, for each block, the coefficients along its two tangents, or nothing to
    /// leave it as it is. Blocks with coefficients must be [`Cone::Coulomb`]; their own coefficient
    /// does not count.
    ///
    /// # Errors
    /// [`ProblemError::Size`] for another number of blocks, [`ProblemError::Friction`] for
    /// coefficients that are not positive and finite, [`ProblemError::Unsuitable`] for another law,
    /// and those of [`Problem::new`].
    pub fn new(problem: &Problem, coefficients: &[Option<[f64; 2]>]) -> Result<Self, ProblemError> {
        if coefficients.len() != problem.blocks() {
            return Err(ProblemError::Size {
                what: "pairs of coefficients, one per block,",
                expected: problem.blocks(),
                found: coefficients.len(),
            });
        }
        let mut factors = vec![1.0; problem.size()];
        let mut cones = problem.cones().to_vec();
        for (block, pair) in coefficients.iter().enumerate() {
            let Some(pair) = pair else { continue };
            if !matches!(cones[block], Cone::Coulomb { .. }) {
                return Err(ProblemError::Unsuitable {
                    block,
                    why: "an ellipse of friction is for contacts in space",
                });
            }
            if let Some(mu) = pair.iter().find(|mu| !(**mu > 0.0 && **mu < f64::INFINITY)) {
                return Err(ProblemError::Friction { block, mu: *mu });
            }
            cones[block] = Cone::Coulomb { mu: 1.0 };
            factors[problem.rows(block)][1..].copy_from_slice(pair);
        }
        let b = problem.b().iter().zip(&factors).map(|(b, f)| f * b).collect();
        let problem = match problem.delassus().form() {
            Form::Saddle { system, rows } => {
                let mut system = system.clone();
                let mut of = vec![1.0; system.m()];
                for (row, factor) in rows.iter().zip(&factors) {
                    of[*row] = *factor;
                }
                scale(&mut system.j, |i, _| of[i]);
                scale(&mut system.r, |i, k| of[i] * of[k]);
                let a = SaddleDelassus::new(&system, rows, problem.offsets())?;
                Problem::saddle(a, b, cones)?
            }
            Form::Sparse(matrix) => {
                let mut matrix = matrix.clone();
                scale(&mut matrix, |i, k| factors[i] * factors[k]);
                Problem::new(BlockSparse::from_matrix(matrix), b, cones)?
            }
            Form::Opaque => {
                let m = problem.size();
                let mut a = vec![0.0; m * m];
                problem.delassus().block(0..m, 0..m, &mut a);
                for (at, value) in a.iter_mut().enumerate() {
                    *value *= factors[at / m] * factors[at % m];
                }
                Problem::new(DenseDelassus::new(&a)?, b, cones)?
            }
        };
        Ok(Self { problem, factors })
    }

    /// `r = S r'`, in place, m numbers.
    ///
    /// # Panics
    /// If there are not m of them.
    pub fn unscale(&self, r: &mut [f64]) {
        assert_eq!(r.len(), self.factors.len());
        for (r, factor) in r.iter_mut().zip(&self.factors) {
            *r *= factor;
        }
    }

    /// `r' = S^-1 r`, in place, m numbers: a start.
    ///
    /// # Panics
    /// If there are not m of them.
    pub fn scale(&self, r: &mut [f64]) {
        assert_eq!(r.len(), self.factors.len());
        for (r, factor) in r.iter_mut().zip(&self.factors) {
            *r /= factor;
        }
    }
}

/// Multiplies every entry by a number of its row and column.
fn scale(matrix: &mut pliant_sparse::CsrMatrix, by: impl Fn(usize, usize) -> f64) {
    for i in 0..matrix.pattern().rows() {
        for slot in matrix.pattern().row_slots(i) {
            let k = matrix.pattern().indices()[slot] as usize;
            matrix.values_mut()[slot] *= by(i, k);
        }
    }
}
