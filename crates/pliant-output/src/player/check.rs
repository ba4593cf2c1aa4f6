//! Checks of a recording, without which the script could not trust it.

use super::{MAX_FRAME_BYTES, PlayerError};
use crate::recording::{Frame, PointGroup, Recording, Shape};

/// Whether `x` stays finite in single precision.
fn fits(x: f64) -> bool {
    (x as f32).is_finite()
}

/// `up` with length one.
pub(super) fn unit(up: [f64; 3]) -> Result<[f64; 3], PlayerError> {
    let largest = up.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if up.iter().any(|x| !x.is_finite()) || largest == 0.0 {
        return Err(PlayerError::Up { up });
    }
    // Dividing by the largest entry first keeps the squares from over- and underflow.
    let scaled = up.map(|x| x / largest);
    let norm = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    Ok(scaled.map(|x| x / norm))
}

/// Every condition of [`super::player_html`] on the recording.
pub(super) fn recording(recording: &Recording) -> Result<(), PlayerError> {
    let frames = recording.frames.len();
    if frames == 0 {
        return Err(PlayerError::NoFrames {
            title: recording.title.clone(),
        });
    }
    let points = group_points(&recording.groups)?;
    let floats = points
        .saturating_mul(3)
        .saturating_add(recording.bodies.len().saturating_mul(7));
    let bytes = floats.saturating_mul(4).saturating_mul(frames);
    if bytes > MAX_FRAME_BYTES {
        return Err(PlayerError::TooLarge {
            frames,
            bytes,
            limit: MAX_FRAME_BYTES,
        });
    }
    indices("segment", &recording.segments, points)?;
    indices("triangle", &recording.triangles, points)?;
    let segments = recording.segments.len();
    for line in &recording.lines {
        let end = line.first.saturating_add(line.count);
        if end > segments {
            let line = line.name.clone();
            return Err(PlayerError::Line { line, end, segments });
        }
    }
    let bodies = recording.bodies.len();
    for mark in &recording.marks {
        if let Some(body) = mark.body.filter(|body| *body >= bodies) {
            let joint = mark.name.clone();
            return Err(PlayerError::Joint { joint, body, bodies });
        }
    }
    for body in &recording.bodies {
        let sizes = match &body.shape {
            Shape::Box { half } => *half,
            Shape::Sphere { radius } => [*radius; 3],
            Shape::Axes { size } => [*size; 3],
            Shape::Mesh(surface) => surface.reach(),
        };
        if let Some(&size) = sizes.iter().find(|size| !fits(**size) || **size < 0.0) {
            return Err(PlayerError::Shape {
                body: body.name.clone(),
                size,
            });
        }
    }
    let mut previous = recording.frames[0].time;
    for (index, frame) in recording.frames.iter().enumerate() {
        if !frame.time.is_finite() || frame.time < previous {
            return Err(PlayerError::Time {
                frame: index,
                time: frame.time,
                previous,
            });
        }
        previous = frame.time;
        check_frame(recording, index, frame, points)?;
    }
    Ok(())
}

/// The number of points that `groups` cover, run after run.
fn group_points(groups: &[PointGroup]) -> Result<usize, PlayerError> {
    groups.iter().try_fold(0_usize, |expected, group| {
        if group.start == expected {
            Ok(expected.saturating_add(group.count))
        } else {
            Err(PlayerError::GroupStart {
                group: group.name.clone(),
                expected,
                found: group.start,
            })
        }
    })
}

/// Every index of `items` is below `points`.
fn indices<const N: usize>(kind: &'static str, items: &[[u32; N]], points: usize) -> Result<(), PlayerError> {
    for (index, item) in items.iter().enumerate() {
        if let Some(&point) = item.iter().find(|point| **point as usize >= points) {
            return Err(PlayerError::Index {
                kind,
                index,
                point,
                points,
            });
        }
    }
    Ok(())
}

fn check_frame(recording: &Recording, index: usize, frame: &Frame, points: usize) -> Result<(), PlayerError> {
    let time = frame.time;
    if frame.points.len() != points {
        return Err(PlayerError::PointCount {
            frame: index,
            expected: points,
            found: frame.points.len(),
        });
    }
    let bodies = recording.bodies.len();
    if frame.poses.len() != bodies {
        return Err(PlayerError::PoseCount {
            frame: index,
            expected: bodies,
            found: frame.poses.len(),
        });
    }
    for (point, position) in frame.points.iter().enumerate() {
        if let Some(&value) = position.iter().find(|x| !fits(**x)) {
            let group = recording
                .groups
                .iter()
                .find(|group| point < group.start.saturating_add(group.count));
            let (group, start) = group.map_or((String::new(), 0), |group| (group.name.clone(), group.start));
            return Err(PlayerError::Point {
                frame: index,
                time,
                group,
                point: point - start,
                value,
            });
        }
    }
    for (body, pose) in recording.bodies.iter().zip(&frame.poses) {
        let (position, rotation) = pose.split_at(3);
        let norm2 = rotation.iter().map(|x| x * x).sum::<f64>();
        let part = if position.iter().any(|x| !fits(*x)) {
            ("position", position)
        } else if !fits(norm2) || norm2 < 1e-6 {
            ("rotation", rotation)
        } else {
            continue;
        };
        let value = part.1.to_vec();
        return Err(PlayerError::Pose {
            frame: index,
            time,
            body: body.name.clone(),
            part: part.0,
            value,
        });
    }
    let sample = &frame.sample;
    let energies = [
        ("kinetic", sample.kinetic),
        ("potential", sample.potential),
        ("dissipated", sample.dissipated),
    ];
    if let Some(&(energy, value)) = energies.iter().find(|(_, value)| !fits(*value)) {
        return Err(PlayerError::Energy {
            frame: index,
            time,
            energy,
            value,
        });
    }
    Ok(())
}
