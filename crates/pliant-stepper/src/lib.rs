//! One step of compliant mechanics, as a function of values.
//!
//! A [`Method`] takes the [`Motion`] at the start of a step to the one at its end. It fills and
//! solves the equations of a [`System`], which owns evaluation, assembler, contact rows and factors
//! and remembers nothing that decides the motion; the [`Trace`] says how the step was found.
//! [`observe`] reads energies, the ledger and forces from both motions and the trace.
//!
//! The crate `pliant` drives steps: simulations, control of their length, rest without time.
//!
//! With the feature `serde`, off by default, options that are a choice of words are read and
//! written, and motions as bytes (`archive`).
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "serde")]
pub mod archive;
pub mod certificate;
pub mod contact;
mod error;
pub mod guards;
pub mod integrator;
mod ledger;
pub mod method;
pub mod motion;
pub mod observe;
pub mod options;
pub mod report;
pub mod sleep;
pub mod system;
mod work;

pub use certificate::{
    Accuracy, Certificate, EnergyBudget, EnergyCertificate, EnergyPart, Excess, LocalError, Multipliers,
    Tolerances, Turnover,
};
pub use error::Error;
pub use integrator::Integrator;
pub use ledger::{Ledger, NumericalParts};
pub use method::Method;
pub use method::implicit::IntegratorMemory;
pub use motion::Motion;
pub use observe::{LedgerMemory, Trace};
pub use options::{
    BoundedRows, Gyroscopic, KrylovMethod, LinearSolver, Options, Preconditioner, Stabilisation, Tuning,
};
pub use report::{
    Control, Counters, EquilibriumReport, Linearisation, NewtonReport, StepReport, StepSolveReport, Timings,
};
pub use system::coordinates::CoordinateDynamics;
pub use system::{System, TreatmentChoice};
pub use work::{WorkLimits, WorkPart};

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
