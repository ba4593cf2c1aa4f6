//! The origin of a run: by it a result tells whether it is that of the same files and values.

use pliant_scene::{BuiltScene, InputFile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The origin of a run, beside its parameters: checksums (CRC-32 in eight hexadecimal digits),
/// and what was given beside the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// The checksum of the text of the scene file, without a byte order mark.
    pub scene: String,
    /// The checksums of the files that the scene includes, by their paths, relative to the scene.
    #[serde(default)]
    pub included: BTreeMap<String, String>,
    /// The checksum of all mesh files one after the other, in the order in which they were read.
    pub meshes: String,
    /// The length of a step that was given, in seconds.
    pub step: Option<f64>,
    /// The simulated time that was given, in seconds.
    pub duration: Option<f64>,
    /// The name of the integrator that was given.
    #[serde(default)]
    pub integrator: Option<String>,
}

impl Inputs {
    /// The origin of the runs of a scene.
    pub fn of(scene: &BuiltScene) -> Self {
        Self {
            scene: format!("{:08x}", crc32fast::hash(scene.text().as_bytes())),
            included: scene.included.iter().map(checksum).collect(),
            meshes: format!("{:08x}", scene.meshes),
            step: scene.given.step,
            duration: scene.given.duration,
            integrator: scene.given.integrator.clone(),
        }
    }
}

/// The path of a file as the scene says it, and its checksum.
fn checksum(file: &InputFile) -> (String, String) {
    (file.name.clone(), format!("{:08x}", file.crc32))
}
