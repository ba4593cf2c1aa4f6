//! Frames, rotations and inertias of robot descriptions.

use pliant_dense::rotation::{Quaternion, conjugate, exp, matrix, multiply, normalize, rotate};
use pliant_dense::{Mat3, Vec3};

/// A position and a rotation of one frame against another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) position: Vec3,
    pub(crate) rotation: Quaternion,
}

impl Frame {
    pub(crate) const IDENTITY: Self = Self {
        position: Vec3::new(0.0, 0.0, 0.0),
        rotation: [1.0, 0.0, 0.0, 0.0],
    };

    pub(crate) fn at(position: Vec3) -> Self {
        Self {
            position,
            ..Self::IDENTITY
        }
    }

    pub(crate) fn turned(rotation: Quaternion) -> Self {
        Self {
            rotation,
            ..Self::IDENTITY
        }
    }

    /// The frame `inner`, which is given in this one, in the frame that this one is given in.
    pub(crate) fn then(&self, inner: &Self) -> Self {
        let rotation = multiply(self.rotation, inner.rotation);
        Self {
            position: self.point(inner.position),
            rotation: normalize(rotation).unwrap_or(rotation),
        }
    }

    pub(crate) fn inverse(&self) -> Self {
        let rotation = conjugate(self.rotation);
        Self {
            position: -rotate(rotation, self.position),
            rotation,
        }
    }

    pub(crate) fn point(&self, point: Vec3) -> Vec3 {
        self.position + rotate(self.rotation, point)
    }

    pub(crate) fn vector(&self, vector: Vec3) -> Vec3 {
        rotate(self.rotation, vector)
    }

    /// Whether it is not turned.
    pub(crate) fn is_upright(&self) -> bool {
        self.rotation[1..] == [0.0; 3]
    }
}

/// The rotation by an angle (rad) about a unit vector.
pub(crate) fn turn(axis: Vec3, angle: f64) -> Quaternion {
    exp(axis * angle)
}

/// The rotation of roll, pitch and yaw (rad): about the fixed axes x, then y, then z.
pub(crate) fn roll_pitch_yaw([r, p, y]: [f64; 3]) -> Quaternion {
    let rolled = multiply(turn(Vec3::y(), p), turn(Vec3::x(), r));
    multiply(turn(Vec3::z(), y), rolled)
}

/// The shortest rotation that takes z to a unit vector, exact along the axes.
pub(crate) fn from_z(axis: Vec3) -> Quaternion {
    let across = Vec3::z().cross(&axis);
    let q = [1.0 + axis.z, across.x, across.y, across.z];
    if q[0] < 1e-12 {
        return [0.0, 1.0, 0.0, 0.0];
    }
    normalize(q).unwrap_or(Frame::IDENTITY.rotation)
}

/// The rotation of a frame whose axes these perpendicular unit vectors are.
pub(crate) fn from_axes(x: Vec3, y: Vec3, z: Vec3) -> Quaternion {
    // The largest of the four squares is at least 1/4.
    let squares = [
        1.0 + x.x + y.y + z.z,
        1.0 + x.x - y.y - z.z,
        1.0 - x.x + y.y - z.z,
        1.0 - x.x - y.y + z.z,
    ];
    let largest = (0..4).fold(0, |best, i| if squares[i] > squares[best] { i } else { best });
    let s = squares[largest];
    let q = match largest {
        0 => [s, y.z - z.y, z.x - x.z, x.y - y.x],
        1 => [y.z - z.y, s, x.y + y.x, z.x + x.z],
        2 => [z.x - x.z, x.y + y.x, s, y.z + z.y],
        _ => [x.y - y.x, z.x + x.z, y.z + z.y, s],
    };
    normalize(q).unwrap_or(Frame::IDENTITY.rotation)
}

/// Mass, centre of mass and tensor of inertia about it (kg m^2), in the axes of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inertia {
    pub(crate) mass: f64,
    pub(crate) centre: Vec3,
    pub(crate) tensor: Mat3,
}

impl Inertia {
    /// The inertia of what is given in `frame`, in the axes around it.
    pub(crate) fn seen_from(&self, frame: &Frame) -> Self {
        let tensor = if frame.is_upright() {
            self.tensor
        } else {
            let turned = matrix(frame.rotation);
            symmetric(turned * self.tensor * turned.transpose())
        };
        Self {
            mass: self.mass,
            centre: frame.point(self.centre),
            tensor,
        }
    }

    /// The inertia of both together.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return Self {
                tensor: self.tensor + other.tensor,
                ..*self
            };
        }
        let centre = (self.centre * self.mass + other.centre * other.mass) / mass;
        let about = |part: &Self| part.tensor + of_point(part.mass, part.centre - centre);
        Self {
            mass,
            centre,
            tensor: about(self) + about(other),
        }
    }

    /// A mass point of at most a share of the mass at a point, and what is left without it. The
    /// point is so small that a body is left; `None` if nothing can be taken.
    pub(crate) fn without_point(&self, share: f64, point: Vec3) -> Option<(f64, Self)> {
        let moments = self.tensor.symmetric_eigenvalues();
        // How much each may lose for itself, and beside the sum of both others.
        let spare = moments.min().min(moments.sum() - 2.0 * moments.max());
        let square = (point - self.centre).norm_squared();
        let mass = match square {
            0.0 => share * self.mass,
            _ => (share * self.mass).min(0.25 * spare / square),
        };
        if mass <= 0.0 {
            return None;
        }
        let left = self.mass - mass;
        let centre = (self.centre * self.mass - point * mass) / left;
        let tensor = self.tensor + of_point(self.mass, self.centre - centre) - of_point(mass, point - centre);
        Some((
            mass,
            Self {
                mass: left,
                centre,
                tensor,
            },
        ))
    }
}

/// The inertia of a mass point at an offset (kg m^2).
pub(crate) fn of_point(mass: f64, offset: Vec3) -> Mat3 {
    (Mat3::identity() * offset.norm_squared() - offset * offset.transpose()) * mass
}

/// The symmetric part.
pub(crate) fn symmetric(a: Mat3) -> Mat3 {
    (a + a.transpose()) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_give_their_rotation_back() {
        for angles in [
            [0.3, -0.2, 1.1],
            [3.1, 0.1, 0.2],
            [0.1, 3.0, 0.1],
            [0.2, 0.1, 3.1],
        ] {
            let q = roll_pitch_yaw(angles);
            let axes = [Vec3::x(), Vec3::y(), Vec3::z()].map(|a| rotate(q, a));
            let back = from_axes(axes[0], axes[1], axes[2]);
            let same: f64 = (0..4).map(|i| q[i] * back[i]).sum();
            // Both signs are the same rotation; 1e-14 is rounding.
            assert!((same.abs() - 1.0).abs() < 1e-14, "{angles:?}");
        }
    }

    #[test]
    fn yaw_comes_last() {
        // A quarter about x takes y to z, which a quarter about z leaves.
        let quarter = std::f64::consts::FRAC_PI_2;
        let q = roll_pitch_yaw([quarter, 0.0, quarter]);
        assert!((rotate(q, Vec3::y()) - Vec3::z()).norm() < 1e-15);
        assert!((rotate(q, Vec3::x()) - Vec3::y()).norm() < 1e-15);
    }

    #[test]
    fn two_halves_of_a_rod_are_the_rod() {
        let half = |x: f64| Inertia {
            mass: 1.0,
            centre: Vec3::new(x, 0.0, 0.0),
            tensor: Mat3::from_diagonal(&Vec3::new(0.0, 1.0 / 12.0, 1.0 / 12.0)),
        };
        let rod = half(-0.5).with(&half(0.5));
        // A rod of 2 kg and 2 m has m l^2/12.
        let expected = Mat3::from_diagonal(&Vec3::new(0.0, 2.0 / 3.0, 2.0 / 3.0));
        assert!((rod.tensor - expected).norm() < 1e-15 && rod.centre.norm() == 0.0);
    }
}
