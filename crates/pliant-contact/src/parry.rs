//! The one place that speaks to parry: convex hulls, and the distance of convex shapes that have no
//! closed form here.

use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::details::contact_support_map_support_map;
use parry3d_f64::shape::SupportMap;
use parry3d_f64::transformation::try_convex_hull;
use pliant_dense::Vec3;

fn out(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn back(v: Vector) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

/// Corners and outward triangles of the convex hull; none if the points lie in a plane.
pub(crate) fn hull(points: &[Vec3]) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
    let points: Vec<Vector> = points.iter().copied().map(out).collect();
    let (corners, triangles) = try_convex_hull(&points).ok()?;
    Some((corners.into_iter().map(back).collect(), triangles))
}

/// A convex set given by the farthest of its points in a direction, seen from `centre` in units of
/// `size`.
struct Supported<F> {
    centre: Vec3,
    size: f64,
    support: F,
}

impl<F: Fn(Vec3) -> Vec3> SupportMap for Supported<F> {
    fn local_support_point(&self, direction: Vector) -> Vector {
        out(((self.support)(back(direction)) - self.centre) / self.size)
    }
}

/// Ratio of sizes beyond which the smaller set is lost in the rounding of the larger: parry's
/// polytope then has too few corners, and panics.
const LOST: f64 = 1e-12;

/// Largest distance of a set from the centre along an axis, and its largest extent.
fn measures(support: &impl Fn(Vec3) -> Vec3, centre: Vec3) -> (f64, f64) {
    let (mut far, mut extent) = (0.0f64, 0.0f64);
    for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
        let ends = [axis, -axis].map(|d| (support(d) - centre).dot(&axis));
        // A NaN must survive.
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        far = larger(larger(far, ends[0].abs()), ends[1].abs());
        extent = larger(extent, (ends[0] - ends[1]).abs());
    }
    (far, extent)
}

/// The unit normal from one convex set to the other along which they are farthest apart (or least
/// deep in each other); none where their sizes and their distance differ by so many orders that
/// rounding decides.
pub(crate) fn normal(a: impl Fn(Vec3) -> Vec3, b: impl Fn(Vec3) -> Vec3, centre: Vec3) -> Option<Vec3> {
    let ((far_a, extent_a), (far_b, extent_b)) = (measures(&a, centre), measures(&b, centre));
    let size = far_a.max(far_b);
    let known = [far_a, far_b, extent_a, extent_b].iter().all(|x| x.is_finite());
    // Numbers whose squares are numbers.
    if !known || !(1e-150..1e150).contains(&size) || extent_a.min(extent_b) < LOST * size {
        return None;
    }
    let (a, b) = (
        Supported {
            centre,
            size,
            support: a,
        },
        Supported {
            centre,
            size,
            support: b,
        },
    );
    let contact = contact_support_map_support_map(&Pose::IDENTITY, &a, &b, f64::MAX)?;
    let normal = back(contact.normal1);
    let length = normal.norm();
    (length > 0.5 && length.is_finite()).then(|| normal / length)
}
