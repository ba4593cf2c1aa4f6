//! The energy table as comma-separated values.

use std::borrow::Cow;
use std::path::Path;

use super::ExportError;
use super::atomic::write_atomically;
use crate::recording::Recording;

/// First line of the table: names with units; `residual` is relative, `violation` is in m or rad.
pub const ENERGY_HEADER: &str = "time_s,kinetic_J,potential_J,dissipated_J,total_J,residual,violation";

/// Writes one line per sample of the recording under [`ENERGY_HEADER`].
///
/// `total_J` is kinetic plus potential energy. Numbers are the shortest decimals that read back to the same
/// `f64` (`NaN`, `inf` and `-inf` as such); lines end with a line feed.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_energy_csv(path: &Path, recording: &Recording) -> Result<(), ExportError> {
    write_atomically(path, |out| {
        writeln!(out, "{ENERGY_HEADER}")?;
        for s in &recording.samples {
            // `{:?}` and not `{}`: both round-trip, but only the first writes 1e-300 without 300 zeros.
            writeln!(
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
        }
        Ok(())
    })
}

/// Writes the table of the joints: a line per recorded instant.
///
/// Numbers are written as in the energy table; names with commas or quotes stand in quotes.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_joints_csv(path: &Path, recording: &Recording) -> Result<(), ExportError> {
    write_atomically(path, |out| {
        write!(out, "time_s")?;
        for column in &recording.joints.columns {
            write!(out, ",{}", quoted(column))?;
        }
        writeln!(out)?;
        for line in &recording.joints.lines {
            for (k, number) in line.iter().enumerate() {
                let comma = if k == 0 { "" } else { "," };
                write!(out, "{comma}{number:?}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
