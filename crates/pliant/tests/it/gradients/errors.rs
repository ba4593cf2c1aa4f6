//! Errors about models, steps and vectors that have no derivative, in the words of users.

use super::options;
use super::steps::chain;
use pliant::gradient::*;
use pliant::prelude::*;

fn spring_on_scalar() -> Model {
    let mut model = Model::new();
    let bead = model.add_scalars("bead", &[1.0]).unwrap();
    model.add_mass("mass", bead, Mass::Uniform(1.0)).unwrap();
    model
        .add_force_field("spring", bead, Spring::linear(4.0), Treatment::Stiffness)
        .unwrap();
    model
}

fn gradient_of(mut simulation: Simulation, h: f64) -> String {
    let mut objective = |_: usize, _: &Simulation, _: &mut NodeGradient| 0.0;
    let found = Trajectory::new(3, h).gradient(&mut simulation, &mut objective);
    found.unwrap_err().to_string()
}

#[test]
fn other_methods_are_refused() {
    let linear = Simulation::with_options(spring_on_scalar(), Options::theta()).unwrap();
    let said = gradient_of(linear, 0.1);
    assert!(said.contains("Integrator::Nonlinear"), "{said}");
    let mut own = Simulation::with_options(spring_on_scalar(), options()).unwrap();
    let spring = own.model().component_named("spring").unwrap();
    own.options.own_alpha = vec![(spring, 0.5)];
    let said = gradient_of(own, 0.1);
    assert!(said.contains("`own_alpha`"), "{said}");
    let bad = gradient_of(
        Simulation::with_options(spring_on_scalar(), options()).unwrap(),
        -1.0,
    );
    assert!(bad.contains("step"), "{bad}");
}

/// The linear step is no solution of the equations: placed by hand it is found out.
#[test]
fn a_step_of_other_equations_is_found_out() {
    let mut simulation = Simulation::with_options(chain(3), Options::theta()).unwrap();
    for _ in 0..3 {
        simulation.step(0.01).unwrap();
    }
    let mut derivative = StepDerivative::new(simulation.problem()).unwrap();
    let placed = derivative.place(simulation.problem(), &simulation.last_step(&[]).unwrap());
    let said = placed.unwrap_err().to_string();
    assert!(said.contains("the equations miss"), "{said}");
}

#[test]
fn vectors_of_other_lengths_are_refused() {
    let mut simulation = Simulation::with_options(spring_on_scalar(), options()).unwrap();
    simulation.step(0.1).unwrap();
    let mut derivative = simulation.step_derivative().unwrap();
    let step = simulation.last_step(&[]).unwrap();
    derivative.place(simulation.problem(), &step).unwrap();
    let (short, mut out) = (StateVector::zeros(0), StateVector::zeros(1));
    for refused in [
        derivative.tangent(&short, &mut out),
        derivative.adjoint(&short, &mut out),
    ] {
        assert!(matches!(
            refused,
            Err(GradientError::Length {
                expected: 1,
                found: 0,
                ..
            })
        ));
    }
    let bad = TakenStep { fixed: &[], ..step };
    assert!(derivative.place(simulation.problem(), &bad).is_err());
}

/// Masses on nodes that follow a curve, models of another structure.
#[test]
fn models_without_a_derivative_name_the_part() {
    let mut model = Model::new();
    let bodies = model.add_rigid_bodies("bodies", &[Pose::default()]).unwrap();
    let points = RigidPoints::new(&[(0, [0.1, 0.0, 0.0]), (0, [0.0, 0.1, 0.0]), (0, [0.0, 0.0, 0.1])]);
    let points = model.add_mapped("points", &[bodies], points).unwrap();
    model.add_mass("lumps", points, Mass::Uniform(1.0)).unwrap();
    let said = gradient_of(Simulation::new(model).unwrap(), 0.01);
    assert!(
        said.contains("the mass `lumps` in steps of SDIRK2") && said.contains("Nonlinear"),
        "{said}"
    );
    let make = |p: &[f64]| {
        let mut model = Model::new();
        let count = if p[0] > 1.0 { 2 } else { 1 };
        let bead = model.add_scalars("bead", &vec![1.0; count])?;
        model.add_mass("mass", bead, Mass::Uniform(1.0))?;
        Ok(Problem::new(model))
    };
    let refused = Family::new(&make, &[1.0], &[1.0]).unwrap_err().to_string();
    assert!(
        refused.contains("independent coordinates") && refused.contains("same structure"),
        "{refused}"
    );
    let none = |_: &[f64]| {
        Err(GradientError::NoModel {
            why: "there is none".into(),
        })
    };
    assert!(Family::new(&none, &[1.0], &[1.0]).is_err());
}

/// Each call says what it waits for, also after a place that failed.
#[test]
fn what_is_read_too_early_is_refused() {
    let mut simulation = Simulation::with_options(spring_on_scalar(), options()).unwrap();
    simulation.step(0.1).unwrap();
    let mut derivative = simulation.step_derivative().unwrap();
    let (from, mut out, mut by) = (StateVector::zeros(1), StateVector::zeros(1), Vec::new());
    let early = |refused: Result<(), GradientError>| {
        assert!(
            matches!(refused, Err(GradientError::NotReady { .. })),
            "{refused:?}"
        );
    };
    early(derivative.tangent(&from, &mut out).map(drop));
    early(derivative.adjoint(&from, &mut out).map(drop));
    let step = simulation.last_step(&[]).unwrap();
    derivative.place(simulation.problem(), &step).unwrap();
    early(derivative.by_force(&mut by));
    derivative.adjoint(&from, &mut out).unwrap();
    derivative.by_force(&mut by).unwrap();
    derivative.by_input(&mut by).unwrap();
    // A step with another end is no step; nothing is left of the one before.
    let mut end = step.end.clone();
    end.velocities[0] += 0.1;
    let bad = TakenStep { end: &end, ..step };
    let placed = derivative.place(simulation.problem(), &bad);
    assert!(
        matches!(placed, Err(GradientError::NotSolved { .. })),
        "{placed:?}"
    );
    early(derivative.tangent(&from, &mut out).map(drop));
    early(derivative.by_force(&mut by));
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    early(rest.adjoint([&[1.0], &[]]).map(drop));
    early(rest.by_input(&mut by));
}

/// Whatever a caller hands over is measured first.
#[test]
fn states_forces_and_directions_of_other_lengths_are_refused() {
    let mut simulation = Simulation::with_options(spring_on_scalar(), options()).unwrap();
    simulation.step(0.1).unwrap();
    let mut derivative = simulation.step_derivative().unwrap();
    let step = simulation.last_step(&[]).unwrap();
    let short = State::default();
    for bad in [
        TakenStep {
            start: &short,
            ..step
        },
        TakenStep { end: &short, ..step },
        TakenStep {
            external: &[0.0, 0.0],
            ..step
        },
        TakenStep {
            multipliers: &[0.0],
            ..step
        },
    ] {
        let placed = derivative.place(simulation.problem(), &bad);
        assert!(matches!(placed, Err(GradientError::Length { .. })), "{placed:?}");
    }
    let mut objective = |_: usize, _: &Simulation, _: &mut NodeGradient| 0.0;
    let make = |_: &[f64]| Ok(Problem::new(spring_on_scalar()));
    let mut family = Family::new(&make, &[1.0], &[1.0]).unwrap();
    let (one, none) = (StateVector::zeros(1), StateVector::zeros(0));
    for (family, direction, parameters) in [
        (None, &none, &[][..]),
        (None, &one, &[1.0][..]),
        (Some(&mut family), &one, &[1.0, 1.0][..]),
    ] {
        let mut trajectory = Trajectory::new(2, 0.1);
        trajectory.family = family;
        let refused = trajectory.tangent(&mut simulation, &mut objective, direction, parameters);
        let said = refused.unwrap_err().to_string();
        assert!(
            said.contains("of a direction") && said.contains("numbers"),
            "{said}"
        );
    }
    // A family of other models.
    let other = |_: &[f64]| Ok(Problem::new(chain(2)));
    let mut family = Family::new(&other, &[1.0], &[1.0]).unwrap();
    let mut trajectory = Trajectory::new(2, 0.1);
    trajectory.family = Some(&mut family);
    let said = trajectory
        .gradient(&mut simulation, &mut objective)
        .unwrap_err()
        .to_string();
    assert!(said.contains("same structure"), "{said}");
}

/// Derivatives that would be those of something else are refused.
#[test]
fn parameters_and_controls_without_a_derivative_are_refused() {
    let said = |refused: Result<(), TrajectoryError>| refused.unwrap_err().to_string();
    let make = |_: &[f64]| Ok(Problem::new(spring_on_scalar()));
    for scale in [0.0, f64::NAN, f64::INFINITY] {
        let refused = Family::new(&make, &[1.0], &[scale]);
        assert!(matches!(refused, Err(GradientError::Scale { parameter: 0, .. })));
    }
    let mut objective = |_: usize, _: &Simulation, _: &mut NodeGradient| 0.0;
    // A control that sets the state.
    for integrator in [Integrator::Nonlinear, Integrator::bdf2()] {
        let options = Options {
            integrator,
            ..options()
        };
        let simulation = || Simulation::with_options(spring_on_scalar(), options.clone()).unwrap();
        let sets = |step: usize, s: &mut Simulation| {
            let mut state = s.state().clone();
            state.positions[0] += if step == 2 { 0.1 } else { 0.0 };
            if step == 2 {
                s.set_state(&state)?;
            }
            Ok(())
        };
        let mut trajectory = Trajectory::new(4, 0.1);
        trajectory.control = Some(Box::new(sets));
        let backwards = trajectory.gradient(&mut simulation(), &mut objective).map(drop);
        assert!(said(backwards).contains("not the state"));
        let forwards = trajectory.tangent(&mut simulation(), &mut objective, &StateVector::zeros(1), &[]);
        assert!(said(forwards.map(drop)).contains("not the state"));
    }
    let winch = |p: &[f64]| {
        let mut model = spring_on_scalar();
        let bead = model.node_named("bead").unwrap();
        let row = model
            .add_force_field("winch", bead, UniformCompliance::new(1e-6), Treatment::Compliance)
            .unwrap();
        model.set_bounds(row, -p[0], p[0]).unwrap();
        model
    };
    // Bounded rows in BDF2.
    let options = Options {
        integrator: Integrator::bdf2(),
        ..options()
    };
    let simulation = Simulation::with_options(winch(&[1.0]), options).unwrap();
    let refused = simulation.step_derivative().map(drop).unwrap_err().to_string();
    assert!(
        refused.contains("`winch`") && refused.contains("BDF2"),
        "{refused}"
    );
    // A step of another model.
    let mut simulation = Simulation::with_options(spring_on_scalar(), super::options()).unwrap();
    simulation.step(0.1).unwrap();
    let other = Simulation::with_options(chain(2), super::options()).unwrap();
    let mut derivative = simulation.step_derivative().unwrap();
    let refused = derivative.place(other.problem(), &simulation.last_step(&[]).unwrap());
    assert!(
        matches!(refused, Err(GradientError::Structure { .. })),
        "{refused:?}"
    );
}

/// A small part that was moved a little is found out, however far away others are.
#[test]
fn a_moved_part_is_found_out_in_a_large_scene() {
    let mut model = Model::new();
    let parts = model.add_scalars("parts", &[1e-3, 1e4]).unwrap();
    model.add_mass("mass", parts, Mass::Uniform(1.0)).unwrap();
    let mut simulation = Simulation::with_options(model, options()).unwrap();
    simulation.step(0.1).unwrap();
    let mut derivative = simulation.step_derivative().unwrap();
    let step = simulation.last_step(&[]).unwrap();
    derivative.place(simulation.problem(), &step).unwrap();
    // A hundredth of a millimetre of a millimetre, a billionth of the scene.
    let mut end = step.end.clone();
    end.positions[0] += 1e-5;
    let moved = derivative.place(simulation.problem(), &TakenStep { end: &end, ..step });
    assert!(matches!(moved, Err(GradientError::NotSolved { .. })), "{moved:?}");
}
