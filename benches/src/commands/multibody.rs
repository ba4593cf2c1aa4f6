//! Multibody benchmark problems: errors against known answers, energies and times, at steps that
//! halve.
//!
//! `cargo xtask bench multibody [--quick] [--write] [--only TEXT]`: prints; `--quick` takes two
//! steps instead of four, `--only` the problems whose names hold the text; with `--write` it draws
//! `docs/book/src/pictures/multibody.svg` anew.

use super::{Ended, write_picture};
use pliant_benches::multibody::{Failure, PROBLEMS, Problem};
use pliant_benches::orders::{Errors, Method, Table, methods, svg};
use std::process::ExitCode;

pub(super) fn run(arguments: &[String]) -> Ended {
    let (mut quick, mut write, mut only) = (false, false, String::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => quick = true,
            "--write" => write = true,
            "--only" => only = arguments.next().cloned().unwrap_or_default(),
            other => {
                eprintln!("unknown argument `{other}`; there are `--quick`, `--write` and `--only TEXT`");
                return Ok(ExitCode::from(2));
            }
        }
    }
    let mut tables = Vec::new();
    for problem in PROBLEMS.iter().filter(|p| p.name.contains(&only)) {
        let table = show(problem, if quick { 2 } else { 4 });
        tables.push(table.map_err(|error| format!("{}: {error}", problem.name))?);
    }
    if write {
        write_picture("multibody.svg", &svg("Multibody benchmark problems", &tables))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(problem: &Problem, halvings: i32) -> Result<Table, Failure> {
    println!(
        "{}, {} s, compared at {} s with {}; OpenSim: {} s\n",
        problem.name, problem.duration, problem.known_at, problem.answer, problem.published
    );
    println!(
        "| method | step ms | error (m, rad) | energy | violation | redundant rows | s | us per step |\n|---|---|---|---|---|---|---|---|"
    );
    let steps: Vec<f64> = (0..halvings).map(|k| problem.coarsest * 0.5f64.powi(k)).collect();
    let chosen = |m: &Method| m.rows && !m.name.contains("no geometric");
    let mut errors = Vec::new();
    for method in methods().into_iter().filter(chosen) {
        let mut own = Vec::new();
        for h in &steps {
            // The digits of the answers end soon.
            if own.last().is_some_and(|e| *e < 1e-8) {
                own.push(f64::NAN);
                continue;
            }
            let step = format!("| {} | {:.4} |", method.name, h * 1e3);
            match problem.run(problem.simulation(&method)?, *h) {
                Ok(run) => {
                    own.push(run.error);
                    let (least, most) = run.redundant;
                    let energy = problem
                        .scale
                        .map_or(String::new(), |_| format!("{:.1e}", run.energy));
                    println!(
                        "{step} {:.1e} | {energy} | {:.0e} | {least} to {most} | {:.3} | {:.1} |",
                        run.error,
                        run.violation,
                        run.seconds,
                        1e6 * run.seconds / run.steps as f64
                    );
                }
                Err(error) => {
                    own.push(f64::NAN);
                    let words = error.to_string();
                    println!(
                        "{step} fails: {} | | | | | |",
                        words.split(';').next().unwrap_or("")
                    );
                }
            }
        }
        errors.push(Errors {
            method: method.name,
            errors: own,
        });
    }
    println!();
    Ok(Table {
        problem: problem.name,
        steps,
        errors,
    })
}
