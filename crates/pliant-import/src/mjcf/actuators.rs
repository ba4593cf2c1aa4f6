//! Actuators, as servos of joints and as forces that a parameter of the scene sets.

use super::Reader;
use super::constraints::joint_at;
use super::defaults::ACTUATORS;
use super::drives::LAW;
use super::settings::bounds;
use super::sites::site;
use super::tendons::tendon;
use crate::error::ImportError;
use crate::robot::{Effects, Force, Motor, Pull, Robot};
use crate::xml::Attribute;
use pliant_dense::Vec3;

type Result<T> = std::result::Result<T, ImportError>;

/// Attributes of an actuator beside those of its law.
const KNOWN: [&str; 12] = [
    "name",
    "class",
    "joint",
    "tendon",
    "site",
    "refsite",
    "gear",
    "forcerange",
    "forcelimited",
    "ctrlrange",
    "ctrllimited",
    "group",
];

/// The law of an actuator: `gain control - stiffness length - damping velocity`.
#[derive(Default)]
struct Law {
    gain: f64,
    /// Damping per unit of the control.
    brake: f64,
    stiffness: f64,
    damping: f64,
}

/// The part of an actuator that is kept for keyframes.
pub(super) struct Driver {
    /// None if it was not taken.
    pub(super) name: Option<String>,
    /// The bounds of its control.
    pub(super) range: Option<[f64; 2]>,
}

/// Puts actuators on joints and tendons; what keyframes need of them, in the order of the file.
pub(super) fn read_actuators(reader: &mut Reader<'_>, root: usize, robot: &mut Robot) -> Result<Vec<Driver>> {
    let mut names = Vec::new();
    for section in reader.tree.all(root, "actuator") {
        reader.tree.expect(section, &[], &ACTUATORS);
        for of in reader.tree.elements[section].children.clone() {
            let name = match reader.tree.value(of, "name") {
                Some(name) if !name.is_empty() => name.to_owned(),
                _ => format!("actuator {}", names.len() + 1),
            };
            let refused = read_actuator(reader, of, &name, robot)?;
            let spot = reader.spot(of);
            let taken = refused.is_none();
            if let Some(why) = refused {
                reader.tree.remark(spot, why);
            }
            let auto = reader.settings.auto_limits;
            let range = match taken && reader.settings.clamps_controls {
                true => bounds(reader.tree, of, "ctrlrange", "ctrllimited", auto)?,
                false => None,
            };
            if range.is_some() {
                let message = "`ctrlrange` bounds controls, which are parameters of the scene";
                reader.tree.remark(spot, message);
            }
            names.push(Driver {
                name: taken.then_some(name),
                range,
            });
        }
    }
    Ok(names)
}

/// Puts an actuator on its joint or tendon, or says why it is not taken.
fn read_actuator(
    reader: &mut Reader<'_>,
    of: usize,
    name: &str,
    robot: &mut Robot,
) -> Result<Option<String>> {
    reader.tree.expect(of, &[&KNOWN[..], &LAW].concat(), &[]);
    let spot = reader.spot(of);
    if has_state(reader, of)? {
        return Ok(Some(
            "an actuator with a state of its own is not taken".to_owned(),
        ));
    }
    let Some(law) = law(reader, of)? else {
        let tag = &reader.tree.elements[of].tag;
        return Ok(Some(format!("an actuator `{tag}` of this kind is not taken")));
    };
    if law.brake == 0.0 && reader.tree.elements[of].tag == "damper" {
        return Ok(Some("a damper without `kv` has no effect".to_owned()));
    }
    if let Some(attribute) = reader.tree.attribute(of, "site").cloned() {
        return pull_at_site(reader, of, name, &attribute, &law, robot);
    }
    let gear = reader.tree.list(of, "gear")?;
    let gear = gear.and_then(|g| g.first().copied()).unwrap_or(1.0);
    // A gain is part of an expression, where the scene's numbers are not checked.
    if !(law.gain * gear).is_finite() {
        let message = "gain and gear of the actuator are too large".to_owned();
        return reader.tree.wrong(spot, message, None);
    }
    let force = largest_force(reader, of)?;
    let (effects, reference) = if let Some(attribute) = reader.tree.attribute(of, "joint") {
        match joint_at(robot, reader.joint_place(attribute)?) {
            Some(joint) => (&mut joint.effects, joint.reference),
            None => return Ok(Some("an actuator of a free joint is not taken".to_owned())),
        }
    } else if let Some(attribute) = reader.tree.attribute(of, "tendon") {
        let number = tendon(reader, attribute)?;
        match number.and_then(|number| robot.tendons.get_mut(number)) {
            Some(tendon) => (&mut tendon.effects, 0.0),
            None => {
                return Ok(Some("an actuator of this tendon is not taken".to_owned()));
            }
        }
    } else {
        let why = "an actuator on no joint, tendon or site is not taken";
        return Ok(Some(why.to_owned()));
    };
    if !put(effects, name, &law, gear, force, reference) {
        let message = "the bound of a force that is no servo of position is not kept";
        reader.tree.remark(spot, message);
    }
    Ok(None)
}

/// Puts a force and a torque in the axes of a site on its body, or says why they are not taken.
/// The length of such a transmission is zero, so that no servo holds it anywhere.
fn pull_at_site(
    reader: &mut Reader<'_>,
    of: usize,
    name: &str,
    at: &Attribute,
    law: &Law,
    robot: &mut Robot,
) -> Result<Option<String>> {
    let (link, _) = site(reader, at)?;
    if reader.tree.attribute(of, "refsite").is_some() {
        return Ok(Some("an actuator between two sites is not taken".to_owned()));
    }
    if law.damping > 0.0 || law.brake > 0.0 {
        return Ok(Some("a damper at a site is not taken".to_owned()));
    }
    let found = robot.extras.sites.iter().find(|site| site.name == at.value);
    let (Some(link), Some(frame)) = (link, found.map(|site| site.frame)) else {
        return Ok(Some(
            "an actuator at a site of the world has no effect".to_owned(),
        ));
    };
    let list = reader.tree.list(of, "gear")?.unwrap_or_default();
    let default = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let gear = |i: usize| law.gain * list.get(i).copied().unwrap_or(default[i]);
    let vectors = [[0, 1, 2], [3, 4, 5]].map(|three| frame.vector(Vec3::from(three.map(gear))));
    for (vector, point) in vectors.into_iter().zip([Some(frame.position), None]) {
        if !vector.iter().all(|x| x.is_finite()) {
            let message = "gain and gear of the actuator are too large".to_owned();
            return reader.tree.wrong(reader.spot(of), message, None);
        }
        if vector != Vec3::zeros() {
            robot.extras.pulls.push(Pull {
                name: name.to_owned(),
                link,
                point,
                vector,
                in_world: false,
                control: 0.0,
            });
        }
    }
    if largest_force(reader, of)?.is_some() {
        let message = "the bound of a force that is no servo of position is not kept";
        reader.tree.remark(reader.spot(of), message);
    }
    Ok(None)
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
            ..Law::default()
        }),
        "damper" => Some(Law {
            brake: kv.unwrap_or_default(),
            ..Law::default()
        }),
        "position" => {
            // What a class has of `general`.
            let kp = kp.or(gain).unwrap_or(1.0);
            let damping = kv.or(bias.get(2).map(|b| -b));
            Some(Law {
                gain: kp,
                stiffness: kp,
                damping: damping.unwrap_or_default(),
                ..Law::default()
            })
        }
        "velocity" => {
            let kv = kv.or(gain).unwrap_or(1.0);
            Some(Law {
                gain: kv,
                damping: kv,
                ..Law::default()
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
                    ..Law::default()
                }),
                // A servo's bias pulls to zero with the gain of its control.
                (None | Some("fixed"), Some("affine"))
                    if entry(0) == 0.0 && (entry(1) == 0.0 || -entry(1) == gain) =>
                {
                    Some(Law {
                        gain,
                        stiffness: -entry(1),
                        damping: -entry(2),
                        ..Law::default()
                    })
                }
                _ => None,
            }
        }
        _ => None,
    }
    .filter(|law| law.stiffness >= 0.0 && law.damping >= 0.0 && law.brake >= 0.0))
}

fn largest_force(reader: &mut Reader<'_>, of: usize) -> Result<Option<f64>> {
    let auto = reader.settings.auto_limits;
    let Some([lower, upper]) = bounds(reader.tree, of, "forcerange", "forcelimited", auto)? else {
        return Ok(None);
    };
    if lower.is_infinite() && upper.is_infinite() {
        return Ok(None);
    }
    if lower != -upper {
        let spot = reader.spot(of);
        reader.tree.remark(
            spot,
            "the bounds of a force are the larger of both, in both directions",
        );
    }
    Ok(Some(lower.abs().max(upper.abs())).filter(|force| force.is_finite()))
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
    if law.brake > 0.0 {
        effects.brakes.push(Force {
            name: name.to_owned(),
            gear: law.brake * gear * gear,
            control: 0.0,
        });
        return force.is_none();
    }
    effects.forces.push(Force {
        name: name.to_owned(),
        gear: law.gain * gear,
        control: 0.0,
    });
    force.is_none()
}
