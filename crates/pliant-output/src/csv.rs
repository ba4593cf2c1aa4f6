//! The energy table as comma-separated values.

use std::borrow::Cow;
use std::path::Path;

use super::ExportError;
use super::atomic::{Written, write_atomically};
use crate::recording::{NumberTable, Recording};

/// First line of the table: names with units; `residual` is relative, `violation` is in m or rad.
/// The last ones are the energies of [`LEDGER`](crate::recording::LEDGER), by source.
pub const ENERGY_HEADER: &str = "time_s,kinetic_J,potential_J,dissipated_J,total_J,residual,violation,\
    forces_J,motion_J,motors_J,inputs_J,damping_J,friction_J,impacts_J,corrections_J,removed_J,numerical_J,\
    numerical_inertia_J,numerical_stiffness_J,numerical_geometry_J,numerical_rows_J,numerical_undivided_J,numerical_rest_J";

/// Writes one line per sample of the recording under [`ENERGY_HEADER`].
///
/// `total_J` is kinetic plus potential energy. Numbers are the shortest decimals that read back to
/// the same `f64` (`NaN`, `inf` and `-inf` as such); lines end with a line feed.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_energy_csv(path: &Path, recording: &Recording) -> Result<Written, ExportError> {
    write_atomically(path, |out| {
        writeln!(out, "{ENERGY_HEADER}")?;
        for s in &recording.samples {
            // `{:?}` and not `{}`: both round-trip, but only the first writes 1e-300 without 300
            // zeros.
            write!(
                out,
                "{:?},{:?},{:?},{:?},{:?},{:?},{:?}",
                s.time,
                s.kinetic,
                s.potential,
                s.dissipated,
                s.kinetic + s.potential,
                s.residual,
                s.violation
            )?;
            for brought_in in s.ledger {
                write!(out, ",{brought_in:?}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

/// Writes a table of numbers, of joints or of probes: a line per recorded instant.
///
/// Numbers are written as in the energy table; names with separators or quotes stand in quotes, and
/// a name that a spreadsheet would take for a formula has an apostrophe before it.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_numbers_csv(path: &Path, table: &NumberTable) -> Result<Written, ExportError> {
    write_atomically(path, |out| {
        write!(out, "time_s")?;
        for column in &table.columns {
            write!(out, ",{}", quoted(column))?;
        }
        writeln!(out)?;
        for line in &table.lines {
            for (k, number) in line.iter().enumerate() {
                let comma = if k == 0 { "" } else { "," };
                write!(out, "{comma}{number:?}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

/// Writes the table of the contacts: a line per contact and recorded instant.
///
/// Numbers are written as in the energy table; names with separators or quotes stand in quotes, and
/// a name that a spreadsheet would take for a formula has an apostrophe before it.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_contacts_csv(path: &Path, recording: &Recording) -> Result<Written, ExportError> {
    const HEAD: &str = "time_s,first,second,x_m,y_m,z_m,normal_x,normal_y,normal_z,gap_m,force_x_N,force_y_N,force_z_N,\
         torque_x_Nm,torque_y_Nm,torque_z_Nm,slip_x_m/s,slip_y_m/s,slip_z_m/s,state";
    let table = &recording.contacts;
    let name = |side: u32| table.names.get(side as usize).map_or("", String::as_str);
    write_atomically(path, |out| {
        writeln!(out, "{HEAD}")?;
        for line in &table.lines {
            let [first, second] = line.sides.map(|side| quoted(name(side)));
            write!(out, "{:?},{first},{second}", line.time)?;
            let numbers = line.point.iter().chain(&line.normal).chain([&line.gap]);
            for number in numbers.chain(&line.force).chain(&line.torque).chain(&line.slip()) {
                write!(out, ",{number:?}")?;
            }
            writeln!(out, ",{}", line.state.name())?;
        }
        Ok(())
    })
}

/// A table as it was written: names of columns, and their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadTable {
    /// Names of the columns, with their units.
    pub names: Vec<String>,
    /// The numbers of each column; NaN where a word stands.
    pub columns: Vec<Vec<f64>>,
    /// The first word of each column that has words and no number.
    pub words: Vec<Option<String>>,
}

/// Why a table cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// There is no line with names.
    #[error("the table is empty: a first line with the names of columns is missing")]
    Empty,
    /// A line has more or fewer values than there are names.
    #[error("line {line} has {found} values, but there are {expected} columns")]
    Width {
        /// The line, counted from one.
        line: usize,
        /// Names.
        expected: usize,
        /// Values of the line.
        found: usize,
    },
    /// A quote that is not closed.
    #[error("a quote in line {line} is not closed")]
    Quote {
        /// The line, counted from one.
        line: usize,
    },
}

/// Reads a table of comma-separated values with names in its first line, as the writers here write
/// them. Names in quotes stand for what is in these.
///
/// # Errors
/// [`TableError`] with the line.
pub fn read_table(text: &str) -> Result<ReadTable, TableError> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let (line, head) = lines.next().ok_or(TableError::Empty)?;
    let names = fields(head, line + 1)?;
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let mut words: Vec<Option<String>> = vec![None; names.len()];
    for (line, text) in lines {
        let values = fields(text, line + 1)?;
        if values.len() != names.len() {
            return Err(TableError::Width {
                line: line + 1,
                expected: names.len(),
                found: values.len(),
            });
        }
        for ((column, word), value) in columns.iter_mut().zip(&mut words).zip(&values) {
            let value = value.trim();
            let number = value.parse();
            if number.is_err() && !value.is_empty() && word.is_none() {
                *word = Some(value.to_owned());
            }
            column.push(number.unwrap_or(f64::NAN));
        }
    }
    for (column, word) in columns.iter().zip(&mut words) {
        if column.iter().any(|x| !x.is_nan()) {
            *word = None;
        }
    }
    Ok(ReadTable {
        names,
        columns,
        words,
    })
}

/// The fields of a line, without their quotes.
fn fields(text: &str, line: usize) -> Result<Vec<String>, TableError> {
    let mut out = vec![String::new()];
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        let last = out.len() - 1;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                out[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(String::new()),
            c => out[last].push(c),
        }
    }
    match quoted {
        true => Err(TableError::Quote { line }),
        false => Ok(out),
    }
}

/// A point of a path of equilibria.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathLine {
    /// Load factor.
    pub load: f64,
    /// Largest force that is missing, over the size of its terms.
    pub residual: f64,
    /// Negative eigenvalues of the tangent on the constraints, where they were counted.
    pub negative_modes: Option<usize>,
    /// Directions in which nothing resists.
    pub free_modes: usize,
    /// Iterations from the point before.
    pub iterations: usize,
}

/// Writes the table of a path of equilibria: a line per point, which begins with its number from
/// zero.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_path_csv(
    path: &Path,
    points: impl IntoIterator<Item = PathLine>,
) -> Result<Written, ExportError> {
    write_atomically(path, |out| {
        writeln!(out, "point,load,residual,negative_modes,free_modes,iterations")?;
        for (k, point) in points.into_iter().enumerate() {
            let modes = point.negative_modes.map_or(String::new(), |n| n.to_string());
            writeln!(
                out,
                "{k},{:?},{:?},{modes},{},{}",
                point.load, point.residual, point.free_modes, point.iterations
            )?;
        }
        Ok(())
    })
}

/// A name as a cell. Spreadsheets run cells that begin like a formula: these get an apostrophe,
/// which makes them text.
pub fn quoted(name: &str) -> Cow<'_, str> {
    let is_formula = name.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    if is_formula || name.contains([',', ';', '"', '\t', '\n', '\r']) {
        let apostrophe = if is_formula { "'" } else { "" };
        Cow::Owned(format!("\"{apostrophe}{}\"", name.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(name)
    }
}
