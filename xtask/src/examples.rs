//! `cargo xtask examples`: runs every example of the crates; each of them asserts what it shows.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::metadata::Metadata;
use crate::process;

/// Runs all examples in the test profile, one after the other; the exit code is that of the first
/// failure. They are built at once and with the whole workspace, as by its tests: for packages one
/// by one, whose dependencies have other features, these would be compiled again.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    crate::flags::switches::<0>("examples", args, [])?;
    let mut build = process::cargo()?;
    build.args(["build", "--quiet", "--locked", "--workspace", "--examples"]);
    let code = process::run(build)?;
    if code != 0 {
        return Ok(code);
    }
    let root = process::workspace_root()?;
    let built = Metadata::of_workspace()?.target_folder.join("debug/examples");
    // Programs of all crates are in one folder.
    let mut names = BTreeSet::new();
    for package in sorted(&root.join("crates"))? {
        let folder = root.join("crates").join(&package).join("examples");
        if !folder.is_dir() {
            continue;
        }
        for file in sorted(&folder)? {
            let Some(name) = file.strip_suffix(".rs") else {
                continue;
            };
            if !names.insert(name.to_owned()) {
                eprintln!(
                    "example {name} of {package} has the name of another crate's, whose program it overwrites"
                );
                return Ok(1);
            }
            println!("example {name} of {package}");
            let program = built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            let code = process::run(Command::new(program))?;
            if code != 0 {
                return Ok(code);
            }
        }
    }
    Ok(0)
}

/// Names in a folder, in order.
fn sorted(folder: &Path) -> Result<Vec<String>, Error> {
    let error = |source| Error::File {
        path: folder.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(error)? {
        names.push(entry.map_err(error)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
