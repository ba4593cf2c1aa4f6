//! Checkpoints, determinism, allocation.

use super::models::*;
use pliant::prelude::*;

/// A chain with a rope of springs at its end, so that there are hard rows, compliances and
/// stiffnesses.
fn mixed() -> Model {
    let mut model = chain(3);
    let ends = model.node_named("ends").unwrap();
    let rope = Distance::to_points(&[(5, [0.5, 0.0, -0.2])]).with_rest_lengths(&[0.25]);
    let rope = model.add_mapped("rope", &[ends], rope).unwrap();
    model
        .add_force_field("soft", rope, UniformCompliance::new(1e-3), Treatment::Compliance)
        .unwrap();
    let body = model.node_named("links").unwrap();
    model
        .add_force_field("air", body, Damping::new(1e-3), Treatment::Stiffness)
        .unwrap();
    model
}

fn with_hard_rows() -> Vec<Integrator> {
    vec![
        Integrator::Theta,
        Integrator::Nonlinear,
        Integrator::generalised_alpha(0.7),
        Integrator::newmark(0.3025, 0.6),
        Integrator::bdf2(),
        Integrator::bdf3(),
        Integrator::Sdirk2,
        Integrator::EnergyMomentum,
        Integrator::Rattle,
        Integrator::Rattle4,
        Integrator::Rattle6,
    ]
}

#[test]
fn every_integrator_goes_on_bit_for_bit() {
    let mut cases: Vec<(Integrator, fn() -> Model)> = Vec::new();
    cases.extend(with_hard_rows().into_iter().map(|i| (i, mixed as fn() -> Model)));
    for explicit in [
        Integrator::SymplecticEuler,
        Integrator::ForwardEuler,
        Integrator::RungeKutta2,
        Integrator::RungeKutta4,
    ] {
        cases.push((explicit, || elastic_pendulum(Treatment::Compliance, 0.1)));
    }
    for (integrator, build) in cases {
        for taken in [0, 1, 2, 7] {
            let mut s = Simulation::with_options(build(), with(integrator.clone())).unwrap();
            for _ in 0..taken {
                s.step(0.004).unwrap();
            }
            let mut other = Simulation::with_options(build(), with(integrator.clone())).unwrap();
            other.step(0.002).unwrap();
            other.restore(&s.checkpoint()).unwrap();
            for h in [0.004, 0.004, 0.003, 0.005] {
                let (a, b) = (s.step(h).unwrap(), other.step(h).unwrap());
                assert_eq!((a.energies, a.residual), (b.energies, b.residual));
            }
            assert_eq!(s.checkpoint(), other.checkpoint(), "{}", integrator.name());
        }
    }
}

/// A checkpoint may come from anywhere: a memory that is not of the model's size is none.
#[test]
fn a_memory_of_another_size_is_forgotten() {
    for integrator in with_hard_rows() {
        let mut s = Simulation::with_options(mixed(), with(integrator.clone())).unwrap();
        for _ in 0..3 {
            s.step(0.004).unwrap();
        }
        let mut changed = s.checkpoint();
        for size in [0, 1, 3, 1000] {
            changed.integrator.vectors.resize(size, 0.25);
            s.restore(&changed).unwrap();
            s.step(0.004).unwrap();
        }
    }
}

#[test]
fn no_integrator_allocates() {
    for integrator in with_hard_rows() {
        let mut s = Simulation::with_options(mixed(), with(integrator.clone())).unwrap();
        for _ in 0..20 {
            s.step(0.004).unwrap();
        }
        let found = allocation_counter::measure(|| {
            for _ in 0..5 {
                s.step(0.004).unwrap();
            }
        });
        assert_eq!(found.count_total, 0, "{}", integrator.name());
        assert_eq!(s.counters().solver.symbolic, 1, "{}", integrator.name());
    }
}

/// The memory of a method is void for another, and after velocities were changed from outside: it
/// starts again.
#[test]
fn another_method_starts_anew() {
    let mut s = Simulation::with_options(pendulum(), with(Integrator::bdf2())).unwrap();
    for _ in 0..10 {
        s.step(0.01).unwrap();
    }
    s.options.integrator = Integrator::Rattle;
    s.step(0.01).unwrap();
    let state = s.state().clone();
    s.options.integrator = Integrator::bdf2();
    s.step(0.01).unwrap();
    let mut fresh = Simulation::with_options(pendulum(), with(Integrator::bdf2())).unwrap();
    fresh.set_state(&state).unwrap();
    fresh.step(0.01).unwrap();
    let error = distance(&s.state().positions, &fresh.state().positions);
    // The same equations from other first guesses.
    assert!(error < 1e-11, "{error}");
}

/// A linear model has one matrix, which is eliminated once where factors are kept: steps after the
/// first eliminate no column, until the length of the step changes, and have the bits of steps that
/// factor. Blocks of three and single entries, springs as stiffnesses and as rows.
#[test]
fn a_linear_model_is_factored_once() {
    let linear = |size: usize, treatment: Treatment| {
        let mut model = Model::new();
        let place: Vec<f64> = (0..30).map(|i| 0.1 + 0.01 * f64::from(i)).collect();
        let chain = model
            .add_independent("chain", Space::Real(size), &place, &[0.0; 30])
            .unwrap();
        model.add_mass("m", chain, Mass::Uniform(2.0)).unwrap();
        let law = UniformCompliance::new(0.01);
        model.add_force_field("springs", chain, law, treatment).unwrap();
        model
    };
    for integrator in [
        Integrator::Theta,
        Integrator::Nonlinear,
        Integrator::newmark(0.25, 0.5),
        Integrator::Sdirk2,
    ] {
        for (size, treatment) in [
            (3, Treatment::Stiffness),
            (1, Treatment::Stiffness),
            (3, Treatment::Compliance),
            (1, Treatment::Compliance),
        ] {
            let name = format!("{}, {size}, {treatment:?}", integrator.name());
            let make = |keeps: bool| {
                let mut options = with(integrator.clone());
                options.tuning.solver.small_update = keeps;
                Simulation::with_options(linear(size, treatment), options).unwrap()
            };
            let (mut keeping, mut factoring) = (make(true), make(false));
            let mut once = 0;
            for k in 0..50 {
                keeping.step(0.01).unwrap();
                factoring.step(0.01).unwrap();
                let columns = keeping.counters().solver.columns;
                match k {
                    // SDIRK2 does not know its accelerations in the first step.
                    0..4 => once = columns,
                    _ => assert_eq!(columns, once, "{name}"),
                }
            }
            assert_eq!(keeping.state(), factoring.state(), "{name}");
            assert!(factoring.counters().solver.columns > 10 * once, "{name}");
            keeping.step(0.02).unwrap();
            factoring.step(0.02).unwrap();
            assert!(keeping.counters().solver.columns > once, "{name}");
            assert_eq!(keeping.state(), factoring.state(), "{name}");
        }
    }
}
