//! `pliant run`.

mod brief;
mod details;
pub(crate) mod lines;
mod team;

use crate::arguments::Run;
use crate::interrupt;
use crate::progress::Watch;
use crate::table::number;
use crate::{BAD_SCENE, FAILED, INTERRUPTED, NOT_CONVERGED, NOT_WRITTEN, complain};
use pliant::solvers::KktSystem;
use pliant_lab::exchange::{Layout, Record};
use pliant_output::atomic::{check_writable, write_atomically};
use pliant_run::problem::{WriteProblemError, write_problem};
use pliant_run::{
    CheckpointError, Outcome, ResultDirectory, Runner, SavedMoment, Summary, is_unsolved, write_into,
    write_result_into,
};
use pliant_scene::{SceneError, StateFile};
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use team::Team;

/// Where complaints go: to standard error, or to whoever runs the job.
type Say<'a> = &'a mut dyn FnMut(&str);

pub(crate) fn run(arguments: &Run) -> u8 {
    // Ahead of the scene, which may take long: a signal in the meantime ends the run after a step.
    let stop = interrupt::requested(arguments.quiet, interrupt::RUN);
    if arguments.stop_at_eof {
        interrupt::watch_input(Arc::clone(&stop));
    }
    run_until(arguments, &stop, &mut complain)
}

/// Runs a scene until its end, or until `stop` is set. `say` is told what is wrong. Returns the
/// exit code.
pub(crate) fn run_until(arguments: &Run, stop: &AtomicBool, say: Say<'_>) -> u8 {
    let team = match Team::begin(arguments) {
        Ok(team) => team,
        Err(error) => {
            say(&error.to_string());
            return BAD_SCENE;
        }
    };
    if team.speaks() {
        return run_with(&team, arguments, stop, say);
    }
    let silent = Run {
        out: None,
        no_files: true,
        dump_failed_solve: None,
        save: None,
        checkpoint_every: None,
        verbose: false,
        json: false,
        quiet: true,
        ..arguments.clone()
    };
    run_with(&team, &silent, stop, &mut |_| {})
}

/// Runs a scene as one of the processes of a team.
fn run_with(team: &Team, arguments: &Run, stop: &AtomicBool, say: Say<'_>) -> u8 {
    let begun = match prepare(arguments, team) {
        Ok(runner) => begin(arguments, runner, say),
        Err(error) => {
            if arguments.json {
                crate::print(&lines::refused(&error));
            }
            say(&error.to_string());
            Err(BAD_SCENE)
        }
    };
    // All of them begin or none.
    let worst = team.worst(begun.as_ref().err().copied().unwrap_or(0));
    let (begun, directory) = match begun {
        Ok(begun) if worst == 0 => begun,
        Ok(_) => return worst,
        Err(code) => return code,
    };
    let runner = match team.join(begun.runner, begun.from) {
        Ok(runner) => runner,
        Err(error) => {
            say(&error.to_string());
            return BAD_SCENE;
        }
    };
    let mut watch = match arguments.json {
        true => Watch::lines(),
        false => Watch::new(arguments.quiet, runner.steps_planned()),
    };
    let mut outcome = runner.run_while(|progress| {
        watch.step(&progress);
        match team.any(stop.load(Ordering::Relaxed)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    watch.end();
    let interrupted = outcome.summary.status == "interrupted";
    let mut code = outcome.error.as_ref().map_or(0, code_of);
    if interrupted {
        code = INTERRUPTED;
    }
    outcome.parquet = arguments.parquet;
    let files = directory.map(|mut directory| {
        let write = if arguments.only_result {
            write_result_into
        } else {
            write_into
        };
        let written = write(&mut directory, &outcome).unwrap_or_else(|error| {
            for one in &error.errors {
                say(&format!("error: {one}"));
            }
            // A failed run matters more than a file that could not be written.
            code = if code == 0 { NOT_WRITTEN } else { code };
            error.written
        });
        (directory.path().to_owned(), written)
    });
    let saved = save(arguments, &outcome).unwrap_or_else(|error| {
        say(&format!("error: {error}"));
        code = if code == 0 { NOT_WRITTEN } else { code };
        None
    });
    let dumped = match dump(arguments, &mut outcome) {
        Ok(dumped) => dumped,
        Err(error) => {
            say(&format!("error: {error}"));
            None
        }
    };
    print_summary(arguments, &outcome.summary, files.as_ref());
    if let (Some(path), false) = (saved, arguments.quiet || arguments.json) {
        crate::print(&format!("state      {}\n", path.display()));
    }
    if let Some(error) = &outcome.error {
        say(&format!("error: {error}"));
        if let Some(path) = &arguments.save {
            say(&format!("{} is not written: the run failed", path.display()));
        }
    }
    if let Some(error) = &outcome.checkpoint_error {
        say(&format!("error: a checkpoint could not be written: {error}"));
        code = if code == 0 { NOT_WRITTEN } else { code };
    }
    if interrupted {
        let (time, duration) = (number(outcome.summary.time), number(outcome.summary.duration));
        say(&format!(
            "interrupted at t = {time} s of {duration} s: the results are those up to there{}",
            match outcome.checkpoint.is_empty() {
                true => "",
                false => "; the same command with `--resume` goes on",
            }
        ));
    }
    if let Some(path) = dumped {
        say(&format!(
            "the failed solve is in {path}; try: pliant solve {path} --all",
            path = path.display()
        ));
    }
    code
}

/// Prints how a run went, as the arguments ask: `files` are its directory and what was written.
fn print_summary(arguments: &Run, summary: &Summary, files: Option<&(PathBuf, Vec<PathBuf>)>) {
    match arguments {
        _ if arguments.json => crate::print(&lines::end(summary, files)),
        _ if arguments.quiet => {}
        _ if arguments.verbose => details::report(summary, files).print_with_legend(details::LEGEND),
        _ => brief::report(summary, files).print(),
    }
}

/// A run that begins.
struct Begun {
    runner: Runner,
    /// The moment from which it goes on, if that is not the start.
    from: Option<SavedMoment>,
}

/// The run with its checkpoints and the directory of its results, or the exit code of why it does
/// not begin.
fn begin(arguments: &Run, runner: Runner, say: Say<'_>) -> Result<(Begun, Option<ResultDirectory>), u8> {
    // Ahead of the first step: nobody waits for results that have no place.
    if let Some(path) = &arguments.save {
        let free = check_writable(path).map_err(|e| e.to_string());
        free.and_then(|()| check_state(path)).map_err(|error| {
            say(&format!("error: {error}"));
            NOT_WRITTEN
        })?;
    }
    let directory = (!arguments.no_files).then(|| ResultDirectory::take(&directory_of(arguments)));
    let directory = directory.transpose().map_err(|error| {
        say(&format!("error: {error}"));
        NOT_WRITTEN
    })?;
    let runner = match &directory {
        Some(directory) => keep_checkpoints(runner, directory, arguments, say),
        None => Ok(Begun { runner, from: None }),
    };
    match runner {
        Ok(begun) => Ok((begun, directory)),
        Err(error) => {
            say(&format!("error: {error}"));
            Err(match error {
                CheckpointError::File(_) => NOT_WRITTEN,
                _ => BAD_SCENE,
            })
        }
    }
}

/// Refuses to write a state over a file that is none, such as the scene.
fn check_state(path: &Path) -> Result<(), String> {
    let mut first = [0; 64];
    let Ok(mut file) = File::open(path) else {
        return Ok(());
    };
    let read = file
        .read(&mut first)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    if read == 0 || StateFile::is_begun(&first[..read]) {
        return Ok(());
    }
    let path = path.display();
    Err(format!(
        "{path} is there and is no state: `--save` writes over states alone"
    ))
}

/// Writes the state at the end of a run that did not fail, where that is asked for.
fn save<'a>(arguments: &'a Run, outcome: &Outcome) -> Result<Option<&'a Path>, String> {
    let (Some(path), Some(state), None) = (&arguments.save, &outcome.state, &outcome.error) else {
        return Ok(None);
    };
    let state = state.as_ref().map_err(|e| format!("{}: {e}", path.display()))?;
    let written = write_atomically(path, |out| out.write_all(state.to_text().as_bytes()));
    written.map(|_| Some(path.as_path())).map_err(|e| e.to_string())
}

/// Writes the system of a failed solve, if there is one and it is asked for.
fn dump(arguments: &Run, outcome: &mut Outcome) -> Result<Option<PathBuf>, WriteProblemError> {
    let Some(dir) = &arguments.dump_failed_solve else {
        return Ok(None);
    };
    let (statement, what) = match (outcome.failed_contacts.take(), &outcome.failed_solve) {
        (Some(problem), _) => (*problem, "failed-contacts"),
        (None, Some(system)) => (KktSystem::clone(system).into(), "failed-solve"),
        (None, None) => return Ok(None),
    };
    // A scene may be named as no file beside others can be.
    let stem = arguments
        .scene
        .path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = stem.chars().map(plain).collect();
    let mut record = Record::new(format!("{name}-{what}"), statement);
    record.about = outcome
        .error
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    record.source = format!(
        "pliant {}, scene {}, step {} from t = {} s",
        env!("CARGO_PKG_VERSION"),
        outcome.summary.title,
        outcome.summary.steps + 1,
        outcome.summary.time
    );
    write_problem(dir, &record, Layout::Separate).map(Some)
}

/// The scene in its initial state.
fn prepare(arguments: &Run, team: &Team) -> Result<Runner, SceneError> {
    if arguments.parquet && !cfg!(feature = "parquet") {
        let help = "`cargo build --release -p pliant-cli --features parquet` builds one with it; tables in \
                    `.csv` are always there";
        return Err(SceneError::Setting {
            message: "this program was built without Parquet, which `--parquet` asks for".to_owned(),
            help: Some(help.to_owned()),
        });
    }
    let settings = arguments
        .scene
        .settings(Some(&arguments.timing), arguments.threads);
    let built = arguments.scene.load().and_then(|scene| scene.build(&settings));
    let built = built.and_then(|built| arguments.timing.check(&built).map(|()| built));
    let mut runner = Runner::new(team.engage(built)?)?;
    if arguments.save.is_some() {
        runner = runner.with_state();
    }
    if arguments.no_files || arguments.only_result {
        Ok(runner.without_recording())
    } else if arguments.trajectory {
        runner.with_trajectory().with_room()
    } else {
        runner.with_room()
    }
}

/// The run with its checkpoints, from the one that is there if it is to go on.
fn keep_checkpoints(
    mut runner: Runner,
    directory: &ResultDirectory,
    arguments: &Run,
    say: Say<'_>,
) -> Result<Begun, CheckpointError> {
    let every = arguments.checkpoint_every;
    let from = match (arguments.resume_or_start, arguments.resume) {
        // Without a checkpoint that is whole it begins anew.
        (true, _) => runner.read_checkpoint(directory, every).ok(),
        (false, true) => Some(runner.read_checkpoint(directory, every)?),
        (false, false) => None,
    };
    match &from {
        None => runner = runner.keep_checkpoints(directory, every)?,
        Some(moment) if arguments.resume && !arguments.quiet => say(&format!(
            "resumed at t = {} s, after {} steps",
            number(moment.time()),
            moment.steps()
        )),
        Some(_) => {}
    }
    Ok(Begun { runner, from })
}

/// The directory of the results: `out/` and the name of the scene, if none is given.
fn directory_of(arguments: &Run) -> PathBuf {
    let scene = &arguments.scene.path;
    let default = || Path::new("out").join(scene.file_stem().unwrap_or(scene.as_os_str()));
    arguments.out.clone().unwrap_or_else(default)
}

pub(crate) fn code_of(error: &pliant::Error) -> u8 {
    if is_unsolved(error) { NOT_CONVERGED } else { FAILED }
}
