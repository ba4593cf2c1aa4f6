//! Integration tests on the reference cases and on the measured scene.

mod chain;
mod reference;
