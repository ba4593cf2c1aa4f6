//! The files of a run.

use super::Outcome;
use pliant_output::ExportError;
use pliant_output::atomic::write_atomically;
use pliant_output::csv::{write_contacts_csv, write_energy_csv, write_joints_csv, write_path_csv};
use pliant_output::player::write_player;
use pliant_output::plot::write_energy_svg;
use pliant_output::vtk::write_vtk;
use std::path::{Path, PathBuf};

/// Why the files of a run are not complete.
#[derive(Debug, thiserror::Error)]
#[error("{}", .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct WriteError {
    /// The files that were written all the same.
    pub written: Vec<PathBuf>,
    /// The errors; never empty.
    pub errors: Vec<ExportError>,
}

/// Writes everything that a run leaves into the directory `dir` (created if missing):
/// `result.json`, `energy.csv`, `joints.csv` (if there are joints), `contacts.csv` (if anything
/// collides), `path.csv` (of statics), `energy.svg`, `particles.pvd`, `bodies.pvd`, `frames/`,
/// `play.html`. Each file is complete or absent; one that cannot be written does not keep the
/// others from being written. Returns the files to look at, without the frames.
///
/// # Errors
/// [`WriteError`] with all that went wrong.
pub fn write_results(dir: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>, WriteError> {
    let mut written = Vec::new();
    let mut errors = Vec::new();
    if let Err(source) = std::fs::create_dir_all(dir) {
        let errors = vec![ExportError::Io {
            path: dir.to_owned(),
            source,
        }];
        return Err(WriteError { written, errors });
    }
    let recording = &outcome.recording;
    let mut keep = |name: &str, result: Result<(), ExportError>| match result {
        Ok(()) => written.push(dir.join(name)),
        Err(error) => errors.push(error),
    };
    keep("result.json", write_json(&dir.join("result.json"), outcome));
    keep("energy.csv", write_energy_csv(&dir.join("energy.csv"), recording));
    if !recording.joints.columns.is_empty() {
        keep("joints.csv", write_joints_csv(&dir.join("joints.csv"), recording));
    }
    if !recording.contacts.names.is_empty() {
        keep(
            "contacts.csv",
            write_contacts_csv(&dir.join("contacts.csv"), recording),
        );
    }
    if let Some(statics) = &outcome.summary.statics {
        keep("path.csv", write_path_csv(&dir.join("path.csv"), statics.lines()));
    }
    keep("energy.svg", write_energy_svg(&dir.join("energy.svg"), recording));
    keep(
        "play.html",
        write_player(&dir.join("play.html"), recording, outcome.up),
    );
    match write_vtk(dir, recording) {
        Ok(files) => written.extend(
            files
                .into_iter()
                .filter(|f| f.extension().is_some_and(|e| e == "pvd")),
        ),
        Err(error) => errors.push(error),
    }
    if errors.is_empty() {
        Ok(written)
    } else {
        Err(WriteError { written, errors })
    }
}

fn write_json(path: &Path, outcome: &Outcome) -> Result<(), ExportError> {
    write_atomically(path, |out| {
        serde_json::to_writer_pretty(&mut *out, &outcome.summary)?;
        out.write_all(b"\n")
    })
}
