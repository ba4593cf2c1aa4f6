//! Calls of the methods of a component: arrays in, numbers out, the first exception kept.

use crate::arrays;
use crate::errors;
use crate::own::How;
use crate::run::Refusal;
use numpy::{PyArray, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// Whether this thread is in a callable of a component.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Says whether this thread is in a callable of a component, whose simulation is locked.
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}

/// A stay in a callable, which ends when this is dropped.
struct Stay {
    before: bool,
}

impl Stay {
    fn begin() -> Self {
        let before = INSIDE.replace(true);
        Self { before }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        INSIDE.set(self.before);
    }
}

/// The first exception of the callables of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    has_failed: AtomicBool,
    is_idle: AtomicBool,
    first: Mutex<Option<PyErr>>,
}

impl Failures {
    fn note(&self, error: PyErr) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.has_failed.store(true, Ordering::Release);
    }

    /// Whether a callable has failed since this was taken.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Takes the exception; from then on components give numbers again.
    pub(crate) fn take(&self) -> Option<PyErr> {
        if !self.has_failed() {
            return None;
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        self.has_failed.store(false, Ordering::Release);
        first.take()
    }

    /// The exception of a trial that gave nothing.
    pub(super) fn refusal(&self) -> Refusal {
        let missing = || PyRuntimeError::new_err("a component gave no numbers");
        Refusal::Exception(self.take().unwrap_or_else(missing))
    }

    /// Whether components are not to be called: they leave what they write as it is.
    pub(super) fn set_idle(&self, idle: bool) {
        self.is_idle.store(idle, Ordering::Release);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.is_idle.load(Ordering::Acquire)
    }
}

/// A callable and its name.
#[derive(Debug)]
pub(super) struct Method {
    name: String,
    callable: Py<PyAny>,
    /// Whether the user wrote it.
    given: bool,
}

/// The methods of an object that a user gave, those that are derived among them.
#[derive(Clone, Debug)]
pub(crate) struct Methods {
    pub(super) object: Arc<Py<PyAny>>,
    /// Name of its class.
    pub(super) class: String,
    list: Arc<Vec<Method>>,
    /// Whether the force depends on velocities.
    pub(super) moving: bool,
}

impl Methods {
    pub(super) fn of(object: &Bound<'_, PyAny>, kind: &str, how: &How) -> PyResult<Self> {
        let found = object.py().import("pliant.components")?;
        let arguments = (object, kind, &how.derivatives, how.coupled);
        let found = found.call_method1("_methods", arguments)?;
        let (list, moving): (Vec<(String, Py<PyAny>, bool)>, bool) = found.extract()?;
        let list = list.into_iter().map(|(name, callable, given)| Method {
            name,
            callable,
            given,
        });
        let class = object.get_type();
        Ok(Self {
            object: Arc::new(object.clone().unbind()),
            class: format!("{}.{}", class.module()?, class.qualname()?),
            list: Arc::new(list.collect()),
            moving,
        })
    }
}

/// An array that a callable is given: numbers and shape.
pub(super) type Argument<'a> = (&'a [f64], &'a [usize]);

/// The callables of one component in one simulation.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    title: Arc<Title>,
    methods: Methods,
    failures: Arc<Failures>,
}

/// Words for a component in exceptions.
#[derive(Debug)]
pub(crate) struct Title {
    /// Kind of the component.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    /// Node that it acts on or makes.
    pub(crate) node: String,
}

impl Caller {
    pub(super) fn new(title: Title, methods: &Methods, failures: &Arc<Failures>) -> Self {
        Self {
            title: Arc::new(title),
            methods: methods.clone(),
            failures: failures.clone(),
        }
    }

    pub(super) fn failures(&self) -> &Failures {
        &self.failures
    }

    pub(super) fn moves(&self) -> bool {
        self.methods.moving
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.methods.list.iter().any(|method| method.name == name)
    }

    /// Whether the user wrote a method.
    pub(super) fn is_given(&self, name: &str) -> bool {
        let mut list = self.methods.list.iter();
        list.any(|method| method.name == name && method.given)
    }

    /// Where the values of a method come from, in words.
    pub(super) fn source(&self, name: &str, how: &How) -> String {
        match (self.is_given(name), self.has(name)) {
            (true, _) => "given".to_owned(),
            (false, true) => format!("by {}", how.derivatives),
            (false, false) => "by central differences".to_owned(),
        }
    }

    /// A number by a method; nothing if this or an earlier call failed.
    pub(super) fn number(&self, name: &str, arguments: &[Argument<'_>]) -> Option<f64> {
        self.ask(name, arguments, |found| {
            let number: f64 = found.extract()?;
            Ok(vec![number])
        })
        .map(|list| list[0])
    }

    /// An array of one of these shapes by a method; nothing if this or an earlier call failed.
    pub(super) fn numbers(
        &self,
        name: &str,
        arguments: &[Argument<'_>],
        shapes: &[&[usize]],
    ) -> Option<Vec<f64>> {
        self.ask(name, arguments, |found| {
            let (shape, numbers) = read(found)?;
            if shapes.contains(&&shape[..]) {
                return Ok(numbers);
            }
            let wanted: Vec<String> = shapes.iter().map(|s| arrays::shape(s)).collect();
            let text = format!(
                "must return the shape {}, but returned {}",
                wanted.join(" or "),
                arrays::shape(&shape)
            );
            Err(errors::state_text(found.py(), &text))
        })
    }

    /// An array of any two-dimensional shape by a method.
    pub(super) fn table(&self, name: &str, arguments: &[Argument<'_>]) -> Option<([usize; 2], Vec<f64>)> {
        let mut sizes = [0, 0];
        let numbers = self.ask(name, arguments, |found| {
            let (shape, numbers) = read(found)?;
            match shape[..] {
                [rows, columns] if rows > 0 && columns > 0 => sizes = [rows, columns],
                _ => {
                    let text = format!(
                        "must return the shape (elements, coordinates), but returned {}",
                        arrays::shape(&shape)
                    );
                    return Err(errors::state_text(found.py(), &text));
                }
            }
            Ok(numbers)
        })?;
        Some((sizes, numbers))
    }

    fn ask(
        &self,
        name: &str,
        arguments: &[Argument<'_>],
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Vec<f64>>,
    ) -> Option<Vec<f64>> {
        let method = self.methods.list.iter().find(|method| method.name == name)?;
        if self.failures.has_failed() {
            return None;
        }
        let answer = Python::try_attach(|py| {
            let stay = Stay::begin();
            let arrays = arguments.iter().map(|argument| array(py, *argument));
            let arrays = pyo3::types::PyTuple::new(py, arrays.collect::<PyResult<Vec<_>>>()?)?;
            let found = method.callable.bind(py).call1(arrays)?;
            let numbers = read(&found).and_then(|numbers| finite(py, numbers));
            drop(stay);
            numbers.map_err(|cause| errors::component(py, &self.title, name, cause))
        });
        let ended = || Err(PyRuntimeError::new_err("Python ends while a component is called"));
        match answer.unwrap_or_else(ended) {
            Ok(numbers) => Some(numbers),
            Err(error) => {
                self.failures.note(error);
                None
            }
        }
    }
}

/// An array that cannot be written.
fn array<'py>(py: Python<'py>, (numbers, shape): Argument<'_>) -> PyResult<Bound<'py, PyAny>> {
    let array = PyArray::from_slice(py, numbers).reshape(shape.to_vec())?;
    array.readwrite().make_nonwriteable();
    Ok(array.into_any())
}

/// Shape and numbers of anything that makes an array.
fn read(found: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Vec<f64>)> {
    let numbers: arrays::Numbers<'_> = found.extract()?;
    let values = numbers.as_array().iter().copied().collect();
    Ok((numbers.shape().to_vec(), values))
}

fn finite(py: Python<'_>, numbers: Vec<f64>) -> PyResult<Vec<f64>> {
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(errors::state_text(
            py,
            &format!("must return finite numbers, but returned {x}"),
        )),
        None => Ok(numbers),
    }
}
