//! Gradients of steps and trajectories.

mod closing;
mod contacts;
mod family;
mod forward;
mod halves;
mod moves;
mod schedule;
mod stages;
mod starts;
mod trajectory;
mod walk;

use crate::control::located::{self, EachPart};
use crate::{Error, Integrator, Options, Simulation};
pub(crate) use contacts::taken_contacts;
pub use family::family_of_simulations;
use pliant_gradient::check_index;
pub use pliant_gradient::{
    ActiveSet, ContactBranch, ContactIdentity, ContactMove, ContactNumbers, ContactPlace, ContactSample,
    ContactWay, CriticalLoad, Family, FamilyContacts, GradientError, MakeModel, Member, PlacedContact,
    RestDerivative, RestState, SolveReport, StageContact, StateVector, StepBefore, StepDerivative,
    StepWeights, TakenContact, TakenStages, TakenStep, VibrationMode, check_length,
};
use pliant_model::{Problem, RowGroup, State};
use pliant_stepper::IntegratorMemory;
use pliant_stepper::integrator::{Bdf2, ImplicitMethod};
pub use trajectory::{
    Control, NodeGradient, Objective, Trajectory, TrajectoryGradient, TrajectoryReport, TrajectoryTangent,
};

/// Why a trajectory has no gradient: a step failed, or has no derivative.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrajectoryError {
    /// From a step.
    #[error(transparent)]
    Step(#[from] Error),
    /// From its derivative.
    #[error(transparent)]
    Gradient(#[from] GradientError),
}

impl From<pliant_contact::ContactError> for TrajectoryError {
    fn from(error: pliant_contact::ContactError) -> Self {
        Self::Step(error.into())
    }
}

impl From<pliant_model::ModelError> for TrajectoryError {
    fn from(error: pliant_model::ModelError) -> Self {
        Self::Step(error.into())
    }
}

/// Refuses a step that a simulation has just taken from `time` in parts.
///
/// # Errors
/// [`GradientError::NotBuilt`].
pub(crate) fn check_whole(simulation: &Simulation, time: f64) -> Result<(), GradientError> {
    let refuse = |why| {
        Err(GradientError::NotBuilt {
            what: format!("the step from t = {time} s"),
            why,
        })
    };
    if simulation.start.time != time {
        return refuse("parts of the model were taken by themselves, or in halves: choose a shorter step");
    }
    let by_one = simulation.options.integrator == Integrator::Sdirk2 && step_stages(simulation).is_none();
    if by_one && simulation.problem().row_count() > 0 {
        return refuse(
            "one stage took it, for an impact or since two found no solution, and rows were projected behind it: choose a shorter step, or `Integrator::Nonlinear`",
        );
    }
    match simulation.contacts_report().corrections.count {
        0 => Ok(()),
        _ => refuse(
            "positions were moved after it to take back overlap: take `Overlap::Rows`, whose rows do that in the step",
        ),
    }
}

/// Whether steps of a method have derivatives: the nonlinear step, with any weights, BDF2 and SDIRK2.
pub fn has_derivative(integrator: &Integrator) -> bool {
    matches!(integrator, Integrator::Nonlinear | Integrator::Sdirk2) || is_bdf2(integrator)
}

/// Whether a method is BDF2, or says so: every step is compared with its equations.
fn is_bdf2(integrator: &Integrator) -> bool {
    matches!(integrator, Integrator::Implicit(method) if method.name() == Bdf2.name())
}

/// Refuses rows of bounded force in steps of BDF2, which end at other velocities than these
/// equations have where a limit closes.
///
/// # Errors
/// [`GradientError::NotBuilt`].
pub(crate) fn check_rows(options: &Options, problem: &Problem) -> Result<(), GradientError> {
    let bounded = |group: &&RowGroup| problem.bounds(group).is_some();
    match problem.row_groups().iter().find(bounded) {
        Some(group) if is_bdf2(&options.integrator) => Err(GradientError::NotBuilt {
            what: format!("`{}` in steps of BDF2", problem.component_name(group.component)),
            why: "its force is bounded: take `Integrator::Nonlinear`",
        }),
        _ => Ok(()),
    }
}

/// The weights of the end of steps: one each but for those of the nonlinear step.
pub(crate) fn step_weights(options: &Options) -> StepWeights {
    match options.integrator {
        Integrator::Nonlinear => StepWeights {
            alpha: options.alpha,
            beta: options.beta,
        },
        _ => StepWeights::END,
    }
}

/// The memory that the last step, if it is one of BDF2, had of the one before.
pub(crate) fn step_before(simulation: &Simulation) -> Option<StepBefore<'_>> {
    let (start, n) = (&simulation.start, simulation.model().dof_count());
    let memory = &start.integrator;
    let by_bdf2 = is_bdf2(&simulation.options.integrator) && memory.method == Bdf2.name();
    let known = by_bdf2 && !start.fresh && memory.vectors.len() == 2 * n;
    let (velocities, displacement) = memory.vectors.split_at_checked(n)?;
    let h = memory.previous.filter(|_| known)?;
    Some(StepBefore {
        h,
        velocities,
        displacement,
    })
}

/// The stages of the last step, if it is one of SDIRK2 that two stages took.
pub(crate) fn step_stages(simulation: &Simulation) -> Option<TakenStages<'_>> {
    match simulation.options.integrator {
        Integrator::Sdirk2 => {
            let before = (!simulation.start.fresh).then_some(&simulation.start.integrator);
            stages_of(simulation.problem(), &simulation.motion.integrator, before)
        }
        _ => None,
    }
}

/// The stages that SDIRK2 remembers of a step, with what it remembered of the one before.
fn stages_of<'a>(
    problem: &Problem,
    memory: &'a IntegratorMemory,
    before: Option<&'a IntegratorMemory>,
) -> Option<TakenStages<'a>> {
    let (n, m) = (problem.dof_count(), problem.row_count());
    let before = before.filter(|memory| memory.is_of_two_stages(n, m));
    if !memory.is_of_two_stages(n, m) {
        return None;
    }
    let (last, jump) = memory.vectors.split_at(n + m);
    let ((accelerations, multipliers), (of_accelerations, of_multipliers)) =
        (last.split_at(n), jump.split_at(n));
    Some(TakenStages {
        accelerations,
        jump: of_accelerations,
        multipliers,
        multipliers_jump: of_multipliers,
        before: before.map(|memory| [&memory.vectors[..n], &memory.vectors[n + m..2 * n + m]]),
    })
}

/// Runs `work` with steps of SDIRK2 whose stages are solved until rounding ends it: the steps that a
/// gradient is of.
pub(crate) fn with_exact_stages<R>(
    simulation: &mut Simulation,
    work: impl FnOnce(&mut Simulation) -> R,
) -> R {
    let asked = simulation.options.tuning.newton.exact_stages;
    simulation.options.tuning.newton.exact_stages |= simulation.options.integrator == Integrator::Sdirk2;
    let out = work(simulation);
    simulation.options.tuning.newton.exact_stages = asked;
    out
}

/// Refuses steps that are not those of the equations of `pliant-gradient`.
///
/// # Errors
/// [`GradientError::NotBuilt`].
pub(crate) fn check_method(options: &Options) -> Result<(), GradientError> {
    let refuse = |what: &str, why| {
        Err(GradientError::NotBuilt {
            what: what.to_owned(),
            why,
        })
    };
    if !has_derivative(&options.integrator) {
        return refuse(
            "steps of this method",
            "only those of `Integrator::Sdirk2`, `Integrator::Nonlinear` and `Integrator::bdf2()` have one; set `options.integrator`",
        );
    }
    if options.integrator != Integrator::Nonlinear {
        return Ok(());
    }
    if !options.own_alpha.is_empty() {
        return refuse(
            "steps with weights of some components (`own_alpha`)",
            "only weights of all have one",
        );
    }
    match options.pre_stabilisation.is_some() || options.post_stabilisation.is_some() {
        true => refuse("steps with corrections of positions", "leave these out"),
        false => Ok(()),
    }
}

/// Refuses a step that does not start where the one before ended: a control has set the state.
fn check_unmoved(end: &State, start: &State, time: f64) -> Result<(), GradientError> {
    match end.positions == start.positions && end.velocities == start.velocities {
        true => Ok(()),
        false => Err(GradientError::NotBuilt {
            what: format!("the step from t = {time} s"),
            why: "it does not start where the one before ended: controls set forces and inputs, not the state",
        }),
    }
}

/// Takes a step in its parts, and calls `each` after each of them.
///
/// # Errors
/// All errors of [`Simulation::step`] and of `each`.
fn each_part(
    simulation: &mut Simulation,
    h: f64,
    each: EachPart<'_, TrajectoryError>,
) -> Result<(), TrajectoryError> {
    if simulation.locates_impacts() {
        return located::step(simulation, h, each).map(drop);
    }
    halves::step(simulation, h, each)
}
