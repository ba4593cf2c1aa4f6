//! Everything that changes during a simulation, as plain values.

use crate::contact::{ContactMemory, SleepMemory};
use crate::{AdaptiveMemory, IntegratorMemory, LedgerMemory, TreatmentChoice};
use pliant_model::State;
use pliant_solvers::{BoundState, Elimination};

/// A simulation's memory: restore it into a simulation of the same model and options, and the motion goes on bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Time (s).
    pub time: f64,
    /// Positions and velocities.
    pub state: State,
    /// Multipliers of the last step, average forces over it, one per row.
    pub multipliers: Vec<f64>,
    /// Multipliers that the next step's geometric stiffness is made of.
    pub lagged: Vec<f64>,
    /// Which independent coordinates are fixed.
    pub fixed: Vec<bool>,
    /// Energy taken out by damping so far (J).
    pub dissipated: f64,
    /// What the next ledger starts from.
    pub ledger: LedgerMemory,
    /// Velocities that fixed coordinates have at the end of the next step.
    pub held: Vec<f64>,
    /// Forces from outside the model, on all nodes.
    pub external: Vec<f64>,
    /// No step has been taken from this state.
    pub fresh: bool,
    /// Inputs of all force fields, one after the other.
    pub inputs: Vec<f64>,
    /// What the integrator remembers.
    pub integrator: IntegratorMemory,
    /// What steps that choose their length remember.
    pub adaptive: AdaptiveMemory,
    /// The step that treatments were chosen for, and the choices; `None` before the first.
    pub treatments: Option<(f64, Vec<TreatmentChoice>)>,
    /// Order of elimination that the solver has settled on.
    pub elimination: Option<Elimination>,
    /// The same of the solver of position corrections.
    pub correction_elimination: Option<Elimination>,
    /// Contacts: those of the state, forces of the last step, and what the finder remembers.
    pub contacts: Option<ContactMemory>,
    /// What sleeps, and for how long the rest has been slow.
    pub sleep: SleepMemory,
    /// Which rows of bounded force are at a bound.
    pub active_set: Vec<BoundState>,
}
