//! Parameters of a scene: numbers with names, of which some are derived from others.

use super::{Builder, Result, Settings};
use crate::schema::Scene;
use crate::source::Where;
use crate::{Number, SceneError};
use pliant_expression::{Dimension, ExpressionError, Program, Symbol, parameters, suggest};
use std::collections::BTreeMap;

/// Values of parameters, and how they depend on each other.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    /// Their values at the start, in SI units where they have units.
    pub(super) values: BTreeMap<String, f64>,
    /// Dimensions of those that have units.
    dimensions: BTreeMap<String, Dimension>,
    /// Expressions of those that follow parameters which change while the scene runs.
    following: BTreeMap<String, Program>,
    /// All of them, each behind those that it is derived from.
    order: Vec<String>,
}

/// A parameter as it is written.
#[derive(Clone, Copy)]
struct Written<'a> {
    number: &'a Number,
    /// Whether it was given beside the file.
    is_given: bool,
}

impl Written<'_> {
    /// Names that its expression uses, as often as they stand there.
    fn uses(&self) -> Vec<&str> {
        match self.number {
            Number::Value(_) => Vec::new(),
            Number::Expression(text) => parameters(text).map(|(name, _)| name).collect(),
        }
    }
}

type All<'a> = BTreeMap<&'a str, Written<'a>>;

impl Parameters {
    /// The meaning of a name in an expression that does not change while the scene runs.
    pub(super) fn symbol(&self, name: &str) -> Option<Symbol<'_>> {
        let value = *self.values.get(name)?;
        Some(Symbol::Number(value, self.dimensions.get(name).copied()))
    }

    /// How a parameter follows those that change, if it does.
    pub(super) fn following(&self, name: &str) -> Option<&Program> {
        self.following.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.values.keys().map(String::as_str)
    }
}

impl Builder<'_> {
    /// Evaluates the parameters; those of `settings` win.
    pub(super) fn parameters(&mut self, scene: &Scene, settings: &Settings) -> Result<()> {
        self.check_names(scene)?;
        let all = written(scene, settings)?;
        let order = match order(&all) {
            Ok(order) => order,
            Err(circle) => return Err(self.circle(&all, &circle)),
        };
        for name in &order {
            let one = all[name.as_str()];
            let (value, dimension) = match one.is_given {
                true => self.given(scene, name, one.number)?,
                false => self.value_of(name, one.number)?,
            };
            self.parameters.values.insert(name.clone(), value);
            if let Some(dimension) = dimension {
                self.parameters.dimensions.insert(name.clone(), dimension);
            }
        }
        self.parameters.order = order;
        Ok(())
    }

    /// Refuses parameters that no expression can name, or that would be taken for something else.
    fn check_names(&self, scene: &Scene) -> Result<()> {
        for name in scene.parameters.keys() {
            let why = match name.as_str() {
                "t" => "`$t` is the time".to_owned(),
                "i" => "`$i` counts what is repeated".to_owned(),
                "pi" => "`pi` is the number 3.14159..".to_owned(),
                "" => "expressions could not name it".to_owned(),
                name if !is_usable(name) => format!("expressions could not name it `${name}`"),
                _ => continue,
            };
            let message = format!("a parameter cannot be called \"{name}\": {why}");
            let help = "names are of letters, digits and underscores, such as `length_2`; parts of them may \
                        be joined by points, as in `arm.length`";
            let places = [Where::Within("parameters", name), Where::Key("parameters")];
            return self.wrong(&places, message, Some(help.to_owned()));
        }
        Ok(())
    }

    /// The value of a parameter of the file.
    fn value_of(&self, name: &str, number: &Number) -> Result<(f64, Option<Dimension>)> {
        let at = Where::Key(name);
        match number {
            Number::Value(value) => Ok((self.finite(*value, at)?, None)),
            Number::Expression(text) => {
                let read = self.parameter(text);
                read.map_err(|error| self.expression_error(text, at, error))
            }
        }
    }

    fn parameter(&self, text: &str) -> std::result::Result<(f64, Option<Dimension>), ExpressionError> {
        let lookup = |name: &str| {
            let function = || self.functions.get(name).map(Symbol::Function);
            self.parameters.symbol(name).or_else(function)
        };
        // All names, for suggestions, are gathered only where something is wrong.
        let program = Program::parse(text, &lookup, &[], &[]).or_else(|_| {
            let names: Vec<&str> = self.scene.parameters.keys().map(String::as_str).collect();
            Program::parse(text, &lookup, &names, &[])
        })?;
        Ok((program.value(0.0)?, program.dimension()))
    }

    /// The value of a parameter that was given beside the file. Without a unit it is in the SI unit
    /// of what the file says of it.
    fn given(&self, scene: &Scene, name: &str, number: &Number) -> Result<(f64, Option<Dimension>)> {
        let own = match scene.parameters.get(name) {
            Some(Number::Expression(text)) => self.parameter(text).ok().and_then(|(_, own)| own),
            _ => None,
        };
        let (value, dimension) = match number {
            Number::Value(value) if value.is_finite() => (*value, None),
            Number::Value(value) => {
                return Err(refused(name, format!("{value} is not a finite number"), None));
            }
            Number::Expression(text) => self
                .parameter(text)
                .map_err(|error| refused(name, error.message, error.help))?,
        };
        match (own, dimension) {
            (Some(own), Some(given)) if !own.agrees(given) => {
                let message = format!("it is {own} in the scene, and given is {given}");
                Err(refused(name, message, None))
            }
            (own, given) => Ok((value, given.or(own))),
        }
    }

    /// A complaint about parameters that are derived from each other in a circle.
    fn circle(&self, all: &All<'_>, circle: &[String]) -> SceneError {
        let names: Vec<String> = circle.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "parameters are derived from each other in a circle: {}",
            names.join(" -> ")
        );
        let in_file = circle.windows(2).find_map(|pair| {
            let one = all.get(pair[0].as_str()).filter(|one| !one.is_given)?;
            let Number::Expression(text) = one.number else {
                return None;
            };
            let range = parameters(text).find(|(name, _)| *name == pair[1])?.1;
            Some((pair[0].as_str(), text, range))
        });
        let Some((name, text, range)) = in_file else {
            return SceneError::Setting { message, help: None };
        };
        let error = ExpressionError {
            message,
            range,
            help: None,
        };
        self.expression_error(text, Where::Key(name), error)
    }

    /// Finds how parameters follow those that change while the scene runs.
    pub(super) fn follow(&mut self) -> Result<()> {
        let order = std::mem::take(&mut self.parameters.order);
        for name in &order {
            let Some(Number::Expression(text)) = self.written(name) else {
                continue;
            };
            let changes = |used: &str| {
                self.parameters.following.contains_key(used)
                    || self.varied.iter().any(|(varied, _)| varied == used)
            };
            let Some((used, range)) = parameters(text).find(|(used, _)| changes(used)) else {
                continue;
            };
            if self.varied.iter().any(|(varied, _)| varied == name) {
                let message = format!(
                    "`{name}` is set while the scene runs, and is derived from `{used}`, which changes, too"
                );
                let error = ExpressionError {
                    message,
                    range,
                    help: Some("one of both can lead: set the other, or give it a number".into()),
                };
                return Err(self.expression_error(text, Where::Key(name), error));
            }
            let names: Vec<&str> = self.parameters.names().collect();
            let lookup = |name: &str| self.variable(name, None, true);
            let program = Program::parse(text, &lookup, &names, &self.free_names())
                .map_err(|error| self.expression_error(text, Where::Key(name), error))?;
            self.parameters.following.insert(name.clone(), program);
        }
        Ok(())
    }

    /// A parameter as it is written, beside the file or in it.
    fn written(&self, name: &str) -> Option<&Number> {
        let mut given = self.given.iter().rev();
        let given = given.find(|(given, _)| given == name).map(|(_, number)| number);
        given.or_else(|| self.scene.parameters.get(name))
    }
}

/// Whether a name can stand behind a `$`: words with points between them, each but the first of which
/// begins with no digit.
fn is_usable(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut words = name.split('.');
    words.next().is_some_and(is_word)
        && words.all(|word| is_word(word) && !word.starts_with(|c: char| c.is_numeric()))
}

fn refused(name: &str, message: String, help: Option<String>) -> SceneError {
    SceneError::Setting {
        message: format!("the parameter `{name}`: {message}"),
        help,
    }
}

/// All parameters, with those that were given beside the file in the place of its own.
fn written<'a>(scene: &'a Scene, settings: &'a Settings) -> Result<All<'a>> {
    let own = scene.parameters.iter().map(|(name, number)| {
        let is_given = false;
        (name.as_str(), Written { number, is_given })
    });
    let mut all: All<'_> = own.collect();
    for (name, number) in &settings.parameters {
        let Some(one) = all.get_mut(name.as_str()) else {
            let known = scene.parameters.keys().map(String::as_str);
            let help = suggest::hint(name, "parameters", known)
                .or_else(|| Some("this scene has no parameters".to_owned()));
            return Err(SceneError::Setting {
                message: format!("unknown parameter `{name}`"),
                help,
            });
        };
        *one = Written {
            number,
            is_given: true,
        };
    }
    Ok(all)
}

/// The names of all, each behind those that it is derived from; or those of a circle, the first of
/// them at the end again. Names that are none are left to the expressions that use them.
fn order(all: &All<'_>) -> std::result::Result<Vec<String>, Vec<String>> {
    let mut order = Vec::with_capacity(all.len());
    // Whether it is in the order already, or still on the way to what it is derived from.
    let mut is_done: BTreeMap<&str, bool> = BTreeMap::new();
    for name in all.keys().copied() {
        if is_done.contains_key(name) {
            continue;
        }
        is_done.insert(name, false);
        let mut way = vec![(name, all[name].uses())];
        while let Some((name, uses)) = way.last_mut() {
            let Some(used) = uses.pop() else {
                is_done.insert(*name, true);
                order.push((*name).to_owned());
                way.pop();
                continue;
            };
            let Some((used, one)) = all.get_key_value(used) else {
                continue;
            };
            match is_done.get(*used) {
                Some(true) => {}
                Some(false) => {
                    let names = way.iter().map(|(name, _)| *name);
                    let circle = names.skip_while(|name| name != used).chain([*used]);
                    return Err(circle.map(str::to_owned).collect());
                }
                None => {
                    is_done.insert(*used, false);
                    way.push((*used, one.uses()));
                }
            }
        }
    }
    Ok(order)
}
