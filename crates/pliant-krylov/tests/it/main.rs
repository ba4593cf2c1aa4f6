//! Integration tests of the Krylov methods.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod elastic;
mod krylov_blocks;
mod krylov_decisions;
mod krylov_ends;
mod krylov_kkt;
mod krylov_known;
mod krylov_limits;
mod krylov_precondition;
mod krylov_random;
mod linear;
mod linear_ends;
mod linear_garbage;
mod multigrid;
#[path = "../../../pliant-solvers/tests/it/tools.rs"]
#[allow(dead_code, reason = "shared with the tests of the other solvers")]
mod tools;
mod zoo;
