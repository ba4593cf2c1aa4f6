//! Scenes of statics.

use super::{edited, runner};
use pliant_run::{Outcome, write_results};
use pliant_scene::{Format, SceneFile, Settings};

fn of(text: &str) -> Result<Outcome, String> {
    let scene = SceneFile::from_text("s.ron".as_ref(), text, Format::Ron).map_err(|e| e.to_string())?;
    let built = scene.build(&Settings::default()).map_err(|e| e.to_string())?;
    let runner = pliant_run::Runner::new(built).map_err(|e| e.to_string())?;
    Ok(runner.run(|_| {}))
}

/// The load on a truss of two linear bars at height `y`, and its largest.
#[test]
fn the_truss_snaps_through_at_its_limit_load() {
    let (rise, stiffness) = (0.2f64, 1000.0);
    let bar = 1.0f64.hypot(rise);
    let held = |y: f64| 2.0 * stiffness * (bar / 1.0f64.hypot(y) - 1.0) * y;
    // d/dy = 0 at the length (l_0 b^2)^(1/3).
    let limit = held((bar.cbrt().powi(2) - 1.0).sqrt());
    let outcome = runner(&edited("snap_through", &[]), &[], None).run(|_| {});
    assert!(outcome.error.is_none());
    let statics = outcome.summary.statics.as_ref().unwrap();
    assert_eq!(statics.end, "reached");
    let found: Vec<_> = statics
        .critical
        .iter()
        .map(|c| (&c.kind, c.load / limit))
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
    for ((kind, load), exact) in found.iter().zip([1.0, -1.0]) {
        assert_eq!(*kind, "limit");
        // Points miss 1e-10 of the forces of the bars, which are about as large as the load over
        // its slope of 0.2.
        assert!((load - exact).abs() < 1e-9, "{found:?}");
    }
    // Pictures are points of the path, in even time.
    let frames = &outcome.recording.frames;
    assert_eq!(frames.len(), statics.load.len());
    for (frame, load) in frames.iter().zip(&statics.load) {
        assert!((held(frame.points[0][1]) - load).abs() < 1e-7);
    }
    let times = (frames[0].time, frames[frames.len() - 1].time);
    assert_eq!(times, (0.0, 4.0));
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), &outcome).unwrap();
    let table = std::fs::read_to_string(dir.path().join("path.csv")).unwrap();
    assert_eq!(table.lines().count(), statics.load.len() + 1);
    assert_eq!(
        table.lines().next().unwrap(),
        "point,load,residual,negative_modes,free_modes,iterations"
    );
    let json = std::fs::read_to_string(dir.path().join("result.json")).unwrap();
    assert!(json.contains("\"kind\": \"limit\""));
}

/// A catenary of which `sqrt(y^2 + 2 a y)` hangs, `a = pull/(weight per length)`; the floor bears
/// the rest, to the weight of a link. On the first link that hangs, the chain is a polygon.
#[test]
fn the_mooring_line_lies_as_the_catenary_says() {
    for pull in [2.0, 0.5] {
        let outcome = runner(&edited("mooring", &[]), &[("pull", pull)], None).run(|_| {});
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let contacts = outcome.summary.contacts.as_ref().unwrap();
        let found: f64 = contacts.forces["chain"].iter().map(|f| f[2]).sum();
        let (height, a) = (0.3f64, pull / 10.0);
        let hangs = (height * height + 2.0 * a * height).sqrt();
        assert!((found - 10.0 * (2.0 - hangs)).abs() < 0.2, "{found} {hangs}");
        // Pictures are of the start and of rest, contacts of rest.
        let lines = &outcome.recording.contacts.lines;
        let borne: f64 = lines.iter().map(|l| l.force[2]).sum();
        assert!((borne - found).abs() < 1e-9 && lines.iter().all(|l| l.time == 1.0));
        assert!(contacts.most_active > 50 && contacts.most_slipping == 0);
    }
}

/// The scenes of motion that stand by friction, without time: an arch down to the classical
/// thickness of 0.107, a rope on a drum down to `e^(-mu pi)`.
#[test]
fn what_stands_by_friction_is_at_rest() {
    for (name, run, key, stands, falls) in [
        (
            "masonry_arch",
            "run: (duration: 1, step: \"1 / 240\")",
            "thickness",
            0.109,
            None,
        ),
        (
            "capstan",
            "run: (duration: 0.5, step: 0.005)",
            "hold",
            0.286,
            Some(0.283),
        ),
    ] {
        let scene = edited(name, &[(run, "run: (duration: 1, statics: ())")]);
        for (value, rests) in std::iter::once((stands, true)).chain(falls.map(|v| (v, false))) {
            let outcome = runner(&scene, &[(key, value)], None).run(|_| {});
            assert_eq!(
                outcome.error.is_none(),
                rests,
                "{name} {value}: {:?}",
                outcome.error
            );
        }
    }
}

const WEIGHT: &str = "(gravity: (0, -10, 0), run: (duration: 1, statics: ()), nodes: [
    Particles(name: \"p\", positions: [(0.1, -1, 0)], mass: 2),
    Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 1))],
    force_fields: [(name: \"spring\", on: \"d\", law: Stiffness(100))])";

/// A weight on a spring: 1.2 m under its hook, by every method; as a path over gravity too.
#[test]
fn a_weight_hangs_on_its_spring() {
    for statics in [
        "()",
        "(method: Newton)",
        "(method: PseudoStatic)",
        "(method: DynamicRelaxation)",
        "(method: ConjugateGradients)",
        "(gravity: true, start: 0.1)",
        "(gravity: true, start: 0.5, control: Load, points: 50, tolerance: 1e-9)",
    ] {
        let outcome = of(&WEIGHT.replace("statics: ()", &format!("statics: {statics}"))).unwrap();
        assert!(outcome.error.is_none(), "{statics}: {:?}", outcome.error);
        let x = &outcome.summary.state["p"].positions[0];
        // Forces to 1e-10 (1e-9) of 20 N; across, 20 N on 1.2 m.
        assert!(x[0].abs() < 1e-8 && (x[1] + 1.2).abs() < 1e-8, "{statics}: {x:?}");
        let found = outcome.summary.statics.unwrap();
        assert_eq!(found.load.last(), Some(&1.0));
        assert_eq!(outcome.summary.steps, found.load.len());
    }
}

/// A path that runs out of points has not failed; one that cannot go on has, and shows where it
/// came to.
#[test]
fn a_path_that_ends_early_says_how() {
    let statics =
        "statics: (gravity: true, start: 0.25, step: 0.125, largest_step: 0.125, control: Load, points: 3)";
    let outcome = of(&WEIGHT.replace("statics: ()", statics)).unwrap();
    let found = outcome.summary.statics.as_ref().unwrap();
    assert!(outcome.error.is_none());
    assert_eq!(
        (found.end.as_ref(), &found.load[..]),
        ("points", &[0.25, 0.375, 0.5][..])
    );
    let samples = &outcome.recording.samples;
    let times: Vec<f64> = samples.iter().map(|s| s.time).collect();
    assert_eq!(times, [0.0, 0.5, 1.0]);
    assert_eq!(outcome.summary.time, 1.0);
    for (sample, p) in samples.iter().zip(&found.load) {
        // At 1 m + 20 N p/(100 N/m) under the hook, in gravity as scaled; forces to 1e-10.
        let potential = -20.0 * p * (1.0 + 0.2 * p) + 50.0 * (0.2 * p).powi(2);
        assert!((sample.potential - potential).abs() < 1e-8, "{sample:?}");
    }

    // The truss under steps of the load, which end at its limit.
    let text = "(run: (duration: 1, statics: (loads: [\"load\"], end: 10, step: 0.5, largest_step: 0.5, control: Load)), nodes: [
        Particles(name: \"apex\", positions: [(0, 0.2, 0)], mass: 1),
        Mapped(name: \"bars\", parents: [\"apex\"], mapping: Distance(pairs: [(0, (-1, 0, 0)), (0, (1, 0, 0))], rest: \"sqrt(1.04)\"))],
        force_fields: [(name: \"springs\", on: \"bars\", law: Stiffness(1000)), (name: \"load\", on: \"apex\", law: Force([0, -1, 0]))],
        fixed: [(node: \"apex\", axes: [x, z])])";
    let outcome = of(text).unwrap();
    let found = outcome.summary.statics.as_ref().unwrap();
    assert_eq!((found.end.as_ref(), outcome.summary.status), ("stuck", "failed"));
    assert!(outcome.error.is_some() && *found.load.last().unwrap() > 2.5);
    assert_eq!(outcome.recording.frames.len(), found.load.len());
}

#[test]
fn redundant_rows_of_rest_are_in_the_summary() {
    for statics in ["()", "(gravity: true, start: 0.5)"] {
        let text = WEIGHT
            .replace("statics: ()", &format!("statics: {statics}"))
            .replace(
                "pairs: [(0, (0, 0, 0))]",
                "pairs: [(0, (0, 0, 0)), (0, (0, 0, 0))]",
            )
            .replace(
                "force_fields: [(name: \"spring\", on: \"d\", law: Stiffness(100))]",
                "constraints: [(name: \"hard\", on: \"d\")]",
            );
        let outcome = of(&text).unwrap();
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(outcome.summary.redundant_rows, 1);
    }
}

#[test]
fn mistakes_in_statics_are_explained() {
    for (statics, message) in [
        ("(loads: [\"sprng\"])", "did you mean `spring`?"),
        (
            "(loads: [\"spring\"], method: Newton)",
            "`method` is for a single equilibrium",
        ),
        ("(end: 2)", "`end` is of a path"),
        ("(control: ArcLength)", "`control` is of a path"),
        ("(gravity: true, end: 0)", "starts and ends at the load factor 0"),
        ("(gravity: true, step: 0)", "step"),
        ("(tolerance: 1)", "`tolerance` is 1, but must be below 1"),
        (
            "(gravity: true, control: Loads)",
            "unknown kind `Loads` in `control`",
        ),
        ("(gravity: true, loadz: [])", "unknown key `loadz` in `statics`"),
    ] {
        let error = of(&WEIGHT.replace("statics: ()", &format!("statics: {statics}"))).unwrap_err();
        assert!(error.contains(message), "{statics}: {error}");
    }
    let spring = "(name: \"spring\", on: \"d\", law: Stiffness(100))";
    let pushed = format!("{spring}, (name: \"push\", on: \"p\", law: Force([0, \"$t\", 0]))");
    let error = of(&WEIGHT.replace(spring, &pushed)).unwrap_err();
    assert!(
        error.contains("does not take forces that depend on time"),
        "{error}"
    );
    let held = "force_fields: [], fixed: [(node: \"p\", until: 1)]";
    let error = of(&WEIGHT.replace(&format!("force_fields: [{spring}]"), held)).unwrap_err();
    assert!(error.contains("coordinates that are fixed for a time"), "{error}");
    let error = of(&WEIGHT
        .replace("gravity: (0, -10, 0), ", "")
        .replace("statics: ()", "statics: (gravity: true)"))
    .unwrap_err();
    assert!(error.contains("the scene has none"), "{error}");
    // What the method does not take is found before the run: contacts, rows that are no function of
    // positions.
    let relaxed = WEIGHT.replace("statics: ()", "statics: (method: DynamicRelaxation)");
    let colliders = "colliders: [Points(node: \"p\", radius: 0.1), Fixed(name: \"floor\", shape: Plane(0, 1, 0), position: (0, -5, 0))]";
    let error = of(&relaxed.replace("force_fields:", &format!("{colliders}, force_fields:"))).unwrap_err();
    assert!(error.contains("contacts in dynamic relaxation"), "{error}");
    let hard = "constraints: [(name: \"rod\", on: \"d\")]";
    let error = of(&relaxed.replace(&format!("force_fields: [{spring}]"), hard)).unwrap_err();
    assert!(
        error.contains("the hard rows of `rod` in dynamic relaxation"),
        "{error}"
    );
    // What fails is an error of the run, not a panic: nothing holds it.
    let text = WEIGHT.replace("(name: \"spring\", on: \"d\", law: Stiffness(100))", "");
    let outcome = of(&text).unwrap();
    let error = outcome.error.unwrap().to_string();
    assert!(error.contains("no equilibrium"), "{error}");
    assert_eq!(outcome.summary.status, "failed");
}

/// A coarse tolerance ends sooner.
#[test]
fn the_tolerance_of_statics_is_taken() {
    for path in ["", "gravity: true, start: 0.5, "] {
        let [fine, coarse] = ["1e-12", "0.9"].map(|tolerance| {
            let statics = format!("statics: ({path}tolerance: {tolerance})");
            let outcome = of(&WEIGHT.replace("statics: ()", &statics)).unwrap();
            outcome.summary.statics.unwrap().iterations[0]
        });
        assert!(coarse < fine, "{coarse} {fine}");
    }
}

/// A bar on a sprung hinge under growing gravity: every point has a line in the table of joints,
/// with the angle and the force that carry it.
#[test]
fn the_table_of_joints_has_a_line_for_each_point() {
    let text = "(gravity: (0, -10, 0), run: (duration: 2, statics: (gravity: true)), nodes: [
        Bodies(name: \"bar\", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)])],
        joints: [(name: \"hinge\", kind: Hinge, b: Body(\"bar\", 0), springs: [(compliance: 0.1)])])";
    let outcome = of(text).unwrap();
    let statics = outcome.summary.statics.as_ref().unwrap();
    let lines = &outcome.recording.joints.lines;
    assert_eq!(
        (statics.end.as_ref(), lines.len()),
        ("reached", statics.load.len())
    );
    for ((line, frame), load) in lines.iter().zip(&outcome.recording.frames).zip(&statics.load) {
        // Time, angle, rate, force, torque: the spring bears m g p l/2 cos(angle), the hinge m g p,
        // to the tolerance of 1e-10 of 20 N.
        assert_eq!((line[0], line[2]), (frame.time, 0.0));
        assert!(
            (-10.0 * line[1] - 10.0 * load * line[1].cos()).abs() < 1e-8,
            "{line:?}"
        );
        assert!((line[4] - 20.0 * load).abs() < 1e-8, "{line:?}");
    }
}

#[test]
fn what_is_of_motion_is_not_taken_by_statics() {
    for (key, message) in [
        ("adaptive_step: ()", "`adaptive_step` is of motion"),
        ("sleeping: ()", "`sleeping` is of motion"),
    ] {
        let error = of(&WEIGHT.replace("statics: ()", &format!("statics: (), {key}"))).unwrap_err();
        assert!(error.contains(message), "{key}: {error}");
    }
}
