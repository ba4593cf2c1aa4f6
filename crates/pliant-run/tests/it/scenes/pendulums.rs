//! Pendulums.

use super::{advance, edited, points, runner};

/// Reference: the angle of the pendulum, integrated apart.
#[test]
fn pendulum_is_the_mathematical_one() {
    let (angle, _) = swing(std::f64::consts::FRAC_PI_2, 9.81, 1.0);
    let error = |h: f64| {
        let mut run = runner(&edited("pendulum", &[]), &[], Some(h));
        advance(&mut run, (1.0 / h).round() as usize);
        let [x, y, _] = points(&run, "bob")[0];
        (x - angle.sin()).hypot(y + angle.cos())
    };
    let (coarse, fine) = (error(0.01), error(0.005));
    assert!(coarse < 1e-3, "{coarse}");
    assert!(
        (3.3..4.7).contains(&(coarse / fine)),
        "second order: {coarse} {fine}"
    );
}

/// Angle and its rate of a pendulum of `g/l` let go from an angle at rest, after `t` seconds, by
/// the classical Runge-Kutta method in 20,000 steps (error below 1e-12).
fn swing(from: f64, ratio: f64, t: f64) -> (f64, f64) {
    let (n, rate) = (20_000, |angle: f64| -ratio * angle.sin());
    let h = t / f64::from(n);
    let (mut x, mut v) = (from, 0.0);
    for _ in 0..n {
        let (k1, l1) = (v, rate(x));
        let (k2, l2) = (v + 0.5 * h * l1, rate(x + 0.5 * h * k1));
        let (k3, l3) = (v + 0.5 * h * l2, rate(x + 0.5 * h * k2));
        let (k4, l4) = (v + h * l3, rate(x + h * k3));
        x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        v += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    (x, v)
}

/// Reference: implicit Euler with linearised position rows and no geometric stiffness, written down
/// by hand in Python.
#[test]
fn pendulum_by_the_theta_method_is_the_textbook_step() {
    let edit = (
        "integrator: Sdirk2",
        "integrator: Theta, geometric_stiffness: None",
    );
    let mut run = runner(&edited("pendulum", &[edit]), &[], None);
    advance(&mut run, 100);
    let bob = run.simulation().model().node_named("bob").unwrap();
    let [x, y, _] = points(&run, "bob")[0];
    let v = run.simulation().velocities(bob);
    let reference = [
        -0.9877469220527261,
        -0.15710351718166082,
        -0.2977036102869865,
        1.7795140190149044,
    ];
    for (found, expected) in [x, y, v[0], v[1]].into_iter().zip(reference) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

/// Reference: the equations of motion in angles, integrated to 1e-12 with another program.
#[test]
fn double_pendulum_converges_to_the_ordinary_differential_equation() {
    let reference = [
        [0.4269840898647, -0.9042591370854],
        [1.007279309441, -1.295740245361],
    ];
    let error = |h: f64| {
        let mut run = runner(&edited("double_pendulum", &[]), &[], Some(h));
        advance(&mut run, (0.5 / h).round() as usize);
        let found = points(&run, "bobs");
        let differences = found
            .iter()
            .zip(&reference)
            .flat_map(|(x, r)| [x[0] - r[0], x[1] - r[1]]);
        differences.fold(0.0f64, |m, d| m.max(d.abs()))
    };
    let (coarse, fine) = (error(0.004), error(0.002));
    assert!(coarse < 5e-4, "{coarse}");
    assert!(
        (3.2..4.8).contains(&(coarse / fine)),
        "second order: {coarse} {fine}"
    );
}

/// The same scene by every integrator that takes hard rows, with the error of order 2 at a step of
/// 0.01 s where it has one.
#[test]
fn the_double_pendulum_by_every_integrator() {
    let reference = [
        [0.4269840898647, -0.9042591370854],
        [1.007279309441, -1.295740245361],
    ];
    let before = "step: 0.004";
    for (words, bound) in [
        ("integrator: Theta,", 0.03),
        ("integrator: Nonlinear, alpha: 0.5, beta: 0.5,", 1e-3),
        (
            "integrator: GeneralisedAlpha(radius: 0.9), newton_tolerance: 1e-10,",
            1e-3,
        ),
        ("integrator: GeneralisedAlpha(), newton_halvings: 2,", 1e-3),
        (
            "integrator: Newmark(velocity: 0.6, position: 0.3025), newton_iterations: 20,",
            0.03,
        ),
        ("integrator: Bdf2,", 5e-3),
        ("integrator: Sdirk2,", 3e-3),
        ("integrator: EnergyMomentum,", 3e-3),
        ("integrator: Rattle,", 1e-3),
        ("integrator: Rattle4,", 1e-5),
        ("integrator: Rattle6,", 1e-6),
    ] {
        let text = edited("double_pendulum", &[(before, &format!("{before}, {words}"))]);
        let mut run = runner(&text, &[], Some(0.01));
        advance(&mut run, 50);
        let found = points(&run, "bobs");
        let differences = found
            .iter()
            .zip(&reference)
            .flat_map(|(x, r)| [x[0] - r[0], x[1] - r[1]]);
        let error = differences.fold(0.0f64, |m, d| m.max(d.abs()));
        assert!(error < bound, "{words} {error}");
    }
}
