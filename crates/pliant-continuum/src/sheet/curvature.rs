//! Bending of shells: curvatures of triangles from the angles at their edges.

use super::SheetMesh;
use super::hinges::Hinges;
use super::mesh::Side;
use crate::ContinuumError;
use pliant_model::{Affine, AffineEntry, Dependency};

/// Curvatures of each triangle (1/m): along the warp, along the weft, twice the twist; of the
/// angles (first parent) and of the turns of the normals at the edges from half way between the
/// sides (second parent: edges of the angles but clamped ones, then free edges of the boundary).
///
/// The normal at the middle of an edge is turned by `b` about the edge from that of a triangle,
/// `b = theta/2 + xi` at the left, `theta/2 - xi` at the right; linear in between, its gradient is
/// `sum 2 b/h n n^T` with the height `h` and the direction `n` away from the triangle (Morley 1971;
/// Grinspun, Gingold, Reisman and Zorin 2006).
pub(super) fn curvatures(
    mesh: &SheetMesh,
    warp: Option<[f64; 3]>,
    hinges: &Hinges,
) -> Result<(Affine, usize), ContinuumError> {
    let flat = mesh.flat(warp)?;
    let mut entries = Vec::new();
    let mut add = |side: Side, parent: usize, from: usize, turn: f64| {
        let (t, [corner, _]) = (side.element, side.corners);
        let k = mesh.triangles[t].iter().position(|c| *c == corner).unwrap_or(0);
        // The gradient of the opposite corner's coordinate is minus the direction over the height.
        let [x, y] = flat[t].gradients()[k];
        let height = 1.0 / x.hypot(y);
        for (coordinate, product) in [x * x, y * y, 2.0 * x * y].into_iter().enumerate() {
            entries.push(AffineEntry {
                element: t,
                coordinate,
                from: Dependency::new(parent, from),
                from_coordinate: 0,
                value: 2.0 * turn * height * product,
            });
        }
    };
    let mut turns = 0;
    for (i, (edge, _)) in hinges.sides.iter().enumerate() {
        let Some(right) = edge.right else {
            add(edge.left, 0, i, 1.0);
            continue;
        };
        add(edge.left, 0, i, 0.5);
        add(edge.left, 1, turns, 1.0);
        add(right, 0, i, 0.5);
        add(right, 1, turns, -1.0);
        turns += 1;
    }
    for edge in &hinges.free {
        add(edge.left, 1, turns, 1.0);
        turns += 1;
    }
    let offset = vec![0.0; 3 * mesh.triangles.len()];
    Ok((Affine::new(3, &offset, &entries), turns))
}
