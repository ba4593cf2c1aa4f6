//! Steps whose work is more than they may take.

use crate::worlds::{boxes, rough, tower};
use pliant::prelude::*;
use std::time::Duration;

const H: f64 = 1.0 / 60.0;

/// A step fails in a part, with a count above the limit, and changes nothing: what comes next is
/// what comes after a restored checkpoint.
fn fails_in(s: &mut Simulation, part: WorkPart, work: WorkLimits) -> Error {
    let before = s.checkpoint();
    let usual = s.options.clone();
    s.options.tuning.work = work;
    let error = s.step(H).unwrap_err();
    let Error::TooMuchWork {
        part: found,
        count,
        limit,
        time,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*found, *time), (part, before.time), "{error}");
    assert!(count > limit, "{error}");
    assert!(error.to_string().contains(part.option()), "{error}");
    assert_eq!(s.checkpoint(), before);
    s.options = usual;
    s.step(H).unwrap();
    let after = s.checkpoint();
    s.restore(&before).unwrap();
    s.step(H).unwrap();
    assert_eq!(s.checkpoint(), after);
    error
}

#[test]
fn contacts_that_take_too_long_are_named() {
    let (mut s, _) = boxes(&tower(&[1.0; 6]), rough(0.5));
    let operations = s.step(H).unwrap().contacts.solve.operations;
    assert!(operations > 1000, "{operations}");
    let (mut s, _) = boxes(&tower(&[1.0; 6]), rough(0.5));
    let work = WorkLimits {
        contact_operations: operations / 10,
        ..WorkLimits::default()
    };
    let error = fails_in(&mut s, WorkPart::Contacts, work);
    assert!(error.to_string().contains("`box 0`, "), "{error}");
    assert!(error.to_string().contains(" and 3 others at t = 0 s"), "{error}");
    // As much as it takes is enough.
    let (mut s, _) = boxes(&tower(&[1.0; 6]), rough(0.5));
    s.options.tuning.work.contact_operations = operations;
    s.step(H).unwrap();
}

#[test]
fn corrections_of_overlap_that_take_too_long_are_named() {
    let mut list = tower(&[1.0; 3]);
    list[2].2.position[2] -= 0.01;
    let (mut s, _) = boxes(&list, rough(0.5));
    let work = WorkLimits {
        correction_operations: 1,
        ..WorkLimits::default()
    };
    let error = fails_in(&mut s, WorkPart::Overlap, work);
    assert!(error.to_string().contains("the overlap of `"), "{error}");
}

#[test]
fn searches_that_take_too_long_are_named() {
    let (mut s, _) = boxes(&tower(&[1.0; 3]), rough(0.5));
    let work = WorkLimits {
        contact_tests: 2,
        ..WorkLimits::default()
    };
    let error = fails_in(&mut s, WorkPart::Detection, work);
    assert!(error.to_string().contains("between `"), "{error}");
}

/// A pendulum of one rod, by a hard row.
fn pendulum() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let p = m.add_particles("p", &[[1.0, 0.0, 0.0]]).unwrap();
    m.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = m.add_mapped("rod", &[p], rod).unwrap();
    m.add_constraint("rod", rod, Level::Position).unwrap();
    m
}

#[test]
fn newton_and_corrections_take_factorisations() {
    let one = WorkLimits {
        factorisations: 1,
        ..WorkLimits::default()
    };
    let mut s = crate::tools::theta(pendulum()).unwrap();
    s.options.integrator = Integrator::Nonlinear;
    s.options.tuning.newton.halvings = 0;
    fails_in(&mut s, WorkPart::Newton, one);
    let mut s = crate::tools::theta(pendulum()).unwrap();
    s.options.post_stabilisation = Some(Stabilisation::default());
    fails_in(&mut s, WorkPart::Stabilisation, one);
}

#[test]
fn forces_at_their_bounds_take_factorisations() {
    let mut m = Model::new();
    let cart = m.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
    let mass = Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]);
    m.add_mass("m", cart, mass).unwrap();
    // It cannot reach its speed within the step.
    let motor = Joint::slider(Side::World, Side::Body(cart, 0));
    let motor = motor.with_velocity_motor(0, PrescribedMotion::ramp(0.0, 10.0), 1.0);
    m.add_joint("slider", &motor).unwrap();
    let mut s = crate::tools::theta(m).unwrap();
    let one = WorkLimits {
        factorisations: 1,
        ..WorkLimits::default()
    };
    fails_in(&mut s, WorkPart::ActiveSet, one);
}

/// A step with solutions in its shortest parts alone, as one iteration solves no longer ones, ends
/// behind a thousand attempts, and not behind those at all 2^16 parts; and changes nothing.
#[test]
fn attempts_at_a_step_are_counted() {
    let mut s = crate::tools::theta(pendulum()).unwrap();
    s.options.integrator = Integrator::Nonlinear;
    s.options.tuning.newton.iterations = 1;
    s.options.tuning.newton.halvings = 16;
    let mut state = s.state().clone();
    state.velocities[1] = -1.0;
    s.set_state(&state).unwrap();
    let before = s.checkpoint();
    let first = s.counters().solver.numeric;
    let error = s.step(0.5).unwrap_err();
    let taken = s.counters().solver.numeric - first;
    assert!(matches!(error, Error::NotConverged { .. }), "{error}");
    // One or two factorisations for each attempt.
    assert!((900..3000).contains(&taken), "{taken}");
    assert_eq!(s.checkpoint(), before);
}

/// Halves of a step have the whole of the limit each, where steps are halved.
#[test]
fn a_step_of_too_much_work_is_halved() {
    let mut s = crate::tools::theta(pendulum()).unwrap();
    s.options.integrator = Integrator::Nonlinear;
    s.options.tuning.newton.halvings = 0;
    let mut state = s.state().clone();
    state.velocities[1] = -1.0;
    s.set_state(&state).unwrap();
    let before = s.checkpoint();
    let mut needed = |h: f64| {
        let first = s.counters().solver.numeric;
        s.step(h).unwrap();
        let needed = s.counters().solver.numeric - first;
        s.restore(&before).unwrap();
        needed
    };
    let (long, short) = (needed(0.4), needed(0.05));
    assert!(short < long, "{short} {long}");
    s.options.tuning.work.factorisations = long - 1;
    let error = s.step(0.4).unwrap_err();
    assert!(matches!(error, Error::TooMuchWork { .. }), "{error}");
    s.options.tuning.newton.halvings = 3;
    let report = s.step(0.4).unwrap();
    assert!(report.solve.newton.step_halvings > 0);
    // The whole step was tried before its halves.
    assert!(report.timings.rejected > Duration::ZERO, "{:?}", report.timings);
    assert_eq!(report.time, 0.4);
}

/// Steps that choose their length make no more shorter trials than a step has halves.
#[test]
fn trials_that_take_too_much_work_are_few() {
    let mut s = crate::tools::theta(pendulum()).unwrap();
    s.options.integrator = Integrator::Nonlinear;
    s.options.tuning.newton.halvings = 0;
    s.options.tuning.work.factorisations = 1;
    let before = s.checkpoint();
    let how = Adaptive {
        first: 0.1,
        smallest: 1e-12,
        ..Adaptive::default()
    };
    let error = s.step_adaptively(&how, 1.0).unwrap_err();
    assert!(matches!(error, Error::TooMuchWork { .. }), "{error}");
    assert_eq!(s.checkpoint(), before);
    let halvings = s.options.contacts.halvings.max(s.options.tuning.newton.halvings);
    // A trial is a step and two halves at most, of two factorisations each until it is over.
    let most = 6 * (halvings + 1);
    assert!(
        s.counters().solver.numeric <= most,
        "{}",
        s.counters().solver.numeric
    );
}
