//! Results that are there in the directory of another job: values were added to an axis, or are in
//! another order, so that jobs have other names than in the sweep before.

use crate::SweepError;
use crate::manifest::{Job, Manifest};
use crate::quantities::find;
use crate::result::{Found, look, whole};
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

/// Moves whole results of other values, or of another scene, out of the places of jobs that are to
/// be run, to names of their own: they are found there by [`reuse`] when they are asked for again.
/// A directory that another process still writes into stays. Returns how many were moved.
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
        let Ok(result) = whole(sweep, &job.directory, &job.result) else {
            continue;
        };
        // A run of this very job that has not all files any more is replaced by the same.
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

/// The results that are in other directories than those of their jobs.
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
    let mut there: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for name in names.iter().filter(|name| !settled.contains(name.as_str())) {
        let directory = format!("{JOBS}/{name}");
        if let Ok(result) = whole(sweep, &directory, &format!("{directory}/{RESULT}")) {
            there.entry(key_of(&result, first)).or_default().push(name);
        }
    }
    let moves = missing.iter().filter_map(|job| {
        let sources = there.get_mut(&key(job.expect.values().map(Some)))?;
        // The same values may be there twice, of which one has all files.
        let fits = sources.iter().position(|name| is_result_of(sweep, name, job))?;
        Some((sources.remove(fits).clone(), name_of(job)?.to_owned()))
    });
    moves.filter(|(source, target)| source != target).collect()
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
