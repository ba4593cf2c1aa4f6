//! Errors of scenes with the words that they point at.

use pliant_scene::{Diagnostic, SceneError};

/// The diagnostic of an error that says `message` with carets under these words.
///
/// # Panics
/// If it says something else, or points elsewhere.
pub(crate) fn assert_drawn<'a>(error: &'a SceneError, message: &str, under: &str) -> &'a Diagnostic {
    let found = error.diagnostic().unwrap_or_else(|| panic!("{error}"));
    assert!(found.message.contains(message), "{message}: {error}");
    let place = found.place.as_ref().unwrap_or_else(|| panic!("{error}"));
    let line = place.text.chars();
    let at: String = line.skip(place.column - 1).take(place.width).collect();
    assert_eq!(at, under, "{error}");
    found
}
