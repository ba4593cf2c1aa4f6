//! One equilibrium: the choice of the method, the iterates to go back to, and what is kept of the
//! answer.

use super::newton::Found;
use super::residual::{SideRule, find_residual};
use super::workspace::{Iterate, Setting, Workspace, Worst};
use super::{Equilibrium, StaticMethod, conjugate_gradients, contacts};
use super::{flow, newton, refuse, relaxation};
use crate::EquilibriumReport;
use crate::Error;
use pliant_model::State;
use pliant_solvers::Variable;
use pliant_stepper::system::System;

/// An angle (rad) or share of the model's length beyond which a linear system is not trusted.
pub(crate) const FAR: f64 = 0.5;

/// A residual of a linear solve above which a singular system has no solution.
pub(crate) const NO_SOLUTION: f64 = 1e-6;

/// Begins a search at the positions of the motion, with the contacts there.
pub(crate) fn begin(at: &mut Setting<'_>, work: &mut Workspace) -> Result<(), Error> {
    let (system, motion) = (&mut *at.system, &mut *at.motion);
    system.propagate(&mut motion.state)?;
    if system.contacts.is_some() {
        system.evaluation.evaluate(&system.model, &motion.state)?;
        work.contacts.start(system, motion, &at.options.contacts)?;
    }
    Ok(())
}

/// Finds the equilibrium near the present positions, which materials with a past then remember.
pub(crate) fn find(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    how: &Equilibrium,
) -> Result<EquilibriumReport, Error> {
    work.progress.most = how.max_iterations;
    work.linear.solver.may_iterate(at.options.linear);
    settle(at, work, how.method)?;
    let report = &mut work.progress.report;
    report.contacts = work.contacts.bearing();
    let projected = at
        .system
        .evaluation
        .projected_elements(&at.system.model, &at.motion.state);
    report.projected_tangents = projected;
    if report.contacts + projected > 0 {
        report.negative_modes = None;
    }
    let report = *report;
    advance_memory(at, work);
    Ok(report)
}

/// Materials with a past remember the present positions.
pub(crate) fn advance_memory(at: &mut Setting<'_>, work: &mut Workspace) {
    let state = &mut at.motion.state;
    let dissipated = at
        .system
        .model
        .advance_memory(state, f64::INFINITY, &mut work.internal);
    work.dissipated += dissipated;
}

/// Makes the equilibrium what the motion goes on from.
pub(crate) fn keep(at: &mut Setting<'_>, work: &mut Workspace) {
    at.motion.dissipated += work.dissipated;
    show_forces(at, work);
    at.motion.lagged.copy_from_slice(&work.unknowns.lambda);
    at.motion.fresh = false;
    at.motion.integrator.forget();
}

/// Takes over the multipliers, what holds the fixed coordinates, and the contacts.
pub(crate) fn show_forces(at: &mut Setting<'_>, work: &mut Workspace) {
    at.motion.multipliers.copy_from_slice(&work.unknowns.lambda);
    let fixed = &at.system.assembler.system().fixed;
    let forces = work.residual.force.iter().zip(fixed);
    for (support, (force, fixed)) in at.motion.supports.iter_mut().zip(forces) {
        *support = if *fixed { -force } else { 0.0 };
    }
    contacts::show(
        at.system,
        at.motion,
        &mut work.contacts,
        work.metric.length,
        &at.options.contacts,
    );
}

/// To rest by a method; the state and the report are those of the equilibrium.
pub(crate) fn settle(at: &mut Setting<'_>, work: &mut Workspace, method: StaticMethod) -> Result<(), Error> {
    refuse::check_method(at.system, method)?;
    work.set_load_factor(work.unknowns.factor, &mut at.system.model)?;
    find_residual(at, work, SideRule::Take)?;
    let settled = match method {
        StaticMethod::DynamicRelaxation => relaxation::relax(at, work)?,
        StaticMethod::ConjugateGradients => conjugate_gradients::descend(at, work)?,
        StaticMethod::PseudoStatic => flow::flow(at, work)?,
        StaticMethod::Newton => newton_then_flow(at, work)?,
    };
    if settled {
        return Ok(());
    }
    Err(no_equilibrium(at.system, work))
}

/// Newton's method, and the flow from where it began if it finds no rest that may stand. True at
/// rest.
fn newton_then_flow(at: &mut Setting<'_>, work: &mut Workspace) -> Result<bool, Error> {
    let start = work.iterate(at);
    // A start that is at rest is what it is; from elsewhere minima are looked for, unless nothing
    // would lead the flow away from the saddle either.
    let saddle = match newton::newton(at, work, true)? {
        Found::Minimum | Found::Start | Found::Saddle { by_symmetry: true } => return Ok(true),
        Found::Saddle { by_symmetry: false } => Some(work.iterate(at)),
        Found::Nothing => None,
    };
    go_back(at, work, &start)?;
    if flow::flow(at, work)? {
        return Ok(true);
    }
    let Some(saddle) = saddle else {
        return Ok(false);
    };
    // Under moments that have no potential the flow may go round for ever.
    go_back(at, work, &saddle)?;
    Ok(newton::newton(at, work, false)? != Found::Nothing)
}

fn no_equilibrium(system: &System, work: &Workspace) -> Error {
    let describe = |v: Variable| match v {
        Variable::Dof(i) => system.model.describe_dof(i),
        Variable::Row(i) => system.model.describe_row(i),
    };
    let worst = |w: Worst| match w {
        Worst::Variable(v) => describe(v),
        Worst::Contact(sides) => {
            let finder = system.contacts.as_ref().map(|c| &c.detection);
            let [a, b] = sides.map(|s| finder.map_or_else(String::new, |f| f.name(s)));
            format!("the contact of {a} and {b}")
        }
    };
    let progress = &work.progress;
    let tangent = newton::Tangent::Whole.of(&system.assembler, &work.contacts);
    let free = (work.linear.kind.zero > 0)
        .then(|| work.linear.solver.unpivoted(tangent))
        .flatten();
    let free = free.filter(|v| matches!(v, Variable::Dof(_)));
    let mut report = progress.report;
    report.residual = progress.best;
    Error::NoEquilibrium {
        what: progress.worst.map_or_else(|| "nothing".to_owned(), worst),
        free: free.map(describe),
        tolerance: progress.tolerance,
        report: Box::new(report),
    }
}

/// Moves a state by `share` of a displacement of the independent coordinates. `displacement` is
/// scratch.
pub(crate) fn displace(
    system: &mut System,
    state: &mut State,
    displacement: &mut Vec<f64>,
    step: &[f64],
    share: f64,
) -> Result<(), Error> {
    displacement.clear();
    displacement.extend(step.iter().map(|d| share * d));
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let range = node.velocity_range();
        let positions = &mut state.positions[node.position_range()];
        node.space
            .retract(positions, &displacement[first..first + range.len()]);
    }
    system.evaluation.propagate(&system.model, state)?;
    Ok(())
}

/// Goes back to an iterate, and finds its residual.
pub(crate) fn go_back(at: &mut Setting<'_>, work: &mut Workspace, to: &Iterate) -> Result<(), Error> {
    let (system, state) = (&mut *at.system, &mut at.motion.state);
    work.set_load_factor(to.unknowns.factor, &mut system.model)?;
    to.state.write(&system.model, state);
    work.unknowns.clone_from(&to.unknowns);
    system.evaluation.propagate(&system.model, state)?;
    if system.contacts.is_some() {
        system.evaluation.evaluate(&system.model, state)?;
        work.contacts.go_back(system, state, &to.contacts)?;
    }
    find_residual(at, work, SideRule::Keep)
}
