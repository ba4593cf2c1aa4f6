//! Numbers, counts and names out of the schema.

use super::{Builder, Result};
use crate::quantity::{Bases, Observed};
use crate::schema::Triple;
use crate::source::Where;
use crate::{Amount, Number, OneOrMany, Quantity, SceneError, Units};
use pliant::model::NodeId;
use pliant_expression::{Dimension, ExpressionError, Program, Symbol, TIME, suggest};

/// Bytes that an element takes at least, whatever it is of.
const LEAST_BYTES: usize = 100;

impl Builder<'_> {
    /// A finite number.
    pub(super) fn number(&self, number: &Amount, at: Where<'_>) -> Result<f64> {
        self.number_for(number, at, None)
    }

    /// A finite number that may depend on `$i`.
    pub(super) fn number_for(&self, number: &Amount, at: Where<'_>, index: Option<usize>) -> Result<f64> {
        let value = match &number.number {
            // Nothing of anything.
            Number::Value(value) if *value == 0.0 => *value,
            Number::Value(value) => self.finite(value * self.unit_of(number, at)?, at)?,
            Number::Expression(text) => self.expression(text, number, at, index)?,
        };
        self.units.note(at, value);
        Ok(value)
    }

    /// A number as it is written, if it is finite.
    pub(super) fn finite(&self, value: f64, at: Where<'_>) -> Result<f64> {
        if value.is_finite() {
            return Ok(value);
        }
        let message = format!("{} is {value}, not a finite number", describe(at));
        self.wrong(&[at, owner(at)], message, None)
    }

    fn expression(&self, text: &str, number: &Amount, at: Where<'_>, index: Option<usize>) -> Result<f64> {
        let index = index.or(self.index);
        let lookup = |name: &str| self.variable(name, index, false);
        // All names, for suggestions, are gathered only where something is wrong.
        let read = Program::parse(text, &lookup, &[], &[])
            .or_else(|_| Program::parse(text, &lookup, &self.variables(index), &[]));
        let read = read.and_then(|program| Ok((program.value(0.0)?, program)));
        let (value, program) = read.map_err(|error| self.expression_error(text, at, error))?;
        Ok(value * self.factor(text, &program, number, at)?)
    }

    /// The factor on the value of an expression that makes the number of a key of it; an error if
    /// its units are not those of the key.
    pub(super) fn factor(
        &self,
        text: &str,
        program: &Program,
        number: &Amount,
        at: Where<'_>,
    ) -> Result<f64> {
        let Some(found) = program.dimension() else {
            return self.unit_of(number, at);
        };
        let takes = number.takes;
        // A number is no angle, and angles count as numbers only in arithmetic.
        let is_angle = found.is_angle() && takes.dimensions == [Dimension::NONE];
        let is_right = takes.dimensions.iter().any(|right| right.agrees(found)) && !is_angle;
        if is_right || takes.dimensions.is_empty() {
            return Ok(if takes.in_degrees { 1f64.to_degrees() } else { 1.0 });
        }
        let right: Vec<String> = takes.dimensions.iter().map(ToString::to_string).collect();
        let error = ExpressionError {
            message: format!(
                "{} is {found}, and needed is {}",
                describe(at),
                right.join(" or ")
            ),
            range: 0..text.len(),
            help: None,
        };
        Err(self.expression_error(text, at, error))
    }

    /// The unit (SI) of a number that has none of its own: that of its file.
    fn unit_of(&self, number: &Amount, at: Where<'_>) -> Result<f64> {
        let bases = match number.bases {
            Some(bases) if number.takes != Observed::TAKES => bases,
            _ => return Ok(1.0),
        };
        let mut units = number.takes.dimensions.iter().map(|of| bases.unit(*of));
        let first = units.next();
        match first.filter(|first| units.all(|unit| unit == *first)) {
            Some(unit) => Ok(unit),
            None => {
                let message = format!(
                    "{} may be of several dimensions, so `units` do not say what this number is",
                    describe(at)
                );
                let help = "give it a unit of its own, such as \"5 N/m\"; a pure number is one in radians, \"5 rad\"";
                self.wrong(&[at, owner(at)], message, Some(help.to_owned()))
            }
        }
    }

    /// A program of the time or the place that reckons in the units of its file, where its text has
    /// no units; `factor` is the one on its value.
    pub(super) fn in_units(
        &self,
        program: Program,
        number: &Amount,
        factor: f64,
        free: impl Fn(Bases) -> [f64; 3],
    ) -> Program {
        match number.bases {
            Some(bases) if program.dimension().is_none() => program.in_units(factor, free(bases)),
            _ => program,
        }
    }

    /// The meaning of a parameter, or of `$i` where something is repeated. In a function of time
    /// and of what changes with it, parameters may follow others; the number of a thing that does
    /// not change cannot use them.
    pub(super) fn variable(&self, name: &str, index: Option<usize>, is_function: bool) -> Option<Symbol<'_>> {
        match (index, self.parameters.following(name)) {
            (Some(i), _) if name == "i" => Some(Symbol::from(i as f64)),
            // It has no value of its own: it changes while the scene runs.
            _ if self.varied.iter().any(|(varied, _)| varied == name) => None,
            (_, Some(program)) => is_function.then_some(Symbol::Program(program)),
            _ => {
                let function = || self.functions.get(name).map(Symbol::Function);
                self.parameters.symbol(name).or_else(function)
            }
        }
    }

    /// Names of everything that has a value in an expression.
    pub(super) fn variables(&self, index: Option<usize>) -> Vec<&str> {
        self.parameters.names().chain(index.map(|_| "i")).collect()
    }

    /// Names of the values that functions of time are given: the time and what changes with it.
    pub(super) fn free_names(&self) -> Vec<&str> {
        let varied = self.varied.iter().map(|(name, _)| name.as_str());
        TIME.iter().copied().chain(varied).collect()
    }

    pub(super) fn expression_error(&self, text: &str, at: Where<'_>, error: ExpressionError) -> SceneError {
        let name = match at {
            Where::Name(name)
            | Where::Field(name, _)
            | Where::Item(name, ..)
            | Where::Used(name, _)
            | Where::Literal(name, _) => name,
            Where::Key(_) | Where::Listed(..) | Where::Within(..) => "",
        };
        let ExpressionError {
            mut message,
            range,
            mut help,
        } = error;
        if let Some((changing, sets)) = self.changing(&message) {
            let what = describe(at);
            let follows = match changing == sets {
                true => String::new(),
                false => format!("follows `{sets}` and "),
            };
            message = format!("`${changing}` {follows}changes while the scene runs, and {what} does not");
            help = Some(format!(
                "an event or a controller sets `{sets}`: forces, targets of motions and of motors, and their speeds may follow it"
            ));
        }
        let diagnostic = match self.source.find(Where::Literal(name, text)) {
            // One byte for the opening quote.
            // Not where the expression is another in the file: of a repeat or an included file.
            Some(literal) if !self.source.is_written(&literal, text) => {
                self.source.at(literal, message, help)
            }
            Some(literal) => {
                let behind = |offset: usize| literal.start.saturating_add(1).saturating_add(offset);
                let end = behind(range.end).min(literal.end);
                self.source.at(behind(range.start)..end, message, help)
            }
            None => self.source.about(&[at, owner(at)], message, help),
        };
        SceneError::Value(Box::new(diagnostic))
    }

    /// The parameter that a message says is unknown although it is one that changes, and the one
    /// that is set, which it is or follows.
    fn changing(&self, message: &str) -> Option<(String, String)> {
        let named = message.strip_prefix("unknown parameter `$")?.strip_suffix('`')?;
        if self.varied.iter().any(|(varied, _)| varied == named) {
            return Some((named.to_owned(), named.to_owned()));
        }
        let place = self
            .parameters
            .following(named)?
            .places()
            .find(|place| *place > 0)?;
        let (varied, _) = self.varied.get(place.checked_sub(1)?)?;
        Some((named.to_owned(), varied.clone()))
    }

    pub(super) fn triple(&self, numbers: &Triple<impl Units>, at: Where<'_>) -> Result<[f64; 3]> {
        self.triple_for(numbers, at, None)
    }

    /// Three numbers, zero if there are none.
    pub(super) fn triple_or_zero(
        &self,
        numbers: Option<&Triple<impl Units>>,
        at: Where<'_>,
    ) -> Result<[f64; 3]> {
        numbers.map_or(Ok([0.0; 3]), |numbers| self.triple(numbers, at))
    }

    pub(super) fn triple_for(
        &self,
        numbers: &Triple<impl Units>,
        at: Where<'_>,
        index: Option<usize>,
    ) -> Result<[f64; 3]> {
        let [x, y, z] = numbers;
        let of = |n: &Amount| self.number_for(n, at, index);
        Ok([of(x)?, of(y)?, of(z)?])
    }

    pub(super) fn numbers(&self, numbers: &[Quantity<impl Units>], at: Where<'_>) -> Result<Vec<f64>> {
        numbers.iter().map(|n| self.number(n, at)).collect()
    }

    /// One number for all, or as many as `count`.
    pub(super) fn each(
        &self,
        numbers: &OneOrMany<impl Units>,
        count: usize,
        at: Where<'_>,
    ) -> Result<Vec<f64>> {
        match numbers {
            OneOrMany::One(number) => Ok(vec![self.number(number, at)?; count]),
            OneOrMany::Many(list) if list.len() == count => self.numbers(list, at),
            OneOrMany::Many(list) => {
                let message = format!("{} has {} numbers, needed are {count}", describe(at), list.len());
                self.wrong(
                    &[at, owner(at)],
                    message,
                    Some("one number without a list serves all".into()),
                )
            }
        }
    }

    /// A whole number from `least` to the largest allowed count.
    pub(super) fn count(&self, number: &Amount, least: usize, at: Where<'_>) -> Result<usize> {
        self.whole(number, least, self.limits.elements, at)
    }

    /// The number of an element of a node that has `count`, counted from zero.
    pub(super) fn element(&self, number: &Amount, node: &str, count: usize, at: Where<'_>) -> Result<usize> {
        match count.checked_sub(1) {
            Some(last) => self.whole(number, 0, last, at),
            None => {
                let message = format!("{}: `{node}` has no elements", describe(at));
                self.wrong(&[at, owner(at)], message, None)
            }
        }
    }

    /// The number of an element of a node that is not known yet, or is looked at later.
    pub(super) fn any_element(&self, number: &Amount, at: Where<'_>) -> Result<usize> {
        self.whole(number, 0, self.limits.elements, at)
    }

    /// A whole number within bounds.
    pub(super) fn whole(&self, number: &Amount, least: usize, most: usize, at: Where<'_>) -> Result<usize> {
        let value = self.number(number, at)?;
        let rounded = value.round();
        // An expression such as `0.3 / 0.1` means 3.
        if (value - rounded).abs() > 1e-9 * rounded.abs().max(1.0) {
            return self.wrong(
                &[at, owner(at)],
                format!("{} is {value}, not a whole number", describe(at)),
                None,
            );
        }
        if rounded < least as f64 || rounded > most as f64 {
            let message = format!(
                "{} is {rounded}, but must be from {least} to {most}",
                describe(at)
            );
            return self.wrong(&[at, owner(at)], message, None);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between two of that type"
        )]
        let whole = rounded as usize;
        // The bounds are rounded where they are beyond 2^53.
        Ok(whole.clamp(least, most))
    }

    /// A number above zero.
    pub(super) fn positive(&self, number: &Amount, at: Where<'_>) -> Result<f64> {
        let value = self.number(number, at)?;
        if value > 0.0 {
            return Ok(value);
        }
        self.wrong(
            &[at, owner(at)],
            format!("{} is {value}, but must be positive", describe(at)),
            None,
        )
    }

    /// The node of a name that `key` of `user` refers to.
    pub(super) fn node(&self, name: &str, user: &str, key: &str) -> Result<NodeId> {
        if let Some(node) = self.model.node_named(name) {
            return Ok(node);
        }
        let known = self.model.nodes().iter().map(|n| n.name.as_str());
        let help = suggest::hint(name, "nodes so far", known);
        let places = [
            Where::Literal(user, name),
            Where::Field(user, key),
            Where::Name(user),
        ];
        self.wrong(&places, format!("unknown node `{name}`"), help)
    }

    /// Checks that nodes may have so many elements more, before anything is made of the count that
    /// the user wrote `at` that place.
    pub(super) fn check_size(&self, at: Where<'_>, elements: usize) -> Result<()> {
        let (all, most) = (self.elements.saturating_add(elements), self.limits.elements);
        // Where the limit is raised far: the system is asked, and gets it back untouched.
        let bytes = all.saturating_mul(LEAST_BYTES);
        let granted = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if all <= most && granted {
            return Ok(());
        }
        let what = match at {
            Where::Name(name) => format!("`{name}`"),
            at => describe(at),
        };
        if all <= most {
            let bytes = 1e-9 * bytes as f64;
            let message = format!(
                "with {what}, the scene has {all} elements, for which the system does not grant the least of {bytes:.1} GB"
            );
            return self.wrong(&[at, owner(at)], message, None);
        }
        let message = format!("with {what}, the scene has {all} elements, more than the limit of {most}");
        let help = "elements are the points, bodies, quadrature points and rows of all nodes; \
                    `--max-elements` raises the limit"
            .to_owned();
        self.wrong(&[at, owner(at)], message, Some(help))
    }

    /// Counts elements of new nodes against the largest allowed number.
    pub(super) fn grow(&mut self, name: &str, elements: usize) -> Result<()> {
        self.check_size(Where::Name(name), elements)?;
        self.elements = self.elements.saturating_add(elements);
        self.initial = None;
        Ok(())
    }

    /// Positions of the elements of a node at the start.
    pub(super) fn initial_positions(&mut self, node: NodeId) -> Result<&[f64]> {
        if self.initial.is_none() {
            self.initial = Some(self.model.initial_state().map_err(|e| self.model_error(e))?);
        }
        let range = self.model.node(node).position_range();
        Ok(self.initial.as_ref().map_or(&[], |state| &state.positions[range]))
    }
}

/// The name that a value belongs to.
pub(super) fn owner(at: Where<'_>) -> Where<'_> {
    match at {
        Where::Field(name, _) | Where::Item(name, ..) | Where::Used(name, _) | Where::Literal(name, _) => {
            Where::Name(name)
        }
        other => other,
    }
}

/// The value in words.
pub(super) fn describe(at: Where<'_>) -> String {
    match at {
        Where::Key(key) => format!("`{key}`"),
        Where::Name(name) => format!("a number of `{name}`"),
        Where::Field(name, key) | Where::Used(name, key) => format!("`{key}` of `{name}`"),
        Where::Item(name, key, index) => format!("entry {index} of `{key}` of `{name}`"),
        Where::Literal(name, text) => format!("\"{text}\" of `{name}`"),
        Where::Listed(key, index, _) => format!("a number of entry {index} of `{key}`"),
        Where::Within(key, text) => format!("`{text}` of `{key}`"),
    }
}
