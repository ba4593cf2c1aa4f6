//! Whether a card house and a masonry arch stand: with every solver of contacts and two steps. No
//! solver says what another denies; those that do not reach the tolerance in some step say so.
//! Makes a table of `docs/lab/integrators.md`.
//!
//! `cargo run --release -p pliant-run --example verdicts`

use pliant::solvers::complementarity::Method;
use pliant_run::Runner;
use pliant_scene::{Number, SceneFile, Settings};
use std::path::PathBuf;

/// Sinking (m) that counts as a fall. A body that stands sinks by the solver's error, 1e-8 m.
const SUNK: f64 = 5e-6;

/// Scene, parameter and value, the node and element that sinks, whether it stands.
type Case = (&'static str, &'static str, f64, (&'static str, usize), bool);

/// Whether it stands; or at which time a step was not solved.
fn verdict(case: &Case, step: f64, solver: Option<Method>) -> Result<bool, f64> {
    let (scene, parameter, value, (node, element), _) = *case;
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(scene);
    let settings = Settings {
        parameters: [(parameter.to_owned(), Number::Value(value))].into(),
        step: Some(step),
        ..Settings::default()
    };
    let file = SceneFile::load(&path.with_extension("ron"));
    let mut built = file
        .and_then(|f| f.build(&settings))
        .unwrap_or_else(|e| panic!("{e}"));
    built.options.contacts.solver = solver;
    let mut run = Runner::new(built).unwrap_or_else(|e| panic!("{e}"));
    let height = |run: &Runner| {
        let simulation = run.simulation();
        let node = simulation.model().node_named(node);
        node.and_then(|n| simulation.pose(n, element))
            .map_or(f64::NAN, |p| p.position[2])
    };
    let start = height(&run);
    while !run.is_done() {
        run.step().map_err(|_| run.simulation().time())?;
        if start - height(&run) > SUNK {
            return Ok(false);
        }
    }
    Ok(true)
}

fn main() {
    // The moments about the foot of a card: (tan a - t/L)/2.
    let limit = (20f64.to_radians().tan() - 0.01) / 2.0;
    let cases: [Case; 4] = [
        ("card_house", "friction", limit + 1e-3, ("cards", 0), true),
        ("card_house", "friction", limit - 1e-3, ("cards", 0), false),
        ("masonry_arch", "thickness", 0.11, ("blocks", 8), true),
        ("masonry_arch", "thickness", 0.1, ("blocks", 8), false),
    ];
    let solvers = [
        None,
        Some(Method::GaussSeidel),
        Some(Method::Jacobi),
        Some(Method::NonlinearCg),
        Some(Method::ModulusSplitting),
        Some(Method::AcceleratedGradient),
        Some(Method::BarzilaiBorwein),
        Some(Method::Admm),
        Some(Method::Newton),
        Some(Method::InteriorPoint),
    ];
    println!("| solver | step s | cards, limit + 0.001 | cards, limit - 0.001 | arch 0.11 | arch 0.10 |");
    println!("|---|---|---|---|---|---|");
    for solver in solvers {
        for step in [1.0 / 60.0, 1.0 / 240.0] {
            let name = solver.map_or("Auto".to_owned(), |s| format!("{s:?}"));
            print!("| `{name}` | 1/{:.0} |", 1.0 / step);
            for case in &cases {
                let found = verdict(case, step, solver);
                match found {
                    Ok(true) => print!(" stands |"),
                    Ok(false) => print!(" falls |"),
                    Err(time) => print!(" not solved at {time:.3} s |"),
                }
                assert!(
                    found.is_err() || found == Ok(case.4),
                    "{case:?} {step} {solver:?}"
                );
                assert!(solver.is_some() || found.is_ok(), "{case:?} {step}");
            }
            println!();
        }
    }
}
