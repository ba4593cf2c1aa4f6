//! The shortest way from one point to another around one surface, in its own axes, with first and
//! second derivatives: around spheres and cylinders in closed form.

use super::super::points::{PARALLEL, SHORTEST};
use super::ellipsoid;
use crate::validate::{check_all_finite, check_bound, check_positive};
use crate::{Field, ModelError};
use pliant_dense::{Mat3, Vec3};

/// A surface that a rope wraps around, in axes of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WrapSurface {
    /// A sphere about the origin. The rope takes the shorter way; where an end comes to lie
    /// opposite to the other the two ways are alike, and the rope slips from one to the other.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// A cylinder about the z axis, without ends.
    Cylinder {
        /// Radius (m).
        radius: f64,
        /// The side on which the rope passes.
        side: WrapSide,
    },
    /// An ellipsoid about the origin, whose axes are those of the frame. The rope takes the
    /// shortest way, and slips to another one where that comes to be shorter.
    Ellipsoid {
        /// Semi-axes (m) along x, y, z.
        semi_axes: [f64; 3],
    },
}

/// The side on which a rope passes a cylinder.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WrapSide {
    /// The shorter way round: where the straight line between the ends comes to pass the axis on
    /// its other side, so does the rope.
    #[default]
    Shortest,
    /// Over this direction (in axes of the surface; its part along z does not count): the rope
    /// never crosses the half plane that leaves the axis opposite to it. So it may go almost once
    /// around, and is straight where that needs no contact. An end in that half plane, or closer to
    /// it than a twentieth of the radius, is refused: on its two sides the rope has different
    /// lengths.
    Over([f64; 3]),
    /// Over this direction, and by the right hand about the z axis from the first end to the second.
    /// Each end has a half plane of its own, which it must not cross: the first a quarter turn
    /// ahead of the direction, the second a quarter turn behind it. So both ends may swing by a
    /// quarter turn past the half plane of [`Over`](Self::Over), and the rope may go up to one and
    /// a half times around. Where its ends are such that it lies over the direction from the other
    /// way round, it does, by up to half a turn, as with `Over`.
    RightHanded([f64; 3]),
    /// The mirror image, by the left hand about the z axis.
    LeftHanded([f64; 3]),
}

/// Distance of an end from the half plane that the rope must not cross, in radii, at which it is
/// refused: a motion that crosses it in steps shorter than twice that is an error, not a jump.
const BEHIND: f64 = 0.05;

const IN_SPHERE: &str = "an end of a stretch of the rope is not outside of a sphere that it goes around";
const IN_CYLINDER: &str = "an end of a stretch of the rope is not outside of a cylinder that it goes around";
const OVER_MIDDLE: &str = "the ends of a stretch of the rope are opposite to each other, so that every way around a sphere is as short";
const THROUGH_AXIS: &str = "the straight line between two ends of the rope meets the axis of a cylinder, so that both ways around are as short: give it a side";
const AT_BACK: &str = "an end of a stretch of the rope is opposite to the side on which it passes a cylinder, where its way around is not unique: choose another direction, or name the hand by which it turns";
const COINCIDE: &str =
    "two neighbouring points of the rope coincide, so that the line between them has no direction";

/// The length of the shortest way from `p` to `q` (m) with its derivatives over both, in the order
/// `p`, `q`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub(super) length: f64,
    /// Whether it touches the surface.
    pub(super) wrapped: bool,
    /// Unit vectors at the ends, away from the rope.
    pub(super) slopes: [Vec3; 2],
    /// Second derivatives: `pp`, `pq`, `qq`.
    pub(super) second: [Mat3; 3],
    /// Lengths (m) of the straight parts at both ends, where it touches the surface.
    pub(super) free: [f64; 2],
}

/// The straight line.
pub(super) fn straight(p: Vec3, q: Vec3) -> Result<Around, &'static str> {
    let d = q - p;
    let length = d.norm();
    if !(SHORTEST..f64::MAX).contains(&length) {
        return Err(COINCIDE);
    }
    let u = d / length;
    let k = (Mat3::identity() - u * u.transpose()) / length;
    Ok(Around {
        length,
        wrapped: false,
        slopes: [-u, u],
        second: [k, -k, k],
        free: [0.0; 2],
    })
}

impl WrapSurface {
    pub(super) fn check(&self, name: &str) -> Result<(), ModelError> {
        let side = match self {
            Self::Sphere { radius } => return check_positive(name, Field::WrapRadius, *radius),
            Self::Ellipsoid { semi_axes } => return check_semi_axes(name, *semi_axes),
            Self::Cylinder { radius, side } => {
                check_positive(name, Field::WrapRadius, *radius)?;
                side
            }
        };
        if let Some((over, _)) = side.direction() {
            check_all_finite(name, Field::Directions, &over)?;
            let across = over[0].hypot(over[1]);
            let bound = "positive across the axis of the cylinder";
            check_bound(name, Field::DirectionLength, across, bound, across >= SHORTEST)?;
        }
        Ok(())
    }

    /// Distance (m) of a point from the centre or the axis.
    pub(super) fn distance(&self, p: Vec3) -> f64 {
        match self {
            Self::Sphere { .. } | Self::Ellipsoid { .. } => p.norm(),
            Self::Cylinder { .. } => p.x.hypot(p.y),
        }
    }

    /// A vector in units in which the surface has the radius one, without its part along the axis
    /// of a cylinder.
    pub(super) fn scaled(&self, v: Vec3) -> Vec3 {
        match self {
            Self::Sphere { radius } => v / *radius,
            Self::Cylinder { radius, .. } => Vec3::new(v.x, v.y, 0.0) / *radius,
            Self::Ellipsoid { semi_axes } => v.component_div(&Vec3::from(*semi_axes)),
        }
    }

    /// The inverse of [`scaled`](Self::scaled).
    pub(super) fn unscaled(&self, v: Vec3) -> Vec3 {
        match self {
            Self::Sphere { radius } | Self::Cylinder { radius, .. } => v * *radius,
            Self::Ellipsoid { semi_axes } => v.component_mul(&Vec3::from(*semi_axes)),
        }
    }

    /// The shortest way from `p` to `q`.
    pub(super) fn around(&self, p: Vec3, q: Vec3) -> Result<Around, &'static str> {
        match self {
            Self::Sphere { radius } => around_sphere(*radius, p, q),
            Self::Cylinder { radius, side } => around_cylinder(*radius, *side, p, q),
            Self::Ellipsoid { semi_axes } => ellipsoid::around(*semi_axes, p, q),
        }
    }
}

/// Checks semi-axes. Those of thinner ones would leave lengths too few digits.
fn check_semi_axes(name: &str, semi_axes: [f64; 3]) -> Result<(), ModelError> {
    check_all_finite(name, Field::WrapSemiAxes, &semi_axes)?;
    let largest = semi_axes.into_iter().fold(0.0, f64::max);
    for axis in semi_axes {
        let bound = "positive, and a thousandth of the longest at least";
        let fits = axis > 0.0 && axis >= 1e-3 * largest;
        check_bound(name, Field::WrapSemiAxes, axis, bound, fits)?;
    }
    Ok(())
}

/// The distance `s` of an end from the centre, the length `t` of its tangent and the angle
/// `acos(r/s)` between both as seen from the centre.
struct Tangent {
    s: f64,
    t: f64,
    angle: f64,
}

impl Tangent {
    fn new(radius: f64, s: f64) -> Option<Self> {
        if s > radius && s < f64::MAX {
            let t = ((s - radius) * (s + radius)).sqrt();
            let angle = t.atan2(radius);
            Some(Self { s, t, angle })
        } else {
            None
        }
    }
}

/// With the angle `a` between both ends, `L = t_p + t_q + r (a - acos(r/s_p) - acos(r/s_q))`. In
/// the plane of the ends the derivatives are those of [`around_cylinder`]; across it, along the
/// normal `n`, those of `a` are `cot a/s^2` and `-1/(s_p s_q sin a)`.
fn around_sphere(r: f64, p: Vec3, q: Vec3) -> Result<Around, &'static str> {
    let (Some(a), Some(b)) = (Tangent::new(r, p.norm()), Tangent::new(r, q.norm())) else {
        return Err(IN_SPHERE);
    };
    let (e, f) = (p / a.s, q / b.s);
    let cross = e.cross(&f);
    let (sine, cosine) = (cross.norm(), e.dot(&f));
    let arc = sine.atan2(cosine) - a.angle - b.angle;
    if arc <= 0.0 {
        return straight(p, q);
    }
    if sine <= PARALLEL {
        return Err(OVER_MIDDLE);
    }
    let n = cross / sine;
    let nn = n * n.transpose();
    let (m_p, m_q) = (n.cross(&e), f.cross(&n));
    let own = |end: &Tangent, e: Vec3, m: Vec3| {
        let slope = (e * end.t - m * r) / end.s;
        let normal = (e * r + m * end.t) / end.s;
        let across = (end.t + r * cosine / sine) / (end.s * end.s);
        (slope, normal * normal.transpose() / end.t + nn * across)
    };
    let ((u_p, h_p), (u_q, h_q)) = (own(&a, e, m_p), own(&b, f, m_q));
    Ok(Around {
        length: a.t + b.t + r * arc,
        wrapped: true,
        slopes: [u_p, u_q],
        second: [h_p, nn * (-r / (a.s * b.s * sine)), h_q],
        free: [a.t, b.t],
    })
}

/// The cylinder unrolls into a plane. With the length `l = t_p + t_q + r (a - acos(r/s_p) -
/// acos(r/s_q))` around the circle of its section and the way `z` along the axis, `L = sqrt(l^2 +
/// z^2)`. An end that moves along its tangent keeps the direction of that, one that moves across
/// turns it about the point of contact: the second derivative of `l` is `n n^T/t`, with the normal
/// `n` of the surface at that point, and that over both ends is zero.
fn around_cylinder(r: f64, side: WrapSide, p: Vec3, q: Vec3) -> Result<Around, &'static str> {
    let ends = (Tangent::new(r, p.x.hypot(p.y)), Tangent::new(r, q.x.hypot(q.y)));
    let (Some(a), Some(b)) = ends else {
        return Err(IN_CYLINDER);
    };
    let turn = side.turn(r, p, q)?;
    let arc = turn.abs() - a.angle - b.angle;
    if arc <= 0.0 {
        return straight(p, q);
    }
    let l = a.t + b.t + r * arc;
    let z = q.z - p.z;
    let length = l.hypot(z);
    let (c, s) = (l / length, z / length);
    let own = |end: &Tangent, x: Vec3, sign: f64| {
        let e = Vec3::new(x.x, x.y, 0.0) / end.s;
        let m = Vec3::new(-e.y, e.x, 0.0) * (sign * turn).signum();
        ((e * end.t - m * r) / end.s, (e * r + m * end.t) / end.s)
    };
    let ((u_p, n_p), (u_q, n_q)) = (own(&a, p, 1.0), own(&b, q, -1.0));
    let along = Vec3::z();
    let (w_p, w_q) = (u_p * s + along * c, u_q * s - along * c);
    let second = |n: Vec3, t: f64, w: Vec3| n * n.transpose() * (c / t) + w * w.transpose() / length;
    Ok(Around {
        length,
        wrapped: true,
        slopes: [u_p * c - along * s, u_q * c + along * s],
        second: [
            second(n_p, a.t, w_p),
            w_p * w_q.transpose() / length,
            second(n_q, b.t, w_q),
        ],
        free: [a.t / c, b.t / c],
    })
}

impl WrapSide {
    /// The direction that the rope goes over, if one is named, and by which hand it goes about the
    /// axis: 1 by the right hand, -1 by the left one, 0 by either.
    pub(super) fn direction(self) -> Option<([f64; 3], f64)> {
        match self {
            Self::Shortest => None,
            Self::Over(over) => Some((over, 0.0)),
            Self::RightHanded(over) => Some((over, 1.0)),
            Self::LeftHanded(over) => Some((over, -1.0)),
        }
    }

    /// The angle (rad) about the axis by which the way from `p` to `q` turns.
    fn turn(self, r: f64, p: Vec3, q: Vec3) -> Result<f64, &'static str> {
        let Some((over, hand)) = self.direction() else {
            let (sine, cosine) = (p.x * q.y - p.y * q.x, p.x * q.x + p.y * q.y);
            if cosine < 0.0 && sine.abs() <= PARALLEL * cosine.abs() {
                return Err(THROUGH_AXIS);
            }
            return Ok(sine.atan2(cosine));
        };
        let size = over[0].hypot(over[1]);
        let (x, y) = (over[0] / size, over[1] / size);
        let angle = |e: Vec3, quarter: f64| {
            // The half plane of this end is opposite to `seen`, a quarter turn before or after the
            // direction if the hand is known.
            let (ahead, left) = (x * e.x + y * e.y, x * e.y - y * e.x);
            let (seen, across) = match quarter {
                0.0 => (ahead, left),
                _ => (quarter * left, -quarter * ahead),
            };
            if seen <= 0.0 && across.abs() <= BEHIND * r {
                return Err(AT_BACK);
            }
            Ok(across.atan2(seen) + quarter * std::f64::consts::FRAC_PI_2)
        };
        Ok(angle(q, hand)? - angle(p, -hand)?)
    }
}
