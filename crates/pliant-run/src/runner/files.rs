//! The files of a run.

use super::{Outcome, StaticsSummary};
use pliant_output::ExportError;
use pliant_output::atomic::Written;
use pliant_output::csv::{write_contacts_csv, write_energy_csv, write_numbers_csv, write_path_csv};
pub use pliant_output::directory::ResultDirectory;
use pliant_output::directory::RunInfo;
#[cfg(feature = "parquet")]
use pliant_output::parquet::{write_numbers_parquet, write_trajectory_parquet};
use pliant_output::player::write_player;
use pliant_output::plot::write_energy_svg;
use pliant_output::sealed::write_sealed;
use pliant_output::trajectory::{has_trajectory, write_trajectory_csv};
use pliant_output::vtk::{collections, write_vtk};
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

impl From<ExportError> for WriteError {
    fn from(error: ExportError) -> Self {
        Self {
            written: Vec::new(),
            errors: vec![error],
        }
    }
}

/// A writer of one file.
type Writer<'a> = Box<dyn Fn(&Path) -> Result<Written, ExportError> + 'a>;

/// Writes everything that a run leaves into the directory `dir` (created if missing), as
/// [`write_into`] does.
///
/// # Errors
/// [`WriteError`] with all that went wrong; if another run has the directory, nothing is written.
pub fn write_results(dir: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>, WriteError> {
    let mut directory = ResultDirectory::take(dir)?;
    write_into(&mut directory, outcome)
}

/// Writes everything that a run leaves into its directory, and removes the results of an earlier
/// run: `result.json`, `energy.csv`, `joints.csv` (if there are joints), `probes.csv` (if anything
/// is recorded), `contacts.csv` (if anything collides), `trajectory.csv` (if it was asked for),
/// `path.csv` (of statics), `energy.svg`, `play.html`, `particles.pvd`, `bodies.pvd`, `solids.pvd`,
/// `sheets.pvd`, `rods.pvd`, `frames/`, and `manifest.json`, which lists them; tables also as
/// `joints.parquet`, `probes.parquet` and `trajectory.parquet`, if [`Outcome::parquet`] asks for
/// it. Each file is complete or absent; one that cannot be written does not keep the others from
/// being written. The checkpoint goes when a run is complete. Returns the files to look at, without
/// the frames and the manifest.
///
/// # Errors
/// [`WriteError`] with all that went wrong.
pub fn write_into(directory: &mut ResultDirectory, outcome: &Outcome) -> Result<Vec<PathBuf>, WriteError> {
    write(directory, outcome, true)
}

/// Writes `result.json` and the manifest alone, and removes the results of an earlier run as
/// [`write_into`] does.
///
/// # Errors
/// [`WriteError`] with all that went wrong.
pub fn write_result_into(
    directory: &mut ResultDirectory,
    outcome: &Outcome,
) -> Result<Vec<PathBuf>, WriteError> {
    write(directory, outcome, false)
}

/// The files of a run beside those for ParaView, and whether each is wanted.
fn files_of(outcome: &Outcome, all: bool) -> Vec<(&'static str, bool, Writer<'_>)> {
    let (recording, summary) = (&outcome.recording, &outcome.summary);
    let [joints, probes] = [&recording.joints, &recording.probes].map(|t| all && !t.columns.is_empty());
    let contacts = all && !recording.contacts.names.is_empty();
    let trajectory = all && has_trajectory(recording);
    let statics = summary.statics.as_ref().filter(|_| all);
    #[cfg_attr(
        not(feature = "parquet"),
        expect(unused_mut, reason = "Parquet files come behind the others")
    )]
    let mut files: Vec<(&'static str, bool, Writer<'_>)> = vec![
        ("result.json", true, Box::new(|path| write_json(path, outcome))),
        (
            "energy.csv",
            all,
            Box::new(|path| write_energy_csv(path, recording)),
        ),
        (
            "joints.csv",
            joints,
            Box::new(|path| write_numbers_csv(path, &recording.joints)),
        ),
        (
            "probes.csv",
            probes,
            Box::new(|path| write_numbers_csv(path, &recording.probes)),
        ),
        (
            "contacts.csv",
            contacts,
            Box::new(|path| write_contacts_csv(path, recording)),
        ),
        (
            "trajectory.csv",
            trajectory,
            Box::new(|path| write_trajectory_csv(path, recording)),
        ),
        (
            "path.csv",
            statics.is_some(),
            Box::new(move |path| write_path_csv(path, statics.into_iter().flat_map(StaticsSummary::lines))),
        ),
        (
            "energy.svg",
            all,
            Box::new(|path| write_energy_svg(path, recording)),
        ),
        (
            "play.html",
            all,
            Box::new(|path| write_player(path, recording, outcome.up)),
        ),
    ];
    #[cfg(feature = "parquet")]
    files.extend::<[(&'static str, bool, Writer<'_>); 3]>([
        (
            "joints.parquet",
            joints && outcome.parquet,
            Box::new(|path| write_numbers_parquet(path, &recording.joints)),
        ),
        (
            "probes.parquet",
            probes && outcome.parquet,
            Box::new(|path| write_numbers_parquet(path, &recording.probes)),
        ),
        (
            "trajectory.parquet",
            trajectory && outcome.parquet,
            Box::new(|path| write_trajectory_parquet(path, recording)),
        ),
    ]);
    files
}

fn write(directory: &mut ResultDirectory, outcome: &Outcome, all: bool) -> Result<Vec<PathBuf>, WriteError> {
    let (recording, summary) = (&outcome.recording, &outcome.summary);
    let files = files_of(outcome, all);
    let wanted = || files.iter().filter(|(_, wanted, _)| *wanted);
    let motion = collections(recording).filter(|_| all);
    let names: Vec<&str> = wanted().map(|file| file.0).chain(motion).collect();
    let run = RunInfo {
        pliant: summary.pliant,
        scene: &summary.scene,
        status: summary.status,
    };
    directory.clear(run, &names, &outcome.checkpoint)?;
    let mut written = Vec::new();
    let mut errors = Vec::new();
    for (name, _, write) in wanted() {
        match write(&directory.path().join(name)) {
            Ok(file) => written.push(file),
            Err(error) => errors.push(error),
        }
    }
    if all {
        match write_vtk(directory.path(), recording) {
            Ok(files) => written.extend(files),
            Err(error) => errors.push(error),
        }
    }
    // A complete run needs its checkpoint no more; one whose files found no room may still need it.
    let is_over = summary.status == "ok" && errors.is_empty();
    let kept = if is_over { &[][..] } else { &outcome.checkpoint };
    let looked_at = written.len();
    written.extend_from_slice(kept);
    errors.extend(directory.close(run, &names, &written).err());
    written.truncate(looked_at);
    if is_over && errors.is_empty() {
        errors.extend(directory.remove_checkpoint().err());
    }
    let paths = written.into_iter().map(|file| file.path);
    let written = paths
        .filter(|path| path.parent() == Some(directory.path()))
        .collect();
    if errors.is_empty() {
        Ok(written)
    } else {
        Err(WriteError { written, errors })
    }
}

fn write_json(path: &Path, outcome: &Outcome) -> Result<Written, ExportError> {
    write_sealed(path, &outcome.summary)
}
