//! Common parts of the mappings of points: checks of their ends, and derivatives over vectors
//! between the ends.

use super::{End, check_dependency, check_end};
use crate::validate;
use crate::{Degenerate, Dependency, Field, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3};

/// Shortest length (m) of a vector that has a direction: the inverse of its square still is a
/// number.
pub(super) const SHORTEST: f64 = 1e-100;

/// Sine of an angle below which rounding alone decides where the plane through two vectors lies.
pub(super) const PARALLEL: f64 = 1e-14;

/// `M` vectors as combinations of `N` ends; coefficients 1, 0 and -1 leave differences exact to one
/// rounding.
pub(super) type Stencil<const M: usize, const N: usize> = [[f64; N]; M];

/// Both segments of a chain of three points.
pub(super) const CHAIN: Stencil<2, 3> = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];

/// The edges of a triangle that leave its first corner.
pub(super) const TRIANGLE: Stencil<2, 3> = [[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]];

/// The edges of a tetrahedron that leave its first corner.
pub(super) const TETRAHEDRON: Stencil<3, 4> = [
    [-1.0, 1.0, 0.0, 0.0],
    [-1.0, 0.0, 1.0, 0.0],
    [-1.0, 0.0, 0.0, 1.0],
];

/// 1, 2 or 3; other dimensions count as 3.
pub(super) fn spatial(dimension: usize) -> usize {
    if (1..=3).contains(&dimension) {
        dimension
    } else {
        3
    }
}

/// A list of one number serves all.
pub(super) fn one_or_each(values: &[f64], count: usize) -> Vec<f64> {
    if let [value] = values {
        vec![*value; count]
    } else {
        values.to_vec()
    }
}

pub(super) fn degenerate(name: &str, element: usize, reason: &'static str) -> ModelError {
    ModelError::Degenerate {
        name: name.into(),
        cause: Degenerate { element, reason },
        detail: String::new(),
    }
}

pub(super) fn check_finite(name: &str, field: Field, values: &[f64]) -> Result<(), ModelError> {
    let mut all = values.iter().enumerate();
    all.try_for_each(|(k, x)| validate::check_finite(name, field, *x).map_err(|e| e.at(k, values.len())))
}

/// Checks a list of one finite number per element of the child; `what` is its name in the plural.
pub(super) fn check_list(
    name: &str,
    field: Field,
    what: &'static str,
    values: &[f64],
    count: usize,
) -> Result<(), ModelError> {
    validate::check_size(name, field, what, count, values.len())?;
    check_finite(name, field, values)
}

pub(super) fn check_not_negative(name: &str, field: Field, values: &[f64]) -> Result<(), ModelError> {
    let mut all = values.iter().enumerate();
    all.try_for_each(|(k, x)| {
        validate::check_not_negative(name, field, *x).map_err(|e| e.at(k, values.len()))
    })
}

/// Checks that a dependency exists in a real space of this dimension.
pub(super) fn check_real(
    name: &str,
    at: Dependency,
    dimension: usize,
    parents: &[(Space, usize)],
) -> Result<(), ModelError> {
    let found = check_dependency(name, at, parents)?;
    let expected = match dimension {
        1 => "scalars",
        2 => "points of the plane",
        3 => "points of space",
        _ => "elements of the dimension given to the mapping",
    };
    validate::check_space(name, expected, found, found == Space::Real(dimension))
}

/// Checks the ends of every element: no element of a parent twice, and not only fixed points.
pub(super) fn check_ends<const N: usize>(
    name: &str,
    groups: &[[End; N]],
    dimension: usize,
    parents: &[(Space, usize)],
) -> Result<(), ModelError> {
    for (element, ends) in groups.iter().enumerate() {
        for (k, end) in ends.iter().enumerate() {
            check_end(name, end, dimension, parents)?;
            let same = |other: &End| end.dependency().is_some() && other.dependency() == end.dependency();
            if ends[..k].iter().any(same) {
                return Err(degenerate(name, element, "two of its ends are the same"));
            }
        }
        if ends.iter().all(|end| end.dependency().is_none()) {
            return Err(degenerate(name, element, "all its ends are fixed points"));
        }
    }
    Ok(())
}

pub(super) fn push_dependencies(ends: &[End], out: &mut Vec<Dependency>) {
    out.extend(ends.iter().filter_map(End::dependency));
}

/// Elements `indices` of the only parent as ends.
pub(super) fn elements<const N: usize>(indices: &[[usize; N]]) -> Vec<[End; N]> {
    indices
        .iter()
        .map(|list| list.map(|e| End::element(0, e)))
        .collect()
}

/// The vectors of a stencil.
#[inline]
pub(super) fn vectors<const M: usize, const N: usize>(
    stencil: &Stencil<M, N>,
    ends: &[End; N],
    parents: &Parents<'_>,
    dimension: usize,
) -> [Vec3; M] {
    let x = ends.map(|end| Vec3::from(end.coordinates(parents, dimension)));
    stencil.map(|row| (0..N).fold(Vec3::zeros(), |sum, k| sum + x[k] * row[k]))
}

/// The rates of the vectors of a stencil.
#[inline]
pub(super) fn rates<const M: usize, const N: usize>(
    stencil: &Stencil<M, N>,
    ends: &[End; N],
    parents: &Parents<'_>,
    dimension: usize,
) -> [Vec3; M] {
    let v = ends.map(|end| Vec3::from(end.velocity(parents, dimension)));
    stencil.map(|row| (0..N).fold(Vec3::zeros(), |sum, k| sum + v[k] * row[k]))
}

/// Length and direction of a vector, if it has one.
#[inline]
pub(super) fn direction(v: Vec3) -> Option<(f64, Vec3)> {
    let length = v.norm();
    (SHORTEST..f64::MAX)
        .contains(&length)
        .then(|| (length, v / length))
}

/// Writes a row of `J`, from the gradient with respect to each vector.
#[inline]
pub(super) fn write_row<const M: usize, const N: usize>(
    stencil: &Stencil<M, N>,
    ends: &[End; N],
    dimension: usize,
    gradient: &[Vec3; M],
    row: &mut [f64],
) {
    let mut column = 0;
    for p in 0..N {
        if ends[p].dependency().is_some() {
            for i in 0..dimension {
                row[column + i] = (0..M).map(|m| stencil[m][p] * gradient[m][i]).sum();
            }
            column += dimension;
        }
    }
}

/// Writes a block of `G`, from the second derivatives with respect to each pair of vectors:
/// `hessian[m][n]` is the transpose of `hessian[n][m]`, and only those with `m <= n` are read.
#[inline]
pub(super) fn write_hessian<const M: usize, const N: usize>(
    stencil: &Stencil<M, N>,
    ends: &[End; N],
    dimension: usize,
    hessian: &[[Mat3; M]; M],
    block: &mut [f64],
) {
    let width = dimension * ends.iter().filter(|end| end.dependency().is_some()).count();
    let mut row = 0;
    for p in 0..N {
        if ends[p].dependency().is_none() {
            continue;
        }
        let mut column = row;
        for q in p..N {
            if ends[q].dependency().is_none() {
                continue;
            }
            let mut sum = Mat3::zeros();
            for m in 0..M {
                sum += hessian[m][m] * (stencil[m][p] * stencil[m][q]);
                for n in m + 1..M {
                    sum += hessian[m][n] * (stencil[m][p] * stencil[n][q])
                        + hessian[m][n].transpose() * (stencil[n][p] * stencil[m][q]);
                }
            }
            for i in 0..dimension {
                for j in 0..dimension {
                    block[(row + i) * width + column + j] = sum[(i, j)];
                    block[(column + j) * width + row + i] = sum[(i, j)];
                }
            }
            column += dimension;
        }
        row += dimension;
    }
}

/// `a b^T + b a^T`.
#[inline]
pub(super) fn twice_symmetric(a: Vec3, b: Vec3) -> Mat3 {
    a * b.transpose() + b * a.transpose()
}
