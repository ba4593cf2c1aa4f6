//! The corpus: every problem of `tests/corpus/`, every solver of its kind, one judge.

mod exceptions;
mod generate;
pub(crate) mod judge;

use exceptions::{EXCEPTIONS, Ends};
use pliant_lab::exchange::{Answer, Expected, Layout, Record, Statement};
use pliant_lab::registry::{COMPLEMENTARITY, KKT};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{Auto, Cone, Limits, Method, Outcome, Problem, ProblemError, Solver};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Tolerance that every solver is asked for.
const TOLERANCE: f64 = 1e-8;
/// Sweeps, pivots, steps of Newton.
const ITERATIONS: usize = 2000;
/// Judge and solvers measure alike (a KKT solver more strictly: by components), but add in another
/// order: sums differ by some 1e-15 of their terms, which is 1e-7 of the tolerance. Of all true
/// claims the largest is 0.9996 of the tolerance.
const SLACK: f64 = 1.0 + 1e-6;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn load() -> Vec<Record> {
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let none = |name: &str| Err(format!("{name}: the corpus has single files"));
        let record = Record::read(&text, none).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(path.file_stem().unwrap().to_str(), Some(record.name.as_str()));
        record
    };
    files.iter().map(read).collect()
}

/// With `PLIANT_WRITE_CORPUS` set it writes the files anew: that is how `cargo xtask gen` does it.
#[test]
fn files_are_what_the_generator_writes() {
    let write = std::env::var_os("PLIANT_WRITE_CORPUS").is_some();
    let mut known = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut bytes = 0;
    for record in generate::all() {
        let file = format!("{}.json", record.name);
        let text = record.write(Layout::Single).unwrap().header;
        bytes += text.len();
        let again = Record::read(&text, |name| Err(name.to_owned())).unwrap();
        assert_eq!(again.write(Layout::Single).unwrap().header, text, "{file}");
        let path = folder().join(&file);
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        if found != text {
            if write {
                std::fs::create_dir_all(folder()).unwrap();
                std::fs::write(&path, &text).unwrap();
            } else {
                wrong.push(file.clone());
            }
        }
        assert!(known.insert(file), "two problems named {}", record.name);
        assert!(
            !record.about.is_empty() && !record.source.is_empty(),
            "{}",
            record.name
        );
    }
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !known.contains(&name) {
            wrong.push(format!("{name}, which nobody makes"));
        }
    }
    assert!(
        wrong.is_empty(),
        "`cargo xtask gen` writes other files: {wrong:?}"
    );
    assert!(known.len() >= 60, "only {} problems", known.len());
    assert!(bytes < 2_000_000, "{bytes} bytes");
}

/// The problems that a stage of `Auto` is there for end with that stage; some are scenes.
#[test]
fn every_stage_of_auto_is_needed() {
    let records = load();
    for (place, names) in Auto::needed_by().enumerate() {
        assert!(!names.is_empty(), "stage {place}");
        for name in names {
            let Some(record) = records.iter().find(|record| record.name == *name) else {
                let scene = format!("../../scenes/{name}.ron");
                let scene = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(scene);
                assert!(scene.is_file(), "stage {place}: {name}");
                continue;
            };
            let condensed;
            let problem = match &record.statement {
                Statement::Complementarity(problem) => problem,
                Statement::Mixed(mixed) => {
                    condensed = mixed.condense().unwrap();
                    &condensed.problem
                }
                Statement::Kkt(_) => panic!("{name}"),
            };
            let mut r = vec![0.0; problem.size()];
            let report = Auto::default().solve(problem, &mut r).unwrap();
            let last = report.stages.last().map(|stage| stage.place);
            assert_eq!(
                (report.outcome, last),
                (Outcome::Converged, Some(place)),
                "{name}"
            );
        }
    }
}

/// From the answer to nearly the same problem, as iterates of a step have it, Newton's method takes
/// a few factorisations where contacts have more freedom than rows, and no interior point is tried.
#[test]
fn answers_to_nearly_the_same_problem_take_few_factorisations() {
    const CONTACTS: usize = 40;
    let n = 3 * CONTACTS;
    // Coupled by waves, each contact with an inertia of its own.
    let a: Vec<f64> = (0..n * n)
        .map(|k| {
            let (i, j) = ((k / n) as f64, (k % n) as f64);
            let own = if k / n == k % n { 1.0 } else { 0.0 };
            own + 0.3 * (0.1 * (i - j)).cos() / (1.0 + 0.05 * (i - j).abs())
        })
        .collect();
    let b = |share: f64| -> Vec<f64> {
        let of_row = |i: usize| match i % 3 {
            0 => -1.0 + 0.5 * (i as f64).sin() + share * (0.7 * i as f64).sin(),
            _ => (1.3 * i as f64).cos() + share * (0.9 * i as f64).cos(),
        };
        (0..n).map(of_row).collect()
    };
    let mut problem = Problem::dense(&a, &b(0.0), &[Cone::Coulomb { mu: 0.5 }; CONTACTS]).unwrap();
    let mut auto = Auto::default();
    let mut r = vec![0.0; n];
    let cold = auto.solve(&problem, &mut r).unwrap();
    assert_eq!(cold.method, Method::InteriorPoint);
    for share in [1e-3, 1e-2, 3e-2] {
        problem.set_b(&b(share)).unwrap();
        let warm = auto.solve(&problem, &mut r).unwrap();
        assert_eq!(
            (warm.outcome, warm.method),
            (Outcome::Converged, Method::Newton),
            "{share}"
        );
        let last = warm.stages.last().unwrap();
        assert!(last.iterations <= 5, "{share}: {last:?}");
    }
}

/// Claim of a solver about a problem, and whether it is true.
struct Verdict {
    /// Whether the solver says that it solved the problem.
    claims: bool,
    /// The judge's residual; infinite if there is no answer.
    residual: f64,
    /// The answer is one of those that are known, or nothing is known.
    agrees: bool,
    words: String,
}

/// Whether two lists agree to the tolerance, against the largest of the second.
fn near(found: &[f64], known: &[f64], tolerance: f64) -> bool {
    let largest = known.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    found.len() == known.len()
        && found
            .iter()
            .zip(known)
            .all(|(x, y)| (x - y).abs() <= tolerance * unit)
}

fn run_kkt(record: &Record, system: &KktSystem, solver: usize) -> Verdict {
    let entry = &KKT[solver];
    match (entry.solve)(system, TOLERANCE, ITERATIONS) {
        Err(error) => Verdict {
            claims: false,
            residual: f64::INFINITY,
            agrees: false,
            words: error.to_string(),
        },
        Ok(found) => {
            let z = &found.solution;
            let fits = |a: &Answer| {
                let least_norm = ["box", "direct", "dense"].contains(&entry.name);
                let free = !least_norm && MULTIPLIERS_NOT_UNIQUE.contains(&record.name.as_str());
                near(&z.x, &a.x, a.tolerance) && (a.mu.is_empty() || free || near(&z.mu, &a.mu, a.tolerance))
            };
            Verdict {
                claims: found.converged,
                residual: judge::kkt(system, z),
                agrees: record.answers.is_empty() || record.answers.iter().any(fits),
                words: format!(
                    "{} after {}, {:.0e}",
                    found.status, found.iterations, found.residual.relative
                ),
            }
        }
    }
}

/// Redundant rows: only some solvers promise the multipliers of least norm.
const MULTIPLIERS_NOT_UNIQUE: &[&str] = &[
    "redundant-rows",
    "four-legs",
    "ring-6",
    "ring-40",
    "thirty-equal-rows",
];

fn run_cones(record: &Record, problem: &Problem, solver: usize) -> Option<Verdict> {
    let entry = &COMPLEMENTARITY[solver];
    let limits = Limits {
        tolerance: TOLERANCE,
        max_iterations: ITERATIONS,
        patience: ITERATIONS,
        ..Limits::default()
    };
    let mut r = vec![0.0; problem.size()];
    let report = match (entry.make)(limits).solve(problem, &mut r) {
        Ok(report) => report,
        Err(ProblemError::Unsuitable { .. }) if !entry.friction && problem.has_friction() => return None,
        Err(ProblemError::Pyramid { .. }) => return None,
        Err(error) => panic!("{}, {}: {error}", record.name, entry.name),
    };
    let mut u = vec![0.0; problem.size()];
    problem.velocity_into(&r, &mut u);
    // A velocity that is known to be zero has the scale of the approach.
    let scale = problem.b().iter().fold(0.0f64, |a, b| a.max(b.abs()));
    let fits = |a: &Answer| {
        let still = a.u.iter().all(|u| *u == 0.0);
        let tolerance = a.tolerance * if still { scale } else { 1.0 };
        (a.r.is_empty() || near(&r, &a.r, a.tolerance)) && (a.u.is_empty() || near(&u, &a.u, tolerance))
    };
    Some(Verdict {
        claims: report.outcome == Outcome::Converged,
        residual: judge::cones(problem, &r),
        agrees: record.answers.is_empty() || record.answers.iter().any(fits),
        words: format!(
            "{:?} after {}, {:.0e}",
            report.outcome,
            report.iterations,
            report.residual.measure()
        ),
    })
}

#[test]
fn every_solver_on_every_problem() {
    let records = load();
    let mut wrong = Vec::new();
    let mut used = vec![false; EXCEPTIONS.len()];
    for record in &records {
        let condensed;
        let problem = match &record.statement {
            Statement::Kkt(_) => None,
            Statement::Complementarity(problem) => Some(problem),
            Statement::Mixed(mixed) => {
                condensed = mixed.condense().unwrap();
                Some(&condensed.problem)
            }
        };
        let names: Vec<&str> = match problem {
            None => KKT.iter().map(|e| e.name).collect(),
            Some(_) => COMPLEMENTARITY.iter().map(|e| e.name).collect(),
        };
        for (solver, name) in names.iter().enumerate() {
            let exception = exceptions::of(&record.name, name);
            let ends = exception.map(|k| EXCEPTIONS[k].ends);
            if ends == Some(Ends::Skipped) {
                used[exception.unwrap()] = true;
                continue;
            }
            let started = std::time::Instant::now();
            let verdict = match (&record.statement, problem) {
                (Statement::Kkt(system), _) if !KKT[solver].takes(system) => {
                    let refused = (KKT[solver].solve)(system, TOLERANCE, ITERATIONS);
                    assert!(refused.is_err(), "{}, {name}: {refused:?}", record.name);
                    continue;
                }
                (Statement::Kkt(system), _) => run_kkt(record, system, solver),
                (_, Some(problem)) => match run_cones(record, problem, solver) {
                    Some(verdict) => verdict,
                    None => continue,
                },
                (_, None) => unreachable!(),
            };
            let line = format!(
                "{}, {name}: {}, judge {:.0e}",
                record.name, verdict.words, verdict.residual
            );
            println!("{line} [{} us]", started.elapsed().as_micros());
            // Whatever is expected: a claim is to be true. The known false ones are in the table.
            let is_true = verdict.residual <= SLACK * TOLERANCE;
            if verdict.claims && !is_true && ends != Some(Ends::Claims) {
                wrong.push(format!("FALSE: {line}"));
            }
            let solved = verdict.claims && verdict.agrees;
            let asked = match record.expected {
                Expected::Solvable => true,
                Expected::Incompatible | Expected::Indefinite | Expected::Unsolvable => false,
                _ => continue,
            };
            if record.expected == Expected::Incompatible
                && !record.answers.is_empty()
                && *name == "direct"
                && !verdict.agrees
            {
                wrong.push(format!("another compromise: {line}"));
            }
            let ended = if solved && asked {
                None
            } else if verdict.claims {
                Some(Ends::Claims)
            } else {
                Some(Ends::Fails)
            };
            // Where there is no solution, not to claim one is what is asked.
            let good = ended.is_none() || (!asked && ended == Some(Ends::Fails));
            match ends {
                None if !good => wrong.push(format!("{ended:?}: {line}")),
                Some(_) if good => wrong.push(format!("no exception any more: {line}")),
                Some(ends) if ended != Some(ends) => wrong.push(format!("{ended:?}, not {ends:?}: {line}")),
                _ => {}
            }
            if let Some(k) = exception {
                used[k] = true;
            }
        }
    }
    for (e, used) in EXCEPTIONS.iter().zip(used) {
        assert!(!e.reason.is_empty());
        if !used {
            wrong.push(format!(
                "an exception that nothing needs: {:?} {:?}",
                e.problems, e.solvers
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of the pairs:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
