//! Events: conditions and actions out of the schema.

use super::super::values::owner;
use super::super::{Builder, Result, entries};
use super::{Room, breaking};
use crate::event::{Action, Event, Events};
use crate::schema::{ActionSpec, EventSpec};
use crate::source::Where;
use pliant::model::ComponentId;
use pliant_expression::{Condition, suggest};

/// The events are located as closely as this by default (s).
const TOLERANCE: f64 = 1e-6;

impl<'a> Room<'_, 'a> {
    /// All events of the scene.
    pub(super) fn events(&mut self) -> Result<Events> {
        let builder = self.builder;
        let scene = builder.scene;
        let at = Where::Key("event_tolerance");
        let tolerance = match &scene.run.event_tolerance {
            Some(_) if scene.events.is_empty() => {
                let message = "`event_tolerance` is of `events`, and there are none".to_owned();
                return builder.wrong(&[at], message, None);
            }
            Some(number) => builder.positive(number, at)?,
            None => TOLERANCE,
        };
        if scene.run.statics.is_some() && !scene.events.is_empty() {
            let message = "`events` are of motion, and `statics` has none".to_owned();
            return builder.wrong(&[Where::Name(&scene.events[0].name)], message, None);
        }
        let mut list: Vec<Event> = Vec::new();
        for spec in &scene.events {
            if list.iter().any(|other| other.name == spec.name) {
                let message = format!("the name `{}` is used twice in `events`", spec.name);
                return builder.wrong(&[Where::Name(&spec.name)], message, None);
            }
            list.push(self.event(spec)?);
        }
        let breaking = breaking::rules(builder)?;
        let is_event = |name: &str| list.iter().any(|event| event.name == name);
        if let Some(rule) = breaking.iter().find(|rule| is_event(&rule.name)) {
            let message = format!(
                "the name `{}` is that of an event and of a rule of `breaking`",
                rule.name
            );
            let help = "results list what both remove by their names".to_owned();
            return builder.wrong(&[Where::Name(&rule.name)], message, Some(help));
        }
        Ok(Events {
            list,
            breaking,
            tolerance,
        })
    }

    fn event(&mut self, spec: &EventSpec) -> Result<Event> {
        let name = spec.name.as_str();
        let at = Where::Field(name, "do");
        if spec.actions.is_empty() {
            let message = format!("the event `{name}` does nothing");
            let help = "`do: [Stop]`, `Release(\"rope\")`, `Remove(..)`, `Set(\"k\", 0)` or `Say(\"..\")`"
                .to_owned();
            return self.builder.wrong(&[at, owner(at)], message, Some(help));
        }
        let when = self.condition(&spec.when, Where::Field(name, "when"))?;
        let actions = spec.actions.iter().map(|action| self.action(name, action));
        Ok(Event {
            name: name.to_owned(),
            when,
            again: spec.again,
            actions: actions.collect::<Result<_>>()?,
        })
    }

    /// A condition of the scene.
    fn condition(&mut self, text: &str, at: Where<'_>) -> Result<Condition> {
        let builder = self.builder;
        let lookup = |name: &str| builder.variable(name, None, true);
        let mut names = builder.variables(None);
        names.push("t");
        let read = Condition::parse(text, &lookup, &names, &builder.free_names(), &mut |reference| {
            self.resolve(reference)
        });
        read.map_err(|error| self.error(text, at, error))
    }

    fn action(&mut self, event: &str, spec: &ActionSpec) -> Result<Action> {
        match spec {
            ActionSpec::Stop => Ok(Action::Stop),
            ActionSpec::Say(text) => Ok(Action::Say(text.clone())),
            ActionSpec::Remove(spec) => breaking::removed(self.builder, event, spec),
            ActionSpec::Set(name, value) => {
                let index = self.builder.varied.iter().position(|(varied, _)| varied == name);
                let value = self.program(value, Where::Field(event, "do"))?;
                // All that events set is there.
                Ok(Action::Set(index.unwrap_or_default(), value))
            }
            ActionSpec::Release(name) => self.released(event, name).map(Action::Release),
        }
    }

    /// All components of a constraint, force field or joint.
    fn released(&self, event: &str, name: &str) -> Result<Vec<ComponentId>> {
        let builder: &Builder<'_> = self.builder;
        let places = [Where::Literal(event, name), Where::Name(event)];
        if let Some((.., handle)) = builder.joints.iter().find(|(_, own, ..)| own == name) {
            return Ok(handle.rows.iter().chain(&handle.attached).copied().collect());
        }
        match entries::component(builder, name) {
            Some(ComponentId::Mass(_)) => {
                let message = format!("`{name}` is a mass, which cannot be released");
                builder.wrong(&places, message, None)
            }
            Some(component) => Ok(vec![component]),
            None => {
                let help = suggest::hint(name, "what can be released", self.forces());
                let message = format!("`{name}` is no constraint, force field or joint");
                builder.wrong(&places, message, help)
            }
        }
    }
}
