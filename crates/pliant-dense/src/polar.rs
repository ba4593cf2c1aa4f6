//! The polar decomposition of a 3 x 3 matrix with a proper rotation.

use crate::eigen::symmetric_eigen;
use crate::rotation;
use crate::{Mat3, Vec3};
use nalgebra::Matrix4;

/// Least determinant, as a share of the cube of the norm, of gradients whose rotation Newton's
/// iteration finds: above it the iteration converges within a few steps.
pub const NEAR: f64 = 0.02;

/// Iterations after which a gradient is left to the quaternion.
pub const MOST_ITERATIONS: usize = 12;

/// Largest change of the last iteration: they converge quadratically, so that the next would change
/// no more than rounding does.
pub const LEAST_CHANGE: f64 = 1e-9;

/// Least sum of two principal stretches of which the rotation is known, about as a share of the
/// largest.
pub const LEAST_SUM: f64 = 1e-8;

/// `F = R U` with a rotation `R` (determinant 1) and a symmetric `U`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polar {
    /// The rotation nearest to `F`.
    pub r: Mat3,
    /// The stretch that is left; its smallest eigenvalue has the sign of the determinant of `F`.
    pub u: Mat3,
    /// The inverse of `tr(U) I - U`, whose eigenvalues are the sums of two principal stretches.
    pub turn: Mat3,
}

impl Polar {
    /// Decomposes `F`; none where two principal stretches add up to zero (relative to the largest),
    /// or a number is not finite.
    ///
    /// Newton's iteration `R <- (R + R^-T)/2` (Higham 1986) near a rotation, otherwise the
    /// quaternion `q` that maximises `tr(R(q)^T F)`, an eigenvector of a 4 x 4 matrix (Davenport
    /// 1968), which also knows inverted gradients.
    pub fn of(f: &Mat3) -> Option<Self> {
        let r = near_rotation(f).or_else(|| by_quaternion(f))?;
        let u = r.transpose() * f;
        let u = 0.5 * (u + u.transpose());
        let sums = Mat3::identity() * u.trace() - u;
        let turn = sums.try_inverse()?;
        let bound = LEAST_SUM * (sums.norm_squared() * turn.norm_squared()).sqrt();
        (bound < 1.0).then_some(Self { r, u, turn })
    }
}

fn near_rotation(f: &Mat3) -> Option<Mat3> {
    if f.determinant() <= NEAR * f.norm().powi(3) {
        return None;
    }
    let mut r = *f;
    for _ in 0..MOST_ITERATIONS {
        let next = 0.5 * (r + r.try_inverse()?.transpose());
        let change = (next - r).norm();
        r = next;
        if change < LEAST_CHANGE {
            return Some(r);
        }
    }
    None
}

/// The rotation by Davenport's quaternion.
pub fn by_quaternion(f: &Mat3) -> Option<Mat3> {
    let axis = Vec3::new(
        f[(2, 1)] - f[(1, 2)],
        f[(0, 2)] - f[(2, 0)],
        f[(1, 0)] - f[(0, 1)],
    );
    let mut k = Matrix4::zeros();
    k[(0, 0)] = f.trace();
    for i in 0..3 {
        k[(0, 1 + i)] = axis[i];
        k[(1 + i, 0)] = axis[i];
        for j in 0..3 {
            k[(1 + i, 1 + j)] = f[(i, j)] + f[(j, i)];
        }
        k[(1 + i, 1 + i)] -= f.trace();
    }
    let (mut d, mut v) = ([0.0; 16], [0.0; 16]);
    d.copy_from_slice(k.as_slice());
    if !symmetric_eigen(4, &mut d, &mut v) {
        return None;
    }
    let largest = (1..4).fold(0, |best, i| if d[5 * i] > d[5 * best] { i } else { best });
    let q = rotation::normalize([v[largest], v[4 + largest], v[8 + largest], v[12 + largest]])?;
    Some(rotation::matrix(q))
}
