//! Quantities of things, as expressions name them.

use super::ExpressionError;
use std::ops::Range;

/// A quantity of something, as an expression names it: `arm.angle`, `chain[3].x`,
/// `'left arm'.angle`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The parts between the dots, each with its bytes.
    pub parts: Vec<(String, Range<usize>)>,
    /// How many parts are before the number of an element, if there is one, the element, and the
    /// bytes of its number.
    pub element: Option<(usize, usize, Range<usize>)>,
    /// Bytes of the whole.
    pub range: Range<usize>,
}

/// The place of a quantity among the values that an expression is given behind those of its free
/// names.
pub type Resolve<'a> = &'a mut dyn FnMut(&Reference) -> Result<usize, ExpressionError>;

impl Reference {
    /// The name of the thing: all parts before the number of its element, or all but the last one.
    pub fn name(&self) -> String {
        self.join(0..self.named())
    }

    /// The quantity: all parts behind the name; empty if there are none.
    pub fn quantity(&self) -> String {
        self.join(self.named()..self.parts.len())
    }

    /// The bytes of the name.
    pub fn name_range(&self) -> Range<usize> {
        self.range_of(0..self.named())
    }

    /// The bytes of the quantity; those of the whole if there is none.
    pub fn quantity_range(&self) -> Range<usize> {
        self.range_of(self.named()..self.parts.len())
    }

    /// All parts, joined by dots.
    pub fn whole(&self) -> String {
        self.join(0..self.parts.len())
    }

    fn named(&self) -> usize {
        match (&self.element, self.parts.len()) {
            (Some((named, ..)), _) => *named,
            (None, 1) => 1,
            (None, parts) => parts - 1,
        }
    }

    fn join(&self, parts: Range<usize>) -> String {
        let parts: Vec<&str> = self.parts[parts].iter().map(|(part, _)| part.as_str()).collect();
        parts.join(".")
    }

    fn range_of(&self, parts: Range<usize>) -> Range<usize> {
        match (self.parts.get(parts.start), parts.end.checked_sub(1)) {
            (Some((_, first)), Some(last)) if parts.start <= last => first.start..self.parts[last].1.end,
            _ => self.range.clone(),
        }
    }

    /// Reads one from `at` on, where a letter, an underscore or an apostrophe is.
    pub(crate) fn read(text: &str, at: &mut usize) -> Result<Self, ExpressionError> {
        let start = *at;
        let mut reference = Self {
            parts: vec![part(text, at)?],
            element: None,
            range: start..*at,
        };
        loop {
            let rest = &text[*at..];
            if rest.starts_with('.') {
                *at += 1;
                reference.parts.push(part(text, at)?);
            } else if rest.starts_with('[') && reference.element.is_none() {
                let open = *at;
                let inside = &rest[1..];
                let end = inside
                    .find(']')
                    .ok_or_else(|| ExpressionError::new(open..open + 1, "this bracket is not closed"))?;
                *at += end + 2;
                let range = open + 1..open + 1 + end;
                let element = number(&inside[..end]).ok_or_else(|| {
                    ExpressionError::new(range.clone(), "the number of an element is 0, 1, 2, ...")
                })?;
                reference.element = Some((reference.parts.len(), element, range));
            } else {
                break;
            }
        }
        reference.range = start..*at;
        Ok(reference)
    }
}

/// The number of an element: as it is written, or by arithmetic over numbers, as a repeat leaves it
/// (`3 + 1`).
fn number(text: &str) -> Option<usize> {
    let whole = |value: f64| (value >= 0.0 && value.fract() == 0.0).then_some(value as usize);
    let text = text.trim();
    text.parse().ok().or_else(|| whole(crate::constant(text).ok()?))
}

/// A word, or a text between apostrophes.
fn part(text: &str, at: &mut usize) -> Result<(String, Range<usize>), ExpressionError> {
    let start = *at;
    let rest = &text[start..];
    if let Some(quoted) = rest.strip_prefix('\'') {
        let Some(end) = quoted.find('\'') else {
            return Err(ExpressionError::new(
                start..start + 1,
                "the name that begins here is not closed by an apostrophe",
            ));
        };
        *at += end + 2;
        return Ok((quoted[..end].to_owned(), start..*at));
    }
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    if end == 0 {
        let next = rest.chars().next().map_or(0, char::len_utf8);
        return Err(ExpressionError {
            message: "the name of a thing or of a quantity is missing here".into(),
            range: start..start + next,
            help: Some("names with blanks or marks stand between apostrophes: `'left arm'.angle`".into()),
        });
    }
    *at += end;
    Ok((rest[..end].to_owned(), start..*at))
}
