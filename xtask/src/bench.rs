//! `cargo xtask bench`: the timed scenes and the timed solvers, as tables worth comparing between two commits on one machine.

use crate::error::Error;
use crate::flags;
use crate::process;

/// The groups of benchmarks, each a program of the benches package.
const GROUPS: [&str; 8] = [
    "solvers",
    "contacts",
    "contact-scenes",
    "delassus",
    "corpus",
    "orders",
    "multibody",
    "vibrations",
];

/// Runs the program `scenes` of the benches package in release mode with the same arguments, or the group of benchmarks that the first
/// argument names with the others.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    match args.split_first() {
        Some((group, rest)) if group == "solvers" => solvers(rest),
        Some((group, rest)) if group == "contacts" => contacts("contact_solvers", rest),
        Some((group, rest)) if group == "contact-scenes" => contacts("contact_scenes", rest),
        Some((group, rest)) if group == "delassus" => process::run_bench_program("delassus", &[], rest),
        Some((group, rest)) if group == "corpus" => process::run_bench_program("profile", &[], rest),
        Some((group, rest)) if group == "orders" => process::run_bench_program("orders", &[], rest),
        Some((group, rest)) if group == "vibrations" => process::run_bench_program("vibrations", &[], rest),
        Some((group, rest)) if group == "multibody" => process::run_bench_program("multibody", &[], rest),
        Some((group, _)) if !group.starts_with('-') => Err(Error::UnknownFlag {
            task: "bench",
            flag: group.clone(),
            nearest: flags::nearest(group, &GROUPS),
        }),
        _ => process::run_bench_program("scenes", &[], args),
    }
}

/// The direct solvers with all arguments; then, unless the arguments ask for a part, the iterative ones and (with peers) the products.
fn solvers(args: &[String]) -> Result<u8, Error> {
    let features = features(args);
    let code = process::run_bench_program("solvers", features, args)?;
    let has = |flag: &str| args.iter().any(|a| a == flag);
    if code != 0 || ["--only", "--dump", "--help", "-h"].into_iter().any(has) {
        return Ok(code);
    }
    let sizes: &[String] = if has("--quick") { &["3000".to_owned()] } else { &[] };
    println!();
    let code = process::run_bench_program("krylov", features, sizes)?;
    if code != 0 || features.is_empty() {
        return Ok(code);
    }
    println!();
    process::run_bench_program("products", features, sizes)
}

/// The contact solvers on stacks (with Clarabel's interior points if there are to be peers), or whole steps of scenes (with Rapier).
fn contacts(program: &str, args: &[String]) -> Result<u8, Error> {
    let rest: Vec<String> = args.iter().filter(|a| *a != "--peers").cloned().collect();
    process::run_bench_program(program, features(args), &rest)
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
