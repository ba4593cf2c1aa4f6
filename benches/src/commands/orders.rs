//! Integrators: errors at steps that halve with the observed orders, and energies over many
//! periods; SDIRK2 from soft to hard; work for precision.
//!
//! `orders [stiffness] [work-precision] [--quick] [--write] [--peers]`: prints one of the three,
//! errors and energies where none is named. `--quick` takes 20 periods instead of 1000; with
//! `--write` it draws `docs/book/src/pictures/orders.svg` and `energies.svg`, `stiffness.svg`,
//! `work-precision.svg` anew; with `--peers` Rapier is beside the work for precision.

mod sweeps;

use super::{Ended, write_picture};
use pliant::Error;
use pliant_benches::orders::{
    Course, Method, Table, WINDOWS, energies_svg, energy_course, energy_momentum, methods, pendulum, svg,
    swaying_chain, tables,
};
use std::process::ExitCode;

/// Periods of the slowest motion (s): of the pendulum from the horizontal; of the swaying chain,
/// that of a hanging chain of 1 m.
const PERIODS: [f64; 2] = [2.367841947576237, 1.67];

pub(super) fn run(arguments: &[String]) -> Ended {
    let known = ["stiffness", "work-precision", "--quick", "--write", "--peers"];
    if let Some(other) = arguments.iter().find(|a| !known.contains(&a.as_str())) {
        eprintln!("unknown argument `{other}`; there are {}", known.join(", "));
        return Ok(ExitCode::from(2));
    }
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let draw = |name: &str, picture: &str| match has("--write") {
        true => write_picture(name, picture),
        false => Ok(()),
    };
    if has("stiffness") {
        draw("stiffness.svg", &sweeps::stiffness()?)?;
    }
    if has("work-precision") {
        draw("work-precision.svg", &sweeps::work(has("--peers"))?)?;
    }
    if !has("stiffness") && !has("work-precision") {
        let (found, energies) = compare(if has("--quick") { 20.0 } else { 1000.0 })?;
        draw("orders.svg", &svg("Orders of the integrators", &found))?;
        draw("energies.svg", &energies)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(periods: f64) -> Result<(Vec<Table>, String), Error> {
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
            // Below are rounding, and the digits of the answers.
            let told: Vec<f64> = row.errors.iter().copied().filter(|e| *e > 1e-11).collect();
            let order = match told[..] {
                [.., coarse, fine] => format!("{:.2}", (coarse / fine).log2()),
                _ => "-".into(),
            };
            println!("| {} | {} | {order} |", row.method, errors.join(" | "));
        }
        println!();
    }
    println!(
        "Energy over {periods} periods: largest error in the first and in the last tenth, as a share of the energy that the motion turns over\n"
    );
    println!(
        "| method | step | pendulum, first | last | chain of ten, first | last |\n|---|---|---|---|---|---|"
    );
    let left_out = ["BDF", "generalised", "RATTLE, order 6"];
    let chosen = |m: &Method| m.rows && !left_out.iter().any(|name| m.name.starts_with(name));
    let mut panels = [
        ("pendulum from the horizontal", Vec::new()),
        ("ten particles on hard rods", Vec::new()),
    ];
    for method in methods().into_iter().chain([energy_momentum()]).filter(chosen) {
        for h in [0.01, 0.005] {
            // Ten particles of 0.1 kg whose centre rises by 0.55 m (1 - cos 0.2).
            let scale = 9.81 * 0.55 * (1.0 - 0.2f64.cos());
            let found = [
                energy_course(pendulum()?, &method.options, h, periods * PERIODS[0], 9.81),
                energy_course(swaying_chain()?, &method.options, h, periods * PERIODS[1], scale),
            ];
            print!("| {} | {h} |", method.name);
            for ((_, courses), errors) in panels.iter_mut().zip(found) {
                let largest = |part: &[f64]| part.iter().fold(0.0f64, |a, e| a.max(*e));
                match &errors {
                    Ok(e) => print!(
                        " {:.2e} | {:.2e} |",
                        largest(&e[..WINDOWS / 10]),
                        largest(&e[WINDOWS - WINDOWS / 10..])
                    ),
                    Err(_) => print!(" fails | |"),
                }
                courses.push(Course {
                    name: format!("{}, {} ms", method.name, h * 1e3),
                    errors: errors.unwrap_or_default(),
                });
            }
            println!();
        }
    }
    Ok((tables, energies_svg(periods, &panels, (-10.0, 1.0))))
}
