//! Forces: on coordinates, on bodies, along lines; muscles.

use super::ModelReader;
use super::chain::Handle;
use super::constraints::joint_at;
use super::properties::{name, objects, switched_on, truth};
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::{Along, Effects, Force, Pull, Stop};
use crate::xml::Attribute;
use pliant_dense::Vec3;

type Result<T> = std::result::Result<T, ImportError>;

/// Properties of all forces.
pub(super) const COMMON: [&str; 5] = ["name", "isDisabled", "appliesForce", "min_control", "max_control"];

pub(super) fn read_forces(reader: &mut ModelReader<'_>, model: usize) -> Result<()> {
    let mut contacts = Vec::new();
    for of in objects(reader.tree, model, "ForceSet") {
        let spot = reader.spot(of);
        let applies = switched_on(reader.tree, of, "appliesForce")? && !truth(reader.tree, of, "isDisabled")?;
        if !applies {
            reader
                .tree
                .remark(spot, "a force that is switched off is not taken");
            continue;
        }
        let kind = reader.tree.elements[of].tag.clone();
        match kind.as_str() {
            "CoordinateActuator" => read_coordinate_actuator(reader, of)?,
            "TorqueActuator" => read_torque_actuator(reader, of)?,
            "PointActuator" => read_point_actuator(reader, of)?,
            "PathActuator" => read_path_actuator(reader, of)?,
            "PathSpring" => read_path_spring(reader, of)?,
            "Blankevoort1991Ligament" => read_ligament(reader, of)?,
            "PointToPointSpring" => read_spring(reader, of)?,
            "SpringGeneralizedForce" => read_coordinate_spring(reader, of)?,
            "CoordinateLimitForce" => read_limit(reader, of)?,
            "HuntCrossleyForce" | "ElasticFoundationForce" | "SmoothSphereHalfSpaceForce" => {
                contacts.push(of);
            }
            _ if kind.contains("Muscle") => super::muscles::read_muscle(reader, of, &kind)?,
            _ => reader.tree.remark(spot, format!("a `{kind}` is not taken")),
        }
    }
    super::contacts::read_contacts(reader, model, &contacts)
}

/// The effects on the coordinate that a property names, and how many times that of the file the
/// coordinate of the scene is; a remark if it has none.
fn effects_on<'a>(reader: &'a mut ModelReader<'_>, of: usize) -> Result<Option<(&'a mut Effects, f64)>> {
    let coordinate = reader.tree.needed(of, "coordinate")?.clone();
    let kind = reader.tree.elements[of].tag.clone();
    let message = match reader.handle(&coordinate)?.1 {
        Handle::Joint { place, scale } => {
            return Ok(joint_at(&mut reader.robot, place).map(|joint| (&mut joint.effects, scale)));
        }
        Handle::Held => {
            format!("a `{kind}` on a coordinate that is locked does nothing, and is left out")
        }
        Handle::Scalar(_) => {
            format!("a `{kind}` on a coordinate that no axis follows in proportion is not taken")
        }
        Handle::Gone => {
            format!("a `{kind}` on a coordinate of a ball joint or of a body that moves freely is not taken")
        }
    };
    reader.tree.remark(reader.tree.elements[of].spot, message);
    Ok(None)
}

pub(super) fn own_name(reader: &ModelReader<'_>, of: usize) -> String {
    name(reader.tree, of).unwrap_or_else(|| reader.tree.elements[of].tag.clone())
}

/// The largest force of an actuator; remarks on bounds of its control.
fn optimal(reader: &mut ModelReader<'_>, of: usize) -> Result<f64> {
    for key in ["min_control", "max_control"] {
        if reader.tree.bound(of, key)?.is_some_and(f64::is_finite) {
            let message = "`min_control` and `max_control` bound controls, which are parameters of the scene";
            reader.tree.remark(reader.tree.elements[of].spot, message);
        }
    }
    Ok(reader.tree.number(of, "optimal_force")?.unwrap_or(1.0))
}

fn read_coordinate_actuator(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    reader
        .tree
        .expect(of, &[&COMMON[..], &["coordinate", "optimal_force"]].concat(), &[]);
    let (name, optimal) = (own_name(reader, of), optimal(reader, of)?);
    if let Some((effects, scale)) = effects_on(reader, of)? {
        effects.forces.push(Force {
            name,
            gear: optimal / scale,
            control: 0.0,
        });
    }
    Ok(())
}

fn read_coordinate_spring(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    let known = ["coordinate", "stiffness", "rest_length", "viscosity"];
    reader.tree.expect(of, &[&COMMON[..], &known].concat(), &[]);
    let stiffness = reader.tree.not_negative(of, "stiffness")?.unwrap_or_default();
    let rest = reader.tree.number(of, "rest_length")?.unwrap_or_default();
    let viscosity = reader.tree.not_negative(of, "viscosity")?.unwrap_or_default();
    let Some((effects, scale)) = effects_on(reader, of)? else {
        return Ok(());
    };
    effects.damping += viscosity / (scale * scale);
    if stiffness > 0.0 {
        let (own, rest) = (stiffness / (scale * scale), rest * scale);
        // Two springs on one coordinate are one, up to a constant energy.
        let (sum, mean) = match effects.spring {
            Some((other, at)) => (own + other, (own * rest + other * at) / (own + other)),
            None => (own, rest),
        };
        effects.spring = Some((sum, mean));
    }
    Ok(())
}

/// A spring beyond limits, whose stiffness sets in smoothly.
fn read_limit(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    let known = [
        "coordinate",
        "upper_stiffness",
        "upper_limit",
        "lower_stiffness",
        "lower_limit",
        "damping",
        "transition",
        "compute_dissipation_energy",
    ];
    reader.tree.expect(of, &[&COMMON[..], &known].concat(), &[]);
    let number = |key: &str, usual: f64| reader.tree.not_negative(of, key).map(|x| x.unwrap_or(usual));
    let stiffness = [number("lower_stiffness", 1.0)?, number("upper_stiffness", 1.0)?];
    let (transition, damping) = (number("transition", 0.1)?, number("damping", 0.001)?);
    let limit = |key: &str| reader.tree.number(of, key).map(Option::unwrap_or_default);
    let limits = [limit("lower_limit")?, limit("upper_limit")?];
    let coordinate = reader.tree.needed(of, "coordinate")?.clone();
    let turns = match reader.handle(&coordinate)?.1 {
        Handle::Joint { place, .. } => {
            joint_at(&mut reader.robot, place).is_some_and(|j| j.motion == crate::robot::Motion::Hinge)
        }
        _ => false,
    };
    if limits[0] > limits[1] {
        let spot = reader
            .tree
            .needed(of, "lower_limit")
            .map_or(reader.spot(of), |a| a.spot);
        return reader
            .tree
            .wrong(spot, "the lower limit is above the upper one".to_owned(), None);
    }
    let name = own_name(reader, of);
    // Angles are in degrees, of stiffness too.
    let unit = if turns { 1.0f64.to_radians() } else { 1.0 };
    let Some((effects, scale)) = effects_on(reader, of)? else {
        return Ok(());
    };
    let factor = unit * scale;
    let table = stop_table(
        limits.map(|x| x * factor),
        stiffness.map(|k| k / factor / scale),
        transition * factor,
    );
    effects.stops.push(Stop { name, table });
    let message = "springs beyond limits are curves through points of those of the file";
    reader.tree.remark(reader.tree.elements[of].spot, message);
    if damping > 0.0 {
        reader.tree.remark(
            reader.tree.elements[of].spot,
            "damping beyond limits is not taken",
        );
    }
    Ok(())
}

/// The body that a property of a force names, as a place in a link.
fn body_of(reader: &ModelReader<'_>, of: usize, key: &str) -> Result<(Option<usize>, Frame)> {
    let attribute: &Attribute = reader.tree.needed(of, key)?;
    let own = Attribute {
        value: super::frames::last(&attribute.value).to_owned(),
        ..attribute.clone()
    };
    Ok(reader.in_link(&reader.in_body(&own, Frame::IDENTITY)?))
}

fn read_torque_actuator(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    let known = ["bodyA", "bodyB", "torque_is_global", "axis", "optimal_force"];
    reader.tree.expect(of, &[&COMMON[..], &known].concat(), &[]);
    let axis = Vec3::from(reader.tree.numbers::<3>(of, "axis")?.unwrap_or([0.0, 0.0, 1.0]));
    let in_world = switched_on(reader.tree, of, "torque_is_global")?;
    let vector = match axis.amax() {
        0.0 => Vec3::zeros(),
        size => (axis / size).normalize() * optimal(reader, of)?,
    };
    let (name, a) = (own_name(reader, of), body_of(reader, of, "bodyA")?.0);
    let b = match reader.tree.attribute(of, "bodyB") {
        Some(_) => body_of(reader, of, "bodyB")?.0,
        None => None,
    };
    if !in_world && b.is_some() {
        let message = "a torque between two bodies about an axis of the first is not taken";
        reader.tree.remark(reader.spot(of), message);
        return Ok(());
    }
    for (link, sign) in [(a, 1.0), (b, -1.0)] {
        if let Some(link) = link {
            let vector = vector * sign;
            reader.robot.extras.pulls.push(Pull {
                name: name.clone(),
                link,
                point: None,
                vector,
                in_world,
                control: 0.0,
            });
        }
    }
    Ok(())
}

fn read_point_actuator(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    let known = [
        "body",
        "point",
        "point_is_global",
        "direction",
        "force_is_global",
        "optimal_force",
    ];
    reader.tree.expect(of, &[&COMMON[..], &known].concat(), &[]);
    let spot = reader.spot(of);
    if truth(reader.tree, of, "point_is_global")? {
        reader
            .tree
            .remark(spot, "a force at a point of the ground is not taken");
        return Ok(());
    }
    let direction = Vec3::from(
        reader
            .tree
            .numbers::<3>(of, "direction")?
            .unwrap_or([1.0, 0.0, 0.0]),
    );
    let vector = match direction.amax() {
        0.0 => Vec3::zeros(),
        size => (direction / size).normalize() * optimal(reader, of)?,
    };
    let point = reader.tree.numbers::<3>(of, "point")?.unwrap_or_default();
    let (name, in_world) = (own_name(reader, of), truth(reader.tree, of, "force_is_global")?);
    match body_of(reader, of, "body")?.0 {
        Some(link) => {
            let point = Some(point.into());
            reader.robot.extras.pulls.push(Pull {
                name,
                link,
                point,
                vector,
                in_world,
                control: 0.0,
            });
        }
        None => reader
            .tree
            .remark(spot, "a force on the ground does nothing, and is left out"),
    }
    Ok(())
}

fn read_path_actuator(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    reader
        .tree
        .expect(of, &[&COMMON[..], &["optimal_force"]].concat(), &["GeometryPath"]);
    let (name, optimal) = (own_name(reader, of), optimal(reader, of)?);
    match super::paths::read_path(reader, of)? {
        Ok(course) => super::paths::add_line(reader, of, name, course, Along::Pull(optimal)),
        Err(reason) => no_path(reader, of, &reason),
    }
    Ok(())
}

/// Remarks that a force without something has no effect.
pub(super) fn no_force(reader: &mut ModelReader<'_>, of: usize, without: &str) {
    let kind = reader.tree.elements[of].tag.clone();
    let message = format!("a `{kind}` without {without} has no force, and is left out");
    reader.tree.remark(reader.spot(of), message);
}

fn no_path(reader: &mut ModelReader<'_>, of: usize, reason: &str) {
    let kind = reader.tree.elements[of].tag.clone();
    let message = format!("a `{kind}` whose path {reason} is not taken");
    reader.tree.remark(reader.spot(of), message);
}

fn read_path_spring(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    let known = ["resting_length", "stiffness", "dissipation"];
    reader
        .tree
        .expect(of, &[&COMMON[..], &known].concat(), &["GeometryPath"]);
    let stiffness = reader.tree.not_negative(of, "stiffness")?.unwrap_or_default();
    let rest = reader
        .tree
        .not_negative(of, "resting_length")?
        .unwrap_or_default();
    if reader.tree.number(of, "dissipation")?.is_some_and(|x| x != 0.0) {
        reader
            .tree
            .remark(reader.spot(of), "dissipation of a `PathSpring` is not taken");
    }
    let name = own_name(reader, of);
    match super::paths::read_path(reader, of)? {
        Ok(_) if stiffness == 0.0 => no_force(reader, of, "a stiffness"),
        Ok(course) => super::paths::add_line(
            reader,
            of,
            name,
            course,
            Along::Spring {
                stiffness,
                rest,
                slack: true,
            },
        ),
        Err(reason) => no_path(reader, of, &reason),
    }
    Ok(())
}

fn read_ligament(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    let known = [
        "linear_stiffness",
        "transition_strain",
        "damping_coefficient",
        "slack_length",
    ];
    let tree = &mut *reader.tree;
    tree.expect(of, &[&COMMON[..], &known].concat(), &["GeometryPath"]);
    let stiffness = tree.not_negative(of, "linear_stiffness")?.unwrap_or(1.0);
    let damping = tree.not_negative(of, "damping_coefficient")?.unwrap_or(0.003);
    let effect = Along::Ligament {
        stiffness,
        slack_length: tree.not_negative(of, "slack_length")?.unwrap_or_default(),
        transition: tree.not_negative(of, "transition_strain")?.unwrap_or(0.06),
        // That of the file is a force per rate of strain; that of scenes is a time by which the
        // stiffness is multiplied.
        damping: if stiffness > 0.0 { damping / stiffness } else { 0.0 },
    };
    let name = own_name(reader, of);
    match super::paths::read_path(reader, of)? {
        Ok(_) if matches!(effect, Along::Ligament { stiffness, slack_length, .. } if stiffness * slack_length == 0.0) =>
        {
            let message = "a `Blankevoort1991Ligament` without a stiffness or a slack length is not taken";
            reader.tree.remark(reader.spot(of), message);
        }
        Ok(course) => super::paths::add_line(reader, of, name, course, effect),
        Err(reason) => no_path(reader, of, &reason),
    }
    Ok(())
}

fn read_spring(reader: &mut ModelReader<'_>, of: usize) -> Result<()> {
    let known = [
        "body1",
        "body2",
        "socket_body1",
        "socket_body2",
        "point1",
        "point2",
        "stiffness",
        "rest_length",
    ];
    reader
        .tree
        .expect(of, &[&COMMON[..], &known].concat(), &["connectors"]);
    let mut course = super::paths::Course::default();
    for number in ["1", "2"] {
        let point = reader
            .tree
            .numbers::<3>(of, &format!("point{number}"))?
            .unwrap_or_default();
        let (link, frame) = match reader.tree.attribute(of, &format!("body{number}")) {
            Some(_) => body_of(reader, of, &format!("body{number}"))?,
            None => reader.in_link(&reader.socket_place(of, &format!("body{number}"))?),
        };
        course.points.push((link, frame.point(point.into())));
    }
    let stiffness = reader.tree.not_negative(of, "stiffness")?.unwrap_or(1.0);
    let rest = reader.tree.not_negative(of, "rest_length")?.unwrap_or_default();
    if stiffness == 0.0 {
        no_force(reader, of, "a stiffness");
        return Ok(());
    }
    let name = own_name(reader, of);
    super::paths::add_line(
        reader,
        of,
        name,
        course,
        Along::Spring {
            stiffness,
            rest,
            slack: false,
        },
    );
    Ok(())
}

/// Tension over the coordinate of springs beyond a lower and an upper limit. Their stiffness rises
/// from zero at the limit along `10 s^3 - 15 s^4 + 6 s^5`, with `s` from 0 to 1 over the
/// transition; it is that of the secant from the limit.
fn stop_table([lower, upper]: [f64; 2], [k_lower, k_upper]: [f64; 2], transition: f64) -> Vec<(f64, f64)> {
    /// Pieces of the transition.
    const PIECES: usize = 16;
    // Without a transition there is a corner.
    let width = transition.max(1e-9 * (1.0 + (upper - lower).abs()));
    let share = |s: f64| s * s * s * (10.0 + s * (6.0 * s - 15.0));
    // Behind the transition the curve is straight, and so beyond its last points.
    let steps = (0..=PIECES).map(|i| i as f64 / PIECES as f64).chain([1.5, 2.0]);
    let steps: Vec<f64> = steps.collect();
    let pull = |s: f64| share(s.min(1.0)) * s * width;
    let below = steps
        .iter()
        .rev()
        .map(|s| (lower - s * width, -k_lower * pull(*s)));
    let above = steps.iter().map(|s| (upper + s * width, k_upper * pull(*s)));
    // Limits that are the same are one point.
    let skipped = usize::from(lower >= upper);
    below.chain(above.skip(skipped)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of `CoordinateLimitForce` by its formula, by hand: half way through the transition
    /// the stiffness is half of the whole.
    #[test]
    fn stops_set_in_along_a_smooth_step() {
        let table = stop_table([-1.0, 2.0], [10.0, 100.0], 0.4);
        let at = |x: f64| {
            let point = table.iter().find(|(own, _)| (own - x).abs() < 1e-12);
            point
                .expect("the table has a point at each place that is asked for")
                .1
        };
        for (x, tension) in [
            (2.0, 0.0),
            (2.2, 50.0 * 0.2),
            (2.4, 40.0),
            (2.8, 80.0),
            (-1.0, 0.0),
            (-1.2, -1.0),
            (-1.8, -8.0),
        ] {
            assert!((at(x) - tension).abs() < 1e-12, "{x}: {} {tension}", at(x));
        }
        assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(
            stop_table([0.0, 0.0], [1.0, 1.0], 0.0)
                .windows(2)
                .all(|pair| pair[0].0 < pair[1].0)
        );
    }
}
