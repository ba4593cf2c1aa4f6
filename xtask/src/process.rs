//! Child processes: the workspace root, `cargo`, and exit codes passed through.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::error::Error;

/// The folder of the nearest `Cargo.toml` with a `[workspace]` table, from the current folder
/// upwards.
pub(crate) fn workspace_root() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().map_err(|source| Error::File {
        path: PathBuf::from("."),
        source,
    })?;
    for folder in here.ancestors() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        if manifest.lines().any(|line| line.trim_end() == "[workspace]") {
            return Ok(folder.to_owned());
        }
    }
    Err(Error::NoWorkspace { from: here })
}

/// The `cargo` that runs this program, or the one on the path, to be run in the workspace root.
pub(crate) fn cargo() -> Result<Command, Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(workspace_root()?);
    Ok(command)
}

/// Runs a command with this process's input and output and returns its exit code.
pub(crate) fn run(mut command: Command) -> Result<u8, Error> {
    let status = command.status().map_err(|source| Error::Start {
        command: describe(&command),
        source,
    })?;
    Ok(exit_code(status))
}

/// Runs a command and returns what it printed on its standard output; a failure is an error with
/// its complaint.
pub(crate) fn capture(mut command: Command) -> Result<Vec<u8>, Error> {
    let output = command.output().map_err(|source| Error::Start {
        command: describe(&command),
        source,
    })?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let stderr = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        Err(Error::Failed {
            command: describe(&command),
            stderr,
        })
    }
}

/// Runs a command and returns its exit code, and what it printed on both outputs.
pub(crate) fn collect(mut command: Command) -> Result<(u8, String), Error> {
    let output = command.output().map_err(|source| Error::Start {
        command: describe(&command),
        source,
    })?;
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Ok((exit_code(output.status), printed))
}

/// Runs the program of the benches package in release mode, with features of that package, and
/// passes its exit code through.
pub(crate) fn run_bench_program(features: &[&str], args: &[String]) -> Result<u8, Error> {
    let mut command = cargo()?;
    command.args(["run", "--quiet", "--release", "--package", "pliant-benches"]);
    if !features.is_empty() {
        command.args(["--features", &features.join(",")]);
    }
    command.arg("--").args(args);
    run(command)
}

/// A command as one would type it: variables set for it, the program's bare name, its arguments.
pub(crate) fn describe(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!(
                "{}={:?}",
                name.to_string_lossy(),
                value.to_string_lossy()
            ));
        }
    }
    let program = PathBuf::from(command.get_program());
    words.push(
        program
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    );
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}

/// The child's exit code; 1 if a signal ended it or the code does not fit.
fn exit_code(status: ExitStatus) -> u8 {
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_described_as_one_would_type_it() {
        let mut command = Command::new("/opt/rust/bin/cargo");
        command
            .args(["doc", "--workspace"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            describe(&command),
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace"
        );
    }

    #[test]
    fn exit_codes_pass_through_and_a_missing_program_is_named() {
        let mut command = cargo().unwrap();
        command.arg("--no-such-flag").stderr(std::process::Stdio::null());
        assert_ne!(run(command).ok(), Some(0));
        let mut command = cargo().unwrap();
        command.arg("--no-such-flag");
        let (code, printed) = collect(command).unwrap();
        assert!(code != 0 && printed.contains("--no-such-flag"), "{printed}");
        let error = run(Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().contains("`no-such-program-here`"), "{error}");
    }
}
