//! Numbers that may be expressions of the place.

use super::values::describe;
use super::{Builder, Result};
use crate::source::Where;
use crate::{Amount, Number};
use pliant_expression::{ExpressionError, PLACE, Program};

/// A number that may depend on the place `$x`, `$y`, `$z`.
pub(super) enum PlaceNumber<'a> {
    /// The same everywhere.
    Number(f64),
    /// An expression, the factor on its value, and where it stands.
    Expression {
        text: &'a str,
        program: Program,
        factor: f64,
        at: Where<'a>,
    },
}

impl<'a> PlaceNumber<'a> {
    /// Reads a number.
    pub(super) fn read(builder: &Builder<'_>, number: &'a Amount, at: Where<'a>) -> Result<Self> {
        let Number::Expression(text) = &number.number else {
            return builder.number(number, at).map(Self::Number);
        };
        let uses_place = pliant_expression::parameters(text).any(|(name, _)| PLACE.contains(&name));
        if !uses_place {
            return builder.number(number, at).map(Self::Number);
        }
        let own = PLACE
            .iter()
            .find(|name| builder.parameters.values.contains_key(**name));
        if let Some(name) =
            own.filter(|own| pliant_expression::parameters(text).any(|(name, _)| name == **own))
        {
            let message = format!(
                "`${name}` in {} is a coordinate of the place, and a parameter of the scene",
                describe(at)
            );
            let help = "give the parameter another name".to_owned();
            return builder.wrong(&[at, super::values::owner(at)], message, Some(help));
        }
        let lookup = |name: &str| builder.variable(name, builder.index, false);
        let mut names = builder.variables(builder.index);
        names.extend(PLACE);
        let program = Program::parse(text, &lookup, &names, PLACE)
            .map_err(|error| builder.expression_error(text, at, error))?;
        let factor = builder.factor(text, &program, number, at)?;
        // What reckons in the units of the file has the factor in it.
        let in_units = number.bases.is_some() && program.dimension().is_none();
        let program = builder.in_units(program, number, factor, |bases| [bases.length; 3]);
        let factor = if in_units { 1.0 } else { factor };
        Ok(Self::Expression {
            text,
            program,
            factor,
            at,
        })
    }

    /// Whether it depends on the place.
    pub(super) fn varies(&self) -> bool {
        matches!(self, Self::Expression { .. })
    }

    /// Its value at a place (m) in the axes of the shape.
    pub(super) fn at(&self, builder: &Builder<'_>, place: [f64; 3]) -> Result<f64> {
        match self {
            Self::Number(value) => Ok(*value),
            Self::Expression {
                text,
                program,
                factor,
                at,
            } => {
                let value = program.at(place).map_err(|error| {
                    let [x, y, z] = place;
                    let message = format!("{}, at ({x}, {y}, {z})", error.message);
                    builder.expression_error(text, *at, ExpressionError { message, ..error })
                })?;
                Ok(value * factor)
            }
        }
    }
}
