//! Edges on edges: the normal where many are right.

use pliant_dense::Vec3;

use super::axis::{Axis, Source};
use super::clip::LEVEL;
use super::part::Part;

/// The normal where an edge or a corner lies on an edge or a corner, and not on a face: half way
/// between those of the two faces of either part that differ most.
///
/// Every direction between them is a normal of the contact then, and rounding would choose one of
/// the ends; the middle is what symmetry asks for, and what the nearest points of parts that are a
/// little apart give. All these faces and the middle keep the parts equally far apart, to within
/// `touch` (m): so an edge that lies deeper on a face than that (over the sine of the angle of the
/// faces) has the normal of the face, and where a face lies on a face there is but one.
pub(super) fn corner_on_corner(a: &Part<'_>, b: &Part<'_>, axis: Axis, touch: f64) -> Option<Axis> {
    let of_face = matches!(axis.source, Source::FaceA(_) | Source::FaceB(_));
    let of_mesh = a.of.is_some() || b.of.is_some();
    if !of_face || touch == 0.0 || axis.separation.abs() > touch || of_mesh {
        return None;
    }
    let alike = axis.separation - touch;
    // Normals of faces, from the first part to the second, along which these are as far apart; and
    // whether they are of the first.
    let faces = || {
        [(a, b, 1.0), (b, a, -1.0)]
            .into_iter()
            .flat_map(move |(part, other, sign)| {
                let normals = part.normals.iter().zip(&part.shape.faces);
                normals
                    .filter(move |(n, face)| {
                        **n != Vec3::zeros()
                            && -other.reach(-**n) - n.dot(&part.points[face[0] as usize]) >= alike
                    })
                    .map(move |(n, _)| (sign * n, sign > 0.0))
            })
    };
    let first_owns = matches!(axis.source, Source::FaceA(_));
    let level = |n: Vec3| n.cross(&axis.normal).norm() < LEVEL && n.dot(&axis.normal) > 0.0;
    if faces().any(|(n, first)| first != first_owns && level(n)) {
        return None;
    }
    let farthest = |from: Vec3| {
        faces().fold(
            from,
            |best, (n, _)| if n.dot(&from) < best.dot(&from) { n } else { best },
        )
    };
    let one = farthest(axis.normal);
    let other = farthest(one);
    if one.dot(&other) > 1.0 - LEVEL * LEVEL / 2.0 {
        return None;
    }
    let normal = (one + other).try_normalize(LEVEL)?;
    let separation = -b.reach(-normal) - a.reach(normal);
    (separation >= alike).then_some(Axis {
        normal,
        separation,
        source: Source::Between,
        doubtful: false,
    })
}
