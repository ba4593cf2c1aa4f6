//! Observation of a step: energies, the ledger, forces and the report, as functions of the system,
//! the motions at both ends and the trace.

mod blame;
mod drives;
pub mod energy;
mod forces;
mod jumps;
mod ledger;
mod parts;
mod report;

pub use blame::unit;
pub(crate) use blame::{Clash, Residuals, with_others};
pub(crate) use drives::Driving;
pub use forces::{Axes, On, Wrench};
pub use forces::{ForcesThrough, force_of, force_through, pose, reaction, wrench_of};
pub use jumps::{BoundedImpulses, Jump, Jumps};
pub(crate) use ledger::DampingLaw;
pub use ledger::LedgerMemory;
pub use ledger::{Account, stored_energies};
pub(crate) use parts::find_parts;
pub use report::{RowGap, check, report, row_gaps};
pub(crate) use report::{correction_error, is_at_bound, violation};

use crate::certificate::LocalError;
use crate::method::Projected;
use crate::motion::Motion;
use crate::report::{Linearisation, NewtonReport, Timings};
use crate::system::System;
use pliant_kkt::Scheme;
use pliant_model::ChordWork;
use pliant_solvers::{BoundsReport, KktResidual, SolveReport, Status, Variable};

/// A step between two motions, as observers see it: nothing here can be changed.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The system after the step.
    pub system: &'a System,
    /// The motion at its start.
    pub start: &'a Motion,
    /// The motion at its end.
    pub end: &'a Motion,
    /// The weights by which the step is accounted for.
    pub scheme: &'a Scheme,
}

/// Buffers for coordinates of one node, as large as was asked for.
#[derive(Debug, Default)]
pub struct Room {
    /// Coordinates of one node.
    pub first: Vec<f64>,
    pub(crate) second: Vec<f64>,
}

/// So many numbers of a buffer, which grows where it has fewer.
pub(crate) fn room(buffer: &mut Vec<f64>, size: usize) -> &mut [f64] {
    if buffer.len() < size {
        buffer.resize(size, 0.0);
    }
    &mut buffer[..size]
}

/// Stages of a step, of methods that have a choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages {
    /// Stages that it was taken in; 0 of other methods.
    pub taken: usize,
    /// The largest estimated error that the iteration of a stage left in its velocities, as a share
    /// of them; 0 where none is known.
    pub left: f64,
    /// Estimate of the error that the step adds to a smooth motion, where there is one.
    pub error: Option<LocalError>,
    /// Whether the step is to fail where they are not solved, because it is taken in halves then;
    /// it stays from step to step.
    pub or_halves: bool,
    /// Whether the step is to fail where some islands have an impact and others have none, because
    /// these are taken by themselves then; it stays from step to step.
    pub or_parts: bool,
    /// The impacts for which it failed.
    pub impacts: StageImpacts,
}

/// Impacts in the stages of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageImpacts {
    /// Rows of the model.
    pub rows: Vec<usize>,
    /// Contacts, by their places in the list of the step.
    pub contacts: Vec<usize>,
}

impl StageImpacts {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.contacts.clear();
    }

    /// Adds others.
    pub(crate) fn extend(&mut self, others: Self) {
        self.rows.extend(others.rows);
        self.contacts.extend(others.contacts);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.contacts.is_empty()
    }
}

/// Findings of a method on the way from one motion to the next, beside the motion itself.
#[derive(Debug)]
pub struct Trace {
    /// Length of the step (s).
    pub h: f64,
    /// How the equations of the step were solved.
    pub solved: SolveReport,
    /// The name of the linear solver.
    pub solver: &'static str,
    /// Newton's method, where it solved the step.
    pub newton: NewtonReport,
    /// Iterations of the position corrections, before and after.
    pub corrections: (usize, usize),
    /// Linear solves of the step.
    pub geometry_passes: usize,
    /// Stages that the step is taken in.
    pub stages: Stages,
    /// Whether the geometric stiffness was replaced by its absolute value.
    pub geometry_clamped: bool,
    /// Elements whose tangent was taken with its positive part.
    pub projected_tangents: usize,
    /// The part of the nonlinear equations that a linear step misses, where it was measured.
    pub linearisation: Option<Linearisation>,
    /// The equation that is missed most, where a method knows it.
    pub missed: Option<Variable>,
    /// Time spent.
    pub timings: Timings,
    /// The weights by which the step is accounted for.
    pub scheme: Scheme,
    /// Kinetic energy that hard rows changed in velocities of the start before the step (J).
    pub projected: Projected,
    /// The energy account of the step.
    pub account: Account,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            h: 0.0,
            solved: unsolved(),
            solver: "",
            newton: NewtonReport::default(),
            corrections: (0, 0),
            geometry_passes: 1,
            stages: Stages::default(),
            geometry_clamped: false,
            projected_tangents: 0,
            linearisation: None,
            missed: None,
            timings: Timings::default(),
            scheme: Scheme::implicit_euler(1.0),
            projected: Projected::default(),
            account: Account::default(),
        }
    }
}

impl Trace {
    /// Enters the work of all impulses of a part of the step, of length `h` (s), with the weights
    /// of the trace; of a step of two stages, that in its stages.
    pub(crate) fn tally(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &Motion,
        h: f64,
        driving: Driving,
    ) {
        self.account.find_drives(system, start, end, h, driving);
        let how = match driving {
            Driving::Means => DampingLaw::Tangent,
            _ => DampingLaw::Mean,
        };
        let step = Step {
            system,
            start,
            end,
            scheme: &self.scheme,
        };
        self.account.tally(step, h, how, self.stages.taken == 2);
    }

    /// Enters the work of all impulses of a step along a chord, of length `h` (s).
    pub(crate) fn tally_chord(
        &mut self,
        system: &System,
        start: &Motion,
        end: &Motion,
        h: f64,
        found: ChordWork,
    ) {
        let step = Step {
            system,
            start,
            end,
            scheme: &self.scheme,
        };
        self.account.tally_chord(step, h, found);
    }

    /// The energy that the step lost up to now (J), where compliant contacts have `stored` (J) at
    /// its end.
    pub(crate) fn lost(&mut self, system: &System, start: &Motion, end: &Motion, stored: f64) -> f64 {
        let step = Step {
            system,
            start,
            end,
            scheme: &self.scheme,
        };
        self.account.lost(step, stored)
    }

    /// Forgets the last step; buffers stay.
    pub fn clear(&mut self) {
        self.solved = unsolved();
        self.solver = "";
        self.newton = NewtonReport::default();
        self.corrections = (0, 0);
        self.geometry_passes = 1;
        (self.stages.taken, self.stages.left, self.stages.error) = (0, 0.0, None);
        self.stages.impacts.clear();
        self.linearisation = None;
        self.geometry_clamped = false;
        self.projected_tangents = 0;
        self.missed = None;
        self.timings = Timings::default();
    }
}

/// The report of equations that nobody has solved.
fn unsolved() -> SolveReport {
    SolveReport {
        status: Status::MaxIterations,
        residual: KktResidual::default(),
        iterations: 0,
        refinements: 0,
        redundant_rows: 0,
        inertia: (0, 0),
        bounds: BoundsReport::default(),
    }
}
