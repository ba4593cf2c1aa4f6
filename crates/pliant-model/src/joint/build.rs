//! From a joint to nodes, constraints and force fields.

use super::{Attached, Joint, JointDamping, JointHandle, JointKind, Side};
use crate::mappings::relative_pose;
use crate::validate::{check_finite, check_rigid, check_size, check_space};
use crate::{
    ComponentId, Coordinate, Damping, DiagonalCompliance, Distance, End, Field, Gear, JointAxis,
    JointCoordinates, JointFrame, Level, Mask, Model, ModelError, NodeId, NodeKind, Pose, PrescribedMotion,
    ReactionFriction, RigidPoints, Space, Treatment, UniformCompliance,
};

/// The sides of a joint as frames of the parents that a mapping needs.
pub(super) struct Frames {
    parents: Vec<NodeId>,
    frames: [JointFrame; 2],
    sides: [(Option<(NodeId, usize)>, Pose); 2],
}

impl Frames {
    /// A node of coordinates of its frames.
    pub(super) fn add_coordinates(
        &self,
        model: &mut Model,
        name: &str,
        axes: &[JointAxis],
    ) -> Result<NodeId, ModelError> {
        let [a, b] = self.frames;
        model.add_mapped(name, &self.parents, JointCoordinates::of_pairs(&[(a, b)], axes))
    }
}

/// A limit: the part of its name, where it is, and the bounds of its force.
type Limit = (&'static str, f64, (f64, f64));

/// The limits that there are of a lower and an upper one.
fn sides_of_limits(name: &str, lower: f64, upper: f64) -> Result<impl Iterator<Item = Limit>, ModelError> {
    if lower.is_nan() || upper.is_nan() || lower > upper {
        let name = name.to_owned();
        return Err(ModelError::Bounds { name, lower, upper });
    }
    let sides = [
        ("lower limit", lower, (0.0, f64::INFINITY)),
        ("upper limit", upper, (f64::NEG_INFINITY, 0.0)),
    ];
    Ok(sides.into_iter().filter(|(_, limit, _)| limit.is_finite()))
}

impl Model {
    /// Adds a joint: nodes, constraints and force fields whose names begin with its own.
    ///
    /// # Errors
    /// [`ModelError`] naming the joint or its part: a side that is no body, a coordinate that the
    /// joint does not leave free, a bad number. The model is then as before.
    pub fn add_joint(&mut self, name: &str, joint: &Joint) -> Result<JointHandle, ModelError> {
        let before = self.mark();
        let result = self.add_joint_parts(name, joint);
        match &result {
            Ok(handle) => self.list_joined(joint, handle),
            Err(_) => self.reset_to(before),
        }
        result
    }

    /// Lists what a joint keeps from meeting.
    fn list_joined(&mut self, joint: &Joint, handle: &JointHandle) {
        if let ([Some(a), Some(b)], false) = ([handle.frames[0].0, handle.frames[1].0], joint.collides) {
            self.join([a, b]);
        }
    }

    fn add_joint_parts(&mut self, name: &str, joint: &Joint) -> Result<JointHandle, ModelError> {
        let frames = self.frames_of(name, joint)?;
        let mut handle = JointHandle {
            rows: None,
            held: None,
            coordinates: Vec::new(),
            attached: Vec::new(),
            motors: Vec::new(),
            frames: frames.sides,
        };
        if joint.kind != JointKind::Ball || joint.has_coordinates || !joint.attached.is_empty() {
            handle.coordinates = self.add_free_coordinates(name, &frames, joint.kind)?;
        }
        handle.held = match joint.kind {
            JointKind::Distance { length } => Some(self.add_length(name, &frames, length)?),
            JointKind::Free => None,
            kind => Some(frames.add_held(self, name, kind)?),
        };
        handle.rows = self.add_held_rows(name, joint, handle.held)?;
        if let JointKind::Screw { pitch } = joint.kind {
            // Travel less what the turns make of it.
            check_finite(name, Field::Pitch, pitch)?;
            let (travel, turns) = (Coordinate::new(0, 0, 0), Coordinate::new(1, 0, 0));
            let thread = Gear::new(&[(travel, turns, -pitch / std::f64::consts::TAU)]);
            let parents = [handle.coordinates[0], handle.coordinates[1]];
            let node = self.add_mapped(&format!("{name}.thread"), &parents, thread)?;
            let row = self.add_constraint(&format!("{name}.thread force"), node, joint.level)?;
            handle.attached.push(row);
        }
        for (k, (axis, what)) in joint.attached.iter().enumerate() {
            match what {
                Attached::ReactionFriction { coefficient, radius } => {
                    let friction = (*coefficient, *radius);
                    self.add_reaction_friction(name, joint.kind, &frames, &mut handle, (k, friction))?;
                }
                _ => self.attach(name, joint, &mut handle, k, *axis, what)?,
            }
        }
        Ok(handle)
    }

    /// The rows of the coordinates that a joint holds, if it holds any.
    fn add_held_rows(
        &mut self,
        name: &str,
        joint: &Joint,
        held: Option<NodeId>,
    ) -> Result<Option<ComponentId>, ModelError> {
        let rows = format!("{name}.force");
        let compliances = &joint.compliances;
        let Some(held) = held else {
            check_size(name, Field::Compliances, "held coordinates", 0, compliances.len())?;
            return Ok(None);
        };
        if compliances.is_empty() {
            return self.add_constraint(&rows, held, joint.level).map(Some);
        }
        let coordinates = self.node(held).velocity_range().len();
        let compliances = match compliances[..] {
            [one] => vec![one; coordinates],
            _ => compliances.clone(),
        };
        let law = DiagonalCompliance::new(&compliances);
        let law = match joint.damping {
            JointDamping::Ratio(ratio) => law.with_damping_ratio(ratio),
            JointDamping::RelaxationTime(d) => law.with_relaxation_time(d),
        };
        self.add_force_field(&rows, held, law, Treatment::Compliance)
            .map(Some)
    }

    fn attach(
        &mut self,
        name: &str,
        joint: &Joint,
        handle: &mut JointHandle,
        k: usize,
        axis: usize,
        what: &Attached,
    ) -> Result<(), ModelError> {
        let count = handle.coordinates.len();
        let Some(node) = handle.coordinates.get(axis).copied() else {
            return Err(ModelError::FreeAxis {
                name: name.into(),
                kind: joint.kind.name(),
                axis,
                count,
            });
        };
        let named = |part: &str| format!("{name}.{part} {k}");
        let bound = |model: &mut Self, id, force: f64, part: &str| {
            if force == f64::INFINITY {
                return Ok(());
            }
            crate::validate::check_not_negative(part, Field::LargestForce, force)?;
            model.set_bounds(id, -force, force)
        };
        match what {
            Attached::Spring {
                compliance,
                damping,
                rest,
            } => {
                let part = named("spring");
                let law = damping.law(&part, *compliance)?;
                let id = self.add_force_field(&part, node, law, Treatment::Compliance)?;
                if *rest != 0.0 {
                    self.set_motion(id, Some(PrescribedMotion::constant(&[*rest])))?;
                }
                handle.attached.push(id);
            }
            Attached::Damper(b) => {
                let id =
                    self.add_force_field(&named("damper"), node, Damping::new(*b), Treatment::Stiffness)?;
                handle.attached.push(id);
            }
            Attached::PositionMotor {
                motion,
                compliance,
                relaxation_time,
                force,
            } => {
                let part = named("motor");
                let law = UniformCompliance::new(*compliance).with_relaxation_time(*relaxation_time);
                let id = self.add_force_field(&part, node, law, Treatment::Compliance)?;
                self.set_motion(id, Some(motion.clone()))?;
                bound(self, id, *force, &part)?;
                handle.attached.push(id);
                handle.motors.push(id);
            }
            Attached::VelocityMotor { motion, force } => {
                let part = named("motor");
                let id = self.add_constraint(&part, node, Level::Velocity { curvature: 0.0 })?;
                self.set_motion(id, Some(motion.clone()))?;
                bound(self, id, *force, &part)?;
                handle.attached.push(id);
                handle.motors.push(id);
            }
            Attached::Friction(force) => {
                let part = named("friction");
                let id = self.add_constraint(&part, node, Level::Velocity { curvature: 0.0 })?;
                crate::validate::check_not_negative(&part, Field::Friction, *force)?;
                self.set_bounds(id, -force, *force)?;
                handle.attached.push(id);
            }
            // It acts on all coordinates together.
            Attached::ReactionFriction { .. } => {}
            Attached::Limits {
                lower,
                upper,
                restitution,
            } => {
                for (part, limit, bounds) in sides_of_limits(&named("limits"), *lower, *upper)? {
                    let id = self.add_constraint(&named(part), node, Level::Position)?;
                    self.set_motion(id, Some(PrescribedMotion::constant(&[limit])))?;
                    self.set_bounds(id, bounds.0, bounds.1)?;
                    self.set_restitution(id, *restitution)?;
                    handle.attached.push(id);
                }
            }
            Attached::SoftLimits {
                lower,
                upper,
                compliance,
            } => {
                for (part, limit, bounds) in sides_of_limits(&named("limits"), *lower, *upper)? {
                    let part = named(part);
                    let law = UniformCompliance::new(*compliance);
                    let id = self.add_force_field(&part, node, law, Treatment::Compliance)?;
                    self.set_motion(id, Some(PrescribedMotion::constant(&[limit])))?;
                    self.set_bounds(id, bounds.0, bounds.1)?;
                    handle.attached.push(id);
                }
            }
        }
        Ok(())
    }

    /// Dry friction by the force that a joint carries: part `k` of it, with a coefficient and the
    /// radius on which it turns (m).
    fn add_reaction_friction(
        &mut self,
        name: &str,
        kind: JointKind,
        frames: &Frames,
        handle: &mut JointHandle,
        (k, (coefficient, radius)): (usize, (f64, Option<f64>)),
    ) -> Result<(), ModelError> {
        let part = format!("{name}.friction {k}");
        let refused = |reason| {
            let name = part.clone();
            ModelError::Friction { name, reason }
        };
        let (Some((axes, pressing)), Some(reaction)) = (kind.sliding(), handle.rows) else {
            return Err(refused("which of its surfaces slide on each other is not known"));
        };
        let slides = |axis: &JointAxis| matches!(axis, JointAxis::Translation(_));
        if axes.iter().all(slides) && radius.is_some() {
            return Err(refused("nothing turns in it, so it takes no radius"));
        }
        let lever = |axis: &JointAxis| match (slides(axis), radius) {
            (true, _) => Ok(1.0),
            (false, Some(radius)) => Ok(radius),
            (false, None) => Err(refused("the radius on which it turns is not given")),
        };
        let levers = axes.iter().map(lever).collect::<Result<Vec<_>, _>>()?;
        let node = match axes {
            [_] => handle.coordinates[0],
            [JointAxis::Rotation(_), ..] => match self.node_named(&format!("{name}.rotation")) {
                Some(node) => node,
                None => frames.add_coordinates(self, &format!("{name}.slip {k}"), axes)?,
            },
            _ => frames.add_coordinates(self, &format!("{name}.slip {k}"), axes)?,
        };
        let id = self.add_constraint(&part, node, Level::Velocity { curvature: 0.0 })?;
        let friction = ReactionFriction {
            reaction,
            pressing: pressing.to_vec(),
            levers,
            coefficient,
        };
        self.set_friction(id, friction)?;
        handle.attached.push(id);
        Ok(())
    }

    /// A hard gear between two scalars (free coordinates of joints, of node and element):
    /// `first + ratio second` keeps the value it has at the start. It holds positions, so that it
    /// cannot drift. Returns the node and the constraint.
    ///
    /// # Errors
    /// [`ModelError`] naming the gear.
    pub fn add_gear(
        &mut self,
        name: &str,
        first: NodeId,
        second: NodeId,
        ratio: f64,
    ) -> Result<(NodeId, ComponentId), ModelError> {
        let state = self.initial_state()?;
        for node in [first, second] {
            let entry = self.checked(name, node)?;
            let fits = entry.space == Space::Real(1) && entry.count == 1;
            check_space(name, "one scalar", entry.space, fits)?;
        }
        let at_start = self.positions(&state, first)[0] + ratio * self.positions(&state, second)[0];
        let pair = (Coordinate::new(0, 0, 0), Coordinate::new(1, 0, 0), ratio);
        let mapping = Gear::new(&[pair]).with_offset(at_start);
        let before = self.mark();
        let node = self.add_mapped(name, &[first, second], mapping)?;
        match self.add_constraint(&format!("{name}.force"), node, Level::Position) {
            Ok(id) => Ok((node, id)),
            Err(e) => {
                self.reset_to(before);
                Err(e)
            }
        }
    }

    /// A node for each free coordinate. Those of a rotation vector, which is followed as a whole,
    /// are taken from one node.
    fn add_free_coordinates(
        &mut self,
        name: &str,
        frames: &Frames,
        kind: JointKind,
    ) -> Result<Vec<NodeId>, ModelError> {
        let is_part = |axis: &JointAxis| matches!(axis, JointAxis::Rotation(_));
        let axes: Vec<JointAxis> = kind.free_axes().iter().map(|(axis, _)| *axis).collect();
        let parts: Vec<JointAxis> = axes.iter().copied().filter(is_part).collect();
        let vector = match parts.is_empty() {
            true => None,
            false => Some(frames.add_coordinates(self, &format!("{name}.rotation"), &parts)?),
        };
        let mut nodes = Vec::with_capacity(axes.len());
        for (axis, part) in kind.free_axes() {
            let own = format!("{name}.{part}");
            let place = parts.iter().position(|part| part == axis);
            nodes.push(match (vector, place) {
                (Some(vector), Some(k)) => self.add_mapped(&own, &[vector], Mask::new(&[(0, k)]))?,
                _ => frames.add_coordinates(self, &own, &[*axis])?,
            });
        }
        Ok(nodes)
    }

    /// The distance of the two origins less its rest length.
    fn add_length(&mut self, name: &str, frames: &Frames, length: Option<f64>) -> Result<NodeId, ModelError> {
        let mut parents = Vec::new();
        let mut ends = [End::Point([0.0; 3]); 2];
        let mut places = [[0.0; 3]; 2];
        for (k, (body, pose)) in frames.sides.iter().enumerate() {
            match body {
                None => {
                    ends[k] = End::Point(pose.position);
                    places[k] = pose.position;
                }
                Some((node, element)) => {
                    let point = RigidPoints::new(&[(*element, pose.position)]);
                    let part = ["first", "second"][k];
                    parents.push(self.add_mapped(&format!("{name}.{part}_point"), &[*node], point)?);
                    ends[k] = End::element(parents.len() - 1, 0);
                    places[k] = JointFrame::on(0, 0, *pose)
                        .at(&self.initial_pose(*node, *element)?)
                        .position;
                }
            }
        }
        let squares = (0..3).map(|k| (places[0][k] - places[1][k]).powi(2));
        let rest = length.unwrap_or_else(|| squares.sum::<f64>().sqrt());
        let mapping = Distance::new(&[(ends[0], ends[1])]).with_rest_lengths(&[rest]);
        self.add_mapped(&format!("{name}.length"), &parents, mapping)
    }

    fn frames_of(&self, name: &str, joint: &Joint) -> Result<Frames, ModelError> {
        joint.kind.check(name)?;
        let mut parents = Vec::new();
        let places = [joint.kind.first_frame(joint.at), joint.at];
        let mut frames = places.map(JointFrame::world);
        let mut sides = places.map(|place| (None, place));
        for (k, side) in joint.sides.iter().enumerate() {
            let (node, element, given) = match *side {
                Side::World => continue,
                Side::Fixed(pose) => {
                    frames[k] = JointFrame::world(pose);
                    sides[k] = (None, pose);
                    continue;
                }
                Side::Body(node, element) => (node, element, None),
                Side::Frame(node, element, pose) => (node, element, Some(pose)),
            };
            let entry = self.checked(name, node)?;
            check_rigid(name, entry.space)?;
            if element >= entry.count {
                let count = entry.count;
                return Err(ModelError::Element {
                    name: name.into(),
                    element,
                    count,
                });
            }
            let pose = match given {
                Some(pose) => pose,
                None => {
                    crate::mappings::check_pose(name, Field::JointPose, &joint.at)?;
                    relative_pose(&self.initial_pose(node, element)?, &places[k])
                }
            };
            let parent = parents.iter().position(|p| *p == node).unwrap_or_else(|| {
                parents.push(node);
                parents.len() - 1
            });
            frames[k] = JointFrame::on(parent, element, pose);
            sides[k] = (Some((node, element)), pose);
        }
        frames[1].pose = joint.kind.second_frame(frames[1].pose);
        Ok(Frames {
            parents,
            frames,
            sides,
        })
    }

    /// Where a body is at the start.
    fn initial_pose(&self, node: NodeId, element: usize) -> Result<Pose, ModelError> {
        let x = match &self.node(node).kind {
            NodeKind::Independent { positions, .. } => positions.as_chunks::<7>().0[element],
            NodeKind::Mapped { .. } => {
                let state = self.initial_state()?;
                self.positions(&state, node).as_chunks::<7>().0[element]
            }
        };
        Ok(Pose {
            position: [x[0], x[1], x[2]],
            rotation: crate::space::quaternion(&x),
        })
    }
}
