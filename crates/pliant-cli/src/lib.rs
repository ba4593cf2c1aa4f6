//! The program `pliant` as a library: runs scene files, makes them of robot descriptions, and
//! solves problems that were dumped.
//!
//! [`program`] is all of it. [`OpenSweep`] and [`run_job`] are the two ends of a sweep whose jobs
//! are run by another engine, on other machines: the same code as that of `pliant sweep` and
//! `pliant run`, so that results and tables are the same bytes.
//!
//! Exit codes: 0 all went well, 2 a bad scene, problem or argument, 3 a step or solve did not
//! converge or constraints contradict each other, 4 another numerical failure, 5 results or standard
//! output could not be written, or results have no place (no step is taken then), 6 jobs of a sweep
//! failed, 130 the run or the sweep was interrupted.
//!
//! Features, off by default: `parquet` (tables of sweeps as Parquet files) and `petsc` (runs over
//! several processes, where PETSc is installed).
#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
mod check;
mod components;
mod gradient;
mod ik;
mod import;
mod info;
mod interrupt;
mod job;
mod modes;
mod new;
mod page;
mod picture;
mod plot;
mod progress;
mod render;
mod run;
mod schema;
mod solve;
mod sweep;
mod table;
mod view;

use arguments::{Arguments, Command};
use clap::{CommandFactory, Parser};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

pub use job::run_job;
pub use sweep::{OpenSweep, SweepOptions};

/// A bad scene, problem or argument; clap uses the same.
const BAD_SCENE: u8 = 2;
/// A step or a solve did not converge, or constraints contradict each other.
const NOT_CONVERGED: u8 = 3;
/// Another numerical failure.
const FAILED: u8 = 4;
/// Results could not be written, or their directory not be taken.
const NOT_WRITTEN: u8 = 5;
/// A sweep went to its end, and some of its jobs failed.
const JOBS_FAILED: u8 = 6;
/// SIGINT or SIGTERM ended the run after a step; 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

/// Runs the program with the arguments of this process.
pub fn program() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(BAD_SCENE);
            let printed = error.print();
            if !error.use_stderr() {
                note_printed(printed);
            }
            return ExitCode::from(with_printing(code));
        }
    };
    let code = match &arguments.command {
        Command::Run(run) => run::run(run),
        Command::Render(render) => render::render(render),
        Command::View(view) => view::view(view),
        Command::Check(check) => check::check(check),
        Command::Modes(modes) => modes::modes(modes),
        Command::Ik(ik) => ik::ik(ik),
        Command::Gradient(gradient) => gradient::gradient(gradient),
        Command::Solve(solve) => solve::solve(solve),
        Command::Sweep(sweep) => sweep::sweep(sweep),
        Command::Info(info) => info::info(info),
        Command::Import(import) => import::import(import),
        Command::New(new) => new::new(new),
        Command::Plot(plot) => plot::plot(plot),
        Command::Components(components) => components::components(components),
        Command::Completions(completions) => {
            let mut text = Vec::new();
            clap_complete::generate(completions.shell, &mut Arguments::command(), "pliant", &mut text);
            print(&String::from_utf8_lossy(&text));
            0
        }
        Command::Man(man) => match clap_mangen::generate_to(Arguments::command(), &man.folder) {
            Ok(()) => 0,
            Err(error) => {
                complain(&format!("error: {}: {error}", man.folder.display()));
                NOT_WRITTEN
            }
        },
        Command::Schema => schema::schema(),
    };
    ExitCode::from(with_printing(code))
}

/// Whether something could not be written to standard output.
static IS_OUTPUT_LOST: AtomicBool = AtomicBool::new(false);

/// Writes to standard output; a reader that went away (`| head`) is no error. Any other error, such
/// as a full disk, is told once, and makes the exit code of a program that went well that of files
/// which could not be written.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    note_printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Tells the first error of standard output.
fn note_printed(printed: std::io::Result<()>) {
    let lost = printed
        .err()
        .filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
    if let Some(error) = lost
        && !IS_OUTPUT_LOST.swap(true, Ordering::Relaxed)
    {
        complain(&format!("error: cannot write to standard output: {error}"));
    }
}

/// The exit code, once all is printed: what failed before matters more than lost output.
fn with_printing(code: u8) -> u8 {
    match code {
        0 if IS_OUTPUT_LOST.load(Ordering::Relaxed) => NOT_WRITTEN,
        code => code,
    }
}

/// Writes a whole scene or none.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let part = path.with_extension("ron.part");
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Writes a line to standard error, which may be closed too.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
