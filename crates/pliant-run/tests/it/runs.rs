//! The runner: holds, last steps, files.

use pliant_run::{Progress, ResultDirectory, Runner, write_results};
use pliant_scene::{Format, SceneFile, Settings};
use std::ops::ControlFlow;

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

/// The motion of many steps, adaptive ones, equilibria and a failure, each with joints or contacts
/// where it can have some: the numbers are those of a run that keeps everything.
#[test]
fn a_run_without_a_recording_keeps_nothing_and_gives_the_same_numbers() {
    let parts = "parameters: {\"height\": 0.5}, gravity: (0, -10, 0), nodes: [
            Bodies(name: \"ball\", bodies: [(shape: Sphere(0.1), mass: 1, position: (0, \"$height\", 0))]),
            Bodies(name: \"arm\", bodies: [(shape: Box(0.1, 1, 0.1), mass: 1, position: (5, 5, 0))]),
        ],
        joints: [(name: \"shoulder\", kind: Hinge, b: Body(\"arm\", 0), at: (5, 5.5, 0))],
        colliders: [
            Fixed(name: \"floor\", shape: Plane(0, 1, 0)),
            Bodies(name: \"ball\", node: \"ball\"),
        ]";
    let spring = "gravity: (0, -10, 0), nodes: [
            Particles(name: \"p\", positions: [(0.1, -1, 0)], mass: 2),
            Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 1)),
        ], force_fields: [(name: \"spring\", on: \"d\", law: Stiffness(100))]";
    let broken = "nodes: [
            Particles(name: \"a\", positions: [(1, 0, 0)], velocities: [(1, 0, 0)], mass: 1),
            Particles(name: \"b\", positions: [(1, 0, 0)], mass: 1),
        ], fixed: [(node: \"a\", axes: [x], velocity: [1e308, 0, 0], from: 0.35)]";
    for (text, least) in [
        (format!("(run: (duration: 1, step: 0.01), {parts})"), 101),
        (
            format!("(run: (duration: 0.5, adaptive_step: (largest: 0.05)), {spring})"),
            5,
        ),
        (format!("(run: (duration: 0.7, statics: ()), {spring})"), 2),
        (
            format!("(run: (duration: 0.7, statics: (gravity: true, start: 0.1, points: 7)), {spring})"),
            7,
        ),
        (format!("(run: (duration: 1, step: 0.1), {broken})"), 1),
    ] {
        let whole = runner(&text).run(|_| {});
        let lean = runner(&text).without_recording().run(|_| {});
        assert_eq!(whole.error.is_some(), text.contains("1e308"), "{:?}", whole.error);
        let kept = &whole.recording;
        assert!(kept.samples.len() >= least && !kept.frames.is_empty(), "{text}");
        let empty = &lean.recording;
        let counts = [
            empty.frames.len(),
            empty.samples.len(),
            empty.joints.lines.len(),
            empty.contacts.lines.len(),
        ];
        assert_eq!(counts, [0; 4], "{text}");
        let mut numbers = [whole.summary, lean.summary];
        for summary in &mut numbers {
            summary.seconds = Default::default();
        }
        let [whole, lean] = numbers.map(|summary| serde_json::to_string(&summary).unwrap());
        assert_eq!(whole, lean);
        assert_eq!(
            kept.contacts.names.is_empty(),
            kept.contacts.lines.is_empty(),
            "{text}"
        );
    }
}

/// Results of two runs in one directory: those of the second alone, with a manifest of them all.
#[test]
fn results_are_those_of_the_last_run() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path();
    let of = |duration: f64, nodes: &str| {
        let text = format!("(run: (duration: {duration}, step: 0.01), nodes: [{nodes}])");
        runner(&text).run(|_| {})
    };
    let ball = "Bodies(name: \"b\", bodies: [(shape: Sphere(0.1), mass: 1)])";
    let point = "Particles(name: \"a\", positions: [(0, 0, 0)], mass: 1)";
    write_results(out, &of(1.0, &format!("{ball}, {point}"))).unwrap();
    std::fs::write(out.join("notes.txt"), "mine").unwrap();
    write_results(out, &of(0.1, point)).unwrap();
    let manifest = std::fs::read(out.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(
        (&manifest["status"], &manifest["scene"]),
        (&"ok".into(), &"a.ron".into())
    );
    let mut listed: Vec<String> = manifest["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap().to_owned())
        .collect();
    listed.extend([".pliant.lock", "manifest.json", "notes.txt"].map(str::to_owned));
    listed.sort();
    let mut left = Vec::new();
    for (prefix, dir) in [("", out.to_owned()), ("frames/", out.join("frames"))] {
        for entry in std::fs::read_dir(dir).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            left.extend((name != "frames").then(|| format!("{prefix}{name}")));
        }
    }
    left.sort();
    assert_eq!(left, listed);
    assert!(
        left.contains(&"frames/particles_0000.vtu".to_owned()) && !left.contains(&"bodies.pvd".to_owned())
    );
}
/// A run that is interrupted three times, once while something is held, records what one does that
/// is not.
#[test]
fn an_interrupted_run_records_the_same() {
    let text = "(
        gravity: (0, -10, 0),
        run: (duration: 0.3, step: 0.01, record_every: 3),
        nodes: [Bodies(name: \"b\", bodies: [(position: (0, 0.1, 0), shape: Sphere(0.1), mass: 1)])],
        fixed: [(node: \"b\", axes: [x, y], from: 0.05, until: 0.12, velocity: [1, 0.5, 0, 0, 0, 0])],
        colliders: [Fixed(name: \"ground\", shape: Plane(0, 1, 0)), Bodies(node: \"b\")],
    )";
    let whole = runner(text).run(|_| {});
    assert!(whole.error.is_none(), "{:?}", whole.error);
    let dir = tempfile::tempdir().unwrap();
    let directory = ResultDirectory::take(dir.path()).unwrap();
    let after = |steps: usize| {
        move |progress: Progress<'_>| match progress.taken == steps {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let first = runner(text).keep_checkpoints(&directory, None).unwrap();
    assert_eq!(first.run_while(after(4)).summary.status, "interrupted");
    for steps in [8, 20] {
        let next = runner(text).resume(&directory, None).unwrap();
        let outcome = next.run_while(after(steps));
        assert_eq!(
            (outcome.summary.status, outcome.summary.steps),
            ("interrupted", steps)
        );
    }
    let last = runner(text).resume(&directory, None).unwrap().run(|_| {});
    assert!(last.recording == whole.recording);
    let (mut a, mut b) = (last.summary, whole.summary);
    for summary in [&mut a, &mut b] {
        (summary.work, summary.seconds) = Default::default();
    }
    assert_eq!(a.ledger, b.ledger);
    assert_eq!(
        serde_json::to_string(&a).unwrap(),
        serde_json::to_string(&b).unwrap()
    );
    assert!(last.checkpoint_error.is_none() && last.checkpoint.len() == 2);
}

/// The state at the end has the nodes that a scene names, strains that it asks for among them, and not
/// those that solids and sheets have at their points of integration, which would be nearly all of it.
#[test]
fn the_state_at_the_end_is_of_nodes_with_a_name() {
    let text = "(run: (duration: 0.01), nodes: [
            Solid(name: \"block\", shape: Box(size: (1, 1, 1), cells: (1, 1, 1)), material: Corotational(young: 1e5, poisson: 0.3),
                density: 1000),
            Bodies(name: \"frames\", bodies: [(repeat: 2, position: (\"3 + $i\", 0, 0), shape: Sphere(0.1), mass: 1)]),
            ElasticSheet(name: \"cloth\", shape: Rectangle(size: (1, 1), cells: (2, 2)), thickness: 0.01,
                material: Isotropic(young: 1e5, poisson: 0.3), density: 1000, bending: Hinges(1e-3)),
            Mapped(name: \"block.bend\", parents: [\"frames\"], mapping: BeamStrain()),
        ])";
    let outcome = runner(text).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let names: Vec<&str> = outcome.summary.state.keys().map(String::as_str).collect();
    assert_eq!(names, ["block", "block.bend", "cloth", "frames"]);
    let block = &outcome.summary.state["block"].positions;
    assert!(!block.is_empty() && block.len() == 8 && block.numbers().len() == 24);
    assert_eq!(
        block.iter().map(<[f64]>::to_vec).collect::<Vec<_>>()[7],
        &block[7]
    );
    let file = serde_json::to_value(&outcome.summary).unwrap();
    let rows = file["state"]["block"]["positions"].as_array().unwrap();
    assert_eq!((rows.len(), rows[7][2].as_f64()), (8, Some(block[7][2])));
}
