//! The last digits of a normal beside a rim, where the iterative algorithm stops early.

use pliant_dense::{Mat3, Vec3};

use super::closest::perpendicular;
use super::part::Part;

/// Most steps; it converges quadratically.
const MOST_STEPS: usize = 20;

/// Newton's method for the greatest separation `s(n) = n . (p_b - p_a)` of two parts, from a normal near the best.
///
/// With the farthest points `p_a(n)`, `p_b(-n)` the gradient of `s` is `p_b - p_a`, and its Hessian along the sphere is `-(K + s I)` with the
/// Hessians `K` of the support functions: of a rim of radius `r`, `r / |n_across|` about the axis; of a corner, zero. If `n` is across an edge or
/// the side of a cylinder, it stays across. A step that does not increase `s` ends it.
pub(super) fn polish(a: &Part<'_>, b: &Part<'_>, start: Vec3) -> Vec3 {
    let measure = |n: Vec3| -b.reach(-n) - a.reach(n);
    let (mut n, mut separation) = (start, measure(start));
    for _ in 0..MOST_STEPS {
        let (ridge, other) = (ridge(a, n), ridge(b, -n));
        if ridge.is_some() && other.is_some() {
            break;
        }
        let level = ridge.or(other).map_or(n, |d| (n - d * n.dot(&d)).normalize());
        let apart = b.support(-level) - a.support(level);
        let bend = bend(a, level) + bend(b, -level) + Mat3::identity() * level.dot(&apart);
        let first = ridge
            .or(other)
            .map_or_else(|| perpendicular(level), |d| level.cross(&d).normalize());
        let second = level.cross(&first);
        let (g, h) = (first.dot(&apart), first.dot(&(bend * first)));
        let (k, l, m) = (
            second.dot(&apart),
            second.dot(&(bend * second)),
            first.dot(&(bend * second)),
        );
        let (step, determinant) = if ridge.or(other).is_some() {
            (first * (g / h), h)
        } else {
            let determinant = h * l - m * m;
            (
                first * ((g * l - k * m) / determinant) + second * ((k * h - g * m) / determinant),
                determinant,
            )
        };
        if h <= 0.0 || determinant <= 0.0 {
            break; // deep in each other, where the plane of the two normals is a saddle
        }
        let next = (level + step).normalize();
        let value = measure(next);
        if value.is_nan() || value <= separation {
            break;
        }
        (n, separation) = (next, value);
    }
    n
}

/// The direction of the edge, or of the side of a cylinder, that lies farthest along a normal, if its ends do so equally.
fn ridge(part: &Part<'_>, n: Vec3) -> Option<Vec3> {
    if let Some(drum) = &part.drum {
        return (n.dot(&drum.axis).abs() < 1e-5).then_some(drum.axis);
    }
    let top = part.farthest(n);
    let height = part.points[top].dot(&n) - 1e-5 * part.extent();
    let mut others = (0..part.points.len()).filter(|&k| k != top && part.points[k].dot(&n) > height);
    match (others.next(), others.next()) {
        (Some(k), None) => (part.points[k] - part.points[top]).try_normalize(0.0),
        _ => None,
    }
}

/// The Hessian of the support function.
fn bend(part: &Part<'_>, n: Vec3) -> Mat3 {
    let Some(drum) = &part.drum else {
        return Mat3::zeros();
    };
    let across = n - drum.axis * n.dot(&drum.axis);
    let length = across.norm();
    if length < 1e-9 {
        return Mat3::zeros();
    }
    let side = drum.axis.cross(&across) / length;
    side * side.transpose() * (drum.radius / length)
}
