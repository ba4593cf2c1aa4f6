//! Edges on edges: the normal where many are right.

use pliant_dense::Vec3;

use super::axis::{Axis, Source};
use super::clip::LEVEL;
use super::part::Part;

/// The normal where an edge lies on an edge, and not on a face: half way between those of the two faces that it is at the end of.
///
/// Every direction between the two is a normal of the contact then, and rounding would choose one of the ends; the middle is what symmetry asks for, and
/// what the nearest points of parts that are a little apart give. Both faces and the middle keep the parts equally far apart, to within `touch` (m): so
/// an edge that lies deeper on a face than that (over the sine of the angle of the faces) has the normal of the face, and where a face lies on a face there is but one.
pub(super) fn corner_on_corner(a: &Part<'_>, b: &Part<'_>, axis: Axis, touch: f64) -> Option<Axis> {
    let (part, other, sign) = match axis.source {
        Source::FaceA(_) => (a, b, 1.0),
        Source::FaceB(_) => (b, a, -1.0),
        _ => return None,
    };
    if touch == 0.0 || axis.separation.abs() > touch || part.of.is_some() || other.of.is_some() {
        return None;
    }
    // Outward of the part whose face it is.
    let normal = sign * axis.normal;
    let alike = axis.separation - touch;
    let mut best: Option<(f64, Vec3)> = None;
    for (k, n) in other
        .normals
        .iter()
        .enumerate()
        .filter(|(_, n)| **n != Vec3::zeros())
    {
        let separation = -part.reach(-n) - n.dot(&other.points[other.shape.faces[k][0] as usize]);
        if separation >= alike {
            if n.cross(&normal).norm() < LEVEL && n.dot(&normal) < 0.0 {
                return None;
            }
            if best.is_none_or(|(s, _)| separation > s) {
                best = Some((separation, -n));
            }
        }
    }
    let middle = (normal + best.filter(|(_, n)| n.dot(&normal) > 0.0)?.1).normalize();
    let normal = sign * middle;
    let separation = -b.reach(-normal) - a.reach(normal);
    (separation >= alike).then_some(Axis {
        normal,
        separation,
        source: Source::Between,
        doubtful: false,
    })
}
