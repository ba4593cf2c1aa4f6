//! Systems and models over several processes.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

#[cfg(feature = "petsc")]
mod over_mpi;

#[cfg(not(feature = "petsc"))]
#[test]
fn tests_over_mpi_are_not_run_without_the_feature_petsc_and_sessions_are_refused() {
    let error = pliant_petsc::Session::begin().unwrap_err();
    assert_eq!(error, pliant_petsc::Error::NotBuilt);
    assert!(error.to_string().contains("--features petsc"));
}
