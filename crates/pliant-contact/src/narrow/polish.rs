//! The last digits of a normal beside a rim, where the iterative algorithm stops early.

use pliant_dense::{Mat3, Vec3};

use super::closest::perpendicular;
use super::part::Part;

/// Most steps; it converges quadratically.
const MOST_STEPS: usize = 20;
/// Most shorter tries of a step.
const MOST_HALVINGS: i32 = 6;
/// Cosine to the axis of a cylinder below which a normal may belong to its side.
const NEAR_A_SIDE: f64 = 0.05;

/// Newton's method for the greatest separation `s(n) = n . (p_b - p_a)` of two parts, from a normal
/// near the best.
///
/// With the farthest points `p_a(n)`, `p_b(-n)` the gradient of `s` is `p_b - p_a`, and its Hessian
/// along the sphere is `-(K + s I)` with the Hessians `K` of the support functions: of a rim of
/// radius `r`, `r / |n_across|` about the axis; of a corner, zero. If `n` is across an edge or the
/// side of a cylinder, it stays across; near the side of a cylinder, where the start may be on the
/// wrong side of that ridge, both are tried.
pub(super) fn polish(a: &Part<'_>, b: &Part<'_>, start: Vec3) -> Vec3 {
    let measure = |n: Vec3| -b.reach(-n) - a.reach(n);
    let mut best = newton(a, b, start, None);
    for cylinder in [&a.cylinder, &b.cylinder].into_iter().flatten() {
        if start.dot(&cylinder.axis).abs() < NEAR_A_SIDE {
            let n = newton(a, b, start, Some(cylinder.axis));
            if measure(n) > measure(best) {
                best = newton(a, b, n, None);
            }
        }
    }
    best
}

/// Newton's method from a start, across a direction if one is given. A step that does not increase
/// `s` is halved a few times, then it ends.
fn newton(a: &Part<'_>, b: &Part<'_>, start: Vec3, across: Option<Vec3>) -> Vec3 {
    let measure = |n: Vec3| -b.reach(-n) - a.reach(n);
    let onto = |n: Vec3, d: Vec3| (n - d * n.dot(&d)).try_normalize(0.0);
    let mut n = across.and_then(|d| onto(start, d)).unwrap_or(start);
    let mut separation = measure(n);
    for _ in 0..MOST_STEPS {
        let (of_a, of_b) = (ridge(a, n), ridge(b, -n));
        if of_a.is_some() && of_b.is_some() {
            break;
        }
        let ridge = across.or(of_a).or(of_b);
        let level = ridge.and_then(|d| onto(n, d)).unwrap_or(n);
        let apart = b.support(-level) - a.support(level);
        let bend = bend(a, level) + bend(b, -level) + Mat3::identity() * level.dot(&apart);
        let first = ridge.map_or_else(|| perpendicular(level), |d| level.cross(&d).normalize());
        let second = level.cross(&first);
        let (g, h) = (first.dot(&apart), first.dot(&(bend * first)));
        let (k, l, m) = (
            second.dot(&apart),
            second.dot(&(bend * second)),
            first.dot(&(bend * second)),
        );
        let (step, determinant) = if ridge.is_some() {
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
        let tried = (0..MOST_HALVINGS).map(|k| (level + step * 0.5f64.powi(k)).normalize());
        let Some(next) = tried.into_iter().find(|next| measure(*next) > separation) else {
            break;
        };
        (n, separation) = (next, measure(next));
    }
    n
}

/// The direction of the edge, or of the side of a cylinder, that lies farthest along a normal, if
/// its ends do so equally.
fn ridge(part: &Part<'_>, n: Vec3) -> Option<Vec3> {
    if let Some(cylinder) = &part.cylinder {
        return (n.dot(&cylinder.axis).abs() < 1e-5).then_some(cylinder.axis);
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
    let Some(cylinder) = &part.cylinder else {
        return Mat3::zeros();
    };
    let across = n - cylinder.axis * n.dot(&cylinder.axis);
    let length = across.norm();
    if length < 1e-9 {
        return Mat3::zeros();
    }
    let side = cylinder.axis.cross(&across) / length;
    side * side.transpose() * (cylinder.radius / length)
}
