//! Names of quantities to places in one list: the room of all that is measured.

mod breaking;
mod control;
mod events;
mod record;
pub(super) mod things;
mod variables;

pub(super) use record::record;
pub(super) use things::coordinate_names;
pub(super) use variables::{signal, signals, variables};

use super::values::owner;
use super::{Builder, Result};
use crate::SceneError;
use crate::observable::{NamedExpression, Observable, Observables};
use crate::schema::ExpressionSpec;
use crate::source::Where;
use crate::{Amount, Number};
use pliant_expression::{ExpressionError, Program, Reference, suggest};
use std::collections::BTreeMap;
use things::{Quantity, Thing};

/// Expressions that use others, which use others, as deep as this.
const DEEPEST: usize = 64;

/// A probe that has a name, for expressions.
#[derive(Clone, Copy)]
enum Named<'a> {
    /// An expression that was not looked at yet.
    Waiting(&'a ExpressionSpec),
    /// An expression that is being read.
    Open,
    /// A number, by its place.
    Number(usize),
    /// A pair of colliders.
    Contact(usize),
    /// A solid, sheet or rod, and its point, element or segment.
    Gauge(usize, usize),
}

/// The quantities that were asked for so far.
pub(super) struct Room<'b, 'a> {
    builder: &'b Builder<'a>,
    found: Observables,
    named: BTreeMap<&'a str, Named<'a>>,
    /// Expressions that are being read.
    depth: usize,
    /// Why an expression could not be read that another one uses.
    failed: Option<SceneError>,
}

impl<'b, 'a> Room<'b, 'a> {
    fn new(builder: &'b Builder<'a>) -> Self {
        Self {
            builder,
            found: Observables {
                variables: builder.varied.clone(),
                parameters: builder.varied_parameters,
                ..Observables::default()
            },
            named: BTreeMap::new(),
            depth: 0,
            failed: None,
        }
    }

    /// The place of a quantity.
    fn place(&mut self, observable: Observable) -> usize {
        let list = &mut self.found.list;
        let known = list.iter().position(|other| *other == observable);
        known.unwrap_or_else(|| {
            list.push(observable);
            list.len().saturating_sub(1)
        })
    }

    /// The number that an expression of the scene is.
    pub(super) fn program(&mut self, number: &Amount, at: Where<'_>) -> Result<Program> {
        let text = match &number.number {
            Number::Value(_) => return Ok(Program::number(self.builder.number(number, at)?)),
            Number::Expression(text) => text,
        };
        let builder = self.builder;
        let lookup = |name: &str| builder.variable(name, None, true);
        let mut names = builder.variables(None);
        names.push("t");
        let read = Program::observing(text, &lookup, &names, &builder.free_names(), &mut |reference| {
            self.resolve(reference)
        });
        read.map_err(|error| self.error(text, at, error))
    }

    /// A complaint about an expression, or about one that it uses.
    fn error(&mut self, text: &str, at: Where<'_>, error: ExpressionError) -> SceneError {
        let inner = self.failed.take();
        inner.unwrap_or_else(|| self.builder.expression_error(text, at, error))
    }

    /// The place of an expression that has a name.
    fn expression(&mut self, spec: &'a ExpressionSpec) -> Result<usize> {
        let name = spec.name.as_str();
        let at = Where::Field(name, "value");
        if self.depth == DEEPEST {
            let message =
                format!("`{name}` is the last of more than {DEEPEST} expressions that use each other");
            return self.builder.wrong(&[at, owner(at)], message, None);
        }
        self.named.insert(name, Named::Open);
        self.depth = self.depth.saturating_add(1);
        let program = self.program(&spec.value, at);
        self.depth = self.depth.saturating_sub(1);
        let index = self.found.expressions.len();
        self.found.expressions.push(NamedExpression {
            name: name.to_owned(),
            program: program?,
        });
        let place = self.place(Observable::Expression(index));
        self.named.insert(name, Named::Number(place));
        Ok(place)
    }

    /// The place of a quantity that an expression names.
    fn resolve(&mut self, reference: &Reference) -> std::result::Result<usize, ExpressionError> {
        let whole = reference.whole();
        let own = self
            .named
            .get(whole.as_str())
            .copied()
            .filter(|_| reference.element.is_none());
        let complain = |message: String, range, help| ExpressionError { message, range, help };
        match own {
            Some(Named::Number(place)) => return Ok(place),
            Some(Named::Open) => {
                let message = format!("`{whole}` is made of itself");
                return Err(complain(message, reference.range.clone(), None));
            }
            Some(Named::Waiting(spec)) => {
                return self.expression(spec).map_err(|error| {
                    self.failed = Some(error);
                    complain(String::new(), reference.range.clone(), None)
                });
            }
            _ => {}
        }
        let name = reference.name();
        let things = self.things(&name);
        if things.is_empty() {
            let message = format!("there is nothing called `{name}` that has quantities");
            return Err(complain(message, reference.name_range(), self.near(&name)));
        }
        let element = reference.element.as_ref().map_or(0, |element| element.1);
        let quantity = reference.quantity();
        let found = self.quantity(&things, element, &quantity);
        let Some((thing, observable)) = found else {
            let message = match quantity.as_str() {
                "" => format!("`{name}` is no number: say which of its quantities"),
                _ => format!("`{name}` has no quantity `{quantity}`"),
            };
            let help = self.quantities(&name, &things, &quantity);
            return Err(complain(message, reference.quantity_range(), help));
        };
        let count = thing.count(self.builder);
        match &reference.element {
            // That of all elements together.
            _ if matches!(observable, Observable::Potential(_)) => Ok(self.place(observable)),
            None if count > 1 => {
                let message = format!("`{name}` has {count} elements: say which, counted from zero");
                let help = format!("`{name}[0].{quantity}`");
                Err(complain(message, reference.name_range(), Some(help)))
            }
            Some((_, element, range)) if *element >= count => {
                let message =
                    format!("there is no element {element}: `{name}` has {count}, counted from zero");
                Err(complain(message, range.clone(), None))
            }
            _ => Ok(self.place(observable)),
        }
    }

    /// A quantity of the first of several things that has it.
    fn quantity(&self, things: &[Thing], element: usize, name: &str) -> Option<(Thing, Observable)> {
        let of = |thing: &Thing| {
            let all = thing.quantities(self.builder, element);
            let found = all.into_iter().find(|quantity| quantity.name == name)?;
            Some((*thing, found.observable))
        };
        things.iter().find_map(of)
    }

    /// All things of a name. A probe hides others, and a joint a force of its name.
    fn things(&self, name: &str) -> Vec<Thing> {
        match self.named.get(name) {
            Some(Named::Contact(pair)) => return vec![Thing::Contact(*pair)],
            Some(Named::Gauge(index, element)) => return vec![Thing::Gauge(*index, *element)],
            _ => {}
        }
        let builder = self.builder;
        let joint = builder.joints.iter().position(|(_, own, ..)| own == name);
        let node = builder.model.node_named(name);
        let component = builder.model.component_named(name);
        let mut all: Vec<Thing> = joint.map(Thing::Joint).into_iter().collect();
        all.extend(node.map(Thing::Node));
        all.extend(component.map(Thing::Component));
        let mut sensors = builder.scene.sensors.iter();
        let sensor = sensors.position(|spec| spec.name == name);
        all.extend(sensor.map(Thing::Sensor));
        let mut actuators = builder.scene.actuators.iter();
        let actuator = actuators.position(|spec| spec.name == name);
        all.extend(actuator.map(Thing::Actuator));
        if let Some(index) = self.deformable(name) {
            all.extend([Thing::Whole(index), Thing::Deformable(index)]);
        }
        if all.is_empty() && name == "energy" {
            all.push(Thing::Everything);
        }
        all
    }

    /// The solid, sheet or rod of a name, by its place.
    fn deformable(&self, name: &str) -> Option<usize> {
        self.builder.deformables.iter().position(|d| d.name == name)
    }

    /// Things that may be meant by a name that nothing has.
    fn near(&self, name: &str) -> Option<String> {
        let model = &self.builder.model;
        let mut known: Vec<&str> = self.named.keys().copied().collect();
        known.extend(self.builder.joints.iter().map(|(_, name, ..)| name.as_str()));
        known.extend(model.nodes().iter().map(|node| node.name.as_str()));
        known.extend(model.force_fields().iter().map(|field| field.name.as_str()));
        known.extend(
            model
                .constraints()
                .iter()
                .map(|constraint| constraint.name.as_str()),
        );
        known.extend(self.builder.scene.sensors.iter().map(|spec| spec.name.as_str()));
        known.extend(self.builder.scene.actuators.iter().map(|spec| spec.name.as_str()));
        known.push("energy");
        let help = suggest::hint(name, "things with quantities", known)?;
        Some(match name.contains(' ') {
            false => help,
            true => format!("{help} (names with blanks stand between apostrophes: `'left arm'.angle`)"),
        })
    }

    /// Names of all that has a force.
    fn forces(&self) -> Vec<&str> {
        let model = &self.builder.model;
        let joints = self.builder.joints.iter().map(|(_, name, ..)| name.as_str());
        let fields = model.force_fields().iter().map(|field| field.name.as_str());
        let constraints = model.constraints().iter().map(|one| one.name.as_str());
        joints.chain(fields).chain(constraints).collect()
    }

    /// The quantities of things, or the one that may be meant.
    fn quantities(&self, name: &str, things: &[Thing], wanted: &str) -> Option<String> {
        let all: Vec<Quantity> = things
            .iter()
            .flat_map(|thing| thing.quantities(self.builder, 0))
            .collect();
        let what = format!("quantities of `{name}`");
        suggest::hint(wanted, &what, all.iter().map(|quantity| quantity.name.as_str()))
    }
}
