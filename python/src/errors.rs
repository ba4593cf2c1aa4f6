//! Errors of the libraries as the exceptions of `pliant/errors.py`.

use crate::own::Title;
use crate::path::Path;
use crate::run::Stop;
use pliant::archive::ArchiveError;
use pliant::{Error, StepReport};
use pliant_import::ImportError;
use pliant_output::player::PlayerError;
use pliant_output::raster::RasterError;
use pliant_run::{CheckpointError, TensorError, is_unsolved};
use pliant_scene::{Diagnostic, SceneError, hint};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// A class of exceptions, imported when it is first raised.
struct Class {
    name: &'static str,
    found: PyOnceLock<Py<PyType>>,
}

impl Class {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            found: PyOnceLock::new(),
        }
    }

    /// An exception with attributes; the failure to make one, if that is what happens.
    fn raise(&self, py: Python<'_>, text: &str, attributes: &[(&str, Attribute<'_>)]) -> PyErr {
        self.instance(py, text, attributes)
            .map_or_else(|error| error, PyErr::from_value)
    }

    /// Whether an exception is of this class.
    fn is_of(&self, py: Python<'_>, error: &PyErr) -> bool {
        let class = self.found.import(py, "pliant.errors", self.name);
        class.is_ok_and(|class| error.is_instance(py, class))
    }

    fn instance<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        attributes: &[(&str, Attribute<'_>)],
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.found.import(py, "pliant.errors", self.name)?;
        let instance = class.call1((text,))?;
        for (name, value) in attributes {
            match value {
                Attribute::Text(text) => instance.setattr(*name, *text)?,
                Attribute::Count(count) => instance.setattr(*name, *count)?,
                Attribute::Number(number) => instance.setattr(*name, *number)?,
                Attribute::Path(path) => instance.setattr(*name, path.clone_ref(py))?,
                Attribute::Report(report) => {
                    instance.setattr(*name, crate::report::StepReport::from(*report))?;
                }
            }
        }
        Ok(instance)
    }
}

enum Attribute<'a> {
    Text(&'a str),
    Count(usize),
    Number(f64),
    Report(&'a StepReport),
    Path(Py<Path>),
}

static SCENE: Class = Class::new("SceneError");
static STATE: Class = Class::new("StateError");
static NAME: Class = Class::new("UnknownName");
static STEP: Class = Class::new("StepError");
static NOT_CONVERGED: Class = Class::new("NotConverged");
static COMPONENT: Class = Class::new("ComponentError");
static CHECKPOINT: Class = Class::new("CheckpointError");
static SWEEP: Class = Class::new("SweepError");

/// A scene that cannot be used, with its place.
pub(crate) fn scene(py: Python<'_>, error: &SceneError) -> PyErr {
    match error {
        SceneError::Setting { message, help } => setting(py, &error.to_string(), message, help.as_deref()),
        error => with_place(py, &error.to_string(), error.diagnostic()),
    }
}

/// Options of the import that are arguments here, in the order in which they are looked for.
const OPTIONS: [(&str, &str); 4] = [
    ("--floating", "`floating=True`"),
    ("--self-collision", "`self_collision=True`"),
    ("--package ", "`packages`: "),
    ("--at", "`position`"),
];

/// A sentence of the import with the names of arguments in the place of options.
pub(crate) fn with_arguments(text: &str) -> String {
    let all = OPTIONS.iter();
    all.fold(text.to_owned(), |text, (option, argument)| {
        text.replace(option, argument)
    })
}

/// A robot that cannot be imported, with its place in the file.
pub(crate) fn import(py: Python<'_>, error: &ImportError) -> PyErr {
    match error {
        ImportError::Option { message, help } => setting(py, &error.to_string(), message, help.as_deref()),
        error => with_place(py, &error.to_string(), error.diagnostic()),
    }
}

fn setting(py: Python<'_>, text: &str, message: &str, help: Option<&str>) -> PyErr {
    let mut attributes = vec![("message", Attribute::Text(message))];
    attributes.extend(help.map(|help| ("help", Attribute::Text(help))));
    SCENE.raise(py, text, &attributes)
}

fn with_place(py: Python<'_>, text: &str, diagnostic: Option<&Diagnostic>) -> PyErr {
    let mut attributes = Vec::new();
    let mut token = String::new();
    if let Some(diagnostic) = diagnostic {
        attributes.push(("message", Attribute::Text(&diagnostic.message)));
        attributes.push(("file", Attribute::Text(&diagnostic.file)));
        let help = diagnostic.help.as_deref();
        attributes.extend(help.map(|help| ("help", Attribute::Text(help))));
        if let Some(place) = &diagnostic.place {
            attributes.push(("line", Attribute::Count(place.line)));
            attributes.push(("column", Attribute::Count(place.column)));
            let before = place.column.saturating_sub(1);
            token.extend(place.text.chars().skip(before).take(place.width));
            attributes.push(("key", Attribute::Text(&token)));
        }
    }
    SCENE.raise(py, text, &attributes)
}

/// A picture that cannot be drawn.
pub(crate) fn picture(py: Python<'_>, error: &PlayerError) -> PyErr {
    STATE.raise(py, &error.to_string(), &[])
}

/// A picture that is none.
pub(crate) fn pixels(py: Python<'_>, error: &RasterError) -> PyErr {
    STATE.raise(py, &error.to_string(), &[])
}

/// A stress or strain that cannot be read.
pub(crate) fn tensor(py: Python<'_>, error: &TensorError) -> PyErr {
    let class = match error {
        TensorError::Unknown { .. } => &NAME,
        _ => &STATE,
    };
    class.raise(py, &error.to_string(), &[])
}

/// A sweep that cannot begin or end, with the exit code of the program.
pub(crate) fn sweep(py: Python<'_>, text: &str, code: u8) -> PyErr {
    SWEEP.raise(py, text, &[("code", Attribute::Count(code.into()))])
}

/// A complaint about a scene without a place in it.
pub(crate) fn scene_text(py: Python<'_>, text: &str) -> PyErr {
    SCENE.raise(py, text, &[("message", Attribute::Text(text))])
}

/// A step or a search for rest that failed.
pub(crate) fn step(py: Python<'_>, error: &Error) -> PyErr {
    failed(py, error, error.to_string(), Vec::new())
}

/// A path of equilibria that does not go on, with the points that it has.
pub(crate) fn stuck(py: Python<'_>, error: &Error, path: Py<Path>) -> PyErr {
    failed(
        py,
        error,
        error.to_string(),
        vec![("path", Attribute::Path(path))],
    )
}

/// A step that was not taken.
pub(crate) fn stop(py: Python<'_>, stop: Stop) -> PyErr {
    match stop {
        Stop::Error(error) => step(py, &error),
        Stop::Exception(exception) => exception,
    }
}

/// A step, or a search for rest, of one instance of a batch that failed.
pub(crate) fn step_of_instance(py: Python<'_>, error: &Error, instance: usize) -> PyErr {
    let text = format!("instance {instance}: {error}");
    failed(py, error, text, vec![("instance", Attribute::Count(instance))])
}

fn failed<'a>(
    py: Python<'_>,
    error: &'a Error,
    text: String,
    mut attributes: Vec<(&str, Attribute<'a>)>,
) -> PyErr {
    attributes.extend(time_of(error).map(|time| ("time", Attribute::Number(time))));
    attributes.extend(report_of(error).map(|report| ("report", Attribute::Report(report))));
    let class = match error {
        Error::OutOfRange { .. } => &STATE,
        error if is_unsolved(error) => &NOT_CONVERGED,
        _ => &STEP,
    };
    class.raise(py, &text, &attributes)
}

/// The exception, with the instance of a batch that it is about.
pub(crate) fn in_instance(py: Python<'_>, exception: PyErr, instance: usize) -> PyErr {
    match exception.value(py).setattr("instance", instance) {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// A value that the model refuses.
pub(crate) fn state(py: Python<'_>, error: &Error) -> PyErr {
    STATE.raise(py, &error.to_string(), &[])
}

/// A value of the wrong size or kind.
pub(crate) fn state_text(py: Python<'_>, text: &str) -> PyErr {
    STATE.raise(py, text, &[])
}

/// A result of a method of a component of one's own that cannot be used.
pub(crate) fn component(py: Python<'_>, title: &Title, method: &str, cause: PyErr) -> PyErr {
    let Title { kind, name, node } = title;
    // Complaints about shapes and numbers are made for this sentence.
    let is_own = STATE.is_of(py, &cause);
    let complaint = match is_own {
        true => cause.value(py).to_string(),
        false => format!("must return real numbers ({cause})"),
    };
    let on = match name == node {
        true => String::new(),
        false => format!(" on `{node}`"),
    };
    let text = format!("{kind} `{name}`{on}: `{method}` {complaint}");
    let attributes = [("component", &name[..]), ("node", node), ("method", method)];
    let error = COMPONENT.raise(py, &text, &attributes.map(|(k, v)| (k, Attribute::Text(v))));
    if !is_own {
        error.set_cause(py, Some(cause));
    }
    error
}

/// A use of a simulation or batch from within a component of one's own.
pub(crate) fn inside(py: Python<'_>) -> PyErr {
    let text =
        "a component of one's own is called in the middle of a step: it cannot use simulations and batches";
    STATE.raise(py, text, &[])
}

/// A bare complaint of a checkpoint.
pub(crate) fn checkpoint_text(py: Python<'_>, text: &str) -> PyErr {
    CHECKPOINT.raise(py, text, &[])
}

/// A simulation that was left half way through a step.
pub(crate) fn broken(py: Python<'_>) -> PyErr {
    let text = "a panic ended a call of this simulation half way, which is a defect of Pliant: \
                `reset()` makes it usable again";
    STEP.raise(py, text, &[])
}

/// A failed step, in words.
pub(crate) fn step_text(py: Python<'_>, text: &str) -> PyErr {
    STEP.raise(py, text, &[])
}

/// Bytes that are no checkpoint of this run.
pub(crate) fn checkpoint(py: Python<'_>, error: &CheckpointError) -> PyErr {
    CHECKPOINT.raise(py, &error.to_string(), &[])
}

/// Bytes that are no pickled report.
pub(crate) fn archive(py: Python<'_>, error: &ArchiveError) -> PyErr {
    CHECKPOINT.raise(py, &error.to_string(), &[])
}

/// A name that nothing of a kind has, which stands in singular and plural; `all` are the names
/// there are.
pub(crate) fn name<'a>(
    py: Python<'_>,
    [kind, kinds]: [&str; 2],
    wanted: &str,
    all: impl IntoIterator<Item = &'a str> + Clone,
) -> PyErr {
    let help = hint(wanted, &format!("the {kinds} are"), all);
    let help = help.map_or_else(String::new, |help| format!("; {help}"));
    NAME.raise(py, &format!("no {kind} is called `{wanted}`{help}"), &[])
}

/// The time at the start of a failed step (s).
fn time_of(error: &Error) -> Option<f64> {
    match error {
        Error::NotPositiveDefinite { time, .. }
        | Error::NotFinite { time, .. }
        | Error::Incompatible { time, .. }
        | Error::Locked { time, .. }
        | Error::Unsettled { time, .. }
        | Error::NotConverged { time, .. }
        | Error::NotCertified { time, .. }
        | Error::ContactsNotConverged { time, .. }
        | Error::DrivenContact { time, .. }
        | Error::ContactsMissed { time, .. }
        | Error::SurfacesCross { time, .. }
        | Error::TooMuchWork { time, .. }
        | Error::Impacts { time, .. }
        | Error::CorrectionNotConverged { time, .. }
        | Error::Gyroscopic { time, .. }
        | Error::StepTooSmall { time, .. } => Some(*time),
        _ => None,
    }
}

/// The report of the step that was not taken.
fn report_of(error: &Error) -> Option<&StepReport> {
    match error {
        Error::NotConverged { report, .. }
        | Error::NotCertified { report, .. }
        | Error::ContactsNotConverged { report, .. } => Some(report),
        _ => None,
    }
}
