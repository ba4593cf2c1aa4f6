//! Derivatives of steps and trajectories: against closed forms, against central differences with a
//! study of their step, and the adjoint against the tangent.

mod bounds;
mod contact_parameters;
mod contacts;
mod controls;
mod elements;
mod errors;
mod frames;
mod impacts;
mod masses;
mod memory;
mod rest;
mod smoothing;
mod stage_contacts;
mod stages;
mod steps;
mod trajectories;
mod vibrations;
mod weights;

use crate::tools::numbers;
use pliant::gradient::*;
use pliant::prelude::*;

/// Options of steps that have a derivative, solved to rounding: what iterations leave would be in
/// the differences.
pub(crate) fn options() -> Options {
    let mut options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    };
    options.tuning.newton.tolerance = 1e-13;
    options.tuning.newton.halvings = 0;
    options.contacts.accuracy = 1e-13;
    options
}

/// A direction of unit entries; velocities of coordinates that are held stay.
pub(crate) fn direction(simulation: &Simulation, seed: u64) -> StateVector {
    let n = simulation.model().dof_count();
    let mut out = StateVector {
        x: numbers(seed, n),
        v: numbers(seed + 1, n),
    };
    let fixed = &simulation.system().fixed;
    for ((x, v), fixed) in out.x.iter_mut().zip(&mut out.v).zip(fixed) {
        if *fixed {
            (*x, *v) = (0.0, 0.0);
        }
    }
    out
}

/// The state moved by `t` along a direction.
pub(crate) fn moved(simulation: &Simulation, along: &StateVector, t: f64) -> State {
    let (model, mut state) = (simulation.model(), simulation.state().clone());
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let v = node.velocity_range();
        let step: Vec<f64> = along.x[first..first + v.len()].iter().map(|d| t * d).collect();
        node.space
            .retract(&mut state.positions[node.position_range()], &step);
        for (k, v) in state.velocities[v].iter_mut().enumerate() {
            *v += t * along.v[first + k];
        }
    }
    state
}

/// The displacement and the change of velocity of the independent coordinates between two states.
pub(crate) fn between(model: &Model, from: &State, to: &State) -> StateVector {
    let mut out = StateVector::zeros(model.dof_count());
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let (p, v) = (node.position_range(), node.velocity_range());
        let own = &mut out.x[first..first + v.len()];
        node.space
            .local(&from.positions[p.clone()], &to.positions[p], own);
        for k in 0..v.len() {
            out.v[first + k] = to.velocities[v.start + k] - from.velocities[v.start + k];
        }
    }
    out
}

fn largest(list: &[f64]) -> f64 {
    list.iter().fold(0.0, |l, x| l.max(x.abs()))
}

/// Steps of differences, shorter and shorter.
const STEPS: [f64; 6] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5];

/// Central differences of fourth order of a vector, for the best of a few steps: the smallest
/// difference from `expected`, as a share of its size. Both kinds of numbers count by themselves. A
/// step that is too long for the function to have a value is passed over.
pub(crate) fn off_differences(expected: &StateVector, mut f: impl FnMut(f64) -> Option<StateVector>) -> f64 {
    let weights = [
        (-2.0, 1.0 / 12.0),
        (-1.0, -2.0 / 3.0),
        (1.0, 2.0 / 3.0),
        (2.0, -1.0 / 12.0),
    ];
    let mut best = f64::INFINITY;
    for t in STEPS {
        let mut found = StateVector::zeros(expected.x.len());
        let ends: Option<Vec<StateVector>> = weights.iter().map(|(step, _)| f(step * t)).collect();
        let Some(ends) = ends else { continue };
        for (end, (_, weight)) in ends.iter().zip(weights) {
            for (list, add) in [(&mut found.x, &end.x), (&mut found.v, &end.v)] {
                list.iter_mut().zip(add).for_each(|(o, a)| *o += weight / t * a);
            }
        }
        // Velocities that stay what they are, at rest, have no size of their own.
        let all = 1e-3 * largest(&expected.x).max(largest(&expected.v));
        let off = |a: &[f64], b: &[f64]| {
            let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            largest(&difference) / largest(b).max(all)
        };
        best = best.min(off(&found.x, &expected.x).max(off(&found.v, &expected.v)));
    }
    best
}

/// The tangent of a step that is placed, along a direction, which its adjoint against another one agrees
/// with to rounding.
fn tangent_as_adjoint(
    what: &str,
    derivative: &mut StepDerivative,
    along: &StateVector,
    against: &StateVector,
) -> StateVector {
    let mut tangent = StateVector::default();
    let report = derivative.tangent(along, &mut tangent).unwrap();
    assert!(report.change < 1e-11, "{what}: {report:?}");
    let mut adjoint = StateVector::default();
    derivative.adjoint(against, &mut adjoint).unwrap();
    let (forwards, backwards) = (tangent.dot(against), adjoint.dot(along));
    let size: f64 = [(&tangent, against), (&adjoint, along)]
        .iter()
        .map(|(a, b)| (a.dot(a) * b.dot(b)).sqrt())
        .fold(0.0, f64::max);
    assert!(
        (forwards - backwards).abs() <= 1e-12 * size,
        "{what}: {forwards} forwards, {backwards} backwards, of {size}"
    );
    tangent
}

/// The starts of the differences of [`off_differences`], along a direction.
fn starts_along(simulation: &Simulation, along: &StateVector) -> Vec<(f64, State)> {
    let steps = STEPS.iter().flat_map(|t| [-2.0, -1.0, 1.0, 2.0].map(|s| s * t));
    steps.map(|t| (t, moved(simulation, along, t))).collect()
}

/// Differentiates the step after the next one of a simulation: its tangent against differences to a
/// share of `share`, its adjoint against its tangent to rounding. The direction is the way in which
/// the end of the next step moves, so that hard rows hold along it: a start that they do not hold
/// at is projected onto them before it is stepped from.
pub(crate) fn check_step(what: &str, simulation: &mut Simulation, h: f64, share: f64) {
    check_step_without(&[], what, simulation, h, share);
}

/// As [`check_step`], along a direction without displacements of some coordinates: where contacts
/// touch exactly, the branch of their law is another on either side.
pub(crate) fn check_step_without(
    still: &[usize],
    what: &str,
    simulation: &mut Simulation,
    h: f64,
    share: f64,
) {
    let place = |simulation: &mut Simulation, derivative: &mut StepDerivative| {
        let mut contacts = Vec::new();
        simulation.last_contacts(&mut contacts).unwrap();
        let step = simulation.last_step(&contacts).unwrap();
        derivative
            .place(simulation.problem(), &step)
            .unwrap_or_else(|e| panic!("{what}: {e}"));
    };
    simulation.step(h).unwrap();
    let mut derivative = simulation.step_derivative().unwrap();
    place(simulation, &mut derivative);
    let mut along = StateVector::default();
    derivative.tangent(&direction(simulation, 3), &mut along).unwrap();
    still.iter().for_each(|k| along.x[*k] = 0.0);
    let size = largest(&along.x).max(largest(&along.v));
    along.x.iter_mut().chain(&mut along.v).for_each(|d| *d /= size);
    let before = simulation.checkpoint();
    let starts = starts_along(simulation, &along);
    simulation.step(h).unwrap();
    let end = simulation.state().clone();
    place(simulation, &mut derivative);
    let tangent = tangent_as_adjoint(what, &mut derivative, &along, &direction(simulation, 5));
    let model = simulation.problem().clone();
    let off = off_differences(&tangent, |t| {
        let start = starts.iter().find(|(s, _)| *s == t).unwrap();
        if before.contacts.is_some() {
            // Contacts are found anew.
            simulation.restore(&before).unwrap();
            simulation.set_state(&start.1).unwrap();
        } else {
            // A motion that goes on: velocities of a new one would be projected onto hard rows.
            let mut here = before.clone();
            here.state.clone_from(&start.1);
            model.propagate(&mut here.state).unwrap();
            simulation.restore(&here).unwrap();
        }
        simulation.step(h).ok()?;
        Some(between(&model, &end, simulation.state()))
    });
    assert!(off < share, "{what}: {off:.1e} off differences");
    simulation.restore(&before).unwrap();
}
