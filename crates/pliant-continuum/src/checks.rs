//! Checks beside those of [`pliant_model::validate`], and of what is no component yet.

use crate::ContinuumError;
use pliant_model::validate::{check_bound, check_finite};
use pliant_model::{Field, ModelError, Space};

/// Checks a number that must be finite and keep a bound, given whether it does.
pub(crate) fn check_range(
    name: &str,
    field: Field,
    value: f64,
    holds: bool,
    bound: &'static str,
) -> Result<(), ModelError> {
    check_finite(name, field, value)?;
    check_bound(name, field, value, bound, holds)
}

/// Space and number of elements of the first parent.
pub(crate) fn first_parent(name: &str, parents: &[(Space, usize)]) -> Result<(Space, usize), ModelError> {
    parents.first().copied().ok_or_else(|| ModelError::Parent {
        name: name.into(),
        parent: 0,
        count: 0,
    })
}

/// A number that must be finite and hold to a bound.
pub(crate) fn check_number(
    field: Field,
    value: f64,
    holds: bool,
    bound: &'static str,
) -> Result<(), ContinuumError> {
    if !value.is_finite() {
        return Err(ContinuumError::NotFinite { field, value });
    }
    if !holds {
        return Err(ContinuumError::OutOfRange { field, value, bound });
    }
    Ok(())
}
