//! The energy that the scheme takes of the shipped scenes, by the linear step and by SDIRK2.

use super::Ended;
use pliant::prelude::*;
use pliant_run::{Outcome, Runner};
use pliant_scene::{SceneError, SceneFile, Settings};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Scenes that take minutes: only if they are named.
const LONG: [&str; 1] = ["bowl"];

/// A scene by a method.
enum Run {
    /// A scene of statics, which does not move.
    Still,
    /// The method does not take it, as the linear step where a material yields.
    Refused,
    /// The outcome, and how long the run took (s).
    Ended(Box<Outcome>, f64),
}

/// Runs a scene by a method, with that method's standard choices and all else as the scene has it.
fn run_by(file: &Path, integrator: Integrator) -> Result<Run, Box<dyn Error>> {
    let mut built = SceneFile::load(file)?.build(&Settings::default())?;
    if built.statics.is_some() {
        return Ok(Run::Still);
    }
    let standard = Options::default();
    let options = &mut built.options;
    options.integrator = integrator;
    (options.alpha, options.beta) = (standard.alpha, standard.beta);
    (options.geometry, options.gyroscopic) = (standard.geometry, standard.gyroscopic);
    (options.pre_stabilisation, options.post_stabilisation) = (None, None);
    let runner = match Runner::new(built) {
        Err(SceneError::Simulation { .. }) => return Ok(Run::Refused),
        runner => runner?,
    };
    let clock = Instant::now();
    let outcome = runner.run(|_| {});
    Ok(Run::Ended(Box::new(outcome), clock.elapsed().as_secs_f64()))
}

/// The numerical part of the ledger of a run as a share of the energy that it turned over: the
/// largest kinetic energy, change of the potential one, or sum of what all causes moved.
fn numerical_share(outcome: &Outcome) -> f64 {
    let ledger = &outcome.summary.ledger;
    let is_cause = |name: &str| !matches!(name, "kinetic" | "potential" | "numerical");
    let moved: f64 = ledger.iter().filter(|e| is_cause(e.0)).map(|e| e.1.abs()).sum();
    let samples = &outcome.recording.samples;
    let potential = samples.first().map_or(0.0, |s| s.potential);
    let turned_over = samples.iter().fold(moved, |most, s| {
        most.max(s.kinetic).max((s.potential - potential).abs())
    });
    ledger["numerical"] / turned_over
}

fn scenes(named: &[String]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        let stem = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        let wanted = match named {
            [] => !LONG.contains(&stem),
            _ => named.iter().any(|n| n == stem),
        };
        if wanted && file.extension().is_some_and(|e| e == "ron") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

pub(super) fn run(arguments: &[String]) -> Ended {
    println!(
        "| scene | `Theta`: numerical, % | s | `Sdirk2`: numerical, % | s | steps by one stage, halvings |\n\
         |---|---|---|---|---|---|"
    );
    for file in scenes(arguments)? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let mut cells = Vec::new();
        for integrator in [Integrator::Theta, Integrator::Sdirk2] {
            let (outcome, seconds) = match run_by(&file, integrator)? {
                Run::Still => continue,
                Run::Refused => {
                    cells.push("refused | -".to_owned());
                    continue;
                }
                Run::Ended(outcome, seconds) => (outcome, seconds),
            };
            let share = 100.0 * numerical_share(&outcome);
            let ended = outcome
                .error
                .as_ref()
                .map_or_else(String::new, |e| format!(" ({e})"));
            cells.push(format!("{share:.2}{ended} | {seconds:.2}"));
            let summary = outcome.summary;
            if summary.two_stage_steps + summary.one_stage_steps > 0 {
                let (single, halved) = (summary.one_stage_steps, summary.newton_halvings);
                cells.push(format!("{single} of {}, {halved}", summary.steps));
            }
        }
        if !cells.is_empty() {
            println!("| `{name}` | {} |", cells.join(" | "));
        }
    }
    Ok(ExitCode::SUCCESS)
}
