//! Scenes on their way to a run: with the parts that a model adds, or refused.

use crate::errors;
use crate::own::{self, Failures, Part};
use pliant::Error;
use pliant::model::ModelError;
use pliant_run::Runner;
use pliant_scene::{BuiltScene, SceneError, SceneFile, Settings};
use pyo3::prelude::*;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A scene with the parts of a model, whose callables leave their first exception in one place.
pub(crate) type Built = (BuiltScene, Arc<Failures>);

/// Why a step was not taken.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(Error),
    /// An exception of a component of one's own.
    Exception(PyErr),
}

/// A run of a scene, and where exceptions of the callables of its components are.
#[derive(Debug)]
pub(crate) struct Run {
    runner: Runner,
    failures: Arc<Failures>,
}

impl Run {
    /// Begins a run of a built scene, which keeps pictures or not.
    pub(crate) fn begin(scene: BuiltScene, failures: Arc<Failures>, record: bool) -> Result<Self, Refusal> {
        let runner = Runner::new(scene);
        if let Some(error) = failures.take() {
            return Err(Refusal::Exception(error));
        }
        let runner = match record {
            true => runner?,
            false => runner?.without_recording(),
        };
        Ok(Self { runner, failures })
    }

    /// Returns what a step came to; an exception of a callable stands in the place of everything
    /// else.
    pub(crate) fn judge<T>(&self, taken: Result<T, Error>) -> Result<T, Stop> {
        match (self.failure(), taken) {
            (Some(exception), _) => Err(Stop::Exception(exception)),
            (None, taken) => taken.map_err(Stop::Error),
        }
    }

    /// Takes the first exception of a callable since the last time.
    pub(crate) fn failure(&self) -> Option<PyErr> {
        self.failures.take()
    }
}

impl Deref for Run {
    type Target = Runner;

    fn deref(&self) -> &Runner {
        &self.runner
    }
}

impl DerefMut for Run {
    fn deref_mut(&mut self) -> &mut Runner {
        &mut self.runner
    }
}

/// A scene with parts that it does not have.
pub(crate) fn built(file: &SceneFile, settings: &Settings, parts: &[Arc<Part>]) -> Result<Built, Refusal> {
    let mut scene = file.build(settings)?;
    let failures = own::add(parts, &mut scene.model)?;
    Ok((scene, failures))
}

/// Why a scene does not start.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A scene that cannot be used.
    Scene(SceneError),
    /// A mesh that is another one than that of the model.
    Meshes,
    /// An exception of a callable.
    Exception(PyErr),
    /// A part that the model refuses.
    Part(Box<ModelError>),
    /// A node that is not there, and those that are.
    Node { name: String, all: Vec<String> },
    /// A setting that does not go with something, in words.
    Words(String),
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        Self::Part(Box::new(error))
    }
}

impl From<SceneError> for Refusal {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl Refusal {
    /// A node that a model does not have.
    pub(crate) fn missing(model: &pliant::model::Model, name: &str) -> Self {
        Self::Node {
            name: name.to_owned(),
            all: model.nodes().iter().map(|node| node.name.clone()).collect(),
        }
    }

    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Scene(error) => errors::scene(py, error),
            Self::Meshes => {
                let text = "a mesh that the scene reads has changed since the model was made";
                errors::scene_text(py, text)
            }
            Self::Exception(error) => error.clone_ref(py),
            Self::Words(text) => errors::state_text(py, text),
            Self::Part(error) => errors::scene_text(py, &error.to_string()),
            Self::Node { name, all } => {
                errors::name(py, ["node", "nodes"], name, all.iter().map(String::as_str))
            }
        }
    }
}
