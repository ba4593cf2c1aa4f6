//! Ropes that wrap around obstacles.

use super::bodies::{MOST_POINTS, joint_frame};
use super::{Builder, ParentList, Result};
use crate::assemble::ends;
use crate::schema::{ObstacleSpec, WrapSideSpec, WrapSurfaceSpec, WrappedRopeSpec, WrappedRopesSpec};
use crate::source::Where;
use pliant::model::{JointFrame, Obstacle, Pose, WrapSide, WrapSurface, WrappedPath, WrappedRope};

/// Adds the lengths, and draws each rope through its points.
pub(super) fn add(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &WrappedRopesSpec,
) -> Result<()> {
    let mut paths = Vec::with_capacity(spec.ropes.len());
    for rope in &spec.ropes {
        paths.push(path(builder, parents, rope)?);
    }
    if spec.ropes.iter().any(|rope| rope.rest.is_none()) {
        let mapping = WrappedRope::new(&paths);
        let lengths = super::initial_values(builder, parents, paths.len(), mapping)?;
        for ((path, rope), length) in paths.iter_mut().zip(&spec.ropes).zip(lengths) {
            if rope.rest.is_none() {
                path.rest_length = length;
            }
        }
    }
    let node = super::add_mapped(builder, parents, paths.len(), WrappedRope::new(&paths))?;
    for (element, path) in paths.iter().enumerate() {
        let pairs: Vec<_> = path.points.windows(2).map(|w| (w[0], w[1])).collect();
        super::draw_element(builder, parents, (node, element), &pairs);
    }
    Ok(())
}

/// A rope; its rest length is zero where none is given.
fn path(builder: &Builder<'_>, parents: &ParentList<'_>, spec: &WrappedRopeSpec) -> Result<WrappedPath> {
    let name = parents.user;
    let many = spec.points.len().max(spec.obstacles.len());
    if many > MOST_POINTS {
        let message = format!("a rope of `{name}` has {many} points or obstacles, more than {MOST_POINTS}");
        return builder.wrong(&[Where::Field(name, "points"), Where::Name(name)], message, None);
    }
    let points = spec.points.iter().map(|end| ends::end(builder, parents, end));
    let points = points.collect::<Result<Vec<_>>>()?;
    let rest = match &spec.rest {
        Some(rest) => builder.number(rest, Where::Field(name, "rest"))?,
        None => 0.0,
    };
    let mut path = WrappedPath::through(&points, rest);
    for each in &spec.obstacles {
        let at = Where::Field(name, "after");
        let after = builder.whole(&each.after, 0, MOST_POINTS, at)?;
        path = path.around(after, obstacle(builder, parents, each)?);
    }
    Ok(path)
}

fn obstacle(builder: &Builder<'_>, parents: &ParentList<'_>, spec: &ObstacleSpec) -> Result<Obstacle> {
    let frame = match &spec.frame {
        Some(frame) => joint_frame(builder, parents, frame)?,
        None => JointFrame::world(builder.put_pose(parents.user, Pose::default())),
    };
    let radius = |r| builder.number(r, Where::Field(parents.user, "obstacles"));
    let surface = match &spec.surface {
        WrapSurfaceSpec::Sphere(r) => WrapSurface::Sphere { radius: radius(r)? },
        WrapSurfaceSpec::Cylinder(cylinder) => WrapSurface::Cylinder {
            radius: radius(&cylinder.radius)?,
            side: side(builder, parents, &cylinder.side)?,
        },
    };
    Ok(Obstacle { frame, surface })
}

fn side(builder: &Builder<'_>, parents: &ParentList<'_>, spec: &WrapSideSpec) -> Result<WrapSide> {
    let direction = |numbers| builder.triple(numbers, Where::Field(parents.user, "side"));
    Ok(match spec {
        WrapSideSpec::Shortest => WrapSide::Shortest,
        WrapSideSpec::Over(d) => WrapSide::Over(direction(d)?),
        WrapSideSpec::RightHanded(d) => WrapSide::RightHanded(direction(d)?),
        WrapSideSpec::LeftHanded(d) => WrapSide::LeftHanded(direction(d)?),
    })
}
