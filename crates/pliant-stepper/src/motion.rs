//! Everything that changes during a simulation, as one value.

#[cfg(feature = "serde")]
use crate::archive::{self, ArchiveError};
use crate::contact::{ContactMemory, SleepMemory};
pub use crate::system::automatic::AutomaticMemory;
use crate::{IntegratorMemory, LedgerMemory, TreatmentChoice};
use pliant_model::{ComponentId, ElementIndex, State};
use pliant_solvers::complementarity::{ConicMemory, IslandMemory};
use pliant_solvers::{BoundState, Elimination};
use std::ops::Range;

/// Everything that changes during a simulation. A step reads the motion at its start and writes the
/// motion at its end; a step that fails leaves no trace but in its own copy. A checkpoint is such a
/// value: restored into a simulation of the same model and options, the motion goes on bit for bit.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motion {
    /// Time (s).
    pub time: f64,
    /// Positions and velocities.
    pub state: State,
    /// Multipliers of the last step, average forces over it, one per row (N, N m).
    pub multipliers: Vec<f64>,
    /// Multipliers that the next step's geometric stiffness is made of (N, N m).
    pub lagged: Vec<f64>,
    /// Whether no step has been taken from this state, so that multipliers are not known.
    pub fresh: bool,
    /// Forces that held the fixed coordinates over the last step (N, N m).
    pub supports: Vec<f64>,
    /// Values that the user imposes.
    pub controls: Controls,
    /// Energy taken out by damping so far (J).
    pub dissipated: f64,
    /// The energies that the next ledger starts from.
    pub ledger: LedgerMemory,
    /// The memory of the integrator.
    pub integrator: IntegratorMemory,
    /// The memory of steps that choose their length.
    pub adaptive: AdaptiveMemory,
    /// The treatments chosen for automatic force fields.
    pub treatments: Treatments,
    /// The memory of the solvers; complete in checkpoints alone, for the solvers hold theirs.
    pub solver: SolverMemory,
    /// Contacts: those of the state, forces of the last step, and the memory of the finder.
    pub contacts: Option<ContactMemory>,
    /// Islands that sleep, and for how long the others have been slow.
    pub sleep: SleepMemory,
}

#[cfg(feature = "serde")]
impl Motion {
    /// The version of the structure in bytes.
    const VERSION: u32 = 2;

    /// The motion as bytes with a version and a checksum, every number to the bit.
    ///
    /// # Errors
    /// [`ArchiveError`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ArchiveError> {
        archive::to_bytes("checkpoint", Self::VERSION, self)
    }

    /// The motion that [`to_bytes`](Self::to_bytes) wrote. Whether it fits a model is found where
    /// it is restored.
    ///
    /// # Errors
    /// [`ArchiveError`] if the bytes are something else, were cut or changed, or have the structure
    /// of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArchiveError> {
        archive::from_bytes("checkpoint", Self::VERSION, bytes)
    }
}

/// The present motion as a value to save and to restore.
pub type Checkpoint = Motion;

/// Values that the user imposes on a simulation between steps.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Controls {
    /// Which independent coordinates are fixed.
    pub fixed: Vec<bool>,
    /// Velocities that fixed coordinates have at the end of the next step (m/s, rad/s).
    pub held: Vec<f64>,
    /// Forces from outside the model, on all nodes (N, N m); empty where none was ever set.
    pub external: Vec<f64>,
    /// Inputs of all force fields, one after the other.
    pub inputs: Vec<f64>,
    /// Force fields and constraints that act no more, in order.
    #[cfg_attr(feature = "serde", serde(default))]
    pub released: Vec<ComponentId>,
    /// Elements that are out of the model, in order.
    #[cfg_attr(feature = "serde", serde(default))]
    pub removed: Vec<ElementIndex>,
}

impl Controls {
    /// Forces from outside on a range of the coordinates of all nodes (N, N m); empty where none
    /// was ever set.
    pub fn external_on(&self, coordinates: Range<usize>) -> &[f64] {
        self.external.get(coordinates).unwrap_or(&[])
    }
}

/// The treatments chosen for force fields that leave theirs open.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Treatments {
    /// Length of the step that they were chosen for (s); `None` before the first choice.
    pub chosen_for: Option<f64>,
    /// The choices.
    pub choices: Vec<TreatmentChoice>,
}

/// The state of the orders of elimination that a [`SolverMemory`] was written in: the next writing
/// leaves alone what has not changed since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryChanges(pub(crate) [u64; 2]);

/// The memory of the solvers: everything that they hand from one step to the next.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SolverMemory {
    /// Order of elimination that the solver of the step has settled on, with its judgements on
    /// rows.
    pub elimination: Option<Elimination>,
    /// Order of elimination of position corrections and accelerations.
    pub correction_elimination: Option<Elimination>,
    /// Which rows of bounded force are at a bound.
    pub active_set: Vec<BoundState>,
    /// Memory of the sweeps that solve for rows of bounded force, where these were chosen.
    pub sweeps: Option<Box<ConicMemory>>,
    /// Memory of the automatic choice of the linear solver.
    #[cfg_attr(feature = "serde", serde(default))]
    pub automatic: AutomaticMemory,
    /// Memory of the islands of contacts.
    pub islands: IslandMemory,
    /// Memory of the islands of contacts in corrections of overlap.
    pub correction_islands: IslandMemory,
    /// Memory of the automatic choice of the linear solver of contacts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub contact_choice: AutomaticMemory,
    /// Memory of the automatic choice of the linear solver in corrections of overlap.
    #[cfg_attr(feature = "serde", serde(default))]
    pub correction_choice: AutomaticMemory,
}

/// Memory of steps that choose their length, part of every checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AdaptiveMemory {
    /// The step to be tried next (s); `None` before the first.
    pub next: Option<f64>,
    /// The error of the last step, as a share of what is allowed; `None` before the first and after
    /// an event.
    pub error: Option<f64>,
    /// For how long everything has been slow (s).
    pub slow: f64,
    /// When the second began in which events are counted (s), and how many were located in it.
    pub window: f64,
    /// See [`window`](Self::window).
    pub located: usize,
    /// The last step ended at an event, so that the next one holds an impact.
    pub impact: bool,
}

/// Implements `Clone` so that `clone_from` copies into the buffers that are there: a warm step
/// allocates nothing.
macro_rules! clone_into_buffers {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl Clone for $type {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone()),* }
            }

            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)*
            }
        }
    };
}

clone_into_buffers!(Motion {
    time,
    state,
    multipliers,
    lagged,
    fresh,
    supports,
    controls,
    dissipated,
    ledger,
    integrator,
    adaptive,
    treatments,
    solver,
    contacts,
    sleep,
});
clone_into_buffers!(Controls {
    fixed,
    held,
    external,
    inputs,
    released,
    removed,
});
clone_into_buffers!(Treatments { chosen_for, choices });
clone_into_buffers!(SolverMemory {
    automatic,
    elimination,
    correction_elimination,
    active_set,
    sweeps,
    islands,
    correction_islands,
    contact_choice,
    correction_choice,
});

pub(crate) use clone_into_buffers;
