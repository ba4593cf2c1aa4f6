//! Conditions over quantities: `arm.angle > 0.8 and not rope.force < 1`.

use super::parser::{Kind, Names};
use super::program::{Truth, finite};
use super::reference::Resolve;
use super::{ExpressionError, Lookup, Program};

/// A condition over free names and quantities of things: comparisons by `<`, `<=`, `>` and `>=`,
/// joined by `and`, `or`, `not` and parentheses.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    program: Program,
    length: usize,
}

impl Condition {
    /// Reads `text`; names are as in [`Program::observing`].
    ///
    /// # Errors
    /// [`ExpressionError`], also those of `resolve`.
    pub fn parse(
        text: &str,
        lookup: Lookup<'_, '_>,
        names: &[&str],
        free: &[&str],
        resolve: Resolve<'_>,
    ) -> Result<Self, ExpressionError> {
        let names = Names {
            lookup,
            known: names,
            free,
            resolve: Some(resolve),
        };
        Ok(Self {
            program: Program::read(text, names, Kind::Truth)?,
            length: text.len(),
        })
    }

    /// Says whether it holds.
    ///
    /// # Errors
    /// [`ExpressionError`] where a side of a comparison is not finite.
    pub fn holds(&self, values: &[f64]) -> Result<bool, ExpressionError> {
        self.margin(values)?;
        Ok(self.program.run(values, Truth::Sign)?.value > 0.0)
    }

    /// By how much it holds, continuous where its quantities are: positive where it does, negative
    /// where it does not.
    ///
    /// # Errors
    /// [`ExpressionError`] where it is not finite.
    pub fn margin(&self, values: &[f64]) -> Result<f64, ExpressionError> {
        let margin = self.program.run(values, Truth::Margin)?.value;
        finite(margin, 0..self.length)?;
        Ok(margin)
    }

    /// Places of all free names and quantities in it, in the order of the text.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.program.places()
    }
}
