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
mod describe;
mod diagnostic;
mod error;
mod event;
mod include;
mod inputs;
mod notation;
mod number;
mod observable;
mod picture;
pub mod quantity;
pub mod schema;
mod signal;
mod source;
mod state_file;
mod texts;

pub use assemble::{
    BuiltScene, Given, Hold, INTEGRATORS, InputCourse, Limits, Places, RunPlan, Settings, StaticsPlan,
    ThreadChoice, Varying, extent,
};
pub use controller::{ControlLaw, Controller};
pub use course::Course;
pub use deformable::{Deformable, DeformableParts, FieldNumber};
pub use describe::json_schema;
pub use diagnostic::{Diagnostic, Note, SourceSpan, Warning};
pub use error::SceneError;
pub use event::{Action, BreakingRule, Event, Events};
pub use inputs::InputFile;
pub use notation::Format;
pub use number::{EndSpec, Number, OneOrMany};
pub use observable::{
    CONTACT, DistanceEnd, EnergyKind, NamedExpression, Observable, Observables, ProbeColumn,
};
pub use picture::{DrawnCollider, DrawnFace, Picture, PointRef};
use pliant_expression::Symbol;
pub use pliant_expression::suggest::hint;
pub use pliant_expression::{ExpressionError, constant};
pub use quantity::{Amount, Quantity, Takes, Units};
pub use signal::{Actuator, Sensor};
pub use state_file::{StateFile, StateFileError};

use include::Bounds;
use notation::{Complaint, Repeats, Scope, Tree, resolve};
use pliant_mesh_io::read_file;
use schema::IncludeSpec;
use serde::Deserialize;
use source::{MOST_TOKENS, SourceText, Token};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest scene file that [`SceneFile::load`] reads, in bytes, 64 MiB: large data belongs in
/// meshes.
pub const LARGEST_SCENE: u64 = 64 << 20;

/// Returns a scene in the notation of JSON, whichever it is written in.
///
/// # Errors
/// [`SceneError::Syntax`] if the text is not well formed; keys and kinds are not looked at.
pub fn as_json(path: &Path, text: &str, format: Format) -> Result<serde_json::Value, SceneError> {
    let source = SourceText::new(path, text.strip_prefix('\u{feff}').unwrap_or(text).to_owned());
    Tree::read(source.own_text(), source.tokens(), format)
        .map(|tree| tree.to_json())
        .map_err(|complaint| {
            let (message, range, help) = complaint.into_parts();
            SceneError::Syntax(Box::new(source.at(range, message, help)))
        })
}

/// A scene as written: read and well formed, nothing evaluated yet.
#[derive(Clone, Debug)]
pub struct SceneFile {
    path: PathBuf,
    source: SourceText,
    schema: schema::Scene,
    /// Kept where something is repeated, which is written out once the parameters have values.
    draft: Option<Arc<Draft>>,
    /// The files that it includes, each once.
    included: Vec<InputFile>,
    places: Placed,
}

/// The prefixes of included files that have a place of their own, with what says it.
type Placed = Vec<(String, IncludeSpec, Range<usize>)>;

/// A scene as it is written, with all that it includes.
#[derive(Debug)]
struct Draft {
    tree: Tree,
    scopes: Vec<Scope>,
    places: Vec<(String, Tree)>,
}

impl Draft {
    /// The schema of a tree, which is this one with its repeats written out, the places of included
    /// files, and a way to the tokens.
    fn schema(
        &self,
        mut tree: Tree,
    ) -> Result<(schema::Scene, Placed, impl FnOnce() -> Vec<Token> + use<>), Complaint> {
        let mut places = self.places.clone();
        let mut trees = vec![&mut tree];
        trees.extend(places.iter_mut().map(|(_, entry)| entry));
        resolve(&mut trees, &self.scopes)?;
        let schema = schema::Scene::deserialize(&tree)?;
        let placed = places.iter().map(|(prefix, entry)| {
            let spec = IncludeSpec::deserialize(entry)?;
            Ok((prefix.clone(), spec, entry.place()))
        });
        let placed = placed.collect::<Result<Placed, Complaint>>()?;
        Ok((schema, placed, move || tree.tokens()))
    }
}

/// Bounds of what a scene may read while it is loaded.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Bytes of the scene and of all files that it includes; one that is included twice counts
    /// twice.
    pub bytes: u64,
    /// Directories that included files may be in, beside that of the scene.
    pub directories: Vec<PathBuf>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            bytes: LARGEST_SCENE,
            directories: Vec::new(),
        }
    }
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
        Self::load_with(
            path,
            &Reading {
                bytes: most,
                ..Reading::default()
            },
        )
    }

    /// Reads a file and all that it includes, within bounds.
    ///
    /// # Errors
    /// [`SceneError::Extension`], [`SceneError::Read`], [`SceneError::Syntax`].
    pub fn load_with(path: &Path, reading: &Reading) -> Result<Self, SceneError> {
        let Some(format) = Format::of(path) else {
            return Err(SceneError::Extension {
                path: path.to_owned(),
            });
        };
        let bytes = read_file(path, reading.bytes).map_err(|source| SceneError::Read {
            path: path.to_owned(),
            source,
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Self::from_text_with(path, &text, format, reading),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let source = SourceText::new(path, String::from_utf8_lossy(error.as_bytes()).into_owned());
                let message = "the scene is not UTF-8 text from here on".to_owned();
                Err(SceneError::Syntax(Box::new(source.at(good..good, message, None))))
            }
        }
    }

    /// Reads a text; `path` is for messages and as the place that meshes and included files are
    /// relative to.
    ///
    /// # Errors
    /// [`SceneError::Syntax`].
    pub fn from_text(path: &Path, text: &str, format: Format) -> Result<Self, SceneError> {
        Self::from_text_with(path, text, format, &Reading::default())
    }

    /// Reads a text and all that it includes, within bounds.
    ///
    /// # Errors
    /// [`SceneError::Syntax`].
    pub fn from_text_with(
        path: &Path,
        text: &str,
        format: Format,
        reading: &Reading,
    ) -> Result<Self, SceneError> {
        // Windows editors begin files with this mark, which no parser takes.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut source = SourceText::new(path, text.to_owned());
        if let Some(token) = source.tokens().get(MOST_TOKENS) {
            let message = format!("the scene has more than {MOST_TOKENS} words, numbers and marks");
            let help = "large data belong in mesh files".to_owned();
            let diagnostic = source.at(token.range.clone(), message, Some(help));
            return Err(SceneError::Syntax(Box::new(diagnostic)));
        }
        if StateFile::is_begun(text.as_bytes()) {
            let message = "this is the state at the end of a run, and no scene".to_owned();
            let help = "a scene starts from it by `start_from`".to_owned();
            let diagnostic = source.at(0..1, message, Some(help));
            return Err(SceneError::Syntax(Box::new(diagnostic)));
        }
        let read = Self::read(path, &mut source, format, reading);
        let (schema, draft, included, places) = read.map_err(|complaint| {
            let (message, range, help) = complaint.into_parts();
            SceneError::Syntax(Box::new(source.at(range, message, help)))
        })?;
        Ok(Self {
            path: path.to_owned(),
            source,
            schema,
            draft: draft.map(Arc::new),
            included,
            places,
        })
    }

    fn read(
        path: &Path,
        source: &mut SourceText,
        format: Format,
        reading: &Reading,
    ) -> Result<(schema::Scene, Option<Draft>, Vec<InputFile>, Placed), Complaint> {
        let mut tree = Tree::read(&source.text, source.tokens(), format)?;
        tree.leave_out_schema(format)?;
        let bounds = Bounds {
            bytes: reading.bytes,
            directories: &reading.directories,
        };
        let whole = include::read(tree, path, source, bounds)?;
        let mut once = Repeats::once();
        let tree = once.write(&whole.tree)?;
        let draft = Draft {
            tree: whole.tree,
            scopes: whole.scopes,
            places: whole.places,
        };
        let (schema, places, tokens) = draft.schema(tree)?;
        if draft.scopes.len() > 1 {
            source.set_tokens(tokens());
        }
        let draft = once.found().then_some(draft);
        Ok((schema, draft, whole.files, places))
    }

    /// The content of the file.
    pub fn schema(&self) -> &schema::Scene {
        &self.schema
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        self.source.own_text()
    }

    /// The files that it includes, each once, in the order of first use.
    pub fn included(&self) -> &[InputFile] {
        &self.included
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
        match &self.draft {
            None => assemble::assemble(self, settings),
            Some(draft) => assemble::assemble(&self.written_out(draft, settings)?, settings),
        }
    }

    /// The scene with all that it repeats.
    fn written_out(&self, draft: &Draft, settings: &Settings) -> Result<Self, SceneError> {
        let parameters = assemble::parameters(self, settings)?;
        let evaluate = |text: &str, indices: &[(String, f64)], prefix: &str| {
            let index = |name: &str| indices.iter().rev().find(|(own, _)| own == name).map(|(_, v)| *v);
            // A parameter of the file itself, or of one of those that include it.
            let parameter = |name: &str| {
                let ends = prefix.rmatch_indices('.').map(|(end, _)| end + 1);
                let mut prefixes = ends.chain([0]).map(|end| &prefix[..end]);
                prefixes.find_map(|prefix| parameters.get(&format!("{prefix}{name}")).copied())
            };
            let lookup = |name: &str| index(name).or_else(|| parameter(name)).map(Symbol::from);
            // Names are of use to an error alone.
            pliant_expression::evaluate(text, &lookup, &[]).or_else(|_| {
                let names = indices.iter().map(|(name, _)| name).chain(parameters.keys());
                let names: Vec<&str> = names.map(String::as_str).collect();
                pliant_expression::evaluate(text, &lookup, &names)
            })
        };
        let tree = Repeats::all(&evaluate).write(&draft.tree);
        let read = tree.and_then(|tree| draft.schema(tree));
        let (schema, places, tokens) = read.map_err(|complaint| {
            let (message, range, help) = complaint.into_parts();
            SceneError::Value(Box::new(self.source.at(range, message, help)))
        })?;
        let mut source = self.source.clone();
        source.set_tokens(tokens());
        Ok(Self {
            path: self.path.clone(),
            source,
            schema,
            draft: None,
            included: self.included.clone(),
            places,
        })
    }
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
