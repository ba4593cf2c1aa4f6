//! A feature that a method does not take is an error that names it.

use super::models::*;
use pliant::integrator::GeneralisedAlpha;
use pliant::prelude::*;
use std::sync::Arc;

fn refusal(model: Model, options: Options) -> String {
    let mut s = Simulation::with_options(model, options).unwrap();
    let before = s.checkpoint();
    let error = s.step(0.01).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert_eq!(s.checkpoint(), before);
    error.to_string()
}

#[test]
fn explicit_methods_and_hard_rows() {
    for integrator in [Integrator::SymplecticEuler, Integrator::RungeKutta4] {
        assert!(refusal(pendulum(), with(integrator)).contains("the hard rows of `rod`"));
    }
}

#[test]
fn rattle_and_rows_of_velocities() {
    let mut model = pendulum();
    let rod = model.node_named("length").unwrap();
    model
        .add_constraint("slows", rod, Level::Velocity { curvature: 0.0 })
        .unwrap();
    assert!(refusal(model, with(Integrator::Rattle)).contains("`slows`"));
}

#[test]
fn rattle_and_damped_compliances() {
    let model = elastic_pendulum(Treatment::Compliance, 1.0);
    assert!(refusal(model, with(Integrator::Rattle)).contains("the damping of `spring`"));
    let model = elastic_pendulum(Treatment::Compliance, 1.0);
    assert!(refusal(model, with(Integrator::Rattle6)).contains("the damping of `spring`"));
}

#[test]
fn rattle_and_masses_on_curved_mappings() {
    let mut model = chain(1);
    let ends = model.node_named("ends").unwrap();
    model.add_mass("knob", ends, Mass::Uniform(0.1)).unwrap();
    assert!(refusal(model, with(Integrator::Rattle)).contains("the mass `knob`"));
}

#[test]
fn bounded_forces_where_accelerations_are_needed() {
    let bounded = || {
        let mut model = pendulum();
        let rod = model.component_named("rod").unwrap();
        model.set_bounds(rod, -100.0, 100.0).unwrap();
        model
    };
    let text = refusal(bounded(), with(Integrator::generalised_alpha(0.5)));
    assert!(text.contains("`rod`; SDIRK2, the default, does"), "{text}");
    let weighted = Options {
        alpha: 0.5,
        ..with(Integrator::generalised_alpha(0.5))
    };
    let text = refusal(bounded(), weighted);
    assert!(text.contains("; the theta method does"), "{text}");
}

#[test]
fn stabilisation_sleep_and_own_weights() {
    let stabilised = Options {
        post_stabilisation: Some(Stabilisation::default()),
        ..with(Integrator::bdf2())
    };
    assert!(refusal(pendulum(), stabilised).contains("stabilisation"));
    let model = elastic_pendulum(Treatment::Stiffness, 0.0);
    let spring = model.component_named("spring").unwrap();
    for integrator in [Integrator::Nonlinear, Integrator::bdf2()] {
        let own = Options {
            own_alpha: vec![(spring, 1.0)],
            ..with(integrator)
        };
        assert!(refusal(elastic_pendulum(Treatment::Stiffness, 0.0), own).contains("`spring`"));
    }
}

/// Options that a method would pass over, each with its field.
#[test]
fn choices_that_a_method_would_pass_over() {
    use pliant::kkt::{GeometricStiffness, GeometricTerms};
    let geometry = GeometricTerms {
        forces: GeometricStiffness::None,
        multipliers: GeometricStiffness::Full,
    };
    let choices = |integrator: &Integrator| {
        let plain = || Options {
            integrator: integrator.clone(),
            ..Options::default()
        };
        let weight = Options { beta: 0.5, ..plain() };
        let geometry = Options { geometry, ..plain() };
        let gyroscopic = Options {
            gyroscopic: Gyroscopic::Momentum,
            ..plain()
        };
        [
            ("beta", weight),
            ("geometry", geometry),
            ("gyroscopic", gyroscopic),
        ]
    };
    for integrator in [
        Integrator::Sdirk2,
        Integrator::Nonlinear,
        Integrator::bdf2(),
        Integrator::bdf3(),
        Integrator::EnergyMomentum,
        Integrator::Rattle,
        Integrator::Theta,
    ] {
        for (field, options) in choices(&integrator) {
            let taken = match &integrator {
                Integrator::Theta => true,
                Integrator::Nonlinear => field == "beta",
                _ => false,
            };
            let mut s = Simulation::with_options(pendulum(), options).unwrap();
            match s.step(0.01) {
                Ok(_) => assert!(taken, "{integrator:?} passes over {field}"),
                Err(Error::Unsupported { option, .. }) => {
                    assert!(!taken && option == Some(field), "{integrator:?} {field}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn parameters_out_of_range() {
    for integrator in [
        Integrator::generalised_alpha(1.5),
        Integrator::generalised_alpha(-0.1),
        Integrator::generalised_alpha(f64::NAN),
        Integrator::newmark(0.0, 0.5),
        Integrator::newmark(0.25, f64::INFINITY),
        Integrator::Implicit(Arc::new(GeneralisedAlpha {
            alpha_f: 0.9,
            ..GeneralisedAlpha::of_radius(0.5)
        })),
    ] {
        let mut s = Simulation::with_options(pendulum(), with(integrator)).unwrap();
        assert!(matches!(s.step(0.01), Err(Error::OutOfRange { .. })));
    }
}

/// Two coordinates that a compliance holds hard in one direction have no force by a law, which the
/// accelerations of the start are made of.
#[test]
fn compliances_that_are_hard_in_part_where_accelerations_are_needed() {
    let model = || {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.1, 0.0]).unwrap();
        model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
        let law = FullCompliance::from_compliance(&[1.0, 1.0, 1.0, 1.0]).over_elements(2);
        model.add_force_field("k", x, law, Treatment::Compliance).unwrap();
        model
    };
    assert!(refusal(model(), with(Integrator::generalised_alpha(0.5))).contains("`k`"));
    let mut linear = Simulation::new(model()).unwrap();
    linear.step(0.01).unwrap();
}
