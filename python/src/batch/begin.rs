//! Instances of a batch that begin, with parameters of their own.

use crate::arrays::{self, Numbers};
use crate::errors;
use crate::model::{self, Model};
use crate::own::refuse_inside;
use crate::run::{Refusal, Run};
use crate::simulation::{BETWEEN_SIGNALS, Simulation};
use numpy::PyUntypedArrayMethods;
use pliant_scene::{Number, SceneError};
use pliant_threads::Threads;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyMapping, PyMappingMethods, PyString};
use std::time::Instant;

/// Values of one parameter, for all instances or for each.
pub(super) struct Values {
    name: String,
    values: Vec<Number>,
}

impl Values {
    /// Reads a dictionary for so many instances.
    pub(super) fn read(
        py: Python<'_>,
        parameters: Option<&Bound<'_, PyMapping>>,
        count: usize,
    ) -> PyResult<Vec<Self>> {
        let one = |item: Bound<'_, PyAny>| {
            let (name, value): (String, Bound<'_, PyAny>) = item.extract()?;
            let what = format!("the values of the parameter `{name}`");
            let each = value.cast::<PyList>().ok().filter(|list| {
                let mut items = list.iter();
                items.any(|item| item.is_instance_of::<PyString>())
            });
            let values = match (each, value.extract::<Numbers<'_>>()) {
                // Numbers and expressions.
                (Some(list), _) if list.len() == count => {
                    let one = |item: Bound<'_, PyAny>| model::parameter(py, &name, &item);
                    list.iter().map(one).collect::<PyResult<_>>()?
                }
                (Some(list), _) => {
                    let text = format!("{what} must be {count}, not {}", list.len());
                    return Err(errors::state_text(py, &text));
                }
                (None, Ok(numbers)) if numbers.ndim() > 0 => {
                    let list = arrays::values(py, &numbers, &what, &[count])?;
                    list.into_iter().map(Number::Value).collect()
                }
                _ => vec![model::parameter(py, &name, &value)?; count],
            };
            Ok(Self { name, values })
        };
        let items = parameters.map(PyMappingMethods::items).transpose()?;
        items.into_iter().flatten().map(one).collect()
    }

    /// Values of one instance.
    fn of(all: &[Self], instance: usize) -> Vec<(String, Number)> {
        let one = |v: &Self| (v.name.clone(), v.values[instance].clone());
        all.iter().map(one).collect()
    }
}

/// A simulation that is to begin: a new model unless it keeps its own, and its run.
type Beginning = Result<(Option<Model>, Run), Refusal>;

/// Begins simulations of models, with values of parameters for each.
pub(super) fn begin(
    py: Python<'_>,
    threads: &Threads,
    models: &[Py<Model>],
    places: &[usize],
    values: &[Values],
) -> PyResult<Vec<Py<Simulation>>> {
    refuse_inside(py)?;
    let one = |index: usize| -> Beginning {
        let model = models[index].get();
        if values.is_empty() {
            return Ok((None, model.start(false)?));
        }
        let model = model.with(Values::of(values, index))?;
        let runner = model.start(false)?;
        Ok((Some(model), runner))
    };
    let mut list: Vec<(usize, Option<Beginning>)> = (0..models.len()).map(|k| (k, None)).collect();
    while list.iter().any(|(_, begun)| begun.is_none()) {
        py.detach(|| {
            let until = Instant::now() + BETWEEN_SIGNALS;
            threads.for_each(&mut list, |(index, begun)| {
                if begun.is_none() && Instant::now() <= until {
                    *begun = Some(one(*index));
                }
            });
        });
        py.check_signals()?;
    }
    let begun = list
        .into_iter()
        .filter_map(|(index, place)| Some((index, place?)));
    let finish = |(index, begun): (usize, Beginning)| {
        let (new, runner) = begun.map_err(|refusal| refusal.raise_for(py, places[index]))?;
        let model = match new {
            Some(new) if !new.outline().is_like(models[index].get().outline()) => {
                let text = format!(
                    "instance {}: with these parameters the scene has other nodes, joints or components, \
                     which a batch has in common",
                    places[index]
                );
                return Err(errors::scene_text(py, &text));
            }
            Some(new) => Py::new(py, new)?,
            None => models[index].clone_ref(py),
        };
        Py::new(py, Simulation::of(model, runner))
    };
    begun.map(finish).collect()
}

impl Refusal {
    /// The exception for one instance of a batch.
    fn raise_for(&self, py: Python<'_>, instance: usize) -> PyErr {
        let exception = match self {
            Self::Scene(SceneError::Setting { message, help }) => {
                let message = format!("instance {instance}: {message}");
                let help = help.clone();
                errors::scene(py, &SceneError::Setting { message, help })
            }
            other => other.raise(py),
        };
        errors::in_instance(py, exception, instance)
    }
}
