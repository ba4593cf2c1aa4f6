//! `cargo xtask verify`: the reference cases, computed anew and compared with their independent
//! answers.

use crate::error::Error;
use crate::process;

/// Runs the command `verify` of the benches package in release mode with the same arguments.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let args: Vec<String> = std::iter::once("verify".to_owned())
        .chain(args.iter().cloned())
        .collect();
    process::run_bench_program(&[], &args)
}
