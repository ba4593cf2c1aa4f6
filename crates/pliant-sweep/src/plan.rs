//! From a scene and the points of its parameters to a manifest.

use crate::SweepError;
use crate::axis::{Axis, check_names};
use crate::manifest::{FORMAT, Input, Job, Manifest, PROGRAM};
use crate::paths::{between, real, real_parent, unicode};
use crate::quantities::check_paths;
use crate::reuse::JOBS;
use pliant_mesh_io::read_file;
use pliant_output::directory::RESULT;
use pliant_output::sealed::crc32;
use pliant_run::Inputs;
use pliant_scene::{BuiltScene, SceneFile};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most jobs of a sweep, unless the limit is raised.
pub const MOST_JOBS: usize = 100_000;

/// Digits of the names of jobs at least.
const LEAST_DIGITS: usize = 4;

/// Settings that all jobs have in common.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// How often jobs write checkpoints, as `pliant run` takes it.
    pub checkpoint_every: Option<String>,
    /// Directories outside that of the scene in which meshes may be.
    pub allow_outside: Vec<PathBuf>,
    /// Further arguments of every job.
    pub further: Vec<String>,
    /// Whether jobs write all files of a run, and not `result.json` alone.
    pub all_files: bool,
    /// Paths of quantities that the table has first.
    pub quantities: Vec<String>,
}

/// Makes the manifest of a sweep in `directory`. The scene was built with its own parameters, for
/// the files that it reads.
///
/// # Errors
/// [`SweepError::Setting`] for parameters that the scene has not, for quantities that no table can
/// have, and for paths that are no Unicode; [`SweepError::Read`] if the scene file cannot be read
/// again.
pub fn plan(
    scene: &SceneFile,
    built: &BuiltScene,
    points: &Axis,
    common: &Common,
    directory: &Path,
) -> Result<Manifest, SweepError> {
    let known: Vec<&str> = built.parameters.keys().map(String::as_str).collect();
    check_names(points, &known)?;
    check_paths(&common.quantities)?;
    let home = real(directory);
    let from_home = |path: &Path| unicode(&between(&home, &real(path)));
    let bytes = read_file(scene.path(), u64::MAX).map_err(|source| SweepError::Read {
        path: scene.path().to_owned(),
        source,
    })?;
    let scene_path = unicode(&between(&home, &real_parent(scene.path())))?;
    let mut inputs = vec![Input {
        path: scene_path.clone(),
        bytes: bytes.len() as u64,
        crc32: format!("{:08x}", crc32(&bytes)),
    }];
    for file in built.included.iter().chain(&built.mesh_files) {
        inputs.push(Input {
            path: from_home(&file.path)?,
            bytes: file.bytes,
            crc32: format!("{:08x}", file.crc32),
        });
    }
    let mut tail = arguments(common);
    for outside in &common.allow_outside {
        tail.extend(["--allow-outside".to_owned(), from_home(outside)?]);
    }
    let expected = expected(&built.parameters, &Inputs::of(built));
    let digits = points.points.len().to_string().len().max(LEAST_DIGITS);
    let jobs = points.points.iter().enumerate().map(|(index, point)| {
        let id = format!("{:0digits$}", index + 1);
        let values = points.names.iter().cloned().zip(point.iter().copied());
        job(id, values.collect(), &scene_path, &tail, expected.clone())
    });
    Ok(Manifest {
        format: FORMAT.to_owned(),
        pliant: env!("CARGO_PKG_VERSION").to_owned(),
        jobs: jobs.collect(),
        scene: scene_path,
        inputs,
        parameters: points.names.clone(),
        quantities: common.quantities.clone(),
    })
}

/// Values that every result of a sweep holds: all that makes a run the run it is, the scene's own
/// parameters among it.
fn expected(parameters: &BTreeMap<String, f64>, inputs: &Inputs) -> BTreeMap<String, Value> {
    let parameters = parameters
        .iter()
        .map(|(name, value)| (format!("parameters.{name}"), Value::from(*value)));
    let given = [
        ("pliant", Value::from(env!("CARGO_PKG_VERSION"))),
        ("inputs.scene", Value::from(inputs.scene.as_str())),
        ("inputs.meshes", Value::from(inputs.meshes.as_str())),
        ("inputs.step", Value::from(inputs.step)),
        ("inputs.duration", Value::from(inputs.duration)),
        ("inputs.integrator", Value::from(inputs.integrator.clone())),
    ];
    let given = given.map(|(name, value)| (name.to_owned(), value));
    parameters.chain(given).collect()
}

fn job(
    id: String,
    parameters: BTreeMap<String, f64>,
    scene: &str,
    tail: &[String],
    mut expect: BTreeMap<String, Value>,
) -> Job {
    let directory = format!("{JOBS}/{id}");
    let mut arguments = vec!["run".to_owned(), scene.to_owned()];
    for (name, value) in &parameters {
        // The shortest decimals that read back to the same number.
        arguments.extend(["--set".to_owned(), format!("{name}={value:?}")]);
        expect.insert(format!("parameters.{name}"), Value::from(*value));
    }
    arguments.extend(["--out".to_owned(), directory.clone()]);
    arguments.extend_from_slice(tail);
    Job {
        id,
        parameters,
        program: PROGRAM.to_owned(),
        arguments,
        result: format!("{directory}/{RESULT}"),
        directory,
        expect,
    }
}

/// The arguments that all jobs have, but for those that name files.
fn arguments(common: &Common) -> Vec<String> {
    let mut all = vec!["--quiet".to_owned(), "--resume-or-start".to_owned()];
    if !common.all_files {
        all.push("--only-result".to_owned());
    }
    all.extend_from_slice(&common.further);
    if let Some(every) = &common.checkpoint_every {
        all.extend(["--checkpoint-every".to_owned(), every.clone()]);
    }
    all
}
