//! Lines of words: what the readers of text formats share.

use std::str::{FromStr, SplitWhitespace};

use super::error::{Location, MeshError, excerpt};

/// The words of one line that are not read yet.
pub(super) struct Words<'a> {
    /// The line, from one.
    pub(super) line: usize,
    rest: SplitWhitespace<'a>,
}

impl<'a> Words<'a> {
    pub(super) fn new(line: usize, text: &'a str) -> Self {
        Self {
            line,
            rest: text.split_whitespace(),
        }
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        self.rest.next()
    }

    /// The next word.
    pub(super) fn word(&mut self, expected: &str) -> Result<&'a str, MeshError> {
        self.next().ok_or_else(|| syntax(self.line, expected, None))
    }

    /// The next word as a number.
    pub(super) fn number<T: FromStr>(&mut self, expected: &str) -> Result<T, MeshError> {
        number(self.line, expected, self.next())
    }

    /// The next word as a number; zero if there is none.
    pub(super) fn number_or_zero<T: FromStr + Default>(&mut self, expected: &str) -> Result<T, MeshError> {
        match self.next() {
            Some(word) => number(self.line, expected, Some(word)),
            None => Ok(T::default()),
        }
    }

    /// The next word as a finite number.
    pub(super) fn real(&mut self, expected: &str) -> Result<f64, MeshError> {
        real(self.line, expected, self.next())
    }

    /// The next word as one of so many vertices, numbered from `first`; its index from zero.
    pub(super) fn vertex(&mut self, expected: &str, first: i64, vertices: usize) -> Result<u32, MeshError> {
        let index: i64 = self.number(expected)?;
        match u32::try_from(index.saturating_sub(first)) {
            Ok(vertex) if (vertex as usize) < vertices => Ok(vertex),
            _ => Err(MeshError::BadIndex {
                place: Location::Line(self.line),
                index,
                vertices,
            }),
        }
    }

    /// Three coordinates of a vertex.
    pub(super) fn position(&mut self) -> Result<[f64; 3], MeshError> {
        Ok([
            self.real("coordinate x of a vertex")?,
            self.real("coordinate y of a vertex")?,
            self.real("coordinate z of a vertex")?,
        ])
    }
}

/// The lines that hold something once what follows a comment mark is cut, with their numbers from
/// one.
pub(super) fn lines<'a>(text: &'a str, comment: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text.lines().enumerate();
    let code = numbered.map(move |(index, line)| {
        let code = line.split(comment).next().unwrap_or_default();
        (index.saturating_add(1), code)
    });
    code.filter(|(_, line)| !line.trim().is_empty())
}

/// A word as a number of that kind.
pub(super) fn number<T: FromStr>(line: usize, expected: &str, word: Option<&str>) -> Result<T, MeshError> {
    let parsed = word.and_then(|word| word.parse().ok());
    parsed.ok_or_else(|| syntax(line, expected, word))
}

/// A word as a finite number.
pub(super) fn real(line: usize, expected: &str, word: Option<&str>) -> Result<f64, MeshError> {
    let value: f64 = number(line, expected, word)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(syntax(line, &format!("{expected}, finite"), word))
    }
}

/// A complaint about a word, or about its absence.
pub(super) fn syntax(line: usize, expected: &str, word: Option<&str>) -> MeshError {
    MeshError::Syntax {
        place: Location::Line(line),
        expected: expected.to_owned(),
        found: word.map_or_else(
            || "the end of the line".to_owned(),
            |word| excerpt(word.as_bytes()),
        ),
    }
}

/// A complaint that the file ends.
pub(super) fn cut_off(text: &str, expected: &str) -> MeshError {
    MeshError::Syntax {
        place: Location::Line(text.lines().count().max(1)),
        expected: expected.to_owned(),
        found: "the end of the file".to_owned(),
    }
}
