//! Matrix Market texts (Boisvert, Pozo, Remington 1996): real matrices, `coordinate` or `array`,
//! `general` or `symmetric`.
//!
//! Numbers are written with the fewest digits that give the same bits back. Beyond the standard:
//! `nan` and `inf`, which the matrices of a failing solve may hold, and which other readers take as
//! well.

use super::{ExchangeError, MarketFault};
use pliant_sparse::{CsrMatrix, PatternBuilder};
use std::fmt::Write;

/// A matrix as a text says it, with indices from zero.
#[derive(Clone, Debug)]
pub(super) struct MarketMatrix {
    rows: usize,
    columns: usize,
    /// Only the lower triangle is given.
    pub(super) symmetric: bool,
    /// An `array`: every entry is given.
    pub(super) dense: bool,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u32,
    column: u32,
    /// Where it was given, from one.
    line: usize,
    value: f64,
}

/// The lines that count, numbered from one: no comments, no blank ones.
struct Lines<'a> {
    inner: std::iter::Enumerate<std::str::Lines<'a>>,
    last: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        for (k, line) in self.inner.by_ref() {
            self.last = k + 1;
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('%') {
                return Some((k + 1, line));
            }
        }
        None
    }
}

fn quoted(text: &str) -> String {
    /// Enough of a word to recognise it.
    const SHOWN: usize = 40;
    text.chars().take(SHOWN).collect()
}

fn count(word: &str) -> Result<usize, MarketFault> {
    let fault = || MarketFault::Count { word: quoted(word) };
    let number: usize = word.parse().map_err(|_| fault())?;
    if number < i32::MAX as usize {
        Ok(number)
    } else {
        Err(fault())
    }
}

fn value(word: &str) -> Result<f64, MarketFault> {
    word.parse()
        .map_err(|_| MarketFault::Value { word: quoted(word) })
}

/// Exactly `N` words.
fn words<const N: usize>(line: &str) -> Result<[&str; N], MarketFault> {
    let mut out = [""; N];
    let mut found = 0;
    for word in line.split_whitespace() {
        if found < N {
            out[found] = word;
        }
        found += 1;
    }
    if found == N {
        Ok(out)
    } else {
        Err(MarketFault::Words { expected: N, found })
    }
}

impl MarketMatrix {
    /// Reads a text. Memory is proportional to the text, whatever sizes it announces. `name` is for
    /// errors.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, ExchangeError> {
        let at = |line: usize| {
            move |fault| ExchangeError::Market {
                name: name.to_owned(),
                line,
                fault,
            }
        };
        let banner = text.lines().next().unwrap_or("");
        let (dense, symmetric) = parse_banner(banner).map_err(at(1))?;
        let mut lines = Lines {
            inner: text.lines().enumerate(),
            last: 1,
        };
        let Some((line, sizes)) = lines.next() else {
            return Err(at(lines.last)(MarketFault::NoSizes));
        };
        let (rows, columns, announced) = if dense {
            let [rows, columns] = words(sizes).map_err(at(line))?;
            let (rows, columns) = (count(rows).map_err(at(line))?, count(columns).map_err(at(line))?);
            // Below 2^62, by the limit of `count`.
            let full = rows * columns;
            (
                rows,
                columns,
                if symmetric {
                    full / 2 + rows.div_ceil(2)
                } else {
                    full
                },
            )
        } else {
            let [rows, columns, entries] = words(sizes).map_err(at(line))?;
            (
                count(rows).map_err(at(line))?,
                count(columns).map_err(at(line))?,
                count(entries).map_err(at(line))?,
            )
        };
        if symmetric && rows != columns {
            return Err(at(line)(MarketFault::NotSquare { rows, columns }));
        }
        // The announced number is not to be trusted with memory.
        let mut entries = Vec::with_capacity(announced.min(text.len() / 2));
        let (mut row, mut column) = (0u32, 0u32);
        while let Some((line, text)) = lines.next() {
            if entries.len() == announced {
                return Err(at(line)(MarketFault::TooMany { announced }));
            }
            let entry = if dense {
                let [word] = words(text).map_err(at(line))?;
                let entry = Entry {
                    row,
                    column,
                    line,
                    value: value(word).map_err(at(line))?,
                };
                row += 1;
                if row as usize == rows {
                    column += 1;
                    row = if symmetric { column } else { 0 };
                }
                entry
            } else {
                let [i, k, x] = words(text).map_err(at(line))?;
                let index = |word: &str, of: usize| {
                    let given: usize = word.parse().unwrap_or(0);
                    if (1..=of).contains(&given) {
                        Ok(given as u32 - 1)
                    } else {
                        let word = quoted(word);
                        Err(at(line)(MarketFault::Index { word, largest: of }))
                    }
                };
                Entry {
                    row: index(i, rows)?,
                    column: index(k, columns)?,
                    line,
                    value: value(x).map_err(at(line))?,
                }
            };
            if symmetric && entry.column > entry.row {
                let (row, column) = (entry.row as usize + 1, entry.column as usize + 1);
                return Err(at(line)(MarketFault::AboveDiagonal { row, column }));
            }
            entries.push(entry);
        }
        if entries.len() < announced {
            let found = entries.len();
            return Err(at(lines.last)(MarketFault::TooFew { announced, found }));
        }
        entries.sort_by_key(|e| (e.row, e.column));
        if let Some(twice) = entries
            .windows(2)
            .find(|e| (e[0].row, e[0].column) == (e[1].row, e[1].column))
        {
            let (row, column) = (twice[1].row as usize + 1, twice[1].column as usize + 1);
            let first = twice[0].line;
            return Err(at(twice[1].line)(MarketFault::Repeated { row, column, first }));
        }
        Ok(Self {
            rows,
            columns,
            symmetric,
            dense,
            entries,
        })
    }

    /// Checks the shape before memory for it is taken.
    pub(super) fn expect(&self, name: &str, rows: usize, columns: usize) -> Result<(), ExchangeError> {
        if (self.rows, self.columns) == (rows, columns) {
            return Ok(());
        }
        Err(ExchangeError::Shape {
            name: name.to_owned(),
            expected: (rows, columns),
            found: (self.rows, self.columns),
        })
    }

    /// All entries that are stored, mirrored ones not.
    pub(super) fn stored(&self) -> Result<CsrMatrix, ExchangeError> {
        self.to_csr(false)
    }

    /// The whole matrix: of a symmetric one, both triangles.
    pub(super) fn full(&self) -> Result<CsrMatrix, ExchangeError> {
        self.to_csr(self.symmetric)
    }

    /// The lower triangle of a matrix that is symmetric, said so or not; a diagonal entry that is
    /// not given is a zero.
    pub(super) fn lower(&self, name: &str) -> Result<CsrMatrix, ExchangeError> {
        if !self.symmetric {
            let all = self.stored()?;
            let same = |e: &&Entry| {
                let mirrored = all.get(e.column as usize, e.row as usize);
                mirrored == e.value || (mirrored.is_nan() && e.value.is_nan())
            };
            if let Some(odd) = self.entries.iter().find(|e| !same(e)) {
                return Err(ExchangeError::Asymmetric {
                    name: name.to_owned(),
                    row: odd.row as usize + 1,
                    column: odd.column as usize + 1,
                });
            }
        }
        let mut pattern = PatternBuilder::new(self.rows, self.columns);
        for i in 0..self.rows {
            pattern.insert(i, i);
        }
        let below = || self.entries.iter().filter(|e| e.column <= e.row);
        below().for_each(|e| pattern.insert(e.row as usize, e.column as usize));
        let mut out = pattern.finish()?.into_matrix();
        for e in below() {
            if let Some(slot) = out.pattern().slot(e.row as usize, e.column as usize) {
                out.values_mut()[slot] = e.value;
            }
        }
        Ok(out)
    }

    fn to_csr(&self, mirrored: bool) -> Result<CsrMatrix, ExchangeError> {
        let mut pattern = PatternBuilder::new(self.rows, self.columns);
        let entry = |e: &Entry| (e.row as usize, e.column as usize, e.value);
        let off = |e: &&Entry| mirrored && e.row != e.column;
        let upper = || self.entries.iter().filter(off).map(entry);
        for (i, k, _) in self.entries.iter().map(entry) {
            pattern.insert(i, k);
        }
        for (i, k, _) in upper() {
            pattern.insert(k, i);
        }
        let mut out = pattern.finish()?.into_matrix();
        let transposed = upper().map(|(i, k, x)| (k, i, x));
        for (i, k, x) in self.entries.iter().map(entry).chain(transposed) {
            if let Some(slot) = out.pattern().slot(i, k) {
                out.values_mut()[slot] = x;
            }
        }
        Ok(out)
    }
}

/// Whether it is an array, and whether it is symmetric.
fn parse_banner(line: &str) -> Result<(bool, bool), MarketFault> {
    let fault = || MarketFault::Banner { text: quoted(line) };
    let [banner, object, format, field, symmetry] = words(line).map_err(|_| fault())?;
    let is = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
    if !is(banner, "%%MatrixMarket") || !is(object, "matrix") {
        return Err(fault());
    }
    let unknown = |word: &str| MarketFault::Unsupported { word: quoted(word) };
    let dense = match format {
        f if is(f, "coordinate") => false,
        f if is(f, "array") => true,
        other => return Err(unknown(other)),
    };
    if !["real", "double", "integer"].iter().any(|known| is(field, known)) {
        return Err(unknown(field));
    }
    match symmetry {
        s if is(s, "general") => Ok((dense, false)),
        s if is(s, "symmetric") => Ok((dense, true)),
        other => Err(unknown(other)),
    }
}

/// The text of a sparse matrix; with `symmetric`, of one whose lower triangle is stored.
pub(super) fn coordinate_text(a: &CsrMatrix, symmetric: bool) -> String {
    let pattern = a.pattern();
    let symmetry = if symmetric { "symmetric" } else { "general" };
    let mut text = format!("%%MatrixMarket matrix coordinate real {symmetry}\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} {} {}", pattern.rows(), pattern.columns(), pattern.len());
    for i in 0..pattern.rows() {
        for slot in pattern.row_slots(i) {
            let k = pattern.indices()[slot] + 1;
            let _ = writeln!(text, "{} {k} {:?}", i + 1, a.values()[slot]);
        }
    }
    text
}

/// The text of a dense square matrix given row by row; its lower triangle if it is exactly
/// symmetric.
pub(super) fn array_text(n: usize, values: &[f64]) -> String {
    let symmetric = is_symmetric(n, values);
    let symmetry = if symmetric { "symmetric" } else { "general" };
    let mut text = format!("%%MatrixMarket matrix array real {symmetry}\n{n} {n}\n");
    for k in 0..n {
        for i in if symmetric { k } else { 0 }..n {
            let _ = writeln!(text, "{:?}", values[i * n + k]);
        }
    }
    text
}

/// To the bit.
fn is_symmetric(n: usize, values: &[f64]) -> bool {
    (0..n).all(|i| (0..i).all(|k| values[i * n + k].to_bits() == values[k * n + i].to_bits()))
}
