//! Frames fixed in bodies or in the world.

use super::{check_dependency, points};
use crate::validate::{check_all_finite, check_bound, check_rigid};
use crate::{Dependency, Field, ModelError, Pose, Space};
use pliant_dense::Vec3;
use pliant_dense::rotation::{conjugate, matrix, multiply};

/// A frame fixed in a body or in the world: one side of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFrame {
    /// The body it is fixed in; `None` for the world.
    pub on: Option<Dependency>,
    /// Its origin (m) and axes: in body axes about the centre of mass, or in the world.
    pub pose: Pose,
}

impl JointFrame {
    /// A frame fixed in element `element` of parent `parent`, its pose given in body axes about the
    /// centre of mass (m).
    pub const fn on(parent: usize, element: usize, pose: Pose) -> Self {
        Self {
            on: Some(Dependency::new(parent, element)),
            pose,
        }
    }

    /// A frame that does not move, its pose given in the world (m).
    pub const fn world(pose: Pose) -> Self {
        Self { on: None, pose }
    }

    /// This frame in a body at `body`: its pose in the world. A frame of the world stays where it
    /// is.
    pub fn at(&self, body: &Pose) -> Pose {
        let Some(_) = self.on else { return self.pose };
        let p = matrix(body.rotation) * Vec3::from(self.pose.position) + Vec3::from(body.position);
        Pose {
            position: p.into(),
            rotation: multiply(body.rotation, self.pose.rotation),
        }
    }

    /// The frame at `pose` in the axes of this one.
    pub(super) fn followed_by(&self, pose: &Pose) -> Self {
        let offset = matrix(self.pose.rotation) * Vec3::from(pose.position);
        Self {
            on: self.on,
            pose: Pose {
                position: (Vec3::from(self.pose.position) + offset).into(),
                rotation: multiply(self.pose.rotation, pose.rotation),
            },
        }
    }
}

/// The pose of frame `b` in the axes of frame `a`.
pub(crate) fn relative_pose(a: &Pose, b: &Pose) -> Pose {
    let d = Vec3::from(b.position) - Vec3::from(a.position);
    Pose {
        position: (matrix(a.rotation).transpose() * d).into(),
        rotation: multiply(conjugate(a.rotation), b.rotation),
    }
}

/// The pose, not a number where its quaternion is not of unit length: for constructors, whose
/// results are checked later.
pub(super) fn unit_or_nan(pose: &Pose) -> Pose {
    let norm = pose.rotation.iter().map(|a| a * a).sum::<f64>().sqrt();
    let known = if (norm - 1.0).abs() < 1e-9 { 1.0 } else { f64::NAN };
    Pose {
        position: pose.position.map(|x| x * known),
        rotation: pose.rotation.map(|x| x * known),
    }
}

/// Checks that a pose is finite and its quaternion of unit length.
pub(crate) fn check_pose(name: &str, field: Field, pose: &Pose) -> Result<(), ModelError> {
    check_all_finite(name, field, &pose.numbers())?;
    let norm = pose.rotation.iter().map(|a| a * a).sum::<f64>().sqrt();
    let fits = (norm - 1.0).abs() <= 1e-9;
    check_bound(name, Field::FrameLength, norm, "one", fits)
}

/// Checks two frames: fixed in bodies, not both in the same one, not both in the world.
pub(super) fn check_frames(
    name: &str,
    element: usize,
    frames: [&JointFrame; 2],
    parents: &[(Space, usize)],
) -> Result<(), ModelError> {
    for frame in frames {
        check_pose(name, Field::Frames, &frame.pose)?;
        if let Some(at) = frame.on {
            let found = check_dependency(name, at, parents)?;
            check_rigid(name, found)?;
        }
    }
    if frames[0].on == frames[1].on {
        let reason = match frames[0].on {
            Some(_) => "its two frames are on the same body",
            None => "its two frames are both in the world",
        };
        return Err(points::degenerate(name, element, reason));
    }
    Ok(())
}

/// Writes the bodies of two frames.
pub(super) fn frame_dependencies(a: &JointFrame, b: &JointFrame, out: &mut Vec<Dependency>) {
    out.extend(a.on);
    out.extend(b.on);
}
