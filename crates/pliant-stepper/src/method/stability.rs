//! The longest step of methods that take forces explicitly.

use crate::motion::Motion;
use crate::system::System;
use crate::{Error, Integrator};

/// Displacements of the differences, as a share of the largest coordinate: a rounding of forces is
/// then a hundred-millionth of their change, and so is the part of second order.
const DISPLACEMENT: f64 = 1e-8;

/// Most iterations of the power method.
const ITERATIONS: usize = 30;

/// A change of the estimate by this share ends the iteration.
const SETTLED: f64 = 0.01;

impl Integrator {
    /// The largest `h omega` at which a mode of the frequency `omega` (rad/s) stays bounded in
    /// steps of the length `h`, for methods that take forces explicitly; `None` for the others.
    pub fn stability_limit(&self) -> Option<f64> {
        match self {
            Self::SymplecticEuler => Some(2.0),
            // With the damping that suits them best; without any, vibrations grow with every step.
            Self::ForwardEuler => Some(2.0),
            Self::RungeKutta2 => Some(2.2),
            Self::RungeKutta4 => Some(8f64.sqrt()),
            _ => {
                let longest = |parts: &[f64]| parts.iter().fold(0.0f64, |a, part| a.max(part.abs()));
                self.rattle_parts().map(|parts| 2.0 / longest(parts))
            }
        }
    }
}

/// Refuses a step of length `h` (s) in which the method of the options makes the fastest mode of
/// the motion grow without bound: its springs, however they are treated, are explicit.
///
/// The frequency is an estimate from below, by the power method on differences of accelerations at
/// rest, so that what is refused is beyond the limit; dampers, and springs that become stiffer
/// later, are not looked at. It costs two factorisations for each of at most 30 iterations.
///
/// # Errors
/// [`Error::Unstable`].
pub fn check(system: &mut System, motion: &Motion, integrator: &Integrator, h: f64) -> Result<(), Error> {
    let Some(limit) = integrator.stability_limit() else {
        return Ok(());
    };
    let Some((frequency, dof)) = fastest_mode(system, motion) else {
        return Ok(());
    };
    if frequency * h <= limit {
        return Ok(());
    }
    Err(Error::Unstable {
        integrator: integrator.name().to_owned(),
        step: h,
        longest: limit / frequency,
        frequency,
        what: system.model.describe_dof(dof),
    })
}

/// A lower bound of the highest frequency of a motion (rad/s), and the coordinate that holds most
/// of the energy of its mode. `None` where accelerations are not defined, of which a step tells
/// more.
fn fastest_mode(system: &mut System, motion: &Motion) -> Option<(f64, usize)> {
    let mut rest = Motion::default();
    rest.clone_from(motion);
    rest.state.velocities.fill(0.0);
    let mut trial = Motion::default();
    trial.clone_from(&rest);
    let size = rest.state.positions.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let reach = DISPLACEMENT * if size > 0.0 { size } else { 1.0 };
    // Every mode has a share in a sequence without a pattern.
    let n = system.dof_count();
    let mut mode: Vec<f64> = (0..n).map(|i| (1.0 + (i * i) as f64).sin()).collect();
    let (mut change, mut other) = (Vec::new(), Vec::new());
    let mut found = (0.0, 0);
    for _ in 0..ITERATIONS {
        let fixed = &system.assembler.system().fixed;
        for (u, fixed) in mode.iter_mut().zip(fixed) {
            if *fixed {
                *u = 0.0;
            }
        }
        let largest = mode.iter().fold(0.0f64, |a, u| a.max(u.abs()));
        if !(largest > 0.0 && largest.is_finite()) {
            return Some(found);
        }
        mode.iter_mut().for_each(|u| *u *= reach / largest);
        accelerations(system, &rest, &mode, &mut trial, &mut change)?;
        mode.iter_mut().for_each(|u| *u = -*u);
        accelerations(system, &rest, &mode, &mut trial, &mut other)?;
        // K u, over the masses, of the mode as it is now turned round.
        for (a, b) in change.iter_mut().zip(&other) {
            *a = 0.5 * (*a - b);
        }
        let mut momentum = vec![0.0; n];
        let mass = &system.assembler.system().w;
        mass.symmetric_add_product(1.0, &mode, &mut momentum);
        let product = |a: &[f64]| a.iter().zip(&momentum).map(|(a, b)| a * b).sum::<f64>();
        let (square, norm) = (product(&change), product(&mode));
        if !(square > 0.0 && norm > 0.0) {
            return Some(found);
        }
        let before = found.0;
        let shares = mode.iter().zip(&momentum).map(|(u, p)| u * p);
        let most = shares.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        found = ((square / norm).sqrt(), most.map_or(0, |(dof, _)| dof));
        if (found.0 - before).abs() <= SETTLED * found.0 {
            break;
        }
        std::mem::swap(&mut mode, &mut change);
    }
    Some(found)
}

/// The accelerations of a motion at rest that is displaced by `mode` (m, rad).
fn accelerations(
    system: &mut System,
    rest: &Motion,
    mode: &[f64],
    trial: &mut Motion,
    out: &mut Vec<f64>,
) -> Option<()> {
    let velocity = vec![0.0; mode.len()];
    let placed = system.place(&rest.state, &velocity, mode, None, &mut trial.state);
    placed.ok()?;
    let solved = system.accelerations(rest, trial, rest.time, 1.0, out);
    solved.ok().map(drop)
}
