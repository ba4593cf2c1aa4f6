//! Nearest points of points, segments, triangles and polygons.

use pliant_dense::Vec3;

/// Parameter in [0, 1] of the point of a segment nearest to `p`.
pub(crate) fn on_segment(p: Vec3, [a, b]: [Vec3; 2]) -> f64 {
    let d = b - a;
    let square = d.norm_squared();
    if square > 0.0 {
        ((p - a).dot(&d) / square).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Parameters of nearest points of two segments; of parallel ones, a pair in the middle of where
/// they face each other.
pub(crate) fn of_segments(p: [Vec3; 2], q: [Vec3; 2]) -> (f64, f64) {
    let (d, e, r) = (p[1] - p[0], q[1] - q[0], p[0] - q[0]);
    let (dd, ee, de) = (d.norm_squared(), e.norm_squared(), d.dot(&e));
    if dd == 0.0 || ee == 0.0 {
        let s = if dd == 0.0 { 0.0 } else { on_segment(q[0], p) };
        return (s, on_segment(p[0] + d * s, q));
    }
    let cross = d.cross(&e).norm_squared();
    let s = if cross > 1e-20 * dd * ee {
        ((de * e.dot(&r) - ee * d.dot(&r)) / cross).clamp(0.0, 1.0)
    } else {
        let (s0, s1) = ((q[0] - p[0]).dot(&d) / dd, (q[1] - p[0]).dot(&d) / dd);
        let (low, high) = (s0.min(s1).clamp(0.0, 1.0), s0.max(s1).clamp(0.0, 1.0));
        (low + high) / 2.0
    };
    let t = on_segment(p[0] + d * s, q);
    // The first may have moved past its end: nearest to what the second was cut to.
    let s = on_segment(q[0] + e * t, p);
    (s, on_segment(p[0] + d * s, q))
}

/// Weights of the corners at the point of a triangle nearest to `p` (Ericson, Real-Time Collision
/// Detection, 5.1.5).
pub(crate) fn on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    // Sides without length are left to the others.
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 - d3 > 0.0 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 - d6 > 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    let whole = (d4 - d3) + (d5 - d6);
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 && whole > 0.0 {
        let w = (d4 - d3) / whole;
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    if sum > 0.0 {
        let (v, w) = (vb / sum, vc / sum);
        [1.0 - v - w, v, w]
    } else {
        // No area: nearest on the longest side.
        let sides = [[0, 1], [1, 2], [2, 0]];
        let corners = [a, b, c];
        let length = |s: &[usize; 2]| (corners[s[0]] - corners[s[1]]).norm_squared();
        let side = sides.iter().fold(
            sides[0],
            |best, s| if length(s) > length(&best) { *s } else { best },
        );
        let t = on_segment(p, side.map(|i| corners[i]));
        let mut weights = [0.0; 3];
        weights[side[0]] = 1.0 - t;
        weights[side[1]] = t;
        weights
    }
}

/// Whether a point lies over a convex polygon, counter-clockwise about `normal`.
pub(crate) fn over_polygon(p: Vec3, polygon: &[u32], points: &[Vec3], normal: Vec3) -> bool {
    (0..polygon.len()).all(|k| {
        let (a, b) = (
            points[polygon[k] as usize],
            points[polygon[(k + 1) % polygon.len()] as usize],
        );
        normal.cross(&(b - a)).dot(&(p - a)) >= 0.0
    })
}

/// A unit vector across another, which follows from it alone.
pub(crate) fn perpendicular(d: Vec3) -> Vec3 {
    let least = d.abs().imin();
    let mut unit = Vec3::zeros();
    unit[least] = 1.0;
    let across = d.cross(&unit);
    let length = across.norm();
    if length > 0.0 { across / length } else { Vec3::z() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_triangles_agree_about_their_nearest_points() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let p = Vec3::new(0.3, -1.0, 0.5);
        let t = on_segment(p, [corners[0], corners[1]]);
        let w = on_triangle(p, corners);
        assert!((w[1] - t).abs() < 1e-15 && w[2] == 0.0);
    }

    /// Triangles that have collapsed into a segment or a point, in all orders of their corners.
    #[test]
    fn collapsed_triangles_have_a_nearest_point() {
        let (a, b) = (Vec3::zeros(), Vec3::x());
        for corners in [[a, a, b], [a, b, a], [b, a, a], [a, b, b], [a, a, a]] {
            for p in [
                Vec3::new(0.3, -1.0, 0.5),
                Vec3::new(-2.0, 0.0, 1.0),
                Vec3::new(3.0, 1.0, 0.0),
                a,
            ] {
                let w = on_triangle(p, corners);
                let place: Vec3 = (0..3).map(|k| corners[k] * w[k]).sum();
                let end = if corners.contains(&b) { b } else { a };
                let nearest = a + (end - a) * on_segment(p, [a, end]);
                let sum: f64 = w.iter().sum();
                assert!(
                    (sum - 1.0).abs() < 1e-15 && (place - nearest).norm() < 1e-15,
                    "{p:?} {w:?}"
                );
            }
        }
    }
}
