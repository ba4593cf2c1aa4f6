//! Bodies at the coordinates at which joints start: forward kinematics ahead of the nodes.
//!
//! A scene is written where all coordinates of joints are zero. A joint with a `start` moves the
//! bodies of its far side, and all that hang on them, as one; a `speed` lets them move on so.

use super::values::{describe, owner};
use super::{Builder, Result, joints};
use crate::quantity::{self, Units};
use crate::schema::{JointKindSpec, JointSpec, Node, SideSpec};
use crate::source::Where;
use crate::{Quantity, Takes};
use pliant::dense::Vec3;
use pliant::dense::rotation::{conjugate, exp, multiply, rotate};
use pliant::model::{JointAxis, JointKind, Pose};
use pliant_expression::suggest;
use std::collections::BTreeMap;

/// A body by its node and its element; the world has no name.
type Body = (String, usize);

/// A displacement from where a body is written, and the motion that joints add to its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    pub(super) moved: Pose,
    /// Angular velocity (rad/s), and velocity of what is at the origin (m/s).
    angular: Vec3,
    linear: Vec3,
}

impl Start {
    /// Velocity and angular velocity that joints add at a place.
    pub(super) fn velocity(&self, place: [f64; 3]) -> [Vec3; 2] {
        [self.linear + self.angular.cross(&Vec3::from(place)), self.angular]
    }
}

/// The product of two displacements, the second done first.
pub(super) fn after(first: Pose, second: Pose) -> Pose {
    let position = rotate(first.rotation, Vec3::from(second.position)) + Vec3::from(first.position);
    Pose {
        position: position.into(),
        rotation: multiply(first.rotation, second.rotation),
    }
}

/// The displacement back.
pub(super) fn inverse(pose: Pose) -> Pose {
    let rotation = conjugate(pose.rotation);
    Pose {
        position: (-rotate(rotation, Vec3::from(pose.position))).into(),
        rotation,
    }
}

/// A joint between two bodies, or a body and the world.
struct Link<'a> {
    spec: &'a JointSpec,
    sides: [Option<Body>; 2],
    /// How it starts, if it says so.
    start: Option<Motion>,
}

/// Coordinates and velocities of a joint.
struct Motion {
    /// Its frame where all coordinates are zero.
    frame: Pose,
    /// The turns and ways of its coordinates, one after the other, each in the axes that those
    /// before it leave.
    parts: Vec<Part>,
}

/// A turn about an axis, or a way along it.
struct Part {
    axis: Vec3,
    is_way: bool,
    value: f64,
    rate: f64,
}

impl Part {
    fn pose(&self) -> Pose {
        match self.is_way {
            true => Pose::at((self.axis * self.value).into()),
            false => Pose {
                rotation: exp(self.axis * self.value),
                ..Pose::default()
            },
        }
    }
}

/// Finds where bodies start, by their nodes and elements; nothing if no joint has a start.
pub(super) fn find(builder: &mut Builder<'_>) -> Result<()> {
    let scene = builder.scene;
    if scene
        .joints
        .iter()
        .all(|joint| joint.start.is_none() && joint.speed.is_none())
    {
        return Ok(());
    }
    let mut links = Vec::new();
    for spec in &scene.joints {
        links.push(link(builder, spec)?);
    }
    let mut sets: Vec<(usize, Vec<Body>, bool)> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        if link.start.is_some() {
            let (bodies, is_back) = carried(builder, &links, index)?;
            sets.push((index, bodies, is_back));
        }
    }
    // Those that carry others carry more bodies.
    sets.sort_by_key(|(_, bodies, _)| std::cmp::Reverse(bodies.len()));
    for (index, bodies, is_back) in sets {
        let link = &links[index];
        let near = &link.sides[usize::from(is_back)];
        let before = near
            .as_ref()
            .and_then(|body| builder.starts.get(body))
            .copied()
            .unwrap_or_default();
        let step = link
            .start
            .as_ref()
            .map(|motion| step(motion, before.moved, is_back))
            .unwrap_or_default();
        for body in bodies {
            check_node(builder, &link.spec.name, &body.0)?;
            let own = builder.starts.entry(body).or_default();
            own.moved = after(own.moved, step.moved);
            own.angular += step.angular;
            own.linear += step.linear;
        }
    }
    Ok(())
}

/// The start that a joint adds to the bodies that it carries: a displacement where nothing else is
/// moved, and velocities where all is.
fn step(motion: &Motion, before: Pose, is_back: bool) -> Start {
    let whole = motion
        .parts
        .iter()
        .fold(Pose::default(), |all, part| after(all, part.pose()));
    let whole = match is_back {
        true => inverse(whole),
        false => whole,
    };
    let moved = after(after(motion.frame, whole), inverse(motion.frame));
    // The frame of the first side, where it starts.
    let mut frame = after(before, motion.frame);
    if is_back {
        frame = after(frame, whole);
    }
    let (mut angular, mut linear) = (Vec3::zeros(), Vec3::zeros());
    for part in &motion.parts {
        let rate = rotate(frame.rotation, part.axis) * part.rate;
        if part.is_way {
            linear += rate;
        } else {
            angular += rate;
            linear -= rate.cross(&Vec3::from(frame.position));
        }
        frame = after(frame, part.pose());
    }
    let sign = if is_back { -1.0 } else { 1.0 };
    Start {
        moved,
        angular: angular * sign,
        linear: linear * sign,
    }
}

/// Only bodies that stand one by one in the scene are placed by joints.
fn check_node(builder: &Builder<'_>, joint: &str, node: &str) -> Result<()> {
    let bodies = builder.scene.nodes.iter().filter_map(|other| match other {
        Node::Bodies(bodies) => Some(bodies.name.as_str()),
        _ => None,
    });
    if bodies.clone().any(|name| name == node) {
        return Ok(());
    }
    let takes = |side: &SideSpec| match side {
        SideSpec::World => false,
        SideSpec::Body(name, _) => name == node,
        SideSpec::Frame(frame) => frame.body.as_ref().is_some_and(|(name, _)| name == node),
    };
    let mut joints = builder.scene.joints.iter();
    let user = joints.find(|spec| takes(&spec.a) || takes(&spec.b));
    let user = user.map_or(joint, |spec| spec.name.as_str());
    let message = match user == joint {
        true => format!("`{joint}` starts elsewhere, and its `{node}` is no node of `Bodies`"),
        false => format!(
            "`{user}` takes hold of `{node}`, which is no node of `Bodies`, and `{joint}` would carry it to where it starts"
        ),
    };
    let help = suggest::hint(node, "bodies", bodies);
    builder.wrong(&[Where::Literal(user, node), Where::Name(user)], message, help)
}

/// The bodies that a joint carries, and whether these are those of its first side. The world stays,
/// or the first body of what hangs together without it.
fn carried(builder: &Builder<'_>, links: &[Link<'_>], joint: usize) -> Result<(Vec<Body>, bool)> {
    let mut near: BTreeMap<&Body, Vec<usize>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate().filter(|(index, _)| *index != joint) {
        for body in link.sides.iter().flatten() {
            near.entry(body).or_default().push(index);
        }
    }
    // All that hangs on a side, and whether the world does.
    let reach = |start: &Option<Body>| {
        let mut found: BTreeMap<Body, ()> = BTreeMap::new();
        let mut has_world = start.is_none();
        let mut left: Vec<Body> = start.iter().cloned().collect();
        while let Some(body) = left.pop() {
            if found.contains_key(&body) {
                continue;
            }
            let links = near.get(&body).into_iter().flatten().map(|index| &links[*index]);
            for side in links.flat_map(|link| &link.sides) {
                match side {
                    None => has_world = true,
                    Some(other) if *other != body => left.push(other.clone()),
                    Some(_) => {}
                }
            }
            found.insert(body, ());
        }
        (found.into_keys().collect::<Vec<_>>(), has_world)
    };
    let link = &links[joint];
    let [(a, a_world), (b, b_world)] = [reach(&link.sides[0]), reach(&link.sides[1])];
    let is_loop = (a_world && b_world) || link.sides[1].as_ref().is_some_and(|body| a.contains(body));
    if is_loop {
        let name = &link.spec.name;
        let message =
            format!("`{name}` is a part of a loop of joints, which its `start` or `speed` would tear");
        let help = "let the joints of a tree start elsewhere; the others of the loop follow where they fit";
        let places = [
            Where::Field(name, "start"),
            Where::Field(name, "speed"),
            Where::Name(name),
        ];
        return builder.wrong(&places, message, Some(help.into()));
    }
    let first = |bodies: &[Body]| {
        let place = |body: &Body| {
            let mut nodes = builder.scene.nodes.iter();
            (
                nodes.position(|node| matches!(node, Node::Bodies(one) if one.name == body.0)),
                body.1,
            )
        };
        bodies.iter().map(place).min()
    };
    let is_back = b_world || (!a_world && first(&b) < first(&a));
    Ok(if is_back { (a, true) } else { (b, false) })
}

fn link<'a>(builder: &Builder<'_>, spec: &'a JointSpec) -> Result<Link<'a>> {
    let body = |side: &SideSpec, key: &str| {
        let (node, element) = match side {
            SideSpec::World => return Ok(None),
            SideSpec::Body(node, element) => (node, element),
            SideSpec::Frame(frame) => match &frame.body {
                Some((node, element)) => (node, element),
                None => return Ok(None),
            },
        };
        let element = builder.any_element(element, Where::Field(&spec.name, key))?;
        Ok(Some((node.clone(), element)))
    };
    let sides = [body(&spec.a, "a")?, body(&spec.b, "b")?];
    let start = match spec.start.is_some() || spec.speed.is_some() {
        true => Some(motion(builder, spec)?),
        false => None,
    };
    Ok(Link { spec, sides, start })
}

fn motion(builder: &Builder<'_>, spec: &JointSpec) -> Result<Motion> {
    let name = spec.name.as_str();
    let key = if spec.start.is_some() { "start" } else { "speed" };
    let at = Where::Field(name, key);
    let is_frame = |side: &SideSpec| matches!(side, SideSpec::Frame(_));
    if is_frame(&spec.a) || is_frame(&spec.b) {
        let message = format!("`{name}` has a `Frame`, so the places of its bodies say where it starts");
        let help = "`start` and `speed` go with `Body(..)` and `at`".to_owned();
        return builder.wrong(&[at, owner(at)], message, Some(help));
    }
    let kind = joints::kind(builder, spec)?;
    let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
    let skewed = match kind {
        JointKind::SkewedUniversal { skew } => [x, Vec3::new(skew.sin(), skew.cos(), 0.0)],
        _ => [x, y],
    };
    let axes: &[Vec3] = match spec.kind {
        JointKindSpec::SkewedUniversal(_) => &skewed,
        JointKindSpec::Ellipsoid(_) => {
            let message = format!("`{name}` is an ellipsoid joint, which takes no `start` and no `speed`");
            let help = "give it a `Frame(..)` on both sides, and write the body where it starts".to_owned();
            return builder.wrong(&[at, owner(at)], message, Some(help));
        }
        JointKindSpec::Universal => &[x, y],
        JointKindSpec::GimbalXyz | JointKindSpec::Ball => &[x, y, z],
        JointKindSpec::GimbalXzy => &[x, z, y],
        JointKindSpec::Planar => &[x, y, z],
        JointKindSpec::PointOnPlane | JointKindSpec::PlanarTranslation => &[x, y],
        JointKindSpec::SlottedHinge => &[x, z],
        JointKindSpec::FixedAxis => &[x, y, z, x, y],
        JointKindSpec::Free => &[x, y, z, x, y, z],
        JointKindSpec::Hinge | JointKindSpec::Slider | JointKindSpec::PointOnLine => &[z],
        JointKindSpec::Cylindrical | JointKindSpec::Screw(_) => &[z, z],
        JointKindSpec::Fixed | JointKindSpec::Distance(_) | JointKindSpec::Bushing(_) => &[],
    };
    let is_way = |k: usize| matches!(kind.free_axes().get(k), Some((JointAxis::Translation(_), _)));
    let units = |k: usize| match is_way(k) {
        true => [quantity::Length::TAKES, quantity::Velocity::TAKES],
        false => [quantity::Angle::TAKES, quantity::Turning::TAKES],
    };
    let starts = numbers(
        builder,
        spec.start.as_ref(),
        axes.len(),
        kind,
        &|k| units(k)[0],
        Where::Field(name, "start"),
    )?;
    let rates = numbers(
        builder,
        spec.speed.as_ref(),
        axes.len(),
        kind,
        &|k| units(k)[1],
        Where::Field(name, "speed"),
    )?;
    if let JointKind::Screw { pitch } = kind {
        for (numbers, key) in [(&starts, "start"), (&rates, "speed")] {
            let way = pitch * numbers[1] / std::f64::consts::TAU;
            if (numbers[0] - way).abs() > 1e-9 * way.abs().max(pitch.abs()) {
                let at = Where::Field(name, key);
                let message = format!(
                    "the travel in `{key}` of `{name}` is {}, and its turns make {way}",
                    numbers[0]
                );
                return builder.wrong(&[at, owner(at)], message, None);
            }
        }
    }
    let part = |k: usize| Part {
        axis: axes[k],
        is_way: is_way(k),
        value: starts[k],
        rate: rates[k],
    };
    let parts = match spec.kind {
        JointKindSpec::Ball => ball(&starts, &rates),
        JointKindSpec::Free => (0..3).map(part).chain(ball(&starts[3..], &rates[3..])).collect(),
        _ => (0..axes.len()).map(part).collect(),
    };
    let frame = joints::joint_pose(builder, spec)?;
    Ok(Motion { frame, parts })
}

/// A ball joint has an angular velocity in the axes of its first side, and a rotation vector.
fn ball(start: &[f64], rate: &[f64]) -> Vec<Part> {
    let part = |numbers: &[f64], is_rate: bool| {
        let vector = Vec3::new(numbers[0], numbers[1], numbers[2]);
        let size = vector.norm();
        Part {
            axis: if size > 0.0 { vector / size } else { Vec3::z() },
            is_way: false,
            value: if is_rate { 0.0 } else { size },
            rate: if is_rate { size } else { 0.0 },
        }
    };
    vec![part(rate, true), part(start, false)]
}

/// One number for each free coordinate, zero if there are none.
fn numbers<D: Units>(
    builder: &Builder<'_>,
    list: Option<&Vec<Quantity<D>>>,
    count: usize,
    kind: JointKind,
    units: &dyn Fn(usize) -> &'static Takes,
    at: Where<'_>,
) -> Result<Vec<f64>> {
    let Some(list) = list else {
        return Ok(vec![0.0; count]);
    };
    if list.len() != count {
        let names: Vec<String> = kind
            .free_axes()
            .iter()
            .map(|(_, name)| format!("`{name}`"))
            .collect();
        let help = match (names.is_empty(), count) {
            (true, 0) => format!("a {} leaves nothing free that could start elsewhere", kind.name()),
            (_, 3) if kind == JointKind::Ball => {
                "of a ball joint, it is a rotation vector in the axes of its first side".to_owned()
            }
            _ => format!("one for each of {}", names.join(", ")),
        };
        let message = format!("{} has {} numbers, needed are {count}", describe(at), list.len());
        return builder.wrong(&[at, owner(at)], message, Some(help));
    }
    let number = |(k, number): (usize, &Quantity<D>)| builder.number(&number.taking(units(k)), at);
    list.iter().enumerate().map(number).collect()
}
