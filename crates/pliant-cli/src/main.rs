//! The program `pliant`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pliant_cli::program()
}
