//! A job of a sweep in this process, for engines that give each job a process of theirs.

use crate::arguments::{Arguments, Command, Run, Threads};
use crate::run::run_until;
use clap::{CommandFactory, FromArgMatches};
use pliant_scene::Number;
use pliant_sweep::SweepError;
use pliant_sweep::execute::{self, CommandEnd, Ending, Failure, FailureKind};
use pliant_sweep::manifest::{Job, Manifest, PROGRAM};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Runs a job of a sweep in this process, whose current directory is that of the manifest, until
/// its end or until `stop` is set: then it ends after its present step, with a checkpoint. Returns
/// how the run ended, if it has a result.
///
/// # Errors
/// [`Failure`] if the job has no result, with why.
pub fn run_job(job: &Job, stop: &AtomicBool) -> Result<Ending, Failure> {
    let mut run = parsed(&mut Arguments::command(), job)
        .map_err(|what| Failure::new(FailureKind::NotStarted, about(job, &what)))?;
    run.quiet = true;
    execute::run_job(
        Path::new(""),
        job,
        stop,
        || {},
        || {
            let mut words = String::new();
            let mut say = |text: &str| {
                words.push_str(text);
                words.push('\n');
            };
            let code = i32::from(run_until(&run, stop, &mut say));
            let status = format!("exit status: {code}");
            let code = Some(code);
            Ok(CommandEnd { code, status, words })
        },
    )
}

/// Checks that jobs are runs of this program which write into their directories alone.
pub(crate) fn check(jobs: &[Job]) -> Result<(), SweepError> {
    // Made once: for each job it would take longer than all the rest.
    let mut command = Arguments::command();
    for job in jobs {
        parsed(&mut command, job).map_err(|what| refusal(about(job, &what)))?;
    }
    Ok(())
}

/// Checks that jobs can be run where nothing is but the inputs of the manifest, at the same places
/// from its directory; and that the scene of the first is good there, where this process is.
pub(crate) fn check_copies(manifest: &Manifest, jobs: &[usize]) -> Result<(), SweepError> {
    let mut command = Arguments::command();
    let inputs: BTreeSet<&Path> = manifest
        .inputs
        .iter()
        .map(|input| Path::new(&input.path))
        .collect();
    let mut first = None;
    for job in jobs.iter().filter_map(|place| manifest.jobs.get(*place)) {
        let run = parsed(&mut command, job).map_err(|what| refusal(about(job, &what)))?;
        if !inputs.contains(run.scene.path.as_path()) {
            let what = "reads a scene that is none of the `inputs`";
            return Err(refusal(about(job, what)));
        }
        if run
            .scene
            .bounds
            .allow_outside
            .iter()
            .any(|path| path.is_absolute())
        {
            let what = "has an absolute path in its `arguments`, which other machines may not have";
            return Err(refusal(about(job, what)));
        }
        first.get_or_insert(run);
    }
    let Some(Run {
        mut scene, timing, ..
    }) = first
    else {
        return Ok(());
    };
    scene.set = Vec::<(String, Number)>::new();
    scene
        .load()?
        .build(&scene.settings(Some(&timing), Threads::default()))?;
    Ok(())
}

fn refusal(message: String) -> SweepError {
    SweepError::Setting { message, help: None }
}

fn about(job: &Job, what: &str) -> String {
    format!("job `{}` {what}", job.id.escape_debug())
}

/// The run that a job is, or why it is none that may be started.
fn parsed(command: &mut clap::Command, job: &Job) -> Result<Run, String> {
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
        Command::Run(run) if run.save.is_some() => {
            Err("may write into its directory alone, without `--save`".to_owned())
        }
        Command::Run(run) => Ok(run),
        _ => Err("must be a `run`".to_owned()),
    }
}
