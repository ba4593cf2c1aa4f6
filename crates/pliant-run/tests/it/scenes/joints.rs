//! Linkages, gears and servos.

use super::{advance, edited, reaction, runner, scalar};
use pliant_run::Runner;

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

/// Centre and angle of crank, coupler and rocker of the flexible linkage, were the coupler rigid,
/// for an angle of the crank from its start: the pins lie where circles meet.
fn rigid_linkage(angle: f64) -> [[f64; 3]; 3] {
    let (foot, other): ([f64; 2], [f64; 2]) = ([0.0, -0.4], [0.75, -0.7]);
    let p = [foot[0] - 0.4 * angle.sin(), foot[1] + 0.4 * angle.cos()];
    let (long, rocker) = (1.0f64, 0.25f64.hypot(0.7));
    let to = [other[0] - p[0], other[1] - p[1]];
    let d = to[0].hypot(to[1]);
    let along = (long * long - rocker * rocker + d * d) / (2.0 * d);
    let across = (long * long - along * along).sqrt();
    let q = [
        p[0] + (along * to[0] - across * to[1]) / d,
        p[1] + (along * to[1] + across * to[0]) / d,
    ];
    let bar = |a: [f64; 2], b: [f64; 2]| {
        let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
        [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0, dy.atan2(dx)]
    };
    [bar(foot, p), bar(p, q), bar(other, q)]
}

/// With a coupler a hundred times as stiff it is a linkage of rigid bars, whose speed at each angle
/// follows from the energy. The bars bend by some 0.02 mm of 1 m, which is a few parts in 1e4 of
/// the way fallen; the method is of second order.
#[test]
fn a_stiff_flexible_four_bar_falls_as_a_rigid_one() {
    let mut run = runner(
        &edited("flexible_four_bar", &[("8e8", "8e10")]),
        &[],
        Some(0.0025),
    );
    let moment = |mass: f64, long: f64, side: f64| mass * (long * long + side * side) / 12.0;
    let masses = [1.0, 1200.0 * 0.06 * 0.04, 1.0];
    let inertias = [
        moment(masses[0], 0.4, 0.04),
        moment(masses[1], 1.0, 0.06),
        moment(masses[2], 0.25f64.hypot(0.7), 0.04),
    ];
    let start = rigid_linkage(0.0);
    let mut largest = 0.0f64;
    for step in 1..=200 {
        run.step().unwrap();
        if step % 20 != 0 {
            continue;
        }
        let (angle, rate) = scalar(run.simulation(), "crank foot.angle");
        let d = 1e-5;
        let [before, here, after] = [angle - d, angle, angle + d].map(rigid_linkage);
        let (mut inertia, mut fallen) = (0.0, 0.0);
        for k in 0..3 {
            let rates: Vec<f64> = (0..3).map(|i| (after[k][i] - before[k][i]) / (2.0 * d)).collect();
            inertia += masses[k] * (rates[0].powi(2) + rates[1].powi(2)) + inertias[k] * rates[2].powi(2);
            fallen += masses[k] * 9.81 * (start[k][1] - here[k][1]);
        }
        let expected = (2.0 * fallen / inertia).sqrt();
        println!("{angle} {rate} {expected}");
        largest = largest.max((rate.abs() / expected - 1.0).abs());
    }
    assert!(largest < 2e-3, "{largest}");
}

/// Where the second beam hangs at rest, the first is a cantilever under its own weight and that of
/// the second at the hinge, a centimetre beyond its end: `w L^4/(8 E I) + P L^3/(3 E I)`, the moment
/// of the hinge, and what shear adds (Timoshenko). The clamp hinders the contraction across, which
/// makes it stiffer by a share of its depth over the length: 5 %.
#[test]
fn a_beam_on_a_hinge_of_another_bends_it_by_its_weight() {
    let mut run = runner(&edited("jointed_beams", &[]), &[], Some(0.01));
    advance(&mut run, 500);
    let (w, e, side) = (1000.0 * 0.05f64.powi(2) * 9.81, 1e9, 0.05f64);
    let bending = e * side.powi(4) / 12.0;
    let load = 0.5 * w;
    let shear = 1.2 * (0.5 * w + load) / (e / 2.6 * side * side);
    let expected = w / (8.0 * bending) + load / (3.0 * bending) + load * 0.01 / (2.0 * bending) + shear;
    let simulation = run.simulation();
    let end = simulation.model().node_named("end").unwrap();
    let sag = -simulation.positions(end)[1];
    println!("{sag} {expected}");
    assert!((sag / expected - 1.0).abs() < 0.03, "{sag} {expected}");
    // The hinge carries the second beam, whose end of the first turns by the slopes of both loads.
    let slope = w / (6.0 * bending) + load / (2.0 * bending) + load * 0.01 / bending;
    let turned = 2.0 * simulation.positions(end)[6].atan2(simulation.positions(end)[3]);
    assert!((-turned / slope - 1.0).abs() < 0.03, "{turned} {slope}");
    // The second hangs straight down, but for the last of its swing.
    let angle = value(&run, "hinge.angle");
    let below = angle + turned + std::f64::consts::FRAC_PI_2;
    assert!(below.abs() < 1e-5, "{angle} {turned}");
}

/// The integration in minimal coordinates of `benches/reference/joint_friction.py` at 0.3 s, to second
/// order; and the angles between which it stays, 57.4 degrees by its coefficients.
#[test]
fn a_ladder_slides_down_its_rails() {
    let angle_at_end = |h: f64, parameters: &[(&str, f64)]| {
        let mut run = runner(&edited("ladder", &[]), parameters, Some(h));
        while !run.is_done() {
            run.step().unwrap();
        }
        let ladder = run.simulation().model().node_named("ladder").unwrap();
        let p = run.simulation().pose(ladder, 0).unwrap().position;
        p[1].atan2(p[0])
    };
    let errors = [0.004, 0.002].map(|h| (angle_at_end(h, &[]) - 0.411_277_554_940).abs());
    assert!(errors[0] < 1e-5 && errors[1] < 0.3 * errors[0], "{errors:?}");
    let least = f64::atan((1.0 - 0.3 * 0.2) / (2.0 * 0.3)).to_degrees();
    for (degrees, moves) in [(least + 0.01, false), (least - 0.01, true)] {
        let now = angle_at_end(0.01, &[("angle", degrees)]).to_degrees();
        assert_eq!((now - degrees).abs() > 1e-6, moves, "{degrees} {now}");
    }
}
