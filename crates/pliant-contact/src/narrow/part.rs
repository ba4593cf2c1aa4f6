//! A convex part where it is now.

use pliant_dense::Vec3;

use crate::shape::polytope::Polytope;
use crate::surface::Surface;

/// A cylinder where it is now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cylinder {
    pub(crate) axis: Vec3,
    /// Two directions fixed in the body that complete the axis to a right-handed frame.
    pub(crate) side: Vec3,
    pub(crate) other: Vec3,
    pub(crate) half: f64,
    pub(crate) radius: f64,
}

/// A polytope (or, about its one point, a cylinder) and all within `radius` of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) shape: &'a Polytope,
    /// Its corners in the world.
    pub(crate) points: &'a [Vec3],
    /// The normals of its faces in the world; zero for a triangle without area, and of a triangle
    /// with one side just that.
    pub(crate) normals: &'a [Vec3],
    pub(crate) radius: f64,
    pub(crate) cylinder: Option<Cylinder>,
    /// The mesh of which it is this triangle, which says what normals may leave it.
    pub(crate) of: Option<(&'a Surface<'a>, usize)>,
}

impl Part<'_> {
    /// The farthest point of the core in a direction.
    pub(crate) fn support(&self, direction: Vec3) -> Vec3 {
        if let Some(cylinder) = &self.cylinder {
            let cap = cylinder.axis
                * if direction.dot(&cylinder.axis) < 0.0 {
                    -cylinder.half
                } else {
                    cylinder.half
                };
            return self.points[0] + cap + cylinder.rim(direction) * cylinder.radius;
        }
        self.points[self.farthest(direction)]
    }

    /// The farthest corner in a direction, the first of equals.
    pub(crate) fn farthest(&self, direction: Vec3) -> usize {
        let mut best = (f64::NEG_INFINITY, 0);
        for (k, p) in self.points.iter().enumerate() {
            let value = p.dot(&direction);
            if value > best.0 {
                best = (value, k);
            }
        }
        best.1
    }

    /// How far the core reaches in a direction.
    pub(crate) fn reach(&self, direction: Vec3) -> f64 {
        match &self.cylinder {
            None => self
                .points
                .iter()
                .map(|p| p.dot(&direction))
                .fold(f64::NEG_INFINITY, f64::max),
            Some(cylinder) => {
                let along = direction.dot(&cylinder.axis);
                let across = (direction - cylinder.axis * along).norm();
                self.points[0].dot(&direction) + cylinder.half * along.abs() + cylinder.radius * across
            }
        }
    }

    /// The mean of the corners.
    pub(crate) fn centre(&self) -> Vec3 {
        self.points.iter().sum::<Vec3>() / self.points.len() as f64
    }

    /// The greatest half length along an axis of the world.
    pub(crate) fn extent(&self) -> f64 {
        match &self.cylinder {
            Some(cylinder) => cylinder.half + cylinder.radius,
            None => {
                let (low, high) = crate::shape::polytope::bounds(self.points);
                (high - low).amax() / 2.0
            }
        }
    }

    /// Whether the part may push along this outward normal, which is that of a face of the other
    /// part. Of a sheet every point may: its corners near a face all rest on it, and not just the
    /// nearest of their neighbours.
    pub(crate) fn permits_face(&self, normal: Vec3) -> bool {
        self.of.is_none_or(|(surface, _)| surface.two_sided()) || self.permits(normal)
    }

    /// Whether the part may push along this outward normal.
    pub(crate) fn permits(&self, normal: Vec3) -> bool {
        self.of
            .is_none_or(|(surface, triangle)| surface.permits_from(triangle, normal))
    }
}

impl Cylinder {
    /// The unit vector across the axis nearest to a direction; a fixed one if there is none.
    pub(crate) fn rim(&self, direction: Vec3) -> Vec3 {
        let across = direction - self.axis * direction.dot(&self.axis);
        let length = across.norm();
        if length > 1e-9 * direction.norm() {
            across / length
        } else {
            self.side
        }
    }
}
