//! Text to operations, by recursive descent.

use super::ExpressionError;
use super::program::{BINARY, Op, UNARY, finite};
use crate::suggest;
use std::ops::Range;

/// Deeper nesting is refused, not recursed into.
pub(crate) const DEEPEST: usize = 64;

type Ops = Vec<(Op, Range<usize>)>;

/// The operations of an expression in the order in which they are done.
pub(crate) fn parse(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<f64>,
    names: &[&str],
    free: &[&str],
) -> Result<Ops, ExpressionError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        lookup,
        names,
        free,
        ops: Vec::new(),
    };
    parser.sum()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.unexpected());
    }
    Ok(parser.ops)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    lookup: &'a dyn Fn(&str) -> Option<f64>,
    names: &'a [&'a str],
    /// Names that are no parameters, in the order of their values.
    free: &'a [&'a str],
    ops: Ops,
}

type Parsed = Result<(), ExpressionError>;

impl<'a> Parser<'a> {
    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.text[self.at..].chars().next()
    }

    fn emit(&mut self, op: Op, start: usize) {
        self.ops.push((op, start..self.at));
    }

    fn error(&self, range: Range<usize>, message: impl Into<String>) -> Parsed {
        Err(ExpressionError::new(range, message))
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
            None => ExpressionError::new(self.at..self.at, "the expression ends too early"),
        }
    }

    fn sum(&mut self) -> Parsed {
        self.skip_blanks();
        let start = self.at;
        self.product()?;
        loop {
            let op = match self.peek() {
                Some('+') => Op::Add,
                Some('-') => Op::Subtract,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.emit(op, start);
        }
    }

    fn product(&mut self) -> Parsed {
        self.signed()?;
        loop {
            let op = match self.peek() {
                Some('*') => Op::Multiply,
                Some('/') => Op::Divide,
                _ => return Ok(()),
            };
            self.at += 1;
            self.skip_blanks();
            // A division by zero is pointed at where the divisor is.
            let start = self.at;
            self.signed()?;
            self.emit(op, start);
        }
    }

    /// Unary signs bind weaker than powers: `-2^2` is -4.
    fn signed(&mut self) -> Parsed {
        self.nested(|parser| match parser.peek() {
            Some('-') => {
                let start = parser.at;
                parser.at += 1;
                parser.signed()?;
                parser.emit(Op::Negate, start);
                Ok(())
            }
            Some('+') => {
                parser.at += 1;
                parser.signed()
            }
            _ => parser.power(),
        })
    }

    fn power(&mut self) -> Parsed {
        self.skip_blanks();
        let start = self.at;
        self.atom()?;
        if self.peek() == Some('^') {
            self.at += 1;
            self.signed()?;
            self.emit(Op::Power, start);
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        match self.peek() {
            Some('(') => {
                let open = self.at;
                self.at += 1;
                self.sum()?;
                self.close(open)
            }
            Some('$') => self.parameter(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.unexpected()),
        }
    }

    fn close(&mut self, open: usize) -> Parsed {
        if self.peek() != Some(')') {
            if self.at < self.text.len() {
                return Err(self.unexpected());
            }
            return self.error(open..open + 1, "this parenthesis is not closed");
        }
        self.at += 1;
        Ok(())
    }

    fn parameter(&mut self) -> Parsed {
        let start = self.at;
        self.at += 1;
        let name = self.word();
        if let Some(k) = self.free.iter().position(|free| *free == name) {
            self.emit(Op::Free(k), start);
            return Ok(());
        }
        if let Some(value) = (self.lookup)(name) {
            self.emit(Op::Number(value), start);
            return Ok(());
        }
        let help = if name == "t" {
            Some("only targets of motions and inputs of forces may depend on the time `$t`".into())
        } else {
            suggest::hint(name, "parameters", self.names.iter().copied())
                .or_else(|| Some("there are no parameters here".into()))
        };
        Err(ExpressionError {
            message: format!("unknown parameter `${name}`"),
            range: start..self.at,
            help,
        })
    }

    fn nested(&mut self, inside: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
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

    fn number(&mut self) -> Parsed {
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
            Ok(value) => {
                finite(value, start..self.at)?;
                self.emit(Op::Number(value), start);
                Ok(())
            }
            Err(_) => self.error(start..self.at, "this is not a number"),
        }
    }

    fn name(&mut self) -> Parsed {
        let start = self.at;
        let name = self.word();
        let range = start..self.at;
        if name == "pi" {
            self.emit(Op::Number(std::f64::consts::PI), start);
            return Ok(());
        }
        let op = UNARY.iter().find(|(known, _)| *known == name);
        let two = BINARY.iter().find(|(known, _)| *known == name);
        if op.is_some() || two.is_some() {
            if self.peek() != Some('(') {
                return self.error(range, format!("`{name}` needs its argument in parentheses"));
            }
            if let Some((_, op)) = op {
                self.nested(Self::atom)?;
                self.emit(Op::Unary(*op), start);
            }
            if let Some((_, op)) = two {
                self.nested(|parser| parser.pair(name))?;
                self.emit(Op::Binary(*op), start);
            }
            return Ok(());
        }
        let help = if self.names.contains(&name) {
            Some(format!("parameters are written with a dollar sign: `${name}`"))
        } else {
            let known = UNARY.iter().map(|(n, _)| *n);
            let known = known.chain(BINARY.iter().map(|(n, _)| *n)).chain(["pi"]);
            suggest::hint(name, "known names", known)
        };
        Err(ExpressionError {
            message: format!("unknown name `{name}` in an expression"),
            range,
            help,
        })
    }

    /// Two numbers in parentheses.
    fn pair(&mut self, name: &str) -> Parsed {
        let open = self.at;
        self.at += 1;
        self.sum()?;
        if self.peek() != Some(',') {
            if self.peek() == Some(')') {
                return self.error(
                    open..self.at + 1,
                    format!("`{name}` takes two numbers: `{name}(1, 2)`"),
                );
            }
            return self.close(open);
        }
        self.at += 1;
        self.sum()?;
        self.close(open)
    }
}
