//! Scene files: text to a model that can be run.
//!
//! A scene is written in RON (`.ron`) or, with the same words, in JSON (`.json`); [`schema`] lists
//! the words, the files in `scenes/` of the repository show them at work. [`SceneFile::load`]
//! reads, [`SceneFile::build`] evaluates expressions and makes the model. Nothing that a file can
//! hold makes either panic: whatever is wrong is a [`SceneError`] that points at the place.
//!
//! ```
//! use pliant_scene::{Format, SceneFile, Settings};
//!
//! let text = r#"(
//!     parameters: {"length": 1.0},
//!     gravity: (0, -9.81, 0),
//!     run: (duration: 1),
//!     nodes: [
//!         Particles(name: "bob", positions: [("$length", 0, 0)], mass: 1),
//!         Mapped(name: "rod", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
//!     ],
//!     constraints: [(name: "rod is hard", on: "rod")],
//! )"#;
//! let scene = SceneFile::from_text("pendulum.ron".as_ref(), text, Format::Ron)?;
//! let built = scene.build(&Settings::default())?;
//! assert_eq!(built.model.dof_count(), 3);
//! assert_eq!(built.model.initial_parameters().row_count(), 1);
//!
//! let wrong = text.replace("mass", "masss");
//! let error = SceneFile::from_text("pendulum.ron".as_ref(), &wrong, Format::Ron).unwrap_err();
//! assert!(error.to_string().contains("did you mean `mass`?"));
//! // A `main` that returns it prints the same, behind `Error: `.
//! assert_eq!(format!("error: {error:?}"), error.to_string());
//! # Ok::<(), pliant_scene::SceneError>(())
//! ```

mod assemble;
mod controller;
mod course;
mod deformable;
mod diagnostic;
mod error;
mod event;
mod notation;
mod number;
mod observable;
mod picture;
pub mod schema;
mod source;

pub use assemble::{
    BuiltScene, Hold, InputCourse, InputFile, Limits, Places, RunPlan, Settings, StaticsPlan, Varying, extent,
};
pub use controller::{ControlLaw, Controller};
pub use course::Course;
pub use deformable::{Deformable, DeformableParts, FieldNumber};
pub use diagnostic::{Diagnostic, SourceSpan, Warning};
pub use error::SceneError;
pub use event::{Action, Event, Events};
pub use notation::Format;
pub use number::{EndSpec, Number, OneOrMany};
pub use observable::{
    CONTACT, DistanceEnd, EnergyKind, NamedExpression, Observable, Observables, ProbeColumn,
};
pub use picture::{DrawnCollider, Picture, PointRef};
pub use pliant_expression::suggest::hint;
pub use pliant_expression::{ExpressionError, constant};

use notation::Tree;
use pliant_mesh_io::read_file;
use serde::Deserialize;
use source::{MOST_TOKENS, SourceText};
use std::path::{Path, PathBuf};

/// The largest scene file that [`SceneFile::load`] reads, in bytes, 64 MiB: large data belongs in
/// meshes.
pub const LARGEST_SCENE: u64 = 64 << 20;

/// A scene as written: read and well formed, nothing evaluated yet.
#[derive(Clone, Debug)]
pub struct SceneFile {
    path: PathBuf,
    source: SourceText,
    schema: schema::Scene,
}

impl SceneFile {
    /// Reads a file of at most [`LARGEST_SCENE`] bytes; its extension tells the notation.
    ///
    /// # Errors
    /// [`SceneError::Extension`], [`SceneError::Read`], [`SceneError::Syntax`].
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        Self::load_within(path, LARGEST_SCENE)
    }

    /// Reads a file as [`load`](Self::load) does, of at most `most` bytes.
    ///
    /// # Errors
    /// [`SceneError::Extension`], [`SceneError::Read`], [`SceneError::Syntax`].
    pub fn load_within(path: &Path, most: u64) -> Result<Self, SceneError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let format = match extension.as_deref() {
            Some("ron") => Format::Ron,
            Some("json") => Format::Json,
            _ => {
                return Err(SceneError::Extension {
                    path: path.to_owned(),
                });
            }
        };
        let bytes = read_file(path, most).map_err(|source| SceneError::Read {
            path: path.to_owned(),
            source,
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Self::from_text(path, &text, format),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let source = SourceText::new(path, String::from_utf8_lossy(error.as_bytes()).into_owned());
                let message = "the scene is not UTF-8 text from here on".to_owned();
                Err(SceneError::Syntax(Box::new(source.at(good..good, message, None))))
            }
        }
    }

    /// Reads a text; `path` is for messages and as the place that meshes are relative to.
    ///
    /// # Errors
    /// [`SceneError::Syntax`].
    pub fn from_text(path: &Path, text: &str, format: Format) -> Result<Self, SceneError> {
        // Windows editors begin files with this mark, which no parser takes.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = SourceText::new(path, text.to_owned());
        if let Some(token) = source.tokens().get(MOST_TOKENS) {
            let message = format!("the scene has more than {MOST_TOKENS} words, numbers and marks");
            let help = "large data belong in mesh files".to_owned();
            let diagnostic = source.at(token.range.clone(), message, Some(help));
            return Err(SceneError::Syntax(Box::new(diagnostic)));
        }
        let schema = Tree::read(&source, format).and_then(|tree| schema::Scene::deserialize(&tree));
        let schema = schema.map_err(|complaint| {
            let (message, range, help) = complaint.into_parts();
            SceneError::Syntax(Box::new(source.at(range, message, help)))
        })?;
        Ok(Self {
            path: path.to_owned(),
            source,
            schema,
        })
    }

    /// The content of the file.
    pub fn schema(&self) -> &schema::Scene {
        &self.schema
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The path that it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Evaluates the expressions and makes the model.
    ///
    /// # Errors
    /// [`SceneError`] of every kind but `Read`, `Extension` and `Syntax`.
    pub fn build(&self, settings: &Settings) -> Result<BuiltScene, SceneError> {
        assemble::assemble(self, settings)
    }
}
