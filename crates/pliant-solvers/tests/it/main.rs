//! Integration tests of the solvers.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod bounds_known;
mod bounds_oracle;
mod bounds_random;
mod complementarity;
#[cfg(feature = "exchange")]
mod corpus;
mod delassus_forms;
mod dense_factor;
mod direct;
mod direct_changes;
mod direct_decisions;
mod direct_loops;
mod direct_many;
mod direct_random;
#[cfg(feature = "exchange")]
mod exchange;
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
mod stationary;
mod tools;
