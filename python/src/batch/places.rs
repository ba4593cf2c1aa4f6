//! Instances that are named, and numbers for them.

use crate::arrays::{self, Numbers};
use crate::errors;
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Numbers for each instance: of the shape `()`, `(n,)` or `(n, width)`.
pub(super) fn for_each(
    py: Python<'_>,
    numbers: &Numbers<'_>,
    what: &str,
    [count, width]: [usize; 2],
) -> PyResult<Vec<f64>> {
    match numbers.shape() {
        [] => Ok(vec![arrays::values(py, numbers, what, &[])?[0]; count * width]),
        [_] => {
            let list = arrays::values(py, numbers, what, &[count])?;
            Ok(list.iter().flat_map(|x| vec![*x; width]).collect())
        }
        _ => arrays::values(py, numbers, what, &[count, width]),
    }
}

/// Numbers of a shape for each of `count` instances: of that shape for all, or with the instances
/// first.
pub(super) fn blocks(
    py: Python<'_>,
    numbers: &Numbers<'_>,
    what: &str,
    [count, rows, columns]: [usize; 3],
) -> PyResult<Vec<f64>> {
    match numbers.shape() {
        [_, _] => Ok(arrays::values(py, numbers, what, &[rows, columns])?.repeat(count)),
        _ => arrays::values(py, numbers, what, &[count, rows, columns]),
    }
}

/// Places of the instances that are named: all of them without `which`.
pub(super) fn named(which: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<usize>> {
    which.map_or_else(|| Ok((0..count).collect()), |which| places(which, count))
}

/// Places that `which` names: a truth value for each instance, or places, each once.
pub(super) fn places(which: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<usize>> {
    let py = which.py();
    let numpy = py.import("numpy")?;
    let array = match numpy.call_method1("atleast_1d", (which,)) {
        Err(error) if error.is_instance_of::<PyValueError>(py) => {
            let text = "instances are named by a list of one dimension";
            return Err(errors::state_text(py, text));
        }
        array => array?,
    };
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let array = match kind.as_str() {
        "b" => {
            let shape: Vec<usize> = array.getattr("shape")?.extract()?;
            if shape != [count] {
                let text = format!("the truth values of a batch of {count} must have the shape ({count},)");
                return Err(errors::state_text(py, &text));
            }
            numpy.call_method1("flatnonzero", (array,))?
        }
        _ => array,
    };
    let Ok(list) = array.extract::<Vec<i64>>() else {
        // An empty list is one of numbers.
        if array.len()? == 0 {
            return Ok(Vec::new());
        }
        let text = "instances are named by whole numbers or by a truth value for each";
        return Err(errors::state_text(py, text));
    };
    let mut taken = vec![false; count];
    let mut places = Vec::with_capacity(list.len());
    for wanted in list {
        let place = if wanted < 0 { wanted + count as i64 } else { wanted };
        let place = usize::try_from(place).ok().filter(|place| *place < count);
        let Some(place) = place else {
            let text = format!("a batch of {count} has no instance {wanted}");
            return Err(errors::state_text(py, &text));
        };
        if std::mem::replace(&mut taken[place], true) {
            let text = format!("instance {wanted} is named twice");
            return Err(errors::state_text(py, &text));
        }
        places.push(place);
    }
    Ok(places)
}
