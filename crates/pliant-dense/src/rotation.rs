//! Rotations as unit quaternions `(w, x, y, z)` and their tangent maps.
//!
//! `exp` takes a rotation vector (axis times angle, radians) to a quaternion, `log` goes back to
//! the vector of angle at most pi. The Jacobians are the *right* ones (body axes):
//! `exp(r + d) ~= exp(r) exp(J_r(r) d)`; the left ones are their transposes. Source:
//! theory/kinematics.md of the book; closed forms re-derived, series below an angle of 1e-2 so that every
//! coefficient keeps full precision.

use crate::{Mat3, Vec3, skew};

/// A quaternion `(w, x, y, z)`.
pub type Quaternion = [f64; 4];

/// The rotation that does nothing.
pub const IDENTITY: Quaternion = [1.0, 0.0, 0.0, 0.0];

/// The product `a b` (apply `b` first).
#[inline]
pub fn multiply(a: Quaternion, b: Quaternion) -> Quaternion {
    let [w, x, y, z] = a;
    let [s, t, u, v] = b;
    [
        w * s - x * t - y * u - z * v,
        w * t + x * s + y * v - z * u,
        w * u + y * s + z * t - x * v,
        w * v + z * s + x * u - y * t,
    ]
}

/// The inverse of a unit quaternion.
#[inline]
pub fn conjugate(q: Quaternion) -> Quaternion {
    [q[0], -q[1], -q[2], -q[3]]
}

/// `q` scaled to unit length, or `None` if its length is zero or not finite.
#[inline]
pub fn normalize(q: Quaternion) -> Option<Quaternion> {
    let norm = q.iter().map(|a| a * a).sum::<f64>().sqrt();
    (norm.is_finite() && norm > 1e-300).then(|| q.map(|a| a / norm))
}

/// The rotation of angle `|r|` about `r`.
#[inline]
pub fn exp(r: Vec3) -> Quaternion {
    let angle = r.norm();
    let half = 0.5 * angle;
    // sin(x/2)/x: three terms of the series leave a relative error of x^6/322560 < 4e-18 below
    // 1e-2.
    let scale = if angle < 1e-2 {
        let s = angle * angle;
        0.5 - s / 48.0 + s * s / 3840.0
    } else {
        half.sin() / angle
    };
    [half.cos(), scale * r.x, scale * r.y, scale * r.z]
}

/// The rotation vector of angle at most pi of a unit quaternion.
#[inline]
pub fn log(q: Quaternion) -> Vec3 {
    // q and -q are the same rotation; take the half with w >= 0, so the angle is at most pi.
    let sign = if q[0] < 0.0 { -1.0 } else { 1.0 };
    let w = sign * q[0];
    let v = Vec3::new(sign * q[1], sign * q[2], sign * q[3]);
    let sine = v.norm();
    let scale = if sine < 1e-3 {
        // 2 asin(s)/s for a unit quaternion.
        let s = sine * sine;
        2.0 + s / 3.0 + 3.0 * s * s / 20.0
    } else {
        2.0 * sine.atan2(w) / sine
    };
    scale * v
}

/// The matrix `R` of a unit quaternion, taking body axes to world axes.
#[inline]
pub fn matrix(q: Quaternion) -> Mat3 {
    let [w, x, y, z] = q;
    Mat3::new(
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
}

/// The unit quaternion of a rotation matrix, by its largest component (Shepperd 1978).
pub fn quaternion(r: &Mat3) -> Quaternion {
    let d = [r[(0, 0)], r[(1, 1)], r[(2, 2)]];
    let squares = [
        1.0 + d[0] + d[1] + d[2],
        1.0 + d[0] - d[1] - d[2],
        1.0 - d[0] + d[1] - d[2],
        1.0 - d[0] - d[1] + d[2],
    ];
    let sum = |i: usize, j: usize| r[(i, j)] + r[(j, i)];
    let difference = |i: usize, j: usize| r[(i, j)] - r[(j, i)];
    let (mut best, mut at) = (squares[0], 0);
    for (k, s) in squares.iter().enumerate() {
        if *s > best {
            (best, at) = (*s, k);
        }
    }
    let q = match at {
        0 => [best, difference(2, 1), difference(0, 2), difference(1, 0)],
        1 => [difference(2, 1), best, sum(0, 1), sum(0, 2)],
        2 => [difference(0, 2), sum(0, 1), best, sum(1, 2)],
        _ => [difference(1, 0), sum(0, 2), sum(1, 2), best],
    };
    normalize(q).unwrap_or(IDENTITY)
}

/// `R a`.
#[inline]
pub fn rotate(q: Quaternion, a: Vec3) -> Vec3 {
    matrix(q) * a
}

/// A coefficient `k(x)` of the angle `x = |r|` with `k'/x` and `(k'/x)'/x`: what the first two
/// derivatives over `r` are made of.
type Coefficient = [f64; 3];

/// The sum of `a_n x^2n` with its derivatives.
fn even_series(coefficients: &[f64], angle: f64) -> Coefficient {
    let s = angle * angle;
    let mut out = [0.0; 3];
    for (n, a) in coefficients.iter().enumerate().rev() {
        let n = n as f64;
        out[0] = out[0] * s + a;
        if n >= 1.0 {
            out[1] = out[1] * s + 2.0 * n * a;
        }
        if n >= 2.0 {
            out[2] = out[2] * s + 2.0 * n * (2.0 * n - 2.0) * a;
        }
    }
    out
}

/// The coefficient `c(x) = (1 - (x/2) cot(x/2)) / x^2` of the inverse Jacobian, at angle `x` in
/// `[0, 2 pi)`.
fn inverse_coefficients(angle: f64) -> Coefficient {
    /// `|B_2n|/(2n)!` of the Bernoulli series of the cotangent: below an angle of 1 the rest is
    /// less than `(1/2 pi)^22 < 3e-18`.
    const SERIES: [f64; 11] = [
        1.0 / 12.0,
        1.0 / 720.0,
        1.0 / 30240.0,
        1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        5.284_190_138_687_493e-10,
        1.338_253_653_068_468e-11,
        3.389_680_296_322_583e-13,
        8.586_062_056_277_845e-15,
        2.174_868_698_558_062e-16,
        5.509_002_828_360_23e-18,
    ];
    if angle < 1.0 {
        return even_series(&SERIES, angle);
    }
    let half = 0.5 * angle;
    let (sin, cos) = half.sin_cos();
    let square = angle * angle;
    // m = (x/2) cot(x/2), m'/x and m''.
    let m = half * cos / sin;
    let m1 = (0.5 * cos / sin) / angle - 0.25 / (sin * sin);
    let m2 = (half * cos / sin - 1.0) * 0.5 / (sin * sin);
    let c = (1.0 - m) / square;
    let d = (-m1 - 2.0 * c) / square;
    let e = ((m1 - m2) / square - 4.0 * d) / square;
    [c, d, e]
}

/// `sin(x)/x` and `(1 - cos(x))/x^2`, the coefficients of Rodrigues' formula.
fn turn_coefficients(angle: f64) -> [Coefficient; 2] {
    /// `(-1)^n/(2n+1)!` and `(-1)^n/(2n+2)!`: below an angle of 1/2 the rest is less than
    /// `(1/2)^14/15! < 1e-16`.
    const SINE: [f64; 8] = [
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
    ];
    const COSINE: [f64; 8] = [
        0.5,
        -1.0 / 24.0,
        1.0 / 720.0,
        -1.0 / 40320.0,
        1.0 / 3_628_800.0,
        -1.0 / 479_001_600.0,
        1.0 / 87_178_291_200.0,
        -1.0 / 20_922_789_888_000.0,
    ];
    if angle < 0.5 {
        return [even_series(&SINE, angle), even_series(&COSINE, angle)];
    }
    let square = angle * angle;
    let s = angle.sin() / angle;
    let s1 = (angle.cos() - s) / square;
    let s2 = (-s - 3.0 * s1) / square;
    let half = (0.5 * angle).sin();
    let c = 2.0 * half * half / square;
    let c1 = (s - 2.0 * c) / square;
    let c2 = (s1 - 4.0 * c1) / square;
    [[s, s1, s2], [c, c1, c2]]
}

/// The Hessian over `r` of `k(|r|) p(r)`, from the value, gradient and Hessian of `p`.
fn product_hessian(k: Coefficient, r: Vec3, p: f64, gradient: Vec3, hessian: Mat3) -> Mat3 {
    let mixed = r * gradient.transpose();
    k[0] * hessian
        + k[1] * (mixed + mixed.transpose())
        + p * (k[1] * Mat3::identity() + k[2] * r * r.transpose())
}

/// The Hessian over `r` of `k(|r|) a . (r x (r x b))`.
fn double_cross_hessian(k: Coefficient, r: Vec3, a: Vec3, b: Vec3) -> Mat3 {
    let (ar, br, ab) = (a.dot(&r), b.dot(&r), a.dot(&b));
    let outer = a * b.transpose();
    product_hessian(
        k,
        r,
        ar * br - r.norm_squared() * ab,
        a * br + b * ar - 2.0 * ab * r,
        outer + outer.transpose() - 2.0 * ab * Mat3::identity(),
    )
}

/// The derivative of `R(r) a = exp(r) a` with respect to `r`, for a fixed `a`.
pub fn turned_derivative(r: Vec3, a: Vec3) -> Mat3 {
    let [s, c] = turn_coefficients(r.norm());
    let cross = r.cross(&a);
    -s[0] * skew(a) + s[1] * cross * r.transpose() + double_cross_derivative(c, r, a)
}

/// The Hessian over `r` of `b . R(r) a`, for fixed `a` and `b`.
pub fn turned_hessian(r: Vec3, a: Vec3, b: Vec3) -> Mat3 {
    let [s, c] = turn_coefficients(r.norm());
    let normal = a.cross(&b);
    product_hessian(s, r, r.dot(&normal), normal, Mat3::zeros()) + double_cross_hessian(c, r, a, b)
}

/// The Hessian over `r` of `b . J_l^-1(r) a = a . J_r^-1(r) b`, for fixed `a` and `b`.
pub fn inverse_left_jacobian_hessian(r: Vec3, a: Vec3, b: Vec3) -> Mat3 {
    double_cross_hessian(inverse_coefficients(r.norm()), r, a, b)
}

/// The other rotation vector of the same rotation, `r - 2 pi r/|r|`; none for `r = 0`.
pub fn other_way(r: Vec3) -> Option<Vec3> {
    let angle = r.norm();
    (angle > 0.0).then(|| r * (1.0 - 2.0 * std::f64::consts::PI / angle))
}

/// The inverse right Jacobian `J_r^-1(r) = I + [r]/2 + c [r]^2`, so that `d(log q) = J_r^-1 w dt`
/// for body angular velocity `w`. Singular only at a full turn; its transpose is the inverse left
/// Jacobian.
pub fn inverse_right_jacobian(r: Vec3) -> Mat3 {
    let [c, ..] = inverse_coefficients(r.norm());
    let s = skew(r);
    Mat3::identity() + 0.5 * s + c * (s * s)
}

/// The derivative of `J_r^-T(r) a` with respect to `r`, for a fixed column `a`.
pub fn inverse_right_jacobian_transpose_derivative(r: Vec3, a: Vec3) -> Mat3 {
    // J_r^-T a = a - r x a / 2 + c r x (r x a)
    0.5 * skew(a) + double_cross_derivative(inverse_coefficients(r.norm()), r, a)
}

/// The derivative of `J_l^-T(r) a = J_r^-1(r) a` with respect to `r`, for a fixed column `a`.
pub fn inverse_right_jacobian_derivative(r: Vec3, a: Vec3) -> Mat3 {
    -0.5 * skew(a) + double_cross_derivative(inverse_coefficients(r.norm()), r, a)
}

/// The derivative of `k(|r|) r x (r x a)` with respect to `r`.
fn double_cross_derivative(k: Coefficient, r: Vec3, a: Vec3) -> Mat3 {
    let twice = r.cross(&r.cross(&a));
    k[0] * (Mat3::identity() * r.dot(&a) + r * a.transpose() - 2.0 * a * r.transpose())
        + k[1] * twice * r.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(max: f64) -> impl Strategy<Value = Vec3> {
        (prop::array::uniform3(-1.0..1.0f64), 0.0..max).prop_filter_map("zero", |(d, angle)| {
            let d = Vec3::from(d);
            (d.norm() > 1e-3).then(|| d.normalize() * angle)
        })
    }

    proptest! {
        #[test]
        fn exp_and_log_are_inverse_up_to_half_a_turn(r in vector(3.12)) {
            // 1e-13: near a half turn the logarithm's condition number is about one; a few
            // roundings of size pi.
            prop_assert!((log(exp(r)) - r).norm() < 1e-13);
        }

        #[test]
        fn matrices_agree_with_nalgebra(r in vector(10.0), s in vector(10.0)) {
            let oracle = nalgebra::Rotation3::new(r) * nalgebra::Rotation3::new(s);
            prop_assert!((matrix(multiply(exp(r), exp(s))) - oracle.matrix()).norm() < 1e-14);
        }

        #[test]
        fn inverse_jacobian_is_the_derivative_of_the_logarithm(r in vector(3.0), w in vector(1.0)) {
            let h = 1e-5;
            let at = |t: f64| log(multiply(exp(r), exp(w * t)));
            let difference = (at(h) - at(-h)) / (2.0 * h);
            // Central difference: h^2 times the third derivative, plus roundoff 1e-16/h.
            prop_assert!((inverse_right_jacobian(r) * w - difference).norm() < 1e-8);
        }

        #[test]
        fn derivatives_of_the_inverse_jacobian(r in vector(3.0), a in vector(2.0), d in vector(1.0)) {
            let h = 1e-5;
            let right = |t: f64| inverse_right_jacobian(r + t * d).transpose() * a;
            let left = |t: f64| inverse_right_jacobian(r + t * d) * a;
            let fd = (right(h) - right(-h)) / (2.0 * h);
            prop_assert!((inverse_right_jacobian_transpose_derivative(r, a) * d - fd).norm() < 1e-8);
            let fd = (left(h) - left(-h)) / (2.0 * h);
            prop_assert!((inverse_right_jacobian_derivative(r, a) * d - fd).norm() < 1e-8);
        }
    }

    proptest! {
        #[test]
        fn hessians_of_the_turn_and_of_the_inverse_jacobian(r in vector(6.0), a in vector(2.0), b in vector(2.0), d in vector(1.0)) {
            let h = 1e-5;
            let turned = |t: f64| turned_derivative(r + t * d, a).transpose() * b;
            let fd = (turned(h) - turned(-h)) / (2.0 * h);
            prop_assert!((turned_hessian(r, a, b) * d - fd).norm() < 1e-8);
            let value = |t: f64| rotate(exp(r + t * d), a);
            let fd = (value(h) - value(-h)) / (2.0 * h);
            prop_assert!((turned_derivative(r, a) * d - fd).norm() < 1e-8);
            let inverse = |t: f64| inverse_right_jacobian_transpose_derivative(r + t * d, a).transpose() * b;
            let fd = (inverse(h) - inverse(-h)) / (2.0 * h);
            // The coefficients grow like one over the distance from a full turn.
            prop_assert!((inverse_left_jacobian_hessian(r, a, b) * d - fd).norm() < 1e-6 * (1.0 + fd.norm()));
        }
    }

    #[test]
    fn series_meet_the_closed_forms() {
        // Jumps where the series hand over, relative to the size there; the closed forms lose
        // digits by cancellation.
        let jump =
            |a: Coefficient, b: Coefficient| (0..3).map(|k| (a[k] / b[k] - 1.0).abs()).fold(0.0, f64::max);
        let found = jump(inverse_coefficients(1.0 - 1e-15), inverse_coefficients(1.0));
        assert!(found < 1e-10, "{found:e}");
        let (below, above) = (turn_coefficients(0.5 - 1e-16), turn_coefficients(0.5));
        let found = jump(below[0], above[0]).max(jump(below[1], above[1]));
        assert!(found < 1e-10, "{found:e}");
        assert!((exp(Vec3::new(0.01 - 1e-15, 0.0, 0.0))[1] - (0.005f64).sin()).abs() < 1e-15);
    }

    #[test]
    fn the_other_way_round_is_the_same_rotation() {
        let r = Vec3::new(1.0, -2.0, 0.5);
        let other = other_way(r).unwrap_or(r);
        assert!((matrix(exp(r)) - matrix(exp(other))).norm() < 1e-14 && r.dot(&other) < 0.0);
        assert_eq!(other_way(Vec3::zeros()), None);
    }

    #[test]
    fn half_turns_and_zero() {
        let pi = std::f64::consts::PI;
        for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
            let r = log(exp(axis * pi));
            assert!((r.norm() - pi).abs() < 1e-15 && r.cross(&axis).norm() < 1e-15);
        }
        assert_eq!(log(IDENTITY), Vec3::zeros());
        assert_eq!(normalize([0.0; 4]), None);
        assert_eq!(normalize([f64::NAN, 0.0, 0.0, 1.0]), None);
    }
}
