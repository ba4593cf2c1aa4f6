//! The result of a job: whether it is there, whole, and of this very job.

use crate::manifest::{Job, PROGRAM};
use crate::quantities::{find, is_same};
use pliant_mesh_io::read_file;
use pliant_output::directory::{Manifest, RESULT, RESULTS};
use pliant_output::sealed::is_intact;
use serde_json::Value;
use std::path::Path;

/// The largest result that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// The state of a job, as its directory has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Its result, complete: of a run that went through, or that failed as it would again.
    Complete(Value),
    /// Nothing that counts, and why.
    Missing(String),
}

impl Found {
    /// The result, if it is complete.
    pub fn complete(self) -> Option<Value> {
        match self {
            Self::Complete(value) => Some(value),
            Self::Missing(_) => None,
        }
    }
}

/// Looks for the result of a job in the directory of its sweep. It counts if the manifest of its
/// run says that all files were written, if its bytes have the checksum that stands in it, and if
/// it holds every value that the job expects.
pub fn look(sweep: &Path, job: &Job) -> Found {
    match complete(sweep, job) {
        Ok(value) => Found::Complete(value),
        Err(why) => Found::Missing(why),
    }
}

fn complete(sweep: &Path, job: &Job) -> Result<Value, String> {
    let value = whole(sweep, &job.directory, &job.result)?;
    let wants_all = job.program == PROGRAM && !job.arguments.iter().any(|word| word == "--only-result");
    if wants_all && !sweep.join(&job.directory).join(RESULTS[1]).exists() {
        return Err(format!("the run wrote {RESULT} alone"));
    }
    for (path, expected) in &job.expect {
        match find(&value, path) {
            Some(found) if is_same(found, expected) => {}
            Some(found) => return Err(format!("`{path}` is {found}, expected {expected}")),
            None => return Err(format!("there is no `{path}`, expected {expected}")),
        }
    }
    Ok(value)
}

/// The complete result that is in a directory, of whatever job, or why there is none.
pub(crate) fn whole(sweep: &Path, directory: &str, result: &str) -> Result<Value, String> {
    read(sweep, directory, result, &["ok", "failed"])
}

/// The result of a run that was interrupted, of whatever job, or why there is none. Its directory
/// has the checkpoint that the run goes on from.
pub(crate) fn part(sweep: &Path, directory: &str, result: &str) -> Result<Value, String> {
    read(sweep, directory, result, &["interrupted"])
}

fn read(sweep: &Path, directory: &str, result: &str, statuses: &[&str]) -> Result<Value, String> {
    let run = Manifest::read(&sweep.join(directory)).map_err(|error| error.to_string())?;
    let run = run.ok_or("there is no result")?;
    if !statuses.contains(&run.status.as_str()) || !run.unwritten.is_empty() {
        return Err(format!("the run has the status `{}`", run.status));
    }
    if run.files.iter().all(|file| file.name != RESULT) {
        return Err(format!("the run wrote no {RESULT}"));
    }
    let bytes =
        read_file(&sweep.join(result), LARGEST).map_err(|error| format!("cannot read {result}: {error}"))?;
    if !is_intact(&bytes) {
        return Err(format!("{result} was changed since it was written"));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("{result}: {error}"))
}
