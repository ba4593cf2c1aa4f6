//! Units behind numbers: `20 mm`, `2 kg/m^3`, `1e-3 rad/(N m)`.

use super::parser::Parser;
use super::unit::{self, Dimension};
use super::{ExpressionError, functions, suggest};

/// Size in SI and dimension.
type Size = (f64, Dimension);

/// Words behind a number that are no units.
const WORDS: [&str; 3] = ["and", "or", "not"];

impl Parser<'_, '_, '_> {
    /// Takes the unit behind a number, if there is one: units and their powers, joined by blanks,
    /// `*` and `/`.
    pub(super) fn unit(&mut self) -> Result<Option<Size>, ExpressionError> {
        let behind = self.at;
        self.skip_blanks();
        let start = self.at;
        let Some((mut size, mut dimension)) = self.unit_power(true)? else {
            self.at = behind;
            return Ok(None);
        };
        let mut divided = false;
        loop {
            let before = self.at;
            let mark = self.peek();
            self.at += usize::from(matches!(mark, Some('*' | '/')));
            let found = match mark {
                Some('/') => self.divisor()?,
                _ => self.unit_power(false)?,
            };
            let Some((next, of)) = found else {
                self.at = before;
                return Ok(Some((size, dimension)));
            };
            match mark {
                Some('/') => {
                    divided = true;
                    size /= next;
                    dimension = dimension.times(of.inverse());
                }
                Some('*') => {
                    size *= next;
                    dimension = dimension.times(of);
                }
                _ if divided => {
                    let message = "what belongs below the line of this unit is not clear";
                    let help = "write `rad/(N m)` or `rad m/N`".to_owned();
                    return Err(ExpressionError {
                        message: message.into(),
                        range: self.since(start),
                        help: Some(help),
                    });
                }
                _ => {
                    size *= next;
                    dimension = dimension.times(of);
                }
            }
        }
    }

    /// A unit below the line, or several in parentheses; none if this is a division of numbers.
    fn divisor(&mut self) -> Result<Option<Size>, ExpressionError> {
        if self.peek() != Some('(') {
            return self.unit_power(false);
        }
        self.at += 1;
        let (mut size, mut dimension) = (1.0, Dimension::NONE);
        loop {
            let Some((next, of)) = self.unit_power(false)? else {
                return Ok(None);
            };
            size *= next;
            dimension = dimension.times(of);
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return Ok(Some((size, dimension)));
                }
                Some('*') => self.at += 1,
                _ => {}
            }
        }
    }

    /// A unit, perhaps with a whole power. With `must`, a word that is none is an error.
    fn unit_power(&mut self, must: bool) -> Result<Option<Size>, ExpressionError> {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '°');
        let length = match rest.chars().next() {
            Some('%') => 1,
            Some(c) if is_of_word(c) && !c.is_ascii_digit() => {
                rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())
            }
            _ => return Ok(None),
        };
        let (word, behind) = rest.split_at(length);
        // A word of the language, a function or a quantity.
        if WORDS.contains(&word) || behind.starts_with(['.', '[']) {
            return Ok(None);
        }
        let is_called = behind.starts_with('(');
        let Some((size, dimension)) = unit::find(word).filter(|_| !is_called) else {
            if !must {
                return Ok(None);
            }
            let is_name = word == "pi" || functions::names().any(|known| known == word);
            let help = match is_name {
                true => Some(format!("numbers are multiplied by `*`: `2 * {word}`")),
                false => {
                    suggest::nearest(word, unit::symbols()).map(|near| format!("did you mean `{near}`?"))
                }
            };
            return Err(ExpressionError {
                message: format!("`{word}` is no unit"),
                range: start..start + length,
                help: help.or_else(|| {
                    Some(
                        "units are `mm`, `kg/m^3`, `N m`, `deg`, `rpm`, ...; numbers are multiplied by `*`"
                            .into(),
                    )
                }),
            });
        };
        self.at += length;
        let Some(power) = self.whole_power()? else {
            return Ok(Some((size, dimension)));
        };
        let range = self.since(start);
        let dimension = dimension
            .power(f64::from(power))
            .ok_or_else(|| ExpressionError::new(range, "this power of a unit is too large"))?;
        Ok(Some((size.powi(power), dimension)))
    }

    /// The whole number behind `^`.
    fn whole_power(&mut self) -> Result<Option<i32>, ExpressionError> {
        let before = self.at;
        if self.peek() != Some('^') {
            self.at = before;
            return Ok(None);
        }
        self.at += 1;
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let signed = usize::from(rest.starts_with('-'));
        let digits = rest[signed..].bytes().take_while(u8::is_ascii_digit).count();
        self.at += signed + digits;
        let power: Option<i32> = self.text[start..self.at].parse().ok();
        let power = power.filter(|power| power.abs() < 100);
        let missing = "the power of a unit is a whole number: `m^2`, `s^-1`";
        power
            .map(Some)
            .ok_or_else(|| ExpressionError::new(start..self.at, missing))
    }
}
