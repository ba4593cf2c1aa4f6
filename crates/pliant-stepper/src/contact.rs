//! Contacts: the points where two surfaces may touch, the law between them, and the impulses that
//! solve it.
//!
//! In a step they are found (`detect`), made rows of a cone each (`law`) behind the system of the
//! model (`rows`), struck together where there are impacts (`impact`), solved (`solve`, of Newton's
//! method `newton`, along curves `turn`), read (`observed`), looked for where the search missed
//! them (`missed`), and moved out of overlap at its end (`penetration`). `step` has these stages as
//! functions of a system and a motion.

mod approach;
mod bounce;
mod cones;
mod detect;
mod drag;
mod finder;
mod held;
mod impact;
mod law;
mod list;
mod memory;
mod missed;
mod newton;
mod observed;
mod options;
mod penetration;
mod pressure;
mod report;
mod rows;
mod solve;
mod stages;
pub mod step;
mod turn;
mod world;

pub use crate::sleep::SleepMemory;
pub use finder::ContactFinder;
pub use law::ContactLaw;
pub use list::{Contact, ContactKey, ContactList, StoredPair};
pub use memory::ContactMemory;
pub(crate) use memory::RestingForce;
pub use options::{ContactOptions, FrictionCoupling, Impacts, Overlap, Restitution, Sleeping};
pub use pliant_contact::{FrictionModel, Rest};
pub use report::{
    ContactEvent, ContactReading, ContactSolveReport, ContactState, ContactsReport, OverlapReport,
    SleepReport,
};

pub(crate) use approach::{Approach, Meeting, places_of_impacts, rebounds};
pub(crate) use bounce::{Bounce, take_largest_share};
pub use cones::{ConeSolver, ContactSystem};
pub use detect::Detection;
pub use detect::look_ahead;
pub use detect::{Search, check, predict};
pub use drag::Drag;
pub use law::ContactRows;
pub(crate) use newton::{ContactIterate, StageMotion};
pub use observed::Solved;
pub use observed::{Observation, Observed};
pub use stages::{StageReading, StageRecord, recorded_stages};
pub(crate) use turn::Turning;

use crate::system::rigid_nodes::Configuration;
use crate::{Error, Motion, Options, WorkPart};
use impact::Impact;
use newton::NewtonRows;
pub(crate) use penetration::Penetration;
use pliant_kkt::{Assembler, Scheme};
use pliant_model::Problem;
use pliant_solvers::complementarity::{self, AutoOptions, Limits, Outcome, ProblemError};
use pliant_solvers::{KktSystem, SolverCounters};
use rows::RowSystem;
use turn::Turned;

/// Sides of contacts that an error names.
const NAMED: usize = 4;

/// The contacts of a system: their source, their rows, and the readings of the last step. All that
/// is remembered from step to step is the [`ContactMemory`] of the motion.
#[derive(Debug)]
pub struct Contacts {
    /// The search, and the contacts that it found.
    pub detection: Detection,
    rows: RowSystem,
    newton: NewtonRows,
    turned: Turned,
    impact: Impact,
    /// The contacts of both stages of the last step, if these were recorded.
    stages: [StageRecord; 2],
    /// Readings of the last step.
    pub observed: Observed,
}

impl Contacts {
    pub(crate) fn new(finder: Box<dyn ContactFinder>) -> Self {
        Self {
            detection: Detection::new(finder),
            rows: RowSystem::default(),
            newton: NewtonRows::default(),
            turned: Turned::default(),
            impact: Impact::default(),
            stages: Default::default(),
            observed: Observed::default(),
        }
    }

    /// The residual to which the contacts of the last solve are solved: the one that solves aim at,
    /// or what it left.
    pub(crate) fn reached(&self, options: &Options) -> f64 {
        options.contacts.aim().max(self.observed.report().residual)
    }

    /// Energy in compliant contacts at the start of the step (J).
    pub(crate) fn stored_at_start(&self) -> f64 {
        penetration::stored(self.detection.list())
    }

    /// Deepest overlap of the hard contacts at the start of the step (m).
    pub(crate) fn deepest_at_start(&self) -> f64 {
        penetration::deepest(self.detection.list(), &self.detection.guards)
    }

    /// Whether the impulses of the last solve are the only ones with its velocities.
    pub(crate) fn determinacy(&self) -> complementarity::Determinacy {
        self.rows.solver.determinacy()
    }

    /// The name of the linear solver of contacts, where that is chosen apart from the step's.
    pub(crate) fn linear_name(&self) -> Option<&'static str> {
        self.rows.solver.linear_name()
    }

    /// Time of the cones of steps so far.
    pub(crate) fn profile(&self) -> complementarity::ConeProfile {
        self.rows.solver.profile()
    }

    /// Work of the linear systems of the islands of steps so far.
    pub(crate) fn counters(&self) -> SolverCounters {
        self.rows.solver.counters()
    }

    /// The problem of the island with the largest residual in the last step that was tried.
    pub fn worst_problem(&self) -> Option<&complementarity::Problem> {
        let failed = self.observed.failed.as_ref().and_then(|solver| solver.problem());
        failed.or_else(|| self.rows.solver.worst_problem())
    }

    /// Keeps the solver of the worst island, before all solvers forget what they know.
    pub fn keep_failed(&mut self) {
        if let Some(worst) = self.rows.solver.take_worst() {
            self.observed.failed = Some(worst);
        }
    }
}

/// The filled system of a model at a motion.
#[derive(Clone, Copy)]
pub(crate) struct Base<'a> {
    pub(crate) model: &'a Problem,
    pub(crate) assembler: &'a Assembler,
    /// The motion at whose state the assembler was filled.
    pub(crate) motion: &'a Motion,
    pub(crate) options: &'a Options,
    pub(crate) scheme: &'a Scheme,
}

impl<'a> Base<'a> {
    fn system(&self) -> &'a KktSystem {
        self.assembler.system()
    }

    /// Number of row blocks of the model.
    fn row_blocks(&self) -> usize {
        self.system().row_blocks().len() - 1
    }

    /// The system with the rows of contacts, whose laws these are.
    fn contact_system(
        &self,
        whole: &'a KktSystem,
        cones: &'a [Option<complementarity::Cone>],
    ) -> ContactSystem<'a> {
        ContactSystem {
            base: self.system(),
            whole,
            cones,
            at: Configuration {
                model: self.model,
                state: &self.motion.state,
            },
        }
    }

    /// An error of the solver in the words of the model.
    fn error(&self, error: ProblemError) -> Error {
        match error {
            ProblemError::Bilateral(e) => Error::from_solver(e, self.model, self.motion.time),
            other => Error::Contacts(other),
        }
    }
}

/// Options of the solver that chooses its method by itself.
pub fn auto_options(options: &ContactOptions) -> AutoOptions {
    AutoOptions {
        limits: Limits {
            tolerance: options.aim(),
            max_iterations: options.max_iterations,
            ..Limits::default()
        },
        accuracy: options.accuracy,
        ..AutoOptions::default()
    }
}

/// The sides of contacts in words: the first few, and how many others there are.
fn names_of<'a>(detection: &Detection, contacts: impl Iterator<Item = &'a Contact>) -> String {
    let mut sides: Vec<u32> = contacts.flat_map(|c| c.sides).collect();
    sides.sort_unstable();
    sides.dedup();
    let shown = sides.len().min(NAMED);
    let mut out: Vec<String> = sides[..shown].iter().map(|s| detection.name(*s)).collect();
    match sides.len() - shown {
        0 => {}
        1 => out.push("one other".to_owned()),
        others => out.push(format!("{others} others")),
    }
    let last = out.pop().unwrap_or_default();
    if out.is_empty() {
        last
    } else {
        format!("{} and {last}", out.join(", "))
    }
}

/// Whether a solve ended within the work that the step allows; `contacts` has that of each block of
/// rows behind those of the model.
///
/// # Errors
/// [`Error::TooMuchWork`], unless steps that fail are accepted.
fn check_work<'a>(
    part: WorkPart,
    outcome: Outcome,
    solver: &ConeSolver,
    base: &Base<'_>,
    detection: &Detection,
    contacts: impl Iterator<Item = &'a Contact>,
) -> Result<(), Error> {
    if outcome != Outcome::TooMuchWork || base.options.accept_failed_steps {
        return Ok(());
    }
    let first = base.row_blocks() as u32;
    let busiest = solver.busiest();
    let taking = contacts.zip(first..).filter(|(_, block)| busiest.contains(block));
    Err(Error::TooMuchWork {
        part,
        what: names_of(detection, taking.map(|(contact, _)| contact)),
        time: base.motion.time,
        count: solver.work(),
        limit: solver.islands().options.limits.work,
    })
}

/// Gives the options of a simulation to the solver of the rows of contacts.
fn set_options(solver: &mut ConeSolver, base: &Base<'_>) {
    let options = base.options;
    let mut cones = auto_options(&options.contacts);
    cones.limits.work = options.tuning.work.contact_operations;
    solver.configure(options, options.step_solver(), cones, base.assembler.threads());
}
