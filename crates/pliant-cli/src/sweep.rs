//! `pliant sweep`.

use crate::arguments::{Arguments, Command, Scene, Sweep, SweepPlan};
use crate::interrupt;
use crate::progress::JobWatch;
use crate::table::Table;
use crate::{BAD_SCENE, INTERRUPTED, JOBS_FAILED, NOT_WRITTEN, complain};
use clap::Parser;
use pliant_scene::scene::SceneFile;
use pliant_sweep::SweepError;
use pliant_sweep::axis::{Axis, check_names, product};
use pliant_sweep::execute::{Executor, Failure};
use pliant_sweep::manifest::{Job, Manifest, PROGRAM};
use pliant_sweep::plan::{Common, plan};
use pliant_sweep::result::{Found, look};
use pliant_sweep::reuse::reuse;
use pliant_sweep::table::{Results, collect};
use pliant_sweep::tables::{Format, TableFile};
use std::collections::BTreeMap;
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
        SweepError::Write(_) => NOT_WRITTEN,
        _ => BAD_SCENE,
    }
}

fn begin(arguments: &Sweep) -> Result<u8, SweepError> {
    let (manifest, directory) = match &arguments.manifest {
        Some(path) => (Manifest::load(path)?, folder(path)),
        None => planned(&arguments.plan)?,
    };
    manifest.jobs.iter().try_for_each(check)?;
    let tables = tables(arguments, &directory)?;
    if arguments.dry_run {
        crate::print(&manifest.to_text().unwrap_or_default());
        return Ok(0);
    }
    let _lock = pliant_sweep::manifest::take(&directory)?;
    if arguments.manifest.is_none() {
        manifest.write(&directory)?;
        reuse(&directory, &manifest)?;
    } else if let Some(change) = manifest.changed_input(&directory) {
        let help = "make the sweep anew from its scene".to_owned();
        return Err(SweepError::Setting {
            message: change,
            help: Some(help),
        });
    }
    run(arguments, &manifest, &directory, &tables)
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
    let outside = &arguments.allow_outside;
    let own = Scene {
        path: path.clone(),
        set: Vec::new(),
        allow_outside: outside.clone(),
        max_elements: arguments.max_elements,
        max_file_size: arguments.max_file_size,
    };
    let scene = own.load()?;
    let points = points(arguments, &scene)?;
    let built = scene.build(&own.settings(arguments.step, arguments.duration))?;
    let mut further = Vec::new();
    if let Some(most) = arguments.max_elements {
        further.push(format!("--max-elements={most}"));
    }
    if let Some(most) = arguments.max_file_size {
        further.push(format!("--max-file-size={most}"));
    }
    let common = Common {
        duration: arguments.duration,
        step: arguments.step,
        checkpoint_every: arguments.checkpoint_every.clone(),
        allow_outside: outside.clone(),
        further,
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
        return Err(SweepError::Setting {
            message: "nothing varies".to_owned(),
            help: Some("as in `--set k=1,2,5`, `--set k=linspace(0,1,11)` or `--list points.csv`".to_owned()),
        });
    }
    product(&axes, arguments.max_jobs)
}

/// Checks that a job is a run of this program which writes into its directory alone.
fn check(job: &Job) -> Result<(), SweepError> {
    let wrong = |what: String| SweepError::Setting {
        message: format!("job `{}` {what}", job.id.escape_debug()),
        help: None,
    };
    if job.program != PROGRAM {
        return Err(wrong(format!(
            "is of the program `{}`: only `{PROGRAM}` is run",
            job.program.escape_debug()
        )));
    }
    let words = [PROGRAM]
        .into_iter()
        .chain(job.arguments.iter().map(String::as_str));
    let parsed = Arguments::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        wrong(format!(
            "has arguments that do not fit: {}",
            line.trim_start_matches("error: ")
        ))
    })?;
    match parsed.command {
        Command::Run(run) if run.out.as_deref() != Some(Path::new(&job.directory)) => {
            Err(wrong("must have its `--out` in its directory".to_owned()))
        }
        Command::Run(run) if run.dump_failed_solve.is_some() => Err(wrong(
            "may write into its directory alone, without `--dump-failed-solve`".to_owned(),
        )),
        Command::Run(_) => Ok(()),
        _ => Err(wrong("must be a `run`".to_owned())),
    }
}

/// The files of the table, which can be written.
fn tables(arguments: &Sweep, directory: &Path) -> Result<Vec<TableFile>, SweepError> {
    if arguments.table.is_empty() {
        return Ok(vec![TableFile {
            path: directory.join("table.csv"),
            format: Format::Csv,
        }]);
    }
    let files = arguments.table.iter().map(|path| TableFile::named(path));
    files.collect()
}

fn run(
    arguments: &Sweep,
    manifest: &Manifest,
    directory: &Path,
    tables: &[TableFile],
) -> Result<u8, SweepError> {
    let is_missing = |job: &Job| matches!(look(directory, job), Found::Missing(_));
    let all = 0..manifest.jobs.len();
    let missing: Vec<usize> = all.filter(|k| is_missing(&manifest.jobs[*k])).collect();
    let kept = manifest.jobs.len() - missing.len();
    tables.iter().try_for_each(TableFile::clear)?;
    let stop = interrupt::requested(arguments.quiet, interrupt::SWEEP);
    let mut failures = BTreeMap::new();
    if !arguments.collect {
        failures = execute(arguments, manifest, directory, &missing, &stop)?;
    }
    let results = collect(directory, manifest, &failures);
    for table in tables {
        table.write(&results.table)?;
    }
    results.seconds.write_csv(&directory.join("times.csv"))?;
    if !arguments.quiet {
        report(&results, manifest, directory, kept, tables);
    }
    Ok(code(&results, stop.load(Ordering::Relaxed), manifest))
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
        workers: arguments.jobs.map_or_else(cores, NonZeroUsize::get),
        fail_fast: arguments.fail_fast,
    };
    let kept = manifest.jobs.len() - missing.len();
    let mut watch = JobWatch::new(arguments.quiet, manifest, kept);
    let failures = executor.run(manifest, missing, stop, |event| watch.see(event));
    watch.end();
    Ok(failures)
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
    if interrupted {
        complain(&format!(
            "interrupted: {} of {} jobs have results; the same command goes on",
            counts.ok + counts.failed,
            manifest.jobs.len()
        ));
        return INTERRUPTED;
    }
    if counts.failed > 0 {
        complain(&format!(
            "error: {} of {} jobs failed",
            counts.failed,
            manifest.jobs.len()
        ));
        return JOBS_FAILED;
    }
    if results.unknown.is_empty() { 0 } else { BAD_SCENE }
}

fn report(results: &Results, manifest: &Manifest, directory: &Path, kept: usize, tables: &[TableFile]) {
    let counts = results.counts;
    let mut table = Table::default();
    table.row(
        "sweep",
        format!("{} jobs in {}", manifest.jobs.len(), directory.display()),
    );
    let ended = manifest.jobs.len() - kept - counts.missing;
    table.row(
        "jobs",
        format!(
            "{ended} were run, {kept} had results, {} are missing",
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
    for file in tables {
        let (rows, columns) = (results.table.rows.len(), results.table.columns.len());
        table.row(
            "table",
            format!("{}, {rows} rows, {columns} columns", file.path.display()),
        );
    }
    table.print();
}
