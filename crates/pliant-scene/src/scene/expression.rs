//! Arithmetic over named parameters: `"2 * ($a + 1)"`.

use super::suggest;
use std::ops::Range;

/// What is wrong with an expression, and which bytes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExpressionError {
    pub(crate) message: String,
    pub(crate) range: Range<usize>,
    pub(crate) help: Option<String>,
}

/// Deeper nesting is refused, not recursed into.
const DEEPEST: usize = 64;
/// A function of one number and its name.
type Function = (&'static str, fn(f64) -> f64);
const FUNCTIONS: [Function; 7] = [
    ("sqrt", f64::sqrt),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("exp", f64::exp),
    ("log", f64::ln),
    ("abs", f64::abs),
];

/// Evaluates `text`: numbers, `pi`, `$name` by `lookup`, `+ - * / ^`, unary minus, parentheses and [`FUNCTIONS`]. `names`
/// are what `lookup` knows, for suggestions.
///
/// # Errors
/// [`ExpressionError`]; a result that is not finite is one.
pub(crate) fn evaluate(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<f64>,
    names: &[&str],
) -> Result<f64, ExpressionError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        lookup,
        names,
    };
    let value = parser.sum()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.unexpected());
    }
    parser.finite(value, 0)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    lookup: &'a dyn Fn(&str) -> Option<f64>,
    names: &'a [&'a str],
}

impl<'a> Parser<'a> {
    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.text[self.at..].chars().next()
    }

    fn error<T>(&self, range: Range<usize>, message: impl Into<String>) -> Result<T, ExpressionError> {
        Err(ExpressionError {
            message: message.into(),
            range,
            help: None,
        })
    }

    fn unexpected(&mut self) -> ExpressionError {
        match self.peek() {
            Some(c) => ExpressionError {
                message: format!("unexpected `{}` in an expression", c.escape_debug()),
                range: self.at..self.at + c.len_utf8(),
                help: Some(
                    "an expression is made of numbers, $parameters, pi, + - * / ^ and parentheses".into(),
                ),
            },
            None => ExpressionError {
                message: "the expression ends too early".into(),
                range: self.at..self.at,
                help: None,
            },
        }
    }

    fn finite(&self, value: f64, start: usize) -> Result<f64, ExpressionError> {
        if value.is_finite() {
            return Ok(value);
        }
        self.error(
            start..self.at,
            format!("the value of this expression is {value}, not a finite number"),
        )
    }

    fn sum(&mut self) -> Result<f64, ExpressionError> {
        let mut value = self.product()?;
        loop {
            match self.peek() {
                Some('+') => {
                    self.at += 1;
                    value += self.product()?;
                }
                Some('-') => {
                    self.at += 1;
                    value -= self.product()?;
                }
                _ => return Ok(value),
            }
        }
    }

    fn product(&mut self) -> Result<f64, ExpressionError> {
        let mut value = self.signed()?;
        loop {
            match self.peek() {
                Some('*') => {
                    self.at += 1;
                    value *= self.signed()?;
                }
                Some('/') => {
                    self.at += 1;
                    self.skip_blanks();
                    let start = self.at;
                    let divisor = self.signed()?;
                    if divisor == 0.0 {
                        return self.error(start..self.at, "division by zero");
                    }
                    value /= divisor;
                }
                _ => return Ok(value),
            }
        }
    }

    /// Unary signs bind weaker than powers: `-2^2` is -4.
    fn signed(&mut self) -> Result<f64, ExpressionError> {
        self.nested(|parser| match parser.peek() {
            Some('-') => {
                parser.at += 1;
                Ok(-parser.signed()?)
            }
            Some('+') => {
                parser.at += 1;
                parser.signed()
            }
            _ => parser.power(),
        })
    }

    fn power(&mut self) -> Result<f64, ExpressionError> {
        self.skip_blanks();
        let start = self.at;
        let base = self.atom()?;
        if self.peek() == Some('^') {
            self.at += 1;
            let exponent = self.signed()?;
            return self.finite(base.powf(exponent), start);
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<f64, ExpressionError> {
        match self.peek() {
            Some('(') => {
                let open = self.at;
                self.at += 1;
                let value = self.sum()?;
                if self.peek() != Some(')') {
                    if self.at < self.text.len() {
                        return Err(self.unexpected());
                    }
                    return self.error(open..open + 1, "this parenthesis is not closed");
                }
                self.at += 1;
                Ok(value)
            }
            Some('$') => {
                let start = self.at;
                self.at += 1;
                let name = self.word();
                if let Some(value) = (self.lookup)(name) {
                    return Ok(value);
                }
                Err(ExpressionError {
                    message: format!("unknown parameter `${name}`"),
                    range: start..self.at,
                    help: suggest::hint(name, "parameters", self.names.iter().copied())
                        .or_else(|| Some("there are no parameters here".into())),
                })
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.unexpected()),
        }
    }

    fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        if self.depth == DEEPEST {
            return self.error(self.at..self.at, "the expression is nested too deeply");
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Letters, digits and underscores from here.
    fn word(&mut self) -> &'a str {
        let rest: &'a str = &self.text[self.at..];
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self) -> Result<f64, ExpressionError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digit = |i: usize| bytes.get(i).is_some_and(|b| b.is_ascii_digit() || *b == b'.');
        while digit(self.at) {
            self.at += 1;
        }
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(self.at + 1), Some(b'+' | b'-')));
            if bytes.get(self.at + 1 + sign).is_some_and(u8::is_ascii_digit) {
                self.at += 2 + sign;
                while bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
                    self.at += 1;
                }
            }
        }
        match self.text[start..self.at].parse::<f64>() {
            Ok(value) => self.finite(value, start),
            Err(_) => self.error(start..self.at, "this is not a number"),
        }
    }

    fn name(&mut self) -> Result<f64, ExpressionError> {
        let start = self.at;
        let name = self.word();
        if name == "pi" {
            return Ok(std::f64::consts::PI);
        }
        let range = start..self.at;
        if let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            if self.peek() != Some('(') {
                return self.error(range, format!("`{name}` needs its argument in parentheses"));
            }
            let argument = self.nested(Self::atom)?;
            return self.finite(function(argument), start);
        }
        let help = if self.names.contains(&name) {
            Some(format!("parameters are written with a dollar sign: `${name}`"))
        } else {
            suggest::hint(
                name,
                "known names",
                FUNCTIONS.iter().map(|(n, _)| *n).chain(["pi"]),
            )
        };
        Err(ExpressionError {
            message: format!("unknown name `{name}` in an expression"),
            range,
            help,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, ExpressionError> {
        let lookup = |name: &str| match name {
            "a" => Some(3.0),
            "length" => Some(0.5),
            _ => None,
        };
        evaluate(text, &lookup, &["a", "length"])
    }

    #[test]
    fn arithmetic() {
        let cases = [
            ("1", 1.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("1 - 2 - 3", -4.0),
            ("2 * ($a + 1) / $length", 16.0),
            ("sqrt(16) + cos(0)", 5.0),
            ("1e-3 + 1.5E+2", 150.001),
            ("--1", 1.0),
            ("2 * pi", std::f64::consts::TAU),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        let cases = [
            ("1 / ($a - 3)", "division by zero", 4..12),
            ("$lenght * 2", "unknown parameter `$lenght`", 0..7),
            ("1 + ", "ends too early", 4..4),
            ("(1 + 2", "not closed", 0..1),
            ("1 2", "unexpected `2`", 2..3),
            ("sqrt(-1)", "NaN", 0..8),
            ("1e999", "inf", 0..5),
            ("1.2.3", "not a number", 0..5),
            ("", "ends too early", 0..0),
            ("ä", "unknown name `ä`", 0..2),
            ("10^400", "inf", 0..6),
        ];
        for (text, message, range) in cases {
            let error = value(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert_eq!(error.range, range, "{text}");
        }
        assert_eq!(
            value("$lenght").unwrap_err().help.as_deref(),
            Some("did you mean `length`?")
        );
        assert!(value("length").unwrap_err().help.unwrap().contains("`$length`"));
    }

    #[test]
    fn deep_nesting_is_an_error() {
        for unit in ["(", "-", "sqrt(", "1^"] {
            let error = value(&unit.repeat(100_000)).unwrap_err();
            assert!(error.message.contains("deeply"), "{unit}: {}", error.message);
        }
    }
}
