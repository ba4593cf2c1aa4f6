//! Coordinates at the start: those that are asked for, within their limits, and those that follow
//! others.

use crate::error::ImportError;
use crate::options::Options;
use crate::robot::{Motion, Robot};
use crate::xml::Tree;
use pliant_scene::hint;
use std::collections::{HashMap, HashSet};

/// The longest row of joints that follow each other.
const MOST_LEADERS: usize = 1000;

/// Sets the coordinates at the start.
pub(crate) fn set(robot: &mut Robot, tree: &mut Tree, options: &Options) -> Result<(), ImportError> {
    check_gears(robot, tree)?;
    let followers: HashMap<String, (String, f64)> = robot
        .gears
        .iter()
        .map(|g| (g.first.clone(), (g.second.clone(), g.ratio)))
        .collect();
    let mut asked: HashMap<&str, f64> = HashMap::new();
    for (name, value) in &options.start {
        let joint = robot.joints().find(|j| j.name == *name);
        let moves = joint.is_some_and(|j| matches!(j.motion, Motion::Hinge | Motion::Slider));
        if !moves || !value.is_finite() {
            let message = match joint {
                None => format!("there is no joint `{name}` to start at {value}"),
                Some(_) => format!("`{name}` cannot start at {value}"),
            };
            let names: Vec<String> = robot.joints().map(|j| j.name.clone()).collect();
            let help = hint(name, "joints", names.iter().map(String::as_str));
            return Err(ImportError::Option { message, help });
        }
        if let Some((leader, _)) = followers.get(name) {
            let message = format!("`{name}` follows `{leader}`: it has no start of its own");
            return Err(ImportError::Option { message, help: None });
        }
        asked.insert(name, *value);
    }
    let mut starts: HashMap<String, f64> = HashMap::new();
    let mut moved = Vec::new();
    for joint in robot.joints_mut().filter(|j| !followers.contains_key(&j.name)) {
        let effects = &joint.effects;
        let inside = |x: f64| {
            let x = effects.lower.map_or(x, |lower| x.max(lower));
            effects.upper.map_or(x, |upper| x.min(upper))
        };
        match asked.get(joint.name.as_str()) {
            Some(value) => joint.start = *value - joint.reference,
            None => {
                let start = inside(joint.start);
                if start != joint.start {
                    joint.start = start;
                    moved.push((
                        joint.spot,
                        "a joint whose limits leave out its start begins at the nearest of them",
                    ));
                }
            }
        }
        starts.insert(joint.name.clone(), joint.start);
    }
    for (spot, message) in moved {
        tree.remark(spot, message);
    }
    follow(robot, &followers, &starts);
    Ok(())
}

/// Joints that follow others start where these are; what they are themselves is an offset.
fn follow(robot: &mut Robot, followers: &HashMap<String, (String, f64)>, starts: &HashMap<String, f64>) {
    let offsets: HashMap<String, f64> = robot.joints().map(|j| (j.name.clone(), j.start)).collect();
    for joint in robot.joints_mut().filter(|j| followers.contains_key(&j.name)) {
        // Along the chain of leaders, which `check_gears` found to end.
        let mut value = 0.0;
        let mut factor = 1.0;
        let mut at = joint.name.as_str();
        while let Some((leader, ratio)) = followers.get(at) {
            value += factor * offsets.get(at).copied().unwrap_or_default();
            factor *= -ratio;
            at = leader;
        }
        joint.start = value + factor * starts.get(at).copied().unwrap_or_default();
    }
}

/// Refuses joints that follow none, themselves, or more than one.
fn check_gears(robot: &Robot, tree: &Tree) -> Result<(), ImportError> {
    let mut leaders: HashMap<&str, &str> = HashMap::new();
    let names: Vec<&str> = robot.joints().map(|j| j.name.as_str()).collect();
    let known: HashSet<&str> = names.iter().copied().collect();
    for gear in &robot.gears {
        for name in [&gear.first, &gear.second] {
            if !known.contains(name.as_str()) {
                let help = hint(name, "joints", names.iter().copied());
                return tree.wrong(gear.spot, format!("there is no moving joint `{name}`"), help);
            }
        }
        if leaders.insert(&gear.first, &gear.second).is_some() {
            return tree.wrong(gear.spot, format!("`{}` follows two joints", gear.first), None);
        }
    }
    for gear in &robot.gears {
        let mut at = gear.first.as_str();
        let mut steps = 0;
        while let Some(leader) = leaders.get(at) {
            at = leader;
            steps += 1;
            if steps > leaders.len() {
                return tree.wrong(gear.spot, format!("`{}` follows itself", gear.first), None);
            }
            if steps > MOST_LEADERS {
                let message = format!(
                    "`{}` follows more than {MOST_LEADERS} joints in a row",
                    gear.first
                );
                return tree.wrong(gear.spot, message, None);
            }
        }
    }
    Ok(())
}
