//! Joints and gears.

use super::values::{MOST_ELEMENTS, describe, owner};
use super::{Builder, Result};
use crate::scene::OneOrMany;
use crate::scene::schema::{
    GearSpec, JointKindSpec, JointSpec, LevelSpec, MotorSpec, Scene, SideFrameSpec, SideSpec,
};
use crate::scene::source::Where;
use crate::scene::{Number, suggest};
use pliant::dense::rotation::{self, Quaternion, multiply, rotate};
use pliant::dense::{Vec3, vec3};
use pliant::model::{Joint, JointKind, NodeId, Pose, Side, Space};

impl Builder<'_> {
    /// Makes the joints that these names are coordinates of, if they are not made yet.
    pub(super) fn joints_of(&mut self, names: &[String]) -> Result<()> {
        let scene = self.scene;
        for name in names {
            let is_of =
                |joint: &JointSpec| name.strip_prefix(&joint.name).is_some_and(|r| r.starts_with('.'));
            if self.model.node_named(name).is_none()
                && let Some(index) = scene.joints.iter().position(is_of)
            {
                self.joint(index)?;
            }
        }
        Ok(())
    }

    /// Makes the joints that are left, and the gears.
    pub(super) fn joints(&mut self, scene: &Scene) -> Result<()> {
        (0..scene.joints.len()).try_for_each(|index| self.joint(index))?;
        scene.gears.iter().try_for_each(|gear| self.gear(gear))
    }

    fn joint(&mut self, index: usize) -> Result<()> {
        let scene = self.scene;
        if self.joints.iter().any(|(made, ..)| *made == index) {
            return Ok(());
        }
        let spec = &scene.joints[index];
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        if scene.joints[..index].iter().any(|other| other.name == name) {
            let message = format!("the name `{name}` is used twice");
            return self.wrong(&[Where::Name(name)], message, None);
        }
        let kind = self.kind(spec)?;
        let sides = [self.side(name, "a", &spec.a)?, self.side(name, "b", &spec.b)?];
        let body = |side: &Side| match side {
            Side::Body(node, element) | Side::Frame(node, element, _) => Some((*node, *element)),
            Side::World | Side::Fixed(_) => None,
        };
        if body(&sides[0]) == body(&sides[1]) {
            let what = body(&sides[0]).map_or("the world", |_| "a body");
            let message = format!("`{name}` joins {what} to itself");
            let help = "sides are `World` (if `a` or `b` is left out), `Body(\"node\", 0)` or `Frame(..)`";
            return self.wrong(
                &[field("b"), field("a"), Where::Name(name)],
                message,
                Some(help.into()),
            );
        }
        if let (false, Some(a), Some(b)) = (spec.collide, body(&sides[0]), body(&sides[1])) {
            self.joined.push([a, b]);
        }
        let soft = spec.compliance.is_some() || matches!(spec.kind, JointKindSpec::Bushing(_));
        if soft && !matches!(spec.level, LevelSpec::Position) {
            let message = format!("`{name}` has compliances, so what it holds is not kept at a `level`");
            return self.wrong(&[field("level"), Where::Name(name)], message, None);
        }
        let mut joint = Joint::new(kind, sides[0], sides[1])
            .at(self.joint_pose(spec)?)
            .with_level(self.level(&spec.level, field("level"))?);
        let relaxation = self.not_negative(&spec.relaxation_time, field("relaxation_time"))?;
        joint = match (&spec.kind, &spec.compliance) {
            (JointKindSpec::Bushing(_), Some(_)) => {
                let message = format!("`{name}` is a bushing, whose `compliances` are its own");
                return self.wrong(&[field("compliance"), Where::Name(name)], message, None);
            }
            (JointKindSpec::Bushing(bushing), None) => {
                let list = self.numbers(&bushing.compliances, field("compliances"))?;
                joint.with_compliance(&list, relaxation)
            }
            (_, Some(OneOrMany::One(number))) => {
                joint.with_compliance(&[self.number(number, field("compliance"))?], relaxation)
            }
            (_, Some(OneOrMany::Many(list))) => {
                let list = self.numbers(list, field("compliance"))?;
                joint.with_compliance(&list, relaxation)
            }
            (_, None) if relaxation != 0.0 => {
                let message = format!("`{name}` is hard, so it has no relaxation time");
                let help = "give it a `compliance`".to_owned();
                return self.wrong(&[field("relaxation_time")], message, Some(help));
            }
            (_, None) => joint,
        };
        joint = self.attached(spec, kind, joint)?;
        self.grow(name, kind.free_axes().len() + 4)?;
        let handle = self
            .model
            .add_joint(name, &joint)
            .map_err(|e| self.model_error(e))?;
        self.joints.push((index, name.to_owned(), kind, handle));
        Ok(())
    }

    fn kind(&self, spec: &JointSpec) -> Result<JointKind> {
        let at = |key| Where::Field(&spec.name, key);
        Ok(match &spec.kind {
            JointKindSpec::Hinge => JointKind::Hinge,
            JointKindSpec::Slider => JointKind::Slider,
            JointKindSpec::Cylindrical => JointKind::Cylindrical,
            JointKindSpec::Universal => JointKind::Universal,
            JointKindSpec::Ball => JointKind::Ball,
            JointKindSpec::Fixed | JointKindSpec::Bushing(_) => JointKind::Fixed,
            JointKindSpec::Planar => JointKind::Planar,
            JointKindSpec::Screw(screw) => JointKind::Screw {
                pitch: self.number(&screw.pitch, at("pitch"))?,
            },
            JointKindSpec::Distance(distance) => JointKind::Distance {
                length: match &distance.length {
                    Some(length) => Some(self.not_negative(length, at("length"))?),
                    None => None,
                },
            },
            JointKindSpec::PointOnLine => JointKind::PointOnLine,
            JointKindSpec::PointOnPlane => JointKind::PointOnPlane,
        })
    }

    fn side(&self, name: &str, key: &str, spec: &SideSpec) -> Result<Side> {
        match spec {
            SideSpec::World => Ok(Side::World),
            SideSpec::Body(node, element) => {
                let (node, element) = self.body(name, key, node, element)?;
                Ok(Side::Body(node, element))
            }
            SideSpec::Frame(SideFrameSpec {
                body,
                position,
                rotation,
            }) => {
                let pose = self.frame_pose(name, position.as_ref(), rotation.as_ref())?;
                match body {
                    None => Ok(Side::Fixed(pose)),
                    Some((node, element)) => {
                        let (node, element) = self.body(name, key, node, element)?;
                        Ok(Side::Frame(node, element, pose))
                    }
                }
            }
        }
    }

    /// A body that something is attached to.
    pub(super) fn body(
        &self,
        name: &str,
        key: &str,
        node: &str,
        element: &Number,
    ) -> Result<(NodeId, usize)> {
        let id = self.node(node, name, key)?;
        let places = [
            Where::Literal(name, node),
            Where::Field(name, key),
            Where::Name(name),
        ];
        let target = self.model.node(id);
        if target.space != Space::Rigid3 {
            let message = format!("`{name}` needs a body here, but `{node}` has {}", target.space);
            return self.wrong(&places, message, None);
        }
        let count = target.count;
        let element = self.whole(element, 0, MOST_ELEMENTS, Where::Field(name, key))?;
        if element >= count {
            let message = format!("there is no body {element}: `{node}` has {count}, counted from zero");
            return self.wrong(&places, message, None);
        }
        Ok((id, element))
    }

    fn joint_pose(&self, spec: &JointSpec) -> Result<Pose> {
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        let position = match &spec.at {
            Some(at) => self.triple(at, field("at"))?,
            None => [0.0; 3],
        };
        let z = match &spec.axis {
            Some(axis) => self.direction(axis, field("axis"))?,
            None => Vec3::z(),
        };
        let mut rotation = shortest(Vec3::z(), z);
        if let Some(x_axis) = &spec.x_axis {
            let x = self.direction(x_axis, field("x_axis"))?;
            let across = x - z * x.dot(&z);
            if across.norm() < 1e-9 {
                let message = format!("`x_axis` of `{name}` is parallel to its axis");
                return self.wrong(&[field("x_axis"), Where::Name(name)], message, None);
            }
            let now = rotate(rotation, Vec3::x());
            let angle = z.dot(&now.cross(&across)).atan2(now.dot(&across));
            rotation = multiply(rotation::exp(z * angle), rotation);
        }
        Ok(Pose { position, rotation })
    }

    fn attached(&self, spec: &JointSpec, kind: JointKind, mut joint: Joint) -> Result<Joint> {
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        let axis = |on: &Option<String>, key| self.free_axis(name, kind, on.as_deref(), key);
        for spring in &spec.springs {
            let axis = axis(&spring.on, "springs")?;
            let compliance = self.not_negative(&spring.compliance, field("springs"))?;
            let relaxation = self.not_negative(&spring.relaxation_time, field("springs"))?;
            let rest = self.number(&spring.rest, field("rest"))?;
            joint = joint.with_spring(axis, compliance, relaxation, rest);
        }
        for damper in &spec.dampers {
            let damping = self.not_negative(&damper.damping, field("damping"))?;
            joint = joint.with_damper(axis(&damper.on, "dampers")?, damping);
        }
        let largest = |force: &Option<Number>, key| match force {
            Some(force) => self.not_negative(force, field(key)),
            None => Ok(f64::INFINITY),
        };
        for motor in &spec.motors {
            joint = match motor {
                MotorSpec::Position(motor) => {
                    let axis = axis(&motor.on, "motors")?;
                    let target = self.motion(&motor.target, 1, field("target"))?;
                    let compliance = self.not_negative(&motor.compliance, field("motors"))?;
                    let relaxation = self.not_negative(&motor.relaxation_time, field("motors"))?;
                    let force = largest(&motor.force, "motors")?;
                    joint.with_position_motor(axis, target, compliance, relaxation, force)
                }
                MotorSpec::Velocity(motor) => {
                    let axis = axis(&motor.on, "motors")?;
                    let speed = self.speed(&motor.speed, field("speed"))?;
                    joint.with_velocity_motor(axis, speed, largest(&motor.force, "motors")?)
                }
            };
        }
        for friction in &spec.friction {
            let axis = axis(&friction.on, "friction")?;
            joint = joint.with_friction(axis, self.not_negative(&friction.force, field("friction"))?);
        }
        for limits in &spec.limits {
            let axis = axis(&limits.on, "limits")?;
            let limit = |number: &Option<Number>, default| match number {
                Some(number) => self.number(number, field("limits")),
                None => Ok(default),
            };
            let (lower, upper) = (
                limit(&limits.lower, f64::NEG_INFINITY)?,
                limit(&limits.upper, f64::INFINITY)?,
            );
            if lower > upper {
                let message =
                    format!("the limits of `{name}` are {lower} and {upper}: nothing is between them");
                return self.wrong(&[field("limits"), Where::Name(name)], message, None);
            }
            joint = joint.with_limits(axis, lower, upper);
        }
        Ok(joint)
    }

    /// The number of a free coordinate; the only one need not be named.
    fn free_axis(&self, name: &str, kind: JointKind, on: Option<&str>, key: &str) -> Result<usize> {
        let names: Vec<&str> = kind.free_axes().iter().map(|(_, name)| *name).collect();
        let what = kind.name();
        let field = Where::Field(name, key);
        let Some(on) = on else {
            return match names.len() {
                1 => Ok(0),
                0 => {
                    let message =
                        format!("`{name}` is a {what}: it leaves nothing free that `{key}` could act on");
                    self.wrong(&[field, Where::Name(name)], message, None)
                }
                _ => {
                    let message = format!("`{key}` of `{name}` must say `on` which coordinate they act");
                    let help = suggest::hint("", "free coordinates", names.iter().copied());
                    self.wrong(&[field, Where::Name(name)], message, help)
                }
            };
        };
        if let Some(axis) = names.iter().position(|known| *known == on) {
            return Ok(axis);
        }
        let help = suggest::hint(on, "free coordinates", names.iter().copied());
        let message = format!("`{name}` is a {what}: it has no free coordinate `{on}`");
        self.wrong(
            &[Where::Literal(name, on), field, Where::Name(name)],
            message,
            help,
        )
    }

    fn gear(&mut self, spec: &GearSpec) -> Result<()> {
        let name = spec.name.as_str();
        let first = self.node(&spec.first, name, "first")?;
        let second = self.node(&spec.second, name, "second")?;
        let ratio = self.number(&spec.ratio, Where::Field(name, "ratio"))?;
        if first == second {
            let message = format!("`{name}` gears `{}` to itself", spec.first);
            return self.wrong(&[Where::Field(name, "second"), Where::Name(name)], message, None);
        }
        self.grow(name, 1)?;
        self.model
            .add_gear(name, first, second, ratio)
            .map_err(|e| self.model_error(e))?;
        Ok(())
    }

    /// A direction of any length but zero, as a unit vector.
    pub(super) fn direction(&self, numbers: &crate::scene::schema::Triple, at: Where<'_>) -> Result<Vec3> {
        let axis = self.triple(numbers, at)?;
        // Scaled first: the square of a large or small axis leaves the range of numbers.
        let size = axis.iter().fold(0.0f64, |m, c| m.max(c.abs()));
        if size == 0.0 {
            let message = format!("{} is a direction of length zero", describe(at));
            return self.wrong(&[at, owner(at)], message, None);
        }
        Ok(vec3(&axis.map(|c| c / size), 0).normalize())
    }
}

/// The shortest rotation that takes one unit vector to another; a half turn is about an axis
/// perpendicular to both.
pub(super) fn shortest(from: Vec3, to: Vec3) -> Quaternion {
    let across = from.cross(&to);
    let q = [1.0 + from.dot(&to), across.x, across.y, across.z];
    if q[0] < 1e-12 {
        let side = from.cross(&Vec3::ith(from.iamin(), 1.0)).normalize();
        return [0.0, side.x, side.y, side.z];
    }
    rotation::normalize(q).unwrap_or(rotation::IDENTITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_z_to_any_direction() {
        for d in [
            [1.0, 0.0, 0.0],
            [0.0, 0.0, -1.0],
            [0.0, 0.0, 1.0],
            [0.6, 0.0, -0.8],
        ] {
            let d = Vec3::from(d);
            assert!((rotate(shortest(Vec3::z(), d), Vec3::z()) - d).norm() < 1e-12);
        }
    }
}
