//! The matrices in Matrix Market format, for programs in other languages.

use pliant::solvers::{KktSystem, SolveError};
use pliant_benches::families::{assembled, assembled_rhs};
use std::io::{BufWriter, Error, Write as _};
use std::path::Path;

/// Writes `NAME.mtx`, the whole symmetric matrix by its lower triangle, and `NAME.rhs.mtx`.
pub(crate) fn write(folder: &Path, name: &str, system: &KktSystem) -> Result<(), Error> {
    let file_name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    std::fs::create_dir_all(folder)?;
    let matrix = assembled(system).map_err(|e| Error::other(SolveError::from(e)))?;
    let mut out = BufWriter::new(std::fs::File::create(folder.join(format!("{file_name}.mtx")))?);
    let size = matrix.pattern().rows();
    writeln!(out, "%%MatrixMarket matrix coordinate real symmetric")?;
    writeln!(out, "% {name}: {} variables, {} rows", system.n(), system.m())?;
    writeln!(out, "{size} {size} {}", matrix.values().len())?;
    for i in 0..size {
        let slots = matrix.pattern().row_slots(i);
        for (k, value) in matrix.pattern().row(i).iter().zip(&matrix.values()[slots]) {
            writeln!(out, "{} {} {value:e}", i + 1, k + 1)?;
        }
    }
    out.flush()?;
    let mut out = BufWriter::new(std::fs::File::create(
        folder.join(format!("{file_name}.rhs.mtx")),
    )?);
    writeln!(out, "%%MatrixMarket matrix array real general\n{size} 1")?;
    for value in assembled_rhs(system) {
        writeln!(out, "{value:e}")?;
    }
    out.flush()
}
