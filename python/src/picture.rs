//! Pictures of the present moment as arrays of pixels.

use crate::arrays::{self, Numbers};
use crate::errors;
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pliant_output::raster::{Camera, MAX_PIXELS, RasterError};
use pliant_run::Runner;
use pyo3::prelude::*;

/// Eye and target of a camera (m), both or none.
pub(crate) fn view(
    py: Python<'_>,
    eye: Option<&Numbers<'_>>,
    target: Option<&Numbers<'_>>,
) -> PyResult<Option<[[f64; 3]; 2]>> {
    match (eye, target) {
        (None, None) => Ok(None),
        (Some(eye), Some(target)) => {
            let eye = arrays::triple(py, eye, "the eye of a camera")?;
            Ok(Some([eye, arrays::triple(py, target, "the target of a camera")?]))
        }
        _ => {
            let text = "a camera has both an `eye` and a `target`, as `camera()` returns them";
            Err(errors::state_text(py, text))
        }
    }
}

/// The camera that sees all of the present moment.
pub(crate) fn fitted(runner: &Runner, [width, height]: [usize; 2]) -> Result<Camera, RasterError> {
    match width.checked_mul(height) {
        Some(1..=MAX_PIXELS) => Ok(runner.camera(width as f64 / height as f64)),
        _ => Err(RasterError::Size { width, height }),
    }
}

/// The pixels of a picture, seen from a place or so that all is seen.
pub(crate) fn pixels(
    runner: &Runner,
    view: Option<[[f64; 3]; 2]>,
    size: [usize; 2],
) -> Result<Vec<u8>, RasterError> {
    let camera = match view {
        None => fitted(runner, size)?,
        Some([eye, target]) => Camera {
            eye,
            target,
            up: runner.up(),
        },
    };
    runner.pixels(&camera, size)
}

/// An array of pixels, not to be written.
pub(crate) fn array<'py>(
    py: Python<'py>,
    pixels: &[u8],
    [width, height]: [usize; 2],
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let array = PyArray1::from_slice(py, pixels).reshape([height, width, 3])?;
    array.readwrite().make_nonwriteable();
    Ok(array)
}
