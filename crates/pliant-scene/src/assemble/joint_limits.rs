//! Limits of joints, and the damping of their compliances.

use super::{Builder, Result, components};
use crate::quantity::{Pure, Quantity, Time};
use crate::schema::LimitsSpec;
use crate::source::Where;
use crate::{Amount, Takes};
use pliant::model::{Joint, JointDamping};

/// Adds limits to a free coordinate, whose units are given with those of its compliances.
pub(super) fn add(
    builder: &Builder<'_>,
    name: &str,
    limits: &LimitsSpec,
    [coordinate, compliances]: [&'static Takes; 2],
    (axis, joint): (usize, Joint),
) -> Result<Joint> {
    let field = |key| Where::Field(name, key);
    let limit = |number: Option<&Amount>, default| match number {
        Some(number) => builder.number(&number.taking(coordinate), field("limits")),
        None => Ok(default),
    };
    let (lower, upper) = (
        limit(limits.lower.as_deref(), f64::NEG_INFINITY)?,
        limit(limits.upper.as_deref(), f64::INFINITY)?,
    );
    if lower > upper {
        let message = format!("the limits of `{name}` are {lower} and {upper}: nothing is between them");
        return builder.wrong(&[field("limits"), Where::Name(name)], message, None);
    }
    let restitution = components::not_negative(builder, &limits.restitution, field("restitution"))?;
    if restitution > 1.0 {
        let message =
            format!("`restitution` of the limits of `{name}` is {restitution}, but must be between 0 and 1");
        return builder.wrong(&[field("restitution"), Where::Name(name)], message, None);
    }
    let compliance = limits.compliance.taking(compliances);
    let compliance = components::not_negative(builder, &compliance, field("compliance"))?;
    if compliance == 0.0 {
        return Ok(joint.with_bouncing_limits(axis, lower, upper, restitution));
    }
    if restitution > 0.0 {
        let message = format!("limits of `{name}` have a `compliance` and a `restitution`");
        let help = "elastic ones give all of the speed back: leave one of them out".to_owned();
        return builder.wrong(&[field("restitution"), Where::Name(name)], message, Some(help));
    }
    Ok(joint.with_soft_limits(axis, lower, upper, compliance))
}

/// The damping of a compliance: by a time or by a ratio.
pub(super) fn damping(
    builder: &Builder<'_>,
    name: &str,
    time: &Quantity<Time>,
    ratio: Option<&Quantity<Pure>>,
) -> Result<JointDamping> {
    let field = |key| Where::Field(name, key);
    let time = components::not_negative(builder, time, field("relaxation_time"))?;
    let Some(ratio) = ratio else {
        return Ok(JointDamping::RelaxationTime(time));
    };
    if time != 0.0 {
        return damped_twice(builder, name);
    }
    let ratio = components::not_negative(builder, ratio, field("damping_ratio"))?;
    Ok(JointDamping::Ratio(ratio))
}

/// A damping ratio beside a relaxation time.
pub(super) fn damped_twice<T>(builder: &Builder<'_>, name: &str) -> Result<T> {
    let message = format!("`{name}` has a `relaxation_time` and a `damping_ratio`");
    let places = [Where::Field(name, "damping_ratio"), Where::Name(name)];
    builder.wrong(&places, message, Some("give it one of them".into()))
}
