//! Work and memory of the steps of scenes.

use pliant_run::Runner;
use pliant_scene::{Format, SceneFile, Settings};

fn runner(text: &str) -> Runner {
    let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron).unwrap();
    Runner::new(scene.build(&Settings::default()).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

/// Motors, forces and inputs that are functions of time are evaluated without memory of their own.
#[test]
fn a_warm_step_with_motors_allocates_nothing() {
    let text = "(parameters: {\"shoulder\": 1.2}, gravity: (0, -9.81, 0), run: (duration: 1, step: 0.01),
        nodes: [Bodies(name: \"links\", bodies: [
            (position: (0, -0.25, 0), shape: Box(0.02, 0.25, 0.02), mass: 1),
            (position: (0, -0.75, 0), shape: Box(0.02, 0.25, 0.02), mass: 1),
        ])],
        joints: [
            (name: \"shoulder\", kind: Hinge, b: Body(\"links\", 0), motors: [Position(
                target: \"$shoulder * (1 - cos(pi * min(1, $t / 1.5))) / 2\",
                compliance: 0.001, relaxation_time: 0.05, force: 40,
            )]),
            (name: \"elbow\", kind: Hinge, a: Body(\"links\", 0), b: Body(\"links\", 1), at: (0, -0.5, 0),
                motors: [Velocity(speed: \"0.3 * sin(6 * $t)\", force: 20)]),
        ])";
    let mut run = runner(text);
    let s = run.simulation_mut();
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    let found = allocation_counter::measure(|| {
        for _ in 0..20 {
            s.step(0.01).unwrap();
        }
    });
    assert_eq!(found.count_total, 0);
}

/// A slider that comes back from beyond its limit, and a weight on a rope that does so.
#[test]
fn a_warm_step_of_recovery_allocates_nothing() {
    let text = "(gravity: (-9.81, 0, 0), run: (duration: 1, step: 0.01),
        nodes: [
            Bodies(name: \"b\", bodies: [(position: (1, 0, 0), shape: Sphere(0.1), mass: 1)]),
            Particles(name: \"p\", positions: [(-1, 0, 0)], mass: 1),
            Mapped(name: \"l\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 0.5)),
        ],
        joints: [(name: \"j\", kind: Slider, b: Body(\"b\", 0), limits: [(lower: 0.5)])],
        constraints: [(name: \"rope\", on: \"l\", bounds: (upper: 0))])";
    let mut run = runner(text);
    let s = run.simulation_mut();
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    let found = allocation_counter::measure(|| {
        for _ in 0..20 {
            assert_eq!(s.step(0.01).unwrap().contacts.corrections.count, 1);
        }
    });
    assert_eq!(found.count_total, 0);
}

/// Two boxes on the ground, with limits of the work of a step.
fn stack(limits: &str) -> String {
    format!(
        "(gravity: (0, 0, -9.81), run: (duration: 0.05, step: 0.01, {limits}),
        nodes: [Bodies(name: \"boxes\", bodies: [
            (position: (0, 0, 0.5), shape: Box(1, 1, 1), mass: 1),
            (position: (0.1, 0, 1.5), shape: Box(1, 1, 1), mass: 1),
        ])],
        materials: [(name: \"wood\", friction: 0.4)],
        colliders: [
            Fixed(name: \"ground\", shape: Plane(0, 0, 1), material: \"wood\"),
            Bodies(node: \"boxes\", material: \"wood\"),
        ])"
    )
}

#[test]
fn limits_of_work_are_keys_of_the_run() {
    assert_eq!(runner(&stack("")).run(|_| {}).summary.status, "ok");
    for (key, sentence) in [
        ("contact_operations", "the solve of the contacts of "),
        ("contact_tests", "the search for contacts between "),
    ] {
        let outcome = runner(&stack(&format!("{key}: 1"))).run(|_| {});
        let error = outcome.error.unwrap().to_string();
        let end = format!("(`{key}` allows more)");
        assert!(error.starts_with(sentence) && error.ends_with(&end), "{error}");
        assert!(error.contains("did not end within 1 "), "{error}");
        assert_eq!(outcome.summary.steps, 0);
        let warned = outcome.summary.warnings.iter();
        let warned = warned
            .filter(|w| w.contains("overlap at the start is not known"))
            .count();
        assert_eq!(warned, usize::from(key == "contact_tests"));
    }
    for key in [
        "contact_operations",
        "correction_operations",
        "contact_tests",
        "factorisations",
    ] {
        let text = stack(&format!("{key}: 0"));
        let scene = SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap();
        let error = scene.build(&Settings::default()).err().unwrap().to_string();
        assert!(error.contains(key) && error.contains("must be from 1"), "{error}");
    }
}
