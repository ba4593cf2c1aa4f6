//! Bending of cloth as a linear mapping.

use super::{Affine, AffineEntry, Cell, MeshError};
use crate::Dependency;

/// Isometric quadratic bending (Bergou et al. 2006): an [`Affine`] mapping to a vector per hinge
/// whose square is its bending energy.
///
/// **Equation.** `x_c = sqrt(3/A) (K0 x0 + K1 x1 + K2 x2 + K3 x3)` (no unit) for each hinge, the
/// edge `x0 x1` and the opposite corners `x2`, `x3`. With the cotangents of the four angles at the
/// edge at rest, `c02` and `c12` at `x0` and `x1` in the triangle of `x2` and `c03`, `c13` in the
/// other: `K0 = c12 + c13`, `K1 = c02 + c03`, `K2 = -c02 - c12`, `K3 = -c03 - c13`; `A` (m^2) is
/// the area of both triangles at rest. Zero when flat, constant `J`, no `G`. A uniform stiffness
/// `k` (N m) on it has the energy `(k/2) (3/A) |sum_i K_i x_i|^2`: `6 k (l^2/A) sin^2(theta/2)` for
/// an edge of length `l` folded by `theta` without stretching.
///
/// **Parents.** Points of space.
///
/// **Use.** Bending of nearly inextensible cloth that is flat at rest, at the cost of a linear
/// spring.
///
/// `hinges` are elements `[x0, x1, x2, x3]` of the only parent, `rest` the positions at rest (m) of
/// all of its elements.
///
/// # Errors
/// [`MeshError`]: a number that is not finite, a node that does not exist, a triangle of area zero.
pub fn quadratic_bending(hinges: &[[usize; 4]], rest: &[[f64; 3]]) -> Result<Affine, MeshError> {
    let bad = rest.iter().position(|x| x.iter().any(|x| !x.is_finite()));
    if let Some(index) = bad {
        return Err(MeshError::NotFinite { what: "node", index });
    }
    let mut entries = Vec::with_capacity(12 * hinges.len());
    for (hinge, nodes) in hinges.iter().enumerate() {
        let [x0, x1, x2, x3] = *nodes;
        let mut area = 0.0;
        let mut coefficients = [0.0; 4];
        for (corner, opposite) in [(2, x2), (3, x3)] {
            let x = Cell::Triangle([x0, x1, opposite]).gather(hinge, rest)?;
            let (edge, side) = (x[1], x[2]);
            let twice = edge.cross(&side).norm();
            let (at_0, at_1) = (edge.dot(&side) / twice, edge.dot(&(edge - side)) / twice);
            coefficients[0] += at_1;
            coefficients[1] += at_0;
            coefficients[corner] = -at_0 - at_1;
            area += 0.5 * twice;
        }
        let scale = (3.0 / area).sqrt();
        for (node, coefficient) in nodes.iter().zip(coefficients) {
            entries.extend((0..3).map(|k| AffineEntry {
                element: hinge,
                coordinate: k,
                from: Dependency::new(0, *node),
                from_coordinate: k,
                value: scale * coefficient,
            }));
        }
    }
    Ok(Affine::new(3, &vec![0.0; 3 * hinges.len()], &entries))
}
