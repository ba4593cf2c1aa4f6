//! Ropes that wrap around obstacles.

use super::bodies::{Lengths, MOST_POINTS, joint_frame, rope_points};
use super::{Builder, ParentList, Result};
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
    let lengths = Lengths {
        is_given: spec.ropes.iter().map(|rope| rope.rest.is_some()).collect(),
        mapping: WrappedRope::new,
        parts: |path| (&path.points, &mut path.rest_length),
    };
    lengths.add(builder, parents, &mut paths)
}

fn path(builder: &Builder<'_>, parents: &ParentList<'_>, spec: &WrappedRopeSpec) -> Result<WrappedPath> {
    let name = parents.user;
    let (points, rest) = rope_points(builder, parents, &spec.points, spec.rest.as_ref())?;
    let obstacles = spec.obstacles.len();
    if obstacles > MOST_POINTS {
        let message = format!("a rope of `{name}` has {obstacles} obstacles, more than {MOST_POINTS}");
        return builder.wrong(
            &[Where::Field(name, "obstacles"), Where::Name(name)],
            message,
            None,
        );
    }
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
        WrapSurfaceSpec::Ellipsoid(semi_axes) => WrapSurface::Ellipsoid {
            semi_axes: builder.triple(semi_axes, Where::Field(parents.user, "obstacles"))?,
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
