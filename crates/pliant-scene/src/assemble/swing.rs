//! Limits of ball joints: a cone about the axis of the first side, and the twist about that of the
//! second.

use super::{Builder, Result};
use crate::schema::{JointKindSpec, JointSpec};
use crate::source::Where;
use pliant::model::{JointAxis, JointCoordinates, JointFrame, JointHandle, Level, NodeId, PrescribedMotion};

/// The axis of a joint.
const Z: usize = 2;

/// The limits of a ball joint.
#[derive(Clone, Copy, Default)]
pub(super) struct Swing {
    /// The cosine of the largest angle between both axes.
    cone: Option<f64>,
    /// The least and the largest twist (rad).
    twist: Option<[Option<f64>; 2]>,
}

impl Swing {
    /// Nodes and rows that the limits are.
    pub(super) fn rows(self) -> usize {
        let twist = self
            .twist
            .map_or(0, |limits| limits.iter().flatten().count().saturating_add(1));
        twist.saturating_add(if self.cone.is_some() { 2 } else { 0 })
    }
}

/// Reads the limits of a ball joint.
pub(super) fn read(builder: &Builder<'_>, spec: &JointSpec) -> Result<Swing> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    for (is_given, key) in [(spec.cone.is_some(), "cone"), (spec.twist.is_some(), "twist")] {
        if is_given && !matches!(spec.kind, JointKindSpec::Ball) {
            let message = format!("`{key}` is of ball joints, and `{name}` is none");
            let help = "`limits` are of the free coordinates of the others".to_owned();
            return builder.wrong(&[field(key), Where::Name(name)], message, Some(help));
        }
    }
    let mut swing = Swing::default();
    if let Some(cone) = &spec.cone {
        let angle = builder.number(cone, field("cone"))?;
        if !(angle > 0.0 && angle < std::f64::consts::PI) {
            let message = format!("`cone` of `{name}` is {angle} rad, but must be between 0 and pi");
            return builder.wrong(&[field("cone"), Where::Name(name)], message, None);
        }
        swing.cone = Some(angle.cos());
    }
    if let Some(twist) = &spec.twist {
        let mut limits = [None; 2];
        for (limit, number) in limits.iter_mut().zip([&twist.lower, &twist.upper]) {
            if let Some(number) = number {
                *limit = Some(builder.number(number, field("twist"))?);
            }
        }
        if let [Some(lower), Some(upper)] = limits
            && lower > upper
        {
            let message =
                format!("the limits of `twist` of `{name}` are {lower} and {upper}: nothing is between them");
            return builder.wrong(&[field("twist"), Where::Name(name)], message, None);
        }
        swing.twist = Some(limits);
    }
    Ok(swing)
}

/// Adds the limits to a joint that was made: `name.cone`, the cosine of the angle between both
/// axes, and `name.twist`, with a row for each limit.
pub(super) fn add(
    builder: &mut Builder<'_>,
    name: &str,
    swing: Swing,
    handle: &mut JointHandle,
) -> Result<()> {
    if let Some(cosine) = swing.cone {
        let node = coordinate(
            builder,
            &format!("{name}.cone"),
            handle,
            JointAxis::Misalignment(Z, Z),
        )?;
        limit(builder, &format!("{name}.cone limit"), node, cosine, true, handle)?;
    }
    if let Some(limits) = swing.twist {
        let node = coordinate(builder, &format!("{name}.twist"), handle, JointAxis::Twist(Z))?;
        for (value, part) in limits.into_iter().zip(["lower", "upper"]) {
            if let Some(value) = value {
                let row = format!("{name}.{part} twist limit");
                limit(builder, &row, node, value, part == "lower", handle)?;
            }
        }
    }
    Ok(())
}

fn coordinate(
    builder: &mut Builder<'_>,
    name: &str,
    handle: &JointHandle,
    axis: JointAxis,
) -> Result<NodeId> {
    let mut parents: Vec<NodeId> = Vec::new();
    let frames = handle.frames.map(|(body, pose)| match body {
        None => JointFrame::world(pose),
        Some((node, element)) => {
            let parent = parents
                .iter()
                .position(|parent| *parent == node)
                .unwrap_or(parents.len());
            if parent == parents.len() {
                parents.push(node);
            }
            JointFrame::on(parent, element, pose)
        }
    });
    let mapping = JointCoordinates::of_pairs(&[(frames[0], frames[1])], &[axis]);
    let added = builder.model.add_mapped(name, &parents, mapping);
    added.map_err(|error| builder.model_error(error))
}

/// A row that keeps a coordinate from going below a value, or above it.
fn limit(
    builder: &mut Builder<'_>,
    name: &str,
    node: NodeId,
    value: f64,
    is_lower: bool,
    handle: &mut JointHandle,
) -> Result<()> {
    let bounds = match is_lower {
        true => (0.0, f64::INFINITY),
        false => (f64::NEG_INFINITY, 0.0),
    };
    let made = builder
        .model
        .add_constraint(name, node, Level::Position)
        .and_then(|row| {
            builder
                .model
                .set_motion(row, Some(PrescribedMotion::constant(&[value])))?;
            builder.model.set_bounds(row, bounds.0, bounds.1)?;
            Ok(row)
        });
    let row = made.map_err(|error| builder.model_error(error))?;
    handle.attached.push(row);
    Ok(())
}
