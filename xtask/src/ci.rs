//! `cargo xtask ci`: every gate, in the order in which they fail soonest.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::petsc::NOT_RUN;
use crate::{book, docs, examples, flags, package, petsc, process, python, tidy, verify};

/// One gate.
struct Step {
    name: &'static str,
    action: Action,
}

enum Action {
    /// A program, started with this process's output.
    Program(Command),
    /// Another task of this program.
    Task(fn(&[String]) -> Result<u8, Error>),
}

/// How a gate ended.
struct Outcome {
    name: &'static str,
    /// `None` if the gate did not run because an earlier one failed.
    result: Option<(u8, Duration)>,
}

/// Runs the gates and stops at the first that fails, or runs them all with `--keep-going`; the exit
/// code is that of the first failure.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [keep_going] = flags::switches("ci", args, ["--keep-going"])?;
    let outcomes = run_steps(steps()?, keep_going);
    println!("\n{}", summary(&outcomes));
    Ok(first_failure(&outcomes))
}

/// The feature that is off by default for the time its crates take to compile.
const PARQUET: &str = "pliant-cli/parquet";

/// That, and those that PETSc is needed for.
const WITH_PETSC: &str = "pliant-cli/parquet,pliant-cli/petsc,pliant-petsc/petsc";

/// The features that are off by default, as far as what they need is installed.
fn features() -> &'static str {
    if petsc::is_there() { WITH_PETSC } else { PARQUET }
}

/// Clippy, also of what is compiled with features alone.
fn lint(_: &[String]) -> Result<u8, Error> {
    let mut command = process::cargo()?;
    command.args(["clippy", "--workspace", "--all-targets", "--features", features()]);
    command.args(["--locked", "--", "-D", "warnings"]);
    println!("$ {}", process::describe(&command));
    process::run(command)
}

fn test_features(_: &[String]) -> Result<u8, Error> {
    let mut bare = process::cargo()?;
    bare.args([
        "check",
        "--package",
        "pliant",
        "--no-default-features",
        "--locked",
    ]);
    println!("$ {}", process::describe(&bare));
    let code = process::run(bare)?;
    if code != 0 {
        return Ok(code);
    }
    run_feature_tests(features(), &["columns", "parquet", petsc::TESTS])
}

/// The tests of features, by the names of their modules. With the whole workspace, as the tests
/// without them: for some packages alone, whose dependencies have other features, nearly all would
/// be compiled again.
pub(crate) fn run_feature_tests(features: &str, names: &[&str]) -> Result<u8, Error> {
    let mut command = process::cargo()?;
    command.args([
        "test",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
        "--features",
        features,
    ]);
    command.args(["--locked", "--"]).args(names);
    println!("$ {}", process::describe(&command));
    process::run(command)
}

fn steps() -> Result<Vec<Step>, Error> {
    let cargo = |args: &[&str]| -> Result<Action, Error> {
        let mut command = process::cargo()?;
        command.args(args);
        Ok(Action::Program(command))
    };
    Ok(vec![
        Step {
            name: "fmt",
            action: cargo(&["fmt", "--all", "--check"])?,
        },
        // Before those that ask whether it is there.
        Step {
            name: "petsc",
            action: Action::Task(petsc::prepare),
        },
        Step {
            name: "clippy",
            action: Action::Task(lint),
        },
        Step {
            name: "test",
            action: cargo(&["test", "--workspace", "--locked"])?,
        },
        Step {
            name: "features",
            action: Action::Task(test_features),
        },
        Step {
            name: "package",
            action: Action::Task(package::run),
        },
        Step {
            name: "examples",
            action: Action::Task(examples::run),
        },
        Step {
            name: "doc",
            action: Action::Program(docs::command()?),
        },
        Step {
            name: "book",
            action: Action::Task(book::run),
        },
        Step {
            name: "tidy",
            action: Action::Task(tidy::run),
        },
        Step {
            name: "bench",
            action: cargo(&["bench", "--package", "pliant-benches", "--locked", "--", "--test"])?,
        },
        Step {
            name: "verify",
            action: Action::Task(verify::run),
        },
        Step {
            name: "python",
            action: Action::Task(python::run),
        },
    ])
}

fn run_steps(steps: Vec<Step>, keep_going: bool) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut failed = false;
    for Step { name, action } in steps {
        if failed && !keep_going {
            outcomes.push(Outcome { name, result: None });
            continue;
        }
        let start = Instant::now();
        let ended = match action {
            Action::Program(command) => {
                println!("\n$ {}", process::describe(&command));
                process::run(command)
            }
            Action::Task(task) => {
                println!("\n$ cargo xtask {name}");
                task(&[])
            }
        };
        let code = ended.unwrap_or_else(|error| {
            eprintln!("error: {error}");
            error.exit_code()
        });
        let duration = start.elapsed();
        println!("[{name}: {} in {:.1} s]", verdict(code), duration.as_secs_f64());
        failed |= is_failure(code);
        outcomes.push(Outcome {
            name,
            result: Some((code, duration)),
        });
    }
    outcomes
}

fn verdict(code: u8) -> String {
    match code {
        0 => "ok".to_owned(),
        NOT_RUN => "NOT RUN: what it needs is not here".to_owned(),
        _ => format!("FAILED, exit code {code}"),
    }
}

fn is_failure(code: u8) -> bool {
    code != 0 && code != NOT_RUN
}

/// One line per gate: its name, its duration and how it ended.
fn summary(outcomes: &[Outcome]) -> String {
    let mut lines = vec![format!("{:<8} {:>9}  result", "gate", "duration")];
    for outcome in outcomes {
        lines.push(match outcome.result {
            Some((code, duration)) => {
                format!(
                    "{:<8} {:>7.1} s  {}",
                    outcome.name,
                    duration.as_secs_f64(),
                    verdict(code)
                )
            }
            None => format!("{:<8} {:>9}  not run", outcome.name, "-"),
        });
    }
    lines.join("\n")
}

fn first_failure(outcomes: &[Outcome]) -> u8 {
    outcomes
        .iter()
        .filter_map(|outcome| outcome.result)
        .map(|(code, _)| code)
        .find(|&code| is_failure(code))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_steps() -> Vec<Step> {
        vec![
            Step {
                name: "a",
                action: Action::Task(|_| Ok(0)),
            },
            Step {
                name: "b",
                action: Action::Task(|_| Ok(7)),
            },
            Step {
                name: "c",
                action: Action::Program(Command::new("no-such-program-here")),
            },
        ]
    }

    #[test]
    fn the_first_failure_stops_the_run_and_gives_the_exit_code() {
        let outcomes = run_steps(three_steps(), false);
        assert_eq!(first_failure(&outcomes), 7);
        let summary = summary(&outcomes);
        assert!(
            summary.contains("FAILED, exit code 7") && summary.contains("not run"),
            "{summary}"
        );
    }

    #[test]
    fn keep_going_runs_the_rest() {
        let outcomes = run_steps(three_steps(), true);
        assert_eq!(outcomes[2].result.map(|(code, _)| code), Some(1));
        assert_eq!(first_failure(&outcomes), 7);
    }

    #[test]
    fn a_gate_that_could_not_run_is_told_and_stops_nothing() {
        let task = |name, code| Step {
            name,
            action: Action::Task(code),
        };
        let steps = vec![task("a", |_| Ok(NOT_RUN)), task("b", |_| Ok(0))];
        let outcomes = run_steps(steps, false);
        assert_eq!(outcomes[1].result.map(|(code, _)| code), Some(0));
        assert_eq!(first_failure(&outcomes), 0);
        assert!(summary(&outcomes).contains("NOT RUN"));
    }

    #[test]
    fn no_failure_is_success() {
        let steps = vec![Step {
            name: "a",
            action: Action::Task(|_| Ok(0)),
        }];
        assert_eq!(first_failure(&run_steps(steps, false)), 0);
    }
}
