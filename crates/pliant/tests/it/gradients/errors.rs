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
    let said = gradient_of(Simulation::new(spring_on_scalar()).unwrap(), 0.1);
    assert!(said.contains("Integrator::Nonlinear"), "{said}");
    let weighted = Options {
        alpha: 0.5,
        beta: 0.5,
        ..options()
    };
    let said = gradient_of(
        Simulation::with_options(spring_on_scalar(), weighted).unwrap(),
        0.1,
    );
    assert!(said.contains("weights"), "{said}");
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
    let said = gradient_of(Simulation::with_options(model, options()).unwrap(), 0.01);
    assert!(said.contains("the mass `lumps`"), "{said}");
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
