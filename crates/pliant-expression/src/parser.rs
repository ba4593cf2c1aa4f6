//! Text to operations, by recursive descent.

use super::ExpressionError;
use super::program::{BINARY, Op, UNARY, finite};
use super::reference::{Reference, Resolve};
use crate::suggest;
use std::ops::Range;

/// Deeper nesting is refused, not recursed into.
pub(crate) const DEEPEST: usize = 64;

type Ops = Vec<(Op, Range<usize>)>;

/// The names that an expression may use.
pub(crate) struct Names<'a> {
    pub(crate) lookup: &'a dyn Fn(&str) -> Option<f64>,
    /// Names that `lookup` knows, for suggestions.
    pub(crate) known: &'a [&'a str],
    /// Names that are no parameters, in the order of their values.
    pub(crate) free: &'a [&'a str],
    /// Places of quantities among the values behind the free ones; without it there are none.
    pub(crate) resolve: Option<Resolve<'a>>,
}

/// The kind of result that is asked for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Number,
    Truth,
}

/// The operations of an expression in the order in which they are done.
pub(crate) fn parse(text: &str, names: Names<'_>, kind: Kind) -> Result<Ops, ExpressionError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        names,
        last: Kind::Number,
        ops: Vec::new(),
    };
    match kind {
        Kind::Number => parser.sum()?,
        Kind::Truth => parser.alternatives()?,
    }
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.unexpected());
    }
    if kind == Kind::Truth && parser.last == Kind::Number {
        return Err(ExpressionError {
            message: "this is a number, and a condition is needed".into(),
            range: 0..text.len(),
            help: Some("compare it, as in `arm.angle > 0.8`".into()),
        });
    }
    Ok(parser.ops)
}

struct Parser<'t, 'n> {
    text: &'t str,
    at: usize,
    depth: usize,
    names: Names<'n>,
    /// The kind of what was read last.
    last: Kind,
    ops: Ops,
}

type Parsed = Result<(), ExpressionError>;

impl<'t> Parser<'t, '_> {
    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.text[self.at..].chars().next()
    }

    fn emit(&mut self, op: Op, start: usize) {
        let range = self.since(start);
        self.ops.push((op, range));
    }

    /// The bytes from `start` to here, without blanks at their end.
    fn since(&self, start: usize) -> Range<usize> {
        start..start + self.text[start..self.at].trim_end().len()
    }

    fn error(&self, range: Range<usize>, message: impl Into<String>) -> Parsed {
        Err(ExpressionError::new(range, message))
    }

    fn unexpected(&mut self) -> ExpressionError {
        match self.peek() {
            Some(c) => ExpressionError {
                message: format!("unexpected `{}` in an expression", c.escape_debug()),
                range: self.at..self.at + c.len_utf8(),
                help: Some(match c {
                    '<' | '>' => "only conditions of events compare".into(),
                    '=' | '!' => "conditions compare by `<`, `<=`, `>` and `>=`: when two quantities are \
                                  equal is no stretch of time"
                        .into(),
                    '&' | '|' => "conditions are joined by `and`, `or`, `not`".into(),
                    _ => {
                        "an expression is made of numbers, $parameters, pi, + - * / ^ and parentheses".into()
                    }
                }),
            },
            None => ExpressionError::new(self.at..self.at, "the expression ends too early"),
        }
    }

    /// Conditions of which one is to hold.
    fn alternatives(&mut self) -> Parsed {
        self.joined("or", Op::Or, |parser| parser.joined("and", Op::And, Self::denied))
    }

    /// Conditions that a word joins.
    fn joined(&mut self, word: &str, op: Op, part: impl Fn(&mut Self) -> Parsed) -> Parsed {
        self.skip_blanks();
        let start = self.at;
        part(self)?;
        let kind = self.last;
        let end = self.at;
        while self.takes(word) {
            if kind == Kind::Number {
                self.at = end;
                return self.needs(Kind::Truth, start);
            }
            self.skip_blanks();
            let second = self.at;
            part(self)?;
            self.needs(Kind::Truth, second)?;
            self.emit(op, start);
        }
        Ok(())
    }

    /// A condition, perhaps with `not` before it.
    fn denied(&mut self) -> Parsed {
        self.skip_blanks();
        let start = self.at;
        if !self.takes("not") {
            return self.comparison();
        }
        self.skip_blanks();
        let inner = self.at;
        self.nested(Self::denied)?;
        self.needs(Kind::Truth, inner)?;
        self.emit(Op::Not, start);
        Ok(())
    }

    /// Two numbers that are compared; a number, or a condition in parentheses, alone.
    fn comparison(&mut self) -> Parsed {
        self.skip_blanks();
        let start = self.at;
        self.sum()?;
        let Some(mark @ ('<' | '>')) = self.peek() else {
            return Ok(());
        };
        self.needs(Kind::Number, start)?;
        self.at += 1;
        let or_equal = self.text[self.at..].starts_with('=');
        self.at += usize::from(or_equal);
        self.skip_blanks();
        let second = self.at;
        self.sum()?;
        self.needs(Kind::Number, second)?;
        let above = mark == '>';
        self.emit(Op::Compare { above, or_equal }, start);
        self.last = Kind::Truth;
        Ok(())
    }

    /// Takes a word, if it comes next.
    fn takes(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let rest = self.text[self.at..].strip_prefix(word);
        let ends =
            |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '['));
        let found = rest.is_some_and(ends);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Refuses what was read last, from a place on, if it is of the other kind.
    fn needs(&mut self, kind: Kind, start: usize) -> Parsed {
        if self.last == kind {
            return Ok(());
        }
        let message = match kind {
            Kind::Number => "this is a condition, and a number is needed",
            Kind::Truth => "this is a number, and a condition is needed",
        };
        self.error(self.since(start), message)
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
            self.needs(Kind::Number, start)?;
            self.at += 1;
            self.skip_blanks();
            let second = self.at;
            self.product()?;
            self.needs(Kind::Number, second)?;
            self.emit(op, start);
        }
    }

    fn product(&mut self) -> Parsed {
        self.skip_blanks();
        let first = self.at;
        self.signed()?;
        loop {
            let op = match self.peek() {
                Some('*') => Op::Multiply,
                Some('/') => Op::Divide,
                _ => return Ok(()),
            };
            self.needs(Kind::Number, first)?;
            self.at += 1;
            self.skip_blanks();
            // A division by zero is pointed at where the divisor is.
            let start = self.at;
            self.signed()?;
            self.needs(Kind::Number, start)?;
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
                parser.needs(Kind::Number, start + 1)?;
                parser.emit(Op::Negate, start);
                Ok(())
            }
            Some('+') => {
                let start = parser.at;
                parser.at += 1;
                parser.signed()?;
                parser.needs(Kind::Number, start + 1)
            }
            _ => parser.power(),
        })
    }

    fn power(&mut self) -> Parsed {
        self.skip_blanks();
        let start = self.at;
        self.atom()?;
        if self.peek() == Some('^') {
            self.needs(Kind::Number, start)?;
            self.at += 1;
            self.skip_blanks();
            let exponent = self.at;
            self.signed()?;
            self.needs(Kind::Number, exponent)?;
            self.emit(Op::Power, start);
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        let next = self.peek();
        if next == Some('(') {
            let open = self.at;
            self.at += 1;
            self.alternatives()?;
            return self.close(open);
        }
        self.last = Kind::Number;
        match next {
            Some('$') => self.parameter(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            Some('\'') if self.names.resolve.is_some() => self.quantity(),
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
        let name = self.dotted();
        if let Some(k) = self.names.free.iter().position(|free| *free == name) {
            self.emit(Op::Free(k), start);
            return Ok(());
        }
        if let Some(value) = (self.names.lookup)(name) {
            self.emit(Op::Number(value), start);
            return Ok(());
        }
        let help = if name == "t" {
            Some("only targets of motions and inputs of forces may depend on the time `$t`".into())
        } else {
            suggest::hint(name, "parameters", self.names.known.iter().copied())
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

    /// Words with single dots between them from here: names of parameters of included files.
    fn dotted(&mut self) -> &'t str {
        let start = self.at;
        self.word();
        let text: &'t str = self.text;
        while let Some(behind) = text[self.at..].strip_prefix('.')
            && behind.starts_with(|c: char| c.is_alphabetic() || c == '_')
        {
            self.at += 1;
            self.word();
        }
        &text[start..self.at]
    }

    /// Letters, digits and underscores from here.
    fn word(&mut self) -> &'t str {
        let rest: &'t str = &self.text[self.at..];
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
        if self.names.resolve.is_some() && !self.is_own(name) {
            self.at = start;
            return self.quantity();
        }
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
                let argument = self.at;
                self.nested(Self::atom)?;
                self.needs(Kind::Number, argument)?;
                self.emit(Op::Unary(*op), start);
            }
            if let Some((_, op)) = two {
                self.nested(|parser| parser.pair(name))?;
                self.emit(Op::Binary(*op), start);
            }
            return Ok(());
        }
        let help = if self.names.known.contains(&name) {
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

    /// Whether a word belongs to the language of expressions where things have names as well.
    fn is_own(&mut self, name: &str) -> bool {
        let goes_on = self.text[self.at..].starts_with(['.', '[']);
        let calls = self.peek() == Some('(');
        (name == "pi" && !goes_on) || calls
    }

    /// A quantity of something: `arm.angle`, `chain[3].x`, `'left arm'.angle`.
    fn quantity(&mut self) -> Parsed {
        let start = self.at;
        let reference = Reference::read(self.text, &mut self.at)?;
        let Some(resolve) = &mut self.names.resolve else {
            return Err(self.unexpected());
        };
        let place = resolve(&reference)?;
        let op = Op::Free(self.names.free.len().saturating_add(place));
        self.emit(op, start);
        Ok(())
    }

    /// Two numbers in parentheses.
    fn pair(&mut self, name: &str) -> Parsed {
        let open = self.at;
        self.at += 1;
        self.argument()?;
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
        self.argument()?;
        self.close(open)
    }

    fn argument(&mut self) -> Parsed {
        self.skip_blanks();
        let start = self.at;
        self.sum()?;
        self.needs(Kind::Number, start)
    }
}
