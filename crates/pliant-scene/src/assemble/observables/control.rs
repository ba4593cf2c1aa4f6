//! Sensors, controllers and actuators out of the schema.

use super::super::Result;
use super::super::values::{describe, owner};
use super::Room;
use super::variables::signal;
use crate::controller::{ControlLaw, Controller};
use crate::quantity::Pure;
use crate::schema::{ActuatorSpec, BoundsSpec, ControlLawSpec, ControllerSpec, SensorSpec};
use crate::signal::{Actuator, COMMAND, OUTPUT, READING, Sensor};
use crate::source::Where;
use crate::{Quantity, Units};

/// Samples by which a sensor may be late.
const LATEST: usize = 100_000;

impl Room<'_, '_> {
    /// All controllers of the scene.
    pub(super) fn controllers(&mut self) -> Result<Vec<Controller>> {
        let builder = self.builder;
        let scene = builder.scene;
        if let (Some(first), true) = (scene.controllers.first(), scene.run.statics.is_some()) {
            let message = "`controllers` are of motion, and `statics` has none".to_owned();
            return builder.wrong(&[Where::Name(&first.name)], message, None);
        }
        let mut list: Vec<Controller> = Vec::new();
        for spec in &scene.controllers {
            if list.iter().any(|other| other.name == spec.name) {
                let message = format!("the name `{}` is used twice in `controllers`", spec.name);
                return builder.wrong(&[Where::Name(&spec.name)], message, None);
            }
            list.push(self.controller(spec)?);
        }
        Ok(list)
    }

    fn controller(&mut self, spec: &ControllerSpec) -> Result<Controller> {
        let builder = self.builder;
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        let every = match &spec.every {
            Some(number) => builder.whole(number, 1, usize::MAX, field("every"))?,
            None => 1,
        };
        let limits = self.limits(name, spec.limits.as_ref())?;
        let law = match &spec.law {
            ControlLawSpec::Feedback(number) => ControlLaw::Feedback(self.program(number, field("law"))?),
            ControlLawSpec::Pid(pid) => ControlLaw::Pid {
                error: self.program(&pid.error, field("error"))?,
                rate: match &pid.rate {
                    Some(rate) => Some(self.program(rate, field("rate"))?),
                    None => None,
                },
                gains: [
                    builder.number(&pid.p, field("p"))?,
                    builder.number(&pid.i, field("i"))?,
                    builder.number(&pid.d, field("d"))?,
                ],
            },
        };
        let variable = builder.varied.iter().position(|(varied, _)| *varied == spec.sets);
        Ok(Controller {
            name: name.to_owned(),
            // All that controllers set is there.
            variable: variable.unwrap_or_default(),
            law,
            every,
            limits,
        })
    }

    /// All sensors of the scene.
    pub(super) fn sensors(&mut self) -> Result<Vec<Sensor>> {
        let scene = self.builder.scene;
        scene.sensors.iter().map(|spec| self.sensor(spec)).collect()
    }

    /// All actuators of the scene.
    pub(super) fn actuators(&mut self) -> Result<Vec<Actuator>> {
        let scene = self.builder.scene;
        scene.actuators.iter().map(|spec| self.actuator(spec)).collect()
    }

    fn sensor(&mut self, spec: &SensorSpec) -> Result<Sensor> {
        let builder = self.builder;
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        let whole = |number: &Option<Quantity<Pure>>, key, [default, least, most]: [usize; 3]| match number {
            Some(number) => builder.whole(number, least, most, field(key)),
            None => Ok(default),
        };
        Ok(Sensor {
            name: name.to_owned(),
            // All signals are there.
            variable: signal(builder, name, READING).unwrap_or_default(),
            of: self.program(&spec.of, field("of"))?,
            every: whole(&spec.every, "every", [1, 1, usize::MAX])?,
            lag: self.size(spec.lag.as_ref(), field("lag"))?,
            noise: self.size(Some(&spec.noise), field("noise"))?,
            seed: whole(&spec.seed, "seed", [0, 0, usize::MAX])? as u64,
            resolution: self.size(spec.resolution.as_ref(), field("resolution"))?,
            limits: self.limits(name, spec.limits.as_ref())?,
            delay: whole(&spec.delay, "delay", [0, 0, LATEST])?,
        })
    }

    fn actuator(&mut self, spec: &ActuatorSpec) -> Result<Actuator> {
        let builder = self.builder;
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        let limits @ [lower, upper] = self.limits(name, spec.limits.as_ref())?;
        let start = builder.number(&spec.start, field("start"))?;
        if !(lower..=upper).contains(&start) {
            let message = format!("the output of `{name}` starts at {start}, beyond its `limits`");
            let at = [field("start"), field("limits"), Where::Name(name)];
            let help = "`start` is its output at the start, 0 by default".to_owned();
            return builder.wrong(&at, message, Some(help));
        }
        let rate = match &spec.rate {
            Some(rate) => builder.positive(rate, field("rate"))?,
            None => f64::INFINITY,
        };
        Ok(Actuator {
            name: name.to_owned(),
            variables: [COMMAND, OUTPUT].map(|key| signal(builder, name, key).unwrap_or_default()),
            command: self.program(&spec.command, field("command"))?,
            lag: self.size(spec.lag.as_ref(), field("lag"))?,
            rate,
            limits,
            start,
        })
    }

    /// A number that is not negative; zero without one.
    fn size(&self, number: Option<&Quantity<impl Units>>, at: Where<'_>) -> Result<f64> {
        let Some(number) = number else { return Ok(0.0) };
        let size = self.builder.number(number, at)?;
        if size < 0.0 {
            let message = format!("{} is {size}, less than zero", describe(at));
            return self.builder.wrong(&[at, owner(at)], message, None);
        }
        Ok(size)
    }

    /// The bounds of a signal; infinite without any.
    pub(super) fn limits(&self, name: &str, bounds: Option<&BoundsSpec>) -> Result<[f64; 2]> {
        let builder = self.builder;
        let mut limits = [f64::NEG_INFINITY, f64::INFINITY];
        let Some(bounds) = bounds else { return Ok(limits) };
        let at = Where::Field(name, "limits");
        for (limit, number) in limits.iter_mut().zip([&bounds.lower, &bounds.upper]) {
            if let Some(number) = number {
                *limit = builder.number(number, at)?;
            }
        }
        let [lower, upper] = limits;
        if lower > upper {
            let message = format!("the limits of `{name}` are {lower} and {upper}: nothing is between them");
            return builder.wrong(&[at, owner(at)], message, None);
        }
        Ok(limits)
    }
}
