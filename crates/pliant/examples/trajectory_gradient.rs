//! The gradient of where a trajectory ends, by the parameters of the model.
//!
//! A mass on a spring, `n` steps `h` of the trapezoidal rule: `x_n = x_0 cos(n q)` with
//! `tan(q / 2) = w h / 2`, `w = sqrt(k / m)`. So `dx_n/dw = -x_0 n sin(n q) h / (1 + w^2 h^2 / 4)`, and
//! `dw/dk = w / (2 k)`, `dw/dm = -w / (2 m)`.
//!
//! `cargo run --release -p pliant --example trajectory_gradient`

use pliant::gradient::{Family, NodeGradient, Trajectory, TrajectoryError};
use pliant::prelude::*;

/// From `x_0` at rest: parameters `m` (kg), `k` (N/m), `x_0` (m).
fn oscillator(p: &[f64]) -> Result<Model, ModelError> {
    let mut model = Model::new();
    let bead = model.add_scalars("bead", &[p[2]])?;
    model.add_mass("mass", bead, Mass::Uniform(p[0]))?;
    model.add_force_field("spring", bead, Spring::linear(p[1]), Treatment::Stiffness)?;
    Ok(model)
}

fn main() -> Result<(), TrajectoryError> {
    let (p @ [m, k, x_0], n, h) = ([1.3, 40.0, 0.2], 60, 0.02);
    let model = oscillator(&p)?;
    let options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::trapezoidal()
    };
    let mut simulation = Simulation::with_options(model, options)?;
    let make = |p: &[f64]| Ok(Problem::new(oscillator(p)?));
    let mut family = Family::new(&make, &p, &p)?;
    let mut trajectory = Trajectory::new(n, h);
    trajectory.family = Some(&mut family);
    // Called at every moment: the value that it adds, and its derivatives by the positions then.
    let mut end = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < n {
            return 0.0;
        }
        by.x[0] = 1.0;
        s.state().positions[0]
    };
    let found = trajectory.gradient(&mut simulation, &mut end)?;

    let (w, steps) = ((k / m).sqrt(), n as f64);
    let q = 2.0 * (0.5 * w * h).atan();
    let by_w = -x_0 * steps * (steps * q).sin() * h / (1.0 + 0.25 * w * w * h * h);
    let expected = [-0.5 * w / m * by_w, 0.5 * w / k * by_w, (steps * q).cos()];
    println!("by mass, stiffness, start: {:.9?}", found.parameters);
    println!("                 expected: {expected:.9?}");
    assert!((found.value - x_0 * (steps * q).cos()).abs() < 1e-12);
    for (found, expected) in found.parameters.iter().zip(expected) {
        // The equations are differentiated by differences, good to 1e-11 of them.
        assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()));
    }
    Ok(())
}
