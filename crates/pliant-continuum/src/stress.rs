//! Stress and strain of solids, sheets and rods from the forces of their materials.

use crate::strain::{matrix, stress_matrix};
use pliant_dense::Mat3;
use pliant_dense::eigen::map_eigenvalues;
use std::cell::Cell;

/// Stresses and strains at the quadrature points of a solid, in the axes of the world.
///
/// Symmetric tensors are six numbers: xx, yy, zz, xy, yz, zx. Shears of strains are those of the
/// tensor, half of the angle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidFields {
    /// Cauchy stress (Pa), tension positive.
    pub stress: Vec<[f64; 6]>,
    /// Logarithmic strain `ln V` of the left stretch `V` (none); of small strains, these. Not a
    /// number where an element is flat or inside out, whose stretch has no logarithm.
    pub strain: Vec<[f64; 6]>,
    /// Plastic strain that has passed (none): the sum of `sqrt(2/3) |de_p|`; empty where the
    /// material does not yield.
    pub plastic_strain: Vec<f64>,
}

impl SolidFields {
    /// The fields at points of these deformation gradients (rows first), on which the material acts
    /// with these forces (J), for these volumes (m^3) at rest: `P = -f/V`, `sigma = P F^T/det F`.
    /// Where strains are `small`, `sigma = P` and the strain is `sym(F) - I`. Whatever acts through
    /// the gradients is in the stress, as it is in the equations of motion: viscosity, and rows.
    pub(crate) fn new(gradients: &[f64], forces: &[f64], volumes: &[f64], small: bool) -> Self {
        let points = gradients.as_chunks::<9>().0.iter().zip(forces.as_chunks::<9>().0);
        let mut out = Self::default();
        for ((f, force), volume) in points.zip(volumes) {
            let f = matrix(f);
            let p = matrix(force) / -volume;
            let (stress, strain) = if small {
                (p, f - Mat3::identity())
            } else {
                (p * f.transpose() / f.determinant(), logarithm(&f))
            };
            out.stress.push(symmetric(&stress));
            out.strain.push(symmetric(&strain));
        }
        out
    }
}

/// The six numbers of the symmetric part of a matrix.
fn symmetric(m: &Mat3) -> [f64; 6] {
    let mean = |i, j| 0.5 * (m[(i, j)] + m[(j, i)]);
    [
        m[(0, 0)],
        m[(1, 1)],
        m[(2, 2)],
        mean(0, 1),
        mean(1, 2),
        mean(2, 0),
    ]
}

/// The largest eigenvalue of a symmetric matrix; not a number if one of its entries is none.
pub(crate) fn largest_eigenvalue(m: &Mat3) -> f64 {
    let mut values = [0.0; 9];
    values.copy_from_slice(m.as_slice());
    let (mut scratch, largest) = ([0.0; 18], Cell::new(f64::NAN));
    map_eigenvalues(3, &mut values, &mut scratch, |value| {
        largest.set(value.max(largest.get()));
        value
    });
    largest.get()
}

/// `ln V` with `V^2 = F F^T`.
fn logarithm(f: &Mat3) -> Mat3 {
    if f.determinant() <= 0.0 {
        return Mat3::repeat(f64::NAN);
    }
    let mut left = [0.0; 9];
    left.copy_from_slice((f * f.transpose()).as_slice());
    let mut scratch = [0.0; 18];
    map_eigenvalues(3, &mut left, &mut scratch, |square| 0.5 * square.ln());
    // Symmetric: its columns are its rows.
    matrix(&left)
}

/// Von Mises' equivalent of a stress (Pa) of six numbers (xx, yy, zz, xy, yz, zx):
/// `sqrt(3/2) |dev(sigma)|`, the tension that is as far from yielding.
pub fn von_mises(stress: &[f64; 6]) -> f64 {
    let mut deviator = stress_matrix(stress);
    let mean = deviator.trace() / 3.0;
    (0..3).for_each(|k| deviator[(k, k)] -= mean);
    (1.5 * deviator.norm_squared()).sqrt()
}

/// Pressure (Pa) of a stress of six numbers (xx, yy, zz, xy, yz, zx): `-tr(sigma)/3`.
pub fn pressure(stress: &[f64; 6]) -> f64 {
    -(stress[0] + stress[1] + stress[2]) / 3.0
}

/// Stresses and bending moments of the elements of a sheet, in the axes of warp and weft at rest,
/// which turn with the element: triangles first, then quadrangles, of which they are the means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetFields {
    /// Cauchy stress (Pa) along the warp, along the weft, shear; of the thickness at rest.
    pub stress: Vec<[f64; 3]>,
    /// Green and Lagrange's strain (none): warp, weft, and the shear of the tensor, half of the
    /// angle.
    pub strain: Vec<[f64; 3]>,
    /// Bending moments (N m per m): along the warp, along the weft, twist. Positive where the
    /// curvature is. Of shells alone: hinges have none per triangle.
    pub moment: Vec<[f64; 3]>,
}

impl SheetFields {
    /// The fields of elements of these strains (warp, weft, shear as an angle), on which the law
    /// acts with these forces (J), for these areas (m^2) at rest and this thickness (m):
    /// `S = -f/(A t)`, `sigma = U S U/det U` with the stretch `U = sqrt(1 + 2 E)`. `parts` says how
    /// many points each element has.
    pub(crate) fn new(
        strains: &[f64],
        forces: &[f64],
        areas: &[f64],
        thickness: f64,
        parts: impl Iterator<Item = usize>,
    ) -> Self {
        let points = strains.as_chunks::<3>().0.iter().zip(forces.as_chunks::<3>().0);
        let mut points = points.zip(areas).map(|((e, force), area)| {
            let second = force.map(|f| -f / (area * thickness));
            (*area, cauchy(e, second), [e[0], e[1], 0.5 * e[2]])
        });
        let mut out = Self::default();
        for count in parts {
            let (mut whole, mut stress, mut strain) = (0.0, [0.0; 3], [0.0; 3]);
            for (area, s, e) in points.by_ref().take(count) {
                whole += area;
                for k in 0..3 {
                    stress[k] += area * s[k];
                    strain[k] += area * e[k];
                }
            }
            out.stress.push(stress.map(|s| s / whole));
            out.strain.push(strain.map(|e| e / whole));
        }
        out
    }

    /// Von Mises' equivalent of each element (Pa), in plane stress.
    pub fn von_mises(&self) -> impl Iterator<Item = f64> + '_ {
        self.stress
            .iter()
            .map(|[one, two, shear]| von_mises(&[*one, *two, 0.0, *shear, 0.0, 0.0]))
    }
}

/// `U S U/det U` with `U^2 = 1 + 2 E`: the root of a matrix of two rows is
/// `(C + d)/sqrt(tr C + 2 d)` with `d = sqrt(det C)`.
pub(crate) fn cauchy([one, two, angle]: &[f64; 3], [s, t, shear]: [f64; 3]) -> [f64; 3] {
    let (a, b, c) = (1.0 + 2.0 * one, 1.0 + 2.0 * two, *angle);
    let d = (a * b - c * c).sqrt();
    let root = (a + b + 2.0 * d).sqrt();
    let (p, q, r) = ((a + d) / root, (b + d) / root, c / root);
    // The rows of S U, then U S U over det U = d.
    let [(sp, sr), (tp, tr)] = [
        (s * p + shear * r, s * r + shear * q),
        (shear * p + t * r, shear * r + t * q),
    ];
    [
        (p * sp + r * tp) / d,
        (r * sr + q * tr) / d,
        (p * sr + r * tr) / d,
    ]
}
