//! The pseudo-static flow: downhill, however far from rest.

use super::equilibrium::{FAR, NO_SOLUTION, go_back};
use super::measure::measure;
use super::newton::{Found, Tangent, factor_tangent, newton, take_share};
use super::residual::fill_tangent;
use super::workspace::{Setting, Workspace};
use crate::Error;
use pliant_solvers::Kind;
use pliant_stepper::system::System;

/// By what the resistance falls after a step that went as predicted, and rises after one that did
/// not.
const CHANGE: f64 = 4.0;
/// A step went as predicted if what it missed is this share of what was missing before.
const AS_PREDICTED: f64 = 0.25;
/// Steps between attempts to end by Newton's method.
const ATTEMPTS: usize = 6;
/// Rises of the resistance in one step at most: by `4^60` nothing moves.
const RISES: usize = 60;
/// Corrections of hard rows after a step at most, and the share of the length of the model that is
/// as good as closed on the way.
const CLOSINGS: usize = 10;
const CLOSED: f64 = 1e-9;

/// Steps of `s D dx = f + J^T lambda`, each by one linear system `[W + s D, -J^T; -J, -C]`, where
/// `D` is 1 for positions and the square of the model's length for angles. The resistance `s` is at
/// least what makes the system a minimum, and no step goes far; as it falls the step becomes
/// Newton's. It comes to rest at a minimum, or at a saddle that nothing leads away from. False if
/// it does not come to rest.
///
/// Contacts are solved in every step with their law, which with `W + s D` has an answer; those that
/// come into reach on the way of a step take part in it. Where nothing but contacts holds what
/// moves, the resistance stays so high that without them it would not move further than the model
/// is long: so far their solver resolves gaps.
pub(crate) fn flow(at: &mut Setting<'_>, work: &mut Workspace) -> Result<bool, Error> {
    let mut resistance = first_resistance(at.system, work);
    let mut steps = 0;
    while work.progress.report.iterations < work.progress.most {
        fill_tangent(at, work, Tangent::Model)?;
        let residual = measure(at, work);
        if residual.is_nan() {
            return Ok(false);
        }
        if residual <= work.progress.tolerance {
            fill_tangent(at, work, Tangent::Whole)?;
            factor_tangent(at, work, Tangent::Whole)?;
            return Ok(true);
        }
        if steps > 0 && steps % ATTEMPTS == 0 {
            steps += 1;
            let start = work.iterate(at);
            if newton(at, work, false)? == Found::Minimum {
                return Ok(true);
            }
            go_back(at, work, &start)?;
            continue;
        }
        steps += 1;
        if !flow_step(at, work, &mut resistance)? {
            return Ok(false);
        }
    }
    Ok(false)
}

/// The resistance with which the largest force moves something by a tenth of the length of the
/// model.
fn first_resistance(system: &System, work: &Workspace) -> f64 {
    let length = work.metric.length;
    let fixed = &system.assembler.system().fixed;
    let free = work.residual.force.iter().zip(&work.metric.inverse_length);
    let free = free.zip(fixed).filter(|(_, fixed)| !**fixed);
    let worth = free.map(|((f, s), _)| f.abs() / (s * length));
    let largest = worth.fold(0.0f64, f64::max);
    if largest > 0.0 {
        largest / (0.1 * length)
    } else {
        1.0
    }
}

/// The outcome of the linear system of a step.
#[derive(Clone, Copy, Debug)]
enum Solved {
    /// A step, which without contacts would go as far as this (m).
    Step(f64),
    /// More resistance is needed.
    Indefinite,
    /// Rows that depend on others contradict them.
    Contradiction,
}

/// Solves for a step with the tangent as filled and factored.
fn solve_step(at: &mut Setting<'_>, work: &mut Workspace) -> Result<Solved, Error> {
    let (linear, residual) = (&mut work.linear, &work.residual);
    if !work.contacts.is_empty() {
        work.progress.report.factorisations += 1;
        // Their solver counts no modes.
        linear.kind = Kind::default();
        let step = &mut linear.step;
        let state = &at.motion.state;
        let solved = work
            .contacts
            .solve_step(at.system, state, residual, at.options, step)?;
        return Ok(solved.map_or(Solved::Indefinite, Solved::Step));
    }
    let system = at.system.assembler.system();
    let missed = linear
        .solver
        .solve(system, &residual.force, &residual.deficit, &mut linear.step)
        .map_err(Error::Solve)?;
    if linear.kind.redundant > 0 && missed > NO_SOLUTION {
        return Ok(Solved::Contradiction);
    }
    Ok(Solved::Step(0.0))
}

fn flow_step(at: &mut Setting<'_>, work: &mut Workspace, resistance: &mut f64) -> Result<bool, Error> {
    let start = work.iterate(at);
    let squares = work.metric.inverse_length.iter();
    let weights: Vec<f64> = squares.map(|s| (s * work.metric.length).powi(2)).collect();
    let before = worth(at.system, work, &work.residual.force);
    let mut added = 0.0;
    for _ in 0..RISES {
        let more = *resistance - added;
        at.system
            .assembler
            .add_to_diagonal(weights.iter().map(|w| w * more));
        added = *resistance;
        // With contacts, their solver says whether the system is a minimum.
        if work.contacts.is_empty() {
            factor_tangent(at, work, Tangent::Model)?;
            if work.linear.kind.unheld() > 0 {
                *resistance *= CHANGE;
                continue;
            }
        }
        let free = match solve_step(at, work)? {
            Solved::Step(free) => free,
            Solved::Indefinite => {
                *resistance *= CHANGE;
                continue;
            }
            Solved::Contradiction => return Ok(false),
        };
        let far = work.metric.largest(&work.linear.step.x) / (0.6 * FAR);
        if far > 1.0 {
            *resistance *= far.clamp(2.0, 1e3);
            continue;
        }
        let (way, options) = (&work.linear.step.x, &at.options.contacts);
        if work.contacts.find(at.system, &at.motion.state, way, options)? {
            continue;
        }
        work.contacts.accept();
        work.progress.report.iterations += 1;
        work.progress.report.flow_steps += 1;
        let flown = work.linear.step.x.clone();
        if take_share(at, work, Tangent::Model, 1.0)? && close_hard_rows(at, work, &weights)? {
            // The linear system leaves what the resistance held.
            let left = work.residual.force.iter().zip(&flown).zip(&weights);
            let missed: Vec<f64> = left.map(|((f, x), w)| f - w * *resistance * x).collect();
            let missed = worth(at.system, work, &missed);
            // Where points of contact are others now, the next step finds their forces.
            if work.unknowns.sides != start.unknowns.sides || work.contacts.lost() {
                return Ok(true);
            }
            if missed <= before || before == 0.0 {
                if missed <= AS_PREDICTED * before && free <= work.metric.length {
                    *resistance /= CHANGE;
                }
                return Ok(true);
            }
        }
        go_back(at, work, &start)?;
        // The same tangent again.
        fill_tangent(at, work, Tangent::Model)?;
        added = 0.0;
        *resistance *= CHANGE;
        if work.progress.report.iterations >= work.progress.most {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Displaces what a step has left of the hard rows, with as little displacement as that takes: held
/// open to the next step, they would give forces that are none. False if they do not close.
fn close_hard_rows(at: &mut Setting<'_>, work: &mut Workspace, weights: &[f64]) -> Result<bool, Error> {
    let nothing = vec![0.0; weights.len()];
    for _ in 0..CLOSINGS {
        fill_tangent(at, work, Tangent::Model)?;
        let system = at.system.assembler.system();
        let rows = work.residual.deficit[..system.m()].iter().enumerate();
        let open: Vec<f64> = rows
            .map(|(row, d)| if system.r_diagonal(row) == 0.0 { *d } else { 0.0 })
            .collect();
        if open.iter().all(|d| d.abs() <= CLOSED * work.metric.length) {
            return Ok(true);
        }
        at.system.assembler.clear_response();
        at.system.assembler.add_to_diagonal(weights.iter().copied());
        factor_tangent(at, work, Tangent::Model)?;
        let (linear, system) = (&mut work.linear, at.system.assembler.system());
        let solved = linear.solver.solve(system, &nothing, &open, &mut linear.step);
        solved.map_err(Error::Solve)?;
        // Their multipliers are those of the displacement.
        linear.step.mu.fill(0.0);
        let far = work.metric.largest(&linear.step.x) > FAR;
        if far || !take_share(at, work, Tangent::Model, 1.0)? {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Root of the sum of the squares of free forces, torques over the length of the model.
fn worth(system: &System, work: &Workspace, force: &[f64]) -> f64 {
    let fixed = &system.assembler.system().fixed;
    let terms = force.iter().zip(&work.metric.inverse_length).zip(fixed);
    let free = terms.filter(|(_, fixed)| !**fixed);
    let length = work.metric.length;
    let sum: f64 = free.map(|((f, s), _)| (f / (s * length)).powi(2)).sum();
    sum.sqrt()
}
