//! Actuators, as servos of joints and as forces that a parameter of the scene sets.

use super::Reader;
use super::constraints::joint_at;
use super::defaults::ACTUATORS;
use super::settings::truth;
use crate::error::ImportError;
use crate::robot::{Effects, Force, Motor, Robot};

type Result<T> = std::result::Result<T, ImportError>;

/// The law of an actuator: `gain control - stiffness length - damping velocity`.
struct Law {
    gain: f64,
    stiffness: f64,
    damping: f64,
}

/// Puts actuators on joints and tendons; their names, in the order of the file, for those that
/// were taken.
pub(super) fn read_actuators(
    reader: &mut Reader<'_>,
    root: usize,
    robot: &mut Robot,
) -> Result<Vec<Option<String>>> {
    let mut names = Vec::new();
    for section in reader.tree.all(root, "actuator") {
        reader.tree.expect(section, &[], &ACTUATORS);
        for of in reader.tree.elements[section].children.clone() {
            let name = match reader.tree.value(of, "name") {
                Some(name) if !name.is_empty() => name.to_owned(),
                _ => format!("actuator {}", names.len() + 1),
            };
            let taken = read_actuator(reader, of, &name, robot)?;
            names.push(taken.then_some(name));
        }
    }
    Ok(names)
}

fn read_actuator(reader: &mut Reader<'_>, of: usize, name: &str, robot: &mut Robot) -> Result<bool> {
    let known = [
        "name",
        "class",
        "joint",
        "tendon",
        "gear",
        "kp",
        "kv",
        "gainprm",
        "biasprm",
        "gaintype",
        "biastype",
        "dyntype",
        "dynprm",
        "timeconst",
        "forcerange",
        "forcelimited",
        "ctrlrange",
        "ctrllimited",
        "group",
    ];
    reader.tree.expect(of, &known, &[]);
    let spot = reader.spot(of);
    if has_state(reader, of)? {
        reader
            .tree
            .remark(spot, "an actuator with a state of its own is not taken");
        return Ok(false);
    }
    let Some(law) = law(reader, of)? else {
        let message = format!(
            "an actuator `{}` of this kind is not taken",
            reader.tree.elements[of].tag
        );
        reader.tree.remark(spot, message);
        return Ok(false);
    };
    if reader.tree.attribute(of, "ctrlrange").is_some()
        && truth(reader.tree, of, "ctrllimited") != Some(false)
    {
        reader.tree.remark(
            spot,
            "`ctrlrange` bounds controls, which are parameters of the scene",
        );
    }
    let gear = reader
        .tree
        .list(of, "gear")?
        .and_then(|g| g.first().copied())
        .unwrap_or(1.0);
    let force = largest_force(reader, of)?;
    let (joint, tendon) = (
        reader.tree.attribute(of, "joint").cloned(),
        reader.tree.attribute(of, "tendon").cloned(),
    );
    let (effects, reference) = if let Some(attribute) = joint {
        reader.joint(robot, &attribute)?;
        let place = reader.joints.get(&attribute.value).copied();
        let joint = place.and_then(|place| joint_at(robot, place));
        match joint {
            Some(joint) => (&mut joint.effects, joint.reference),
            None => return Ok(false),
        }
    } else if let Some(attribute) = tendon {
        match robot.tendons.iter_mut().find(|t| t.name == attribute.value) {
            Some(tendon) if law.stiffness == 0.0 => (&mut tendon.effects, 0.0),
            _ => {
                reader
                    .tree
                    .remark(spot, "an actuator of this tendon is not taken");
                return Ok(false);
            }
        }
    } else {
        reader
            .tree
            .remark(spot, "an actuator on neither a joint nor a tendon is not taken");
        return Ok(false);
    };
    if !put(effects, name, &law, gear, force, reference) {
        reader.tree.remark(
            spot,
            "the bound of a force that is no servo of position is not kept",
        );
    }
    Ok(true)
}

/// Whether an actuator has a state, such as a filter of its control.
fn has_state(reader: &Reader<'_>, of: usize) -> Result<bool> {
    let dynamics = reader.tree.value(of, "dyntype").is_some_and(|d| d != "none");
    Ok(dynamics || reader.tree.number(of, "timeconst")?.is_some_and(|t| t > 0.0))
}

/// The law of an actuator, if it is one of these.
fn law(reader: &mut Reader<'_>, of: usize) -> Result<Option<Law>> {
    let tag = reader.tree.elements[of].tag.clone();
    let list = |reader: &Reader<'_>, key: &str| reader.tree.list(of, key).map(Option::unwrap_or_default);
    let (kp, kv) = (reader.tree.number(of, "kp")?, reader.tree.number(of, "kv")?);
    let (gain, bias) = (list(reader, "gainprm")?, list(reader, "biasprm")?);
    let gain = gain.first().copied();
    Ok(match tag.as_str() {
        "motor" => Some(Law {
            gain: 1.0,
            stiffness: 0.0,
            damping: 0.0,
        }),
        "position" => {
            // What a class has of `general`.
            let kp = kp.or(gain).unwrap_or(1.0);
            let damping = kv.or(bias.get(2).map(|b| -b));
            Some(Law {
                gain: kp,
                stiffness: kp,
                damping: damping.unwrap_or_default(),
            })
        }
        "velocity" => {
            let kv = kv.or(gain).unwrap_or(1.0);
            Some(Law {
                gain: kv,
                stiffness: 0.0,
                damping: kv,
            })
        }
        "general" => {
            let gain = gain.unwrap_or(1.0);
            let entry = |i: usize| bias.get(i).copied().unwrap_or_default();
            let kinds = (
                reader.tree.value(of, "gaintype"),
                reader.tree.value(of, "biastype"),
            );
            match kinds {
                (None | Some("fixed"), None | Some("none")) => Some(Law {
                    gain,
                    stiffness: 0.0,
                    damping: 0.0,
                }),
                // A servo's bias pulls to zero with the gain of its control.
                (None | Some("fixed"), Some("affine"))
                    if entry(0) == 0.0 && (entry(1) == 0.0 || -entry(1) == gain) =>
                {
                    Some(Law {
                        gain,
                        stiffness: -entry(1),
                        damping: -entry(2),
                    })
                }
                _ => None,
            }
        }
        _ => None,
    }
    .filter(|law| law.stiffness >= 0.0 && law.damping >= 0.0))
}

fn largest_force(reader: &mut Reader<'_>, of: usize) -> Result<Option<f64>> {
    let range = reader.tree.numbers::<2>(of, "forcerange")?;
    let limited = truth(reader.tree, of, "forcelimited").unwrap_or(reader.settings.auto_limits);
    let Some([lower, upper]) = range.filter(|_| limited) else {
        return Ok(None);
    };
    if lower != -upper {
        let spot = reader.spot(of);
        reader.tree.remark(
            spot,
            "the bounds of a force are the larger of both, in both directions",
        );
    }
    Ok(Some(lower.abs().max(upper.abs())))
}

/// Puts a law on a coordinate; false if a bound of its force has no place.
fn put(effects: &mut Effects, name: &str, law: &Law, gear: f64, force: Option<f64>, reference: f64) -> bool {
    if law.stiffness > 0.0 && gear != 0.0 {
        effects.motors.push(Motor {
            name: name.to_owned(),
            stiffness: law.stiffness * gear * gear,
            damping: law.damping * gear * gear,
            gear,
            // Controls are lengths, which are `gear` times the coordinate of the file.
            target: -reference,
            force: force.map(|f| f * gear.abs()),
        });
        return true;
    }
    effects.damping += law.damping * gear * gear;
    effects.forces.push(Force {
        name: name.to_owned(),
        gear: law.gain * gear,
        control: 0.0,
    });
    force.is_none()
}
