//! Muscles with an elastic tendon in every method: a weight that hangs from one, on its length.

use pliant::gradient::{GradientError, RestDerivative};
use pliant::model::{ActivationDynamics, MuscleTendon};
use pliant::prelude::*;

const MASS: f64 = 20.0;
const WEIGHT: f64 = 200.0;
const LARGEST: f64 = 1000.0;
const OPTIMAL: f64 = 0.1;
const SLACK: f64 = 0.3;

/// Excitations before and after the start.
const BEFORE: f64 = 0.25;
const AFTER: f64 = 0.6;

fn model() -> Model {
    let mut model = Model::new();
    let node = model
        .add_independent("length", Space::Real(1), &[rest(BEFORE)[0]], &[0.0])
        .unwrap();
    model.add_mass("mass", node, Mass::Uniform(MASS)).unwrap();
    let law = MuscleTendon::thelen(LARGEST, OPTIMAL, SLACK)
        .with_fibre_damping(0.05)
        .with_dynamics(ActivationDynamics::THELEN)
        .with_excitations(&[BEFORE]);
    model
        .add_force_field("calf", node, law, Treatment::Stiffness)
        .unwrap();
    let load = ConstantForce::new(&[WEIGHT]);
    model
        .add_force_field("load", node, load, Treatment::Stiffness)
        .unwrap();
    model
}

fn simulation(options: &Options) -> Simulation {
    let mut s = Simulation::with_options(model(), options.clone()).unwrap();
    let calf = s.model().component_named("calf").unwrap();
    s.set_input(calf, 0, AFTER).unwrap();
    s
}

/// Tension of the tendon at a strain, by the formulas of Thelen.
fn tendon(strain: f64) -> f64 {
    let e3 = 3f64.exp();
    let toe = 0.033 * 99.0 * e3 / (166.0 * e3 - 67.0);
    if strain > toe {
        LARGEST * (0.33 + 0.67 / (0.033 - toe) * (strain - toe))
    } else {
        (LARGEST * 0.33 / (e3 - 1.0) * ((3.0 * strain / toe).exp() - 1.0)).max(0.0)
    }
}

/// Force of the fibre at a length and a velocity.
fn fibre(a: f64, length: f64, velocity: f64) -> f64 {
    let (s, u) = (length / OPTIMAL - 1.0, velocity / (10.0 * OPTIMAL));
    let passive = if s > 0.0 {
        ((5.0 * s / 0.6).exp() - 1.0) / (5f64.exp() - 1.0)
    } else {
        0.0
    };
    let w = u / (0.25 + 0.75 * a);
    let moving = if w <= 0.0 {
        (1.0 + w) / (1.0 - 4.0 * w)
    } else {
        (0.4 + 14.0 * w) / (0.4 + 10.0 * w)
    };
    LARGEST * (a * (-s * s / 0.45).exp() * moving + passive + 0.05 * u)
}

/// The length of the path and of the fibre at rest under the weight.
fn rest(a: f64) -> [f64; 2] {
    let bisect = |f: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64| {
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            *(if f(middle) < WEIGHT { &mut low } else { &mut high }) = middle;
        }
        low
    };
    let strain = bisect(&tendon, 0.0, 0.03);
    // On the ascending limb, where a fibre that is shorter is weaker.
    let length = bisect(&|l| fibre(a, l, 0.0), 0.001, 0.16);
    [SLACK * (1.0 + strain) + length, length]
}

/// Length, its rate, length of the fibre and activation at a time, by Runge and Kutta's method with
/// steps of 50 microseconds.
fn exact(time: f64) -> [f64; 4] {
    let rate = |[l, v, f, a]: [f64; 4]| {
        let tension = tendon((l - f) / SLACK - 1.0);
        let (mut low, mut high) = (-10.0, 10.0);
        for _ in 0..52 {
            let middle = 0.5 * (low + high);
            *(if fibre(a, f, middle) < tension {
                &mut low
            } else {
                &mut high
            }) = middle;
        }
        [
            v,
            (WEIGHT - tension) / MASS,
            low,
            (AFTER - a) / (0.015 * (0.5 + 1.5 * a)),
        ]
    };
    let [l, f] = rest(BEFORE);
    let mut y = [l, 0.0, f, BEFORE];
    let n = (time / 5e-5).round() as usize;
    let h = time / n as f64;
    let along = |y: [f64; 4], k: [f64; 4], s: f64| -> [f64; 4] { std::array::from_fn(|i| y[i] + s * k[i]) };
    for _ in 0..n {
        let a = rate(y);
        let b = rate(along(y, a, 0.5 * h));
        let c = rate(along(y, b, 0.5 * h));
        let d = rate(along(y, c, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    y
}

fn with(integrator: Integrator, weight: f64) -> Options {
    Options {
        integrator,
        alpha: weight,
        beta: weight,
        ..Options::default()
    }
}

fn methods() -> Vec<Options> {
    vec![
        with(Integrator::Theta, 1.0),
        with(Integrator::Theta, 0.5),
        with(Integrator::Nonlinear, 1.0),
        with(Integrator::Nonlinear, 0.5),
        with(Integrator::generalised_alpha(0.8), 1.0),
        with(Integrator::newmark(0.25, 0.5), 1.0),
        with(Integrator::bdf2(), 1.0),
        with(Integrator::Sdirk2, 1.0),
    ]
}

fn state(s: &Simulation) -> [f64; 4] {
    let state = s.state();
    [
        state.positions[0],
        state.velocities[0],
        state.internal[0],
        state.internal[1],
    ]
}

/// Fibre and activation go by the implicit Euler method, whatever the method of the mass: halves of
/// steps leave halves of errors.
#[test]
fn every_method_converges_to_the_motion() {
    let wanted = exact(0.1);
    let [from, _] = rest(BEFORE);
    // It is a motion.
    assert!(from - wanted[0] > 0.005, "{from} {wanted:?}");
    for options in methods() {
        let errors = [200, 400].map(|steps| {
            let mut s = simulation(&options);
            for _ in 0..steps {
                s.step(0.1 / f64::from(steps)).unwrap();
            }
            let found = state(&s);
            let scales = [from - wanted[0], 0.5, from - wanted[0], 1.0];
            (0..4).fold(0.0f64, |e, k| e.max((found[k] - wanted[k]).abs() / scales[k]))
        });
        assert!(errors[0] < 0.02, "{options:?}: {errors:?}");
        assert!(errors[1] < 0.56 * errors[0], "{options:?}: {errors:?}");
    }
}

/// Activation brings energy by inputs, the resistance of the fibre takes it as damping, and what is
/// left is of the order of the method.
#[test]
fn the_ledger_of_a_muscle_closes() {
    for options in [with(Integrator::Sdirk2, 1.0), with(Integrator::Nonlinear, 1.0)] {
        let account = |steps: i32| {
            let mut s = simulation(&options);
            let h = 0.1 / f64::from(steps);
            let start = s.step(h).unwrap().energies.total();
            let (mut end, mut sums) = (start, [0.0; 3]);
            for _ in 1..steps {
                let report = s.step(h).unwrap();
                let l = &report.ledger;
                assert!(l.damping <= 0.0, "{l:?}");
                assert_eq!(l.forces, 0.0);
                end = report.energies.total();
                for (sum, part) in sums.iter_mut().zip([l.inputs, l.damping, l.numerical]) {
                    *sum += part;
                }
            }
            let left = end - start - sums.iter().sum::<f64>();
            assert!(left.abs() < 1e-12, "{left}");
            sums
        };
        let ([inputs, damping, coarse], [.., fine]) = (account(200), account(400));
        // The muscle lifts the weight and moves it, against its own resistance.
        assert!(inputs > 2.0 && damping < -1.0, "{inputs} {damping}");
        let (coarse, fine) = (coarse.abs(), fine.abs());
        assert!(coarse < 0.1 * inputs && fine < 0.56 * coarse, "{coarse} {fine}");
    }
}

#[test]
fn rest_is_that_of_a_bisection() {
    let mut s = simulation(&Options::default());
    s.find_equilibrium(&Equilibrium::default()).unwrap();
    let ([l, f], found) = (rest(AFTER), state(&s));
    assert!(
        (found[0] - l).abs() < 1e-11 && (found[2] - f).abs() < 1e-11,
        "{found:?} {l} {f}"
    );
    assert_eq!(found[3], AFTER);
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    assert!((state(&s)[0] - l).abs() < 1e-11);
}

#[test]
fn checkpoints_have_fibre_and_activation() {
    for options in methods() {
        let mut s = simulation(&options);
        for _ in 0..20 {
            s.step(0.002).unwrap();
        }
        let checkpoint = s.checkpoint();
        let mut other = simulation(&options);
        other.restore(&checkpoint).unwrap();
        for h in [0.002, 0.004, 0.001] {
            assert_eq!(s.step(h).unwrap().ledger, other.step(h).unwrap().ledger);
        }
        assert_eq!(s.state(), other.state());
        let before = s.state().clone();
        s.set_state(&before).unwrap();
        assert_eq!(*s.state(), before);
        for _ in 0..3 {
            s.step(0.001).unwrap();
        }
        let found = allocation_counter::measure(|| {
            s.step(0.001).unwrap();
        });
        assert_eq!(found.count_total, 0, "{options:?}");
    }
}

#[test]
fn what_takes_no_past_names_the_muscle() {
    for integrator in [Integrator::Rattle, Integrator::RungeKutta4] {
        let mut s = simulation(&with(integrator, 1.0));
        let error = s.step(0.01).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        assert!(error.to_string().contains("`calf`"), "{error}");
    }
    let s = simulation(&Options::default());
    match RestDerivative::new(s.problem()) {
        Err(GradientError::NotBuilt { what, .. }) => assert!(what.contains("`calf`"), "{what}"),
        other => panic!("{other:?}"),
    }
}
