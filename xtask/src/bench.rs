//! `cargo xtask bench`: the timed scenes, as tables worth comparing between two commits on one machine.

use crate::error::Error;
use crate::process;

/// Runs the program `scenes` of the benches package in release mode with the same arguments.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    process::run_bench_program("scenes", args)
}
