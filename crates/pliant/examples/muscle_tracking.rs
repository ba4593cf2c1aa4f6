//! Activations of muscles that move the hand of an arm along a path: at each step the derivative of
//! the hand's place by all activations, from the factor of the step, and the least activations that
//! bring it where it is to be.

use pliant::gradient::StateVector;
use pliant::prelude::*;
use std::error::Error;

/// Length of a step (s), and steps.
const STEP: f64 = 0.005;
const STEPS: usize = 240;
/// Distance (m) that weighs as much as a whole activation.
const EXACT: f64 = 1e-6;

/// Two links in the plane, the shoulder at the origin, with flexors and extensors of the shoulder,
/// of the elbow, and of both.
fn arm() -> Result<Model, ModelError> {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let poses = [Pose::at([0.15, 0.0, 0.0]), Pose::at([0.3, 0.125, 0.0])];
    let links = model.add_rigid_bodies("links", &poses)?;
    let masses = [
        RigidMass::cuboid(2.0, [0.3, 0.06, 0.06]),
        RigidMass::cuboid(1.2, [0.05, 0.25, 0.05]),
    ];
    model.add_mass("mass", links, Mass::Rigid(masses.to_vec()))?;
    let shoulder = Joint::hinge(Side::World, Side::Body(links, 0));
    model.add_joint("shoulder", &shoulder.at(Pose::at([0.0; 3])))?;
    let elbow = Joint::hinge(Side::Body(links, 0), Side::Body(links, 1));
    model.add_joint("elbow", &elbow.at(Pose::at([0.3, 0.0, 0.0])))?;
    // On the upper arm above and below, and on the forearm before and behind.
    let places = [
        (0, [-0.05, 0.04, 0.0]),
        (0, [-0.05, -0.04, 0.0]),
        (1, [-0.03, -0.06, 0.0]),
        (1, [0.04, -0.14, 0.0]),
        (1, [0.0, 0.125, 0.0]),
    ];
    let points = model.add_mapped("points", &[links], RigidPoints::new(&places))?;
    let (above, below) = ([-0.04, 0.08, 0.0], [-0.04, -0.08, 0.0]);
    let at = |k: usize| End::element(0, k);
    let lines = [
        (at(0), End::Point(above)),
        (at(1), End::Point(below)),
        (at(0), at(2)),
        (at(1), at(3)),
        (at(2), End::Point(above)),
        (at(3), End::Point(below)),
    ];
    for (name, line) in [
        "flexor",
        "extensor",
        "biceps",
        "triceps",
        "long biceps",
        "long triceps",
    ]
    .iter()
    .zip(lines)
    {
        let line = Distance::new(&[line]).with_rest_lengths(&[0.0]);
        let length = model.add_mapped(&format!("{name} line"), &[points], line)?;
        let rest = model.positions(&model.initial_state()?, length)[0];
        let muscle = AxialMuscle::new(800.0, rest, 10.0)
            .with_activations(&[0.1])
            .with_damping(5.0);
        model.add_force_field(name, length, muscle, Treatment::Stiffness)?;
    }
    Ok(model)
}

/// The place of the hand on its path: a circle, begun and ended gently.
fn path(step: usize, start: [f64; 2]) -> [f64; 2] {
    let s = step as f64 / STEPS as f64;
    let angle = std::f64::consts::TAU * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
    [
        start[0] - 0.06 * (1.0 - angle.cos()),
        start[1] + 0.06 * angle.sin(),
    ]
}

/// The activations in `[0, 1]` that minimise `|b + B (a - a0)|^2/EXACT^2 + |a|^2`, by coordinates in
/// turn.
fn activations(by: [&[f64]; 2], off: [f64; 2], last: &[f64]) -> Vec<f64> {
    let mut a = last.to_vec();
    for _ in 0..20_000 {
        let mut most = 0.0f64;
        for k in 0..a.len() {
            let left =
                [0, 1].map(|i| off[i] + (0..a.len()).map(|j| by[i][j] * (a[j] - last[j])).sum::<f64>());
            let slope = (by[0][k] * left[0] + by[1][k] * left[1]) / (EXACT * EXACT) + a[k];
            let curve = (by[0][k].powi(2) + by[1][k].powi(2)) / (EXACT * EXACT) + 1.0;
            let new = (a[k] - slope / curve).clamp(0.0, 1.0);
            most = most.max((new - a[k]).abs());
            a[k] = new;
        }
        if most < 1e-10 {
            break;
        }
    }
    a
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    };
    let mut simulation = Simulation::with_options(arm()?, options)?;
    let points = simulation.model().node_named("points").ok_or("no points")?;
    let hand = |s: &Simulation| -> [f64; 2] {
        let x = &s.positions(points)[12..];
        [x[0], x[1]]
    };
    let start = hand(&simulation);
    let muscles: Vec<ComponentId> = (0..simulation.model().force_fields().len())
        .map(ComponentId::ForceField)
        .filter(|id| matches!(id, ComponentId::ForceField(i) if !simulation.problem().inputs(*i).is_empty()))
        .collect();
    let mut derivative = simulation.step_derivative()?;
    let n = simulation.model().dof_count();
    let range = simulation.model().node(points).velocity_range();
    let zero = vec![0.0; simulation.model().velocity_count()];
    let (mut present, mut farthest, mut largest) = (vec![0.1; muscles.len()], 0.0f64, 0.0f64);
    let (mut from, mut before) = (StateVector::zeros(n), StateVector::zeros(n));
    for step in 1..=STEPS {
        let here = simulation.checkpoint();
        let target = path(step, start);
        // Again and again: the step is not linear in the activations.
        for _ in 0..3 {
            simulation.restore(&here)?;
            for (muscle, a) in muscles.iter().zip(&present) {
                simulation.set_input(*muscle, 0, *a)?;
            }
            simulation.step(STEP)?;
            let taken = simulation.last_step(&[]).ok_or("no step")?;
            let place = hand(&simulation);
            let mut by = [Vec::new(), Vec::new()];
            for (i, by) in by.iter_mut().enumerate() {
                let mut on_nodes = zero.clone();
                on_nodes[range.start + 12 + i] = 1.0;
                derivative.carry(
                    simulation.problem(),
                    simulation.state(),
                    [&on_nodes, &zero],
                    &mut from,
                )?;
                derivative.place(simulation.problem(), &taken)?;
                derivative.adjoint(&from, &mut before)?;
                derivative.by_input(by)?;
            }
            let off = [0, 1].map(|i| place[i] - target[i]);
            present = activations([&by[0], &by[1]], off, &present);
        }
        simulation.restore(&here)?;
        for (muscle, a) in muscles.iter().zip(&present) {
            simulation.set_input(*muscle, 0, *a)?;
        }
        simulation.step(STEP)?;
        let place = hand(&simulation);
        farthest = farthest.max((place[0] - target[0]).hypot(place[1] - target[1]));
        largest = present.iter().fold(largest, |l, a| l.max(*a));
    }
    println!(
        "the hand is within {:.4} mm of its path, by activations up to {largest:.2}",
        1e3 * farthest
    );
    if farthest > 1e-3 {
        return Err("the hand is off its path".into());
    }
    Ok(())
}
