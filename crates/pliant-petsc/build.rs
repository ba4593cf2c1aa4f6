//! Finds PETSc, if the feature `petsc` asks for it.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PKG_CONFIG_PATH");
    if std::env::var_os("CARGO_FEATURE_PETSC").is_none() {
        return;
    }
    if let Err(message) = link() {
        println!("cargo::error={message}");
    }
}

/// Tells cargo what to link, or says what is missing.
fn link() -> Result<(), String> {
    const HELP: &str = "on Debian: apt-get install petsc-dev libopenmpi-dev openmpi-bin pkg-config";
    let flags = Command::new("pkg-config")
        .args(["--cflags", "--libs", "PETSc"])
        .output()
        .map_err(|error| format!("the feature `petsc` asks `pkg-config` for PETSc: {error}; {HELP}"))?;
    if !flags.status.success() {
        return Err(format!(
            "the feature `petsc` needs PETSc, which `pkg-config PETSc` does not find; {HELP}"
        ));
    }
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    for flag in flags.split_whitespace() {
        if let Some(directory) = flag.strip_prefix("-I") {
            check_configuration(Path::new(directory))?;
        } else if let Some(directory) = flag.strip_prefix("-L") {
            println!("cargo::rustc-link-search=native={directory}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo::rustc-link-lib={library}");
        }
    }
    // Ranks and sums are asked of MPI itself, which PETSc's own flags do not name.
    println!("cargo::rustc-link-lib=mpi");
    Ok(())
}

/// Refuses a PETSc whose numbers or whose MPI are not those that the declarations are written for.
fn check_configuration(include: &Path) -> Result<(), String> {
    let path = include.join("petscconf.h");
    let Ok(text) = std::fs::read_to_string(&path) else {
        // Another include directory among the flags.
        return Ok(());
    };
    let defines = |name: &str| {
        text.lines().any(|line| {
            line.strip_prefix("#define ")
                .is_some_and(|rest| rest.split(' ').next() == Some(name))
        })
    };
    let refused = [
        (defines("PETSC_USE_COMPLEX"), "complex numbers"),
        (!defines("PETSC_USE_REAL_DOUBLE"), "another precision than double"),
        (defines("PETSC_USE_64BIT_INDICES"), "indices of 64 bits"),
        (!defines("PETSC_HAVE_MUMPS"), "no MUMPS"),
        (
            !defines("PETSC_HAVE_OMPI_MAJOR_VERSION"),
            "another MPI than Open MPI",
        ),
    ];
    match refused.iter().find(|(is_so, _)| *is_so) {
        Some((_, what)) => Err(format!(
            "the PETSc of {} was built with {what}, which the crate pliant-petsc does not call",
            path.display()
        )),
        None => Ok(()),
    }
}
