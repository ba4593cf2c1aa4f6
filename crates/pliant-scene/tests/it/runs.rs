//! The runner: holds, last steps, files.

use pliant_scene::runner::{Runner, write_results};
use pliant_scene::scene::{Format, SceneFile, Settings};

fn runner(text: &str) -> Runner {
    let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron).unwrap();
    Runner::new(scene.build(&Settings::default()).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_last_step_is_shorter() {
    let text = "(run: (duration: 0.35, step: 0.1, record_every: 2),
        nodes: [Particles(name: \"a\", positions: [(0, 0, 0)], velocities: [(1, 0, 0)], mass: 1)])";
    let outcome = runner(text).run(|_| {});
    assert_eq!((outcome.summary.steps, outcome.summary.status), (4, "ok"));
    assert!((outcome.summary.time - 0.35).abs() < 1e-15);
    assert!((outcome.summary.state["a"].positions[0][0] - 0.35).abs() < 1e-15);
    let times: Vec<f64> = outcome.recording.frames.iter().map(|f| f.time).collect();
    assert_eq!(times.len(), 3, "start, every second step, end: {times:?}");
    assert_eq!(outcome.recording.samples.len(), 5);
}

#[test]
fn a_multiple_of_the_step_has_no_short_step() {
    let text = "(run: (duration: 0.3, step: 0.1),
        nodes: [Particles(name: \"a\", positions: [(0, 0, 0)], mass: 1)])";
    let outcome = runner(text).run(|progress| assert_eq!(progress.report.h, 0.1));
    assert_eq!(outcome.summary.steps, 3);
}

#[test]
fn holds_start_and_end_at_step_boundaries() {
    let text = "(gravity: (0, -10, 0), run: (duration: 1, step: 0.1),
        nodes: [Particles(name: \"a\", positions: [(0, 0, 0)], mass: 1)],
        fixed: [
            (node: \"a\", axes: [x, y, z], velocity: [1, 0, 0], until: 0.3),
            (node: \"a\", axes: [y], from: 0.3, until: 0.5),
            (node: \"a\", axes: [x], velocity: [0, 0, 0], from: 0.25, until: 0.5),
        ])";
    let mut run = runner(text);
    let node = run.simulation().model().node_named("a").unwrap();
    let mut velocities = Vec::new();
    while !run.is_done() {
        run.step().unwrap();
        let v = run.simulation().velocities(node);
        velocities.push([v[0], v[1]]);
    }
    for (i, [x, y]) in velocities.iter().enumerate() {
        let expected = if i < 3 { 1.0 } else { 0.0 };
        assert!((x - expected).abs() < 1e-12, "{i}: {x}");
        let expected = if i < 5 { 0.0 } else { -(i as f64 - 4.0) };
        assert!((y - expected).abs() < 1e-9, "{i}: {y}");
    }
}

#[test]
fn all_files_are_written_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(title: \"A </script> title\", gravity: (0, 0, -9.81), run: (duration: 0.2),
        nodes: [
            Bodies(name: \"b\", bodies: [(shape: Sphere(0.1), mass: 1), (shape: Box(1, 2, 3), mass: 1, position: (2, 0, 0))]),
            Cable(name: \"c\", from: (0, 0, 0), to: (1, 0, 0), links: 3, link_mass: 1),
        ])";
    let outcome = runner(text).run(|_| {});
    let out = dir.path().join("deep").join("out");
    let written = write_results(&out, &outcome).unwrap();
    let names: Vec<_> = written
        .iter()
        .map(|f| f.file_name().unwrap().to_str().unwrap())
        .collect();
    let expected = [
        "result.json",
        "energy.csv",
        "energy.svg",
        "play.html",
        "particles.pvd",
        "bodies.pvd",
    ];
    assert_eq!(names, expected);
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("result.json")).unwrap()).unwrap();
    assert_eq!(json["status"], "ok");
    assert_eq!(json["state"]["c"]["positions"].as_array().unwrap().len(), 4);
    assert_eq!(json["reactions"]["c.tension"].as_array().unwrap().len(), 3);
    let page = std::fs::read_to_string(out.join("play.html")).unwrap();
    assert!(page.contains("\"up\":[0.0,0.0,1.0]"));
    let left: Vec<_> = std::fs::read_dir(&out)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert!(
        left.iter().all(|n| !n.to_string_lossy().contains("partial")),
        "{left:?}"
    );
}

#[test]
fn a_failed_run_keeps_what_there_is() {
    // Two rods of different length from one point to one particle.
    let text = "(run: (duration: 1), nodes: [
            Particles(name: \"a\", positions: [(1, 0, 0)], mass: 1),
            Mapped(name: \"r\", parents: [\"a\"],
                mapping: Distance(pairs: [(0, (0, 0, 0)), (0, (0, 0, 0))], rest: [1.0, 1.1])),
        ], constraints: [(name: \"hard\", on: \"r\")])";
    let outcome = runner(text).run(|_| {});
    assert!(
        matches!(outcome.error, Some(pliant::Error::Incompatible { .. })),
        "{:?}",
        outcome.error
    );
    assert_eq!((outcome.summary.status, outcome.summary.steps), ("failed", 0));
    assert!(outcome.summary.error.as_ref().unwrap().contains("hard"));
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), &outcome).unwrap();
    assert!(
        std::fs::read_to_string(dir.path().join("result.json"))
            .unwrap()
            .contains("\"failed\"")
    );
}
