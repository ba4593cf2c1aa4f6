//! Steps and rests of solids by a factor and by the automatic choice.

use pliant::LinearSolver;
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;
use pliant_benches::timing::clock;
use std::error::Error;

/// Edges of the solids (m), their cells along each edge in units of the cells across, and names.
const SHAPES: [(&str, [f64; 3], [usize; 3]); 2] = [
    ("cube", [1.0, 1.0, 1.0], [1, 1, 1]),
    ("beam", [10.0, 1.0, 1.0], [10, 1, 1]),
];

/// Steps that are measured, after two.
const STEPS: usize = 4;

/// Prints the table: corotational hexahedra of 1000 kg/m^3, clamped at one face, under their weight.
pub(super) fn table(threads: usize, most: usize) -> Result<(), Box<dyn Error>> {
    println!(
        "| solid | E (Pa) | integrator | unknowns | direct ms | Auto ms | ratio | of factor and solve | by |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (shape, edges, cells) in SHAPES {
        for across in [7, 15, 21] {
            let across = if shape == "cube" { across } else { across * 2 / 5 };
            for young in [1e6, 1e9] {
                for (integrator, options) in [("Theta", Options::theta()), ("Sdirk2", Options::default())] {
                    let with = |linear| Options {
                        linear,
                        ..options.clone()
                    };
                    let cells = cells.map(|n| n * across);
                    let n = 3 * cells.iter().map(|n| n + 1).product::<usize>();
                    if n > most {
                        continue;
                    }
                    let both = [LinearSolver::Direct, LinearSolver::Auto]
                        .map(|linear| measure(edges, cells, young, threads, with(linear)));
                    let [direct, auto] = both;
                    let (direct, auto) = (direct?, auto?);
                    println!(
                        "| {shape} | {young:.0e} | {integrator} | {n} | {:.0} | {:.0} | {:.2} | {:.2} | {}, {} |",
                        direct.step,
                        auto.step,
                        direct.step / auto.step,
                        direct.linear / auto.linear,
                        auto.solver,
                        auto.iterations
                    );
                }
            }
        }
    }
    println!();
    println!("| beam at rest, unknowns | by a factor, s | by Auto, s |");
    println!("|---|---|---|");
    for across in [4, 6, 8] {
        let cells = [10 * across, across, across];
        let n = 3 * cells.iter().map(|n| n + 1).product::<usize>();
        if n > most {
            continue;
        }
        let [factor, auto] = [LinearSolver::Direct, LinearSolver::Auto].map(|linear| {
            let options = Options {
                linear,
                ..Options::theta()
            };
            let mut simulation = clamped([10.0, 1.0, 1.0], cells, 1e9, threads, options)?;
            let (seconds, found) = clock(|| simulation.find_equilibrium(&Equilibrium::default()));
            found?;
            Ok::<f64, Box<dyn Error>>(seconds)
        });
        println!("| {n} | {:.2} | {:.2} |", factor?, auto?);
    }
    Ok(())
}

/// Means over the steps (ms), and how the last was solved.
struct Measured {
    step: f64,
    linear: f64,
    solver: &'static str,
    iterations: usize,
}

fn measure(
    edges: [f64; 3],
    cells: [usize; 3],
    young: f64,
    threads: usize,
    options: Options,
) -> Result<Measured, Box<dyn Error>> {
    let mut simulation = clamped(edges, cells, young, threads, options)?;
    for _ in 0..2 {
        simulation.step(0.01)?;
    }
    let mut out = Measured {
        step: 0.0,
        linear: 0.0,
        solver: "",
        iterations: 0,
    };
    for _ in 0..STEPS {
        let (seconds, report) = clock(|| simulation.step(0.01));
        let report = report?;
        let linear = report.timings.factor + report.timings.solve;
        out.step += 1e3 * seconds / STEPS as f64;
        out.linear += 1e3 * linear.as_secs_f64() / STEPS as f64;
        (out.solver, out.iterations) = (report.solve.solver, report.solve.iterations);
    }
    Ok(out)
}

fn clamped(
    edges: [f64; 3],
    cells: [usize; 3],
    young: f64,
    threads: usize,
    options: Options,
) -> Result<Simulation, Box<dyn Error>> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let mesh = Mesh::hexahedral_box(edges, cells)?;
    let parts = Solid::corotational(young, 0.3)
        .with_density(1000.0)
        .add_to(&mut model, "solid", &mesh)?;
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[0] < 1e-9 {
            model.fix(parts.nodes, i, &[true; 3])?;
        }
    }
    let mut simulation = Simulation::with_options(model, options)?;
    simulation.options.tuning.solver.threads = threads;
    Ok(simulation)
}
