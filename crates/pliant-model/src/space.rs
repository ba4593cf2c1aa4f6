//! The spaces degrees of freedom live in, and the way across each manifold.

use pliant_dense::rotation::{self, Quaternion};
use pliant_dense::vec3;

/// The space of one element of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// This many real coordinates: a scalar (1), a point of the plane (2) or of space (3), joint
    /// coordinates, strains.
    Real(usize),
    /// A rigid body: position of its centre of mass (m) and unit quaternion `(w, x, y, z)`;
    /// velocity is that of the centre of mass in world axes [m/s], then the angular velocity in
    /// *body* axes [rad/s].
    Rigid3,
}

impl std::fmt::Display for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Real(1) => f.write_str("scalars"),
            Self::Real(2) => f.write_str("points of the plane"),
            Self::Real(3) => f.write_str("points of space"),
            Self::Real(n) => write!(f, "elements of {n} coordinates"),
            Self::Rigid3 => f.write_str("rigid bodies"),
        }
    }
}

impl Space {
    /// Numbers per position of one element.
    pub const fn position_size(self) -> usize {
        match self {
            Self::Real(n) => n,
            Self::Rigid3 => 7,
        }
    }

    /// Numbers per velocity (and per force) of one element.
    pub const fn velocity_size(self) -> usize {
        match self {
            Self::Real(n) => n,
            Self::Rigid3 => 6,
        }
    }

    /// The real space of this dimension; there is none of dimension zero.
    pub const fn real(dimension: usize) -> Option<Self> {
        if dimension == 0 {
            None
        } else {
            Some(Self::Real(dimension))
        }
    }

    /// Whether its positions are places in space or in the plane, so that gravity acts on masses
    /// there.
    pub const fn is_spatial(self) -> bool {
        matches!(self, Self::Real(2 | 3) | Self::Rigid3)
    }

    /// Moves positions along a displacement in velocity coordinates: `x (+) step`, for all elements
    /// of a node. For bodies `p += dp` and `q <- q exp(dr)` with `dr` in body axes, renormalised
    /// (theory/notation.md of the book).
    ///
    /// # Panics
    /// If the slices do not hold the same number of elements.
    pub fn retract(self, positions: &mut [f64], step: &[f64]) {
        if self != Self::Rigid3 {
            assert_eq!(positions.len(), step.len());
            for (x, d) in positions.iter_mut().zip(step) {
                *x += d;
            }
            return;
        }
        let (positions, _) = positions.as_chunks_mut::<7>();
        let (step, _) = step.as_chunks::<6>();
        assert_eq!(positions.len(), step.len());
        for (x, d) in positions.iter_mut().zip(step) {
            for k in 0..3 {
                x[k] += d[k];
            }
            let q = rotation::multiply(quaternion(x), rotation::exp(vec3(d, 3)));
            // The product of unit quaternions is a unit quaternion up to rounding.
            x[3..].copy_from_slice(&rotation::normalize(q).unwrap_or(q));
        }
    }

    /// The displacement that takes `from` to `to`: the inverse of [`retract`](Self::retract), for
    /// all elements.
    ///
    /// # Panics
    /// If the slices do not hold the same number of elements.
    pub fn local(self, from: &[f64], to: &[f64], step: &mut [f64]) {
        if self != Self::Rigid3 {
            for ((d, a), b) in step.iter_mut().zip(from).zip(to) {
                *d = b - a;
            }
            return;
        }
        let ((from, _), (to, _)) = (from.as_chunks::<7>(), to.as_chunks::<7>());
        let (step, _) = step.as_chunks_mut::<6>();
        assert_eq!(from.len(), to.len());
        for ((d, a), b) in step.iter_mut().zip(from).zip(to) {
            for k in 0..3 {
                d[k] = b[k] - a[k];
            }
            let r = rotation::log(rotation::multiply(
                rotation::conjugate(quaternion(a)),
                quaternion(b),
            ));
            d[3..].copy_from_slice(r.as_slice());
        }
    }

    /// The chord from one position to another, for all elements: of real coordinates `to - from`;
    /// of bodies the translation, and Cayley's vector `c = 2 tan(|r|/2) r/|r|` of the rotation
    /// vector `r` in body axes, with which points `x` and `x+` of the body are
    /// `c x (x + x+ - p - p+)/2` apart beside the translation. Not finite for half a turn.
    ///
    /// # Panics
    /// If the slices do not hold the same number of elements.
    pub fn chord(self, from: &[f64], to: &[f64], chord: &mut [f64]) {
        if self != Self::Rigid3 {
            self.local(from, to, chord);
            return;
        }
        let ((from, _), (to, _)) = (from.as_chunks::<7>(), to.as_chunks::<7>());
        let (chord, _) = chord.as_chunks_mut::<6>();
        assert_eq!(from.len(), to.len());
        for ((d, a), b) in chord.iter_mut().zip(from).zip(to) {
            let turn = rotation::multiply(rotation::conjugate(quaternion(a)), quaternion(b));
            for k in 0..3 {
                d[k] = b[k] - a[k];
                d[3 + k] = 2.0 * turn[k + 1] / turn[0];
            }
        }
    }
}

/// The quaternion of a body's seven numbers.
pub(crate) fn quaternion(x: &[f64; 7]) -> Quaternion {
    [x[3], x[4], x[5], x[6]]
}

/// Where a rigid body is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position of the centre of mass (m).
    pub position: [f64; 3],
    /// Unit quaternion `(w, x, y, z)`, body axes to world axes.
    pub rotation: Quaternion,
}

impl Default for Pose {
    fn default() -> Self {
        Self {
            position: [0.0; 3],
            rotation: rotation::IDENTITY,
        }
    }
}

impl Pose {
    /// A pose without rotation.
    pub fn at(position: [f64; 3]) -> Self {
        Self {
            position,
            ..Self::default()
        }
    }

    /// Turned by `angle` radians about `axis` (any length but zero), then moved to `position`.
    pub fn turned(position: [f64; 3], axis: [f64; 3], angle: f64) -> Self {
        let axis = pliant_dense::Vec3::from(axis);
        Self {
            position,
            rotation: rotation::exp(axis * (angle / axis.norm())),
        }
    }

    pub(crate) fn numbers(&self) -> [f64; 7] {
        let ([x, y, z], [a, b, c, d]) = (self.position, self.rotation);
        [x, y, z, a, b, c, d]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retract_and_local_are_inverse() {
        let pose = Pose::turned([1.0, 2.0, 3.0], [1.0, -2.0, 0.5], 2.0).numbers();
        let step = [0.1, -0.2, 0.3, 1.0, 0.5, -2.0];
        let mut moved = pose;
        Space::Rigid3.retract(&mut moved, &step);
        let mut back = [0.0; 6];
        Space::Rigid3.local(&pose, &moved, &mut back);
        for (a, b) in step.iter().zip(&back) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}
