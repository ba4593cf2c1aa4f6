//! Where a rod is: points in a row, and how its section is turned about them.

use crate::ContinuumError;
use crate::checks::check_number;
use nalgebra::{Rotation3, UnitQuaternion};
use pliant_dense::rotation::{exp, multiply, normalize};
use pliant_dense::{Mat3, Vec3};
use pliant_model::{Field, Pose};

/// The line of a rod: its nodes in order, and the direction of its section.
#[derive(Clone, Debug, PartialEq)]
pub struct RodCurve {
    points: Vec<[f64; 3]>,
    normal: Option<[f64; 3]>,
    twist: f64,
    closed: bool,
}

impl RodCurve {
    /// Through these points (m), two or more.
    pub fn through(points: &[[f64; 3]]) -> Self {
        Self {
            points: points.to_vec(),
            normal: None,
            twist: 0.0,
            closed: false,
        }
    }

    /// Straight between two points (m), in equal segments.
    pub fn straight(from: [f64; 3], to: [f64; 3], segments: usize) -> Self {
        let at = |i: usize| {
            let s = i as f64 / segments.max(1) as f64;
            std::array::from_fn(|k| (1.0 - s) * from[k] + s * to[k])
        };
        Self::through(&(0..=segments).map(at).collect::<Vec<_>>())
    }

    /// Sets the direction (none, any length) of axis 1 of the section at the first point, of which
    /// the part across the rod counts. The axis of space most across it if not set.
    #[must_use]
    pub fn with_normal(mut self, normal: [f64; 3]) -> Self {
        self.normal = Some(normal);
        self
    }

    /// Joins the last point to the first, three or more in all: a ring, whose ends are glued as the
    /// section arrives there. Without twist it is carried along without turning about the rod; on a
    /// curve in a plane it arrives as it left.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// Turns the section about the rod, evenly along its length, by this angle (rad) in all.
    #[must_use]
    pub fn with_twist(mut self, angle: f64) -> Self {
        self.twist = angle;
        self
    }

    /// The points (m).
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// A frame at each point: axis 0 along the curve, axis 1 carried along it without turning about
    /// it, but for the twist.
    ///
    /// The tangent of a point is half way between the segments at its sides; at an end it is turned
    /// from the segment as much as at the other side of it. Points on a circle have its tangents.
    ///
    /// # Errors
    /// [`ContinuumError::Curve`], [`ContinuumError::NotFinite`].
    pub fn frames(&self) -> Result<Vec<Pose>, ContinuumError> {
        let mut frames = self.ends()?;
        frames.truncate(self.points.len());
        Ok(frames)
    }

    /// Poses of the points, and of a closed curve the pose in which the section arrives at the
    /// first one.
    pub(super) fn ends(&self) -> Result<Vec<Pose>, ContinuumError> {
        let (along, lengths) = self.segments()?;
        let tangents = tangents(&along, self.closed)?;
        let total: f64 = lengths.iter().sum();
        let mut turn = self.first_frame(tangents[0])?;
        let mut at = 0.0;
        let mut frames = Vec::with_capacity(tangents.len());
        for (i, point) in self.points.iter().cycle().take(tangents.len()).enumerate() {
            if i > 0 {
                at += lengths[i - 1];
                turn = multiply(shortest(tangents[i - 1], tangents[i]), turn);
            }
            let twist = exp(Vec3::x() * (self.twist * at / total));
            let rotation = normalize(multiply(turn, twist)).unwrap_or(turn);
            frames.push(Pose {
                position: *point,
                rotation,
            });
        }
        Ok(frames)
    }

    /// Directions and lengths of the segments, checked.
    fn segments(&self) -> Result<(Vec<Vec3>, Vec<f64>), ContinuumError> {
        check_number(Field::Twist, self.twist, true, "finite")?;
        let curve = |point, reason| ContinuumError::Curve { point, reason };
        if let Some(i) = self.points.iter().position(|x| x.iter().any(|x| !x.is_finite())) {
            return Err(curve(i, "a coordinate is not a finite number"));
        }
        if self.points.len() < 2 {
            return Err(curve(0, "it needs two points or more"));
        }
        if self.closed && self.points.len() < 3 {
            return Err(curve(0, "closed, it needs three points or more"));
        }
        let next = self.points.iter().cycle().skip(1);
        let count = self.points.len() - usize::from(!self.closed);
        let pairs = self.points.iter().zip(next).take(count);
        let steps = pairs.map(|(a, b)| Vec3::from(*b) - Vec3::from(*a));
        let (mut along, mut lengths) = (Vec::new(), Vec::new());
        for (i, step) in steps.enumerate() {
            let length = step.norm();
            if !(length > 0.0 && length.is_finite()) {
                return Err(curve(
                    (i + 1) % self.points.len(),
                    "it is where the one before is",
                ));
            }
            along.push(step / length);
            lengths.push(length);
        }
        Ok((along, lengths))
    }

    fn first_frame(&self, tangent: Vec3) -> Result<[f64; 4], ContinuumError> {
        let normal = self.normal.map_or_else(
            || {
                let mut out = Vec3::zeros();
                out[tangent.iamin()] = 1.0;
                out
            },
            Vec3::from,
        );
        let across = normal - normal.dot(&tangent) * tangent;
        // A direction along the rod to rounding says nothing.
        if across.norm() <= 1e-9 * normal.norm() || !across.norm().is_finite() {
            return Err(ContinuumError::Curve {
                point: 0,
                reason: "the normal of the section must be a direction across the rod",
            });
        }
        let across = across.normalize();
        let axes = Mat3::from_columns(&[tangent, across, tangent.cross(&across)]);
        let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
        Ok([turn.w, turn.i, turn.j, turn.k])
    }
}

/// The tangents at the points between segments of these directions, and at the ends; both ends of
/// closed ones are one point.
fn tangents(along: &[Vec3], closed: bool) -> Result<Vec<Vec3>, ContinuumError> {
    let n = along.len();
    let mut out = vec![along[0]; n + 1];
    for i in usize::from(!closed)..n {
        let sum = along[(i + n - 1) % n] + along[i];
        // Directions this far from a full turn back have a mean, to rounding.
        if sum.norm() < 1e-6 {
            return Err(ContinuumError::Curve {
                point: i,
                reason: "the rod turns back on itself there",
            });
        }
        out[i] = sum.normalize();
    }
    if closed {
        out[n] = out[0];
    } else if n > 1 {
        let mirrored = |d: Vec3, t: Vec3| (2.0 * d.dot(&t) * d - t).normalize();
        out[0] = mirrored(along[0], out[1]);
        out[n] = mirrored(along[n - 1], out[n - 1]);
    }
    Ok(out)
}

/// The smallest rotation that takes one direction to another; never opposite ones here.
fn shortest(a: Vec3, b: Vec3) -> [f64; 4] {
    let axis = a.cross(&b);
    let (sine, cosine) = (axis.norm(), a.dot(&b));
    if sine == 0.0 {
        return exp(Vec3::zeros());
    }
    exp(axis * (sine.atan2(cosine) / sine))
}
