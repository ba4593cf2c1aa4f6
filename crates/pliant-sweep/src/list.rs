//! Lists: a table of parameters, one point a line.

use crate::SweepError;
use crate::axis::{Axis, number, stranger, trimmed};
use pliant_mesh_io::read_file;
use std::ops::Range;
use std::path::Path;

/// The largest list, in bytes.
const LARGEST: u64 = 64 << 20;

const COMMAS: &str = "cells are separated by commas, and decimals have a point";

impl Axis {
    /// Reads a list of comma-separated values: the first line has names of parameters, which must
    /// be `known`, each further line their values at one point. A cell is a number or an expression
    /// without parameters, in double quotes where it has a comma; empty lines are passed over.
    ///
    /// # Errors
    /// [`SweepError::Read`]; [`SweepError::Place`] with the line and a caret at what does not fit.
    pub fn load_list(path: &Path, known: &[&str]) -> Result<Self, SweepError> {
        let file = path.display().to_string();
        let bytes = read_file(path, LARGEST).map_err(|source| SweepError::Read {
            path: path.to_owned(),
            source,
        })?;
        match String::from_utf8(bytes) {
            // Spreadsheets begin tables with this mark.
            Ok(text) => Self::from_list(&file, text.strip_prefix('\u{feff}').unwrap_or(&text), known),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let message = "the list is not UTF-8 text from here on";
                Err(SweepError::at(&file, &text, good..good, message, None))
            }
        }
    }

    /// Reads a list from a text; `file` is its name in messages.
    ///
    /// # Errors
    /// [`SweepError::Place`].
    pub fn from_list(file: &str, text: &str, known: &[&str]) -> Result<Self, SweepError> {
        let wrong = |range, message: String, help| Err(SweepError::at(file, text, range, message, help));
        let mut lines = lines(text).filter(|line| !text[line.clone()].trim().is_empty());
        let Some(head) = lines.next() else {
            return wrong(0..0, "the list is empty".to_owned(), None);
        };
        let mut names: Vec<String> = Vec::new();
        for cell in cells(file, text, head)? {
            let name = text[cell.clone()].to_owned();
            if let Some((message, help)) = stranger(&name, known) {
                let separated = name.contains([';', '\t']);
                return wrong(
                    cell,
                    message,
                    if separated { Some(COMMAS.to_owned()) } else { help },
                );
            }
            // Jobs are given `NAME=VALUE`.
            if name.contains('=') || name.starts_with('$') {
                let message =
                    format!("the parameter `{name}` cannot vary: its name has a `=` or begins with `$`");
                return wrong(
                    cell,
                    message,
                    Some("give it another name in the scene".to_owned()),
                );
            }
            if names.contains(&name) {
                return wrong(cell, format!("the parameter `{name}` is given twice"), None);
            }
            names.push(name);
        }
        let mut points = Vec::new();
        for line in lines {
            let cells = cells(file, text, line.clone())?;
            if cells.len() != names.len() {
                let message = format!(
                    "the line has {} cells, the first has {}",
                    cells.len(),
                    names.len()
                );
                return wrong(line, message, Some(COMMAS.to_owned()));
            }
            let point: Result<Vec<f64>, _> = cells.into_iter().map(|cell| number(file, text, cell)).collect();
            points.push(point?);
        }
        if points.is_empty() {
            let message = "the list has names and no values".to_owned();
            return wrong(0..text.len(), message, None);
        }
        Ok(Self { names, points })
    }
}

/// The lines of a text, without their ends.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        range
    })
}

/// The cells of a line, without blanks and quotes around them.
fn cells(file: &str, text: &str, line: Range<usize>) -> Result<Vec<Range<usize>>, SweepError> {
    let mut all = Vec::new();
    let (mut start, mut quoted) = (line.start, false);
    for (offset, c) in text[line.clone()].char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                all.push(start..line.start + offset);
                start = line.start + offset + 1;
            }
            _ => {}
        }
    }
    all.push(start..line.end);
    all.into_iter().map(|cell| bare(file, text, cell)).collect()
}

/// A cell without the quotes around it. Neither a number nor the name of a parameter has any.
fn bare(file: &str, text: &str, cell: Range<usize>) -> Result<Range<usize>, SweepError> {
    let cell = trimmed(text, cell);
    let inner = match text[cell.clone()].strip_prefix('"') {
        Some(rest) if rest.ends_with('"') => cell.start + 1..cell.end - 1,
        _ => cell.clone(),
    };
    if text[inner.clone()].contains('"') {
        let message = "a quote in a cell that is not in quotes as a whole";
        return Err(SweepError::at(file, text, cell, message, None));
    }
    Ok(trimmed(text, inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Axis, SweepError> {
        Axis::from_list("points.csv", text, &["k", "mass"])
    }

    #[test]
    fn a_list_is_read_as_spreadsheets_write_it() {
        let expected = Axis {
            names: vec!["k".into(), "mass".into()],
            points: vec![vec![1.0, 2.5], vec![std::f64::consts::PI, 4.0]],
        };
        for text in [
            "k,mass\n1,2.5\npi,4\n",
            "k,mass\r\n1,2.5\r\n\r\npi,4",
            "\n \"k\" , mass \n 1.0 ,25e-1\n\"pi\",\"max(3,4)\"\n",
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        std::fs::write(&path, "\u{feff}mass\n7\n").unwrap();
        assert_eq!(Axis::load_list(&path, &["mass"]).unwrap().points, [[7.0]]);
        std::fs::write(&path, b"mass\n\xff7\n").unwrap();
        let error = Axis::load_list(&path, &["mass"]).unwrap_err().to_string();
        assert!(
            error.contains("not UTF-8") && error.contains("a.csv:2:1"),
            "{error}"
        );
        let error = Axis::load_list(dir.path(), &["mass"]).unwrap_err().to_string();
        assert!(error.contains("it is a directory"), "{error}");
    }

    #[test]
    fn bad_cells_have_line_column_and_caret() {
        for (text, message, place, caret) in [
            ("", "the list is empty", "1:1", "^"),
            ("\n\n", "the list is empty", "1:1", "^"),
            ("k,mass\n", "names and no values", "1:1", "^^^^^^"),
            ("k,masss\n1,2", "unknown parameter `masss`", "1:3", "  ^^^^^"),
            ("k,k\n1,2", "`k` is given twice", "1:3", "  ^"),
            ("k;mass\n1;2", "unknown parameter `k;mass`", "1:1", "^^^^^^"),
            ("k,mass\n1,2\n3", "1 cells, the first has 2", "3:1", "^"),
            ("k,mass\n1,2\n3,4,5", "3 cells, the first has 2", "3:1", "^^^^^"),
            ("k,mass\n1,2\n3, two", "unknown name `two`", "3:4", "   ^^^"),
            ("k,mass\n1,2\n3,", "ends too early", "3:3", "  ^"),
            ("k\n1e999", "inf", "2:1", "^^^^^"),
            ("k\n\"1", "a quote in a cell", "2:1", "^^"),
            ("k\n1\"2\"", "a quote in a cell", "2:1", "^^^^"),
        ] {
            let shown = read(text).unwrap_err().to_string();
            assert!(shown.contains(message), "{text}: {shown}");
            assert!(
                shown.contains(&format!("points.csv:{place}\n")),
                "{text}: {shown}"
            );
            assert!(shown.contains(&format!("  | {caret}")), "{text}: {shown}");
        }
        for text in ["k;mass\n1;2", "k\tmass\n1\t2", "k,mass\n1;2", "k,mass\n1,2,5"] {
            let shown = read(text).unwrap_err().to_string();
            let help = "help: cells are separated by commas, and decimals have a point";
            assert!(shown.contains(help), "{shown}");
        }
        for name in ["k=l", "$k"] {
            let read = Axis::from_list("points.csv", &format!("{name}\n1\n"), &[name]);
            let shown = read.unwrap_err().to_string();
            assert!(shown.contains(&format!("`{name}` cannot vary")), "{shown}");
        }
        let shown = read("k,masss\n1,2").unwrap_err().to_string();
        assert!(shown.contains("did you mean `mass`?"), "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(k|mass|[k,\"\n\r 0-9.ä])*") {
            let _ = read(&text);
        }

        /// Numbers that are written as the shortest decimals come back to the bit.
        #[test]
        fn numbers_come_back(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..9)) {
            let text: String = values.iter().map(|v| format!("{v:?}\n")).collect();
            let axis = read(&format!("mass\n{text}")).unwrap();
            let bits: Vec<u64> = axis.points.iter().map(|p| p[0].to_bits()).collect();
            prop_assert_eq!(bits, values.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        }
    }
}
