//! Cameras: where a picture is seen from, and what of it is seen where.

use super::RasterError;
use super::canvas::Corner;
use crate::recording::{Frame, Recording, Shape};

/// Tangent of half the vertical angle of view, of 17 degrees: that of the player.
const TANGENT: f64 = 0.305_730_681_458_660_4;
/// The share of the picture that a fitted motion fills at most.
const FILLED: f64 = 0.88;

/// A place from which a picture is seen, with an angle of view of 34 degrees from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Place of the eye (m).
    pub eye: [f64; 3],
    /// Place in the middle of the picture (m).
    pub target: [f64; 3],
    /// Direction that is up.
    pub up: [f64; 3],
}

impl Camera {
    /// The camera with which the player of this one frame begins: across the widest horizontal
    /// direction, a little from above, so far away that all points and bodies fit a picture of this
    /// width over height.
    pub fn fitted(recording: &Recording, frame: &Frame, up: [f64; 3], aspect: f64) -> Self {
        let [right, up, back] = axes(up);
        Self::of_spheres(&spheres(recording, frame), [right, up, back], None, aspect)
    }

    /// The camera that sees these balls in a scene of these axes: from a direction, or from where
    /// they are seen best.
    pub(super) fn of_spheres(
        spheres: &[([f64; 3], f64)],
        [right, up, back]: [[f64; 3]; 3],
        from: Option<[f64; 3]>,
        aspect: f64,
    ) -> Self {
        let (centre, size) = bounds(spheres);
        let cloud: Vec<([f64; 3], f64)> = spheres
            .iter()
            .map(|(p, r)| (plus(*p, scaled(centre, -1.0)), *r))
            .collect();
        let z = from.unwrap_or_else(|| direction(&cloud, [right, up, back]));
        let x = unit(cross(up, z));
        let y = cross(z, x);
        let room = [(x, FILLED * TANGENT * aspect), (y, FILLED * TANGENT)];
        // With the eye at the distance d and the offset c along an axis, the sphere (p, r) is in
        // the picture if `slope d + c >= plus` and `slope d - c >= minus`.
        let bounds = room.map(|(axis, slope)| {
            let reach = |sign: f64| {
                cloud.iter().fold(f64::NEG_INFINITY, |most, (p, r)| {
                    most.max(sign * dot(*p, axis) + slope * dot(*p, z) + r * slope.hypot(1.0))
                })
            };
            (reach(1.0), reach(-1.0), slope)
        });
        let mut distance = 2.0 * size;
        let mut target = [0.0; 3];
        if !cloud.is_empty() {
            distance = bounds.iter().fold(0.2 * size, |d, (up, down, slope)| {
                d.max((up + down) / (2.0 * slope))
            });
            for ((axis, _), (up, down, _)) in room.iter().zip(bounds) {
                target = plus(target, scaled(*axis, 0.5 * (up - down)));
            }
        }
        let target = plus(target, centre);
        Self {
            eye: plus(target, scaled(z, distance)),
            target,
            up,
        }
    }
}

/// Axes of the scene: across, up, and towards the viewer.
pub(super) fn axes(up: [f64; 3]) -> [[f64; 3]; 3] {
    let up = if dot(up, up) > 0.0 {
        unit(up)
    } else {
        [0.0, 0.0, 1.0]
    };
    let across = if up[0].abs() > 0.9 {
        [0.0, 1.0, 0.0]
    } else {
        [1.0, 0.0, 0.0]
    };
    let right = unit(plus(across, scaled(up, -dot(across, up))));
    [right, up, cross(right, up)]
}

/// The direction to the viewer.
fn direction(cloud: &[([f64; 3], f64)], [right, up, back]: [[f64; 3]; 3]) -> [f64; 3] {
    let sum = |a: [f64; 3], b: [f64; 3]| cloud.iter().map(|(p, _)| dot(*p, a) * dot(*p, b)).sum::<f64>();
    let (aa, ab, bb, hh) = (sum(right, right), sum(right, back), sum(back, back), sum(up, up));
    let spread = (aa - bb).hypot(2.0 * ab);
    let (long, short) = ((aa + bb + spread) / 2.0, (aa + bb - spread) / 2.0);
    let principal = 0.5 * (2.0 * ab).atan2(aa - bb);
    let height = if long > 0.0 { hh / long } else { hh };
    let flat = (1.0 - 2.0 * height.sqrt()).clamp(0.0, 1.0);
    let yaw = if short < 0.4 * long { 0.42 - principal } else { 0.5 };
    let (pitch_sine, pitch_cosine) = (0.24 + 0.28 * flat).sin_cos();
    let level = plus(scaled(right, yaw.sin()), scaled(back, yaw.cos()));
    plus(scaled(level, pitch_cosine), scaled(up, pitch_sine))
}

/// Balls about all that is drawn: points, and bodies with their shapes.
pub(super) fn spheres(recording: &Recording, frame: &Frame) -> Vec<([f64; 3], f64)> {
    let length = |half: [f64; 3]| dot(half, half).sqrt();
    let reach = |shape: &Shape| match shape {
        Shape::Box { half } => length(*half),
        Shape::Sphere { radius } => *radius,
        Shape::Axes { size } => *size,
        Shape::Mesh(surface) => length(surface.reach()),
    };
    let points = frame.points.iter().map(|p| (*p, 0.0));
    let bodies = recording.bodies.iter().zip(&frame.poses);
    let bodies = bodies.map(|(body, pose)| ([pose[0], pose[1], pose[2]], reach(&body.shape)));
    points.chain(bodies).collect()
}

/// The middle of the box about balls, and its diagonal; 1 m where it has none.
fn bounds(spheres: &[([f64; 3], f64)]) -> ([f64; 3], f64) {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (p, r) in spheres {
        for k in 0..3 {
            low[k] = low[k].min(p[k] - r);
            high[k] = high[k].max(p[k] + r);
        }
    }
    if spheres.is_empty() {
        return ([0.0; 3], 1.0);
    }
    let extent = plus(high, scaled(low, -1.0));
    let size = dot(extent, extent).sqrt();
    (scaled(plus(low, high), 0.5), if size > 0.0 { size } else { 1.0 })
}

/// A camera before a canvas.
pub(super) struct Sight {
    eye: [f64; 3],
    /// Right, up, and towards the viewer.
    axes: [[f64; 3]; 3],
    /// Nearer than this nothing is seen (m).
    near: f64,
    middle: [f64; 2],
    /// Pixels for a slope of one.
    scale: f64,
}

impl Sight {
    pub(super) fn new(camera: &Camera, [width, height]: [usize; 2]) -> Result<Self, RasterError> {
        let Camera { eye, target, up } = *camera;
        let away = plus(eye, scaled(target, -1.0));
        let distance = dot(away, away).sqrt();
        if !(distance.is_normal() && eye.iter().chain(&target).all(|x| x.is_finite())) {
            return Err(RasterError::Camera { eye, target });
        }
        let z = scaled(away, 1.0 / distance);
        let mut x = cross(up, z);
        if dot(x, x) < 1e-12 {
            // A view along the vertical.
            let other = if z[0].abs() < 0.9 {
                [1.0, 0.0, 0.0]
            } else {
                [0.0, 1.0, 0.0]
            };
            x = plus(other, scaled(z, -dot(other, z)));
        }
        let x = unit(x);
        Ok(Self {
            eye,
            axes: [x, cross(z, x), z],
            near: 1e-3 * distance,
            middle: [0.5 * width as f64, 0.5 * height as f64],
            scale: 0.5 * height as f64 / TANGENT,
        })
    }

    /// A place along the axes of the picture, from the eye.
    pub(super) fn see(&self, point: [f64; 3]) -> [f64; 3] {
        let away = plus(point, scaled(self.eye, -1.0));
        self.axes.map(|axis| dot(axis, away))
    }

    /// The part of a polygon, or of a line, that lies before the eye.
    pub(super) fn clip(&self, corners: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let depth = |p: &[f64; 3]| -p[2] - self.near;
        let mut out = Vec::with_capacity(corners.len() + 1);
        for (k, a) in corners.iter().enumerate() {
            let b = &corners[(k + 1) % corners.len()];
            let (here, there) = (depth(a), depth(b));
            if here >= 0.0 {
                out.push(*a);
            }
            if (here < 0.0) != (there < 0.0) {
                let share = here / (here - there);
                out.push(plus(*a, scaled(plus(*b, scaled(*a, -1.0)), share)));
            }
        }
        out
    }

    /// The place on the canvas; `None` behind the eye.
    pub(super) fn corner(&self, [x, y, z]: [f64; 3]) -> Option<Corner> {
        let nearness = 1.0 / -z;
        (-z >= 0.5 * self.near && nearness.is_finite()).then(|| Corner {
            x: self.middle[0] + self.scale * x * nearness,
            y: self.middle[1] - self.scale * y * nearness,
            nearness,
        })
    }
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(super) fn plus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(super) fn scaled(a: [f64; 3], by: f64) -> [f64; 3] {
    a.map(|x| x * by)
}

/// The direction of a vector; zero has none and stays.
pub(super) fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    if length > 0.0 { scaled(a, 1.0 / length) } else { a }
}
