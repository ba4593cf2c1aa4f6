//! Integration tests of the solvers.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod bounds_known;
mod bounds_oracle;
mod bounds_random;
mod condensed;
mod delassus_forms;
mod dense_factor;
mod direct;
mod direct_changes;
mod direct_decisions;
mod direct_loops;
mod direct_many;
mod direct_masses;
mod direct_random;
mod eigen;
mod islands;
mod pivoting;
mod spectrum;
mod stationary;
mod tools;
mod work;
