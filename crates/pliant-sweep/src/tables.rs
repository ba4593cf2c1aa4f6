//! Files of tables, by the extension of their names.

use crate::SweepError;
use crate::table::Table;
use pliant_output::ExportError;
use pliant_output::atomic::check_writable;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet; with the feature `parquet`.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// A table to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
}

impl TableFile {
    /// A file by its name, which can be written.
    ///
    /// # Errors
    /// [`SweepError::Setting`] if the extension is neither `csv` nor `parquet`, or if this program
    /// was built without the latter; [`SweepError::Write`] if the file cannot be written.
    pub fn named(path: &Path) -> Result<Self, SweepError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let format = match extension.as_deref() {
            Some("csv") => Format::Csv,
            #[cfg(feature = "parquet")]
            Some("parquet") => Format::Parquet,
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => {
                let message = format!(
                    "this program was built without Parquet, which {} asks for",
                    path.display()
                );
                let help = "`cargo build --release -p pliant-cli --features parquet` builds one with it; \
                            `.csv` is always there";
                return Err(SweepError::setting(message, Some(help.to_owned())));
            }
            _ => {
                let message = format!("{} is no table by its name", path.display());
                let help = "tables end in `.csv` or `.parquet`".to_owned();
                return Err(SweepError::setting(message, Some(help)));
            }
        };
        check_writable(path)?;
        Ok(Self {
            path: path.to_owned(),
            format,
        })
    }

    /// Removes the table of an earlier sweep, so that it does not pass for that of this one.
    ///
    /// # Errors
    /// [`SweepError::Write`].
    pub fn clear(&self) -> Result<(), SweepError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ExportError::io(&self.path, error).into())
            }
            _ => Ok(()),
        }
    }

    /// Writes the table; the file is complete or absent.
    ///
    /// # Errors
    /// [`SweepError::Write`].
    pub fn write(&self, table: &Table) -> Result<(), SweepError> {
        match self.format {
            Format::Csv => table.write_csv(&self.path),
            #[cfg(feature = "parquet")]
            Format::Parquet => crate::columns::write_parquet(table, &self.path),
        }
    }
}
