//! The options of the steps.

use super::{AdaptiveSpec, OverlapSpec, SleepingSpec, StaticsSpec, one};
use crate::Quantity;
use crate::quantity::{Coordinate, Pure, Time};
use pliant::contact::{FrictionCoupling, Impacts, Restitution};
use pliant::kkt::{GeometricStiffness, Metric};
use pliant::solvers::complementarity::Method;
use pliant::{BoundedRows, Gyroscopic, LinearSolver};
use serde::Deserialize;

/// The options of the steps.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "run", deny_unknown_fields)]
pub struct Run {
    /// Simulated time; of `statics`, which take none, 1 by default.
    #[serde(default)]
    pub duration: Option<Quantity<Time>>,
    /// Length of a step; 0.01 by default.
    #[serde(default = "default_step")]
    pub step: Quantity<Time>,
    /// Steps that choose their length; of the length `step` by default.
    #[serde(default)]
    pub adaptive_step: Option<AdaptiveSpec>,
    /// Steps per recorded picture; by default about 50 pictures per simulated second.
    #[serde(default)]
    pub record_every: Option<Quantity<Pure>>,
    /// Steps per line of the table of probes; 1 by default.
    #[serde(default)]
    pub probe_every: Option<Quantity<Pure>>,
    /// How closely the times of `events` are found (s); 1e-6 by default.
    #[serde(default)]
    pub event_tolerance: Option<Quantity<Time>>,
    /// The method that takes steps.
    #[serde(default)]
    pub integrator: IntegratorSpec,
    /// Largest relative residual of a converged step of a nonlinear method; 1e-11 by default.
    #[serde(default)]
    pub newton_tolerance: Option<Quantity<Pure>>,
    /// Largest relative residual of a stage of `Sdirk2`; 1e-9 by default.
    #[serde(default)]
    pub stage_tolerance: Option<Quantity<Pure>>,
    /// Halvings, at most, of a step of `Sdirk2` whose stages are not solved, or gain or lose
    /// energy; 4 by default.
    #[serde(default)]
    pub stage_halvings: Option<Quantity<Pure>>,
    /// Largest loss of energy by a step of `Sdirk2` that is not halved, as a share of what it turns
    /// over; 5e-3 by default.
    #[serde(default)]
    pub energy_loss: Option<Quantity<Pure>>,
    /// Whether a step that makes energy is an error; by default as the integrator is.
    #[serde(default)]
    pub accuracy: Option<AccuracySpec>,
    /// Iterations of Newton's method at most; 50 by default.
    #[serde(default)]
    pub newton_iterations: Option<Quantity<Pure>>,
    /// Halvings, at most, of a step in which Newton's method, or contacts in it, do not converge;
    /// 10 by default. With `Sdirk2` one stage is to solve it before it is halved more often than
    /// `stage_halvings`.
    #[serde(default)]
    pub newton_halvings: Option<Quantity<Pure>>,
    /// Weight of the end of the step in forces, of `Theta` and `Nonlinear`: 1 is implicit Euler
    /// (the default), 0.5 with `beta: 0.5` is trapezoidal.
    #[serde(default = "one")]
    pub alpha: Quantity<Pure>,
    /// Weight of the end of the step in velocities.
    #[serde(default = "one")]
    pub beta: Quantity<Pure>,
    /// Which part of the geometric stiffness enters the step.
    #[serde(default)]
    pub geometric_stiffness: GeometrySpec,
    /// Linear solves per step at most, where the forces that the geometric stiffness is made of
    /// change much; 2 by default.
    #[serde(default)]
    pub geometry_passes: Option<Quantity<Pure>>,
    /// Whether a geometric stiffness that makes the system indefinite is replaced by its absolute
    /// value for that step, or is an error; replaced by default.
    #[serde(default = "yes")]
    pub clamp_geometry: bool,
    /// The linear solver: `Direct`, `Cg(Blocks)`, `Minres(Diagonal)`, `Gmres(Blocks)`, ...
    #[serde(default)]
    pub linear: LinearSolver,
    /// Whether the factor is kept where the matrix of a step is that of the last one to the bit, and
    /// only what changed is factored where that is little.
    #[serde(default)]
    pub keep_factor: bool,
    /// Threads that steps are shared by; who runs the scene says how many by default.
    #[serde(default)]
    pub threads: Option<Quantity<Pure>>,
    /// How rows of bounded force are solved.
    #[serde(default)]
    pub bounded_rows: BoundedRows,
    /// Treatment of spinning bodies.
    #[serde(default)]
    pub gyroscopic: Gyroscopic,
    /// Correct positions before each step.
    #[serde(default)]
    pub pre_stabilisation: Option<StabilisationSpec>,
    /// Correct positions after each step.
    #[serde(default)]
    pub post_stabilisation: Option<StabilisationSpec>,
    /// Largest relative residual of a converged step.
    #[serde(default)]
    pub tolerance: Option<Quantity<Pure>>,
    /// Largest residual of a step with contacts, relative to the velocities without contact
    /// impulses; 1e-6 by default.
    #[serde(default)]
    pub contact_accuracy: Option<Quantity<Pure>>,
    /// Iterations of the last resort for contacts.
    #[serde(default)]
    pub contact_iterations: Option<Quantity<Pure>>,
    /// Halvings, at most, of a step whose contacts do not converge; 3 by default.
    #[serde(default)]
    pub contact_halvings: Option<Quantity<Pure>>,
    /// The one method that solves contacts; the program chooses, and falls back on others, by
    /// default.
    #[serde(default)]
    pub contact_solver: Option<Method>,
    /// Operations of the solvers of contacts in a step at most.
    #[serde(default)]
    pub contact_operations: Option<Quantity<Pure>>,
    /// Operations of the corrections of overlap in a step at most.
    #[serde(default)]
    pub correction_operations: Option<Quantity<Pure>>,
    /// Tests of one search for contacts at most.
    #[serde(default)]
    pub contact_tests: Option<Quantity<Pure>>,
    /// Factorisations in a step at most.
    #[serde(default)]
    pub factorisations: Option<Quantity<Pure>>,
    /// Treatment of overlap.
    #[serde(default)]
    pub overlap: Option<OverlapSpec>,
    /// The coupling of the normal part of a contact to its slip.
    #[serde(default)]
    pub friction_coupling: FrictionCoupling,
    /// The coupling of a step whose contacts have no solution with that one; without one it is
    /// halved, and ends in an error.
    #[serde(default)]
    pub friction_fallback: Option<FrictionCoupling>,
    /// The order of impacts at the same time.
    #[serde(default)]
    pub impacts: Impacts,
    /// The law of impacts.
    #[serde(default)]
    pub restitution_law: Restitution,
    /// Whether steps are taken in parts that end where contacts or limits with restitution close.
    #[serde(default)]
    pub locate_impacts: bool,
    /// Whether no step may stand in which surfaces pass through each other; they need a radius.
    #[serde(default)]
    pub intersection_free: bool,
    /// When islands at rest fall asleep; never by default.
    #[serde(default)]
    pub sleeping: Option<SleepingSpec>,
    /// Equilibria instead of motion.
    #[serde(default)]
    pub statics: Option<StaticsSpec>,
}

fn default_step() -> Quantity<Time> {
    0.01.into()
}

fn yes() -> bool {
    true
}

/// The method that takes steps.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "integrator")]
pub enum IntegratorSpec {
    /// One linear system per step, of first order.
    Theta,
    /// The equations of the weights `alpha` and `beta` by Newton's method.
    Nonlinear,
    /// Second order, with damping of what is fast.
    GeneralisedAlpha(GeneralisedAlphaSpec),
    /// Newmark's method.
    Newmark(NewmarkSpec),
    /// Backward differentiation of order 2.
    Bdf2,
    /// Backward differentiation of order 3.
    Bdf3,
    /// Two implicit stages of order 2, from soft to hard: the default.
    #[default]
    Sdirk2,
    /// One implicit stage of order 2 that conserves energy and momentum.
    EnergyMomentum,
    /// Symplectic, with hard rows.
    Rattle,
    /// RATTLE of order 4, by composition.
    Rattle4,
    /// RATTLE of order 6, by composition.
    Rattle6,
    /// Explicit, order 1.
    SymplecticEuler,
    /// Explicit, order 1: vibrations grow.
    ForwardEuler,
    /// Explicit, order 2.
    RungeKutta2,
    /// Explicit, order 4.
    RungeKutta4,
}

/// Whether a step that makes energy is an error.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "accuracy")]
pub enum AccuracySpec {
    /// An error beyond tolerances.
    Certified(CertifiedSpec),
    /// The step stands, and the summary says how much it makes.
    Measured,
}

/// Tolerances of the energy.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Certified", deny_unknown_fields)]
pub struct CertifiedSpec {
    /// Energy that a step makes, as a share of what it turns over; 1e-3 by default.
    #[serde(default)]
    pub gain: Option<Quantity<Pure>>,
    /// Energy that dampers, friction and impacts bring in, likewise; 1e-3 by default.
    #[serde(default)]
    pub passive_gain: Option<Quantity<Pure>>,
    /// Energy from nowhere since the start, as a share of what could turn over; 1 by default.
    #[serde(default)]
    pub since_start: Option<Quantity<Pure>>,
}

/// Generalised-alpha.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "GeneralisedAlpha", deny_unknown_fields)]
pub struct GeneralisedAlphaSpec {
    /// Spectral radius at high frequencies: the share per step that is left of motion far too fast
    /// for it, from 0 to 1; 0.8 by default.
    #[serde(default)]
    pub radius: Option<Quantity<Pure>>,
}

/// Newmark's method.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Newmark", deny_unknown_fields)]
pub struct NewmarkSpec {
    /// Weight of the new acceleration in positions; 0.25 by default.
    #[serde(default)]
    pub position: Option<Quantity<Pure>>,
    /// Weight of the new acceleration in velocities; 0.5 by default.
    #[serde(default)]
    pub velocity: Option<Quantity<Pure>>,
}

/// Which part of the geometric stiffness enters the step.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "geometric_stiffness")]
pub enum GeometrySpec {
    /// All of it.
    #[default]
    Full,
    /// No part of it.
    None,
    /// All of it where `h^2 G` outweighs the mass, none elsewhere.
    WhereNeeded,
    /// As much of it where `h^2 G` outweighs the mass that what is left does not.
    JustEnough,
    /// Its positive-semidefinite part: compression adds nothing.
    PositivePart,
    /// Its absolute value: compression stiffens like tension.
    AbsoluteValue,
    /// One choice for forces and one for multipliers.
    Each {
        /// Of springs treated as stiffness, and gravity.
        forces: GeometricStiffness,
        /// Of compliant rows and hard constraints.
        multipliers: GeometricStiffness,
    },
}

/// A correction of positions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "stabilisation", deny_unknown_fields)]
pub struct StabilisationSpec {
    /// The norm of displacements that is made least.
    #[serde(default)]
    pub metric: Metric,
    /// Iterations at most; 20 by default.
    #[serde(default)]
    pub iterations: Option<Quantity<Pure>>,
    /// Violation that is small enough; 1e-12 by default.
    #[serde(default)]
    pub tolerance: Option<Quantity<Coordinate>>,
}
