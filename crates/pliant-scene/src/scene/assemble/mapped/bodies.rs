//! Mappings of bodies, joints and ropes.

use super::{Builder, ParentList, Result, Spec, quaternion};
use crate::scene::Number;
use crate::scene::schema::{
    AxisSpec, BeamStrainSpec, Chart, FrameSpec, GearMappingSpec, HeadingSpec, JointCoordinatesSpec,
    RelativePoseSpec, RestPose, RigidFramesSpec, RopeSpec, RopesSpec, SkinningSpec, WinchSpec,
};
use crate::scene::source::Where;
use pliant::dense::rotation::{conjugate, multiply, rotate};
use pliant::dense::{Vec3, vec3};
use pliant::model::{
    BeamSegment, BeamStrain, Coordinate, Dependency, End, Gear, JointAxis, JointCoordinates, JointFrame,
    Pose, RelativePose, RigidFrames, Rope, RopePath, Skinning, Space, Winch,
};

/// Points of a rope: its second derivatives are one dense block.
const MOST_POINTS: usize = 1000;

impl Builder<'_> {
    /// Mappings of bodies, joints and ropes; others are left alone.
    pub(super) fn mapped_bodies(&mut self, parents: &ParentList<'_>, spec: &Spec) -> Result<()> {
        match spec {
            Spec::BeamStrain(spec) => self.beam_strain(parents, spec),
            Spec::Gear(spec) => self.gear_mapping(parents, spec),
            Spec::JointCoordinates(spec) => self.joint_coordinates(parents, spec),
            Spec::RelativePose(spec) => self.relative_pose(parents, spec),
            Spec::RigidFrames(spec) => self.rigid_frames(parents, spec),
            Spec::Rope(spec) => self.ropes(parents, spec),
            Spec::Skinning(spec) => self.skinning(parents, spec),
            Spec::Winch(spec) => self.winch(parents, spec),
            _ => Ok(()),
        }
    }

    fn frame(&self, parents: &ParentList<'_>, spec: &FrameSpec) -> Result<JointFrame> {
        let pose = self.frame_pose(parents.user, spec.position.as_ref(), spec.rotation.as_ref())?;
        let on = match &spec.body {
            Some(body) => Some(self.body_of(parents, self.element(parents, body)?)?),
            None => None,
        };
        Ok(JointFrame { on, pose })
    }

    fn frames(
        &self,
        parents: &ParentList<'_>,
        pairs: &[(FrameSpec, FrameSpec)],
    ) -> Result<Vec<(JointFrame, JointFrame)>> {
        let both = |(a, b): &(FrameSpec, FrameSpec)| Ok((self.frame(parents, a)?, self.frame(parents, b)?));
        pairs.iter().map(both).collect()
    }

    /// Checks that an element is a body.
    fn body_of(&self, parents: &ParentList<'_>, at: Dependency) -> Result<Dependency> {
        let node = self.model.node(parents.nodes[at.parent]);
        if node.space == Space::Rigid3 {
            return Ok(at);
        }
        let message = format!(
            "`{}` needs bodies, but `{}` has {}",
            parents.user, node.name, node.space
        );
        let places = [Where::Field(parents.user, "parents"), Where::Name(parents.user)];
        self.wrong(&places, message, None)
    }

    /// The pose of a body at the start; the origin if there is no such element, of which the model
    /// will complain.
    fn initial_pose(&mut self, parents: &ParentList<'_>, at: Option<Dependency>) -> Result<Pose> {
        let Some(at) = at else {
            return Ok(Pose::default());
        };
        let numbers = self.place(parents, End::Element(at))?;
        Ok(Pose {
            position: [numbers[0], numbers[1], numbers[2]],
            rotation: quaternion(&numbers),
        })
    }

    fn rigid_frames(&mut self, parents: &ParentList<'_>, spec: &RigidFramesSpec) -> Result<()> {
        let mut frames = Vec::with_capacity(spec.frames.len());
        for frame in &spec.frames {
            let frame = self.frame(parents, frame)?;
            let Some(on) = frame.on else {
                let message = format!("a frame of `{}` has no `body` to ride on", parents.user);
                let places = [Where::Field(parents.user, "frames"), Where::Name(parents.user)];
                return self.wrong(&places, message, None);
            };
            frames.push((on, frame.pose));
        }
        let mapping = RigidFrames::of_parents(&frames);
        self.add_mapped(parents, frames.len(), mapping).map(drop)
    }

    fn relative_pose(&mut self, parents: &ParentList<'_>, spec: &RelativePoseSpec) -> Result<()> {
        let pairs = self.frames(parents, &spec.pairs)?;
        let mut mapping = match spec.chart {
            Chart::Split => RelativePose::split(&pairs),
            Chart::Twist => RelativePose::twist(&pairs),
        };
        if matches!(spec.rest, RestPose::Initial) {
            let mut rests = Vec::with_capacity(pairs.len());
            for (a, b) in &pairs {
                let a = a.at(&self.initial_pose(parents, a.on)?);
                let b = b.at(&self.initial_pose(parents, b.on)?);
                let between = Vec3::from(b.position) - Vec3::from(a.position);
                rests.push(Pose {
                    position: rotate(conjugate(a.rotation), between).into(),
                    rotation: multiply(conjugate(a.rotation), b.rotation),
                });
            }
            mapping = mapping.with_rest_poses(&rests);
        }
        self.add_mapped(parents, pairs.len(), mapping).map(drop)
    }

    fn joint_coordinates(&mut self, parents: &ParentList<'_>, spec: &JointCoordinatesSpec) -> Result<()> {
        let pairs = self.frames(parents, &spec.pairs)?;
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
        };
        let axes: Vec<_> = spec.axes.iter().map(axis).collect();
        let mapping = JointCoordinates::of_pairs(&pairs, &axes);
        self.add_mapped(parents, pairs.len(), mapping).map(drop)
    }

    fn beam_strain(&mut self, parents: &ParentList<'_>, spec: &BeamStrainSpec) -> Result<()> {
        let mut segments = Vec::new();
        match &spec.segments {
            Some(list) => {
                for segment in list {
                    let (a, b) = (self.frame(parents, &segment.a)?, self.frame(parents, &segment.b)?);
                    segments.push(match &segment.length {
                        Some(length) => {
                            let length = self.positive(length, Where::Field(parents.user, "length"))?;
                            BeamSegment::straight(a, b, length)
                        }
                        None => self.resting_segment(parents, a, b)?,
                    });
                }
            }
            None => {
                self.body_of(parents, Dependency::new(0, 0))?;
                for k in 1..self.model.node(parents.nodes[0]).count {
                    let [a, b] = [k - 1, k].map(|e| JointFrame::on(0, e, Pose::default()));
                    segments.push(self.resting_segment(parents, a, b)?);
                }
            }
        }
        let mapping = BeamStrain::new(&segments);
        self.add_mapped(parents, segments.len(), mapping).map(drop)
    }

    /// A segment without strain at the start.
    fn resting_segment(
        &mut self,
        parents: &ParentList<'_>,
        a: JointFrame,
        b: JointFrame,
    ) -> Result<BeamSegment> {
        let poses = [
            self.initial_pose(parents, a.on)?,
            self.initial_pose(parents, b.on)?,
        ];
        let [p, q] = [a.at(&poses[0]), b.at(&poses[1])].map(|pose| vec3(&pose.position, 0));
        if (p - q).norm() == 0.0 {
            let message = format!("a segment of `{}` has length zero at the start", parents.user);
            let places = [Where::Field(parents.user, "segments"), Where::Name(parents.user)];
            return self.wrong(&places, message, None);
        }
        Ok(BeamSegment::at_rest(a, b, &poses[0], &poses[1]))
    }

    fn skinning(&mut self, parents: &ParentList<'_>, spec: &SkinningSpec) -> Result<()> {
        let at = Where::Field(parents.user, "points");
        let (mut points, mut bodies, mut weights) =
            (Vec::new(), Vec::<(Dependency, Pose)>::new(), Vec::new());
        for (point, list) in &spec.points {
            points.push(self.triple(point, at)?);
            let mut shares = Vec::with_capacity(list.len());
            for (end, weight) in list {
                let body = self.element(parents, end)?;
                let body = self.body_of(parents, body)?;
                bodies.push((body, self.initial_pose(parents, Some(body))?));
                shares.push((bodies.len() - 1, self.number(weight, at)?));
            }
            weights.push(shares);
        }
        let mapping = Skinning::at_rest(&points, &bodies, &weights);
        self.add_shown(parents, points.len(), mapping)
    }

    fn ropes(&mut self, parents: &ParentList<'_>, spec: &RopesSpec) -> Result<()> {
        let mut paths = Vec::with_capacity(spec.ropes.len());
        for rope in &spec.ropes {
            paths.push(self.rope(parents, rope)?);
        }
        if spec.ropes.iter().any(|rope| rope.rest.is_none()) {
            let lengths = self.initial_values(parents, paths.len(), Rope::new(&paths))?;
            for ((path, rope), length) in paths.iter_mut().zip(&spec.ropes).zip(lengths) {
                if rope.rest.is_none() {
                    path.rest_length = length;
                }
            }
        }
        self.add_mapped(parents, paths.len(), Rope::new(&paths))?;
        for path in &paths {
            let pairs: Vec<_> = path.points.windows(2).map(|w| (w[0], w[1])).collect();
            self.draw_pairs(parents, &pairs);
        }
        Ok(())
    }

    /// A rope; its rest length is zero where none is given.
    fn rope(&self, parents: &ParentList<'_>, spec: &RopeSpec) -> Result<RopePath> {
        let name = parents.user;
        if spec.points.len() > MOST_POINTS {
            let message = format!(
                "a rope of `{name}` has {} points, more than {MOST_POINTS}",
                spec.points.len()
            );
            return self.wrong(&[Where::Field(name, "points"), Where::Name(name)], message, None);
        }
        let points = spec.points.iter().map(|end| self.end(parents, end));
        let points = points.collect::<Result<Vec<_>>>()?;
        let rest = match &spec.rest {
            Some(rest) => self.number(rest, Where::Field(name, "rest"))?,
            None => 0.0,
        };
        let mut path = RopePath::through(&points, rest);
        for drum in &spec.drums {
            let angle = self.element(parents, &drum.angle)?;
            let angle = self.coordinate(parents, angle, &drum.coordinate)?;
            path = path.with_drum(angle, self.number(&drum.radius, Where::Field(name, "radius"))?);
        }
        Ok(path)
    }

    fn coordinate(&self, parents: &ParentList<'_>, on: Dependency, index: &Number) -> Result<Coordinate> {
        let index = self.whole(index, 0, 64, Where::Field(parents.user, "mapping"))?;
        Ok(Coordinate { on, index })
    }

    fn gear_mapping(&mut self, parents: &ParentList<'_>, spec: &GearMappingSpec) -> Result<()> {
        let mut pairs = Vec::with_capacity(spec.pairs.len());
        for pair in &spec.pairs {
            let (first, second) = (
                self.element(parents, &pair.first)?,
                self.element(parents, &pair.second)?,
            );
            pairs.push((
                self.coordinate(parents, first, &pair.coordinates.0)?,
                self.coordinate(parents, second, &pair.coordinates.1)?,
                self.number(&pair.ratio, Where::Field(parents.user, "ratio"))?,
            ));
        }
        let offset = self.number(&spec.offset, Where::Field(parents.user, "offset"))?;
        let mapping = Gear::new(&pairs).with_offset(offset);
        self.add_mapped(parents, pairs.len(), mapping).map(drop)
    }

    fn winch(&mut self, parents: &ParentList<'_>, spec: &WinchSpec) -> Result<()> {
        let mut drums = Vec::with_capacity(spec.drums.len());
        for drum in &spec.drums {
            let (angle, length) = (
                self.element(parents, &drum.angle)?,
                self.element(parents, &drum.length)?,
            );
            drums.push((
                self.coordinate(parents, angle, &drum.coordinates.0)?,
                self.coordinate(parents, length, &drum.coordinates.1)?,
                self.number(&drum.radius, Where::Field(parents.user, "radius"))?,
            ));
        }
        let offset = self.number(&spec.offset, Where::Field(parents.user, "offset"))?;
        let mapping = Winch::new(&drums).with_offset(offset);
        self.add_mapped(parents, drums.len(), mapping).map(drop)
    }
}
