//! The measurement of one case, and how it is written down.

use super::cases::Case;
use pliant::solvers::KktSystem;
use pliant_benches::candidates::{self, Analysed, Task};
use pliant_benches::timing::clock;
use serde_json::json;
use std::time::Instant;

/// Longest time of measuring one case, s, in a quick and in a full run.
const BUDGET: [f64; 2] = [0.3, 3.0];
/// Most operations of a peer's factorisation, in a quick and in a full run.
const FLOPS: [f64; 2] = [3e8, 1e10];
const ROUNDS: usize = 1000;
/// Longest time that three rounds are worth, s.
const PATIENCE: f64 = 10.0;

/// Times of one solver, s.
pub(crate) struct Times {
    name: &'static str,
    analysis: f64,
    factor: f64,
    solve: f64,
    residual: f64,
    entries: usize,
}

/// Figures of one case.
pub(crate) struct Figures {
    name: String,
    units: usize,
    size: usize,
    entries: usize,
    rounds: usize,
    /// Nested dissection of the graph of entries, s.
    dissection: Option<f64>,
    /// The project's solver first.
    times: Vec<Times>,
}

/// Factors and solves with every solver in turns and keeps the least time of each.
pub(crate) fn measure(
    case: &Case,
    system: KktSystem,
    quick: bool,
    peers: bool,
    threads: usize,
) -> Result<Figures, String> {
    let class = usize::from(!quick);
    let mut task = Task::new(system)?;
    let mut solvers = vec![candidates::ours(&task, 1)?];
    if threads > 1 {
        solvers.push(candidates::ours(&task, threads)?);
    }
    let dissection = if peers {
        solvers.extend(other_solvers(&task, FLOPS[class])?);
        Some(dissection(&task)?)
    } else {
        None
    };
    let mut times: Vec<Times> = solvers
        .iter()
        .map(|(solver, analysis)| Times {
            name: solver.name(),
            analysis: *analysis,
            factor: f64::INFINITY,
            solve: f64::INFINITY,
            residual: 0.0,
            entries: solver.entries(),
        })
        .collect();
    let (mut z, mut r) = (Vec::new(), Vec::new());
    let start = Instant::now();
    let mut rounds = 0;
    let time_left = |rounds| {
        let elapsed = start.elapsed().as_secs_f64();
        elapsed < BUDGET[class] || rounds < 3 && elapsed < PATIENCE
    };
    while rounds < ROUNDS && time_left(rounds) {
        task.stir(rounds);
        for ((solver, _), out) in solvers.iter_mut().zip(&mut times) {
            // Threads wait for each other: only the time that passes says what several take.
            let threaded = out.name == THREADS;
            let passing = Instant::now();
            let (factor, done) = clock(|| solver.factor(&task));
            let factor = if threaded {
                passing.elapsed().as_secs_f64()
            } else {
                factor
            };
            done.map_err(|e| format!("{}: {e}", out.name))?;
            let (solve, done) = clock(|| solver.solve(&task, &mut z));
            done.map_err(|e| format!("{}: {e}", out.name))?;
            out.factor = out.factor.min(factor);
            out.solve = out.solve.min(solve);
            if rounds == 0 {
                out.residual = task.residual(&z, &mut r);
            }
        }
        rounds += 1;
    }
    Ok(Figures {
        name: case.name.clone(),
        units: case.units,
        size: task.rhs.len(),
        entries: task.matrix.values().len(),
        rounds,
        dissection,
        times,
    })
}

#[cfg(feature = "peers")]
fn other_solvers(task: &Task, flops: f64) -> Result<Vec<Analysed>, String> {
    candidates::peers(task, flops)
}

#[cfg(not(feature = "peers"))]
fn other_solvers(_: &Task, _: f64) -> Result<Vec<Analysed>, String> {
    Ok(Vec::new())
}

#[cfg(feature = "peers")]
fn dissection(task: &Task) -> Result<f64, String> {
    candidates::entrywise_dissection(task)
}

#[cfg(not(feature = "peers"))]
fn dissection(_: &Task) -> Result<f64, String> {
    Ok(0.0)
}

/// Name of the project's solver on several threads.
const THREADS: &str = "threads";

/// Peers in the order of the columns.
const PEERS: [&str; 3] = ["QDLDL", "faer AMD", "faer ND"];

/// The head of the table.
pub(crate) fn head(peers: bool, threads: usize) -> String {
    let mut columns =
        "| case | n + m | entries | entries of L | analysis ms | factor ms | solve ms | us/unit | residual |"
            .to_owned();
    let mut rule = "|---|---|---|---|---|---|---|---|---|".to_owned();
    if threads > 1 {
        columns += &format!(" {threads} threads |");
        rule += "---|";
    }
    if peers {
        for name in PEERS {
            columns += &format!(" {name} |");
            rule += "---|";
        }
        columns += " dissection / analysis |";
        rule += "---|";
    }
    format!("{columns}\n{rule}")
}

impl Figures {
    /// A row of the table. A peer's column: its factor time, its factor and solve time, as
    /// multiples of the project's, and its residual.
    pub(crate) fn row(&self, peers: bool) -> String {
        let own = &self.times[0];
        let mut out = format!(
            "| {} | {} | {} | {} | {:.2} | {:.4} | {:.4} | {:.3} | {:.0e} |",
            self.name,
            self.size,
            self.entries,
            own.entries,
            1e3 * own.analysis,
            1e3 * own.factor,
            1e3 * own.solve,
            1e6 * (own.factor + own.solve) / self.units as f64,
            own.residual
        );
        if let Some(t) = self.times.iter().find(|t| t.name == THREADS) {
            out += &format!(" {:.2} |", own.factor / t.factor);
        }
        if !peers {
            return out;
        }
        for name in PEERS {
            out += &match self.times.iter().find(|t| t.name == name) {
                Some(t) => format!(
                    " {:.2}, {:.2}, {:.0e} |",
                    t.factor / own.factor,
                    (t.factor + t.solve) / (own.factor + own.solve),
                    t.residual
                ),
                None => " - |".to_owned(),
            };
        }
        let dissection = self.dissection.unwrap_or(f64::NAN) / own.analysis;
        out + &format!(" {dissection:.1} |")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let solver = |t: &Times| {
            json!({
                "name": t.name, "analysis_s": t.analysis, "factor_s": t.factor, "solve_s": t.solve,
                "residual": t.residual, "factor_entries": t.entries,
            })
        };
        json!({
            "case": self.name, "units": self.units, "size": self.size, "entries": self.entries, "rounds": self.rounds,
            "entrywise_dissection_s": self.dissection, "solvers": self.times.iter().map(solver).collect::<Vec<_>>(),
        })
    }
}
