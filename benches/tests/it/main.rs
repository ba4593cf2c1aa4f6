//! Integration tests on the reference cases and on the measured scene.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod chain;
mod families;
mod orders;
mod peers;
mod profile;
mod reference;
mod stiff;
mod vibrations;
