//! Integration tests of the solvers.

mod direct;
