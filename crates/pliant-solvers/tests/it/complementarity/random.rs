//! Random problems.
