//! Results that are there in the directory of another job: values were added to an axis, or are in
//! another order, so that jobs have other names than in the sweep before.

use crate::SweepError;
use crate::manifest::{Job, Manifest};
use crate::quantities::find;
use crate::result::{Found, look, part, whole};
use pliant_output::ExportError;
use pliant_output::directory::{RESULT, lock};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// The directory of the directories of jobs.
pub const JOBS: &str = "jobs";

/// The beginning of the names of directories of results that no job of the sweep has.
pub const KEPT: &str = "kept-";

/// A directory of a result, and that of the job whose result it is.
type Move = (String, String);

/// Moves results to the directories of their jobs, and what was there out of the way. At every
/// moment, also of a kill, each result is in one place or another, where the next call finds it.
/// Returns how many were moved; none if another process still writes into one of the directories.
///
/// # Errors
/// [`SweepError::Write`] if a directory cannot be read or moved.
pub fn reuse(sweep: &Path, manifest: &Manifest) -> Result<usize, SweepError> {
    let place = sweep.join(JOBS);
    let names = names_in(&place)?;
    let moves = planned(sweep, manifest, &names);
    let (sources, targets): (BTreeSet<&String>, BTreeSet<&String>) =
        moves.iter().map(|(a, b)| (a, b)).unzip();
    let touched = sources.union(&targets).filter(|name| names.contains(**name));
    if touched.into_iter().any(|name| lock(&place.join(name)).is_err()) {
        return Ok(0);
    }
    let rename = |from: &str, to: &str| {
        let (from, to) = (place.join(from), place.join(to));
        fs::rename(&from, &to).map_err(|error| ExportError::io(&from, error))
    };
    let aside = |name: &str| format!(".result-{}-{name}", std::process::id());
    for (source, target) in &moves {
        rename(source, &aside(target))?;
    }
    // What was in the place of a result goes where a result was that has moved.
    let mut free = sources.difference(&targets);
    for (_, target) in &moves {
        if !sources.contains(target)
            && names.contains(target)
            && let Some(name) = free.next()
        {
            rename(target, name)?;
        }
    }
    for (_, target) in &moves {
        rename(&aside(target), target)?;
    }
    Ok(moves.len())
}

/// Moves results of other values, or of another scene, out of the places of jobs that are to be
/// run, to names of their own: they are found there by [`reuse`] when they are asked for again.
/// Results of runs that were interrupted move with their checkpoints. A directory that another
/// process still writes into stays. Returns how many were moved.
///
/// # Errors
/// [`SweepError::Write`] if a directory cannot be moved.
pub fn keep(sweep: &Path, manifest: &Manifest) -> Result<usize, SweepError> {
    let place = sweep.join(JOBS);
    let mut number = 0;
    let mut kept = 0;
    for job in &manifest.jobs {
        let (Found::Missing(_), Some(name)) = (look(sweep, job), name_of(job)) else {
            continue;
        };
        let whole = whole(sweep, &job.directory, &job.result);
        let Ok(result) = whole.or_else(|_| part(sweep, &job.directory, &job.result)) else {
            continue;
        };
        // A run of this very job goes on, or is replaced by the same with all files.
        if key_of(&result, job) == key(job.expect.values().map(Some)) || lock(&place.join(name)).is_err() {
            continue;
        }
        let free = loop {
            number += 1;
            let name = place.join(format!("{KEPT}{number:04}"));
            if fs::symlink_metadata(&name).is_err() {
                break name;
            }
        };
        let from = place.join(name);
        fs::rename(&from, &free).map_err(|error| ExportError::io(&from, error))?;
        kept += 1;
    }
    Ok(kept)
}

/// The results that are in other directories than those of their jobs, whole ones before those of
/// runs that were interrupted.
fn planned(sweep: &Path, manifest: &Manifest, names: &BTreeSet<String>) -> Vec<Move> {
    let is_missing = |job: &&Job| matches!(look(sweep, job), Found::Missing(_));
    let missing: Vec<&Job> = manifest.jobs.iter().filter(is_missing).collect();
    let Some(first) = missing.first() else {
        return Vec::new();
    };
    let lost: BTreeSet<&str> = missing.iter().filter_map(|job| name_of(job)).collect();
    let settled = manifest
        .jobs
        .iter()
        .filter_map(name_of)
        .filter(|name| !lost.contains(name));
    let settled: BTreeSet<&str> = settled.collect();
    let (mut wholes, mut parts) = (Sources::new(), Sources::new());
    for name in names.iter().filter(|name| !settled.contains(name.as_str())) {
        let directory = format!("{JOBS}/{name}");
        let file = format!("{directory}/{RESULT}");
        if let Ok(result) = whole(sweep, &directory, &file) {
            wholes.entry(key_of(&result, first)).or_default().push(name);
        } else if let Ok(result) = part(sweep, &directory, &file) {
            parts.entry(key_of(&result, first)).or_default().push(name);
        }
    }
    let moves = missing.iter().filter_map(|job| {
        let target = name_of(job)?;
        let key = key(job.expect.values().map(Some));
        // The same values may be there twice, of which one has all files.
        let source = take(&mut wholes, &key, |name| is_result_of(sweep, name, job))
            .or_else(|| take(&mut parts, &key, |name| name == target))
            .or_else(|| take(&mut parts, &key, |_| true))?;
        Some((source.clone(), target.to_owned()))
    });
    moves.filter(|(source, target)| source != target).collect()
}

/// Names of the directories of results by the values that jobs expect.
type Sources<'a> = BTreeMap<String, Vec<&'a String>>;

/// Takes a directory with some values that fits.
fn take<'a>(sources: &mut Sources<'a>, key: &str, fits: impl Fn(&str) -> bool) -> Option<&'a String> {
    let names = sources.get_mut(key)?;
    let place = names.iter().position(|name| fits(name))?;
    Some(names.remove(place))
}

/// Whether the result in the directory of some name is all that a job is to leave.
fn is_result_of(sweep: &Path, name: &str, job: &Job) -> bool {
    let directory = format!("{JOBS}/{name}");
    let there = Job {
        result: format!("{directory}/{RESULT}"),
        directory,
        ..job.clone()
    };
    matches!(look(sweep, &there), Found::Complete(_))
}

/// The values of a result that a job expects.
fn key_of(result: &Value, job: &Job) -> String {
    key(job.expect.keys().map(|path| find(result, path)))
}

/// Values as one text, numbers to the bit.
fn key<'a>(values: impl Iterator<Item = Option<&'a Value>>) -> String {
    let text = |value: Option<&Value>| match value.map(|value| (value, value.as_f64())) {
        Some((_, Some(number))) => format!("{:016x}", number.to_bits()),
        Some((value, None)) => value.to_string(),
        None => String::new(),
    };
    values.map(text).collect::<Vec<_>>().join("\n")
}

/// The name of the directory of a job, if it is one of those of [`JOBS`].
fn name_of(job: &Job) -> Option<&str> {
    let name = job.directory.strip_prefix(JOBS)?.strip_prefix('/')?;
    (!name.contains('/')).then_some(name)
}

/// Names of the directories in a directory, if it is there.
fn names_in(place: &Path) -> Result<BTreeSet<String>, SweepError> {
    let failed = |error| ExportError::io(place, error);
    let entries = match fs::read_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.map_err(failed)?,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_output::directory::{Manifest as Run, ManifestEntry};
    use pliant_output::sealed::write_sealed;
    use serde_json::json;

    fn sweep_of(values: &[f64]) -> Manifest {
        let job = |(k, value): (usize, &f64)| Job {
            id: format!("{k}"),
            directory: format!("{JOBS}/{k}"),
            result: format!("{JOBS}/{k}/{RESULT}"),
            expect: BTreeMap::from([("k".to_owned(), (*value).into())]),
            ..Job::default()
        };
        Manifest {
            jobs: values.iter().enumerate().map(job).collect(),
            ..Manifest::default()
        }
    }

    /// Writes what a run leaves, and a checkpoint with its value.
    fn leave(sweep: &Path, name: &str, value: f64, status: &str) {
        let place = sweep.join(JOBS).join(name);
        fs::create_dir_all(&place).unwrap();
        write_sealed(&place.join(RESULT), &json!({"k": value})).unwrap();
        fs::write(place.join("checkpoint"), format!("{value}")).unwrap();
        let entry = ManifestEntry {
            name: RESULT.to_owned(),
            bytes: None,
            crc32: None,
        };
        let run = Run {
            format: "pliant-manifest-1".to_owned(),
            status: status.to_owned(),
            files: vec![entry],
            ..Run::default()
        };
        fs::write(place.join("manifest.json"), serde_json::to_vec(&run).unwrap()).unwrap();
    }

    /// Names of directories with the values of their checkpoints.
    fn there(sweep: &Path) -> Vec<(String, String)> {
        let names = names_in(&sweep.join(JOBS)).unwrap().into_iter();
        let value = |name: &String| fs::read_to_string(sweep.join(JOBS).join(name).join("checkpoint"));
        names.map(|name| (name.clone(), value(&name).unwrap())).collect()
    }

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    /// Runs that were interrupted are kept with their checkpoints, and found by their values.
    #[test]
    fn interrupted_runs_are_kept_and_found() {
        let dir = tempfile::tempdir().unwrap();
        for (name, value, status) in [
            ("0", 1.0, "interrupted"),
            ("1", 2.0, "interrupted"),
            ("2", 3.0, "ok"),
        ] {
            leave(dir.path(), name, value, status);
        }
        // The first goes on in its place, the second makes place, the third moves.
        let other = sweep_of(&[1.0, 3.0, 5.0]);
        assert_eq!(reuse(dir.path(), &other).unwrap(), 1);
        assert_eq!(there(dir.path()), pairs(&[("0", "1"), ("1", "3"), ("2", "2")]));
        assert_eq!(keep(dir.path(), &other).unwrap(), 1);
        assert_eq!(
            there(dir.path()),
            pairs(&[("0", "1"), ("1", "3"), ("kept-0001", "2")])
        );
        let first = sweep_of(&[1.0, 2.0, 3.0]);
        assert_eq!(reuse(dir.path(), &first).unwrap(), 2);
        assert_eq!(keep(dir.path(), &first).unwrap(), 0);
        assert_eq!(there(dir.path()), pairs(&[("0", "1"), ("1", "2"), ("2", "3")]));
        // A whole result of the same values goes first.
        leave(dir.path(), "kept-0009", 2.0, "ok");
        assert_eq!(reuse(dir.path(), &first).unwrap(), 1);
        assert_eq!(there(dir.path())[1], ("1".to_owned(), "2".to_owned()));
        assert!(whole(dir.path(), "jobs/1", "jobs/1/result.json").is_ok());
        // Runs of other kinds are none.
        leave(dir.path(), "1", 7.0, "writing");
        assert_eq!(reuse(dir.path(), &sweep_of(&[7.0])).unwrap(), 0);
    }
}
