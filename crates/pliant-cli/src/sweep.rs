//! `pliant sweep`.

use crate::arguments::{Scene, Sweep, SweepPlan, Threads, cores};
use crate::interrupt;
use crate::job::{check, check_copies};
use crate::progress::JobWatch;
use crate::table::Table;
use crate::{BAD_SCENE, INTERRUPTED, JOBS_FAILED, NOT_WRITTEN, complain};
use pliant_run::ResultDirectory;
use pliant_scene::SceneFile;
use pliant_sweep::SweepError;
use pliant_sweep::axis::{Axis, check_names, product};
use pliant_sweep::execute::{Ending, Event, Executor, Failure, FailureKind};
use pliant_sweep::manifest::{Job, MANIFEST, Manifest, PROGRAM};
use pliant_sweep::plan::{Common, plan};
use pliant_sweep::result::{Found, look};
use pliant_sweep::reuse::{JOBS, KEPT, keep, reuse};
use pliant_sweep::table::{Results, collect};
use pliant_sweep::tables::{Content, TableFile, check_apart};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Failed jobs that are named at the end.
const SHOWN: usize = 5;

/// The scene or the manifest, as tables that would replace it are told.
const SOURCE: &str = "what the sweep is made from";

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
    let plan = &arguments.plan;
    let mut taken: Vec<(PathBuf, &str)> = Vec::new();
    taken.extend(
        plan.list
            .iter()
            .map(|list| (list.clone(), "a list of this sweep")),
    );
    let sources = plan.scene.iter().chain(&arguments.manifest);
    taken.extend(sources.map(|file| (file.clone(), SOURCE)));
    let files = Files::of(&arguments.table, taken, &manifest, directory)?;
    let lock = files.take()?;
    let moved = begin_in(arguments, &manifest, &files.directory)?;
    let mut sweep = OpenSweep::new(manifest, files, lock, moved, arguments.quiet);
    let mut interrupted = false;
    if !arguments.collect {
        sweep.clear()?;
        let stop = interrupt::requested(arguments.quiet, interrupt::SWEEP);
        sweep.failures = execute(arguments, &mut sweep, &stop)?;
        interrupted = stop.load(Ordering::Relaxed);
    }
    sweep.finish(interrupted)
}

/// Where a sweep is told to be, and where its tables go.
#[derive(Clone, Debug, Default)]
pub struct SweepOptions {
    /// The manifest.
    pub manifest: PathBuf,
    /// The tables; `table.csv` in the directory of the sweep if there are none.
    pub tables: Vec<PathBuf>,
    /// Whether nothing is printed but errors.
    pub quiet: bool,
}

/// A sweep of a manifest whose jobs are run by somebody else. Its directory belongs to it while
/// this value lives.
#[derive(Debug)]
pub struct OpenSweep {
    manifest: Manifest,
    files: Files,
    _lock: File,
    /// Results of other sweeps that were moved.
    moved: usize,
    /// Places of the jobs that had no result at the start.
    missing: Vec<usize>,
    failures: BTreeMap<usize, Failure>,
    watch: JobWatch,
    quiet: bool,
}

impl OpenSweep {
    /// Takes the directory of a manifest as `pliant sweep --manifest` does: all is checked ahead of
    /// the first job, and results are moved to their jobs.
    ///
    /// # Errors
    /// [`SweepError`], with the exit code [`code_of`](Self::code_of).
    pub fn begin(options: &SweepOptions) -> Result<Self, SweepError> {
        let manifest = Manifest::load(&options.manifest)?;
        check(&manifest.jobs)?;
        let taken = vec![(options.manifest.clone(), SOURCE)];
        let files = Files::of(&options.tables, taken, &manifest, folder(&options.manifest))?;
        let lock = files.take()?;
        check_inputs(&manifest, &files.directory)?;
        reuse(&files.directory, &manifest)?;
        let moved = keep(&files.directory, &manifest)?;
        Ok(Self::new(manifest, files, lock, moved, options.quiet))
    }

    /// Removes the tables of an earlier sweep, ahead of the first job.
    ///
    /// # Errors
    /// [`SweepError::Write`].
    pub fn clear(&self) -> Result<(), SweepError> {
        self.files.clear()
    }

    fn new(manifest: Manifest, files: Files, lock: File, moved: usize, quiet: bool) -> Self {
        let is_missing = |job: &Job| matches!(look(&files.directory, job), Found::Missing(_));
        let all = 0..manifest.jobs.len();
        let missing: Vec<usize> = all.filter(|k| is_missing(&manifest.jobs[*k])).collect();
        let watch = JobWatch::new(quiet, &manifest, manifest.jobs.len() - missing.len());
        Self {
            manifest,
            files,
            _lock: lock,
            moved,
            missing,
            failures: BTreeMap::new(),
            watch,
            quiet,
        }
    }

    /// The exit code of the program for an error.
    pub fn code_of(error: &SweepError) -> u8 {
        code_of(error)
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Places in the manifest of the jobs that had no result at the start.
    pub fn missing(&self) -> &[usize] {
        &self.missing
    }

    /// Checks that the missing jobs can be run where nothing is but copies of the inputs, which are
    /// at their places from the current directory.
    ///
    /// # Errors
    /// [`SweepError::Setting`] that names the job; [`SweepError::Scene`] if the scene of the first
    /// one is none there.
    pub fn check_copies(&self) -> Result<(), SweepError> {
        check_copies(&self.manifest, &self.missing)
    }

    /// Whether the result of a job is there.
    pub fn has_result(&self, place: usize) -> bool {
        let job = self.manifest.jobs.get(place);
        job.is_some_and(|job| matches!(look(&self.files.directory, job), Found::Complete(_)))
    }

    /// Shows that a job begins, or that time passes.
    pub fn see(&mut self, event: &Event) {
        self.watch.see(event);
    }

    /// The directory of a job.
    pub fn directory_of(&self, place: usize) -> Option<PathBuf> {
        let job = self.manifest.jobs.get(place)?;
        Some(self.files.directory.join(&job.directory))
    }

    /// Writes the files of a job that was run elsewhere into its directory, the manifest of the run
    /// last. Those of several jobs may be written at the same time.
    ///
    /// # Errors
    /// [`SweepError::Write`] if the directory cannot be had or written.
    pub fn receive(directory: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), SweepError> {
        if !files.is_empty() {
            ResultDirectory::take(directory)?.receive(files)?;
        }
        Ok(())
    }

    /// Ends a job: it has the result that is there, or none because of a failure. Returns whether
    /// its run went through.
    pub fn end(&mut self, place: usize, failure: Option<Failure>) -> bool {
        let Some(job) = self.manifest.jobs.get(place) else {
            return false;
        };
        let event = match (look(&self.files.directory, job), failure) {
            (Found::Complete(result), _) => Event::Complete(place, Ending::of(&result)),
            (Found::Missing(_), Some(failure)) => Event::Failed(place, failure),
            (Found::Missing(why), None) => Event::Failed(place, Failure::new(FailureKind::Changed, why)),
        };
        self.watch.see(&event);
        let went_through = matches!(event, Event::Complete(_, Ending::Through));
        if let Event::Failed(place, failure) = event {
            self.failures.insert(place, failure);
        }
        went_through
    }

    /// Writes the tables, and reports. Returns the exit code.
    ///
    /// # Errors
    /// [`SweepError::Write`] if a table cannot be written.
    pub fn finish(&self, interrupted: bool) -> Result<u8, SweepError> {
        self.watch.end();
        let results = collect(&self.files.directory, &self.manifest, &self.failures);
        for table in &self.files.tables {
            table.write(&results.table)?;
        }
        self.files.times.write(&results.seconds)?;
        if !self.quiet {
            let kept = self.manifest.jobs.len() - self.missing.len();
            report(&results, &self.files, kept, self.moved);
        }
        Ok(code(&results, interrupted, &self.manifest))
    }
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
    } else if !arguments.collect {
        check_inputs(manifest, directory)?;
    }
    reuse(directory, manifest)?;
    if arguments.collect {
        return Ok(0);
    }
    keep(directory, manifest)
}

/// Checks that the inputs of a manifest are as they were.
fn check_inputs(manifest: &Manifest, directory: &Path) -> Result<(), SweepError> {
    match manifest.changed_input(directory) {
        None => Ok(()),
        Some(message) => {
            let help = Some("make the sweep anew from its scene".to_owned());
            Err(SweepError::Setting { message, help })
        }
    }
}

/// The files of a sweep.
#[derive(Debug)]
struct Files {
    directory: PathBuf,
    tables: Vec<TableFile>,
    times: TableFile,
}

impl Files {
    /// The files, none of which is one of those that are `taken`, with what they are, or an input.
    fn of(
        tables: &[PathBuf],
        mut taken: Vec<(PathBuf, &str)>,
        manifest: &Manifest,
        directory: PathBuf,
    ) -> Result<Self, SweepError> {
        let own = |name: &str| TableFile::named(&directory.join(name));
        let given = tables.iter().map(|path| TableFile::named(path));
        let mut tables: Vec<TableFile> = given.collect::<Result<_, _>>()?;
        if tables.is_empty() {
            tables.push(own("table.csv")?);
        }
        let times = own("times.csv")?;
        taken.push((times.path.clone(), "the table of times"));
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
        let is_inside = |table: &&TableFile| table.is_inside(&self.directory);
        let (inside, elsewhere): (Vec<&TableFile>, _) = self.tables.iter().partition(is_inside);
        elsewhere
            .iter()
            .try_for_each(|table| table.check(Content::Results))?;
        let lock = pliant_sweep::manifest::take(&self.directory)?;
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
    let built = scene.build(&own.settings(Some(&arguments.timing), Threads::default()))?;
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
    product(&axes, arguments.max_jobs)
}

fn execute(
    arguments: &Sweep,
    sweep: &mut OpenSweep,
    stop: &AtomicBool,
) -> Result<BTreeMap<usize, Failure>, SweepError> {
    let program = std::env::current_exe().map_err(|source| SweepError::Read {
        path: PathBuf::from(PROGRAM),
        source,
    })?;
    let executor = Executor {
        directory: &sweep.files.directory,
        program: &program,
        workers: arguments.jobs.unwrap_or_else(cores),
        fail_fast: arguments.fail_fast,
    };
    let watch = &mut sweep.watch;
    executor.run(&sweep.manifest, &sweep.missing, stop, |event| watch.see(event))
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

fn report(results: &Results, files: &Files, kept: usize, others: usize) {
    let counts = results.counts;
    let (rows, columns) = (results.table.rows.len(), results.table.columns.len());
    let mut table = Table::default();
    let jobs = if rows == 1 {
        "1 job".to_owned()
    } else {
        format!("{rows} jobs")
    };
    table.row("sweep", format!("{jobs} in {}", files.directory.display()));
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
