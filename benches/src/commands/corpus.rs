//! Every complementarity solver on the contact problems of the corpus: tables, and the pictures of
//! docs/book/src/pictures.
//!
//! `cargo xtask bench corpus [--write]`: prints; with `--write` it draws the pictures anew.

use super::{Ended, write_picture};
use pliant::solvers::complementarity::{Limits, Outcome, Problem};
use pliant_benches::profile::{Costs, Profile, profiles, svg};
use pliant_lab::exchange::{Expected, Record, Statement};
use pliant_lab::registry::COMPLEMENTARITY;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const TOLERANCES: [f64; 3] = [1e-4, 1e-6, 1e-8];
const ITERATIONS: usize = 2000;
/// Seconds of repeated runs of one pair, of which the shortest counts.
const REPEAT: f64 = 0.02;
/// Dense pivoting on more rows takes minutes; it counts as failed.
const PIVOTING_ROWS: usize = 400;
/// Smaller problems than that of a box on a plane say nothing.
const ROWS: usize = 12;
/// Seconds below which times are not told apart.
const LEAST: f64 = 2e-6;

pub(super) fn run(arguments: &[String]) -> Ended {
    let write = match arguments.first().map(String::as_str) {
        None => false,
        Some("--write") => true,
        Some(other) => {
            eprintln!("unknown argument `{other}`; there is `--write`");
            return Ok(ExitCode::from(2));
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let problems = contacts(&root.join("crates/pliant-solvers/tests/corpus"))?;
    let (mut time, mut work) = (Vec::new(), Vec::new());
    for tolerance in TOLERANCES {
        let (seconds, iterations) = measure(&problems, tolerance);
        let name = format!("residual {tolerance:.0e}");
        print(&name, &problems, &seconds);
        time.push((name.clone(), profiles(&seconds, LEAST)));
        work.push((name, profiles(&iterations, 1.0)));
    }
    for (title, panels, file) in [
        ("Contact problems solved: time", &time, "solver_profile_time.svg"),
        (
            "Contact problems solved: iterations",
            &work,
            "solver_profile_iterations.svg",
        ),
    ] {
        summary(title, panels);
        if write {
            write_picture(file, &svg(title, panels))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The problems with friction that may have a solution, condensed.
fn contacts(folder: &Path) -> Result<Vec<(String, Problem)>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.sort();
    let mut out = Vec::new();
    for file in files {
        let say = |e: String| format!("{}: {e}", file.display());
        let text = std::fs::read_to_string(&file).map_err(|e| say(e.to_string()))?;
        let none = |name: &str| Err(format!("no {name}"));
        let record = Record::read(&text, none).map_err(|e| say(e.to_string()))?;
        if !matches!(record.expected, Expected::Solvable | Expected::Unknown) {
            continue;
        }
        let problem = match record.statement {
            Statement::Complementarity(problem) => problem,
            Statement::Mixed(mixed) => mixed.condense().map_err(|e| say(e.to_string()))?.problem,
            _ => continue,
        };
        if problem.has_friction() && problem.size() >= ROWS {
            out.push((record.name, problem));
        }
    }
    Ok(out)
}

/// Seconds and iterations of all solvers with friction; infinite where a solver did not converge.
fn measure(problems: &[(String, Problem)], tolerance: f64) -> (Vec<Costs>, Vec<Costs>) {
    let (mut seconds, mut iterations) = (Vec::new(), Vec::new());
    let limits = Limits {
        tolerance,
        max_iterations: ITERATIONS,
        patience: ITERATIONS,
        ..Limits::default()
    };
    for entry in COMPLEMENTARITY.iter().filter(|e| e.friction) {
        let mut solver = (entry.make)(limits);
        let (mut times, mut counts) = (Vec::new(), Vec::new());
        for (_, problem) in problems {
            let (mut least, mut count, mut spent) = (f64::INFINITY, f64::INFINITY, 0.0);
            let too_large = entry.name == "lemke" && problem.size() > PIVOTING_ROWS;
            while !too_large && spent < REPEAT {
                let mut r = vec![0.0; problem.size()];
                let started = Instant::now();
                let found = solver.solve(problem, &mut r);
                let took = started.elapsed().as_secs_f64();
                spent += took;
                match found {
                    Ok(report) if report.outcome == Outcome::Converged => {
                        least = least.min(took);
                        count = report.iterations as f64;
                    }
                    _ => break,
                }
            }
            times.push(least);
            counts.push(count);
        }
        let solver = entry.name.to_owned();
        let of = |costs| Costs {
            solver: solver.clone(),
            costs,
        };
        seconds.push(of(times));
        iterations.push(of(counts));
    }
    (seconds, iterations)
}

fn print(name: &str, problems: &[(String, Problem)], seconds: &[Costs]) {
    println!("{name}: ms");
    print!("{:>26} {:>5}", "", "rows");
    seconds.iter().for_each(|c| print!(" {:>9.9}", c.solver));
    println!();
    for (p, (name, problem)) in problems.iter().enumerate() {
        print!("{name:>26} {:>5}", problem.size());
        for c in seconds {
            if c.costs[p].is_finite() {
                print!(" {:>9.3}", 1e3 * c.costs[p]);
            } else {
                print!(" {:>9}", "-");
            }
        }
        println!();
    }
    println!();
}

fn summary(title: &str, panels: &[(String, Vec<Profile>)]) {
    println!("{title}: percent of the problems, best / within a factor of 4 / at all");
    for (name, profiles) in panels {
        println!("  {name}");
        for p in profiles {
            let percent = |factor: f64| 100.0 * p.share(factor);
            println!(
                "    {:<26} {:>4.0} {:>4.0} {:>4.0}",
                p.solver,
                percent(1.0),
                percent(4.0),
                percent(f64::INFINITY)
            );
        }
    }
}
