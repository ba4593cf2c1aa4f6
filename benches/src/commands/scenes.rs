//! Times the chain that engines are compared on and prints what it costs and how well it holds.

use super::Ended;
use pliant::continuum::Solid;
use pliant::prelude::*;
use pliant_benches::chain::{Chain, Pose};
use pliant_benches::linkages;
use pliant_benches::observations::{self, Observation};
use pliant_benches::stiff::tension_error;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// One row of the table.
struct Run {
    links: usize,
    last_mass: f64,
    pose: Pose,
    steps: usize,
}

pub(super) fn run(arguments: &[String]) -> Ended {
    let quick = arguments.iter().any(|a| a == "--quick");
    let swing = |links, last_mass, steps| Run {
        links,
        last_mass,
        pose: Pose::Swing,
        steps,
    };
    let scale = if quick { 10 } else { 1 };
    let runs = [
        swing(10, 1.0, 500),
        swing(10, 1000.0, 500),
        swing(10, 1e6, 500),
        swing(100, 1000.0, 500),
        swing(1000, 1000.0, 500 / scale),
        swing(10_000, 1000.0, 50 / scale),
        Run {
            links: 100,
            last_mass: 1000.0,
            pose: Pose::Hang,
            steps: 500,
        },
    ];
    let _ = writeln!(
        std::io::stdout(),
        "Chain of boxes on ball joints (docs/lab/chains.md), h = 0.01 s, one thread; linear solves per step in the last column."
    );
    let _ = writeln!(
        std::io::stdout(),
        "{:>6} {:>8} {:>6} {:>6} {:>10} {:>9} {:>9} {:>10} {:>10} {:>9} {:>8} {:>6} {:>6}",
        "links",
        "last kg",
        "pose",
        "steps",
        "steps/s",
        "us/step",
        "ns/link",
        "max gap m",
        "max dE",
        "residual",
        "nnz(L)",
        "fill",
        "solves"
    );
    for run in runs {
        time(&run).map_err(|e| format!("{} links, last {} kg: {e}", run.links, run.last_mass))?;
    }
    variants();
    stiff_springs();
    linkages(scale)?;
    for observation in [Observation::NumericalParts, Observation::Linearisation] {
        observed(scale, observation)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The cost of an observation in every step: the same motion with and without, a step of each in
/// turn.
fn observed(scale: usize, observation: Observation) -> Result<(), observations::Failure> {
    let _ = writeln!(
        std::io::stdout(),
        "\nSteps with and without {}: medians of steps in turn.\n\
         {:>16} {:>8} {:>6} {:>8} {:>12} {:>12} {:>7}",
        observation.option(),
        "scene",
        "dofs",
        "steps",
        "clamped",
        "without us",
        "with us",
        "ratio"
    );
    type Make = Box<dyn Fn() -> Result<Simulation, observations::Failure>>;
    let chain = |n| Box::new(move || Ok(Chain::new(n, 1000.0, Pose::Swing).simulation()?.simulation)) as Make;
    let stiffness = |n| Box::new(move || observations::net(n, Treatment::Stiffness)) as Make;
    let compliance = |n| Box::new(move || observations::net(n, Treatment::Compliance)) as Make;
    let scenes: [(&str, usize, Make); 7] = [
        ("chain 10", 2000, chain(10)),
        ("chain 100", 1000, chain(100)),
        ("chain 1000", 300, chain(1000)),
        ("net, stiffness", 300, stiffness(32)),
        ("net, compliance", 300, compliance(32)),
        (
            "solid, linear",
            100,
            Box::new(|| observations::beam(Solid::linear)),
        ),
        (
            "solid, rotating",
            100,
            Box::new(|| observations::beam(Solid::corotational)),
        ),
    ];
    for (name, steps, make) in scenes {
        let (steps, dofs) = (steps / scale, make()?.model().dof_count());
        let ([without, with], clamped) = observations::without_and_with(&make, observation, steps)?;
        let _ = writeln!(
            std::io::stdout(),
            "{name:>16} {dofs:>8} {steps:>6} {:>7.0}% {:>12.1} {:>12.1} {:>7.3}",
            100.0 * clamped,
            1e6 * without,
            1e6 * with,
            with / without
        );
    }
    Ok(())
}

/// Chains of named hinges and a loop with a redundant row.
fn linkages(scale: usize) -> Result<(), Error> {
    let _ = writeln!(
        std::io::stdout(),
        "\nNamed hinges (five rows and an angle each), h = 0.01 s; and the loop of Bricard, six hinges, one row too many.\n\
         {:>14} {:>6} {:>10} {:>9} {:>9} {:>12} {:>9} {:>9}",
        "scene",
        "steps",
        "steps/s",
        "us/step",
        "us/hinge",
        "violation m",
        "redundant",
        "max force"
    );
    let chains = [20, 200, 2000].map(|n| (format!("chain of {n}"), n, linkages::hinge_chain(n)));
    let loops = [("Bricard".to_owned(), 6, linkages::bricard().map(|b| b.0))];
    for (name, hinges, simulation) in chains.into_iter().chain(loops) {
        let mut simulation = simulation?;
        let steps = if hinges == 2000 { 200 / scale } else { 1000 };
        let (mut violation, mut redundant, mut force) = (0.0f64, 0, 0.0f64);
        let mut time = std::time::Duration::ZERO;
        for _ in 0..steps {
            let start = Instant::now();
            let report = simulation.step(0.01)?;
            time += start.elapsed();
            violation = violation.max(report.violation);
            redundant = redundant.max(report.solve.redundant_rows);
            force = simulation.multipliers().iter().fold(force, |a, l| a.max(l.abs()));
        }
        let per_step = time.as_secs_f64() / steps as f64;
        let _ = writeln!(
            std::io::stdout(),
            "{name:>14} {steps:>6} {:>10.0} {:>9.1} {:>9.2} {violation:>12.1e} {redundant:>9} {force:>9.1}",
            per_step.recip(),
            1e6 * per_step,
            1e6 * per_step / hinges as f64
        );
    }
    Ok(())
}

/// The worth of the kind of row, of the geometric stiffness and of the second solve: the chain of
/// ten.
fn variants() {
    let _ = writeln!(std::io::stdout());
    let _ = writeln!(
        std::io::stdout(),
        "Chain of 10 links, 500 steps of 0.01 s: joints, energy and geometric stiffness."
    );
    let _ = writeln!(
        std::io::stdout(),
        "{:>8} {:>15} {:>14} {:>11} {:>10} {:>11} {:>7} {:>8}",
        "last kg",
        "joints",
        "geometric",
        "solves max",
        "max gap m",
        "max rise",
        "solves",
        "clamped"
    );
    let (full, needed) = (GeometricStiffness::Full, GeometricStiffness::WhereNeeded);
    let (curved, plain) = (Level::CurvedPosition, Level::Position);
    for last_mass in [1.0, 1e3, 1e6] {
        for (level, mode, passes) in [
            (curved, full, 2),
            (plain, full, 2),
            (plain, full, 1),
            (curved, needed, 2),
            (curved, GeometricStiffness::JustEnough, 2),
            (curved, GeometricStiffness::PositivePart, 2),
            (curved, GeometricStiffness::None, 2),
        ] {
            let geometry = GeometricTerms {
                forces: mode,
                multipliers: mode,
            };
            let options = Options {
                geometry,
                tuning: Tuning {
                    geometry_passes: passes,
                    ..Tuning::default()
                },
                ..Options::theta()
            };
            let chain = Chain {
                level,
                ..Chain::new(10, last_mass, Pose::Swing)
            };
            let found = match chain.hold(500, &options) {
                Ok(q) if q.gap < 0.05 => {
                    format!(
                        "{:>10.1e} {:>11.1e} {:>7.2} {:>7.1}%",
                        q.gap,
                        q.rise,
                        q.solves,
                        100.0 * q.clamped
                    )
                }
                _ => "  flies apart".to_owned(),
            };
            let (level, mode) = (format!("{level:?}"), format!("{mode:?}"));
            let _ = writeln!(
                std::io::stdout(),
                "{last_mass:>8} {level:>15} {mode:>14} {passes:>11} {found}"
            );
        }
    }
}

/// Relative error of a known tension by both treatments.
fn stiff_springs() {
    let _ = writeln!(std::io::stdout());
    let _ = writeln!(
        std::io::stdout(),
        "Tension of a hanging spring, relative error after settling (docs/lab/solvers.md)."
    );
    let _ = writeln!(
        std::io::stdout(),
        "{:>14} {:>14} {:>14}",
        "compliance m/N",
        "as compliance",
        "as stiffness"
    );
    for c in [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-15, 0.0] {
        let show = |treatment| match tension_error(c, treatment) {
            Ok(e) => format!("{e:.1e}"),
            Err(_) => "an error".to_owned(),
        };
        let _ = writeln!(
            std::io::stdout(),
            "{c:>14.0e} {:>14} {:>14}",
            show(Treatment::Compliance),
            show(Treatment::Stiffness)
        );
    }
}

fn time(run: &Run) -> Result<(), pliant::Error> {
    let mut chain = Chain::new(run.links, run.last_mass, run.pose).simulation()?;
    let start = chain
        .simulation
        .problem()
        .energies(chain.simulation.state())
        .total();
    let (mut gap, mut rise, mut residual) = (0.0f64, 0.0f64, 0.0f64);
    let mut before = start;
    let (mut spent, mut passes) = (0.0, 0);
    let mut split = [0.0; 4];
    // The first step plans; peers are timed without building their model.
    for step in 0..=run.steps {
        let clock = Instant::now();
        let report = chain.simulation.step(0.01)?;
        if step > 0 {
            spent += clock.elapsed().as_secs_f64();
            passes += report.solve.geometry_passes;
            let t = report.timings;
            for (sum, part) in split.iter_mut().zip([t.fill, t.factor, t.solve, t.update]) {
                *sum += part.as_secs_f64();
            }
        }
        gap = gap.max(chain.gap());
        residual = residual.max(report.residual.relative);
        rise = rise.max((report.energies.total() - before) / chain.reference_energy);
        before = report.energies.total();
    }
    let per_step = spent / run.steps as f64;
    let counters = chain.simulation.counters().solver;
    let _ = writeln!(
        std::io::stdout(),
        "{:>6} {:>8} {:>6} {:>6} {:>10.0} {:>9.1} {:>9.0} {:>10.1e} {:>10.1e} {:>9.1e} {:>8} {:>6.2} {:>6.2}",
        run.links,
        run.last_mass,
        format!("{:?}", run.pose).to_lowercase(),
        run.steps,
        1.0 / per_step,
        per_step * 1e6,
        per_step * 1e9 / run.links as f64,
        gap,
        rise,
        residual,
        counters.factor_entries,
        counters.factor_entries as f64 / counters.matrix_entries as f64,
        passes as f64 / run.steps as f64,
    );
    if run.links == 1000 {
        let [fill, factor, solve, update] = split.map(|t| 100.0 * t / split.iter().sum::<f64>());
        let _ = writeln!(
            std::io::stdout(),
            "       of which fill {fill:.0} %, factor {factor:.0} %, solve {solve:.0} %, update {update:.0} %"
        );
    }
    Ok(())
}
