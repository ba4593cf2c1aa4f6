//! The cost of options that only look on: parts of the ledger, measures of linear steps.

use crate::timing::clock;
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;

/// The error of the mesh, the model, the plan or a step.
pub type Failure = Box<dyn std::error::Error>;

const GRAVITY: f64 = 9.81;

/// A net of `side` x `side` particles of 10 g, 5 cm from each other, held at two corners, on
/// springs of 1 mm/N along the sides of its squares.
///
/// # Errors
/// The error of the model or of the plan.
pub fn net(side: usize, treatment: Treatment) -> Result<Simulation, Failure> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -GRAVITY])?;
    let at = |i: usize| [0.05 * (i % side) as f64, 0.05 * (i / side) as f64, 0.0];
    let places: Vec<_> = (0..side * side).map(at).collect();
    let knots = model.add_particles("knots", &places)?;
    model.add_mass("masses", knots, Mass::Uniform(0.01))?;
    let along = (0..side * side)
        .filter(|i| i % side + 1 < side)
        .map(|i| (i, i + 1));
    let across = (0..side * (side - 1)).map(|i| (i, i + side));
    let pairs: Vec<_> = along
        .chain(across)
        .map(|(a, b)| (End::element(0, a), End::element(0, b)))
        .collect();
    let lengths = model.add_mapped("lengths", &[knots], Distance::new(&pairs))?;
    model.add_force_field("springs", lengths, UniformCompliance::new(1e-3), treatment)?;
    for corner in [0, side - 1] {
        model.fix(knots, corner, &[true; 3])?;
    }
    Ok(Simulation::with_options(model, Options::theta())?)
}

/// A beam of 40 x 4 x 4 hexahedra, clamped at one end, under its weight.
///
/// # Errors
/// The error of the model or of the plan.
pub fn beam(solid: fn(f64, f64) -> Solid) -> Result<Simulation, Failure> {
    let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [40, 4, 4])?;
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -GRAVITY])?;
    let solid = solid(1e7, 0.3).with_density(1000.0);
    let parts = solid.add_to(&mut model, "beam", &mesh)?;
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3])?;
        }
    }
    Ok(Simulation::with_options(model, Options::theta())?)
}

/// A quantity found out about a step beside its motion.
#[derive(Clone, Copy, Debug)]
pub enum Observation {
    /// The parts of the numerical entry of the ledger.
    NumericalParts,
    /// The part of the nonlinear equations that it misses.
    Linearisation,
}

impl Observation {
    /// The option that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            Self::NumericalParts => "`Options::numerical_parts`",
            Self::Linearisation => "`Tuning::linearisation_samples: 1`",
        }
    }
}

/// Median times of a step (s) without and with an observation, a step of each in turn; and the
/// share of steps that clamp the geometric stiffness.
///
/// # Errors
/// The error of a step, or that the two did not move alike.
pub fn without_and_with(
    make: &dyn Fn() -> Result<Simulation, Failure>,
    observation: Observation,
    steps: usize,
) -> Result<([f64; 2], f64), Failure> {
    let mut both = [make()?, make()?];
    for simulation in &mut both {
        simulation.options.tuning.linearisation_samples = 0;
    }
    match observation {
        Observation::NumericalParts => both[1].options.numerical_parts = true,
        Observation::Linearisation => both[1].options.tuning.linearisation_samples = 1,
    }
    let (mut times, mut clamped) = ([Vec::new(), Vec::new()], 0);
    // The first step plans.
    for step in 0..=steps {
        // Whoever comes second finds the caches full.
        for turn in 0..2 {
            let which = (step + turn) % 2;
            let (time, report) = clock(|| both[which].step(0.01));
            let report = report?;
            if step > 0 {
                times[which].push(time);
                clamped += usize::from(report.solve.geometry_clamped);
            }
        }
    }
    assert_eq!(
        both[0].state(),
        both[1].state(),
        "observations do not change the motion"
    );
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    Ok((medians, clamped as f64 / (2 * steps) as f64))
}
