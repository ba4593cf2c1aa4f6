//! Arrays in and out. A step moves and grows its buffers, so a view into them would need unsafe
//! code to be valid: arrays are copies, and those that are returned cannot be written, since
//! writing into a copy would do nothing.

use crate::errors;
use numpy::{
    AllowTypeChange, PyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayLikeDyn, PyArrayMethods,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// Numbers that a user gives: an array of real numbers or anything that makes one.
pub(crate) type Numbers<'py> = PyArrayLikeDyn<'py, f64, AllowTypeChange>;

/// An array of one dimension.
pub(crate) type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// An array of two dimensions.
pub(crate) type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// An array of one dimension, not to be written.
pub(crate) fn vector<'py>(py: Python<'py>, values: &[f64]) -> Vector<'py> {
    let array = PyArray1::from_slice(py, values);
    array.readwrite().make_nonwriteable();
    array
}

/// An array of rows of `columns` numbers, not to be written, filled by `fill`.
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    [rows, columns]: [usize; 2],
    fill: impl FnOnce(&mut [f64]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let array = PyArray::zeros(py, [rows, columns], false);
    let mut numbers = array.readwrite();
    fill(numbers.as_slice_mut()?)?;
    numbers.make_nonwriteable();
    Ok(array)
}

/// Writes rows of `columns` numbers into an array of the caller.
pub(crate) fn write_into(
    out: &Bound<'_, PyArrayDyn<f64>>,
    [rows, columns]: [usize; 2],
    values: &[f64],
) -> PyResult<()> {
    let py = out.py();
    if out.shape() != [rows, columns] {
        return Err(errors::state_text(
            py,
            &format!(
                "`out` has the shape {}, but must have {}",
                shape(out.shape()),
                shape(&[rows, columns])
            ),
        ));
    }
    let mut numbers = out
        .try_readwrite()
        .map_err(|_| errors::state_text(py, "`out` cannot be written"))?;
    for (place, value) in numbers.as_array_mut().iter_mut().zip(values) {
        *place = *value;
    }
    Ok(())
}

/// The numbers of an array that must have a shape; `what` it is, for the complaint.
pub(crate) fn values(
    py: Python<'_>,
    numbers: &Numbers<'_>,
    what: &str,
    wanted: &[usize],
) -> PyResult<Vec<f64>> {
    if numbers.shape() != wanted {
        let found = shape(numbers.shape());
        let wanted = shape(wanted);
        let text = format!("{what} must have the shape {wanted}, but have {found}");
        return Err(errors::state_text(py, &text));
    }
    let found: Vec<f64> = numbers.as_array().iter().copied().collect();
    match found.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(errors::state_text(
            py,
            &format!("{what} must be finite, but have {x}"),
        )),
        None => Ok(found),
    }
}

/// One number for all, or one for each of `count`.
pub(crate) fn one_or_each(
    py: Python<'_>,
    numbers: &Numbers<'_>,
    what: &str,
    count: usize,
) -> PyResult<Vec<f64>> {
    match numbers.shape() {
        [] => Ok(vec![values(py, numbers, what, &[])?[0]; count]),
        _ => values(py, numbers, what, &[count]),
    }
}

/// Three numbers.
pub(crate) fn triple(py: Python<'_>, numbers: &Numbers<'_>, what: &str) -> PyResult<[f64; 3]> {
    let found = values(py, numbers, what, &[3])?;
    Ok([found[0], found[1], found[2]])
}

/// A shape as Python writes it.
pub(crate) fn shape(sizes: &[usize]) -> String {
    match sizes {
        [one] => format!("({one},)"),
        many => {
            let list: Vec<String> = many.iter().map(ToString::to_string).collect();
            format!("({})", list.join(", "))
        }
    }
}

/// A count that a user gives, of at least `least` and at most `most`.
pub(crate) fn count(
    py: Python<'_>,
    number: &Bound<'_, PyAny>,
    what: &str,
    (least, most): (usize, usize),
) -> PyResult<usize> {
    let range = if most == usize::MAX {
        format!("{least} or more")
    } else {
        format!("{least} to {most}")
    };
    let found = match number.extract::<i64>() {
        Err(error) if !error.is_instance_of::<PyOverflowError>(py) => return Err(error),
        found => found.ok().and_then(|found| usize::try_from(found).ok()),
    };
    let fits = found.filter(|found| (least..=most).contains(found));
    fits.ok_or_else(|| errors::state_text(py, &format!("{what}: {range}, not {number}")))
}
