//! Effects on the coordinates of joints.

use super::Writer;
use crate::groups::Group;
use crate::numbers::{number, text, tuple};
use crate::robot::{Effects, Joint};
use crate::xml::Spot;
use std::fmt::Write as _;

impl Writer<'_> {
    /// The lists of a joint, a line each; inertias of drives and forces go to lists of their own.
    pub(super) fn write_effects(&mut self, entry: &mut String, name: &str, group: &Group, joints: &[Joint]) {
        let mut lists: [(&str, Vec<String>); 5] =
            ["springs", "dampers", "motors", "friction", "limits"].map(|key| (key, Vec::new()));
        let mut notes = Vec::new();
        for (coordinate, which) in &group.coordinates {
            let joint = &joints[*which];
            let effects = &joint.effects;
            let on = match group.coordinates.len() {
                1 => String::new(),
                _ => format!("on: {}, ", text(coordinate)),
            };
            if let Some((stiffness, rest)) = effects.spring {
                let rest = if rest == 0.0 {
                    String::new()
                } else {
                    format!(", rest: {}", number(rest))
                };
                lists[0]
                    .1
                    .push(format!("({on}compliance: {}{rest})", number(1.0 / stiffness)));
            }
            if effects.damping > 0.0 {
                lists[1]
                    .1
                    .push(format!("({on}damping: {})", number(effects.damping)));
            }
            for motor in &effects.motors {
                let parameter = self.parameter(&motor.name, motor.target);
                let mut motor_text = format!("Position({on}target: \"${parameter}\"");
                let _ = write!(motor_text, ", compliance: {}", number(1.0 / motor.stiffness));
                if motor.damping > 0.0 {
                    let _ = write!(
                        motor_text,
                        ", relaxation_time: {}",
                        number(motor.damping / motor.stiffness)
                    );
                }
                if let Some(force) = motor.force {
                    let _ = write!(motor_text, ", force: {}", number(force));
                }
                lists[2].1.push(motor_text + ")");
            }
            if effects.friction > 0.0 {
                lists[3]
                    .1
                    .push(format!("({on}force: {})", number(effects.friction)));
            }
            if effects.lower.is_some() || effects.upper.is_some() {
                let bound = |key, x: Option<f64>| x.map(|x| format!("{key}: {}", number(x)));
                let bounds = [bound("lower", effects.lower), bound("upper", effects.upper)];
                let bounds: Vec<String> = bounds.into_iter().flatten().collect();
                lists[4].1.push(format!("({on}{})", bounds.join(", ")));
            }
            if let Some([lower, upper]) = effects.range {
                notes.push(format!(
                    "limits: [({on}lower: {}, upper: {})],",
                    number(lower),
                    number(upper)
                ));
            }
            if let Some(effort) = effects.effort {
                let target = number(joint.start);
                let mut note = format!(
                    "motors: [Position({on}target: {target}, force: {})],",
                    number(effort)
                );
                if let Some(velocity) = effects.velocity {
                    let _ = write!(note, " // velocity at most {}", number(velocity));
                }
                notes.push(note);
            }
            let node = format!("{name}.{coordinate}");
            self.act(&node, &joint.name, effects);
        }
        if group.coordinates.is_empty() {
            for joint in joints {
                self.refuse(
                    &joint.effects,
                    joint.spot,
                    "of a joint that is neither a hinge nor a slide",
                );
            }
        }
        for (key, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            let _ = writeln!(entry, "    {key}: [{}],", list.join(", "));
        }
        for note in notes {
            let _ = writeln!(entry, "    // {note}");
        }
    }

    /// Inertias and forces that act on the node of a coordinate or a tendon.
    pub(super) fn act(&mut self, node: &str, name: &str, effects: &Effects) {
        if effects.armature > 0.0 {
            let name = self.name(&format!("{name}.armature"));
            let mass = number(effects.armature);
            self.masses.push(format!(
                "(name: {}, on: {}, mass: {mass}),",
                text(&name),
                text(node)
            ));
        }
        for stop in &effects.stops {
            let points: Vec<String> = stop.table.iter().map(|(x, t)| tuple(&[*x, *t])).collect();
            let law = format!("Spring(curve: Table([{}]))", points.join(", "));
            self.force(&stop.name, node, &law);
        }
        self.write_brakes(node, effects);
        for force in &effects.forces {
            let parameter = self.parameter(&force.name, force.control);
            let name = self.name(&force.name);
            let law = format!("Force([\"{} * ${parameter}\"])", number(force.gear));
            self.forces.push(format!(
                "(name: {}, on: {}, law: {law}),",
                text(&name),
                text(node)
            ));
        }
    }

    fn write_brakes(&mut self, node: &str, effects: &Effects) {
        for brake in &effects.brakes {
            let parameter = self.parameter(&brake.name, brake.control);
            let law = format!("Damping(linear: \"{} * ${parameter}\")", number(brake.gear));
            self.force(&brake.name, node, &law);
        }
    }

    /// Remarks on effects that have no place in the scene.
    fn refuse(&mut self, effects: &Effects, spot: Spot, of: &str) {
        let limits = effects.lower.is_some() || effects.upper.is_some();
        let there = [
            (limits, "limits"),
            (effects.damping > 0.0, "damping"),
            (effects.friction > 0.0, "friction"),
            (effects.armature > 0.0, "armature"),
            (effects.spring.is_some(), "stiffness"),
            (
                !(effects.motors.is_empty() && effects.forces.is_empty() && effects.brakes.is_empty()),
                "actuators",
            ),
        ];
        for (_, what) in there.iter().filter(|(there, _)| *there) {
            let verb = if what.ends_with('s') && *what != "stiffness" {
                "are"
            } else {
                "is"
            };
            self.tree.remark(spot, format!("{what} {of} {verb} not taken"));
        }
    }

    /// A parameter of the scene, by a name that expressions can use.
    pub(super) fn parameter(&mut self, wanted: &str, value: f64) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut base: String = wanted.chars().map(plain).collect();
        // Single letters have meanings of their own in expressions, and names do not begin with
        // digits.
        if base.len() < 2 || base == "pi" || base.starts_with(|c: char| c.is_ascii_digit()) {
            base = format!("control_{base}");
        }
        let mut name = base.clone();
        while self.parameters.contains_key(&name) {
            let count = self.counts.entry(format!("${base}")).or_insert(1);
            *count += 1;
            name = format!("{base}_{count}");
        }
        self.parameters.insert(name.clone(), number(value));
        name
    }

    pub(super) fn force(&mut self, name: &str, on: &str, law: &str) {
        let name = self.name(name);
        self.forces
            .push(format!("(name: {}, on: {}, law: {law}),", text(&name), text(on)));
    }
}
