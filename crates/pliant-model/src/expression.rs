//! Expressions of coordinates: formulas as text, with exact derivatives.

use crate::ModelError;
use crate::dual::Dual;
use pliant_expression::{ExpressionError, HyperDual, Program};
use std::fmt;
use std::sync::Arc;

/// Characters of an expression in an error.
const MOST_SHOWN: usize = 160;

/// Coordinates in an error.
const MOST_PLACES: usize = 8;

/// A number written as an expression of named coordinates, `"hypot(a.x - b.x, a.y - b.y) - 1"`,
/// with first and second derivatives that are exact to rounding.
///
/// The language is that of scene files (reference/scenes/expressions.md of the book): `+ - * / ^`,
/// functions from `sqrt` to `smoothstep`, and choices, `if(x < 0, 0, x^2)`. It is read once and
/// evaluated without allocation. Where it has no value or no derivative it gives an error and no number.
///
/// ```
/// use pliant_model::Expression;
/// let energy = Expression::parse("0.25 * (q^2 - 1)^2", &["q"])?;
/// assert_eq!(energy.value(&[3.0])?, 16.0);
/// assert_eq!(energy.gradient(&[3.0])?, [24.0]);
/// let error = Expression::parse("q + sqrt(p)", &["q"]).unwrap_err();
/// assert!(error.to_string().ends_with("there is no coordinate `p`"));
/// # Ok::<(), pliant_model::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    names: Arc<[String]>,
    program: Arc<Program>,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl Expression {
    /// Reads an expression in which these names, such as `q`, `a.x` or `chain[3].x`, are
    /// coordinates.
    ///
    /// # Errors
    /// [`ModelError::Expression`] with the bytes that it is about.
    pub fn parse(text: &str, names: &[&str]) -> Result<Self, ModelError> {
        let mut resolve = |reference: &pliant_expression::Reference| {
            let written = text.get(reference.range.clone()).unwrap_or_default();
            let place = names.iter().position(|name| *name == written);
            place.ok_or_else(|| ExpressionError {
                message: format!("there is no coordinate `{written}`"),
                range: reference.range.clone(),
                help: pliant_expression::suggest::hint(written, "coordinates", names.iter().copied()),
            })
        };
        let read = Program::observing(text, &|_| None, &[], &[], &mut resolve);
        let program = read.map_err(|cause| ModelError::Expression {
            text: text.to_owned(),
            cause,
        })?;
        Ok(Self::from_program(text, names, program))
    }

    /// Takes an expression that was read elsewhere, whose free values are those of the names, in
    /// this order; `text` and names are for errors.
    pub fn from_program(text: &str, names: &[&str], program: Program) -> Self {
        Self {
            text: text.into(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            program: Arc::new(program),
        }
    }

    /// Names of the coordinates, in the order of their values.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The value at these coordinates.
    ///
    /// # Errors
    /// [`ModelError::Expression`] where it has none.
    pub fn value(&self, x: &[f64]) -> Result<f64, ModelError> {
        self.program.of(x).map_err(|cause| self.error(cause))
    }

    /// The derivatives by all coordinates.
    ///
    /// # Errors
    /// [`ModelError::Expression`] where it has none.
    pub fn gradient(&self, x: &[f64]) -> Result<Vec<f64>, ModelError> {
        let slope = |k| match self.along(x, k) {
            Ok(number) => Ok(number.first[0]),
            Err(cause) => Err(self.error(cause)),
        };
        (0..x.len()).map(slope).collect()
    }

    fn error(&self, cause: ExpressionError) -> ModelError {
        ModelError::Expression {
            text: (*self.text).to_owned(),
            cause,
        }
    }

    /// The value with its first and second derivative by one coordinate.
    fn along(&self, x: &[f64], k: usize) -> Result<HyperDual, ExpressionError> {
        let mut values: Vec<HyperDual> = x.iter().map(|x| HyperDual::constant(*x)).collect();
        if let Some(value) = values.get_mut(k) {
            value.first = [1.0; 2];
        }
        self.program.derivatives(&values)
    }

    pub(crate) fn derivatives(&self, x: &[HyperDual]) -> Result<HyperDual, ExpressionError> {
        self.program.derivatives(x)
    }

    /// The end of a sentence on why it has no value, or no derivative by one of these coordinates;
    /// empty if it has them.
    pub(crate) fn explain(&self, x: &[f64]) -> String {
        let Some(error) = (0..x.len()).find_map(|k| self.along(x, k).err()) else {
            return String::new();
        };
        let mut places = Vec::new();
        for (k, (name, x)) in self.names.iter().zip(x).enumerate() {
            if self.program.depends_on(k) {
                places.push(format!("{name} = {x}"));
            }
        }
        let part = match self.text.get(error.range.clone()) {
            Some(part) if part != &*self.text && !part.is_empty() => format!(", in \"{}\"", shown(part)),
            _ => String::new(),
        };
        if places.len() > MOST_PLACES {
            places.truncate(MOST_PLACES);
            places.push("..".to_owned());
        }
        format!(
            ", \"{}\" at {}{part}: {}",
            shown(&self.text),
            places.join(", "),
            error.message
        )
    }
}

/// A text as errors show it: without its end, if it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number of the dual numbers of closures as one of expressions.
pub(crate) fn hyper_dual(x: &Dual) -> HyperDual {
    HyperDual {
        value: x.re,
        first: [x.eps1, x.eps2],
        mixed: x.eps1eps2,
    }
}

/// The opposite of [`hyper_dual`].
pub(crate) fn dual(x: HyperDual) -> Dual {
    Dual::new(x.value, x.first[0], x.first[1], x.mixed)
}
