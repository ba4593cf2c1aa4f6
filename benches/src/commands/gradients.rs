//! The cost of derivatives beside that of the steps that they are of, and beside other programs'.
//!
//! `cargo xtask bench gradients [--quick, --peers]`.

mod contacts;
mod peers;

use super::Ended;
use pliant::continuum::{Mesh, Solid};
use pliant::gradient::{NodeGradient, StateVector, Trajectory};
use pliant::prelude::*;
use pliant_benches::timing::clock;
use std::process::ExitCode;

/// Steps before the clock runs, and those that are timed.
const WARM: usize = 5;
const TIMES: usize = 31;

pub(super) fn run(arguments: &[String]) -> Ended {
    if arguments.iter().any(|a| a == "--peers") {
        return peers::run();
    }
    let times = match arguments.iter().any(|a| a == "--quick") {
        true => 5,
        false => TIMES,
    };
    println!(
        "Steps of the nonlinear method (implicit Euler, converged) and of SDIRK2, h = 0.01 s, one thread; medians of {times} \
         steps that are taken at once. Linearised: equations, exact derivative and factors, once for all directions.\n\n\
         | | method | unknowns | step, ms | Newton | linearised, ms | adjoint, ms | tangent, ms | products | (linearised + adjoint) / step |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    for method in [Integrator::Nonlinear, Integrator::Sdirk2] {
        for links in [10, 100] {
            let name = format!("chain of {links} bodies, hard ball joints");
            show(&name, chain(links)?, &method, times)?;
        }
        for side in [16, 32] {
            show(
                &format!("net of {side} x {side}, springs"),
                net(side)?,
                &method,
                times,
            )?;
        }
        for cells in [[10, 2], [20, 4]] {
            let [along, across] = cells;
            let name = format!("corotational beam, {along} x {across} x {across} hexahedra");
            show(&name, beam(cells)?, &method, times)?;
        }
    }
    println!(
        "\nGradients of whole trajectories of the chain of 10: the way back takes steps again, and keeps few moments.\n\n\
         | steps | steps taken | moments kept | forwards, s | with the gradient, s |\n|---|---|---|---|---|"
    );
    for steps in [100, 1000, 10_000] {
        if steps <= 1000 || times == TIMES {
            show_trajectory(chain(10)?, steps)?;
        }
    }
    contacts::show(times)?;
    Ok(ExitCode::SUCCESS)
}

/// The height of the last body at the end, by everything at the start.
fn show_trajectory(model: Model, steps: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = simulation(model, &Integrator::Nonlinear)?;
    let start = simulation.checkpoint();
    let (forwards, moved) = clock(|| (0..steps).try_for_each(|_| simulation.step(0.01).map(drop)));
    moved?;
    simulation.restore(&start)?;
    let last = simulation.model().dof_count() - 4;
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[last] = 1.0;
        s.state().positions[s.model().nodes()[0].position_range().end - 5]
    };
    let (both, found) = clock(|| Trajectory::new(steps, 0.01).gradient(&mut simulation, &mut objective));
    let report = found?.report;
    println!(
        "| {steps} | {} | {} | {forwards:.2} | {both:.2} |",
        report.steps_taken, report.moments_kept
    );
    Ok(())
}

/// A simulation by a method on one thread, whose steps stand as they are taken.
fn simulation(model: Model, method: &Integrator) -> Result<Simulation, Error> {
    let mut options = Options {
        integrator: method.clone(),
        accuracy: Some(Accuracy::Measured),
        ..Options::default()
    };
    options.tuning.newton.stage_halvings = 0;
    options.tuning.solver.threads = 1;
    Simulation::with_options(model, options)
}

/// The median of times.
fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

fn show(
    name: &str,
    model: Model,
    method: &Integrator,
    times: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = simulation(model, method)?;
    let n = simulation.model().dof_count();
    let mut derivative = simulation.step_derivative()?;
    let given = StateVector {
        x: (0..n).map(|k| (k as f64).sin()).collect(),
        v: (0..n).map(|k| (k as f64).cos()).collect(),
    };
    let mut out = StateVector::zeros(n);
    let [mut steps, mut places, mut adjoints, mut tangents] = [(); 4].map(|()| Vec::new());
    let (mut newton, mut products) = (0, 0);
    for k in 0..WARM + times {
        // What a plain step takes, and the same with its stages solved as derivatives have them.
        let start = simulation.checkpoint();
        let (step, report) = clock(|| simulation.step(0.01));
        let report = report?;
        if *method == Integrator::Sdirk2 {
            simulation.restore(&start)?;
            simulation.options.tuning.newton.exact_stages = true;
            simulation.step(0.01)?;
            simulation.options.tuning.newton.exact_stages = false;
        }
        let taken = simulation.last_step(&[]).ok_or("no step was taken")?;
        let (place, placed) = clock(|| derivative.place(simulation.problem(), &taken));
        placed?;
        let (adjoint, found) = clock(|| derivative.adjoint(&given, &mut out));
        let found = found?;
        let (tangent, solved) = clock(|| derivative.tangent(&given, &mut out));
        solved?;
        if k >= WARM {
            steps.push(step);
            places.push(place);
            adjoints.push(adjoint);
            tangents.push(tangent);
            newton += report.solve.newton.iterations;
            products += found.products;
        }
    }
    let [step, place, adjoint, tangent] = [steps, places, adjoints, tangents].map(median);
    let mean = |count: usize| count as f64 / times as f64;
    println!(
        "| {name} | {method:?} | {n} | {:.3} | {:.1} | {:.3} | {:.3} | {:.3} | {:.1} | {:.2} |",
        1e3 * step,
        mean(newton),
        1e3 * place,
        1e3 * adjoint,
        1e3 * tangent,
        mean(products),
        (place + adjoint) / step
    );
    Ok(())
}

/// Bodies of 0.2 m on ball joints, hanging from one end and let go.
fn chain(links: usize) -> Result<Model, Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let poses: Vec<Pose> = (0..links)
        .map(|k| Pose::at([0.2 * k as f64 + 0.1, 0.0, 0.0]))
        .collect();
    let bodies = model.add_rigid_bodies("links", &poses)?;
    let mass = RigidMass::cuboid(0.5, [0.2, 0.05, 0.03]);
    model.add_mass("mass", bodies, Mass::Rigid(vec![mass]))?;
    for k in 0..links {
        let side = match k {
            0 => Side::World,
            _ => Side::Body(bodies, k - 1),
        };
        let joint = Joint::ball(side, Side::Body(bodies, k)).at(Pose::at([0.2 * k as f64, 0.0, 0.0]));
        model.add_joint(&format!("joint {k}"), &joint)?;
    }
    Ok(model)
}

/// Particles of 10 g on springs of 1 kN/m, 5 cm apart, held at two corners.
fn net(side: usize) -> Result<Model, Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let place = |k: usize| [0.05 * (k / side) as f64, 0.05 * (k % side) as f64, 0.0];
    let places: Vec<[f64; 3]> = (0..side * side).map(place).collect();
    let points = model.add_particles("points", &places)?;
    model.add_mass("mass", points, Mass::Uniform(0.01))?;
    let mut pairs = Vec::new();
    for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
        for (k, l) in [(i + 1, j), (i, j + 1), (i + 1, j + 1)] {
            if k < side && l < side {
                pairs.push((End::element(0, side * i + j), End::element(0, side * k + l)));
            }
        }
    }
    let rest: Vec<f64> = pairs.iter().map(|_| 0.0).collect();
    let threads = model.add_mapped(
        "threads",
        &[points],
        Distance::new(&pairs).with_rest_lengths(&rest),
    )?;
    let spring = Spring::linear(1e3).with_rest(0.05);
    model.add_force_field("springs", threads, spring, Treatment::Stiffness)?;
    for corner in [0, side - 1] {
        model.fix(points, corner, &[true; 3])?;
    }
    Ok(model)
}

/// A clamped beam of 1 m.
fn beam([along, across]: [usize; 2]) -> Result<Model, Box<dyn std::error::Error>> {
    let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [along, across, across])?;
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let parts = Solid::corotational(1e6, 0.3).add_to(&mut model, "beam", &mesh)?;
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, i, &[true; 3])?;
        }
    }
    Ok(model)
}
