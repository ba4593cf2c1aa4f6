//! `pliant solve`.

use crate::arguments::{Solve, mebibytes};
use crate::table::{Table, columns, number};
use crate::{BAD_SCENE, FAILED, NOT_CONVERGED, complain};
use pliant::solvers::complementarity::{Limits, Outcome, Problem};
use pliant::solvers::{KktSystem, Solution};
use pliant_lab::exchange::{Record, Statement};
use pliant_lab::registry::{COMPLEMENTARITY, ComplementarityEntry, KKT, KktEntry, MOST_DENSE};
use pliant_run::problem::{LARGEST_PROBLEM, read_problem_within};
use pliant_scene::hint;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The answer of one solver.
struct Attempt {
    solver: &'static str,
    converged: bool,
    /// No report, but an error.
    broken: bool,
    status: String,
    iterations: usize,
    time: Duration,
    /// Names and values.
    residuals: Vec<(&'static str, f64)>,
    /// The one that the tolerance is for.
    measure: f64,
    /// Names and values.
    answer: Vec<(&'static str, Vec<f64>)>,
}

pub(crate) fn solve(arguments: &Solve) -> u8 {
    let most = arguments.max_file_size.map_or(LARGEST_PROBLEM, mebibytes);
    let record = match read_problem_within(&arguments.path, most) {
        Ok(record) => record,
        Err(error) if arguments.path.extension().is_none_or(|it| it != "json") => {
            return bad(&format!(
                "{error}\n = help: problem files end in `.json`; scenes are for `pliant run`"
            ));
        }
        Err(error) => return bad(&error.to_string()),
    };
    if !(arguments.tolerance > 0.0 && arguments.tolerance.is_finite()) {
        let given = arguments.tolerance;
        return bad(&format!("the tolerance is {given}, but must be positive"));
    }
    let attempts = match attempts(&record.statement, arguments) {
        Ok(attempts) => attempts,
        Err(error) => return bad(&error),
    };
    if arguments.json {
        crate::print(&format!("{:#}\n", to_json(&record, &attempts)));
    } else if let ([only], false) = (&attempts[..], arguments.all) {
        head(&record).print();
        report(only).print();
    } else {
        head(&record).print();
        crate::print(&comparison(&attempts));
    }
    match &attempts {
        all if all.iter().any(|a| a.converged) => 0,
        all if all.iter().all(|a| a.broken) => FAILED,
        _ => NOT_CONVERGED,
    }
}

fn bad(error: &str) -> u8 {
    complain(&format!("error: {error}"));
    BAD_SCENE
}

/// The one of this name.
fn find<T: Copy>(list: &[T], name_of: impl Fn(&T) -> &'static str, wanted: &str) -> Result<T, String> {
    if let Some(found) = list.iter().find(|e| name_of(e) == wanted) {
        return Ok(*found);
    }
    let names: Vec<&str> = list.iter().map(&name_of).collect();
    let help = hint(wanted, "there are", names).map_or(String::new(), |h| format!("; {h}"));
    Err(format!("no solver of such problems is named `{wanted}`{help}"))
}

fn attempts(statement: &Statement, arguments: &Solve) -> Result<Vec<Attempt>, String> {
    let wanted = |default: &'static str| arguments.solver.clone().unwrap_or(default.to_owned());
    match statement {
        Statement::Kkt(system) => {
            let entries: Vec<KktEntry> = if arguments.all {
                let takes = |e: &KktEntry| e.takes(system) && e.fits(system);
                KKT.iter().copied().filter(takes).collect()
            } else {
                let entry = find(KKT, |e| e.name, &wanted("box"))?;
                check_size(entry.name, entry.fits(system))?;
                vec![entry]
            };
            Ok(entries.iter().map(|e| of_system(e, system, arguments)).collect())
        }
        Statement::Complementarity(problem) => {
            let entries = of_cones(problem, arguments, &wanted("auto"))?;
            Ok(entries
                .iter()
                .map(|e| of_problem(e, problem, arguments).0)
                .collect())
        }
        Statement::Mixed(mixed) => {
            let started = Instant::now();
            let mut condensed = mixed.condense().map_err(|e| e.to_string())?;
            let condensing = started.elapsed();
            let entries = of_cones(&condensed.problem, arguments, &wanted("auto"))?;
            let mut out = Vec::new();
            for entry in entries {
                let (mut attempt, r) = of_problem(&entry, &condensed.problem, arguments);
                let mut solution = Solution::default();
                attempt.time += condensing;
                if let Ok(whole) = condensed.recover(&r, &mut solution) {
                    attempt.residuals.push(("KKT, relative", whole.residual.relative));
                    attempt.answer.push(("x", solution.x));
                    attempt.answer.push(("mu", solution.mu));
                }
                out.push(attempt);
            }
            Ok(out)
        }
    }
}

fn of_cones(problem: &Problem, arguments: &Solve, wanted: &str) -> Result<Vec<ComplementarityEntry>, String> {
    if arguments.all {
        let takes = |e: &ComplementarityEntry| (e.friction || !problem.has_friction()) && e.fits(problem);
        return Ok(COMPLEMENTARITY.iter().copied().filter(takes).collect());
    }
    let entry = find(COMPLEMENTARITY, |e| e.name, wanted)?;
    check_size(entry.name, entry.fits(problem))?;
    Ok(vec![entry])
}

fn check_size(name: &str, fits: bool) -> Result<(), String> {
    if fits {
        return Ok(());
    }
    Err(format!(
        "`{name}` keeps whole matrices and takes at most {MOST_DENSE} unknowns, a contact with friction as a pyramid; this problem has more"
    ))
}

fn of_system(entry: &KktEntry, system: &KktSystem, arguments: &Solve) -> Attempt {
    let started = Instant::now();
    let found = (entry.solve)(system, arguments.tolerance, arguments.iterations);
    let time = started.elapsed();
    match found {
        Ok(found) => Attempt {
            solver: entry.name,
            converged: found.converged,
            broken: false,
            status: found.status,
            iterations: found.iterations,
            time,
            residuals: vec![
                ("KKT, relative", found.residual.relative),
                ("primal", found.residual.primal),
                ("rows", found.residual.row),
                ("natural map", found.natural),
            ],
            measure: found.residual.relative,
            answer: vec![("x", found.solution.x), ("mu", found.solution.mu)],
        },
        Err(error) => broken(entry.name, error.to_string(), time),
    }
}

fn broken(solver: &'static str, status: String, time: Duration) -> Attempt {
    Attempt {
        solver,
        converged: false,
        broken: true,
        status,
        iterations: 0,
        time,
        residuals: Vec::new(),
        measure: f64::NAN,
        answer: Vec::new(),
    }
}

/// And the impulse.
fn of_problem(entry: &ComplementarityEntry, problem: &Problem, arguments: &Solve) -> (Attempt, Vec<f64>) {
    let limits = Limits {
        tolerance: arguments.tolerance,
        max_iterations: arguments.iterations,
        patience: arguments.iterations,
        ..Limits::default()
    };
    let mut r = vec![0.0; problem.size()];
    let started = Instant::now();
    let found = (entry.make)(limits).solve(problem, &mut r);
    let time = started.elapsed();
    let report = match found {
        Ok(report) => report,
        Err(error) => return (broken(entry.name, error.to_string(), time), r),
    };
    let mut status = match report.outcome {
        Outcome::Converged => "converged",
        Outcome::MaxIterations => "iterations ran out",
        Outcome::Stagnated => "stagnated",
        Outcome::TooMuchWork => "operations ran out",
        Outcome::Ray => "a ray: there may be no solution",
        _ => "breakdown",
    }
    .to_owned();
    if !report.stages.is_empty() {
        let stages: Vec<String> = report.stages.iter().map(|s| format!("{:?}", s.method)).collect();
        status = format!("{status} ({})", stages.join(", "));
    }
    let residual = report.residual;
    let name = if problem.has_friction() {
        "natural map, De Saxce"
    } else {
        "natural map"
    };
    let attempt = Attempt {
        solver: entry.name,
        converged: report.outcome == Outcome::Converged,
        broken: false,
        status,
        iterations: report.iterations,
        time,
        residuals: vec![
            (name, residual.natural),
            ("as a share", residual.relative),
            ("complementarity", residual.complementarity),
            ("as a share", residual.complementarity_share),
            ("pulling impulse", residual.negative_impulse),
            ("approach", residual.approach),
        ],
        measure: residual.measure(),
        answer: vec![("r", r.clone())],
    };
    (attempt, r)
}

fn head(record: &Record) -> Table {
    let mut table = Table::default();
    table.row("problem", record.name.clone());
    for (name, text) in [("about", &record.about), ("source", &record.source)] {
        if !text.is_empty() {
            table.row(name, text.clone());
        }
    }
    table.row("size", size(&record.statement));
    table
}

fn size(statement: &Statement) -> String {
    let of_system = |s: &KktSystem| {
        let entries = s.w.pattern().len() + s.j.pattern().len() + s.r.pattern().len();
        format!("{} unknowns, {} rows, {entries} entries", s.n(), s.m())
    };
    match statement {
        Statement::Kkt(system) => of_system(system),
        Statement::Complementarity(p) => format!("{} rows in {} blocks", p.size(), p.blocks()),
        Statement::Mixed(mixed) => format!(
            "{}, {} rows with cones",
            of_system(&mixed.system),
            mixed.velocity.len()
        ),
    }
}

fn report(attempt: &Attempt) -> Table {
    let mut table = Table::default();
    table.row("solver", attempt.solver);
    table.row("status", attempt.status.clone());
    if !attempt.broken {
        table.row("iterations", attempt.iterations.to_string());
        let list: Vec<String> = attempt
            .residuals
            .iter()
            .map(|(name, x)| format!("{name} {x:.1e}"))
            .collect();
        table.row("residuals", list.join(", "));
    }
    table.row("time", format!("{} ms", number(1e3 * attempt.time.as_secs_f64())));
    table
}

fn comparison(attempts: &[Attempt]) -> String {
    let mut rows = vec![["solver", "residual", "iterations", "ms", "status"].map(str::to_owned)];
    for a in attempts {
        rows.push([
            a.solver.to_owned(),
            if a.broken {
                "-".into()
            } else {
                format!("{:.1e}", a.measure)
            },
            if a.broken {
                "-".into()
            } else {
                a.iterations.to_string()
            },
            number(1e3 * a.time.as_secs_f64()),
            a.status.clone(),
        ]);
    }
    columns(&rows)
}

/// A number, or the name of one that JSON does not know.
fn value(x: f64) -> Value {
    if x.is_finite() {
        json!(x)
    } else {
        json!(x.to_string())
    }
}

fn to_json(record: &Record, attempts: &[Attempt]) -> Value {
    let one = |a: &Attempt| {
        let mut residuals = serde_json::Map::new();
        for (k, (name, x)) in a.residuals.iter().enumerate() {
            // A share follows what it is a share of.
            let name = match (*name, k) {
                ("as a share", 1..) => format!("{}, as a share", a.residuals[k - 1].0),
                (name, _) => name.to_owned(),
            };
            residuals.insert(name, value(*x));
        }
        let answer: serde_json::Map<_, _> = a
            .answer
            .iter()
            .map(|(name, x)| ((*name).to_owned(), x.iter().map(|x| value(*x)).collect()))
            .collect();
        json!({
            "solver": a.solver,
            "converged": a.converged,
            "status": a.status,
            "iterations": a.iterations,
            "seconds": a.time.as_secs_f64(),
            "residuals": residuals,
            "answer": answer,
        })
    };
    json!({
        "problem": record.name,
        "kind": record.statement.kind(),
        "solves": attempts.iter().map(one).collect::<Vec<_>>(),
    })
}
