//! Coordinates at the start: those that are asked for, within their limits, and those that follow
//! others.

use crate::error::ImportError;
use crate::options::Options;
use crate::robot::{Joint, Motion, Robot, Shape1};
use crate::xml::{Spot, Tree};
use pliant_scene::hint;
use std::collections::{HashMap, HashSet};

/// The longest row of joints that follow each other.
const MOST_LEADERS: usize = 1000;

/// How a coordinate follows another one, beside an offset of its own.
enum Law {
    Factor(f64),
    Curve(Shape1),
}

/// By joint that follows another one: that one and how.
type Followers = HashMap<String, (String, Law)>;

/// Sets the coordinates at the start.
pub(crate) fn set(robot: &mut Robot, tree: &mut Tree, options: &Options) -> Result<(), ImportError> {
    check_rows(robot, tree)?;
    let gears = robot.gears.iter();
    let gears = gears.map(|g| (g.first.clone(), (g.second.clone(), Law::Factor(-g.ratio))));
    let curves = robot.extras.curves.iter();
    let curves = curves.map(|c| (c.first.clone(), (c.second.clone(), Law::Curve(c.shape.clone()))));
    let followers: Followers = gears.chain(curves).collect();
    let mut asked: HashMap<&str, f64> = HashMap::new();
    for (name, value) in &options.start {
        let joint = robot.joints().find(|j| j.name == *name);
        let scalar = robot.extras.scalars.iter().any(|s| s.name == *name);
        let moves = scalar || joint.is_some_and(|j| matches!(j.motion, Motion::Hinge | Motion::Slider));
        if !moves || !value.is_finite() {
            let message = match joint {
                None => format!("there is no joint `{name}` to start at {value}"),
                Some(_) => format!("`{name}` cannot start at {value}"),
            };
            let scalars = robot.extras.scalars.iter().map(|s| s.name.as_str());
            let joints = robot.joints().filter(|j| !j.follows).map(|j| j.name.as_str());
            let names: Vec<&str> = joints.chain(scalars).collect();
            let help = match moves {
                true => None,
                false => hint(name, "joints", names.iter().copied()),
            };
            return Err(ImportError::Option { message, help });
        }
        if let Some(joint) = joint {
            check_range(joint, *value)?;
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
            Some(value) => joint.start = *value * joint.scale - joint.reference,
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
    let scalars = robot.extras.scalars.iter_mut();
    for scalar in scalars.filter(|s| !followers.contains_key(&s.name)) {
        if let Some(value) = asked.get(scalar.name.as_str()) {
            scalar.start = *value;
        }
        starts.insert(scalar.name.clone(), scalar.start);
    }
    follow(robot, &followers, &starts);
    Ok(())
}

/// Refuses a start beyond the limits of a joint, and a turn by more than half of one, which no place of
/// its bodies tells from less.
fn check_range(joint: &Joint, value: f64) -> Result<(), ImportError> {
    let start = value * joint.scale - joint.reference;
    let name = &joint.name;
    let refuse = |message: String| Err(ImportError::Option { message, help: None });
    let (lower, upper) = (joint.effects.lower, joint.effects.upper);
    // Limits that were read as degrees are rounded.
    let rounding = 1e-9;
    if lower.is_some_and(|lower| start < lower - rounding)
        || upper.is_some_and(|upper| start > upper + rounding)
    {
        let own = |limit: Option<f64>| {
            limit.map_or_else(
                || "none".to_owned(),
                |x| format!("{}", (x + joint.reference) / joint.scale),
            )
        };
        return refuse(format!(
            "`{name}` cannot start at {value}: its limits are {} and {}",
            own(lower),
            own(upper)
        ));
    }
    if joint.motion == Motion::Hinge && start.abs() > std::f64::consts::PI + rounding {
        return refuse(format!(
            "`{name}` cannot start at {value}: an angle at the start is at most half a turn"
        ));
    }
    Ok(())
}

/// Joints that follow others start where these are; what they are themselves is an offset.
fn follow(robot: &mut Robot, followers: &Followers, starts: &HashMap<String, f64>) {
    let joints = robot.joints().map(|j| (j.name.clone(), j.start));
    let scalars = robot.extras.scalars.iter().map(|s| (s.name.clone(), s.start));
    let offsets: HashMap<String, f64> = joints.chain(scalars).collect();
    let rates = robot.joints().map(|j| (j.name.clone(), j.speed));
    let scalars = robot.extras.scalars.iter().map(|s| (s.name.clone(), s.speed));
    let speeds: HashMap<String, f64> = rates.chain(scalars).collect();
    let state_of = |name: &str| {
        // Along the chain of leaders, which `check_rows` found to end, and back.
        let mut chain = Vec::new();
        let mut at = name;
        while let Some((leader, law)) = followers.get(at) {
            chain.push((at, law));
            at = leader;
        }
        let mut value = starts.get(at).copied().unwrap_or_default();
        let mut speed = speeds.get(at).copied().unwrap_or_default();
        for (follower, law) in chain.iter().rev() {
            let offset = offsets.get(*follower).copied().unwrap_or_default();
            let (own, slope) = match law {
                Law::Factor(factor) => (factor * value, *factor),
                Law::Curve(shape) => shape.at(value),
            };
            value = offset + own;
            speed *= slope;
        }
        (value, speed)
    };
    for joint in robot.joints_mut().filter(|j| followers.contains_key(&j.name)) {
        (joint.start, joint.speed) = state_of(&joint.name);
    }
    let scalars = robot.extras.scalars.iter_mut();
    for scalar in scalars.filter(|s| followers.contains_key(&s.name)) {
        (scalar.start, scalar.speed) = state_of(&scalar.name);
    }
}

/// Refuses joints that follow none, themselves, or more than one.
fn check_rows(robot: &Robot, tree: &Tree) -> Result<(), ImportError> {
    let gears = robot.gears.iter().map(|g| (&g.first, &g.second, g.spot));
    let curves = robot.extras.curves.iter().map(|c| (&c.first, &c.second, c.spot));
    let rows: Vec<(&String, &String, Spot)> = gears.chain(curves).collect();
    let mut leaders: HashMap<&str, &str> = HashMap::new();
    let scalars = robot.extras.scalars.iter().map(|s| s.name.as_str());
    let names: Vec<&str> = robot.joints().map(|j| j.name.as_str()).chain(scalars).collect();
    let known: HashSet<&str> = names.iter().copied().collect();
    for (first, second, spot) in &rows {
        for name in [first, second] {
            if !known.contains(name.as_str()) {
                let help = hint(name, "joints", names.iter().copied());
                return tree.wrong(*spot, format!("there is no moving joint `{name}`"), help);
            }
        }
        if leaders.insert(first, second).is_some() {
            return tree.wrong(*spot, format!("`{first}` follows two joints"), None);
        }
    }
    for (first, _, spot) in &rows {
        let mut at = first.as_str();
        let mut steps = 0;
        while let Some(leader) = leaders.get(at) {
            at = leader;
            steps += 1;
            if steps > leaders.len() {
                return tree.wrong(*spot, format!("`{first}` follows itself"), None);
            }
            if steps > MOST_LEADERS {
                let message = format!("`{first}` follows more than {MOST_LEADERS} joints in a row");
                return tree.wrong(*spot, message, None);
            }
        }
    }
    Ok(())
}
