//! Bodies that follow points.

use super::{Builder, ParentList, Result};
use crate::assemble::{ends, nodes};
use crate::number::EndSpec;
use crate::schema::{Elements, Fit, FittedFrameSpec, FittedFramesSpec};
use crate::source::Where;
use pliant::dense::{Vec3, vec3};
use pliant::model::{Dependency, End, FittedFrame, FittedFrames, Pose, RestPoint, Space};

/// Points of a frame: its second derivatives are one dense block.
const MOST_POINTS: usize = 400;

pub(super) fn add(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &FittedFramesSpec,
) -> Result<()> {
    let mut frames = Vec::with_capacity(spec.frames.len());
    for frame in &spec.frames {
        frames.push(fitted(builder, parents, frame)?);
    }
    super::add_mapped(builder, parents, frames.len(), FittedFrames::new(&frames)).map(drop)
}

/// A frame, fitted to its points where they start.
fn fitted(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &FittedFrameSpec,
) -> Result<FittedFrame> {
    let name = parents.user;
    let points = points(builder, parents, spec.points.as_ref())?;
    let at = Where::Field(name, "weights");
    let weights = match &spec.weights {
        Some(weights) => builder.each(weights, points.len(), at)?,
        None => vec![1.0; points.len()],
    };
    let mut rest = Vec::<RestPoint>::with_capacity(points.len());
    for (on, weight) in points.into_iter().zip(weights) {
        if !weight.is_finite() || weight <= 0.0 {
            let message = format!("a weight of `{name}` is {weight}, expected positive and finite");
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
        let place = ends::place(builder, parents, End::Element(on))?;
        rest.push((on, vec3(&place, 0).into(), weight));
    }
    let own = nodes::frame_pose(builder, name, spec.position.as_ref(), spec.rotation.as_ref())?;
    let mut pose = builder.put_pose(name, own);
    if spec.position.is_none() {
        pose.position = mean(&rest).into();
    }
    Ok(of(spec.fit, &rest, pose))
}

fn of(fit: Fit, rest: &[RestPoint], pose: Pose) -> FittedFrame {
    match fit {
        Fit::Rigid => FittedFrame::rigid(rest, pose),
        Fit::Affine => FittedFrame::affine(rest, pose),
    }
}

/// The weighted mean of points (m), to rounding of their distances.
fn mean(rest: &[RestPoint]) -> Vec3 {
    let total: f64 = rest.iter().map(|(_, _, weight)| weight).sum();
    let first = rest.first().map_or_else(Vec3::zeros, |(_, x, _)| Vec3::from(*x));
    let arms = rest
        .iter()
        .map(|(_, x, weight)| (Vec3::from(*x) - first) * (weight / total));
    first + arms.sum::<Vec3>()
}

/// The points that a frame follows, all of the first parent if none are named.
fn points(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    named: Option<&Elements<EndSpec>>,
) -> Result<Vec<Dependency>> {
    let name = parents.user;
    let points = match named {
        Some(list) => ends::elements(builder, parents, list)?,
        None => (0..builder.model.node(parents.nodes[0]).count)
            .map(|element| Dependency::new(0, element))
            .collect(),
    };
    let places = [Where::Field(name, "points"), Where::Name(name)];
    for at in &points {
        let node = builder.model.node(parents.nodes[at.parent]);
        if node.space != Space::Real(3) || node.is_amplitudes {
            let what = match node.is_amplitudes {
                true => "amplitudes of elements".to_owned(),
                false => node.space.to_string(),
            };
            let message = format!("`{name}` follows points, but `{}` has {what}", node.name);
            return builder.wrong(&places, message, None);
        }
    }
    if points.len() > MOST_POINTS {
        let message = format!(
            "a frame of `{name}` follows {} points, more than {MOST_POINTS}",
            points.len()
        );
        let advice = "a selection of some of them, such as those of a face, does as well";
        return builder.wrong(&places, message, Some(advice.into()));
    }
    Ok(points)
}
