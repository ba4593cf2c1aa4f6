//! `pliant sweep`.

use crate::arguments::{Arguments, Command, Scene, Sweep, SweepPlan};
use crate::interrupt;
use crate::progress::JobWatch;
use crate::table::Table;
use crate::{BAD_SCENE, INTERRUPTED, JOBS_FAILED, NOT_WRITTEN, complain};
use clap::{CommandFactory, FromArgMatches};
use pliant_scene::SceneFile;
use pliant_sweep::SweepError;
use pliant_sweep::axis::{Axis, check_names, product};
use pliant_sweep::execute::{Executor, Failure};
use pliant_sweep::manifest::{Job, MANIFEST, Manifest, PROGRAM};
use pliant_sweep::plan::{Common, plan};
use pliant_sweep::result::{Found, look};
use pliant_sweep::reuse::{JOBS, KEPT, keep, reuse};
use pliant_sweep::table::{Results, collect};
use pliant_sweep::tables::{Content, TableFile, check_apart};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Failed jobs that are named at the end.
const SHOWN: usize = 5;

pub(crate) fn sweep(arguments: &Sweep) -> u8 {
    match begin(arguments) {
        Ok(code) => code,
        Err(error) => {
            complain(&error.to_string());
            code_of(&error)
        }
    }
}

fn code_of(error: &SweepError) -> u8 {
    match error {
        SweepError::Write(_) | SweepError::Thread { .. } => NOT_WRITTEN,
        _ => BAD_SCENE,
    }
}

fn begin(arguments: &Sweep) -> Result<u8, SweepError> {
    let (manifest, directory) = match &arguments.manifest {
        Some(path) => {
            let manifest = Manifest::load(path)?;
            if !arguments.collect {
                check(&manifest.jobs)?;
            }
            (manifest, folder(path))
        }
        None => planned(&arguments.plan)?,
    };
    if arguments.dry_run {
        crate::print(&manifest.to_text()?);
        return Ok(0);
    }
    if arguments.collect && arguments.manifest.is_none() {
        check_there(&manifest, &directory)?;
    }
    let files = Files::of(arguments, &manifest, &directory)?;
    let _lock = files.take()?;
    let kept = begin_in(arguments, &manifest, &directory)?;
    run(arguments, &manifest, &files, kept)
}

/// Checks that a directory has this very sweep, which may be asked for other quantities.
fn check_there(manifest: &Manifest, directory: &Path) -> Result<(), SweepError> {
    let path = directory.join(MANIFEST);
    let (place, file) = (directory.display(), path.display());
    let (message, help) = match Manifest::load(&path) {
        Ok(there) if there.jobs == manifest.jobs => return Ok(()),
        Ok(_) => (
            format!("the sweep in {place} is of other values, or of another scene"),
            format!("`--manifest {file} --collect` collects it; without `--collect` this one is run"),
        ),
        Err(SweepError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => (
            format!("there is no sweep in {place}"),
            "without `--collect` it is run".to_owned(),
        ),
        Err(error) => return Err(error),
    };
    let help = Some(help);
    Err(SweepError::Setting { message, help })
}

/// Writes the manifest into the directory of the sweep, and moves results to the places of their
/// jobs and out of those of others. Returns how many of others were moved.
fn begin_in(arguments: &Sweep, manifest: &Manifest, directory: &Path) -> Result<usize, SweepError> {
    if arguments.manifest.is_none() {
        manifest.write(directory)?;
    } else if !arguments.collect
        && let Some(message) = manifest.changed_input(directory)
    {
        let help = Some("make the sweep anew from its scene".to_owned());
        return Err(SweepError::Setting { message, help });
    }
    reuse(directory, manifest)?;
    if arguments.collect {
        return Ok(0);
    }
    keep(directory, manifest)
}

/// The files of a sweep.
struct Files<'a> {
    directory: &'a Path,
    tables: Vec<TableFile>,
    times: TableFile,
}

impl<'a> Files<'a> {
    /// The files, none of which is one that the sweep reads.
    fn of(arguments: &Sweep, manifest: &Manifest, directory: &'a Path) -> Result<Self, SweepError> {
        let own = |name: &str| TableFile::named(&directory.join(name));
        let given = arguments.table.iter().map(|path| TableFile::named(path));
        let mut tables: Vec<TableFile> = given.collect::<Result<_, _>>()?;
        if tables.is_empty() {
            tables.push(own("table.csv")?);
        }
        let times = own("times.csv")?;
        let mut taken = vec![(times.path.clone(), "the table of times")];
        for list in &arguments.plan.list {
            taken.push((list.clone(), "a list of this sweep"));
        }
        for file in arguments.plan.scene.iter().chain(&arguments.manifest) {
            taken.push((file.clone(), "what the sweep is made from"));
        }
        for input in &manifest.inputs {
            taken.push((directory.join(&input.path), "an input of the scene"));
        }
        check_apart(&tables, &taken)?;
        Ok(Self {
            directory,
            tables,
            times,
        })
    }

    /// Takes the directory, and checks that all tables can be written: those that are elsewhere
    /// first, so that a directory is not made in vain.
    fn take(&self) -> Result<File, SweepError> {
        let is_inside = |table: &&TableFile| table.is_inside(self.directory);
        let (inside, elsewhere): (Vec<&TableFile>, _) = self.tables.iter().partition(is_inside);
        elsewhere
            .iter()
            .try_for_each(|table| table.check(Content::Results))?;
        let lock = pliant_sweep::manifest::take(self.directory)?;
        inside
            .iter()
            .try_for_each(|table| table.check(Content::Results))?;
        self.times.check(Content::Times)?;
        Ok(lock)
    }

    /// Removes the tables of an earlier sweep.
    fn clear(&self) -> Result<(), SweepError> {
        let mut all = self.tables.iter().chain([&self.times]);
        all.try_for_each(TableFile::clear)
    }
}

/// The directory that a file is in.
fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The manifest of a scene and the values of its parameters, and its directory.
fn planned(arguments: &SweepPlan) -> Result<(Manifest, PathBuf), SweepError> {
    let path = arguments.scene.clone().unwrap_or_default();
    let own = Scene {
        path: path.clone(),
        set: Vec::new(),
        bounds: arguments.bounds.clone(),
    };
    let scene = own.load()?;
    let points = points(arguments, &scene)?;
    let built = scene.build(&own.settings(Some(&arguments.timing)))?;
    let common = Common {
        checkpoint_every: arguments.checkpoint_every.clone(),
        allow_outside: arguments.bounds.allow_outside.clone(),
        further: [arguments.timing.words(), arguments.bounds.words()].concat(),
        all_files: arguments.all_files,
        quantities: arguments.result.clone(),
    };
    let directory = arguments.out.clone().unwrap_or_else(|| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Path::new("out").join(format!("{stem}-sweep"))
    });
    Ok((plan(&scene, &built, &points, &common, &directory)?, directory))
}

/// All points of the parameters.
fn points(arguments: &SweepPlan, scene: &SceneFile) -> Result<Axis, SweepError> {
    let known: Vec<&str> = scene.schema().parameters.keys().map(String::as_str).collect();
    let mut axes = Vec::new();
    for path in &arguments.list {
        axes.push(Axis::load_list(path, &known)?);
    }
    for text in &arguments.set {
        let axis = Axis::parse("--set", text)?;
        check_names(&axis, &known)?;
        axes.push(axis);
    }
    if axes.is_empty() {
        let message = "nothing varies".to_owned();
        let help = "as in `--set k=1,2,5`, `--set k=linspace(0,1,11)` or `--list points.csv`";
        let help = Some(help.to_owned());
        return Err(SweepError::Setting { message, help });
    }
    product(&axes, arguments.max_jobs)
}

/// Checks that jobs are runs of this program which write into their directories alone.
fn check(jobs: &[Job]) -> Result<(), SweepError> {
    // Made once: for each job it would take longer than all the rest.
    let mut command = Arguments::command();
    for job in jobs {
        if let Err(what) = flaw(&mut command, job) {
            let message = format!("job `{}` {what}", job.id.escape_debug());
            return Err(SweepError::Setting { message, help: None });
        }
    }
    Ok(())
}

/// Says why a job is no run that may be started, if it is none.
fn flaw(command: &mut clap::Command, job: &Job) -> Result<(), String> {
    if job.program != PROGRAM {
        let program = job.program.escape_debug();
        return Err(format!("is of the program `{program}`: only `{PROGRAM}` is run"));
    }
    let words = [PROGRAM]
        .into_iter()
        .chain(job.arguments.iter().map(String::as_str));
    let matches = command.try_get_matches_from_mut(words);
    let parsed = matches.and_then(|matches| Arguments::from_arg_matches(&matches));
    let parsed = parsed.map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        let line = line.trim_start_matches("error: ");
        format!("has arguments that do not fit: {line}")
    })?;
    match parsed.command {
        Command::Run(run) if run.out.as_deref() != Some(Path::new(&job.directory)) => {
            Err("must have its `--out` in its directory".to_owned())
        }
        Command::Run(run) if run.dump_failed_solve.is_some() => {
            Err("may write into its directory alone, without `--dump-failed-solve`".to_owned())
        }
        Command::Run(_) => Ok(()),
        _ => Err("must be a `run`".to_owned()),
    }
}

fn run(arguments: &Sweep, manifest: &Manifest, files: &Files<'_>, others: usize) -> Result<u8, SweepError> {
    let directory = files.directory;
    let is_missing = |job: &Job| matches!(look(directory, job), Found::Missing(_));
    let all = 0..manifest.jobs.len();
    let missing: Vec<usize> = all.filter(|k| is_missing(&manifest.jobs[*k])).collect();
    let kept = manifest.jobs.len() - missing.len();
    let mut failures = BTreeMap::new();
    let mut interrupted = false;
    if !arguments.collect {
        files.clear()?;
        let stop = interrupt::requested(arguments.quiet, interrupt::SWEEP);
        failures = execute(arguments, manifest, directory, &missing, &stop)?;
        interrupted = stop.load(Ordering::Relaxed);
    }
    let results = collect(directory, manifest, &failures);
    for table in &files.tables {
        table.write(&results.table)?;
    }
    files.times.write(&results.seconds)?;
    if !arguments.quiet {
        report(&results, files, kept, others);
    }
    Ok(code(&results, interrupted, manifest))
}

fn execute(
    arguments: &Sweep,
    manifest: &Manifest,
    directory: &Path,
    missing: &[usize],
    stop: &std::sync::atomic::AtomicBool,
) -> Result<BTreeMap<usize, Failure>, SweepError> {
    let program = std::env::current_exe().map_err(|source| SweepError::Read {
        path: PathBuf::from(PROGRAM),
        source,
    })?;
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let executor = Executor {
        directory,
        program: &program,
        workers: arguments.jobs.unwrap_or_else(cores),
        fail_fast: arguments.fail_fast,
    };
    let kept = manifest.jobs.len() - missing.len();
    let mut watch = JobWatch::new(arguments.quiet, manifest, kept);
    let failures = executor.run(manifest, missing, stop, |event| watch.see(event));
    watch.end();
    failures
}

/// The exit code, and what there is to say about it.
fn code(results: &Results, interrupted: bool, manifest: &Manifest) -> u8 {
    let counts = results.counts;
    for (path, help) in &results.unknown {
        let help = help
            .as_ref()
            .map_or_else(String::new, |help| format!("\n = help: {help}"));
        complain(&format!(
            "error: no result has `{path}`: its column is empty{help}"
        ));
    }
    // A signal that came as the last job ended has interrupted nothing.
    if interrupted && counts.missing + counts.interrupted > 0 {
        complain(&format!(
            "interrupted: {} of {} jobs have results; the same command goes on",
            counts.with_result,
            manifest.jobs.len()
        ));
        return INTERRUPTED;
    }
    if counts.failed + counts.interrupted > 0 {
        // A job alone may be interrupted, too.
        let interrupted = match counts.interrupted {
            0 => String::new(),
            count => format!(", {count} were interrupted"),
        };
        complain(&format!(
            "error: {} of {} jobs failed{interrupted}",
            counts.failed,
            manifest.jobs.len()
        ));
        return JOBS_FAILED;
    }
    if results.unknown.is_empty() { 0 } else { BAD_SCENE }
}

fn report(results: &Results, files: &Files<'_>, kept: usize, others: usize) {
    let counts = results.counts;
    let (rows, columns) = (results.table.rows.len(), results.table.columns.len());
    let mut table = Table::default();
    table.row("sweep", format!("{rows} jobs in {}", files.directory.display()));
    let interrupted = match counts.interrupted {
        0 => String::new(),
        count => format!(", {count} interrupted"),
    };
    let ended = rows.saturating_sub(kept + counts.missing + counts.interrupted);
    table.row(
        "jobs",
        format!(
            "{ended} were run, {kept} had results, {} are missing{interrupted}",
            counts.missing
        ),
    );
    table.row("results", format!("{} ok, {} failed", counts.ok, counts.failed));
    for (job, error) in results.failed.iter().take(SHOWN) {
        table.row("", format!("{job}: {error}"));
    }
    if results.failed.len() > SHOWN {
        let more = results.failed.len() - SHOWN;
        table.row("", format!("and {more} more: they are in the table"));
    }
    if others > 0 {
        let place = format!("{JOBS}/{KEPT}*, where they are found again");
        table.row(
            "",
            format!("{others} of other values or scenes are now in {place}"),
        );
    }
    for file in &files.tables {
        table.row(
            "table",
            format!("{}, {rows} rows, {columns} columns", file.path.display()),
        );
    }
    table.print();
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_sweep::table::Counts;

    /// A sweep is interrupted if there is something left of it.
    #[test]
    fn a_signal_after_the_last_job_interrupts_nothing() {
        let whole = Counts {
            ok: 2,
            failed: 1,
            with_result: 3,
            ..Counts::default()
        };
        let part = Counts { missing: 1, ..whole };
        let cut = Counts {
            interrupted: 1,
            ..whole
        };
        for (counts, code) in [(whole, JOBS_FAILED), (part, INTERRUPTED), (cut, INTERRUPTED)] {
            let results = Results {
                counts,
                ..Results::default()
            };
            assert_eq!(
                super::code(&results, true, &Manifest::default()),
                code,
                "{counts:?}"
            );
        }
    }
}
