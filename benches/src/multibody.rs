//! Multibody benchmark problems with known answers: the problems A01 to A05 of the IFToMM library
//! of computational benchmark problems (González, Dopico, Lugrís and Cuadrado 2006), from the scene
//! files of the repository.
//!
//! Answers: motions in minimal coordinates by scipy (`benches/reference/multibody.py`, its output
//! beside it) and `benches/reference/bricard.py`, and the published one of Andrews' squeezer (Test
//! Set for IVP Solvers). Energies must be kept, the motor of A03 counted as a potential of its
//! angle; the governor (A05) loses some to its dampers. The published files of the library, with
//! the bounds of error that its times are for, were not at hand.

use crate::linkages::bricard;
use crate::orders::{Method, pendulum};
use crate::verify::distance;
use pliant::prelude::*;
use pliant_scene::{SceneError, SceneFile, Settings};
use std::path::Path;

/// A problem: how it is built, how long it runs, when and where its answer is known.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Its number in the library, and what it is.
    pub name: &'static str,
    /// Whose answer it is compared with.
    pub answer: &'static str,
    build: fn() -> Result<Simulation, Failure>,
    /// Simulated time (s).
    pub duration: f64,
    /// When the answer is known (s).
    pub known_at: f64,
    /// The longest step, a part of both times (s).
    pub coarsest: f64,
    error: fn(&Simulation) -> f64,
    /// The energy of which errors are shares (J); `None` where energy is not kept.
    pub scale: Option<f64>,
    /// Seconds on the processor that OpenSim 3.2 took on a Core i5-4570 of 3.2 GHz to the library's
    /// tolerance, as published.
    pub published: f64,
}

/// Errors before the first step.
#[derive(Debug)]
pub enum Failure {
    /// The file of a scene.
    Scene(Box<SceneError>),
    /// The model.
    Model(Error),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scene(e) => e.fmt(f),
            Self::Model(e) => e.fmt(f),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Model(error)
    }
}

/// The problems, in the order of the library.
pub const PROBLEMS: [Problem; 5] = [
    Problem {
        name: "A01 simple pendulum",
        answer: "DOP853 in its angle",
        build: || Ok(pendulum()?),
        duration: 10.0,
        known_at: 10.0,
        coarsest: 0.02,
        // From the other side than in the library.
        error: |s| distance(&s.state().positions[..2], &[0.275087462576, -0.961419205099]),
        scale: Some(9.81),
        published: 0.637,
    },
    Problem {
        name: "A02 two four-bar loops",
        answer: "DOP853 in its angle",
        build: || scene("n_four_bar"),
        duration: 10.0,
        known_at: 10.0,
        coarsest: 0.02,
        error: |s| (value(s, "foot 0.angle") + 31.750597186981).abs(),
        // From upright to hanging.
        scale: Some(2.0 * 9.81 * 3.5),
        published: 0.455,
    },
    Problem {
        name: "A03 Andrews' squeezer",
        answer: "Test Set for IVP Solvers",
        build: || scene("squeezer"),
        duration: 0.05,
        known_at: 0.03,
        coarsest: 8e-5,
        error: |s| squeezer_errors(s).iter().fold(0.0, |a, e| a.max(e.abs())),
        // What the motor has done at 0.03 s.
        scale: Some(0.523792008),
        published: 0.384,
    },
    Problem {
        name: "A04 Bricard's linkage",
        answer: "Runge-Kutta in its minimal coordinate",
        build: || Ok(bricard()?.0),
        duration: 10.0,
        known_at: 1.0,
        coarsest: 0.02,
        error: |s| {
            let found = s.model().node_named("bar 2").and_then(|n| s.pose(n, 0));
            found.map_or(f64::NAN, |p| {
                distance(
                    &p.position,
                    &[0.39249139025047347, -1.2679377690606528, -0.16110344405553395],
                )
            })
        },
        // Falls by about a metre in the mean.
        scale: Some(5.0 * 9.81),
        published: 0.258,
    },
    Problem {
        name: "A05 stiff flyball governor",
        answer: "Radau in its minimal coordinates",
        build: || scene("governor"),
        duration: 10.0,
        known_at: 10.0,
        coarsest: 0.01,
        error: |s| {
            let found = s.model().node_named("slider").and_then(|n| s.pose(n, 0));
            found.map_or(f64::NAN, |p| (p.position[2] - 0.6196229171).abs())
        },
        scale: None,
        published: 0.233,
    },
];

/// Andrews' squeezer at 0.03 s: the seven angles in the order of the scene's joints, less those of
/// the test set.
pub fn squeezer_errors(s: &Simulation) -> [f64; 7] {
    let start = [
        -0.06171389001427645,
        0.0,
        0.45527981916307037,
        0.48736497954384256,
        1.2305474445498212,
        0.22266839016588588,
        -0.22266839016588588,
    ];
    let end = [
        15.81077119629904,
        -15.75637105984298,
        0.04082224013073101,
        0.5244099658805303,
        1.048080741042263,
        -0.5347301163226948,
        0.5347301163226948,
    ];
    let names = ["beta", "theta", "gamma", "delta", "epsilon", "phi", "omega"];
    std::array::from_fn(|i| start[i] + value(s, &format!("{}.angle", names[i])) - end[i])
}

/// A run of a problem.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Largest change of the energy, as a share of the scale.
    pub energy: f64,
    /// Error where the answer is known (m or rad).
    pub error: f64,
    /// Fewest and most redundant rows of a step.
    pub redundant: (usize, usize),
    /// Largest violation of a hard row (m, rad).
    pub violation: f64,
    /// Steps taken.
    pub steps: usize,
    /// Time on the clock of the steps alone (s).
    pub seconds: f64,
}

impl Problem {
    /// A simulation of it, by a method.
    ///
    /// # Errors
    /// The error of the scene or of the model.
    pub fn simulation(&self, method: &Method) -> Result<Simulation, Failure> {
        let mut s = (self.build)()?;
        s.options = method.options.clone();
        Ok(s)
    }

    /// The error of a state at the time where the answer is known.
    pub fn error(&self, s: &Simulation) -> f64 {
        (self.error)(s)
    }

    /// Runs it over its time in equal steps.
    ///
    /// # Errors
    /// The error of the simulation.
    pub fn run(&self, mut s: Simulation, h: f64) -> Result<Run, Failure> {
        let energy = |s: &Simulation| s.problem().energies(s.state()).total();
        let start = energy(&s);
        let mut out = Run {
            steps: (self.duration / h).round() as usize,
            redundant: (usize::MAX, 0),
            error: f64::NAN,
            ..Run::default()
        };
        let known = (self.known_at / h).round() as usize;
        for k in 1..=out.steps {
            let clock = std::time::Instant::now();
            let report = s.step(h)?;
            out.seconds += clock.elapsed().as_secs_f64();
            out.energy = out.energy.max((report.energies.total() - start).abs());
            out.redundant.0 = out.redundant.0.min(report.solve.redundant_rows);
            out.redundant.1 = out.redundant.1.max(report.solve.redundant_rows);
            out.violation = out.violation.max(report.violation);
            if k == known {
                out.error = self.error(&s);
            }
        }
        out.energy /= self.scale.unwrap_or(1.0);
        Ok(out)
    }
}

/// A scene of the repository.
fn scene(name: &str) -> Result<Simulation, Failure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../scenes/{name}.ron"));
    let built = SceneFile::load(&path).and_then(|s| s.build(&Settings::default()));
    let built = built.map_err(|e| Failure::Scene(Box::new(e)))?;
    Ok(Simulation::with_options(built.model, built.options)?)
}

fn value(s: &Simulation, node: &str) -> f64 {
    s.model().node_named(node).map_or(f64::NAN, |n| s.positions(n)[0])
}
