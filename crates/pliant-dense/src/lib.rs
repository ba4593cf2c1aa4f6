//! Small fixed blocks, rotations and dense factorisations for compliant mechanics.
//!
//! Holds the arithmetic of one 3 x 3 block, one rotation, one small symmetric matrix. It knows no
//! sparsity (see `pliant-sparse`) and no mechanics (see `pliant-model`).
//!
//! ```
//! use pliant_dense::{Vec3, rotation};
//! // A quarter turn about z takes x to y.
//! let q = rotation::exp(Vec3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
//! let y = rotation::rotate(q, Vec3::x());
//! assert!((y - Vec3::y()).norm() < 1e-15);
//! ```

pub mod dense_ldlt;
pub mod eigen;
pub mod in_place;
pub mod polar;
pub mod rotation;
pub mod semidefinite;

/// A column of three numbers.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3 x 3 block.
pub type Mat3 = nalgebra::Matrix3<f64>;

/// The cross-product matrix `[a]`, so that `skew(a) * b = a x b`.
#[inline]
pub fn skew(a: Vec3) -> Mat3 {
    Mat3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Three consecutive numbers of a slice, from `offset`.
///
/// # Panics
/// If the slice is shorter than `offset + 3`.
#[inline]
pub fn vec3(slice: &[f64], offset: usize) -> Vec3 {
    Vec3::new(slice[offset], slice[offset + 1], slice[offset + 2])
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
