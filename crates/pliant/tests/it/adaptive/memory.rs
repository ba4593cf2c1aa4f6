//! Checkpoints, determinism, allocation; forces over a change of the step.

use super::*;
use crate::integrators::models::{chain, elastic_pendulum, with};

fn stabilised(mut options: Options) -> Options {
    let linear = options.integrator == Integrator::Theta;
    options.post_stabilisation = linear.then(Stabilisation::default);
    options
}

fn cases() -> Vec<(&'static str, Simulation)> {
    let make = |model, options| Simulation::with_options(model, options).unwrap();
    let spring = || elastic_pendulum(Treatment::Compliance, 0.1);
    vec![
        ("linear", make(chain(3), stabilised(Options::theta()))),
        (
            "nonlinear",
            make(
                chain(3),
                Options {
                    integrator: Integrator::Nonlinear,
                    ..Options::theta()
                },
            ),
        ),
        (
            "generalised-alpha",
            make(chain(3), with(Integrator::generalised_alpha(0.7))),
        ),
        ("BDF2", make(chain(3), with(Integrator::bdf2()))),
        ("BDF3", make(chain(3), with(Integrator::bdf3()))),
        ("RATTLE", make(chain(3), with(Integrator::Rattle))),
        ("RATTLE of order 4", make(chain(3), with(Integrator::Rattle4))),
        (
            "symplectic Euler",
            make(spring(), with(Integrator::SymplecticEuler)),
        ),
        ("Heun", make(spring(), with(Integrator::RungeKutta2))),
        ("Runge-Kutta", make(spring(), with(Integrator::RungeKutta4))),
        ("rope", make(on_a_rope(), Options::default())),
        ("ball", ball(0.8)),
        ("sleeper", sleeper()),
    ]
}

/// A mass that swings on a rope.
fn on_a_rope() -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G]).unwrap();
    let p = model.add_particles("p", &[[0.6, 0.0, -0.8]]).unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let rope = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let length = model.add_mapped("length", &[p], rope).unwrap();
    let row = model.add_constraint("rope", length, Level::Position).unwrap();
    model.set_bounds(row, f64::NEG_INFINITY, 0.0).unwrap();
    model
}

/// A ball that falls asleep soon after it has met the ground.
fn sleeper() -> Simulation {
    let mut s = ball(0.0);
    let limits = pliant::contact::Sleeping {
        time: 0.01,
        ..Default::default()
    };
    s.options.contacts.sleeping = Some(limits);
    s
}

fn how() -> Adaptive {
    Adaptive {
        position: 1e-2,
        velocity: 1e-1,
        relative: 1e-2,
        events: Some(Events::default()),
        ..Adaptive::default()
    }
}

#[test]
fn a_restored_run_goes_on_bit_for_bit() {
    for ((name, mut s), (_, mut other)) in cases().into_iter().zip(cases()) {
        let how = how();
        for _ in 0..25 {
            s.step_adaptively(&how, f64::INFINITY).unwrap();
        }
        other.step_adaptively(&how, f64::INFINITY).unwrap();
        other.restore(&s.checkpoint()).unwrap();
        for _ in 0..25 {
            let (a, b) = (
                s.step_adaptively(&how, f64::INFINITY).unwrap(),
                other.step_adaptively(&how, f64::INFINITY).unwrap(),
            );
            assert_eq!((a.step.h, a.error), (b.step.h, b.error), "{name}");
            assert_eq!((a.step.energies, a.event), (b.step.energies, b.event), "{name}");
        }
        let (mut a, mut b) = (s.checkpoint(), other.checkpoint());
        if name == "sleeper" {
            // What solvers have planned for the contacts of what sleeps is not asked for again.
            (a.contacts, b.contacts) = (None, None);
        }
        assert_eq!(a, b, "{name}");
    }
}

#[test]
fn two_runs_are_one() {
    for ((name, mut s), (_, mut other)) in cases().into_iter().zip(cases()) {
        other.options.tuning.solver.threads = 2;
        s.advance_to(&how(), 0.05).unwrap();
        other.advance_to(&how(), 0.05).unwrap();
        assert_eq!(s.checkpoint(), other.checkpoint(), "{name}");
    }
}

/// Bounces within steps, with trials that correct overlap.
#[test]
fn without_events_a_run_goes_on_bit_for_bit_too() {
    let how = Adaptive {
        position_kink: 0.1,
        relative: 0.1,
        events: None,
        ..how()
    };
    for options in [Options::trapezoidal(), Options::default()] {
        let make = || {
            let mut s = ball(0.8);
            s.options = options.clone();
            s
        };
        let (mut s, mut other) = (make(), make());
        let mut jumps = 0;
        while s.time() < 0.7 {
            let report = s.step_adaptively(&how, f64::INFINITY).unwrap();
            jumps += usize::from(report.jump.is_some());
            other.restore(&s.checkpoint()).unwrap();
            let mut next = make();
            next.restore(&s.checkpoint()).unwrap();
            for x in [&mut next, &mut other] {
                x.step_adaptively(&how, f64::INFINITY).unwrap();
            }
            assert_eq!(next.checkpoint(), other.checkpoint(), "{}", s.time());
        }
        assert!(jumps > 0);
    }
}

/// Bodies that fell asleep in a trial are awake again at its start.
#[test]
fn sleep_goes_with_steps_that_choose_their_length() {
    let mut s = sleeper();
    let report = loop {
        let report = s.step_adaptively(&how(), f64::INFINITY).unwrap();
        if report.step.contacts.sleep.asleep > 0 {
            break report;
        }
    };
    // It lands at 0.4515 s.
    assert!((0.4615..0.8).contains(&s.time()), "{}", s.time());
    assert_eq!(report.step.contacts.sleep.asleep, 1);
    let before = s.state().clone();
    s.advance_to(&how(), s.time() + 1.0).unwrap();
    assert_eq!(s.state().positions, before.positions);
}

/// Rejected trials too: the tolerance becomes sharper, so that the first one is.
#[test]
fn warm_steps_allocate_nothing() {
    for (name, mut s) in cases()
        .into_iter()
        .filter(|case| !["ball", "sleeper"].contains(&case.0))
    {
        // Steps of BDF3 grow by an eighth at most: they come to their length later.
        let warm = if name == "BDF3" { 100 } else { 40 };
        for _ in 0..warm {
            s.step_adaptively(&how(), f64::INFINITY).unwrap();
        }
        let symbolic = s.counters().solver.symbolic;
        let sharp = Adaptive {
            position: 2e-3,
            velocity: 2e-2,
            relative: 2e-3,
            ..how()
        };
        let mut rejected = 0;
        let found = allocation_counter::measure(|| {
            for _ in 0..5 {
                let taken = s.step_adaptively(&sharp, f64::INFINITY);
                rejected += taken.unwrap_or_else(|e| panic!("{name}: {e}")).rejected;
            }
        });
        assert_eq!(found.count_total, 0, "{name}");
        assert_eq!(s.counters().solver.symbolic, symbolic, "{name}");
        assert!(rejected > 0, "{name}");
    }
}

/// A load that hangs on a rod: its force is the weight after every change of the step, for
/// multipliers are forces. What is left is the rounding of the length over the square of the step.
#[test]
fn a_change_of_the_step_is_no_jump_of_forces() {
    let mut integrators = vec![Options::theta(), Options::trapezoidal()];
    for integrator in [
        Integrator::Nonlinear,
        Integrator::generalised_alpha(0.7),
        Integrator::newmark(0.3025, 0.6),
        Integrator::bdf2(),
        Integrator::bdf3(),
        Integrator::Rattle,
        Integrator::Rattle4,
    ] {
        integrators.push(with(integrator));
    }
    for options in integrators {
        for compliance in [None, Some(1e-4)] {
            let mut model = Model::new();
            model.set_gravity([0.0, -G, 0.0]).unwrap();
            let sag = compliance.unwrap_or(0.0) * 3.0 * G;
            let p = model.add_particles("p", &[[0.0, -1.0 - sag, 0.0]]).unwrap();
            model.add_mass("m", p, Mass::Uniform(3.0)).unwrap();
            let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
            let rod = model.add_mapped("rod", &[p], rod).unwrap();
            match compliance {
                None => {
                    model.add_constraint("rod", rod, Level::Position).unwrap();
                }
                Some(c) => {
                    let law = UniformCompliance::new(c);
                    model
                        .add_force_field("rod", rod, law, Treatment::Compliance)
                        .unwrap();
                }
            }
            let mut s = Simulation::with_options(model, stabilised(options.clone())).unwrap();
            for h in [1e-2, 1e-3, 2e-2, 5e-3, 1e-1, 1e-3, 1e-3, 3e-2] {
                s.step(h).unwrap();
                let force = s.multipliers()[0];
                let name = options.integrator.name();
                assert!(
                    (force + 3.0 * G).abs() < 1e-8,
                    "{name}, {compliance:?}, {h}: {force}"
                );
            }
            // And of steps that choose it, which here only ever grow.
            let how = Adaptive {
                first: 1e-3,
                ..Adaptive::default()
            };
            let mut last = 0.0;
            for _ in 0..8 {
                let report = s.step_adaptively(&how, f64::INFINITY).unwrap();
                assert!(report.step.h >= last && report.rejected == 0, "{report:?}");
                last = report.step.h;
                assert!((s.multipliers()[0] + 3.0 * G).abs() < 1e-8);
            }
            // Methods of high order grow by a small root of what rounding leaves as an error, BDF3 by
            // an eighth per step.
            let least = match &options.integrator {
                Integrator::Implicit(method) if method.largest_growth().is_finite() => {
                    0.999 * how.first * 1.125f64.powi(7)
                }
                _ => 0.05,
            };
            assert!(last > least, "{last}");
        }
    }
}

/// Steps that alternate by a factor of two keep the order of generalised-alpha; where they change
/// slowly, so do its forces. (An abrupt change leaves an error of first order in the forces of hard
/// rows for the next few steps, which is not part of the motion.)
#[test]
fn generalised_alpha_keeps_its_order_where_steps_vary() {
    use crate::integrators::models::{PENDULUM_AT_1, distance, pendulum};
    let run = |radius: f64, steps: &dyn Fn(f64) -> f64| {
        let options = with(Integrator::generalised_alpha(radius));
        let mut s = Simulation::with_options(pendulum(), options).unwrap();
        while s.time() < 1.0 {
            let h = steps(s.time());
            let left = 1.0 - s.time();
            s.step(if left < 1.5 * h { left } else { h }).unwrap();
            if left < 1.5 * h {
                break;
            }
        }
        let force = s.multipliers()[0] - 3.0 * G * PENDULUM_AT_1[1];
        [distance(&s.state().positions[..2], &PENDULUM_AT_1), force.abs()]
    };
    let order = |a: f64, b: f64| crate::tools::order([a, b]);
    for radius in [0.0, 0.5, 0.8] {
        let alternating = [1.0 / 300.0, 1.0 / 600.0].map(|h: f64| {
            let odd = |t: f64| {
                if ((t / h).round() as usize).is_multiple_of(3) {
                    h
                } else {
                    2.0 * h
                }
            };
            run(radius, &odd)[0]
        });
        let found = order(alternating[0], alternating[1]);
        // Third-order terms are a tenth of the error at these steps.
        assert!(found > 1.8, "{radius}: {alternating:?}");
        let smooth = [0.005, 0.0025].map(|h: f64| run(radius, &|t| h * (1.0 + 0.5 * (6.0 * t).sin())));
        println!("{radius}: {alternating:?}, {smooth:?}");
        let found = order(smooth[0][1], smooth[1][1]);
        assert!((found - 2.0).abs() < 0.4, "{radius}: {smooth:?}");
    }
}
