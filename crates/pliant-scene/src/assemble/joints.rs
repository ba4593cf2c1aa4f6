//! Joints and gears.

use super::joint_limits::{self, damping};
use super::values::{describe, owner};
use super::{Builder, Result, components, courses, entries, nodes, starts, swing};
use crate::schema::{
    FrictionSpec, GearSpec, JointKindSpec, JointSpec, LevelSpec, MotorSpec, Scene, SideFrameSpec, SideSpec,
};
use crate::source::Where;
use crate::{Amount, Course, OneOrMany, Takes, Units, quantity};
use pliant::dense::rotation::{self, Quaternion, multiply, rotate};
use pliant::dense::{Vec3, vec3};
use pliant::model::{Joint, JointAxis, JointDamping, JointKind, NodeId, Pose, Side, Space};
use pliant_expression::suggest;

/// Puts the joints in the order of their names, which differ.
pub(super) fn index_joints(builder: &mut Builder<'_>) -> Result<()> {
    for (index, joint) in builder.scene.joints.iter().enumerate() {
        let name = joint.name.as_str();
        if builder.joint_names.insert(name, index).is_some() {
            let message = format!("the name `{name}` is used twice");
            return builder.wrong(&[Where::Name(name)], message, None);
        }
    }
    Ok(())
}

/// Makes the joints that these names are coordinates of, if they are not made yet.
pub(super) fn joints_of(builder: &mut Builder<'_>, names: &[String]) -> Result<()> {
    for name in names {
        if builder.model.node_named(name).is_some() {
            continue;
        }
        let mut ends = name.match_indices('.');
        let joint = ends.find_map(|(end, _)| builder.joint_names.get(&name[..end]).copied());
        if let Some(index) = joint {
            add_joint(builder, index)?;
        }
    }
    Ok(())
}

/// Makes the joints that are left, and the gears.
pub(super) fn add_joints<'a>(builder: &mut Builder<'a>, scene: &'a Scene) -> Result<()> {
    (0..scene.joints.len()).try_for_each(|index| add_joint(builder, index))?;
    entries::each(builder, "gears", &scene.gears, add_gear)
}

/// Makes a joint of the scene, if it is not made yet.
fn add_joint(builder: &mut Builder<'_>, index: usize) -> Result<()> {
    let spec = &builder.scene.joints[index];
    if !builder.made_joints.insert(index) {
        return Ok(());
    }
    entries::within(builder, "joints", index, |builder| {
        let joint = joint(builder, spec)?;
        add(builder, index, &spec.name, joint)
    })
}

/// Adds a joint of the scene to the model.
fn add(builder: &mut Builder<'_>, index: usize, name: &str, made: Made) -> Result<()> {
    let Made {
        kind,
        joint,
        motors,
        swing,
    } = made;
    let rows = kind.free_axes().len().saturating_add(4);
    builder.grow(name, rows.saturating_add(swing.rows()))?;
    let mut handle = builder
        .model
        .add_joint(name, &joint)
        .map_err(|e| builder.model_error(e))?;
    swing::add(builder, name, swing, &mut handle)?;
    let driven = handle.motors.iter().zip(&motors);
    let varying = driven.filter_map(|(motor, course)| course.varying(*motor));
    builder.varying.extend(varying);
    builder.joints.push((index, name.to_owned(), kind, handle));
    Ok(())
}

/// A joint out of the schema.
struct Made {
    kind: JointKind,
    joint: Joint,
    /// Courses of its motors.
    motors: Vec<courses::Driven>,
    /// Limits of a ball joint.
    swing: swing::Swing,
}

/// The joint that a scene describes.
fn joint(builder: &Builder<'_>, spec: &JointSpec) -> Result<Made> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let kind = kind(builder, spec)?;
    let sides = [
        side(builder, name, "a", &spec.a)?,
        side(builder, name, "b", &spec.b)?,
    ];
    let body = |side: &Side| match side {
        Side::Body(node, element) | Side::Frame(node, element, _) => Some((*node, *element)),
        Side::World | Side::Fixed(_) => None,
    };
    if body(&sides[0]) == body(&sides[1]) {
        let what = body(&sides[0]).map_or("the world", |_| "a body");
        let message = format!("`{name}` joins {what} to itself");
        let help = "sides are `World` (if `a` or `b` is left out), `Body(\"node\", 0)` or `Frame(..)`";
        return builder.wrong(
            &[field("b"), field("a"), Where::Name(name)],
            message,
            Some(help.into()),
        );
    }
    let soft = spec.compliance.is_some() || matches!(spec.kind, JointKindSpec::Bushing(_));
    if soft && !matches!(spec.level, LevelSpec::Position) {
        let message = format!("`{name}` has compliances, so what it holds is not kept at a `level`");
        return builder.wrong(&[field("level"), Where::Name(name)], message, None);
    }
    let at = joint_pose(builder, spec)?;
    let sides = [
        started(builder, &sides, 0, kind.first_frame(at))?,
        started(builder, &sides, 1, at)?,
    ];
    let mut joint = Joint::new(kind, sides[0], sides[1])
        .at(at)
        .with_level(components::level(builder, &spec.level, field("level"))?);
    let damping = damping(builder, name, &spec.relaxation_time, spec.damping_ratio.as_ref())?;
    let relaxation = match damping {
        JointDamping::RelaxationTime(time) => time,
        _ => 0.0,
    };
    joint = match (&spec.kind, &spec.compliance) {
        (JointKindSpec::Bushing(_), Some(_)) => {
            let message = format!("`{name}` is a bushing, whose `compliances` are its own");
            return builder.wrong(&[field("compliance"), Where::Name(name)], message, None);
        }
        (JointKindSpec::Bushing(bushing), None) => {
            let list = builder.numbers(&bushing.compliances, field("compliances"))?;
            joint.with_compliance(&list, relaxation)
        }
        (_, Some(OneOrMany::One(number))) => {
            joint.with_compliance(&[builder.number(number, field("compliance"))?], relaxation)
        }
        (_, Some(OneOrMany::Many(list))) => {
            let list = builder.numbers(list, field("compliance"))?;
            joint.with_compliance(&list, relaxation)
        }
        (_, None) if spec.damping_ratio.is_some() => {
            let message = format!("`{name}` is hard, so it has no damping ratio");
            let help = "give it a `compliance`".to_owned();
            return builder.wrong(&[field("damping_ratio")], message, Some(help));
        }
        (_, None) if relaxation != 0.0 => {
            let message = format!("`{name}` is hard, so it has no relaxation time");
            let help = "give it a `compliance`".to_owned();
            return builder.wrong(&[field("relaxation_time")], message, Some(help));
        }
        (_, None) => joint,
    };
    if let JointDamping::Ratio(ratio) = damping {
        joint = joint.with_damping_ratio(ratio);
    }
    if spec.collide {
        joint = joint.colliding();
    }
    let (joint, motors) = attached(builder, spec, kind, joint)?;
    let swing = swing::read(builder, spec)?;
    Ok(Made {
        kind,
        joint,
        motors,
        swing,
    })
}

pub(super) fn kind(builder: &Builder<'_>, spec: &JointSpec) -> Result<JointKind> {
    let at = |key| Where::Field(&spec.name, key);
    Ok(match &spec.kind {
        JointKindSpec::Hinge => JointKind::Hinge,
        JointKindSpec::Slider => JointKind::Slider,
        JointKindSpec::Cylindrical => JointKind::Cylindrical,
        JointKindSpec::Universal => JointKind::Universal,
        JointKindSpec::SkewedUniversal(spec) => JointKind::SkewedUniversal {
            skew: builder.number(&spec.skew, at("skew"))?,
        },
        JointKindSpec::Ellipsoid(spec) => JointKind::Ellipsoid {
            semi_axes: builder.triple(&spec.semi_axes, at("semi_axes"))?,
        },
        JointKindSpec::GimbalXyz => JointKind::GimbalXyz,
        JointKindSpec::GimbalXzy => JointKind::GimbalXzy,
        JointKindSpec::Ball => JointKind::Ball,
        JointKindSpec::Fixed | JointKindSpec::Bushing(_) => JointKind::Fixed,
        JointKindSpec::Planar => JointKind::Planar,
        JointKindSpec::PlanarTranslation => JointKind::PlanarTranslation,
        JointKindSpec::SlottedHinge => JointKind::SlottedHinge,
        JointKindSpec::FixedAxis => JointKind::FixedAxis,
        JointKindSpec::Free => JointKind::Free,
        JointKindSpec::Screw(screw) => JointKind::Screw {
            pitch: builder.number(&screw.pitch, at("pitch"))?,
        },
        JointKindSpec::Distance(distance) => JointKind::Distance {
            length: match &distance.length {
                Some(length) => Some(components::not_negative(builder, length, at("length"))?),
                None => None,
            },
        },
        JointKindSpec::PointOnLine => JointKind::PointOnLine,
        JointKindSpec::PointOnPlane => JointKind::PointOnPlane,
    })
}

fn side(builder: &Builder<'_>, name: &str, key: &str, spec: &SideSpec) -> Result<Side> {
    match spec {
        SideSpec::World => Ok(Side::World),
        SideSpec::Body(node, element) => {
            let (node, element) = body_at(builder, name, key, node, element)?;
            Ok(Side::Body(node, element))
        }
        SideSpec::Frame(SideFrameSpec {
            body,
            position,
            rotation,
        }) => {
            let pose = nodes::frame_pose(builder, name, position.as_ref(), rotation.as_ref())?;
            match body {
                None => Ok(Side::Fixed(builder.put_pose(name, pose))),
                Some((node, element)) => {
                    let (node, element) = body_at(builder, name, key, node, element)?;
                    Ok(Side::Frame(node, element, pose))
                }
            }
        }
    }
}

/// A side of a joint of bodies that start elsewhere: its frame, which has moved with its body.
fn started(builder: &Builder<'_>, sides: &[Side; 2], which: usize, at: Pose) -> Result<Side> {
    let start = |side: &Side| match side {
        Side::Body(node, element) | Side::Frame(node, element, _) => {
            let name = builder.model.node(*node).name.clone();
            builder.starts.get(&(name, *element))
        }
        Side::World | Side::Fixed(_) => None,
    };
    let side = &sides[which];
    if sides.iter().all(|side| start(side).is_none()) {
        return Ok(*side);
    }
    match side {
        Side::World => Ok(Side::Fixed(at)),
        Side::Body(node, element) => {
            let state = builder
                .model
                .initial_state()
                .map_err(|e| builder.model_error(e))?;
            let bodies = builder.model.positions(&state, *node).as_chunks::<7>().0;
            let [x, y, z, rotation @ ..] = bodies[*element];
            let now = Pose {
                position: [x, y, z],
                rotation,
            };
            let moved = start(side).map_or(at, |start| starts::after(start.moved, at));
            Ok(Side::Frame(
                *node,
                *element,
                starts::after(starts::inverse(now), moved),
            ))
        }
        Side::Frame(..) | Side::Fixed(_) => Ok(*side),
    }
}

/// A body that something is attached to.
pub(super) fn body_at(
    builder: &Builder<'_>,
    name: &str,
    key: &str,
    node: &str,
    element: &Amount,
) -> Result<(NodeId, usize)> {
    let id = builder.node(node, name, key)?;
    // The other side may name the same node.
    let places = [
        Where::Field(name, key),
        Where::Literal(name, node),
        Where::Name(name),
    ];
    let target = builder.model.node(id);
    if target.space != Space::Rigid3 {
        let message = format!("`{name}` needs a body here, but `{node}` has {}", target.space);
        return builder.wrong(&places, message, None);
    }
    let count = target.count;
    let element = builder.any_element(element, Where::Field(name, key))?;
    if element >= count {
        let message = format!("there is no body {element}: `{node}` has {count}, counted from zero");
        return builder.wrong(&places, message, None);
    }
    Ok((id, element))
}

pub(super) fn joint_pose(builder: &Builder<'_>, spec: &JointSpec) -> Result<Pose> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let position = match &spec.at {
        Some(at) => builder.triple(at, field("at"))?,
        None => [0.0; 3],
    };
    let z = match &spec.axis {
        Some(axis) => direction(builder, axis, field("axis"))?,
        None => Vec3::z(),
    };
    let mut rotation = shortest(Vec3::z(), z);
    if let Some(x_axis) = &spec.x_axis {
        let x = direction(builder, x_axis, field("x_axis"))?;
        let across = x - z * x.dot(&z);
        if across.norm() < 1e-9 {
            let message = format!("`x_axis` of `{name}` is parallel to its axis");
            return builder.wrong(&[field("x_axis"), Where::Name(name)], message, None);
        }
        let now = rotate(rotation, Vec3::x());
        let angle = z.dot(&now.cross(&across)).atan2(now.dot(&across));
        rotation = multiply(rotation::exp(z * angle), rotation);
    }
    Ok(builder.put_pose(name, Pose { position, rotation }))
}

fn attached(
    builder: &Builder<'_>,
    spec: &JointSpec,
    kind: JointKind,
    mut joint: Joint,
) -> Result<(Joint, Vec<courses::Driven>)> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let axes = |on: &Option<String>, key| free_axes(builder, name, kind, on.as_deref(), key);
    let of = |axis: usize| OnAxis::of(kind, axis);
    if spec.coordinates {
        if kind != JointKind::Ball {
            let message = format!("`coordinates` is of ball joints, and `{name}` is none");
            let help = format!("a {} has its free coordinates in any case", kind.name());
            return builder.wrong(&[field("coordinates"), Where::Name(name)], message, Some(help));
        }
        joint = joint.with_coordinates();
    }
    for spring in &spec.springs {
        for axis in axes(&spring.on, "springs")? {
            let compliance = spring.compliance.taking(of(axis).compliance);
            let compliance = components::not_negative(builder, &compliance, field("springs"))?;
            let damping = damping(
                builder,
                name,
                &spring.relaxation_time,
                spring.damping_ratio.as_ref(),
            )?;
            let rest = builder.number(&spring.rest.taking(of(axis).coordinate), field("rest"))?;
            joint = joint.with_damped_spring(axis, compliance, damping, rest);
        }
    }
    for damper in &spec.dampers {
        for axis in axes(&damper.on, "dampers")? {
            let damping = damper.damping.taking(of(axis).damping);
            joint = joint.with_damper(
                axis,
                components::not_negative(builder, &damping, field("damping"))?,
            );
        }
    }
    let (mut joint, courses) = driven(builder, spec, kind, joint)?;
    for friction in &spec.friction {
        joint = dry_friction(builder, name, kind, friction, joint)?;
    }
    for limits in &spec.limits {
        for axis in axes(&limits.on, "limits")? {
            let takes = [of(axis).coordinate, of(axis).compliance];
            joint = joint_limits::add(builder, name, limits, takes, (axis, joint))?;
        }
    }
    Ok((joint, courses))
}

/// Adds dry friction.
fn dry_friction(
    builder: &Builder<'_>,
    name: &str,
    kind: JointKind,
    spec: &FrictionSpec,
    mut joint: Joint,
) -> Result<Joint> {
    let field = |key| Where::Field(name, key);
    let wrong = |key, message, help: &str| {
        builder.wrong(
            &[field(key), field("friction"), Where::Name(name)],
            message,
            Some(help.into()),
        )
    };
    let Some(coefficient) = &spec.coefficient else {
        if spec.radius.is_some() {
            let message = format!("`radius` of the friction of `{name}` is of friction by a `coefficient`");
            return wrong("radius", message, "with a `force` there is no radius");
        }
        let Some(force) = &spec.force else {
            let message = format!("the friction of `{name}` has neither a `force` nor a `coefficient`");
            let help =
                "`force` is the largest one, `coefficient` the share of the force that the joint carries";
            return wrong("friction", message, help);
        };
        for axis in free_axes(builder, name, kind, spec.on.as_deref(), "friction")? {
            let force = force.taking(OnAxis::of(kind, axis).force);
            let force = components::not_negative(builder, &force, field("friction"))?;
            joint = joint.with_friction(axis, force);
        }
        return Ok(joint);
    };
    if spec.force.is_some() {
        let message = format!("the friction of `{name}` has a `force` and a `coefficient`");
        return wrong("force", message, "give it one of them");
    }
    if let Some(on) = &spec.on {
        let message = format!(
            "`on: \"{on}\"` of the friction of `{name}`: by a `coefficient` it is of all that slides in it"
        );
        return wrong("on", message, "leave `on` out");
    }
    let coefficient = components::not_negative(builder, coefficient, field("coefficient"))?;
    let Some((axes, _)) = kind.sliding() else {
        let message = format!(
            "`{name}` is a {}, of which it is not known what slides on what: it takes no `coefficient` of friction",
            kind.name()
        );
        let help = "hinges, sliders, cylindrical and ball joints, points on lines and planes and planar \
                    translations do";
        return wrong("coefficient", message, help);
    };
    let turns = axes.iter().any(|axis| !matches!(axis, JointAxis::Translation(_)));
    let radius = match &spec.radius {
        Some(_) if !turns => {
            let message = format!(
                "`{name}` is a {}: nothing turns in it, so its friction has no `radius`",
                kind.name()
            );
            return wrong("radius", message, "leave `radius` out");
        }
        None if turns => {
            let message = format!("the friction of `{name}` needs the `radius` on which it turns");
            return wrong("coefficient", message, "that of the pin or the ball");
        }
        Some(radius) => Some(builder.positive(radius, field("radius"))?),
        None => None,
    };
    Ok(joint.with_reaction_friction(coefficient, radius))
}

/// Adds the motors, and returns their courses.
fn driven(
    builder: &Builder<'_>,
    spec: &JointSpec,
    kind: JointKind,
    mut joint: Joint,
) -> Result<(Joint, Vec<courses::Driven>)> {
    let mut courses = Vec::new();
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let axes = |on: &Option<String>| free_axes(builder, name, kind, on.as_deref(), "motors");
    let of = |axis: usize| OnAxis::of(kind, axis);
    let largest = |force: Option<&Amount>, axis| match force {
        Some(force) => components::not_negative(builder, &force.taking(of(axis).force), field("motors")),
        None => Ok(f64::INFINITY),
    };
    for motor in &spec.motors {
        match motor {
            MotorSpec::Position(motor) => {
                for (axis, target) in of_each(axes(&motor.on)?, &motor.target) {
                    let target = target.taking(of(axis).coordinate);
                    let target = courses::motion(builder, &target, 1, field("target"))?;
                    let compliance = motor.compliance.taking(of(axis).compliance);
                    let compliance = components::not_negative(builder, &compliance, field("motors"))?;
                    let relaxation =
                        components::not_negative(builder, &motor.relaxation_time, field("motors"))?;
                    let force = largest(motor.force.as_deref(), axis)?;
                    let motion = target.motion.clone();
                    courses.push(target);
                    joint = joint.with_position_motor(axis, motion, compliance, relaxation, force);
                }
            }
            MotorSpec::Velocity(motor) => {
                for (axis, speed) in of_each(axes(&motor.on)?, &motor.speed) {
                    let speed = courses::speed(builder, &speed.taking(of(axis).speed), field("speed"))?;
                    let motion = speed.motion.clone();
                    courses.push(speed);
                    joint = joint.with_velocity_motor(axis, motion, largest(motor.force.as_deref(), axis)?);
                }
            }
        }
    }
    Ok((joint, courses))
}

/// The function of time for each of several coordinates: the entries of a list of as many, or the
/// same one for all, whose number is checked where it is read.
fn of_each<D: Units>(axes: Vec<usize>, course: &Course<D>) -> impl Iterator<Item = (usize, Course<D>)> {
    let one = |place: usize| match course {
        Course::Each(list) if list.len() == axes.len() => Course::One(list[place].clone()),
        course => course.clone(),
    };
    let each: Vec<_> = axes
        .iter()
        .enumerate()
        .map(|(place, axis)| (*axis, one(place)))
        .collect();
    each.into_iter()
}

/// The units of what acts on a free coordinate.
struct OnAxis {
    coordinate: &'static Takes,
    speed: &'static Takes,
    force: &'static Takes,
    compliance: &'static Takes,
    damping: &'static Takes,
}

impl OnAxis {
    fn of(kind: JointKind, axis: usize) -> Self {
        match kind.free_axes().get(axis) {
            Some((JointAxis::Translation(_), _)) => Self {
                coordinate: quantity::Length::TAKES,
                speed: quantity::Velocity::TAKES,
                force: quantity::Force::TAKES,
                compliance: quantity::Compliance::TAKES,
                damping: quantity::Damping::TAKES,
            },
            _ => Self {
                coordinate: quantity::Angle::TAKES,
                speed: quantity::Turning::TAKES,
                force: quantity::Torque::TAKES,
                compliance: quantity::AngularCompliance::TAKES,
                damping: quantity::AngularDamping::TAKES,
            },
        }
    }
}

/// The numbers of the free coordinates that something acts on: one, which need not be named if it
/// is the only one, or all of a ball joint.
fn free_axes(
    builder: &Builder<'_>,
    name: &str,
    kind: JointKind,
    on: Option<&str>,
    key: &str,
) -> Result<Vec<usize>> {
    let names: Vec<&str> = kind.free_axes().iter().map(|(_, name)| *name).collect();
    let what = kind.name();
    let field = Where::Field(name, key);
    let Some(on) = on else {
        return match names.len() {
            1 => Ok(vec![0]),
            count if kind == JointKind::Ball => Ok((0..count).collect()),
            0 => {
                let message =
                    format!("`{name}` is a {what}: it leaves nothing free that `{key}` could act on");
                builder.wrong(&[field, Where::Name(name)], message, None)
            }
            _ => {
                let message = format!("`{key}` of `{name}` must say `on` which coordinate they act");
                let help = suggest::hint("", "free coordinates", names.iter().copied());
                builder.wrong(&[field, Where::Name(name)], message, help)
            }
        };
    };
    if let Some(axis) = names.iter().position(|known| *known == on) {
        return Ok(vec![axis]);
    }
    let help = suggest::hint(on, "free coordinates", names.iter().copied());
    let message = format!("`{name}` is a {what}: it has no free coordinate `{on}`");
    builder.wrong(
        &[Where::Literal(name, on), field, Where::Name(name)],
        message,
        help,
    )
}

fn add_gear(builder: &mut Builder<'_>, spec: &GearSpec) -> Result<()> {
    let name = spec.name.as_str();
    let first = builder.node(&spec.first, name, "first")?;
    let second = builder.node(&spec.second, name, "second")?;
    let ratio = builder.number(&spec.ratio, Where::Field(name, "ratio"))?;
    if first == second {
        let message = format!("`{name}` gears `{}` to itself", spec.first);
        return builder.wrong(&[Where::Field(name, "second"), Where::Name(name)], message, None);
    }
    builder.grow(name, 1)?;
    builder
        .model
        .add_gear(name, first, second, ratio)
        .map_err(|e| builder.model_error(e))?;
    Ok(())
}

/// A direction of any length but zero, as a unit vector.
pub(super) fn direction(
    builder: &Builder<'_>,
    numbers: &crate::schema::Triple<impl Units>,
    at: Where<'_>,
) -> Result<Vec3> {
    let axis = builder.triple(numbers, at)?;
    // Scaled first: the square of a large or small axis leaves the range of numbers.
    let size = axis.iter().fold(0.0f64, |m, c| m.max(c.abs()));
    if size == 0.0 {
        let message = format!("{} is a direction of length zero", describe(at));
        return builder.wrong(&[at, owner(at)], message, None);
    }
    Ok(vec3(&axis.map(|c| c / size), 0).normalize())
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
