//! Linkages, gears and servos.

use super::{advance, edited, reaction, runner};
use pliant::Simulation;
use pliant_run::Runner;

/// Value and rate of a scalar node.
fn scalar(simulation: &Simulation, node: &str) -> (f64, f64) {
    let node = simulation.model().node_named(node).unwrap();
    (simulation.positions(node)[0], simulation.velocities(node)[0])
}

fn value(run: &Runner, node: &str) -> f64 {
    scalar(run.simulation(), node).0
}

/// The period of a pendulum of frequency `w` at small amplitude, let go at `angle`:
/// arithmetic-geometric mean.
fn period(w: f64, angle: f64) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * angle).cos());
    for _ in 0..10 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    std::f64::consts::TAU / (w * a)
}

/// The arms swing as a pendulum of theirs and the coupler's inertia; the coupler stays level; rows
/// are redundant.
#[test]
fn four_bar_swings_with_the_period_of_its_pendulum() {
    let mut run = runner(&edited("four_bar", &[]), &[], Some(0.002));
    // Two rods of 1 kg and 1 m about their ends, 2 kg that move by 1 m; inertia of a box of width
    // 0.06 about its centre.
    let inertia = 2.0 * ((1.0 + 0.06f64.powi(2)) / 12.0 + 0.25) + 2.0;
    let torque = 9.81 * (2.0 * 0.5 + 2.0 * 1.0);
    let expected = period((torque / inertia).sqrt(), 0.5);
    let (mut last, mut crossings, mut redundant) = (0.0, Vec::new(), 0);
    while crossings.len() < 3 {
        let report = run.step().unwrap();
        redundant = redundant.max(report.solve.redundant_rows);
        assert!(report.violation < 1e-9);
        let angle = value(&run, "left.angle") + 0.5;
        if last * angle < 0.0 {
            crossings.push(report.time - 0.002 * angle / (angle - last));
        }
        last = angle;
        assert!((value(&run, "left.angle") - value(&run, "right.angle")).abs() < 1e-9);
    }
    let found = crossings[2] - crossings[0];
    println!("{found} {expected} redundant {redundant}");
    assert!((found - expected).abs() < 1e-4 * expected, "{found} {expected}");
    assert!(redundant >= 3);
    let coupler = run.simulation().model().node_named("coupler").unwrap();
    let rotation = run.simulation().pose(coupler, 0).unwrap().rotation;
    assert!(rotation[3].abs() < 1e-9, "{rotation:?}");
}

/// The piston is where the triangle of crank and rod puts it, the angle is the integral of the
/// motor's speed: to second order.
#[test]
fn slider_crank_follows_its_triangle() {
    let errors = |h: f64| {
        let mut run = runner(&edited("slider_crank", &[]), &[], Some(h));
        let mut gap = 0.0f64;
        while !run.is_done() {
            run.step().unwrap();
            let (angle, travel) = (value(&run, "shaft.angle"), value(&run, "cylinder.travel"));
            let expected = 0.2 * angle.cos() + (0.36 - (0.2 * angle.sin()).powi(2)).sqrt() - 0.8;
            gap = gap.max((travel - expected).abs());
        }
        let t = run.simulation().time();
        let (angle, rate) = scalar(run.simulation(), "shaft.angle");
        assert!((rate - 10.0 * (2.0 * t).tanh()).abs() < 1e-9, "{rate}");
        let expected = 10.0 * (2.0 * t).cosh().ln() / 2.0;
        println!("{h}: {angle} {expected} {gap}");
        [(angle - expected).abs(), gap]
    };
    let (coarse, fine) = (errors(0.002), errors(0.001));
    // The quadrature of a given rate at the times of the stages, of order 2. The triangle is held
    // by the projection of every step, to rounding of its coordinates.
    assert!(
        coarse[0] < 3e-4 && fine[0] < 0.3 * coarse[0] && coarse[1].max(fine[1]) < 1e-12,
        "{coarse:?} {fine:?}"
    );
}

/// Moves though rows are as many as coordinates, holds together for ten seconds, and gains no
/// energy.
#[test]
fn bricard_moves_and_holds_together() {
    let mut run = runner(&edited("bricard", &[]), &[], None);
    let bars = run.simulation().model().node_named("bars").unwrap();
    let start = run.simulation().pose(bars, 2).unwrap().position;
    let energies = |run: &Runner| {
        run.simulation()
            .problem()
            .energies(run.simulation().state())
            .total()
    };
    let (mut energy, mut moved, mut redundant) = (energies(&run), 0.0f64, 0);
    let (first, mut fastest) = (energy, 0.0f64);
    while !run.is_done() {
        let report = run.step().unwrap();
        assert!(report.violation < 1e-8, "{}", report.violation);
        redundant = redundant.max(report.solve.redundant_rows);
        let now = run.simulation().pose(bars, 2).unwrap().position;
        let distance = (0..3).map(|k| (now[k] - start[k]).powi(2)).sum::<f64>().sqrt();
        moved = moved.max(distance);
        energy = energies(&run);
        fastest = fastest.max(report.energies.kinetic);
        assert!(energy < first + 1e-3, "{energy} {first}");
    }
    println!("moved {moved} redundant {redundant} energy {first} {energy} fastest {fastest}");
    assert!(moved > 0.3 && redundant >= 1);
}

/// The angles are in the exact ratio after many turns, and the motor's torque is the brake's over
/// the ratio.
#[test]
fn gear_train_keeps_its_ratio() {
    let mut run = runner(&edited("gear_train", &[]), &[], None);
    while !run.is_done() {
        run.step().unwrap();
        let ((a, wa), (b, wb)) = (
            scalar(run.simulation(), "shaft.angle"),
            scalar(run.simulation(), "output.angle"),
        );
        assert!(
            (a + 2.5 * b).abs() < 1e-10 && (wa + 2.5 * wb).abs() < 1e-9,
            "{a} {b} {wa} {wb}"
        );
    }
    // 60 rad/s but for the first second.
    assert!((value(&run, "shaft.angle") - 270.0).abs() < 0.2);
    let torque = reaction(&run, "shaft.motor 0")[0];
    let expected = 0.5 * (60.0 / 2.5) / 2.5;
    assert!((torque - expected).abs() < 1e-6 * expected, "{torque} {expected}");
}

/// At rest the servo's compliance, with the friction in whatever direction it was left, balances
/// the weight.
#[test]
fn servo_arm_balances_its_weight() {
    let mut run = runner(&edited("servo_arm", &[]), &[], None);
    let mut largest = 0.0f64;
    while !run.is_done() {
        run.step().unwrap();
        for motor in ["shoulder.motor 0", "elbow.motor 0"] {
            largest = largest.max(reaction(&run, motor)[0].abs());
        }
    }
    let (s, e) = (value(&run, "shoulder.angle"), value(&run, "elbow.angle"));
    let (lower, upper) = (
        1.0 * 9.81 * 0.25 * (s + e).sin(),
        2.0 * 9.81 * 0.25 * s.sin() + 1.0 * 9.81 * 0.5 * s.sin(),
    );
    let torque = |name: &str| reaction(&run, &format!("{name}.motor 0"))[0];
    let friction = |name: &str| reaction(&run, &format!("{name}.friction 1"))[0];
    println!(
        "{s} {e} {} {} {} {} {largest}",
        torque("shoulder"),
        torque("elbow"),
        friction("shoulder"),
        friction("elbow")
    );
    let balance = torque("shoulder") + friction("shoulder") - upper - lower;
    assert!(balance.abs() < 1e-3, "{balance}");
    let balance = torque("elbow") + friction("elbow") - lower;
    assert!(balance.abs() < 1e-3, "{balance}");
    assert!((torque("shoulder") - (1.2 - s) / 0.001).abs() < 1e-2);
    assert!(friction("shoulder").abs() <= 0.5 + 1e-9 && friction("elbow").abs() <= 0.5 + 1e-9);
    assert!(largest <= 40.0 + 1e-9);
    let (_, rate) = scalar(run.simulation(), "shoulder.angle");
    assert!(rate.abs() < 1e-5, "{rate}");
}

/// With a bound below what the weight takes, the arm does not get there.
#[test]
fn a_weak_servo_gives_its_largest_torque() {
    let mut run = runner(&edited("servo_arm", &[]), &[("torque", 4.0)], None);
    advance(&mut run, 300);
    assert!(value(&run, "shoulder.angle") < 0.8);
    assert!((reaction(&run, "shoulder.motor 0")[0] - 4.0).abs() < 1e-9);
}
