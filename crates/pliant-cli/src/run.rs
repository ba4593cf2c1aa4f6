//! `pliant run`.

use crate::arguments::Run;
use crate::interrupt;
use crate::progress::Watch;
use crate::table::{Table, number, triple};
use crate::{BAD_SCENE, FAILED, INTERRUPTED, NOT_CONVERGED, NOT_WRITTEN, complain};
use pliant::contact::FrictionCoupling;
use pliant::solvers::KktSystem;
use pliant_lab::exchange::{Layout, Record};
use pliant_run::problem::{WriteProblemError, write_problem};
use pliant_run::{
    CertificateSummary, CheckpointError, Energy, EnergyShare, Outcome, ResultDirectory, Runner,
    StaticsSummary, Summary, TreatmentState, is_unsolved, write_into, write_result_into,
};
use pliant_scene::SceneError;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Entries of the ledger that are changes, not their reasons.
const ENERGIES: [&str; 2] = ["kinetic", "potential"];

/// Share of the largest part of what is numerical below which a part is left out.
const NOTABLE: f64 = 1e-6;

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
    let runner = match prepare(arguments) {
        Ok(runner) => runner,
        Err(error) => {
            say(&error.to_string());
            return BAD_SCENE;
        }
    };
    let (runner, directory) = match begin(arguments, runner, say) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let mut watch = Watch::new(arguments.quiet, runner.steps_planned());
    let mut outcome = runner.run_while(|progress| {
        watch.step(&progress);
        match stop.load(Ordering::Relaxed) {
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
    let dumped = match dump(arguments, &mut outcome) {
        Ok(dumped) => dumped,
        Err(error) => {
            say(&format!("error: {error}"));
            None
        }
    };
    if !arguments.quiet {
        report(&outcome.summary, files.as_ref()).print();
    }
    if let Some(error) = &outcome.error {
        say(&format!("error: {error}"));
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

/// The run with its checkpoints and the directory of its results, or the exit code of why it does
/// not begin.
fn begin(arguments: &Run, runner: Runner, say: Say<'_>) -> Result<(Runner, Option<ResultDirectory>), u8> {
    // Ahead of the first step: nobody waits for results that have no place.
    let directory = (!arguments.no_files).then(|| ResultDirectory::take(&directory_of(arguments)));
    let directory = directory.transpose().map_err(|error| {
        say(&format!("error: {error}"));
        NOT_WRITTEN
    })?;
    let runner = match &directory {
        Some(directory) => keep_checkpoints(runner, directory, arguments, say),
        None => Ok(runner),
    };
    match runner {
        Ok(runner) => Ok((runner, directory)),
        Err(Refusal::Scene(error)) => {
            say(&error.to_string());
            Err(BAD_SCENE)
        }
        Err(Refusal::Checkpoint(error)) => {
            say(&format!("error: {error}"));
            Err(match error {
                CheckpointError::File(_) => NOT_WRITTEN,
                _ => BAD_SCENE,
            })
        }
    }
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
fn prepare(arguments: &Run) -> Result<Runner, SceneError> {
    let scene = arguments.scene.load()?;
    let built = scene.build(&arguments.scene.settings(Some(&arguments.timing)))?;
    let runner = Runner::new(built)?;
    if arguments.no_files || arguments.only_result {
        Ok(runner.without_recording())
    } else {
        runner.with_room()
    }
}

/// Why a run does not start.
enum Refusal {
    Scene(SceneError),
    Checkpoint(CheckpointError),
}

impl From<SceneError> for Refusal {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl From<CheckpointError> for Refusal {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

/// The run with its checkpoints, from the one that is there if it is to go on.
fn keep_checkpoints(
    runner: Runner,
    directory: &ResultDirectory,
    arguments: &Run,
    say: Say<'_>,
) -> Result<Runner, Refusal> {
    let every = arguments.checkpoint_every;
    if arguments.resume_or_start {
        // A checkpoint that is not whole may have changed the runner: another one begins anew.
        return match runner.resume(directory, every) {
            Ok(runner) => Ok(runner),
            Err(_) => Ok(prepare(arguments)?.keep_checkpoints(directory, every)?),
        };
    }
    if !arguments.resume {
        return Ok(runner.keep_checkpoints(directory, every)?);
    }
    let runner = runner.resume(directory, every)?;
    if !arguments.quiet {
        say(&format!(
            "resumed at t = {} s, after {} steps",
            number(runner.simulation().time()),
            runner.steps_taken()
        ));
    }
    Ok(runner)
}

/// The directory of the results: `out/` and the name of the scene, if none is given.
fn directory_of(arguments: &Run) -> PathBuf {
    let scene = &arguments.scene.path;
    let default = || Path::new("out").join(scene.file_stem().unwrap_or(scene.as_os_str()));
    arguments.out.clone().unwrap_or_else(default)
}

fn code_of(error: &pliant::Error) -> u8 {
    if is_unsolved(error) { NOT_CONVERGED } else { FAILED }
}

/// The result of statics: how it ended, and where stability changes.
fn statics_rows(table: &mut Table, statics: &StaticsSummary, seconds: f64) {
    let end = match statics.end.as_ref() {
        "points" => "the points ran out before the last load factor",
        other => other,
    };
    let counts = format!(
        "{} point{}, {} iterations, {} tangents factored in {seconds:.2} s; end: {end}",
        statics.load.len(),
        if statics.load.len() == 1 { "" } else { "s" },
        statics.iterations.iter().sum::<usize>(),
        statics.factorisations,
    );
    table.row("statics", counts);
    if statics.load.is_empty() {
        return;
    }
    if let (Some(first), Some(last)) = (statics.load.first(), statics.load.last()) {
        let largest = statics.load.iter().fold(f64::NEG_INFINITY, |a, l| a.max(*l));
        let range = format!(
            "from {} to {}, at most {}",
            number(*first),
            number(*last),
            number(largest)
        );
        table.row("load factor", range);
    }
    let modes = match statics.negative_modes.last() {
        Some(Some(0)) => "stable".to_owned(),
        Some(Some(n)) => format!("a saddle: {n} negative modes"),
        _ => "stability not known".to_owned(),
    };
    let free = statics.free_modes.last().copied().unwrap_or(0);
    let free = if free > 0 {
        format!(", {free} free directions")
    } else {
        String::new()
    };
    table.row("at the end", format!("{modes}{free}"));
    for c in &statics.critical {
        let (before, behind) = c.negative_modes;
        let modes = format!("{before} -> {behind} negative modes");
        table.row(c.kind.clone(), format!("at {}, {modes}", number(c.load)));
    }
}

fn step_rows(table: &mut Table, summary: &Summary) {
    let seconds = summary.seconds;
    let rate = summary.steps as f64 / seconds.total.max(1e-9);
    let length = match &summary.adaptive {
        None => number(summary.step),
        Some(a) => format!("{:.1e} to {:.1e}", a.smallest, a.largest),
    };
    table.row(
        "steps",
        format!(
            "{} of {length} s, {} steps/s",
            summary.steps,
            number(rate.round())
        ),
    );
    if let Some(a) = &summary.adaptive {
        let counts = format!(
            "{} trials rejected, {} not solved; error at most {} of what is allowed; {} events{}{}{}",
            a.rejected,
            a.failed,
            number(a.worst_error),
            a.events,
            if a.passed > 0 {
                format!(", in {} steps too many to look for", a.passed)
            } else {
                String::new()
            },
            match a.jumps {
                0 => String::new(),
                jumps => format!(
                    "; in {jumps} steps jumps left out, up to {} m or rad and {} m/s or rad/s",
                    number(a.jump_position),
                    number(a.jump_velocity)
                ),
            },
            if a.at_rest { "; at rest" } else { "" }
        );
        table.row("", counts);
    }
    for saying in &summary.said {
        let (time, event) = (number(saying.time), &saying.event);
        table.row("event", format!("`{event}` at {time} s: {}", saying.text));
    }
    if let Some(stop) = &summary.stopped_by {
        table.row("stopped", format!("by `{}` at {} s", stop.event, number(stop.time)));
    }
    table.row(
        "time",
        format!("{} s simulated in {:.2} s", number(summary.time), seconds.total),
    );
    let per_step = |s: f64| number(s / summary.steps.max(1) as f64 * 1e6);
    table.row(
        "per step",
        format!(
            "fill {}, factor {}, solve {}, stabilise {}, contacts {}, update {}, rejected {} us",
            per_step(seconds.fill),
            per_step(seconds.factor),
            per_step(seconds.solve),
            per_step(seconds.stabilise),
            per_step(seconds.contacts),
            per_step(seconds.update),
            per_step(seconds.rejected)
        ),
    );
}

fn report(summary: &Summary, files: Option<&(PathBuf, Vec<PathBuf>)>) -> Table {
    let mut table = Table::default();
    let seconds = summary.seconds;
    table.row("scene", format!("{} ({})", summary.title, summary.scene));
    table.row(
        "system",
        format!("{} dofs, {} rows", summary.sizes.dofs, summary.sizes.rows),
    );
    match &summary.statics {
        Some(statics) => statics_rows(&mut table, statics, seconds.total),
        None => step_rows(&mut table, summary),
    }
    // Where there is no equilibrium nothing has a residual.
    if summary.statics.as_ref().is_none_or(|s| !s.load.is_empty()) {
        table.row(
            "residual",
            format!("{:.1e} relative at worst", summary.residual.worst),
        );
        table.row(
            "violation",
            format!(
                "{:.1e} at worst, {:.1e} at the end",
                summary.violation.worst, summary.violation.last
            ),
        );
    }
    let motion = summary.statics.is_none();
    if motion {
        motion_rows(&mut table, summary);
    } else {
        table.row("redundant", format!("at most {} rows", summary.redundant_rows));
        let (a, b) = (summary.energy_start.potential, summary.energy_end.potential);
        table.row("potential", format!("{} -> {} J", number(a), number(b)));
    }
    if !summary.treatments.is_empty() {
        let one = |(name, choice): (&String, &TreatmentState)| format!("{name}: {}", choice.treatment);
        let list: Vec<_> = summary.treatments.iter().map(one).collect();
        table.row("treatment", list.join(", "));
    }
    if let Some(c) = &summary.contacts {
        let counts = format!(
            "at most {}, {} with a force, {} slipping, in {} islands; {} iterations",
            c.most, c.most_active, c.most_slipping, c.most_islands, c.iterations
        );
        table.row("contacts", counts);
        let quality = format!(
            "residual {:.1e} at worst; overlap {:.1e} m at worst, {:.1e} at the end; {} corrections; work {} J",
            c.residual.worst,
            c.overlap.worst,
            c.overlap.last,
            c.corrections,
            number(c.work)
        );
        table.row("", quality);
        if let Some([a, b]) = &c.unsolved_by {
            let stays = format!(
                "warning: {} corrections of overlap have no solution, as of {a} and {b}: the overlap stays",
                c.unsolved
            );
            table.row("", stays);
        }
        if c.friction_coupling != FrictionCoupling::Exact {
            let law = format!(
                "friction is coupled by `{:?}`; De Saxcé's residual {:.1e} at worst",
                c.friction_coupling, c.de_saxce.worst
            );
            table.row("", law);
        }
        if c.fallbacks > 0 {
            let law = format!(
                "{} steps had no solution within the accuracy and the operations, and took `friction_fallback`; De Saxcé's residual {:.1e} at worst",
                c.fallbacks, c.de_saxce.worst
            );
            table.row("", law);
        }
        if c.most_asleep > 0 {
            let (asleep, taken) = (c.asleep, number(c.stilled));
            let sleep = format!(
                "{asleep} asleep at the end, at most {}; it took {taken} J",
                c.most_asleep
            );
            table.row("", sleep);
        }
    }
    if motion {
        table.row("momentum", format!("{} kg m/s", triple(summary.momentum)));
    }
    if let Some((dir, written)) = files {
        let names: Vec<_> = written.iter().filter_map(|f| f.file_name()?.to_str()).collect();
        let names = match names.as_slice() {
            [] => "none could be written".to_owned(),
            names => names.join(", "),
        };
        table.row("files", format!("{}: {names}", dir.display()));
    }
    for (k, warning) in summary.warnings.iter().enumerate() {
        table.row(if k == 0 { "warnings" } else { "" }, warning.clone());
    }
    table.row("status", summary.status);
    table
}

/// Lines of the certificate: equations, energy, error of a step.
fn certificate_rows(table: &mut Table, worst: &CertificateSummary) {
    table.row(
        "misses",
        format!(
            "equations {:.1e} of their terms at worst, hard rows {:.1e} m or rad, contacts and bounds {:.1e} m/s",
            worst.equations, worst.rows, worst.cones
        ),
    );
    let made = |of: &EnergyShare| match of.share {
        0.0 => "none".to_owned(),
        share => format!("{share:.1e} of what turns over (t = {} s)", number(of.time)),
    };
    let (step, dampers) = (made(&worst.gain), made(&worst.passive_gain));
    let all = made(&worst.since_start);
    table.row(
        "",
        format!(
            "energy from nowhere: in a step {step}, by friction and dampers {dampers}, since the start {all}"
        ),
    );
    if let Some(error) = worst.local_error {
        table.row(
            "",
            format!(
                "a smooth step adds an error of at most {:.1e} m or rad (too large where stiff parts ring)",
                error.position
            ),
        );
    }
}

/// Residuals and energies of the run.
fn motion_rows(table: &mut Table, summary: &Summary) {
    table.row(
        "solver",
        format!(
            "{}, {}{} refinements, at most {} redundant rows, {} factor entries, {} symbolic analyses",
            summary.solver,
            match summary.iterations {
                0 => String::new(),
                n => format!("{n} iterations, "),
            },
            summary.refinements,
            summary.redundant_rows,
            summary.work.factor_entries,
            summary.work.symbolic_analyses
        ),
    );
    table.row(
        "geometry",
        format!(
            "{} extra passes, {} steps clamped",
            summary.extra_geometry_passes, summary.clamped_steps
        ),
    );
    if summary.two_stage_steps + summary.one_stage_steps > 0 {
        table.row(
            "stages",
            format!(
                "{} steps of two, {} of one (impacts, and where two have no solution: order 1), \
                 {} halvings, {} Newton iterations, which leave an error of {:.1e} of the velocities at worst",
                summary.two_stage_steps,
                summary.one_stage_steps,
                summary.newton_halvings,
                summary.newton_iterations,
                summary.stage_velocity_error
            ),
        );
    }
    if summary.two_stage_steps + summary.one_stage_steps == 0 && summary.newton_halvings > 0 {
        table.row(
            "halvings",
            format!(
                "{} of steps that had no solution at their length",
                summary.newton_halvings
            ),
        );
    }
    if let Some(worst) = &summary.certificate {
        certificate_rows(table, worst);
    }
    if let Some(worst) = summary.linearisation.as_ref().filter(|worst| worst.share > 0.0) {
        let text = format!(
            "linear steps miss velocities of {:.2} % of the motion's at worst, t = {} s, most in {} (one \
             step in {} is measured)",
            100.0 * worst.share,
            number(worst.time),
            worst.equation,
            pliant::Tuning::default().linearisation_samples,
        );
        table.row("linearised", text);
    }
    if summary.projected_tangents > 0 {
        table.row(
            "tangents",
            format!("at most {} projected in a step", summary.projected_tangents),
        );
    }
    let (a, b) = (summary.energy_start, summary.energy_end);
    let change = |of: fn(&Energy) -> f64| format!("{} -> {}", number(of(&a)), number(of(&b)));
    table.row(
        "energy",
        format!(
            "total {} J (kinetic {}, potential {})",
            change(|e| e.total),
            change(|e| e.kinetic),
            change(|e| e.potential)
        ),
    );
    table.row(
        "dissipated",
        format!("{} J by damping forces", number(summary.dissipated)),
    );
    let moved = summary
        .ledger
        .iter()
        .filter(|e| *e.1 != 0.0 && !ENERGIES.contains(e.0));
    let mut list: Vec<_> = moved
        .map(|(name, joules)| format!("{name} {}", number(*joules)))
        .collect();
    if list.is_empty() {
        list.push("nothing".to_owned());
    }
    table.row("ledger", format!("{} (J brought in)", list.join(", ")));
    let parts = &summary.numerical;
    let largest = parts.values().fold(0.0f64, |a, p| a.max(p.abs()));
    let notable = parts
        .iter()
        .filter(|p| p.1.abs() > NOTABLE * largest && *p.0 != "undivided");
    let list: Vec<_> = notable
        .map(|(name, joules)| format!("{name} {}", number(*joules)))
        .collect();
    if !list.is_empty() {
        table.row("numerical", format!("{} (J of the ledger's)", list.join(", ")));
    }
}
