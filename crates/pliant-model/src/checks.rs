//! Checks of what a model is given: numbers, sizes and spaces.

use crate::{Field, ModelError, Space};

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

/// Checks numbers of which the error does not say the index.
pub(crate) fn check_all_finite<'a>(
    name: &str,
    field: Field,
    values: impl IntoIterator<Item = &'a f64>,
) -> Result<(), ModelError> {
    values.into_iter().try_for_each(|x| check_finite(name, field, *x))
}

/// Checks a number that is to keep a bound, given whether it does.
pub(crate) fn check_bound(
    name: &str,
    field: Field,
    value: f64,
    bound: &'static str,
    fits: bool,
) -> Result<(), ModelError> {
    if fits {
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

pub(crate) fn check_not_negative(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
    check_finite(name, field, value)?;
    check_bound(name, field, value, "zero or more", value >= 0.0)
}

pub(crate) fn check_positive(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
    check_finite(name, field, value)?;
    check_bound(name, field, value, "positive", value > 0.0)
}

/// Checks a space, given whether it is one of the expected.
pub(crate) fn check_space(
    name: &str,
    expected: &'static str,
    found: Space,
    fits: bool,
) -> Result<(), ModelError> {
    if fits {
        return Ok(());
    }
    Err(ModelError::Space {
        name: name.into(),
        expected,
        found,
    })
}

pub(crate) fn check_rigid(name: &str, found: Space) -> Result<(), ModelError> {
    check_space(name, "rigid bodies", found, found == Space::Rigid3)
}

pub(crate) fn check_real(name: &str, space: Space) -> Result<(), ModelError> {
    let expected = "scalars or points (map the bodies first)";
    check_space(name, expected, space, space != Space::Rigid3)
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

/// Checks a list with one entry for all, or one for each.
pub(crate) fn check_one_or_each(
    name: &str,
    field: Field,
    what: &'static str,
    each: usize,
    found: usize,
) -> Result<(), ModelError> {
    let expected = if found == 1 { 1 } else { each };
    check_size(name, field, what, expected, found)
}

/// Checks a list that may be longer.
pub(crate) fn check_least(
    name: &str,
    field: Field,
    what: &'static str,
    least: usize,
    found: usize,
) -> Result<(), ModelError> {
    check_size(name, field, what, least.max(found), found)
}
