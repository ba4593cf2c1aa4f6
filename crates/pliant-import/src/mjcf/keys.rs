//! The keyframe `home` as the start.

use super::Reader;
use super::actuators::Driver;
use super::constraints::joint_at;
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::{Effects, Robot};
use pliant_dense::Vec3;
use pliant_dense::rotation::normalize;
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ImportError>;

/// Coordinates of the file that belong together, in its order.
pub(super) enum Coordinate {
    /// Seven of a link that moves freely.
    Free(usize),
    /// Four of a ball joint.
    Ball,
    /// One of a joint.
    Single(String),
    /// One of a particle, along this axis of the frame of its parent.
    Particle(usize, Vec3),
    /// So many of something that is not taken.
    Other(usize),
    /// An unknown number of something that is not taken.
    Unknown,
}

pub(super) fn read_keys(
    reader: &mut Reader<'_>,
    root: usize,
    robot: &mut Robot,
    actuators: &[Driver],
) -> Result<()> {
    let mut found = false;
    for section in reader.tree.all(root, "keyframe") {
        reader.tree.expect(section, &[], &["key"]);
        for of in reader.tree.all(section, "key") {
            let spot = reader.spot(of);
            if reader.tree.value(of, "name") == Some("home") && !found {
                found = true;
                reader.tree.expect(of, &["name", "qpos", "ctrl"], &[]);
                reader
                    .tree
                    .remark(spot, "the scene starts at the keyframe `home`");
                start_at(reader, of, robot)?;
                control(reader, of, robot, actuators)?;
            } else {
                reader
                    .tree
                    .remark(spot, "keyframes other than `home` are not taken");
            }
        }
    }
    Ok(())
}

fn start_at(reader: &mut Reader<'_>, of: usize, robot: &mut Robot) -> Result<()> {
    let Some(list) = reader.tree.list(of, "qpos")? else {
        return Ok(());
    };
    if reader.order.iter().any(|c| matches!(c, Coordinate::Unknown)) {
        let message = "`qpos` is not taken, as it has coordinates of a deformable that is not";
        reader.tree.remark(reader.tree.elements[of].spot, message);
        return Ok(());
    }
    let sizes = reader.order.iter().map(|c| match c {
        Coordinate::Free(_) => 7,
        Coordinate::Ball => 4,
        Coordinate::Single(_) | Coordinate::Particle(..) => 1,
        Coordinate::Other(count) => *count,
        Coordinate::Unknown => 0,
    });
    let expected: usize = sizes.sum();
    if list.len() != expected {
        let message = format!(
            "`qpos` has {} numbers, and the model {expected} coordinates",
            list.len()
        );
        return reader
            .tree
            .wrong(reader.tree.needed(of, "qpos")?.spot, message, None);
    }
    let mut at = 0;
    for coordinate in &reader.order {
        match coordinate {
            Coordinate::Free(link) => {
                let rotation = normalize([list[at + 3], list[at + 4], list[at + 5], list[at + 6]]);
                robot.links[*link].frame = Frame {
                    position: [list[at], list[at + 1], list[at + 2]].into(),
                    rotation: rotation.unwrap_or(Frame::IDENTITY.rotation),
                };
                at += 7;
            }
            Coordinate::Ball => {
                if list[at + 1..at + 4].iter().any(|x| *x != 0.0) {
                    let spot = reader.tree.elements[of].spot;
                    reader.tree.remark(spot, "ball joints start unturned");
                }
                at += 4;
            }
            Coordinate::Particle(number, axis) => {
                robot.extras.particles[*number].place += axis * list[at];
                at += 1;
            }
            Coordinate::Other(count) => at += count,
            Coordinate::Unknown => {}
            // What follows another joint has its start from there.
            Coordinate::Single(name) if reader.followers.contains(name) => at += 1,
            Coordinate::Single(name) => {
                let place = reader.joints.get(name).copied();
                if let Some(joint) = place.and_then(|place| joint_at(robot, place)) {
                    joint.start = list[at] - joint.reference;
                }
                at += 1;
            }
        }
    }
    Ok(())
}

/// Controls of actuators.
fn control(reader: &mut Reader<'_>, of: usize, robot: &mut Robot, actuators: &[Driver]) -> Result<()> {
    let Some(list) = reader.tree.list(of, "ctrl")? else {
        return Ok(());
    };
    if list.len() != actuators.len() {
        let (found, expected) = (list.len(), actuators.len());
        let message = format!("`ctrl` has {found} numbers, and the model {expected} actuators");
        return reader
            .tree
            .wrong(reader.tree.needed(of, "ctrl")?.spot, message, None);
    }
    let mut values: HashMap<&str, f64> = HashMap::new();
    for (value, driver) in list.iter().zip(actuators) {
        let Some(name) = driver.name.as_deref() else {
            continue;
        };
        let [lower, upper] = driver.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let nearest = value.max(lower).min(upper);
        if nearest != *value {
            let message = format!(
                "the control of `{name}` is {value} in the keyframe `home`, beyond its `ctrlrange`: it starts at {nearest}"
            );
            reader.tree.remark(reader.tree.elements[of].spot, message);
        }
        values.insert(name, nearest);
    }
    let set = |effects: &mut Effects| {
        for motor in &mut effects.motors {
            let value = values.get(motor.name.as_str()).copied().unwrap_or_default();
            motor.target += value / motor.gear;
        }
        for force in effects.forces.iter_mut().chain(&mut effects.brakes) {
            force.control = values.get(force.name.as_str()).copied().unwrap_or_default();
        }
    };
    for pull in &mut robot.extras.pulls {
        pull.control = values.get(pull.name.as_str()).copied().unwrap_or_default();
    }
    robot.joints_mut().for_each(|joint| set(&mut joint.effects));
    robot
        .tendons
        .iter_mut()
        .for_each(|tendon| set(&mut tendon.effects));
    Ok(())
}
