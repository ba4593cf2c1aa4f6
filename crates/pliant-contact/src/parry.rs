//! The one place that speaks to parry: convex hulls, and the distance of convex shapes that have no closed form here.

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

/// A convex set given by the farthest of its points in a direction, seen from `centre`.
struct Supported<F> {
    centre: Vec3,
    support: F,
}

impl<F: Fn(Vec3) -> Vec3> SupportMap for Supported<F> {
    fn local_support_point(&self, direction: Vector) -> Vector {
        out((self.support)(back(direction)) - self.centre)
    }
}

/// The unit normal from one convex set to the other along which they are farthest apart (or least deep in each other).
pub(crate) fn normal(a: impl Fn(Vec3) -> Vec3, b: impl Fn(Vec3) -> Vec3, centre: Vec3) -> Option<Vec3> {
    let (a, b) = (Supported { centre, support: a }, Supported { centre, support: b });
    let contact = contact_support_map_support_map(&Pose::IDENTITY, &a, &b, f64::MAX)?;
    let normal = back(contact.normal1);
    let length = normal.norm();
    (length > 0.5 && length.is_finite()).then(|| normal / length)
}
