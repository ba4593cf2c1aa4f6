//! Steps that choose their length.

use super::{Builder, Result, components, contacts};
use crate::Amount;
use crate::schema::AdaptiveSpec;
use crate::source::Where;
use pliant::{Adaptive, Events};

pub(super) fn adaptive_step(builder: &Builder<'_>, spec: &AdaptiveSpec) -> Result<Adaptive> {
    let positive = |given: Option<&Amount>, default: f64, key| match given {
        None => Ok(default),
        Some(number) => builder.positive(number, Where::Key(key)),
    };
    let not_negative = |given: Option<&Amount>, default: f64, key| match given {
        None => Ok(default),
        Some(number) => components::not_negative(builder, number, Where::Key(key)),
    };
    let default = Adaptive::default();
    let events = match &spec.events {
        None => None,
        Some(events) => {
            let Events { tolerance, most } = Events::default();
            let most = match &events.most {
                None => most,
                Some(number) => builder.whole(number, 1, 1_000_000, Where::Key("most"))?,
            };
            let tolerance = positive(events.tolerance.as_deref(), tolerance, "tolerance")?;
            Some(Events { tolerance, most })
        }
    };
    let smallest = positive(spec.smallest.as_deref(), default.smallest, "smallest")?;
    let largest = positive(spec.largest.as_deref(), default.largest, "largest")?;
    if largest < smallest {
        let message = format!("`largest` is {largest} s, less than `smallest`, {smallest} s");
        return builder.wrong(
            &[Where::Key("largest"), Where::Key("adaptive_step")],
            message,
            None,
        );
    }
    let first = match &spec.first {
        // Of itself between the two.
        None => default.first.clamp(smallest, largest),
        Some(number) => {
            let first = builder.number(number, Where::Key("first"))?;
            if !(smallest..=largest).contains(&first) {
                let message = format!(
                    "`first` is {first} s, but must be from `smallest`, {smallest} s, to `largest`, {largest} s"
                );
                return builder.wrong(&[Where::Key("first"), Where::Key("adaptive_step")], message, None);
            }
            first
        }
    };
    let share = |given: Option<&Amount>, default: f64, key: &str| {
        let Some(number) = given else { return Ok(default) };
        let value = builder.number(number, Where::Key(key))?;
        if value > 0.0 && value < 1.0 {
            return Ok(value);
        }
        let message = format!("`{key}` is {value}, but must be above 0 and below 1");
        builder.wrong(&[Where::Key(key), Where::Key("adaptive_step")], message, None)
    };
    let growth = positive(spec.growth.as_deref(), default.growth, "growth")?;
    if growth <= 1.0 {
        let message = format!("`growth` is {growth}, but must be above 1");
        return builder.wrong(
            &[Where::Key("growth"), Where::Key("adaptive_step")],
            message,
            None,
        );
    }
    Ok(Adaptive {
        position: positive(spec.position.as_deref(), default.position, "position")?,
        velocity: positive(spec.velocity.as_deref(), default.velocity, "velocity")?,
        relative: not_negative(spec.relative.as_deref(), default.relative, "relative")?,
        position_kink: not_negative(
            spec.position_kink.as_deref(),
            default.position_kink,
            "position_kink",
        )?,
        velocity_kink: not_negative(
            spec.velocity_kink.as_deref(),
            default.velocity_kink,
            "velocity_kink",
        )?,
        jump_kink: not_negative(spec.jump_kink.as_deref(), default.jump_kink, "jump_kink")?,
        first,
        smallest,
        largest,
        safety: share(spec.safety.as_deref(), default.safety, "safety")?,
        growth,
        shrink: share(spec.shrink.as_deref(), default.shrink, "shrink")?,
        events,
        rest: match &spec.rest {
            None => None,
            Some(rest) => Some(contacts::sleeping(builder, rest)?),
        },
    })
}
