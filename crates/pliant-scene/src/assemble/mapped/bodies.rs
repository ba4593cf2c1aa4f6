//! Mappings of bodies, joints and ropes.

use super::{Builder, ParentList, Result, Spec, quaternion};
use crate::Amount;
use crate::assemble::{ends, nodes};
use crate::number::EndSpec;
use crate::quantity::{Length, Quantity};
use crate::schema::{
    AxisSpec, BeamStrainSpec, Chart, FrameSpec, GearMappingSpec, HeadingSpec, JointCoordinatesSpec,
    RelativePoseSpec, RestPose, RigidFramesSpec, RopeSpec, RopesSpec, SkinningSpec, WinchSpec,
};
use crate::source::Where;
use pliant::dense::rotation::{conjugate, multiply, rotate};
use pliant::dense::{Vec3, vec3};
use pliant::model::{
    BeamSegment, BeamStrain, Coordinate, Dependency, End, Gear, JointAxis, JointCoordinates, JointFrame,
    Mapping, Pose, RelativePose, RigidFrames, Rope, RopePath, Skinning, Space, Winch,
};

/// Points of a rope: its second derivatives are one dense block.
pub(super) const MOST_POINTS: usize = 1000;

/// Mappings of bodies, joints and ropes; others are left alone.
pub(super) fn mapped_bodies(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &Spec) -> Result<()> {
    match spec {
        Spec::BeamStrain(spec) => add_beam_strain(builder, parents, spec),
        Spec::Gear(spec) => add_gear(builder, parents, spec),
        Spec::JointCoordinates(spec) => add_joint_coordinates(builder, parents, spec),
        Spec::RelativePose(spec) => add_relative_pose(builder, parents, spec),
        Spec::RigidFrames(spec) => add_rigid_frames(builder, parents, spec),
        Spec::Rope(spec) => add_ropes(builder, parents, spec),
        Spec::Skinning(spec) => add_skinning(builder, parents, spec),
        Spec::Winch(spec) => add_winch(builder, parents, spec),
        _ => Ok(()),
    }
}

pub(super) fn joint_frame(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    spec: &FrameSpec,
) -> Result<JointFrame> {
    let pose = nodes::frame_pose(
        builder,
        parents.user,
        spec.position.as_ref(),
        spec.rotation.as_ref(),
    )?;
    let on = match &spec.body {
        Some(body) => Some(body_of(builder, parents, ends::element(builder, parents, body)?)?),
        None => None,
    };
    let pose = match on {
        Some(_) => pose,
        None => builder.put_pose(parents.user, pose),
    };
    Ok(JointFrame { on, pose })
}

fn frames(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    pairs: &[(FrameSpec, FrameSpec)],
) -> Result<Vec<(JointFrame, JointFrame)>> {
    let both = |(a, b): &(FrameSpec, FrameSpec)| {
        Ok((
            joint_frame(builder, parents, a)?,
            joint_frame(builder, parents, b)?,
        ))
    };
    pairs.iter().map(both).collect()
}

/// Checks that an element is a body.
fn body_of(builder: &Builder<'_>, parents: &ParentList<'_>, at: Dependency) -> Result<Dependency> {
    let node = builder.model.node(parents.nodes[at.parent]);
    if node.space == Space::Rigid3 {
        return Ok(at);
    }
    let message = format!(
        "`{}` needs bodies, but `{}` has {}",
        parents.user, node.name, node.space
    );
    let places = [Where::Field(parents.user, "parents"), Where::Name(parents.user)];
    builder.wrong(&places, message, None)
}

/// The pose of a body at the start; the origin if there is no such element, of which the model
/// will complain.
fn initial_pose(builder: &mut Builder<'_>, parents: &ParentList<'_>, at: Option<Dependency>) -> Result<Pose> {
    let Some(at) = at else {
        return Ok(Pose::default());
    };
    let numbers = ends::place(builder, parents, End::Element(at))?;
    Ok(Pose {
        position: [numbers[0], numbers[1], numbers[2]],
        rotation: quaternion(&numbers),
    })
}

fn add_rigid_frames(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &RigidFramesSpec,
) -> Result<()> {
    let mut frames = Vec::with_capacity(spec.frames.len());
    for frame in &spec.frames {
        let frame = joint_frame(builder, parents, frame)?;
        let Some(on) = frame.on else {
            let message = format!("a frame of `{}` has no `body` to ride on", parents.user);
            let places = [Where::Field(parents.user, "frames"), Where::Name(parents.user)];
            return builder.wrong(&places, message, None);
        };
        frames.push((on, frame.pose));
    }
    let mapping = RigidFrames::of_parents(&frames);
    super::add_mapped(builder, parents, frames.len(), mapping).map(drop)
}

fn add_relative_pose(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &RelativePoseSpec,
) -> Result<()> {
    let pairs = frames(builder, parents, &spec.pairs)?;
    let mut mapping = match spec.chart {
        Chart::Split => RelativePose::split(&pairs),
        Chart::Twist => RelativePose::twist(&pairs),
    };
    if matches!(spec.rest, RestPose::Initial) {
        let mut rests = Vec::with_capacity(pairs.len());
        for (a, b) in &pairs {
            let a = a.at(&initial_pose(builder, parents, a.on)?);
            let b = b.at(&initial_pose(builder, parents, b.on)?);
            let between = Vec3::from(b.position) - Vec3::from(a.position);
            rests.push(Pose {
                position: rotate(conjugate(a.rotation), between).into(),
                rotation: multiply(conjugate(a.rotation), b.rotation),
            });
        }
        mapping = mapping.with_rest_poses(&rests);
    }
    super::add_mapped(builder, parents, pairs.len(), mapping).map(drop)
}

fn add_joint_coordinates(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &JointCoordinatesSpec,
) -> Result<()> {
    let pairs = frames(builder, parents, &spec.pairs)?;
    let heading = |h: &HeadingSpec| (h.about.index(), h.of.index());
    let axis = |axis: &AxisSpec| match axis {
        AxisSpec::Translation(k) => JointAxis::Translation(k.index()),
        AxisSpec::Rotation(k) => JointAxis::Rotation(k.index()),
        AxisSpec::Misalignment(i, j) => JointAxis::Misalignment(i.index(), j.index()),
        AxisSpec::Twist(k) => JointAxis::Twist(k.index()),
        AxisSpec::HeadingInA(h) => {
            let (about, of) = heading(h);
            JointAxis::HeadingInA { about, of }
        }
        AxisSpec::HeadingInB(h) => {
            let (about, of) = heading(h);
            JointAxis::HeadingInB { about, of }
        }
        AxisSpec::Elevation(e) => JointAxis::Elevation {
            of: e.of.index(),
            against: e.against.index(),
        },
    };
    let axes: Vec<_> = spec.axes.iter().map(axis).collect();
    let mapping = JointCoordinates::of_pairs(&pairs, &axes);
    super::add_mapped(builder, parents, pairs.len(), mapping).map(drop)
}

fn add_beam_strain(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &BeamStrainSpec) -> Result<()> {
    let mut segments = Vec::new();
    match &spec.segments {
        Some(list) => {
            for segment in list {
                let (a, b) = (
                    joint_frame(builder, parents, &segment.a)?,
                    joint_frame(builder, parents, &segment.b)?,
                );
                segments.push(match &segment.length {
                    Some(length) => {
                        let length = builder.positive(length, Where::Field(parents.user, "length"))?;
                        BeamSegment::straight(a, b, length)
                    }
                    None => resting_segment(builder, parents, a, b)?,
                });
            }
        }
        None => {
            body_of(builder, parents, Dependency::new(0, 0))?;
            for pair in ends::neighbours(builder.model.node(parents.nodes[0]).count) {
                let [a, b] = pair.map(|e| JointFrame::on(0, e, Pose::default()));
                segments.push(resting_segment(builder, parents, a, b)?);
            }
        }
    }
    let mapping = BeamStrain::new(&segments);
    super::add_mapped(builder, parents, segments.len(), mapping).map(drop)
}

/// A segment without strain at the start.
fn resting_segment(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    a: JointFrame,
    b: JointFrame,
) -> Result<BeamSegment> {
    let poses = [
        initial_pose(builder, parents, a.on)?,
        initial_pose(builder, parents, b.on)?,
    ];
    let [p, q] = [a.at(&poses[0]), b.at(&poses[1])].map(|pose| vec3(&pose.position, 0));
    if (p - q).norm() == 0.0 {
        let message = format!("a segment of `{}` has length zero at the start", parents.user);
        let places = [Where::Field(parents.user, "segments"), Where::Name(parents.user)];
        return builder.wrong(&places, message, None);
    }
    Ok(BeamSegment::at_rest(a, b, &poses[0], &poses[1]))
}

fn add_skinning(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &SkinningSpec) -> Result<()> {
    let at = Where::Field(parents.user, "points");
    let (mut points, mut bodies, mut weights) = (Vec::new(), Vec::<(Dependency, Pose)>::new(), Vec::new());
    for (point, list) in &spec.points {
        points.push(builder.place(point, at)?);
        let mut shares = Vec::with_capacity(list.len());
        for (end, weight) in list {
            let body = ends::element(builder, parents, end)?;
            let body = body_of(builder, parents, body)?;
            shares.push((bodies.len(), builder.number(weight, at)?));
            bodies.push((body, initial_pose(builder, parents, Some(body))?));
        }
        weights.push(shares);
    }
    let mapping = Skinning::at_rest(&points, &bodies, &weights);
    super::points::add_shown(builder, parents, points.len(), mapping)
}

fn add_ropes(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &RopesSpec) -> Result<()> {
    let mut paths = Vec::with_capacity(spec.ropes.len());
    for rope in &spec.ropes {
        paths.push(rope_path(builder, parents, rope)?);
    }
    let lengths = Lengths {
        is_given: spec.ropes.iter().map(|rope| rope.rest.is_some()).collect(),
        mapping: Rope::new,
        parts: |path| (&path.points, &mut path.rest_length),
    };
    lengths.add(builder, parents, &mut paths)
}

/// Ropes of a kind of path that a mapping gives the lengths of.
pub(super) struct Lengths<P, M> {
    /// Whether the rest length of each rope is given.
    pub(super) is_given: Vec<bool>,
    pub(super) mapping: fn(&[P]) -> M,
    /// Points and rest length of a path.
    pub(super) parts: fn(&mut P) -> (&[End], &mut f64),
}

impl<P, M: Mapping + 'static> Lengths<P, M> {
    /// Adds the lengths, at rest as at the start where nothing else is given, and draws each rope
    /// through its points.
    pub(super) fn add(
        &self,
        builder: &mut Builder<'_>,
        parents: &ParentList<'_>,
        paths: &mut [P],
    ) -> Result<()> {
        if self.is_given.contains(&false) {
            let mapping = (self.mapping)(paths);
            let lengths = super::initial_values(builder, parents, paths.len(), mapping)?;
            for ((path, is_given), length) in paths.iter_mut().zip(&self.is_given).zip(lengths) {
                if !is_given {
                    *(self.parts)(path).1 = length;
                }
            }
        }
        let node = super::add_mapped(builder, parents, paths.len(), (self.mapping)(paths))?;
        for (element, path) in paths.iter_mut().enumerate() {
            let points = (self.parts)(path).0;
            let pairs: Vec<_> = points.windows(2).map(|w| (w[0], w[1])).collect();
            super::draw_element(builder, parents, (node, element), &pairs);
        }
        Ok(())
    }
}

/// The points of a rope, and its rest length, zero where none is given.
pub(super) fn rope_points(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    points: &[EndSpec],
    rest: Option<&Quantity<Length>>,
) -> Result<(Vec<End>, f64)> {
    let name = parents.user;
    if points.len() > MOST_POINTS {
        let message = format!(
            "a rope of `{name}` has {} points, more than {MOST_POINTS}",
            points.len()
        );
        return builder.wrong(&[Where::Field(name, "points"), Where::Name(name)], message, None);
    }
    let points = points.iter().map(|end| ends::end(builder, parents, end));
    let points = points.collect::<Result<Vec<_>>>()?;
    let rest = match rest {
        Some(rest) => builder.number(rest, Where::Field(name, "rest"))?,
        None => 0.0,
    };
    Ok((points, rest))
}

fn rope_path(builder: &Builder<'_>, parents: &ParentList<'_>, spec: &RopeSpec) -> Result<RopePath> {
    let name = parents.user;
    let (points, rest) = rope_points(builder, parents, &spec.points, spec.rest.as_ref())?;
    let mut path = RopePath::through(&points, rest);
    for drum in &spec.drums {
        let angle = ends::element(builder, parents, &drum.angle)?;
        let angle = coordinate(builder, parents, angle, &drum.coordinate)?;
        path = path.with_drum(angle, builder.number(&drum.radius, Where::Field(name, "radius"))?);
    }
    Ok(path)
}

fn coordinate(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    on: Dependency,
    index: &Amount,
) -> Result<Coordinate> {
    let index = builder.whole(index, 0, 64, Where::Field(parents.user, "mapping"))?;
    Ok(Coordinate { on, index })
}

fn add_gear(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &GearMappingSpec) -> Result<()> {
    let mut pairs = Vec::with_capacity(spec.pairs.len());
    for pair in &spec.pairs {
        let (first, second) = (
            ends::element(builder, parents, &pair.first)?,
            ends::element(builder, parents, &pair.second)?,
        );
        pairs.push((
            coordinate(builder, parents, first, &pair.coordinates.0)?,
            coordinate(builder, parents, second, &pair.coordinates.1)?,
            builder.number(&pair.ratio, Where::Field(parents.user, "ratio"))?,
        ));
    }
    let offset = builder.number(&spec.offset, Where::Field(parents.user, "offset"))?;
    let mapping = Gear::new(&pairs).with_offset(offset);
    super::add_mapped(builder, parents, pairs.len(), mapping).map(drop)
}

fn add_winch(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &WinchSpec) -> Result<()> {
    let mut drums = Vec::with_capacity(spec.drums.len());
    for drum in &spec.drums {
        let (angle, length) = (
            ends::element(builder, parents, &drum.angle)?,
            ends::element(builder, parents, &drum.length)?,
        );
        drums.push((
            coordinate(builder, parents, angle, &drum.coordinates.0)?,
            coordinate(builder, parents, length, &drum.coordinates.1)?,
            builder.number(&drum.radius, Where::Field(parents.user, "radius"))?,
        ));
    }
    let offset = builder.number(&spec.offset, Where::Field(parents.user, "offset"))?;
    let mapping = Winch::new(&drums).with_offset(offset);
    super::add_mapped(builder, parents, drums.len(), mapping).map(drop)
}
