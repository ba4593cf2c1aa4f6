//! Functions with their arguments.

use super::super::curve::PointCurve;
use super::super::functions::{BINARY, IF, TERNARY, UNARY};
use super::super::measure::{Measure, Part};
use super::super::program::Op;
use super::{Kind, Parser, Read};
use crate::ExpressionError;

impl Parser<'_, '_, '_> {
    /// A function with its arguments, behind its name.
    pub(super) fn call(&mut self, name: &str, start: usize) -> Read {
        if name == IF {
            return self.choice(start);
        }
        if let Some((_, function)) = UNARY.iter().find(|(known, _)| *known == name) {
            let [argument] = self.arguments(name, "one number", "(1)")?;
            self.measure = argument.unary(name, *function)?;
            self.emit(Op::Unary(*function), start);
        }
        if let Some((_, function)) = BINARY.iter().find(|(known, _)| *known == name) {
            let [first, second] = self.arguments(name, "two numbers", "(1, 2)")?;
            self.measure = first.binary(&second, *function)?;
            self.emit(Op::Binary(*function), start);
        }
        if let Some((_, function)) = TERNARY.iter().find(|(known, _)| *known == name) {
            let arguments = self.arguments(name, "three numbers", "(1, 2, 3)")?;
            self.measure = Part::ternary(&arguments, *function)?;
            self.emit(Op::Ternary(*function), start);
        }
        Ok(())
    }

    /// A curve with its argument, behind its name.
    pub(super) fn curve(&mut self, name: &str, curve: &PointCurve, start: usize) -> Read {
        let [argument] = self.arguments(name, "one number", "($t)")?;
        let [place, value] = curve.dimensions();
        if let Some(place) = place {
            argument.fits(place, name)?;
        }
        let known = self.curves.iter().position(|known| known == curve);
        let index = known.unwrap_or(self.curves.len());
        if known.is_none() {
            self.curves.push(curve.clone());
        }
        self.emit(Op::PointCurve(index), start);
        self.measure = value.map_or(Measure::Bare, Measure::of);
        Ok(())
    }

    /// A number or another, by a condition. Of both, only the one that is taken has a value.
    fn choice(&mut self, start: usize) -> Read {
        let takes = "a condition and two numbers";
        let example = "($a > 1, 2, 3)";
        let open = self.at;
        self.at += 1;
        self.skip_blanks();
        let condition = self.at;
        self.choices += 1;
        let read = self.alternatives();
        self.choices -= 1;
        read?;
        self.needs(Kind::Truth, condition)?;
        self.comma(IF, open, takes, example)?;
        let unless = self.ops.len();
        self.emit(Op::Unless(0), start);
        let first = self.argument()?;
        self.comma(IF, open, takes, example)?;
        let skip = self.ops.len();
        self.emit(Op::Skip(0), start);
        let second = self.argument()?;
        self.end(IF, open, takes, example)?;
        self.ops[unless].0 = Op::Unless(skip - unless);
        self.ops[skip].0 = Op::Skip(self.ops.len() - skip - 1);
        self.measure = first.alike(&second, "alternatives")?;
        Ok(())
    }

    /// Numbers in parentheses.
    fn arguments<const N: usize>(
        &mut self,
        name: &str,
        takes: &str,
        example: &str,
    ) -> Result<[Part; N], ExpressionError> {
        let open = self.at;
        self.at += 1;
        let mut list = [const { Part::NONE }; N];
        for (k, argument) in list.iter_mut().enumerate() {
            if k > 0 {
                self.comma(name, open, takes, example)?;
            }
            *argument = self.argument()?;
        }
        self.end(name, open, takes, example)?;
        Ok(list)
    }

    /// The comma between two arguments of a function whose parentheses open there.
    fn comma(&mut self, name: &str, open: usize, takes: &str, example: &str) -> Read {
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Ok(())
            }
            Some(')') => {
                let message = format!("`{name}` takes {takes}: `{name}{example}`");
                self.error(open..self.at + 1, message)
            }
            _ => self.close(open),
        }
    }

    /// The parenthesis behind the last argument.
    fn end(&mut self, name: &str, open: usize, takes: &str, example: &str) -> Read {
        if self.peek() == Some(',') {
            let message = format!("`{name}` takes {takes}: `{name}{example}`");
            return self.error(self.at..self.at + 1, message);
        }
        self.close(open)
    }

    fn argument(&mut self) -> Result<Part, ExpressionError> {
        self.skip_blanks();
        let start = self.at;
        self.alternatives()?;
        self.needs(Kind::Number, start)?;
        Ok(Part::new(self.measure, self.since(start)))
    }
}
