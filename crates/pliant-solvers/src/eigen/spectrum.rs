//! The spectrum of a whole KKT matrix: its condition number, and the direction that is weakest.

use super::lanczos::{Lanczos, Operator, Ritz};
use super::{EigenError, EigenOptions, Side, dot};
use crate::{DirectSolver, KktSystem, Solution, Variable};
use pliant_dense::eigen::symmetric_eigen;

/// Vectors of a basis at most; a dozen are usual for what is largest, a few for the inverse.
const MOST: usize = 300;
/// Vectors between two looks at the Ritz values.
const LOOK: usize = 10;
/// Size up to which all eigenvalues are found, about `9 n^3` operations.
const DENSE: usize = 500;
/// Eigenvalues below this share of the largest and the size are zero to rounding.
const ZERO: f64 = 10.0 * f64::EPSILON;

/// An eigenvalue of the smallest or the largest magnitude.
#[derive(Clone, Debug, PartialEq)]
pub struct Extreme {
    /// The eigenvalue.
    pub value: f64,
    /// `|K v - value v|` for the vector of size 1: an eigenvalue is no farther than that.
    pub error: f64,
    /// The unknown with the largest part in the vector.
    pub variable: Variable,
    /// The square of that part, at most one.
    pub share: f64,
}

/// The eigenvalues of `K = [W -J^T; -J -R]` over the free variables and the rows: as many positive
/// ones as there are free variables and as many negative ones as rows, less the redundant ones,
/// where the problem is a proper one. The condition number bounds how much of an answer rounding
/// takes. All depends on the units: [`Equilibrated`](crate::Equilibrated) gives the matrix that
/// solvers see.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Eigenvalues above zero.
    pub positive: usize,
    /// Eigenvalues below zero.
    pub negative: usize,
    /// Redundant rows, whose eigenvalues are zero.
    pub zero: usize,
    /// Directions of the unknowns with an eigenvalue that is zero to rounding; of more than 500
    /// unknowns none or one. Counted neither above nor below zero.
    pub lost: usize,
    /// The eigenvalue of the smallest magnitude but for redundant rows; none of an empty matrix.
    /// Where directions are lost it is one of these, and rounding.
    pub weakest: Option<Extreme>,
    /// The eigenvalue of the largest magnitude.
    pub strongest: Option<Extreme>,
    /// All eigenvalues, ascending, of a matrix of up to 500 unknowns.
    pub all: Option<Vec<f64>>,
}

impl Spectrum {
    /// The largest magnitude over the smallest but for redundant rows; one of an empty matrix. Where
    /// directions are lost it is at least of the order of the reciprocal of rounding.
    pub fn condition(&self) -> f64 {
        match (&self.strongest, &self.weakest) {
            (Some(strongest), Some(weakest)) => (strongest.value / weakest.value).abs(),
            _ => 1.0,
        }
    }
}

/// The [`Spectrum`] of a system, whose bounds do not count: all rows are bilateral. Of up to 500
/// unknowns all eigenvalues are found, of more the two extremes by Lanczos's method on
/// `K` and on its inverse by the factor of a [`DirectSolver`], to the tolerance of the options as a
/// share of each.
///
/// # Errors
/// [`EigenError::Solve`] for systems that are none, and for those of more than 500 unknowns that
/// have no factor; [`EigenError::NotConverged`].
pub fn spectrum(system: &KktSystem, options: EigenOptions) -> Result<Spectrum, EigenError> {
    system.check()?;
    let matrix = Matrix::new(system);
    if matrix.size() <= DENSE {
        return dense(&matrix);
    }
    let mut solver = DirectSolver::default();
    solver.prepare(system)?;
    let mut inverse = Inverse {
        matrix: &matrix,
        system: system.clone(),
        solver,
        solution: Solution::default(),
        zero: 0,
        failed: None,
    };
    // Redundant rows contradict each other by rounding alone: vectors are of the range.
    inverse.system.b_rounding.fill(f64::MAX);
    let strongest = largest(&matrix, &mut Product(&matrix), options, 0.0)?;
    let rounding = ZERO * matrix.size() as f64 * strongest.value.abs();
    let weakest = largest(&matrix, &mut inverse, options, rounding);
    let zero = inverse.zero;
    if let Some(error) = inverse.failed {
        return Err(error);
    }
    let weakest = weakest?;
    let lost = usize::from(weakest.value.abs() <= rounding);
    Ok(Spectrum {
        positive: matrix.free.len() - lost,
        negative: matrix.rows() - zero,
        zero,
        lost,
        weakest: Some(weakest),
        strongest: Some(strongest),
        all: None,
    })
}

/// `K` over the free variables and the rows.
struct Matrix<'a> {
    system: &'a KktSystem,
    /// The free variables.
    free: Vec<usize>,
}

impl<'a> Matrix<'a> {
    fn new(system: &'a KktSystem) -> Self {
        let free = (0..system.n()).filter(|i| !system.fixed[*i]).collect();
        Self { system, free }
    }

    fn rows(&self) -> usize {
        self.system.m()
    }

    fn size(&self) -> usize {
        self.free.len() + self.rows()
    }

    /// `K v`.
    fn product(&self, v: &[f64], out: &mut [f64]) {
        let (system, free) = (self.system, self.free.len());
        let mut x = vec![0.0; system.n()];
        for (k, i) in self.free.iter().enumerate() {
            x[*i] = v[k];
        }
        let mu = &v[free..];
        let mut above = vec![0.0; system.n()];
        system.w.symmetric_add_product(1.0, &x, &mut above);
        system.j.add_transpose_product(-1.0, mu, &mut above);
        for (k, i) in self.free.iter().enumerate() {
            out[k] = above[*i];
        }
        let below = &mut out[free..];
        below.fill(0.0);
        system.j.add_product(-1.0, &x, below);
        system.r.symmetric_add_product(-1.0, mu, below);
    }

    /// The end of an interval with a vector of size one, its value there the Rayleigh quotient.
    fn extreme(&self, v: &[f64]) -> Extreme {
        let mut product = vec![0.0; self.size()];
        self.product(v, &mut product);
        let value = dot(v, &product);
        let missed = product.iter().zip(v).map(|(p, v)| (p - value * v).powi(2));
        let largest = (0..v.len()).max_by(|i, j| v[*i].abs().total_cmp(&v[*j].abs()));
        let largest = largest.unwrap_or_default();
        Extreme {
            value,
            error: missed.sum::<f64>().sqrt(),
            variable: match self.free.get(largest) {
                Some(dof) => Variable::Dof(*dof),
                None => Variable::Row(largest - self.free.len()),
            },
            share: v.get(largest).map_or(0.0, |part| part * part),
        }
    }
}

/// `K` in Lanczos's method, in the plain inner product.
struct Product<'a>(&'a Matrix<'a>);

impl Operator for Product<'_> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn image(&mut self, v: &[f64], f: &mut [f64]) {
        self.0.product(v, f);
    }

    fn solve(&mut self, f: &mut [f64], y: &mut Vec<f64>) -> Result<(), EigenError> {
        f.clone_into(y);
        Ok(())
    }
}

/// The inverse of `K` on its range.
struct Inverse<'a> {
    matrix: &'a Matrix<'a>,
    system: KktSystem,
    solver: DirectSolver,
    solution: Solution,
    /// Redundant rows.
    zero: usize,
    failed: Option<EigenError>,
}

impl Operator for Inverse<'_> {
    fn size(&self) -> usize {
        self.matrix.size()
    }

    fn image(&mut self, v: &[f64], f: &mut [f64]) {
        let free = self.matrix.free.len();
        self.system.c.fill(0.0);
        for (k, i) in self.matrix.free.iter().enumerate() {
            self.system.c[*i] = v[k];
        }
        self.system.b.copy_from_slice(&v[free..]);
        match self.solver.solve(&self.system, &mut self.solution) {
            Ok(report) => self.zero = report.redundant_rows,
            Err(error) => {
                self.failed.get_or_insert(error.into());
                return f.fill(0.0);
            }
        }
        for (k, i) in self.matrix.free.iter().enumerate() {
            f[k] = self.solution.x[*i];
        }
        f[free..].copy_from_slice(&self.solution.mu);
    }

    fn solve(&mut self, f: &mut [f64], y: &mut Vec<f64>) -> Result<(), EigenError> {
        f.clone_into(y);
        Ok(())
    }
}

/// The eigenvector of the largest magnitude of an operator, which has those of `K`, as a pair of `K`.
/// The residual of that decides, up to a rounding of `K`, since the operator's own says less where its
/// spectrum is wide.
fn largest(
    matrix: &Matrix<'_>,
    operator: &mut impl Operator,
    options: EigenOptions,
    rounding: f64,
) -> Result<Extreme, EigenError> {
    let mut lanczos = Lanczos::new();
    loop {
        lanczos.extend(lanczos.len() + LOOK, operator)?;
        let sides = [Side::Positive, Side::Negative].map(|side| lanczos.ritz(side));
        let first = |ritz: &&Ritz| ritz.values.first().map_or(0.0, |v| v.abs());
        let best = sides.iter().max_by(|a, b| first(a).total_cmp(&first(b)));
        if let Some(ritz) = best.filter(|ritz| !ritz.values.is_empty()) {
            let extreme = matrix.extreme(&lanczos.vector(ritz, 0));
            let is_found = lanczos.exhausted || ritz.found(options.tolerance) > 0;
            if is_found && extreme.error <= options.tolerance * extreme.value.abs() + rounding {
                return Ok(extreme);
            }
        }
        if lanczos.len() >= MOST || lanczos.solves >= options.max_solves || lanczos.exhausted {
            return Err(EigenError::NotConverged {
                found: 0,
                wanted: 1,
                solves: lanczos.solves,
            });
        }
    }
}

/// All eigenvalues.
fn dense(matrix: &Matrix<'_>) -> Result<Spectrum, EigenError> {
    let n = matrix.size();
    let (mut a, mut vectors) = (vec![0.0; n * n], vec![0.0; n * n]);
    let mut unit = vec![0.0; n];
    for (i, row) in a.chunks_exact_mut(n.max(1)).enumerate() {
        unit[i] = 1.0;
        matrix.product(&unit, row);
        unit[i] = 0.0;
    }
    if !symmetric_eigen(n, &mut a, &mut vectors) {
        return Err(EigenError::NotConverged {
            found: 0,
            wanted: n,
            solves: 0,
        });
    }
    let mut order: Vec<usize> = (0..n).collect();
    let value = |i: usize| a[i * n + i];
    order.sort_by(|i, j| value(*i).total_cmp(&value(*j)));
    let largest = order.iter().map(|i| value(*i).abs()).fold(0.0, f64::max);
    let rounding = ZERO * n as f64 * largest;
    let extreme = |i: &usize| {
        let v: Vec<f64> = (0..n).map(|k| vectors[k * n + i]).collect();
        matrix.extreme(&v)
    };
    let below = order.partition_point(|i| value(*i) < -rounding);
    let above = order.partition_point(|i| value(*i) <= rounding);
    let strongest = order.first().into_iter().chain(order.last());
    let size = |i: &&usize| value(**i).abs();
    let strongest = strongest
        .filter(|i| value(**i) != 0.0)
        .max_by(|a, b| size(a).total_cmp(&size(b)));
    // Vectors of redundant rows are in the rows alone; where they mix with lost directions, the sum
    // of the shares is their number.
    let free = matrix.free.len();
    let share = |i: &usize| (0..free).map(|k| vectors[k * n + i].powi(2)).sum::<f64>();
    let near = &order[below..above];
    let lost = near.iter().map(share).sum::<f64>().round() as usize;
    let weakest = if lost > 0 {
        near.iter().max_by(|a, b| share(a).total_cmp(&share(b)))
    } else {
        let beside = order[..below].last().into_iter().chain(order[above..].first());
        beside.min_by(|a, b| size(a).total_cmp(&size(b)))
    };
    Ok(Spectrum {
        positive: n - above,
        negative: below,
        zero: near.len() - lost,
        lost,
        weakest: weakest.map(extreme),
        strongest: strongest.map(extreme),
        all: Some(order.iter().map(|i| value(*i)).collect()),
    })
}
