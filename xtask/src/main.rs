//! Developers' tasks, run as `cargo xtask <task>`.
//!
//! This program is the one place where the project's gates are written down. Continuous integration
//! calls `cargo xtask ci` and nothing else, so what passes here passes there.
//!
//! It is no place for mechanics: it knows files, manifests and the output of `cargo metadata`;
//! figures and reference cases are computed by the program in `benches/`, which `verify` and
//! `bench` start.

mod api;
mod bench;
mod book;
mod catalogue;
mod ci;
mod docs;
mod error;
mod examples;
mod flags;
mod fuzz;
mod generate;
mod keys;
mod markdown;
mod metadata;
mod metrics;
mod package;
mod petsc;
mod player;
mod process;
mod python;
mod reflow;
mod release;
mod shapes;
mod sources;
mod text;
mod tidy;
mod verify;

use std::process::ExitCode;

use error::Error;

/// One developers' task: its name, what it does in one line, and its entry point.
struct Task {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<u8, Error>,
}

/// Every task, in the order in which the help lists them.
const TASKS: &[Task] = &[
    Task {
        name: "ci",
        summary: "every gate: fmt, clippy, test, features, package, examples, doc, book, tidy, bench, verify, petsc, python  [--keep-going]",
        run: ci::run,
    },
    Task {
        name: "tidy",
        summary: "layering, sizes, words, comments, source rules, documents, manifests, licences, generated files, catalogue, keys, public items",
        run: tidy::run,
    },
    Task {
        name: "examples",
        summary: "run every example of the crates",
        run: examples::run,
    },
    Task {
        name: "verify",
        summary: "run the reference cases in release mode  [--all]",
        run: verify::run,
    },
    Task {
        name: "package",
        summary: "make the packages of the crates and compile what is in them  [--verify: each by itself, as a registry has it]",
        run: package::run,
    },
    Task {
        name: "petsc",
        summary: "run the tests over MPI; installs PETSc where apt-get may",
        run: petsc::run,
    },
    Task {
        name: "python",
        summary: "install the Python package into an environment in the target folder, run its tests and check its types",
        run: python::run,
    },
    Task {
        name: "robots",
        summary: "compare robots that Python packages ship with MuJoCo, which are downloaded  [their names]",
        run: python::robots,
    },
    Task {
        name: "wheel",
        summary: "build a wheel of the Python package  [--dist]",
        run: python::wheel,
    },
    Task {
        name: "bench",
        summary: "time the benchmark scenes in release mode, or a benchmark by its name  [name, its arguments; --help lists the names]",
        run: bench::run,
    },
    Task {
        name: "fuzz",
        summary: "fuzz the readers, or try random scenes  [targets or `scenes`, `plain-scenes`, `wild-scenes`, --minutes M, --seeds A..B]",
        run: fuzz::run,
    },
    Task {
        name: "docs",
        summary: "build the API pages with warnings denied  [--open]",
        run: docs::run,
    },
    Task {
        name: "book",
        summary: "build the book with mdBook, which is installed into the target folder  [--open], or draw its pictures of scenes  [--pictures]",
        run: book::run,
    },
    Task {
        name: "gen",
        summary: "rewrite the data files made by us  [--check]",
        run: generate::run,
    },
    Task {
        name: "catalogue",
        summary: "write docs/book/src/reference/catalogue.md from the documentation of the components",
        run: catalogue::run,
    },
    Task {
        name: "keys",
        summary: "write python/pliant/keys.py, the keys of the calls of pliant.Scene, from the schema of scenes",
        run: keys::run,
    },
    Task {
        name: "api",
        summary: "write docs/api/, the public items of the libraries, from their sources",
        run: api::run,
    },
    Task {
        name: "reflow",
        summary: "wrap the comments of Rust files at 100 columns  [paths, --check]",
        run: reflow::run,
    },
    Task {
        name: "player",
        summary: "check the player and the live page in headless Chromium  [PAGE.html] [FOLDER for its pictures], --live-rate SCENE...",
        run: player::run,
    },
    Task {
        name: "release",
        summary: "make the program, its manual, the wheel and checksums in target/release-VERSION/, and try them",
        run: release::run,
    },
    Task {
        name: "metrics",
        summary: "lines and tests per crate, largest types, types in many files, long functions",
        run: metrics::run,
    },
    Task {
        name: "help",
        summary: "this list",
        run: help,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Runs the task named by the first argument with the others; without one, prints the help.
fn dispatch(args: &[String]) -> Result<u8, Error> {
    let Some((name, rest)) = args.split_first() else {
        return help(&[]);
    };
    if matches!(name.as_str(), "-h" | "--help") {
        return help(&[]);
    }
    match TASKS.iter().find(|task| task.name == name) {
        Some(task) => (task.run)(rest),
        None => {
            let names: Vec<&str> = TASKS.iter().map(|task| task.name).collect();
            Err(Error::UnknownTask {
                name: name.clone(),
                nearest: flags::nearest(name, &names),
            })
        }
    }
}

/// Prints the list of tasks; arguments are ignored.
fn help(_: &[String]) -> Result<u8, Error> {
    println!("Developers' tasks of Pliant.\n\nUsage: cargo xtask <task> [arguments]\n\nTasks:");
    for task in TASKS {
        println!("  {:<9} {}", task.name, task.summary);
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_argument_prints_the_help_and_succeeds() {
        assert_eq!(dispatch(&[]).ok(), Some(0));
        assert_eq!(dispatch(&["--help".to_owned()]).ok(), Some(0));
    }

    #[test]
    fn an_unknown_task_is_a_usage_error_that_suggests_the_nearest() {
        let error = dispatch(&["tydi".to_owned()]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("did you mean `tidy`"), "{error}");
    }
}
