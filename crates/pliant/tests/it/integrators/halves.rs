//! Steps of SDIRK2 that are taken in halves.

use super::models::*;
use pliant::prelude::*;

fn whole_steps() -> Options {
    let mut options = with(Integrator::Sdirk2);
    options.tuning.newton.stage_halvings = 0;
    options.accuracy = Some(Accuracy::Measured);
    options
}

/// A step that is halved once for its energy is two steps of half its length: to the bit, in the
/// count of steps, and in the ledger.
#[test]
fn a_step_that_loses_energy_is_its_halves() {
    let mut s = Simulation::with_options(chain(10), with(Integrator::Sdirk2)).unwrap();
    let mut seen = 0;
    for _ in 0..100 {
        let before = s.checkpoint();
        let steps = s.counters().steps;
        let report = s.step(0.01).unwrap();
        if report.solve.newton.step_halvings != 1 {
            continue;
        }
        seen += 1;
        let mut other = Simulation::with_options(chain(10), whole_steps()).unwrap();
        other.restore(&before).unwrap();
        let mut ledger = other.step(0.005).unwrap().ledger;
        ledger += other.step(0.005).unwrap().ledger;
        assert_eq!(s.state(), other.state());
        assert_eq!(s.counters().steps - steps, other.counters().steps);
        assert_eq!(report.ledger, ledger);
        assert_eq!(report.h, 0.01);
        // The whole lost or gained more.
        other.restore(&before).unwrap();
        let whole = other.step(0.01).unwrap().ledger.numerical;
        assert!(whole.abs() > ledger.numerical.abs(), "{whole:e} {ledger:?}");
    }
    assert!(seen > 2, "{seen}");
}

/// A spring of 9 N/m that has no force near its rest.
#[derive(Clone, Debug)]
struct Hole;

impl ForceField for Hole {
    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        x.iter().map(|x| 4.5 * x * x).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        for (f, x) in f.iter_mut().zip(x) {
            *f -= if x.abs() < 0.005 { f64::NAN } else { 9.0 * x };
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        (0..x.len()).for_each(|e| out.block_mut(e)[0] = 9.0);
        Ok(())
    }
}

/// The step goes over the hole, its first half ends in it: then the step stands as it is.
#[test]
fn a_step_whose_halves_fail_is_taken_whole() {
    let over_the_hole = |options: Options| {
        let mut model = Model::new();
        let x = model
            .add_independent("x", Space::Real(1), &[-0.05], &[1.0])
            .unwrap();
        model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
        model
            .add_force_field("spring", x, Hole, Treatment::Stiffness)
            .unwrap();
        Simulation::with_options(model, options).unwrap()
    };
    let mut whole = over_the_hole(whole_steps());
    let ledger = whole.step(0.1).unwrap().ledger;
    assert!(over_the_hole(whole_steps()).step(0.05).is_err());
    let mut options = with(Integrator::Sdirk2);
    // It loses some hundred thousandths.
    options.tuning.newton.energy_loss = 1e-6;
    assert!(-ledger.numerical > 1e-5 && -ledger.numerical < 1e-3, "{ledger:?}");
    let mut s = over_the_hole(options);
    let report = s.step(0.1).unwrap();
    assert_eq!(report.ledger, ledger);
    assert_eq!(report.solve.newton.step_halvings, 0);
    assert_eq!(s.checkpoint(), whole.checkpoint());
    assert_eq!(s.counters().steps, 1);
}

/// Limits that are no numbers are refused before the step.
#[test]
fn limits_of_energy_that_are_no_numbers_are_refused() {
    for set in [
        (|n| n.energy_loss = f64::NAN) as fn(&mut pliant::integrator::NewtonOptions),
        |n| n.stage_share = f64::NAN,
        |n| n.stage_tolerance = f64::NAN,
        |n| n.stage_halvings = 21,
    ] {
        let mut options = with(Integrator::Sdirk2);
        set(&mut options.tuning.newton);
        let mut s = Simulation::with_options(chain(2), options).unwrap();
        assert!(matches!(s.step(0.01), Err(Error::OutOfRange { .. })));
    }
    for gain in [f64::NAN, 0.0, -1.0] {
        let tolerances = Tolerances {
            gain,
            ..Tolerances::default()
        };
        let mut options = with(Integrator::Sdirk2);
        options.accuracy = Some(Accuracy::Certified(tolerances));
        let mut s = Simulation::with_options(chain(2), options).unwrap();
        assert!(matches!(s.step(0.01), Err(Error::OutOfRange { .. })));
    }
}

/// Wells of a potential at -1 and 1, with the hill `5 x^2` between them (`V = -5 x^2 + 2.5 x^4`).
#[derive(Clone, Debug)]
struct Wells;

impl ForceField for Wells {
    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        x.iter().map(|x| 2.5 * x.powi(4) - 5.0 * x * x).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        for (f, x) in f.iter_mut().zip(x) {
            *f += 10.0 * x - 10.0 * x.powi(3);
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for (e, x) in x.iter().enumerate() {
            out.block_mut(e)[0] = 30.0 * x * x - 10.0;
        }
        Ok(())
    }
}

/// A kilogram on the hill in a step of a second, in which its tangent `1 - 10` has no inertia left:
/// the iteration goes on by a shifted one, to the well, where `x - 0.01 = 10 x - 10 x^3`.
#[test]
fn a_step_whose_tangent_is_indefinite_has_a_solution() {
    let (mut low, mut high) = (0.9f64, 1.0f64);
    for _ in 0..60 {
        let x = 0.5 * (low + high);
        match x - 0.01 < 10.0 * x - 10.0 * x.powi(3) {
            true => low = x,
            false => high = x,
        }
    }
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[0.01], &[0.0])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    model
        .add_force_field("wells", x, Wells, Treatment::Stiffness)
        .unwrap();
    let options = Options {
        accuracy: Some(Accuracy::Measured),
        alpha: 1.0,
        beta: 1.0,
        ..with(Integrator::Nonlinear)
    };
    let mut s = Simulation::with_options(model, options).unwrap();
    let report = s.step(1.0).unwrap();
    assert_eq!(report.status, Status::Converged);
    assert!(report.solve.geometry_clamped);
    assert!(
        (s.state().positions[0] - low).abs() < 1e-9,
        "{:?} {low}",
        s.state()
    );
}
