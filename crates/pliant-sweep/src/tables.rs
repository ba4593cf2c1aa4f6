//! Files of tables, by the extension of their names.

use crate::SweepError;
use crate::paths::real;
use crate::table::Table;
use pliant_output::ExportError;
use pliant_output::atomic::check_writable;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// First bytes of tables of sweeps: those of a column `job`, alone or not.
const STARTS: [&[u8]; 2] = [b"job,", b"job\n"];

/// Columns that a table of results has side by side.
const OF_RESULTS: &[u8] = b",status,error_kind,error,warnings";

/// First and last bytes of Parquet files.
const PARQUET: &[u8; 4] = b"PAR1";

/// A column of tables of results, as Parquet files name it near their ends.
const IN_PARQUET: &[u8] = b"error_kind";

/// Bytes at the beginning or at the end of a file in which names of columns are looked for.
const MOST_NAMES: u64 = 16 << 20;

/// Content of a table of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A row for each job.
    Results,
    /// The seconds of jobs.
    Times,
}

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
    /// A file by its name.
    ///
    /// # Errors
    /// [`SweepError::Setting`] if the extension is neither `csv` nor `parquet`, or if this program
    /// was built without the latter.
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
        Ok(Self {
            path: path.to_owned(),
            format,
        })
    }

    /// Whether the file is below a directory, however both are written.
    pub fn is_inside(&self, directory: &Path) -> bool {
        real(&self.path).starts_with(real(directory))
    }

    /// Checks that the table can be written now, and that nothing is lost by it: what stands in its
    /// place, if anything, is a table of a sweep with such content.
    ///
    /// # Errors
    /// [`SweepError::Write`].
    pub fn check(&self, content: Content) -> Result<(), SweepError> {
        let refuse = |why: String| Err(ExportError::io(&self.path, io::Error::other(why)).into());
        if let Some(parent) = self.path.parent()
            && !parent.as_os_str().is_empty()
            && matches!(fs::metadata(parent), Err(error) if error.kind() == io::ErrorKind::NotFound)
        {
            return refuse(format!(
                "there is no directory {}; make it first, or choose another file",
                parent.display()
            ));
        }
        check_writable(&self.path)?;
        match is_of_a_sweep(&self.path, content) {
            Ok(true) => Ok(()),
            Ok(false) => {
                refuse("what is there is no table of a sweep; remove it, or choose another file".to_owned())
            }
            Err(error) => Err(ExportError::io(&self.path, error).into()),
        }
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

/// Whether a path is free, or that of a file which a sweep wrote by all that its columns say.
fn is_of_a_sweep(path: &Path, content: Content) -> io::Result<bool> {
    let size = match fs::metadata(path) {
        // A link that leads nowhere is not free.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(fs::symlink_metadata(path).is_err());
        }
        Err(error) => return Err(error),
        // To open a pipe is to wait for whoever writes it.
        Ok(there) if !there.is_file() => return Ok(false),
        Ok(there) => there.len(),
    };
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(PARQUET.len() as u64).read_to_end(&mut start)?;
    let is_parquet = start == PARQUET;
    if is_parquet {
        start.clear();
        file.seek(SeekFrom::Start(size.saturating_sub(MOST_NAMES)))?;
    }
    file.take(MOST_NAMES).read_to_end(&mut start)?;
    if is_parquet {
        return Ok(start.ends_with(PARQUET) && holds(&start, IN_PARQUET));
    }
    let first = start
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let begins = STARTS.iter().any(|known| first.starts_with(known));
    Ok(begins && (content == Content::Times || holds(first, OF_RESULTS)))
}

/// Whether some bytes are in others.
fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Checks that no table is a file that the sweep reads or writes otherwise, or another table,
/// however their paths are written. `taken` are these files with what they are.
///
/// # Errors
/// [`SweepError::Setting`].
pub fn check_apart(tables: &[TableFile], taken: &[(PathBuf, &str)]) -> Result<(), SweepError> {
    let mut known: Vec<(PathBuf, &str)> = taken.iter().map(|(path, what)| (real(path), *what)).collect();
    for table in tables {
        let path = real(&table.path);
        if let Some((_, what)) = known.iter().find(|(other, _)| *other == path) {
            let message = format!("the table {} is {what} at the same time", table.path.display());
            return Err(SweepError::setting(
                message,
                Some("choose another file".to_owned()),
            ));
        }
        known.push((path, "another table"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::Cell;

    /// Files are told by their columns, and not by their first bytes alone.
    #[test]
    fn tables_of_sweeps_are_told_from_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        for (text, of_results, of_times) in [
            (
                "job,parameters.k,status,error_kind,error,warnings,time\n",
                true,
                true,
            ),
            ("job,status,error_kind,error,warnings\n0001,ok,,,0\n", true, true),
            ("job,total\n0001,1.0\n", false, true),
            ("job\n", false, true),
            (
                "job,hours\n1,2\nx,status,error_kind,error,warnings\n",
                false,
                true,
            ),
            ("jobs,status,error_kind,error,warnings\n", false, false),
            ("job", false, false),
            ("", false, false),
            ("\n", false, false),
            ("PAR1 error_kind PAR1", true, true),
            ("PAR1 error_kind", false, false),
            ("PAR1 kind PAR1", false, false),
            ("PAR1", false, false),
            ("PAR", false, false),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(
                is_of_a_sweep(&path, Content::Results).unwrap(),
                of_results,
                "{text}"
            );
            assert_eq!(is_of_a_sweep(&path, Content::Times).unwrap(), of_times, "{text}");
        }
        fs::remove_file(&path).unwrap();
        assert!(is_of_a_sweep(&path, Content::Results).unwrap());
        assert!(!is_of_a_sweep(dir.path(), Content::Results).unwrap());
    }

    /// Whatever is written is known again.
    #[test]
    fn written_tables_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let columns = ["job", "status", "error_kind", "error", "warnings"];
        let table = Table {
            columns: columns.map(str::to_owned).to_vec(),
            rows: vec![vec![Cell::Missing; columns.len()]],
        };
        let mut names = vec!["t.csv"];
        if cfg!(feature = "parquet") {
            names.push("t.parquet");
        }
        for name in names {
            let file = TableFile::named(&dir.path().join(name)).unwrap();
            file.write(&table).unwrap();
            file.check(Content::Results).unwrap();
        }
    }
}
