//! The timed scenes and the reference cases of Pliant as one program:
//! `cargo xtask bench NAME [arguments]`.
//!
//! Without a name it runs `scenes`; `--help` lists the names.

mod commands;

use commands::{COMMANDS, Ended};
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    dispatch(&arguments).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// Runs the command that the first argument names with the others.
fn dispatch(arguments: &[String]) -> Ended {
    let (name, rest) = match arguments.split_first() {
        Some((name, _)) if ["-h", "--help", "help"].contains(&name.as_str()) => return help(),
        Some((name, rest)) if !name.starts_with('-') => (name.as_str(), rest),
        _ => ("scenes", arguments),
    };
    if !cfg!(feature = "peers") && rest.iter().any(|a| a == "--peers") {
        return Err("--peers: this program was compiled without the feature `peers`".into());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        eprintln!("unknown benchmark `{name}`; there are {}", names.join(", "));
        return Ok(ExitCode::from(2));
    };
    (command.run)(rest)
}

fn help() -> Ended {
    let mut out = std::io::stdout();
    writeln!(out, "Usage: cargo xtask bench [name] [arguments]\n")?;
    for command in COMMANDS {
        writeln!(out, "  {:<14} {}", command.name, command.summary)?;
    }
    Ok(ExitCode::SUCCESS)
}
