//! Scenes that are timed.
