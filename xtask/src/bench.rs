//! `cargo xtask bench`: the timed scenes and the timed solvers, as tables worth comparing between
//! two commits on one machine.

use crate::error::Error;
use crate::process;

/// Runs the program of the benches package in release mode with the same arguments; it knows the
/// names of the benchmarks.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    process::run_bench_program(features(args), args)
}

/// The features of the benches package that the arguments need: other people's solvers are compiled
/// only if they are asked for.
fn features(args: &[String]) -> &'static [&'static str] {
    let named = args.first().is_some_and(|a| a == "products" || a == "peers");
    if named || args.iter().any(|a| a == "--peers") {
        &["peers"]
    } else {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_compiled_only_when_they_are_asked_for() {
        assert_eq!(features(&["--quick".to_owned()]), [""; 0]);
        assert_eq!(features(&["--quick".to_owned(), "--peers".to_owned()]), ["peers"]);
        assert_eq!(features(&["products".to_owned()]), ["peers"]);
        assert_eq!(features(&["peers".to_owned(), "--quick".to_owned()]), ["peers"]);
    }
}
