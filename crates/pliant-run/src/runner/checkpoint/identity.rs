//! The run that a checkpoint is of.

use pliant_scene::BuiltScene;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The run that a checkpoint is of. What it does not name follows from it: a step has the same bits
/// on any number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::runner) struct Identity {
    pliant: String,
    /// CRC-32 of the texts of the scene file and of all that it includes.
    text: u32,
    /// CRC-32 of the meshes that the scene reads.
    meshes: u32,
    parameters: BTreeMap<String, f64>,
    step: f64,
    duration: f64,
    /// Whether pictures and lines of tables are kept.
    #[serde(default = "yes")]
    pub(in crate::runner) records: bool,
    /// The integrator that was given beside the file; empty for the file's.
    #[serde(default)]
    pub(in crate::runner) integrator: String,
    /// Whether velocities of bodies are kept.
    #[serde(default)]
    pub(in crate::runner) trajectory: bool,
}

fn yes() -> bool {
    true
}

impl Identity {
    pub(in crate::runner) fn new(scene: &BuiltScene) -> Self {
        Self {
            pliant: env!("CARGO_PKG_VERSION").to_owned(),
            text: crc32fast::hash(scene.whole_text().as_bytes()),
            meshes: scene.meshes,
            parameters: scene.parameters.clone(),
            step: scene.plan.step,
            duration: scene.plan.duration,
            records: true,
            integrator: scene.given.integrator.clone().unwrap_or_default(),
            trajectory: false,
        }
    }

    /// The first difference in the user's words.
    pub(super) fn difference(&self, here: &Self) -> Option<String> {
        let both =
            |what: &str, there: String, here: String| format!("{what} is {there} there and {here} here");
        let values = |identity: &Self| {
            let own = [
                ("the step (s)", identity.step),
                ("the duration (s)", identity.duration),
            ];
            let own = own.map(|(name, value)| (name.to_owned(), value));
            let named = identity.parameters.iter();
            let named = named.map(|(name, value)| (format!("parameter `{name}`"), *value));
            named.chain(own).collect::<Vec<_>>()
        };
        if self.pliant != here.pliant {
            return Some(both("Pliant's version", self.pliant.clone(), here.pliant.clone()));
        }
        if self.text != here.text {
            return Some("the scene file or one that it includes has changed since".to_owned());
        }
        let mut pairs = values(self).into_iter().zip(values(here));
        if let Some(((name, there), (_, here))) = pairs.find(|(a, b)| a.1.to_bits() != b.1.to_bits()) {
            return Some(both(&name, there.to_string(), here.to_string()));
        }
        if self.integrator != here.integrator {
            let name = |identity: &Self| match identity.integrator.as_str() {
                "" => "that of the scene".to_owned(),
                name => format!("`{name}`"),
            };
            return Some(both("the integrator", name(self), name(here)));
        }
        if self.meshes != here.meshes {
            return Some("a mesh that the scene reads has changed since".to_owned());
        }
        let kept = |records: bool| {
            if records {
                "all files"
            } else {
                "`result.json` alone"
            }
        };
        if self.trajectory != here.trajectory {
            let kept = |with: bool| if with { "the trajectory" } else { "no trajectory" };
            let [there, here] = [self.trajectory, here.trajectory].map(|with| kept(with).to_owned());
            return Some(both("what it writes", there, here));
        }
        (self.records != here.records).then(|| {
            both(
                "what it writes",
                kept(self.records).to_owned(),
                kept(here.records).to_owned(),
            )
        })
    }
}
