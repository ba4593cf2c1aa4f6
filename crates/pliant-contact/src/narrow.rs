//! Two convex parts: along which normal they are nearest, and at which points.

pub(crate) mod axis;
pub(crate) mod clip;
pub(crate) mod closest;
mod corner;
pub(crate) mod crossing;
pub(crate) mod part;
pub(crate) mod plane;
mod polish;
pub(crate) mod reduce;
mod rim;

use pliant_dense::Vec3;

pub(crate) use part::{Cylinder, Part};

/// One point of a manifold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Touch {
    /// On the surface of the first part, and of the second (world, m).
    pub(crate) a: Vec3,
    pub(crate) b: Vec3,
    /// Unit, from the first to the second.
    pub(crate) normal: Vec3,
    /// `normal . (b - a)` (m).
    pub(crate) gap: f64,
    /// Which corners and edges meet, as far as that is known.
    pub(crate) feature: u64,
    /// As that of its [`axis::Axis`].
    pub(crate) doubtful: bool,
}

impl Touch {
    /// From points of the cores, which the radii cover.
    pub(crate) fn new(a: &Part<'_>, b: &Part<'_>, pa: Vec3, pb: Vec3, normal: Vec3, feature: u64) -> Self {
        Self {
            a: pa + normal * a.radius,
            b: pb - normal * b.radius,
            normal,
            gap: normal.dot(&(pb - pa)) - a.radius - b.radius,
            feature,
            doubtful: false,
        }
    }
}

/// Room for polygons while they are clipped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) polygon: Vec<clip::Corner>,
    pub(crate) clipped: Vec<clip::Corner>,
    pub(crate) face: Vec<clip::Corner>,
}

/// Adds the points where two parts are nearer than `limit` (m) to `out`; whether there are any.
pub(crate) fn collide(
    a: &Part<'_>,
    b: &Part<'_>,
    limit: f64,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) -> bool {
    let Some(axis) = axis::find(a, b) else {
        return false;
    };
    if axis.separation - a.radius - b.radius > limit {
        return false;
    }
    let before = out.len();
    clip::manifold(a, b, &axis, limit, scratch, out);
    out[before..].iter_mut().for_each(|t| t.doubtful = axis.doubtful);
    out.len() > before
}
