//! Checks of what mappings and force fields are given: numbers, sizes and spaces.

use crate::ContinuumError;
use pliant_model::{Field, ModelError, Space};

pub(crate) fn check_finite(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(ModelError::NotFinite {
        name: name.into(),
        field,
        index: None,
        value,
    })
}

pub(crate) fn check_range(
    name: &str,
    field: Field,
    value: f64,
    holds: bool,
    bound: &'static str,
) -> Result<(), ModelError> {
    check_finite(name, field, value)?;
    if holds {
        return Ok(());
    }
    Err(ModelError::OutOfRange {
        name: name.into(),
        field,
        index: None,
        value,
        bound,
    })
}

pub(crate) fn check_positive(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
    check_range(name, field, value, value > 0.0, "positive")
}

pub(crate) fn check_not_negative(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
    check_range(name, field, value, value >= 0.0, "zero or more")
}

/// Checks a space; `expected` names the wanted one.
pub(crate) fn check_space(
    name: &str,
    expected: &'static str,
    wanted: Space,
    found: Space,
) -> Result<(), ModelError> {
    if found == wanted {
        return Ok(());
    }
    Err(ModelError::Space {
        name: name.into(),
        expected,
        found,
    })
}

/// Checks a list of which the user knows the entries as `what`.
pub(crate) fn check_size(
    name: &str,
    field: Field,
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), ModelError> {
    if found == expected {
        return Ok(());
    }
    Err(ModelError::Size {
        name: name.into(),
        field,
        what,
        expected,
        found,
    })
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
