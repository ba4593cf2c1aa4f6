//! Rows of every kind in nonlinear steps, and methods of the user's own.

use super::models::*;
use pliant::integrator::{Finished, ImplicitMethod, Past, Relation, Start};
use pliant::prelude::*;
use std::sync::Arc;

/// Implicit Euler, by hand.
#[derive(Debug)]
struct Own;

impl ImplicitMethod for Own {
    fn name(&self) -> &'static str {
        "own"
    }
    fn memory(&self) -> usize {
        0
    }
    fn start(&self, _: &Start<'_>, _: &mut [f64]) {}
    fn relate(&self, past: &Past<'_>, relation: &mut Relation) {
        relation.acceleration_gain = 1.0 / past.h;
        relation.displacement_gain = past.h;
        for (a, v) in relation.acceleration.iter_mut().zip(past.velocity) {
            *a = -v / past.h;
        }
        relation.displacement.fill(0.0);
    }
    fn finish(&self, _: &Finished<'_>, _: &mut [f64]) {}
}

#[test]
fn a_method_of_the_users_own() {
    let own = taken(chain(2), with(Integrator::Implicit(Arc::new(Own))), 0.01, 0.2);
    let euler = Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    };
    let euler = taken(chain(2), euler, 0.01, 0.2);
    // Apart from the rounding of differently ordered sums.
    assert!(distance(&own.state().positions, &euler.state().positions) < 1e-9);
}

/// On linear mappings the nonlinear step is the linear one: fixed and moving coordinates, damping,
/// driven springs, hard rows, all weights.
#[test]
fn linear_models_take_the_linear_step() {
    let build = || {
        let mut model = Model::new();
        model.set_gravity([0.0, -G, 0.0]).unwrap();
        let places = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.1, 0.0]];
        let p = model.add_particles("p", &places).unwrap();
        model
            .add_mass("m", p, Mass::PerElement(vec![1.0, 2.0, 0.5]))
            .unwrap();
        model.fix(p, 0, &[true; 3]).unwrap();
        let pairs = [
            (End::element(0, 1), End::element(0, 0)),
            (End::element(0, 2), End::element(0, 1)),
        ];
        let d = model.add_mapped("d", &[p], Difference::new(&pairs)).unwrap();
        let law = UniformCompliance::new(0.01).with_relaxation_time(0.03);
        let spring = model
            .add_force_field("springs", d, law, Treatment::Compliance)
            .unwrap();
        model
            .set_motion(spring, Some(PrescribedMotion::ramp(0.0, 0.3)))
            .unwrap();
        model
            .add_force_field("air", p, Damping::new(0.2), Treatment::Stiffness)
            .unwrap();
        model
            .add_force_field("bed", p, UniformCompliance::new(0.02), Treatment::Stiffness)
            .unwrap();
        model
    };
    for (alpha, beta) in crate::tools::WEIGHTS {
        let run = |integrator: Integrator| {
            let options = Options {
                integrator,
                alpha,
                beta,
                ..Options::default()
            };
            let mut s = Simulation::with_options(build(), options).unwrap();
            let p = s.model().node_named("p").unwrap();
            s.hold(p, 0, &[true; 3], &[0.1, 0.2, 0.0]).unwrap();
            for _ in 0..20 {
                s.step(0.05).unwrap();
            }
            (
                s.state().clone(),
                s.multipliers().to_vec(),
                s.support_force(p, 0).to_vec(),
            )
        };
        let (a, b) = (run(Integrator::Theta), run(Integrator::Nonlinear));
        // Newton's tolerance, twenty times.
        assert!(distance(&a.0.positions, &b.0.positions) < 1e-9, "{alpha} {beta}");
        assert!(distance(&a.1, &b.1) < 1e-7, "{alpha} {beta}");
        assert!(distance(&a.2, &b.2) < 1e-7, "{alpha} {beta}: {:?} {:?}", a.2, b.2);
    }
}

/// Two rods in one place share their force, in every method with hard rows.
#[test]
fn redundant_rows_share_alike() {
    for integrator in [
        Integrator::Nonlinear,
        Integrator::generalised_alpha(0.7),
        Integrator::bdf2(),
        Integrator::Sdirk2,
        Integrator::Rattle,
        Integrator::Rattle4,
    ] {
        let mut model = pendulum();
        let bob = model.node_named("bob").unwrap();
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let second = model.add_mapped("second length", &[bob], length).unwrap();
        model.add_constraint("second", second, Level::Position).unwrap();
        let two = taken(model, with(integrator.clone()), 0.01, 0.3);
        let one = taken(pendulum(), with(integrator), 0.01, 0.3);
        let (a, b) = (two.multipliers(), one.multipliers());
        assert!(
            (a[0] - a[1]).abs() < 1e-8 && (a[0] + a[1] - b[0]).abs() < 1e-7,
            "{a:?} {b:?}"
        );
    }
}

/// A stop at a distance (a rope: it pulls and does not push). The bob falls freely until the rope
/// is taut, and stays within its length.
#[test]
fn ropes_in_the_nonlinear_step() {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[0.5, 0.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rope = model.add_mapped("length", &[bob], length).unwrap();
    let rope = model.add_constraint("rope", rope, Level::Position).unwrap();
    model.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
    let options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    };
    let mut s = Simulation::with_options(model, options).unwrap();
    let (mut free, mut taut) = (0, 0);
    for _ in 0..200 {
        let report = s.step(0.005).unwrap();
        let x = s.positions(bob);
        let (over, pull) = ((x[0] * x[0] + x[1] * x[1]).sqrt() - 1.0, s.multipliers()[0]);
        assert!(over < 1e-9 && pull <= 0.0, "{over} {pull}");
        assert!(report.bounds.natural < 1e-9);
        if pull == 0.0 {
            free += 1;
            // Free fall, to the first order of implicit Euler.
            let t = s.time();
            if taut == 0 {
                assert!((x[1] + 0.5 * G * t * (t + 0.005)).abs() < 1e-12);
            }
        } else {
            taut += 1;
        }
    }
    // 0.866 m of fall take 0.42 s.
    assert!((80..90).contains(&free) && taut > 100, "{free} {taut}");
}

/// Prescribed motion of a hard row: a rod that grows, in every method with hard rows.
#[test]
fn driven_rods() {
    for integrator in [
        Integrator::Nonlinear,
        Integrator::generalised_alpha(0.7),
        Integrator::bdf2(),
        Integrator::Sdirk2,
        Integrator::Rattle,
        Integrator::Rattle4,
    ] {
        let mut s = Simulation::with_options(pendulum(), with(integrator)).unwrap();
        let rod = s.model().component_named("rod").unwrap();
        let grow = PrescribedMotion::function(|t| t * t * 0.5);
        s.set_motion(rod, Some(grow)).unwrap();
        for _ in 0..40 {
            let report = s.step(0.01).unwrap();
            assert!(report.violation < 1e-11);
        }
        let x = s.state().positions[..2].to_vec();
        let length = x[0].hypot(x[1]);
        assert!((length - 1.0 - 0.5 * 0.16).abs() < 1e-11, "{length}");
    }
}

/// A spring of compliance zero is a hard row, also in both halves of RATTLE.
#[test]
fn rattle_takes_a_compliance_of_zero() {
    let end = |hard: bool| {
        let mut model = Model::new();
        model.set_gravity([0.0, -G, 0.0]).unwrap();
        let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
        model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let rod = model.add_mapped("length", &[bob], length).unwrap();
        if hard {
            model.add_constraint("rod", rod, Level::Position).unwrap();
        } else {
            let law = UniformCompliance::new(0.0);
            model
                .add_force_field("rod", rod, law, Treatment::Compliance)
                .unwrap();
        }
        let mut s = Simulation::with_options(model, with(Integrator::Rattle)).unwrap();
        for _ in 0..20 {
            s.step(0.01).unwrap();
        }
        s.state().clone()
    };
    let (soft, hard) = (end(false), end(true));
    for (a, b) in soft.positions.iter().zip(&hard.positions) {
        assert!((a - b).abs() < 1e-12, "{soft:?} {hard:?}");
    }
}
