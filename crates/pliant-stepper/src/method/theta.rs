//! The linearly implicit theta method: one linear system for the change of velocity.

use super::implicit::LinearisationMeasure;
use super::{Capabilities, Method, stabilise};
use crate::contact::step;
use crate::method::gyroscopic;
use crate::motion::Motion;
use crate::observe::{Clash, Driving, Residuals, Trace, find_parts};
use crate::report::Timings;
use crate::sleep;
use crate::system::one_sided::StepEnd;
use crate::system::rigid_nodes::Configuration;
use crate::system::{System, friction, one_sided};
use crate::{Error, Gyroscopic, WorkPart};
use pliant_kkt::{GeometricTerms, Scheme, StepInput};
use pliant_model::ComponentId;
use pliant_solvers::{SolveReport, Status};
use std::time::{Duration, Instant};

/// The theta method, with its scratch.
#[derive(Debug, Default)]
pub(crate) struct Theta {
    /// Impulses of gyroscopic torques (N s, N m s).
    spin: Vec<f64>,
    /// Multipliers that the geometric stiffness of rows is made of (N, N m).
    multipliers: Vec<f64>,
    measure: LinearisationMeasure,
}

/// The motions and the scheme that make the equations of a step: the motion at its start, and the
/// same after the stages ahead of the solve (controls, memories of force fields).
#[derive(Clone, Copy)]
struct Equations<'a> {
    start: &'a Motion,
    end: &'a Motion,
    scheme: &'a Scheme,
    /// Whether a step whose contacts have no solution is taken in halves.
    or_halves: bool,
}

/// Solves the equations of the step of length `h` without contacts, from the motion at its start,
/// and takes no step: `end` is scratch.
///
/// # Errors
/// [`Error::Incompatible`] for hard rows that contradict each other, and whatever else refuses or
/// ends such a step before its contacts are found.
pub fn try_rows(
    system: &mut System,
    start: &Motion,
    h: f64,
    end: &mut Motion,
    trace: &mut Trace,
) -> Result<(), Error> {
    let scheme = trace.scheme.clone();
    let mut clock = Laps::start();
    let options = &system.options;
    let corrections = [options.pre_stabilisation, options.post_stabilisation];
    for how in corrections.into_iter().flatten() {
        system.set_row_motion(start.time, start.time);
        stabilise::correct(system, start, end, &scheme, how, &mut trace.account)?;
    }
    system.set_row_motion(start.time, start.time + h);
    evaluate(system, end, &scheme)?;
    one_sided::find(
        system,
        end,
        StepEnd {
            h,
            by_end: scheme.beta == 1.0,
            bounces: true,
        },
    );
    system.find_fixed_change(end);
    if end.fresh {
        system.first_multipliers(&scheme, end);
    }
    let mut multipliers = end.lagged.clone();
    let equations = Equations {
        start,
        end,
        scheme: &scheme,
        or_halves: false,
    };
    let solved = solve_in_passes(system, equations, &mut multipliers, &mut clock, trace)?;
    match solved.status {
        Status::Incompatible { row, violation } => {
            let clash = Clash {
                kkt: system.assembler.system(),
                solution: &system.solution,
                row,
                violation,
            };
            Err(clash.error(&system.model, start.time, Residuals::Velocities(&scheme)))
        }
        _ => Ok(()),
    }
}

/// Share of the largest velocity that linear solves may leave in the change of velocity of two
/// iterations for the gyroscopic torque, beside nearly redundant rows.
const LEFT_BY_SOLVES: f64 = 1e-9;

/// A clock that is read in laps.
struct Laps(Instant);

impl Laps {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the last lap.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

impl Theta {
    /// The step of [`Method::step`]; `correct` takes positions at its end back onto the rows.
    ///
    /// # Errors
    /// Errors of [`Method::step`] and of `correct`.
    pub(super) fn step_and_correct(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
        correct: impl FnOnce(&mut System, &mut Motion, &mut Trace) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let scheme = trace.scheme.clone();
        let mut clock = Laps::start();
        system.set_row_motion(start.time, start.time);
        if let Some(how) = system.options.pre_stabilisation {
            trace.corrections.0 = stabilise::correct(system, start, end, &scheme, how, &mut trace.account)?;
        }
        trace.account.advance_memory(system, &mut end.state, 0.0);
        trace.timings.stabilise += clock.lap();
        system.set_row_motion(start.time, start.time + h);
        evaluate(system, end, &scheme)?;
        one_sided::find(
            system,
            end,
            StepEnd {
                h,
                by_end: scheme.beta == 1.0,
                bounces: true,
            },
        );
        trace.projected_tangents = system.evaluation.projected_elements(&system.model, &end.state);
        trace.timings.fill += clock.lap();
        step::find(system, end, h)?;
        trace.timings.contacts += clock.lap();
        trace.account.add_stored_contacts(system, end);

        system.find_fixed_change(end);
        if end.fresh {
            system.first_multipliers(&scheme, end);
        }
        self.multipliers.clone_from(&end.lagged);
        let is_measured = LinearisationMeasure::is_due(system, start, h);
        if is_measured {
            self.measure.take_start(system, end);
        }
        let equations = Equations {
            start,
            end,
            scheme: &scheme,
            or_halves: trace.stages.or_halves,
        };
        trace.solved = solve_in_passes(system, equations, &mut self.multipliers, &mut clock, trace)?;
        read(system, end, &scheme);
        trace.timings.solve += clock.lap();
        if system.options.numerical_parts {
            let geometry = system.options.geometry;
            let scheme = scheme.with_geometry(match trace.geometry_clamped {
                true => geometry.clamped(),
                false => geometry,
            });
            let account = &mut trace.account;
            // The measure comes later, and has room for as many numbers.
            let room = [self.measure.room(), &mut self.spin];
            find_parts(system, start, end, &scheme, room, account);
        }
        update(system, start, end, &scheme)?;
        if is_measured && trace.solved.status == Status::Converged {
            let measured = self.measure.measure(system, &scheme, h, start, end);
            trace.linearisation = Some(measured?);
        }
        trace.timings.update += clock.lap();
        step::look_for_missed(system, start, end, h)?;
        trace.timings.contacts += clock.lap();
        trace.account.advance_memory(system, &mut end.state, h);
        trace.tally(system, start, end, h, Driving::Means);
        trace.timings.update += clock.lap();
        correct(system, end, trace)?;
        trace.timings.stabilise += clock.lap();
        recover(system, start, end, trace, h)?;
        trace.timings.contacts += clock.lap();
        end.integrator.forget();
        Ok(())
    }
}

impl Method for Theta {
    fn name(&self) -> &str {
        "the theta method"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::THETA
    }

    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        self.step_and_correct(system, start, h, end, trace, |system, end, trace| {
            if let Some(how) = system.options.post_stabilisation {
                let (scheme, account) = (trace.scheme.clone(), &mut trace.account);
                trace.corrections.1 = stabilise::correct(system, start, end, &scheme, how, account)?;
            }
            Ok(())
        })
    }
}

/// Forces of the motion, with the share of the start in those of both ends, and gyroscopic
/// impulses.
fn evaluate(system: &mut System, motion: &Motion, scheme: &Scheme) -> Result<(), Error> {
    let System {
        model,
        options,
        evaluation,
        scratch,
        ..
    } = system;
    // Accelerations at constant velocity are for rows, and for forces of inertia.
    if model.row_groups().is_empty() {
        evaluation.evaluate_forces_after(model, &motion.state, scheme.h)?;
    } else {
        evaluation.evaluate_after(model, &motion.state, scheme.h)?;
    }
    let at_start = |i| 1.0 - scheme.alpha_of(ComponentId::ForceField(i));
    evaluation.add_present_share(model, &motion.state, at_start);
    evaluation.add_force(&motion.controls.external);
    gyroscopic::impulses(
        model,
        &motion.state,
        options.gyroscopic,
        scheme,
        motion.time,
        &mut scratch.impulse,
    )
}

/// Solves the system, and again where its geometric stiffness is indefinite, or made of multipliers
/// that have changed; these become the new ones.
fn solve_in_passes(
    system: &mut System,
    equations: Equations<'_>,
    multipliers: &mut [f64],
    clock: &mut Laps,
    trace: &mut Trace,
) -> Result<SolveReport, Error> {
    let scheme = equations.scheme;
    let clamped = scheme.with_geometry(scheme.geometry.clamped());
    trace.geometry_passes = 0;
    loop {
        let with = |scheme| Equations { scheme, ..equations };
        let plain = with(if trace.geometry_clamped { &clamped } else { scheme });
        let mut solved = match prepare_and_solve(system, plain, multipliers, clock, &mut trace.timings) {
            Err(Error::NotPositiveDefinite { .. })
                if !trace.geometry_clamped
                    && system.options.tuning.clamp_geometry
                    && scheme.geometry != GeometricTerms::NONE =>
            {
                trace.geometry_clamped = true;
                prepare_and_solve(system, with(&clamped), multipliers, clock, &mut trace.timings)?
            }
            other => other?,
        };
        if system.options.gyroscopic == Gyroscopic::LinearlyImplicit {
            solved = turn_implicitly(system, equations, solved, clock, &mut trace.timings)?;
        }
        trace.geometry_passes += 1;
        // Impulses of impacts that went before the step turn with nothing in it.
        if trace.geometry_passes >= system.options.tuning.geometry_passes
            || step::has_taken_impacts(system)
            || system.rows.lowered.any_rebounds()
            || system.guards.in_impact
            || !system.refresh_multipliers(scheme, multipliers)
        {
            return Ok(solved);
        }
    }
}

/// Fills, factors and solves the system, with geometric stiffness of these multipliers.
fn prepare_and_solve(
    system: &mut System,
    equations: Equations<'_>,
    multipliers: &[f64],
    clock: &mut Laps,
    timings: &mut Timings,
) -> Result<SolveReport, Error> {
    let Equations { end, scheme, .. } = equations;
    let input = StepInput {
        state: &end.state,
        multipliers,
        impulse: &system.scratch.impulse,
        fixed_change: &system.scratch.fixed_change,
        motion: &system.row_motion,
    };
    system
        .assembler
        .fill(&system.model, &mut system.evaluation, scheme, input);
    one_sided::take(system);
    system.sleep.hold_rows(&mut system.assembler);
    system.guards.deactivate_rows(&mut system.assembler);
    system.find_soft_rows();
    friction::begin(system, |row| multipliers[row] * scheme.h);
    timings.fill += clock.lap();
    prepare(system, equations, clock, timings)?;
    solve(system, equations, clock, timings)
}

/// Factors the filled system.
fn prepare(
    system: &mut System,
    equations: Equations<'_>,
    clock: &mut Laps,
    timings: &mut Timings,
) -> Result<(), Error> {
    let Equations {
        start, end, scheme, ..
    } = equations;
    let prepared = if system.in_contact() {
        step::prepare(system, end, scheme)
    } else {
        let at = Configuration {
            model: &system.model,
            state: &end.state,
        };
        let prepared = system.solver.prepare(system.assembler.system(), at);
        prepared.map_err(|e| Error::from_solver(e, &system.model, start.time))
    };
    timings.factor += clock.lap();
    prepared
}

/// Solves the prepared system, and again while friction does not agree with the force that it
/// follows.
fn solve(
    system: &mut System,
    equations: Equations<'_>,
    clock: &mut Laps,
    timings: &mut Timings,
) -> Result<SolveReport, Error> {
    let mut solved = solve_once(system, equations, clock, timings)?;
    for pass in 0.. {
        if !friction::asks_again(system, &mut solved, pass) {
            break;
        }
        if system.in_contact() {
            prepare(system, equations, clock, timings)?;
        }
        let changes = solved.bounds.changes;
        solved = solve_once(system, equations, clock, timings)?;
        solved.bounds.changes += changes;
    }
    let Equations { start, scheme, .. } = equations;
    let mu = &mut system.solution.mu;
    system.sleep.keep_multipliers(&start.multipliers, scheme.h, mu);
    Ok(solved)
}

/// Solves the prepared system; where refinement stagnates, plans the order of elimination anew,
/// from the values at hand, and tries once more.
fn solve_once(
    system: &mut System,
    equations: Equations<'_>,
    clock: &mut Laps,
    timings: &mut Timings,
) -> Result<SolveReport, Error> {
    let Equations {
        start, end, scheme, ..
    } = equations;
    let solved = if system.in_contact() {
        step::solve(system, end, scheme, equations.or_halves)?
    } else {
        let System {
            model,
            assembler,
            solver,
            solution,
            ..
        } = &mut *system;
        let in_words = |e| Error::from_solver(e, model, start.time);
        let kkt = assembler.system();
        let mut solved = solver.solve(kkt, solution).map_err(in_words)?;
        if solved.status == Status::Stagnated {
            solver.forget();
            let state = &end.state;
            solver
                .prepare(kkt, Configuration { model, state })
                .map_err(in_words)?;
            timings.factor += clock.lap();
            solved = solver.solve(kkt, solution).map_err(in_words)?;
        }
        solved
    };
    system.check_factorisations(WorkPart::ActiveSet, start.time)?;
    timings.solve += clock.lap();
    Ok(solved)
}

/// Iterates the solution until the right-hand side holds the gyroscopic torques' change over the
/// step, `-h alpha B dv`. The iteration contracts while `h alpha` times the spin is below about
/// one.
fn turn_implicitly(
    system: &mut System,
    equations: Equations<'_>,
    mut solved: SolveReport,
    clock: &mut Laps,
    timings: &mut Timings,
) -> Result<SolveReport, Error> {
    let Equations {
        start, end, scheme, ..
    } = equations;
    let weight = scheme.h * scheme.alpha;
    let spin = system.largest_free_velocity(&end.state);
    let n = system.model.dof_count();
    let scratch = &mut system.scratch;
    scratch.right_hand_side.clone_from(&system.assembler.system().c);
    scratch.previous_change.clear();
    scratch.previous_change.resize(n, 0.0);
    let mut last = f64::INFINITY;
    for _ in 0..200 {
        let System {
            model,
            assembler,
            scratch,
            solution,
            change,
            ..
        } = &mut *system;
        change.clone_from(solution);
        for (x, d) in change.x.iter_mut().zip(&scratch.fixed_change) {
            *x += d;
        }
        // An iteration that diverges overflows in the end.
        if !change.x.iter().all(|x| x.is_finite()) {
            break;
        }
        let pairs = change.x.iter().zip(&scratch.previous_change);
        let difference = pairs.fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
        // Differences that do not get smaller any more are what the linear solves leave.
        let stays = difference <= LEFT_BY_SOLVES * spin && difference > 0.5 * last;
        if difference <= 1e-14 * spin || stays {
            return Ok(solved);
        }
        last = difference;
        scratch.previous_change.copy_from_slice(&change.x);
        let rhs = assembler.right_hand_side_mut();
        rhs.copy_from_slice(&scratch.right_hand_side);
        gyroscopic::add_linearised(model, &end.state, weight, &scratch.previous_change, rhs);
        solved = match solve(system, equations, clock, timings) {
            Err(Error::NotFinite { .. }) => break,
            solved => solved?,
        };
    }
    Err(Error::Gyroscopic {
        what: "the bodies (linearly implicit)".to_owned(),
        time: start.time,
    })
}

/// Reads the solution: forces of supports and rows into `end`; the unknown becomes the whole change
/// of velocity.
fn read(system: &mut System, end: &mut Motion, scheme: &Scheme) {
    let h = scheme.h;
    // Before the unknown is changed: the support is what the fixed rows of the system lack.
    let (whole, solution) = step::whole_system(system);
    whole.support_into(solution, &mut end.supports);
    system.sleep.forget_supports(&end.sleep, &mut end.supports);
    end.supports.iter_mut().for_each(|s| *s /= h);
    let changes = &system.scratch.fixed_change;
    for (x, d) in system.solution.x.iter_mut().zip(changes) {
        *x += d;
    }
    step::read(system, scheme);
    for (lambda, mu) in end.multipliers.iter_mut().zip(&system.solution.mu) {
        *lambda = mu / h;
    }
}

/// `v+ = v + dv`, `x+ = x (+) h (beta v+ + (1 - beta) v)`, then everything mapped.
fn update(system: &mut System, start: &Motion, end: &mut Motion, scheme: &Scheme) -> Result<(), Error> {
    let (h, beta) = (scheme.h, scheme.beta);
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let range = node.velocity_range();
        let step = &mut system.scratch.displacement[first..first + range.len()];
        let change = &system.solution.x[first..first + range.len()];
        let fixed = &system.assembler.system().fixed[first..];
        let held = &end.controls.held[first..];
        let velocities = end.state.velocities[range].iter_mut();
        for (k, (v, d)) in velocities.zip(&mut *step).enumerate() {
            let old = *v;
            // To the bit: v + (held - v) may differ from it by a rounding.
            *v = if fixed[k] { held[k] } else { *v + change[k] };
            *d = h * (beta * *v + (1.0 - beta) * old);
        }
        node.space
            .retract(&mut end.state.positions[node.position_range()], step);
    }
    sleep::hold_positions(system, &start.state, end);
    system.propagate(&mut end.state)
}

/// Finds the contacts at the end of a step of length `h`, and takes back overlap, and what limits
/// and ropes are beyond, with no more energy than the step lost.
pub(crate) fn recover(
    system: &mut System,
    start: &Motion,
    end: &mut Motion,
    trace: &mut Trace,
    h: f64,
) -> Result<(), Error> {
    let stored = step::find_at_end(system, end, h, trace.scheme.beta)?;
    let lost = stored.map(|stored| trace.lost(system, start, end, stored));
    let recovered = &mut trace.account.recovered;
    step::recover_overlap(system, step::Ends { start, end }, &trace.scheme, lost, recovered)?;
    trace.account.advance_memory(system, &mut end.state, 0.0);
    Ok(())
}
