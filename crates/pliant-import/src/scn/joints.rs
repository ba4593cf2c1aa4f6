//! Joints of the Compliant plugin: poses of one frame against another, some coordinates of which
//! are held, sprung, damped, limited or driven. Where the held ones are those of a joint of a
//! scene, they become that joint; else rows on the coordinates.

use super::forces::Forces;
use super::laws::{Holding, Law, Spring};
use super::nodes::Nodes;
use super::parts::{brackets, each, names};
use super::states::{Coordinate, Kind, Placed, repeated};
use super::{Input, Result};
use crate::geometry::{Frame, from_axes};
use crate::numbers::{number, text, tidy, vector};
use crate::write::{place, rotation};
use crate::xml::Spot;
use pliant_dense::Vec3;
use pliant_dense::rotation::rotate;
use std::fmt::Write as _;

/// Effects on the six coordinates of a joint: three translations, three rotations.
#[derive(Clone, Debug, Default)]
pub(super) struct Acting {
    spot: Spot,
    /// Compliances of what is held; zero is hard.
    held: [Option<f64>; 6],
    level: Option<String>,
    /// Axis, compliance and rest.
    springs: Vec<(usize, f64, f64)>,
    dampers: [f64; 6],
    limits: [(Option<f64>, Option<f64>); 6],
    /// Axis, and a motor as text.
    motors: Vec<(usize, String)>,
    /// Largest dry friction.
    friction: [f64; 6],
    forces: [f64; 6],
}

/// A kind of joint, and the axis of the frames that its own axis is.
#[derive(Clone, Copy)]
struct Found {
    kind: &'static str,
    axis: usize,
}

const LETTERS: [&str; 3] = ["x", "y", "z"];

/// Writer of joints.
pub(super) struct Joints<'r, 'a>(pub(super) &'r mut Input<'a>);

impl Joints<'_, '_> {
    /// Gives the joints of a pose, or of coordinates of one, what a law on it does.
    pub(super) fn put_on_joint(&mut self, state: usize, label: &str, law: &Law, at: Spot) {
        let (joint, rows) = match &self.0.states[state].kind {
            Kind::Joint { pairs, axes } => {
                let all = super::mappings::all_coordinates(pairs.len());
                let rows: Vec<_> = all
                    .into_iter()
                    .enumerate()
                    .filter(|(_, r)| axes[r.axis])
                    .collect();
                (state, rows)
            }
            Kind::Coordinates { joint, rows } => (*joint, rows.iter().copied().enumerate().collect()),
            _ => return,
        };
        for (index, row) in rows {
            let acting = self.0.acting.entry((joint, row.pair)).or_default();
            acting.spot = at;
            match law {
                Law::Spring(spring, holding) => acting.hold(index, &row, spring, holding),
                Law::Damper(list) => acting.dampers[row.axis] += repeated(list, index + 1, 0.0)[index],
                Law::Curve(_) => {
                    let message = format!("`{label}` on coordinates of a joint is not taken");
                    self.0.tree.remark(at, message);
                    return;
                }
            }
        }
    }

    /// A force along a coordinate of a joint.
    pub(super) fn force_on_joint(&mut self, joint: usize, row: &Coordinate, force: f64) {
        self.0.acting.entry((joint, row.pair)).or_default().forces[row.axis] += force;
    }

    /// Writes all joints on which something acts.
    pub(super) fn write_joints(&mut self) -> Result<()> {
        for ((state, pair), acting) in std::mem::take(&mut self.0.acting) {
            let Kind::Joint { pairs, .. } = &self.0.states[state].kind else {
                continue;
            };
            let (several, sides) = (pairs.len() > 1, pairs[pair]);
            // The name of its state is that of no node, so that one joint may have it.
            let name = match several {
                true => self.0.unused(&format!("{} {pair}", self.0.states[state].name)),
                false => self.0.states[state].name.clone(),
            };
            self.write_joint(&name, sides, acting);
        }
        Ok(())
    }

    fn write_joint(&mut self, name: &str, sides: (Placed, Placed), mut acting: Acting) {
        if sides.0.body == sides.1.body {
            self.0
                .tree
                .remark(acting.spot, "a joint of a body with itself is not taken");
            return;
        }
        let found = acting.kind();
        let compliances: Vec<f64> = acting.held.iter().flatten().copied().collect();
        let alike = compliances.iter().all(|c| *c == compliances[0]);
        let found = found.filter(|f| alike || matches!(f.kind, "Fixed" | "Ball"));
        if let Some(found) = found {
            let mut entry = format!(
                "(\n    name: {}, kind: {}{}",
                text(name),
                found.kind,
                self.sides(sides, found.axis)
            );
            if let Some(level) = &acting.level {
                let _ = write!(entry, ", level: {level}");
            }
            if compliances.iter().any(|c| *c > 0.0) {
                let _ = write!(entry, ", compliance: {}", each(&compliances));
            }
            entry.push_str(",\n");
            acting.held = [None; 6];
            self.write_named(&mut entry, name, found, &mut acting);
            entry.push_str("),");
            self.0.parts.joints.push(entry);
        }
        self.write_rest(name, sides, &acting);
    }

    /// The sides of a joint whose z axis is an axis of the frames.
    fn sides(&self, (a, b): (Placed, Placed), axis: usize) -> String {
        let turned = Frame::turned(from_axes(
            super::mappings::unit((axis + 1) % 3),
            super::mappings::unit((axis + 2) % 3),
            super::mappings::unit(axis),
        ));
        let mut out = String::new();
        for (key, side) in [("a", a), ("b", b)] {
            let frame = side.frame.then(&turned);
            match side.body {
                Some((state, element)) => {
                    let body = text(&self.0.states[state].name);
                    let pose = format!(
                        "{}{}",
                        place("position", frame.position),
                        rotation(frame.rotation)
                    );
                    let _ = write!(out, ",\n    {key}: Frame(body: ({body}, {element}){pose})");
                }
                None => {
                    let _ = write!(out, "{}", place("at", frame.position));
                    if !frame.is_upright() {
                        let along = |v: Vec3| vector(rotate(frame.rotation, v));
                        let _ = write!(out, ", axis: {}, x_axis: {}", along(Vec3::z()), along(Vec3::x()));
                    }
                }
            }
        }
        out
    }

    /// Effects on the coordinates that a joint names; they are taken out of the list.
    fn write_named(&mut self, entry: &mut String, joint: &str, found: Found, acting: &mut Acting) {
        let several = matches!(found.kind, "Cylindrical" | "Planar" | "PointOnPlane");
        let on = |name: &str| {
            if several {
                format!("on: {}, ", text(name))
            } else {
                String::new()
            }
        };
        let mut lists: [Vec<String>; 5] = Default::default();
        for axis in 0..6 {
            let Some(name) = found.coordinate(axis) else {
                continue;
            };
            for (_, compliance, rest) in acting.springs.iter().filter(|s| s.0 == axis) {
                let rest = if *rest == 0.0 {
                    String::new()
                } else {
                    format!(", rest: {}", number(*rest))
                };
                lists[0].push(format!("({}compliance: {}{rest})", on(name), number(*compliance)));
            }
            acting.springs.retain(|s| s.0 != axis);
            let damping = std::mem::take(&mut acting.dampers[axis]);
            if damping > 0.0 {
                lists[1].push(format!("({}damping: {})", on(name), number(damping)));
            }
            for (_, motor) in acting.motors.iter().filter(|m| m.0 == axis) {
                let (kind, keys) = motor.split_once('(').unwrap_or((motor, ""));
                lists[2].push(format!("{kind}({}{keys}", on(name)));
            }
            acting.motors.retain(|m| m.0 != axis);
            let friction = std::mem::take(&mut acting.friction[axis]);
            if friction > 0.0 {
                lists[3].push(format!("({}force: {})", on(name), number(friction)));
            }
            let (lower, upper) = std::mem::take(&mut acting.limits[axis]);
            let keys = [("lower", lower), ("upper", upper)].into_iter();
            let keys: Vec<String> = keys
                .filter_map(|(k, v)| Some(format!("{k}: {}", number(v?))))
                .collect();
            if !keys.is_empty() {
                lists[4].push(format!("({}{})", on(name), keys.join(", ")));
            }
            let force = std::mem::take(&mut acting.forces[axis]);
            if force != 0.0 {
                let law = self.0.unused(&format!("{joint}/force"));
                let node = format!("{joint}.{name}");
                let entry = format!(
                    "(name: {}, on: {}, law: Force([{}])),",
                    text(&law),
                    text(&node),
                    number(force)
                );
                self.0.parts.forces.push(entry);
            }
        }
        for (key, list) in ["springs", "dampers", "motors", "friction", "limits"]
            .iter()
            .zip(&lists)
        {
            if !list.is_empty() {
                let _ = writeln!(entry, "    {key}: [{}],", list.join(", "));
            }
        }
    }

    /// Effects on coordinates that have no name: rows on them.
    fn write_rest(&mut self, joint: &str, sides: (Placed, Placed), acting: &Acting) {
        let held: Vec<(usize, f64)> = (0..6).filter_map(|a| Some((a, acting.held[a]?))).collect();
        if !held.is_empty() {
            let axes: Vec<usize> = held.iter().map(|h| h.0).collect();
            let on = self.coordinates(joint, "held", sides, &axes);
            let level = acting
                .level
                .as_ref()
                .map_or_else(String::new, |l| format!(", level: {l}"));
            let list: Vec<f64> = held.iter().map(|h| h.1).collect();
            self.push_law(&on, &list, &level);
        }
        let springs: Vec<&(usize, f64, f64)> = acting.springs.iter().filter(|s| s.2 == 0.0).collect();
        if springs.len() < acting.springs.len() {
            self.0.tree.remark(
                acting.spot,
                "a spring of a joint that is not at rest at zero is not taken here",
            );
        }
        if !springs.is_empty() {
            let axes: Vec<usize> = springs.iter().map(|s| s.0).collect();
            let on = self.coordinates(joint, "sprung", sides, &axes);
            self.push_law(&on, &springs.iter().map(|s| s.1).collect::<Vec<_>>(), "");
        }
        self.write_dampers(joint, sides, acting);
        for (axis, (lower, upper)) in acting.limits.iter().enumerate() {
            for (limit, bound) in [(lower, "lower"), (upper, "upper")] {
                if let Some(limit) = limit {
                    let on = self.coordinates(joint, &format!("{bound} limit"), sides, &[axis]);
                    let name = self.0.unused(&format!("{on}/stop"));
                    let motion = if *limit == 0.0 {
                        String::new()
                    } else {
                        format!(", motion: {}", number(*limit))
                    };
                    let entry = format!(
                        "(name: {}, on: {}{motion}, bounds: ({bound}: 0)),",
                        text(&name),
                        text(&on)
                    );
                    self.0.parts.constraints.push(entry);
                }
            }
        }
        if !acting.motors.is_empty() || acting.friction.iter().any(|f| *f > 0.0) {
            let message =
                "motors and dry friction of a joint are taken on coordinates that its kind names alone";
            self.0.tree.remark(acting.spot, message);
        }
        let forces: Vec<usize> = (0..6).filter(|a| acting.forces[*a] != 0.0).collect();
        for axis in forces {
            let on = self.coordinates(joint, "loaded", sides, &[axis]);
            let name = self.0.unused(&format!("{on}/force"));
            let law = format!("Force([{}])", number(acting.forces[axis]));
            self.0
                .parts
                .forces
                .push(format!("(name: {}, on: {}, law: {law}),", text(&name), text(&on)));
        }
    }

    fn write_dampers(&mut self, joint: &str, sides: (Placed, Placed), acting: &Acting) {
        let held: [bool; 6] = std::array::from_fn(|a| acting.held[a].is_some());
        let mut left: Vec<usize> = (0..6).filter(|a| acting.dampers[*a] > 0.0 && !held[*a]).collect();
        let about = acting.dampers[3];
        let still = |p: &Placed| p.body.is_none_or(|b| self.0.still.contains(&b));
        let moving = match (still(&sides.0), still(&sides.1)) {
            (true, false) => sides.1.body,
            (false, true) => sides.0.body,
            _ => None,
        };
        if let Some((state, element)) = moving
            && acting.dampers[3..].iter().all(|d| *d == about)
            && [3, 4, 5].iter().all(|a| left.contains(a))
        {
            // Against something that stands still, that is a damper of the body for any turn.
            let mut on = self.0.states[state].name.clone();
            if self.0.count(state) > 1 {
                let part = self.0.unused(&format!("{joint}/body"));
                let mapping = format!("Subset(elements: [{element}])");
                self.0.parts.nodes.push(format!(
                    "Mapped(name: {}, parents: [{}], mapping: {mapping}),",
                    text(&part),
                    text(&on)
                ));
                on = part;
            }
            let name = self.0.unused(&format!("{joint}/damping"));
            let law = format!("Damping(linear: 0, angular: {})", number(about));
            self.0
                .parts
                .forces
                .push(format!("(name: {}, on: {}, law: {law}),", text(&name), text(&on)));
            left.retain(|a| *a < 3);
        }
        while let Some(first) = left.first().copied() {
            let damping = acting.dampers[first];
            let same: Vec<usize> = left
                .iter()
                .copied()
                .filter(|a| acting.dampers[*a] == damping)
                .collect();
            left.retain(|a| acting.dampers[*a] != damping);
            let on = self.coordinates(joint, "damped", sides, &same);
            let name = self.0.unused(&format!("{on}/damping"));
            let law = format!("Damping(linear: {})", number(damping));
            self.0
                .parts
                .forces
                .push(format!("(name: {}, on: {}, law: {law}),", text(&name), text(&on)));
        }
    }

    /// A spring or hard rows on a node of coordinates.
    fn push_law(&mut self, on: &str, compliances: &[f64], level: &str) {
        let name = self.0.unused(&format!("{on}/law"));
        let head = format!("(name: {}, on: {}", text(&name), text(on));
        if compliances.iter().all(|c| *c == 0.0) {
            self.0.parts.constraints.push(format!("{head}{level}),"));
            return;
        }
        let law = match compliances.iter().all(|c| *c == compliances[0]) {
            true => format!("Compliance({})", number(compliances[0])),
            false => format!("Diagonal({})", super::parts::numbers(compliances)),
        };
        self.0.parts.forces.push(format!("{head}, law: {law}),"));
    }

    /// A node with some coordinates of a joint.
    fn coordinates(&mut self, joint: &str, what: &str, (a, b): (Placed, Placed), axes: &[usize]) -> String {
        let name = self.0.unused(&format!("{joint}/{what}"));
        let bodies: Vec<(usize, usize)> = [a.body, b.body].into_iter().flatten().collect();
        let parents = Nodes(self.0).parents(bodies.iter().map(|body| body.0));
        let frame = |side: &Placed| {
            let body = side.body.map(|(state, element)| {
                match parents.iter().position(|(known, _)| *known == state) {
                    Some(1) => format!("body: ({}, {element})", text(&parents[1].1)),
                    _ => format!("body: {element}"),
                }
            });
            let pose = format!(
                "{}{}",
                place("position", side.frame.position),
                rotation(side.frame.rotation)
            );
            format!(
                "({})",
                format!("{}{pose}", body.unwrap_or_default()).trim_start_matches(", ")
            )
        };
        let axis = |a: &usize| match a {
            0..3 => format!("Translation({})", LETTERS[*a]),
            _ => format!("Rotation({})", LETTERS[*a % 3]),
        };
        let axes: Vec<String> = axes.iter().map(axis).collect();
        let mapping = format!(
            "JointCoordinates(pairs: [({}, {})], axes: {})",
            frame(&a),
            frame(&b),
            brackets(&axes)
        );
        let parents = names(parents.iter().map(|(_, n)| n.as_str()));
        self.0.parts.nodes.push(format!(
            "Mapped(name: {}, parents: {parents}, mapping: {mapping}),",
            text(&name)
        ));
        name
    }

    /// Six springs between a body and where it is at rest.
    pub(super) fn bushing(
        &mut self,
        component: usize,
        state: usize,
        element: usize,
        rest: &Frame,
        stiffness: f64,
        angular: f64,
    ) {
        let on = self.0.states[state].name.clone();
        let name = Forces(self.0).name_on(&on, component);
        let about = if angular > 0.0 {
            1.0 / angular
        } else {
            f64::INFINITY
        };
        if about.is_infinite() {
            self.0.tree.remark(super::spot(self.0.tree, component), "springs of `RestShapeSpringsForceField` on bodies without `angularStiffness` above zero are not taken");
            return;
        }
        let c = 1.0 / stiffness;
        let compliances: Vec<String> = tidy([c, c, c, about, about, about]).map(number).to_vec();
        let side = Placed {
            body: Some((state, element)),
            frame: Frame::IDENTITY,
        };
        let world = Placed {
            body: None,
            frame: *rest,
        };
        let sides = self.sides((world, side), 2);
        let kind = format!("Bushing(compliances: ({}))", compliances.join(", "));
        self.0
            .parts
            .joints
            .push(format!("(\n    name: {}, kind: {kind}{sides},\n),", text(&name)));
    }
}

impl Acting {
    /// A spring or a hard row on one coordinate.
    fn hold(&mut self, index: usize, row: &Coordinate, spring: &Spring, holding: &Holding) {
        let compliance = match &spring.compliances[..] {
            [one] => *one,
            several => repeated(several, index + 1, 0.0)[index],
        };
        let Coordinate {
            axis, sign, offset, ..
        } = *row;
        let value = sign * offset;
        if let Some(velocities) = &holding.velocities {
            let speed = sign * repeated(velocities, index + 1, 0.0)[index];
            match (speed, holding.force) {
                (0.0, Some(force)) => self.friction[axis] += force,
                (speed, force) => {
                    let force = force.map_or_else(String::new, |f| format!(", force: {}", number(f)));
                    self.motors
                        .push((axis, format!("Velocity(speed: {}{force})", number(speed))));
                }
            }
            return;
        }
        if holding.pushes || holding.pulls {
            // Pushed away from below along the coordinate, or from above.
            let limit = &mut self.limits[axis];
            match holding.pushes == (sign > 0.0) {
                true => limit.0 = Some(limit.0.map_or(value, |l: f64| l.max(value))),
                false => limit.1 = Some(limit.1.map_or(value, |u: f64| u.min(value))),
            }
            return;
        }
        let hard = compliance == 0.0 || spring.stiffness && compliance <= f64::EPSILON;
        match (hard, offset == 0.0) {
            (true, true) => {
                self.held[axis] = Some(0.0);
                self.level.clone_from(&holding.level);
            }
            (true, false) => self
                .motors
                .push((axis, format!("Position(target: {})", number(value)))),
            (false, true) if !spring.stiffness => self.held[axis] = Some(compliance),
            (false, _) => self.springs.push((axis, compliance, value)),
        }
    }

    /// The kind of joint that holds what is held.
    fn kind(&self) -> Option<Found> {
        let held = |axis: usize| self.held[axis].is_some();
        let count = |from: usize| (from..from + 3).filter(|a| held(*a)).count();
        let free = |from: usize| (0..3).find(|a| !held(from + a)).unwrap_or(2);
        let only = |from: usize| (0..3).find(|a| held(from + a)).unwrap_or(2);
        let (kind, axis) = match (count(0), count(3)) {
            (3, 3) => ("Fixed", 2),
            (3, 0) => ("Ball", 2),
            (3, 2) => ("Hinge", free(3)),
            (2, 3) => ("Slider", free(0)),
            (2, 2) if free(0) == free(3) => ("Cylindrical", free(0)),
            (1, 2) if only(0) == free(3) => ("Planar", free(3)),
            (2, 0) => ("PointOnLine", free(0)),
            (1, 0) => ("PointOnPlane", only(0)),
            _ => return None,
        };
        Some(Found { kind, axis })
    }
}

impl Found {
    /// The name of a free coordinate.
    fn coordinate(self, axis: usize) -> Option<&'static str> {
        // Axes of the frames as the joint counts them: its own is the third.
        let own = (axis % 3 + 5 - self.axis) % 3;
        match (self.kind, axis < 3, own) {
            ("Slider" | "Cylindrical" | "PointOnLine", true, 2) => Some("travel"),
            ("Hinge" | "Cylindrical" | "Planar", false, 2) => Some("angle"),
            ("Planar" | "PointOnPlane", true, 0) => Some("x"),
            ("Planar" | "PointOnPlane", true, 1) => Some("y"),
            _ => None,
        }
    }
}
