//! Checks of numbers, sizes and spaces that components are given, for the `check` of a component.
//!
//! Every error names the component, and the field in the user's words.

use crate::{Field, ModelError, Space};

/// Checks that a number is finite.
///
/// # Errors
/// [`ModelError::NotFinite`].
pub fn check_finite(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
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
///
/// # Errors
/// [`ModelError::NotFinite`].
pub fn check_all_finite<'a>(
    name: &str,
    field: Field,
    values: impl IntoIterator<Item = &'a f64>,
) -> Result<(), ModelError> {
    values.into_iter().try_for_each(|x| check_finite(name, field, *x))
}

/// Checks a number that is to keep a bound, given whether it does.
///
/// # Errors
/// [`ModelError::OutOfRange`].
pub fn check_bound(
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

/// Checks that a number is finite and not negative.
///
/// # Errors
/// [`ModelError::NotFinite`] and [`ModelError::OutOfRange`].
pub fn check_not_negative(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
    check_finite(name, field, value)?;
    check_bound(name, field, value, "zero or more", value >= 0.0)
}

/// Checks that a number is finite and positive.
///
/// # Errors
/// [`ModelError::NotFinite`] and [`ModelError::OutOfRange`].
pub fn check_positive(name: &str, field: Field, value: f64) -> Result<(), ModelError> {
    check_finite(name, field, value)?;
    check_bound(name, field, value, "positive", value > 0.0)
}

/// Checks a space, given whether it is one of the expected.
///
/// # Errors
/// [`ModelError::Space`].
pub fn check_space(name: &str, expected: &'static str, found: Space, fits: bool) -> Result<(), ModelError> {
    if fits {
        return Ok(());
    }
    Err(ModelError::Space {
        name: name.into(),
        expected,
        found,
    })
}

/// Checks that a space is that of rigid bodies.
///
/// # Errors
/// [`ModelError::Space`].
pub fn check_rigid(name: &str, found: Space) -> Result<(), ModelError> {
    check_space(name, "rigid bodies", found, found == Space::Rigid3)
}

/// Checks that a space is one of scalars or points.
///
/// # Errors
/// [`ModelError::Space`].
pub fn check_real(name: &str, space: Space) -> Result<(), ModelError> {
    let expected = "scalars or points (map the bodies first)";
    check_space(name, expected, space, space != Space::Rigid3)
}

/// Checks the number of entries of a list, which the user knows as `what`.
///
/// # Errors
/// [`ModelError::Size`].
pub fn check_size(
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
///
/// # Errors
/// [`ModelError::Size`].
pub fn check_one_or_each(
    name: &str,
    field: Field,
    what: &'static str,
    each: usize,
    found: usize,
) -> Result<(), ModelError> {
    let expected = if found == 1 { 1 } else { each };
    check_size(name, field, what, expected, found)
}

/// Checks a list that may be longer than `least`.
///
/// # Errors
/// [`ModelError::Size`].
pub fn check_least(
    name: &str,
    field: Field,
    what: &'static str,
    least: usize,
    found: usize,
) -> Result<(), ModelError> {
    check_size(name, field, what, least.max(found), found)
}
