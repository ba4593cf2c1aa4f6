//! A complaint about a place of a scene file, drawn with its line and a caret.

use std::fmt;
use std::ops::Range;

/// An error, its place, and what may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error, one line.
    pub message: String,
    /// Name of the file as the user gave it.
    pub file: String,
    /// The place in the file, if one was found.
    pub place: Option<SourceSpan>,
    /// Help, one line.
    pub help: Option<String>,
    /// Where its file is included, the innermost first, one line each.
    pub notes: Vec<String>,
}

/// A stretch of one line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// Line, counted from one.
    pub line: usize,
    /// First character, counted from one.
    pub column: usize,
    /// Number of characters, at least one.
    pub width: usize,
    /// The whole line.
    pub text: String,
}

impl SourceSpan {
    /// The first line of a byte range of `text`; the range is moved inside the text and onto
    /// characters.
    pub fn of(text: &str, range: Range<usize>) -> Self {
        let start = floor_char(text, range.start);
        let end = floor_char(text, range.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let line = text[line_start..line_end].trim_end_matches('\r');
        Self {
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            width: text[start..end.min(line_end).max(start)].chars().count().max(1),
            text: line.to_owned(),
        }
    }
}

/// The last character boundary up to `index`.
fn floor_char(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Columns of a line that are shown.
const SHOWN: usize = 100;
/// Columns before the caret, of those shown.
const BEFORE: usize = 60;

/// Something in a scene that is allowed and yet hardly meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub Diagnostic);

/// Something in a scene that is worth knowing and may well be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note(pub Diagnostic);

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw("note", f)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw("error", f)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw("warning", f)
    }
}

impl Diagnostic {
    fn draw(&self, kind: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{kind}: {}", self.message)?;
        let mut margin = " ".to_owned();
        if let Some(place) = &self.place {
            let number = place.line.to_string();
            margin = " ".repeat(number.len());
            let (line, before, width) = drawn(place);
            write!(f, "\n{margin}--> {}:{}:{}", self.file, place.line, place.column)?;
            write!(f, "\n{margin} |\n{number} | {line}")?;
            write!(f, "\n{margin} | {}{}", " ".repeat(before), "^".repeat(width))?;
        } else if !self.file.is_empty() {
            write!(f, "\n{margin}--> {}", self.file)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{margin} = help: {help}")?;
        }
        for note in &self.notes {
            write!(f, "\n{margin} = note: {note}")?;
        }
        Ok(())
    }
}

/// The line with tabs as four blanks and control characters made visible, cut to a window about the
/// caret; then the columns before the caret and under it.
fn drawn(place: &SourceSpan) -> (String, usize, usize) {
    let mut line: Vec<char> = Vec::new();
    let (mut start, mut end) = (None, None);
    for (index, c) in place.text.chars().enumerate() {
        if index + 1 == place.column {
            start = Some(line.len());
        }
        if index + 1 == place.column + place.width {
            end = Some(line.len());
        }
        match c {
            '\t' => line.extend([' '; 4]),
            c if c.is_control() => line.push(char::REPLACEMENT_CHARACTER),
            c => line.push(c),
        }
    }
    let start = start.unwrap_or(line.len());
    let end = end.unwrap_or(line.len()).max(start + 1);
    let (from, head) = if line.len() > SHOWN && start > BEFORE {
        (start - BEFORE, "...")
    } else {
        (0, "")
    };
    let to = line.len().min(from + SHOWN);
    let tail = if to < line.len() { "..." } else { "" };
    let shown: String = line[from.min(to)..to].iter().collect();
    let width = end.min(to.max(start + 1)) - start;
    (format!("{head}{shown}{tail}"), start - from + head.len(), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, what: &str) -> String {
        let start = text.find(what).unwrap();
        let diagnostic = Diagnostic {
            message: "bad".into(),
            file: "a.ron".into(),
            place: Some(SourceSpan::of(text, start..start + what.len())),
            help: Some("none".into()),
            notes: Vec::new(),
        };
        diagnostic.to_string()
    }

    #[test]
    fn draws_the_line_and_the_caret() {
        let text = "one\n\ttwo: ä three\n";
        let expected =
            "error: bad\n --> a.ron:2:9\n  |\n2 |     two: ä three\n  |            ^^^^^\n  = help: none";
        assert_eq!(at(text, "three"), expected);
    }

    #[test]
    fn long_lines_are_cut_about_the_caret() {
        let text = format!("{}wrong{}", "a".repeat(500), "b".repeat(500));
        let drawn = at(&text, "wrong");
        let lines: Vec<&str> = drawn.lines().collect();
        assert!(lines.iter().all(|l| l.chars().count() < 115), "{drawn}");
        let caret = lines[4].find('^').unwrap();
        assert_eq!(&lines[3][caret..caret + 5], "wrong");
    }

    #[test]
    fn any_range_of_any_text_can_be_drawn() {
        for text in ["", "\n", "ä", "a\r\nb", "\u{7}x"] {
            for a in 0..6 {
                for b in 0..6 {
                    let place = Some(SourceSpan::of(text, a..b));
                    let d = Diagnostic {
                        message: String::new(),
                        file: String::new(),
                        place,
                        help: None,
                        notes: Vec::new(),
                    };
                    assert!(d.to_string().contains('^'));
                }
            }
        }
    }
}
