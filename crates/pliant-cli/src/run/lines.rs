//! A run as lines of JSON, for programs: each an object with a `kind`.

use crate::check::of_error;
use pliant_run::{Progress, Summary};
use pliant_scene::SceneError;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A line about a step.
pub(crate) fn progress(progress: &Progress<'_>, elapsed: f64) -> String {
    let report = progress.report;
    let line = json!({
        "kind": "progress",
        "step": progress.step,
        "steps": progress.steps,
        "time": report.time,
        "seconds": elapsed,
        "energy": report.energies.total(),
        "residual": report.residual.relative,
    });
    format!("{line}\n")
}

/// The only line of a run that does not begin: what is wrong with the scene, with its place.
pub(super) fn refused(error: &SceneError) -> String {
    let line = json!({"kind": "error", "error": of_error(error)});
    format!("{line}\n")
}

/// The last line: the numbers of `result.json` without the states of nodes and joints and without
/// reactions, the directory of the results and the files there.
pub(super) fn end(summary: &Summary, files: Option<&(PathBuf, Vec<PathBuf>)>) -> String {
    let mut line = json!({"kind": "end"});
    if let (Value::Object(line), Ok(Value::Object(numbers))) = (&mut line, serde_json::to_value(summary)) {
        let large = ["state", "joints", "reactions"];
        line.extend(
            numbers
                .into_iter()
                .filter(|(key, _)| !large.contains(&key.as_str())),
        );
    }
    if let Some((directory, written)) = files {
        line["directory"] = json!(directory.to_string_lossy());
        let names = written.iter().map(|path| path.to_string_lossy());
        line["files"] = names.collect();
    }
    format!("{line}\n")
}
