//! The rope from one point to the next around one obstacle, with its derivatives over both points
//! and the body of the obstacle.

use super::super::frames::JointFrame;
use super::super::rigid_points::frame;
use super::surface::{Around, WrapSurface, straight};
use crate::Parents;
use pliant_dense::rotation::matrix;
use pliant_dense::{Mat3, Vec3, skew};

/// A surface that is fixed in a body or in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// The body, and the origin and the axes of the surface in it.
    pub frame: JointFrame,
    /// The surface.
    pub surface: WrapSurface,
}

/// Places of an obstacle in the world: of its body, and of its surface.
struct Pose {
    centre: Vec3,
    turn: Mat3,
    origin: Vec3,
    axes: Mat3,
}

impl Obstacle {
    fn pose(&self, parents: &Parents<'_>) -> Pose {
        let (centre, turn) = match self.frame.on {
            Some(at) => frame(parents.position(at)),
            None => (Vec3::zeros(), Mat3::identity()),
        };
        Pose {
            origin: centre + turn * Vec3::from(self.frame.pose.position),
            axes: turn * matrix(self.frame.pose.rotation),
            centre,
            turn,
        }
    }

    /// Distance (m) of a point from the centre or the axis of the surface.
    pub(super) fn distance(&self, parents: &Parents<'_>, point: Vec3) -> f64 {
        let pose = self.pose(parents);
        self.surface
            .distance(pose.axes.transpose() * (point - pose.origin))
    }

    /// Where a point in the surface, or too close to it to begin with, is moved to; `None` if it is
    /// outside.
    pub(super) fn pushed_out(&self, parents: &Parents<'_>, point: Vec3) -> Option<Vec3> {
        let pose = self.pose(parents);
        let local = pose.axes.transpose() * (point - pose.origin);
        let out = self.surface.scaled(local);
        let distance = out.norm();
        if distance > 1.001 {
            return None;
        }
        let out = match distance > 0.0 {
            true => out / distance,
            false => Vec3::x(),
        };
        Some(point + pose.axes * self.surface.unscaled(out * (1.05 - distance)))
    }

    /// A point that the rope from `p` to `q` passes near this obstacle, or on it: that on the
    /// straight line which is next to the middle of the obstacle, or one just outside of the
    /// surface.
    pub(super) fn waypoint(&self, parents: &Parents<'_>, p: Vec3, q: Vec3) -> Vec3 {
        let pose = self.pose(parents);
        let [p, q] = [p, q].map(|x| pose.axes.transpose() * (x - pose.origin));
        let across = |v: Vec3| self.surface.scaled(v);
        let d = across(q - p);
        let share = (-across(p).dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
        let next = match share.is_finite() {
            true => p + (q - p) * share,
            false => p,
        };
        let over = match self.surface {
            WrapSurface::Cylinder { side, .. } => side.direction(),
            WrapSurface::Sphere { .. } | WrapSurface::Ellipsoid { .. } => None,
        };
        let passes_freely = self.surface.around(p, q).is_ok_and(|way| !way.wrapped);
        let out = match over {
            _ if passes_freely => return pose.origin + pose.axes * next,
            Some((over, _)) => across(over.into()),
            None => across(next),
        };
        let size = out.norm();
        let out = if size > 0.0 { out / size } else { Vec3::x() };
        // On the axis of a cylinder, at the middle of others.
        let middle = match self.surface {
            WrapSurface::Cylinder { .. } => Vec3::new(0.0, 0.0, next.z),
            WrapSurface::Sphere { .. } | WrapSurface::Ellipsoid { .. } => Vec3::zeros(),
        };
        pose.origin + pose.axes * (middle + self.surface.unscaled(out * 1.05))
    }
}

/// The rope between two points around at most one obstacle, in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) way: Around,
    /// The points, from the centre of the body.
    arms: [Vec3; 2],
    /// The rotation of the body.
    turn: Mat3,
}

/// Gradient over the first point, the second one, the centre and the rotation of the body.
pub(super) type Gradient = [Vec3; 4];
/// Second derivatives over the same.
pub(super) type Hessian = [[Mat3; 4]; 4];

impl Link {
    /// The straight line.
    pub(super) fn straight(p: Vec3, q: Vec3) -> Result<Self, &'static str> {
        Ok(Self {
            way: straight(p, q)?,
            arms: [p, q],
            turn: Mat3::identity(),
        })
    }

    pub(super) fn around(
        obstacle: &Obstacle,
        parents: &Parents<'_>,
        p: Vec3,
        q: Vec3,
    ) -> Result<Self, &'static str> {
        let pose = obstacle.pose(parents);
        let axes = pose.axes;
        let [a, b] = [p, q].map(|x| axes.transpose() * (x - pose.origin));
        let way = obstacle.surface.around(a, b)?;
        Ok(Self {
            way: Around {
                slopes: way.slopes.map(|u| axes * u),
                second: way.second.map(|h| axes * h * axes.transpose()),
                ..way
            },
            arms: [p - pose.centre, q - pose.centre],
            turn: pose.turn,
        })
    }

    /// The points of contact, between these ends.
    pub(super) fn contacts(&self, p: Vec3, q: Vec3) -> [Vec3; 2] {
        let way = &self.way;
        [p - way.slopes[0] * way.free[0], q - way.slopes[1] * way.free[1]]
    }

    /// The gradient of the length. A straight rope leaves the body alone.
    pub(super) fn gradient(&self) -> Gradient {
        let [u, w] = self.way.slopes;
        if !self.way.wrapped {
            return [u, w, Vec3::zeros(), Vec3::zeros()];
        }
        let torque = u.cross(&self.arms[0]) + w.cross(&self.arms[1]);
        [u, w, -(u + w), self.turn.transpose() * torque]
    }

    /// The symmetric part of the derivative of the gradient.
    ///
    /// Seen from the body, in the axes of the world, an end at `a` from the centre moves by `dp -
    /// dx + [a] R w`. This enters the second derivatives from both sides; besides the slope `u`
    /// turns with the body, by `-[u] R w`, and its torque changes with its arm.
    pub(super) fn hessian(&self) -> Hessian {
        let [pp, pq, qq] = self.way.second;
        let mut out = [[Mat3::zeros(); 4]; 4];
        out[0][0] = pp;
        out[0][1] = pq;
        out[1][0] = pq.transpose();
        out[1][1] = qq;
        if !self.way.wrapped {
            return out;
        }
        let over = [[pp, pq], [pq.transpose(), qq]];
        let arms = self.arms.map(|a| skew(a) * self.turn);
        let slopes = self.way.slopes.map(|u| skew(u) * self.turn);
        for i in 0..2 {
            // The row of an end, and what it adds to those of the body.
            let with_centre = -(over[i][0] + over[i][1]);
            let turned = over[i][0] * arms[0] + over[i][1] * arms[1];
            let with_rotation = turned - slopes[i];
            out[i][2] = with_centre;
            out[2][i] = with_centre.transpose();
            out[i][3] = with_rotation;
            out[3][i] = with_rotation.transpose();
            out[2][2] -= with_centre;
            out[2][3] -= with_rotation;
            out[3][2] -= with_rotation.transpose();
            let torque = slopes[i].transpose() * arms[i];
            out[3][3] += arms[i].transpose() * turned - (torque + torque.transpose()) * 0.5;
        }
        out
    }
}
