//! Integration tests of all solvers on problems with known answers, and of problems as texts.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod complementarity;
mod corpus;
mod exchange;
mod kkt_solvers;
#[path = "../../../pliant-solvers/tests/it/tools.rs"]
#[allow(dead_code, reason = "shared with the tests of the other solvers")]
mod tools;
