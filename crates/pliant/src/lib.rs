//! Compliant mechanics: one number per constraint, from soft spring to exactly hard.
//!
//! Rigid bodies, particles and whatever is mapped from them, held together by springs, joints and
//! distance constraints; one implicit step solves all of it as one sparse saddle-point system, and
//! says how well.
//!
//! ```
//! use pliant::prelude::*;
//!
//! // A pendulum: a particle of 1 kg on a massless rod of 1 m, let go from the horizontal.
//! let mut model = Model::new();
//! model.set_gravity([0.0, -9.81, 0.0])?;
//! let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]])?;
//! model.add_mass("bob mass", bob, Mass::Uniform(1.0))?;
//! let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
//! let rod = model.add_mapped("rod", &[bob], length)?;
//! let tension = model.add_constraint("rod is hard", rod, Level::Position)?;
//!
//! let mut simulation = Simulation::new(model)?;
//! for _ in 0..100 {
//!     let report = simulation.step(0.001)?; // an error if it did not converge
//!     assert!(report.residual.relative < 1e-12);
//! }
//! // The rod pulls (a force along the distance is positive when it pushes).
//! assert!(simulation.reaction(tension)[0] < 0.0);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Features
//!
//! | feature | by default | it adds |
//! |---|---|---|
//! | `continuum` | on | solids, sheets, shells and rods of finite elements: the module `continuum`, stresses and strains, elements that break |
//! | `serde` | off | reading and writing of options that are a choice of words, and of checkpoints as bytes (`archive`) |
//!
//! Neither changes a number of a simulation.
//!
//! Only this crate knows time. Scene files are in `pliant-scene`, their runs in `pliant-run`; the
//! program `pliant` runs them.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod control;
mod damping_ratio;
pub mod gradient;
mod markers;
mod mechanism;
mod reduced;
mod simulation;
mod statics;

/// Contacts: where two surfaces may touch, the law between them, and its options.
pub mod contact {
    pub use pliant_stepper::contact::{
        Contact, ContactEvent, ContactFinder, ContactKey, ContactLaw, ContactList, ContactMemory,
        ContactOptions, ContactReading, ContactSolveReport, ContactState, ContactsReport, FrictionCoupling,
        FrictionModel, Impacts, Overlap, OverlapReport, Rest, Restitution, SleepMemory, SleepReport,
        Sleeping,
    };
}

pub use control::{
    Adaptive, AdaptiveReport, AdaptiveSummary, Drive, Event, Events, JumpReport, Settle, SettleReport,
};
pub use damping_ratio::resolve_damping_ratios;
pub use markers::{InverseKinematics, Marker, MarkerFit};
pub use mechanism::Mechanism;
pub use pliant_contact as collision;
#[cfg(feature = "continuum")]
pub use pliant_continuum as continuum;
pub use pliant_dense as dense;
pub use pliant_kkt as kkt;
pub use pliant_krylov as krylov;
pub use pliant_model as model;
pub use pliant_solvers as solvers;
pub use pliant_sparse as sparse;
#[cfg(feature = "serde")]
pub use pliant_stepper::archive;
pub use pliant_stepper::guards::EventKind;
pub use pliant_stepper::integrator;
pub use pliant_stepper::method::{
    Capabilities, ContactCapability, DependentRows, Examination, HardRowCapability, Massless,
    OwnWeightCapability,
};
pub use pliant_stepper::motion::{
    AdaptiveMemory, AutomaticMemory, Checkpoint, Controls, SolverMemory, Treatments,
};
pub use pliant_stepper::observe::{Axes, On, RowGap, Wrench};
pub use pliant_stepper::{
    Accuracy, BoundedRows, Certificate, Control, CoordinateDynamics, Counters, EnergyBudget,
    EnergyCertificate, EnergyPart, EquilibriumReport, Error, Excess, Gyroscopic, Integrator,
    IntegratorMemory, KrylovMethod, Ledger, LedgerMemory, LinearSolver, Linearisation, LocalError, Method,
    Motion, Multipliers, NewtonReport, NumericalParts, Options, Preconditioner, Stabilisation, StepReport,
    StepSolveReport, System, Timings, Tolerances, Trace, TreatmentChoice, Tuning, Turnover, WorkLimits,
    WorkPart,
};
pub use reduced::{ReducedBody, ReducedMode, ReducedParts};
pub use simulation::Simulation;
#[cfg(feature = "continuum")]
pub use simulation::{Breaking, BreakingParts};
pub use statics::{
    About, Buckling, BucklingMode, BucklingOptions, Continuation, CriticalKind, CriticalPoint, Equilibrium,
    FixedModes, Interface, LoadSign, Loads, Mode, ModeKind, ModeOptions, Modes, Path, PathEnd, PathPoint,
    Reduction, StaticMethod,
};

/// Names that most programs need.
pub mod prelude {
    pub use crate::{
        About, Accuracy, Adaptive, AdaptiveReport, AdaptiveSummary, Axes, BoundedRows, Buckling,
        BucklingOptions, Checkpoint, Continuation, Control, CriticalKind, Equilibrium, Error, EventKind,
        Events, FixedModes, Gyroscopic, Integrator, Interface, InverseKinematics, JumpReport, KrylovMethod,
        Ledger, LinearSolver, LoadSign, Loads, Marker, MarkerFit, Mode, ModeKind, ModeOptions, Modes, On,
        Options, Path, PathEnd, Preconditioner, ReducedBody, ReducedParts, Reduction, Settle, SettleReport,
        Simulation, Stabilisation, StaticMethod, StepReport, Tolerances, TreatmentChoice, Tuning, WorkLimits,
        WorkPart, Wrench,
    };
    pub use pliant_kkt::{GeometricStiffness, GeometricTerms, Metric};
    pub use pliant_model::*;
    pub use pliant_solvers::{DirectOptions, Status};
}

/// The example of the package's own page, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod package_readme {}
