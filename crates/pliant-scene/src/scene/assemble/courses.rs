//! Functions of time out of the schema.

use super::values::{describe, owner};
use super::{Builder, Result};
use crate::scene::expression::Program;
use crate::scene::source::Where;
use crate::scene::{Course, Number};
use pliant::model::dual::Dual;
use pliant::model::{ComponentId, PrescribedMotion};

/// An input of a force that changes with time.
#[derive(Clone, Debug)]
pub(crate) struct InputCourse {
    pub(crate) component: ComponentId,
    pub(crate) input: usize,
    pub(crate) program: Program,
}

/// Times over the run at which functions of time are looked at before it starts.
const SAMPLES: usize = 100;

impl Builder<'_> {
    /// A number that may depend on the time `$t`. Looked at over the whole run, as what has no
    /// value shall be found before it.
    pub(super) fn program(&self, number: &Number, at: Where<'_>) -> Result<Program> {
        let text = match number {
            Number::Value(_) => return Ok(Program::number(self.number(number, at)?)),
            Number::Expression(text) => text,
        };
        let lookup = |name: &str| self.parameters.get(name).copied();
        let mut names: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
        names.push("t");
        let program = Program::parse(text, &lookup, &names, true)
            .map_err(|error| self.expression_error(text, at, error))?;
        for time in self.sample_times(&program) {
            program.value(time).map_err(|mut error| {
                if program.is_timed() {
                    error.message.push_str(&format!(", at t = {time} s"));
                }
                self.expression_error(text, at, error)
            })?;
        }
        Ok(program)
    }

    /// Times at which it is looked at: one for what does not change.
    pub(super) fn sample_times(&self, program: &Program) -> impl Iterator<Item = f64> + use<> {
        let (samples, duration) = (if program.is_timed() { SAMPLES } else { 0 }, self.duration);
        (0..=samples).map(move |k| duration * k as f64 / SAMPLES as f64)
    }

    /// The values at which coordinates are held.
    pub(super) fn motion(
        &self,
        course: &Course,
        coordinates: usize,
        at: Where<'_>,
    ) -> Result<PrescribedMotion> {
        match course {
            Course::One(number) => self.position(number, at),
            Course::Each(list) if list.len() == coordinates && !list.is_empty() => {
                let motions: Vec<_> = list
                    .iter()
                    .map(|number| self.position(number, at))
                    .collect::<Result<_>>()?;
                Ok(PrescribedMotion::each(&motions))
            }
            Course::Each(list) => self.wrong_count(list.len(), coordinates, at),
            Course::Table(points) => self.table(points, at),
        }
    }

    fn wrong_count<T>(&self, found: usize, coordinates: usize, at: Where<'_>) -> Result<T> {
        let message = format!(
            "{} has {found} functions of time, needed are {coordinates}",
            describe(at)
        );
        let help = "one without a list serves all; a table is a list of pairs (time, value)";
        self.wrong(&[at, owner(at)], message, Some(help.into()))
    }

    fn position(&self, number: &Number, at: Where<'_>) -> Result<PrescribedMotion> {
        let program = self.program(number, at)?;
        if !program.is_timed() {
            return Ok(PrescribedMotion::constant(&[program.jet(0.0).value]));
        }
        if let Some(time) = self
            .sample_times(&program)
            .find(|t| !program.jet(*t).rate.is_finite())
        {
            let message = format!("{} changes infinitely fast at t = {time} s", describe(at));
            return self.wrong(&[at, owner(at)], message, None);
        }
        Ok(PrescribedMotion::function(move |t| {
            let x = program.jet(t.re);
            at_rate(x.value, x.rate, t)
        }))
    }

    fn table(&self, points: &[[Number; 2]], at: Where<'_>) -> Result<PrescribedMotion> {
        let mut list = Vec::with_capacity(points.len());
        for [time, value] in points {
            list.push((self.number(time, at)?, self.number(value, at)?));
        }
        match PrescribedMotion::table(&list) {
            Ok(motion) => Ok(motion),
            Err(error) => self.wrong(&[at, owner(at)], format!("{}: {error}", describe(at)), None),
        }
    }

    /// A motion at a speed; only its rate counts.
    pub(super) fn speed(&self, course: &Course, at: Where<'_>) -> Result<PrescribedMotion> {
        match course {
            Course::Each(list) if list.len() != 1 => self.wrong_count(list.len(), 1, at),
            Course::One(number) => self.speed_of(number, at),
            Course::Each(list) => self.speed_of(&list[0], at),
            Course::Table(points) => {
                let table = self.table(points, at)?;
                Ok(PrescribedMotion::function(move |t| {
                    at_rate(0.0, table.at(0, t.re).0, t)
                }))
            }
        }
    }

    fn speed_of(&self, number: &Number, at: Where<'_>) -> Result<PrescribedMotion> {
        let program = self.program(number, at)?;
        Ok(PrescribedMotion::function(move |t| {
            at_rate(0.0, program.jet(t.re).value, t)
        }))
    }
}

/// A value that changes at a rate, at a time; without its second derivative, which no motion needs.
fn at_rate(value: f64, rate: f64, t: Dual) -> Dual {
    Dual::new(value, rate * t.eps1, rate * t.eps2, rate * t.eps1eps2)
}
