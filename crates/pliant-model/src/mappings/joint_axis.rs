//! The coordinates of a joint as functions of the motion of one frame against another.

use super::relative_motion::{Rates, Slopes, nearest_turn};
use crate::{Field, ModelError};
use pliant_dense::rotation::{
    Quaternion, inverse_right_jacobian, inverse_right_jacobian_transpose_derivative,
};
use pliant_dense::{Mat3, Vec3};

/// One coordinate of a joint: a number that says how frame B stands against frame A. Axes are
/// numbered 0, 1, 2.
///
/// **Equation.** With `t = R_A^T (p_B - p_A)`, `C = R_A^T R_B`, and axes `a_i` of A, `b_j` of B;
/// see theory/kinematics.md of the book for the derivatives.
///
/// **Use.** The coordinates of [`JointCoordinates`](crate::JointCoordinates), for joints that no
/// [`JointKind`](crate::JointKind) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointAxis {
    /// Coordinate of `t`: how far the origin of B lies along this axis of A (m).
    Translation(usize),
    /// Coordinate of the rotation vector `log(C)` (rad), continuous up to a full turn. The branch
    /// is followed with those of its three coordinates that the joint has; joints that turn past a
    /// half turn about any axis want all three.
    Rotation(usize),
    /// `a_i . b_j`: zero where axis `i` of A is perpendicular to axis `j` of B, and smooth
    /// everywhere. Two of them hold the axis of a hinge.
    Misalignment(usize, usize),
    /// Angle (rad) of the turn about this axis that is left when `C` is split into a turn about the
    /// axis and a turn that swings the axis the shortest way, `2 atan2(q_axis, q_w)`. Counts full
    /// turns. Not defined where the axis is swung by a half turn.
    Twist(usize),
    /// Angle (rad) about axis `about` of A by which axis `of` of B has turned from the same axis of
    /// A, `atan2((a_about x a_of) . b_of, a_of . b_of)`. Counts full turns. Not defined where the
    /// two axes are parallel. The first angle of a universal joint, or of Euler angles.
    HeadingInA {
        /// The axis of A turned about.
        about: usize,
        /// The axis of B whose direction is measured.
        of: usize,
    },
    /// Angle (rad) by which B has turned about its own axis `about`, seen by axis `of` of A:
    /// `atan2(-(b_about x b_of) . a_of, b_of . a_of)`. Counts full turns. Not defined where the two
    /// axes are parallel. The second angle of a universal joint, or the last of Euler angles.
    HeadingInB {
        /// The axis of B turned about.
        about: usize,
        /// The axis of A whose direction is measured.
        of: usize,
    },
    /// Angle (rad) between axis `of` of B and the plane square to axis `against` of A,
    /// `+-asin(a_against . b_of)`, with the sign of a turn about the third axis: the middle one of
    /// the Euler angles about `against` of A, the third axis, and `of` of B. From minus to plus a
    /// quarter turn, where it has no derivative.
    Elevation {
        /// The axis of B whose direction is measured.
        of: usize,
        /// The axis of A whose plane it rises from.
        against: usize,
    },
}

/// A function of `C` with gradient and Hessian over `u` in `C exp(u)`.
#[derive(Clone, Copy)]
struct Jet {
    value: f64,
    gradient: Vec3,
    hessian: Mat3,
}

impl Jet {
    fn scaled(self, k: f64) -> Self {
        Self {
            value: k * self.value,
            gradient: k * self.gradient,
            hessian: k * self.hessian,
        }
    }

    /// `atan2(y, x)`; `None` where both are zero.
    fn angle(y: Self, x: Self) -> Option<Self> {
        let square = y.value * y.value + x.value * x.value;
        // Rounding of the arguments, 1e-16, turns the direction by 1e-7 here.
        if square < 1e-18 {
            return None;
        }
        let (dy, dx) = (x.value / square, -y.value / square);
        let (yy, xy) = (2.0 * dx * dy, dx * dx - dy * dy);
        let outer = |a: Vec3, b: Vec3| a * b.transpose();
        let cross = outer(y.gradient, x.gradient);
        Some(Self {
            value: y.value.atan2(x.value),
            gradient: dy * y.gradient + dx * x.gradient,
            hessian: dy * y.hessian
                + dx * x.hessian
                + yy * (outer(y.gradient, y.gradient) - outer(x.gradient, x.gradient))
                + xy * (cross + cross.transpose()),
        })
    }

    /// The angle with this sine, within a quarter turn; `None` at its ends.
    fn sine(x: Self) -> Option<Self> {
        let square = 1.0 - x.value * x.value;
        // The headings beside it have no value there either.
        if square < 1e-18 {
            return None;
        }
        let slope = 1.0 / square.sqrt();
        Some(Self {
            value: x.value.asin(),
            gradient: slope * x.gradient,
            hessian: slope * x.hessian + x.value * slope.powi(3) * x.gradient * x.gradient.transpose(),
        })
    }
}

fn unit(k: usize) -> Vec3 {
    Vec3::from_fn(|i, _| f64::from(u8::from(i == k)))
}

/// `a_i . b_j`.
fn cosine(c: &Mat3, i: usize, j: usize) -> Jet {
    let (n, b): (Vec3, Vec3) = (c.row(i).transpose(), unit(j));
    let outer = n * b.transpose();
    Jet {
        value: n[j],
        gradient: b.cross(&n),
        hessian: 0.5 * (outer + outer.transpose()) - n[j] * Mat3::identity(),
    }
}

/// The third axis and the sign in `e_i x e_j = sign e_k`.
fn third(i: usize, j: usize) -> (usize, f64) {
    (3 - i - j, if (j + 3 - i) % 3 == 1 { 1.0 } else { -1.0 })
}

/// Half the twist angle.
fn half_twist(q: Quaternion, axis: usize) -> Option<Jet> {
    // q exp(u) to second order: w - v.u/2 - w u.u/8, v + (w u + v x u)/2 - v u.u/8.
    let q = if q[0] < 0.0 { q.map(|a| -a) } else { q };
    let (w, v, e) = (q[0], Vec3::new(q[1], q[2], q[3]), unit(axis));
    let sine = Jet {
        value: v[axis],
        gradient: 0.5 * (w * e + e.cross(&v)),
        hessian: Mat3::identity() * (-0.25 * v[axis]),
    };
    let cosine = Jet {
        value: w,
        gradient: -0.5 * v,
        hessian: Mat3::identity() * (-0.25 * w),
    };
    Jet::angle(sine, cosine)
}

impl JointAxis {
    /// Checks the numbers of the axes.
    pub(super) fn check(self, name: &str) -> Result<(), ModelError> {
        let (i, j) = match self {
            Self::Translation(i) | Self::Rotation(i) | Self::Twist(i) => (i, i),
            Self::Misalignment(i, j) => (i, j),
            Self::HeadingInA { about, of } | Self::HeadingInB { about, of } => (about, of),
            Self::Elevation { of, against } => (against, of),
        };
        let fault = |field, value: usize, bound| ModelError::OutOfRange {
            name: name.into(),
            field,
            index: None,
            value: value as f64,
            bound,
        };
        if i.max(j) > 2 {
            return Err(fault(Field::Axis, i.max(j), "0, 1 or 2"));
        }
        let turns = matches!(
            self,
            Self::HeadingInA { .. } | Self::HeadingInB { .. } | Self::Elevation { .. }
        );
        if turns && i == j {
            return Err(fault(Field::Heading, j, "another than the axis turned about"));
        }
        Ok(())
    }

    pub(super) fn is_rotation(self) -> bool {
        matches!(self, Self::Rotation(_))
    }

    /// An axis that neither [`Translation`](Self::Translation) nor [`Rotation`](Self::Rotation) is.
    fn jet(self, q: Quaternion, c: &Mat3) -> Result<Option<Jet>, &'static str> {
        let parallel = "the two axes of its heading are parallel, so that the angle has no value";
        let jet = match self {
            Self::Translation(_) | Self::Rotation(_) => return Ok(None),
            Self::Misalignment(i, j) => cosine(c, i, j),
            Self::Twist(axis) => half_twist(q, axis)
                .ok_or("its axis is swung by a half turn, so that the twist about it has no value")?
                .scaled(2.0),
            Self::HeadingInA { about, of } => {
                let (k, sign) = third(about, of);
                Jet::angle(cosine(c, k, of).scaled(sign), cosine(c, of, of)).ok_or(parallel)?
            }
            Self::HeadingInB { about, of } => {
                let (k, sign) = third(about, of);
                Jet::angle(cosine(c, of, k).scaled(-sign), cosine(c, of, of)).ok_or(parallel)?
            }
            Self::Elevation { of, against } => {
                let (_, sign) = third(against, of);
                Jet::sine(cosine(c, against, of))
                    .ok_or("it is a quarter turn, where the joint has no second angle")?
                    .scaled(-sign)
            }
        };
        Ok(Some(jet))
    }

    /// The value for `t`, `C` and the branch `r` of its logarithm, nearest to `last`.
    pub(super) fn value(
        self,
        t: Vec3,
        q: Quaternion,
        c: &Mat3,
        r: Vec3,
        last: f64,
    ) -> Result<f64, &'static str> {
        Ok(match self {
            Self::Translation(i) => t[i],
            Self::Rotation(i) => r[i],
            Self::Misalignment(i, j) => c[(i, j)],
            Self::Elevation { .. } => self.jet(q, c)?.map_or(0.0, |jet| jet.value),
            _ => self.jet(q, c)?.map_or(0.0, |jet| nearest_turn(jet.value, last)),
        })
    }

    /// The gradient over `tau` and `u`; `inverse` is `J_r^-1(r)`.
    pub(super) fn gradient(
        self,
        q: Quaternion,
        c: &Mat3,
        inverse: &Mat3,
    ) -> Result<(Vec3, Vec3), &'static str> {
        Ok(match self {
            Self::Translation(i) => (unit(i), Vec3::zeros()),
            Self::Rotation(i) => (Vec3::zeros(), inverse.row(i).transpose()),
            Self::Misalignment(i, j) => (Vec3::zeros(), unit(j).cross(&c.row(i).transpose())),
            _ => (
                Vec3::zeros(),
                self.jet(q, c)?.map_or_else(Vec3::zeros, |jet| jet.gradient),
            ),
        })
    }

    /// The second derivative over time at constant velocities of the bodies; `log` is that of the
    /// rotation vector.
    pub(super) fn bias(self, q: Quaternion, c: &Mat3, rates: &Rates, log: Vec3) -> f64 {
        match self {
            Self::Translation(i) => rates.tau2[i],
            Self::Rotation(i) => log[i],
            _ => match self.jet(q, c) {
                Ok(Some(jet)) => jet.gradient.dot(&rates.u2) + rates.u.dot(&(jet.hessian * rates.u)),
                _ => 0.0,
            },
        }
    }

    /// Adds the derivatives of `force` times the coordinate, those of [`Rotation`](Self::Rotation)
    /// to `torque` for [`add_log`].
    pub(super) fn add_slopes(self, force: f64, q: Quaternion, c: &Mat3, out: &mut Slopes, torque: &mut Vec3) {
        match self {
            Self::Translation(i) => out.tau[i] += force,
            Self::Rotation(i) => torque[i] += force,
            _ => {
                if let Ok(Some(jet)) = self.jet(q, c) {
                    out.u += force * jet.gradient;
                    out.uu += force * jet.hessian;
                }
            }
        }
    }
}

/// Adds the derivatives of `f . r`.
pub(super) fn add_log(r: Vec3, f: Vec3, out: &mut Slopes) {
    add_through_log(r, f, &Mat3::zeros(), &Mat3::zeros(), out);
}

/// Adds to the derivatives those of a function of the rotation vector with the gradient `g` over
/// it, its Hessian `rr` and its mixed derivatives `tr` with `t`.
pub(super) fn add_through_log(r: Vec3, g: Vec3, tr: &Mat3, rr: &Mat3, out: &mut Slopes) {
    let inverse = inverse_right_jacobian(r);
    out.u += inverse.transpose() * g;
    out.mixed += tr * inverse;
    // The gradient over u along the path c exp(u), whose own derivative is this one's symmetric
    // part.
    let h = (inverse_right_jacobian_transpose_derivative(r, g) + inverse.transpose() * rr) * inverse;
    out.uu += 0.5 * (h + h.transpose());
}
