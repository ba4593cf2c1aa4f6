//! Rotations as unit quaternions `(w, x, y, z)` and their tangent maps.
//!
//! `exp` takes a rotation vector (axis times angle, radians) to a quaternion, `log` goes back to the vector of angle at
//! most pi. The Jacobians are the *right* ones (body axes): `exp(r + d) ~= exp(r) exp(J_r(r) d)`; the left ones are
//! their transposes. Source: docs/notation.md; closed forms re-derived, series below an angle of 1e-2 so that every
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
    // sin(x/2)/x: three terms of the series leave a relative error of x^6/322560 < 4e-18 below 1e-2.
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

/// `R a`.
#[inline]
pub fn rotate(q: Quaternion, a: Vec3) -> Vec3 {
    matrix(q) * a
}

/// The coefficient `c(x) = (1 - (x/2) cot(x/2)) / x^2` of the inverse Jacobian and its derivative over `x`, `c'(x)/x`,
/// at angle `x` in `[0, 2 pi)`.
fn inverse_coefficients(angle: f64) -> (f64, f64) {
    if angle < 0.1 {
        // Bernoulli series of the cotangent: c = 1/12 + x^2/720 + x^4/30240 + x^6/1209600 + x^8/47900160 + ...
        let s = angle * angle;
        let c =
            1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1_209_600.0 + s / 47_900_160.0)));
        let d = 1.0 / 360.0
            + s * (1.0 / 7560.0
                + s * (1.0 / 201_600.0 + s * (1.0 / 5_987_520.0 + s * 691.0 / 130_767_436_800.0)));
        (c, d)
    } else {
        let half = 0.5 * angle;
        let (sin, cos) = half.sin_cos();
        let cot = cos / sin;
        let square = angle * angle;
        let c = (1.0 - half * cot) / square;
        // d/dx [-(x/2) cot(x/2)] = -cot/2 + x/(4 sin^2)
        let derivative = (-0.5 * cot + 0.25 * angle / (sin * sin)) / square - 2.0 * c / angle;
        (c, derivative / angle)
    }
}

/// The inverse right Jacobian `J_r^-1(r) = I + [r]/2 + c [r]^2`, so that `d(log q) = J_r^-1 w dt` for body angular
/// velocity `w`. Singular only at a full turn; its transpose is the inverse left Jacobian.
pub fn inverse_right_jacobian(r: Vec3) -> Mat3 {
    let (c, _) = inverse_coefficients(r.norm());
    let s = skew(r);
    Mat3::identity() + 0.5 * s + c * (s * s)
}

/// The derivative of `J_r^-T(r) a` with respect to `r`, for a fixed column `a`.
pub fn inverse_right_jacobian_transpose_derivative(r: Vec3, a: Vec3) -> Mat3 {
    // J_r^-T a = a - r x a / 2 + c r x (r x a)
    0.5 * skew(a) + double_cross_derivative(r, a)
}

/// The derivative of `J_l^-T(r) a = J_r^-1(r) a` with respect to `r`, for a fixed column `a`.
pub fn inverse_right_jacobian_derivative(r: Vec3, a: Vec3) -> Mat3 {
    -0.5 * skew(a) + double_cross_derivative(r, a)
}

/// The derivative of `c(|r|) r x (r x a)` with respect to `r`.
fn double_cross_derivative(r: Vec3, a: Vec3) -> Mat3 {
    let (c, d) = inverse_coefficients(r.norm());
    let twice = r.cross(&r.cross(&a));
    c * (Mat3::identity() * r.dot(&a) + r * a.transpose() - 2.0 * a * r.transpose())
        + d * twice * r.transpose()
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
            // 1e-13: near a half turn the logarithm's condition number is about one; a few roundings of size pi.
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

    #[test]
    fn series_meet_the_closed_forms() {
        // Relative jump of c and c'/x where the series hands over (angle 0.1); c' loses digits there by cancellation.
        let (a, b) = inverse_coefficients(0.1 - 1e-12);
        let (c, d) = inverse_coefficients(0.1 + 1e-12);
        assert!((a - c).abs() < 1e-12 && (b - d).abs() < 1e-9, "{a} {c} {b} {d}");
        assert!((exp(Vec3::new(0.01 - 1e-15, 0.0, 0.0))[1] - (0.005f64).sin()).abs() < 1e-15);
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
