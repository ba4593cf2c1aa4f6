//! Bending of shells: curvatures of triangles from the angles at their edges.

use super::SheetMesh;
use super::mesh::Edge;
use crate::ContinuumError;
use crate::symmetry::extent;
use pliant_dense::Vec3;
use pliant_model::{Affine, AffineEntry, Dependency, DihedralAngle, End};

/// What the bending of a sheet hangs on.
pub(super) struct Hinges {
    /// Angles at the edges between two triangles, and at edges of the boundary that are clamped or in a plane of symmetry.
    pub(super) angles: DihedralAngle,
    /// Edges of the angles: triangles at both sides; at a clamped or mirrored edge only one.
    pub(super) sides: Vec<(Edge, bool)>,
    /// Edges of the boundary that are free to turn.
    pub(super) free: Vec<Edge>,
}

/// The angles of a sheet, zero at rest; the boundary is clamped along edges between two of these nodes, and mirrored along those between two in one of the planes across an axis.
pub(super) fn hinges(
    mesh: &SheetMesh,
    clamped: &[bool],
    mirrors: &[(usize, Vec<bool>)],
) -> Result<Option<Hinges>, ContinuumError> {
    let far = 10.0 * extent(&mesh.nodes);
    let (mut ends, mut rests, mut sides, mut free) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let x = |n: usize| Vec3::from(mesh.nodes[n]);
    for edge in mesh.edges()? {
        let ([a, b], (_, c)) = (edge.ends, edge.left);
        let end = |n: usize| End::element(0, n);
        match edge.right {
            Some((_, d)) => {
                ends.push([end(a), end(b), end(c), end(d)]);
                rests.push(angle(x(a), x(b), x(c), x(d)));
                sides.push((edge, false));
            }
            None if clamped[a] && clamped[b] => {
                // The clamp goes on in the plane of the triangle at rest.
                let beyond = x(a) + x(b) - x(c);
                ends.push([end(a), end(b), end(c), End::Point(beyond.into())]);
                rests.push(0.0);
                sides.push((edge, true));
            }
            None => {
                let Some((axis, _)) = mirrors.iter().find(|(_, on)| on[a] && on[b]) else {
                    free.push(edge);
                    continue;
                };
                // The plane is spanned by the edge and a point of it that is far enough away to stay beside the edge. The angle to it is half of that to the mirror image.
                let along = (x(b) - x(a)).normalize();
                let aside = x(a) + far * Vec3::ith(*axis, 1.0).cross(&along);
                ends.push([end(a), end(b), end(c), End::Point(aside.into())]);
                rests.push(angle(x(a), x(b), x(c), aside));
                sides.push((edge, true));
            }
        }
    }
    if ends.is_empty() {
        return Ok(None);
    }
    let angles = DihedralAngle::new(&ends).with_rest_angles(&rests);
    Ok(Some(Hinges { angles, sides, free }))
}

/// The angle of [`DihedralAngle`].
fn angle(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let edge = (b - a).normalize();
    let (left, right) = (edge.cross(&(c - a)), (d - a).cross(&edge));
    left.cross(&right).dot(&edge).atan2(left.dot(&right))
}

/// Curvatures of each triangle (1/m): along the warp, along the weft, twice the twist; of the angles (first parent) and of the turns of the normals at the
/// edges from half way between the sides (second parent: edges of the angles but clamped ones, then free edges of the boundary).
///
/// The normal at the middle of an edge is turned by `b` about the edge from that of a triangle, `b = theta/2 + xi` at the left, `theta/2 - xi` at the right; linear in
/// between, its gradient is `sum 2 b/h n n^T` with the height `h` and the direction `n` away from the triangle (Morley 1971; Grinspun, Gingold,
/// Reisman and Zorin 2006).
pub(super) fn curvatures(
    mesh: &SheetMesh,
    warp: Option<[f64; 3]>,
    hinges: &Hinges,
) -> Result<(Affine, usize), ContinuumError> {
    let flat = mesh.flat(warp)?;
    let mut entries = Vec::new();
    let mut add = |(t, corner): (usize, usize), parent: usize, from: usize, turn: f64| {
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
