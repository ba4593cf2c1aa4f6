//! Functions of time out of the schema.

use super::values::{describe, owner};
use super::{Builder, Result, tables};
use crate::quantity::Time;
use crate::source::Where;
use crate::{Amount, Course, Number, Quantity, Units};
use pliant::model::dual::Dual;
use pliant::model::{ComponentId, PrescribedMotion};
use pliant_expression::Program;

/// An input of a force that changes with time.
#[derive(Clone, Debug)]
pub struct InputCourse {
    /// The force.
    pub component: ComponentId,
    /// Which of its inputs.
    pub input: usize,
    /// The values over time, with the variables as they are.
    pub program: Program,
    /// The values over time and the variables, where they depend on these.
    pub varying: Option<Program>,
}

/// A motion of rows that depends on variables.
#[derive(Clone, Debug)]
pub struct Varying {
    /// The rows.
    pub component: ComponentId,
    /// The values over time and the variables, one for all coordinates or one for each; of a motion
    /// at a speed, the speed.
    pub programs: Vec<Program>,
    /// Whether only the rate of the motion counts.
    pub is_speed: bool,
}

/// A motion with the values of the variables at the start, and how it depends on them.
pub(super) struct Driven {
    pub(super) motion: PrescribedMotion,
    programs: Vec<Program>,
    is_speed: bool,
}

impl Driven {
    fn still(motion: PrescribedMotion) -> Self {
        Self {
            motion,
            programs: Vec::new(),
            is_speed: false,
        }
    }

    /// The motion of a component, if it depends on variables.
    pub(super) fn varying(&self, component: ComponentId) -> Option<Varying> {
        let depends = |program: &Program| program.places().any(|place| place > 0);
        self.programs.iter().any(depends).then(|| Varying {
            component,
            programs: self.programs.clone(),
            is_speed: self.is_speed,
        })
    }
}

/// A number that may depend on time and on variables.
pub(super) struct Timed {
    /// With the variables as they are at the start.
    pub(super) now: Program,
    /// Over all, where it depends on variables.
    pub(super) varying: Option<Program>,
}

impl Timed {
    /// The number over the time and the variables.
    fn whole(&self) -> Program {
        self.varying.clone().unwrap_or_else(|| self.now.clone())
    }
}

/// Times over the run at which functions of time are looked at before it starts.
const SAMPLES: usize = 100;

/// A number that may depend on the time `$t`. Looked at over the whole run, as what has no
/// value shall be found before it.
pub(super) fn program(builder: &Builder<'_>, number: &Amount, at: Where<'_>) -> Result<Timed> {
    let text = match &number.number {
        Number::Value(_) => {
            let now = Program::number(builder.number(number, at)?);
            return Ok(Timed { now, varying: None });
        }
        Number::Expression(text) => text,
    };
    let lookup = |name: &str| builder.variable(name, builder.index, true);
    let mut names = builder.variables(builder.index);
    names.push("t");
    let whole = Program::parse(text, &lookup, &names, &builder.free_names())
        .map_err(|error| builder.expression_error(text, at, error))?;
    let factor = builder.factor(text, &whole, number, at)?;
    let whole = builder.in_units(whole, number, factor, |bases| [bases.time, 1.0, 1.0]);
    let values: Vec<f64> = builder.varied.iter().map(|(_, value)| *value).collect();
    let program = whole.fixing(1, &values);
    for time in sample_times(builder, &program) {
        program.value(time).map_err(|mut error| {
            if program.is_timed() {
                error.message.push_str(&format!(", at t = {time} s"));
            }
            builder.expression_error(text, at, error)
        })?;
    }
    let depends = whole.places().any(|place| place > 0);
    let varying = depends.then_some(whole);
    Ok(Timed {
        now: program,
        varying,
    })
}

/// Times at which it is looked at: one for what does not change.
pub(super) fn sample_times(builder: &Builder<'_>, program: &Program) -> impl Iterator<Item = f64> + use<> {
    let (samples, duration) = (if program.is_timed() { SAMPLES } else { 0 }, builder.duration);
    (0..=samples).map(move |k| duration * k as f64 / SAMPLES as f64)
}

/// The values at which coordinates are held.
pub(super) fn motion(
    builder: &Builder<'_>,
    course: &Course<impl Units>,
    coordinates: usize,
    at: Where<'_>,
) -> Result<Driven> {
    match course {
        Course::One(number) => position(builder, number, at),
        Course::Each(list) if list.len() == coordinates && !list.is_empty() => {
            let all: Vec<_> = list
                .iter()
                .map(|number| position(builder, number, at))
                .collect::<Result<_>>()?;
            let motions: Vec<_> = all.iter().map(|one| one.motion.clone()).collect();
            Ok(Driven {
                motion: PrescribedMotion::each(&motions),
                programs: all.into_iter().flat_map(|one| one.programs).collect(),
                is_speed: false,
            })
        }
        Course::Each(list) => wrong_count(builder, list.len(), coordinates, at),
        Course::Table(points) => table(builder, points, at).map(Driven::still),
        Course::File(file, takes) => {
            let program = tables::program(builder, file, takes, at)?;
            Ok(Driven::still(PrescribedMotion::function(move |t| {
                let x = program.jet(t.re);
                at_rate(x.value, x.rate, t)
            })))
        }
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

fn position(builder: &Builder<'_>, number: &Amount, at: Where<'_>) -> Result<Driven> {
    let timed = program(builder, number, at)?;
    let driven = |motion| Driven {
        motion,
        programs: vec![timed.whole()],
        is_speed: false,
    };
    let program = timed.now.clone();
    if !program.is_timed() {
        return Ok(driven(PrescribedMotion::constant(&[program.jet(0.0).value])));
    }
    if let Some(time) = sample_times(builder, &program).find(|t| !program.jet(*t).rate.is_finite()) {
        let message = format!("{} changes infinitely fast at t = {time} s", describe(at));
        return builder.wrong(&[at, owner(at)], message, None);
    }
    Ok(driven(PrescribedMotion::function(move |t| {
        let x = program.jet(t.re);
        at_rate(x.value, x.rate, t)
    })))
}

fn table(
    builder: &Builder<'_>,
    points: &[(Quantity<Time>, Quantity<impl Units>)],
    at: Where<'_>,
) -> Result<PrescribedMotion> {
    let mut list = Vec::with_capacity(points.len());
    for (time, value) in points {
        list.push((builder.number(time, at)?, builder.number(value, at)?));
    }
    match PrescribedMotion::table(&list) {
        Ok(motion) => Ok(motion),
        Err(error) => builder.wrong(&[at, owner(at)], format!("{}: {error}", describe(at)), None),
    }
}

/// A motion at a speed; only its rate counts.
pub(super) fn speed(builder: &Builder<'_>, course: &Course<impl Units>, at: Where<'_>) -> Result<Driven> {
    match course {
        Course::Each(list) if list.len() != 1 => wrong_count(builder, list.len(), 1, at),
        Course::One(number) => speed_of(builder, number, at),
        Course::Each(list) => speed_of(builder, &list[0], at),
        Course::File(file, takes) => {
            let program = tables::program(builder, file, takes, at)?;
            Ok(Driven::still(PrescribedMotion::function(move |t| {
                at_rate(0.0, program.jet(t.re).value, t)
            })))
        }
        Course::Table(points) => {
            let table = table(builder, points, at)?;
            Ok(Driven::still(PrescribedMotion::function(move |t| {
                at_rate(0.0, table.at(0, t.re).0, t)
            })))
        }
    }
}

fn speed_of(builder: &Builder<'_>, number: &Amount, at: Where<'_>) -> Result<Driven> {
    let timed = program(builder, number, at)?;
    let program = timed.now.clone();
    Ok(Driven {
        motion: PrescribedMotion::function(move |t| at_rate(0.0, program.jet(t.re).value, t)),
        programs: vec![timed.whole()],
        is_speed: true,
    })
}

/// A value that changes at a rate, at a time; without its second derivative, which no motion needs.
fn at_rate(value: f64, rate: f64, t: Dual) -> Dual {
    Dual::new(value, rate * t.eps1, rate * t.eps2, rate * t.eps1eps2)
}
