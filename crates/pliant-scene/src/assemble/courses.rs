//! Functions of time out of the schema.

use super::values::{describe, owner};
use super::{Builder, Result};
use crate::source::Where;
use crate::{Course, Number};
use pliant::model::dual::Dual;
use pliant::model::{ComponentId, PrescribedMotion};
use pliant_expression::{Program, TIME};

/// An input of a force that changes with time.
#[derive(Clone, Debug)]
pub struct InputCourse {
    /// The force.
    pub component: ComponentId,
    /// Which of its inputs.
    pub input: usize,
    /// The values over time.
    pub program: Program,
}

/// Times over the run at which functions of time are looked at before it starts.
const SAMPLES: usize = 100;

/// A number that may depend on the time `$t`. Looked at over the whole run, as what has no
/// value shall be found before it.
pub(super) fn program(builder: &Builder<'_>, number: &Number, at: Where<'_>) -> Result<Program> {
    let text = match number {
        Number::Value(_) => return Ok(Program::number(builder.number(number, at)?)),
        Number::Expression(text) => text,
    };
    let lookup = |name: &str| builder.variable(name, builder.index);
    let mut names = builder.variables(builder.index);
    names.push("t");
    let program = Program::parse(text, &lookup, &names, TIME)
        .map_err(|error| builder.expression_error(text, at, error))?;
    for time in sample_times(builder, &program) {
        program.value(time).map_err(|mut error| {
            if program.is_timed() {
                error.message.push_str(&format!(", at t = {time} s"));
            }
            builder.expression_error(text, at, error)
        })?;
    }
    Ok(program)
}

/// Times at which it is looked at: one for what does not change.
pub(super) fn sample_times(builder: &Builder<'_>, program: &Program) -> impl Iterator<Item = f64> + use<> {
    let (samples, duration) = (if program.is_timed() { SAMPLES } else { 0 }, builder.duration);
    (0..=samples).map(move |k| duration * k as f64 / SAMPLES as f64)
}

/// The values at which coordinates are held.
pub(super) fn motion(
    builder: &Builder<'_>,
    course: &Course,
    coordinates: usize,
    at: Where<'_>,
) -> Result<PrescribedMotion> {
    match course {
        Course::One(number) => position(builder, number, at),
        Course::Each(list) if list.len() == coordinates && !list.is_empty() => {
            let motions: Vec<_> = list
                .iter()
                .map(|number| position(builder, number, at))
                .collect::<Result<_>>()?;
            Ok(PrescribedMotion::each(&motions))
        }
        Course::Each(list) => wrong_count(builder, list.len(), coordinates, at),
        Course::Table(points) => table(builder, points, at),
    }
}

fn wrong_count<T>(builder: &Builder<'_>, found: usize, coordinates: usize, at: Where<'_>) -> Result<T> {
    let message = format!(
        "{} has {found} functions of time, needed are {coordinates}",
        describe(at)
    );
    let help = "one without a list serves all; a table is a list of pairs (time, value)";
    builder.wrong(&[at, owner(at)], message, Some(help.into()))
}

fn position(builder: &Builder<'_>, number: &Number, at: Where<'_>) -> Result<PrescribedMotion> {
    let program = program(builder, number, at)?;
    if !program.is_timed() {
        return Ok(PrescribedMotion::constant(&[program.jet(0.0).value]));
    }
    if let Some(time) = sample_times(builder, &program).find(|t| !program.jet(*t).rate.is_finite()) {
        let message = format!("{} changes infinitely fast at t = {time} s", describe(at));
        return builder.wrong(&[at, owner(at)], message, None);
    }
    Ok(PrescribedMotion::function(move |t| {
        let x = program.jet(t.re);
        at_rate(x.value, x.rate, t)
    }))
}

fn table(builder: &Builder<'_>, points: &[[Number; 2]], at: Where<'_>) -> Result<PrescribedMotion> {
    let mut list = Vec::with_capacity(points.len());
    for [time, value] in points {
        list.push((builder.number(time, at)?, builder.number(value, at)?));
    }
    match PrescribedMotion::table(&list) {
        Ok(motion) => Ok(motion),
        Err(error) => builder.wrong(&[at, owner(at)], format!("{}: {error}", describe(at)), None),
    }
}

/// A motion at a speed; only its rate counts.
pub(super) fn speed(builder: &Builder<'_>, course: &Course, at: Where<'_>) -> Result<PrescribedMotion> {
    match course {
        Course::Each(list) if list.len() != 1 => wrong_count(builder, list.len(), 1, at),
        Course::One(number) => speed_of(builder, number, at),
        Course::Each(list) => speed_of(builder, &list[0], at),
        Course::Table(points) => {
            let table = table(builder, points, at)?;
            Ok(PrescribedMotion::function(move |t| {
                at_rate(0.0, table.at(0, t.re).0, t)
            }))
        }
    }
}

fn speed_of(builder: &Builder<'_>, number: &Number, at: Where<'_>) -> Result<PrescribedMotion> {
    let program = program(builder, number, at)?;
    Ok(PrescribedMotion::function(move |t| {
        at_rate(0.0, program.jet(t.re).value, t)
    }))
}

/// A value that changes at a rate, at a time; without its second derivative, which no motion needs.
fn at_rate(value: f64, rate: f64, t: Dual) -> Dual {
    Dual::new(value, rate * t.eps1, rate * t.eps2, rate * t.eps1eps2)
}
