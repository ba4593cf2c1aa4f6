//! A rope, a muscle, a beam.

use super::{advance, edited, finish, points, reaction, runner, scalar};
use pliant_scene::{Format, SceneFile, Settings};

/// The load of a 2:1 tackle rises at half the speed of the rope, which carries half the weight.
#[test]
fn crane_lifts_at_half_the_speed_of_the_rope() {
    let mut run = runner(&edited("crane", &[]), &[], None);
    finish(&mut run);
    let node = run.simulation().model().node_named("load").unwrap();
    let v = run.simulation().velocities(node).to_vec();
    let x = points(&run, "load")[0];
    println!("{v:?} {x:?} {:?}", reaction(&run, "tension"));
    // Its two parts are 0.1 m apart at the top, so that they are not quite parallel.
    let slope = (2.0 - x[1]) / (0.05f64 * 0.05 + (2.0 - x[1]).powi(2)).sqrt();
    assert!((v[1] - 0.1 / slope).abs() < 1e-4, "{v:?}");
    let tension = -reaction(&run, "tension")[0];
    // Air slows it by 5 N s/m.
    let expected = (100.0 * 9.81 + 5.0 * v[1]) / (2.0 * slope);
    assert!(
        (tension - expected).abs() < 1e-3 * expected,
        "{tension} {expected}"
    );
    let length = run.simulation().model().node_named("rope").unwrap();
    assert!(run.simulation().positions(length)[0].abs() < 1e-6);
}

/// The force of a muscle without tendon at rest, as a share of the largest, over its strain and its
/// activation: Thelen's curves, the passive one with a slope of zero at its start.
fn share_of_muscle(strain: f64, activation: f64) -> f64 {
    let active = (-strain * strain / 0.45).exp();
    let y = 5.0 * strain.max(0.0) / 0.6;
    activation * active + (y.exp() - 1.0 - y) / (5f64.exp() - 6.0)
}

/// At rest the torque of the muscle is that of the weights: Thelen's curves at the length found.
#[test]
fn arm_rests_where_the_muscle_balances_the_weights() {
    let mut run = runner(&edited("arm_muscle", &[]), &[], None);
    finish(&mut run);
    let of = |name| scalar(run.simulation(), name);
    let ((angle, rate), (length, _)) = (of("elbow.angle"), of("biceps"));
    let force = 600.0 * share_of_muscle(length / 0.28 - 1.0, 0.3);
    // The insertion and the origin of the muscle, seen from the elbow.
    let (p, q) = ([0.05 * angle.cos(), 0.05 * angle.sin()], [0.1, 0.28]);
    let lever = (p[0] * q[1] - p[1] * q[0]) / length;
    let weights = 9.81 * (1.5 * 0.15 + 2.0 * 0.3) * angle.cos();
    println!("{angle} {rate} {length} {} {weights}", force * lever);
    assert!(rate.abs() < 1e-5 && angle > 0.1 && angle < 1.0, "{angle} {rate}");
    assert!((force * lever - weights).abs() < 1e-3 * weights.abs().max(1.0));
}

/// The tendon of the triceps wraps around the elbow: the moment arm of the muscle is the radius of
/// the cylinder, its length the closed form of two tangents and an arc, its force Thelen's curves
/// at that length.
#[test]
fn triceps_holds_the_weights_at_the_radius_of_the_elbow() {
    let mut run = runner(&edited("wrapped_triceps", &[]), &[], None);
    finish(&mut run);
    let of = |name| scalar(run.simulation(), name);
    let ((angle, rate), (length, _)) = (of("elbow.angle"), of("triceps"));
    let (radius, origin, insertion) = (0.02, [-0.015f64, -0.25], [0.03f64, 0.022]);
    let [s, t] = [origin, insertion].map(|p| p[0].hypot(p[1]));
    // From the origin behind the elbow to the insertion, by the left hand.
    let turn = std::f64::consts::TAU + origin[1].atan2(origin[0]) - insertion[1].atan2(insertion[0]) - angle;
    let arc = turn - f64::acos(radius / s) - f64::acos(radius / t);
    let tangents = (s * s - radius * radius).sqrt() + (t * t - radius * radius).sqrt();
    let expected = tangents + radius * arc;
    println!("{angle} {rate} {length} {expected} {arc}");
    assert!(
        arc > 1.0 && (length - expected).abs() < 1e-9,
        "{length} {expected}"
    );
    let force = 1200.0 * share_of_muscle(length / 0.32 - 1.0, 0.3);
    let weights = 9.81 * (1.5 * 0.15 + 2.0 * 0.3) * angle.cos();
    println!("{} {weights}", force * radius);
    assert!(
        rate.abs() < 1e-5 && angle > -1.0 && angle < -0.1,
        "{angle} {rate}"
    );
    assert!((force * radius - weights).abs() < 1e-3 * weights);
}

/// At rest the tension is the weight. The length was found by a bisection of another program, from
/// the curves of Millard et al.: the fibre has .7455 optimal lengths, the tendon is strained by
/// .02097. The weight comes there from above, by what is left of its way after 3.5 s.
#[test]
fn calf_muscle_holds_the_weight_where_fibre_and_tendon_balance() {
    let mut run = runner(
        &edited("calf_muscle", &[("duration: 4", "duration: 6")]),
        &[],
        None,
    );
    let mut taken = 0.0;
    while !run.is_done() {
        let ledger = run.step().unwrap().ledger;
        assert!(ledger.damping <= 0.0, "{ledger:?}");
        taken += ledger.inputs;
    }
    let simulation = run.simulation();
    let length = simulation.model().node_named("calf").unwrap();
    let (found, wanted) = (simulation.positions(length)[0], 0.287_026_206_558_318);
    println!("{found} {taken}");
    assert!((found - wanted).abs() < 1e-7, "{found}");
    // The muscle has lifted the weight by 35 mm.
    assert!(taken > 981.0 * 0.03, "{taken}");
}

/// Small loads bend the cantilever by `P L^3/(3 E I)`.
#[test]
fn beam_sinks_as_the_theory_of_beams_says() {
    let deflection = |load: f64| {
        let mut run = runner(&edited("beam", &[]), &[("load", load)], None);
        while !run.is_done() {
            run.step().unwrap();
        }
        let node = run.simulation().model().node_named("tip").unwrap();
        assert!(run.simulation().velocities(node)[1].abs() < 1e-6);
        -run.simulation().positions(node)[1] / load
    };
    let expected = 1.0 / 300.0;
    let found = deflection(0.1);
    println!("{found} {expected}");
    // The last segment ends at the centre of the last body: a hundredth of what a piece of that
    // length would bend, and shear.
    assert!((found - expected).abs() < 0.006 * expected, "{found} {expected}");
    // Sunk by a third of the length, it is stiffer.
    assert!(deflection(100.0) < 0.95 * expected);
}

const SPRING: &str = "(run: (duration: 10, step: 0.1), nodes: [Scalars(name: \"s\", values: [0, 0], mass: 1e-9)], force_fields: [
    (name: \"spring\", on: \"s\", law: Stiffness(8), viscoelastic: [(time: 1, share: 0.5)]), (name: \"pull\", on: \"s\", law: Force([2]))])";

fn spring(law: &str) -> SceneFile {
    let text = SPRING.replace("Stiffness(8)", law);
    SceneFile::from_text("s.ron".as_ref(), &text, Format::Ron).unwrap_or_else(|e| panic!("{e}"))
}

/// A pull on springs without mass: `F/k (2 - exp(-t/2))` of the standard linear solid, which has
/// lost half of its stiffness, whatever the spring is called.
#[test]
fn springs_creep_as_the_standard_linear_solid() {
    for law in ["Stiffness(8)", "Compliance(0.125)", "Diagonal([0.125])"] {
        let mut run = runner(&spring(law), &[], None);
        // The pull comes at once: the first step, whose vibration is damped away, is halved.
        advance(&mut run, 40);
        let node = run.simulation().model().node_named("s").unwrap();
        let expected = 2.0 / 8.0 * (2.0 - (-0.5 * 4.0f64).exp());
        for x in run.simulation().positions(node) {
            // The square of the step over the time.
            assert!((x / expected - 1.0).abs() < 1e-3, "{law}: {x} {expected}");
        }
    }
}

#[test]
fn springs_that_cannot_relax_say_so() {
    for (law, message) in [
        ("Damping(linear: 1)", "`spring` cannot relax"),
        ("Diagonal([0.1, 0.2])", "`spring` cannot relax"),
        (
            "Stiffness(8), relaxation_time: 0.1",
            "no relaxation time beside it",
        ),
        ("Compliance(0)", "must be positive"),
        ("Stiffness(8), treatment: Compliance", "`spring`"),
    ] {
        let error = spring(law).build(&Settings::default()).unwrap_err().to_string();
        assert!(
            error.contains(message) && error.contains("s.ron"),
            "{law}: {error}"
        );
    }
}
