//! Shells on frames: shipped scenes, joints at their nodes, what is refused.

use super::{edited, runner};
use pliant_scene::{Format, SceneFile, Settings};
use std::f64::consts::{PI, TAU};

/// Under `2 pi E I/L` a strip is a circle of the circumference `L`.
#[test]
fn a_strip_rolls_up_into_a_circle() {
    let outcome = runner(&edited("rolled_strip", &[]), &[], None).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(outcome.summary.statics.as_ref().unwrap().end, "reached");
    let radius = 1.0 / TAU;
    let points = &outcome.recording.frames.last().unwrap().points;
    let worst = points
        .iter()
        .map(|[x, _, z]| (x.hypot(z - radius) / radius - 1.0).abs())
        .fold(0.0, f64::max);
    let end = points[32];
    println!("off the circle by {worst:e} of its radius, the end at {end:?}");
    // Second order: an element that turns by `a = 2 pi/32` has the curvature `sin a/h` and so turns by
    // `a^2/6 = 6.4e-3` of it too far; twice as much across the circle.
    assert!(worst < 2e-2, "{worst:e}");
    assert!(end[0].hypot(end[2]) < 1e-2, "{end:?}");
}

const PLANK: &str = "(gravity: (0, 0, -10), run: (statics: ()), nodes: [
    ElasticShell(name: \"plank\", shape: Rectangle(size: (1, 0.1), cells: (8, 2)), young: 1e9, poisson: 0,
        thickness: 0.02, density: 1e-6, fix_boxes: [((-0.01, -1, -1), (0.01, 1, 1))]),
    Bodies(name: \"weight\", bodies: [(position: (1.2, 0.05, 0), shape: Sphere(0.01), mass: 0.1)]),
  ],
  joints: [(name: \"weld\", kind: Fixed, a: Body(\"plank\", 17), b: Body(\"weight\", 0), at: (1, 0.05, 0))],
  record: [Position(\"plank.points\", 17)])";

/// A weight that is welded to a body of a plank, 0.2 m beyond its end: a beam under a force and a
/// couple, `P L^3/(3 E I) + P a L^2/(2 E I)`, and the shear `P L/(5/6 G A)`.
#[test]
fn a_weight_is_welded_to_the_end_of_a_plank() {
    let file = SceneFile::from_text("plank.ron".as_ref(), PLANK, Format::Ron).unwrap();
    let outcome = runner(&file, &[], None).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let points = &outcome.recording.frames.last().unwrap().points;
    let (force, arm) = (1.0, 0.2);
    let bending = 1e9 * 0.1 * 0.02f64.powi(3) / 12.0;
    let shear = 5.0 / 6.0 * 0.5e9 * 0.1 * 0.02;
    let exact = force / (3.0 * bending) + force * arm / (2.0 * bending) + force / shear;
    let found = -points[17][2];
    println!("plank sinks by {found:.6}, on paper {exact:.6}");
    // The moment is linear: elements of constant curvature lack a quarter of 1/8^2 of it, and it is
    // led in at one of three nodes.
    assert!((found / exact - 1.0).abs() < 2e-2, "{found} {exact}");
}

/// Errors name the thing in the words of the scene.
#[test]
fn shells_that_cannot_be_are_refused() {
    let shell = |keys: &str| {
        format!(
            "(run: (duration: 1, step: 0.1), nodes: [ElasticShell(name: \"s\", young: 1e6, density: 1000, {keys})])"
        )
    };
    let square = "shape: Rectangle(size: (1, 1), cells: (1, 1))";
    let cases = [
        (
            "shape: Cells(points: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], cells: [[0, 1, 2]]), poisson: 0, thickness: 1".to_owned(),
            "a shell on frames cannot be had with triangles: its elements are quadrangles",
        ),
        (
            format!("{square}, poisson: 1, thickness: 1"),
            "Poisson's ratio is 1, but must be above -1 and below 1",
        ),
        (
            format!("{square}, poisson: 0, thickness: 0"),
            "the thickness is 0, but must be positive",
        ),
        (
            format!("{square}, poisson: 0, thickness: 1, fold: 2"),
            "the angle of a fold is 2, but must be from zero to a quarter turn",
        ),
        (
            format!("{square}, poisson: 0, thickness: 1, drill_factor: 0"),
            "the share of the shear modulus in drilling is 0, but must be positive",
        ),
        (
            format!("{square}, poisson: 0, thickness: 1, symmetry: [(axis: z, at: 0)]"),
            "the plane of symmetry z = 0 m: the shell lies in it",
        ),
        (
            format!("{square}, poisson: 0, thickness: 1, fix: [9]"),
            "`fix` of `s` is 9, but must be from 0 to 3",
        ),
    ];
    for (keys, expected) in cases {
        let text = shell(&keys);
        let built = SceneFile::from_text("s.ron".as_ref(), &text, Format::Ron)
            .and_then(|file| file.build(&Settings::default()));
        let found = built.err().map(|e| e.to_string()).unwrap_or_default();
        println!("{found}");
        assert!(found.contains(expected), "{keys}: {found}");
    }
}

/// Stresses, strains and moments of a strip that is rolled up by half a turn: of constant curvature
/// `pi/L`, so of the moment `-E t^3/12 pi/L` along the warp: it rolls up to a valley on the side from
/// which its corners go round to the left.
#[test]
fn stresses_of_shells_are_recorded() {
    let record = "record: [Stress(\"strip\", 9), Strain(\"strip\", 9), Gauge(name: \"middle\", on: \"strip\", at: (0.5, 0.05, 0))],";
    let file = edited(
        "rolled_strip",
        &[
            ("\"turns\": 1,", "\"turns\": 0.5,"),
            ("    // The two bodies at its end.", record),
        ],
    );
    let outcome = runner(&file, &[], None).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    println!("{:?}", outcome.summary.probes.keys());
    let of = |name: &str| outcome.summary.probes[name].last.unwrap();
    let exact = -1e7 * 1e-6 / 12.0 * PI;
    let found = of("strip[9].moment_warp");
    println!("moment {found}, on paper {exact}");
    assert!((found / exact - 1.0).abs() < 5e-3, "{found} {exact}");
    // No force, but for a stretch of second order in the curvature times the thickness.
    let most = 1.2 * 1e7 * (PI * 0.01).powi(2) / 12.0;
    assert!(of("strip[9].stress_warp").abs() < most);
    assert!((of("middle.moment_warp") / found - 1.0).abs() < 5e-3);
}
