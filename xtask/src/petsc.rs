//! `cargo xtask petsc`: the tests over MPI, where PETSc is or can be installed.

use std::process::{Command, Stdio};

use crate::error::Error;
use crate::{ci, flags, process};

/// The exit code of a gate that could not run here: neither passed nor failed.
pub(crate) const NOT_RUN: u8 = 77;

/// The features that call it.
const FEATURES: &str = "pliant-cli/petsc,pliant-petsc/petsc";

/// The name of the modules of its tests.
pub(crate) const TESTS: &str = "over_mpi::";

/// Packages of Debian that the feature `petsc` calls and its tests are started by.
const PACKAGES: [&str; 4] = ["petsc-dev", "libopenmpi-dev", "openmpi-bin", "pkg-config"];

/// Runs the tests over MPI, after [`prepare`].
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let code = prepare(args)?;
    if code != 0 {
        return Ok(code);
    }
    ci::run_feature_tests(FEATURES, &[TESTS])
}

/// Where PETSc is missing, `apt-get` installs it if it may; where it may not, that is said and the
/// code is [`NOT_RUN`].
pub(crate) fn prepare(args: &[String]) -> Result<u8, Error> {
    flags::switches("petsc", args, [])?;
    if is_there() || install() && is_there() {
        return Ok(0);
    }
    println!(
        "NOT RUN: PETSc and MPI are not installed, and apt-get cannot install them here (as root it would, on \
         Debian: apt-get install {})",
        PACKAGES.join(" ")
    );
    Ok(NOT_RUN)
}

/// Whether PETSc is found, and a program that starts processes.
pub(crate) fn is_there() -> bool {
    succeeds(Command::new("pkg-config").args(["--exists", "PETSc"]))
        && succeeds(Command::new("mpirun").arg("--version"))
}

/// Asks apt-get for the packages; it refuses whoever is not root.
fn install() -> bool {
    let install = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(words);
        println!("$ {}", process::describe(&command));
        succeeds(&mut command)
    };
    let packages = [
        &["install", "--yes", "--quiet", "--no-install-recommends"],
        &PACKAGES[..],
    ]
    .concat();
    succeeds(Command::new("apt-get").arg("--version"))
        && install(&["update", "--quiet"])
        && install(&packages)
}

fn succeeds(command: &mut Command) -> bool {
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
