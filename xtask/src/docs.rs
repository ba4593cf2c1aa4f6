//! `cargo xtask docs`: the API pages of every crate, with warnings denied.

use std::process::Command;

use crate::error::Error;
use crate::metadata::Metadata;
use crate::{flags, process};

/// The command that builds the pages; `ci` runs the same one.
pub(crate) fn command() -> Result<Command, Error> {
    let mut command = process::cargo()?;
    command
        .args(["doc", "--workspace", "--no-deps", "--locked"])
        .env("RUSTDOCFLAGS", "-D warnings");
    Ok(command)
}

/// Builds the pages, says where they are and, with `--open`, opens them.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [open] = flags::switches("docs", args, ["--open"])?;
    let code = process::run(command()?)?;
    if code != 0 {
        return Ok(code);
    }
    println!(
        "{}",
        Metadata::of_workspace()?
            .target_folder
            .join("doc/pliant/index.html")
            .display()
    );
    if open {
        let mut command = process::cargo()?;
        command.args(["doc", "--package", "pliant", "--no-deps", "--locked", "--open"]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        return process::run(command);
    }
    Ok(0)
}
