//! The error at the end falls with the tolerance; steps are as long as it allows.

use super::*;
use crate::integrators::models::*;

/// Errors per time alone.
fn sharp(tolerance: f64) -> Adaptive {
    Adaptive {
        position: tolerance,
        velocity: 10.0 * tolerance,
        relative: 0.0,
        position_kink: 0.0,
        velocity_kink: 0.0,
        first: 1e-4,
        ..Adaptive::default()
    }
}

/// The integrators that take hard rows well, and the sharpest of three tolerances, each ten times
/// the next.
fn with_rows() -> Vec<(Options, f64)> {
    let euler = |integrator| Options {
        integrator,
        ..Options::theta()
    };
    vec![
        (Options::default(), 1e-6),
        (Options::theta(), 3e-4),
        (Options::trapezoidal(), 1e-6),
        (euler(Integrator::Nonlinear), 3e-4),
        (with(Integrator::Nonlinear), 1e-6),
        (with(Integrator::generalised_alpha(0.8)), 1e-6),
        (with(Integrator::generalised_alpha(0.0)), 1e-6),
        (with(Integrator::bdf2()), 1e-6),
        (with(Integrator::bdf3()), 1e-7),
        (with(Integrator::Rattle), 1e-6),
        (with(Integrator::Rattle4), 1e-8),
        (with(Integrator::Rattle6), 1e-9),
    ]
}

/// With those for smooth motion.
fn all() -> Vec<(Options, f64)> {
    let mut list = with_rows();
    list.extend([
        (with(Integrator::newmark(0.25, 0.5)), 1e-6),
        (with(Integrator::newmark(0.36, 0.7)), 3e-4),
        (with(Integrator::SymplecticEuler), 1e-4),
        (with(Integrator::RungeKutta2), 1e-6),
        (with(Integrator::RungeKutta4), 1e-9),
    ]);
    list
}

/// Errors at three tolerances, each a tenth of the one before. In proportion: the logarithm of the
/// errors falls by 2 decades over 2. A fifth of a decade each is what safety, growth and whole
/// numbers of steps leave of the constant.
fn check(name: &str, sharpest: f64, bound: f64, error: impl Fn(Adaptive) -> f64) {
    let tolerances = [100.0 * sharpest, 10.0 * sharpest, sharpest];
    let errors = tolerances.map(|t| error(sharp(t)));
    println!("{name}: {errors:?} at {tolerances:?}");
    let decades = (errors[0] / errors[2]).log10();
    assert!(
        (decades - 2.0).abs() < 0.4,
        "{name}: {errors:?}, {decades} decades"
    );
    for (error, tolerance) in errors.iter().zip(tolerances) {
        assert!(*error < bound * tolerance, "{name}: {errors:?} at {tolerance:e}");
    }
}

/// Case A01. Errors of positions add up to a second of tolerance and those of velocities to ten
/// times that, here hardly damped: ten times the tolerance bounds their sum as what is kept has a
/// share of the estimate only.
#[test]
fn the_error_of_the_oscillator_is_in_proportion_to_the_tolerance() {
    for (options, sharpest) in all() {
        let name = format!(
            "{} ({}, {})",
            options.integrator.name(),
            options.alpha,
            options.beta
        );
        check(&name, sharpest, 10.0, |how| {
            let mut s = Simulation::with_options(oscillator(), options.clone()).unwrap();
            let summary = s.advance_to(&how, 1.0).unwrap();
            assert!(s.time() == 1.0 && !summary.at_rest);
            let state = s.state();
            distance(&[state.positions[0], state.velocities[0]], &oscillator_at(1.0))
        });
    }
}

/// Case B01, with a hard rod. (Newmark's method wants more damping there than it has.) An error of
/// the angle of speed `v` grows to at most about `1 + t v` times of it in the second.
#[test]
fn the_error_of_the_pendulum_is_in_proportion_to_the_tolerance() {
    for (options, sharpest) in with_rows() {
        let name = format!(
            "{} ({}, {})",
            options.integrator.name(),
            options.alpha,
            options.beta
        );
        // Hard rows make the theta method one of order one, whatever its weights. The velocity
        // across the rod is not of the order of the method in every step, as that along the way is:
        // it is that of a chord, or rings where steps change.
        let linear = options.integrator == Integrator::Theta;
        let sharpest = if linear { 3e-4 } else { sharpest };
        let velocity_kink = 1.0;
        let mut options = options;
        options.post_stabilisation = linear.then(Stabilisation::default);
        check(&name, sharpest, 20.0, |how| {
            let mut s = Simulation::with_options(pendulum(), options.clone()).unwrap();
            let how = Adaptive { velocity_kink, ..how };
            let taken = s.advance_to(&how, 1.0);
            taken.unwrap_or_else(|e| panic!("{name}: {e}"));
            distance(&s.state().positions[..2], &PENDULUM_AT_1)
        });
    }
}

/// The turn of a body is a rotation vector: the free top (case C01).
#[test]
fn the_error_of_the_top_is_in_proportion_to_the_tolerance() {
    for (integrator, sharpest) in [(Integrator::Nonlinear, 1e-6), (Integrator::RungeKutta4, 1e-9)] {
        check(integrator.name(), sharpest, 20.0, |how| {
            let mut s = Simulation::with_options(top(), with(integrator.clone())).unwrap();
            s.advance_to(&how, 1.0).unwrap();
            distance(&s.state().velocities[3..6], &SPIN_AT_1)
        });
    }
}

/// `x'' = -(r + s) x' - r s x` with r = 1e4/s and s = 1/s, from rest to rest: first a fast
/// relaxation of the velocity, then slow motion. Steps grow from the one to the other.
#[test]
fn steps_grow_by_orders_of_magnitude_after_a_transient() {
    let (fast, slow) = (1e4, 1.0);
    let exact = |t: f64| {
        // x = a exp(-fast t) + b exp(-slow t)
        let a = -(50.0 + slow) / (fast - slow);
        a * (-fast * t).exp() + (1.0 - a) * (-slow * t).exp()
    };
    for integrator in [Integrator::Theta, Integrator::bdf2()] {
        let options = Options {
            integrator,
            ..Options::theta()
        };
        let mut s = Simulation::with_options(relaxing(fast, slow), options).unwrap();
        let how = Adaptive {
            velocity: 1e-2,
            position_kink: 1e-4,
            velocity_kink: 1.0,
            first: 1e-6,
            smallest: 1e-10,
            ..sharp(1e-3)
        };
        let summary = s.advance_to(&how, 2.0).unwrap();
        let error = (s.state().positions[0] - exact(2.0)).abs();
        println!("{summary:?}, error {error}");
        // Two seconds of tolerance.
        assert!(error < 2e-3, "{error}");
        assert!(summary.largest > 300.0 * summary.smallest, "{summary:?}");
        assert!(summary.steps < 3000, "{summary:?}");
    }
}

fn relaxing(fast: f64, slow: f64) -> Model {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[1.0], &[50.0])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    let law = UniformCompliance::new(1.0 / (fast * slow)).with_relaxation_time((fast + slow) / (fast * slow));
    model.add_force_field("k", x, law, Treatment::Stiffness).unwrap();
    model
}

/// A smallest step that is too large is an error that names the coordinate, and nothing has
/// happened.
#[test]
fn a_tolerance_out_of_reach_is_an_error() {
    let mut s = Simulation::with_options(pendulum(), with(Integrator::Nonlinear)).unwrap();
    let error = crate::tools::theta(pendulum())
        .unwrap()
        .step_adaptively(&Adaptive::default(), 1.0);
    let needs = "need `post_stabilisation` (or `pre_stabilisation`) to hold `rod`, element 0";
    assert!(error.unwrap_err().to_string().contains(needs));
    s.step(0.01).unwrap();
    let before = s.checkpoint();
    let how = Adaptive {
        smallest: 1e-2,
        first: 1e-2,
        ..sharp(1e-6)
    };
    let error = s.step_adaptively(&how, 1.0).unwrap_err();
    let Error::StepTooSmall {
        ref what,
        time,
        step,
        error: missed,
        allowed,
    } = error
    else {
        panic!("{error}");
    };
    assert!(what.starts_with("`bob`, element 0"), "{what}");
    assert!(time == 0.01 && step == 0.01 && missed > allowed, "{error}");
    assert_eq!(s.checkpoint(), before);
}

/// A step that its equations do not allow (a body that turns too far for the linearly implicit
/// gyroscopic torque) is tried again, shorter.
#[test]
fn a_step_that_cannot_be_solved_is_shortened() {
    let mut model = Model::new();
    let body = model.add_rigid_bodies("top", &[Pose::default()]).unwrap();
    model
        .set_body_velocity(body, 0, [0.0; 3], [60.0, 1.0, 50.0])
        .unwrap();
    let inertia = RigidMass::principal(1.0, [1.0, 2.0, 3.0]);
    model.add_mass("m", body, Mass::Rigid(vec![inertia])).unwrap();
    let options = Options {
        gyroscopic: Gyroscopic::LinearlyImplicit,
        ..Options::theta()
    };
    let mut s = Simulation::with_options(model, options).unwrap();
    s.options.contacts.halvings = 0;
    assert!(s.step(0.1).is_err());
    let how = Adaptive {
        first: 0.1,
        relative: 1.0,
        ..Adaptive::default()
    };
    let report = s.step_adaptively(&how, 1.0).unwrap();
    assert!(report.failed > 0 && report.step.h < 0.1, "{report:?}");
    assert!(report.error <= 1.0);
    // Where even the smallest step cannot be solved, the error is why.
    let hopeless = Adaptive { smallest: 0.1, ..how };
    let error = s.step_adaptively(&hopeless, 1.0).unwrap_err();
    assert!(matches!(error, Error::Gyroscopic { .. }), "{error}");
}

/// Nonsense is refused by name.
#[test]
fn numbers_that_make_no_sense() {
    let good = Adaptive::default();
    let cases = [
        (
            Adaptive {
                position: 0.0,
                ..good
            },
            "tolerance of positions",
        ),
        (
            Adaptive {
                velocity: f64::NAN,
                ..good
            },
            "tolerance of velocities",
        ),
        (
            Adaptive {
                relative: -1.0,
                ..good
            },
            "relative tolerance",
        ),
        (
            Adaptive {
                position_kink: -1.0,
                ..good
            },
            "kink of positions",
        ),
        (
            Adaptive {
                velocity_kink: f64::NAN,
                ..good
            },
            "kink of velocities",
        ),
        (
            Adaptive {
                jump_kink: -1.0,
                ..good
            },
            "kink of jumps",
        ),
        (
            Adaptive {
                smallest: 0.0,
                ..good
            },
            "smallest step",
        ),
        (
            Adaptive {
                largest: 1e-9,
                ..good
            },
            "largest step",
        ),
        (Adaptive { first: 1.0, ..good }, "first step"),
        (Adaptive { safety: 1.0, ..good }, "safety"),
        (Adaptive { growth: 1.0, ..good }, "growth"),
        (Adaptive { shrink: 0.0, ..good }, "shrinking"),
        (
            Adaptive {
                events: Some(Events {
                    tolerance: 0.0,
                    most: 1,
                }),
                ..good
            },
            "tolerance of events",
        ),
        (
            Adaptive {
                events: Some(Events {
                    tolerance: 1e-9,
                    most: 0,
                }),
                ..good
            },
            "number of events",
        ),
    ];
    let mut s = crate::tools::theta(oscillator()).unwrap();
    for (how, words) in cases {
        let error = s.step_adaptively(&how, 1.0).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    for end in [0.0, -1.0, f64::NAN] {
        let error = s.step_adaptively(&good, end).unwrap_err().to_string();
        assert!(error.contains("the end of an adaptive step"), "{error}");
    }
    assert_eq!(s.time(), 0.0);
}
