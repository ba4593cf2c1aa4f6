//! `cargo xtask bench`: the timed scenes and the timed solvers, as tables worth comparing between two commits on one machine.

use crate::error::Error;
use crate::flags;
use crate::process;

/// The groups of benchmarks, each a program of the benches package.
const GROUPS: [&str; 1] = ["solvers"];

/// Runs the program `scenes` of the benches package in release mode with the same arguments, or the group of benchmarks that the first
/// argument names with the others.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    match args.split_first() {
        Some((group, rest)) if group == "solvers" => {
            process::run_bench_program("solvers", features(rest), rest)
        }
        Some((group, _)) if !group.starts_with('-') => Err(Error::UnknownFlag {
            task: "bench",
            flag: group.clone(),
            nearest: flags::nearest(group, &GROUPS),
        }),
        _ => process::run_bench_program("scenes", &[], args),
    }
}

/// The features of the benches package that the arguments need.
fn features(args: &[String]) -> &'static [&'static str] {
    if args.iter().any(|a| a == "--peers") {
        &["peers"]
    } else {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_group_is_a_usage_error_that_suggests_the_nearest() {
        let error = run(&["solver".to_owned()]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("`solvers`"), "{error}");
    }

    #[test]
    fn peers_are_compiled_only_when_they_are_asked_for() {
        assert_eq!(features(&["--quick".to_owned()]), [""; 0]);
        assert_eq!(features(&["--quick".to_owned(), "--peers".to_owned()]), ["peers"]);
    }
}
