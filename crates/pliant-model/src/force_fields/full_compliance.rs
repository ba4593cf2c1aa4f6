//! Springs to zero whose coordinates are coupled: a full matrix.

use crate::validate::{check_all_finite, check_not_negative, check_real, check_size};
use crate::{At, Blocks, Field, ForceField, Groups, ModelError, NotInvertible, RowLaw, Space};
use pliant_dense::eigen::symmetric_eigen;

/// A symmetric positive-semidefinite compliance or stiffness matrix, the same for every element or
/// every group of elements.
///
/// **Equation.** `f = -(K (x + d v) + D v)` with `K = C^-1`; energy `x^T K x/2`. `C` (m/N, rad/N,
/// rad/(N m)) or `K` is given and the other is its inverse: a singular `C` (hard in some
/// directions) can only be treated as a compliance, a singular `K` only as a stiffness. `d` is the
/// relaxation time (s), `D` a damping matrix of its own (N s/m, N s, N m s). A singular `C` has no
/// force (not a number) and only the energy of its soft directions.
///
/// **Use.** Bushings of six coordinates, coupled joint stiffness, a whole reduced structure with
/// its compliance matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct FullCompliance {
    size: usize,
    given: Vec<f64>,
    inverse: Inverse,
    is_stiffness: bool,
    groups: Groups,
    relaxation_time: f64,
    damping: Option<Vec<f64>>,
}

/// Findings on the eigenvalues of a matrix.
#[derive(Clone, Debug, PartialEq)]
enum Inverse {
    /// The inverse of a positive-definite matrix.
    Definite(Vec<f64>),
    /// A matrix that inverts a semidefinite one on its range.
    Singular(Vec<f64>),
    /// Not a symmetric positive-semidefinite matrix.
    Invalid(&'static str),
}

impl FullCompliance {
    /// Compliance `C` (m/N, rad/N, rad/(N m)): rows first, the square of the number of coordinates
    /// of an element or of a group.
    pub fn from_compliance(matrix: &[f64]) -> Self {
        Self::new(matrix, false)
    }

    /// Stiffness `K` (N/m, N/rad, N m/rad): rows first, the square of the number of coordinates of
    /// an element or of a group.
    pub fn from_stiffness(matrix: &[f64]) -> Self {
        Self::new(matrix, true)
    }

    fn new(matrix: &[f64], is_stiffness: bool) -> Self {
        let size = matrix.len().isqrt();
        Self {
            size,
            given: symmetric_part(size, matrix),
            inverse: inverse(size, matrix),
            is_stiffness,
            groups: Groups::Each,
            relaxation_time: 0.0,
            damping: None,
        }
    }

    /// Lets the matrix couple all coordinates of a node of this many elements.
    #[must_use]
    pub fn over_elements(mut self, count: usize) -> Self {
        self.groups = Groups::Of(vec![(0..count).collect()]);
        self
    }

    /// Lets the matrix couple the coordinates of each of these lists of elements, in their order;
    /// lists of one length. As a compliance they must cover the node in order.
    #[must_use]
    pub fn over_groups(mut self, groups: &[Vec<usize>]) -> Self {
        self.groups = Groups::Of(groups.to_vec());
        self
    }

    /// Adds the damping `d K` through the relaxation time `d` (s), zero or more.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// Adds a damping matrix `D` (N s/m, N s, N m s): symmetric positive semidefinite, rows first,
    /// as large as the other.
    #[must_use]
    pub fn with_damping(mut self, matrix: &[f64]) -> Self {
        self.damping = Some(matrix.to_vec());
        self
    }

    fn stiffness_matrix(&self) -> Option<&[f64]> {
        match &self.inverse {
            _ if self.is_stiffness => Some(&self.given),
            Inverse::Definite(k) => Some(k),
            _ => None,
        }
    }

    fn compliance_matrix(&self) -> Option<&[f64]> {
        match &self.inverse {
            _ if !self.is_stiffness => Some(&self.given),
            Inverse::Definite(c) => Some(c),
            _ => None,
        }
    }

    /// Calls `visit` for every pair of coordinates of a node that the matrix couples: place in the
    /// matrix, row, column.
    fn pairs(&self, width: usize, coordinates: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let n = self.size;
        let mut group = |at: &dyn Fn(usize) -> usize| {
            for i in 0..n {
                for j in 0..n {
                    visit(i * n + j, at(i), at(j));
                }
            }
        };
        match &self.groups {
            Groups::Each => (0..coordinates / n.max(1)).for_each(|e| group(&|i| e * n + i)),
            Groups::Of(lists) => {
                for list in lists {
                    group(&|i| list[i / width] * width + i % width);
                }
            }
        }
    }
}

/// Half the sum of a matrix and its transpose; a list that is no square stays empty.
fn symmetric_part(n: usize, a: &[f64]) -> Vec<f64> {
    if n * n != a.len() {
        return Vec::new();
    }
    (0..n * n).map(|k| 0.5 * (a[k] + a[k % n * n + k / n])).collect()
}

/// Inverts a matrix, scaled to ones on its diagonal so that the units of its coordinates do not
/// matter.
fn inverse(n: usize, given: &[f64]) -> Inverse {
    if n * n != given.len() || n == 0 {
        return Inverse::Invalid("it is not square");
    }
    if given.iter().any(|a| !a.is_finite()) {
        return Inverse::Invalid("an entry is not finite");
    }
    if (0..n).any(|i| given[i * n + i] < 0.0) {
        return Inverse::Invalid("it has a negative eigenvalue");
    }
    let one = |d: f64| if d > 0.0 { d.sqrt().recip() } else { 1.0 };
    let scale: Vec<f64> = (0..n).map(|i| one(given[i * n + i])).collect();
    let scaled = |k: usize| given[k] * scale[k / n] * scale[k % n];
    if (0..n * n).any(|k| (scaled(k) - scaled(k % n * n + k / n)).abs() > 1e-10) {
        return Inverse::Invalid("it is not symmetric");
    }
    let mut d: Vec<f64> = (0..n * n)
        .map(|k| 0.5 * (scaled(k) + scaled(k % n * n + k / n)))
        .collect();
    let mut v = vec![0.0; n * n];
    symmetric_eigen(n, &mut d, &mut v);
    let rounding = 1e-13 * n as f64;
    if (0..n).any(|i| d[i * n + i] < -100.0 * rounding) {
        return Inverse::Invalid("it has a negative eigenvalue");
    }
    let singular = (0..n).any(|i| d[i * n + i] < rounding);
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let sum: f64 = (0..n)
                .filter(|k| d[k * n + k] >= rounding)
                .map(|k| v[i * n + k] * v[j * n + k] / d[k * n + k])
                .sum();
            out[i * n + j] = scale[i] * sum * scale[j];
        }
    }
    let out = symmetric_part(n, &out);
    if singular {
        Inverse::Singular(out)
    } else {
        Inverse::Definite(out)
    }
}

impl ForceField for FullCompliance {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_real(name, space)?;
        check_not_negative(name, Field::RelaxationTime, self.relaxation_time)?;
        let width = space.velocity_size();
        let matrix = if self.is_stiffness {
            Field::StiffnessMatrix
        } else {
            Field::ComplianceMatrix
        };
        let wanted = |elements: usize, found: usize| {
            let expected = elements * width * elements * width;
            if expected == found && found > 0 {
                return Ok(());
            }
            Err(ModelError::Size {
                name: name.into(),
                field: matrix,
                what: "entries of a matrix",
                expected: expected.max(1),
                found,
            })
        };
        let error = |field, reason| {
            Err(ModelError::Matrix {
                name: name.into(),
                field,
                reason,
            })
        };
        if let Inverse::Invalid(reason) = self.inverse {
            return error(matrix, reason);
        }
        self.groups.check(name, count)?;
        let size = self.given.len();
        match &self.groups {
            Groups::Each => wanted(1, size)?,
            Groups::Of(lists) => lists.iter().try_for_each(|l| wanted(l.len(), size))?,
        }
        let Some(damping) = &self.damping else {
            return Ok(());
        };
        check_all_finite(name, Field::DampingEntries, damping)?;
        match inverse(damping.len().isqrt(), damping) {
            Inverse::Invalid(reason) => error(Field::DampingMatrix, reason),
            _ => {
                let (what, found) = ("entries of a damping matrix", damping.len());
                check_size(name, Field::DampingMatrix, what, size, found)
            }
        }
    }

    fn groups(&self) -> Groups {
        self.groups.clone()
    }

    fn energy(&self, At { space, x, .. }: At<'_>) -> f64 {
        let matrix = match &self.inverse {
            _ if self.is_stiffness => &self.given,
            Inverse::Definite(k) | Inverse::Singular(k) => k,
            Inverse::Invalid(_) => return f64::NAN,
        };
        let mut sum = 0.0;
        self.pairs(space.velocity_size(), x.len(), |k, i, j| {
            sum += 0.5 * x[i] * matrix[k] * x[j];
        });
        sum
    }

    fn add_force(&self, At { space, x, v, .. }: At<'_>, f: &mut [f64]) {
        let Some(stiffness) = self.stiffness_matrix() else {
            f.fill(f64::NAN);
            return;
        };
        let d = self.relaxation_time;
        self.pairs(space.velocity_size(), x.len(), |k, i, j| {
            f[i] -= stiffness[k] * (x[j] + d * v[j]);
            if let Some(damping) = &self.damping {
                f[i] -= damping[k] * v[j];
            }
        });
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        let Some(stiffness) = self.stiffness_matrix() else {
            return Err(NotInvertible { element: 0 });
        };
        (0..out.len()).for_each(|g| out.block_mut(g).copy_from_slice(stiffness));
        Ok(())
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        let d = self.relaxation_time;
        for g in 0..out.len() {
            let block = out.block_mut(g);
            if let (Some(stiffness), true) = (self.stiffness_matrix(), d > 0.0) {
                block.iter_mut().zip(stiffness).for_each(|(b, k)| *b += d * k);
            }
            if let Some(damping) = &self.damping {
                block.iter_mut().zip(damping).for_each(|(b, d)| *b += d);
            }
        }
    }

    fn row_law(&self) -> RowLaw {
        if self.compliance_matrix().is_some() {
            RowLaw::Elastic
        } else {
            RowLaw::None
        }
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        if let Some(compliance) = self.compliance_matrix() {
            (0..out.len()).for_each(|g| out.block_mut(g).copy_from_slice(compliance));
        }
    }

    fn relaxation_time(&self, _coordinate: usize) -> f64 {
        self.relaxation_time
    }

    fn row_damping(&self, _at: At<'_>, out: &mut Blocks) -> bool {
        let Some(damping) = &self.damping else {
            return false;
        };
        (0..out.len()).for_each(|g| out.block_mut(g).copy_from_slice(damping));
        true
    }

    fn is_linear(&self) -> bool {
        true
    }
}
