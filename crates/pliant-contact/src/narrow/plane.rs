//! A half space and anything: the points that lie lowest, exactly.

use pliant_dense::Vec3;

use super::Touch;
use super::clip::{Corner, lowest};
use super::part::Part;

/// All `x` with `normal . x <= offset` (m), with a unit normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfSpace {
    pub(crate) normal: Vec3,
    pub(crate) offset: f64,
}

/// Adds the corners of a part that are nearer to a half space than `limit`. `flipped` if the half
/// space is the second of the pair.
pub(crate) fn collide(
    HalfSpace { normal, offset }: HalfSpace,
    part: &Part<'_>,
    flipped: bool,
    limit: f64,
    corners: &mut Vec<Corner>,
    out: &mut Vec<Touch>,
) {
    lowest(part, -normal, corners);
    for corner in corners.iter() {
        let gap = normal.dot(&corner.place) - offset - part.radius;
        if gap <= limit {
            let on_part = corner.place - normal * part.radius;
            let on_plane = on_part - normal * gap;
            let (a, b, n) = if flipped {
                (on_part, on_plane, -normal)
            } else {
                (on_plane, on_part, normal)
            };
            out.push(Touch {
                a,
                b,
                normal: n,
                gap,
                feature: corner.id,
                doubtful: false,
            });
        }
    }
}
