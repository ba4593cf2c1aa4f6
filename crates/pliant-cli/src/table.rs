//! Aligned tables of names and values.

use std::borrow::Cow;
use std::io::IsTerminal;

/// A table for standard output, in colour if that is a terminal.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(Cow<'static, str>, String)>,
}

impl Table {
    pub(crate) fn row(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        self.rows.push((name.into(), value.into()));
    }

    /// The table as text: names in one column, values in the next.
    pub(crate) fn render(&self, colour: bool) -> String {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, value) in &self.rows {
            let pad = " ".repeat(width - name.len());
            let (on, off) = if colour {
                ("\u{1b}[2m", "\u{1b}[0m")
            } else {
                ("", "")
            };
            text.push_str(&format!("{on}{name}{off}{pad}  {value}\n"));
        }
        text
    }

    /// Prints the table, and below it the meanings of those rows that it has.
    pub(crate) fn print_with_legend(&self, legend: &[(&'static str, &'static str)]) {
        let mut meanings = Self::default();
        for (name, meaning) in legend {
            if self.rows.iter().any(|row| row.0 == *name) {
                meanings.row(*name, *meaning);
            }
        }
        let colour = is_colour_welcome();
        let text = format!(
            "{}\nThe numbers:\n{}",
            self.render(colour),
            meanings.render(colour)
        );
        crate::print(&text);
    }

    pub(crate) fn print(&self) {
        crate::print(&self.render(is_colour_welcome()));
    }
}

/// Rows of words in columns: the first and the last flush left, the others flush right.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    of_rows(rows, false)
}

/// Rows of words and numbers in columns: the first flush left, the others flush right.
pub(crate) fn numbers(rows: &[Vec<String>]) -> String {
    of_rows(rows, true)
}

/// Rows of as many words each, the last of which are numbers too or words.
fn of_rows<R: AsRef<[String]>>(rows: &[R], last_is_number: bool) -> String {
    let rows = || rows.iter().map(AsRef::as_ref);
    let width = |k: usize| rows().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows() {
        for (k, word) in row.iter().enumerate() {
            let pad = " ".repeat(width(k) - word.chars().count());
            match k {
                0 => text.push_str(&format!("{word}{pad}")),
                _ if k + 1 == row.len() && !last_is_number => text.push_str(&format!("  {word}")),
                _ => text.push_str(&format!("  {pad}{word}")),
            }
        }
        text.push('\n');
    }
    text
}

fn is_colour_welcome() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// A number for people: six digits, scientific where that is shorter.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let size = x.abs();
    if !(1e-4..1e7).contains(&size) {
        return format!("{x:.3e}");
    }
    let digits = (5 - size.log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number for people where its size is all that matters: three digits.
pub(crate) fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if !(1e-3..1e5).contains(&size) {
        return format!("{x:.1e}");
    }
    let digits = (2 - size.log10().floor() as i32).clamp(0, 5) as usize;
    let text = format!("{x:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Three numbers for people.
pub(crate) fn triple(x: [f64; 3]) -> String {
    format!("({}, {}, {})", number(x[0]), number(x[1]), number(x[2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-9.81, "-9.81"),
            (1234.5678, "1234.57"),
            (1e-9, "1.000e-9"),
            (2e8, "2.000e8"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
        assert_eq!(number(f64::NAN), "NaN");
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (43.9368, "43.9"),
            (-0.012345, "-0.0123"),
            (1234.5, "1234"),
            (1e-9, "1.0e-9"),
            (9.9996, "10"),
        ];
        for (x, text) in cases {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn rows_of_words_are_aligned() {
        let rows = [["name", "x", "status"], ["a", "10", "good"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "name   x  status\na     10  good\n");
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.row("a", "1");
        table.row("long", "2");
        assert_eq!(table.render(false), "a     1\nlong  2\n");
    }
}
