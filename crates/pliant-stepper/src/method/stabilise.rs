//! Stabilisation: positions back onto the hard constraints.

use crate::motion::Motion;
use crate::observe::{Account, Clash, Residuals, Step, correction_error, energy, violation};
use crate::sleep;
use crate::system::System;
use crate::system::rigid_nodes::Configuration;
use crate::{Error, Stabilisation, WorkPart};
use pliant_kkt::{Metric, Scheme, StepInput};
use pliant_solvers::{SolveError, Status};

/// Gauss-Newton on the hard constraints of `end`; velocities keep their coordinates. Enters the
/// energy that it lifts. Returns the number of corrections.
///
/// # Errors
/// [`Error::Incompatible`], [`Error::CorrectionNotConverged`], and those of the linear solver.
pub(crate) fn correct(
    system: &mut System,
    start: &Motion,
    end: &mut Motion,
    scheme: &Scheme,
    how: Stabilisation,
    account: &mut Account,
) -> Result<usize, Error> {
    for iteration in 0..how.iterations {
        if violation(system, &end.state) <= how.tolerance {
            return Ok(iteration);
        }
        system.evaluation.evaluate(&system.model, &end.state)?;
        solve(system, start, end, scheme, how.metric)?;
        system.check_factorisations(WorkPart::Stabilisation, start.time)?;
        let potential = |system: &System, end: &Motion, account: &mut Account| {
            let step = Step {
                system,
                start,
                end,
                scheme,
            };
            energy::energies(step, true, &mut account.room.first).potential
        };
        let before = potential(system, end, account);
        for node in system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let step = &system.scratch.correction.x[first..first + node.velocity_range().len()];
            node.space
                .retract(&mut end.state.positions[node.position_range()], step);
        }
        sleep::hold_positions(system, &start.state, end);
        system.propagate(&mut end.state)?;
        account.corrected += potential(system, end, account) - before;
    }
    Ok(how.iterations)
}

/// Solves for the displacement, which is left in the scratch of the system.
fn solve(
    system: &mut System,
    start: &Motion,
    end: &Motion,
    scheme: &Scheme,
    metric: Metric,
) -> Result<(), Error> {
    fill(system, end, scheme, metric);
    let of_masses = metric == Metric::Mass;
    let mut prepared = prepare(system, of_masses, end);
    let indefinite = matches!(prepared, Err(SolveError::NotPositiveDefinite { .. }));
    if indefinite && metric != Metric::Mass && system.options.tuning.clamp_geometry {
        // As in a step: the response matrix with the absolute value of the geometric stiffness is
        // definite.
        let clamped = scheme.with_geometry(scheme.geometry.clamped());
        fill(system, end, &clamped, metric);
        prepared = prepare(system, of_masses, end);
    }
    prepared.map_err(|e| Error::from_solver(e, &system.model, start.time))?;
    solve_prepared(system, start.time, end, Residuals::Displacements, 0.0)
}

/// Prepares the filled system of a correction, by masses alone or not, at the state of a motion.
///
/// # Errors
/// Those of the linear solver.
pub(super) fn prepare(system: &mut System, of_masses: bool, end: &Motion) -> Result<(), SolveError> {
    let at = Configuration {
        model: &system.model,
        state: &end.state,
    };
    system
        .corrections
        .prepare(system.assembler.system(), of_masses, at)
}

/// Solves the prepared system of a correction at `time` (s); the solution is left in the scratch of
/// the system. What it misses is none of its errors below the `rounding` of what it corrects.
///
/// # Errors
/// [`Error::Incompatible`] for hard rows that contradict each other,
/// [`Error::CorrectionNotConverged`], and those of the linear solver.
pub(super) fn solve_prepared(
    system: &mut System,
    time: f64,
    end: &Motion,
    residuals: Residuals<'_>,
    rounding: f64,
) -> Result<(), Error> {
    let System {
        model,
        assembler,
        corrections,
        scratch,
        options,
        ..
    } = &mut *system;
    let solved = corrections.solve(assembler.system(), &mut scratch.correction);
    let report = solved.map_err(|e| Error::from_solver(e, model, time))?;
    let missed = report.residual.primal.max(report.residual.row);
    match report.status {
        Status::Converged => Ok(()),
        _ if options.accept_failed_steps => Ok(()),
        Status::Stagnated if missed < rounding => Ok(()),
        Status::Incompatible { row, violation } => {
            let clash = Clash {
                kkt: assembler.system(),
                solution: &scratch.correction,
                row,
                violation,
            };
            Err(clash.error(model, time, residuals))
        }
        _ => Err(correction_error(
            system,
            &end.state,
            time,
            report.residual.relative,
        )),
    }
}

/// Fills the system of a correction at the present state, which must be evaluated.
fn fill(system: &mut System, end: &Motion, scheme: &Scheme, metric: Metric) {
    let System {
        model,
        evaluation,
        assembler,
        scratch,
        row_motion,
        sleep,
        ..
    } = system;
    let input = StepInput {
        state: &end.state,
        multipliers: &end.lagged,
        impulse: &scratch.impulse,
        fixed_change: &scratch.fixed_change,
        motion: row_motion,
    };
    assembler.fill_correction(model, evaluation, scheme, input, metric);
    sleep.hold_rows(assembler);
}
