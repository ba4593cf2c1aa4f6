//! Integrators: errors at steps that halve with the observed orders, and energies over many periods.
//!
//! `orders [--quick] [--write]`: prints; `--quick` takes 20 periods instead of 1000; with `--write` it draws `docs/pictures/orders.svg` anew.

use pliant::Error;
use pliant_benches::orders::{Method, Table, energy_errors, methods, pendulum, svg, swaying_chain, tables};
use std::path::Path;
use std::process::ExitCode;

/// Periods of the slowest motion (s): of the pendulum from the horizontal; of the swaying chain, that of a hanging chain of 1 m.
const PERIODS: [f64; 2] = [2.367841947576237, 1.67];

fn main() -> ExitCode {
    let (mut quick, mut write) = (false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => quick = true,
            "--write" => write = true,
            other => {
                eprintln!("unknown argument `{other}`; there are `--quick` and `--write`");
                return ExitCode::from(2);
            }
        }
    }
    match run(if quick { 20.0 } else { 1000.0 }) {
        Ok(found) => {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures/orders.svg");
            if write && let Err(error) = std::fs::write(&path, svg(&found)) {
                eprintln!("cannot write {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(periods: f64) -> Result<Vec<Table>, Error> {
    let tables = tables()?;
    for table in &tables {
        println!("{}\n", table.problem);
        let steps: Vec<String> = table
            .steps
            .iter()
            .map(|h| format!("h = {:.3} ms", h * 1e3))
            .collect();
        println!("| method | {} | order |", steps.join(" | "));
        println!("|---{}|", "|---".repeat(steps.len() + 1));
        for row in &table.errors {
            let errors: Vec<String> = row
                .errors
                .iter()
                .map(|e| {
                    if e.is_nan() {
                        "fails".into()
                    } else {
                        format!("{e:.1e}")
                    }
                })
                .collect();
            let last = &row.errors[row.errors.len() - 2..];
            println!(
                "| {} | {} | {:.2} |",
                row.method,
                errors.join(" | "),
                (last[0] / last[1]).log2()
            );
        }
        println!();
    }
    println!(
        "Energy over {periods} periods: largest error in the first and in the last tenth, as a share of the energy that the motion turns over\n"
    );
    println!(
        "| method | step | pendulum, first | last | chain of ten, first | last |\n|---|---|---|---|---|---|"
    );
    let chosen = |m: &Method| m.rows && !m.name.starts_with("BDF2") && !m.name.starts_with("generalised");
    for method in methods().into_iter().filter(chosen) {
        for h in [0.01, 0.005] {
            let of_pendulum = energy_errors(pendulum()?, &method.options, h, periods * PERIODS[0], 9.81);
            // Ten particles of 0.1 kg whose centre rises by 0.55 m (1 - cos 0.2).
            let scale = 9.81 * 0.55 * (1.0 - 0.2f64.cos());
            let of_chain = energy_errors(swaying_chain()?, &method.options, h, periods * PERIODS[1], scale);
            let words = |found: Result<[f64; 2], Error>| match found {
                Ok([first, last]) => format!("{first:.2e} | {last:.2e}"),
                Err(_) => "fails | ".into(),
            };
            println!(
                "| {} | {h} | {} | {} |",
                method.name,
                words(of_pendulum),
                words(of_chain)
            );
        }
    }
    Ok(tables)
}
