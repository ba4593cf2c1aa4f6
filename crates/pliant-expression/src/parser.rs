//! Text to operations, by recursive descent.

mod calls;

use super::curve::PointCurve;
use super::functions;
use super::measure::{Measure, Part};
use super::program::{Op, Relation, WAITING, finite};
use super::reference::{Reference, Resolve};
use super::{ExpressionError, Lookup, Symbol};
use crate::suggest;
use std::ops::Range;

/// Deeper nesting is refused, not recursed into.
pub(crate) const DEEPEST: usize = 64;
/// Operations of an expression with those of the parameters that are written out in it.
const LONGEST: usize = 100_000;

pub(crate) type Ops = Vec<(Op, Range<usize>)>;

/// The names that an expression may use.
pub(crate) struct Names<'a, 'p> {
    pub(crate) lookup: Lookup<'a, 'p>,
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

/// An expression that was read.
pub(crate) struct Parsed {
    /// The operations in the order in which they are done.
    pub(crate) ops: Ops,
    /// The curves that they use, by their numbers.
    pub(crate) curves: Vec<PointCurve>,
    /// The unit of its value, as far as it is known.
    pub(crate) measure: Measure,
    /// The most operands that wait at once.
    pub(crate) waiting: usize,
}

/// Reads an expression.
pub(crate) fn parse(text: &str, names: Names<'_, '_>, kind: Kind) -> Result<Parsed, ExpressionError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        choices: 0,
        names,
        last: Kind::Number,
        measure: Measure::Bare,
        ops: Vec::new(),
        curves: Vec::new(),
    };
    match kind {
        Kind::Number => {
            parser.alternatives()?;
            parser.needs(Kind::Number, 0)?;
        }
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
    let waiting = waiting(&parser.ops);
    if waiting > WAITING {
        let message = "the expression is nested too deeply, with the parameters in it";
        return Err(ExpressionError::new(0..text.len(), message));
    }
    Ok(Parsed {
        ops: parser.ops,
        curves: parser.curves,
        measure: parser.measure,
        waiting,
    })
}

/// The most operands that wait at once. Both ways of a choice leave one.
fn waiting(ops: &Ops) -> usize {
    let (mut now, mut most) = (0usize, 0);
    for (op, _) in ops {
        match op {
            Op::Number(_) | Op::Free(_) => now += 1,
            Op::Negate | Op::Not | Op::Unary(_) | Op::PointCurve(_) => {}
            Op::Ternary(_) => now = now.saturating_sub(2),
            // Before a jump, a condition or the number of the other way; else the second of two.
            _ => now = now.saturating_sub(1),
        }
        most = most.max(now);
    }
    most
}

pub(super) struct Parser<'t, 'n, 'p> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    depth: usize,
    /// Conditions of choices between numbers around this place.
    choices: usize,
    names: Names<'n, 'p>,
    /// The kind of what was read last.
    last: Kind,
    /// Its unit, as far as it is known, if it is a number.
    measure: Measure,
    ops: Ops,
    curves: Vec<PointCurve>,
}

type Read = Result<(), ExpressionError>;

impl<'t> Parser<'t, '_, '_> {
    pub(super) fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.text[self.at..].chars().next()
    }

    fn emit(&mut self, op: Op, start: usize) {
        let range = self.since(start);
        self.ops.push((op, range));
    }

    /// The bytes from `start` to here, without blanks at their end.
    pub(super) fn since(&self, start: usize) -> Range<usize> {
        start..start + self.text[start..self.at].trim_end().len()
    }

    fn error(&self, range: Range<usize>, message: impl Into<String>) -> Read {
        Err(ExpressionError::new(range, message))
    }

    fn unexpected(&mut self) -> ExpressionError {
        match self.peek() {
            Some(c) => ExpressionError {
                message: format!("unexpected `{}` in an expression", c.escape_debug()),
                range: self.at..self.at + c.len_utf8(),
                help: Some(match c {
                    '=' | '!' if self.choices > 0 => "compare by `<`, `<=`, `>`, `>=`, `==` and `!=`".into(),
                    '=' | '!' => "conditions compare by `<`, `<=`, `>` and `>=`: when two quantities are \
                                  equal is no stretch of time"
                        .into(),
                    '&' | '|' => "conditions are joined by `and`, `or`, `not`".into(),
                    _ => {
                        "an expression is made of numbers, $parameters, pi, + - * / ^, functions and parentheses"
                            .into()
                    }
                }),
            },
            None => ExpressionError::new(self.at..self.at, "the expression ends too early"),
        }
    }

    /// Conditions of which one is to hold.
    fn alternatives(&mut self) -> Read {
        self.joined("or", Op::Or, |parser| parser.joined("and", Op::And, Self::denied))
    }

    /// Conditions that a word joins.
    fn joined(&mut self, word: &str, op: Op, part: impl Fn(&mut Self) -> Read) -> Read {
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
    fn denied(&mut self) -> Read {
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
    fn comparison(&mut self) -> Read {
        self.skip_blanks();
        let start = self.at;
        self.sum()?;
        let first = Part::new(self.measure, self.since(start));
        let mark = self.at;
        let Some(relation) = self.relation() else {
            return Ok(());
        };
        if self.last == Kind::Truth {
            self.at = mark;
        }
        self.needs(Kind::Number, start)?;
        self.skip_blanks();
        let second = self.at;
        self.sum()?;
        self.needs(Kind::Number, second)?;
        first.alike(&Part::new(self.measure, self.since(second)), "compared")?;
        let decides = self.choices > 0;
        self.emit(Op::Compare { relation, decides }, start);
        self.last = Kind::Truth;
        Ok(())
    }

    /// Takes a relation, if one comes next. Equality is none of conditions that are located in
    /// time.
    fn relation(&mut self) -> Option<Relation> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let (relation, length) = match rest.as_bytes() {
            [b'<', b'=', ..] => (Relation::LessOrEqual, 2),
            [b'>', b'=', ..] => (Relation::GreaterOrEqual, 2),
            [b'=', b'=', ..] if self.choices > 0 => (Relation::Equal, 2),
            [b'!', b'=', ..] if self.choices > 0 => (Relation::Unequal, 2),
            [b'<', ..] => (Relation::Less, 1),
            [b'>', ..] => (Relation::Greater, 1),
            _ => return None,
        };
        self.at += length;
        Some(relation)
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
    fn needs(&mut self, kind: Kind, start: usize) -> Read {
        if self.last == kind {
            return Ok(());
        }
        let range = self.since(start);
        let (message, help) = match kind {
            Kind::Number => (
                "this is a condition, and a number is needed",
                Some("`if(condition, 1, 0)` makes a number of it".to_owned()),
            ),
            Kind::Truth => ("this is a number, and a condition is needed", None),
        };
        Err(ExpressionError {
            message: message.into(),
            range,
            help,
        })
    }

    fn sum(&mut self) -> Read {
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
            let first = Part::new(self.measure, self.since(start));
            self.at += 1;
            self.skip_blanks();
            let second = self.at;
            self.product()?;
            self.needs(Kind::Number, second)?;
            let what = if matches!(op, Op::Add) {
                "added"
            } else {
                "subtracted"
            };
            self.measure = first.alike(&Part::new(self.measure, self.since(second)), what)?;
            self.emit(op, start);
        }
    }

    fn product(&mut self) -> Read {
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
            let measure = self.measure;
            self.at += 1;
            self.skip_blanks();
            // A division by zero is pointed at where the divisor is.
            let start = self.at;
            self.signed()?;
            self.needs(Kind::Number, start)?;
            self.measure = match op {
                Op::Multiply => measure.times(self.measure),
                _ => measure.over(self.measure),
            };
            self.emit(op, start);
        }
    }

    /// Unary signs bind weaker than powers: `-2^2` is -4.
    fn signed(&mut self) -> Read {
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

    fn power(&mut self) -> Read {
        self.skip_blanks();
        let start = self.at;
        self.atom()?;
        if self.peek() == Some('^') {
            self.needs(Kind::Number, start)?;
            let base = Part::new(self.measure, self.since(start));
            self.at += 1;
            self.skip_blanks();
            let (exponent, ops) = (self.at, self.ops.len());
            self.signed()?;
            self.needs(Kind::Number, exponent)?;
            let power = Part::new(self.measure, self.since(exponent));
            self.measure = base.power(&power, self.constant(ops))?;
            self.emit(Op::Power, start);
        }
        Ok(())
    }

    /// The value of the operations from a place on, if it is that of a number with or without sign,
    /// or of a fraction of two numbers.
    fn constant(&self, from: usize) -> Option<f64> {
        let ops = self.ops.get(from..).unwrap_or_default().iter();
        match ops.map(|(op, _)| *op).collect::<Vec<_>>()[..] {
            [Op::Number(value)] => Some(value),
            [Op::Number(value), Op::Negate] => Some(-value),
            [Op::Number(a), Op::Number(b), Op::Divide] => Some(a / b),
            [Op::Number(a), Op::Number(b), Op::Divide, Op::Negate] => Some(-a / b),
            _ => None,
        }
    }

    fn atom(&mut self) -> Read {
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

    fn close(&mut self, open: usize) -> Read {
        if self.peek() != Some(')') {
            if self.at < self.text.len() {
                return Err(self.unexpected());
            }
            return self.error(open..open + 1, "this parenthesis is not closed");
        }
        self.at += 1;
        Ok(())
    }

    fn parameter(&mut self) -> Read {
        let start = self.at;
        self.at += 1;
        let name = self.dotted();
        if let Some(k) = self.names.free.iter().position(|free| *free == name) {
            self.measure = Measure::Unknown;
            self.emit(Op::Free(k), start);
            return Ok(());
        }
        match (self.names.lookup)(name) {
            Some(Symbol::Number(value, dimension)) => {
                self.measure = dimension.map_or(Measure::Bare, Measure::of);
                self.emit(Op::Number(value), start);
                return Ok(());
            }
            Some(Symbol::Program(program)) => {
                if self.ops.len().saturating_add(program.ops().len()) > LONGEST {
                    let message = "the expression is too long, with the parameters in it";
                    return self.error(start..self.at, message);
                }
                let first = self.curves.len();
                self.curves.extend_from_slice(program.curves());
                for (op, _) in program.ops() {
                    let op = match op {
                        Op::PointCurve(k) => Op::PointCurve(first + k),
                        op => *op,
                    };
                    self.emit(op, start);
                }
                self.measure = program.measure();
                return Ok(());
            }
            Some(Symbol::Function(_)) => {
                return Err(ExpressionError {
                    message: format!("`{name}` is a function"),
                    range: start..self.at,
                    help: Some(format!("functions are written with an argument: `{name}($t)`")),
                });
            }
            None => {}
        }
        let help = if name == "t" {
            Some("only targets of motions and inputs of forces may depend on the time `$t`".into())
        } else {
            let known = self.names.known;
            let free = self.names.free.iter().copied();
            let other = free.filter(|free| !matches!(*free, "" | "t") && !known.contains(free));
            suggest::hint(name, "parameters", known.iter().copied().chain(other))
                .or_else(|| Some("there are no parameters here".into()))
        };
        Err(ExpressionError {
            message: format!("unknown parameter `${name}`"),
            range: start..self.at,
            help,
        })
    }

    fn nested(&mut self, inside: impl FnOnce(&mut Self) -> Read) -> Read {
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

    fn number(&mut self) -> Read {
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
        let Ok(value) = self.text[start..self.at].parse::<f64>() else {
            return self.error(start..self.at, "this is not a number");
        };
        finite(value, start..self.at)?;
        let is_zero = value == 0.0;
        self.measure = if is_zero { Measure::Zero } else { Measure::Bare };
        let mut factor = 1.0;
        if let Some((size, dimension)) = self.unit()? {
            self.measure = Measure::of(dimension);
            factor = size;
        }
        finite(value * factor, self.since(start))?;
        self.emit(Op::Number(value * factor), start);
        Ok(())
    }

    fn name(&mut self) -> Read {
        let start = self.at;
        let name = self.word();
        let range = start..self.at;
        if self.names.resolve.is_some() && !self.is_own(name) {
            self.at = start;
            return self.quantity();
        }
        if name == "pi" {
            self.measure = Measure::Bare;
            self.emit(Op::Number(std::f64::consts::PI), start);
            return Ok(());
        }
        if functions::names().any(|known| known == name) {
            if self.peek() != Some('(') {
                return self.error(range, format!("`{name}` needs its argument in parentheses"));
            }
            return self.nested(|parser| parser.call(name, start));
        }
        if let Some(Symbol::Function(curve)) = (self.names.lookup)(name) {
            if self.peek() != Some('(') {
                return self.error(range, format!("`{name}` needs its argument in parentheses"));
            }
            return self.nested(|parser| parser.curve(name, curve, start));
        }
        let help = if self.names.known.contains(&name) {
            Some(format!("parameters are written with a dollar sign: `${name}`"))
        } else {
            suggest::hint(name, "known names", functions::names().chain(["pi"]))
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
    fn quantity(&mut self) -> Read {
        let start = self.at;
        let reference = Reference::read(self.text, &mut self.at)?;
        let Some(resolve) = &mut self.names.resolve else {
            return Err(self.unexpected());
        };
        let place = resolve(&reference)?;
        let op = Op::Free(self.names.free.len().saturating_add(place));
        self.measure = Measure::Unknown;
        self.emit(op, start);
        Ok(())
    }
}
