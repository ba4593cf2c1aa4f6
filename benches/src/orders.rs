//! Errors of integrators at steps that halve, on problems with known answers; energies over a
//! thousand periods; SDIRK2 from soft to hard; work for precision.

mod curves;
mod energies;
mod picture;
pub mod stiffness;
pub mod work;

pub use curves::{Axis, Curve, Panel, curves_svg};
pub use energies::{Course, energies_svg};
pub use picture::svg;

use crate::chain::{Chain, Pose};
use crate::verify::distance;
use pliant::prelude::*;

/// A method and its name in tables.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// How steps are taken.
    pub options: Options,
    /// Whether it takes hard rows.
    pub rows: bool,
}

/// Errors of one method at each step; NaN where a step failed.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The method.
    pub method: &'static str,
    /// One per step.
    pub errors: Vec<f64>,
}

/// One problem: what is compared, the steps, the errors of the methods that take it.
#[derive(Clone, Debug)]
pub struct Table {
    /// The problem, and whose answer is the reference.
    pub problem: &'static str,
    /// Steps in seconds, each half of the one before.
    pub steps: Vec<f64>,
    /// Of each method.
    pub errors: Vec<Errors>,
}

/// All methods, the default first. The theta method is shown with and without geometric stiffness,
/// which damps what is taut.
pub fn methods() -> Vec<Method> {
    let of = |name, integrator, alpha: f64, rows| Method {
        name,
        options: Options {
            integrator,
            alpha,
            beta: alpha,
            ..Options::theta()
        },
        rows,
    };
    let mut bare = of(
        "linear (1, 1), no geometric stiffness",
        Integrator::Theta,
        1.0,
        true,
    );
    bare.options.geometry = GeometricTerms::NONE;
    vec![
        of("SDIRK2", Integrator::Sdirk2, 1.0, true),
        of("linear (1, 1)", Integrator::Theta, 1.0, true),
        bare,
        of("linear (1/2, 1/2)", Integrator::Theta, 0.5, true),
        of("nonlinear (1, 1)", Integrator::Nonlinear, 1.0, true),
        of("nonlinear (1/2, 1/2)", Integrator::Nonlinear, 0.5, true),
        of(
            "generalised-alpha, 0.8",
            Integrator::generalised_alpha(0.8),
            1.0,
            true,
        ),
        of("BDF2", Integrator::bdf2(), 1.0, true),
        of("BDF3", Integrator::bdf3(), 1.0, true),
        of("RATTLE", Integrator::Rattle, 1.0, true),
        of("RATTLE, order 4", Integrator::Rattle4, 1.0, true),
        of("RATTLE, order 6", Integrator::Rattle6, 1.0, true),
        of("symplectic Euler", Integrator::SymplecticEuler, 1.0, false),
        of("Runge-Kutta 2", Integrator::RungeKutta2, 1.0, false),
        of("Runge-Kutta 4", Integrator::RungeKutta4, 1.0, false),
    ]
}

/// The energy-momentum method, for the courses of energies.
pub fn energy_momentum() -> Method {
    Method {
        name: "energy-momentum",
        options: Options {
            integrator: Integrator::EnergyMomentum,
            ..Options::default()
        },
        rows: true,
    }
}

/// A problem by its model, the time of the comparison, whether it has hard rows, its steps, and the
/// error of a state.
struct Problem {
    name: &'static str,
    build: fn() -> Result<Simulation, Error>,
    time: f64,
    rows: bool,
    coarsest: f64,
    error: fn(&Simulation) -> f64,
}

const PROBLEMS: [Problem; 4] = [
    Problem {
        name: "pendulum on a hard rod, position at 1 s (elliptic functions)",
        build: pendulum,
        time: 1.0,
        rows: true,
        coarsest: 0.02,
        error: |s| distance(&s.state().positions[..2], &[-0.9862917511319, -0.1650108531255]),
    },
    Problem {
        name: "chain of ten boxes on ball joints, tip at 0.5 s (DOP853 in minimal coordinates)",
        build: || Ok(Chain::new(10, 1.0, Pose::Swing).simulation()?.simulation),
        time: 0.5,
        rows: true,
        coarsest: 0.02,
        error: chain_error,
    },
    Problem {
        name: "particle on a damped spring, position at 1 s (closed form)",
        build: oscillator,
        time: 1.0,
        rows: false,
        coarsest: 0.02,
        error: |s| (s.state().positions[0] - 0.2001596048861).abs(),
    },
    Problem {
        name: "free body of moments 1, 2, 3, spin at 1 s (elliptic functions)",
        build: top,
        time: 1.0,
        rows: false,
        coarsest: 0.05,
        error: |s| {
            distance(
                &s.state().velocities[3..6],
                &[0.7125799063492, 0.9655205213082, 0.8302148563138],
            )
        },
    },
];

/// Halvings of the coarsest step.
const HALVINGS: i32 = 5;

/// The tables of all problems.
///
/// # Errors
/// If a model cannot be built.
pub fn tables() -> Result<Vec<Table>, Error> {
    let mut out = Vec::new();
    for problem in &PROBLEMS {
        let steps: Vec<f64> = (0..HALVINGS).map(|k| problem.coarsest * 0.5f64.powi(k)).collect();
        let mut table = Table {
            problem: problem.name,
            steps: steps.clone(),
            errors: Vec::new(),
        };
        for method in methods().into_iter().filter(|m| m.rows || !problem.rows) {
            let mut errors = Vec::new();
            for h in &steps {
                let mut s = (problem.build)()?;
                s.options = method.options.clone();
                let count = (problem.time / h).round() as usize;
                let done = (0..count).all(|_| s.step(*h).is_ok());
                errors.push(if done { (problem.error)(&s) } else { f64::NAN });
            }
            let method = method.name;
            table.errors.push(Errors { method, errors });
        }
        out.push(table);
    }
    Ok(out)
}

/// Parts of a run of which [`energy_course`] keeps the largest error.
pub const WINDOWS: usize = 100;

/// Largest energy error in each of [`WINDOWS`] equal parts of a run, as a share of the energy that
/// the motion turns over.
///
/// # Errors
/// The error of the simulation.
pub fn energy_course(
    mut s: Simulation,
    options: &Options,
    h: f64,
    time: f64,
    scale: f64,
) -> Result<Vec<f64>, Error> {
    s.options = options.clone();
    let start = s.problem().energies(s.state()).total();
    let steps = (time / h).round() as usize;
    let mut out = vec![0.0f64; WINDOWS];
    for k in 0..steps {
        let error = (s.step(h)?.energies.total() - start).abs() / scale;
        let window = &mut out[k * WINDOWS / steps];
        *window = window.max(error);
    }
    Ok(out)
}

/// A particle of 1 kg on a hard rod of 1 m, from the horizontal; one period takes 2.3678 s, and it
/// turns over 9.81 J.
///
/// # Errors
/// None for this model.
pub fn pendulum() -> Result<Simulation, Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]])?;
    model.add_mass("m", bob, Mass::Uniform(1.0))?;
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("length", &[bob], length)?;
    model.add_constraint("rod", rod, Level::Position)?;
    Simulation::with_options(model, Options::theta())
}

/// Ten particles of 0.1 kg on hard rods of 0.1 m, straight and 0.2 rad from hanging, at rest.
///
/// # Errors
/// None for this model.
pub fn swaying_chain() -> Result<Simulation, Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let (x, y) = (0.2f64.sin(), -0.2f64.cos());
    let places: Vec<[f64; 3]> = (1..=10)
        .map(|i| [0.1 * f64::from(i) * x, 0.1 * f64::from(i) * y, 0.0])
        .collect();
    let p = model.add_particles("p", &places)?;
    model.add_mass("m", p, Mass::Uniform(0.1))?;
    let end = |i: usize| {
        if i == 0 {
            End::Point([0.0; 3])
        } else {
            End::element(0, i - 1)
        }
    };
    let pairs: Vec<_> = (0..10).map(|i| (end(i + 1), end(i))).collect();
    let rods = model.add_mapped("lengths", &[p], Distance::new(&pairs).with_rest_lengths(&[0.1]))?;
    model.add_constraint("rods", rods, Level::Position)?;
    Simulation::with_options(model, Options::theta())
}

fn oscillator() -> Result<Simulation, Error> {
    let mut model = Model::new();
    let node = model.add_independent("mass", Space::Real(1), &[0.3], &[-0.4])?;
    model.add_mass("m", node, Mass::Uniform(1.5))?;
    let law = UniformCompliance::new(1.0 / 60.0).with_relaxation_time(0.02);
    model.add_force_field("spring", node, law, Treatment::Stiffness)?;
    Simulation::with_options(model, Options::theta())
}

fn top() -> Result<Simulation, Error> {
    let mut model = Model::new();
    let body = model.add_rigid_bodies("top", &[pliant::model::Pose::default()])?;
    model.set_body_velocity(body, 0, [0.0; 3], [1.2, 0.0, 1.0])?;
    let inertia = RigidMass::principal(1.0, [1.0, 2.0, 3.0]);
    model.add_mass("m", body, Mass::Rigid(vec![inertia]))?;
    Simulation::with_options(model, Options::theta())
}

/// Distance of the tip from where it is to be, from the pose of the last link.
fn chain_error(s: &Simulation) -> f64 {
    let Some(links) = s.model().node_named("links") else {
        return f64::NAN;
    };
    let Some(pose) = s.pose(links, 9) else {
        return f64::NAN;
    };
    let end = pliant::dense::rotation::rotate(pose.rotation, pliant::dense::Vec3::new(0.05, 0.0, 0.0));
    let tip = [pose.position[0] + end.x, pose.position[2] + end.z];
    distance(&tip, &[-0.264550457, -0.861349287])
}
